//! Every figure by which the cascade decides.

/// Settings of the cascade: when a method begins, how long its turns are, what is given up. `benches/cascade_ablation.rs` changes
/// them one at a time over a folder of problems and tells what each is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct CascadeSettings {
    /// Stored blocks of W up to which every contact is visited once before anything is prepared.
    pub visited_blocks_max: usize,
    /// Contacts up to which a problem in the plane is pivoted after the first sweeps.
    pub pivoted_contacts_max: usize,
    /// Blocks per row of W above which sweeps go over the bodies, where they are known.
    pub blocks_for_bodies: usize,
    /// Coefficient of friction above which a problem is first solved with this one: beyond 1e8 the scaled cone leaves no digits, and
    /// random problems of two contacts that stick all ended at the limit.
    pub moderate_friction: f64,
    /// Products with W in the first turn of a first-order method.
    pub first_products: u64,
    /// Newton steps in the first turn of a second-order method.
    pub first_newton_steps: u64,
    /// Weight of the cost of second-order methods in the choice of the next turn; sweeps with full momentum have 1.
    pub second_order_weight: f64,
    /// Weight of capped sweeps and of the projected gradient.
    pub other_sweeps_weight: f64,
    /// Error above which Newton's method counts `poor_start_weight` times more: the interior point does not mind its start.
    pub fair_start: f64,
    /// See [`Self::fair_start`].
    pub poor_start_weight: f64,
    /// Share of the error that must be left after a turn for the method to wait twice as long for the next.
    pub standstill: f64,
    /// How far a first-order method may lie behind the best point before it waits 1.5 times longer.
    pub lag: f64,
    /// Rounds without a halved error after which the solve is given up.
    pub idle_turns: u32,
    /// Proximal parameters κ of Newton's method that begins where sweeps ended, tried in turn.
    pub kappas_from_sweeps: [f64; 4],
    /// The same where it begins at the interior point's end.
    pub kappas_from_interior: [f64; 4],
    /// Proximal weight at the start, after sweeps.
    pub weight_from_sweeps: f64,
    /// The same after the interior point.
    pub weight_from_interior: f64,
    /// Newton steps without a halved error after which the next κ is tried.
    pub newton_patience: u64,
    /// Interior point iterations at most.
    pub interior_iterations: u32,
    /// Operations of a factorisation above which W is searched for a skeleton of bodies.
    pub skeleton_operations: f64,
    /// Contacts of a patch at most.
    pub patch_contacts_max: usize,
    /// Contacts from which a patch grows at most.
    pub patch_seeds_max: usize,
    /// Share of the squared error that the seeds of a patch hold.
    pub patch_share: f64,
    /// Sweeps spent on a patch.
    pub patch_sweeps: u64,
    /// Newton steps spent on a patch.
    pub patch_newton_steps: u64,
    /// Operations of a factorisation per contact up to which Newton's method is taken early for an island of bodies on which sweeps crawl.
    pub finish_operations: f64,
    /// Products after which it is given up there.
    pub finish_products: u64,
    /// What Newton's method may cost on an island that everything else has left, in nanoseconds counted from sizes.
    pub last_effort: f64,
    /// Newton steps that this must allow: 22 steps of a bin of boxes and balls took 70 to 650.
    pub last_steps: f64,
    /// Newton steps at most there: every κ of both methods has its patience. A few contacts that jam would else be tried a million times.
    pub last_steps_max: f64,
    /// Weight of the interior point beside Newton's method there: from its own start it needed twice the time on the same steps.
    pub last_interior_weight: f64,
}

impl Default for CascadeSettings {
    fn default() -> Self {
        Self {
            visited_blocks_max: 1000,
            pivoted_contacts_max: 10,
            blocks_for_bodies: 15,
            moderate_friction: 1e3,
            first_products: 400,
            first_newton_steps: 30,
            second_order_weight: 0.3,
            other_sweeps_weight: 2.0,
            fair_start: 1e-4,
            poor_start_weight: 2.0,
            standstill: 0.7,
            lag: 3.0,
            idle_turns: 60,
            kappas_from_sweeps: [1e-6, 1e-4, 1e-3, 1e-2],
            kappas_from_interior: [1e-4, 1e-6, 1e-3, 1e-2],
            weight_from_sweeps: 1e-1,
            weight_from_interior: 1e-3,
            newton_patience: 500,
            interior_iterations: 40,
            skeleton_operations: 2e7,
            patch_contacts_max: 400,
            patch_seeds_max: 60,
            patch_share: 0.99,
            patch_sweeps: 400,
            patch_newton_steps: 40,
            finish_operations: 15_000.0,
            finish_products: 600,
            last_effort: 2e9,
            last_steps: 150.0,
            last_steps_max: 4000.0,
            last_interior_weight: 0.9,
        }
    }
}
