//! The nearest known name to a misspelt one.

/// The candidate closest to `name` in edit distance, if it is close enough to be a likely
/// misspelling: at most a third of the letters wrong (at least one allowed).
///
/// Ties go to the first candidate. Names longer than 64 bytes are never matched, so that the cost
/// stays bounded.
#[must_use]
pub fn nearest_name<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    const LENGTH_MAX: usize = 64;
    if name.is_empty() || name.len() > LENGTH_MAX {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    let length = name.chars().count();
    for candidate in candidates.into_iter().filter(|c| c.len() <= LENGTH_MAX) {
        let other = candidate.chars().count();
        let longest = length.max(other);
        let allowed = (longest / 3).max(1);
        // No word is nearer than the lengths differ: a file full of mistakes is compared with few.
        if length.abs_diff(other) > allowed {
            continue;
        }
        let distance = edit_distance(name, candidate);
        // A one-letter name is one substitution from every other: only its other case helps.
        let plausible = longest > 1 || name.eq_ignore_ascii_case(candidate);
        if plausible && distance <= allowed && best.is_none_or(|(d, _)| distance < d) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Optimal string alignment distance: insertions, deletions, substitutions and swaps of
/// neighbours; a change of case alone is free, so that `Theta` finds `theta` first.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().map(|c| c.to_ascii_lowercase()).collect();
    let b: Vec<char> = b.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut before = vec![0; b.len() + 1];
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut current = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let substitution = previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut distance = substitution.min(previous[j] + 1).min(current[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                distance = distance.min(before[j - 2] + 1);
            }
            current[j] = distance;
        }
        before = std::mem::replace(&mut previous, current);
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_the_four_kinds_of_slip() {
        assert_eq!(edit_distance("theta", "theta"), 0);
        assert_eq!(edit_distance("thta", "theta"), 1);
        assert_eq!(edit_distance("theeta", "theta"), 1);
        assert_eq!(edit_distance("thexa", "theta"), 1);
        assert_eq!(edit_distance("thtea", "theta"), 1);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }

    #[test]
    fn only_plausible_names_are_suggested() {
        let known = ["restitution", "friction", "gap", "x"];
        assert_eq!(nearest_name("restitutoin", known), Some("restitution"));
        assert_eq!(nearest_name("Friction", known), Some("friction"));
        assert_eq!(nearest_name("gpa", known), Some("gap"));
        assert_eq!(nearest_name("banana", known), None);
        assert_eq!(nearest_name("y", known), None);
        assert_eq!(nearest_name("X", known), Some("x"));
        assert_eq!(nearest_name("", known), None);
    }
}
