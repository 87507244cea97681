//! The friction that a tangential quadratic chooses in a friction section.
//!
//! # What it computes
//!
//! x ∈ r D with (A x + b)·(y − x) ≥ 0 for all y ∈ r D; for symmetric A the minimum of
//! ½ x·A x + b·x over r D. With A = W_tt and b = the tangential velocity without friction this is
//! −u_t ∈ N_{r D}(x): friction at the known normal impulse r.
//!
//! # Source
//!
//! The friction half of Coulomb's law, [AcaryCollinsCraft2023]; disc and ellipse by the secular equation
//! of [`crate::algebra::ball_quadratic`], others by `algebra::projected_newton`.
//!
//! # Guarantees
//!
//! A solution exists for every bounded D; A x is unique for symmetric A.
//!
//! # Behaviour to know
//!
//! Disc, ellipse and polygon: accurate to rounding, whatever the ratio of A and b. Other sets: natural map of 1e-15,
//! limited by the accuracy of their projection. Factors of a product and parts of a hull are scaled by their own
//! block of A, so that rolling friction in other units does no harm.
//!
//! # Cost
//!
//! Disc: about five 2 × 2 systems; polygon: every edge against every vertex. Allocates for the others only.
//!
//! # Tested by
//!
//! `solvers/one_contact/tests.rs`, `laws/energetic/spatial/tests.rs`.

use super::FrictionSection;
use super::polytope::Polytope;
use crate::algebra::ball_quadratic::minimize_in_ball;
use crate::algebra::projected_newton;
use crate::algebra::small_dense::{dot, norm};

/// Solves the problem of the module page at the scale r > 0 from the guess in `x`; `work` needs at least d² + d
/// numbers. Returns the relative natural map (0 where the answer is exact).
pub(crate) fn minimize_in_section(
    section: &FrictionSection,
    a: &[f64],
    b: &[f64],
    scale: f64,
    x: &mut [f64],
    work: &mut [f64],
) -> f64 {
    if let (1, Some((lower, upper))) = (b.len(), section.ends()) {
        x[0] = if a[0] > 0.0 {
            (-b[0] / a[0]).clamp(scale * lower, scale * upper)
        } else if b[0] == 0.0 {
            0.0
        } else if b[0] > 0.0 {
            scale * lower
        } else {
            scale * upper
        };
        return 0.0;
    }
    match section {
        FrictionSection::Disc { mu, .. } => {
            minimize_in_ball(a, b, mu * scale, x, work);
            0.0
        }
        FrictionSection::Ellipse { map } => {
            ellipse(a, b, map, scale, x, work);
            0.0
        }
        FrictionSection::Polytope {
            polytope,
            scale: factor,
        } if b.len() == 2 => {
            polygon(a, b, polytope, factor * scale, x);
            0.0
        }
        FrictionSection::Product {
            factors: parts,
            scale: factor,
        }
        | FrictionSection::Hull {
            parts,
            scale: factor,
        } => {
            let product = matches!(section, FrictionSection::Product { .. });
            let residual = blocks(a, b, parts, product, factor * scale, x);
            if product {
                let before = (natural_map(section, a, b, scale, x), x.to_vec());
                polish(a, b, parts, factor * scale, x);
                if !(natural_map(section, a, b, scale, x) <= before.0.max(EXACT)) {
                    x.copy_from_slice(&before.1);
                }
            }
            residual
        }
        section => projected_newton::solve(a, b, x, &mut |x, out| section.project(x, scale, out)),
    }
}

/// The same for any A ≥ 0: with dependent rows the closed form of a polygon loses its digits, and the iteration takes over.
pub(crate) fn minimize_in_section_checked(
    section: &FrictionSection,
    a: &[f64],
    b: &[f64],
    scale: f64,
    x: &mut [f64],
    work: &mut [f64],
) -> f64 {
    if !matches!(section, FrictionSection::Polytope { .. }) || b.len() != 2 {
        return minimize_in_section(section, a, b, scale, x, work);
    }
    let guess = x.to_vec();
    minimize_in_section(section, a, b, scale, x, work);
    let residual = natural_map(section, a, b, scale, x);
    if residual <= EXACT {
        return 0.0;
    }
    let closed = x.to_vec();
    x.copy_from_slice(&guess);
    projected_newton::solve(a, b, x, &mut |x, out| section.project(x, scale, out));
    let iterated = natural_map(section, a, b, scale, x);
    if iterated <= residual {
        return iterated;
    }
    x.copy_from_slice(&closed);
    residual
}

