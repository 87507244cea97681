//! The judge of a motion: what is asked, the scale of the motion, and the lines that every motion has.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::algebra::{CholeskyFactor, SymmetricMatrix, dot};
use crate::laws::ImpactRule;
use crate::simulation::frame_watch::NEAR;
use crate::systems::MechanicalSystem;
use crate::systems::frame::{ANGLE, misalignment, misalignment_on_obstacle};

use super::motion::contact_rows;
use super::past::Past;
use super::place::{GAP_ROUNDING, Place, force};
use super::subsystems::{Couplings, Subsystems};
use super::{Formulation, Line, Motion, MotionNode, MotionSource, MotionSourceError, Verification};

/// Rounding of a function in which nothing moves, as a part of the length of the motion around it.
pub(super) const LENGTH_ROUNDING: f64 = 1e3 * GAP_ROUNDING;

/// What is asked, and how precisely.
#[derive(Clone, Debug)]
pub struct VerifySettings {
    /// Relative tolerance of velocities, impulses and powers.
    pub tolerance: f64,
    /// Gap up to which a contact counts as closed and a joint as held, as a part of the size of the motion and of the
    /// numbers that cancel in it.
    pub gap_tolerance: f64,
    /// Initial position and left velocity, if they are part of the question.
    pub initial: Option<(Vec<f64>, Vec<f64>)>,
    /// Time of the initial condition.
    pub t_start: f64,
    /// Gap up to which a motion that says that it is a run may close contacts; one that no gap of the motion tells from zero is
    /// always granted.
    pub contact_gap: f64,
    /// Whether contacts that touch at the start of a step may act in it though its scheme forecasts them open: so do runs that list all
    /// solutions of a step.
    pub admits_touching: bool,
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
            contact_gap: 0.0,
            admits_touching: false,
            impact_map: None,
        }
    }
}

/// Tests every line of `formulation` on `motion`.
///
/// A motion without a discretisation is judged as it stands. A run is judged step by step where its scheme states
/// its laws (see [`super::Discretisation`]); then one line alone has a slack of order h, which is derived: a gap may be
/// as negative as the approach within one step and the turning of the normal over the steps in contact make it.
///
/// ```
/// use stickslip::prelude::*;
/// use stickslip::simulation::verify::{Formulation, Line, Motion, VerifySettings, verify};
///
/// let scene = Scene::parse(find_in_gallery("bouncing-ball").ok_or("no such scene")?.source())?;
/// let mut run = scene.simulation()?;
/// let mut motion = Motion::of_run(scene.discretisation()?);
/// motion.push(run.record());
/// run.run_until(0.5, |step| { motion.push(step); ControlFlow::Continue(()) });
/// let judge = |motion: &Motion| verify(run.system(), motion, Formulation::P5, &VerifySettings::default());
/// assert!(judge(&motion).accepted());
/// // A micrometre off at one instant is seen, and where.
/// let t = motion.nodes[200].t;
/// motion.nodes[200].q[0] += 1e-6;
/// let report = judge(&motion);
/// let kinematics = report.violations.iter().find(|v| v.line == Line::Kinematics);
/// assert_eq!(kinematics.ok_or("not seen")?.t, t);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify(
    system: &dyn MechanicalSystem,
    motion: &Motion,
    formulation: Formulation,
    settings: &VerifySettings,
) -> Verification {
    // Nodes in memory are always there.
    verify_run(system, motion, motion, formulation, settings).expect("nodes in memory")
}

/// Tests every line of `formulation` on a run whose nodes are gone through twice and kept nowhere; `run` tells how its
/// steps were made and has no nodes of its own.
pub fn verify_run(
    system: &dyn MechanicalSystem,
    nodes: &dyn MotionSource,
    run: &Motion,
    formulation: Formulation,
    settings: &VerifySettings,
) -> Result<Verification, MotionSourceError> {
    let mut report = judged(system, run, nodes, formulation, settings)?;
    if formulation == Formulation::P4Prime && report.does_not_apply.is_none() {
        let literal = judged(system, run, nodes, Formulation::P4PrimeLiteral, settings)?;
        report.literal = Some(Box::new(literal));
    }
    Ok(report)
}

