//! Functions given by files of samples: `[tables]`.

use std::ops::Range;

use super::diagnostic::Diagnostic;
use super::expression::{Beyond, Graph, Joining, Node, SampledFunction};
use super::key_kinds::{Kind, table_keys};
use super::reader::Reader;
use super::scene_file::read_file;
use super::value::{Data, Table, Value};
use super::words::{SceneWords, Word, word, words_of};

/// Most samples of a table: a day at a hundred a second, four times over.
const SAMPLES_MAX: usize = 1 << 25;
/// Most tables of a scene.
pub(super) const TABLES_MAX: usize = 64;

words_of! {
    Joining {
        Linear = word("linear", "straight lines between samples"),
        Cubic = word("cubic", "natural cubic spline, twice continuously differentiable"),
    }
}

words_of! {
    Beyond {
        Nothing = word("error", "nothing: the run stops there; `name(t)` must cover the whole run"),
        Hold = word("hold", "the value of the nearest sample"),
    }
}

const COLUMN: Kind = Kind::Either {
    kinds: &[Kind::Text, Kind::Count],
    expected: "the name of a column or its number from 1",
};

table_keys! {
    /// A function given by samples in a file, called by its name: `quake(t)`.
    pub(super) TABLE = "[tables]" {
        /// File of numbers beside the scene: columns parted by commas, semicolons, tabs or blanks, a line of names
        /// first if the columns have names, `#` before remarks.
        required file: Kind::Text;
        /// Column of the argument, which increases from line to line.
        x: COLUMN, default "1";
        /// Column of the value.
        y: COLUMN, default "2";
        /// How the samples are joined.
        interpolation: Kind::Word(Joining::WORDS), default "linear";
        /// What the function is outside of the samples.
        outside: Kind::Word(Beyond::WORDS), default "error";
    }
}

/// A table that was read, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct SceneTable {
    pub name: String,
    pub file: String,
    pub span: Range<usize>,
}

/// Reads `[tables]` and makes their names callable.
pub(super) fn read_tables(reader: &mut Reader, table: Option<&Table>) -> Vec<SceneTable> {
    let mut tables = Vec::new();
    for entry in table.into_iter().flat_map(|table| &table.entries) {
        let claimed = reader.claim(&entry.name, &entry.name_span, "a table");
        let function = read_table(reader, &entry.value);
        if let (true, Some((function, file))) = (claimed, function) {
            reader.define_function(&entry.name, function);
            tables.push(SceneTable {
                name: entry.name.clone(),
                file,
                span: entry.name_span.clone(),
            });
        }
    }
    tables
}

fn read_table(reader: &mut Reader, value: &Value) -> Option<(SampledFunction, String)> {
    let table = value.as_table()?;
    let file = table.value("file")?;
    let name = file.as_text()?.to_owned();
    let bytes = read_file(reader, file)?;
    let joining = table.word("interpolation").unwrap_or(Joining::Linear);
    let beyond = table.word("outside").unwrap_or(Beyond::Nothing);
    let columns = [("x", 1), ("y", 2)].map(|(key, default)| {
        let asked = table.value(key).map(|value| &value.data);
        match asked {
            Some(Data::Text(name)) => Column::Named(name.clone()),
            Some(Data::Number(number)) => Column::Number(*number as usize),
            _ => Column::Number(default),
        }
    });
    let samples = String::from_utf8(bytes)
        .map_err(|_| "not a text".to_string())
        .and_then(|text| read_samples(&text, &columns));
    let samples = samples.map_err(|problem| format!("`{name}`: {problem}"));
    let (x, y) = reader.made(&file.span, samples)?;
    // The samples were checked line by line.
    let function = SampledFunction::new(x, &y, joining, beyond)?;
    Some((function, name))
}

/// A column of the file.
enum Column {
    Named(String),
    /// From 1.
    Number(usize),
}

/// The two columns of a text of numbers; what is wrong is told with its line.
fn read_samples(text: &str, columns: &[Column; 2]) -> Result<(Vec<f64>, Vec<f64>), String> {
    let lines = text
        .trim_start_matches('\u{feff}')
        .lines()
        .enumerate()
        .map(|(k, line)| (k + 1, line.split('#').next().unwrap_or_default().trim()))
        .filter(|(_, line)| !line.is_empty());
    let mut places: Option<[usize; 2]> = None;
    let (mut x, mut y): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    for (number, line) in lines {
        let words = split(line);
        let Some(found) = places else {
            let heads = words.iter().all(|word| word.parse::<f64>().is_err());
            places = Some(find(columns, &words, heads).map_err(|e| format!("line {number}: {e}"))?);
            if heads {
                continue;
            }
            let found = places.unwrap_or([0, 1]);
            enter(&words, found, &mut x, &mut y).map_err(|e| format!("line {number}: {e}"))?;
            continue;
        };
        enter(&words, found, &mut x, &mut y).map_err(|e| format!("line {number}: {e}"))?;
    }
    match x.len() {
        0 | 1 => Err(format!("{} samples, at least 2 are needed", x.len())),
        _ => Ok((x, y)),
    }
}

