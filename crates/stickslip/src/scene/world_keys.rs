//! The keys of worlds of rigid bodies.

use super::contact_keys::{KEY_DRILLING_FRICTION, KEY_FRICTION, KEY_ROLLING_FRICTION};
use super::key_kinds::{
    CONSTANT, Kind, TIME, VERTEX, Variables, list, shared_keys, table_keys, tables,
};
use super::words::{Impact, SceneWords};

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
const TURN_IN_TIME: Kind = Kind::Either {
    kinds: &[TIME, list(&TIME, 3, 3)],
    expected: "3 expressions of t, in the plane one",
};
const INERTIA: Kind = Kind::Either {
    kinds: &[CONSTANT, list(&CONSTANT, 3, 6)],
    expected: "3 principal moments or 6 numbers xx, yy, zz, xy, xz, yz, in the plane one",
};
const NAME_OR_PAIR: Kind = Kind::Either {
    kinds: &[Kind::Text, list(&Kind::Text, 2, 2)],
    expected: "a name or a list of two names",
};
const STATES: Kind = list(&STATE, 2, 3);
const ROW_OF_TABLE: Kind = list(&CONSTANT, 2, 4096);
const NAMES: Kind = list(&Kind::Text, 1, LIST_MAX);

table_keys! {
    /// A world of rigid bodies that find their contacts.
    pub(super) WORLD = "[world]" {
        /// 3 for space, 2 for motion in the x-y plane with rotation about z.
        dimension: Kind::Count, default "3";
        /// Acceleration of gravity.
        gravity: PLACE, default "9.81 down: along -z in space, along -y in the plane";
        /// Gap, in parts of the size of a body, up to which a contact counts as closed.
        slop: CONSTANT, default "1e-4";
    }
}

table_keys! {
    /// What the run of a world writes.
    pub(super) RECORD = "`record`" {
        /// Bodies whose motion is recorded, by name; the name before [ ] stands for all of them.
        bodies: Kind::Either { kinds: &[Kind::Text, NAMES], expected: "\"all\" or a list of names" }, default "all";
        /// "all" or "none": whether contacts.npy is written.
        contacts: Kind::Text, default "all";
        /// "none", "bodies" or "pairs": sums of contact forces per body or per touching pair, in forces.npy.
        forces: Kind::Text, default "none";
    }
}

shared_keys! {
    /// Coefficient of restitution, from 0 to 1.
    KEY_RESTITUTION = restitution: CONSTANT, default "0";
    /// Impact law.
    KEY_IMPACT = impact: Kind::Word(Impact::WORDS), default "that of the scene";
}

table_keys! {
    /// A material: its density, and what it does against itself.
    pub(super) MATERIAL = "[[materials]]" {
        /// Name of the material.
        required name: Kind::Text;
        /// Mass per volume, in the plane per area; needed by free bodies without `mass`.
        density: CONSTANT;
        KEY_FRICTION;
        KEY_ROLLING_FRICTION;
        KEY_DRILLING_FRICTION;
        KEY_RESTITUTION;
        KEY_IMPACT;
    }
}

table_keys! {
    /// What two materials do to each other.
    pub(super) PAIR = "[[pairs]]" {
        /// Names of two materials.
        required between: list(&Kind::Text, 2, 2);
        KEY_FRICTION;
        KEY_ROLLING_FRICTION;
        KEY_DRILLING_FRICTION;
        KEY_RESTITUTION;
        KEY_IMPACT;
    }
}

table_keys! {
    /// Radius and length of a capsule, cylinder or cone.
    ROUND = "`radius` and `length`" {
        /// Radius.
        required radius: CONSTANT;
        /// Length; of a capsule between the centres of its caps.
        required length: CONSTANT;
    }
}

table_keys! {
    /// Ground of given heights over a rectangle about the origin.
    HEIGHT_FIELD = "`height_field`" {
        /// Heights, one row for each y, x fastest.
        values: list(&ROW_OF_TABLE, 2, 4096);
        /// File of heights instead: one row a line, numbers apart by blanks or commas.
        file: Kind::Text;
        /// Sides of the rectangle along x and y.
        required size: VERTEX;
    }
}

const HULL: Kind = Kind::Either {
    kinds: &[Kind::Text, list(&POINT, 4, 4096)],
    expected: "a list of points or the name of an STL or OBJ file",
};
const POLYGON: Kind = list(&VERTEX, 3, 1024);

table_keys! {
    /// One of the shape keys, with its place in the body.
    pub(super) SHAPE = "a shape" {
        /// Radius of a ball.
        ball: CONSTANT;
        /// Full lengths of the sides of a box.
        box: POINT;
        /// A capsule along z, in the plane along x.
        capsule: Kind::Table(&ROUND);
        /// A cylinder along z.
        cylinder: Kind::Table(&ROUND);
        /// A cone along z, apex up; its frame is half-way up.
        cone: Kind::Table(&ROUND);
        /// Convex hull of points, or of the vertices of a file.
        hull: HULL;
        /// Surface of triangles in an OBJ or STL file; fixed or driven bodies.
        mesh: Kind::Text;
        /// Ground of given heights; fixed or driven bodies.
        height_field: Kind::Table(&HEIGHT_FIELD);
        /// Outward normal of a half-space; fixed or driven bodies.
        half_space: POINT;
        /// Plane: radius of a disc.
        disc: CONSTANT;
        /// Plane: full lengths of the sides of a rectangle.
        rectangle: VERTEX;
        /// Plane: vertices of a convex polygon.
        polygon: POLYGON;
        /// Plane: ends of a segment.
        segment: list(&VERTEX, 2, 2);
        /// Plane: outward normal of a half-plane.
        half_plane: VERTEX;
        /// Place of the shape in the body.
        at: PLACE, default "the origin";
        /// Rotation of the shape in the body.
        rotation: TURN, default "0";
        /// Rotation of the shape in the body as w, x, y, z.
        quaternion: list(&CONSTANT, 4, 4);
    }
}