fn judged(
    system: &dyn MechanicalSystem,
    motion: &Motion,
    nodes: &dyn MotionSource,
    formulation: Formulation,
    settings: &VerifySettings,
) -> Result<Verification, MotionSourceError> {
    let mut report = Verification {
        formulation,
        does_not_apply: None,
        violations: Vec::new(),
        nodes: 0,
        to_tolerance: None,
        literal: None,
    };
    let mut survey = Survey::new(system, formulation);
    nodes.visit(&mut |node| {
        report.nodes += 1;
        survey.see(node, &mut report);
        ControlFlow::Continue(())
    })?;
    let numbers = motion.discretisation.is_none_or(|d| d.is_valid());
    if report.nodes == 0 || !numbers {
        report.note(Line::WellFormed, 0.0, f64::INFINITY, None);
    }
    let Some(first) = survey
        .first
        .as_ref()
        .filter(|_| report.violations.is_empty())
    else {
        return Ok(report);
    };
    let is_run = motion.discretisation.is_some();
    report.does_not_apply = obstacle(system, first, is_run, formulation);
    if report.does_not_apply.is_some() {
        return Ok(report);
    }
    let judge = Judge {
        system,
        motion,
        formulation,
        settings,
        speed: survey.speed,
        subsystems: survey.couplings.parts(
            (survey.speed, survey.given, survey.impulse),
            16.0 * f64::EPSILON * survey.speed / settings.tolerance,
        ),
        spans: survey.spans(),
    };
    judge.initial_condition(first, &survey, &mut report);
    judge.contact_gap(first, &mut report);
    match motion.discretisation {
        None => judge.exact_motion(&mut report),
        Some(rule) => judge.run(rule, nodes, &mut report)?,
    }
    report.violations.sort_by_key(|v| v.line as usize);
    Ok(report)
}

pub(super) struct Judge<'a> {
    pub system: &'a dyn MechanicalSystem,
    /// The motion; one that is a run has its nodes elsewhere.
    pub motion: &'a Motion,
    pub formulation: Formulation,
    pub settings: &'a VerifySettings,
    /// Largest speed of the motion in the kinetic metric, or what the forces of a step give if that is more. By the
    /// inequality of Cauchy and Schwarz it bounds every row: |u_i| ≤ √W_ii speed, |M v|_i ≤ √M_ii speed.
    pub speed: f64,
    /// The same of each part of the system that knows nothing of the others, and its largest impulse.
    pub subsystems: Subsystems,
    /// How far each velocity moves the configuration.
    pub spans: Vec<f64>,
}

impl<'a> Judge<'a> {
    /// Configuration, left velocity and time of the first node.
    fn initial_condition(&self, first: &MotionNode, survey: &Survey, report: &mut Verification) {
        let Some((q, v)) = &self.settings.initial else {
            return;
        };
        let mut mass = self.system.new_matrix();
        self.system.mass(&first.q, &mut mass);
        // Coordinates by their own range, velocities by the speed of the motion.
        let coordinates = first.q.iter().zip(q).enumerate().map(|(i, (a, b))| {
            let (low, high) = survey.range.get(i).copied().unwrap_or((*b, *b));
            let range = b.abs().max((low - b).abs()).max((high - b).abs());
            (a - b).abs() / range.max(f64::MIN_POSITIVE)
        });
        let velocities = first.v_left.iter().zip(v).enumerate().map(|(i, (a, b))| {
            let speed = self.subsystems.speed(i) / mass.get(i, i).max(f64::MIN_POSITIVE).sqrt();
            (a - b).abs() / speed
        });
        // Time by the first interval; a motion of one instant tells of no other.
        let t_start = self.settings.t_start;
        let rounding = 4.0 * f64::EPSILON * first.t.abs().max(t_start.abs());
        let late = ((first.t - t_start).abs() - rounding).max(0.0);
        let start = match late {
            0.0 => 0.0,
            _ => late / survey.first_interval,
        };
        let size = coordinates
            .chain(velocities)
            .chain([start])
            .fold(0.0, |s: f64, x| if x.is_nan() || x > s { x } else { s });
        if !(size <= self.settings.tolerance) {
            report.note(Line::InitialCondition, first.t, size, None);
        }
    }

