//! Positions brought back to the admissible set and onto the joints.

mod one_projection;

use crate::algebra::{
    CholeskyFactor, Covectors, PivotedCholesky, SymmetricMatrix, add_scaled, assign, assign_scaled,
    assign_zeros, copy,
};
use crate::systems::MechanicalSystem;
use crate::systems::functions::ScalarFunction;

use one_projection::only_member;

/// Whether a scheme corrects positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Projection {
    /// The bare schemes of the papers: laws on velocities alone, and what positions drift they drift.
    #[default]
    None,
    /// Laws read the geometry of the middle of the step where it turns, and the end position is projected on the
    /// admissible set and the joints in the kinetic metric.
    Combined,
}

/// What a scheme does about the positions of a system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PositionCorrection {
    /// Nothing.
    #[default]
    None,
    /// The end position is projected where a step overshot a flat obstacle; nothing else differs from the bare scheme.
    Overshoot,
    /// Laws read the geometry along the path of the step, and its end is projected.
    Path,
}

impl PositionCorrection {
    /// What a system needs: one that turns or can drift its path, flat obstacles the end of the step alone. Nodes of a
    /// mesh keep their overshoot of flat obstacles: moving single nodes would load the mesh.
    pub(crate) fn of(projection: Projection, system: &dyn MechanicalSystem, turns: bool) -> Self {
        if projection == Projection::None {
            Self::None
        } else if turns || can_drift(system) {
            Self::Path
        } else if system.sparsity().is_some() || system.constraints().is_empty() {
            Self::None
        } else {
            Self::Overshoot
        }
    }
}

/// Newton passes; the distance is squared by each, so that more are a sign that there is nothing to reach.
const PASSES_MAX: usize = 25;

/// Passes that bring a body which turns no nearer before that is told: turns do not add, so that each leaves a part of the
/// distance, and one of several contacts may gain what another loses.
const PATIENCE: u32 = 6;

/// Rounding of a gap in units of the numbers that cancel in it.
pub(crate) const GAP_ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Projection of a configuration on `φ ≥ 0` and `g = 0`.
///
/// # What it computes
/// The displacement δ of least kinetic norm with `g(q + δ) = 0` for joints and held contacts and `φ(q + δ) ≥ 0` for the
/// others (`φ(q + δ) ≥ φ(q)` for those below that are spared): linearised at the place reached so far, `G (δ − δ_i) = −g` and `∇φ (δ − δ_i) ≥ −φ`, and repeated there until
/// nothing but rounding is left. What an early pass pushed and a later one need not is so given back.
///
/// # Source
/// The combined scheme of Acary (projection of positions with the activation that goes with it), as described in
/// [AcaryCollinsCraft2023] for the velocity part; the active set by the signs of the multipliers is ours.
///
/// # Guarantees
/// On success every joint and every gap is within its rounding, spared contacts are no deeper than before, and M δ, with M at the start, lies in the cone of the normals at
/// the end.
/// What violates nothing is not moved.
///
/// # Behaviour to know
/// Where gradients vanish or constraints contradict each other there is nothing to reach: the position is then left
/// as it was found and the watch over positions of the run tells of it.
///
/// # Cost
/// Nothing where nothing is violated; else one solve with M per constraint and one small factorization per pass.
///
/// # Tested by
/// `tests/truth_positions.rs`.
#[derive(Debug, Default)]
pub(crate) struct PositionProjection {
    mass: SymmetricMatrix,
    factor: CholeskyFactor,
    factored: bool,
    rows: Covectors,
    dense: Vec<f64>,
    responses: Vec<f64>,
    schur: Vec<f64>,
    pivoted: PivotedCholesky,
    /// Joints first, then contacts.
    members: Vec<Member>,
    /// Members on which the last pass pushed: they are closed at the end, not only admissible.
    pushed: Vec<bool>,
    /// All gaps at the present place.
    gaps: Vec<f64>,
    /// Largest numbers that cancelled in the members on the way.
    sizes: Vec<f64>,
    /// Sizes of the pushes of the last pass, which may cancel in a coordinate that stays.
    spread: Vec<f64>,
    defects: Vec<f64>,
    /// Members of the pass, without those let go.
    chosen: Vec<usize>,
    multipliers: Vec<f64>,
    start: Vec<f64>,
    moved: Vec<f64>,
    step: Vec<f64>,
    /// Contacts below their obstacle that are not brought back, in rising order: they get no deeper.
    pub spared: Vec<usize>,
    /// Their gaps at the start.
    levels: Vec<f64>,
    /// Displacement of the last projection, summed over its passes.
    pub displacement: Vec<f64>,
    /// Whether the displacement may be other than zero.
    displaced: bool,
}

