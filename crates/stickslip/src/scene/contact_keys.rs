//! The keys of contacts, their points and their friction.

use super::elastic_keys::{
    KEY_ABOVE, KEY_AGAINST, KEY_BELOW, KEY_COORDINATE, KEY_OBSTACLE, KEY_SLIDES, KEY_SURFACE,
};
use super::key_kinds::{
    CONSTANT, CONSTANTS_3, FRICTION_VALUE, Key, Kind, POINT, POINT_TIME, POSITION_TIME, ROW, STATE,
    STATES, TableKeys, VERTEX, key, list, tables,
};
use super::words::Impact;

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
    list(&ROW, 1, 16),
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

pub(super) const CONTACT: TableKeys = TableKeys {
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
            tables(&CONTACT_POINT, 64),
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

pub(super) const FRICTION: TableKeys = TableKeys {
    name: "`friction`",
    description: "A closed convex set of friction impulses per unit of normal impulse.",
    keys: &[
        key("disc", CONSTANT, "", "Radius: isotropic friction."),
        key("ellipse", VERTEX, "", "Semi-axes along the two tangents."),
        key(
            "polygon",
            list(&VERTEX, 3, 256),
            "",
            "Vertices in the two tangents; 0 must lie inside.",
        ),
        key(
            "rays",
            list(&VERTEX, 1, 64),
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
