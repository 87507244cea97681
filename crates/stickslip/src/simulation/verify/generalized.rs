//! Friction stated on generalized reactions: the sum of friction sets, read on all velocities or on those
//! tangential to every closed constraint.

use crate::algebra::lcp::{LcpOutcome, solve_lcp, solve_lcp_short};
use crate::algebra::small_dense::norm;
use crate::algebra::{PivotedCholesky, dot};
use crate::laws::{FrictionSection, GeneralizedSet, PerUnitNormal, SetUnit};

use super::friction::{Contact, FrictionDefect, Reads};
use super::sum_of_sets::{Part, nearest_in_sum};

/// Which test velocities the law is read against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestVelocities {
    /// Those tangential to all closed constraints.
    Tangential,
    /// All, as [CharlesBallard2016] writes P4 and P'4.
    All,
}

/// Closed contacts with the W of all rows and the impulse of all rows.
pub(super) struct GeneralizedReaction<'a> {
    pub contacts: &'a [&'a Contact],
    pub w: &'a [f64],
    pub impulse: &'a [f64],
    /// Kinetic speed of the motion.
    pub speed: f64,
    /// Size, as a kinetic speed, by which smaller reactions are judged.
    pub least: f64,
}

/// Constraints of several points as one contact each, with the rows of the given contacts that make each of the new
/// rows: all normals of a constraint, then tangents one by one. Unchanged if every constraint has one point.
fn merge_points(contacts: &[&Contact]) -> (Vec<Contact>, Vec<Vec<usize>>) {
    let mut merged: Vec<Contact> = Vec::new();
    let mut places: Vec<Vec<usize>> = Vec::new();
    let mut constraints: Vec<usize> = contacts.iter().map(|c| c.constraint).collect();
    constraints.dedup();
    for constraint in constraints {
        let of = |c: &&Contact| c.constraint == constraint;
        let points: Vec<&Contact> = contacts.iter().copied().filter(of).collect();
        let start = places.len();
        places.push(points.iter().map(|c| c.start).collect());
        for c in &points {
            places.extend((c.start + 1..c.start + c.size).map(|i| vec![i]));
        }
        let sections: Vec<FrictionSection> = points.iter().map(|c| c.section.clone()).collect();
        let first = points[0];
        let section = match &sections[..] {
            [only] => only.clone(),
            // Sections of contacts that exist have been accepted.
            _ => FrictionSection::hull(sections).unwrap_or_default(),
        };
        merged.push(Contact {
            start,
            size: places.len() - start,
            section,
            ..first.clone()
        });
    }
    (merged, places)
}

/// The reaction with one contact per constraint, in coordinates with the Euclidean metric.
struct Whitened {
    contacts: Vec<Contact>,
    /// Rows of the given contacts behind each row.
    places: Vec<Vec<usize>>,
    w: Vec<f64>,
    /// Covector of each row.
    rows: Vec<Vec<f64>>,
    /// Orthonormal basis of the span of the normals.
    normals: Vec<Vec<f64>>,
    impulse: Vec<f64>,
    multipliers: Vec<f64>,
}

impl Whitened {
    /// None if the normal part cannot be had.
    fn new(reaction: &GeneralizedReaction) -> Option<Self> {
        let all = reaction.impulse.len();
        let (contacts, places) = merge_points(reaction.contacts);
        let m = places.len();
        let mut impulse = vec![0.0; m];
        for (own, rows) in impulse.iter_mut().zip(&places) {
            *own = rows.iter().map(|&i| reaction.impulse[i]).sum();
        }
        let entry = |i: usize, j: usize| reaction.w[places[i][0] * all + places[j][0]];
        let w: Vec<f64> = (0..m * m).map(|e| entry(e / m, e % m)).collect();
        let starts: Vec<usize> = contacts.iter().map(|c| c.start).collect();
        let count = starts.len();
        let gram: Vec<f64> = (0..count * count)
            .map(|e| w[starts[e / count] * m + starts[e % count]])
            .collect();
        let pairing: Vec<f64> = starts
            .iter()
            .map(|&i| -dot(&w[i * m..(i + 1) * m], &impulse))
            .collect();
        let mut factor = PivotedCholesky::default();
        factor.factor(count, &gram);
        let mut multipliers = vec![0.0; count];
        let outcome = if factor.rank() < count {
            solve_lcp_short(&gram, &pairing, &mut multipliers)
        } else {
            solve_lcp(&gram, &pairing, &mut multipliers)
        };
        if outcome != LcpOutcome::Solved {
            return None;
        }
        let rows = square_root(&w, m);
        let normals = orthonormal(starts.iter().map(|&i| rows[i].clone()));
        Some(Self {
            contacts,
            places,
            w,
            rows,
            normals,
            impulse,
            multipliers,
        })
    }

