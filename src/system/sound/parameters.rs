//! Parameters of sounds, SYSTEMS A7.2 to A7.4: numbers and hashed texts in one array of small
//! nodes, linked into a list for each owner. Knows neither voices nor curves: an owner keeps the
//! head of its list, and whoever reads a value knows its type.

use crate::foundation::hash::IdString32;

/// The most parameters of all voices, buses and the game together.
pub const PARAMETERS_MAX: usize = 16_384;

/// The end of a list.
const NONE: u32 = u32::MAX;

/// One parameter: 12 bytes. `key` 0 marks a free one.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Node {
    key: u32,
    /// The bits of an `f32`, or of an [`IdString32`].
    value: u32,
    next: u32,
}

/// What a value is, in checked mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    Number,
    Text,
}

/// A value on its way in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    Number(f32),
    Text(IdString32),
}

impl Setting {
    /// What kind of value it is.
    pub fn tag(self) -> Tag {
        match self {
            Setting::Number(_) => Tag::Number,
            Setting::Text(_) => Tag::Text,
        }
    }

    /// As it is kept.
    pub fn bits(self) -> u32 {
        match self {
            Setting::Number(number) => number.to_bits(),
            Setting::Text(id) => id.0,
        }
    }
}

/// The head of an owner's list: 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List(u32);

impl List {
    pub const EMPTY: List = List(NONE);
}

/// Why a parameter cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// All [`PARAMETERS_MAX`] are taken.
    Full,
    /// The name's hash is 0, which marks free nodes.
    ZeroKey,
}

impl Refused {
    /// The words for it.
    pub fn words(self, limit: usize) -> String {
        match self {
            Refused::Full => format!(
                "{limit} parameters of sounds are set already (PARAMETERS_MAX): stop sounds, or \
                 set fewer"
            ),
            Refused::ZeroKey => {
                "a parameter's name must not hash to 0, and this one does: rename it".to_string()
            }
        }
    }
}

/// All parameters.
pub struct Parameters {
    /// None until the first is set, then `limit`.
    nodes: Box<[Node]>,
    limit: usize,
    checked: bool,
    /// Where the last node was found free: those set together lie side by side.
    cursor: usize,
    used: usize,
    /// The kinds of the values, where they are checked, beside the nodes.
    tags: Box<[Tag]>,
}

impl Parameters {
    /// Room for `limit` parameters; `checked` keeps what kind each value is, too.
    pub fn new(limit: usize, checked: bool) -> Parameters {
        assert!(limit > 0 && limit < NONE as usize, "lists are linked by numbers of 32 bits");
        let (nodes, tags) = (Box::default(), Box::default());
        Parameters { nodes, limit, checked, cursor: limit - 1, used: 0, tags }
    }

    /// How many are set.
    pub fn used(&self) -> usize {
        self.used
    }

