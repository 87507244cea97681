//! `stickslip view`: a run as one page.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use stickslip::scene::Scene;
use stickslip::view::{ViewData, ViewOptions};
use stickslip_view::{LiveScene, Page};

use crate::exit::{Failure, complain, note, say};
use crate::interrupt::Interrupt;
use crate::scene_argument::{self, SceneOptions};

/// Show a run, or a scene that is run first, in the browser: one file that needs no server.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  \
        stickslip run slender-rod && stickslip view runs/slender-rod\n  \
        stickslip view masonry-arch\n  \
        stickslip view runs/a runs/b --html compared.html\n  \
        stickslip view painleve-rod --live        the engine runs in the page, with sliders\n\n\
        The page of a run folder is written into it as view.html, that of a scene to runs/NAME.html. It asks nothing of any network\n\
        and can be mailed. #t=0.35&c=3 behind its address restores a time and a contact.")]
pub struct ViewArgs {
    /// Folder of a run, or a scene of the gallery, or a scene file.
    #[arg(value_name = "RUN|SCENE")]
    what: String,
    /// A second run or scene to compare with.
    #[arg(value_name = "RUN|SCENE")]
    other: Option<String>,
    #[command(flatten)]
    options: SceneOptions,
    /// Write the page here and open nothing.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Do not open the browser.
    #[arg(long)]
    no_open: bool,
    /// Frames per second of simulated time; at most 600 frames if not given.
    #[arg(long, value_name = "NUMBER", value_parser = rate)]
    fps: Option<f64>,
    /// Put the engine into the page: sliders for every parameter, choice of laws, verdicts while you drag.
    #[arg(long, conflicts_with = "other")]
    live: bool,
}

fn rate(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let number = number.filter(|fps| fps.is_finite() && *fps > 0.0);
    number.ok_or_else(|| "expected a positive number".to_string())
}

/// Runs the subcommand.
pub fn run(args: &ViewArgs) -> ExitCode {
    match write(args) {
        Ok(path) => {
            say(path.display());
            if args.html.is_none() && !args.no_open && !open(&path) {
                note("no browser could be opened; open the file yourself");
            }
            ExitCode::SUCCESS
        }
        Err(message) => complain(message),
    }
}

/// Whether the argument names a run folder.
fn is_run(what: &str) -> bool {
    Path::new(what).join("run.json").exists()
}

fn write(args: &ViewArgs) -> Result<PathBuf, Failure> {
    let target = target(args);
    let page = if args.live {
        live_page(args)?
    } else {
        let mut runs = vec![data(args, &args.what)?];
        if let Some(other) = &args.other {
            runs.push(data(args, other)?);
        }
        let mut page = Page::new(&runs[0].title);
        for run in &runs {
            page = page.with_run(run)?;
        }
        page
    };
    let failed = |error: std::io::Error| format!("{}: {error}", target.display());
    if let Some(folder) = target
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(&target, page.html()).map_err(failed)?;
    Ok(target)
}

/// Where the page goes.
fn target(args: &ViewArgs) -> PathBuf {
    if let Some(path) = &args.html {
        return path.clone();
    }
    if is_run(&args.what) {
        return Path::new(&args.what).join("view.html");
    }
    let stem = Path::new(&args.what).file_stem().unwrap_or_default();
    let mut name = stem.to_string_lossy().into_owned();
    if args.live {
        name.push_str("-live");
    }
    Path::new("runs").join(format!("{name}.html"))
}

/// The data of a run folder, or of a scene that is run now.
fn data(args: &ViewArgs, what: &str) -> Result<ViewData, Failure> {
    let options = ViewOptions {
        fps: args.fps,
        ..ViewOptions::default()
    };
    if is_run(what) {
        if !args.options.changes().is_empty() {
            return Err("a run is shown as it was run: changes belong to scenes".into());
        }
        return Ok(ViewData::of_folder(Path::new(what), &options)?);
    }
    if Path::new(what).is_dir() {
        return Err(format!("{what} holds no run: `run.json` is missing").into());
    }
    let named = scene_argument::read(what, &args.options.changes())?;
    let interrupt = Interrupt::watch("interrupted");
    let observe = |_: &stickslip::records::StepRecord| match interrupt.raised() {
        true => std::ops::ControlFlow::Break(()),
        false => std::ops::ControlFlow::Continue(()),
    };
    Ok(ViewData::of_run_while(
        &named.scene,
        &named.name,
        &options,
        observe,
    )?)
}

/// A page with the engine; the scene runs in the browser.
fn live_page(args: &ViewArgs) -> Result<Page, Failure> {
    let (name, scene) = if is_run(&args.what) {
        let folder = Path::new(&args.what);
        let manifest = stickslip::scene::SceneRun::read_manifest(folder)?;
        let scene = stickslip::scene::SceneRun::read_scene(folder)?;
        (manifest.scene, scene)
    } else {
        let changes = args.options.changes();
        let named = scene_argument::load(&args.what, &changes)?;
        (named.name, named.scene)
    };
    Ok(Page::new(&scene.title).with_live(&live_scene(&name, &scene)?))
}

/// A scene for the engine in a page, which reads no files.
pub fn live_scene(name: &str, scene: &Scene) -> Result<LiveScene, Failure> {
    if let Some(file) = scene.files().first() {
        return Err(format!(
            "{name} reads the file {file}, which a page cannot: view it without --live"
        )
        .into());
    }
    Ok(LiveScene {
        name: name.to_string(),
        scene: scene.text().text().to_string(),
        guide: Vec::new(),
        map: None,
        gap: scene.settings.contact_gap.max(1e-9),
    })
}

/// Opens a file in the browser of the user; whether a program for it was found.
fn open(path: &Path) -> bool {
    let programs: &[&[&str]] = if cfg!(target_os = "macos") {
        &[&["open"]]
    } else if cfg!(windows) {
        &[&["cmd", "/C", "start", ""]]
    } else {
        &[&["xdg-open"], &["sensible-browser"], &["wslview"]]
    };
    programs.iter().any(|words| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(path);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().is_ok()
    })
}
