//! The law of one contact in one step.

use crate::laws::{FlowRule, FrictionSection, ImpactLaw};
use crate::systems::world::{Dimension, PairLaw};

use super::vector::{Vector, along, cross, dot, unit};

/// Most rows of a contact.
const ROWS: usize = 6;

/// How a step reads a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reading {
    /// The contact takes no part.
    Absent,
    /// It may approach as fast as its gap allows.
    Closing(f64),
    /// Its impact law acts.
    Impact,
}

/// Normal, tangents and, for rolling and drilling, axes of rotation: the rows of a contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    directions: [Vector; ROWS],
    /// Rows that read velocities; the others read angular velocities.
    linear: usize,
    pub count: usize,
}

impl Rows {
    pub fn of(
        dimension: Dimension,
        law: &PairLaw,
        n: Vector,
        x_axis: Vector,
        y_axis: Vector,
    ) -> Self {
        let mut directions = [n; ROWS];
        let count = law.rows();
        if count == 1 {
            return Self {
                directions,
                linear: 1,
                count,
            };
        }
        if dimension == Dimension::Plane {
            directions[1] = [n[1], -n[0], 0.0];
            directions[2] = [0.0, 0.0, 1.0];
            return Self {
                directions,
                linear: 2,
                count,
            };
        }
        // The x axis of the first body along the surface; its y axis where x is nearly the normal.
        let tangent = |axis: Vector| along(axis, -dot(axis, n), n);
        let first = tangent(x_axis);
        let first = if dot(first, first) < 0.01 {
            tangent(y_axis)
        } else {
            first
        };
        let t = unit(first).unwrap_or([1.0, 0.0, 0.0]);
        let tangents = [t, cross(n, t)];
        directions[1..3].copy_from_slice(&tangents);
        let mut next = 3;
        if law.rolling {
            directions[3..5].copy_from_slice(&tangents);
            next = 5;
        }
        if law.drilling {
            directions[next] = n;
        }
        Self {
            directions,
            linear: 3,
            count,
        }
    }

    /// Components of a vector (velocity or impulse) and of one about axes (angular velocity or moment).
    pub fn read(&self, vector: Vector, angular: Vector) -> [f64; ROWS] {
        std::array::from_fn(|i| {
            if i >= self.count {
                0.0
            } else if i < self.linear {
                dot(self.directions[i], vector)
            } else {
                dot(self.directions[i], angular)
            }
        })
    }

    /// W of the contact: row i answers an impulse along row k by an arm and the inverse masses of a body.
    pub fn add_response(
        &self,
        (inverse_mass, inverse_inertia): (f64, Vector),
        arm: Vector,
        in_body: impl Fn(Vector) -> Vector,
        w: &mut [[f64; ROWS]; ROWS],
    ) {
        let turns: [Vector; ROWS] = std::array::from_fn(|i| {
            let d = self.directions[i];
            in_body(if i < self.linear { cross(arm, d) } else { d })
        });
        for i in 0..self.count {
            for k in 0..self.count {
                if i < self.linear && k < self.linear {
                    w[i][k] += inverse_mass * dot(self.directions[i], self.directions[k]);
                }
                for axis in 0..3 {
                    w[i][k] += turns[i][axis] * inverse_inertia[axis] * turns[k][axis];
                }
            }
        }
    }
}

/// What a law adds to the velocity after a step: restitution, mean velocities, the approach that a gap allows.
pub(super) fn bias(impact: ImpactLaw, theta: f64, reading: Reading, before: &[f64]) -> [f64; ROWS] {
    let mut bias = [0.0; ROWS];
    let e = impact.restitution();
    let tangential = match impact {
        ImpactLaw::Moreau { .. } => e,
        // At θ, and not beyond the bound 1/(1 + e) of its dissipation.
        ImpactLaw::Fremond { restitution } => ((1.0 - theta) / theta).max(restitution),
        _ => 0.0,
    };
    for (b, u) in bias.iter_mut().zip(before).skip(1) {
        *b = tangential * u;
    }
    bias[0] = match reading {
        Reading::Absent => 0.0,
        Reading::Closing(allowed) => allowed,
        Reading::Impact => e * before[0],
    };
    bias
}

/// How far an impulse is from its law, as an impulse.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LawDefect {
    /// Natural map of the unrelaxed law.
    pub natural_map: f64,
    /// `min(p_N, ρ w_N)`.
    pub normal: f64,
    /// Distance of the friction impulse to its set at the given normal impulse.
    pub cone: f64,
}

impl LawDefect {
    /// The parts that are larger than rounding; what is no number stays.
    pub fn above(self, noise: f64) -> Self {
        let heard = |x: f64| if x <= noise { 0.0 } else { x };
        Self {
            natural_map: heard(self.natural_map),
            normal: heard(self.normal),
            cone: heard(self.cone),
        }
    }
}

/// Whether S(q, v) is Coulomb's law at a contact: with one tangent both have the same edges of the cone where W n points into it along
/// both. Coulomb's map is then the measure, for the multiplier of S is a quotient by the impulse, however small that is.
fn is_coulombs(section: &FrictionSection, count: usize, response: &[[f64; ROWS]; ROWS]) -> bool {
    let inward = |f: f64| response[0][0] + f * response[0][1] > 0.0;
    count == 2
        && section
            .ends()
            .is_some_and(|(low, high)| inward(low) && inward(high))
}

/// Judges the impulse p of a contact that reads the velocity w.
pub(super) fn judge(
    section: &FrictionSection,
    flow_rule: FlowRule,
    p: &[f64],
    w: &[f64],
    (rho, response): (f64, &[[f64; ROWS]; ROWS]),
) -> LawDefect {
    let count = p.len();
    let length = |x: &[f64], y: &[f64]| -> f64 {
        x.iter()
            .zip(y)
            .map(|(x, y)| (x - y) * (x - y))
            .sum::<f64>()
            .sqrt()
    };
    let normal = p[0].min(rho * w[0]).abs();
    let mut tangent = [0.0; ROWS];
    let tangent = &mut tangent[..count - 1];
    let mut cone = 0.0;
    if count > 1 {
        section.project(&p[1..], p[0].max(0.0), tangent);
        cone = length(&p[1..], tangent);
    }
    let kinetic_projection = flow_rule == FlowRule::KineticProjection;
    let mut shift = [0.0; ROWS];
    if kinetic_projection && !is_coulombs(section, count, response) {
        let column: [f64; ROWS] = std::array::from_fn(|i| response[i][0]);
        let sum = |x: &[f64]| p.iter().zip(x).map(|(p, x)| p * x).sum::<f64>();
        let kinetic = sum(&column);
        let s = if kinetic > 0.0 {
            -sum(w) / kinetic
        } else {
            0.0
        };
        shift = column.map(|c| s * c);
    } else if count > 1 {
        let slip: Vec<f64> = w[1..].iter().map(|w| -w).collect();
        shift[0] = section.support(&slip);
    }
    let pushed: Vec<f64> = (0..count).map(|i| p[i] - rho * (w[i] + shift[i])).collect();
    let mut projected = [0.0; ROWS];
    section.project_on_cone(&pushed, &mut projected[..count]);
    let mut natural_map = length(p, &projected[..count]);
    if kinetic_projection {
        // S(q, v) leaves a velocity that does not approach as it is: an impulse is at most its own size off there.
        let size = p.iter().map(|p| p * p).sum::<f64>().sqrt();
        natural_map = natural_map.min(size + rho * (-w[0]).max(0.0));
    }
    LawDefect {
        natural_map,
        normal,
        cone,
    }
}
