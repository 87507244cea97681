use super::*;

/// u = W p + q.
fn velocity(w: &[f64; 9], q: &[f64; 3], p: &[f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| q[i] + (0..3).map(|j| w[3 * i + j] * p[j]).sum::<f64>())
}

/// Largest violation of Coulomb's law, line by line.
fn violation(w: &[f64; 9], q: &[f64; 3], mu: f64, p: &[f64; 3]) -> f64 {
    let u = velocity(w, q, p);
    let (friction, slip) = (p[1].hypot(p[2]), u[1].hypot(u[2]));
    let cone = (friction - mu * p[0]).max(-p[0]).max(0.0);
    let normal = (-u[0]).max((u[0] * p[0]).abs());
    // Most dissipation: p_T·u_T = −μ p_N |u_T|.
    let dissipated = (p[1] * u[1] + p[2] * u[2] + mu * p[0] * slip).abs();
    cone.max(normal).max(dissipated)
}

fn near(a: &[f64; 3], b: [f64; 3]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
}

const CRITICAL: [f64; 9] = [1.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 1.0];

/// W d = (0, −1, 0) for d = (1, −1, 0): every p = s d with s ≤ 1 leaves the velocity (0, 1 − s, 0).
#[test]
fn at_gamma_zero_a_grazing_slip_against_the_friction_that_jams_is_a_continuum() {
    let q = [0.0, 1.0, 0.0];
    let found = enumerate_disc(&CRITICAL, &q, 1.0, 1e-12);
    let slips: Vec<_> = (found.iter())
        .filter(|s| s.kind == DiscKind::Slip)
        .collect();
    let [slip] = &slips[..] else {
        panic!("{found:?}")
    };
    let set = slip.set.as_ref().expect("a continuum");
    assert!(set.moves_velocity && set.dimension == 1);
    assert!(near(&set.ends[0], [0.0; 3]) && near(&set.ends[1], [1.0, -1.0, 0.0]));
    for s in [0.0, 0.3, 0.8, 1.0] {
        assert!(violation(&CRITICAL, &q, 1.0, &[s, -s, 0.0]) < 1e-15);
    }
    // A slip with that friction, and one across it, have none.
    for q in [[0.0, -1.0, 0.0], [0.0, 1.0, 0.4], [1e-3, 1.0, 0.0]] {
        let found = enumerate_disc(&CRITICAL, &q, 1.0, 1e-12);
        let slips = found.iter().any(|s| s.kind == DiscKind::Slip);
        assert!(!slips, "{q:?}: {found:?}");
    }
}

/// The same where the friction that jams turns the slip: one impulse turns it right against itself.
#[test]
fn at_gamma_zero_a_slip_may_be_turned_against_the_friction_that_jams() {
    let w = [1.0, 1.0, 0.0, 1.0, 2.0, 0.5, 0.0, 0.5, 1.0];
    let q = [0.0, 1.0, 0.3];
    // q_T + p (W d)_T = (1 − p, 0.3 − p/2).
    let found = enumerate_disc(&w, &q, 1.0, 1e-12);
    let slip = found.iter().find(|s| s.kind == DiscKind::Slip);
    let slip = slip.unwrap_or_else(|| panic!("{found:?}"));
    assert!(
        slip.set.is_none() && near(&slip.impulse, [0.6, -0.6, 0.0]),
        "{slip:?}"
    );
    assert!(violation(&w, &q, 1.0, &slip.impulse) < 1e-15);
}

/// Below γ = 0 two directions of friction have no normal velocity, cos θ = −1/(3 μ): a grazing contact may be jammed along both.
#[test]
fn below_gamma_zero_a_grazing_contact_slips_in_the_directions_without_normal_velocity() {
    let w = [1.0, 3.0, 0.0, 3.0, 10.0, 0.0, 0.0, 0.0, 2.0];
    let (mu, mut listed) = (0.8, 0);
    for (x, y) in [
        (0.75, -2.3),
        (0.75, 2.3),
        (0.6, -2.2),
        (1.0, 0.2),
        (-1.0, 0.4),
        (0.9, 0.0),
    ] {
        let q = [0.0, x, y];
        let found = enumerate_disc(&w, &q, mu, 1e-12);
        for solution in &found {
            let wrong = violation(&w, &q, mu, &solution.impulse);
            assert!(wrong < 1e-12, "{q:?} {solution:?} {wrong:e}");
        }
        let cos: f64 = -1.0 / (3.0 * mu);
        for sin in [(1.0 - cos * cos).sqrt(), -(1.0 - cos * cos).sqrt()] {
            let pushed = [3.0 + 10.0 * mu * cos, 2.0 * mu * sin];
            let turn = |u: [f64; 2]| u[0] * sin - u[1] * cos;
            let p = -turn([x, y]) / turn(pushed);
            let u = [x + p * pushed[0], y + p * pushed[1]];
            if p > 0.0 && u[0] * cos + u[1] * sin < 0.0 {
                listed += 1;
                let expected = [p, p * mu * cos, p * mu * sin];
                assert!(
                    found.iter().any(|s| near(&s.impulse, expected)),
                    "{q:?}: {found:?}"
                );
            }
        }
    }
    assert!(listed >= 3, "{listed}");
}

