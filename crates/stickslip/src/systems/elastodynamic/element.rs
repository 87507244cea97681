//! Element shapes: nodes, shape functions, facets.

/// Shape of an element; nodes are numbered as in Gmsh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ElementKind {
    /// A point.
    Point,
    /// Line with two nodes.
    Line2,
    /// Line with three nodes.
    Line3,
    /// Triangle with three nodes.
    Tri3,
    /// Triangle with six nodes.
    Tri6,
    /// Quadrilateral with four nodes.
    Quad4,
    /// Quadrilateral with eight nodes (serendipity).
    Quad8,
    /// Quadrilateral with nine nodes.
    Quad9,
    /// Tetrahedron with four nodes.
    Tet4,
    /// Tetrahedron with ten nodes.
    Tet10,
    /// Hexahedron with eight nodes.
    Hex8,
    /// Hexahedron with twenty nodes (serendipity).
    Hex20,
    /// Hexahedron with twenty-seven nodes.
    Hex27,
}

/// Largest number of nodes of an element.
pub const NODES_MAX: usize = 27;

const LINE: [[f64; 3]; 3] = [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3]];

const QUAD: [[f64; 3]; 9] = [
    [-1.0, -1.0, 0.0],
    [1.0, -1.0, 0.0],
    [1.0, 1.0, 0.0],
    [-1.0, 1.0, 0.0],
    [0.0, -1.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [-1.0, 0.0, 0.0],
    [0.0, 0.0, 0.0],
];

const HEX: [[f64; 3]; 27] = [
    [-1.0, -1.0, -1.0],
    [1.0, -1.0, -1.0],
    [1.0, 1.0, -1.0],
    [-1.0, 1.0, -1.0],
    [-1.0, -1.0, 1.0],
    [1.0, -1.0, 1.0],
    [1.0, 1.0, 1.0],
    [-1.0, 1.0, 1.0],
    [0.0, -1.0, -1.0],
    [-1.0, 0.0, -1.0],
    [-1.0, -1.0, 0.0],
    [1.0, 0.0, -1.0],
    [1.0, -1.0, 0.0],
    [0.0, 1.0, -1.0],
    [1.0, 1.0, 0.0],
    [-1.0, 1.0, 0.0],
    [0.0, -1.0, 1.0],
    [-1.0, 0.0, 1.0],
    [1.0, 0.0, 1.0],
    [0.0, 1.0, 1.0],
    [0.0, 0.0, -1.0],
    [0.0, -1.0, 0.0],
    [-1.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [0.0, 0.0, 0.0],
];

const TRI_EDGES: [[usize; 2]; 3] = [[0, 1], [1, 2], [2, 0]];
const TET_EDGES: [[usize; 2]; 6] = [[0, 1], [1, 2], [2, 0], [0, 3], [2, 3], [1, 3]];

/// Kind, nodes, dimension, order, and the numbers of the type in Gmsh and VTK files, in the order of the kinds.
const KINDS: [(ElementKind, usize, usize, usize, u32, u8); 13] = [
    (ElementKind::Point, 1, 0, 0, 15, 1),
    (ElementKind::Line2, 2, 1, 1, 1, 3),
    (ElementKind::Line3, 3, 1, 2, 8, 21),
    (ElementKind::Tri3, 3, 2, 1, 2, 5),
    (ElementKind::Tri6, 6, 2, 2, 9, 22),
    (ElementKind::Quad4, 4, 2, 1, 3, 9),
    (ElementKind::Quad8, 8, 2, 2, 16, 23),
    (ElementKind::Quad9, 9, 2, 2, 10, 28),
    (ElementKind::Tet4, 4, 3, 1, 4, 10),
    (ElementKind::Tet10, 10, 3, 2, 11, 24),
    (ElementKind::Hex8, 8, 3, 1, 5, 12),
    (ElementKind::Hex20, 20, 3, 2, 17, 25),
    (ElementKind::Hex27, 27, 3, 2, 12, 29),
];

impl ElementKind {
    /// Number of nodes.
    pub const fn node_count(self) -> usize {
        KINDS[self as usize].1
    }

    /// Dimension of the shape.
    pub const fn dimension(self) -> usize {
        KINDS[self as usize].2
    }

    /// Order of the shape functions.
    pub const fn order(self) -> usize {
        KINDS[self as usize].3
    }

    /// The kind with a number of Gmsh files.
    pub(crate) fn from_gmsh_type(number: u32) -> Option<Self> {
        let found = KINDS.iter().find(|kind| kind.4 == number);
        found.map(|kind| kind.0)
    }

    /// Number of the cell type in VTK files.
    pub(crate) const fn vtk_type(self) -> u8 {
        KINDS[self as usize].5
    }

    /// Order in which VTK lists the nodes.
    pub(crate) fn vtk_order(self) -> Vec<usize> {
        match self {
            Self::Tet10 => vec![0, 1, 2, 3, 4, 5, 6, 7, 9, 8],
            Self::Hex20 => vec![
                0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15,
            ],
            Self::Hex27 => vec![
                0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15, 22, 23, 21,
                24, 20, 25, 26,
            ],
            _ => (0..self.node_count()).collect(),
        }
    }

    /// Reference coordinates of the nodes.
    pub(crate) fn reference_nodes(self) -> Vec<[f64; 3]> {
        let simplex = |corners: &[[f64; 3]], edges: &[[usize; 2]]| {
            let mut nodes = corners.to_vec();
            for &[a, b] in edges {
                nodes.push([0, 1, 2].map(|k| 0.5 * (corners[a][k] + corners[b][k])));
            }
            nodes
        };
        let corners = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
        ];
        match self {
            Self::Point => vec![[0.0; 3]],
            Self::Line2 | Self::Line3 => LINE[..self.node_count()].to_vec(),
            Self::Tri3 => simplex(&corners[..3], &[]),
            Self::Tri6 => simplex(&corners[..3], &TRI_EDGES),
            Self::Tet4 => simplex(&corners, &[]),
            Self::Tet10 => simplex(&corners, &TET_EDGES),
            Self::Quad4 | Self::Quad8 | Self::Quad9 => QUAD[..self.node_count()].to_vec(),
            Self::Hex8 | Self::Hex20 | Self::Hex27 => HEX[..self.node_count()].to_vec(),
        }
    }

    /// Flat pieces (segments, triangles) that cover a line or surface element, corners and
    /// middle nodes included: the pieces on which contact searches.
    pub(crate) fn flat_pieces(self) -> &'static [&'static [usize]] {
        match self {
            Self::Line2 => &[&[0, 1]],
            Self::Line3 => &[&[0, 2], &[2, 1]],
            Self::Tri3 => &[&[0, 1, 2]],
            Self::Tri6 => &[&[0, 3, 5], &[3, 1, 4], &[5, 4, 2], &[3, 4, 5]],
            Self::Quad4 => &[&[0, 1, 2], &[0, 2, 3]],
            Self::Quad8 => &[
                &[0, 4, 7],
                &[4, 1, 5],
                &[5, 2, 6],
                &[7, 6, 3],
                &[4, 5, 6],
                &[4, 6, 7],
            ],
            Self::Quad9 => &[
                &[0, 4, 8],
                &[0, 8, 7],
                &[4, 1, 5],
                &[4, 5, 8],
                &[8, 5, 2],
                &[8, 2, 6],
                &[7, 8, 6],
                &[7, 6, 3],
            ],
            _ => &[],
        }
    }

    /// Values and reference derivatives of the shape functions at a reference point.
    pub fn shape(self, x: [f64; 3], value: &mut [f64], slope: &mut [[f64; 3]]) {
        match self {
            Self::Point => {
                value[0] = 1.0;
                slope[0] = [0.0; 3];
            }
            Self::Line2 => tensor_shape(linear, (&LINE[..2], 1), x, value, slope),
            Self::Line3 => tensor_shape(quadratic, (&LINE, 1), x, value, slope),
            Self::Tri3 | Self::Tri6 => simplex_shape(
                [1.0 - x[0] - x[1], x[0], x[1], 0.0],
                3,
                if self.order() == 2 { &TRI_EDGES } else { &[] },
                value,
                slope,
            ),
            Self::Tet4 | Self::Tet10 => simplex_shape(
                [1.0 - x[0] - x[1] - x[2], x[0], x[1], x[2]],
                4,
                if self.order() == 2 { &TET_EDGES } else { &[] },
                value,
                slope,
            ),
            Self::Quad4 => tensor_shape(linear, (&QUAD[..4], 2), x, value, slope),
            Self::Hex8 => tensor_shape(linear, (&HEX[..8], 3), x, value, slope),
            Self::Quad8 => serendipity_shape(&QUAD[..8], 2, x, value, slope),
            Self::Hex20 => serendipity_shape(&HEX[..20], 3, x, value, slope),
            Self::Quad9 => tensor_shape(quadratic, (&QUAD, 2), x, value, slope),
            Self::Hex27 => tensor_shape(quadratic, (&HEX, 3), x, value, slope),
        }
    }
}

