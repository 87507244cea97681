//! Rapier: f64, Coulomb friction at every point, twelve solver iterations, geometry recomputed in every step.

use rapier3d_f64::prelude::*;

use crate::scene::{Form, Item, Obstacle, Scene};
use crate::{Figures, cpu_time};

/// Makes the steps of a scene.
pub fn run(scene: &Scene) -> Figures {
    let mut bodies = RigidBodySet::new();
    let mut colliders = ColliderSet::new();
    let mut driven = Vec::new();
    for obstacle in &scene.obstacles {
        match *obstacle {
            Obstacle::Plane(place, normal) => {
                let shape = SharedShape::halfspace(Vector::from_array(normal));
                let collider = ColliderBuilder::new(shape)
                    .translation(Vector::from_array(place))
                    .friction(scene.friction);
                colliders.insert(collider);
            }
            Obstacle::Drum(radius, length, rate, plates) => {
                let body = bodies.insert(
                    RigidBodyBuilder::kinematic_velocity_based()
                        .angvel(Vector::new(0.0, rate, 0.0)),
                );
                for (sides, angle) in crate::ours::plates(radius, length, plates) {
                    let reach = radius + 0.5 * sides[2];
                    let collider =
                        ColliderBuilder::cuboid(0.5 * sides[0], 0.5 * sides[1], 0.5 * sides[2])
                            .rotation(Vector::new(0.0, angle, 0.0))
                            .translation(Vector::new(
                                -reach * angle.sin(),
                                0.0,
                                -reach * angle.cos(),
                            ))
                            .friction(scene.friction);
                    colliders.insert_with_parent(collider, body, &mut bodies);
                }
                driven.push(body);
            }
        }
    }
    for item in &scene.items {
        add(item, scene.friction, &mut bodies, &mut colliders);
    }
    let mut parameters = IntegrationParameters::default();
    parameters.dt = 1e-3;
    parameters.length_unit = scene.size;
    parameters.num_solver_iterations = 12;
    parameters.friction_model = FrictionModel::Coulomb;
    parameters.contact_recycling = false;
    let mut soft = SoftBodySet::new();
    let mut pipeline = PhysicsPipeline::new();
    let mut islands = IslandManager::new();
    let mut broad = DefaultBroadPhase::new();
    let mut narrow = NarrowPhase::new();
    let (mut impulse, mut multi, mut ccd) = (
        ImpulseJointSet::new(),
        MultibodyJointSet::new(),
        CCDSolver::new(),
    );
    let mut figures = Figures {
        times: Vec::new(),
        contacts: 0.0,
        residuals: Vec::new(),
        sweeps: Vec::new(),
        phases: [0.0; 5],
        penetration: 0.0,
        allocations: 0.0,
    };
    // A few steps warm its impulses, as ours are.
    for step in 0..scene.steps + 5 {
        let start = cpu_time();
        pipeline.step(
            Vector::new(0.0, 0.0, -9.81),
            &parameters,
            &mut islands,
            &mut broad,
            &mut narrow,
            &mut bodies,
            &mut colliders,
            &mut impulse,
            &mut multi,
            &mut soft,
            &mut ccd,
            &(),
            &(),
        );
        if step < 5 {
            continue;
        }
        figures.times.push(cpu_time() - start);
        let mut contacts = 0;
        for pair in narrow.contact_pairs() {
            for manifold in pair.manifolds() {
                contacts += manifold.points.len();
                for point in &manifold.points {
                    figures.penetration = f64::max(figures.penetration, -point.dist / scene.size);
                }
            }
        }
        figures.contacts += contacts as f64 / scene.steps as f64;
    }
    figures
}

fn add(item: &Item, friction: f64, bodies: &mut RigidBodySet, colliders: &mut ColliderSet) {
    let [w, x, y, z] = item.turn;
    let rotation = Rotation::from_xyzw(x, y, z, w);
    let spin = rotation * Vector::from_array(item.spin);
    let mut body = RigidBodyBuilder::dynamic()
        .translation(Vector::from_array(item.place))
        .linvel(Vector::from_array(item.velocity))
        .angvel(spin)
        .can_sleep(false)
        .build();
    body.set_rotation(rotation, false);
    let handle = bodies.insert(body);
    let collider = match item.form {
        Form::Ball(radius) => ColliderBuilder::ball(radius),
        Form::Box([a, b, c]) => ColliderBuilder::cuboid(0.5 * a, 0.5 * b, 0.5 * c),
    };
    colliders.insert_with_parent(
        collider.density(item.density).friction(friction),
        handle,
        bodies,
    );
}
