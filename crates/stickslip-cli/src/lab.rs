//! `stickslip lab`: the laboratory, a static site in which the scenes of the gallery run in the browser.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use stickslip::scene::{Scene, gallery};
use stickslip_view::{Page, engine};

use crate::exit::{Failure, complain, note};
use crate::lab_guides::{GUIDES, Guide};
use crate::lab_pictures::thumbnail;
use crate::view::live_scene;

/// Build the laboratory: a folder of plain files, to be opened from disk or put on any web server, in which every scene of the gallery
/// runs in the browser.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  stickslip lab --output site && xdg-open site/index.html")]
pub struct LabArgs {
    /// Folder of the site; made if it is not there.
    #[arg(long, value_name = "DIR", default_value = "site")]
    output: PathBuf,
    /// Scenes to take; all of the gallery if none is given.
    #[arg(value_name = "NAME")]
    scenes: Vec<String>,
    /// Leave out the pictures, which need a run of every scene.
    #[arg(long)]
    no_pictures: bool,
}

/// Runs the subcommand.
pub fn run(args: &LabArgs) -> ExitCode {
    match build(args) {
        Ok(count) => {
            let index = args.output.join("index.html");
            say!("{}: {count} scenes", index.display());
            ExitCode::SUCCESS
        }
        Err(message) => complain(message),
    }
}

/// One scene of the site.
struct Entry {
    name: String,
    title: String,
    look_for: String,
    picture: bool,
}

fn build(args: &LabArgs) -> Result<usize, Failure> {
    for folder in ["scenes", "pictures"] {
        let path = args.output.join(folder);
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let mut entries = Vec::new();
    for found in gallery() {
        let wanted = args.scenes.is_empty() || args.scenes.iter().any(|name| name == found.name);
        if !wanted {
            continue;
        }
        let scene = Scene::read(found.source())?;
        let mut live = match live_scene(found.name, &scene) {
            Ok(live) => live,
            Err(reason) => {
                note(reason);
                continue;
            }
        };
        if let Some(guide) = GUIDES.iter().find(|guide| guide.scene == found.name) {
            live.guide = guide.text.iter().map(|text| (*text).to_string()).collect();
            live.map = guide
                .map
                .map(|axes| axes.map(|(name, from, to)| (name.to_string(), from, to)));
            live.gap = guide.gap.unwrap_or(live.gap);
        }
        // Plain data with text keys.
        let json = serde_json::to_string(&live).unwrap_or_default();
        let script = format!("window.stickslipScene = {json};\n");
        save(
            &args
                .output
                .join("scenes")
                .join(format!("{}.js", found.name)),
            &script,
        )?;
        let picture = !args.no_pictures && draw(args, found.name, &scene)?;
        entries.push(Entry {
            name: found.name.to_string(),
            title: scene.title.clone(),
            look_for: scene.look_for.clone(),
            picture,
        });
    }
    if entries.is_empty() {
        return Err("no scene of the gallery has such a name; `stickslip list` shows them".into());
    }
    save(
        &args.output.join("engine.js"),
        &format!("window.stickslipEngine = \"{}\";\n", engine()),
    )?;
    let marker = "<script type=\"application/json\" id=\"site\">{}</script>\n";
    save(
        &args.output.join("lab.html"),
        &Page::new("Stickslip laboratory").with_markup(marker).html(),
    )?;
    save(&args.output.join("index.html"), &index(&entries))?;
    Ok(entries.len())
}

fn draw(args: &LabArgs, name: &str, scene: &Scene) -> Result<bool, Failure> {
    let Some(svg) = thumbnail(name, scene) else {
        return Ok(false);
    };
    save(
        &args.output.join("pictures").join(format!("{name}.svg")),
        &svg,
    )?;
    Ok(true)
}

fn save(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?)
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

fn card(entry: &Entry, title: &str, text: &str) -> String {
    let picture = match entry.picture {
        true => format!(
            "<img src=\"pictures/{}.svg\" alt=\"\" loading=\"lazy\">",
            entry.name
        ),
        false => String::new(),
    };
    format!(
        "<a class=\"card\" href=\"lab.html#scene={}\">{picture}<h3>{}</h3><p>{}</p></a>\n",
        entry.name,
        escaped(title),
        escaped(text)
    )
}

const STYLE: &str = ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,'Segoe UI','Liberation Sans',sans-serif;max-width:1180px;margin:0 auto;padding:24px 16px}\
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(250px,1fr));gap:16px}\
.card{border:1px solid #8886;border-radius:10px;padding:12px;color:inherit;text-decoration:none}.card:hover,.card:focus{border-color:#0072b2}\
.card h3{margin:8px 0 4px;font-size:16px}.card p{margin:0;font-size:13.5px;opacity:.85}.card img{width:100%;height:150px;object-fit:contain;background:#fff;border-radius:6px}";

fn index(entries: &[Entry]) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <link rel=\"icon\" href=\"data:,\"><title>Stickslip laboratory</title><style>{STYLE}</style></head><body>\n\
         <h1>Stickslip laboratory</h1>\n<p>Contact, impacts and dry friction, computed in this page: move a slider, and motion, energy and verdict follow.</p>\n"
    );
    let guided: Vec<(&Guide, &Entry)> = GUIDES
        .iter()
        .filter_map(|guide| Some((guide, entries.iter().find(|e| e.name == guide.scene)?)))
        .collect();
    if !guided.is_empty() {
        page.push_str("<h2>Six paradoxes, guided</h2>\n<div class=\"cards\">\n");
        for (guide, entry) in guided {
            page.push_str(&card(entry, guide.title, guide.text[0]));
        }
        page.push_str("</div>\n");
    }
    page.push_str("<h2>The gallery</h2>\n<div class=\"cards\">\n");
    for entry in entries {
        page.push_str(&card(entry, &entry.title, &entry.look_for));
    }
    // Writing to a string does not fail.
    let _ = write!(
        page,
        "</div>\n<p>stickslip {}</p></body></html>\n",
        env!("CARGO_PKG_VERSION")
    );
    page
}
