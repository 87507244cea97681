//! The judge of a motion: what is asked, the scale of the motion, and the lines that every motion has.

use std::sync::Arc;

use crate::algebra::CholeskyFactor;
use crate::laws::ImpactRule;
use crate::systems::MechanicalSystem;

use super::past::Past;
use super::place::{Place, force};
use super::{Formulation, Line, Motion, MotionNode, Verification};

/// What is asked, and how precisely.
#[derive(Clone, Debug)]
pub struct VerifySettings {
    /// Relative tolerance of velocities, impulses and powers.
    pub tolerance: f64,
    /// Gap up to which a contact counts as closed, for motions that are not runs.
    pub gap_tolerance: f64,
    /// Initial position and left velocity, if they are part of the question.
    pub initial: Option<(Vec<f64>, Vec<f64>)>,
    /// Time of the initial condition.
    pub t_start: f64,
    /// Impact map F, where it is not that of the restitution of the contacts.
    pub impact_map: Option<Arc<dyn ImpactRule>>,
}

impl Default for VerifySettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-7,
            gap_tolerance: 1e-9,
            initial: None,
            t_start: 0.0,
            impact_map: None,
        }
    }
}

/// Tests every line of `formulation` on `motion`.
///
/// A motion without a discretisation is judged as it stands. A run is judged step by step where its scheme states
/// its laws (see [`super::Discretisation`]); then one line alone has a slack of order h, which is derived: a gap may be
/// as negative as the approach within one step and the turning of the normal over the steps in contact make it.
pub fn verify(
    system: &dyn MechanicalSystem,
    motion: &Motion,
    formulation: Formulation,
    settings: &VerifySettings,
) -> Verification {
    let mut report = judged(system, motion, formulation, settings);
    if formulation == Formulation::P4Prime && report.does_not_apply.is_none() {
        let literal = judged(system, motion, Formulation::P4PrimeLiteral, settings);
        report.literal = Some(Box::new(literal));
    }
    report
}

fn judged(
    system: &dyn MechanicalSystem,
    motion: &Motion,
    formulation: Formulation,
    settings: &VerifySettings,
) -> Verification {
    let mut report = Verification {
        formulation,
        does_not_apply: None,
        violations: Vec::new(),
        nodes: motion.nodes.len(),
        literal: None,
    };
    if !well_formed(system, motion, &mut report) {
        return report;
    }
    report.does_not_apply = obstacle(system, motion, formulation);
    if report.does_not_apply.is_some() {
        return report;
    }
    let judge = Judge::new(system, motion, formulation, settings);
    judge.initial_condition(&mut report);
    match motion.discretisation {
        None => judge.exact_motion(&mut report),
        Some(discretisation) => judge.run(discretisation, &mut report),
    }
    report.violations.sort_by_key(|v| v.line as usize);
    report
}

pub(super) struct Judge<'a> {
    pub system: &'a dyn MechanicalSystem,
    pub motion: &'a Motion,
    pub formulation: Formulation,
    pub settings: &'a VerifySettings,
    /// Largest speed of the motion in the kinetic metric, or what the forces of a step give if that is more. By the
    /// inequality of Cauchy and Schwarz it bounds every row: |u_i| ≤ √W_ii speed, |M v|_i ≤ √M_ii speed.
    pub speed: f64,
}

impl<'a> Judge<'a> {
    fn new(
        system: &'a dyn MechanicalSystem,
        motion: &'a Motion,
        formulation: Formulation,
        settings: &'a VerifySettings,
    ) -> Self {
        let mut mass = system.new_matrix();
        let mut past = Past::new(system, motion);
        let mut factor = CholeskyFactor::default();
        let mut speed = f64::MIN_POSITIVE;
        for (k, node) in motion.nodes.iter().enumerate() {
            if k == 0 || !system.mass_is_constant() {
                system.mass(&node.q, &mut mass);
            }
            for v in [&node.v_left, &node.v_right] {
                speed = speed.max(mass.bilinear(v, v).max(0.0).sqrt());
            }
            let Some(next) = motion.nodes.get(k + 1) else {
                continue;
            };
            let mut push = past.reading(|s| force(s, node.t, &node.q, &node.v_right));
            past.enter(next);
            if (k == 0 || !system.mass_is_constant()) && factor.factor(&mass).is_err() {
                continue;
            }
            let given = (next.t - node.t) * factor.dual_norm(&mut push);
            speed = speed.max(if given.is_finite() { given } else { 0.0 });
        }
        Self {
            system,
            motion,
            formulation,
            settings,
            speed,
        }
    }

    fn initial_condition(&self, report: &mut Verification) {
        let Some((q, v)) = &self.settings.initial else {
            return;
        };
        let first = &self.motion.nodes[0];
        let mut mass = self.system.new_matrix();
        self.system.mass(&first.q, &mut mass);
        // Coordinates by their own range, velocities by the speed of the motion.
        let coordinates = first.q.iter().zip(q).enumerate().map(|(i, (a, b))| {
            let far = |node: &MotionNode| (node.q[i] - b).abs();
            let range = self.motion.nodes[1..]
                .iter()
                .map(far)
                .fold(b.abs(), f64::max);
            (a - b).abs() / range.max(f64::MIN_POSITIVE)
        });
        let velocities = first.v_left.iter().zip(v).enumerate().map(|(i, (a, b))| {
            let speed = self.speed / mass.get(i, i).max(f64::MIN_POSITIVE).sqrt();
            (a - b).abs() / speed
        });
        let start = (first.t - self.settings.t_start).abs();
        let size = coordinates
            .chain(velocities)
            .chain([start])
            .fold(0.0, |s: f64, x| if x.is_nan() || x > s { x } else { s });
        if !(size <= self.settings.tolerance) {
            report.note(Line::InitialCondition, first.t, size, None);
        }
    }

