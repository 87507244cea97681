//! Pictures of plane meshes: deformed shape coloured by a field, as SVG.

use std::fmt::Write;

use super::{ElastodynamicSystem, ElementKind};

/// Width of the drawing without its colour bar.
const WIDTH: f64 = 720.0;

/// What a picture shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture<'a> {
    /// Title above the drawing.
    pub title: &'a str,
    /// Name and unit of the field, beside the colour bar.
    pub field: &'a str,
    /// One value per element of the regions, in the order of
    /// [`ElastodynamicSystem::stressed_elements`].
    pub values: &'a [f64],
    /// Factor of the displacements.
    pub scale: f64,
}

/// Corner loop of a plane element, middle nodes included.
fn outline(kind: ElementKind) -> &'static [usize] {
    match kind {
        ElementKind::Line2 | ElementKind::Line3 => &[0, 1],
        ElementKind::Tri3 => &[0, 1, 2],
        ElementKind::Tri6 => &[0, 3, 1, 4, 2, 5],
        ElementKind::Quad4 => &[0, 1, 2, 3],
        ElementKind::Quad8 | ElementKind::Quad9 => &[0, 4, 1, 5, 2, 6, 3, 7],
        _ => &[],
    }
}

/// Colour between dark blue, green and yellow; equal steps look equally large.
fn colour(x: f64) -> String {
    const STOPS: [[f64; 3]; 5] = [
        [68.0, 1.0, 84.0],
        [59.0, 82.0, 139.0],
        [33.0, 145.0, 140.0],
        [94.0, 201.0, 98.0],
        [253.0, 231.0, 37.0],
    ];
    let x = x.clamp(0.0, 1.0) * 4.0;
    let k = (x as usize).min(3);
    let f = x - k as f64;
    let mix = |c: usize| ((1.0 - f) * STOPS[k][c] + f * STOPS[k + 1][c]).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

impl ElastodynamicSystem {
    /// Draws the deformed mesh of a plane system at time `t`, coloured by a field, as SVG; none for
    /// meshes in space and systems made of matrices.
    pub fn draw(&self, t: f64, q: &[f64], picture: &Picture) -> Option<String> {
        let mesh = self.mesh().filter(|mesh| mesh.dimension() <= 2)?;
        let elements = self.stressed_elements();
        let place = |n: u32| {
            let (x, u) = (self.nodes.reference(n), self.nodes.displacement(t, q, n));
            [x[0] + picture.scale * u[0], x[1] + picture.scale * u[1]]
        };
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for &e in &elements {
            for &n in mesh.element(e as usize).1 {
                let x = place(n);
                for k in 0..2 {
                    low[k] = low[k].min(x[k]);
                    high[k] = high[k].max(x[k]);
                }
            }
        }
        let extent = (high[0] - low[0])
            .max(high[1] - low[1])
            .max(f64::MIN_POSITIVE);
        let scale = (WIDTH - 40.0) / extent;
        let height = scale * (high[1] - low[1]) + 80.0;
        let (least, largest) = picture
            .values
            .iter()
            .filter(|x| x.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &x| {
                (a.min(x), b.max(x))
            });
        let range = (largest - least).max(f64::MIN_POSITIVE);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{height:.0}\" \
             font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"20\" y=\"24\" font-size=\"16\">{}</text>\n",
            WIDTH + 130.0,
            escaped(picture.title)
        );
        for (&e, &value) in elements.iter().zip(picture.values) {
            let (kind, nodes) = mesh.element(e as usize);
            let mut points = String::new();
            for &k in outline(kind) {
                let x = place(nodes[k]);
                let (px, py) = (
                    20.0 + scale * (x[0] - low[0]),
                    height - 30.0 - scale * (x[1] - low[1]),
                );
                // Writing to a string cannot fail.
                let _ = write!(points, "{px:.2},{py:.2} ");
            }
            let fill = colour((value - least) / range);
            let _ = if kind.dimension() == 1 {
                writeln!(
                    svg,
                    "<polyline points=\"{points}\" fill=\"none\" stroke=\"{fill}\" stroke-width=\"4\"/>"
                )
            } else {
                writeln!(
                    svg,
                    "<polygon points=\"{points}\" fill=\"{fill}\" stroke=\"#333\" stroke-width=\"0.4\"/>"
                )
            };
        }
        // Colour bar from the largest value down.
        let bar = (height - 100.0).max(40.0);
        for k in 0..40 {
            let fill = colour(1.0 - k as f64 / 39.0);
            let y = 50.0 + bar * k as f64 / 40.0;
            let _ = writeln!(
                svg,
                "<rect x=\"{:.0}\" y=\"{y:.1}\" width=\"14\" height=\"{:.1}\" fill=\"{fill}\"/>",
                WIDTH,
                bar / 40.0 + 0.5
            );
        }
        for (value, y) in [(largest, 60.0), (least, 50.0 + bar)] {
            let _ = writeln!(
                svg,
                "<text x=\"{:.0}\" y=\"{y:.0}\">{value:.4e}</text>",
                WIDTH + 20.0
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.0}\" y=\"40\">{}</text>\n</svg>",
            WIDTH,
            escaped(picture.field)
        );
        Some(svg)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ALL, Formulation, Material, shapes};
    use super::*;

    #[test]
    fn a_picture_draws_every_element_and_names_its_field() {
        let mesh = shapes::rectangle((2.0, 1.0), (4, 2), ElementKind::Quad8);
        let system = ElastodynamicSystem::builder(mesh)
            .region(
                ALL,
                Material::new(1.0, 0.3, 1.0),
                Formulation::PlaneStrain { thickness: 1.0 },
            )
            .build()
            .unwrap();
        let q = system.field(|x| [0.1 * x[0], 0.0, 0.0]);
        let values: Vec<f64> = system
            .stresses(0.0, &q)
            .iter()
            .map(|s| s.von_mises)
            .collect();
        let svg = system
            .draw(
                0.0,
                &q,
                &Picture {
                    title: "stretched <sheet>",
                    field: "von Mises stress (Pa)",
                    values: &values,
                    scale: 1.0,
                },
            )
            .unwrap();
        assert_eq!(svg.matches("<polygon").count(), 8);
        assert!(svg.contains("stretched &lt;sheet&gt;") && svg.ends_with("</svg>\n"));
    }
}
