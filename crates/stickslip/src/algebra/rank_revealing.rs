//! Small linear systems of any rank.

/// Solution set of A x = b: one solution and the directions in which it may move.
#[derive(Clone, Debug, Default)]
pub struct SolutionSet {
    /// A solution, with zeros in the free variables.
    pub point: Vec<f64>,
    /// Basis of the null space of A.
    pub directions: Vec<Vec<f64>>,
    /// Largest defect of the equations that a consistent system would not have.
    pub inconsistency: f64,
}

/// Gauss elimination with full pivoting of a square row-major matrix; pivots below `tolerance` times the
/// largest entry count as zero.
pub fn solve_any_rank(a: &[f64], b: &[f64], tolerance: f64) -> SolutionSet {
    let n = b.len();
    let mut a = a.to_vec();
    let mut b = b.to_vec();
    let mut order: Vec<usize> = (0..n).collect();
    let largest = a.iter().fold(0.0f64, |s, x| s.max(x.abs()));
    let mut rank = 0;
    while rank < n {
        let (mut row, mut column, mut size) = (rank, rank, 0.0);
        for i in rank..n {
            for j in rank..n {
                if a[i * n + j].abs() > size {
                    (row, column, size) = (i, j, a[i * n + j].abs());
                }
            }
        }
        if size <= tolerance * largest {
            break;
        }
        for j in 0..n {
            a.swap(rank * n + j, row * n + j);
        }
        b.swap(rank, row);
        for i in 0..n {
            a.swap(i * n + rank, i * n + column);
        }
        order.swap(rank, column);
        let pivot = a[rank * n + rank];
        for i in (0..n).filter(|&i| i != rank) {
            let factor = a[i * n + rank] / pivot;
            if factor != 0.0 {
                for j in rank..n {
                    a[i * n + j] -= factor * a[rank * n + j];
                }
                b[i] -= factor * b[rank];
            }
        }
        rank += 1;
    }
    let mut set = SolutionSet {
        point: vec![0.0; n],
        directions: Vec::new(),
        inconsistency: b[rank..].iter().fold(0.0, |s: f64, x| s.max(x.abs())),
    };
    for i in 0..rank {
        set.point[order[i]] = b[i] / a[i * n + i];
    }
    for free in rank..n {
        let mut direction = vec![0.0; n];
        direction[order[free]] = 1.0;
        for i in 0..rank {
            direction[order[i]] = -a[i * n + free] / a[i * n + i];
        }
        set.directions.push(direction);
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_system_has_a_point_and_a_direction() {
        let a = [1.0, 2.0, 2.0, 4.0];
        let set = solve_any_rank(&a, &[3.0, 6.0], 1e-12);
        assert_eq!(set.directions.len(), 1);
        assert!(set.inconsistency < 1e-14);
        assert!((set.point[0] + 2.0 * set.point[1] - 3.0).abs() < 1e-14);
        let d = &set.directions[0];
        assert!((d[0] + 2.0 * d[1]).abs() < 1e-14);
        assert!(solve_any_rank(&a, &[3.0, 7.0], 1e-12).inconsistency > 0.1);
    }
}
