//! The keys of a scene: one table that the decoder and the JSON schema both read.

use super::contact_keys::CONTACT;
use super::controllers::{CONTROLLER, CONTROLLERS_MAX};
use super::elastic_keys::ELASTIC;
use super::key_kinds::{
    CONSTANT, CONSTANT_ROW, CONSTANTS_3, CONTACTS_MAX, COORDINATES_MAX, DRAWINGS_MAX, FORCE,
    HISTORY, Kind, NAMES_MAX, PLANE_POINT, POSITION, POSITION_TIME, ROW, TableKeys, Variables, key,
    list, named, required, tables,
};
use super::tables::{TABLE, TABLES_MAX};
use super::words::{Impact, Law, OnSeveral, SceneWords, Scheme, Solver};
use crate::laws::{ActiveSpace, Sections, SetUnit};
use crate::simulation::studies::branches::ChoiceRule;
use crate::stepping::{Activation, InternalForce, JointVelocity, Projection};

use super::world_keys::{FILL, LIST_MAX, MATERIAL, MONITOR, PAIR, RECORD, WORLD};

/// The whole scene.
pub(super) const SCENE: TableKeys = TableKeys {
    name: "the scene",
    description: "A mechanical system with contacts, and how to run it. SI units, angles in radians.",
    keys: &[
        required("title", Kind::Text, "What the scene shows, in a few words."),
        key(
            "source",
            Kind::Text,
            "",
            "Book or paper the scene is taken from.",
        ),
        key("description", Kind::Text, "", "What the mechanism is."),
        key(
            "look_for",
            Kind::Text,
            "",
            "One sentence on what to look for in the result.",
        ),
        key(
            "scheme",
            Kind::Word(Scheme::WORDS),
            "moreau-jean",
            "Time-stepping scheme.",
        ),
        key("law", Kind::Word(Law::WORDS), "coulomb", "Friction law."),
        key(
            "impact",
            Kind::Word(Impact::WORDS),
            "newton",
            "Impact law of all contacts; a contact may have its own.",
        ),
        key(
            "theta",
            CONSTANT,
            "chosen by the scheme",
            "Implicitness of the theta scheme, from 1/2 to 1/(1 + largest restitution).",
        ),
        key(
            "activation",
            Kind::Word(Activation::WORDS),
            "guard",
            "Which contacts take part in a step of the theta scheme.",
        ),
        key(
            "internal_force",
            Kind::Word(InternalForce::WORDS),
            "theta",
            "How a nonlinear potential enters the theta scheme.",
        ),
        key(
            "joint_velocity",
            Kind::Word(JointVelocity::WORDS),
            "end",
            "Velocity on which the theta scheme enforces joints.",
        ),
        key(
            "projection",
            Kind::Word(Projection::WORDS),
            "combined",
            "Whether positions are corrected: at the end of a step, and along it where obstacles are curved or joints hold.",
        ),
        key(
            "sections",
            Kind::Word(Sections::WORDS),
            "per-constraint",
            "How friction sets of several constraints act together under the generalized law.",
        ),
        key(
            "active_space",
            Kind::Word(ActiveSpace::WORDS),
            "all",
            "Which constraints span the normal space of the generalized law.",
        ),
        key(
            "on_several",
            Kind::Word(OnSeveral::WORDS),
            "choose",
            "What a step with several solutions does.",
        ),
        key(
            "compliance_time",
            CONSTANT,
            "",
            "Compliance time tau of the contacts, in seconds: stiffness = effective mass/tau^2. Needed by the \
             scheme `penalty`; makes the contacts of `event-driven` compliant.",
        ),
        key(
            "compliance_damping",
            CONSTANT,
            "0",
            "Damping ratio of compliant contacts, from 0 to below 1.",
        ),
        key(
            "several_rule",
            Kind::Word(ChoiceRule::WORDS),
            "take-off-first",
            "Which of several solutions a run takes; another rule than the default, stop and branch list all \
             solutions of every step.",
        ),
        key(
            "branches_max",
            Kind::Count,
            "16",
            "Most trajectories that on_several = branch follows.",
        ),
        key(
            "friction_per",
            Kind::Word(SetUnit::WORDS),
            "coulomb-cone",
            "What the friction sets of the generalized law are measured per.",
        ),
        key(
            "firmness",
            CONSTANT,
            "1e-11",
            "Generalized law: a normal impulse below this part of the momentum at hand is not firm and carries no \
             friction.",
        ),
        key(
            "impact_map",
            list(&Kind::Text, 1, CONTACTS_MAX),
            "",
            "Generalized law: an impact map of your own, one expression per contact: its normal velocity after an \
             impact from u1, u2, ... before (0 for contacts that are open) and the parameters.",
        ),
        key(
            "contact_gap",
            CONSTANT,
            "0",
            "Scheme moreau: gap up to which a contact takes part in a step, in the unit of the gap; rounding of the lengths of the run always counts as closed.",
        ),
        key("step", CONSTANT, "0.001", "Time step, in seconds."),
        key(
            "adaptive",
            CONSTANT,
            "fixed step",
            "Tolerance on positions for an adaptive step, which then starts with `step`.",
        ),
        key("until", CONSTANT, "1", "End time, in seconds."),
        key(
            "tolerance",
            CONSTANT,
            "1e-12, in worlds 1e-8",
            "Tolerance of the contact solver, relative.",
        ),
        key(
            "solver",
            Kind::Word(Solver::WORDS),
            "automatic",
            "Solver of the contact problem of a step.",
        ),
        key("every", Kind::Count, "1", "Record every n-th step."),
        key(
            "parameters",
            named(&CONSTANT, NAMES_MAX),
            "",
            "Numbers that every expression may use by name and the command line may change; one \
             may use those above it.",
        ),
        key(
            "units",
            named(&Kind::Text, 2 * COORDINATES_MAX),
            "metres, or radians where a name or a sine tells",
            "Units of coordinates and velocities by name, for plots: `{ p = \"rad/s\", s = \"mm\", s_dot = \"mm/s\" }`. \
             They are labels; numbers are not converted.",
        ),
        key(
            "tables",
            named(&Kind::Table(&TABLE), TABLES_MAX),
            "",
            "Functions given by files of samples (an earthquake record, a measured drive), called by name in every \
             expression: `quake(t)`.",
        ),
        key(
            "definitions",
            named(&FORCE, NAMES_MAX),
            "",
            "Abbreviations for expressions; for a definition `a` of coordinates, `a'` is its rate.",
        ),
        key(
            "system",
            Kind::Table(&SYSTEM),
            "",
            "A system in generalized coordinates.",
        ),
        key(
            "body",
            Kind::Table(&BODY),
            "",
            "A free rigid body in space, instead of [system].",
        ),
        key(
            "elastic",
            Kind::Table(&ELASTIC),
            "",
            "Elastic bodies, instead of [system].",
        ),
        key(
            "world",
            Kind::Table(&WORLD),
            "",
            "A world of rigid bodies, instead of [system].",
        ),
        key(
            "materials",
            tables(&MATERIAL, CONTACTS_MAX),
            "",
            "Worlds: materials of the bodies.",
        ),
        key(
            "pairs",
            tables(&PAIR, LIST_MAX),
            "",
            "Worlds: what two materials do to each other; otherwise the geometric mean of their frictions and the \
             larger restitution.",
        ),
        key(
            "bodies",
            tables(&super::world_keys::BODY, LIST_MAX),
            "",
            "Worlds: the bodies.",
        ),
        key(
            "fill",
            tables(&FILL, CONTACTS_MAX),
            "",
            "Worlds: bodies at random places.",
        ),
        key(
            "monitors",
            tables(&MONITOR, CONTACTS_MAX),
            "",
            "Worlds: sums to be recorded.",
        ),
        key(
            "record",
            Kind::Table(&RECORD),
            "everything",
            "Worlds: what the run writes.",
        ),
        key(
            "contacts",
            tables(&CONTACT, CONTACTS_MAX),
            "",
            "Unilateral constraints gap >= 0 with their laws.",
        ),
        key(
            "controllers",
            tables(&CONTROLLER, CONTROLLERS_MAX),
            "",
            "Controllers in discrete time, whose outputs forces use by name.",
        ),
        key(
            "joints",
            tables(&JOINT, CONTACTS_MAX),
            "",
            "Perfect bilateral constraints.",
        ),
        key(
            "initial",
            named(&CONSTANT, 2 * COORDINATES_MAX),
            "0 for each",
            "Initial coordinates and velocities by name: `x = 1`, `x_dot = -2`. The velocity is the \
             one just before the start: a violated contact gives an impact at once.",
        ),
        key(
            "history",
            named(&HISTORY, COORDINATES_MAX),
            "uniform motion with the initial velocity",
            "Motion before the start by coordinate, expressions of t <= 0 or samples [[time, value], ...], for what \
             reads the past.",
        ),
        key(
            "drawing",
            tables(&DRAWING, DRAWINGS_MAX),
            "",
            "Shapes of a planar mechanism, for the pictures.",
        ),
    ],
};

