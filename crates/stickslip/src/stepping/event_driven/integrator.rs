//! The motion from event to event.

use crate::algebra::dot;
use crate::contact::ContactKey;
use crate::records::StepOutcome;
use crate::stepping::ContactStage;
use crate::stepping::{MoreauJean, MoreauJeanSettings};
use crate::systems::passage::LOST;
use crate::systems::past_motion::{Interpolation, PastMotion, PastSnapshot};
use crate::systems::{Instant, MechanicalSystem};

use super::accelerations::{Accelerations, extent};
use super::bounces::Endings;
use super::events::Watch;
use super::modes::{Friction, Mode};
use super::runge_kutta::Step;
use super::scales::Scales;
use super::{EventDrivenSettings, ReferenceEvent, WatchFunction};
use crate::records::bounces::Bounces;

/// What a resumed integration starts from.
#[derive(Clone, Debug)]
pub(super) struct Resume {
    pub modes: Vec<Mode>,
    pub h: f64,
    pub breaks: Vec<f64>,
    pub past: Option<PastSnapshot>,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub t: f64,
    pub bounces: Vec<Bounces>,
    pub scales: Scales,
}

/// Integrates from event to event; owns state, modes and past.
#[derive(Debug)]
pub(super) struct Integrator {
    pub settings: EventDrivenSettings,
    pub accelerations: Accelerations,
    pub modes: Vec<Mode>,
    pub t: f64,
    /// Configuration, velocity, works of external forces and damping, impulses, works of friction
    /// and of normal forces.
    pub y: Vec<f64>,
    /// Length that the next step may have; zero before the first.
    pub h: f64,
    pub breaks: Vec<f64>,
    pub past: Option<PastMotion>,
    pub events: Vec<ReferenceEvent>,
    /// Normal work of impacts since it was last cleared, per contact.
    pub impact_work: Vec<[f64; 4]>,
    /// Impacts of every contact that follow each other ever faster.
    pub bounces: Vec<Bounces>,
    pub watches: Vec<WatchFunction>,
    /// Lengths and speeds of the run.
    pub scales: Scales,
    pub(super) nq: usize,
    pub(super) n: usize,
    pub(super) step: Step,
    pub(super) impact: MoreauJean,
    pub(super) delays: Vec<f64>,
    pub(super) step_limit: f64,
    pub(super) slow: usize,
    /// Contacts whose reaction fell to zero at this very instant.
    pub(super) released: Vec<(usize, f64)>,
    pub(super) endings: Endings,
    pub(super) jumps: Endings,
    /// Steps that were cut short and moved nothing, since one moved something.
    pub(super) idle: usize,
    pub resume: Option<Resume>,
    /// From where on every open gap is watched at this step: zero, or where it is below.
    pub levels: Vec<f64>,
    /// A constraint that the last step passed through without an event, and after what time.
    pub passed: Option<(usize, f64)>,
    /// Whether other lengths of the step were tried since.
    pub(super) probed: bool,
    /// Whether what ends the step leaps past zero there, by a force or a belt that jumps.
    pub(super) leapt: bool,
}

impl Integrator {
    pub fn new(settings: EventDrivenSettings) -> Self {
        let impact = MoreauJeanSettings {
            theta: Some(0.5),
            ..MoreauJeanSettings::default()
        };
        Self {
            settings,
            accelerations: Accelerations::default(),
            modes: Vec::new(),
            t: 0.0,
            y: Vec::new(),
            h: 0.0,
            breaks: Vec::new(),
            past: None,
            events: Vec::new(),
            impact_work: Vec::new(),
            bounces: Vec::new(),
            watches: Vec::new(),
            scales: Scales::default(),
            nq: 0,
            n: 0,
            step: Step::default(),
            // one half is in range
            impact: MoreauJean::new(impact).expect("theta in range"),
            delays: Vec::new(),
            step_limit: f64::INFINITY,
            slow: 0,
            released: Vec::new(),
            endings: Endings::none(),
            jumps: Endings::none(),
            idle: 0,
            resume: None,
            levels: Vec::new(),
            passed: None,
            probed: false,
            leapt: false,
        }
    }

    pub fn q(&self) -> &[f64] {
        &self.y[..self.nq]
    }

    pub fn v(&self) -> &[f64] {
        &self.y[self.nq..self.nq + self.n]
    }

    /// The quadratures: works of external forces and damping, impulses, works of friction and of
    /// normal forces on the velocities relative to the obstacles, works of the obstacles through both, impulses and work of the joints.
    pub fn quadratures(&mut self) -> &mut [f64] {
        &mut self.y[self.nq + self.n..]
    }

