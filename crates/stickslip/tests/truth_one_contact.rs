//! One contact of a rigid body and of a rod, and two points of one constraint: the values of
//! S(q, v), γ, impulses and inelastic Coulomb impacts agree with values computed independently.
//!
//! Source of the numbers: reference cases of the project for [Paoli2015], [CharlesBallard2016] (a
//! cone program in another language); tolerance 1e-5 where that program stopped there, 1e-8 for
//! closed forms.

use stickslip::internals::one_contact::{
    LocalOutcome, LocalScratch, LocalState, OneContact, gamma, planar, solve_coulomb, solve_kinetic,
};
use stickslip::laws::FrictionSection;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn close(name: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{name}");
    for (a, b) in found.iter().zip(expected) {
        assert!(
            (a - b).abs() <= tolerance * b.abs().max(1.0),
            "{name}: {found:?}, expected {expected:?}"
        );
    }
}

/// Solves M x = b for a small symmetric positive definite M.
fn solve(mass: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut a: Vec<Vec<f64>> = (0..n)
        .map(|i| mass[i].iter().copied().chain([b[i]]).collect())
        .collect();
    for k in 0..n {
        let pivot = a[k].clone();
        for (_, row) in a.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let f = row[k] / pivot[k];
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= f * p);
        }
    }
    (0..n).map(|i| a[i][n] / a[i][i]).collect()
}

/// A body with its contact rows.
struct Body {
    mass: Vec<Vec<f64>>,
    rows: Vec<Vec<f64>>,
    v: Vec<f64>,
}

impl Body {
    /// Rigid body in space, mass m, principal inertia I, contact at c from the centre; normal z.
    fn rigid(m: f64, inertia: [f64; 3], c: [f64; 3], v: &[f64]) -> Self {
        let diagonal = [m, m, m, inertia[0], inertia[1], inertia[2]];
        let mass = (0..6)
            .map(|i| {
                (0..6)
                    .map(|j| if i == j { diagonal[i] } else { 0.0 })
                    .collect()
            })
            .collect();
        let row = |d: [f64; 3]| {
            vec![
                d[0],
                d[1],
                d[2],
                c[1] * d[2] - c[2] * d[1],
                c[2] * d[0] - c[0] * d[2],
                c[0] * d[1] - c[1] * d[0],
            ]
        };
        let rows = vec![
            row([0.0, 0.0, 1.0]),
            row([1.0, 0.0, 0.0]),
            row([0.0, 1.0, 0.0]),
        ];
        Body {
            mass,
            rows,
            v: v.to_vec(),
        }
    }

    /// The rod of mass 1 and length 1.
    fn uniform_rod(angle: f64, v: &[f64]) -> Self {
        Self::rod(1.0, 0.5, 0.08333333333333333, angle, v)
    }

    /// Free rod (x, y, angle) with half length l; its lower tip on the floor.
    fn rod(m: f64, l: f64, inertia: f64, angle: f64, v: &[f64]) -> Self {
        let mass = vec![
            vec![m, 0.0, 0.0],
            vec![0.0, m, 0.0],
            vec![0.0, 0.0, inertia],
        ];
        let rows = vec![
            vec![0.0, 1.0, -l * angle.cos()],
            vec![1.0, 0.0, l * angle.sin()],
        ];
        Body {
            mass,
            rows,
            v: v.to_vec(),
        }
    }

    fn local(&self) -> (Vec<f64>, Vec<f64>) {
        let lifted: Vec<Vec<f64>> = self.rows.iter().map(|r| solve(&self.mass, r)).collect();
        let w = self
            .rows
            .iter()
            .flat_map(|r| lifted.iter().map(|s| dot(r, s)).collect::<Vec<_>>())
            .collect();
        (w, self.rows.iter().map(|r| dot(r, &self.v)).collect())
    }

