//! Everything a line reads of the system at one time and configuration.

use crate::algebra::{CholeskyFactor, PivotedCholesky, SymmetricMatrix, dot};
use crate::laws::SetUnit;
use crate::systems::{ElasticScratch, Instant, MechanicalSystem};

use super::friction::Contact;

/// Rounding of a gap in units of the numbers that cancel in it.
pub(super) const GAP_ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Mass, contact rows, W and gaps at (t, q).
pub(super) struct Place {
    pub mass: SymmetricMatrix,
    /// Contact rows, normal first, and the local velocity at v = 0 of each.
    pub rows: Vec<Vec<f64>>,
    drift: Vec<f64>,
    /// W = Hᵀ M⁻¹ H of the closed contacts, or `Hᵀ A⁻¹ H` ([`Self::measure_in`]), with joints held.
    pub delassus: Vec<f64>,
    pub contacts: Vec<Contact>,
    /// Per constraint: gap, gradient, rate at rest, rounding of the gap.
    pub gaps: Vec<f64>,
    pub gradients: Vec<Vec<f64>>,
    pub rates: Vec<f64>,
    pub roundings: Vec<f64>,
    /// Rows of the joints.
    pub joints: Vec<Vec<f64>>,
    /// What the turning of the normal along a step adds to the local velocity before it, per row.
    pub turning: Vec<f64>,
}

impl Place {
    /// The place (t, q), to which friction that remembers comes with the velocity v; all contacts are open.
    pub fn at(system: &dyn MechanicalSystem, t: f64, q: &[f64], v: &[f64]) -> Self {
        let n = system.dof();
        let mut place = Self {
            mass: system.new_matrix(),
            rows: Vec::new(),
            drift: Vec::new(),
            delassus: Vec::new(),
            contacts: Vec::new(),
            gaps: Vec::new(),
            gradients: Vec::new(),
            rates: Vec::new(),
            roundings: Vec::new(),
            joints: joint_rows(system, t, q),
            turning: Vec::new(),
        };
        system.mass(q, &mut place.mass);
        let past = system.past();
        let at = Instant {
            past,
            ..Instant::new(t, q, v)
        };
        for (index, constraint) in system.constraints().iter().enumerate() {
            let mut gradient = vec![0.0; n];
            constraint.gap().gradient(t, q, &mut gradient);
            let size: f64 = gradient.iter().zip(q).map(|(g, q)| (g * q).abs()).sum();
            let size = size + constraint.gap().magnitude(t, q);
            place.roundings.push(GAP_ROUNDING * size);
            place.gaps.push(constraint.gap().value(t, q));
            place.rates.push(constraint.gap().rate(t, q));
            for (number, point) in constraint.points().iter().enumerate() {
                let size = 1 + point.law.tangent_dimension();
                let all = 1 + point.frame.tangent_count();
                let (mut rows, mut drift) = (vec![0.0; all * n], vec![0.0; all]);
                point.frame.rows(t, q, &gradient, &mut rows);
                point.frame.drift(constraint.gap(), t, q, &mut drift);
                let rule = point.law.flow_rule();
                let rule = rule.generalized();
                place.contacts.push(Contact {
                    start: place.rows.len(),
                    size,
                    section: point.section_at(&at).unwrap_or_default(),
                    unit: rule.map_or(SetUnit::default(), |rule| rule.unit),
                    constraint: index,
                    point: number,
                    restitution: point.law.impact().restitution(),
                    closed: false,
                    sure: false,
                });
                let rows = rows.chunks(n).take(size).map(<[f64]>::to_vec);
                place.rows.extend(rows);
                place.drift.extend(drift.into_iter().take(size));
            }
            place.gradients.push(gradient);
        }
        place
    }

    /// Closes contacts and computes their W, which is zero where the mass is not definite.
    pub fn close(&mut self, closing: impl Fn(&Self, &Contact) -> (bool, bool)) {
        for k in 0..self.contacts.len() {
            let (closed, sure) = closing(self, &self.contacts[k]);
            self.contacts[k].closed = closed;
            self.contacts[k].sure = sure;
        }
        self.condense(None);
    }

    /// Contacts of the given constraints may take part, too.
    pub fn admit(&mut self, constraints: &[bool]) {
        for contact in &mut self.contacts {
            contact.closed |= constraints[contact.constraint];
        }
        self.condense(None);
    }

    /// Takes the W of the closed contacts with the operator A of a step in place of M.
    pub fn measure_in(&mut self, operator: &SymmetricMatrix) {
        self.condense(Some(operator));
    }

