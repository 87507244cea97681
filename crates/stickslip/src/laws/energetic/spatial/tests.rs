//! The spatial layer against closed forms, the exact planar layer, and Keller's equations integrated on their own.

mod reversals;

use super::*;

struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn symmetric(&mut self) -> f64 {
        2.0 * self.next() - 1.0
    }

    /// A definite matrix of order three.
    fn matrix(&mut self) -> Vec<f64> {
        let l: Vec<f64> = (0..9).map(|_| self.symmetric()).collect();
        let mut w = vec![0.0; 9];
        for i in 0..3 {
            for j in 0..3 {
                w[3 * i + j] = (0..3).map(|k| l[3 * i + k] * l[3 * j + k]).sum();
            }
            w[4 * i] += 0.3;
        }
        w
    }
}

/// Keller's equations for the disc by explicit steps in p, the slip direction taken at the middle of each; stick is
/// held by the force that stops the slip where the disc allows it. Shares nothing with the code under test.
fn keller(w: &[f64], u: &[f64], mu: f64, e: f64, dp: f64) -> (Vec<f64>, Vec<f64>) {
    let mut u = [u[0], u[1], u[2]];
    let mut impulse = [0.0; 3];
    let (mut taken, mut given) = (0.0, 0.0);
    let determinant = w[4] * w[8] - w[5] * w[7];
    let friction = |u: &[f64; 3], h: f64| {
        // the force that would stop the slip within h
        let (x, y) = (u[1] / h + w[3], u[2] / h + w[6]);
        let hold = [
            -(w[8] * x - w[5] * y) / determinant,
            -(w[4] * y - w[7] * x) / determinant,
        ];
        let speed = u[1].hypot(u[2]);
        if hold[0].hypot(hold[1]) <= mu {
            hold
        } else if speed > 0.0 {
            [-mu * u[1] / speed, -mu * u[2] / speed]
        } else {
            // slip begins in the direction that is its own acceleration
            let mut angle = f64::atan2(y, x);
            for _ in 0..400 {
                let s = [-mu * angle.cos(), -mu * angle.sin()];
                let a = [
                    w[3] + w[4] * s[0] + w[5] * s[1],
                    w[6] + w[7] * s[0] + w[8] * s[1],
                ];
                let turned = f64::atan2(a[1], a[0]) - angle;
                angle += 0.3 * turned.sin();
            }
            [-mu * angle.cos(), -mu * angle.sin()]
        }
    };
    let slope =
        |s: [f64; 2]| [0, 1, 2].map(|i| w[3 * i] + w[3 * i + 1] * s[0] + w[3 * i + 2] * s[1]);
    loop {
        let half = slope(friction(&u, dp));
        let middle = [0, 1, 2].map(|i| u[i] + 0.5 * dp * half[i]);
        let s = friction(&middle, dp);
        let rate = slope(s);
        let next = [0, 1, 2].map(|i| u[i] + dp * rate[i]);
        let work = 0.5 * dp * (u[0] + next[0]);
        if work < 0.0 {
            taken -= work;
        } else {
            given += work;
            if given >= e * e * taken {
                return (impulse.to_vec(), u.to_vec());
            }
        }
        u = next;
        impulse[0] += dp;
        impulse[1] += dp * s[0];
        impulse[2] += dp * s[1];
    }
}

#[test]
fn a_particle_thrown_on_a_rough_plane_keeps_two_of_three() {
    let disc = FrictionSection::disc(0.5).unwrap();
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let impact = energetic_impact_in_space(&identity, &[-1.0, 3.0, 0.0], &disc, 1.0);
    assert!(impact.finished);
    for (found, expected) in impact.velocity.iter().zip([1.0, 2.0, 0.0]) {
        assert!((found - expected).abs() < 1e-11, "{impact:?}");
    }
    // along a diagonal, losing all of a slow slip
    let impact = energetic_impact_in_space(&identity, &[-1.0, 0.3, 0.4], &disc, 0.5);
    for (found, expected) in impact.velocity.iter().zip([0.5, 0.0, 0.0]) {
        assert!((found - expected).abs() < 1e-11, "{impact:?}");
    }
}

