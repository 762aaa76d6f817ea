//! Argument types of engine functions: one `Argument` implementation for each Rust type, and the
//! error messages for invalid arguments. Reading an argument never raises a Lua error; it uses only
//! calls that cannot raise.

use super::api_row::FunctionRow;
use super::argument_remedies::remedy;
use super::context::ScriptContext;
use super::describe_value::describe;
use super::graph_values::{self, SlotReader};
use super::luajit_layout;
use super::types::{ApiType, ValueShape, VectorType};
use super::value::{ScriptValue, ValueReader, read_value};
use engine_flow::{Slot, Tag};
use engine_foundation::{Color, Mat4, Quat, Vec2, Vec3, Vec4};
use mlua::ffi::*;
use std::ffi::{CStr, c_char, c_int, c_void};

pub use handles::{
    HandleNumber, MaybeHandle, gui_message, live_kind, material_message, stale_message,
};
pub use name_or_index::NameOrIndex;
pub use point_list::PointList;
pub use point_or_pose::PointOrPose;

/// The reason why an argument was refused.
pub enum ArgumentError {
    /// The argument has the wrong type.
    Type,
    /// The argument has the right type, but an invalid value. This message replaces `must be …`.
    Message(String),
    /// A refused argument among the rest arguments: its index, and the message.
    RestArgument(c_int, String),
}

/// A Rust type that an engine function can take as an argument.
pub trait Argument: Sized {
    const TYPE: ApiType;
    /// Reads the argument from an input of a node; `None` if graphs have no values of this type.
    const OF_SLOT: Option<SlotReader<Self>> = None;
    /// Reads argument `i`.
    ///
    /// # Safety
    /// `l` is the state of the running call, and `i` a position in it.
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &ScriptContext) -> Result<Self, ArgumentError>;

    /// Reads an argument of the running call, in place where that is possible: common argument
    /// types are read without a call into the C interface.
    ///
    /// # Safety
    /// As for `read`; `i` counts from 1.
    #[inline(always)]
    unsafe fn take(l: *mut lua_State, i: c_int, cx: &ScriptContext) -> Result<Self, ArgumentError> {
        // SAFETY: as the caller promised.
        unsafe { Self::read(l, i, cx) }
    }
}

/// An argument that compiled Lua can pass unboxed: a C value, and an extra number (the length of a
/// string, or 1 if an optional argument is present).
pub trait UnboxedArgument: Argument {
    type C: Copy;
    /// Rebuilds the value from its C form. Returns `None` if the value is invalid; the checked form
    /// then reports the reason.
    ///
    /// # Safety
    /// Pointers are those that compiled Lua passed; they are valid during the call.
    unsafe fn from_c(c: Self::C, extra: u32, cx: &ScriptContext) -> Option<Self>;
}

/// Returns the error message for a refused argument.
///
/// # Safety
/// As for [`Argument::read`].
#[cold]
#[inline(never)]
pub unsafe fn mismatch(
    l: *mut lua_State,
    i: c_int,
    cx: &ScriptContext,
    f: &FunctionRow,
    want: &ApiType,
    wrong: ArgumentError,
) -> String {
    let name = f.params[i as usize - 1].0;
    match wrong {
        // SAFETY: as the caller promised.
        ArgumentError::Type => unsafe {
            let or_nil = if want.optional { " or nil" } else { "" };
            let got = CStr::from_ptr(lua_typename(l, lua_type(l, i))).to_str().unwrap_or_default();
            let remedy = remedy(want.lua, name, got);
            format!(
                "argument #{i} '{name}' must be {}{or_nil}, got {}{remedy}",
                want.lua,
                describe(l, i, cx)
            )
        },
        ArgumentError::Message(message) => format!("argument #{i} '{name}': {message}"),
        ArgumentError::RestArgument(i, message) => format!("argument #{i} '{name}': {message}"),
    }
}

