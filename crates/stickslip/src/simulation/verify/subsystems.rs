//! The parts of a system that know nothing of each other, each with a speed of its own.
//!
//! What moves fast tells nothing of the precision of what moves slowly beside it: slacks of a row are measured by the
//! speeds of the coordinates that it touches and of those coupled to them.

use crate::algebra::{CholeskyFactor, SymmetricMatrix};
use crate::systems::{ForceDependence, Instant, MechanicalSystem};

use super::MotionNode;
use super::place::{Place, force};

/// Nodes at which couplings are looked for, evenly over the motion.
const LOOKS: usize = 32;

/// Which velocities belong together, the largest kinetic speed of each such part, and the largest kinetic length that its forces give
/// within an interval.
pub(super) struct Subsystems {
    /// The part of each velocity, as one velocity of it.
    part: Vec<usize>,
    speed: Vec<f64>,
    given: Vec<f64>,
    /// Whether there is one part only.
    single: bool,
}

impl Subsystems {
    /// All velocities are one part.
    pub fn one(dof: usize, speed: f64, given: f64) -> Self {
        Self {
            part: vec![0; dof],
            speed: vec![speed; dof],
            given: vec![given; dof],
            single: true,
        }
    }

    /// Whether there is one part only.
    pub fn is_single(&self) -> bool {
        self.single
    }

    /// The parts of a motion, of which none is slower than `least`, the rounding of the whole. They are one where couplings are not
    /// known: meshes, quaternions, masses that change, forces without derivatives.
    pub fn of(
        system: &dyn MechanicalSystem,
        nodes: &[MotionNode],
        (speed, given): (f64, f64),
        least: f64,
    ) -> Self {
        let n = system.dof();
        let known = system.sparsity().is_none()
            && system.coordinate_count() == n
            && system.mass_is_constant()
            && !system.has_covariant_force()
            && system.past_reading().is_none()
            && system.controllers().is_empty();
        let mut parts = Self {
            part: (0..n).collect(),
            speed: vec![least; n],
            given: vec![0.0; n],
            single: false,
        };
        let stride = nodes.len().div_ceil(LOOKS).max(1);
        let mut looks = nodes.iter().step_by(stride);
        if !known || nodes.is_empty() || !looks.all(|node| parts.couple(system, node)) {
            return Self::one(n, speed, given);
        }
        if parts.part.iter().all(|part| *part == parts.part[0]) {
            return Self::one(n, speed, given);
        }
        parts.measure(system, nodes);
        parts
    }

    /// Speed of the part that a row touches, the largest if several; that of the whole is at least this.
    pub fn speed_of(&self, row: &[f64]) -> f64 {
        self.largest(&self.speed, row)
    }

    /// Kinetic length that forces give within an interval to the part that a row touches.
    pub fn given(&self, row: &[f64]) -> f64 {
        self.largest(&self.given, row)
    }

    fn largest(&self, sizes: &[f64], row: &[f64]) -> f64 {
        if self.single {
            return sizes.first().copied().unwrap_or(0.0);
        }
        let touched = row.iter().zip(sizes).filter(|(g, _)| **g != 0.0);
        let size = touched.map(|(_, s)| *s).reduce(f64::max);
        size.unwrap_or_else(|| sizes.iter().copied().fold(0.0, f64::max))
    }

    /// The same of one velocity.
    pub fn speed(&self, i: usize) -> f64 {
        self.speed[i]
    }

    /// Whether two rows touch the same part.
    pub fn share(&self, a: &[f64], b: &[f64]) -> bool {
        let part = |row: &[f64]| row.iter().position(|g| *g != 0.0).map(|i| self.part[i]);
        self.single || part(a) == part(b)
    }

    /// The entries of x that belong to the parts that a row touches.
    pub fn restricted(&self, x: &[f64], row: &[f64]) -> Vec<f64> {
        if self.single {
            return x.to_vec();
        }
        let touched = |i: usize| {
            row.iter()
                .zip(&self.part)
                .any(|(g, p)| *g != 0.0 && *p == self.part[i])
        };
        let entry = |(i, x): (usize, &f64)| if touched(i) { *x } else { 0.0 };
        x.iter().enumerate().map(entry).collect()
    }

    fn join(&mut self, i: usize, j: usize) {
        let (a, b) = (self.part[i], self.part[j]);
        self.part
            .iter_mut()
            .filter(|p| **p == b)
            .for_each(|p| *p = a);
    }

