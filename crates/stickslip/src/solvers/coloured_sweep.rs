//! Gauss-Seidel in an order that several threads can follow with the same bits as one.
//!
//! # What it computes
//!
//! Contacts are coloured greedily so that no two of one colour are coupled by W. A sweep visits colour after
//! colour; within a colour the order does not matter, so threads share it. Rows are stored by
//! colour.
//!
//! # Source
//!
//! Multicolour Gauss-Seidel is standard.
//!
//! # Guarantees
//!
//! The impulses after any number of sweeps are the same bits for any number of threads: a contact
//! reads only contacts of other colours, and sums are formed per group of contacts of fixed size, then in order.
//!
//! # Behaviour to know
//!
//! The coloured order needs about as many sweeps as the storage order but jumps through memory: with one thread the storage
//! order is faster. There are at least as many colours as the fullest row has blocks.
//!
//! # Cost
//!
//! One barrier per colour; threads spin, so use no more threads than cores.
//!
//! # Tested by
//!
//! Tests below, `benches/solver_bandwidth.rs`.

use super::scaled_problem::ScaledProblem;
#[cfg(target_arch = "x86_64")]
use super::sweep::row_avx2;
use super::sweep::{ContactState, Instructions, SweepSums, after_visit, visit};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Contacts handed to a thread at a time, and summed together.
const GROUP: usize = 32;

/// A problem stored by colours, with the memory of its sweeps.
#[derive(Debug)]
pub struct ColouredSweep {
    /// The problem with contacts renumbered by colour.
    problem: ScaledProblem,
    /// Old index of each new contact.
    order: Vec<usize>,
    /// First new contact of each colour.
    colours: Vec<usize>,
    groups: Vec<Mutex<Group>>,
    /// First group of each colour.
    first_group: Vec<usize>,
    x: Vec<AtomicU64>,
    how: Instructions,
}

/// Consecutive contacts of one colour.
#[derive(Debug)]
struct Group {
    first: usize,
    states: Vec<ContactState>,
    sums: SweepSums,
}

impl ColouredSweep {
    /// Colours a problem and stores it anew.
    pub fn new(problem: &ScaledProblem) -> Self {
        let n = problem.contacts();
        let (order, colours) = colour(problem);
        let permuted = problem.permuted(&order);
        let (mut groups, mut first_group) = (Vec::new(), Vec::new());
        for pair in colours.windows(2) {
            first_group.push(groups.len());
            let mut first = pair[0];
            while first < pair[1] {
                let end = (first + GROUP).min(pair[1]);
                let states = (first..end)
                    .map(|i| ContactState::new(&permuted, i))
                    .collect();
                groups.push(Mutex::new(Group {
                    first,
                    states,
                    sums: SweepSums::default(),
                }));
                first = end;
            }
        }
        first_group.push(groups.len());
        Self {
            problem: permuted,
            order,
            colours,
            groups,
            first_group,
            x: (0..3 * n).map(|_| AtomicU64::new(0)).collect(),
            how: Instructions::detect(),
        }
    }

    /// Number of colours.
    pub fn colours(&self) -> usize {
        self.colours.len() - 1
    }

    /// Sets the iterate, given in the original order.
    pub fn set(&mut self, x: &[f64]) {
        for (new, &old) in self.order.iter().enumerate() {
            for k in 0..3 {
                self.x[3 * new + k] = AtomicU64::new(x[3 * old + k].to_bits());
            }
        }
    }

    /// The iterate in the original order.
    pub fn get(&self) -> Vec<f64> {
        let mut x = vec![0.0; self.x.len()];
        for (new, &old) in self.order.iter().enumerate() {
            for k in 0..3 {
                x[3 * old + k] = f64::from_bits(self.x[3 * new + k].load(Ordering::Relaxed));
            }
        }
        x
    }

