//! Events of one body are its own: what bodies do that know nothing of it neither hides them nor makes any up.

use std::ops::ControlFlow;

use stickslip::internals::summary::{RunSettings, SummaryEvent};
use stickslip::records::EventKind;
use stickslip::scene::{Scene, SourceText, find_in_gallery};
use stickslip::simulation::RunSummary;

fn finish(text: &str) -> RunSummary {
    let scene = Scene::parse(SourceText::new("scene.toml", text));
    let scene = scene.unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let end = simulation.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
    let settings = RunSettings {
        impact: scene.settings.impact.to_string(),
        ..RunSettings::default()
    };
    let facts = scene.facts(simulation.system());
    RunSummary::new(&simulation, (settings, &facts), end, 0.0)
}

fn of_kind(summary: &RunSummary, kind: EventKind) -> Vec<&SummaryEvent> {
    summary.events.iter().filter(|e| e.kind == kind).collect()
}

/// The tip of a bar of half length 1 and mass 1 that turns about a point which slides, at 45 degrees: friction above √2 jams it.
fn bar(k: usize, friction: &str) -> String {
    format!(
        "[[contacts]]\nname = \"tip{k}\"\ngap = \"a{k} + pi/4\"\npoint = [\"x{k} + cos(a{k})\", \"sin(a{k})\"]\nfriction = {friction}\n"
    )
}

/// A scene with one jamming bar and others: coordinates, kinetic energy, forces, contacts and initial values of these are given.
fn bars([names, energy, forces, contacts, start]: [&str; 5], friction: &str) -> String {
    format!(
        "title = \"bars\"\nlaw = \"generalized\"\nscheme = \"moreau\"\nimpact = \"inelastic\"\nstep = 0.001\nuntil = 0.02\n\
         [system]\ncoordinates = [\"x0\", \"a0\"{names}]\nkinetic_energy = \"x0'^2/2 + a0'^2/6{energy}\"\n\
         forces = {{ a0 = -2{forces} }}\n{}{contacts}[initial]\na0 = \"-pi/4\"\nx0_dot = 1\n{start}",
        bar(0, friction)
    )
}

#[test]
fn a_jam_is_told_whatever_other_bodies_do() {
    let second = bar(1, "1.5");
    let ball = "[[contacts]]\nname = \"ball\"\ngap = \"y\"\n";
    let others = [
        ["", "", "", "", ""],
        [
            ", \"x1\", \"a1\"",
            " + x1'^2/2 + a1'^2/6",
            ", a1 = -2",
            &second,
            "a1 = \"-pi/4\"\nx1_dot = 1\n",
        ],
        [
            ", \"y\"",
            " + y'^2/2",
            ", y = -10",
            ball,
            "y = 0.0005\ny_dot = -1\n",
        ],
        [", \"X\"", " + 1e6*X'^2/2", ", X = 0", "", "X_dot = 10\n"],
    ];
    // `u = W p`, W of the rows (a', x' - a' sin a): [[3, 3/√2], [3/√2, 5/2]]. It stops slipping and does not turn:
    // p = (1/√2, −1), and √2 times as much normal impulse per metre of approach; the torque brings 2h√2.
    let impulse = 1.0 + 2e-3 * 2f64.sqrt();
    for (k, other) in others.into_iter().enumerate() {
        let run = finish(&bars(other, "1.5"));
        let jams = of_kind(&run, EventKind::TangentialImpact);
        assert_eq!(jams.len(), if k == 1 { 2 } else { 1 }, "{:?}", run.events);
        for jam in jams {
            assert!((jam.impulse - impulse).abs() < 1e-5, "{k}: {}", jam.impulse);
            assert!(jam.t < 1.5e-3, "{k}");
        }
        let impacts = of_kind(&run, EventKind::Impact).len();
        assert_eq!(impacts, usize::from(k == 2), "{k}: {:?}", run.events);
    }
}

