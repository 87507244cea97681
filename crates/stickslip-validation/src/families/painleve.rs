//! The two-coordinate bar of Painlevé's paradox and the pinned bar: every solution, event by event.

use crate::engine::{LocalView, contact_dynamics, impact};
use crate::reference::Start;
use crate::{Answer, CaseError, CaseInput, Inputs};
use stickslip::algebra::Jet;
use stickslip::contact::{ContactProblem, ContactSolution, ContactSolver};
use stickslip::internals::one_contact::gamma;
use stickslip::internals::{
    GeneralizedSet, ReferenceEvent, ReferenceEventKind, bracketed_root, dot,
};
use stickslip::laws::{ContactLaw, FlowRule, FrictionSection, GeneralizedRule, ImpactLaw};
use stickslip::simulation::studies::one_step_problem;
use stickslip::solvers::GeneralizedReaction;
use stickslip::solvers::enumeration::{EnumerationSettings, Mode, enumerate};
use stickslip::stepping::MoreauContactDynamics;
use stickslip::systems::functions::{AutoScalar, GivenRows};
use stickslip::systems::{ContactFrame, GeneralizedSystem, UnilateralConstraint};

/// The bar: centre on a line, one end above a rough axis.
#[derive(Clone, Copy)]
struct Bar {
    m: f64,
    inertia: f64,
    l: f64,
    theta0: f64,
    mu: f64,
    force: [f64; 2],
}

const GENERALIZED: fn() -> FlowRule = || FlowRule::Generalized(GeneralizedRule::default());

impl Bar {
    fn read(params: &Inputs) -> Result<Self, CaseError> {
        Ok(Self {
            m: params.number("m")?,
            inertia: params.number("J")?,
            l: params.number("l")?,
            theta0: params.number("theta0")?,
            mu: params.number("mu")?,
            force: [
                params.number_or("f_x", 0.0)?,
                params.number_or("f_theta", 0.0)?,
            ],
        })
    }

    fn system(self, law: ImpactLaw, rule: FlowRule) -> Result<GeneralizedSystem, CaseError> {
        let tip = move |q: &[Jet]| [q[0] + q[1].cos() * self.l, q[1].sin() * self.l];
        let law = ContactLaw::new(FrictionSection::segment(self.mu)?, law)?.with_flow_rule(rule);
        let axis = UnilateralConstraint::new(
            "axis",
            AutoScalar(move |_: Jet, q: &[Jet]| q[1] - self.theta0),
        )
        .with_point(ContactFrame::planar_point(tip, [0.0, 1.0]), law);
        Ok(GeneralizedSystem::builder(["x", "theta"])
            .mass_diagonal(&[self.m, self.inertia])
            .dead_load(&self.force)
            .constraint(axis)
            .build(&[0.0, self.theta0])?)
    }

    /// The one-step problem of length h from the contact with velocity v.
    fn problem(self, rule: FlowRule, v: &[f64], h: f64) -> Result<ContactProblem, CaseError> {
        let system = self.system(ImpactLaw::Inelastic, rule)?;
        let mut scheme = MoreauContactDynamics::default();
        let q = [0.0, self.theta0];
        Ok(one_step_problem(&system, &mut scheme, (0.0, &q, v), h))
    }

    /// Generalized impulse of the real one.
    fn generalized(problem: &ContactProblem, p: &[f64]) -> [f64; 2] {
        let component = |j: usize| {
            p.iter()
                .enumerate()
                .map(|(i, p)| p * problem.row(i)[j])
                .sum()
        };
        [component(0), component(1)]
    }

    /// Impulses of all real-world solutions of one step, the smooth ones first.
    fn coulomb(self, v: &[f64], h: f64) -> Result<Vec<(Mode, Vec<f64>)>, CaseError> {
        let problem = self.problem(FlowRule::Coulomb, v, h)?;
        let found = enumerate(&problem, &EnumerationSettings::default())
            .map_err(CaseError::not_computed)?;
        let mut all: Vec<(Mode, Vec<f64>)> = found
            .solutions
            .into_iter()
            .map(|s| (s.modes[0], s.impulse))
            .collect();
        all.sort_by_key(|(mode, _)| match mode {
            Mode::Open => 0,
            Mode::SlipUpper | Mode::SlipLower | Mode::Closed => 1,
            Mode::Stick => 2,
        });
        Ok(all)
    }

