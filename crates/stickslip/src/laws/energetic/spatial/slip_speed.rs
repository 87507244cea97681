//! Friction of the slip speed inside a layer: that of the speed at the end of each substep.

use super::Layer;
use crate::algebra::small_dense::dot;

/// Trials of the slip speed; a secant takes a handful.
const TRIALS_MAX: usize = 100;
/// Differences of slip speeds below this part of them are rounding.
const ROUNDING: f64 = 4e-15;

impl Layer<'_> {
    /// The friction of a substep that begins with this slip, with the section of the slip speed at its end.
    ///
    /// What is left, |u_t| − s, is not negative at s = 0 and falls in the end: secants inside the bracket, halves where they leave it.
    /// A law that jumps up takes any value between at the jump.
    pub(super) fn oppose_at_slip(&mut self, factor: &dyn Fn(f64) -> f64, slip: &[f64]) {
        let start = dot(slip, slip).sqrt();
        let (mut low, mut high) = (0.0f64, f64::INFINITY);
        let mut previous: Option<(f64, f64)> = None;
        let mut s = start;
        for _ in 0..TRIALS_MAX {
            self.oppose(factor(s));
            let found = self.slip_speed();
            let left = found - s;
            if left.abs() <= ROUNDING * start.max(s).max(found) {
                return;
            }
            if left > 0.0 {
                low = s;
            } else {
                high = s;
            }
            if high.is_finite() && high - low <= ROUNDING * high {
                self.oppose_between((factor(low), factor(high)), high);
                return;
            }
            let secant = match previous {
                Some((before, then)) if left != then => s - left * (s - before) / (left - then),
                _ => found,
            };
            previous = Some((s, left));
            s = if secant > low && secant < high {
                secant
            } else if high.is_finite() {
                0.5 * (low + high)
            } else {
                found
            };
        }
    }

    /// Where friction jumps up at the slip speed `s`, so that less of it ends above and more below: what keeps the point at that speed.
    fn oppose_between(&mut self, (mut less, mut more): (f64, f64), s: f64) {
        for _ in 0..TRIALS_MAX {
            let middle = 0.5 * (less + more);
            self.oppose(middle);
            let found = self.slip_speed();
            if found == s || (more - less).abs() <= f64::EPSILON * middle {
                return;
            }
            let end = if found > s { &mut less } else { &mut more };
            *end = middle;
        }
    }

    /// Slip speed at the end of the substep at hand.
    fn slip_speed(&self) -> f64 {
        let d = self.right.len();
        let squares = (0..d).map(|i| {
            let row = &self.scaled[i * d..(i + 1) * d];
            (self.right[i] + dot(row, &self.friction)).powi(2)
        });
        squares.sum::<f64>().sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::super::energetic_impact_at_slip;
    use crate::laws::FrictionSection;

    /// Slip speed of a unit mass after the normal impulse `p` under μ = a + b exp(−s/c): exp(s/c) is linear in exp(−a p/c).
    fn slowed(start: f64, [a, b, c]: [f64; 3], p: f64) -> f64 {
        let x = ((start / c).exp() + b / a) * (-a * p / c).exp() - b / a;
        if x > 1.0 { c * x.ln() } else { 0.0 }
    }

    #[test]
    fn a_particle_loses_the_integral_of_friction_over_its_slip_speed() {
        let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        // Rising, falling, and so steeply falling that a single step would have several answers.
        for law in [
            [0.2, 0.3, 1.0],
            [0.5, -0.4, 0.7],
            [0.1, 0.8, 0.5],
            [0.2, 0.5, 0.01],
        ] {
            for start in [3.0, 1.0, 0.3] {
                for e in [0.0, 0.5, 1.0] {
                    let factor = |s: f64| law[0] + law[1] * (-s / law[2]).exp();
                    let expected = slowed(start, law, 1.0 + e);
                    let disc = FrictionSection::disc(1.0).unwrap();
                    let u = [-1.0, 0.6 * start, -0.8 * start];
                    let found = energetic_impact_at_slip(&identity, &u, &disc, &factor, e);
                    assert!(found.finished);
                    for (v, expected) in
                        found
                            .velocity
                            .iter()
                            .zip([e, 0.6 * expected, -0.8 * expected])
                    {
                        assert!(
                            (v - expected).abs() < 1e-10,
                            "{law:?} {start} {e}: {found:?}"
                        );
                    }
                    // One tangent, as the planar contact has it.
                    let segment = FrictionSection::segment(1.0).unwrap();
                    let plane = [1.0, 0.0, 0.0, 1.0];
                    let found =
                        energetic_impact_at_slip(&plane, &[-1.0, start], &segment, &factor, e);
                    assert!(
                        (found.velocity[1] - expected).abs() < 1e-10,
                        "{law:?}: {found:?}"
                    );
                }
            }
        }
    }

    /// Where friction of a slow slip reverses it, and that of a fast one does not hold it.
    #[test]
    fn a_constant_factor_gives_the_layer_of_the_section_it_makes() {
        let w = [2.0, -1.1, 0.4, -1.1, 1.6, 0.2, 0.4, 0.2, 1.3];
        for u in [[-1.0, 0.7, 0.2], [-1.0, 0.7, 0.0], [-0.3, -1.0, 0.5]] {
            let unit = FrictionSection::ellipse([1.0, 0.5]).unwrap();
            let found = energetic_impact_at_slip(&w, &u, &unit, &|_| 0.3, 0.8);
            let scaled = super::super::energetic_impact_in_space(&w, &u, &unit.scaled(0.3), 0.8);
            for (a, b) in found.velocity.iter().zip(&scaled.velocity) {
                assert!((a - b).abs() < 1e-11, "{found:?} {scaled:?}");
            }
        }
    }

    /// Friction that grows from rest within next to no speed: the point creeps where it holds what would drive it.
    #[test]
    fn slip_creeps_where_rising_friction_holds_it() {
        let w = [1.0, 0.3, 0.2, 0.3, 1.0, 0.0, 0.2, 0.0, 1.5];
        let drive = [0.3f64, 0.2 / 1.5];
        let held = drive[0].hypot(drive[1]);
        for scale in [1e-3, 1e-6, 1e-9, 1e-12] {
            let factor = |s: f64| 0.5 - 0.4 * (-s / scale).exp();
            let disc = FrictionSection::disc(1.0).unwrap();
            let found = energetic_impact_at_slip(&w, &[-1.0, 0.1, 0.05], &disc, &factor, 1.0);
            assert!(found.finished && found.path.len() < 2_000, "{scale}");
            let creep = scale * (0.4 / (0.5 - held)).ln() / held;
            for (v, drive) in found.velocity[1..].iter().zip(drive) {
                assert!(
                    (v - creep * drive).abs() < 1e-5 * scale,
                    "{scale}: {found:?}"
                );
            }
        }
    }

    /// A law that jumps up at the speed 1 holds the point there, from below and from above; one that jumps down lets it through.
    #[test]
    fn a_jump_of_friction_holds_the_slip_or_lets_it_through() {
        let w = [1.0, 0.0, 0.6, 0.0, 1.3, 0.0, 0.6, 0.0, 1.0];
        let disc = FrictionSection::disc(1.0).unwrap();
        let rising = |s: f64| if s < 1.0 { 0.5 } else { 0.7 };
        for start in [0.9, 1.0, 1.1] {
            let found = energetic_impact_at_slip(&w, &[-1.0, 0.0, start], &disc, &rising, 1.0);
            assert!(found.finished && found.path.len() < 2_000, "{start}");
            assert!(
                (found.velocity[2] - 1.0).abs() < 1e-10,
                "{start}: {found:?}"
            );
        }
        // 1.1 − 0.1 p and from there on − 0.3 p, with u_n = −1 + (1 − 0.6 μ) p; compression alone.
        let falling = |s: f64| if s < 1.0 { 0.9 } else { 0.7 };
        let found = energetic_impact_at_slip(&w, &[-1.0, 0.0, 1.05], &disc, &falling, 0.0);
        let first = 0.05 / 0.1;
        let rest = (1.0 - (1.0 - 0.42) * first) / (1.0 - 0.54);
        assert!(
            (found.velocity[2] - (1.0 - 0.3 * rest)).abs() < 1e-10,
            "{found:?}"
        );
    }
}
