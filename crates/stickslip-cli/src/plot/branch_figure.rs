//! Every branch of a run.

use stickslip::simulation::studies::branches::BranchTree;

use super::canvas::Color;
use super::figure::Figure;
use super::panel::Panel;
use super::run_figures::{RunData, TIME};
use super::style;

/// Coordinates beyond this number are left out.
const SHOWN: usize = 6;

/// The coordinates of every trajectory of a tree; a ring where one leaves another.
pub fn branch_figure(run: &RunData, tree: &BranchTree) -> Figure {
    let mut figure = run.figure("branches", "every branch");
    figure.columns = 2;
    figure.panel_size = (470.0, 270.0);
    for (i, name) in run.coordinates().iter().take(SHOWN).enumerate() {
        let mut panel = Panel {
            x_label: TIME.to_string(),
            y_label: format!("{name} [{}]", run.units().coordinate(name)),
            ..Panel::default()
        };
        let mut leaves = Vec::new();
        for (k, branch) in tree.branches.iter().enumerate() {
            let points: Vec<[f64; 2]> = branch
                .t
                .iter()
                .zip(&branch.q)
                .map(|(&t, q)| [t, q[i]])
                .collect();
            leaves.extend(points.first().filter(|_| branch.parent.is_some()));
            let label = (i == 0).then(|| match branch.parent {
                None => "branch 1: by the rule".to_string(),
                Some(parent) => format!(
                    "branch {}: leaves {} at t = {:.4} s",
                    k + 1,
                    parent + 1,
                    branch.t_start
                ),
            });
            if let Some(label) = label {
                let sample = super::legend::Sample::Line(style::curve(k));
                figure.legend.push((label, sample));
            }
            panel.add_curve(points, style::curve(k), None);
        }
        panel.add_dots(leaves, 4.0, Color::INK, true, None);
        figure.panels.push(panel);
    }
    figure
}
