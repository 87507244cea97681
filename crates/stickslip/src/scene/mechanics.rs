//! A system in generalized coordinates, read from `[system]`, `[[joints]]` and `[initial]`.

use std::ops::Range;

use super::contact::ContactModel;
use super::controllers::ControllerModel;
use super::diagnostic::Diagnostic;
use super::expression::{Binary, Expression, Graph, Tape, nearest_name};
use super::key_kinds::Variables;
use super::reader::Reader;
use super::value::{Table, Value, tables};

/// The mechanics of a scene as expressions of one graph, inputs (t, q, v).
#[derive(Clone, Debug)]
pub(super) struct GeneralizedModel {
    pub graph: Graph,
    pub coordinates: Vec<String>,
    /// Coordinates whose unit is given as one of angles.
    pub angles: Vec<usize>,
    pub system: SystemParts,
    pub contacts: Vec<ContactModel>,
    pub joints: Vec<JointModel>,
    pub controllers: Vec<ControllerModel>,
    /// Motion before the start, where it is given.
    pub history: Vec<Option<Expression>>,
    /// Times of the samples, if the history is given by samples alone.
    pub history_times: Option<Vec<f64>>,
    pub q0: Vec<f64>,
    pub v0: Vec<f64>,
    pub system_span: Range<usize>,
    pub stiffness_span: Option<Range<usize>>,
    pub damping_span: Option<Range<usize>>,
}

/// A joint: its equation and place.
#[derive(Clone, Debug)]
pub(super) struct JointModel {
    pub name: String,
    pub equation: Expression,
    pub span: Range<usize>,
}

/// The parts of `[system]`.
#[derive(Clone, Debug)]
pub(super) struct SystemParts {
    /// M(q), row by row.
    pub mass: Vec<Expression>,
    /// −Ṁ v + ½ ∂_q (v·M v).
    pub covariant_force: Vec<Expression>,
    pub potential: Option<Expression>,
    pub force: Option<Vec<Expression>>,
    pub stiffness: Option<Vec<f64>>,
    pub damping: Option<Vec<f64>>,
    /// Where a mistake about the mass is reported.
    pub mass_span: Range<usize>,
}

/// Reads everything of `[system]` but the coordinates, which are known by now.
pub(super) fn read_system(
    reader: &mut Reader,
    table: &Table,
    place: &Range<usize>,
    q0: &[f64],
) -> Option<SystemParts> {
    let potential = table
        .value("potential")
        .and_then(|v| reader.expression(v, Variables::Position));
    let force = table
        .value("forces")
        .and_then(|value| read_forces(reader, value));
    let stiffness = read_matrix(reader, table, "stiffness");
    let damping = read_matrix(reader, table, "damping");
    let (energy, mass_span) = read_kinetic_energy(reader, table, place, q0)?;

    let n = reader.dof();
    let velocities = reader.velocity_inputs();
    let positions = reader.position_inputs();
    let graph = &mut reader.graph;
    // M = ∂²T/∂v², at v = 0 because T must be quadratic; the check below tells when it is not.
    let zero = graph.constant(0.0);
    let hessian = graph.hessian(energy, &velocities);
    let mass = graph.substitute(&hessian, |k| (k > n).then_some(zero));
    let covariant_force = covariant_force(graph, energy, &positions, &velocities);
    if let Err(mistake) = graph.check_size() {
        return reader.refuse(&mass_span, mistake.to_string());
    }
    check_quadratic(reader, energy, &mass, q0, &mass_span);
    Some(SystemParts {
        mass,
        covariant_force,
        potential,
        force,
        stiffness,
        damping,
        mass_span,
    })
}

