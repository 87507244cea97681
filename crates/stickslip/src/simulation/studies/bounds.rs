//! The a-priori bounds of the sweeping process for a run, with what the run realised.

use crate::algebra::{CholeskyFactor, SymmetricMatrix, dot};
use crate::laws::FrictionSection;
use crate::quantity::digits;
use crate::records::StepOutcome;
use crate::simulation::Simulation;
use crate::stepping::{ContactLayout, SweepingBounds, SweepingData, SweepingRealised};
use crate::systems::{Instant, MechanicalSystem};

/// Step of the differences that measure how fast normals turn.
const DIFFERENCE: f64 = 1e-5;
/// Coupling of normal and tangent, as a part of W_NN, above which the bounds are not proved.
const COUPLING_MAX: f64 = 1e-10;

/// Bounds and realised values of one run, in the norm of the kinetic energy: |v|² = vᵀM v.
///
/// ```
/// use stickslip::prelude::*;
/// use stickslip::simulation::studies::BoundsStudy;
///
/// // A brick slides at 1 m/s on a floor with μ = 0.5, under g = 10 m/s².
/// let law = ContactLaw::new(FrictionSection::segment(0.5)?, ImpactLaw::Inelastic)?;
/// let floor = UnilateralConstraint::new("floor", AutoScalar(|_: Jet, q: &[Jet]| q[1]))
///     .with_point(ContactFrame::planar_point(|q| [q[0], q[1]], [0.0, 1.0]), law);
/// let brick = GeneralizedSystem::builder(["x", "y"]).mass_diagonal(&[2.0, 2.0]).dead_load(&[0.0, -20.0]);
/// let brick = brick.constraint(floor).build(&[0.0, 0.0])?;
/// let (scheme, solver) = (Box::new(SweepingProcess::default()), Box::new(GaussSeidel::default()));
/// let settings = SimulationSettings::fixed(1e-3);
/// let mut run = Simulation::new(Box::new(brick), scheme, solver, (&[0.0, 0.0], &[1.0, 0.0]), settings)?;
/// let study = BoundsStudy::of_run(&mut run, 0.5);
/// assert!(study.realised.within(&study.bounds.ok_or("beyond the theorem")?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BoundsStudy {
    /// Constants of the data, measured along the motion.
    #[doc(hidden)]
    pub data: SweepingData,
    /// The bounds, where they are proved.
    pub bounds: Option<SweepingBounds>,
    /// What the run realised.
    pub realised: SweepingRealised,
    /// Why there are no bounds, or what is beyond the theorem.
    pub reservations: Vec<String>,
    /// How the last step ended.
    pub outcome: StepOutcome,
}

impl BoundsStudy {
    /// Runs to `t_end` and evaluates the bounds of [`SweepingBounds`].
    ///
    /// The constants are those of the motion itself: the largest force per unit mass, the largest friction
    /// angle in the kinetic metric, and the derivatives of the gap and of the unit normal at all visited
    /// configurations (in the Frobenius norm, which is never below the one the bounds need). There are no
    /// bounds with a varying mass, inertial coupling of normal and tangent, several contacts, joints or
    /// restitution; `reservations` says which of these it is.
    pub fn of_run(run: &mut Simulation, t_end: f64) -> Self {
        let mut mass = run.system().new_matrix();
        run.system().mass(&run.state().q, &mut mass);
        let mut meter = Meter::new(run.system(), mass);
        let speed = meter.norm(&run.state().v);
        let (start, mut longest) = (run.state().t, 0.0f64);
        let mut realised = SweepingRealised::in_metric(&run.state().v, meter.mass.clone());
        let mut outcome = StepOutcome::Solved;
        meter.look(run);
        while run.state().t < t_end && !outcome.is_fatal() {
            let before = (run.state().t, run.state().q.clone(), run.state().v.clone());
            outcome = run.step_towards(t_end).outcome;
            if outcome.is_fatal() {
                break;
            }
            let record = run.record();
            realised.observe(record);
            longest = longest.max(record.h);
            meter.force(run, &before);
            meter.look(run);
        }
        let data = SweepingData {
            speed,
            duration: run.state().t - start,
            step: longest,
            force: meter.force,
            friction: meter.friction,
            gradient: meter.gradient,
            gradient_slope: meter.gradient_slope,
            normal_slope: meter.normal_slope,
        };
        let mut reservations = obstacles(run.system());
        if meter.coupling > COUPLING_MAX {
            reservations.push(format!(
                "inertia couples normal and tangent (up to {} of W_NN): at γ ≤ 0 the velocity may jump at a vanishing \
                 approach",
                digits(meter.coupling, 2)
            ));
        }
        Self {
            data,
            bounds: reservations.is_empty().then(|| SweepingBounds::new(&data)),
            realised,
            reservations,
            outcome,
        }
    }
}

