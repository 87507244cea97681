//! Time of the sweep over bodies on worlds of balls: a settled pack, a collapsing column, a rotating drum.
//!
//! A small world of balls is made here, so that no file is needed: contacts from a grid, warm start by pair, one step of Moreau and
//! Jean's scheme with θ = 1. Printed per scene: contacts, time of one solve, sweeps, nanoseconds per contact and sweep, the worst
//! residual and the share of steps within the tolerance.
//!
//! `cargo bench --bench body_sweep [-- SCENE... threads=N]` with the scenes pack1000, pack5000, pack20000, drum. CPU time of the solve on one thread,
//! elapsed time on several.

use std::time::Instant;
use stickslip::contact::{BlockKind, ContactBlock, ContactKey};
use stickslip::internals::{BodyOperator, NO_BODY};
use stickslip::laws::{FlowRule, FrictionSection};
use stickslip::solvers::{BodySweepSettings, BodySweepSolver};

type Vector = [f64; 3];

fn dot(a: &Vector, b: &Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: &Vector, b: &Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// What balls touch besides each other.
enum Wall {
    /// n·x ≥ offset.
    Plane { normal: Vector, offset: f64 },
    /// Inside a cylinder about the y axis that turns at a rate.
    Drum { radius: f64, rate: f64 },
}

struct Found {
    key: (u32, u32),
    normal: Vector,
    place: Vector,
    gap: f64,
    /// Velocity of the wall at the place.
    wall: Vector,
}

/// Balls in a box, a heap or a drum.
struct World {
    radius: Vec<f64>,
    mass: Vec<f64>,
    x: Vec<Vector>,
    v: Vec<Vector>,
    spin: Vec<Vector>,
    walls: Vec<Wall>,
    mu: f64,
    h: f64,
    /// Impulses of the last step in world axes, by pair.
    memory: Vec<((u32, u32), Vector)>,
    found: Vec<Found>,
    operator: BodyOperator,
    free: Vec<f64>,
    blocks: Vec<ContactBlock>,
    impulse: Vec<f64>,
    frames: Vec<[Vector; 3]>,
}

const R0: f64 = 0.02;

impl World {
    /// Balls of unequal size on a lattice with `columns` in each direction.
    fn new(count: usize, columns: usize, walls: Vec<Wall>, mu: f64, origin: Vector) -> Self {
        let mut state = 12345u64;
        let mut random = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let mut world = Self {
            radius: Vec::new(),
            mass: Vec::new(),
            x: Vec::new(),
            v: vec![[0.0; 3]; count],
            spin: vec![[0.0; 3]; count],
            walls,
            mu,
            h: 1e-3,
            memory: Vec::new(),
            found: Vec::new(),
            operator: BodyOperator::default(),
            free: Vec::new(),
            blocks: Vec::new(),
            impulse: Vec::new(),
            frames: Vec::new(),
        };
        let pitch = 2.44 * R0;
        for i in 0..count {
            let r = R0 * (1.0 + 0.2 * random());
            world.radius.push(r);
            world.mass.push(2500.0 * 4.18879 * r * r * r);
            let cell = [i % columns, (i / columns) % columns, i / columns / columns];
            world.x.push(std::array::from_fn(|k| {
                origin[k] + pitch * (cell[k] as f64 + 0.5) + 0.2 * R0 * random()
            }));
        }
        world
    }

    fn find(&mut self) {
        self.found.clear();
        let margin: Vec<f64> = (0..self.x.len())
            .map(|i| 2.0 * self.h * (dot(&self.v[i], &self.v[i]).sqrt() + 0.02) + 1e-4 * R0)
            .collect();
        let cell = 2.6 * R0;
        let at = |x: &Vector| -> [i64; 3] { std::array::from_fn(|k| (x[k] / cell).floor() as i64) };
        let mut grid: Vec<([i64; 3], u32)> = (0..self.x.len())
            .map(|i| (at(&self.x[i]), i as u32))
            .collect();
        grid.sort_unstable();
        for i in 0..self.x.len() {
            for wall in 0..self.walls.len() {
                let (normal, gap) = match &self.walls[wall] {
                    Wall::Plane { normal, offset } => {
                        (*normal, dot(normal, &self.x[i]) - offset - self.radius[i])
                    }
                    Wall::Drum { radius, .. } => {
                        let x = &self.x[i];
                        let length = (x[0] * x[0] + x[2] * x[2]).sqrt().max(1e-12);
                        let normal = [-x[0] / length, 0.0, -x[2] / length];
                        (normal, radius - length - self.radius[i])
                    }
                };
                if gap < margin[i] {
                    let place: Vector =
                        std::array::from_fn(|k| self.x[i][k] - normal[k] * self.radius[i]);
                    let speed = match &self.walls[wall] {
                        Wall::Plane { .. } => [0.0; 3],
                        Wall::Drum { rate, .. } => cross(&[0.0, *rate, 0.0], &place),
                    };
                    self.found.push(Found {
                        key: (i as u32, u32::MAX - wall as u32),
                        normal,
                        place,
                        gap,
                        wall: speed,
                    });
                }
            }
            let own = at(&self.x[i]);
            for dx in -1..=1 {
                for dy in -1..=1 {
                    let low = [own[0] + dx, own[1] + dy, own[2] - 1];
                    let first = grid.partition_point(|&(c, _)| c < low);
                    for &(c, j) in &grid[first..] {
                        if c[0] != low[0] || c[1] != low[1] || c[2] > low[2] + 2 {
                            break;
                        }
                        if j as usize <= i {
                            continue;
                        }
                        let j = j as usize;
                        let d: Vector = std::array::from_fn(|k| self.x[i][k] - self.x[j][k]);
                        let length = dot(&d, &d).sqrt();
                        let gap = length - self.radius[i] - self.radius[j];
                        if gap < margin[i] + margin[j] {
                            let normal = d.map(|d| d / length);
                            let reach = self.radius[j] + 0.5 * gap;
                            self.found.push(Found {
                                key: (i as u32, j as u32),
                                normal,
                                place: std::array::from_fn(|k| self.x[j][k] + reach * normal[k]),
                                gap,
                                wall: [0.0; 3],
                            });
                        }
                    }
                }
            }
        }
        self.found.sort_unstable_by_key(|found| found.key);
    }

    /// Fills operator, free velocity and guess.
    fn assemble(&mut self) {
        self.operator.begin(6, self.x.len());
        self.free.clear();
        self.blocks.clear();
        self.impulse.clear();
        self.frames.clear();
        let slop = 1e-4 * 2.0 * R0;
        for found in &self.found {
            let n = found.normal;
            // Tangents by a formula without branches of consequence.
            let sign = 1f64.copysign(n[2]);
            let a = -1.0 / (sign + n[2]);
            let b = n[0] * n[1] * a;
            let frame = [
                n,
                [1.0 + sign * n[0] * n[0] * a, sign * b, -sign * n[0]],
                [b, sign + n[1] * n[1] * a, -n[1]],
            ];
            let (i, j) = (found.key.0 as usize, found.key.1);
            let wall = j > u32::MAX - 100;
            let numbers = self
                .operator
                .push(3, [i as u32, if wall { NO_BODY } else { j }]);
            let mut sides = vec![(i, 1.0, 0)];
            if !wall {
                sides.push((j as usize, -1.0, 6));
            }
            let mut q = [0.0; 3];
            for (r, f) in frame.iter().enumerate() {
                q[r] = -dot(f, &found.wall);
                for &(body, sign, at) in &sides {
                    let arm: Vector = std::array::from_fn(|k| found.place[k] - self.x[body][k]);
                    let turn = cross(&arm, f);
                    let m = self.mass[body];
                    let inertia = 0.4 * m * self.radius[body] * self.radius[body];
                    let mut free = self.v[body];
                    free[2] -= 9.81 * self.h;
                    for k in 0..3 {
                        numbers[r * 12 + at + k] = sign * f[k] / m.sqrt();
                        numbers[r * 12 + at + 3 + k] = sign * turn[k] / inertia.sqrt();
                    }
                    q[r] += sign * (dot(f, &free) + dot(&turn, &self.spin[body]));
                }
            }
            if found.gap > slop {
                q[0] += (found.gap - 0.5 * slop) / self.h;
            }
            self.free.extend_from_slice(&q);
            self.blocks.push(ContactBlock {
                key: ContactKey::found(i as u32, j, 0),
                start: self.free.len() - 3,
                size: 3,
                section: FrictionSection::Disc {
                    mu: self.mu,
                    dimension: 2,
                },
                flow_rule: FlowRule::Coulomb,
                kind: BlockKind::Unilateral { minimum: 0.0 },
            });
            let guess = self
                .memory
                .binary_search_by_key(&found.key, |m| m.0)
                .map_or([0.0; 3], |at| self.memory[at].1);
            self.impulse.extend(frame.iter().map(|f| dot(f, &guess)));
            self.frames.push(frame);
        }
    }

    /// Moves on with the impulses found.
    fn advance(&mut self) {
        self.memory.clear();
        for v in &mut self.v {
            v[2] -= 9.81 * self.h;
        }
        for (c, found) in self.found.iter().enumerate() {
            let p: Vector = std::array::from_fn(|k| {
                (0..3)
                    .map(|r| self.frames[c][r][k] * self.impulse[3 * c + r])
                    .sum()
            });
            self.memory.push((found.key, p));
            let (i, j) = (found.key.0 as usize, found.key.1);
            let mut sides = vec![(i, 1.0)];
            if j < u32::MAX - 100 {
                sides.push((j as usize, -1.0));
            }
            for (body, sign) in sides {
                let m = self.mass[body];
                let inertia = 0.4 * m * self.radius[body] * self.radius[body];
                let arm: Vector = std::array::from_fn(|k| found.place[k] - self.x[body][k]);
                let turn = cross(&arm, &p);
                for k in 0..3 {
                    self.v[body][k] += sign * p[k] / m;
                    self.spin[body][k] += sign * turn[k] / inertia;
                }
            }
        }
        for i in 0..self.x.len() {
            for k in 0..3 {
                self.x[i][k] += self.h * self.v[i][k];
            }
        }
    }
}

/// CPU time of this thread in seconds; elapsed time where the system does not tell.
fn cpu() -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok())
        .map_or_else(
            || {
                use std::sync::OnceLock;
                static START: OnceLock<Instant> = OnceLock::new();
                START.get_or_init(Instant::now).elapsed().as_secs_f64()
            },
            |ns| 1e-9 * ns,
        )
}

