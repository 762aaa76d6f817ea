//! Indices of events, variables and targets that scripts have taken from a state machine. They keep
//! their meaning when the machine is reloaded: names keep their indices, new names have the next
//! ones, and that of a name that is gone is free until the name is back.

use super::state_machine::BoundMachine;

/// Kind of the names that an index stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexKind {
    Event,
    Variable,
    /// Target of constraints.
    Target,
}

impl IndexKind {
    const ALL: [IndexKind; 3] = [IndexKind::Event, IndexKind::Variable, IndexKind::Target];

    /// Returns the noun for messages.
    pub fn noun(self) -> &'static str {
        match self {
            IndexKind::Event => "event",
            IndexKind::Variable => "variable",
            IndexKind::Target => "target",
        }
    }
}

/// Names in the order of the indices of scripts, each with its index in the machine.
type KeptNames = Vec<(String, Option<u16>)>;

/// Indices of scripts that differ from those of a machine.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KeptIndices([KeptNames; 3]);

/// Maximum number of indices of a kind. With more names, of many versions, indices begin again.
const KEPT_MAX: usize = 1 << 14;

impl BoundMachine {
    fn names(&self, kind: IndexKind) -> Vec<&str> {
        let machine = &self.machine;
        match kind {
            IndexKind::Event => machine.events().iter().map(String::as_str).collect(),
            IndexKind::Variable => machine.variables().iter().map(|it| &it.name[..]).collect(),
            IndexKind::Target => self.constraints.targets().iter().map(String::as_str).collect(),
        }
    }

    /// Returns how many indices scripts can have.
    pub fn script_index_count(&self, kind: IndexKind) -> usize {
        match (&self.kept, kind) {
            (Some(kept), _) => kept.0[kind as usize].len(),
            (None, IndexKind::Event) => self.machine.events().len(),
            (None, IndexKind::Variable) => self.machine.variables().len(),
            (None, IndexKind::Target) => self.constraints.targets().len(),
        }
    }

    /// Returns the index in the machine for an index of scripts, which begin at 1; `None` if it is
    /// the index of nothing.
    #[inline]
    pub fn machine_index(&self, kind: IndexKind, index: i64) -> Option<u16> {
        let index = index.wrapping_sub(1);
        match &self.kept {
            None => {
                let count = self.script_index_count(kind) as u64;
                (index.cast_unsigned() < count).then_some(index as u16)
            }
            Some(kept) => kept.0[kind as usize].get(usize::try_from(index).ok()?)?.1,
        }
    }

    /// Returns the index of scripts for an index in the machine.
    pub fn script_index(&self, kind: IndexKind, index: u16) -> usize {
        let kept = self.kept.as_ref().map(|kept| &kept.0[kind as usize]);
        let known = kept.and_then(|kept| kept.iter().position(|it| it.1 == Some(index)));
        known.unwrap_or(usize::from(index)) + 1
    }

    /// Returns the name that an index of scripts had before it was removed from the machine.
    pub fn removed_name(&self, kind: IndexKind, index: i64) -> Option<&str> {
        let kept = &self.kept.as_ref()?.0[kind as usize];
        let (name, current) = kept.get(usize::try_from(index.checked_sub(1)?).ok()?)?;
        current.is_none().then_some(name)
    }

    /// Gives names the indices of scripts that they have in the version before a reload.
    pub(super) fn keep_indices(&mut self, before: &BoundMachine) {
        let mut kept = KeptIndices::default();
        let mut differs = false;
        for kind in IndexKind::ALL {
            let names = self.names(kind);
            let find = |name: &str| names.iter().position(|known| *known == name);
            let old: Vec<&str> = match &before.kept {
                Some(kept) => kept.0[kind as usize].iter().map(|it| &it.0[..]).collect(),
                None => before.names(kind),
            };
            let new = names.iter().filter(|name| !old.contains(name));
            let all: Vec<&str> = old.iter().chain(new).copied().collect();
            let all = if all.len() > KEPT_MAX { &names } else { &all };
            let index = |name: &str| find(name).map(|index| index as u16);
            let list: KeptNames = all.iter().map(|it| (it.to_string(), index(it))).collect();
            let is_own = |(at, it): (usize, &(String, Option<u16>))| it.1 == Some(at as u16);
            differs |= list.len() != names.len() || !list.iter().enumerate().all(is_own);
            kept.0[kind as usize] = list;
        }
        self.kept = differs.then(|| Box::new(kept));
    }
}