    /// `count` plain damped sweeps on `threads` threads; the sums of the last one.
    pub fn sweeps(&self, count: usize, threads: usize) -> SweepSums {
        let barrier = SpinBarrier::new(threads.max(1));
        if threads <= 1 {
            self.work(count, 0, 1, &barrier);
        } else {
            std::thread::scope(|scope| {
                for thread in 1..threads {
                    let barrier = &barrier;
                    scope.spawn(move || self.work(count, thread, threads, barrier));
                }
                self.work(count, 0, threads, &barrier);
            });
        }
        let mut sums = SweepSums::default();
        for group in &self.groups {
            // A poisoned lock can only follow a panic, which `scope` has passed on already.
            if let Ok(group) = group.lock() {
                sums.change += group.sums.change;
                sums.against += group.sums.against;
            }
        }
        sums
    }

    /// What one thread does: a contiguous share of each colour, then the barrier.
    fn work(&self, count: usize, thread: usize, threads: usize, barrier: &SpinBarrier) {
        #[cfg(target_arch = "x86_64")]
        if self.how.has_avx2() {
            // SAFETY: the flag says that the machine has AVX2 and FMA.
            return unsafe { self.work_avx2(count, thread, threads, barrier) };
        }
        self.work_body(count, thread, threads, barrier, |i| self.row(i));
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn work_avx2(&self, count: usize, thread: usize, threads: usize, barrier: &SpinBarrier) {
        // An atomic number has the layout of the number.
        let x = self.x.as_ptr().cast::<f64>();
        self.work_body(count, thread, threads, barrier, |i| {
            // SAFETY: `permuted` keeps what the kernel relies on. Row i reads contact i, which this thread alone
            // visits, and contacts of other colours, which no thread writes before the next barrier.
            unsafe { row_avx2(&self.problem, i, x) }
        });
    }

    #[inline(always)]
    fn work_body(
        &self,
        count: usize,
        thread: usize,
        threads: usize,
        barrier: &SpinBarrier,
        row: impl Fn(usize) -> [f64; 3],
    ) {
        for _ in 0..count {
            for pair in self.first_group.windows(2) {
                let groups = pair[1] - pair[0];
                let from = pair[0] + groups * thread / threads;
                let to = pair[0] + groups * (thread + 1) / threads;
                for group in &self.groups[from..to] {
                    // No other thread has this group: the lock is never waited for.
                    if let Ok(mut group) = group.lock() {
                        self.visit_group(&mut group, &row);
                    }
                }
                barrier.wait();
            }
        }
    }

    #[inline(always)]
    fn load(&self, at: usize) -> f64 {
        f64::from_bits(self.x[at].load(Ordering::Relaxed))
    }

    /// Row i of W x without vector instructions.
    #[inline(always)]
    fn row(&self, i: usize) -> [f64; 3] {
        let p = &self.problem;
        let (start, end) = (p.row_start[i] as usize, p.row_start[i + 1] as usize);
        let mut sum = [0.0; 3];
        let blocks = p.value[9 * start..9 * end].chunks_exact(9);
        for (&j, block) in p.column[start..end].iter().zip(blocks) {
            let at = 3 * j as usize;
            let x = [self.load(at), self.load(at + 1), self.load(at + 2)];
            for (k, sum) in sum.iter_mut().enumerate() {
                *sum += block[k] * x[0] + block[3 + k] * x[1] + block[6 + k] * x[2];
            }
        }
        sum
    }

    #[inline(always)]
    fn visit_group(&self, group: &mut Group, row: &impl Fn(usize) -> [f64; 3]) {
        let p = &self.problem;
        group.sums = SweepSums::default();
        for (local, state) in group.states.iter_mut().enumerate() {
            let i = group.first + local;
            let sum = row(i);
            let y = [self.load(3 * i), self.load(3 * i + 1), self.load(3 * i + 2)];
            let new = visit(p, i, state, &sum, &y);
            after_visit(p, i, state, &new, &y, &y, &mut group.sums);
            for (k, value) in new.iter().enumerate() {
                self.x[3 * i + k].store(value.to_bits(), Ordering::Relaxed);
            }
        }
    }
}

/// Greedy colouring in storage order: new order by colours and the first contact of each colour.
fn colour(problem: &ScaledProblem) -> (Vec<usize>, Vec<usize>) {
    let n = problem.contacts();
    let mut colour = vec![usize::MAX; n];
    let mut used = Vec::new();
    let mut count = 0;
    for i in 0..n {
        used.clear();
        used.resize(count + 1, false);
        for k in problem.row_start[i] as usize..problem.row_start[i + 1] as usize {
            let c = colour[problem.column[k] as usize];
            if c != usize::MAX {
                used[c] = true;
            }
        }
        // One more entry than colours: a free one exists.
        let free = used.iter().position(|taken| !taken).unwrap_or(count);
        colour[i] = free;
        count = count.max(free + 1);
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| (colour[i], i));
    let mut first = vec![0; count + 1];
    for &c in &colour {
        first[c + 1] += 1;
    }
    for c in 0..count {
        first[c + 1] += first[c];
    }
    (order, first)
}

/// Barrier on which threads spin: a colour lasts microseconds.
struct SpinBarrier {
    threads: usize,
    arrived: AtomicUsize,
    generation: AtomicUsize,
}

impl SpinBarrier {
    fn new(threads: usize) -> Self {
        Self {
            threads,
            arrived: AtomicUsize::new(0),
            generation: AtomicUsize::new(0),
        }
    }

