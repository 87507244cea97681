//! `stickslip export`: a run as CSV, or for ParaView.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use stickslip::internals::DrawingShape as Shape;
use stickslip::internals::paraview::{ContactFields, VtpSeries, VtuSeries, contact_columns};
use stickslip::internals::view::palette::paraview_presets;
use stickslip::records::TrajectoryReader;
use stickslip::scene::{Scene, SceneRun};
use stickslip::systems::World;

use crate::exit::{Failure, complain, say};
use crate::plot::state;
use crate::plot_command::read_run;
use crate::polydata::{Polydata, PolydataSeries};
use crate::world_run::read_shots;

/// Write a run as a table of numbers (--csv), or for ParaView: meshes as VTU, everything else as VTP files, and the PVD file of their times.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  stickslip run elastic-block\n  \
        stickslip export runs/elastic-block --every 20\n  \
        paraview runs/elastic-block/paraview/elastic-block.pvd\n  \
        stickslip export runs/sliding-block --csv --columns t,x,plane.p_n\n\n\
        Elastic bodies: displacement, velocity, stress, contact pressure, gap (not a number where no contact is), stick (1) and\n\
        slip (2). Other runs: the shapes of the scene's [[drawing]] (a rigid body: its axes) and the contact points with the\n\
        mean force of the step as a vector `force`, to be shown with the filter Glyph. A contact that the scene gives without\n\
        a material `point` lies nowhere and is left out. Worlds: NAME.pvd has the bodies as surfaces, NAME-contacts.pvd the contacts\n\
        for glyphs, NAME-chains.pvd lines between bodies that press on each other. stickslip-colours.json has the colours of plots and page,\n\
        to be imported in ParaView's color map editor (Choose Preset, Import).")]
pub struct ExportArgs {
    /// Folder of a run, finished or not.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Folder for the files (`paraview` inside the run folder if not given), or the CSV file (`trajectory.csv` inside it).
    #[arg(long, value_name = "DIR|FILE")]
    output: Option<PathBuf>,
    /// Write every n-th recorded step.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Write a table of numbers instead, columns parted by commas.
    #[arg(long)]
    csv: bool,
    /// Columns of the table; all if not given.
    #[arg(
        long,
        value_name = "NAME,NAME,...",
        value_delimiter = ',',
        requires = "csv"
    )]
    columns: Vec<String>,
}

/// Colours for ParaView, beside its files.
const PRESETS: &str = "stickslip-colours.json";

/// Runs the subcommand.
pub fn run(args: &ExportArgs) -> ExitCode {
    let written = match (args.csv, SceneRun::read_manifest(&args.folder)) {
        (_, Err(error)) => return complain(error),
        (true, Ok(_)) => csv(args),
        (false, Ok(manifest)) => paraview(args, &manifest.scene),
    };
    match written {
        Ok(text) => {
            say(text);
            ExitCode::SUCCESS
        }
        Err(message) => complain(message),
    }
}

/// Writes the table, row by row.
fn csv(args: &ExportArgs) -> Result<String, Failure> {
    let mut reader = TrajectoryReader::open(&args.folder.join("trajectory.npy"))?;
    let names = reader.columns().to_vec();
    let asked = match args.columns.is_empty() {
        true => names.clone(),
        false => args.columns.clone(),
    };
    let place = |name: &String| {
        let found = names.iter().position(|known| known == name);
        found.ok_or_else(|| {
            format!(
                "the trajectory has no column `{name}`\n  = columns: {}",
                names.join(", ")
            )
        })
    };
    let places: Result<Vec<usize>, String> = asked.iter().map(place).collect();
    let places = places?;
    let path = args
        .output
        .clone()
        .unwrap_or_else(|| args.folder.join("trajectory.csv"));
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = BufWriter::new(File::create(&path).map_err(failed)?);
    let quoted = |name: &String| match name.contains([',', '"']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.clone(),
    };
    let heads: Vec<String> = asked.iter().map(quoted).collect();
    writeln!(file, "{}", heads.join(",")).map_err(failed)?;
    let (mut row, mut line, mut count, mut kept) = (Vec::new(), String::new(), 0u64, 0u64);
    while reader.next_row(&mut row)? {
        if count.is_multiple_of(u64::from(args.every)) {
            line.clear();
            for (k, &i) in places.iter().enumerate() {
                let comma = if k == 0 { "" } else { "," };
                line.push_str(&format!("{comma}{:?}", row[i]));
            }
            writeln!(file, "{line}").map_err(failed)?;
            kept += 1;
        }
        count += 1;
    }
    file.flush().map_err(failed)?;
    Ok(format!(
        "{}: {kept} rows, {} columns",
        path.display(),
        places.len()
    ))
}

fn paraview(args: &ExportArgs, name: &str) -> Result<String, Failure> {
    let folder = args
        .output
        .clone()
        .unwrap_or_else(|| args.folder.join("paraview"));
    let scene = SceneRun::read_scene(&args.folder)?;
    // The name of a scene file may hold any sign; those of files should not.
    let plain = |c: char| {
        if c.is_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: String = name.chars().map(plain).collect();
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join(PRESETS), paraview_presets()))
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    let count = if let Some(world) = scene.world() {
        worlds(args, world, &folder, &name)?
    } else if scene
        .elastic()
        .is_some_and(|system| system.mesh().is_some())
    {
        meshes(args, &folder, &name)?
    } else {
        shapes(args, &scene, &folder, &name)?
    };
    Ok(format!("{}: {count} states", folder.display()))
}

