//! Handles: the numbers by which scripts name what exists in the engine, and the slots behind them.
//! Knows nothing of what the slots hold.
//!
//! A handle is kind (6 bits, 0 never valid), generation (18 bits, 0 never valid) and index (22
//! bits): below 2^46, so that Lua prints it whole and a double carries it exactly. A slot is reused
//! first-in-first-out, and retired for good when its generations have run out, so that a stale
//! handle can never come to mean something else.

use super::memory::limit;
use std::collections::VecDeque;
use std::num::NonZero;

const INDEX_BITS: u32 = 22;
const GENERATION_BITS: u32 = 18;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;
const GENERATION_MAX: u32 = (1 << GENERATION_BITS) - 1;

/// The most slots that one kind can ever have.
pub const SLOTS_MAX: usize = 1 << INDEX_BITS;

/// What a handle names. The discriminant is the handle's six kind bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    World = 1,
    ResourcePackage = 2,
    Gui = 3,
    Camera = 4,
    Material = 5,
    Voice = 6,
    Worker = 7,
    GuiObject = 8,
    Unit = 10,
    Actor = 11,
    Mover = 12,
    Level = 13,
    PhysicsWorld = 14,
    SoundWorld = 15,
    Viewport = 16,
    ParticleEffect = 18,
    LineObject = 19,
    Mesh = 20,
    Light = 21,
    Joint = 22,
    PhysicsSnapshot = 23,
    Broadphase = 24,
    Tilemap = 25,
    Sprite = 26,
    Window = 27,
}

impl Kind {
    /// Every kind, in the order of their numbers.
    pub const ALL: &[Kind] = &[
        Kind::World,
        Kind::ResourcePackage,
        Kind::Gui,
        Kind::Camera,
        Kind::Material,
        Kind::Voice,
        Kind::Worker,
        Kind::GuiObject,
        Kind::Unit,
        Kind::Actor,
        Kind::Mover,
        Kind::Level,
        Kind::PhysicsWorld,
        Kind::SoundWorld,
        Kind::Viewport,
        Kind::ParticleEffect,
        Kind::LineObject,
        Kind::Mesh,
        Kind::Light,
        Kind::Joint,
        Kind::PhysicsSnapshot,
        Kind::Broadphase,
        Kind::Tilemap,
        Kind::Sprite,
        Kind::Window,
    ];

    /// The word for it in messages and in the editor's definitions.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::World => "World",
            Kind::Voice => "Voice",
            Kind::SoundWorld => "SoundWorld",
            Kind::Mesh => "Mesh",
            Kind::Light => "Light",
            Kind::ParticleEffect => "ParticleEffect",
            Kind::LineObject => "LineObject",
            Kind::Viewport => "Viewport",
            Kind::Window => "Window",
            Kind::GuiObject => "GuiObject",
            Kind::Camera => "Camera",
            Kind::Material => "Material",
            Kind::Gui => "Gui",
            Kind::ResourcePackage => "ResourcePackage",
            Kind::Worker => "Worker",
            Kind::Unit => "Unit",
            Kind::Tilemap => "Tilemap",
            Kind::Sprite => "Sprite",
            Kind::Broadphase => "Broadphase",
            Kind::Level => "Level",
            Kind::Actor => "Actor",
            Kind::Mover => "Mover",
            Kind::PhysicsWorld => "PhysicsWorld",
            Kind::Joint => "Joint",
            Kind::PhysicsSnapshot => "PhysicsSnapshot",
        }
    }

    /// What people call one, in the middle of a sentence.
    pub const fn word(self) -> &'static str {
        match self {
            Kind::World => "world",
            Kind::Voice => "voice",
            Kind::SoundWorld => "sound world",
            Kind::Mesh => "mesh",
            Kind::Light => "light",
            Kind::ParticleEffect => "particle effect",
            Kind::LineObject => "line object",
            Kind::Viewport => "viewport",
            Kind::Window => "window",
            Kind::GuiObject => "object of a Gui",
            Kind::Camera => "camera",
            Kind::Material => "material",
            Kind::Gui => "Gui",
            Kind::ResourcePackage => "package",
            Kind::Worker => "worker",
            Kind::Unit => "unit",
            Kind::Tilemap => "tile map",
            Kind::Sprite => "sprite",
            Kind::Broadphase => "broadphase",
            Kind::Level => "level",
            Kind::Actor => "actor",
            Kind::Mover => "mover",
            Kind::PhysicsWorld => "physics world",
            Kind::Joint => "joint",
            Kind::PhysicsSnapshot => "snapshot",
        }
    }

    /// The kind that a handle's bits name, if there is one.
    pub fn of(handle: Handle) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| *kind as u64 == handle.0.get() >> 40)
    }
}

