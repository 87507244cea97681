//! Integrals of functions that may jump, bend or grow without bound: parts are halved until two rules agree.

/// Difference of two rules, of the size of the integral, below which a part is not halved.
const CONVERGED: f64 = 1e-11;
/// What all parts together may be off, of the size; an integral that is off by more is not a number.
const OFF_MAX: f64 = 1e-6;
/// Parts at most, against functions that are rough everywhere.
const PARTS_MAX: usize = 4000;

/// Gauss–Legendre rule with five points: exact to degree 9.
pub(crate) fn gauss(a: f64, b: f64, f: impl Fn(f64) -> f64) -> f64 {
    gauss_with_size(a, b, f).0
}

/// The same, with the integral of |f|.
fn gauss_with_size(a: f64, b: f64, f: impl Fn(f64) -> f64) -> (f64, f64) {
    const NODES: [f64; 3] = [0.0, 0.538_469_310_105_683_1, 0.906_179_845_938_664];
    const WEIGHTS: [f64; 3] = [
        0.568_888_888_888_888_9,
        0.478_628_670_499_366_47,
        0.236_926_885_056_189_08,
    ];
    let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
    let now = f(middle);
    let (mut sum, mut size) = (WEIGHTS[0] * now, WEIGHTS[0] * now.abs());
    for k in 1..3 {
        let pair = (f(middle - half * NODES[k]), f(middle + half * NODES[k]));
        sum += WEIGHTS[k] * (pair.0 + pair.1);
        size += WEIGHTS[k] * (pair.0.abs() + pair.1.abs());
    }
    (half * sum, half * size)
}

/// What is seen of one part.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    /// The integral.
    pub value: f64,
    /// How far a lower rule, which reads the ends, is from it.
    pub check: f64,
    /// The size of what is integrated, times the length.
    pub size: f64,
}

/// Gauss's rule, checked by Simpson's just inside the ends: no place of a jump gives both the same.
pub(super) fn look((a, b): (f64, f64), f: impl Fn(f64) -> f64) -> Look {
    let inside = 1e-9 * (b - a);
    let (first, middle, last) = (f(a + inside), f(0.5 * (a + b)), f(b - inside));
    let simpson = (b - a) / 6.0 * (first + 4.0 * middle + last);
    let (value, size) = gauss_with_size(a, b, f);
    Look {
        value,
        check: (value - simpson).abs(),
        size,
    }
}

/// ∫ f over [a, b].
pub(crate) fn integral(range: (f64, f64), f: impl Fn(f64) -> f64) -> f64 {
    // The error of Simpson's rule falls by 16 where f is smooth, at a jump by 2.
    converged(range, 0.125, &|part| look(part, &f))
}

/// The integral of which `look` sees parts: they are halved until the lower rule agrees, or until halving changes nothing and the
/// lower rule comes nearer by the factor `falls` at least, as it does where the function is smooth.
pub(super) fn converged((a, b): (f64, f64), falls: f64, look: &dyn Fn((f64, f64)) -> Look) -> f64 {
    if !(a < b) {
        return 0.0;
    }
    let whole = look((a, b));
    let mut parts = vec![((a, b), whole)];
    let (mut sum, mut off, mut size, mut halved) = (0.0, 0.0, whole.size, 0);
    while let Some(((low, high), part)) = parts.pop() {
        if part.check <= CONVERGED * size {
            sum += part.value;
            continue;
        }
        let middle = 0.5 * (low + high);
        if !(low < middle && middle < high) || halved == PARTS_MAX || !part.value.is_finite() {
            sum += part.value;
            off += part.check;
            continue;
        }
        halved += 1;
        let halves = [(low, middle), (middle, high)].map(|half| (half, look(half)));
        let value = halves[0].1.value + halves[1].1.value;
        let check = halves[0].1.check + halves[1].1.check;
        size = size.max(halves[0].1.size + halves[1].1.size);
        if (value - part.value).abs() <= CONVERGED * size && check <= falls * part.check {
            sum += value;
        } else {
            parts.extend(halves.into_iter().rev());
        }
    }
    if off <= OFF_MAX * size { sum } else { f64::NAN }
}

/// Panels at the smallest that a function is looked at in.
const LOOKS: usize = 256;
/// Difference to which a panel is resolved.
const RESOLVED: f64 = 1e-13;
/// Panels at most.
const PANELS_MAX: usize = 20_000;