/// One-dimensional linear function of the node at `s` ∈ {−1, 1}.
fn linear(s: f64, x: f64) -> (f64, f64) {
    (0.5 * (1.0 + s * x), 0.5 * s)
}

/// One-dimensional quadratic Lagrange function of the node at `s` ∈ {−1, 0, 1}.
fn quadratic(s: f64, x: f64) -> (f64, f64) {
    if s == 0.0 {
        (1.0 - x * x, -2.0 * x)
    } else {
        (0.5 * x * (x + s), x + 0.5 * s)
    }
}

fn simplex_shape(
    l: [f64; 4],
    corners: usize,
    edges: &[[usize; 2]],
    value: &mut [f64],
    slope: &mut [[f64; 3]],
) {
    // Derivatives of the barycentric coordinates.
    let d = |a: usize| -> [f64; 3] {
        match a {
            0 => [-1.0, -1.0, if corners == 4 { -1.0 } else { 0.0 }],
            1 => [1.0, 0.0, 0.0],
            2 => [0.0, 1.0, 0.0],
            _ => [0.0, 0.0, 1.0],
        }
    };
    for a in 0..corners {
        if edges.is_empty() {
            value[a] = l[a];
            slope[a] = d(a);
        } else {
            value[a] = l[a] * (2.0 * l[a] - 1.0);
            slope[a] = d(a).map(|x| x * (4.0 * l[a] - 1.0));
        }
    }
    for (k, &[a, b]) in edges.iter().enumerate() {
        value[corners + k] = 4.0 * l[a] * l[b];
        let (da, db) = (d(a), d(b));
        slope[corners + k] = [0, 1, 2].map(|i| 4.0 * (l[a] * db[i] + l[b] * da[i]));
    }
}

