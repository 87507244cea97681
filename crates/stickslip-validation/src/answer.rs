//! What a family computed.

use serde_json::Value;

/// A tree with the shape of `expected`: groups by name, lists by index, leaves.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Not applicable (`null`).
    Absent,
    /// A boolean.
    Flag(bool),
    /// A number; infinities are compared exactly.
    Number(f64),
    /// A single word.
    Word(String),
    /// A list.
    List(Vec<Answer>),
    /// Named quantities.
    Group(Vec<(String, Answer)>),
    /// A quantity that the engine does not compute, with the reason; it fails.
    NotComputed(String),
}

impl Answer {
    /// A quantity of what does not happen: a place where a body never comes to rest, the impulse of a contact that never closes.
    /// Its time is infinite.
    pub fn none() -> Self {
        Self::Word("none".into())
    }

    /// The value, or [`Self::none`].
    pub fn or_none(value: Option<impl Into<Answer>>) -> Self {
        value.map_or_else(Self::none, Into::into)
    }

    /// A group from pairs.
    pub fn group<'a>(entries: impl IntoIterator<Item = (&'a str, Answer)>) -> Self {
        let entries = entries.into_iter();
        Self::Group(entries.map(|(name, x)| (name.to_string(), x)).collect())
    }

    /// Adds a quantity to a group.
    pub fn insert(&mut self, name: &str, value: impl Into<Answer>) {
        if let Self::Group(entries) = self {
            entries.push((name.to_string(), value.into()));
        }
    }

    /// The entry of a group.
    pub fn get(&self, name: &str) -> Option<&Answer> {
        match self {
            Self::Group(entries) => entries.iter().find(|(n, _)| n == name).map(|(_, x)| x),
            _ => None,
        }
    }

    /// The value behind a dotted path.
    pub fn at(&self, path: &str) -> Option<&Answer> {
        path.split('.').try_fold(self, |node, segment| match node {
            Self::List(items) => items.get(segment.parse::<usize>().ok()?),
            _ => node.get(segment),
        })
    }

    /// The same as JSON; numbers that JSON lacks become the words `nan`, `+inf`, `-inf`.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Absent => Value::Null,
            Self::Flag(flag) => Value::Bool(*flag),
            Self::Number(x) => match serde_json::Number::from_f64(*x) {
                Some(number) => Value::Number(number),
                None if x.is_nan() => Value::from("nan"),
                None if *x > 0.0 => Value::from("+inf"),
                None => Value::from("-inf"),
            },
            Self::Word(word) => Value::from(word.as_str()),
            Self::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            Self::Group(entries) => Value::Object(
                entries
                    .iter()
                    .map(|(name, x)| (name.clone(), x.to_json()))
                    .collect(),
            ),
            Self::NotComputed(_) => Value::Null,
        }
    }
}

impl From<f64> for Answer {
    fn from(x: f64) -> Self {
        Self::Number(x)
    }
}

impl From<usize> for Answer {
    fn from(x: usize) -> Self {
        Self::Number(x as f64)
    }
}

impl From<bool> for Answer {
    fn from(x: bool) -> Self {
        Self::Flag(x)
    }
}

impl From<&str> for Answer {
    fn from(x: &str) -> Self {
        Self::Word(x.to_string())
    }
}

impl From<String> for Answer {
    fn from(x: String) -> Self {
        Self::Word(x)
    }
}

impl<T: Into<Answer>> From<Vec<T>> for Answer {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl From<&[f64]> for Answer {
    fn from(items: &[f64]) -> Self {
        Self::List(items.iter().map(|&x| x.into()).collect())
    }
}

impl From<&Vec<f64>> for Answer {
    fn from(items: &Vec<f64>) -> Self {
        items.as_slice().into()
    }
}

impl<const N: usize> From<[f64; N]> for Answer {
    fn from(items: [f64; N]) -> Self {
        items.as_slice().into()
    }
}

impl<T: Into<Answer>> From<Option<T>> for Answer {
    fn from(x: Option<T>) -> Self {
        x.map_or(Self::Absent, Into::into)
    }
}

/// A group of quantities, `group! { "name" => value, ... }`.
macro_rules! group {
    ($($name:literal => $value:expr),* $(,)?) => {
        $crate::Answer::Group(vec![
            $(($name.to_string(), $crate::Answer::from($value))),*
        ])
    };
}
