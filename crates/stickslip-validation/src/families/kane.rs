//! Kane's double pendulum under every impact law.

use crate::engine::{LocalView, contact_dynamics, impact};
use crate::{Answer, CaseError, CaseInput, Inputs};
use stickslip::algebra::{Jet, SymmetricMatrix};
use stickslip::internals::{GeneralizedSet, ImpactPhase, ImpactPhaseKind, dot, energetic_impact};
use stickslip::laws::{ContactLaw, FlowRule, FrictionSection, GeneralizedRule, ImpactLaw};
use stickslip::systems::functions::AutoScalar;
use stickslip::systems::{ContactFrame, GeneralizedSystem, MechanicalSystem, UnilateralConstraint};

/// Two uniform rods hanging from a pivot, the tip of the second on the floor.
struct Pendulum {
    m: [f64; 2],
    length: [f64; 2],
    q: [f64; 2],
    v: [f64; 2],
    mu: f64,
    e: f64,
}

impl Pendulum {
    fn read(params: &Inputs) -> Result<Self, CaseError> {
        Ok(Self {
            m: [params.number("m1")?, params.number("m2")?],
            length: [params.number("L1")?, params.number("L2")?],
            q: [
                params.number("t1")?.to_radians(),
                params.number("t2")?.to_radians(),
            ],
            v: params.vector("v")?,
            mu: params.number("mu")?,
            e: params.number("e")?,
        })
    }

    fn system(&self, law: ContactLaw) -> Result<GeneralizedSystem, CaseError> {
        let (m, length) = (self.m, self.length);
        let tip = move |q: &[Jet]| {
            [
                q[0].sin() * length[0] + q[1].sin() * length[1],
                -(q[0].cos() * length[0] + q[1].cos() * length[1]),
            ]
        };
        let floor = -(length[0] * self.q[0].cos() + length[1] * self.q[1].cos());
        let energy = move |q: &[Jet], v: &[Jet]| {
            // Rod by rod: velocity of the centre and spin about it.
            let along = |k: usize, part: f64| {
                let arm = part * length[k];
                [q[k].cos() * v[k] * arm, q[k].sin() * v[k] * arm]
            };
            let square = |u: [Jet; 2]| u[0] * u[0] + u[1] * u[1];
            let (joint, second) = (along(0, 1.0), along(1, 0.5));
            let centre = [joint[0] + second[0], joint[1] + second[1]];
            let spin = |k: usize| v[k] * v[k] * (m[k] * length[k] * length[k] / 12.0);
            (square(along(0, 0.5)) * m[0] + square(centre) * m[1] + spin(0) + spin(1)) * 0.5
        };
        let ground = UnilateralConstraint::new(
            "floor",
            AutoScalar(move |_: Jet, q: &[Jet]| tip(q)[1] - floor),
        )
        .with_point(ContactFrame::planar_point(tip, [0.0, 1.0]), law);
        Ok(GeneralizedSystem::builder(["t1", "t2"])
            .kinetic_energy(energy)
            .constraint(ground)
            .build(&self.q)?)
    }

    fn law(&self, impact: ImpactLaw, rule: FlowRule) -> Result<ContactLaw, CaseError> {
        let section = FrictionSection::segment(self.mu)?;
        Ok(ContactLaw::new(section, impact)?.with_flow_rule(rule))
    }
}

/// `kane-pendulum`.
pub(super) fn pendulum(input: &CaseInput) -> Result<Answer, CaseError> {
    let pendulum = Pendulum::read(&input.params)?;
    let restitution = pendulum.e;
    let plain = pendulum.law(ImpactLaw::Inelastic, FlowRule::Coulomb)?;
    let system = pendulum.system(plain)?;
    let view = LocalView::new(&system, &pendulum.q, &pendulum.v)?;
    let w = view.delassus();
    let mut mass = SymmetricMatrix::zeros(2);
    system.mass(&pendulum.q, &mut mass);
    let mut answer = group! {
        "u_minus" => view.velocity(),
        "W" => [w[0], w[1], w[3]],
        "KE_minus" => 0.5 * mass.bilinear(&pendulum.v, &pendulum.v),
    };

    // C* per n* along the covector of unit dual norm: s per covector times its norm.
    let section = FrictionSection::segment(pendulum.mu)?;
    let set = GeneralizedSet::from_cone(w, section).per_unit_normal(w[0].sqrt());
    let norm = (w[3] - w[1] * w[1] / w[0]).sqrt();
    if let Some((lower, upper)) = set.ends() {
        answer.insert("Cstar_per_nstar_unit_tangent", [lower * norm, upper * norm]);
    }
    let unit: Vec<f64> = (0..2)
        .map(|i| (view.row(1)[i] - w[1] / w[0] * view.row(0)[i]) / norm)
        .collect();
    debug_assert!((dot(&unit, &unit)).is_finite());
    answer.insert("unit_tangent_covector", unit);

    let generalized = FlowRule::Generalized(GeneralizedRule::default());
    for (name, law, rule) in [
        (
            "newton_coulomb_P5",
            ImpactLaw::Newton { restitution },
            FlowRule::Coulomb,
        ),
        (
            "generalized_P3",
            ImpactLaw::Newton { restitution },
            generalized,
        ),
        (
            "fremond_mean",
            ImpactLaw::Fremond { restitution },
            FlowRule::Coulomb,
        ),
        (
            "poisson_moreau",
            ImpactLaw::Poisson { restitution },
            FlowRule::Coulomb,
        ),
    ] {
        let system = pendulum.system(pendulum.law(law, rule)?)?;
        let record = impact(system, contact_dynamics(), (&pendulum.q, &pendulum.v))?;
        let u = view.of(&record.velocity);
        let mut group = group! {
            "v_plus" => &record.velocity,
            "u_plus" => &u,
            "p_real" => &record.impulses,
            "KE_change" => record.energy.kinetic_change,
        };
        if name == "poisson_moreau" {
            group.insert("u_n_nonneg", u[0] >= -1e-12);
        }
        answer.insert(name, group);
    }
    answer.insert(
        "darboux_keller_energetic",
        energetic(&pendulum, &view, &mass),
    );
    Ok(answer)
}

/// Darboux and Keller's equations, stopped by the energetic coefficient.
fn energetic(pendulum: &Pendulum, view: &LocalView, mass: &SymmetricMatrix) -> Answer {
    let w = view.delassus();
    let u = [view.velocity()[0], view.velocity()[1]];
    let (mu, v) = (pendulum.mu, &pendulum.v);
    let found = energetic_impact([w[0], w[1], w[3]], u, (-mu, mu), pendulum.e);
    let after = view.after(&found.impulse);
    let kinetic = |v: &[f64]| 0.5 * mass.bilinear(v, v);
    let phase = |phase: &ImpactPhase| {
        let mode = match phase.kind {
            ImpactPhaseKind::Slip => "slip",
            ImpactPhaseKind::Stick => "stick",
        };
        // The files count friction as −μ s per unit of normal impulse.
        Answer::List(vec![
            Answer::from(mode),
            Answer::from(-phase.friction / mu),
            Answer::from(phase.impulse),
        ])
    };
    group! {
        "v_plus" => &after,
        "u_plus" => found.velocity,
        "p_real" => found.impulse,
        "KE_change" => kinetic(&after) - kinetic(v),
        "phases" => found.phases.iter().map(phase).collect::<Vec<Answer>>(),
    }
}
