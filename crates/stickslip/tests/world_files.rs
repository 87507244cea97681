//! Files of a world: contacts and bodies are what the records say, and a killed run goes on with the same bits.

use std::fs;
use std::path::{Path, PathBuf};

use crate::worlds::{Random, law, newton, simulation};
use stickslip::internals::SceneFacts;
use stickslip::internals::summary::RunSettings;
use stickslip::laws::ImpactLaw;
use stickslip::records::TrajectoryReader;
use stickslip::simulation::{RunEnd, RunFolder, RunSummary, Simulation};
use stickslip::systems::World;
use stickslip::systems::world::{
    Dimension, ForceSums, Monitor, MonitorQuantity, Pose, Recording, WorldBody,
};

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("stickslip-world-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    path
}

/// Balls falling on each other in a corner; with restitution, friction and unequal moments.
fn heap(count: u32, planar: bool, impact: ImpactLaw) -> World {
    let mut random = Random(u64::from(count));
    let dimension = if planar {
        Dimension::Plane
    } else {
        Dimension::Space
    };
    let up = if planar {
        [0.0, 1.0, 0.0]
    } else {
        [0.0, 0.0, 1.0]
    };
    let mut builder = World::builder()
        .dimension(dimension)
        .pair(0, 0, law(dimension, 0.4, impact))
        .body(WorldBody::half_space("floor", [0.0; 3], up))
        .body(WorldBody::half_space(
            "wall",
            [-0.3, 0.0, 0.0],
            [1.0, 0.0, 0.0],
        ));
    for i in 0..count {
        let column = f64::from(i % 4);
        let height = 0.1 + 0.22 * f64::from(i / 4);
        let mut place = [0.21 * column - 0.15, height, 0.0];
        let mut velocity = random.vector();
        let mut spin = random.vector().map(|x| 5.0 * x);
        if planar {
            velocity[2] = 0.0;
            spin = [0.0, 0.0, spin[2]];
        } else {
            place = [place[0], 0.01 * random.next(), height];
        }
        let mut ball = WorldBody::ball(format!("ball[{i}]"), 1.0, 0.1)
            .at(Pose::at(place))
            .moving(velocity, spin);
        ball.inertia[1] *= 1.2;
        builder = builder.body(ball);
    }
    builder
        .monitor(Monitor {
            name: "floor".into(),
            quantity: MonitorQuantity::Force {
                between: [vec![0], (2..count + 2).collect()],
            },
        })
        .monitor(Monitor {
            name: "heap".into(),
            quantity: MonitorQuantity::Energy {
                group: (2..count + 2).collect(),
            },
        })
        .record(Recording::default())
        .build()
        .unwrap()
}

fn advance(run: &mut Simulation, folder: &mut RunFolder, steps: usize) {
    for _ in 0..steps {
        let record = run.step_towards(1e3);
        assert!(record.outcome.is_solved(), "{:?}", record.outcome);
        folder.push(record).unwrap();
    }
}

fn bytes(path: &Path, name: &str) -> Vec<u8> {
    fs::read(path.join(name)).unwrap()
}

#[test]
fn a_killed_world_goes_on_with_the_same_bits() {
    for (name, planar, impact, theta) in [
        ("space", false, newton(0.5), Some(1.0)),
        ("plane", true, ImpactLaw::Inelastic, Some(0.5)),
        ("moreau", false, ImpactLaw::Inelastic, None),
    ] {
        let (whole, killed) = (
            folder(&format!("{name}-whole")),
            folder(&format!("{name}-killed")),
        );
        let start = || simulation(heap(12, planar, impact), theta, 2e-3);
        let mut run = start();
        let mut out = RunFolder::create(&whole, &run, 1).unwrap();
        advance(&mut run, &mut out, 120);
        out.checkpoint(&run).unwrap();
        let settings = RunSettings::default();
        let facts = SceneFacts::default();
        let expected = RunSummary::new(&run, (settings.clone(), &facts), RunEnd::Finished, 0.0);
        drop(out);

        let mut run = start();
        let mut out = RunFolder::create(&killed, &run, 1).unwrap();
        advance(&mut run, &mut out, 70);
        out.checkpoint(&run).unwrap();
        // Rows after the last checkpoint are lost with the process.
        advance(&mut run, &mut out, 13);
        out.commit().unwrap();
        drop(out);
        let mut run = start();
        let mut out = RunFolder::resume(&killed, &mut run, 1).unwrap();
        advance(&mut run, &mut out, 50);
        out.checkpoint(&run).unwrap();
        let found = RunSummary::new(&run, (settings, &facts), RunEnd::Finished, 0.0);
        for name in ["trajectory.npy", "contacts.npy"] {
            assert!(bytes(&whole, name) == bytes(&killed, name), "{name}");
        }
        assert!(!killed.join("bodies.npy").exists());
        let mut worlds = [expected.world.unwrap(), found.world.unwrap()];
        worlds
            .iter_mut()
            .for_each(|world| world.phases = Default::default());
        assert_eq!(worlds[0], worlds[1]);
        assert!(worlds[0].momentum.closed && worlds[0].contacts.most > 4);
        fs::remove_dir_all(whole).unwrap();
        fs::remove_dir_all(killed).unwrap();
    }
}