    fn covector(&self, coefficients: impl Iterator<Item = (usize, f64)>) -> Vec<f64> {
        let mut out = vec![0.0; self.rows.first().map_or(0, Vec::len)];
        for (i, p) in coefficients {
            out.iter_mut()
                .zip(&self.rows[i])
                .for_each(|(o, x)| *o += p * x);
        }
        out
    }

    /// What is left of x off the normals.
    fn tangential(&self, mut x: Vec<f64>) -> Vec<f64> {
        for b in &self.normals {
            let c = dot(b, &x);
            x.iter_mut().zip(b).for_each(|(x, b)| *x -= c * b);
        }
        x
    }

    /// The sets λ C* of firm contacts; `reduce` says where their covectors are read.
    fn parts(&self, test: TestVelocities) -> Vec<Part> {
        let m = self.places.len();
        let firm = self.multipliers.iter().fold(0.0f64, |s, l| s.max(*l)) * 1e-9;
        let mut parts = Vec::new();
        for (contact, &factor) in self.contacts.iter().zip(&self.multipliers) {
            if contact.size < 2 || factor <= firm {
                continue;
            }
            let (n, size) = (contact.start, contact.size);
            let local: Vec<f64> = (0..size * size)
                .map(|e| self.w[(n + e / size) * m + n + e % size])
                .collect();
            let images = (1..size)
                .map(|i| {
                    let coupling = local[i] / local[0];
                    let image = self.covector([(n + i, 1.0), (n, -coupling)].into_iter());
                    match test {
                        TestVelocities::All => image,
                        TestVelocities::Tangential => self.tangential(image),
                    }
                })
                .collect();
            let section = contact.section.clone();
            let set = match contact.unit {
                SetUnit::CoulombCone => GeneralizedSet::from_cone(&local, section),
                SetUnit::PerGradient => GeneralizedSet::given(section),
                SetUnit::PerUnitNormal => {
                    GeneralizedSet::<PerUnitNormal>::given(section).per_gradient(local[0].sqrt())
                }
            };
            parts.push(Part {
                factor,
                set,
                images,
            });
        }
        parts
    }

    /// Velocity of local velocities of the given rows, off the normals.
    fn tangential_velocity(&self, u: &[f64]) -> Vec<f64> {
        let mut local: Vec<f64> = self.places.iter().map(|p| u[p[0]]).collect();
        let mut factor = PivotedCholesky::default();
        factor.factor(local.len(), &self.w);
        factor.solve_in_place(&mut local);
        self.tangential(self.covector(local.into_iter().enumerate()))
    }
}

/// Normal multipliers λ per constraint of the closed contacts, by the cone splitting of the reaction.
pub(super) fn multipliers(reaction: &GeneralizedReaction) -> Option<Vec<f64>> {
    Whitened::new(reaction).map(|w| w.multipliers)
}

