//! A free rod with one tip on the ground: Painlevé's system in three coordinates.

use crate::engine::{LocalView, contact_dynamics, impact, run_steps, simulation};
use crate::reference::Start;
use crate::{Answer, CaseError, CaseInput, Inputs};
use stickslip::algebra::{Jet, SymmetricMatrix};
use stickslip::internals;
use stickslip::internals::one_contact::{gamma, planar};
use stickslip::internals::{ReferenceEventKind, bracketed_root, dot};
use stickslip::laws::{ContactLaw, FlowRule, FrictionSection, ImpactLaw};
use stickslip::systems::functions::AutoScalar;
use stickslip::systems::{ContactFrame, GeneralizedSystem, MechanicalSystem, UnilateralConstraint};

/// Mass, half length, moment of inertia, weight and friction of the rod.
#[derive(Clone, Copy)]
struct Rod {
    m: f64,
    l: f64,
    inertia: f64,
    g: f64,
    mu: f64,
}

impl Rod {
    fn read(params: &Inputs) -> Result<Self, CaseError> {
        Ok(Self {
            m: params.number("m")?,
            l: params.number("l")?,
            inertia: params.number("J")?,
            g: params.number_or("g", 0.0)?,
            mu: params.number("mu")?,
        })
    }

    /// Height of the tip above the height it has in `q0`.
    fn gap(self, q0: &[f64]) -> impl Fn(&[Jet]) -> Jet + Copy + Send + Sync + 'static {
        let offset = q0[1] - self.l * q0[2].sin();
        move |q: &[Jet]| q[1] - q[2].sin() * self.l - offset
    }

    /// The rod with its tip touching the ground in the configuration `q0`.
    fn system(self, q0: &[f64]) -> Result<GeneralizedSystem, CaseError> {
        let tip = move |q: &[Jet]| [q[0] - q[2].cos() * self.l, q[1] - q[2].sin() * self.l];
        let gap = self.gap(q0);
        let law = ContactLaw::new(self.section()?, ImpactLaw::Inelastic)?
            .with_flow_rule(FlowRule::KineticProjection);
        let ground =
            UnilateralConstraint::new("ground", AutoScalar(move |_: Jet, q: &[Jet]| gap(q)))
                .with_point(ContactFrame::planar_point(tip, [0.0, 1.0]), law);
        Ok(GeneralizedSystem::builder(["x", "y", "theta"])
            .mass_diagonal(&[self.m, self.m, self.inertia])
            .dead_load(&[0.0, -self.m * self.g, 0.0])
            .constraint(ground)
            .build(q0)?)
    }

    fn section(self) -> Result<FrictionSection, CaseError> {
        Ok(FrictionSection::segment(self.mu)?)
    }

    /// S(q, v) and its impulse.
    fn project(self, q: &[f64], v: &[f64]) -> Result<(Vec<f64>, Vec<f64>), CaseError> {
        let record = impact(self.system(q)?, contact_dynamics(), (q, v))?;
        Ok((record.velocity, record.impulses))
    }

    /// Jam of the grazing tip: velocity and impulse of least kinetic energy at u_n = 0.
    fn jam(self, view: &LocalView) -> (Vec<f64>, [f64; 2]) {
        let mut impulse = [0.0; 2];
        let ends = (-self.mu, self.mu);
        planar::solve_jam_planar(view.delassus(), view.velocity(), ends, &mut impulse);
        (view.after(&impulse), impulse)
    }

    /// Normal acceleration of the tip without reaction: `dφ·M⁻¹f + v·∂²φ v`.
    fn free_normal_acceleration(self, q: &[f64], v: &[f64]) -> Result<f64, CaseError> {
        let system = self.system(q)?;
        let gap = self.gap(q);
        let (mut slope, mut second) = ([0.0; 3], [0.0; 9]);
        internals::gradient(q, gap, &mut slope);
        internals::hessian(q, gap, &mut second);
        let mut pull = [0.0; 3];
        system.potential_gradient(q, &mut pull);
        let mut mass = SymmetricMatrix::zeros(3);
        system.mass(q, &mut mass);
        let falling: f64 = (0..3).map(|i| -slope[i] * pull[i] / mass.get(i, i)).sum();
        Ok(falling + SymmetricMatrix::from_rows(3, second.to_vec()).bilinear(v, v))
    }
}

