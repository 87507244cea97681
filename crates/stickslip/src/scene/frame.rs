//! Contact frames: rows from a material point, a slip velocity or covectors.

use std::ops::Range;

use crate::systems::frame::misalignment;

use super::contact_places::PlaceModel;
use super::diagnostic::Diagnostic;
use super::expression::{Binary, Expression, Graph, Unary};
use super::key_kinds::Variables;
use super::reader::Reader;
use super::value::{Table, Value};

/// Rows of a contact frame with their drift.
pub(super) struct Frame {
    pub normal: Option<(Vec<Expression>, Expression)>,
    pub tangents: Vec<(Vec<Expression>, Expression)>,
    pub span: Range<usize>,
    /// Where the material point lies, if there is one.
    pub place: Option<PlaceModel>,
}

/// Rows of the frame from `point`, `slip` or `tangents`.
pub(super) fn read_frame(
    reader: &mut Reader,
    table: &Table,
    gap: Option<Expression>,
) -> Option<Frame> {
    let given: Vec<&str> = table.given(&["point", "slip", "tangents"]);
    if let [first, second, ..] = given[..] {
        let span = table.get(second).map(|entry| entry.name_span.clone())?;
        let message = format!("both `{first}` and `{second}` are given");
        let help = "each of `point`, `slip` and `tangents` defines the tangents: keep one";
        return reader.refuse_with(&span, message, help);
    }
    if let Some(entry) = table.get("normal").filter(|_| table.get("point").is_none()) {
        let message = "`normal` needs the material contact point `point`";
        reader.report(Diagnostic::at(entry.name_span.clone(), message));
    }
    match given.first() {
        Some(&"point") => read_point(reader, table, gap),
        Some(&"slip") => {
            let tangents = read_velocities(reader, table, "slip")?;
            Some(Frame {
                normal: None,
                tangents,
                span: table.value("slip")?.span.clone(),
                place: None,
            })
        }
        Some(_) => read_tangents(reader, table.value("tangents")?),
        None => None,
    }
}

/// Material point and surface normal: rows axis·∂x/∂q for the normal and the tangents.
fn read_point(reader: &mut Reader, table: &Table, gap: Option<Expression>) -> Option<Frame> {
    let value = table.value("point")?;
    let point = reader.expressions(value.as_list()?, Variables::Position)?;
    let dimension = point.len();
    let normal = match table.value("normal") {
        Some(normal) => {
            let list = normal.as_list()?;
            if list.len() != dimension {
                let message = format!(
                    "`normal` has {} entries, `point` has {dimension}",
                    list.len()
                );
                return reader.refuse(&normal.span, message);
            }
            let components = reader.expressions(list, Variables::PositionTime)?;
            let zero = reader.graph.constant(0.0);
            if components.iter().all(|&c| c == zero) {
                reader.report(Diagnostic::at(
                    normal.span.clone(),
                    "`normal` is the zero vector",
                ));
                return None;
            }
            components
        }
        None => {
            let inputs = reader.position_inputs();
            let graph = &mut reader.graph;
            match gap.map(|gap| normal_of_gap(graph, gap, &point, &inputs)) {
                Some(GapNormal::Along(normal)) => normal,
                Some(GapNormal::StraightUp) | None => straight_up(graph, dimension),
                Some(GapNormal::Hidden) => {
                    let message =
                        "the gap does not tell the normal: the point cannot move in all directions";
                    let help = "give the unit normal of the obstacle as `normal`, such as `normal = [1, 0]` for a wall on the left";
                    return reader.refuse_with(&value.span, message, help);
                }
            }
        }
    };
    let inputs = reader.position_inputs();
    let graph = &mut reader.graph;
    let normal = unit(graph, &normal);
    let mut axes = vec![normal.clone()];
    if dimension == 2 {
        // The normal turned clockwise: the ground with normal +y has the tangent +x.
        axes.push(vec![normal[1], graph.negate(normal[0])]);
    } else {
        axes.extend(tangents_in_space(graph, &normal));
    }
    let slopes: Vec<Vec<Expression>> = point.iter().map(|&x| graph.gradient(x, &inputs)).collect();
    let zero = graph.constant(0.0);
    let mut rows = axes.iter().map(|axis| {
        let row: Vec<Expression> = (0..inputs.len())
            .map(|i| {
                let terms: Vec<Expression> = (0..dimension)
                    .map(|d| graph.multiply(axis[d], slopes[d][i]))
                    .collect();
                graph.sum(&terms)
            })
            .collect();
        (row, zero)
    });
    let normal = rows.next();
    let tangents = rows.collect();
    let place = Some(PlaceModel {
        position: point,
        axes,
    });
    Some(Frame {
        normal,
        tangents,
        span: value.span.clone(),
        place,
    })
}

