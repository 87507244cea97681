//! Sums of friction sets: the nearest point, from support points and directions of recession.
//!
//! Membership in Σ λ_a C*_a cannot be read off a list of test velocities in space. Here it is decided by the
//! distance: the nearest point of the sum is that of the hull of a few support points and rays, found in turn by the
//! support function ([Wolfe1976], with rays for unbounded sets).

use crate::algebra::lcp::{LcpOutcome, solve_lcp};
use crate::algebra::small_dense::{dot, norm};
use crate::laws::{FrictionSection, GeneralizedSet, PerGradient};

/// Part λ C* of a sum.
pub(super) struct Part {
    /// λ > 0.
    pub factor: f64,
    pub set: GeneralizedSet<PerGradient>,
    /// Image of each coordinate of the set, in coordinates with the Euclidean metric.
    pub images: Vec<Vec<f64>>,
}

/// A support point of a set, or a direction in which the support is infinite.
enum Support {
    Point(Vec<f64>),
    Ray(Vec<f64>),
}

/// Below this part of its largest possible value a pairing is rounding.
const ROUNDING: f64 = 1e-13;
/// Below this part a direction lies on the border of those in which the support of an unbounded set is finite: rounding decides
/// whether a ray leads on there or a point does.
const BORDER: f64 = 1e-8;
/// A support point of an unbounded set this part of which is the section is far out, and as uncertain as the border.
const FAR: f64 = 1e-6;

impl Part {
    /// Support in a direction, in the coordinates of the set.
    fn support(&self, direction: &[f64]) -> Support {
        let length = norm(direction);
        // Readings that are rounding of the direction read nothing.
        let w: Vec<f64> = (self.images.iter())
            .map(|image| {
                let value = dot(image, direction);
                let floor = ROUNDING * length * norm(image);
                if value.abs() <= floor { 0.0 } else { value }
            })
            .collect();
        let d = w.len();
        if w.iter().all(|&x| x == 0.0) {
            return Support::Point(vec![0.0; d]);
        }
        if let Some((lower, upper)) = self.set.ends() {
            let end = if w[0] > 0.0 { upper } else { lower };
            return if end.is_finite() {
                Support::Point(vec![end])
            } else {
                Support::Ray(vec![w[0].signum()])
            };
        }
        let found = self.support_point(&w);
        let bounded = self.set.is_bounded();
        if let Some((point, reach)) = found
            && (bounded || reach > FAR)
        {
            return Support::Point(point);
        }
        let (section, tilt) = (self.set.section(), self.set.tilt());
        let ray = if section.is_bounded() {
            recession_of_slice(section, tilt, &w)
        } else {
            recession_of_section(section, &w)
        };
        if dot(&ray, &w) > BORDER * norm(&ray) * norm(&w) {
            Support::Ray(ray)
        } else {
            Support::Point(self.point_beside(&w, &ray))
        }
    }

    /// The support point of a direction in the coordinates of the set, and the part of the section that it is; none where the
    /// support is infinite.
    fn support_point(&self, w: &[f64]) -> Option<(Vec<f64>, f64)> {
        let (section, tilt) = (self.set.section(), self.set.tilt());
        let value = self.set.support(w);
        if !value.is_finite() {
            return None;
        }
        let shifted: Vec<f64> = w.iter().zip(tilt).map(|(w, c)| w - value * c).collect();
        let mut point = vec![0.0; w.len()];
        section.support_point(&shifted, &mut point);
        let reach = 1.0 + dot(tilt, &point);
        point.iter_mut().for_each(|x| *x /= reach);
        (reach > 0.0).then_some((point, reach))
    }

