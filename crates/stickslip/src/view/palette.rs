//! Colours and marks of every picture: plots, page, notebooks, ParaView.
//!
//! This is the one table. The page imports it as `viewer/src/palette.json`, which a test keeps equal to [`palette_json`];
//! `stickslip export` writes it as a preset for ParaView. What colours tell is told by a second sign as well: dashes of
//! lines, hatches of areas, lightness of fields.

use std::fmt::Write as _;

/// A colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

impl Colour {
    /// Black.
    pub const BLACK: Self = Self(0, 0, 0);
    /// White.
    pub const WHITE: Self = Self(255, 255, 255);
    /// Axes and labels.
    pub const INK: Self = Self(40, 40, 40);
    /// Grid lines.
    pub const GRID: Self = Self(225, 225, 225);
    /// What stays in the background.
    pub const FAINT: Self = Self(150, 150, 150);

    /// The colour as `#rrggbb`.
    #[must_use]
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// A mixture with another colour, of which `share` is taken.
    #[must_use]
    pub fn mixed(self, other: Self, share: f64) -> Self {
        let mix =
            |a: u8, b: u8| (f64::from(a) + share * (f64::from(b) - f64::from(a))).round() as u8;
        Self(
            mix(self.0, other.0),
            mix(self.1, other.1),
            mix(self.2, other.2),
        )
    }
}

/// Pattern of an area, so that areas differ without colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hatch {
    /// Lines like `/`.
    Rising,
    /// Lines like `\`.
    Falling,
    /// Upright lines.
    Vertical,
    /// Level lines.
    Horizontal,
    /// Both diagonals.
    Cross,
    /// Dots on a grid.
    Dots,
}

impl Hatch {
    /// Its name in files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Rising => "rising",
            Self::Falling => "falling",
            Self::Vertical => "vertical",
            Self::Horizontal => "horizontal",
            Self::Cross => "cross",
            Self::Dots => "dots",
        }
    }
}

/// How a state of a contact is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModeMark {
    /// Its name.
    pub name: &'static str,
    /// Colour of its force.
    pub colour: Colour,
    /// Dashes and holes of its line; unbroken if empty.
    pub dash: &'static [f64],
}

/// The states of a contact, by the numbers of the records: open, stick, slip, closed without friction.
pub const MODES: [ModeMark; 4] = [
    ModeMark {
        name: "open",
        colour: Colour(138, 138, 138),
        dash: &[1.5, 2.5],
    },
    ModeMark {
        name: "sticks",
        colour: Colour(0, 114, 178),
        dash: &[],
    },
    ModeMark {
        name: "slips",
        colour: Colour(213, 94, 0),
        dash: &[5.0, 2.5],
    },
    ModeMark {
        name: "without friction",
        colour: Colour(0, 128, 96),
        dash: &[8.0, 2.0, 2.0, 2.0],
    },
];

/// Impacts: impulses of an instant.
pub const IMPACT: Colour = Colour(170, 68, 128);

/// Curves, in turn: colours that people with common kinds of colour blindness can tell apart, and dashes.
pub const CURVES: [(Colour, &[f64]); 8] = [
    (Colour(0, 114, 178), &[]),
    (Colour(213, 94, 0), &[8.0, 4.0]),
    (Colour(0, 128, 96), &[2.5, 3.0]),
    (Colour(170, 68, 128), &[10.0, 3.5, 2.5, 3.5]),
    (Colour(20, 20, 20), &[15.0, 5.0]),
    (Colour(200, 140, 0), &[5.0, 2.5]),
    (Colour(60, 150, 200), &[10.0, 3.0, 2.5, 3.0, 2.5, 3.0]),
    (Colour(120, 120, 120), &[1.5, 1.5]),
];

/// A layer of the energy ledger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LedgerTerm {
    /// What it is.
    pub label: &'static str,
    /// Columns of the trajectory whose sum it is; works of the account count as what they took.
    pub columns: &'static [&'static str],
    /// Colour of its lines, or of the whole area without a hatch.
    pub colour: Colour,
    /// Colour between the lines.
    pub ground: Colour,
    /// Pattern.
    pub hatch: Option<Hatch>,
}

