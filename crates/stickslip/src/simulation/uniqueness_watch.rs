//! Watches whether the contact problems of a run have one motion.

use serde::{Deserialize, Serialize};

use crate::algebra::{assign, largest_size};
use crate::contact::{Certificate, ContactKey, ContactProblem, RankDeficiency};
use crate::laws::FrictionSection;
use crate::records::{ContactMode, StepOutcome, StepRecord};
use crate::solvers::uniqueness::{Examination, Uniqueness, examine, radius};

use super::positions::PositionWatch;

/// W may change by this part before a problem with the same contacts in the same modes is examined again.
const CHANGE: f64 = 1e-2;
/// Problems with more rows are examined again only when their contacts or modes change, those of worlds never.
pub(super) const COMPARED_ROWS: usize = 40;

/// What was examined last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UniquenessWatch {
    /// Contacts and modes of the last problem.
    signature: Vec<(ContactKey, u8)>,
    /// Its W, of small problems.
    delassus: Vec<f64>,
    /// What was found.
    found: Uniqueness,
    /// Whether nothing was found because its law is not enumerated.
    #[serde(default)]
    unlisted_law: bool,
    /// Whether by looking at all motions of that problem alone.
    #[serde(default)]
    enumerated: bool,
    /// The last problem whose motion was proved to be unique for every free velocity.
    #[serde(default)]
    proof: Proof,
}

/// The start of a step, as far as its contacts are concerned.
#[derive(Clone, Copy)]
pub(super) struct StepStart<'a> {
    /// The watch that knows the gaps there.
    pub positions: &'a PositionWatch,
    pub q: &'a [f64],
}

impl StepStart<'_> {
    /// Whether a constraint touched, up to the rounding of the coordinates, which open ones ask for once: it is none before.
    #[inline(always)]
    fn touches(&self, constraint: usize, rounding: &mut Option<f64>) -> bool {
        let Some(gap) = self.positions.gap(constraint) else {
            return false;
        };
        gap <= 0.0 || gap <= *rounding.get_or_insert_with(|| 1e-12 * largest_size(0.0, self.q))
    }

    /// Which constraints touched.
    pub fn touching(&self) -> impl Iterator<Item = bool> {
        let mut rounding = None;
        (0..self.positions.constraints()).map(move |c| self.touches(c, &mut rounding))
    }
}

/// A problem whose motion is unique whatever its free velocity, and so whatever the modes of its contacts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Proof {
    /// Every contact and the radius of its friction section; empty without a proof.
    contacts: Vec<(ContactKey, f64)>,
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

    /// Whether it is one of all contacts of the system and of the present W, or of no contacts that act: modes do not matter then.
    fn settles(&self, problem: &ContactProblem, record: &StepRecord) -> bool {
        self.is_of(problem, record)
            && (problem.blocks().is_empty() || near(&self.delassus, problem))
    }

    /// The same of the few contacts of small systems, without a call; what it does not settle may be settled yet.
    #[inline(always)] // A part of what asks for it.
    fn settles_at_once(&self, problem: &ContactProblem, record: &StepRecord) -> bool {
        if !self.is_of(problem, record) {
            return false;
        }
        if problem.blocks().is_empty() {
            return true;
        }
        match problem.delassus().entries() {
            Some(w) => few_are_near(&self.delassus, w).unwrap_or(false),
            None => false,
        }
    }

    /// Whether it is one of all contacts of the system, or the problem has none.
    #[inline(always)] // A part of what asks for it.
    fn is_of(&self, problem: &ContactProblem, record: &StepRecord) -> bool {
        let (known, blocks) = (self.contacts.as_slice(), problem.blocks());
        if known.len() != record.contacts.len() {
            return false;
        }
        if blocks.is_empty() {
            return true;
        }
        // As many blocks as the system has contacts are those of all, in their order.
        if known.len() != blocks.len() {
            return false;
        }
        for (known, block) in known.iter().zip(blocks) {
            // Other sections are compared by what was examined last.
            let radius = match block.section {
                FrictionSection::None => 0.0,
                FrictionSection::Disc { mu, .. } => mu,
                _ => return false,
            };
            if !((known.1 - radius).abs() <= CHANGE * known.1) {
                return false;
            }
        }
        true
    }

    /// Whether it covers contacts that are those of `problem` or have just left it without opening: parts of a problem
    /// with one motion have one motion.
    fn covers(&self, present: &[(ContactKey, u8)], problem: &ContactProblem) -> bool {
        let mut known = self.contacts.iter();
        let all = present.iter().all(|p| known.any(|c| c.0 == p.0));
        if !all || problem.blocks().is_empty() {
            return all;
        }
        let same = |(a, b): (&(ContactKey, f64), (ContactKey, f64))| {
            a.0 == b.0 && (a.1 - b.1).abs() <= CHANGE * a.1
        };
        self.contacts.len() == problem.blocks().len()
            && self.contacts.iter().zip(contacts(problem)).all(same)
            && near(&self.delassus, problem)
    }
}

