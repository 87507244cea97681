//! The impact of a compliant contact with a frozen configuration: Darboux and Keller's equations.

mod polygon;
pub mod spatial;

/// What friction does during a phase of an impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImpactPhaseKind {
    /// The point slides.
    Slip,
    /// The point stands still.
    Stick,
}

/// One phase of an impact: constant friction per unit of normal impulse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpactPhase {
    /// Slip or stick.
    pub kind: ImpactPhaseKind,
    /// Tangential impulse per unit of normal impulse.
    pub friction: f64,
    /// Normal impulse of the phase.
    pub impulse: f64,
}

/// An impact: impulse, velocity after, and the phases it went through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnergeticImpact {
    /// Impulse (normal, tangential).
    pub impulse: [f64; 2],
    /// Velocity after (normal, tangential).
    pub velocity: [f64; 2],
    /// Phases in order.
    pub phases: Vec<ImpactPhase>,
    /// Normal work taken up in compression, positive.
    pub compression: f64,
    /// Whether the impact ended; false where a jam would feed on itself for ever.
    pub finished: bool,
}

impl EnergeticImpact {
    /// Impulses so far at the ends of the phases.
    pub(crate) fn path(&self) -> Vec<Vec<f64>> {
        // A rough point that no bound holds back has stopped before the first of them.
        let slid: f64 = self.phases.iter().map(|x| x.friction * x.impulse).sum();
        let mut sum = vec![0.0, self.impulse[1] - slid];
        let mut path = vec![sum.clone()];
        for phase in &self.phases {
            sum[0] += phase.impulse;
            sum[1] += phase.friction * phase.impulse;
            path.push(sum.clone());
        }
        path
    }

    /// The friction factor `S = −P_T/(μ P_N)`, the mean of the sign of slip over the impulse; 0 where it is
    /// undefined (no friction or no impulse).
    pub fn friction_factor(&self, mu: f64) -> f64 {
        let [normal, tangential] = self.impulse;
        if mu > 0.0 && normal > 0.0 {
            -tangential / (mu * normal)
        } else {
            0.0
        }
    }
}

