//! What ends a smooth piece of the motion, and when.

use crate::algebra::dot;
use crate::algebra::root::bracketed_root;
use crate::systems::MechanicalSystem;
use crate::systems::passage::GapAlong;

use super::integrator::Integrator;
use super::modes::Friction;
use super::scales::{BEGUN, STOPPED};

/// A gap above this part of what the step could move it is open beyond the error of the way in between.
const CLEAR: f64 = 1e-6;

/// Times that differ by less than this part of them are one instant, to rounding.
pub(super) const TIE: f64 = 64.0 * f64::EPSILON;

/// What can end a smooth piece of the motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Watch {
    /// An open contact touches.
    Gap(usize),
    /// A rigid contact stops pressing.
    Normal(usize),
    /// A compliant contact opens.
    Release(usize),
    /// A stuck group reaches its cone.
    Cone(usize, usize),
    /// A slipping group stops.
    Stop(usize, usize),
    /// A group that begins to slip has gathered speed.
    Begun(usize, usize),
    /// A row that is held has a velocity: it jumped.
    Jump,
    /// A function of the user changes sign.
    User(usize),
}

/// The way of a step: the cubic through coordinates and their rates at both ends, the velocities straight between theirs.
pub(super) struct Way {
    start: Vec<f64>,
    rate: Vec<f64>,
    bend: Vec<f64>,
    twist: Vec<f64>,
    velocities: [Vec<f64>; 2],
}

impl Way {
    /// That of the step of length `h` just taken, which ends at `end`.
    pub fn new(integrator: &Integrator, h: f64, end: &[f64]) -> Self {
        let (nq, n) = (integrator.nq, integrator.n);
        let (y, step) = (&integrator.y, &integrator.step);
        let [rate, last] = [&step.k[0], &step.k[6]].map(|k| k[..nq].iter().map(|x| h * x));
        let rate: Vec<f64> = rate.collect();
        let (mut bend, mut twist) = (vec![0.0; nq], vec![0.0; nq]);
        for (i, v1) in last.enumerate() {
            let (moved, v0) = (end[i] - y[i], rate[i]);
            (bend[i], twist[i]) = (3.0 * moved - 2.0 * v0 - v1, v0 + v1 - 2.0 * moved);
        }
        Self {
            start: y[..nq].to_vec(),
            rate,
            bend,
            twist,
            velocities: [y, end].map(|y| y[nq..nq + n].to_vec()),
        }
    }

    /// Coordinates at the part u of the step.
    pub fn place(&self, u: f64, q: &mut [f64]) {
        for (i, x) in q.iter_mut().enumerate() {
            *x = self.start[i] + u * (self.rate[i] + u * (self.bend[i] + u * self.twist[i]));
        }
    }

    /// Velocity there.
    pub fn velocity(&self, u: f64, v: &mut [f64]) {
        let [first, last] = &self.velocities;
        for ((x, a), b) in v.iter_mut().zip(first).zip(last) {
            *x = (1.0 - u) * a + u * b;
        }
    }
}

impl Integrator {
    /// Functions that can end the current piece.
    pub(super) fn watched(&self) -> Vec<Watch> {
        let acc = &self.accelerations;
        let mut list = Vec::new();
        for (s, mode) in self.modes.iter().enumerate() {
            let c = acc.layout.slots()[s].key.constraint();
            if !mode.closed {
                list.push(Watch::Gap(c));
                continue;
            }
            if acc.springs.is_empty() {
                list.push(Watch::Normal(s));
            } else {
                list.push(Watch::Release(s));
            }
            for (g, friction) in mode.friction.iter().enumerate() {
                list.push(match friction {
                    Friction::Stick => Watch::Cone(s, g),
                    Friction::Slip(_) | Friction::Begin(_) => Watch::Stop(s, g),
                });
                if matches!(friction, Friction::Begin(_)) {
                    list.push(Watch::Begun(s, g));
                }
            }
        }
        let joined = !acc.joint_local.is_empty();
        if joined || self.modes.iter().any(|mode| mode.closed) {
            list.push(Watch::Jump);
        }
        list.extend((0..self.watches.len()).map(Watch::User));
        list
    }