#[test]
fn contacts_of_a_file_are_those_of_the_records() {
    let path = folder("contacts");
    let mut run = simulation(heap(8, false, ImpactLaw::Inelastic), Some(1.0), 2e-3);
    let mut out = RunFolder::create(&path, &run, 1).unwrap();
    let (mut expected, mut forces) = (Vec::new(), Vec::new());
    for _ in 0..150 {
        let record = run.step_towards(1.0);
        out.push(record).unwrap();
        let mut on_floor = 0.0;
        for c in &record.present {
            expected.push([
                f64::from(c.key.owners[0]),
                c.gap,
                c.impulse[2],
                c.velocity[0],
            ]);
            if c.key.owners[0] == 0 {
                on_floor += c.impulse[2] / record.h;
            }
        }
        forces.push(on_floor);
    }
    out.checkpoint(&run).unwrap();
    drop(out);
    let mut reader = TrajectoryReader::open(&path.join("contacts.npy")).unwrap();
    let column = |name: &str| reader.columns().iter().position(|c| c == name).unwrap();
    let columns = ["a", "gap", "pz", "ux"].map(column);
    let (mut row, mut found) = (Vec::new(), Vec::new());
    while reader.next_row(&mut row).unwrap() {
        found.push(columns.map(|c| row[c]));
    }
    assert!(found.len() > 100 && found == expected);
    // The monitor is the force on the floor; the contacts press it down.
    let mut reader = TrajectoryReader::open(&path.join("trajectory.npy")).unwrap();
    let at = reader
        .columns()
        .iter()
        .position(|c| c == "floor.fz")
        .unwrap();
    let x = reader
        .columns()
        .iter()
        .position(|c| c == "ball[3].x")
        .unwrap();
    let mut monitored = Vec::new();
    while reader.next_row(&mut row).unwrap() {
        monitored.push(row[at]);
    }
    assert_eq!(row[x], run.state().q[7 * 5]);
    assert!(forces.last().unwrap() < &-1.0);
    for (a, b) in monitored[1..].iter().zip(&forces) {
        assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} {b}");
    }
    fs::remove_dir_all(path).unwrap();
}

#[test]
fn forces_of_pairs_and_bodies_are_the_sums_of_their_contacts() {
    for sums in [ForceSums::Pairs, ForceSums::Bodies] {
        let mut world = heap(8, false, newton(0.4));
        world.recording.forces = Some(sums);
        let mut run = simulation(world, Some(1.0), 2e-3);
        let path = folder(&format!("forces-{sums:?}"));
        let mut out = RunFolder::create(&path, &run, 1).unwrap();
        let mut expected: Vec<(f64, [i64; 2], [f64; 3])> = Vec::new();
        for _ in 0..150 {
            let record = run.step_towards(1.0);
            let mut step: std::collections::BTreeMap<[i64; 2], [f64; 3]> = Default::default();
            for contact in &record.present {
                let [a, b] = contact.key.owners.map(i64::from);
                let shares = match sums {
                    ForceSums::Pairs => vec![([a, b], 1.0)],
                    ForceSums::Bodies => vec![([a, -1], 1.0), ([b, -1], -1.0)],
                };
                for (pair, sign) in shares {
                    let sum = step.entry(pair).or_default();
                    (0..3).for_each(|k| sum[k] += sign * contact.impulse[k] / record.h);
                }
            }
            expected.extend(step.into_iter().map(|(pair, f)| (record.t, pair, f)));
            out.push(record).unwrap();
        }
        out.checkpoint(&run).unwrap();
        drop(out);
        let mut reader = TrajectoryReader::open(&path.join("forces.npy")).unwrap();
        assert_eq!(reader.columns(), ["step", "t", "a", "b", "fx", "fy", "fz"]);
        let mut row = Vec::new();
        for (t, [a, b], force) in &expected {
            assert!(reader.next_row(&mut row).unwrap());
            assert_eq!([row[1], row[2], row[3]], [*t, *a as f64, *b as f64]);
            let off = (0..3)
                .map(|k| (row[4 + k] - force[k]).abs())
                .fold(0.0, f64::max);
            assert!(off < 1e-9, "{row:?} {force:?}");
        }
        assert!(expected.len() > 100 && !reader.next_row(&mut row).unwrap());
        fs::remove_dir_all(&path).unwrap();
    }
}

#[test]
fn many_bodies_have_a_file_of_their_own() {
    let path = folder("bodies");
    let mut run = simulation(heap(258, true, ImpactLaw::Inelastic), Some(1.0), 2e-3);
    let mut out = RunFolder::create(&path, &run, 1).unwrap();
    advance(&mut run, &mut out, 3);
    out.checkpoint(&run).unwrap();
    drop(out);
    let mut reader = TrajectoryReader::open(&path.join("bodies.npy")).unwrap();
    assert_eq!((reader.rows(), reader.table()), (4, Some((260, 13))));
    let mut row = Vec::new();
    while reader.next_row(&mut row).unwrap() {}
    let q = &run.state().q[3 * 259..];
    let last = &row[13 * 259..];
    assert_eq!(&last[..3], &[q[0], q[1], 0.0]);
    assert!((2.0 * last[6].atan2(last[3]) - q[2]).abs() < 1e-14);
    assert_eq!(last[12], run.state().v[3 * 259 + 2]);
    // No column of a body is left in the trajectory.
    let trajectory = TrajectoryReader::open(&path.join("trajectory.npy")).unwrap();
    assert!(trajectory.columns().iter().all(|c| !c.starts_with("ball")));
    fs::remove_dir_all(path).unwrap();
}