/// What is wrong with a reaction under P'3, P'4 or, for particles, P4.
///
/// With λ from the cone splitting r = Σ λ dφ + r_τ: the distance of r_τ to Σ λ C*, and of r_τ to the point of the sum
/// that the velocity v_t asks for, which is that nearest to r_τ − ρ M v_t. On tangential test velocities both are read there,
/// and the part of r along the normals must be in the friction cone by itself (condition 3 on impact maps).
pub(super) fn defect(
    reaction: &GeneralizedReaction,
    reads: &Reads,
    test: TestVelocities,
) -> FrictionDefect {
    let Some(split) = Whitened::new(reaction) else {
        return FrictionDefect {
            normal: f64::INFINITY,
            ..FrictionDefect::default()
        };
    };
    let sizes = split.impulse.iter().zip(&split.rows);
    let size = sizes.map(|(p, r)| p.abs() * norm(r)).fold(0.0, f64::max);
    if size == 0.0 {
        return FrictionDefect::default();
    }
    let size = size.max(reaction.least);
    let whole = split.covector(split.impulse.iter().copied().enumerate());
    let starts = split.contacts.iter().map(|c| c.start);
    let pushing = split.covector(starts.zip(split.multipliers.iter().copied()));
    let rest: Vec<f64> = whole.iter().zip(&pushing).map(|(r, n)| r - n).collect();
    let parts = split.parts(test);
    let mut defect = FrictionDefect::default();
    let target = match test {
        TestVelocities::All => rest,
        TestVelocities::Tangential => {
            let target = split.tangential(rest.clone());
            let along: Vec<f64> = rest.iter().zip(&target).map(|(r, t)| r - t).collect();
            if norm(&along) > 1e-12 * size {
                let nearest = nearest_in_sum(&split.parts(TestVelocities::All), &along);
                defect.normal = distance(&along, &nearest) / size;
            }
            target
        }
    };
    let inside = nearest_in_sum(&parts, &target);
    defect.cone = distance(&target, &inside) / size;
    let wanted = |u: &[f64]| {
        let v = split.tangential_velocity(u);
        let rate = size / norm(&v).max(1e-3 * reaction.speed);
        let moved: Vec<f64> = inside.iter().zip(&v).map(|(r, v)| r - rate * v).collect();
        nearest_in_sum(&parts, &moved)
    };
    defect.law = reads.defect(&inside, wanted) / size;
    defect
}

pub(super) fn distance(a: &[f64], b: &[f64]) -> f64 {
    let parts = a.iter().zip(b);
    parts.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// Rows L with W = L Lᵀ, by Cholesky's method with pivoting; as many columns as the rank.
fn square_root(w: &[f64], m: usize) -> Vec<Vec<f64>> {
    let mut rest = w.to_vec();
    let mut rows = vec![Vec::new(); m];
    let largest = (0..m).map(|i| w[i * m + i]).fold(0.0, f64::max);
    for _ in 0..m {
        let pivot = (0..m).fold(0, |b, i| {
            if rest[i * m + i] > rest[b * m + b] {
                i
            } else {
                b
            }
        });
        let root = rest[pivot * m + pivot];
        if !(root > 1e-12 * largest) {
            break;
        }
        let root = root.sqrt();
        let column: Vec<f64> = (0..m).map(|i| rest[i * m + pivot] / root).collect();
        for i in 0..m {
            for j in 0..m {
                rest[i * m + j] -= column[i] * column[j];
            }
            rows[i].push(column[i]);
        }
        // What is left of the pivot is rounding.
        (0..m).for_each(|i| {
            rest[i * m + pivot] = 0.0;
            rest[pivot * m + i] = 0.0;
        });
    }
    rows
}

/// Orthonormal basis of the span; vectors that depend on earlier ones are left out.
fn orthonormal(vectors: impl Iterator<Item = Vec<f64>>) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut v in vectors {
        let length = norm(&v);
        // Twice: once is not orthogonal to rounding.
        for _ in 0..2 {
            for b in &basis {
                let c = dot(b, &v);
                v.iter_mut().zip(b).for_each(|(v, b)| *v -= c * b);
            }
        }
        let left = norm(&v);
        if left > 1e-9 * length && left > 0.0 {
            v.iter_mut().for_each(|x| *x /= left);
            basis.push(v);
        }
    }
    basis
}
