//! Plots through the real binary: all there, well formed, none empty.

use std::path::Path;

use crate::common::{BLOCK, Folder};

const NAMES: [&str; 7] = [
    "motion",
    "gaps",
    "impulses",
    "timeline",
    "energy",
    "phase",
    "mechanism",
];

/// Every tag that opens is closed, in order.
fn assert_well_formed(text: &str, path: &Path) {
    let mut open: Vec<&str> = Vec::new();
    for part in text.split('<').skip(1) {
        let tag = &part[..part
            .find('>')
            .unwrap_or_else(|| panic!("{}", path.display()))];
        let name = tag
            .trim_start_matches('/')
            .split([' ', '\n', '/'])
            .next()
            .expect("a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{}", path.display());
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{}: {open:?}", path.display());
    for word in ["NaN", "inf"] {
        assert!(!text.contains(word), "{}: {word}", path.display());
    }
}

/// Size and share of dark pixels of a picture.
fn read_png(bytes: &[u8]) -> (u32, u32, f64) {
    let picture = tiny_skia::Pixmap::decode_png(bytes).expect("a picture");
    let dark =
        |p: &tiny_skia::PremultipliedColorU8| (p.red() / 3 + p.green() / 3 + p.blue() / 3) < 128;
    let count = picture.pixels().iter().filter(|p| dark(p)).count();
    let share = count as f64 / picture.pixels().len() as f64;
    (picture.width(), picture.height(), share)
}

#[test]
fn plots_of_a_run_are_whole_pictures() {
    let folder = Folder::new("plots");
    folder.write("block.toml", BLOCK);
    folder.expect(0, &["run", "block.toml", "--output", "out"]);
    for name in NAMES {
        let path = folder.path("out/plots").join(format!("{name}.svg"));
        let text = std::fs::read_to_string(&path).expect("an SVG");
        assert!(text.starts_with("<svg ") && text.contains("Block: "));
        assert_well_formed(&text, &path);
        let bytes = std::fs::read(path.with_extension("png")).expect("a PNG");
        let (width, height, dark) = read_png(&bytes);
        assert!(width >= 900 && height >= 280, "{name}: {width} x {height}");
        assert!((0.002..0.5).contains(&dark), "{name}: {dark}");
    }
    let motion = std::fs::read_to_string(folder.path("out/plots/motion.svg")).expect("an SVG");
    for label in ["x [m]", "y&apos; [m/s]", "y' [m/s]", "time t [s]"] {
        let plain = label.replace("&apos;", "'");
        assert!(motion.contains(&plain), "{label}");
    }
}

#[test]
fn plot_draws_a_folder_again() {
    let folder = Folder::new("plot-again");
    folder.expect(0, &["run", "newtons-cradle", "--quiet", "--output", "out"]);
    let (out, _) = folder.expect(0, &["plot", "out"]);
    assert!(
        out.contains("motion, gaps, impulses, timeline, energy"),
        "{out}"
    );
    folder.expect(0, &["plot", "out", "--output", "elsewhere"]);
    let read = |path: &str| std::fs::read(folder.path(path)).expect("a picture");
    assert_eq!(read("out/plots/energy.png"), read("elsewhere/energy.png"));
}

#[test]
fn long_runs_give_small_files() {
    let folder = Folder::new("long");
    folder.write("block.toml", BLOCK);
    folder.expect(
        0,
        &["run", "block.toml", "--step", "1e-5", "--output", "out"],
    );
    for name in NAMES {
        let path = folder.path("out/plots").join(format!("{name}.svg"));
        let size = std::fs::metadata(&path).expect("an SVG").len();
        assert!(size < 2_000_000, "{name}: {size} bytes");
    }
}

#[test]
fn a_damaged_trajectory_is_told() {
    let folder = Folder::new("damaged");
    folder.write("block.toml", BLOCK);
    folder.expect(0, &["run", "block.toml", "--quiet", "--output", "out"]);
    std::fs::write(folder.path("out/trajectory.npy"), b"not an array at all").expect("a file");
    let (_, err) = folder.expect(1, &["plot", "out"]);
    assert!(err.contains("trajectory.npy"), "{err}");
}
