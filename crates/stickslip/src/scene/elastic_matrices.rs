//! Linear systems given by their matrices, read from `[elastic.matrices]`.

use std::ops::Range;
use std::sync::Arc;

use super::diagnostic::Diagnostic;
use super::elastic::{ElasticModel, report_violations};
use super::elastic_contact::{Target, read_contacts};
use super::reader::Reader;
use super::scene_file::read_file;
use super::settings::Settings;
use super::value::{Table, Value};
use crate::algebra::sparse_rows::SparseRows;
use crate::systems::elastodynamic::{ElastodynamicError, bounded_coordinate, read_matrix_market};
use crate::systems::{ElastodynamicSystem, UnilateralConstraint};

/// A Matrix Market file under a key.
fn matrix(reader: &mut Reader, table: &Table, key: &str) -> Option<Option<SparseRows>> {
    let Some(value) = table.value(key) else {
        return Some(None);
    };
    let bytes = read_file(reader, value)?;
    let name = value.as_text().unwrap_or_default();
    let matrix = read_matrix_market(&String::from_utf8_lossy(&bytes));
    let matrix = matrix.map_err(|error| format!("`{name}`: {error}"));
    reader.made(&value.span, matrix).map(Some)
}

/// A vector in a Matrix Market file with one column, zeros if there is none.
fn vector(reader: &mut Reader, table: &Table, key: &str, n: usize) -> Option<Vec<f64>> {
    let mut out = vec![0.0; n];
    let Some(matrix) = matrix(reader, table, key)? else {
        return Some(out);
    };
    if matrix.rows() != n || matrix.columns() != 1 {
        let span = table.value(key).map_or(0..0, |v| v.span.clone());
        let message = format!(
            "`{key}` has {} rows and {} columns, expected {n} rows and one column",
            matrix.rows(),
            matrix.columns()
        );
        return reader.refuse(&span, message);
    }
    for (i, o) in out.iter_mut().enumerate() {
        *o = matrix.row(i).map(|(_, x)| x).sum();
    }
    Some(out)
}

/// Reads and builds a system of matrices.
pub(super) fn read_matrices(
    reader: &mut Reader,
    table: &Table,
    value: &Value,
    contacts: &[Value],
    settings: &Settings,
) -> Option<ElasticModel> {
    let mass = matrix(reader, table, "mass")?;
    let stiffness = matrix(reader, table, "stiffness")?;
    let damping = matrix(reader, table, "damping")?;
    let mass = mass?;
    let n = mass.rows();
    let load = vector(reader, table, "load", n)?;
    let q0 = vector(reader, table, "displacement", n)?;
    let v0 = vector(reader, table, "velocity", n)?;
    let (constraints, names) = bounds(reader, contacts, settings, n);
    if !reader.diagnostics.is_empty() {
        return None;
    }
    let built = ElastodynamicSystem::from_matrices(
        &mass,
        stiffness.as_ref(),
        damping.as_ref(),
        load.iter().any(|&f| f != 0.0).then_some(load),
        constraints,
    );
    let files = [
        "mass",
        "stiffness",
        "damping",
        "load",
        "displacement",
        "velocity",
    ]
    .into_iter()
    .filter_map(|key| table.text(key))
    .map(str::to_owned)
    .collect();
    let key = match &built {
        Err(ElastodynamicError::Matrix { what: "M", .. }) => "mass",
        Err(ElastodynamicError::Matrix { what: "K", .. }) => "stiffness",
        Err(ElastodynamicError::Matrix { what: "C", .. }) => "damping",
        _ => "",
    };
    let system = reader.made(table.place(key, value), built)?;
    report_violations(reader, &system, &q0, &names)?;
    Some(ElasticModel {
        system: Arc::new(system),
        q0,
        v0,
        contacts: names,
        files,
    })
}

/// Contacts that bound single coordinates of `n`, with their names and places.
fn bounds(
    reader: &mut Reader,
    contacts: &[Value],
    settings: &Settings,
    n: usize,
) -> (Vec<UnilateralConstraint>, Vec<(String, Range<usize>)>) {
    let mut constraints = Vec::new();
    let mut names = Vec::new();
    for contact in read_contacts(reader, contacts, settings, None) {
        let Target::Coordinate(coordinate, above, bound, slides) = contact.target else {
            continue;
        };
        let mut wrong = |span: &Range<usize>, message: String| {
            reader.report(Diagnostic::at(span.clone(), message));
        };
        if coordinate > n {
            let message = format!("`coordinate` is {coordinate}, the system has {n} coordinates");
            wrong(&contact.surface_span, message);
            continue;
        }
        if let Some(k) = slides.iter().find(|&&k| k > n) {
            let message = format!("`slides` names {k}, the system has {n} coordinates");
            wrong(&contact.other_span, message);
            continue;
        }
        let twice = |(i, k): (usize, &usize)| *k == coordinate || slides[..i].contains(k);
        if slides.iter().enumerate().any(twice) {
            let message = "`slides` must be coordinates other than the bounded one, each once";
            wrong(&contact.other_span, message.to_string());
            continue;
        }
        let slides: Vec<usize> = slides.iter().map(|k| k - 1).collect();
        constraints.push(bounded_coordinate(
            &contact.name,
            (coordinate - 1, n),
            (above, bound),
            &slides,
            contact.law,
        ));
        names.push((contact.name, contact.span));
    }
    (constraints, names)
}
