//! From found contacts to rows, biases and back.

use crate::algebra::cross;
use crate::contact::{BodyOperator, ContactProblem, Delassus, NO_BODY};
use crate::laws::{FrictionSection, ImpactLaw};
use crate::stepping::restitution;
use crate::systems::frame::orthonormal_tangents;
use crate::systems::world::{Dimension, FoundContact, PairLaw};

use super::bodies::Bodies;

/// Most rows of a contact: normal, two tangents, two of rolling, one of drilling.
pub(super) const ROWS_MAX: usize = 6;

/// A found contact that takes part in the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct ActiveContact {
    /// Index in the list of found contacts.
    pub found: u32,
    /// First row in the problem.
    pub start: u32,
    /// Number of rows, and how many of them are velocities (the others are angular velocities).
    pub rows: u8,
    pub linear: u8,
    /// Whether the first angular rows are those of rolling.
    pub rolling: bool,
    pub posing: Posing,
    pub impact: ImpactLaw,
    /// Normal and tangents; in the plane the normal, the tangent and the axis of rotation.
    pub frame: [[f64; 3]; 3],
}

impl ActiveContact {
    /// Its rows in the problem.
    #[inline]
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start as usize..self.start as usize + usize::from(self.rows)
    }

    /// Whether an impact law acts on the approach (fast enough to bounce).
    pub fn strikes(&self) -> bool {
        self.posing == Posing::Impact
    }

    /// Direction of a row in the world.
    #[inline]
    pub fn direction(&self, row: usize) -> [f64; 3] {
        direction(&self.frame, row, self.rolling)
    }

    /// Impulse and moment on body a in world axes; the first `linear` rows are velocities.
    #[inline]
    pub fn in_world(&self, p: &[f64], linear: usize) -> ([f64; 3], [f64; 3]) {
        let mut sums = [[0.0; 3]; 2];
        for (i, p) in p.iter().enumerate() {
            let sum = &mut sums[usize::from(i >= linear)];
            for (s, d) in sum.iter_mut().zip(self.direction(i)) {
                *s += p * d;
            }
        }
        (sums[0], sums[1])
    }

    /// Rows of an impulse and a moment in world axes.
    #[inline]
    pub fn in_rows(&self, impulse: [f64; 3], moment: [f64; 3], out: &mut [f64]) {
        for (i, o) in out.iter_mut().enumerate() {
            let vector = if i < usize::from(self.linear) {
                impulse
            } else {
                moment
            };
            *o = dot(vector, self.direction(i));
        }
    }
}

/// Direction of a row: normal and tangents, then the axes of rolling, then that of drilling.
#[inline(always)] // Rows are known beforehand.
pub(super) fn direction(frame: &[[f64; 3]; 3], row: usize, rolling: bool) -> [f64; 3] {
    frame[match row {
        0..3 => row,
        3 if rolling => 1,
        4 => 2,
        _ => 0,
    }]
}

/// How the normal row of a contact is posed in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Posing {
    /// The contact cannot act, or must not yet.
    Absent,
    /// Normal velocity at least `-allowed`: zero for a closed contact, what closes the gap for an open one.
    Closing {
        /// Speed of approach that the gap allows.
        allowed: f64,
    },
    /// The impact law acts.
    Impact,
}

/// What the rule of contacts reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Approach {
    pub gap: f64,
    pub slop: f64,
    /// Normal velocity before the kick and that without contact impulses.
    pub before: f64,
    pub free: f64,
    pub h: f64,
    /// Speed that gravity gains in a step.
    pub gain: f64,
}

/// Which contacts act, and how.
///
/// Without restitution: all of them; a closed contact (gap up to the slop) does not approach, an open one at most to half the
/// slop. Under a restitution: only those that are closed or reach each other in the step; an approach faster than gravity
/// gains in two steps bounces and is never braked before. At an instant (h = 0) only closed contacts act.
pub(super) fn pose(restitution: f64, at: &Approach) -> Posing {
    let closed = at.gap <= at.slop;
    if at.h == 0.0 && !closed {
        return Posing::Absent;
    }
    let closing = Posing::Closing {
        allowed: if closed {
            0.0
        } else {
            (at.gap - 0.5 * at.slop) / at.h
        },
    };
    if restitution == 0.0 {
        return closing;
    }
    let reaches = at.gap + at.h * at.before.min(at.free) <= 0.0;
    if !closed && !reaches {
        Posing::Absent
    } else if at.before < -2.0 * at.gain {
        Posing::Impact
    } else {
        closing
    }
}

