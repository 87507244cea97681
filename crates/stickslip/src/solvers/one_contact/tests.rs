//! Laws of one contact against independent residuals, reference values and brute force.

use super::*;
use crate::laws::FrictionSection;

mod properties;

/// Small deterministic generator (splitmix64).
pub(crate) struct Random(pub u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// Uniform in [-1, 1).
    pub fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }
    /// Log-uniform in [10^a, 10^b).
    pub fn decade(&mut self, a: f64, b: f64) -> f64 {
        10f64.powf(a + (b - a) * self.unit())
    }
    pub fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.signed()).collect()
    }
    /// H Hᵀ of rank at most `rank`, and H v: a block and a velocity in its range.
    pub fn contact(&mut self, m: usize, rank: usize) -> (Vec<f64>, Vec<f64>) {
        let h: Vec<Vec<f64>> = (0..m).map(|_| self.vector(rank)).collect();
        let v = self.vector(rank);
        let w = (0..m * m).map(|k| dot(&h[k / m], &h[k % m])).collect();
        let q = h.iter().map(|row| dot(row, &v)).collect();
        (w, q)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// Independent residual of Coulomb's law, in units of velocity and relative to
/// (1 + reach of D)(|q| + |W||p|): Signorini, membership of the cone, defect of maximal dissipation.
/// The reach multiplies the rounding of u_t, so the factor is inherent.
fn coulomb_residual(contact: &OneContact, p: &[f64]) -> f64 {
    let m = contact.rows();
    let mut u = vec![0.0; m];
    contact.velocity(p, &mut u);
    let size = norm(contact.w);
    let scale = (1.0 + reach(contact.section)) * (norm(contact.q) + size * norm(p));
    if scale == 0.0 {
        return 0.0;
    }
    let signorini = (-u[0])
        .max(((p[0] - contact.normal_impulse_min) * size).min(u[0]))
        .max((contact.normal_impulse_min - p[0]) * size);
    let outside = contact.section.distance(&p[1..], p[0]) * size;
    // p_n σ(−u_t) + p_t·u_t ≥ 0 vanishes at maximal dissipation; divided by |p| a velocity.
    let minus: Vec<f64> = u[1..].iter().map(|x| -x).collect();
    let defect = p[0] * contact.section.support(&minus) + dot(&p[1..], &u[1..]);
    let defect = if norm(p) > 0.0 {
        (defect / norm(p)).abs()
    } else {
        0.0
    };
    signorini.max(outside).max(defect) / scale
}

/// Largest support along the coordinates.
fn reach(section: &FrictionSection) -> f64 {
    let d = section.dimension();
    let mut direction = vec![0.0; d];
    let mut largest = 0.0_f64;
    for i in 0..d {
        for sign in [1.0, -1.0] {
            direction[i] = sign;
            largest = largest.max(section.support(&direction));
        }
        direction[i] = 0.0;
    }
    largest
}

fn sections(random: &mut Random) -> Vec<FrictionSection> {
    let mu = random.decade(-3.0, 3.0);
    let polygon: Vec<Vec<f64>> = (0..7)
        .map(|k| {
            let angle = 0.9 * k as f64 + 0.3 * random.unit();
            let r = mu * (0.5 + random.unit());
            vec![r * angle.cos(), r * angle.sin()]
        })
        .collect();
    vec![
        FrictionSection::disc(mu).unwrap(),
        FrictionSection::segment(mu).unwrap(),
        FrictionSection::interval(-mu, mu * random.unit()).unwrap(),
        FrictionSection::ellipse([mu, mu * random.unit()]).unwrap(),
        FrictionSection::ellipse_from_map([
            [mu, mu * random.signed()],
            [mu * random.signed(), mu * random.signed()],
        ])
        .unwrap(),
        FrictionSection::polytope(&polygon).unwrap(),
        FrictionSection::ball(mu, 3).unwrap(),
        FrictionSection::product(vec![
            FrictionSection::disc(mu).unwrap(),
            FrictionSection::segment(mu * random.unit()).unwrap(),
        ])
        .unwrap(),
        FrictionSection::hull(vec![
            FrictionSection::disc(mu).unwrap(),
            FrictionSection::disc(mu * random.unit()).unwrap(),
        ])
        .unwrap(),
    ]
}

/// Asserts that a solver solves random contacts with every kind of set, and that the residual of what it finds is rounding.
fn assert_residual_is_rounding(
    solve: fn(&OneContact, &mut [f64], &mut LocalScratch) -> LocalOutcome,
    residual: fn(&OneContact, &[f64]) -> f64,
) {
    let mut scratch = LocalScratch::default();
    let mut worst: Vec<(f64, u64)> = vec![(0.0, 0); 9];
    let mut failures = vec![0; 9];
    for seed in 0..2000 {
        let mut random = Random(seed);
        for (kind, section) in sections(&mut random).iter().enumerate() {
            let m = 1 + section.dimension();
            let (w, mut q) = random.contact(m, m + 1);
            q[0] = -q[0].abs();
            let contact = OneContact {
                w: &w,
                q: &q,
                section,
                normal_impulse_min: 0.0,
            };
            let mut p = vec![0.0; m];
            if solve(&contact, &mut p, &mut scratch).state().is_none() {
                failures[kind] += 1;
                continue;
            }
            let residual = residual(&contact, &p);
            if residual > worst[kind].0 {
                worst[kind] = (residual, seed);
            }
        }
    }
    println!("worst residual and seed per set: {worst:?}; not solved: {failures:?}");
    assert!(worst.iter().all(|(r, _)| *r < 1e-12) && failures.iter().all(|f| *f == 0));
}

#[test]
fn coulomb_residual_is_rounding_for_every_set() {
    assert_residual_is_rounding(solve_coulomb, coulomb_residual);
}

/// Independent residual of S: membership, u_n = 0 and the optimality condition of the slice,
/// s W_nn = σ_D(−u_t − s W_tn) with s = −p_t·u_t/a, relative as for Coulomb.
fn kinetic_residual(contact: &OneContact, p: &[f64]) -> f64 {
    let m = contact.rows();
    let mut u = vec![0.0; m];
    contact.velocity(p, &mut u);
    let size = norm(contact.w);
    let scale = (1.0 + reach(contact.section)) * (norm(contact.q) + size * norm(p));
    let s = -dot(&p[1..], &u[1..]) / -contact.q[0];
    let opposed: Vec<f64> = (1..m).map(|i| -u[i] - s * contact.w[i * m]).collect();
    let defect = (s * contact.w[0] - contact.section.support(&opposed)).abs();
    // Rounding of u_t in s is divided by a.
    let rounding_of_s = norm(&p[1..]) * (norm(contact.q) + size * norm(p)) / -contact.q[0];
    let scale_defect = scale + (1.0 + reach(contact.section)) * (s.abs() + rounding_of_s) * size;
    let outside = contact.section.distance(&p[1..], p[0]) * size;
    (u[0].abs().max(outside).max(-p[0] * size) / scale).max(defect / scale_defect)
}

#[test]
fn kinetic_residual_is_rounding_for_every_set() {
    assert_residual_is_rounding(
        |contact, p, scratch| solve_kinetic(contact, 0.0, p, scratch),
        kinetic_residual,
    );
}

#[test]
fn ball_of_the_general_method_agrees_with_the_disc() {
    // The same disc as a set of the user goes through the multiplier root.
    let mut scratch = LocalScratch::default();
    let mut worst = [0.0_f64; 3];
    for seed in 0..1000 {
        let mut random = Random(seed);
        let mu = random.decade(-2.0, 2.0);
        let disc = FrictionSection::disc(mu).unwrap();
        let user = crate::laws::SetFromProjection::new(2, move |x: &[f64], out: &mut [f64]| {
            let factor = (mu / norm(x)).min(1.0);
            out.iter_mut().zip(x).for_each(|(o, x)| *o = factor * x);
        });
        let general = FrictionSection::general(user).unwrap();
        let (w, mut q) = random.contact(3, 4);
        q[0] = -q[0].abs();
        let mut results = Vec::new();
        for section in [&disc, &general] {
            let contact = OneContact {
                w: &w,
                q: &q,
                section,
                normal_impulse_min: 0.0,
            };
            let mut u = vec![0.0; 3];
            let mut p = vec![0.0; 3];
            solve_kinetic(&contact, 0.0, &mut p, &mut scratch);
            contact.velocity(&p, &mut u);
            results.push(u.clone());
            p[0] = 1.0;
            solve_known_normal(&contact, &mut p, &mut scratch);
            contact.velocity(&p, &mut u);
            results.push(u);
        }
        let scale = (1.0 + mu) * (norm(&q) + norm(&w));
        for k in 0..2 {
            let difference: Vec<f64> = results[k]
                .iter()
                .zip(&results[k + 2])
                .map(|(a, b)| a - b)
                .collect();
            worst[k] = worst[k].max(norm(&difference) / scale);
        }
    }
    println!("disc against general set, kinetic and known normal: {worst:?}");
    assert!(worst[0] < 1e-10 && worst[1] < 1e-12);
}

/// Kinds of blocks: full rank; one and two dependent rows; strong coupling of normal and tangent;
/// normal and tangents of very different size.
fn hard_contact(
    random: &mut Random,
    section: &FrictionSection,
    kind: usize,
) -> (Vec<f64>, Vec<f64>) {
    let m = 1 + section.dimension();
    match kind {
        0 => random.contact(m, m + 1),
        1 => random.contact(m, m - 1),
        2 => random.contact(m, (m - 1).div_ceil(2).max(1)),
        3 => {
            // Tangents lean on the normal.
            let h: Vec<Vec<f64>> = (0..m).map(|_| random.vector(m + 1)).collect();
            let lean = random.decade(0.0, 2.0);
            let rows: Vec<Vec<f64>> = (0..m)
                .map(|i| {
                    let share = if i == 0 { 0.0 } else { lean * random.signed() };
                    h[i].iter().zip(&h[0]).map(|(a, b)| a + share * b).collect()
                })
                .collect();
            let v = random.vector(m + 1);
            let w = (0..m * m)
                .map(|k| dot(&rows[k / m], &rows[k % m]))
                .collect();
            (w, rows.iter().map(|r| dot(r, &v)).collect())
        }
        _ => {
            let (mut w, mut q) = random.contact(m, m + 1);
            // Other units for the normal and for every part: rolling friction beside sliding.
            let dimensions = match section {
                FrictionSection::Product { factors: parts, .. }
                | FrictionSection::Hull { parts, .. } => {
                    parts.iter().map(FrictionSection::dimension).collect()
                }
                section => vec![section.dimension()],
            };
            let mut sizes = vec![random.decade(-3.0, 3.0)];
            for dimension in dimensions {
                let size = random.decade(-3.0, 3.0);
                sizes.extend(std::iter::repeat_n(size, dimension));
            }
            for i in 0..m {
                q[i] *= sizes[i];
                for j in 0..m {
                    w[i * m + j] *= sizes[i] * sizes[j];
                }
            }
            (w, q)
        }
    }
}

#[test]
fn hard_blocks_are_solved_or_reported_for_every_set_and_law() {
    let mut scratch = LocalScratch::default();
    // Per law and kind: worst residual with seed, no solution, stalled.
    let mut table = vec![((0.0_f64, 0_u64, 0_usize), 0, 0); 15];
    for seed in 0..150 {
        let mut random = Random(seed);
        for (index, section) in sections(&mut random).iter().enumerate() {
            let m = 1 + section.dimension();
            for kind in 0..5 {
                let (w, mut q) = hard_contact(&mut random, section, kind);
                if q[0] > 0.0 {
                    q.iter_mut().for_each(|x| *x = -*x);
                }
                let least = random.unit();
                for law in 0..3 {
                    let normal_impulse_min = if law == 2 { least } else { 0.0 };
                    let contact = OneContact {
                        w: &w,
                        q: &q,
                        section,
                        normal_impulse_min,
                    };
                    let mut p = vec![0.0; m];
                    let outcome = match law {
                        1 => solve_kinetic(&contact, 0.0, &mut p, &mut scratch),
                        _ => solve_coulomb(&contact, &mut p, &mut scratch),
                    };
                    let cell = &mut table[5 * law + kind];
                    match outcome {
                        LocalOutcome::NoSolution => cell.1 += 1,
                        LocalOutcome::Stalled { .. } => cell.2 += 1,
                        _ => {
                            let residual = if law == 1 {
                                kinetic_residual(&contact, &p)
                            } else {
                                coulomb_residual(&contact, &p)
                            };
                            if residual.is_nan() || residual > cell.0.0 {
                                cell.0 = (residual, seed, index);
                            }
                        }
                    }
                }
            }
        }
    }
    for (k, cell) in table.iter().enumerate() {
        println!("law {} kind {}: {cell:?}", k / 5, k % 5);
    }
    for (k, ((worst, seed, index), none, stalled)) in table.into_iter().enumerate() {
        assert!(
            worst < 1e-10,
            "law {} kind {}: {worst} at seed {seed}, set {index}",
            k / 5,
            k % 5
        );
        assert_eq!(stalled, 0, "law {} kind {}", k / 5, k % 5);
        // Only dependent rows may leave Coulomb's law without a solution; S always has one.
        assert!(
            none == 0 || k / 5 != 1 && (k % 5 == 1 || k % 5 == 2),
            "law {} kind {}: {none}",
            k / 5,
            k % 5
        );
    }
}

/// A ball or a turned box on the ground: arms from its centre to the contact, rows of sliding, rolling and drilling.
fn rolling_contact(random: &mut Random, is_ball: bool) -> (Vec<f64>, Vec<f64>, FrictionSection) {
    let mass = random.decade(-3.0, 3.0);
    let radius = random.decade(-3.0, 1.0);
    let inertia = 0.4 * mass * radius * radius;
    let (normal, first, second) = ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
    let mut arm = [0.0, 0.0, -radius];
    if !is_ball {
        arm = [
            0.3 * radius * random.signed(),
            0.3 * radius * random.signed(),
            -radius,
        ];
    }
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    };
    let sliding = |d: [f64; 3]| (d, cross(arm, d));
    let turning = |d: [f64; 3]| ([0.0; 3], d);
    let rows = [
        sliding(normal),
        sliding(first),
        sliding(second),
        turning(first),
        turning(second),
        turning(normal),
    ];
    let w = (0..36)
        .map(|k| {
            let (a, b) = (&rows[k / 6], &rows[k % 6]);
            dot(&a.0, &b.0) / mass + dot(&a.1, &b.1) / inertia
        })
        .collect();
    let speed = random.decade(-3.0, 3.0);
    let mut q: Vec<f64> = random.vector(6).iter().map(|x| speed * x).collect();
    q[0] = -q[0].abs();
    q[3..].iter_mut().for_each(|q| *q /= radius);
    let disc = |mu: f64, dimension: usize| FrictionSection::Disc { mu, dimension };
    let factors = [
        disc(random.decade(-2.0, 1.0), 2),
        disc(radius * random.decade(-5.0, 0.0), 2),
        disc(radius * random.decade(-5.0, 0.0), 1),
    ];
    (w, q, FrictionSection::product(factors.to_vec()).unwrap())
}