    /// Impulse of P'3 in one step.
    fn generalized_impulse(self, v: &[f64], h: f64) -> Result<Vec<f64>, CaseError> {
        let problem = self.problem(GENERALIZED(), v, h)?;
        let mut solution = ContactSolution::default();
        solution.prepare(problem.size());
        GeneralizedReaction::default().solve(&problem, &mut solution);
        Ok(solution.impulse)
    }

    /// The motion that begins with an impulse p of a step h; `p2` is the impulse of the step 2h.
    fn motion(
        self,
        v: f64,
        t_end: f64,
        (h, p): (f64, &[f64]),
        p2: &[f64],
    ) -> Result<Answer, CaseError> {
        let start = [v, 0.0];
        let problem = self.problem(FlowRule::Coulomb, &start, h)?;
        let mut after = [0.0; 2];
        problem.velocity(p, &mut after);
        let velocity = (after[0] - v) / h;
        // An impulse that does not shrink with the step is an impact; linear in h, so this is exact.
        let at_once: Vec<f64> = p.iter().zip(p2).map(|(a, b)| 2.0 * a - b).collect();
        let size = dot(&at_once, &at_once).sqrt();
        if size > 1e-9 * self.m * v.abs() {
            let [r_x, r_theta] = Self::generalized(&problem, &at_once);
            let mut answer = group! {
                "xdot_plus" => v + r_x / self.m,
                "impulse_r_x" => r_x,
                "impulse_r_theta" => r_theta,
                "impulse_real" => [at_once[1], at_once[0]],
                "impulse_real_ratio" => at_once[1] / at_once[0],
            };
            // The force of an impact is without bound.
            let unbounded = |r: f64| {
                if r == 0.0 {
                    0.0
                } else {
                    f64::INFINITY.copysign(r)
                }
            };
            answer.insert("r_x", unbounded(r_x));
            answer.insert("r_theta", unbounded(r_theta));
            answer.insert("real_r_y", unbounded(at_once[0]));
            answer.insert("real_r_x", unbounded(at_once[1]));
            answer.insert("xddot", unbounded(r_x));
            // The slide ends at once.
            let rest = self.rests(h)?;
            answer.insert("stop_time", 0.0);
            answer.insert("x_stop", 0.0);
            answer.insert("then", if rest { "stick" } else { "motion" });
            if rest {
                answer.insert("type", "tangential_impact_then_rest");
                answer.insert("x_T", 0.0);
                answer.insert("xdot_T", 0.0);
                answer.insert("theta_T", self.theta0);
                answer.insert("thetadot_T", 0.0);
            } else {
                answer.insert("type", "tangential_impact_then_motion");
                self.insert_state(&mut answer, [0.0, v + r_x / self.m], t_end)?;
            }
            return Ok(answer);
        }
        let [r_x, r_theta] = Self::generalized(&problem, p).map(|r| r / h);
        let mut answer = group! {
            "r_theta" => r_theta,
            "r_x" => r_x,
            "real_r_y" => p[0] / h,
            "real_r_x" => p[1] / h,
            "xddot" => velocity,
            // No impact.
            "xdot_plus" => v,
            "impulse_r_x" => 0.0,
            "impulse_r_theta" => 0.0,
            "impulse_real" => [0.0, 0.0],
        };
        let spin = after[1] / h;
        if p.iter().all(|&p| p == 0.0) {
            let lifts = spin > 0.0;
            answer.insert("type", if lifts { "liftoff" } else { "grazing" });
            answer.insert("x_T", v * t_end + 0.5 * velocity * t_end * t_end);
            answer.insert("xdot_T", v + velocity * t_end);
            answer.insert("theta_T", self.theta0 + 0.5 * spin * t_end * t_end);
            answer.insert("thetadot_T", spin * t_end);
            // Along the axis only the force brakes it.
            let stop = -v / velocity;
            if spin == 0.0 && stop > 0.0 && stop.is_finite() {
                answer.insert("stop_time", stop);
                answer.insert("x_stop", 0.5 * v * stop);
                answer.insert("then", if self.rests(h)? { "stick" } else { "motion" });
            } else {
                answer.insert("stop_time", f64::INFINITY);
                answer.insert("x_stop", f64::INFINITY.copysign(v));
                answer.insert("then", Answer::none());
            }
            return Ok(answer);
        }
        answer.insert("type", "sliding");
        let stop = -v / velocity;
        if !(stop > 0.0 && stop < t_end) {
            let stop = if stop > 0.0 { stop } else { f64::INFINITY };
            answer.insert("stop_time", stop);
            answer.insert("x_stop", 0.5 * v * stop);
            let then = match (stop.is_finite(), self.rests(h)?) {
                (false, _) => Answer::none(),
                (true, true) => "stick".into(),
                (true, false) => "motion".into(),
            };
            answer.insert("then", then);
            answer.insert("x_T", v * t_end + 0.5 * velocity * t_end * t_end);
            answer.insert("xdot_T", v + velocity * t_end);
            answer.insert("theta_T", self.theta0);
            answer.insert("thetadot_T", 0.0);
            return Ok(answer);
        }
        let distance = 0.5 * v * stop;
        answer.insert("stop_time", stop);
        answer.insert("x_stop", distance);
        if self.rests(h)? {
            answer.insert("then", "stick");
            answer.insert("x_T", distance);
            answer.insert("xdot_T", 0.0);
            answer.insert("theta_T", self.theta0);
            answer.insert("thetadot_T", 0.0);
        } else {
            answer.insert("then", "motion");
            self.insert_state(&mut answer, [distance, 0.0], t_end - stop)?;
        }
        Ok(answer)
    }