    fn condense(&mut self, operator: Option<&SymmetricMatrix>) {
        let m = self.rows.len();
        self.delassus = vec![0.0; m * m];
        if self.contacts.iter().all(|c| !c.closed) {
            return;
        }
        let mut factor = CholeskyFactor::default();
        if factor.factor(operator.unwrap_or(&self.mass)).is_err() {
            return;
        }
        let respond = |row: &Vec<f64>| {
            let mut response = row.clone();
            factor.solve_in_place(&mut response);
            response
        };
        let held: Vec<Vec<f64>> = self.joints.iter().map(respond).collect();
        let count = held.len();
        let gram: Vec<f64> = (0..count * count)
            .map(|e| dot(&self.joints[e / count], &held[e % count]))
            .collect();
        let mut joint_factor = PivotedCholesky::default();
        if count > 0 {
            joint_factor.factor(count, &gram);
        }
        let closed = self.contacts.iter().filter(|c| c.closed);
        let wanted: Vec<usize> = closed.flat_map(|c| c.start..c.start + c.size).collect();
        for &j in &wanted {
            let mut response = respond(&self.rows[j]);
            if count > 0 {
                let mut part: Vec<f64> = self.joints.iter().map(|b| dot(b, &response)).collect();
                joint_factor.solve_in_place(&mut part);
                for (x, c) in held.iter().zip(&part) {
                    response.iter_mut().zip(x).for_each(|(r, x)| *r -= c * x);
                }
            }
            for &i in &wanted {
                self.delassus[i * m + j] = dot(&self.rows[i], &response);
            }
        }
    }

    /// Local velocities of v.
    pub fn local(&self, v: &[f64]) -> Vec<f64> {
        let rows = self.rows.iter().zip(&self.drift);
        rows.map(|(r, d)| dot(r, v) + d).collect()
    }

    /// Size of the numbers that are summed in the local velocity of v in row i.
    pub fn local_size(&self, i: usize, v: &[f64]) -> f64 {
        let parts = self.rows[i].iter().zip(v).map(|(r, v)| (r * v).abs());
        parts.sum::<f64>() + self.drift[i].abs()
    }

    /// Splits the normal velocities of v here into an approach with the rate that `start` tells per constraint and the
    /// turning of the normal since; `gradients` are those that the approach is scaled by.
    pub fn split_turning(&mut self, v: &[f64], start: &[f64], gradients: &[Vec<f64>]) {
        let local = self.local(v);
        self.turning = vec![0.0; local.len()];
        for contact in &self.contacts {
            let (i, gradient) = (contact.start, &gradients[contact.constraint]);
            let square = dot(gradient, gradient);
            if square > 0.0 {
                let part = dot(&self.rows[i], gradient) / square;
                self.turning[i] = local[i] - part * start[contact.constraint];
            }
        }
    }

    /// Per constraint: whether one of its contacts is closed or has an impulse.
    pub fn taking_part(&self, impulse: &[f64]) -> Vec<bool> {
        let mut taking = vec![false; self.gaps.len()];
        for contact in &self.contacts {
            let pushed = impulse.get(contact.start).is_some_and(|&p| p != 0.0);
            taking[contact.constraint] |= contact.closed || pushed;
        }
        taking
    }

    /// The velocity v without what the impulses of a constraint gave it.
    pub fn without(&self, constraint: usize, impulse: &[f64], v: &[f64]) -> Vec<f64> {
        let mut own = vec![0.0; v.len()];
        let contacts = self.contacts.iter().filter(|c| c.constraint == constraint);
        for i in contacts.flat_map(|c| c.start..c.start + c.size) {
            let p = impulse.get(i).copied().unwrap_or(0.0);
            own.iter_mut()
                .zip(&self.rows[i])
                .for_each(|(o, r)| *o += p * r);
        }
        let mut factor = CholeskyFactor::default();
        if own.iter().all(|&x| x == 0.0) || factor.factor(&self.mass).is_err() {
            return v.to_vec();
        }
        factor.solve_in_place(&mut own);
        v.iter().zip(&own).map(|(v, o)| v - o).collect()
    }

    /// Gaps, rates and friction sections are those of `other`; rows stay.
    pub fn judge_gaps_of(&mut self, other: &Self) {
        self.gaps.clone_from(&other.gaps);
        self.gradients.clone_from(&other.gradients);
        self.rates.clone_from(&other.rates);
        self.roundings.clone_from(&other.roundings);
        for (own, there) in self.contacts.iter_mut().zip(&other.contacts) {
            own.section = there.section.clone();
        }
    }

