//! The position of a part in its container, which decides about the comma after it.

use super::Part;

/// The position of a part in the result and in the versions.
pub struct Slot {
    pub is_first: bool,
    pub is_last: bool,
    /// True if commas separate the parts of the container.
    pub has_commas: bool,
    /// White space before a part that is not first.
    pub default_lead: &'static str,
    pub indices: [Option<usize>; 3],
}

impl Slot {
    /// Returns true if the part is last in the version exactly if it is last in the result.
    pub fn has_role(&self, version: usize, all: [&Vec<Part>; 3]) -> bool {
        self.indices[version].is_some_and(|at| (at + 1 == all[version].len()) == self.is_last)
    }

    /// Returns true if a comma follows the part in the result. The last of `versions` that has the
    /// part in the same role decides.
    pub fn comma(&self, versions: &[(usize, Part)], all: [&Vec<Part>; 3]) -> bool {
        let in_role = versions.iter().rev().find(|(version, _)| self.has_role(*version, all));
        match in_role {
            Some((_, part)) => part.has_comma,
            None if self.is_last => {
                let (version, _) = versions[versions.len() - 1];
                let trailing = all[version].last().is_some_and(|part| part.has_comma);
                trailing && all[version].len() > 1
            }
            None => self.has_commas,
        }
    }
}
