//! Elastic bodies, read from `[elastic]` and its `[[contacts]]`.
//!
//! The system is built while the scene is read: it holds no state, and building it twice would
//! double the time a large mesh needs.

use std::ops::Range;
use std::sync::Arc;

use super::diagnostic::Diagnostic;
use super::elastic_contact::{ElasticContact, Target, read_contacts};
use super::elastic_matrices::read_matrices;
use super::elastic_mesh::{SceneMesh, check_nodes, read_mesh, vector_in};
use super::elastic_words::{Component, Model, Strain};
use super::expression::Expression;
use super::key_kinds::Variables;
use super::program::Program;
use super::reader::Reader;
use super::scene_reading::OF_EXPRESSIONS;
use super::settings::Settings;
use super::value::{Table, Value, tables};
use super::words::SceneWords;
use crate::quantity::typed;
use crate::systems::elastodynamic::{
    Damping, ElastodynamicBuilder, ElastodynamicError, Formulation, MassKind, Material, Mesh,
};
use crate::systems::{ElastodynamicSystem, MechanicalSystem};

/// Elastic bodies with their initial state.
#[derive(Clone)]
pub(super) struct ElasticModel {
    pub system: Arc<ElastodynamicSystem>,
    pub q0: Vec<f64>,
    pub v0: Vec<f64>,
    /// Names of the contacts with their places.
    pub contacts: Vec<(String, Range<usize>)>,
    /// Files the scene names.
    pub files: Vec<String>,
}

impl std::fmt::Debug for ElasticModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ElasticModel")
            .field("system", &self.system)
            .finish()
    }
}

/// Reads and builds; whatever goes wrong is reported.
pub(super) fn read_elastic(
    reader: &mut Reader,
    table: &Table,
    value: &Value,
    contacts: &[Value],
    settings: &Settings,
    step: Option<&Value>,
) -> Option<ElasticModel> {
    let elastic = value.as_table()?;
    reader.places();
    let model = match elastic.value("matrices") {
        Some(matrices) => {
            let matrices_table = matrices.as_table()?;
            read_matrices(reader, matrices_table, matrices, contacts, settings)?
        }
        None => read_meshes(reader, elastic, value, contacts, settings)?,
    };
    let place = step.map_or_else(|| value.span.clone(), |step| step.span.clone());
    reader.made(&place, model.system.check_step(settings.step))?;
    let help = "initial displacements and velocities are keys of [[elastic.meshes]]";
    let message = |key: &str| format!("`{key}` has no place in the scene of elastic bodies");
    reader.refuse_keys(table, &OF_EXPRESSIONS, message, help);
    Some(model)
}

/// Places of the parts of a scene, for mistakes that the system finds.
#[derive(Default)]
struct Places {
    regions: Vec<(String, Value)>,
    groups: Vec<(String, Range<usize>)>,
}

/// Place of a key in a table, or of the table.
fn place_of(value: &Value, key: &str) -> Range<usize> {
    let inner = value.as_table().and_then(|table| table.value(key));
    inner.unwrap_or(value).span.clone()
}

impl Places {
    fn of(&self, error: &ElastodynamicError) -> Option<Range<usize>> {
        let group = |name: &str| {
            let found = self.groups.iter().find(|(n, _)| n == name);
            found.map(|(_, span)| span.clone())
        };
        let region = |name: &str, key: &str| {
            let found = self.regions.iter().find(|(n, _)| n == name);
            found.map(|(_, value)| place_of(value, key))
        };
        match error {
            ElastodynamicError::MissingGroup { name, .. }
            | ElastodynamicError::WrongDimension { name, .. } => {
                region(name, "group").or_else(|| group(name))
            }
            ElastodynamicError::Inverted { region: name, .. } => region(name, "group"),
            ElastodynamicError::NotPositive {
                region: name, what, ..
            } => {
                let key = if *what == "Young's modulus" {
                    "young"
                } else {
                    what
                };
                region(name, key)
            }
            ElastodynamicError::Poisson { region: name, .. } => region(name, "poisson"),
            ElastodynamicError::TwoRegions { second, .. } => region(second, "group"),
            ElastodynamicError::Component { group: name, .. }
            | ElastodynamicError::UnusedNode { group: name, .. } => group(name),
            ElastodynamicError::Tangents { surface, .. }
            | ElastodynamicError::Obstacle { surface, .. } => group(surface),
            _ => None,
        }
    }
}