    /// State after the time t of the motion that goes on from (x, x') in contact: forces are constant, so that
    /// the acceleration of the first step is that of the rest until a slip changes its sense, which it does not
    /// from rest.
    fn insert_state(self, answer: &mut Answer, [x, v]: [f64; 2], t: f64) -> Result<(), CaseError> {
        let h = 1e-6;
        let start = [v, 0.0];
        let problem = self.problem(GENERALIZED(), &start, h)?;
        let p = self.generalized_impulse(&start, h)?;
        let mut after = [0.0; 2];
        problem.velocity(&p, &mut after);
        let (acceleration, spin) = ((after[0] - v) / h, after[1] / h);
        answer.insert("x_T", x + v * t + 0.5 * acceleration * t * t);
        answer.insert("xdot_T", v + acceleration * t);
        answer.insert("theta_T", self.theta0 + 0.5 * spin * t * t);
        answer.insert("thetadot_T", spin * t);
        Ok(())
    }

    /// Whether the bar stays at rest in contact.
    fn rests(self, h: f64) -> Result<bool, CaseError> {
        let problem = self.problem(GENERALIZED(), &[0.0, 0.0], h)?;
        let p = self.generalized_impulse(&[0.0, 0.0], h)?;
        let mut after = [0.0; 2];
        problem.velocity(&p, &mut after);
        Ok(after[0].abs() + after[1].abs() <= 1e-12)
    }
}

