//! Handles: the numbers by which scripts refer to engine objects, and the slots that hold the
//! objects. Knows nothing about the objects themselves.
//!
//! A handle consists of kind (6 bits, 0 is never valid), generation (18 bits, 0 is never valid) and
//! index (22 bits). It is below 2^46, so Lua prints all of its digits and a double stores it
//! exactly. Slots are reused first-in-first-out. A slot is retired permanently when its generations
//! are used up, so a stale handle never refers to another object.

use super::memory::limit;
use std::collections::VecDeque;
use std::num::NonZero;

const INDEX_BITS: u32 = 22;
const GENERATION_BITS: u32 = 18;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;
const GENERATION_MAX: u32 = (1 << GENERATION_BITS) - 1;

/// Maximum number of slots for one handle kind.
pub const SLOTS_MAX: usize = 1 << INDEX_BITS;

/// Number of destroyed values of one kind whose names are kept after their slots were used again.
pub const OLD_REASONS_MAX: usize = 256;

/// Declares the kinds of handles: the name, the number that is the handle's six kind bits, and the
/// noun for use in the middle of a sentence.
macro_rules! handle_kinds {
    ($($name:ident = $number:literal, $word:literal;)*) => {
        /// The type of the object that a handle refers to. The discriminant is the handle's six
        /// kind bits.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum HandleKind {
            $($name = $number,)*
        }

        impl HandleKind {
            /// All kinds, in the order of their discriminants.
            pub const ALL: &[HandleKind] = &[$(HandleKind::$name),*];

            /// Returns the name of the kind for messages and for the editor's definitions.
            pub const fn name(self) -> &'static str {
                match self {
                    $(HandleKind::$name => stringify!($name),)*
                }
            }

            /// Returns the noun for an object of the kind, for use in the middle of a sentence.
            pub const fn noun(self) -> &'static str {
                match self {
                    $(HandleKind::$name => $word,)*
                }
            }
        }
    };
}

// Handles in recordings contain the numbers, so the number of a kind never changes.
handle_kinds! {
    World = 1, "world";
    ResourcePackage = 2, "package";
    Gui = 3, "Gui";
    Camera = 4, "camera";
    Material = 5, "material";
    Voice = 6, "voice";
    Worker = 7, "worker";
    GuiObject = 8, "object of a Gui";
    Unit = 10, "unit";
    Actor = 11, "actor";
    Mover = 12, "mover";
    Level = 13, "level";
    PhysicsWorld = 14, "physics world";
    SoundWorld = 15, "sound world";
    Viewport = 16, "viewport";
    ParticleEffect = 18, "particle effect";
    LineObject = 19, "line object";
    Mesh = 20, "mesh";
    Light = 21, "light";
    Joint = 22, "joint";
    PhysicsSnapshot = 23, "snapshot";
    Broadphase = 24, "broadphase";
    Tilemap = 25, "tile map";
    Sprite = 26, "sprite";
    Window = 27, "window";
    NavigationMesh = 28, "navigation mesh";
    NavigationGrid = 29, "navigation grid";
    Agent = 30, "agent";
    ShadingEnvironment = 31, "shading environment";
    Decal = 32, "decal";
    LightOccluder = 33, "light occluder";
}

impl HandleKind {
    /// Returns the kind of a handle, if its bits name one.
    pub fn of(handle: Handle) -> Option<HandleKind> {
        HandleKind::ALL.iter().copied().find(|kind| *kind as u64 == handle.0.get() >> 40)
    }
}

/// A reference to an object that exists, or existed, in the engine. It is never 0, so an
/// `Option<Handle>` takes no extra memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Handle(NonZero<u64>);

impl Handle {
    fn new(kind: HandleKind, generation: u32, index: usize) -> Handle {
        debug_assert!(generation <= GENERATION_MAX && index < SLOTS_MAX);
        let bits = (kind as u64) << (INDEX_BITS + GENERATION_BITS);
        let bits = bits | u64::from(generation) << INDEX_BITS | index as u64;
        Handle(NonZero::new(bits).expect("no kind is 0"))
    }

