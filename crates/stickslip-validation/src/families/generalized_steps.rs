//! Steps of the generalized law: random ones, corners, grooves and blocks on two feet.

use crate::{Answer, CaseError, CaseInput, Inputs};
use stickslip::algebra::SymmetricMatrix;
use stickslip::contact::{
    BlockKind, ContactKey, ContactProblem, ContactSolution, ContactSolver, SolveStatus,
};
use stickslip::internals::{CholeskyFactor, GeneralizedSet, NormalStage, dot};
use stickslip::laws::{
    ActiveSpace, FlowRule, FrictionSection, GeneralizedRule, Polyhedron, Sections, SetUnit,
};
use stickslip::solvers::GeneralizedReaction;

/// Rows (normal first) and section of one contact.
pub(super) type Contact = (Vec<Vec<f64>>, FrictionSection);

/// A body with contacts at one configuration.
pub(super) struct Impact {
    pub mass: SymmetricMatrix,
    pub contacts: Vec<Contact>,
}

/// What a step of the law did.
pub(super) struct Stepped {
    pub before: Vec<f64>,
    pub after: Vec<f64>,
    /// Velocity after the normal stage.
    pub normal: Vec<f64>,
    pub solution: ContactSolution,
    pub problem: ContactProblem,
}

impl Impact {
    pub fn problem(&self, rule: GeneralizedRule, v: &[f64]) -> Result<ContactProblem, CaseError> {
        let mut problem = ContactProblem::default();
        problem.begin(v.len());
        for (constraint, (rows, section)) in self.contacts.iter().enumerate() {
            let key = ContactKey::declared(constraint, 0);
            let kind = BlockKind::Unilateral { minimum: 0.0 };
            let (target, _) = problem.push(
                key,
                rows.len(),
                section.clone(),
                FlowRule::Generalized(rule),
                kind,
            );
            target.copy_from_slice(&rows.concat());
        }
        let factor = self.factor()?;
        problem.condense(|x| factor.solve_in_place(x));
        problem.velocity_free_mut().copy_from_slice(v);
        problem.refresh();
        Ok(problem)
    }

    pub fn step(
        &self,
        rule: GeneralizedRule,
        v: &[f64],
        restitution: f64,
    ) -> Result<Stepped, CaseError> {
        let mut problem = self.problem(rule, v)?;
        *problem.normal_stage_mut() = NormalStage::Moreau { restitution };
        let mut solution = ContactSolution::default();
        solution.prepare(problem.size());
        GeneralizedReaction::default().solve(&problem, &mut solution);
        if solution.status != SolveStatus::Converged {
            return Err(CaseError::not_computed(format!(
                "the step ended as {:?}",
                solution.status
            )));
        }
        let velocity = |impulse: &[f64]| {
            let mut out = vec![0.0; v.len()];
            problem.velocity(impulse, &mut out);
            out
        };
        let mut normal = vec![0.0; problem.size()];
        for (block, l) in problem.blocks().iter().zip(&solution.generalized.budget) {
            normal[block.start] = *l;
        }
        Ok(Stepped {
            before: v.to_vec(),
            after: velocity(&solution.impulse),
            normal: velocity(&normal),
            solution,
            problem,
        })
    }

    fn energy(&self, v: &[f64]) -> f64 {
        0.5 * self.mass.bilinear(v, v)
    }

    fn momentum(&self, to: &[f64], from: &[f64]) -> Vec<f64> {
        let jump: Vec<f64> = to.iter().zip(from).map(|(a, b)| a - b).collect();
        let mut out = vec![0.0; jump.len()];
        self.mass.multiply(&jump, &mut out);
        out
    }