    /// A motion that says that it is a run does not choose for itself how far away a contact acts.
    fn contact_gap(&self, first: &MotionNode, report: &mut Verification) {
        let Some(rule) = self.motion.discretisation else {
            return;
        };
        let place = Place::at(self.system, first.t, &first.q, &first.v_left);
        for c in 0..place.gaps.len() {
            let granted = self.settings.contact_gap.max(self.gap_slack(&place, c));
            if !(rule.contact_gap() <= granted) {
                let size = rule.contact_gap() / granted;
                report.note(Line::ContactGap, first.t, size, self.name(c));
            }
        }
    }

    pub fn name(&self, constraint: usize) -> Option<&'a str> {
        Some(self.system.constraints()[constraint].name())
    }

    /// About the largest rate of a contact row at the speed of the motion of its part of the system.
    pub fn row_speed(&self, place: &Place, i: usize) -> f64 {
        self.subsystems.speed_of(&place.rows[i]) * place.velocity_reach(&place.rows[i])
    }

    /// The same at the speed of everything: what schemes tell open from closed contacts by.
    pub fn row_speed_of_run(&self, place: &Place, i: usize) -> f64 {
        self.speed * place.velocity_reach(&place.rows[i])
    }

    /// Size of the motion in the unit of a function of the configuration.
    pub fn size_of_motion(&self, gradient: &[f64]) -> f64 {
        let parts = gradient.iter().zip(&self.spans);
        parts.map(|(g, span)| g.abs() * span).sum()
    }

    /// Gap that does not tell an open contact from a closed one.
    pub fn gap_slack(&self, place: &Place, constraint: usize) -> f64 {
        let rounding = place.roundings[constraint];
        let size = self.size_of_motion(&place.gradients[constraint]) + rounding / GAP_ROUNDING;
        let given = self.given(place, &place.gradients[constraint]);
        (rounding.max(self.settings.gap_tolerance * size)).max(LENGTH_ROUNDING * given)
    }

    /// The length that forces give within a step, in the unit of a function with this gradient: what rests at the origin has no other.
    fn given(&self, place: &Place, gradient: &[f64]) -> f64 {
        self.subsystems.given(gradient) * place.velocity_reach(gradient)
    }

    /// Normals are those of the gaps, on the obstacles: of contacts that touch there, and of those that carry an impulse.
    pub fn frames(&self, place: &Place, node: &MotionNode, report: &mut Verification) {
        for contact in &place.contacts {
            let (c, t) = (contact.constraint, node.t);
            let size = self.size_of_motion(&place.gradients[c]) + place.roundings[c] / GAP_ROUNDING;
            let rows = contact.start..contact.start + contact.size;
            let pressed = node.atom.get(rows).is_some_and(|p| p[0] != 0.0);
            let off = if place.gaps[c].abs() <= NEAR * size {
                misalignment(&place.gradients[c], &place.rows[contact.start])
            } else if pressed {
                let at = (c, contact.point);
                let off = misalignment_on_obstacle(self.system, at, (t, &node.q), NEAR * size);
                off.unwrap_or(0.0)
            } else {
                continue;
            };
            if !(off <= ANGLE) {
                report.note(Line::Frame, t, off, self.name(c));
            }
        }
    }

    /// The same for motions that are not runs, whose numbers were written down: what does not move in the gap is measured
    /// against the kinetic length of the motion of its part of the system.
    pub fn written_gap_slack(&self, place: &Place, constraint: usize) -> f64 {
        let length = self.length_of_motion(place, &place.gradients[constraint]);
        self.gap_slack(place, constraint)
            .max(self.settings.gap_tolerance * length)
    }

    /// The kinetic length of the motion of its part of the system in the unit of a gap or a joint with this gradient, or what forces
    /// give it within a step if that is more.
    fn length_of_motion(&self, place: &Place, gradient: &[f64]) -> f64 {
        let mut momentum = vec![0.0; self.spans.len()];
        let spans = self.subsystems.restricted(&self.spans, gradient);
        place.mass.multiply(&spans, &mut momentum);
        let length = dot(&spans, &momentum).max(0.0).sqrt();
        (place.velocity_reach(gradient) * length).max(self.given(place, gradient))
    }

    /// Rounding of a gap in which nothing moves: that of the whole motion.
    pub fn motion_rounding(&self, place: &Place, constraint: usize) -> f64 {
        self.row_rounding(place, &place.gradients[constraint])
    }

    /// The same of a function with this gradient.
    pub fn row_rounding(&self, place: &Place, gradient: &[f64]) -> f64 {
        LENGTH_ROUNDING * self.length_of_motion(place, gradient)
    }

    /// Largest momentum of a component.
    pub fn momentum_scale(&self, place: &Place, i: usize) -> f64 {
        place.mass.get(i, i).max(0.0).sqrt() * self.subsystems.speed(i)
    }

    /// Velocity below which a row does not tell a motion from rounding.
    pub fn velocity_slack(&self, place: &Place, i: usize) -> f64 {
        self.settings.tolerance * self.subsystems.speed_of(&place.rows[i]) * place.reach(i)
    }

    /// M (v⁺ − v⁻) = H p with joints free to answer; returned is how far it is from that.
    pub fn impact_equation(
        &self,
        place: &Place,
        node: &MotionNode,
        report: &mut Verification,
    ) -> Vec<f64> {
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
        defect
    }

    /// Contact takes energy: the work of its impulses must not be positive in any part of the system.
    pub fn dissipation(
        &self,
        t: f64,
        (place, impulse): (&Place, &[f64]),
        work: impl Fn(&[f64]) -> f64,
        report: &mut Verification,
    ) {
        if !self.formulation.dissipative() {
            return;
        }
        for group in self.groups(place, |_| true) {
            let mut own = vec![0.0; impulse.len()];
            let mut energy = 0.0f64;
            for contact in group.iter().map(|&k| &place.contacts[k]) {
                let rows = contact.start..contact.start + contact.size;
                own[rows.clone()].copy_from_slice(&impulse[rows]);
                let speed = self.subsystems.speed_of(&place.rows[contact.start]);
                energy = energy.max(speed * speed);
            }
            let work = work(&own);
            if !(work <= self.settings.tolerance * energy) {
                report.note(Line::Dissipation, t, work / energy, None);
            }
        }
    }

    /// The contacts of a place that `some` names, by the parts of the system that they belong to.
    pub fn groups(&self, place: &Place, some: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
        let all: Vec<usize> = (0..place.contacts.len()).filter(|&k| some(k)).collect();
        if self.subsystems.is_single() {
            return vec![all];
        }
        let part = |k: usize| {
            self.subsystems
                .part_of(&place.rows[place.contacts[k].start])
        };
        let mut parts: Vec<usize> = all.iter().map(|&k| part(k)).collect();
        parts.sort_unstable();
        parts.dedup();
        let of = |p: usize| all.iter().copied().filter(|&k| part(k) == p).collect();
        parts.into_iter().map(of).collect()
    }
}