/// Properties of the system that the theorem does not cover.
fn obstacles(system: &dyn MechanicalSystem) -> Vec<String> {
    let mut list = Vec::new();
    if !system.mass_is_constant() {
        list.push("the mass varies with the configuration".to_string());
    }
    if system.coordinate_count() != system.dof() {
        list.push("rotations are stored as quaternions".to_string());
    }
    if !system.joints().is_empty() {
        list.push("the system has joints".to_string());
    }
    let points: usize = system.constraints().iter().map(|c| c.points().len()).sum();
    if points > 1 {
        list.push(format!(
            "there are {points} contacts, the theorem knows one"
        ));
    }
    for constraint in system.constraints() {
        for point in constraint.points() {
            let e = point.law.impact().restitution();
            if e > 0.0 {
                let name = constraint.name();
                list.push(format!(
                    "`{name}` has the restitution {e}, the theorem none"
                ));
            }
        }
    }
    list
}

/// A bound on the length of the points of a section, a thousandth above the least one in the plane.
fn radius(section: &FrictionSection) -> f64 {
    let count = section.dimension();
    if count == 2 {
        let directions = 64;
        let step = std::f64::consts::TAU / directions as f64;
        let along = |k: usize| {
            let (sin, cos) = (k as f64 * step).sin_cos();
            section.support(&[cos, sin])
        };
        return (0..directions).map(along).fold(0.0, f64::max) / (0.5 * step).cos();
    }
    let mut square = 0.0;
    for i in 0..count {
        let mut extent = 0.0f64;
        for sign in [-1.0, 1.0] {
            let mut axis = vec![0.0; count];
            axis[i] = sign;
            extent = extent.max(section.support(&axis));
        }
        square += extent * extent;
    }
    square.sqrt()
}

/// Measures the constants of the data along a motion.
struct Meter {
    mass: SymmetricMatrix,
    factor: CholeskyFactor,
    layout: ContactLayout,
    force: f64,
    friction: f64,
    gradient: f64,
    gradient_slope: f64,
    normal_slope: f64,
    coupling: f64,
}

impl Meter {
    fn new(system: &dyn MechanicalSystem, mass: SymmetricMatrix) -> Self {
        let mut factor = CholeskyFactor::default();
        // The simulation has refused a mass that cannot be factored.
        let _ = factor.factor(&mass);
        Self {
            mass,
            factor,
            layout: ContactLayout::new(system),
            force: 0.0,
            friction: 0.0,
            gradient: 0.0,
            gradient_slope: 0.0,
            normal_slope: 0.0,
            coupling: 0.0,
        }
    }

    fn norm(&self, v: &[f64]) -> f64 {
        self.mass.bilinear(v, v).sqrt()
    }

    fn solved(&self, covector: &[f64]) -> Vec<f64> {
        let mut x = covector.to_vec();
        self.factor.solve_in_place(&mut x);
        x
    }

    fn rows(&self, system: &dyn MechanicalSystem, slot: usize, t: f64, q: &[f64]) -> Vec<Vec<f64>> {
        let n = system.dof();
        let slot = self.layout.slots()[slot];
        let constraint = &system.constraints()[slot.key.constraint()];
        let frame = &constraint.points()[slot.key.point()].frame;
        let mut gradient = vec![0.0; n];
        constraint.gap().gradient(t, q, &mut gradient);
        let mut rows = vec![0.0; (1 + frame.tangent_count()) * n];
        frame.rows(t, q, &gradient, &mut rows);
        rows.chunks(n.max(1))
            .take(slot.size)
            .map(<[f64]>::to_vec)
            .collect()
    }