    /// Converts a script's number to a handle; returns `None` if the number cannot be a handle.
    #[inline(always)]
    pub fn from_number(number: f64) -> Option<Handle> {
        // `fract` is avoided, because it calls the C library on plain x86-64. NaN is not in range.
        if number >= 0.0 && number < (1u64 << 46) as f64 {
            // SAFETY: an i64 can represent the integer part of every number in that range.
            let bits: i64 = unsafe { number.to_int_unchecked() };
            if bits as f64 == number {
                return NonZero::new(bits as u64).map(Handle);
            }
        }
        None
    }

    /// Returns the number that scripts use for the handle.
    pub fn to_number(self) -> f64 {
        self.0.get() as f64
    }

    /// Returns the bits of the handle, for values that are no numbers of scripts.
    #[inline(always)]
    pub const fn to_bits(self) -> u64 {
        self.0.get()
    }

    /// Converts bits to a handle; returns `None` if they cannot be those of one.
    #[inline(always)]
    pub fn from_bits(bits: u64) -> Option<Handle> {
        NonZero::new(bits).filter(|bits| bits.get() < 1 << 46).map(Handle)
    }

    #[inline(always)]
    fn is_of(self, kind: HandleKind) -> bool {
        self.0.get() >> (INDEX_BITS + GENERATION_BITS) == kind as u64
    }

    /// Returns the slot index, for tables parallel to the slots.
    #[inline(always)]
    pub fn index(self) -> usize {
        (self.0.get() & INDEX_MASK) as usize
    }

    #[inline(always)]
    fn generation(self) -> u32 {
        (self.0.get() >> INDEX_BITS) as u32 & GENERATION_MAX
    }
}

/// The reason why a handle refers to no living object.
#[derive(Clone, PartialEq, Debug)]
pub enum StaleHandle {
    /// The number was never a handle of this kind.
    Never,
    /// The handle named an object that was destroyed: the object's name, and the frame and script
    /// line of its destruction.
    Destroyed { name: String, frame: u64, location: String },
    /// The handle named an object that was destroyed so long ago that its name is not kept: its
    /// slot was used again, and so were those of [`OLD_REASONS_MAX`] objects that were destroyed
    /// later.
    LongAgo,
}

/// A slot map: values of one kind, addressed by handles. Adding and looking up take constant time.
pub struct Slots<T> {
    kind: HandleKind,
    limit: usize,
    /// By slot index: the generation of the current value, or of the next one.
    generations: Vec<u32>,
    values: Vec<Option<T>>,
    /// By slot index: the reason why the slot's last value is gone. The vector is as long as the
    /// highest slot that ever lost a value requires.
    stale_reasons: Vec<Option<Box<StaleHandle>>>,
    /// The reasons of earlier values of slots, oldest first.
    old_reasons: VecDeque<(Handle, Box<StaleHandle>)>,
    free: VecDeque<u32>,
    alive: usize,
}

impl<T> Slots<T> {
    /// Bytes of a slot with a living value, without memory that the value owns elsewhere.
    pub const BYTES: usize = size_of::<u32>() + size_of::<Option<T>>();

    /// Creates a slot map for at most `limit` living values (at most [`SLOTS_MAX`]).
    pub fn new(kind: HandleKind, limit: usize) -> Slots<T> {
        assert!(limit <= SLOTS_MAX, "{} slots are more than a handle can count", limit);
        Slots {
            kind,
            limit,
            generations: Vec::new(),
            values: Vec::new(),
            stale_reasons: Vec::new(),
            old_reasons: VecDeque::new(),
            free: VecDeque::new(),
            alive: 0,
        }
    }

    /// Returns the number of living values.
    pub fn len(&self) -> usize {
        self.alive
    }

    /// Returns true if no value is alive.
    pub fn is_empty(&self) -> bool {
        self.alive == 0
    }

    /// Adds a value. Returns `None` if `limit` values are alive already, or if every slot is
    /// retired.
    pub fn add(&mut self, value: T) -> Option<Handle> {
        if self.alive >= self.limit {
            return None;
        }
        let index = match self.free.pop_front() {
            Some(index) => index as usize,
            None if self.values.len() < SLOTS_MAX => {
                self.generations.push(1);
                self.values.push(None);
                self.values.len() - 1
            }
            None => return None,
        };
        self.values[index] = Some(value);
        self.alive += 1;
        Some(Handle::new(self.kind, self.generations[index], index))
    }

