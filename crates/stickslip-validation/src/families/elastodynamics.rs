//! Meshes: the elastic bar at a wall, the block of quadrilaterals on a floor.

use crate::engine::{
    activation, run_steps, run_totals, run_until, scheme_settings, simulation, step_count, stop_if,
    theta_scheme,
};
use crate::{Answer, CaseError, CaseInput, Inputs};
use stickslip::algebra::SymmetricMatrix;
use stickslip::internals::CholeskyFactor;
use stickslip::internals::natural_modes;
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::records::StepRecord;
use stickslip::simulation::Simulation;
use stickslip::stepping::MoreauJeanSettings;
use stickslip::systems::elastodynamic::{
    ElastodynamicError, ElementKind, Formulation, MassKind, Material, Mesh, Obstacle,
};
use stickslip::systems::{ElastodynamicSystem, MechanicalSystem};

fn refused(error: ElastodynamicError) -> CaseError {
    CaseError::not_computed(error)
}

fn mass_kind(params: &Inputs) -> MassKind {
    let lumped = params
        .find("lumped")
        .and_then(|value| value.as_bool())
        .unwrap_or(false);
    if lumped {
        MassKind::Lumped
    } else {
        MassKind::Consistent
    }
}

/// The bar of the case files with one of its ends at a wall.
struct Bar {
    elements: usize,
    length: f64,
    material: Material,
    area: f64,
    mass: MassKind,
    gap: f64,
    restitution: f64,
    speed: f64,
}

impl Bar {
    fn new(params: &Inputs) -> Result<Self, CaseError> {
        Ok(Self {
            elements: params.count("n")?,
            length: params.number("L")?,
            material: Material::new(params.number("E")?, 0.0, params.number("rho")?),
            area: params.number("A")?,
            mass: mass_kind(params),
            gap: params.number_or("gap0", 0.0)?,
            restitution: params.number("e")?,
            speed: params.number("v0")?,
        })
    }

    fn system(&self) -> Result<ElastodynamicSystem, CaseError> {
        let law = ContactLaw::frictionless(ImpactLaw::Newton {
            restitution: self.restitution,
        })?;
        let mesh = Mesh::bar(1, self.length, self.elements, ElementKind::Line2);
        ElastodynamicSystem::builder(mesh)
            .region(
                Mesh::ALL,
                self.material,
                Formulation::Bar { area: self.area },
            )
            .mass(self.mass)
            .contact(
                "left",
                Obstacle::plane([-self.gap, 0.0, 0.0], [1.0, 0.0, 0.0]),
                law,
            )
            .build()
            .map_err(refused)
    }

    fn simulation(
        &self,
        settings: MoreauJeanSettings,
        h: f64,
    ) -> Result<(Simulation, BarWatch), CaseError> {
        let system = self.system()?;
        let n = system.dof();
        let unit = vec![1.0; n];
        let mut weights = vec![0.0; n];
        system.mass_matrix().multiply(&unit, &mut weights);
        let (q, v) = (vec![0.0; n], vec![-self.speed; n]);
        let run = simulation(system, theta_scheme(settings)?, (&q, &v), h, false)?;
        Ok((
            run,
            BarWatch {
                weights,
                gap_min: self.gap,
                largest_work: f64::NEG_INFINITY,
                ..BarWatch::default()
            },
        ))
    }

    /// 1/(M⁻¹)₀₀.
    fn effective_mass(&self) -> Result<f64, CaseError> {
        let system = self.system()?;
        let mut factor = CholeskyFactor::default();
        let mut unit = vec![0.0; system.dof()];
        unit[0] = 1.0;
        factor
            .factor(system.mass_matrix())
            .map_err(|_| CaseError::not_computed("the mass matrix is not positive definite"))?;
        factor.solve_in_place(&mut unit);
        Ok(1.0 / unit[0])
    }
}

/// What is read from the records of a bar.
#[derive(Default)]
struct BarWatch {
    weights: Vec<f64>,
    first: Option<f64>,
    last: Option<f64>,
    steps: usize,
    impulse: f64,
    gap_min: f64,
    largest_work: f64,
}

impl BarWatch {
    fn observe(&mut self, record: &StepRecord) {
        if record.impulses[0] > 0.0 {
            self.first.get_or_insert(record.t);
            self.last = Some(record.t);
            self.steps += 1;
            self.impulse += record.impulses[0];
        }
        self.gap_min = self.gap_min.min(record.contacts[0].gap);
        self.largest_work = self.largest_work.max(record.energy.contact_normal);
    }

    /// Time of the last step with an impulse, or the word for none.
    fn last_contact(&self) -> Answer {
        Answer::or_none(self.last)
    }

