//! Where a way through configurations runs below the zero of a gap, and whether it comes out on another side.

use serde::{Deserialize, Serialize};

use crate::algebra::write_between;

use super::MechanicalSystem;
use super::functions::ScalarFunction;

/// Shortest part of a way that is looked at where the gap could be anything.
const SHORTEST: f64 = 1.0 / 256.0;
/// How far beside a place without a slope one is looked for.
const ASIDE: f64 = 1e-3 * SHORTEST;
/// How much steeper than anywhere looked at a gap may be.
const STEEPER: f64 = 2.0;

/// A way slides along a gap whose slopes at both ends are below this part of what they could be.
const SLIDING: f64 = 0.25;
/// A contact that slides on is looked at closely again before its normal may have turned by this part of itself, and at the
/// latest after so many ways.
const TURNS: f64 = 0.05;
const LATEST: f64 = 128.0;
/// A gap that changes by less than this part of what it could stays as it is.
const LEVEL: f64 = 1e-6;
/// Ways shorter than this part of the size of the motion are not looked at in between where a contact slides.
const FINE: f64 = 1e-3;

/// What is known of a gap at both ends of a straight way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WayEnds {
    pub gaps: [f64; 2],
    /// Change of the gap per unit of the way.
    pub slopes: [f64; 2],
    /// What that can be at most: the larger gradient times the length of the way.
    pub steepness: f64,
    /// Cosine of the angle between both normals.
    pub cosine: f64,
}

impl WayEnds {
    /// Whether so short a way can reach the zero of the gap at all.
    pub fn is_near(&self) -> bool {
        let [a, b] = self.gaps;
        !(a.min(b) > 0.0 && a + b > STEEPER * self.steepness)
    }

    /// Whether the way can have gone through the obstacle: it is near, and does not slide along a surface whose normal
    /// turns a little, which tells the gap in between. `gap` gives that at a part of the way. Only a way that is open at both ends can miss a contact in between.
    pub fn may_pass(&self, acted: bool, rounding: f64, mut gap: impl FnMut(f64) -> f64) -> bool {
        let reach = STEEPER * self.steepness;
        if !self.is_near() || reach <= rounding {
            return false;
        }
        let [a, b] = self.slopes;
        let low = self.gaps[0].min(self.gaps[1]) - 0.25 * (b - a).abs();
        let slides = self.cosine > 0.5
            && a.abs().max(b.abs()) <= SLIDING * self.steepness
            && (acted || low > 0.0 || self.gaps[0].min(self.gaps[1]) <= rounding);
        !(slides
            && [0.25, 0.5, 0.75]
                .into_iter()
                .all(|s| gap(s) >= low - rounding))
    }
}

/// What a close look at a gap tells of the steps that follow it: most need no other.
///
/// # What it computes
/// Whether a step can be left alone without a gradient: the obstacle is farther away than all ways since the look could
/// reach, the way is shorter than the rounding of the gap, or a contact slides on as it did: its gap at
/// the end of the way, and in its middle unless the way is a thousandth of the motion, is that of a surface whose normal
/// turns as it turned before.
///
/// # Source
/// Ours, after the bounds of [`GapAlong`].
///
/// # Guarantees
/// Those of [`GapAlong`] where slopes stay within twice those seen, and the turning of normals as well.
///
/// # Behaviour to know
/// A contact that slides on is looked at in the middle of its way: a fin of the same gap must be as wide as half of it, or as
/// a way itself where that is below a thousandth of the motion so far. The normal is taken again before it may have turned by a twentieth, and after 128 ways at the latest.
///
/// # Cost
/// No evaluation of the gap far from it or in fine steps, one where it slides in coarse ones.
///
/// # Tested by
/// `tests/truth_tunnelling.rs`, `systems/passage.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SeenGap {
    /// Sizes of the gradient and of the rate in time.
    steep: f64,
    rate: f64,
    rounding: f64,
    /// The gap stays above this as long as there is room: what ways can take off it until then.
    least: f64,
    room: f64,
    /// Change of the gradient per length of the way, and how far a contact may slide on.
    turning: f64,
    slide: f64,
    /// Ways up to this length are not looked at in between.
    #[serde(default)]
    fine: f64,
}

impl Default for SeenGap {
    /// Nothing is known; finite, for checkpoints write no infinite numbers.
    fn default() -> Self {
        Self {
            steep: f64::MAX,
            rate: f64::MAX,
            rounding: -1.0,
            least: f64::MAX,
            room: 0.0,
            turning: 0.0,
            slide: 0.0,
            fine: 0.0,
        }
    }
}

impl SeenGap {
    /// A look at the end of a way, where the gap is `gap` and has a gradient of the size `steep`.
    pub fn at(gap: f64, (steep, rate): (f64, f64), rounding: f64) -> Self {
        let least = if gap > 0.0 { 0.5 * gap } else { f64::MAX };
        Self {
            steep,
            rate: rate.abs(),
            rounding,
            least,
            room: 0.5 * gap,
            ..Self::default()
        }
    }

