//! Reactions inside their cones, where only the motion that they make is known.
//!
//! Reactions of the same motion differ by `Z y`, Z the directions in which nothing moves. Of those strictly inside their walls (pressure, and friction inside its cone) the one is taken
//! at which
//!
//! ```text
//! ½ Σ w λ²/Λ² − Σ log c(λ)        (Λ the largest of the reactions given)
//! ```
//!
//! is least: it exists wherever there is one inside, is unique, and varies smoothly along the motion. The way inside is the first phase of a barrier method: the largest t with `c(λ; N − t) > 0`.

use crate::algebra::dot;
use crate::laws::FrictionSection;

use super::full_pivoting::solve_full_pivoting;

/// What a barrier may be multiplied with before there is said to be nothing inside.
const STEEPEST: f64 = 1e9;

/// A set that reactions must stay in, by their numbers.
#[derive(Clone, Debug)]
pub(super) enum Wall {
    /// N + c f > 0; no friction for plain pressure.
    Side(usize, Option<(usize, f64)>),
    /// N² > f·Q f with N > 0, f from the given number on.
    Cone(usize, usize, Vec<f64>),
}

impl Wall {
    /// The pressure of a contact.
    pub fn pressure(normal: usize) -> Self {
        Self::Side(normal, None)
    }

    /// Friction of a group of tangents from `first` on; its gauge is the root of a quadratic form, or two slopes for one tangent.
    pub fn friction(section: &FrictionSection, normal: usize, first: usize) -> Vec<Self> {
        let size = section.dimension();
        let gauge = |axes: &[(usize, f64)]| {
            let mut x = vec![0.0; size];
            axes.iter().for_each(|&(k, s)| x[k] += s);
            section.gauge(&x)
        };
        if size == 1 {
            let side = |s: f64| Self::Side(normal, Some((first, -s * gauge(&[(0, s)]))));
            return vec![side(1.0), side(-1.0)];
        }
        let square = |i: usize| gauge(&[(i, 1.0)]).powi(2);
        let mut form = vec![0.0; size * size];
        for i in 0..size {
            for j in 0..size {
                let both = gauge(&[(i, 1.0), (j, 1.0)]).powi(2);
                form[i * size + j] = 0.5 * (both - square(i) - square(j));
            }
        }
        vec![Self::Cone(normal, first, form)]
    }

    /// How far inside the reactions are, in the unit of pressure; negative outside.
    fn depth(&self, reactions: &[f64]) -> f64 {
        match self {
            Self::Side(n, None) => reactions[*n],
            Self::Side(n, Some((f, slope))) => reactions[*n] + slope * reactions[*f],
            Self::Cone(n, first, form) => {
                reactions[*n] - quadratic(form, &reactions[*first..]).max(0.0).sqrt()
            }
        }
    }

    /// What the barrier is minus the logarithm of, with all normals lowered by `shift`; none outside.
    fn level(&self, reactions: &[f64], shift: f64) -> Option<f64> {
        let level = match self {
            Self::Side(..) => self.depth(reactions) - shift,
            Self::Cone(n, first, form) => {
                let normal = reactions[*n] - shift;
                let friction = quadratic(form, &reactions[*first..]);
                normal.max(0.0) * normal - friction
            }
        };
        (level > 0.0 && level.is_finite()).then_some(level)
    }

    /// Adds slope and curvature of the barrier in all reactions and the shift, which comes last; false outside. Only the few reactions of the wall are touched.
    fn add(
        &self,
        (reactions, shift): (&[f64], f64),
        slope: &mut [f64],
        curvature: &mut [f64],
    ) -> bool {
        let Some(level) = self.level(reactions, shift) else {
            return false;
        };
        let m = reactions.len();
        let mut gradient: Vec<(usize, f64)> = Vec::new();
        match self {
            Self::Side(n, friction) => {
                gradient.extend([(*n, 1.0), (m, -1.0)]);
                gradient.extend(friction.iter());
            }
            Self::Cone(n, first, form) => {
                let size = (form.len() as f64).sqrt() as usize;
                let normal = reactions[*n] - shift;
                gradient.extend([(*n, 2.0 * normal), (m, -2.0 * normal)]);
                for (i, row) in form.chunks(size).enumerate() {
                    let pull = dot(row, &reactions[*first..first + size]);
                    gradient.push((first + i, -2.0 * pull));
                    for (j, x) in row.iter().enumerate() {
                        curvature[(first + i) * (m + 1) + first + j] += 2.0 * x / level;
                    }
                }
                for (i, j, s) in [(*n, *n, 1.0), (*n, m, -1.0), (m, *n, -1.0), (m, m, 1.0)] {
                    curvature[i * (m + 1) + j] -= 2.0 * s / level;
                }
            }
        }
        for &(i, g) in &gradient {
            slope[i] -= g / level;
            for &(j, other) in &gradient {
                curvature[i * (m + 1) + j] += g / level * (other / level);
            }
        }
        true
    }
}

