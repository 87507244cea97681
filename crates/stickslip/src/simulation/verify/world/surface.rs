//! Surfaces of triangles: which normals they have, where a convex shape touches them and how deep it lies in them.

use std::collections::BTreeMap;

use super::geometry::PRECISION;
use super::placed::Placed;
use super::vector::{Vector, cross, dot, norm, sub, to_segment, unit};
use crate::systems::world::{Pose, separating_direction};

/// How far beside a hollow edge, in parts of the size, a corner may touch the plane of a triangle, and the angle up to which edges are hollow.
const BESIDE: f64 = 2e-2;
const HOLLOW: f64 = 1e-6;

/// The triangles, and for every vertex the ends of the edges that meet there.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    facets: Vec<Facet>,
    fans: BTreeMap<Key, Vec<Vector>>,
}

/// A place as a key.
type Key = [u64; 3];

fn key(p: Vector) -> Key {
    p.map(|x| (x + 0.0).to_bits())
}

/// A triangle with what its neighbours say about its edges.
#[derive(Clone, Debug)]
struct Facet {
    corners: [Vector; 3],
    normal: Vector,
    edges: [Edge; 3],
    /// A sphere about it.
    middle: Vector,
    radius: f64,
}

/// An edge of a triangle: the direction in its plane out over the edge, and the corner of the neighbour that is not on it.
#[derive(Clone, Copy, Debug)]
struct Edge {
    outward: Vector,
    apex: Option<Vector>,
}

impl Surface {
    pub fn new(triangles: &[[Vector; 3]]) -> Self {
        let mut sides = BTreeMap::new();
        let mut fans: BTreeMap<Key, Vec<Vector>> = BTreeMap::new();
        for (t, corners) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (from, to) = (corners[k], corners[(k + 1) % 3]);
                sides.insert((key(from), key(to)), t);
                fans.entry(key(from)).or_default().push(to);
                fans.entry(key(to)).or_default().push(from);
            }
        }
        let facet = |&corners: &[Vector; 3]| {
            let [a, b, c] = corners;
            let normal = unit(cross(sub(b, a), sub(c, a)))?;
            let edges = std::array::from_fn(|k| {
                let (from, to) = (corners[k], corners[(k + 1) % 3]);
                let off_edge = |p: &Vector| to_segment(*p, from, to);
                let apex = sides.get(&(key(to), key(from))).and_then(|&t: &usize| {
                    let corners = triangles[t].into_iter();
                    corners.max_by(|p, q| off_edge(p).total_cmp(&off_edge(q)))
                });
                Edge {
                    outward: unit(cross(sub(to, from), normal)).unwrap_or_default(),
                    apex,
                }
            });
            let middle: Vector = std::array::from_fn(|k| (a[k] + b[k] + c[k]) / 3.0);
            let away = corners.map(|p| norm(sub(p, middle)));
            Some(Facet {
                corners,
                normal,
                edges,
                middle,
                radius: away.into_iter().fold(0.0, f64::max),
            })
        };
        Self {
            facets: triangles.iter().filter_map(facet).collect(),
            fans,
        }
    }

    pub fn distance(&self, p: Vector) -> f64 {
        let mut least = f64::INFINITY;
        for facet in &self.facets {
            if facet.is_within(least, p) {
                least = least.min(facet.distance(p));
            }
        }
        least
    }

    /// The angle by which the surface rises beside a point of an edge or a corner of a triangle, above it along a normal: it would be nearer there.
    /// Nothing does so above the plane of the triangle itself.
    fn rises_beside(&self, facet: &Facet, p: Vector, n: Vector, size: f64) -> f64 {
        if norm(sub(n, facet.normal)) <= PRECISION {
            return 0.0;
        }
        let rise = |q: &Vector| {
            let way = sub(*q, p);
            dot(n, way) / norm(way)
        };
        let near = 1e-4 * size;
        let beyond = |k: usize| facet.edges[k].apex.map_or(0.0, |apex| rise(&apex).max(0.0));
        let corner = (0..3).find(|&k| norm(sub(p, facet.corners[k])) <= near);
        if let Some(k) = corner {
            let fan = &self.fans[&key(facet.corners[k])];
            let at_corner = fan.iter().map(rise).fold(0.0, f64::max);
            // On an edge beside the corner the normal is normal to that edge, and the others have no say.
            let on_edge = [k, (k + 2) % 3].into_iter().map(|e| {
                let along = unit(sub(facet.corners[(e + 1) % 3], facet.corners[e]));
                let leans = along.map_or(f64::INFINITY, |along| dot(n, along).abs());
                leans.max(beyond(e))
            });
            return on_edge.fold(at_corner, f64::min);
        }
        let beside = (0..3).filter(|&k| {
            let (from, to) = (facet.corners[k], facet.corners[(k + 1) % 3]);
            to_segment(p, from, to) <= near
        });
        beside.map(beyond).fold(0.0, f64::max)
    }
}

impl Facet {
    /// Whether the sphere about it comes within a distance of a point.
    fn is_within(&self, distance: f64, p: Vector) -> bool {
        let away = sub(p, self.middle);
        let reach = self.radius + distance;
        dot(away, away) <= reach * reach
    }

    fn distance(&self, p: Vector) -> f64 {
        let [a, b, c] = self.corners;
        let sides = [(a, b), (b, c), (c, a)];
        let above = |(k, side): (usize, &(Vector, Vector))| {
            dot(self.edges[k].outward, sub(p, side.0)) <= 0.0
        };
        if sides.iter().enumerate().all(above) {
            return dot(self.normal, sub(p, a)).abs();
        }
        let away = sides.iter().map(|&(x, y)| to_segment(p, x, y));
        away.fold(f64::INFINITY, f64::min)
    }

