//! The end of a run in words.

use std::fmt::Write as _;

use stickslip::records::EventKind;
use stickslip::simulation::{EnergySummary, RunOutcome, RunSummary, Status, TheoremCover};

use stickslip::internals::TURN_LIMIT;
use stickslip::internals::quantity::{count, digits, number, quantity};

/// What happened, where the energy went, how far the certificate can be trusted, what to beware of.
pub fn report(summary: &RunSummary) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let _ = writeln!(out, "{}", headline(summary));
    let mut part = |head: &str, text: String| {
        if !text.is_empty() {
            let _ = writeln!(out, "\n{head}\n{}", indented(&text));
        }
    };
    part("What happened", happenings(summary));
    part("Where the energy went", energy(&summary.energy));
    let head = match summary.bodies.len() {
        0 | 1 => "Contact surfaces",
        _ => "Bodies and contact surfaces",
    };
    part(head, elastic(summary));
    part("How far to trust it", trust(summary));
    part("What theorems say", theorems(summary));
    part("Warnings", summary.warnings.join("\n"));
    out
}

fn headline(summary: &RunSummary) -> String {
    let settings = &summary.settings;
    let how = match summary.outcome {
        RunOutcome::Finished => "finished",
        RunOutcome::Interrupted => "interrupted",
        RunOutcome::Stopped => "stopped",
    };
    format!(
        "{}: {how} at t = {} s after {} steps of {} ({}, law {}, impact {}) in {:.2} s",
        settings.title,
        number(summary.time),
        count(summary.steps as usize),
        quantity(settings.step, "s"),
        settings.scheme,
        settings.law,
        settings.impact,
        summary.wall_time
    )
}

fn happenings(summary: &RunSummary) -> String {
    let mut lines = Vec::new();
    if !summary.reason.is_empty() {
        lines.push(format!(
            "The step from t = {} s could not be made: {}.",
            number(summary.time),
            summary.reason
        ));
    }
    let counts = &summary.event_counts;
    let events: Vec<String> = [
        (counts.impacts, "impact", "impacts"),
        (counts.lift_offs, "lift-off", "lift-offs"),
        (counts.sticks, "change to stick", "changes to stick"),
        (counts.slips, "change to slip", "changes to slip"),
        (
            counts.tangential_impacts,
            "impact without collision",
            "impacts without collision",
        ),
        (
            counts.accumulations,
            "accumulation of impacts",
            "accumulations of impacts",
        ),
        (
            counts.energy_gains,
            "impact that gained energy",
            "impacts that gained energy",
        ),
    ]
    .into_iter()
    .filter(|(count, ..)| *count > 0)
    .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
    .collect();
    if events.is_empty() {
        lines.push("No contact changed its state.".to_string());
    } else {
        lines.push(format!("{}.", events.join(", ")));
    }
    let impacts = || {
        summary
            .events
            .iter()
            .filter(|e| e.kind == EventKind::Impact)
    };
    if let Some(first) = impacts().next() {
        let mut line = format!(
            "First impact at t = {} s ({})",
            number(first.t),
            first.contact
        );
        let hardest = impacts().max_by(|a, b| a.impulse.total_cmp(&b.impulse));
        if let Some(hardest) = hardest {
            let _ = write!(
                line,
                ", largest impulse {} at t = {} s ({})",
                quantity(hardest.impulse, "N s"),
                number(hardest.t),
                hardest.contact
            );
        }
        lines.push(line + ".");
    }
    let modes: Vec<String> = summary
        .contacts
        .iter()
        .take(8)
        .map(|c| match c.mode.as_str() {
            "open" => format!("{} open (gap {})", c.name, quantity(c.gap, "m")),
            mode => format!("{} {}", c.name, state_word(mode)),
        })
        .collect();
    if !modes.is_empty() {
        lines.push(format!("At the end: {}.", modes.join(", ")));
    }
    lines.push(values("Coordinates", &summary.coordinates.0));
    lines.push(values("Velocities ", &summary.velocities.0));
    lines.join("\n")
}

/// An energy.
fn joule(value: f64) -> String {
    quantity(value, "J")
}

fn state_word(mode: &str) -> &str {
    match mode {
        "stick" => "sticks",
        "slip" => "slips",
        other => other,
    }
}

