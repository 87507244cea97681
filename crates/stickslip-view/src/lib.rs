//! A run as one page: a file that needs no server, asks nothing of any network and opens from disk.
//!
//! The page is written in TypeScript (`viewer/` of the repository) and kept here as built, packed; the engine compiled to
//! WebAssembly (`stickslip-wasm`) lies beside it for pages that run scenes themselves.
//!
//! ```no_run
//! use stickslip::view::{ViewData, ViewOptions};
//! use stickslip_view::Page;
//!
//! let run = ViewData::of_folder("runs/slender-rod".as_ref(), &ViewOptions::default())?;
//! std::fs::write("slender-rod.html", Page::new(&run.title).with_run(&run)?.html())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod base64;
mod page;

pub use page::{LiveScene, Page, PageError, engine, template};
