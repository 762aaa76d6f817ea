//! Sets of GUIDs: a sorted array while there are few members, then a tree. Most sets are small, and
//! some have all units of a level.

use super::Guid;
use std::collections::BTreeSet;

/// Maximum number of members in the array.
const FEW_MAX: usize = 64;

/// A set of GUIDs in ascending order.
#[derive(Clone, Debug, Default)]
pub struct GuidSet {
    /// Empty if there were more than [`FEW_MAX`] members.
    few: Vec<Guid>,
    #[allow(clippy::box_collection, reason = "most sets have few members, and stay small")]
    many: Option<Box<BTreeSet<Guid>>>,
}

impl GuidSet {
    /// Returns the members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = &Guid> {
        self.few.iter().chain(self.many.iter().flat_map(|many| many.iter()))
    }

    pub fn len(&self) -> usize {
        self.few.len() + self.many.as_ref().map_or(0, |many| many.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn contains(&self, member: Guid) -> bool {
        self.few.binary_search(&member).is_ok()
            || self.many.as_ref().is_some_and(|many| many.contains(&member))
    }

    /// Adds a member. Returns false if it was there.
    pub fn insert(&mut self, member: Guid) -> bool {
        if let Some(many) = &mut self.many {
            return many.insert(member);
        }
        let Err(at) = self.few.binary_search(&member) else { return false };
        if self.few.len() < FEW_MAX {
            if self.few.is_empty() {
                self.few.reserve_exact(1);
            }
            self.few.insert(at, member);
            return true;
        }
        let all = std::mem::take(&mut self.few).into_iter().chain([member]);
        self.many = Some(Box::new(all.collect()));
        true
    }

    /// Removes a member. Returns false if it was not there.
    pub fn remove(&mut self, member: Guid) -> bool {
        match self.few.binary_search(&member) {
            Ok(at) => {
                self.few.remove(at);
                true
            }
            Err(_) => self.many.as_mut().is_some_and(|many| many.remove(&member)),
        }
    }
}

impl PartialEq for GuidSet {
    fn eq(&self, other: &GuidSet) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl FromIterator<Guid> for GuidSet {
    fn from_iter<I: IntoIterator<Item = Guid>>(members: I) -> GuidSet {
        let mut set = GuidSet::default();
        members.into_iter().for_each(|member| _ = set.insert(member));
        set
    }
}