    /// Everything written before by any thread is visible to all afterwards.
    fn wait(&self) {
        if self.threads == 1 {
            return;
        }
        let generation = self.generation.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Release);
            self.generation.fetch_add(1, Ordering::AcqRel);
            return;
        }
        let mut spins = 0u32;
        while self.generation.load(Ordering::Acquire) == generation {
            spins += 1;
            if spins < 10_000 {
                std::hint::spin_loop();
            } else {
                // More threads than cores: let the others run.
                std::thread::yield_now();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::sparse_rows::SparseRows;
    use crate::contact::ContactProblem;
    use crate::solvers::scaled_problem::StoppingTest;

    /// A ring of contacts, each coupled to its neighbours.
    fn ring(n: usize) -> ScaledProblem {
        let mut triplets = Vec::new();
        for i in 0..n {
            for r in 0..3 {
                triplets.push((3 * i + r, 3 * i + r, 2.0));
                let j = (i + 1) % n;
                triplets.push((3 * i + r, 3 * j + r, -0.7));
                triplets.push((3 * j + r, 3 * i + r, -0.7));
            }
        }
        let w = SparseRows::from_triplets(3 * n, 3 * n, &triplets);
        let q = (0..3 * n).map(|k| ((k * k) as f64).sin() - 0.3).collect();
        let problem = ContactProblem::coulomb_from_rows(3, &w, q, vec![0.5; n]).unwrap();
        ScaledProblem::new(&problem, StoppingTest::Published).unwrap()
    }

    #[test]
    fn one_and_several_threads_give_the_same_bits() {
        let problem = ring(1000);
        let run = |threads: usize| {
            let mut sweep = ColouredSweep::new(&problem);
            sweep.set(&vec![0.0; 3000]);
            let sums = sweep.sweeps(30, threads);
            (sweep.get(), sums.change.to_bits(), sweep.colours())
        };
        let one = run(1);
        assert!(one.2 >= 2 && one.2 <= 4);
        for threads in [2, 3] {
            let other = run(threads);
            assert_eq!(one.0, other.0);
            assert_eq!(one.1, other.1);
        }
    }

    #[test]
    fn coloured_sweeps_converge_to_the_solution() {
        let problem = ring(64);
        let mut sweep = ColouredSweep::new(&problem);
        sweep.set(&vec![0.0; 192]);
        sweep.sweeps(400, 2);
        let x = sweep.get();
        let mut u = vec![0.0; x.len()];
        super::super::sweep::product(
            &problem,
            super::super::sweep::Instructions::portable(),
            &x,
            &mut u,
        );
        assert!(problem.error(&x, &u) < 1e-10);
    }
}
