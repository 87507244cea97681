//! Which contacts stay closed, stick or slip after an event.

use crate::algebra::dot;

use super::accelerations::Accelerations;
use super::modes::{Friction, Group, Mode};

/// Decisions are taken with this part of the acceleration scale as margin.
const MARGIN: f64 = 1e-9;

impl Accelerations {
    /// Chooses the modes of the touching contacts so that accelerations and reactions satisfy every
    /// law: closed with `λ_N ≥ 0` or open with `a_N > 0`; stick inside the cone or slip against
    /// friction. `resting[slot][group]` tells which groups have no velocity, `leaving` the group that has
    /// just reached its cone and so does not stick. All combinations are tried in the order take-off,
    /// stick, slip; false if none is consistent.
    pub fn choose(
        &mut self,
        touching: &[bool],
        resting: &[Vec<bool>],
        leaving: Option<(usize, usize)>,
        modes: &mut Vec<Mode>,
    ) -> bool {
        let slots: Vec<usize> = (0..touching.len()).filter(|&s| touching[s]).collect();
        let options: Vec<Vec<Mode>> = slots
            .iter()
            .map(|&s| self.options(s, &resting[s], leaving, &modes[s]))
            .collect();
        let total: usize = options.iter().map(Vec::len).product();
        for mode in modes.iter_mut() {
            mode.closed = false;
        }
        let start = modes.clone();
        for lenient in [false, true] {
            for code in 0..total.min(100_000) {
                let mut rest = code;
                modes.clone_from(&start);
                for (&s, list) in slots.iter().zip(&options) {
                    modes[s] = list[rest % list.len()].clone();
                    rest /= list.len();
                }
                if self.consistent(&slots, resting, modes, lenient) {
                    return true;
                }
            }
        }
        modes.clone_from(&start);
        false
    }

    /// Candidate modes of one contact: open, then all ways to be closed.
    fn options(
        &self,
        slot: usize,
        resting: &[bool],
        leaving: Option<(usize, usize)>,
        was: &Mode,
    ) -> Vec<Mode> {
        let mut closed = vec![Vec::new()];
        for (g, (group, &rests)) in self.groups[slot].iter().zip(resting).enumerate() {
            let velocity = self.velocity(slot, group);
            let speed = dot(velocity, velocity).sqrt();
            let mut choices = Vec::new();
            if !rests {
                let direction = velocity.iter().map(|u| u / speed).collect();
                let began = was.closed && matches!(was.friction[g], Friction::Begin(_));
                choices.push(if began {
                    Friction::Begin(direction)
                } else {
                    Friction::Slip(direction)
                });
            } else {
                if leaving != Some((slot, g)) {
                    choices.push(Friction::Stick);
                }
                if group.size == 1 {
                    choices.push(Friction::Slip(vec![1.0]));
                    choices.push(Friction::Slip(vec![-1.0]));
                } else {
                    // The direction is sought.
                    choices.push(Friction::Begin(vec![0.0; group.size]));
                }
            }
            closed = closed
                .into_iter()
                .flat_map(|list: Vec<Friction>| {
                    choices.iter().map(move |choice| {
                        let mut list = list.clone();
                        list.push(choice.clone());
                        list
                    })
                })
                .collect();
        }
        let open = Mode {
            closed: false,
            friction: closed[0].clone(),
        };
        let mut options = Vec::new();
        if self.springs.is_empty() {
            options.push(open);
        }
        options.extend(closed.into_iter().map(|friction| Mode {
            closed: true,
            friction,
        }));
        options
    }

    fn consistent(
        &mut self,
        slots: &[usize],
        resting: &[Vec<bool>],
        modes: &mut [Mode],
        lenient: bool,
    ) -> bool {
        if !self.settle_directions(modes) {
            return false;
        }
        let margin = MARGIN * self.scale();
        if self.unheld > margin {
            return false;
        }
        for &s in slots {
            if !modes[s].closed {
                let lift = self.row_acceleration(s, 0);
                if lift < if lenient { -margin } else { margin } {
                    return false;
                }
                continue;
            }
            let normal = self.normal_reaction(s);
            let weight = self.compliance(s);
            if normal * weight < -margin {
                return false;
            }
            for (g, group) in self.groups[s].iter().enumerate() {
                if !resting[s][g] {
                    continue;
                }
                match &modes[s].friction[g] {
                    Friction::Stick => {
                        let gauge = self.section(s, group).gauge(self.group_reaction(s, group));
                        let slack = if lenient { 1e-8 } else { 1e-13 };
                        if gauge > normal.max(0.0) * (1.0 + slack) + slack * margin / weight {
                            return false;
                        }
                    }
                    Friction::Slip(direction) | Friction::Begin(direction) => {
                        let along: f64 = (0..group.size)
                            .map(|k| direction[k] * self.row_acceleration(s, group.start + k))
                            .sum();
                        // A compliant contact that does not press yet slips where its force will push it.
                        let undecided = !self.springs.is_empty()
                            && along.abs() <= margin
                            && normal * weight <= margin;
                        let along = if undecided {
                            self.tendency(s, group, direction)
                        } else {
                            along
                        };
                        if along < if lenient { -margin } else { 0.0 } {
                            return false;
                        }
                    }
                }
            }
        }
        true
    }

    /// Acceleration along `direction` of a slipping group per unit of normal force.
    fn tendency(&self, s: usize, group: &Group, direction: &[f64]) -> f64 {
        let opposite: Vec<f64> = direction.iter().map(|d| -d).collect();
        let mut share = vec![0.0; group.size];
        self.section(s, group).support_point(&opposite, &mut share);
        let mut force = self.row(s, 0).to_vec();
        for (k, p) in share.iter().enumerate() {
            for (f, r) in force.iter_mut().zip(self.row(s, group.start + k)) {
                *f += p * r;
            }
        }
        self.factor.solve_in_place(&mut force);
        (0..group.size)
            .map(|k| direction[k] * dot(self.row(s, group.start + k), &force))
            .sum()
    }
}