    /// Rate of a gap for the velocity v.
    pub fn gap_rate(&self, constraint: usize, v: &[f64]) -> f64 {
        dot(&self.gradients[constraint], v) + self.rates[constraint]
    }

    /// √W_ii: what a unit of kinetic speed can be in row i.
    pub fn reach(&self, i: usize) -> f64 {
        self.delassus[i * self.rows.len() + i].max(0.0).sqrt()
    }

    /// Largest rate of a velocity variable at this kinetic speed.
    pub fn fastest_rate(&self, speed: f64) -> f64 {
        let least = (0..self.mass.order()).map(|i| self.mass.get(i, i));
        speed
            / least
                .fold(f64::INFINITY, f64::min)
                .max(f64::MIN_POSITIVE)
                .sqrt()
    }

    /// Bound of row · v over velocities of kinetic speed 1, by the diagonal of the mass.
    pub fn velocity_reach(&self, row: &[f64]) -> f64 {
        let parts = row.iter().enumerate();
        parts
            .map(|(i, g)| g.abs() / self.mass.get(i, i).max(f64::MIN_POSITIVE).sqrt())
            .sum()
    }

    /// Largest length of a gap, the numbers that cancel in it and its value, per unit of kinetic speed of its rate.
    pub fn longest(&self) -> f64 {
        let lengths = self.roundings.iter().zip(&self.gaps).zip(&self.gradients);
        lengths
            .map(|((rounding, gap), row)| {
                let reach = self.velocity_reach(row);
                let length = rounding / GAP_ROUNDING + gap.abs();
                if reach > 0.0 { length / reach } else { 0.0 }
            })
            .fold(0.0, f64::max)
    }

    /// Generalized impulse of local impulses.
    pub fn generalized_impulse(&self, p: &[f64]) -> Vec<f64> {
        let mut total = vec![0.0; self.mass.order()];
        for (row, p) in self.rows.iter().zip(p) {
            total.iter_mut().zip(row).for_each(|(r, x)| *r += p * x);
        }
        total
    }
}

/// Rows of the joints at (t, q).
fn joint_rows(system: &dyn MechanicalSystem, t: f64, q: &[f64]) -> Vec<Vec<f64>> {
    let row = |joint: &crate::systems::BilateralConstraint| {
        let mut row = vec![0.0; system.dof()];
        joint.function().gradient(t, q, &mut row);
        row
    };
    system.joints().iter().map(row).collect()
}

/// Force f_tot at an instant.
pub(super) fn force(system: &dyn MechanicalSystem, t: f64, q: &[f64], v: &[f64]) -> Vec<f64> {
    let mut gradient = vec![0.0; system.dof()];
    if system.has_potential() {
        system.potential_gradient(q, &mut gradient);
    }
    force_beside(system, (t, q, v), &gradient)
}

/// Force f_tot at an instant (t, q, v), with the given gradient of the potential.
pub(super) fn force_beside(
    system: &dyn MechanicalSystem,
    (t, q, v): (f64, &[f64], &[f64]),
    gradient: &[f64],
) -> Vec<f64> {
    let n = system.dof();
    let mut total = vec![0.0; n];
    let mut part = vec![0.0; n];
    system.force(&Instant::new(t, q, v), &mut total);
    total.iter_mut().zip(gradient).for_each(|(f, g)| *f -= g);
    if system.has_covariant_force() {
        system.covariant_force(q, v, &mut part);
        total.iter_mut().zip(&part).for_each(|(f, g)| *f += g);
    }
    if let Some(linear) = system.linear_part() {
        if linear.stiffness.is_some() {
            linear.elastic_force(q, &mut ElasticScratch::default(), &mut part);
            total.iter_mut().zip(&part).for_each(|(f, k)| *f -= k);
        }
        if let Some(damping) = &linear.damping {
            damping.multiply_add(-1.0, v, &mut total);
        }
    }
    total
}

/// Removes the part of a covector along the rows of perfect joints (Euclidean, row by row).
pub(super) fn remove(x: &mut [f64], rows: &[Vec<f64>]) {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for row in rows {
        let mut direction = row.clone();
        for b in &basis {
            let c = dot(b, &direction);
            direction.iter_mut().zip(b).for_each(|(d, b)| *d -= c * b);
        }
        let length = dot(&direction, &direction).sqrt();
        if length > 1e-12 * dot(row, row).sqrt() {
            direction.iter_mut().for_each(|d| *d /= length);
            basis.push(direction);
        }
    }
    for b in &basis {
        let c = dot(b, x);
        x.iter_mut().zip(b).for_each(|(x, b)| *x -= c * b);
    }
}
