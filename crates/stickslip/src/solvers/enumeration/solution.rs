//! What an enumeration found.

use serde::Serialize;

use crate::contact::{ContactProblem, ContactResidual};

/// Mode of one contact in a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// No impulse.
    Open,
    /// Impulse, no tangential velocity.
    Stick,
    /// Sliding with the friction impulse at its upper end (in space: sliding).
    SlipUpper,
    /// Sliding with the friction impulse at its lower end.
    SlipLower,
    /// Impulse without friction.
    Closed,
}

impl Mode {
    /// Word for reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Stick => "stick",
            Self::SlipUpper => "slip, friction forward",
            Self::SlipLower => "slip, friction backward",
            Self::Closed => "closed",
        }
    }
}

/// A solution that belongs to a continuum with the same modes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Continuum {
    /// Dimension of the set of impulses.
    pub dimension: usize,
    /// Whether the velocity changes along it; otherwise only internal forces do.
    pub moves_velocity: bool,
    /// Impulses at the ends of a segment (two of them) or of a ray (one); empty where they are not known.
    pub ends: Vec<Vec<f64>>,
    /// Directions of impulses in which the set has no end.
    pub unbounded: Vec<Vec<f64>>,
}

/// Smallest and largest values of a set, row by row, as far as they were found; infinite in rows that a direction without
/// end moves.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RowRange {
    /// Smallest.
    pub least: Vec<f64>,
    /// Largest.
    pub largest: Vec<f64>,
}

impl RowRange {
    fn of(values: &[f64]) -> Self {
        Self {
            least: values.to_vec(),
            largest: values.to_vec(),
        }
    }

    fn recede(&mut self, direction: &[f64]) {
        let size = direction.iter().fold(0.0f64, |s, d| s.max(d.abs()));
        for (row, &d) in direction.iter().enumerate() {
            if d > 1e-9 * size {
                self.largest[row] = f64::INFINITY;
            } else if d < -1e-9 * size {
                self.least[row] = f64::NEG_INFINITY;
            }
        }
    }

    fn include(&mut self, other: &Self) {
        for (a, b) in self.least.iter_mut().zip(&other.least) {
            *a = a.min(*b);
        }
        for (a, b) in self.largest.iter_mut().zip(&other.largest) {
            *a = a.max(*b);
        }
    }
}

/// One motion with its impulses, certified.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundSolution {
    /// Impulse per row.
    pub impulse: Vec<f64>,
    /// Local velocity per row.
    pub local_velocity: Vec<f64>,
    /// Mode per block.
    pub modes: Vec<Mode>,
    /// Worst measure of [`ContactResidual`].
    pub residual: f64,
    /// Whether other motions could be seen beside it: false where its impulses are lost in the rounding of the velocities.
    pub decided: bool,
    /// The continuum it stands for, if any.
    pub continuum: Option<Continuum>,
    /// The impulses met with this motion (or with the continuum of motions it stands for).
    pub range: RowRange,
    /// The local velocities met with them: one unless the solution stands for a continuum of motions.
    pub velocity_range: RowRange,
}

impl FoundSolution {
    /// Rest, the only motion of a problem whose free velocity is zero: Coulomb's law takes work from a motion, W gives it
    /// none, `p·W p = p·w ≤ 0`.
    pub(crate) fn at_rest(problem: &ContactProblem) -> Self {
        let modes = vec![Mode::Open; problem.blocks().len()];
        Self::certified(problem, vec![0.0; problem.size()], modes, None)
    }

    pub(super) fn certified(
        problem: &ContactProblem,
        impulse: Vec<f64>,
        modes: Vec<Mode>,
        continuum: Option<Continuum>,
    ) -> Self {
        let mut local_velocity = vec![0.0; problem.size()];
        problem.local_velocity(&impulse, &mut local_velocity);
        let mut residual = ContactResidual::default();
        residual.measure(problem, &impulse);
        let mut range = RowRange::of(&impulse);
        let mut velocity_range = RowRange::of(&local_velocity);
        let mut velocity = vec![0.0; problem.size()];
        for end in continuum.iter().flat_map(|c: &Continuum| &c.ends) {
            range.include(&RowRange::of(end));
            problem.local_velocity(end, &mut velocity);
            velocity_range.include(&RowRange::of(&velocity));
        }
        for direction in continuum.iter().flat_map(|c| &c.unbounded) {
            range.recede(direction);
        }
        Self {
            range,
            velocity_range,
            decided: true,
            residual: residual.worst(),
            impulse,
            local_velocity,
            modes,
            continuum,
        }
    }