/// f_cov = ∂T/∂q − (d/dt at fixed v) ∂T/∂v: Coriolis, centrifugal and gyroscopic terms.
fn covariant_force(
    graph: &mut Graph,
    energy: Expression,
    positions: &[usize],
    velocities: &[usize],
) -> Vec<Expression> {
    let n = positions.len();
    let slope = graph.gradient(energy, positions);
    let momentum = graph.gradient(energy, velocities);
    let rates: Vec<Expression> = velocities.iter().map(|&k| graph.input(k)).collect();
    let direction = |k: usize| {
        if k >= 1 && k <= n {
            Some(rates[k - 1])
        } else {
            None
        }
    };
    let transport = graph.directional_derivative(&momentum, direction);
    slope
        .into_iter()
        .zip(transport)
        .map(|(s, t)| graph.subtract(s, t))
        .collect()
}

/// The kinetic energy, given or ½ v·M v.
fn read_kinetic_energy(
    reader: &mut Reader,
    table: &Table,
    place: &Range<usize>,
    q0: &[f64],
) -> Option<(Expression, Range<usize>)> {
    match (table.get("kinetic_energy"), table.get("mass_matrix")) {
        (Some(energy), None) => {
            let expression = reader.expression(&energy.value, Variables::Motion)?;
            Some((expression, energy.value.span.clone()))
        }
        (None, Some(matrix)) => {
            let rows = read_rows(reader, &matrix.value, "mass_matrix", Variables::Position)?;
            let n = reader.dof();
            if let Some((i, j)) = asymmetric_entry(reader, &rows, q0) {
                let message = format!(
                    "`mass_matrix` is not symmetric: entry ({i}, {j}) is not entry ({j}, {i})"
                );
                return reader.refuse(&matrix.value.span, message);
            }
            let graph = &mut reader.graph;
            let v: Vec<Expression> = (0..n).map(|k| graph.input(1 + n + k)).collect();
            let mut energy = graph.constant(0.0);
            for i in 0..n {
                for j in 0..n {
                    let product = graph.multiply(v[i], v[j]);
                    let term = graph.multiply(rows[i * n + j], product);
                    energy = graph.add(energy, term);
                }
            }
            let half = graph.constant(0.5);
            Some((graph.multiply(half, energy), matrix.value.span.clone()))
        }
        (Some(energy), Some(_)) => {
            let message = "both `kinetic_energy` and `mass_matrix` are given";
            let help = "the mass matrix follows from the kinetic energy: keep one of them";
            reader.refuse_with(&energy.name_span, message, help)
        }
        (None, None) => {
            let message = "missing key `kinetic_energy` in [system]";
            let help = "give `kinetic_energy`, as in \"m*x'^2/2\", or `mass_matrix`";
            reader.refuse_with(place, message, help)
        }
    }
}

/// Row and column (from 1) of an entry that differs from its mirror image. Expressions may differ
/// in writing and agree in value, so the values at a few places decide.
fn asymmetric_entry(reader: &Reader, rows: &[Expression], q0: &[f64]) -> Option<(usize, usize)> {
    let n = q0.len();
    let tape = Tape::compile(&reader.graph, rows);
    let mut registers = tape.registers();
    let mut out = vec![0.0; n * n];
    for shift in [0.0, 0.1, -0.25] {
        let mut inputs = vec![0.0];
        inputs.extend(
            q0.iter()
                .enumerate()
                .map(|(k, q)| q + shift * (1.0 + k as f64)),
        );
        tape.evaluate(&inputs, &mut registers, &mut out);
        let scale = out.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        for i in 0..n {
            for j in 0..i {
                if (out[i * n + j] - out[j * n + i]).abs() > 1e-12 * scale {
                    return Some((i + 1, j + 1));
                }
            }
        }
    }
    None
}

/// A square matrix of expressions, row by row.
fn read_rows(
    reader: &mut Reader,
    value: &Value,
    name: &str,
    variables: Variables,
) -> Option<Vec<Expression>> {
    let n = reader.dof();
    let rows = value.as_list()?;
    let wrong = rows
        .iter()
        .find(|row| row.as_list().is_none_or(|r| r.len() != n));
    if rows.len() != n || wrong.is_some() {
        let message =
            format!("`{name}` must have {n} rows of {n} entries, one for each coordinate");
        let span = wrong.map_or(&value.span, |row| &row.span).clone();
        return reader.refuse(&span, message);
    }
    let mut entries = Vec::with_capacity(n * n);
    let mut whole = true;
    for row in rows {
        match reader.expressions(row.as_list()?, variables) {
            Some(row) => entries.extend(row),
            None => whole = false,
        }
    }
    whole.then_some(entries)
}

