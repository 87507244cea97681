//! Schemes on smooth motion: gyroscopic terms, discrete gradients, joints.

use crate::engine::{midpoint, run_steps, scheme_settings, simulation, theta_scheme};
use crate::{Answer, CaseError, CaseInput};
use stickslip::algebra::Jet;
use stickslip::laws::{ContactLaw, ImpactLaw};
use stickslip::simulation::Simulation;
use stickslip::stepping::{InternalForce, JointVelocity, MoreauJeanSettings};
use stickslip::systems::functions::AutoScalar;
use stickslip::systems::rigid::UnitQuaternion;
use stickslip::systems::{
    BilateralConstraint, ContactFrame, GeneralizedSystem, MechanicalSystem, RigidBody,
    UnilateralConstraint,
};

/// State (q, v) of a smooth motion at time T: the midpoint scheme at three steps, whose error is a
/// series in h², extrapolated to h = 0.
fn smooth_state<S: MechanicalSystem + 'static>(
    build: &dyn Fn() -> Result<S, CaseError>,
    (q, v): (&[f64], &[f64]),
    t_end: f64,
    steps: usize,
) -> Result<(Vec<f64>, Vec<f64>), CaseError> {
    let mut runs = Vec::new();
    for refinement in [1, 2, 4] {
        let count = steps * refinement;
        let h = t_end / count as f64;
        let scheme = theta_scheme(midpoint())?;
        let mut run = simulation(build()?, scheme, (q, v), h, false)?;
        run_steps(&mut run, h, count, |_| ())?;
        runs.push((run.state().q.clone(), run.state().v.clone()));
    }
    let extrapolate = |part: &dyn Fn(usize) -> Vec<f64>| {
        let (a, b, c) = (part(0), part(1), part(2));
        let value = |i: usize| {
            let (first, second) = ((4.0 * b[i] - a[i]) / 3.0, (4.0 * c[i] - b[i]) / 3.0);
            (16.0 * second - first) / 15.0
        };
        (0..a.len()).map(value).collect()
    };
    Ok((
        extrapolate(&|k| runs[k].0.clone()),
        extrapolate(&|k| runs[k].1.clone()),
    ))
}

/// `gyroscopic_midpoint`: a torque-free body.
pub(super) fn gyroscopic(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let moments = params.vector::<3>("J")?;
    let omega = params.vector::<3>("omega0")?;
    let (h, steps) = (params.number("h")?, params.count("N")?);
    let q = RigidBody::configuration([0.0; 3], UnitQuaternion([1.0, 0.0, 0.0, 0.0]));
    let v = [0.0, 0.0, 0.0, omega[0], omega[1], omega[2]];
    let build = || Ok(RigidBody::builder(1.0, moments).build(&q)?);
    let exact = smooth_state(&build, (&q, &v), h * steps as f64, 4 * steps)?.1[3..].to_vec();
    let mut rows = Vec::new();
    let mut energy = 0.0;
    for row in input.given.rows("scheme")? {
        let theta = row.number("theta")?;
        let scheme = theta_scheme(scheme_settings(params, theta)?)?;
        let mut run = simulation(build()?, scheme, (&q, &v), h, false)?;
        energy = run.record().kinetic;
        run_steps(&mut run, h, steps, |_| ())?;
        let end = &run.state().v[3..];
        let error = end.iter().zip(&exact).map(|(a, b)| (a - b).abs());
        rows.push(group! {
            "theta" => theta,
            "omega_end" => end,
            "T_end" => run.state().kinetic,
            "sum_D_num" => run.ledger().totals.numerical_mass,
            "max_identity_residual" => run.ledger().worst_imbalance,
            "err_vs_exact" => error.fold(0.0, f64::max),
        });
    }
    Ok(group! { "scheme" => rows, "exact_omega_end" => exact, "T0" => energy })
}

