//! No text may make the reader of Matrix Market files panic or allocate beyond its size.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stickslip::internals::read_matrix_market;

fuzz_target!(|text: &str| {
    let _ = read_matrix_market(text).map_err(|error| error.to_string());
});