/// Returns the number at `i`, or an error if the value is not a number. Strings are not converted
/// to numbers.
unsafe fn number(l: *mut lua_State, i: c_int) -> Result<f64, ArgumentError> {
    // SAFETY: as for `Argument::read`; the calls do not raise.
    match unsafe { lua_type(l, i) } {
        // SAFETY: as above.
        LUA_TNUMBER => Ok(unsafe { lua_tonumber(l, i) }),
        _ => Err(ArgumentError::Type),
    }
}

/// Implements `read` and `take` for a type that is built from a number and the context.
macro_rules! of_number {
    ($of:expr) => {
        unsafe fn read(
            l: *mut lua_State,
            i: c_int,
            cx: &ScriptContext,
        ) -> Result<Self, ArgumentError> {
            // SAFETY: as the caller promised.
            $of(unsafe { number(l, i) }?, cx)
        }

        #[inline(always)]
        unsafe fn take(
            l: *mut lua_State,
            i: c_int,
            cx: &ScriptContext,
        ) -> Result<Self, ArgumentError> {
            // SAFETY: as the caller promised.
            match unsafe { luajit_layout::double(l, i) } {
                Some(number) => $of(number, cx),
                // SAFETY: as the caller promised.
                None => unsafe { Self::read(l, i, cx) },
            }
        }
    };
}

mod handles;
mod name_or_index;
mod point_list;
mod point_or_pose;

#[inline(always)]
fn finite(number: f64) -> Result<f64, ArgumentError> {
    if number.is_finite() { Ok(number) } else { Err(not_finite(number)) }
}

#[cold]
fn not_finite(number: f64) -> ArgumentError {
    let description =
        if number.is_nan() { "nan (is something divided by zero?)" } else { "infinite" };
    ArgumentError::Message(format!("must be a finite number, got {description}"))
}

impl Argument for f64 {
    const TYPE: ApiType = ApiType::new("number", ValueShape::Number);
    const OF_SLOT: Option<SlotReader<f64>> = Some(|slot, _, _| finite(plain_number(slot)?));
    of_number!(|number, _| finite(number));
}

impl UnboxedArgument for f64 {
    type C = f64;
    unsafe fn from_c(c: f64, _: u32, _: &ScriptContext) -> Option<f64> {
        c.is_finite().then_some(c)
    }
}

impl Argument for bool {
    const TYPE: ApiType = ApiType::new("boolean", ValueShape::Boolean);
    const OF_SLOT: Option<SlotReader<bool>> = Some(|slot, _, _| match slot.tag {
        Tag::Boolean => Ok(slot.as_boolean()),
        _ => Err(ArgumentError::Type),
    });
    unsafe fn read(l: *mut lua_State, i: c_int, _: &ScriptContext) -> Result<bool, ArgumentError> {
        // SAFETY: as the caller promised.
        unsafe {
            match lua_type(l, i) {
                LUA_TBOOLEAN => Ok(lua_toboolean(l, i) != 0),
                _ => Err(ArgumentError::Type),
            }
        }
    }

    #[inline(always)]
    unsafe fn take(l: *mut lua_State, i: c_int, _: &ScriptContext) -> Result<bool, ArgumentError> {
        // SAFETY: as the caller promised.
        unsafe { luajit_layout::boolean(l, i) }.ok_or(ArgumentError::Type)
    }
}

impl UnboxedArgument for bool {
    type C = bool;
    unsafe fn from_c(c: bool, _: u32, _: &ScriptContext) -> Option<bool> {
        Some(c)
    }
}

/// A whole number, exact in a double.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Integer(pub i64);

impl Integer {
    #[inline(always)]
    fn of(number: f64) -> Option<Integer> {
        // `fract` is avoided because it is a call into the C library on plain x86-64. NaN is not in
        // range.
        if number.abs() <= 9_007_199_254_740_992.0 {
            // SAFETY: every number in that range has a whole part that an i64 can hold.
            let whole: i64 = unsafe { number.to_int_unchecked() };
            return (whole as f64 == number).then_some(Integer(whole));
        }
        None
    }

    #[cold]
    fn conversion_error(number: f64) -> ArgumentError {
        match number.is_finite() {
            true => ArgumentError::Message(format!("must be a whole number, got {number}")),
            false => not_finite(number),
        }
    }
}

