//! Patch tests, orders of convergence and natural frequencies of every element.

use std::f64::consts::PI;

use super::modes::natural_modes;
use super::*;
use crate::systems::MechanicalSystem;

const PLANE: [ElementKind; 5] = [
    ElementKind::Tri3,
    ElementKind::Tri6,
    ElementKind::Quad4,
    ElementKind::Quad8,
    ElementKind::Quad9,
];
const SPACE: [ElementKind; 5] = [
    ElementKind::Tet4,
    ElementKind::Tet10,
    ElementKind::Hex8,
    ElementKind::Hex20,
    ElementKind::Hex27,
];

fn plane_mesh(kind: ElementKind, cells: usize) -> Mesh {
    Mesh::rectangle((1.0, 1.0), (cells, cells), kind)
}

fn space_mesh(kind: ElementKind, cells: usize) -> Mesh {
    Mesh::cuboid([1.0; 3], [cells; 3], kind)
}

/// A distortion that keeps straight edges straight enough: vertices move, middle nodes stay in
/// the middle, so that a linear field stays in the space of every element.
fn distorted(mesh: Mesh) -> Mesh {
    mesh.mapped(|x| {
        let [a, b, c] = x;
        // Bilinear-free affine shear and stretch: elements become parallelograms.
        [
            a + 0.2 * b + 0.1 * c,
            0.9 * b - 0.1 * a + 0.15 * c,
            1.1 * c + 0.05 * a,
        ]
    })
}

/// Energy of a displacement field.
fn energy(system: &ElastodynamicSystem, q: &[f64]) -> f64 {
    0.5 * system.stiffness_matrix().unwrap().bilinear(q, q)
}

#[test]
fn constant_strain_gives_the_exact_energy_and_no_inner_forces() {
    let material = Material::new(200.0, 0.3, 2.0);
    let (e, nu) = (material.young, material.poisson);
    let (lambda, mu) = (
        e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)),
        e / (2.0 * (1.0 + nu)),
    );
    // u = G x with a nonsymmetric gradient: rotation must cost nothing.
    let g = [[1e-3, 4e-4, -2e-4], [1e-4, -5e-4, 3e-4], [2e-4, 1e-4, 7e-4]];
    let linear = |x: [f64; 3], d: usize| {
        let mut u = [0.0; 3];
        for i in 0..d {
            u[i] = (0..d).map(|j| g[i][j] * x[j]).sum();
        }
        u
    };
    let density = |d: usize| {
        let trace: f64 = (0..d).map(|i| g[i][i]).sum();
        let mut shear = 0.0;
        for i in 0..d {
            for j in 0..d {
                let strain = 0.5 * (g[i][j] + g[j][i]);
                shear += strain * strain;
            }
        }
        0.5 * lambda * trace * trace + mu * shear
    };
    for kind in PLANE.into_iter().chain(SPACE) {
        let d = kind.dimension();
        let (mesh, formulation) = if d == 2 {
            let formulation = Formulation::PlaneStrain { thickness: 0.7 };
            (distorted(plane_mesh(kind, 3)), formulation)
        } else {
            (distorted(space_mesh(kind, 2)), Formulation::Solid)
        };
        let system = ElastodynamicSystem::builder(mesh)
            .region(Mesh::ALL, material, formulation)
            .build()
            .unwrap();
        let q = system.field(|x| linear(x, d));
        let volume = if d == 2 {
            0.7 * (0.9 + 0.02)
        } else {
            // determinant of the distortion
            let m = [[1.0, 0.2, 0.1], [-0.1, 0.9, 0.15], [0.05, 0.0, 1.1]];
            m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
                - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
                + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
        };
        let exact = density(d) * volume;
        assert!(
            (energy(&system, &q) / exact - 1.0).abs() < 1e-12,
            "{kind:?}"
        );
        // Forces of a constant stress vanish at inner nodes.
        let mut force = vec![0.0; q.len()];
        system.stiffness_matrix().unwrap().multiply(&q, &mut force);
        let boundary: Vec<u32> = system
            .mesh()
            .unwrap()
            .groups()
            .keys()
            .filter(|name| *name != Mesh::ALL)
            .flat_map(|name| system.mesh().unwrap().group_nodes(name).unwrap())
            .collect();
        let largest = force.iter().fold(0.0f64, |m, f| m.max(f.abs()));
        let mut inner = 0;
        for n in 0..system.nodes().len() as u32 {
            if !boundary.contains(&n) {
                inner += 1;
                for k in 0..d {
                    let dof = system.nodes().free_dof(n, k).unwrap();
                    assert!(force[dof].abs() < 1e-12 * largest, "{kind:?} node {n}");
                }
            }
        }
        assert!(inner > 0, "{kind:?} has inner nodes");
        // Mass: total and rigid translation.
        let unit = system.uniform([1.0, 0.0, 0.0]);
        let total = system.mass_matrix().bilinear(&unit, &unit);
        assert!((total / (2.0 * volume) - 1.0).abs() < 1e-13, "{kind:?}");
    }
}

