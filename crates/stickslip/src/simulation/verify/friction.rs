//! Friction laws on one reaction: real cones and generalized sets.

use crate::algebra::lcp::{LcpOutcome, solve_lcp, solve_lcp_short};
use crate::algebra::{PivotedCholesky, dot};
use crate::laws::{FrictionSection, GeneralizedSet, PerGradient, PerUnitNormal, SetUnit};

/// One contact at an instant.
pub(super) struct Contact {
    /// Rows of the contact in the local arrays: start and number.
    pub start: usize,
    pub size: usize,
    pub section: FrictionSection,
    /// What the section is measured per, where friction is stated on generalized reactions.
    pub unit: SetUnit,
    pub constraint: usize,
    pub restitution: f64,
    /// Whether it may carry an impulse, and whether it must obey the laws of contact even without one.
    pub closed: bool,
    pub sure: bool,
}

/// What is wrong with a reaction, in units of impulse and of impulse times velocity.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FrictionDefect {
    pub normal: f64,
    pub cone: f64,
    pub law: f64,
}

/// Coulomb's law of one contact: impulse p, tangential velocity `slip` that friction reads.
pub(super) fn real(contact: &Contact, p: &[f64], slip: &[f64]) -> FrictionDefect {
    let normal = p[0].max(0.0);
    let cone = if p.len() == 1 {
        0.0
    } else {
        contact.section.distance(&p[1..], normal)
    };
    let minus: Vec<f64> = slip.iter().map(|x| -x).collect();
    let support = if normal > 0.0 && !minus.is_empty() {
        normal * contact.section.support(&minus)
    } else {
        0.0
    };
    // Against test velocities û: p_t·û + p_n σ(−û) ≥ p_t·u + p_n σ(−u), u itself included with equality to 0.
    let law = (dot(&p[1..], slip) + support).abs();
    FrictionDefect {
        normal: (-p[0]).max(0.0),
        cone,
        law,
    }
}

/// The variational form of a particle's law in lasting contact: r_n (v·x) ≥ (r·v) x_n for every test reaction x of
/// the cone, here x = (1, s) with s around the border of the section; the largest violation.
///
/// [MonteiroMarquesDzonou2017], 1.4, the characterization of case 3 of its problem.
pub(super) fn variational(contact: &Contact, p: &[f64], u: &[f64]) -> f64 {
    let d = p.len() - 1;
    if d == 0 {
        return 0.0;
    }
    let power = dot(&p[1..], &u[1..]);
    let directions: Vec<Vec<f64>> = match d {
        1 => vec![vec![1.0], vec![-1.0]],
        _ => (0..64)
            .map(|k| {
                let angle = std::f64::consts::TAU * f64::from(k) / 64.0;
                let mut direction = vec![0.0; d];
                (direction[0], direction[1]) = (angle.cos(), angle.sin());
                direction
            })
            .collect(),
    };
    let mut test = vec![0.0; d];
    let mut worst = 0.0f64;
    for direction in directions {
        let far: Vec<f64> = direction.iter().map(|x| 1e6 * x).collect();
        contact.section.project(&far, 1.0, &mut test);
        worst = worst.max(power - p[0] * dot(&test, &u[1..]));
    }
    worst
}

/// Constraints of several points as one contact each, with the rows of the given contacts that make each of the new
/// rows: all normals of a constraint, then tangents one by one. Unchanged if every constraint has one point.
fn merge_points(contacts: &[&Contact]) -> (Vec<Contact>, Vec<Vec<usize>>) {
    let mut merged: Vec<Contact> = Vec::new();
    let mut places: Vec<Vec<usize>> = Vec::new();
    let mut constraints: Vec<usize> = contacts.iter().map(|c| c.constraint).collect();
    constraints.dedup();
    for constraint in constraints {
        let points: Vec<&&Contact> = contacts
            .iter()
            .filter(|c| c.constraint == constraint)
            .collect();
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
            unit: first.unit,
            constraint,
            restitution: first.restitution,
            closed: first.closed,
            sure: first.sure,
        });
    }
    (merged, places)
}