/// The layers of the energy ledger, from below.
pub const LEDGER: [LedgerTerm; 6] = [
    LedgerTerm {
        label: "kinetic",
        columns: &["kinetic"],
        colour: Colour(0, 114, 178),
        ground: Colour(120, 180, 220),
        hatch: None,
    },
    LedgerTerm {
        label: "potential (from its least)",
        columns: &["potential"],
        colour: Colour(120, 70, 0),
        ground: Colour(250, 225, 170),
        hatch: Some(Hatch::Horizontal),
    },
    LedgerTerm {
        label: "taken by friction",
        columns: &["energy.contact_tangential"],
        colour: Colour(213, 94, 0),
        ground: Colour(245, 200, 175),
        hatch: Some(Hatch::Rising),
    },
    LedgerTerm {
        label: "taken by impacts (normal)",
        columns: &["energy.contact_normal"],
        colour: Colour(170, 68, 128),
        ground: Colour(236, 212, 226),
        hatch: Some(Hatch::Falling),
    },
    LedgerTerm {
        label: "taken by damping",
        columns: &["energy.damping"],
        colour: Colour(0, 100, 70),
        ground: Colour(205, 235, 220),
        hatch: Some(Hatch::Dots),
    },
    LedgerTerm {
        label: "taken by the scheme",
        columns: &[
            "energy.numerical_mass",
            "energy.numerical_stiffness",
            "energy.potential_defect",
            "energy.covariant_defect",
            "energy.projection",
        ],
        colour: Colour(70, 70, 70),
        ground: Colour(218, 218, 218),
        hatch: Some(Hatch::Cross),
    },
];

/// Works that enter from outside: with the energy at the start they are what the ledger adds up to.
pub const SUPPLIES: [&str; 3] = ["energy.external", "energy.joints", "energy.supports"];

/// Areas of maps, in turn: colour of the lines, colour between them, pattern.
pub const AREAS: [(Colour, Colour, Option<Hatch>); 8] = [
    (Colour(0, 114, 178), Colour(120, 180, 220), None),
    (
        Colour(120, 70, 0),
        Colour(250, 225, 170),
        Some(Hatch::Horizontal),
    ),
    (
        Colour(150, 50, 0),
        Colour(245, 200, 175),
        Some(Hatch::Rising),
    ),
    (
        Colour(60, 60, 60),
        Colour(215, 215, 215),
        Some(Hatch::Cross),
    ),
    (
        Colour(0, 100, 70),
        Colour(205, 235, 220),
        Some(Hatch::Falling),
    ),
    (
        Colour(110, 30, 80),
        Colour(238, 215, 230),
        Some(Hatch::Dots),
    ),
    (
        Colour(40, 40, 40),
        Colour(255, 255, 255),
        Some(Hatch::Vertical),
    ),
    (Colour(60, 60, 60), Colour(130, 130, 130), None),
];

/// Verdicts on a contact problem, with the number of their area in [`AREAS`].
pub const REGIMES: [(&str, usize); 6] = [
    ("regular", 4),
    ("indeterminate", 1),
    ("indeterminate, may jam", 2),
    ("inconsistent", 5),
    ("inconsistent, jams", 3),
    ("no solution found", 7),
];

/// Bodies that forces move: kinds of light blue, which leave the marks of contacts alone.
pub const BODIES: [Colour; 5] = [
    Colour(159, 184, 214),
    Colour(185, 203, 224),
    Colour(138, 166, 200),
    Colour(201, 213, 228),
    Colour(169, 191, 217),
];

/// Bodies that stand still or are driven.
pub const HELD: Colour = Colour(196, 187, 168);

/// Fields, from the least to the largest value: evenly lighter, also for those who do not see colours (nine colours of viridis).
pub const RAMP: [Colour; 9] = [
    Colour(68, 1, 84),
    Colour(71, 45, 123),
    Colour(59, 82, 139),
    Colour(44, 114, 142),
    Colour(33, 145, 140),
    Colour(40, 174, 128),
    Colour(94, 201, 98),
    Colour(173, 220, 48),
    Colour(253, 231, 37),
];

/// Colour of a share of the largest value of a field.
#[must_use]
pub fn ramp(share: f64) -> Colour {
    let last = RAMP.len() - 1;
    let place = share.clamp(0.0, 1.0) * last as f64;
    let k = (place as usize).min(last - 1);
    RAMP[k].mixed(RAMP[k + 1], place - k as f64)
}

