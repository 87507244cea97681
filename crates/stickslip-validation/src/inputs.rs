//! Typed reading of the inputs of a case.

use serde_json::Value;

use stickslip::algebra::SymmetricMatrix;

use super::CaseError;

/// What a family may read: the parameters and the rows of `expected` that are marked as inputs.
#[derive(Clone, Copy, Debug)]
pub struct CaseInput<'a> {
    /// `params`.
    pub params: Inputs<'a>,
    /// The part of `expected` below the paths of `given` (and of `tol.skip`, where queries such as
    /// the direction of a support function are kept); everything else is pruned.
    pub given: Inputs<'a>,
}

/// A JSON value with readers that name what is missing.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    value: &'a Value,
}

impl<'a> Inputs<'a> {
    /// Wraps a value.
    pub fn new(value: &'a Value) -> Self {
        Self { value }
    }

    /// The entry behind a dotted path, if it is there and not null.
    pub fn find(&self, path: &str) -> Option<&'a Value> {
        lookup(self.value, path).filter(|value| !value.is_null())
    }

    fn require(&self, path: &str) -> Result<&'a Value, CaseError> {
        self.find(path).ok_or_else(|| CaseError::MissingParameter {
            name: path.to_string(),
        })
    }

    /// Whether an entry is there.
    pub fn has(&self, path: &str) -> bool {
        self.find(path).is_some()
    }

    /// The group or row behind a path.
    pub fn at(&self, path: &str) -> Result<Inputs<'a>, CaseError> {
        Ok(Inputs::new(self.require(path)?))
    }

    /// The rows of a list.
    pub fn rows(&self, path: &str) -> Result<Vec<Inputs<'a>>, CaseError> {
        let value = self.require(path)?;
        let items = value
            .as_array()
            .ok_or_else(|| bad(path, value, "a list of rows"))?;
        Ok(items.iter().map(Inputs::new).collect())
    }

    /// A number; exact rationals may be written as text, `"3/4"`.
    pub fn number(&self, path: &str) -> Result<f64, CaseError> {
        let value = self.require(path)?;
        number(value).ok_or_else(|| bad(path, value, "a finite number"))
    }

    /// A number, or the default where it is absent.
    pub fn number_or(&self, path: &str, default: f64) -> Result<f64, CaseError> {
        self.find(path).map_or(Ok(default), |_| self.number(path))
    }

    /// Several numbers.
    pub fn each<const N: usize>(&self, paths: [&str; N]) -> Result<[f64; N], CaseError> {
        let mut numbers = [0.0; N];
        for (number, path) in numbers.iter_mut().zip(paths) {
            *number = self.number(path)?;
        }
        Ok(numbers)
    }

    /// A nonnegative integer.
    pub fn count(&self, path: &str) -> Result<usize, CaseError> {
        let value = self.require(path)?;
        let x = number(value).ok_or_else(|| bad(path, value, "a whole number"))?;
        if x >= 0.0 && x.fract() == 0.0 && x < 1e9 {
            Ok(x as usize)
        } else {
            Err(bad(path, value, "a whole number below 1e9"))
        }
    }

    /// A word.
    pub fn word(&self, path: &str) -> Result<&'a str, CaseError> {
        let value = self.require(path)?;
        value.as_str().ok_or_else(|| bad(path, value, "a word"))
    }

    /// A list of numbers.
    pub fn numbers(&self, path: &str) -> Result<Vec<f64>, CaseError> {
        let value = self.require(path)?;
        numbers(value).ok_or_else(|| bad(path, value, "a list of finite numbers"))
    }

    /// A number or a list of numbers.
    pub fn one_or_more(&self, path: &str) -> Result<Vec<f64>, CaseError> {
        match self.require(path)? {
            Value::Array(_) => self.numbers(path),
            _ => Ok(vec![self.number(path)?]),
        }
    }

    /// A list of exactly N numbers.
    pub fn vector<const N: usize>(&self, path: &str) -> Result<[f64; N], CaseError> {
        let value = self.require(path)?;
        numbers(value)
            .and_then(|list| list.try_into().ok())
            .ok_or_else(|| bad(path, value, "a list of numbers of another length"))
    }

    /// A list of lists of numbers, all of one length.
    pub fn table(&self, path: &str) -> Result<Vec<Vec<f64>>, CaseError> {
        let value = self.require(path)?;
        let rows: Option<Vec<Vec<f64>>> = value
            .as_array()
            .and_then(|rows| rows.iter().map(numbers).collect());
        rows.filter(|rows| rows.windows(2).all(|pair| pair[0].len() == pair[1].len()))
            .ok_or_else(|| bad(path, value, "rows of numbers of one length"))
    }

    /// A square matrix; symmetry and definiteness are checked where it is used.
    pub fn matrix(&self, path: &str) -> Result<SymmetricMatrix, CaseError> {
        let rows = self.table(path)?;
        let order = rows.len();
        if order == 0 || rows[0].len() != order {
            return Err(bad(path, self.require(path)?, "a square matrix"));
        }
        Ok(SymmetricMatrix::from_rows(order, rows.concat()))
    }
}