    fn after(&self, p: &[f64]) -> Vec<f64> {
        let mut force = vec![0.0; self.v.len()];
        for (row, p) in self.rows.iter().zip(p) {
            force.iter_mut().zip(row).for_each(|(f, r)| *f += p * r);
        }
        solve(&self.mass, &force)
            .iter()
            .zip(&self.v)
            .map(|(a, b)| a + b)
            .collect()
    }

    fn energy(&self, v: &[f64]) -> f64 {
        0.5 * self
            .mass
            .iter()
            .zip(v)
            .map(|(row, x)| x * dot(row, v))
            .sum::<f64>()
    }
}

fn kinetic(body: &Body, section: &FrictionSection) -> (Vec<f64>, Vec<f64>) {
    let (w, q) = body.local();
    let contact = OneContact {
        w: &w,
        q: &q,
        section,
        normal_impulse_min: 0.0,
    };
    let mut p = vec![0.0; q.len()];
    let outcome = solve_kinetic(&contact, 1e-12, &mut p, &mut LocalScratch::default());
    assert!(outcome.state().is_some(), "{outcome:?}");
    let mut u = vec![0.0; q.len()];
    contact.velocity(&p, &mut u);
    (p, u)
}

#[test]
fn disc_1() {
    let v: &[f64] = &[1.0, 0.5, -1.0, 0.2, -0.3, 0.1];
    let body = Body::rigid(1.0, [0.05, 0.06, 0.04], [-0.3, 0.1, -0.4], v);
    let section = FrictionSection::disc(0.15).unwrap();
    let (w, q) = body.local();
    close("gamma", &[gamma(&w, &section)], &[2.37689011157193], 1e-8);
    let (p, u) = kinetic(&body, &section);
    close(
        "S",
        &body.after(&p),
        &[
            0.9838443309596779,
            0.44197918354230836,
            -0.5984795129312929,
            0.5388744424758811,
            1.8153068956123495,
            0.5755452960334927,
        ],
        1e-5,
    );
    close(
        "velocity after",
        &u,
        &[0.0, 0.200167043111389, 0.484865371722613],
        1e-5,
    );
    close(
        "energy",
        &[body.energy(&body.after(&p))],
        &[0.8734813599546498],
        1e-5,
    );
    close(
        "impulse",
        &p,
        &[
            0.40152048706870713,
            -0.016155669040322077,
            -0.05802081645769166,
        ],
        1e-5,
    );
    let cosine = -dot(&p[1..], &u[1..]) / (p[1].hypot(p[2]) * u[1].hypot(u[2]));
    close(
        "angle",
        &[cosine.acos().to_degrees()],
        &[6.872658038546863],
        1e-4,
    );
    let contact = OneContact {
        w: &w,
        q: &q,
        section: &section,
        normal_impulse_min: 0.0,
    };
    let mut p = [0.0; 3];
    let outcome = solve_coulomb(&contact, &mut p, &mut LocalScratch::default());
    assert_eq!(outcome.state(), Some(LocalState::Slip));
    close(
        "Coulomb impulse",
        &p,
        &[
            0.3968543497689633,
            -0.021457215671133782,
            -0.05552646964808541,
        ],
        1e-5,
    );
    close(
        "Coulomb velocity",
        &body.after(&p),
        &[
            0.9785427843288662,
            0.4444735303519146,
            -0.6031456502310367,
            0.5494969423532434,
            1.8273198533190416,
            0.570091561538475,
        ],
        1e-5,
    );
}

