//! Built-in meshes: bars, boxes, discs, rings.

use super::{ElementKind, Mesh};

impl Mesh {
    /// Straight bar along x from 0 to `length` with `elements` equal elements.
    ///
    /// Groups: `left` and `right` (end points). `dimension` is that of the space.
    pub fn bar(dimension: usize, length: f64, elements: usize, kind: ElementKind) -> Mesh {
        let order = kind.order();
        let mut mesh = Mesh::new(dimension);
        let count = elements * order + 1;
        for i in 0..count {
            let x = length * i as f64 / (count - 1) as f64;
            mesh.add_node([x, 0.0, 0.0]);
        }
        for e in 0..elements {
            let a = (e * order) as u32;
            let nodes: &[u32] = match order {
                1 => &[a, a + 1],
                _ => &[a, a + 2, a + 1],
            };
            mesh.add_element(kind, nodes);
        }
        for (name, node) in [("left", 0), ("right", count as u32 - 1)] {
            let e = mesh.add_element(ElementKind::Point, &[node]);
            mesh.add_to_group(name, e);
        }
        mesh.finish()
    }
}

impl Mesh {
    /// Rectangle `[0, size.0] × [0, size.1]` of `cells.0 × cells.1` cells.
    ///
    /// Triangles split each cell along its rising diagonal. Groups: `left`, `right`, `bottom`, `top`.
    pub fn rectangle(size: (f64, f64), cells: (usize, usize), kind: ElementKind) -> Mesh {
        let mut mesh = Mesh::new(2);
        let (nx, ny) = (2 * cells.0 + 1, 2 * cells.1 + 1);
        let mut grid = Grid::new(&mut mesh, kind, nx * ny, |k| {
            let (i, j) = (k % nx, k / nx);
            [
                size.0 * i as f64 / (nx - 1) as f64,
                size.1 * j as f64 / (ny - 1) as f64,
                0.0,
            ]
        });
        let at = |i: usize, j: usize| j * nx + i;
        for j in 0..cells.1 {
            for i in 0..cells.0 {
                let p = |a: usize, b: usize| at(2 * i + a, 2 * j + b);
                grid.cell(&CELL.map(|[a, b]| p(a, b)));
            }
        }
        for i in 0..cells.0 {
            let (a, m, b) = (2 * i, 2 * i + 1, 2 * i + 2);
            grid.edge("bottom", [at(a, 0), at(b, 0), at(m, 0)]);
            grid.edge("top", [at(b, ny - 1), at(a, ny - 1), at(m, ny - 1)]);
        }
        for j in 0..cells.1 {
            let (a, m, b) = (2 * j, 2 * j + 1, 2 * j + 2);
            grid.edge("right", [at(nx - 1, a), at(nx - 1, b), at(nx - 1, m)]);
            grid.edge("left", [at(0, b), at(0, a), at(0, m)]);
        }
        mesh.finish()
    }
}

impl Mesh {
    /// Ring (or, with inner radius zero, refused) between two radii, centred at the origin.
    ///
    /// Quadrilaterals only, straight edges. Groups: `inner` and `outer`.
    pub fn ring(radii: (f64, f64), cells: (usize, usize), kind: ElementKind) -> Mesh {
        let mut mesh = Mesh::new(2);
        let (nr, na) = (2 * cells.0 + 1, 2 * cells.1);
        let mut grid = Grid::new(&mut mesh, kind, nr * na, |k| {
            let (i, j) = (k % nr, k / nr);
            let r = radii.0 + (radii.1 - radii.0) * i as f64 / (nr - 1) as f64;
            let a = std::f64::consts::TAU * j as f64 / na as f64;
            [r * a.cos(), r * a.sin(), 0.0]
        });
        let at = |i: usize, j: usize| (j % na) * nr + i;
        for j in 0..cells.1 {
            for i in 0..cells.0 {
                let p = |a: usize, b: usize| at(2 * i + a, 2 * j + b);
                grid.cell(&CELL.map(|[a, b]| p(a, b)));
            }
            let (a, m, b) = (2 * j, 2 * j + 1, 2 * j + 2);
            grid.edge("outer", [at(nr - 1, a), at(nr - 1, b), at(nr - 1, m)]);
            grid.edge("inner", [at(0, b), at(0, a), at(0, m)]);
        }
        mesh.finish()
    }
}