/// A floor that becomes rough in the first or in the second half of a step jams the bar in this step; one that only becomes steeper in load does
/// not, though its reaction begins within the step.
#[test]
fn a_jam_is_told_in_whatever_part_of_a_step_it_happens() {
    let none = ["", "", "", "", ""];
    for t in ["0.0102", "0.0104", "0.0106", "0.0109"] {
        let run = finish(&bars(none, &format!("\"if(t > {t}, 1.5, 0.1)\"")));
        let jams = of_kind(&run, EventKind::TangentialImpact);
        assert_eq!(jams.len(), 1, "{t}: {:?}", run.events);
        assert!((jams[0].t - 0.011).abs() < 1e-9, "{t}: {}", jams[0].t);
    }
    for t in ["0.0102", "0.0104", "0.0106"] {
        let load = format!("a0 = \"if(t > {t}, -2e4*(t - {t}), 0)\"");
        let text = bars(none, "0.3").replace("a0 = -2", &load);
        let run = finish(&text);
        assert!(
            of_kind(&run, EventKind::TangentialImpact).is_empty(),
            "{t}: {:?}",
            run.events
        );
    }
}

/// Kane's pendulum, whose impact under Newton's law gains 58.75 per cent of the energy at the start, beside bodies that know nothing of it.
#[test]
fn a_gain_of_energy_is_told_whatever_other_bodies_do() {
    let start = (0.04 / 3.0 + 0.04 / 3.0 + 0.02 * 10f64.to_radians().cos()) / 2.0;
    let source = find_in_gallery("kane-pendulum").unwrap().source();
    let text = source
        .text()
        .replace("\"q1\", \"q2\"", "\"q1\", \"q2\", \"y\"");
    let text = text.replace("until = ", "until = 0.01 # ");
    let with = |energy: &str, contact: &str, start: &str| {
        let line = "cos(q1 - q2)*q1'*q2')/2";
        let text = text.replace(line, &format!("{line} + {energy}"));
        let text = text.replace("[initial]\n", &format!("{contact}[initial]\n{start}"));
        assert!(text.contains(energy) && text.contains(start), "{text}");
        text
    };
    let ball = "[[contacts]]\nname = \"ball\"\ngap = \"y\"\nrestitution = 0.5\n";
    let beside = [
        with("y'^2/2", ball, "y_dot = -1\n"),
        with("1e5*y'^2/2", "", "y_dot = 30\n"),
    ];
    for (k, text) in beside.iter().enumerate() {
        for scheme in ["moreau-jean", "event-driven"] {
            let run = finish(&format!("scheme = \"{scheme}\"\n{text}"));
            let gains = of_kind(&run, EventKind::EnergyGain);
            assert_eq!(gains.len(), 1, "{k}, {scheme}: {:?}", run.events);
            let gain = gains[0].energy.unwrap();
            assert!((gain - 0.5875 * start).abs() < 1e-4 * start, "{k}: {gain}");
            assert!(run.warnings.iter().any(|w| w.contains("gained energy")));
        }
    }
}

/// A block that slides takes much more in the step of the impact than the impact gives: the gain is that of the scene without it.
#[test]
fn what_a_sliding_block_takes_hides_no_gain() {
    let source = find_in_gallery("kane-pendulum").unwrap().source();
    let text = source
        .text()
        .replace("gap = \"H + ytip\"", "gap = \"H + 0.0007 + ytip\"");
    let alone = finish(&text.replace("until = ", "until = 0.01 # "));
    let line = "cos(q1 - q2)*q1'*q2')/2";
    let block = text
        .replace("until = ", "until = 0.01 # ")
        .replace("\"q1\", \"q2\"", "\"q1\", \"q2\", \"x\", \"y\"")
        .replace(line, &format!("{line} + 10*(x'^2 + y'^2)/2"))
        .replace("3*cos(q1) + cos(q2))/2", "3*cos(q1) + cos(q2))/2 + 10*g*y")
        .replace(
            "[initial]\n",
            "[[contacts]]\nname = \"slider\"\ngap = \"y\"\npoint = [\"x\", \"y\"]\nfriction = 0.5\n[initial]\nx_dot = 20\n",
        );
    let beside = finish(&block);
    let [a, b] = [&alone, &beside].map(|run| of_kind(run, EventKind::EnergyGain));
    assert_eq!((a.len(), b.len()), (1, 1), "{:?}", beside.events);
    let [a, b] = [a[0], b[0]].map(|e| e.energy.unwrap());
    assert!(a > 0.01 && (a - b).abs() < 1e-9, "{a} {b}");
}

