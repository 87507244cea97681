//! What both engines are given: the same bodies, places, velocities and one friction.

/// Shape of a free body.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// Radius.
    Ball(f64),
    /// Full sides.
    Box([f64; 3]),
}

/// A free body.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    pub form: Form,
    pub density: f64,
    pub place: [f64; 3],
    /// w, x, y, z.
    pub turn: [f64; 4],
    pub velocity: [f64; 3],
    /// In body axes.
    pub spin: [f64; 3],
}

impl Item {
    pub fn new(form: Form, density: f64, place: [f64; 3]) -> Self {
        Self {
            form,
            density,
            place,
            turn: [1.0, 0.0, 0.0, 0.0],
            velocity: [0.0; 3],
            spin: [0.0; 3],
        }
    }

    pub fn mass(&self) -> f64 {
        self.density
            * match self.form {
                Form::Ball(r) => 4.0 / 3.0 * std::f64::consts::PI * r * r * r,
                Form::Box([a, b, c]) => a * b * c,
            }
    }
}

/// Fixed and turning obstacles.
#[derive(Clone, Debug)]
pub enum Obstacle {
    /// A point of a plane and its outward normal.
    Plane([f64; 3], [f64; 3]),
    /// Plates around the y axis, turning about it: inner radius, length, rate, number of plates.
    Drum(f64, f64, f64, usize),
}

/// A scene.
#[derive(Clone, Debug)]
pub struct Scene {
    pub name: String,
    pub items: Vec<Item>,
    pub obstacles: Vec<Obstacle>,
    pub friction: f64,
    /// Friction while the scene settles, where it is another: balls without friction come to rest densely packed.
    pub settling_friction: Option<f64>,
    /// Steps of 1 ms that are made before the clock runs, and with it.
    pub settle: usize,
    pub steps: usize,
    /// Until when bodies that settle are braked by a drag of 20/s.
    pub drag_until: f64,
    /// Typical size of a body.
    pub size: f64,
}

/// Numbers in [-1/2, 1/2).
pub struct Random(u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }
}

const R: f64 = 0.02;
const FLOOR: Obstacle = Obstacle::Plane([0.0; 3], [0.0, 0.0, 1.0]);

/// Balls of unequal size on a lattice.
fn lattice(count: usize, columns: [usize; 2], origin: [f64; 3], pitch: f64) -> Vec<Item> {
    let mut random = Random(12345);
    (0..count)
        .map(|i| {
            let radius = R * (1.0 + 0.2 * random.next());
            let cell = [
                i % columns[0],
                (i / columns[0]) % columns[1],
                i / columns[0] / columns[1],
            ];
            let place = std::array::from_fn(|k| {
                origin[k] + pitch * R * (cell[k] as f64 + 0.5) + 0.15 * R * random.next()
            });
            Item::new(Form::Ball(radius), 2500.0, place)
        })
        .collect()
}

/// A pack of balls in a box without lid: come to rest without friction in a drag, so that three contacts a ball carry it, and at rest with
/// friction since.
pub fn pack(count: usize) -> Scene {
    Scene {
        name: format!("settled pack of {count} balls"),
        settling_friction: Some(0.0),
        drag_until: f64::INFINITY,
        ..compacting(count)
    }
}

/// A pack that has fallen with friction and without drag: it is loose, and still rearranges itself after two seconds.
pub fn compacting(count: usize) -> Scene {
    let columns = ((count as f64 / 1.3).cbrt().round() as usize).max(4);
    let side = 2.3 * R * columns as f64;
    let mut obstacles = vec![FLOOR];
    for (k, at, sign) in [
        (0, 0.0, 1.0),
        (0, side, -1.0),
        (1, 0.0, 1.0),
        (1, side, -1.0),
    ] {
        let (mut place, mut normal) = ([0.0; 3], [0.0; 3]);
        place[k] = at;
        normal[k] = sign;
        obstacles.push(Obstacle::Plane(place, normal));
    }
    Scene {
        name: format!("compacting pack of {count} balls"),
        items: lattice(count, [columns, columns], [0.0; 3], 2.3),
        obstacles,
        friction: 0.5,
        settling_friction: None,
        settle: 2000,
        steps: if count > 2000 { 60 } else { 100 },
        drag_until: 0.0,
        size: 2.0 * R,
    }
}

