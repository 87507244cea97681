//! Maxima, deviations and integrals of functions over a window: queues of candidates, and the tops inside curved pieces.

use std::collections::VecDeque;

use super::super::quadrature::{between, switch_places};
use super::super::{FunctionIntegral, Psi};
use super::{Interpolation, PastMotion, Tip};

impl PastMotion {
    /// Enters node `j`, and the tops inside the piece before it, into the queues.
    pub(super) fn enter_maxima(&mut self, j: usize) {
        let mut maxima = std::mem::take(&mut self.maxima);
        for (psi, _, queue) in &mut maxima {
            if j > 0 && self.may_have_a_top(psi, j - 1) {
                let piece = (self.ring.time(j - 1), self.ring.time(j));
                let at = |i: usize, s: f64| self.in_piece(j - 1, i, s);
                for top in self.tops(psi, piece, at) {
                    enter(queue, top);
                }
            }
            let value = self.psi_at_node(psi, j);
            enter(queue, (self.ring.time(j), value));
        }
        self.maxima = maxima;
    }

    /// Whether ψ may be largest inside the piece after node `j`.
    fn may_have_a_top(&self, psi: &Psi, j: usize) -> bool {
        self.is_curved(j) || !psi.is_convex()
    }

    fn psi_at_node(&self, psi: &Psi, j: usize) -> f64 {
        psi.of(self.slots.len(), |i| self.ring.row(j)[self.slot(i)])
    }

    /// Coordinate `i` at `s` inside the piece after node `j`.
    fn in_piece(&self, j: usize, i: usize, s: f64) -> f64 {
        if self.is_given(j) {
            self.given(i, s)
        } else {
            self.piece(j, self.slot(i)).value(s)
        }
    }

    /// Tops of ψ inside a piece in which coordinate i has the value `at(i, s)`: one in each part between the places where ψ may jump or
    /// bend, and the values on both sides of those.
    fn tops(
        &self,
        psi: &Psi,
        (a, b): (f64, f64),
        at: impl Fn(usize, f64) -> f64,
    ) -> Vec<(f64, f64)> {
        let count = self.slots.len();
        let value = |s: f64| psi.of(count, |i| at(i, s));
        let (switches, function) = match psi {
            Psi::Function(function) => (function.switches(), Some(function)),
            _ => (0, None),
        };
        let switch =
            |k: usize, s: f64| function.map_or(0.0, |f| f.switch_of(k, count, |i| at(i, s)));
        if !(a < b) {
            return Vec::new();
        }
        let places = switch_places((a, b), switches, switch);
        let mut tops = Vec::new();
        for part in places.windows(2) {
            let (low, high) = (part[0], part[1]);
            let inside = 1e-9 * (high - low);
            if low > a {
                tops.push((low, value(low + inside)));
            }
            tops.extend(interior_top(low, high, value));
            if high < b {
                tops.push((high, value(high - inside)));
            }
        }
        tops
    }

    fn psi_at(&self, psi: &Psi, s: f64, tip: &Tip) -> f64 {
        psi.of(self.slots.len(), |i| self.at(i, s, tip))
    }

    /// Maximum number `k` over the window before the tip.
    pub(crate) fn maximum(&self, k: usize, tip: &Tip) -> f64 {
        let (psi, window, queue) = &self.maxima[k];
        let cut = tip.t - window;
        let now = psi.of(tip.q.len(), |i| tip.q[i]);
        let mut best = self.psi_at(psi, cut, tip).max(now);
        // What fell out of the window since the last node is at the front: few, if any.
        if let Some(&(_, value)) = queue.iter().find(|&&(t, _)| t >= cut) {
            best = best.max(value);
        }
        for j in self.committed..self.ring.len() {
            if self.ring.time(j) >= cut {
                best = best.max(self.psi_at_node(psi, j));
            }
            if !psi.is_convex() && j > 0 {
                let piece = (self.ring.time(j - 1).max(cut), self.ring.time(j));
                let at = |i: usize, s: f64| self.in_piece(j - 1, i, s);
                let tops = self.tops(psi, piece, at);
                best = tops.iter().fold(best, |best, top| best.max(top.1));
            }
        }
        let start = self.t_last();
        let curved = self.interpolation == Interpolation::Quintic || !psi.is_convex();
        if curved && tip.t > start {
            let at = |i: usize, s: f64| self.at(i, s, tip);
            let tops = self.tops(psi, (start.max(cut), tip.t), at);
            best = tops.iter().fold(best, |best, top| best.max(top.1));
        }
        best
    }