/// A block that rocks bears on one foot for half of its period, which is no end of its impacts: they accumulate once, at the end, and all of
/// them belong to it.
#[test]
fn a_block_that_rocks_has_one_accumulation_of_all_its_impacts() {
    let source = find_in_gallery("rocking-block").unwrap().source();
    let text = source.text().replace("\nuntil = 8\n", "\nuntil = 9.5\n");
    for scheme in ["moreau-jean", "event-driven"] {
        let run = finish(&format!("scheme = \"{scheme}\"\n{text}"));
        let ends = of_kind(&run, EventKind::Accumulation);
        assert_eq!(ends.len(), 1, "{scheme}: {ends:?}");
        let impacts = of_kind(&run, EventKind::Impact);
        assert_eq!(ends[0].count, Some(impacts.len() as u64), "{scheme}");
        assert!(ends[0].t >= impacts[impacts.len() - 1].t - 1e-9, "{scheme}");
    }
    // It still rocks.
    let rocks = finish(&source.text().replace("\nuntil = 8\n", "\nuntil = 6\n"));
    assert!(of_kind(&rocks, EventKind::Impact).len() >= 10);
    assert!(of_kind(&rocks, EventKind::Accumulation).is_empty());
}

/// The same block as a world, where both feet are one pair of bodies that never opens, has the same impacts, as long as they are faster than gravity in two
/// steps.
#[test]
fn a_block_that_rocks_in_a_world_has_its_impacts_as_events() {
    let source = find_in_gallery("rocking-block").unwrap().source();
    let declared = finish(&source.text().replace("\nuntil = 8\n", "\nuntil = 6\n"));
    let (c, s) = (0.15f64.cos(), 0.15f64.sin());
    let (x, y) = (0.25 * c - s, 0.25 * s + c);
    let world = finish(&format!(
        "title = \"rock\"\nstep = 0.0005\nuntil = 6\n[world]\ndimension = 2\n[[materials]]\nname = \"m\"\ndensity = 1\nfriction = 1\n\
         [[bodies]]\nname = \"floor\"\nfixed = true\nshape = {{ half_plane = [0, 1] }}\n\
         [[bodies]]\nname = \"block\"\nshape = {{ rectangle = [0.5, 2] }}\nposition = [{x}, {y}]\nrotation = 0.15\n"
    ));
    let [known, found] = [&declared, &world].map(|run| of_kind(run, EventKind::Impact));
    assert!(found.len() >= known.len().min(10), "{found:?}");
    for (a, b) in known.iter().zip(&found) {
        assert!((a.t - b.t).abs() < 0.02 * a.t, "{} {}", a.t, b.t);
        assert!(
            (a.impulse - b.impulse).abs() < 0.05 * a.impulse,
            "t = {}: {} {}",
            a.t,
            a.impulse,
            b.impulse
        );
    }
    assert!(of_kind(&world, EventKind::EnergyGain).is_empty());
    assert!(of_kind(&world, EventKind::Accumulation).is_empty());
}

/// A rod that jams in a world does so beside a ball that lands in the same step, and beside a heavy body that flies by.
#[test]
fn a_jam_in_a_world_is_told_whatever_other_bodies_do() {
    let text = "title = \"Painleve's rod\"\nstep = 0.0005\nuntil = 0.02\n[world]\ndimension = 2\n[[materials]]\nname = \"m\"\n\
        density = 1000\nfriction = 2\n[[bodies]]\nname = \"floor\"\nfixed = true\nshape = { half_plane = [0, 1] }\n\
        [[bodies]]\nname = \"rod\"\nshape = { capsule = { radius = 0.0001, length = 2 } }\nmass = 1\ninertia = 0.33333333333333\n\
        position = [0.5, \"sin(pi/3) + 0.0001\"]\nrotation = \"pi/3\"\nvelocity = [-5, 0]\n";
    let ball = "[[bodies]]\nname = \"ball\"\nshape = { disc = 0.1 }\nposition = [9, 0.1003]\nvelocity = [0, -1]\n";
    let truck = "[[bodies]]\nname = \"truck\"\nshape = { disc = 1 }\nmass = 1e9\nposition = [90, 50]\nvelocity = [40, 0]\n";
    let [alone, landing, flying] = ["", ball, truck].map(|other| finish(&format!("{text}{other}")));
    let jams = of_kind(&alone, EventKind::TangentialImpact);
    assert_eq!(jams.len(), 1, "{:?}", alone.events);
    for run in [&landing, &flying] {
        let found = of_kind(run, EventKind::TangentialImpact);
        assert_eq!(found.len(), 1, "{:?}", run.events);
        assert!((found[0].impulse - jams[0].impulse).abs() < 1e-3 * jams[0].impulse);
    }
    assert_eq!(of_kind(&landing, EventKind::Impact).len(), 1);
}

