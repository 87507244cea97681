//! Obstacles on the way between two nodes.

use crate::algebra::dot;
use crate::systems::functions::ScalarFunction;
use crate::systems::passage::{GapAlong, Passage, Station, straight};
use crate::systems::seen_gap::WayEnds;

use super::judge::Judge;
use super::path::Path;
use super::place::Place;
use super::{Line, MotionNode, Quadrature, Verification};

impl Judge<'_> {
    /// The straight way of a step, then that of its projection, goes through no obstacle: it does not come out on another
    /// side than it went in, and no contact is missed that it would have met. `acted` tells which constraints took part.
    pub(super) fn step_passages(
        &self,
        (here, there): (&Place, &Place),
        (a, b): (&MotionNode, &MotionNode),
        acted: &[bool],
        report: &mut Verification,
    ) {
        let (system, h) = (self.system, b.t - a.t);
        let curved = |c: usize| !system.constraints()[c].gap().is_affine();
        if !(0..here.gaps.len()).any(curved) {
            return;
        }
        let free = self.before_projection(b);
        let ends = (a.q.as_slice(), free.as_slice());
        let moved: Vec<f64> = if system.coordinate_count() == system.dof() {
            free.iter().zip(&a.q).map(|(x, y)| x - y).collect()
        } else {
            b.v_right.iter().map(|v| h * v).collect()
        };
        let weights = weights(here);
        for c in (0..here.gaps.len()).filter(|&c| curved(c)) {
            let gap = system.constraints()[c].gap();
            let acted = acted[c];
            let rounding = self.gap_slack(here, c);
            let along = GapAlong {
                system,
                gap,
                place: &|s, q| straight(system, ends, s, q),
                moved: &|_, out| out.copy_from_slice(&moved),
                time: (a.t, h),
                weights: &weights,
                rounding,
            };
            let after = gap.value(b.t, &free);
            let known = ends_of((here, there), c, (&moved, h), after, &weights);
            let mut q = a.q.clone();
            if !known.may_pass(acted, rounding, |s| {
                straight(system, ends, s, &mut q);
                gap.value(a.t + s * h, &q)
            }) {
                continue;
            }
            let reached = along.at(1.0, &b.q);
            let bend = bend(a, &b.v_right, h, &weights);
            let open = here.gaps[c] > rounding && there.gaps[c] > rounding;
            let missed = |passage: &Passage| {
                open && !acted
                    && passage.is_whole()
                    && passage.depth < -(rounding + bend * steepness(&passage.entry, &weights))
            };
            let crossed = along.passages().into_iter().find(|passage| {
                passage.crosses(&weights)
                    || (passage.is_open() && passage.leaves(&reached, &weights))
                    || missed(passage)
            });
            if let Some(passage) = crossed {
                report.note(Line::Passage, b.t, -passage.depth, self.name(c));
            }
        }
    }

    /// Gap on the path of an interval that does not tell an open contact from a closed one: that of numbers that were written down, and
    /// what velocities of such numbers move meanwhile.
    pub(super) fn path_gap_slack(&self, path: &Path, place: &Place, c: usize) -> f64 {
        let h = path.to.t - path.from.t;
        let gradient = &place.gradients[c];
        let speed = self.subsystems.speed_of(gradient) * place.velocity_reach(gradient);
        self.written_gap_slack(place, c) + self.settings.tolerance * h * speed
    }

    /// The gap of a constraint where it is open on the path of an interval, if it is: a reaction that is told as one impulse of the
    /// interval may act anywhere on it. Without a reaction (`pressed`) the middle stands for the way.
    pub(super) fn open_on_the_way(
        &self,
        path: &Path,
        middle: &Place,
        c: usize,
        pressed: bool,
    ) -> Option<f64> {
        let (system, a) = (self.system, path.from);
        let (gap, slack) = (
            system.constraints()[c].gap(),
            self.path_gap_slack(path, middle, c),
        );
        if middle.gaps[c] > slack {
            return Some(middle.gaps[c]);
        }
        // Along a parabola three places tell all.
        if !pressed || gap.is_affine() && system.coordinate_count() == system.dof() {
            return None;
        }
        let along = GapAlong {
            system,
            gap: &Opposite(gap),
            place: &|s, q| q.copy_from_slice(&path.configuration(s)),
            moved: &|s, out| write_moved(path, s, out),
            time: (a.t, path.to.t - a.t),
            weights: &weights(middle),
            rounding: slack,
        };
        let widths = along.passages().into_iter().map(|part| -part.depth);
        widths.filter(|&gap| gap > slack).reduce(f64::max)
    }

    /// The way between two nodes of a motion that is given as it is stays where gaps are not negative. One that is free is
    /// known up to what its velocity changes; where there is one coordinate and the obstacle rests, every way leads
    /// through what lies between its ends.
    pub(super) fn path_passages(
        &self,
        path: &Path,
        (before, after): (&Place, &Place),
        report: &mut Verification,
    ) {
        let (system, a, b) = (self.system, path.from, path.to);
        let h = b.t - a.t;
        let weights = weights(before);
        for (c, constraint) in system.constraints().iter().enumerate() {
            let gap = constraint.gap();
            let along = GapAlong {
                system,
                gap,
                place: &|s, q| q.copy_from_slice(&path.configuration(s)),
                moved: &|s, out| write_moved(path, s, out),
                time: (a.t, h),
                weights: &weights,
                rounding: self.path_gap_slack(path, after, c),
            };
            let resting = system.dof() == 1 && [a, b].iter().all(|n| gap.rate(n.t, &n.q) == 0.0);
            let free = match path.quadrature {
                Quadrature::Free if !resting => 4.0 * bend(a, &b.v_left, h, &weights),
                _ => 0.0,
            };
            let deep = |passage: &Passage| {
                let least = along.rounding + free * steepness(&passage.entry, &weights);
                passage.depth < -least || (free == 0.0 && passage.crosses(&weights))
            };
            if let Some(passage) = along.passages().into_iter().find(deep) {
                let t = a.t + passage.lowest * h;
                report.note(Line::Passage, t, -passage.depth, self.name(c));
            }
        }
    }
}

