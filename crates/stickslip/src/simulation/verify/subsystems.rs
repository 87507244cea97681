//! The parts of a system that know nothing of each other, each with a speed of its own.
//!
//! What moves fast or weighs much tells nothing of the precision of what moves beside it: slacks of a row are measured by the
//! speeds and impulses of the coordinates that it touches and of those coupled to them.

use crate::algebra::{CholeskyFactor, SymmetricMatrix};
use crate::systems::{ForceDependence, Instant, MechanicalSystem};

use super::MotionNode;
use super::place::Place;

/// Nodes at which couplings are looked for before every second one is left out, again and again: no motion has many more.
const LOOKS: usize = 32;

/// Which velocities belong together, and per velocity the largest kinetic speed of its part, the largest kinetic length that its forces
/// give within an interval, and its largest impulse.
pub(super) struct Subsystems {
    /// The part of each velocity, as one velocity of it.
    part: Vec<usize>,
    speed: Vec<f64>,
    given: Vec<f64>,
    impulse: Vec<f64>,
    /// Whether there is one part only.
    single: bool,
}

impl Subsystems {
    /// All velocities are one part.
    pub fn one(dof: usize, (speed, given, impulse): (f64, f64, f64)) -> Self {
        Self {
            part: vec![0; dof],
            speed: vec![speed; dof],
            given: vec![given; dof],
            impulse: vec![impulse; dof],
            single: true,
        }
    }

    /// Whether there is one part only.
    pub fn is_single(&self) -> bool {
        self.single
    }

    /// Speed of the part that a row touches, the largest if several; that of the whole is at least this.
    pub fn speed_of(&self, row: &[f64]) -> f64 {
        self.largest(&self.speed, row)
    }

    /// Kinetic length that forces give within an interval to the part that a row touches.
    pub fn given(&self, row: &[f64]) -> f64 {
        self.largest(&self.given, row)
    }

    /// Largest impulse of the motion in the part that a row touches.
    pub fn impulse_of(&self, row: &[f64]) -> f64 {
        self.largest(&self.impulse, row)
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

    /// The part that a row touches, the first if several: what acts touches one.
    pub fn part_of(&self, row: &[f64]) -> usize {
        let touched = row.iter().position(|g| *g != 0.0);
        touched.map_or(0, |i| self.part[i])
    }

    /// Whether two rows touch the same part.
    pub fn share(&self, a: &[f64], b: &[f64]) -> bool {
        self.single || self.part_of(a) == self.part_of(b)
    }

    /// All parts.
    pub fn parts(&self) -> Vec<usize> {
        let mut parts = self.part.clone();
        parts.sort_unstable();
        parts.dedup();
        parts
    }

    /// The entries of x, one per velocity, that belong to a part.
    pub fn only(&self, x: &[f64], part: usize) -> Vec<f64> {
        let pairs = x.iter().zip(&self.part);
        pairs
            .map(|(x, own)| if *own == part { *x } else { 0.0 })
            .collect()
    }

    /// The largest of the entries of x in the part of velocity i.
    pub fn largest_beside(&self, x: &[f64], i: usize) -> f64 {
        let own = self.part.get(i);
        let beside = x.iter().zip(&self.part);
        let beside = beside.filter(|(_, part)| self.single || Some(*part) == own);
        beside.fold(0.0, |s, (x, _)| s.max(x.abs()))
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
}

/// What is found out of the parts while the nodes of a motion go by.
///
/// Velocities are coupled by the mass, by forces, by joints and by contacts that act: two bodies between which there never was an impulse
/// do not act on each other, wherever a contact is declared. Laws on the reaction as a whole are stated on the normal space of all contacts, and
/// there every contact couples.
pub(super) struct Couplings<'a> {
    system: &'a dyn MechanicalSystem,
    /// Whether couplings are known: not of meshes, quaternions, forces that read the past or controllers, or forces without derivatives.
    known: bool,
    every_contact: bool,
    part: Vec<usize>,
    /// Per part, at that of its velocities which names it: the square of the speed, and the kinetic length that forces give.
    square: Vec<f64>,
    given: Vec<f64>,
    /// The contacts, found at the first look.
    contacts: Vec<Coupling>,
    seen: usize,
    stride: usize,
    looks: usize,
    looked_at: Vec<f64>,
}

/// What a contact touches: the velocities in its rows and in the gradient of its gap.
#[derive(Clone, Default)]
struct Coupling {
    rows: std::ops::Range<usize>,
    touched: Vec<bool>,
    impulse: f64,
}

impl<'a> Couplings<'a> {
    /// Nothing is known yet; `every_contact` couples, or those that act.
    pub fn new(system: &'a dyn MechanicalSystem, every_contact: bool) -> Self {
        let n = system.dof();
        let known = system.sparsity().is_none()
            && system.coordinate_count() == n
            && system.past_reading().is_none()
            && system.controllers().is_empty();
        Self {
            system,
            known,
            every_contact,
            part: (0..n).collect(),
            square: vec![0.0; n],
            given: vec![0.0; n],
            contacts: Vec::new(),
            seen: 0,
            stride: 1,
            looks: 0,
            looked_at: Vec::new(),
        }
    }

