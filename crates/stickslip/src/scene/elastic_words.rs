//! The words of scenes with elastic bodies.

use super::words::{Word, word, words};
use crate::systems::elastodynamic::ElementKind;

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

words! {
    /// Kind of elements.
    Element {
        /// Line with two nodes.
        Line2 = word("line2", "line with 2 nodes"),
        /// Line with three nodes.
        Line3 = word("line3", "line with 3 nodes"),
        /// Triangle with three nodes.
        Tri3 = word("tri3", "triangle with 3 nodes"),
        /// Triangle with six nodes.
        Tri6 = word("tri6", "triangle with 6 nodes"),
        /// Quadrilateral with four nodes.
        Quad4 = word("quad4", "quadrilateral with 4 nodes"),
        /// Quadrilateral with eight nodes.
        Quad8 = word("quad8", "quadrilateral with 8 nodes"),
        /// Quadrilateral with nine nodes.
        Quad9 = word("quad9", "quadrilateral with 9 nodes"),
        /// Tetrahedron with four nodes.
        Tet4 = word("tet4", "tetrahedron with 4 nodes"),
        /// Tetrahedron with ten nodes.
        Tet10 = word("tet10", "tetrahedron with 10 nodes"),
        /// Hexahedron with eight nodes.
        Hex8 = word("hex8", "hexahedron with 8 nodes"),
        /// Hexahedron with twenty nodes.
        Hex20 = word("hex20", "hexahedron with 20 nodes"),
        /// Hexahedron with twenty-seven nodes.
        Hex27 = word("hex27", "hexahedron with 27 nodes"),
    }
}

impl Element {
    /// The kind of the library.
    pub(super) fn kind(self) -> ElementKind {
        match self {
            Self::Line2 => ElementKind::Line2,
            Self::Line3 => ElementKind::Line3,
            Self::Tri3 => ElementKind::Tri3,
            Self::Tri6 => ElementKind::Tri6,
            Self::Quad4 => ElementKind::Quad4,
            Self::Quad8 => ElementKind::Quad8,
            Self::Quad9 => ElementKind::Quad9,
            Self::Tet4 => ElementKind::Tet4,
            Self::Tet10 => ElementKind::Tet10,
            Self::Hex8 => ElementKind::Hex8,
            Self::Hex20 => ElementKind::Hex20,
            Self::Hex27 => ElementKind::Hex27,
        }
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

words! {
    /// Distribution of mass.
    Mass {
        /// Consistent.
        Consistent = word("consistent", "consistent with the shape functions"),
        /// Lumped.
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
