//! The lines of a motion that is given as it is: densities on intervals, atoms at nodes.

use crate::algebra::dot;

use super::judge::Judge;
use super::place::{Place, force, remove};
use super::reactions::Reaction;
use super::{Line, Verification};

impl Judge<'_> {
    /// Every node and the interval before it.
    pub(super) fn exact_motion(&self, report: &mut Verification) {
        for (k, node) in self.motion.nodes.iter().enumerate() {
            let mut place = Place::at(self.system, node.t, &node.q, &node.v_right);
            place.close(|place, contact| {
                let closed = place.gaps[contact.constraint] <= self.settings.gap_tolerance;
                (closed, closed)
            });
            for (index, &gap) in place.gaps.iter().enumerate() {
                if gap < -self.settings.gap_tolerance {
                    report.note(Line::NonPenetration, node.t, -gap, self.name(index));
                }
            }
            if k > 0 {
                self.interval(k, &place, report);
            }
            self.atom(k, &place, report);
        }
    }

    /// Kinematics, equation of motion and friction of the interval that ends at node k.
    fn interval(&self, k: usize, place: &Place, report: &mut Verification) {
        let (a, b) = (&self.motion.nodes[k - 1], &self.motion.nodes[k]);
        let (h, n) = (b.t - a.t, self.system.dof());
        let tolerance = self.settings.tolerance;
        // Positions: between the displacements of the velocities met in the interval.
        if self.system.coordinate_count() == n {
            for i in 0..n {
                let moved = (b.q[i] - a.q[i]) / h;
                let ends = [a.v_right[i], b.v_left[i], b.v_right[i]];
                let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
                let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let speed = self.speed / place.mass.get(i, i).max(f64::MIN_POSITIVE).sqrt();
                let off = (low - moved).max(moved - high);
                if off > tolerance * speed.max(b.q[i].abs() / h * 1e-6) {
                    report.note(Line::Kinematics, b.t, off / speed, None);
                }
            }
        }
        // Momentum: the force lies between its values at the ends.
        let fa = force(self.system, a.t, &a.q, &a.v_right);
        let fb = force(self.system, b.t, &b.q, &b.v_left);
        let change: Vec<f64> = (b.v_left.iter().zip(&a.v_right))
            .map(|(x, y)| x - y)
            .collect();
        let mut momentum = vec![0.0; n];
        place.mass.multiply(&change, &mut momentum);
        let reaction = place.generalized_impulse(&b.smooth);
        let mut defect: Vec<f64> = (0..n)
            .map(|i| momentum[i] - 0.5 * h * (fa[i] + fb[i]) - reaction[i])
            .collect();
        remove(&mut defect, &place.joints);
        for i in 0..n {
            let scale = self.momentum_scale(place, i);
            let size = scale + momentum[i].abs() + h * fa[i].abs() + reaction[i].abs();
            let slack = h * (fa[i] - fb[i]).abs() + tolerance * size;
            if !(defect[i].abs() <= slack) {
                report.note(Line::EquationOfMotion, b.t, defect[i].abs() / scale, None);
            }
        }
        if b.smooth.iter().any(|&p| p != 0.0) {
            let mean = mean(&a.v_right, &b.v_left);
            let local = place.local(&mean);
            let reaction = Reaction {
                t: b.t,
                impulse: &b.smooth,
                read: &local,
                after: &local,
            };
            self.reaction_laws(place, &reaction, report);
            self.dissipation(b.t, dot(&b.smooth, &local), report);
        }
    }

    /// Impact equation and laws at node k.
    fn atom(&self, k: usize, place: &Place, report: &mut Verification) {
        let node = &self.motion.nodes[k];
        self.impact_equation(place, node, report);
        let (before, after) = (place.local(&node.v_left), place.local(&node.v_right));
        for contact in place.contacts.iter().filter(|c| c.closed) {
            let (i, u) = (contact.start, after[contact.start]);
            if u < -self.velocity_slack(place, i) {
                let size = -u / (self.speed * place.reach(i));
                report.note(
                    Line::Admissible,
                    node.t,
                    size,
                    self.name(contact.constraint),
                );
            }
        }
        if node.atom.iter().any(|&p| p != 0.0) {
            let mean = mean(&before, &after);
            let reaction = Reaction {
                t: node.t,
                impulse: &node.atom,
                read: if self.formulation == super::Formulation::Fremond {
                    &mean
                } else {
                    &after
                },
                after: &after,
            };
            self.reaction_laws(place, &reaction, report);
            let rebound = |e: f64, u: f64| e * (-u).max(0.0);
            self.impact_law(place, &reaction, &before, &rebound, report);
            self.dissipation(node.t, dot(&node.atom, &mean), report);
        }
    }
}

fn mean(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| 0.5 * (a + b)).collect()
}