#[test]
fn disc_3() {
    let v: &[f64] = &[0.3, -1.2, -1.0, 1.0, 0.5, -0.5];
    let body = Body::rigid(1.0, [0.05, 0.06, 0.04], [0.2, -0.3, -0.7], v);
    let section = FrictionSection::disc(0.2).unwrap();
    let (w, q) = body.local();
    close("gamma", &[gamma(&w, &section)], &[2.505741186841213], 1e-8);
    let (p, u) = kinetic(&body, &section);
    close(
        "S",
        &body.after(&p),
        &[
            0.25453819403687167,
            -1.098101570538108,
            -0.44210068721521756,
            -0.9208178642422076,
            -0.8292766397127778,
            -0.3314713974140028,
        ],
        1e-5,
    );
    close(
        "velocity after",
        &u,
        &[
            2.220446049250313e-16,
            0.7355904226116152,
            -1.8089683549904536,
        ],
        1e-5,
    );
    close(
        "energy",
        &[body.energy(&body.after(&p))],
        &[0.7770609811179505],
        1e-5,
    );
    close(
        "impulse",
        &p,
        &[
            0.5578993127847824,
            -0.04546180596312833,
            0.10189842946189194,
        ],
        1e-5,
    );
    let cosine = -dot(&p[1..], &u[1..]) / (p[1].hypot(p[2]) * u[1].hypot(u[2]));
    close(
        "angle",
        &[cosine.acos().to_degrees()],
        &[1.9155603851114007],
        1e-4,
    );
    let contact = OneContact {
        w: &w,
        q: &q,
        section: &section,
        normal_impulse_min: 0.0,
    };
    let mut p = [0.0; 3];
    let outcome = solve_coulomb(&contact, &mut p, &mut LocalScratch::default());
    assert_eq!(outcome.state(), Some(LocalState::Slip));
    close(
        "Coulomb impulse",
        &p,
        &[
            0.5574940998552879,
            -0.04342922038415294,
            0.10269318220681928,
        ],
        1e-5,
    );
    close(
        "Coulomb velocity",
        &body.after(&p),
        &[
            0.25657077961584707,
            -1.0973068177931806,
            -0.44250590014471214,
            -0.9072600482362574,
            -0.8516394283691755,
            -0.3122532418470506,
        ],
        1e-5,
    );
}

#[test]
fn disc_gamma_neg_2() {
    let v: &[f64] = &[1.4, 1.0, -0.05, 0.1, 0.0, 0.0];
    let body = Body::rigid(1.0, [0.05, 0.06, 0.04], [-0.2, 0.1, -0.45], v);
    let section = FrictionSection::disc(3.0).unwrap();
    let (w, q) = body.local();
    close(
        "gamma",
        &[gamma(&w, &section)],
        &[-3.3811900386941045],
        1e-8,
    );
    let (p, u) = kinetic(&body, &section);
    close(
        "S",
        &body.after(&p),
        &[
            1.3389647125082103,
            0.7945321330503521,
            0.02144722268767782,
            -1.6063163571714751,
            0.6959220651473486,
            1.1799275534777136,
        ],
        1e-5,
    );
    close(
        "velocity after",
        &u,
        &[
            6.938893903907228e-18,
            0.9078070278441321,
            -0.16429573837235445,
        ],
        1e-5,
    );
    close(
        "energy",
        &[body.energy(&body.after(&p))],
        &[1.3191640098111783],
        1e-5,
    );
    close(
        "impulse",
        &p,
        &[
            0.07144722268767782,
            -0.06103528749178965,
            -0.2054678669496479,
        ],
        1e-5,
    );
    let cosine = -dot(&p[1..], &u[1..]) / (p[1].hypot(p[2]) * u[1].hypot(u[2]));
    close(
        "angle",
        &[cosine.acos().to_degrees()],
        &[83.71407932329016],
        1e-4,
    );
    let contact = OneContact {
        w: &w,
        q: &q,
        section: &section,
        normal_impulse_min: 0.0,
    };
    let mut p = [0.0; 3];
    let outcome = solve_coulomb(&contact, &mut p, &mut LocalScratch::default());
    assert_eq!(outcome.state(), Some(LocalState::Slip));
    close(
        "Coulomb impulse",
        &p,
        &[
            0.010302244054400576,
            -0.024862210430062648,
            -0.01836019023700932,
        ],
        1e-5,
    );
    close(
        "Coulomb velocity",
        &body.after(&p),
        &[
            1.3751377895699373,
            0.9816398097629907,
            -0.039697755945599426,
            -0.04463722402428272,
            0.22080739174013847,
            0.15395647726020326,
        ],
        1e-5,
    );
}

