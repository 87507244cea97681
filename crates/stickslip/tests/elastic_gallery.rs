//! Scenes with elastic bodies: in each the energy account closes at every step, the contact works
//! are nonpositive contact by contact under Frémond's law, and no energy appears without a source.

use std::ops::ControlFlow;

use stickslip::internals::contact_fields;
use stickslip::internals::paraview::VtuSeries;
use stickslip::records::ContactMode;
use stickslip::scene::{Changes, Scene, find_in_gallery};
use stickslip::simulation::{ElasticLedger, RunEnd, Simulation};

fn scene(name: &str, changes: &Changes) -> Scene {
    let source = find_in_gallery(name).unwrap().source();
    let source = changes.apply(&source).unwrap_or_else(|e| panic!("{e}"));
    Scene::parse(source).unwrap_or_else(|e| panic!("{e}"))
}

/// What a scene showed.
struct Outcome {
    scene: Scene,
    ledger: ElasticLedger,
    /// Numbers of stuck and slipping contacts summed over the steps.
    stick: usize,
    slip: usize,
    /// Time with and without contact.
    closed: f64,
    open: f64,
    /// Total energy at the start and its largest rise in one step beyond external work.
    start: f64,
    scale: f64,
    rise: f64,
    /// Largest works of one contact in one step on the velocity relative to the obstacle: normal, friction.
    relative: [f64; 2],
    run: Simulation,
}

/// Runs a scene and enters every step in the accounts.
fn play(name: &str, changes: &Changes) -> Outcome {
    let scene = scene(name, changes);
    let system = scene.elastic().unwrap().clone();
    let mut run = scene.simulation().unwrap();
    assert!(run.warnings().is_empty(), "{:?}", run.warnings());
    let (q, v) = scene.initial_state();
    let theta = scene.settings.theta.unwrap();
    let mut ledger = ElasticLedger::new(system, theta, (0.0, &q, &v));
    let (mut stick, mut slip, mut closed, mut open) = (0, 0, 0.0, 0.0);
    let start = run.record().kinetic + run.record().potential;
    let (mut energy, mut scale, mut rise) = (start, start, f64::NEG_INFINITY);
    let mut relative = [0.0f64; 2];
    let end = run.run_until(scene.settings.until, |record| {
        ledger.observe(record);
        for (k, contact) in record.contacts.iter().enumerate() {
            let (p, u) = (record.impulse(k), record.local_velocity(k));
            let normal = (1.0 - theta) * contact.approach + theta * u[0];
            let friction = p[1..].iter().zip(&u[1..]).map(|(p, u)| p * u).sum();
            relative = [relative[0].max(p[0] * normal), relative[1].max(friction)];
        }
        let count = |mode| record.contacts.iter().filter(|c| c.mode == mode).count();
        stick += count(ContactMode::Stick);
        slip += count(ContactMode::Slip);
        if record.active_contacts() > 0 {
            closed += record.h;
        } else {
            open += record.h;
        }
        let now = record.kinetic + record.potential;
        rise = rise.max(now - record.energy.external - energy);
        energy = now;
        scale = scale.max(now);
        ControlFlow::Continue(())
    });
    assert_eq!(end, RunEnd::Finished, "{name}");
    assert!(
        run.ledger().is_closed(),
        "{name}: ledger {}",
        run.ledger().worst_ratio
    );
    assert!(run.certificate().holds(1e-9), "{:?}", run.certificate());
    parts_add_up(name, &run, &ledger, scale);
    Outcome {
        scene,
        ledger,
        stick,
        slip,
        closed,
        open,
        start,
        scale,
        rise,
        relative,
        run,
    }
}

/// The run keeps the same accounts of bodies and surfaces, and they add up to the account of the run.
fn parts_add_up(name: &str, run: &Simulation, ledger: &ElasticLedger, scale: f64) {
    let accounts = run.elastic_accounts().expect("kept");
    assert_eq!(accounts, ledger.accounts(), "{name}");
    let (totals, state) = (&run.ledger().totals, run.state());
    let body = |k: usize| accounts.bodies.iter().map(move |b| b.terms()[k].1).sum();
    let normal: f64 = accounts.surfaces.iter().map(|s| s.normal).sum();
    let tangential: f64 = accounts.surfaces.iter().map(|s| s.tangential).sum();
    let numerical = totals.numerical_mass + totals.numerical_stiffness + totals.potential_defect;
    for (what, found, expected) in [
        ("kinetic", body(0), state.kinetic),
        ("elastic", body(1), state.potential),
        ("external", body(2), totals.external),
        ("damping", body(3), totals.damping),
        ("numerical", body(4), numerical),
        ("normal", body(5), totals.contact_normal),
        ("friction", body(6), totals.contact_tangential),
        ("normal at surfaces", normal, totals.contact_normal),
        (
            "friction at surfaces",
            tangential,
            totals.contact_tangential,
        ),
    ] {
        let error: f64 = found - expected;
        assert!(error.abs() <= 1e-11 * scale, "{name}: {what} {error}");
    }
    // What a body holds is what it had and what it was given, step by step and in all.
    for account in &accounts.bodies {
        let terms = account.terms().map(|(_, value)| value);
        let held: f64 = terms[..2].iter().sum();
        let given: f64 = account.start + terms[2..].iter().sum::<f64>();
        assert!((held - given).abs() <= 1e-11 * scale, "{name}: {account:?}");
        let worst = account.worst_imbalance;
        assert!(worst <= 1e-11 * scale, "{name}: {account:?}");
    }
}

