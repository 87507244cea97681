//! Connected parts of a mesh.

use super::assembly::Assembly;
use super::builder::ElastodynamicBuilder;
use super::element_matrices::ElementData;
use super::nodes::{NONE, NodeMap};
use super::{ElastodynamicError, Formulation, Mesh};

/// A connected part of the mesh.
#[derive(Clone, Debug)]
pub struct Body {
    /// Name: that of its mesh, numbered where the mesh falls into several parts.
    pub name: String,
    /// Nodes, sorted.
    pub nodes: Vec<u32>,
    /// Free degrees of freedom, sorted.
    pub dofs: Vec<u32>,
    /// Held components: x, y, z, rotation.
    pub(crate) held: [usize; 4],
    pub(crate) density_max: f64,
    /// Smallest time a wave needs through one element.
    pub(crate) element_transit: f64,
    speed: f64,
    low: [f64; 3],
    high: [f64; 3],
}

impl Body {
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            nodes: Vec::new(),
            dofs: Vec::new(),
            held: [0; 4],
            density_max: 0.0,
            element_transit: f64::INFINITY,
            speed: 0.0,
            low: [f64::INFINITY; 3],
            high: [f64::NEG_INFINITY; 3],
        }
    }

    pub(crate) fn measure_element(&mut self, mesh: &Mesh, list: &[u32], data: &ElementData) {
        let speed = match data.formulation {
            Formulation::Bar { .. } | Formulation::Beam { .. } => data.material.bar_wave_speed(),
            Formulation::PlaneStress { .. } if data.material.poisson > 0.49 => {
                data.material.bar_wave_speed()
            }
            _ => data.material.bulk_wave_speed(),
        };
        self.speed = self.speed.max(speed);
        let mut smallest = f64::INFINITY;
        for (i, &a) in list.iter().enumerate() {
            let x = mesh.nodes()[a as usize];
            for k in 0..3 {
                self.low[k] = self.low[k].min(x[k]);
                self.high[k] = self.high[k].max(x[k]);
            }
            for &b in &list[..i] {
                let y = mesh.nodes()[b as usize];
                let d: f64 = x.iter().zip(&y).map(|(x, y)| (x - y) * (x - y)).sum();
                smallest = smallest.min(d.sqrt());
            }
        }
        if speed.is_finite() {
            self.element_transit = self.element_transit.min(smallest / speed);
        }
    }

    /// Whether some component of some node is held.
    pub fn is_supported(&self) -> bool {
        self.held.iter().any(|&count| count > 0)
    }

    /// Time a wave needs through the largest extent of the body.
    pub fn transit_time(&self) -> f64 {
        let extent = (0..3)
            .map(|k| self.high[k] - self.low[k])
            .fold(0.0, f64::max);
        extent / self.speed
    }
}

impl ElastodynamicBuilder {
    /// Connected parts of the mesh.
    pub(super) fn bodies(
        &self,
        assembly: &Assembly,
        nodes: &NodeMap,
    ) -> Result<Vec<Body>, ElastodynamicError> {
        let mut parent: Vec<u32> = (0..nodes.len() as u32).collect();
        fn root(parent: &mut [u32], mut n: u32) -> u32 {
            while parent[n as usize] != n {
                parent[n as usize] = parent[parent[n as usize] as usize];
                n = parent[n as usize];
            }
            n
        }
        for &(e, _) in &assembly.elements {
            let list = self.mesh.element(e as usize).1;
            let a = root(&mut parent, list[0]);
            for &n in &list[1..] {
                let b = root(&mut parent, n);
                // The smaller number leads, so that bodies come in the order of their first node.
                let (low, high) = (a.min(b), a.max(b));
                parent[high as usize] = low;
                if low != a {
                    parent[a as usize] = low;
                }
            }
        }
        let mut number = vec![NONE; nodes.len()];
        let mut bodies: Vec<Body> = Vec::new();
        let mut of_node = vec![NONE; nodes.len()];
        for n in 0..nodes.len() as u32 {
            if nodes.range(n).is_empty() {
                continue;
            }
            let r = root(&mut parent, n);
            if number[r as usize] == NONE {
                number[r as usize] = bodies.len() as u32;
                bodies.push(Body::new(String::new()));
            }
            let b = number[r as usize];
            of_node[n as usize] = b;
            let body = &mut bodies[b as usize];
            body.nodes.push(n);
            for (k, dof) in nodes.range(n).enumerate() {
                match nodes.free[dof] {
                    NONE => body.held[k.min(3)] += 1,
                    free => body.dofs.push(free),
                }
            }
        }
        name_bodies(&self.mesh, &mut bodies);
        for &(e, d) in &assembly.elements {
            let list = self.mesh.element(e as usize).1;
            let data = &assembly.data[d as usize];
            let body = &mut bodies[of_node[list[0] as usize] as usize];
            body.density_max = body.density_max.max(data.material.density);
            body.measure_element(&self.mesh, list, data);
        }
        for body in &bodies {
            if body.density_max > 0.0 {
                continue;
            }
            let motions = ["motion along x", "motion along y", "motion along z"];
            let space = nodes.space;
            if let Some(k) = (0..space).find(|&k| body.held[k] == 0) {
                return Err(ElastodynamicError::SingularWithoutMass {
                    node: self.mesh.node_number(body.nodes[0]),
                    body: body.name.clone(),
                    motion: motions[k],
                });
            }
            let rigid = [1, 3, 6][space - 1];
            if space > 1 && body.held.iter().sum::<usize>() < rigid {
                return Err(ElastodynamicError::SingularWithoutMass {
                    node: self.mesh.node_number(body.nodes[0]),
                    body: body.name.clone(),
                    motion: "rotation",
                });
            }
        }
        Ok(bodies)
    }
}

/// Names bodies after their meshes; the parts of one mesh are numbered.
fn name_bodies(mesh: &Mesh, bodies: &mut [Body]) {
    let part = |body: &Body| mesh.part_of(body.nodes[0]).unwrap_or("body").to_string();
    let parts: Vec<String> = bodies.iter().map(part).collect();
    for (k, body) in bodies.iter_mut().enumerate() {
        let same = |other: &&String| **other == parts[k];
        let number = parts[..k].iter().filter(same).count() + 1;
        let alone = mesh.part_of(body.nodes[0]).is_some() && parts.iter().filter(same).count() == 1;
        body.name = match mesh.part_of(body.nodes[0]) {
            None => format!("body{number}"),
            Some(part) if alone => part.to_string(),
            Some(part) => format!("{part}-{number}"),
        };
    }
}

/// Translations that nothing resists: components of parts of which no node is held in them.
pub(super) fn free_translations(bodies: &[Body], nodes: &NodeMap) -> Vec<Vec<u32>> {
    let mut out = Vec::new();
    for body in bodies {
        for k in (0..nodes.space).filter(|&k| body.held[k] == 0) {
            let dofs = body.nodes.iter().filter_map(|&n| nodes.free_dof(n, k));
            out.push(dofs.map(|dof| dof as u32).collect());
        }
    }
    out
}