#[test]
fn rotational_symmetry_reproduces_a_thick_cylinder_under_uniform_stretch() {
    // u_r = a r, u_z = b z: strains a, a (hoop), b; energy density constant.
    let material = Material::new(10.0, 0.25, 1.0);
    let (lambda, mu) = (4.0, 4.0);
    let (a, b) = (1e-3, -4e-4);
    let density = 0.5 * lambda * f64::powi(2.0 * a + b, 2) + mu * (2.0 * a * a + b * b);
    for kind in PLANE {
        let mesh = plane_mesh(kind, 4).mapped(|x| [1.0 + x[0], 2.0 * x[1], 0.0]);
        let system = ElastodynamicSystem::builder(mesh)
            .region(Mesh::ALL, material, Formulation::Axisymmetric)
            .build()
            .unwrap();
        let q = system.field(|x| [a * x[0], b * x[1], 0.0]);
        let volume = PI * (4.0 - 1.0) * 2.0;
        assert!(
            (energy(&system, &q) / (density * volume) - 1.0).abs() < 1e-12,
            "{kind:?}"
        );
        let unit = system.uniform([0.0, 1.0, 0.0]);
        let mass = system.mass_matrix().bilinear(&unit, &unit);
        assert!((mass / volume - 1.0).abs() < 1e-12, "{kind:?}");
    }
}

