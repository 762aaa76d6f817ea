//! The parameters of sounds: numbers and hashed texts in one array of small nodes, linked into a
//! list for each owner. Knows neither voices nor curves: an owner keeps the head of its list, and
//! the reader of a value knows its type.

use engine_foundation::hash::IdString32;

/// The most parameters of all voices, buses and the game together.
pub const PARAMETERS_MAX: usize = 16_384;

/// The end of a list.
const NONE: u32 = u32::MAX;

/// One parameter: 12 bytes. `key` 0 marks a free node.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct ParameterNode {
    key: u32,
    /// The bits of an `f32`, or of an [`IdString32`].
    value: u32,
    next: u32,
}

/// The type of a value, in checked mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueTag {
    Number,
    Text,
}

/// A new value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterWrite {
    Number(f32),
    Text(IdString32),
}

impl ParameterWrite {
    /// Returns the type of the value.
    pub fn tag(self) -> ValueTag {
        match self {
            ParameterWrite::Number(_) => ValueTag::Number,
            ParameterWrite::Text(_) => ValueTag::Text,
        }
    }

    /// Returns the stored bits of the value.
    pub fn bits(self) -> u32 {
        match self {
            ParameterWrite::Number(number) => number.to_bits(),
            ParameterWrite::Text(id) => id.0,
        }
    }
}

/// The head of an owner's list: 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterList(u32);

impl ParameterList {
    pub const EMPTY: ParameterList = ParameterList(NONE);
}

/// Reason why a parameter cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterError {
    /// All [`PARAMETERS_MAX`] are taken.
    Full,
    /// The name's hash is 0, which marks free nodes.
    ZeroKey,
}

impl ParameterError {
    /// Returns the error message.
    pub fn message(self, limit: usize) -> String {
        match self {
            ParameterError::Full => format!(
                "{limit} parameters of sounds are set already (PARAMETERS_MAX): stop sounds, or \
                 set fewer"
            ),
            ParameterError::ZeroKey => {
                "a parameter's name must not hash to 0, and this one does: rename it".to_string()
            }
        }
    }
}

/// The table of all parameters.
pub struct ParameterTable {
    /// Empty until the first parameter is set, then `limit` nodes.
    nodes: Box<[ParameterNode]>,
    limit: usize,
    checked: bool,
    /// Index where the last free node was found, so that parameters that are set together are
    /// adjacent.
    cursor: usize,
    used: usize,
    /// The types of the values by node, in checked mode.
    tags: Box<[ValueTag]>,
}

impl ParameterTable {
    /// Creates a table for `limit` parameters; `checked` also stores the type of each value.
    pub fn new(limit: usize, checked: bool) -> ParameterTable {
        assert!(limit > 0 && limit < NONE as usize, "lists are linked by numbers of 32 bits");
        let (nodes, tags) = (Box::default(), Box::default());
        ParameterTable { nodes, limit, checked, cursor: limit - 1, used: 0, tags }
    }

    /// Returns the number of parameters that are set.
    pub fn used(&self) -> usize {
        self.used
    }