/// What the dissipative law promises: no contact works on the velocity relative to its obstacle, and energy
/// comes only from outside. A moving obstacle is outside, too: its own work may be positive.
fn dissipates(name: &str, moving: bool) -> Outcome {
    let seen = play(name, &Changes::new());
    let scale = seen.scale;
    let [normal, friction] = seen.relative;
    assert!(normal <= 1e-12 * scale, "{name}: normal work {normal}");
    assert!(friction <= 1e-12 * scale, "{name}: friction {friction}");
    if !moving {
        for surface in seen.ledger.surfaces() {
            assert!(
                surface.largest_normal <= 1e-12 * scale,
                "{name}: {surface:?}"
            );
            assert!(
                surface.largest_tangential <= 1e-12 * scale,
                "{name}: {surface:?}"
            );
        }
        assert!(seen.rise <= 1e-12 * scale, "{name}: rise {}", seen.rise);
    }
    seen
}

#[test]
fn bar_stays_at_the_wall_for_two_transits() {
    let seen = dissipates("elastic-bar", false);
    assert!((seen.closed / 0.2 - 1.0).abs() < 0.02, "{}", seen.closed);
    // It leaves with all but the energy of the node that stopped, a share 1/(2√3 n).
    let end = seen.run.state().kinetic + seen.run.state().potential;
    let loss = 1.0 - end / seen.start;
    let node = 1.0 / (2.0 * 3f64.sqrt() * 100.0);
    assert!(
        loss > 0.0 && (loss / node - 1.0).abs() < 0.1,
        "{loss} {node}"
    );
}

#[test]
fn beam_bounces_on_a_stop() {
    let seen = dissipates("elastic-beam", false);
    assert!(seen.closed > 1e-3 && seen.open > 1e-2);
}

#[test]
fn block_is_dropped_and_slides() {
    let seen = dissipates("elastic-block", false);
    assert!(seen.slip > 50 && seen.ledger.surfaces()[0].tangential < 0.0);
    // Files for ParaView of the last state.
    let system = seen.scene.elastic().unwrap();
    let folder = std::env::temp_dir().join(format!("stickslip-vtu-{}", std::process::id()));
    let mut series = VtuSeries::new(&folder, "block").unwrap();
    let record = seen.run.record();
    let fields = contact_fields(system, record);
    for _ in 0..2 {
        let state = (record.t, &record.q[..], &record.velocity[..]);
        series.write(system, state, Some(&fields)).unwrap();
    }
    let pvd = std::fs::read_to_string(folder.join("block.pvd")).unwrap();
    assert_eq!(pvd.matches("<DataSet").count(), 2);
    let vtu = std::fs::read(folder.join("block-00001.vtu")).unwrap();
    let head = String::from_utf8_lossy(&vtu[..400]).to_string();
    let size = "NumberOfPoints=\"91\" NumberOfCells=\"72\"";
    assert!(head.contains(size), "{head}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn disc_rolls_and_bounces() {
    let seen = dissipates("elastic-disc", false);
    assert!(seen.closed > 2e-3 && seen.open > 2e-3 && seen.stick > 0);
}

#[test]
fn two_blocks_in_frictional_contact() {
    let seen = dissipates("elastic-two-blocks", false);
    assert!(seen.slip > 100);
    for body in seen.ledger.bodies() {
        assert!(body.worst_imbalance < 1e-11 * seen.start, "{body:?}");
    }
}

#[test]
fn reed_under_a_bow_sticks_and_slips() {
    let seen = dissipates("bowed-reed", true);
    assert!(
        seen.stick > 100 && seen.slip > 10,
        "{} {}",
        seen.stick,
        seen.slip
    );
}

#[test]
fn ring_is_sheared_by_a_moving_road() {
    let seen = dissipates("elastic-ring", true);
    assert!(seen.stick > 0 && seen.slip > 0 && seen.ledger.surfaces()[0].impulse > 0.0);
}

#[test]
fn pad_squeals_on_a_moving_plane() {
    let seen = dissipates("brake-pad", true);
    assert!(seen.slip > 100);
}

#[test]
fn newtons_law_lets_friction_do_positive_work_where_fremonds_does_not() {
    // [AcaryCollinsCraft2023]: with Coulomb's law on the velocity at the end of the step the work of
    // friction is p_T·u_T at θ, which is positive where the slip reverses within the step.
    let newton = Changes::new().key("impact", "newton");
    let seen = play("elastic-block", &newton);
    let surface = &seen.ledger.surfaces()[0];
    assert!(
        surface.largest_tangential > 1e-6 * seen.start,
        "{surface:?}"
    );
}