/// Error, in the norm of the mass matrix, of the static solution under the body force whose exact
/// displacement is (Π sin π x_k, 0, 0); all sides are held and Poisson's ratio is zero.
fn bubble_error(kind: ElementKind, cells: usize) -> f64 {
    let d = kind.dimension();
    let e = 1.0;
    let material = Material::new(e, 0.0, 1.0);
    let (mesh, formulation) = if d == 2 {
        (
            plane_mesh(kind, cells),
            Formulation::PlaneStrain { thickness: 1.0 },
        )
    } else {
        (space_mesh(kind, cells), Formulation::Solid)
    };
    let sides: Vec<String> = mesh
        .groups()
        .keys()
        .filter(|name| *name != Mesh::ALL)
        .cloned()
        .collect();
    let mut builder = ElastodynamicSystem::builder(mesh).region(Mesh::ALL, material, formulation);
    let all: Vec<usize> = (0..d).collect();
    for side in &sides {
        builder = builder.support(side, &all);
    }
    let system = builder.build().unwrap();
    // f = −div σ with σ = E/2 (∇u + ∇uᵀ).
    let force = |x: [f64; 3]| {
        let s = |k: usize| (PI * x[k]).sin();
        let c = |k: usize| (PI * x[k]).cos();
        let product: f64 = (0..d).map(s).product();
        let mut f = [0.0; 3];
        f[0] = 0.5 * e * PI * PI * product * (d as f64 + 1.0);
        for k in 1..d {
            let rest: f64 = (1..d).filter(|&j| j != k).map(s).product();
            f[k] = -0.5 * e * PI * PI * c(0) * c(k) * rest;
        }
        f
    };
    // Consistent load of f through the fine quadrature of the mass rule.
    let mesh = system.mesh().unwrap();
    let mut load = vec![0.0; system.dof()];
    for &element in &mesh.group(Mesh::ALL).unwrap().elements {
        let (_, list) = mesh.element(element as usize);
        let x: Vec<[f64; 3]> = list.iter().map(|&n| mesh.nodes()[n as usize]).collect();
        let (mut value, mut slope) = (vec![0.0; list.len()], vec![[0.0; 3]; list.len()]);
        for (point, weight) in quadrature::rule(kind, 2) {
            kind.shape(point, &mut value, &mut slope);
            let j = element_matrices::jacobian(&x, &slope);
            let det = if d == 2 {
                j[0][0] * j[1][1] - j[0][1] * j[1][0]
            } else {
                j[0][0] * (j[1][1] * j[2][2] - j[1][2] * j[2][1])
                    - j[0][1] * (j[1][0] * j[2][2] - j[1][2] * j[2][0])
                    + j[0][2] * (j[1][0] * j[2][1] - j[1][1] * j[2][0])
            };
            let mut place = [0.0; 3];
            for (v, x) in value.iter().zip(&x) {
                for k in 0..3 {
                    place[k] += v * x[k];
                }
            }
            let f = force(place);
            for (&n, v) in list.iter().zip(&value) {
                for (k, f) in f.iter().enumerate().take(d) {
                    if let Some(dof) = system.nodes().free_dof(n, k) {
                        load[dof] += weight * det * v * f;
                    }
                }
            }
        }
    }
    let mut factor = crate::algebra::CholeskyFactor::default();
    factor.factor(system.stiffness_matrix().unwrap()).unwrap();
    let mut q = load.clone();
    factor.solve_in_place(&mut q);
    // L2 error of the displacement at nodes, in the norm of the mass matrix.
    let exact = system.field(|x| {
        let product: f64 = (0..d).map(|k| (PI * x[k]).sin()).product();
        [product, 0.0, 0.0]
    });
    let error: Vec<f64> = q.iter().zip(&exact).map(|(a, b)| a - b).collect();
    system.mass_matrix().bilinear(&error, &error).sqrt()
}

#[test]
fn displacement_converges_with_the_order_of_the_element_plus_one() {
    for kind in PLANE.into_iter().chain(SPACE) {
        let (coarse, fine) = match (kind.dimension(), kind.order()) {
            (2, 1) => (8, 16),
            (2, _) => (4, 8),
            (_, 1) if kind == ElementKind::Tet4 => (8, 16),
            (_, 1) => (4, 8),
            _ => (2, 4),
        };
        let ratio = bubble_error(kind, coarse) / bubble_error(kind, fine);
        let order = ratio.log2();
        let expected = kind.order() as f64 + 1.0;
        // Nodal superconvergence may raise the order; it must not fall short.
        assert!(order > expected - 0.25, "{kind:?}: order {order:.2}");
    }
}

#[test]
fn bar_frequencies_converge_to_those_of_the_continuum() {
    // Fixed-free bar: ω_k = (2k − 1) π c/(2 L).
    let (length, material) = (2.0, Material::new(50.0, 0.0, 2.0));
    let c = material.bar_wave_speed();
    for (kind, elements, order) in [(ElementKind::Line2, 20, 2.0), (ElementKind::Line3, 10, 4.0)] {
        let error = |n: usize| {
            let system = ElastodynamicSystem::builder(Mesh::bar(1, length, n, kind))
                .region(Mesh::ALL, material, Formulation::Bar { area: 0.3 })
                .support("left", &[0])
                .build()
                .unwrap();
            let (omega, _) =
                natural_modes(system.mass_matrix(), system.stiffness_matrix().unwrap()).unwrap();
            (omega[1] / (1.5 * PI * c / length) - 1.0).abs()
        };
        let (coarse, fine) = (error(elements), error(2 * elements));
        assert!((coarse / fine).log2() > order - 0.1, "{kind:?}");
        assert!(fine < 1e-3);
    }
}

