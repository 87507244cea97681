//! Distributed delays: integrals of the past weighted by a kernel.

use super::super::Kernel;
use super::super::quadrature::{between, gauss, integral};
use super::super::reading::IntegralSpec;
use super::piece::Piece;
use super::{Interpolation, PastMotion, Tip};

impl PastMotion {
    pub(super) fn prefix(&self, j: usize, column: usize) -> (f64, f64) {
        let row = self.ring.row(j);
        (row[column], row[column + 1])
    }

    /// ∫ of coordinate `i` from node `j` to `s` inside the piece that follows it.
    pub(super) fn piece_integral(&self, j: usize, i: usize, s: f64) -> f64 {
        if self.is_given(j) {
            return integral((self.ring.time(j), s), |r| self.given(i, r));
        }
        self.piece(j, self.slot(i)).integral(s)
    }

    /// Decaying state at `s` inside the piece after node `j`.
    pub(super) fn decayed(
        &self,
        j: usize,
        column: usize,
        spec: &IntegralSpec,
        rate: f64,
        s: f64,
    ) -> f64 {
        let (t0, state) = (self.ring.time(j), self.ring.row(j)[column]);
        let added = if self.is_given(j) {
            self.weighted_given(spec, (t0, s), s)
        } else {
            let piece = self.piece(j, self.slot(spec.coordinate));
            weighted(&piece, self.interpolation, spec, (t0, s), s)
        };
        state * (-rate * (s - t0)).exp() + added
    }

    /// Integral number `k` over the window before the tip.
    pub(crate) fn integral(&self, k: usize, tip: &Tip) -> f64 {
        let (spec, column) = &self.integrals[k];
        let (last, cut) = (self.ring.len() - 1, tip.t - spec.tau);
        let t_last = self.ring.time(last);
        let tip_piece = (tip.t > t_last).then(|| self.tip_piece(spec.coordinate, tip));
        let j = self.ring.locate(cut);
        match spec.kernel {
            Kernel::Constant => {
                let (high, low) = self.prefix(last, *column);
                let added = tip_piece
                    .as_ref()
                    .map_or(0.0, |piece| piece.integral(tip.t));
                let (high_cut, low_cut) = self.prefix(j, *column);
                let removed = if j == last {
                    tip_piece.as_ref().map_or(0.0, |piece| piece.integral(cut))
                } else {
                    self.piece_integral(j, spec.coordinate, cut.max(self.ring.time(j)))
                };
                (high - high_cut) + (low - low_cut) + (added - removed)
            }
            Kernel::Exponential { rate } => {
                let grown = |j: usize, s: f64| match (&tip_piece, j == last) {
                    (Some(piece), true) => {
                        let decay = (-rate * (s - t_last)).exp();
                        decay * self.ring.row(last)[*column]
                            + weighted(piece, self.interpolation, spec, (t_last, s), s)
                    }
                    (None, true) => self.ring.row(last)[*column],
                    _ => self.decayed(j, *column, spec, rate, s),
                };
                grown(last, tip.t) - (-rate * spec.tau).exp() * grown(j, cut.max(self.ring.time(j)))
            }
            Kernel::General { .. } | Kernel::Moments { .. } => {
                let mut sum = tip_piece.as_ref().map_or(0.0, |piece| {
                    let range = (t_last.max(cut), tip.t);
                    weighted(piece, self.interpolation, spec, range, tip.t)
                });
                for m in j..last {
                    let range = (self.ring.time(m).max(cut), self.ring.time(m + 1));
                    if range.1 <= range.0 {
                        continue;
                    }
                    sum += if self.is_given(m) {
                        self.weighted_given(spec, range, tip.t)
                    } else {
                        let piece = self.piece(m, self.slot(spec.coordinate));
                        weighted(&piece, self.interpolation, spec, range, tip.t)
                    };
                }
                sum
            }
        }
    }

    /// ∫ k(t − s) x(s) ds over `[a, b]` before the start, where x is the given function.
    fn weighted_given(&self, spec: &IntegralSpec, (a, b): (f64, f64), t: f64) -> f64 {
        let parts = between(&spec.edges, (t - b, t - a));
        parts
            .map(|ages| {
                let x = |age: f64| self.given(spec.coordinate, t - age);
                spec.kernel.integral_with(ages, x)
            })
            .sum()
    }
}

/// ∫ k(t − s) x(s) ds over `[a, b]` inside one piece.
fn weighted(
    piece: &Piece,
    interpolation: Interpolation,
    spec: &IntegralSpec,
    (a, b): (f64, f64),
    t: f64,
) -> f64 {
    if b <= a {
        return 0.0;
    }
    let curved = interpolation == Interpolation::Quintic && piece.c[2..].iter().any(|&c| c != 0.0);
    let value = |age: f64| piece.value(t - age);
    let ages = (t - b, t - a);
    let kernel = &spec.kernel;
    let part = |ages: (f64, f64)| match (curved, kernel) {
        (false, _) => kernel.chord(ages, (value(ages.0), value(ages.1))),
        (true, Kernel::Exponential { rate }) => {
            gauss(ages.0, ages.1, |s| (-rate * s).exp() * value(s))
        }
        (true, Kernel::General { weight, .. }) => gauss(ages.0, ages.1, |s| weight(s) * value(s)),
        (true, Kernel::Constant | Kernel::Moments { .. }) => kernel.integral_with(ages, value),
    };
    match kernel {
        Kernel::Constant if curved => piece.integral(b) - piece.integral(a),
        // Its moments are known over any length.
        Kernel::Exponential { .. } if !curved => part(ages),
        _ => between(&spec.edges, ages).map(part).sum(),
    }
}
