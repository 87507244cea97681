//! The lines of a formulation, tested node by node.

use crate::algebra::{CholeskyFactor, SymmetricMatrix, dot};
use crate::systems::{Instant, MechanicalSystem};

use super::friction::{self, Contact};
use super::{Formulation, Line, Motion, MotionNode, Verification};

/// Tolerances.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifySettings {
    /// Relative tolerance of velocities, impulses and powers.
    pub tolerance: f64,
    /// Gap up to which a contact counts as closed, for motions that are not discrete.
    pub gap_tolerance: f64,
    /// Initial position and left velocity, if they are part of the question.
    pub initial: Option<(Vec<f64>, Vec<f64>)>,
}

impl Default for VerifySettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-7,
            gap_tolerance: 1e-9,
            initial: None,
        }
    }
}

/// Tests every line of `formulation` on `motion`.
pub fn verify(
    system: &dyn MechanicalSystem,
    motion: &Motion,
    formulation: Formulation,
    settings: &VerifySettings,
) -> Verification {
    let mut report = Verification {
        formulation,
        violations: Vec::new(),
        nodes: motion.nodes.len(),
    };
    let mut judge = Judge::new(system, motion, formulation, settings);
    if !judge.applicable(&mut report) || !judge.well_formed(&mut report) {
        return report;
    }
    judge.initial_condition(&mut report);
    for k in 0..motion.nodes.len() {
        judge.place(k);
        judge.gaps(k, &mut report);
        if k > 0 {
            judge.interval(k, &mut report);
        }
        judge.atom(k, &mut report);
    }
    report.violations.sort_by_key(|v| v.line as usize);
    report
}

struct Judge<'a> {
    system: &'a dyn MechanicalSystem,
    motion: &'a Motion,
    formulation: Formulation,
    settings: &'a VerifySettings,
    /// Largest speed and step of the motion.
    speed: f64,
    /// Quantities at the present node.
    mass: SymmetricMatrix,
    rows: Vec<Vec<f64>>,
    delassus: Vec<f64>,
    contacts: Vec<Contact>,
    gap_tolerance: f64,
    gaps: Vec<f64>,
    rates: Vec<f64>,
}

impl<'a> Judge<'a> {
    fn new(
        system: &'a dyn MechanicalSystem,
        motion: &'a Motion,
        formulation: Formulation,
        settings: &'a VerifySettings,
    ) -> Self {
        let speed = motion
            .nodes
            .iter()
            .flat_map(|n| n.v_left.iter().chain(&n.v_right))
            .fold(0.0f64, |s, x| s.max(x.abs()));
        let mut judge = Self {
            system,
            motion,
            formulation,
            settings,
            speed: speed.max(f64::MIN_POSITIVE),
            mass: SymmetricMatrix::zeros(system.dof()),
            rows: Vec::new(),
            delassus: Vec::new(),
            contacts: Vec::new(),
            gap_tolerance: settings.gap_tolerance,
            gaps: Vec::new(),
            rates: Vec::new(),
        };
        judge.speed = judge.speed.max(judge.force_speed());
        judge
    }

    /// Largest velocity that the forces of one step give: the scale of a motion at rest.
    fn force_speed(&self) -> f64 {
        let mut mass = self.mass.clone();
        let fits = |n: &MotionNode| {
            n.q.len() == self.system.coordinate_count() && n.v_right.len() == self.system.dof()
        };
        let pairs = self.motion.nodes.windows(2);
        pairs
            .filter(|pair| fits(&pair[0]))
            .map(|pair| {
                let (a, h) = (&pair[0], pair[1].t - pair[0].t);
                self.system.mass(&a.q, &mut mass);
                let force = self.force(a.t, &a.q, &a.v_right);
                let fastest = force
                    .iter()
                    .enumerate()
                    .map(|(i, f)| (h * f / mass.get(i, i)).abs());
                fastest.filter(|x| x.is_finite()).fold(0.0, f64::max)
            })
            .fold(0.0, f64::max)
    }

