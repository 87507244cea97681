//! Files for ParaView: unstructured grids (VTU) and a time series of them (PVD).

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{ContactSurface, ElastodynamicSystem};

/// What contact left at the nodes of the surfaces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactFields {
    /// Normal pressure per node of the mesh.
    pub pressure: Vec<f64>,
    /// Smallest gap per node; not a number where a node has no contact.
    pub gap: Vec<f64>,
    /// 0 open, 1 stick, 2 slip, 3 closed without friction.
    pub mode: Vec<f64>,
}

impl ContactFields {
    /// No contact anywhere, for a number of nodes.
    pub fn empty(nodes: usize) -> Self {
        Self {
            pressure: vec![0.0; nodes],
            gap: vec![f64::NAN; nodes],
            mode: vec![0.0; nodes],
        }
    }

    /// Enters normal force, gap and mode of contact number `k` of a surface.
    pub fn enter(
        &mut self,
        surface: &ContactSurface,
        k: usize,
        (force, gap, mode): (f64, f64, f64),
    ) {
        let node = surface.nodes[k] as usize;
        if force > 0.0 && surface.areas[k] > 0.0 {
            self.pressure[node] += force / surface.areas[k];
        }
        if !(self.gap[node] <= gap) {
            self.gap[node] = gap;
        }
        self.mode[node] = self.mode[node].max(mode);
    }
}

/// Names of the contacts of a surface, in the order of its nodes.
pub fn contact_columns(surface: &ContactSurface) -> Vec<String> {
    let name = |node: &u32| format!("{}-{node}", surface.name);
    surface.nodes.iter().map(name).collect()
}

/// Arrays appended in binary form behind the description of the file.
struct Appended {
    data: Vec<u8>,
}

impl Appended {
    /// Declares an array and stores its bytes.
    fn declare(
        &mut self,
        text: &mut String,
        (kind, name): (&str, &str),
        components: usize,
        bytes: &[u8],
    ) {
        text.push_str(&format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
             format=\"appended\" offset=\"{}\"/>\n",
            self.data.len()
        ));
        self.data
            .extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.data.extend_from_slice(bytes);
    }

    fn reals(&mut self, text: &mut String, name: &str, components: usize, values: &[f64]) {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.declare(text, ("Float64", name), components, &bytes);
    }
}

/// Writes the mesh at time `t` with displacement, velocity, stress and, where given, contact.
pub fn write_vtu(
    path: &Path,
    system: &ElastodynamicSystem,
    (t, q, v): (f64, &[f64], &[f64]),
    contact: Option<&ContactFields>,
) -> io::Result<()> {
    let Some(mesh) = system.mesh() else {
        return Err(io::Error::other("a system made of matrices has no mesh"));
    };
    let elements = system.stressed_elements();
    let nodes = system.nodes();
    let mut appended = Appended { data: Vec::new() };
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" \
         byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n",
    );
    text.push_str(&format!(
        "<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n<PointData Vectors=\"displacement\">\n",
        mesh.nodes().len(),
        elements.len()
    ));
    let vectors = |read: &dyn Fn(u32) -> [f64; 3]| -> Vec<f64> {
        (0..mesh.nodes().len() as u32).flat_map(read).collect()
    };
    let displacement = vectors(&|n| nodes.displacement(t, q, n));
    appended.reals(&mut text, "displacement", 3, &displacement);
    appended.reals(
        &mut text,
        "velocity",
        3,
        &vectors(&|n| nodes.velocity(t, v, n)),
    );
    if let Some(contact) = contact {
        appended.reals(&mut text, "contact_pressure", 1, &contact.pressure);
        appended.reals(&mut text, "gap", 1, &contact.gap);
        appended.reals(&mut text, "contact_mode", 1, &contact.mode);
    }
    text.push_str("</PointData>\n<CellData Tensors=\"stress\">\n");
    let stresses = system.stresses(t, q);
    let stress: Vec<f64> = stresses.iter().flat_map(|s| s.components).collect();
    appended.reals(&mut text, "stress", 6, &stress);
    let mises: Vec<f64> = stresses.iter().map(|s| s.von_mises).collect();
    appended.reals(&mut text, "von_mises", 1, &mises);
    text.push_str("</CellData>\n<Points>\n");
    let points: Vec<f64> = mesh.nodes().iter().flatten().copied().collect();
    appended.reals(&mut text, "points", 3, &points);
    text.push_str("</Points>\n<Cells>\n");
    let (mut connectivity, mut offsets, mut types) = (Vec::new(), Vec::new(), Vec::new());
    let mut count = 0i64;
    for &e in &elements {
        let (kind, list) = mesh.element(e as usize);
        for k in kind.vtk_order() {
            connectivity.extend_from_slice(&i64::from(list[k]).to_le_bytes());
        }
        count += list.len() as i64;
        offsets.extend_from_slice(&count.to_le_bytes());
        types.push(kind.vtk_type());
    }
    appended.declare(&mut text, ("Int64", "connectivity"), 1, &connectivity);
    appended.declare(&mut text, ("Int64", "offsets"), 1, &offsets);
    appended.declare(&mut text, ("UInt8", "types"), 1, &types);
    text.push_str("</Cells>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_");
    let mut file = io::BufWriter::new(fs::File::create(path)?);
    file.write_all(text.as_bytes())?;
    file.write_all(&appended.data)?;
    file.write_all(b"\n</AppendedData>\n</VTKFile>\n")?;
    file.flush()
}

/// A series of VTU files with the PVD file that lists their times.
#[derive(Clone, Debug)]
pub struct VtuSeries {
    folder: PathBuf,
    name: String,
    times: Vec<f64>,
}

impl VtuSeries {
    /// Series `name` in a folder, which is made.
    pub fn new(folder: &Path, name: &str) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self {
            folder: folder.to_path_buf(),
            name: name.to_string(),
            times: Vec::new(),
        })
    }

    /// Adds a state; the PVD file is complete after every call.
    pub fn write(
        &mut self,
        system: &ElastodynamicSystem,
        (t, q, v): (f64, &[f64], &[f64]),
        contact: Option<&ContactFields>,
    ) -> io::Result<()> {
        let file = format!("{}-{:05}.vtu", self.name, self.times.len());
        write_vtu(&self.folder.join(file), system, (t, q, v), contact)?;
        self.times.push(t);
        let mut text = String::from(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n",
        );
        for (k, t) in self.times.iter().enumerate() {
            text.push_str(&format!(
                "<DataSet timestep=\"{t:e}\" part=\"0\" file=\"{}-{k:05}.vtu\"/>\n",
                self.name
            ));
        }
        text.push_str("</Collection>\n</VTKFile>\n");
        fs::write(self.folder.join(format!("{}.pvd", self.name)), text)
    }
}
