//! Watches whether the contact problems of a run have one motion.

use serde::{Deserialize, Serialize};

use crate::contact::{Certificate, ContactProblem, RankDeficiency};
use crate::records::{ContactMode, StepOutcome, StepRecord};
use crate::solvers::uniqueness::{Examination, Uniqueness, examine, radius};

/// W may change by this part before a problem with the same contacts in the same modes is examined again.
const CHANGE: f64 = 1e-2;
/// Problems with more rows are examined again only when their contacts or modes change.
const COMPARED_ROWS: usize = 40;

/// What was examined last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UniquenessWatch {
    /// Contacts and modes of the last problem.
    signature: Vec<(u32, u32, u8)>,
    /// Its W, of small problems.
    delassus: Vec<f64>,
    /// What was found.
    found: Uniqueness,
    /// The last problem whose motion was proved to be unique for every free velocity.
    #[serde(default)]
    proof: Proof,
    /// Gaps at the start of the present step and of the one before, per contact.
    gaps: Vec<f64>,
    gaps_before: Vec<f64>,
    /// Constraints that touched at the start of the present step.
    #[serde(skip)]
    touching: Vec<bool>,
    #[serde(skip)]
    next: Vec<(u32, u32, u8)>,
}

/// A problem whose motion is unique whatever its free velocity, and so whatever the modes of its contacts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Proof {
    /// Constraint, point and radius of the friction section of every contact; empty without a proof.
    contacts: Vec<(u32, u32, f64)>,
    delassus: Vec<f64>,
}

impl Proof {
    /// Takes note of an examined problem.
    fn enter(&mut self, problem: &ContactProblem, holds: bool) {
        self.contacts.clear();
        self.delassus.clear();
        if holds && problem.size() <= COMPARED_ROWS {
            self.contacts.extend(contacts(problem));
            self.delassus.extend_from_slice(&problem.dense());
        }
    }

    /// Whether it covers contacts that are those of `problem` or have just left it without opening: parts of a problem
    /// with one motion have one motion.
    fn covers(&self, present: &[(u32, u32, u8)], problem: &ContactProblem) -> bool {
        let mut known = self.contacts.iter();
        let all = present
            .iter()
            .all(|p| known.any(|c| (c.0, c.1) == (p.0, p.1)));
        if !all || problem.blocks().is_empty() {
            return all;
        }
        let same = |(a, b): (&(u32, u32, f64), (u32, u32, f64))| {
            (a.0, a.1) == (b.0, b.1) && (a.2 - b.2).abs() <= CHANGE * a.2
        };
        self.contacts.len() == problem.blocks().len()
            && self.contacts.iter().zip(contacts(problem)).all(same)
            && near(&self.delassus, problem)
    }
}

/// Constraint, point and radius of friction of the contacts of a problem.
fn contacts(problem: &ContactProblem) -> impl Iterator<Item = (u32, u32, f64)> {
    problem.blocks().iter().map(|block| {
        let (constraint, point) = (block.key.constraint(), block.key.point());
        (constraint as u32, point as u32, radius(&block.section))
    })
}

/// Whether the present step needs an examination, and of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Nothing changed.
    Nothing,
    /// The problem of the step.
    Problem,
    /// The problem with the contacts too that touch and were not forecast to close.
    Touching,
}

impl UniquenessWatch {
    /// Takes note of the contacts that touch at the end of the last step, which is the start of the next.
    pub(super) fn begin(&mut self, record: &StepRecord) {
        std::mem::swap(&mut self.gaps, &mut self.gaps_before);
        if self.gaps.len() != record.contacts.len() {
            self.gaps.resize(record.contacts.len(), 0.0);
        }
        self.touching.clear();
        let rounding = 1e-12 * record.q.iter().fold(0.0, largest);
        for (gap, contact) in self.gaps.iter_mut().zip(&record.contacts) {
            *gap = contact.gap;
            if !(contact.gap <= rounding) {
                continue;
            }
            if self.touching.len() <= contact.key.constraint() {
                self.touching.resize(contact.key.constraint() + 1, false);
            }
            self.touching[contact.key.constraint()] = true;
        }
    }

    /// Constraints whose gaps fell by more than was left of them and are open after a step without impulse.
    pub(super) fn passages(&self, record: &StepRecord) -> impl Iterator<Item = usize> {
        let same = self.gaps_before.len() == record.contacts.len();
        let gaps = self.gaps.iter().zip(&self.gaps_before);
        let suspects = record
            .contacts
            .iter()
            .zip(gaps)
            .filter(move |(contact, gaps)| {
                let (now, before) = gaps;
                same && **now > 0.0
                    && contact.gap > 0.0
                    && contact.mode == ContactMode::Open
                    && 2.0 * **now - **before < 0.0
            });
        suspects.map(|(contact, _)| contact.key.constraint())
    }

    /// The constraints that touched at the start of the step.
    pub(super) fn touching(&self) -> &[bool] {
        &self.touching
    }

    /// Contacts of a record that touched at the start or act, with their modes.
    fn signatures(&self, record: &StepRecord) -> impl Iterator<Item = (u32, u32, u8)> {
        record.contacts.iter().filter_map(|contact| {
            let key = contact.key;
            let touches = self.touching.get(key.constraint()) == Some(&true);
            let (constraint, point) = (key.constraint() as u32, key.point() as u32);
            (touches || contact.mode != ContactMode::Open)
                .then(|| (constraint, point, contact.mode.code()))
        })
    }

