//! The keys of a scene: one table that the decoder and the JSON schema both read.

use super::contact_keys::CONTACT;
use super::controllers::{CONTROLLER, CONTROLLERS_MAX};
use super::elastic_keys::ELASTIC;
use super::key_kinds::{
    CONSTANT, CONSTANT_ROW, CONSTANTS_3, CONTACTS_MAX, COORDINATES_MAX, DRAWINGS_MAX, FORCE,
    HISTORY, Kind, NAMES_MAX, PLANE_POINT, POSITION, POSITION_TIME, ROW, Variables, list, named,
    table_keys, tables,
};
use super::tables::{TABLE, TABLES_MAX};
use super::words::{Impact, Law, OnSeveral, SceneWords, Scheme, Solver};
use crate::laws::{ActiveSpace, Sections, SetUnit};
use crate::simulation::studies::branches::ChoiceRule;
use crate::stepping::{Activation, InternalForce, JointVelocity, Projection};

use super::world_keys::{FILL, LIST_MAX, MATERIAL, MONITOR, PAIR, RECORD, WORLD};

table_keys! {
    /// A mechanical system with contacts, and how to run it. SI units, angles in radians.
    pub(super) SCENE = "the scene" {
        /// What the scene shows, in a few words.
        required title: Kind::Text;
        /// Book or paper the scene is taken from.
        source: Kind::Text;
        /// What the mechanism is.
        description: Kind::Text;
        /// One sentence on what to look for in the result.
        look_for: Kind::Text;
        /// Time-stepping scheme.
        scheme: Kind::Word(Scheme::WORDS), default "moreau-jean";
        /// Friction law.
        law: Kind::Word(Law::WORDS), default "coulomb";
        /// Impact law of all contacts; a contact may have its own.
        impact: Kind::Word(Impact::WORDS), default "newton";
        /// Implicitness of the theta scheme, from 1/2 to 1/(1 + largest restitution).
        theta: CONSTANT, default "chosen by the scheme";
        /// Which contacts take part in a step of the theta scheme.
        activation: Kind::Word(Activation::WORDS), default "guard";
        /// How a nonlinear potential enters the theta scheme.
        internal_force: Kind::Word(InternalForce::WORDS), default "theta";
        /// Velocity on which the theta scheme enforces joints.
        joint_velocity: Kind::Word(JointVelocity::WORDS), default "end";
        /// Whether positions are corrected: at the end of a step, and along it where obstacles are curved or joints
        /// hold.
        projection: Kind::Word(Projection::WORDS), default "combined";
        /// How friction sets of several constraints act together under the generalized law.
        sections: Kind::Word(Sections::WORDS), default "per-constraint";
        /// Which constraints span the normal space of the generalized law.
        active_space: Kind::Word(ActiveSpace::WORDS), default "all";
        /// What a step with several solutions does.
        on_several: Kind::Word(OnSeveral::WORDS), default "choose";
        /// Compliance time tau of the contacts, in seconds: stiffness = effective mass/tau^2. Needed by the scheme
        /// `penalty`; makes the contacts of `event-driven` compliant.
        compliance_time: CONSTANT;
        /// Damping ratio of compliant contacts, from 0 to below 1.
        compliance_damping: CONSTANT, default "0";
        /// Which of several solutions a run takes; another rule than the default, stop and branch list all solutions
        /// of every step.
        several_rule: Kind::Word(ChoiceRule::WORDS), default "take-off-first";
        /// Most trajectories that on_several = branch follows.
        branches_max: Kind::Count, default "16";
        /// What the friction sets of the generalized law are measured per.
        friction_per: Kind::Word(SetUnit::WORDS), default "coulomb-cone";
        /// Generalized law: a normal impulse below this part of the momentum at hand is not firm and carries no
        /// friction.
        firmness: CONSTANT, default "1e-11";
        /// Generalized law: an impact map of your own, one expression per contact: its normal velocity after an
        /// impact from u1, u2, ... before (0 for contacts that are open) and the parameters.
        impact_map: list(&Kind::Text, 1, CONTACTS_MAX);
        /// Scheme moreau: gap up to which a contact takes part in a step, in the unit of the gap; rounding of the
        /// lengths of the run always counts as closed.
        contact_gap: CONSTANT, default "0";
        /// Time step, in seconds.
        step: CONSTANT, default "0.001";
        /// Tolerance on positions for an adaptive step, which then starts with `step`.
        adaptive: CONSTANT, default "fixed step";
        /// End time, in seconds.
        until: CONSTANT, default "1";
        /// Tolerance of the contact solver, relative.
        tolerance: CONSTANT, default "1e-12, in worlds 1e-8";
        /// Solver of the contact problem of a step.
        solver: Kind::Word(Solver::WORDS), default "automatic";
        /// Record every n-th step.
        every: Kind::Count, default "1";
        /// Numbers that every expression may use by name and the command line may change; one may use those above it.
        parameters: named(&CONSTANT, NAMES_MAX);
        /// Units of coordinates and velocities by name, for plots: `{ p = "rad/s", s = "mm", s_dot = "mm/s" }`. They
        /// are labels; numbers are not converted.
        units: named(&Kind::Text, 2 * COORDINATES_MAX), default "metres, or radians where a name or a sine tells";
        /// Functions given by files of samples (an earthquake record, a measured drive), called by name in every
        /// expression: `quake(t)`.
        tables: named(&Kind::Table(&TABLE), TABLES_MAX);
        /// Abbreviations for expressions; for a definition `a` of coordinates, `a'` is its rate.
        definitions: named(&FORCE, NAMES_MAX);
        /// A system in generalized coordinates.
        system: Kind::Table(&SYSTEM);
        /// A free rigid body in space, instead of [system].
        body: Kind::Table(&BODY);
        /// Elastic bodies, instead of [system].
        elastic: Kind::Table(&ELASTIC);
        /// A world of rigid bodies, instead of [system].
        world: Kind::Table(&WORLD);
        /// Worlds: materials of the bodies.
        materials: tables(&MATERIAL, CONTACTS_MAX);
        /// Worlds: what two materials do to each other; otherwise the geometric mean of their frictions and the
        /// larger restitution.
        pairs: tables(&PAIR, LIST_MAX);
        /// Worlds: the bodies.
        bodies: tables(&super::world_keys::BODY, LIST_MAX);
        /// Worlds: bodies at random places.
        fill: tables(&FILL, CONTACTS_MAX);
        /// Worlds: sums to be recorded.
        monitors: tables(&MONITOR, CONTACTS_MAX);
        /// Worlds: what the run writes.
        record: Kind::Table(&RECORD), default "everything";
        /// Unilateral constraints gap >= 0 with their laws.
        contacts: tables(&CONTACT, CONTACTS_MAX);
        /// Controllers in discrete time, whose outputs forces use by name.
        controllers: tables(&CONTROLLER, CONTROLLERS_MAX);
        /// Perfect bilateral constraints.
        joints: tables(&JOINT, CONTACTS_MAX);
        /// Initial coordinates and velocities by name: `x = 1`, `x_dot = -2`. The velocity is the one just before the
        /// start: a violated contact gives an impact at once.
        initial: named(&CONSTANT, 2 * COORDINATES_MAX), default "0 for each";
        /// Motion before the start by coordinate, expressions of t <= 0 or samples [[time, value], ...], for what
        /// reads the past.
        history: named(&HISTORY, COORDINATES_MAX), default "uniform motion with the initial velocity";
        /// Shapes of a planar mechanism, for the pictures.
        drawing: tables(&DRAWING, DRAWINGS_MAX);
    }
}