    fn centre_velocity(&self, v: &[f64]) -> f64 {
        let momentum: f64 = self.weights.iter().zip(v).map(|(w, v)| w * v).sum();
        momentum / self.weights.iter().sum::<f64>()
    }
}

/// `bar_impact`: the bar hits the wall and leaves it.
pub(super) fn bar_impact(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let bar = Bar::new(params)?;
    let [h, t_end] = params.each(["h", "T"])?;
    let settings = scheme_settings(params, params.number("theta")?)?;
    let (mut run, mut watch) = bar.simulation(settings, h)?;
    run_steps(&mut run, h, step_count(t_end, h), |record| {
        watch.observe(record);
    })?;
    let record = run.record();
    let tip = bar.elements;
    let c = bar.material.bar_wave_speed();
    let mass = bar.material.density * bar.area * bar.length;
    let effective = bar.effective_mass()?;
    Ok(group! {
        "continuum" => group! {
            "wave_speed" => c,
            "contact_time" => 2.0 * bar.length / c,
            "contact_force" => bar.material.density * c * bar.area * bar.speed,
            "impulse" => 2.0 * mass * bar.speed,
            "rebound_velocity" => bar.speed,
            "energy_after" => 0.5 * mass * bar.speed * bar.speed,
        },
        "scheme" => group! {
            "first_contact_t" => watch.first.unwrap_or(f64::INFINITY),
            "last_contact_t" => watch.last_contact(),
            "n_contact_steps" => watch.steps,
            "impulse" => watch.impulse,
            "v_com" => watch.centre_velocity(&record.velocity),
            "energy_end" => record.kinetic + record.potential,
            "min_gap" => watch.gap_min,
            "q_tip_end" => record.q[tip],
            "v_tip_end" => record.velocity[tip],
            "v_node0_end" => record.velocity[0],
            "totals" => run_totals(&run, (watch.largest_work.max(0.0), 0.0)),
        },
        "node_effective_mass" => effective,
        "first_impact_loss_semidiscrete" => {
            let e = bar.restitution;
            0.5 * effective * bar.speed * bar.speed * (1.0 - e * e)
        },
    })
}

/// `bar_first_impact_loss`: the loss tends to that of the node alone.
pub(super) fn first_impact_loss(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let bar = Bar::new(params)?;
    let exact = 0.5 * bar.effective_mass()? * bar.speed * bar.speed;
    let mut table = Vec::new();
    for row in input.given.rows("table")? {
        let h = row.number("h")?;
        let settings = scheme_settings(params, params.number("theta")?)?;
        let (mut run, _) = bar.simulation(settings, h)?;
        run_steps(&mut run, h, step_count(params.number("T")?, h), |_| {})?;
        let loss = -run.ledger().totals.contact_normal;
        table.push(group! { "h" => h, "loss" => loss, "diff" => loss - exact });
    }
    Ok(group! { "semi_discrete_loss" => exact, "table" => table })
}

/// `activation_study_bar`: the same impact under each activation rule.
pub(super) fn activation_study(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let bar = Bar::new(params)?;
    let [h, t_end] = params.each(["h", "T"])?;
    let mut answer = group! {};
    for rule in ["paper", "forecast", "guard"] {
        let mut settings = scheme_settings(params, params.number("theta")?)?;
        settings.activation = activation(rule)?;
        let (mut run, mut watch) = bar.simulation(settings, h)?;
        let start = run.record().kinetic;
        run_steps(&mut run, h, step_count(t_end, h), |record| {
            watch.observe(record);
        })?;
        let record = run.record();
        answer.insert(
            rule,
            group! {
                "v_com_over_v0" => watch.centre_velocity(&record.velocity) / bar.speed,
                "E_over_E0" => (record.kinetic + record.potential) / start,
                "min_gap_over_h_v0" => watch.gap_min / (h * bar.speed),
                "max_step_W_N" => watch.largest_work,
                "last_contact_t" => watch.last_contact(),
                "n_contact_steps" => watch.steps,
                "residual" => run.ledger().worst_imbalance,
                "W_N" => run.ledger().totals.contact_normal,
            },
        );
    }
    Ok(answer)
}

/// The block of quadrilaterals; `contact` is the law at the floor and its gap.
fn block(
    params: &Inputs,
    contact: Option<(ContactLaw, f64)>,
) -> Result<ElastodynamicSystem, CaseError> {
    let size = (params.number("Lx")?, params.number("Ly")?);
    let cells = (params.count("nx")?, params.count("ny")?);
    let material = Material::new(
        params.number("E")?,
        params.number("nu")?,
        params.number("rho")?,
    );
    let thickness = params.number_or("thickness", 1.0)?;
    let mesh = Mesh::rectangle(size, cells, ElementKind::Quad4);
    let mut builder = ElastodynamicSystem::builder(mesh)
        .region(Mesh::ALL, material, Formulation::PlaneStrain { thickness })
        .mass(mass_kind(params))
        .gravity([0.0, -params.number_or("g", 0.0)?, 0.0]);
    if let Some((law, gap)) = contact {
        let floor = Obstacle::plane([0.0, -gap, 0.0], [0.0, 1.0, 0.0]);
        builder = builder.contact("bottom", floor, law);
    }
    builder.build().map_err(refused)
}