    /// The quantities every reference step has.
    fn answer(&self, step: &Stepped) -> Answer {
        let (before, after) = (self.energy(&step.before), self.energy(&step.after));
        let space = &step.solution.generalized.in_active_space;
        let inside: Vec<usize> = (0..space.len()).filter(|&a| space[a]).collect();
        group! {
            "v_plus" => &step.after,
            "lam_dphi" => &step.solution.generalized.budget,
            "v_N" => &step.normal,
            "KE_minus" => before,
            "KE_plus" => after,
            "impulse" => self.momentum(&step.after, &step.before),
            "frictional_impulse" => self.momentum(&step.after, &step.normal),
            "J0" => inside,
            "dissipative" => after <= before + 1e-9,
        }
    }

    /// Cone splitting of the total impulse and its distance to the literal law.
    fn strict(&self, step: &Stepped) -> Result<Answer, CaseError> {
        // The splitting is a normal stage: least norm of r − Σ λ n over λ ≥ 0.
        let total = self.momentum(&step.after, &step.before);
        let mut backwards = total.clone();
        self.factor()?.solve_in_place(&mut backwards);
        backwards.iter_mut().for_each(|x| *x = -*x);
        let rule = GeneralizedRule::default();
        let split = self.frictionless().step(rule, &backwards, 0.0)?;
        let lambda = &split.solution.generalized.budget;
        Ok(group! {
            "lam_proj" => lambda,
            "r_tau" => self.without_normals(total, lambda),
            "dist_r_tau_to_C" => step.solution.generalized.strict_distance,
        })
    }

    fn factor(&self) -> Result<CholeskyFactor, CaseError> {
        let mut factor = CholeskyFactor::default();
        let wanted = "a positive definite matrix";
        factor
            .factor(&self.mass)
            .map_err(|_| CaseError::bad_parameter("M", "not positive definite", wanted))?;
        Ok(factor)
    }

    /// The same body with the normals alone.
    fn frictionless(&self) -> Impact {
        let normal = |(rows, _): &Contact| (rows[..1].to_vec(), FrictionSection::None);
        Impact {
            mass: self.mass.clone(),
            contacts: self.contacts.iter().map(normal).collect(),
        }
    }

    /// What is left of an impulse without its parts λ along the normals.
    fn without_normals(&self, mut impulse: Vec<f64>, lambda: &[f64]) -> Vec<f64> {
        for ((rows, _), l) in self.contacts.iter().zip(lambda) {
            impulse
                .iter_mut()
                .zip(&rows[0])
                .for_each(|(r, n)| *r -= l * n);
        }
        impulse
    }
}

/// The rule of the reference steps: the firm active space.
fn firm() -> GeneralizedRule {
    GeneralizedRule {
        active_space: ActiveSpace::Firm,
        ..GeneralizedRule::default()
    }
}

fn joint() -> GeneralizedRule {
    GeneralizedRule {
        sections: Sections::Joint,
        ..GeneralizedRule::default()
    }
}

/// `p4-random`: sets given per dφ, some of them unbounded.
pub(super) fn random(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let mut contacts = Vec::new();
    for (normal, set) in params.table("D")?.into_iter().zip(params.rows("sets")?) {
        let n = normal.len();
        let mut rows = vec![normal];
        let end = |name: &str, infinite: f64| match set.number(name) {
            Err(_) if set.word(name).is_ok() => Ok(infinite),
            other => other,
        };
        let section = match set.word("kind")? {
            "interval" => {
                rows.push(set.numbers("t")?);
                FrictionSection::interval(end("lo", f64::NEG_INFINITY)?, end("hi", f64::INFINITY)?)?
            }
            "ellipse" => {
                rows.extend(set.table("T")?);
                FrictionSection::ellipse(set.vector("radii")?)?
            }
            "poly" => {
                // Vertices and rays are covectors: the rows are the coordinates themselves.
                for i in 0..n {
                    rows.push((0..n).map(|j| f64::from(u8::from(i == j))).collect());
                }
                FrictionSection::general(Polyhedron::new(set.table("V")?, set.table("R")?)?)?
            }
            other => {
                return Err(CaseError::bad_parameter(
                    "kind",
                    other,
                    "interval, ellipse or poly",
                ));
            }
        };
        contacts.push((rows, section));
    }
    let impact = Impact {
        mass: params.matrix("M")?,
        contacts,
    };
    let rule = GeneralizedRule {
        unit: SetUnit::PerGradient,
        ..firm()
    };
    let step = impact.step(rule, &params.numbers("v_minus")?, params.number("e")?)?;
    Ok(impact.answer(&step))
}

