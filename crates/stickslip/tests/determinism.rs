//! The same bits on repeated runs, for any number of threads, after a checkpoint, and after a resumed run on disk.

use std::ops::ControlFlow;

use crate::common::{self, Scheme};
use stickslip::contact::{ContactSolution, ContactSolver};
use stickslip::internals::TrajectoryLayout;
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::scene::{Changes, Scene, find_in_gallery};
use stickslip::simulation::{Checkpoint, RunFolder, Simulation, SimulationSettings};
use stickslip::solvers::enumeration::{EnumerationSettings, enumerate};
use stickslip::solvers::{CascadeSolver, GaussSeidel};

fn hopper(settings: SimulationSettings) -> Simulation {
    let section = FrictionSection::segment(0.3).expect("valid");
    let law = ContactLaw::new(section, ImpactLaw::Fremond { restitution: 0.6 }).expect("valid");
    Simulation::new(
        Box::new(common::particle_on_plane(law, [0.3, -9.81])),
        Scheme::MoreauJean(None).build(),
        Box::new(GaussSeidel::default()),
        (&[0.0, 0.5], &[1.0, 0.0]),
        settings,
    )
    .expect("valid")
}

/// What `job` gives in pools of one, two and five threads.
fn in_pools<T: Send>(job: impl Fn() -> T + Sync) -> [T; 3] {
    [1, 2, 5].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().expect("a pool").install(&job)
    })
}

/// Runs of many contacts, elastic and rigid, enumerated and not: state, certificate, ledger and events, bit for bit.
#[test]
fn runs_have_the_same_bits_for_any_number_of_threads() {
    let mut most = 0;
    for (name, until, changes) in [
        ("elastic-two-blocks", 20.0, &[][..]),
        ("brake-pad", 15.0, &[]),
        ("spinning-top", 300.0, &[]),
        (
            "two-foot-block",
            100.0,
            &[
                ("law", "coulomb"),
                ("on_several", "choose"),
                ("several_rule", "least-energy"),
            ],
        ),
        ("v-groove-bar", 100.0, &[("law", "coulomb")]),
        ("rocking-block", 300.0, &[]),
    ] {
        let source = find_in_gallery(name).expect("a scene").source();
        let mut edits = Changes::new();
        for (key, value) in changes {
            edits = edits.key(*key, *value);
        }
        let scene =
            Scene::parse(edits.apply(&source).expect("keys")).unwrap_or_else(|e| panic!("{e}"));
        let [one, two, five] = in_pools(|| {
            let mut run = scene.simulation().expect("a simulation");
            let mut contacts = 0;
            run.run_until(until * scene.settings.step, |record| {
                contacts = contacts.max(record.active_contacts());
                ControlFlow::Continue(())
            });
            let text = serde_json::to_string(&run.checkpoint()).expect("serialises");
            (text, contacts)
        });
        most = most.max(one.1);
        assert_eq!(one, two, "{name}");
        assert_eq!(one, five, "{name}");
    }
    assert!(most > 1, "no run has several contacts");
}

/// The parallel parts themselves: enumeration, sweeps by colours and the cascade on problems of many contacts.
#[test]
fn solvers_have_the_same_bits_for_any_number_of_threads() {
    let problem = common::twelve_contacts(3);
    let [one, two, five] = in_pools(|| {
        let found = enumerate(&problem, &EnumerationSettings::default()).expect("planar");
        format!("{found:?}")
    });
    assert_eq!(one, two);
    assert_eq!(one, five);
    let [one, two, five] = in_pools(|| {
        let mut solution = ContactSolution::default();
        solution.prepare(problem.size());
        CascadeSolver::for_blocks_from(0, 1e-12).solve(&problem, &mut solution);
        solution
            .impulse
            .iter()
            .map(|p| p.to_bits())
            .collect::<Vec<_>>()
    });
    assert!(one.iter().any(|&bits| f64::from_bits(bits) > 0.0));
    assert_eq!(one, two);
    assert_eq!(one, five);
}

fn go(sim: &mut Simulation, t: f64) {
    sim.run_until(t, |_| ControlFlow::Continue(()));
}