/// Angular frequencies and the number of rigid modes.
fn spectrum(system: &ElastodynamicSystem) -> Result<(Vec<f64>, usize), CaseError> {
    let missing = || CaseError::not_computed("no natural modes");
    let stiffness = system.stiffness_matrix().ok_or_else(missing)?;
    let (omega, _) = natural_modes(system.mass_matrix(), stiffness).map_err(|_| missing())?;
    let largest = omega.last().copied().unwrap_or(0.0);
    let rigid = omega
        .iter()
        .filter(|&w| w * w < 1e-6 * largest * largest)
        .count();
    Ok((omega, rigid))
}

fn trace(matrix: &SymmetricMatrix) -> f64 {
    (0..matrix.order()).map(|i| matrix.get(i, i)).sum()
}

/// `q4_patch_facts`: energy of a constant strain, traces, spectrum, entries.
pub(super) fn patch_facts(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let system = block(params, None)?;
    let [exx, eyy, gamma] = params.vector::<3>("strain")?;
    let q = system.field(|x| {
        [
            exx * x[0] + 0.5 * gamma * x[1],
            eyy * x[1] + 0.5 * gamma * x[0],
            0.0,
        ]
    });
    let (omega, rigid) = spectrum(&system)?;
    let (mass, stiffness) = (system.mass_matrix(), system.stiffness_matrix());
    let stiffness = stiffness.ok_or_else(|| CaseError::not_computed("no stiffness"))?;
    Ok(group! {
        "patch_energy" => 0.5 * stiffness.bilinear(&q, &q),
        "trace_K" => trace(stiffness),
        "trace_M" => trace(mass),
        "first_elastic_omega" => omega[rigid],
        "max_omega" => omega[omega.len() - 1],
        "n_rigid" => rigid,
        "K_00" => stiffness.get(0, 0),
        "K_01" => stiffness.get(0, 1),
        "M_00" => mass.get(0, 0),
        "M_02" => mass.get(0, 2),
    })
}

/// Sum of `M x` over one component.
struct Momentum {
    weights: [Vec<f64>; 2],
    total: f64,
}

impl Momentum {
    fn new(system: &ElastodynamicSystem) -> Self {
        let weights = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(|axis| {
            let mut out = vec![0.0; system.dof()];
            system
                .mass_matrix()
                .multiply(&system.uniform(axis), &mut out);
            out
        });
        let unit = system.uniform([1.0, 0.0, 0.0]);
        let total = system.mass_matrix().bilinear(&unit, &unit);
        Self { weights, total }
    }

    fn of(&self, x: &[f64]) -> [f64; 2] {
        [0, 1].map(|k| self.weights[k].iter().zip(x).map(|(w, x)| w * x).sum())
    }
}

/// What is read from the records of a block.
struct BlockWatch<'a> {
    /// Bottom nodes as contacts, and their degrees of freedom.
    bottom: &'a [(usize, u32)],
    dofs: &'a [[usize; 2]],
    momentum: &'a Momentum,
    times: &'a [f64],
    half_step: f64,
    samples: Vec<Answer>,
    first: Option<Answer>,
    /// Of all impulses so far, normal and tangential, and their largest works in a step.
    sums: [f64; 2],
    largest: [f64; 2],
}

impl BlockWatch<'_> {
    fn observe(&mut self, record: &StepRecord) {
        let impulses = |row: usize| -> Vec<f64> {
            let contacts = self.bottom.iter();
            contacts.map(|&(c, _)| record.impulse(c)[row]).collect()
        };
        let both = [impulses(0), impulses(1)];
        let works = [
            record.energy.contact_normal,
            record.energy.contact_tangential,
        ];
        for k in 0..2 {
            self.sums[k] += both[k].iter().sum::<f64>();
            self.largest[k] = self.largest[k].max(works[k]);
        }
        if self.first.is_none() && both[0].iter().any(|&p| p > 0.0) {
            let velocity = |k: usize| -> Vec<f64> {
                let dofs = self.dofs.iter();
                dofs.map(|dof| record.velocity[dof[k]]).collect()
            };
            let [normal, tangential] = both;
            self.first = Some(group! {
                "t" => record.t, "pN" => normal, "pT" => tangential,
                "v_bottom_x" => velocity(0), "v_bottom_y" => velocity(1),
            });
        }
        let sampled = |t: &f64| (record.t - t).abs() < self.half_step;
        if self.times.iter().any(sampled) {
            let gap = record.contacts.iter().map(|c| c.gap);
            let total = self.momentum.total;
            self.samples.push(group! {
                "t" => record.t,
                "com" => self.momentum.of(&record.q).map(|x| x / total).to_vec(),
                "v_com" => self.momentum.of(&record.velocity).map(|x| x / total).to_vec(),
                "T" => record.kinetic,
                "V" => record.potential,
                "sum_pN" => self.sums[0],
                "sum_pT" => self.sums[1],
                "gap_min" => gap.fold(f64::INFINITY, f64::min),
            });
        }
    }
}