fn read_meshes(
    reader: &mut Reader,
    elastic: &Table,
    value: &Value,
    contacts: &[Value],
    settings: &Settings,
) -> Option<ElasticModel> {
    let meshes: Vec<Option<SceneMesh>> = elastic
        .list("meshes")
        .iter()
        .enumerate()
        .map(|(k, value)| read_mesh(reader, value, k))
        .collect();
    if meshes.is_empty() {
        return reader.refuse(&value.span, "[elastic] has neither `meshes` nor `matrices`");
    }
    let meshes: Option<Vec<SceneMesh>> = meshes.into_iter().collect();
    let files = elastic
        .list("meshes")
        .iter()
        .filter_map(|mesh| mesh.as_table()?.text("file"))
        .map(str::to_owned)
        .collect();
    let meshes = meshes?;
    let mesh = match &meshes[..] {
        [only] => only.mesh.clone().named(&only.name),
        several => several.iter().fold(Mesh::new(1), |all, part| {
            all.join(&part.mesh, &format!("{}-", part.name))
        }),
    };
    let space = mesh.dimension();
    check_nodes(reader, &value.span, mesh.nodes().len() as f64, space)?;
    let mut places = Places::default();
    let mut builder = ElastodynamicSystem::builder(mesh);
    builder = read_regions(reader, elastic, builder, &mut places);
    builder = read_supports(reader, elastic, builder, &mut places);
    builder = read_loads(reader, elastic, builder, &mut places);
    builder = read_damping(reader, elastic, builder);
    if let Some(gravity) = elastic.value("gravity") {
        builder = builder.gravity(vector_in(reader, gravity, "gravity", space)?);
    }
    if let Some(mass) = elastic.word::<MassKind>("mass") {
        builder = builder.mass(mass);
    }
    let contacts = read_contacts(reader, contacts, settings, Some(space));
    let names = contacts
        .iter()
        .map(|c| (c.name.clone(), c.span.clone()))
        .collect::<Vec<_>>();
    builder = add_contacts(builder, contacts, &mut places);
    if !reader.diagnostics.is_empty() {
        return None;
    }
    let built = builder
        .build()
        .and_then(|system| match elastic.word::<Strain>("strain") {
            Some(Strain::Finite) => system.with_finite_strain(),
            _ => Ok(system),
        });
    let place = built.as_ref().err().and_then(|error| places.of(error));
    let system = reader.made(&place.unwrap_or(value.span.clone()), built)?;
    let [q0, v0] = [0, 1].map(|which| initial(reader, &system, &meshes, which));
    report_violations(reader, &system, &q0, &names)?;
    Some(ElasticModel {
        system: Arc::new(system),
        q0,
        v0,
        contacts: names,
        files,
    })
}

fn add_contacts(
    mut builder: ElastodynamicBuilder,
    contacts: Vec<ElasticContact>,
    places: &mut Places,
) -> ElastodynamicBuilder {
    for contact in contacts {
        builder = match contact.target {
            Target::Obstacle(surface, obstacle) => {
                places.groups.push((surface.clone(), contact.surface_span));
                builder.contact(&surface, obstacle, contact.law)
            }
            Target::Surface(surface, master) => {
                places.groups.push((surface.clone(), contact.surface_span));
                places.groups.push((master.clone(), contact.other_span));
                builder.contact_between(&surface, &master, contact.law)
            }
            // Contacts in a space are surfaces.
            Target::Coordinate(..) => builder,
        }
        .named(&contact.name);
    }
    builder
}

/// Largest initial penetration, relative to the largest extent of the bodies.
const PENETRATION_MAX: f64 = 1e-9;

