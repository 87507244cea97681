//! Measures of contacts with a disc of friction, the law of most contacts, in closed form and without memory in between.
//!
//! The formulas are those of [`super::residual`], for one normal and one or two tangential rows.

use crate::algebra::dot;
use crate::laws::{FlowRule, FrictionSection};

use super::{BlockKind, BlockResidual, ContactBlock, ContactProblem};

/// How friction flows on a disc.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum DiscFlow {
    Coulomb,
    KineticProjection,
}

/// A unilateral contact with a disc of friction.
#[derive(Clone, Copy)]
pub(super) struct Disc {
    mu: f64,
    flow: DiscFlow,
}

impl Disc {
    /// The disc of a block, if that is its law.
    #[inline]
    pub fn of(block: &ContactBlock) -> Option<Self> {
        let (&FrictionSection::Disc { mu, .. }, BlockKind::Unilateral { minimum: 0.0 }) =
            (&block.section, block.kind)
        else {
            return None;
        };
        let flow = match block.flow_rule {
            FlowRule::Coulomb => DiscFlow::Coulomb,
            FlowRule::KineticProjection => DiscFlow::KineticProjection,
            FlowRule::Generalized(_) => return None,
        };
        Some(Self { mu, flow })
    }

    /// The measures of the impulse `p` and the velocity `w` of a contact that can move; `column` is that of its normal row in W.
    #[inline]
    pub fn measure<const N: usize>(
        self,
        p: [f64; N],
        w: [f64; N],
        column: impl FnOnce() -> [f64; N],
        (rho, scale): (f64, f64),
    ) -> BlockResidual {
        let parts = match self.flow {
            DiscFlow::Coulomb => coulomb(p, w, self.mu, rho),
            DiscFlow::KineticProjection => kinetic(p, w, column(), self.mu, rho),
        };
        let [natural_map, cone, signorini, dissipation] = parts;
        BlockResidual {
            natural_map: natural_map / scale,
            cone: cone / scale,
            signorini: signorini / scale,
            dissipation: dissipation / scale,
        }
    }
}

/// Length of the tangential part.
#[inline]
fn tangential<const N: usize>(x: &[f64; N]) -> f64 {
    // In the plane nothing is squared.
    if N == 2 || x[N - 1] == 0.0 {
        x[1].abs()
    } else {
        (x[1] * x[1] + x[2] * x[2]).sqrt()
    }
}

/// Distance of two vectors.
#[inline]
fn distance<const N: usize>(a: [f64; N], b: [f64; N], first: usize) -> f64 {
    let mut sum = 0.0;
    for k in first..N {
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    }
    sum.sqrt()
}

/// Natural map, cone, Signorini and dissipation part under Coulomb's law.
#[inline]
fn coulomb<const N: usize>(p: [f64; N], w: [f64; N], mu: f64, rho: f64) -> [f64; 4] {
    // The friction impulse against its disc at the present normal impulse, and pushed against the slip.
    let radius = mu * p[0].max(0.0);
    let outside = (tangential(&p) - radius).max(0.0);
    let mut pushed = [0.0; N];
    for k in 1..N {
        pushed[k] = p[k] - rho * w[k];
    }
    let size = tangential(&pushed);
    let shrink = if size > radius { radius / size } else { 1.0 };
    let mut defect = [0.0; N];
    for k in 1..N {
        defect[k] = p[k] - shrink * pushed[k];
    }
    // The natural map: the same tangential point, the normal one shifted by the slip.
    let z = p[0] - rho * (w[0] + mu * tangential(&w));
    let mut nearest = [0.0; N];
    if size <= mu * z {
        nearest = pushed;
        nearest[0] = z;
    } else if !(mu * size <= -z) {
        nearest[0] = (z + mu * size) / (1.0 + mu * mu);
        let factor = mu * nearest[0] / size;
        for k in 1..N {
            nearest[k] = factor * pushed[k];
        }
    }
    [
        distance(p, nearest, 0),
        (-p[0]).max(0.0) + outside,
        (p[0] - (p[0] - rho * w[0]).max(0.0)).abs(),
        tangential(&defect),
    ]
}

/// The same under the kinetic projection, which has no dissipation part.
#[inline]
fn kinetic<const N: usize>(
    p: [f64; N],
    w: [f64; N],
    column: [f64; N],
    mu: f64,
    rho: f64,
) -> [f64; 4] {
    let norm = |x: &[f64; N]| dot(&x[1..], &x[1..]).sqrt();
    let natural_map = if p == [0.0; N] {
        // S(q, v) leaves a velocity that does not approach as it is, whatever friction would do.
        rho * (-w[0]).max(0.0)
    } else {
        // p·(w + s W n) = 0 determines s; p·W n is the kinetic normal impulse.
        let normal = dot(&p, &column);
        let s = if normal > 0.0 {
            -dot(&p, &w) / normal
        } else {
            0.0
        };
        let mut z = [0.0; N];
        for k in 0..N {
            z[k] = p[k] - rho * (w[k] + s * column[k]);
        }
        let size = norm(&z);
        let mut nearest = [0.0; N];
        if size <= mu * z[0] {
            nearest = z;
        } else if !(mu * size <= -z[0]) {
            nearest[0] = (z[0] + mu * size) / (1.0 + mu * mu);
            for k in 1..N {
                nearest[k] = mu * nearest[0] * z[k] / size;
            }
        }
        distance(p, nearest, 0)
    };
    let (radius, size) = (mu * p[0].max(0.0), norm(&p));
    let shrink = if size > radius { radius / size } else { 1.0 };
    let within = p.map(|x| shrink * x);
    [
        natural_map,
        (-p[0]).max(0.0) + distance(p, within, 1),
        (p[0] - (p[0] - rho * w[0]).max(0.0)).abs(),
        0.0,
    ]
}

