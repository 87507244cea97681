//! The keys of a scene: one table that the decoder and the JSON schema both read.

use super::controllers::{CONTROLLER, CONTROLLERS_MAX};
use super::elastic_keys::{
    ELASTIC, KEY_ABOVE, KEY_AGAINST, KEY_BELOW, KEY_COORDINATE, KEY_OBSTACLE, KEY_SLIDES,
    KEY_SURFACE,
};
use super::tables::{TABLE, TABLES_MAX};
use super::words::{Impact, Law, OnSeveral, SceneWords, Scheme, Solver, Word};
use crate::laws::{ActiveSpace, Sections, SetUnit};
use crate::simulation::studies::branches::ChoiceRule;
use crate::stepping::{Activation, InternalForce, JointVelocity, Projection};

use super::world_keys::{FILL, LIST_MAX, MATERIAL, MONITOR, PAIR, RECORD, WORLD};

/// What the names in an expression may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variables {
    /// Parameters only: the value is a constant.
    Parameters,
    /// Parameters and coordinates.
    Position,
    /// Parameters, coordinates and time.
    PositionTime,
    /// Parameters, coordinates and velocities.
    Motion,
    /// Parameters, coordinates, velocities and time.
    State,
    /// Parameters, coordinates, time and the past.
    Friction,
    /// Everything: parameters, coordinates, velocities, time and the past.
    Force,
    /// Parameters and time.
    Time,
}

