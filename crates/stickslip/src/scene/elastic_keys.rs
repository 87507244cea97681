//! The keys of scenes with elastic bodies.

use super::elastic_words::{Component, MeshShape, Model, Strain};
use super::key_kinds::{
    CONSTANT, Key, Kind, POSITION, TIME, TableKeys, VERTEX, key, list, named, required, tables,
};
use super::words::SceneWords;
use crate::systems::elastodynamic::{ElementKind, MassKind};

const VECTOR: Kind = list(&CONSTANT, 1, 3);
const FIELD: Kind = list(&POSITION, 1, 3);
const MOTION: Kind = list(&TIME, 1, 3);
const TABLES_MAX: usize = 256;

/// The table `[elastic]`.
pub(super) const ELASTIC: TableKeys = TableKeys {
    name: "[elastic]",
    description: "Elastic bodies on meshes, or a linear system given by its matrices.",
    keys: &[
        key(
            "meshes",
            tables(&MESH, TABLES_MAX),
            "",
            "Meshes. With several, the groups of each get its name in front: `upper-bottom`.",
        ),
        key(
            "regions",
            tables(&REGION, TABLES_MAX),
            "",
            "Material and model of groups of elements.",
        ),
        key(
            "supports",
            tables(&SUPPORT, TABLES_MAX),
            "",
            "Groups whose nodes are held or moved.",
        ),
        key("loads", tables(&LOAD, TABLES_MAX), "", "Forces on groups."),
        key(
            "matrices",
            Kind::Table(&MATRICES),
            "",
            "A system given by matrices, instead of meshes.",
        ),
        key("gravity", VECTOR, "0", "Acceleration of gravity."),
        key(
            "mass",
            Kind::Word(MassKind::WORDS),
            "consistent",
            "Distribution of mass.",
        ),
        key(
            "strain",
            Kind::Word(Strain::WORDS),
            "linear",
            "Strain measure; `finite` goes with internal_force = \"discrete-gradient\".",
        ),
        key(
            "rayleigh",
            VERTEX,
            "[0, 0]",
            "Damping C = a M + b K as [a, b].",
        ),
        key(
            "modal_damping",
            CONSTANT,
            "0",
            "Ratio to critical damping of every mode, for small systems.",
        ),
    ],
};

const MESH: TableKeys = TableKeys {
    name: "[[elastic.meshes]]",
    description: "A mesh: a built-in shape or a Gmsh file.",
    keys: &[
        key(
            "name",
            Kind::Text,
            "body1, body2, ...",
            "Name, in front of the groups where there are several meshes.",
        ),
        required("shape", Kind::Word(MeshShape::WORDS), "Shape of the mesh."),
        key(
            "element",
            Kind::Word(ElementKind::WORDS),
            "of first order",
            "Kind of elements of a built-in shape.",
        ),
        key("file", Kind::Text, "", "Gmsh file, beside the scene."),
        key(
            "size",
            VECTOR,
            "",
            "Edges of a rectangle or box, from the origin.",
        ),
        key("radius", CONSTANT, "", "Radius of a disc or ring."),
        key("inner_radius", CONSTANT, "", "Inner radius of a ring."),
        key("from", VECTOR, "the origin", "Left end of a bar."),
        key("to", VECTOR, "", "Right end of a bar."),
        key(
            "cells",
            list(&Kind::Count, 1, 3),
            "",
            "Cells along each edge; of a disc along the radius, of a ring across and around.",
        ),
        key("at", VECTOR, "the origin", "Shift of the mesh."),
        key(
            "displacement",
            FIELD,
            "0",
            "Initial displacement, expressions of the place x, y, z.",
        ),
        key(
            "velocity",
            FIELD,
            "0",
            "Initial velocity, expressions of the place x, y, z.",
        ),
    ],
};

const REGION: TableKeys = TableKeys {
    name: "[[elastic.regions]]",
    description: "Material and model of a group of elements.",
    keys: &[
        key("group", Kind::Text, "all", "Group of elements."),
        required(
            "model",
            Kind::Word(Model::WORDS),
            "What the elements model.",
        ),
        required("young", CONSTANT, "Young's modulus, in pascals."),
        key("poisson", CONSTANT, "0", "Poisson's ratio, below 1/2."),
        required("density", CONSTANT, "Mass density."),
        key(
            "area",
            CONSTANT,
            "",
            "Area of the section of bars and beams.",
        ),
        key("inertia", CONSTANT, "", "Second moment of area of beams."),
        key("thickness", CONSTANT, "1", "Thickness of plane bodies."),
    ],
};

