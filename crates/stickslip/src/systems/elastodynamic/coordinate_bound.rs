//! Bounds on coordinates, the contacts of systems made of matrices.

use crate::algebra::Covectors;
use crate::laws::ContactLaw;
use crate::systems::functions::{FrameRows, ScalarFunction};
use crate::systems::{ContactFrame, UnilateralConstraint};

/// The gap `sign (q_i − bound)` and a frame of coordinate directions.
#[derive(Clone, Debug)]
struct CoordinateBound {
    coordinate: usize,
    sign: f64,
    bound: f64,
    slides: Vec<usize>,
    dof: usize,
}

/// Contact that keeps coordinate `coordinate` of `dof` above (or below) a bound, with friction along
/// the coordinates `slides`.
///
/// # Panics
/// If a coordinate is not less than `dof`.
pub fn bounded_coordinate(
    name: &str,
    (coordinate, dof): (usize, usize),
    (above, bound): (bool, f64),
    slides: &[usize],
    law: ContactLaw,
) -> UnilateralConstraint {
    assert!(
        coordinate < dof && slides.iter().all(|&k| k < dof),
        "coordinates of a bound lie in the system"
    );
    let pair = CoordinateBound {
        coordinate,
        sign: if above { 1.0 } else { -1.0 },
        bound,
        slides: slides.to_vec(),
        dof,
    };
    let frame = ContactFrame::Material {
        count: slides.len(),
        rows: Box::new(pair.clone()),
    };
    UnilateralConstraint::new(name.to_string(), pair).with_point(frame, law)
}

impl ScalarFunction for CoordinateBound {
    fn value(&self, _t: f64, q: &[f64]) -> f64 {
        self.sign * (q[self.coordinate] - self.bound)
    }
    fn gradient(&self, _t: f64, _q: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        out[self.coordinate] = self.sign;
    }
    fn sparse_gradient(&self, _t: f64, _q: &[f64], out: &mut Covectors) -> bool {
        out.push_entry(self.coordinate, self.sign);
        out.finish_row();
        true
    }
    fn magnitude(&self, _t: f64, _q: &[f64]) -> f64 {
        self.bound.abs()
    }
    fn is_affine(&self) -> bool {
        true
    }
}

impl FrameRows for CoordinateBound {
    fn rows(&self, _t: f64, _q: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let entries = std::iter::once((self.coordinate, self.sign));
        let entries = entries.chain(self.slides.iter().map(|&k| (k, 1.0)));
        for (row, (k, value)) in out.chunks_mut(self.dof).zip(entries) {
            row[k] = value;
        }
    }
    fn sparse_rows(&self, _t: f64, _q: &[f64], out: &mut Covectors) -> bool {
        out.push_entry(self.coordinate, self.sign);
        out.finish_row();
        for &k in &self.slides {
            out.push_entry(k, 1.0);
            out.finish_row();
        }
        true
    }
}