    /// Value of a watched function at the instant evaluated last; negative ends the piece.
    pub(super) fn value(&self, watch: Watch, t: f64, y: &[f64]) -> f64 {
        let acc = &self.accelerations;
        match watch {
            Watch::Gap(c) => acc.gaps[c] - self.levels[c],
            Watch::Normal(s) => acc.normal_reaction(s) + 1e-11 * acc.scale() / acc.compliance(s),
            Watch::Release(s) => -acc.gaps[acc.layout.slots()[s].key.constraint()],
            Watch::Cone(s, g) => {
                let group = &acc.groups[s][g];
                let gauge = acc.section(s, group).gauge(acc.group_reaction(s, group));
                let normal = acc.normal_reaction(s);
                normal * (1.0 + 1e-12) - gauge
            }
            Watch::Stop(s, g) => {
                let group = &acc.groups[s][g];
                let velocity = acc.velocity(s, group);
                match &self.modes[s].friction[g] {
                    Friction::Slip(direction) if group.size == 1 => direction[0] * velocity[0],
                    Friction::Begin(direction) => dot(direction, velocity),
                    _ => dot(velocity, velocity).sqrt() - STOPPED * self.slip_speed(s, g),
                }
            }
            Watch::Begun(s, g) => {
                let velocity = acc.velocity(s, &acc.groups[s][g]);
                BEGUN * self.slip_speed(s, g) - dot(velocity, velocity).sqrt()
            }
            Watch::Jump => -self.jump(),
            Watch::User(i) => self.watches[i].value(t, &y[..self.nq], &y[self.nq..][..self.n]),
        }
    }

    /// Speed of a group of tangents at the largest kinetic energy of the run.
    pub(super) fn slip_speed(&self, s: usize, g: usize) -> f64 {
        let group = &self.accelerations.groups[s][g];
        let start = self.accelerations.layout.slots()[s].start + group.start;
        let speeds = &self.scales.speeds[start..start + group.size];
        speeds.iter().fold(0.0, |m, u| m.max(*u))
    }

    pub(super) fn values(&self) -> Vec<(Watch, f64)> {
        let y = &self.y;
        self.watched()
            .into_iter()
            .map(|watch| (watch, self.value(watch, self.t, y)))
            .collect()
    }

    /// The earliest event inside the step of length `h` just taken, which then ends with it.
    pub(super) fn first_event(
        &mut self,
        system: &dyn MechanicalSystem,
        h: f64,
        before: &[(Watch, f64)],
    ) -> Option<(f64, Watch)> {
        let end = std::mem::take(&mut self.step.y);
        let after: Vec<f64> = before
            .iter()
            .map(|&(watch, _)| self.value(watch, self.t + h, &end))
            .collect();
        let dips = self.gap_dips(system, h, &end);
        let rough = self.rough_pieces(system, h, &end);
        self.step.y = end;
        self.probed = false;
        let mut first: Option<(f64, Watch)> = None;
        for (&(watch, start), &stop) in before.iter().zip(&after) {
            let found = match watch {
                Watch::User(_) => {
                    let sign = start.signum();
                    if start == 0.0 || stop * start >= 0.0 {
                        None
                    } else {
                        let at =
                            self.root(system, watch, (0.0, start * sign), (h, stop * sign), sign);
                        Some(at)
                    }
                }
                Watch::Gap(c) => {
                    let found = dips.iter().find(|dip| dip.0 == c);
                    let dip = found.map(|dip| dip.1);
                    if stop >= -self.accelerations.gap_rounding[c] && dip.is_none() {
                        None
                    } else {
                        let b = dip.unwrap_or(h);
                        let at = self.crossing(system, watch, start, b);
                        // The way dips where the step itself does not: thinner than either can tell.
                        if let (None, Some(&(_, dip, true))) = (at, found) {
                            self.passed = Some((c, dip));
                        }
                        at
                    }
                }
                Watch::Jump => self.first_jump(system, h, [-start, -stop], &rough),
                _ if stop < 0.0 => self.crossing(system, watch, start, h),
                _ => None,
            };
            let Some(at) = found else { continue };
            // What a jump of rows changes at its instant is no event of its own, and one of the user ends no piece.
            let tie = TIE * (self.t.abs() + h);
            let later = |(best, other): (f64, Watch)| match (watch, other) {
                (Watch::User(_), _) | (Watch::Jump, _) => at > best + tie,
                (_, Watch::Jump) => at >= best - tie,
                _ => at >= best,
            };
            if !first.is_some_and(later) {
                first = Some((at, watch));
            }
        }
        self.leapt = false;
        if let Some((at, watch)) = &mut first
            && matches!(watch, Watch::Stop(..) | Watch::Cone(..) | Watch::Normal(_))
        {
            let ends = before.iter().zip(&after).find(|((w, _), _)| w == watch);
            let size = ends.map_or(0.0, |((_, start), stop)| start.abs().max(stop.abs()));
            self.leapt = self.leaps(system, *watch, *at, size);
            if self.leapt {
                // What comes next is chosen by what acts beyond it.
                *at += TIE * (self.t.abs() + *at);
            }
        }
        if self.probed {
            // The step that is made is in the buffer again.
            self.take(system, first.map_or(h, |(at, _)| at));
        }
        first
    }

