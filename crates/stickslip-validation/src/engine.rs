//! How the families drive the engine: one impact, one run, one local view.

use std::cell::Cell;
use std::ops::ControlFlow;

use stickslip::internals::{CholeskyFactor, dot};

use stickslip::algebra::SymmetricMatrix;
use stickslip::contact::{BlockKind, ContactKey, ContactProblem, ContactSolver};
use stickslip::laws::{FlowRule, FrictionSection};
use stickslip::records::{ContactMode, EnergyEntry, StepRecord};
use stickslip::simulation::{RunEnd, Simulation, SimulationSettings};
use stickslip::solvers::cascade::CoulombMethod;
use stickslip::solvers::{CascadeSolver, GaussSeidel};
use stickslip::stepping::{
    Activation, MoreauContactDynamics, MoreauJean, MoreauJeanSettings, TimeSteppingScheme,
};
use stickslip::systems::MechanicalSystem;

use super::{Answer, CaseError, Inputs};

/// Which solver the contact problems of cases go to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaseSolver {
    /// The general Gauss-Seidel, which steps of few contacts use.
    #[default]
    Small,
    /// The cascade for large Coulomb problems, however few contacts there are; laws that it does not know go to the
    /// general Gauss-Seidel.
    Cascade,
}

thread_local! {
    static CHOSEN: Cell<CaseSolver> = const { Cell::new(CaseSolver::Small) };
}

/// Computes with the given solver.
pub(super) fn with_solver<T>(solver: CaseSolver, compute: impl FnOnce() -> T) -> T {
    let before = CHOSEN.replace(solver);
    let answer = compute();
    CHOSEN.set(before);
    answer
}

/// The solver of this case.
pub(super) fn solver() -> Box<dyn ContactSolver> {
    match CHOSEN.get() {
        CaseSolver::Small => Box::new(GaussSeidel::default()),
        CaseSolver::Cascade => Box::new(CascadeSolver::by_method(CoulombMethod::Cascade, 1e-12)),
    }
}

/// Activation rule and tolerances as the parameters give them, θ as given.
pub(super) fn scheme_settings(
    params: &Inputs,
    theta: f64,
) -> Result<MoreauJeanSettings, CaseError> {
    let mut settings = MoreauJeanSettings {
        theta: Some(theta),
        ..Default::default()
    };
    settings.gap_tolerance = params.number_or("eps_g", settings.gap_tolerance)?;
    settings.velocity_tolerance = params.number_or("eps_u", settings.velocity_tolerance)?;
    if params.has("activation") {
        settings.activation = activation(params.word("activation")?)?;
    }
    Ok(settings)
}

/// The activation rule with a name.
pub(super) fn activation(word: &str) -> Result<Activation, CaseError> {
    match word {
        "paper" => Ok(Activation::Paper),
        "forecast" => Ok(Activation::Forecast),
        "guard" => Ok(Activation::Guard),
        other => Err(CaseError::bad_parameter(
            "activation",
            other,
            "paper, forecast or guard",
        )),
    }
}

/// θ = ½, otherwise the defaults.
pub(super) fn midpoint() -> MoreauJeanSettings {
    MoreauJeanSettings {
        theta: Some(0.5),
        ..Default::default()
    }
}

/// The theta scheme.
pub(super) fn theta_scheme(
    settings: MoreauJeanSettings,
) -> Result<Box<dyn TimeSteppingScheme>, CaseError> {
    Ok(Box::new(MoreauJean::new(settings)?))
}

/// The theta scheme in which every touching constraint takes part with its restitution.
pub(super) fn touching(theta: f64) -> Result<Box<dyn TimeSteppingScheme>, CaseError> {
    theta_scheme(MoreauJeanSettings {
        theta: Some(theta),
        activation: Activation::Forecast,
        ..Default::default()
    })
}

/// Moreau's contact dynamics, the scheme of S(q, v).
pub(super) fn contact_dynamics() -> Box<dyn TimeSteppingScheme> {
    Box::new(MoreauContactDynamics::default())
}

/// Lets the impact laws act at the initial instant; the record holds what happened.
pub(super) fn impact(
    system: impl MechanicalSystem + 'static,
    scheme: Box<dyn TimeSteppingScheme>,
    start: (&[f64], &[f64]),
) -> Result<StepRecord, CaseError> {
    let settings = SimulationSettings::fixed(1.0);
    let run = Simulation::new(Box::new(system), scheme, solver(), start, settings)?;
    let record = run.record().clone();
    if record.outcome.is_fatal() {
        return Err(CaseError::Step {
            t: record.t,
            outcome: record.outcome,
        });
    }
    Ok(record)
}

/// A run with a fixed step; with `initial_impact` off the scheme starts directly.
pub(super) fn simulation(
    system: impl MechanicalSystem + 'static,
    scheme: Box<dyn TimeSteppingScheme>,
    start: (&[f64], &[f64]),
    h: f64,
    initial_impact: bool,
) -> Result<Simulation, CaseError> {
    let settings = SimulationSettings {
        initial_impact,
        ..SimulationSettings::fixed(h)
    };
    Ok(Simulation::new(
        Box::new(system),
        scheme,
        solver(),
        start,
        settings,
    )?)
}

