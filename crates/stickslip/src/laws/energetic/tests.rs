//! Impacts of a slender rod on the ground against values computed independently.

use super::*;

/// Half length ½, unit mass: W of the lower tip of a rod at angle θ.
fn rod(theta: f64) -> [f64; 3] {
    let (l, inertia) = (0.5, 1.0 / 12.0);
    let (sin, cos) = theta.sin_cos();
    let k = l * l / inertia;
    [1.0 + k * cos * cos, -k * sin * cos, 1.0 + k * sin * sin]
}

fn tip(theta: f64, [x, y, turn]: [f64; 3]) -> [f64; 2] {
    let (sin, cos) = theta.sin_cos();
    [y - 0.5 * cos * turn, x + 0.5 * sin * turn]
}

struct Case {
    degrees: f64,
    mu: f64,
    before: [f64; 3],
    impulse: [f64; 2],
    after: [f64; 2],
    factor: f64,
    phases: &'static [f64],
}

const CASES: [Case; 5] = [
    Case {
        degrees: 40.0,
        mu: 0.2,
        before: [1.0, -1.0, 0.0],
        impulse: [0.6602763344497617, -0.07572429320195537],
        after: [0.93453531603009, -0.1449545346703451],
        factor: 0.5734287998150036,
        phases: &[0.32723427627383717, 0.1922146239559321, 0.1408274342199925],
    },
    Case {
        degrees: 50.0,
        mu: 0.8,
        before: [-0.5, -1.0, 0.5],
        impulse: [1.8032315404329335, 1.0767155778130981],
        after: [1.287153369070096, 0.0],
        factor: -0.7463791765439285,
        phases: &[0.42191350763347424, 0.49303023828682235, 0.888287794512637],
    },
    Case {
        degrees: 60.0,
        mu: 1.8,
        before: [-1.0, -0.3, 0.0],
        impulse: [1.070348591814377, 0.7355149560382235],
        after: [0.6176480804864155, 0.0],
        factor: -0.38176293512805337,
        phases: &[0.21973376688724933, 0.3487757595319151, 0.5018390653952125],
    },
    Case {
        degrees: 30.0,
        mu: 0.3,
        before: [0.2, -2.0, 0.3],
        impulse: [1.4115150592708117, 0.33299588126126217],
        after: [2.024945793270713, -0.975869056522022],
        factor: -0.7863793330297819,
        phases: &[0.15076439419996882, 0.5527990913328293, 0.7079515737380135],
    },
    // u_n = 0 inside the Painlevé region: an impact without collision
    Case {
        degrees: 70.0,
        mu: 1.7,
        before: [-2.0, 0.0, 0.0],
        impulse: [0.7020461296279962, 0.7335847975158247],
        after: [0.2411086917015507, 0.0],
        factor: -0.6146611325321486,
        phases: &[],
    },
];

#[test]
fn the_layer_of_a_rod_is_integrated_exactly() {
    for case in &CASES {
        let theta = case.degrees.to_radians();
        let u = tip(theta, case.before);
        let impact = energetic_impact(rod(theta), u, (-case.mu, case.mu), 1.0);
        assert!(impact.finished);
        for k in 0..2 {
            assert!((impact.impulse[k] - case.impulse[k]).abs() < 1e-12);
            assert!((impact.velocity[k] - case.after[k]).abs() < 1e-12);
        }
        assert!((impact.friction_factor(case.mu) - case.factor).abs() < 1e-12);
        for (phase, expected) in impact.phases.iter().zip(case.phases) {
            assert!((phase.impulse - expected).abs() < 1e-12);
        }
    }
}

#[test]
fn normal_work_is_what_restitution_leaves_and_friction_takes_the_rest() {
    let mut seed = 7u64;
    let mut random = || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    for _ in 0..2000 {
        let w = rod(0.1 + 1.3 * random());
        let (mu, e) = (2.0 * random(), random());
        let u = [-random(), 4.0 * random() - 2.0];
        let impact = energetic_impact(w, u, (-mu, mu), e);
        assert!(impact.finished);
        let [p, r] = impact.impulse;
        assert!(p >= 0.0 && r.abs() <= mu * p * (1.0 + 1e-12));
        assert!(impact.velocity[0] >= 0.0);
        // total work equals the change of kinetic energy of the contact
        let v = impact.velocity;
        let total = 0.5 * (p * (u[0] + v[0]) + r * (u[1] + v[1]));
        assert!(total <= 1e-14, "energy gained: {total}");
        let expected = [u[0] + w[0] * p + w[1] * r, u[1] + w[1] * p + w[2] * r];
        assert!((v[0] - expected[0]).abs() < 1e-12 && (v[1] - expected[1]).abs() < 1e-12);
    }
}

#[test]
fn without_friction_it_is_newtons_law() {
    let impact = energetic_impact([2.0, 0.3, 1.0], [-1.5, 0.7], (0.0, 0.0), 0.4);
    assert!((impact.velocity[0] - 0.6).abs() < 1e-15);
    assert_eq!(impact.friction_factor(0.0), 0.0);
}