/// `painleve-bar-motion`: P'3 and all solutions of P5.
pub(super) fn motion(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let bar = Bar::read(params)?;
    let [v, t_end] = params.each(["V0", "T"])?;
    let system = bar.system(ImpactLaw::Inelastic, FlowRule::Coulomb)?;
    let q = [0.0, bar.theta0];
    let view = LocalView::new(&system, &q, &[v, 0.0])?;
    let w = view.delassus();
    let at = |mu: f64| gamma(w, &FrictionSection::Disc { mu, dimension: 1 });
    let mut high = 1.0;
    while at(high) > 0.0 && high < 1e12 {
        high *= 2.0;
    }
    // Multiplier of dφ = (0, 1): the normal row is l cos θ₀ times it.
    let per_row = view.row(0)[1];
    let set = GeneralizedSet::from_cone(w, FrictionSection::segment(bar.mu)?);
    let (lower, upper) = set.ends().unwrap_or((0.0, 0.0));
    let unit = bar.inertia.sqrt();
    let mut answer = group! {
        // A contact whose rows are not coupled never jams.
        "mu_crit" => if at(high) > 0.0 {
            f64::INFINITY
        } else {
            bracketed_root(0.0, at(0.0), high, at(high), at)
        },
        "gap_parameter_p" => (w[0] - bar.mu * w[1]) * bar.inertia / per_row,
        "Cstar_per_dphi" => [lower / per_row, upper / per_row],
        "Cstar_per_nstar" => [lower / per_row * unit, upper / per_row * unit],
        "bounded" => set.is_bounded(),
    };
    let h = 1e-4;
    let start = [v, 0.0];
    let (one, two) = (bar.coulomb(&start, h)?, bar.coulomb(&start, 2.0 * h)?);
    let mut motions = Vec::new();
    for (mode, p) in &one {
        let Some((_, p2)) = two.iter().find(|(other, _)| other == mode) else {
            continue;
        };
        motions.push(bar.motion(v, t_end, (h, p), p2)?);
    }
    answer.insert("P5", motions);
    let (p, p2) = (
        bar.generalized_impulse(&start, h)?,
        bar.generalized_impulse(&start, 2.0 * h)?,
    );
    answer.insert("Pprime3", bar.motion(v, t_end, (h, &p), &p2)?);
    Ok(answer)
}

/// `painleve-bar-impact`.
pub(super) fn bar_impact(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let bar = Bar::read(params)?;
    let v = params.vector::<2>("v_minus")?;
    let restitution = params.number("e")?;
    let law = ImpactLaw::Newton { restitution };
    let q = [0.0, bar.theta0];
    let generalized = impact(
        bar.system(law, GENERALIZED())?,
        contact_dynamics(),
        (&q, &v),
    )?;
    let coulomb = impact(
        bar.system(law, FlowRule::Coulomb)?,
        contact_dynamics(),
        (&q, &v),
    )?;
    Ok(group! {
        "Pprime3" => group! {
            "v_plus" => &generalized.velocity,
            "lambda_dphi" => bar.inertia * (generalized.velocity[1] - v[1]),
            "r_x" => bar.m * (generalized.velocity[0] - v[0]),
            "energy_change" => generalized.energy.kinetic_change,
        },
        "P5_newton" => group! {
            "v_plus" => &coulomb.velocity,
            "p_real" => &coulomb.impulses,
            "energy_change" => coulomb.energy.kinetic_change,
        },
    })
}

/// A bar that leaves or hits its obstacle: friction has no effect on one coordinate, so it bounces as a ball does.
fn bounces_of_bar(
    inertia: f64,
    force: f64,
    start: f64,
    restitution: f64,
    t_end: f64,
) -> Result<Answer, CaseError> {
    let gap = AutoScalar(|_: Jet, q: &[Jet]| q[0]);
    let law = ContactLaw::frictionless(ImpactLaw::Newton { restitution })?;
    let system = GeneralizedSystem::builder(["theta"])
        .mass_diagonal(&[inertia])
        .dead_load(&[force])
        .constraint(
            UnilateralConstraint::new("obstacle", gap).with_point(ContactFrame::Frictionless, law),
        )
        .build(&[0.0])?;
    let start = Start {
        system,
        q: vec![0.0],
        v: vec![start],
    };
    let speed = start.v[0].abs();
    let mut motion = start.reference();
    motion.run(t_end)?;
    let (theta, turn) = (motion.motion.q()[0], motion.motion.v()[0]);
    let rests = theta.abs() < 1e-12 && turn.abs() < 1e-12;
    // When the bounces end: never without a force that brings the bar back or with restitution 1.
    let zeno = if force >= 0.0 || restitution >= 1.0 {
        f64::INFINITY
    } else {
        let flight = 2.0 * speed * inertia / -force;
        let ended = |event: &ReferenceEvent| {
            matches!(
                event.kind,
                ReferenceEventKind::Accumulation { .. } | ReferenceEventKind::Closed
            )
        };
        let longest = t_end + 4.0 * flight / (1.0 - restitution);
        match motion.run_to_event(flight.max(t_end), longest, ended)? {
            Some(event) => match event.kind {
                ReferenceEventKind::Accumulation { end } => end,
                _ => event.t,
            },
            None => f64::INFINITY,
        }
    };
    Ok(group! {
        "theta_T" => theta,
        "thetadot_T" => turn,
        "r_theta" => if rests { (-force).max(0.0) } else { 0.0 },
        "zeno_time" => zeno,
    })
}

