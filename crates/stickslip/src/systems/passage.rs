//! Where a way through configurations runs below the zero of a gap, and whether it comes out on another side.

use crate::algebra::write_between;

use super::MechanicalSystem;
use super::functions::ScalarFunction;

/// Shortest part of a way that is looked at where the gap could be anything.
const SHORTEST: f64 = 1.0 / 256.0;
/// How far beside a place without a slope one is looked for.
const ASIDE: f64 = 1e-3 * SHORTEST;
/// How much steeper than anywhere looked at a gap may be.
pub(super) const STEEPER: f64 = 2.0;
/// A gradient is lost where it and the gap fall to this part of what they are, or could be, at the ends of the way.
pub(crate) const LOST: f64 = 1e-3;
/// The same where the normal turns round meanwhile.
const BESIDE: f64 = 0.05;
/// Places between which the least gradient on a way is looked for.
const LOOKS: usize = 16;

/// A gap along a way, s from 0 to 1.
///
/// # What it computes
/// The parts of a way on which a gap φ is negative, also where they are far shorter than the way: a plate that a step
/// goes through. From a place with the gap φ the way goes on by φ over twice the steepest slope seen so far (the
/// gradient times the speed in the metric of the weights, not the slope along the way), at least by 1/256; between two
/// places of which one falls and the next rises the lowest one is found by bisection of the slope.
///
/// # Source
/// Ours; the step over what a distance leaves free is that of sphere tracing.
///
/// # Guarantees
/// Every part with a negative gap is found where the slopes stay within twice those seen, two of them are at least 1/256
/// of the way apart, and the gap falls steadily before each of them.
///
/// # Behaviour to know
/// A needle in a gap that is constant up to it is seen only if it is as wide as 1/256 of the way; a step that slides along
/// a surface ([`WayEnds`](super::seen_gap::WayEnds)) is looked at in three places, so that a fin of the same gap must be as wide as a quarter of it,
/// and one that slides on ([`SeenGap`](super::seen_gap::SeenGap)) in one place.
///
/// # Cost
/// A few values far from obstacles; up to 256, with gradients, near them.
///
/// # Tested by
/// `tests/truth_tunnelling.rs`, `tests/verify_passages.rs`, `tests/truth_normals.rs`.
pub(crate) struct GapAlong<'a> {
    pub system: &'a dyn MechanicalSystem,
    pub gap: &'a dyn ScalarFunction,
    /// Writes the configuration at the part s of the way.
    pub place: &'a dyn Fn(f64, &mut [f64]),
    /// Writes the displacement per unit of s, as a velocity.
    pub moved: &'a dyn Fn(f64, &mut [f64]),
    /// Time at the start, and how long the way takes.
    pub time: (f64, f64),
    /// Weights of the velocities: the diagonal of the mass.
    pub weights: &'a [f64],
    /// A gap above minus this is not negative.
    pub rounding: f64,
}

/// A place on the way.
#[derive(Clone, Debug)]
pub(crate) struct Station {
    pub s: f64,
    pub value: f64,
    /// Rate of the gap along the way.
    pub slope: f64,
    /// What that rate can be at most for a way of this speed.
    pub steepness: f64,
    pub normal: Vec<f64>,
}

impl Station {
    /// Whether the gap has no normal there.
    fn is_lost(&self) -> bool {
        self.normal.iter().all(|&g| g == 0.0)
    }
}

/// A part of the way with a negative gap.
#[derive(Clone, Debug)]
pub(crate) struct Passage {
    /// Last place before it, or the start of the way.
    pub entry: Station,
    /// First place after it, or the end of the way.
    pub exit: Station,
    /// Lowest gap seen in it, and where.
    pub depth: f64,
    pub lowest: f64,
}

impl Passage {
    /// Whether the way leaves the obstacle on another side than it came in: the gap falls after the entry, rises at the
    /// exit, and the normal has turned by more than a right angle, or is lost.
    pub fn crosses(&self, weights: &[f64]) -> bool {
        self.leaves(&self.exit, weights)
    }

    /// The same for another place at which it ends.
    pub fn leaves(&self, exit: &Station, weights: &[f64]) -> bool {
        let product = inner(&self.entry.normal, &exit.normal, weights);
        let fell = self.entry.slope < 0.0 || self.depth < self.entry.value;
        fell && (exit.is_lost() || (exit.slope > 0.0 && product < 0.0))
    }

    /// Whether it begins and ends on the way.
    pub fn is_whole(&self) -> bool {
        self.entry.s > 0.0 && self.exit.s < 1.0
    }

    /// Whether it ends with the way.
    pub fn is_open(&self) -> bool {
        self.exit.s >= 1.0
    }
}

