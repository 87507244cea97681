//! `stickslip inspect`: the contacts of a configuration, their normals, W, γ and friction sets.

use std::process::ExitCode;
use std::sync::Arc;

use stickslip::contact::{ContactBlock, ContactProblem};
use stickslip::internals::check_impact;
use stickslip::internals::quantity::digits;
use stickslip::internals::{Delassus, GeneralizedSet, PerUnitNormal, SetGeometry};
use stickslip::laws::{FlowRule, GeneralizedRule, ImpactLaw, ImpactRule, SetUnit, StandardImpact};
use stickslip::scene::Scene;
use stickslip::simulation::studies::one_step_problem;
use stickslip::stepping::{MoreauContactDynamics, TimeSteppingScheme};
use stickslip::systems::{MechanicalSystem, World};

use crate::exit::{complain, say};
use crate::scene_argument::{self, SceneOptions};

/// Show the active constraints of a configuration: normals, W, γ, friction sets, allowed sliding.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Example:\n  stickslip inspect painleve-rod --at theta=1.05 --at y=0.866 --gap 1e-3"
)]
pub struct InspectArgs {
    /// Name of a scene of the gallery, or a scene file.
    #[arg(value_name = "NAME|FILE")]
    scene: String,
    #[command(flatten)]
    options: SceneOptions,
    /// Value of a coordinate or of a velocity (`v_NAME`); the initial one if not given.
    #[arg(long = "at", value_name = "NAME=VALUE", value_parser = scene_argument::assignment)]
    at: Vec<(String, String)>,
    /// Gap up to which a constraint counts as active; in a world it is the slop.
    #[arg(long, default_value_t = 1e-9)]
    gap: f64,
    /// Test the impact map on this many random velocities.
    #[arg(long, default_value_t = 500)]
    samples: usize,
}

/// Runs the subcommand.
pub fn run(args: &InspectArgs) -> ExitCode {
    let named = match scene_argument::load(&args.scene, &args.options.changes()) {
        Ok(named) => named,
        Err(error) => return complain(error),
    };
    let system = match named.scene.system() {
        Ok(system) => system,
        Err(error) => return complain(error),
    };
    let (mut q, mut v) = named.scene.initial_state();
    if let Err(message) = move_to(&args.at, system.as_ref(), &mut q, &mut v) {
        return complain(message);
    }
    if let Some(world) = named.scene.world() {
        return inspect_world(&named.scene, world, (&q, &v));
    }
    for constraint in system.constraints() {
        let gap = constraint.gap().value(0.0, &q);
        let word = if gap <= args.gap { "active" } else { "open" };
        say!("{}: gap {} ({word})", constraint.name(), digits(gap, 7));
    }
    let mut scheme = MoreauContactDynamics::new(args.gap);
    let problem = one_step_problem(system.as_ref(), &mut scheme, (0.0, &q, &v), 0.0);
    for block in problem.blocks() {
        let constraint = &system.constraints()[block.key.constraint()];
        let name = format!("{} point {}", constraint.name(), block.key.point());
        let before = scheme.local_velocities_before();
        show_contact((&problem, before), block, (&name, system.velocity_names()));
    }
    impact_map(&named.scene, system.as_ref(), problem, args.samples);
    ExitCode::SUCCESS
}

/// The contacts of a world that are closed at a configuration.
fn inspect_world(scene: &Scene, world: &World, (q, v): (&[f64], &[f64])) -> ExitCode {
    let mut scheme = match scene.world_stepping() {
        Ok(scheme) => scheme,
        Err(error) => return complain(error),
    };
    let problem = one_step_problem(world, &mut scheme, (0.0, q, v), 0.0);
    if scheme.found().is_empty() {
        say("no bodies touch");
    }
    for contact in scheme.found() {
        let block = problem.blocks().iter().find(|b| b.key == contact.key);
        let word = if block.is_some() { "active" } else { "open" };
        let name = world.contact_name(contact.key);
        say!("{name}: gap {} ({word})", digits(contact.gap, 7));
        if let Some(block) = block {
            say!("  place           {}", list(&contact.place));
            say!("  normal          {}", list(&contact.normal));
            let before = scheme.local_velocities_before();
            show_contact((&problem, before), block, (&name, world.velocity_names()));
        }
    }
    ExitCode::SUCCESS
}

