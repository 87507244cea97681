//! Units of coordinates. Scenes are in SI units unless they declare others; whether a coordinate is a length or an angle
//! shows in its name and its use where the scene does not tell.

/// What a coordinate measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    /// A length in metres.
    Length,
    /// An angle in radians.
    Angle,
    /// A number, such as a component of a unit quaternion.
    Number,
}

/// Words that begin the names of angles.
const ANGLES: [&str; 16] = [
    "alpha", "beta", "gamma", "delta", "theta", "phi", "psi", "omega", "chi", "angle", "rotation",
    "tilt", "rot", "varphi", "spin", "yaw",
];

/// What the coordinates of a scene measure.
#[derive(Clone, Debug, Default)]
pub struct Units {
    angles: Vec<String>,
    declared: Vec<(String, String)>,
}

impl Units {
    /// Reads off the text of a scene which of its coordinates are angles: those whose sine or cosine
    /// is taken as they are or in a sum, and those with the name of an angle.
    pub fn of(scene: &str, coordinates: &[String], declared: &[(String, String)]) -> Self {
        let is_angle = |name: &&String| {
            let lower = name.to_lowercase();
            ANGLES.iter().any(|word| lower.starts_with(word)) || in_circular_function(scene, name)
        };
        Self {
            angles: coordinates.iter().filter(is_angle).cloned().collect(),
            declared: declared.to_vec(),
        }
    }

    fn quantity(&self, name: &str) -> Quantity {
        if matches!(name, "qw" | "qx" | "qy" | "qz") {
            Quantity::Number
        } else if matches!(name, "wx" | "wy" | "wz") || self.angles.iter().any(|a| a == name) {
            Quantity::Angle
        } else {
            Quantity::Length
        }
    }

    fn declared(&self, name: &str) -> Option<&str> {
        let found = self.declared.iter().find(|(known, _)| known == name);
        found.map(|(_, unit)| unit.as_str())
    }

    /// Unit of a coordinate.
    pub fn coordinate(&self, name: &str) -> String {
        if let Some(unit) = self.declared(name) {
            return unit.to_string();
        }
        let unit = match self.quantity(name) {
            Quantity::Length => "m",
            Quantity::Angle => "rad",
            Quantity::Number => "1",
        };
        unit.to_string()
    }

    /// Unit of a velocity; components of a spin are called `wx`, `wy`, `wz`.
    pub fn velocity(&self, name: &str) -> String {
        if let Some(unit) = self.declared(&format!("{name}_dot")) {
            return unit.to_string();
        }
        match self.coordinate(name).as_str() {
            "1" => "1/s".to_string(),
            unit => match unit.strip_suffix("/s") {
                Some(unit) => format!("{unit}/s^2"),
                None => format!("{unit}/s"),
            },
        }
    }
}

/// Whether the text holds `sin(...)`, `cos(...)` or `tan(...)` of a sum in which the name stands.
fn in_circular_function(text: &str, name: &str) -> bool {
    ["sin(", "cos(", "tan("].iter().any(|function| {
        text.match_indices(function).any(|(at, _)| {
            let rest = &text[at + function.len()..];
            let argument = &rest[..rest.find(')').unwrap_or(0)];
            // A product or a quotient makes an angle of a length.
            !argument.contains(['*', '/', '('])
                && argument
                    .split(['+', '-', ' '])
                    .any(|word| word.trim() == name)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sines_tell_angles() {
        let names = ["x", "theta1", "a1", "s", "phiM"].map(String::from);
        let text = "l*cos(theta1) + sin(a1 - theta1) + sin(k*x) + sin(s/r)";
        let units = Units::of(text, &names, &[]);
        let found = names.each_ref().map(|name| units.coordinate(name));
        assert_eq!(found, ["m", "rad", "rad", "m", "rad"]);
        assert_eq!(
            [units.velocity("wz"), units.velocity("x")],
            ["rad/s", "m/s"]
        );
        let declared = [("x", "mm"), ("s", "rad/s"), ("a1_dot", "rpm")];
        let declared = declared.map(|(name, unit)| (name.to_string(), unit.to_string()));
        let units = Units::of(text, &names, &declared);
        let found = ["x", "s", "a1"].map(|name| (units.coordinate(name), units.velocity(name)));
        let expected = [("mm", "mm/s"), ("rad/s", "rad/s^2"), ("rad", "rpm")];
        assert_eq!(found, expected.map(|(x, v)| (x.to_string(), v.to_string())));
    }
}