#[test]
fn ellipse_1() {
    let v: &[f64] = &[1.0, 0.5, -1.0, 0.2, -0.3, 0.1];
    let body = Body::rigid(1.0, [0.05, 0.06, 0.04], [-0.3, 0.1, -0.4], v);
    let section = FrictionSection::ellipse([0.6, 0.2]).unwrap();
    let (w, q) = body.local();
    close(
        "gamma",
        &[gamma(&w, &section) / w[0].sqrt()],
        &[0.906408000156734],
        1e-8,
    );
    let (p, u) = kinetic(&body, &section);
    close(
        "S",
        &body.after(&p),
        &[
            0.9449826963935943,
            0.42681756843293056,
            -0.6227735785033937,
            0.36899339045665724,
            1.9529141315257361,
            0.7864114957690349,
        ],
        1e-5,
    );
    close(
        "velocity after",
        &u,
        &[
            -7.16093850883226e-15,
            0.08517589420639637,
            0.338491475884883,
        ],
        1e-5,
    );
    close(
        "energy",
        &[body.energy(&body.after(&p))],
        &[0.8616952036660739],
        1e-5,
    );
    assert!(q[0] < 0.0);
}

#[test]
fn square_1() {
    let v: &[f64] = &[1.0, 0.3, -1.0, 0.0, 0.0, 0.0];
    let body = Body::rigid(1.0, [0.05, 0.06, 0.04], [-0.3, 0.1, -0.4], v);
    let section = FrictionSection::polytope(&[
        vec![0.2, 0.2],
        vec![-0.2, 0.2],
        vec![-0.2, -0.2],
        vec![0.2, -0.2],
    ])
    .unwrap();
    let (w, q) = body.local();
    close(
        "gamma",
        &[gamma(&w, &section) / w[0].sqrt()],
        &[1.3023625256233045],
        1e-8,
    );
    let (p, u) = kinetic(&body, &section);
    close(
        "S",
        &body.after(&p),
        &[
            0.9369095856729752,
            0.2311953408393613,
            -0.655976704194644,
            0.13760931832560247,
            2.1407192412069453,
            0.6737609795223521,
        ],
        1e-5,
    );
    close(
        "velocity after",
        &u,
        &[
            -1.942890293094024e-16,
            0.013245791237961865,
            0.08411077431289665,
        ],
        1e-5,
    );
    close(
        "energy",
        &[body.energy(&body.after(&p))],
        &[0.8278109982518994],
        1e-5,
    );
    assert!(q[0] < 0.0);
}

#[test]
fn two_points_bounded() {
    let body = Body {
        mass: vec![
            vec![2.0, 0.0, 0.0, 0.0],
            vec![0.0, 2.0, 0.0, 0.0],
            vec![0.0, 0.0, 0.2, 0.0],
            vec![0.0, 0.0, 0.0, 0.2],
        ],
        rows: vec![
            vec![0.0, 1.0, 0.0, 0.0],
            vec![1.0, 0.0, 0.3, 0.0],
            vec![1.0, 0.0, 0.0, 0.3],
        ],
        v: vec![1.0, -1.0, 0.5, -0.2],
    };
    let section = FrictionSection::hull(vec![
        FrictionSection::segment(0.4).unwrap(),
        FrictionSection::segment(0.7).unwrap(),
    ])
    .unwrap();
    let (w, _) = body.local();
    // The reference divides by the square root of W_nn.
    close(
        "gamma",
        &[gamma(&w, &section) / w[0].sqrt()],
        &[0.7071067811865475],
        1e-8,
    );
    let (p, _) = kinetic(&body, &section);
    let v = body.after(&p);
    close(
        "S",
        &v,
        &[
            0.5013333333333756,
            0.0,
            -0.30533333333315593,
            -0.8906666666667173,
        ],
        1e-5,
    );
    close(
        "energies",
        &[body.energy(&body.v), body.energy(&v)],
        &[2.029, 0.3399866666667072],
        1e-5,
    );
}