impl GapAlong<'_> {
    /// The place at the part s of the way.
    pub fn station(&self, s: f64, q: &mut Vec<f64>) -> Station {
        q.resize(self.system.coordinate_count(), 0.0);
        (self.place)(s, q);
        self.at(s, q)
    }

    /// A configuration beside the way, at its part s in time.
    pub fn at(&self, s: f64, q: &[f64]) -> Station {
        let (t, n) = (self.time.0 + s * self.time.1, self.system.dof());
        let (mut normal, mut moved) = (vec![0.0; n], vec![0.0; n]);
        self.gap.gradient(t, q, &mut normal);
        (self.moved)(s, &mut moved);
        let drift = self.gap.rate(t, q) * self.time.1;
        let slope = normal.iter().zip(&moved).map(|(g, x)| g * x).sum::<f64>() + drift;
        let speed: f64 = moved.iter().zip(self.weights).map(|(x, m)| m * x * x).sum();
        let steep = inner(&normal, &normal, self.weights);
        Station {
            s,
            value: self.gap.value(t, q),
            slope,
            steepness: (steep * speed).sqrt() + drift.abs(),
            normal,
        }
    }

    /// All parts of the way with a negative gap, and those that touch zero where its normal turns round.
    pub fn passages(&self) -> Vec<Passage> {
        let mut q = Vec::new();
        let (mut here, end) = (self.station(0.0, &mut q), self.station(1.0, &mut q));
        let mut steepest = here.steepness.max(end.steepness);
        // A contact that rests has a gap of rounding size, of which nothing can be said.
        let starts_open = here.value > self.rounding;
        let open = starts_open && end.value > self.rounding;
        let mut found = Vec::new();
        let mut before_end = here.clone();
        let mut inside = self
            .is_inside(&here)
            .then(|| (here.clone(), (here.value, here.s)));
        while here.s < 1.0 {
            let reach = STEEPER * steepest;
            let ahead = (here.value.abs() / reach).max(SHORTEST);
            // A gap that is no number stops the run elsewhere.
            if ahead.is_nan() {
                return found;
            }
            let s = here.s + ahead;
            let mut next = if s < 1.0 {
                self.station(s, &mut q)
            } else {
                end.clone()
            };
            // On the very ridge of an obstacle there is no slope.
            if s < 1.0 && next.is_lost() {
                next = self.station(s + ASIDE.min(0.5 * (1.0 - s)), &mut q);
            }
            steepest = steepest.max(next.steepness);
            match &mut inside {
                None if self.is_inside(&next) => {
                    let entry = self.boundary(here.clone(), next.clone(), &mut q);
                    inside = Some((entry, (next.value, next.s)));
                }
                None => {
                    let low = self.lowest(&here, &next, reach, &mut q);
                    found.extend(low.filter(|low| open || self.is_negative(low.depth)));
                }
                Some((_, low)) if self.is_inside(&next) => {
                    if next.value < low.0 {
                        *low = (next.value, next.s);
                    }
                }
                Some((entry, low)) => {
                    let exit = self.boundary(next.clone(), here.clone(), &mut q);
                    found.push(Passage {
                        entry: entry.clone(),
                        exit,
                        depth: low.0,
                        lowest: low.1,
                    });
                    inside = None;
                }
            }
            before_end = std::mem::replace(&mut here, next);
        }
        if let Some((entry, (depth, lowest))) = inside {
            found.push(Passage {
                entry,
                exit: end,
                depth,
                lowest,
            });
        } else if starts_open && end.value <= self.rounding && end.is_lost() {
            // The way ends on a wall without thickness.
            found.push(Passage {
                entry: before_end,
                depth: end.value,
                lowest: 1.0,
                exit: end,
            });
        }
        found
    }

    /// Whether the gradient vanishes somewhere on the way where the gap does: the contact has no normal there.
    pub fn loses_normal(&self) -> bool {
        let mut q = Vec::new();
        let mut steep = |s: f64| {
            let station = self.station(s, &mut q);
            (
                inner(&station.normal, &station.normal, self.weights).sqrt(),
                station,
            )
        };
        let part = |k: usize| k as f64 / LOOKS as f64;
        let sizes: Vec<f64> = (0..=LOOKS).map(|k| steep(part(k)).0).collect();
        let Some(least) = (0..=LOOKS).min_by(|&a, &b| sizes[a].total_cmp(&sizes[b])) else {
            return false;
        };
        let (first, last) = (sizes[0], sizes[LOOKS]);
        if !(sizes[least] <= 0.25 * first.max(last)) {
            return false;
        }
        // The least size between its neighbours, by thirds.
        let (mut a, mut b) = (part(least.saturating_sub(1)), part((least + 1).min(LOOKS)));
        while b - a > LOST.powi(3) {
            let (c, d) = (a + (b - a) / 3.0, b - (b - a) / 3.0);
            if steep(c).0 <= steep(d).0 {
                b = d;
            } else {
                a = c;
            }
        }
        let (size, station) = steep(0.5 * (a + b));
        let (start, end) = (self.station(0.0, &mut q), self.station(1.0, &mut q));
        // A way beside the place where the normal turns round sees the gradient shrink there.
        let turns = inner(&start.normal, &end.normal, self.weights) < 0.0;
        let part = if turns { BESIDE } else { LOST };
        // Within the way, or at its very end; one that ends near it is found on the next.
        let lost = size <= part * first.min(last) || last <= LOST.powi(4) * first;
        lost && station.value.abs() <= LOST * start.steepness.max(end.steepness)
    }

    /// Whether the normals at both ends of the way point away from each other, and the lowest gap that lies between them
    /// where it falls first and rises last.
    pub fn valley(&self) -> Option<f64> {
        let mut q = Vec::new();
        let (mut a, mut b) = (self.station(0.0, &mut q), self.station(1.0, &mut q));
        let turned = inner(&a.normal, &b.normal, self.weights) < 0.0;
        if !(turned && a.slope < 0.0 && b.slope > 0.0) {
            return None;
        }
        while let Some(s) = between(a.s, b.s) {
            let middle = self.station(s, &mut q);
            if middle.slope < 0.0 {
                a = middle;
            } else {
                b = middle;
            }
        }
        Some(a.value.min(b.value))
    }

    fn is_inside(&self, station: &Station) -> bool {
        self.is_negative(station.value)
    }

    fn is_negative(&self, gap: f64) -> bool {
        gap < -self.rounding
    }

    /// The last place outside on the way from one outside to one inside.
    fn boundary(&self, mut outside: Station, mut inside: Station, q: &mut Vec<f64>) -> Station {
        while let Some(s) = between(outside.s, inside.s) {
            let middle = self.station(s, q);
            if self.is_inside(&middle) {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        outside
    }

    /// The part below zero between two places outside, of which the first falls and the second rises.
    fn lowest(
        &self,
        from: &Station,
        to: &Station,
        reach: f64,
        q: &mut Vec<f64>,
    ) -> Option<Passage> {
        let (mut a, mut b) = (from.clone(), to.clone());
        if !(a.slope < 0.0 && b.slope > 0.0) {
            return None;
        }
        while let Some(s) = between(a.s, b.s) {
            if 0.5 * (a.value + b.value - reach * (b.s - a.s)) > self.rounding {
                return None;
            }
            let middle = self.station(s, q);
            if self.is_inside(&middle) {
                let entry = self.boundary(a, middle.clone(), q);
                let exit = self.boundary(b, middle.clone(), q);
                let centre = self.station(0.5 * (entry.s + exit.s), q);
                let low = if centre.value < middle.value {
                    centre
                } else {
                    middle
                };
                return Some(Passage {
                    entry,
                    exit,
                    depth: low.value,
                    lowest: low.s,
                });
            }
            if middle.slope < 0.0 {
                a = middle;
            } else {
                b = middle;
            }
        }
        // A wall without thickness: the gap touches zero there.
        let depth = a.value.min(b.value);
        let touch = Passage {
            lowest: a.s,
            entry: a,
            exit: b,
            depth,
        };
        (depth <= self.rounding && touch.crosses(self.weights)).then_some(touch)
    }
}

/// A number between two parts of a way, unless they are neighbours.
fn between(a: f64, b: f64) -> Option<f64> {
    let middle = 0.5 * (a + b);
    let width = (b - a).abs();
    (width > f64::EPSILON).then_some(middle)
}

/// Product of two covectors in the metric of the weights.
fn inner(a: &[f64], b: &[f64], weights: &[f64]) -> f64 {
    let parts = a.iter().zip(b).zip(weights);
    parts
        .map(|((a, b), m)| a * b / m.max(f64::MIN_POSITIVE))
        .sum()
}

/// The place at part s of the straight way between two configurations; those that do not add are brought back by an
/// empty displacement.
pub(crate) fn straight(
    system: &dyn MechanicalSystem,
    (a, b): (&[f64], &[f64]),
    s: f64,
    q: &mut [f64],
) {
    write_between(q, (a, b), s);
    if system.coordinate_count() != system.dof() {
        let (chord, rest) = (q.to_vec(), vec![0.0; system.dof()]);
        system.displace(&chord, &rest, 0.0, q);
    }
}
