//! What the laws of one contact promise, over random contacts; seeds are printed on failure.

use super::*;

fn kinetic(w: &[f64], q: &[f64], section: &FrictionSection) -> (Vec<f64>, Vec<f64>) {
    let contact = OneContact {
        w,
        q,
        section,
        normal_impulse_min: 0.0,
    };
    let mut p = vec![0.0; q.len()];
    let outcome = solve_kinetic(&contact, 0.0, &mut p, &mut LocalScratch::default());
    assert!(outcome.state().is_some(), "{outcome:?}");
    let mut u = vec![0.0; q.len()];
    contact.velocity(&p, &mut u);
    (p, u)
}

fn coulomb(w: &[f64], q: &[f64], section: &FrictionSection) -> (Vec<f64>, Vec<f64>, LocalOutcome) {
    let contact = OneContact {
        w,
        q,
        section,
        normal_impulse_min: 0.0,
    };
    let mut p = vec![0.0; q.len()];
    let outcome = solve_coulomb(&contact, &mut p, &mut LocalScratch::default());
    let mut u = vec![0.0; q.len()];
    contact.velocity(&p, &mut u);
    (p, u, outcome)
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    norm(&a.iter().zip(b).map(|(x, y)| x - y).collect::<Vec<_>>())
}

#[test]
fn kinetic_projection_is_homogeneous_idempotent_and_never_gains_energy() {
    for seed in 0..500 {
        let mut random = Random(seed);
        for (kind, section) in sections(&mut random).iter().enumerate() {
            let m = 1 + section.dimension();
            let (w, mut q) = random.contact(m, m + 2);
            if q[0] > 0.0 {
                q.iter_mut().for_each(|x| *x = -*x);
            }
            let (p, u) = kinetic(&w, &q, section);
            let scale = (1.0 + reach(section)) * (norm(&q) + norm(&w) * norm(&p));
            // Change of kinetic energy ½ p·(u + q), by the two half impulses.
            let gain = 0.5 * (dot(&p, &u) + dot(&p, &q));
            assert!(
                gain <= 1e-14 * scale * norm(&p),
                "seed {seed}, set {kind}: energy {gain}"
            );
            // S(c v) = c S(v).
            let factor = random.decade(-4.0, 4.0);
            let scaled: Vec<f64> = q.iter().map(|x| factor * x).collect();
            let (_, v) = kinetic(&w, &scaled, section);
            let v: Vec<f64> = v.iter().map(|x| x / factor).collect();
            assert!(
                difference(&u, &v) <= 1e-12 * scale,
                "seed {seed}, set {kind}: homogeneity"
            );
            // S(S(v)) = S(v): the normal velocity after is zero within the tolerance.
            let contact = OneContact {
                w: &w,
                q: &u,
                section,
                normal_impulse_min: 0.0,
            };
            let mut again = vec![1.0; m];
            let outcome = solve_kinetic(
                &contact,
                1e-13 * scale,
                &mut again,
                &mut LocalScratch::default(),
            );
            assert_eq!(
                outcome,
                LocalOutcome::Open,
                "seed {seed}, set {kind}: u_n = {}",
                u[0]
            );
            assert_eq!(again, vec![0.0; m]);
        }
    }
}

#[test]
fn the_two_flow_rules_agree_in_the_plane() {
    for seed in 0..20_000 {
        let mut random = Random(seed);
        let upper = random.decade(-3.0, 1.0);
        let section = FrictionSection::interval(-upper * random.unit(), upper).unwrap();
        let (w, mut q) = random.contact(2, 3);
        q[0] = -q[0].abs();
        let (p, u) = kinetic(&w, &q, &section);
        let (r, v, outcome) = coulomb(&w, &q, &section);
        if matches!(outcome, LocalOutcome::Several { .. }) {
            continue;
        }
        let scale = (1.0 + upper) * (norm(&q) + norm(&w) * (norm(&p) + norm(&r)));
        assert!(
            difference(&u, &v) <= 1e-13 * scale,
            "seed {seed}: {u:?} and {v:?}"
        );
    }
}

