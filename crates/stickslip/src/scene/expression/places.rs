//! Places where functions vanish, drawn in the sizes of a scene.

use super::domain::Domain;
use super::graph::{Expression, Graph};
use super::rounded::{Rounded, rounding};
use super::tape::Tape;
use crate::algebra::dot;
use crate::algebra::rank_revealing::solve_any_rank;
use crate::algebra::small_dense::norm;
use crate::algebra::splitmix::Splitmix;

/// Most steps of Newton's method: at a double zero each of them halves the distance.
const ROUNDS: usize = 60;

/// Most sizes that an input is drawn in.
const SIZES_MAX: usize = 16;

/// Inputs with the numbers at which something happens to them.
pub(super) struct Places<'a> {
    pub inputs: Vec<usize>,
    domain: &'a Domain,
    /// The start and the zeros of functions of an input.
    marks: Vec<Vec<f64>>,
    /// Sizes of marks and distances between them.
    sizes: Vec<Vec<f64>>,
}

/// Functions with their gradients, and whether time may be moved to find their zeros.
pub(super) struct Rows {
    tape: Tape,
    count: usize,
    in_time: bool,
    registers: Vec<f64>,
}

impl Rows {
    pub fn new(graph: &mut Graph, functions: &[Expression], inputs: &[usize]) -> Self {
        let mut outputs = functions.to_vec();
        for &function in functions {
            outputs.extend(graph.gradient(function, inputs));
        }
        Self {
            tape: Tape::compile(graph, &outputs),
            count: functions.len(),
            in_time: functions.iter().any(|&f| graph.inputs_of(f) == [0]),
            registers: Vec::new(),
        }
    }

    /// Values, then gradients.
    pub fn at(&mut self, inputs: &[usize], x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.count * (1 + inputs.len())];
        let read = |k: usize| inputs.binary_search(&k).map_or(0.0, |i| x[i]);
        self.tape.evaluate_with(read, &mut self.registers, &mut out);
        out
    }
}

/// A place, the sizes in which it was drawn, and the smallest sizes of its inputs, within which nothing else happens.
#[derive(Clone)]
pub(super) struct Place {
    pub x: Vec<Rounded>,
    pub sizes: Vec<f64>,
    pub least: Vec<f64>,
}

impl Place {
    /// A place beside it, by a part of the smallest sizes that rounding does not hide.
    pub fn beside(&self, part: f64, random: &mut Splitmix) -> Self {
        let mut beside = self.clone();
        for (x, least) in beside.x.iter_mut().zip(&self.least) {
            let reach = part * least + 64.0 * x.error;
            x.value += reach * (2.0 * random.unit() - 1.0);
            x.error = rounding(x.value);
        }
        beside
    }

    pub fn values(&self) -> Vec<f64> {
        self.x.iter().map(|x| x.value).collect()
    }
}

impl<'a> Places<'a> {
    /// Sizes come from where the functions vanish along every input, the others as at the start. No unit enters.
    pub fn new(
        graph: &mut Graph,
        domain: &'a Domain,
        inputs: Vec<usize>,
        functions: &[Expression],
    ) -> Self {
        let start: Vec<f64> = inputs.iter().map(|&k| domain.start(k)).collect();
        let mut marks: Vec<Vec<f64>> = start.iter().map(|&x| vec![0.0, x]).collect();
        for &function in functions {
            for k in 0..inputs.len() {
                if !graph.inputs_of(function).contains(&inputs[k]) {
                    continue;
                }
                let mut row = Rows::new(graph, &[function], &inputs);
                // Where it has no slope at the start, from beside it.
                let mark = [0.0, 1.0, -1.0].into_iter().find_map(|shift| {
                    let mut x = start.clone();
                    x[k] += shift;
                    for _ in 0..40 {
                        let out = row.at(&inputs, &x);
                        let step = out[0] / out[1 + k];
                        if out[0] == 0.0 || step.abs() <= f64::EPSILON * x[k].abs() {
                            return Some(x[k]);
                        }
                        if !step.is_finite() {
                            return None;
                        }
                        x[k] -= step;
                    }
                    None
                });
                marks[k].extend(mark);
            }
        }
        let mut sizes = Vec::new();
        for (k, marks) in marks.iter_mut().enumerate() {
            marks.retain(|x| x.is_finite());
            marks.sort_by(f64::total_cmp);
            marks.dedup();
            marks.truncate(SIZES_MAX);
            let apart = marks.windows(2).map(|pair| pair[1] - pair[0]);
            let mut all: Vec<f64> = marks.iter().map(|x| x.abs()).chain(apart).collect();
            if inputs[k] == 0 {
                all.push(domain.until);
            }
            all.retain(|&size| size > 0.0);
            sizes.push(all);
        }
        Self {
            inputs,
            domain,
            marks,
            sizes,
        }
    }

