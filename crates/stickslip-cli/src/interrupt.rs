//! Ctrl-C: asked for once, a run halts where it can be resumed; asked for twice, or if the step at hand takes
//! too long to wait for, it ends at once. Where nothing watches for it, the program ends.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::exit::note;

/// How long a step may take to end by itself after Ctrl-C.
const PATIENCE: Duration = Duration::from_secs(2);

static RAISED: AtomicBool = AtomicBool::new(false);
/// What is said if what is at hand does not end by itself; nothing as long as nobody watches.
static FAREWELL: Mutex<Option<&'static str>> = Mutex::new(None);

/// Ends the program by Ctrl-C from now on, also where it was started with the signal ignored.
pub fn arm() {
    // Without a handler Ctrl-C still leaves a folder that can be resumed: it survives any kill.
    let _ = ctrlc::set_handler(|| {
        let farewell = FAREWELL.lock().map_or(None, |farewell| *farewell);
        let Some(farewell) = farewell else {
            std::process::exit(130);
        };
        if RAISED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        // The handler has a thread of its own, but waits in it for no second Ctrl-C.
        std::thread::spawn(move || {
            std::thread::sleep(PATIENCE);
            note(farewell);
            std::process::exit(130);
        });
    });
}

/// Whether the user wants to stop.
pub struct Interrupt(());

impl Interrupt {
    /// Starts to watch for Ctrl-C; `farewell` is said if what is at hand does not end by itself.
    pub fn watch(farewell: &'static str) -> Self {
        if let Ok(mut said) = FAREWELL.lock() {
            *said = Some(farewell);
        }
        Self(())
    }

    /// Whether Ctrl-C was pressed.
    pub fn raised(&self) -> bool {
        RAISED.load(Ordering::SeqCst)
    }
}
