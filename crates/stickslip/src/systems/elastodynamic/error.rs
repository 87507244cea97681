//! Why an elastodynamic system was refused.

use thiserror::Error;

use crate::quantity::{digits, typed};

/// What is wrong with a mesh or its file, a material, a load or a support.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ElastodynamicError {
    /// A group that is named nowhere in the mesh.
    #[error("group `{name}` is not in the mesh; there are: {known}")]
    MissingGroup {
        /// The name asked for.
        name: String,
        /// Names of the mesh.
        known: String,
    },
    /// A group whose elements have the wrong dimension for their use.
    #[error("group `{name}` holds a {kind} element, expected elements of dimension {expected}")]
    WrongDimension {
        /// The group.
        name: String,
        /// Kind found.
        kind: String,
        /// Dimension expected.
        expected: usize,
    },
    /// An element with negative or zero volume.
    #[error(
        "element {element} of region `{region}` ({kind}, nodes {nodes:?}) is inverted or has no volume: \
         Jacobian determinant {}",
        digits(*determinant, 4)
    )]
    Inverted {
        /// Number of the element in the mesh, from 0.
        element: u64,
        /// Region.
        region: String,
        /// Kind.
        kind: String,
        /// Nodes, from 0.
        nodes: Vec<u64>,
        /// The determinant found.
        determinant: f64,
    },
    /// A quantity that must be positive.
    #[error("region `{region}`: {what} is {value}, expected a positive finite number")]
    NotPositive {
        /// Region.
        region: String,
        /// Which quantity.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// Poisson's ratio outside its range.
    #[error(
        "region `{region}`: Poisson's ratio {poisson} is not in (-1, 0.5); an incompressible material \
         needs plane stress or a mixed formulation, which this library does not have"
    )]
    Poisson {
        /// Region.
        region: String,
        /// The value found.
        poisson: f64,
    },
    /// An element that belongs to two regions.
    #[error("element {element} belongs to the regions `{first}` and `{second}`")]
    TwoRegions {
        /// Number of the element.
        element: u64,
        /// First region.
        first: String,
        /// Second region.
        second: String,
    },
    /// No region was given.
    #[error("no region: give at least one group of the mesh a material")]
    NoRegion,
    /// Every degree of freedom is supported.
    #[error("no degree of freedom is left: the supports hold every node")]
    NothingFree,
    /// A part without mass that can move without resistance.
    #[error(
        "part `{body}` (it holds node {node}) has no mass and no support against {motion}: its stiffness is singular"
    )]
    SingularWithoutMass {
        /// First node of the part.
        node: u64,
        /// The part.
        body: String,
        /// What is free.
        motion: &'static str,
    },
    /// A component that the nodes of a group do not have.
    #[error("group `{group}`: component {component} does not exist, nodes have {count}")]
    Component {
        /// Group.
        group: String,
        /// Component asked for, from 0.
        component: usize,
        /// Number of components.
        count: usize,
    },
    /// A group whose nodes belong to no region.
    #[error("group `{group}`: node {node} belongs to no region")]
    UnusedNode {
        /// Group.
        group: String,
        /// Node.
        node: u64,
    },
    /// A value that is not finite.
    #[error("{what} is {value}, expected a finite number")]
    NonFinite {
        /// Which value.
        what: String,
        /// The value.
        value: f64,
    },
    /// A matrix given by the user does not fit.
    #[error("matrix {what}: {problem}")]
    Matrix {
        /// Which matrix.
        what: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// A contact law that does not fit the dimension.
    #[error("contact of `{surface}`: friction has {found} tangents, the surface has {expected}")]
    Tangents {
        /// Surface.
        surface: String,
        /// Tangents of the law.
        found: usize,
        /// Tangents of the surface.
        expected: usize,
    },
    /// An obstacle with an impossible shape.
    #[error("contact of `{surface}`: {problem}")]
    Obstacle {
        /// Surface.
        surface: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// Modal damping of a large system.
    #[error(
        "modal damping fills the damping matrix: at most {limit} degrees of freedom, found {found}"
    )]
    ModalDamping {
        /// Degrees of freedom found.
        found: usize,
        /// Largest number.
        limit: usize,
    },
    /// A step that no unit system can mean.
    #[error(
        "step {} is longer than the time {} a wave needs through the whole body, so that no \
         elastic motion is resolved: check the units or take a step near {}",
        typed(*h, 4),
        typed(*transit, 4),
        typed(*suggested, 4)
    )]
    HopelessStep {
        /// The step.
        h: f64,
        /// Transit time.
        transit: f64,
        /// Step suggested.
        suggested: f64,
    },
    /// The file does not begin like a Gmsh mesh, or has another version.
    #[error("not a Gmsh mesh of format 2.2 or 4.1: found `{found}`")]
    Format {
        /// What was found.
        found: String,
    },
    /// A section ends too early or holds something else.
    #[error("section ${section}, byte {offset}: expected {expected}")]
    Section {
        /// Section.
        section: String,
        /// Place in the file.
        offset: usize,
        /// What belongs there.
        expected: &'static str,
    },
    /// An element of a type that this library does not have.
    #[error(
        "element type {number} of Gmsh is not supported (pyramids, prisms, third order and above)"
    )]
    ElementType {
        /// The number.
        number: u32,
    },
    /// An element names a node that is not there.
    #[error("element {element} names node {node}, which the file does not define")]
    Node {
        /// Tag of the element.
        element: u64,
        /// Tag of the node.
        node: u64,
    },
    /// A binary file of the other byte order.
    #[error("binary file with the other byte order")]
    ByteOrder,
    /// No nodes or no elements.
    #[error("the file holds no {what}")]
    Empty {
        /// Nodes or elements.
        what: &'static str,
    },
}
