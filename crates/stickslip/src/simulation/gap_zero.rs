//! Whether a gap, or the equation of a joint, vanishes together with its gradient.

use crate::algebra::dot;
use crate::algebra::splitmix::Splitmix;
use crate::stepping::contact_scales::{STEPS, accelerations};
use crate::systems::MechanicalSystem;
use crate::systems::functions::ScalarFunction;
use crate::systems::passage::{GapAlong, straight};

use super::joint_space::{JointSpace, rounding};

/// How a function goes through zero, as Newton's method sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zero {
    /// The method converges faster and faster: the gradient does not vanish there.
    Regular,
    /// It converges like a geometric series with the ratio (1 − 1/k)ᵏ of a zero of order k ≥ 2.
    Degenerate,
    /// It found no zero.
    NotReached,
}

/// What one descent found.
#[derive(Clone, Debug, PartialEq)]
enum Descent {
    /// A zero with a gradient, and where it is.
    Regular(Vec<f64>),
    Degenerate,
    /// A zero whose gradient cannot be told from none within the rounding of the function: one looks at it from farther away.
    Unresolved,
    NotReached,
}

/// So many steps in a row that converge slowly are those to a zero of higher order. Fewer of them lead to y + x² from far away, too:
/// x is halved until its slope is no longer the larger one.
const SLOW: usize = 40;

/// So many of them are enough where the function ends in its rounding before its gradient is seen.
const SLOW_INTO_ROUNDING: usize = 8;

/// Ratios of two values that are slow.
const SLOW_RATIOS: std::ops::Range<f64> = 0.15..0.45;

/// Most steps of a descent.
const ROUNDS: usize = 80;

/// Most times that a step is halved until the function falls.
const HALVINGS: usize = 60;

/// A step of Newton's method that leaves this part of the function, along which the gradient stays what it was, ends beside a zero.
const FAST: f64 = 1e-3;

/// In units of its rounding, a function above this is known well enough to see such a step; one below it is zero.
const RESOLVED: f64 = 1e3;

/// How much farther than the rounding of a zero its gradient must stay what it is.
const BESIDE: f64 = 8.0;

/// The part of a step at its end that is left out where the gradient is read: a kink has none on itself.
const SHORT: f64 = 1e-3;

/// Configurations from which a zero is looked for where nothing leads there from the state, as from the top of a hill.
const STARTS: u64 = 24;

/// What joints leave of the square of a gradient that they hold, by rounding.
const INERT: f64 = 1e-12;

/// A state, and the length of a step, from which a search takes its lengths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outset<'a> {
    pub t: f64,
    pub q: &'a [f64],
    pub v: &'a [f64],
    pub h: f64,
}

/// Looks for zeros of a function by Newton's method in the metric of the mass, in which metres and radians have one length.
///
/// A step is halved until the function falls. At a zero of order k each step multiplies the function by (1 − 1/k)ᵏ: 1/4 for y², less
/// than 1/e for all; at a regular one the ratios tend to 0. Values are zero below the rounding of the function. No unit, no size in a
/// unit and no end time enters.
pub(super) struct ZeroSearch<'a> {
    system: &'a dyn MechanicalSystem,
    function: &'a dyn ScalarFunction,
    /// Whether configurations satisfy the joints, and steps go along them.
    beside_joints: bool,
    /// The metric, where it is the same everywhere.
    metric: Option<JointSpace>,
}

/// The function at a configuration.
struct Place {
    q: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    /// The velocity that a unit of the gradient gives.
    response: Vec<f64>,
    /// Square of the gradient, and what joints leave of it.
    all: f64,
    left: f64,
    /// Rounding of the value.
    rounding: f64,
}

impl Place {
    fn vanishes(&self) -> bool {
        self.value.abs() <= RESOLVED * self.rounding
    }

    fn has_no_gradient(&self) -> bool {
        !(self.left > INERT * self.all)
    }
}

impl<'a> ZeroSearch<'a> {
    /// A search among all configurations.
    pub fn new(system: &'a dyn MechanicalSystem, function: &'a dyn ScalarFunction) -> Self {
        let origin = vec![0.0; system.coordinate_count()];
        let metric = match system.mass_is_constant() {
            true => JointSpace::without_joints(system, &origin),
            false => None,
        };
        Self {
            system,
            function,
            beside_joints: false,
            metric,
        }
    }