/// Reports contacts that are violated at the start, each with its deepest node.
pub(super) fn report_violations(
    reader: &mut Reader,
    system: &ElastodynamicSystem,
    q0: &[f64],
    contacts: &[(String, Range<usize>)],
) -> Option<()> {
    let size = system.mesh().map_or(1.0, |mesh| {
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for x in mesh.nodes() {
            for k in 0..3 {
                (low[k], high[k]) = (low[k].min(x[k]), high[k].max(x[k]));
            }
        }
        (0..3).map(|k| high[k] - low[k]).fold(0.0, f64::max)
    });
    let mut fine = true;
    for (name, span) in contacts {
        let surface = system.surfaces().iter().find(|s| &s.name == name);
        let range = surface.map_or(0..system.constraints().len(), |s| s.constraints.clone());
        let own = system.constraints()[range].iter();
        let own = own.filter(|c| surface.is_some() || c.name() == name);
        let deepest = own
            .map(|c| (c.gap().value(0.0, q0), c.name()))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((gap, constraint)) = deepest {
            if !(gap >= -PENETRATION_MAX * size) {
                let message = format!(
                    "contact `{name}` is violated at the start: gap {} at `{constraint}`",
                    typed(gap, 7)
                );
                let help = "bodies start apart from what they meet, or touching it";
                reader.report(Diagnostic::at(span.clone(), message).with_help(help));
                fine = false;
            }
        }
    }
    fine.then_some(())
}

/// Initial field of all meshes: displacement (0) or velocity (1).
fn initial(
    reader: &Reader,
    system: &ElastodynamicSystem,
    meshes: &[SceneMesh],
    which: usize,
) -> Vec<f64> {
    let mut out = vec![0.0; system.dof()];
    let mut first = 0;
    for part in meshes {
        let count = part.mesh.nodes().len();
        let field = &part.initial[which];
        if !field.is_empty() {
            let program = Program::compile(&reader.graph, field, 3);
            let mut values = vec![0.0; field.len()];
            for n in first..first + count {
                program.write(0.0, &system.nodes().reference(n as u32), &mut values);
                for (k, &x) in values.iter().enumerate() {
                    if let Some(dof) = system.nodes().free_dof(n as u32, k) {
                        out[dof] = x;
                    }
                }
            }
        }
        first += count;
    }
    out
}

fn read_regions(
    reader: &mut Reader,
    elastic: &Table,
    mut builder: ElastodynamicBuilder,
    places: &mut Places,
) -> ElastodynamicBuilder {
    for (_, value, table) in tables(elastic.list("regions")) {
        let any = |_: f64| true;
        let mut number = |key: &str, default: f64| {
            reader
                .number(table, key, "a number", any)
                .unwrap_or(default)
        };
        let material = Material::new(
            number("young", 1.0),
            number("poisson", 0.0),
            number("density", 1.0),
        );
        let area = number("area", f64::NAN);
        let inertia = number("inertia", f64::NAN);
        let thickness = number("thickness", 1.0);
        let Some(model) = table.word::<Model>("model") else {
            continue;
        };
        let needed: &[&str] = match model {
            Model::Bar => &["area"],
            Model::Beam => &["area", "inertia"],
            _ => &[],
        };
        for key in needed.iter().filter(|key| table.get(key).is_none()) {
            let message = format!("missing key `{key}` in [[elastic.regions]]: a {model} needs it");
            reader.report(Diagnostic::at(value.span.clone(), message));
        }
        let formulation = match model {
            Model::Bar => Formulation::Bar { area },
            Model::Beam => Formulation::Beam { area, inertia },
            Model::PlaneStrain => Formulation::PlaneStrain { thickness },
            Model::PlaneStress => Formulation::PlaneStress { thickness },
            Model::Axisymmetric => Formulation::Axisymmetric,
            Model::Solid => Formulation::Solid,
        };
        let group = table.text("group").unwrap_or(Mesh::ALL);
        places.regions.push((group.to_owned(), value.clone()));
        builder = builder.region(group, material, formulation);
    }
    builder
}

/// A function of time with its first two derivatives.
fn motion(reader: &mut Reader, place: Expression) -> Program {
    let velocity = reader.graph.gradient(place, &[0])[0];
    let acceleration = reader.graph.gradient(velocity, &[0])[0];
    // It acts as a load by its acceleration.
    reader.data.driven(&reader.graph, velocity);
    Program::compile(&reader.graph, &[place, velocity, acceleration], 3)
}

