//! Viability: a Signorini condition on the velocity keeps the gap admissible, and the impulse obeys
//! the condition on the gap.

use crate::common::random::Random;
use crate::common::{self, Scheme, run};
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};

#[test]
fn velocity_level_contact_keeps_the_gap_up_to_one_step() {
    // A particle thrown at random on a plane: once the condition `u_N ≥ 0, p_N ≥ 0, u_N p_N = 0`
    // acts whenever the gap is closed, the gap stays above minus one step of the approach speed,
    // never grows more negative, and impulses occur only at closed gaps.
    for seed in 0..60 {
        let mut random = Random(seed);
        let (mu, e) = (random.uniform(0.0, 1.0), random.uniform(0.0, 0.9));
        let law = ContactLaw::new(
            FrictionSection::segment(mu).expect("valid"),
            ImpactLaw::Fremond { restitution: e },
        )
        .expect("valid");
        let system = common::particle_on_plane(law, [random.uniform(-2.0, 2.0), -9.81]);
        let start = [0.0, random.uniform(0.0, 0.3)];
        let v = [random.uniform(-2.0, 2.0), random.uniform(-2.0, 2.0)];
        let h = 1e-3;
        let fastest = (v[1] * v[1] + 2.0 * 9.81 * start[1]).sqrt() + 9.81 * h;
        let mut lowest = 0.0f64;
        let theta = 0.5 / (1.0 + e) + 0.25;
        let theta = theta.clamp(0.5, 1.0 / (1.0 + e));
        run(
            system,
            Scheme::MoreauJean(Some(theta)),
            (&start, &v),
            h,
            1.0,
            |record| {
                let contact = &record.contacts[0];
                assert!(
                    contact.gap >= -h * fastest,
                    "seed {seed}: gap {}",
                    contact.gap
                );
                if record.impulses[0] > 0.0 {
                    let before = contact.gap - h * record.local_velocities[0].max(0.0);
                    assert!(
                        before <= h * fastest + 1e-12,
                        "seed {seed}: impulse at gap {before}"
                    );
                }
                // Penetration once reached is kept, not deepened by resting; a free step whose apex lies
                // inside it may end below by what the weight does in one step.
                if contact.gap < lowest - 9.81 * h * h {
                    assert!(
                        contact.approach < -1e-9,
                        "seed {seed}: the gap deepened without an impact"
                    );
                }
                lowest = lowest.min(contact.gap);
            },
        );
    }
}