/// A constraint that takes part in a projection.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Member {
    Joint(usize),
    /// A contact that stays closed: an equation.
    Held(usize),
    /// A contact that may open.
    Unilateral(usize),
}

impl Member {
    fn function(self, system: &dyn MechanicalSystem) -> &dyn ScalarFunction {
        match self {
            Self::Joint(i) => system.joints()[i].function(),
            Self::Held(c) | Self::Unilateral(c) => system.constraints()[c].gap(),
        }
    }

    /// By how much it is violated; one that was pushed must be closed.
    fn defect(self, value: f64, pushed: bool) -> f64 {
        match self {
            Self::Unilateral(_) if !pushed => (-value).max(0.0),
            _ => value.abs(),
        }
    }
}

/// The violations of the passes of a projection, in units of their rounding.
struct Approach {
    first: Option<f64>,
    least: f64,
    /// How many more passes may come no nearer.
    patience: u32,
}

/// What a pass made of them.
enum Progress {
    /// Nothing but rounding is left.
    Arrived,
    /// Another pass is worth its while.
    Nearer,
    /// The passes lead nowhere.
    Lost,
}

impl Approach {
    fn of(system: &dyn MechanicalSystem) -> Self {
        Self {
            first: None,
            least: f64::INFINITY,
            patience: if system.turns() { PATIENCE } else { 0 },
        }
    }

    #[inline]
    fn judge(&mut self, worst: f64) -> Progress {
        if worst <= 1.0 {
            return Progress::Arrived;
        }
        let first = *self.first.get_or_insert(worst);
        if worst >= 0.5 * self.least {
            if self.patience > 0 && worst.is_finite() {
                self.patience -= 1;
                return Progress::Nearer;
            }
            // Newton's method has come to the rounding of the functions themselves, or does not lead anywhere.
            return if worst <= first {
                Progress::Arrived
            } else {
                Progress::Lost
            };
        }
        self.least = worst;
        Progress::Nearer
    }
}

/// Whether positions of a system can leave its constraints at all although its velocities obey them.
pub(crate) fn can_drift(system: &dyn MechanicalSystem) -> bool {
    !system.joints().is_empty() || system.constraints().iter().any(|c| c.gap().can_drift())
}

/// The gap below which a contact is pushed: zero, or where one that is spared was at the start.
#[inline]
fn level(spared: &[usize], levels: &[f64], c: usize) -> f64 {
    match spared.binary_search(&c) {
        Ok(i) => levels[i],
        Err(_) => 0.0,
    }
}

impl PositionProjection {
    /// Projects `q` at time t, where the gaps are `gaps`. `held` are the contacts that stay closed, in rising
    /// order; returns whether q moved.
    pub fn project(
        &mut self,
        system: &dyn MechanicalSystem,
        (t, gaps): (f64, &[f64]),
        q: &mut [f64],
        held: &[usize],
    ) -> bool {
        self.reset(system.dof());
        self.displaced = true;
        assign(&mut self.start, q);
        self.levels.clear();
        self.levels.extend(self.spared.iter().map(|&c| gaps[c]));
        if let Some(member) = only_member(gaps, held, &self.spared)
            && let Some(moved) = self.project_one(system, (t, gaps), q, member)
        {
            return moved;
        }
        self.project_all(system, (t, gaps), q, held)
    }