/// Why a formulation does not apply, if it does not.
fn obstacle(
    system: &dyn MechanicalSystem,
    first: &MotionNode,
    is_run: bool,
    formulation: Formulation,
) -> Option<String> {
    let count = system.constraints().len();
    if formulation == Formulation::World {
        return Some("the formulation `world` is about worlds of bodies".to_string());
    }
    if formulation.one_constraint() && count > 1 {
        return Some(format!(
            "{formulation} has one constraint, the system has {count}"
        ));
    }
    if system.past_reading().is_some() && !is_run {
        return Some(
            "forces or friction read the past, and only a run tells all of it".to_string(),
        );
    }
    if !system.controllers().is_empty() && !is_run {
        return Some(
            "forces or friction read the outputs of controllers, and only a run tells their samples"
                .to_string(),
        );
    }
    if formulation.particle() {
        let n = system.dof();
        let mut mass = system.new_matrix();
        system.mass(&first.q, &mut mass);
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

/// The first pass over a motion: whether its nodes are well formed, and its scale.
struct Survey<'a> {
    system: &'a dyn MechanicalSystem,
    couplings: Couplings<'a>,
    rows: usize,
    mass: SymmetricMatrix,
    factor: CholeskyFactor,
    factored: bool,
    past: Option<Past<'a>>,
    first: Option<MotionNode>,
    /// Length of the first interval, zero before there is one.
    first_interval: f64,
    /// Largest kinetic length that forces give within an interval.
    given: f64,
    last: Option<MotionNode>,
    speed: f64,
    impulse: f64,
    /// Least and largest value of each coordinate after the first node.
    range: Vec<(f64, f64)>,
}

impl<'a> Survey<'a> {
    fn new(system: &'a dyn MechanicalSystem, formulation: Formulation) -> Self {
        let whole = formulation.test_velocities().is_some();
        Self {
            system,
            couplings: Couplings::new(system, whole),
            rows: contact_rows(system),
            mass: system.new_matrix(),
            factor: CholeskyFactor::default(),
            factored: false,
            past: None,
            first: None,
            first_interval: 0.0,
            given: 0.0,
            last: None,
            speed: f64::MIN_POSITIVE,
            impulse: 0.0,
            range: Vec::new(),
        }
    }

    /// Range of what each velocity moves: of its coordinate, and half a turn for the spins of a body.
    fn spans(&self) -> Vec<f64> {
        let turning = self.system.coordinate_count() != self.system.dof();
        let start = self.first.as_ref().map_or(&[][..], |node| &node.q);
        let span = |i: usize| match (self.range.get(i), start.get(i)) {
            _ if turning && i >= 3 => std::f64::consts::PI,
            (Some((low, high)), Some(q)) => high.max(*q) - low.min(*q),
            _ => 0.0,
        };
        (0..self.system.dof()).map(span).collect()
    }

    fn see(&mut self, node: &MotionNode, report: &mut Verification) {
        let before = self.last.as_ref().map_or(f64::NEG_INFINITY, |last| last.t);
        // No interval ends at the first node.
        let ended = self.last.is_none() && node.smooth.iter().any(|&p| p != 0.0);
        if ended || !self.well_formed(node, before) {
            report.note(Line::WellFormed, node.t, f64::INFINITY, None);
        }
        // A motion that is not well formed has no scale.
        if report.violations.is_empty() {
            self.measure(node);
        }
        self.last = Some(node.clone());
    }

    /// Sizes, finite numbers, increasing times.
    fn well_formed(&self, node: &MotionNode, before: f64) -> bool {
        let (n, c) = (self.system.dof(), self.system.coordinate_count());
        let reactions = [&node.smooth, &node.atom, &node.sliding];
        let sizes = node.q.len() == c
            && node.v_left.len() == n
            && node.v_right.len() == n
            && reactions
                .iter()
                .all(|r| r.is_empty() || r.len() == self.rows);
        let moved = node.moved.is_empty() || node.moved.len() == n;
        let numbers = [
            &node.moved,
            &node.q,
            &node.v_left,
            &node.v_right,
            &node.smooth,
            &node.atom,
            &node.sliding,
        ];
        let finite = node.t.is_finite() && numbers.iter().all(|x| x.iter().all(|y| y.is_finite()));
        sizes && moved && finite && node.t > before
    }

    /// Speed at the node, and what the forces at the last one give until then.
    fn measure(&mut self, node: &MotionNode) {
        let system = self.system;
        match (&mut self.past, &self.last) {
            (Some(past), Some(last)) => {
                let mut push = past.reading(|s| force(s, last.t, &last.q, &last.v_right));
                past.enter(node);
                if self.first_interval == 0.0 {
                    self.first_interval = node.t - last.t;
                }
                if self.factored {
                    let h = node.t - last.t;
                    self.couplings.push(&push, &self.factor, h);
                    let given = h * self.factor.dual_norm(&mut push);
                    let given = if given.is_finite() { given } else { 0.0 };
                    self.speed = self.speed.max(given);
                    self.given = self.given.max(h * given);
                }
                self.range
                    .resize(node.q.len(), (f64::INFINITY, f64::NEG_INFINITY));
                for ((low, high), &q) in self.range.iter_mut().zip(&node.q) {
                    (*low, *high) = (low.min(q), high.max(q));
                }
            }
            _ => {
                self.past = Some(Past::new(system, node));
                self.first = Some(node.clone());
            }
        }
        if self.last.is_none() || !system.mass_is_constant() {
            system.mass(&node.q, &mut self.mass);
            self.factored = self.factor.factor(&self.mass).is_ok();
        }
        self.couplings.see(node, &self.mass);
        let impulses = node.atom.iter().chain(&node.smooth);
        self.impulse = impulses.fold(self.impulse, |m, p| m.max(p.abs()));
        for v in [&node.v_left, &node.v_right] {
            self.speed = self.speed.max(self.mass.bilinear(v, v).max(0.0).sqrt());
        }
    }
}
