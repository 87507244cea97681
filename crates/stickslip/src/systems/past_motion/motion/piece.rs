//! One coordinate between two nodes.

/// One coordinate between two nodes: a polynomial in `(s − t)/length`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub t: f64,
    pub length: f64,
    pub c: [f64; 6],
}

impl Piece {
    pub fn affine(t: f64, length: f64, x0: f64, x1: f64) -> Self {
        Self {
            t,
            length,
            c: [x0, x1 - x0, 0.0, 0.0, 0.0, 0.0],
        }
    }

    /// Hermite polynomial from (x, v, a) at the start and (x, v), optionally a, at the end.
    pub fn hermite(
        t: f64,
        length: f64,
        [x0, v0, a0]: [f64; 3],
        (x1, v1, a1): (f64, f64, Option<f64>),
    ) -> Self {
        let (h, h2) = (length, length * length);
        let rest = x1 - (x0 + h * v0 + 0.5 * h2 * a0);
        let slope = h * v1 - (h * v0 + h2 * a0);
        let mut c = [x0, h * v0, 0.5 * h2 * a0, 0.0, 0.0, 0.0];
        match a1 {
            Some(a1) => {
                let bend = h2 * (a1 - a0);
                c[3] = 10.0 * rest - 4.0 * slope + 0.5 * bend;
                c[4] = -15.0 * rest + 7.0 * slope - bend;
                c[5] = 6.0 * rest - 3.0 * slope + 0.5 * bend;
            }
            None => {
                c[3] = 4.0 * rest - slope;
                c[4] = slope - 3.0 * rest;
            }
        }
        Self { t, length, c }
    }

    #[inline]
    fn unit(&self, s: f64) -> f64 {
        if self.length > 0.0 {
            (s - self.t) / self.length
        } else {
            0.0
        }
    }

    #[inline]
    pub fn value(&self, s: f64) -> f64 {
        let u = self.unit(s);
        let c = &self.c;
        c[0] + u * (c[1] + u * (c[2] + u * (c[3] + u * (c[4] + u * c[5]))))
    }

    #[inline]
    pub fn velocity(&self, s: f64) -> f64 {
        if self.length == 0.0 {
            return 0.0;
        }
        let u = self.unit(s);
        let c = &self.c;
        (c[1] + u * (2.0 * c[2] + u * (3.0 * c[3] + u * (4.0 * c[4] + u * 5.0 * c[5]))))
            / self.length
    }

    /// ∫ from the start of the piece to `s`.
    pub fn integral(&self, s: f64) -> f64 {
        let u = self.unit(s);
        let c = &self.c;
        let poly = c[0]
            + u * (c[1] / 2.0
                + u * (c[2] / 3.0 + u * (c[3] / 4.0 + u * (c[4] / 5.0 + u * c[5] / 6.0))));
        self.length * u * poly
    }
}
