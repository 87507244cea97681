//! Places and velocities near those of a contact, which the joints allow.

use crate::algebra::dot;
use crate::algebra::splitmix::Splitmix;

use super::joint_surface::JointSurface;

/// Draw number `k` from the balls of radius ε around q and ε/2 around v, onto the joints; nearer where these turn too much on the way.
pub(super) fn nearby(
    joints: &JointSurface,
    (q, v): (&[f64], &[f64]),
    epsilon: f64,
    (seed, k): (u64, u64),
) -> (Vec<f64>, Vec<f64>) {
    let step = in_ball(v.len(), epsilon, seed, 2 * k);
    let turn = in_ball(v.len(), 0.5 * epsilon, seed, 2 * k + 1);
    let mut part = 1.0;
    while part > f64::EPSILON {
        let mut way: Vec<f64> = step.iter().map(|x| part * x).collect();
        let drawn = size(&way);
        joints.allow(q, &mut way);
        // The nearest displacement in the kinetic metric may be a longer one.
        let shorter = (drawn / size(&way)).min(1.0);
        way.iter_mut().for_each(|x| *x *= shorter);
        let mut place = q.to_vec();
        joints.displace(q, &way, &mut place);
        let mut velocity: Vec<f64> = v.iter().zip(&turn).map(|(v, x)| v + part * x).collect();
        let reached = joints.reach(&mut place, &mut way).is_some();
        joints.allow_velocity(&place, &mut velocity);
        let near = size(&way) <= epsilon && apart(&velocity, v) <= 0.5 * epsilon;
        if joints.is_empty() || reached && near {
            return (place, velocity);
        }
        part *= 0.5;
    }
    (q.to_vec(), v.to_vec())
}

fn size(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

pub(super) fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b) * (a - b))
        .sum::<f64>()
        .sqrt()
}

/// Point number `k` of a uniform sample of the ball of so many dimensions.
fn in_ball(dimension: usize, radius: f64, seed: u64, k: u64) -> Vec<f64> {
    let mut point = vec![0.0; dimension];
    for attempt in 0..=60 {
        for (i, x) in point.iter_mut().enumerate() {
            *x = 2.0 * Splitmix::number(seed, (k * 64 + attempt) * 16 + i as u64) - 1.0;
        }
        if dot(&point, &point) <= 1.0 {
            break;
        }
    }
    // A ball of many dimensions fills so little of its cube that no point of it may be met: then one on the way there.
    let outside = size(&point).max(1.0);
    point.iter().map(|x| radius * x / outside).collect()
}