    /// Whether a watched function leaps at an instant by a good part of its size at the ends of the step.
    fn leaps(&mut self, system: &dyn MechanicalSystem, watch: Watch, at: f64, size: f64) -> bool {
        let tie = TIE * (self.t.abs() + at);
        let sides = [(at - tie).max(0.0), at + tie];
        let [before, after] = sides.map(|h| self.value_after(system, watch, h));
        (after - before).abs() > 0.1 * size
    }

    /// Open constraints that dip below zero inside the step, with the time of the dip and whether it leads to another side: on the cubic through
    /// coordinates and their rates at both ends, sampled, and at every minimum that the rates of the gap enclose; from
    /// a start that is clearly open, the first part below zero, however thin. Constraints that were passed through
    /// without one are noted.
    pub(super) fn gap_dips(
        &mut self,
        system: &dyn MechanicalSystem,
        h: f64,
        end: &[f64],
    ) -> Vec<(usize, f64, bool)> {
        const PIECES: usize = 8;
        let (nq, turning) = (self.nq, self.nq != self.n);
        let mut dips: Vec<(usize, f64, bool)> = Vec::new();
        let way = Way::new(self, h, end);
        let place = |u: f64, q: &mut [f64]| way.place(u, q);
        // The velocity there, over the step.
        let moved = |u: f64, out: &mut [f64]| {
            way.velocity(u, out);
            out.iter_mut().for_each(|x| *x *= h);
        };
        let mut q = vec![0.0; nq];
        let (mut passed, mut weights) = (None, Vec::new());
        for (s, mode) in self.modes.iter().enumerate() {
            let c = self.accelerations.layout.slots()[s].key.constraint();
            let gap = system.constraints()[c].gap();
            let soft = !self.accelerations.springs.is_empty() && !gap.is_affine();
            if (mode.closed && !soft) || dips.iter().any(|&(d, ..)| d == c) {
                continue;
            }
            if weights.is_empty() && !gap.is_affine() {
                let mut mass = system.new_matrix();
                system.mass(&self.y[..nq], &mut mass);
                weights.extend((0..self.n).map(|i| mass.get(i, i)));
            }
            let along = GapAlong {
                system,
                gap,
                place: &place,
                moved: &moved,
                time: (self.t, h),
                weights: &weights,
                rounding: (4.0 * self.accelerations.gap_rounding[c]).max(1e-300),
            };
            if mode.closed {
                // A spring that is pressed through to the other side of its obstacle.
                let passages = along.passages();
                let through = passages.iter().find(|p| p.crosses(&weights));
                passed = passed.or(through.map(|p| (c, h * p.exit.s)));
                continue;
            }
            // From a start that is clearly open the first part below zero is found, however thin.
            let start = (!gap.is_affine()).then(|| along.station(0.0, &mut q));
            if start.is_some_and(|at| at.value > CLEAR * at.steepness) {
                let first = along.passages().into_iter().next();
                let wall = first.as_ref().filter(|p| !(p.depth < -along.rounding));
                passed = passed.or(wall.map(|p| (c, h * p.lowest)));
                let dip = first.filter(|p| p.depth < -along.rounding);
                dips.extend(dip.map(|p| (c, h * p.lowest, p.crosses(&weights))));
                continue;
            }
            let mut value = |u: f64| {
                place(u, &mut q);
                gap.value(self.t + u * h, &q)
            };
            let rounding = (4.0 * self.accelerations.gap_rounding[c]).max(1e-300);
            let below = self.levels[c] - rounding;
            let mut gaps = [0.0; PIECES + 1];
            for (k, g) in gaps.iter_mut().enumerate() {
                *g = value(k as f64 / PIECES as f64);
            }
            let mut found = (1..PIECES)
                .find(|&k| gaps[k] < below)
                .map(|k| k as f64 / 8.0);
            // Between samples: the minimum of every piece that falls at its start and rises at its end.
            // For turning bodies only: on straight coordinates the cubic of a contact that has just opened dips below zero
            // by its own error.
            for k in 0..if turning { PIECES } else { 0 } {
                if found.is_some() {
                    break;
                }
                let (mut a, mut b) = (k as f64 / 8.0, (k + 1) as f64 / 8.0);
                let e = 1e-4 * (b - a);
                if value(a + e) >= gaps[k] || value(b - e) >= gaps[k + 1] {
                    continue;
                }
                for _ in 0..60 {
                    let (m1, m2) = (a + (b - a) / 3.0, b - (b - a) / 3.0);
                    if value(m1) <= value(m2) {
                        b = m2;
                    } else {
                        a = m1;
                    }
                }
                let u = 0.5 * (a + b);
                found = (value(u) < below).then_some(u);
            }
            dips.extend(found.map(|u| (c, u * h, false)));
        }
        self.passed = passed;
        dips
    }

