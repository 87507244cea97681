//! Pictures of elastic bodies: the deformed mesh coloured by a field, and the forces of contact.

use stickslip::internals::paraview::contact_columns;
use stickslip::internals::view::ViewMesh;
use stickslip::internals::view::palette::ramp;
use stickslip::systems::{ElastodynamicSystem, MechanicalSystem};

use super::canvas::{Color, Fill, Point, Stroke};
use super::colour_scale::ColourScale;
use super::figure::Figure;
use super::obstacles::obstacles;
use super::panel::{Item, Panel};
use super::run_figures::{RunData, TIME};
use super::snapshot::{Window, project};
use super::style;
use stickslip::internals::quantity::time;

/// Pictures of a run whose times nobody chose.
const PICTURES: usize = 6;
/// Meshes with more faces are drawn without their edges.
const EDGES: usize = 1500;

/// Field that colours the mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Field {
    /// Von Mises stress.
    #[default]
    Stress,
    /// Length of the displacement.
    Displacement,
    /// Length of the velocity.
    Velocity,
}

/// What is drawn of elastic bodies, and when.
#[derive(Clone, Debug, Default)]
pub struct ElasticView {
    /// Times of the pictures; evenly spaced if empty.
    pub times: Vec<f64>,
    /// Field that colours the mesh.
    pub field: Field,
    /// Factor of deformations; chosen if none.
    pub scale: Option<f64>,
}

/// Values of coordinates or velocities in one row of the trajectory.
pub fn state(run: &RunData, system: &ElastodynamicSystem, row: usize) -> (Vec<f64>, Vec<f64>) {
    let n = system.dof();
    let take = |first: &str| -> Vec<f64> {
        let columns = run.table.columns_from(first, n).unwrap_or_default();
        columns.iter().map(|column| column[row]).collect()
    };
    let q = take(&system.coordinate_names()[0]);
    let v = take(&format!("v_{}", system.velocity_names()[0]));
    (q, v)
}

/// One face to draw: nodes of its outline and the element it belongs to.
struct Face {
    nodes: Vec<u32>,
    element: usize,
}

/// Faces that are seen: all of plane meshes, those of one element only in space.
fn faces(system: &ElastodynamicSystem) -> Vec<Face> {
    let Some(mesh) = ViewMesh::of(system) else {
        return Vec::new();
    };
    let face = |(corners, &element): (&Vec<u32>, &u32)| Face {
        nodes: corners.iter().map(|&k| mesh.nodes[k as usize]).collect(),
        element: element as usize,
    };
    mesh.faces.iter().zip(&mesh.elements).map(face).collect()
}

/// One picture: faces with a value each.
struct Shot {
    t: f64,
    /// Middle of the bodies.
    middle: [f64; 3],
    faces: Vec<(Vec<Point>, f64)>,
}

/// Largest extent of the mesh at rest.
fn extent(system: &ElastodynamicSystem) -> f64 {
    let nodes = system.mesh().map_or(&[][..], |mesh| mesh.nodes());
    (0..3)
        .map(|k| {
            let values = nodes.iter().map(|x| x[k]);
            let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| {
                (a.min(x), b.max(x))
            });
            high - low
        })
        .fold(0.0, f64::max)
}

/// Displacement of every node, and that of its part as a whole.
fn displacements(system: &ElastodynamicSystem, t: f64, q: &[f64]) -> Vec<([f64; 3], [f64; 3])> {
    let nodes = system.nodes();
    let mut out: Vec<([f64; 3], [f64; 3])> = (0..nodes.len() as u32)
        .map(|n| (nodes.displacement(t, q, n), [0.0; 3]))
        .collect();
    for body in system.bodies() {
        let mut mean = [0.0; 3];
        for &n in &body.nodes {
            for (m, u) in mean.iter_mut().zip(out[n as usize].0) {
                *m += u / body.nodes.len() as f64;
            }
        }
        for &n in &body.nodes {
            out[n as usize].1 = mean;
        }
    }
    out
}

