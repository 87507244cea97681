//! The motion that a run folder holds, node by node.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::records::{StepRecord, TrajectoryReader};
use crate::simulation::RunEnd;
use crate::simulation::verify::{
    Motion, MotionNode, MotionSource, MotionSourceError, Verification,
};
use crate::stepping::PositionCorrection;
use crate::systems::MechanicalSystem;

use super::run_records::{StepLengths, judge_records};
use super::scene::Scene;
use super::scene_run::SceneRun;
use super::verification::VerifyRunError;

/// The nodes of the run of a scene in a folder, read row by row. If only every n-th step was kept, the run is made again from
/// its scene, which gives the same bits, and compared with the steps that were kept.
pub struct RunNodes<'a> {
    scene: &'a Scene,
    path: PathBuf,
    places: Places,
    run: Motion,
    /// Ends at which the run was cut, in order.
    ends: Vec<f64>,
    difference: Cell<Option<(f64, f64)>>,
}

/// Columns of the trajectory that make a node.
struct Places {
    t: usize,
    dt: usize,
    q: Vec<usize>,
    left: Vec<usize>,
    right: Vec<usize>,
    impulses: Vec<usize>,
    sliding: Vec<usize>,
    /// Displacement of the projection, where positions are corrected.
    moved: Vec<usize>,
}

impl<'a> RunNodes<'a> {
    /// The nodes of the run of `scene` in `folder`.
    pub fn open(folder: &Path, scene: &'a Scene) -> Result<Self, VerifyRunError> {
        let manifest = SceneRun::read_manifest(folder)?;
        let correction = scene.simulation()?.position_correction();
        let run = Motion::of_run(scene.discretisation()?).with_correction(correction);
        let corrected = correction != PositionCorrection::None;
        let system = scene.system()?;
        let path = folder.join("trajectory.npy");
        let columns = TrajectoryReader::open(&path)?.columns().to_vec();
        let places = Places::find(&columns, system.as_ref(), corrected).map_err(|column| {
            let path = path.display().to_string();
            VerifyRunError::Column { path, column }
        })?;
        let mut ends = manifest.earlier_ends;
        ends.push(scene.settings.until);
        Ok(Self {
            scene,
            path,
            places,
            run,
            ends,
            difference: Cell::new(None),
        })
    }

    /// How time became steps; the nodes are not in there.
    pub fn run(&self) -> &Motion {
        &self.run
    }

    /// Numbers of contacts in a row.
    pub fn contact_rows(&self) -> usize {
        self.places.impulses.len()
    }

    /// Whether only some steps were kept, and the others are computed again.
    pub fn thinned(&self) -> bool {
        self.scene.settings.every > 1
    }

    /// Time and size of the largest difference between a kept step and the same step computed again, once the nodes were
    /// gone through.
    pub fn difference(&self) -> Option<(f64, f64)> {
        self.difference.get()
    }

    /// Judges what the folder holds beside the motion.
    pub(super) fn judge_records(&self, report: &mut Verification) -> Result<(), MotionSourceError> {
        let system = self.scene.system().map_err(boxed)?;
        let system = system.as_ref();
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let systems = (system, self.scene.elastic());
        let settings = &self.scene.settings;
        let steps = StepLengths {
            fixed: settings.adaptive.is_none().then_some(settings.step),
            every: settings.every,
            ends: &self.ends,
            periods: system.controllers().iter().map(|c| c.period()).collect(),
        };
        judge_records(folder, systems, &steps, report)
    }

    /// Shows the steps that were kept.
    fn kept(
        &self,
        see: &mut dyn FnMut(&MotionNode) -> ControlFlow<()>,
    ) -> Result<(), MotionSourceError> {
        let mut rows = Kept::open(self)?;
        while let Some(node) = rows.next()? {
            if see(node).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Makes the run again, shows all its steps and compares those that were kept.
    fn again(
        &self,
        see: &mut dyn FnMut(&MotionNode) -> ControlFlow<()>,
    ) -> Result<(), MotionSourceError> {
        let every = self.scene.settings.every;
        let mut rows = Kept::open(self)?;
        let mut missing = rows.next_with_step()?;
        let mut difference: Option<(f64, f64)> = None;
        let mut failure = None;
        let mut broken = false;
        let mut node = MotionNode::default();
        let enter = |record: &StepRecord| {
            fill(&mut node, record);
            if let Some((old, h)) = &missing
                && (old.t <= node.t || record.step.is_multiple_of(every))
            {
                let size = apart((old, *h), (&node, record.h));
                if !(size <= difference.map_or(0.0, |d| d.1)) {
                    difference = Some((node.t, size));
                }
                match rows.next_with_step() {
                    Ok(next) => missing = next,
                    Err(error) => failure = Some(error),
                }
            }
            broken = see(&node).is_break();
            if broken || failure.is_some() || missing.is_none() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        repeat(self.scene, &self.ends, enter)?;
        if let Some(error) = failure {
            return Err(error);
        }
        if let Some((left, _)) = missing.filter(|_| !broken) {
            difference = Some((left.t, f64::INFINITY));
        }
        self.difference.set(difference);
        Ok(())
    }
}

impl MotionSource for RunNodes<'_> {
    fn visit(
        &self,
        see: &mut dyn FnMut(&MotionNode) -> ControlFlow<()>,
    ) -> Result<(), MotionSourceError> {
        if self.thinned() {
            self.again(see)
        } else {
            self.kept(see)
        }
    }
}

/// The rows of a trajectory as nodes, one at a time.
struct Kept<'a> {
    reader: TrajectoryReader,
    places: &'a Places,
    row: Vec<f64>,
    node: MotionNode,
}

impl<'a> Kept<'a> {
    fn open(nodes: &'a RunNodes) -> Result<Self, MotionSourceError> {
        Ok(Self {
            reader: TrajectoryReader::open(&nodes.path).map_err(boxed)?,
            places: &nodes.places,
            row: Vec::new(),
            node: MotionNode::default(),
        })
    }

