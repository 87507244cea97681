//! No file may make the reader of archives of arrays panic or allocate beyond its size.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stickslip::records::Npz;

fuzz_target!(|bytes: &[u8]| {
    let _ = Npz::from_bytes(bytes).map_err(|error| error.to_string());
});
