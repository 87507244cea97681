//! Points and lines for ParaView: VTP files and the PVD file of their times.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Points and lines at one instant.
#[derive(Clone, Debug, Default)]
pub struct Polydata {
    /// Points.
    pub points: Vec<[f64; 3]>,
    /// Lines through points.
    pub lines: Vec<Vec<usize>>,
    /// Vectors at the points, by name.
    pub vectors: Vec<(String, Vec<[f64; 3]>)>,
    /// Numbers at the points, by name.
    pub numbers: Vec<(String, Vec<f64>)>,
}

impl Polydata {
    /// Adds a line through new points.
    pub fn line(&mut self, points: impl IntoIterator<Item = [f64; 3]>) {
        let first = self.points.len();
        self.points.extend(points);
        self.lines.push((first..self.points.len()).collect());
    }

    /// The text of a VTP file. Every point is a vertex as well, so that it is seen without lines.
    fn text(&self) -> String {
        let mut out = String::from(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\">\n<PolyData>\n",
        );
        let (points, lines) = (self.points.len(), self.lines.len());
        // Writing into a String cannot fail.
        let _ = writeln!(
            out,
            "<Piece NumberOfPoints=\"{points}\" NumberOfVerts=\"{points}\" NumberOfLines=\"{lines}\" NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n<PointData>"
        );
        let triple = |p: &[f64; 3]| format!("{:?} {:?} {:?}", p[0], p[1], p[2]);
        for (name, values) in &self.vectors {
            let text: Vec<String> = values.iter().map(triple).collect();
            array(&mut out, ("Float64", name, 3), &text);
        }
        for (name, values) in &self.numbers {
            let text: Vec<String> = values.iter().map(|x| format!("{x:?}")).collect();
            array(&mut out, ("Float64", name, 1), &text);
        }
        out.push_str("</PointData>\n<Points>\n");
        let text: Vec<String> = self.points.iter().map(triple).collect();
        array(&mut out, ("Float64", "points", 3), &text);
        out.push_str("</Points>\n");
        let vertices: Vec<Vec<usize>> = (0..points).map(|k| vec![k]).collect();
        for (name, cells) in [("Verts", &vertices), ("Lines", &self.lines)] {
            let _ = writeln!(out, "<{name}>");
            let text: Vec<String> = cells.iter().flatten().map(usize::to_string).collect();
            array(&mut out, ("Int64", "connectivity", 1), &text);
            let mut end = 0;
            let ends = cells.iter().map(|cell| {
                end += cell.len();
                end.to_string()
            });
            array(&mut out, ("Int64", "offsets", 1), &ends.collect::<Vec<_>>());
            let _ = writeln!(out, "</{name}>");
        }
        out.push_str("</Piece>\n</PolyData>\n</VTKFile>\n");
        out
    }
}

fn array(out: &mut String, (kind, name, components): (&str, &str, usize), values: &[String]) {
    let name = crate::plot::escape(name);
    let _ = writeln!(
        out,
        "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"ascii\">\n{}\n</DataArray>",
        values.join(" ")
    );
}

/// A series of VTP files in several parts, with the PVD file that lists their times.
pub struct PolydataSeries {
    folder: PathBuf,
    name: String,
    entries: String,
    written: usize,
}

impl PolydataSeries {
    /// Series `name` in a folder, which is made.
    pub fn new(folder: &Path, name: &str) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self {
            folder: folder.to_path_buf(),
            name: name.to_string(),
            entries: String::new(),
            written: 0,
        })
    }

    /// Adds an instant with its parts.
    pub fn write(&mut self, t: f64, parts: &[(&str, Polydata)]) -> io::Result<()> {
        for (k, (part, data)) in parts.iter().enumerate() {
            let file = format!("{}-{part}-{:05}.vtp", self.name, self.written);
            fs::write(self.folder.join(&file), data.text())?;
            let file = crate::plot::escape(&file);
            let _ = writeln!(
                self.entries,
                "<DataSet timestep=\"{t:?}\" part=\"{k}\" name=\"{part}\" file=\"{file}\"/>"
            );
        }
        self.written += 1;
        Ok(())
    }

    /// Writes the list of times; returns their number.
    pub fn finish(self) -> io::Result<usize> {
        let text = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n{}</Collection>\n</VTKFile>\n",
            self.entries
        );
        fs::write(self.folder.join(format!("{}.pvd", self.name)), text)?;
        Ok(self.written)
    }
}
