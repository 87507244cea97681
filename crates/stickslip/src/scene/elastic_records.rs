//! What a trajectory holds of the accounts of elastic bodies and surfaces, judged from the rest of its row.

use std::sync::Arc;

use crate::records::EnergyEntry;
use crate::simulation::verify::{Line, Verification};
use crate::systems::{ElastodynamicSystem, MechanicalSystem};

/// Terms of the account of a body: two energies, then works.
const TERMS: [&str; 9] = [
    "kinetic",
    "elastic",
    "external",
    "damping",
    "numerical",
    "contact_normal",
    "contact_tangential",
    "supports",
    "projection",
];

/// Kinetic energies are those of the velocities; the account of every body is closed, those of all bodies add up to that of
/// the run, and so do the works of all surfaces. How bodies and surfaces share works beyond that is not judged.
pub(super) struct ElasticRecords {
    system: Arc<ElastodynamicSystem>,
    bodies: Vec<(String, [usize; TERMS.len()])>,
    surfaces: Vec<[usize; 2]>,
    /// Energies less works of every body, of the first row.
    starts: Option<Vec<f64>>,
    /// Largest size of a term.
    size: f64,
}

impl ElasticRecords {
    pub fn new(system: &Arc<ElastodynamicSystem>, columns: &[String]) -> Self {
        let find = |name: &str, term: &str| {
            let column = format!("{name}.{term}");
            columns.iter().position(|c| *c == column)
        };
        let of_body = |name: &str| {
            let mut places = [0; TERMS.len()];
            for (place, term) in places.iter_mut().zip(TERMS) {
                *place = find(name, term)?;
            }
            Some((name.to_string(), places))
        };
        let of_surface = |name: &str| Some([find(name, "work_n")?, find(name, "work_t")?]);
        let bodies = system.bodies().iter();
        let surfaces = match system.surfaces() {
            [] => {
                let constraints = system.constraints().iter();
                constraints.filter_map(|c| of_surface(c.name())).collect()
            }
            surfaces => {
                let surfaces = surfaces.iter();
                surfaces.filter_map(|s| of_surface(&s.name)).collect()
            }
        };
        Self {
            bodies: bodies.filter_map(|body| of_body(&body.name)).collect(),
            surfaces,
            starts: None,
            size: 0.0,
            system: system.clone(),
        }
    }

    /// Judges a row at time t with the velocities v; `energies` and `totals` are those of the run, `rounding` is the part of
    /// all sizes that is none.
    pub fn row(
        &mut self,
        row: &[f64],
        v: &[f64],
        (energies, totals): ([f64; 2], &EnergyEntry),
        rounding: f64,
        report: &mut Verification,
    ) {
        let (t, terms) = (row[0], self.bodies.iter().map(|(_, places)| places));
        let terms: Vec<[f64; TERMS.len()]> = terms.map(|places| places.map(|i| row[i])).collect();
        let surfaces = self.surfaces.iter().map(|places| places.map(|i| row[i]));
        let surfaces: Vec<[f64; 2]> = surfaces.collect();
        let numbers = terms.iter().flatten().chain(surfaces.iter().flatten());
        self.size = numbers.fold(self.size, |s, x| s.max(x.abs()));
        self.size = energies.iter().fold(self.size, |s, x| s.max(x.abs()));
        let mut note = |off: f64, name: Option<&str>| {
            if !(off.abs() <= rounding * self.size) {
                report.note(Line::Energy, t, off.abs() / self.size, name);
            }
        };
        if !self.bodies.is_empty() {
            let kinetic = kinetic_energies(&self.system, v);
            let closed = |own: &[f64; TERMS.len()]| own[0] + own[1] - own[2..].iter().sum::<f64>();
            let closed: Vec<f64> = terms.iter().map(closed).collect();
            let starts = self.starts.get_or_insert_with(|| closed.clone());
            for (b, (name, _)) in self.bodies.iter().enumerate() {
                note(terms[b][0] - kinetic[b], Some(name));
                note(closed[b] - starts[b], Some(name));
            }
            let numerical = totals.numerical_mass
                + totals.numerical_stiffness
                + totals.potential_defect
                + totals.covariant_defect;
            let whole = [
                energies[0],
                energies[1],
                totals.external,
                totals.damping,
                numerical,
                totals.contact_normal,
                totals.contact_tangential,
                totals.supports,
                totals.projection,
            ];
            for (k, whole) in whole.into_iter().enumerate() {
                note(terms.iter().map(|own| own[k]).sum::<f64>() - whole, None);
            }
        }
        if !surfaces.is_empty() {
            for (k, whole) in [totals.contact_normal, totals.contact_tangential]
                .into_iter()
                .enumerate()
            {
                note(surfaces.iter().map(|own| own[k]).sum::<f64>() - whole, None);
            }
        }
    }
}

/// ½ v·M v over the degrees of freedom of every body.
fn kinetic_energies(system: &ElastodynamicSystem, v: &[f64]) -> Vec<f64> {
    let mut momentum = vec![0.0; v.len()];
    system.mass_matrix().multiply(v, &mut momentum);
    let of = |dof: &u32| v[*dof as usize] * momentum[*dof as usize];
    let bodies = system.bodies().iter();
    bodies
        .map(|body| 0.5 * body.dofs.iter().map(of).sum::<f64>())
        .collect()
}
