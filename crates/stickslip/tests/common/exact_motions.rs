//! Motions known in closed form: forces, reactions and phases by hand, joined by the formulas of uniform acceleration.

use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::verify::{Formulation, Motion, MotionNode};

use Formulation::{Fremond, P2, P3, P3Prime, P4, P4Prime, P4PrimeLiteral, P5, P6};

const G: f64 = 9.81;

/// A motion with its scene and the formulations it solves.
pub struct ExactMotion {
    pub name: &'static str,
    pub scene: String,
    pub formulations: &'static [Formulation],
    pub motion: Motion,
}

impl ExactMotion {
    pub fn scene(&self) -> Scene {
        parse(&self.scene)
    }
}

/// A scene from its text.
pub fn parse(text: &str) -> Scene {
    Scene::parse(SourceText::new("scene", text)).unwrap_or_else(|e| panic!("{e}"))
}

/// Joins phases of constant force and reaction.
struct Phases {
    mass: Vec<f64>,
    force: Vec<f64>,
    rows: Vec<Vec<f64>>,
    nodes: Vec<MotionNode>,
}

impl Phases {
    fn new(mass: &[f64], force: &[f64], rows: &[&[f64]], q: &[f64], v: &[f64]) -> Self {
        let none = vec![0.0; rows.len()];
        Self {
            mass: mass.to_vec(),
            force: force.to_vec(),
            rows: rows.iter().map(|r| r.to_vec()).collect(),
            nodes: vec![MotionNode {
                t: 0.0,
                q: q.to_vec(),
                v_left: v.to_vec(),
                v_right: v.to_vec(),
                smooth: none.clone(),
                atom: none,
                ..MotionNode::default()
            }],
        }
    }

    fn total(&self, p: &[f64], i: usize) -> f64 {
        self.rows.iter().zip(p).map(|(r, p)| r[i] * p).sum()
    }

    /// An impulse at the last node.
    fn atom(mut self, p: &[f64]) -> Self {
        let jump: Vec<f64> = (0..self.mass.len())
            .map(|i| self.total(p, i) / self.mass[i])
            .collect();
        let node = self.nodes.last_mut().expect("a node");
        node.atom = p.to_vec();
        for ((v, left), jump) in node.v_right.iter_mut().zip(&node.v_left).zip(jump) {
            *v = left + jump;
        }
        self
    }

    /// A time h with reactions at these rates.
    fn over(mut self, h: f64, rates: &[f64]) -> Self {
        let last = self.nodes.last().expect("a node").clone();
        let n = self.mass.len();
        let a: Vec<f64> = (0..n)
            .map(|i| (self.force[i] + self.total(rates, i)) / self.mass[i])
            .collect();
        let v: Vec<f64> = (0..n).map(|i| last.v_right[i] + h * a[i]).collect();
        self.nodes.push(MotionNode {
            t: last.t + h,
            q: (0..n)
                .map(|i| last.q[i] + h * last.v_right[i] + 0.5 * h * h * a[i])
                .collect(),
            v_left: v.clone(),
            v_right: v,
            smooth: rates.iter().map(|r| h * r).collect(),
            atom: vec![0.0; self.rows.len()],
            ..MotionNode::default()
        });
        self
    }

    fn fly(self, h: f64) -> Self {
        let none = vec![0.0; self.rows.len()];
        self.over(h, &none)
    }

    fn done(self) -> Motion {
        Motion {
            nodes: self.nodes,
            ..Motion::default()
        }
    }
}

/// Scene of a particle of mass 2 with a pull, contacts and a start.
fn particle(names: &[&str], pull: &[f64], contacts: &str, initial: &str, head: &str) -> String {
    let list = names.join("\", \"");
    let kinetic: Vec<String> = names.iter().map(|n| format!("{n}'^2")).collect();
    let height = names.last().expect("a coordinate");
    let forces: Vec<String> = names
        .iter()
        .zip(pull)
        .map(|(n, f)| format!("{n} = {f}"))
        .collect();
    format!(
        "title = \"particle\"\nstep = 0.001\nuntil = 1\n{head}\n[system]\ncoordinates = [\"{list}\"]\n\
         kinetic_energy = \"{}\"\npotential = \"2*{G}*{height}\"\nforces = {{ {} }}\n{contacts}\n[initial]\n{initial}\n",
        kinetic.join(" + "),
        forces.join(", ")
    )
}

