//! What friction asks of the reaction of an interval, integrated along the path.

use crate::algebra::small_dense::norm;
use crate::algebra::{CholeskyFactor, PivotedCholesky, dot};
use crate::laws::FrictionSection;
use crate::systems::constraint::ContactPoint;
use crate::systems::{Instant, MechanicalSystem};

use super::exact_motion::CONVERGED;
use super::friction::Contact;
use super::generalized::distance;
use super::judge::Judge;
use super::path::Path;
use super::place::{Place, force};
use super::quadrature::{integral, sign_changes};
use super::{Line, Quadrature, Verification};

/// Panels in which a piece without a change of sign of the slip is looked at first.
const PANELS: usize = 2;
/// Parts of a piece in which friction of a slip that turns is looked at.
const TURNS: usize = 8;
/// Looks for the fastest slip of a piece.
const LOOKS: usize = 8;
/// How far outside of a set, in its own size, the point lies whose nearest point is the face that slip asks for.
const FAR: f64 = 1e8;
/// Normal densities whose integrals are the impulses up to this part of them are those of the motion.
const SAME: f64 = 1e-6;

/// Slips whose cosine is that near to one have one direction.
const STRAIGHT: f64 = 1e-9;

/// What friction of one contact may give in an interval: `∫ N κ x ds` over x of the set B at unit coefficient, where it slips the point of
/// B that takes most power, where it sticks any. κ is the coefficient along the path and N the normal reaction there.
#[derive(Clone, Debug)]
pub(super) struct IntervalFriction {
    base: FrictionSection,
    /// The impulse where the contact slips.
    slipping: Vec<f64>,
    /// `∫ N κ ds` where it sticks, and in all.
    sticking: f64,
    whole: f64,
    turning: Turning,
}

impl IntervalFriction {
    /// What is wrong with a friction impulse, in impulses; `lasting` is the defect of one direction all the way.
    pub fn defect(&self, friction: &[f64], lasting: f64) -> (f64, f64) {
        let inside = self.nearest(friction, self.whole);
        let law = self.off(&inside).max(match self.turning {
            Turning::None => 0.0,
            Turning::Apart(off) => off,
            Turning::Unknown => lasting,
        });
        (distance(friction, &inside), law)
    }

    /// How far a friction impulse is from what slip asks for.
    fn off(&self, friction: &[f64]) -> f64 {
        let pairs = friction.iter().zip(&self.slipping);
        let left: Vec<f64> = pairs.map(|(p, s)| p - s).collect();
        distance(&left, &self.nearest(&left, self.sticking))
    }

    fn nearest(&self, point: &[f64], scale: f64) -> Vec<f64> {
        let mut out = vec![0.0; point.len()];
        self.base.project(point, scale, &mut out);
        out
    }
}

/// Whether slip turns on the way: an impulse of the whole interval then hides friction that drives for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Turning {
    None,
    /// Friction that the equation of motion asks for on the way, off what slip asks for there, in impulses.
    Apart(f64),
    /// The equation of motion does not tell it, and one direction has to fit all the way.
    Unknown,
}

/// The laws of friction along the path of an interval.
pub(super) struct IntervalLaws {
    /// Per contact, where one is closed and presses.
    pub friction: Vec<Option<IntervalFriction>>,
    /// Local velocities at both ends and in every piece between changes of sign of the slip.
    pub velocities: Vec<Vec<f64>>,
}

impl IntervalLaws {
    /// Whether the slip of a contact turns on the way, so that one velocity does not stand for all.
    pub fn turns(&self, contact: &Contact) -> bool {
        self.turns_above(contact, 0.0)
    }

    /// The same of slip whose components above a threshold count.
    fn turns_above(&self, contact: &Contact, threshold: f64) -> bool {
        let count = |u: &f64| if u.abs() <= threshold { 0.0 } else { *u };
        let rows = contact.start + 1..contact.start + contact.size;
        let slip = |u: &Vec<f64>| u[rows.clone()].iter().map(count).collect();
        let slips: Vec<Vec<f64>> = self.velocities.iter().map(slip).collect();
        let pairs = slips.iter().flat_map(|a| slips.iter().map(move |b| (a, b)));
        let mut apart =
            pairs.map(|(a, b)| norm(a) * norm(b) - dot(a, b) > STRAIGHT * norm(a) * norm(b));
        apart.any(|turned| turned)
    }
}

