//! Where a gap vanishes together with its gradient.

use super::domain::Domain;
use super::graph::{Expression, Graph};
use super::places::{Place, Places, Rows};
use super::rounded::{Evaluation, Rounded};
use crate::algebra::splitmix::Splitmix;

/// Starts from which such places are looked for.
const STARTS: u64 = 80;

/// Rounding beyond this part of the largest value of a function leaves nothing to tell.
const TOLD: f64 = 1e-6;

impl Graph {
    /// A place, by input, where a gap and its gradient in the coordinates vanish, looked for in the sizes of the scene. A kink, whose
    /// gradient is nothing on the kink alone, is none.
    #[must_use]
    pub fn flat_place(&self, gap: Expression, domain: &Domain) -> Option<Vec<(usize, f64)>> {
        let mut graph = self.clone();
        let inputs = graph.inputs_of(gap);
        let places: Vec<usize> = inputs.iter().copied().filter(|&k| k > 0).collect();
        let mut functions = graph.gradient(gap, &places);
        // A slope that never vanishes.
        let definite = |&slope: &Expression| {
            let [low, high] = graph.bounds_within(slope, domain);
            low > 0.0 || high < 0.0
        };
        if places.is_empty() || functions.iter().any(definite) {
            return None;
        }
        functions.push(gap);
        let search = Places::new(&mut graph, domain, inputs.clone(), &functions);
        let mut rows = Rows::new(&mut graph, &functions, &inputs);
        let mut evaluation = Evaluation::new(&graph, &functions);
        let mut at = |x: &[Rounded]| -> Vec<Rounded> {
            let read = |k: usize| {
                let index = inputs.binary_search(&k);
                index.map_or(Rounded::default(), |i| x[i])
            };
            evaluation.at(&graph, read, &[]);
            functions.iter().map(|&f| evaluation.of(f)).collect()
        };
        let largest = largest_drawn(&search, &mut at);
        let found = (0..STARTS).filter_map(|seed| {
            let place = search.find(&mut rows, seed)?;
            // Far away, as at angles of 10¹⁶, a value is nothing but rounding.
            let values = at(&place.x);
            let all = (values.iter().zip(&largest))
                .all(|(value, largest)| value.vanishes() && value.error <= TOLD * largest);
            let shown = |x: &Rounded| if x.vanishes() { 0.0 } else { x.value };
            (all && shrinks(&place, &mut at)).then(|| place.x.iter().map(shown).collect())
        });
        // The nearest of them.
        let far = |x: &Vec<f64>| x.iter().fold(0.0, |far: f64, x| far.max(x.abs()));
        let nearest = found.min_by(|a, b| far(a).total_cmp(&far(b)))?;
        Some(inputs.into_iter().zip(nearest).collect())
    }
}

/// The largest value of each function at places that are drawn.
fn largest_drawn(search: &Places, at: &mut impl FnMut(&[Rounded]) -> Vec<Rounded>) -> Vec<f64> {
    let mut largest: Vec<f64> = Vec::new();
    for seed in 0..STARTS {
        let exact = |value: f64| Rounded { value, error: 0.0 };
        let values = at(&search
            .drawn(seed)
            .0
            .into_iter()
            .map(exact)
            .collect::<Vec<_>>());
        largest.resize(values.len(), 0.0);
        for (largest, value) in largest.iter_mut().zip(values) {
            if value.value.is_finite() {
                *largest = largest.max(value.value.abs());
            }
        }
    }
    largest
}

/// Whether the gradient becomes small towards a place.
fn shrinks(place: &Place, at: &mut impl FnMut(&[Rounded]) -> Vec<Rounded>) -> bool {
    let mut largest = |distance: f64| {
        let mut random = Splitmix(7);
        let mut largest = 0.0f64;
        for _ in 0..12 {
            let mut x = place.x.clone();
            for (x, size) in x.iter_mut().zip(&place.sizes) {
                x.value += distance * (size + x.value.abs()) * (2.0 * random.unit() - 1.0);
            }
            let values = at(&x);
            let slopes = &values[..values.len() - 1];
            let sizes = slopes.iter().map(|slope| slope.value.abs());
            largest = largest.max(sizes.fold(0.0, f64::max));
        }
        largest
    };
    let (far, near) = (largest(1e-2), largest(1e-5));
    near <= 0.5 * far || near == 0.0
}