/// Keys of a shape that are no shapes.
pub(super) const SHAPE_PLACE: [&str; 3] = ["at", "rotation", "quaternion"];

table_keys! {
    /// A grid of equal bodies, numbered NAME[0], NAME[1], ... with x fastest.
    REPEAT = "`repeat`" {
        /// Bodies along each axis.
        required count: list(&Kind::Count, 1, 3);
        /// Distance of neighbours along each axis.
        required spacing: PLACE;
        /// Shift of every second layer of the last axis.
        stagger: PLACE, default "0";
    }
}

table_keys! {
    /// A motion given in time.
    MOTION = "`motion`" {
        /// Position of the body frame, expressions of t.
        position: list(&TIME, 2, 3), default "`position` of the body";
        /// Rotation vector of the body frame, expressions of t; in the plane an angle.
        rotation: TURN_IN_TIME, default "`rotation` of the body";
    }
}

table_keys! {
    /// A rigid body, or a grid of equal ones.
    pub(super) BODY = "[[bodies]]" {
        /// Name used in results and messages.
        required name: Kind::Text;
        /// Name of a material.
        material: Kind::Text, default "the only material";
        /// Shape, centred at the body frame unless `at` is given.
        shape: Kind::Table(&SHAPE);
        /// Several shapes that form one body.
        shapes: tables(&SHAPE, 4096);
        /// Whether the body never moves.
        fixed: Kind::Boolean, default "false";
        /// Motion of a driven body.
        motion: Kind::Table(&MOTION);
        /// Mass; alone it scales the inertia of the shapes.
        mass: CONSTANT, default "from density and shapes";
        /// Inertia about the centre of mass in the axes of the body frame.
        inertia: INERTIA, default "from density and shapes";
        /// Centre of mass in the body frame.
        centre: PLACE, default "from the shapes";
        /// Position of the body frame.
        position: PLACE, default "the origin";
        /// Rotation of the body frame; in the plane an angle.
        rotation: TURN, default "0";
        /// Rotation of the body frame as w, x, y, z instead.
        quaternion: list(&CONSTANT, 4, 4);
        /// Velocity of the centre of mass, in world axes.
        velocity: PLACE, default "0";
        /// Angular velocity in the axes of the body frame; in the plane one number.
        spin: TURN, default "0";
        /// Force at the centre of mass in world axes, besides gravity; may use x y z, vx vy vz, wx wy wz of the body
        /// (in the plane x y, vx vy, w).
        force: STATES, default "0";
        /// Torque in world axes; may use what `force` may.
        torque: Kind::Either { kinds: &[STATE, STATES], expected: "3 expressions, in the plane one" }, default "0";
        /// A grid of such bodies.
        repeat: Kind::Table(&REPEAT);
        /// Whether the body touches anything.
        collides: Kind::Boolean, default "true";
        /// Bodies of one group do not touch each other.
        group: Kind::Text;
        /// Names of bodies that it never touches.
        ignores: NAMES;
    }
}

table_keys! {
    /// A shape to fill with: its form at size 1, how often, and how large.
    FILL_SHAPE = "[[fill.shapes]]" {
        /// The shape at size 1.
        required shape: Kind::Table(&SHAPE);
        /// How often it is taken, relative to the others.
        weight: CONSTANT, default "1";
        /// Factor of its lengths: smallest and largest of a uniform distribution.
        uniform: VERTEX, default "[1, 1]";
        /// Factor of its lengths: median, and standard deviation of its logarithm (cut at three of them).
        lognormal: VERTEX;
    }
}

table_keys! {
    /// The box, in the plane the rectangle, that is filled.
    REGION = "`region`" {
        /// Full lengths of its sides.
        required box: PLACE;
        /// Its centre.
        at: PLACE, default "the origin";
    }
}

table_keys! {
    /// Bodies at random places without overlap, the same on every machine.
    pub(super) FILL = "[[fill]]" {
        /// Name of the bodies: NAME[0], NAME[1], ...
        required name: Kind::Text;
        /// Name of a material.
        material: Kind::Text, default "the only material";
        /// Where they lie.
        required region: Kind::Table(&REGION);
        /// Number of bodies; or give `fraction`.
        count: Kind::Count;
        /// Part of the region that they take up; or give `count`.
        fraction: CONSTANT;
        /// Shapes to choose from.
        required shapes: tables(&FILL_SHAPE, 64);
        /// Seed of the random numbers.
        seed: Kind::Count, default "1";
        /// Velocity of all of them.
        velocity: PLACE, default "0";
    }
}

table_keys! {
    /// A number recorded in every kept step; one of force, momentum, contacts, energy.
    pub(super) MONITOR = "[[monitors]]" {
        /// Name of the column.
        required name: Kind::Text;
        /// Sum of the contact forces on the bodies of the first group from those of the second.
        force: list(&Kind::Text, 2, 2);
        /// Sum of the momentum of a group.
        momentum: Kind::Text;
        /// Number of contacts that carry an impulse, of a group or between two.
        contacts: NAME_OR_PAIR;
        /// Kinetic and potential energy of a group.
        energy: Kind::Text;
    }
}
