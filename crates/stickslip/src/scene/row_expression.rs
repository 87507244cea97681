//! Expressions over the columns of a trajectory, for studies.

use super::expression::{Graph, Scope, Tape, parse};

/// An expression over the columns of a trajectory. A column is named as it is (`plane.p_n`, `box.x`), or with `_` for any sign that is no letter or digit
/// (`plane_p_n`), as names with other signs than points must be; the velocity of `x` is `x'` or `x_dot`; parameters are known by their name.
#[derive(Clone, Debug)]
pub struct RowExpression {
    tape: Tape,
}

impl RowExpression {
    /// Reads an expression; the error is a sentence.
    pub fn parse(
        text: &str,
        columns: &[String],
        parameters: &[(String, f64)],
    ) -> Result<Self, String> {
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        for (name, value) in parameters {
            let value = graph.constant(*value);
            scope.define(name.as_str(), value);
        }
        for (k, column) in columns.iter().enumerate() {
            let input = graph.input(k);
            let letters = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
            scope.define(column.chars().map(letters).collect::<String>(), input);
            let coordinate = column.strip_prefix("v_");
            if let Some(name) = coordinate.filter(|name| columns.contains(&format!("left_{name}")))
            {
                let name: String = name.chars().map(letters).collect();
                scope.define(format!("{name}'"), input);
                scope.define(format!("{name}_dot"), input);
            }
        }
        let expression =
            parse(&without_points(text, columns), &mut graph, &scope).map_err(|errors| {
                let reasons: Vec<String> = errors.iter().map(ToString::to_string).collect();
                format!("`{text}`: {}", reasons.join("; "))
            })?;
        let tape = Tape::compile(&graph, &[expression]);
        Ok(Self { tape })
    }

    /// The column of that name.
    pub(super) fn column(name: &str, columns: &[String]) -> Result<Self, String> {
        let place = columns.iter().position(|column| column == name);
        let mut graph = Graph::new();
        let input = graph.input(place.ok_or_else(|| format!("there is no column `{name}`"))?);
        let tape = Tape::compile(&graph, &[input]);
        Ok(Self { tape })
    }

    /// The value on a row.
    pub fn value(&self, row: &[f64], registers: &mut Vec<f64>) -> f64 {
        let mut out = [0.0];
        self.tape.evaluate_with(|k| row[k], registers, &mut out);
        out[0]
    }
}
/// The text with `_` for the points of the names of columns.
fn without_points(text: &str, columns: &[String]) -> String {
    let name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(name) {
        let (before, word) = rest.split_at(start);
        let (word, after) = word.split_at(word.find(|c| !name(c)).unwrap_or(word.len()));
        out.push_str(before);
        let velocity = word.strip_suffix("_dot").map(|name| format!("v_{name}"));
        let of_column = |column: &String| column == word || velocity.as_ref() == Some(column);
        if word.contains('.') && columns.iter().any(of_column) {
            out.push_str(&word.replace('.', "_"));
        } else {
            out.push_str(word);
        }
        rest = after;
    }
    out + rest
}
