//! The theorems of the papers and the hypotheses that each of them needs.

use super::{
    ANALYTIC, AS_WRITTEN, BOUNDED, CONSTANT, COULOMB, DELAYS, FORCES, FORCES_LOCALLY, FRICTION,
    FRICTIONLESS, GENERALIZED, GRADIENT, Hypotheses, Hypothesis, INDEPENDENT, INELASTIC, ISOTROPIC,
    MEAN, ONE, PARTICLE, PRESENT, RESTING, RIGHT, RIGID, SMOOTH_GAPS, SMOOTH_JOINTS, SWEEPING,
    Status, THETA, TheoremCover,
};

/// What Theorem 1.3 of [MonteiroMarquesDzonou2017] asks of the data: g(q) of class C¹ with a gradient, f Lipschitz in the past motion (in its largest distance: past
/// velocities are none of it) and in the velocity over all states, a cone of revolution whose angle is Lipschitz in the place and bounded away from a right angle, rigid contact
/// and inelastic impacts.
const PARTICLE_WITH_FRICTION: [&str; 14] = [
    ONE,
    PARTICLE,
    RIGID,
    COULOMB,
    INELASTIC,
    RIGHT,
    ISOTROPIC,
    RESTING,
    SMOOTH_GAPS,
    GRADIENT,
    FORCES,
    FRICTION,
    BOUNDED,
    DELAYS,
];

/// A theorem on the velocities of one instant.
const IMPACT_IS_DETERMINED: &str = "the velocity after an impact is determined by that before: P'3 and P'4 of [CharlesBallard2016]";

impl Hypotheses {
    /// The theorem by which the motion of the run is the only one from its start, if one covers it.
    pub fn unique_motion(&self) -> Option<&TheoremCover> {
        self.theorems.iter().find(|cover| {
            cover.about == "uniqueness"
                && cover.status == Status::Holds
                && cover.theorem != IMPACT_IS_DETERMINED
        })
    }

    /// Puts the theorems beside the hypotheses.
    pub(super) fn theorems(&mut self) {
        let mut sweeping = vec![SWEEPING];
        sweeping.extend(PARTICLE_WITH_FRICTION);
        let list: [(&str, &str, &[&str]); 8] = [
            (
                "existence",
                "a particle with friction on one surface has a motion: Theorem 1.3 of [MonteiroMarquesDzonou2017]",
                &PARTICLE_WITH_FRICTION,
            ),
            (
                "convergence",
                "subsequences of the sweeping process converge to a motion as the step shrinks: Theorem 1.3 of \
                 [MonteiroMarquesDzonou2017]",
                &sweeping,
            ),
            (
                "bounds",
                "speed, penetration and variation of the velocity are bounded beforehand: Lemmas 1.1, 1.4 and 1.5 of \
                 [MonteiroMarquesDzonou2017]; see `study bounds`",
                &sweeping,
            ),
            (
                "existence",
                "frictionless motions exist for some time: section 1.3 of [CharlesBallard2016]",
                &[
                    FRICTIONLESS,
                    RIGID,
                    RESTING,
                    PRESENT,
                    GRADIENT,
                    INDEPENDENT,
                    SMOOTH_GAPS,
                    SMOOTH_JOINTS,
                    FORCES_LOCALLY,
                ],
            ),
            (
                "uniqueness",
                "frictionless motions of analytic data are unique while they last: section 1.3 of [CharlesBallard2016]",
                &[
                    FRICTIONLESS,
                    RIGID,
                    RESTING,
                    PRESENT,
                    ANALYTIC,
                    GRADIENT,
                    INDEPENDENT,
                ],
            ),
            (
                "uniqueness",
                "the motion of a particle with friction on one surface and analytic data is unique while it lasts: section 2.2 of [CharlesBallard2016]",
                &[
                    ONE,
                    PARTICLE,
                    RIGID,
                    COULOMB,
                    ISOTROPIC,
                    CONSTANT,
                    RIGHT,
                    RESTING,
                    PRESENT,
                    ANALYTIC,
                    FORCES_LOCALLY,
                    GRADIENT,
                ],
            ),
            (
                "uniqueness",
                IMPACT_IS_DETERMINED,
                &[GENERALIZED, RIGID, AS_WRITTEN, GRADIENT, INDEPENDENT],
            ),
            (
                "dissipation",
                "contacts take energy in every step, whatever its length: [AcaryCollinsCraft2023]",
                &[THETA, MEAN, RESTING],
            ),
        ];
        for (about, theorem, needed) in list {
            let of = |wanted: Status| -> Vec<String> {
                let has = |h: &&Hypothesis| needed.contains(&h.name.as_str()) && h.status == wanted;
                let found = self.hypotheses.iter().filter(has);
                found.map(|h| h.name.clone()).collect()
            };
            let (fails, unknown) = (of(Status::Fails), of(Status::Unknown));
            let status = match (fails.is_empty(), unknown.is_empty()) {
                (false, _) => Status::Fails,
                (true, false) => Status::Unknown,
                (true, true) => Status::Holds,
            };
            self.theorems.push(TheoremCover {
                about: about.to_string(),
                theorem: theorem.to_string(),
                status,
                fails,
                unknown,
            });
        }
    }
}
