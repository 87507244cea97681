//! All solutions of one contact in space with a disc, or with an ellipse in its own frame.
//!
//! # What it computes
//!
//! A slip has p = p_N d, d = (1, μ t), with friction against the velocity: two equations, linear in p_N, for the angle of t,
//!
//! ```text
//! q_N + p_N (W d)_N = 0,     q_T × t + p_N (W d)_T × t = 0,     u_T·t ≤ 0.
//! ```
//!
//! Both have one p_N where a trigonometric polynomial of degree two vanishes. Where all four coefficients vanish at an angle, every p_N up to that
//! which stops the slip is a solution: a continuum of motions. At γ = 0 the polynomial of a grazing contact has a double root in the direction that
//! attains γ, which is looked at by itself. Sticks are the part of {W p = −q} in the cone, a segment or a ray where W is singular.
//!
//! # Source
//!
//! [AcaryCollinsCraft2023] for the law, [Paoli2015] for continua at γ = 0. The trigonometric form is our own.
//!
//! # Guarantees
//!
//! All solutions are found, continua with their ends.
//!
//! # Behaviour to know
//!
//! What is zero but for `rounding` of its terms is zero: γ, above all.
//!
//! # Cost
//!
//! About 1500 evaluations of the polynomial.
//!
//! # Tested by
//!
//! `solvers/enumeration/disc/tests.rs`, `tests/truth_grazing_in_space.rs`.

use std::f64::consts::PI;

use crate::algebra::dot;
use crate::algebra::rank_revealing::solve_any_rank;

/// Velocities and coefficients below this part of their terms vanish.
const ZERO: f64 = 1e-10;
/// Pivots below this part of the largest vanish.
const SINGULAR: f64 = 1e-13;
/// Values of the polynomial that are rounding of its terms.
const TOUCHING: f64 = 1e-13;

/// A solution, or a set of them.
#[derive(Clone, Debug, PartialEq)]
pub struct DiscSolution {
    /// One impulse.
    pub impulse: [f64; 3],
    /// What the contact does under it.
    pub kind: DiscKind,
    /// The set that it stands for.
    pub set: Option<ImpulseSet>,
}

/// What a contact does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscKind {
    /// No impulse.
    Open,
    /// No velocity.
    Stick,
    /// Friction on the border of its disc, against the velocity.
    Slip,
}

/// Impulses that solve the law as well.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImpulseSet {
    /// Dimension of the set.
    pub dimension: usize,
    /// Whether the velocity differs along it.
    pub moves_velocity: bool,
    /// Ends of a segment or of a ray.
    pub ends: Vec<[f64; 3]>,
    /// Directions in which it has no end.
    pub unbounded: Vec<[f64; 3]>,
}

/// The contact in units in which W_NN is one, the tangents move as much, and the free velocity has length one.
struct Contact {
    w: [f64; 9],
    q: [f64; 3],
    mu: f64,
    /// Units of the impulses.
    units: [f64; 3],
    rounding: f64,
}

/// All solutions, of which W p may be wrong by `rounding` of its terms: none, sticks, then slips. W is symmetric.
pub fn enumerate_disc(w: &[f64; 9], q: &[f64; 3], mu: f64, rounding: f64) -> Vec<DiscSolution> {
    let mut found = Vec::new();
    if q[0] >= 0.0 {
        found.push(DiscSolution {
            impulse: [0.0; 3],
            kind: DiscKind::Open,
            set: None,
        });
    }
    let Some(contact) = Contact::new(w, q, mu, rounding) else {
        return found;
    };
    let start = found.len();
    found.extend(contact.sticks());
    if mu > 0.0 {
        found.extend(contact.slips());
    } else if contact.q[0] < 0.0 {
        found.push(single([-contact.q[0], 0.0, 0.0], DiscKind::Slip));
    }
    for solution in &mut found[start..] {
        contact.in_given_units(solution);
    }
    found
}

fn single(impulse: [f64; 3], kind: DiscKind) -> DiscSolution {
    DiscSolution {
        impulse,
        kind,
        set: None,
    }
}

fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

