//! What pictures are made from: places, frames and forces against closed forms, run folders against runs in memory, tables
//! against what a reader decodes.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use stickslip::internals::view::{Block, BlockKind, ContactRow};
use stickslip::records::TrajectoryReader;
use stickslip::scene::{Changes, Scene, SceneRun, SourceText, find_in_gallery};
use stickslip::view::{ViewData, ViewOptions};

fn scene(name: &str, until: f64) -> Scene {
    let source = find_in_gallery(name).expect("in the gallery").source();
    let changes = Changes::new().key("until", until).key("every", 1);
    Scene::parse(changes.apply(&source).unwrap()).unwrap()
}

fn parse(text: &str) -> Scene {
    Scene::parse(SourceText::new("test.toml", text)).unwrap()
}

fn all() -> ViewOptions {
    ViewOptions {
        frames_max: 100_000,
        ..ViewOptions::default()
    }
}

struct Folder(PathBuf);

impl Folder {
    fn run(scene: &Scene, name: &str) -> Self {
        let unique = format!("stickslip-view-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(unique);
        let _ = std::fs::remove_dir_all(&path);
        let mut run = SceneRun::start(name, scene.clone(), &path).unwrap();
        let end = run.advance(|_| ControlFlow::Continue(())).unwrap();
        run.finish(end).unwrap();
        Self(path)
    }
    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const SLOPE: &str = r#"
    title = "Block on a slope"
    step = 1e-3
    until = 0.2
    [parameters]
    m = 2
    slope = 0.5
    [system]
    coordinates = ["x", "y"]
    kinetic_energy = "m*(x'^2 + y'^2)/2"
    potential = "m*9.81*(y*cos(slope) - x*sin(slope))"
    [[contacts]]
    name = "slope"
    gap = "y"
    point = ["x", "y"]
    friction = 0.3
    [[drawing]]
    circle = ["x", "y + 1"]
    radius = 0.5
    [[drawing]]
    line = [[-1, 0], [1, 0]]
"#;

#[test]
fn a_sliding_block_shows_its_weight_and_its_friction() {
    let view = ViewData::of_run(&parse(SLOPE), "slope", &all()).unwrap();
    let (weight, g) = (2.0 * 9.81, 9.81);
    let acceleration = g * (0.5f64.sin() - 0.3 * 0.5f64.cos());
    // The start, and two hundred steps.
    assert_eq!(view.times.len(), 201);
    for frame in 2..201 {
        let [row] = view.contacts_at(frame) else {
            panic!("one contact in every frame")
        };
        let span = view.spans[frame];
        assert!((span - 1e-3).abs() < 1e-12);
        assert!((row.impulse[1] / span - weight * 0.5f64.cos()).abs() < 1e-6);
        assert!((row.impulse[0] / span + 0.3 * weight * 0.5f64.cos()).abs() < 1e-6);
        assert_eq!(
            (row.mode, row.normal, row.tangent),
            (2, [0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
        );
        // An Euler step of the velocity moves the block a h²/2 further each step than the parabola, or less: first order.
        let t = view.times[frame];
        let x = 0.5 * acceleration * t * t;
        assert!(
            (row.place[0] - x).abs() < acceleration * t * 1e-3,
            "{} {x}",
            row.place[0]
        );
        assert_eq!(
            view.points[frame * 6..frame * 6 + 2],
            [row.place[0], row.place[1] + 1.0]
        );
        assert_eq!(
            view.points[frame * 6 + 2..frame * 6 + 6],
            [-1.0, 0.0, 1.0, 0.0]
        );
    }
    let section = &view.sections[view.contacts_at(5)[0].section as usize];
    assert_eq!(
        (section.mu, &section.outline[..]),
        (Some(0.3), &[[-0.3, 0.0], [0.3, 0.0]][..])
    );
    assert_eq!(
        (view.lines[0].radius, view.lines[0].moving),
        (Some(0.5), true)
    );
    assert_eq!((view.lines[1].radius, view.lines[1].moving), (None, false));
    assert!(view.summary.unwrap().certified);
}

#[test]
fn fewer_frames_carry_the_same_impulse() {
    let scene = scene("bouncing-ball", 1.0);
    let sum = |options: &ViewOptions| {
        let view = ViewData::of_run(&scene, "ball", options).unwrap();
        let impulse: f64 = view
            .contact_rows
            .iter()
            .map(ContactRow::normal_impulse)
            .sum();
        let span: f64 = view.spans.iter().sum();
        (view.times.len(), impulse, span)
    };
    let (frames, impulse, span) = sum(&all());
    for fps in [7.0, 30.0] {
        let options = ViewOptions {
            fps: Some(fps),
            ..ViewOptions::default()
        };
        let (fewer, same, covered) = sum(&options);
        assert!(fewer < frames && fewer as f64 >= fps, "{fewer} of {frames}");
        assert!((same - impulse).abs() < 1e-9 * impulse && (covered - span).abs() < 1e-9);
    }
    assert!(impulse > 1.0);
}

/// Frames at chosen instants are the rows at those times, with the impulses of their steps alone.
#[test]
fn instants_show_single_steps() {
    for (name, until) in [("slender-rod", 0.6), ("masonry-arch", 0.02)] {
        let scene = scene(name, until);
        let whole = ViewData::of_run(&scene, name, &all()).unwrap();
        let count = whole.times.len();
        let rows = [1, count / 3, count - 2];
        // Between two rows the later one is shown, after the end the last one.
        let mut instants: Vec<f64> = rows
            .iter()
            .map(|&k| 0.5 * (whole.times[k - 1] + whole.times[k]))
            .collect();
        instants.push(2.0 * until);
        let options = ViewOptions {
            instants,
            ..ViewOptions::default()
        };
        let few = ViewData::of_run(&scene, name, &options).unwrap();
        let expected = [rows[0], rows[1], rows[2], count - 1];
        assert_eq!(few.times, expected.map(|k| whole.times[k]), "{name}");
        assert_eq!(few.spans, expected.map(|k| whole.spans[k]), "{name}");
        let of = |view: &ViewData, frame: usize| -> Vec<(String, [f64; 3], u8)> {
            let rows = view.contacts_at(frame).iter();
            // A frame of a single step keeps contacts that ended in it as open.
            let rows = rows.filter(|row| row.mode > 0);
            rows.map(|row| {
                (
                    view.contacts[row.contact as usize].name.clone(),
                    row.impulse,
                    row.mode,
                )
            })
            .collect()
        };
        for (k, row) in expected.into_iter().enumerate() {
            let (mut one, mut other) = (of(&few, k), of(&whole, row));
            one.sort_by(|a, b| a.0.cmp(&b.0));
            other.sort_by(|a, b| a.0.cmp(&b.0));
            assert_eq!(one, other, "{name} {row}");
        }
    }
}

/// Mechanisms, a body in space, meshes, worlds of the plane and of space: the folder gives what memory gives, to the bit.
#[test]
fn a_folder_shows_what_the_run_showed() {
    for (name, until) in [
        ("slender-rod", 0.2),
        ("spinning-top", 0.02),
        ("elastic-block", 0.06),
        ("masonry-arch", 0.02),
        ("four-balls", 0.1),
        ("painleve-start", 0.02),
    ] {
        let scene = scene(name, until);
        let memory = ViewData::of_run(&scene, name, &all()).unwrap();
        let folder = Folder::run(&scene, name);
        let read = ViewData::of_folder(folder.path(), &all()).unwrap();
        assert_eq!(read.times, memory.times, "{name}");
        assert_eq!(read.poses, memory.poses, "{name}");
        assert_eq!(read.points, memory.points, "{name}");
        assert_eq!(read.displacements, memory.displacements, "{name}");
        assert_eq!(read.energy, memory.energy, "{name}");
        assert_eq!(read.branches, memory.branches, "{name}");
        let numbers = |view: &ViewData| -> Vec<u64> {
            let rows = view.contact_rows.iter().flat_map(ContactRow::numbers);
            rows.map(f64::to_bits).collect()
        };
        assert_eq!(numbers(&read), numbers(&memory), "{name}");
        assert!(!memory.contact_rows.is_empty(), "{name}");
        let seen = memory.poses.len() + memory.points.len() + memory.displacements.len();
        assert!(seen > 0, "{name} shows nothing");
        assert_eq!(name == "painleve-start", !memory.branches.is_empty());
    }
}

#[test]
fn contacts_of_a_world_are_those_of_its_file() {
    let scene = scene("masonry-arch", 0.02);
    let folder = Folder::run(&scene, "arch");
    let view = ViewData::of_folder(folder.path(), &all()).unwrap();
    let mut file = TrajectoryReader::open(&folder.path().join("contacts.npy")).unwrap();
    let (mut row, mut seen) = (Vec::new(), 0);
    while file.next_row(&mut row).unwrap() {
        let frame = view.times.iter().position(|&t| t == row[1]).unwrap();
        let place = [row[5], row[6], row[7]];
        let found = view.contacts_at(frame).iter().find(|c| c.place == place);
        let contact = found.expect("every row of the file has its contact");
        assert_eq!(contact.impulse, [row[13], row[14], row[15]]);
        assert_eq!((contact.gap, f64::from(contact.mode)), (row[11], row[12]));
        let bodies = view.contacts[contact.contact as usize].bodies;
        assert_eq!(bodies, Some([row[2] as u32, row[3] as u32]));
        seen += 1;
    }
    assert_eq!(seen, view.contact_rows.len());
    // Stones of one shape share one geometry.
    assert!(view.geometries.len() < view.bodies.len());
    assert!(view.planar);
}

/// A ball that rests on a mesh-free half-space in space: sprites need centre and radius, chains the two bodies.
#[test]
fn balls_keep_centre_and_radius() {
    let view = ViewData::of_run(&scene("four-balls", 0.05), "four-balls", &all()).unwrap();
    let ball = view.bodies.iter().find(|body| body.free).unwrap();
    let geometry = &view.geometries[ball.geometry as usize];
    assert!(geometry.faces.is_empty() && geometry.balls.len() == 1);
    assert!(!view.planar && view.contacts.iter().all(|c| c.bodies.is_some()));
    let moving = view
        .bodies
        .iter()
        .filter(|body| body.moving.is_some())
        .count();
    assert_eq!(view.poses.len(), 7 * moving * view.times.len());
}

/// Reads a block as a page does.
fn decode(block: &Block, bytes: &[u8]) -> Vec<f64> {
    let (rows, columns) = (block.rows, block.columns);
    let count = rows * columns;
    let mut out = vec![0.0; count];
    for column in 0..columns {
        let mut sum = 0u16;
        for row in 0..rows {
            let at = block.offset + column * rows + row;
            out[row * columns + column] = match block.kind {
                BlockKind::Real => {
                    let mut number = [0; 8];
                    for plane in 0..5 {
                        number[plane] = bytes[at + plane * count];
                    }
                    f64::from_be_bytes(number)
                }
                BlockKind::Fixed => {
                    let step = u16::from_be_bytes([bytes[at], bytes[at + count]]);
                    sum = sum.wrapping_add(step);
                    block.low + block.step * f64::from(sum)
                }
            };
        }
    }
    out
}

fn blocks(head: &str) -> Vec<Block> {
    let head: serde_json::Value = serde_json::from_str(head).unwrap();
    let list = head["blocks"].as_array().unwrap();
    let block = |b: &serde_json::Value| Block {
        name: b["name"].as_str().unwrap().to_string(),
        kind: match b["kind"].as_str().unwrap() {
            "real" => BlockKind::Real,
            _ => BlockKind::Fixed,
        },
        rows: b["rows"].as_u64().unwrap() as usize,
        columns: b["columns"].as_u64().unwrap() as usize,
        offset: b["offset"].as_u64().unwrap() as usize,
        low: b["low"].as_f64().unwrap(),
        step: b["step"].as_f64().unwrap(),
    };
    list.iter().map(block).collect()
}

#[test]
fn tables_come_back_within_their_rounding() {
    let mut view = ViewData::of_run(&scene("slender-rod", 0.2), "rod", &all()).unwrap();
    // Zeros, signs, the ends of the range, and what is not a number.
    view.motion[..8].copy_from_slice(&[
        0.0,
        -0.0,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::NAN,
        f64::INFINITY,
        -1e-300,
        1.0 / 3.0,
    ]);
    let encoded = view.encode();
    let blocks = blocks(&encoded.head);
    let table = |name: &str| {
        let block = blocks.iter().find(|b| b.name == name).expect("a block");
        decode(block, &encoded.bytes)
    };
    let contacts: Vec<f64> = view
        .contact_rows
        .iter()
        .flat_map(ContactRow::numbers)
        .collect();
    let motion = table("motion");
    for (name, values) in [
        ("points", &view.points),
        ("energy", &view.energy),
        ("times", &view.times),
        ("contacts", &contacts),
    ] {
        let read = table(name);
        assert_eq!(read.len(), values.len(), "{name}");
        for (a, b) in read.iter().zip(values) {
            assert!(
                (a - b).abs() <= 2f64.powi(-29) * b.abs() || a.is_nan() && b.is_nan(),
                "{name}: {a} {b}"
            );
        }
    }
    assert_eq!(motion[..2], [0.0, 0.0]);
    assert!(motion[2].is_finite() && motion[4].is_nan() && motion[5] == f64::INFINITY);
}

/// A million places of balls that fly: written as steps of the range, told so, and wrong by half a step at most.
#[test]
fn large_tables_are_rounded_and_say_so() {
    let mut view = ViewData::of_run(&scene("four-balls", 0.01), "balls", &all()).unwrap();
    let ball = view.bodies.iter().find(|body| body.free).unwrap().clone();
    let (count, frames) = (8000u32, 100);
    view.bodies = (0..count)
        .map(|k| stickslip::internals::view::ViewBody {
            moving: Some(k),
            ..ball.clone()
        })
        .collect();
    view.times = (0..frames).map(|k| f64::from(k) * 0.01).collect();
    let mut state = 7u64;
    let mut random = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let pose = |_| {
        [
            6.0 * random() - 3.0,
            random(),
            2.0 * random(),
            1.0,
            0.0,
            0.0,
            0.0,
        ]
    };
    view.poses = (0..count * frames as u32).flat_map(pose).collect();
    let encoded = view.encode();
    assert!(encoded.head.contains("Places (m) are rounded to"));
    let block = blocks(&encoded.head)
        .into_iter()
        .find(|b| b.name == "places")
        .unwrap();
    assert_eq!(
        (block.kind, block.columns),
        (BlockKind::Fixed, 3 * count as usize)
    );
    // Balls turn unseen: three numbers of two bytes a ball and frame.
    let places = decode(&block, &encoded.bytes);
    for (k, pose) in view.poses.chunks_exact(7).enumerate() {
        for axis in 0..3 {
            assert!((places[3 * k + axis] - pose[axis]).abs() <= 0.5001 * block.step);
        }
    }
}
