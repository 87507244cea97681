//! Bodies at rest at the origin of coordinates, where every coordinate is rounding: positions hold, and `verify` accepts them in any units.

use std::ops::ControlFlow;

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
