//! Bodies at rest at the origin of coordinates, where every coordinate is rounding: positions hold, and `verify` accepts them in any units.

use std::ops::ControlFlow;

use stickslip::records::ContactMode;
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::RunEnd;
use stickslip::simulation::verify::{Motion, Verification};

/// A unit of length and one of mass, in which shapes and forces are written.
const UNITS: [(f64, f64); 3] = [(1.0, 1.0), (300.0, 2e3), (1e-4, 1e-3)];

struct Rest {
    /// Whether positions drift, and how much the correction held.
    drifts: bool,
    motion: Motion,
    scene: Scene,
}

impl Rest {
    fn of((scheme, h): (&str, f64), system: &str, metre: f64, kilogram: f64) -> Self {
        let system = system
            .replace("LENGTH", &format!("{metre:?}"))
            .replace("MASS", &format!("{kilogram:?}"))
            .replace("WEIGHT", &format!("{:?}", 3.0 * metre * kilogram));
        let text = format!(
            "title = \"rest\"\nuntil = {:?}\nstep = {h:?}\nscheme = \"{scheme}\"\n{system}",
            40.0 * h
        );
        let scene = Scene::parse(SourceText::new("rest", &text)).unwrap_or_else(|e| panic!("{e}"));
        let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
        let mut motion = Motion::of_run(scene.discretisation().expect("steps"))
            .with_correction(run.position_correction());
        motion.push(run.record());
        let end = run.run_until(scene.settings.until, |record| {
            motion.push(record);
            ControlFlow::Continue(())
        });
        assert!(matches!(end, RunEnd::Finished), "{end:?}");
        Self {
            drifts: run.positions().drifts(),
            motion,
            scene,
        }
    }

    fn judge(&self, motion: &Motion) -> Verification {
        self.scene.verify(motion, None).expect("a formulation")
    }

    /// Everything stays where it is to rounding of g h^2; the same motion a millionth of that off is another one.
    fn assert_rests(&self, what: &str, metre: f64) {
        let given = 3e-6 * metre;
        for node in &self.motion.nodes {
            let angle_or_length = |x: &f64| x.abs() < 1e-10 * given.max(3e-6);
            assert!(node.q.iter().all(angle_or_length), "{what}: {node:?}");
        }
        assert!(!self.drifts, "{what}");
        let report = self.judge(&self.motion);
        assert!(report.accepted(), "{what}: {:?}", report.violations);
        // One place off, all of them below their obstacle, and reactions that are not those of the weight.
        let mut off = self.motion.clone();
        off.nodes[20].q[1] += 1e-6 * given;
        assert!(!self.judge(&off).accepted(), "{what}: one place");
        let mut off = self.motion.clone();
        for node in &mut off.nodes[20..] {
            node.q[1] -= 1e-6 * given;
        }
        assert!(!self.judge(&off).accepted(), "{what}: below");
        let mut off = self.motion.clone();
        for p in &mut off.nodes[20].atom {
            *p *= 1.0 + 1e-6;
        }
        let pressed = off.nodes[20].atom.iter().any(|&p| p != 0.0);
        assert!(!(pressed && self.judge(&off).accepted()), "{what}: pressed");
    }
}

const BAR: &str = "[system]\ncoordinates = [\"x\", \"y\", \"th\"]\n\
    kinetic_energy = \"MASS*(x'^2 + y'^2 + LENGTH^2*th'^2/12)/2\"\nforces = { y = \"-WEIGHT\" }\n";

#[test]
fn a_bar_at_rest_in_a_groove_at_the_origin_neither_drifts_nor_is_refused() {
    let groove = format!(
        "{BAR}[[contacts]]\nname = \"left\"\ngap = \"0.9*(x - 0.5*LENGTH*cos(th) + 0.5*LENGTH) + 0.4*(y - 0.5*LENGTH*sin(th))\"\n\
         [[contacts]]\nname = \"right\"\ngap = \"-0.9*(x + 0.5*LENGTH*cos(th) - 0.5*LENGTH) + 0.4*(y + 0.5*LENGTH*sin(th))\"\n"
    );
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        for (metre, kilogram) in UNITS {
            let rest = Rest::of((scheme, 1e-3), &groove, metre, kilogram);
            rest.assert_rests(&format!("{scheme} {metre}"), metre);
        }
    }
}