#[test]
fn a_plane_turned_in_space_gives_the_exact_planar_impact() {
    let mut random = Random(3);
    for case in 0..60 {
        let angle: f64 = std::f64::consts::TAU * random.next();
        let (sin, cos) = angle.sin_cos();
        let w_nn = 1.0 + 3.0 * random.next();
        let w_tt = 1.0 + 3.0 * random.next();
        let w_nt = 0.95 * random.symmetric() * (w_nn * w_tt).sqrt();
        let (side, mu, e) = (1.0 + random.next(), 2.0 * random.next(), random.next());
        let u = [
            -random.next() * (case % 7) as f64 / 6.0,
            4.0 * random.symmetric(),
        ];
        let planar = energetic_impact([w_nn, w_nt, w_tt], u, (-mu, mu), e);
        let (xx, yy) = (
            w_tt * cos * cos + side * sin * sin,
            w_tt * sin * sin + side * cos * cos,
        );
        let xy = (w_tt - side) * sin * cos;
        let w = [
            w_nn,
            w_nt * cos,
            w_nt * sin,
            w_nt * cos,
            xx,
            xy,
            w_nt * sin,
            xy,
            yy,
        ];
        let disc = FrictionSection::disc(mu).unwrap();
        let found = energetic_impact_in_space(&w, &[u[0], u[1] * cos, u[1] * sin], &disc, e);
        assert!(found.finished && planar.finished);
        let expected = [
            planar.velocity[0],
            planar.velocity[1] * cos,
            planar.velocity[1] * sin,
        ];
        for (a, b) in found.velocity.iter().zip(expected) {
            assert!((a - b).abs() < 1e-9, "case {case}: {found:?} {planar:?}");
        }
        assert!((found.compression - planar.compression).abs() < 1e-9);
    }
}

#[test]
fn turning_slip_follows_kellers_equations() {
    let mut random = Random(11);
    for case in 0..20 {
        let w = random.matrix();
        let u = [
            -0.2 - random.next(),
            2.0 * random.symmetric(),
            2.0 * random.symmetric(),
        ];
        let (mu, e) = (random.next(), random.next());
        let disc = FrictionSection::disc(mu).unwrap();
        let found = energetic_impact_in_space(&w, &u, &disc, e);
        assert!(found.finished);
        let size = u[0].abs() / w[0];
        let (impulse, velocity) = keller(&w, &u, mu, e, 2e-6 * size);
        for i in 0..3 {
            assert!(
                (found.impulse[i] - impulse[i]).abs() < 1e-4 * size,
                "case {case}"
            );
            assert!(
                (found.velocity[i] - velocity[i]).abs() < 1e-4 * (1.0 + w[0]),
                "case {case}"
            );
        }
    }
}

/// A section that only knows its projection must give what the disc gives.
#[test]
fn every_section_obeys_momentum_its_set_and_the_energy() {
    use crate::laws::SetFromProjection;
    let mut random = Random(29);
    for case in 0..40 {
        let w = random.matrix();
        let u = [
            -random.next(),
            2.0 * random.symmetric(),
            2.0 * random.symmetric(),
        ];
        let e = random.next();
        let mu = 0.1 + random.next();
        let square: Vec<Vec<f64>> = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]
            .map(|(x, y)| vec![mu * x, mu * y])
            .to_vec();
        let sections = [
            FrictionSection::disc(mu).unwrap(),
            FrictionSection::ellipse([mu, 0.3 * mu]).unwrap(),
            FrictionSection::ellipse([mu, 0.0]).unwrap(),
            FrictionSection::polytope(&square).unwrap(),
            FrictionSection::product(vec![
                FrictionSection::segment(mu).unwrap(),
                FrictionSection::segment(mu).unwrap(),
            ])
            .unwrap(),
            FrictionSection::general(SetFromProjection::new(
                2,
                move |x: &[f64], out: &mut [f64]| {
                    let length = x[0].hypot(x[1]);
                    let factor = if length > mu { mu / length } else { 1.0 };
                    out[0] = factor * x[0];
                    out[1] = factor * x[1];
                },
            ))
            .unwrap(),
        ];
        let impacts: Vec<SpatialImpact> = sections
            .iter()
            .map(|section| energetic_impact_in_space(&w, &u, section, e))
            .collect();
        for (section, impact) in sections.iter().zip(&impacts) {
            assert!(impact.finished, "case {case} {section:?}");
            let p = &impact.impulse;
            let v = &impact.velocity;
            assert!(
                section.gauge(&p[1..]) <= p[0] * (1.0 + 1e-9),
                "case {case} {section:?}"
            );
            let mut total = 0.0;
            for i in 0..3 {
                let expected: f64 = u[i] + (0..3).map(|j| w[3 * i + j] * p[j]).sum::<f64>();
                assert!((v[i] - expected).abs() < 1e-11);
                total += 0.5 * p[i] * (u[i] + v[i]);
            }
            // all work is that of friction and the part of compression that is not restored
            let lost = (1.0 - e * e) * impact.compression;
            assert!(total <= -lost + 1e-11, "case {case}: {total} {lost}");
            assert!(v[0] >= 0.0);
        }
        // The square is the product of its sides, and the disc its projection.
        for (a, b) in [(3, 4), (0, 5)] {
            for i in 0..3 {
                let difference = impacts[a].velocity[i] - impacts[b].velocity[i];
                assert!(difference.abs() < 1e-9, "case {case}: {a} {b} {difference}");
            }
        }
    }
}

