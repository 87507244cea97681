//! The JSON schema of scenes, for editors; read off the same table as the decoder.

use serde_json::{Map, Value as Json, json};

use super::Scene;
use super::key_kinds::{Kind, TableKeys, Variables};
use super::keys::SCENE;
use super::words::Word;

impl Scene {
    /// JSON schema (draft 2020-12) of a scene file.
    #[must_use]
    pub fn schema() -> Json {
        let mut schema = table(&SCENE);
        schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
        schema["title"] = json!("Stickslip scene");
        let one = |key: &str| json!({ "required": [key] });
        schema["oneOf"] = json!(["system", "body", "elastic", "world"].map(one));
        schema
    }
}

fn table(keys: &TableKeys) -> Json {
    let mut properties = Map::new();
    for key in keys.keys {
        let mut value = shape(&key.kind);
        let mut description = key.description.to_owned();
        if let Some(names) = variables(&key.kind) {
            description.push_str(&format!(" May use {names}."));
        }
        if !key.default.is_empty() {
            description.push_str(&format!(" Default: {}.", key.default));
        }
        if let Kind::Word(words) = key.kind {
            for Word {
                name,
                description: meaning,
            } in words
            {
                description.push_str(&format!("\n- {name}: {meaning}"));
            }
        }
        value["description"] = json!(description);
        properties.insert(key.name.to_owned(), value);
    }
    let required: Vec<&str> = keys
        .keys
        .iter()
        .filter(|k| k.required)
        .map(|k| k.name)
        .collect();
    json!({
        "type": "object",
        "description": keys.description,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn shape(kind: &Kind) -> Json {
    match kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Expression(_) => json!({ "type": ["number", "string"] }),
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Count => json!({ "type": "integer", "minimum": 1 }),
        Kind::Word(words) => {
            let names: Vec<&str> = words.iter().map(|w| w.name).collect();
            json!({ "enum": names })
        }
        Kind::List { of, min, max } => {
            json!({ "type": "array", "items": shape(of), "minItems": min, "maxItems": max })
        }
        Kind::Table(keys) => table(keys),
        Kind::Tables { of, max } => json!({ "type": "array", "items": table(of), "maxItems": max }),
        Kind::Named { of, max } => json!({
            "type": "object",
            "additionalProperties": shape(of),
            "propertyNames": { "pattern": "^[A-Za-z][A-Za-z0-9_]*'?$" },
            "maxProperties": max,
        }),
        Kind::Either { kinds, .. } => {
            json!({ "anyOf": kinds.iter().map(shape).collect::<Vec<_>>() })
        }
    }
}

/// The names an expression may use, in words.
fn variables(kind: &Kind) -> Option<&'static str> {
    match kind {
        Kind::Expression(variables) => Some(match variables {
            Variables::Parameters => "parameters",
            Variables::Position => "parameters and coordinates",
            Variables::PositionTime => "parameters, coordinates and time t",
            Variables::Motion => "parameters, coordinates and velocities",
            Variables::State => "parameters, coordinates, velocities and time t",
            Variables::Friction => "parameters, coordinates, time t, the past and the slip speed s",
            Variables::Force => "parameters, coordinates, velocities, time t and the past",
            Variables::Time => "parameters and time t",
        }),
        Kind::List { of, .. } | Kind::Named { of, .. } => variables(of),
        Kind::Either { kinds, .. } => kinds.iter().find_map(variables),
        _ => None,
    }
}
