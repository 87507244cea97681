//! Rows of numbers with times, appended at one end and forgotten at the other.

/// A ring of rows of equal width; grows by doubling, never shrinks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ring {
    width: usize,
    capacity: usize,
    head: usize,
    len: usize,
    times: Vec<f64>,
    rows: Vec<f64>,
}

impl Ring {
    pub fn new(width: usize) -> Self {
        Self {
            width,
            ..Self::default()
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Numbers held in memory.
    pub fn footprint(&self) -> usize {
        self.times.len() + self.rows.len()
    }

    #[inline]
    fn slot(&self, j: usize) -> usize {
        // the capacity is a power of two
        (self.head + j) & (self.capacity - 1)
    }

    #[inline]
    pub fn time(&self, j: usize) -> f64 {
        self.times[self.slot(j)]
    }

    #[inline]
    pub fn row(&self, j: usize) -> &[f64] {
        let start = self.slot(j) * self.width;
        &self.rows[start..start + self.width]
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn row_mut(&mut self, j: usize) -> &mut [f64] {
        let start = self.slot(j) * self.width;
        &mut self.rows[start..start + self.width]
    }

    /// Appends a row for the time `t` and returns it for writing.
    pub fn push(&mut self, t: f64) -> &mut [f64] {
        if self.len == self.capacity {
            self.grow();
        }
        let slot = self.slot(self.len);
        self.len += 1;
        self.times[slot] = t;
        &mut self.rows[slot * self.width..(slot + 1) * self.width]
    }

    pub fn pop_back(&mut self) {
        self.len -= 1;
    }

    pub fn pop_front(&mut self) {
        self.head = self.slot(1);
        self.len -= 1;
    }

    /// Doubles the room, with the oldest row first again.
    fn grow(&mut self) {
        let capacity = (2 * self.capacity).max(16);
        let mut times = vec![0.0; capacity];
        let mut rows = vec![0.0; capacity * self.width];
        for j in 0..self.len {
            times[j] = self.time(j);
            rows[j * self.width..(j + 1) * self.width].copy_from_slice(self.row(j));
        }
        (self.times, self.rows) = (times, rows);
        (self.capacity, self.head) = (capacity, 0);
    }

    /// Largest `j` with `time(j) ≤ s`, at least 0; the guess of even spacing is right for fixed
    /// steps, bisection serves the rest.
    pub fn locate(&self, s: f64) -> usize {
        let last = self.len - 1;
        let (first, end) = (self.time(0), self.time(last));
        if s >= end {
            return last;
        }
        if s <= first {
            return 0;
        }
        let guess = ((s - first) / (end - first) * last as f64) as usize;
        let mut j = guess.min(last - 1);
        for _ in 0..3 {
            if self.time(j) > s {
                j -= 1;
            } else if self.time(j + 1) <= s {
                j += 1;
            } else {
                return j;
            }
        }
        let (mut low, mut high) = (0, last);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if self.time(middle) <= s {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}
