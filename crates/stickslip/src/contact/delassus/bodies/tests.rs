//! The operator against dense algebra.

use super::*;

fn random(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    ((*state >> 11) as f64 / (1u64 << 53) as f64) - 0.5
}

/// Contacts of different sizes, with fixed sides, a pair that touches twice and one body that touches itself; the operator and
/// its J as a dense matrix.
fn sample(freedoms: usize, seed: u64) -> (BodyOperator, Vec<f64>) {
    let mut state = seed;
    let bodies = 4;
    let contacts: [(usize, [u32; 2]); 6] = [
        (3, [0, 1]),
        (4, [1, 2]),
        (3, [NO_BODY, 2]),
        (6, [3, NO_BODY]),
        (2, [1, 0]),
        (3, [2, 2]),
    ];
    let columns = bodies * freedoms;
    let mut operator = BodyOperator::default();
    // Buffers are reused: what was there before must not matter.
    operator.begin(6, 1);
    operator.push(2, [0, NO_BODY]).fill(7.0);
    operator.begin(freedoms, bodies);
    let mut jacobian = Vec::new();
    for (rows, sides) in contacts {
        let numbers = operator.push(rows, sides);
        assert!(numbers.iter().all(|&x| x == 0.0));
        for r in 0..rows {
            let first = jacobian.len();
            jacobian.resize(first + columns, 0.0);
            for (s, side) in sides.into_iter().enumerate() {
                for k in 0..freedoms {
                    if side != NO_BODY {
                        let value = random(&mut state);
                        numbers[r * 2 * freedoms + s * freedoms + k] = value;
                        jacobian[first + side as usize * freedoms + k] += value;
                    }
                }
            }
        }
    }
    (operator, jacobian)
}

#[test]
fn products_blocks_and_traces_are_those_of_j_times_its_transpose() {
    for (freedoms, seed) in [(6, 3), (3, 11)] {
        let (operator, jacobian) = sample(freedoms, seed);
        let (n, columns) = (operator.rows(), operator.bodies() * freedoms);
        assert_eq!(jacobian.len(), n * columns);
        let row = |i: usize| &jacobian[i * columns..(i + 1) * columns];
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} against {b}");
        let dense = operator.dense();
        let mut trace = 0.0;
        for i in 0..n {
            for j in 0..n {
                let exact: f64 = row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum();
                near(dense[i * n + j], exact);
                near(operator.entry(i, j), exact);
            }
            trace += dense[i * n + i];
        }
        near(operator.trace(), trace);
        let mut state = seed + 1;
        let p: Vec<f64> = (0..n).map(|_| random(&mut state)).collect();
        let mut w = vec![0.25; n];
        operator.multiply_add(&p, &mut w, &mut Vec::new());
        let mut v = vec![0.5; columns];
        operator.add_velocity(&p, &mut v);
        for (k, v) in v.iter().enumerate() {
            let exact: f64 = (0..n).map(|i| row(i)[k] * p[i]).sum();
            near(*v, 0.5 + exact);
        }
        for i in 0..n {
            let exact: f64 = (0..n).map(|j| dense[i * n + j] * p[j]).sum();
            near(w[i], 0.25 + exact);
            let exact: f64 = row(i).iter().zip(&v).map(|(a, b)| a * b).sum();
            near(operator.row_product(i, &v), exact);
        }
        let mut block = Vec::new();
        for contact in 0..operator.contacts() {
            operator.diagonal_block(contact, &mut block);
            let rows = operator.rows_of(contact);
            for (k, value) in block.iter().enumerate() {
                let (i, j) = (rows.start + k / rows.len(), rows.start + k % rows.len());
                near(*value, dense[i * n + j]);
                assert_eq!(operator.contact_of(i), contact);
            }
        }
        // Contacts of different sizes have no block-sparse form.
        assert!(operator.blocks().is_none());
    }
}