/// `duffing_discrete_gradient_wall`: a nonlinear spring against a wall, energy kept to rounding.
pub(super) fn duffing(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let [k1, k3] = params.each(["k1", "k3"])?;
    let (m, offset) = (params.number_or("m", 1.0)?, params.number("g0")?);
    let [q0, v0] = params.each(["q0", "v0"])?;
    let (h, steps) = (params.number("h")?, params.count("N")?);
    let law = ContactLaw::frictionless(ImpactLaw::Newton {
        restitution: params.number("e")?,
    })?;
    let wall =
        UnilateralConstraint::new("wall", AutoScalar(move |_: Jet, q: &[Jet]| q[0] + offset))
            .with_point(ContactFrame::Frictionless, law);
    let system = GeneralizedSystem::builder(["q"])
        .mass_diagonal(&[m])
        .potential(move |q: &[Jet]| {
            let square = q[0] * q[0];
            square * (0.5 * k1) + square * square * (0.25 * k3)
        })
        .constraint(wall)
        .build(&[q0])?;
    let settings = MoreauJeanSettings {
        internal_force: InternalForce::DiscreteGradient,
        ..scheme_settings(params, params.number("theta")?)?
    };
    let mut run = simulation(system, theta_scheme(settings)?, (&[q0], &[v0]), h, false)?;
    let start = run.record().kinetic + run.record().potential;
    let rows = input.given.rows("samples")?;
    let wanted: Vec<usize> = rows
        .iter()
        .map(|row| row.count("step"))
        .collect::<Result<_, _>>()?;
    let mut samples = vec![Answer::NotComputed("beyond the last step".into()); wanted.len()];
    let last = wanted.iter().copied().max().unwrap_or(0).max(steps);
    run_steps(&mut run, h, last, |record| {
        for (slot, &step) in samples.iter_mut().zip(&wanted) {
            if record.step == step as u64 {
                *slot = group! {
                    "step" => step,
                    "q" => record.q[0],
                    "v" => record.velocity[0],
                    "E" => record.kinetic + record.potential,
                };
            }
        }
    })?;
    Ok(group! {
        "samples" => samples,
        "sum_W_N" => run.ledger().totals.contact_normal,
        "max_identity_residual" => run.ledger().worst_imbalance,
        "E0" => start,
    })
}

/// `bilateral_pendulum_ledger`: the rod of a pendulum as a joint, and the angle as coordinate.
pub(super) fn bilateral_pendulum(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let [l, m, g] = params.each(["L", "m", "g"])?;
    let (angle, rate) = (
        params.number("angle0_deg")?.to_radians(),
        params.number("omega0")?,
    );
    let (h, steps) = (params.number("h")?, params.count("N")?);
    let q = [l * angle.sin(), -l * angle.cos()];
    let v = [l * rate * angle.cos(), l * rate * angle.sin()];
    let mut rows = Vec::new();
    for row in input.given.rows("scheme")? {
        let variant = row.word("variant")?;
        let joint_velocity = match variant {
            "end_velocity" => JointVelocity::End,
            "theta_velocity" => JointVelocity::Theta,
            other => {
                return Err(CaseError::bad_parameter(
                    "variant",
                    other,
                    "end_velocity or theta_velocity",
                ));
            }
        };
        let rod = AutoScalar(move |_: Jet, q: &[Jet]| (q[0] * q[0] + q[1] * q[1]).sqrt() - l);
        let system = GeneralizedSystem::builder(["x", "y"])
            .mass_diagonal(&[m, m])
            .dead_load(&[0.0, -m * g])
            .joint(BilateralConstraint::new("rod", rod))
            .build(&q)?;
        let settings = MoreauJeanSettings {
            joint_velocity,
            ..scheme_settings(params, params.number("theta")?)?
        };
        let mut run: Simulation = simulation(system, theta_scheme(settings)?, (&q, &v), h, false)?;
        let start = run.state().kinetic + run.state().potential;
        run_steps(&mut run, h, steps, |_| ())?;
        let state = run.state();
        rows.push(group! {
            "variant" => variant,
            "q_end" => &state.q,
            "v_end" => &state.v,
            "sum_W_bilateral" => run.ledger().totals.joints,
            "max_identity_residual" => run.ledger().worst_imbalance,
            "length_drift" => state.q[0].hypot(state.q[1]) - l,
            "E_end_minus_E0" => state.kinetic + state.potential - start,
        });
    }
    let build = || {
        Ok(GeneralizedSystem::builder(["angle"])
            .mass_diagonal(&[m * l * l])
            .potential(move |q: &[Jet]| q[0].cos() * (-m * g * l))
            .build(&[angle])?)
    };
    let (end, rate) = smooth_state(&build, (&[angle], &[rate]), h * steps as f64, 4 * steps)?;
    Ok(group! {
        "scheme" => rows,
        "exact_end" => group! {
            "angle" => end[0],
            "omega" => rate[0],
            "q" => [l * end[0].sin(), -l * end[0].cos()],
        },
    })
}
