//! Contacts of a frame: places, frames, impulses.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::algebra::{Covectors, dot};
use crate::laws::FrictionSection;
use crate::scene::{ContactPlace, Scene};
use crate::systems::frame::orthonormal_tangents;
use crate::systems::world::{Dimension, Pose};
use crate::systems::{ElastodynamicSystem, MechanicalSystem, World};

use super::sections::SectionTable;

/// A contact of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ViewContact {
    /// Name.
    pub name: String,
    /// The two bodies of a world.
    pub bodies: Option<[u32; 2]>,
}

/// A contact in one frame. Vectors are in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactRow {
    /// Number in [`super::ViewData::contacts`].
    pub contact: u32,
    /// 0 open, 1 stick, 2 slip, 3 closed without friction.
    pub mode: u8,
    /// Number in [`super::ViewData::sections`].
    pub section: u32,
    /// Where it lies; NaN for a contact that the scene gives without a material point. Its axes are then (0, 1, 0) and (1, 0, 0).
    pub place: [f64; 3],
    /// Normal.
    pub normal: [f64; 3],
    /// First tangent; the second is normal × tangent.
    pub tangent: [f64; 3],
    /// Impulse, summed over the steps of the frame.
    pub impulse: [f64; 3],
    /// Relative velocity at the end of the frame.
    pub velocity: [f64; 3],
    /// Gap.
    pub gap: f64,
}

impl ContactRow {
    /// Numbers of a row.
    pub const WIDTH: usize = 19;

    /// The numbers of the row, in the order of the fields.
    #[must_use]
    pub fn numbers(&self) -> [f64; Self::WIDTH] {
        let mut out = [0.0; Self::WIDTH];
        (out[0], out[1], out[2]) = (
            f64::from(self.contact),
            f64::from(self.mode),
            f64::from(self.section),
        );
        let vectors = [
            self.place,
            self.normal,
            self.tangent,
            self.impulse,
            self.velocity,
        ];
        for (k, vector) in vectors.iter().enumerate() {
            out[3 + 3 * k..6 + 3 * k].copy_from_slice(vector);
        }
        out[18] = self.gap;
        out
    }

    /// Normal impulse.
    #[must_use]
    pub fn normal_impulse(&self) -> f64 {
        dot(&self.impulse, &self.normal)
    }
}

fn sum(axes: &[[f64; 3]], sizes: &[f64]) -> [f64; 3] {
    let mut out = [0.0; 3];
    for (axis, size) in axes.iter().zip(sizes) {
        (0..3).for_each(|k| out[k] += size * axis[k]);
    }
    out
}

/// Columns of a declared contact.
#[derive(Clone, Copy, Debug)]
struct Columns {
    gap: usize,
    mode: usize,
    impulse: usize,
    velocity: usize,
    rows: usize,
}

/// Contacts that the scene declares, one per contact point.
pub(super) struct DeclaredContacts {
    columns: Vec<Columns>,
    pub contacts: Vec<ViewContact>,
    /// Impulses since the last frame.
    impulses: Vec<Vec<f64>>,
    /// Whether open ones are worth a row.
    keeps_open: bool,
}

/// From this many declared contacts on, open ones have no row.
const MANY: usize = 64;

impl DeclaredContacts {
    /// Reads the places of the columns.
    pub fn find(names: &[String]) -> Self {
        let (mut columns, mut contacts) = (Vec::new(), Vec::new());
        for (k, name) in names.iter().enumerate() {
            let Some(contact) = name.strip_suffix(".p_n") else {
                continue;
            };
            let own = |column: &&String| column.starts_with(&format!("{contact}.p_"));
            let rows = names[k..].iter().take_while(own).count();
            columns.push(Columns {
                gap: k - 2,
                mode: k - 1,
                impulse: k,
                velocity: k + rows,
                rows,
            });
            contacts.push(ViewContact {
                name: contact.to_string(),
                bodies: None,
            });
        }
        Self {
            impulses: columns.iter().map(|c| vec![0.0; c.rows]).collect(),
            keeps_open: columns.len() <= MANY,
            columns,
            contacts,
        }
    }

