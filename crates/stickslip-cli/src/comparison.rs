//! The outcomes of several runs of one scene, as a table and as one HTML page.

use std::fmt::Write as _;

use stickslip::simulation::{RunOutcome, RunSummary};

use crate::plot::escape;
use stickslip::internals::quantity::{digits, number};

/// Coordinates shown in a table.
const COORDINATES: usize = 4;

/// One variant: what makes it different, and how it went.
pub struct Outcome {
    /// What makes it different.
    pub label: String,
    /// The summary, or why it was refused.
    pub result: Result<RunSummary, String>,
}

/// Head and rows of the table of outcomes.
pub fn table(outcomes: &[Outcome]) -> Vec<Vec<String>> {
    let first = outcomes
        .iter()
        .find_map(|outcome| outcome.result.as_ref().ok());
    let names: Vec<&str> = first.map_or(Vec::new(), |summary| {
        let names = summary.coordinates.0.iter().take(COORDINATES);
        names.map(|(name, _)| name.as_str()).collect()
    });
    let mut head: Vec<String> = ["variant", "outcome", "steps", "impacts"]
        .map(String::from)
        .to_vec();
    head.extend(names.iter().map(|name| format!("{name} at the end")));
    head.extend(
        [
            "energy lost [J]",
            "by friction",
            "in impacts",
            "by the scheme",
            "worst residual",
            "seconds",
        ]
        .map(String::from),
    );
    let width = head.len();
    let mut rows = vec![head];
    for outcome in outcomes {
        let mut row = vec![outcome.label.clone()];
        match &outcome.result {
            Ok(summary) => row.extend(cells(summary, &names)),
            Err(reason) => row.push(format!("refused: {reason}")),
        }
        row.resize(width, String::new());
        rows.push(row);
    }
    rows
}

fn cells(summary: &RunSummary, names: &[&str]) -> Vec<String> {
    let energy = &summary.energy;
    let total = |name: &str| energy.totals.get(name).unwrap_or(0.0);
    let scheme = total("numerical_mass")
        + total("numerical_stiffness")
        + total("potential_defect")
        + total("covariant_defect");
    let outcome = match (summary.outcome, summary.certified) {
        (RunOutcome::Finished, true) => "certified".to_string(),
        (RunOutcome::Finished, false) => "NOT certified".to_string(),
        (RunOutcome::Stopped, _) => format!("stopped at {} s", number(summary.time)),
        (RunOutcome::Interrupted, _) => "interrupted".to_string(),
    };
    let mut cells = vec![
        outcome,
        summary.steps.to_string(),
        summary.event_counts.impacts.to_string(),
    ];
    let finals = names.iter().map(|name| summary.coordinates.get(name));
    cells.extend(finals.map(|value| value.map_or(String::new(), number)));
    cells.extend([
        number(energy.start - energy.end),
        number(0.0 - total("contact_tangential")),
        number(0.0 - total("contact_normal")),
        number(0.0 - scheme),
        digits(summary.certificate.worst, 1),
        format!("{:.2}", summary.wall_time),
    ]);
    cells
}

/// The table as text with aligned columns.
pub fn as_text(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    // A refusal is a sentence and does not widen its column.
    let cell_width = |row: &Vec<String>, k: usize| {
        let refused = k == 1 && row[k].starts_with("refused");
        if refused { 0 } else { row[k].chars().count() }
    };
    let widths: Vec<usize> = (0..columns)
        .map(|k| rows.iter().map(|row| cell_width(row, k)).max().unwrap_or(0))
        .collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (k, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
            // Words to the left, numbers to the right.
            if k < 2 {
                let _ = write!(line, "{cell}{pad}  ");
            } else {
                let _ = write!(line, "{pad}{cell}  ");
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// One page with the table and the drawings; it needs nothing from a network.
pub fn as_html(title: &str, lead: &str, rows: &[Vec<String>], drawings: &[String]) -> String {
    let mut out =
        String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    let _ = writeln!(
        out,
        "<title>{}</title>\n<style>\n\
         body {{ font-family: Helvetica, Arial, sans-serif; color: #222; max-width: 1020px; margin: 2em auto; padding: 0 1em; }}\n\
         table {{ border-collapse: collapse; font-size: 0.85em; }}\n\
         th, td {{ border-bottom: 1px solid #ccc; padding: 0.35em 0.7em; text-align: right; vertical-align: top; }}\n\
         th {{ border-bottom: 2px solid #444; }}\n\
         th:nth-child(-n+2), td:nth-child(-n+2) {{ text-align: left; }}\n\
         div.wide {{ overflow-x: auto; }}\n\
         svg {{ max-width: 100%; height: auto; margin: 1em 0; }}\n\
         </style>\n</head>\n<body>\n<h1>{}</h1>\n<p>{}</p>",
        escape(title),
        escape(title),
        escape(lead)
    );
    out.push_str("<div class=\"wide\"><table>\n");
    for (k, row) in rows.iter().enumerate() {
        let tag = if k == 0 { "th" } else { "td" };
        out.push_str("<tr>");
        for cell in row {
            let _ = write!(out, "<{tag}>{}</{tag}>", escape(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
    for drawing in drawings {
        out.push_str(drawing);
    }
    out.push_str("</body>\n</html>\n");
    out
}
