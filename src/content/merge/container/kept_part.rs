//! The decision about each part of a container: removed, as the sides have it, or moved here. It is
//! small, because a level has many parts.

use super::super::parts::Part;
use super::identity::Identities;
use super::{BASE, LEFT, MergeSide, RIGHT};

/// The source of a part of the result.
#[derive(Clone, Copy)]
#[allow(clippy::large_enum_variant, reason = "one exists at a time, except for moved objects")]
pub enum Merging<'a> {
    /// The part of one side.
    One(MergeSide, Part<'a>),
    /// The parts of both sides, and that of the base if it has one.
    Both(Option<Part<'a>>, Part<'a>, Part<'a>),
}

/// The decision about a part of a container.
pub enum KeptPart<'a> {
    Removed,
    /// The parts of the sides that have it.
    Listed,
    /// A part of an object that was moved here.
    Moved(Box<Merging<'a>>),
}

impl<'a> KeptPart<'a> {
    pub fn of(merging: Option<Merging<'a>>) -> KeptPart<'a> {
        match merging {
            None => KeptPart::Removed,
            Some(Merging::One(..)) => KeptPart::Listed,
            Some(both) => KeptPart::Moved(Box::new(both)),
        }
    }

    pub fn is_kept(&self) -> bool {
        !matches!(self, KeptPart::Removed)
    }

    /// Returns the source of the part with an identity.
    pub fn merging(
        &self,
        id: usize,
        ids: &Identities,
        all: AllParts<'_, 'a>,
    ) -> Option<Merging<'a>> {
        let [base, left, right] = parts_of(id, ids, all);
        match (self, left, right) {
            (KeptPart::Removed, ..) | (_, None, None) => None,
            (KeptPart::Moved(merging), ..) => Some(**merging),
            (KeptPart::Listed, Some(left), Some(right)) => Some(Merging::Both(base, left, right)),
            (KeptPart::Listed, Some(left), None) => Some(Merging::One(MergeSide::Left, left)),
            (KeptPart::Listed, None, Some(right)) => Some(Merging::One(MergeSide::Right, right)),
        }
    }
}

/// The parts of base, left and right.
pub type AllParts<'p, 'a> = [&'p Vec<Part<'a>>; 3];

/// Returns the parts with an identity in base, left and right.
pub fn parts_of<'a>(id: usize, ids: &Identities, all: AllParts<'_, 'a>) -> [Option<Part<'a>>; 3] {
    [BASE, LEFT, RIGHT].map(|at| ids.indices(id)[at].map(|index| all[at][index]))
}