    /// The force per unit mass of the last step: what changed the velocity besides the reactions.
    fn force(&mut self, run: &Simulation, before: &(f64, Vec<f64>, Vec<f64>)) {
        let (t, q, v) = before;
        let record = run.record();
        let mut change: Vec<f64> = record.velocity.iter().zip(v).map(|(a, b)| a - b).collect();
        for (s, slot) in self.layout.slots().iter().enumerate() {
            let impulses = &record.impulses[slot.start..slot.start + slot.size];
            if impulses.iter().all(|&p| p == 0.0) {
                continue;
            }
            for (row, p) in self.rows(run.system(), s, *t, q).iter().zip(impulses) {
                for (c, x) in change.iter_mut().zip(self.solved(row)) {
                    *c -= p * x;
                }
            }
        }
        if record.h > 0.0 {
            self.force = self.force.max(self.norm(&change) / record.h);
        }
    }

    /// Friction angle, gradients and their slopes at the present configuration.
    fn look(&mut self, run: &Simulation) {
        let system = run.system();
        let state = run.state();
        let at = Instant {
            t: state.t,
            q: &state.q,
            v: &state.v,
            past: run.past(),
            held: &[],
        };
        for s in 0..self.layout.slots().len() {
            let slot = self.layout.slots()[s];
            let rows = self.rows(system, s, state.t, &state.q);
            let normal = self.solved(&rows[0]);
            let w_nn = dot(&rows[0], &normal);
            // The gap itself, whatever its scale: normal rows are per metre of approach.
            let gap = system.constraints()[slot.key.constraint()].gap();
            let mut gradient = vec![0.0; system.dof()];
            gap.gradient(state.t, &state.q, &mut gradient);
            let steepness = dot(&gradient, &self.solved(&gradient));
            self.gradient = self.gradient.max(steepness.sqrt());
            // Largest eigenvalue of W_TT, by its row sums.
            let mut w_tt = 0.0f64;
            for tangent in &rows[1..] {
                self.coupling = self.coupling.max((dot(tangent, &normal) / w_nn).abs());
                let response = self.solved(tangent);
                let sum: f64 = rows[1..]
                    .iter()
                    .map(|other| dot(other, &response).abs())
                    .sum();
                w_tt = w_tt.max(sum);
            }
            let point = &system.constraints()[slot.key.constraint()].points()[slot.key.point()];
            if let Ok(section) = point.section_at(&at) {
                let angle = radius(&section) * (w_tt / w_nn).sqrt();
                self.friction = self.friction.max(angle);
            }
            self.slopes(system, s, state.t, &state.q);
        }
    }

    /// Derivatives of the gradient and of the unit normal, by central differences.
    fn slopes(&mut self, system: &dyn MechanicalSystem, s: usize, t: f64, q: &[f64]) {
        let n = q.len();
        if n != system.dof() {
            return;
        }
        let c = self.layout.slots()[s].key.constraint();
        let gap = system.constraints()[c].gap();
        let (mut hessian, mut turning) = (Vec::new(), Vec::new());
        let mut shifted = q.to_vec();
        for j in 0..n {
            let mut gradients = [vec![0.0; n], vec![0.0; n]];
            for (gradient, sign) in gradients.iter_mut().zip([1.0, -1.0]) {
                shifted[j] = q[j] + sign * DIFFERENCE;
                gap.gradient(t, &shifted, gradient);
            }
            shifted[j] = q[j];
            let normals = gradients.clone().map(|gradient| {
                let x = self.solved(&gradient);
                let length = dot(&gradient, &x).sqrt();
                x.into_iter().map(|x| x / length).collect::<Vec<f64>>()
            });
            let slope = |pair: &[Vec<f64>; 2]| -> Vec<f64> {
                let both = pair[0].iter().zip(&pair[1]);
                both.map(|(a, b)| (a - b) / (2.0 * DIFFERENCE)).collect()
            };
            hessian.push(self.solved(&slope(&gradients)));
            turning.push(slope(&normals));
        }
        // |A|² = Σ (M⁻¹)_jk ⟨a_j, M a_k⟩ over the columns a_j.
        for (columns, largest) in [
            (&hessian, &mut self.gradient_slope),
            (&turning, &mut self.normal_slope),
        ] {
            let mut square = 0.0;
            for j in 0..n {
                let mut unit = vec![0.0; n];
                unit[j] = 1.0;
                self.factor.solve_in_place(&mut unit);
                for k in 0..n {
                    square += unit[k] * self.mass.bilinear(&columns[j], &columns[k]);
                }
            }
            *largest = largest.max(square.max(0.0).sqrt());
        }
    }
}
