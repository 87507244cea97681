//! Which ways through configurations need no close look for obstacles.

use serde::{Deserialize, Serialize};

use super::passage::STEEPER;

/// A way slides along a gap whose slopes at both ends are below this part of what they could be.
const SLIDING: f64 = 0.25;
/// A contact that slides on is looked at closely again before its normal may have turned by this part of itself, and at the
/// latest after so many ways.
const TURNS: f64 = 0.05;
const LATEST: f64 = 128.0;
/// A gap that changes by less than this part of what it could stays as it is.
const LEVEL: f64 = 1e-6;
/// A gradient that changes by more than this part of itself along a way may vanish on it.
const RESTLESS: f64 = 0.1;
/// Ways shorter than this part of the size of the motion are not looked at in between where a contact slides.
const FINE: f64 = 1e-3;

/// What is known of a gap at both ends of a straight way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WayEnds {
    pub gaps: [f64; 2],
    /// Change of the gap per unit of the way.
    pub slopes: [f64; 2],
    /// What that can be at most: the larger gradient times the length of the way.
    pub steepness: f64,
    /// Cosine of the angle between both normals.
    pub cosine: f64,
}

impl WayEnds {
    /// Whether so short a way can reach the zero of the gap at all.
    pub fn is_near(&self) -> bool {
        let [a, b] = self.gaps;
        !(a.min(b) > 0.0 && a + b > STEEPER * self.steepness)
    }

    /// Whether the way can have gone through the obstacle: it is near, and does not slide along a surface whose normal
    /// turns a little, which tells the gap in between. `gap` gives that at a part of the way. Only a way that is open at both ends can miss a contact in between.
    pub fn may_pass(&self, acted: bool, rounding: f64, mut gap: impl FnMut(f64) -> f64) -> bool {
        let reach = STEEPER * self.steepness;
        if !self.is_near() || reach <= rounding {
            return false;
        }
        let [a, b] = self.slopes;
        let low = self.gaps[0].min(self.gaps[1]) - 0.25 * (b - a).abs();
        let slides = self.cosine > 0.5
            && a.abs().max(b.abs()) <= SLIDING * self.steepness
            && (acted || low > 0.0 || self.gaps[0].min(self.gaps[1]) <= rounding);
        !(slides
            && [0.25, 0.5, 0.75]
                .into_iter()
                .all(|s| gap(s) >= low - rounding))
    }
}

/// What a close look at a gap tells of the steps that follow it: most need no other.
///
/// # What it computes
/// Whether a step can be left alone without a gradient: the obstacle is farther away than all ways since the look could
/// reach, the way is shorter than the rounding of the gap, or a contact slides on as it did: its gap at
/// the end of the way, and in its middle unless the way is a thousandth of the motion, is that of a surface whose normal
/// turns as it turned before.
///
/// # Source
/// Ours, after the bounds of [`GapAlong`].
///
/// # Guarantees
/// Those of [`GapAlong`] where slopes stay within twice those seen, and the turning of normals as well.
///
/// # Behaviour to know
/// A contact that slides on is looked at in the middle of its way: a fin of the same gap must be as wide as half of it, or as
/// a way itself where that is below a thousandth of the motion so far. The normal is taken again before it may have turned by a twentieth, and after 128 ways at the latest.
///
/// # Cost
/// No evaluation of the gap far from it or in fine steps, one where it slides in coarse ones.
///
/// # Tested by
/// `tests/truth_tunnelling.rs`, `tests/truth_normals.rs`, `systems/seen_gap.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SeenGap {
    /// Sizes of the gradient and of the rate in time.
    steep: f64,
    rate: f64,
    rounding: f64,
    /// The gap stays above this as long as there is room: what ways can take off it until then.
    least: f64,
    room: f64,
    /// Change of the gradient per length of the way, and how far a contact may slide on.
    turning: f64,
    slide: f64,
    /// Ways up to this length are not looked at in between.
    #[serde(default)]
    fine: f64,
}

impl Default for SeenGap {
    /// Nothing is known; finite, for checkpoints write no infinite numbers.
    fn default() -> Self {
        Self {
            steep: f64::MAX,
            rate: f64::MAX,
            rounding: -1.0,
            least: f64::MAX,
            room: 0.0,
            turning: 0.0,
            slide: 0.0,
            fine: 0.0,
        }
    }
}

impl SeenGap {
    /// A look at the end of a way, where the gap is `gap` and has a gradient of the size `steep`.
    pub fn at(gap: f64, (steep, rate): (f64, f64), rounding: f64) -> Self {
        let least = if gap > 0.0 { 0.5 * gap } else { f64::MAX };
        Self {
            steep,
            rate: rate.abs(),
            rounding,
            least,
            room: 0.5 * gap,
            ..Self::default()
        }
    }