/// Elastic bodies.
fn meshes(args: &ExportArgs, folder: &Path, name: &str) -> Result<usize, Failure> {
    let run = read_run(&args.folder)?;
    // The caller saw the mesh.
    let Some(system) = run.scene.elastic() else {
        return Ok(0);
    };
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut series = VtuSeries::new(folder, name).map_err(failed)?;
    let times = run.table.times();
    let steps = run.table.column("dt").unwrap_or_default();
    let mut written = 0;
    for row in (0..times.len()).step_by(args.every as usize) {
        let (q, v) = state(&run, system, row);
        let mut fields = ContactFields::empty(system.nodes().len());
        for surface in system.surfaces() {
            for (k, name) in contact_columns(surface).iter().enumerate() {
                let value = |word: &str| {
                    let column = run.table.column(&format!("{name}.{word}"));
                    column.map_or(0.0, |column| column[row])
                };
                let force = if steps[row] > 0.0 {
                    value("p_n") / steps[row]
                } else {
                    0.0
                };
                fields.enter(surface, k, (force, value("gap"), value("mode")));
            }
        }
        series
            .write(system, (times[row], &q, &v), Some(&fields))
            .map_err(failed)?;
        written += 1;
    }
    Ok(written)
}

/// Everything that is not a mesh: shapes and contact points, row by row.
fn shapes(args: &ExportArgs, scene: &Scene, folder: &Path, name: &str) -> Result<usize, Failure> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut reader = TrajectoryReader::open(&args.folder.join("trajectory.npy"))?;
    let names = reader.columns().to_vec();
    let find = |name: &str| names.iter().position(|known| known == name);
    let coordinates: Option<Vec<usize>> = scene
        .coordinate_names()
        .iter()
        .map(|name| find(name))
        .collect();
    let (Some(coordinates), Some(time), Some(step)) = (coordinates, find("t"), find("dt")) else {
        return Err("the trajectory is not one of this scene".into());
    };
    // Each contact has its normal impulse first, then the tangential ones.
    let normals: Vec<usize> = (0..names.len())
        .filter(|&k| names[k].ends_with(".p_n"))
        .collect();
    let gaps: Vec<Option<usize>> = normals
        .iter()
        .map(|&k| find(&names[k].replace(".p_n", ".gap")))
        .collect();
    let mut series = PolydataSeries::new(folder, name).map_err(failed)?;
    let (mut row, mut count) = (Vec::new(), 0u64);
    while reader.next_row(&mut row)? {
        count += 1;
        if !(count - 1).is_multiple_of(u64::from(args.every)) {
            continue;
        }
        let q: Vec<f64> = coordinates.iter().map(|&k| row[k]).collect();
        let (t, dt) = (row[time], row[step]);
        let mut contacts = Polydata::default();
        let (mut forces, mut gap) = (Vec::new(), Vec::new());
        for (k, place) in scene.contact_places(t, &q).into_iter().enumerate() {
            let (Some(place), Some(&first)) = (place, normals.get(k)) else {
                continue;
            };
            let mut force = [0.0; 3];
            for (axis, p) in place.axes.iter().zip(&row[first..]) {
                let size = if dt > 0.0 { p / dt } else { 0.0 };
                (0..3).for_each(|i| force[i] += size * axis[i]);
            }
            contacts.points.push(place.position);
            forces.push(force);
            gap.push(gaps[k].map_or(f64::NAN, |k| row[k]));
        }
        contacts.vectors.push(("force".to_string(), forces));
        contacts.numbers.push(("gap".to_string(), gap));
        let parts = [("bodies", bodies(scene, t, &q)), ("contacts", contacts)];
        series.write(t, &parts).map_err(failed)?;
    }
    Ok(series.finish().map_err(failed)?)
}

/// The drawn shapes, or the axes of a rigid body.
fn bodies(scene: &Scene, t: f64, q: &[f64]) -> Polydata {
    let mut data = Polydata::default();
    let flat = |p: [f64; 2]| [p[0], p[1], 0.0];
    if let Some(drawing) = scene.drawing() {
        for drawn in drawing.at(t, q) {
            match drawn.shape {
                Shape::Line(points) => data.line(points.into_iter().map(flat)),
                Shape::Circle { center, radius } => data.line((0..=48).map(|k| {
                    let angle = std::f64::consts::TAU * f64::from(k) / 48.0;
                    flat([
                        center[0] + radius * angle.cos(),
                        center[1] + radius * angle.sin(),
                    ])
                })),
                Shape::Point(point) => data.points.push(flat(point)),
            }
        }
    }
    if scene.coordinate_names().len() == 7 && scene.coordinate_names()[3] == "qw" {
        let rotation = stickslip::systems::rigid::UnitQuaternion([q[3], q[4], q[5], q[6]]);
        for axis in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
            let tip = rotation.world_from_body(axis);
            let center = [q[0], q[1], q[2]];
            data.line([center, [0, 1, 2].map(|k| center[k] + 0.1 * tip[k])]);
        }
    }
    data
}

/// States are read and written in stretches, so that memory stays bounded.
const STRETCH: u64 = 64;

/// Worlds.
fn worlds(args: &ExportArgs, world: &World, folder: &Path, name: &str) -> Result<usize, Failure> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut series = VtpSeries::new(folder, name, world).map_err(failed)?;
    let every = u64::from(args.every);
    let (mut from, mut written) = (0, 0);
    loop {
        let to = from + STRETCH * every;
        let chosen = |row: u64, _: f64| (from..to).contains(&row) && row.is_multiple_of(every);
        let shots = read_shots(&args.folder, world, chosen)?;
        for shot in &shots {
            series.write(world, shot).map_err(failed)?;
            written += 1;
        }
        if (shots.len() as u64) < STRETCH {
            break;
        }
        from = to;
    }
    Ok(written)
}
