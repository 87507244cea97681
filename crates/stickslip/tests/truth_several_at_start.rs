//! Several motions at the initial instant: the impact there is a step like every other, and what is rounding makes no motion.

use std::ops::ControlFlow;

use stickslip::prelude::*;
use stickslip::scene::{Changes, Scene, SourceText};
use stickslip::solvers::enumeration::EnumerationSettings;

/// A unit particle in a corner of 30 degrees with friction 1 strikes the floor on its way out: it slides out along the floor, or the
/// roof holds it and it stops dead.
const CORNER: &str = r#"
title = "acute corner"
until = 1e-2
step = 1e-3
scheme = "moreau-jean"
[parameters]
a = 0.5235987755982988
mu = 1
[system]
coordinates = ["x", "y"]
kinetic_energy = "(x'^2 + y'^2)/2"
[[contacts]]
name = "floor"
gap = "y"
point = ["x", "y"]
friction = "mu"
[[contacts]]
name = "roof"
gap = "x*sin(a) - y*cos(a)"
point = ["x", "y"]
normal = ["sin(a)", "-cos(a)"]
friction = "mu"
[initial]
x_dot = 1
y_dot = -0.5
"#;

/// The same in space, with a velocity along the edge.
fn corner_in_space() -> String {
    CORNER
        .replace("[\"x\", \"y\"]", "[\"x\", \"y\", \"z\"]")
        .replace("x'^2 + y'^2", "x'^2 + y'^2 + z'^2")
        .replace("\"-cos(a)\"]", "\"-cos(a)\", 0]")
        .replace("gap = \"y\"", "gap = \"y\"\nnormal = [0, 1, 0]")
        + "z_dot = 0.2\n"
}

/// Slides out: the floor takes the approach of 0.5 and the friction impulse 0.5 against the velocity along it.
fn sliding_out(space: bool) -> Vec<f64> {
    let kept = |along: f64| 1.0 - 0.5 / along;
    if space {
        let kept = kept(1.04f64.sqrt());
        vec![kept, 0.0, 0.2 * kept]
    } else {
        vec![kept(1.0), 0.0]
    }
}

/// Contacts at the origin with normals, tangents and friction, a diagonal mass and a velocity.
fn particle(mass: [f64; 3], contacts: &[([f64; 3], [f64; 3], f64)], v: [f64; 3]) -> String {
    let [a, b, c] = mass;
    let mut text = format!(
        "title = \"particle\"\nuntil = 1e-3\nstep = 1e-3\nscheme = \"moreau\"\n[system]\ncoordinates = [\"q0\", \"q1\", \"q2\"]\n\
         mass_matrix = [[{a}, 0, 0], [0, {b}, 0], [0, 0, {c}]]\n"
    );
    for (k, ([x, y, z], tangent, friction)) in contacts.iter().enumerate() {
        text += &format!(
            "[[contacts]]\nname = \"c{k}\"\ngap = \"({x})*q0 + ({y})*q1 + ({z})*q2\"\ntangents = [{tangent:?}]\nfriction = {friction}\n"
        );
    }
    let [x, y, z] = v;
    text + &format!("[initial]\nq0_dot = {x}\nq1_dot = {y}\nq2_dot = {z}\n")
}

fn scene(text: &str, keys: &[(&str, &str)]) -> Scene {
    let changes = keys.iter().fold(Changes::new(), |changes, (key, value)| {
        changes.key(*key, *value)
    });
    let source = SourceText::new("scene", text);
    Scene::parse(changes.apply(&source).expect("keys")).unwrap_or_else(|e| panic!("{e}"))
}

fn finished(scene: &Scene) -> Simulation {
    let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    run.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
    run
}

fn near(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9)
}

#[test]
fn an_impact_at_the_start_with_two_motions_is_told_by_every_scheme() {
    for text in [CORNER.to_string(), corner_in_space()] {
        for scheme in ["moreau-jean", "moreau", "sweeping-process", "event-driven"] {
            let run = finished(&scene(&text, &[("scheme", scheme)]));
            let certificate = run.certificate();
            assert!(certificate.several_solutions > 0, "{scheme}");
            let rank = certificate.rank_deficiency.expect("dependent rows");
            assert_eq!(rank.motion_is_unique, Some(false), "{scheme}");
        }
    }
}

#[test]
fn a_run_stops_before_an_impact_at_the_start_with_two_motions() {
    for text in [CORNER.to_string(), corner_in_space()] {
        for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
            let scene = scene(&text, &[("scheme", scheme), ("on_several", "stop")]);
            let mut run = scene.simulation().unwrap();
            let end = run.run_until(1.0, |_| ControlFlow::Continue(()));
            assert!(
                matches!(end, RunEnd::Stopped { t, .. } if t == 0.0),
                "{scheme}: {end:?}"
            );
            assert!(near(&run.state().v, &[1.0, -0.5, 0.2]), "{scheme}");
        }
    }
}

