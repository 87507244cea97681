//! The lines of a motion that is given as it is: densities on intervals, atoms at nodes.

use crate::algebra::dot;
use crate::systems::Instant;

use super::friction::{Reads, mean};
use super::judge::Judge;
use super::path::{IntervalSum, Path};
use super::place::{Place, remove};
use super::reactions::Reaction;
use super::{Line, MotionNode, Quadrature, Verification};

/// Errors of an integral below this part of what is tolerated do not matter.
pub(super) const CONVERGED: f64 = 1e-3;

/// Rounding of numbers that are summed in a momentum.
const NUMBERS: f64 = 64.0 * f64::EPSILON;

/// What intervals and impacts of a motion add up to.
struct Balance {
    defect: Vec<f64>,
    /// What integrals may be off, and rounding.
    slack: Vec<f64>,
    momentum: Vec<f64>,
    reaction: Vec<f64>,
}

impl Balance {
    fn of(dof: usize) -> Self {
        let none = || vec![0.0; dof];
        Self {
            defect: none(),
            slack: none(),
            momentum: none(),
            reaction: none(),
        }
    }
}

impl Judge<'_> {
    /// Every node and the interval before it.
    pub(super) fn exact_motion(&self, report: &mut Verification) {
        let mut last: Option<Place> = None;
        let mut whole = Balance::of(self.system.dof());
        for (k, node) in self.motion.nodes.iter().enumerate() {
            let mut place = Place::at(self.system, node.t, &node.q, &node.v_right);
            place.close(|place, contact| {
                let closed = self.is_closed(place, contact.constraint);
                (closed, closed)
            });
            self.gaps(node.t, &place, None, report);
            self.frames(&place, node, report);
            self.joints(node, report);
            if let Some(before) = &last {
                self.interval(k, (before, &place), &mut whole, report);
            }
            self.atom(k, &mut place, &mut whole, report);
            self.balance(node.t, &place, &whole, report);
            last = Some(place);
        }
    }

    fn is_closed(&self, place: &Place, constraint: usize) -> bool {
        place.gaps[constraint] <= self.written_gap_slack(place, constraint)
    }

    /// Gaps are not negative, at a node or on the path of an interval.
    fn gaps(&self, t: f64, place: &Place, path: Option<&Path>, report: &mut Verification) {
        for (index, &gap) in place.gaps.iter().enumerate() {
            let limit = match path {
                Some(path) => self.path_gap_slack(path, place, index),
                None => self.written_gap_slack(place, index),
            };
            if !(gap >= -limit) {
                report.note(Line::NonPenetration, t, -gap, self.name(index));
            }
        }
    }

    /// Joints hold, in place and in velocity.
    fn joints(&self, node: &MotionNode, report: &mut Verification) {
        let n = self.system.dof();
        for joint in self.system.joints() {
            let function = joint.function();
            let mut row = vec![0.0; n];
            function.gradient(node.t, &node.q, &mut row);
            let size: f64 = row.iter().zip(&node.q).map(|(g, q)| (g * q).abs()).sum();
            let off = function.value(node.t, &node.q).abs();
            if !(off <= self.settings.gap_tolerance * (size + self.size_of_motion(&row))) {
                report.note(Line::Joints, node.t, off, None);
            }
            let rate = function.rate(node.t, &node.q);
            for v in [&node.v_left, &node.v_right] {
                let pairs = row.iter().zip(v);
                let scale = pairs.map(|(g, v)| (g * v).abs()).fold(rate.abs(), f64::max);
                let off = (dot(&row, v) + rate).abs();
                if !(off <= self.settings.tolerance * scale) {
                    report.note(Line::Joints, node.t, off / scale, None);
                }
            }
        }
    }

    /// Kinematics, equation of motion and friction of the interval that ends at node k.
    fn interval(
        &self,
        k: usize,
        (before, after): (&Place, &Place),
        whole: &mut Balance,
        report: &mut Verification,
    ) {
        let (a, b) = (&self.motion.nodes[k - 1], &self.motion.nodes[k]);
        let path = Path::new(self.system, (a, b), self.motion.quadrature);
        let sum = path.sum(&self.least_momenta(after));
        self.displacement(&path, after, &sum, report);
        self.momentum(&path, after, &sum, whole, report);
        self.path_passages(&path, (before, after), report);
        // Gaps between the nodes, where the path is known.
        if path.quadrature != Quadrature::Free {
            for s in Path::looks() {
                self.gaps(a.t + s * (b.t - a.t), &path.place(s), Some(&path), report);
            }
        }
        if b.smooth.iter().all(|&p| p == 0.0) {
            return;
        }
        // A reaction over an interval needs contact all the time.
        let mut middle = path.place(0.5);
        let widest: Vec<Option<f64>> = (0..middle.gaps.len())
            .map(|c| self.widest_gap(&path, (before, &middle, after), c))
            .collect();
        let gaps = middle.gaps.iter_mut().zip(&widest);
        gaps.for_each(|(gap, widest)| *gap = widest.unwrap_or(*gap));
        middle.close(|_, contact| {
            let closed = widest[contact.constraint].is_none();
            (closed, closed)
        });
        let laws = (path.quadrature != Quadrature::Free)
            .then(|| self.laws_along(&path, &mut middle, report));
        let first = middle.local(&a.v_right);
        let local = middle.local(&path.mean_velocity());
        let last = middle.local(&b.v_left);
        let reads = match &laws {
            Some(laws) => Reads::Along(laws),
            None => Reads::Between(&first, &last),
        };
        let reaction = Reaction {
            t: b.t,
            impulse: &b.smooth,
            reads,
            after: &local,
            leaving: Vec::new(),
        };
        self.reaction_laws(&middle, &reaction, report);
        let ends = (before.local(&a.v_right), after.local(&b.v_left));
        let work = |impulse: &[f64]| match path.quadrature {
            Quadrature::Free => least_work(impulse, &ends.0, &ends.1),
            Quadrature::Affine | Quadrature::Step => dot(impulse, &local),
        };
        self.dissipation(b.t, (&middle, &b.smooth), work, report);
    }

    /// The gap of a constraint that is not closed all the way of an interval; one that takes no part is looked at in three places only.
    fn widest_gap(
        &self,
        path: &Path,
        (before, middle, after): (&Place, &Place, &Place),
        c: usize,
    ) -> Option<f64> {
        if !self.is_closed(before, c) || !self.is_closed(after, c) {
            return Some(before.gaps[c].max(after.gaps[c]));
        }
        if path.quadrature == Quadrature::Free {
            return None;
        }
        let mut contacts = middle.contacts.iter().filter(|x| x.constraint == c);
        let pressed = contacts.any(|x| {
            path.to.smooth[x.start..x.start + x.size]
                .iter()
                .any(|&p| p != 0.0)
        });
        self.open_on_the_way(path, middle, c, pressed)
    }

    /// Gives contacts whose friction depends on the slip speed their sections for the velocity that friction reads at an instant.
    fn read_slip_at(&self, node: &MotionNode, local: &[f64], place: &mut Place) {
        let points = self.system.constraints().iter().flat_map(|c| c.points());
        for (contact, point) in place.contacts.iter_mut().zip(points) {
            let at = Instant::new(node.t, &node.q, &node.v_right);
            if point.slip.is_some()
                && let Ok(section) = point.section_at_slip(&at, contact.slip_speed(local))
            {
                contact.section = section;
            }
        }
    }

    /// Positions: the displacement is the integral of the velocity.
    fn displacement(
        &self,
        path: &Path,
        place: &Place,
        sum: &IntervalSum,
        report: &mut Verification,
    ) {
        let (a, b) = (path.from, path.to);
        let (h, tolerance) = (b.t - a.t, self.settings.tolerance);
        let expected = path.configuration(1.0);
        let same = self.system.coordinate_count() == self.system.dof();
        let fastest = place.fastest_rate(self.speed);
        for (i, (expected, found)) in expected.iter().zip(&b.q).enumerate() {
            let speed = if same {
                self.subsystems.speed(i) / place.mass.get(i, i).max(f64::MIN_POSITIVE).sqrt()
            } else {
                fastest
            };
            // Half of the change of the velocity, and what it may be off in between: it may have its largest value there.
            let ways = |i: usize| h * (0.5 * (b.v_left[i] - a.v_right[i]).abs() + sum.wander[i]);
            let free = match path.quadrature {
                Quadrature::Free if same => ways(i),
                Quadrature::Free => (0..b.v_left.len()).map(ways).fold(0.0, f64::max),
                Quadrature::Affine | Quadrature::Step => 0.0,
            };
            let rounding = 64.0 * f64::EPSILON * (found.abs() + a.q[i].abs());
            let off = (expected - found).abs() - free;
            if !(off <= tolerance * h * speed + rounding) {
                report.note(Line::Kinematics, b.t, off / (h * speed), None);
            }
        }
    }

    /// Momenta below which nothing matters.
    fn least_momenta(&self, place: &Place) -> Vec<f64> {
        let small = CONVERGED * self.settings.tolerance;
        (0..self.system.dof())
            .map(|i| small * self.momentum_scale(place, i))
            .collect()
    }

    /// The change of momentum is the impulse of forces and reactions over the interval, to a part of what acts in it and of the share of the momentum of
    /// the motion that the interval has of its time: who cuts intervals gains nothing.
    fn momentum(
        &self,
        path: &Path,
        place: &Place,
        sum: &IntervalSum,
        whole: &mut Balance,
        report: &mut Verification,
    ) {
        let mut defect = sum.defect();
        remove(&mut defect, &sum.joints);
        let (a, b) = (path.from, path.to);
        let nodes = &self.motion.nodes;
        let time = nodes[nodes.len() - 1].t - nodes[0].t;
        let share = (b.t - a.t) / time;
        // Numbers that cancel, in the mass too.
        let size = |v: &[f64]| v.iter().map(|v| v.abs()).collect::<Vec<f64>>();
        let mut numbers = vec![0.0; defect.len()];
        for v in [size(&a.v_right), size(&b.v_left)] {
            for (i, number) in numbers.iter_mut().enumerate() {
                let row = v.iter().enumerate();
                *number += row
                    .map(|(j, v)| place.mass.get(i, j).abs() * v)
                    .sum::<f64>();
            }
        }
        for (i, &defect) in defect.iter().enumerate() {
            let scale = self.momentum_scale(place, i);
            let acting = sum.momentum[i].abs() + sum.impulse[i].abs() + sum.reaction[i].abs();
            let rounding = NUMBERS * (numbers[i] + sum.size[i]);
            let slack =
                sum.slack[i] + rounding + self.settings.tolerance * (share * scale + acting);
            if !(defect.abs() <= slack) {
                report.note(Line::EquationOfMotion, b.t, defect.abs() / scale, None);
            }
            whole.defect[i] += defect;
            whole.slack[i] += sum.slack[i] + rounding;
            whole.momentum[i] += sum.momentum[i];
            whole.reaction[i] += sum.reaction[i];
        }
    }

    /// The defects of all intervals and impacts so far, as if they were one: each may be a small part of the momentum, and they add up.
    fn balance(&self, t: f64, place: &Place, whole: &Balance, report: &mut Verification) {
        for (i, defect) in whole.defect.iter().enumerate() {
            let scale = self.momentum_scale(place, i);
            let size = scale + whole.momentum[i].abs() + whole.reaction[i].abs();
            let slack = whole.slack[i] + self.settings.tolerance * size;
            if !(defect.abs() <= slack) {
                report.note(Line::EquationOfMotion, t, defect.abs() / scale, None);
            }
        }
    }

    /// Impact equation and laws at node k.
    fn atom(&self, k: usize, place: &mut Place, whole: &mut Balance, report: &mut Verification) {
        let node = &self.motion.nodes[k];
        let defect = self.impact_equation(place, node, report);
        let impulse = place.generalized_impulse(&node.atom);
        for (i, defect) in defect.into_iter().enumerate() {
            whole.defect[i] += defect;
            whole.momentum[i] += impulse[i] + defect;
            whole.reaction[i] += impulse[i];
        }
        let (before, after) = (place.local(&node.v_left), place.local(&node.v_right));
        for contact in place.contacts.iter().filter(|c| c.closed) {
            let (i, u) = (contact.start, after[contact.start]);
            if !(u >= -self.velocity_slack(place, i)) {
                let size = -u * self.settings.tolerance / self.velocity_slack(place, i);
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
            let read = match self.formulation {
                super::Formulation::Fremond => &mean,
                _ => &after,
            };
            let at = Instant::new(node.t, &node.q, &node.v_left);
            let struck = (&before[..], &node.atom[..]);
            let impulse = self.without_layers(self.system, place, &at, struck, report);
            self.read_slip_at(node, read, place);
            let rebound = |e: f64, u: f64| e * (-u).max(0.0);
            let reaction = Reaction {
                t: node.t,
                impulse: &impulse,
                reads: Reads::One(read),
                after: &after,
                leaving: self.leaving(place, (&before, &after), &rebound),
            };
            self.reaction_laws(place, &reaction, report);
            self.impact_law(place, &reaction, &before, &rebound, report);
            let work = |impulse: &[f64]| dot(impulse, &mean);
            self.dissipation(node.t, (place, &node.atom), work, report);
        }
    }
}

/// Work of a reaction over an interval whose path is not known: on the mean of the local velocities at both ends, less the range that half of
/// their change gives it.
fn least_work(impulse: &[f64], first: &[f64], last: &[f64]) -> f64 {
    let ends = impulse.iter().zip(first.iter().zip(last));
    ends.map(|(p, (a, b))| 0.5 * (p * (a + b) - (p * (a - b)).abs()))
        .sum()
}