/// The contacts of a problem and their radii of friction.
fn contacts(problem: &ContactProblem) -> impl Iterator<Item = (ContactKey, f64)> {
    let blocks = problem.blocks().iter();
    blocks.map(|block| (block.key, radius(&block.section)))
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
    /// Whether a problem is small enough to be examined in every step of a world.
    pub(super) fn takes_world(problem: &ContactProblem) -> bool {
        problem.size() <= COMPARED_ROWS
    }

    /// Whether the contacts of a record that touched at the start or act, and their modes, are those examined last; in worlds
    /// all within reach.
    #[inline(always)] // A part of what asks for it.
    fn is_signature_of(&self, record: &StepRecord, start: &StepStart) -> bool {
        let (mut known, mut rounding) = (self.signature.as_slice(), None);
        for contact in &record.contacts {
            let c = contact.key.constraint();
            if contact.mode == ContactMode::Open && !start.touches(c, &mut rounding) {
                continue;
            }
            match known {
                [(key, mode), rest @ ..] if *key == contact.key && *mode == contact.mode.code() => {
                    known = rest;
                }
                _ => return false,
            }
        }
        let present = record.present.iter().map(|c| (c.key, c.mode.code()));
        known.len() == record.present.len() && present.zip(known).all(|(a, b)| a == *b)
    }

    /// Takes note of them.
    fn sign(&mut self, record: &StepRecord, start: &StepStart) {
        self.signature.clear();
        let mut rounding = None;
        for contact in &record.contacts {
            let c = contact.key.constraint();
            if contact.mode != ContactMode::Open || start.touches(c, &mut rounding) {
                self.signature.push((contact.key, contact.mode.code()));
            }
        }
        let present = record.present.iter();
        let present = present.map(|contact| (contact.key, contact.mode.code()));
        self.signature.extend(present);
    }

    /// Whether contacts, modes and W are those examined last, of which all is told, or a proof covers them whatever their modes; without
    /// contacts there is nothing to tell.
    #[inline(never)] // What judges a step is counted by its name.
    pub(super) fn is_settled(
        &self,
        (problem, record): (&ContactProblem, &StepRecord),
        start: &StepStart,
    ) -> bool {
        if self.found != Uniqueness::Unique || !record.present.is_empty() {
            return false;
        }
        self.proof.settles_at_once(problem, record) || self.is_known((problem, record), start)
    }

    /// Whether a proof covers the problem, or contacts, modes and W are those examined last.
    #[inline(never)] // What is settled at once has no need of its frame.
    fn is_known(
        &self,
        (problem, record): (&ContactProblem, &StepRecord),
        start: &StepStart,
    ) -> bool {
        self.proof.settles(problem, record)
            || self.is_signature_of(record, start)
                && (self.signature.is_empty() || near(&self.delassus, problem))
    }

    /// Whether nothing touches or acts in a step, as in the one examined last.
    pub(super) fn is_quiet(&self, record: &StepRecord, start: &StepStart) -> bool {
        self.found == Uniqueness::Unique
            && self.signature.is_empty()
            && self.is_signature_of(record, start)
    }

    /// Whether the set of contacts, their modes or W changed since the last examination.
    pub(super) fn wanted(
        &mut self,
        (problem, record): (&ContactProblem, &StepRecord),
        start: &StepStart,
    ) -> Wanted {
        let small = problem.size() <= COMPARED_ROWS;
        if self.is_signature_of(record, start) {
            let unchanged = || !small || near(&self.delassus, problem);
            if self.signature.is_empty() || unchanged() {
                return Wanted::Nothing;
            }
        }
        self.sign(record, start);
        if self.signature.is_empty() {
            // The last proof stays: it holds for its W whatever happens in between.
            self.found = Uniqueness::Unique;
            return Wanted::Nothing;
        }
        if small {
            assign(&mut self.delassus, &problem.dense());
        } else {
            self.delassus.clear();
        }
        if self.proof.covers(&self.signature, problem) {
            self.found = Uniqueness::Unique;
            return Wanted::Nothing;
        }
        // Both lists are in the order of their keys.
        let mut posed = problem.blocks().iter().map(|b| b.key.owners).peekable();
        let left_out = self.signature.iter().any(|(key, _)| {
            while posed.next_if(|&owners| owners < key.owners).is_some() {}
            posed.peek() != Some(&key.owners)
        });
        if left_out {
            Wanted::Touching
        } else {
            Wanted::Problem
        }
    }

    /// Examines a problem and enters what was found but the count; the outcome tells of several motions.
    pub(super) fn examine(
        &mut self,
        problem: &ContactProblem,
        t: f64,
        certificate: &mut Certificate,
    ) -> Option<StepOutcome> {
        let found = examine(problem);
        self.found = found.motion;
        self.unlisted_law = found.unlisted_law;
        self.enumerated = found.enumerated;
        let proved = found.motion == Uniqueness::Unique && !found.enumerated;
        self.proof.enter(problem, proved);
        enter_rank(&found, problem, t, certificate);
        if found.at_rest {
            // What sets off is examined again, whatever its modes.
            self.signature.clear();
        }
        let Uniqueness::Several { block } = found.motion else {
            return None;
        };
        let contact = problem.blocks()[block].key;
        Some(StepOutcome::SeveralSolutions { contact })
    }

    /// Whether the problem just examined may jam, as far as that is not told by several motions.
    pub(super) fn may_jam(&self, problem: &ContactProblem) -> bool {
        let told = matches!(self.found, Uniqueness::Several { .. });
        !told && may_jam_of(problem, self.found, self.enumerated)
    }

    /// Looks for several motions in a problem that was not the one of the step.
    pub(super) fn examine_ahead(&mut self, problem: &ContactProblem) -> Option<StepOutcome> {
        let Uniqueness::Several { block } = examine(problem).motion else {
            return None;
        };
        self.found = Uniqueness::Several { block };
        let contact = problem.blocks()[block].key;
        Some(StepOutcome::SeveralSolutions { contact })
    }

    /// The same for an impact within a step, which says nothing of the contacts that last.
    pub(super) fn examine_impact(
        &mut self,
        problem: &ContactProblem,
        t: f64,
        certificate: &mut Certificate,
    ) -> Uniqueness {
        let blocks = problem.blocks().iter();
        let struck: Vec<(ContactKey, u8)> = blocks.map(|block| (block.key, 0)).collect();
        if self.proof.covers(&struck, problem) {
            return Uniqueness::Unique;
        }
        let found = examine(problem);
        if found.motion == Uniqueness::Unique && !found.enumerated {
            self.proof.enter(problem, true);
        }
        enter_rank(&found, problem, t, certificate);
        self.unlisted_law |= found.unlisted_law;
        found.motion
    }

    /// Whether it is not known if the step examined last has other motions.
    pub(super) fn is_unknown(&self) -> bool {
        self.found == Uniqueness::NotExamined
    }

    /// Counts a step whose uniqueness is not known.
    pub(super) fn count(&self, certificate: &mut Certificate) {
        if self.is_unknown() {
            self.count_unknown(certificate);
        }
    }

    /// Counts a step whose uniqueness is not known, and whether its law is why.
    pub(super) fn count_unknown(&self, certificate: &mut Certificate) {
        certificate.uniqueness_not_examined += 1;
        certificate.laws_not_listed += u64::from(self.unlisted_law);
    }

    /// Nothing is known yet of the impacts of a step.
    pub(super) fn forget_law(&mut self) {
        self.unlisted_law &= self.is_unknown();
    }
}

