//! Values of graphs: the types of pins, the plain slots of the dynamic data, and the heap of texts
//! and lists that slots refer to by number. A slot can be copied as bytes.

use engine_foundation::hash::StateHash;
use engine_foundation::text_format;
use engine_foundation::{Handle, HandleKind, Quat, Vec3};

/// Maximum length of a text that a graph computes, in bytes.
pub const TEXT_BYTES_MAX: usize = 4096;
/// Maximum number of items in a list of a graph.
pub const LIST_ITEMS_MAX: usize = 65_536;

/// The type of a pin.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum FlowType {
    Event,
    Number,
    Boolean,
    Text,
    Vector,
    Rotation,
    Color,
    Unit,
    Actor,
    Level,
    World,
    /// Any object of the engine.
    Handle,
    List,
    /// The name of a resource.
    Resource,
    Any,
}

impl FlowType {
    /// All types, in the order of their numbers.
    pub const ALL: [FlowType; 15] = [
        FlowType::Event,
        FlowType::Number,
        FlowType::Boolean,
        FlowType::Text,
        FlowType::Vector,
        FlowType::Rotation,
        FlowType::Color,
        FlowType::Unit,
        FlowType::Actor,
        FlowType::Level,
        FlowType::World,
        FlowType::Handle,
        FlowType::List,
        FlowType::Resource,
        FlowType::Any,
    ];

    /// Returns the name in sources.
    pub const fn name(self) -> &'static str {
        match self {
            FlowType::Event => "event",
            FlowType::Number => "number",
            FlowType::Boolean => "boolean",
            FlowType::Text => "text",
            FlowType::Vector => "vector",
            FlowType::Rotation => "rotation",
            FlowType::Color => "color",
            FlowType::Unit => "unit",
            FlowType::Actor => "actor",
            FlowType::Level => "level",
            FlowType::World => "world",
            FlowType::Handle => "handle",
            FlowType::List => "list",
            FlowType::Resource => "resource",
            FlowType::Any => "any",
        }
    }

    /// Returns the type with that name.
    pub fn by_name(name: &str) -> Option<FlowType> {
        FlowType::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns true for types whose values are handles.
    pub const fn is_handle(self) -> bool {
        matches!(
            self,
            FlowType::Unit | FlowType::Actor | FlowType::Level | FlowType::World | FlowType::Handle
        )
    }
}

/// How a wire between two types passes the value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conversion {
    /// The value is passed as it is.
    None,
    /// The value is converted; this never fails.
    Convert,
    /// The value is checked while the game runs.
    Check,
}

/// Returns how a value of one type is passed to an input of another, or `None` if that is not
/// possible.
pub fn conversion(from: FlowType, to: FlowType) -> Option<Conversion> {
    use FlowType::{Any, Boolean, Event, Handle, List, Number, Resource, Text};
    match (from, to) {
        (Event, Event) => Some(Conversion::None),
        (Event, _) | (_, Event) => None,
        (from, to) if from == to => Some(Conversion::None),
        (_, Any) | (Text, Resource) | (Resource, Text) => Some(Conversion::None),
        (Any, _) => Some(Conversion::Check),
        (from, Handle) if from.is_handle() => Some(Conversion::None),
        (Handle, to) if to.is_handle() => Some(Conversion::Check),
        (List, Text) => None,
        (_, Text) | (Boolean, Number) | (Number, Boolean) => Some(Conversion::Convert),
        _ => None,
    }
}

/// The type of the value in a slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u32)]
pub enum Tag {
    Nil,
    Number,
    Boolean,
    Text,
    Vector,
    Rotation,
    Color,
    Handle,
    List,
}

