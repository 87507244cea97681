//! The keys of worlds of rigid bodies.

use super::contact_keys::{KEY_DRILLING_FRICTION, KEY_FRICTION, KEY_ROLLING_FRICTION};
use super::key_kinds::{
    CONSTANT, Key, Kind, TIME, TableKeys, VERTEX, Variables, key, list, required, tables,
};
use super::words::Impact;

/// Most bodies of a world, repeated and filled ones counted.
pub(super) const BODIES_MAX: usize = 200_000;
/// Most entries of one list of a world.
pub(super) const LIST_MAX: usize = 20_000;

const STATE: Kind = Kind::Expression(Variables::State);

/// Two numbers in the plane, three in space.
const PLACE: Kind = list(&CONSTANT, 2, 3);
const POINT: Kind = list(&CONSTANT, 3, 3);
/// A vector of space or a number of the plane.
const TURN: Kind = Kind::Either {
    kinds: &[CONSTANT, POINT],
    expected: "a rotation vector of 3 entries, in the plane an angle",
};
const STATES: Kind = list(&STATE, 2, 3);
const ROW_OF_TABLE: Kind = list(&CONSTANT, 2, 4096);
const NAMES: Kind = list(&Kind::Text, 1, LIST_MAX);

/// `[world]`.
pub(super) const WORLD: TableKeys = TableKeys {
    name: "[world]",
    description: "A world of rigid bodies that find their contacts.",
    keys: &[
        key(
            "dimension",
            Kind::Count,
            "3",
            "3 for space, 2 for motion in the x-y plane with rotation about z.",
        ),
        key(
            "gravity",
            PLACE,
            "9.81 down: along -z in space, along -y in the plane",
            "Acceleration of gravity.",
        ),
        key(
            "slop",
            CONSTANT,
            "1e-4",
            "Gap, in parts of the size of a body, up to which a contact counts as closed.",
        ),
    ],
};

/// `record`.
pub(super) const RECORD: TableKeys = TableKeys {
    name: "`record`",
    description: "What the run of a world writes.",
    keys: &[
        key(
            "bodies",
            Kind::Either {
                kinds: &[Kind::Text, NAMES],
                expected: "\"all\" or a list of names",
            },
            "all",
            "Bodies whose motion is recorded, by name; the name before [ ] stands for all of them.",
        ),
        key(
            "contacts",
            Kind::Text,
            "all",
            "\"all\" or \"none\": whether contacts.npy is written.",
        ),
        key(
            "forces",
            Kind::Text,
            "none",
            "\"none\", \"bodies\" or \"pairs\": sums of contact forces per body or per touching pair, in forces.npy.",
        ),
    ],
};

const KEY_RESTITUTION: Key = key(
    "restitution",
    CONSTANT,
    "0",
    "Coefficient of restitution, from 0 to 1.",
);
const KEY_IMPACT: Key = key(
    "impact",
    Kind::Word(Impact::WORDS),
    "that of the scene",
    "Impact law.",
);

/// `[[materials]]`.
pub(super) const MATERIAL: TableKeys = TableKeys {
    name: "[[materials]]",
    description: "A material: its density, and what it does against itself.",
    keys: &[
        required("name", Kind::Text, "Name of the material."),
        key(
            "density",
            CONSTANT,
            "",
            "Mass per volume, in the plane per area; needed by free bodies without `mass`.",
        ),
        KEY_FRICTION,
        KEY_ROLLING_FRICTION,
        KEY_DRILLING_FRICTION,
        KEY_RESTITUTION,
        KEY_IMPACT,
    ],
};

/// `[[pairs]]`.
pub(super) const PAIR: TableKeys = TableKeys {
    name: "[[pairs]]",
    description: "What two materials do to each other.",
    keys: &[
        required(
            "between",
            list(&Kind::Text, 2, 2),
            "Names of two materials.",
        ),
        KEY_FRICTION,
        KEY_ROLLING_FRICTION,
        KEY_DRILLING_FRICTION,
        KEY_RESTITUTION,
        KEY_IMPACT,
    ],
};

const ROUND: TableKeys = TableKeys {
    name: "`radius` and `length`",
    description: "Radius and length of a capsule, cylinder or cone.",
    keys: &[
        required("radius", CONSTANT, "Radius."),
        required(
            "length",
            CONSTANT,
            "Length; of a capsule between the centres of its caps.",
        ),
    ],
};

const HEIGHT_FIELD: TableKeys = TableKeys {
    name: "`height_field`",
    description: "Ground of given heights over a rectangle about the origin.",
    keys: &[
        key(
            "values",
            list(&ROW_OF_TABLE, 2, 4096),
            "",
            "Heights, one row for each y, x fastest.",
        ),
        key(
            "file",
            Kind::Text,
            "",
            "File of heights instead: one row a line, numbers apart by blanks or commas.",
        ),
        required("size", VERTEX, "Sides of the rectangle along x and y."),
    ],
};