    /// Bytes that are held for them.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.nodes) + size_of_val(&*self.tags)
    }

    /// The words for a refusal.
    pub fn words(&self, refused: Refused) -> String {
        refused.words(self.limit)
    }

    #[inline]
    fn find(&self, list: List, key: IdString32) -> Option<usize> {
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

    /// Exchanges what two nodes of a list hold, so that a parameter that is set often is found at
    /// once: where it stands then.
    #[inline]
    fn move_to_front(&mut self, list: List, at: usize) -> usize {
        let first = list.0 as usize;
        if first != at {
            let (one, other) = (self.nodes[first], self.nodes[at]);
            self.nodes[first] = Node { next: one.next, ..other };
            self.nodes[at] = Node { next: other.next, ..one };
            if !self.tags.is_empty() {
                self.tags.swap(first, at);
            }
        }
        first
    }

    /// A free node, from the cursor on; the cursor goes round.
    fn allocate(&mut self) -> Result<usize, Refused> {
        if self.used == self.limit {
            return Err(Refused::Full);
        }
        if self.nodes.is_empty() {
            let free = Node { key: 0, value: 0, next: NONE };
            self.nodes = vec![free; self.limit].into_boxed_slice();
            let tags = if self.checked { self.limit } else { 0 };
            self.tags = vec![Tag::Number; tags].into_boxed_slice();
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
        list: &mut List,
        key: IdString32,
        setting: Setting,
    ) -> Result<(), Refused> {
        if key.0 == 0 {
            return Err(Refused::ZeroKey);
        }
        let at = match self.find(*list, key) {
            Some(at) => self.move_to_front(*list, at),
            None => {
                let at = self.allocate()?;
                self.nodes[at] = Node { key: key.0, value: 0, next: list.0 };
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

    /// The bits of a value, whatever they are.
    #[inline]
    pub fn bits(&self, list: List, key: IdString32) -> Option<u32> {
        self.find(list, key).map(|at| self.nodes[at].value)
    }

    /// What kind a value is, where that is kept.
    pub fn tag(&self, list: List, key: IdString32) -> Option<Tag> {
        self.tags.get(self.find(list, key)?).copied()
    }

    /// Frees all parameters of an owner.
    pub fn clear(&mut self, list: &mut List) {
        let mut at = std::mem::replace(list, List::EMPTY).0;
        while at != NONE {
            let node = &mut self.nodes[at as usize];
            at = node.next;
            *node = Node { key: 0, value: 0, next: NONE };
            self.used -= 1;
        }
    }

    /// Calls `see` with the key and bits of each, those first that were set last.
    pub fn each(&self, list: List, mut see: impl FnMut(u32, u32)) {
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
    fn a_node_is_twelve_bytes_and_a_head_four() {
        assert_eq!((size_of::<Node>(), size_of::<List>()), (12, 4));
        let mut parameters = Parameters::new(512 * 10, false);
        assert_eq!(parameters.bytes(), 0, "nothing is set yet");
        parameters.set(&mut List(NONE), id("force"), Setting::Number(1.0)).unwrap();
        assert_eq!(parameters.bytes(), 12 * 512 * 10);
    }

    #[test]
    fn a_value_is_found_by_its_owner_and_key() {
        let mut parameters = Parameters::new(8, true);
        let (mut one, mut two) = (List::EMPTY, List::EMPTY);
        parameters.set(&mut one, id("force"), Setting::Number(35.3)).unwrap();
        parameters.set(&mut two, id("force"), Setting::Number(1.0)).unwrap();
        parameters.set(&mut one, id("material"), Setting::Text(id("wood"))).unwrap();
        assert_eq!(parameters.bits(one, id("force")), Some(35.3f32.to_bits()));
        assert_eq!(parameters.bits(one, id("material")), Some(id("wood").0));
        assert_eq!(parameters.bits(two, id("material")), None);
        assert_eq!(parameters.tag(one, id("material")), Some(Tag::Text));
        parameters.set(&mut one, id("force"), Setting::Number(2.0)).unwrap();
        assert_eq!((parameters.bits(one, id("force")), parameters.used()), (Some(0x4000_0000), 3));
        parameters.clear(&mut one);
        assert_eq!((parameters.bits(one, id("force")), parameters.used()), (None, 1));
        assert_eq!(parameters.bits(two, id("force")), Some(1.0f32.to_bits()));
    }

    #[test]
    fn the_cursor_starts_at_the_end_goes_round_and_lays_what_is_set_together_side_by_side() {
        let mut parameters = Parameters::new(4, false);
        let mut lists = [List::EMPTY; 3];
        for list in &mut lists[..2] {
            parameters.set(list, id("a"), Setting::Number(0.0)).unwrap();
        }
        assert_eq!((lists[0].0, lists[1].0), (0, 1), "the cursor began at the last node");
        parameters.clear(&mut lists[0]);
        parameters.set(&mut lists[2], id("a"), Setting::Number(0.0)).unwrap();
        parameters.set(&mut lists[2], id("b"), Setting::Number(0.0)).unwrap();
        assert_eq!(lists[2].0, 3, "a freed node is taken when the cursor comes round");
        parameters.set(&mut lists[2], id("c"), Setting::Number(0.0)).unwrap();
        assert_eq!(lists[2].0, 0);
    }

    #[test]
    fn what_is_set_again_stands_first_and_keeps_its_type() {
        let mut parameters = Parameters::new(8, true);
        let mut list = List::EMPTY;
        parameters.set(&mut list, id("material"), Setting::Text(id("wood"))).unwrap();
        parameters.set(&mut list, id("force"), Setting::Number(1.0)).unwrap();
        parameters.set(&mut list, id("speed"), Setting::Number(2.0)).unwrap();
        parameters.set(&mut list, id("material"), Setting::Text(id("stone"))).unwrap();
        let mut seen = Vec::new();
        parameters.each(list, |key, bits| seen.push((key, bits)));
        let number = |value: f32| value.to_bits();
        assert_eq!(
            seen,
            [
                (id("material").0, id("stone").0),
                (id("force").0, number(1.0)),
                (id("speed").0, number(2.0))
            ]
        );
        let tags = ["material", "force", "speed"].map(|name| parameters.tag(list, id(name)));
        assert_eq!(tags, [Some(Tag::Text), Some(Tag::Number), Some(Tag::Number)]);
        parameters.clear(&mut list);
        assert_eq!(parameters.used(), 0);
    }

    #[test]
    fn a_full_array_is_an_error_and_no_endless_search() {
        let mut parameters = Parameters::new(2, false);
        let mut list = List::EMPTY;
        for name in ["a", "b"] {
            parameters.set(&mut list, id(name), Setting::Number(1.0)).unwrap();
        }
        let refused = parameters.set(&mut list, id("c"), Setting::Number(1.0)).unwrap_err();
        assert_eq!(refused, Refused::Full);
        assert_eq!(
            parameters.words(refused),
            "2 parameters of sounds are set already (PARAMETERS_MAX): stop sounds, or set fewer"
        );
        assert!(parameters.set(&mut list, id("b"), Setting::Number(2.0)).is_ok(), "it is there");
        let zero = parameters.set(&mut list, IdString32(0), Setting::Number(1.0));
        assert_eq!(zero, Err(Refused::ZeroKey));
    }
}
