//! What the guided pages of the laboratory say.

/// A guided page.
pub struct Guide {
    /// Scene of the gallery.
    pub scene: &'static str,
    /// Title of the page.
    pub title: &'static str,
    /// Paragraphs; the first one stands in the index, too.
    pub text: &'static [&'static str],
    /// Map of regimes beside it: two parameters with their ranges.
    pub map: Option<[(&'static str, f64, f64); 2]>,
    /// Gap up to which a contact counts as active in verdicts.
    pub gap: Option<f64>,
}

/// The six guided pages.
pub const GUIDES: [Guide; 6] = [
    Guide {
        scene: "painleve-start",
        title: "Painleve's rod: three futures",
        text: &[
            "A rod slides on its tip. Above a critical friction the same start has three futures: it lifts off, it slides on with a finite force, or it jams.",
            "Lower mu below about 1.35 and the verdict becomes regular: one future. Raise it again and choose one of the solutions; the tree below shows them all.",
            "The map shows where Coulomb's law is regular over angle and friction. Click into it to move the rod there.",
        ],
        map: Some([("theta0", 0.2, 1.5), ("mu", 0.5, 3.0)]),
        gap: Some(1e-3),
    },
    Guide {
        scene: "kane-pendulum",
        title: "Kane's pendulum: friction that gives energy",
        text: &[
            "A double pendulum strikes a rough floor. Newton's restitution with Coulomb's friction leaves it with more kinetic energy than it had.",
            "Watch the ledger at the first instant: the area of the impact turns negative. Choose the impact law fremond, poisson or energetic and it takes energy, as it must.",
            "The paradox needs restitution and friction at once: move either to zero.",
        ],
        map: None,
        gap: None,
    },
    Guide {
        scene: "wedge",
        title: "The wedge: held or not held",
        text: &[
            "A wedge between two walls is pulled upwards. Coulomb's law allows it to stay, squeezed by internal forces, and allows it to leave.",
            "Choose the rule take-off-first and it leaves; least-energy holds it against any pull. Under the generalized law there is one motion only.",
            "Lower the friction below tan 15 degrees, about 0.27: then it cannot be held.",
        ],
        map: None,
        gap: Some(1e-6),
    },
    Guide {
        scene: "tangential-impact",
        title: "The tangential impact: a blow without collision",
        text: &[
            "A rod slides on its tip and nothing approaches, yet no finite force can go on: an impulse stops the slip at once.",
            "The first frame after the start (key →) shows it in purple. Lower mu: the margin to the Painleve region becomes positive and the impulse vanishes.",
            "The law says what happens after; choose another and compare.",
        ],
        map: Some([("angle", 0.6, 1.5), ("mu", 0.5, 3.0)]),
        gap: Some(1e-6),
    },
    Guide {
        scene: "delayed-hopper",
        title: "Delayed chatter: a leg that reacts late",
        text: &[
            "The leg of a hopper pushes with a spring that knows the height only some time later. The delay feeds energy in, and the hops grow.",
            "Shorten tau: the supply in the ledger shrinks, and with it the hops. At zero delay the spring keeps what it is given.",
            "The dashed line is what start and supply give; the areas below it say where it went.",
        ],
        map: None,
        gap: None,
    },
    Guide {
        scene: "elastic-bar",
        title: "The elastic bar: where does the energy of an impact go?",
        text: &[
            "A bar hits a wall. While it stays there a wave runs to its free end and back; then it leaves with the speed it came with.",
            "The contact lasts 2 L/c and the force is constant all the while. Choose the scheme and the impact law and see which of them lose energy at each step.",
            "The mesh is coloured by stress; deformations are enlarged by the slider on the right.",
        ],
        map: None,
        gap: None,
    },
];

#[cfg(test)]
mod tests {
    use super::GUIDES;
    use stickslip::scene::{Scene, find_in_gallery};

    #[test]
    fn guides_name_scenes_and_parameters_that_exist() {
        for guide in &GUIDES {
            let found = find_in_gallery(guide.scene).expect("a scene of the gallery");
            let scene = Scene::read(found.source()).unwrap();
            for (name, from, to) in guide.map.iter().flatten() {
                let known = scene.parameters.iter().find(|(other, _)| other == name);
                let (_, value) = known.expect("a parameter of the scene");
                assert!(from <= value && value <= to, "{} {name}", guide.scene);
            }
            assert!(guide.text.len() > 1 && scene.files().is_empty());
        }
    }
}
