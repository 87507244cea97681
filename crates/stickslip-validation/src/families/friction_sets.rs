//! S(q, v) and Coulomb's law for contacts in space with every friction set.

use crate::engine::{LocalView, contact_dynamics, impact};
use crate::{Answer, CaseError, CaseInput, Inputs};
use stickslip::algebra::SymmetricMatrix;
use stickslip::internals::one_contact::gamma;
use stickslip::internals::one_contact::{DiscKind, enumerate_disc};
use stickslip::internals::{GeneralizedSet, project, support};
use stickslip::laws::{ContactLaw, FlowRule, FrictionSection, ImpactLaw};
use stickslip::records::StepRecord;
use stickslip::systems::functions::{GivenRows, GivenScalar};
use stickslip::systems::rigid::UnitQuaternion;
use stickslip::systems::{ContactFrame, GeneralizedSystem, RigidBody, UnilateralConstraint};

/// A rigid body whose corner touches the ground z = 0.
struct Corner {
    mass: f64,
    moments: [f64; 3],
    arm: [f64; 3],
    section: FrictionSection,
    v: [f64; 6],
}

impl Corner {
    fn read(params: &Inputs, section: FrictionSection) -> Result<Self, CaseError> {
        Ok(Self {
            mass: params.number("m")?,
            moments: params.vector("I")?,
            arm: params.vector("contact_from_com")?,
            section,
            v: params.vector("v_minus")?,
        })
    }

    fn configuration(&self) -> [f64; 7] {
        let identity = UnitQuaternion([1.0, 0.0, 0.0, 0.0]);
        RigidBody::configuration([0.0, 0.0, -self.arm[2]], identity)
    }

    fn body(&self, flow_rule: FlowRule) -> Result<RigidBody, CaseError> {
        let law =
            ContactLaw::new(self.section.clone(), ImpactLaw::Inelastic)?.with_flow_rule(flow_rule);
        Ok(RigidBody::builder(self.mass, self.moments)
            .ball_on_plane("ground", self.arm, 0.0, [0.0, 0.0, 1.0], 0.0, law)
            .build(&self.configuration())?)
    }

    fn impact(&self, flow_rule: FlowRule) -> Result<StepRecord, CaseError> {
        let body = self.body(flow_rule)?;
        impact(body, contact_dynamics(), (&self.configuration(), &self.v))
    }

    fn view(&self) -> Result<LocalView, CaseError> {
        let body = self.body(FlowRule::Coulomb)?;
        LocalView::new(&body, &self.configuration(), &self.v)
    }
}

/// Quantities of S that all sets share, with the queries of the section C*.
fn projection(
    record: &StepRecord,
    view: &LocalView,
    section: &FrictionSection,
    input: &CaseInput,
) -> Result<Answer, CaseError> {
    let mut answer = group! {
        "S" => &record.velocity,
        "p_real" => &record.impulses,
        "u_plus" => view.of(&record.velocity),
        "KE_minus" => record.kinetic - record.energy.kinetic_change,
        "KE_plus" => record.kinetic,
    };
    let set = GeneralizedSet::from_cone(view.delassus(), section.clone());
    let set = set.per_unit_normal(view.delassus()[0].sqrt());
    let covectors = Covectors::new(view, set.tilt().len());
    if let Ok(queries) = input.given.rows("support") {
        let values = queries.iter().map(|query| {
            let w = query.numbers("w")?;
            Ok(group! { "value" => support(&set, &covectors.pair(&w)) })
        });
        answer.insert("support", values.collect::<Result<Vec<_>, CaseError>>()?);
    }
    if let Ok(queries) = input.given.rows("projection_dual_metric") {
        let values = queries.iter().map(|query| {
            let s = project(
                &set,
                &covectors.gram,
                &covectors.pair_dual(&query.numbers("f")?),
            );
            Ok(group! { "value" => covectors.combine(&s) })
        });
        answer.insert(
            "projection_dual_metric",
            values.collect::<Result<Vec<_>, CaseError>>()?,
        );
    }
    Ok(answer)
}