/// Whether impulses of a problem may be large though free velocities are small: not where its motion is proved to be unique for all of them, and
/// where nothing is known only with a contact whose friction outweighs its normal impulse (Painlevé's region).
pub(super) fn may_jam(problem: &ContactProblem) -> bool {
    let found = examine(problem);
    may_jam_of(problem, found.motion, found.enumerated)
}

/// The same of a problem that has been examined.
fn may_jam_of(problem: &ContactProblem, motion: Uniqueness, enumerated: bool) -> bool {
    match motion {
        Uniqueness::Unique => enumerated,
        Uniqueness::Several { .. } => true,
        Uniqueness::NotExamined => problem.blocks().iter().any(|block| {
            let against: Vec<f64> = (1..block.size)
                .map(|i| -problem.w(block.start, block.start + i))
                .collect();
            let friction = if against.is_empty() {
                0.0
            } else {
                block.section.support(&against)
            };
            problem.w(block.start, block.start) <= friction
        }),
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
#[inline(always)] // Few rows cost less than a call.
fn near(known: &[f64], problem: &ContactProblem) -> bool {
    let few = |w: &[f64]| few_are_near(known, w);
    match problem.delassus().entries().and_then(few) {
        Some(near) => near,
        None => any_are_near(known, problem),
    }
}

/// The same for any number of rows, whether W is kept or not.
#[inline(never)] // Few rows have no need of its frame.
fn any_are_near(known: &[f64], problem: &ContactProblem) -> bool {
    match problem.delassus().entries() {
        Some(w) => many_are_near(known, w, problem.size()),
        None => many_are_near(known, &problem.dense(), problem.size()),
    }
}

fn many_are_near(known: &[f64], w: &[f64], m: usize) -> bool {
    if known.len() != w.len() {
        return false;
    }
    // Both halves say the same; one pass over all is shorter than one over half of each row.
    let moved = known.iter().zip(w).map(|(known, w)| known - w);
    let change = moved.fold(0.0, |change, x| largest(change, &x));
    change <= CHANGE * w.iter().step_by(m + 1).fold(0.0, largest)
}

/// The same for one contact of the plane or two, without loops; nothing is told of others.
#[inline(always)] // Few rows cost less than a call.
fn few_are_near(known: &[f64], w: &[f64]) -> Option<bool> {
    match w.len() {
        4 => Some(rows_are_near::<2>(known, w)),
        16 => Some(rows_are_near::<4>(known, w)),
        _ => None,
    }
}

#[inline(always)] // Few rows cost less than a call.
fn rows_are_near<const M: usize>(known: &[f64], w: &[f64]) -> bool {
    let (Ok(known), Ok(w)) = (
        <&[[f64; M]; M]>::try_from(known.as_chunks().0),
        <&[[f64; M]; M]>::try_from(w.as_chunks().0),
    ) else {
        return false;
    };
    let mut size = w[0][0];
    for i in 1..M {
        size = if w[i][i] > size { w[i][i] } else { size };
    }
    let most = CHANGE * size;
    for i in 0..M {
        for j in 0..=i {
            // What is no number is not near.
            if !((known[i][j] - w[i][j]).abs() <= most) {
                return false;
            }
        }
    }
    true
}

#[inline]
fn largest(size: f64, x: &f64) -> f64 {
    if x.abs() > size { x.abs() } else { size }
}