fn straight_up(graph: &mut Graph, dimension: usize) -> Vec<Expression> {
    let mut up = vec![graph.constant(0.0); dimension];
    up[dimension - 1] = graph.constant(1.0);
    up
}

/// Draws of the values at which a gap is asked whether it grows straight up everywhere, and how far off it may be by rounding.
const DRAWS: u64 = 4;
const ROUNDING: f64 = 1e-13;

/// What a gap tells of its normal.
enum GapNormal {
    /// It grows straight up, everywhere.
    StraightUp,
    /// The point cannot move in all directions, so that normals of several surfaces have the same gap.
    Hidden,
    /// A vector along the normal.
    Along(Vec<Expression>),
}

/// The normal of the surface where the gap is zero.
///
/// A gap that reads nothing but the place of its point has dφ = nᵀ ∂x/∂q with n along its normal, so that n = (J Jᵀ)⁻¹ J dφ with J = ∂x/∂q;
/// its length is brought to 1 afterwards, and (J Jᵀ)⁻¹ is replaced by its adjugate.
fn normal_of_gap(
    graph: &mut Graph,
    gap: Expression,
    point: &[Expression],
    inputs: &[usize],
) -> GapNormal {
    let slopes = graph.gradient(gap, inputs);
    let motions: Vec<Vec<Expression>> = point.iter().map(|&x| graph.gradient(x, inputs)).collect();
    if grows_along(graph, &slopes, &motions[point.len() - 1]) {
        return GapNormal::StraightUp;
    }
    let product = |graph: &mut Graph, a: &[Expression], b: &[Expression]| {
        let pairs = a.iter().zip(b).map(|(&a, &b)| graph.multiply(a, b));
        let pairs: Vec<Expression> = pairs.collect();
        graph.sum(&pairs)
    };
    let d = point.len();
    let right: Vec<Expression> = (0..d)
        .map(|k| product(graph, &motions[k], &slopes))
        .collect();
    let square: Vec<Vec<Expression>> = (0..d)
        .map(|k| {
            (0..d)
                .map(|l| product(graph, &motions[k], &motions[l]))
                .collect()
        })
        .collect();
    let cofactors = adjugate(graph, &square);
    let determinant = product(graph, &square[0], &cofactors[0]);
    let sizes: Vec<Expression> = (0..d).map(|k| square[k][k]).collect();
    if vanishes(graph, determinant, &sizes) {
        return GapNormal::Hidden;
    }
    let rows = cofactors.iter();
    GapNormal::Along(rows.map(|row| product(graph, row, &right)).collect())
}

/// Whether a determinant is zero identically beside the product of its diagonal.
fn vanishes(graph: &Graph, determinant: Expression, diagonal: &[Expression]) -> bool {
    let both: Vec<Expression> = std::iter::once(determinant)
        .chain(diagonal.iter().copied())
        .collect();
    (0..DRAWS).all(|draw| {
        let values = graph.generic_values(&both, draw);
        values[0].abs() <= ROUNDING * values[1..].iter().product::<f64>()
    })
}

/// Whether dφ points along a row identically, whatever functions both are made of: a bump far away is no place to be missed.
fn grows_along(graph: &Graph, slopes: &[Expression], row: &[Expression]) -> bool {
    if slopes == row {
        return true;
    }
    let both: Vec<Expression> = slopes.iter().chain(row).copied().collect();
    (0..DRAWS).all(|draw| {
        let values = graph.generic_values(&both, draw);
        let (slopes, row) = values.split_at(slopes.len());
        misalignment(slopes, row) <= ROUNDING
    })
}

/// The adjugate of a symmetric matrix with two or three rows.
fn adjugate(graph: &mut Graph, a: &[Vec<Expression>]) -> Vec<Vec<Expression>> {
    if a.len() == 2 {
        let off = graph.negate(a[0][1]);
        return vec![vec![a[1][1], off], vec![off, a[0][0]]];
    }
    let mut minor = |i: usize, j: usize| {
        let [(r, s), (k, l)] = [i, j].map(|i| ((i + 1) % 3, (i + 2) % 3));
        let (first, second) = (
            graph.multiply(a[r][k], a[s][l]),
            graph.multiply(a[r][l], a[s][k]),
        );
        graph.subtract(first, second)
    };
    (0..3)
        .map(|i| (0..3).map(|j| minor(i, j)).collect())
        .collect()
}