/// `q4_block`: the block falls on the floor, slides and rebounds.
pub(super) fn q4_block(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let restitution = params.number("e")?;
    let impact = match params.word("law")? {
        "fremond" => ImpactLaw::Fremond { restitution },
        _ => ImpactLaw::Newton { restitution },
    };
    let law = ContactLaw::new(FrictionSection::segment(params.number("mu")?)?, impact)?;
    let system = block(params, Some((law, params.number("gap0")?)))?;
    let [h, t_end] = params.each(["h", "T"])?;
    let (omega, rigid) = spectrum(&system)?;
    let stiffness_trace = system.stiffness_matrix().map_or(f64::NAN, trace);
    let mass_trace = trace(system.mass_matrix());
    let momentum = Momentum::new(&system);
    // Bottom nodes from left to right, with their degrees of freedom.
    let mut bottom: Vec<(usize, u32)> = system.surfaces()[0]
        .nodes
        .iter()
        .copied()
        .enumerate()
        .collect();
    bottom.sort_by(|a, b| {
        let x = |n: u32| system.nodes().reference(n)[0];
        x(a.1).total_cmp(&x(b.1))
    });
    let dofs: Vec<[usize; 2]> = bottom
        .iter()
        .map(|&(_, n)| [0, 1].map(|k| system.nodes().free_dof(n, k).unwrap_or(0)))
        .collect();
    let [vx, vy] = params.vector::<2>("v0")?;
    let v0 = system.uniform([vx, vy, 0.0]);
    let q0 = vec![0.0; system.dof()];
    let scheme = theta_scheme(scheme_settings(params, params.number("theta")?)?)?;
    let mut run = simulation(system, scheme, (&q0, &v0), h, false)?;

    let times: Result<Vec<f64>, CaseError> = input
        .given
        .rows("samples")?
        .iter()
        .map(|row| row.number("t"))
        .collect();
    let times = times?;
    let mut seen = BlockWatch {
        bottom: &bottom,
        dofs: &dofs,
        momentum: &momentum,
        times: &times,
        half_step: 0.5 * h,
        samples: Vec::new(),
        first: None,
        sums: [0.0; 2],
        largest: [0.0; 2],
    };
    run_steps(&mut run, h, step_count(t_end, h), |record| {
        seen.observe(record)
    })?;
    let record = run.record();
    let (before, after) = (momentum.of(&v0), momentum.of(&record.velocity));
    let weight = momentum.total * params.number("g")? * record.t;
    let totals = run_totals(&run, seen.largest.into());
    let momentum_check = group! {
        "x" => after[0] - before[0] - seen.sums[1],
        "y" => after[1] - before[1] - seen.sums[0] + weight,
    };
    // It comes down behind T, too: after the flight of its centre, and the oscillation of its shape. Samples may lie there as well.
    let [g, gap] = params.each(["g", "gap0"])?;
    let flight = if g > 0.0 {
        (vy + (vy * vy + 2.0 * g * gap).sqrt()) / g
    } else {
        gap / (-vy).max(0.0)
    };
    let slowest = omega.get(rigid).map_or(0.0, |w| std::f64::consts::TAU / w);
    let last = times.iter().copied().fold(0.0, f64::max);
    let longest = if seen.first.is_none() && flight.is_finite() {
        last.max(2.0 * flight + slowest)
    } else {
        last
    };
    run_until(&mut run, step_count(longest, h) as f64 * h, |record| {
        seen.observe(record);
        stop_if(record.t > last && seen.first.is_some())
    })?;
    let never = || {
        group! {
            "t" => f64::INFINITY, "pN" => Answer::none(), "pT" => Answer::none(),
            "v_bottom_x" => Answer::none(), "v_bottom_y" => Answer::none(),
        }
    };
    let first = seen.first.unwrap_or_else(never);
    let samples = seen.samples;
    Ok(group! {
        "total_mass" => momentum.total,
        "K_trace" => stiffness_trace,
        "M_trace" => mass_trace,
        "omega_max" => omega[omega.len() - 1],
        "rigid_modes" => rigid,
        "first_contact" => first,
        "samples" => samples,
        "totals" => totals,
        "momentum_check" => momentum_check,
    })
}
