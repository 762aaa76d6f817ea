//! What engine functions can take: one `Arg` per Rust type, and the words for a wrong one. Reading
//! never raises a Lua error; it uses only calls that cannot.

use super::cx::Cx;
use super::describe::{self, describe};
use super::layout;
use super::mixed;
use super::row::Func;
use super::types::{Floats, Shape, Type};
use super::value::{Reader, Value, read_value};
use crate::engine::Engine;
use crate::foundation::handle::Stale;
use crate::foundation::{Color, Handle, Kind, Mat4, Quat, Vec2, Vec3, Vec4};
use crate::resource::package::PackageId;
use crate::system::gui::GuiId;
use crate::system::materials::MaterialId;
use crate::system::particles::EffectId;
use crate::system::sound::SoundWorldId;
use crate::system::tilemaps::TilemapId;
use crate::system::window::WindowId;
use crate::system::workers::WorkerId;
use crate::world::WorldId;
use crate::world::broadphase::BroadphaseId;
use crate::world::camera::{CameraId, ViewportId};
use crate::world::level::LevelId;
use crate::world::light::LightId;
use crate::world::lines::LineObjectId;
use crate::world::mesh::MeshId;
use crate::world::physics::{ActorId, JointId, MoverId, PhysicsWorldId, SnapshotId};
use crate::world::sprite::SpriteId;
use crate::world::unit::UnitId;
use mlua::ffi::*;
use std::ffi::{c_char, c_int, c_void};

/// Why an argument was refused.
pub enum Wrong {
    /// It is of another type.
    Type,
    /// It is of the right type, and still cannot be: `must be …` is said by these words instead.
    Words(String),
    /// The same of one of the arguments that are left: which, and the words.
    Later(c_int, String),
}

/// A Rust type that an engine function can take.
pub trait Arg: Sized {
    const TYPE: Type;
    /// Reads argument `i`.
    ///
    /// # Safety
    /// `l` is the state of the running call, and `i` a position in it.
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Self, Wrong>;

