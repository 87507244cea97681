//! The theta scheme with its energy account: several contacts, stiffness, damping.

use std::ops::ControlFlow;

use crate::engine::{
    LocalView, energy_terms, run_steps, run_totals, run_until, scheme_settings, simulation,
    step_count, theta_scheme,
};
use crate::{Answer, CaseError, CaseInput, Inputs};
use stickslip::algebra::{Jet, SymmetricMatrix};
use stickslip::internals::dot;
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::records::StepRecord;
use stickslip::simulation::Simulation;
use stickslip::systems::functions::{AutoScalar, GivenRows, GivenScalar};
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

/// The two laws of the case files.
fn laws(restitution: f64) -> [(&'static str, ImpactLaw); 2] {
    [
        ("standard", ImpactLaw::Newton { restitution }),
        ("fremond", ImpactLaw::Fremond { restitution }),
    ]
}

/// What is read from the records of a run.
#[derive(Default)]
struct Watch {
    first_contacts: Vec<Answer>,
    largest_normal: f64,
    largest_tangential: f64,
}

impl Watch {
    /// Reads a record; keeps at most `kept` steps with an impulse.
    fn observe(&mut self, record: &StepRecord, kept: usize) {
        let energy = &record.energy;
        self.largest_normal = self.largest_normal.max(energy.contact_normal);
        self.largest_tangential = self.largest_tangential.max(energy.contact_tangential);
        if record.active_contacts() > 0 && self.first_contacts.len() < kept {
            self.first_contacts.push(group! {
                "v_after" => &record.velocity,
                "t" => record.t,
                "p" => &record.impulses,
                "W_N" => energy.contact_normal,
                "W_T" => energy.contact_tangential,
            });
        }
    }
}

/// The same motion under each of the two laws.
struct LawRuns<'a> {
    input: &'a CaseInput<'a>,
    build: &'a dyn Fn(ImpactLaw) -> Result<GeneralizedSystem, CaseError>,
    start: (&'a [f64], &'a [f64]),
    /// Its name among the samples, and the energy of a record.
    energy: (&'a str, &'a dyn Fn(&StepRecord) -> f64),
    contacts_kept: usize,
}

impl LawRuns<'_> {
    /// Runs to T, takes samples after the steps that end at the given times, and lets `finish` add to them.
    fn run(
        &self,
        answer: &mut Answer,
        finish: impl Fn(&Simulation, Watch, Answer) -> Answer,
    ) -> Result<(), CaseError> {
        let params = &self.input.params;
        let [h, t_end, theta] = params.each(["h", "T", "theta"])?;
        let (energy_name, energy) = self.energy;
        for (name, law) in laws(params.number("e")?) {
            let scheme = theta_scheme(scheme_settings(params, theta)?)?;
            let mut run = simulation((self.build)(law)?, scheme, self.start, h, false)?;
            let first = energy_name.replacen('E', "E0", 1);
            if answer.get(&first).is_none() {
                answer.insert(&first, energy(run.record()));
            }
            let times: Vec<f64> = self
                .input
                .given
                .rows(&format!("{name}.samples"))?
                .iter()
                .map(|row| row.number("t"))
                .collect::<Result<_, _>>()?;
            let unreached = Answer::NotComputed("the run did not reach it".into());
            let mut samples = vec![unreached; times.len()];
            let mut sample = |record: &StepRecord| {
                for (slot, &t) in samples.iter_mut().zip(&times) {
                    if (record.t - t).abs() < 0.5 * h {
                        *slot =
                            group! { "t" => record.t, "q" => &record.q, "v" => &record.velocity };
                        slot.insert(energy_name, energy(record));
                    }
                }
            };
            let mut watch = Watch::default();
            sample(run.record());
            run_until(&mut run, t_end, |record| {
                sample(record);
                watch.observe(record, self.contacts_kept);
                ControlFlow::Continue(())
            })?;
            let mut rows = finish(&run, watch, group! {});
            // Works are those until T; samples may lie behind it.
            let last = times.iter().copied().fold(t_end, f64::max);
            run_until(&mut run, step_count(last, h) as f64 * h, |record| {
                sample(record);
                ControlFlow::Continue(())
            })?;
            rows.insert("samples", samples);
            answer.insert(name, rows);
        }
        Ok(())
    }
}