fn inner(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// What the two equations of a slip read at an angle.
struct Slip {
    t: [f64; 2],
    /// (W d)_N and q_N.
    normal: (f64, f64),
    /// (W d)_T × t and q_T × t.
    across: (f64, f64),
    /// (W d)_T·t and q_T·t.
    along: (f64, f64),
}

impl Contact {
    /// None where the normal impulse moves nothing.
    fn new(w: &[f64; 9], q: &[f64; 3], mu: f64, rounding: f64) -> Option<Self> {
        if !(w[0] > 0.0) {
            return None;
        }
        let trace = w[4] + w[8];
        let normal = 1.0 / w[0].sqrt();
        let tangent = if trace > 0.0 {
            (2.0 / trace).sqrt()
        } else {
            normal
        };
        let scales = [normal, tangent, tangent];
        let free: [f64; 3] = std::array::from_fn(|i| scales[i] * q[i]);
        let speed = dot(&free, &free).sqrt();
        let speed = if speed > 0.0 { speed } else { 1.0 };
        Some(Self {
            w: std::array::from_fn(|k| scales[k / 3] * scales[k % 3] * w[k]),
            q: free.map(|x| x / speed),
            mu: mu * normal / tangent,
            units: scales.map(|c| c * speed),
            rounding: rounding.max(1e-12),
        })
    }

    fn in_given_units(&self, solution: &mut DiscSolution) {
        let convert = |p: &mut [f64; 3]| {
            p.iter_mut()
                .zip(&self.units)
                .for_each(|(p, unit)| *p *= unit);
        };
        convert(&mut solution.impulse);
        if let Some(set) = &mut solution.set {
            set.ends.iter_mut().for_each(convert);
            set.unbounded.iter_mut().for_each(convert);
        }
    }

    fn slip(&self, angle: f64) -> Slip {
        let (s, c) = angle.sin_cos();
        self.slip_along([c, s])
    }

    fn slip_along(&self, t: [f64; 2]) -> Slip {
        let d = [1.0, self.mu * t[0], self.mu * t[1]];
        let row = |i: usize| dot(&self.w[3 * i..3 * i + 3], &d);
        let (moved, free) = ([row(1), row(2)], [self.q[1], self.q[2]]);
        Slip {
            t,
            normal: (row(0), self.q[0]),
            across: (cross(moved, t), cross(free, t)),
            along: (inner(moved, t), inner(free, t)),
        }
    }

    fn slips(&self) -> Vec<DiscSolution> {
        let polynomial = |angle: f64| {
            let at = self.slip(angle);
            at.normal.0 * at.across.1 - at.normal.1 * at.across.0
        };
        let terms = |angle: f64| {
            let at = self.slip(angle);
            (at.normal.0 * at.across.1).abs() + (at.normal.1 * at.across.0).abs()
        };
        let size = (0..16).map(|k| terms(f64::from(k) * PI / 8.0));
        let size = size.fold(0.0, f64::max);
        let mut found: Vec<DiscSolution> = Vec::new();
        let coupling = self.w[1].hypot(self.w[2]).max(f64::MIN_POSITIVE);
        // Added to zero, which has no sign then.
        let steepest = [0.0 - self.w[1] / coupling, 0.0 - self.w[2] / coupling];
        let gamma = self.slip_along(steepest).normal.0;
        // γ vanishes but for its rounding: its direction has no normal velocity at all.
        let flat = gamma.abs() <= self.rounding * (1.0 + (1.0 - gamma).abs());
        if flat && self.q[0].abs() <= ZERO {
            let mut at = self.slip_along(steepest);
            at.normal.0 = 0.0;
            found.extend(self.family(&at).or_else(|| self.alone(&at)));
        }
        for angle in trigonometric_roots(&polynomial, TOUCHING * size) {
            let at = self.slip(angle);
            // What is left beside the direction of γ is the same root.
            let beside = inner(at.t, steepest) > 1.0 - 1e-3 * self.rounding.sqrt();
            if flat && self.q[0].abs() <= ZERO && beside {
                continue;
            }
            let solution = self.family(&at).or_else(|| self.polished(angle));
            found.extend(solution);
        }
        found
    }

    /// The solutions p_N d for every p_N up to the end of the slip, where the equations say nothing of p_N.
    fn family(&self, at: &Slip) -> Option<DiscSolution> {
        let size = 1.0 + self.mu;
        let idle =
            at.normal.0.abs() <= ZERO * size && at.across.0.abs() <= ZERO.max(self.rounding) * size;
        let still = at.normal.1.abs() <= ZERO && at.across.1.abs() <= ZERO;
        if !(idle && still && at.along.1 < -ZERO) {
            return None;
        }
        let d = |p: f64| [p, p * self.mu * at.t[0], p * self.mu * at.t[1]];
        let mut set = ImpulseSet {
            dimension: 1,
            ends: vec![[0.0; 3]],
            ..ImpulseSet::default()
        };
        // d·W d = μ (W d)_T·t is not negative.
        let length = -at.along.1 / at.along.0;
        if at.along.0 <= self.rounding * size {
            set.unbounded.push(d(1.0));
            return Some(DiscSolution {
                impulse: d(1.0),
                kind: DiscKind::Slip,
                set: Some(set),
            });
        }
        set.moves_velocity = true;
        set.ends.push(d(length));
        Some(DiscSolution {
            impulse: d(0.5 * length),
            kind: DiscKind::Slip,
            set: Some(set),
        })
    }

    /// The slip in a direction without normal velocity, where its p_N is that of the other equation.
    fn alone(&self, at: &Slip) -> Option<DiscSolution> {
        self.checked(-at.across.1 / at.across.0, at)
    }

    fn checked(&self, normal: f64, at: &Slip) -> Option<DiscSolution> {
        let against = at.along.1 + normal * at.along.0 <= ZERO * (1.0 + normal);
        (normal > 0.0 && normal.is_finite() && against).then(|| {
            let friction = self.mu * normal;
            single(
                [normal, friction * at.t[0], friction * at.t[1]],
                DiscKind::Slip,
            )
        })
    }

    /// The slip near an angle where the polynomial vanishes: both equations by Newton's method, which a root alone gives to few digits where
    /// (W d)_N and q_N are small.
    fn polished(&self, mut angle: f64) -> Option<DiscSolution> {
        let least = |at: &Slip| {
            let weight = at.normal.0.powi(2) + at.across.0.powi(2);
            -(at.normal.0 * at.normal.1 + at.across.0 * at.across.1) / weight
        };
        let defect =
            |at: &Slip, p: f64| [at.normal.1 + p * at.normal.0, at.across.1 + p * at.across.0];
        let mut at = self.slip(angle);
        let mut p = least(&at);
        for _ in 0..20 {
            let [f, g] = defect(&at, p);
            let turned = [-at.t[1], at.t[0]];
            let w = |i: usize, j: usize| self.w[3 * i + j];
            let pushed =
                [0, 1].map(|i| self.mu * (w(i + 1, 1) * turned[0] + w(i + 1, 2) * turned[1]));
            // Derivatives by the angle: of (W d)_N, and of the other equation.
            let lifted = self.mu * (w(0, 1) * turned[0] + w(0, 2) * turned[1]);
            let f_angle = p * lifted;
            let g_angle = at.along.1 + p * (cross(pushed, at.t) + at.along.0);
            let determinant = f_angle * at.across.0 - g_angle * at.normal.0;
            let step = (f * at.across.0 - g * at.normal.0) / determinant;
            let lift = (f_angle * g - g_angle * f) / determinant;
            // At a double root the derivative vanishes, and the angle is as good as it can be.
            if !(step.abs() <= 1e-3) || !lift.is_finite() {
                break;
            }
            let near = self.slip(angle - step);
            let there = p - lift;
            let size = |d: [f64; 2]| d[0].abs().max(d[1].abs());
            if !(size(defect(&near, there)) < size([f, g])) {
                break;
            }
            (angle, p, at) = (angle - step, there, near);
        }
        self.checked(p, &at)
    }

    /// The impulses of the cone with W p = −q, one for each set of them.
    fn sticks(&self) -> Option<DiscSolution> {
        let minus = self.q.map(|x| -x);
        let set = solve_any_rank(&self.w, &minus, SINGULAR);
        let size = self.w.iter().fold(1.0f64, |s, x| s.max(x.abs()));
        let dependent = !set.directions.is_empty();
        if dependent && set.inconsistency > ZERO * 0.1 * size {
            return None;
        }
        let point: [f64; 3] = set.point.as_slice().try_into().ok()?;
        let stick = |impulse: [f64; 3]| single(impulse, DiscKind::Stick);
        match &set.directions[..] {
            [] => {
                let tangent = point[1].hypot(point[2]);
                let inside = point[0] > 0.0 && tangent <= self.mu * point[0] * (1.0 + 1e-12);
                inside.then(|| stick(point))
            }
            [direction] => self.stick_along(point, direction.as_slice().try_into().ok()?),
            _ => self.stick_in_plane().map(stick),
        }
    }

    /// The part of a line of sticks in the cone.
    fn stick_along(&self, a: [f64; 3], b: [f64; 3]) -> Option<DiscSolution> {
        let square = self.mu * self.mu;
        let form = |x: &[f64; 3], y: &[f64; 3]| square * x[0] * y[0] - x[1] * y[1] - x[2] * y[2];
        let (second, first, zeroth) = (form(&b, &b), form(&a, &b), form(&a, &a));
        let at = |s: f64| -> [f64; 3] { std::array::from_fn(|i| a[i] + s * b[i]) };
        let size = (1.0 + square) * dot(&b, &b);
        let discriminant = first * first - second * zeroth;
        let terms = first * first + (second * zeroth).abs();
        let root = if discriminant.abs() <= 1e-14 * terms {
            0.0
        } else {
            discriminant.sqrt()
        };
        let mut set = ImpulseSet {
            dimension: 1,
            ..ImpulseSet::default()
        };
        let into = |sign: f64| b.map(|x| sign * x);
        let middle = if second < -1e-12 * size {
            // Across the cone: between two points of it.
            let (low, high) = ((-first + root) / second, (-first - root) / second);
            if !(low <= high) {
                return None;
            }
            if high - low <= 1e-9 * (1.0 + low.abs() + high.abs()) {
                set.dimension = 0;
            }
            set.ends = vec![at(low), at(high)];
            at(0.5 * (low + high))
        } else if second > 1e-12 * size {
            // Along the cone: from a point of it without end.
            let sign = b[0].signum();
            let end = (-first + sign * root) / second;
            set.ends = vec![at(end)];
            set.unbounded = vec![into(sign)];
            at(end + sign * (1.0 + end.abs()))
        } else if first.abs() > 1e-12 * size.sqrt() {
            let (end, sign) = (-0.5 * zeroth / first, first.signum());
            set.ends = vec![at(end)];
            set.unbounded = vec![into(sign)];
            at(end + sign * (1.0 + end.abs()))
        } else {
            return None;
        };
        let inside = middle[0] > 0.0;
        inside.then(|| DiscSolution {
            impulse: middle,
            kind: DiscKind::Stick,
            set: (set.dimension > 0).then_some(set),
        })
    }

    /// A stick where W has rank one, W = a aᵀ up to its sign: somewhere inside the cone with a·p = −q·a/a².
    fn stick_in_plane(&self) -> Option<[f64; 3]> {
        let a: [f64; 3] = [self.w[0], self.w[1], self.w[2]];
        // W_NN = 1 here, so that the row of the normal is a itself.
        let height = -self.q[0];
        let size = a[1].hypot(a[2]);
        let t = if size > 0.0 {
            [a[1] / size, a[2] / size]
        } else {
            [1.0, 0.0]
        };
        let part = if height > 0.0 {
            0.5 * self.mu
        } else if height < 0.0 && self.mu * size > 1.0 {
            -0.5 * (self.mu + 1.0 / size)
        } else {
            return None;
        };
        let normal = height / (1.0 + part * size);
        Some([normal, normal * part * t[0], normal * part * t[1]])
    }
}

/// Roots on the circle of a trigonometric polynomial of degree at most two: its
/// critical points split the circle in monotone arcs, each bisected; a critical point with a value up to `touching` is a double root.
fn trigonometric_roots(f: &dyn Fn(f64) -> f64, touching: f64) -> Vec<f64> {
    // The five coefficients by discrete Fourier sums on eight points.
    let mut coefficient = [0.0; 5];
    for j in 0..8 {
        let angle = j as f64 * PI / 4.0;
        let value = f(angle) / 4.0;
        coefficient[0] += 0.5 * value;
        coefficient[1] += value * angle.cos();
        coefficient[2] += value * angle.sin();
        coefficient[3] += value * (2.0 * angle).cos();
        coefficient[4] += value * (2.0 * angle).sin();
    }
    let slope = |x: f64| {
        -coefficient[1] * x.sin() + coefficient[2] * x.cos()
            - 2.0 * coefficient[3] * (2.0 * x).sin()
            + 2.0 * coefficient[4] * (2.0 * x).cos()
    };
    let bisect = |g: &dyn Fn(f64) -> f64, mut low: f64, mut high: f64| {
        let sign = g(low) > 0.0;
        for _ in 0..70 {
            let middle = 0.5 * (low + high);
            if (g(middle) > 0.0) == sign {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    };
    // Round the circle, from one critical point to the next: the last arc ends where the first began, so that no root is
    // lost to rounding at the ends of an interval.
    let points = 720;
    let place = |j: usize| -PI + 2.0 * PI * j as f64 / points as f64;
    let slopes: Vec<f64> = (0..points).map(|j| slope(place(j))).collect();
    let mut knots = Vec::new();
    for j in 0..points {
        if (slopes[j] > 0.0) != (slopes[(j + 1) % points] > 0.0) {
            knots.push(bisect(&slope, place(j), place(j + 1)));
        }
    }
    let mut roots = Vec::new();
    for (k, &knot) in knots.iter().enumerate() {
        let next = knots.get(k + 1).map_or(knots[0] + 2.0 * PI, |&next| next);
        let values = (f(knot), f(next));
        if values.0.abs() <= touching {
            roots.push(knot);
        } else if values.1.abs() > touching && (values.0 > 0.0) != (values.1 > 0.0) {
            roots.push(bisect(f, knot, next));
        }
    }
    roots
}

#[cfg(test)]
mod tests;