#[test]
fn cantilever_frequencies_agree_with_euler_and_bernoulli() {
    let (length, area, inertia) = (1.5, 1e-3, 4e-8);
    let material = Material::new(7e10, 0.3, 2700.0);
    let factor = (material.young * inertia / (material.density * area)).sqrt() / (length * length);
    for angle in [0.0, 0.6f64] {
        let mesh = Mesh::bar(2, length, 12, ElementKind::Line2)
            .mapped(|x| [x[0] * angle.cos(), x[0] * angle.sin(), 0.0]);
        let system = ElastodynamicSystem::builder(mesh)
            .region(Mesh::ALL, material, Formulation::Beam { area, inertia })
            .support("left", &[0, 1, 2])
            .build()
            .unwrap();
        let (omega, _) =
            natural_modes(system.mass_matrix(), system.stiffness_matrix().unwrap()).unwrap();
        // Roots of cos x cosh x = −1.
        for (k, root) in [
            1.875_104_068_711_961,
            4.694_091_132_974_175,
            7.854_757_438_237_613,
        ]
        .into_iter()
        .enumerate()
        {
            let exact = root * root * factor;
            assert!((omega[k] / exact - 1.0).abs() < 2e-4, "mode {k}");
        }
        // Tip deflection under its own weight: q l⁴/(8 EI), exact at nodes.
    }
    let system = ElastodynamicSystem::builder(Mesh::bar(2, length, 3, ElementKind::Line2))
        .region(Mesh::ALL, material, Formulation::Beam { area, inertia })
        .support("left", &[0, 1, 2])
        .gravity([0.0, -9.81, 0.0])
        .build()
        .unwrap();
    let q = system.static_solution(0.0).unwrap();
    let tip = system.nodes().displacement(0.0, &q, 3)[1];
    let load = 9.81 * material.density * area;
    let exact = -load * length.powi(4) / (8.0 * material.young * inertia);
    assert!((tip / exact - 1.0).abs() < 1e-10);
}

#[test]
fn slender_cantilever_of_solid_elements_bends_like_a_beam() {
    // Quadratic elements: tip deflection F l³/(3 EI) within one per cent (shear adds 0.5 %).
    let (l, a) = (10.0, 1.0);
    let material = Material::new(1000.0, 0.0, 1.0);
    let system =
        ElastodynamicSystem::builder(Mesh::cuboid([l, a, a], [8, 1, 1], ElementKind::Hex20))
            .region(Mesh::ALL, material, Formulation::Solid)
            .support("left", &[0, 1, 2])
            .traction("right", [0.0, 0.0, 1.0 / (a * a)])
            .build()
            .unwrap();
    let q = system.static_solution(0.0).unwrap();
    let tip = system.mesh().unwrap().group_nodes("right").unwrap()[0];
    let deflection = system.nodes().displacement(0.0, &q, tip)[2];
    let exact = l.powi(3) / (3.0 * 1000.0 / 12.0);
    assert!(
        (deflection / exact - 1.0).abs() < 0.01,
        "{deflection} {exact}"
    );
}

#[test]
fn lumped_mass_is_positive_and_keeps_the_total() {
    for kind in PLANE.into_iter().chain(SPACE) {
        let (mesh, formulation) = if kind.dimension() == 2 {
            (
                plane_mesh(kind, 2),
                Formulation::PlaneStress { thickness: 1.0 },
            )
        } else {
            (space_mesh(kind, 1), Formulation::Solid)
        };
        let system = ElastodynamicSystem::builder(mesh)
            .region(Mesh::ALL, Material::new(1.0, 0.2, 3.0), formulation)
            .mass(MassKind::Lumped)
            .build()
            .unwrap();
        let mass = system.mass_matrix();
        let mut total = 0.0;
        for i in 0..system.dof() {
            assert!(mass.get(i, i) > 0.0, "{kind:?}");
            total += mass.get(i, i);
        }
        let d = kind.dimension() as f64;
        assert!((total / (3.0 * d) - 1.0).abs() < 1e-13, "{kind:?}");
    }
}

