//! Faces of bodies: their shade, and those of their edges that are seen.

use std::collections::BTreeMap;

use super::canvas::{Color, Fill, Point, Stroke};
use super::panel::Item;
use super::snapshot::{Piece, cross, dot, length, project};

/// Direction of the light, of length one.
const LIGHT: [f64; 3] = [-0.3, -0.52, 0.8];
/// Cosine of the largest angle between two faces of a round surface.
const ROUND: f64 = 0.85;

/// The faces of a body that are seen. Edges between faces of a round surface are not drawn, unless one of the two looks away.
pub fn pieces(
    corners: &[[f64; 3]],
    faces: &[Vec<u32>],
    planar: bool,
    (colour, rim): (Color, Option<Stroke>),
) -> Vec<Piece> {
    let places =
        |face: &Vec<u32>| -> Vec<[f64; 3]> { face.iter().map(|&i| corners[i as usize]).collect() };
    let edges = |face: &Vec<u32>| -> Vec<(u32, u32)> {
        let next = face.iter().cycle().skip(1);
        face.iter().zip(next).map(|(&a, &b)| (a, b)).collect()
    };
    let mut neighbours: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    if rim.is_some() && !planar {
        for (k, face) in faces.iter().enumerate() {
            neighbours.extend(edges(face).into_iter().map(|edge| (edge, k)));
        }
    }
    let normals: Vec<[f64; 3]> = faces.iter().map(|face| normal(&places(face))).collect();
    let seen = |k: usize| area(&on_paper(&places(&faces[k]), planar)) > 0.0;
    let drawn = |k: usize, (a, b): (u32, u32)| match neighbours.get(&(b, a)) {
        Some(&other) => dot(normals[k], normals[other]) < ROUND || !seen(other),
        None => true,
    };
    let outlined = |(k, face): (usize, &Vec<u32>)| {
        let outline = rim.map(|stroke| {
            let shown = edges(face).into_iter().map(|edge| drawn(k, edge)).collect();
            (stroke, shown)
        });
        piece(&places(face), planar, colour, outline)
    };
    faces.iter().enumerate().filter_map(outlined).collect()
}

/// A face with its shade and those of its edges that are drawn; none where it looks away, and a line for two corners.
pub fn piece(
    places: &[[f64; 3]],
    planar: bool,
    colour: Color,
    outline: Option<(Stroke, Vec<bool>)>,
) -> Option<Piece> {
    let depths = places.iter().map(|&p| project(p, planar).1);
    let depth = depths.sum::<f64>() / places.len().max(1) as f64;
    let mut corners = on_paper(places, planar);
    if corners.len() == 2 {
        let stroke = Stroke::solid(colour.mixed(Color::BLACK, 0.4), 1.6);
        let items = vec![Item::Curve(corners, stroke)];
        return Some(Piece { depth, items });
    }
    if corners.len() < 3 || (!planar && area(&corners) <= 0.0) {
        return None;
    }
    let fill = match planar {
        true => colour,
        false => {
            let bright = dot(normal(places), LIGHT).max(0.0);
            colour.mixed(Color::BLACK, 0.3 * (1.0 - bright))
        }
    };
    let mut items = vec![Item::Area(corners.clone(), Fill::Solid(fill))];
    corners.push(corners[0]);
    match outline {
        Some((stroke, shown)) if shown.iter().all(|&edge| edge) => {
            items.push(Item::Curve(corners, stroke));
        }
        outline => {
            let (stroke, shown) = outline.unwrap_or((Stroke::solid(fill, 0.3), Vec::new()));
            let pairs: Vec<Vec<Point>> = corners.windows(2).map(<[Point]>::to_vec).collect();
            // Neighbours would show a seam without an edge of their own colour.
            items.push(Item::Curve(corners, Stroke::solid(fill, 0.3)));
            let shown = pairs.into_iter().zip(shown).filter(|(_, edge)| *edge);
            items.extend(shown.map(|(pair, _)| Item::Curve(pair, stroke)));
        }
    }
    Some(Piece { depth, items })
}

fn on_paper(places: &[[f64; 3]], planar: bool) -> Vec<Point> {
    places.iter().map(|&p| project(p, planar).0).collect()
}

/// The outward normal of a face, of length one; zero for a line.
fn normal(places: &[[f64; 3]]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    // Of all triangles at the first corner: three corners in line do not spoil it.
    for k in 1..places.len().saturating_sub(1) {
        let side = |j: usize| std::array::from_fn(|i| places[j][i] - places[0][i]);
        let part = cross(side(k), side(k + 1));
        sum = std::array::from_fn(|i| sum[i] + part[i]);
    }
    let size = length(sum).max(f64::MIN_POSITIVE);
    sum.map(|x| x / size)
}

/// Signed area on paper: faces that look away are not seen.
fn area(p: &[Point]) -> f64 {
    (0..p.len())
        .map(|k| {
            let (a, b) = (p[k], p[(k + 1) % p.len()]);
            a[0] * b[1] - a[1] * b[0]
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickslip::internals::view::palette::HELD;

    #[test]
    fn faces_are_seen_from_outside_only() {
        // The top of a box, corners against the clock as seen from above, and its bottom.
        let top = [
            [0.0, 0.0, 1.0],
            [1.0, 0.0, 1.0],
            [1.0, 1.0, 1.0],
            [0.0, 1.0, 1.0],
        ];
        assert!(piece(&top, false, HELD, None).is_some());
        let mut bottom = top.map(|p| [p[0], p[1], 0.0]);
        bottom.reverse();
        assert!(piece(&bottom, false, HELD, None).is_none());
    }

    /// A prism of n sides, each face against the clock as seen from outside.
    fn prism(n: u32) -> (Vec<[f64; 3]>, Vec<Vec<u32>>) {
        let ring = |z: f64| {
            (0..n).map(move |k| {
                let angle = std::f64::consts::TAU * f64::from(k) / f64::from(n);
                [angle.cos(), angle.sin(), z]
            })
        };
        let mut faces: Vec<Vec<u32>> = (0..n)
            .map(|k| vec![k, (k + 1) % n, n + (k + 1) % n, n + k])
            .collect();
        faces.push((n..2 * n).collect());
        faces.push((0..n).rev().collect());
        (ring(0.0).chain(ring(2.0)).collect(), faces)
    }

    /// Lines of the colour of edges, by their number of segments.
    fn edges(n: u32) -> usize {
        let (corners, faces) = prism(n);
        let rim = Stroke::solid(Color::BLACK, 1.0);
        let found = pieces(&corners, &faces, false, (HELD, Some(rim)));
        let items = found.into_iter().flat_map(|piece| piece.items);
        items
            .map(|item| match item {
                Item::Curve(points, stroke) if stroke.color == Color::BLACK => points.len() - 1,
                _ => 0,
            })
            .sum()
    }

    #[test]
    fn edges_of_round_surfaces_are_not_drawn() {
        // Of a box the top and two sides are seen, with all their edges.
        assert_eq!(edges(4), 4 + 2 * 4);
        // Of a round column the rim of the top, the rims of half of its sides, and the two sides of its outline.
        let drawn = edges(40);
        assert!((40 + 36..=40 + 44 + 2).contains(&drawn), "{drawn}");
    }
}