    /// A search among configurations that satisfy the joints.
    pub fn beside_joints(
        system: &'a dyn MechanicalSystem,
        function: &'a dyn ScalarFunction,
    ) -> Self {
        if system.joints().is_empty() {
            return Self::new(system, function);
        }
        Self {
            system,
            function,
            beside_joints: true,
            metric: None,
        }
    }

    /// How the function vanishes where the state leads to, or at the state itself.
    pub fn at_state(&self, from: Outset) -> Zero {
        match self.descend(from.t, from.q) {
            Descent::Regular(_) => Zero::Regular,
            Descent::Degenerate => Zero::Degenerate,
            Descent::NotReached => Zero::NotReached,
            Descent::Unresolved => self.resolve(from),
        }
    }

    /// The same, from configurations all around it where it leads nowhere.
    pub fn around_state(&self, from: Outset) -> Zero {
        let here = self.at_state(from);
        if here != Zero::NotReached {
            return here;
        }
        let draws = Draws::new(self, from);
        (0..STARTS)
            .find_map(|seed| {
                let start = draws.configuration(self, from, seed)?;
                match self.descend(from.t, &start) {
                    Descent::Regular(_) => Some(Zero::Regular),
                    Descent::Degenerate => Some(Zero::Degenerate),
                    Descent::Unresolved | Descent::NotReached => None,
                }
            })
            .unwrap_or(Zero::NotReached)
    }

    /// A zero at a state that its gradient does not tell from a degenerate one: configurations beside it lead back to it.
    fn resolve(&self, from: Outset) -> Zero {
        let draws = Draws::new(self, from);
        if self.shrinks(&draws, from) {
            return Zero::Degenerate;
        }
        let starts = (0..STARTS).filter_map(|seed| draws.beside(self, from, seed));
        let found: Vec<Descent> = starts.map(|start| self.descend(from.t, &start)).collect();
        let regular = |descent: &Descent| matches!(descent, Descent::Regular(_));
        if found.contains(&Descent::Degenerate) {
            Zero::Degenerate
        } else if found.iter().any(regular) {
            Zero::Regular
        } else {
            Zero::NotReached
        }
    }

    /// Whether there is no gradient at a state, and ever less of it towards the state: a kink has none on itself alone.
    fn shrinks(&self, draws: &Draws, from: Outset) -> bool {
        let here = self.at(from.t, from.q.to_vec());
        if !here.is_some_and(|here| here.all == 0.0) {
            return false;
        }
        let largest = |power: f64| {
            let at = |seed: u64| {
                let q = draws.displaced(self, from, power, &mut Splitmix(seed))?;
                Some(self.at(from.t, q)?.all)
            };
            (0..STARTS).filter_map(at).fold(0.0, f64::max)
        };
        let (far, near) = (largest(-2.0), largest(-5.0));
        near <= 0.25 * far || near == 0.0
    }

    /// A configuration that a seed draws, brought to a zero with a gradient.
    pub fn zero_from(&self, draws: &Draws, from: Outset, seed: u64) -> Option<Vec<f64>> {
        let start = draws.configuration(self, from, seed)?;
        match self.descend(from.t, &start) {
            Descent::Regular(place) => Some(place),
            _ => None,
        }
    }

    fn at(&self, t: f64, q: Vec<f64>) -> Option<Place> {
        let value = self.function.value(t, &q);
        let mut gradient = vec![0.0; self.system.dof()];
        self.function.gradient(t, &q, &mut gradient);
        let (whole, response) = self.responses(t, &q, &gradient)?;
        let [all, left] = [&whole, &response].map(|along| dot(&gradient, along));
        let rounding = rounding(self.function, &gradient, (t, &q));
        let finite = value.is_finite() && all.is_finite() && left.is_finite();
        finite.then_some(Place {
            q,
            value,
            gradient,
            response,
            all,
            left,
            rounding,
        })
    }

    /// M⁻¹ of a covector, and what joints leave of it where they count.
    fn responses(&self, t: f64, q: &[f64], covector: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        if let Some(metric) = &self.metric {
            return Some(metric.responses(covector));
        }
        let space = match self.beside_joints {
            true => JointSpace::at(self.system, t, q),
            false => JointSpace::without_joints(self.system, q),
        };
        Some(space?.responses(covector))
    }