impl Argument for Integer {
    const TYPE: ApiType = ApiType::new("integer", ValueShape::Number);
    const OF_SLOT: Option<SlotReader<Integer>> = Some(|slot, _, _| {
        let number = plain_number(slot)?;
        Integer::of(number).ok_or_else(|| Integer::conversion_error(number))
    });
    of_number!(|number, _| Integer::of(number).ok_or_else(|| Integer::conversion_error(number)));
}

impl UnboxedArgument for Integer {
    type C = f64;
    unsafe fn from_c(c: f64, _: u32, _: &ScriptContext) -> Option<Integer> {
        Integer::of(c)
    }
}

/// A Lua string of valid UTF-8. It is alive during the call only and must not be kept.
#[derive(Clone, Copy)]
pub struct TextArgument(*const str);

impl TextArgument {
    pub fn as_str(&self) -> &str {
        // SAFETY: Lua keeps its arguments alive on its stack until the call returns, and a
        // `TextArgument` is created for that call only.
        unsafe { &*self.0 }
    }

    unsafe fn of(start: *const c_char, length: usize) -> Result<TextArgument, ArgumentError> {
        // SAFETY: the pointer and length of a Lua string.
        unsafe { TextArgument::from_bytes(std::ptr::slice_from_raw_parts(start.cast(), length)) }
    }

    unsafe fn from_bytes(bytes: *const [u8]) -> Result<TextArgument, ArgumentError> {
        // SAFETY: the bytes of a Lua string.
        let bytes = unsafe { &*bytes };
        // Fast path: nearly all strings are short ASCII names.
        if bytes.len() <= 16 && bytes.iter().fold(0, |all, byte| all | byte) < 0x80 {
            // SAFETY: every byte is an ASCII character.
            return Ok(TextArgument(unsafe { std::str::from_utf8_unchecked(bytes) }));
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(TextArgument(text)),
            Err(error) => Err(ArgumentError::Message(format!(
                "must be valid UTF-8, byte {} is not",
                error.valid_up_to() + 1
            ))),
        }
    }
}

impl Argument for TextArgument {
    const TYPE: ApiType = ApiType::new("string", ValueShape::Text);
    const OF_SLOT: Option<SlotReader<TextArgument>> = Some(|slot, _, heap| match slot.tag {
        Tag::Text => Ok(TextArgument(heap.text(slot))),
        _ => Err(ArgumentError::Type),
    });
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        _: &ScriptContext,
    ) -> Result<TextArgument, ArgumentError> {
        // SAFETY: as the caller promised; a string is not converted, so nothing is allocated.
        unsafe {
            if lua_type(l, i) != LUA_TSTRING {
                return Err(ArgumentError::Type);
            }
            let mut length = 0;
            let start = lua_tolstring(l, i, &mut length);
            TextArgument::of(start, length)
        }
    }

    #[inline(always)]
    unsafe fn take(
        l: *mut lua_State,
        i: c_int,
        _: &ScriptContext,
    ) -> Result<TextArgument, ArgumentError> {
        // SAFETY: as the caller promised.
        unsafe {
            luajit_layout::string(l, i)
                .ok_or(ArgumentError::Type)
                .and_then(|bytes| TextArgument::from_bytes(bytes))
        }
    }
}

impl UnboxedArgument for TextArgument {
    type C = *const c_char;
    unsafe fn from_c(c: *const c_char, length: u32, _: &ScriptContext) -> Option<TextArgument> {
        // SAFETY: compiled Lua passes a string and its length.
        unsafe { TextArgument::of(c, length as usize) }.ok()
    }
}

impl<T: Argument> Argument for Option<T> {
    const TYPE: ApiType = T::TYPE.or_nil();
    const OF_SLOT: Option<SlotReader<Option<T>>> = match T::OF_SLOT {
        Some(_) => Some(graph_values::optional::<T>),
        None => None,
    };
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<Option<T>, ArgumentError> {
        // SAFETY: as the caller promised.
        unsafe {
            match lua_type(l, i) {
                LUA_TNONE | LUA_TNIL => Ok(None),
                _ => T::read(l, i, cx).map(Some),
            }
        }
    }