#[test]
fn branches_begin_at_the_impact_at_the_start() {
    for (text, space) in [(CORNER.to_string(), false), (corner_in_space(), true)] {
        for scheme in ["moreau-jean", "moreau"] {
            let scene = scene(&text, &[("scheme", scheme), ("on_several", "branch")]);
            let tree = scene.branch_tree().unwrap();
            let starts: Vec<&[f64]> = tree.branches.iter().map(|b| &b.v[0][..]).collect();
            for motion in [sliding_out(space), vec![0.0; 3]] {
                let found = starts.iter().filter(|v| near(v, &motion)).count();
                assert_eq!(found, 1, "{scheme}: {motion:?} among {starts:?}");
            }
            assert!(tree.branches.iter().all(|branch| branch.finished));
        }
    }
}

#[test]
fn the_least_energy_of_an_impact_at_the_start_is_rest() {
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        let keys = [("scheme", scheme), ("several_rule", "least-energy")];
        let run = finished(&scene(CORNER, &keys));
        assert!(near(&run.state().v, &[0.0, 0.0]), "{scheme}");
        // From rest without forces the only motion is rest.
        let several = run.certificate().several_solutions;
        assert_eq!(several, 1, "{scheme}");
    }
}

/// The first step studies the contacts of the impact that a run has at its start, those that open included.
#[test]
fn the_study_of_the_first_step_lists_what_a_run_does_at_its_start() {
    let settings = EnumerationSettings::default();
    let listed = |text: &str| {
        let study = scene(text, &[]).branches(1e-9, 1e-3, &settings);
        study.unwrap().unwrap().velocities
    };
    for (text, space) in [(CORNER.to_string(), false), (corner_in_space(), true)] {
        let found = listed(&text);
        for motion in [sliding_out(space), vec![0.0; 3]] {
            assert!(found.iter().any(|v| near(v, &motion)), "{found:?}");
        }
    }
    // One contact opens at first, and the strike of the other closes it: both slide, or the particle stops dead.
    let text = particle(
        [0.7157250485653665, 1.8331749866188318, 1.0060879005882677],
        &[
            (
                [-0.22177553630797542, 0.971976241611669, 0.07796022856408531],
                [-0.5970650241251976, -0.02979250745207751, 0.801639422350283],
                0.5360737436769165,
            ),
            (
                [0.6092598528303004, -0.7410176694793044, -0.2823034630475884],
                [
                    -0.6493259419978968,
                    0.7257175914956708,
                    -0.22739788574713385,
                ],
                0.6946971598035907,
            ),
        ],
        [
            -0.1390257819823065,
            0.012597484432273943,
            0.9158518290213478,
        ],
    );
    let (found, run) = (listed(&text), finished(&scene(&text, &[])));
    let taken = &run.state().v;
    let sliding = [
        0.15652395220869417,
        0.010917947035173844,
        0.3091473532681067,
    ];
    for motion in [&taken[..], &sliding, &[0.0; 3]] {
        assert!(
            found.iter().any(|v| near(v, motion)),
            "{motion:?} {found:?}"
        );
    }
}

/// Both contacts open; friction may hold the particle all the same, and the rule takes that.
#[test]
fn a_rule_chooses_among_contacts_that_only_touch() {
    let text = particle(
        [2.9723603603316744, 0.4912163110112697, 1.0056115394395635],
        &[
            (
                [-0.3842507668133478, 0.884892164590661, 0.26328160826272834],
                [
                    -0.8188919160970112,
                    -0.4427142163563916,
                    0.36526723420929996,
                ],
                4.443623570844016,
            ),
            (
                [0.20070588214137072, 0.16135036753642287, 0.9662728433365575],
                [
                    -0.015669689251389746,
                    -0.21363949999609488,
                    -0.9767868881594304,
                ],
                1.8893644277487154,
            ),
        ],
        [-1.4083274279523157, 0.12847574805175782, 0.8876472034521211],
    );
    let kinetic = |rule: &str| {
        finished(&scene(&text, &[("several_rule", rule)]))
            .state()
            .kinetic
    };
    assert!((kinetic("take-off-first") - 3.348).abs() < 1e-3);
    assert!(kinetic("least-energy") < 1e-12);
}