const LINE: &str = "[[contacts]]\nname = \"floor\"\ngap = \"y\"\npoint = [\"x\", \"y\"]\nfriction = 0.5\nrestitution = 0.4";
const PLANE: &str = "[[contacts]]\nname = \"floor\"\ngap = \"z\"\npoint = [\"x\", \"y\", \"z\"]\nfriction = 0.5\nrestitution = 0.4";
const INELASTIC: &str = "impact = \"inelastic\"";
const NEWTON: &str = "impact = \"newton\"";
const ONE: &[Formulation] = &[P3, P5, P6, P3Prime, Fremond];
const IMPACT: &[Formulation] = &[P5, P6, P3Prime, P4Prime];
/// Rows of the floor, the height being the last coordinate: normal, then tangents.
const FLAT: &[&[f64]] = &[&[0.0, 1.0], &[1.0, 0.0]];
const SPACE: &[&[f64]] = &[&[0.0, 0.0, 1.0], &[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0]];

fn plane_motions() -> Vec<ExactMotion> {
    let (m, mu, e) = (2.0, 0.5, 0.4);
    let weight = m * G;
    let mass = [m, m];
    let fall = [0.0, -weight];
    let friction = mu * weight;
    let scene =
        |pull: &[f64], initial: &str, head: &str| particle(&["x", "y"], pull, LINE, initial, head);
    let mut list = Vec::new();
    let mut add = |name, scene, formulations, motion: Phases| {
        list.push(ExactMotion {
            name,
            scene,
            formulations,
            motion: motion.done(),
        });
    };
    // A block slides and stops after v/(μ g).
    let stop = 2.0 / (mu * G);
    add(
        "slides and stops",
        scene(&[0.0, 0.0], "x_dot = 2", INELASTIC),
        ONE,
        Phases::new(&mass, &fall, FLAT, &[0.0, 0.0], &[2.0, 0.0])
            .over(0.4 * stop, &[weight, -friction])
            .over(0.6 * stop, &[weight, -friction])
            .over(0.3, &[weight, 0.0]),
    );
    // It is thrown down: friction of the impact takes μ times the normal velocity.
    add(
        "lands and slides",
        scene(&[0.0, 0.0], "x_dot = 3\ny_dot = -1", INELASTIC),
        &[P3, P5, P6, P3Prime],
        Phases::new(&mass, &fall, FLAT, &[0.0, 0.0], &[3.0, -1.0])
            .atom(&[m, -mu * m])
            .over(0.3, &[weight, -friction]),
    );
    // Held below the limit, and dragged above it.
    add(
        "held by friction",
        scene(&[0.6 * friction, 0.0], "x = 0.3", INELASTIC),
        ONE,
        Phases::new(
            &mass,
            &[0.6 * friction, -weight],
            FLAT,
            &[0.3, 0.0],
            &[0.0, 0.0],
        )
        .over(0.5, &[weight, -0.6 * friction]),
    );
    add(
        "dragged from rest",
        scene(&[1.7 * friction, 0.0], "x = 0.3", INELASTIC),
        ONE,
        Phases::new(
            &mass,
            &[1.7 * friction, -weight],
            FLAT,
            &[0.3, 0.0],
            &[0.0, 0.0],
        )
        .over(0.2, &[weight, -friction])
        .over(0.3, &[weight, -friction]),
    );
    // Bounces that slide, and one that sticks.
    let time = (2.0 * 0.5 / G).sqrt();
    let down = G * time;
    let (second, third) = (2.0 * e * down / G, 2.0 * e * e * down / G);
    let hit = |speed: f64| [m * (1.0 + e) * speed, -mu * m * (1.0 + e) * speed];
    add(
        "bounces and slides",
        scene(&[0.0, 0.0], "x_dot = 6\ny = 0.5", NEWTON),
        IMPACT,
        Phases::new(&mass, &fall, FLAT, &[0.0, 0.5], &[6.0, 0.0])
            .fly(time)
            .atom(&hit(down))
            .fly(second)
            .atom(&hit(e * down))
            .fly(third)
            .atom(&hit(e * e * down))
            .fly(0.01),
    );
    add(
        "bounces and sticks",
        scene(&[0.0, 0.0], "x_dot = 0.2\ny = 0.5", NEWTON),
        IMPACT,
        Phases::new(&mass, &fall, FLAT, &[0.0, 0.5], &[0.2, 0.0])
            .fly(time)
            .atom(&[m * (1.0 + e) * down, -m * 0.2])
            .fly(0.5 * second),
    );
    // Without friction: reflected.
    add(
        "bounces without friction",
        scene(
            &[0.0, 0.0],
            "x_dot = 1\ny = 0.5",
            "law = \"frictionless\"\nimpact = \"newton\"",
        ),
        &[P2],
        Phases::new(&mass, &fall, &FLAT[..1], &[0.0, 0.5], &[1.0, 0.0])
            .fly(time)
            .atom(&[m * (1.0 + e) * down])
            .fly(second)
            .atom(&[m * (1.0 + e) * e * down])
            .fly(0.05),
    );
    // The mean law with e = 0.4 reverses a slow slip: the mean of both is zero.
    add(
        "bounces under the mean law",
        scene(&[0.0, 0.0], "x_dot = 0.2\ny = 0.5", "impact = \"fremond\""),
        &[Fremond],
        Phases::new(&mass, &fall, FLAT, &[0.0, 0.5], &[0.2, 0.0])
            .fly(time)
            .atom(&[m * (1.0 + e) * down, -m * 0.4])
            .fly(0.5 * second),
    );
    list
}

