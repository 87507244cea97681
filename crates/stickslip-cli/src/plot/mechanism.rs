//! A strip of pictures of a planar mechanism in motion.

use stickslip::scene::{DrawnShape, Shape};

use super::canvas::{Color, Stroke};
use super::figure::Figure;
use super::panel::{Item, Panel};
use super::run_figures::RunData;
use super::style;

/// Pictures in a strip.
const PICTURES: usize = 8;
/// Places in the trace of a moving point.
const TRACE: usize = 400;

/// The drawing of the scene at several times, closer where it moves faster, with the traces of its points so far.
pub fn mechanism(run: &RunData) -> Option<Figure> {
    let drawing = run.scene.drawing()?;
    let names = run.coordinates();
    let columns: Option<Vec<&[f64]>> = names.iter().map(|name| run.table.column(name)).collect();
    let columns = columns?;
    let times = run.table.times();
    let (first, last) = (*times.first()?, *times.last()?);
    let shapes_at = |row: usize| {
        let q: Vec<f64> = columns.iter().map(|column| column[row]).collect();
        drawing.at(times[row], &q)
    };
    // Of every moving shape, the trace of the point that goes the longest way.
    let rows: Vec<usize> = (0..=TRACE)
        .map(|k| {
            run.table
                .row_at(first + (last - first) * k as f64 / TRACE as f64)
        })
        .collect();
    let shots: Vec<Vec<DrawnShape>> = rows.iter().map(|&row| shapes_at(row)).collect();
    let mut all: Vec<[f64; 2]> = shots
        .iter()
        .flatten()
        .flat_map(|s| corners(&s.shape))
        .collect();
    let mut traces: Vec<Vec<(f64, [f64; 2])>> = Vec::new();
    for k in 0..shots[0].len() {
        if !shots[0][k].moving {
            continue;
        }
        let longest = (0..tracked(&shots[0][k].shape).len())
            .map(|j| {
                let points = shots.iter().map(|shot| tracked(&shot[k].shape)[j]);
                points.collect::<Vec<_>>()
            })
            .max_by(|a, b| way(a).total_cmp(&way(b)));
        if let Some(points) = longest {
            traces.push(rows.iter().map(|&row| times[row]).zip(points).collect());
        }
    }
    all.retain(|p| p[0].is_finite() && p[1].is_finite());
    let (x_range, y_range) = bounds(&all)?;
    let mut figure = run.figure("mechanism", "the mechanism in motion");
    for k in 0..PICTURES {
        let t = instant(&traces, (first, last), k as f64 / (PICTURES - 1) as f64);
        let row = run.table.row_at(t);
        let mut panel = Panel {
            title: format!("t = {} s", round(times[row])),
            picture: true,
            x_range: Some(x_range),
            y_range: Some(y_range),
            ..Panel::default()
        };
        for trace in &traces {
            let so_far = trace.iter().filter(|(time, _)| *time <= times[row] + 1e-12);
            let points: Vec<[f64; 2]> = so_far.map(|(_, point)| *point).collect();
            if points.len() > 1 {
                panel.add_curve(points, Stroke::solid(Color(190, 205, 225), 1.0), None);
            }
        }
        for shape in shapes_at(row) {
            draw(&mut panel, &shape);
        }
        figure.panels.push(panel);
    }
    let (columns, size) = arrangement(x_range.1 - x_range.0, y_range.1 - y_range.0);
    figure.columns = columns;
    figure.panel_size = size;
    let width = x_range.1 - x_range.0;
    figure.subtitle = format!(
        "each picture {} m wide; light lines: traces so far",
        round(width * scale_of(size, x_range, y_range))
    );
    Some(figure)
}

