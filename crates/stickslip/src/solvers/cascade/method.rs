//! The methods of a solve, by name.

/// Methods that can be asked for by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoulombMethod {
    /// Picks and switches by measured progress.
    Cascade,
    /// Sweeps with momentum.
    AcceleratedGaussSeidel,
    /// Plain damped sweeps.
    GaussSeidel,
    /// Accelerated projected gradient with lagged De Saxcé term.
    ProjectedGradient,
    /// The three first-order methods in turn, without factorisations.
    Portfolio,
    /// Proximal point with semismooth Newton, after 100 sweeps.
    ProximalNewton,
    /// Interior point, then proximal Newton.
    InteriorPoint,
    /// Plain damped sweeps in coloured order, on several threads with the bits of one.
    ColouredGaussSeidel,
    /// Lemke's method, for problems in the plane.
    Lemke,
}

impl CoulombMethod {
    /// All methods, the default first.
    pub const ALL: [Self; 9] = [
        Self::Cascade,
        Self::AcceleratedGaussSeidel,
        Self::GaussSeidel,
        Self::ProjectedGradient,
        Self::Portfolio,
        Self::ProximalNewton,
        Self::InteriorPoint,
        Self::ColouredGaussSeidel,
        Self::Lemke,
    ];

    /// Name on the command line and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cascade => "cascade",
            Self::AcceleratedGaussSeidel => "accelerated-gauss-seidel",
            Self::GaussSeidel => "gauss-seidel",
            Self::ProjectedGradient => "projected-gradient",
            Self::Portfolio => "portfolio",
            Self::ProximalNewton => "proximal-newton",
            Self::InteriorPoint => "interior-point",
            Self::ColouredGaussSeidel => "coloured-gauss-seidel",
            Self::Lemke => "lemke",
        }
    }

    /// The method of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}