    /// A point for a direction on the border: the ray across it does not help, but points along the ray do, which are those
    /// of directions turned away from it by ever less. The best of them; 0 is a point of every set.
    fn point_beside(&self, w: &[f64], ray: &[f64]) -> Vec<f64> {
        let mut best = vec![0.0; w.len()];
        let length = norm(ray);
        if !(length > 0.0) {
            return best;
        }
        let mut turn = norm(w) / length;
        for _ in 0..8 {
            turn *= 0.1;
            let turned: Vec<f64> = w.iter().zip(ray).map(|(w, r)| w - turn * r).collect();
            if let Some((point, _)) = self.support_point(&turned)
                && dot(&point, w) > dot(&best, w)
            {
                best = point;
            }
        }
        best
    }

    fn image(&self, s: &[f64], factor: f64, out: &mut [f64]) {
        for (image, s) in self.images.iter().zip(s) {
            for (o, x) in out.iter_mut().zip(image) {
                *o += factor * s * x;
            }
        }
    }
}

/// The d of D with 1 + c·d = 0 that maximises w·d: a direction of recession of {s : g_D(s) + c·s ≤ 1}.
fn recession_of_slice(section: &FrictionSection, tilt: &[f64], w: &[f64]) -> Vec<f64> {
    let d = w.len();
    let at = |t: f64| {
        let direction: Vec<f64> = w.iter().zip(tilt).map(|(w, c)| w - t * c).collect();
        let mut point = vec![0.0; d];
        section.support_point(&direction, &mut point);
        let reach = 1.0 + dot(tilt, &point);
        (point, reach)
    };
    // 1 + c·d falls as the direction turns towards −c.
    let (mut low, mut high) = (0.0, norm(w) / norm(tilt).max(f64::MIN_POSITIVE));
    let mut inside = at(low);
    if inside.1 <= 0.0 {
        return inside.0;
    }
    let mut beyond = at(high);
    while beyond.1 > 0.0 && high < 1e300 {
        (low, high) = (high, 4.0 * high);
        (inside, beyond) = (beyond, at(high));
    }
    if beyond.1 > 0.0 {
        // The critical coefficient: the slice is parallel to one generator.
        return beyond.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        let point = at(middle);
        if point.1 > 0.0 {
            (low, inside) = (middle, point);
        } else {
            (high, beyond) = (middle, point);
        }
    }
    // Two points of D on both sides of the slice at infinity, mixed.
    let part = inside.1 / (inside.1 - beyond.1);
    let pairs = inside.0.iter().zip(&beyond.0);
    pairs.map(|(a, b)| (1.0 - part) * a + part * b).collect()
}

/// Direction in which an unbounded section goes on, nearest to w: far out, projections move along it.
fn recession_of_section(section: &FrictionSection, w: &[f64]) -> Vec<f64> {
    let d = w.len();
    let far = |factor: f64| {
        let point: Vec<f64> = w.iter().map(|x| factor * x / norm(w)).collect();
        let mut nearest = vec![0.0; d];
        section.project(&point, 1.0, &mut nearest);
        nearest
    };
    let (near, beyond) = (far(1e8), far(2e8));
    beyond
        .iter()
        .zip(&near)
        .map(|(a, b)| (a - b) / 1e8)
        .collect()
}