    /// Adds the impulses of a row of the trajectory.
    pub fn add(&mut self, row: &[f64]) {
        for (columns, sum) in self.columns.iter().zip(&mut self.impulses) {
            for (sum, p) in sum.iter_mut().zip(&row[columns.impulse..]) {
                *sum += p;
            }
        }
    }

    /// Drops the impulses since the last frame.
    pub fn forget(&mut self) {
        self.impulses.iter_mut().for_each(|sum| sum.fill(0.0));
    }

    /// The rows of a frame that ends with this row of the trajectory.
    pub fn rows(
        &mut self,
        (scene, system): (&Scene, &dyn MechanicalSystem),
        (t, q): (f64, &[f64]),
        row: &[f64],
        sections: &mut SectionTable,
    ) -> Vec<ContactRow> {
        let places = match scene.elastic() {
            Some(_) => Vec::new(),
            None => scene.contact_places(t, q),
        };
        let points = system.constraints().iter().flat_map(|c| c.points());
        let laws: Vec<_> = points.map(|p| (&p.law, p.memory.is_some())).collect();
        let mut out = Vec::new();
        for (k, columns) in self.columns.iter().enumerate() {
            let impulse = std::mem::replace(&mut self.impulses[k], vec![0.0; columns.rows]);
            let mode = row[columns.mode] as u8;
            if mode == 0 && !self.keeps_open && impulse.iter().all(|p| *p == 0.0) {
                continue;
            }
            let place = match scene.elastic() {
                Some(elastic) => elastic_place(elastic, k, t, q),
                None => places.get(k).cloned().flatten(),
            };
            let place = place.unwrap_or_else(|| ContactPlace {
                position: [f64::NAN; 3],
                axes: vec![[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]],
            });
            // Friction that remembers is known to the run alone: its cone is not drawn.
            let section = match laws.get(k) {
                Some((law, false)) => law.section_at(t, q).unwrap_or_default(),
                _ => FrictionSection::None,
            };
            let velocity = &row[columns.velocity..columns.velocity + columns.rows];
            let axes = &place.axes[..];
            let normal = axes.first().copied().unwrap_or([0.0, 1.0, 0.0]);
            let across = || orthonormal_tangents(normal)[0];
            out.push(ContactRow {
                contact: k as u32,
                mode,
                section: sections.number(&section),
                place: place.position,
                normal,
                tangent: axes.get(1).copied().unwrap_or_else(across),
                impulse: sum(axes, &impulse),
                velocity: sum(axes, velocity),
                gap: row[columns.gap],
            });
        }
        out
    }
}

/// Place and axes of contact number `k` of a mesh: the position of its node, and the frame of the obstacle there. On the surface of
/// another body the axes are read off the rows of the node, so that its held directions are missing.
fn elastic_place(
    system: &ElastodynamicSystem,
    k: usize,
    t: f64,
    q: &[f64],
) -> Option<ContactPlace> {
    let surface = system
        .surfaces()
        .iter()
        .find(|s| s.constraints.contains(&k))?;
    let node = surface.nodes[k - surface.constraints.start];
    let position = system.nodes().position(t, q, node);
    let space = system.mesh()?.dimension();
    if let Some(obstacle) = &surface.obstacle {
        let (_, normal) = obstacle.gap(t, position);
        let axes = obstacle.axes(normal, space)[..space].to_vec();
        return Some(ContactPlace { position, axes });
    }
    let constraint = &system.constraints()[k];
    let (mut gradients, mut rows) = (Covectors::default(), Covectors::default());
    gradients.clear_sparse(system.dof());
    rows.clear_sparse(system.dof());
    constraint.gap().sparse_gradient(t, q, &mut gradients);
    let frame = &constraint.points().first()?.frame;
    frame.sparse_rows(t, q, (&gradients, 0), &mut rows);
    let entry = |row: usize, component: usize| {
        let dof = system.nodes().free_dof(node, component)? as u32;
        let (places, values) = rows.sparse(row);
        let at = places.iter().position(|&place| place == dof)?;
        Some(values[at])
    };
    let axis = |row: usize| std::array::from_fn(|k| entry(row, k).unwrap_or(0.0));
    let axes = (0..rows.len()).map(axis).collect();
    Some(ContactPlace { position, axes })
}