/// Edges of panels of [0, τ] on each of which Gauss's rule integrates k times any polynomial that one piece of a motion may be;
/// `breaks` are places where k is known to jump or bend. Why there are none otherwise.
pub(super) fn panels(k: &dyn Fn(f64) -> f64, tau: f64, breaks: &[f64]) -> Result<Vec<f64>, String> {
    let mut places: Vec<f64> = vec![0.0, tau];
    places.extend(breaks.iter().filter(|&&s| 0.0 < s && s < tau));
    places.sort_by(f64::total_cmp);
    places.dedup();
    let first = resolve(k, tau, &places)?;
    if first.jumps.is_empty() {
        return Ok(first.edges);
    }
    // Places that halving has enclosed to rounding become edges, between which few panels are left.
    places.extend(first.jumps);
    places.sort_by(f64::total_cmp);
    places.dedup();
    Ok(resolve(k, tau, &places)?.edges)
}

struct Resolved {
    edges: Vec<f64>,
    /// Both ends of what cannot be halved further: places next to each other are not told apart.
    jumps: Vec<f64>,
}

fn resolve(k: &dyn Fn(f64) -> f64, tau: f64, places: &[f64]) -> Result<Resolved, String> {
    let leaf = tau / LOOKS as f64;
    let (mut edges, mut jumps, mut off) = (vec![places[0]], Vec::new(), 0.0);
    let mut size = 0.0;
    let mut parts: Vec<(f64, f64)> = places.windows(2).map(|p| (p[0], p[1])).rev().collect();
    for &(a, b) in &parts {
        size += in_leaves((a, b), leaf, |part| look(part, k).size);
    }
    while let Some((low, high)) = parts.pop() {
        let middle = 0.5 * (low + high);
        // What is narrow is seen in its size when it is met.
        size = size.max(in_leaves((low, high), leaf, |part| look(part, k).size));
        let floor = RESOLVED * size;
        let (miss, smooth) = error_of_panel(k, (low, high), leaf, floor);
        if miss <= floor && smooth {
            edges.push(high);
        } else if !(low < middle && middle < high) || high - low < 64.0 * f64::EPSILON * high {
            edges.push(high);
            jumps.extend([low, high]);
            off += miss;
        } else if edges.len() + parts.len() > PANELS_MAX {
            return Err("it is too rough to be integrated".to_string());
        } else {
            parts.extend([(middle, high), (low, middle)]);
        }
    }
    if off <= OFF_MAX * size {
        Ok(Resolved { edges, jumps })
    } else {
        Err("it is too rough to be integrated".to_string())
    }
}

/// What Gauss's rule over a panel misses of k and of k times powers of the age, and whether k looks smooth there.
fn error_of_panel(
    k: &dyn Fn(f64) -> f64,
    (low, high): (f64, f64),
    leaf: f64,
    floor: f64,
) -> (f64, bool) {
    let times = |power: i32| move |s: f64| k(s) * ((s - low) / (high - low)).powi(power);
    let miss = |f: &dyn Fn(f64) -> f64| {
        let fine = in_leaves((low, high), leaf, |(a, b)| gauss(a, b, f));
        (fine - gauss(low, high, f)).abs()
    };
    // Of a piece of a motion the higher powers are the smaller parts.
    let error = miss(k).max(miss(&times(1))).max(1e-3 * miss(&times(5)));
    let check = |leaf| in_leaves((low, high), leaf, |part| look(part, k).check);
    let (coarse, fine) = (check(leaf), check(0.5 * leaf.min(0.5 * (high - low))));
    // In parts of half the length Simpson's error is a 16th where k is smooth, an eighth at most where its slopes change their sign, and at a
    // jump that Gauss's places do not see a seventh at least.
    let smooth = fine <= floor || fine <= 0.13 * coarse;
    (error, smooth)
}

fn leaves((low, high): (f64, f64), leaf: f64) -> usize {
    // A length that vanishes has no leaves to be counted.
    (((high - low) / leaf).ceil() as usize).clamp(2, 4 * LOOKS)
}

/// Sum over the leaves of a panel.
fn in_leaves((low, high): (f64, f64), leaf: f64, mut of: impl FnMut((f64, f64)) -> f64) -> f64 {
    let count = leaves((low, high), leaf);
    let edge = |j: usize| low + (high - low) * j as f64 / count as f64;
    (0..count).map(|j| of((edge(j), edge(j + 1)))).sum()
}

