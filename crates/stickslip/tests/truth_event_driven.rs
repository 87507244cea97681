//! Motions from event to event with exact answers: ends of rocking, feet that stop or lift together, dead centres, other units of time.

use std::ops::ControlFlow;

use stickslip::internals::summary::RunSettings;
use stickslip::records::{ContactMode, EventKind, StepOutcome};
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::{RunEnd, RunOutcome, RunSummary};

/// Runs a scene; the summary, and coordinates and velocities at the end.
fn run(text: &str) -> (RunSummary, Vec<f64>, Vec<f64>) {
    let (summary, q, v, _) = run_with_modes(text);
    (summary, q, v)
}

/// The same with the modes of the contacts at the end.
fn run_with_modes(text: &str) -> (RunSummary, Vec<f64>, Vec<f64>, Vec<ContactMode>) {
    let scene = Scene::parse(SourceText::new("scene.toml", text));
    let scene = scene.unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let mut modes = Vec::new();
    let end = simulation.run_until(scene.settings.until, |record| {
        modes = record.contacts.iter().map(|c| c.mode).collect();
        ControlFlow::Continue(())
    });
    let facts = scene.facts(simulation.system());
    let summary = RunSummary::new(&simulation, (RunSettings::default(), &facts), end, 0.0);
    assert_eq!(summary.outcome, RunOutcome::Finished, "{}", summary.reason);
    assert!(summary.certified, "{}", summary.reason);
    let state = simulation.state();
    (summary, state.q.clone(), state.v.clone(), modes)
}

/// Half width and height of the rocking block, its tilt, and gravity.
const BLOCK: [f64; 4] = [0.1, 0.2, 0.15, 9.81];

fn rocking_in_the_plane(s: f64) -> String {
    let [b, h, tilt, g] = BLOCK;
    format!(
        "title = \"rocking\"\nscheme = \"event-driven\"\nstep = {:e}\nuntil = {:e}\n\
         [parameters]\nb = {b}\nh = {h}\ntilt = {tilt}\ng = {:e}\n\
         [definitions]\nxl = \"x - b*cos(a) + h*sin(a)\"\nyl = \"y - b*sin(a) - h*cos(a)\"\n\
         xr = \"x + b*cos(a) + h*sin(a)\"\nyr = \"y + b*sin(a) - h*cos(a)\"\n\
         [system]\ncoordinates = [\"x\", \"y\", \"a\"]\n\
         kinetic_energy = \"(x'^2 + y'^2)/2 + (b^2 + h^2)*a'^2/6\"\npotential = \"g*y\"\n\
         [[contacts]]\nname = \"left\"\ngap = \"yl\"\npoint = [\"xl\", \"yl\"]\nfriction = 1\n\
         [[contacts]]\nname = \"right\"\ngap = \"yr\"\npoint = [\"xr\", \"yr\"]\nfriction = 1\n\
         [initial]\nx = \"b*cos(tilt) - h*sin(tilt)\"\ny = \"b*sin(tilt) + h*cos(tilt)\"\na = \"tilt\"\n",
        0.01 * s,
        1.5 * s,
        g / (s * s)
    )
}

fn rocking_in_space() -> String {
    let [b, h, tilt, g] = BLOCK;
    let moment = (b * b + h * h) / 3.0;
    let feet = [(-b, -0.05), (-b, 0.05), (b, -0.05), (b, 0.05)];
    let contacts: String = feet
        .iter()
        .enumerate()
        .fold(String::new(), |text, (k, (x, y))| {
            text + &format!(
                "[[contacts]]\nname = \"p{k}\"\narm = [{x}, {y}, {}]\nfriction = 1\n",
                -h
            )
        });
    format!(
        "title = \"rocking\"\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 1.5\n\
         [body]\nmass = 1\nmoments = [0.0142, {moment}, 0.0042]\ngravity = [0, 0, {}]\n\
         position = [0, 0, {}]\nrotation = [0, {tilt}, 0]\n{contacts}",
        -g,
        b * tilt.sin() + h * tilt.cos()
    )
}