/// Contacts that a world finds, by the two bodies and the slot between them.
#[derive(Default)]
pub(super) struct FoundContacts {
    numbers: BTreeMap<[u32; 3], u32>,
    pub contacts: Vec<ViewContact>,
    /// Rows since the last frame with their times, by contact.
    waiting: BTreeMap<u32, (f64, ContactRow)>,
    /// Largest number of contacts in a frame.
    pub most: usize,
}

impl FoundContacts {
    /// Adds a row of `contacts.npy`, whose first body has the given pose.
    pub fn add(&mut self, world: &World, n: &[f64], pose: &Pose, sections: &mut SectionTable) {
        let key = [n[2] as u32, n[3] as u32, n[4] as u32];
        let next = self.contacts.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            let name = |k: u32| world.bodies.get(k as usize).map_or("", |body| &body.name);
            let slot = match key[2] {
                0 => String::new(),
                slot => format!(" ({})", slot + 1),
            };
            self.contacts.push(ViewContact {
                name: format!("{} on {}{slot}", name(key[0]), name(key[1])),
                bodies: Some([key[0], key[1]]),
            });
        }
        let vector = |k: usize| [n[k], n[k + 1], n[k + 2]];
        let (time, earlier) = self.waiting.entry(number).or_default();
        *time = n[1];
        *earlier = ContactRow {
            contact: number,
            mode: n[12] as u8,
            section: section(world, [key[0], key[1]], sections),
            place: vector(5),
            normal: vector(8),
            tangent: tangent(world, vector(8), pose),
            impulse: std::array::from_fn(|k| earlier.impulse[k] + n[13 + k]),
            velocity: vector(16),
            gap: n[11],
        };
    }

    /// Drops the contacts since the last frame.
    pub fn forget(&mut self) {
        self.waiting.clear();
    }

    /// Ends a step: contacts that it did not name are over, and keep the impulse and the place they had.
    pub fn end_step(&mut self, t: f64) {
        for (time, row) in self.waiting.values_mut() {
            if *time != t {
                row.mode = 0;
            }
        }
    }

    /// The rows of a frame; of too many, those with the largest impulses.
    pub fn rows(&mut self, most: usize) -> Vec<ContactRow> {
        let waiting = std::mem::take(&mut self.waiting);
        let mut rows: Vec<ContactRow> = waiting.into_values().map(|(_, row)| row).collect();
        self.most = self.most.max(rows.len());
        if rows.len() > most {
            let size = |row: &ContactRow| dot(&row.impulse, &row.impulse);
            rows.sort_by(|a, b| size(b).total_cmp(&size(a)).then(a.contact.cmp(&b.contact)));
            rows.truncate(most);
            rows.sort_by_key(|row| row.contact);
        }
        rows
    }
}

/// The first tangent: in the plane the normal turned clockwise; in space the x axis of the first body (its y axis where x is nearly
/// the normal) projected on the tangent plane, which is where the sections of worlds that are not round have their directions.
fn tangent(world: &World, n: [f64; 3], first: &Pose) -> [f64; 3] {
    if world.dimension == Dimension::Plane {
        return [n[1], -n[0], 0.0];
    }
    let projected = |axis: [f64; 3]| {
        let axis = first.direction(axis);
        let along = dot(&axis, &n);
        let t: [f64; 3] = std::array::from_fn(|k| axis[k] - along * n[k]);
        (t, dot(&t, &t).sqrt())
    };
    let (mut t, mut length) = projected([1.0, 0.0, 0.0]);
    if length < 0.1 {
        (t, length) = projected([0.0, 1.0, 0.0]);
    }
    t.map(|x| x / length)
}

fn section(world: &World, [a, b]: [u32; 2], sections: &mut SectionTable) -> u32 {
    let material = |k: u32| world.bodies.get(k as usize).map(|body| body.material);
    let law = material(a)
        .zip(material(b))
        .and_then(|(a, b)| world.laws.find(a, b));
    match law {
        Some(law) => sections.number(world.laws.law(law).contact.base_section()),
        None => sections.number(&FrictionSection::None),
    }
}