    fn applicable(&mut self, report: &mut Verification) -> bool {
        let t = self.motion.nodes.first().map_or(0.0, |n| n.t);
        let constraints = self.system.constraints();
        if self.formulation.one_constraint() && constraints.len() > 1 {
            report.note(Line::Applicable, t, constraints.len() as f64, None);
            return false;
        }
        if self.formulation.particle()
            && let Some(first) = self.motion.nodes.first()
            && first.q.len() == self.system.coordinate_count()
        {
            self.system.mass(&first.q, &mut self.mass);
            let n = self.system.dof();
            let m = self.mass.get(0, 0);
            let off = (0..n * n)
                .map(|e| {
                    let target = if e / n == e % n { m } else { 0.0 };
                    (self.mass.get(e / n, e % n) - target).abs()
                })
                .fold(0.0, f64::max);
            if off > 1e-12 * m.abs() {
                report.note(Line::Applicable, t, off / m, None);
                return false;
            }
        }
        true
    }

    fn rows_count(&self) -> usize {
        self.system
            .constraints()
            .iter()
            .flat_map(|c| c.points())
            .map(|p| 1 + p.law.tangent_dimension())
            .sum()
    }

    fn well_formed(&self, report: &mut Verification) -> bool {
        let (n, c, m) = (
            self.system.dof(),
            self.system.coordinate_count(),
            self.rows_count(),
        );
        let mut fine = !self.motion.nodes.is_empty();
        let mut last = f64::NEG_INFINITY;
        for node in &self.motion.nodes {
            let sizes = node.q.len() == c
                && node.v_left.len() == n
                && node.v_right.len() == n
                && [&node.smooth, &node.atom]
                    .iter()
                    .all(|r| r.is_empty() || r.len() == m);
            let numbers = [
                &node.q,
                &node.v_left,
                &node.v_right,
                &node.smooth,
                &node.atom,
            ];
            let finite =
                node.t.is_finite() && numbers.iter().all(|x| x.iter().all(|y| y.is_finite()));
            if !(sizes && finite && node.t > last) {
                report.note(Line::WellFormed, node.t, f64::INFINITY, None);
                fine = false;
            }
            last = node.t;
        }
        fine
    }

    fn initial_condition(&self, report: &mut Verification) {
        let Some((q, v)) = &self.settings.initial else {
            return;
        };
        let first = &self.motion.nodes[0];
        let apart = |a: &[f64], b: &[f64]| {
            a.iter()
                .zip(b)
                .map(|(a, b)| (a - b).abs() / (1.0 + b.abs()))
                .fold(0.0, f64::max)
        };
        let size = apart(&first.q, q).max(apart(&first.v_left, v));
        if !(size <= self.settings.tolerance) {
            report.note(Line::InitialCondition, first.t, size, None);
        }
    }

    /// Mass, rows, W and gaps at node k.
    fn place(&mut self, k: usize) {
        let node = &self.motion.nodes[k];
        let n = self.system.dof();
        let step = if k > 0 {
            node.t - self.motion.nodes[k - 1].t
        } else {
            0.0
        };
        self.gap_tolerance = if self.motion.discrete {
            self.settings.gap_tolerance.max(4.0 * step * self.speed)
        } else {
            self.settings.gap_tolerance
        };
        self.system.mass(&node.q, &mut self.mass);
        self.rows.clear();
        self.contacts.clear();
        self.gaps.clear();
        self.rates.clear();
        for (index, constraint) in self.system.constraints().iter().enumerate() {
            let mut gradient = vec![0.0; n];
            let gap = constraint.gap().value(node.t, &node.q);
            constraint.gap().gradient(node.t, &node.q, &mut gradient);
            self.gaps.push(gap);
            self.rates.push(constraint.gap().rate(node.t, &node.q));
            for point in constraint.points() {
                let size = 1 + point.law.tangent_dimension();
                let all = 1 + point.frame.tangent_count();
                let mut rows = vec![0.0; all * n];
                point.frame.rows(node.t, &node.q, &gradient, &mut rows);
                let section = point.law.section_at(node.t, &node.q).unwrap_or_default();
                self.contacts.push(Contact {
                    start: self.rows.len(),
                    size,
                    section,
                    constraint: index,
                    restitution: point.law.impact().restitution(),
                    closed: gap <= self.gap_tolerance,
                });
                self.rows
                    .extend(rows.chunks(n).take(size).map(<[f64]>::to_vec));
            }
        }
        let m = self.rows.len();
        let mut factor = CholeskyFactor::default();
        self.delassus = vec![0.0; m * m];
        if factor.factor(&self.mass).is_err() {
            return;
        }
        for j in 0..m {
            let mut response = self.rows[j].clone();
            factor.solve_in_place(&mut response);
            for i in 0..m {
                self.delassus[i * m + j] = dot(&self.rows[i], &response);
            }
        }
    }

