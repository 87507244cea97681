//! Ctrl-C: asked for once, a run halts where it can be resumed; asked for twice, or if the step at hand takes
//! too long to wait for, it ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::exit::note;

/// How long a step may take to end by itself after Ctrl-C.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether the user wants to stop.
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Starts to watch for Ctrl-C; `farewell` is said if what is at hand does not end by itself.
    pub fn watch(farewell: &'static str) -> Self {
        let flag = Arc::new(AtomicBool::new(false));
        let raised = Arc::clone(&flag);
        // Without a handler Ctrl-C still leaves a folder that can be resumed: it survives any kill.
        let _ = ctrlc::set_handler(move || {
            if raised.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
            // The handler has a thread of its own, but waits in it for no second Ctrl-C.
            std::thread::spawn(move || {
                std::thread::sleep(PATIENCE);
                note(farewell);
                std::process::exit(130);
            });
        });
        Self(flag)
    }

    /// Whether Ctrl-C was pressed.
    pub fn raised(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
