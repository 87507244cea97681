//! How an impact law enters the velocity a block reads.

use crate::laws::ImpactLaw;

/// Writes the bias of one contact: the block reads `w = Hᵀv + bias`.
///
/// With `u` the local velocity at the start of the step, θ the parameter of the scheme and w the part of the change of velocity at which
/// Frémond's law reads friction:
///
/// | law | normal | tangential |
/// | --- | --- | --- |
/// | inelastic, Poisson, energetic | 0 | 0 |
/// | Newton | e u_N | 0 |
/// | Moreau | e u_N | e u_T |
/// | Frémond | e u_N | ((1−w)/w) u_T |
///
/// Moreau's law reads the weighted mean (u⁺ + e u⁻)/(1 + e) in every row, which makes it
/// dissipative with any friction; without friction it is `v⁺ = v + (1+e)(Proj v − v)`. Poisson's
/// restitution acts on impulses, in a second stage; the energetic law is an impact of its own before it. A contact that already opens (`u_N > 0`)
/// does no normal work under the guard rule: its normal bias is ((1−θ)/θ) u_N.
pub(crate) fn bias(
    law: ImpactLaw,
    (theta, friction): (f64, f64),
    guard: bool,
    u: &[f64],
    out: &mut [f64],
) {
    let reflection = |weight: f64| (1.0 - weight) / weight;
    let restitution = match law {
        ImpactLaw::Poisson { .. } | ImpactLaw::Energetic { .. } => 0.0,
        _ => law.restitution(),
    };
    out[0] = if guard && u[0] > 0.0 {
        reflection(theta) * u[0]
    } else {
        restitution * u[0]
    };
    let tangential = match law {
        ImpactLaw::Moreau { restitution } => restitution,
        ImpactLaw::Fremond { .. } => reflection(friction),
        ImpactLaw::Inelastic
        | ImpactLaw::Newton { .. }
        | ImpactLaw::Poisson { .. }
        | ImpactLaw::Energetic { .. } => 0.0,
    };
    for (o, u) in out[1..].iter_mut().zip(&u[1..]) {
        *o = tangential * u;
    }
}

/// Up to which part of the change of velocity friction may be read beside an impact with restitution `e`: read later, it could give energy.
///
/// Where the normal row has `u_N⁺ = −e u_N⁻`, an impulse p does the work `p·u_w − (w − ½) p·W p` on the velocities
/// `u_w = (1 − w) u⁻ + w u⁺`, and `p_N u_N,w = −(1 − w (1 + e)) p_N |u_N⁻|` is no gain up to this w. Impulses feel each other through W, so
/// that all contacts of an impact read at one w.
pub(crate) fn latest_reading(e: f64) -> f64 {
    1.0 / (1.0 + e)
}