impl Judge<'_> {
    /// What friction asks for along a path that is known. Contacts of `middle` get the mean of their sections.
    pub(super) fn laws_along(
        &self,
        path: &Path,
        middle: &mut Place,
        report: &mut Verification,
    ) -> IntervalLaws {
        let pressed: Vec<usize> = (0..middle.contacts.len())
            .filter(|&k| middle.contacts[k].closed && self.presses(path, middle, k))
            .collect();
        let densities = self.densities(path, middle, &pressed, report);
        let mut laws = IntervalLaws {
            friction: vec![None; middle.contacts.len()],
            velocities: vec![path.local(0.0), path.local(1.0)],
        };
        let points: Vec<&ContactPoint> = points(self.system).collect();
        for &k in &pressed {
            let contact = middle.contacts[k].clone();
            let rows = contact.start + 1..contact.start + contact.size;
            if rows.is_empty() {
                continue;
            }
            let normal = path.to.smooth[contact.start].max(0.0);
            let density = |s: f64| match &densities {
                Some(densities) => densities
                    .at(path, s, contact.start)
                    .unwrap_or(normal)
                    .max(0.0),
                None => normal,
            };
            let own = Slipping {
                path,
                point: points[k],
                rows,
                friction: &path.to.smooth[contact.start + 1..contact.start + contact.size],
            };
            let mean = middle.local(&path.mean_velocity());
            let fastest = self.fastest(middle, Some(&contact), &mean);
            let threshold = 10.0 * self.settings.tolerance * fastest;
            let small = CONVERGED * self.settings.tolerance;
            // What rests changes its sign with every rounding.
            let places = sign_changes(&mut |s, out| {
                path.write_switches(s, out);
                let slip = &path.local(s)[own.rows.clone()];
                out.extend(
                    slip.iter()
                        .map(|&u| if u.abs() <= threshold { 0.0 } else { u }),
                );
            });
            let limits = (threshold, small * normal);
            let mut friction = own.integrated(&places, normal, &density, limits);
            let mut turning = IntervalLaws {
                friction: Vec::new(),
                velocities: vec![path.local(0.0), path.local(1.0)],
            };
            let pieces = places.windows(2);
            let middles = pieces.map(|ends| path.local(0.5 * (ends[0] + ends[1])));
            turning.velocities.extend(middles);
            if turning.turns_above(&contact, threshold) {
                friction.turning = match &densities {
                    Some(densities) => {
                        Turning::Apart(own.apart(&places, normal, densities, limits))
                    }
                    None => Turning::Unknown,
                };
            }
            laws.velocities.extend(turning.velocities.drain(2..));
            if normal > 0.0 {
                middle.contacts[k].section = friction.base.scaled(friction.whole / normal);
            }
            laws.friction[k] = Some(friction);
        }
        laws
    }

    fn presses(&self, path: &Path, middle: &Place, k: usize) -> bool {
        let contact = &middle.contacts[k];
        let own = &path.to.smooth[contact.start..contact.start + contact.size];
        own.iter().any(|&p| p != 0.0)
    }

    /// The normal reactions along the path that the equation of motion asks for, where it tells them: the rows of the contacts that press are
    /// independent there, and their integrals are the impulses. Otherwise the reaction does not change along the interval.
    fn densities(
        &self,
        path: &Path,
        middle: &Place,
        pressed: &[usize],
        report: &mut Verification,
    ) -> Option<Densities> {
        if path.quadrature != Quadrature::Affine || self.system.sparsity().is_some() {
            return None;
        }
        let contacts = pressed.iter().map(|&k| &middle.contacts[k]);
        let densities = Densities {
            rows: contacts
                .clone()
                .flat_map(|c| c.start..c.start + c.size)
                .collect(),
            normals: contacts.clone().map(|c| c.start).collect(),
        };
        let impulses: Vec<f64> = densities
            .normals
            .iter()
            .map(|&i| path.to.smooth[i])
            .collect();
        let size = impulses.iter().fold(0.0f64, |s, p| s.max(p.abs()));
        // All of them, and what of each pulls.
        let n = pressed.len();
        let mut unknown = false;
        let sum = integral(
            &path.switches(),
            PANELS,
            &vec![SAME * CONVERGED * size; 2 * n],
            &mut |s, out| match densities.found(path, s) {
                Some(found) => {
                    let normals = densities.normals.iter();
                    let normal = |i: &usize| densities.rows.iter().position(|row| row == i);
                    let found: Vec<f64> = normals.filter_map(normal).map(|i| found[i]).collect();
                    out[..n].copy_from_slice(&found);
                    let pulls = out[n..].iter_mut().zip(&found);
                    pulls.for_each(|(o, p)| *o = (-p).max(0.0));
                }
                None => {
                    unknown = true;
                    out.fill(0.0);
                }
            },
        );
        let same = sum
            .value
            .iter()
            .zip(&impulses)
            .all(|(a, b)| (a - b).abs() <= SAME * size);
        if unknown || !same {
            return None;
        }
        for (k, pulls) in pressed.iter().zip(&sum.value[n..]) {
            if !(*pulls <= 10.0 * self.settings.tolerance * size) {
                let name = self.name(middle.contacts[*k].constraint);
                report.note(Line::NormalSign, path.to.t, pulls / size, name);
            }
        }
        Some(densities)
    }
}

