//! Files of worlds for ParaView: surfaces of bodies, contacts, force chains.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Pose, Surface, Twist, World};

/// A contact as files show it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactGlyph {
    /// Numbers of its bodies.
    pub bodies: [u32; 2],
    /// Place.
    pub place: [f64; 3],
    /// Normal from the second body to the first.
    pub normal: [f64; 3],
    /// Force on the first body.
    pub force: [f64; 3],
    /// Gap.
    pub gap: f64,
    /// 0 open, 1 stick, 2 slip, 3 closed without friction.
    pub mode: f64,
}

/// A state of a world: where each body is, if that is known, and its contacts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorldShot {
    /// Time.
    pub t: f64,
    /// Pose and twist of every body; none for bodies that were not recorded.
    pub bodies: Vec<Option<(Pose, Twist)>>,
    /// Contacts that were recorded.
    pub contacts: Vec<ContactGlyph>,
}

/// Points, cells and data of one file.
#[derive(Default)]
struct PolyData {
    points: Vec<f64>,
    cells: Vec<Vec<u32>>,
    cell_data: Vec<(&'static str, usize, Vec<f64>)>,
}

impl PolyData {
    fn add(
        &mut self,
        name: &'static str,
        components: usize,
        values: impl IntoIterator<Item = f64>,
    ) {
        match self.cell_data.iter_mut().find(|entry| entry.0 == name) {
            Some(entry) => entry.2.extend(values),
            None => {
                let values = values.into_iter().collect();
                self.cell_data.push((name, components, values));
            }
        }
    }

    /// Writes the file; `kind` is Verts, Lines or Polys.
    fn write(&self, path: &Path, kind: &str) -> io::Result<()> {
        let mut data: Vec<u8> = Vec::new();
        let mut text = String::from(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" \
             header_type=\"UInt64\">\n<PolyData>\n",
        );
        let count = |name: &str| if name == kind { self.cells.len() } else { 0 };
        text.push_str(&format!(
            "<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{}\" NumberOfLines=\"{}\" NumberOfStrips=\"0\" NumberOfPolys=\"{}\">\n",
            self.points.len() / 3,
            count("Verts"),
            count("Lines"),
            count("Polys"),
        ));
        let mut declare = |text: &mut String,
                           (of, name): (&str, &str),
                           components: usize,
                           bytes: Vec<u8>| {
            text.push_str(&format!(
                "<DataArray type=\"{of}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"appended\" offset=\"{}\"/>\n",
                data.len()
            ));
            data.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            data.extend_from_slice(&bytes);
        };
        let reals = |values: &[f64]| values.iter().flat_map(|x| x.to_le_bytes()).collect();
        text.push_str("<CellData>\n");
        for (name, components, values) in &self.cell_data {
            declare(&mut text, ("Float64", name), *components, reals(values));
        }
        text.push_str("</CellData>\n<Points>\n");
        declare(&mut text, ("Float64", "points"), 3, reals(&self.points));
        text.push_str(&format!("</Points>\n<{kind}>\n"));
        let (mut connectivity, mut offsets, mut end) = (Vec::new(), Vec::new(), 0i64);
        for cell in &self.cells {
            for &k in cell {
                connectivity.extend_from_slice(&i64::from(k).to_le_bytes());
            }
            end += cell.len() as i64;
            offsets.extend_from_slice(&end.to_le_bytes());
        }
        declare(&mut text, ("Int64", "connectivity"), 1, connectivity);
        declare(&mut text, ("Int64", "offsets"), 1, offsets);
        text.push_str(&format!(
            "</{kind}>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_"
        ));
        let mut file = io::BufWriter::new(fs::File::create(path)?);
        file.write_all(text.as_bytes())?;
        file.write_all(&data)?;
        file.write_all(b"\n</AppendedData>\n</VTKFile>\n")?;
        file.flush()
    }
}

/// Series of files of a world, with a PVD file each that lists their times: NAME (bodies as surfaces with number, mass,
/// velocity and spin), NAME-contacts (points with normal, force, gap and mode, for glyphs), NAME-chains (lines between the centres of
/// bodies that press on each other, with the force).
#[derive(Clone, Debug)]
pub struct VtpSeries {
    folder: PathBuf,
    name: String,
    surfaces: Vec<Surface>,
    times: Vec<f64>,
}

impl VtpSeries {
    /// Series `name` of a world in a folder, which is made.
    pub fn new(folder: &Path, name: &str, world: &World) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let bodies = world.bodies.iter();
        Ok(Self {
            folder: folder.to_path_buf(),
            name: name.to_string(),
            surfaces: bodies.map(|b| b.surface(world.dimension)).collect(),
            times: Vec::new(),
        })
    }