const HULL: Kind = Kind::Either {
    kinds: &[Kind::Text, list(&POINT, 4, 4096)],
    expected: "a list of points or the name of an STL or OBJ file",
};
const POLYGON: Kind = list(&VERTEX, 3, 1024);

/// One shape.
pub(super) const SHAPE: TableKeys = TableKeys {
    name: "a shape",
    description: "One of the shape keys, with its place in the body.",
    keys: &[
        key("ball", CONSTANT, "", "Radius of a ball."),
        key("box", POINT, "", "Full lengths of the sides of a box."),
        key(
            "capsule",
            Kind::Table(&ROUND),
            "",
            "A capsule along z, in the plane along x.",
        ),
        key("cylinder", Kind::Table(&ROUND), "", "A cylinder along z."),
        key(
            "cone",
            Kind::Table(&ROUND),
            "",
            "A cone along z, apex up; its frame is half-way up.",
        ),
        key(
            "hull",
            HULL,
            "",
            "Convex hull of points, or of the vertices of a file.",
        ),
        key(
            "mesh",
            Kind::Text,
            "",
            "Surface of triangles in an OBJ or STL file; fixed or driven bodies.",
        ),
        key(
            "height_field",
            Kind::Table(&HEIGHT_FIELD),
            "",
            "Ground of given heights; fixed or driven bodies.",
        ),
        key(
            "half_space",
            POINT,
            "",
            "Outward normal of a half-space; fixed or driven bodies.",
        ),
        key("disc", CONSTANT, "", "Plane: radius of a disc."),
        key(
            "rectangle",
            VERTEX,
            "",
            "Plane: full lengths of the sides of a rectangle.",
        ),
        key(
            "polygon",
            POLYGON,
            "",
            "Plane: vertices of a convex polygon.",
        ),
        key(
            "segment",
            list(&VERTEX, 2, 2),
            "",
            "Plane: ends of a segment.",
        ),
        key(
            "half_plane",
            VERTEX,
            "",
            "Plane: outward normal of a half-plane.",
        ),
        key("at", PLACE, "the origin", "Place of the shape in the body."),
        key("rotation", TURN, "0", "Rotation of the shape in the body."),
        key(
            "quaternion",
            list(&CONSTANT, 4, 4),
            "",
            "Rotation of the shape in the body as w, x, y, z.",
        ),
    ],
};

/// Keys of a shape that are no shapes.
pub(super) const SHAPE_PLACE: [&str; 3] = ["at", "rotation", "quaternion"];

const REPEAT: TableKeys = TableKeys {
    name: "`repeat`",
    description: "A grid of equal bodies, numbered NAME[0], NAME[1], ... with x fastest.",
    keys: &[
        required("count", list(&Kind::Count, 1, 3), "Bodies along each axis."),
        required("spacing", PLACE, "Distance of neighbours along each axis."),
        key(
            "stagger",
            PLACE,
            "0",
            "Shift of every second layer of the last axis.",
        ),
    ],
};

const MOTION: TableKeys = TableKeys {
    name: "`motion`",
    description: "A motion given in time.",
    keys: &[
        key(
            "position",
            list(&TIME, 2, 3),
            "`position` of the body",
            "Position of the body frame, expressions of t.",
        ),
        key(
            "rotation",
            Kind::Either {
                kinds: &[TIME, list(&TIME, 3, 3)],
                expected: "3 expressions of t, in the plane one",
            },
            "`rotation` of the body",
            "Rotation vector of the body frame, expressions of t; in the plane an angle.",
        ),
    ],
};