/// The parts of the ages from `young` to `old` between the edges.
pub(super) fn between(
    edges: &[f64],
    (young, old): (f64, f64),
) -> impl Iterator<Item = (f64, f64)> + '_ {
    let first = edges.partition_point(|&e| e <= young);
    let last = edges.partition_point(|&e| e < old).max(first);
    let mut from = young;
    let ends = edges[first..last].iter().copied().chain([old]);
    ends.map(move |to| (std::mem::replace(&mut from, to), to))
        .filter(|(a, b)| a < b)
}

/// The ends of a part and the places between them where one of `count` functions changes its sign, each looked at between the
/// places found so far: one that bends there is monotonic in between more often than not.
pub(crate) fn switch_places(
    (a, b): (f64, f64),
    count: usize,
    switch: impl Fn(usize, f64) -> f64,
) -> Vec<f64> {
    let mut places = vec![a, b];
    for k in 0..count {
        let mut found = Vec::new();
        for ends in places.windows(2) {
            let inside = 1e-9 * (ends[1] - ends[0]);
            let looks = [
                ends[0] + inside,
                0.5 * (ends[0] + ends[1]),
                ends[1] - inside,
            ];
            for pair in looks.windows(2) {
                found.extend(sign_change((pair[0], pair[1]), |s| switch(k, s)));
            }
        }
        places.extend(found);
        places.sort_by(f64::total_cmp);
        places.dedup();
    }
    places
}

/// Where a function changes its sign, to rounding.
pub(crate) fn sign_change((mut low, mut high): (f64, f64), f: impl Fn(f64) -> f64) -> Option<f64> {
    let first = f(low) > 0.0;
    if (f(high) > 0.0) == first {
        return None;
    }
    loop {
        let middle = 0.5 * (low + high);
        if !(low < middle && middle < high) {
            return Some(high);
        }
        if (f(middle) > 0.0) == first {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_kinks_and_poles_are_integrated() {
        let cases: [(&str, fn(f64) -> f64, f64); 6] = [
            (
                "jump near an end",
                |s| f64::from(u8::from(s < 0.9993)),
                0.9993,
            ),
            (
                "kink",
                |s| (s - 0.3712).abs(),
                0.5 * (0.3712f64.powi(2) + 0.6288f64.powi(2)),
            ),
            ("narrow", |s| (-s / 1e-3).exp() / 1e-3, 1.0),
            ("pole", |s| s.powf(-0.5), 2.0),
            (
                "oscillation",
                |s| (300.0 * s).sin(),
                (1.0 - 300f64.cos()) / 300.0,
            ),
            ("nothing", |_| 0.0, 0.0),
        ];
        for (what, f, exact) in cases {
            let found = integral((0.0, 1.0), f);
            assert!((found - exact).abs() < 2e-9, "{what}: {found} {exact}");
            let edges = panels(&f, 1.0, &[]).unwrap_or_else(|e| panic!("{what}: {e}"));
            let parts = between(&edges, (0.0, 1.0));
            let sum: f64 = parts.map(|(a, b)| gauss(a, b, f)).sum();
            assert!(
                (sum - exact).abs() < 2e-9,
                "{what} in panels: {sum} {exact}"
            );
            assert!(edges.len() < 500, "{what}: {} panels", edges.len());
        }
    }

    #[test]
    fn weights_that_need_many_panels_get_them() {
        let narrow = |s: f64| 1e5 * (-((s - 0.3765) * 1e5).powi(2)).exp();
        let cases: [(&str, &dyn Fn(f64) -> f64, f64, f64); 3] = [
            (
                "fast",
                &|s| (2e3 * s).sin(),
                (1.0 - 2e3f64.cos()) / 2e3,
                1e-10,
            ),
            // As near as numbers tell ages apart, which leaves 1e-7 of it.
            ("pole at the end", &|s| (1.0 - s).powf(-0.5), 2.0, 1e-6),
            ("peak", &narrow, std::f64::consts::PI.sqrt(), 1e-9),
        ];
        for (what, f, exact, limit) in cases {
            let edges = panels(f, 1.0, &[]).unwrap_or_else(|e| panic!("{what}: {e}"));
            let parts = between(&edges, (0.0, 1.0));
            let sum: f64 = parts.map(|(a, b)| gauss(a, b, f)).sum();
            assert!((sum - exact).abs() < limit, "{what}: {sum} {exact}");
        }
    }

    #[test]
    fn what_has_no_integral_has_no_number() {
        assert!(!integral((0.0, 1.0), |s| 1.0 / s).is_finite());
        assert!(panels(&|s: f64| 1.0 / s, 1.0, &[]).is_err());
    }
}