/// `two_dof_energy_growth`: coupled masses, one rough contact, many impacts.
pub(super) fn two_dof(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let (mass, stiffness) = (params.matrix("M")?, params.matrix("K")?);
    let force = params.vector::<2>("F")?;
    let (q0, v0) = (params.vector::<2>("q0")?, params.vector::<2>("v0")?);
    let section = FrictionSection::segment(params.number("mu")?)?;
    let build = |law: ImpactLaw| -> Result<GeneralizedSystem, CaseError> {
        let rows = GivenRows(|_: &[f64], row: &mut [f64]| row.copy_from_slice(&[1.0, 0.0]));
        let wall = UnilateralConstraint::new("wall", AutoScalar(|_: Jet, q: &[Jet]| q[1]))
            .with_point(
                ContactFrame::tangents(1, rows),
                ContactLaw::new(section.clone(), law)?,
            );
        Ok(GeneralizedSystem::builder(["x", "y"])
            .mass_matrix(mass.clone())
            .stiffness(stiffness.clone())
            .load(move |_, out: &mut [f64]| out.copy_from_slice(&force))
            .constraint(wall)
            .build(&q0)?)
    };
    let total = |record: &StepRecord| record.kinetic + record.potential - dot(&force, &record.q);
    let case = LawRuns {
        input,
        build: &build,
        start: (&q0, &v0),
        energy: ("E_total", &total),
        contacts_kept: 4,
    };
    let mut answer = group! {};
    case.run(&mut answer, |run, watch, mut rows| {
        let largest = (watch.largest_normal, watch.largest_tangential);
        rows.insert("first_contacts", watch.first_contacts);
        rows.insert("totals", run_totals(run, largest));
        rows
    })?;
    Ok(answer)
}

/// `rigid_rod_two_ends`: a rod that falls on the floor with both ends.
pub(super) fn rod_two_ends(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let [m, length, g] = params.each(["m", "L", "g"])?;
    let angle = params.number("angle0_deg")?.to_radians();
    let q0 = [params.number_or("x0", 0.0)?, params.number("y0")?, angle];
    let v0 = params.vector::<3>("v0")?;
    let section = FrictionSection::segment(params.number("mu")?)?;
    let build = |law: ImpactLaw| -> Result<GeneralizedSystem, CaseError> {
        let mut builder = GeneralizedSystem::builder(["x", "y", "a"])
            .mass_diagonal(&[m, m, m * length * length / 12.0])
            .load(move |_, out: &mut [f64]| out.copy_from_slice(&[0.0, -m * g, 0.0]));
        for (name, sign) in [("end -", -0.5), ("end +", 0.5)] {
            let arm = sign * length;
            let end = move |q: &[Jet]| [q[0] + q[2].sin() * arm, q[1] + q[2].cos() * arm];
            let floor =
                UnilateralConstraint::new(name, AutoScalar(move |_: Jet, q: &[Jet]| end(q)[1]))
                    .with_point(
                        ContactFrame::planar_point(end, [0.0, 1.0]),
                        ContactLaw::new(section.clone(), law)?,
                    );
            builder = builder.constraint(floor);
        }
        Ok(builder.build(&q0)?)
    };
    let energy = |record: &StepRecord| record.kinetic + record.potential + m * g * record.q[1];
    let case = LawRuns {
        input,
        build: &build,
        start: (&q0, &v0),
        energy: ("E", &energy),
        contacts_kept: 6,
    };
    let mut answer = group! {};
    case.run(&mut answer, |run, watch, mut rows| {
        let (ledger, totals) = (run.ledger(), &run.ledger().totals);
        rows.insert("first_contacts", watch.first_contacts);
        rows.insert(
            "totals",
            group! {
                "W_N" => totals.contact_normal,
                "W_T" => totals.contact_tangential,
                "D" => totals.numerical_mass,
                "W_ext" => totals.external,
            },
        );
        rows.insert("max_identity_residual", ledger.worst_imbalance);
        rows.insert("max_step_W_N", watch.largest_normal);
        rows.insert("max_step_W_T", watch.largest_tangential);
        rows.insert("natural_map", run.certificate().natural_map.value);
        rows
    })?;
    Ok(answer)
}

/// A step from full matrices, every contact active.
struct FullStep {
    mass: SymmetricMatrix,
    stiffness: SymmetricMatrix,
    damping: SymmetricMatrix,
    /// H, a row for each coordinate.
    rows: Vec<Vec<f64>>,
    /// Rows of a contact.
    dim: usize,
    q: Vec<f64>,
    loads: [Vec<f64>; 2],
    restitution: Vec<f64>,
    friction: Vec<f64>,
    h: f64,
}

impl FullStep {
    fn read(params: &Inputs) -> Result<Self, CaseError> {
        let step = Self {
            mass: params.matrix("M")?,
            stiffness: params.matrix("K")?,
            damping: params.matrix("C")?,
            rows: params.table("H")?,
            dim: params.count("dim")?,
            q: params.numbers("q")?,
            loads: [params.numbers("F_k")?, params.numbers("F_k1")?],
            restitution: params.one_or_more("e")?,
            friction: params.one_or_more("mu")?,
            h: params.number("h")?,
        };
        let (rows, dim) = (step.rows.len(), step.dim);
        let contacts = step.rows.first().map_or(0, Vec::len) / dim.max(1);
        let each = [&step.restitution, &step.friction].map(Vec::len);
        if rows != step.mass.order() || dim < 2 || each != [contacts; 2] {
            let found = format!("{rows} rows for {contacts} contacts of dimension {dim}");
            let expected = "dim columns per contact";
            return Err(CaseError::bad_parameter("H", found, expected));
        }
        Ok(step)
    }