    fn local(&self, v: &[f64]) -> Vec<f64> {
        let mut u: Vec<f64> = self.rows.iter().map(|r| dot(r, v)).collect();
        for contact in &self.contacts {
            u[contact.start] += self.rates[contact.constraint];
        }
        u
    }

    fn name(&self, constraint: usize) -> Option<&'a str> {
        Some(self.system.constraints()[constraint].name())
    }

    fn gaps(&self, k: usize, report: &mut Verification) {
        let t = self.motion.nodes[k].t;
        for (index, &gap) in self.gaps.iter().enumerate() {
            if gap < -self.gap_tolerance {
                report.note(Line::NonPenetration, t, -gap, self.name(index));
            }
        }
    }

    /// Force f_tot at an instant.
    fn force(&self, t: f64, q: &[f64], v: &[f64]) -> Vec<f64> {
        let n = self.system.dof();
        let mut total = vec![0.0; n];
        let mut part = vec![0.0; n];
        self.system.force(&Instant::new(t, q, v), &mut total);
        if self.system.has_potential() {
            self.system.potential_gradient(q, &mut part);
            total.iter_mut().zip(&part).for_each(|(f, g)| *f -= g);
        }
        if self.system.has_covariant_force() {
            self.system.covariant_force(q, v, &mut part);
            total.iter_mut().zip(&part).for_each(|(f, g)| *f += g);
        }
        if let Some(linear) = self.system.linear_part() {
            if let Some(stiffness) = &linear.stiffness {
                stiffness.multiply_add(-1.0, q, &mut total);
            }
            if let Some(damping) = &linear.damping {
                damping.multiply_add(-1.0, v, &mut total);
            }
        }
        total
    }

    /// Kinematics, equation of motion and friction of the interval that ends at node k.
    fn interval(&self, k: usize, report: &mut Verification) {
        let (a, b) = (&self.motion.nodes[k - 1], &self.motion.nodes[k]);
        let h = b.t - a.t;
        let n = self.system.dof();
        // Positions: between the displacements of the velocities met in the interval.
        if self.system.coordinate_count() == n {
            for i in 0..n {
                let moved = (b.q[i] - a.q[i]) / h;
                let ends = [a.v_right[i], b.v_left[i], b.v_right[i]];
                let (low, high) = ends
                    .iter()
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, u), &x| {
                        (l.min(x), u.max(x))
                    });
                let slack = self.settings.tolerance * self.speed.max(b.q[i].abs() / h * 1e-6);
                let off = (low - moved).max(moved - high);
                if off > slack {
                    report.note(Line::Kinematics, b.t, off / self.speed, None);
                }
            }
        }
        // Momentum: the force lies between its values at the ends.
        let (fa, fb) = (
            self.force(a.t, &a.q, &a.v_right),
            self.force(b.t, &b.q, &b.v_left),
        );
        let change: Vec<f64> = b
            .v_left
            .iter()
            .zip(&a.v_right)
            .map(|(x, y)| x - y)
            .collect();
        let mut momentum = vec![0.0; n];
        self.mass.multiply(&change, &mut momentum);
        if self.whole_step(a, b) {
            return;
        }
        let mut reaction = vec![0.0; n];
        for (row, p) in self.rows.iter().zip(&b.smooth) {
            reaction.iter_mut().zip(row).for_each(|(r, x)| *r += p * x);
        }
        let joints = self.joint_space(b);
        let mut defect: Vec<f64> = (0..n)
            .map(|i| momentum[i] - 0.5 * h * (fa[i] + fb[i]) - reaction[i])
            .collect();
        remove(&mut defect, &joints);
        let scale = self.mass.get(0, 0).abs() * self.speed;
        // A component of the force that turns within a step of a run has equal values at the ends
        // and another between them: there the force as a whole tells how far it moves.
        let moved = |i: usize| (fa[i] - fb[i]).abs();
        let whole = (0..n).map(moved).fold(0.0, f64::max);
        for i in 0..n {
            let variation = if self.motion.discrete {
                whole
            } else {
                moved(i)
            };
            let slack = h * variation
                + self.settings.tolerance
                    * (scale + momentum[i].abs() + h * fa[i].abs() + reaction[i].abs());
            if !(defect[i].abs() <= slack) {
                report.note(Line::EquationOfMotion, b.t, defect[i].abs() / scale, None);
            }
        }
        if b.smooth.iter().any(|&p| p != 0.0) {
            let mean: Vec<f64> = a
                .v_right
                .iter()
                .zip(&b.v_left)
                .map(|(x, y)| 0.5 * (x + y))
                .collect();
            self.reaction_laws(
                b.t,
                &b.smooth,
                &self.local(&mean),
                &self.local(&mean),
                report,
            );
            if self.formulation.dissipative() {
                let velocity = self.local(&mean);
                let work = dot(&b.smooth, &velocity);
                let energy = scale * self.speed;
                if work > self.settings.tolerance * energy {
                    report.note(Line::Dissipation, b.t, work / energy, None);
                }
            }
        }
    }

    /// Whether the momentum of a whole discrete step is right: M (v⁺ − v₀⁺) = h f + p with f between its values at both
    /// ends. An implicit scheme shares its stiffness out between the two parts of the step.
    fn whole_step(&self, a: &MotionNode, b: &MotionNode) -> bool {
        if !self.motion.discrete {
            return false;
        }
        let (h, n) = (b.t - a.t, self.system.dof());
        let (fa, fb) = (
            self.force(a.t, &a.q, &a.v_right),
            self.force(b.t, &b.q, &b.v_right),
        );
        let change: Vec<f64> = (b.v_right.iter().zip(&a.v_right))
            .map(|(x, y)| x - y)
            .collect();
        let mut defect = vec![0.0; n];
        self.mass.multiply(&change, &mut defect);
        let scale = self.mass.get(0, 0).abs() * self.speed;
        let slack: Vec<f64> = (0..n)
            .map(|i| {
                let size = scale + defect[i].abs() + h * fa[i].abs();
                h * (fa[i] - fb[i]).abs() + self.settings.tolerance * size
            })
            .collect();
        for (row, p) in self.rows.iter().zip(&b.atom) {
            defect.iter_mut().zip(row).for_each(|(d, x)| *d -= p * x);
        }
        for i in 0..n {
            defect[i] -= 0.5 * h * (fa[i] + fb[i]);
        }
        remove(&mut defect, &self.joint_space(b));
        defect.iter().zip(&slack).all(|(d, s)| d.abs() <= *s)
    }

    /// Rows of the joints at a node.
    fn joint_space(&self, node: &MotionNode) -> Vec<Vec<f64>> {
        self.system
            .joints()
            .iter()
            .map(|joint| {
                let mut row = vec![0.0; self.system.dof()];
                joint.function().gradient(node.t, &node.q, &mut row);
                row
            })
            .collect()
    }

    /// Impact equation and laws at node k.
    fn atom(&self, k: usize, report: &mut Verification) {
        let node = &self.motion.nodes[k];
        let n = self.system.dof();
        let jump: Vec<f64> = node
            .v_right
            .iter()
            .zip(&node.v_left)
            .map(|(a, b)| a - b)
            .collect();
        let mut defect = vec![0.0; n];
        self.mass.multiply(&jump, &mut defect);
        for (row, p) in self.rows.iter().zip(&node.atom) {
            defect.iter_mut().zip(row).for_each(|(d, x)| *d -= p * x);
        }
        remove(&mut defect, &self.joint_space(node));
        let scale = (0..n).map(|i| self.mass.get(i, i)).fold(0.0, f64::max) * self.speed;
        let worst = defect.iter().fold(0.0f64, |s, x| s.max(x.abs()));
        let whole = k > 0 && self.whole_step(&self.motion.nodes[k - 1], node);
        if !(worst <= self.settings.tolerance * scale) && !whole {
            report.note(Line::ImpactEquation, node.t, worst / scale, None);
        }
        let (before, after) = (self.approach(k), self.local(&node.v_right));
        for contact in self.contacts.iter().filter(|c| c.closed) {
            let u = after[contact.start];
            let size = self.delassus_scale(contact.start) * self.speed;
            // A discrete contact may be felt closed before it is.
            let limit = if self.motion.discrete {
                1e-12
            } else {
                self.settings.gap_tolerance
            };
            let touching = self.gaps[contact.constraint] <= limit;
            if touching && u < -self.settings.tolerance * size.max(self.speed) {
                report.note(
                    Line::Admissible,
                    node.t,
                    -u / self.speed,
                    self.name(contact.constraint),
                );
            }
        }
        if node.atom.iter().any(|&p| p != 0.0) {
            let mean: Vec<f64> = after
                .iter()
                .zip(&before)
                .map(|(a, b)| 0.5 * (a + b))
                .collect();
            self.reaction_laws(node.t, &node.atom, &mean, &after, report);
            self.impact_law(node, &before, &after, report);
            if self.formulation.dissipative() {
                let left = self.local(&node.v_left);
                let work: f64 = (0..node.atom.len())
                    .map(|i| 0.5 * node.atom[i] * (left[i] + after[i]))
                    .sum();
                let energy = scale * self.speed;
                if work > self.settings.tolerance * energy {
                    report.note(Line::Dissipation, node.t, work / energy, None);
                }
            }
        }
    }

    /// Local velocity with which the contacts are approached: the left velocity, or in a discrete
    /// motion the velocity at the start of the step, which carries no weight of the step.
    fn approach(&self, k: usize) -> Vec<f64> {
        if self.motion.discrete && k > 0 {
            self.local(&self.motion.nodes[k - 1].v_right)
        } else {
            self.local(&self.motion.nodes[k].v_left)
        }
    }

    fn delassus_scale(&self, i: usize) -> f64 {
        let m = self.rows.len();
        self.delassus[i * m + i].max(0.0).sqrt()
    }

    /// Complementarity, sign, cone and friction law of a reaction; Frémond's law reads the mean velocity
    /// at impacts, in lasting contact the one after.
    fn reaction_laws(
        &self,
        t: f64,
        p: &[f64],
        mean: &[f64],
        after: &[f64],
        report: &mut Verification,
    ) {
        let m = self.rows.len();
        let size = p.iter().fold(0.0f64, |s, x| s.max(x.abs()));
        let tolerance = self.settings.tolerance;
        let impulse_slack = tolerance * size;
        for contact in &self.contacts {
            let own = &p[contact.start..contact.start + contact.size];
            if !contact.closed && own.iter().any(|x| x.abs() > impulse_slack) {
                let gap = self.gaps[contact.constraint];
                report.note(Line::Complementarity, t, gap, self.name(contact.constraint));
            }
            if self.formulation == Formulation::P2
                && own[1..].iter().any(|x| x.abs() > impulse_slack)
            {
                report.note(Line::FrictionCone, t, 1.0, self.name(contact.constraint));
            }
        }
        let power = size * after.iter().fold(self.speed * 1e-3, |s, x| s.max(x.abs()));
        if self.formulation.generalized() {
            // A discrete contact within its slack may already take part in the normal space, or not yet.
            let touches = |c: &&Contact| {
                let own = &p[c.start..c.start + c.size];
                self.gaps[c.constraint] <= self.settings.gap_tolerance
                    || own.iter().any(|x| x.abs() > impulse_slack)
            };
            let closed: Vec<&Contact> = self.contacts.iter().filter(|c| c.closed).collect();
            let touching: Vec<&Contact> = closed.iter().copied().filter(touches).collect();
            if closed.is_empty() {
                return;
            }
            let judged = |set: &[&Contact]| {
                let motion = (after, self.speed);
                let (defects, _) = friction::generalized(set, &self.delassus, p, motion);
                let worst = defects.iter().fold(0.0f64, |s, d| {
                    s.max(d.normal / size).max(d.cone / size).max(d.law / power)
                });
                (defects, worst)
            };
            let (mut set, (mut defects, worst)) = (&closed, judged(&closed));
            if !touching.is_empty() && touching.len() < closed.len() {
                let (others, least) = judged(&touching);
                if least < worst || worst.is_nan() {
                    (set, defects) = (&touching, others);
                }
            }
            for (contact, defect) in set.iter().zip(defects) {
                self.note_defect(
                    t,
                    contact,
                    defect,
                    (impulse_slack, size),
                    (tolerance * power, power),
                    report,
                );
            }
            return;
        }
        for contact in self.contacts.iter().filter(|c| c.closed) {
            let range = contact.start..contact.start + contact.size;
            let tangents = range.start + 1..range.end;
            let mut defect = friction::real(contact, &p[range.clone()], &after[tangents.clone()]);
            if self.formulation == Formulation::Fremond {
                let mean = friction::real(contact, &p[range.clone()], &mean[tangents]);
                defect.law = defect.law.min(mean.law);
            }
            if self.formulation == Formulation::P2 {
                (defect.cone, defect.law) = (0.0, 0.0);
            }
            // The variational form is that of contact that lasts: no normal velocity after.
            let slow = tolerance * self.speed;
            if self.formulation.particle() && after[contact.start].abs() <= slow {
                let off = friction::variational(contact, &p[range.clone()], &after[range.clone()]);
                if off > 10.0 * tolerance * power {
                    report.note(
                        Line::Variational,
                        t,
                        off / power,
                        self.name(contact.constraint),
                    );
                }
            }
            self.note_defect(
                t,
                contact,
                defect,
                (impulse_slack, size),
                (tolerance * power, power),
                report,
            );
        }
        debug_assert_eq!(p.len(), m);
    }

    fn note_defect(
        &self,
        t: f64,
        contact: &Contact,
        defect: friction::FrictionDefect,
        (impulse_slack, size): (f64, f64),
        (power_slack, power): (f64, f64),
        report: &mut Verification,
    ) {
        let name = self.name(contact.constraint);
        if !(defect.normal <= impulse_slack) {
            report.note(Line::NormalSign, t, defect.normal / size, name);
        }
        if !(defect.cone <= 10.0 * impulse_slack) {
            report.note(Line::FrictionCone, t, defect.cone / size, name);
        }
        if !(defect.law <= 10.0 * power_slack) {
            report.note(Line::FrictionLaw, t, defect.law / power, name);
        }
    }

    /// u_n⁺ = −e u_n⁻ where a contact was approached and carries an impulse, 0 where it only rested.
    fn impact_law(
        &self,
        node: &MotionNode,
        before: &[f64],
        after: &[f64],
        report: &mut Verification,
    ) {
        let size = node.atom.iter().fold(0.0f64, |s, x| s.max(x.abs()));
        for contact in self.contacts.iter().filter(|c| c.closed) {
            let i = contact.start;
            let own = &node.atom[i..i + contact.size];
            if own
                .iter()
                .all(|x| x.abs() <= self.settings.tolerance * size)
            {
                continue;
            }
            let target = contact.restitution * (-before[i]).max(0.0);
            let off = if self.contacts.len() > 1 {
                // Several constraints: one that is pushed may open faster than its own law asks.
                (target - after[i]).max(0.0)
            } else {
                (after[i] - target).abs()
            };
            let slack = self.settings.tolerance * self.speed * self.delassus_scale(i).max(1.0);
            if !(off <= slack) {
                report.note(
                    Line::ImpactLaw,
                    node.t,
                    off / self.speed,
                    self.name(contact.constraint),
                );
            }
        }
    }
}

/// Removes the part of a covector along the rows of perfect joints (Euclidean, row by row).
fn remove(x: &mut [f64], rows: &[Vec<f64>]) {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for row in rows {
        let mut direction = row.clone();
        for b in &basis {
            let c = dot(b, &direction);
            direction.iter_mut().zip(b).for_each(|(d, b)| *d -= c * b);
        }
        let length = dot(&direction, &direction).sqrt();
        if length > 1e-12 {
            direction.iter_mut().for_each(|d| *d /= length);
            basis.push(direction);
        }
    }
    for b in &basis {
        let c = dot(b, x);
        x.iter_mut().zip(b).for_each(|(x, b)| *x -= c * b);
    }
}