/// A gap with the other sign: where it is negative the gap is open.
struct Opposite<'a>(&'a dyn ScalarFunction);

impl ScalarFunction for Opposite<'_> {
    fn value(&self, t: f64, q: &[f64]) -> f64 {
        -self.0.value(t, q)
    }
    fn gradient(&self, t: f64, q: &[f64], out: &mut [f64]) {
        self.0.gradient(t, q, out);
        out.iter_mut().for_each(|g| *g = -*g);
    }
    fn rate(&self, t: f64, q: &[f64]) -> f64 {
        -self.0.rate(t, q)
    }
}

/// Displacement per unit of the part of an interval.
fn write_moved(path: &Path, s: f64, out: &mut [f64]) {
    let (h, v) = (path.to.t - path.from.t, path.velocity(s));
    out.iter_mut().zip(&v).for_each(|(x, v)| *x = h * v);
}

/// Diagonal of the mass.
fn weights(place: &Place) -> Vec<f64> {
    (0..place.mass.order())
        .map(|i| place.mass.get(i, i).max(f64::MIN_POSITIVE))
        .collect()
}

/// Size of a normal in the metric of the weights.
fn steepness(station: &Station, weights: &[f64]) -> f64 {
    norm(&station.normal, weights)
}

fn norm(covector: &[f64], weights: &[f64]) -> f64 {
    let parts = covector.iter().zip(weights);
    parts.map(|(g, m)| g * g / m).sum::<f64>().sqrt()
}

/// How far a way whose velocity changes steadily is off the straight one.
fn bend(a: &MotionNode, v: &[f64], h: f64, weights: &[f64]) -> f64 {
    let pairs = v.iter().zip(&a.v_right).zip(weights);
    let square: f64 = pairs.map(|((b, a), m)| m * (b - a) * (b - a)).sum();
    0.125 * h * square.sqrt()
}

/// What the places at both ends of a step tell of a gap, whose value before its projection is `after`.
fn ends_of(
    (here, there): (&Place, &Place),
    c: usize,
    (moved, h): (&[f64], f64),
    after: f64,
    weights: &[f64],
) -> WayEnds {
    let length: f64 = moved.iter().zip(weights).map(|(x, m)| m * x * x).sum();
    let [start, end] = [here, there].map(|place| {
        let (normal, drift) = (&place.gradients[c], h * place.rates[c]);
        let steep = norm(normal, weights);
        (
            dot(normal, moved) + drift,
            steep * length.sqrt() + drift.abs(),
            steep,
        )
    });
    let pairs = here.gradients[c].iter().zip(&there.gradients[c]);
    let product: f64 = pairs.zip(weights).map(|((a, b), m)| a * b / m).sum();
    WayEnds {
        gaps: [here.gaps[c], after],
        slopes: [start.0, end.0],
        steepness: start.1.max(end.1),
        cosine: product / (start.2 * end.2),
    }
}