    /// The same whatever takes part.
    #[inline(never)] // One contact has no need of its frame.
    fn project_all(
        &mut self,
        system: &dyn MechanicalSystem,
        (t, gaps): (f64, &[f64]),
        q: &mut [f64],
        held: &[usize],
    ) -> bool {
        let (n, mut gaps) = (system.dof(), Some(gaps));
        self.members.clear();
        self.pushed.clear();
        self.sizes.clear();
        assign_zeros(&mut self.spread, n);
        for joint in 0..system.joints().len() {
            self.members.push(Member::Joint(joint));
        }
        for &c in held {
            self.members.push(Member::Held(c));
        }
        let (mut moved, mut weighed) = (false, false);
        let mut approach = Approach::of(system);
        let constraints = system.constraints();
        self.gaps.resize(constraints.len(), 0.0);
        for _ in 0..PASSES_MAX + constraints.len() {
            match gaps.take() {
                Some(known) => assign(&mut self.gaps, known),
                None => {
                    for (gap, constraint) in self.gaps.iter_mut().zip(constraints) {
                        *gap = constraint.gap().value(t, q);
                    }
                }
            }
            if self.admit_violated(held) {
                // What has moved one contact may have pushed another: a new start.
                approach = Approach::of(system);
            }
            if moved && self.is_met(system, t, q) {
                return true;
            }
            let worst = self.linearise(system, t, q);
            match approach.judge(worst) {
                Progress::Arrived => return moved,
                Progress::Lost => break,
                Progress::Nearer => {}
            }
            // The metric is that of the place where the projection starts.
            weighed = weighed || self.factor_mass(system, q);
            if !worst.is_finite() || !weighed || !self.solve(n) {
                break;
            }
            self.moved.resize(q.len(), 0.0);
            self.follow(system, system.turns(), q);
            moved = true;
        }
        self.give_up(q);
        false
    }

    /// Spares the contacts that are below their obstacle beyond its rounding, but for those that are held.
    pub fn spare_others(
        &mut self,
        gaps: &[f64],
        held: &[usize],
        mut rounding: impl FnMut(usize) -> f64,
    ) {
        self.spared.clear();
        for (c, &gap) in gaps.iter().enumerate() {
            if gap < 0.0 && held.binary_search(&c).is_err() && gap < -rounding(c) {
                self.spared.push(c);
            }
        }
    }

    /// Moves q by the step of a pass.
    #[inline]
    fn follow(&mut self, system: &dyn MechanicalSystem, turns: bool, q: &mut [f64]) {
        if turns {
            // Turns do not add up: the sum of the passes is one turn from the start.
            system.displace(&self.start, &self.displacement, 1.0, &mut self.moved);
        } else {
            system.displace(q, &self.step, 1.0, &mut self.moved);
        }
        copy(q, &self.moved);
    }

    /// Back to the start.
    #[cold]
    fn give_up(&mut self, q: &mut [f64]) {
        q.copy_from_slice(&self.start);
        self.displacement.fill(0.0);
    }

    /// The position from which the last projection started.
    pub fn start(&self) -> &[f64] {
        &self.start
    }

    /// No displacement as yet, of `n` velocities.
    #[inline]
    pub fn reset(&mut self, n: usize) {
        if self.displaced || self.displacement.len() != n {
            assign_zeros(&mut self.displacement, n);
            self.displaced = false;
        }
    }

    /// Gaps at the end of the last projection that moved.
    pub fn gaps(&self) -> &[f64] {
        &self.gaps
    }

