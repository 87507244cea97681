//! The configurations and velocities that joints allow, near one configuration.
//!
//! Steps are those of least kinetic energy in the metric of that configuration: with G the rows of the joints there,
//! `d = M⁻¹Gᵀ (G M⁻¹ Gᵀ)⁻¹ c` has `G d = c`.

use crate::algebra::{CholeskyFactor, PivotedCholesky, dot};
use crate::systems::MechanicalSystem;

use super::StudyError;

/// Newton's method doubles the digits: what takes more rounds goes elsewhere.
const ROUNDS: usize = 12;
/// Velocities of joints up to this part of their terms are the rounding of what people write.
pub(super) const ROUNDED: f64 = 1e-9;
/// Values of joints up to so many roundings of their terms are zero.
const CLOSED: f64 = 4.0;

/// The joints of a system around a configuration.
pub(super) struct JointSurface<'a> {
    system: &'a dyn MechanicalSystem,
    mass: CholeskyFactor,
}

/// Rows of the joints at a place, and what moves each of them.
struct Rows {
    values: Vec<f64>,
    responses: Vec<f64>,
    factor: PivotedCholesky,
}

impl<'a> JointSurface<'a> {
    /// The joints around q; refused where they depend on each other: then their rows do not tell which motions they allow.
    pub fn new(system: &'a dyn MechanicalSystem, q: &[f64]) -> Result<Self, StudyError> {
        let mut matrix = system.new_matrix();
        system.mass(q, &mut matrix);
        let mut mass = CholeskyFactor::default();
        // A step at a place without a mass has no contacts.
        (mass.factor(&matrix)).map_err(|_| StudyError::NotOneContact { blocks: 0 })?;
        let surface = Self { system, mass };
        let joints = system.joints();
        // The first that those before it determine.
        let dependent = (1..=joints.len()).find(|&k| surface.rows(q, k).factor.rank() < k);
        match dependent {
            Some(k) => Err(StudyError::DependentJoints {
                joint: joints[k - 1].name().to_string(),
            }),
            None => Ok(surface),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.system.joints().is_empty()
    }

    /// The first `count` rows at a place.
    fn rows(&self, place: &[f64], count: usize) -> Rows {
        let n = self.system.dof();
        let mut values = vec![0.0; count * n];
        for (joint, row) in self.system.joints().iter().zip(values.chunks_mut(n)) {
            joint.function().gradient(0.0, place, row);
        }
        let mut responses = values.clone();
        for response in responses.chunks_mut(n) {
            self.mass.solve_in_place(response);
        }
        let schur: Vec<f64> = (values.chunks(n))
            .flat_map(|row| responses.chunks(n).map(|response| dot(row, response)))
            .collect();
        let mut factor = PivotedCholesky::default();
        factor.factor(count, &schur);
        Rows {
            values,
            responses,
            factor,
        }
    }

    fn all_rows(&self, place: &[f64]) -> Rows {
        self.rows(place, self.system.joints().len())
    }

    /// The place to which a displacement leads.
    pub fn displace(&self, q: &[f64], way: &[f64], place: &mut [f64]) {
        self.system.displace(q, way, 1.0, place);
    }

    /// Whether a velocity leaves the joints closed, but for its rounding.
    pub fn allows(&self, q: &[f64], v: &[f64]) -> bool {
        let rows = self.all_rows(q);
        let joints = self.system.joints().iter();
        (joints.zip(rows.values.chunks(v.len()))).all(|(joint, row)| {
            let rate = joint.function().rate(0.0, q);
            let terms = row.iter().zip(v).map(|(g, v)| (g * v).abs());
            (dot(row, v) + rate).abs() <= ROUNDED * (terms.sum::<f64>() + rate.abs())
        })
    }

    /// The velocity that an impulse along a covector makes.
    pub fn response(&self, place: &[f64], covector: &[f64]) -> Vec<f64> {
        let mut response = covector.to_vec();
        self.mass.solve_in_place(&mut response);
        self.allow(place, &mut response);
        response
    }

    /// Takes from a displacement or a response what the joints at `place` do not allow.
    pub fn allow(&self, place: &[f64], step: &mut [f64]) {
        if !self.is_empty() {
            let mut rows = self.all_rows(place);
            rows.meet(|_| 0.0, step);
        }
    }

    /// The same of a velocity, beside joints that move.
    pub fn allow_velocity(&self, place: &[f64], velocity: &mut [f64]) {
        if !self.is_empty() {
            let joints = self.system.joints();
            let mut rows = self.all_rows(place);
            rows.meet(|k| -joints[k].function().rate(0.0, place), velocity);
        }
    }

    /// Brings a place onto the joints and adds its displacement to `way`: to how much of each joint is known there, or none where Newton's method
    /// does not lead to them.
    pub fn reach(&self, place: &mut [f64], way: &mut [f64]) -> Option<Vec<f64>> {
        if self.is_empty() {
            return Some(Vec::new());
        }
        let mut last = vec![f64::INFINITY; self.system.joints().len()];
        for _ in 0..ROUNDS {
            let mut rows = self.all_rows(place);
            let values = self.values(place);
            let rounding: Vec<f64> = (0..last.len())
                .map(|k| CLOSED * self.rounding(&rows, k, place))
                .collect();
            // What Newton's method lessens no more is rounding, too: that of terms which the rows do not tell, as of cos(a) - 1.
            let ended =
                |k: usize| values[k].abs() <= rounding[k] || values[k].abs() >= 0.5 * last[k];
            if (0..last.len()).all(ended) {
                let far = |k: usize| {
                    values[k].abs() > rounding[k] && self.is_far(&rows, k, values[k], way)
                };
                let found = rows.factor.rank() == last.len() && !(0..last.len()).any(far);
                let known = rounding.iter().zip(&values).map(|(r, g)| r.max(g.abs()));
                return found.then(|| known.collect());
            }
            let mut step = vec![0.0; way.len()];
            rows.meet(|k| -values[k], &mut step);
            let from = place.to_owned();
            self.system.displace(&from, &step, 1.0, place);
            way.iter_mut()
                .zip(&step)
                .for_each(|(way, step)| *way += step);
            last = values.iter().map(|g| g.abs()).collect();
        }
        None
    }

    /// Whether a joint is left by more than a thousandth of the way made.
    fn is_far(&self, rows: &Rows, joint: usize, value: f64, way: &[f64]) -> bool {
        let n = way.len();
        let row = &rows.values[joint * n..(joint + 1) * n];
        !(value.abs() <= 1e-3 * (dot(row, row) * dot(way, way)).sqrt())
    }

    /// Displacements that alter one joint each by what is known of it: where a place may as well be.
    pub fn doubts(&self, place: &[f64], known: &[f64]) -> Vec<Vec<f64>> {
        let mut doubts = Vec::with_capacity(known.len());
        if !known.is_empty() {
            let mut rows = self.all_rows(place);
            for joint in 0..known.len() {
                let mut step = vec![0.0; self.system.dof()];
                let altered = |k: usize| if k == joint { 2.0 * known[k] } else { 0.0 };
                rows.meet(altered, &mut step);
                doubts.push(step);
            }
        }
        doubts
    }

    /// The kinetic length of a covector, without joints.
    pub fn free_size(&self, covector: &[f64]) -> f64 {
        let mut response = covector.to_vec();
        self.mass.solve_in_place(&mut response);
        dot(covector, &response).sqrt()
    }

    /// How much larger the terms of γ are than W_NN, since the joints take most of what impulses would do without them: `rows` of a contact, normal
    /// first, with the parts of a unit impulse along them.
    pub fn cancels(&self, q: &[f64], rows: &[Vec<f64>], parts: &[f64]) -> f64 {
        if self.is_empty() {
            return 1.0;
        }
        let free = |row: &Vec<f64>| self.free_size(row);
        let terms: f64 = (rows.iter().zip(parts))
            .map(|(row, part)| part.abs() * free(row))
            .sum();
        let held = dot(&rows[0], &self.response(q, &rows[0]));
        (free(&rows[0]) * terms / held).max(1.0)
    }

    fn values(&self, place: &[f64]) -> Vec<f64> {
        let joints = self.system.joints().iter();
        joints.map(|j| j.function().value(0.0, place)).collect()
    }

    fn rounding(&self, rows: &Rows, joint: usize, place: &[f64]) -> f64 {
        let n = self.system.dof();
        let row = &rows.values[joint * n..(joint + 1) * n];
        let magnitude = self.system.joints()[joint].function().magnitude(0.0, place);
        f64::EPSILON * (terms(row, place) + magnitude)
    }
}

/// Size of the numbers that cancel in a function with this gradient: products of lengths and angles alone, which have one unit, where each coordinate
/// has its velocity.
pub(super) fn terms(gradient: &[f64], place: &[f64]) -> f64 {
    if gradient.len() == place.len() {
        let products = gradient.iter().zip(place);
        products.map(|(g, q)| (g * q).abs()).sum()
    } else {
        (dot(gradient, gradient) * dot(place, place)).sqrt()
    }
}

impl Rows {
    /// Adds to `x` the step of least kinetic energy after which `G x` is the target.
    fn meet(&mut self, target: impl Fn(usize) -> f64, x: &mut [f64]) {
        let n = x.len();
        let rows = self.values.chunks(n).enumerate();
        let mut missing: Vec<f64> = rows.map(|(k, row)| target(k) - dot(row, x)).collect();
        self.factor.solve_in_place(&mut missing);
        for (response, multiplier) in self.responses.chunks(n).zip(&missing) {
            x.iter_mut()
                .zip(response)
                .for_each(|(x, r)| *x += multiplier * r);
        }
    }
}