#[test]
fn bad_input_is_named() {
    let steel = Material::new(1.0, 0.3, 1.0);
    let strain = Formulation::PlaneStrain { thickness: 1.0 };
    let square = || plane_mesh(ElementKind::Quad4, 2);
    let build = |mesh: Mesh| ElastodynamicSystem::builder(mesh);
    // Inverted element.
    let mirrored = square().mapped(|x| [-x[0], x[1], 0.0]);
    match build(mirrored)
        .region(Mesh::ALL, steel, strain)
        .build()
        .unwrap_err()
    {
        ElastodynamicError::Inverted {
            element,
            determinant,
            ..
        } => assert!(element == 0 && determinant < 0.0),
        other => panic!("{other}"),
    }
    // Zero volume.
    let flat = square().mapped(|x| [x[0], 0.0, 0.0]);
    assert!(matches!(
        build(flat).region(Mesh::ALL, steel, strain).build(),
        Err(ElastodynamicError::Inverted { .. })
    ));
    // Incompressible.
    let rubber = Material::new(1.0, 0.5, 1.0);
    assert!(matches!(
        build(square()).region(Mesh::ALL, rubber, strain).build(),
        Err(ElastodynamicError::Poisson { poisson: 0.5, .. })
    ));
    let stress = Formulation::PlaneStress { thickness: 1.0 };
    assert!(
        build(square())
            .region(Mesh::ALL, rubber, stress)
            .build()
            .is_ok()
    );
    // Missing group, with the known ones.
    match build(square())
        .region("steel", steel, strain)
        .build()
        .unwrap_err()
    {
        ElastodynamicError::MissingGroup { name, known } => {
            assert_eq!(name, "steel");
            assert!(known.contains("`bottom`"));
        }
        other => panic!("{other}"),
    }
    // No mass and no support.
    let light = Material::new(1.0, 0.3, 0.0);
    assert!(matches!(
        build(square()).region(Mesh::ALL, light, strain).build(),
        Err(ElastodynamicError::SingularWithoutMass { .. })
    ));
    // A part without support is reported, a held one not.
    let free = build(square())
        .region(Mesh::ALL, steel, strain)
        .build()
        .unwrap();
    assert_eq!(free.report().len(), 1);
    let held = build(square())
        .region(Mesh::ALL, steel, strain)
        .support("left", &[0, 1])
        .build()
        .unwrap();
    assert!(held.report().is_empty());
    // A step of a second for a body that a wave crosses in a microsecond.
    let fast = Material::new(1e12, 0.3, 1.0);
    let system = build(square())
        .region(Mesh::ALL, fast, strain)
        .build()
        .unwrap();
    match system.check_step(1.0).unwrap_err() {
        ElastodynamicError::HopelessStep { suggested, .. } => {
            assert!(system.check_step(suggested).is_ok());
        }
        other => panic!("{other}"),
    }
}

#[test]
fn assembly_has_the_same_bits_for_any_number_of_threads() {
    let build = || {
        ElastodynamicSystem::builder(space_mesh(ElementKind::Tet4, 9))
            .region(Mesh::ALL, Material::new(3.0, 0.3, 1.1), Formulation::Solid)
            .build()
            .unwrap()
    };
    let pool = |threads| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
    };
    let (one, two) = (pool(1).install(build), pool(2).install(build));
    assert_eq!(one.mass_matrix(), two.mass_matrix());
    assert_eq!(one.stiffness_matrix(), two.stiffness_matrix());
}
