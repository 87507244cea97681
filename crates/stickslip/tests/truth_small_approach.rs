//! Moreau's S of one contact in space that friction can jam, from approaches that vanish: the velocity is the minimiser of the kinetic energy,
//! found here by chords of the friction set, and the judge takes it and refuses what lies beside it.

use std::ops::ControlFlow;

use stickslip::contact::{BlockKind, ContactBlock, ContactKey, ContactProblem, ContactResidual};
use stickslip::internals::one_contact::{
    LocalScratch, OneContact, gamma, solve_jam, solve_kinetic,
};
use stickslip::laws::{FlowRule, FrictionSection};
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::RunSummary;
use stickslip::simulation::studies::attainable::{Attainable, Shape};

/// A friction set of the plane as half-planes and ellipses see it: the part of the line d + s t inside.
enum Set {
    Ellipse([f64; 2]),
    Polygon(Vec<[f64; 2]>),
}

impl Set {
    fn section(&self) -> FrictionSection {
        match self {
            Self::Ellipse([a, b]) if a == b => FrictionSection::disc(*a),
            Self::Ellipse([a, b]) => FrictionSection::ellipse([*a, *b]),
            Self::Polygon(corners) => {
                let corners: Vec<Vec<f64>> = corners.iter().map(|c| c.to_vec()).collect();
                FrictionSection::polytope(&corners)
            }
        }
        .expect("valid")
    }

    fn chord(&self, d: [f64; 2], t: [f64; 2]) -> Option<(f64, f64)> {
        match self {
            Self::Ellipse(axes) => {
                let (d, t) = (
                    [d[0] / axes[0], d[1] / axes[1]],
                    [t[0] / axes[0], t[1] / axes[1]],
                );
                let a = t[0] * t[0] + t[1] * t[1];
                let b = d[0] * t[0] + d[1] * t[1];
                let root = b * b - a * (d[0] * d[0] + d[1] * d[1] - 1.0);
                (root >= 0.0).then(|| ((-b - root.sqrt()) / a, (-b + root.sqrt()) / a))
            }
            Self::Polygon(corners) => {
                let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
                for (i, from) in corners.iter().enumerate() {
                    let to = corners[(i + 1) % corners.len()];
                    let outward = [to[1] - from[1], from[0] - to[0]];
                    let slope = outward[0] * t[0] + outward[1] * t[1];
                    let room = outward[0] * (from[0] - d[0]) + outward[1] * (from[1] - d[1]);
                    if slope > 0.0 {
                        high = high.min(room / slope);
                    } else if slope < 0.0 {
                        low = low.max(room / slope);
                    } else if room < 0.0 {
                        return None;
                    }
                }
                (low <= high).then_some((low, high))
            }
        }
    }
}

fn product(w: &[f64], p: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| (0..3).map(|j| w[3 * i + j] * p[j]).sum())
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Minimum of a convex function between two ends.
fn least(mut a: f64, mut b: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..120 {
        let (m1, m2) = (a + 0.382 * (b - a), a + 0.618 * (b - a));
        if f(m1) < f(m2) { b = m2 } else { a = m1 }
    }
    0.5 * (a + b)
}

/// The impulse λ (1, d) with W_NN + w·d = approach/λ and the least energy: for each λ on the chord of such d exactly, and λ by search.
fn minimiser(w: &[f64], q: [f64; 3], set: &Set) -> [f64; 3] {
    let (coupling, energy) = ([w[1], w[2]], |p: [f64; 3]| {
        dot(p, q) + 0.5 * dot(p, product(w, p))
    });
    let square = coupling[0] * coupling[0] + coupling[1] * coupling[1];
    let along = [-coupling[1] / square.sqrt(), coupling[0] / square.sqrt()];
    let at = |lambda: f64| {
        let part = (-q[0] / lambda - w[0]) / square;
        let d = [coupling[0] * part, coupling[1] * part];
        let (low, high) = set.chord(d, along)?;
        let (from, way) = (
            [lambda, lambda * d[0], lambda * d[1]],
            [0.0, lambda * along[0], lambda * along[1]],
        );
        let from_velocity = product(w, from);
        let slope = dot(way, std::array::from_fn(|i| from_velocity[i] + q[i]));
        let s = (-slope / dot(way, product(w, way))).clamp(low, high);
        Some(std::array::from_fn(|i| from[i] + s * way[i]))
    };
    let value = |x: f64| at(x.exp()).map_or(1e300, energy);
    // Energies are convex along λ, so that the best of a grid is beside the least.
    let grid: Vec<f64> = (0..=600).map(|k| -15.0 + 0.05 * f64::from(k)).collect();
    let best = grid
        .iter()
        .copied()
        .min_by(|a, b| value(*a).total_cmp(&value(*b)));
    let best = best.expect("a grid");
    at(least(best - 0.05, best + 0.05, value).exp()).expect("on the grid")
}

