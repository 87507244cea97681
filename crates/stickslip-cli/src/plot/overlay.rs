//! Several runs of one scene over each other.

use stickslip::internals::view::palette::LEDGER;

use super::canvas::Stroke;
use super::figure::Figure;
use super::legend::Sample;
use super::panel::Panel;
use super::run_figures::{RunData, TIME};
use super::style;

/// Coordinates or contacts beyond this number are left out.
const SHOWN: usize = 8;

/// One run of a comparison.
pub struct Variant<'a> {
    /// What makes it different.
    pub label: &'a str,
    /// The run.
    pub run: &'a RunData,
}

/// Figures that lay the runs over each other: motion, gaps, energy.
pub fn overlays(title: &str, variants: &[Variant]) -> Vec<Figure> {
    let Some(first) = variants.first().map(|variant| variant.run) else {
        return Vec::new();
    };
    let units = first.units();
    let mut motion = Figure {
        name: "motion".to_string(),
        title: format!("{title}: motion"),
        legend: legend(variants),
        columns: 2,
        panel_size: (480.0, 260.0),
        ..Figure::default()
    };
    let names = first.coordinates();
    let rates = first.velocities();
    let paired = names.len() == rates.len();
    for (k, name) in names.iter().take(SHOWN).enumerate() {
        let label = format!("{name} [{}]", units.coordinate(name));
        motion.panels.push(panel(variants, name, &label));
        if let Some(rate) = rates.get(k).filter(|_| paired) {
            let label = format!("{rate}' [{}]", units.velocity(rate));
            let column = format!("v_{rate}");
            motion.panels.push(panel(variants, &column, &label));
        }
    }
    let mut figures = vec![motion];
    let contacts = first.contacts();
    if !contacts.is_empty() {
        figures.push(Figure {
            name: "gaps".to_string(),
            title: format!("{title}: gaps"),
            legend: legend(variants),
            columns: 2,
            panel_size: (480.0, 260.0),
            panels: contacts
                .iter()
                .take(SHOWN)
                .map(|name| {
                    let label = format!("gap of {name} [m]");
                    panel(variants, &format!("{name}.gap"), &label)
                })
                .collect(),
            ..Figure::default()
        });
    }
    figures.push(energy(title, variants));
    figures
}

/// The drawings of the figures as SVG.
pub fn drawings(figures: &[Figure]) -> Vec<String> {
    figures.iter().map(Figure::svg).collect()
}

fn panel(variants: &[Variant], column: &str, label: &str) -> Panel {
    overlay(variants, label, |run| run.table.curve("t", column))
}

fn overlay(variants: &[Variant], label: &str, curve: impl Fn(&RunData) -> Vec<[f64; 2]>) -> Panel {
    let mut panel = Panel {
        x_label: TIME.to_string(),
        y_label: label.to_string(),
        ..Panel::default()
    };
    for (k, variant) in variants.iter().enumerate() {
        panel.add_curve(curve(variant.run), stroke(k, variants.len()), None);
    }
    panel
}

/// Earlier curves are wider, so that they show below later ones that lie upon them.
fn stroke(k: usize, count: usize) -> Stroke {
    let width = 1.4 + (0.6 * (count - 1 - k) as f64).min(2.0);
    Stroke {
        width,
        ..style::curve(k)
    }
}

fn legend(variants: &[Variant]) -> Vec<(String, Sample)> {
    let entries = variants.iter().enumerate();
    entries
        .map(|(k, variant)| {
            let sample = Sample::Line(stroke(k, variants.len()));
            (variant.label.to_string(), sample)
        })
        .collect()
}

/// Total energy, and what friction and impacts took.
fn energy(title: &str, variants: &[Variant]) -> Figure {
    let total = |run: &RunData| {
        let potential = run.table.column("potential").unwrap_or_default();
        let kinetic = run.table.curve("t", "kinetic");
        let sums = kinetic.iter().zip(potential);
        sums.map(|([t, kinetic], potential)| [*t, kinetic + potential])
            .collect()
    };
    let taken = |term: &'static str| {
        move |run: &RunData| {
            let work = run.table.curve("t", &format!("energy.{term}"));
            work.iter().map(|[t, w]| [*t, -w]).collect()
        }
    };
    Figure {
        name: "energy".to_string(),
        title: format!("{title}: energy"),
        legend: legend(variants),
        columns: 2,
        panel_size: (480.0, 280.0),
        panels: vec![
            overlay(variants, "kinetic + potential energy [J]", total),
            overlay(
                variants,
                "taken by friction [J]",
                taken("contact_tangential"),
            ),
            overlay(
                variants,
                "taken in impacts (normal) [J]",
                taken("contact_normal"),
            ),
            overlay(variants, "taken by the scheme [J]", |run| {
                let parts = LEDGER[5]
                    .columns
                    .iter()
                    .map(|name| run.table.column(name).unwrap_or_default());
                let parts: Vec<&[f64]> = parts.collect();
                let times = run.table.times().iter().enumerate();
                times
                    .map(|(k, &t)| [t, -parts.iter().filter_map(|p| p.get(k)).sum::<f64>()])
                    .collect()
            }),
        ],
        ..Figure::default()
    }
}
