//! The comparison rule: one row per leaf of the expected values.

use serde_json::Value;

use super::{Answer, Case, Quantity};

/// Scale of a quantity that must vanish up to rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundoffRule {
    /// `1e-6 max(1, scale)`, scale the largest velocity or force among the parameters: reference
    /// values of contact mechanics, whose solver noise it covers.
    LargestParameter,
    /// `1e-11 max(1, scale)`, scale the largest number of the innermost group: reference values of schemes.
    InnermostGroup,
}

/// Compares an answer with the expected values of a case.
pub(super) fn compare(case: &Case, answer: &Answer, rule: RoundoffRule) -> Vec<Quantity> {
    let mut walk = Walk {
        case,
        rule,
        rows: Vec::new(),
    };
    walk.visit("", &case.expected, Some(answer), &case.expected);
    walk.rows
}

struct Walk<'a> {
    case: &'a Case,
    rule: RoundoffRule,
    rows: Vec<Quantity>,
}

impl Walk<'_> {
    /// Visits the node `path`; `innermost` is the group that holds it.
    fn visit(&mut self, path: &str, expected: &Value, answer: Option<&Answer>, innermost: &Value) {
        let tol = &self.case.tol;
        if matches(&tol.skip, path) || matches(&self.case.given, path) {
            return;
        }
        if let Some(Answer::NotComputed(reason)) = answer {
            self.fail(path, expected, answer, reason.clone());
            return;
        }
        match expected {
            Value::Object(entries) => {
                for (name, value) in entries {
                    let child = answer.and_then(|answer| answer.get(name));
                    self.visit(&join(path, name), value, child, expected);
                }
            }
            Value::Array(items) => match answer {
                Some(Answer::List(found)) if found.len() == items.len() => {
                    for (i, (value, child)) in items.iter().zip(found).enumerate() {
                        self.visit(&join(path, &i.to_string()), value, Some(child), innermost);
                    }
                }
                Some(Answer::List(found)) => {
                    let note = format!(
                        "a list of {} instead of {} entries",
                        found.len(),
                        items.len()
                    );
                    self.fail(path, expected, answer, note);
                }
                _ => self.missing(path, expected, answer, "a list"),
            },
            Value::Null => match answer {
                None | Some(Answer::Absent) => {}
                Some(_) => self.fail(path, expected, answer, "not applicable".into()),
            },
            Value::Bool(flag) => match answer {
                Some(Answer::Flag(found)) => self.word(path, expected, answer, found == flag),
                _ => self.missing(path, expected, answer, "a flag"),
            },
            Value::String(word) => match (word.as_str(), answer) {
                ("+inf", Some(Answer::Number(x))) => {
                    self.word(path, expected, answer, *x == f64::INFINITY)
                }
                ("-inf", Some(Answer::Number(x))) => {
                    self.word(path, expected, answer, *x == f64::NEG_INFINITY)
                }
                (word, Some(Answer::Word(found))) => {
                    self.word(path, expected, answer, found == word)
                }
                _ => self.missing(path, expected, answer, "a word"),
            },
            Value::Number(number) => {
                // Every JSON number of the parser has a value as f64.
                let x = number.as_f64().unwrap_or(f64::NAN);
                match answer {
                    Some(Answer::Number(found)) => self.number(path, x, *found, innermost),
                    _ => self.missing(path, expected, answer, "a number"),
                }
            }
        }
    }

    fn number(&mut self, path: &str, x: f64, found: f64, innermost: &Value) {
        let tol = &self.case.tol;
        let (error, tolerance) = if matches(&tol.roundoff, path) {
            let (unit, scale) = match self.rule {
                RoundoffRule::LargestParameter => (1e-6, parameter_scale(&self.case.params)),
                RoundoffRule::InnermostGroup => (1e-11, largest(innermost)),
            };
            (found.abs() / scale.max(1.0), unit)
        } else {
            let error = (found - x).abs() / x.abs().max(1.0);
            (error, tolerance(&tol.keys, path).unwrap_or(tol.default))
        };
        self.rows.push(Quantity {
            name: path.to_string(),
            computed: Answer::Number(found).to_json(),
            expected: x.into(),
            error: Some(error).filter(|e| e.is_finite()),
            tolerance: Some(tolerance),
            // A NaN does not pass.
            pass: error <= tolerance,
            note: None,
        });
    }

    fn word(&mut self, path: &str, expected: &Value, answer: Option<&Answer>, pass: bool) {
        self.rows.push(Quantity {
            name: path.to_string(),
            computed: answer.map_or(Value::Null, Answer::to_json),
            expected: expected.clone(),
            error: None,
            tolerance: None,
            pass,
            note: None,
        });
    }

    fn missing(&mut self, path: &str, expected: &Value, answer: Option<&Answer>, what: &str) {
        let note = match answer {
            None | Some(Answer::Absent) => "not computed".to_string(),
            Some(_) => format!("not {what}"),
        };
        self.fail(path, expected, answer, note);
    }

    fn fail(&mut self, path: &str, expected: &Value, answer: Option<&Answer>, note: String) {
        self.word(path, expected, answer, false);
        if let Some(row) = self.rows.last_mut() {
            row.note = Some(note);
        }
    }
}