    /// The configuration so far along the response of a place.
    fn moved(&self, t: f64, place: &Place, way: f64) -> Option<Vec<f64>> {
        let mut q = place.q.clone();
        self.system.displace(&place.q, &place.response, way, &mut q);
        let finite = q.iter().all(|x| x.is_finite());
        let holds = finite && (!self.beside_joints || JointSpace::settle(self.system, t, &mut q));
        holds.then_some(q)
    }

    /// Whether the gradient of a place, as far as joints leave it, stays what it is so far along it.
    fn stays(&self, t: f64, place: &Place, way: f64) -> bool {
        let Some(q) = self.moved(t, place, way) else {
            return false;
        };
        let mut gradient = vec![0.0; place.gradient.len()];
        self.function.gradient(t, &q, &mut gradient);
        let Some((_, mut change)) = self.responses(t, &q, &gradient) else {
            return false;
        };
        (change.iter_mut().zip(&place.response)).for_each(|(c, r)| *c -= r);
        let mut mass = self.system.new_matrix();
        self.system.mass(&place.q, &mut mass);
        mass.bilinear(&change, &change) <= 0.25 * place.left
    }

    fn descend(&self, t: f64, q: &[f64]) -> Descent {
        let Some(mut here) = self.at(t, q.to_vec()) else {
            return Descent::NotReached;
        };
        let (start, mut slow) = (here.value.abs(), 0);
        for _ in 0..ROUNDS {
            if here.vanishes() {
                return self.judge(t, here, slow);
            }
            if here.has_no_gradient() {
                break;
            }
            let Some((next, part)) = self.step(t, &here) else {
                break;
            };
            let ratio = next.value / here.value;
            // A kink has no gradient on itself: it is read beside the end of the step.
            let way = -(1.0 - SHORT) * here.value / here.left;
            if part == 1.0 && ratio.abs() <= FAST && self.stays(t, &here, way) {
                return Descent::Regular(self.polish(t, next));
            }
            slow = match part == 1.0 && SLOW_RATIOS.contains(&ratio) {
                true => slow + 1,
                false => 0,
            };
            if slow >= SLOW && next.value.abs() < 1e-4 * start {
                return Descent::Degenerate;
            }
            here = next;
        }
        Descent::NotReached
    }

    /// What a place is where the function is zero but for its rounding.
    fn judge(&self, t: f64, here: Place, slow: usize) -> Descent {
        if here.has_no_gradient() {
            return match self.beside_joints && here.all > 0.0 {
                true => Descent::Degenerate,
                false => Descent::Unresolved,
            };
        }
        // As far as rounding can have moved the zero, and farther.
        let far = BESIDE * (here.value.abs() + here.rounding) / here.left;
        if self.stays(t, &here, far) && self.stays(t, &here, -far) {
            Descent::Regular(here.q)
        } else if slow >= SLOW_INTO_ROUNDING {
            Descent::Degenerate
        } else {
            Descent::Unresolved
        }
    }

    /// A step of Newton's method, or the first part of it by which the function falls.
    fn step(&self, t: f64, here: &Place) -> Option<(Place, f64)> {
        let mut part = 1.0;
        for _ in 0..HALVINGS {
            let way = -part * here.value / here.left;
            if let Some(q) = self.moved(t, here, way) {
                let value = self.function.value(t, &q);
                // The smallest number of all is three quarters of itself by rounding.
                let (size, most) = (value.abs(), here.value.abs());
                if size <= (1.0 - 0.25 * part) * most && size < most {
                    return Some((self.at(t, q)?, part));
                }
            }
            part *= 0.5;
        }
        None
    }

    /// The zero beside a place, as near as rounding lets it be found.
    fn polish(&self, t: f64, mut here: Place) -> Vec<f64> {
        while here.value != 0.0 && !here.has_no_gradient() {
            match self.step(t, &here) {
                Some((next, 1.0)) => here = next,
                _ => break,
            }
        }
        here.q
    }
}

/// Draws configurations in lengths of a system: in the metric of the mass, those of its state, of what a function adds, and of the
/// way that velocity and forces make in ten steps. Nothing is compared with a metre.
pub(super) struct Draws {
    length: f64,
    /// Roots of the masses of the velocities.
    roots: Vec<f64>,
}