/// Product of the factors and the derivatives of the product.
fn product(f: [(f64, f64); 3], dimension: usize) -> (f64, [f64; 3]) {
    let mut value = 1.0;
    for factor in &f[..dimension] {
        value *= factor.0;
    }
    let mut slope = [0.0; 3];
    for (i, slope) in slope.iter_mut().enumerate().take(dimension) {
        *slope = f[i].1;
        for (j, factor) in f.iter().enumerate().take(dimension) {
            if j != i {
                *slope *= factor.0;
            }
        }
    }
    (value, slope)
}

/// Products of one function of each coordinate: of the node, and of the point.
fn tensor_shape(
    factor: impl Fn(f64, f64) -> (f64, f64),
    (nodes, dimension): (&[[f64; 3]], usize),
    x: [f64; 3],
    value: &mut [f64],
    slope: &mut [[f64; 3]],
) {
    for (a, node) in nodes.iter().enumerate() {
        let f = [0, 1, 2].map(|i| factor(node[i], x[i]));
        (value[a], slope[a]) = product(f, dimension);
    }
}

fn serendipity_shape(
    nodes: &[[f64; 3]],
    dimension: usize,
    x: [f64; 3],
    value: &mut [f64],
    slope: &mut [[f64; 3]],
) {
    for (a, node) in nodes.iter().enumerate() {
        let middle = (0..dimension).find(|&i| node[i] == 0.0);
        if let Some(m) = middle {
            let f = [0, 1, 2].map(|i| {
                if i == m {
                    (1.0 - x[i] * x[i], -2.0 * x[i])
                } else {
                    linear(node[i], x[i])
                }
            });
            (value[a], slope[a]) = product(f, dimension);
        } else {
            let f = [0, 1, 2].map(|i| linear(node[i], x[i]));
            let (n, d) = product(f, dimension);
            let sum: f64 = (0..dimension).map(|i| node[i] * x[i]).sum();
            let g = sum - (dimension as f64 - 1.0);
            value[a] = n * g;
            slope[a] = [0, 1, 2].map(|i| {
                if i < dimension {
                    d[i] * g + n * node[i]
                } else {
                    0.0
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) const ALL: [ElementKind; 12] = [
        ElementKind::Line2,
        ElementKind::Line3,
        ElementKind::Tri3,
        ElementKind::Tri6,
        ElementKind::Quad4,
        ElementKind::Quad8,
        ElementKind::Quad9,
        ElementKind::Tet4,
        ElementKind::Tet10,
        ElementKind::Hex8,
        ElementKind::Hex20,
        ElementKind::Hex27,
    ];

    #[test]
    fn shape_functions_interpolate_and_sum_to_one() {
        for kind in ALL {
            let n = kind.node_count();
            let (mut value, mut slope) = ([0.0; NODES_MAX], [[0.0; 3]; NODES_MAX]);
            for (a, node) in kind.reference_nodes().into_iter().enumerate() {
                kind.shape(node, &mut value, &mut slope);
                for (b, value) in value.iter().enumerate().take(n) {
                    let expected = if a == b { 1.0 } else { 0.0 };
                    assert!((value - expected).abs() < 1e-14, "{kind:?} {a} {b}");
                }
            }
            // Slopes against differences, and their sum against zero.
            let x = [0.21, 0.17, 0.33];
            kind.shape(x, &mut value, &mut slope);
            let (mut up, mut down) = (value, value);
            let mut unused = slope;
            for i in 0..kind.dimension() {
                let (mut a, mut b) = (x, x);
                a[i] += 1e-5;
                b[i] -= 1e-5;
                kind.shape(a, &mut up, &mut unused);
                kind.shape(b, &mut down, &mut unused);
                for k in 0..n {
                    let difference = (up[k] - down[k]) / 2e-5;
                    assert!((difference - slope[k][i]).abs() < 1e-9, "{kind:?}");
                }
                let sum: f64 = slope[..n].iter().map(|s| s[i]).sum();
                assert!(sum.abs() < 1e-14, "{kind:?}");
            }
        }
    }

    #[test]
    fn vtk_order_is_a_permutation() {
        for kind in ALL {
            let mut order = kind.vtk_order();
            order.sort_unstable();
            assert_eq!(order, (0..kind.node_count()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn kinds_stand_in_the_order_of_their_table_and_types_of_files_differ() {
        for (k, kind) in KINDS.iter().enumerate() {
            assert_eq!(kind.0 as usize, k);
            assert_eq!(ElementKind::from_gmsh_type(kind.4), Some(kind.0));
            assert_eq!(KINDS.iter().filter(|other| other.5 == kind.5).count(), 1);
        }
    }
}