fn space_motions() -> Vec<ExactMotion> {
    let (m, mu, e) = (2.0, 0.5, 0.4);
    let weight = m * G;
    let friction = mu * weight;
    let mass = [m; 3];
    let fall = [0.0, 0.0, -weight];
    let scene = |pull: &[f64], initial: &str, head: &str| {
        particle(&["x", "y", "z"], pull, PLANE, initial, head)
    };
    let mut list = Vec::new();
    let mut add = |name, scene, formulations, motion: Phases| {
        list.push(ExactMotion {
            name,
            scene,
            formulations,
            motion: motion.done(),
        });
    };
    // Straight on in the direction (0.8, -0.6).
    let stop = 1.5 / (mu * G);
    let drag = [weight, -0.8 * friction, 0.6 * friction];
    add(
        "slides across and stops in space",
        scene(&[0.0; 3], "x_dot = 1.2\ny_dot = -0.9", INELASTIC),
        ONE,
        Phases::new(&mass, &fall, SPACE, &[0.0; 3], &[1.2, -0.9, 0.0])
            .over(0.3 * stop, &drag)
            .over(0.7 * stop, &drag)
            .over(0.2, &[weight, 0.0, 0.0]),
    );
    let pull = [0.7 * 0.8 * friction, 0.7 * 0.6 * friction];
    add(
        "held against a diagonal pull in space",
        scene(&[pull[0], pull[1], 0.0], "x = 0.1\ny = 0.2", INELASTIC),
        ONE,
        Phases::new(
            &mass,
            &[pull[0], pull[1], -weight],
            SPACE,
            &[0.1, 0.2, 0.0],
            &[0.0; 3],
        )
        .over(0.4, &[weight, -pull[0], -pull[1]]),
    );
    let time = (2.0 * 0.5 / G).sqrt();
    let down = G * time;
    let normal = m * (1.0 + e) * down;
    add(
        "bounces and slides in space",
        scene(&[0.0; 3], "x_dot = 4.8\ny_dot = 3.6\nz = 0.5", NEWTON),
        IMPACT,
        Phases::new(&mass, &fall, SPACE, &[0.0, 0.0, 0.5], &[4.8, 3.6, 0.0])
            .fly(time)
            .atom(&[normal, -0.8 * mu * normal, -0.6 * mu * normal])
            .fly(e * down / G),
    );
    // Along an axis of an ellipse, and against the vertex of a polygon.
    let ellipse = PLANE.replace("friction = 0.5", "friction = { ellipse = [0.2, 0.4] }");
    add(
        "slides along the axis of an ellipse",
        particle(
            &["x", "y", "z"],
            &[0.0; 3],
            &ellipse,
            "y_dot = 1",
            INELASTIC,
        ),
        ONE,
        Phases::new(&mass, &fall, SPACE, &[0.0; 3], &[0.0, 1.0, 0.0])
            .over(0.2, &[weight, 0.0, -0.4 * weight]),
    );
    let polygon = PLANE.replace(
        "friction = 0.5",
        "friction = { polygon = [[0.5, 0], [0, 0.3], [-0.5, 0], [0, -0.3]] }",
    );
    add(
        "slides under a polygon",
        particle(
            &["x", "y", "z"],
            &[0.0; 3],
            &polygon,
            "x_dot = 2\ny_dot = 0",
            INELASTIC,
        ),
        ONE,
        Phases::new(&mass, &fall, SPACE, &[0.0; 3], &[2.0, 0.0, 0.0])
            .over(0.3, &[weight, -0.5 * weight, 0.0]),
    );
    list
}

