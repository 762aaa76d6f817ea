//! LuaJIT's own data, as far as native code reads and writes it in place: the slots of the running
//! call and what the collector does next. Lua's C interface takes several times as long for a
//! number as this does, and does not tell the other at all. raise.c knows the same slots.
//!
//! LuaJIT's version is pinned by Cargo.lock, and [`holds`] compares what is read here with what
//! the C interface says before anything of a new VM runs. Machines of 64 bits only.

use mlua::ffi::*;
use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

/// The beginning of LuaJIT's `lua_State`.
#[repr(C)]
struct State {
    header: [u64; 2],
    global: *const Global,
    gray: *const c_void,
    base: *mut u64,
    top: *mut u64,
}

/// The beginning of LuaJIT's `global_State`.
#[repr(C)]
struct Global {
    allocator: [*const c_void; 2],
    total: u64,
    threshold: u64,
    white: u8,
    phase: u8,
    unused: [u8; 2],
    swept_strings: u32,
    root: *const c_void,
    sweep: *const c_void,
    gray: *const Table,
    gray_again: *const Table,
}

/// The beginning of LuaJIT's `GCtab`, of which every collected object has the first two fields.
#[repr(C)]
pub(super) struct Table {
    next: u64,
    marked: u8,
    kind: u8,
    unused: [u8; 6],
    pub array: *const u64,
    gray: *const c_void,
    pub metatable: *const Table,
    pub nodes: *const Node,
    pub array_size: u32,
    pub hash_mask: u32,
}

/// An entry of the part of a table that is found by hash. The key of one that is gone may lead
/// nowhere; its value is nil.
#[repr(C)]
pub(super) struct Node {
    pub value: u64,
    pub key: u64,
    next: *const Node,
}

const _: () = {
    assert!(std::mem::offset_of!(State, base) == 32);
    assert!(std::mem::offset_of!(Global, phase) == 33);
    assert!(std::mem::offset_of!(Global, gray) == 56);
    assert!(std::mem::offset_of!(Table, array_size) == 48);
    assert!(size_of::<Node>() == 24);
};

/// Slots below this are doubles. (Where LuaJIT keeps whole numbers as such, they are above it.)
const DOUBLES_END: u64 = 0xfff9 << 48;
/// What a double that is no number is stored as: other forms would be taken for other types.
const NAN: u64 = 0xfff8 << 48;
pub(super) const NIL: u64 = u64::MAX;
const FALSE: u64 = !(1 << 47);
const TRUE: u64 = !(2 << 47);
/// The upper 17 bits of a slot that holds a string, or a value of the FFI.
const STRING: u64 = !4 & 0x1_ffff;
const CDATA: u64 = !10 & 0x1_ffff;
/// The bits of a slot that lead to an object.
pub(super) const POINTER: u64 = (1 << 47) - 1;
/// Bytes from the start of a native function's object to its first upvalue.
const UPVALUE: usize = 48;
/// Bytes from the start of a string's object to its number, its length, and its text.
const STRING_NUMBER: usize = 12;
const STRING_LENGTH: usize = 20;
pub(super) const STRING_TEXT: usize = 24;
/// Bytes from the start of an FFI value's object to the number of its type, and to its content.
const CDATA_TYPE: usize = 10;
const CDATA_CONTENT: usize = 16;
/// The kind of a table, and phases of the collector.
const TABLE: u8 = 11;
const PROPAGATE: u8 = 1;
const ATOMIC: u8 = 2;
const SWEEP_STRINGS: u8 = 3;

/// In how many words from the beginning of `global_State` the next string's number is looked for.
const GLOBAL_WORDS: usize = 128;

/// Where the number of the next new string is, in bytes from the beginning of `global_State`. The
/// first call finds it, in a state of its own, and has strings be numbered by their text from then
/// on where the linker allows that (strings.c).
pub fn string_number_place() -> usize {
    unsafe extern "C" {
        fn script_number_by_text(place: usize) -> c_int;
    }
    static PLACE: OnceLock<usize> = OnceLock::new();
    *PLACE.get_or_init(|| {
        // SAFETY: a state of its own, in which nothing runs; the place is that of its kind.
        unsafe {
            let l = luaL_newstate();
            assert!(!l.is_null(), "there is no memory for a Lua state");
            let place = find_string_number(l);
            lua_close(l);
            let place = place.expect("LuaJIT numbers its strings as layout.rs says");
            script_number_by_text(place);
            place
        }
    })
}