/// Normal reactions along a path.
struct Densities {
    /// Rows of the contacts that press, and those of them that are normals.
    rows: Vec<usize>,
    normals: Vec<usize>,
}

impl Densities {
    /// That of one row.
    fn at(&self, path: &Path, s: f64, row: usize) -> Option<f64> {
        let number = self.rows.iter().position(|i| *i == row)?;
        self.found(path, s).map(|reaction| reaction[number])
    }

    /// Times the length of the interval: `W p = H' M^-1 (M a - f)` with joints held, unless rows depend on each other.
    fn found(&self, path: &Path, s: f64) -> Option<Vec<f64>> {
        let (place, h) = (path.place(s), path.to.t - path.from.t);
        let (q, v) = (path.configuration(s), path.velocity(s));
        let push = force(path.system, path.from.t + s * h, &q, &v);
        let mut factor = CholeskyFactor::default();
        factor.factor(&place.mass).ok()?;
        let change = path.to.v_left.iter().zip(&path.from.v_right);
        let mut missing = push;
        factor.solve_in_place(&mut missing);
        let missing: Vec<f64> = change
            .zip(&missing)
            .map(|((b, a), f)| b - a - h * f)
            .collect();
        let contacts = self.rows.iter().map(|&i| &place.rows[i]);
        let rows: Vec<&Vec<f64>> = contacts.chain(&place.joints).collect();
        let responses: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| {
                let mut response = row.to_vec();
                factor.solve_in_place(&mut response);
                response
            })
            .collect();
        let m = rows.len();
        let gram: Vec<f64> = (0..m * m)
            .map(|e| dot(rows[e / m], &responses[e % m]))
            .collect();
        let mut gram_factor = PivotedCholesky::default();
        gram_factor.factor(m, &gram);
        if gram_factor.rank() < m {
            return None;
        }
        let mut reaction: Vec<f64> = rows.iter().map(|row| dot(row, &missing)).collect();
        gram_factor.solve_in_place(&mut reaction);
        reaction.truncate(self.rows.len());
        Some(reaction)
    }
}

/// One contact along a path.
struct Slipping<'a> {
    path: &'a Path<'a>,
    point: &'a ContactPoint,
    rows: std::ops::Range<usize>,
    friction: &'a [f64],
}

