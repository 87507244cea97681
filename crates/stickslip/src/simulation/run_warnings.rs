//! What a user should know after a run: few sentences, each with its number.

use super::{RunSummary, SummaryEvent};
use crate::records::EventKind;

/// Numerical dissipation above this share of the energy that moved is worth a warning.
const NUMERICAL_SHARE: f64 = 0.05;

/// Energies below this share of the energies at hand are rounding.
const ROUNDING_SHARE: f64 = 1e-9;

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
            "in {} steps the iteration on nonlinear forces did not converge, first for {}: a force this stiff needs a \
             smaller step, or a `potential` or `damping` in place of an expression",
            certificate.nonlinear_failures, certificate.nonlinear_failure
        ));
    }
    if summary.energy.open_steps > 0 {
        warnings.push(format!(
            "the energy account of {} steps did not close (worst imbalance {:.1e} J)",
            summary.energy.open_steps, summary.energy.worst_imbalance
        ));
    }
    if !summary.momentum.is_closed() {
        warnings.push(format!(
            "the account of momentum of {} steps did not close, first worst at t = {} s",
            summary.momentum.open_steps, summary.momentum.worst_time
        ));
    }
    warnings.extend(position_warnings(summary));
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

/// Positions that cannot be believed.
fn position_warnings(summary: &RunSummary) -> Vec<String> {
    let positions = &summary.positions;
    let mut warnings = Vec::new();
    let cure = match summary.settings.projection.as_str() {
        "combined" => "a smaller step makes this smaller",
        _ if summary.settings.scheme == "event-driven" => "a smaller step makes this smaller",
        _ => "projection = \"combined\" corrects positions",
    };
    if !(positions.drift.value <= positions.limit) {
        warnings.push(format!(
            "positions drift by {:.1e} of the size of the motion (contact {}, t = {} s; deepest penetration {:.2e} of \
             contact {}): {cure}",
            positions.drift.value,
            positions.drift.contact,
            positions.drift.t,
            positions.penetration.value,
            positions.penetration.contact
        ));
    }
    if !(positions.joint_drift.value <= positions.limit) {
        warnings.push(format!(
            "joint {} is violated by {:.1e} of the size of the motion (t = {} s): {cure}",
            positions.joint_drift.contact, positions.joint_drift.value, positions.joint_drift.t
        ));
    }
    if positions.crossings > 0 {
        let first = &positions.first_crossing;
        warnings.push(format!(
            "{} steps went through an obstacle from one open side to the other, first contact {} at t = {} s (gap {:.2e} \
             on the way): take steps shorter than its thickness over the speed",
            positions.crossings, first.contact, first.t, -first.value
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
        "{} {} gained energy, {total:.2e} J in all (largest {:.2e} J at t = {} s, contact {}): with friction, {} law of \
         impact can create energy; Fremond's and the energetic law cannot (--impact fremond)",
        gains().count(),
        if gains().count() == 1 {
            "impact"
        } else {
            "impacts"
        },
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
    let size = [energy.start, energy.kinetic, energy.potential]
        .into_iter()
        .fold(moved, |size, x| size.max(x.abs()));
    let matters = |x: f64| x.abs() > NUMERICAL_SHARE * moved && x.abs() > ROUNDING_SHARE * size;
    let verb = |x: f64| if x < 0.0 { "took" } else { "added" };
    if matters(theta) {
        warnings.push(format!(
            "theta above 1/2 {} {:.2e} J: the damping of the theta scheme, which is zero at theta = 0.5",
            verb(theta),
            theta.abs()
        ));
    }
    if matters(defects) {
        warnings.push(format!(
            "the scheme itself {} {:.2e} J: a smaller step makes this smaller",
            verb(defects),
            defects.abs()
        ));
    }
    if matters(total("projection")) {
        warnings.push(format!(
            "the projection of positions {} {:.2e} J: a smaller step makes this smaller",
            verb(total("projection")),
            total("projection").abs()
        ));
    }
    // What contacts brought in, each source by its name; the work of moving obstacles is a term of the account.
    let work = |name: &str| summary.energy.contact_works.get(name).unwrap_or(0.0);
    let brought = |x: f64| x > ROUNDING_SHARE * size && x > 0.0;
    if brought(work("theta_gain")) {
        warnings.push(format!(
            "theta above the bound 1/(1+e) of the dissipative scheme added {:.2e} J at the contacts: theta = 0.5 adds none",
            work("theta_gain")
        ));
    }
    if brought(work("law")) && summary.event_counts.energy_gains == 0 {
        warnings.push(format!(
            "the laws of the contacts added {:.2e} J without an impact that gained energy: a smaller step makes this smaller",
            work("law")
        ));
    }
    warnings
}