/// Block on two feet.
struct Block {
    impact: Impact,
    m: f64,
    g: f64,
    mu: f64,
    h: f64,
    speed: f64,
    half_width: f64,
    height: f64,
}

impl Block {
    fn read(params: &Inputs) -> Result<Self, CaseError> {
        let [m, inertia, mu] = params.each(["m", "J", "mu"])?;
        let [b, c] = params.each(["half_width", "com_height"])?;
        let contacts = [-b, b]
            .iter()
            .map(|&x| {
                let rows = vec![vec![0.0, 1.0, x], vec![1.0, 0.0, c]];
                Ok((rows, FrictionSection::segment(mu)?))
            })
            .collect::<Result<_, CaseError>>()?;
        Ok(Self {
            impact: Impact {
                mass: SymmetricMatrix::diagonal(&[m, m, inertia]),
                contacts,
            },
            m,
            g: params.number("g")?,
            mu,
            h: params.number("h")?,
            speed: params.number("V")?,
            half_width: b,
            height: c,
        })
    }

    fn step(&self, rule: GeneralizedRule) -> Result<Stepped, CaseError> {
        self.impact
            .step(rule, &[self.speed, -self.g * self.h, 0.0], 0.0)
    }

    /// Horizontal force that slowed the block down.
    fn force(&self, step: &Stepped) -> f64 {
        -self.m * (step.after[0] - step.before[0]) / self.h
    }

    fn coulomb(&self) -> f64 {
        self.speed.signum() * self.mu * self.m * self.g
    }
}

/// `joint-block`: the joint section gives μ m g.
pub(super) fn joint_block(input: &CaseInput) -> Result<Answer, CaseError> {
    let block = Block::read(&input.params)?;
    let step = block.step(joint())?;
    Ok(group! { "friction_force_joint" => block.force(&step), "coulomb" => block.coulomb() })
}

/// `two-foot-block`: sections per constraint, and how far from the literal law.
pub(super) fn two_foot_block(input: &CaseInput) -> Result<Answer, CaseError> {
    let block = Block::read(&input.params)?;
    let step = block.step(firm())?;
    // κ: coupling of the tangent of one foot to its normal, per normal.
    let m = step.problem.size();
    let w = step.problem.dense();
    let kappa = (w[m * 2 + 3] / w[m * 2 + 2]).abs();
    let mu_kappa = block.mu * kappa;
    Ok(group! {
        "kappa" => kappa,
        "mu_kappa" => mu_kappa,
        "friction_force_reference_P4" => block.force(&step),
        "closed_form" => block.coulomb() / (1.0 - mu_kappa * mu_kappa),
        "friction_force_coulomb" => block.coulomb(),
        "v_plus" => &step.after,
        "strict_dist" => step.solution.generalized.strict_distance,
        "tips_under_coulomb" => block.mu * block.height > block.half_width,
    })
}

/// A particle in the corner of two planes.
fn corner(angle: f64, mu: &[f64], space: bool) -> Result<Impact, CaseError> {
    let (sin, cos) = angle.sin_cos();
    let extend = |x: f64, y: f64| if space { vec![x, y, 0.0] } else { vec![x, y] };
    let planes = [
        [extend(0.0, 1.0), extend(1.0, 0.0)],
        [extend(sin, -cos), extend(cos, sin)],
    ];
    let contacts = planes
        .into_iter()
        .zip(mu)
        .map(|(rows, &mu)| {
            let mut rows = rows.to_vec();
            if space {
                rows.push(vec![0.0, 0.0, 1.0]);
            }
            Ok((rows, FrictionSection::ball(mu, if space { 2 } else { 1 })?))
        })
        .collect::<Result<_, CaseError>>()?;
    let n = if space { 3 } else { 2 };
    Ok(Impact {
        mass: SymmetricMatrix::diagonal(&vec![1.0; n]),
        contacts,
    })
}

