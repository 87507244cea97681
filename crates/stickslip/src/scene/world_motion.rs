//! Motions and forces of bodies, as expressions.

use std::ops::Range;
use std::sync::Arc;

use super::diagnostic::Diagnostic;
use super::expression::Expression;
use super::key_kinds::Variables;
use super::program::Program;
use super::reader::{Dependence, Reader};
use super::value::{Table, Value};
use crate::algebra::cross;
use crate::systems::world::{BodyForce, Dimension, DrivenMotion, Load, Pose, Twist};

/// Names of position, velocity and spin in forces.
pub(super) fn state_names(dimension: Dimension) -> &'static [(&'static str, usize)] {
    match dimension {
        Dimension::Space => &[
            ("x", 1),
            ("y", 2),
            ("z", 3),
            ("vx", 7),
            ("vy", 8),
            ("vz", 9),
            ("wx", 10),
            ("wy", 11),
            ("wz", 12),
        ],
        Dimension::Plane => &[("x", 1), ("y", 2), ("vx", 7), ("vy", 8), ("w", 12)],
    }
}

/// Inputs of forces: three places (and three that are not used), three velocities, three spins.
const INPUTS: usize = 6;

/// Makes position, velocity and spin of a body known to expressions.
pub(super) fn define_state(reader: &mut Reader, dimension: Dimension) {
    for &(name, input) in state_names(dimension) {
        let expression = reader.graph.input(input);
        let dependence = Dependence {
            time: false,
            position: input <= INPUTS,
            velocity: input > INPUTS,
            past: false,
            held: false,
        };
        reader.define(name, expression, dependence, "part of the state of a body");
    }
}

/// Force and torque of a body.
pub(super) struct SceneLoad {
    program: Program,
}

impl BodyForce for SceneLoad {
    fn load(&self, t: f64, pose: &Pose, twist: &Twist) -> Load {
        let [x, y, z] = pose.position;
        let ([vx, vy, vz], [wx, wy, wz]) = (twist.velocity, twist.spin);
        let mut out = [0.0; 6];
        self.program.state(
            t,
            &[x, y, z, 0.0, 0.0, 0.0],
            &[vx, vy, vz, wx, wy, wz],
            &mut out,
        );
        let [fx, fy, fz, mx, my, mz] = out;
        Load {
            force: [fx, fy, fz],
            torque: [mx, my, mz],
        }
    }
}

/// Reads `force` and `torque`; none if neither is given.
pub(super) fn read_load(
    reader: &mut Reader,
    table: &Table,
    dimension: Dimension,
) -> Option<Arc<SceneLoad>> {
    let zero = reader.graph.constant(0.0);
    let mut outputs = [zero; 6];
    let (force, torque) = (table.value("force"), table.value("torque"));
    if force.is_none() && torque.is_none() {
        return None;
    }
    if let Some(value) = force {
        let list = reader.expressions(value.as_list()?, Variables::State)?;
        expect_count(reader, value, "force", list.len(), dimension.axes());
        for (out, part) in outputs.iter_mut().zip(&list) {
            *out = *part;
        }
    }
    if let Some(value) = torque {
        let list = reader.one_or_more(value, Variables::State)?;
        let count = if dimension == Dimension::Space { 3 } else { 1 };
        expect_count(reader, value, "torque", list.len(), count);
        let first = if dimension == Dimension::Space { 3 } else { 5 };
        for (out, part) in outputs[first..].iter_mut().zip(&list) {
            *out = *part;
        }
    }
    for &part in &outputs {
        reader.data.force(&reader.graph, part);
    }
    let program = Program::compile(&reader.graph, &outputs, INPUTS);
    Some(Arc::new(SceneLoad { program }))
}

fn expect_count(reader: &mut Reader, value: &Value, key: &str, found: usize, expected: usize) {
    if found != expected {
        let entries = if expected == 1 { "entry" } else { "entries" };
        let message = format!("`{key}` has {expected} {entries} in this world, found {found}");
        reader.report(Diagnostic::at(value.span.clone(), message));
    }
}