    /// The part of the quadratures that belongs to joints: an impulse of each, and the work of all.
    pub fn joint_quadratures(&mut self) -> &mut [f64] {
        let layout = &self.accelerations.layout;
        let first = 2 + layout.rows() + 4 * layout.slots().len();
        &mut self.y[self.nq + self.n + first..]
    }

    /// Everything that depends on the system and its start; `interval` is the time to the first record.
    pub fn prepare(
        &mut self,
        system: &dyn MechanicalSystem,
        (t, q, v): (f64, &[f64], &[f64]),
        interval: f64,
    ) {
        (self.nq, self.n) = (q.len(), v.len());
        self.accelerations.prepare(system, q);
        self.accelerations.springs = self.settings.springs(system, q);
        self.scales.prepare(system, q, &self.accelerations.factor);
        let layout = &self.accelerations.layout;
        let count = layout.slots().len();
        self.impact_work = vec![[0.0; 4]; count];
        self.bounces = vec![Bounces::default(); count];
        self.modes = (0..count)
            .map(|s| Mode {
                closed: false,
                friction: vec![Friction::Stick; self.accelerations.groups[s].len()],
            })
            .collect();
        self.t = t;
        self.y.clear();
        self.y.extend_from_slice(q);
        self.y.extend_from_slice(v);
        let joints = system.joints().len() + 1;
        self.y.resize(
            self.nq + self.n + 2 + layout.rows() + 4 * count + joints,
            0.0,
        );
        self.step_limit = self.settings.step_max;
        if let Some(reading) = system.past_reading().filter(|reading| !reading.is_empty()) {
            self.past = Some(PastMotion::start(
                reading,
                (q, v),
                t,
                Interpolation::Quintic,
            ));
            self.delays = reading.delays().to_vec();
            if let Some(shortest) = reading.delay_min() {
                self.step_limit = self.step_limit.min(shortest);
            }
            if !reading.maxima.is_empty() || !reading.integrals.is_empty() || self.delays.is_empty()
            {
                // windows reach into the step itself, whose inside is only known to order four
                self.step_limit = self.step_limit.min(reading.delay_max() / 64.0);
            }
        }
        self.h = self.first_step(system, interval).min(self.step_limit);
        self.scales.begin_step(self.h);
        let rates = v.iter().chain(std::iter::repeat(&0.0));
        let sizes = q.iter().zip(rates).map(|(q, v)| q.abs() + self.h * v.abs());
        self.accelerations.measure(sizes.collect(), self.h);
    }

    /// A first guess of the length of a step, which the estimate of its error corrects: the time in which speed or acceleration would move the state by a
    /// hundredth of its size, and not beyond the first record; sizes in the kinetic metric, so that no unit enters ([HairerNorsettWanner1993], II.4).
    fn first_step(&mut self, system: &dyn MechanicalSystem, interval: f64) -> f64 {
        let (q, v) = (self.q().to_vec(), self.v().to_vec());
        let at = Instant {
            t: self.t,
            q: &q,
            v: &v,
            past: self.past.as_ref(),
            held: &[],
        };
        self.accelerations.place(system, &at, false);
        let sizes: Vec<f64> = (0..self.n).map(|k| extent(system, &q, k)).collect();
        let size = self.accelerations.kinetic(&sizes).sqrt();
        let speed = self.accelerations.kinetic(&v).sqrt();
        let acceleration = self.accelerations.kinetic_from_rest(1.0).sqrt();
        let times = if size > 0.0 {
            [size / speed, (size / acceleration).sqrt()]
        } else {
            [speed / acceleration; 2]
        };
        let known = times.into_iter().filter(|t| *t > 0.0 && t.is_finite());
        // A record of the initial instant itself sets no bound.
        let room = if interval > 0.0 {
            interval
        } else {
            f64::INFINITY
        };
        let h = known.map(|t| 0.01 * t).fold(room, f64::min);
        if h.is_finite() { h } else { interval }
    }

    /// First modes, with the impact at the initial instant if there is one.
    pub fn start(
        &mut self,
        system: &dyn MechanicalSystem,
        stage: &mut ContactStage,
    ) -> StepOutcome {
        if let Some(resume) = self.resume.take() {
            self.take_up(resume);
            self.derivative(system);
            return StepOutcome::Solved;
        }
        self.add_breaks();
        self.derivative(system);
        self.enter_node();
        self.transit(system, stage, None)
    }