    /// Returns true if a handle's generation is the current generation of its slot.
    #[inline(always)]
    fn is_current(&self, handle: Handle) -> bool {
        handle.is_of(self.kind)
            && self.generations.get(handle.index()) == Some(&handle.generation())
    }

    /// Returns the living value of a handle.
    #[inline(always)]
    pub fn get(&self, handle: Handle) -> Option<&T> {
        if self.is_current(handle) { self.at(handle.index()) } else { None }
    }

    /// Returns the living value at a slot index.
    #[inline(always)]
    pub fn at(&self, index: usize) -> Option<&T> {
        self.values.get(index)?.as_ref()
    }

    /// Returns the living value of a handle, mutably.
    #[inline(always)]
    pub fn get_mut(&mut self, handle: Handle) -> Option<&mut T> {
        if self.is_current(handle) { self.at_mut(handle.index()) } else { None }
    }

    /// Returns the living value at a slot index, mutably.
    #[inline(always)]
    pub fn at_mut(&mut self, index: usize) -> Option<&mut T> {
        self.values.get_mut(index)?.as_mut()
    }

    /// Returns the handle of the living value at a slot index.
    pub fn handle_at(&self, index: usize) -> Option<Handle> {
        self.at(index).map(|_| Handle::new(self.kind, self.generations[index], index))
    }

    /// Removes a value. Its name, the frame and the script line are kept for [`Slots::stale`] if
    /// memory is available. They are optional because removing a value must free memory.
    pub fn remove(&mut self, handle: Handle, name: &str, frame: u64, location: &str) -> Option<T> {
        if !self.is_current(handle) {
            return None;
        }
        let index = handle.index();
        let value = self.values[index].take()?;
        if limit::is_over() {
            if let Some(stale_reason) = self.stale_reasons.get_mut(index) {
                *stale_reason = None;
            }
        } else {
            let stale_reason = StaleHandle::Destroyed {
                name: name.to_string(),
                frame,
                location: location.to_string(),
            };
            if self.stale_reasons.len() <= index {
                self.stale_reasons.resize_with(index + 1, || None);
            }
            let old = self.stale_reasons[index].replace(Box::new(stale_reason));
            if let Some(old) = old {
                if self.old_reasons.len() == OLD_REASONS_MAX {
                    self.old_reasons.pop_front();
                }
                let before = Handle::new(self.kind, handle.generation() - 1, index);
                self.old_reasons.push_back((before, old));
            }
        }
        self.alive -= 1;
        if self.generations[index] < GENERATION_MAX {
            self.generations[index] += 1;
            self.free.push_back(index as u32);
        }
        Some(value)
    }

    /// Returns the reason why `handle` refers to no living value. Call it only after [`Slots::get`]
    /// returned `None`.
    pub fn stale(&self, handle: Handle) -> StaleHandle {
        let index = handle.index();
        let Some(generation) = self.generations.get(index).copied() else {
            return StaleHandle::Never;
        };
        if !handle.is_of(self.kind) || handle.generation() == 0 {
            return StaleHandle::Never;
        }
        // An empty slot stores the generation of its next value, which no handle has had yet. Only
        // a retired slot keeps its last generation.
        let retired = self.values[index].is_none()
            && generation == handle.generation()
            && generation == GENERATION_MAX;
        let ended = handle.generation() + 1 == generation || retired;
        match self.stale_reasons.get(index) {
            Some(Some(stale_reason)) if ended => (**stale_reason).clone(),
            _ if handle.generation() < generation => {
                let mut old = self.old_reasons.iter();
                let found = old.find(|(known, _)| *known == handle);
                found.map_or(StaleHandle::LongAgo, |(_, reason)| (**reason).clone())
            }
            _ => StaleHandle::Never,
        }
    }