    fn next(&mut self) -> Result<Option<&MotionNode>, MotionSourceError> {
        if !self.reader.next_row(&mut self.row).map_err(boxed)? {
            return Ok(None);
        }
        let Places {
            t,
            dt: _,
            q,
            left,
            right,
            impulses,
            sliding,
            moved,
        } = self.places;
        let row = &self.row;
        let take = |places: &[usize], out: &mut Vec<f64>| {
            out.clear();
            out.extend(places.iter().map(|&i| row[i]));
        };
        self.node.t = row[*t];
        take(q, &mut self.node.q);
        take(left, &mut self.node.v_left);
        take(right, &mut self.node.v_right);
        take(impulses, &mut self.node.atom);
        take(moved, &mut self.node.moved);
        take(sliding, &mut self.node.sliding);
        Ok(Some(&self.node))
    }

    /// The next node, and the length of the step that ends there.
    fn next_with_step(&mut self) -> Result<Option<(MotionNode, f64)>, MotionSourceError> {
        let node = self.next()?.cloned();
        Ok(node.map(|node| (node, self.row[self.places.dt])))
    }
}

impl Places {
    fn find(
        columns: &[String],
        system: &dyn MechanicalSystem,
        corrected: bool,
    ) -> Result<Self, String> {
        let find = |column: String| {
            let place = columns.iter().position(|c| *c == column);
            place.ok_or(column)
        };
        let named = |prefix: &str, names: &[String]| -> Result<Vec<usize>, String> {
            names
                .iter()
                .map(|n| find(format!("{prefix}{}", n.trim_end_matches('\''))))
                .collect()
        };
        // Numbers of contacts follow their contact in the order of the rows.
        let of_contacts = |kind: &str| -> Vec<usize> {
            let columns = columns.iter().enumerate();
            let found = columns.filter(|(_, name)| name.contains(kind));
            found.map(|(i, _)| i).collect()
        };
        Ok(Self {
            t: find("t".to_string())?,
            dt: find("dt".to_string())?,
            q: named("", system.coordinate_names())?,
            right: named("v_", system.velocity_names())?,
            left: named("left_", system.velocity_names())?,
            impulses: of_contacts(".p_"),
            sliding: of_contacts(".u_"),
            moved: match corrected {
                true => named("moved_", system.velocity_names())?,
                false => Vec::new(),
            },
        })
    }
}

/// The node of a record: its impulse counts as an atom after the free velocity.
fn fill(node: &mut MotionNode, record: &StepRecord) {
    node.t = record.t;
    node.q.clone_from(&record.q);
    node.v_left.clone_from(&record.velocity_left);
    node.v_right.clone_from(&record.velocity);
    node.atom.clone_from(&record.impulses);
    node.moved.clone_from(&record.projection);
    node.sliding.clone_from(&record.local_velocities);
}

/// Makes a run again, with the ends it had, and shows its steps.
pub(super) fn repeat(
    scene: &Scene,
    ends: &[f64],
    mut see: impl FnMut(&StepRecord) -> ControlFlow<()>,
) -> Result<(), MotionSourceError> {
    let mut simulation = scene.simulation().map_err(boxed)?;
    if see(simulation.record()).is_continue() {
        for &end in ends {
            if simulation.run_until(end, &mut see) != RunEnd::Finished {
                break;
            }
        }
    }
    Ok(())
}

pub(super) fn boxed(error: impl std::error::Error + Send + Sync + 'static) -> MotionSourceError {
    MotionSourceError(Box::new(error))
}

/// Largest difference of two nodes and of the steps that end there.
fn apart((a, a_step): (&MotionNode, f64), (b, b_step): (&MotionNode, f64)) -> f64 {
    let parts = [
        (&a.q, &b.q),
        (&a.v_left, &b.v_left),
        (&a.v_right, &b.v_right),
        (&a.atom, &b.atom),
        (&a.moved, &b.moved),
        (&a.sliding, &b.sliding),
    ];
    parts
        .iter()
        .flat_map(|(x, y)| x.iter().zip(y.iter()))
        .map(|(x, y)| (x - y).abs())
        .chain([(a.t - b.t).abs(), (a_step - b_step).abs()])
        .fold(
            0.0,
            |s, x| if x.is_nan() { f64::INFINITY } else { s.max(x) },
        )
}
