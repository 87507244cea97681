//! Whether γ is positive arbitrarily near a configuration where it vanishes, on the side φ ≤ 0: what branch of Theorem 1 holds.
//!
//! # What it computes
//!
//! The behaviour of γ/W_NN, which has no unit, near q, on rays and on shells of the kinetic metric. A ray is brought back to φ ≤ 0 where it leaves it,
//! so that half of them run along the surface; beside joints directions are those that they allow, and places are brought back onto them, too. Each is read from where γ/W_NN stops growing, or reaches a tenth of W_NN, down to
//! its rounding, so that no length is chosen. On shells the largest γ/W_NN is sought from the best rays and from the place found on the shell before, so that the
//! curved slivers in which γ > 0 may lie alone are followed inwards.
//!
//! # Source
//!
//! [Paoli2015], Theorem 1 (admissible there: φ ≤ 0 outside Int K); how it is decided is our own.
//!
//! # Guarantees
//!
//! None: a figure with rounding cannot tell x⁶ from x⁶ − 1e-20 x². γ counts as positive arbitrarily near where its positive
//! values fall by a steady power down to rounding, and as not positive where there are none, or where they end at a distance within which γ is
//! seen on two decades more. Between the two nothing is claimed.
//!
//! # Behaviour to know
//!
//! Powers above about the tenth have too few values above rounding. Units of mass, length and time alter nothing but the rounding.
//!
//! # Cost
//!
//! Some thousand W where a ray decides, some ten thousand else.
//!
//! # Tested by
//!
//! `tests/truth_positive_neighbours.rs`.

use crate::algebra::dot;
use crate::algebra::splitmix::Splitmix;
use crate::algebra::{CholeskyFactor, SymmetricMatrix};
use crate::contact::ContactKey;
use crate::systems::MechanicalSystem;
use crate::systems::functions::ScalarFunction;

use super::attainable::{least_impulse, margin_at};
use super::joint_surface::{JointSurface, terms};

/// Beyond this part of W_NN γ is not small.
const LARGE: f64 = 0.1;
/// Rays beside the axes.
const RAYS: u64 = 128;
/// Ratio of neighbouring distances on a ray.
const FINE: f64 = 2.0;
/// Half a decade: ratio of neighbouring shells.
const COARSE: f64 = 3.162_277_660_168_379_5;
/// Powers of neighbouring steps that differ by more are not steady.
const STEADY: f64 = 1.0;
/// Shells without a positive value on which γ is seen, within the last that has one, that decide: two decades.
const ENOUGH: usize = 4;
/// A place nearer to q than this part of the radius is not on the shell.
const NEAR: f64 = 0.5;
/// A direction of which the joints allow less than this part is across them.
const ACROSS: f64 = 1e-3;
/// Ratio of the distances that rays may end at.
const APART: f64 = 1e8;
/// Values searched on a shell from one start.
const SEARCH: usize = 160;

/// Whether there are points with φ ≤ 0 and γ > 0 arbitrarily near; none where that cannot be told.
pub(super) fn positive_arbitrarily_near(
    system: &dyn MechanicalSystem,
    q: &[f64],
    key: ContactKey,
    joints: &JointSurface,
) -> Option<bool> {
    let near = Neighbourhood::new(system, q, key, joints)?;
    let rays = near.rays();
    let reaches: Vec<Option<f64>> = rays.iter().map(|ray| near.reach(ray)).collect();
    let seen = rays.iter().zip(&reaches);
    let seen: Vec<_> = seen.filter_map(|(ray, r)| r.map(|r| (ray, r))).collect();
    // Far beyond where others have ended a ray reads the rounding of its own places.
    let least = seen.iter().map(|s| s.1).fold(f64::INFINITY, f64::min);
    let seen: Vec<_> = seen.into_iter().filter(|s| s.1 <= APART * least).collect();
    // γ is the same all around.
    let Some(far) = seen.iter().map(|s| s.1).max_by(f64::total_cmp) else {
        return Some(false);
    };
    if seen
        .iter()
        .any(|(ray, reach)| near.ray_ends(ray, *reach) == End::Positive)
    {
        return Some(true);
    }
    near.shells(&rays, far)
}

/// How values end that were read inwards.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// By a steady power, positive down to rounding.
    Positive,
    /// Positive down to rounding, but not by a steady power.
    Unsteady,
    /// Without a positive value, or with one that ends before rounding does.
    Other,
}