    /// Iterates over the living values with their handles, in index order, mutably.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Handle, &mut T)> {
        let (kind, generations) = (self.kind, &self.generations);
        self.values.iter_mut().enumerate().filter_map(move |(index, value)| {
            Some((Handle::new(kind, generations[index], index), value.as_mut()?))
        })
    }

    /// Iterates over the living values with their handles, in index order.
    pub fn iter(&self) -> impl Iterator<Item = (Handle, &T)> {
        self.values.iter().enumerate().filter_map(|(index, value)| {
            let value = value.as_ref()?;
            Some((Handle::new(self.kind, self.generations[index], index), value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_survives_conversion_to_a_double() {
        let handle = Handle::new(HandleKind::World, GENERATION_MAX, SLOTS_MAX - 1);
        assert_eq!(Handle::from_number(handle.to_number()), Some(handle));
        assert!(handle.to_number() < (1u64 << 46) as f64);
    }

    #[test]
    fn numbers_that_cannot_be_handles_are_refused() {
        for number in [-1.0, 0.0, 0.5, f64::NAN, f64::INFINITY, 1e30] {
            assert_eq!(Handle::from_number(number), None, "{number}");
        }
    }

    #[test]
    fn the_error_for_a_stale_handle_names_its_type() {
        let mut slots = Slots::new(HandleKind::World, 4);
        let first = slots.add("yard").unwrap();
        slots.remove(first, "yard", 812, "enemy.lua:40").unwrap();
        let destroyed = StaleHandle::Destroyed {
            name: "yard".into(),
            frame: 812,
            location: "enemy.lua:40".to_string(),
        };
        assert_eq!((slots.get(first), slots.stale(first)), (None, destroyed.clone()));
        let second = slots.add("cave").unwrap();
        assert_ne!(first, second);
        let next = Handle::new(HandleKind::World, second.generation() + 1, second.index());
        assert_eq!(
            slots.stale(next),
            StaleHandle::Never,
            "a slot that lives has no next handle yet"
        );
        assert_eq!(slots.stale(first), destroyed, "the slot lives again, its last death is known");
        slots.remove(second, "cave", 900, "main.lua:1").unwrap();
        assert_eq!(slots.stale(first), destroyed, "its slot was used again, its name is kept");
        assert_eq!(slots.stale(next), StaleHandle::Never, "nor does one that waits");
    }

    #[test]
    fn only_names_of_old_values_are_forgotten() {
        let mut slots = Slots::new(HandleKind::World, 1);
        let handles: Vec<Handle> = (0..OLD_REASONS_MAX + 2)
            .map(|i| {
                let handle = slots.add(()).unwrap();
                slots.remove(handle, &i.to_string(), i as u64, "main.lua:1").unwrap();
                handle
            })
            .collect();
        assert_eq!(slots.stale(handles[0]), StaleHandle::LongAgo);
        for (i, handle) in handles.iter().enumerate().skip(1) {
            let StaleHandle::Destroyed { name, .. } = slots.stale(*handle) else { panic!("{i}") };
            assert_eq!(name, i.to_string());
        }
    }

    #[test]
    fn a_slot_is_retired_when_its_generations_run_out() {
        let mut slots = Slots::new(HandleKind::World, 1);
        let mut last = None;
        for _ in 0..GENERATION_MAX {
            let handle = slots.add(()).unwrap();
            slots.remove(handle, "", 0, "").unwrap();
            last = Some(handle);
        }
        let fresh = slots.add(()).unwrap();
        assert_eq!(fresh.index(), 1, "the first slot is never used again");
        assert!(slots.get(last.unwrap()).is_none());
        assert!(matches!(slots.stale(last.unwrap()), StaleHandle::Destroyed { .. }));
    }

    #[test]
    fn a_slot_has_the_size_of_its_value_and_generation() {
        assert_eq!((size_of::<Option<Handle>>(), Slots::<Handle>::BYTES), (8, 12));
    }

    #[test]
    fn slots_are_reused_in_fifo_order_up_to_the_limit() {
        let mut slots = Slots::new(HandleKind::World, 2);
        let (a, b) = (slots.add('a').unwrap(), slots.add('b').unwrap());
        assert_eq!(slots.add('c'), None);
        slots.remove(b, "", 0, "");
        slots.remove(a, "", 0, "");
        assert_eq!(slots.add('d').unwrap().index(), b.index());
        assert_eq!(slots.iter().map(|(_, v)| *v).collect::<String>(), "d");
    }
}
