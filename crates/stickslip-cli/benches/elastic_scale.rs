//! Cost of elastic systems: assembly of a large mesh, steps with many contacts.
//!
//! `cargo bench -p stickslip-cli --bench elastic_scale [-- assembly | contacts | growth]`. Times are wall
//! times of this machine; the figures to compare are the ratios to one sparse solve, taken in the
//! same run.

use std::fmt::Write;
use std::time::Instant;

use stickslip::contact::ContactSolver;
use stickslip::internals::CholeskyFactor;
use stickslip::laws::{ContactLaw, FrictionSection, ImpactLaw};
use stickslip::simulation::{Simulation, SimulationSettings};
use stickslip::solvers::{CascadeSolver, GaussSeidel};
use stickslip::stepping::{MoreauJean, MoreauJeanSettings};
use stickslip::systems::elastodynamic::{ElementKind, Formulation, Material, Mesh, Obstacle};
use stickslip::systems::{ElastodynamicSystem, MechanicalSystem};
use stickslip_cli::growth_svg;

/// Memory of the process in MB, now and at its peak.
fn memory() -> (f64, f64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let read = |key: &str| {
        let line = status.lines().find(|line| line.starts_with(key));
        let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
        number.unwrap_or(f64::NAN) / 1024.0
    };
    (read("VmRSS:"), read("VmHWM:"))
}

/// A mesh as a Gmsh file of format 2.2, as text.
fn gmsh_text(mesh: &Mesh) -> Vec<u8> {
    let mut text = String::from("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n");
    let _ = writeln!(text, "{}", mesh.nodes().len());
    for (n, x) in mesh.nodes().iter().enumerate() {
        let _ = writeln!(text, "{} {} {} {}", n + 1, x[0], x[1], x[2]);
    }
    let members = mesh
        .group(Mesh::ALL)
        .map_or(&[][..], |group| &group.elements);
    let _ = writeln!(text, "$EndNodes\n$Elements\n{}", members.len());
    for (k, &e) in members.iter().enumerate() {
        let n = mesh.element(e as usize).1;
        let [a, b, c, d] = [n[0] + 1, n[1] + 1, n[2] + 1, n[3] + 1];
        let _ = writeln!(text, "{} 4 2 1 1 {a} {b} {c} {d}", k + 1);
    }
    text.push_str("$EndElements\n");
    text.into_bytes()
}

/// A Gmsh file of about a million tetrahedra: read, its matrices assembled.
fn assembly() {
    let file = gmsh_text(&Mesh::cuboid([1.0; 3], [55; 3], ElementKind::Tet4));
    let start = Instant::now();
    let mesh = Mesh::read_gmsh(&file).expect("a valid file");
    let built = start.elapsed();
    let elements = mesh
        .group(Mesh::ALL)
        .map_or(0, |group| group.elements.len());
    let start = Instant::now();
    let system = ElastodynamicSystem::builder(mesh)
        .region(Mesh::ALL, Material::new(1e3, 0.3, 1.0), Formulation::Solid)
        .build()
        .expect("a valid system");
    let (_, peak) = memory();
    println!(
        "{elements} tetrahedra, {} degrees of freedom: file of {} MB read in {:.1} s, matrices {:.1} s, peak {peak:.0} MB",
        system.dof(),
        file.len() >> 20,
        built.as_secs_f64(),
        start.elapsed().as_secs_f64(),
    );
}

/// A slab of quadrilaterals on the floor with `contacts` nodes below, about `dofs` in all.
fn slab(dofs: usize, contacts: usize) -> ElastodynamicSystem {
    let (nx, ny) = (contacts - 1, (dofs / (2 * contacts)).max(2) - 1);
    let length = 0.01 * nx as f64;
    let mesh = Mesh::rectangle((length, 0.01 * ny as f64), (nx, ny), ElementKind::Quad4);
    let law = ContactLaw::new(
        FrictionSection::segment(0.3).expect("valid"),
        ImpactLaw::Fremond { restitution: 0.0 },
    )
    .expect("valid");
    ElastodynamicSystem::builder(mesh)
        .region(
            Mesh::ALL,
            Material::new(1e6, 0.3, 1000.0),
            Formulation::PlaneStrain { thickness: 1.0 },
        )
        .gravity([0.0, -9.81, 0.0])
        .contact("bottom", Obstacle::plane([0.0; 3], [0.0, 1.0, 0.0]), law)
        .build()
        .expect("a valid system")
}