table_keys! {
    /// A system in generalized coordinates.
    SYSTEM = "[system]" {
        /// Names of the coordinates. The velocity of `x` is written `x'` or `x_dot`.
        required coordinates: list(&Kind::Text, 1, COORDINATES_MAX);
        /// Kinetic energy, quadratic in the velocities; or give `mass_matrix`.
        kinetic_energy: Kind::Expression(Variables::Motion);
        /// Mass matrix, row by row; or give `kinetic_energy`.
        mass_matrix: list(&ROW, 1, COORDINATES_MAX);
        /// Potential energy.
        potential: POSITION, default "0";
        /// Generalized forces by coordinate, besides those of the potential.
        forces: named(&FORCE, COORDINATES_MAX), default "0 for each";
        /// Matrix K of linear internal forces K q, row by row.
        stiffness: list(&CONSTANT_ROW, 1, COORDINATES_MAX);
        /// Matrix C of linear internal forces C v, row by row.
        damping: list(&CONSTANT_ROW, 1, COORDINATES_MAX);
    }
}

table_keys! {
    /// A free rigid body in space, principal axes of inertia as body axes.
    BODY = "[body]" {
        /// Mass, in kilograms.
        required mass: CONSTANT;
        /// Principal moments of inertia about the centre of mass.
        required moments: CONSTANTS_3;
        /// Acceleration of gravity, in world axes.
        gravity: CONSTANTS_3, default "[0, 0, 0]";
        /// Initial position of the centre of mass.
        position: CONSTANTS_3, default "[0, 0, 0]";
        /// Initial orientation as a rotation vector (axis times angle).
        rotation: CONSTANTS_3, default "[0, 0, 0]";
        /// Initial velocity of the centre of mass.
        velocity: CONSTANTS_3, default "[0, 0, 0]";
        /// Initial angular velocity, in body axes.
        spin: CONSTANTS_3, default "[0, 0, 0]";
    }
}

table_keys! {
    /// A perfect bilateral constraint equation = 0.
    JOINT = "[[joints]]" {
        /// Name used in results and messages.
        name: Kind::Text, default "joint 1, joint 2, ...";
        /// Expression that stays zero.
        required equation: POSITION_TIME;
    }
}

table_keys! {
    /// One shape of a planar mechanism; one of the shape keys.
    DRAWING = "[[drawing]]" {
        /// Points joined by straight segments.
        line: list(&PLANE_POINT, 2, 256);
        /// Centre of a circle of `radius`.
        circle: PLANE_POINT;
        /// Radius of the circle.
        radius: CONSTANT, default "0.05";
        /// A dot.
        point: PLANE_POINT;
        /// Text beside the shape.
        label: Kind::Text;
    }
}
