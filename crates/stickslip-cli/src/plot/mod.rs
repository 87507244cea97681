//! Pictures of runs, as SVG and PNG from one drawing.
//!
//! `canvas` is a drawing as a list of marks; `svg` and `png` turn it into files (`lettering` has the letters of pixels); `axis`,
//! `panel` and `figure` draw curves on axes; one file per kind of picture says what is shown.

mod axis;
mod branch_figure;
mod canvas;
mod colour_scale;
mod decimate;
mod elastic;
mod energy;
mod faces;
mod figure;
mod ground;
mod impulses;
mod legend;
mod lettering;
mod map_figure;
mod margin;
mod mechanism;
mod obstacles;
mod overlay;
mod panel;
mod png;
mod run_figures;
mod small_figures;
mod snapshot;
mod style;
mod svg;
mod sweep_figure;
mod table;
mod timeline;
mod units;
mod world;

pub use canvas::{Canvas, Stroke};
pub use elastic::{ElasticView, Field, state};
pub use figure::Figure;
pub use legend::Sample;
pub use map_figure::map_figure;
pub use mechanism::TRACE;
pub use obstacles::obstacles;
pub use overlay::{Variant, drawings, overlays};
pub use panel::{Item, Panel};
pub use run_figures::{RunData, RunView, save_figures};
pub use small_figures::{energy_svg, growth_svg};
pub use snapshot::{Snapshot, Window};
pub use style::{color as dot_color, curve as curve_stroke};
pub use svg::{escape, svg};
pub use sweep_figure::sweep_figure;
pub use table::Table;
