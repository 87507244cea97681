//! The frozen layer of one contact in space whose section is a polygon: piecewise linear, from event to event.

use super::spatial::SpatialImpact;
use crate::laws::FrictionSection;
use crate::laws::section_quadratic::minimize_in_section;

/// Events after which an impact counts as endless.
const EVENTS_MAX: usize = 1_000;
/// Slip below this part of the speeds of the impact has stopped.
const STOPPED: f64 = 1e-12;

/// Corners of a section that is a polygon, counterclockwise; none if it is another one.
pub(super) fn corners(section: &FrictionSection) -> Option<Vec<[f64; 2]>> {
    match section {
        FrictionSection::Polytope { polytope, scale } if section.dimension() == 2 => {
            let corners = polytope.vertices().map(|v| [scale * v[0], scale * v[1]]);
            Some(corners.collect()).filter(|c: &Vec<[f64; 2]>| c.len() > 2)
        }
        FrictionSection::Product { factors, scale } if factors.len() == 2 => {
            let (a, b) = (factors[0].ends()?, factors[1].ends()?);
            let [a, b] = [a, b].map(|(low, high)| (scale * low, scale * high));
            let corners = [[a.0, b.0], [a.1, b.0], [a.1, b.1], [a.0, b.1]];
            let whole = a.0 < a.1 && b.0 < b.1 && corners.iter().flatten().all(|x| x.is_finite());
            whole.then(|| corners.to_vec())
        }
        _ => None,
    }
}

/// What friction does until the next event; it is constant.
#[derive(Clone, Copy, Debug)]
struct Piece {
    friction: [f64; 2],
    /// The corner that it is, if it is one while slip may turn past its neighbours. Otherwise slip stays on the ray of an edge, or
    /// goes on as it began, until it stops.
    corner: Option<usize>,
}

fn product(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

struct PolygonLayer<'a> {
    w: &'a [f64],
    section: &'a FrictionSection,
    corners: Vec<[f64; 2]>,
    u: [f64; 3],
}

impl PolygonLayer<'_> {
    /// d(u_t)/dp under a friction.
    fn turning(&self, s: [f64; 2]) -> [f64; 2] {
        [1, 2].map(|i| self.w[3 * i] + self.w[3 * i + 1] * s[0] + self.w[3 * i + 2] * s[1])
    }

    fn edge(&self, i: usize, j: usize) -> [f64; 2] {
        let (a, b) = (self.corners[i], self.corners[j]);
        [b[0] - a[0], b[1] - a[1]]
    }

    /// Slip that begins, or does not: the friction that agrees with what it leads to.
    fn begin_slip(&self) -> Piece {
        let a = [self.w[4], self.w[5], self.w[7], self.w[8]];
        let b = [self.w[3], self.w[6]];
        let mut friction = [0.0; 2];
        let mut work = [0.0; 12];
        minimize_in_section(self.section, &a, &b, 1.0, &mut friction, &mut work);
        Piece {
            friction,
            corner: None,
        }
    }

    /// On the ray of the edge between two corners: back to one of them, or held there.
    fn on_ray(&self, i: usize, j: usize) -> Piece {
        let edge = self.edge(i, j);
        let rate = |k: usize| product(edge, self.turning(self.corners[k]));
        let (first, last) = (rate(i), rate(j));
        let corner = |k: usize| Piece {
            friction: self.corners[k],
            corner: Some(k),
        };
        if first >= 0.0 {
            return corner(i);
        }
        if last <= 0.0 {
            return corner(j);
        }
        let t = -first / (last - first);
        Piece {
            friction: [0, 1].map(|k| self.corners[i][k] + t * edge[k]),
            corner: None,
        }
    }

    /// Normal impulse until friction changes, and the neighbouring corner whose ray is met then.
    fn next_event(&self, piece: &Piece) -> (f64, Option<usize>) {
        let slip = [self.u[1], self.u[2]];
        let turning = self.turning(piece.friction);
        let Some(i) = piece.corner else {
            let falling = -product(slip, turning);
            let stop = product(slip, slip) / falling;
            return (if falling > 0.0 { stop } else { f64::INFINITY }, None);
        };
        let count = self.corners.len();
        let mut first = (f64::INFINITY, None);
        for j in [(i + 1) % count, (i + count - 1) % count] {
            let edge = self.edge(i, j);
            let (above, rate) = (product(slip, edge).max(0.0), product(turning, edge));
            if rate < 0.0 && above / -rate < first.0 {
                first = (above / -rate, Some(j));
            }
        }
        first
    }

    /// Friction after an event at the end of a piece.
    fn after(&mut self, piece: &Piece, met: Option<usize>, speed: f64) -> Piece {
        let slip = [self.u[1], self.u[2]];
        let stopped = product(slip, slip).sqrt() <= STOPPED * speed;
        match (piece.corner, met) {
            (Some(i), Some(j)) if !stopped => {
                // On the ray itself, not beside it by rounding.
                let edge = self.edge(i, j);
                let off = product(slip, edge) / product(edge, edge);
                self.u[1] -= off * edge[0];
                self.u[2] -= off * edge[1];
                self.on_ray(i, j)
            }
            _ => {
                self.u[1..].fill(0.0);
                self.begin_slip()
            }
        }
    }

    fn begin(&self) -> Piece {
        let slip = [self.u[1], self.u[2]];
        if slip == [0.0; 2] {
            return self.begin_slip();
        }
        let against = |k: &usize| product(slip, self.corners[*k]);
        let order = |a: &usize, b: &usize| against(a).total_cmp(&against(b));
        let corner = (0..self.corners.len()).min_by(order).unwrap_or(0);
        Piece {
            friction: self.corners[corner],
            corner: Some(corner),
        }
    }
}

