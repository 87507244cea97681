//! What a user should know after a run: few sentences, each with its number.

use std::f64::consts::PI;

use super::positions::TURN_LIMIT;
use super::uniqueness_watch::COMPARED_ROWS;
use super::{RunSettings, RunSummary, SummaryEvent};
use crate::quantity::{digits, quantity};
use crate::records::EventKind;
use crate::solvers::uniqueness::{PLANAR, SPATIAL};

/// Numerical dissipation above this share of the energy that moved is worth a warning.
const NUMERICAL_SHARE: f64 = 0.05;

/// Energies below this share of the energies at hand are rounding.
const ROUNDING_SHARE: f64 = 1e-9;

/// Warnings that matter, from the summary and the energy that the forces give within a step to what is free.
pub(super) fn run_warnings(summary: &RunSummary, energy_of_step: f64) -> Vec<String> {
    let mut warnings = Vec::new();
    let certificate = &summary.certificate;
    if certificate.several_solutions > 0 {
        let settings = &summary.settings;
        // Solutions are listed, and chosen by name, where that is asked for.
        let listed = settings.several_rule != "take-off-first" || settings.on_several != "choose";
        let rule = &settings.several_rule;
        let chose = match (settings.scheme.as_str(), settings.on_several.as_str()) {
            (_, "stop") => "the run stopped before it took one".to_owned(),
            ("event-driven", _) => "the scheme chose between modes itself".to_owned(),
            (_, "branch") => format!(
                "branches.json follows them, this run goes on with the one of the rule {rule}"
            ),
            _ if listed => format!("the rule {rule} chose one"),
            _ => "the run took the one that its solver found".to_owned(),
        };
        let mut warning = format!(
            "contact problems had several solutions in {}, an impact at the start and those of contacts that only touch included; {chose}",
            steps(certificate.several_solutions)
        );
        if summary.world.is_some() && summary.settings.scheme == "moreau-jean" {
            warning += " of those with normals at the start of the step; what a spin lifts off is counted too (scheme = \"moreau\" \
                        reads normals at the end)";
        }
        warnings.push(warning);
    }
    if certificate.uniqueness_not_examined > 0 {
        let mut reason = format!(
            "more contacts that act on each other than are enumerated ({PLANAR} in the plane, {SPATIAL} in space)"
        );
        if summary.world.is_some() {
            reason += &format!(", or more than {COMPARED_ROWS} contact rows in a step of a world");
        }
        let (all, of_law) = (
            certificate.uniqueness_not_examined,
            certificate.laws_not_listed,
        );
        let law = format!("{} not listed", unlisted_motions(&summary.settings));
        let reason = match all.saturating_sub(of_law) {
            0 => law,
            _ if of_law == 0 => reason,
            _ => format!("in {} {law}, in the others {reason}", steps(of_law)),
        };
        warnings.push(format!(
            "in {all} of {} it was not examined whether the motion is unique: {reason}",
            steps(summary.steps.max(all))
        ));
    }
    if let Some(rows) = &certificate.dependent_rows {
        let motion = match rows.motion.as_str() {
            "unique" => "the motion is unique, how contacts share their impulses is not",
            "several" => "neither impulses nor the motion are unique",
            _ => "impulses are not unique; whether the motion is was not examined",
        };
        warnings.push(format!(
            "contact rows depend on each other ({} of {} rows at t = {}): {motion}",
            rows.rank_deficiency,
            rows.rows,
            quantity(rows.t, "s")
        ));
    }
    if certificate.not_converged > 0 {
        warnings.push(format!(
            "{} of {} contact problems were not solved to the tolerance",
            certificate.not_converged, certificate.problems
        ));
    }
    if certificate.nonlinear_failures > 0 {
        warnings.push(format!(
            "in {} the iteration on nonlinear forces did not converge, first for {}: a force this stiff needs a \
             smaller step, or a `potential` or `damping` in place of an expression",
            steps(certificate.nonlinear_failures),
            certificate.nonlinear_failure
        ));
    }
    if summary.energy.open_steps > 0 {
        warnings.push(format!(
            "the energy account of {} did not close (worst imbalance {})",
            steps(summary.energy.open_steps),
            quantity(summary.energy.worst_imbalance, "J")
        ));
    }
    if !summary.momentum.is_closed() {
        warnings.push(format!(
            "the account of momentum of {} did not close, first worst at t = {}",
            steps(summary.momentum.open_steps),
            quantity(summary.momentum.worst_time, "s")
        ));
    }
    warnings.extend(position_warnings(summary));
    warnings.extend(painleve_warning(summary));
    warnings.extend(gain_warning(summary));
    warnings.extend(energy_warnings(summary, energy_of_step));
    if summary.stick_jitter > 0.0 {
        warnings.push(format!(
            "stuck contacts alternate with {} from step to step (Fremond's law with theta near 1/2): \
             positions stay right, read velocities as means of two steps",
            quantity(summary.stick_jitter, "m/s")
        ));
    }
    if summary.event_counts.dropped > 0 {
        warnings.push(format!(
            "{} further events were not kept",
            summary.event_counts.dropped
        ));
    }
    warnings
}