/// A motion given in time.
pub(super) struct SceneMotion {
    /// Position, rotation vector, and their rates.
    program: Program,
    dimension: Dimension,
    /// Where the rotation is that of the body at the start, constant.
    fixed_rotation: Option<[f64; 4]>,
    /// Shift of one body of a grid.
    shift: [f64; 3],
}

impl SceneMotion {
    fn values(&self, t: f64) -> [f64; 12] {
        let mut out = [0.0; 12];
        self.program.write(t, &[], &mut out);
        out
    }

    /// The same motion elsewhere.
    pub fn shifted(&self, shift: [f64; 3]) -> Self {
        Self {
            program: self.program.clone(),
            dimension: self.dimension,
            fixed_rotation: self.fixed_rotation,
            shift,
        }
    }
}

impl DrivenMotion for SceneMotion {
    fn pose(&self, t: f64) -> Pose {
        let v = self.values(t);
        let position = std::array::from_fn(|k| v[k] + self.shift[k]);
        let mut pose = match self.dimension {
            Dimension::Space => Pose::turned(position, [v[3], v[4], v[5]]),
            Dimension::Plane => Pose::planar(position[0], position[1], v[5]),
        };
        if let Some(rotation) = self.fixed_rotation {
            pose.rotation = rotation;
        }
        pose
    }

    fn velocity(&self, t: f64) -> Twist {
        let v = self.values(t);
        let (turned, rate) = ([v[3], v[4], v[5]], [v[9], v[10], v[11]]);
        let spin = match (self.fixed_rotation, self.dimension) {
            (Some(_), _) => [0.0; 3],
            (None, Dimension::Plane) => [0.0, 0.0, v[11]],
            (None, Dimension::Space) => body_spin(turned, rate),
        };
        Twist {
            velocity: [v[6], v[7], v[8]],
            spin,
        }
    }
}

/// Angular velocity in body axes from a rotation vector r and its rate: ω = r' − (1 − cos a)/a² r × r' + (a − sin a)/a³ r × (r × r').
fn body_spin(r: [f64; 3], rate: [f64; 3]) -> [f64; 3] {
    let square: f64 = r.iter().map(|x| x * x).sum();
    let angle = square.sqrt();
    // By their series where the quotients would lose digits.
    let (first, second) = if angle < 1e-3 {
        (0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0)
    } else {
        let half = (0.5 * angle).sin();
        (
            2.0 * half * half / square,
            (angle - angle.sin()) / (square * angle),
        )
    };
    let once = cross(r, rate);
    let twice = cross(r, once);
    std::array::from_fn(|k| rate[k] - first * once[k] + second * twice[k])
}

/// Reads `motion`; what it does not give stays as at the start.
pub(super) fn read_motion(
    reader: &mut Reader,
    table: &Table,
    start: &Pose,
    dimension: Dimension,
) -> Option<SceneMotion> {
    let value = table.value("motion")?;
    let motion = value.as_table()?;
    let mut outputs: Vec<Expression> = start
        .position
        .iter()
        .map(|&x| reader.graph.constant(x))
        .collect();
    let zero = reader.graph.constant(0.0);
    outputs.resize(6, zero);
    if motion.entries.is_empty() {
        let message = "`motion` gives neither position nor rotation";
        let help = "a body that does not move is `fixed = true`";
        reader.report(Diagnostic::at(value.span.clone(), message).with_help(help));
    }
    if let Some(position) = motion.value("position") {
        let list = reader.expressions(position.as_list()?, Variables::Time)?;
        expect_count(reader, position, "position", list.len(), dimension.axes());
        outputs[..list.len().min(3)].copy_from_slice(&list[..list.len().min(3)]);
    }
    let mut fixed_rotation = Some(start.rotation);
    if let Some(rotation) = motion.value("rotation") {
        let list = reader.one_or_more(rotation, Variables::Time)?;
        let count = if dimension == Dimension::Space { 3 } else { 1 };
        expect_count(reader, rotation, "rotation", list.len(), count);
        let first = if dimension == Dimension::Space { 3 } else { 5 };
        for (out, part) in outputs[first..].iter_mut().zip(&list) {
            *out = *part;
        }
        fixed_rotation = None;
    }
    reader.data.moves = true;
    let one = reader.graph.constant(1.0);
    let direction = |input: usize| (input == 0).then_some(one);
    let rates = reader.graph.directional_derivative(&outputs, direction);
    outputs.extend(rates);
    let motion = SceneMotion {
        program: Program::compile(&reader.graph, &outputs, 0),
        dimension,
        fixed_rotation,
        shift: [0.0; 3],
    };
    check_start(reader, table, (&motion, start), value.span.clone());
    Some(motion)
}

