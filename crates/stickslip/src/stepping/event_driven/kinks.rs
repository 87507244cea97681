//! Rows that jump while they are held: kinks of gaps, floors and belts that set off at once, kinks of joints.

use crate::algebra::dot;
use crate::contact::ContactKey;
use crate::records::StepOutcome;
use crate::systems::MechanicalSystem;
use crate::systems::kink::{jumps_shut, rate_jumps, value_jumps};

use super::events::{TIE, Watch, Way};
use super::integrator::Integrator;
use super::modes::Friction;
use super::scales::TOUCHING;

/// A held row whose velocity is more than this part of its speeds in the run has jumped: accelerations that hold it keep it to the tolerance of the integration.
const JUMPED: f64 = 1e-9;
/// How far beyond a kink the state is put, as a part of the lengths of the run: farther than corrections of positions take it back.
const BEYOND: f64 = 1e-11;
/// Steps that may be cut short and move nothing, in a row.
const IDLE: usize = 1000;
/// Pieces of a step in which kinks are looked for.
const PIECES: usize = 32;

impl Integrator {
    /// Largest velocity of a held row, of which accelerations only hold the change, as a part of its speeds: it is not zero where the
    /// row jumped; or largest gap of a closed contact as a part of its lengths, whose surface rose or fell away.
    pub(super) fn jump(&self) -> f64 {
        let acc = &self.accelerations;
        let rigid = acc.springs.is_empty();
        let mut largest = 0.0f64;
        for (s, mode) in self.modes.iter().enumerate().filter(|(_, m)| m.closed) {
            let start = acc.layout.slots()[s].start;
            if rigid {
                let c = acc.layout.slots()[s].key.constraint();
                let opened = part_of(acc.gaps[c], self.scales.length(c));
                let normal = part_of(acc.local[start], self.scales.speeds[start]);
                largest = largest.max(normal).max(opened);
            }
            for (g, group) in acc.groups[s].iter().enumerate() {
                if mode.friction[g] == Friction::Stick {
                    let size = dot(acc.velocity(s, group), acc.velocity(s, group)).sqrt();
                    largest = largest.max(part_of(size, self.slip_speed(s, g)));
                }
            }
        }
        largest.max(self.jump_of_joints())
    }

    /// The same of joints alone.
    fn jump_of_joints(&self) -> f64 {
        let acc = &self.accelerations;
        let joints = acc.joint_rows().zip(&acc.joint_local);
        let parts = joints.map(|(row, u)| part_of(*u, self.scales.row_speed(acc, row)));
        parts.fold(0.0, f64::max)
    }

    /// Whether what jumped is the equation of a joint, which takes an impulse.
    pub(super) fn joints_jumped(&self, watch: Option<Watch>) -> bool {
        watch == Some(Watch::Jump) && self.jump_of_joints() > JUMPED
    }

