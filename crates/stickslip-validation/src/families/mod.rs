//! The families: one function each, grouped by subject.
//!
//! To add a family write its function in the file of its subject and its line in `FAMILIES`; to
//! add a quantity put it into the group that its function returns. A function reads `params` and
//! the given rows, lets the engine compute, and shapes the records into the names of the case.

mod circle_slides;
mod delays;
mod elastodynamics;
mod friction_sets;
mod generalized_steps;
mod impacts;
mod kane;
mod linear_gaps;
mod motions;
mod multi_contact;
mod painleve;
mod point_impacts;
mod polar;
mod positions;
mod rod;
mod rolling;
mod schatzman;
mod slider;
mod smooth;
mod sweeping;
mod theorem1;

use super::{Answer, CaseError, CaseInput, RoundoffRule};

/// Computes all quantities of a case.
pub type Compute = fn(&CaseInput) -> Result<Answer, CaseError>;
/// Computes all quantities by time stepping, `refinement` times finer than the coarsest run.
pub type ComputeRefined = fn(&CaseInput, refinement: usize) -> Result<Answer, CaseError>;
/// Runs the plain algorithm with a number of steps; returns what is compared with what.
pub type SweepRun = fn(&CaseInput, steps: usize) -> Result<Vec<(SweepTarget, f64)>, CaseError>;

/// What a component of a sweep is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum SweepTarget {
    /// The expected value behind a dotted path.
    Expected(String),
    /// A number.
    Value(f64),
}

/// How the cases of a family are computed.
#[derive(Clone, Copy)]
pub enum Evaluator {
    /// Algebra, one impact, or a scheme with the given step.
    Step(Compute),
    /// The continuous motion.
    Motion {
        /// Order of the scheme on this motion.
        order: f64,
        /// By time stepping.
        at_refinement: ComputeRefined,
        /// By an event-driven or exact computation; it decides where it exists.
        exact: Option<Compute>,
    },
}

/// A family of cases.
#[derive(Clone, Copy)]
pub struct Family {
    /// Name in the case files.
    pub name: &'static str,
    /// Scale of quantities that vanish up to rounding.
    pub roundoff: RoundoffRule,
    /// How it is computed.
    pub evaluator: Evaluator,
    /// The plain algorithm of a sweep table.
    pub sweep: Option<SweepRun>,
    /// Whether a motion has an impact at its end.
    pub jumps_at_end: Option<fn(&CaseInput) -> bool>,
}

/// Reference results of contact mechanics.
const fn mechanics(name: &'static str, compute: Compute) -> Family {
    Family {
        name,
        roundoff: RoundoffRule::LargestParameter,
        evaluator: Evaluator::Step(compute),
        sweep: None,
        jumps_at_end: None,
    }
}

/// Reference results of schemes.
const fn scheme(name: &'static str, compute: Compute) -> Family {
    Family {
        name,
        roundoff: RoundoffRule::InnermostGroup,
        evaluator: Evaluator::Step(compute),
        sweep: None,
        jumps_at_end: None,
    }
}

impl Family {
    /// The same family with the plain algorithm of its sweep table.
    const fn swept(self, sweep: SweepRun) -> Self {
        Self {
            sweep: Some(sweep),
            ..self
        }
    }

    /// The same family with what tells that a motion ends at an impact.
    const fn jumping(self, jumps: fn(&CaseInput) -> bool) -> Self {
        Self {
            jumps_at_end: Some(jumps),
            ..self
        }
    }

    /// The same family as a motion, computed by time stepping of the given order.
    const fn motion(
        self,
        order: f64,
        at_refinement: ComputeRefined,
        exact: Option<Compute>,
    ) -> Self {
        Self {
            evaluator: Evaluator::Motion {
                order,
                at_refinement,
                exact,
            },
            ..self
        }
    }
}

/// Placeholder of families that are motions only.
fn no_step(_: &CaseInput) -> Result<Answer, CaseError> {
    Ok(Answer::Absent)
}

