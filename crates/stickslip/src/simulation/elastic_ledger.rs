//! Energy accounts of elastic systems per body and per contact surface, and contact fields.

use std::sync::Arc;

use crate::algebra::Covectors;
use crate::records::StepRecord;
use crate::systems::elastodynamic::ContactFields;
use crate::systems::{ElastodynamicSystem, MechanicalSystem};

/// Sums of one connected part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodyAccount {
    /// Kinetic energy at the end of the last step.
    pub kinetic: f64,
    /// Elastic energy at the end of the last step.
    pub elastic: f64,
    /// Work of loads and given motions.
    pub external: f64,
    /// Work of damping.
    pub damping: f64,
    /// Numerical dissipation of the scheme.
    pub numerical: f64,
    /// Work of contact impulses on this body.
    pub contact: f64,
    /// Largest imbalance of one step.
    pub worst_imbalance: f64,
}

/// Sums of one contact surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceAccount {
    /// Name of the surface.
    pub name: String,
    /// Work of normal impulses.
    pub normal: f64,
    /// Work of friction impulses.
    pub tangential: f64,
    /// Largest (signed) work of the normal impulse of one contact in one step.
    pub largest_normal: f64,
    /// Largest (signed) work of the friction impulse of one contact in one step.
    pub largest_tangential: f64,
    /// Sum of normal impulses.
    pub impulse: f64,
    /// Number of contacts that carried an impulse in the last step.
    pub closed: usize,
}

/// Energy accounts per body and per contact surface.
///
/// # What it computes
/// For every connected part b, with the same θ as the scheme,
/// `ΔT_b + ΔV_b = W_ext,b + W_damp,b + D_b + W_contact,b`; for every surface the sums of W_N and W_T.
///
/// # Source
/// [AcaryCollinsCraft2023], the energy balance of the scheme restricted to the degrees of freedom
/// of one body, on which M, K and C are uncoupled from the others.
///
/// # Guarantees
/// The accounts of all bodies add up to that of the run; the contact works of a pair of bodies add
/// up to those of their surface.
///
/// # Behaviour to know
/// Elastic energy is that of the linear stiffness; with finite strain only surfaces are accounted.
///
/// # Cost
/// A few products with the matrices per step.
///
/// # Tested by
/// `tests/elastic_truths.rs`.
pub struct ElasticLedger {
    system: Arc<ElastodynamicSystem>,
    theta: f64,
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    bodies: Vec<BodyAccount>,
    surfaces: Vec<SurfaceAccount>,
    started: bool,
}

impl ElasticLedger {
    /// Accounts of a system stepped with θ, from its initial state.
    pub fn new(
        system: Arc<ElastodynamicSystem>,
        theta: f64,
        (t, q, v): (f64, &[f64], &[f64]),
    ) -> Self {
        let surfaces = system
            .surfaces()
            .iter()
            .map(|surface| SurfaceAccount {
                name: surface.name.clone(),
                largest_normal: f64::NEG_INFINITY,
                largest_tangential: f64::NEG_INFINITY,
                ..SurfaceAccount::default()
            })
            .collect();
        let mut ledger = Self {
            bodies: vec![BodyAccount::default(); system.bodies().len()],
            surfaces,
            system,
            theta,
            t,
            q: q.to_vec(),
            v: v.to_vec(),
            started: false,
        };
        let (kinetic, elastic) = (ledger.kinetic(v), ledger.elastic(q));
        for (b, body) in ledger.bodies.iter_mut().enumerate() {
            (body.kinetic, body.elastic) = (kinetic[b], elastic[b]);
        }
        ledger.started = true;
        ledger
    }

    /// Sum over the degrees of freedom of every body.
    fn per_body(&self, x: &[f64], y: &[f64]) -> Vec<f64> {
        self.system
            .bodies()
            .iter()
            .map(|body| {
                body.dofs
                    .iter()
                    .map(|&d| x[d as usize] * y[d as usize])
                    .sum()
            })
            .collect()
    }

    fn kinetic(&self, v: &[f64]) -> Vec<f64> {
        let mut momentum = vec![0.0; v.len()];
        self.system.mass_matrix().multiply(v, &mut momentum);
        let twice = self.per_body(v, &momentum);
        twice.into_iter().map(|x| 0.5 * x).collect()
    }

    fn elastic(&self, q: &[f64]) -> Vec<f64> {
        let mut force = vec![0.0; q.len()];
        let Some(linear) = self.system.linear_part() else {
            return vec![0.0; self.bodies.len()];
        };
        let mut scratch = Vec::new();
        let relative = linear.relative(q, &mut scratch);
        if let Some(stiffness) = &linear.stiffness {
            stiffness.multiply_compensated(relative, &mut force);
        }
        let twice = self.per_body(relative, &force);
        twice.into_iter().map(|x| 0.5 * x).collect()
    }