fn read_matrix(reader: &mut Reader, table: &Table, name: &str) -> Option<Vec<f64>> {
    let value = table.value(name)?;
    let entries = read_rows(reader, value, name, Variables::Parameters)?;
    let numbers: Option<Vec<f64>> = entries
        .iter()
        .map(|&e| reader.graph.constant_value(e).filter(|x| x.is_finite()))
        .collect();
    if numbers.is_none() {
        let message = format!("an entry of `{name}` is not a finite number");
        reader.report(Diagnostic::at(value.span.clone(), message));
    }
    numbers
}

fn read_forces(reader: &mut Reader, value: &Value) -> Option<Vec<Expression>> {
    let zero = reader.graph.constant(0.0);
    let mut forces = vec![zero; reader.dof()];
    for entry in &value.as_table()?.entries {
        let expression = reader.expression(&entry.value, Variables::Force);
        match reader.coordinate(&entry.name) {
            Some(k) => forces[k] = expression.unwrap_or(zero),
            None => report_unknown_coordinate(reader, &entry.name, &entry.name_span, false),
        }
    }
    Some(forces)
}

fn report_unknown_coordinate(
    reader: &mut Reader,
    name: &str,
    span: &Range<usize>,
    velocities: bool,
) {
    let mut known: Vec<String> = reader.names.coordinates.clone();
    if velocities {
        known.extend(reader.names.coordinates.iter().map(|c| format!("{c}_dot")));
    }
    let help = match nearest_name(name, known.iter().map(String::as_str)) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("known: {}", known.join(", ")),
    };
    let message = format!(
        "`{name}` is not a coordinate{}",
        if velocities { " or velocity" } else { "" }
    );
    reader.report(Diagnostic::at(span.clone(), message).with_help(help));
}

/// Initial coordinates and velocities; what is not given is zero.
pub(super) fn read_initial(reader: &mut Reader, table: Option<&Table>) -> (Vec<f64>, Vec<f64>) {
    let n = reader.dof();
    let mut state = (vec![0.0; n], vec![0.0; n]);
    for entry in table.into_iter().flat_map(|table| &table.entries) {
        let number = reader.constant(&entry.value);
        let velocity = entry
            .name
            .strip_suffix('\'')
            .or(entry.name.strip_suffix("_dot"));
        let name = velocity.unwrap_or(&entry.name);
        match reader.coordinate(name) {
            Some(k) if velocity.is_some() => state.1[k] = number.unwrap_or(0.0),
            Some(k) => state.0[k] = number.unwrap_or(0.0),
            None => report_unknown_coordinate(reader, &entry.name, &entry.name_span, true),
        }
    }
    state
}

/// Motion before the start, by coordinate, and the times of its samples if it has no other parts.
pub(super) fn read_history(
    reader: &mut Reader,
    table: Option<&Table>,
) -> (Vec<Option<Expression>>, Option<Vec<f64>>) {
    let mut history = vec![None; reader.dof()];
    let (mut times, mut sampled) = (vec![0.0], table.is_some());
    for entry in table.into_iter().flat_map(|table| &table.entries) {
        let expression = match entry.value.as_list() {
            Some(list) => read_samples(reader, list, &entry.value.span, &mut times),
            None => {
                sampled = false;
                reader.expression(&entry.value, Variables::Time)
            }
        };
        match reader.coordinate(&entry.name) {
            Some(k) => history[k] = expression,
            None => report_unknown_coordinate(reader, &entry.name, &entry.name_span, false),
        }
    }
    times.sort_by(f64::total_cmp);
    times.dedup();
    (history, (sampled && times.len() > 1).then_some(times))
}

