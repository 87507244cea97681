//! Accounts of the bodies and contact surfaces of an elastic run.

use serde::{Deserialize, Serialize};

use super::summary::nan_if_null;

/// Account of one connected part, from the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BodyAccount {
    /// Name of the part.
    pub name: String,
    /// Kinetic plus elastic energy at the start.
    #[serde(deserialize_with = "nan_if_null")]
    pub start: f64,
    /// Kinetic energy at the end of the last step.
    #[serde(deserialize_with = "nan_if_null")]
    pub kinetic: f64,
    /// Elastic energy at the end of the last step.
    #[serde(deserialize_with = "nan_if_null")]
    pub elastic: f64,
    /// Work of loads and given motions.
    #[serde(deserialize_with = "nan_if_null")]
    pub external: f64,
    /// Work of damping.
    #[serde(deserialize_with = "nan_if_null")]
    pub damping: f64,
    /// Numerical dissipation of the scheme.
    #[serde(deserialize_with = "nan_if_null")]
    pub numerical: f64,
    /// Work of normal contact impulses on this body, relative to its obstacles.
    #[serde(deserialize_with = "nan_if_null")]
    pub contact_normal: f64,
    /// Work of friction impulses on this body, relative to its obstacles.
    #[serde(deserialize_with = "nan_if_null")]
    pub contact_tangential: f64,
    /// Work of moving obstacles.
    #[serde(default, deserialize_with = "nan_if_null")]
    pub supports: f64,
    /// Change of elastic energy by the projection of positions.
    #[serde(default, deserialize_with = "nan_if_null")]
    pub projection: f64,
    /// Largest imbalance of one step.
    #[serde(deserialize_with = "nan_if_null")]
    pub worst_imbalance: f64,
}

impl BodyAccount {
    /// Energies and works with their names, in the order of the account.
    pub fn terms(&self) -> [(&'static str, f64); 9] {
        [
            ("kinetic", self.kinetic),
            ("elastic", self.elastic),
            ("external", self.external),
            ("damping", self.damping),
            ("numerical", self.numerical),
            ("contact_normal", self.contact_normal),
            ("contact_tangential", self.contact_tangential),
            ("supports", self.supports),
            ("projection", self.projection),
        ]
    }

    /// Enters the works of one step and the energies at its end.
    pub(super) fn enter(&mut self, step: &BodyAccount) {
        let supply = step.external
            + step.damping
            + step.numerical
            + step.contact_normal
            + step.contact_tangential
            + step.supports
            + step.projection;
        let change = step.kinetic - self.kinetic + step.elastic - self.elastic;
        self.worst_imbalance = self.worst_imbalance.max((change - supply).abs());
        (self.kinetic, self.elastic) = (step.kinetic, step.elastic);
        self.external += step.external;
        self.damping += step.damping;
        self.numerical += step.numerical;
        self.contact_normal += step.contact_normal;
        self.contact_tangential += step.contact_tangential;
        self.supports += step.supports;
        self.projection += step.projection;
    }
}

/// Account of one contact surface, from the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SurfaceAccount {
    /// Name of the surface.
    pub name: String,
    /// Work of normal impulses.
    #[serde(deserialize_with = "nan_if_null")]
    pub normal: f64,
    /// Work of friction impulses.
    #[serde(deserialize_with = "nan_if_null")]
    pub tangential: f64,
    /// Largest work of the normal impulse of one contact in one step; 0 if none was positive.
    #[serde(deserialize_with = "nan_if_null")]
    pub largest_normal: f64,
    /// Largest work of the friction impulse of one contact in one step; 0 if none was positive.
    #[serde(deserialize_with = "nan_if_null")]
    pub largest_tangential: f64,
    /// Sum of normal impulses.
    #[serde(deserialize_with = "nan_if_null")]
    pub impulse: f64,
    /// Number of contacts that carried an impulse in the last step.
    pub closed: usize,
}

/// The accounts of an elastic run: what a checkpoint keeps of them and a summary tells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ElasticAccounts {
    /// Connected parts.
    pub bodies: Vec<BodyAccount>,
    /// Contact surfaces.
    pub surfaces: Vec<SurfaceAccount>,
}