/// How positive values read inwards in a fixed ratio end: the last are those before rounding.
fn end_of(values: &[f64], ratio: f64, noise: f64) -> End {
    // A decade of them, or what there is.
    let enough = if ratio < COARSE { 4 } else { 3 };
    let last = values.iter().rposition(|v| v.abs() > noise);
    let Some(last) = last.filter(|&last| values[last] > 0.0) else {
        return End::Other;
    };
    let run = values[..=last].iter().rev().take_while(|v| **v > noise);
    let run: Vec<f64> = run.take(enough).copied().collect();
    if run.len() < 2 {
        // One value says nothing of its power: below the twelfth it would not have been the last if it is large.
        let short = run[0] <= 10.0 * noise * ratio.powi(12);
        return if short { End::Unsteady } else { End::Other };
    }
    let power = |k: usize| (run[k + 1] / run[k]).ln() / ratio.ln();
    // What the next value would have been must be rounding, else the positive values end by themselves.
    let next = run[0] * (run[0] / run[1]).min(1.0);
    if next > 10.0 * noise && last + 1 < values.len() {
        return End::Other;
    }
    let steady = (1..run.len() - 1).all(|k| (power(k) - power(0)).abs() <= STEADY);
    let falls = (0..run.len() - 1).all(|k| power(k) > 0.0);
    if steady && falls && run.len() + 1 >= enough {
        End::Positive
    } else {
        End::Unsteady
    }
}

/// γ/W_NN around q, in the coordinates z of q + M^{-1/2} z.
struct Neighbourhood<'a> {
    system: &'a dyn MechanicalSystem,
    q: &'a [f64],
    key: ContactKey,
    gap: &'a dyn ScalarFunction,
    matrix: SymmetricMatrix,
    mass: CholeskyFactor,
    joints: &'a JointSurface<'a>,
    centre: f64,
    /// Rounding of γ/W_NN.
    noise: f64,
}

impl<'a> Neighbourhood<'a> {
    fn new(
        system: &'a dyn MechanicalSystem,
        q: &'a [f64],
        key: ContactKey,
        joints: &'a JointSurface<'a>,
    ) -> Option<Self> {
        let centre = margin_at(system, q, key)?;
        let mut given = system.new_matrix();
        system.mass(q, &mut given);
        // Dense, since roots of it are asked for.
        let mut matrix = SymmetricMatrix::zeros(system.dof());
        for i in 0..system.dof() {
            for j in 0..=i {
                matrix.set(i, j, given.get(i, j));
            }
        }
        let mut mass = CholeskyFactor::default();
        mass.factor(&matrix).ok()?;
        let (rows, parts) = least_impulse(system, q, key)?;
        let noise = 32.0 * f64::EPSILON * coupling(&matrix) * joints.cancels(q, &rows, &parts);
        Some(Self {
            system,
            q,
            key,
            gap: system.constraints()[key.constraint()].gap(),
            matrix,
            mass,
            joints,
            centre,
            noise,
        })
    }

    /// Unit directions: the axes and random ones.
    fn rays(&self) -> Vec<Vec<f64>> {
        let n = self.system.dof();
        let axes = (0..2 * n).map(|k| {
            let mut axis = vec![0.0; n];
            axis[k / 2] = if k % 2 == 0 { 1.0 } else { -1.0 };
            axis
        });
        let random = (0..RAYS).map(|k| {
            let number = |i: usize| Splitmix::number(7, k * n as u64 + i as u64);
            // Sums of uniform numbers are nearly normal, and normal ones have no preferred direction.
            let normal = |i: usize| (0..6).map(|j| number(6 * i + j)).sum::<f64>() - 3.0;
            unit((0..n).map(normal).collect())
        });
        axes.chain(random).collect()
    }