/// Natural map above which the digits of a closed form are lost.
const EXACT: f64 = 1e-12;

/// |x − Proj_rD(x − ρ(A x + b))| relative to |x| + ρ|b|, ρ = 1/|A|; 0 where both vanish.
fn natural_map(section: &FrictionSection, a: &[f64], b: &[f64], scale: f64, x: &[f64]) -> f64 {
    let d = b.len();
    let rho = 1.0 / norm(a).max(f64::MIN_POSITIVE);
    let shifted: Vec<f64> = (0..d)
        .map(|i| x[i] - rho * (dot(&a[i * d..(i + 1) * d], x) + b[i]))
        .collect();
    let mut nearest = vec![0.0; d];
    section.project(&shifted, scale, &mut nearest);
    let moved: Vec<f64> = x.iter().zip(&nearest).map(|(x, y)| x - y).collect();
    let size = norm(x) + rho * norm(b);
    if size > 0.0 { norm(&moved) / size } else { 0.0 }
}

/// Factors of a product one after the other until nothing moves: each is then as accurate as its own terms allow,
/// also beside a factor whose slip is much larger.
fn polish(a: &[f64], b: &[f64], factors: &[FrictionSection], scale: f64, x: &mut [f64]) {
    let d = b.len();
    for _ in 0..100 {
        let mut moved = false;
        let mut start = 0;
        for factor in factors {
            let rows = start..start + factor.dimension();
            let outside = |j: &usize| !rows.contains(j);
            let mut part = vec![0.0; rows.len()];
            let mut own = Vec::with_capacity(rows.len() * rows.len());
            for (i, part) in rows.clone().zip(&mut part) {
                let row = &a[i * d..(i + 1) * d];
                *part = b[i] + (0..d).filter(outside).map(|j| row[j] * x[j]).sum::<f64>();
                own.extend_from_slice(&row[rows.clone()]);
            }
            let mut best = x[rows.clone()].to_vec();
            let mut work = vec![0.0; 2 * (own.len() + best.len())];
            minimize_in_section(factor, &own, &part, scale, &mut best, &mut work);
            for (x, new) in x[rows.clone()].iter_mut().zip(&best) {
                moved |= (*x - new).abs() > f64::EPSILON * x.abs();
                *x = *new;
            }
            start = rows.end;
        }
        if !moved {
            break;
        }
    }
}

/// Polygon: the free minimum where it lies inside, else the point of the boundary with the smallest gap
/// g·x − min_v g·v between its gradient g and the vertices v, which is zero at the answer alone.
fn polygon(a: &[f64], b: &[f64], polytope: &Polytope, scale: f64, x: &mut [f64]) {
    let vertices: Vec<[f64; 2]> = polytope
        .vertices()
        .map(|v| [scale * v[0], scale * v[1]])
        .collect();
    let k = vertices.len();
    let gradient = |x: &[f64]| [dot(&a[..2], x) + b[0], dot(&a[2..4], x) + b[1]];
    let determinant = a[0] * a[3] - a[1] * a[2];
    if k > 2 && determinant > 0.0 {
        let free = [
            (a[1] * b[1] - a[3] * b[0]) / determinant,
            (a[2] * b[0] - a[0] * b[1]) / determinant,
        ];
        let left_of = |i: usize| {
            let (p, q) = (vertices[i], vertices[(i + 1) % k]);
            (q[0] - p[0]) * (free[1] - p[1]) - (q[1] - p[1]) * (free[0] - p[0]) >= 0.0
        };
        if (0..k).all(left_of) {
            x.copy_from_slice(&free);
            return;
        }
    }
    let mut best = f64::INFINITY;
    for i in 0..k {
        let (p, q) = (vertices[i], vertices[(i + 1) % k]);
        let edge = [q[0] - p[0], q[1] - p[1]];
        let slope = dot(&gradient(&p), &edge);
        let curvature = edge[0] * dot(&a[..2], &edge) + edge[1] * dot(&a[2..4], &edge);
        // The near end at a nonnegative slope, the far end beyond the edge: exactly, not by interpolation.
        let point = if slope >= 0.0 {
            p
        } else if -slope >= curvature {
            q
        } else {
            let t = -slope / curvature;
            [p[0] + t * edge[0], p[1] + t * edge[1]]
        };
        let g = gradient(&point);
        let gap = vertices
            .iter()
            .map(|v| g[0] * (point[0] - v[0]) + g[1] * (point[1] - v[1]))
            .fold(0.0, f64::max);
        if gap < best {
            best = gap;
            x.copy_from_slice(&point);
        }
    }
}

