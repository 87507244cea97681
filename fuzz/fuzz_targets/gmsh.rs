//! No file may make the reader of Gmsh meshes panic or allocate beyond its size.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stickslip::systems::elastodynamic::Mesh;

fuzz_target!(|bytes: &[u8]| {
    let _ = Mesh::read_gmsh(bytes).map_err(|error| error.to_string());
});
