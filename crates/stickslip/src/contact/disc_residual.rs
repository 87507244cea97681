//! Measures of contacts with a disc of friction, the law of most contacts, in closed form and without memory in between.
//!
//! The formulas are those of [`super::residual`], for one normal and one or two tangential rows.

use crate::algebra::dot;
use crate::laws::{FlowRule, FrictionSection};

use super::residual::{MULTIPLIER_TOLD, sum};
use super::slice_residual::slice_defect;
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
    /// No friction.
    const NONE: Self = Self {
        mu: 0.0,
        flow: DiscFlow::Coulomb,
    };

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
fn distance<const N: usize>(a: [f64; N], b: [f64; N]) -> f64 {
    let mut sum = 0.0;
    for k in 0..N {
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
        distance(p, nearest),
        (-p[0]).max(0.0) + outside,
        (p[0] - (p[0] - rho * w[0]).max(0.0)).abs(),
        tangential(&defect),
    ]
}

/// Projection on the cone of a disc.
#[inline]
fn on_cone<const N: usize>(z: &[f64; N], mu: f64, nearest: &mut [f64; N]) {
    let size = tangential(z);
    *nearest = [0.0; N];
    if size <= mu * z[0] {
        *nearest = *z;
    } else if !(mu * size <= -z[0]) {
        nearest[0] = (z[0] + mu * size) / (1.0 + mu * mu);
        for k in 1..N {
            nearest[k] = mu * nearest[0] * z[k] / size;
        }
    }
}

/// The same under the kinetic projection, which has no dissipation part.
#[inline(always)] // Its vectors stay in registers.
fn kinetic<const N: usize>(
    p: [f64; N],
    w: [f64; N],
    column: [f64; N],
    mu: f64,
    rho: f64,
) -> [f64; 4] {
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
        let mut nearest = [0.0; N];
        on_cone(&z, mu, &mut nearest);
        let defect = distance(p, nearest);
        if defect <= MULTIPLIER_TOLD * dot(&p, &p).sqrt() {
            defect
        } else {
            smaller_on_slice((&p, &w, &column), (mu, rho), defect)
        }
    };
    let radius = mu * p[0].max(0.0);
    let outside = (tangential(&p) - radius).max(0.0);
    [
        natural_map,
        (-p[0]).max(0.0) + outside,
        (p[0] - (p[0] - rho * w[0]).max(0.0)).abs(),
        0.0,
    ]
}

/// The defect of the kinetic projection where the multiplier of its slice is told better, or the given one.
#[cold]
#[inline(never)] // Solutions at rounding have no need of its frame.
fn smaller_on_slice<const N: usize>(
    (p, w, column): (&[f64; N], &[f64; N], &[f64; N]),
    (mu, rho): (f64, f64),
    defect: f64,
) -> f64 {
    let project = |z: &[f64], nearest: &mut [f64]| {
        if let (Ok(z), Ok(nearest)) = (z.try_into(), nearest.try_into()) {
            on_cone::<N>(z, mu, nearest);
        }
    };
    let (mut z, mut nearest) = ([0.0; N], [0.0; N]);
    let on_slice = slice_defect((p, w, column), rho, (&mut z, &mut nearest), project);
    // A measure that is no number survives.
    if on_slice < defect { on_slice } else { defect }
}

/// Few contacts with discs of friction, the problem of most steps of small systems: the measures that they have among
/// others, written to `out`, and what they come to together. False where something else is to be measured, impulses that
/// are no numbers among it.
#[inline(always)]
pub(super) fn few(
    problem: &ContactProblem,
    p: &[f64],
    noise: f64,
    out: &mut Vec<BlockResidual>,
    total: &mut BlockResidual,
) -> bool {
    let contacts = problem.blocks().len();
    if out.len() != contacts {
        make_room(out, contacts);
    }
    match (contacts, p.len()) {
        (1, 2) => few_with::<2, 1, 2>(problem, p, noise, out, total),
        (2, 4) => few_with::<2, 2, 4>(problem, p, noise, out, total),
        (3, 6) => few_with::<2, 3, 6>(problem, p, noise, out, total),
        (1, 3) => few_with::<3, 1, 3>(problem, p, noise, out, total),
        (2, 6) => few_with::<3, 2, 6>(problem, p, noise, out, total),
        _ => false,
    }
}

/// Room for the measures of so many contacts, which are written next.
#[cold]
fn make_room(out: &mut Vec<BlockResidual>, contacts: usize) {
    out.resize(contacts, BlockResidual::default());
}

