//! Friction cones as images of half-lines and round cones.

use crate::laws::FrictionSection;

/// K = {Σ x_j columns_j}, x in a product of half-lines and Lorentz cones, with equations among the x.
#[derive(Debug, Default)]
pub(super) struct Generators {
    /// Sizes of the cones; 1 is a half-line.
    pub cones: Vec<usize>,
    /// One per variable: a normal impulse and its tangential ones.
    pub columns: Vec<Vec<f64>>,
    /// Coefficients of the variables, whose sums vanish.
    pub equations: Vec<Vec<f64>>,
}

/// The cone of a section in a block of `size` rows; none for a set of a user.
pub(super) fn generators(section: &FrictionSection, size: usize) -> Option<Generators> {
    let mut found = Generators::default();
    found.enter(section, (1.0, 1), size).then_some(found)
}

impl Generators {
    /// Adds the cone of `factor` times a section, whose rows begin at `at`; false for a set of a user.
    fn enter(
        &mut self,
        section: &FrictionSection,
        (factor, at): (f64, usize),
        size: usize,
    ) -> bool {
        let axis = |normal: f64, tangent: &[f64]| {
            let mut column = vec![0.0; size];
            column[0] = normal;
            let rows = column[at.min(size)..].iter_mut().zip(tangent);
            rows.for_each(|(row, t)| *row = factor * t);
            column
        };
        if section.is_frictionless() || factor == 0.0 {
            self.ray(axis(1.0, &[]));
            return true;
        }
        match section {
            FrictionSection::None => self.ray(axis(1.0, &[])),
            FrictionSection::Disc { mu, dimension } if *dimension > 1 => {
                let unit = |k: usize| {
                    let mut tangent = vec![0.0; *dimension];
                    tangent[k] = *mu;
                    axis(0.0, &tangent)
                };
                let tangents: Vec<Vec<f64>> = (0..*dimension).map(unit).collect();
                self.round(axis(1.0, &[]), tangents);
            }
            FrictionSection::Disc { .. } | FrictionSection::Interval { .. } => {
                let Some((lower, upper)) = section.ends() else {
                    return false;
                };
                for end in [lower, upper] {
                    // Without end: friction needs no normal impulse.
                    self.ray(match end.is_finite() {
                        true => axis(1.0, &[end]),
                        false => axis(0.0, &[end.signum()]),
                    });
                }
                if lower.is_infinite() && upper.is_infinite() {
                    self.ray(axis(1.0, &[]));
                }
            }
            FrictionSection::Ellipse { map: [x, y] } => {
                let tangents = vec![axis(0.0, &[x[0], y[0]]), axis(0.0, &[x[1], y[1]])];
                self.round(axis(1.0, &[]), tangents);
            }
            FrictionSection::Polytope { polytope, scale } => {
                for vertex in polytope.vertices() {
                    let point: Vec<f64> = vertex.iter().map(|x| scale * x).collect();
                    self.ray(axis(1.0, &point));
                }
            }
            FrictionSection::Hull { parts, scale } => {
                let mut at = at;
                for part in parts.iter() {
                    if !self.enter(part, (factor * scale, at), size) {
                        return false;
                    }
                    at += part.dimension();
                }
            }
            FrictionSection::Product { factors, scale } => {
                return self.enter_product(factors, (factor * scale, at), size);
            }
            FrictionSection::General { .. } => return false,
        }
        true
    }

    /// A product: every factor has the same normal impulse, which counts once.
    fn enter_product(
        &mut self,
        factors: &[FrictionSection],
        (factor, mut at): (f64, usize),
        size: usize,
    ) -> bool {
        let first = self.columns.len();
        let mut shared: Option<Vec<f64>> = None;
        for part in factors {
            let begin = self.columns.len();
            if !self.enter(part, (factor, at), size) {
                return false;
            }
            at += part.dimension();
            let own: Vec<f64> = self.columns[begin..].iter().map(|c| c[0]).collect();
            let Some(shared) = &shared else {
                shared = Some(own);
                continue;
            };
            self.columns[begin..].iter_mut().for_each(|c| c[0] = 0.0);
            let mut equation = vec![0.0; first];
            equation.extend(shared);
            equation.resize(begin, 0.0);
            equation.extend(own.iter().map(|x| -x));
            self.equations.push(equation);
        }
        true
    }

    fn ray(&mut self, column: Vec<f64>) {
        self.cones.push(1);
        self.columns.push(column);
    }

    fn round(&mut self, axis: Vec<f64>, tangents: Vec<Vec<f64>>) {
        self.cones.push(1 + tangents.len());
        self.columns.push(axis);
        self.columns.extend(tangents);
    }

    /// Gives every cone a variable in which its block W of the response has the largest diagonal 1.
    pub fn scale(&mut self, w: impl Fn(usize, usize) -> f64) {
        let mut start = 0;
        for &size in &self.cones {
            let range = start..start + size;
            let squares = self.columns[range.clone()].iter().map(|c| {
                let rows = c.iter().enumerate();
                rows.map(|(i, x)| {
                    let parts = c.iter().enumerate();
                    x * parts.map(|(j, y)| w(i, j) * y).sum::<f64>()
                })
                .sum::<f64>()
            });
            let unit = squares.fold(0.0, f64::max).sqrt();
            if unit > 0.0 {
                let columns = self.columns[range.clone()].iter_mut().flatten();
                columns.for_each(|x| *x /= unit);
                for equation in &mut self.equations {
                    let own = equation.iter_mut().skip(start).take(size);
                    own.for_each(|x| *x /= unit);
                }
            }
            start += size;
        }
    }
}