    /// The same of an argument of the running call, read in place where that is possible: the
    /// usual ones come without a call into the C interface.
    ///
    /// # Safety
    /// As for `read`; `i` counts from 1.
    #[inline(always)]
    unsafe fn take(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Self, Wrong> {
        // SAFETY: as the caller promised.
        unsafe { Self::read(l, i, cx) }
    }
}

/// An argument that compiled Lua can pass unboxed: a C value, and a number beside it (the length of
/// a string, 1 for an optional argument that is there).
pub trait Plain: Arg {
    type C: Copy;
    /// Makes the value again; `None` where it is wrong, and the checked form will say why.
    ///
    /// # Safety
    /// Pointers are those that compiled Lua passed, alive for the time of the call.
    unsafe fn from_c(c: Self::C, extra: u32, cx: &Cx) -> Option<Self>;
}

/// The words for a refused argument.
///
/// # Safety
/// As for [`Arg::read`].
#[cold]
#[inline(never)]
pub unsafe fn mismatch(
    l: *mut lua_State,
    i: c_int,
    cx: &Cx,
    f: &Func,
    want: &Type,
    wrong: Wrong,
) -> String {
    let name = f.params[i as usize - 1].0;
    match wrong {
        // SAFETY: as the caller promised.
        Wrong::Type => unsafe {
            let or_nil = if want.optional { " or nil" } else { "" };
            let uncalled = lua_type(l, i) == LUA_TFUNCTION && !want.lua.contains("fun");
            let hint = match () {
                () if uncalled => " (is it to be called: are its () missing?)",
                () if name == "node" && want.lua == "integer" => " (node 1 is the root)",
                () => "",
            };
            format!(
                "argument #{i} '{name}' must be {}{or_nil}, got {}{hint}",
                want.lua,
                describe(l, i, cx)
            )
        },
        Wrong::Words(words) => format!("argument #{i} '{name}': {words}"),
        Wrong::Later(i, words) => format!("argument #{i} '{name}': {words}"),
    }
}

/// The number at `i`, if there is one. Strings are not numbers here.
unsafe fn number(l: *mut lua_State, i: c_int) -> Result<f64, Wrong> {
    // SAFETY: as for `Arg::read`; the calls do not raise.
    match unsafe { lua_type(l, i) } {
        // SAFETY: as above.
        LUA_TNUMBER => Ok(unsafe { lua_tonumber(l, i) }),
        _ => Err(Wrong::Type),
    }
}

/// `read` and `take` of what is made of a number and the context.
macro_rules! of_number {
    ($of:expr) => {
        unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Self, Wrong> {
            // SAFETY: as the caller promised.
            $of(unsafe { number(l, i) }?, cx)
        }

        #[inline(always)]
        unsafe fn take(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Self, Wrong> {
            // SAFETY: as the caller promised.
            match unsafe { layout::double(l, i) } {
                Some(number) => $of(number, cx),
                // SAFETY: as the caller promised.
                None => unsafe { Self::read(l, i, cx) },
            }
        }
    };
}

#[inline(always)]
fn finite(number: f64) -> Result<f64, Wrong> {
    if number.is_finite() { Ok(number) } else { Err(not_finite(number)) }
}

#[cold]
fn not_finite(number: f64) -> Wrong {
    let what = if number.is_nan() { "nan (is something divided by zero?)" } else { "infinite" };
    Wrong::Words(format!("must be a finite number, got {what}"))
}

impl Arg for f64 {
    const TYPE: Type = Type::new("number", Shape::Number);
    of_number!(|number, _| finite(number));
}

impl Plain for f64 {
    type C = f64;
    unsafe fn from_c(c: f64, _: u32, _: &Cx) -> Option<f64> {
        c.is_finite().then_some(c)
    }
}

impl Arg for bool {
    const TYPE: Type = Type::new("boolean", Shape::Boolean);
    unsafe fn read(l: *mut lua_State, i: c_int, _: &Cx) -> Result<bool, Wrong> {
        // SAFETY: as the caller promised.
        unsafe {
            match lua_type(l, i) {
                LUA_TBOOLEAN => Ok(lua_toboolean(l, i) != 0),
                _ => Err(Wrong::Type),
            }
        }
    }

    #[inline(always)]
    unsafe fn take(l: *mut lua_State, i: c_int, _: &Cx) -> Result<bool, Wrong> {
        // SAFETY: as the caller promised.
        unsafe { layout::boolean(l, i) }.ok_or(Wrong::Type)
    }
}

impl Plain for bool {
    type C = bool;
    unsafe fn from_c(c: bool, _: u32, _: &Cx) -> Option<bool> {
        Some(c)
    }
}

/// A whole number, exact in a double.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Integer(pub i64);

impl Integer {
    #[inline(always)]
    fn of(number: f64) -> Option<Integer> {
        // Not by `fract`, which is a call into the C library on plain x86-64. NaN is not in range.
        if number.abs() <= 9_007_199_254_740_992.0 {
            // SAFETY: every number in that range has a whole part that an i64 can hold.
            let whole: i64 = unsafe { number.to_int_unchecked() };
            return (whole as f64 == number).then_some(Integer(whole));
        }
        None
    }

    #[cold]
    fn why_not(number: f64) -> Wrong {
        match number.is_finite() {
            true => Wrong::Words(format!("must be a whole number, got {number}")),
            false => not_finite(number),
        }
    }
}

impl Arg for Integer {
    const TYPE: Type = Type::new("integer", Shape::Number);
    of_number!(|number, _| Integer::of(number).ok_or_else(|| Integer::why_not(number)));
}

impl Plain for Integer {
    type C = f64;
    unsafe fn from_c(c: f64, _: u32, _: &Cx) -> Option<Integer> {
        Integer::of(c)
    }
}

/// A string of Lua's, valid UTF-8, alive for the time of the call and not to be kept.
#[derive(Clone, Copy)]
pub struct Text(*const str);

impl Text {
    pub fn as_str(&self) -> &str {
        // SAFETY: Lua keeps its arguments alive on its stack until the call returns, and a `Text`
        // is made for that call only.
        unsafe { &*self.0 }
    }

    unsafe fn of(start: *const c_char, length: usize) -> Result<Text, Wrong> {
        // SAFETY: the pointer and length of a string of Lua's.
        unsafe { Text::of_bytes(std::ptr::slice_from_raw_parts(start.cast(), length)) }
    }

    unsafe fn of_bytes(bytes: *const [u8]) -> Result<Text, Wrong> {
        // SAFETY: those of a string of Lua's.
        let bytes = unsafe { &*bytes };
        // Nearly all are names: a few letters.
        if bytes.len() <= 16 && bytes.iter().fold(0, |all, byte| all | byte) < 0x80 {
            // SAFETY: every byte is a letter of ASCII.
            return Ok(Text(unsafe { std::str::from_utf8_unchecked(bytes) }));
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Text(text)),
            Err(error) => Err(Wrong::Words(format!(
                "must be valid UTF-8, byte {} is not",
                error.valid_up_to() + 1
            ))),
        }
    }
}

impl Arg for Text {
    const TYPE: Type = Type::new("string", Shape::Text);
    unsafe fn read(l: *mut lua_State, i: c_int, _: &Cx) -> Result<Text, Wrong> {
        // SAFETY: as the caller promised; a string is not converted, so nothing is allocated.
        unsafe {
            if lua_type(l, i) != LUA_TSTRING {
                return Err(Wrong::Type);
            }
            let mut length = 0;
            let start = lua_tolstring(l, i, &mut length);
            Text::of(start, length)
        }
    }

