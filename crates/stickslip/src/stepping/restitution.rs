//! How an impact law enters the velocity a block reads.

use crate::laws::ImpactLaw;

/// Writes the bias of one contact: the block reads `w = Hᵀv + bias`.
///
/// With `u` the local velocity at the start of the step and θ the parameter of the scheme:
///
/// | law | normal | tangential |
/// | --- | --- | --- |
/// | inelastic, Poisson, energetic | 0 | 0 |
/// | Newton | e u_N | 0 |
/// | Moreau | e u_N | e u_T |
/// | Frémond | e u_N | ((1−θ)/θ) u_T |
///
/// Moreau's law reads the weighted mean (u⁺ + e u⁻)/(1 + e) in every row, which makes it
/// dissipative with any friction; without friction it is `v⁺ = v + (1+e)(Proj v − v)`. Poisson's
/// restitution acts on impulses, in a second stage; the energetic law is an impact of its own before it. A contact that already opens (`u_N > 0`)
/// does no normal work under the guard rule: its normal bias is ((1−θ)/θ) u_N.
pub(crate) fn bias(law: ImpactLaw, theta: f64, guard: bool, u: &[f64], out: &mut [f64]) {
    let reflection = (1.0 - theta) / theta;
    let restitution = match law {
        ImpactLaw::Poisson { .. } | ImpactLaw::Energetic { .. } => 0.0,
        _ => law.restitution(),
    };
    out[0] = if guard && u[0] > 0.0 {
        reflection * u[0]
    } else {
        restitution * u[0]
    };
    let tangential = match law {
        ImpactLaw::Moreau { restitution } => restitution,
        ImpactLaw::Fremond { .. } => reflection,
        ImpactLaw::Inelastic
        | ImpactLaw::Newton { .. }
        | ImpactLaw::Poisson { .. }
        | ImpactLaw::Energetic { .. } => 0.0,
    };
    for (o, u) in out[1..].iter_mut().zip(&u[1..]) {
        *o = tangential * u;
    }
}