impl Mesh {
    /// Disc of a radius centred at the origin: a square core of `2 cells × 2 cells` elements, blown
    /// up to the circle ring by ring. Group: `boundary`.
    ///
    /// The square grid is mapped so that the square of half side s becomes a curve between square
    /// (in the middle) and circle (at the rim); the outermost one is the circle.
    pub fn disc(radius: f64, cells: usize, kind: ElementKind) -> Mesh {
        let side = 2.0;
        let mesh = Self::rectangle((side, side), (2 * cells, 2 * cells), kind);
        let mesh = mesh.mapped(|x| {
            let (u, v) = (x[0] - 1.0, x[1] - 1.0);
            let s = u.abs().max(v.abs());
            if s == 0.0 {
                return [0.0; 3];
            }
            // On the circle of radius s at the angle that the position along the side prescribes.
            let angle = if u.abs() >= v.abs() {
                std::f64::consts::FRAC_PI_4 * v / u
            } else {
                std::f64::consts::FRAC_PI_2 - std::f64::consts::FRAC_PI_4 * u / v
            };
            let sign = if u.abs() >= v.abs() {
                u.signum()
            } else {
                v.signum()
            };
            let (c, n) = (sign * s * angle.cos(), sign * s * angle.sin());
            // Pure circle at the rim, pure square at the centre.
            let w = s;
            [
                radius * (w * c + (1.0 - w) * u * 0.8),
                radius * (w * n + (1.0 - w) * v * 0.8),
                0.0,
            ]
        });
        let mut joined = mesh;
        let sides: Vec<u32> = ["bottom", "right", "top", "left"]
            .iter()
            .flat_map(|name| {
                joined
                    .group(name)
                    .map_or(Vec::new(), |group| group.elements.clone())
            })
            .collect();
        for e in sides {
            joined.add_to_group("boundary", e);
        }
        joined.finish()
    }
}

impl Mesh {
    /// Box `[0, a] × [0, b] × [0, c]` of `cells` cells; tetrahedra split each cell into six.
    ///
    /// Groups: `left`, `right` (x), `front`, `back` (y), `bottom`, `top` (z).
    pub fn cuboid(size: [f64; 3], cells: [usize; 3], kind: ElementKind) -> Mesh {
        let mut mesh = Mesh::new(3);
        let n = cells.map(|c| 2 * c + 1);
        let mut grid = Grid::new(&mut mesh, kind, n[0] * n[1] * n[2], |k| {
            let index = [k % n[0], (k / n[0]) % n[1], k / (n[0] * n[1])];
            [0, 1, 2].map(|a| size[a] * index[a] as f64 / (n[a] - 1) as f64)
        });
        let at = |i: usize, j: usize, k: usize| (k * n[1] + j) * n[0] + i;
        for k in 0..cells[2] {
            for j in 0..cells[1] {
                for i in 0..cells[0] {
                    let p = |x: [usize; 3]| at(2 * i + x[0], 2 * j + x[1], 2 * k + x[2]);
                    let points: Vec<usize> = ElementKind::Hex27
                        .reference_nodes()
                        .iter()
                        .map(|x| p(x.map(|x| (x + 1.0) as usize)))
                        .collect();
                    grid.cell(&points);
                }
            }
        }
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let names = [["left", "right"], ["front", "back"], ["bottom", "top"]][axis];
            for (end, name) in names.into_iter().enumerate() {
                for b in 0..cells[v] {
                    for a in 0..cells[u] {
                        let p = |s: usize, t: usize| {
                            let mut index = [0; 3];
                            index[axis] = end * (n[axis] - 1);
                            index[u] = 2 * a + s;
                            index[v] = 2 * b + t;
                            at(index[0], index[1], index[2])
                        };
                        // Counter-clockwise seen from outside.
                        let mut corner = [[0, 0], [2, 0], [2, 2], [0, 2]];
                        if end == 0 {
                            corner.swap(1, 3);
                        }
                        let middle = |k: usize| {
                            let (x, y) = (corner[k], corner[(k + 1) % 4]);
                            [(x[0] + y[0]) / 2, (x[1] + y[1]) / 2]
                        };
                        let mut points: Vec<usize> = corner.iter().map(|x| p(x[0], x[1])).collect();
                        for k in 0..4 {
                            let x = middle(k);
                            points.push(p(x[0], x[1]));
                        }
                        points.push(p(1, 1));
                        // The same diagonal as the tetrahedra: through the corner nearest the origin.
                        grid.face(name, &points);
                    }
                }
            }
        }
        mesh.finish()
    }
}

