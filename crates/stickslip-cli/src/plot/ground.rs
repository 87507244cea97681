//! Half-spaces behind the pictures of worlds.

use stickslip::internals::view::palette::HELD;

use super::canvas::{Color, Fill, Hatch, Stroke};
use super::panel::Item;
use super::snapshot::{VIEW, Window, cross, dot, length, project};

/// What lies behind a line, hatched.
pub fn half_plane(p: [f64; 3], n: [f64; 3], (window, size): (Window, f64), out: &mut Vec<Item>) {
    let (middle, reach) = (window.middle(), 3.0 * size);
    // The foot of the middle of the picture, and along the line and behind it from there.
    let off = n[0] * (middle[0] - p[0]) + n[1] * (middle[1] - p[1]);
    let at = |along: f64, behind: f64| {
        [
            middle[0] - off * n[0] - along * n[1] - behind * n[0],
            middle[1] - off * n[1] + along * n[0] - behind * n[1],
        ]
    };
    let fill = Fill::Hatched {
        hatch: Hatch::Rising,
        color: Color::FAINT,
        ground: Color::WHITE.mixed(HELD, 0.35),
    };
    let (a, b) = (at(-reach, 0.0), at(reach, 0.0));
    out.push(Item::Area(
        vec![a, b, at(reach, reach), at(-reach, reach)],
        fill,
    ));
    out.push(Item::Curve(vec![a, b], Stroke::solid(Color::INK, 1.2)));
}

/// A part of a plane in space, with a grid, under the middle of the picture.
pub fn surface(p: [f64; 3], n: [f64; 3], (window, size): (Window, f64), out: &mut Vec<Item>) {
    // Seen from behind it would hide everything.
    if dot(n, VIEW[2]) >= -0.05 {
        return;
    }
    let start = if n[0].abs() < 0.9 {
        [1.0, 0.0, 0.0]
    } else {
        [0.0, 1.0, 0.0]
    };
    let along = cross(n, cross(start, n));
    let along = along.map(|x| x / length(along));
    let across = cross(n, along);
    // The point of the plane that is seen in the middle of the picture.
    let middle = window.middle();
    let eye: [f64; 3] = std::array::from_fn(|k| middle[0] * VIEW[0][k] + middle[1] * VIEW[1][k]);
    let off: [f64; 3] = std::array::from_fn(|k| p[k] - eye[k]);
    let s = dot(off, n) / dot(VIEW[2], n);
    let centre: [f64; 3] = std::array::from_fn(|k| eye[k] + s * VIEW[2][k]);
    let reach = 1.6 * size;
    let at = |a: f64, b: f64| {
        let place = |k: usize| centre[k] + reach * (a * along[k] + b * across[k]);
        project(std::array::from_fn(place), false).0
    };
    let corners = vec![at(-1.0, -1.0), at(1.0, -1.0), at(1.0, 1.0), at(-1.0, 1.0)];
    let ground = Color::WHITE.mixed(HELD, 0.22);
    out.push(Item::Area(corners, Fill::Solid(ground)));
    let line = Stroke::solid(Color::WHITE.mixed(HELD, 0.45), 0.6);
    for k in -6..=6 {
        let share = f64::from(k) / 6.0;
        out.push(Item::Curve(vec![at(share, -1.0), at(share, 1.0)], line));
        out.push(Item::Curve(vec![at(-1.0, share), at(1.0, share)], line));
    }
}
