//! Energy accounts of elastic systems per body and per contact surface, and contact fields.

use std::ops::Range;
use std::sync::Arc;

use crate::algebra::Covectors;
use crate::records::StepRecord;
use crate::stepping::InternalForce;
use crate::systems::elastodynamic::ContactFields;
use crate::systems::{ElasticScratch, ElastodynamicSystem, MechanicalSystem};

use super::{BodyAccount, ElasticAccounts, SurfaceAccount};

/// Energy accounts per body and per contact surface.
///
/// # What it computes
/// For every connected part b, with the same θ as the scheme,
/// `ΔT_b + ΔV_b = W_ext,b + W_damp,b + D_b + W_N,b + W_T,b + W_S,b + W_P,b` (the last two of moving obstacles and of the projection of positions); for every surface the sums of W_N and W_T.
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
/// Several bodies that are stepped by another scheme than the theta scheme have accounts of their surfaces
/// only. With finite strain the numerical part holds the integration defect of the potential.
///
/// # Cost
/// A single body has the account of the run; several cost a few products with the matrices per step.
///
/// # Tested by
/// `tests/elastic_truths.rs`, `tests/elastic_gallery.rs`.
pub struct ElasticLedger {
    system: Arc<ElastodynamicSystem>,
    /// Constraints of every surface.
    ranges: Vec<Range<usize>>,
    theta: f64,
    internal: InternalForce,
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    accounts: ElasticAccounts,
}

impl ElasticLedger {
    /// Accounts of a system stepped with θ, from its initial state.
    pub fn new(
        system: Arc<ElastodynamicSystem>,
        theta: f64,
        (t, q, v): (f64, &[f64], &[f64]),
    ) -> Self {
        let mut ledger = Self::of_surfaces(system, (t, q, v));
        ledger.theta = theta;
        let bodies = ledger.system.bodies().iter();
        let names: Vec<String> = bodies.map(|body| body.name.clone()).collect();
        let (kinetic, elastic) = match names.len() {
            1 => {
                let linear = ledger.system.linear_part();
                let elastic = linear.map_or(0.0, |linear| {
                    linear.elastic_energy(q, &mut ElasticScratch::default())
                });
                let kinetic = 0.5 * ledger.system.mass_matrix().bilinear(v, v);
                (vec![kinetic], vec![elastic + ledger.system.potential(q)])
            }
            _ => (ledger.kinetic(v), ledger.elastic(q)),
        };
        for (name, (kinetic, elastic)) in names.into_iter().zip(kinetic.into_iter().zip(elastic)) {
            ledger.accounts.bodies.push(BodyAccount {
                name,
                start: kinetic + elastic,
                kinetic,
                elastic,
                ..BodyAccount::default()
            });
        }
        ledger
    }

    /// The internal force of the scheme at finite strain (that at θ if not told).
    #[must_use]
    pub fn with_internal_force(mut self, internal: InternalForce) -> Self {
        self.internal = internal;
        self
    }