#[test]
fn two_points_unbounded() {
    let body = Body {
        mass: vec![
            vec![2.0, 0.18, 0.0, 0.0],
            vec![0.18, 2.0, 0.6, 0.0],
            vec![0.0, 0.6, 0.2, 0.0],
            vec![0.0, 0.0, 0.0, 0.2],
        ],
        rows: vec![
            vec![0.0, 1.0, 0.0, 0.0],
            vec![1.0, 0.0, 0.3, 0.0],
            vec![1.0, 0.0, 0.0, 0.3],
        ],
        v: vec![-1.0, -0.1, 0.5, -0.2],
    };
    let section = FrictionSection::hull(vec![
        FrictionSection::segment(1.5).unwrap(),
        FrictionSection::segment(0.7).unwrap(),
    ])
    .unwrap();
    let (w, _) = body.local();
    // The reference divides by the square root of W_nn.
    close(
        "gamma",
        &[gamma(&w, &section) / w[0].sqrt()],
        &[-1.1312770716494889],
        1e-8,
    );
    let (p, _) = kinetic(&body, &section);
    let v = body.after(&p);
    close(
        "S",
        &v,
        &[
            -0.4061400656728551,
            1.4155343563970746e-15,
            1.6401205805680696,
            0.16845922241336286,
        ],
        1e-5,
    );
    close(
        "energies",
        &[body.energy(&body.v), body.energy(&v)],
        &[1.027, 0.436787155786658],
        1e-5,
    );
}

/// A uniform rod of mass and length 1 whose tip slides along the floor, and what the reference says of it.
struct SlidingRod {
    angle: f64,
    friction: f64,
    v: [f64; 3],
    /// W_nn, W_nt, W_tt.
    w: [f64; 3],
    /// γ over the square of the Euclidean length of the normal row.
    gamma: f64,
    jam_impulse: [f64; 2],
    jam_velocity: [f64; 3],
    /// Velocity after S where the tip approaches with 1 mm/s besides, and its impulse.
    after: [f64; 3],
    impulse: [f64; 2],
}

impl SlidingRod {
    fn check(&self) {
        let mu = self.friction;
        let body = Body::uniform_rod(self.angle, &self.v);
        let section = FrictionSection::segment(mu).unwrap();
        let (w, q) = body.local();
        close("W", &[w[0], w[1], w[3]], &self.w, 1e-8);
        let length = dot(&body.rows[0], &body.rows[0]);
        let found = gamma(&w, &section) / length;
        close("gamma", &[found], &[self.gamma], 1e-8);
        let mut p = [0.0; 2];
        let outcome = planar::solve_jam_planar(&w, &q, (-mu, mu), &mut p);
        assert_eq!(outcome == LocalOutcome::Open, self.jam_impulse == [0.0; 2]);
        close("jam impulse", &p, &self.jam_impulse, 1e-8);
        close("jam velocity", &body.after(&p), &self.jam_velocity, 1e-8);
        let [x, y, angle] = self.v;
        let body = Body::uniform_rod(self.angle, &[x, y - 0.001, angle]);
        let (p, _) = kinetic(&body, &section);
        close("S", &body.after(&p), &self.after, 1e-8);
        close("impulse", &p, &self.impulse, 1e-8);
    }
}

#[test]
fn rod_0() {
    SlidingRod {
        angle: 1.1071487177940904,
        friction: 1.2,
        v: [-1.0, 0.0, 0.0],
        w: [1.6, -1.2000000000000002, 3.4],
        gamma: 0.1523809523809523,
        jam_impulse: [0.0, 0.0],
        jam_velocity: [-1.0, 0.0, 0.0],
        after: [-0.9925, 0.005250000000000003, 0.023478713763747792],
        impulse: [0.006250000000000003, 0.007500000000000003],
    }
    .check();
}