struct Run {
    time: f64,
    sweeps: u32,
    visits: u64,
    residual: f64,
}

/// Runs some steps and prints what the solves cost; velocities are damped after step `damped_from`, to settle a pack.
fn measure(
    name: &str,
    world: &mut World,
    solver: &mut BodySweepSolver,
    steps: usize,
    damped_from: usize,
) {
    let mut runs = Vec::new();
    let mut contacts = 0;
    for step in 0..steps {
        world.find();
        world.assemble();
        let (start, wall) = (cpu(), Instant::now());
        let outcome = solver.solve(
            &world.operator,
            &world.free,
            &world.blocks,
            &mut world.impulse,
        );
        let time = if solver.settings().threads > 1 {
            wall.elapsed().as_secs_f64()
        } else {
            cpu() - start
        };
        contacts = world.blocks.len();
        world.advance();
        if step >= damped_from {
            for v in world.v.iter_mut().chain(&mut world.spin) {
                *v = v.map(|v| 0.97 * v);
            }
        }
        runs.push(Run {
            time,
            sweeps: outcome.sweeps,
            visits: outcome.visits,
            residual: outcome.residual,
        });
    }
    let n = runs.len() as f64;
    let solved = runs
        .iter()
        .filter(|r| r.residual <= solver.settings().tolerance)
        .count();
    let worst = runs.iter().map(|r| r.residual).fold(0.0, f64::max);
    let time: f64 = runs.iter().map(|r| r.time).sum();
    let visits: u64 = runs.iter().map(|r| r.visits).sum();
    let sweeps: f64 = runs.iter().map(|r| f64::from(r.sweeps)).sum();
    runs.sort_by(|a, b| a.time.total_cmp(&b.time));
    let mut s: Vec<u32> = runs.iter().map(|r| r.sweeps).collect();
    s.sort_unstable();
    println!(
        "{name:<24} {contacts:>6} contacts  median {:>7.2} ms  mean {:>7.2} ms  sweeps {:>4} / {:>4}, mean {:>6.1}  {:>5.1} ns  solved {solved}/{}  worst {worst:.1e}",
        1e3 * runs[runs.len() / 2].time,
        1e3 * time / n,
        s[s.len() / 2],
        s[s.len() - 1],
        sweeps / n,
        1e9 * time / visits.max(1) as f64,
        runs.len()
    );
}

