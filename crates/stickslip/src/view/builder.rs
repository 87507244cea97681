//! From the rows of a run to frames.

use crate::records::world_rows::{BODY_NUMBERS, CONTACT_COLUMNS};
use crate::scene::{Scene, SceneError};
use crate::simulation::RunSummary;
use crate::simulation::studies::branches::BranchTree;
use crate::systems::MechanicalSystem;
use crate::systems::world::{BodyMotion, Dimension, Pose};

use super::bodies::{bodies, push_poses};
use super::contacts::{DeclaredContacts, FoundContacts};
use super::mechanism::{lines, push_points};
use super::mesh::{obstacles, push_obstacles};
use super::sections::SectionTable;
use super::{Geometry, VIEW_FORMAT, ViewBody, ViewBranch, ViewData, ViewMesh, ViewObstacle};

/// How much of a run is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewOptions {
    /// Frames per second of simulated time; as many as `frames_max` if none.
    pub fps: Option<f64>,
    /// Most frames unless `fps` is given.
    pub frames_max: usize,
    /// Growing times of the frames instead of even ones: each shows the first row at or after its time, or the last one, with
    /// the impulses of that step alone.
    pub instants: Vec<f64>,
}

impl Default for ViewOptions {
    fn default() -> Self {
        Self {
            fps: None,
            frames_max: 600,
            instants: Vec::new(),
        }
    }
}

/// Most numbers of poses and displacements; the number of frames follows.
const NUMBERS_MAX: usize = 24_000_000;
/// Most rows of contacts; of more, the strongest are kept.
const CONTACTS_MAX: usize = 240_000;
/// Systems with more coordinates show no curves of them.
const CURVES_MAX: usize = 48;
/// Longer lists of a summary are left out.
const LIST_MAX: usize = 100;

/// Turns the rows of a run into [`ViewData`].
///
/// Frames end at even times, unless [`ViewOptions::instants`] asks for others. Impulses of the steps of a frame are summed, everything else is that of its last step.
pub struct ViewBuilder<'a> {
    scene: &'a Scene,
    system: Box<dyn MechanicalSystem>,
    data: ViewData,
    declared: DeclaredContacts,
    found: FoundContacts,
    sections: SectionTable,
    /// Time between frames.
    interval: f64,
    /// Time at which the next frame ends.
    next: f64,
    /// Instants that are asked for, the latest first; none where frames are even.
    instants: Option<Vec<f64>>,
    contacts_per_frame: usize,
    /// First column of the energies.
    energy: usize,
    /// First column of each recorded body; none where bodies have a table of their own.
    body_columns: Vec<Option<usize>>,
    /// Numbers of the recorded bodies.
    recorded: Vec<u32>,
    /// Steps that no frame has ended with yet.
    waiting: Option<(Vec<f64>, Vec<f64>)>,
    span: f64,
}

fn next_instant(instants: &Option<Vec<f64>>) -> Option<f64> {
    instants.as_ref()?.last().copied()
}

impl<'a> ViewBuilder<'a> {
    /// Begins with the scene, its name and the columns of its trajectory.
    pub fn new(
        scene: &'a Scene,
        name: &str,
        columns: &[String],
        options: &ViewOptions,
    ) -> Result<Self, SceneError> {
        let system = scene.system()?;
        let mut data = ViewData {
            format: VIEW_FORMAT,
            engine: env!("CARGO_PKG_VERSION").to_string(),
            name: name.to_string(),
            title: scene.title.clone(),
            description: scene.description.clone(),
            look_for: scene.look_for.clone(),
            source: scene.source.clone(),
            settings: scene.run_settings(name),
            planar: true,
            lines: lines(scene),
            ..ViewData::default()
        };
        shapes(scene, &mut data);
        let (mut body_columns, mut recorded) = (Vec::new(), Vec::new());
        if let Some(world) = scene.world() {
            recorded = world.recording.bodies(world.bodies.len());
            let column = |&k: &u32| {
                let name = format!("{}.x", world.bodies[k as usize].name);
                columns.iter().position(|column| *column == name)
            };
            body_columns = recorded.iter().map(column).collect();
        } else {
            let (coordinates, freedoms) = (system.coordinate_count(), system.dof());
            if coordinates <= CURVES_MAX {
                data.motion_columns = columns[2..2 + coordinates + freedoms].to_vec();
            }
        }
        let find = |name: &str| columns.iter().position(|column| column == name);
        let energy = find("kinetic").unwrap_or(0);
        data.energy_columns = columns[energy..=find("residual").unwrap_or(energy)].to_vec();
        let frames = options.frames_max.min(NUMBERS_MAX / width(&data)).max(2);
        let interval = match options.fps {
            Some(fps) => 1.0 / fps,
            None => scene.settings.until / frames as f64,
        };
        let expected = match options.instants.len() {
            0 => (scene.settings.until / interval).ceil().max(1.0) as usize,
            count => count,
        };
        let mut instants: Option<Vec<f64>> = None;
        if !options.instants.is_empty() {
            instants = Some(options.instants.iter().rev().copied().collect());
        }
        Ok(Self {
            declared: match scene.world() {
                Some(_) => DeclaredContacts::find(&[]),
                None => DeclaredContacts::find(columns),
            },
            found: FoundContacts::default(),
            sections: SectionTable::default(),
            interval,
            next: next_instant(&instants).unwrap_or(f64::NEG_INFINITY),
            instants,
            contacts_per_frame: (CONTACTS_MAX / expected).max(100),
            energy,
            body_columns,
            recorded,
            waiting: None,
            span: 0.0,
            scene,
            system,
            data,
        })
    }

