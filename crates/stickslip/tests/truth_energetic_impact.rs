//! The energetic impact in runs: closed forms, the penalty method whose limit it is, and what is refused.

use std::ops::ControlFlow;

use stickslip::internals::summary::RunSettings;
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::{RunEnd, RunSummary};

/// Runs a scene given as text; the error is that of the scene or of the simulation.
fn run(text: &str) -> Result<(Vec<f64>, RunSummary), String> {
    let scene =
        Scene::parse(SourceText::new("test.toml", text)).map_err(|error| error.to_string())?;
    let mut simulation = scene.simulation().map_err(|error| error.to_string())?;
    let until = scene.settings.until;
    let end: RunEnd = simulation.run_until(until, |_| ControlFlow::Continue(()));
    let facts = scene.facts(simulation.system());
    let settings = (RunSettings::default(), &facts);
    let summary = RunSummary::new(&simulation, settings, end, 0.0);
    Ok((simulation.state().v.clone(), summary))
}

/// A body over the plane z = 0 whose inertia couples all three directions.
fn coupled(friction: &str, settings: &str) -> String {
    format!(
        "title = 'coupled'\n{settings}\nuntil = 0.05\n\
         [system]\ncoordinates = ['x', 'y', 'z']\n\
         kinetic_energy = '(2*x''^2 + 1.5*y''^2 + z''^2)/2 + 0.6*x''*z'' - 0.4*y''*z'' + 0.5*x''*y'''\n\
         potential = '9.81*z - 5*x'\n\
         [[contacts]]\nname = 'plane'\ngap = 'z'\npoint = ['x', 'y', 'z']\n\
         friction = {friction}\nrestitution = 1\n\
         [initial]\nx_dot = 1.5\ny_dot = -1\nz_dot = -2\n"
    )
    .replace('\'', "\"")
    .replace("\"\"", "'")
}

#[test]
fn a_particle_in_space_loses_what_friction_takes() {
    for (scheme, y) in [("moreau-jean", 0.0), ("moreau", 0.4), ("event-driven", 0.0)] {
        let text = format!(
            "title = \"particle\"\nscheme = \"{scheme}\"\nimpact = \"energetic\"\nstep = 0.01\nuntil = 0.02\n\
             [system]\ncoordinates = [\"x\", \"y\", \"z\"]\nkinetic_energy = \"(x'^2 + y'^2 + z'^2)/2\"\n\
             [[contacts]]\nname = \"plane\"\ngap = \"z\"\npoint = [\"x\", \"y\", \"z\"]\nfriction = 0.5\n\
             restitution = 1\n[initial]\nx_dot = 3\ny_dot = {y}\nz_dot = -1\n"
        );
        let (v, summary) = run(&text).unwrap();
        let speed = 3f64.hypot(y);
        let expected = [3.0 - 3.0 / speed, y - y / speed, 1.0];
        for (v, e) in v.iter().zip(expected) {
            assert!((v - e).abs() < 1e-9, "{scheme}: {v} {e}");
        }
        assert!(summary.certified, "{scheme}");
    }
}

/// Slip that reverses while the impact lasts, of a motion in a plane that is written with three coordinates: the phases of the plane,
/// from stop to stop, by hand.
#[test]
fn slip_that_reverses_along_a_coordinate_in_space_is_that_of_the_plane() {
    // M⁻¹ has 1 on its diagonal and -c between x and z: du_n/dp = 1 - c s, du_t/dp = -c + s. The slip stops while the contact springs
    // back, or while it is compressed.
    let (c, mu) = (0.6f64, 0.25f64);
    let exact = |slip: f64| {
        let stop = slip / (c + mu);
        let normal = -1.0 + (1.0 + c * mu) * stop;
        // From there on friction acts the other way, until the normal work of the whole impact is nothing.
        let (owed, lift) = (0.5 * stop * (1.0 - normal), 1.0 - c * mu);
        let after = (normal * normal + 2.0 * lift * owed).sqrt();
        [(mu - c) * (after - normal) / lift, 0.0, after]
    };
    let diagonal = 1.0 / (1.0 - c * c);
    for scheme in ["moreau-jean", "moreau", "sweeping-process", "event-driven"] {
        for friction in [mu.to_string(), format!("{{ ellipse = [{mu}, 0.1] }}")] {
            for (slip, across) in [(0.85, 0.0), (0.85, 1e-12), (0.4, 0.0)] {
                let expected = exact(slip);
                let text = format!(
                    "title = \"reversal\"\nscheme = \"{scheme}\"\nimpact = \"energetic\"\nstep = 1e-3\nuntil = 2e-3\n\
                     [system]\ncoordinates = [\"x\", \"y\", \"z\"]\n\
                     mass_matrix = [[{diagonal}, 0, {0}], [0, 1, 0], [{0}, 0, {diagonal}]]\n\
                     [[contacts]]\nname = \"c\"\ngap = \"z\"\nslip = [\"x'\", \"y'\"]\nfriction = {friction}\n\
                     restitution = 1\n[initial]\nx_dot = {slip}\ny_dot = {across}\nz_dot = -1\n",
                    c * diagonal
                );
                let (v, summary) = run(&text).unwrap();
                for (v, e) in v.iter().zip(expected) {
                    assert!((v - e).abs() < 1e-10, "{scheme} {friction}: {v} {e}");
                }
                assert!(summary.certified, "{scheme}");
            }
        }
    }
}

