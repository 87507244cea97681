//! A quantity over two parameters, computed in parallel.

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