fn unit(graph: &mut Graph, vector: &[Expression]) -> Vec<Expression> {
    let squares: Vec<Expression> = vector.iter().map(|&c| graph.multiply(c, c)).collect();
    let square = graph.sum(&squares);
    let length = graph.unary(Unary::Sqrt, square);
    vector.iter().map(|&c| graph.divide(c, length)).collect()
}

/// Two unit vectors that complete a unit normal to a right-handed basis, continuous except where
/// the sign of its last component changes (Duff and others, 2017; the same as
/// [`crate::systems::frame::orthonormal_tangents`]).
fn tangents_in_space(graph: &mut Graph, n: &[Expression]) -> [Vec<Expression>; 2] {
    let zero = graph.constant(0.0);
    let one = graph.constant(1.0);
    let minus_one = graph.constant(-1.0);
    let upward = graph.binary(Binary::LessEqual, zero, n[2]);
    let sign = graph.select(upward, one, minus_one);
    let sum = graph.add(sign, n[2]);
    let a = graph.divide(minus_one, sum);
    let xy = graph.multiply(n[0], n[1]);
    let b = graph.multiply(xy, a);
    let xx = graph.multiply(n[0], n[0]);
    let xxa = graph.multiply(xx, a);
    let signed = graph.multiply(sign, xxa);
    let yy = graph.multiply(n[1], n[1]);
    let yya = graph.multiply(yy, a);
    let sx = graph.multiply(sign, n[0]);
    [
        vec![
            graph.add(one, signed),
            graph.multiply(sign, b),
            graph.negate(sx),
        ],
        vec![b, graph.add(sign, yya), graph.negate(n[1])],
    ]
}

/// Velocities given as expressions: their coefficients are the rows, the rest is the drift.
pub(super) fn read_velocities(
    reader: &mut Reader,
    table: &Table,
    key: &str,
) -> Option<Vec<(Vec<Expression>, Expression)>> {
    let value = table.value(key)?;
    let velocities = reader.one_or_more(value, Variables::State)?;
    let inputs = reader.velocity_inputs();
    let n = reader.dof();
    let zero = reader.graph.constant(0.0);
    let mut rows = Vec::new();
    for (k, &velocity) in velocities.iter().enumerate() {
        let span = value
            .as_list()
            .and_then(|list| list.get(k))
            .map_or(&value.span, |v| &v.span);
        let row = reader.graph.gradient(velocity, &inputs);
        if row.iter().any(|&entry| reader.dependence(entry).velocity) {
            return reader.refuse(span, format!("`{key}` must be linear in the velocities"));
        }
        if row.iter().all(|&entry| entry == zero) {
            let message = format!("`{key}` does not depend on the velocities");
            let help = "write velocities as x' or x_dot, as in \"x' - r*phi'\"";
            return reader.refuse_with(span, message, help);
        }
        let drift = reader
            .graph
            .substitute(&[velocity], |k| (k > n).then_some(zero))[0];
        rows.push((row, drift));
    }
    Some(rows)
}

fn read_tangents(reader: &mut Reader, value: &Value) -> Option<Frame> {
    let n = reader.dof();
    let zero = reader.graph.constant(0.0);
    let mut tangents = Vec::new();
    for row in value.as_list()? {
        let entries = row.as_list()?;
        if entries.len() != n {
            let message = format!(
                "a tangent has {} entries, expected {n}: one coefficient for each velocity",
                entries.len()
            );
            return reader.refuse(&row.span, message);
        }
        tangents.push((reader.expressions(entries, Variables::Position)?, zero));
    }
    Some(Frame {
        normal: None,
        tangents,
        span: value.span.clone(),
        place: None,
    })
}

/// A gap that depends on time belongs to a surface that moves along its normal: with dφ = c r, r the
/// normal row, the normal velocity at rest is (∂φ/∂t)/c.
pub(super) fn with_moving_surface(reader: &mut Reader, mut frame: Frame, gap: Expression) -> Frame {
    let inputs = reader.position_inputs();
    let graph = &mut reader.graph;
    let rate = graph.gradient(gap, &[0])[0];
    if let Some((row, drift)) = frame
        .normal
        .as_mut()
        .filter(|_| graph.constant_value(rate) != Some(0.0))
    {
        let slopes = graph.gradient(gap, &inputs);
        let mut square = |entries: &[Expression]| {
            let squares: Vec<Expression> = entries.iter().map(|&e| graph.multiply(e, e)).collect();
            graph.sum(&squares)
        };
        let (own, whole) = (square(row), square(&slopes));
        let ratio = graph.divide(own, whole);
        let factor = graph.unary(Unary::Sqrt, ratio);
        *drift = graph.multiply(rate, factor);
    }
    frame
}