fn join(path: &str, segment: &str) -> String {
    if path.is_empty() {
        segment.to_string()
    } else {
        format!("{path}.{segment}")
    }
}

/// Whether `prefix` covers `path` by whole segments.
fn covers(prefix: &str, path: &str) -> bool {
    path.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn matches(prefixes: &[String], path: &str) -> bool {
    !path.is_empty() && prefixes.iter().any(|prefix| covers(prefix, path))
}

/// Tolerance of the longest prefix that covers the path.
fn tolerance(keys: &std::collections::BTreeMap<String, f64>, path: &str) -> Option<f64> {
    keys.iter()
        .filter(|(prefix, _)| covers(prefix, path))
        .max_by_key(|(prefix, _)| prefix.len())
        .map(|(_, &t)| t)
}

/// Largest absolute number of the velocities and forces among the parameters.
fn parameter_scale(params: &Value) -> f64 {
    ["v_minus", "force", "v", "V", "qdot_minus", "u_minus"]
        .iter()
        .filter_map(|name| params.get(*name))
        .map(largest)
        .fold(0.0, f64::max)
}

/// Largest absolute number of a value, its lists included, groups inside it excluded.
fn largest(value: &Value) -> f64 {
    fn of(value: &Value) -> f64 {
        match value {
            Value::Number(number) => number.as_f64().unwrap_or(0.0).abs(),
            Value::Array(items) => items.iter().map(of).fold(0.0, f64::max),
            _ => 0.0,
        }
    }
    match value {
        Value::Object(entries) => entries.values().map(of).fold(0.0, f64::max),
        other => of(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn case(expected: Value, tol: Value) -> Case {
        serde_json::from_value(json!({"id": "x", "family": "f", "params": {"v": [50.0]},
            "expected": expected, "tol": tol}))
        .unwrap()
    }

    fn verdicts(case: &Case, answer: Answer) -> Vec<(String, bool)> {
        compare(case, &answer, RoundoffRule::LargestParameter)
            .into_iter()
            .map(|row| (row.name, row.pass))
            .collect()
    }

    #[test]
    fn skip_then_roundoff_then_longest_prefix_then_default() {
        let case = case(
            json!({"a": [1.0, 1.0], "b": {"c": 1.0, "d": 0.0}, "a1": 1.0}),
            json!({"default": 1e-8, "keys": {"a": 1e-2, "a.1": 1e-4}, "skip": ["b.c"], "roundoff": ["b.d"]}),
        );
        let answer = group! {
            "a" => [1.001, 1.001],
            "b" => group! { "c" => 7.0, "d" => 4e-5 },
            "a1" => 1.001,
        };
        let expected = [("a.0", true), ("a.1", false), ("a1", false), ("b.d", true)];
        let found = verdicts(&case, answer);
        assert_eq!(
            found,
            expected
                .map(|(name, pass)| (name.to_string(), pass))
                .to_vec()
        );
    }

    #[test]
    fn tolerance_is_relative_to_large_numbers_only() {
        let case = case(
            json!({"large": 1e6, "small": 1e-6}),
            json!({"default": 1e-8}),
        );
        let answer = group! { "large" => 1e6 + 9e-3, "small" => 1e-6 + 9e-9 };
        assert!(verdicts(&case, answer).iter().all(|(_, pass)| *pass));
    }

    #[test]
    fn words_lists_infinities_and_nothing_must_agree() {
        let case = case(
            json!({"list": [1.0], "word": "slip", "top": "+inf", "none": null, "flag": true, "gone": 1.0}),
            json!({}),
        );
        let good = group! {
            "list" => [1.0], "word" => "slip", "top" => f64::INFINITY, "flag" => true, "gone" => 1.0
        };
        assert!(verdicts(&case, good).iter().all(|(_, pass)| *pass));
        let bad = group! {
            "list" => [1.0, 2.0], "word" => "stick", "top" => 1e300, "none" => 1.0, "flag" => false,
            "gone" => f64::NAN
        };
        let found = verdicts(&case, bad);
        assert_eq!(found.len(), 6);
        assert!(found.iter().all(|(_, pass)| !pass));
        assert_eq!(
            verdicts(&case, group! {})
                .iter()
                .filter(|(_, p)| !p)
                .count(),
            5
        );
    }
}
