//! View data as a head in JSON and one run of bytes.

use serde::Serialize;

use super::{ContactRow, ViewData};
use crate::quantity::digits;

/// How the numbers of a block are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockKind {
    /// The upper five bytes of each double, rounded: a relative error of 2⁻²⁹.
    Real,
    /// Steps of `step` above `low` in two bytes, each row as differences to the row before.
    Fixed,
}

/// A table of numbers in the bytes. Columns follow each other; of each kind of byte of all numbers, the most significant comes first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Block {
    /// Name.
    pub name: String,
    /// How it is written.
    pub kind: BlockKind,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// First byte.
    pub offset: usize,
    /// Smallest value of a fixed block.
    pub low: f64,
    /// Step of a fixed block: half of it is the largest error.
    pub step: f64,
}

/// View data, written.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded {
    /// The head, JSON.
    pub head: String,
    /// The tables.
    pub bytes: Vec<u8>,
}

#[derive(Serialize)]
struct Head<'a> {
    #[serde(flatten)]
    data: &'a ViewData,
    frames: usize,
    contact_width: usize,
    blocks: &'a [Block],
}

/// Tables of poses, displacements and stresses with more numbers are written as fixed steps.
const FIXED_FROM: usize = 2_000_000;
/// Bytes of a number of a real block.
const REAL_BYTES: usize = 5;

#[derive(Default)]
struct Writer {
    blocks: Vec<Block>,
    bytes: Vec<u8>,
    notes: Vec<String>,
}

impl Writer {
    fn begin(
        &mut self,
        name: &str,
        kind: BlockKind,
        (rows, columns): (usize, usize),
        (low, step): (f64, f64),
    ) {
        self.blocks.push(Block {
            name: name.to_string(),
            kind,
            rows,
            columns,
            offset: self.bytes.len(),
            low,
            step,
        });
    }

    fn real(&mut self, name: &str, columns: usize, values: &[f64]) {
        let rows = values.len().checked_div(columns).unwrap_or(0);
        self.begin(name, BlockKind::Real, (rows, columns), (0.0, 0.0));
        let start = self.bytes.len();
        let count = rows * columns;
        self.bytes.resize(start + REAL_BYTES * count, 0);
        for column in 0..columns {
            for row in 0..rows {
                let bytes = rounded(values[row * columns + column]).to_be_bytes();
                for (plane, byte) in bytes[..REAL_BYTES].iter().enumerate() {
                    self.bytes[start + plane * count + column * rows + row] = *byte;
                }
            }
        }
    }

    /// Columns share one range.
    fn fixed(&mut self, name: &str, columns: usize, values: &[f64], what: &str) {
        let rows = values.len().checked_div(columns).unwrap_or(0);
        let finite = || values.iter().filter(|x| x.is_finite());
        let low = finite().fold(f64::INFINITY, |a, &b| a.min(b));
        let high = finite().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 0.0) };
        let step = (high - low) / 65535.0;
        self.begin(name, BlockKind::Fixed, (rows, columns), (low, step));
        if !what.is_empty() {
            let step = digits(0.5 * step, 2);
            self.notes.push(format!("{what} are rounded to {step}."));
        }
        let start = self.bytes.len();
        let count = rows * columns;
        self.bytes.resize(start + 2 * count, 0);
        for column in 0..columns {
            let mut before = 0u16;
            for row in 0..rows {
                let share = (values[row * columns + column] - low) / step;
                // A value outside, and one that is not a number, goes to an end of the range.
                let now = if step > 0.0 { share.round() as u16 } else { 0 };
                let [high, low] = now.wrapping_sub(before).to_be_bytes();
                self.bytes[start + column * rows + row] = high;
                self.bytes[start + count + column * rows + row] = low;
                before = now;
            }
        }
    }

    /// A table that may be large.
    fn table(&mut self, name: &str, columns: usize, values: &[f64], what: &str) {
        if values.len() > FIXED_FROM {
            self.fixed(name, columns, values, what);
        } else {
            self.real(name, columns, values);
        }
    }
}

/// The nearest double whose lower three bytes are zero.
fn rounded(value: f64) -> f64 {
    if !value.is_finite() {
        return value;
    }
    let bits = value.to_bits();
    let up = f64::from_bits(bits.wrapping_add(1 << 23) & !0x00ff_ffff);
    // Rounding up may leave the range of finite numbers.
    if up.is_finite() {
        up
    } else {
        f64::from_bits(bits & !0x00ff_ffff)
    }
}