#[test]
fn rod_1() {
    SlidingRod {
        angle: 1.1071487177940904,
        friction: 1.4,
        v: [-1.0, 0.0, 0.0],
        w: [1.6, -1.2000000000000002, 3.4],
        gamma: -0.07619047619047625,
        jam_impulse: [0.30000000000000004, 0.4],
        jam_velocity: [-0.6, 0.30000000000000004, 1.3416407864998736],
        after: [-0.5996999999999999, 0.2998500000000001, 1.340969966106624],
        impulse: [0.3008500000000001, 0.4003000000000001],
    }
    .check();
}

#[test]
fn rod_3() {
    SlidingRod {
        angle: std::f64::consts::FRAC_PI_4,
        friction: 1.8,
        v: [-1.0, 0.0, 0.0],
        w: [2.5, -1.5, 2.5],
        gamma: -0.17777777777777792,
        jam_impulse: [0.37499999999999994, 0.6249999999999999],
        jam_velocity: [-0.3750000000000001, 0.37499999999999994, 1.060660171779821],
        after: [-0.3746250000000001, 0.37462499999999993, 1.059599511608041],
        impulse: [0.37562499999999993, 0.6253749999999999],
    }
    .check();
}

#[test]
fn rod_6() {
    SlidingRod {
        angle: 1.0471975511965976,
        friction: 1.5,
        v: [-3.598076211353316, 1.5000000000000004, 6.0],
        w: [1.7500000000000004, -1.2990381056766582, 3.25],
        gamma: -0.18687732566116425,
        jam_impulse: [0.3247595264191645, 0.4375],
        jam_velocity: [-3.160576211353316, 1.824759526419165, 7.299038105676658],
        after: [-3.160251451826897, 1.824572026419165, 7.298288105676658],
        impulse: [0.32557202641916444, 0.4378247595264192],
    }
    .check();
}

#[test]
fn rod_7() {
    SlidingRod {
        angle: 1.0471975511965976,
        friction: 2.0,
        v: [1.0, 0.0, 0.0],
        w: [1.7500000000000004, -1.2990381056766582, 3.25],
        gamma: -0.7981893753913563,
        jam_impulse: [0.0, 0.0],
        jam_velocity: [1.0, 0.0, 0.0],
        after: [
            0.9995400264616389,
            -0.0007700132308194399,
            -0.0030800529232777587,
        ],
        impulse: [0.00022998676918056018, -0.0004599735383611204],
    }
    .check();
}

/// The same rod striking the floor, and S of its velocity.
struct StrikingRod {
    angle: f64,
    friction: f64,
    v: [f64; 3],
    after: [f64; 3],
    impulse: [f64; 2],
    local_before: [f64; 2],
    local_after: [f64; 2],
    /// Kinetic energy before and after.
    energies: [f64; 2],
}

impl StrikingRod {
    fn check(&self) {
        let body = Body::uniform_rod(self.angle, &self.v);
        let (p, u) = kinetic(&body, &FrictionSection::segment(self.friction).unwrap());
        let after = body.after(&p);
        close("S", &after, &self.after, 1e-8);
        close("impulse", &p, &self.impulse, 1e-8);
        close("before", &body.local().1, &self.local_before, 1e-8);
        close("after", &u, &self.local_after, 1e-8);
        let energies = [body.energy(&self.v), body.energy(&after)];
        close("energies", &energies, &self.energies, 1e-8);
    }
}

