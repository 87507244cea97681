//! A quantity over two parameters, computed in parallel.

use std::fmt::Write as _;

use rayon::prelude::*;
use serde::Serialize;

/// Values over a grid: `values[j * x.len() + i]` belongs to `(x[i], y[j])`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Map<T> {
    /// First parameter.
    pub x: Vec<f64>,
    /// Second parameter.
    pub y: Vec<f64>,
    /// Values, row by row.
    pub values: Vec<T>,
}

/// `count` equally spaced numbers, ends included.
pub fn grid(from: f64, to: f64, count: usize) -> Vec<f64> {
    let last = count.saturating_sub(1).max(1) as f64;
    (0..count)
        .map(|i| from + (to - from) * i as f64 / last)
        .collect()
}

/// Evaluates `f(x, y)` on the grid; rows are shared out over all cores and the order is fixed.
pub fn map<T: Send>(x: Vec<f64>, y: Vec<f64>, f: impl Fn(f64, f64) -> T + Sync) -> Map<T> {
    let values = y
        .par_iter()
        .flat_map_iter(|&b| x.iter().map(|&a| f(a, b)).collect::<Vec<T>>())
        .collect();
    Map { x, y, values }
}

impl<T> Map<T> {
    /// Value at column i, row j.
    pub fn at(&self, i: usize, j: usize) -> &T {
        &self.values[j * self.x.len() + i]
    }
}

/// Where `inside(y)` changes between `low` and `high`, which must lie on different sides, by bisection
/// down to neighbouring numbers.
pub fn boundary(mut low: f64, mut high: f64, mut inside: impl FnMut(f64) -> bool) -> Option<f64> {
    let at_low = inside(low);
    if inside(high) == at_low {
        return None;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low.min(high) || middle >= low.max(high) {
            break;
        }
        if inside(middle) == at_low {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(0.5 * (low + high))
}

/// A picture of a map of words: one gray and pattern-free colour per word, a curve drawn over it.
///
/// SVG, readable in black and white: the gray levels of the words differ.
pub fn picture(
    map: &Map<&'static str>,
    title: &str,
    (x_label, y_label): (&str, &str),
    curve: &[(f64, f64)],
) -> String {
    const COLOURS: [&str; 6] = [
        "#f2f2f2", "#c6dbef", "#fdae6b", "#9e5a9a", "#74c476", "#525252",
    ];
    let (width, height, left, top) = (560.0, 420.0, 70.0, 40.0);
    let mut words: Vec<&str> = Vec::new();
    for word in &map.values {
        if !words.contains(word) {
            words.push(word);
        }
    }
    words.sort_unstable();
    let (nx, ny) = (map.x.len(), map.y.len());
    let (x0, x1) = (map.x[0], map.x[nx - 1]);
    let (y0, y1) = (map.y[0], map.y[ny - 1]);
    let px = |x: f64| left + width * (x - x0) / (x1 - x0);
    let py = |y: f64| top + height * (1.0 - (y - y0) / (y1 - y0));
    let (dx, dy) = (width / nx as f64, height / ny as f64);
    let mut svg = String::new();
    // Writing to a String cannot fail.
    let _ = write!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="800" height="520" font-family="sans-serif" font-size="13">
<rect width="800" height="520" fill="white"/>
<text x="{left}" y="24" font-size="15">{title}</text>
"##
    );
    for j in 0..ny {
        let mut i = 0;
        while i < nx {
            let word = map.at(i, j);
            let start = i;
            while i < nx && map.at(i, j) == word {
                i += 1;
            }
            let colour = words.iter().position(|w| w == word).unwrap_or(0) % COLOURS.len();
            let _ = writeln!(
                svg,
                r#"<rect x="{:.2}" y="{:.2}" width="{:.2}" height="{:.2}" fill="{}"/>"#,
                left + start as f64 * dx,
                top + height - (j + 1) as f64 * dy,
                (i - start) as f64 * dx + 0.2,
                dy + 0.2,
                COLOURS[colour]
            );
        }
    }
    if !curve.is_empty() {
        let points: Vec<String> = curve
            .iter()
            .filter(|(x, y)| (x0..=x1).contains(x) && (y0..=y1).contains(y))
            .map(|&(x, y)| format!("{:.2},{:.2}", px(x), py(y)))
            .collect();
        let _ = writeln!(
            svg,
            r#"<polyline points="{}" fill="none" stroke="black" stroke-width="2"/>"#,
            points.join(" ")
        );
    }
    let _ = writeln!(
        svg,
        r#"<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="black"/>"#
    );
    for k in 0..=4 {
        let (x, y) = (
            x0 + (x1 - x0) * f64::from(k) / 4.0,
            y0 + (y1 - y0) * f64::from(k) / 4.0,
        );
        let _ = writeln!(
            svg,
            r#"<text x="{:.1}" y="{:.1}" text-anchor="middle">{x:.3}</text><text x="{:.1}" y="{:.1}" text-anchor="end">{y:.3}</text>"#,
            px(x),
            top + height + 18.0,
            left - 6.0,
            py(y) + 4.0
        );
    }
    let _ = writeln!(
        svg,
        r#"<text x="{:.1}" y="{:.1}" text-anchor="middle">{x_label}</text><text x="18" y="{:.1}" transform="rotate(-90 18 {:.1})" text-anchor="middle">{y_label}</text>"#,
        left + 0.5 * width,
        top + height + 40.0,
        top + 0.5 * height,
        top + 0.5 * height
    );
    for (k, word) in words.iter().enumerate() {
        let y = top + 20.0 * k as f64;
        let _ = writeln!(
            svg,
            r#"<rect x="{:.1}" y="{y:.1}" width="14" height="14" fill="{}" stroke="black"/><text x="{:.1}" y="{:.1}">{word}</text>"#,
            left + width + 16.0,
            COLOURS[k % COLOURS.len()],
            left + width + 36.0,
            y + 12.0
        );
    }
    svg.push_str("</svg>\n");
    svg
}
