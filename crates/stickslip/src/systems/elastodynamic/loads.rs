//! Load vectors of gravity, body forces, tractions and nodal forces.

use super::assembly::Assembly;
use super::builder::{ElastodynamicBuilder, LoadFactor};
use super::nodes::NodeMap;
use super::surface_load::{self, SurfaceMeasure};
use super::system::Load;
use super::{ElastodynamicError, Formulation};

impl ElastodynamicBuilder {
    /// Thickness or rotational symmetry of surfaces, from the first region.
    pub(super) fn surface_measure(&self) -> SurfaceMeasure {
        match self.regions.first().map(|region| region.2) {
            Some(
                Formulation::PlaneStrain { thickness } | Formulation::PlaneStress { thickness },
            ) => SurfaceMeasure::Thickness(thickness),
            Some(Formulation::Axisymmetric) => SurfaceMeasure::Circle,
            _ => SurfaceMeasure::Thickness(1.0),
        }
    }

    pub(super) fn loads(
        &self,
        assembly: &Assembly,
        nodes: &NodeMap,
    ) -> Result<Vec<Load>, ElastodynamicError> {
        let n = nodes.free_count;
        let mut constant = vec![0.0; n];
        let mut loads = Vec::new();
        if self.gravity.iter().any(|&g| g != 0.0) {
            surface_load::volume_force(&self.mesh, nodes, assembly, None, |data, force| {
                for (f, g) in force.iter_mut().zip(self.gravity) {
                    *f = data.material.density * g;
                }
            })
            .iter()
            .zip(&mut constant)
            .for_each(|(f, c)| *c += f);
        }
        let mut enter = |values: Vec<f64>, factor: &Option<LoadFactor>| match factor {
            None => values.iter().zip(&mut constant).for_each(|(f, c)| *c += f),
            Some(factor) => loads.push(Load {
                values,
                factor: Some(factor.clone()),
            }),
        };
        for (group, force, factor) in &self.body_forces {
            let members = self.group(group)?;
            let values =
                surface_load::volume_force(&self.mesh, nodes, assembly, Some(members), |_, f| {
                    *f = *force;
                });
            enter(values, factor);
        }
        for (group, traction, factor) in &self.tractions {
            let mut values = vec![0.0; n];
            for &e in self.group(group)? {
                surface_load::for_each_share(
                    &self.mesh,
                    e as usize,
                    self.surface_measure(),
                    |node, share| {
                        nodes.visit(node, *traction, share, |dof, value| values[dof] += value);
                    },
                );
            }
            enter(values, factor);
        }
        for (group, force, factor) in &self.point_forces {
            let mut values = vec![0.0; n];
            for node in self.group_nodes(group)? {
                nodes.visit(node, *force, 1.0, |dof, value| values[dof] += value);
            }
            enter(values, factor);
        }
        if constant.iter().any(|&f| f != 0.0) {
            loads.insert(
                0,
                Load {
                    values: constant,
                    factor: None,
                },
            );
        }
        Ok(loads)
    }
}
