//! A figure: a title over panels in rows and columns.

use std::io;
use std::path::Path;

use super::canvas::{Anchor, Canvas};
use super::colour_scale::{ColourScale, SCALE_HEIGHT};
use super::legend::{LEGEND_LINE, Sample, draw_legend, legend_lines};
use super::panel::Panel;
use super::png::png;
use super::svg::svg;

/// Pixels of a PNG per unit of a drawing.
const PIXELS: f64 = 2.0;

/// Panels under one title.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// Name of its files, without ending.
    pub name: String,
    /// Above all panels.
    pub title: String,
    /// Below the title, smaller.
    pub subtitle: String,
    /// Names and samples that hold for all panels.
    pub legend: Vec<(String, Sample)>,
    /// What the colours of a field stand for.
    pub scale: Option<ColourScale>,
    /// Line by line.
    pub panels: Vec<Panel>,
    /// Panels in a line.
    pub columns: usize,
    /// Size of a panel.
    pub panel_size: (f64, f64),
}

impl Figure {
    /// The drawing.
    pub fn draw(&self) -> Canvas {
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let lines = self.panels.len().div_ceil(columns);
        let (width, height) = self.panel_size;
        let top = if self.subtitle.is_empty() { 34.0 } else { 54.0 };
        let legend = legend_lines(&self.legend, width * columns as f64 - 40.0);
        let bar = self.scale.as_ref().map_or(0.0, |_| SCALE_HEIGHT);
        let head = top + legend.len() as f64 * LEGEND_LINE + bar;
        let mut canvas = Canvas::new(
            width * columns as f64 + 12.0,
            height * lines as f64 + head + 6.0,
            self.title.as_str(),
        );
        let middle = 0.5 * canvas.width;
        canvas.bold_text([middle, 22.0], self.title.as_str(), 15.0, Anchor::Middle);
        canvas.text([middle, 41.0], self.subtitle.as_str(), 12.0, Anchor::Middle);
        draw_legend(&mut canvas, &self.legend, &legend, [26.0, top - 2.0]);
        if let Some(scale) = &self.scale {
            scale.draw(&mut canvas, [26.0, head - SCALE_HEIGHT]);
        }
        let margins: Vec<f64> = (0..columns)
            .map(|column| {
                let below = self.panels.iter().skip(column).step_by(columns);
                let margins = below.map(|panel| panel.left_margin(self.panel_size));
                margins.fold(0.0, f64::max)
            })
            .collect();
        for (k, panel) in self.panels.iter().enumerate() {
            let corner = [
                6.0 + (k % columns) as f64 * width,
                head + (k / columns) as f64 * height,
            ];
            panel.draw(&mut canvas, corner, self.panel_size, margins[k % columns]);
        }
        canvas
    }

    /// The drawing as the text of an SVG file.
    pub fn svg(&self) -> String {
        svg(&self.draw())
    }

    /// Writes the figure as SVG and PNG into a folder.
    pub fn save(&self, folder: &Path) -> io::Result<()> {
        let canvas = self.draw();
        std::fs::write(folder.join(format!("{}.svg", self.name)), svg(&canvas))?;
        let picture = png(&canvas, PIXELS).map_err(io::Error::other)?;
        std::fs::write(folder.join(format!("{}.png", self.name)), picture)
    }
}