/// Coefficient at which γ vanishes, of a rod with inertia `j m l²` at an angle; negative where the
/// other sense of sliding is the critical one (W_nt > 0).
fn critical_friction(j: f64, angle: f64) -> Result<f64, CaseError> {
    let rod = Rod {
        m: 1.0,
        l: 1.0,
        inertia: j,
        g: 0.0,
        mu: 0.0,
    };
    let q = [0.0, angle.sin(), angle];
    let view = LocalView::new(&rod.system(&q)?, &q, &[0.0; 3])?;
    let at = |mu: f64| gamma(view.delassus(), &FrictionSection::Disc { mu, dimension: 1 });
    // γ falls linearly from W_nn at mu = 0.
    let mut high = 1.0;
    while at(high) > 0.0 {
        high *= 2.0;
        if high > 1e12 {
            // Rows that are not coupled never jam.
            return Ok(f64::INFINITY);
        }
    }
    let mu = bracketed_root(0.0, at(0.0), high, at(high), at);
    Ok(mu.copysign(-view.delassus()[1]))
}

/// Least critical coefficient over the angle, with that angle.
fn least_critical_friction(j: f64) -> Result<(f64, f64), CaseError> {
    // Central difference of order eight: its step and its rounding both stay below 1e-11.
    let slope = |angle: f64| -> Result<f64, CaseError> {
        let h = 0.01;
        let mut sum = 0.0;
        for (k, c) in [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0]
            .into_iter()
            .enumerate()
        {
            let d = (k + 1) as f64 * h;
            sum += c * (critical_friction(j, angle + d)? - critical_friction(j, angle - d)?);
        }
        Ok(sum / h)
    };
    let (low, high) = (0.1f64, 1.5f64);
    let (at_low, at_high) = (slope(low)?, slope(high)?);
    let mut problem = None;
    let angle = bracketed_root(low, at_low, high, at_high, |angle| {
        slope(angle).unwrap_or_else(|error| {
            problem = Some(error);
            f64::NAN
        })
    });
    match problem {
        Some(error) => Err(error),
        None => Ok((critical_friction(j, angle)?, angle)),
    }
}

/// `rod-regime`: the tip slides with unit speed.
pub(super) fn regime(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let rod = Rod::read(params)?;
    let angle = params.number("theta")?;
    let [spin, slip] = params.each(["thetadot", "slip_sign"])?;
    let q = [0.0, rod.l * angle.sin(), angle];
    let v = [
        slip - rod.l * angle.sin() * spin,
        rod.l * angle.cos() * spin,
        spin,
    ];
    let system = rod.system(&q)?;
    let view = LocalView::new(&system, &q, &v)?;
    let w = view.delassus();
    let local = gamma(w, &rod.section()?);
    let normal = view.row(0);
    let (jammed, jam_impulse) = rod.jam(&view);

    // While the tip slides the friction force is −slip μ times the normal one: the normal
    // acceleration is `p r_n + b`, and 0 ≤ r_n ⟂ p r_n + b ≥ 0 decides.
    let p = w[0] - slip * rod.mu * w[1];
    let b = rod.free_normal_acceleration(&q, &v)?;
    let regime = match (p > 0.0, b < 0.0) {
        (true, true) => "sliding",
        (true, false) => "liftoff",
        (false, true) => "inconsistent",
        (false, false) => "indeterminate",
    };
    let mut answer = group! {
        "regime" => regime,
        "p" => p,
        "b" => b,
        "mu_crit" => critical_friction(rod.inertia / (rod.m * rod.l * rod.l), angle)?,
        "W" => [w[0], w[1], w[3]],
        "gamma_paoli" => local / dot(normal, normal),
        "v_minus" => v,
        "jam_u_tilde" => &jammed,
        "jam_impulse_real" => jam_impulse,
        "jam_exists" => jam_impulse[0] > 0.0,
        "tip_after" => view.of(&jammed),
        // The reaction of a tip that goes on sliding, whether it presses or not.
        "r_n_contact_branch" => -b / p,
    };
    // Where nothing finite keeps the tip from sinking in, the force is without bound: an impulse. Where the tip may lift
    // off or press, it lifts off here and presses in the branch above.
    let normal = match regime {
        "sliding" => -b / p,
        "inconsistent" => f64::INFINITY,
        _ => 0.0,
    };
    let friction = -slip * rod.mu;
    answer.insert("r_n", normal);
    answer.insert("r_t", friction * normal);
    let along = view.after(&[1.0, friction]);
    let mut pull = [0.0; 3];
    system.potential_gradient(&q, &mut pull);
    let mut mass = SymmetricMatrix::zeros(3);
    system.mass(&q, &mut mass);
    let acceleration: Vec<f64> = (0..3)
        .map(|i| match along[i] - v[i] {
            0.0 => -pull[i] / mass.get(i, i),
            slope => slope * normal - pull[i] / mass.get(i, i),
        })
        .collect();
    answer.insert("qddot", acceleration);
    let eps = input.given.number_or("S_of_v_minus_eps.eps", 1e-3)?;
    let approaching = [v[0], v[1] - eps, v[2]];
    let (after, impulse) = rod.project(&q, &approaching)?;
    answer.insert(
        "S_of_v_minus_eps",
        group! { "eps" => eps, "v" => approaching, "S" => after, "p_real" => impulse },
    );
    Ok(answer)
}

