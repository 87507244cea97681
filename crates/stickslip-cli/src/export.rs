//! `stickslip export`: files for ParaView from a run of elastic bodies or of a world.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use stickslip::scene::read_manifest;
use stickslip::systems::World;
use stickslip::systems::elastodynamic::{ContactFields, VtuSeries, contact_columns};
use stickslip::systems::world::VtpSeries;

use crate::exit::{complain, say};
use crate::plot::state;
use crate::plot_command::read_run;
use crate::world_run::read_shots;

/// Write a run of elastic bodies or of a world for ParaView: VTU or VTP files and the PVD files of their times.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  stickslip run elastic-block\n  \
        stickslip export runs/elastic-block --every 20\n  \
        paraview runs/elastic-block/paraview/elastic-block.pvd\n\n\
        Fields: displacement, velocity, stress, contact pressure, gap (not a number where no contact is), stick (1) and slip (2).\n\
        Worlds: NAME.pvd has the bodies as surfaces with number, mass, velocity and spin, NAME-contacts.pvd the contacts with normal, force, gap and mode for glyphs, \
        NAME-chains.pvd lines between bodies that press on each other.")]
pub struct ExportArgs {
    /// Folder of a run, finished or not.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Folder for the files; `paraview` inside the run folder if not given.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write every n-th recorded step.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
}

/// Runs the subcommand.
pub fn run(args: &ExportArgs) -> ExitCode {
    let (run, manifest) = match (read_run(&args.folder), read_manifest(&args.folder)) {
        (Ok(run), Ok(manifest)) => (run, manifest),
        (Err(error), _) => return complain(error),
        (_, Err(error)) => return complain(error),
    };
    let folder = args
        .output
        .clone()
        .unwrap_or_else(|| args.folder.join("paraview"));
    if let Some(world) = run.scene.world() {
        return export_world(args, world, &folder, &manifest.scene);
    }
    let Some(system) = run.scene.elastic().filter(|system| system.mesh().is_some()) else {
        return complain("only runs of elastic bodies on meshes and of worlds can be exported");
    };
    let failed = |error: std::io::Error| complain(format!("{}: {error}", folder.display()));
    let mut series = match VtuSeries::new(&folder, &manifest.scene) {
        Ok(series) => series,
        Err(error) => return failed(error),
    };
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
        if let Err(error) = series.write(system, (times[row], &q, &v), Some(&fields)) {
            return failed(error);
        }
        written += 1;
    }
    say(format!("{}: {written} states", folder.display()));
    ExitCode::SUCCESS
}

/// States are read and written in stretches, so that memory stays bounded.
const STRETCH: u64 = 64;

fn export_world(args: &ExportArgs, world: &World, folder: &Path, name: &str) -> ExitCode {
    let failed = |error: std::io::Error| complain(format!("{}: {error}", folder.display()));
    let mut series = match VtpSeries::new(folder, name, world) {
        Ok(series) => series,
        Err(error) => return failed(error),
    };
    let every = u64::from(args.every);
    let (mut from, mut written) = (0, 0);
    loop {
        let to = from + STRETCH * every;
        let chosen = |row: u64, _: f64| (from..to).contains(&row) && row.is_multiple_of(every);
        let shots = match read_shots(&args.folder, world, chosen) {
            Ok(shots) => shots,
            Err(error) => return complain(error),
        };
        for shot in &shots {
            if let Err(error) = series.write(world, shot) {
                return failed(error);
            }
            written += 1;
        }
        if (shots.len() as u64) < STRETCH {
            break;
        }
        from = to;
    }
    say(format!("{}: {written} states", folder.display()));
    ExitCode::SUCCESS
}
