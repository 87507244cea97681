//! No file may make the reader of FCLIB problems panic or allocate beyond its size.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stickslip::contact::fclib::FclibFile;

fuzz_target!(|bytes: &[u8]| {
    let _ = FclibFile::from_bytes(bytes.to_vec(), "fuzz.hdf5").map_err(|error| error.to_string());
});
