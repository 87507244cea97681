//! The words of scenes with elastic bodies.

use super::words::{SceneWords, Word, word, words, words_of};
use crate::systems::elastodynamic::{ElementKind, MassKind};

words! {
    /// Shape of a mesh.
    MeshShape {
        /// A straight bar.
        Bar = word("bar", "straight bar from `from` to `to`; groups left, right"),
        /// A rectangle.
        Rectangle = word("rectangle", "rectangle of `size`; groups left, right, bottom, top"),
        /// A disc.
        Disc = word("disc", "disc of `radius` about the origin; group boundary"),
        /// A ring.
        Ring = word("ring", "ring between `inner_radius` and `radius`; groups inner, outer"),
        /// A box in space.
        Box = word("box", "box of `size`; groups left, right, front, back, bottom, top"),
        /// A Gmsh file.
        Gmsh = word("gmsh", "Gmsh `file` of format 2.2 or 4.1; its physical groups"),
    }
}

words_of! {
    ElementKind {
        Line2 = word("line2", "line with 2 nodes"),
        Line3 = word("line3", "line with 3 nodes"),
        Tri3 = word("tri3", "triangle with 3 nodes"),
        Tri6 = word("tri6", "triangle with 6 nodes"),
        Quad4 = word("quad4", "quadrilateral with 4 nodes"),
        Quad8 = word("quad8", "quadrilateral with 8 nodes"),
        Quad9 = word("quad9", "quadrilateral with 9 nodes"),
        Tet4 = word("tet4", "tetrahedron with 4 nodes"),
        Tet10 = word("tet10", "tetrahedron with 10 nodes"),
        Hex8 = word("hex8", "hexahedron with 8 nodes"),
        Hex20 = word("hex20", "hexahedron with 20 nodes"),
        Hex27 = word("hex27", "hexahedron with 27 nodes"),
    }
}

words! {
    /// What the elements of a region model.
    Model {
        /// Bars.
        Bar = word("bar", "bars: axial stiffness only; needs `area`"),
        /// Beams.
        Beam = word("beam", "Euler-Bernoulli beams in the plane; needs `area` and `inertia`"),
        /// Plane strain.
        PlaneStrain = word("plane-strain", "plane strain"),
        /// Plane stress.
        PlaneStress = word("plane-stress", "plane stress"),
        /// Rotational symmetry.
        Axisymmetric = word("axisymmetric", "rotational symmetry about the y axis"),
        /// Solid.
        Solid = word("solid", "a solid in space"),
    }
}

words! {
    /// Strain measure.
    Strain {
        /// Linear.
        Linear = word("linear", "small strains and rotations"),
        /// Finite.
        Finite = word("finite", "large rotations: Saint Venant-Kirchhoff material"),
    }
}

words_of! {
    MassKind {
        Consistent = word("consistent", "consistent with the shape functions"),
        Lumped = word("lumped", "diagonal"),
    }
}

words! {
    /// Component of a displacement.
    Component {
        /// Along x.
        X = word("x", "displacement along x"),
        /// Along y.
        Y = word("y", "displacement along y"),
        /// Along z.
        Z = word("z", "displacement along z"),
        /// Rotation of a beam.
        Angle = word("angle", "rotation of a beam"),
    }
}

words! {
    /// Side of a ball or cylinder on which bodies are kept.
    Side {
        /// Outside.
        Outside = word("outside", "bodies stay outside"),
        /// Inside.
        Inside = word("inside", "bodies stay inside"),
    }
}
