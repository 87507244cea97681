//! Rows of a world's files: contacts of a step, bodies of a step.

use super::StepRecord;

/// Columns of `contacts.npy`, one row per present contact and kept step: step and time, the bodies and the slot between
/// them, place, normal from b to a, gap, mode, impulse on a and velocity of a relative to b in world axes.
pub const CONTACT_COLUMNS: [&str; 19] = [
    "step", "t", "a", "b", "index", "x", "y", "z", "nx", "ny", "nz", "gap", "mode", "px", "py",
    "pz", "ux", "uy", "uz",
];

/// Columns of `forces.npy`, one row per touching pair, or per touched body, and kept step: force on a from b in world axes; b is −1
/// where it stands for all others.
pub const FORCE_COLUMNS: [&str; 7] = ["step", "t", "a", "b", "fx", "fy", "fz"];

/// Numbers of a body in `bodies.npy`: place, quaternion, velocity, spin in body axes.
pub const BODY_NUMBERS: usize = 13;

/// Bodies of a world that are written, and how they are stored in a record.
#[derive(Clone, Debug, PartialEq)]
pub struct BodySelection {
    /// Their numbers.
    pub bodies: Vec<u32>,
    /// Whether the world is planar: place, angle and their velocities instead of quaternions.
    pub planar: bool,
}

impl BodySelection {
    /// Coordinates and velocities of a body in the record.
    fn parts<'a>(&self, record: &'a StepRecord, body: u32) -> (&'a [f64], &'a [f64]) {
        let (coordinates, freedoms) = if self.planar { (3, 3) } else { (7, 6) };
        let body = body as usize;
        (
            &record.q[body * coordinates..(body + 1) * coordinates],
            &record.velocity[body * freedoms..(body + 1) * freedoms],
        )
    }

    /// Appends coordinates and velocities, body by body, as named columns have them.
    pub fn fill_columns(&self, record: &StepRecord, row: &mut Vec<f64>) {
        for &body in &self.bodies {
            let (q, v) = self.parts(record, body);
            row.extend_from_slice(q);
            row.extend_from_slice(v);
        }
    }

    /// Appends [`BODY_NUMBERS`] numbers per body; in the plane with zeros and the quaternion of the angle.
    pub fn fill_table(&self, record: &StepRecord, row: &mut Vec<f64>) {
        for &body in &self.bodies {
            let (q, v) = self.parts(record, body);
            if self.planar {
                let (sin, cos) = (0.5 * q[2]).sin_cos();
                row.extend([q[0], q[1], 0.0, cos, 0.0, 0.0, sin]);
                row.extend([v[0], v[1], 0.0, 0.0, 0.0, v[2]]);
            } else {
                row.extend_from_slice(q);
                row.extend_from_slice(v);
            }
        }
    }
}

/// Appends one row per touching pair, in the columns [`FORCE_COLUMNS`]; with `bodies`, one per touched body instead.
pub fn fill_forces(record: &StepRecord, bodies: bool, rows: &mut Vec<f64>) {
    let mut sums: std::collections::BTreeMap<(i64, i64), [f64; 3]> = Default::default();
    for contact in &record.present {
        let [a, b] = contact.key.owners.map(i64::from);
        let shares = if bodies {
            [Some(((a, -1), 1.0)), Some(((b, -1), -1.0))]
        } else {
            [Some(((a, b), 1.0)), None]
        };
        for (pair, sign) in shares.into_iter().flatten() {
            let sum = sums.entry(pair).or_default();
            for (s, p) in sum.iter_mut().zip(contact.impulse) {
                *s += sign * p;
            }
        }
    }
    let scale = if record.h > 0.0 { 1.0 / record.h } else { 0.0 };
    for ((a, b), sum) in sums {
        rows.extend([record.step as f64, record.t, a as f64, b as f64]);
        rows.extend(sum.map(|p| scale * p));
    }
}

/// Appends one row per present contact, in the columns [`CONTACT_COLUMNS`].
pub fn fill_contacts(record: &StepRecord, rows: &mut Vec<f64>) {
    for contact in &record.present {
        let [a, b] = contact.key.owners.map(f64::from);
        rows.extend([
            record.step as f64,
            record.t,
            a,
            b,
            f64::from(contact.key.slot),
        ]);
        rows.extend(contact.place);
        rows.extend(contact.normal);
        rows.extend([contact.gap, f64::from(contact.mode.code())]);
        rows.extend(contact.impulse);
        rows.extend(contact.velocity);
    }
}