/// `rod-collision`: S(q, v).
pub(super) fn collision(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let rod = Rod::read(params)?;
    let angle = params.number("theta")?;
    let v = params.vector::<3>("v_minus")?;
    let q = [0.0, rod.l * angle.sin(), angle];
    let record = impact(rod.system(&q)?, contact_dynamics(), (&q, &v))?;
    let view = LocalView::new(&rod.system(&q)?, &q, &v)?;
    Ok(group! {
        "S" => &record.velocity,
        "p_real" => &record.impulses,
        "u_minus" => view.velocity(),
        "u_plus" => view.of(&record.velocity),
        "KE_minus" => record.kinetic - record.energy.kinetic_change,
        "KE_plus" => record.kinetic,
    })
}

/// `rod-critical-curve`: coefficient at which γ vanishes, over the angle.
pub(super) fn critical_curve(input: &CaseInput) -> Result<Answer, CaseError> {
    let j = input.params.number("J_over_ml2")?;
    let mut curve = Vec::new();
    for degrees in (10..=85).step_by(5) {
        let angle = f64::from(degrees).to_radians();
        curve.push(Answer::from([
            f64::from(degrees),
            critical_friction(j, angle)?,
        ]));
    }
    let (mu, angle) = least_critical_friction(j)?;
    Ok(group! { "curve_deg_mu" => curve, "min_mu" => mu, "at_angle_rad" => angle })
}

/// `rod-mu-min`: the least of these coefficients.
pub(super) fn mu_min(input: &CaseInput) -> Result<Answer, CaseError> {
    let (mu, angle) = least_critical_friction(input.params.number("J_over_ml2")?)?;
    Ok(group! { "min_mu" => mu, "tan_angle" => angle.tan() })
}

/// `rod-trajectory`: Moreau's contact dynamics from a sliding tip.
pub(super) fn trajectory_exact(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let rod = Rod::read(params)?;
    let (q, v) = (params.vector::<3>("q0")?, params.vector::<3>("v0")?);
    let start = Start {
        system: rod.system(&q)?,
        q: q.to_vec(),
        v: v.to_vec(),
    };
    let mut motion = start.reference();
    motion.run(params.number("T")?)?;
    let events = motion.motion.events();
    let jam = events
        .iter()
        .find(|event| event.kind == ReferenceEventKind::Jam);
    // The motion leaves the cone only where a reaction pulls; then the contact opens.
    let opened = events
        .iter()
        .any(|event| event.kind == ReferenceEventKind::Open);
    Ok(group! {
        "v_after_t0" => jam.map_or(v.to_vec(), |event| event.velocity.clone()),
        "jam" => jam.is_some(),
        "state_T" => [motion.motion.q(), motion.motion.v()].concat(),
        "reaction_in_cone_all_along" => !opened,
    })
}

/// `rod-trajectory`: by time stepping.
pub(super) fn trajectory(input: &CaseInput, refinement: usize) -> Result<Answer, CaseError> {
    let params = &input.params;
    let rod = Rod::read(params)?;
    let (q, v0) = (params.vector::<3>("q0")?, params.vector::<3>("v0")?);
    let t_end = params.number("T")?;
    let steps = 1000 * refinement;
    let h = t_end / steps as f64;
    let mut run = simulation(rod.system(&q)?, contact_dynamics(), (&q, &v0), h, true)?;
    // An approaching tip has met the ground at the initial instant.
    let v = run.state().v.clone();
    run_steps(&mut run, h, steps, |_| ())?;
    let cone = run.certificate().cone.value <= 1e-10;
    let state = run.state();

    // At t = 0: where the sliding tip has no admissible reaction, the jam takes place.
    let view = LocalView::new(&rod.system(&q)?, &q, &v)?;
    let w = view.delassus();
    let p = w[0] - view.velocity()[1].signum() * rod.mu * w[1];
    let pressed = rod.free_normal_acceleration(&q, &v)? < 0.0;
    let (jammed, impulse) = rod.jam(&view);
    let jam = p <= 0.0 && pressed && impulse[0] > 0.0;
    Ok(group! {
        "v_after_t0" => if jam { jammed } else { v },
        "jam" => jam,
        "state_T" => [state.q.as_slice(), &state.v].concat(),
        "reaction_in_cone_all_along" => cone,
    })
}
