//! Sweeps over one group until its islands are solved.

use super::alone::AloneScratch;
use super::batch::Four;
use super::group::Group;
use super::rest::or_part;
use super::track::Track;

/// Sweeps after which velocities are computed anew even without a check.
const REFRESH: u32 = 50;

/// At most `sweeps_max` sweeps until every track is within the tolerance; the number of sweeps. All threads of the group's barrier
/// call it with their index and equal tracks, and leave with equal tracks. The impulses left are the best that were checked.
pub(super) fn drive<B: Four<R, F>, const R: usize, const F: usize>(
    group: &Group<'_, B, R, F>,
    thread: usize,
    tracks: &mut [Track; 4],
    tolerance: f64,
    sweeps_max: u32,
    scratch: &mut AloneScratch,
) -> u32 {
    for track in tracks.iter_mut() {
        track.done = track.elsewhere;
        if !track.done {
            track.start();
        }
    }
    let mut sweeps = 0;
    let better = check(group, thread, tracks, sweeps, tolerance, scratch);
    if all_done(tracks) {
        return 0;
    }
    group.keep(thread, better);
    group.hold(thread);
    while sweeps < sweeps_max {
        let beta = if scratch.damping > 0.0 {
            [0.0; 4]
        } else if group.by_lane {
            tracks.map(|track| track.beta())
        } else {
            [tracks[0].beta(); 4]
        };
        group.extrapolate(thread, &beta);
        let sums = group.sweep(thread, &beta, scratch);
        sweeps += 1;
        let mut wanted = sweeps == sweeps_max;
        let mut finite = true;
        for (k, track) in tracks.iter_mut().enumerate() {
            if track.present && !track.done {
                let own = sums.map(|sum| of_track(&sum, k, group.by_lane));
                finite &= own[0].is_finite();
                wanted |= track.after_sweep(own, sweeps, tolerance);
            }
        }
        if !finite {
            break;
        }
        if wanted {
            let better = check(group, thread, tracks, sweeps, tolerance, scratch);
            if all_done(tracks) && !group.by_lane {
                return sweeps;
            }
            if better.contains(&true) {
                group.keep(thread, better);
            }
            let over = |track: &Track| track.done || !track.present || track.gives_up();
            if tracks.iter().all(over) {
                break;
            }
        } else if sweeps.is_multiple_of(REFRESH) {
            group.refresh(thread);
        }
    }
    group.restore(thread);
    sweeps
}

/// Residuals at the present point with fresh velocities; the lanes whose islands have never been nearer to a solution.
fn check<B: Four<R, F>, const R: usize, const F: usize>(
    group: &Group<'_, B, R, F>,
    thread: usize,
    tracks: &mut [Track; 4],
    sweeps: u32,
    tolerance: f64,
    scratch: &mut AloneScratch,
) -> [bool; 4] {
    group.refresh(thread);
    let sums = group.residual(thread, scratch);
    let mut better = [false; 4];
    for (k, track) in tracks.iter_mut().enumerate() {
        if track.present && !track.done {
            let [map, size] = [sums[0], sums[1]].map(|sum| of_track(&sum, k, group.by_lane));
            let part = if group.by_lane {
                sums[2][k]
            } else {
                sums[2].into_iter().fold(0.0, f64::max)
            };
            better[k] = track.after_check(or_part(map, part), size, sweeps, tolerance);
        }
    }
    if group.by_lane {
        better
    } else {
        [better[0]; 4]
    }
}

fn all_done(tracks: &[Track; 4]) -> bool {
    tracks.iter().all(|track| track.done || !track.present)
}

/// The sum of a track: of its lane, or of all lanes.
fn of_track(sum: &[f64; 4], track: usize, by_lane: bool) -> f64 {
    if by_lane {
        sum[track]
    } else {
        (sum[0] + sum[1]) + (sum[2] + sum[3])
    }
}
