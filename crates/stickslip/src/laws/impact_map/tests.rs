//! Reference values computed independently for two and more constraints, and energy over random impacts.

use super::*;
use crate::algebra::small_dense::{dot, solve_in_place};

/// M⁻¹ x.
fn inverse_times(mass: &[&[f64]], x: &[f64]) -> Vec<f64> {
    let mut a = mass.concat();
    let mut b = x.to_vec();
    assert!(solve_in_place(&mut a, &mut b));
    b
}

/// W = D M⁻¹ Dᵀ and u = D v.
fn local(mass: &[&[f64]], rows: &[&[f64]], v: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let w = rows
        .iter()
        .flat_map(|r| rows.iter().map(|s| dot(r, &inverse_times(mass, s))))
        .collect();
    (w, rows.iter().map(|r| dot(r, v)).collect())
}

/// v + M⁻¹ Dᵀ p.
fn after(mass: &[&[f64]], rows: &[&[f64]], v: &[f64], p: &[f64]) -> Vec<f64> {
    let mut force = vec![0.0; v.len()];
    for (row, p) in rows.iter().zip(p) {
        force.iter_mut().zip(*row).for_each(|(f, r)| *f += p * r);
    }
    inverse_times(mass, &force)
        .iter()
        .zip(v)
        .map(|(a, b)| a + b)
        .collect()
}

fn assert_close(name: &str, found: &[f64], expected: &[f64]) {
    for (a, b) in found.iter().zip(expected) {
        assert!(
            (a - b).abs() <= 1e-8 * b.abs().max(1.0),
            "{name}: {found:?}, expected {expected:?}"
        );
    }
}

#[test]
fn two_walls_nonuniform() {
    let mass: &[&[f64]] = &[&[1.0, 0.0], &[0.0, 1.0]];
    let rows: &[&[f64]] = &[&[0.0, 1.0], &[0.5155013718214642, 0.8568887533689473]];
    let v: &[f64] = &[-0.6, -0.8];
    let e: &[f64] = &[0.0, 1.0];
    let (w, u) = local(mass, rows, v);
    let impact = newton(&w, &u, e).unwrap();
    assert_close(
        "Newton",
        &after(mass, rows, v, &impact.impulses),
        &[0.42565372179589633, 0.9048861304723936],
    );
    assert_close(
        "Newton impulses",
        &impact.impulses,
        &[0.0, 1.9896236515760726],
    );
    let impact = poisson(&w, &u, e).unwrap();
    assert_close(
        "Poisson",
        &after(mass, rows, v, &impact.impulses),
        &[0.42565372179589633, 0.9048861304723936],
    );
    assert_close(
        "Poisson impulses",
        &impact.impulses,
        &[0.0, 1.9896236515760726],
    );
    let impact = moreau(&w, &u, e[0], 1e-12).unwrap();
    assert_close(
        "Moreau",
        &after(mass, rows, v, &impact.impulses),
        &[-0.08717313910205182, 0.052443065236196795],
    );
}

#[test]
fn cradle3_poisson() {
    let mass: &[&[f64]] = &[&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0]];
    let rows: &[&[f64]] = &[&[-1.0, 1.0, 0.0], &[0.0, -1.0, 1.0]];
    let v: &[f64] = &[1.0, 0.0, 0.0];
    let e: &[f64] = &[1.0, 1.0];
    let (w, u) = local(mass, rows, v);
    let impact = newton(&w, &u, e).unwrap();
    assert_close(
        "Newton",
        &after(mass, rows, v, &impact.impulses),
        &[-0.33333333333333326, 0.6666666666666666, 0.6666666666666666],
    );
    assert_close(
        "Newton impulses",
        &impact.impulses,
        &[1.3333333333333333, 0.6666666666666666],
    );
    let impact = poisson(&w, &u, e).unwrap();
    assert_close(
        "Poisson",
        &after(mass, rows, v, &impact.impulses),
        &[-0.33333333333333326, 0.6666666666666666, 0.6666666666666666],
    );
    assert_close(
        "Poisson impulses",
        &impact.impulses,
        &[1.3333333333333333, 0.6666666666666666],
    );
    let impact = moreau(&w, &u, e[0], 1e-12).unwrap();
    assert_close(
        "Moreau",
        &after(mass, rows, v, &impact.impulses),
        &[-0.33333333333333326, 0.6666666666666666, 0.6666666666666666],
    );
}