#[test]
fn the_two_flow_rules_differ_in_space_only_with_coupling() {
    let section = FrictionSection::disc(0.3).unwrap();
    // Without coupling of normal and tangents they agree.
    for seed in 0..2000 {
        let mut random = Random(seed);
        let (mut w, mut q) = random.contact(3, 4);
        for k in [1, 2, 3, 6] {
            w[k] = 0.0;
        }
        q[0] = -q[0].abs();
        let (p, u) = kinetic(&w, &q, &section);
        let (_, v, _) = coulomb(&w, &q, &section);
        assert!(
            difference(&u, &v) <= 1e-13 * (norm(&q) + norm(&w) * norm(&p)),
            "seed {seed}"
        );
    }
    // With coupling friction is not opposed to slip, and energy is lower.
    let w = [2.0, 1.2, 0.0, 1.2, 1.0, 0.0, 0.0, 0.0, 1.0];
    let q = [-1.0, 0.5, 1.0];
    let (p, u) = kinetic(&w, &q, &section);
    let (r, v, _) = coulomb(&w, &q, &section);
    assert!(difference(&u, &v) > 1e-2);
    let gain = |p: &[f64], u: &[f64]| 0.5 * (dot(p, u) + dot(p, &q));
    assert!(gain(&p, &u) < gain(&r, &v));
}

#[test]
fn three_cases_of_coulombs_law_are_the_cone_complementarity() {
    // Lemma 1 of [AcaryCollinsCraft2023]: take-off, stick or slip, exactly when
    // K* ∋ u + μ|u_t| n ⟂ p ∈ K. First the cases give the complementarity...
    let mut random = Random(7);
    for _ in 0..5000 {
        let mu = random.decade(-2.0, 1.0);
        let normal = random.unit();
        let t = random.vector(2);
        let size = norm(&t);
        let cases = [
            ([0.0; 3], [random.unit(), random.signed(), random.signed()]),
            (
                [normal, mu * normal * t[0] / size * random.unit(), 0.0],
                [0.0; 3],
            ),
            (
                [normal, mu * normal * t[0] / size, mu * normal * t[1] / size],
                [0.0, -t[0], -t[1]],
            ),
        ];
        for (p, u) in cases {
            assert!(complementarity(mu, &p, &u) < 1e-14, "p {p:?}, u {u:?}");
        }
    }
    // ... then a solution of the complementarity is one of the cases.
    for seed in 0..5000 {
        let mut random = Random(seed);
        let mu = random.decade(-2.0, 1.0);
        let section = FrictionSection::disc(mu).unwrap();
        let (w, q) = random.contact(3, 4);
        let (p, u, outcome) = coulomb(&w, &q, &section);
        let scale = (1.0 + mu) * (norm(&q) + norm(&w) * norm(&p));
        assert!(
            complementarity(mu, &p, &u) <= 1e-14 * scale * (1.0 + norm(&p)),
            "seed {seed}"
        );
        let slip = u[1].hypot(u[2]);
        let friction = p[1].hypot(p[2]);
        match outcome.state() {
            Some(LocalState::Open) => assert!(norm(&p) == 0.0 && u[0] >= 0.0, "seed {seed}"),
            Some(LocalState::Stick) => {
                assert!(
                    norm(&u) <= 1e-13 * scale && friction <= mu * p[0] * (1.0 + 1e-13),
                    "seed {seed}"
                );
            }
            Some(LocalState::Slip) => {
                assert!(
                    (friction - mu * p[0]).abs() <= 1e-14 * friction.max(p[0]),
                    "seed {seed}"
                );
                let opposed = p[1] * u[1] + p[2] * u[2] + friction * slip;
                assert!(
                    opposed.abs() <= 1e-13 * friction * scale,
                    "seed {seed}: {opposed}"
                );
                assert!(u[0].abs() <= 1e-14 * scale, "seed {seed}");
            }
            None => panic!("seed {seed}: {outcome:?}"),
        }
    }
}

/// Largest violation of p ∈ K, ũ ∈ K*, p·ũ = 0 with ũ = u + μ|u_t| n.
fn complementarity(mu: f64, p: &[f64], u: &[f64]) -> f64 {
    let slip = u[1].hypot(u[2]);
    let shifted = u[0] + mu * slip;
    let primal = p[1].hypot(p[2]) - mu * p[0];
    let dual = mu * slip - shifted;
    let product = p[0] * shifted + p[1] * u[1] + p[2] * u[2];
    primal.max(dual).max(product.abs()).max(0.0)
}

