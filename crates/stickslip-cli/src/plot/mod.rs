//! Pictures of runs, as SVG and PNG from one drawing.
//!
//! `canvas` is a drawing as a list of marks; `svg`, `raster` and `png` turn it into files; `axis`,
//! `panel` and `figure` draw curves on axes; one file per kind of picture says what is shown.

mod axis;
mod branch_figure;
mod canvas;
mod colour_scale;
mod decimate;
mod elastic;
mod energy;
mod figure;
mod font;
mod impulses;
mod legend;
mod map_figure;
mod margin;
mod mechanism;
mod obstacles;
mod overlay;
mod panel;
mod png;
mod raster;
mod run_figures;
mod style;
mod svg;
mod sweep_figure;
mod table;
mod timeline;
mod units;
mod world;

pub use canvas::Stroke;
pub use elastic::{ElasticView, Field, state};
pub use figure::Figure;
pub use legend::Sample;
pub use map_figure::map_figure;
pub use overlay::{Variant, drawings, overlays};
pub use panel::{Item, Panel};
pub use run_figures::{RunData, RunView, save_figures};
pub use style::{color as dot_color, curve as curve_stroke};
pub use svg::escape;
pub use sweep_figure::sweep_figure;
pub use table::Table;