/// Puts the values of `--at` into the state.
fn move_to(
    values: &[(String, String)],
    system: &dyn MechanicalSystem,
    q: &mut [f64],
    v: &mut [f64],
) -> Result<(), String> {
    for (name, value) in values {
        let value = value
            .parse::<f64>()
            .map_err(|_| format!("`{name}={value}`: not a number"))?;
        let place = system.coordinate_names().iter().position(|n| n == name);
        let speed = name.strip_prefix("v_").and_then(|n| {
            let plain = |m: &String| m.trim_end_matches('\'') == n;
            system.velocity_names().iter().position(plain)
        });
        match (place, speed) {
            (Some(i), _) => q[i] = value,
            (None, Some(i)) => v[i] = value,
            (None, None) => {
                let known = system.coordinate_names().join(", ");
                return Err(format!(
                    "no coordinate or velocity `{name}`; known: {known}"
                ));
            }
        }
    }
    Ok(())
}

/// Rows, W and velocity of one contact, with the names of the velocities that its rows are over; local velocities are those before
/// the step of the problem, which impact laws read in another way.
fn show_contact(
    (problem, before): (&ContactProblem, &[f64]),
    block: &ContactBlock,
    (name, velocities): (&str, &[String]),
) {
    let (range, n) = (block.range(), block.size);
    let w: Vec<f64> = (0..n * n)
        .map(|e| problem.w(range.start + e / n, range.start + e % n))
        .collect();
    say!("\n{name}:");
    // Rows over the bodies of a world have no coordinates of their own.
    if !matches!(problem.delassus(), Delassus::Bodies(_)) {
        say!(
            "  normal row      {}",
            row(problem, range.start, velocities)
        );
        for i in range.start + 1..range.end {
            say!("  tangent row     {}", row(problem, i, velocities));
        }
    }
    for row in w.chunks(n) {
        say!("  W               {}", list(row));
    }
    say!("  local velocity  {}", list(&before[range]));
    if n == 1 {
        say("  no friction".to_string());
    } else {
        show_friction(block, &w);
    }
}

/// The friction set of one contact, in generalized reactions, and what it allows.
fn show_friction(block: &ContactBlock, w: &[f64]) {
    let section = block.section.clone();
    let set = match block.flow_rule.generalized().map(|rule| rule.unit) {
        None | Some(SetUnit::CoulombCone) => GeneralizedSet::from_cone(w, section),
        Some(SetUnit::PerGradient) => GeneralizedSet::given(section),
        Some(SetUnit::PerUnitNormal) => {
            GeneralizedSet::<PerUnitNormal>::given(section).per_gradient(w[0].sqrt())
        }
    };
    let margin = set.margin();
    let regime = if margin <= 1e-12 {
        "Painleve region: a tangential impact is possible"
    } else {
        "no tangential impact possible"
    };
    say!(
        "  gamma           {} ({margin:.4} of W_nn): {regime}",
        digits(margin * w[0], 7)
    );
    say!(
        "  friction set per unit normal row: {}",
        describe(&set.geometry())
    );
    let unit = set.per_unit_normal(w[0].sqrt());
    say!(
        "  friction set per unit n*:         {}",
        describe(&unit.geometry())
    );
    if block.size == 2 {
        let allowed: Vec<&str> = [(1.0, "forward"), (-1.0, "backward")]
            .into_iter()
            .filter(|(sign, _)| set.allows(&[*sign]))
            .map(|(_, word)| word)
            .collect();
        let text = if allowed.is_empty() {
            "none".to_string()
        } else {
            allowed.join(" and ")
        };
        say!("  sliding allowed in firm contact: {text}");
    }
    if let FlowRule::Generalized(rule) = block.flow_rule {
        say!(
            "  law             generalized, firmness threshold {}",
            digits(rule.firmness, 3)
        );
    }
}