/// Bias of a contact: what the law reads besides the velocity, without supports.
#[inline]
pub(super) fn bias(impact: ImpactLaw, theta: f64, posing: Posing, before: &[f64], out: &mut [f64]) {
    // Friction that reads the velocity later than at 1/(1 + e) of its change could give energy to an impact.
    let friction = theta.min(restitution::latest_reading(impact.restitution()));
    restitution::bias(impact, (theta, friction), false, before, out);
    if let Posing::Closing { allowed } = posing {
        out[0] = allowed;
    }
}

/// Number of rows of a contact that are velocities.
pub(super) fn linear_rows(dimension: Dimension, law: &PairLaw) -> usize {
    match (law.contact.tangent_dimension(), dimension) {
        (0, _) => 1,
        (_, Dimension::Plane) => 2,
        (_, Dimension::Space) => 3,
    }
}

/// Normal and tangents of a contact; in the plane the normal, the tangent and the axis of rotation.
#[inline(always)]
pub(super) fn frame(
    dimension: Dimension,
    law: &PairLaw,
    normal: [f64; 3],
    first: &[[f64; 3]; 3],
) -> [[f64; 3]; 3] {
    if law.contact.tangent_dimension() == 0 {
        return [normal, [0.0; 3], [0.0; 3]];
    }
    let [s, t] = match dimension {
        Dimension::Plane => [[normal[1], -normal[0], 0.0], [0.0, 0.0, 1.0]],
        Dimension::Space if is_round(law.contact.base_section()) => orthonormal_tangents(normal),
        Dimension::Space => material_tangents(normal, first),
    };
    [normal, s, t]
}

/// Whether turning the tangents does not change the section.
fn is_round(section: &FrictionSection) -> bool {
    match section {
        FrictionSection::None | FrictionSection::Disc { .. } | FrictionSection::Interval { .. } => {
            true
        }
        FrictionSection::Product { factors, .. } => factors.iter().all(is_round),
        _ => false,
    }
}

/// Tangents fixed to a body: its x axis projected on the tangent plane, its y axis where x is nearly the normal.
fn material_tangents(n: [f64; 3], axes: &[[f64; 3]; 3]) -> [[f64; 3]; 2] {
    let projected = |axis: [f64; 3]| {
        let along = dot(axis, n);
        let t: [f64; 3] = std::array::from_fn(|i| axis[i] - along * n[i]);
        (t, dot(t, t).sqrt())
    };
    let (mut t, mut length) = projected(axes[0]);
    if length < 0.1 {
        (t, length) = projected(axes[1]);
    }
    let t = t.map(|x| x / length);
    [t, cross(n, t)]
}

/// The operator of a problem over bodies.
pub(super) fn operator(problem: &ContactProblem) -> &BodyOperator {
    match problem.delassus() {
        Delassus::Bodies(operator) => operator,
        // Worlds begin their problems over bodies.
        _ => unreachable!("a problem over bodies"),
    }
}

/// The bodies of a contact that can move.
pub(super) fn sides(bodies: &Bodies, contact: &FoundContact) -> [u32; 2] {
    contact.key.owners.map(|owner| {
        if bodies.masses[owner as usize].free {
            owner
        } else {
            NO_BODY
        }
    })
}

/// Writes the rows of a contact: velocity of a minus velocity of b along each direction, on whitened velocities.
#[inline]
pub(super) fn write_rows(
    numbers: &mut [f64],
    bodies: &Bodies,
    dimension: Dimension,
    contact: &FoundContact,
    directions: &[[f64; 3]],
    linear: usize,
) {
    match dimension {
        Dimension::Plane => {
            let rows = numbers.as_chunks_mut::<3>().0.as_chunks_mut::<2>().0;
            write_sides(rows, bodies, contact, directions, linear);
        }
        Dimension::Space => {
            let rows = numbers.as_chunks_mut::<6>().0.as_chunks_mut::<2>().0;
            write_sides(rows, bodies, contact, directions, linear);
        }
    }
}

/// The same, side by side of each row.
#[inline(always)] // For each number of rows known beforehand.
pub(super) fn write_sides<const F: usize>(
    rows: &mut [[[f64; F]; 2]],
    bodies: &Bodies,
    contact: &FoundContact,
    directions: &[[f64; 3]],
    linear: usize,
) {
    for (side, (&body, sign)) in contact.key.owners.iter().zip([1.0, -1.0]).enumerate() {
        let body = body as usize;
        let mass = &bodies.masses[body];
        if !mass.free {
            rows.iter_mut().for_each(|row| row[side] = [0.0; F]);
            continue;
        }
        let x = bodies.state.poses[body].position;
        let arm: [f64; 3] = std::array::from_fn(|k| contact.place[k] - x[k]);
        // e_k·(arm × f) = (e_k × arm)·f: one product per axis of the body serves all rows.
        let axes = &bodies.rotations[body];
        let turns: [[f64; 3]; 3] = std::array::from_fn(|k| cross(axes[k], arm));
        let inertia = mass.inverse_root_inertia.map(|root| sign * root);
        let root_mass = sign * mass.inverse_root_mass;
        for (i, (row, &direction)) in rows.iter_mut().zip(directions).enumerate() {
            let (factor, arms) = match i < linear {
                true => (root_mass, &turns),
                false => (0.0, axes),
            };
            let out = &mut row[side];
            if F == 3 {
                out[0] = factor * direction[0];
                out[1] = factor * direction[1];
                out[2] = inertia[2] * dot(arms[2], direction);
            } else {
                for k in 0..3 {
                    out[k] = factor * direction[k];
                    out[F - 3 + k] = inertia[k] * dot(arms[k], direction);
                }
            }
        }
    }
}