    /// Whether they are those examined last.
    fn is_signature_of(&self, record: &StepRecord) -> bool {
        let mut known = self.signature.iter();
        self.signatures(record).all(|s| known.next() == Some(&s)) && known.next().is_none()
    }

    /// Whether the set of contacts, their modes or W changed since the last examination.
    pub(super) fn wanted(&mut self, problem: &ContactProblem, record: &StepRecord) -> Wanted {
        let small = problem.size() <= COMPARED_ROWS;
        if self.is_signature_of(record) {
            let unchanged = || !small || near(&self.delassus, problem);
            if self.signature.is_empty() || unchanged() {
                return Wanted::Nothing;
            }
        }
        let blocks = problem.blocks();
        let mut next = std::mem::take(&mut self.next);
        next.clear();
        next.extend(self.signatures(record));
        self.next = next;
        if self.next.is_empty() {
            // The last proof stays: it holds for its W whatever happens in between.
            self.signature.clear();
            self.found = Uniqueness::Unique;
            return Wanted::Nothing;
        }
        // Both lists are in the order of the constraints.
        let mut posed = blocks.iter().map(|b| b.key.constraint()).peekable();
        let left_out = self.next.iter().any(|&(c, ..)| {
            while posed.next_if(|&p| p < c as usize).is_some() {}
            posed.peek() != Some(&(c as usize))
        });
        let covered = self.proof.covers(&self.next, problem);
        std::mem::swap(&mut self.signature, &mut self.next);
        self.delassus.clear();
        if small {
            self.delassus.extend_from_slice(&problem.dense());
        }
        if covered {
            self.found = Uniqueness::Unique;
            return Wanted::Nothing;
        }
        if left_out {
            Wanted::Touching
        } else {
            Wanted::Problem
        }
    }

    /// Examines a problem and enters what was found; the outcome tells of several motions.
    pub(super) fn examine(
        &mut self,
        problem: &ContactProblem,
        t: f64,
        certificate: &mut Certificate,
    ) -> Option<StepOutcome> {
        let found = examine(problem);
        self.found = found.motion;
        let proved = found.motion == Uniqueness::Unique && !found.enumerated;
        self.proof.enter(problem, proved);
        enter_rank(&found, problem, t, certificate);
        let Uniqueness::Several { block } = found.motion else {
            return None;
        };
        certificate.several_solutions += 1;
        let contact = problem.blocks()[block].key;
        Some(StepOutcome::SeveralSolutions { contact })
    }

    /// Takes note of a step that was not examined.
    pub(super) fn forget(&mut self) {
        self.found = Uniqueness::NotExamined;
        self.signature.clear();
    }

    /// Counts a step whose uniqueness is not known.
    pub(super) fn count(&self, certificate: &mut Certificate) {
        if self.found == Uniqueness::NotExamined {
            certificate.uniqueness_not_examined += 1;
        }
    }
}

/// Keeps the first of the largest deficiencies, with the worst that is known of its motion.
fn enter_rank(
    found: &Examination,
    problem: &ContactProblem,
    t: f64,
    certificate: &mut Certificate,
) {
    certificate.rank_not_measured |= found.rank_not_measured;
    if found.dependent_normals {
        certificate.dependent_normals.get_or_insert(t);
    }
    if found.rank_deficiency == 0 {
        return;
    }
    let motion = match found.dependent_motion {
        Uniqueness::Unique => Some(true),
        Uniqueness::Several { .. } => Some(false),
        Uniqueness::NotExamined => None,
    };
    let entry = certificate.rank_deficiency.get_or_insert(RankDeficiency {
        deficiency: found.rank_deficiency,
        rows: problem.size(),
        t,
        motion_is_unique: motion,
    });
    if found.rank_deficiency > entry.deficiency {
        (entry.deficiency, entry.rows, entry.t) = (found.rank_deficiency, problem.size(), t);
    }
    entry.motion_is_unique = match (entry.motion_is_unique, motion) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (None, _) | (_, None) => None,
        _ => Some(true),
    };
}

/// Whether W is that examined before, `known`, to a small part; symmetric and semidefinite, it has its largest entry on
/// the diagonal.
fn near(known: &[f64], problem: &ContactProblem) -> bool {
    match problem.delassus().entries() {
        Some(w) => entries_are_near(known, w, problem.size()),
        None => entries_are_near(known, &problem.dense(), problem.size()),
    }
}

fn entries_are_near(known: &[f64], w: &[f64], m: usize) -> bool {
    if known.len() != w.len() {
        return false;
    }
    let mut size = 0.0;
    for i in 0..m {
        size = largest(size, &w[i * m + i]);
    }
    let change = CHANGE * size;
    for i in 0..m {
        let row = i * m..i * m + i + 1;
        for (known, w) in known[row.clone()].iter().zip(&w[row]) {
            if !((known - w).abs() <= change) {
                return false;
            }
        }
    }
    true
}

fn largest(size: f64, x: &f64) -> f64 {
    if x.abs() > size { x.abs() } else { size }
}