/// A particle whose friction depends on its slip speed loses du = -μ(u) dp along the layer: exp(u/c) is linear in exp(-a p/c).
#[test]
fn friction_of_the_slip_speed_is_read_along_the_layer() {
    let slowed = |u: f64, [a, b, c]: [f64; 3], p: f64| {
        let x = ((u / c).exp() + b / a) * (-a * p / c).exp() - b / a;
        if x > 1.0 { c * x.ln() } else { 0.0 }
    };
    // The second law falls so steeply that a step has several answers, the third one stops the slip.
    for (law, start) in [
        ([0.2, 0.3, 1.0], 3.0),
        ([0.1, 0.8, 0.5], 1.0),
        ([0.3, 0.4, 0.2], 0.5),
    ] {
        for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
            for e in [0.0, 0.5, 1.0] {
                let [a, b, c] = law;
                let text = format!(
                    "title = \"particle\"\nscheme = \"{scheme}\"\nimpact = \"energetic\"\nstep = 1e-3\nuntil = 2e-3\n\
                     [system]\ncoordinates = [\"x\", \"y\", \"z\"]\nkinetic_energy = \"(x'^2 + y'^2 + z'^2)/2\"\n\
                     [[contacts]]\nname = \"floor\"\ngap = \"z\"\npoint = [\"x\", \"y\", \"z\"]\n\
                     friction = \"{a} + {b}*exp(-s/{c})\"\nrestitution = {e}\n\
                     [initial]\nx_dot = {}\ny_dot = {}\nz_dot = -1\n",
                    0.6 * start,
                    0.8 * start
                );
                let (v, summary) = run(&text).unwrap();
                let left = slowed(start, law, 1.0 + e);
                for (v, e) in v.iter().zip([0.6 * left, 0.8 * left, e]) {
                    assert!((v - e).abs() < 1e-9, "{scheme} {law:?}: {v} {e}");
                }
                assert!(summary.certified, "{scheme} {law:?}: {}", summary.reason);
            }
        }
    }
}

/// Forces of a step that holds an impact press with the friction of what is left of the slip, under the law of its speed too.
#[test]
fn a_body_that_lands_on_friction_of_the_slip_speed_slides_on() {
    let scene = |scheme: &str, step: f64| {
        format!(
            "title = \"landing\"\nscheme = \"{scheme}\"\nimpact = \"energetic\"\nstep = {step}\nuntil = 0.2\n\
             [system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n\
             [[contacts]]\nname = \"floor\"\ngap = \"y\"\nslip = \"x'\"\nfriction = \"0.1 + 0.1*exp(-s/0.5)\"\n\
             restitution = 0\n[initial]\nx_dot = 1.5\ny_dot = -0.5\n"
        )
    };
    // The impact and the weight of 0.2 s take from the slip as one normal impulse does.
    let (a, b, c, p) = (0.1f64, 0.1f64, 0.5f64, 0.5 + 0.2 * 9.81);
    let x = ((1.5 / c).exp() + b / a) * (-a * p / c).exp() - b / a;
    let expected = c * x.ln();
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        let error = |step: f64| {
            let (v, summary) = run(&scene(scheme, step)).unwrap();
            assert!(summary.certified, "{scheme}: {}", summary.reason);
            (v[0] - expected).abs()
        };
        let (coarse, fine) = (error(4e-3), error(1e-3));
        assert!(
            coarse < 1e-3 && fine < 0.35 * coarse,
            "{scheme}: {coarse} {fine}"
        );
    }
}