fn quadratic(form: &[f64], f: &[f64]) -> f64 {
    let size = (form.len() as f64).sqrt() as usize;
    let rows = form.chunks(size).zip(f);
    rows.map(|(row, x)| x * dot(row, &f[..size])).sum()
}

/// Reactions strictly inside all walls that differ from the given ones along `idle` directions; none if the given ones are inside, or no others are.
pub(super) fn reactions_inside(
    walls: &[Wall],
    given: &[f64],
    idle: &[Vec<f64>],
    weights: &[f64],
) -> Option<Vec<f64>> {
    let least = |x: &[f64]| {
        walls
            .iter()
            .map(|w| w.depth(x))
            .fold(f64::INFINITY, f64::min)
    };
    let scale = given.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if !(least(given) < 0.0 && scale.is_finite()) {
        return None;
    }
    let mut search = Search {
        walls,
        idle,
        weights,
        reactions: given.iter().map(|x| x / scale).collect(),
        shift: 0.0,
    };
    search.shift = least(&search.reactions) - 1.0;
    search.enter().then(|| {
        search.shift = 0.0;
        search.descend(None);
        search.reactions.iter().map(|x| x * scale).collect()
    })
}

/// A point on the way, in units of the largest reaction given.
struct Search<'a> {
    walls: &'a [Wall],
    idle: &'a [Vec<f64>],
    weights: &'a [f64],
    reactions: Vec<f64>,
    shift: f64,
}

