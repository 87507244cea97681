//! The motion of a world that a run folder holds, step by step.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::laws::ImpactLaw;
use crate::records::world_rows::{BodySelection, fill_contacts};
use crate::records::{EnergyEntry, StepRecord, TrajectoryReader};
use crate::simulation::summary::CERTIFIED_RESIDUAL;
use crate::simulation::verify::world::{
    NodeContact, WorldJudgeSettings, WorldMotion, WorldNode, verify_world,
};
use crate::simulation::verify::{Line, MotionSourceError, Verification};
use crate::systems::World;
use crate::systems::world::{Dimension, Recording};

use super::run_nodes::{boxed, repeat};
use super::run_records::judge_files;
use super::scene::Scene;
use super::scene_run::SceneRun;
use super::verification::{NoFormulation, VerifyRunError};
use super::words::Scheme;

/// The steps of a world in a folder, read row by row. What the files do not hold (steps, bodies or contacts that were not
/// recorded, moments of rolling and drilling friction) is had by making the run again, which gives the same bits; what they
/// hold is compared.
pub(super) struct WorldNodes<'a> {
    scene: &'a Scene,
    world: &'a World,
    folder: PathBuf,
    /// Ends at which the run was cut, in order.
    ends: Vec<f64>,
    difference: Cell<Option<(f64, f64)>>,
}

/// Limit of the laws of a world, whatever was asked of its solver: a hundred times that of a certificate, whose residuals are parts of all impulses of
/// a step; here they are parts of those of bodies that act on each other.
const WORLD_LIMIT: f64 = 100.0 * CERTIFIED_RESIDUAL;

/// Numbers of a row besides those of bodies: energies and the account.
const ACCOUNT: usize = 2 + 13;
/// Where the sums of the monitors begin.
const MONITORS: usize = ACCOUNT + 1;

impl<'a> WorldNodes<'a> {
    pub fn open(folder: &Path, scene: &'a Scene, world: &'a World) -> Result<Self, VerifyRunError> {
        let mut ends = SceneRun::read_manifest(folder)?.earlier_ends;
        ends.push(scene.settings.until);
        Ok(Self {
            scene,
            world,
            folder: folder.to_path_buf(),
            ends,
            difference: Cell::new(None),
        })
    }

    /// Whether the files hold everything that a judge reads.
    pub fn complete(&self) -> bool {
        let world = self.world;
        let recorded = world.recording.bodies(world.bodies.len());
        let all = recorded.len() == world.bodies.len() && world.recording.contacts;
        // A table of the plane has quaternions instead of angles.
        let angles = world.dimension == Dimension::Space || !self.has_table();
        let moments = world.laws.laws().iter().any(|l| l.rolling || l.drilling);
        self.scene.settings.every == 1 && all && angles && !moments
    }

    fn has_table(&self) -> bool {
        let world = self.world;
        world.recording.bodies(world.bodies.len()).len() > Recording::COLUMNS_MAX
    }

    /// Time and size of the largest difference between a recorded number and the same number computed again.
    pub fn difference(&self) -> Option<(f64, f64)> {
        self.difference.get()
    }