    /// Adds the contacts whose gaps are violated; whether there are new ones.
    #[inline]
    fn admit_violated(&mut self, held: &[usize]) -> bool {
        let before = self.members.len();
        for (c, &gap) in self.gaps.iter().enumerate() {
            let member = Member::Unilateral(c);
            let violated =
                || gap < level(&self.spared, &self.levels, c) && held.binary_search(&c).is_err();
            if gap < 0.0 && violated() && !self.members.contains(&member) {
                self.members.push(member);
            }
        }
        self.members.len() > before
    }

    /// The value of a member at q, whose gaps are known.
    fn value(&self, member: Member, system: &dyn MechanicalSystem, t: f64, q: &[f64]) -> f64 {
        match member {
            Member::Joint(_) => member.function(system).value(t, q),
            Member::Held(c) => self.gaps[c],
            Member::Unilateral(c) => self.gaps[c] - level(&self.spared, &self.levels, c),
        }
    }

    /// Violation of a member in units of its rounding, for the size that is known of it.
    fn violation(&self, i: usize, value: f64) -> f64 {
        let rounding = GAP_ROUNDING * self.sizes[i] + f64::MIN_POSITIVE;
        let pushed = self.pushed.get(i).is_some_and(|&pushed| pushed);
        self.members[i].defect(value, pushed) / rounding
    }

    /// Whether all members are met at q within the rounding of the sizes that they had so far: no gradient is asked for.
    fn is_met(&self, system: &dyn MechanicalSystem, t: f64, q: &[f64]) -> bool {
        self.sizes.len() == self.members.len()
            && self
                .members
                .iter()
                .enumerate()
                .all(|(i, &member)| self.violation(i, self.value(member, system, t, q)) <= 1.0)
    }

    /// Rows and defects at q; returns the largest violation in units of its rounding.
    fn linearise(&mut self, system: &dyn MechanicalSystem, t: f64, q: &[f64]) -> f64 {
        let n = system.dof();
        let sparse = system.sparsity().is_some();
        if sparse {
            self.rows.clear_sparse(n);
        } else {
            self.rows.reset_dense(n, self.members.len());
        }
        self.defects.clear();
        let mut worst = 0.0f64;
        for i in 0..self.members.len() {
            let member = self.members[i];
            let function = member.function(system);
            if !sparse {
                function.gradient(t, q, self.rows.dense_mut(i));
            } else if !function.sparse_gradient(t, q, &mut self.rows) {
                self.dense.clear();
                self.dense.resize(n, 0.0);
                function.gradient(t, q, &mut self.dense);
                self.rows.push_nonzeros(&self.dense);
            }
            let value = self.value(member, system, t, q);
            self.defects.push(-value);
            let numbers = self.rows.absolute_dot(i, q) + function.magnitude(t, q);
            let size = numbers + self.rows.absolute_dot(i, &self.spread);
            match self.sizes.get_mut(i) {
                Some(known) => *known = known.max(size),
                None => self.sizes.push(size),
            }
            let ratio = self.violation(i, value);
            worst = if ratio.is_nan() {
                ratio
            } else {
                worst.max(ratio)
            };
        }
        worst
    }

    #[inline]
    fn factor_mass(&mut self, system: &dyn MechanicalSystem, q: &[f64]) -> bool {
        if self.factored && system.mass_is_constant() {
            return true;
        }
        if self.mass.order() != system.dof() {
            self.mass = system.new_matrix();
        }
        system.mass(q, &mut self.mass);
        self.factored = self.factor.factor(&self.mass).is_ok();
        self.factored
    }