    /// The same at the end of a way of the given length along which a contact slid while its gradient changed by `turned`.
    #[must_use]
    pub fn sliding(self, length: f64, turned: f64) -> Self {
        if !(length > 0.0) {
            return self;
        }
        let turning = turned / length;
        let slide = TURNS * self.steep / (STEEPER * turning);
        Self {
            turning,
            slide: slide.min(LATEST * length),
            ..self
        }
    }

    /// Whether a change of the gradient is a good part of it.
    pub fn changes_by(&self, turned: f64) -> bool {
        turned > RESTLESS * self.steep
    }

    /// Whether the gradient changes so within a way that goes on as the last one did.
    pub fn changes_within(&self, length: f64) -> bool {
        self.changes_by(self.turning * length)
    }

    /// The same in a run whose motion has the given size so far.
    #[must_use]
    pub fn in_motion(self, size: f64) -> Self {
        Self {
            fine: FINE * size,
            ..self
        }
    }

    /// Whether the next way, of the given length and duration, needs no closer look. `gap` gives the gap in its middle.
    #[inline]
    pub fn settles(
        &mut self,
        (length, h): (f64, f64),
        [before, after]: [f64; 2],
        acted: bool,
        middle: impl FnOnce() -> f64,
    ) -> bool {
        let reach = STEEPER * (self.steep * length + self.rate * h);
        self.room -= reach;
        self.slide -= length;
        let low = if after < before { after } else { before };
        if (self.room > 0.0 && low >= self.least) || reach <= self.rounding {
            return true;
        }
        // What moves by itself is looked at closely.
        if !(self.slide > 0.0 && self.rate == 0.0) {
            return false;
        }
        let (tilt, most) = (
            STEEPER * self.turning * length * length,
            self.steep * length,
        );
        let little = self.rounding + LEVEL * most;
        let lowest = low - 0.25 * tilt;
        // Only a way that is open at both ends can miss a contact in between.
        (acted || lowest > 0.0 || low <= self.rounding)
            && (after - before).abs() <= tilt + little
            && tilt <= SLIDING * most
            && (length <= self.fine || middle() >= lowest - little)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_far_away_is_left_alone_until_ways_have_made_up_half_of_it() {
        let mut seen = SeenGap::at(1.0, (1.0, 0.0), 1e-12);
        let mut settled = 0;
        while seen.settles((0.011, 1e-3), [1.0; 2], false, || unreachable!("not near")) {
            settled += 1;
        }
        // Slopes may be twice those seen: ways that take 0.022 each of 0.5.
        assert_eq!(settled, 22);
        let mut seen = SeenGap::at(1.0, (1.0, 0.0), 1e-12);
        assert!(!seen.settles((0.01, 1e-3), [1.0, 0.4], false, || 1.0));
    }

    #[test]
    fn a_contact_that_slides_on_is_looked_at_in_the_middle_of_its_way() {
        let slid = SeenGap::at(0.0, (1.0, 0.0), 1e-12).sliding(0.01, 1e-6);
        let way = (0.0101, 1e-3);
        assert!({ slid }.settles(way, [0.0; 2], true, || 0.0));
        // In fine steps at their ends only.
        let unseen = || unreachable!("a fine step");
        assert!(slid.in_motion(200.0).settles(way, [0.0; 2], true, unseen));
        assert!(!slid.in_motion(1.0).settles(way, [0.0; 2], true, || -1e-3));
        // A fin in the middle, a contact that is open at both ends, a way that climbs, one too many.
        assert!(!{ slid }.settles(way, [0.0; 2], true, || -1e-3));
        assert!({ slid }.settles(way, [0.0, 1e-9], false, || 0.0));
        assert!(!{ slid }.settles(way, [1e-9; 2], false, || 0.0));
        assert!(!{ slid }.settles(way, [0.0, 0.005], true, || 0.0));
        let mut seen = slid;
        let all = (0..200).take_while(|_| seen.settles(way, [0.0; 2], true, || 0.0));
        // The budget is 128 ways of the length seen, of which these are a hundredth longer.
        assert_eq!(all.count(), 126);
    }

    #[test]
    fn a_contact_at_rest_needs_no_look() {
        let mut seen = SeenGap::at(0.0, (1.0, 0.0), 1e-12);
        assert!(seen.settles((1e-14, 1e-3), [0.0; 2], true, || unreachable!("at rest")));
        // Unknown gaps are looked at.
        assert!(!SeenGap::default().settles((1e-14, 1e-3), [0.0; 2], true, || 0.0));
        assert!(!SeenGap::default().settles((0.0, 0.0), [f64::NAN; 2], true, || 0.0));
    }
}