/// So many steps.
fn steps(count: u64) -> String {
    match count {
        1 => "1 step".to_owned(),
        _ => format!("{count} steps"),
    }
}

/// Which motions no list has, as the law of a run says them.
fn unlisted_motions(settings: &RunSettings) -> &'static str {
    match (settings.law.as_str(), settings.impact.as_str()) {
        (_, "poisson") => "the motions of both phases of the impact law `poisson` are",
        ("argmin", _) => "motions under the law `argmin` are, where it is not Coulomb's,",
        _ => "motions under the law of a contact are",
    }
}

/// Positions that cannot be believed.
fn position_warnings(summary: &RunSummary) -> Vec<String> {
    let positions = &summary.positions;
    let mut warnings = Vec::new();
    let cure = match summary.settings.projection.as_str() {
        "combined" => "a smaller step makes this smaller",
        // Schemes that have no projection.
        _ if ["event-driven", "penalty"].contains(&summary.settings.scheme.as_str()) => {
            "a smaller step makes this smaller"
        }
        _ => "projection = \"combined\" corrects positions",
    };
    if !(positions.drift.value <= positions.limit) {
        warnings.push(format!(
            "positions drift by {} of the size of the motion (contact {}, t = {}; deepest penetration {} of \
             contact {}): {cure}",
            digits(positions.drift.value, 2),
            positions.drift.contact,
            quantity(positions.drift.t, "s"),
            digits(positions.penetration.value, 3),
            positions.penetration.contact
        ));
    }
    if !(positions.joint_drift.value <= positions.limit) {
        warnings.push(format!(
            "joint {} is violated by {} of the size of the motion (t = {}): {cure}",
            positions.joint_drift.contact,
            digits(positions.joint_drift.value, 2),
            quantity(positions.joint_drift.t, "s")
        ));
    }
    if !(positions.overlap.value <= 1.0) {
        warnings.push(format!(
            "bodies overlap by {} times the slop (contact {}, t = {}; deepest penetration {} of contact {}): a \
             smaller step makes this smaller",
            digits(positions.overlap.value, 2),
            positions.overlap.contact,
            quantity(positions.overlap.t, "s"),
            digits(positions.penetration.value, 3),
            positions.penetration.contact
        ));
    }
    if positions.crossings > 0 {
        let first = &positions.first_crossing;
        warnings.push(format!(
            "{} steps went through an obstacle, first contact {} at t = {} (gap {} \
             on the way): take steps shorter than its thickness over the speed",
            positions.crossings,
            first.contact,
            quantity(first.t, "s"),
            digits(-first.value, 3)
        ));
    }
    if positions.lean.value > 0.0 {
        warnings.push(format!(
            "the correction of positions moves step after step back by {} of its way (t = {}), and no impulse stops the velocity: a gap with a \
             corner has one normal at a time there (give each side a contact of its own), or the step is far too long",
            digits(positions.lean.value, 2),
            quantity(positions.lean.t, "s")
        ));
    }
    if !(positions.turn.value <= TURN_LIMIT) {
        let angle = positions.turn.value;
        warnings.push(format!(
            "a step turns the body by {} turns (t = {}), and what its contacts meet on the way is not seen: beyond half a turn its ends \
             are those of a smaller turn the other way; steps {} times as short turn it by an eighth",
            digits(angle / (2.0 * PI), 3),
            quantity(positions.turn.t, "s"),
            digits(angle / (0.25 * PI), 2)
        ));
    }
    warnings
}

fn painleve_warning(summary: &RunSummary) -> Option<String> {
    let painleve = summary.painleve.as_ref()?;
    let (steps, where_to) = match (painleve.steps_inside, painleve.steps_near) {
        (0, 0) => return None,
        (0, near) => (near, "near"),
        (inside, _) => (inside, "inside"),
    };
    Some(format!(
        "{steps} steps {where_to} the Painleve region (smallest margin {:.3} at t = {}, contact {}): Coulomb's law may \
         have several solutions there, or none without an impact; see `stickslip branches`",
        painleve.smallest_margin,
        quantity(painleve.t, "s"),
        painleve.contact
    ))
}