#[test]
fn a_bar_that_a_joint_holds_at_the_origin_neither_drifts_nor_is_refused() {
    let slider = format!(
        "{BAR}[[joints]]\nequation = \"y - 0.5*LENGTH*sin(th)\"\n[[contacts]]\nname = \"foot\"\n\
         gap = \"y + 0.5*LENGTH*sin(th) + 0.1*x^2/LENGTH\"\n\
         point = [\"x + 0.5*LENGTH*cos(th)\", \"y + 0.5*LENGTH*sin(th)\"]\nnormal = [\"0.2*x/LENGTH\", \"1\"]\nfriction = 0.4\n"
    );
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        for (metre, kilogram) in UNITS {
            let rest = Rest::of((scheme, 1e-3), &slider, metre, kilogram);
            rest.assert_rests(&format!("{scheme} {metre}"), metre);
        }
    }
}

/// Steps so short that what forces give in them has a rounding far below that of the numbers that cancel in the gap.
#[test]
fn numbers_that_cancel_in_a_gap_round_it() {
    let floor = "[system]\ncoordinates = [\"x\", \"y\"]\nkinetic_energy = \"MASS*(x'^2 + y'^2)/2\"\n\
        forces = { y = \"-WEIGHT\" }\n[[contacts]]\nname = \"floor\"\nfriction = 0.3\npoint = [\"x\", \"y\"]\n\
        gap = \"y + 0.1*LENGTH + 0.2*LENGTH - 0.3*LENGTH\"\n";
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        for (metre, kilogram) in UNITS {
            let weight = format!("{:?}", 9.81 * metre * kilogram);
            let floor = floor.replace("WEIGHT", &weight);
            let rest = Rest::of((scheme, 1e-5), &floor, metre, kilogram);
            let report = rest.judge(&rest.motion);
            let what = format!("{scheme} {metre}");
            assert!(!rest.drifts, "{what}");
            assert!(report.accepted(), "{what}: {:?}", report.violations);
        }
    }
}

/// A body on three feet: the moments of its contacts cancel, and its centre is at the origin, about which they are taken.
#[test]
fn the_account_of_momentum_of_a_body_on_three_feet_at_the_origin_closes() {
    for metre in [1.0f64, 300.0, 1e-4] {
        let contact = |name: &str, x: f64, y: f64| {
            format!(
                "[[contacts]]\nname = \"{name}\"\narm = [{:?}, {:?}, {metre:?}]\nradius = {metre:?}\nfriction = 0.3\n",
                x * metre,
                y * metre
            )
        };
        let moment = 0.1 * metre * metre;
        let text = format!(
            "title = \"feet\"\nuntil = 0.04\nstep = 1e-3\nscheme = \"moreau-jean\"\n\
             [body]\nmass = 1\nmoments = [{moment:?}, {moment:?}, {:?}]\ngravity = [0, 0, {:?}]\n{}{}{}",
            1.5 * moment,
            -9.81 * metre,
            contact("a", 1.0, 0.0),
            contact("b", -0.5, 0.8),
            contact("c", -0.4, -0.9)
        );
        let scene = Scene::parse(SourceText::new("feet", &text)).unwrap_or_else(|e| panic!("{e}"));
        let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
        run.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
        let ledger = run.momentum_ledger();
        assert!(ledger.is_closed(), "{metre}: {ledger:?}");
        // The feet carry the weight: 40 steps of g h each.
        let carried = ledger.supports.linear[2];
        let weight = 0.04 * 9.81 * metre;
        assert!((carried - weight).abs() < 1e-9 * weight, "{carried}");
    }
}

