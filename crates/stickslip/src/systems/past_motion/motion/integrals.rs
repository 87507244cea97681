//! Distributed delays: integrals of the past weighted by a kernel.

use super::super::Kernel;
use super::super::kernel::gauss;
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
            return gauss(self.ring.time(j), s, |r| self.given(i, r));
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
        let piece = self.piece(j, self.slot(spec.coordinate));
        let added = if self.is_given(j) {
            gauss(t0, s, |r| {
                (-rate * (s - r)).exp() * self.given(spec.coordinate, r)
            })
        } else {
            weighted(&piece, self.interpolation, &spec.kernel, (t0, s), s)
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
                            + weighted(piece, self.interpolation, &spec.kernel, (t_last, s), s)
                    }
                    (None, true) => self.ring.row(last)[*column],
                    _ => self.decayed(j, *column, spec, rate, s),
                };
                grown(last, tip.t) - (-rate * spec.tau).exp() * grown(j, cut.max(self.ring.time(j)))
            }
            Kernel::General(_) | Kernel::Moments { .. } => {
                let mut sum = tip_piece.as_ref().map_or(0.0, |piece| {
                    let range = (t_last.max(cut), tip.t);
                    weighted(piece, self.interpolation, &spec.kernel, range, tip.t)
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
                        weighted(&piece, self.interpolation, &spec.kernel, range, tip.t)
                    };
                }
                sum
            }
        }
    }

    fn weighted_given(&self, spec: &IntegralSpec, (a, b): (f64, f64), t: f64) -> f64 {
        match &spec.kernel {
            Kernel::General(k) => gauss(a, b, |s| k(t - s) * self.given(spec.coordinate, s)),
            kernel => {
                // moments only: the history as eight chords
                let step = (b - a) / 8.0;
                (0..8)
                    .map(|m| {
                        let (s0, s1) = (a + m as f64 * step, a + (m + 1) as f64 * step);
                        let (x0, x1) = (
                            self.given(spec.coordinate, s0),
                            self.given(spec.coordinate, s1),
                        );
                        let piece = Piece::affine(s0, s1 - s0, x0, x1);
                        weighted(&piece, Interpolation::Affine, kernel, (s0, s1), t)
                    })
                    .sum()
            }
        }
    }
}

/// ∫ k(t − s) x(s) ds over `[a, b]` inside one piece.
fn weighted(
    piece: &Piece,
    interpolation: Interpolation,
    kernel: &Kernel,
    (a, b): (f64, f64),
    t: f64,
) -> f64 {
    if b <= a {
        return 0.0;
    }
    let curved = interpolation == Interpolation::Quintic && piece.c[2..].iter().any(|&c| c != 0.0);
    let chord = |a: f64, b: f64| {
        let (zeroth, first) = kernel.moments(t - b, t - a);
        let (xa, xb) = (piece.value(a), piece.value(b));
        let slope = (xb - xa) / (b - a);
        xb * zeroth - slope * (first - (t - b) * zeroth)
    };
    match (curved, kernel) {
        (false, _) => chord(a, b),
        (true, Kernel::Constant) => piece.integral(b) - piece.integral(a),
        (true, Kernel::Exponential { rate }) => {
            gauss(a, b, |s| (-rate * (t - s)).exp() * piece.value(s))
        }
        (true, Kernel::General(k)) => gauss(a, b, |s| k(t - s) * piece.value(s)),
        (true, Kernel::Moments { .. }) => {
            let step = (b - a) / 16.0;
            (0..16)
                .map(|m| chord(a + m as f64 * step, a + (m + 1) as f64 * step))
                .sum()
        }
    }
}