#[test]
fn the_undamped_penalty_method_tends_to_it_at_rate_one_in_space() {
    for friction in [
        "0.4",
        "{ ellipse = [0.5, 0.2] }",
        "{ polygon = [[0.4, 0.1], [-0.3, 0.3], [-0.3, -0.3], [0.2, -0.4]] }",
        "'0.1 + 0.5*exp(-s)'",
    ] {
        let limit = coupled(friction, "impact = 'energetic'\nstep = 0.01");
        let (limit, _) = run(&limit).unwrap();
        let errors: Vec<f64> = [4e-3f64, 2e-3, 1e-3]
            .iter()
            .map(|tau| {
                let settings = format!(
                    "scheme = 'penalty'\ncompliance_time = {tau}\nstep = {}",
                    tau / 200.0
                );
                let (v, _) = run(&coupled(friction, &settings)).unwrap();
                let squares: f64 = v.iter().zip(&limit).map(|(a, b)| (a - b).powi(2)).sum();
                squares.sqrt()
            })
            .collect();
        for pair in errors.windows(2) {
            let rate = (pair[0] / pair[1]).log2();
            assert!((0.8..1.25).contains(&rate), "{friction}: {errors:?}");
        }
    }
}

#[test]
fn layers_with_friction_that_close_together_are_named() {
    let scene = |friction: &str, height: f64| {
        format!(
            "title = \"two\"\nimpact = \"energetic\"\nstep = 0.001\nuntil = 0.5\n\
             [system]\ncoordinates = [\"x\", \"y\", \"a\"]\nkinetic_energy = \"(x'^2 + y'^2 + a'^2/3)/2\"\n\
             potential = \"9.81*y\"\n\
             [[contacts]]\nname = \"left\"\ngap = \"y - sin(a)\"\npoint = [\"x - cos(a)\", \"y - sin(a)\"]\n\
             friction = {friction}\nrestitution = 0.5\n\
             [[contacts]]\nname = \"right\"\ngap = \"y + sin(a)\"\npoint = [\"x + cos(a)\", \"y + sin(a)\"]\n\
             friction = {friction}\nrestitution = 0.5\n\
             [initial]\ny = {height}\nx_dot = 1\ny_dot = -1\n"
        )
    };
    // What touches at the start is known before the first step.
    let error = run(&scene("0.3", 0.0)).unwrap_err();
    assert!(
        error.contains("energetic") && error.contains("stiffness"),
        "{error}"
    );
    // What closes later stops the run by name.
    let (_, summary) = run(&scene("0.3", 0.1)).unwrap();
    assert!(!summary.certified);
    assert!(
        summary.reason.contains("right") && summary.reason.contains("energetic"),
        "{}",
        summary.reason
    );
}

/// A particle that strikes two planes through the origin, without friction.
fn corner(scheme: &str, springs: [&str; 2], gaps: [&str; 2], v: [f64; 2]) -> String {
    let contact = |k: usize, name: &str| {
        let (gap, spring) = (gaps[k], springs[k]);
        format!("[[contacts]]\nname = \"{name}\"\ngap = \"{gap}\"\nrestitution = 1\n{spring}\n")
    };
    format!(
        "title = \"corner\"\nimpact = \"energetic\"\nuntil = 0.05\nscheme = {scheme}\n\
         [system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2 + y'^2)/2\"\n{}{}\
         [initial]\nx_dot = {}\ny_dot = {}\n",
        contact(0, "first"),
        contact(1, "second"),
        v[0],
        v[1]
    )
}

const SCHEMES: [&str; 4] = [
    "\"moreau-jean\"\nstep = 1e-3",
    "\"moreau\"\nstep = 1e-3",
    "\"sweeping-process\"\nstep = 1e-3",
    "\"event-driven\"\nstep = 1e-3",
];