/// Nodes on the grid of half cells, made when an element first needs them.
struct Grid<'a, P> {
    mesh: &'a mut Mesh,
    kind: ElementKind,
    number: Vec<u32>,
    place: P,
}

/// The points of a plane cell on the grid of half cells: corners, middles of the sides, centre.
const CELL: [[usize; 2]; 9] = [
    [0, 0],
    [2, 0],
    [2, 2],
    [0, 2],
    [1, 0],
    [2, 1],
    [1, 2],
    [0, 1],
    [1, 1],
];

/// Six tetrahedra around the diagonal from corner 0 to corner 6 of a hexahedron.
const TETS: [[usize; 4]; 6] = [
    [0, 1, 2, 6],
    [0, 2, 3, 6],
    [0, 3, 7, 6],
    [0, 7, 4, 6],
    [0, 4, 5, 6],
    [0, 5, 1, 6],
];

impl<'a, P: Fn(usize) -> [f64; 3]> Grid<'a, P> {
    fn new(mesh: &'a mut Mesh, kind: ElementKind, size: usize, place: P) -> Self {
        Self {
            mesh,
            kind,
            number: vec![u32::MAX; size],
            place,
        }
    }

    fn node(&mut self, k: usize) -> u32 {
        if self.number[k] == u32::MAX {
            self.number[k] = self.mesh.add_node((self.place)(k));
        }
        self.number[k]
    }

    fn element(&mut self, kind: ElementKind, points: &[usize]) -> u32 {
        let nodes: Vec<u32> = points.iter().map(|&p| self.node(p)).collect();
        self.mesh.add_element(kind, &nodes)
    }

    /// Cell given by its nine or twenty-seven grid points.
    fn cell(&mut self, p: &[usize]) {
        match self.kind {
            ElementKind::Tri3 => {
                self.element(self.kind, &[p[0], p[1], p[2]]);
                self.element(self.kind, &[p[0], p[2], p[3]]);
            }
            ElementKind::Tri6 => {
                self.element(self.kind, &[p[0], p[1], p[2], p[4], p[5], p[8]]);
                self.element(self.kind, &[p[0], p[2], p[3], p[8], p[6], p[7]]);
            }
            ElementKind::Tet4 => {
                for t in TETS {
                    self.element(self.kind, &t.map(|k| p[k]));
                }
            }
            ElementKind::Tet10 => {
                let nodes = ElementKind::Hex27.reference_nodes();
                let between = |a: usize, b: usize| {
                    let m = [0, 1, 2].map(|i| 0.5 * (nodes[a][i] + nodes[b][i]));
                    // The middle of two corners of the cell is a point of its 27 by construction.
                    let k = nodes.iter().position(|x| *x == m).expect("a grid point");
                    p[k]
                };
                for t in TETS {
                    let mut list = t.map(|k| p[k]).to_vec();
                    for [a, b] in [[0, 1], [1, 2], [2, 0], [0, 3], [2, 3], [1, 3]] {
                        list.push(between(t[a], t[b]));
                    }
                    self.element(self.kind, &list);
                }
            }
            kind => {
                self.element(kind, &p[..kind.node_count()]);
            }
        }
    }

    /// Edge with its two ends and its middle.
    fn edge(&mut self, group: &str, p: [usize; 3]) {
        let e = match self.kind.order() {
            1 => self.element(ElementKind::Line2, &p[..2]),
            _ => self.element(ElementKind::Line3, &p),
        };
        self.mesh.add_to_group(group, e);
    }

    /// Face with its nine grid points, corner 0 or 2 nearest the origin.
    fn face(&mut self, group: &str, p: &[usize]) {
        let faces: Vec<u32> = match self.kind {
            ElementKind::Tet4 => vec![
                self.element(ElementKind::Tri3, &[p[0], p[1], p[2]]),
                self.element(ElementKind::Tri3, &[p[0], p[2], p[3]]),
            ],
            ElementKind::Tet10 => vec![
                self.element(ElementKind::Tri6, &[p[0], p[1], p[2], p[4], p[5], p[8]]),
                self.element(ElementKind::Tri6, &[p[0], p[2], p[3], p[8], p[6], p[7]]),
            ],
            ElementKind::Hex8 => vec![self.element(ElementKind::Quad4, &p[..4])],
            ElementKind::Hex20 => vec![self.element(ElementKind::Quad8, &p[..8])],
            _ => vec![self.element(ElementKind::Quad9, p)],
        };
        for e in faces {
            self.mesh.add_to_group(group, e);
        }
    }
}