impl Slipping<'_> {
    /// Coefficient and slip at the part s of the interval.
    fn at(&self, s: f64) -> (f64, Vec<f64>) {
        let path = self.path;
        let (q, v) = (path.configuration(s), path.velocity(s));
        let t = path.from.t + s * (path.to.t - path.from.t);
        let slip = path.local(s)[self.rows.clone()].to_vec();
        let mut coefficient = self.point.law.coefficient().at(t, &q);
        if let Some(factor) = &self.point.slip {
            coefficient *= factor.factor(&Instant::new(t, &q, &v), norm(&slip));
        }
        (coefficient, slip)
    }

    /// Friction of the pieces between `places`, in each of which components of the slip below the threshold are none.
    fn integrated(
        &self,
        places: &[f64],
        normal: f64,
        density: &dyn Fn(f64) -> f64,
        (threshold, floor): (f64, f64),
    ) -> IntervalFriction {
        let (d, base) = (self.friction.len(), self.point.law.base_section().clone());
        let mut out = IntervalFriction {
            base,
            slipping: vec![0.0; d],
            sticking: 0.0,
            whole: 0.0,
            turning: Turning::None,
        };
        // Where slip leaves a choice, on a face, friction is where its impulse points.
        let size = norm(self.friction).max(normal).max(f64::MIN_POSITIVE);
        let toward: Vec<f64> = self.friction.iter().map(|p| p / size).collect();
        for ends in places.windows(2) {
            let mut fastest = vec![0.0f64; d];
            for look in 0..=LOOKS {
                let s = ends[0] + (ends[1] - ends[0]) * look as f64 / LOOKS as f64;
                let slip = self.at(s).1;
                fastest
                    .iter_mut()
                    .zip(&slip)
                    .for_each(|(f, u)| *f = f.max(u.abs()));
            }
            let sticks = fastest.iter().all(|u| *u <= threshold);
            let sum = integral(ends, PANELS, &vec![floor; d + 1], &mut |s, values| {
                let (coefficient, mut slip) = self.at(s);
                let weight = density(s) * coefficient;
                values.fill(0.0);
                values[d] = weight;
                if sticks {
                    return;
                }
                let slow = slip.iter_mut().zip(&fastest);
                slow.filter(|(_, f)| **f <= threshold)
                    .for_each(|(u, _)| *u = 0.0);
                let length = norm(&slip).max(f64::MIN_POSITIVE);
                let far: Vec<f64> = toward
                    .iter()
                    .zip(&slip)
                    .map(|(p, u)| p - FAR * (u / length))
                    .collect();
                out.base.project(&far, 1.0, &mut values[..d]);
                values[..d].iter_mut().for_each(|x| *x *= weight);
            });
            out.whole += sum.value[d];
            if sticks {
                out.sticking += sum.value[d];
            }
            out.slipping
                .iter_mut()
                .zip(&sum.value)
                .for_each(|(o, x)| *o += x);
        }
        out
    }

    /// How far friction that the equation of motion asks for is off what slip asks for, in the worst part of the way.
    fn apart(&self, places: &[f64], normal: f64, densities: &Densities, limits: (f64, f64)) -> f64 {
        let (path, d) = (self.path, self.friction.len());
        let density = |s: f64| densities.at(path, s, self.rows.start - 1).unwrap_or(normal);
        let mut worst = 0.0f64;
        for ends in places.windows(2) {
            let width = (ends[1] - ends[0]) / TURNS as f64;
            for turn in 0..TURNS {
                let low = ends[0] + turn as f64 * width;
                let part = [low, low + width];
                let moved = integral(&part, 1, &vec![limits.1; d], &mut |s, out| {
                    let found = densities.found(path, s).unwrap_or_default();
                    for (o, row) in out.iter_mut().zip(self.rows.clone()) {
                        let number = densities.rows.iter().position(|i| *i == row);
                        *o = number
                            .and_then(|i| found.get(i))
                            .copied()
                            .unwrap_or(f64::NAN);
                    }
                });
                let own = Slipping {
                    friction: &moved.value,
                    rows: self.rows.clone(),
                    ..*self
                };
                let size = normal * width;
                let asked = own.integrated(&part, size, &|s| density(s).max(0.0), limits);
                let off = asked.off(&moved.value);
                worst = if off.is_nan() {
                    f64::INFINITY
                } else {
                    worst.max(off)
                };
            }
        }
        worst
    }
}

/// Points of all contacts, in the order of contacts.
fn points(system: &dyn MechanicalSystem) -> impl Iterator<Item = &ContactPoint> {
    system.constraints().iter().flat_map(|c| c.points())
}