    /// The first time within a step of length `h` after which a held row has jumped, where its end or one of the given pieces of it
    /// shows a velocity; `sizes` are those of [`Self::jump`] at both ends. One that grows without a jump, as at a dead centre, where
    /// rows hinder each other, is none: it passes every level at twice that level only where it jumps.
    pub(super) fn first_jump(
        &mut self,
        system: &dyn MechanicalSystem,
        h: f64,
        sizes: [f64; 2],
        rough: &[f64],
    ) -> Option<f64> {
        let mut level = JUMPED.max(2.0 * sizes[0]);
        let rounding = 2.0 * f64::EPSILON * (self.t.abs() + h);
        let mut size = |after: f64| -self.value_after(system, Watch::Jump, after);
        loop {
            let piece = rough
                .iter()
                .map(|u| u * h)
                .find(|&after| size(after) > level);
            let (mut low, mut high) = (0.0, piece.or((sizes[1] > level).then_some(h))?);
            while high - low > rounding {
                let middle = 0.5 * (low + high);
                if size(middle) > level {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            if size(high) > 2.0 * level {
                return Some(high);
            }
            level *= 4.0;
        }
    }

    /// Ends of the pieces of a step, as parts of it, in which the normal of a closed contact jumps: a bump may end within the step where it began.
    pub(super) fn rough_pieces(
        &self,
        system: &dyn MechanicalSystem,
        h: f64,
        end: &[f64],
    ) -> Vec<f64> {
        let way = Way::new(self, h, end);
        let rough: Vec<usize> = (self.modes.iter().enumerate())
            .filter(|(_, mode)| mode.closed && self.accelerations.springs.is_empty())
            .map(|(s, _)| self.accelerations.layout.slots()[s].key.constraint())
            .filter(|&c| system.constraints()[c].gap().has_kinks())
            .collect();
        if rough.is_empty() {
            return Vec::new();
        }
        let (mut a, mut b) = (vec![0.0; self.nq], vec![0.0; self.nq]);
        let mut v = vec![0.0; self.n];
        way.place(0.0, &mut b);
        let mut pieces = Vec::new();
        for k in 0..PIECES {
            let (u, next) = (part(k), part(k + 1));
            std::mem::swap(&mut a, &mut b);
            way.place(next, &mut b);
            way.velocity(u, &mut v);
            let places = [(self.t + u * h, &a[..]), (self.t + next * h, &b[..])];
            let jumps = |&c: &usize| rate_jumps(system, system.constraints()[c].gap(), places, &v);
            if rough.iter().any(jumps) {
                pieces.push(next);
            }
        }
        pieces
    }

    /// The gap that jumps below zero or the equation of a joint that jumps on the way of the step of length `h` just taken, or at
    /// the event that ends it.
    pub(super) fn torn(
        &mut self,
        system: &dyn MechanicalSystem,
        h: f64,
        watch: Option<Watch>,
    ) -> Option<StepOutcome> {
        let gaps: Vec<usize> = (0..system.constraints().len())
            .filter(|&c| system.constraints()[c].gap().has_jumps())
            .collect();
        let joints: Vec<usize> = (0..system.joints().len())
            .filter(|&j| system.joints()[j].function().has_jumps())
            .collect();
        if gaps.is_empty() && joints.is_empty() {
            return None;
        }
        let nq = self.nq;
        let end = self.step.y.clone();
        let way = Way::new(self, h, &end);
        let places = |from: f64, to: f64| {
            let (mut a, mut b) = (vec![0.0; nq], vec![0.0; nq]);
            way.place(from, &mut a);
            way.place(to, &mut b);
            (self.t + from * h, a, self.t + to * h, b)
        };
        let mut ways: Vec<_> = (0..PIECES).map(|k| places(part(k), part(k + 1))).collect();
        if watch.is_some_and(|watch| !matches!(watch, Watch::User(_))) {
            // On both sides of the event, on the step itself.
            let tie = TIE * (self.t.abs() + h);
            self.take(system, (h - tie).max(0.0));
            let before = self.step.y[..nq].to_vec();
            self.take(system, h + tie);
            ways.push((
                self.t + h - tie,
                before,
                self.t + h + tie,
                self.step.y[..nq].to_vec(),
            ));
            self.take(system, h);
        }
        let lengths = self.scales.lengths(system);
        let mut row = vec![0.0; self.n];
        // What the run could move in the unit of the equation of a joint, and a part of that by which a jump is none.
        let mut least = |j: usize| {
            system.joints()[j]
                .function()
                .gradient(self.t, &end[..nq], &mut row);
            let size = row.iter().zip(&lengths).map(|(g, x)| (g * x).abs());
            TOUCHING * size.sum::<f64>()
        };
        let joints: Vec<(usize, f64)> = joints.into_iter().map(|j| (j, least(j))).collect();
        ways.iter().find_map(|(t0, q0, t1, q1)| {
            let ends = [(*t0, &q0[..]), (*t1, &q1[..])];
            let gap = |c: usize| system.constraints()[c].gap();
            let shut = gaps
                .iter()
                .find(|&&c| jumps_shut(system, gap(c), ends, self.scales.touching[c]));
            let torn = || {
                let joint = joints.iter().find(|&&(j, least)| {
                    !value_jumps(system, system.joints()[j].function(), ends, least).is_empty()
                });
                joint.map(|&(joint, _)| StepOutcome::JointJumps { joint })
            };
            match shut {
                Some(&c) => Some(StepOutcome::GapJumps {
                    contact: ContactKey::declared(c, 0),
                }),
                None => torn(),
            }
        })
    }

    /// Why events follow each other without the motion getting on.
    pub(super) fn no_progress(&self, system: &dyn MechanicalSystem, watch: Watch) -> StepOutcome {
        let slots = self.accelerations.layout.slots().iter();
        let kinked = |c: usize| system.constraints()[c].gap().has_kinks();
        let mut touching = (slots.enumerate())
            .filter(|(s, slot)| self.touches(*s) && kinked(slot.key.constraint()))
            .map(|(_, slot)| slot.key);
        match touching.next() {
            Some(contact) if watch == Watch::Jump => StepOutcome::StaysAtKink { contact },
            _ => StepOutcome::NoProgress,
        }
    }

    /// Puts the state a little beyond the kink it has come to, along its velocity, so that rows are those beyond it; false if it
    /// has come back to kinks a thousand times and got no farther in between than that.
    pub(super) fn go_beyond(&mut self, system: &dyn MechanicalSystem) -> bool {
        let (q, v) = (self.q().to_vec(), self.v().to_vec());
        let speed = self.accelerations.kinetic(&v).sqrt();
        let size = self
            .accelerations
            .kinetic(&self.scales.lengths(system))
            .sqrt();
        let pause = if speed > 0.0 {
            BEYOND * size / speed
        } else {
            0.0
        };
        let nq = self.nq;
        system.displace(&q, &v, pause, &mut self.y[..nq]);
        self.jumps.add(self.t, pause)
    }

    /// Whether the step just taken is one more of a thousand that were cut short and moved nothing but rounding: it begins on a kink,
    /// and however short it is, it leads over it.
    pub(super) fn gets_nowhere(
        &mut self,
        system: &dyn MechanicalSystem,
        h: f64,
        short: bool,
    ) -> bool {
        if !short && self.idle == 0 {
            return false;
        }
        let way = h * self
            .accelerations
            .kinetic(&self.step.y[self.nq..][..self.n])
            .sqrt();
        let size = self
            .accelerations
            .kinetic(&self.scales.lengths(system))
            .sqrt();
        let moved = way > f64::EPSILON * size;
        self.idle = if moved {
            0
        } else {
            self.idle + usize::from(short)
        };
        self.idle > IDLE
    }

    /// The impact of joints whose rows jumped while contacts are springs, which have no impulses.
    pub(super) fn joints_strike(&mut self, system: &dyn MechanicalSystem) {
        let acc = &self.accelerations;
        let rows: Vec<Vec<f64>> = acc.joint_rows().map(<[f64]>::to_vec).collect();
        let (change, impulses) = self.answer(&rows, &acc.joint_local);
        let mean: Vec<f64> = (self.v().iter().zip(&change))
            .map(|(v, c)| v + 0.5 * c)
            .collect();
        let work = acc.joint_power(&impulses, &mean);
        let nq = self.nq;
        self.y[nq..]
            .iter_mut()
            .zip(&change)
            .for_each(|(v, c)| *v += c);
        let booked = self.joint_quadratures().iter_mut();
        for (sum, x) in booked.zip(impulses.iter().chain([&work])) {
            *sum += x;
        }
        self.place_here(system);
    }
}

fn part_of(velocity: f64, speed: f64) -> f64 {
    if velocity == 0.0 {
        0.0
    } else {
        velocity.abs() / speed
    }
}

fn part(k: usize) -> f64 {
    k as f64 / PIECES as f64
}