#[test]
fn newton_nonuniform_closest_to_elastic() {
    let mass: &[&[f64]] = &[
        &[1.090499488567983, 1.318587184983217],
        &[1.318587184983217, 3.0879027019041745],
    ];
    let rows: &[&[f64]] = &[
        &[-0.37123136250806227, 1.9100293044343006],
        &[-0.5865825571016042, 2.922378027772337],
    ];
    let v: &[f64] = &[0.6581461429788018, 0.12722095894431443];
    let e: &[f64] = &[0.8817814548512817, 0.702880363792496];
    let (w, u) = local(mass, rows, v);
    let impact = newton(&w, &u, e).unwrap();
    assert_close(
        "Newton",
        &after(mass, rows, v, &impact.impulses),
        &[0.6489058523180118, 0.1336810193451717],
    );
    assert_close(
        "Newton impulses",
        &impact.impulses,
        &[0.0, 0.0026567093790229946],
    );
    let impact = poisson(&w, &u, e).unwrap();
    assert_close(
        "Poisson",
        &after(mass, rows, v, &impact.impulses),
        &[0.6489058523180118, 0.1336810193451717],
    );
    assert_close(
        "Poisson impulses",
        &impact.impulses,
        &[0.0, 0.0026567093790229946],
    );
    let impact = moreau(&w, &u, e[0], 1e-12).unwrap();
    assert_close(
        "Moreau",
        &after(mass, rows, v, &impact.impulses),
        &[0.6479350864814535, 0.13435969993753294],
    );
}

#[test]
fn moreau_1() {
    let mass: &[&[f64]] = &[
        &[4.412, 0.401, 0.399],
        &[0.401, 3.753, 1.02],
        &[0.399, 1.02, 4.427],
    ];
    let rows: &[&[f64]] = &[&[-0.814, 0.348, 0.248], &[1.099, -1.285, -0.662]];
    let v: &[f64] = &[1.644, 1.255, 0.803];
    let (w, u) = local(mass, rows, v);
    let impact = moreau(&w, &u, 0.5, 1e-12).unwrap();
    assert_close(
        "velocity",
        &after(mass, rows, v, &impact.impulses),
        &[-0.634857886003706, -1.1919018303931654, 1.0047319264911567],
    );
    assert_close(
        "impulses",
        &impact.impulses,
        &[37.59805443160586, 17.879689462203032],
    );
    assert_close(
        "normal velocities",
        &impact.velocities,
        &[0.35116600000000203, 0.16875249999999875],
    );
}

#[test]
fn moreau_3() {
    let mass: &[&[f64]] = &[
        &[5.018, -0.201, -1.41],
        &[-0.201, 9.464, 0.092],
        &[-1.41, 0.092, 4.238],
    ];
    let rows: &[&[f64]] = &[&[1.257, -1.262, 0.567], &[1.302, -1.6, -0.303]];
    let v: &[f64] = &[-2.618, 0.488, 3.029];
    let (w, u) = local(mass, rows, v);
    let impact = moreau(&w, &u, 0.3, 1e-12).unwrap();
    assert_close(
        "velocity",
        &after(mass, rows, v, &impact.impulses),
        &[0.2726683293913865, -1.3472700639969635, 3.2293048424512425],
    );
    assert_close("impulses", &impact.impulses, &[0.0, 11.207245108980887]);
    assert_close(
        "normal velocities",
        &impact.velocities,
        &[3.8740147564789953, 1.5321669000000002],
    );
}

#[test]
fn moreau_5() {
    let mass: &[&[f64]] = &[
        &[7.574, 2.253, 0.247, 0.655, 0.818, -0.779],
        &[2.253, 11.069, 0.701, 3.379, 1.35, -0.288],
        &[0.247, 0.701, 8.426, 0.331, -0.037, -0.374],
        &[0.655, 3.379, 0.331, 15.045, -2.658, 0.557],
        &[0.818, 1.35, -0.037, -2.658, 9.596, -1.082],
        &[-0.779, -0.288, -0.374, 0.557, -1.082, 7.618],
    ];
    let rows: &[&[f64]] = &[
        &[-0.043, -0.529, 1.456, 0.988, 1.27, 0.608],
        &[-0.11, -0.419, -0.279, 0.948, 0.112, -1.483],
        &[-0.039, -1.416, 0.166, -1.204, -1.264, 0.119],
        &[-0.078, -1.662, 0.748, 2.163, -1.481, 1.82],
    ];
    let v: &[f64] = &[-2.505, 2.852, -1.563, -0.329, -2.755, 1.2];
    let (w, u) = local(mass, rows, v);
    let impact = moreau(&w, &u, 0.5, 1e-12).unwrap();
    assert_close(
        "velocity",
        &after(mass, rows, v, &impact.impulses),
        &[
            -2.3340969663637967,
            -0.7830930247137675,
            1.1827888874925694,
            1.881591471354416,
            -0.7257180176880849,
            0.3476940936666095,
        ],
    );
    assert_close(
        "impulses",
        &impact.impulses,
        &[16.12957916416427, 12.494221492734248, 9.6785258499236, 0.0],
    );
    assert_close(
        "normal velocities",
        &impact.velocities,
        &[
            3.3855115000000007,
            1.4417064999999984,
            0.08947949999999838,
            8.145760245503984,
        ],
    );
}