/// After the impact one contact is left with a velocity of rounding, and friction outweighs its normal impulse: no other motion.
#[test]
fn rounding_makes_no_motions() {
    let text = particle(
        [1.7933270356243949, 0.35124806829039085, 1.0920270395778384],
        &[
            (
                [
                    -0.9702479533311374,
                    0.009104189192569695,
                    -0.24194218895406555,
                ],
                [
                    -0.3724172659469725,
                    0.054541453162735405,
                    0.9264613375157535,
                ],
                1.656376729033505,
            ),
            (
                [-0.9660423942703963, 0.1754118646733299, -0.1897176064685236],
                [
                    -0.7109391776124424,
                    0.15500810161025894,
                    -0.6859577058178788,
                ],
                4.753221443891357,
            ),
        ],
        [0.3751587286931521, -1.0289368391540816, 0.4523115073548639],
    );
    for rule in ["smallest-impulse", "take-off-first"] {
        let run = finished(&scene(&text, &[("several_rule", rule)]));
        assert_eq!(run.certificate().several_solutions, 0, "{rule}");
    }
    let stop = scene(&text, &[("on_several", "stop")]);
    assert!(finished(&stop).state().t > 0.0);
}

/// Four contacts in the plane, three of which friction may jam: three motions, as an enumeration of all modes by hand says.
#[test]
fn four_contacts_that_strike_at_the_start_have_three_motions() {
    let text = particle(
        [1.4389408205692107, 0.8666770542419779, 1.2506787607863024],
        &[
            (
                [
                    0.24089722918266496,
                    -0.9585640167121215,
                    0.15206429836367905,
                ],
                [
                    -0.07281929614505044,
                    0.9574845024444838,
                    0.27914293415305863,
                ],
                1.267106670396629,
            ),
            (
                [
                    -0.10048884563827759,
                    0.7781955390460752,
                    -0.6199303952147167,
                ],
                [
                    -0.9553518388119617,
                    -0.00478697665823119,
                    -0.2954318008154791,
                ],
                0.6072879089217642,
            ),
            (
                [
                    0.08091285276311332,
                    -0.9209248023760038,
                    -0.3812487621310433,
                ],
                [
                    -0.8102582235380755,
                    -0.41517664301460466,
                    -0.41365440440547196,
                ],
                2.448078126166515,
            ),
            (
                [-0.5471426628636535, -0.6541896699064611, 0.5221788795634557],
                [0.5064082566093134, 0.5415716090438729, -0.671007354591249],
                0.7315209903075305,
            ),
        ],
        [
            -0.24002140076677128,
            0.3562514724097224,
            -1.5436073492952735,
        ],
    );
    let tree = scene(&text, &[("on_several", "branch")])
        .branch_tree()
        .unwrap();
    let motions = [
        [
            -0.6099773434398249,
            -0.3468612893824504,
            -1.0736889643053176,
        ],
        [
            -0.5983205135695778,
            -0.3117824113536387,
            -1.0175277718062457,
        ],
        [0.0, 0.0, 0.0],
    ];
    let starts: Vec<&[f64]> = tree.branches.iter().map(|b| &b.v[0][..]).collect();
    for motion in motions {
        let found = starts.iter().any(|v| near(v, &motion));
        assert!(found, "{motion:?} among {starts:?}");
    }
    let run = finished(&scene(&text, &[]));
    assert!(run.certificate().several_solutions > 0);
    let rank = run.certificate().rank_deficiency.expect("dependent rows");
    assert_eq!(rank.motion_is_unique, Some(false));
}

/// Two contacts that stop a particle dead, and nothing else: their rows depend on each other, the motion is unique.
#[test]
fn a_body_stopped_dead_has_one_motion() {
    let text = particle(
        [1.0713872712697186, 0.642855689754723, 1.234209279437939],
        &[
            (
                [-0.5275429592136998, 0.23486338363323697, 0.816417550774357],
                [
                    -0.42646073492372044,
                    -0.8991097975730808,
                    0.0986550225605048,
                ],
                0.5874396037683918,
            ),
            (
                [-0.787150193248908, -0.5744851819032756, -0.2244133441704546],
                [
                    -0.9308142887926445,
                    -0.21455729444876154,
                    0.29588836945420977,
                ],
                1.2690186285832856,
            ),
        ],
        [0.6469581893047234, 1.297984202945376, 0.07428191400197745],
    );
    for rule in ["take-off-first", "least-energy"] {
        let run = finished(&scene(&text, &[("several_rule", rule)]));
        assert_eq!(run.certificate().several_solutions, 0, "{rule}");
        let rank = run.certificate().rank_deficiency.expect("dependent rows");
        assert_eq!(rank.motion_is_unique, Some(true), "{rule}");
    }
}

#[test]
fn the_scheme_from_event_to_event_takes_no_rule() {
    for (key, word) in [("several_rule", "least-energy"), ("on_several", "branch")] {
        let changes = Changes::new().key("scheme", "event-driven").key(key, word);
        let source = SourceText::new("scene", CORNER);
        let refused = Scene::parse(changes.apply(&source).unwrap());
        let message = refused.map(|_| ()).expect_err("refused").to_string();
        assert!(message.contains(key), "{message}");
    }
}