    /// Largest difference of the impulses, relative to the larger of them or to `floor`.
    pub(super) fn distance(&self, other: &Self, floor: f64) -> f64 {
        let size = |v: &[f64]| v.iter().fold(0.0f64, |s, x| s.max(x.abs()));
        let difference = self
            .impulse
            .iter()
            .zip(&other.impulse)
            .fold(0.0f64, |s, (a, b)| s.max((a - b).abs()));
        let scale = size(&self.impulse).max(size(&other.impulse)).max(floor);
        if scale > 0.0 { difference / scale } else { 0.0 }
    }
}

/// How the solutions were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Every solution is in the list.
    Exact,
    /// The tree of modes or the search was cut at its bound of work, or ended from outside: there may be more.
    Truncated,
    /// A search from many starts: there may be more.
    Search,
}

/// What was done with contacts that feel each other and no others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Examined {
    /// Their blocks in the problem.
    pub blocks: Vec<usize>,
    /// Motions found.
    pub motions: usize,
    /// How they were looked for.
    pub method: Method,
    /// Nodes of the tree, or starts of the search; none where the bound of work allows no whole list of modes.
    pub effort: usize,
}

impl Examined {
    pub(super) fn of(blocks: Vec<usize>, found: &Enumeration) -> Self {
        Self {
            blocks,
            motions: found.solutions.len(),
            method: found.method,
            effort: found.effort,
        }
    }
}

/// All solutions found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Enumeration {
    /// Distinct solutions, in the order of the tree or of the starts.
    pub solutions: Vec<FoundSolution>,
    /// How they were found.
    pub method: Method,
    /// Nodes of the tree, or starts of the search.
    pub effort: usize,
    /// The same for every group of contacts that feel each other.
    pub groups: Vec<Examined>,
}

/// What the law says about a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// One solution.
    Regular,
    /// Several solutions.
    Indeterminate {
        /// Their number; a continuum counts once.
        solutions: usize,
    },
    /// Only solutions whose impulse does not vanish with the step: a tangential impact is needed.
    InconsistentWithoutImpact,
    /// One motion to rounding: the impulses of the step are lost in the rounding of the velocities, and whether others make
    /// another motion cannot be seen.
    Undecided,
    /// No solution was found.
    NoneFound,
    /// The list was cut at its bound of work, with one motion or none in it.
    NotExamined,
}

impl Verdict {
    /// One word for programs: `regular`, `indeterminate`, `inconsistent`, `undecided` or `not-examined`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Regular => "regular",
            Self::Indeterminate { .. } => "indeterminate",
            Self::Undecided => "undecided",
            Self::InconsistentWithoutImpact | Self::NoneFound => "inconsistent",
            Self::NotExamined => "not-examined",
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Regular => write!(f, "regular: one motion"),
            Self::Indeterminate { solutions: 1 } => {
                write!(f, "indeterminate: a continuum of motions")
            }
            Self::Indeterminate { solutions } => {
                write!(f, "indeterminate: {solutions} motions")
            }
            Self::InconsistentWithoutImpact => {
                write!(
                    f,
                    "inconsistent without impact: a tangential impact is needed"
                )
            }
            Self::Undecided => write!(
                f,
                "undecided: one motion to rounding, which hides whether other impulses make another"
            ),
            Self::NoneFound => write!(f, "no solution found"),
            Self::NotExamined => write!(
                f,
                "not examined: the list of motions was cut, and whether the motion is unique is not known"
            ),
        }
    }
}

