//! Loops shared by threads, with the bits of one.

/// Threads of a step at most: the stages of one last milliseconds.
const MOST_THREADS: usize = 4;

/// Contacts that a thread must have at least: starting one takes as long as a pass over some hundred of them.
const FEWEST_CONTACTS: usize = 2000;

/// Threads of a step or a solve: those of the pool, and one where it is itself one of many in the pool.
pub(crate) fn threads() -> usize {
    match rayon::current_thread_index() {
        Some(_) => 1,
        None => rayon::current_num_threads().min(MOST_THREADS),
    }
}

/// Threads that share a loop over so many contacts.
pub(crate) fn parts(items: usize) -> usize {
    if items < 2 * FEWEST_CONTACTS {
        return 1;
    }
    threads().min(items / FEWEST_CONTACTS)
}

/// What is written by a loop, cut where the part of the next thread begins.
pub(crate) trait Part: Sized + Send {
    /// The first `at` items, and the others.
    fn cut(self, at: usize) -> (Self, Self);
}

impl<T: Send> Part for &mut [T] {
    fn cut(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }
}

/// Runs `work` on parts of `all` side by side, with the index of the first item of each. Items must not depend on each other, so that the
/// result has the same bits for any number of threads.
pub(crate) fn share<P: Part>(all: P, items: usize, work: impl Fn(usize, P) + Sync) {
    let threads = parts(items);
    if threads == 1 {
        return work(0, all);
    }
    std::thread::scope(|scope| {
        let (mut rest, work) = (all, &work);
        for thread in (1..threads).rev() {
            let start = items * thread / threads;
            let (first, last) = rest.cut(start);
            rest = first;
            scope.spawn(move || work(start, last));
        }
        work(0, rest);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_items_in_their_order() {
        let mut items = vec![0; 5 * FEWEST_CONTACTS + 7];
        let count = items.len();
        share(&mut items[..], count, |start, part: &mut [usize]| {
            for (k, item) in part.iter_mut().enumerate() {
                *item += start + k;
            }
        });
        assert!(items.iter().enumerate().all(|(k, &item)| k == item));
    }
}
