//! Bodies behind a block-sparse W.

/// Part of the degrees of freedom that no mass entry couples to the others (a body), seen from one contact.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyLink {
    /// Index of the body.
    pub body: usize,
    /// Rows of Hᵀ of the contact on the freedoms of the body: d × size, row-major.
    pub jacobian: Vec<f64>,
}

/// Mass and jacobian behind W = Hᵀ M⁻¹ H, where M is block-diagonal with small blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BodyForm {
    /// Degrees of freedom of each body, as indices of the global problem.
    pub freedoms: Vec<Vec<usize>>,
    /// Mass block of each body, row-major.
    pub mass: Vec<Vec<f64>>,
    /// Inverse mass block of each body, row-major.
    pub inverse_mass: Vec<Vec<f64>>,
    /// Bodies each contact acts on.
    pub links: Vec<Vec<BodyLink>>,
}
