//! The keys of contacts, their points and their friction.

use super::elastic_keys::{
    KEY_ABOVE, KEY_AGAINST, KEY_BELOW, KEY_COORDINATE, KEY_OBSTACLE, KEY_SLIDES, KEY_SURFACE,
};
use super::key_kinds::{
    CONSTANT, CONSTANTS_3, FRICTION_VALUE, Kind, POINT, POINT_TIME, POSITION_TIME, ROW, STATE,
    STATES, VERTEX, list, shared_keys, table_keys, tables,
};
use super::words::{Impact, SceneWords};

const FRICTION_SET: Kind = Kind::Either {
    kinds: &[FRICTION_VALUE, Kind::Table(&FRICTION)],
    expected: "a coefficient or a table such as { ellipse = [0.2, 0.4] }",
};

shared_keys! {
    /// Position of the material contact point, two or three expressions; gives the tangents.
    KEY_POINT = point: POINT;
    /// Normal of the surface at the point, towards the admissible side.
    KEY_NORMAL = normal: POINT_TIME, default "that of the gap";
    /// Slip velocity, one expression per tangent, linear in the velocities; instead of `point`. A part without
    /// velocities is the motion of the surface.
    KEY_SLIP = slip: STATES;
    /// Tangent covectors, one row of coefficients of the velocities each; instead of `point`.
    KEY_TANGENTS = tangents: list(&ROW, 1, 16);
    /// Coulomb coefficient, or a friction set.
    pub(super) KEY_FRICTION = friction: FRICTION_SET, default "0";
    /// Angular velocity of rolling, resisted by `rolling_friction`.
    KEY_ROLLING = rolling: STATES;
    /// Rolling friction length, in metres.
    pub(super) KEY_ROLLING_FRICTION = rolling_friction: CONSTANT, default "0";
    /// Angular velocity of drilling, resisted by `drilling_friction`.
    KEY_DRILLING = drilling: STATE;
    /// Drilling friction length, in metres.
    pub(super) KEY_DRILLING_FRICTION = drilling_friction: CONSTANT, default "0";
}

table_keys! {
    /// A unilateral constraint gap >= 0 with its friction and impact law.
    pub(super) CONTACT = "[[contacts]]" {
        /// Name used in results and messages.
        name: Kind::Text, default "contact 1, contact 2, ...";
        /// Gap: positive when open, zero in contact.
        gap: POSITION_TIME;
        KEY_POINT;
        KEY_NORMAL;
        KEY_SLIP;
        KEY_TANGENTS;
        KEY_FRICTION;
        KEY_ROLLING;
        KEY_ROLLING_FRICTION;
        KEY_DRILLING;
        KEY_DRILLING_FRICTION;
        /// Several material points that share the gap, each with its own frame and friction.
        points: tables(&CONTACT_POINT, 64);
        /// Coefficient of restitution, from 0 to 1.
        restitution: CONSTANT, default "0";
        /// Stiffness of the compliant contact, for every contact or for none.
        stiffness: CONSTANT, default "effective mass/compliance_time^2";
        /// Impact law of this contact.
        impact: Kind::Word(Impact::WORDS), default "that of the scene";
        /// Rigid body: centre of the contact ball, in body axes from the centre of mass.
        arm: CONSTANTS_3;
        /// Rigid body: radius of the contact ball; 0 for a corner.
        radius: CONSTANT, default "0";
        /// Rigid body: normal of the plane it meets.
        plane: CONSTANTS_3, default "[0, 0, 1]";
        /// Rigid body: distance of the plane from the origin.
        offset: CONSTANT, default "0";
        KEY_SURFACE;
        KEY_OBSTACLE;
        KEY_AGAINST;
        KEY_COORDINATE;
        KEY_ABOVE;
        KEY_BELOW;
        KEY_SLIDES;
    }
}

table_keys! {
    /// One material point of a contact.
    pub(super) CONTACT_POINT = "[[contacts.points]]" {
        KEY_POINT;
        KEY_NORMAL;
        KEY_SLIP;
        KEY_TANGENTS;
        KEY_FRICTION;
        KEY_ROLLING;
        KEY_ROLLING_FRICTION;
        KEY_DRILLING;
        KEY_DRILLING_FRICTION;
    }
}

table_keys! {
    /// A closed convex set of friction impulses per unit of normal impulse.
    pub(super) FRICTION = "`friction`" {
        /// Radius: isotropic friction.
        disc: CONSTANT;
        /// Semi-axes along the two tangents.
        ellipse: VERTEX;
        /// Vertices in the two tangents; 0 must lie inside.
        polygon: list(&VERTEX, 3, 256);
        /// Directions in which the polygon is unbounded (generalized law).
        rays: list(&VERTEX, 1, 64);
        /// Lower and upper end for one tangent, lower <= 0 <= upper; under the generalized law "-inf" and "inf" are
        /// ends, too.
        interval: VERTEX;
        /// Factor that multiplies the set.
        coefficient: FRICTION_VALUE, default "1";
    }
}
