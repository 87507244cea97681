//! Friction sections as outlines.

use serde::Serialize;

use crate::laws::FrictionSection;

/// The sliding part of a friction section: tangential impulses per unit normal impulse.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ViewSection {
    /// Coefficient of a disc or a symmetric segment; none for other sets.
    pub mu: Option<f64>,
    /// Corners along the tangents: two ends with one tangent, a closed outline with two. Empty without friction.
    pub outline: Vec<[f64; 2]>,
}

/// Directions in which an outline is looked at.
const DIRECTIONS: usize = 48;

impl ViewSection {
    /// The outline of a section. With rolling or drilling, the part that slides.
    #[must_use]
    pub fn of(section: &FrictionSection) -> Self {
        let dimension = section.dimension();
        let mu = match section {
            FrictionSection::Disc { mu, .. } => Some(*mu),
            _ => None,
        };
        if dimension == 0 || !section.is_bounded() {
            return Self::default();
        }
        let mut direction = vec![0.0; dimension];
        let mut point = vec![0.0; dimension];
        let mut outline: Vec<[f64; 2]> = Vec::new();
        if dimension == 1 {
            for side in [-1.0, 1.0] {
                direction[0] = side;
                section.support_point(&direction, &mut point);
                outline.push([point[0], 0.0]);
            }
            return Self { mu, outline };
        }
        for k in 0..DIRECTIONS {
            let angle = std::f64::consts::TAU * k as f64 / DIRECTIONS as f64;
            (direction[1], direction[0]) = angle.sin_cos();
            section.support_point(&direction, &mut point);
            let corner = [point[0], point[1]];
            // A polygon answers with the same corner in many directions.
            if outline.last() != Some(&corner) {
                outline.push(corner);
            }
        }
        if outline.len() > 1 && outline.first() == outline.last() {
            outline.pop();
        }
        Self { mu, outline }
    }
}

/// Distinct sections, found again by their outlines.
#[derive(Clone, Debug, Default)]
pub(super) struct SectionTable {
    pub sections: Vec<ViewSection>,
}

impl SectionTable {
    /// The number of a section. Those that vary differ from frame to frame, so the latest is looked at first.
    pub fn number(&mut self, section: &FrictionSection) -> u32 {
        let section = ViewSection::of(section);
        let known = self.sections.iter().rposition(|other| *other == section);
        let number = known.unwrap_or_else(|| {
            self.sections.push(section);
            self.sections.len() - 1
        });
        number as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_have_the_corners_of_their_sets() {
        let section = FrictionSection::interval(-0.2, 0.5).unwrap();
        assert_eq!(ViewSection::of(&section).outline, [[-0.2, 0.0], [0.5, 0.0]]);
        let square = [[0.3, 0.3], [-0.3, 0.3], [-0.3, -0.3], [0.3, -0.3]];
        let polygon = FrictionSection::polytope(&square.map(|p| p.to_vec())).unwrap();
        let mut outline = ViewSection::of(&polygon).outline;
        outline.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        outline.dedup();
        assert_eq!(
            outline,
            [[-0.3, -0.3], [-0.3, 0.3], [0.3, -0.3], [0.3, 0.3]]
        );
        // A disc of radius 0.4 beside a rolling part: the disc.
        let disc = FrictionSection::disc(0.4).unwrap();
        let rolling = FrictionSection::disc(0.01).unwrap();
        let both = FrictionSection::product(vec![disc.clone(), rolling]).unwrap();
        for section in [disc, both] {
            let outline = ViewSection::of(&section).outline;
            assert_eq!(outline.len(), DIRECTIONS);
            assert!(
                outline
                    .iter()
                    .all(|p| (p[0].hypot(p[1]) - 0.4).abs() < 1e-12)
            );
        }
        let mut table = SectionTable::default();
        let disc = |mu| FrictionSection::disc(mu).unwrap();
        assert_eq!([0.4, 0.5, 0.4].map(|mu| table.number(&disc(mu))), [0, 1, 0]);
    }
}