/// The impact of [`super::spatial::energetic_impact_in_space`] for a polygon with these corners.
///
/// Between events friction is one corner, a point that holds the slip on the ray of an edge, or the force of stick: velocities are
/// linear in the normal impulse and the normal work is quadratic. Exact to rounding.
pub(super) fn polygon_impact(
    w: &[f64],
    velocity: &[f64],
    section: &FrictionSection,
    corners: Vec<[f64; 2]>,
    restitution: f64,
) -> SpatialImpact {
    let u = [velocity[0], velocity[1], velocity[2]];
    let speed = u.iter().fold(0.0f64, |s, x| s.max(x.abs()));
    let mut layer = PolygonLayer {
        w,
        section,
        corners,
        u,
    };
    let (mut impulse, mut path) = ([0.0; 3], Vec::new());
    let (mut taken, mut given) = (0.0, 0.0);
    let mut piece = layer.begin();
    let mut finished = false;
    let lifting = |s: [f64; 2]| w[0] + w[1] * s[0] + w[2] * s[1];
    // Without approach nothing happens unless friction itself presses the point in.
    if u[0] > 0.0 || speed == 0.0 || (u[0] == 0.0 && lifting(piece.friction) >= 0.0) {
        return SpatialImpact {
            impulse: impulse.to_vec(),
            velocity: velocity.to_vec(),
            compression: 0.0,
            finished: true,
            path: Vec::new(),
        };
    }
    for _ in 0..EVENTS_MAX {
        let lift = lifting(piece.friction);
        let start = layer.u[0];
        let expands = start > 0.0 || (start == 0.0 && lift > 0.0);
        let (mut length, met) = layer.next_event(&piece);
        let (mut turns, mut done) = (false, false);
        if start * lift < 0.0 && -start / lift <= length {
            (length, turns) = (-start / lift, true);
        }
        if expands {
            // start p + lift p²/2 is what is owed, at the first p.
            let owed = (restitution * restitution * taken - given).max(0.0);
            let root = (start * start + 2.0 * lift * owed).max(0.0).sqrt();
            let reaches = start * start + 2.0 * lift * owed >= 0.0 && start + root > 0.0;
            let needed = if owed == 0.0 {
                0.0
            } else {
                2.0 * owed / (start + root)
            };
            if reaches && needed <= length {
                (length, turns, done) = (needed, false, true);
            }
        }
        if !length.is_finite() {
            break;
        }
        let work = length * (start + 0.5 * lift * length);
        if expands {
            given += work;
        } else {
            taken -= work;
        }
        let [a, b] = layer.turning(piece.friction);
        for (u, rate) in layer.u.iter_mut().zip([lift, a, b]) {
            *u += length * rate;
        }
        for (p, rate) in impulse
            .iter_mut()
            .zip([1.0, piece.friction[0], piece.friction[1]])
        {
            *p += length * rate;
        }
        path.push(impulse.to_vec());
        if turns {
            layer.u[0] = 0.0;
        }
        finished = done || (turns && restitution == 0.0 && !expands);
        if finished {
            break;
        }
        if !turns {
            piece = layer.after(&piece, met, speed);
        }
    }
    SpatialImpact {
        impulse: impulse.to_vec(),
        velocity: layer.u.to_vec(),
        compression: taken,
        finished,
        path,
    }
}