/// `[[bodies]]`.
pub(super) const BODY: TableKeys = TableKeys {
    name: "[[bodies]]",
    description: "A rigid body, or a grid of equal ones.",
    keys: &[
        required("name", Kind::Text, "Name used in results and messages."),
        key(
            "material",
            Kind::Text,
            "the only material",
            "Name of a material.",
        ),
        key(
            "shape",
            Kind::Table(&SHAPE),
            "",
            "Shape, centred at the body frame unless `at` is given.",
        ),
        key(
            "shapes",
            tables(&SHAPE, 4096),
            "",
            "Several shapes that form one body.",
        ),
        key(
            "fixed",
            Kind::Boolean,
            "false",
            "Whether the body never moves.",
        ),
        key(
            "motion",
            Kind::Table(&MOTION),
            "",
            "Motion of a driven body.",
        ),
        key(
            "mass",
            CONSTANT,
            "from density and shapes",
            "Mass; alone it scales the inertia of the shapes.",
        ),
        key(
            "inertia",
            Kind::Either {
                kinds: &[CONSTANT, list(&CONSTANT, 3, 6)],
                expected: "3 principal moments or 6 numbers xx, yy, zz, xy, xz, yz, in the plane one",
            },
            "from density and shapes",
            "Inertia about the centre of mass in the axes of the body frame.",
        ),
        key(
            "centre",
            PLACE,
            "from the shapes",
            "Centre of mass in the body frame.",
        ),
        key(
            "position",
            PLACE,
            "the origin",
            "Position of the body frame.",
        ),
        key(
            "rotation",
            TURN,
            "0",
            "Rotation of the body frame; in the plane an angle.",
        ),
        key(
            "quaternion",
            list(&CONSTANT, 4, 4),
            "",
            "Rotation of the body frame as w, x, y, z instead.",
        ),
        key(
            "velocity",
            PLACE,
            "0",
            "Velocity of the centre of mass, in world axes.",
        ),
        key(
            "spin",
            TURN,
            "0",
            "Angular velocity in the axes of the body frame; in the plane one number.",
        ),
        key(
            "force",
            STATES,
            "0",
            "Force at the centre of mass in world axes, besides gravity; may use x y z, vx vy vz, wx wy wz of the body (in the plane x y, vx vy, w).",
        ),
        key(
            "torque",
            Kind::Either {
                kinds: &[STATE, STATES],
                expected: "3 expressions, in the plane one",
            },
            "0",
            "Torque in world axes; may use what `force` may.",
        ),
        key("repeat", Kind::Table(&REPEAT), "", "A grid of such bodies."),
        key(
            "collides",
            Kind::Boolean,
            "true",
            "Whether the body touches anything.",
        ),
        key(
            "group",
            Kind::Text,
            "",
            "Bodies of one group do not touch each other.",
        ),
        key(
            "ignores",
            NAMES,
            "",
            "Names of bodies that it never touches.",
        ),
    ],
};

const FILL_SHAPE: TableKeys = TableKeys {
    name: "[[fill.shapes]]",
    description: "A shape to fill with: its form at size 1, how often, and how large.",
    keys: &[
        required("shape", Kind::Table(&SHAPE), "The shape at size 1."),
        key(
            "weight",
            CONSTANT,
            "1",
            "How often it is taken, relative to the others.",
        ),
        key(
            "uniform",
            VERTEX,
            "[1, 1]",
            "Factor of its lengths: smallest and largest of a uniform distribution.",
        ),
        key(
            "lognormal",
            VERTEX,
            "",
            "Factor of its lengths: median, and standard deviation of its logarithm (cut at three of them).",
        ),
    ],
};

const REGION: TableKeys = TableKeys {
    name: "`region`",
    description: "The box, in the plane the rectangle, that is filled.",
    keys: &[
        required("box", PLACE, "Full lengths of its sides."),
        key("at", PLACE, "the origin", "Its centre."),
    ],
};

/// `[[fill]]`.
pub(super) const FILL: TableKeys = TableKeys {
    name: "[[fill]]",
    description: "Bodies at random places without overlap, the same on every machine.",
    keys: &[
        required(
            "name",
            Kind::Text,
            "Name of the bodies: NAME[0], NAME[1], ...",
        ),
        key(
            "material",
            Kind::Text,
            "the only material",
            "Name of a material.",
        ),
        required("region", Kind::Table(&REGION), "Where they lie."),
        key(
            "count",
            Kind::Count,
            "",
            "Number of bodies; or give `fraction`.",
        ),
        key(
            "fraction",
            CONSTANT,
            "",
            "Part of the region that they take up; or give `count`.",
        ),
        required("shapes", tables(&FILL_SHAPE, 64), "Shapes to choose from."),
        key("seed", Kind::Count, "1", "Seed of the random numbers."),
        key("velocity", PLACE, "0", "Velocity of all of them."),
    ],
};

/// `[[monitors]]`.
pub(super) const MONITOR: TableKeys = TableKeys {
    name: "[[monitors]]",
    description: "A number recorded in every kept step; one of force, momentum, contacts, energy.",
    keys: &[
        required("name", Kind::Text, "Name of the column."),
        key(
            "force",
            list(&Kind::Text, 2, 2),
            "",
            "Sum of the contact forces on the bodies of the first group from those of the second.",
        ),
        key(
            "momentum",
            Kind::Text,
            "",
            "Sum of the momentum of a group.",
        ),
        key(
            "contacts",
            Kind::Either {
                kinds: &[Kind::Text, list(&Kind::Text, 2, 2)],
                expected: "a name or a list of two names",
            },
            "",
            "Number of contacts that carry an impulse, of a group or between two.",
        ),
        key(
            "energy",
            Kind::Text,
            "",
            "Kinetic and potential energy of a group.",
        ),
    ],
};