/// The number of the next new string of a state.
///
/// # Safety
/// `l` is a live state. The place holds as long as it.
pub unsafe fn string_number(l: *mut lua_State) -> *mut u32 {
    // SAFETY: as the caller promised.
    unsafe {
        let global = (*l.cast::<State>()).global.cast_mut().cast::<u8>();
        global.add(string_number_place()).cast()
    }
}

/// LuaJIT puts strings into tables by the numbers that they got when they were made.
///
/// # Safety
/// `l` is a live state with room for three values, in which nothing runs, and which numbers its
/// strings one after the other.
unsafe fn find_string_number(l: *mut lua_State) -> Option<usize> {
    const PROBE: u32 = 1 << 24;
    // SAFETY: as the caller promised; `global_State` is longer than what is looked at.
    unsafe {
        let top = lua_gettop(l);
        let words = (*l.cast::<State>()).global.cast_mut().cast::<u32>();
        let next = |text: &CStr| {
            lua_pushstring(l, text.as_ptr());
            number_of_top(l).wrapping_add(1)
        };
        let first = next(c"a string that no script has, one");
        let places = (0..GLOBAL_WORDS).filter(|at| *words.add(*at) == first);
        let places: Vec<usize> = places.collect();
        let second = next(c"a string that no script has, two");
        // Before it stands how many strings there are, which is the same while none was collected.
        let place = places.into_iter().rfind(|at| *words.add(*at) == second);
        let found = place.filter(|_| second == first.wrapping_add(1)).filter(|place| {
            *words.add(*place) = PROBE;
            next(c"a string that no script has, three") == PROBE + 1
        });
        lua_settop(l, top);
        found.map(|place| place * size_of::<u32>())
    }
}

/// The number of the string on top of the stack.
///
/// # Safety
/// `l` is a live state with a string on top.
unsafe fn number_of_top(l: *mut lua_State) -> u32 {
    // SAFETY: as the caller promised; an object of that type is as above.
    unsafe {
        let object = (*(*l.cast::<State>()).top.sub(1) & POINTER) as *const u8;
        object.add(STRING_NUMBER).cast::<u32>().read()
    }
}

/// How many arguments the running call was given.
///
/// # Safety
/// `l` is the state of the running call, here and below.
#[inline(always)]
pub unsafe fn given(l: *mut lua_State) -> usize {
    // SAFETY: the beginning of a state is as above.
    unsafe { (*l.cast::<State>()).top.offset_from((*l.cast::<State>()).base) as usize }
}

/// Argument `i`, from 1.
#[inline(always)]
unsafe fn slot(l: *mut lua_State, i: c_int) -> Option<u64> {
    // SAFETY: as above; slots up to the top are initialised.
    unsafe {
        let state = l.cast::<State>();
        let at = (*state).base.offset(i as isize - 1);
        (at < (*state).top).then(|| *at)
    }
}

/// Argument `i`, where it is a double.
#[inline(always)]
pub unsafe fn double(l: *mut lua_State, i: c_int) -> Option<f64> {
    // SAFETY: as the caller promised.
    let slot = unsafe { slot(l, i) }?;
    (slot < DOUBLES_END).then(|| f64::from_bits(slot))
}

/// Whether argument `i` is nil or was not given.
#[inline(always)]
pub unsafe fn is_absent(l: *mut lua_State, i: c_int) -> bool {
    // SAFETY: as the caller promised.
    unsafe { slot(l, i) }.is_none_or(|slot| slot == NIL)
}

/// Argument `i`, where it is a boolean.
#[inline(always)]
pub unsafe fn boolean(l: *mut lua_State, i: c_int) -> Option<bool> {
    // SAFETY: as the caller promised.
    match unsafe { slot(l, i) } {
        Some(TRUE) => Some(true),
        Some(FALSE) => Some(false),
        _ => None,
    }
}

/// The bytes of argument `i`, where it is a string; they hold as long as it is there.
#[inline(always)]
pub unsafe fn string(l: *mut lua_State, i: c_int) -> Option<*const [u8]> {
    // SAFETY: as the caller promised; an object of that type is as above.
    unsafe {
        let slot = slot(l, i)?;
        if slot >> 47 != STRING {
            return None;
        }
        let object = (slot & POINTER) as *const u8;
        let length = object.add(STRING_LENGTH).cast::<u32>().read();
        Some(std::ptr::slice_from_raw_parts(object.add(STRING_TEXT), length as usize))
    }
}