#[test]
fn repeated_runs_and_runs_from_a_checkpoint_have_the_same_bits() {
    for settings in [
        SimulationSettings::fixed(1e-3),
        SimulationSettings::adaptive(1e-3, 1e-5),
    ] {
        let mut whole = hopper(settings.clone());
        go(&mut whole, 2.0);
        let mut again = hopper(settings.clone());
        go(&mut again, 2.0);
        assert_eq!(whole.state(), again.state());

        let mut first = hopper(settings.clone());
        let mut steps = 0;
        first.run_until(2.0, |_| {
            steps += 1;
            if steps == 137 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        let text = serde_json::to_string(&first.checkpoint()).expect("serialises");
        let checkpoint: Checkpoint = serde_json::from_str(&text).expect("reads back");
        let mut second = hopper(settings);
        second.restore(checkpoint).expect("same system");
        go(&mut second, 2.0);
        assert_eq!(whole.state(), second.state());
        assert_eq!(whole.ledger(), second.ledger());
        assert_eq!(whole.certificate(), second.certificate());
        assert_eq!(whole.events(), second.events());
        assert_eq!(whole.steps(), second.steps());
    }
}

#[test]
fn a_run_killed_at_any_instant_resumes_to_the_same_file() {
    let base = std::env::temp_dir().join(format!("stickslip-determinism-{}", std::process::id()));
    let run = |name: &str, kills: &[usize]| {
        let path = base.join(name);
        let mut sim = hopper(SimulationSettings::fixed(1e-3));
        let mut folder = RunFolder::create(&path, &sim, 1).expect("a fresh folder");
        for &steps in kills {
            // Work past the last checkpoint, then drop everything: as a kill would.
            let mut done = 0;
            while done < steps {
                sim.step_towards(1.0);
                folder.push(sim.record()).expect("writes");
                done += 1;
                if done % 50 == 0 {
                    folder.checkpoint(&sim).expect("writes");
                }
            }
            drop(folder);
            sim = hopper(SimulationSettings::fixed(1e-3));
            folder = RunFolder::resume(&path, &mut sim, 1).expect("resumes");
        }
        sim.run_until(1.0, |record| {
            folder.push(record).expect("writes");
            ControlFlow::Continue(())
        });
        folder.checkpoint(&sim).expect("writes");
        std::fs::read(path.join("trajectory.npy")).expect("the trajectory")
    };
    let whole = run("whole", &[]);
    assert_eq!(whole, run("killed", &[73, 120, 1, 333]));
    let (columns, values) =
        TrajectoryLayout::read(&base.join("whole/trajectory.npy")).expect("reads");
    assert_eq!(columns[0], "t");
    assert_eq!(values.len(), 1001 * columns.len());
    std::fs::remove_dir_all(base).expect("the folder is ours");
}

#[test]
fn adaptive_steps_meet_their_tolerance_and_shorten_at_impacts() {
    let mut coarse = hopper(SimulationSettings::adaptive(1e-2, 1e-4));
    let mut fine = hopper(SimulationSettings::adaptive(1e-2, 1e-6));
    let mut lengths = Vec::new();
    coarse.run_until(0.5, |record| {
        lengths.push(record.h);
        ControlFlow::Continue(())
    });
    go(&mut fine, 0.5);
    let mut reference = hopper(SimulationSettings::fixed(1e-5));
    go(&mut reference, 0.5);
    let error = |sim: &Simulation| {
        sim.state()
            .q
            .iter()
            .zip(&reference.state().q)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max)
    };
    assert!(
        error(&fine) < 0.3 * error(&coarse),
        "{} {}",
        error(&fine),
        error(&coarse)
    );
    assert!(error(&coarse) < 1e-2 && fine.steps() > coarse.steps());
    let longest = lengths.iter().fold(0.0f64, |m, h| m.max(*h));
    let shortest = lengths.iter().fold(1.0f64, |m, h| m.min(*h));
    assert!(shortest < 0.05 * longest, "{shortest} {longest}");
}
