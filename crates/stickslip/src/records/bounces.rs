//! Impacts that follow each other ever faster, and their end.

use serde::{Deserialize, Serialize};

use super::StepRecord;

/// Impacts, each sooner after the last one, that make an accumulation when the contact then stays closed.
const ACCUMULATES: u64 = 5;

/// Impacts of one contact that follow each other ever faster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bounces {
    count: u64,
    last: f64,
    interval: f64,
    /// Since when the contact has been closed, without opening; none while it is open.
    #[serde(default)]
    since: Option<f64>,
}

/// A series of impacts that came to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Series {
    /// Time of the last impact.
    pub last: f64,
    /// Number of impacts.
    pub count: u64,
    /// Time between the last two.
    interval: f64,
}

impl Bounces {
    /// Takes an impact in, whose instant is known to within `h`. Several at one instant are one in their times.
    pub fn strike(&mut self, t: f64, h: f64) {
        self.since = Some(t);
        if self.count > 0 && t == self.last {
            self.count += 1;
            return;
        }
        let interval = t - self.last;
        let sooner = self.count == 1 || interval < self.interval + 1.5 * h;
        self.count = if self.count > 0 && sooner {
            self.count + 1
        } else {
            1
        };
        (self.last, self.interval) = (t, interval);
    }

    /// The series so far, which ends with this.
    pub fn end(&mut self) -> Series {
        let Self {
            count,
            last,
            interval,
            ..
        } = std::mem::take(self);
        Series {
            last,
            count,
            interval,
        }
    }

    /// Takes a step in; where bounces have come to their end, what they were. They have where the contact has stayed closed longer than the last
    /// two impacts were apart: a foot of a body that rocks bears it for a part of that time, and is struck again sooner.
    pub(super) fn follow(&mut self, record: &StepRecord, hit: bool, open: bool) -> Option<Series> {
        if hit {
            self.strike(record.t, record.h);
        } else if open {
            self.open();
        } else if self.count >= ACCUMULATES {
            let since = *self.since.get_or_insert(record.t);
            if record.t - since > self.interval.max(1.5 * record.h) {
                return Some(self.end());
            }
        }
        None
    }

    /// The contact has opened.
    pub fn open(&mut self) {
        self.since = None;
    }

    /// Ends a series that took part in another one: the last impacts of both lie no farther apart than those of the other.
    pub fn join(&mut self, series: &mut Series, h: f64) {
        let near = (self.last - series.last).abs() <= series.interval + 1.5 * h;
        if self.count > 0 && near {
            series.count += self.count;
            series.last = series.last.max(self.last);
            *self = Self::default();
        }
    }
}

impl Series {
    /// Takes in another series that ended in the same step, if their last impacts lie as close.
    pub fn absorb(&mut self, other: &Self, h: f64) -> bool {
        let near = (self.last - other.last).abs() <= self.interval.max(other.interval) + 1.5 * h;
        if near {
            self.count += other.count;
            self.last = self.last.max(other.last);
        }
        near
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Struck every 20, 18, 16, ... steps and borne for half of that, then for good.
    #[test]
    fn a_foot_that_bears_for_a_part_of_its_period_is_struck_again() {
        let (mut bounces, mut found) = (Bounces::default(), Vec::new());
        let (mut next, mut interval) = (20, 20);
        let mut last = 0;
        for k in 1..300 {
            let hit = k == next && interval > 6;
            if hit {
                (last, interval) = (k, interval - 2);
                next += interval;
            }
            let open = k < 20 || (interval > 6 && k > last + interval / 2);
            let record = StepRecord {
                t: f64::from(k),
                h: 1.0,
                ..StepRecord::default()
            };
            let end = bounces.follow(&record, hit, open);
            found.extend(end.map(|series| (k, series.last as i32, series.count)));
        }
        // Seven impacts: after intervals of 18, 16, ..., 8 the last is that at 20 + 18 + ... + 8.
        assert_eq!(found, [(98 + 9, 98, 7)]);
    }
}