    #[inline(always)]
    unsafe fn take(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<Option<T>, ArgumentError> {
        // SAFETY: as the caller promised.
        unsafe {
            match luajit_layout::is_absent(l, i) {
                true => Ok(None),
                false => T::take(l, i, cx).map(Some),
            }
        }
    }
}

impl<T: UnboxedArgument> UnboxedArgument for Option<T> {
    type C = T::C;
    unsafe fn from_c(c: T::C, extra: u32, cx: &ScriptContext) -> Option<Option<T>> {
        // An optional string would need the extra number twice; no such function is declared hot.
        const {
            let is_text = matches!(T::TYPE.shape, ValueShape::Text);
            assert!(!is_text, "no optional strings in hot rows");
        }
        match extra {
            0 => Some(None),
            // SAFETY: as the caller promised.
            _ => unsafe { T::from_c(c, extra, cx) }.map(Some),
        }
    }
}

#[cold]
fn not_finite_floats(kind: VectorType, floats: &[f32]) -> ArgumentError {
    let parts: Vec<String> = floats.iter().map(f32::to_string).collect();
    ArgumentError::Message(format!(
        "must be finite, got {}({}) (is something divided by zero?)",
        kind.name(),
        parts.join(", ")
    ))
}

/// Implements `Argument` for a value type of scripts and the Rust type that holds its floats.
macro_rules! floats {
    ($t:ty, $kind:ident, $count:literal, $of:expr, $of_slot:expr) => {
        impl Argument for $t {
            const TYPE: ApiType = {
                assert!(VectorType::$kind.count() == $count);
                ApiType::new(VectorType::$kind.name(), ValueShape::Value(VectorType::$kind))
            };
            const OF_SLOT: Option<SlotReader<$t>> = $of_slot;
            unsafe fn read(
                l: *mut lua_State,
                i: c_int,
                cx: &ScriptContext,
            ) -> Result<$t, ArgumentError> {
                // SAFETY: a value of the type that was registered at boot holds that many floats at
                // its start.
                let floats = unsafe {
                    let data =
                        cx.ctypes.read(l, i, VectorType::$kind).ok_or(ArgumentError::Type)?;
                    *(data as *const [f32; $count])
                };
                match floats.iter().all(|float| float.is_finite()) {
                    true => Ok($of(floats)),
                    false => Err(not_finite_floats(VectorType::$kind, &floats)),
                }
            }

            unsafe fn take(
                l: *mut lua_State,
                i: c_int,
                cx: &ScriptContext,
            ) -> Result<$t, ArgumentError> {
                // SAFETY: as for `read`.
                let floats = unsafe {
                    let data =
                        cx.ctypes.take(l, i, VectorType::$kind).ok_or(ArgumentError::Type)?;
                    *(data as *const [f32; $count])
                };
                match floats.iter().all(|float| float.is_finite()) {
                    true => Ok($of(floats)),
                    false => Err(not_finite_floats(VectorType::$kind, &floats)),
                }
            }
        }

        impl UnboxedArgument for $t {
            type C = *const c_void;
            #[inline(always)]
            unsafe fn from_c(c: *const c_void, _: u32, _: &ScriptContext) -> Option<$t> {
                // SAFETY: the fast form checked the type before it passed the pointer.
                let floats = unsafe { *(c as *const [f32; $count]) };
                floats.iter().all(|float| float.is_finite()).then(|| $of(floats))
            }
        }
    };
}

floats!(Vec2, Vector2, 2, Vec2::from_array, None);
floats!(Vec3, Vector3, 3, Vec3::from_array, Some(|slot, _, _| vector(slot)));
floats!(Vec4, Vector4, 4, Vec4::from_array, None);
floats!(Quat, Quaternion, 4, Quat::from_array, Some(|slot, _, _| rotation(slot)));
// The rows of the scripts' matrices (axes, then the translation) are the columns of a `Mat4`.
floats!(Mat4, Matrix4x4, 16, |floats| Mat4::from_cols_array(&floats), None);
floats!(
    Color,
    Color,
    4,
    |[alpha, red, green, blue]: [f32; 4]| Color { red, green, blue, alpha },
    Some(|slot, _, _| color(slot))
);

/// Returns the number of a slot; graphs have no text that is read as one.
#[inline(always)]
fn plain_number(slot: Slot) -> Result<f64, ArgumentError> {
    match slot.tag {
        Tag::Number => Ok(slot.as_number()),
        _ => Err(ArgumentError::Type),
    }
}

/// Returns the finite floats of a slot.
#[inline(always)]
fn slot_floats<const N: usize>(
    slot: Slot,
    tag: Tag,
    kind: VectorType,
    floats: [f32; N],
) -> Result<[f32; N], ArgumentError> {
    match (slot.tag == tag, floats.iter().all(|float| float.is_finite())) {
        (false, _) => Err(ArgumentError::Type),
        (_, false) => Err(not_finite_floats(kind, &floats)),
        _ => Ok(floats),
    }
}

#[inline(always)]
fn vector(slot: Slot) -> Result<Vec3, ArgumentError> {
    let floats = slot.as_vector().to_array();
    slot_floats(slot, Tag::Vector, VectorType::Vector3, floats).map(Vec3::from_array)
}

#[inline(always)]
fn rotation(slot: Slot) -> Result<Quat, ArgumentError> {
    let floats = slot.as_rotation().to_array();
    slot_floats(slot, Tag::Rotation, VectorType::Quaternion, floats).map(Quat::from_array)
}

#[inline(always)]
fn color(slot: Slot) -> Result<Color, ArgumentError> {
    let floats = slot_floats(slot, Tag::Color, VectorType::Color, slot.as_color())?;
    let [red, green, blue, alpha] = floats;
    Ok(Color { red, green, blue, alpha })
}

impl Argument for ScriptValue {
    const TYPE: ApiType = ApiType::new("any", ValueShape::Boxed);
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<ScriptValue, ArgumentError> {
        // SAFETY: as the caller promised.
        unsafe { read_value(l, i, cx).map_err(ArgumentError::Message) }
    }
}

/// All remaining arguments.
pub struct RestArguments(pub Vec<ScriptValue>);

impl Argument for RestArguments {
    const TYPE: ApiType = ApiType { rest: true, ..ApiType::new("any", ValueShape::Boxed) };
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<RestArguments, ArgumentError> {
        // SAFETY: as the caller promised.
        unsafe {
            let mut reader = ValueReader::new(l, cx);
            let values =
                (i..=lua_gettop(l)).map(|i| reader.value(i).map_err(|message| (i, message)));
            values
                .collect::<Result<_, _>>()
                .map(RestArguments)
                .map_err(|(i, message)| ArgumentError::RestArgument(i, message))
        }
    }
}

/// A Lua string of arbitrary bytes. It is alive during the call only and must not be kept.
#[derive(Clone, Copy)]
pub struct ByteArgument(*const [u8]);

impl ByteArgument {
    /// Returns the argument for the bytes of a Lua string.
    pub(crate) fn new(bytes: *const [u8]) -> ByteArgument {
        ByteArgument(bytes)
    }

    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: as for `TextArgument::as_str`.
        unsafe { &*self.0 }
    }
}

impl Argument for ByteArgument {
    const TYPE: ApiType = ApiType::new("string", ValueShape::Boxed);
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        _: &ScriptContext,
    ) -> Result<ByteArgument, ArgumentError> {
        // SAFETY: as the caller promised; a string is not converted.
        unsafe {
            if lua_type(l, i) != LUA_TSTRING {
                return Err(ArgumentError::Type);
            }
            let mut length = 0;
            let start = lua_tolstring(l, i, &mut length);
            Ok(ByteArgument(std::ptr::slice_from_raw_parts(start as *const u8, length)))
        }
    }

    #[inline(always)]
    unsafe fn take(
        l: *mut lua_State,
        i: c_int,
        _: &ScriptContext,
    ) -> Result<ByteArgument, ArgumentError> {
        // SAFETY: as the caller promised.
        unsafe { luajit_layout::string(l, i) }.map(ByteArgument).ok_or(ArgumentError::Type)
    }
}