    pub fn name(&self, constraint: usize) -> Option<&'a str> {
        Some(self.system.constraints()[constraint].name())
    }

    /// Largest momentum of a component.
    pub fn momentum_scale(&self, place: &Place, i: usize) -> f64 {
        place.mass.get(i, i).max(0.0).sqrt() * self.speed
    }

    /// Velocity below which a row does not tell a motion from rounding.
    pub fn velocity_slack(&self, place: &Place, i: usize) -> f64 {
        self.settings.tolerance * self.speed * place.reach(i)
    }

    /// M (v⁺ − v⁻) = H p with joints free to answer; the worst part of the scale.
    pub fn impact_equation(&self, place: &Place, node: &MotionNode, report: &mut Verification) {
        let jump: Vec<f64> = node
            .v_right
            .iter()
            .zip(&node.v_left)
            .map(|(a, b)| a - b)
            .collect();
        let mut defect = vec![0.0; jump.len()];
        place.mass.multiply(&jump, &mut defect);
        let impulse = place.generalized_impulse(&node.atom);
        defect.iter_mut().zip(&impulse).for_each(|(d, p)| *d -= p);
        super::place::remove(&mut defect, &place.joints);
        let parts = defect.iter().enumerate();
        let worst = parts
            .map(|(i, d)| d.abs() / self.momentum_scale(place, i))
            .fold(0.0, f64::max);
        if !(worst <= self.settings.tolerance) {
            report.note(Line::ImpactEquation, node.t, worst, None);
        }
    }

    /// Contact takes energy: its work must not be positive.
    pub fn dissipation(&self, t: f64, work: f64, report: &mut Verification) {
        let energy = self.speed * self.speed;
        if self.formulation.dissipative() && !(work <= self.settings.tolerance * energy) {
            report.note(Line::Dissipation, t, work / energy, None);
        }
    }
}

/// Why a formulation does not apply, if it does not.
fn obstacle(
    system: &dyn MechanicalSystem,
    motion: &Motion,
    formulation: Formulation,
) -> Option<String> {
    let count = system.constraints().len();
    if formulation.one_constraint() && count > 1 {
        return Some(format!(
            "{formulation} has one constraint, the system has {count}"
        ));
    }
    if system.past_reading().is_some() && motion.discretisation.is_none() {
        return Some(
            "forces or friction read the past, and only a run tells all of it".to_string(),
        );
    }
    if formulation.particle() {
        let n = system.dof();
        let mut mass = system.new_matrix();
        system.mass(&motion.nodes[0].q, &mut mass);
        let m = mass.get(0, 0);
        let isotropic = (0..n * n).all(|e| {
            let target = if e / n == e % n { m } else { 0.0 };
            (mass.get(e / n, e % n) - target).abs() <= 1e-12 * m.abs()
        });
        if !(isotropic && system.mass_is_constant()) {
            return Some(format!(
                "{formulation} is about particles, whose mass is a multiple of the identity"
            ));
        }
    }
    None
}

/// Sizes, finite numbers, increasing times.
fn well_formed(system: &dyn MechanicalSystem, motion: &Motion, report: &mut Verification) -> bool {
    let points = system.constraints().iter().flat_map(|c| c.points());
    let rows: usize = points.map(|p| 1 + p.law.tangent_dimension()).sum();
    let (n, c) = (system.dof(), system.coordinate_count());
    let numbers = motion.discretisation.is_none_or(|d| d.is_valid());
    if motion.nodes.is_empty() || !numbers {
        report.note(Line::WellFormed, 0.0, f64::INFINITY, None);
    }
    let mut last = f64::NEG_INFINITY;
    // No interval ends at the first node.
    if let Some(first) = motion
        .nodes
        .first()
        .filter(|n| n.smooth.iter().any(|&p| p != 0.0))
    {
        report.note(Line::WellFormed, first.t, f64::INFINITY, None);
    }
    for node in &motion.nodes {
        let reactions = [&node.smooth, &node.atom];
        let sizes = node.q.len() == c
            && node.v_left.len() == n
            && node.v_right.len() == n
            && reactions.iter().all(|r| r.is_empty() || r.len() == rows);
        let numbers = [
            &node.q,
            &node.v_left,
            &node.v_right,
            &node.smooth,
            &node.atom,
        ];
        let finite = node.t.is_finite() && numbers.iter().all(|x| x.iter().all(|y| y.is_finite()));
        if !(sizes && finite && node.t > last) {
            report.note(Line::WellFormed, node.t, f64::INFINITY, None);
        }
        last = node.t;
    }
    report.violations.is_empty()
}