/// What two ways to write one place may differ by, in parts of the lengths at hand.
const SAME: f64 = 1e-9;

/// What stands beside the motion must agree with it at the start.
fn check_start(
    reader: &mut Reader,
    table: &Table,
    (motion, start): (&SceneMotion, &Pose),
    span: Range<usize>,
) {
    let values = motion.values(0.0);
    if values.iter().any(|x| !x.is_finite()) {
        reader.report(Diagnostic::at(
            span,
            "the motion is not finite at the start",
        ));
        return;
    }
    let begin = motion.pose(0.0);
    let far = |a: &[f64], b: &[f64], size: f64| {
        (a.iter().zip(b)).any(|(x, y)| !((x - y).abs() <= SAME * size))
    };
    // Lengths are compared with those of the motion.
    let until = reader.data.domain.until;
    let mut places = vec![start.position, begin.position];
    places.extend([0.37 * until, until].map(|t| motion.pose(t).position));
    let lengths = places.iter().flatten().filter(|x| x.is_finite());
    let length = lengths.fold(0.0f64, |size, x| size.max(x.abs()));
    if let Some(value) = table.value("position")
        && far(&begin.position, &start.position, length)
    {
        let message = "`position` and `motion` do not agree at the start";
        let at = begin.position;
        let help = format!("the motion starts at {at:?}");
        reader.report(Diagnostic::at(value.span.clone(), message).with_help(help));
    }
    let given = table.value("rotation").or(table.value("quaternion"));
    let opposite = start.rotation.map(|x| -x);
    if let Some(value) = given
        && far(&begin.rotation, &start.rotation, 1.0)
        && far(&begin.rotation, &opposite, 1.0)
    {
        let message = "`rotation` and `motion` do not agree at the start";
        reader.report(Diagnostic::at(value.span.clone(), message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spin_of_a_rotation_vector_agrees_with_differences_of_rotations() {
        let r = |t: f64| [0.3 + t, -0.5 * t * t + 0.2, (2.0 * t).sin()];
        let rate = |t: f64| [1.0, -t, 2.0 * (2.0 * t).cos()];
        for t in [0.0, 0.4, 1.3] {
            let spin = body_spin(r(t), rate(t));
            let h = 1e-6;
            let (before, after) = (
                Pose::turned([0.0; 3], r(t - h)),
                Pose::turned([0.0; 3], r(t + h)),
            );
            let now = Pose::turned([0.0; 3], r(t));
            for k in 0..3 {
                let mut axis = [0.0; 3];
                axis[k] = 1.0;
                let (a, b) = (before.direction(axis), after.direction(axis));
                let velocity =
                    now.body_direction(std::array::from_fn(|i| (b[i] - a[i]) / (2.0 * h)));
                let expected = [
                    spin[1] * axis[2] - spin[2] * axis[1],
                    spin[2] * axis[0] - spin[0] * axis[2],
                    spin[0] * axis[1] - spin[1] * axis[0],
                ];
                for i in 0..3 {
                    assert!(
                        (velocity[i] - expected[i]).abs() < 1e-8,
                        "{velocity:?} {expected:?}"
                    );
                }
            }
        }
    }
}