impl Draws {
    pub fn new(search: &ZeroSearch, from: Outset) -> Self {
        let system = search.system;
        let mut mass = system.new_matrix();
        system.mass(from.q, &mut mass);
        let roots = (0..system.dof()).map(|i| mass.get(i, i).max(0.0).sqrt());
        let roots: Vec<f64> = roots.collect();
        let length_of = |x: &dyn Fn(usize) -> f64| -> f64 {
            let parts = roots.iter().enumerate().map(|(i, root)| root * x(i));
            parts.filter(|x| x.is_finite()).fold(0.0, f64::hypot)
        };
        let mut length = 0.0;
        if system.coordinate_count() == system.dof() {
            length += length_of(&|i| from.q[i]);
        }
        let accelerations = accelerations(system, (from.t, from.q, from.v));
        let time = STEPS * from.h;
        length += length_of(&|i| time * (from.v[i].abs() + time * accelerations[i].abs()));
        if let Some(here) = search.at(from.t, from.q.to_vec()) {
            let added = search.function.magnitude(from.t, from.q);
            let size = (here.value.abs() + added) / here.left.sqrt();
            if size.is_finite() {
                length += size;
            }
        }
        // What rests at the origin without forces has no length: any is looked at.
        let length = if length > 0.0 { length } else { 1.0 };
        Self { length, roots }
    }

    /// A configuration that a seed draws: near, or at any distance.
    fn configuration(&self, search: &ZeroSearch, from: Outset, seed: u64) -> Option<Vec<f64>> {
        let mut random = Splitmix(seed);
        let power = match seed % 2 {
            0 => 4.0 * random.unit() - 3.0,
            _ => 12.0 * random.unit() - 6.0,
        };
        self.displaced(search, from, power, &mut random)
    }

    /// A configuration beside the state.
    fn beside(&self, search: &ZeroSearch, from: Outset, seed: u64) -> Option<Vec<f64>> {
        let mut random = Splitmix(seed);
        let power = -3.0 * random.unit();
        self.displaced(search, from, power, &mut random)
    }

    fn displaced(
        &self,
        search: &ZeroSearch,
        from: Outset,
        power: f64,
        random: &mut Splitmix,
    ) -> Option<Vec<f64>> {
        let size = self.length * 10f64.powf(power);
        let step = (self.roots.iter()).map(|root| size / root * (2.0 * random.unit() - 1.0));
        let step: Vec<f64> = step.collect();
        let mut q = from.q.to_vec();
        search.system.displace(from.q, &step, 1.0, &mut q);
        let holds = !search.beside_joints || JointSpace::settle(search.system, from.t, &mut q);
        holds.then_some(q)
    }
}

/// A gap that falls to this part of what a step can move it, and then rises, was passed.
const PASSED: f64 = 1e-2;

/// Whether the straight way between two configurations goes through a constraint: its gap all but reaches zero on it, and
/// its normal turns by more than a right angle there.
pub(super) fn passed_through(
    system: &dyn MechanicalSystem,
    constraint: usize,
    (t0, q0): (f64, &[f64]),
    (t1, q1): (f64, &[f64]),
    v: &[f64],
) -> bool {
    let gap = system.constraints()[constraint].gap();
    let (n, h) = (system.dof(), t1 - t0);
    let mut mass = system.new_matrix();
    system.mass(q0, &mut mass);
    let weights: Vec<f64> = (0..n).map(|i| mass.get(i, i)).collect();
    let moved: Vec<f64> = if system.coordinate_count() == n {
        q1.iter().zip(q0).map(|(b, a)| b - a).collect()
    } else {
        v.iter().map(|v| h * v).collect()
    };
    let along = GapAlong {
        system,
        gap,
        place: &|s, q| straight(system, (q0, q1), s, q),
        moved: &|_, out| out.copy_from_slice(&moved),
        time: (t0, h),
        weights: &weights,
        rounding: 0.0,
    };
    let mut q = Vec::new();
    let ends = [0.0, 1.0].map(|s| along.station(s, &mut q).steepness);
    let least = PASSED * ends[0].max(ends[1]);
    along.valley().is_some_and(|gap| gap <= least)
}