    /// Adds a state; the PVD files are complete after every call.
    pub fn write(&mut self, world: &World, shot: &WorldShot) -> io::Result<()> {
        let number = self.times.len();
        for (suffix, kind, data) in [
            ("", "Polys", self.bodies(world, shot)),
            ("-contacts", "Verts", contacts(shot)),
            ("-chains", "Lines", chains(world, shot)),
        ] {
            let file = format!("{}{suffix}-{number:05}.vtp", self.name);
            data.write(&self.folder.join(file), kind)?;
        }
        self.times.push(shot.t);
        for suffix in ["", "-contacts", "-chains"] {
            let mut text = String::from(
                "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n",
            );
            for (k, t) in self.times.iter().enumerate() {
                text.push_str(&format!(
                    "<DataSet timestep=\"{t:e}\" part=\"0\" file=\"{}{suffix}-{k:05}.vtp\"/>\n",
                    self.name
                ));
            }
            text.push_str("</Collection>\n</VTKFile>\n");
            fs::write(self.folder.join(format!("{}{suffix}.pvd", self.name)), text)?;
        }
        Ok(())
    }

    fn bodies(&self, world: &World, shot: &WorldShot) -> PolyData {
        let mut data = PolyData::default();
        for (k, (surface, state)) in self.surfaces.iter().zip(&shot.bodies).enumerate() {
            let Some((pose, twist)) = state else { continue };
            let first = (data.points.len() / 3) as u32;
            let spin = pose.direction(twist.spin);
            data.points
                .extend(surface.points.iter().flat_map(|&p| pose.point(p)));
            for face in &surface.faces {
                data.cells.push(face.iter().map(|k| k + first).collect());
                data.add("body", 1, [k as f64]);
                data.add("mass", 1, [world.bodies[k].mass]);
                data.add("velocity", 3, twist.velocity);
                data.add("spin", 3, spin);
            }
        }
        data
    }
}

fn contacts(shot: &WorldShot) -> PolyData {
    let mut data = PolyData::default();
    for (k, contact) in shot.contacts.iter().enumerate() {
        data.points.extend(contact.place);
        data.cells.push(vec![k as u32]);
        data.add("normal", 3, contact.normal);
        data.add("force", 3, contact.force);
        data.add("gap", 1, [contact.gap]);
        data.add("mode", 1, [contact.mode]);
    }
    data
}

