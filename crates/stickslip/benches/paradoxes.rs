//! Cost of the studies of indeterminacy: enumeration of twelve contacts, map of the rod.

use std::time::Instant;

use stickslip::algebra::Jet;
use stickslip::contact::{BlockKind, ContactBlock, ContactKey, ContactProblem};
use stickslip::internals::map::{grid, map};
use stickslip::laws::{ContactLaw, FlowRule, FrictionSection, ImpactLaw};
use stickslip::simulation::studies::branches::BranchStudy;
use stickslip::solvers::enumeration::{EnumerationSettings, Verdict, enumerate};
use stickslip::stepping::MoreauContactDynamics;
use stickslip::systems::functions::AutoScalar;
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

fn rod(angle: f64, mu: f64) -> GeneralizedSystem {
    let tip = |q: &[Jet]| [q[0] - q[2].cos(), q[1] - q[2].sin()];
    let law = ContactLaw::new(
        FrictionSection::segment(mu).expect("valid"),
        ImpactLaw::Inelastic,
    )
    .expect("valid");
    let ground =
        UnilateralConstraint::new("ground", AutoScalar(move |_: Jet, q: &[Jet]| tip(q)[1]))
            .with_point(ContactFrame::planar_point(tip, [0.0, 1.0]), law);
    GeneralizedSystem::builder(["x", "y", "theta"])
        .mass_diagonal(&[1.0, 1.0, 1.0 / 3.0])
        .dead_load(&[0.0, -9.81, 0.0])
        .constraint(ground)
        .build(&[0.0, angle.sin(), angle])
        .expect("a valid rod")
}

/// Regime of the rod with a slipping tip.
fn regime(angle: f64, mu: f64) -> &'static str {
    let system = rod(angle, mu);
    let q = [0.0, angle.sin(), angle];
    let mut scheme = MoreauContactDynamics::default();
    let settings = EnumerationSettings::default();
    let found = BranchStudy::of_step(
        &system,
        &mut scheme,
        (0.0, &q, &[-5.0, 0.0, 0.0]),
        1e-6,
        &settings,
    );
    match found.map(|study| study.verdict) {
        Ok(Verdict::Regular) => "regular",
        Ok(Verdict::Indeterminate { .. }) => "indeterminate",
        Ok(Verdict::InconsistentWithoutImpact) => "inconsistent",
        _ => "none",
    }
}

fn twelve_contacts(seed: u64) -> ContactProblem {
    let k = 12;
    let m = 2 * k;
    let mut state = seed;
    let mut unit = move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let b: Vec<f64> = (0..m * m).map(|_| 2.0 * unit() - 1.0).collect();
    let mut w = vec![0.0; m * m];
    for i in 0..m {
        for j in 0..m {
            w[i * m + j] = (0..m).map(|l| b[i * m + l] * b[j * m + l]).sum::<f64>()
                + if i == j { 0.5 } else { 0.0 };
        }
    }
    let free = (0..m)
        .map(|i| {
            if i % 2 == 0 {
                -unit()
            } else {
                2.0 * unit() - 1.0
            }
        })
        .collect();
    let blocks = (0..k)
        .map(|c| ContactBlock {
            key: ContactKey::declared(c, 0),
            start: 2 * c,
            size: 2,
            section: FrictionSection::segment(0.2 + unit()).expect("valid"),
            flow_rule: FlowRule::Coulomb,
            kind: BlockKind::Unilateral { minimum: 0.0 },
        })
        .collect();
    ContactProblem::from_dense(w, free, blocks)
}

fn timed<T: Send>(threads: usize, work: impl Fn() -> T + Sync + Send) -> (T, f64) {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("a pool of threads");
    let start = Instant::now();
    let result = pool.install(&work);
    (result, start.elapsed().as_secs_f64())
}

fn main() {
    for seed in 1..=3 {
        let problem = twelve_contacts(seed);
        let settings = EnumerationSettings::default();
        let solve = || enumerate(&problem, &settings).expect("enumerable");
        let (found, two) = timed(2, solve);
        let (_, one) = timed(1, solve);
        println!(
            "twelve contacts, seed {seed}: {two:.3} s on 2 threads, {one:.3} s on 1 (ratio {:.2}); {} nodes of {}, {} solutions",
            one / two,
            found.effort,
            4u64.pow(12),
            found.solutions.len()
        );
    }
    let chart = || map(grid(0.1, 1.5, 200), grid(0.1, 3.0, 200), regime);
    let (result, two) = timed(2, chart);
    let (_, one) = timed(1, chart);
    let inside = result.values.iter().filter(|w| **w != "regular").count();
    println!(
        "map of the rod 200 x 200: {two:.2} s on 2 threads, {one:.2} s on 1 (ratio {:.2}); {inside} points not regular",
        one / two
    );
}