impl Search<'_> {
    /// First phase: raises the shift above zero. False if it stays below.
    fn enter(&mut self) -> bool {
        let mut steep = 1.0;
        while steep <= STEEPEST {
            self.descend(Some(steep));
            // At the centre of this steepness the largest shift is no further off than this.
            let reach = 2.0 * self.walls.len() as f64 / steep;
            if self.shift > 0.0 {
                return true;
            }
            if self.shift + 2.0 * reach < 0.0 {
                return false;
            }
            steep *= 10.0;
        }
        false
    }

    /// Newton's method on the barrier: with a steepness for the largest shift until it is positive, without one for the centre at shift zero.
    fn descend(&mut self, steep: Option<f64>) {
        for _ in 0..100 {
            let Some((slope, mut curvature)) = self.derivatives(steep) else {
                return;
            };
            let mut right: Vec<f64> = slope.iter().map(|x| -x).collect();
            let (step, _) = solve_full_pivoting(&mut curvature, &mut right, None);
            let gain = -dot(&slope, &step);
            if !(gain > 1e-20) || !self.go(&step, gain, steep) || self.is_above(steep) {
                return;
            }
        }
    }

    fn is_above(&self, steep: Option<f64>) -> bool {
        steep.is_some() && self.shift > 0.0
    }

    /// Slope and curvature in the idle directions, and in the shift where it is sought.
    fn derivatives(&self, steep: Option<f64>) -> Option<(Vec<f64>, Vec<f64>)> {
        let m = self.reactions.len();
        let (mut slope, mut curvature) = (vec![0.0; m + 1], vec![0.0; (m + 1) * (m + 1)]);
        for wall in self.walls {
            if !wall.add((&self.reactions, self.shift), &mut slope, &mut curvature) {
                return None;
            }
        }
        match steep {
            Some(steep) => slope[m] -= steep,
            None => {
                for (i, w) in self.weights.iter().enumerate() {
                    slope[i] += w * self.reactions[i];
                    curvature[i * (m + 1) + i] += w;
                }
            }
        }
        let mut directions = self.idle.to_vec();
        directions.iter_mut().for_each(|d| d.push(0.0));
        if steep.is_some() {
            let mut shift = vec![0.0; m + 1];
            shift[m] = 1.0;
            directions.push(shift);
        }
        let reduced = directions.iter().map(|d| dot(d, &slope)).collect();
        let mut square = Vec::new();
        for a in &directions {
            let row: Vec<f64> = curvature.chunks(m + 1).map(|row| dot(row, a)).collect();
            square.extend(directions.iter().map(|b| dot(b, &row)));
        }
        Some((reduced, square))
    }

    fn value(&self, steep: Option<f64>) -> Option<f64> {
        let levels = self
            .walls
            .iter()
            .map(|wall| wall.level(&self.reactions, self.shift));
        let barriers: Option<f64> = levels.map(|level| level.map(|x| -x.ln())).sum();
        let squares = self.weights.iter().zip(&self.reactions);
        let pull = match steep {
            Some(steep) => -steep * self.shift,
            None => 0.5 * squares.map(|(w, x)| w * x * x).sum::<f64>(),
        };
        barriers.map(|b| b + pull)
    }

    /// Goes along a step as far as the value falls; false where it does not.
    fn go(&mut self, step: &[f64], gain: f64, steep: Option<f64>) -> bool {
        let Some(start) = self.value(steep) else {
            return false;
        };
        let (from, shift) = (self.reactions.clone(), self.shift);
        let mut stride = 1.0;
        for _ in 0..60 {
            self.reactions.clone_from(&from);
            for (direction, s) in self.idle.iter().zip(step) {
                let parts = self.reactions.iter_mut().zip(direction);
                parts.for_each(|(x, d)| *x += stride * s * d);
            }
            let raised = steep.map_or(0.0, |_| step[self.idle.len()]);
            self.shift = shift + stride * raised;
            // Near the centre the value is flat to rounding, and a whole step is right.
            let settled = gain < 1e-12 && stride == 1.0;
            if let Some(value) = self.value(steep)
                && (settled || value <= start - 1e-4 * stride * gain)
            {
                return true;
            }
            stride *= 0.5;
        }
        (self.reactions, self.shift) = (from, shift);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block on two feet along a slope: pressures 1 and 4 are known, of the frictions only their sum. Equal shares leave the cone of the lighter foot as soon as the
    /// sum exceeds 2 μ, while all of μ (1 + 4) can be held.
    #[test]
    fn friction_is_shared_by_those_that_can_bear_it() {
        for (section, unit) in [
            (FrictionSection::disc(0.5).unwrap(), vec![0.6, 0.8]),
            (FrictionSection::segment(0.5).unwrap(), vec![1.0]),
            (FrictionSection::interval(-0.1, 0.5).unwrap(), vec![1.0]),
        ] {
            let n = unit.len();
            let mut walls = Vec::new();
            for normal in [0, 1 + n] {
                walls.push(Wall::pressure(normal));
                walls.extend(Wall::friction(&section, normal, normal + 1));
            }
            let mut idle = Vec::new();
            for k in 0..n {
                let mut direction = vec![0.0; 2 + 2 * n];
                (direction[1 + k], direction[2 + n + k]) = (1.0, -1.0);
                idle.push(direction);
            }
            let weights = vec![1.0; 2 + 2 * n];
            for (sum, possible) in [(1.2, true), (2.4, true), (2.499, true), (2.501, false)] {
                let mut given = vec![1.0];
                given.extend(unit.iter().map(|u| 0.5 * sum * u));
                given.push(4.0);
                given.extend(unit.iter().map(|u| 0.5 * sum * u));
                let found = reactions_inside(&walls, &given, &idle, &weights);
                assert_eq!(found.is_some(), possible, "{section:?} {sum}");
                let Some(found) = found else { continue };
                assert!((found[0] - 1.0).abs() < 1e-15 && (found[1 + n] - 4.0).abs() < 1e-15);
                for k in 0..n {
                    let both = found[1 + k] + found[2 + n + k];
                    assert!((both - sum * unit[k]).abs() < 1e-14, "{found:?}");
                }
                assert!(section.gauge(&found[1..=n]) < 1.0, "{found:?}");
                assert!(section.gauge(&found[2 + n..]) < 4.0, "{found:?}");
            }
        }
    }

    /// Between two walls that squeeze, any pressure makes the same motion: the centre is there though there is no largest one.
    #[test]
    fn pressure_without_bound_has_a_centre() {
        let section = FrictionSection::disc(0.5).unwrap();
        let mut walls = Vec::new();
        for normal in [0, 3] {
            walls.push(Wall::pressure(normal));
            walls.extend(Wall::friction(&section, normal, normal + 1));
        }
        // Both walls bear the weight of 2 by friction; they press against each other.
        let given = [0.0, 1.0, 0.0, 0.0, 1.0, 0.0];
        let idle = [
            vec![1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
            vec![0.0, 1.0, 0.0, 0.0, -1.0, 0.0],
        ];
        let found = reactions_inside(&walls, &given, &idle, &[1.0; 6]).unwrap();
        assert!((found[0] - found[3]).abs() < 1e-9 && (found[1] - 1.0).abs() < 1e-9);
        assert!(found[0] > 2.0 && found[0] < 10.0, "{found:?}");
    }
}