    /// Accounts of the surfaces only, for any scheme.
    pub(crate) fn of_surfaces(
        system: Arc<ElastodynamicSystem>,
        (t, q, v): (f64, &[f64], &[f64]),
    ) -> Self {
        // Every contact of a system of matrices is a surface of its own.
        let ranges: Vec<Range<usize>> = match system.surfaces() {
            [] => (0..system.constraints().len()).map(|c| c..c + 1).collect(),
            surfaces => surfaces.iter().map(|s| s.constraints.clone()).collect(),
        };
        let name = |k: usize| match system.surfaces() {
            [] => system.constraints()[k].name().to_string(),
            surfaces => surfaces[k].name.clone(),
        };
        let surfaces = (0..ranges.len()).map(|k| SurfaceAccount {
            name: name(k),
            ..SurfaceAccount::default()
        });
        let surfaces = surfaces.collect();
        Self {
            system,
            ranges,
            theta: 0.5,
            internal: InternalForce::default(),
            t,
            q: q.to_vec(),
            v: v.to_vec(),
            accounts: ElasticAccounts {
                bodies: Vec::new(),
                surfaces,
            },
        }
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

    /// Elastic energy of every body.
    fn elastic(&self, q: &[f64]) -> Vec<f64> {
        let finite = self.system.finite_energies(q);
        finite.unwrap_or_else(|| self.linear_energy(q))
    }

    /// ΔV − Δq·f of every body at finite strain, with the internal force f of the scheme.
    fn potential_defect(
        &self,
        (h, end): (f64, &[f64]),
        v_theta: &[f64],
        energy: &[f64],
    ) -> Vec<f64> {
        let mut force = vec![0.0; self.q.len()];
        let discrete = self.internal == InternalForce::DiscreteGradient
            && h != 0.0
            && self.system.discrete_gradient(&self.q, end, &mut force);
        if !discrete {
            let reach = h * self.theta;
            let middle = self.q.iter().zip(v_theta).map(|(q, v)| q + reach * v);
            let middle: Vec<f64> = middle.collect();
            self.system.potential_gradient(&middle, &mut force);
        }
        let works = self.per_body(v_theta, &force);
        let before = self.accounts.bodies.iter().map(|body| body.elastic);
        let change = energy
            .iter()
            .zip(before)
            .map(|(after, before)| after - before);
        change
            .zip(works)
            .map(|(change, work)| change - h * work)
            .collect()
    }

    fn linear_energy(&self, q: &[f64]) -> Vec<f64> {
        let mut force = vec![0.0; q.len()];
        let Some(linear) = self.system.linear_part() else {
            return vec![0.0; self.system.bodies().len()];
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
        match self.accounts.bodies.len() {
            0 => {}
            1 => self.observe_whole(record),
            _ => self.observe_bodies(record),
        }
        self.t = record.t;
        self.q.clone_from(&record.q);
        self.v.clone_from(&record.velocity);
    }

    /// The account of a single body is that of the run.
    fn observe_whole(&mut self, record: &StepRecord) {
        let entry = &record.energy;
        self.accounts.bodies[0].enter(&BodyAccount {
            kinetic: record.kinetic,
            elastic: record.potential,
            external: entry.external,
            damping: entry.damping,
            numerical: entry.numerical_mass
                + entry.numerical_stiffness
                + entry.potential_defect
                + entry.covariant_defect,
            contact_normal: entry.contact_normal,
            contact_tangential: entry.contact_tangential,
            supports: entry.supports,
            projection: entry.projection,
            ..BodyAccount::default()
        });
    }

    fn observe_bodies(&mut self, record: &StepRecord) {
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
        // The scheme's own end of the step, before positions were projected.
        let free = match record.projection.as_slice() {
            [] => record.q.clone(),
            moved => difference(&record.q, moved),
        };
        let dq = difference(&free, &self.q);
        let (mass, stiffness) = (self.kinetic(&dv), self.linear_energy(&dq));
        let [mut normal, mut tangential] = self.contact_works(record, &v_theta);
        let mut supports = vec![0.0; normal.len()];
        for (body, [n, t]) in self.support_works(record) {
            normal[body] -= n;
            tangential[body] -= t;
            supports[body] += n + t;
        }
        let (kinetic, elastic) = (self.kinetic(&record.velocity), self.elastic(&record.q));
        let elastic_free = self.elastic(&free);
        let defect = if self.system.has_potential() {
            self.potential_defect((h, &free), &v_theta, &elastic_free)
        } else {
            vec![0.0; elastic.len()]
        };
        for (b, body) in self.accounts.bodies.iter_mut().enumerate() {
            body.enter(&BodyAccount {
                kinetic: kinetic[b],
                elastic: elastic[b],
                external: external[b],
                damping: -h * damping[b],
                numerical: (1.0 - 2.0 * theta) * (mass[b] + stiffness[b]) + defect[b],
                contact_normal: normal[b],
                contact_tangential: tangential[b],
                supports: supports[b],
                projection: elastic[b] - elastic_free[b],
                ..BodyAccount::default()
            });
        }
    }

    /// Works of moving obstacles, with the body each acts on.
    fn support_works(&self, record: &StepRecord) -> Vec<(usize, [f64; 2])> {
        let moved = record
            .contacts
            .iter()
            .filter(|c| c.work_support != [0.0; 2]);
        let bodies = self.system.bodies();
        let mut gradient = vec![0.0; self.q.len()];
        moved
            .filter_map(|contact| {
                let constraint = &self.system.constraints()[contact.key.constraint()];
                constraint.gap().gradient(self.t, &self.q, &mut gradient);
                let dof = gradient.iter().position(|&g| g != 0.0)? as u32;
                let body = bodies.iter().position(|body| body.dofs.contains(&dof))?;
                Some((body, contact.work_support))
            })
            .collect()
    }

    /// Works of normal and friction impulses on each body, from the rows where the step read them: at its start, or along
    /// its path where positions are corrected.
    fn contact_works(&self, record: &StepRecord, v_theta: &[f64]) -> [Vec<f64>; 2] {
        let n = v_theta.len();
        let reach = match record.projection.as_slice() {
            [] => 0.0,
            _ => (1.0 - self.theta) * record.h,
        };
        let (t, q) = (self.t + reach, self.q.iter().zip(&self.v));
        let q: Vec<f64> = q.map(|(q, v)| q + reach * v).collect();
        let mut impulses = [vec![0.0; n], vec![0.0; n]];
        let (mut gradient, mut rows) = (Covectors::default(), Covectors::default());
        for contact in &record.contacts {
            let p = &record.impulses[contact.start..contact.start + contact.size];
            if p.iter().all(|&p| p == 0.0) {
                continue;
            }
            let constraint = &self.system.constraints()[contact.key.constraint()];
            gradient.clear_sparse(n);
            if !constraint.gap().sparse_gradient(t, &q, &mut gradient) {
                let mut dense = vec![0.0; n];
                constraint.gap().gradient(t, &q, &mut dense);
                gradient.push_nonzeros(&dense);
            }
            rows.clear_sparse(n);
            let frame = &constraint.points()[contact.key.point()].frame;
            frame.sparse_rows(t, &q, (&gradient, 0), &mut rows);
            for (i, &p) in p.iter().enumerate() {
                rows.add_to(i, p, &mut impulses[usize::from(i > 0)]);
            }
        }
        impulses.map(|impulse| self.per_body(&impulse, v_theta))
    }

    fn observe_surfaces(&mut self, record: &StepRecord) {
        for (range, account) in self.ranges.iter().zip(&mut self.accounts.surfaces) {
            account.closed = 0;
            for contact in &record.contacts {
                if !range.contains(&contact.key.constraint()) {
                    continue;
                }
                let [normal, tangential] = contact.relative_works();
                account.normal += normal;
                account.tangential += tangential;
                account.largest_normal = account.largest_normal.max(normal);
                account.largest_tangential = account.largest_tangential.max(tangential);
                let p = record.impulses[contact.start];
                account.impulse += p;
                account.closed += usize::from(p > 0.0);
            }
        }
    }

    /// Goes on from accounts that a checkpoint kept, at the state it kept; `false` if they are those of
    /// another system.
    #[doc(hidden)]
    pub fn restore(&mut self, accounts: ElasticAccounts, (t, q, v): (f64, &[f64], &[f64])) -> bool {
        let own = &self.accounts;
        let fits = accounts.bodies.len() == own.bodies.len()
            && accounts.surfaces.len() == own.surfaces.len();
        if fits {
            self.accounts = accounts;
            self.t = t;
            self.q.copy_from_slice(q);
            self.v.copy_from_slice(v);
        }
        fits
    }

    /// All accounts.
    #[doc(hidden)]
    pub fn accounts(&self) -> &ElasticAccounts {
        &self.accounts
    }

    /// Accounts of the bodies.
    pub fn bodies(&self) -> &[BodyAccount] {
        &self.accounts.bodies
    }

    /// Accounts of the surfaces.
    pub fn surfaces(&self) -> &[SurfaceAccount] {
        &self.accounts.surfaces
    }

    /// Names of the columns of a trajectory that hold the accounts.
    pub fn columns(&self) -> Vec<String> {
        let mut names = Vec::new();
        for body in self.bodies() {
            let terms = body.terms().map(|(term, _)| term);
            names.extend(terms.map(|term| format!("{}.{term}", body.name)));
        }
        for surface in self.surfaces() {
            names.extend(["work_n", "work_t"].map(|term| format!("{}.{term}", surface.name)));
        }
        names
    }

    /// Writes the numbers under [`Self::columns`].
    pub(crate) fn write_row(&self, out: &mut Vec<f64>) {
        out.clear();
        for body in self.bodies() {
            out.extend(body.terms().map(|(_, value)| value));
        }
        for surface in self.surfaces() {
            out.extend([surface.normal, surface.tangential]);
        }
    }
}

/// Contact pressure, gap and mode of every node after a step, for files and pictures.
pub fn contact_fields(system: &ElastodynamicSystem, record: &StepRecord) -> ContactFields {
    let mut fields = ContactFields::empty(system.nodes().len());
    for surface in system.surfaces() {
        for contact in &record.contacts {
            if surface.constraints.contains(&contact.key.constraint()) {
                let k = contact.key.constraint() - surface.constraints.start;
                let p = record.impulses[contact.start];
                let force = if record.h > 0.0 { p / record.h } else { 0.0 };
                let mode = f64::from(contact.mode.code());
                fields.enter(surface, k, (force, contact.gap, mode));
            }
        }
    }
    fields
}