/// A block slides on a plate that rests on two feet, all at the origin: feet and block press all the time, the block loses μ g t, and nothing else happens.
#[test]
fn what_presses_at_the_origin_all_the_time_has_no_impacts() {
    let (g, mu, until) = (8.3, 0.4, 0.02);
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        for (h, plate) in [(1e-4, 0.6), (2e-5, 0.6), (1e-4, 2e-3), (1e-3, 2e-3)] {
            for (metre, kilogram) in UNITS {
                let (m, p) = (1.7 * kilogram, plate * kilogram);
                let [w, b, z, r] = [0.2, 0.12, 0.04, 0.09].map(|x| x * metre);
                let (i, j) = (m * r * r, p * r * r);
                let text = format!(
                    "title = \"plate\"\nuntil = {until:?}\nstep = {h:?}\nscheme = \"{scheme}\"\n[system]\n\
                     coordinates = [\"x\", \"y\", \"th\", \"X\", \"Y\", \"TH\"]\n\
                     kinetic_energy = \"({p:?}*(x'^2 + y'^2) + {j:?}*th'^2 + {m:?}*(X'^2 + Y'^2) + {i:?}*TH'^2)/2\"\n\
                     potential = \"{:?}*({p:?}*y + {m:?}*Y)\"\n\
                     [[contacts]]\nname = \"left foot\"\ngap = \"y - {w:?}*th\"\nslip = \"x' + {z:?}*th'\"\nfriction = 0.8\n\
                     [[contacts]]\nname = \"right foot\"\ngap = \"y + {w:?}*th\"\nslip = \"x' + {z:?}*th'\"\nfriction = 0.8\n\
                     [[contacts]]\nname = \"left\"\ngap = \"Y - y - {b:?}*(TH - th)\"\nslip = \"X' - x' + {b:?}*TH' + {z:?}*th'\"\nfriction = {mu:?}\n\
                     [[contacts]]\nname = \"right\"\ngap = \"Y - y + {b:?}*(TH - th)\"\nslip = \"X' - x' + {b:?}*TH' + {z:?}*th'\"\nfriction = {mu:?}\n\
                     [initial]\nX_dot = {:?}\n",
                    g * metre,
                    0.5 * metre
                );
                presses_all_the_time(&text, &format!("{scheme} {h} {plate} {metre}"), |v| {
                    let lost = (v[3] / metre - (0.5 - mu * g * until)).abs();
                    let moved = [v[0], v[1], metre * v[2], v[4], metre * v[5]];
                    lost.max(moved.iter().fold(0.0, |m: f64, x| m.max(x.abs() / metre)))
                });
            }
        }
    }
}

/// The same in space: a plate on three feet that may tilt, and a particle that slides on its middle.
#[test]
fn what_presses_at_the_origin_in_space_has_no_impacts() {
    let (g, mu, until) = (7.1, 0.3, 0.02);
    let feet = [(0.21, 0.0), (-0.1, 0.19), (-0.12, -0.17)];
    let feet: String = (feet.iter().enumerate())
        .map(|(k, (a, b))| {
            format!(
                "[[contacts]]\nname = \"foot {k}\"\ngap = \"z + {a:?}*al + {b:?}*be\"\n\
                 slip = [\"x' - 0.03*al'\", \"y' - 0.03*be'\"]\nfriction = 0.9\n"
            )
        })
        .collect();
    for scheme in ["moreau-jean", "moreau", "sweeping-process"] {
        for (h, plate) in [(1e-4, 0.7), (1e-4, 3e-3)] {
            let text = format!(
                "title = \"plate in space\"\nuntil = {until:?}\nstep = {h:?}\nscheme = \"{scheme}\"\n[system]\n\
                 coordinates = [\"x\", \"y\", \"z\", \"al\", \"be\", \"X\", \"Y\", \"Z\"]\n\
                 kinetic_energy = \"{plate:?}*(x'^2 + y'^2 + z'^2 + 0.01*al'^2 + 0.02*be'^2)/2 + 1.3*(X'^2 + Y'^2 + Z'^2)/2\"\n\
                 potential = \"{g:?}*({plate:?}*z + 1.3*Z)\"\n{feet}\
                 [[contacts]]\nname = \"particle\"\ngap = \"Z - z\"\nslip = [\"X' - x'\", \"Y' - y'\"]\nfriction = {mu:?}\n\
                 [initial]\nX_dot = 0.3\nY_dot = 0.4\n"
            );
            presses_all_the_time(&text, &format!("{scheme} {h} {plate}"), |v| {
                let left = 1.0 - mu * g * until / 0.5;
                let block = (v[5] - 0.3 * left).abs().max((v[6] - 0.4 * left).abs());
                let rest = [v[0], v[1], v[2], v[3], v[4], v[7]];
                block.max(rest.iter().fold(0.0, |m: f64, x| m.max(x.abs())))
            });
        }
    }
}

/// A run in which every contact presses from the first step on to the end, without an event, and whose velocities have the errors that `error` tells.
fn presses_all_the_time(text: &str, what: &str, error: impl Fn(&[f64]) -> f64) {
    let scene = Scene::parse(SourceText::new("rest", text)).unwrap_or_else(|e| panic!("{e}"));
    let mut run = scene.simulation().unwrap_or_else(|e| panic!("{e}"));
    let mut worst = 0.0f64;
    let end = run.run_until(scene.settings.until, |record| {
        if record.step > 0 {
            let open = record.contacts.iter().find(|c| c.mode == ContactMode::Open);
            assert!(open.is_none(), "{what} at {}: {open:?}", record.t);
        }
        worst = worst.max(record.contacts.iter().fold(0.0, |m, c| m.max(c.gap.abs())));
        ControlFlow::Continue(())
    });
    assert!(matches!(end, RunEnd::Finished), "{what}: {end:?}");
    assert!(
        run.events().events.is_empty(),
        "{what}: {:?}",
        run.events().events
    );
    // Errors of impulses, 1e-12 of those of the block, move a plate of a thousandth of its mass.
    let error = error(&run.state().v);
    assert!(error < 1e-8, "{what}: {error}");
    assert!(!run.positions().drifts(), "{what}");
}