#[test]
fn moreau_7() {
    let mass: &[&[f64]] = &[
        &[20.23, 3.695, -0.673, 0.289, -3.353, 2.449],
        &[3.695, 14.823, 1.15, -0.933, 3.513, 2.033],
        &[-0.673, 1.15, 10.745, 2.823, 3.006, 0.236],
        &[0.289, -0.933, 2.823, 10.861, 1.591, -0.479],
        &[-3.353, 3.513, 3.006, 1.591, 14.282, 0.185],
        &[2.449, 2.033, 0.236, -0.479, 0.185, 10.169],
    ];
    let rows: &[&[f64]] = &[
        &[1.558, 0.392, 0.145, 0.346, -0.058, 0.842],
        &[0.879, -0.37, 0.105, 2.414, 0.422, -0.186],
        &[2.05, 0.009, -1.097, 0.675, -0.9, -0.497],
        &[0.326, -0.127, -0.763, -0.551, -0.593, 1.166],
    ];
    let v: &[f64] = &[-1.442, -1.144, 4.077, -1.108, 2.979, 2.631];
    let (w, u) = local(mass, rows, v);
    let impact = moreau(&w, &u, 0.3, 1e-12).unwrap();
    assert_close(
        "velocity",
        &after(mass, rows, v, &impact.impulses),
        &[
            2.077364830741395,
            -1.0753483372919461,
            -0.37043884802752913,
            1.8596728527179724,
            1.816206701480017,
            1.2542107213743363,
        ],
    );
    assert_close(
        "impulses",
        &impact.impulses,
        &[0.0, 0.0, 35.65397109451989, 8.397700802393281],
    );
    assert_close(
        "normal velocities",
        &impact.velocities,
        &[
            4.3554364708644275,
            7.207392792286942,
            3.6526416000000026,
            0.45715439999999996,
        ],
    );
}

#[test]
fn cradle_of_five_balls_moves_together_without_restitution() {
    let mass: Vec<Vec<f64>> = (0..5)
        .map(|i| (0..5).map(|j| f64::from(i == j)).collect())
        .collect();
    let rows: Vec<Vec<f64>> = (0..4)
        .map(|i| {
            (0..5)
                .map(|j| f64::from(j == i + 1) - f64::from(j == i))
                .collect()
        })
        .collect();
    let mass: Vec<&[f64]> = mass.iter().map(Vec::as_slice).collect();
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    let v = [1.0, 0.0, 0.0, 0.0, 0.0];
    let (w, u) = local(&mass, &rows, &v);
    let impact = moreau(&w, &u, 0.0, 1e-12).unwrap();
    assert_close(
        "cradle",
        &after(&mass, &rows, &v, &impact.impulses),
        &[0.2; 5],
    );
}

#[test]
fn no_law_gains_energy_or_closes_a_constraint_whatever_the_rank() {
    for seed in 0..4000_u64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let (n, k) = [(1, 2), (2, 3), (3, 3), (4, 3), (6, 4)][seed as usize % 5];
        let v: Vec<f64> = (0..k).map(|_| 2.0 * next() - 1.0).collect();
        // Rows turned so that every constraint closes.
        let rows: Vec<Vec<f64>> = (0..n)
            .map(|_| {
                let row: Vec<f64> = (0..k).map(|_| 2.0 * next() - 1.0).collect();
                let sign = if dot(&row, &v) > 0.0 { -1.0 } else { 1.0 };
                row.iter().map(|x| sign * x).collect()
            })
            .collect();
        let e: Vec<f64> = (0..n).map(|_| next()).collect();
        let w: Vec<f64> = rows
            .iter()
            .flat_map(|r| rows.iter().map(|s| dot(r, s)))
            .collect();
        let u: Vec<f64> = rows.iter().map(|r| dot(r, &v)).collect();
        let laws = [
            newton(&w, &u, &e),
            poisson(&w, &u, &e),
            moreau(&w, &u, e[0], 1e-12),
        ];
        for (law, impact) in laws.into_iter().enumerate() {
            let impact = impact.unwrap();
            if impact.outcome != LcpOutcome::Solved {
                assert!(
                    law == 0 && impact.dependent_rows,
                    "seed {seed}, law {law}: {:?}",
                    impact.outcome
                );
                continue;
            }
            let p = &impact.impulses;
            let size = p.iter().fold(1.0_f64, |s, x| s.max(*x));
            let change: f64 = p
                .iter()
                .zip(&u)
                .zip(&impact.velocities)
                .map(|((p, a), b)| 0.5 * p * (a + b))
                .sum();
            assert!(
                change <= 1e-12 * size * size,
                "seed {seed}, law {law}: energy change {change}"
            );
            assert!(p.iter().all(|&p| p >= 0.0), "seed {seed}, law {law}");
            let lowest = impact
                .velocities
                .iter()
                .fold(f64::INFINITY, |s, x| s.min(*x));
            assert!(lowest >= -1e-10 * size, "seed {seed}, law {law}: {lowest}");
        }
    }
}

#[test]
fn bad_data_is_refused_with_its_place() {
    assert_eq!(
        newton(&[1.0], &[-1.0], &[1.5]).unwrap_err(),
        ImpactMapError::Restitution {
            index: 0,
            value: 1.5
        }
    );
    assert_eq!(
        poisson(&[1.0, 2.0], &[-1.0], &[0.5]).unwrap_err(),
        ImpactMapError::Length {
            name: "W",
            expected: 1,
            found: 2
        }
    );
    assert!(matches!(
        moreau(&[f64::NAN], &[-1.0], 0.0, 0.0),
        Err(ImpactMapError::NotFinite { index: 0, .. })
    ));
}