/// The number of the type of argument `i`, where it is a value of the FFI, and its content.
#[inline(always)]
pub unsafe fn cdata(l: *mut lua_State, i: c_int) -> Option<(u16, *const c_void)> {
    // SAFETY: as the caller promised; an object of that type is as above.
    unsafe {
        let slot = slot(l, i)?;
        if slot >> 47 != CDATA {
            return None;
        }
        let object = (slot & POINTER) as *const u8;
        let number = object.add(CDATA_TYPE).cast::<u16>().read();
        Some((number, object.add(CDATA_CONTENT).cast()))
    }
}

/// The bits of the first upvalue of the running native function.
#[inline(always)]
pub unsafe fn upvalue(l: *mut lua_State) -> u64 {
    // SAFETY: as the caller promised; the function stands two slots below its arguments.
    unsafe {
        let function = *(*l.cast::<State>()).base.offset(-2) & POINTER;
        (function as *const u8).add(UPVALUE).cast::<u64>().read()
    }
}

/// A number that stands for an address, in which every bit is kept: a double next to zero.
pub fn address(pointer: *const c_void) -> f64 {
    f64::from_bits(pointer.expose_provenance() as u64)
}

/// Pushes a number. There must be room: every native function has it for 20 values.
#[inline(always)]
pub unsafe fn push_number(l: *mut lua_State, number: f64) {
    // SAFETY: as the caller promised.
    unsafe {
        let state = l.cast::<State>();
        *(*state).top = if number.is_nan() { NAN } else { number.to_bits() };
        (*state).top = (*state).top.add(1);
    }
}

/// Pushes the content of a slot, of which whoever calls knows that its object is alive.
#[inline(always)]
pub(super) unsafe fn push_slot(l: *mut lua_State, slot: u64) {
    // SAFETY: as the caller promised.
    unsafe {
        let state = l.cast::<State>();
        *(*state).top = slot;
        (*state).top = (*state).top.add(1);
    }
}

/// The slot on top of the stack, of which there is one.
#[inline(always)]
pub(super) unsafe fn top(l: *mut lua_State) -> u64 {
    // SAFETY: as the caller promised.
    unsafe { *(*l.cast::<State>()).top.sub(1) }
}

/// Pushes a boolean.
#[inline(always)]
pub unsafe fn push_boolean(l: *mut lua_State, on: bool) {
    // SAFETY: as the caller promised.
    unsafe {
        let state = l.cast::<State>();
        *(*state).top = if on { TRUE } else { FALSE };
        (*state).top = (*state).top.add(1);
    }
}

/// What the collector would do in its next step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Mark one object.
    Mark,
    /// Mark what is in a table of so many places, at once.
    MarkLarge(usize),
    /// End the marking, at once: everything that was written to since it was marked is marked
    /// again.
    EndMarking,
    /// Sweep the strings of one hash.
    SweepStrings,
    /// Begin a cycle, sweep [`SWEPT`] objects, or finalise one.
    Other,
}

/// How many objects one step sweeps.
pub const SWEPT: u64 = 40;

/// What the collector would do in its next step.
///
/// # Safety
/// `l` is a live state.
pub unsafe fn next_step(l: *mut lua_State) -> Next {
    // SAFETY: as the caller promised; the list of gray objects holds living ones.
    unsafe {
        let global = &*(*l.cast::<State>()).global;
        match (global.phase, global.gray.as_ref()) {
            (PROPAGATE, None) | (ATOMIC, _) => Next::EndMarking,
            (PROPAGATE, Some(table)) if table.kind == TABLE => {
                match table.array_size as usize + table.hash_mask as usize {
                    places if places >= LARGE => Next::MarkLarge(places),
                    _ => Next::Mark,
                }
            }
            (PROPAGATE, Some(_)) => Next::Mark,
            (SWEEP_STRINGS, _) => Next::SweepStrings,
            _ => Next::Other,
        }
    }
}

/// Has everything marked again that was written to since it was marked, in steps: what the end of
/// the marking does at once, so that less is left for it. To be called where [`Next::EndMarking`]
/// is next.
///
/// # Safety
/// `l` is a live state, in which nothing runs.
pub unsafe fn mark_again(l: *mut lua_State) {
    // SAFETY: as the caller promised. LuaJIT's `atomic` moves the list in the same way; what is in
    // it is gray, and stays in one list.
    unsafe {
        let global = (*l.cast::<State>()).global.cast_mut();
        if (*global).phase == PROPAGATE && (*global).gray.is_null() {
            (*global).gray = std::mem::replace(&mut (*global).gray_again, std::ptr::null());
        }
    }
}