/// The time at which a share of the run is over, counting the ways of all points more than time: a
/// mechanism that has come to rest needs no more pictures.
fn instant(traces: &[Vec<(f64, [f64; 2])>], (first, last): Range, share: f64) -> f64 {
    const TIME_WEIGHT: f64 = 0.35;
    let longest = traces.iter().map(Vec::len).max().unwrap_or(0);
    let mut way = vec![0.0; longest];
    for trace in traces.iter().filter(|trace| trace.len() == longest) {
        for k in 1..longest {
            let ([x0, y0], [x1, y1]) = (trace[k - 1].1, trace[k].1);
            way[k] += (x1 - x0).hypot(y1 - y0);
        }
    }
    let total: f64 = way.iter().sum();
    let times = traces.iter().find(|trace| trace.len() == longest);
    let even = first + share * (last - first);
    let (Some(times), true) = (times, total > 0.0 && last > first) else {
        return even;
    };
    let mut gone = 0.0;
    for k in 0..longest {
        gone += way[k];
        let t = times[k].0;
        let done = TIME_WEIGHT * (t - first) / (last - first) + (1.0 - TIME_WEIGHT) * gone / total;
        if done >= share - 1e-9 {
            return t;
        }
    }
    last
}

/// How much wider the picture is than the mechanism because of its shape.
fn scale_of(size: (f64, f64), x: (f64, f64), y: (f64, f64)) -> f64 {
    let (width, height) = (size.0 - 22.0, size.1 - 26.0);
    let need = ((x.1 - x.0) / width).max((y.1 - y.0) / height);
    need * width / (x.1 - x.0)
}

/// Columns and size of the pictures, from the shape of the mechanism.
fn arrangement(width: f64, height: f64) -> (usize, (f64, f64)) {
    let ratio = height / width;
    if ratio > 1.6 {
        (8, (135.0, (135.0 * ratio).min(420.0) + 26.0))
    } else if ratio < 0.3 {
        (2, (470.0, (450.0 * ratio).max(70.0) + 40.0))
    } else {
        (4, (235.0, 215.0 * ratio.clamp(0.45, 1.6) + 30.0))
    }
}

fn draw(panel: &mut Panel, drawn: &DrawnShape) {
    let stroke = if drawn.moving {
        Stroke::solid(style::color(0), 2.0)
    } else {
        Stroke::solid(Color::INK, 1.4)
    };
    match &drawn.shape {
        Shape::Line(points) => panel.add_curve(points.clone(), stroke, None),
        Shape::Circle { center, radius } => {
            panel.items.push(Item::Circle(*center, *radius, stroke));
        }
        Shape::Point(point) => panel.add_dots(vec![*point], 3.0, stroke.color, false, None),
    }
    if let (Some(label), Some(place)) = (&drawn.label, tracked(&drawn.shape).last()) {
        panel.items.push(Item::Note(*place, label.clone()));
    }
}

/// The points of a shape whose traces can be drawn.
fn tracked(shape: &Shape) -> Vec<[f64; 2]> {
    match shape {
        Shape::Line(points) => points.clone(),
        Shape::Circle { center, .. } => vec![*center],
        Shape::Point(point) => vec![*point],
    }
}

/// Length of the way through the points.
fn way(points: &[[f64; 2]]) -> f64 {
    let steps = points.windows(2);
    steps
        .map(|pair| (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1]))
        .sum()
}

fn corners(shape: &Shape) -> Vec<[f64; 2]> {
    match shape {
        Shape::Line(points) => points.clone(),
        Shape::Circle { center, radius } => vec![
            [center[0] - radius, center[1] - radius],
            [center[0] + radius, center[1] + radius],
        ],
        Shape::Point(point) => vec![*point],
    }
}

type Range = (f64, f64);

/// Range of all points with some room; none if there are no points.
fn bounds(points: &[[f64; 2]]) -> Option<(Range, Range)> {
    let x = super::axis::extent(points.iter().map(|p| p[0]))?;
    let y = super::axis::extent(points.iter().map(|p| p[1]))?;
    let size = (x.1 - x.0).max(y.1 - y.0).max(1e-9);
    let room = 0.05 * size;
    Some(((x.0 - room, x.1 + room), (y.0 - room, y.1 + room)))
}

fn round(value: f64) -> String {
    let digits = if value == 0.0 {
        0
    } else {
        (2 - value.abs().log10().floor() as i32).clamp(0, 6) as usize
    };
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}