/// The deformed mesh at chosen times, coloured by a field.
pub fn deformed_mesh(run: &RunData) -> Option<Figure> {
    let system = run.scene.elastic()?;
    let space = system.mesh()?.dimension();
    let last = *run.table.times().last()?;
    let rows = chosen_rows(run);
    let size = extent(system);
    let scale = run
        .elastic
        .scale
        .unwrap_or_else(|| enlargement(run, system, &rows, size));
    let faces = faces(system);
    let shots: Vec<Shot> = rows
        .iter()
        .map(|&row| shot(run, system, &faces, row, (space, scale)))
        .collect();
    let values = || shots.iter().flat_map(|shot| shot.faces.iter().map(|f| f.1));
    let top = values().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let (mut x_range, mut y_range) = (
        (f64::INFINITY, f64::NEG_INFINITY),
        (f64::INFINITY, f64::NEG_INFINITY),
    );
    for point in shots.iter().flat_map(|s| s.faces.iter().flat_map(|f| &f.0)) {
        x_range = (x_range.0.min(point[0]), x_range.1.max(point[0]));
        y_range = (y_range.0.min(point[1]), y_range.1.max(point[1]));
    }
    // Obstacles are seen around the bodies.
    let touches = system.surfaces().iter().any(|s| s.obstacle.is_some());
    let pad = if touches { 0.1 } else { 0.04 } * size;
    x_range = (x_range.0 - pad, x_range.1 + pad);
    y_range = (y_range.0 - pad, y_range.1 + pad);
    let window = Window {
        low: [x_range.0, y_range.0],
        high: [x_range.1, y_range.1],
    }
    .padded(size);
    let ratio = (y_range.1 - y_range.0) / (x_range.1 - x_range.0);
    let (what, unit) = match run.elastic.field {
        Field::Stress => ("von Mises stress", "Pa"),
        Field::Displacement => ("displacement", "m"),
        Field::Velocity => ("velocity", "m/s"),
    };
    let mut figure = run.figure("mesh", &format!("deformed mesh, {what}"));
    if scale != 1.0 {
        figure.subtitle += &format!(", deformation × {scale}");
    }
    figure.scale = Some(ColourScale {
        name: what.to_string(),
        unit: unit.to_string(),
        low: 0.0,
        high: top,
    });
    for shot in shots {
        let mut panel = Panel {
            title: format!("t = {}", time(shot.t, last)),
            picture: true,
            x_range: Some(x_range),
            y_range: Some(y_range),
            ..Panel::default()
        };
        let body = (shot.middle, 0.6 * size);
        panel.items = obstacles(system, shot.t, space, body, window);
        draw_faces(&mut panel, shot.faces, top);
        figure.panels.push(panel);
    }
    (figure.columns, figure.panel_size) = if ratio < 0.3 {
        (1, (760.0, (720.0 * ratio).max(50.0) + 40.0))
    } else {
        (3, (310.0, 290.0 * ratio.min(1.6) + 36.0))
    };
    Some(figure)
}

/// Rows of the pictures: at the times asked for, or evenly over the run.
fn chosen_rows(run: &RunData) -> Vec<usize> {
    let times = run.table.times();
    let (first, last) = (times[0], times[times.len() - 1]);
    let even = (0..PICTURES).map(|k| k as f64 / (PICTURES - 1) as f64);
    let chosen = match run.elastic.times.is_empty() {
        true => even.map(|share| first + share * (last - first)).collect(),
        false => run.elastic.times.clone(),
    };
    chosen.iter().map(|&t| run.table.row_at(t)).collect()
}

/// How much deformations are enlarged.
fn enlargement(run: &RunData, system: &ElastodynamicSystem, rows: &[usize], size: f64) -> f64 {
    let mut largest = 0.0f64;
    for &row in rows {
        let (t, q) = (run.table.times()[row], state(run, system, row).0);
        for (u, mean) in displacements(system, t, &q) {
            for k in 0..3 {
                largest = largest.max((u[k] - mean[k]).abs());
            }
        }
    }
    // Bodies that touch would come apart on paper if each were enlarged about its own middle.
    if system.bodies().len() > 1 || largest > 0.01 * size || largest == 0.0 {
        1.0
    } else {
        nice(0.05 * size / largest)
    }
}

/// Faces in the colours of their values, with their edges where they are few.
fn draw_faces(panel: &mut Panel, faces: Vec<(Vec<Point>, f64)>, top: f64) {
    let edges = faces.len() <= EDGES;
    for (mut points, value) in faces {
        if points.len() == 2 {
            let stroke = Stroke::solid(ramp(value / top), 4.0);
            panel.items.push(Item::Curve(points, stroke));
            continue;
        }
        let fill = Fill::Solid(ramp(value / top));
        panel.items.push(Item::Area(points.clone(), fill));
        if edges {
            points.push(points[0]);
            let stroke = Stroke::solid(Color(60, 60, 60), 0.4);
            panel.items.push(Item::Curve(points, stroke));
        }
    }
}