/// Places of a table that takes noticeably long to mark: about 0.1 ms.
const LARGE: usize = 16 << 10;

/// Whether a fresh state is laid out as this file says.
///
/// # Safety
/// `l` is a live state in which nothing runs.
pub unsafe fn holds(l: *mut lua_State) -> bool {
    unsafe extern "C-unwind" fn compare(l: *mut lua_State) -> c_int {
        // SAFETY: called below, with those arguments.
        unsafe {
            let text = string(l, 4).map(|text| &*text);
            let mut right = given(l) == 4 && lua_gettop(l) == 4;
            right &= upvalue(l) == address(KNOWN).to_bits();
            right &= double(l, 1) == Some(1.5) && double(l, 2).is_none() && double(l, 5).is_none();
            right &= is_absent(l, 3) && is_absent(l, 5) && !is_absent(l, 2);
            right &= boolean(l, 2) == Some(true) && text == Some(b"known".as_slice());
            lua_settop(l, 0);
            push_number(l, -2.5);
            push_number(l, f64::NAN);
            push_boolean(l, false);
            right &= lua_gettop(l) == 3 && lua_tonumber(l, 1) == -2.5;
            right &= lua_type(l, 2) == LUA_TNUMBER && lua_tonumber(l, 2).is_nan();
            right &= lua_type(l, 3) == LUA_TBOOLEAN && lua_toboolean(l, 3) == 0;
            lua_pushboolean(l, right as c_int);
            1
        }
    }
    const KNOWN: *const c_void = std::ptr::without_provenance(0x1234_5678_9abc);
    // SAFETY: as the caller promised. The distance of two addresses is looked at before either is
    // followed, and the bytes that Lua holds before the list of gray objects is.
    unsafe {
        let state = &*l.cast::<State>();
        let before = state.top.addr().wrapping_sub(state.base.addr());
        if before != 8 * lua_gettop(l) as usize {
            return false;
        }
        lua_gc(l, LUA_GCSTOP, 0);
        let kibibytes = lua_gc(l, LUA_GCCOUNT, 0) as u64;
        let global = &*state.global;
        if global.total >> 10 != kibibytes || global.threshold <= global.total || global.phase != 0
        {
            return false;
        }
        lua_pushnumber(l, address(KNOWN));
        lua_pushcclosure(l, compare, 1);
        lua_pushnumber(l, 1.5);
        lua_pushboolean(l, 1);
        lua_pushnil(l);
        lua_pushlstring(l, b"known".as_ptr().cast(), 5);
        let right = lua_pcall(l, 4, 1, 0) == LUA_OK && lua_toboolean(l, -1) != 0;
        lua_settop(l, -2);
        right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of these strings, made in this order in a state of their own.
    #[cfg(target_os = "linux")]
    fn numbers(texts: &[String]) -> Vec<u32> {
        string_number_place();
        // SAFETY: a state of its own; each string is let go of before the next one is pushed.
        unsafe {
            let l = luaL_newstate();
            let number = |text: &String| {
                lua_pushlstring(l, text.as_ptr().cast(), text.len());
                let number = number_of_top(l);
                lua_settop(l, 0);
                number
            };
            let numbers = texts.iter().map(number).collect();
            lua_close(l);
            numbers
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_string_has_the_number_of_its_text_whenever_it_was_made() {
        let texts: Vec<String> = (0..2000).map(|length| "ab/c".repeat(length % 50 + 1)).collect();
        let texts: Vec<String> =
            texts.iter().enumerate().map(|(i, text)| format!("{text}{i}")).collect();
        let backwards: Vec<String> = texts.iter().rev().cloned().collect();
        let (numbers, mut others) = (numbers(&texts), numbers(&backwards));
        others.reverse();
        assert_eq!(numbers, others);
        // As good as random in the bits that tables look at: 2000 throws leave one place in seven
        // of 1024 free.
        let mut taken = [false; 1024];
        numbers.iter().for_each(|number| taken[*number as usize % 1024] = true);
        let taken = taken.iter().filter(|taken| **taken).count();
        assert!((830..930).contains(&taken), "{taken} places of 1024 were taken by 2000 strings");
    }
}