fn plane(normal: Vector, offset: f64) -> Wall {
    Wall::Plane { normal, offset }
}

fn box_of(width: f64) -> Vec<Wall> {
    vec![
        plane([0.0, 0.0, 1.0], 0.0),
        plane([1.0, 0.0, 0.0], 0.0),
        plane([-1.0, 0.0, 0.0], -width),
        plane([0.0, 1.0, 0.0], 0.0),
        plane([0.0, -1.0, 0.0], -width),
    ]
}

fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with("--"))
        .collect();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    let threads = words
        .iter()
        .find_map(|word| word.strip_prefix("threads="))
        .and_then(|count| count.parse().ok())
        .unwrap_or(1);
    let strict = || {
        BodySweepSolver::new(BodySweepSettings {
            threads,
            ..Default::default()
        })
    };
    let loose = || {
        BodySweepSolver::new(BodySweepSettings {
            tolerance: 1e-4,
            sweeps_max: 100,
            threads,
            ..Default::default()
        })
    };
    for (name, count, columns, steps) in [
        ("pack1000", 1000, 9, 100),
        ("pack5000", 5000, 15, 40),
        ("pack20000", 20000, 24, 10),
    ] {
        if !wanted(name) {
            continue;
        }
        let width = 2.44 * R0 * columns as f64;
        let mut world = World::new(count, columns, box_of(width), 0.3, [0.0; 3]);
        measure("filling to 1e-4", &mut world, &mut loose(), 800, 450);
        measure(name, &mut world, &mut strict(), steps, usize::MAX);
        if name == "pack1000" {
            // The walls are taken away.
            world.walls.truncate(1);
            measure(
                "column, release",
                &mut world,
                &mut strict(),
                100,
                usize::MAX,
            );
            measure("column", &mut world, &mut strict(), 300, usize::MAX);
        }
    }
    if wanted("drum") {
        let walls = vec![
            plane([0.0, 1.0, 0.0], 0.0),
            plane([0.0, -1.0, 0.0], -0.22),
            Wall::Drum {
                radius: 0.45,
                rate: 2.0,
            },
        ];
        let mut world = World::new(1000, 4, walls, 0.5, [0.0; 3]);
        for (i, x) in world.x.iter_mut().enumerate() {
            let jitter = x.map(|x| 0.4 * R0 * ((x * 1e5).fract() - 0.5));
            let cell = [(i / 4) % 12, i % 4, i / 48].map(|c| 2.6 * R0 * c as f64);
            let origin = [-2.6 * R0 * 5.5, 0.03, -0.24];
            *x = std::array::from_fn(|k| origin[k] + cell[k] + jitter[k]);
        }
        measure(
            "drum, filling to 1e-4",
            &mut world,
            &mut loose(),
            500,
            usize::MAX,
        );
        measure("drum", &mut world, &mut strict(), 300, usize::MAX);
    }
}
