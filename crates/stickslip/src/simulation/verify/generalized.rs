//! Friction stated on generalized reactions: the sum of friction sets, read on all velocities or on those
//! tangential to every closed constraint.

use crate::algebra::lcp::{LcpOutcome, solve_lcp, solve_lcp_short};
use crate::algebra::small_dense::norm;
use crate::algebra::{PivotedCholesky, dot, keep_image_part};
use crate::laws::{FrictionSection, GeneralizedSet, PerUnitNormal, SetUnit};

use super::friction::{Contact, FrictionDefect, Reads};
use super::sum_of_sets::{Part, nearest_in_sum};

/// A defect up to which the law holds contact by contact.
const SHARED: f64 = 1e-9;

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
    /// Which of them leave faster than the impact law asks, and are not pressed.
    pub leaving: &'a [bool],
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
        let leaves = |k: &usize| {
            let of = |c: &&Contact| c.constraint == contacts[*k].constraint;
            let first = reaction.contacts.iter().position(of);
            first.and_then(|i| reaction.leaving.get(i)) == Some(&true)
        };
        let leaving: Vec<usize> = (0..count).filter(leaves).collect();
        let multipliers = multipliers_of(&gram, &pairing, &leaving)?;
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

    /// Contacts with friction that are pressed, and their multipliers.
    fn firm(&self) -> impl Iterator<Item = (&Contact, f64)> {
        let firm = self.multipliers.iter().fold(0.0f64, |s, l| s.max(*l)) * 1e-9;
        let pairs = self.contacts.iter().zip(self.multipliers.iter().copied());
        pairs.filter(move |(contact, factor)| contact.size > 1 && *factor > firm)
    }

    /// The sets λ C* of firm contacts; `test` says where their covectors are read.
    fn parts(&self, test: TestVelocities) -> Vec<Part> {
        let m = self.places.len();
        let mut parts = Vec::new();
        for (contact, factor) in self.firm() {
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

    /// Velocity of local velocities of the given rows, off the normals; none where no one velocity has them, as of bodies that
    /// touch each other on floors of different speeds.
    fn tangential_velocity(&self, u: &[f64]) -> Option<Vec<f64>> {
        let given: Vec<f64> = self.places.iter().map(|p| u[p[0]]).collect();
        let mut local = given.clone();
        let mut factor = PivotedCholesky::default();
        factor.factor(local.len(), &self.w);
        factor.solve_in_place(&mut local);
        let v = self.covector(local.into_iter().enumerate());
        let size = given.iter().fold(0.0f64, |s, u| s.max(u.abs()));
        let mut pairs = self.rows.iter().zip(&given);
        let one = pairs.all(|(row, u)| (dot(row, &v) - u).abs() <= 1e-8 * size);
        one.then(|| self.tangential(v))
    }

    /// Coefficients of the normals in a row: what is left of it off them is the row less these.
    fn normal_parts(&self, row: usize) -> Vec<f64> {
        let (m, count) = (self.places.len(), self.contacts.len());
        let start = |k: usize| self.contacts[k].start;
        let gram: Vec<f64> = (0..count * count)
            .map(|e| self.w[start(e / count) * m + start(e % count)])
            .collect();
        let mut parts: Vec<f64> = (0..count).map(|k| self.w[row * m + start(k)]).collect();
        let mut factor = PivotedCholesky::default();
        factor.factor(count, &gram);
        factor.solve_in_place(&mut parts);
        parts
    }

    /// What impulses along rows of one contact move off the normals, of which each row has the given parts, and up to which square sizes that
    /// is rounding. Joints or other contacts may leave a body no other way to go: friction along such rows is none of the generalized law,
    /// whatever slip the chord of a step or an obstacle on its way leaves in them.
    fn moved_apart(&self, rows: &[usize], held: &[Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
        let rests: Vec<Vec<f64>> = rows
            .iter()
            .zip(held)
            .map(|(&row, held)| {
                let starts = self.contacts.iter().map(|c| c.start);
                let parts = starts.zip(held.iter().map(|x| -x));
                self.covector([(row, 1.0)].into_iter().chain(parts))
            })
            .collect();
        let d = rows.len();
        let gram = (0..d * d).map(|e| dot(&rests[e / d], &rests[e % d]));
        let rounding = rows
            .iter()
            .map(|&row| 1e-12 * norm(&self.rows[row]).powi(2));
        (gram.collect(), rounding.collect())
    }

    /// √W_ii of a row: what makes an impulse a kinetic speed.
    fn root(&self, i: usize) -> f64 {
        self.w[i * self.places.len() + i]
            .max(f64::MIN_POSITIVE)
            .sqrt()
    }

    /// How far the friction of single contacts is outside of their own sets: then the sum is inside of theirs.
    fn outside_each(&self, parts: &[Part], size: f64) -> f64 {
        let mut inside = vec![false; self.contacts.len()];
        let mut worst = 0.0f64;
        for ((contact, factor), part) in self.firm().zip(parts) {
            let own = &self.impulse[contact.start + 1..contact.start + contact.size];
            worst = worst.max(part.set.excess(own, factor) * self.root(contact.start));
            let same = |c: &Contact| c.start == contact.start;
            if let Some(k) = self.contacts.iter().position(same) {
                inside[k] = true;
            }
        }
        for (contact, inside) in self.contacts.iter().zip(inside) {
            let rows = contact.start + 1..contact.start + contact.size;
            let own = rows.map(|i| (self.impulse[i] * self.root(i)).abs());
            if !inside {
                worst = own.fold(worst, f64::max);
            }
        }
        worst / size
    }

    /// The law contact by contact, each with its own slip: how far the friction of the contacts is from what their slips ask for. Where
    /// it holds, it holds of their sum.
    fn law_of_each(&self, reads: &Reads, parts: &[Part], size: f64, speed: f64) -> f64 {
        let firm: Vec<&Contact> = self.firm().map(|(contact, _)| contact).collect();
        let rows: Vec<usize> = firm
            .iter()
            .flat_map(|c| c.start + 1..c.start + c.size)
            .collect();
        let held: Vec<Vec<f64>> = rows.iter().map(|&i| self.normal_parts(i)).collect();
        let mut moved = Vec::new();
        let mut start = 0;
        for contact in &firm {
            let own = start..start + contact.size - 1;
            moved.push(self.moved_apart(&rows[own.clone()], &held[own.clone()]));
            start = own.end;
        }
        let own: Vec<f64> = rows
            .iter()
            .map(|&i| self.root(i) * self.impulse[i])
            .collect();
        let wanted = |u: &[f64]| {
            let normals: Vec<f64> = self
                .contacts
                .iter()
                .map(|c| u[self.places[c.start][0]])
                .collect();
            let mut slips: Vec<f64> = rows
                .iter()
                .zip(&held)
                .map(|(&i, held)| u[self.places[i][0]] - dot(held, &normals))
                .collect();
            let mut start = 0;
            for (gram, rounding) in &moved {
                let own = start..start + rounding.len();
                start = own.end;
                keep_image_part(gram, rounding, &mut slips[own]);
            }
            let rooted = slips.iter_mut().zip(&rows);
            rooted.for_each(|(slip, &i)| *slip /= self.root(i));
            let rate = size / norm(&slips).max(1e-3 * speed);
            let mut out = Vec::new();
            for (contact, part) in firm.iter().zip(parts) {
                let range = out.len()..out.len() + contact.size - 1;
                let pairs = own[range.clone()].iter().zip(&slips[range]);
                let moved: Vec<f64> = pairs.map(|(p, u)| p - rate * u).collect();
                out.extend(self.nearest_of_one(contact, part, &moved));
            }
            out
        };
        reads.defect(&own, wanted) / size
    }

    /// The friction of one contact nearest to `moved`, all in kinetic speeds.
    fn nearest_of_one(&self, contact: &Contact, part: &Part, moved: &[f64]) -> Vec<f64> {
        let roots: Vec<f64> = (contact.start + 1..contact.start + contact.size)
            .map(|i| self.root(i))
            .collect();
        let section = part.set.section();
        if part.set.tilt().iter().all(|&c| c == 0.0) && is_even(section, &roots) {
            // The section itself: its metric is that of kinetic speeds.
            let point: Vec<f64> = moved.iter().zip(&roots).map(|(x, r)| x / r).collect();
            let mut nearest = vec![0.0; point.len()];
            section.project(&point, part.factor, &mut nearest);
            return nearest.iter().zip(&roots).map(|(x, r)| x * r).collect();
        }
        let images = roots.iter().enumerate().map(|(k, &root)| {
            let mut image = vec![0.0; roots.len()];
            image[k] = root;
            image
        });
        let alone = Part {
            factor: part.factor,
            set: part.set.clone(),
            images: images.collect(),
        };
        nearest_in_sum(&[alone], moved)
    }
}

/// Whether rows that one section joins have one size; those of different parts of a product need not.
fn is_even(section: &FrictionSection, roots: &[f64]) -> bool {
    let even = |roots: &[f64]| roots.iter().all(|r| (r - roots[0]).abs() <= 1e-12 * r);
    let FrictionSection::Product { factors, .. } = section else {
        return even(roots);
    };
    let mut rest = roots;
    factors.iter().all(|factor| {
        let (own, others) = rest.split_at(factor.dimension());
        rest = others;
        even(own)
    })
}

/// λ ≥ 0 with gram λ + pairing ≥ 0, one of them zero everywhere. Where rows depend on each other there are many: those that
/// leave have none, the others share by the least norm.
fn multipliers_of(gram: &[f64], pairing: &[f64], leaving: &[usize]) -> Option<Vec<f64>> {
    let count = pairing.len();
    let mut multipliers = vec![0.0; count];
    let mut factor = PivotedCholesky::default();
    factor.factor(count, gram);
    if factor.rank() == count {
        let outcome = solve_lcp(gram, pairing, &mut multipliers);
        return (outcome == LcpOutcome::Solved).then_some(multipliers);
    }
    let staying: Vec<usize> = (0..count).filter(|k| !leaving.contains(k)).collect();
    let n = staying.len();
    let gram: Vec<f64> = (0..n * n)
        .map(|e| gram[staying[e / n] * count + staying[e % n]])
        .collect();
    let pairing: Vec<f64> = staying.iter().map(|&k| pairing[k]).collect();
    let mut own = vec![0.0; n];
    if solve_lcp_short(&gram, &pairing, &mut own) != LcpOutcome::Solved {
        return None;
    }
    for (&k, own) in staying.iter().zip(own) {
        multipliers[k] = own;
    }
    Some(multipliers)
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
    // As the contacts share it; another way to share the same reaction may obey the law where that does not.
    let each = FrictionDefect {
        cone: split.outside_each(&parts, size),
        law: split.law_of_each(reads, &parts, size, reaction.speed),
        ..defect
    };
    let one = |u: &[f64]| split.tangential_velocity(u).is_some();
    if each.cone.max(each.law) <= SHARED || !reads.all(one) {
        return each;
    }
    let inside = nearest_in_sum(&parts, &target);
    defect.cone = distance(&target, &inside) / size;
    let wanted = |u: &[f64]| {
        let v = split.tangential_velocity(u).unwrap_or_default();
        let rate = size / norm(&v).max(1e-3 * reaction.speed);
        let moved: Vec<f64> = inside.iter().zip(&v).map(|(r, v)| r - rate * v).collect();
        nearest_in_sum(&parts, &moved)
    };
    defect.law = reads.defect(&inside, wanted) / size;
    if each.worst() < defect.worst() {
        each
    } else {
        defect
    }
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