#[test]
fn rod_s_collision_0() {
    StrikingRod {
        angle: std::f64::consts::FRAC_PI_4,
        friction: 0.3,
        v: [1.0, -1.0, 0.0],
        after: [0.8983050847457628, -0.6610169491525424, -1.869638268900024],
        impulse: [0.3389830508474576, -0.10169491525423728],
        local_before: [-1.0, 1.0],
        local_after: [0.0, 0.23728813559322048],
        energies: [1.0, 0.7675955185291583],
    }
    .check();
}

#[test]
fn rod_s_collision_2() {
    StrikingRod {
        angle: 1.0471975511965976,
        friction: 2.0,
        v: [-1.0, -0.5, 0.2],
        after: [-0.4217708718850287, 0.24350952641916435, 0.974038105676658],
        impulse: [0.7435095264191643, 0.5782291281149713],
        local_before: [-0.55, -0.9133974596215562],
        local_after: [-2.220446049250313e-16, 0.0],
        energies: [0.6266666666666667, 0.15812503855169535],
    }
    .check();
}

#[test]
fn rod_s_collision_4() {
    StrikingRod {
        angle: 0.3490658503988659,
        friction: 0.8,
        v: [-3.0, -0.1, 0.5],
        after: [
            -2.906892129387942,
            0.016384838265072033,
            0.03487276137460488,
        ],
        impulse: [0.11638483826507204, 0.09310787061205762],
        local_before: [-0.3349231551964771, -2.9144949641685827],
        local_after: [3.469446951953614e-18, -2.90092853596619],
        energies: [4.515416666666667, 4.225195828639848],
    }
    .check();
}

#[test]
fn rod_gamma_vanishes_on_the_critical_curve() {
    for (degrees, mu) in [
        (10.0, 7.6204847530597695),
        (15.0, 5.065384140902212),
        (20.0, 3.784626637361564),
        (25.0, 3.0147784467310776),
        (30.0, 2.501851166488379),
        (35.0, 2.1375998550593893),
        (40.0, 1.868704667184707),
        (45.0, 1.666666666666667),
        (50.0, 1.5160507057677768),
        (55.0, 1.4096593865269844),
        (60.0, 1.3471506281091268),
        (65.0, 1.3365791843765176),
        (70.0, 1.4011194521731438),
        (75.0, 1.601282525764456),
        (80.0, 2.1255299141505226),
        (85.0, 3.9266689856216814),
    ] {
        let angle: f64 = f64::to_radians(degrees);
        let body = Body::rod(1.0, 1.0, 1.0 / 3.0, angle, &[0.0; 3]);
        let (w, _) = body.local();
        let gamma = gamma(&w, &FrictionSection::segment(mu).unwrap());
        assert!(gamma.abs() <= 1e-14 * w[0].max(mu), "{degrees}: {gamma}");
    }
}

/// An approach at rounding beside fast slip and rolling: S leaves nothing but what stops it.
#[test]
fn a_grazing_contact_with_rolling_friction_is_stopped_by_almost_nothing() {
    let parts = [0.5, 0.1].map(|mu| FrictionSection::ball(mu, 1).expect("valid"));
    let section = FrictionSection::product(parts.to_vec()).expect("valid");
    let w = [2.0, 0.4, -0.2, 0.4, 1.5, 0.1, -0.2, 0.1, 1.0];
    for approach in [1e-3, 1e-9, 1e-16, 1e-20, 1e-30] {
        let q = [-approach, 0.4, -0.3];
        let contact = OneContact {
            w: &w,
            q: &q,
            section: &section,
            normal_impulse_min: 0.0,
        };
        let mut p = vec![0.0; 3];
        let outcome = solve_kinetic(&contact, 1e-12, &mut p, &mut LocalScratch::default());
        let normal = q[0] + dot(&w[..3], &p);
        assert!(normal.abs() < 1e-12, "{approach}: {outcome:?}, {normal}");
        // γ = 2 − 0.5·0.4 − 0.1·0.2.
        let most = approach / 1.78 + 1e-13;
        assert!((-1e-13..=most).contains(&p[0]), "{approach}: {p:?}");
    }
}