/// Slip that a corner of the section does not hold runs along the ray of an edge: polygons in any direction against
/// explicit steps that jump between the two corners of the edge.
#[test]
fn slip_along_the_ray_of_an_edge_follows_kellers_equations() {
    let mut random = Random(41);
    let (mut held, cases) = (0, 30);
    for case in 0..cases {
        let w = random.matrix();
        let u = [
            -0.5 - random.next(),
            2.0 * random.symmetric(),
            2.0 * random.symmetric(),
        ];
        let (mu, turn, sides) = (0.2 + 0.5 * random.next(), random.next(), 3 + case % 5);
        let corners: Vec<[f64; 2]> = (0..sides)
            .map(|k| (turn + std::f64::consts::TAU * k as f64 / sides as f64).sin_cos())
            .map(|(s, c)| [mu * c, mu * s])
            .collect();
        let points: Vec<Vec<f64>> = corners.iter().map(|c| c.to_vec()).collect();
        let section = FrictionSection::polytope(&points).unwrap();
        let found = energetic_impact_in_space(&w, &u, &section, 0.0);
        assert!(found.finished, "case {case}");

        // Until the approach has ended, the corner that is most against the slip at every instant.
        let dp = 1e-5 * u[0].abs() / w[0];
        let mut now = [u[0], u[1], u[2]];
        let mut impulse = [0.0; 3];
        while now[0] < 0.0 {
            let against = |s: &&[f64; 2]| s[0] * now[1] + s[1] * now[2];
            let s = corners
                .iter()
                .min_by(|a, b| against(a).total_cmp(&against(b)))
                .unwrap();
            for (sum, part) in impulse.iter_mut().zip([1.0, s[0], s[1]]) {
                *sum += dp * part;
            }
            now = [0, 1, 2]
                .map(|i| now[i] + dp * (w[3 * i] + w[3 * i + 1] * s[0] + w[3 * i + 2] * s[1]));
        }
        // Neither stick nor one corner for the whole of the impact: then an edge held the slip for a while.
        let sum = [found.impulse[1], found.impulse[2]];
        let on_a_corner =
            |c: &[f64; 2]| (0..2).all(|i| (sum[i] / found.impulse[0] - c[i]).abs() < 1e-9);
        let slips = found.velocity[1].hypot(found.velocity[2]) > 1e-3;
        held += usize::from(slips && !corners.iter().any(on_a_corner));
        for i in 0..3 {
            let error = (found.velocity[i] - now[i]).abs();
            assert!(error < 1e-3, "case {case}: {found:?} {now:?}");
        }
    }
    assert!(4 * held > cases, "{held} of {cases}");
}

#[test]
fn friction_alone_can_press_a_sliding_point_in_and_throw_it_up() {
    // the plane of the rod of 70 degrees, turned by 30 degrees in space
    let (l, inertia, theta) = (0.5f64, 1.0 / 12.0, 70f64.to_radians());
    let k = l * l / inertia;
    let (s, c) = theta.sin_cos();
    let (w_nn, w_nt, w_tt) = (1.0 + k * c * c, -k * s * c, 1.0 + k * s * s);
    let (sin, cos) = 30f64.to_radians().sin_cos();
    let (xx, yy, xy) = (
        w_tt * cos * cos + sin * sin,
        w_tt * sin * sin + cos * cos,
        (w_tt - 1.0) * sin * cos,
    );
    let w = [
        w_nn,
        w_nt * cos,
        w_nt * sin,
        w_nt * cos,
        xx,
        xy,
        w_nt * sin,
        xy,
        yy,
    ];
    let disc = FrictionSection::disc(1.7).unwrap();
    let impact = energetic_impact_in_space(&w, &[0.0, -2.0 * cos, -2.0 * sin], &disc, 1.0);
    assert!(impact.finished);
    assert!(
        (impact.velocity[0] - 0.2411086917015507).abs() < 1e-9,
        "{impact:?}"
    );
    // with little friction nothing happens
    let disc = FrictionSection::disc(0.5).unwrap();
    let impact = energetic_impact_in_space(&w, &[0.0, -2.0 * cos, -2.0 * sin], &disc, 1.0);
    assert_eq!(impact.impulse, vec![0.0; 3]);
}

#[test]
fn a_contact_without_bound_stops_its_slip_at_once() {
    let w = [2.0, 0.4, 1.5];
    let rough = energetic_impact(w, [-1.0, 2.0], (f64::NEG_INFINITY, f64::INFINITY), 1.0);
    let large = energetic_impact(w, [-1.0, 2.0], (-1e9, 1e9), 1.0);
    for i in 0..2 {
        assert!(
            (rough.velocity[i] - large.velocity[i]).abs() < 1e-7,
            "{rough:?} {large:?}"
        );
    }
}