    /// Enters a step.
    pub fn observe(&mut self, record: &StepRecord) {
        self.observe_surfaces(record);
        let (theta, h, n) = (self.theta, record.h, self.q.len());
        let v_theta: Vec<f64> = self
            .v
            .iter()
            .zip(&record.velocity)
            .map(|(a, b)| (1.0 - theta) * a + theta * b)
            .collect();
        // Loads and damping.
        let (mut start, mut end) = (vec![0.0; n], vec![0.0; n]);
        self.system.load(self.t, &mut start);
        self.system.load(record.t, &mut end);
        for (s, e) in start.iter_mut().zip(&end) {
            *s = h * ((1.0 - theta) * *s + theta * e);
        }
        let external = self.per_body(&v_theta, &start);
        let mut work = vec![0.0; n];
        let linear = self.system.linear_part();
        if let Some(damping) = linear.and_then(|linear| linear.damping.as_ref()) {
            damping.multiply(&v_theta, &mut work);
        }
        let damping = self.per_body(&v_theta, &work);
        // Numerical dissipation.
        let difference =
            |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
        let dv = difference(&record.velocity, &self.v);
        let dq = difference(&record.q, &self.q);
        let (mass, stiffness) = (self.kinetic(&dv), self.elastic(&dq));
        let contact = self.contact_work(record, &v_theta);
        let (kinetic, elastic) = (self.kinetic(&record.velocity), self.elastic(&record.q));
        for (b, body) in self.bodies.iter_mut().enumerate() {
            let numerical = (1.0 - 2.0 * theta) * (mass[b] + stiffness[b]);
            let supply = external[b] - h * damping[b] + numerical + contact[b];
            let change = kinetic[b] - body.kinetic + elastic[b] - body.elastic;
            body.worst_imbalance = body.worst_imbalance.max((change - supply).abs());
            body.kinetic = kinetic[b];
            body.elastic = elastic[b];
            body.external += external[b];
            body.damping -= h * damping[b];
            body.numerical += numerical;
            body.contact += contact[b];
        }
        self.t = record.t;
        self.q.clone_from(&record.q);
        self.v.clone_from(&record.velocity);
    }

    /// Work of the contact impulses on each body, from the rows at the start of the step.
    fn contact_work(&self, record: &StepRecord, v_theta: &[f64]) -> Vec<f64> {
        let n = v_theta.len();
        let mut impulse = vec![0.0; n];
        let (mut gradient, mut rows) = (Covectors::default(), Covectors::default());
        for contact in &record.contacts {
            let p = &record.impulses[contact.start..contact.start + contact.size];
            if p.iter().all(|&p| p == 0.0) {
                continue;
            }
            let constraint = &self.system.constraints()[contact.constraint];
            gradient.clear_sparse(n);
            if !constraint
                .gap()
                .sparse_gradient(self.t, &self.q, &mut gradient)
            {
                let mut dense = vec![0.0; n];
                constraint.gap().gradient(self.t, &self.q, &mut dense);
                gradient.push_nonzeros(&dense);
            }
            rows.clear_sparse(n);
            let frame = &constraint.points()[contact.point].frame;
            frame.sparse_rows(self.t, &self.q, (&gradient, 0), &mut rows);
            for (i, &p) in p.iter().enumerate() {
                rows.add_to(i, p, &mut impulse);
            }
        }
        self.per_body(&impulse, v_theta)
    }

    fn observe_surfaces(&mut self, record: &StepRecord) {
        for (surface, account) in self.system.surfaces().iter().zip(&mut self.surfaces) {
            account.closed = 0;
            for contact in &record.contacts {
                if !surface.constraints.contains(&contact.constraint) {
                    continue;
                }
                account.normal += contact.work_normal;
                account.tangential += contact.work_tangential;
                account.largest_normal = account.largest_normal.max(contact.work_normal);
                account.largest_tangential =
                    account.largest_tangential.max(contact.work_tangential);
                let p = record.impulses[contact.start];
                account.impulse += p;
                account.closed += usize::from(p > 0.0);
            }
        }
    }

    /// Accounts of the bodies.
    pub fn bodies(&self) -> &[BodyAccount] {
        &self.bodies
    }

    /// Accounts of the surfaces.
    pub fn surfaces(&self) -> &[SurfaceAccount] {
        &self.surfaces
    }
}

/// Contact pressure, gap and mode of every node after a step, for files and pictures.
pub fn contact_fields(system: &ElastodynamicSystem, record: &StepRecord) -> ContactFields {
    let mut fields = ContactFields::empty(system.nodes().len());
    for surface in system.surfaces() {
        for contact in &record.contacts {
            if surface.constraints.contains(&contact.constraint) {
                let k = contact.constraint - surface.constraints.start;
                let p = record.impulses[contact.start];
                let force = if record.h > 0.0 { p / record.h } else { 0.0 };
                let mode = f64::from(contact.mode.code());
                fields.enter(surface, k, (force, contact.gap, mode));
            }
        }
    }
    fields
}