/// One contact on its own with a disc of friction, the problem of most steps of small systems: the measures that it has
/// among others. None where something else is to be measured.
#[inline]
pub(super) fn alone(problem: &ContactProblem, p: &[f64], noise: f64) -> Option<BlockResidual> {
    let ([block], Some(w)) = (problem.blocks(), problem.delassus().entries()) else {
        return None;
    };
    let disc = Disc::of(block)?;
    match (problem.free(), p) {
        (&[q0, q1], &[p0, p1]) => alone_with(disc, [q0, q1], w, [p0, p1], noise),
        (&[q0, q1, q2], &[p0, p1, p2]) => alone_with(disc, [q0, q1, q2], w, [p0, p1, p2], noise),
        _ => None,
    }
}

#[inline]
fn alone_with<const N: usize>(
    disc: Disc,
    q: [f64; N],
    w: &[f64],
    p: [f64; N],
    noise: f64,
) -> Option<BlockResidual> {
    let (rows, []) = w.as_chunks::<N>() else {
        return None;
    };
    let rows: &[[f64; N]; N] = rows.try_into().ok()?;
    let silent = |x: f64| if x.abs() <= noise { 0.0 } else { x };
    let (mut velocity, mut column) = ([0.0; N], [0.0; N]);
    let (mut trace, mut driven) = (0.0, 0.0);
    for i in 0..N {
        velocity[i] = silent(q[i] + dot(&rows[i], &p));
        column[i] = rows[i][0];
        trace += rows[i][i];
    }
    if !(trace > 0.0 && rows[0][0] > 0.0) {
        return None;
    }
    let rho = N as f64 / trace;
    for q in q {
        driven += (rho * silent(q)) * (rho * silent(q));
    }
    let scale = dot(&p, &p).max(driven).sqrt();
    if scale == 0.0 {
        return Some(BlockResidual::default());
    }
    Some(disc.measure(p, velocity, || column, (rho, scale)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{ContactKey, ContactResidual};

    /// A contact with `rows` rows, and impulses of all kinds for it: none, inside the cone, on it, outside.
    fn contact(rows: usize, k: usize, flow_rule: FlowRule) -> (ContactProblem, Vec<f64>) {
        let x = |i: usize| ((7 * i + 3 * k + i * k) as f64).sin();
        let h: Vec<f64> = (0..rows * rows).map(x).collect();
        let mut w = vec![0.0; rows * rows];
        for (i, w) in w.iter_mut().enumerate() {
            let (a, b) = (i / rows * rows, i % rows * rows);
            *w = dot(&h[a..a + rows], &h[b..b + rows]);
        }
        let block = ContactBlock {
            key: ContactKey::declared(0, 0),
            start: 0,
            size: rows,
            section: FrictionSection::ball(0.4, rows - 1).expect("valid"),
            flow_rule,
            kind: BlockKind::Unilateral { minimum: 0.0 },
        };
        let q = (0..rows).map(|i| x(20 + i)).collect();
        let p = (0..rows).map(|i| x(40 + i) * (k % 3) as f64).collect();
        (ContactProblem::from_dense(w, q, vec![block]), p)
    }

    #[test]
    fn a_contact_on_its_own_has_the_measures_it_has_among_others() {
        for flow_rule in [FlowRule::Coulomb, FlowRule::KineticProjection] {
            for (rows, k) in (2..=3).flat_map(|rows| (0..60).map(move |k| (rows, k))) {
                let (problem, p) = contact(rows, k, flow_rule);
                let own = alone(&problem, &p, 1e-3).expect("a disc");
                let mut among = ContactResidual::default();
                among.set_noise(1e-3);
                for closed in [true, false] {
                    let any = among.one_among_others(&problem, &p, closed);
                    let close = |a: f64, b: f64| (a - b).abs() <= 1e-15 * a.abs().max(1.0);
                    if closed {
                        assert_eq!(any, own, "{rows} rows, case {k}");
                    } else {
                        assert!(
                            close(any.natural_map, own.natural_map)
                                && close(any.cone, own.cone)
                                && close(any.signorini, own.signorini)
                                && close(any.dissipation, own.dissipation),
                            "{rows} rows, case {k}: {any:?} is not {own:?}"
                        );
                    }
                }
            }
        }
    }
}