/// Instants of the impacts of Housner's block, the speeds at which its corners strike, and the end of its rocking: the spin falls by 1 − 3/2 sin² α at each impact, and
/// between two impacts θ'² = ω² − k (cos(α − θ) − cos α) with k = 3g/(2R), the time by quadrature (Simpson's rule in s, θ = θ_max (1 − s²), smooth at the turning point).
fn housner() -> (Vec<f64>, Vec<f64>, f64) {
    let [b, h, tilt, g] = BLOCK;
    let (alpha, r) = (b.atan2(h), b.hypot(h));
    let k = 1.5 * g / r;
    let swing = |top: f64| {
        let slope = |s: f64| {
            let x = 0.5 * top * s * s;
            let sinc = if x > 0.0 { x.sin() / x } else { 1.0 };
            2.0 * top / (k * top * (alpha - top + x).sin() * sinc).sqrt()
        };
        let n = 400;
        let weight = |i: usize| match i {
            0 => 1.0,
            i if i == n => 1.0,
            i if i % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let sum: f64 = (0..=n)
            .map(|i| weight(i) * slope(i as f64 / n as f64))
            .sum();
        sum / (3 * n) as f64
    };
    let mut spin = (k * 2.0 * (alpha - 0.5 * tilt).sin() * (0.5 * tilt).sin()).sqrt();
    let mut t = swing(tilt);
    let (mut times, mut speeds) = (Vec::new(), Vec::new());
    while spin > 1e-18 {
        times.push(t);
        speeds.push(2.0 * b * spin);
        spin *= 1.0 - 1.5 * alpha.sin().powi(2);
        let mut top = 0.0;
        for _ in 0..60 {
            top = 2.0 * (spin * spin / (2.0 * k * (alpha - 0.5 * top).sin())).asin();
        }
        t += 2.0 * swing(top);
    }
    (times, speeds, t)
}

/// No corner rebounds where it strikes: the series is that of both, and ends at the instant that the quadratures sum up to.
#[test]
fn a_rocking_block_ends_its_rocking_at_housners_instant_in_plane_and_space() {
    let (times, speeds, end) = housner();
    for text in [rocking_in_the_plane(1.0), rocking_in_space()] {
        let (summary, _, v) = run(&text);
        assert!(v.iter().all(|v| v.abs() < 1e-12), "{v:?}");
        let of_kind = |kind: EventKind| summary.events.iter().filter(move |e| e.kind == kind);
        // In space two feet strike at once.
        let mut impacts: Vec<(f64, f64)> = Vec::new();
        for event in of_kind(EventKind::Impact) {
            if impacts.last().is_none_or(|last| event.t - last.0 > 1e-10) {
                impacts.push((event.t, -event.approach));
            }
        }
        assert!(impacts.len() > 25, "{impacts:?}");
        for (k, (t, speed)) in impacts.iter().take(25).enumerate() {
            assert!((t - times[k]).abs() < 1e-9, "{k}: {t} {}", times[k]);
            assert!(
                (speed - speeds[k]).abs() < 1e-9,
                "{k}: {speed} {}",
                speeds[k]
            );
        }
        let told: Vec<f64> = of_kind(EventKind::Accumulation).map(|e| e.t).collect();
        assert!(!told.is_empty() && told.len() <= 2, "{told:?}");
        assert!(
            told.iter().all(|t| (t - end).abs() < 1e-8),
            "{told:?} {end}"
        );
    }
}

/// A tall box on the corners of one edge rocks from one to the other while it turns about that edge, with friction that tips it as soon as it slips (μ above the slope of its diagonal).
/// The rocking is a geometric series; after its end the box turns about the edge alone, as a pendulum does, and keeps that energy until its face lands. Before, slip of the size
/// of rounding lifted one corner or the other for ever.
#[test]
fn a_box_that_tips_when_it_slips_ends_its_rocking_on_an_edge() {
    let arm = [
        0.07280970225201244f64,
        0.04827872538337996,
        0.19672632336223034,
    ];
    let moments = [
        0.013677360542754875,
        0.014667499681882504,
        0.0025440293555568406,
    ];
    let mut text = format!(
        "title = \"tipping\"\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 1\n\
         [body]\nmass = 1\nmoments = {moments:?}\ngravity = [0, 0, -9.81]\n\
         position = [0, 0, 0.20217796222866952]\nrotation = [0.30238362933532054, 0, 0]\n\
         velocity = [-0.38975387890927093, 0.2, 0]\n"
    );
    for (k, [x, y]) in [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]
        .iter()
        .enumerate()
    {
        text += &format!(
            "[[contacts]]\nname = \"p{k}\"\narm = [{}, {}, {}]\nfriction = 0.3771017828196057\n",
            x * arm[0],
            y * arm[1],
            -arm[2]
        );
    }
    let (summary, q, v) = run(&text);
    let ends = summary
        .events
        .iter()
        .filter(|e| e.kind == EventKind::Accumulation);
    let ends: Vec<f64> = ends.map(|e| e.t).collect();
    assert!(!ends.is_empty() && ends.len() <= 2, "{ends:?}");
    let impacts = summary
        .events
        .iter()
        .filter(|e| e.kind == EventKind::Impact);
    let times: Vec<f64> = impacts.map(|e| e.t).filter(|t| *t < ends[0]).collect();
    let between: Vec<f64> = times.windows(2).map(|w| w[1] - w[0]).collect();
    let (first, last) = (between[25] / between[24], between[35] / between[34]);
    assert!((first - last).abs() < 2e-3 && last < 0.85, "{first} {last}");
    let sum = times[36] + between[35] * last / (1.0 - last);
    assert!((ends[0] - sum).abs() < 1e-5, "{} {sum}", ends[0]);
    // At the end it turns about the edge of p1 and p3, which stays on the floor: height and spin keep the energy they had when the rocking ended.
    let spin = (v[3] * v[3] + v[4] * v[4] + v[5] * v[5]).sqrt();
    assert!((v[3].abs() - spin).abs() < 1e-12 && spin > 0.1, "{v:?}");
    let lever = arm[1].hypot(arm[2]);
    let angle = (q[2] / lever).asin();
    let speed = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
    assert!(
        (speed - spin * lever).abs() < 1e-12,
        "{speed} {}",
        spin * lever
    );
    assert!((v[2].abs() - spin * lever * angle.cos()).abs() < 1e-9);
}

/// Four feet of a block thrown along and across a slope that holds it stop at once. Their pressures differ, so that equal shares of friction, which have the least norm, leave the cones
/// of the upper feet, while others do not. Before, two of the feet were said to slip at rest, or the motion did not get on. All points have one velocity, so the centre moves as a particle, whose way is known: with φ the angle of the velocity to the
/// slope, κ = μ cot β and z = tan(φ/2), its speed is C z^κ/sin φ.
#[test]
fn a_block_with_four_feet_stops_where_a_particle_does() {
    let (along, down, mu) = (5.71776336335912f64, 7.971404024425573f64, 0.887f64);
    let start = [0.2f64, 0.03];
    let mut text = format!(
        "title = \"slope\"\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 0.3\n\
         [body]\nmass = 1\nmoments = [0.0056, 0.0046, 0.0032]\ngravity = [{along}, 0, {}]\n\
         position = [0, 0, 0.06]\nvelocity = [{}, {}, 0]\n",
        -down, start[0], start[1]
    );
    for (k, [x, y]) in [[-0.08, -0.1], [-0.08, 0.1], [0.08, -0.1], [0.08, 0.1]]
        .iter()
        .enumerate()
    {
        text +=
            &format!("[[contacts]]\nname = \"p{k}\"\narm = [{x}, {y}, -0.06]\nfriction = {mu}\n");
    }
    let (_, q, v, modes) = run_with_modes(&text);
    let kappa = mu * down / along;
    let angle = start[1].atan2(start[0]);
    let z = (0.5 * angle).tan();
    let c = start[0].hypot(start[1]) * angle.sin() / z.powf(kappa);
    let power = |p: f64| z.powf(2.0 * kappa + p) / (2.0 * kappa + p);
    let x = c * c / (4.0 * along) * (power(-2.0) - power(2.0));
    let y = c * c / (2.0 * along) * (power(-1.0) + power(1.0));
    assert!(
        (q[0] - x).abs() < 1e-12 && (q[1] - y).abs() < 1e-12,
        "{q:?} {x} {y}"
    );
    assert!(v.iter().all(|v| v.abs() < 1e-12), "{v:?}");
    assert!(modes.iter().all(|m| *m == ContactMode::Stick), "{modes:?}");
}

/// Two feet that slide are unloaded at the same instant and lift together: y''= 10 t − 10 from t = 1 on. Before, they took turns at that instant.
#[test]
fn two_feet_whose_pressures_vanish_together_lift_together() {
    let (_, q, v) = run(
        "title = \"lifted\"\nscheme = \"event-driven\"\nstep = 0.05\nuntil = 2\n\
         [system]\ncoordinates = [\"x\", \"y\", \"a\"]\nkinetic_energy = \"(x'^2 + y'^2 + 0.01*a'^2)/2\"\n\
         potential = \"10*y\"\nforces = { y = \"10*t\" }\n\
         [[contacts]]\nname = \"left\"\ngap = \"y - 0.1*sin(a)\"\npoint = [\"x - 0.1*cos(a)\", \"y - 0.1*sin(a)\"]\nfriction = 0.1\n\
         [[contacts]]\nname = \"right\"\ngap = \"y + 0.1*sin(a)\"\npoint = [\"x + 0.1*cos(a)\", \"y + 0.1*sin(a)\"]\nfriction = 0.1\n\
         [initial]\nx_dot = 3\n",
    );
    // Friction takes t − t²/2 of the speed, until t = 1.
    let exact = [3.0 - 0.5 + 1.0 / 6.0 + 2.5, 10.0 / 6.0, 0.0];
    assert!(
        q.iter().zip(&exact).all(|(q, x)| (q - x).abs() < 1e-10),
        "{q:?}"
    );
    assert!(
        (v[0] - 2.5).abs() < 1e-10 && (v[1] - 5.0).abs() < 1e-10,
        "{v:?}"
    );
}

/// The point that slides is moved by a crank: at its dead centres slip reverses, and no friction could hold it there. Friction takes μ N |dx| of the energy: p'²/2 + ∫|sin p| dp is
/// constant. Before, a contact that did not move at the dead centre was said to stick, and the motion broke down.
#[test]
fn slip_reverses_at_the_dead_centre_of_a_crank() {
    let (summary, q, v) = run(
        "title = \"dead centre\"\nscheme = \"event-driven\"\nstep = 0.05\nuntil = 1.8\n\
         [system]\ncoordinates = [\"p\", \"y\"]\nkinetic_energy = \"(p'^2 + y'^2)/2\"\npotential = \"10*y\"\n\
         [[contacts]]\nname = \"slide\"\ngap = \"y\"\npoint = [\"cos(p)\", \"y\"]\nfriction = 0.1\n\
         [initial]\np = 1\np_dot = 3\n",
    );
    let turns = (q[0] / std::f64::consts::PI).floor();
    assert!(turns >= 1.0, "{q:?}");
    let way = 1f64.cos() + 2.0 * turns - (q[0] - turns * std::f64::consts::PI).cos();
    assert!((v[0] * v[0] / 2.0 + way - 4.5).abs() < 1e-10, "{q:?} {v:?}");
    // It slides before and after: no slip begins there.
    let slips = summary.events.iter().filter(|e| e.kind == EventKind::Slip);
    assert_eq!(slips.count(), 0);
}

/// The gallery's slider-crank passes its dead centres, and the reactions of the two corners that slide vanish together.
#[test]
fn the_slider_crank_runs_from_event_to_event() {
    let source = stickslip::scene::find_in_gallery("slider-crank")
        .unwrap()
        .source();
    let changes = [
        ("scheme", "event-driven"),
        ("until", "0.05"),
        ("step", "0.0005"),
        ("every", "1"),
    ];
    let edits = changes
        .iter()
        .fold(stickslip::scene::Changes::new(), |edits, (key, value)| {
            edits.key(*key, *value)
        });
    let scene = edits.apply(&source).unwrap_or_else(|e| panic!("{e}"));
    let (summary, ..) = run(scene.text());
    let lost = summary.energy.totals.get("numerical_mass").unwrap_or(0.0);
    assert!(lost.abs() < 1e-9, "{lost}");
}

/// In units of time other by a power of two the same numbers come out, bit by bit; by a millionth or a million up to rounding.
#[test]
fn a_motion_in_another_unit_of_time_is_the_same_from_event_to_event() {
    let (one, q, _) = run(&rocking_in_the_plane(1.0));
    for s in [2f64.powi(20), 2f64.powi(-20), 1e6, 1e-6] {
        let (other, moved, _) = run(&rocking_in_the_plane(s));
        assert_eq!(one.events.len(), other.events.len(), "{s}");
        for (a, b) in one.events.iter().zip(&other.events) {
            assert_eq!(a.kind, b.kind, "{s}");
            assert!(
                (a.t - b.t / s).abs() < 1e-8 * a.t,
                "{s}: {} {}",
                a.t,
                b.t / s
            );
        }
        let exact = s.log2().fract() == 0.0;
        for (a, b) in q.iter().zip(&moved) {
            assert!(
                if exact { a == b } else { (a - b).abs() < 1e-10 },
                "{s}: {a} {b}"
            );
        }
    }
}

/// A ball hits the second of two that touch while the third moves off slowly: what closes the opening contact strikes it too. Without restitution all three go on
/// together; with restitution 1 the energy stays. A particle that hits one wall of an acute corner while it leaves the other has impulses at both, and friction
/// takes its share of each.
#[test]
fn a_contact_that_opens_is_struck_by_what_closes_it() {
    let balls = |e: f64, friction: &str| {
        format!(
            "title = \"balls\"\nscheme = \"event-driven\"\nstep = 1e-3\nuntil = 2e-3\n[system]\ncoordinates = [\"a\", \"b\", \"c\"]\n\
             kinetic_energy = \"(a'^2 + b'^2 + c'^2)/2\"\n[[contacts]]\nname = \"ab\"\ngap = \"b - a\"\nrestitution = {e}\n{friction}\
             [[contacts]]\nname = \"bc\"\ngap = \"c - b\"\nrestitution = {e}\n[initial]\na_dot = 1\nc_dot = 0.2\n"
        )
    };
    let (_, _, v) = run(&balls(0.0, ""));
    assert!(v.iter().all(|v| (v - 0.4).abs() < 1e-12), "{v:?}");
    let (_, _, v) = run(&balls(1.0, ""));
    let energy: f64 = v.iter().map(|v| 0.5 * v * v).sum();
    assert!(
        (energy - 0.52).abs() < 1e-12 && (v.iter().sum::<f64>() - 1.2).abs() < 1e-12,
        "{v:?}"
    );
    assert!(v[0] <= v[1] && v[1] <= v[2], "{v:?}");
    let corner = |mu: f64| {
        format!(
            "title = \"corner\"\nscheme = \"event-driven\"\nstep = 1e-3\nuntil = 2e-3\n[system]\ncoordinates = [\"x\", \"y\", \"z\"]\n\
             kinetic_energy = \"(x'^2 + y'^2 + z'^2)/2\"\n[[contacts]]\nname = \"A\"\ngap = \"y\"\npoint = [\"x\", \"y\", \"z\"]\nfriction = {mu}\n\
             [[contacts]]\nname = \"B\"\ngap = \"x*sin(pi/3) - y*cos(pi/3)\"\npoint = [\"x\", \"y\", \"z\"]\nfriction = {mu}\n\
             [initial]\nx_dot = \"(0.2 - cos(pi/3))/sin(pi/3)\"\ny_dot = -1\nz_dot = 1\n"
        )
    };
    for mu in [0.0, 0.1, 0.3] {
        let (_, _, v) = run(&corner(mu));
        // Both walls stop it across: B gives 0.2/sin 60 twice over cos 60, A the rest.
        let b = -((0.2 - 0.5) / 0.75f64.sqrt()) / 0.75f64.sqrt();
        let a = 1.0 + 0.5 * b;
        let left = 1.0 - mu * (a + b);
        assert!(
            (v[2] - left).abs() < 1e-9 && v[0].hypot(v[1]) < 1e-9,
            "{mu}: {v:?} and {left}"
        );
    }
}

/// Friction that holds until the force or the belt jumps: what comes next is chosen by what acts afterwards.
#[test]
fn forces_and_belts_that_jump_set_off_what_stuck_or_slid() {
    let scene = |system: &str, contact: &str| {
        format!(
            "title = \"jumps\"\nscheme = \"event-driven\"\nstep = 1e-2\nuntil = 0.5\n[system]\ncoordinates = [\"x\", \"z\"]\n\
             kinetic_energy = \"(x'^2 + z'^2)/2\"\nforces = {{ x = \"{system}\", z = \"-10\" }}\n[[contacts]]\nname = \"floor\"\ngap = \"z\"\n{contact}"
        )
    };
    // Held at 2 N of 3.5, dragged off by 5.
    for (first, then) in [(2.0, -5.0), (0.0, 20.0), (-3.4, 4.0)] {
        let force = format!("if(t < 0.3, {first}, {then})");
        let text = scene(&force, "point = [\"x\", \"z\"]\nfriction = 0.35\n");
        let (_, q, v) = run(&text);
        let a = then - 3.5f64 * f64::signum(then);
        assert!(
            (v[0] - 0.2 * a).abs() < 1e-10 && (q[0] - 0.02 * a).abs() < 1e-10,
            "{q:?} {v:?}"
        );
    }
    // A belt that reverses past the block: friction changes its side at once.
    let (_, q, v) = run(&scene(
        "0",
        "slip = \"x' - if(t < 0.1, 0.5, -0.5)\"\nfriction = 0.3\n",
    ));
    let turned = 0.3 - 3.0 * 0.4;
    let reached = 0.5 * 3.0 * 0.1f64.powi(2);
    let stops = (0.3 + 0.5) / 3.0;
    let way = reached + 0.3 * stops - 1.5 * stops * stops - 0.5 * (0.4 - stops);
    assert!(
        turned < -0.5 && (v[0] + 0.5).abs() < 1e-10 && (q[0] - way).abs() < 1e-10,
        "{q:?} {v:?} {way}"
    );
}

/// A bead on a wire that a lift presses on a wall across which it acts: the wall feels the lift only as the wire turns it aside. It comes to rest there where the
/// same bead in its arc coordinate alone does, and its impacts are those of its energy.
#[test]
fn a_bead_on_a_wire_is_pressed_on_a_wall_by_the_wire_alone() {
    // Height and slope of the wire over x.
    type Wire = (&'static str, fn(f64) -> [f64; 2]);
    let wires: [Wire; 4] = [
        ("2*x^2", |x| [2.0 * x * x, 4.0 * x]),
        ("0.3*cos(3*x)", |x| {
            [0.3 * (3.0 * x).cos(), -0.9 * (3.0 * x).sin()]
        }),
        ("1 - sqrt(1 - x^2)", |x| {
            let root = (1.0 - x * x).sqrt();
            [1.0 - root, x / root]
        }),
        // Nearly along the wall: its forces are large, what they leave is small.
        ("-1e3*x", |x| [-1e3 * x, -1e3]),
    ];
    for (wire, at) in wires {
        for (e, friction) in [(0.0, 0.0), (0.5, 0.0), (0.5, 0.1)] {
            let [wall, steep] = at(-0.02);
            let lift = if steep < 0.0 { 3.0 } else { -3.0 };
            let (start, v) = match wire.starts_with('-') {
                true => (-0.0199, -1e-3),
                false => (-0.015, -0.01),
            };
            let [y, slope] = at(start);
            let text = format!(
                "title = \"wire\"\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 3\n\
                 [system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"-({lift})*y\"\n\
                 [[joints]]\nname = \"wire\"\nequation = \"y - ({wire})\"\n\
                 [[contacts]]\nname = \"wall\"\ngap = \"x + 0.02\"\npoint = [\"x\", \"y\"]\nfriction = {friction}\nrestitution = {e}\n\
                 [initial]\nx = {start}\ny = {y}\nx_dot = {v}\ny_dot = {}\n",
                slope * v
            );
            let (summary, q, v_end) = run(&text);
            let off = (q[0] + 0.02).abs().max((q[1] - wall).abs());
            assert!(
                off < 1e-9 && v_end[1].abs() < 1e-9,
                "{wire} {e}: {q:?} {v_end:?}"
            );
            // The first impact has the energy of the start and of the lift.
            let kinetic = 0.5 * (1.0 + slope * slope) * v * v + lift * (wall - y);
            let approach = (2.0 * kinetic / (1.0 + steep * steep)).sqrt();
            let first = summary.events.iter().find(|event| event.approach < 0.0);
            let found = first.map_or(0.0, |event| -event.approach);
            assert!(
                (found - approach).abs() < 1e-9 * approach,
                "{wire}: {found} {approach}"
            );
        }
    }
}

/// A spring turns a block about before friction holds it: it slides all the while, by swings that are 2 μ m g/k shorter each, and stops once.
#[test]
fn a_slip_that_turns_about_is_no_new_slip() {
    let (mass, stiffness, mu, g, start) = (2.0, 50.0, 0.1f64, 10.0, 0.19);
    let offset = mu * mass * g / stiffness;
    let (mut amplitude, mut turns) = (start, 0);
    while amplitude > offset {
        (amplitude, turns) = ((amplitude - 2.0 * offset).abs(), turns + 1);
    }
    let stop = f64::from(turns) * std::f64::consts::PI * (mass / stiffness).sqrt();
    assert_eq!(turns, 2);
    let text = format!(
        "title = \"oscillator\"\nscheme = \"event-driven\"\nlaw = \"coulomb\"\nstep = 0.01\nuntil = 2\n\
         [system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"{mass}*(x'^2 + y'^2)/2\"\n\
         potential = \"{mass}*{g}*y + {stiffness}*x^2/2\"\n\
         [[contacts]]\nname = \"floor\"\ngap = \"y\"\npoint = [\"x\", \"y\"]\nfriction = {mu}\n\
         [initial]\nx = {start}\n"
    );
    let (summary, q, _) = run(&text);
    let told: Vec<_> = summary.events.iter().map(|e| (e.kind, e.t)).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].0 == EventKind::Stick && (told[0].1 - stop).abs() < 1e-9,
        "{told:?}, {stop}"
    );
    assert!((q[0].abs() - amplitude).abs() < 1e-9, "{q:?}");
}