/// A particle on a rail askew to the tangents: the rail takes any friction across it, so that sticks are a segment.
#[test]
fn on_a_rail_the_sticks_are_a_segment_with_both_ends() {
    let (b, mu) = (0.4, 0.5);
    let t = std::f64::consts::FRAC_1_SQRT_2;
    let w = [1.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.5, 0.5];
    let q = [-1.0, b * t, b * t];
    let found = enumerate_disc(&w, &q, mu, 1e-12);
    // Slips that end at the border of the cone without a velocity are its ends once more.
    for solution in &found {
        let u = velocity(&w, &q, &solution.impulse);
        assert!(u.iter().all(|u| u.abs() < 1e-12), "{solution:?}");
    }
    let stick = &found[0];
    assert_eq!(stick.kind, DiscKind::Stick);
    let set = stick.set.as_ref().expect("a segment");
    assert!(!set.moves_velocity && set.ends.len() == 2);
    // p_T = −b t ± √(μ² − b²) across.
    for sign in [0.3, -0.3] {
        let expected = [1.0, -b * t - sign * t, -b * t + sign * t];
        assert!(set.ends.iter().any(|e| near(e, expected)), "{set:?}");
    }
}

/// Every solution that is listed obeys the law, and of four thousand directions on a grid of each cone none obeys it far from all of them.
#[test]
fn no_solution_is_missing_on_a_grid_of_the_cone() {
    let mut state = 1u64;
    let mut number = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let mut several = 0;
    for _ in 0..150 {
        let a: [f64; 9] = std::array::from_fn(|_| number());
        let w: [f64; 9] = std::array::from_fn(|k| {
            let (i, j) = (k / 3, k % 3);
            let sum: f64 = (0..3).map(|l| a[3 * i + l] * a[3 * j + l]).sum();
            sum + if i == j { 0.05 } else { 0.0 }
        });
        let q = [0.3 * number(), number(), number()];
        let mu = 1.0 + number().abs();
        let found = enumerate_disc(&w, &q, mu, 1e-12);
        several += usize::from(found.len() > 1);
        for solution in &found {
            let size = 1.0 + solution.impulse[0];
            let wrong = violation(&w, &q, mu, &solution.impulse);
            assert!(wrong < 1e-10 * size * size, "{wrong:e} {solution:?}");
        }
        // Slips: the least defect of the two equations over angles is small only at roots.
        for k in 0..4000 {
            let angle = f64::from(k) * 2.0 * PI / 4000.0;
            let (s, c) = angle.sin_cos();
            let d = [1.0, mu * c, mu * s];
            let moved = velocity(&w, &[0.0; 3], &d);
            let turn = |u: &[f64; 3]| u[1] * s - u[2] * c;
            let weight = moved[0].powi(2) + turn(&moved).powi(2);
            let p = -(moved[0] * q[0] + turn(&moved) * turn(&q)) / weight;
            let impulse = d.map(|x| p * x);
            let u = velocity(&w, &q, &impulse);
            let against = u[1] * c + u[2] * s;
            // Steps of the grid are 2e-3 wide, and the coefficients about one.
            let defect = u[0].abs().max(turn(&u).abs());
            if !(p > 1e-2 && p < 10.0 && against < -1e-2) || defect > 1e-3 {
                continue;
            }
            let close = |s: &DiscSolution| {
                let off = |i: usize| (s.impulse[i] - impulse[i]).abs();
                off(0).max(off(1)).max(off(2)) < 0.05 * (1.0 + p * p)
            };
            assert!(
                found.iter().any(close),
                "{impulse:?} is missing in {found:?}"
            );
        }
    }
    assert!(several > 2, "{several}");
}
