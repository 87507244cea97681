//! Where the contacts of a scene lie in space, and along which directions their impulses act.

use crate::algebra::dot;
use crate::systems::frame::orthonormal_tangents;
use crate::systems::rigid::UnitQuaternion;

use super::body::BodyModel;
use super::expression::{Expression, Tape};
use super::mechanics::GeneralizedModel;
use super::scene::{Mechanics, Scene};

/// A contact point in space.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactPlace {
    /// Where it lies.
    pub position: [f64; 3],
    /// Directions of the impulses: the normal, then the tangents.
    pub axes: Vec<[f64; 3]>,
}

/// A point as expressions: where it lies, and its axes.
#[derive(Clone, Debug)]
pub(super) struct PlaceModel {
    pub position: Vec<Expression>,
    pub axes: Vec<Vec<Expression>>,
}

/// What is seen of a `[body]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BodyShape {
    /// Mass.
    pub mass: f64,
    /// Centre in the body and radius of the ball of each contact.
    pub balls: Vec<([f64; 3], f64)>,
    /// Unit normal and offset of each plane that is met.
    pub planes: Vec<([f64; 3], f64)>,
}

impl Scene {
    /// What is seen of the rigid body of the scene, if it has one.
    #[doc(hidden)]
    #[must_use]
    pub fn body_shape(&self) -> Option<BodyShape> {
        let Mechanics::Body(model) = &self.mechanics else {
            return None;
        };
        let mut shape = BodyShape {
            mass: model.mass,
            ..BodyShape::default()
        };
        for contact in &model.contacts {
            let length = dot(&contact.normal, &contact.normal).sqrt();
            let plane = (contact.normal.map(|x| x / length), contact.offset / length);
            shape.balls.push((contact.arm, contact.radius));
            if !shape.planes.contains(&plane) {
                shape.planes.push(plane);
            }
        }
        Some(shape)
    }

    /// The places of all contact points at time `t` and configuration `q`, in the order of the records; none for a contact that is
    /// given without a material point, which lies nowhere in particular.
    #[doc(hidden)]
    #[must_use]
    pub fn contact_places(&self, t: f64, q: &[f64]) -> Vec<Option<ContactPlace>> {
        match &self.mechanics {
            Mechanics::Generalized(model) => generalized(model, t, q),
            Mechanics::Body(model) => body(model, q),
            _ => Vec::new(),
        }
    }
}

fn generalized(model: &GeneralizedModel, t: f64, q: &[f64]) -> Vec<Option<ContactPlace>> {
    let points = model.contacts.iter().flat_map(|contact| &contact.points);
    let evaluate = |list: &[Expression]| {
        let mut out = vec![0.0; list.len()];
        let read = |k: usize| {
            if k == 0 {
                t
            } else {
                q.get(k - 1).copied().unwrap_or(0.0)
            }
        };
        Tape::compile(&model.graph, list).evaluate_with(read, &mut Vec::new(), &mut out);
        let mut place = [0.0; 3];
        place[..out.len()].copy_from_slice(&out);
        place
    };
    points
        .map(|point| {
            let place = point.place.as_ref()?;
            Some(ContactPlace {
                position: evaluate(&place.position),
                axes: place.axes.iter().map(|axis| evaluate(axis)).collect(),
            })
        })
        .collect()
}

/// The lowest point of each ball.
fn body(model: &BodyModel, q: &[f64]) -> Vec<Option<ContactPlace>> {
    let rotation = UnitQuaternion([q[3], q[4], q[5], q[6]]);
    let places = model.contacts.iter().map(|contact| {
        let length = dot(&contact.normal, &contact.normal).sqrt();
        let normal = contact.normal.map(|x| x / length);
        let arm = rotation.world_from_body(contact.arm);
        let [t1, t2] = orthonormal_tangents(normal);
        Some(ContactPlace {
            position: [0, 1, 2].map(|k| q[k] + arm[k] - contact.radius * normal[k]),
            axes: vec![normal, t1, t2],
        })
    });
    places.collect()
}