    fn join_row(&mut self, row: &[f64]) {
        let touched: Vec<usize> = (0..row.len()).filter(|&i| row[i] != 0.0).collect();
        touched
            .windows(2)
            .for_each(|pair| self.join(pair[0], pair[1]));
    }

    fn join_matrix(&mut self, matrix: &SymmetricMatrix) {
        let n = self.part.len();
        for e in (0..n * n).filter(|e| matrix.get(e / n, e % n) != 0.0) {
            self.join(e / n, e % n);
        }
    }

    /// Joins what is coupled at a node by mass, forces, contacts and joints; false where that is not known.
    fn couple(&mut self, system: &dyn MechanicalSystem, node: &MotionNode) -> bool {
        let n = self.part.len();
        let place = Place::at(system, node.t, &node.q, &node.v_right);
        self.join_matrix(&place.mass);
        for row in place
            .rows
            .iter()
            .chain(&place.gradients)
            .chain(&place.joints)
        {
            self.join_row(row);
        }
        // All points of a constraint share one gap.
        for (a, b) in place.contacts.iter().zip(place.contacts.iter().skip(1)) {
            if a.constraint == b.constraint {
                let both = place.rows[a.start].iter().zip(&place.rows[b.start]);
                let row: Vec<f64> = both.map(|(a, b)| a.abs() + b.abs()).collect();
                self.join_row(&row);
            }
        }
        for contact in &place.contacts {
            let mut all = vec![0.0; n];
            for row in &place.rows[contact.start..contact.start + contact.size] {
                all.iter_mut().zip(row).for_each(|(a, g)| *a += g.abs());
            }
            self.join_row(&all);
        }
        if let Some(linear) = system.linear_part() {
            for matrix in [&linear.stiffness, &linear.damping].into_iter().flatten() {
                self.join_matrix(matrix);
            }
        }
        if system.has_potential() && !system.potential_is_linear() {
            let mut hessian = system.new_matrix();
            if !system.potential_hessian(&node.q, &mut hessian) {
                return false;
            }
            self.join_matrix(&hessian);
        }
        if system.force_dependence() == ForceDependence::State {
            let (mut dq, mut dv) = (vec![0.0; n * n], vec![0.0; n * n]);
            let at = Instant::new(node.t, &node.q, &node.v_right);
            if !system.force_derivatives(&at, &mut dq, &mut dv) {
                return false;
            }
            for e in (0..n * n).filter(|&e| dq[e] != 0.0 || dv[e] != 0.0) {
                self.join(e / n, e % n);
            }
        }
        true
    }

    /// Speeds at the nodes, and what the forces at each give until the next.
    fn measure(&mut self, system: &dyn MechanicalSystem, nodes: &[MotionNode]) {
        let n = self.part.len();
        let (mut mass, mut factor) = (system.new_matrix(), CholeskyFactor::default());
        system.mass(&nodes[0].q, &mut mass);
        let factored = factor.factor(&mass).is_ok();
        for (k, node) in nodes.iter().enumerate() {
            for v in [&node.v_left, &node.v_right] {
                let mut momentum = vec![0.0; n];
                mass.multiply(v, &mut momentum);
                self.raise((v, &momentum), 1.0, None);
            }
            if let Some(next) = nodes.get(k + 1).filter(|_| factored) {
                let push = force(system, node.t, &node.q, &node.v_right);
                let mut given = push.clone();
                factor.solve_in_place(&mut given);
                let h = next.t - node.t;
                self.raise((&given, &push), h, Some(h));
            }
        }
    }

    /// Each part is at least as fast as its own share of `h² v·p` says, and what gives that speed within `interval` gives it that length.
    fn raise(&mut self, (v, p): (&[f64], &[f64]), h: f64, interval: Option<f64>) {
        let n = self.part.len();
        for part in 0..n {
            let own = || (0..n).filter(|&i| self.part[i] == part);
            let square: f64 = own().map(|i| v[i] * p[i]).sum();
            let speed = h * square.max(0.0).sqrt();
            if !speed.is_finite() {
                continue;
            }
            for i in 0..n {
                if self.part[i] == part {
                    self.speed[i] = self.speed[i].max(speed);
                    let given = interval.map_or(0.0, |interval| interval * speed);
                    self.given[i] = self.given[i].max(given);
                }
            }
        }
    }
}
