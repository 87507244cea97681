//! The keys of scenes with elastic bodies.

use super::elastic_words::{Component, MeshShape, Model, Strain};
use super::key_kinds::{
    CONSTANT, Kind, POSITION, TIME, VERTEX, list, named, shared_keys, table_keys, tables,
};
use super::words::SceneWords;
use crate::systems::elastodynamic::{ElementKind, MassKind};

const VECTOR: Kind = list(&CONSTANT, 1, 3);
const FIELD: Kind = list(&POSITION, 1, 3);
const MOTION: Kind = list(&TIME, 1, 3);
const TABLES_MAX: usize = 256;

table_keys! {
    /// Elastic bodies on meshes, or a linear system given by its matrices.
    pub(super) ELASTIC = "[elastic]" {
        /// Meshes. With several, the groups of each get its name in front: `upper-bottom`.
        meshes: tables(&MESH, TABLES_MAX);
        /// Material and model of groups of elements.
        regions: tables(&REGION, TABLES_MAX);
        /// Groups whose nodes are held or moved.
        supports: tables(&SUPPORT, TABLES_MAX);
        /// Forces on groups.
        loads: tables(&LOAD, TABLES_MAX);
        /// A system given by matrices, instead of meshes.
        matrices: Kind::Table(&MATRICES);
        /// Acceleration of gravity.
        gravity: VECTOR, default "0";
        /// Distribution of mass.
        mass: Kind::Word(MassKind::WORDS), default "consistent";
        /// Strain measure; `finite` goes with internal_force = "discrete-gradient".
        strain: Kind::Word(Strain::WORDS), default "linear";
        /// Damping C = a M + b K as [a, b].
        rayleigh: VERTEX, default "[0, 0]";
        /// Ratio to critical damping of every mode, for small systems.
        modal_damping: CONSTANT, default "0";
    }
}

table_keys! {
    /// A mesh: a built-in shape or a Gmsh file.
    MESH = "[[elastic.meshes]]" {
        /// Name, in front of the groups where there are several meshes.
        name: Kind::Text, default "body1, body2, ...";
        /// Shape of the mesh.
        required shape: Kind::Word(MeshShape::WORDS);
        /// Kind of elements of a built-in shape.
        element: Kind::Word(ElementKind::WORDS), default "of first order";
        /// Gmsh file, beside the scene.
        file: Kind::Text;
        /// Edges of a rectangle or box, from the origin.
        size: VECTOR;
        /// Radius of a disc or ring.
        radius: CONSTANT;
        /// Inner radius of a ring.
        inner_radius: CONSTANT;
        /// Left end of a bar.
        from: VECTOR, default "the origin";
        /// Right end of a bar.
        to: VECTOR;
        /// Cells along each edge; of a disc along the radius, of a ring across and around.
        cells: list(&Kind::Count, 1, 3);
        /// Shift of the mesh.
        at: VECTOR, default "the origin";
        /// Initial displacement, expressions of the place x, y, z.
        displacement: FIELD, default "0";
        /// Initial velocity, expressions of the place x, y, z.
        velocity: FIELD, default "0";
    }
}

table_keys! {
    /// Material and model of a group of elements.
    REGION = "[[elastic.regions]]" {
        /// Group of elements.
        group: Kind::Text, default "all";
        /// What the elements model.
        required model: Kind::Word(Model::WORDS);
        /// Young's modulus, in pascals.
        required young: CONSTANT;
        /// Poisson's ratio, below 1/2.
        poisson: CONSTANT, default "0";
        /// Mass density.
        required density: CONSTANT;
        /// Area of the section of bars and beams.
        area: CONSTANT;
        /// Second moment of area of beams.
        inertia: CONSTANT;
        /// Thickness of plane bodies.
        thickness: CONSTANT, default "1";
    }
}

table_keys! {
    /// Components of the nodes of a group that are held or moved.
    SUPPORT = "[[elastic.supports]]" {
        /// Group of nodes.
        required group: Kind::Text;
        /// Components that stay zero.
        hold: list(&Kind::Word(Component::WORDS), 1, 4);
        /// Components that move in a given way, expressions of t: { x = "0.1*sin(t)" }.
        move: named(&TIME, 4);
    }
}

table_keys! {
    /// A force on a group; one of `traction`, `body_force`, `force`.
    LOAD = "[[elastic.loads]]" {
        /// Group that is loaded.
        group: Kind::Text, default "all";
        /// Force per area of facets.
        traction: VECTOR;
        /// Force per volume.
        body_force: VECTOR;
        /// Force on every node of the group.
        force: VECTOR;
        /// Factor, an expression of t.
        factor: TIME, default "1";
    }
}

table_keys! {
    /// Matrix Market files beside the scene.
    MATRICES = "[elastic.matrices]" {
        /// Mass matrix M.
        required mass: Kind::Text;
        /// Stiffness matrix K.
        stiffness: Kind::Text;
        /// Damping matrix C.
        damping: Kind::Text;
        /// Constant force, one column.
        load: Kind::Text;
        /// Initial displacement, one column.
        displacement: Kind::Text, default "0";
        /// Initial velocity, one column.
        velocity: Kind::Text, default "0";
    }
}

table_keys! {
    /// A rigid obstacle; one of `plane`, `sphere`, `cylinder`.
    pub(super) OBSTACLE = "`obstacle`" {
        /// Normal of a plane, to the free side.
        plane: VECTOR;
        /// Radius of a ball (in the plane a disc).
        sphere: CONSTANT;
        /// Radius of a cylinder along `axis`.
        cylinder: CONSTANT;
        /// A point of the plane, the centre of the ball, a point of the axis.
        through: VECTOR, default "the origin";
        /// Direction of a cylinder.
        axis: VECTOR, default "[0, 0, 1]";
        /// Where bodies are kept by a ball or cylinder.
        side: Kind::Word(super::elastic_words::Side::WORDS), default "outside";
        /// Displacement of the obstacle, expressions of t.
        motion: MOTION, default "at rest";
        /// First tangent, to which anisotropic friction refers.
        tangent: VECTOR;
    }
}

shared_keys! {
    /// Elastic bodies: group of facets whose nodes touch.
    pub(super) KEY_SURFACE = surface: Kind::Text;
    /// Elastic bodies: rigid obstacle that `surface` meets.
    pub(super) KEY_OBSTACLE = obstacle: Kind::Table(&OBSTACLE);
    /// Elastic bodies: group of facets of another body that `surface` meets.
    pub(super) KEY_AGAINST = against: Kind::Text;
    /// Systems of matrices: number of the coordinate that is bounded, from 1.
    pub(super) KEY_COORDINATE = coordinate: Kind::Count;
    /// Systems of matrices: the coordinate stays above this value.
    pub(super) KEY_ABOVE = above: CONSTANT;
    /// Systems of matrices: the coordinate stays below this value.
    pub(super) KEY_BELOW = below: CONSTANT;
    /// Systems of matrices: numbers of the coordinates along which friction acts.
    pub(super) KEY_SLIDES = slides: list(&Kind::Count, 1, 2);
}
