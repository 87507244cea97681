//! Slip that stops and reverses during an impact: friction jumps there, whatever the step of the integration.

use super::*;
use std::f64::consts::TAU;

struct Random(u64);

impl Random {
    fn within(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        low + (high - low) * (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A plane with `[W_nn, W_nt, W_tt]` and a direction across it with the response `side`, turned by an angle.
struct TurnedPlane {
    w: [f64; 3],
    side: f64,
    angle: f64,
}

impl TurnedPlane {
    fn turn(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let (sin, cos) = self.angle.sin_cos();
        [cos * x - sin * y, sin * x + cos * y]
    }

    fn delassus(&self) -> Vec<f64> {
        let [nn, nt, tt] = self.w;
        let [nx, ny] = self.turn([nt, 0.0]);
        let (along, across) = (self.turn([1.0, 0.0]), self.turn([0.0, 1.0]));
        let entry =
            |i: usize, j: usize| tt * along[i] * along[j] + self.side * across[i] * across[j];
        vec![
            nn,
            nx,
            ny,
            nx,
            entry(0, 0),
            entry(0, 1),
            ny,
            entry(1, 0),
            entry(1, 1),
        ]
    }

    /// A plane on which slip towards +t reverses under this friction, if `strong`.
    fn random(random: &mut Random, (mu, strong): (f64, bool)) -> Self {
        let (nn, tt) = (random.within(1.0, 4.0), random.within(1.0, 4.0));
        let least = if strong { 1.02 * mu * tt } else { 0.0 };
        let nt = -random.within(least, 0.97 * (nn * tt).sqrt());
        Self {
            w: [nn, nt, tt],
            side: random.within(1.0, 2.0),
            angle: random.within(0.0, TAU),
        }
    }
}

/// Disc, and an ellipse with an axis along the plane.
fn sections(plane: &TurnedPlane, mu: f64, across: f64) -> [FrictionSection; 2] {
    let (x, y) = (plane.turn([mu, 0.0]), plane.turn([0.0, across]));
    let ellipse = FrictionSection::ellipse_from_map([[x[0], y[0]], [x[1], y[1]]]);
    [FrictionSection::disc(mu).unwrap(), ellipse.unwrap()]
}

#[test]
fn reversals_in_a_plane_turned_in_space_are_those_of_the_plane() {
    let mut random = Random(5);
    let mut reversed = 0;
    for case in 0..300 {
        let mu = random.within(0.02, if case % 2 == 0 { 0.3 } else { 2.0 });
        let plane = TurnedPlane::random(&mut random, (mu, false));
        let u = [-random.within(0.05, 1.0), random.within(0.0, 2.0)];
        let e = [0.0, 0.5, 1.0][case % 3];
        let exact = energetic_impact(plane.w, u, (-mu, mu), e);
        reversed += usize::from(exact.velocity[1] < 0.0);
        // Motion across the plane that is next to none changes next to nothing.
        let across = [0.0, 1e-14, 1e-12, 1e-10, 1e-8][case % 5];
        let start = plane.turn([u[1], across]);
        let expected = plane.turn([exact.velocity[1], 0.0]);
        for section in sections(&plane, mu, random.within(0.01, 2.0)) {
            let velocity = [u[0], start[0], start[1]];
            let found = energetic_impact_in_space(&plane.delassus(), &velocity, &section, e);
            assert!(found.finished);
            let pairs = [exact.velocity[0], expected[0], expected[1]];
            for (a, b) in found.velocity.iter().zip(pairs) {
                let error = (a - b).abs();
                assert!(
                    error < 2e-11 + 2.0 * across,
                    "case {case}: {error:e} {section:?}"
                );
            }
        }
    }
    assert!(reversed > 40, "{reversed}");
}

/// Velocity at the end of compression by Runge's and Kutta's method in p, with steps that shrink with the slip: it turns
/// within |u_t|.
fn compressed(w: &[f64], u: [f64; 3], mu: f64) -> [f64; 3] {
    let rate = |u: [f64; 3]| {
        let slip = u[1].hypot(u[2]);
        let s = [1.0, -mu * u[1] / slip, -mu * u[2] / slip];
        [0, 1, 2].map(|i| (0..3).map(|j| w[3 * i + j] * s[j]).sum::<f64>())
    };
    let add = |u: [f64; 3], h: f64, k: [f64; 3]| [0, 1, 2].map(|i| u[i] + h * k[i]);
    let step = |u: [f64; 3], h: f64| {
        let a = rate(u);
        let b = rate(add(u, 0.5 * h, a));
        let c = rate(add(u, 0.5 * h, b));
        let d = rate(add(u, h, c));
        add(
            u,
            h / 6.0,
            [0, 1, 2].map(|i| a[i] + 2.0 * (b[i] + c[i]) + d[i]),
        )
    };
    let mut u = u;
    loop {
        let h = (5e-3 * u[1].hypot(u[2])).min(1e-3);
        let next = step(u, h);
        if next[0] >= 0.0 {
            // The last step ends where the approach does.
            let (mut low, mut high) = (0.0, h);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                let side = if step(u, middle)[0] < 0.0 {
                    &mut low
                } else {
                    &mut high
                };
                *side = middle;
            }
            return step(u, low);
        }
        u = next;
    }
}

#[test]
fn slip_that_turns_in_next_to_no_time_follows_kellers_equations() {
    let mut random = Random(9);
    for case in 0..48 {
        let mu = random.within(0.05, 0.25);
        let mut plane = TurnedPlane::random(&mut random, (mu, true));
        plane.angle = 0.0;
        let across = [1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-13][case % 6];
        let u = [-1.0, random.within(0.05, 0.4), across];
        let expected = compressed(&plane.delassus(), u, mu);
        let disc = FrictionSection::disc(mu).unwrap();
        let found = energetic_impact_in_space(&plane.delassus(), &u, &disc, 0.0);
        for (a, b) in found.velocity.iter().zip(expected) {
            assert!((a - b).abs() < 2e-9, "case {case}: {found:?} {expected:?}");
        }
    }
}

/// Rolling, drilling and polygons beside them: each part stops by itself, and edges hold the slip.
///
/// Values: Radau's method (order five, tolerance 1e-10) on friction regularised as −μ u/√(u² + ε²), or by weights of the corners,
/// for ε = 1e-6 and 1e-7, extrapolated.
#[test]
fn parts_that_stop_by_themselves_agree_with_regularised_friction() {
    let segment = |mu: f64| FrictionSection::segment(mu).unwrap();
    let disc = |mu: f64| FrictionSection::disc(mu).unwrap();
    let polygon = || {
        let corners = [[0.5, 0.1], [-0.2, 0.4], [-0.4, -0.3], [0.3, -0.4]];
        let corners = corners.map(|c| c.to_vec());
        FrictionSection::polytope(&corners).unwrap()
    };
    let cases = [
        (
            vec![segment(0.19), segment(0.62), segment(0.11)],
            0.0,
            [-1.78, -0.34, -0.06, -0.37],
            [
                4.64, 2.09, 2.16, -0.71, 2.16, 1.63, -0.52, 2.32, -1.95, 5.04,
            ],
            [0.0, 0.220331235, 0.293258624, 0.006675032],
        ),
        (
            vec![segment(0.7), segment(0.08), segment(0.76)],
            0.0,
            [-0.95, -1.28, 0.24, -0.34],
            [2.36, 0.27, -0.18, 1.95, 3.4, 0.59, 2.69, 1.63, 1.23, 5.72],
            [0.0, -0.558925538, -0.103855253, 0.0],
        ),
        (
            vec![disc(0.26), segment(0.46)],
            1.0,
            [-0.84, 0.43, -1.74, -0.6],
            [1.51, 0.55, 1.21, 1.21, 10.69, -1.86, -1.11, 2.12, 1.69, 2.4],
            [0.646055103, 0.106840974, -0.297568694, 0.488380817],
        ),
        (
            vec![disc(0.14), segment(0.16)],
            0.5,
            [-2.1, -0.44, -0.1, 1.08],
            [
                1.18, 0.36, -0.16, -0.5, 2.42, -0.68, 0.42, 0.63, -0.12, 1.11,
            ],
            [0.95545035, 0.251792294, -0.315349932, -0.359245922],
        ),
        (
            vec![polygon(), segment(0.62)],
            0.0,
            [-1.39, -0.28, -0.58, 0.89],
            [
                3.39, 2.42, 1.63, -1.62, 4.41, 2.23, -2.57, 1.62, -1.57, 2.43,
            ],
            [0.0, 0.735167286, 0.150731178, 0.0],
        ),
        (
            vec![polygon(), segment(0.73)],
            0.0,
            [-0.71, 0.52, -0.42, -0.57],
            [2.44, 1.92, 2.52, 2.21, 4.52, 1.87, 2.49, 4.67, 2.67, 3.88],
            [0.0, 0.541177035, 0.095662211, 0.0],
        ),
        // An edge of the polygon holds the slip.
        (
            vec![polygon(), segment(0.49)],
            1.0,
            [-0.82, -0.71, 0.04, -0.4],
            [1.8, 0.19, 0.42, -0.79, 1.61, -0.76, 1.35, 2.4, -1.72, 2.59],
            [0.775916314, 0.129707349, -0.037059243, -0.129793173],
        ),
    ];
    for (case, (parts, e, u, upper, expected)) in cases.into_iter().enumerate() {
        // The upper half of W, row by row.
        let mut w = vec![0.0; 16];
        let mut entries = upper.into_iter();
        for i in 0..4 {
            for j in i..4 {
                let entry = entries.next().unwrap();
                (w[4 * i + j], w[4 * j + i]) = (entry, entry);
            }
        }
        let section = FrictionSection::product(parts).unwrap();
        let found = energetic_impact_in_space(&w, &u, &section, e);
        assert!(found.finished, "case {case}");
        for (a, b) in found.velocity.iter().zip(expected) {
            assert!((a - b).abs() < 3e-9, "case {case}: {found:?}");
        }
    }
}

/// Units of length and time, of the rows of slip, rolling and drilling each, change nothing else.
#[test]
fn layers_do_not_know_units() {
    let mut random = Random(21);
    for case in 0..30 {
        let b: Vec<f64> = (0..36).map(|_| random.within(-1.0, 1.0)).collect();
        let entry = |i: usize, j: usize| {
            let product: f64 = (0..6).map(|k| b[6 * i + k] * b[6 * j + k]).sum();
            product + if i == j { 0.2 } else { 0.0 }
        };
        let mu = [0.5, 0.2, 0.1].map(|mu| mu * random.within(0.1, 2.0));
        let u: Vec<f64> = (0..6)
            .map(|i| random.within(-1.0, if i == 0 { -0.1 } else { 1.0 }))
            .collect();
        let e = random.within(0.0, 1.0);
        let impact = |units: [f64; 4], speed: f64| {
            let per_row = [0, 1, 1, 2, 2, 3].map(|k: usize| units[k]);
            let w: Vec<f64> = (0..36)
                .map(|k| entry(k / 6, k % 6) * per_row[k / 6] * per_row[k % 6])
                .collect();
            let start: Vec<f64> = (0..6).map(|i| u[i] * per_row[i] * speed).collect();
            let scale = |k: usize| mu[k] * units[0] / units[k + 1];
            let section = FrictionSection::product(vec![
                FrictionSection::disc(scale(0)).unwrap(),
                FrictionSection::disc(scale(1)).unwrap(),
                FrictionSection::segment(scale(2)).unwrap(),
            ]);
            let found = energetic_impact_in_space(&w, &start, &section.unwrap(), e);
            assert!(found.finished, "case {case}");
            let velocity = found.velocity.iter().zip(per_row);
            velocity
                .map(|(v, unit)| v / unit / speed)
                .collect::<Vec<f64>>()
        };
        let one = impact([1.0; 4], 1.0);
        let other = impact([1e3, 20.0, 1e-2, 3.0], 1e-5);
        for (a, b) in one.iter().zip(&other) {
            assert!((a - b).abs() < 1e-10, "case {case}: {one:?} {other:?}");
        }
    }
}
