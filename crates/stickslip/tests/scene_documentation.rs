//! What scenes/README.md says is true and whole: every key of the schema stands there, and its examples run.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde_json::Value;
use stickslip::scene::{Scene, SourceText};
use stickslip::simulation::RunEnd;

const PAGE: &str = include_str!("../scenes/README.md");

/// Names of all keys in a schema: properties of tables that are not names of the user's choice.
fn keys(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Object(properties)) = object.get("properties") {
                found.extend(properties.keys().cloned());
            }
            object.values().for_each(|inner| keys(inner, found));
        }
        Value::Array(list) => list.iter().for_each(|inner| keys(inner, found)),
        _ => {}
    }
}

/// Words that stand in code: between backquotes, or in an example.
fn words() -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for (k, part) in PAGE.split('`').enumerate() {
        // Fences are three backquotes: the text between them is at an odd place, too.
        if k % 2 == 1 || part.contains('\n') && part.contains(" = ") {
            let letters = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
            words.extend(part.split(letters).map(str::to_string));
        }
    }
    words
}

#[test]
fn every_key_of_the_schema_is_explained() {
    let mut known = BTreeSet::new();
    keys(&Scene::schema(), &mut known);
    assert!(known.len() > 80, "only {} keys", known.len());
    let words = words();
    let missing: Vec<&String> = known.iter().filter(|key| !words.contains(*key)).collect();
    assert!(missing.is_empty(), "not in scenes/README.md: {missing:?}");
}

#[test]
fn examples_with_a_title_run() {
    let mut count = 0;
    for block in PAGE.split("```toml\n").skip(1) {
        let text = block.split("```").next().unwrap_or_default();
        if !text.starts_with("title") {
            continue;
        }
        let scene = Scene::parse(SourceText::new("README", text)).unwrap_or_else(|e| panic!("{e}"));
        let mut run = scene.simulation().expect("a simulation");
        let end = run.run_until(scene.settings.until, |_| ControlFlow::Continue(()));
        assert_eq!(end, RunEnd::Finished, "{text}");
        assert!(run.ledger().is_closed(), "{text}");
        count += 1;
    }
    assert!(count >= 5, "{count} examples");
}

/// Friction may read the velocity of the past, as the page says: here a block whose friction is that of its speed 0.1 s
/// ago slides on a plane from speed 1 with the uniform motion before, so that μ = 0.2 until then.
#[test]
fn friction_reads_the_velocity_of_the_past() {
    let text = r#"
    title = "late friction"
    step = 1e-3
    until = 0.1
    [system]
    coordinates = ["x", "y"]
    kinetic_energy = "(x'^2 + y'^2)/2"
    potential = "10*y"
    [[contacts]]
    gap = "y"
    tangents = [[1, 0]]
    friction = "0.2*delay(x', 0.1)"
    [initial]
    x_dot = 1
    "#;
    let scene = Scene::parse(SourceText::new("late.toml", text)).unwrap_or_else(|e| panic!("{e}"));
    let mut run = scene.simulation().expect("a simulation");
    run.run_until(0.1, |_| ControlFlow::Continue(()));
    let v = run.state().v[0];
    assert!((v - 0.8).abs() < 1e-6, "{v}");
    // The present velocity is still refused, also inside an operand that is no past.
    for friction in ["0.2*x'", "delay(x, x')", "delay(x', x')"] {
        let wrong = text.replace("0.2*delay(x', 0.1)", friction);
        assert!(
            Scene::parse(SourceText::new("late.toml", wrong)).is_err(),
            "{friction}"
        );
    }
}