/// Layers that act on each other have no limit of their own: springs whose stiffnesses are as 1 to 9 throw the particle elsewhere than those as 9 to 1,
/// both planes struck or one resting. The rigid law stops by name, at the start and later.
#[test]
fn layers_without_friction_that_act_on_each_other_are_named() {
    let acute = ["y", "0.96*x - 0.28*y"];
    for (gaps, v) in [
        (acute, [-1.0, -0.5]),
        // The second plane is hit by what the first one gives.
        (acute, [-0.35, -1.2]),
        // Obtuse: both approach, and each opens the other.
        (["y", "0.6*x + 0.8*y"], [-0.2, -1.0]),
    ] {
        let penalty = |springs: [&str; 2]| {
            run(&corner(
                "\"penalty\"\ncompliance_time = 1e-3\nstep = 2e-6",
                springs,
                gaps,
                v,
            ))
            .unwrap()
            .0
        };
        let (soft, stiff) = ("stiffness = 1e6", "stiffness = 9e6");
        let (a, b) = (penalty([soft, stiff]), penalty([stiff, soft]));
        let apart = (a[0] - b[0]).hypot(a[1] - b[1]);
        assert!(apart > 0.1, "{gaps:?}: {a:?} {b:?}");
        for scheme in SCHEMES {
            let text = corner(scheme, [""; 2], gaps, v);
            // Known before the first step, whatever the scheme.
            let error = run(&text).err().unwrap_or_default();
            assert!(error.contains("stiffness"), "{scheme}: {error}");
            // Met after a while.
            let (x, y) = (-0.0205 * v[0], -0.0205 * v[1]);
            let later = format!("{text}x = {x}\ny = {y}\n");
            let (_, summary) = run(&later).unwrap();
            let named = summary.reason.contains("stiffness") && summary.reason.contains("second");
            assert!(named && !summary.certified, "{scheme}: {}", summary.reason);
        }
    }
}

/// Contacts that W does not couple, one that another only opens, and one plane given twice have the impacts they have alone.
#[test]
fn layers_that_do_not_act_on_each_other_are_computed() {
    let cases = [
        (["y", "x"], [-1.0, -0.5], [1.0, 0.5]),
        (["y", "0.6*x + 0.8*y"], [2.0, -1.5], [2.0, 1.5]),
        (["y", "3*y"], [0.4, -1.0], [0.4, 1.0]),
    ];
    for (gaps, v, after) in cases {
        for scheme in SCHEMES {
            let text = corner(scheme, [""; 2], gaps, v);
            let (found, summary) = run(&text).unwrap();
            let error = (found[0] - after[0]).hypot(found[1] - after[1]);
            assert!(summary.certified && error < 1e-12, "{scheme}: {found:?}");
        }
    }
}

/// Friction stops the slip of the floor before its layer ends: a steep wall that the particle leaves at the end was struck on the way.
#[test]
fn a_contact_that_a_layer_strikes_on_its_way_is_named() {
    let scene = |friction: f64, wall: &str| {
        format!(
            "title = \"dip\"\nimpact = \"energetic\"\nstep = 1e-3\nuntil = 0.01\n\
             [system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"(x'^2 + y'^2)/2\"\n\
             [[contacts]]\nname = \"floor\"\ngap = \"y\"\npoint = [\"x\", \"y\"]\nfriction = {friction}\nrestitution = 1\n\
             [[contacts]]\nname = \"wall\"\ngap = \"{wall}\"\nrestitution = 1\n\
             [initial]\nx_dot = 0.5\ny_dot = -1\n"
        )
    };
    let error = run(&scene(1.0, "x + 0.5*y")).unwrap_err();
    assert!(error.contains("wall"), "{error}");
    // Where the slip goes on the wall opens all the way.
    let (v, summary) = run(&scene(0.1, "x + 0.1*y")).unwrap();
    assert!(summary.certified, "{}", summary.reason);
    assert!(
        (v[0] - 0.3).abs() < 1e-12 && (v[1] - 1.0).abs() < 1e-12,
        "{v:?}"
    );
}

/// Worlds: a ball on a floor bounces by itself, one that strikes a row of balls or a box that lands on its face does not.
#[test]
fn worlds_name_layers_that_act_on_each_other() {
    let world = |bodies: &str| {
        format!(
            "title = \"world\"\nuntil = 0.5\nstep = 1e-3\n[world]\ndimension = 2\ngravity = [0, -10]\n\
             [[materials]]\nname = \"ice\"\ndensity = 100\nimpact = \"energetic\"\nrestitution = 0.5\n\
             [[bodies]]\nname = \"floor\"\nmaterial = \"ice\"\nshape = {{ half_plane = [0, 1] }}\nfixed = true\n{bodies}"
        )
    };
    let body = |name: &str, shape: &str, place: &str, velocity: &str| {
        format!(
            "[[bodies]]\nname = \"{name}\"\nmaterial = \"ice\"\nshape = {{ {shape} }}\nposition = [{place}]\n\
             velocity = [{velocity}]\n"
        )
    };
    let ball = |name: &str, place: &str, v: &str| body(name, "disc = 0.1", place, v);
    let (_, summary) = run(&world(&ball("ball", "0, 0.5", "0, -1"))).unwrap();
    assert!(summary.certified, "{}", summary.reason);
    let row = [
        ball("a", "0, 0.1", "1, 0"),
        ball("b", "0.3, 0.1", "0, 0"),
        ball("c", "0.5, 0.1", "0, 0"),
    ];
    let boxed = body("box", "rectangle = [0.4, 0.2]", "0, 0.3", "0, -1");
    for bodies in [row.concat(), boxed] {
        let (_, summary) = run(&world(&bodies)).unwrap();
        assert!(summary.reason.contains("stiffness"), "{}", summary.reason);
        assert!(!summary.certified);
    }
}