    /// Returns the allocated bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.nodes) + size_of_val(&*self.tags)
    }

    /// Returns the error message of a refusal.
    pub fn message(&self, refused: ParameterError) -> String {
        refused.message(self.limit)
    }

    #[inline]
    fn find(&self, list: ParameterList, key: IdString32) -> Option<usize> {
        let mut at = list.0;
        while at != NONE {
            let node = &self.nodes[at as usize];
            if node.key == key.0 {
                return Some(at as usize);
            }
            at = node.next;
        }
        None
    }

    /// Swaps a node's content with that of the first node of its list, so that a frequently set
    /// parameter is found at once. Returns its new index.
    #[inline]
    fn move_to_front(&mut self, list: ParameterList, at: usize) -> usize {
        let first = list.0 as usize;
        if first != at {
            let (one, other) = (self.nodes[first], self.nodes[at]);
            self.nodes[first] = ParameterNode { next: one.next, ..other };
            self.nodes[at] = ParameterNode { next: other.next, ..one };
            if !self.tags.is_empty() {
                self.tags.swap(first, at);
            }
        }
        first
    }

    /// Allocates a free node. The search starts at the cursor, and wraps around.
    fn allocate(&mut self) -> Result<usize, ParameterError> {
        if self.used == self.limit {
            return Err(ParameterError::Full);
        }
        if self.nodes.is_empty() {
            let free = ParameterNode { key: 0, value: 0, next: NONE };
            self.nodes = vec![free; self.limit].into_boxed_slice();
            let tags = if self.checked { self.limit } else { 0 };
            self.tags = vec![ValueTag::Number; tags].into_boxed_slice();
        }
        loop {
            self.cursor = (self.cursor + 1) % self.limit;
            if self.nodes[self.cursor].key == 0 {
                return Ok(self.cursor);
            }
        }
    }

    /// Sets a parameter of the owner of `list`.
    pub fn set(
        &mut self,
        list: &mut ParameterList,
        key: IdString32,
        setting: ParameterWrite,
    ) -> Result<(), ParameterError> {
        if key.0 == 0 {
            return Err(ParameterError::ZeroKey);
        }
        let at = match self.find(*list, key) {
            Some(at) => self.move_to_front(*list, at),
            None => {
                let at = self.allocate()?;
                self.nodes[at] = ParameterNode { key: key.0, value: 0, next: list.0 };
                list.0 = at as u32;
                self.used += 1;
                at
            }
        };
        self.nodes[at].value = setting.bits();
        if let Some(tag) = self.tags.get_mut(at) {
            *tag = setting.tag();
        }
        Ok(())
    }

    /// Returns the bits of a value of any type.
    #[inline]
    pub fn bits(&self, list: ParameterList, key: IdString32) -> Option<u32> {
        self.find(list, key).map(|at| self.nodes[at].value)
    }

    /// Returns the type of a value, if types are stored.
    pub fn tag(&self, list: ParameterList, key: IdString32) -> Option<ValueTag> {
        self.tags.get(self.find(list, key)?).copied()
    }

    /// Frees all parameters of an owner.
    pub fn clear(&mut self, list: &mut ParameterList) {
        let mut at = std::mem::replace(list, ParameterList::EMPTY).0;
        while at != NONE {
            let node = &mut self.nodes[at as usize];
            at = node.next;
            *node = ParameterNode { key: 0, value: 0, next: NONE };
            self.used -= 1;
        }
    }

    /// Calls `see` with the key and bits of each parameter, the last set first.
    pub fn each(&self, list: ParameterList, mut see: impl FnMut(u32, u32)) {
        let mut at = list.0;
        while at != NONE {
            let node = &self.nodes[at as usize];
            see(node.key, node.value);
            at = node.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> IdString32 {
        IdString32::new(name)
    }

    #[test]
    fn a_node_is_twelve_bytes_and_a_list_head_four() {
        assert_eq!((size_of::<ParameterNode>(), size_of::<ParameterList>()), (12, 4));
        let mut parameters = ParameterTable::new(512 * 10, false);
        assert_eq!(parameters.bytes(), 0, "nothing is set yet");
        parameters.set(&mut ParameterList(NONE), id("force"), ParameterWrite::Number(1.0)).unwrap();
        assert_eq!(parameters.bytes(), 12 * 512 * 10);
    }

    #[test]
    fn a_value_is_found_by_its_owner_and_key() {
        let mut parameters = ParameterTable::new(8, true);
        let (mut one, mut two) = (ParameterList::EMPTY, ParameterList::EMPTY);
        parameters.set(&mut one, id("force"), ParameterWrite::Number(35.3)).unwrap();
        parameters.set(&mut two, id("force"), ParameterWrite::Number(1.0)).unwrap();
        parameters.set(&mut one, id("material"), ParameterWrite::Text(id("wood"))).unwrap();
        assert_eq!(parameters.bits(one, id("force")), Some(35.3f32.to_bits()));
        assert_eq!(parameters.bits(one, id("material")), Some(id("wood").0));
        assert_eq!(parameters.bits(two, id("material")), None);
        assert_eq!(parameters.tag(one, id("material")), Some(ValueTag::Text));
        parameters.set(&mut one, id("force"), ParameterWrite::Number(2.0)).unwrap();
        assert_eq!((parameters.bits(one, id("force")), parameters.used()), (Some(0x4000_0000), 3));
        parameters.clear(&mut one);
        assert_eq!((parameters.bits(one, id("force")), parameters.used()), (None, 1));
        assert_eq!(parameters.bits(two, id("force")), Some(1.0f32.to_bits()));
    }

    #[test]
    fn the_allocation_cursor_wraps_and_keeps_values_adjacent() {
        let mut parameters = ParameterTable::new(4, false);
        let mut lists = [ParameterList::EMPTY; 3];
        for list in &mut lists[..2] {
            parameters.set(list, id("a"), ParameterWrite::Number(0.0)).unwrap();
        }
        assert_eq!((lists[0].0, lists[1].0), (0, 1), "the cursor began at the last node");
        parameters.clear(&mut lists[0]);
        parameters.set(&mut lists[2], id("a"), ParameterWrite::Number(0.0)).unwrap();
        parameters.set(&mut lists[2], id("b"), ParameterWrite::Number(0.0)).unwrap();
        assert_eq!(lists[2].0, 3, "a freed node is taken when the cursor comes round");
        parameters.set(&mut lists[2], id("c"), ParameterWrite::Number(0.0)).unwrap();
        assert_eq!(lists[2].0, 0);
    }

    #[test]
    fn a_reset_value_is_first_and_keeps_its_type() {
        let mut parameters = ParameterTable::new(8, true);
        let mut list = ParameterList::EMPTY;
        parameters.set(&mut list, id("material"), ParameterWrite::Text(id("wood"))).unwrap();
        parameters.set(&mut list, id("force"), ParameterWrite::Number(1.0)).unwrap();
        parameters.set(&mut list, id("speed"), ParameterWrite::Number(2.0)).unwrap();
        parameters.set(&mut list, id("material"), ParameterWrite::Text(id("stone"))).unwrap();
        let mut entries = Vec::new();
        parameters.each(list, |key, bits| entries.push((key, bits)));
        let number = |value: f32| value.to_bits();
        assert_eq!(
            entries,
            [
                (id("material").0, id("stone").0),
                (id("force").0, number(1.0)),
                (id("speed").0, number(2.0))
            ]
        );
        let tags = ["material", "force", "speed"].map(|name| parameters.tag(list, id(name)));
        assert_eq!(tags, [Some(ValueTag::Text), Some(ValueTag::Number), Some(ValueTag::Number)]);
        parameters.clear(&mut list);
        assert_eq!(parameters.used(), 0);
    }

    #[test]
    fn a_full_array_is_an_error() {
        let mut parameters = ParameterTable::new(2, false);
        let mut list = ParameterList::EMPTY;
        for name in ["a", "b"] {
            parameters.set(&mut list, id(name), ParameterWrite::Number(1.0)).unwrap();
        }
        let refused = parameters.set(&mut list, id("c"), ParameterWrite::Number(1.0)).unwrap_err();
        assert_eq!(refused, ParameterError::Full);
        assert_eq!(
            parameters.message(refused),
            "2 parameters of sounds are set already (PARAMETERS_MAX): stop sounds, or set fewer"
        );
        assert!(
            parameters.set(&mut list, id("b"), ParameterWrite::Number(2.0)).is_ok(),
            "it is there"
        );
        let zero = parameters.set(&mut list, IdString32(0), ParameterWrite::Number(1.0));
        assert_eq!(zero, Err(ParameterError::ZeroKey));
    }
}