/// Contacts with γ < 0 and random coupling: W = A Aᵀ + a part of the unit, sets of three kinds.
fn drawn(k: u32) -> Option<(Vec<f64>, [f64; 3], Set)> {
    let x = |i: u32| (f64::from(7 * i + 1) * 1.7 + f64::from(k) * (f64::from(i) + 0.618)).sin();
    let mut w = vec![0.0; 9];
    for i in 0..3u32 {
        for j in 0..3u32 {
            w[(3 * i + j) as usize] = (0..3).map(|l| x(3 * i + l) * x(3 * j + l)).sum::<f64>()
                + if i == j { 0.05 } else { 0.0 };
        }
    }
    let set = match k % 3 {
        0 => Set::Ellipse([1.0 + x(30).abs(); 2]),
        1 => Set::Ellipse([0.3 + 2.0 * x(30).abs(), 0.3 + 2.0 * x(31).abs()]),
        _ => Set::Polygon(vec![[1.5, -0.3], [0.4, 1.2], [-1.1, 0.7], [-0.8, -1.4]]),
    };
    let q = [0.0, x(20), x(21)];
    (gamma(&w, &set.section()) < -0.02 * w[0]).then_some((w, q, set))
}

fn velocity(w: &[f64], q: [f64; 3], p: [f64; 3]) -> [f64; 3] {
    let change = product(w, p);
    std::array::from_fn(|i| q[i] + change[i])
}

fn judged(w: &[f64], q: [f64; 3], set: &Set, p: [f64; 3]) -> f64 {
    let block = ContactBlock {
        key: ContactKey::declared(0, 0),
        start: 0,
        size: 3,
        section: set.section(),
        flow_rule: FlowRule::KineticProjection,
        kind: BlockKind::Unilateral { minimum: 0.0 },
    };
    let problem = ContactProblem::from_dense(w.to_vec(), q.to_vec(), vec![block]);
    ContactResidual::of(&problem, &p).worst()
}

#[test]
fn a_jam_in_space_has_the_least_energy_of_the_impulses_without_normal_velocity() {
    let (mut seen, mut jams) = (0, 0);
    for (w, q, set) in (0..400).filter_map(drawn) {
        let (mut p, section) = ([0.0; 3], set.section());
        let contact = OneContact {
            w: &w,
            q: &q,
            section: &section,
            normal_impulse_min: 0.0,
        };
        solve_jam(&contact, &mut p);
        let expected = minimiser(&w, q, &set);
        let energy = |p: [f64; 3]| dot(p, q) + 0.5 * dot(p, product(&w, p));
        let (found, expected) = (
            (velocity(&w, q, p), energy(p)),
            (velocity(&w, q, expected), energy(expected).min(0.0)),
        );
        assert!(
            (found.1 - expected.1).abs() < 1e-9,
            "{found:?} {expected:?}"
        );
        assert!(found.0[0].abs() < 1e-9, "{found:?}");
        if expected.1 < -1e-6 {
            for i in 0..3 {
                assert!(
                    (found.0[i] - expected.0[i]).abs() < 1e-5,
                    "{found:?} {expected:?}"
                );
            }
            jams += 1;
        }
        seen += 1;
    }
    assert!(seen > 40 && jams > 20, "{seen} {jams}");
}

#[test]
fn a_jam_from_a_small_approach_is_solved_and_taken_and_one_beside_it_is_refused() {
    let mut jams = 0;
    for (k, (w, mut q, set)) in (0..400).filter_map(drawn).enumerate() {
        for approach in [1e-2, 1e-5, 1e-8, 1e-11] {
            q[0] = -approach;
            let (mut p, section) = ([0.0; 3], set.section());
            let contact = OneContact {
                w: &w,
                q: &q,
                section: &section,
                normal_impulse_min: 0.0,
            };
            solve_kinetic(&contact, 0.0, &mut p, &mut LocalScratch::default());
            let residual = judged(&w, q, &set, p);
            assert!(residual < 1e-11, "{k}, approach {approach}: {residual}");
            if dot(p, p).sqrt() < 1e-2 {
                continue;
            }
            jams += 1;
            let (found, expected) = (velocity(&w, q, p), velocity(&w, q, minimiser(&w, q, &set)));
            for i in 0..3 {
                assert!(
                    (found[i] - expected[i]).abs() < 1e-5,
                    "{k}, {approach}: {found:?} {expected:?}"
                );
            }
            // A thousandth more or less of the impulse, or of any row of it, is another motion.
            for wrong in 0..4 {
                for sign in [1.0, -1.0] {
                    let part = |i: usize| {
                        if wrong == 3 || wrong == i {
                            1.0 + 1e-3 * sign
                        } else {
                            1.0
                        }
                    };
                    let beside: [f64; 3] = std::array::from_fn(|i| p[i] * part(i));
                    let moved: [f64; 3] = product(&w, std::array::from_fn(|i| beside[i] - p[i]));
                    let (moved, size) = (dot(moved, moved).sqrt(), dot(p, p).sqrt() * w[0]);
                    if moved > 1e-5 * size {
                        let told = judged(&w, q, &set, beside);
                        assert!(
                            told > 1e-7,
                            "{k}, approach {approach}, {wrong}: {told}, moved {moved}"
                        );
                    }
                }
            }
        }
    }
    assert!(jams > 60, "{jams}");
}