/// A groove along y whose walls lean 45 degrees, in space.
const GROOVE: &str = "[[contacts]]\nname = \"left\"\ngap = \"(x + z)/sqrt(2)\"\n\
    tangents = [[\"1/sqrt(2)\", 0, \"-1/sqrt(2)\"], [0, 1, 0]]\nfriction = 0.3\nrestitution = 0.6\n\
    [[contacts]]\nname = \"right\"\ngap = \"(z - x)/sqrt(2)\"\n\
    tangents = [[\"1/sqrt(2)\", 0, \"1/sqrt(2)\"], [0, 1, 0]]\nfriction = 0.3\nrestitution = 0.6";

fn several_contacts() -> Vec<ExactMotion> {
    let (m, mu) = (2.0, 0.3);
    let weight = m * G;
    let half = 0.5f64.sqrt();
    let rows: &[&[f64]] = &[
        &[half, 0.0, half],
        &[half, 0.0, -half],
        &[0.0, 1.0, 0.0],
        &[-half, 0.0, half],
        &[half, 0.0, half],
        &[0.0, 1.0, 0.0],
    ];
    let fall = [0.0, 0.0, -weight];
    let mut list = Vec::new();
    let mut add = |name, scene, formulations, motion: Phases| {
        list.push(ExactMotion {
            name,
            scene,
            formulations,
            motion: motion.done(),
        });
    };
    let groove =
        |initial: &str, head: &str| particle(&["x", "y", "z"], &[0.0; 3], GROOVE, initial, head);
    // Both walls press with weight/√2 and both rub.
    let press = weight * half;
    let rates = [press, 0.0, -mu * press, press, 0.0, -mu * press];
    let stop = 1.0 / (2.0 * half * mu * G);
    add(
        "slides along a groove",
        groove("y_dot = 1", INELASTIC),
        &[P4, P6, P4Prime, P4PrimeLiteral],
        Phases::new(&[m; 3], &fall, rows, &[0.0; 3], &[0.0, 1.0, 0.0])
            .over(0.5 * stop, &rates)
            .over(0.5 * stop, &rates)
            .over(0.2, &[press, 0.0, 0.0, press, 0.0, 0.0]),
    );
    // The bisector: r_τ vanishes, and so does the velocity along the edge.
    let time = (2.0 * 0.3 / G).sqrt();
    let down = G * time;
    let each = m * 1.6 * down * half;
    add(
        "bounces along the bisector of a groove",
        groove("z = 0.3", NEWTON),
        &[P4, P4Prime, P4PrimeLiteral],
        Phases::new(&[m; 3], &fall, rows, &[0.0, 0.0, 0.3], &[0.0; 3])
            .fly(time)
            .atom(&[each, 0.0, 0.0, each, 0.0, 0.0])
            .fly(0.6 * down / G),
    );
    // A block slides on two feet: friction makes the front foot press more.
    let (b, c, mass, inertia, rub) = (0.5, 0.4, 3.0, 0.2, 0.4);
    let load = mass * G;
    let shift = c * rub * load / b;
    let (rear, front) = (0.5 * (load - shift), 0.5 * (load + shift));
    let foot = |name: &str, x: f64| {
        format!(
            "[[contacts]]\nname = \"{name}\"\ngap = \"y + {x}*sin(a) - {c}*cos(a) + {c}\"\n\
             point = [\"x + {x}*cos(a) + {c}*sin(a)\", \"y + {x}*sin(a) - {c}*cos(a)\"]\nfriction = {rub}\n"
        )
    };
    add(
        "block slides on two feet",
        format!(
            "title = \"block\"\nstep = 0.001\nuntil = 1\nimpact = \"inelastic\"\n[system]\n\
             coordinates = [\"x\", \"y\", \"a\"]\nkinetic_energy = \"{mass}*(x'^2 + y'^2)/2 + {inertia}*a'^2/2\"\n\
             potential = \"{load}*y\"\n{}{}[initial]\nx_dot = 2\n",
            foot("rear", -b),
            foot("front", b)
        ),
        &[P6],
        Phases::new(
            &[mass, mass, inertia],
            &[0.0, -load, 0.0],
            &[
                &[0.0, 1.0, -b],
                &[1.0, 0.0, c],
                &[0.0, 1.0, b],
                &[1.0, 0.0, c],
            ],
            &[0.0; 3],
            &[2.0, 0.0, 0.0],
        )
        .over(0.2, &[rear, -rub * rear, front, -rub * front])
        .over(
            2.0 / (rub * G) - 0.2,
            &[rear, -rub * rear, front, -rub * front],
        )
        .over(0.1, &[0.5 * load, 0.0, 0.5 * load, 0.0]),
    );
    // Two balls on a line exchange their velocities.
    let (light, heavy) = (1.0, 3.0);
    let impulse = 2.0 * light * heavy / (light + heavy) * 2.0;
    add(
        "two balls collide",
        format!(
            "title = \"balls\"\nstep = 0.001\nuntil = 1\nimpact = \"newton\"\n[system]\ncoordinates = [\"a\", \"b\"]\n\
             kinetic_energy = \"{light}*a'^2/2 + {heavy}*b'^2/2\"\n\
             [[contacts]]\nname = \"balls\"\ngap = \"b - a\"\nrestitution = 1\n[initial]\na_dot = 2\nb = 1\n"
        ),
        &[P2],
        Phases::new(
            &[light, heavy],
            &[0.0, 0.0],
            &[&[-1.0, 1.0]],
            &[0.0, 1.0],
            &[2.0, 0.0],
        )
        .fly(0.5)
        .atom(&[impulse])
        .fly(0.4),
    );
    list
}