    pub(super) fn take_up(&mut self, resume: Resume) {
        self.modes = resume.modes;
        self.h = resume.h;
        self.breaks = resume.breaks;
        self.t = resume.t;
        if resume.bounces.len() == self.bounces.len() {
            self.bounces = resume.bounces;
        }
        self.scales.take_up(resume.scales);
        let (nq, n) = (self.nq, self.n);
        self.y[..nq].copy_from_slice(&resume.q);
        self.y[nq..nq + n].copy_from_slice(&resume.v);
        if let (Some(past), Some(snapshot)) = (&mut self.past, &resume.past) {
            past.restore(snapshot);
        }
        let sizes = self.scales.of_state()[..nq].to_vec();
        self.accelerations.measure(sizes, self.scales.step());
    }

    /// Enters the state placed last into the lengths and speeds of the run.
    pub(super) fn observe_scales(&mut self, system: &dyn MechanicalSystem) {
        let (nq, n) = (self.nq, self.n);
        let (q, v) = (&self.y[..nq], &self.y[nq..nq + n]);
        self.scales
            .observe(system, &self.accelerations, (self.t, q, v));
        let sizes = self.scales.of_state();
        let step = self.scales.step();
        self.accelerations.measure(sizes[..nq].to_vec(), step);
    }

    /// Derivative at the current state into the first stage.
    pub(super) fn derivative(&mut self, system: &dyn MechanicalSystem) {
        let mut slope = std::mem::take(&mut self.step.k[0]);
        slope.resize(self.y.len(), 0.0);
        let y = std::mem::take(&mut self.y);
        self.slope(system, self.t, &y, &mut slope);
        self.y = y;
        self.step.k[0] = slope;
    }

    pub(super) fn slope(
        &mut self,
        system: &dyn MechanicalSystem,
        t: f64,
        y: &[f64],
        out: &mut [f64],
    ) {
        let (nq, n) = (self.nq, self.n);
        let (q, v) = (&y[..nq], &y[nq..nq + n]);
        let at = Instant {
            t,
            q,
            v,
            past: self.past.as_ref(),
            held: &[],
        };
        let acc = &mut self.accelerations;
        let rates = self.modes.iter().any(|mode| mode.closed) || !system.joints().is_empty();
        acc.place(system, &at, rates);
        let settled = acc.follow_directions(&self.modes);
        acc.valid &= settled;
        system.coordinate_rates(q, v, &mut out[..nq]);
        out[nq..nq + n].copy_from_slice(&acc.a);
        let rest = &mut out[nq + n..];
        (rest[0], rest[1]) = (acc.external, acc.damping);
        let rows = acc.reaction.len();
        rest[2..2 + rows].copy_from_slice(&acc.reaction);
        for (s, slot) in acc.layout.slots().iter().enumerate() {
            let range = slot.start + 1..slot.start + slot.size;
            rest[2 + rows + s] = dot(&acc.reaction[range.clone()], &acc.local[range]);
            let count = acc.layout.slots().len();
            rest[2 + rows + count + s] = acc.reaction[slot.start] * acc.local[slot.start];
            // What moving obstacles give: local velocities are relative to them.
            let mut supports = [0.0; 2];
            if self.modes[s].closed {
                for i in 0..slot.size {
                    let drift = acc.local[slot.start + i] - dot(acc.row(s, i), v);
                    supports[usize::from(i > 0)] -= acc.reaction[slot.start + i] * drift;
                }
            }
            rest[2 + rows + 2 * count + s] = supports[0];
            rest[2 + rows + 3 * count + s] = supports[1];
        }
        let joints = &mut rest[2 + rows + 4 * acc.layout.slots().len()..];
        let (work, impulses) = joints
            .split_last_mut()
            .expect("room for the work of joints");
        impulses.copy_from_slice(&acc.joint_reaction);
        *work = acc.joint_power(&acc.joint_reaction, v);
        if !acc.valid {
            out.fill(f64::NAN);
        }
    }

    /// One Runge-Kutta step of length `h` from the current state into the buffer.
    pub(super) fn take(&mut self, system: &dyn MechanicalSystem, h: f64) {
        let mut step = std::mem::take(&mut self.step);
        let y = std::mem::take(&mut self.y);
        let t = self.t;
        step.take(t, &y, h, |t, y, out| self.slope(system, t, y, out));
        self.y = y;
        self.step = step;
    }

    /// What has become infinite or undefined: a gap by its name, here or at the end of the step of length `tried` that was tried from here, or
    /// what pressed along a gradient that has vanished since the place `from`.
    fn undefined(
        &self,
        system: &dyn MechanicalSystem,
        tried: Option<f64>,
        from: (f64, &[f64]),
    ) -> StepOutcome {
        let mut gradient = vec![0.0; self.n];
        let end = tried.map(|h| (self.t + h, &self.step.y[..self.nq]));
        for (t, q) in [(self.t, self.q())].into_iter().chain(end) {
            for (constraint, unilateral) in system.constraints().iter().enumerate() {
                let gap = unilateral.gap();
                gap.gradient(t, q, &mut gradient);
                let slopes = gradient.iter().copied().chain([gap.value(t, q)]);
                if slopes.into_iter().any(|x| !x.is_finite()) {
                    return StepOutcome::GapNotFinite { constraint };
                }
            }
        }
        let lost = (0..system.constraints().len()).find(|&c| self.lost_normal(system, c, from));
        lost.map_or(StepOutcome::NonFinite, |constraint| {
            let contact = ContactKey::declared(constraint, 0);
            StepOutcome::DegenerateGap { contact }
        })
    }