/// Forces of the plane and of space that have a value before an impact at the start and none after it stop the run by name, as under every scheme.
#[test]
fn a_force_without_value_after_the_impact_at_the_start_stops_the_run() {
    for (coordinates, force) in [
        ("\"x\", \"y\"", "log(0.25 - y')"),
        ("\"x\", \"z\", \"y\"", "1/(y' - 0.5)"),
        ("\"x\", \"z\", \"y\"", "sqrt(-y')"),
    ] {
        let energy = match coordinates.len() {
            8 => "(x'^2 + y'^2)/2",
            _ => "(x'^2 + z'^2 + y'^2)/2",
        };
        let text = format!(
            "title = \"ball\"\nscheme = \"event-driven\"\nimpact = \"newton\"\nuntil = 0.1\nstep = 1e-3\n\
             [system]\ncoordinates = [{coordinates}]\nkinetic_energy = \"{energy}\"\nforces = {{ x = \"{force}\" }}\n\
             [[contacts]]\nname = \"floor\"\ngap = \"y\"\nrestitution = 0.5\n[initial]\ny_dot = -1\n"
        );
        let scene = Scene::parse(SourceText::new("scene.toml", text)).unwrap();
        let mut simulation = scene.simulation().unwrap();
        let end = simulation.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
        let outcome = StepOutcome::NonFinite;
        assert_eq!(end, RunEnd::Stopped { t: 0.0, outcome }, "{force}");
    }
}
