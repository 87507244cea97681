//! Plots through the real binary: all there, well formed, none empty.

mod common;

use std::path::Path;

use common::{BLOCK, Folder};

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
fn read_png(bytes: &[u8]) -> (usize, usize, f64) {
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
    let (width, height) = (number(16) as usize, number(20) as usize);
    let length = number(33) as usize;
    assert_eq!(&bytes[37..41], b"IDAT");
    let data = &bytes[41..41 + length];
    let mut lines = miniz_oxide::inflate::decompress_to_vec_zlib(data).expect("compressed lines");
    let stride = 3 * width + 1;
    assert_eq!(lines.len(), stride * height);
    assert_eq!(&bytes[bytes.len() - 8..bytes.len() - 4], b"IEND");
    // Each line is stored as its difference from the one above.
    for at in stride..lines.len() {
        if at % stride != 0 {
            lines[at] = lines[at].wrapping_add(lines[at - stride]);
        }
    }
    let pixels = lines.iter().enumerate().filter(|(at, _)| at % stride != 0);
    let dark = pixels.filter(|(_, value)| **value < 128).count();
    (width, height, dark as f64 / (3 * width * height) as f64)
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