/// Impacts that gained energy, even where the whole run loses.
fn gain_warning(summary: &RunSummary) -> Option<String> {
    let gains = || {
        let events = summary.events.iter();
        events.filter(|e| e.kind == EventKind::EnergyGain)
    };
    let energy = |e: &&SummaryEvent| e.energy.unwrap_or(0.0);
    let largest = gains().max_by(|a, b| energy(a).total_cmp(&energy(b)))?;
    let total: f64 = gains().map(|e| energy(&e)).sum();
    let why = if summary.settings.law == "frictionless" {
        "without friction no impact does, but a step may keep a contact closed that opens already: a smaller step makes this smaller"
            .to_string()
    } else if summary.settings.impact == "fremond" {
        "Fremond's law gives none, but a step may keep a contact closed that opens already: a smaller step makes this smaller"
            .to_string()
    } else {
        format!(
            "with friction, {} law of impact can create energy; Fremond's and the energetic law cannot (--impact fremond)",
            match summary.settings.impact.as_str() {
                "newton" => "Newton's",
                "poisson" => "Poisson's",
                "moreau" => "Moreau's",
                _ => "this",
            }
        )
    };
    Some(format!(
        "{} {} gained energy, {} in all (largest {} at t = {}, contact {}): {why}",
        gains().count(),
        if gains().count() == 1 {
            "impact"
        } else {
            "impacts"
        },
        quantity(total, "J"),
        quantity(energy(&largest), "J"),
        quantity(largest.t, "s"),
        largest.contact
    ))
}

fn energy_warnings(summary: &RunSummary, energy_of_step: f64) -> Vec<String> {
    let mut warnings = Vec::new();
    let total = |name: &str| summary.energy.totals.get(name).unwrap_or(0.0);
    let theta = total("numerical_mass") + total("numerical_stiffness");
    let defects = total("potential_defect") + total("covariant_defect");
    let moved = [
        "external",
        "damping",
        "joints",
        "contact_normal",
        "contact_tangential",
        "kinetic_change",
        "potential_change",
    ]
    .map(|name| total(name).abs())
    .into_iter()
    .fold(0.0, f64::max);
    // What is rounding of the energies themselves is not worth a sentence.
    let energy = &summary.energy;
    let size = [
        energy.start,
        energy.kinetic,
        energy.potential,
        energy_of_step,
    ]
    .into_iter()
    .fold(moved, |size, x| size.max(x.abs()));
    let matters = |x: f64| x.abs() > NUMERICAL_SHARE * moved && x.abs() > ROUNDING_SHARE * size;
    let verb = |x: f64| if x < 0.0 { "took" } else { "added" };
    // What contacts brought in, each source by its name; the work of moving obstacles is a term of the account.
    let work = |name: &str| summary.energy.contact_works.get(name).unwrap_or(0.0);
    let brought = |x: f64| x > ROUNDING_SHARE * size && x > 0.0;
    // What theta gives at an impact its damping takes again in the same step: the two are told as one.
    let given = work("theta_gain");
    let taken = given.min(-theta).max(0.0);
    let theta = theta + taken;
    if matters(theta) && summary.settings.scheme == "event-driven" {
        warnings.push(format!(
            "the integration itself {} {}: forces that jump, or more bounces than it follows",
            verb(theta),
            quantity(theta.abs(), "J")
        ));
    } else if matters(theta) {
        warnings.push(format!(
            "theta above 1/2 {} {}: the damping of the theta scheme, which is zero at theta = 0.5",
            verb(theta),
            quantity(theta.abs(), "J")
        ));
    }
    if matters(defects) {
        warnings.push(format!(
            "the scheme itself {} {}: a smaller step makes this smaller",
            verb(defects),
            quantity(defects.abs(), "J")
        ));
    }
    if matters(total("projection")) {
        warnings.push(format!(
            "the projection of positions {} {}: a smaller step makes this smaller, and a smaller tolerance where bodies rest",
            verb(total("projection")),
            quantity(total("projection").abs(), "J")
        ));
    }
    if brought(given) {
        let again = if brought(taken) {
            format!(", of which its damping took {} again", quantity(taken, "J"))
        } else {
            String::new()
        };
        warnings.push(format!(
            "theta above the bound 1/(1+e) of the dissipative scheme added {} at the contacts{again}: theta = 0.5 adds none",
            quantity(given, "J")
        ));
    }
    if brought(work("law")) && summary.event_counts.energy_gains == 0 {
        warnings.push(format!(
            "the laws of the contacts added {} without an impact that gained energy: a smaller step makes this smaller",
            quantity(work("law"), "J")
        ));
    }
    warnings
}
