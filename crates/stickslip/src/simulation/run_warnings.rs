//! What a user should know after a run: few sentences, each with its number.

use super::{RunSummary, SummaryEvent};
use crate::records::EventKind;

/// Numerical dissipation above this share of the energy that moved is worth a warning.
const NUMERICAL_SHARE: f64 = 0.05;

/// Warnings that matter, from the summary alone.
pub(super) fn run_warnings(summary: &RunSummary) -> Vec<String> {
    let mut warnings = Vec::new();
    let certificate = &summary.certificate;
    if certificate.several_solutions > 0 {
        warnings.push(format!(
            "{} of {} contact problems had several solutions; the rule {} chose one",
            certificate.several_solutions, certificate.problems, summary.settings.several_rule
        ));
    }
    if certificate.uniqueness_not_examined > 0 {
        warnings.push(format!(
            "in {} of {} steps it was not examined whether the motion is unique: too many contacts at once",
            certificate.uniqueness_not_examined, summary.steps
        ));
    }
    if let Some(rows) = &certificate.dependent_rows {
        let motion = match rows.motion.as_str() {
            "unique" => "the motion is unique, how contacts share their impulses is not",
            "several" => "neither impulses nor the motion are unique",
            _ => "impulses are not unique; whether the motion is was not examined",
        };
        warnings.push(format!(
            "contact rows depend on each other ({} of {} rows at t = {} s): {motion}",
            rows.rank_deficiency, rows.rows, rows.t
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
            "in {} steps the iteration on nonlinear forces did not converge: try a smaller step",
            certificate.nonlinear_failures
        ));
    }
    if summary.energy.open_steps > 0 {
        warnings.push(format!(
            "the energy account of {} steps did not close (worst imbalance {:.1e} J)",
            summary.energy.open_steps, summary.energy.worst_imbalance
        ));
    }
    warnings.extend(painleve_warning(summary));
    warnings.extend(gain_warning(summary));
    warnings.extend(energy_warnings(summary));
    if summary.stick_jitter > 0.0 {
        warnings.push(format!(
            "stuck contacts alternate with {:.1e} m/s from step to step (Fremond's law with theta near 1/2): \
             positions stay right, read velocities as means of two steps",
            summary.stick_jitter
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

fn painleve_warning(summary: &RunSummary) -> Option<String> {
    let painleve = summary.painleve.as_ref()?;
    let (steps, where_to) = match (painleve.steps_inside, painleve.steps_near) {
        (0, 0) => return None,
        (0, near) => (near, "near"),
        (inside, _) => (inside, "inside"),
    };
    Some(format!(
        "{steps} steps {where_to} the Painleve region (smallest margin {:.3} at t = {} s, contact {}): Coulomb's law may \
         have several solutions there, or none without an impact; see `stickslip branches`",
        painleve.smallest_margin, painleve.t, painleve.contact
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
    Some(format!(
        "{} impacts gained energy, {total:.2e} J in all (largest {:.2e} J at t = {} s, contact {}): with friction, {} law of \
         impact can create energy; Fremond's and the energetic law cannot (--impact fremond)",
        gains().count(),
        energy(&largest),
        largest.t,
        largest.contact,
        match summary.settings.impact.as_str() {
            "newton" => "Newton's",
            "poisson" => "Poisson's",
            "moreau" => "Moreau's",
            _ => "this",
        }
    ))
}

fn energy_warnings(summary: &RunSummary) -> Vec<String> {
    let mut warnings = Vec::new();
    let total = |name: &str| summary.energy.totals.get(name).unwrap_or(0.0);
    let scheme: f64 = [
        "numerical_mass",
        "numerical_stiffness",
        "potential_defect",
        "covariant_defect",
    ]
    .map(total)
    .into_iter()
    .sum();
    let contact = total("contact_normal") + total("contact_tangential");
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
    if scheme.abs() > NUMERICAL_SHARE * moved && scheme.abs() > 1e-12 * moved {
        let verb = if scheme < 0.0 { "took" } else { "added" };
        warnings.push(format!(
            "the scheme itself {verb} {:.2e} J: a smaller step makes this smaller",
            scheme.abs()
        ));
    }
    // What brought energy in, each source by its name.
    let work = |name: &str| summary.energy.contact_works.get(name).unwrap_or(0.0);
    let matters = |x: f64| x > 1e-9 * moved && x > 0.0;
    if matters(work("theta")) {
        warnings.push(format!(
            "theta above the bound 1/(1+e) of the dissipative scheme added {:.2e} J at the contacts: theta = 0.5 adds none",
            work("theta")
        ));
    }
    if matters(contact) && matters(work("supports")) {
        warnings.push(format!(
            "moving obstacles did {:.2e} J of work",
            work("supports")
        ));
    }
    if matters(work("law")) && summary.event_counts.energy_gains == 0 {
        warnings.push(format!(
            "the laws of the contacts added {:.2e} J without an impact that gained energy: a smaller step makes this smaller",
            work("law")
        ));
    }
    warnings
}