    /// The same at the end of a way of the given length along which a contact slid while its gradient changed by `turned`.
    #[must_use]
    pub fn sliding(self, length: f64, turned: f64) -> Self {
        if !(length > 0.0) {
            return self;
        }
        let turning = turned / length;
        let slide = TURNS * self.steep / (STEEPER * turning);
        Self {
            turning,
            slide: slide.min(LATEST * length),
            ..self
        }
    }

    /// The same in a run whose motion has the given size so far.
    #[must_use]
    pub fn in_motion(self, size: f64) -> Self {
        Self {
            fine: FINE * size,
            ..self
        }
    }

    /// Whether the next way, of the given length and duration, needs no closer look. `gap` gives the gap in its middle.
    #[inline]
    pub fn settles(
        &mut self,
        (length, h): (f64, f64),
        [before, after]: [f64; 2],
        acted: bool,
        middle: impl FnOnce() -> f64,
    ) -> bool {
        let reach = STEEPER * (self.steep * length + self.rate * h);
        self.room -= reach;
        self.slide -= length;
        let low = if after < before { after } else { before };
        if (self.room > 0.0 && low >= self.least) || reach <= self.rounding {
            return true;
        }
        // What moves by itself is looked at closely.
        if !(self.slide > 0.0 && self.rate == 0.0) {
            return false;
        }
        let (tilt, most) = (
            STEEPER * self.turning * length * length,
            self.steep * length,
        );
        let little = self.rounding + LEVEL * most;
        let lowest = low - 0.25 * tilt;
        // Only a way that is open at both ends can miss a contact in between.
        (acted || lowest > 0.0 || low <= self.rounding)
            && (after - before).abs() <= tilt + little
            && tilt <= SLIDING * most
            && (length <= self.fine || middle() >= lowest - little)
    }
}

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
/// a surface ([`WayEnds`]) is looked at in three places, so that a fin of the same gap must be as wide as a quarter of it,
/// and one that slides on ([`SeenGap`]) in one place.
///
/// # Cost
/// A few values far from obstacles; up to 256, with gradients, near them.
///
/// # Tested by
/// `tests/truth_tunnelling.rs`, `tests/verify_passages.rs`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_far_away_is_left_alone_until_ways_have_made_up_half_of_it() {
        let mut seen = SeenGap::at(1.0, (1.0, 0.0), 1e-12);
        let mut settled = 0;
        while seen.settles((0.011, 1e-3), [1.0; 2], false, || unreachable!("not near")) {
            settled += 1;
        }
        // Slopes may be twice those seen: ways that take 0.022 each of 0.5.
        assert_eq!(settled, 22);
        let mut seen = SeenGap::at(1.0, (1.0, 0.0), 1e-12);
        assert!(!seen.settles((0.01, 1e-3), [1.0, 0.4], false, || 1.0));
    }

    #[test]
    fn a_contact_that_slides_on_is_looked_at_in_the_middle_of_its_way() {
        let slid = SeenGap::at(0.0, (1.0, 0.0), 1e-12).sliding(0.01, 1e-6);
        let way = (0.0101, 1e-3);
        assert!({ slid }.settles(way, [0.0; 2], true, || 0.0));
        // In fine steps at their ends only.
        let unseen = || unreachable!("a fine step");
        assert!(slid.in_motion(200.0).settles(way, [0.0; 2], true, unseen));
        assert!(!slid.in_motion(1.0).settles(way, [0.0; 2], true, || -1e-3));
        // A fin in the middle, a contact that is open at both ends, a way that climbs, one too many.
        assert!(!{ slid }.settles(way, [0.0; 2], true, || -1e-3));
        assert!({ slid }.settles(way, [0.0, 1e-9], false, || 0.0));
        assert!(!{ slid }.settles(way, [1e-9; 2], false, || 0.0));
        assert!(!{ slid }.settles(way, [0.0, 0.005], true, || 0.0));
        let mut seen = slid;
        let all = (0..200).take_while(|_| seen.settles(way, [0.0; 2], true, || 0.0));
        // The budget is 128 ways of the length seen, of which these are a hundredth longer.
        assert_eq!(all.count(), 126);
    }

    #[test]
    fn a_contact_at_rest_needs_no_look() {
        let mut seen = SeenGap::at(0.0, (1.0, 0.0), 1e-12);
        assert!(seen.settles((1e-14, 1e-3), [0.0; 2], true, || unreachable!("at rest")));
        // Unknown gaps are looked at.
        assert!(!SeenGap::default().settles((1e-14, 1e-3), [0.0; 2], true, || 0.0));
        assert!(!SeenGap::default().settles((0.0, 0.0), [f64::NAN; 2], true, || 0.0));
    }
}