impl Enumeration {
    /// One solution per motion.
    ///
    /// Solutions with one velocity are one: the impulses that belong to a velocity form a convex set, which the
    /// continuum of largest dimension stands for. Differences of impulses count from `floor`, of velocities above
    /// `same`.
    pub(super) fn distinct(
        mut found: Vec<FoundSolution>,
        floor: f64,
        same: f64,
    ) -> Vec<FoundSolution> {
        let dimension = |s: &FoundSolution| s.continuum.as_ref().map_or(0, |c| c.dimension);
        let one_velocity = |a: &FoundSolution, b: &FoundSolution| {
            (a.local_velocity.iter().zip(&b.local_velocity)).all(|(x, y)| (x - y).abs() <= same)
        };
        let mut kept: Vec<FoundSolution> = Vec::with_capacity(found.len());
        for mut solution in found.drain(..) {
            let same = |k: &FoundSolution| {
                k.distance(&solution, floor) <= 1e-9
                    || on_segment(k, &solution)
                    || on_segment(&solution, k)
                    || one_velocity(k, &solution)
            };
            match kept.iter().position(same) {
                // The larger continuum stands for all that lie on it.
                Some(first) if dimension(&kept[first]) < dimension(&solution) => {
                    let (joined, others): (Vec<_>, Vec<_>) = kept
                        .into_iter()
                        .partition(|k| same(k) && dimension(k) < dimension(&solution));
                    kept = others;
                    joined.iter().for_each(|k| solution.absorb(k));
                    kept.insert(first, solution);
                }
                Some(first) => kept[first].absorb(&solution),
                None => kept.push(solution),
            }
        }
        kept
    }

    /// Regular, indeterminate, undecided or none, by the number of solutions; a list that was cut tells of several or of nothing.
    pub fn verdict(&self) -> Verdict {
        let cut = self.method == Method::Truncated;
        match &self.solutions[..] {
            [] if cut => Verdict::NotExamined,
            [] => Verdict::NoneFound,
            [only] if only.moves_velocity() => Verdict::Indeterminate { solutions: 1 },
            [_] if cut => Verdict::NotExamined,
            [only] if !only.decided => Verdict::Undecided,
            [_] => Verdict::Regular,
            several => Verdict::Indeterminate {
                solutions: several.len(),
            },
        }
    }
}

impl FoundSolution {
    /// Whether it stands for a continuum of motions.
    pub fn moves_velocity(&self) -> bool {
        self.continuum.as_ref().is_some_and(|c| c.moves_velocity)
    }

    /// Adds a direction of impulses without end to its continuum.
    pub(super) fn recede(&mut self, direction: Vec<f64>) {
        self.range.recede(&direction);
        if let Some(continuum) = &mut self.continuum {
            continuum.unbounded.push(direction);
        }
    }

    /// Takes over the impulses of a solution of the same motion or family.
    pub(super) fn absorb(&mut self, other: &Self) {
        self.range.include(&other.range);
        self.velocity_range.include(&other.velocity_range);
    }
}

/// Whether `point` lies on the segment or ray that `holder` stands for.
fn on_segment(holder: &FoundSolution, point: &FoundSolution) -> bool {
    let Some(continuum) = &holder.continuum else {
        return false;
    };
    let (a, along, longest): (&Vec<f64>, Vec<f64>, f64) =
        match (&continuum.ends[..], &continuum.unbounded[..]) {
            ([a, b], _) => (a, b.iter().zip(a).map(|(b, a)| b - a).collect(), 1.0 + 1e-9),
            ([a], [direction]) => (a, direction.clone(), f64::INFINITY),
            _ => return false,
        };
    if point.continuum.is_some() {
        return false;
    }
    let from: Vec<f64> = point.impulse.iter().zip(a).map(|(p, a)| p - a).collect();
    let length: f64 = along.iter().map(|x| x * x).sum();
    let t = along.iter().zip(&from).map(|(x, y)| x * y).sum::<f64>() / length;
    let off: f64 = from
        .iter()
        .zip(&along)
        .map(|(f, d)| (f - t * d) * (f - t * d))
        .sum();
    (-1e-9..=longest).contains(&t) && off <= 1e-18 * length * t.abs().max(1.0).powi(2)
}

/// Impulse below which two answers are not told apart: a thousandth of what stops the free motion.
pub(super) fn impulse_floor(problem: &ContactProblem) -> f64 {
    1e-3 * free_speed(problem) / stiffest(problem)
}

/// Largest diagonal entry of W.
pub(super) fn stiffest(problem: &ContactProblem) -> f64 {
    let m = problem.size();
    (0..m)
        .map(|i| problem.dense()[i * m + i])
        .fold(f64::MIN_POSITIVE, f64::max)
}

/// Largest local velocity without impulses.
pub(super) fn free_speed(problem: &ContactProblem) -> f64 {
    problem.free().iter().fold(0.0f64, |s, x| s.max(x.abs()))
}