fn values(head: &str, values: &[(String, f64)]) -> String {
    let shown: Vec<String> = values
        .iter()
        .take(8)
        .map(|(name, value)| format!("{name} = {}", number(*value)))
        .collect();
    let more = if values.len() > 8 { ", ..." } else { "" };
    format!("{head} {}{more}", shown.join(", "))
}

/// Accounts of elastic bodies and their contact surfaces.
fn elastic(summary: &RunSummary) -> String {
    let mut lines = Vec::new();
    // A single body has the account of the run.
    let several = summary.bodies.len() > 1;
    for body in summary.bodies.iter().filter(|_| several) {
        let works = [
            (body.external, "external forces"),
            (body.contact_normal, "normal impulses"),
            (body.contact_tangential, "friction"),
            (body.supports, "moving obstacles"),
            (body.damping, "damping"),
            (body.numerical, "the scheme itself"),
        ];
        let mut line = format!(
            "{}: {} at the start, {} at the end ({} kinetic, {} elastic)",
            body.name,
            joule(body.start),
            joule(body.kinetic + body.elastic),
            joule(body.kinetic),
            joule(body.elastic)
        );
        let energies = [body.start, body.kinetic, body.elastic];
        let moved = moved(&works, &energies);
        if !moved.is_empty() {
            line += &format!("; {}", moved.join(", "));
        }
        lines.push(line + ".");
    }
    for surface in &summary.surfaces {
        let works = [
            (surface.normal, "normal impulses"),
            (surface.tangential, "friction"),
        ];
        let mut parts = moved(&works, &[summary.energy.start]);
        parts.push(format!(
            "{} of normal impulse in all, {} closed at the end",
            quantity(surface.impulse, "N s"),
            surface.closed
        ));
        lines.push(format!("{}: {}.", surface.name, parts.join(", ")));
    }
    lines.join("\n")
}

/// Works worth telling beside the energies, in words.
fn moved(works: &[(f64, &str)], energies: &[f64]) -> Vec<String> {
    let sizes = works
        .iter()
        .map(|work| work.0)
        .chain(energies.iter().copied());
    let scale = sizes.fold(0.0, |m: f64, x| m.max(x.abs()));
    let told = works.iter().filter(|(value, _)| value.abs() > 1e-9 * scale);
    told.map(|(value, what)| {
        let verb = if *value < 0.0 { "took" } else { "gave" };
        format!("{what} {verb} {}", joule(value.abs()))
    })
    .collect()
}

fn energy(energy: &EnergySummary) -> String {
    let total = |name: &str| energy.totals.get(name).unwrap_or(0.0);
    let scheme = total("numerical_mass")
        + total("numerical_stiffness")
        + total("potential_defect")
        + total("covariant_defect");
    let terms = [
        (total("external"), "external forces"),
        (total("contact_normal"), "impacts (normal)"),
        (total("contact_tangential"), "friction"),
        (total("damping"), "damping"),
        (total("supports"), "moving obstacles"),
        (total("projection"), "the projection of positions"),
        (total("joints"), "joints"),
        (scheme, "the scheme itself"),
    ];
    let mut lines = vec![format!(
        "{} at the start, {} at the end ({} kinetic, {} potential).",
        joule(energy.start),
        joule(energy.end),
        joule(energy.kinetic),
        joule(energy.potential)
    )];
    let moved = moved(&terms, &[energy.start, energy.kinetic, energy.potential]);
    if !moved.is_empty() {
        lines.push(format!("{}.", moved.join(", ")));
    }
    let sticking = energy.contact_works.get("sticking").unwrap_or(0.0);
    if sticking.abs() > 0.01 * total("contact_tangential").abs()
        && ["friction", "moving obstacles"]
            .iter()
            .all(|what| moved.iter().any(|w| w.starts_with(what)))
    {
        let part = joule(sticking.abs());
        lines.push(format!("Of friction, {part} is in contacts that stick to obstacles whose velocity changes from step to step; it goes with the step."));
    }
    lines.join("\n")
}

/// One line per question: the theorem that answers it, or what the nearest one misses.
fn theorems(summary: &RunSummary) -> String {
    let page = &summary.hypotheses;
    let mut lines = Vec::new();
    for about in ["existence", "uniqueness", "convergence"] {
        let theorems = || page.theorems.iter().filter(|t| t.about == about);
        let missing = |t: &&TheoremCover| t.fails.len() + t.unknown.len();
        let Some(nearest) = theorems().min_by_key(missing) else {
            continue;
        };
        lines.push(if nearest.status == Status::Holds {
            format!("{about}: {}", nearest.theorem)
        } else {
            let failing = nearest.fails.iter().map(|name| format!("not {name}"));
            let unknown = nearest.unknown.iter().map(|name| format!("{name} unknown"));
            let missing: Vec<String> = failing.chain(unknown).collect();
            format!(
                "{about}: no theorem covers this run ({})",
                missing.join(", ")
            )
        });
    }
    lines.join("\n")
}

