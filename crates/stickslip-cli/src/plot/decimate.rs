//! Fewer points that look the same: curves of any length become a few thousand points.

use super::canvas::Point;

/// Thins a curve given in drawing units.
///
/// Where x grows, each column of width `cell` keeps its first, lowest, highest and last point, so that
/// no peak is lost; elsewhere points nearer than `cell` to the one kept before are left out.
pub fn decimate(points: &[Point], cell: f64) -> Vec<Point> {
    if points.len() < 4 {
        return points.to_vec();
    }
    if points.windows(2).all(|pair| pair[0][0] <= pair[1][0]) {
        by_columns(points, cell)
    } else {
        by_distance(points, cell)
    }
}

fn by_columns(points: &[Point], cell: f64) -> Vec<Point> {
    let column = |p: &Point| (p[0] / cell).floor();
    let mut out: Vec<Point> = Vec::new();
    let mut start = 0;
    while start < points.len() {
        let mut end = start + 1;
        while end < points.len() && column(&points[end]) == column(&points[start]) {
            end += 1;
        }
        let part = &points[start..end];
        let mut keep = vec![0, part.len() - 1];
        let by_height = |a: &usize, b: &usize| part[*a][1].total_cmp(&part[*b][1]);
        // The part holds at least one point.
        keep.extend((0..part.len()).min_by(by_height));
        keep.extend((0..part.len()).max_by(by_height));
        keep.sort_unstable();
        keep.dedup();
        out.extend(keep.into_iter().map(|i| part[i]));
        start = end;
    }
    out
}

fn by_distance(points: &[Point], cell: f64) -> Vec<Point> {
    let mut out = vec![points[0]];
    let mut last = points[0];
    for &point in &points[1..] {
        let (dx, dy) = (point[0] - last[0], point[1] - last[1]);
        if dx * dx + dy * dy >= cell * cell {
            out.push(point);
            last = point;
        }
    }
    if let Some(&end) = points.last().filter(|&&end| end != last) {
        out.push(end);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_survive() {
        let mut points: Vec<Point> = (0..100_000).map(|i| [f64::from(i) * 0.01, 5.0]).collect();
        points[77_777][1] = -3.0;
        points[12_345][1] = 9.0;
        let thin = decimate(&points, 0.5);
        assert!(thin.len() < 10_000);
        assert!(thin.contains(&points[77_777]) && thin.contains(&points[12_345]));
        assert_eq!(
            (thin[0], thin[thin.len() - 1]),
            (points[0], points[points.len() - 1])
        );
    }

    #[test]
    fn a_loop_keeps_its_ends() {
        let points: Vec<Point> = (0..=10_000)
            .map(|i| {
                let a = std::f64::consts::TAU * f64::from(i) / 10_000.0;
                [100.0 * a.cos(), 100.0 * a.sin()]
            })
            .collect();
        let thin = decimate(&points, 0.5);
        assert!(thin.len() < 1500 && thin[thin.len() - 1] == points[10_000]);
    }
}