/// The table as the page reads it.
#[must_use]
pub fn palette_json() -> String {
    let texts = |words: &[&str]| {
        let all: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        all.join(", ")
    };
    let colours = |all: &[Colour]| {
        let all: Vec<String> = all
            .iter()
            .map(|colour| format!("\"{}\"", colour.hex()))
            .collect();
        all.join(", ")
    };
    let area = |colour: Colour, ground: Colour, hatch: Option<Hatch>| {
        let hatch = hatch.map_or("", Hatch::word);
        format!(
            "\"colour\": \"{}\", \"ground\": \"{}\", \"hatch\": \"{hatch}\"",
            colour.hex(),
            ground.hex()
        )
    };
    let block = |rows: Vec<String>| format!("[\n    {}\n  ]", rows.join(",\n    "));
    let modes = MODES.map(|mode| {
        let (name, colour, dash) = (mode.name, mode.colour.hex(), mode.dash);
        format!("{{ \"name\": \"{name}\", \"colour\": \"{colour}\", \"dash\": {dash:?} }}")
    });
    let curves = CURVES.map(|(colour, dash)| {
        format!("{{ \"colour\": \"{}\", \"dash\": {dash:?} }}", colour.hex())
    });
    let ledger = LEDGER.map(|term| {
        let (label, columns) = (term.label, texts(term.columns));
        let area = area(term.colour, term.ground, term.hatch);
        format!("{{ \"label\": \"{label}\", \"columns\": [{columns}], {area} }}")
    });
    let areas =
        AREAS.map(|(colour, ground, hatch)| format!("{{ {} }}", area(colour, ground, hatch)));
    let mut out = String::from("{\n");
    // Writing to a string does not fail.
    let _ = writeln!(out, "  \"modes\": {},", block(modes.to_vec()));
    let _ = writeln!(out, "  \"impact\": \"{}\",", IMPACT.hex());
    let _ = writeln!(out, "  \"curves\": {},", block(curves.to_vec()));
    let _ = writeln!(out, "  \"ledger\": {},", block(ledger.to_vec()));
    let _ = writeln!(out, "  \"supplies\": [{}],", texts(&SUPPLIES));
    let _ = writeln!(out, "  \"areas\": {},", block(areas.to_vec()));
    let regimes = REGIMES.map(|(word, k)| format!("\"{word}\": {k}"));
    let _ = writeln!(out, "  \"regimes\": {{ {} }},", regimes.join(", "));
    let _ = writeln!(out, "  \"bodies\": [{}],", colours(&BODIES));
    let _ = writeln!(out, "  \"held\": \"{}\",", HELD.hex());
    let _ = writeln!(out, "  \"ramp\": [{}]", colours(&RAMP));
    out + "}\n"
}

/// The table as presets of ParaView (its colour map editor, Choose Preset, Import): states of contacts and fields.
#[must_use]
pub fn paraview_presets() -> String {
    let share = |byte: u8| format!("{:.4}", f64::from(byte) / 255.0);
    let rgb = |c: Colour| format!("{}, {}, {}", share(c.0), share(c.1), share(c.2));
    let (mut names, mut colours) = (Vec::new(), Vec::new());
    for (k, mode) in MODES.iter().enumerate() {
        names.push(format!("\"{k}\", \"{}\"", mode.name));
        colours.push(rgb(mode.colour));
    }
    let last = (RAMP.len() - 1) as f64;
    let points = RAMP
        .iter()
        .enumerate()
        .map(|(k, c)| format!("{:.4}, {}", k as f64 / last, rgb(*c)));
    let points: Vec<String> = points.collect();
    format!(
        "[\n  {{ \"Name\": \"stickslip states of contacts\", \"Annotations\": [{}], \"IndexedColors\": [{}] }},\n  \
         {{ \"Name\": \"stickslip fields\", \"ColorSpace\": \"RGB\", \"RGBPoints\": [{}] }}\n]\n",
        names.join(", "),
        colours.join(", "),
        points.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_same_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../viewer/src/palette.json");
        // The page is built by other tools from a copy, which this test writes where it is asked to.
        if std::env::var_os("STICKSLIP_WRITE_PALETTE").is_some() {
            std::fs::write(path, palette_json()).unwrap();
        }
        let kept = std::fs::read_to_string(path).unwrap();
        assert_eq!(
            kept,
            palette_json(),
            "run this test with STICKSLIP_WRITE_PALETTE=1, then build the page"
        );
    }

    #[test]
    fn what_colours_tell_is_told_a_second_time() {
        for (k, mode) in MODES.iter().enumerate() {
            for other in &MODES[..k] {
                assert!(mode.dash != other.dash && mode.colour != other.colour);
            }
        }
        for (k, term) in LEDGER.iter().enumerate() {
            assert!(LEDGER[..k].iter().all(|other| other.hatch != term.hatch));
        }
        // A field grows lighter with its value.
        let light =
            |c: Colour| 0.2126 * f64::from(c.0) + 0.7152 * f64::from(c.1) + 0.0722 * f64::from(c.2);
        for k in 0..40 {
            assert!(light(ramp((f64::from(k) + 1.0) / 40.0)) > light(ramp(f64::from(k) / 40.0)));
        }
        assert_eq!(
            [ramp(-1.0), ramp(0.5), ramp(2.0)],
            [RAMP[0], RAMP[4], RAMP[8]]
        );
    }

    #[test]
    fn presets_are_json_with_a_colour_for_every_state() {
        let presets: serde_json::Value = serde_json::from_str(&paraview_presets()).unwrap();
        assert_eq!(
            presets[0]["IndexedColors"].as_array().unwrap().len(),
            3 * MODES.len()
        );
        assert_eq!(
            presets[0]["Annotations"].as_array().unwrap().len(),
            2 * MODES.len()
        );
        assert_eq!(
            presets[1]["RGBPoints"].as_array().unwrap().len(),
            4 * RAMP.len()
        );
    }
}