fn trust(summary: &RunSummary) -> String {
    let certificate = &summary.certificate;
    let account = if summary.energy.closed {
        format!(
            "the energy account of every step closes to rounding (worst imbalance {})",
            quantity(summary.energy.worst_imbalance, "J")
        )
    } else {
        format!("{} energy accounts do not close", summary.energy.open_steps)
    };
    let positions = &summary.positions;
    if !summary.certified && !positions.hold && certificate.worst <= certificate.limit {
        let what = match positions.crossings {
            0 if positions.overlap.value > 1.0 => "lets bodies overlap",
            0 if positions.turn.value > TURN_LIMIT => "turns a body too far within a step",
            0 if positions.lean.value > 0.0 => "is held by corrections of positions alone",
            0 => "drifts",
            _ => "goes through an obstacle",
        };
        return format!("NOT certified: the run {what}, see the warnings; {account}.");
    }
    let stopped = summary.outcome == RunOutcome::Stopped;
    if !summary.certified && stopped && certificate.worst <= certificate.limit {
        return format!("NOT certified: the run stopped before its end; {account}.");
    }
    if !summary.certified {
        let parts = [
            &certificate.natural_map,
            &certificate.cone,
            &certificate.signorini,
            &certificate.dissipation,
        ];
        let worst = parts.into_iter().max_by(|a, b| a.value.total_cmp(&b.value));
        let worst = worst.unwrap_or(&certificate.natural_map);
        let velocity = &certificate.velocity;
        if certificate.worst <= certificate.limit && velocity.value > certificate.velocity_limit {
            return format!(
                "NOT certified: the residuals ({}) leave contact velocities open by {} of the largest (limit {}) at t = {} s, contact {}: bodies beside it \
                 are too heavy for it; {account}.",
                digits(certificate.worst, 2),
                digits(velocity.value, 2),
                digits(certificate.velocity_limit, 1),
                number(velocity.t),
                velocity.contact
            );
        }
        let verdict = if certificate.solved_to_tolerance {
            "Solved to the tolerance asked, not certified"
        } else {
            "NOT certified"
        };
        return format!(
            "{verdict}: worst residual {} (limit {}) at t = {} s{}; {account}.",
            digits(certificate.worst, 2),
            digits(certificate.limit, 1),
            number(worst.t),
            if worst.contact.is_empty() {
                String::new()
            } else {
                format!(", contact {}", worst.contact)
            }
        );
    }
    let quiet = summary.events.is_empty() && summary.contacts.iter().all(|c| c.mode == "open");
    let contacts = if certificate.problems == 0 {
        match quiet {
            true => "no contact was active".to_string(),
            false => "no contact problem was left to solve".to_string(),
        }
    } else {
        let which = match certificate.problems {
            1 => "its one contact problem satisfies its".to_string(),
            n => format!("all {} contact problems satisfy their", count(n as usize)),
        };
        format!(
            "{which} unrelaxed law to {} (limit {}){}",
            digits(certificate.worst, 2),
            digits(certificate.limit, 1),
            match certificate.at_rounding_floor {
                0 => String::new(),
                n => format!(", {n} of them only to the floor of rounding"),
            }
        )
    };
    format!(
        "Certified: {contacts}; {account}; {}.\n\
         This vouches for every step, not for the step size: see what --step {} changes.",
        held(summary),
        0.5 * summary.settings.step
    )
}

/// How well positions kept their constraints.
fn held(summary: &RunSummary) -> String {
    let positions = &summary.positions;
    let mut text = match positions.penetration.value {
        0.0 => "nothing penetrates".to_string(),
        depth => format!(
            "deepest penetration {} ({}, t = {} s)",
            number(depth),
            positions.penetration.contact,
            number(positions.penetration.t)
        ),
    };
    if positions.joint.value > 0.0 {
        let _ = write!(
            text,
            ", worst joint violation {} ({}, t = {} s)",
            number(positions.joint.value),
            positions.joint.contact,
            number(positions.joint.t)
        );
    }
    text
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}
