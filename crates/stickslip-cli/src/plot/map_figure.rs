//! A quantity over two parameters.

use stickslip::internals::view::palette::{REGIMES, ramp};
use stickslip::scene::{Cell, SceneMap};

use super::axis::extent;
use super::canvas::{Color, Fill, Stroke};
use super::colour_scale::ColourScale;
use super::figure::Figure;
use super::legend::Sample;
use super::panel::{Item, Panel};
use super::style;

/// Steps of the scale of a map of numbers.
const SHADES: usize = 64;

/// Cells as areas, one filling per word or per step of a scale; dots on the computed boundary, rings on points that are not certified, a
/// line for a formula.
pub fn map_figure(
    map: &SceneMap,
    (title, quantity): (String, &str),
    formula: Option<(&str, Vec<[f64; 2]>)>,
) -> Figure {
    let (fillings, keys) = scale(map);
    let (xs, ys) = (&map.x.values, &map.y.values);
    let mut panel = Panel {
        x_label: map.x.name.clone(),
        y_label: map.y.name.clone(),
        x_range: Some((edge(xs, 0), edge(xs, xs.len()))),
        y_range: Some((edge(ys, 0), edge(ys, ys.len()))),
        ..Panel::default()
    };
    add_areas(&mut panel, (xs, ys), &fillings, &keys);
    for (name, fill) in keys {
        panel
            .legend
            .extend(name.map(|name| (name, Sample::Box(fill))));
    }
    let doubtful = (0..map.cells.len()).filter(|&k| !map.certified[k]);
    let rings: Vec<[f64; 2]> = doubtful
        .map(|k| [xs[k % xs.len()], ys[k / xs.len()]])
        .collect();
    if !rings.is_empty() {
        panel.add_dots(rings, 2.5, style::color(1), true, Some("not certified"));
    }
    panel.scale = numbers(map).map(|(low, high)| ColourScale {
        name: quantity.to_string(),
        unit: String::new(),
        low,
        high,
    });
    if !map.boundary.is_empty() {
        panel.add_dots(
            map.boundary.clone(),
            1.6,
            Color::BLACK,
            false,
            Some("boundary found by the engine"),
        );
    }
    if let Some((name, points)) = formula {
        let label = format!("{} = {name}", map.y.name);
        let inside = |p: &[f64; 2]| p[1] >= edge(ys, 0) && p[1] <= edge(ys, ys.len());
        add_formula(&mut panel, label, points.split(|p| !inside(p)));
    }
    Figure {
        name: "map".to_string(),
        title,
        subtitle: format!("{quantity}, {} × {} points", xs.len(), ys.len()),
        panels: vec![panel],
        columns: 1,
        panel_size: (720.0, 560.0),
        ..Figure::default()
    }
}

/// Neighbours of one filling are one area: rectangles of whole stretches of a row.
fn add_areas(
    panel: &mut Panel,
    (xs, ys): (&[f64], &[f64]),
    fillings: &[Option<usize>],
    keys: &[(Option<String>, Fill)],
) {
    for j in 0..ys.len() {
        let mut i = 0;
        while i < xs.len() {
            let filling = fillings[j * xs.len() + i];
            let start = i;
            while i < xs.len() && fillings[j * xs.len() + i] == filling {
                i += 1;
            }
            if let Some(k) = filling {
                let (left, right) = (edge(xs, start), edge(xs, i));
                let (low, high) = (edge(ys, j), edge(ys, j + 1));
                let corners = vec![[left, low], [right, low], [right, high], [left, high]];
                panel.items.push(Item::Area(corners, keys[k].1));
            }
        }
    }
}

/// A boundary that the user gave, in stretches that lie inside the map, under one label.
fn add_formula<'a>(
    panel: &mut Panel,
    label: String,
    stretches: impl Iterator<Item = &'a [[f64; 2]]>,
) {
    let stroke = Stroke {
        dash: &[6.0, 4.0],
        ..Stroke::solid(Color(190, 0, 0), 1.8)
    };
    let mut label = Some(label);
    for stretch in stretches.filter(|stretch| stretch.len() > 1) {
        panel.add_curve(stretch.to_vec(), stroke, label.take());
    }
}

/// Border between the values k - 1 and k, half a step outside at the ends.
fn edge(values: &[f64], k: usize) -> f64 {
    match values {
        [] => 0.0,
        [only] => only + if k == 0 { -0.5 } else { 0.5 },
        _ if k == 0 => values[0] - 0.5 * (values[1] - values[0]),
        _ if k >= values.len() => {
            let last = values.len() - 1;
            values[last] + 0.5 * (values[last] - values[last - 1])
        }
        _ => 0.5 * (values[k - 1] + values[k]),
    }
}

/// Index of the filling of every cell, and the fillings with the names of those that stand for words.
fn scale(map: &SceneMap) -> (Vec<Option<usize>>, Vec<(Option<String>, Fill)>) {
    let mut words: Vec<&str> = map
        .cells
        .iter()
        .filter_map(|cell| match cell {
            Cell::Word(word) => Some(word.as_str()),
            Cell::Number(_) => None,
        })
        .collect();
    words.sort_unstable();
    words.dedup();
    let range = numbers(map);
    let mut keys: Vec<(Option<String>, Fill)> = words
        .iter()
        .enumerate()
        .map(|(k, word)| {
            let known = REGIMES.iter().find(|(regime, _)| regime == word);
            let area = known.map_or(k + 1, |(_, area)| *area);
            (Some(word.to_string()), style::filling(area))
        })
        .collect();
    let first = keys.len();
    if range.is_some() {
        let share = |k: usize| (k as f64 + 0.5) / SHADES as f64;
        keys.extend((0..SHADES).map(|k| (None, Fill::Solid(ramp(share(k))))));
    }
    let fillings = map
        .cells
        .iter()
        .map(|cell| match cell {
            Cell::Word(word) => words.iter().position(|w| w == word),
            Cell::Number(number) => {
                let (low, high) = range?;
                let share = if high > low {
                    (number - low) / (high - low)
                } else {
                    0.0
                };
                let shade = (share * SHADES as f64) as usize;
                number.is_finite().then(|| first + shade.min(SHADES - 1))
            }
        })
        .collect();
    (fillings, keys)
}

/// Least and largest number of a map.
fn numbers(map: &SceneMap) -> Option<(f64, f64)> {
    extent(map.cells.iter().filter_map(|cell| match cell {
        Cell::Number(number) => Some(*number),
        Cell::Word(_) => None,
    }))
}