/// Compliant contacts have no impacts: the law named for rigid ones changes nothing, and the motion depends on the
/// compliance time.
#[test]
fn impact_laws_do_not_act_on_compliant_contacts() {
    let with = |impact: &str, tau: f64| {
        let settings = format!(
            "scheme = 'penalty'\nimpact = '{impact}'\ncompliance_time = {tau}\nstep = 2e-5"
        );
        run(&coupled("0.4", &settings)).unwrap().0
    };
    let newton = with("newton", 4e-3);
    for impact in ["energetic", "poisson", "inelastic"] {
        assert_eq!(with(impact, 4e-3), newton, "{impact}");
    }
    let other = with("energetic", 1e-3);
    let apart = newton.iter().zip(&other).map(|(a, b)| (a - b).abs());
    assert!(apart.fold(0.0, f64::max) > 1e-4, "{newton:?} {other:?}");
}

/// What the normal impulse and friction do is summed along the layer: an elastic impact takes nothing along the normal, whatever its slip does
/// meanwhile, and one with e gives back e² of what compression took.
#[test]
fn normal_works_are_those_along_the_layer() {
    let rod = "title = \"rod\"\nuntil = 0.06\nstep = 1e-3\nimpact = \"energetic\"\nscheme = \"SCHEME\"\n[system]\n\
        coordinates = [\"x\", \"y\", \"th\"]\nkinetic_energy = \"(x'^2 + y'^2)/2 + th'^2/24\"\n\
        [[contacts]]\nname = \"tip\"\ngap = \"y - 0.5*sin(th)\"\npoint = [\"x - 0.5*cos(th)\", \"y - 0.5*sin(th)\"]\n\
        normal = [0, 1]\nfriction = 0.9\nrestitution = 1\n\
        [initial]\ny = \"0.5*sin(1.1) + 0.05\"\nth = 1.1\nx_dot = -0.4\ny_dot = -1\n";
    let particle = "title = \"particle\"\nuntil = 0.15\nstep = 1e-3\nimpact = \"energetic\"\nscheme = \"SCHEME\"\n[system]\n\
        coordinates = [\"x\", \"y\", \"z\"]\nmass_matrix = [[1, 0.2, 0.3], [0.2, 1.5, -0.4], [0.3, -0.4, 1]]\n\
        [[contacts]]\nname = \"floor\"\ngap = \"z\"\npoint = [\"x\", \"y\", \"z\"]\nrestitution = 1\n\
        friction = { ellipse = [0.5, 0.3] }\n\
        [initial]\nz = 0.1\nx_dot = 1\ny_dot = -0.5\nz_dot = -1\n";
    for (text, friction) in [(rod, Some(-0.0393)), (particle, None)] {
        for scheme in ["event-driven", "moreau-jean", "moreau"] {
            let works = works(&text.replace("SCHEME", scheme));
            assert!(works[0].abs() < 1e-10, "{scheme}: {works:?}");
            assert!(works[1] < -1e-3, "{scheme}: {works:?}");
            if let Some(friction) = friction {
                assert!((works[1] - friction).abs() < 5e-5, "{scheme}: {works:?}");
            }
        }
    }
}

/// Normal and tangential works of a run of one contact.
fn works(text: &str) -> [f64; 2] {
    let scene = Scene::parse(SourceText::new("works.toml", text)).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = scene.simulation().unwrap();
    let mut works = [0.0; 2];
    let end = simulation.run_until(scene.settings.until, |record| {
        for contact in &record.contacts {
            works[0] += contact.work_normal;
            works[1] += contact.work_tangential;
        }
        ControlFlow::Continue(())
    });
    assert_eq!(end, RunEnd::Finished);
    works
}