/// A name for one thing that exists, or once existed, in the engine. Never 0, so that there may be
/// none without a word more.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Handle(NonZero<u64>);

impl Handle {
    fn new(kind: Kind, generation: u32, index: usize) -> Handle {
        debug_assert!(generation <= GENERATION_MAX && index < SLOTS_MAX);
        let bits = (kind as u64) << (INDEX_BITS + GENERATION_BITS);
        let bits = bits | u64::from(generation) << INDEX_BITS | index as u64;
        Handle(NonZero::new(bits).expect("no kind is 0"))
    }

    /// Reads a handle from a script's number; `None` where the number cannot be one.
    #[inline(always)]
    pub fn from_number(number: f64) -> Option<Handle> {
        // Not by `fract`, which is a call into the C library on plain x86-64. NaN is not in range.
        if number >= 0.0 && number < (1u64 << 46) as f64 {
            // SAFETY: every number in that range has a whole part that an i64 can hold.
            let bits: i64 = unsafe { number.to_int_unchecked() };
            if bits as f64 == number {
                return NonZero::new(bits as u64).map(Handle);
            }
        }
        None
    }

    /// The number by which scripts know it.
    pub fn to_number(self) -> f64 {
        self.0.get() as f64
    }

    #[inline(always)]
    fn is_of(self, kind: Kind) -> bool {
        self.0.get() >> (INDEX_BITS + GENERATION_BITS) == kind as u64
    }

    /// The slot's place: for tables beside the slots.
    #[inline(always)]
    pub fn index(self) -> usize {
        (self.0.get() & INDEX_MASK) as usize
    }

    #[inline(always)]
    fn generation(self) -> u32 {
        (self.0.get() >> INDEX_BITS) as u32 & GENERATION_MAX
    }
}

/// Why a handle does not lead anywhere.
#[derive(Clone, PartialEq, Debug)]
pub enum Stale {
    /// The number was never a handle of this kind.
    Never,
    /// It named something that is gone: its name, the frame and the script's line of its end.
    Gone { name: String, frame: u64, place: String },
    /// It named something that is gone, and its slot has been used again since.
    Reused,
}

/// Values behind handles of one kind. Adding and looking up take constant time.
pub struct Slots<T> {
    kind: Kind,
    limit: usize,
    /// By the slots' places: the generation of the value, or of the next one.
    generations: Vec<u32>,
    values: Vec<Option<T>>,
    /// Why a slot's last value is gone: as long as the last slot that ever lost one.
    graves: Vec<Option<Box<Stale>>>,
    free: VecDeque<u32>,
    alive: usize,
}

impl<T> Slots<T> {
    /// The bytes of a slot whose value lives, besides what that has elsewhere.
    pub const BYTES: usize = size_of::<u32>() + size_of::<Option<T>>();

    /// Room for `limit` living values (at most [`SLOTS_MAX`]).
    pub fn new(kind: Kind, limit: usize) -> Slots<T> {
        assert!(limit <= SLOTS_MAX, "{} slots are more than a handle can count", limit);
        Slots {
            kind,
            limit,
            generations: Vec::new(),
            values: Vec::new(),
            graves: Vec::new(),
            free: VecDeque::new(),
            alive: 0,
        }
    }

    /// How many values are alive.
    pub fn len(&self) -> usize {
        self.alive
    }

    /// Whether no value is alive.
    pub fn is_empty(&self) -> bool {
        self.alive == 0
    }

    /// Adds a value; `None` when `limit` values are alive already, or every slot is retired.
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

    /// Whether a handle's slot is still at its generation.
    #[inline(always)]
    fn is_current(&self, handle: Handle) -> bool {
        handle.is_of(self.kind)
            && self.generations.get(handle.index()) == Some(&handle.generation())
    }

    /// The living value of a handle.
    #[inline(always)]
    pub fn get(&self, handle: Handle) -> Option<&T> {
        if self.is_current(handle) { self.at(handle.index()) } else { None }
    }

    /// The living value at a slot's place.
    #[inline(always)]
    pub fn at(&self, index: usize) -> Option<&T> {
        self.values.get(index)?.as_ref()
    }

    /// The living value of a handle, to change.
    #[inline(always)]
    pub fn get_mut(&mut self, handle: Handle) -> Option<&mut T> {
        if self.is_current(handle) { self.at_mut(handle.index()) } else { None }
    }

    /// The living value at a slot's place, to change.
    #[inline(always)]
    pub fn at_mut(&mut self, index: usize) -> Option<&mut T> {
        self.values.get_mut(index)?.as_mut()
    }

    /// The handle of the living value at a slot's place.
    pub fn handle_at(&self, index: usize) -> Option<Handle> {
        self.at(index).map(|_| Handle::new(self.kind, self.generations[index], index))
    }