/// Impact of one planar contact with the energetic coefficient `restitution`.
///
/// # What it computes
/// With the accumulated normal impulse p as variable, `W = [W_nn, W_nt, W_tt]`:
/// `du_n/dp = W_nn + W_nt s`, `du_t/dp = W_nt + W_tt s`, `s ∈ [lower, upper]` the friction per unit normal impulse:
/// `s = lower` while `u_t > 0`, `upper` while `u_t < 0`, `−W_nt/W_tt` in stick if that lies between, else the end that
/// slip cannot avoid. The normal work `∫ u_n dp` falls during compression and rises again; the impact ends
/// when the work of restitution is `e²` times that of compression (Stronge). Every phase has
/// constant slopes, so the velocities are linear and the work quadratic in p: no step is numerical.
///
/// # Source
/// [Schatzman]: the limit of the penalised impact as the compliance time tends to 0, which is this
/// law with e = 1. Darboux and Keller's equations and the energetic coefficient below 1 are classical
/// additions ([Stronge1990]).
///
/// # Guarantees
/// `p_n ≥ 0`, friction inside its section in every phase, no gain of energy for e in [0, 1]: the normal
/// work is `−(1 − e²)` times that of compression, the tangential work is not positive.
///
/// # Behaviour to know
/// With slip reversal or stick, e = 1 does not mean `u_n⁺ = −u_n⁻` (0.9345 for an approach of 1 in one case).
/// Started with `u_n = 0` where `W_nn + W_nt s < 0` (Painlevé), the layer first drives itself into the
/// obstacle until slip stops, then rebounds: an impact without collision.
///
/// # Cost
/// At most a handful of phases, no allocation beyond their list.
///
/// # Tested by
/// `laws/energetic/tests.rs`.
pub fn energetic_impact(
    w: [f64; 3],
    velocity: [f64; 2],
    (lower, upper): (f64, f64),
    restitution: f64,
) -> EnergeticImpact {
    let [w_nn, w_nt, w_tt] = w;
    let mut impact = EnergeticImpact {
        velocity,
        ..EnergeticImpact::default()
    };
    let [mut u_n, mut u_t] = velocity;
    if u_n > 0.0 {
        impact.finished = true;
        return impact;
    }
    // A rough point that no bound holds back stops before any normal impulse has built up.
    if u_t != 0.0 && friction(w, u_t, (lower, upper)).0.is_infinite() {
        impact.impulse[1] = -u_t / w_tt;
        u_n -= w_nt * u_t / w_tt;
        u_t = 0.0;
        impact.velocity = [u_n, u_t];
    }
    // Without approach nothing happens unless friction itself presses the point in.
    let first = friction(w, u_t, (lower, upper)).0;
    if u_n > 0.0 || (u_n == 0.0 && w_nn + w_nt * first >= 0.0) {
        impact.finished = true;
        return impact;
    }
    let mut compressing = true;
    // Work done so far: −compression, then growing to −(1 − e²) compression.
    let (mut work, mut target) = (0.0f64, 0.0f64);
    for _ in 0..16 {
        let (s, kind) = friction(w, u_t, (lower, upper));
        let (slope_n, slope_t) = (w_nn + w_nt * s, w_nt + w_tt * s);
        // Next event along this phase.
        let mut dp = f64::INFINITY;
        let mut stops = false;
        if u_t != 0.0 && slope_t * u_t < 0.0 {
            dp = -u_t / slope_t;
            stops = true;
        }
        let mut turns = false;
        let mut ends = false;
        if compressing {
            if slope_n > 0.0 && -u_n / slope_n <= dp {
                dp = -u_n / slope_n;
                turns = true;
                stops = false;
            }
        } else {
            // u_n dp + ½ slope dp² = target − work; u_n ≥ 0 here.
            let rest = target - work;
            let root = positive_root(0.5 * slope_n, u_n, -rest);
            if root <= dp {
                dp = root;
                ends = true;
                stops = false;
            }
        }
        if !dp.is_finite() {
            return impact;
        }
        work += dp * (u_n + 0.5 * slope_n * dp);
        u_n += slope_n * dp;
        u_t += slope_t * dp;
        if kind == ImpactPhaseKind::Stick {
            u_t = 0.0;
        }
        if dp > 0.0 {
            impact.impulse[0] += dp;
            impact.impulse[1] += s * dp;
            impact.phases.push(ImpactPhase {
                kind,
                friction: s,
                impulse: dp,
            });
        }
        if stops {
            u_t = 0.0;
        }
        if turns {
            u_n = 0.0;
            compressing = false;
            impact.compression = -work;
            target = work * (1.0 - restitution * restitution);
            if restitution == 0.0 {
                ends = true;
            }
        }
        impact.velocity = [u_n, u_t];
        if ends {
            impact.finished = true;
            return impact;
        }
    }
    impact
}

/// Friction per unit normal impulse at tangential velocity `u_t`.
fn friction(w: [f64; 3], u_t: f64, (lower, upper): (f64, f64)) -> (f64, ImpactPhaseKind) {
    let [_, w_nt, w_tt] = w;
    if u_t > 0.0 {
        return (lower, ImpactPhaseKind::Slip);
    }
    if u_t < 0.0 {
        return (upper, ImpactPhaseKind::Slip);
    }
    let hold = -w_nt / w_tt;
    if hold < lower {
        // even the strongest pull back lets the point slip forward
        (lower, ImpactPhaseKind::Slip)
    } else if hold > upper {
        (upper, ImpactPhaseKind::Slip)
    } else {
        (hold, ImpactPhaseKind::Stick)
    }
}

/// Smallest nonnegative root of a x² + b x + c with c ≤ 0, b ≥ 0; infinite if there is none.
fn positive_root(a: f64, b: f64, c: f64) -> f64 {
    if c == 0.0 {
        return 0.0;
    }
    let discriminant = b * b - 4.0 * a * c;
    if discriminant < 0.0 {
        return f64::INFINITY;
    }
    let denominator = b + discriminant.sqrt();
    if denominator > 0.0 {
        -2.0 * c / denominator
    } else {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests;