    fn column(&self, j: usize) -> Vec<f64> {
        self.rows.iter().map(|row| row[j]).collect()
    }

    fn system(&self, law: fn(f64) -> ImpactLaw) -> Result<GeneralizedSystem, CaseError> {
        let names: Vec<String> = (1..=self.mass.order()).map(|i| format!("q{i}")).collect();
        let ([f0, f1], h) = (self.loads.clone(), self.h);
        let mut builder = GeneralizedSystem::builder(names)
            .mass_matrix(self.mass.clone())
            .stiffness(self.stiffness.clone())
            .damping(self.damping.clone())
            .load(move |t, out: &mut [f64]| {
                for (o, (a, b)) in out.iter_mut().zip(f0.iter().zip(&f1)) {
                    *o = a + t / h * (b - a);
                }
            })
            // Active by construction: closed by more than any motion of the step.
            .penetration_tolerance(f64::INFINITY)
            // The matrices of the cases are rounded to a few digits.
            .semidefinite_tolerance(1e-2);
        for c in 0..self.friction.len() {
            builder = builder.constraint(self.contact(c, law(self.restitution[c]))?);
        }
        Ok(builder.build(&self.q)?)
    }

    fn contact(&self, c: usize, law: ImpactLaw) -> Result<UnilateralConstraint, CaseError> {
        let dim = self.dim;
        let normal = self.column(c * dim);
        let (start, slope) = (self.q.clone(), normal.clone());
        let gap = GivenScalar {
            value: move |q: &[f64]| {
                let along = (0..q.len()).map(|i| normal[i] * (q[i] - start[i]));
                along.sum::<f64>() - 1e6
            },
            gradient: move |_: &[f64], row: &mut [f64]| row.copy_from_slice(&slope),
        };
        let tangents: Vec<f64> = (1..dim).flat_map(|k| self.column(c * dim + k)).collect();
        let rows = GivenRows(move |_: &[f64], out: &mut [f64]| out.copy_from_slice(&tangents));
        let law = ContactLaw::new(FrictionSection::ball(self.friction[c], dim - 1)?, law)?;
        let constraint = UnilateralConstraint::new(format!("contact {c}"), gap);
        Ok(constraint.with_point(ContactFrame::tangents(dim - 1, rows), law))
    }
}

/// `one_step_explicit`: one step from full matrices, every contact active.
pub(super) fn one_step(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let step = FullStep::read(params)?;
    let (q, v, dim, h) = (&step.q, params.numbers("v")?, step.dim, step.h);
    let theta = params.number("theta")?;
    let mut operator: SymmetricMatrix = step.mass.clone();
    operator.add_scaled(h * theta, &step.damping);
    operator.add_scaled(h * h * theta * theta, &step.stiffness);
    let newton: fn(f64) -> ImpactLaw = |restitution| ImpactLaw::Newton { restitution };
    let fremond: fn(f64) -> ImpactLaw = |restitution| ImpactLaw::Fremond { restitution };
    let view = LocalView::with_operator(&step.system(newton)?, &operator, q, &v)?;
    let before = view.velocity().to_vec();
    let mut answer = group! { "W" => view.delassus_rows() };
    for (name, law) in [("standard", newton), ("fremond", fremond)] {
        let scheme = theta_scheme(scheme_settings(params, theta)?)?;
        let mut run = simulation(step.system(law)?, scheme, (q, &v), h, false)?;
        run_steps(&mut run, h, 1, |_| ())?;
        let (record, entry) = (run.record(), &run.record().energy);
        let v_theta: Vec<f64> = v
            .iter()
            .zip(&record.velocity)
            .map(|(a, b)| (1.0 - theta) * a + theta * b)
            .collect();
        let u_theta = view.of(&v_theta);
        // What the works must be by the law, from impulses and velocities.
        let (mut normal, mut tangential) = (0.0, 0.0);
        for (c, (e, mu)) in step.restitution.iter().zip(&step.friction).enumerate() {
            let (start, p) = (c * dim, record.impulses[c * dim]);
            let slip = &u_theta[start + 1..start + dim];
            normal += (1.0 - theta * (1.0 + e)) * before[start] * p;
            tangential -= mu * p * dot(slip, slip).sqrt();
        }
        let mut ledger = energy_terms(entry);
        ledger.insert("residual", entry.imbalance());
        ledger.insert("closed_W_N", normal);
        ledger.insert("closed_W_T", tangential);
        answer.insert(
            name,
            group! {
                "p" => &record.impulses,
                "v1" => &record.velocity,
                "q1" => &record.q,
                "u1" => view.of(&record.velocity),
                "u_theta" => u_theta,
                "ledger" => ledger,
                "natural_map" => run.certificate().natural_map.value,
            },
        );
    }
    Ok(answer)
}