    /// Ends a value. Its name, the frame and the place are kept for the words of [`Slots::stale`],
    /// where there is memory for them: what is released must make room.
    pub fn remove(&mut self, handle: Handle, name: &str, frame: u64, place: &str) -> Option<T> {
        if !self.is_current(handle) {
            return None;
        }
        let index = handle.index();
        let value = self.values[index].take()?;
        if limit::is_over() {
            if let Some(grave) = self.graves.get_mut(index) {
                *grave = None;
            }
        } else {
            let grave = Stale::Gone { name: name.to_string(), frame, place: place.to_string() };
            if self.graves.len() <= index {
                self.graves.resize_with(index + 1, || None);
            }
            self.graves[index] = Some(Box::new(grave));
        }
        self.alive -= 1;
        if self.generations[index] < GENERATION_MAX {
            self.generations[index] += 1;
            self.free.push_back(index as u32);
        }
        Some(value)
    }

    /// Why `handle` leads nowhere. Call it only after [`Slots::get`] said `None`.
    pub fn stale(&self, handle: Handle) -> Stale {
        let index = handle.index();
        let Some(generation) = self.generations.get(index).copied() else { return Stale::Never };
        if !handle.is_of(self.kind) || handle.generation() == 0 {
            return Stale::Never;
        }
        // The slot waits for its next value under this generation, which no handle has had yet;
        // only one that has run out keeps its last.
        let retired = self.values[index].is_none()
            && generation == handle.generation()
            && generation == GENERATION_MAX;
        let ended = handle.generation() + 1 == generation || retired;
        match self.graves.get(index) {
            Some(Some(grave)) if ended => (**grave).clone(),
            _ if handle.generation() < generation => Stale::Reused,
            _ => Stale::Never,
        }
    }

    /// The living values with their handles, in index order, to change.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Handle, &mut T)> {
        let (kind, generations) = (self.kind, &self.generations);
        self.values.iter_mut().enumerate().filter_map(move |(index, value)| {
            Some((Handle::new(kind, generations[index], index), value.as_mut()?))
        })
    }

    /// The living values with their handles, in index order.
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
    fn a_handle_survives_the_way_through_a_double() {
        let handle = Handle::new(Kind::World, GENERATION_MAX, SLOTS_MAX - 1);
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
    fn a_stale_handle_says_what_it_was() {
        let mut slots = Slots::new(Kind::World, 4);
        let first = slots.add("yard").unwrap();
        slots.remove(first, "yard", 812, "enemy.lua:40").unwrap();
        let gone =
            Stale::Gone { name: "yard".into(), frame: 812, place: "enemy.lua:40".to_string() };
        assert_eq!((slots.get(first), slots.stale(first)), (None, gone.clone()));
        let second = slots.add("cave").unwrap();
        assert_ne!(first, second);
        let next = Handle::new(Kind::World, second.generation() + 1, second.index());
        assert_eq!(slots.stale(next), Stale::Never, "a slot that lives has no next handle yet");
        assert_eq!(slots.stale(first), gone, "the slot lives again, its last death is known");
        slots.remove(second, "cave", 900, "main.lua:1").unwrap();
        assert_eq!(slots.stale(first), Stale::Reused);
        assert_eq!(slots.stale(next), Stale::Never, "nor does one that waits");
    }

    #[test]
    fn a_slot_is_retired_when_its_generations_have_run_out() {
        let mut slots = Slots::new(Kind::World, 1);
        let mut last = None;
        for _ in 0..GENERATION_MAX {
            let handle = slots.add(()).unwrap();
            slots.remove(handle, "", 0, "").unwrap();
            last = Some(handle);
        }
        let fresh = slots.add(()).unwrap();
        assert_eq!(fresh.index(), 1, "the first slot is never used again");
        assert!(slots.get(last.unwrap()).is_none());
        assert!(matches!(slots.stale(last.unwrap()), Stale::Gone { .. }));
    }

    #[test]
    fn a_slot_costs_its_value_and_its_generation() {
        assert_eq!((size_of::<Option<Handle>>(), Slots::<Handle>::BYTES), (8, 12));
    }

    #[test]
    fn slots_are_reused_first_in_first_out_and_the_limit_holds() {
        let mut slots = Slots::new(Kind::World, 2);
        let (a, b) = (slots.add('a').unwrap(), slots.add('b').unwrap());
        assert_eq!(slots.add('c'), None);
        slots.remove(b, "", 0, "");
        slots.remove(a, "", 0, "");
        assert_eq!(slots.add('d').unwrap().index(), b.index());
        assert_eq!(slots.iter().map(|(_, v)| *v).collect::<String>(), "d");
    }
}