/// P'3 and P'4: the whole reaction p of all contacts, local velocities u after, `speed` of the motion.
///
/// λ from the cone splitting of the reaction, then ⟨r_τ, v_t⟩ = −Σ λ S(−v_t), and ⟨r_τ, û⟩ ≥ −Σ λ S(−û) for test velocities û, both on
/// velocities tangential to all closed constraints.
pub(super) fn generalized(
    contacts: &[&Contact],
    w: &[f64],
    p: &[f64],
    (u, speed): (&[f64], f64),
) -> (Vec<FrictionDefect>, Vec<f64>) {
    let (merged, places) = merge_points(contacts);
    if merged.len() < contacts.len() {
        // Points that share a normal row are one constraint; its normal impulse is their sum.
        let m = u.len();
        let owner = |i: usize| places.iter().position(|p| p.contains(&i));
        let mut own = vec![0.0; places.len()];
        for (i, &x) in p.iter().enumerate() {
            if let Some(k) = owner(i) {
                own[k] += x;
            }
        }
        let first: Vec<usize> = places.iter().map(|p| p[0]).collect();
        let small: Vec<f64> = first
            .iter()
            .flat_map(|&i| first.iter().map(move |&j| w[i * m + j]))
            .collect();
        let velocity: Vec<f64> = first.iter().map(|&i| u[i]).collect();
        let list: Vec<&Contact> = merged.iter().collect();
        let (defects, lambda) = generalized(&list, &small, &own, (&velocity, speed));
        let of = |c: &&Contact| merged.iter().position(|m| m.constraint == c.constraint);
        let spread = contacts
            .iter()
            .map(|c| of(c).map_or(FrictionDefect::default(), |k| defects[k]));
        return (spread.collect(), lambda);
    }
    let m = u.len();
    let count = contacts.len();
    let entry = |i: usize, j: usize| w[i * m + j];
    let starts: Vec<usize> = contacts.iter().map(|c| c.start).collect();
    let gram: Vec<f64> = (0..count * count)
        .map(|e| entry(starts[e / count], starts[e % count]))
        .collect();
    let pairing: Vec<f64> = (0..m).map(|i| dot(&w[i * m..(i + 1) * m], p)).collect();
    let q: Vec<f64> = starts.iter().map(|&i| -pairing[i]).collect();
    let mut factor = PivotedCholesky::default();
    factor.factor(count, &gram);
    let mut lambda = vec![0.0; count];
    let outcome = if factor.rank() < count {
        solve_lcp_short(&gram, &q, &mut lambda)
    } else {
        solve_lcp(&gram, &q, &mut lambda)
    };
    let mut defects = vec![FrictionDefect::default(); count];
    if outcome != LcpOutcome::Solved {
        defects.iter_mut().for_each(|d| d.normal = f64::INFINITY);
        return (defects, lambda);
    }
    let mut rest = p.to_vec();
    for (contact, l) in contacts.iter().zip(&lambda) {
        rest[contact.start] -= l;
    }
    // A kinetic normal reaction that pulls is what the splitting leaves along −n.
    let rest_pairing: Vec<f64> = (0..m).map(|i| dot(&w[i * m..(i + 1) * m], &rest)).collect();
    let alone = count == 1;
    for (k, contact) in contacts.iter().enumerate() {
        if alone {
            let scale = gram[0];
            defects[k].normal = (-rest_pairing[contact.start] / scale).max(0.0);
        }
    }
    // What a row reads on velocities tangential to all closed constraints.
    let held: Vec<Vec<f64>> = (0..m)
        .map(|i| {
            let mut row: Vec<f64> = starts.iter().map(|&j| entry(i, j)).collect();
            factor.solve_in_place(&mut row);
            row
        })
        .collect();
    let tangential = |velocity: &[f64]| -> Vec<f64> {
        let normal: Vec<f64> = starts.iter().map(|&j| velocity[j]).collect();
        (0..m)
            .map(|i| velocity[i] - dot(&held[i], &normal))
            .collect()
    };
    let sets: Vec<Option<GeneralizedSet<PerGradient>>> = contacts
        .iter()
        .map(|c| {
            (c.size > 1).then(|| {
                let local: Vec<f64> = (0..c.size * c.size)
                    .map(|e| entry(c.start + e / c.size, c.start + e % c.size))
                    .collect();
                let section = c.section.clone();
                match c.unit {
                    SetUnit::CoulombCone => GeneralizedSet::from_cone(&local, section),
                    SetUnit::PerGradient => GeneralizedSet::given(section),
                    SetUnit::PerUnitNormal => GeneralizedSet::<PerUnitNormal>::given(section)
                        .per_gradient(local[0].sqrt()),
                }
            })
        })
        .collect();
    // Σ λ S(−y) with y the tangential reading; 0 · ∞ = 0.
    let firm = lambda.iter().fold(0.0f64, |s, l| s.max(*l)) * 1e-9;
    let potential = |velocity: &[f64], floor: f64| -> f64 {
        contacts
            .iter()
            .zip(&sets)
            .zip(&lambda)
            .map(|((c, set), &l)| match set {
                Some(set) if l > firm => {
                    let minus: Vec<f64> = (c.start + 1..c.start + c.size)
                        .map(|i| {
                            if velocity[i].abs() <= floor {
                                0.0
                            } else {
                                -velocity[i]
                            }
                        })
                        .collect();
                    l * set.support(&minus)
                }
                _ => 0.0,
            })
            .sum()
    };
    // Below rounding of the motion's own speed a velocity has no direction.
    let scale = u.iter().fold(speed, |s, x| s.max(x.abs()));
    let after = tangential(u);
    let power = dot(&rest, &after);
    let law = (power + potential(&after, 1e-10 * scale)).abs();
    // Test velocities: responses to unit impulses of every row, both ways.
    let mut cone = 0.0f64;
    for j in 0..m {
        for sign in [1.0, -1.0] {
            let response: Vec<f64> = (0..m).map(|i| sign * entry(i, j)).collect();
            let test = tangential(&response);
            let size = test.iter().fold(0.0f64, |s, x| s.max(x.abs()));
            if size <= 1e-12 * entry(j, j) {
                continue;
            }
            let excess = -dot(&rest, &test) - potential(&test, 1e-12 * size);
            if excess > 0.0 {
                cone = cone.max(excess / size);
            }
        }
    }
    for defect in &mut defects {
        defect.cone = defect.cone.max(cone);
        defect.law = law;
    }
    (defects, lambda)
}