    /// γ/W_NN above that at q, at z or where the normal leads from there to φ ≤ 0; not a number where there is none, and zero on the surface where that
    /// stays within its rounding.
    fn value(&self, direction: &[f64], r: f64) -> f64 {
        let n = self.system.dof();
        let mut step: Vec<f64> = direction.iter().map(|x| r * x).collect();
        self.mass.solve_upper_in_place(&mut step);
        if !self.joints.is_empty() {
            self.joints.allow(self.q, &mut step);
            let allowed = self.matrix.bilinear(&step, &step).sqrt();
            // Across the joints there is nothing.
            if !(allowed > ACROSS * r) {
                return f64::NAN;
            }
            step.iter_mut().for_each(|x| *x *= r / allowed);
        }
        let mut place = self.q.to_vec();
        self.system.displace(self.q, &step, 1.0, &mut place);
        let (mut gradient, mut rise, mut way) = (vec![0.0; n], vec![0.0; n], step);
        for moved in 0..12 {
            let Some(known) = self.joints.reach(&mut place, &mut way) else {
                return f64::NAN;
            };
            let gap = self.gap.value(0.0, &place);
            self.gap.gradient(0.0, &place, &mut gradient);
            let sizes = terms(&gradient, &place);
            // Below zero beyond rounding: γ is continuous, so that nothing is lost.
            let rounding = f64::EPSILON * (sizes + self.gap.magnitude(0.0, &place));
            rise.copy_from_slice(&gradient);
            self.mass.solve_in_place(&mut rise);
            self.joints.allow(&place, &mut rise);
            let length = dot(&gradient, &rise);
            let found = gap <= -2.0 * rounding;
            let mut deeper = place.clone();
            let back = if found { 0.0 } else { -gap } - 4.0 * rounding;
            self.system
                .displace(&place, &rise, back / length, &mut deeper);
            if found {
                // What the normal leads back to q itself says nothing of this distance.
                if self.matrix.bilinear(&way, &way).sqrt() < NEAR * r {
                    return f64::NAN;
                }
                let value = self.margin(&place);
                // What the rounding of the gap can make of it is nothing.
                let lost = moved > 0 && value.abs() <= 2.0 * (self.margin(&deeper) - value).abs();
                // Nor what that of the joints can.
                let blurred: f64 = (self.joints.doubts(&place, &known).iter())
                    .map(|doubt| {
                        self.system.displace(&place, doubt, 1.0, &mut deeper);
                        (self.margin(&deeper) - value).abs()
                    })
                    .sum();
                // Where it leads to places without a friction set, nothing is known.
                let lost =
                    lost || blurred.is_nan() || blurred > 0.0 && value.abs() <= 2.0 * blurred;
                return if lost { 0.0 } else { value };
            }
            for (way, rise) in way.iter_mut().zip(&rise) {
                *way += back / length * rise;
            }
            place = deeper;
        }
        f64::NAN
    }

    fn margin(&self, place: &[f64]) -> f64 {
        let margin = margin_at(self.system, place, self.key);
        margin.map_or(f64::NAN, |margin| margin - self.centre)
    }