/// Feet that carry so different a load that equal shares of friction would slip: others hold the plate, from event to event as well, where the block
/// that slides on it says nothing of how they share.
#[test]
fn feet_that_stick_share_friction_inside_their_cones_beside_a_contact_that_slips() {
    let (g, mu, until) = (8.3, 0.4, 0.05);
    for block in [1.7, 5.0, 20.0, 70.0, 200.0, 3000.0] {
        for z in [0.15, 0.08] {
            let text = format!(
                "title = \"plate\"\nuntil = {until:?}\nstep = 1e-2\nscheme = \"event-driven\"\n[system]\n\
                 coordinates = [\"x\", \"y\", \"th\", \"X\", \"Y\", \"TH\"]\n\
                 kinetic_energy = \"(2e-3*(x'^2 + y'^2) + 2e-5*th'^2 + {block:?}*(X'^2 + Y'^2 + 0.01*TH'^2))/2\"\n\
                 potential = \"{g:?}*(2e-3*y + {block:?}*Y)\"\n\
                 [[contacts]]\nname = \"left foot\"\ngap = \"y - 0.2*th\"\nslip = \"x' + {z:?}*th'\"\nfriction = 0.8\n\
                 [[contacts]]\nname = \"right foot\"\ngap = \"y + 0.2*th\"\nslip = \"x' + {z:?}*th'\"\nfriction = 0.8\n\
                 [[contacts]]\nname = \"left\"\ngap = \"Y - y - 0.12*(TH - th)\"\nslip = \"X' - x' + 0.12*TH' + {z:?}*th'\"\nfriction = {mu:?}\n\
                 [[contacts]]\nname = \"right\"\ngap = \"Y - y + 0.12*(TH - th)\"\nslip = \"X' - x' + 0.12*TH' + {z:?}*th'\"\nfriction = {mu:?}\n\
                 [initial]\nX_dot = 0.7\n"
            );
            presses_all_the_time(&text, &format!("{block} {z}"), |v| {
                let lost = (v[3] - (0.7 - mu * g * until)).abs();
                let moved = [v[0], v[1], v[2], v[4], v[5]];
                lost.max(moved.iter().fold(0.0, |m: f64, x| m.max(x.abs())))
            });
        }
    }
}

/// The same in space, on three feet.
#[test]
fn three_feet_share_friction_inside_their_cones_beside_a_contact_that_slips() {
    let (g, mu, until, c) = (7.1, 0.3, 0.05, 0.11);
    let feet: String = [(0.21, 0.0), (-0.1, 0.19), (-0.12, -0.17)]
        .map(|(a, b)| {
            format!(
                "[[contacts]]\ngap = \"z + {a:?}*al + {b:?}*be\"\nslip = [\"x' - {c:?}*al'\", \"y' - {c:?}*be'\"]\nfriction = 0.4\n"
            )
        })
        .concat();
    for block in [1.3, 5.0, 100.0] {
        let text = format!(
            "title = \"plate in space\"\nuntil = {until:?}\nstep = 1e-2\nscheme = \"event-driven\"\n[system]\n\
             coordinates = [\"x\", \"y\", \"z\", \"al\", \"be\", \"X\", \"Y\", \"Z\"]\n\
             kinetic_energy = \"3e-3*(x'^2 + y'^2 + z'^2 + 0.01*al'^2 + 0.02*be'^2)/2 + {block:?}*(X'^2 + Y'^2 + Z'^2)/2\"\n\
             potential = \"{g:?}*(3e-3*z + {block:?}*Z)\"\n{feet}\
             [[contacts]]\ngap = \"Z - z\"\nslip = [\"X' - x' - {c:?}*al'\", \"Y' - y' - {c:?}*be'\"]\nfriction = {mu:?}\n\
             [initial]\nX_dot = 0.3\nY_dot = 0.4\n"
        );
        presses_all_the_time(&text, &format!("{block}"), |v| {
            let left = 1.0 - mu * g * until / 0.5;
            let own = (v[5] - 0.3 * left).abs().max((v[6] - 0.4 * left).abs());
            let rest = [v[0], v[1], v[2], v[3], v[4], v[7]];
            own.max(rest.iter().fold(0.0, |m: f64, x| m.max(x.abs())))
        });
    }
}