fn read_supports(
    reader: &mut Reader,
    elastic: &Table,
    mut builder: ElastodynamicBuilder,
    places: &mut Places,
) -> ElastodynamicBuilder {
    for (_, value, table) in tables(elastic.list("supports")) {
        let Some(group) = table.text("group") else {
            continue;
        };
        places
            .groups
            .push((group.to_owned(), place_of(value, "group")));
        let number = |word: &str| Component::from_word(word).map(|c| c as usize);
        let held: Vec<usize> = table
            .list("hold")
            .iter()
            .filter_map(|item| number(item.as_text()?))
            .collect();
        // The rotation comes after as many translations as there are.
        let space = builder.space();
        let place = |k: usize| if k == 3 { space } else { k };
        let held: Vec<usize> = held.into_iter().map(place).collect();
        builder = builder.support(group, &held);
        let moved = table.table("move");
        for entry in moved.iter().flat_map(|moved| &moved.entries) {
            let Some(k) = number(&entry.name) else {
                let message = format!("`{}` is no component: x, y, z or angle", entry.name);
                reader.report(Diagnostic::at(entry.name_span.clone(), message));
                continue;
            };
            if let Some(expression) = reader.expression(&entry.value, Variables::Time) {
                reader.data.moves = true;
                let program = motion(reader, expression);
                builder = builder.prescribe(group, place(k), move |t| {
                    let mut out = [0.0; 3];
                    program.write(t, &[0.0; 3], &mut out);
                    out
                });
            }
        }
        if held.is_empty() && moved.is_none() {
            reader.report(Diagnostic::at(
                value.span.clone(),
                "a support needs `hold` or `move`",
            ));
        }
    }
    builder
}

fn read_loads(
    reader: &mut Reader,
    elastic: &Table,
    mut builder: ElastodynamicBuilder,
    places: &mut Places,
) -> ElastodynamicBuilder {
    for (_, value, table) in tables(elastic.list("loads")) {
        let group = table.text("group").unwrap_or(Mesh::ALL);
        places
            .groups
            .push((group.to_owned(), place_of(value, "group")));
        let given: Vec<&str> = table.given(&["traction", "body_force", "force"]);
        let [kind] = given[..] else {
            let message = "a load is one of `traction`, `body_force`, `force`";
            reader.report(Diagnostic::at(value.span.clone(), message));
            continue;
        };
        let space = builder.space();
        let force = table
            .value(kind)
            .and_then(|v| vector_in(reader, v, kind, space));
        let factor = match table.value("factor") {
            Some(value) => reader.expression(value, Variables::Time),
            None => Some(reader.graph.constant(1.0)),
        };
        let (Some(force), Some(factor)) = (force, factor) else {
            continue;
        };
        reader.data.force(&reader.graph, factor);
        let constant = reader.graph.constant_value(factor);
        let program = Program::compile(&reader.graph, &[factor], 3);
        let vary = move |t: f64| program.value(t, &[0.0; 3]);
        builder = match (kind, constant) {
            ("traction", Some(c)) => builder.traction(group, force.map(|f| c * f)),
            ("traction", None) => builder.traction_in_time(group, force, vary),
            ("body_force", Some(c)) => builder.body_force(group, force.map(|f| c * f)),
            ("body_force", None) => builder.body_force_in_time(group, force, vary),
            _ => builder.nodal_force(group, force, vary),
        };
    }
    builder
}

fn read_damping(
    reader: &mut Reader,
    elastic: &Table,
    builder: ElastodynamicBuilder,
) -> ElastodynamicBuilder {
    let not_negative = |x: f64| x >= 0.0;
    let modal = reader.number(elastic, "modal_damping", "zero or positive", not_negative);
    if let Some(value) = elastic.value("rayleigh") {
        let pair = reader.constants(value).unwrap_or_default();
        if modal.is_some() || pair.iter().any(|&x| x < 0.0) {
            let message =
                "`rayleigh` is two numbers that are not negative, without `modal_damping`";
            reader.report(Diagnostic::at(value.span.clone(), message));
        }
        if let [mass, stiffness] = pair[..] {
            return builder.damping(Damping::Rayleigh { mass, stiffness });
        }
    }
    match modal {
        Some(ratio) => builder.damping(Damping::Modal { ratio }),
        None => builder,
    }
}