    /// Time in (0, b] at which a watched function that starts at `start` becomes negative.
    pub(super) fn crossing(
        &mut self,
        system: &dyn MechanicalSystem,
        watch: Watch,
        start: f64,
        b: f64,
    ) -> Option<f64> {
        let end = self.value_after(system, watch, b);
        if end >= 0.0 {
            return None;
        }
        if start > 0.0 {
            return Some(self.root(system, watch, (0.0, start), (b, end), 1.0));
        }
        // It starts at zero: look for the time at which it had become positive.
        let (mut low, mut high, mut high_value) = (b, b, end);
        for _ in 0..60 {
            low *= 0.5;
            let value = self.value_after(system, watch, low);
            if value > 0.0 {
                return Some(self.root(system, watch, (low, value), (high, high_value), 1.0));
            }
            (high, high_value) = (low, value);
            if low < 1e-15 * self.t.abs().max(b) {
                break;
            }
        }
        Some(0.0)
    }

    pub(super) fn value_after(
        &mut self,
        system: &dyn MechanicalSystem,
        watch: Watch,
        h: f64,
    ) -> f64 {
        self.take(system, h);
        self.probed = true;
        let y = std::mem::take(&mut self.step.y);
        let value = self.value(watch, self.t + h, &y);
        self.step.y = y;
        value
    }

    pub(super) fn root(
        &mut self,
        system: &dyn MechanicalSystem,
        watch: Watch,
        (a, fa): (f64, f64),
        (b, fb): (f64, f64),
        sign: f64,
    ) -> f64 {
        bracketed_root(a, fa, b, fb, |h| sign * self.value_after(system, watch, h))
    }
}