const SYSTEM: TableKeys = TableKeys {
    name: "[system]",
    description: "A system in generalized coordinates.",
    keys: &[
        required(
            "coordinates",
            list(&Kind::Text, 1, COORDINATES_MAX),
            "Names of the coordinates. The velocity of `x` is written `x'` or `x_dot`.",
        ),
        key(
            "kinetic_energy",
            Kind::Expression(Variables::Motion),
            "",
            "Kinetic energy, quadratic in the velocities; or give `mass_matrix`.",
        ),
        key(
            "mass_matrix",
            list(&ROW, 1, COORDINATES_MAX),
            "",
            "Mass matrix, row by row; or give `kinetic_energy`.",
        ),
        key("potential", POSITION, "0", "Potential energy."),
        key(
            "forces",
            named(&FORCE, COORDINATES_MAX),
            "0 for each",
            "Generalized forces by coordinate, besides those of the potential.",
        ),
        key(
            "stiffness",
            list(&CONSTANT_ROW, 1, COORDINATES_MAX),
            "",
            "Matrix K of linear internal forces K q, row by row.",
        ),
        key(
            "damping",
            list(&CONSTANT_ROW, 1, COORDINATES_MAX),
            "",
            "Matrix C of linear internal forces C v, row by row.",
        ),
    ],
};