/// `pinned-bar`: one coordinate, so friction has no generalized effect at all.
pub(super) fn pinned_bar(input: &CaseInput) -> Result<Answer, CaseError> {
    let params = &input.params;
    let [inertia, l, mu] = params.each(["J", "l", "mu"])?;
    let (sin, cos) = params.number("angle_deg")?.to_radians().sin_cos();
    let [force, t_end] = params.each(["f_theta", "T"])?;
    let start = params.number("thetadot0")?;
    let rows = [l * sin, l * cos];
    let law = ContactLaw::new(FrictionSection::segment(mu)?, ImpactLaw::Inelastic)?
        .with_flow_rule(GENERALIZED());
    let frame = ContactFrame::Material {
        count: 1,
        rows: Box::new(GivenRows(move |_: &[f64], out: &mut [f64]| {
            out.copy_from_slice(&rows)
        })),
    };
    let gap = AutoScalar(|_: Jet, q: &[Jet]| q[0]);
    let system = GeneralizedSystem::builder(["theta"])
        .mass_diagonal(&[inertia])
        .dead_load(&[force])
        .constraint(UnilateralConstraint::new("obstacle", gap).with_point(frame, law))
        .build(&[0.0])?;
    let restitution = params.number_or("e", 0.0)?;
    let mut prime = if start == 0.0 {
        // From rest: one step tells acceleration and reaction, both constant.
        let h = 1e-3;
        let mut scheme = MoreauContactDynamics::default();
        let problem = one_step_problem(&system, &mut scheme, (0.0, &[0.0], &[start]), h);
        let mut solution = ContactSolution::default();
        solution.prepare(problem.size());
        GeneralizedReaction::default().solve(&problem, &mut solution);
        let mut after = [0.0];
        problem.velocity(&solution.impulse, &mut after);
        let acceleration = after[0] / h;
        let reaction: f64 = (0..problem.size())
            .map(|i| solution.impulse[i] * problem.row(i)[0] / h)
            .sum();
        group! {
            "theta_T" => 0.5 * acceleration * t_end * t_end,
            "thetadot_T" => acceleration * t_end,
            "r_theta" => reaction,
        }
    } else {
        bounces_of_bar(inertia, force, start, restitution, t_end)?
    };
    if start == 0.0 {
        // Nothing bounces from rest.
        prime.insert("zeno_time", Answer::Absent);
    }
    let wedging = mu * rows[1] > rows[0];
    let mut answer = group! {
        "wedging_possible_real_world" => wedging,
        "tan_angle" => rows[0] / rows[1],
        "Pprime3" => prime,
    };
    // Stuck in the real world: the edge of the cone that pulls back balances the force, if there is one.
    let edge = rows[0] - mu * rows[1];
    let normal = (wedging && force > 0.0).then(|| -force / edge);
    answer.insert(
        "P6_family",
        group! {
            "r_n" => Answer::or_none(normal),
            "r_t" => Answer::or_none(normal.map(|n| -mu * n)),
            "check_r_theta" => Answer::or_none(normal.map(|n| n * edge)),
        },
    );
    Ok(answer)
}