    /// Adds a row of the trajectory, with the row of `bodies.npy` where there is one and the rows of `contacts.npy` of this step.
    pub fn push(&mut self, row: &[f64], bodies: &[f64], contacts: &[f64]) {
        let t = row[0];
        if self.instants.is_some() {
            // What was before the step is not shown.
            self.span = 0.0;
            self.found.forget();
            self.declared.forget();
        }
        self.span += row[1];
        if let Some(world) = self.scene.world() {
            for contact in contacts.chunks_exact(CONTACT_COLUMNS.len()) {
                let first = contact[2] as u32;
                let body = &world.bodies[first as usize];
                let pose = match &body.motion {
                    BodyMotion::Driven(motion) => motion.pose(t),
                    _ => self.pose(row, bodies, first).unwrap_or(body.start.0),
                };
                self.found.add(world, contact, &pose, &mut self.sections);
            }
            self.found.end_step(t);
        } else {
            self.declared.add(row);
        }
        if let Some(instants) = &mut self.instants {
            let due = t >= self.next;
            if due {
                instants.retain(|instant| *instant > t);
                self.next = instants.last().copied().unwrap_or(f64::INFINITY);
                self.close(row, bodies);
            }
            // The last row stands for instants after the end.
            let open = !due && self.next.is_finite();
            self.waiting = open.then(|| (row.to_vec(), bodies.to_vec()));
        } else if t >= self.next - 1e-6 * self.interval {
            // Within rounding of the end of a frame, or after it.
            self.close(row, bodies);
            self.next = ((t / self.interval + 1e-6).floor() + 1.0) * self.interval;
            self.waiting = None;
        } else {
            self.waiting = Some((row.to_vec(), bodies.to_vec()));
        }
    }

    /// Pose of a recorded body.
    fn pose(&self, row: &[f64], bodies: &[f64], body: u32) -> Option<Pose> {
        let place = self.recorded.binary_search(&body).ok()?;
        let first = self.body_columns.get(place).copied().flatten();
        let planar = self.scene.world()?.dimension == Dimension::Plane;
        if let (Some(first), true) = (first, planar) {
            return Some(Pose::planar(row[first], row[first + 1], row[first + 2]));
        }
        let n = match first {
            Some(first) => &row[first..],
            None => bodies.get(BODY_NUMBERS * place..BODY_NUMBERS * (place + 1))?,
        };
        Some(Pose {
            position: [n[0], n[1], n[2]],
            rotation: [n[3], n[4], n[5], n[6]],
        })
    }

    /// Ends a frame with a row.
    fn close(&mut self, row: &[f64], body_row: &[f64]) {
        let t = row[0];
        let rows = if let Some(world) = self.scene.world() {
            let mut poses = std::mem::take(&mut self.data.poses);
            let pose = |k: u32| self.pose(row, body_row, k);
            push_poses(world, &self.data.bodies, t, pose, &mut poses);
            self.data.poses = poses;
            self.found.rows(self.contacts_per_frame)
        } else {
            let q = &row[2..2 + self.system.coordinate_count()];
            if !self.data.bodies.is_empty() {
                self.data.poses.extend_from_slice(&q[..7]);
            }
            push_points(self.scene, t, q, &mut self.data.points);
            if let (Some(elastic), Some(mesh)) = (self.scene.elastic(), &self.data.mesh) {
                let (moves, stresses) = (&mut self.data.displacements, &mut self.data.stresses);
                mesh.push(elastic, (t, q), moves, stresses);
                push_obstacles(elastic, t, &mut self.data.obstacle_moves);
            }
            let motion = 2 + self.data.motion_columns.len();
            self.data.motion.extend_from_slice(&row[2..motion]);
            let who = (self.scene, self.system.as_ref());
            self.declared.rows(who, (t, q), row, &mut self.sections)
        };
        self.data.contact_starts.push(self.data.contact_rows.len());
        self.data.contact_rows.extend(rows);
        let energies = self.energy..self.energy + self.data.energy_columns.len();
        self.data.energy.extend_from_slice(&row[energies]);
        self.data.times.push(t);
        self.data.spans.push(std::mem::take(&mut self.span));
    }

