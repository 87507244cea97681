//! States of a world read back from its run folder.

use std::path::Path;

use stickslip::internals::paraview::{ContactGlyph, WorldShot};
use stickslip::records::{TrajectoryFileError, TrajectoryReader};
use stickslip::systems::world::{BodyMotion, Dimension, Pose, Twist, World};

/// Reads the states of chosen rows of a run, with their contacts where they were recorded.
///
/// `chosen` tells from number and time of a row whether it is wanted.
pub fn read_shots(
    folder: &Path,
    world: &World,
    chosen: impl Fn(u64, f64) -> bool,
) -> Result<Vec<WorldShot>, TrajectoryFileError> {
    let mut trajectory = TrajectoryReader::open(&folder.join("trajectory.npy"))?;
    let names = trajectory.columns().to_vec();
    let column = |name: &str| names.iter().position(|n| n == name);
    let (time, step) = (column("t").unwrap_or(0), column("dt").unwrap_or(0));
    let recorded = world.recording.bodies(world.bodies.len());
    let path = folder.join("bodies.npy");
    let mut table = if path.exists() {
        Some(TrajectoryReader::open(&path)?)
    } else {
        None
    };
    let first: Vec<Option<usize>> = recorded
        .iter()
        .map(|&k| column(&format!("{}.x", world.bodies[k as usize].name)))
        .collect();
    let (mut shots, mut steps) = (Vec::new(), Vec::new());
    let (mut row, mut body_row) = (Vec::new(), Vec::new());
    let mut number = 0;
    while trajectory.next_row(&mut row)? {
        if let Some(table) = &mut table {
            table.next_row(&mut body_row)?;
        }
        let t = row[time];
        if chosen(number, t) {
            let mut shot = WorldShot {
                t,
                bodies: unrecorded(world, t),
                contacts: Vec::new(),
            };
            for (j, &k) in recorded.iter().enumerate() {
                let state = if table.is_some() {
                    body_row.get(13 * j..13 * j + 13).map(of_table)
                } else {
                    first[j].and_then(|at| of_columns(&row[at..], world.dimension))
                };
                shot.bodies[k as usize] = state.or(shot.bodies[k as usize]);
            }
            shots.push(shot);
            steps.push(row[step]);
        }
        number += 1;
    }
    read_contacts(folder, &mut shots, &steps)?;
    Ok(shots)
}

/// Bodies whose motion is known without a record: fixed and driven ones.
fn unrecorded(world: &World, t: f64) -> Vec<Option<(Pose, Twist)>> {
    let known = |body: &stickslip::systems::world::WorldBody| match &body.motion {
        BodyMotion::Free => None,
        BodyMotion::Fixed => Some(body.start),
        BodyMotion::Driven(motion) => Some((motion.pose(t), motion.velocity(t))),
    };
    world.bodies.iter().map(known).collect()
}

/// Place, quaternion, velocity, spin.
fn of_table(n: &[f64]) -> (Pose, Twist) {
    let pose = Pose {
        position: [n[0], n[1], n[2]],
        rotation: [n[3], n[4], n[5], n[6]],
    };
    let twist = Twist {
        velocity: [n[7], n[8], n[9]],
        spin: [n[10], n[11], n[12]],
    };
    (pose, twist)
}

fn of_columns(n: &[f64], dimension: Dimension) -> Option<(Pose, Twist)> {
    match dimension {
        Dimension::Space => n.get(..13).map(of_table),
        Dimension::Plane => {
            let n = n.get(..6)?;
            let twist = Twist {
                velocity: [n[3], n[4], 0.0],
                spin: [0.0, 0.0, n[5]],
            };
            Some((Pose::planar(n[0], n[1], n[2]), twist))
        }
    }
}

/// Gives each state the contacts of its step; both files are in the order of time.
fn read_contacts(
    folder: &Path,
    shots: &mut [WorldShot],
    steps: &[f64],
) -> Result<(), TrajectoryFileError> {
    let path = folder.join("contacts.npy");
    if !path.exists() {
        return Ok(());
    }
    let mut reader = TrajectoryReader::open(&path)?;
    let mut row = Vec::new();
    let mut at = 0;
    while reader.next_row(&mut row)? {
        let t = row[1];
        while at < shots.len() && shots[at].t < t {
            at += 1;
        }
        let Some(shot) = shots.get_mut(at) else { break };
        if shot.t != t {
            continue;
        }
        let h = steps[at];
        let vector = |k: usize| [row[k], row[k + 1], row[k + 2]];
        let force = vector(13).map(|p| if h > 0.0 { p / h } else { 0.0 });
        shot.contacts.push(ContactGlyph {
            bodies: [row[2] as u32, row[3] as u32],
            place: vector(5),
            normal: vector(8),
            gap: row[11],
            mode: row[12],
            force,
        });
    }
    Ok(())
}
