//! Free flight of one body.

use crate::systems::rigid::UnitQuaternion;
use crate::systems::world::{Pose, Twist};

use super::vector::{Vector, along, norm};

/// Turn up to which the midpoint rule is one rule; longer turns are equal parts.
const PART: f64 = 0.5;

/// The pose and twist after free flight over `h`, forwards or backwards: the midpoint rule in body axes,
/// `J(ω₁ − ω₀) + h ω_m × J ω_m = 0`, and the Cayley map of h ω_m. Not a number where the rule has no answer.
pub(super) fn free_flight(pose: &Pose, twist: &Twist, inertia: Vector, h: f64) -> (Pose, Twist) {
    let position = along(pose.position, h, twist.velocity);
    let round = inertia[0] == inertia[1] && inertia[1] == inertia[2];
    let parts_of = |spin: Vector| {
        if round {
            1.0
        } else {
            (h.abs() * norm(spin) / PART).ceil().max(1.0)
        }
    };
    let (mut rotation, mut spin) =
        turned(pose.rotation, twist.spin, inertia, h, parts_of(twist.spin));
    // Backwards the parts are those of the spin at which the flight began.
    if h < 0.0 && parts_of(spin) != parts_of(twist.spin) {
        (rotation, spin) = turned(pose.rotation, twist.spin, inertia, h, parts_of(spin));
    }
    let velocity = twist.velocity;
    (Pose { position, rotation }, Twist { velocity, spin })
}

fn turned(
    mut rotation: [f64; 4],
    mut spin: Vector,
    inertia: Vector,
    h: f64,
    parts: f64,
) -> ([f64; 4], Vector) {
    if !(parts < 1e5) {
        return ([f64::NAN; 4], [f64::NAN; 3]);
    }
    let part = h / parts;
    for _ in 0..parts as usize {
        let middle = middle_spin(spin, inertia, part);
        let [x, y, z] = middle.map(|w| 0.5 * part * w);
        rotation = UnitQuaternion(rotation)
            .times(UnitQuaternion([1.0, x, y, z]))
            .normalized()
            .0;
        spin = std::array::from_fn(|k| 2.0 * middle[k] - spin[k]);
    }
    (rotation, spin)
}

/// ω_m by iteration: |J₃ − J₂| ≤ J₁ for a body, so that half a radian contracts.
fn middle_spin(spin: Vector, [j1, j2, j3]: Vector, h: f64) -> Vector {
    let mut w = spin;
    let size = norm(spin);
    for _ in 0..1000 {
        let next = [
            spin[0] - 0.5 * h * (j3 - j2) * w[1] * w[2] / j1,
            spin[1] - 0.5 * h * (j1 - j3) * w[2] * w[0] / j2,
            spin[2] - 0.5 * h * (j2 - j1) * w[0] * w[1] / j3,
        ];
        let change = (0..3).map(|k| (next[k] - w[k]).abs()).fold(0.0, f64::max);
        w = next;
        if change <= 1e-16 * size {
            return w;
        }
        if !change.is_finite() {
            break;
        }
    }
    // The last digit may turn in circles.
    if w.iter().all(|x| x.is_finite()) {
        w
    } else {
        [f64::NAN; 3]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_is_where_it_began() {
        let pose = Pose::turned([1.0, 2.0, 3.0], [0.3, 0.1, -0.7]);
        let twist = Twist {
            velocity: [0.1, -3.0, 1.0],
            spin: [3.0, 80.0, -20.0],
        };
        let inertia = [1.0, 1.7, 2.2];
        let (there, moving) = free_flight(&pose, &twist, inertia, 0.01);
        let (back, again) = free_flight(&there, &moving, inertia, -0.01);
        let apart = |a: &[f64], b: &[f64]| -> f64 {
            a.iter()
                .zip(b)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max)
        };
        assert!(apart(&there.rotation, &pose.rotation) > 0.1);
        assert!(apart(&back.rotation, &pose.rotation) < 1e-14);
        assert!(apart(&back.position, &pose.position) < 1e-14);
        assert!(apart(&again.spin, &twist.spin) < 1e-12);
        // Energy and spatial angular momentum stay.
        let spatial = |pose: &Pose, twist: &Twist| {
            pose.direction(std::array::from_fn(|k| inertia[k] * twist.spin[k]))
        };
        assert!(apart(&spatial(&pose, &twist), &spatial(&there, &moving)) < 1e-11);
    }
}
