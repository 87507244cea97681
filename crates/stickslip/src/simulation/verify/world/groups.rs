//! Bodies of a world that act on each other in a step: what is fast or heavy elsewhere is no measure for them.

use crate::systems::World;

use super::node::{NodeContact, WorldNode};
use super::vector::norm;

/// The groups of a step: free bodies between which contacts carry impulses.
pub(super) struct Groups {
    /// The group of each body, as one body of it; none of bodies that are not free.
    group: Vec<Option<usize>>,
    /// Per group, at the body that names it.
    sizes: Vec<Group>,
}

/// What bodies that act on each other are measured by.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    /// Largest speed of any of their points so far, or what gravity gives in the step if that is more.
    pub speed: f64,
    /// Largest impulse of the step.
    pub impulse: f64,
}

impl Group {
    fn with(self, other: Self) -> Self {
        Self {
            speed: self.speed.max(other.speed),
            impulse: self.impulse.max(other.impulse),
        }
    }
}

impl Groups {
    /// The groups of the step of length h that ends at a node, of bodies with these largest speeds.
    pub fn of(world: &World, node: &WorldNode, speeds: &[f64], h: f64) -> Self {
        let fall = (h * world.gravity_size()).max(f64::MIN_POSITIVE);
        let sizes = speeds.iter().map(|&speed| Group {
            speed: speed.max(fall),
            impulse: 0.0,
        });
        let bodies = world.bodies.iter().enumerate();
        let mut groups = Self {
            group: bodies
                .map(|(k, body)| body.is_free().then_some(k))
                .collect(),
            sizes: sizes.collect(),
        };
        let acts = |c: &&NodeContact| c.impulse.iter().chain(&c.moment).any(|&p| p != 0.0);
        for contact in node.contacts.iter().filter(acts) {
            let impulse = norm(contact.impulse);
            let roots = contact.bodies.map(|k| groups.root(k));
            if let [Some(a), Some(b)] = roots {
                groups.group[a.max(b)] = Some(a.min(b));
            }
            for root in roots.into_iter().flatten() {
                let size = &mut groups.sizes[root];
                size.impulse = size.impulse.max(impulse);
            }
        }
        // Every body names its group, and every group knows the largest of its bodies.
        for k in 0..groups.group.len() {
            let root = groups.root(k);
            groups.group[k] = root;
            if let Some(root) = root {
                groups.sizes[root] = groups.sizes[root].with(groups.sizes[k]);
            }
        }
        groups
    }

    fn root(&self, body: usize) -> Option<usize> {
        let mut root = self.group[body]?;
        while let Some(next) = self.group[root].filter(|next| *next != root) {
            root = next;
        }
        Some(root)
    }

    /// The groups of the bodies of a contact: two of a contact that carries no impulse.
    fn names(&self, contact: &NodeContact) -> [Option<usize>; 2] {
        let [a, b] = contact.bodies.map(|k| self.group[k]);
        if a == b {
            [a, None]
        } else {
            [a.min(b), a.max(b)]
        }
    }

    /// What a contact is measured by: both of its groups.
    pub fn about(&self, contact: &NodeContact) -> Group {
        let own = self.names(contact).into_iter().flatten();
        own.map(|root| self.sizes[root])
            .reduce(Group::with)
            .unwrap_or_default()
    }

    /// The contacts by group; those that lie between two groups by these.
    pub fn lists(&self, contacts: &[NodeContact]) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = (0..contacts.len()).collect();
        order.sort_by_key(|&k| self.names(&contacts[k]));
        let same = |a: &usize, b: &usize| self.names(&contacts[*a]) == self.names(&contacts[*b]);
        order.chunk_by(same).map(<[usize]>::to_vec).collect()
    }
}