/// Shape of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Any text.
    Text,
    /// A number, or a text with an expression.
    Expression(Variables),
    /// A whole number from 1.
    Count,
    /// True or false.
    Boolean,
    /// One of a list of words.
    Word(&'static [Word]),
    /// A list with bounds on its length.
    List {
        of: &'static Kind,
        min: usize,
        max: usize,
    },
    /// A table with known keys.
    Table(&'static TableKeys),
    /// Any number of tables with known keys, up to a limit.
    Tables { of: &'static TableKeys, max: usize },
    /// A table whose keys are names of the user's choice.
    Named { of: &'static Kind, max: usize },
    /// One of several shapes; the text says which.
    Either {
        kinds: &'static [Kind],
        expected: &'static str,
    },
}

/// A key, its value and its documentation.
#[derive(Debug)]
pub(super) struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
    /// Default as a reader would write it; empty where there is none.
    pub default: &'static str,
    pub description: &'static str,
}

/// The keys of one table.
#[derive(Debug)]
pub(super) struct TableKeys {
    /// As written in a file: `[system]`.
    pub name: &'static str,
    pub description: &'static str,
    pub keys: &'static [Key],
}

impl TableKeys {
    pub fn get(&self, name: &str) -> Option<&Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

pub(super) const fn key(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    description: &'static str,
) -> Key {
    Key {
        name,
        kind,
        required: false,
        default,
        description,
    }
}

pub(super) const fn required(name: &'static str, kind: Kind, description: &'static str) -> Key {
    Key {
        name,
        kind,
        required: true,
        default: "",
        description,
    }
}

/// Most coordinates of a scene of expressions. M and all Coriolis terms are derived as expressions: their number grows with
/// the cube of the coordinates, and so does the time to read a scene.
pub(super) const COORDINATES_MAX: usize = 64;
/// Most contacts or joints of a scene of expressions, each with its own derivatives. Many bodies belong into a mesh or a world.
pub(super) const CONTACTS_MAX: usize = 256;
/// Most parameters or definitions.
pub(super) const NAMES_MAX: usize = 512;
const DRAWINGS_MAX: usize = 512;

pub(super) const CONSTANT: Kind = Kind::Expression(Variables::Parameters);
pub(super) const POSITION: Kind = Kind::Expression(Variables::Position);
const POSITION_TIME: Kind = Kind::Expression(Variables::PositionTime);
pub(super) const STATE: Kind = Kind::Expression(Variables::State);
const FORCE: Kind = Kind::Expression(Variables::Force);
const FRICTION_VALUE: Kind = Kind::Expression(Variables::Friction);
pub(super) const TIME: Kind = Kind::Expression(Variables::Time);
const CONSTANTS_3: Kind = Kind::List {
    of: &CONSTANT,
    min: 3,
    max: 3,
};
const POINT: Kind = Kind::List {
    of: &POSITION,
    min: 2,
    max: 3,
};
const POINT_TIME: Kind = Kind::List {
    of: &POSITION_TIME,
    min: 2,
    max: 3,
};
const PLANE_POINT: Kind = Kind::List {
    of: &POSITION_TIME,
    min: 2,
    max: 2,
};
const ROW: Kind = Kind::List {
    of: &POSITION,
    min: 1,
    max: COORDINATES_MAX,
};
const CONSTANT_ROW: Kind = Kind::List {
    of: &CONSTANT,
    min: 1,
    max: COORDINATES_MAX,
};
pub(super) const VERTEX: Kind = Kind::List {
    of: &CONSTANT,
    min: 2,
    max: 2,
};
const HISTORY: Kind = Kind::Either {
    kinds: &[
        TIME,
        Kind::List {
            of: &VERTEX,
            min: 2,
            max: 500,
        },
    ],
    expected: "an expression of t or a list of samples [time, value]",
};
const STATES: Kind = Kind::Either {
    kinds: &[
        STATE,
        Kind::List {
            of: &STATE,
            min: 1,
            max: 16,
        },
    ],
    expected: "an expression or a list of expressions",
};

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
            Kind::List {
                of: &Kind::Text,
                min: 1,
                max: CONTACTS_MAX,
            },
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
            Kind::Named {
                of: &CONSTANT,
                max: NAMES_MAX,
            },
            "",
            "Numbers that every expression may use by name and the command line may change; one \
             may use those above it.",
        ),
        key(
            "units",
            Kind::Named {
                of: &Kind::Text,
                max: 2 * COORDINATES_MAX,
            },
            "metres, or radians where a name or a sine tells",
            "Units of coordinates and velocities by name, for plots: `{ p = \"rad/s\", s = \"mm\", s_dot = \"mm/s\" }`. \
             They are labels; numbers are not converted.",
        ),
        key(
            "tables",
            Kind::Named {
                of: &Kind::Table(&TABLE),
                max: TABLES_MAX,
            },
            "",
            "Functions given by files of samples (an earthquake record, a measured drive), called by name in every \
             expression: `quake(t)`.",
        ),
        key(
            "definitions",
            Kind::Named {
                of: &FORCE,
                max: NAMES_MAX,
            },
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
            Kind::Tables {
                of: &MATERIAL,
                max: CONTACTS_MAX,
            },
            "",
            "Worlds: materials of the bodies.",
        ),
        key(
            "pairs",
            Kind::Tables {
                of: &PAIR,
                max: LIST_MAX,
            },
            "",
            "Worlds: what two materials do to each other; otherwise the geometric mean of their frictions and the \
             larger restitution.",
        ),
        key(
            "bodies",
            Kind::Tables {
                of: &super::world_keys::BODY,
                max: LIST_MAX,
            },
            "",
            "Worlds: the bodies.",
        ),
        key(
            "fill",
            Kind::Tables {
                of: &FILL,
                max: CONTACTS_MAX,
            },
            "",
            "Worlds: bodies at random places.",
        ),
        key(
            "monitors",
            Kind::Tables {
                of: &MONITOR,
                max: CONTACTS_MAX,
            },
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
            Kind::Tables {
                of: &CONTACT,
                max: CONTACTS_MAX,
            },
            "",
            "Unilateral constraints gap >= 0 with their laws.",
        ),
        key(
            "controllers",
            Kind::Tables {
                of: &CONTROLLER,
                max: CONTROLLERS_MAX,
            },
            "",
            "Controllers in discrete time, whose outputs forces use by name.",
        ),
        key(
            "joints",
            Kind::Tables {
                of: &JOINT,
                max: CONTACTS_MAX,
            },
            "",
            "Perfect bilateral constraints.",
        ),
        key(
            "initial",
            Kind::Named {
                of: &CONSTANT,
                max: 2 * COORDINATES_MAX,
            },
            "0 for each",
            "Initial coordinates and velocities by name: `x = 1`, `x_dot = -2`. The velocity is the \
             one just before the start: a violated contact gives an impact at once.",
        ),
        key(
            "history",
            Kind::Named {
                of: &HISTORY,
                max: COORDINATES_MAX,
            },
            "uniform motion with the initial velocity",
            "Motion before the start by coordinate, expressions of t <= 0 or samples [[time, value], ...], for what \
             reads the past.",
        ),
        key(
            "drawing",
            Kind::Tables {
                of: &DRAWING,
                max: DRAWINGS_MAX,
            },
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
            Kind::List {
                of: &Kind::Text,
                min: 1,
                max: COORDINATES_MAX,
            },
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
            Kind::List {
                of: &ROW,
                min: 1,
                max: COORDINATES_MAX,
            },
            "",
            "Mass matrix, row by row; or give `kinetic_energy`.",
        ),
        key("potential", POSITION, "0", "Potential energy."),
        key(
            "forces",
            Kind::Named {
                of: &FORCE,
                max: COORDINATES_MAX,
            },
            "0 for each",
            "Generalized forces by coordinate, besides those of the potential.",
        ),
        key(
            "stiffness",
            Kind::List {
                of: &CONSTANT_ROW,
                min: 1,
                max: COORDINATES_MAX,
            },
            "",
            "Matrix K of linear internal forces K q, row by row.",
        ),
        key(
            "damping",
            Kind::List {
                of: &CONSTANT_ROW,
                min: 1,
                max: COORDINATES_MAX,
            },
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

const KEY_POINT: Key = key(
    "point",
    POINT,
    "",
    "Position of the material contact point, two or three expressions; gives the tangents.",
);
const KEY_NORMAL: Key = key(
    "normal",
    POINT_TIME,
    "straight up",
    "Normal of the surface at the point, towards the admissible side.",
);
const KEY_SLIP: Key = key(
    "slip",
    STATES,
    "",
    "Slip velocity, one expression per tangent, linear in the velocities; instead of `point`. A \
     part without velocities is the motion of the surface.",
);
const KEY_TANGENTS: Key = key(
    "tangents",
    Kind::List {
        of: &ROW,
        min: 1,
        max: 16,
    },
    "",
    "Tangent covectors, one row of coefficients of the velocities each; instead of `point`.",
);
pub(super) const KEY_FRICTION: Key = key(
    "friction",
    Kind::Either {
        kinds: &[FRICTION_VALUE, Kind::Table(&FRICTION)],
        expected: "a coefficient or a table such as { ellipse = [0.2, 0.4] }",
    },
    "0",
    "Coulomb coefficient, or a friction set.",
);
const KEY_ROLLING: Key = key(
    "rolling",
    STATES,
    "",
    "Angular velocity of rolling, resisted by `rolling_friction`.",
);
pub(super) const KEY_ROLLING_FRICTION: Key = key(
    "rolling_friction",
    CONSTANT,
    "0",
    "Rolling friction length, in metres.",
);
const KEY_DRILLING: Key = key(
    "drilling",
    STATE,
    "",
    "Angular velocity of drilling, resisted by `drilling_friction`.",
);
pub(super) const KEY_DRILLING_FRICTION: Key = key(
    "drilling_friction",
    CONSTANT,
    "0",
    "Drilling friction length, in metres.",
);

const CONTACT: TableKeys = TableKeys {
    name: "[[contacts]]",
    description: "A unilateral constraint gap >= 0 with its friction and impact law.",
    keys: &[
        key(
            "name",
            Kind::Text,
            "contact 1, contact 2, ...",
            "Name used in results and messages.",
        ),
        key(
            "gap",
            POSITION_TIME,
            "",
            "Gap: positive when open, zero in contact.",
        ),
        KEY_POINT,
        KEY_NORMAL,
        KEY_SLIP,
        KEY_TANGENTS,
        KEY_FRICTION,
        KEY_ROLLING,
        KEY_ROLLING_FRICTION,
        KEY_DRILLING,
        KEY_DRILLING_FRICTION,
        key(
            "points",
            Kind::Tables {
                of: &CONTACT_POINT,
                max: 64,
            },
            "",
            "Several material points that share the gap, each with its own frame and friction.",
        ),
        key(
            "restitution",
            CONSTANT,
            "0",
            "Coefficient of restitution, from 0 to 1.",
        ),
        key(
            "stiffness",
            CONSTANT,
            "effective mass/compliance_time^2",
            "Stiffness of the compliant contact, for every contact or for none.",
        ),
        key(
            "impact",
            Kind::Word(Impact::WORDS),
            "that of the scene",
            "Impact law of this contact.",
        ),
        key(
            "arm",
            CONSTANTS_3,
            "",
            "Rigid body: centre of the contact ball, in body axes from the centre of mass.",
        ),
        key(
            "radius",
            CONSTANT,
            "0",
            "Rigid body: radius of the contact ball; 0 for a corner.",
        ),
        key(
            "plane",
            CONSTANTS_3,
            "[0, 0, 1]",
            "Rigid body: normal of the plane it meets.",
        ),
        key(
            "offset",
            CONSTANT,
            "0",
            "Rigid body: distance of the plane from the origin.",
        ),
        KEY_SURFACE,
        KEY_OBSTACLE,
        KEY_AGAINST,
        KEY_COORDINATE,
        KEY_ABOVE,
        KEY_BELOW,
        KEY_SLIDES,
    ],
};

/// The keys that describe one material point.
pub(super) const CONTACT_POINT: TableKeys = TableKeys {
    name: "[[contacts.points]]",
    description: "One material point of a contact.",
    keys: &[
        KEY_POINT,
        KEY_NORMAL,
        KEY_SLIP,
        KEY_TANGENTS,
        KEY_FRICTION,
        KEY_ROLLING,
        KEY_ROLLING_FRICTION,
        KEY_DRILLING,
        KEY_DRILLING_FRICTION,
    ],
};

const FRICTION: TableKeys = TableKeys {
    name: "`friction`",
    description: "A closed convex set of friction impulses per unit of normal impulse.",
    keys: &[
        key("disc", CONSTANT, "", "Radius: isotropic friction."),
        key("ellipse", VERTEX, "", "Semi-axes along the two tangents."),
        key(
            "polygon",
            Kind::List {
                of: &VERTEX,
                min: 3,
                max: 256,
            },
            "",
            "Vertices in the two tangents; 0 must lie inside.",
        ),
        key(
            "rays",
            Kind::List {
                of: &VERTEX,
                min: 1,
                max: 64,
            },
            "",
            "Directions in which the polygon is unbounded (generalized law).",
        ),
        key(
            "interval",
            VERTEX,
            "",
            "Lower and upper end for one tangent, lower <= 0 <= upper; under the generalized law \"-inf\" and \
             \"inf\" are ends, too.",
        ),
        key(
            "coefficient",
            FRICTION_VALUE,
            "1",
            "Factor that multiplies the set.",
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
            Kind::List {
                of: &PLANE_POINT,
                min: 2,
                max: 256,
            },
            "",
            "Points joined by straight segments.",
        ),
        key("circle", PLANE_POINT, "", "Centre of a circle of `radius`."),
        key("radius", CONSTANT, "0.05", "Radius of the circle."),
        key("point", PLANE_POINT, "", "A dot."),
        key("label", Kind::Text, "", "Text beside the shape."),
    ],
};