    /// Looks at a node with its mass.
    pub fn see(&mut self, node: &MotionNode, mass: &SymmetricMatrix) {
        if !self.known {
            return;
        }
        if self.seen.is_multiple_of(self.stride) {
            self.known = self.look(node);
            self.looks += 1;
            if self.looks.is_multiple_of(LOOKS) {
                self.stride *= 2;
            }
        }
        self.seen += 1;
        for k in 0..self.contacts.len() {
            let rows = self.contacts[k].rows.clone();
            let reactions = [&node.atom, &node.smooth].map(|p| p.get(rows.clone()));
            let own = reactions.into_iter().flatten().flatten();
            let size = own.fold(0.0f64, |s, p| s.max(p.abs()));
            let acts = size > 0.0 && self.contacts[k].impulse == 0.0;
            self.contacts[k].impulse = self.contacts[k].impulse.max(size);
            if acts {
                self.join_contact(k);
            }
        }
        for v in [&node.v_left, &node.v_right] {
            let mut momentum = vec![0.0; v.len()];
            mass.multiply(v, &mut momentum);
            self.raise((v, &momentum), 1.0, None);
        }
    }

    /// What forces give over an interval of length h.
    pub fn push(&mut self, force: &[f64], factor: &CholeskyFactor, h: f64) {
        if self.known {
            let mut given = force.to_vec();
            factor.solve_in_place(&mut given);
            self.raise((&given, force), h, Some(h));
        }
    }

    /// The parts of a motion with these sizes as a whole, of which none is slower than `least`, the rounding of the whole.
    pub fn parts(&self, sizes: (f64, f64, f64), least: f64) -> Subsystems {
        let n = self.part.len();
        if !self.known || self.part.iter().all(|part| *part == self.part[0]) {
            return Subsystems::one(n, sizes);
        }
        let own = |x: &[f64]| -> Vec<f64> { self.part.iter().map(|&part| x[part]).collect() };
        let mut impulse = vec![0.0; n];
        for contact in &self.contacts {
            let touched = contact.touched.iter().position(|touched| *touched);
            if let Some(i) = touched {
                let part = self.part[i];
                impulse[part] = contact.impulse.max(impulse[part]);
            }
        }
        let speed = own(&self.square);
        Subsystems {
            part: self.part.clone(),
            speed: speed.iter().map(|s| s.sqrt().max(least)).collect(),
            given: own(&self.given),
            impulse: own(&impulse),
            single: false,
        }
    }

