//! The data of a picture.

use serde::Serialize;

use crate::simulation::{RunSettings, RunSummary, SummaryEvent};

use super::{
    ContactRow, Geometry, ViewBody, ViewContact, ViewLine, ViewMesh, ViewObstacle, ViewSection,
};

/// Version of the head and of the blocks that [`ViewData::encode`] writes.
pub const VIEW_FORMAT: u32 = 1;

/// A run as pictures need it. Fields that are not serialised are tables, written as blocks by [`ViewData::encode`].
///
/// ```
/// use stickslip::prelude::*;
/// use stickslip::view::{ViewData, ViewOptions};
///
/// let source = find_in_gallery("bouncing-ball").ok_or("no such scene")?.source();
/// let scene = Scene::parse(Changes::new().key("until", 0.1).apply(&source)?)?;
/// let view = ViewData::of_run(&scene, "bouncing-ball", &ViewOptions::default())?;
/// assert_eq!((view.times[0], *view.times.last().ok_or("no frame")?), (0.0, 0.1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Serialize)]
pub struct ViewData {
    /// Version of the format.
    pub format: u32,
    /// Version of the engine.
    pub engine: String,
    /// Name of the scene.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What the mechanism is.
    pub description: String,
    /// What to look for.
    pub look_for: String,
    /// Where it is taken from.
    pub source: String,
    /// How it was run.
    #[doc(hidden)]
    pub settings: RunSettings,
    /// Whether everything lies in the plane z = 0, with y up; in space z is up.
    pub planar: bool,
    /// Distinct surfaces of bodies.
    #[doc(hidden)]
    pub geometries: Vec<Geometry>,
    /// Rigid bodies.
    #[doc(hidden)]
    pub bodies: Vec<ViewBody>,
    /// Drawn shapes of a planar mechanism.
    #[doc(hidden)]
    pub lines: Vec<ViewLine>,
    /// Surface of elastic bodies.
    #[doc(hidden)]
    pub mesh: Option<ViewMesh>,
    /// Rigid obstacles of elastic bodies and the planes of a rigid body.
    #[doc(hidden)]
    pub obstacles: Vec<ViewObstacle>,
    /// Distinct friction sections.
    #[doc(hidden)]
    pub sections: Vec<ViewSection>,
    /// Contacts, declared or found in the course of the run.
    #[doc(hidden)]
    pub contacts: Vec<ViewContact>,
    /// Names of the columns of [`Self::energy`].
    pub energy_columns: Vec<String>,
    /// Names of the columns of [`Self::motion`].
    pub motion_columns: Vec<String>,
    /// Units of the columns of [`Self::motion`].
    pub motion_units: Vec<String>,
    /// What happened at contacts.
    #[doc(hidden)]
    pub events: Vec<SummaryEvent>,
    /// What is left of the run; none while it is not over. Its events and large lists are left out.
    pub summary: Option<RunSummary>,
    /// Other futures, where every branch was followed.
    #[doc(hidden)]
    pub branches: Vec<ViewBranch>,
    /// Branchings that were left out at the bound.
    pub branches_left_out: usize,
    /// What the picture leaves out or rounds.
    pub notes: Vec<String>,
    /// Time of each frame.
    #[serde(skip)]
    pub times: Vec<f64>,
    /// Time that the impulses of each frame cover.
    #[serde(skip)]
    pub spans: Vec<f64>,
    /// Place and quaternion (w, x, y, z) of each moving body in each frame.
    #[serde(skip)]
    pub poses: Vec<f64>,
    /// Points x, y of [`Self::lines`] in each frame.
    #[serde(skip)]
    pub points: Vec<f64>,
    /// Displacements x, y, z of the nodes of [`Self::mesh`] in each frame.
    #[serde(skip)]
    pub displacements: Vec<f64>,
    /// Equivalent stress of von Mises of the elements of [`Self::mesh`] in each frame.
    #[serde(skip)]
    pub stresses: Vec<f64>,
    /// Displacements of [`Self::obstacles`] in each frame, where they can move.
    #[serde(skip)]
    pub obstacle_moves: Vec<f64>,
    /// First row of each frame in [`Self::contact_rows`], and their number at the end.
    #[serde(skip)]
    pub contact_starts: Vec<usize>,
    /// Contacts, frame by frame.
    #[doc(hidden)]
    #[serde(skip)]
    pub contact_rows: Vec<ContactRow>,
    /// Energies, ledger terms summed from the start and residual in each frame.
    #[serde(skip)]
    pub energy: Vec<f64>,
    /// Coordinates and velocities in each frame.
    #[serde(skip)]
    pub motion: Vec<f64>,
}

/// One trajectory of a tree of futures, as points of the drawn shapes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ViewBranch {
    /// Branch it left.
    pub parent: Option<usize>,
    /// Time at which it left.
    pub t_start: f64,
    /// Which solution it took there.
    pub choice: usize,
    /// Whether it reached the end time.
    pub finished: bool,
    /// Times.
    #[serde(skip)]
    pub times: Vec<f64>,
    /// Points as in [`ViewData::points`], time by time.
    #[serde(skip)]
    pub points: Vec<f64>,
    /// Coordinates, time by time.
    #[serde(skip)]
    pub coordinates: Vec<f64>,
}

impl ViewData {
    /// The contacts of a frame.
    #[doc(hidden)]
    #[must_use]
    pub fn contacts_at(&self, frame: usize) -> &[ContactRow] {
        match (
            self.contact_starts.get(frame),
            self.contact_starts.get(frame + 1),
        ) {
            (Some(&from), Some(&to)) => &self.contact_rows[from..to],
            _ => &[],
        }
    }
}