/// The point of the closed sum of the parts nearest to `target`.
pub(super) fn nearest_in_sum(parts: &[Part], target: &[f64]) -> Vec<f64> {
    // All points relative to the target: the nearest one has least norm. 0 belongs to every sum.
    let start: Vec<f64> = target.iter().map(|t| -t).collect();
    let mut x = start.clone();
    let mut corral = vec![(start, false)];
    for _ in 0..500 {
        let direction: Vec<f64> = x.iter().map(|x| -x).collect();
        let (entering, ray) = support_of_sum(parts, target, &direction);
        let largest = corral.iter().map(|p| norm(&p.0)).fold(0.0, f64::max);
        let (size, length) = (norm(&entering).max(largest), norm(&x));
        let gain = if ray {
            -dot(&x, &entering)
        } else {
            dot(&x, &x) - dot(&x, &entering)
        };
        // Nothing comes nearer by more than rounding.
        if gain <= 4e-16 * size * length || length <= 1e-16 * size {
            break;
        }
        if corral.iter().any(|p| p.0 == entering) {
            break;
        }
        // The target is a support point itself, up to rounding.
        if !ray && norm(&entering) <= 1e-15 * size {
            x = entering;
            break;
        }
        let along = towards(&x, &entering, ray);
        corral.push((entering.clone(), ray));
        let reduced = reduce(&mut corral).filter(|nearer| dot(nearer, nearer) < dot(&x, &x));
        let nearer = reduced.unwrap_or_else(|| {
            // Members of very different lengths: what was reached stands for those before, and one step towards the new one.
            corral = vec![(x.clone(), false), (entering, ray)];
            along
        });
        if dot(&nearer, &nearer) >= dot(&x, &x) {
            break;
        }
        x = nearer;
    }
    x.iter().zip(target).map(|(x, t)| x + t).collect()
}

/// The point of least norm on the way from x to a point, or along a ray.
fn towards(x: &[f64], entering: &[f64], ray: bool) -> Vec<f64> {
    let shift = |x: f64, e: f64| if ray { e } else { e - x };
    let way: Vec<f64> = x.iter().zip(entering).map(|(x, e)| shift(*x, *e)).collect();
    let length = dot(&way, &way);
    let most = if ray { f64::INFINITY } else { 1.0 };
    let part = if length > 0.0 {
        -dot(x, &way) / length
    } else {
        0.0
    };
    let part = part.clamp(0.0, most);
    x.iter().zip(&way).map(|(x, w)| x + part * w).collect()
}

/// Support point of the sum relative to the target, or a ray as long as the target: any other length would be a unit.
fn support_of_sum(parts: &[Part], target: &[f64], direction: &[f64]) -> (Vec<f64>, bool) {
    let mut point: Vec<f64> = target.iter().map(|t| -t).collect();
    for part in parts {
        match part.support(direction) {
            Support::Point(s) => part.image(&s, part.factor, &mut point),
            Support::Ray(s) => {
                let mut ray = vec![0.0; target.len()];
                part.image(&s, 1.0, &mut ray);
                let length = norm(&ray);
                if length > 0.0 {
                    let scale = norm(target) / length;
                    ray.iter_mut().for_each(|x| *x *= scale);
                    return (ray, true);
                }
            }
        }
    }
    (point, false)
}