#[test]
fn rolling_friction_is_solved_by_newtons_method_as_by_the_scalar_equation() {
    let mut random = Random(7);
    for is_ball in [true, false] {
        let (mut solved, mut worst) = (0, 0.0f64);
        for _ in 0..2000 {
            let (w, q, section) = rolling_contact(&mut random, is_ball);
            let contact = OneContact {
                w: &w,
                q: &q,
                section: &section,
                normal_impulse_min: 0.0,
            };
            let mut p = vec![0.0; 6];
            if !coulomb_product::solve(&contact, &mut p) {
                continue;
            }
            solved += 1;
            assert!(coulomb_residual(&contact, &p) < 1e-13, "{contact:?} {p:?}");
            // The least normal impulse that never acts sends the general method on its way.
            let general = OneContact {
                normal_impulse_min: -1e-9 * q[0] / w[0],
                ..contact
            };
            let mut other = vec![0.0; 6];
            solve_coulomb(&general, &mut other, &mut LocalScratch::default());
            if is_ball {
                // Impulses differ in size by the radius, so each is held against its own size.
                for (a, b) in [(0, 1), (1, 3), (3, 5), (5, 6)] {
                    let distance: Vec<f64> = (a..b).map(|i| p[i] - other[i]).collect();
                    worst = worst.max(norm(&distance) / norm(&other[a..b]).max(1e-300));
                }
            }
        }
        assert!(solved > 1900, "{solved} of 2000 by Newton's method");
        assert!(worst < 1e-6, "{worst}");
    }
}