const FAMILIES: &[Family] = &[
    // frictionless, impact_laws
    mechanics("ball", no_step)
        .motion(1.0, motions::ball, Some(motions::ball_exact))
        .jumping(motions::ball_ends_at_impact),
    mechanics("moreau-law", linear_gaps::moreau_law),
    mechanics("cradle", linear_gaps::cradle),
    mechanics("wedge-billiard", no_step).motion(
        1.0,
        motions::wedge_billiard,
        Some(motions::wedge_exact),
    ),
    mechanics("box-billiard", no_step).motion(1.0, motions::box_billiard, Some(motions::box_exact)),
    mechanics("polar", polar::polar),
    mechanics("geodesic", no_step).motion(2.0, polar::geodesic, Some(polar::geodesic_exact)),
    mechanics("pendulum-at-wall", polar::pendulum_at_wall),
    mechanics("impact-laws", linear_gaps::impact_laws),
    // rod3, friction_sets
    mechanics("rod-regime", rod::regime),
    mechanics("rod-collision", rod::collision),
    mechanics("rod-critical-curve", rod::critical_curve),
    mechanics("rod-mu-min", rod::mu_min),
    mechanics("rod-trajectory", no_step).motion(1.0, rod::trajectory, Some(rod::trajectory_exact)),
    mechanics("contact-disc", friction_sets::disc),
    mechanics("contact-ellipse", friction_sets::set_of_kind),
    mechanics("contact-polygon", friction_sets::set_of_kind),
    mechanics("two-points", friction_sets::two_points),
    // painleve_bar, kane, wedged_bars, corner, p4_step, theorem1
    mechanics("painleve-bar-motion", painleve::motion),
    mechanics("painleve-bar-impact", painleve::bar_impact),
    mechanics("kane-pendulum", kane::pendulum),
    mechanics("pinned-bar", painleve::pinned_bar),
    mechanics("v-groove", generalized_steps::groove),
    mechanics("two-foot-block", generalized_steps::two_foot_block),
    mechanics("corner-2d", generalized_steps::corner_step),
    mechanics("corner-3d", generalized_steps::corner_step),
    mechanics("corner-strict-gap", generalized_steps::strict_gap),
    mechanics("corner-equilibrium", generalized_steps::corner_equilibrium),
    mechanics("p4-random", generalized_steps::random),
    mechanics("joint-block", generalized_steps::joint_block),
    mechanics("joint-corner", generalized_steps::joint_corner),
    mechanics("theorem1-rod", theorem1::theorem1),
    mechanics("theorem1-bar", theorem1::theorem1),
    // energy-moreau-jean
    scheme("fremond_point_impact", point_impacts::fremond),
    scheme("theta_bound_violation", point_impacts::theta_bound),
    scheme("rod_impact", impacts::rod),
    scheme("double_pendulum_impact", impacts::double_pendulum),
    scheme("two_dof_energy_growth", multi_contact::two_dof),
    scheme("rigid_rod_two_ends", multi_contact::rod_two_ends),
    scheme("one_step_explicit", multi_contact::one_step),
    scheme("slider_discrete_exact", slider::discrete_exact),
    scheme("stick_jitter", slider::stick_jitter),
    scheme("coulomb_oscillator", no_step).motion(
        1.0,
        slider::coulomb_oscillator,
        Some(slider::coulomb_exact),
    ),
    scheme("anisotropic_slider", no_step).motion(
        1.0,
        slider::anisotropic,
        Some(slider::anisotropic_exact),
    ),
    scheme("rolling_friction_disc", no_step).motion(1.0, rolling::disc, Some(rolling::disc_exact)),
    scheme("gyroscopic_midpoint", smooth::gyroscopic),
    scheme("duffing_discrete_gradient_wall", smooth::duffing),
    scheme("bilateral_pendulum_ledger", smooth::bilateral_pendulum),
    scheme("bar_impact", elastodynamics::bar_impact),
    scheme("bar_first_impact_loss", elastodynamics::first_impact_loss),
    scheme("activation_study_bar", elastodynamics::activation_study),
    scheme("q4_patch_facts", elastodynamics::patch_facts),
    scheme("q4_block", elastodynamics::q4_block),
    // positions
    scheme("ring_slide", positions::ring),
    scheme("joint_pendulum", positions::pendulum),
    scheme("spinning_ball", positions::ball),
    scheme("pd_arm", positions::arm),
    // sweeping-delay: the motion event by event, the plain algorithm against its table
    scheme("plane_stop", sweeping::plane_stop).swept(sweeping::plane_stop_sweep),
    scheme("drop_then_slide", sweeping::drop_then_slide).swept(sweeping::drop_sweep),
    scheme("slope_1d", sweeping::slope).swept(sweeping::slope_sweep),
    scheme("slope_3d_oblique", sweeping::oblique).swept(sweeping::oblique_sweep),
    scheme("mu_linear_in_x", sweeping::uneven).swept(sweeping::uneven_sweep),
    scheme("mu_periodic_in_x", sweeping::uneven).swept(sweeping::uneven_sweep),
    scheme("sphere_exterior", circle_slides::sphere_exterior).swept(circle_slides::sphere_sweep),
    scheme("bowl_planar", circle_slides::bowl_planar).swept(circle_slides::bowl_planar_sweep),
    scheme("bowl_3d", circle_slides::bowl).swept(circle_slides::bowl_sweep),
    scheme("delay_no_contact", delays::delayed).swept(delays::delayed_sweep),
    scheme("delay_damped_no_contact", delays::delayed).swept(delays::delayed_sweep),
    scheme("delay_friction", delays::delayed).swept(delays::delayed_sweep),
    scheme("delay_friction_stick", delays::delayed).swept(delays::delayed_sweep),
    scheme("delay_friction_damped", delays::delayed).swept(delays::delayed_sweep),
    scheme("distributed_delay_friction", delays::delayed).swept(delays::delayed_sweep),
    scheme("delayed_hopper", delays::hopper).swept(delays::hopper_sweep),
    scheme("history_friction_stick_slip", delays::memory).swept(delays::memory_sweep),
    scheme("max_functional_force", delays::throw).swept(delays::throw_sweep),
    scheme("delay_friction_plane_vector", delays::vector).swept(delays::vector_sweep),
    scheme("exact_discrete_steps", sweeping::discrete),
    // schatzman
    mechanics("bar-impact-limit", schatzman::impact_limit),
    mechanics("bar-tangential-limit", schatzman::tangential_limit),
    mechanics("bar-bounce-trajectory", schatzman::bounce),
    mechanics("bar-slide-trajectory", schatzman::slide),
    mechanics("point-slide", schatzman::point),
];

/// The family with a name.
pub fn family(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
}

/// Names of all families.
pub fn family_names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().map(|family| family.name)
}

/// The known name with the fewest differing characters.
pub(super) fn nearest(name: &str) -> &'static str {
    let distance = |other: &str| {
        let common = other
            .chars()
            .zip(name.chars())
            .filter(|(a, b)| a == b)
            .count();
        other.len().max(name.len()) - common
    };
    // The table is not empty.
    family_names()
        .min_by_key(|other| distance(other))
        .unwrap_or("")
}