const BODY: TableKeys = TableKeys {
    name: "[body]",
    description: "A free rigid body in space, principal axes of inertia as body axes.",
    keys: &[
        required("mass", CONSTANT, "Mass, in kilograms."),
        required(
            "moments",
            CONSTANTS_3,
            "Principal moments of inertia about the centre of mass.",
        ),
        key(
            "gravity",
            CONSTANTS_3,
            "[0, 0, 0]",
            "Acceleration of gravity, in world axes.",
        ),
        key(
            "position",
            CONSTANTS_3,
            "[0, 0, 0]",
            "Initial position of the centre of mass.",
        ),
        key(
            "rotation",
            CONSTANTS_3,
            "[0, 0, 0]",
            "Initial orientation as a rotation vector (axis times angle).",
        ),
        key(
            "velocity",
            CONSTANTS_3,
            "[0, 0, 0]",
            "Initial velocity of the centre of mass.",
        ),
        key(
            "spin",
            CONSTANTS_3,
            "[0, 0, 0]",
            "Initial angular velocity, in body axes.",
        ),
    ],
};

const JOINT: TableKeys = TableKeys {
    name: "[[joints]]",
    description: "A perfect bilateral constraint equation = 0.",
    keys: &[
        key(
            "name",
            Kind::Text,
            "joint 1, joint 2, ...",
            "Name used in results and messages.",
        ),
        required("equation", POSITION_TIME, "Expression that stays zero."),
    ],
};

const DRAWING: TableKeys = TableKeys {
    name: "[[drawing]]",
    description: "One shape of a planar mechanism; one of the shape keys.",
    keys: &[
        key(
            "line",
            list(&PLANE_POINT, 2, 256),
            "",
            "Points joined by straight segments.",
        ),
        key("circle", PLANE_POINT, "", "Centre of a circle of `radius`."),
        key("radius", CONSTANT, "0.05", "Radius of the circle."),
        key("point", PLANE_POINT, "", "A dot."),
        key("label", Kind::Text, "", "Text beside the shape."),
    ],
};