/// The same for K contacts of N rows, M in all.
#[inline(never)] // Each has registers enough of its own.
fn few_with<const N: usize, const K: usize, const M: usize>(
    problem: &ContactProblem,
    p: &[f64],
    noise: f64,
    out: &mut [BlockResidual],
    total: &mut BlockResidual,
) -> bool {
    let Some(w) = problem.delassus().entries() else {
        return false;
    };
    let (Ok(rows), Ok(p), Ok(q), Ok(blocks), Ok(out)) = (
        <&[[f64; M]; M]>::try_from(w.as_chunks().0),
        <&[f64; M]>::try_from(p),
        <&[f64; M]>::try_from(problem.free()),
        <&[ContactBlock; K]>::try_from(problem.blocks()),
        <&mut [BlockResidual; K]>::try_from(out),
    ) else {
        return false;
    };
    let square = dot(p, p);
    if !(square < f64::INFINITY) {
        return false;
    }
    let silent = |x: f64| if x.abs() <= noise { 0.0 } else { x };
    let mut driven = 0.0;
    let (mut discs, mut rhos) = ([Disc::NONE; K], [0.0; K]);
    for (k, block) in blocks.iter().enumerate() {
        let (Some(disc), true) = (Disc::of(block), block.size == N) else {
            return false;
        };
        let first = k * N;
        let mut trace = 0.0;
        for i in first..first + N {
            trace += rows[i][i];
        }
        if !(trace > 0.0 && rows[first][first] > 0.0) {
            return false;
        }
        let rho = N as f64 / trace;
        for &q in &q[first..first + N] {
            driven += (rho * silent(q)) * (rho * silent(q));
        }
        (discs[k], rhos[k]) = (disc, rho);
    }
    let square = if driven > square { driven } else { square };
    // Where nothing else acts, impulses that give no velocity beyond the noise are none.
    let rests = || (0..M).all(|i| p[i].abs() <= rhos[i / N] * noise);
    if !(square > 0.0) || (driven == 0.0 && rests()) {
        out.fill(BlockResidual::default());
        *total = BlockResidual::default();
        return true;
    }
    let scale = square.sqrt();
    for k in 0..K {
        let (first, mut own, mut velocity) = (k * N, [0.0; N], [0.0; N]);
        for i in 0..N {
            own[i] = p[first + i];
            velocity[i] = silent(q[first + i] + dot(&rows[first + i], p));
        }
        let column = || {
            let mut column = [0.0; N];
            for i in 0..N {
                column[i] = rows[first + i][first];
            }
            column
        };
        let measures = discs[k].measure(own, velocity, column, (rhos[k], scale));
        out[k] = measures;
        *total = measures;
    }
    if K > 1 {
        *total = sum(out.iter());
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{ContactKey, ContactResidual};

    /// So many contacts with `rows` rows each, and impulses of all kinds for them: none, inside the cone, on it, outside.
    fn contacts(
        (count, rows): (usize, usize),
        k: usize,
        flow_rule: FlowRule,
    ) -> (ContactProblem, Vec<f64>) {
        let (m, x) = (count * rows, |i: usize| {
            ((7 * i + 3 * k + i * k) as f64).sin()
        });
        let h: Vec<f64> = (0..m * m).map(x).collect();
        let mut w = vec![0.0; m * m];
        for (i, w) in w.iter_mut().enumerate() {
            let (a, b) = (i / m * m, i % m * m);
            *w = dot(&h[a..a + m], &h[b..b + m]);
        }
        let blocks = (0..count).map(|c| ContactBlock {
            key: ContactKey::declared(c, 0),
            start: c * rows,
            size: rows,
            section: FrictionSection::ball(0.4, rows - 1).expect("valid"),
            flow_rule,
            kind: BlockKind::Unilateral { minimum: 0.0 },
        });
        let q = (0..m).map(|i| x(20 + i)).collect();
        let p = (0..m).map(|i| x(40 + i) * ((k + i / rows) % 3) as f64);
        let p = p.collect();
        (ContactProblem::from_dense(w, q, blocks.collect()), p)
    }

    #[test]
    fn few_contacts_have_the_measures_they_have_among_others() {
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-14 * a.abs().max(1.0);
        for flow_rule in [FlowRule::Coulomb, FlowRule::KineticProjection] {
            for sizes in [(1, 2), (2, 2), (3, 2), (1, 3), (2, 3)] {
                for k in 0..60 {
                    let (problem, p) = contacts(sizes, k, flow_rule);
                    let mut own = Vec::new();
                    let mut total = BlockResidual::default();
                    assert!(few(&problem, &p, 1e-3, &mut own, &mut total), "discs");
                    let mut among = ContactResidual::default();
                    among.set_noise(1e-3);
                    let square: f64 = own.iter().map(|own| own.natural_map.powi(2)).sum();
                    assert!(close(total.natural_map, square.sqrt()), "{sizes:?}");
                    for closed in [true, false] {
                        for (b, own) in own.iter().enumerate() {
                            let any = among.one_among_others(&problem, &p, b, closed);
                            assert!(
                                close(any.natural_map, own.natural_map)
                                    && close(any.cone, own.cone)
                                    && close(any.signorini, own.signorini)
                                    && close(any.dissipation, own.dissipation),
                                "{sizes:?}, case {k}: {any:?} is not {own:?}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_measure_that_is_no_number_survives_and_such_impulses_are_refused() {
        let none = BlockResidual::default();
        for k in 0..4 {
            let mut measures = [0.5, 0.5, 0.5, 0.5];
            measures[k] = f64::NAN;
            let [natural_map, cone, signorini, dissipation] = measures;
            let lost = BlockResidual {
                natural_map,
                cone,
                signorini,
                dissipation,
            };
            assert!(lost.worst().is_nan(), "{k}");
            for order in [[lost, none], [none, lost]] {
                assert!(sum(&order).worst().is_nan(), "{k}");
            }
        }
        let (problem, p) = contacts((2, 2), 1, FlowRule::Coulomb);
        let mut residual = ContactResidual::default();
        for other in [
            vec![f64::NAN; 4],
            vec![0.1, 0.0, f64::INFINITY, 0.0],
            p[1..].to_vec(),
        ] {
            residual.measure(&problem, &other);
            assert_eq!(residual.worst(), f64::INFINITY);
            assert_eq!(residual.blocks().len(), 2);
        }
        residual.measure(&problem, &p);
        assert!(residual.worst().is_finite());
    }
}