/// A body with three coordinates on an ellipse of friction, with masses and speeds in other units.
fn body(mass: f64, speed: f64, velocities: [f64; 3]) -> Scene {
    let matrix = [
        [1.164, -0.373, -2.192],
        [-0.373, 3.946, 5.135],
        [-2.192, 5.135, 12.249],
    ];
    let matrix = matrix.map(|row| row.map(|x| x * mass));
    let v = velocities.map(|v| v * speed);
    let text = format!(
        "title = \"body\"\nstep = 1e-3\nuntil = 1e-3\nscheme = \"moreau\"\nlaw = \"argmin\"\n[system]\ncoordinates = [\"q0\", \"q1\", \"q2\"]\n\
         mass_matrix = {matrix:?}\n[[contacts]]\nname = \"c\"\ngap = \"-0.78*q0 + 1.07*q1 - 0.67*q2\"\n\
         point = [\"1.08*q0 - 1.8*q1 - 0.85*q2\", \"-0.83*q0 + 2.11*q1 - 1.7*q2\", \"-0.78*q0 + 1.07*q1 - 0.67*q2\"]\nnormal = [0, 0, 1]\n\
         friction = {{ ellipse = [1.08, 0.3] }}\n[initial]\n\"q0'\" = {:e}\n\"q1'\" = {:e}\n\"q2'\" = {:e}\n",
        v[0], v[1], v[2]
    );
    Scene::parse(SourceText::new("body.toml", text)).unwrap_or_else(|e| panic!("{e}"))
}

/// The minimum of the kinetic energy over the wedge of jams, by chords, for the body above.
const JAM: [f64; 3] = [0.49725, 0.26505, -0.15559];

#[test]
fn the_jam_of_theorem_1_in_space_is_that_of_least_energy_in_every_unit() {
    let start = [1.2700605587162364, 1.0908954440825618, 0.26359834234280105];
    for (mass, speed) in [(1.0, 1.0), (1e-3, 1e3), (1e6, 1e-4)] {
        let scene = body(mass, speed, start);
        let (q, v) = scene.initial_state();
        let found = Attainable::at(scene.system().unwrap().as_ref(), &q, &v).unwrap();
        assert_eq!((found.sign, found.shape), (-1, Shape::Pair));
        for (jam, expected) in found.jam.iter().zip(JAM) {
            assert!(
                (jam - speed * expected).abs() < 1e-5 * speed,
                "{:?}",
                found.jam
            );
        }
    }
}

#[test]
fn runs_into_a_jam_are_certified_however_small_the_approach() {
    let start = [1.2700605587162364, 1.0908954440825618, 0.26359834234280105];
    // Along the gradient of the gap, so that the approach is as told.
    let normal = [-0.78, 1.07, -0.67].map(|x| x / 2.2022);
    for approach in [1e-2, 1e-4, 1e-5, 1e-6, 1e-8] {
        for (mass, speed) in [(1.0, 1.0), (1e-3, 1e3)] {
            let before: [f64; 3] = std::array::from_fn(|i| start[i] - approach * normal[i]);
            let scene = body(mass, speed, before);
            let mut simulation = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
            let end = simulation.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
            let after = simulation.state().v.to_vec();
            let facts = scene.facts(simulation.system());
            let settings = scene.run_settings("test");
            let summary = RunSummary::new(&simulation, (settings, &facts), end, 0.0);
            assert!(summary.certified, "{approach}: {}", summary.reason);
            if approach < 1e-3 {
                for (v, expected) in after.iter().zip(JAM) {
                    assert!(
                        (v - speed * expected).abs() < (1e-5 + 10.0 * approach) * speed,
                        "{after:?}"
                    );
                }
            }
        }
    }
}