impl Tag {
    /// Returns the noun for messages.
    pub const fn noun(self) -> &'static str {
        match self {
            Tag::Nil => "nothing",
            Tag::Number => "a number",
            Tag::Boolean => "true or false",
            Tag::Text => "a text",
            Tag::Vector => "a vector",
            Tag::Rotation => "a rotation",
            Tag::Color => "a color",
            Tag::Handle => "an object",
            Tag::List => "a list",
        }
    }

    /// Returns true if a value with this tag fits a type.
    pub fn fits(self, to: FlowType) -> bool {
        match to {
            FlowType::Event => false,
            FlowType::Any => true,
            FlowType::Number => self == Tag::Number,
            FlowType::Boolean => self == Tag::Boolean,
            FlowType::Text | FlowType::Resource => self == Tag::Text,
            FlowType::Vector => self == Tag::Vector,
            FlowType::Rotation => self == Tag::Rotation,
            FlowType::Color => self == Tag::Color,
            FlowType::List => self == Tag::List,
            _ => self == Tag::Handle,
        }
    }
}

/// One value of the dynamic data: plain bytes without pointers.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct Slot {
    pub tag: Tag,
    bits: [u32; 4],
}

impl Slot {
    pub const NIL: Slot = Slot { tag: Tag::Nil, bits: [0; 4] };

    pub const fn number(value: f64) -> Slot {
        let bits = value.to_bits();
        Slot { tag: Tag::Number, bits: [bits as u32, (bits >> 32) as u32, 0, 0] }
    }

    pub const fn boolean(value: bool) -> Slot {
        Slot { tag: Tag::Boolean, bits: [value as u32, 0, 0, 0] }
    }

    /// Returns a slot that refers to a text of the heap.
    pub const fn text(index: u32) -> Slot {
        Slot { tag: Tag::Text, bits: [index, 0, 0, 0] }
    }

    /// Returns a slot that refers to a list of the heap.
    pub const fn list(index: u32) -> Slot {
        Slot { tag: Tag::List, bits: [index, 0, 0, 0] }
    }

    pub fn vector(value: Vec3) -> Slot {
        let [x, y, z] = value.to_array().map(f32::to_bits);
        Slot { tag: Tag::Vector, bits: [x, y, z, 0] }
    }

    pub fn rotation(value: Quat) -> Slot {
        Slot { tag: Tag::Rotation, bits: value.to_array().map(f32::to_bits) }
    }

    /// Returns a color: red, green, blue, alpha.
    pub fn color(value: [f32; 4]) -> Slot {
        Slot { tag: Tag::Color, bits: value.map(f32::to_bits) }
    }

    pub const fn handle(handle: Handle) -> Slot {
        let bits = handle.to_bits();
        Slot { tag: Tag::Handle, bits: [bits as u32, (bits >> 32) as u32, 0, 0] }
    }

    #[inline(always)]
    pub fn as_number(self) -> f64 {
        match self.tag {
            Tag::Number => f64::from_bits(u64::from(self.bits[0]) | u64::from(self.bits[1]) << 32),
            Tag::Boolean => f64::from(self.bits[0]),
            _ => 0.0,
        }
    }

    #[inline(always)]
    pub fn as_boolean(self) -> bool {
        match self.tag {
            Tag::Boolean => self.bits[0] != 0,
            Tag::Number => self.as_number() != 0.0,
            Tag::Nil => false,
            _ => true,
        }
    }

    pub fn as_vector(self) -> Vec3 {
        match self.tag {
            Tag::Vector => {
                Vec3::from_array(std::array::from_fn(|at| f32::from_bits(self.bits[at])))
            }
            _ => Vec3::ZERO,
        }
    }

    pub fn as_rotation(self) -> Quat {
        match self.tag {
            Tag::Rotation => Quat::from_array(self.bits.map(f32::from_bits)),
            _ => Quat::IDENTITY,
        }
    }

    pub fn as_color(self) -> [f32; 4] {
        match self.tag {
            Tag::Color => self.bits.map(f32::from_bits),
            // Colors are from 0 to 255.
            _ => [0.0, 0.0, 0.0, 255.0],
        }
    }

    /// Returns the handle, if the slot has one.
    #[inline(always)]
    pub fn as_handle(self) -> Option<Handle> {
        if self.tag != Tag::Handle {
            return None;
        }
        Handle::from_bits(u64::from(self.bits[0]) | u64::from(self.bits[1]) << 32)
    }