/// Steps of a slab, against one sparse solve with the same operator.
fn contacts(dofs: usize, contacts: usize, steps: usize, cascade: bool) -> [f64; 4] {
    let start = Instant::now();
    let system = slab(dofs, contacts);
    let assembled = start.elapsed().as_secs_f64();
    let (h, theta) = (2e-4, 0.51);
    let n = system.dof();
    // One solve with the operator of the step.
    let mut operator = system.mass_matrix().clone();
    let stiffness = system.stiffness_matrix().expect("a stiffness");
    operator.add_scaled(h * h * theta * theta, stiffness);
    let mut factor = CholeskyFactor::default();
    let start = Instant::now();
    factor.factor(&operator).expect("positive definite");
    let factored = start.elapsed().as_secs_f64();
    let entries = factor.sparse().map_or(0, |f| f.factor_entries());
    let right = system.uniform([1.0, 1.0, 0.0]);
    let mut b = right.clone();
    let v = system.uniform([0.2, -0.1, 0.0]);
    let q = vec![0.0; n];
    let solver: Box<dyn ContactSolver> = if cascade {
        Box::new(CascadeSolver::default())
    } else {
        Box::new(GaussSeidel::default())
    };
    let settings = MoreauJeanSettings {
        theta: Some(theta),
        ..Default::default()
    };
    let start = Instant::now();
    let mut run = Simulation::new(
        Box::new(system),
        Box::new(MoreauJean::new(settings).expect("theta in range")),
        Box::new(solver_clock::Clocked::new(solver)),
        (&q, &v),
        SimulationSettings {
            initial_impact: false,
            ..SimulationSettings::fixed(h)
        },
    )
    .expect("a valid run");
    run.step_towards(1e9);
    let first = start.elapsed().as_secs_f64();
    solver_clock::reset();
    let start = Instant::now();
    // A solve after every step: whatever else the machine does slows both alike.
    let (mut active, mut solve) = (0, 0.0);
    for _ in 0..steps {
        active = active.max(run.step_towards(1e9).active_contacts());
        b.copy_from_slice(&right);
        let start = Instant::now();
        factor.solve_in_place(&mut b);
        solve += start.elapsed().as_secs_f64();
    }
    let step = (start.elapsed().as_secs_f64() - solve) / steps as f64;
    let solve = solve / steps as f64;
    let contact = solver_clock::seconds() / steps as f64;
    let (now, peak) = memory();
    println!(
        "{n} dof, {contacts} candidates ({active} active): assembly {assembled:.2} s, factor {factored:.2} s \
         ({entries} values), first step {first:.2} s; solve {:.2} ms, step {:.2} ms of which contact solver \
         {:.2} ms; step − contact = {:.2} solves; memory {now:.0} MB (peak {peak:.0}); ledger ratio {:.2}, \
         residual {:.1e}",
        1e3 * solve,
        1e3 * step,
        1e3 * contact,
        (step - contact) / solve,
        run.ledger().worst_ratio,
        run.certificate().worst(),
    );
    [n as f64, factored, solve, step - contact]
}

/// Growth of the cost as a picture with logarithmic axes, beside the slope n^1.25.
fn draw_growth(rows: &[[f64; 4]]) -> String {
    let column = |k: usize| rows.iter().map(|row| [row[0], row[k]]).collect();
    let slope = |row: &[f64; 4]| [row[0], rows[0][2] * (row[0] / rows[0][0]).powf(1.25)];
    let curves = [
        ("factorization, once".to_string(), column(1)),
        ("one sparse solve".to_string(), column(2)),
        ("step without contact solver".to_string(), column(3)),
        ("slope n^1.25".to_string(), rows.iter().map(slope).collect()),
    ];
    let labels = ["degrees of freedom", "time [s]"];
    growth_svg("Cost of elastic systems", labels, &curves)
}

/// Counts the time inside the contact solver.
mod solver_clock {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Instant;

    use stickslip::contact::{ContactProblem, ContactSolution, ContactSolver};

    static NANOSECONDS: AtomicU64 = AtomicU64::new(0);

    pub struct Clocked {
        inner: Box<dyn ContactSolver>,
    }

    impl Clocked {
        pub fn new(inner: Box<dyn ContactSolver>) -> Self {
            Self { inner }
        }
    }

    pub fn reset() {
        NANOSECONDS.store(0, Ordering::Relaxed);
    }

    pub fn seconds() -> f64 {
        NANOSECONDS.load(Ordering::Relaxed) as f64 * 1e-9
    }

    impl ContactSolver for Clocked {
        fn name(&self) -> &str {
            self.inner.name()
        }
        fn solve(&mut self, problem: &ContactProblem, solution: &mut ContactSolution) {
            let start = Instant::now();
            self.inner.solve(problem, solution);
            NANOSECONDS.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wants = |word: &str| {
        let named = |a: &String| ["assembly", "contacts", "growth"].contains(&a.as_str());
        !arguments.iter().any(named) || arguments.iter().any(|a| a == word)
    };
    let number = |k: usize, default: usize| {
        let mut numbers = arguments.iter().filter_map(|a| a.parse::<usize>().ok());
        numbers.nth(k).unwrap_or(default)
    };
    if wants("assembly") {
        assembly();
    }
    if wants("contacts") {
        contacts(100_000, 500, number(0, 1000), number(1, 0) == 1);
    }
    if wants("growth") {
        let rows = [10_000, 30_000, 100_000, 300_000]
            .map(|dofs| contacts(dofs, 100, number(0, 50), number(1, 0) == 1));
        match std::fs::write("elastic-growth.svg", draw_growth(&rows)) {
            Ok(()) => println!("drawn in elastic-growth.svg"),
            Err(error) => println!("elastic-growth.svg: {error}"),
        }
    }
}