/// Samples `[time, value]` of a coordinate as an expression that is affine between them.
fn read_samples(
    reader: &mut Reader,
    list: &[Value],
    span: &Range<usize>,
    times: &mut Vec<f64>,
) -> Option<Expression> {
    let mut samples: Vec<[f64; 2]> = Vec::new();
    for value in list {
        samples.push(reader.constants(value)?.try_into().ok()?);
    }
    let ordered = samples.windows(2).all(|pair| pair[0][0] < pair[1][0]);
    if !ordered || samples.last().is_none_or(|last| last[0] != 0.0) {
        let message = "the times of the samples must increase and end with 0";
        let help = "for instance x = [[-0.2, 1.0], [-0.1, 1.1], [0, 1.3]]";
        return reader.refuse_with(span, message, help);
    }
    times.extend(samples.iter().map(|sample| sample[0]));
    let graph = &mut reader.graph;
    let t = graph.input(0);
    let mut whole: Option<Expression> = None;
    for pair in samples.windows(2).rev() {
        let [[t0, x0], [t1, x1]] = [pair[0], pair[1]];
        let (start, slope) = (graph.constant(x0), graph.constant((x1 - x0) / (t1 - t0)));
        let (from, to) = (graph.constant(t0), graph.constant(t1));
        let age = graph.subtract(t, from);
        let rise = graph.multiply(slope, age);
        let piece = graph.add(start, rise);
        whole = Some(match whole {
            None => piece,
            Some(later) => {
                let before = graph.binary(Binary::Less, t, to);
                graph.select(before, piece, later)
            }
        });
    }
    whole
}

/// Reads `[[joints]]`.
pub(super) fn read_joints(reader: &mut Reader, list: &[Value]) -> Vec<JointModel> {
    let mut joints: Vec<JointModel> = Vec::new();
    for (k, value, table) in tables(list) {
        let given = table.text("name");
        let name = given.map_or_else(|| format!("joint {}", k + 1), str::to_owned);
        if joints.iter().any(|joint| joint.name == name) {
            let span = table.place("name", value).clone();
            reader.report(Diagnostic::at(
                span,
                format!("two joints are called `{name}`"),
            ));
        }
        let Some(equation) = table.value("equation") else {
            continue;
        };
        if let Some(expression) = reader.expression(equation, Variables::PositionTime) {
            joints.push(JointModel {
                name,
                equation: expression,
                span: equation.span.clone(),
            });
        }
    }
    joints
}

/// Evaluates T − ½ v·M(q) v at a few points: it must vanish.
fn check_quadratic(
    reader: &mut Reader,
    energy: Expression,
    mass: &[Expression],
    q0: &[f64],
    span: &Range<usize>,
) {
    let n = reader.dof();
    let mut outputs = vec![energy];
    outputs.extend(mass);
    let tape = Tape::compile(&reader.graph, &outputs);
    let mut registers = tape.registers();
    let mut out = vec![0.0; outputs.len()];
    for sample in 0..3 {
        // Velocities without a pattern; the first sample is at rest.
        let v: Vec<f64> = (0..n)
            .map(|k| f64::from(sample) * (1.0 + 0.37 * k as f64 + (k as f64).sin()))
            .collect();
        let mut inputs = vec![0.0];
        inputs.extend_from_slice(q0);
        inputs.extend_from_slice(&v);
        tape.evaluate(&inputs, &mut registers, &mut out);
        let mut quadratic = 0.0;
        let mut scale = out[0].abs();
        for i in 0..n {
            for j in 0..n {
                let term = 0.5 * out[1 + i * n + j] * v[i] * v[j];
                quadratic += term;
                scale += term.abs();
            }
        }
        let defect = (out[0] - quadratic).abs();
        if !scale.is_finite() {
            let message = "the kinetic energy is not finite at the initial configuration";
            reader.report(Diagnostic::at(span.clone(), message));
            return;
        }
        if defect > 1e-9 * scale {
            let message = "the kinetic energy is not a quadratic form in the velocities";
            let help = format!(
                "every term must be of second degree in them; at a test velocity it is {:.6e} and half of v.M v is {quadratic:.6e}",
                out[0]
            );
            reader.report(Diagnostic::at(span.clone(), message).with_help(help));
            return;
        }
    }
}
