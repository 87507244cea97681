//! The energy ledger as stacked areas.

use super::canvas::{Color, Stroke};
use super::figure::Figure;
use super::panel::Panel;
use super::run_figures::{RunData, TIME};
use super::style;

/// Losses: name and the terms of the account whose work it is.
const LOSSES: [(&str, &[&str]); 5] = [
    ("lost to friction", &["contact_tangential"]),
    ("lost in impacts (normal)", &["contact_normal"]),
    ("lost to damping", &["damping"]),
    (
        "lost to the scheme",
        &[
            "numerical_mass",
            "numerical_stiffness",
            "potential_defect",
            "covariant_defect",
        ],
    ),
    ("taken by joints", &["joints"]),
];

/// Kinetic and potential energy with all losses on top of each other: the upper edge is the energy at
/// the start plus the work of external forces, drawn as a dashed line that the stack must meet.
pub fn energy(run: &RunData) -> Figure {
    let mut figure = run.figure("energy", "where the energy went");
    let table = &run.table;
    let times = table.times();
    let column = |name: &str| table.column(name).unwrap_or_default().to_vec();
    let term = |name: &str| column(&format!("energy.{name}"));
    let (kinetic, potential) = (column("kinetic"), column("potential"));
    let lowest = potential.iter().copied().fold(f64::INFINITY, f64::min);
    let raised: Vec<f64> = potential.iter().map(|v| v - lowest).collect();

    let mut layers: Vec<(String, Vec<f64>, usize)> = vec![
        ("kinetic".to_string(), kinetic.clone(), 0),
        ("potential (from its least)".to_string(), raised.clone(), 1),
    ];
    for (k, (name, terms)) in LOSSES.iter().enumerate() {
        let mut loss = vec![0.0; times.len()];
        for term in terms.iter().map(|name| term(name)) {
            for (sum, work) in loss.iter_mut().zip(term) {
                *sum -= work;
            }
        }
        layers.push(((*name).to_string(), loss, k + 2));
    }
    let scale = layers
        .iter()
        .flat_map(|layer| &layer.1)
        .fold(0.0f64, |m, v| m.max(v.abs()));
    layers.retain(|(_, values, _)| values.iter().any(|v| v.abs() > 2e-3 * scale));

    let mut panel = Panel {
        x_label: TIME.to_string(),
        y_label: "energy [J]".to_string(),
        ..Panel::default()
    };
    stack(&mut panel, times, &layers);
    // The ledger: what was there at the start, and what came from outside.
    let external = term("external");
    if let (Some(t0), Some(v0)) = (kinetic.first(), raised.first()) {
        let start = t0 + v0
            - term("kinetic_change").first().unwrap_or(&0.0)
            - term("potential_change").first().unwrap_or(&0.0);
        let line: Vec<[f64; 2]> = times
            .iter()
            .zip(&external)
            .map(|(&t, w)| [t, start + w])
            .collect();
        let stroke = Stroke {
            color: Color::BLACK,
            width: 1.8,
            dash: &[7.0, 4.0],
        };
        let name = if external.iter().any(|w| w.abs() > 1e-4 * scale) {
            "start + external work"
        } else {
            "at the start"
        };
        panel.add_curve(line, stroke, Some(name.to_string()));
    }
    figure.columns = 1;
    figure.panel_size = (820.0, 430.0);
    figure.panels.push(panel);
    figure
}

/// Areas upon each other: what is positive above zero, what is negative below.
fn stack(panel: &mut Panel, times: &[f64], layers: &[(String, Vec<f64>, usize)]) {
    let mut above = vec![0.0; times.len()];
    let mut below = vec![0.0; times.len()];
    let edge = Stroke::solid(Color::INK, 0.7);
    for (name, values, style_index) in layers {
        for (base, sign, entry) in [(&mut above, 1.0, true), (&mut below, -1.0, false)] {
            let part: Vec<f64> = values.iter().map(|v| (v * sign).max(0.0) * sign).collect();
            let any = part.iter().any(|v| *v != 0.0);
            if !any && !entry {
                continue;
            }
            let lower: Vec<[f64; 2]> = times
                .iter()
                .zip(base.iter())
                .map(|(&t, &b)| [t, b])
                .collect();
            for (b, v) in base.iter_mut().zip(&part) {
                *b += v;
            }
            let upper: Vec<[f64; 2]> = times
                .iter()
                .zip(base.iter())
                .map(|(&t, &b)| [t, b])
                .collect();
            let mut outline = lower;
            outline.extend(upper.iter().rev());
            panel.add_area(
                outline,
                style::filling(*style_index),
                entry.then(|| name.clone()),
            );
            panel.add_curve(upper, edge, None);
        }
    }
    let high = above.iter().copied().fold(0.0, f64::max);
    let low = below.iter().copied().fold(0.0, f64::min);
    if high > low {
        panel.y_range = Some((1.06 * low, 1.08 * high));
    }
}