const SUPPORT: TableKeys = TableKeys {
    name: "[[elastic.supports]]",
    description: "Components of the nodes of a group that are held or moved.",
    keys: &[
        required("group", Kind::Text, "Group of nodes."),
        key(
            "hold",
            list(&Kind::Word(Component::WORDS), 1, 4),
            "",
            "Components that stay zero.",
        ),
        key(
            "move",
            named(&TIME, 4),
            "",
            "Components that move in a given way, expressions of t: { x = \"0.1*sin(t)\" }.",
        ),
    ],
};

const LOAD: TableKeys = TableKeys {
    name: "[[elastic.loads]]",
    description: "A force on a group; one of `traction`, `body_force`, `force`.",
    keys: &[
        key("group", Kind::Text, "all", "Group that is loaded."),
        key("traction", VECTOR, "", "Force per area of facets."),
        key("body_force", VECTOR, "", "Force per volume."),
        key("force", VECTOR, "", "Force on every node of the group."),
        key("factor", TIME, "1", "Factor, an expression of t."),
    ],
};

const MATRICES: TableKeys = TableKeys {
    name: "[elastic.matrices]",
    description: "Matrix Market files beside the scene.",
    keys: &[
        required("mass", Kind::Text, "Mass matrix M."),
        key("stiffness", Kind::Text, "", "Stiffness matrix K."),
        key("damping", Kind::Text, "", "Damping matrix C."),
        key("load", Kind::Text, "", "Constant force, one column."),
        key(
            "displacement",
            Kind::Text,
            "0",
            "Initial displacement, one column.",
        ),
        key("velocity", Kind::Text, "0", "Initial velocity, one column."),
    ],
};

/// What a surface of a mesh meets.
pub(super) const OBSTACLE: TableKeys = TableKeys {
    name: "`obstacle`",
    description: "A rigid obstacle; one of `plane`, `sphere`, `cylinder`.",
    keys: &[
        key("plane", VECTOR, "", "Normal of a plane, to the free side."),
        key(
            "sphere",
            CONSTANT,
            "",
            "Radius of a ball (in the plane a disc).",
        ),
        key(
            "cylinder",
            CONSTANT,
            "",
            "Radius of a cylinder along `axis`.",
        ),
        key(
            "through",
            VECTOR,
            "the origin",
            "A point of the plane, the centre of the ball, a point of the axis.",
        ),
        key("axis", VECTOR, "[0, 0, 1]", "Direction of a cylinder."),
        key(
            "side",
            Kind::Word(super::elastic_words::Side::WORDS),
            "outside",
            "Where bodies are kept by a ball or cylinder.",
        ),
        key(
            "motion",
            MOTION,
            "at rest",
            "Displacement of the obstacle, expressions of t.",
        ),
        key(
            "tangent",
            VECTOR,
            "",
            "First tangent, to which anisotropic friction refers.",
        ),
    ],
};

/// Keys of `[[contacts]]` for elastic bodies.
pub(super) const KEY_SURFACE: Key = key(
    "surface",
    Kind::Text,
    "",
    "Elastic bodies: group of facets whose nodes touch.",
);
pub(super) const KEY_OBSTACLE: Key = key(
    "obstacle",
    Kind::Table(&OBSTACLE),
    "",
    "Elastic bodies: rigid obstacle that `surface` meets.",
);
pub(super) const KEY_AGAINST: Key = key(
    "against",
    Kind::Text,
    "",
    "Elastic bodies: group of facets of another body that `surface` meets.",
);
pub(super) const KEY_COORDINATE: Key = key(
    "coordinate",
    Kind::Count,
    "",
    "Systems of matrices: number of the coordinate that is bounded, from 1.",
);
pub(super) const KEY_ABOVE: Key = key(
    "above",
    CONSTANT,
    "",
    "Systems of matrices: the coordinate stays above this value.",
);
pub(super) const KEY_BELOW: Key = key(
    "below",
    CONSTANT,
    "",
    "Systems of matrices: the coordinate stays below this value.",
);
pub(super) const KEY_SLIDES: Key = key(
    "slides",
    list(&Kind::Count, 1, 2),
    "",
    "Systems of matrices: numbers of the coordinates along which friction acts.",
);