/// Event by event: two bars jam at one instant, and one beside a block that slides. With `W` of the rows (a', x' - a' sin a) the impulse is one per metre of
/// approach.
#[test]
fn contacts_that_do_not_act_on_each_other_jam_by_themselves_event_by_event() {
    let second = bar(1, "1.5");
    let block =
        "[[contacts]]\nname = \"block\"\ngap = \"y\"\npoint = [\"x\", \"y\"]\nfriction = 0.5\n";
    let others = [
        [
            ", \"x1\", \"a1\"",
            " + x1'^2/2 + a1'^2/6",
            ", a1 = -2",
            &second,
            "a1 = \"-pi/4\"\nx1_dot = 1\n",
        ],
        [
            ", \"x\", \"y\"",
            " + x'^2/2 + y'^2/2",
            ", y = -10",
            block,
            "x_dot = 2\n",
        ],
    ];
    for (other, count) in others.into_iter().zip([2, 1]) {
        let text = bars(other, "1.5").replace("generalized", "coulomb");
        let run = finish(&text.replace("\"moreau\"", "\"event-driven\""));
        let jams = of_kind(&run, EventKind::TangentialImpact);
        assert_eq!(jams.len(), count, "{} {:?}", run.reason, run.events);
        for jam in jams {
            assert!((jam.impulse - 1.0).abs() < 1e-9, "{}", jam.impulse);
        }
    }
}

/// γ = 0 to the last digit, and friction without bound, jam too: with `M⁻¹ = [[4, −2], [−2, 4]]/3` and a slip of −1 m/s, `W p = (0, 1)` gives
/// p = (1/2, 1).
#[test]
fn jams_at_the_edge_and_without_bound_are_told() {
    for friction in ["2", "1e300", "3"] {
        let run = finish(&format!(
            "title = \"slider\"\nlaw = \"generalized\"\nscheme = \"moreau\"\nimpact = \"inelastic\"\nstep = 0.001\nuntil = 0.01\n\
             [system]\ncoordinates = [\"x\", \"y\"]\nmass_matrix = [[1, 0.5], [0.5, 1]]\nforces = {{ y = -1 }}\n\
             [[contacts]]\nname = \"floor\"\ngap = \"y\"\npoint = [\"x\", \"y\"]\nfriction = {friction}\n[initial]\nx_dot = -1\n"
        ));
        let jams = of_kind(&run, EventKind::TangentialImpact);
        assert_eq!(jams.len(), 1, "{friction}: {:?}", run.events);
        assert!((jams[0].impulse - 0.5).abs() < 5e-3, "{}", jams[0].impulse);
    }
}

/// The slider of a crank hops from wall to wall of its guide, the last hops too low to be resolved. Its friction, one hundredth, is far from jamming anything
/// (γ is 0.995 of W_NN), and what it is struck by is no impact without collision.
#[test]
fn hops_too_low_to_be_told_are_no_jams() {
    let source = find_in_gallery("slider-crank").unwrap().source();
    let run = finish(&source.text().replace("\nuntil = ", "\nuntil = 0.012 # "));
    assert!(of_kind(&run, EventKind::Impact).len() > 5);
    let jams = of_kind(&run, EventKind::TangentialImpact);
    assert!(jams.is_empty(), "{jams:?}");
}