    /// Makes the run again, shows all its steps and compares what was recorded.
    fn again(
        &self,
        see: &mut dyn FnMut(&WorldNode) -> ControlFlow<()>,
    ) -> Result<(), MotionSourceError> {
        let every = self.scene.settings.every;
        let mut rows = Rows::open(self)?;
        let mut recorded = rows.next()?;
        let mut difference: Option<(f64, f64)> = None;
        let mut failure = None;
        let mut node = WorldNode::default();
        let enter = |record: &StepRecord| {
            node.read(record);
            if let Some(row) =
                recorded.take_if(|row| row.t <= node.t || record.step.is_multiple_of(every))
            {
                let size = rows.apart(&row, record, &node);
                if !(size <= difference.map_or(0.0, |d| d.1)) {
                    difference = Some((node.t, size));
                }
                match rows.next() {
                    Ok(next) => recorded = next,
                    Err(error) => failure = Some(error),
                }
            }
            if see(&node).is_break() || failure.is_some() || recorded.is_none() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        repeat(self.scene, &self.ends, enter)?;
        if let Some(error) = failure {
            return Err(error);
        }
        if let Some(left) = recorded {
            difference = Some((left.t, f64::INFINITY));
        }
        self.difference.set(difference);
        Ok(())
    }
}

impl WorldMotion for WorldNodes<'_> {
    fn visit(
        &self,
        see: &mut dyn FnMut(&WorldNode) -> ControlFlow<()>,
    ) -> Result<(), MotionSourceError> {
        if !self.complete() {
            return self.again(see);
        }
        let mut rows = Rows::open(self)?;
        let mut node = WorldNode::default();
        while let Some(row) = rows.next()? {
            rows.fill(&row, &mut node);
            if see(&node).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// A row of the trajectory with the bodies and contacts of its step.
struct Row {
    step: f64,
    t: f64,
    h: f64,
    bodies: Vec<f64>,
    account: Vec<f64>,
    contacts: Vec<Vec<f64>>,
}

/// The files of a world, row by row.
struct Rows<'a> {
    world: &'a World,
    recorded: Vec<u32>,
    /// Numbers of the monitors.
    monitors: usize,
    trajectory: TrajectoryReader,
    table: Option<TrajectoryReader>,
    contacts: Option<TrajectoryReader>,
    /// The first contact of a later row.
    waiting: Option<Vec<f64>>,
    /// Rows read: where every step is kept, the number of the next one.
    read: f64,
}

impl<'a> Rows<'a> {
    fn open(nodes: &WorldNodes<'a>) -> Result<Self, MotionSourceError> {
        let open = |name: &str| TrajectoryReader::open(&nodes.folder.join(name)).map_err(boxed);
        let mut contacts = if nodes.world.recording.contacts {
            Some(open("contacts.npy")?)
        } else {
            None
        };
        let waiting = next_row(&mut contacts)?;
        Ok(Self {
            world: nodes.world,
            recorded: nodes.world.recording.bodies(nodes.world.bodies.len()),
            monitors: (nodes.world.monitors.iter())
                .map(|monitor| monitor.columns().len())
                .sum(),
            trajectory: open("trajectory.npy")?,
            table: if nodes.has_table() {
                Some(open("bodies.npy")?)
            } else {
                None
            },
            contacts,
            waiting,
            read: 0.0,
        })
    }

    fn next(&mut self) -> Result<Option<Row>, MotionSourceError> {
        let mut row = Vec::new();
        if !self.trajectory.next_row(&mut row).map_err(boxed)? {
            // Contacts of no step are no part of the run.
            if let Some(left) = self.waiting.take() {
                let t = left[1];
                let empty = Row {
                    step: f64::NAN,
                    t,
                    h: f64::NAN,
                    bodies: Vec::new(),
                    account: Vec::new(),
                    contacts: vec![left],
                };
                return Ok(Some(empty));
            }
            return Ok(None);
        }
        let (t, h) = (row[0], row[1]);
        let (bodies, rest) = match next_row(&mut self.table)? {
            Some(table) => (table, &row[2..]),
            None => {
                let numbers = self.world.dimension.coordinates() + self.world.dimension.freedoms();
                let end = (2 + numbers * self.recorded.len()).min(row.len());
                (row[2..end].to_vec(), &row[end..])
            }
        };
        let mut contacts = Vec::new();
        while let Some(contact) = self.waiting.take_if(|contact| !(contact[1] > t)) {
            contacts.push(contact);
            self.waiting = next_row(&mut self.contacts)?;
        }
        let step = self.read;
        self.read += 1.0;
        Ok(Some(Row {
            step,
            t,
            h,
            bodies,
            account: rest.to_vec(),
            contacts,
        }))
    }

    /// A node of rows that hold everything; what is not one becomes a node that is not well formed.
    fn fill(&self, row: &Row, node: &mut WorldNode) {
        let dimension = self.world.dimension;
        (node.t, node.h) = (row.t, row.h);
        node.q.clear();
        node.v.clear();
        let coordinates = dimension.coordinates();
        for body in row.bodies.chunks(coordinates + dimension.freedoms()) {
            let (q, v) = body.split_at(coordinates.min(body.len()));
            node.q.extend_from_slice(q);
            node.v.extend_from_slice(v);
        }
        let number = |k: usize| row.account.get(k).copied().unwrap_or(f64::NAN);
        node.kinetic = number(0);
        node.potential = number(1);
        let mut k = 2;
        node.totals = EnergyEntry::from_terms(|| {
            k += 1;
            number(k - 1)
        });
        // After the account comes the residual, a diagnosis.
        let monitors = (0..self.monitors).map(|k| number(MONITORS + k));
        node.monitors.clear();
        node.monitors.extend(monitors);
        node.contacts.clear();
        node.contacts
            .extend(row.contacts.iter().map(|c| contact(c, row)));
    }

    /// Largest difference of a row and a step computed again.
    fn apart(&self, row: &Row, record: &StepRecord, node: &WorldNode) -> f64 {
        let mut numbers = vec![node.kinetic, node.potential];
        numbers.extend(node.totals.terms().map(|(_, value)| value));
        let mut off = difference(&row.account[..ACCOUNT.min(row.account.len())], &numbers);
        off = off.max(difference(&[row.t, row.h], &[node.t, node.h]));
        let monitors = row.account.get(MONITORS..).unwrap_or_default();
        off = off.max(difference(monitors, &node.monitors));
        let selection = BodySelection {
            bodies: self.recorded.clone(),
            planar: self.world.dimension == Dimension::Plane,
        };
        numbers.clear();
        if self.table.is_some() {
            selection.fill_table(record, &mut numbers);
        } else {
            selection.fill_columns(record, &mut numbers);
        }
        off = off.max(difference(&row.bodies, &numbers));
        if self.contacts.is_some() {
            numbers.clear();
            fill_contacts(record, &mut numbers);
            off = off.max(difference(&row.contacts.concat(), &numbers));
        }
        off
    }
}

/// Largest difference; infinite where there are more numbers on one side or some are none.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    let pairs = a.iter().zip(b).filter(|(x, y)| x.to_bits() != y.to_bits());
    pairs.map(|(x, y)| (x - y).abs()).fold(
        0.0,
        |s, x| if x.is_nan() { f64::INFINITY } else { s.max(x) },
    )
}

/// A recorded contact of the step of a row; not well formed where its numbers are not.
fn contact(c: &[f64], row: &Row) -> NodeContact {
    let vector = |k: usize| [c[k], c[k + 1], c[k + 2]];
    let whole = |x: f64| (x >= 0.0 && x.fract() == 0.0 && x < 1e9).then_some(x as usize);
    let names = [c[2], c[3], c[4], c[12]].map(whole);
    let [Some(a), Some(b), Some(index), Some(mode)] = names else {
        return NodeContact::default();
    };
    if c[1] != row.t || c[0] != row.step {
        return NodeContact::default();
    }
    NodeContact {
        bodies: [a, b],
        index,
        place: vector(5),
        normal: vector(8),
        gap: c[11],
        mode: mode.min(255) as u8,
        impulse: vector(13),
        moment: [0.0; 3],
        velocity: vector(16),
    }
}

fn next_row(reader: &mut Option<TrajectoryReader>) -> Result<Option<Vec<f64>>, MotionSourceError> {
    let mut row = Vec::new();
    let Some(reader) = reader else {
        return Ok(None);
    };
    let found = reader.next_row(&mut row).map_err(boxed)?;
    Ok(found.then_some(row))
}

impl Scene {
    /// Judges the run of a world in a folder; also tells whether steps had to be computed again.
    pub(super) fn verify_world_folder(
        &self,
        folder: &Path,
        world: &World,
    ) -> Result<(Verification, bool), VerifyRunError> {
        if let Some(reason) = outside(world) {
            return Err(reason.into());
        }
        let nodes = WorldNodes::open(folder, self, world)?;
        let judged = |tolerance: f64| -> Result<Verification, VerifyRunError> {
            let settings = WorldJudgeSettings {
                tolerance,
                ..self.world_judge_settings()
            };
            let mut report = verify_world(world, &nodes, &settings)?;
            if let Some((t, size)) = nodes.difference() {
                report.note(Line::KeptSteps, t, size, None);
            }
            judge_files(folder, &mut report)?;
            Ok(report)
        };
        let report = judged(WORLD_LIMIT)?.told_to(self.loose_tolerance(), judged)?;
        Ok((report, !nodes.complete()))
    }

    /// What a judge of this world asks, and how precisely.
    #[doc(hidden)]
    pub fn world_judge_settings(&self) -> WorldJudgeSettings {
        WorldJudgeSettings {
            theta: if self.settings.scheme == Scheme::Moreau {
                0.0
            } else {
                self.settings.theta.unwrap_or(1.0)
            },
            tolerance: WORLD_LIMIT,
            initial: self.initial_state(),
            t_start: 0.0,
        }
    }
}

/// A law whose steps hold two stages in one impulse.
fn outside(world: &World) -> Option<NoFormulation> {
    let materials = world.laws.materials();
    for (a, first) in materials.iter().enumerate() {
        for (b, second) in materials.iter().enumerate().skip(a) {
            let Some(law) = world.laws.find(a as u32, b as u32) else {
                continue;
            };
            let law = match world.laws.law(law).contact.impact() {
                ImpactLaw::Poisson { .. } => "poisson",
                ImpactLaw::Energetic { .. } => "energetic",
                _ => continue,
            };
            return Some(NoFormulation::Impact {
                constraint: format!("{first}|{second}"),
                law,
                with: ": its two stages are one impulse in a record",
            });
        }
    }
    None
}