    #[inline(always)]
    unsafe fn take(l: *mut lua_State, i: c_int, _: &Cx) -> Result<Text, Wrong> {
        // SAFETY: as the caller promised.
        unsafe { layout::string(l, i).ok_or(Wrong::Type).and_then(|bytes| Text::of_bytes(bytes)) }
    }
}

impl Plain for Text {
    type C = *const c_char;
    unsafe fn from_c(c: *const c_char, length: u32, _: &Cx) -> Option<Text> {
        // SAFETY: compiled Lua passes a string and its length.
        unsafe { Text::of(c, length as usize) }.ok()
    }
}

impl<T: Arg> Arg for Option<T> {
    const TYPE: Type = T::TYPE.or_nil();
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Option<T>, Wrong> {
        // SAFETY: as the caller promised.
        unsafe {
            match lua_type(l, i) {
                LUA_TNONE | LUA_TNIL => Ok(None),
                _ => T::read(l, i, cx).map(Some),
            }
        }
    }

    #[inline(always)]
    unsafe fn take(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Option<T>, Wrong> {
        // SAFETY: as the caller promised.
        unsafe {
            match layout::is_absent(l, i) {
                true => Ok(None),
                false => T::take(l, i, cx).map(Some),
            }
        }
    }
}

impl<T: Plain> Plain for Option<T> {
    type C = T::C;
    unsafe fn from_c(c: T::C, extra: u32, cx: &Cx) -> Option<Option<T>> {
        // Optional strings would need the extra number twice; none is declared hot.
        const { assert!(!matches!(T::TYPE.shape, Shape::Text), "no optional strings in hot rows") };
        match extra {
            0 => Some(None),
            // SAFETY: as the caller promised.
            _ => unsafe { T::from_c(c, extra, cx) }.map(Some),
        }
    }
}

#[cold]
fn not_finite_floats(kind: Floats, floats: &[f32]) -> Wrong {
    let parts: Vec<String> = floats.iter().map(f32::to_string).collect();
    Wrong::Words(format!(
        "must be finite, got {}({}) (is something divided by zero?)",
        kind.name(),
        parts.join(", ")
    ))
}

/// A value type of scripts, and the Rust type that holds its floats.
macro_rules! floats {
    ($t:ty, $kind:ident, $count:literal, $of:expr) => {
        impl Arg for $t {
            const TYPE: Type = {
                assert!(Floats::$kind.count() == $count);
                Type::new(Floats::$kind.name(), Shape::Value(Floats::$kind))
            };
            unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<$t, Wrong> {
                // SAFETY: a value of the type that boot noted holds that many floats at its start.
                let floats = unsafe {
                    let data = cx.ctypes.read(l, i, Floats::$kind).ok_or(Wrong::Type)?;
                    *(data as *const [f32; $count])
                };
                match floats.iter().all(|float| float.is_finite()) {
                    true => Ok($of(floats)),
                    false => Err(not_finite_floats(Floats::$kind, &floats)),
                }
            }

            unsafe fn take(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<$t, Wrong> {
                // SAFETY: as for `read`.
                let floats = unsafe {
                    let data = cx.ctypes.take(l, i, Floats::$kind).ok_or(Wrong::Type)?;
                    *(data as *const [f32; $count])
                };
                match floats.iter().all(|float| float.is_finite()) {
                    true => Ok($of(floats)),
                    false => Err(not_finite_floats(Floats::$kind, &floats)),
                }
            }
        }

        impl Plain for $t {
            type C = *const c_void;
            #[inline(always)]
            unsafe fn from_c(c: *const c_void, _: u32, _: &Cx) -> Option<$t> {
                // SAFETY: the fast form checked the type before it passed the pointer.
                let floats = unsafe { *(c as *const [f32; $count]) };
                floats.iter().all(|float| float.is_finite()).then(|| $of(floats))
            }
        }
    };
}

floats!(Vec2, Vector2, 2, Vec2::from_array);
floats!(Vec3, Vector3, 3, Vec3::from_array);
floats!(Vec4, Vector4, 4, Vec4::from_array);
floats!(Quat, Quaternion, 4, Quat::from_array);
// Rows of the scripts' matrices (axes, then the translation) are columns of ours.
floats!(Mat4, Matrix4x4, 16, |floats| Mat4::from_cols_array(&floats));
floats!(Color, Color, 4, |[alpha, red, green, blue]: [f32; 4]| Color { red, green, blue, alpha });

/// The words for a handle that leads nowhere.
pub fn stale_words(kind: Kind, stale: Stale, number: f64) -> Wrong {
    let name = kind.name();
    Wrong::Words(match stale {
        Stale::Never => {
            let a = mixed::article(name);
            format!("must be {a} {name}, and the number {} never was one", describe::number(number))
        }
        Stale::Reused => format!("this {name} was destroyed long ago, and its slot used again"),
        Stale::Gone { name, frame, place } => {
            let name = if name.is_empty() { String::new() } else { format!(" \"{name}\"") };
            let place = if place.is_empty() { String::new() } else { format!(" at {place}") };
            format!("{}{name} was destroyed in frame {frame}{place}", kind.word())
        }
    })
}

/// The words for a number that is no living Gui, where fast forms found it.
pub fn gui_words(engine: &Engine, number: f64) -> String {
    let slots = engine.guis.slots();
    let stale = Handle::from_number(number).map(|handle| slots.stale(handle));
    words_of_stale(engine, Kind::Gui, stale, number)
}

/// The same of a material.
pub fn material_words(engine: &Engine, number: f64) -> String {
    let slots = engine.materials.slots();
    let stale = Handle::from_number(number).map(|handle| slots.stale(handle));
    words_of_stale(engine, Kind::Material, stale, number)
}

fn words_of_stale(engine: &Engine, kind: Kind, stale: Option<Stale>, number: f64) -> String {
    match stale_words(kind, stale.unwrap_or(Stale::Never), number) {
        Wrong::Words(words) => mixed::words(engine, kind, number).unwrap_or(words),
        Wrong::Type | Wrong::Later(..) => unreachable!("a stale handle has words"),
    }
}

/// The handles of one kind: their type, and how the engine leads to the slots behind them.
macro_rules! handle {
    ($id:ident, $kind:expr, $engine:ident => $slots:expr) => {
        impl $id {
            #[inline(always)]
            fn alive(number: f64, cx: &Cx) -> Option<$id> {
                // SAFETY: the engine lives as long as the VM, and is not borrowed while arguments
                // are read.
                let $engine = unsafe { &*cx.engine };
                let handle = Handle::from_number(number)?;
                $slots.get(handle).is_some().then_some($id(handle))
            }

            #[cold]
            fn why_not(number: f64, cx: &Cx) -> Wrong {
                // SAFETY: as above.
                let $engine = unsafe { &*cx.engine };
                let stale = Handle::from_number(number).map(|handle| $slots.stale(handle));
                Wrong::Words(words_of_stale($engine, $kind, stale, number))
            }
        }

        impl Arg for $id {
            const TYPE: Type = Type::new($kind.name(), Shape::Handle($kind));
            of_number!(|number, cx| $id::alive(number, cx).ok_or_else(|| $id::why_not(number, cx)));
        }

        impl Plain for $id {
            type C = f64;
            #[inline(always)]
            unsafe fn from_c(c: f64, _: u32, cx: &Cx) -> Option<$id> {
                $id::alive(c, cx)
            }
        }
    };
}

/// Every kind of handle that arguments can be, once.
macro_rules! handles {
    ($($id:ident, $kind:expr, $engine:ident => $slots:expr;)*) => {
        $(handle!($id, $kind, $engine => $slots);)*

        /// The kind of a handle that leads somewhere.
        #[cold]
        pub fn living(engine: &Engine, handle: Handle) -> Option<Kind> {
            $({
                let $engine = engine;
                if $slots.get(handle).is_some() {
                    return Some($kind);
                }
            })*
            None
        }
    };
}

handles! {
    WorldId, Kind::World, engine => &engine.worlds;
    GuiId, Kind::Gui, engine => engine.guis.slots();
    MaterialId, Kind::Material, engine => engine.materials.slots();
    CameraId, Kind::Camera, engine => &engine.cameras;
    LineObjectId, Kind::LineObject, engine => &engine.lines.objects;
    MeshId, Kind::Mesh, engine => &engine.scenes.meshes.slots;
    LightId, Kind::Light, engine => &engine.scenes.lights.slots;
    SpriteId, Kind::Sprite, engine => &engine.scenes.sprites.slots;
    ViewportId, Kind::Viewport, engine => &engine.viewports;
    WindowId, Kind::Window, engine => engine.windows.slots();
    UnitId, Kind::Unit, engine => &engine.units.slots;
    EffectId, Kind::ParticleEffect, engine => engine.particles.slots();
    LevelId, Kind::Level, engine => &engine.levels.slots;
    TilemapId, Kind::Tilemap, engine => &engine.tilemaps.slots;
    BroadphaseId, Kind::Broadphase, engine => &engine.broadphases;
    ActorId, Kind::Actor, engine => &engine.physics.actors;
    MoverId, Kind::Mover, engine => &engine.physics.movers;
    JointId, Kind::Joint, engine => &engine.physics.joints;
    PhysicsWorldId, Kind::PhysicsWorld, engine => &engine.physics.worlds;
    SnapshotId, Kind::PhysicsSnapshot, engine => &engine.physics.snapshots;
    PackageId, Kind::ResourcePackage, engine => engine.packages.slots();
    SoundWorldId, Kind::SoundWorld, engine => &engine.sounds.voices.worlds;
    WorkerId, Kind::Worker, engine => engine.workers.slots();
}

/// A number that may be the handle of anything, living or not: for questions such as `alive`.
#[derive(Clone, Copy)]
pub struct AnyNumber(pub f64);

impl Arg for AnyNumber {
    const TYPE: Type = Type::new("number", Shape::Number);
    of_number!(|number, _| Ok(AnyNumber(number)));
}

impl Plain for AnyNumber {
    type C = f64;
    unsafe fn from_c(c: f64, _: u32, _: &Cx) -> Option<AnyNumber> {
        Some(AnyNumber(c))
    }
}

impl Arg for Value {
    const TYPE: Type = Type::new("any", Shape::Boxed);
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Value, Wrong> {
        // SAFETY: as the caller promised.
        unsafe { read_value(l, i, cx).map_err(Wrong::Words) }
    }
}

/// All the arguments that are left.
pub struct Rest(pub Vec<Value>);

impl Arg for Rest {
    const TYPE: Type = Type { rest: true, ..Type::new("any", Shape::Boxed) };
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Rest, Wrong> {
        // SAFETY: as the caller promised.
        unsafe {
            let mut reader = Reader::new(l, cx);
            let values = (i..=lua_gettop(l)).map(|i| reader.value(i).map_err(|words| (i, words)));
            values.collect::<Result<_, _>>().map(Rest).map_err(|(i, words)| Wrong::Later(i, words))
        }
    }
}

/// A string of Lua's, of any bytes, alive for the time of the call and not to be kept.
#[derive(Clone, Copy)]
pub struct Bytes(*const [u8]);

impl Bytes {
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: as for `Text::as_str`.
        unsafe { &*self.0 }
    }
}

impl Arg for Bytes {
    const TYPE: Type = Type::new("string", Shape::Boxed);
    unsafe fn read(l: *mut lua_State, i: c_int, _: &Cx) -> Result<Bytes, Wrong> {
        // SAFETY: as the caller promised; a string is not converted.
        unsafe {
            if lua_type(l, i) != LUA_TSTRING {
                return Err(Wrong::Type);
            }
            let mut length = 0;
            let start = lua_tolstring(l, i, &mut length);
            Ok(Bytes(std::ptr::slice_from_raw_parts(start as *const u8, length)))
        }
    }

    #[inline(always)]
    unsafe fn take(l: *mut lua_State, i: c_int, _: &Cx) -> Result<Bytes, Wrong> {
        // SAFETY: as the caller promised.
        unsafe { layout::string(l, i) }.map(Bytes).ok_or(Wrong::Type)
    }
}