/// Runs to `t_end`, showing every record; stops early when the observer breaks. A step that could
/// not be made is an error; one that was made inaccurately shows in what is compared.
pub(super) fn run_until(
    run: &mut Simulation,
    t_end: f64,
    observe: impl FnMut(&StepRecord) -> ControlFlow<()>,
) -> Result<(), CaseError> {
    match run.run_until(t_end, observe) {
        RunEnd::Stopped { t, outcome } => Err(CaseError::Step { t, outcome }),
        RunEnd::Finished | RunEnd::Interrupted => Ok(()),
    }
}

/// `steps` steps of the scheme, showing every record.
pub(super) fn run_steps(
    run: &mut Simulation,
    h: f64,
    steps: usize,
    mut observe: impl FnMut(&StepRecord),
) -> Result<(), CaseError> {
    run_until(run, steps as f64 * h, |record| {
        observe(record);
        ControlFlow::Continue(())
    })
}

/// Ends a run where the condition holds.
pub(super) fn stop_if(done: bool) -> ControlFlow<()> {
    match done {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}

/// The account of a run, with the largest works of a step.
pub(super) fn run_totals(run: &Simulation, (normal, tangential): (f64, f64)) -> Answer {
    let ledger = run.ledger();
    let mut totals = energy_terms(&ledger.totals);
    totals.insert("max_abs_step_residual", ledger.worst_imbalance);
    totals.insert(
        "max_natural_map_residual",
        run.certificate().natural_map.value,
    );
    totals.insert("max_step_W_N", normal);
    totals.insert("max_step_W_T", tangential);
    totals
}

/// The terms of an account of energy.
pub(super) fn energy_terms(entry: &EnergyEntry) -> Answer {
    group! {
        "dT" => entry.kinetic_change,
        "dV" => entry.potential_change,
        "W_ext" => entry.external,
        "W_damp" => entry.damping,
        "D_num_M" => entry.numerical_mass,
        "D_num_K" => entry.numerical_stiffness,
        "W_N" => entry.contact_normal,
        "W_T" => entry.contact_tangential,
    }
}

/// Number of whole steps h in the time T.
pub(super) fn step_count(t: f64, h: f64) -> usize {
    (t / h).round() as usize
}

/// Word of the case files for the mode of a contact.
pub(super) fn status(mode: ContactMode) -> &'static str {
    match mode {
        ContactMode::Open => "takeoff",
        ContactMode::Stick => "stick",
        ContactMode::Slip | ContactMode::Closed => "slide",
    }
}

/// Contact rows of a system at (q, v): W, local velocities.
pub(super) struct LocalView {
    problem: ContactProblem,
    dense: Vec<f64>,
}

impl LocalView {
    /// All contact points at time zero, with the mass matrix.
    pub fn new(system: &dyn MechanicalSystem, q: &[f64], v: &[f64]) -> Result<Self, CaseError> {
        let mut mass = SymmetricMatrix::zeros(system.dof());
        system.mass(q, &mut mass);
        Self::with_operator(system, &mass, q, v)
    }

    /// The same with the operator of a step in place of the mass matrix.
    pub fn with_operator(
        system: &dyn MechanicalSystem,
        operator: &SymmetricMatrix,
        q: &[f64],
        v: &[f64],
    ) -> Result<Self, CaseError> {
        let n = system.dof();
        let mut factor = CholeskyFactor::default();
        if factor.factor(operator).is_err() {
            return Err(CaseError::not_computed(
                "the operator is not positive definite",
            ));
        }
        let mut problem = ContactProblem::default();
        problem.begin(n);
        let mut gradient = vec![0.0; n];
        for (c, constraint) in system.constraints().iter().enumerate() {
            constraint.gap().gradient(0.0, q, &mut gradient);
            for (k, point) in constraint.points().iter().enumerate() {
                let size = 1 + point.frame.tangent_count();
                let mut all = vec![0.0; size * n];
                point.frame.rows(0.0, q, &gradient, &mut all);
                // Points of one constraint share its normal row.
                let (skipped, size) = if k == 0 { (0, size) } else { (n, size - 1) };
                let key = ContactKey::declared(c, k);
                let kind = BlockKind::Unilateral { minimum: 0.0 };
                let (rows, _) =
                    problem.push(key, size, FrictionSection::None, FlowRule::Coulomb, kind);
                rows.copy_from_slice(&all[skipped..]);
            }
        }
        problem.velocity_free_mut().copy_from_slice(v);
        problem.condense(|x| factor.solve_in_place(x));
        problem.refresh();
        let dense = problem.dense().into_owned();
        Ok(Self { problem, dense })
    }

    /// W, row-major.
    pub fn delassus(&self) -> &[f64] {
        &self.dense
    }

    /// W as rows.
    pub fn delassus_rows(&self) -> Vec<Vec<f64>> {
        let m = self.problem.size();
        self.delassus()
            .chunks(m.max(1))
            .map(<[f64]>::to_vec)
            .collect()
    }

    /// Local velocity u of the velocity the view was made with.
    pub fn velocity(&self) -> &[f64] {
        self.problem.free()
    }

    /// Local velocity of another velocity.
    pub fn of(&self, v: &[f64]) -> Vec<f64> {
        (0..self.problem.size())
            .map(|i| dot(self.problem.row(i), v))
            .collect()
    }

    /// Row i.
    pub fn row(&self, i: usize) -> &[f64] {
        self.problem.row(i)
    }

    /// Velocity after a local impulse.
    pub fn after(&self, impulse: &[f64]) -> Vec<f64> {
        let mut v = vec![0.0; self.problem.dof()];
        self.problem.velocity(impulse, &mut v);
        v
    }
}