    /// Returns the bits of the value.
    pub const fn bits(self) -> [u32; 4] {
        self.bits
    }

    /// Returns the index in the heap of a text or a list.
    pub fn index(self) -> usize {
        self.bits[0] as usize
    }

    /// Adds the value to a state hash. Texts and lists are hashed by their content.
    pub fn write_state(self, heap: &FlowHeap, hash: &mut StateHash) {
        hash.write_u64(self.tag as u64);
        match self.tag {
            Tag::Text => hash.write_bytes(heap.text(self).as_bytes()),
            Tag::List => {
                let items = heap.list(self);
                hash.write_u64(items.len() as u64);
                items.iter().for_each(|item| item.write_state(heap, hash));
            }
            // Bits of a result that is no number differ by processor: these functions write one.
            Tag::Number => hash.write_f64(self.as_number()),
            Tag::Vector | Tag::Rotation | Tag::Color => {
                self.bits.iter().for_each(|float| hash.write_f32(f32::from_bits(*float)));
            }
            _ => self.bits.iter().for_each(|word| hash.write_u64(u64::from(*word))),
        }
    }

    /// Returns the value as text, as nodes and tools show it.
    pub fn describe(self, heap: &FlowHeap) -> String {
        let floats = |values: &[f32]| {
            let parts: Vec<String> =
                values.iter().map(|value| text_format::float(*value)).collect();
            parts.join(", ")
        };
        match self.tag {
            Tag::Nil => "nothing".to_string(),
            Tag::Number => text_format::significant(self.as_number(), 14),
            Tag::Boolean => self.as_boolean().to_string(),
            Tag::Text => heap.text(self).to_string(),
            Tag::Vector => format!("({})", floats(&self.as_vector().to_array())),
            Tag::Rotation => format!("({})", floats(&self.as_rotation().to_array())),
            Tag::Color => format!("({})", floats(&self.as_color())),
            Tag::Handle => match self.as_handle() {
                Some(handle) => {
                    let noun = HandleKind::of(handle).map_or("object", HandleKind::noun);
                    format!("{noun} {}", handle.to_number())
                }
                None => "nothing".to_string(),
            },
            Tag::List => format!("list of {}", heap.list(self).len()),
        }
    }
}

/// A text or a list of the heap.
#[derive(Clone, Debug)]
enum HeapItem {
    Free,
    Text(Box<str>),
    List(Box<[Slot]>),
}

/// Texts and lists that slots refer to. Items that no slot uses are freed by a sweep, which runs
/// when the number of items has doubled.
#[derive(Default, Debug)]
pub struct FlowHeap {
    items: Vec<HeapItem>,
    marks: Vec<bool>,
    free: Vec<u32>,
    /// Number of items at which the next sweep is due.
    sweep_at: usize,
    /// Bytes of all items.
    bytes: usize,
    /// Number of bytes at which the next sweep is due.
    sweep_bytes: usize,
}

/// Minimum number of items before a sweep.
const SWEEP_ITEMS_MIN: usize = 4096;
/// Minimum number of bytes before a sweep.
const SWEEP_BYTES_MIN: usize = 1 << 20;
/// Maximum number of bytes of the texts and lists of all graphs.
pub const HEAP_BYTES_MAX: usize = 256 << 20;

impl HeapItem {
    fn bytes(&self) -> usize {
        let content = match self {
            HeapItem::Free => 0,
            HeapItem::Text(text) => text.len(),
            HeapItem::List(items) => size_of_val(&items[..]),
        };
        size_of::<HeapItem>() + content
    }
}

impl FlowHeap {
    fn add(&mut self, item: HeapItem) -> u32 {
        self.bytes += item.bytes();
        match self.free.pop() {
            Some(index) => {
                self.items[index as usize] = item;
                index
            }
            None => {
                self.items.push(item);
                self.items.len() as u32 - 1
            }
        }
    }