/// The covectors R = t − (W_nt/W_nn) dφ of a contact, their Gram matrix and M⁻¹R.
struct Covectors {
    rows: Vec<Vec<f64>>,
    lifted: Vec<Vec<f64>>,
    gram: Vec<f64>,
}

impl Covectors {
    fn new(view: &LocalView, d: usize) -> Self {
        let w = view.delassus();
        let m = d + 1;
        let still = view.after(&vec![0.0; m]);
        // Velocity jump of a unit impulse in each row.
        let response = |i: usize| -> Vec<f64> {
            let mut impulse = vec![0.0; m];
            impulse[i] = 1.0;
            let after = view.after(&impulse);
            after.iter().zip(&still).map(|(a, b)| a - b).collect()
        };
        let normal = response(0);
        let (mut rows, mut lifted) = (Vec::new(), Vec::new());
        for i in 1..m {
            let c = w[i] / w[0];
            let combine = |t: &[f64], n: &[f64]| -> Vec<f64> {
                t.iter().zip(n).map(|(t, n)| t - c * n).collect()
            };
            rows.push(combine(view.row(i), view.row(0)));
            lifted.push(combine(&response(i), &normal));
        }
        let gram = rows
            .iter()
            .flat_map(|r| {
                lifted
                    .iter()
                    .map(|s| stickslip::internals::dot(r, s))
                    .collect::<Vec<_>>()
            })
            .collect();
        Self { rows, lifted, gram }
    }

    /// ⟨R, w⟩ for a velocity w.
    fn pair(&self, w: &[f64]) -> Vec<f64> {
        self.rows
            .iter()
            .map(|r| stickslip::internals::dot(r, w))
            .collect()
    }

    /// R M⁻¹ f for a covector f.
    fn pair_dual(&self, f: &[f64]) -> Vec<f64> {
        self.lifted
            .iter()
            .map(|r| stickslip::internals::dot(r, f))
            .collect()
    }

    /// Σ s R.
    fn combine(&self, s: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.rows[0].len()];
        for (row, s) in self.rows.iter().zip(s) {
            sum.iter_mut().zip(row).for_each(|(x, r)| *x += s * r);
        }
        sum
    }
}

/// `contact-disc`: isotropic friction, S(q, v) beside Coulomb's law.
pub(super) fn disc(input: &CaseInput) -> Result<Answer, CaseError> {
    let mu = input.params.number("mu")?;
    let corner = Corner::read(&input.params, FrictionSection::disc(mu)?)?;
    let view = corner.view()?;
    let record = corner.impact(FlowRule::KineticProjection)?;
    let mut answer = projection(&record, &view, &corner.section, input)?;
    let local = gamma(view.delassus(), &corner.section);
    answer.insert("gamma_local", local);
    answer.insert("bounded", local > 0.0);
    let slip = view.of(&record.velocity);
    let angle = angle_to_minus(&record.impulses[1..], &slip[1..]);
    answer.insert("angle_between_friction_and_minus_slip_deg", angle);

    let coulomb = corner.impact(FlowRule::Coulomb)?;
    answer.insert(
        "coulomb_inelastic",
        group! {
            "v_plus" => &coulomb.velocity,
            "p_real" => &coulomb.impulses,
            "u_plus" => view.of(&coulomb.velocity),
            "kind" => coulomb_kind(&view, mu),
            "KE_plus" => coulomb.kinetic,
        },
    );
    Ok(answer)
}