#[test]
fn planar_solutions_are_counted_like_the_zeros_of_the_normal_velocity() {
    // u_n along p_n, with friction solved at each p_n, is piecewise linear: a fine scan finds its zeros.
    let mut several = 0;
    for seed in 0..3000 {
        let mut random = Random(seed);
        let upper = random.decade(-1.0, 1.0);
        let ends = (-upper * random.unit(), upper);
        let (mut w, q) = random.contact(2, 3);
        // Strong coupling.
        let lean = 3.0 * random.signed();
        w[3] += 2.0 * lean * w[1] + lean * lean * w[0];
        w[1] += lean * w[0];
        w[2] = w[1];
        let mut p = [0.0; 2];
        let outcome = planar::solve_coulomb_planar(&w, &q, ends, 0.0, &mut p);
        let value = |normal: f64| {
            let t = planar::tangential_at_known_normal(&w, &q, ends, normal);
            q[0] + w[0] * normal + w[1] * t
        };
        let mut zeros = usize::from(q[0] >= 0.0);
        let mut previous = value(1e-12);
        for k in 0..6000 {
            let normal = 10f64.powf(-9.0 + 14.0 * k as f64 / 6000.0);
            let next = value(normal);
            zeros += usize::from(previous.signum() != next.signum());
            previous = next;
        }
        let count = match outcome {
            LocalOutcome::Several { count, .. } => {
                several += 1;
                count
            }
            LocalOutcome::NoSolution => 0,
            _ => 1,
        };
        // Two zeros between neighbouring points of the scan may be missed, never one.
        assert!(
            count == zeros || count == zeros + 2,
            "seed {seed}: {count} and {zeros}"
        );
    }
    assert!(several > 20, "{several}");
}

#[test]
fn least_impulse_is_kept_or_the_contact_is_closed() {
    for seed in 0..3000 {
        let mut random = Random(seed);
        for (kind, section) in sections(&mut random).iter().enumerate().take(6) {
            let m = 1 + section.dimension();
            let (w, q) = random.contact(m, m + 1);
            let least = random.unit();
            let contact = OneContact {
                w: &w,
                q: &q,
                section,
                normal_impulse_min: least,
            };
            let mut p = vec![0.0; m];
            let outcome = solve_coulomb(&contact, &mut p, &mut LocalScratch::default());
            assert!(
                outcome.state().is_some(),
                "seed {seed}, set {kind}: {outcome:?}"
            );
            assert!(p[0] >= least, "seed {seed}, set {kind}");
            let residual = coulomb_residual(&contact, &p);
            assert!(residual < 1e-12, "seed {seed}, set {kind}: {residual}");
        }
    }
}

#[test]
fn product_and_hull_minimise_against_a_random_search() {
    // The tangential problem at known normal impulse has no lower value anywhere in p_n D.
    let mut scratch = LocalScratch::default();
    for seed in 0..300 {
        let mut random = Random(seed);
        for section in sections(&mut random).iter().skip(5) {
            let d = section.dimension();
            let (w, q) = random.contact(d + 1, d + 2);
            let contact = OneContact {
                w: &w,
                q: &q,
                section,
                normal_impulse_min: 0.0,
            };
            let mut p = vec![0.0; d + 1];
            p[0] = random.unit();
            let outcome = solve_known_normal(&contact, &mut p, &mut scratch);
            assert!(outcome.state().is_some(), "seed {seed}");
            let mut u = vec![0.0; d + 1];
            contact.velocity(&p, &mut u);
            let scale = (1.0 + reach(section)) * (norm(&q) + norm(&w) * norm(&p));
            for _ in 0..200 {
                // A point of p_n D: a projected point or a support point.
                let far: Vec<f64> = random
                    .vector(d)
                    .iter()
                    .map(|x| 3.0 * reach(section) * x)
                    .collect();
                let mut y = vec![0.0; d];
                section.project(&far, p[0], &mut y);
                let step: f64 = (0..d).map(|i| u[i + 1] * (y[i] - p[i + 1])).sum();
                assert!(
                    step >= -1e-12 * scale * (1.0 + reach(section)),
                    "seed {seed}: {step}"
                );
            }
        }
    }
}

#[test]
fn an_unbounded_interval_sticks_as_soon_as_the_contact_is_firm() {
    let section = FrictionSection::interval(f64::NEG_INFINITY, f64::INFINITY).unwrap();
    let (w, q) = ([2.0, 0.3, 0.3, 1.0], [-1.0, 5.0]);
    for (p, u) in [kinetic(&w, &q, &section), {
        let (p, u, _) = coulomb(&w, &q, &section);
        (p, u)
    }] {
        assert!(norm(&u) < 1e-14 && p[0] > 0.0, "{p:?} {u:?}");
    }
}
