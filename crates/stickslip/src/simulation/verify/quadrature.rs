//! Integrals over [0, 1] of functions that may jump.

/// Gauss's rule with five points on [0, 1]: places and weights.
pub(super) const GAUSS: [(f64, f64); 5] = [
    (0.046_910_077_030_668_004, 0.118_463_442_528_094_54),
    (0.230_765_344_947_158_45, 0.239_314_335_249_683_23),
    (0.5, 0.284_444_444_444_444_44),
    (0.769_234_655_052_841_5, 0.239_314_335_249_683_23),
    (0.953_089_922_969_332, 0.118_463_442_528_094_54),
];

/// Halvings of a part of an interval: a jump whose place is not known is enclosed to a thousand-millionth of it.
const HALVINGS: u32 = 30;
/// Parts that are halved at most, against functions that are rough everywhere.
const PARTS_MAX: usize = 4000;
/// Error of a part, of the integral of the size, below which it is not halved.
const CONVERGED: f64 = 1e-10;

/// An integral, what it may be off, and the integral of the size of the function.
pub(super) struct Integral {
    pub value: Vec<f64>,
    pub error: Vec<f64>,
    pub size: Vec<f64>,
}

/// The integral of a function with `n` components over the parts between `places`, each looked at in `panels` panels, which are halved until
/// both halves say what the whole said, of each component to a part of its size or to its `floor`, below which nothing matters.
pub(super) fn integral(
    places: &[f64],
    panels: usize,
    floor: &[f64],
    function: &mut dyn FnMut(f64, &mut [f64]),
) -> Integral {
    let n = floor.len();
    let mut sum = Integral {
        value: vec![0.0; n],
        error: vec![0.0; n],
        size: vec![0.0; n],
    };
    let mut parts = Vec::new();
    for ends in places.windows(2).rev() {
        let width = (ends[1] - ends[0]) / panels as f64;
        for k in (0..panels).rev() {
            let low = ends[0] + k as f64 * width;
            let part = (low, low + width);
            parts.push((part, gauss(part, n, function), 0));
        }
    }
    for (_, whole, _) in &parts {
        add(&mut sum.size, &whole.1);
    }
    let mut halved = 0;
    while let Some(((low, high), whole, halvings)) = parts.pop() {
        let middle = 0.5 * (low + high);
        let halves = [(low, middle), (middle, high)].map(|part| (part, gauss(part, n, function)));
        let error = |i: usize| (halves[0].1.0[i] + halves[1].1.0[i] - whole.0[i]).abs();
        let rough = (0..n).any(|i| error(i) > floor[i].max(CONVERGED * sum.size[i]));
        if rough && halvings < HALVINGS && halved < PARTS_MAX {
            halved += 1;
            let [first, second] = halves;
            parts.push((second.0, second.1, halvings + 1));
            parts.push((first.0, first.1, halvings + 1));
            continue;
        }
        for i in 0..n {
            sum.error[i] += error(i);
        }
        for (_, half) in &halves {
            add(&mut sum.value, &half.0);
        }
    }
    sum
}

/// Integral of the function and of its size over a part.
fn gauss(
    (low, high): (f64, f64),
    n: usize,
    function: &mut dyn FnMut(f64, &mut [f64]),
) -> (Vec<f64>, Vec<f64>) {
    let (mut value, mut size, mut out) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    for (s, weight) in GAUSS {
        function(low + (high - low) * s, &mut out);
        for i in 0..n {
            value[i] += (high - low) * weight * out[i];
            size[i] += (high - low) * weight * out[i].abs();
        }
    }
    (value, size)
}

fn add(to: &mut [f64], from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(t, x)| *t += x);
}

/// Looks between two places for changes of sign.
const LOOKS: usize = 32;

/// 0, 1 and the places between them at which one of the functions that `write` gives changes its sign. Functions are gone through in
/// their order, each between the places found so far, so that one that bends there is monotonic in between more often than not.
pub(super) fn sign_changes(write: &mut dyn FnMut(f64, &mut Vec<f64>)) -> Vec<f64> {
    let mut places = vec![0.0, 1.0];
    let mut values = Vec::new();
    write(0.5, &mut values);
    for k in 0..values.len() {
        let mut found = Vec::new();
        let mut at = |s: f64| {
            write(s, &mut values);
            values[k]
        };
        for ends in places.windows(2) {
            let step = (ends[1] - ends[0]) / LOOKS as f64;
            let mut here = (ends[0], at(ends[0]));
            for look in 1..=LOOKS {
                let s = if look == LOOKS {
                    ends[1]
                } else {
                    ends[0] + look as f64 * step
                };
                let next = (s, at(s));
                if (here.1 > 0.0) != (next.1 > 0.0) {
                    found.push(change(here, next, &mut at));
                }
                here = next;
            }
        }
        places.extend(found);
        places.sort_by(f64::total_cmp);
        places.dedup();
    }
    places
}

/// The place of a change of sign, to rounding.
fn change(
    (mut low, first): (f64, f64),
    (mut high, _): (f64, f64),
    at: &mut dyn FnMut(f64) -> f64,
) -> f64 {
    loop {
        let middle = 0.5 * (low + high);
        if !(low < middle && middle < high) {
            return high;
        }
        if (at(middle) > 0.0) == (first > 0.0) {
            low = middle;
        } else {
            high = middle;
        }
    }
}