/// Nearest point of hull and rays of the corral, whose unused members are dropped.
fn reduce(corral: &mut Vec<(Vec<f64>, bool)>) -> Option<Vec<f64>> {
    let k = corral.len();
    let n = k + 1;
    // Least |Σ b v| with b ≥ 0 and the weights of points at least 1 together, as a complementarity problem.
    let squares = corral.iter().map(|(p, _)| dot(p, p));
    let scale: Vec<f64> = squares.map(|s| s.sqrt().max(f64::MIN_POSITIVE)).collect();
    let mut matrix = vec![0.0; n * n];
    for i in 0..k {
        for j in 0..k {
            matrix[i * n + j] = dot(&corral[i].0, &corral[j].0) / (scale[i] * scale[j]);
        }
        if !corral[i].1 {
            matrix[i * n + k] = -1.0 / scale[i];
            matrix[k * n + i] = 1.0 / scale[i];
        }
    }
    // The multiplier in units that keep the rows of one size.
    let longest = scale.iter().copied().fold(0.0, f64::max);
    for i in 0..k {
        matrix[i * n + k] *= longest;
        matrix[k * n + i] *= longest;
    }
    let mut rhs = vec![0.0; n];
    rhs[k] = -1.0;
    let mut weights = vec![0.0; n];
    if solve_lcp(&matrix, &rhs, &mut weights) != LcpOutcome::Solved {
        return None;
    }
    let weight: Vec<f64> = weights[..k]
        .iter()
        .zip(&scale)
        .map(|(w, s)| w / s)
        .collect();
    let points = corral.iter().zip(&weight).filter(|(p, _)| !p.1);
    let total: f64 = points.map(|(_, w)| w).sum();
    if !(total > 0.0) {
        return None;
    }
    let mut x = vec![0.0; corral[0].0.len()];
    for ((p, _), w) in corral.iter().zip(&weight) {
        for (x, p) in x.iter_mut().zip(p) {
            *x += w / total * p;
        }
    }
    let mut kept = weight.iter();
    corral.retain(|_| kept.next().is_some_and(|&w| w > 0.0));
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(section: FrictionSection, tilt: [f64; 2], factor: f64, images: [[f64; 3]; 2]) -> Part {
        let w = [1.0, tilt[0], tilt[1], tilt[0], 9.0, 0.0, tilt[1], 0.0, 9.0];
        Part {
            factor,
            set: GeneralizedSet::from_cone(&w, section),
            images: images.iter().map(|x| x.to_vec()).collect(),
        }
    }

    const FLAT: [[f64; 3]; 2] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    const STEEP: [[f64; 3]; 2] = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];

    #[test]
    fn nearest_point_of_one_disc_is_radial() {
        let disc = FrictionSection::disc(0.5).expect("valid");
        let sum = [part(disc, [0.0; 2], 2.0, FLAT)];
        for angle in [0.1f64, 0.8, 2.3, 4.0] {
            let (s, c) = angle.sin_cos();
            let found = nearest_in_sum(&sum, &[3.0 * c, 3.0 * s, 0.7]);
            let off = norm(&[found[0] - c, found[1] - s, found[2]]);
            assert!(off < 1e-9, "{angle}: {found:?}");
            let inside = nearest_in_sum(&sum, &[0.9 * c, 0.9 * s, 0.0]);
            let off = norm(&[inside[0] - 0.9 * c, inside[1] - 0.9 * s, inside[2]]);
            assert!(off < 1e-9, "{angle}: {inside:?}");
        }
    }

    /// Friction of a sliding contact lies at the end of its set to rounding: that is inside, whatever the size of the numbers.
    #[test]
    fn ends_of_a_set_belong_to_it() {
        let mut state = 7u64;
        let mut unit = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        for draw in 0..20_000 {
            let mu = 0.01 + unit();
            let size = 10f64.powf(40.0 * unit() - 20.0);
            let factor = size * unit();
            let image = vec![1e-12 * unit(), 1e-12 * unit()];
            let end = Part {
                factor,
                set: GeneralizedSet::given(FrictionSection::segment(mu).expect("valid")),
                images: vec![image.clone()],
            };
            // The same number by another way round, and some units in the last place beside it.
            let push = mu * factor;
            let off = 1.0 + 4e-16 * (unit() - 0.5);
            let target: Vec<f64> = image.iter().map(|x| -push * x * off).collect();
            let found = nearest_in_sum(&[end], &target);
            let distance = norm(&[found[0] - target[0], found[1] - target[1]]);
            assert!(
                distance <= 1e-14 * norm(&target),
                "{draw}: {found:?} {target:?}"
            );
        }
    }

    /// The optimality condition of the nearest point holds against every member of both sets, drawn on a grid.
    #[test]
    fn nearest_point_of_a_sum_separates() {
        let discs = [0.5, 0.8].map(|mu| FrictionSection::disc(mu).expect("valid"));
        for (tilt, factor) in [([0.0, 0.0], 1.0), ([0.6, -0.3], 0.7), ([0.9, 0.2], 1.4)] {
            let sum = [
                part(discs[0].clone(), tilt, factor, FLAT),
                part(discs[1].clone(), [0.2, 0.4], 0.5, STEEP),
            ];
            let target = [1.4, -1.1, 0.9];
            let x = nearest_in_sum(&sum, &target);
            let off: Vec<f64> = target.iter().zip(&x).map(|(t, x)| t - x).collect();
            let reach: f64 = dot(&off, &x);
            let mut best = 0.0;
            for part in &sum {
                let mut most = 0.0f64;
                for k in 0..3600 {
                    // The border of {s : |s|/μ + c·s ≤ 1} by angles.
                    let (s, c) = (f64::from(k) * 1e-3 * std::f64::consts::TAU / 3.6).sin_cos();
                    let FrictionSection::Disc { mu, .. } = part.set.section() else {
                        unreachable!("discs");
                    };
                    let r = 1.0 / (1.0 / mu + dot(part.set.tilt(), &[c, s]));
                    let mut y = vec![0.0; 3];
                    part.image(&[r * c, r * s], part.factor, &mut y);
                    most = most.max(dot(&off, &y));
                }
                best += most;
            }
            assert!((best - reach).abs() < 1e-5 * best, "{best} {reach}");
        }
    }

    /// What lies in a set, bounded or not, or on its edge, is its own nearest point.
    #[test]
    fn members_of_sets_beyond_the_critical_coefficient_belong_to_them() {
        let mut state = 11u64;
        let mut unit = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut unbounded = 0;
        for draw in 0..400 {
            let (mu, turn) = (0.3 + 2.7 * unit(), std::f64::consts::TAU * unit());
            let coupling = (0.5 + 2.5 * unit()) / mu;
            let tilt = [coupling * turn.cos(), coupling * turn.sin()];
            let factor = 10f64.powf(6.0 * unit() - 3.0);
            let images = [[1.0 + unit(), 0.0, 0.0], [unit() - 0.5, 0.5 + unit(), 0.0]];
            let disc = FrictionSection::disc(mu).expect("valid");
            let sum = [part(disc, tilt, factor, images)];
            unbounded += usize::from(!sum[0].set.is_bounded());
            let (s, c) = (std::f64::consts::TAU * unit()).sin_cos();
            let slope = 1.0 / mu + dot(&tilt, &[c, s]);
            let edge = if slope > 0.02 {
                1.0 / slope
            } else {
                5.0 * unit()
            };
            if slope.abs() < 0.02 {
                continue;
            }
            let mut target = vec![0.0; 3];
            let reach = edge * if unit() < 0.5 { 1.0 } else { 0.9 };
            sum[0].image(&[reach * c, reach * s], factor, &mut target);
            let x = nearest_in_sum(&sum, &target);
            let off = distance_of(&x, &target) / norm(&target);
            assert!(off < 1e-9, "{draw}: {x:?} {target:?}");
        }
        assert!(unbounded > 200, "{unbounded}");
    }

    fn distance_of(a: &[f64], b: &[f64]) -> f64 {
        norm(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<f64>>())
    }

    /// Beyond the critical coefficient the set goes on for ever along its rays.
    #[test]
    fn rays_of_unbounded_sets_are_found() {
        let disc = FrictionSection::disc(1.0).expect("valid");
        // |s| − 2 s_x ≤ 1: a hyperbola around the axis x, in three units of impulse.
        for unit in [1.0, 1e-12, 1e12] {
            let sum = [part(disc.clone(), [-2.0, 0.0], unit, FLAT)];
            for target in [[1e3, 0.0, 0.0], [1e3, 1.5e3, 0.0], [7.0, 3.0, 0.0]] {
                let target = target.map(|x| unit * x);
                let x = nearest_in_sum(&sum, &target);
                let off = norm(&[x[0] - target[0], x[1] - target[1], x[2]]);
                assert!(off < 1e-8 * norm(&target), "{target:?}: {x:?}");
            }
            // To the left it ends at s_x = −1/3.
            let x = nearest_in_sum(&sum, &[-5.0 * unit, 0.0, 0.0]);
            assert!((x[0] / unit + 1.0 / 3.0).abs() < 1e-8, "{x:?}");
        }
    }
}