/// The consistency conditions of the impact map of the scene, with a velocity that violates one.
fn impact_map(
    scene: &Scene,
    system: &dyn MechanicalSystem,
    mut problem: ContactProblem,
    samples: usize,
) {
    let constraints: Vec<usize> = problem
        .blocks()
        .iter()
        .map(|b| b.key.constraint())
        .collect();
    if constraints.is_empty() || constraints.windows(2).any(|pair| pair[0] == pair[1]) {
        return;
    }
    let laws = constraints
        .iter()
        .map(|&k| system.constraints()[k].points()[0].law.impact());
    let restitutions: Vec<f64> = laws.clone().map(|law| law.restitution()).collect();
    let poisson = laws
        .clone()
        .any(|law| matches!(law, ImpactLaw::Poisson { .. }));
    let moreau = laws
        .clone()
        .any(|law| matches!(law, ImpactLaw::Moreau { .. }));
    let (name, rule): (&str, Arc<dyn ImpactRule>) = match scene.impact_rule() {
        Some(rule) => ("of the scene's own", rule),
        None if poisson => ("Poisson's", Arc::new(StandardImpact::Poisson(restitutions))),
        None if moreau => (
            "Moreau's",
            Arc::new(StandardImpact::Moreau(restitutions[0])),
        ),
        None => ("Newton's", Arc::new(StandardImpact::Newton(restitutions))),
    };
    for block in problem.blocks_mut() {
        if block.flow_rule.generalized().is_none() {
            block.flow_rule = FlowRule::Generalized(GeneralizedRule::default());
        }
    }
    let report = check_impact(&problem, rule.as_ref(), samples, 1);
    say!("\nimpact map ({name}), tested on {samples} random velocities, seed 1:");
    for (condition, violation) in [
        ("(1)  F in the span of the normals", &report.in_normal_span),
        ("(2a) no constraint closes after", &report.opens),
        ("(2b) -F allowed by unbounded sets", &report.in_domain),
        (
            "(3)  the impulse is a frictional reaction",
            &report.frictional,
        ),
        (
            "(3') the impulse is a sum of normal impulses",
            &report.unilateral,
        ),
        ("(4)  no gain of normal kinetic energy", &report.dissipative),
        (
            "     no positive tangential power",
            &report.tangential_power,
        ),
    ] {
        // A distance is the root of a rounding error.
        let verdict = if violation.holds(1e-7) {
            "holds".to_string()
        } else {
            format!(
                "VIOLATED by {}: u- = ({}) goes to u+ = ({})",
                digits(violation.size, 4),
                list(&violation.velocity_before),
                list(&violation.velocity_after)
            )
        };
        say!("  {condition:<46} {verdict}");
    }
}

/// A row of Hᵀ: all numbers, or those of a mesh that are not zero with the velocities that they belong to.
fn row(problem: &ContactProblem, i: usize, velocities: &[String]) -> String {
    let rows = problem.rows();
    if !rows.is_sparse() {
        return list(problem.row(i));
    }
    let (index, value) = rows.sparse(i);
    let entries = index.iter().zip(value).filter(|(_, x)| **x != 0.0);
    let words: Vec<String> = entries
        .map(|(&j, x)| format!("{} {x:.6}", velocities[j as usize]))
        .collect();
    words.join("  ")
}

fn list(values: &[f64]) -> String {
    let words: Vec<String> = values.iter().map(|x| format!("{x:.6}")).collect();
    words.join("  ")
}

fn describe(geometry: &SetGeometry) -> String {
    match geometry {
        SetGeometry::Interval { lower, upper } => format!("interval [{lower:.6}, {upper:.6}]"),
        SetGeometry::Polyhedron { vertices, rays } => {
            let points: Vec<String> = vertices.iter().map(|v| format!("({})", list(v))).collect();
            let ends: Vec<String> = rays.iter().map(|v| format!("({})", list(v))).collect();
            if ends.is_empty() {
                format!("polygon with vertices {}", points.join(" "))
            } else {
                format!("vertices {} and rays {}", points.join(" "), ends.join(" "))
            }
        }
        SetGeometry::Conic { margin } if *margin > 1e-12 => "region inside an ellipse".to_string(),
        SetGeometry::Conic { margin } if *margin >= -1e-12 => {
            "region inside a parabola".to_string()
        }
        SetGeometry::Conic { .. } => "region inside one branch of a hyperbola".to_string(),
        SetGeometry::Implicit => "known by its support function".to_string(),
    }
}