    /// A number for an input, with its size: near a mark in one of the sizes, or of any size.
    fn draw(&self, k: usize, random: &mut Splitmix) -> (f64, f64) {
        let choose = |all: &[f64], part: f64| all[(part * all.len() as f64) as usize];
        let sign = if random.unit() < 0.5 { 1.0 } else { -1.0 };
        let [mark, size, power] = [random.unit(), random.unit(), random.unit()];
        if self.inputs[k] == 0 {
            return (power * self.domain.until, self.domain.until);
        }
        if self.sizes[k].is_empty() || random.unit() < 0.2 {
            let size = 10f64.powf(12.0 * power - 6.0);
            return (sign * size, size);
        }
        let size = choose(&self.sizes[k], size) * 10f64.powf(4.0 * power - 3.0);
        (choose(&self.marks[k], mark) + sign * size, size)
    }

    /// Inputs drawn by a seed, with their sizes.
    pub fn drawn(&self, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let mut random = Splitmix(seed.wrapping_mul(0x0123_4567_89AB_CDEF));
        (0..self.inputs.len())
            .map(|k| self.draw(k, &mut random))
            .unzip()
    }

    /// A place where all rows vanish, by steps of Newton's method that are least in the sizes of a draw. Places on a straight border are
    /// reached by one step from anywhere.
    pub fn find(&self, rows: &mut Rows, seed: u64) -> Option<Place> {
        let (mut x, sizes) = self.drawn(seed);
        let n = x.len();
        let mut weights = sizes.clone();
        if let (Some(0), false) = (self.inputs.first(), rows.in_time) {
            weights[0] = 0.0;
        }
        let mut step = vec![f64::INFINITY; n];
        for _ in 0..ROUNDS {
            let out = rows.at(&self.inputs, &x);
            // A length has no slope where it vanishes.
            if out[..rows.count].iter().all(|&value| value == 0.0) {
                step.fill(0.0);
                break;
            }
            if out.iter().any(|value| !value.is_finite()) {
                return None;
            }
            let slope = |row: usize| -> Vec<f64> {
                let slope = &out[rows.count + row * n..][..n];
                slope.iter().zip(&weights).map(|(s, w)| s * w).collect()
            };
            let mut slopes: Vec<Vec<f64>> = (0..rows.count).map(slope).collect();
            let mut values = out[..rows.count].to_vec();
            for (slope, value) in slopes.iter_mut().zip(&mut values) {
                let length = norm(slope);
                if length > 0.0 {
                    slope.iter_mut().for_each(|s| *s /= length);
                    *value /= length;
                } else if *value != 0.0 {
                    return None;
                }
            }
            let count = rows.count;
            let products: Vec<f64> = (0..count * count)
                .map(|k| dot(&slopes[k / count], &slopes[k % count]))
                .collect();
            let factors = solve_any_rank(&products, &values, 1e-14).point;
            for k in 0..n {
                let along = factors.iter().zip(&slopes).map(|(f, slope)| f * slope[k]);
                step[k] = weights[k] * along.sum::<f64>();
                x[k] -= step[k];
            }
            if (step.iter().zip(&x)).all(|(s, x)| s.abs() <= f64::EPSILON * x.abs()) {
                break;
            }
        }
        let near = |k: usize| step[k].abs() <= 1e-7 * (x[k].abs() + weights[k]);
        if !(0..n).all(near) {
            return None;
        }
        if let Some(0) = self.inputs.first() {
            let [first, last] = self.domain.range(0);
            if !(first..=last).contains(&x[0]) {
                return None;
            }
        }
        let moved = |k: usize| Rounded {
            value: x[k],
            error: rounding(x[k]) + 2.0 * step[k].abs(),
        };
        let smallest = |k: usize| {
            self.sizes[k]
                .iter()
                .fold(sizes[k], |least, &s| least.min(s))
        };
        Some(Place {
            x: (0..n).map(moved).collect(),
            least: (0..n).map(smallest).collect(),
            sizes,
        })
    }
}
