//! Numbers as people write them: 2.846 kPa, 12,000 steps, 3·10⁻¹² beside a residual.

/// Prefixes of units.
const PREFIXES: [(f64, &str); 7] = [
    (1e9, "G"),
    (1e6, "M"),
    (1e3, "k"),
    (1.0, ""),
    (1e-3, "m"),
    (1e-6, "μ"),
    (1e-9, "n"),
];

/// Power of ten and sign of the prefix with which a value of this unit is written: 2846 Pa are 2.846 kPa, and 0.25 m stay as they
/// are. Angles, pure numbers and powers of units have none.
pub fn prefix(value: f64, unit: &str) -> (f64, &'static str) {
    let size = value.abs();
    if (0.1..999.95).contains(&size) || !takes_prefix(unit) || size > 1e12 {
        return (1.0, "");
    }
    let found = PREFIXES.iter().find(|(factor, _)| size >= 0.99995 * factor);
    // Zero, and what is smaller than any prefix, is written as it is.
    found.copied().unwrap_or((1.0, ""))
}

/// Whether the first unit of a product or quotient takes a prefix.
fn takes_prefix(unit: &str) -> bool {
    let first = unit.split([' ', '/', '*', '·']).next().unwrap_or_default();
    matches!(first, "m" | "s" | "g" | "N" | "Pa" | "J" | "W")
}

/// A value with its unit: four significant digits and a prefix.
pub fn quantity(value: f64, unit: &str) -> String {
    let (factor, sign) = prefix(value, unit);
    format!("{} {sign}{unit}", digits(value / factor, 4))
}

/// A time of a run, with as many digits as a run of this length needs.
pub fn time(t: f64, end: f64) -> String {
    let (factor, sign) = prefix(end, "s");
    format!("{} {sign}s", digits(t / factor, 4))
}

/// Five significant digits, without superfluous zeros.
pub fn number(value: f64) -> String {
    digits(value, 5)
}

/// A number that can be typed again as it stands: 0.00012, 3e-5.
pub fn typed(value: f64, significant: usize) -> String {
    let more = significant.saturating_sub(1);
    let text = format!("{value:.more$e}");
    // What was just written is a number.
    let rounded: f64 = text.parse().unwrap_or(value);
    if rounded == 0.0 || (1e-4..1e6).contains(&rounded.abs()) {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}

/// A number of things, in groups of three digits: 12,000.
pub fn count(value: usize) -> String {
    grouped(&value.to_string())
}

/// As many significant digits, without superfluous zeros; as a power of ten where it is very large or very small.
pub fn digits(value: f64, significant: usize) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    let size = value.abs();
    let more = significant.saturating_sub(1);
    if !(1e-3..1e6).contains(&size) {
        let text = format!("{value:.more$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return power(trimmed(mantissa), exponent);
    }
    let decimals = (more as i32 - size.log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    grouped(trimmed(&text))
}

/// A power of ten: 3·10⁻⁵, or 10⁻⁵ alone for a mantissa of one.
pub fn power(mantissa: &str, exponent: &str) -> String {
    let raised: String = exponent
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            c => c.to_digit(10).map_or(c, |d| {
                // The raised digits 0 and 4 to 9 follow each other.
                char::from_u32(0x2070 + d).unwrap_or(c)
            }),
        })
        .collect();
    match mantissa {
        "1" => format!("10{raised}"),
        "-1" => format!("-10{raised}"),
        mantissa => format!("{mantissa}·10{raised}"),
    }
}

fn trimmed(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

/// Commas between groups of three digits before the point, from five digits on.
pub fn grouped(text: &str) -> String {
    let (whole, rest) = match text.find('.') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let (sign, whole) = match whole.strip_prefix('-') {
        Some(whole) => ("-", whole),
        None => ("", whole),
    };
    if whole.len() < 5 {
        return text.to_string();
    }
    let mut out = String::new();
    for (k, c) in whole.chars().enumerate() {
        if k > 0 && (whole.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    format!("{sign}{out}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_the_prefix_people_use() {
        let cases = [
            (2846.0, "Pa", "2.846 kPa"),
            (0.0021, "m", "2.1 mm"),
            (1.0, "J", "1 J"),
            (999.9, "N", "999.9 N"),
            (3e7, "N s", "30 MN s"),
            (-4e-7, "m/s", "-400 nm/s"),
            (0.25, "m", "0.25 m"),
            (0.05, "J", "50 mJ"),
            (0.0, "J", "0 J"),
            (0.0021, "rad", "0.0021 rad"),
            (0.5, "1/s", "0.5 1/s"),
            (0.002, "m^2", "0.002 m^2"),
            (1e-15, "J", "10⁻¹⁵ J"),
            (999.99, "J", "1 kJ"),
        ];
        for (value, unit, expected) in cases {
            assert_eq!(quantity(value, unit), expected);
        }
        assert_eq!(time(0.0004, 0.002), "0.4 ms");
        assert_eq!(time(0.25, 2.0), "0.25 s");
    }

    #[test]
    fn typed_numbers_can_be_typed_again() {
        let texts = [0.0, 0.12, 0.00012345, 2.5e-5, -3e7, 1.0 / 3.0, f64::NAN].map(|x| typed(x, 3));
        let expected = ["0", "0.12", "0.000123", "2.5e-5", "-3e7", "0.333", "NaN"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn numbers_are_short() {
        let texts = [0.0, 1.0, 0.25, 123.456789, 1e-7, -2.5e8, 12345.6, -654321.0].map(number);
        let expected = [
            "0",
            "1",
            "0.25",
            "123.46",
            "10⁻⁷",
            "-2.5·10⁸",
            "12,346",
            "-654,321",
        ];
        assert_eq!(texts, expected);
        assert_eq!(
            [count(999), count(9999), count(1_234_567)],
            ["999", "9999", "1,234,567"]
        );
    }
}