impl ViewData {
    /// Writes the data.
    #[doc(hidden)]
    #[must_use]
    pub fn encode(&self) -> Encoded {
        let mut writer = Writer::default();
        let frames = self.times.len();
        let per_frame = |values: &[f64]| values.len().checked_div(frames).unwrap_or(0);
        writer.real("times", 1, &self.times);
        writer.real("spans", 1, &self.spans);
        self.encode_poses(&mut writer);
        writer.real("points", per_frame(&self.points), &self.points);
        let columns = per_frame(&self.displacements);
        writer.table(
            "displacements",
            columns,
            &self.displacements,
            "Displacements (m)",
        );
        let columns = per_frame(&self.stresses);
        writer.table("stresses", columns, &self.stresses, "Stresses (Pa)");
        writer.real(
            "obstacle_moves",
            per_frame(&self.obstacle_moves),
            &self.obstacle_moves,
        );
        let starts: Vec<f64> = self.contact_starts.iter().map(|&k| k as f64).collect();
        // Numbers above 2²⁹ would be rounded; the bound on contacts lies far below.
        writer.real("contact_starts", 1, &starts);
        let rows: Vec<f64> = self
            .contact_rows
            .iter()
            .flat_map(ContactRow::numbers)
            .collect();
        writer.real("contacts", ContactRow::WIDTH, &rows);
        writer.real("energy", self.energy_columns.len(), &self.energy);
        writer.real("motion", self.motion_columns.len(), &self.motion);
        for (k, branch) in self.branches.iter().enumerate() {
            let count = branch.times.len();
            let columns = |values: &[f64]| values.len().checked_div(count).unwrap_or(0);
            writer.real(&format!("branch{k}.times"), 1, &branch.times);
            writer.real(
                &format!("branch{k}.points"),
                columns(&branch.points),
                &branch.points,
            );
            let coordinates = &branch.coordinates;
            writer.real(
                &format!("branch{k}.coordinates"),
                columns(coordinates),
                coordinates,
            );
        }
        let mut data;
        let mut head = self;
        if !writer.notes.is_empty() {
            data = self.clone_head();
            data.notes.extend(writer.notes.iter().cloned());
            head = &data;
        }
        let head = Head {
            data: head,
            frames,
            contact_width: ContactRow::WIDTH,
            blocks: &writer.blocks,
        };
        Encoded {
            // Plain data with text keys: numbers that are not finite become null.
            head: serde_json::to_string(&head).unwrap_or_default(),
            bytes: writer.bytes,
        }
    }

    /// Places and rotations; balls of a large world turn unseen.
    fn encode_poses(&self, writer: &mut Writer) {
        let moving = self.bodies.iter().filter(|body| body.moving.is_some());
        let round = |k: u32| {
            let geometry = &self.geometries[k as usize];
            let centred = |b: &[f64; 4]| b[..3] == [0.0; 3];
            geometry.faces.is_empty() && geometry.balls.iter().all(centred) && !self.planar
        };
        let turns: Vec<bool> = moving.map(|body| !round(body.geometry)).collect();
        let mut places = Vec::with_capacity(self.poses.len());
        let mut rotations = Vec::new();
        if turns.is_empty() {
            return;
        }
        for frame in self.poses.chunks_exact(7 * turns.len()) {
            for (pose, turns) in frame.chunks_exact(7).zip(&turns) {
                places.extend_from_slice(&pose[..3]);
                if *turns {
                    rotations.extend_from_slice(&pose[3..]);
                }
            }
        }
        writer.table("places", 3 * turns.len(), &places, "Places (m)");
        let turning = turns.iter().filter(|turns| **turns).count();
        writer.table("rotations", 4 * turning, &rotations, "");
    }

    /// The data without its tables.
    fn clone_head(&self) -> Self {
        let mut head = Self {
            poses: Vec::new(),
            points: Vec::new(),
            displacements: Vec::new(),
            stresses: Vec::new(),
            contact_rows: Vec::new(),
            ..Self::default()
        };
        head.clone_from(self);
        head
    }
}