    /// Whether gap and gradient of a constraint have all but vanished together on the way from the place `from`.
    fn lost_normal(
        &self,
        system: &dyn MechanicalSystem,
        constraint: usize,
        from: (f64, &[f64]),
    ) -> bool {
        let gap = system.constraints()[constraint].gap();
        let speed = |(t, q): (f64, &[f64])| {
            let mut gradient = vec![0.0; self.n];
            gap.gradient(t, q, &mut gradient);
            self.scales.row_speed(&self.accelerations, &gradient)
        };
        let least = LOST * speed(from);
        let at = (self.t, self.q());
        speed(at) <= least && gap.value(at.0, at.1).abs() <= least * (at.0 - from.0)
    }

    /// Moves to `t_end` through all events on the way.
    pub fn advance(
        &mut self,
        system: &dyn MechanicalSystem,
        t_end: f64,
        stage: &mut ContactStage,
    ) -> StepOutcome {
        let mut steps = 0usize;
        let (t0, q0) = (self.t, self.q().to_vec());
        while self.t < t_end {
            steps += 1;
            if steps > self.settings.steps_max {
                return StepOutcome::NoProgress;
            }
            let rounding = 4.0 * f64::EPSILON * self.t.abs().max(t_end.abs());
            let mut limit = t_end;
            self.breaks.retain(|&b| b > self.t + rounding);
            for &b in &self.breaks {
                limit = limit.min(b);
            }
            let room = limit - self.t;
            let wanted = if self.h > 0.0 { self.h } else { room }.min(self.step_limit);
            let mut h = if wanted >= room * (1.0 - 1e-9) {
                room
            } else if wanted > 0.5 * room {
                0.5 * room
            } else {
                wanted
            };
            self.derivative(system);
            self.scales.begin_step(h);
            self.observe_scales(system);
            let sizes = self.scales.of_state();
            // What opens within rounding below its surface opens from there.
            let gaps = self.accelerations.gaps.iter();
            self.levels = gaps.map(|gap| gap.min(0.0)).collect();
            let before = self.values();
            if !self.step.k[0].iter().all(|x| x.is_finite()) {
                return self.undefined(system, None, (t0, &q0));
            }
            // A step whose error is within the tolerance.
            let tried = h;
            loop {
                self.take(system, h);
                let error = self.step.error(&sizes, h, self.settings.tolerance);
                if error <= 1.0 {
                    self.h = h * (0.9 * error.max(1e-10).powf(-0.2)).clamp(0.3, 4.0);
                    break;
                }
                if h <= rounding {
                    return self.undefined(system, Some(h), (t0, &q0));
                }
                h *= if error.is_finite() {
                    (0.9 * error.powf(-0.2)).clamp(0.1, 0.8)
                } else {
                    0.1
                };
            }
            if self.gets_nowhere(system, h, h < tried) {
                return self.no_progress(system, Watch::Jump);
            }
            let event = self.first_event(system, h, &before);
            if let Some((constraint, at)) = self.passed
                && event.is_none_or(|(first, _)| first >= at)
            {
                let contact = ContactKey::declared(constraint, 0);
                return StepOutcome::DegenerateGap { contact };
            }
            let (length, watch) = event.map_or((h, None), |(h, watch)| (h, Some(watch)));
            if let Some(outcome) = self.torn(system, length, watch) {
                return outcome;
            }
            let lands = watch.is_none() && h == room;
            self.t = if lands { limit } else { self.t + length };
            self.y.clone_from(&self.step.y);
            if watch == Some(Watch::Jump) {
                // What a correction would take from the velocity here the impact law answers.
                if !self.go_beyond(system) {
                    return self.no_progress(system, Watch::Jump);
                }
            } else {
                self.project(system);
            }
            self.derivative(system);
            self.enter_node();
            if let Some(watch) = watch {
                self.slow = if length <= rounding { self.slow + 1 } else { 0 };
                if self.slow > 200 {
                    return self.no_progress(system, watch);
                }
                let outcome = self.transit(system, stage, Some(watch));
                if outcome.is_fatal() {
                    return outcome;
                }
            }
        }
        StepOutcome::Solved
    }
}
