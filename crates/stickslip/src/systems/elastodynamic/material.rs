//! Linear elastic materials and what a region of a mesh models.

use super::ElastodynamicError;

/// Isotropic linear elastic material.
///
/// ```
/// use stickslip::systems::elastodynamic::Material;
///
/// // Waves along a bar travel with √(E/ρ).
/// let steel = Material::new(200e9, 0.3, 8000.0);
/// assert_eq!(steel.bar_wave_speed(), 5000.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Young's modulus.
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Mass density.
    pub density: f64,
}

impl Material {
    /// A material; the values are checked when a system is built with it.
    pub fn new(young: f64, poisson: f64, density: f64) -> Self {
        Self {
            young,
            poisson,
            density,
        }
    }

    /// Speed of longitudinal waves in a thin bar, √(E/ρ).
    pub fn bar_wave_speed(&self) -> f64 {
        (self.young / self.density).sqrt()
    }

    /// Speed of longitudinal waves in the bulk.
    pub fn bulk_wave_speed(&self) -> f64 {
        let nu = self.poisson;
        (self.young * (1.0 - nu) / ((1.0 + nu) * (1.0 - 2.0 * nu)) / self.density).sqrt()
    }
}

/// What the elements of a region model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Formulation {
    /// Bars: axial stiffness only.
    Bar {
        /// Area of the section.
        area: f64,
    },
    /// Euler-Bernoulli beams in the plane, with a rotation at every node.
    Beam {
        /// Area of the section.
        area: f64,
        /// Second moment of area.
        inertia: f64,
    },
    /// Plane strain.
    PlaneStrain {
        /// Thickness.
        thickness: f64,
    },
    /// Plane stress.
    PlaneStress {
        /// Thickness.
        thickness: f64,
    },
    /// Rotational symmetry about the y axis; x is the radius. Integrals run over the full circle.
    Axisymmetric,
    /// A solid in space.
    Solid,
}

impl Formulation {
    /// Dimension of the elements.
    pub(crate) fn element_dimension(self) -> usize {
        match self {
            Self::Bar { .. } | Self::Beam { .. } => 1,
            Self::PlaneStrain { .. } | Self::PlaneStress { .. } | Self::Axisymmetric => 2,
            Self::Solid => 3,
        }
    }

    /// Number of strain components.
    pub(crate) fn strains(self) -> usize {
        match self {
            Self::Bar { .. } | Self::Beam { .. } => 1,
            Self::PlaneStrain { .. } | Self::PlaneStress { .. } => 3,
            Self::Axisymmetric => 4,
            Self::Solid => 6,
        }
    }

    /// Checks material and section.
    pub(crate) fn check(self, region: &str, material: &Material) -> Result<(), ElastodynamicError> {
        let region = || region.to_string();
        let positive = |what: &'static str, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(ElastodynamicError::NotPositive {
                    region: region(),
                    what,
                    value,
                })
            }
        };
        positive("Young's modulus", material.young)?;
        if !(material.density >= 0.0 && material.density.is_finite()) {
            positive("density", material.density)?;
        }
        match self {
            Self::Bar { area } => positive("area", area)?,
            Self::Beam { area, inertia } => {
                positive("area", area)?;
                positive("second moment of area", inertia)?;
            }
            Self::PlaneStrain { thickness } | Self::PlaneStress { thickness } => {
                positive("thickness", thickness)?;
            }
            Self::Axisymmetric | Self::Solid => {}
        }
        let bound = match self {
            Self::Bar { .. } | Self::Beam { .. } => return Ok(()),
            // Plane stress stays regular for incompressible materials.
            Self::PlaneStress { .. } => 0.5 + 1e-12,
            _ => 0.5 - 1e-9,
        };
        if material.poisson > -1.0 && material.poisson < bound {
            Ok(())
        } else {
            Err(ElastodynamicError::Poisson {
                region: region(),
                poisson: material.poisson,
            })
        }
    }

    /// Elasticity matrix, row-major. Strains: xx, yy, xy in the plane; rr, zz, hoop, rz with
    /// rotational symmetry; xx, yy, zz, xy, yz, zx in space; shear strains are engineering ones.
    pub(crate) fn elasticity(self, material: &Material) -> Vec<f64> {
        let (e, nu) = (material.young, material.poisson);
        let lambda = e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
        let mu = e / (2.0 * (1.0 + nu));
        let diagonal = lambda + 2.0 * mu;
        match self {
            Self::Bar { .. } | Self::Beam { .. } => vec![e],
            Self::PlaneStrain { .. } => {
                vec![diagonal, lambda, 0.0, lambda, diagonal, 0.0, 0.0, 0.0, mu]
            }
            Self::PlaneStress { .. } => {
                let d = e / (1.0 - nu * nu);
                vec![d, nu * d, 0.0, nu * d, d, 0.0, 0.0, 0.0, mu]
            }
            Self::Axisymmetric => {
                let mut d = vec![0.0; 16];
                for i in 0..3 {
                    for j in 0..3 {
                        d[4 * i + j] = if i == j { diagonal } else { lambda };
                    }
                }
                d[15] = mu;
                d
            }
            Self::Solid => {
                let mut d = vec![0.0; 36];
                for i in 0..3 {
                    for j in 0..3 {
                        d[6 * i + j] = if i == j { diagonal } else { lambda };
                    }
                    d[6 * (i + 3) + i + 3] = mu;
                }
                d
            }
        }
    }
}