    /// Adds a text.
    ///
    /// # Errors
    /// Returns an error if the text is too long, or if there is no room.
    pub fn add_text(&mut self, text: &str) -> Result<Slot, String> {
        self.check_room()?;
        if text.len() > TEXT_BYTES_MAX {
            return Err(format!(
                "a text of a graph has at most {TEXT_BYTES_MAX} bytes (TEXT_BYTES_MAX), and this \
                 one has {}",
                text.len()
            ));
        }
        Ok(self.add_constant(text))
    }

    /// Adds the text of a program, whose length was checked by the compiler.
    pub fn add_constant(&mut self, text: &str) -> Slot {
        Slot::text(self.add(HeapItem::Text(text.into())))
    }

    /// Adds a list.
    ///
    /// # Errors
    /// Returns an error if the list is too long, or if there is no room.
    pub fn add_list(&mut self, items: &[Slot]) -> Result<Slot, String> {
        self.check_room()?;
        if items.len() > LIST_ITEMS_MAX {
            return Err(format!(
                "a list of a graph has at most {LIST_ITEMS_MAX} items (LIST_ITEMS_MAX), and this \
                 one has {}",
                items.len()
            ));
        }
        Ok(Slot::list(self.add(HeapItem::List(items.into()))))
    }

    /// Returns the text of a slot; empty if the slot has no text.
    pub fn text(&self, slot: Slot) -> &str {
        match (slot.tag, self.items.get(slot.index())) {
            (Tag::Text, Some(HeapItem::Text(text))) => text,
            _ => "",
        }
    }

    /// Returns the items of a list; empty if the slot has no list.
    pub fn list(&self, slot: Slot) -> &[Slot] {
        match (slot.tag, self.items.get(slot.index())) {
            (Tag::List, Some(HeapItem::List(items))) => items,
            _ => &[],
        }
    }

    /// Returns true if a sweep is due.
    pub fn is_sweep_due(&self) -> bool {
        self.items.len() - self.free.len() >= self.sweep_at.max(SWEEP_ITEMS_MIN)
            || self.bytes >= self.sweep_bytes.max(SWEEP_BYTES_MIN)
    }

    /// Checks that there is room for another text or list.
    ///
    /// # Errors
    /// Returns an error if they use `HEAP_BYTES_MAX`.
    pub fn check_room(&self) -> Result<(), String> {
        match self.bytes < HEAP_BYTES_MAX {
            true => Ok(()),
            false => Err(format!(
                "texts and lists of graphs use more than {} MiB (HEAP_BYTES_MAX): do not join \
                 texts in a loop",
                HEAP_BYTES_MAX >> 20
            )),
        }
    }

    /// Frees the items that none of the slots refers to.
    pub fn sweep<'a>(&mut self, roots: impl Iterator<Item = &'a Slot>) {
        self.marks.clear();
        self.marks.resize(self.items.len(), false);
        let mut stack: Vec<Slot> = Vec::new();
        for root in roots {
            stack.push(*root);
            while let Some(slot) = stack.pop() {
                if !matches!(slot.tag, Tag::Text | Tag::List) {
                    continue;
                }
                let index = slot.index();
                if index < self.marks.len() && !self.marks[index] {
                    self.marks[index] = true;
                    if let HeapItem::List(items) = &self.items[index] {
                        stack.extend_from_slice(items);
                    }
                }
            }
        }
        self.free.clear();
        for index in (0..self.items.len()).rev() {
            if !self.marks[index] {
                self.items[index] = HeapItem::Free;
                self.free.push(index as u32);
            }
        }
        self.sweep_at = (self.items.len() - self.free.len()) * 2;
        let used = self.items.iter().filter(|item| !matches!(item, HeapItem::Free));
        self.bytes = used.map(HeapItem::bytes).sum();
        self.sweep_bytes = self.bytes * 2;
    }

    /// Returns the number of texts and lists.
    pub fn len(&self) -> usize {
        self.items.len() - self.free.len()
    }

    /// Returns true if there is no text and no list.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