/// `corner-2d`, `corner-3d`.
pub(super) fn corner_step(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let v = params.numbers("v_minus")?;
    let space = v.len() == 3;
    let angle = params.number("wedge_angle_deg")?.to_radians();
    let impact = corner(angle, &params.numbers("mu")?, space)?;
    let e = params.number("e")?;
    let step = impact.step(firm(), &v, e)?;
    let mut answer = impact.answer(&step);
    if space {
        answer.insert("strict_P4", impact.strict(&step)?);
    } else {
        let all = impact.step(GeneralizedRule::default(), &v, e)?;
        answer.insert("strict_P4_with_frictionless_F", &all.after);
    }
    Ok(answer)
}

/// `joint-corner`: joint section against sections per plane.
pub(super) fn joint_corner(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let mu = params.number("mu")?;
    let angle = params.number("wedge_angle_deg")?.to_radians();
    let impact = corner(angle, &[mu, mu], true)?;
    let v = params.numbers("v_minus")?;
    Ok(group! {
        "vz_joint" => impact.step(joint(), &v, 0.0)?.after[2],
        "vz_P4" => impact.step(GeneralizedRule::default(), &v, 0.0)?.after[2],
    })
}

/// `corner-equilibrium`: a unit of time from rest under a force.
pub(super) fn corner_equilibrium(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let angle = params.number("wedge_angle_deg")?.to_radians();
    let impact = corner(angle, &params.numbers("mu")?, false)?;
    let step = impact.step(firm(), &params.numbers("force")?, 0.0)?;
    Ok(group! {
        "equilibrium" => dot(&step.after, &step.after).sqrt() < 1e-7,
        "acceleration" => &step.after,
        "lam" => &step.solution.generalized.budget,
    })
}

/// `corner-strict-gap`: the map F = 0 at an obtuse corner, reached over plane 1.
pub(super) fn strict_gap(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let angle = params.number("wedge_angle_deg")?.to_radians();
    let (mu, v) = (params.number("mu2")?, params.vector::<3>("v_minus")?);
    // Plane 1 carries no impulse, so its coefficient plays no part.
    let impact = corner(angle, &[0.0, mu], true)?;
    let rule = GeneralizedRule::default();
    // p_n = −M v_n⁻, split by the cone of the normals.
    let edge = v[2];
    let impulse = [-v[0], -v[1], 0.0];
    let backwards: Vec<f64> = impulse.iter().map(|x| -x).collect();
    let split = impact.frictionless().step(rule, &backwards, 0.0)?;
    let lambda = split.solution.generalized.budget;
    let rest = impact.without_normals(impulse.to_vec(), &lambda);
    // Friction of plane 2 alone: set of the particle, per unit normal.
    let (rows, section) = &impact.contacts[1];
    let member = |r: &[f64]| {
        let s: Vec<f64> = rows[1..].iter().map(|t| dot(t, r)).collect();
        section.gauge(&s) <= lambda[1] * (1.0 + 1e-12)
    };
    let closes = impact
        .contacts
        .iter()
        .all(|(rows, _)| dot(&rows[0], &rest) <= 1e-12);
    let mut stopping = rest.clone();
    stopping[2] -= edge;
    let along_edge = (edge.abs() - mu * lambda[1]).max(0.0).copysign(edge);
    Ok(group! {
        "lambda2" => lambda[1],
        "p_n_tau_norm" => dot(&rest, &rest).sqrt(),
        "condition3" => member(&rest) && closes,
        "strict_solution_exists" => member(&stopping),
        "relaxed_vz" => if along_edge == 0.0 { 0.0 } else { along_edge },
    })
}

