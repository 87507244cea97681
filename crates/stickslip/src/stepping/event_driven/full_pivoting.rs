//! Elimination with full pivoting.

/// Solution of a small square system, and the directions in which it may move without leaving it, one for each pivot that vanishes. The unknowns of such pivots are zero, or with
/// weights such that Σ w x² is least.
pub(super) fn solve_full_pivoting(
    matrix: &mut [f64],
    right: &mut [f64],
    weights: Option<&[f64]>,
) -> (Vec<f64>, Vec<Vec<f64>>) {
    let m = right.len();
    let mut columns: Vec<usize> = (0..m).collect();
    let largest = matrix.iter().fold(0.0f64, |x, y| x.max(y.abs()));
    let mut rank = m;
    for k in 0..m {
        let (mut row, mut column, mut best) = (k, k, 0.0);
        for i in k..m {
            for j in k..m {
                if matrix[i * m + j].abs() > best {
                    (row, column, best) = (i, j, matrix[i * m + j].abs());
                }
            }
        }
        if best <= 1e-13 * largest {
            rank = k;
            break;
        }
        if row != k {
            for j in 0..m {
                matrix.swap(row * m + j, k * m + j);
            }
            right.swap(row, k);
        }
        if column != k {
            for i in 0..m {
                matrix.swap(i * m + column, i * m + k);
            }
            columns.swap(column, k);
        }
        for i in k + 1..m {
            let factor = matrix[i * m + k] / matrix[k * m + k];
            for j in k..m {
                matrix[i * m + j] -= factor * matrix[k * m + j];
            }
            right[i] -= factor * right[k];
        }
    }
    // The pivots for a right-hand side given by its rows.
    let substitute = |right: &dyn Fn(usize) -> f64| {
        let mut solution = vec![0.0; m];
        for k in (0..rank).rev() {
            let mut sum = right(k);
            for j in k + 1..rank {
                sum -= matrix[k * m + j] * solution[columns[j]];
            }
            solution[columns[k]] = sum / matrix[k * m + k];
        }
        solution
    };
    let mut solution = substitute(&|k| right[k]);
    let idle: Vec<Vec<f64>> = (rank..m)
        .map(|free| {
            let mut direction = substitute(&|k| -matrix[k * m + free]);
            direction[columns[free]] = 1.0;
            direction
        })
        .collect();
    if let Some(weights) = weights.filter(|_| rank < m) {
        let inner = |a: &[f64], b: &[f64]| (0..m).map(|i| weights[i] * a[i] * b[i]).sum::<f64>();
        let mut square: Vec<f64> = Vec::new();
        for a in &idle {
            square.extend(idle.iter().map(|b| inner(a, b)));
        }
        let mut along: Vec<f64> = idle.iter().map(|a| -inner(a, &solution)).collect();
        let (lengths, _) = solve_full_pivoting(&mut square, &mut along, None);
        for (direction, length) in idle.iter().zip(lengths) {
            for (x, d) in solution.iter_mut().zip(direction) {
                *x += length * d;
            }
        }
    }
    (solution, idle)
}