/// p_t = E z, |z| ≤ p_n.
fn ellipse(
    a: &[f64],
    b: &[f64],
    map: &[[f64; 2]; 2],
    normal: f64,
    p_t: &mut [f64],
    work: &mut [f64],
) {
    let mut transformed = [0.0; 4];
    let mut rhs = [0.0; 2];
    for i in 0..2 {
        for j in 0..2 {
            rhs[i] += map[j][i] * b[j];
            for k in 0..2 {
                for l in 0..2 {
                    transformed[2 * i + j] += map[k][i] * a[2 * k + l] * map[l][j];
                }
            }
        }
    }
    let mut z = [0.0; 2];
    minimize_in_ball(&transformed, &rhs, normal, &mut z, work);
    for i in 0..2 {
        p_t[i] = map[i][0] * z[0] + map[i][1] * z[1];
    }
}

/// Scale c_i of each block with c_i² |A_ii| = 1.
pub(crate) fn block_scales(a: &[f64], d: usize, parts: &[FrictionSection]) -> Vec<f64> {
    let mut scales = Vec::with_capacity(parts.len());
    let mut start = 0;
    for part in parts {
        let end = start + part.dimension();
        let size = (start..end).map(|i| a[i * d + i]).fold(0.0, f64::max);
        scales.push(if size > 0.0 { 1.0 / size.sqrt() } else { 1.0 });
        start = end;
    }
    scales
}

/// Product or hull, each block of coordinates scaled to a unit block of A.
fn blocks(
    a: &[f64],
    b: &[f64],
    parts: &[FrictionSection],
    product: bool,
    normal: f64,
    p_t: &mut [f64],
) -> f64 {
    let d = b.len();
    let scales = block_scales(a, d, parts);
    let factor: Vec<f64> = parts
        .iter()
        .zip(&scales)
        .flat_map(|(part, &c)| std::iter::repeat_n(c, part.dimension()))
        .collect();
    let scaled_a: Vec<f64> = (0..d * d)
        .map(|k| a[k] * factor[k / d] * factor[k % d])
        .collect();
    let scaled_b: Vec<f64> = (0..d).map(|i| b[i] * factor[i]).collect();
    let scaled_parts: Vec<FrictionSection> = parts
        .iter()
        .zip(&scales)
        .map(|(part, c)| part.scaled(1.0 / c))
        .collect();
    let section = if product {
        FrictionSection::Product {
            factors: scaled_parts.into(),
            scale: 1.0,
        }
    } else {
        FrictionSection::Hull {
            parts: scaled_parts.into(),
            scale: 1.0,
        }
    };
    let mut z: Vec<f64> = p_t.iter().zip(&factor).map(|(p, c)| p / c).collect();
    let residual = projected_newton::solve(&scaled_a, &scaled_b, &mut z, &mut |x, out| {
        section.project(x, normal, out)
    });
    p_t.iter_mut()
        .zip(z.iter().zip(&factor))
        .for_each(|(p, (z, c))| *p = z * c);
    debug_assert!(norm(p_t).is_finite());
    residual
}