/// Lines from centre to centre, to the contact itself where a body is not free.
fn chains(world: &World, shot: &WorldShot) -> PolyData {
    let mut data = PolyData::default();
    for contact in &shot.contacts {
        let size = contact.force.iter().map(|x| x * x).sum::<f64>().sqrt();
        if size == 0.0 {
            continue;
        }
        let ends = contact.bodies.map(|k| {
            let k = k as usize;
            let known = shot.bodies.get(k).copied().flatten();
            let free = world.bodies.get(k).is_some_and(super::WorldBody::is_free);
            known
                .filter(|_| free)
                .map_or(contact.place, |(pose, _)| pose.position)
        });
        let first = (data.points.len() / 3) as u32;
        data.points.extend(ends.iter().flatten());
        data.cells.push(vec![first, first + 1]);
        data.add("force", 1, [size]);
        data.add("mode", 1, [contact.mode]);
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::ContactLaw;
    use crate::systems::world::WorldBody;

    #[test]
    fn every_state_has_its_three_files_and_the_lists_name_them() {
        let law = ContactLaw::frictionless(crate::laws::ImpactLaw::Inelastic).unwrap();
        let world = World::builder()
            .material("stone")
            .pair(0, 0, law)
            .body(WorldBody::half_space("floor", [0.0; 3], [0.0, 0.0, 1.0]))
            .body(WorldBody::ball("ball", 2.0, 0.5).at(Pose::at([0.0, 0.0, 0.5])))
            .build()
            .unwrap();
        let folder = std::env::temp_dir().join(format!("stickslip-vtp-{}", std::process::id()));
        let mut series = VtpSeries::new(&folder, "ball", &world).unwrap();
        let shot = WorldShot {
            t: 0.25,
            bodies: world.bodies.iter().map(|b| Some(b.start)).collect(),
            contacts: vec![ContactGlyph {
                bodies: [0, 1],
                normal: [0.0, 0.0, -1.0],
                force: [0.0, 0.0, -19.62],
                mode: 3.0,
                ..ContactGlyph::default()
            }],
        };
        series.write(&world, &shot).unwrap();
        let read = |name: &str| {
            let bytes = fs::read(folder.join(name)).unwrap();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let faces = world.bodies[1].surface(world.dimension).faces.len();
        let bodies = read("ball-00000.vtp");
        assert!(bodies.contains(&format!("NumberOfPolys=\"{faces}\"")));
        assert!(read("ball-contacts-00000.vtp").contains("NumberOfVerts=\"1\""));
        assert!(read("ball-chains-00000.vtp").contains("NumberOfLines=\"1\""));
        assert!(
            read("ball-chains.pvd")
                .contains("timestep=\"2.5e-1\" part=\"0\" file=\"ball-chains-00000.vtp\"")
        );
        // Lengths of the arrays are those declared: the file ends where the last array does.
        let bytes = fs::read(folder.join("ball-contacts-00000.vtp")).unwrap();
        let start = bytes.windows(2).position(|w| w == b"\n_").unwrap() + 2;
        let mut at = start;
        let end = bytes.len() - b"\n</AppendedData>\n</VTKFile>\n".len();
        while at < end {
            let mut length = [0u8; 8];
            length.copy_from_slice(&bytes[at..at + 8]);
            at += 8 + u64::from_le_bytes(length) as usize;
        }
        assert_eq!(at, end);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn surfaces_are_closed_and_lie_on_the_shapes() {
        use crate::systems::world::{Dimension, Shape};
        for shape in [
            Shape::ball(0.5).unwrap(),
            Shape::cuboid([1.0, 2.0, 3.0]).unwrap(),
            Shape::capsule(0.3, 1.0).unwrap(),
            Shape::cylinder(0.3, 1.0).unwrap(),
            Shape::cone(0.3, 1.0).unwrap(),
        ] {
            let mut body = WorldBody::new("b", 1.0, [1.0; 3]);
            body.shapes = vec![shape.clone().into()];
            let surface = body.surface(Dimension::Space);
            let reach = shape.measure(Dimension::Space).unwrap().radius;
            let far = surface
                .points
                .iter()
                .map(|p| p.iter().map(|x| x * x).sum::<f64>().sqrt());
            assert!(
                (far.fold(0.0, f64::max) - reach).abs() < 1e-12,
                "{}",
                shape.kind()
            );
            // The volume under the faces is a little below that of a round shape, never above.
            let volume: f64 = surface
                .faces
                .iter()
                .flat_map(|f| (1..f.len() - 1).map(move |k| [f[0], f[k], f[k + 1]]))
                .map(|t| {
                    let [a, b, c] = t.map(|k| surface.points[k as usize]);
                    (a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
                        + a[2] * (b[0] * c[1] - b[1] * c[0]))
                        / 6.0
                })
                .sum();
            let exact = shape.measure(Dimension::Space).unwrap().mass.mass;
            let part = volume / exact;
            assert!(part < 1.0 + 1e-12 && part > 0.9, "{}: {part}", shape.kind());
        }
    }
}
