//! The module `stickslip._stickslip`: the engine as Python sees it.
//!
//! Only what must be fast or needs the engine lives here; the classes that users see are derived from these in
//! `python/stickslip`. Numbers go over as buffers without a copy, everything else as JSON.

mod array;
mod callback;
mod error;
mod problem;
mod program;
mod scene;
mod simulation;
mod sweep;
mod threads;

use pyo3::prelude::*;

/// The engine.
#[pymodule]
fn _stickslip(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<array::Numbers>()?;
    module.add_class::<scene::Scene>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<problem::ContactProblem>()?;
    module.add_class::<sweep::Sweep>()?;
    module.add_function(wrap_pyfunction!(program::program, module)?)?;
    module.add_function(wrap_pyfunction!(program::energy_svg, module)?)?;
    module.add_function(wrap_pyfunction!(program::palette, module)?)?;
    module.add_function(wrap_pyfunction!(program::digits, module)?)?;
    module.add_function(wrap_pyfunction!(program::quantity, module)?)?;
    module.add_function(wrap_pyfunction!(scene::gallery, module)?)?;
    module.add_function(wrap_pyfunction!(scene::is_setting, module)?)?;
    module.add_function(wrap_pyfunction!(scene::verify_folder, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::evaluate_point, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::map_cell, module)?)?;
    module.add_function(wrap_pyfunction!(threads::work_alone, module)?)?;
    Ok(())
}