    /// The data, with the summary of the run where it is over and its tree of futures where there is one.
    pub fn finish(mut self, summary: Option<&RunSummary>, tree: Option<&BranchTree>) -> ViewData {
        if let Some((row, bodies)) = self.waiting.take() {
            self.close(&row, &bodies);
        }
        let mut data = self.data;
        data.contact_starts.push(data.contact_rows.len());
        data.sections = self.sections.sections;
        data.contacts = match self.scene.world() {
            Some(_) => self.found.contacts,
            None => self.declared.contacts,
        };
        if self.found.most > self.contacts_per_frame {
            data.notes.push(format!(
                "Up to {} contacts act in a frame; the {} with the largest impulses are shown.",
                self.found.most, self.contacts_per_frame
            ));
        }
        if let Some(world) = self.scene.world() {
            let hidden = data
                .bodies
                .iter()
                .filter(|b| b.free && b.moving.is_none())
                .count();
            if hidden > 0 {
                data.notes.push(format!(
                    "The motion of {hidden} bodies was not recorded: they are shown where they began."
                ));
            }
            if !world.recording.contacts {
                data.notes
                    .push("The run did not record its contacts.".to_string());
            }
        }
        data.notes.extend(self.scene.warnings().iter().cloned());
        if let Some(summary) = summary {
            let mut kept = summary.clone();
            data.events = std::mem::take(&mut kept.events);
            if kept.coordinates.0.len() > LIST_MAX {
                kept.coordinates.0.clear();
                kept.velocities.0.clear();
            }
            if kept.contacts.len() > LIST_MAX {
                kept.contacts.clear();
            }
            data.settings = kept.settings.clone();
            data.summary = Some(kept);
        }
        if let Some(tree) = tree {
            data.branches_left_out = tree.left_out;
            data.branches = branches(self.scene, tree);
        }
        data
    }
}

/// The shapes of worlds, elastic bodies and rigid bodies.
fn shapes(scene: &Scene, data: &mut ViewData) {
    if let Some(world) = scene.world() {
        (data.bodies, data.geometries) = bodies(world);
        data.planar = world.dimension == Dimension::Plane;
    } else if let Some(elastic) = scene.elastic() {
        data.planar = elastic.mesh().is_none_or(|mesh| mesh.dimension() < 3);
        data.mesh = ViewMesh::of(elastic);
        data.obstacles = obstacles(elastic);
    } else if let Some(shape) = scene.body_shape() {
        data.planar = false;
        let (q, _) = scene.initial_state();
        data.bodies = vec![ViewBody {
            name: "body".to_string(),
            mass: shape.mass,
            free: true,
            moving: Some(0),
            start: std::array::from_fn(|k| q[k]),
            ..ViewBody::default()
        }];
        data.geometries = vec![Geometry::of_shape(&shape)];
        let plane = |&(normal, offset): &([f64; 3], f64)| ViewObstacle {
            kind: "plane",
            point: normal.map(|n| n * offset),
            direction: normal,
            radius: 0.0,
            inside: false,
        };
        data.obstacles = shape.planes.iter().map(plane).collect();
    }
}

/// Numbers of shapes in a frame, at least one.
fn width(data: &ViewData) -> usize {
    let points: usize = data.lines.iter().map(|line| 2 * line.count).sum();
    let moving = data.bodies.iter().filter(|body| body.moving.is_some());
    let mesh = data.mesh.as_ref();
    let nodes = mesh.map_or(0, |mesh| mesh.points.len() + mesh.faces.len());
    (points + 7 * moving.count() + nodes).max(1)
}

/// Times of a branch that are shown.
const BRANCH_TIMES: usize = 400;

/// The futures of a tree, as points of the drawn shapes.
fn branches(scene: &Scene, tree: &BranchTree) -> Vec<ViewBranch> {
    let seen = |branch: &crate::simulation::studies::branches::Branch| {
        let mut out = ViewBranch {
            parent: branch.parent,
            t_start: branch.t_start,
            choice: branch.choice,
            finished: branch.finished,
            ..ViewBranch::default()
        };
        let every = branch.t.len().div_ceil(BRANCH_TIMES).max(1);
        for k in 0..branch.t.len() {
            if k % every == 0 || k + 1 == branch.t.len() {
                out.times.push(branch.t[k]);
                push_points(scene, branch.t[k], &branch.q[k], &mut out.points);
                out.coordinates.extend_from_slice(&branch.q[k]);
            }
        }
        out
    };
    tree.branches.iter().map(seen).collect()
}