    /// How far γ behaves along a ray as it does near q: to a tenth of W_NN, or where it grows no more. None where it is rounding at every distance.
    fn reach(&self, ray: &[f64]) -> Option<f64> {
        const DECADES: std::ops::Range<i32> = -30..31;
        let mut last = 0.0f64;
        for k in DECADES {
            let r = 10f64.powi(k);
            let size = self.value(ray, r).abs();
            // Within the rounding of places there may be none, and γ is rounding there.
            if size.is_nan() && last <= self.noise {
                continue;
            }
            if !(size <= LARGE) {
                // By halves to the tenth.
                let (mut low, mut high) = (0.1 * r, r);
                for _ in 0..12 {
                    let middle = (low * high).sqrt();
                    if self.value(ray, middle).abs() <= LARGE {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                return Some(low);
            }
            if last > 1e3 * self.noise && size < 1.5 * last {
                return Some(0.1 * r);
            }
            last = size;
        }
        None
    }

    /// How the values along a ray end inwards.
    fn ray_ends(&self, ray: &[f64], reach: f64) -> End {
        let (mut values, mut silent, mut r) = (Vec::new(), 0, reach);
        while silent < 2 && values.len() < 2000 {
            let value = self.value(ray, r);
            silent = if value.abs() > self.noise {
                0
            } else {
                silent + 1
            };
            values.push(value);
            r /= FINE;
        }
        end_of(&values, FINE, self.noise)
    }

    /// What the largest values on shells tell, from `far` inwards.
    fn shells(&self, rays: &[Vec<f64>], far: f64) -> Option<bool> {
        let (mut largest, mut sizes, mut r) = (Vec::new(), Vec::new(), far);
        let mut warm: Vec<Vec<f64>> = Vec::new();
        while largest.len() < 130 {
            let mut found: Vec<(f64, &Vec<f64>)> = rays
                .iter()
                .map(|ray| (self.value(ray, r), ray))
                .filter(|(value, _)| value.is_finite())
                .collect();
            let size = found.iter().map(|f| f.0.abs()).fold(0.0, f64::max);
            if !(size > self.noise) {
                break;
            }
            found.sort_by(|a, b| b.0.total_cmp(&a.0));
            let starts = found.iter().take(3).map(|f| f.1).chain(&warm);
            let climbed = starts.map(|start| self.climb(start, r));
            let best = climbed.max_by(|a, b| a.0.total_cmp(&b.0))?;
            // Terms as large as γ is elsewhere on the shell may cancel here.
            let rounding = self.noise * (1.0 + size / LARGE);
            largest.push(if best.0.abs() > rounding { best.0 } else { 0.0 });
            sizes.push(size);
            // The next shell starts from here, and from where curves as y = x² lead from the last two.
            let ahead = warm.first().map(|last| {
                let lean = best.1.iter().zip(last);
                unit(lean.map(|(b, a)| b + (b - a) / COARSE).collect())
            });
            warm = std::iter::once(best.1).chain(ahead).collect();
            r /= COARSE;
        }
        if largest.iter().all(|&value| value <= self.noise) {
            return Some(false);
        }
        match end_of(&largest, COARSE, self.noise) {
            End::Positive => Some(true),
            End::Unsteady => None,
            End::Other => {
                let last = largest.iter().rposition(|&value| value > self.noise)?;
                let within = sizes[last + 1..].iter();
                let clear = within.filter(|&&size| size > 1e3 * self.noise).count();
                (clear >= ENOUGH).then_some(false)
            }
        }
    }

    /// The largest value that steps from a direction find on the shell of radius r, and where.
    fn climb(&self, start: &[f64], r: f64) -> (f64, Vec<f64>) {
        let n = start.len();
        let (mut at, mut value) = (start.to_vec(), self.value(start, r));
        let (mut step, mut asked, mut round) = (0.5, 0, 0);
        while step > 1e-7 && asked < SEARCH {
            let before = at.clone();
            let mut better = false;
            for k in 0..2 * n {
                // Every other round along the axes, else along a random direction and back.
                let number = |i: usize| Splitmix::number(11 + round, (k / 2 * n + i) as u64) - 0.5;
                let way: Vec<f64> = (0..n)
                    .map(|i| match round % 2 {
                        0 => f64::from(u8::from(i == k / 2)),
                        _ => number(i),
                    })
                    .collect();
                let sign = if k % 2 == 0 { step } else { -step };
                let moved = at.iter().zip(&way).map(|(a, w)| a + sign * w);
                let moved = unit(moved.collect());
                let there = self.value(&moved, r);
                asked += 1;
                if there > value {
                    (at, value, better) = (moved, there, true);
                }
            }
            if better {
                // On along what was gained.
                let on = at.iter().zip(&before).map(|(a, b)| 2.0 * a - b);
                let on = unit(on.collect());
                let there = self.value(&on, r);
                asked += 1;
                if there > value {
                    (at, value) = (on, there);
                }
            } else {
                step *= 0.4;
            }
            round += 1;
        }
        (value, at)
    }
}

fn unit(mut x: Vec<f64>) -> Vec<f64> {
    let size = dot(&x, &x).sqrt();
    for x in &mut x {
        *x /= size;
    }
    x
}

/// What the rounding of M^{-1} is larger by than that of a diagonal one: 1 over the smallest squared pivot of M scaled to a unit diagonal.
fn coupling(mass: &SymmetricMatrix) -> f64 {
    let n = mass.order();
    let mut scaled = SymmetricMatrix::zeros(n);
    for i in 0..n {
        for j in 0..=i {
            let size = (mass.get(i, i) * mass.get(j, j)).sqrt();
            scaled.set(i, j, mass.get(i, j) / size);
        }
    }
    let mut factor = CholeskyFactor::default();
    if factor.factor(&scaled).is_err() {
        return 1.0;
    }
    // The diagonal of the inverse of a matrix with a unit diagonal holds the inverses of its squared pivots, each taken last.
    let inverse = (0..n).map(|i| {
        let mut column = vec![0.0; n];
        column[i] = 1.0;
        factor.solve_in_place(&mut column);
        column[i]
    });
    inverse.fold(1.0, f64::max)
}