    fn join(&mut self, i: usize, j: usize) {
        let (a, b) = (self.part[i], self.part[j]);
        if a == b {
            return;
        }
        // Their largest speeds may be those of different times: together they are at most this.
        self.square[a] += self.square[b];
        self.given[a] = self.given[a].hypot(self.given[b]);
        self.part
            .iter_mut()
            .filter(|p| **p == b)
            .for_each(|p| *p = a);
    }

    fn join_all(&mut self, touched: impl Iterator<Item = bool>) {
        let touched = touched.enumerate().filter(|(_, touched)| *touched);
        let touched: Vec<usize> = touched.map(|(i, _)| i).collect();
        touched
            .windows(2)
            .for_each(|pair| self.join(pair[0], pair[1]));
    }

    fn join_row(&mut self, row: &[f64]) {
        self.join_all(row.iter().map(|g| *g != 0.0));
    }

    fn join_contact(&mut self, k: usize) {
        let touched = self.contacts[k].touched.clone();
        self.join_all(touched.into_iter());
    }

    fn join_matrix(&mut self, matrix: &SymmetricMatrix) {
        let n = self.part.len();
        for e in (0..n * n).filter(|e| matrix.get(e / n, e % n) != 0.0) {
            self.join(e / n, e % n);
        }
    }

    /// Joins what is coupled at a node by mass, forces, contacts and joints; false where that is not known.
    fn look(&mut self, node: &MotionNode) -> bool {
        let (system, n) = (self.system, self.part.len());
        let place = Place::at(system, node.t, &node.q, &node.v_right);
        self.join_matrix(&place.mass);
        self.join_by_changing_mass(node, &place.mass);
        place.joints.iter().for_each(|row| self.join_row(row));
        self.contacts
            .resize(place.contacts.len(), Coupling::default());
        for (k, contact) in place.contacts.iter().enumerate() {
            let rows = contact.start..contact.start + contact.size;
            let own = &mut self.contacts[k];
            own.rows = rows.clone();
            own.touched.resize(n, false);
            let gradient = std::iter::once(&place.gradients[contact.constraint]);
            for row in place.rows[rows].iter().chain(gradient) {
                let entries = own.touched.iter_mut().zip(row);
                entries.for_each(|(touched, g)| *touched |= *g != 0.0);
            }
            if self.every_contact || self.contacts[k].impulse > 0.0 {
                self.join_contact(k);
            }
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
        self.looked_at.clone_from(&node.q);
        true
    }

    /// A mass that changes with a coordinate couples it: it is moved to where it was at the last look, all others held.
    fn join_by_changing_mass(&mut self, node: &MotionNode, mass: &SymmetricMatrix) {
        if self.system.mass_is_constant() {
            return;
        }
        let n = self.part.len();
        let last = std::mem::take(&mut self.looked_at);
        let (mut q, mut moved) = (node.q.clone(), self.system.new_matrix());
        for (k, &before) in last.iter().enumerate() {
            q[k] = before;
            if before != node.q[k] {
                self.system.mass(&q, &mut moved);
                for e in (0..n * n).filter(|e| moved.get(e / n, e % n) != mass.get(e / n, e % n)) {
                    self.join(k, e / n);
                    self.join(k, e % n);
                }
            }
            q[k] = node.q[k];
        }
    }

    /// Each part is at least as fast as its own share of `h² v·p` says, and what gives that speed within `interval` gives it that length.
    fn raise(&mut self, (v, p): (&[f64], &[f64]), h: f64, interval: Option<f64>) {
        let mut squares = vec![0.0; v.len()];
        for ((v, p), &part) in v.iter().zip(p).zip(&self.part) {
            squares[part] += h * h * v * p;
        }
        for (part, square) in squares.into_iter().enumerate() {
            if !square.is_finite() {
                continue;
            }
            self.square[part] = self.square[part].max(square);
            if let Some(interval) = interval {
                let given = interval * square.max(0.0).sqrt();
                self.given[part] = self.given[part].max(given);
            }
        }
    }
}
