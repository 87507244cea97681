//! No text may make the reader of reference cases panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stickslip_validation::CaseFile;

fuzz_target!(|text: &str| {
    let _ = CaseFile::parse("fuzz.json", text).map_err(|error| error.to_string());
});