/// The words of a line: parted by semicolons, commas, tabs or, without any of these, blanks.
fn split(line: &str) -> Vec<&str> {
    match [';', ',', '\t']
        .into_iter()
        .find(|mark| line.contains(*mark))
    {
        Some(mark) => line
            .split(mark)
            .map(|word| word.trim().trim_matches('"'))
            .collect(),
        None => line.split_whitespace().collect(),
    }
}

fn find(columns: &[Column; 2], words: &[&str], heads: bool) -> Result<[usize; 2], String> {
    let mut places = [0; 2];
    for (place, column) in places.iter_mut().zip(columns) {
        *place = match column {
            Column::Named(name) => match words.iter().position(|word| word == name) {
                Some(k) if heads => k,
                _ if !heads => return Err(format!("no line of names in which to find `{name}`")),
                _ => {
                    return Err(format!(
                        "no column `{name}`; there are {}",
                        words.join(", ")
                    ));
                }
            },
            Column::Number(k) if (1..=words.len()).contains(k) => k - 1,
            Column::Number(k) => return Err(format!("no column {k} of {}", words.len())),
        };
    }
    Ok(places)
}

fn enter(
    words: &[&str],
    places: [usize; 2],
    x: &mut Vec<f64>,
    y: &mut Vec<f64>,
) -> Result<(), String> {
    let number = |k: usize| -> Result<f64, String> {
        let word = words
            .get(k)
            .ok_or_else(|| format!("{} columns, expected at least {}", words.len(), k + 1))?;
        let value = word.parse::<f64>().ok().filter(|value| value.is_finite());
        let shown: String = word.chars().take(40).collect();
        value.ok_or_else(|| format!("`{shown}` is not a finite number"))
    };
    let (a, b) = (number(places[0])?, number(places[1])?);
    if let Some(last) = x.last().filter(|last| **last >= a) {
        return Err(format!(
            "the argument is {a} after {last}, it must increase"
        ));
    }
    if x.len() == SAMPLES_MAX {
        return Err(format!("more than {SAMPLES_MAX} samples"));
    }
    x.push(a);
    y.push(b);
    Ok(())
}

/// Tables that are asked for times beyond their samples before the run ends.
pub(super) fn check_tables(graph: &Graph, tables: &[SceneTable], until: f64) -> Vec<Diagnostic> {
    let mut reports = Vec::new();
    for (k, function) in graph.functions().iter().enumerate() {
        let (low, high) = function.range();
        let of_time = graph.any(|node| match node {
            Node::Sampled(index, _, argument) => {
                usize::from(*index) == k && matches!(graph.node(*argument), Node::Input(0))
            }
            _ => false,
        });
        let slack = 1e-9 * (high - low);
        let short = low > slack || high < until - slack;
        if let Some(table) = tables
            .get(k)
            .filter(|_| of_time && short && !function.is_held())
        {
            let message = format!(
                "`{}(t)` is known from {low} to {high} s, the run goes from 0 to {until} s",
                table.name
            );
            let help = "end the run earlier, or say outside = \"hold\"";
            reports.push(Diagnostic::at(table.span.clone(), message).with_help(help));
        }
    }
    reports
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_numbers_are_read_with_and_without_names() {
        let named = [Column::Named("t".into()), Column::Named("a".into())];
        let text = "# record\nt, b, a\n0, 9, 1\n0.5, 9, 2.5e0 # noon\n\n1, 9, -1\n";
        let (x, y) = read_samples(text, &named).unwrap();
        assert_eq!((x, y), (vec![0.0, 0.5, 1.0], vec![1.0, 2.5, -1.0]));
        let numbered = [Column::Number(1), Column::Number(2)];
        for text in ["0 1\n1 2\n", "0;1\n1;2", "0\t1\r\n1\t2\r\n"] {
            let (x, y) = read_samples(text, &numbered).unwrap();
            assert_eq!((x, y), (vec![0.0, 1.0], vec![1.0, 2.0]), "{text:?}");
        }
    }

    #[test]
    fn mistakes_come_with_their_line() {
        let numbered = [Column::Number(1), Column::Number(2)];
        let named = [Column::Named("t".into()), Column::Named("a".into())];
        for (text, columns, expected) in [
            (
                "0,1\n1,x\n",
                &numbered,
                "line 2: `x` is not a finite number",
            ),
            ("0,1\n1,inf\n", &numbered, "line 2: `inf` is not"),
            ("0,1\n\n1\n", &numbered, "line 3: 1 columns"),
            ("0,1\n0,2\n", &numbered, "line 2: the argument is 0 after 0"),
            (
                "t,b\n0,1\n",
                &named,
                "line 1: no column `a`; there are t, b",
            ),
            ("0,1\n1,2\n", &named, "line 1: no line of names"),
            ("0,1\n", &numbered, "1 samples"),
            ("", &numbered, "0 samples"),
        ] {
            let error = read_samples(text, columns).unwrap_err();
            assert!(error.starts_with(expected), "{text:?}: {error}");
        }
    }
}