/// A column of balls that collapses on a plane.
pub fn column(count: usize) -> Scene {
    let columns = ((count as f64 / 2.0).cbrt().round() as usize).max(4);
    Scene {
        name: format!("column of {count} balls"),
        items: lattice(count, [columns, columns], [0.0; 3], 2.25),
        obstacles: vec![FLOOR],
        friction: 0.5,
        settling_friction: None,
        settle: 100,
        steps: 300,
        drag_until: 0.0,
        size: 2.0 * R,
    }
}

/// A drum that turns at two radians per second.
pub fn drum(count: usize) -> Scene {
    let (radius, length) = (0.3 * (count as f64 / 1000.0).cbrt(), 0.4);
    let along = (length / (2.3 * R)) as usize;
    let across = (1.3 * radius / (2.3 * R)) as usize;
    let origin = [
        -0.5 * 2.3 * R * across as f64,
        -0.5 * length,
        -0.68 * radius,
    ];
    Scene {
        name: format!("drum of {count} balls"),
        items: lattice(count, [across, along], origin, 2.3),
        obstacles: vec![
            Obstacle::Drum(radius, length, 2.0, 48),
            Obstacle::Plane([0.0, -0.5 * length, 0.0], [0.0, 1.0, 0.0]),
            Obstacle::Plane([0.0, 0.5 * length, 0.0], [0.0, -1.0, 0.0]),
        ],
        friction: 0.5,
        settling_friction: None,
        settle: 500,
        steps: 400,
        drag_until: 0.0,
        size: 2.0 * R,
    }
}

fn stack(name: &str, items: Vec<Item>, settle: usize) -> Scene {
    Scene {
        name: name.into(),
        items,
        obstacles: vec![FLOOR],
        friction: 0.5,
        settling_friction: None,
        settle,
        steps: 200,
        drag_until: 0.0,
        size: 0.2,
    }
}

/// Layers of n × n, (n − 1) × (n − 1), … boxes.
pub fn pyramid(base: usize) -> Scene {
    let a = 0.2;
    let mut items = Vec::new();
    for layer in 0..base {
        let n = base - layer;
        for i in 0..n * n {
            let shift = 0.5 * layer as f64;
            let place = [
                1.1 * a * ((i % n) as f64 + shift),
                1.1 * a * ((i / n) as f64 + shift),
                a * (layer as f64 + 0.5),
            ];
            items.push(Item::new(Form::Box([a; 3]), 1000.0, place));
        }
    }
    stack(&format!("pyramid of {} boxes", items.len()), items, 20)
}

/// A wall of bricks with staggered layers.
pub fn wall(columns: usize, layers: usize) -> Scene {
    let sides = [0.2, 0.1, 0.1];
    let mut items = Vec::new();
    for layer in 0..layers {
        for i in 0..columns {
            let shift = if layer % 2 == 1 { 0.5 } else { 0.0 };
            let place = [
                sides[0] * (i as f64 + shift),
                0.0,
                sides[2] * (layer as f64 + 0.5),
            ];
            items.push(Item::new(Form::Box(sides), 1800.0, place));
        }
    }
    stack(&format!("wall {columns} x {layers}"), items, 20)
}

/// Towers beside each other.
pub fn towers(count: usize, layers: usize) -> Scene {
    let mut items = Vec::new();
    for tower in 0..count {
        for layer in 0..layers {
            let place = [
                0.5 * (tower % 4) as f64,
                0.5 * (tower / 4) as f64,
                0.2 * (layer as f64 + 0.5),
            ];
            items.push(Item::new(Form::Box([0.2; 3]), 1000.0, place));
        }
    }
    stack(&format!("towers {count} x {layers}"), items, 20)
}

/// A tower whose top box is a thousand times heavier.
pub fn heavy_tower(layers: usize) -> Scene {
    let mut scene = towers(1, layers);
    scene.name = format!("tower of {layers}, top 1000 times heavier");
    if let Some(top) = scene.items.last_mut() {
        top.density *= 1000.0;
    }
    scene
}
