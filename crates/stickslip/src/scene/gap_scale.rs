//! How long a gap is per metre, of a contact that is given by `slip` or `tangents`.
//!
//! Slip is in metres, a gap may be a multiple of a distance. Coordinates over which the slip rows have length one, at right angles to
//! each other, one coordinate more than there are rows, are displacements in metres of what slips: over them the gradient of a distance has
//! length one as well, and that of the gap the length of its scale. Masses tell nothing of that, a block on a cart and a wheel may have equal ones.
//! Where no such coordinates are found, or several that disagree, the scale cannot be told, and the gap is a distance in metres by itself.

use crate::algebra::splitmix::Splitmix;

use super::contact::PointModel;
use super::expression::{Expression, Graph, Node, Unary};
use super::mechanics::GeneralizedModel;
use super::program::Program;

/// Places at which rows are looked at, and how many must have numbers.
const DRAWS: usize = 12;
const SEEN: usize = 4;

/// Scales that differ by less than this part are the same.
const SAME: f64 = 1e-9;
/// How exactly a slip row has length one, and squares of entries that do not tell it from one without them: `y' + r*phi'` with a
/// small number for r, as in kilometres, has none over y and phi.
const UNIT: f64 = 1e-12;
const SMALL: f64 = 1e-11;

/// Length of the gradient of a gap over displacements in metres, and these; none if it is one or cannot be told.
pub(super) fn gap_scale(
    model: &GeneralizedModel,
    gradient: &[Expression],
    point: &PointModel,
    graph: &mut Graph,
) -> Option<(Expression, Vec<usize>)> {
    let sliding = point.friction.parts.first()?.dimension();
    let tangents = &point.tangent_rows[..sliding];
    let places = rows_at_places(model, gradient, tangents, graph)?;
    let read = |i: &usize| {
        places
            .iter()
            .any(|rows| rows.iter().any(|row| row[*i] != 0.0))
    };
    let angles = angles(model, graph);
    let lengths: Vec<usize> = (0..gradient.len())
        .filter(|i| read(i) && !angles.contains(i))
        .collect();

    // All choices of coordinates that are displacements of what slips.
    let mut found: Option<(Vec<usize>, Vec<f64>)> = None;
    let mut chosen = Vec::with_capacity(1 + sliding);
    let agree = for_each_choice(&lengths, 1 + sliding, &mut chosen, &mut |chosen| {
        let scales: Option<Vec<f64>> = places.iter().map(|rows| scale_at(rows, chosen)).collect();
        let Some(scales) = scales else {
            return true;
        };
        match &found {
            Some((_, known)) => known
                .iter()
                .zip(&scales)
                .all(|(a, b)| (a - b).abs() <= SAME * a.max(*b)),
            None => {
                found = Some((chosen.to_vec(), scales));
                true
            }
        }
    });
    let (chosen, scales) = found.filter(|_| agree)?;
    if scales.iter().all(|s| (s - 1.0).abs() <= SAME) {
        return None;
    }
    let squares: Vec<Expression> = chosen
        .iter()
        .map(|&i| graph.multiply(gradient[i], gradient[i]))
        .collect();
    let square = graph.sum(&squares);
    Some((graph.unary(Unary::Sqrt, square), chosen))
}

/// Gradient of the gap and slip rows at drawn places where they have numbers; none if there are too few.
fn rows_at_places(
    model: &GeneralizedModel,
    gradient: &[Expression],
    tangents: &[Vec<Expression>],
    graph: &Graph,
) -> Option<Vec<Vec<Vec<f64>>>> {
    let n = gradient.len();
    let entries: Vec<Expression> = gradient
        .iter()
        .chain(tangents.iter().flatten())
        .copied()
        .collect();
    // Rows of time and place alone.
    if entries
        .iter()
        .any(|&e| graph.inputs_of(e).iter().any(|&k| k > n))
    {
        return None;
    }
    let program = Program::compile(graph, &entries, n);
    let reach = model.q0.iter().fold(1.0f64, |s, q| s.max(q.abs()));
    let mut random = Splitmix(0x6a9);
    let mut drawn = || 2.0 * random.unit() - 1.0;
    let mut places = Vec::new();
    for _ in 0..DRAWS {
        let q: Vec<f64> = model.q0.iter().map(|q| q + reach * drawn()).collect();
        let mut values = vec![0.0; entries.len()];
        program.write(drawn().abs(), &q, &mut values);
        if values.iter().all(|x| x.is_finite()) {
            places.push(values.chunks(n).map(<[f64]>::to_vec).collect());
        }
    }
    (places.len() >= SEEN).then_some(places)
}

/// Length of the gradient over the chosen coordinates, if the slip rows have length one there and are at right angles.
fn scale_at(rows: &[Vec<f64>], chosen: &[usize]) -> Option<f64> {
    let product = |a: &[f64], b: &[f64]| -> f64 { chosen.iter().map(|&i| a[i] * b[i]).sum() };
    let is_small = |x: f64| x != 0.0 && x * x <= SMALL;
    let (normal, tangents) = rows.split_first()?;
    for (k, row) in tangents.iter().enumerate() {
        let crossed = tangents[..k].iter().map(|other| product(row, other).abs());
        let unit = (product(row, row) - 1.0).abs();
        if !(crossed.fold(unit, f64::max) <= UNIT) || chosen.iter().any(|&i| is_small(row[i])) {
            return None;
        }
    }
    let length = product(normal, normal).sqrt();
    (length > 0.0).then_some(length)
}

/// Coordinates whose unit says so, and those that are arguments of sines, cosines and tangents by themselves, alone or in sums: angles. In
/// `sin(k*x)` of a wave x is none.
fn angles(model: &GeneralizedModel, graph: &mut Graph) -> Vec<usize> {
    let mut roots = model.system.mass.clone();
    roots.extend(model.system.potential);
    roots.extend(model.system.force.iter().flatten());
    for contact in &model.contacts {
        roots.push(contact.gap);
        for point in &contact.points {
            roots.extend(point.normal_row.iter().flatten());
            roots.extend(point.tangent_rows.iter().flatten());
        }
    }
    let n = model.coordinates.len();
    let positions: Vec<usize> = (1..=n).collect();
    let mut found = model.angles.clone();
    for argument in arguments(graph, &roots) {
        let slopes = graph.gradient(argument, &positions);
        let alone = slopes.iter().enumerate().filter(|(_, slope)| {
            let slope = graph.constant_value(**slope);
            slope.is_some_and(|slope| slope.abs() == 1.0)
        });
        found.extend(alone.map(|(i, _)| i));
    }
    found
}

/// What sines, cosines and tangents are taken of.
fn arguments(graph: &Graph, roots: &[Expression]) -> Vec<Expression> {
    let nodes = graph.reachable(roots).into_iter();
    nodes
        .filter_map(|node| match graph.node(node) {
            Node::Unary(Unary::Sin | Unary::Cos | Unary::Tan, argument) => Some(argument),
            _ => None,
        })
        .collect()
}

/// Calls `visit` for every choice of `count` of the given numbers, until it says no; whether it never did.
fn for_each_choice(
    from: &[usize],
    count: usize,
    chosen: &mut Vec<usize>,
    visit: &mut impl FnMut(&[usize]) -> bool,
) -> bool {
    if count == 0 {
        return visit(chosen);
    }
    for (k, &i) in from.iter().enumerate() {
        chosen.push(i);
        let go_on = for_each_choice(&from[k + 1..], count - 1, chosen, visit);
        chosen.pop();
        if !go_on {
            return false;
        }
    }
    true
}