/// Rows of normal and tangents in space by columns, a lane for each: those of [`write_rows`], all at once.
#[inline(always)]
pub(super) fn columns_by_lane(
    bodies: &Bodies,
    contact: &FoundContact,
    frame: &[[f64; 3]; 3],
) -> [[f64; 4]; 12] {
    let [n, s, t] = frame;
    let along: [[f64; 4]; 3] = std::array::from_fn(|c| [n[c], s[c], t[c], 0.0]);
    let mut columns = [[0.0; 4]; 12];
    let halves = columns.as_chunks_mut::<6>().0.iter_mut();
    for ((half, &body), sign) in halves.zip(&contact.key.owners).zip([1.0, -1.0]) {
        let body = body as usize;
        let mass = &bodies.masses[body];
        if !mass.free {
            continue;
        }
        let x = bodies.state.poses[body].position;
        let arm = [0, 1, 2].map(|k| contact.place[k] - x[k]);
        let root_mass = sign * mass.inverse_root_mass;
        for k in 0..3 {
            let turn = cross(bodies.rotations[body][k], arm);
            let root_inertia = sign * mass.inverse_root_inertia[k];
            for l in 0..4 {
                half[k][l] = root_mass * along[k][l];
                half[3 + k][l] = root_inertia
                    * (turn[0] * along[0][l] + turn[1] * along[1][l] + turn[2] * along[2][l]);
            }
        }
    }
    columns
}

/// Writes the velocity of a relative to b that driven bodies alone make, row by row.
#[inline]
pub(super) fn drift(
    bodies: &Bodies,
    contact: &FoundContact,
    directions: &[[f64; 3]],
    linear: usize,
    out: &mut [f64],
) {
    out.fill(0.0);
    for (&body, sign) in contact.key.owners.iter().zip([1.0, -1.0]) {
        let body = body as usize;
        if !bodies.masses[body].driven {
            continue;
        }
        let velocity = bodies.point_velocity(body, contact.place);
        let spin = bodies.spin_in_world(body);
        for (i, (o, direction)) in out.iter_mut().zip(directions).enumerate() {
            *o += sign * dot(if i < linear { velocity } else { spin }, *direction);
        }
    }
}

#[inline]
pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Approach = Approach {
        gap: 1.0,
        slop: 0.1,
        before: -50.0,
        free: -50.0,
        h: 0.01,
        gain: 0.1,
    };

    #[test]
    fn an_elastic_contact_is_not_braked_before_it_touches() {
        assert_eq!(pose(0.5, &AT), Posing::Absent);
        let near = Approach { gap: 0.4, ..AT };
        assert_eq!(pose(0.5, &near), Posing::Impact);
        // Two steps of gravity are no impact.
        let slow = Approach {
            gap: 0.05,
            before: -0.2,
            ..AT
        };
        assert_eq!(pose(0.5, &slow), Posing::Closing { allowed: 0.0 });
    }

    #[test]
    fn an_inelastic_contact_may_close_to_half_the_slop() {
        let Posing::Closing { allowed } = pose(0.0, &AT) else {
            panic!("an inelastic contact takes part")
        };
        assert!((AT.gap - AT.h * allowed - 0.5 * AT.slop).abs() < 1e-15);
        let closed = Approach { gap: 0.1, ..AT };
        assert_eq!(pose(0.0, &closed), Posing::Closing { allowed: 0.0 });
        let instant = Approach { h: 0.0, ..AT };
        assert_eq!(pose(0.0, &instant), Posing::Absent);
    }

    #[test]
    fn tangents_of_an_ellipse_follow_the_first_body() {
        let n = [0.0, 0.6, 0.8];
        let axes = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]];
        let [t1, t2] = material_tangents(n, &axes);
        assert!(dot(t1, n).abs() < 1e-15 && dot(t2, n).abs() < 1e-15 && dot(t1, t2).abs() < 1e-15);
        assert!(dot(t1, axes[0]) > 0.0 && dot(t1, axes[2]).abs() < 1e-15);
    }
}