    /// Distance of a point from the plane of the triangle, which counts beside hollow edges too, between their ends: there it lies below the surface, and
    /// keeps apart nothing that the surface does not. Infinite elsewhere.
    fn off_plane(&self, p: Vector, size: f64) -> f64 {
        let over = (0..3).all(|k| {
            let Edge { outward, apex } = self.edges[k];
            let (from, to) = (self.corners[k], self.corners[(k + 1) % 3]);
            let beside = dot(outward, sub(p, from));
            let way = sub(to, from);
            let share = dot(sub(p, from), way) / dot(way, way);
            let hollow = apex.is_some_and(|apex| {
                dot(self.normal, sub(apex, from)) >= -HOLLOW * norm(sub(apex, from))
            });
            beside <= PRECISION * size
                || (hollow && beside <= BESIDE * size && (-1e-3..=1.001).contains(&share))
        });
        if over {
            dot(self.normal, sub(p, self.corners[0])).abs()
        } else {
            f64::INFINITY
        }
    }

    /// Largest n·x over the triangle at its place.
    fn height(&self, pose: &Pose, n: Vector) -> f64 {
        let heights = self.corners.map(|p| dot(n, pose.point(p)));
        heights.into_iter().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Distance of a convex shape from the triangle along n, which points to the shape.
    fn separation(&self, pose: &Pose, a: &Placed, n: Vector) -> f64 {
        let lowest = a.support(n.map(|x| -x));
        dot(n, lowest) - self.height(pose, n)
    }

    /// The largest distance of a convex shape along directions that are likely to keep it apart; `known` are some.
    fn apart(&self, pose: &Pose, a: &Placed, (known, size): (&[Vector], f64)) -> f64 {
        let face = pose.direction(self.normal);
        // Whoever proposes a direction, the supports decide.
        let farthest = |d: Vector| {
            let local = pose.body_direction(d);
            let height = |p: &Vector| dot(*p, local);
            let far = self
                .corners
                .into_iter()
                .max_by(|p, q| height(p).total_cmp(&height(q)));
            pose.point(far.unwrap_or_default())
        };
        let start = face.map(|x| -x);
        let proposed = separating_direction(|d| a.support(d), farthest, (size, start));
        let proposed = proposed.map(|n| n.map(|x| -x));
        let directions = known.iter().copied().chain([face]).chain(proposed);
        directions
            .map(|n| self.separation(pose, a, n))
            .fold(f64::NEG_INFINITY, f64::max)
    }
}

/// A contact of a convex shape with a surface: its point on the surface and that on the shape, the normal towards the shape, the gap, and the least gap
/// of contacts of both with this normal.
pub(super) struct OnSurface {
    pub on_surface: Vector,
    pub on_shape: Vector,
    pub normal: Vector,
    pub gap: f64,
    pub least: f64,
}

impl OnSurface {
    /// How far the contact is from where it may be, `off` by its places, in parts of the `slack` that lengths have, with `lean` added for places. With one of
    /// the triangles there the shape has its nearest points along the normal: no direction keeps them farther apart. Where the contact itself is that
    /// pair of points, the surface has the normal there, unless the shape touches the triangle or lies across it. Or a corner of the shape lies over the plane of a triangle, along its own normal.
    pub fn off(
        &self,
        a: &Placed,
        (surface, pose): (&Surface, &Pose),
        off: f64,
        (size, slack, lean): (f64, f64, f64),
    ) -> f64 {
        let place = pose.body_point(self.on_surface);
        let n = self.normal;
        let local = pose.body_direction(n);
        let corner = a.form.off_corner(a.pose.body_point(self.on_shape));
        let mut least = f64::INFINITY;
        let near = surface.facets.iter();
        for facet in near.filter(|facet| facet.is_within(2.0 * BESIDE * size, place)) {
            let turned = size * norm(sub(local, facet.normal));
            let beside = corner.max(facet.off_plane(place, size)) / (slack + lean);
            least = least.min(beside.max(turned / slack));
            if least <= 1.0 || facet.distance(place) > 1e-4 * size {
                continue;
            }
            let apart = facet.separation(pose, a, n);
            let farthest = || facet.apart(pose, a, (&[], size));
            let nearest = if self.gap <= apart + slack && self.gap <= self.least {
                let rises = size * surface.rises_beside(facet, place, local, size);
                // A triangle that the shape touches or lies across may be told of whatever rises beside it.
                if self.gap < slack && rises > slack {
                    rises.min(farthest() - apart)
                } else {
                    rises
                }
            } else if self.least <= apart + slack {
                0.0
            } else {
                self.least.min(farthest()) - apart
            };
            least = least.min((nearest / slack).max(off / (slack + lean)));
        }
        least
    }
}

/// How deep a convex shape within `reach` of its centre lies in a surface that it is mostly in front of: the way by which it comes off a triangle with the
/// least motion. What is shallower than `enough` is not looked at closely.
pub(super) fn depth_in(
    (surface, pose): (&Surface, &Pose),
    (a, reach): (&Placed, f64),
    known: &[Vector],
    (enough, size): (f64, f64),
) -> f64 {
    let mut depth = f64::NEG_INFINITY;
    let centre = pose.body_point(a.middle());
    let near = surface.facets.iter();
    for facet in near.filter(|facet| facet.is_within(reach, centre)) {
        if dot(facet.normal, sub(centre, facet.corners[0])) < 0.0 {
            continue;
        }
        let n = pose.direction(facet.normal);
        if -facet.separation(pose, a, n) <= enough {
            continue;
        }
        if facet.distance(centre) <= reach
            && !known
                .iter()
                .any(|&n| -facet.separation(pose, a, n) <= enough)
        {
            depth = depth.max(-facet.apart(pose, a, (known, size)));
        }
    }
    depth
}