    /// Integral of a function over its window before the tip, piece by piece.
    pub(crate) fn integral_of(&self, handle: &FunctionIntegral, tip: &Tip) -> f64 {
        let cut = self.time_of(handle.window, tip);
        if cut.is_nan() {
            return cut;
        }
        let (function, kernel) = (&handle.function, &handle.kernel);
        let count = self.slots.len();
        let value = |age: f64| function.of(count, |i| self.at(i, tip.t - age, tip));
        let first = self.ring.locate(cut);
        let pieces = (first..self.ring.len()).map(|j| {
            let next = j + 1 < self.ring.len();
            let end = if next { self.ring.time(j + 1) } else { tip.t };
            (tip.t - end, tip.t - self.ring.time(j).max(cut))
        });
        let parts = pieces.flat_map(|ages| between(&handle.edges, ages));
        parts
            .map(|ages| {
                let switch = |k: usize, age: f64| {
                    function.switch_of(k, count, |i| self.at(i, tip.t - age, tip))
                };
                let places = switch_places(ages, function.switches(), switch);
                let between = places.windows(2).map(|p| (p[0], p[1]));
                between
                    .map(|ages| kernel.integral_with(ages, value))
                    .sum::<f64>()
            })
            .sum()
    }

    /// Largest distance of the listed coordinates from their values at the tip, over `window`.
    pub(crate) fn deviation(&self, coordinates: &[usize], window: f64, tip: &Tip) -> f64 {
        let cut = self.time_of(window, tip);
        if cut.is_nan() {
            return cut;
        }
        let distance = |s: f64| {
            coordinates
                .iter()
                .map(|&i| (self.at(i, s, tip) - tip.q[i]).powi(2))
                .sum::<f64>()
        };
        let mut best = distance(cut);
        let first = self.ring.locate(cut);
        for j in first..self.ring.len() {
            let row = self.ring.row(j);
            if self.ring.time(j) >= cut {
                let square: f64 = coordinates
                    .iter()
                    .map(|&i| (row[self.slot(i)] - tip.q[i]).powi(2))
                    .sum();
                best = best.max(square);
            }
            if j + 1 < self.ring.len() && self.is_curved(j) {
                let (a, b) = (self.ring.time(j).max(cut), self.ring.time(j + 1));
                if let Some((_, top)) = interior_top(a, b, distance) {
                    best = best.max(top);
                }
            }
        }
        best.sqrt()
    }
}

/// Keeps a queue of candidates decreasing from its front.
fn enter(queue: &mut VecDeque<(f64, f64)>, (t, value): (f64, f64)) {
    while queue.back().is_some_and(|&(_, old)| old <= value) {
        queue.pop_back();
    }
    queue.push_back((t, value));
}

/// Top of a function inside (a, b), if it rises at `a` and falls at `b`.
fn interior_top(a: f64, b: f64, f: impl Fn(f64) -> f64) -> Option<(f64, f64)> {
    let length = b - a;
    if !(length > 0.0) {
        return None;
    }
    let e = 1e-3 * length;
    if !(f(a + e) > f(a) && f(b - e) > f(b)) {
        return None;
    }
    // Golden section; near the top f is flat, so half the digits of s give all digits of f.
    let golden = 0.618_033_988_749_894_8;
    let (mut low, mut high) = (a, b);
    let (mut s1, mut s2) = (high - golden * length, low + golden * length);
    let (mut f1, mut f2) = (f(s1), f(s2));
    for _ in 0..44 {
        if f1 < f2 {
            low = s1;
            (s1, f1) = (s2, f2);
            s2 = low + golden * (high - low);
            f2 = f(s2);
        } else {
            high = s2;
            (s2, f2) = (s1, f1);
            s1 = high - golden * (high - low);
            f1 = f(s1);
        }
    }
    Some(if f1 > f2 { (s1, f1) } else { (s2, f2) })
}