fn shot(
    run: &RunData,
    system: &ElastodynamicSystem,
    faces: &[Face],
    row: usize,
    (space, scale): (usize, f64),
) -> Shot {
    let t = run.table.times()[row];
    let (q, v) = state(run, system, row);
    let moved = displacements(system, t, &q);
    let place = |n: u32| {
        let (x, (u, mean)) = (system.nodes().reference(n), moved[n as usize]);
        [0, 1, 2].map(|k| x[k] + mean[k] + scale * (u[k] - mean[k]))
    };
    let norm = |x: [f64; 3]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let stress: Vec<f64> = match run.elastic.field {
        Field::Stress => system
            .stresses(t, &q)
            .iter()
            .map(|stress| stress.von_mises)
            .collect(),
        _ => Vec::new(),
    };
    let mut drawn: Vec<(f64, Vec<Point>, f64)> = faces
        .iter()
        .map(|face| {
            let projected: Vec<(Point, f64)> = face
                .nodes
                .iter()
                .map(|&n| project(place(n), space < 3))
                .collect();
            let count = face.nodes.len() as f64;
            let mean = |value: &dyn Fn(u32) -> f64| {
                face.nodes.iter().map(|&n| value(n)).sum::<f64>() / count
            };
            let value = match run.elastic.field {
                Field::Stress => stress.get(face.element).copied().unwrap_or(0.0).abs(),
                Field::Displacement => mean(&|n| norm(moved[n as usize].0)),
                Field::Velocity => mean(&|n| norm(system.nodes().velocity(t, &v, n))),
            };
            let depth = projected.iter().map(|p| p.1).sum::<f64>() / count;
            let points = projected.into_iter().map(|p| p.0).collect();
            (depth, points, value)
        })
        .collect();
    // What lies behind is drawn first.
    drawn.sort_by(|a, b| b.0.total_cmp(&a.0));
    let count = moved.len() as u32;
    let middle = (0..count).fold([0.0; 3], |sum, n| {
        let x = place(n);
        [0, 1, 2].map(|k| sum[k] + x[k] / f64::from(count))
    });
    Shot {
        t,
        middle,
        faces: drawn.into_iter().map(|(_, p, value)| (p, value)).collect(),
    }
}

/// The largest of 1, 2, 5 times a power of ten below a number.
fn nice(x: f64) -> f64 {
    let power = 10f64.powf(x.log10().floor());
    [5.0, 2.0, 1.0]
        .into_iter()
        .find(|digit| digit * power <= x)
        .unwrap_or(1.0)
        * power
}

/// Force and number of touching nodes of every contact surface over time.
pub fn contact_forces(run: &RunData) -> Option<Figure> {
    let system = run.scene.elastic()?;
    let (times, steps) = (run.table.times(), run.table.column("dt")?);
    let mut figure = run.figure("contact-forces", "contact forces");
    for surface in system.surfaces() {
        let names = contact_columns(surface);
        let rows = times.len();
        let (mut normal, mut tangential) = (vec![0.0; rows], vec![[0.0; 2]; rows]);
        let mut modes = [vec![0.0; rows], vec![0.0; rows]];
        for name in &names {
            let column = |word: &str| run.table.column(&format!("{name}.{word}"));
            let Some(p) = column("p_n") else { continue };
            for (sum, p) in normal.iter_mut().zip(p) {
                *sum += p;
            }
            for (k, word) in ["p_t1", "p_t2"].into_iter().enumerate() {
                for (sum, p) in tangential.iter_mut().zip(column(word).unwrap_or_default()) {
                    sum[k] += p;
                }
            }
            for (row, &mode) in column("mode").unwrap_or_default().iter().enumerate() {
                if mode == 2.0 {
                    modes[1][row] += 1.0;
                } else if mode > 0.0 {
                    modes[0][row] += 1.0;
                }
            }
        }
        let force = |sum: &dyn Fn(usize) -> f64| -> Vec<Point> {
            (0..rows)
                .filter(|&row| steps[row] > 0.0)
                .map(|row| [times[row], sum(row) / steps[row]])
                .collect()
        };
        let mut panel = Panel {
            title: surface.name.clone(),
            x_label: TIME.to_string(),
            y_label: "force [N]".to_string(),
            ..Panel::default()
        };
        let curve = force(&|row| normal[row]);
        panel.add_curve(curve, style::curve(0), Some("normal".to_string()));
        if tangential.iter().flatten().any(|&p| p != 0.0) {
            let name = if system.mesh().is_some_and(|mesh| mesh.dimension() == 3) {
                "friction (length)"
            } else {
                "friction"
            };
            let sum = |row: usize| match tangential[row] {
                [p, 0.0] => p,
                [a, b] => f64::hypot(a, b),
            };
            panel.add_curve(force(&sum), style::curve(1), Some(name.to_string()));
        }
        figure.panels.push(panel);
        let mut panel = Panel {
            title: format!("{}: {} nodes", surface.name, names.len()),
            x_label: TIME.to_string(),
            y_label: "nodes in contact".to_string(),
            ..Panel::default()
        };
        for (k, (name, counts)) in ["stick or no friction", "slip"]
            .into_iter()
            .zip(&modes)
            .enumerate()
        {
            let points = times.iter().zip(counts).map(|(&t, &n)| [t, n]).collect();
            panel.add_curve(points, style::curve(k), Some(name.to_string()));
        }
        figure.panels.push(panel);
    }
    figure.columns = 2;
    figure.panel_size = (470.0, 290.0);
    (!figure.panels.is_empty()).then_some(figure)
}