/// `stick`, or `slip(k)` with the number k of sliding solutions.
fn coulomb_kind(view: &LocalView, mu: f64) -> Answer {
    let (Ok(w), Ok(q)) = (view.delassus().try_into(), view.velocity().try_into()) else {
        return Answer::NotComputed("not one contact in space".into());
    };
    let solutions = enumerate_disc(w, q, mu, 0.0);
    let count = |kind| solutions.iter().filter(|s| s.kind == kind).count();
    if count(DiscKind::Stick) > 0 {
        "stick".into()
    } else {
        format!("slip({})", count(DiscKind::Slip)).into()
    }
}

/// Angle in degrees between friction and the opposite of the slip velocity, 0 where the tip sticks.
fn angle_to_minus(friction: &[f64], slip: &[f64]) -> f64 {
    let speed = slip[0].hypot(slip[1]);
    if speed <= 1e-9 || friction[0].hypot(friction[1]) == 0.0 {
        return 0.0;
    }
    let cross = friction[0] * slip[1] - friction[1] * slip[0];
    let inner = -(friction[0] * slip[0] + friction[1] * slip[1]);
    cross.abs().atan2(inner).to_degrees()
}

/// `contact-ellipse`, `contact-polygon`: anisotropic friction.
pub(super) fn set_of_kind(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let section = match params.word("friction.0")? {
        "ellipse" => FrictionSection::ellipse(params.vector("friction.1")?)?,
        "poly" => FrictionSection::polytope(&params.table("friction.1")?)?,
        other => {
            return Err(CaseError::bad_parameter(
                "friction",
                other,
                "ellipse or poly",
            ));
        }
    };
    let corner = Corner::read(params, section)?;
    let view = corner.view()?;
    let record = corner.impact(FlowRule::KineticProjection)?;
    let mut answer = projection(&record, &view, &corner.section, input)?;
    let (w, local) = (view.delassus(), gamma(view.delassus(), &corner.section));
    answer.insert("gamma", local / w[0].sqrt());
    answer.insert("bounded", local > 0.0);
    Ok(answer)
}

/// `two-points`: two material points of one constraint.
pub(super) fn two_points(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let mass: SymmetricMatrix = params.matrix("M")?;
    let (normal, tangents) = (params.numbers("dphi")?, params.table("tangents")?);
    let (mu, v) = (params.numbers("mu")?, params.numbers("v_minus")?);
    let n = mass.order();
    let build = || -> Result<GeneralizedSystem, CaseError> {
        let (value, gradient) = (normal.clone(), normal.clone());
        let gap = GivenScalar {
            value: move |q: &[f64]| stickslip::internals::dot(&value, q),
            gradient: move |_: &[f64], row: &mut [f64]| row.copy_from_slice(&gradient),
        };
        let mut constraint = UnilateralConstraint::new("ground", gap);
        for (tangent, &mu) in tangents.iter().zip(&mu) {
            let tangent = tangent.clone();
            let rows = GivenRows(move |_: &[f64], row: &mut [f64]| row.copy_from_slice(&tangent));
            let law = ContactLaw::new(FrictionSection::segment(mu)?, ImpactLaw::Inelastic)?
                .with_flow_rule(FlowRule::KineticProjection);
            constraint = constraint.with_point(ContactFrame::tangents(1, rows), law);
        }
        let names: Vec<String> = (1..=n).map(|i| format!("q{i}")).collect();
        Ok(GeneralizedSystem::builder(names)
            .mass_matrix(mass.clone())
            .constraint(constraint)
            .build(&vec![0.0; n])?)
    };
    let q = vec![0.0; n];
    let view = LocalView::new(&build()?, &q, &v)?;
    let record = impact(build()?, contact_dynamics(), (&q, &v))?;
    let parts = mu.iter().map(|&mu| FrictionSection::segment(mu));
    let section = FrictionSection::hull(parts.collect::<Result<_, _>>()?)?;
    let (w, local) = (view.delassus(), gamma(view.delassus(), &section));
    let mut answer = projection(&record, &view, &section, input)?;
    answer.insert("gamma", local / w[0].sqrt());
    answer.insert("bounded", local > 0.0);
    Ok(answer)
}