/// Bodies whose normal and tangential rows feel each other, discs and balls that begin to roll.
fn coupled_motions() -> Vec<ExactMotion> {
    let mut list = Vec::new();
    let mut add = |name, scene, formulations, motion: Motion| {
        list.push(ExactMotion {
            name,
            scene,
            formulations,
            motion,
        });
    };
    // A disc slides, is spun up by friction and rolls after v/(3 μ g).
    let (m, r, mu, v) = (2.0, 0.5, 0.3, 3.0);
    let inertia = 0.5 * m * r * r;
    let roll = v / (3.0 * mu * G);
    let rub = mu * m * G;
    add(
        "disc slides, then rolls",
        format!(
            "title = \"disc\"\nstep = 0.001\nuntil = 1\nimpact = \"inelastic\"\n[system]\n\
             coordinates = [\"x\", \"y\", \"phi\"]\nkinetic_energy = \"{m}*(x'^2 + y'^2)/2 + {inertia}*phi'^2/2\"\n\
             potential = \"{m}*{G}*y\"\n[[contacts]]\nname = \"floor\"\ngap = \"y\"\nslip = \"x' - {r}*phi'\"\n\
             friction = {mu}\n[initial]\nx_dot = {v}\n"
        ),
        &[P5, P6, P3Prime],
        Phases::new(
            &[m, m, inertia],
            &[0.0, -m * G, 0.0],
            &[&[0.0, 1.0, 0.0], &[1.0, 0.0, -r]],
            &[0.0; 3],
            &[v, 0.0, 0.0],
        )
        .over(0.5 * roll, &[m * G, -rub])
        .over(0.5 * roll, &[m * G, -rub])
        .over(0.4, &[m * G, 0.0])
        .done(),
    );
    // A tilted bar hits the floor with its end: Newton's law with Coulomb's friction, and P'3.
    let (m, l, angle, mu, e) = (1.5, 0.8, 0.9f64, 0.3, 0.4);
    let inertia = m * l * l / 3.0;
    let (s, c) = angle.sin_cos();
    let scene = |law: &str| {
        format!(
            "title = \"bar\"\nstep = 0.001\nuntil = 1\nimpact = \"newton\"\n{law}\n[system]\n\
             coordinates = [\"x\", \"y\", \"a\"]\nkinetic_energy = \"{m}*(x'^2 + y'^2)/2 + {inertia}*a'^2/2\"\n\
             potential = \"{m}*{G}*y\"\n[[contacts]]\nname = \"tip\"\ngap = \"y - {l}*sin(a)\"\n\
             point = [\"x - {l}*cos(a)\", \"y - {l}*sin(a)\"]\nfriction = {mu}\nrestitution = {e}\n\
             [initial]\ny = \"{l}*sin({angle})\"\na = {angle}\nx_dot = 0.5\ny_dot = -2\n"
        )
    };
    // Rows of the tip and their W.
    let (n, t) = ([0.0, 1.0, -l * c], [1.0, 0.0, l * s]);
    let product =
        |a: &[f64; 3], b: &[f64; 3]| a[0] * b[0] / m + a[1] * b[1] / m + a[2] * b[2] / inertia;
    let (wnn, wnt, wtt) = (product(&n, &n), product(&n, &t), product(&t, &t));
    let (un, ut) = (-2.0, 0.5);
    let after = -e * un;
    // On the slice of impulses that give the normal velocity, friction wants a tangential velocity and is clipped.
    let solve = |wanted: f64| {
        let determinant = wnn * wtt - wnt * wnt;
        let pt = (wnn * (wanted - ut) - wnt * (after - un)) / determinant;
        let slice = after - un;
        let (high, low) = (
            mu * slice / (wnn + mu * wnt),
            -mu * slice / (wnn - mu * wnt),
        );
        let pt = pt.clamp(low, high);
        [(slice - wnt * pt) / wnn, pt]
    };
    let fly = |p: [f64; 2]| {
        Phases::new(
            &[m, m, inertia],
            &[0.0, -m * G, 0.0],
            &[&n, &t],
            &[0.0, l * s, angle],
            &[0.5, -2.0, 0.0],
        )
        .atom(&p)
        .fly(0.05)
        .done()
    };
    add(
        "bar hits with its tip",
        scene("law = \"coulomb\""),
        &[P5, P6],
        fly(solve(0.0)),
    );
    add(
        "bar hits with its tip under P'3",
        scene("law = \"generalized\""),
        &[P3Prime, P4Prime, P4PrimeLiteral],
        fly(solve(wnt / wnn * after)),
    );
    // A ball with a quaternion slides, is spun up about y and rolls after 2 v/(7 μ g).
    let (m, r, mu, v) = (2.0, 0.1, 0.2, 1.4);
    let inertia = 0.4 * m * r * r;
    let roll = 2.0 * v / (7.0 * mu * G);
    let (rub, spin_up) = (mu * m * G, mu * m * G * r / inertia);
    let node = |time: f64, h: f64, rates: [f64; 3]| {
        let slides = time.min(roll);
        let x =
            v * slides - 0.5 * mu * G * slides * slides + (v - mu * G * slides) * (time - slides);
        let turned = 0.5 * spin_up * slides * slides + spin_up * slides * (time - slides);
        let velocity = vec![v - mu * G * slides, 0.0, 0.0, 0.0, spin_up * slides, 0.0];
        let (sin, cos) = (0.5 * turned).sin_cos();
        MotionNode {
            t: time,
            q: vec![x, 0.0, r, cos, 0.0, sin, 0.0],
            v_left: velocity.clone(),
            v_right: velocity,
            smooth: rates.iter().map(|x| h * x).collect(),
            atom: vec![0.0; 3],
            ..MotionNode::default()
        }
    };
    add(
        "ball with a quaternion slides, then rolls",
        format!(
            "title = \"ball\"\nstep = 0.001\nuntil = 1\nimpact = \"inelastic\"\n[body]\nmass = {m}\n\
             moments = [{inertia}, {inertia}, {inertia}]\ngravity = [0, 0, -{G}]\nposition = [0, 0, {r}]\n\
             velocity = [{v}, 0, 0]\n[[contacts]]\nname = \"floor\"\narm = [0, 0, 0]\nradius = {r}\nfriction = {mu}\n"
        ),
        &[P5, P6],
        Motion {
            nodes: vec![
                node(0.0, 0.0, [0.0; 3]),
                node(0.5 * roll, 0.5 * roll, [m * G, -rub, 0.0]),
                node(roll, 0.5 * roll, [m * G, -rub, 0.0]),
                node(roll + 0.2, 0.2, [m * G, 0.0, 0.0]),
            ],
            ..Motion::default()
        },
    );
    list
}

/// All of them.
pub fn exact_motions() -> Vec<ExactMotion> {
    let mut all = plane_motions();
    all.extend(space_motions());
    all.extend(several_contacts());
    all.extend(coupled_motions());
    all
}