/// The value behind a dotted path.
pub(super) fn lookup<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |node, segment| match node {
        Value::Array(items) => items.get(segment.parse::<usize>().ok()?),
        _ => node.get(segment),
    })
}

/// The part of `value` below the given paths; lists keep their length, with null elsewhere.
pub(super) fn prune(value: &Value, paths: &[String]) -> Value {
    let mut kept = Value::Null;
    for path in paths {
        if let Some(found) = lookup(value, path) {
            graft(
                &mut kept,
                value,
                &path.split('.').collect::<Vec<_>>(),
                found,
            );
        }
    }
    kept
}

fn graft(into: &mut Value, source: &Value, path: &[&str], found: &Value) {
    let Some((head, rest)) = path.split_first() else {
        *into = found.clone();
        return;
    };
    match source {
        Value::Array(items) => {
            if !into.is_array() {
                *into = Value::Array(vec![Value::Null; items.len()]);
            }
            let Ok(index) = head.parse::<usize>() else {
                return;
            };
            if let (Some(slot), Some(item)) = (into.get_mut(index), items.get(index)) {
                graft(slot, item, rest, found);
            }
        }
        _ => {
            if !into.is_object() {
                *into = Value::Object(serde_json::Map::new());
            }
            if let (Some(map), Some(item)) = (into.as_object_mut(), source.get(*head)) {
                graft(map.entry(*head).or_insert(Value::Null), item, rest, found);
            }
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    let x = match value {
        Value::String(text) => match text.split_once('/') {
            Some((a, b)) => a.trim().parse::<f64>().ok()? / b.trim().parse::<f64>().ok()?,
            None => text.trim().parse().ok()?,
        },
        _ => value.as_f64()?,
    };
    x.is_finite().then_some(x)
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(number).collect()
}

fn bad(path: &str, value: &Value, expected: &'static str) -> CaseError {
    let mut found = value.to_string();
    if found.chars().count() > 60 {
        found = found.chars().take(57).chain("...".chars()).collect();
    }
    CaseError::bad_parameter(path, found, expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_given_part_of_the_expected_values_survives() {
        let expected = json!({"rows": [{"t": 1.0, "x": 2.0}, {"t": 3.0, "x": 4.0}], "E": 5.0});
        let paths = ["rows.0.t".to_string(), "rows.1.t".to_string()];
        let kept = prune(&expected, &paths);
        assert_eq!(kept, json!({"rows": [{"t": 1.0}, {"t": 3.0}]}));
    }

    #[test]
    fn readers_name_what_is_missing_or_wrong() {
        let params = json!({"theta": "3/4", "v": [1, 2], "m": "heavy"});
        let inputs = Inputs::new(&params);
        assert_eq!(inputs.number("theta").unwrap(), 0.75);
        assert_eq!(inputs.vector::<2>("v").unwrap(), [1.0, 2.0]);
        let missing = inputs.number("mu").unwrap_err();
        assert_eq!(missing.to_string(), "parameter `mu` is missing");
        let wrong = inputs.number("m").unwrap_err().to_string();
        assert!(wrong.contains("`m`") && wrong.contains("heavy"), "{wrong}");
    }
}