/// `v-groove`: a bar whose ends rest on the walls of a groove.
pub(super) fn groove(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let [m, l, inertia] = params.each(["m", "l", "J"])?;
    let (sin, cos) = params.number("beta_deg")?.to_radians().sin_cos();
    let mu = params.number("mu")?;
    let rows = [
        [vec![cos, sin, -l * sin], vec![-sin, cos, -l * cos]],
        [vec![-cos, sin, l * sin], vec![sin, cos, l * cos]],
    ];
    let contacts = rows
        .iter()
        .map(|rows| Ok((rows.to_vec(), FrictionSection::segment(mu)?)))
        .collect::<Result<Vec<Contact>, CaseError>>()?;
    let impact = Impact {
        mass: SymmetricMatrix::diagonal(&[m, m, inertia]),
        contacts,
    };
    let force = params.vector::<3>("force")?;
    let start = params.vector::<3>("v_minus")?;
    let free = [
        start[0] + force[0] / m,
        start[1] + force[1] / m,
        start[2] + force[2] / inertia,
    ];
    let step = impact.step(firm(), &free, 0.0)?;

    // Sets of both ends, per dφ, along their kinetically orthogonal covectors.
    let (size, w) = (step.problem.size(), step.problem.dense());
    let (mut ends, mut covectors) = (Vec::new(), Vec::new());
    for (a, rows) in rows.iter().enumerate() {
        let n = 2 * a;
        let block: Vec<f64> = (0..4).map(|e| w[(n + e / 2) * size + n + e % 2]).collect();
        let set = GeneralizedSet::from_cone(&block, FrictionSection::segment(mu)?);
        if let Some((lower, upper)) = set.ends() {
            ends.push(Answer::from([lower, upper]));
        }
        let c = set.tilt()[0];
        let covector: Vec<f64> = rows[1]
            .iter()
            .zip(&rows[0])
            .map(|(t, n)| t - c * n)
            .collect();
        covectors.push(Answer::from(&covector));
    }
    // Wedging: a reaction with zero sum in the cones, held by the two walls facing each other.
    let wedging = mu * cos > sin;
    let mut answer = group! {
        "wedging_possible_real_world" => wedging,
        "Cstar" => ends,
        "Cstar_covector" => covectors,
        "reference_step" => group! {
            "v_free" => free,
            "v_plus" => &step.after,
            "lam" => &step.solution.generalized.budget,
            "KE_free" => impact.energy(&free),
            "KE_plus" => impact.energy(&step.after),
        },
        "strict" => impact.strict(&step)?,
        "generalized_equilibrium" => dot(&step.after, &step.after).sqrt() < 1e-6,
        "real_world_equilibrium_possible" => holds(&impact, &force, mu),
    };
    // A formula for a vertical pull, which no squeeze holds where nothing wedges.
    let vertical = force[0] == 0.0 && force[2] == 0.0 && force[1] > 0.0;
    let squeeze = if !vertical {
        Answer::none()
    } else if !wedging {
        f64::INFINITY.into()
    } else {
        // Least axial squeeze: both ends at the edge of their cones that pulls the bar down.
        let edge: Vec<f64> = rows[0][0]
            .iter()
            .zip(&rows[0][1])
            .map(|(n, t)| n - mu * t)
            .collect();
        (0.5 * force[1] * edge[0] / -edge[1]).into()
    };
    answer.insert("closed_form_min_squeeze_R", squeeze);
    Ok(answer)
}

/// Whether −force is a sum of reactions in the real cones.
fn holds(impact: &Impact, force: &[f64], mu: f64) -> bool {
    // Edges of both planar cones: nonnegative combinations that balance the force.
    let edges: Vec<Vec<f64>> = impact
        .contacts
        .iter()
        .flat_map(|(rows, _)| {
            [mu, -mu].map(|s| {
                rows[0]
                    .iter()
                    .zip(&rows[1])
                    .map(|(n, t)| n + s * t)
                    .collect()
            })
        })
        .collect();
    let mut system = stickslip::internals::LinearSystem::new(edges.len());
    for (i, f) in force.iter().enumerate() {
        system.equal(edges.iter().map(|e: &Vec<f64>| e[i]), -f);
    }
    system.feasible_point(1e-10).is_some()
}