    /// The displacement from the start of least kinetic norm that meets the members as linearised here, and the step that
    /// is left of it; contacts whose multiplier would pull are let go.
    fn solve(&mut self, n: usize) -> bool {
        let m = self.members.len();
        if self.rows.is_sparse() {
            assign_zeros(&mut self.responses, m * n);
            for (i, response) in self.responses.chunks_mut(n.max(1)).enumerate() {
                self.rows.add_to(i, 1.0, response);
            }
        } else {
            assign(&mut self.responses, self.rows.dense_rows());
        }
        for response in self.responses.chunks_mut(n.max(1)) {
            self.factor.solve_in_place(response);
        }
        if m == 1 {
            return self.one_multiplier(n, 0) && self.add_one(n);
        }
        let mut chosen = std::mem::take(&mut self.chosen);
        chosen.clear();
        chosen.extend(0..m);
        let reached = self.let_go(n, &mut chosen);
        self.chosen = chosen;
        if !reached {
            return false;
        }
        self.add_up(n);
        true
    }

    /// Solves for the multipliers of the chosen members and lets go, one by one, those that would pull.
    fn let_go(&mut self, n: usize, chosen: &mut Vec<usize>) -> bool {
        loop {
            let k = chosen.len();
            if k == 0 {
                return false;
            }
            if let [i] = chosen[..] {
                return self.one_multiplier(n, i);
            }
            self.schur.clear();
            self.schur.resize(k * k, 0.0);
            for (a, &i) in chosen.iter().enumerate() {
                for (b, &j) in chosen.iter().enumerate() {
                    let response = &self.responses[j * n..(j + 1) * n];
                    self.schur[a * k + b] = self.rows.dot(i, response);
                }
            }
            self.multipliers.clear();
            let (rows, so_far) = (&self.rows, &self.displacement);
            self.multipliers.extend(
                chosen
                    .iter()
                    .map(|&i| self.defects[i] + rows.dot(i, so_far)),
            );
            self.pivoted.factor(k, &self.schur);
            self.pivoted.solve_in_place(&mut self.multipliers);
            if self.multipliers.iter().any(|x| !x.is_finite()) {
                return false;
            }
            let pulling = (0..k)
                .filter(|&a| matches!(self.members[chosen[a]], Member::Unilateral(_)))
                .filter(|&a| self.multipliers[a] < 0.0)
                .min_by(|&a, &b| self.multipliers[a].total_cmp(&self.multipliers[b]));
            match pulling {
                Some(a) => {
                    chosen.remove(a);
                }
                None => return true,
            }
        }
    }

    /// The same where one member is left; false if nothing moves it or it would pull.
    fn one_multiplier(&mut self, n: usize, i: usize) -> bool {
        let stiffness = self.rows.dot(i, &self.responses[i * n..(i + 1) * n]);
        let multiplier = (self.defects[i] + self.rows.dot(i, &self.displacement)) / stiffness;
        self.multipliers.clear();
        self.multipliers.push(multiplier);
        let pulls = matches!(self.members[i], Member::Unilateral(_)) && multiplier < 0.0;
        multiplier.is_finite() && !pulls
    }

    /// The displacement of the only member, and the step that is left of it.
    fn add_one(&mut self, n: usize) -> bool {
        self.step.resize(n, 0.0);
        self.pushed.clear();
        self.pushed.push(true);
        let sums = (&mut self.displacement, &mut self.step);
        assign_scaled(sums.0, sums.1, self.multipliers[0], &self.responses);
        true
    }

    /// The displacement of the chosen members, and the step that is left of it.
    fn add_up(&mut self, n: usize) {
        assign_zeros(&mut self.step, n);
        self.pushed.clear();
        self.pushed.resize(self.members.len(), false);
        assign_zeros(&mut self.spread, n);
        for (a, &i) in self.chosen.iter().enumerate() {
            self.pushed[i] = true;
            let response = &self.responses[i * n..(i + 1) * n];
            add_scaled(&mut self.step, self.multipliers[a], response);
            for (spread, x) in self.spread.iter_mut().zip(response) {
                *spread += (self.multipliers[a] * x).abs();
            }
        }
        for (step, total) in self.step.iter_mut().zip(&mut self.displacement) {
            (*step, *total) = (*step - *total, *step);
        }
    }
}
