//! LuaJIT's internal data layout, as far as native code reads and writes it in place: the slots of
//! the running call and the collector's next step. Reading a number through Lua's C interface takes
//! several times as long, and the collector's next step is not available there at all. raise.c uses
//! the same slots.
//!
//! LuaJIT's version is pinned by Cargo.lock. Before a new VM runs anything, [`layout_matches`]
//! compares the values that are read here with those of the C interface. 64-bit machines only.

use mlua::ffi::*;
use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

/// The first fields of LuaJIT's `lua_State`.
#[repr(C)]
struct RawState {
    header: [u64; 2],
    global: *const RawGlobalState,
    gray: *const c_void,
    base: *mut u64,
    top: *mut u64,
}

/// The first fields of LuaJIT's `global_State`.
#[repr(C)]
struct RawGlobalState {
    allocator: [*const c_void; 2],
    total: u64,
    threshold: u64,
    white: u8,
    phase: u8,
    unused: [u8; 2],
    swept_strings: u32,
    root: *const c_void,
    sweep: *const c_void,
    gray: *const RawTable,
    gray_again: *const RawTable,
}

/// The first fields of LuaJIT's `GCtab`. Every collected object has the first two fields.
#[repr(C)]
pub(super) struct RawTable {
    next: u64,
    marked: u8,
    kind: u8,
    unused: [u8; 6],
    pub array: *const u64,
    gray: *const c_void,
    pub metatable: *const RawTable,
    pub nodes: *const RawNode,
    pub array_size: u32,
    pub hash_mask: u32,
}

/// An entry of the hash part of a table. The key of a removed entry may be a dangling pointer; its
/// value is nil.
#[repr(C)]
pub(super) struct RawNode {
    pub value: u64,
    pub key: u64,
    next: *const RawNode,
}

const _: () = {
    assert!(std::mem::offset_of!(RawState, base) == 32);
    assert!(std::mem::offset_of!(RawGlobalState, phase) == 33);
    assert!(std::mem::offset_of!(RawGlobalState, gray) == 56);
    assert!(std::mem::offset_of!(RawTable, array_size) == 48);
    assert!(size_of::<RawNode>() == 24);
};

/// Upper bound of the slot values that are doubles. (Where LuaJIT stores integers separately, they
/// are above this bound.)
const DOUBLES_END: u64 = 0xfff9 << 48;
/// The bits with which NaN is stored. Other NaN values would be taken for other types.
const NAN: u64 = 0xfff8 << 48;
pub(super) const NIL: u64 = u64::MAX;
const FALSE: u64 = !(1 << 47);
const TRUE: u64 = !(2 << 47);
/// The upper 17 bits of a slot that holds a string, or an FFI value.
const STRING: u64 = !4 & 0x1_ffff;
const CDATA: u64 = !10 & 0x1_ffff;
/// The bits of a slot that hold the address of an object.
pub(super) const POINTER: u64 = (1 << 47) - 1;
/// Byte offset of the first upvalue in a native function object.
const UPVALUE: usize = 48;
/// Byte offsets of the number, the length and the text in a string object.
const STRING_NUMBER: usize = 12;
const STRING_LENGTH: usize = 20;
pub(super) const STRING_TEXT: usize = 24;
/// Byte offsets of the type number and the content in an FFI value object.
const CDATA_TYPE: usize = 10;
const CDATA_CONTENT: usize = 16;
/// Type tag of a table, and phases of the collector.
const TABLE: u8 = 11;
const PROPAGATE: u8 = 1;
const ATOMIC: u8 = 2;
const SWEEP_STRINGS: u8 = 3;

/// Number of words at the beginning of `global_State` that are searched for the next string's
/// number.
const GLOBAL_U32S: usize = 128;

/// Returns the byte offset of the next new string's number in `global_State`. The first call finds
/// the offset in a separate state. It also makes LuaJIT number strings by their text from then on,
/// where the linker allows that (string_ids.c).
pub fn string_id_address() -> usize {
    unsafe extern "C" {
        fn script_number_by_text(offset: usize) -> c_int;
    }
    static NUMBER_OFFSET: OnceLock<usize> = OnceLock::new();
    *NUMBER_OFFSET.get_or_init(|| {
        // SAFETY: the state is used here only and nothing runs in it; the offset belongs to this
        // LuaJIT.
        unsafe {
            let l = luaL_newstate();
            assert!(!l.is_null(), "there is no memory for a Lua state");
            let offset = find_string_number(l);
            lua_close(l);
            let offset = offset.expect("LuaJIT numbers its strings as luajit_layout.rs says");
            script_number_by_text(offset);
            offset
        }
    })
}

/// Returns a pointer to the number of the next new string of a state.
///
/// # Safety
/// `l` is a live state. The pointer is valid as long as the state.
pub unsafe fn string_number(l: *mut lua_State) -> *mut u32 {
    // SAFETY: as the caller promised.
    unsafe {
        let global = (*l.cast::<RawState>()).global.cast_mut().cast::<u8>();
        global.add(string_id_address()).cast()
    }
}

/// Returns the memory of a state's `global_State`.
///
/// # Safety
/// `l` is a live state.
pub unsafe fn global_slots(l: *mut lua_State) -> *const u64 {
    // SAFETY: as the caller promised.
    unsafe { (*l.cast::<RawState>()).global.cast() }
}

/// Finds the word of `global_State` that holds the number of the next new string. LuaJIT orders
/// strings in tables by the numbers that they got at their creation.
///
/// # Safety
/// `l` is a live state with room for three values, in which nothing runs, and which numbers its
/// strings one after the other.
unsafe fn find_string_number(l: *mut lua_State) -> Option<usize> {
    const PROBE: u32 = 1 << 24;
    // SAFETY: as the caller promised; `global_State` is longer than the range that is read.
    unsafe {
        let top = lua_gettop(l);
        let globals = (*l.cast::<RawState>()).global.cast_mut().cast::<u32>();
        let next = |text: &CStr| {
            lua_pushstring(l, text.as_ptr());
            string_id_on_top(l).wrapping_add(1)
        };
        let first = next(c"a string that no script has, one");
        let offsets = (0..GLOBAL_U32S).filter(|at| *globals.add(*at) == first);
        let offsets: Vec<usize> = offsets.collect();
        let second = next(c"a string that no script has, two");
        // The word before it is the number of strings, which has the same value while no string was
        // collected.
        let offset = offsets.into_iter().rfind(|at| *globals.add(*at) == second);
        let found = offset.filter(|_| second == first.wrapping_add(1)).filter(|offset| {
            *globals.add(*offset) = PROBE;
            next(c"a string that no script has, three") == PROBE + 1
        });
        lua_settop(l, top);
        found.map(|offset| offset * size_of::<u32>())
    }
}

/// Returns the first object of the collector's list, which has all objects but strings. Each begins
/// with the address of the next one.
///
/// # Safety
/// `l` is a live state.
pub(super) unsafe fn first_object(l: *mut lua_State) -> *const c_void {
    // SAFETY: as the caller promised.
    unsafe { (*(*l.cast::<RawState>()).global).root }
}

/// Returns true if an object with these marks waits to be swept: it must not be used again.
///
/// # Safety
/// `l` is a live state.
pub(super) unsafe fn is_dead(l: *mut lua_State, marked: u8) -> bool {
    const WHITE: u8 = 3;
    // SAFETY: as the caller promised.
    let white = unsafe { (*(*l.cast::<RawState>()).global).white };
    marked & (white ^ WHITE) & WHITE != 0
}

/// Pushes a function that is alive.
///
/// # Safety
/// `l` is a live state with room on its stack.
pub(super) unsafe fn push_function(l: *mut lua_State, function: *const c_void) {
    const FUNCTION: u64 = !8 & 0x1_ffff;
    // SAFETY: as the caller promised.
    unsafe { push_slot(l, FUNCTION << 47 | function.expose_provenance() as u64) }
}

/// The bit of the hook's mask that is set while the hook runs. No hook runs inside of a hook.
const HOOK_RUNS: u8 = 0x10;

/// Sets if LuaJIT takes the hook for running. Returns the value before, or `None` if this LuaJIT
/// does not have the mask where it was found in a separate state.
///
/// # Safety
/// `l` is a live state.
pub(super) unsafe fn set_hook_runs(l: *mut lua_State, on: bool) -> Option<bool> {
    static OFFSET: OnceLock<Option<usize>> = OnceLock::new();
    // SAFETY: the state is used here only and nothing runs in it; the offset belongs to this
    // LuaJIT.
    unsafe {
        let offset = (*OFFSET.get_or_init(|| {
            let probe = luaL_newstate();
            assert!(!probe.is_null(), "there is no memory for a Lua state");
            let offset = find_hook_mask(probe);
            lua_close(probe);
            offset
        }))?;
        let mask = (*l.cast::<RawState>()).global.cast_mut().cast::<u8>().add(offset);
        let before = *mask & HOOK_RUNS != 0;
        *mask = if on { *mask | HOOK_RUNS } else { *mask & !HOOK_RUNS };
        Some(before)
    }
}

/// Returns the byte offset of the hook's mask in `global_State`, by setting several masks.
unsafe fn find_hook_mask(l: *mut lua_State) -> Option<usize> {
    unsafe extern "C-unwind" fn hook(_: *mut lua_State, _: *mut lua_Debug) {}
    // SAFETY: as the caller promised; `global_State` is longer than the range that is read.
    unsafe {
        let bytes = (*l.cast::<RawState>()).global.cast::<u8>();
        let mut candidates: Vec<usize> = (0..GLOBAL_U32S * 4).collect();
        for mask in [LUA_MASKLINE, LUA_MASKCOUNT, LUA_MASKLINE | LUA_MASKCOUNT, LUA_MASKRET] {
            lua_sethook(l, Some(hook), mask, 1);
            candidates.retain(|at| i32::from(*bytes.add(*at)) == mask);
        }
        lua_sethook(l, None, 0, 0);
        candidates.retain(|at| *bytes.add(*at) == 0);
        match candidates.as_slice() {
            [at] => Some(*at),
            _ => None,
        }
    }
}

/// Returns LuaJIT's string id (`GCstr.sid`) of the string on top of the stack.
///
/// # Safety
/// `l` is a live state with a string on top.
unsafe fn string_id_on_top(l: *mut lua_State) -> u32 {
    // SAFETY: as the caller promised; a string object has the layout above.
    unsafe {
        let object = (*(*l.cast::<RawState>()).top.sub(1) & POINTER) as *const u8;
        object.add(STRING_NUMBER).cast::<u32>().read()
    }
}

/// Returns the number of arguments of the running call.
///
/// # Safety
/// `l` is the state of the running call, here and below.
#[inline(always)]
pub unsafe fn argument_count(l: *mut lua_State) -> usize {
    // SAFETY: the first fields of a state have the layout above.
    unsafe { (*l.cast::<RawState>()).top.offset_from((*l.cast::<RawState>()).base) as usize }
}

/// Returns the slot of argument `i`, counted from 1.
#[inline(always)]
unsafe fn slot(l: *mut lua_State, i: c_int) -> Option<u64> {
    // SAFETY: as above; slots up to the top are initialised.
    unsafe {
        let state = l.cast::<RawState>();
        let at = (*state).base.offset(i as isize - 1);
        (at < (*state).top).then(|| *at)
    }
}

/// Returns argument `i` if it is a double.
#[inline(always)]
pub unsafe fn double(l: *mut lua_State, i: c_int) -> Option<f64> {
    // SAFETY: as the caller promised.
    let slot = unsafe { slot(l, i) }?;
    (slot < DOUBLES_END).then(|| f64::from_bits(slot))
}

/// Returns true if argument `i` is nil or missing.
#[inline(always)]
pub unsafe fn is_absent(l: *mut lua_State, i: c_int) -> bool {
    // SAFETY: as the caller promised.
    unsafe { slot(l, i) }.is_none_or(|slot| slot == NIL)
}

/// Returns argument `i` if it is a boolean.
#[inline(always)]
pub unsafe fn boolean(l: *mut lua_State, i: c_int) -> Option<bool> {
    // SAFETY: as the caller promised.
    match unsafe { slot(l, i) } {
        Some(TRUE) => Some(true),
        Some(FALSE) => Some(false),
        _ => None,
    }
}

/// Returns the bytes of argument `i` if it is a string; they are valid as long as the argument.
#[inline(always)]
pub unsafe fn string(l: *mut lua_State, i: c_int) -> Option<*const [u8]> {
    // SAFETY: as the caller promised; a string object has the layout above.
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

/// Returns the type number and the content of argument `i` if it is an FFI value.
#[inline(always)]
pub unsafe fn cdata(l: *mut lua_State, i: c_int) -> Option<(u16, *const c_void)> {
    // SAFETY: as the caller promised; an FFI value object has the layout above.
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

/// Returns the bits of the first upvalue of the running native function.
#[inline(always)]
pub unsafe fn upvalue(l: *mut lua_State) -> u64 {
    // SAFETY: as the caller promised; the function is two slots below its arguments.
    unsafe {
        let function = *(*l.cast::<RawState>()).base.offset(-2) & POINTER;
        (function as *const u8).add(UPVALUE).cast::<u64>().read()
    }
}

/// Converts an address into a number that keeps every bit: a double close to zero.
pub fn address(pointer: *const c_void) -> f64 {
    f64::from_bits(pointer.expose_provenance() as u64)
}

/// Pushes a number. There must be room on the stack: every native function has room for 20 values.
#[inline(always)]
pub unsafe fn push_number(l: *mut lua_State, number: f64) {
    // SAFETY: as the caller promised.
    unsafe {
        let state = l.cast::<RawState>();
        *(*state).top = if number.is_nan() { NAN } else { number.to_bits() };
        (*state).top = (*state).top.add(1);
    }
}

/// Pushes the content of a slot. The caller ensures that the slot's object is alive.
#[inline(always)]
pub(super) unsafe fn push_slot(l: *mut lua_State, slot: u64) {
    // SAFETY: as the caller promised.
    unsafe {
        let state = l.cast::<RawState>();
        *(*state).top = slot;
        (*state).top = (*state).top.add(1);
    }
}

/// Returns the slot on top of the stack, which must not be empty.
#[inline(always)]
pub(super) unsafe fn top(l: *mut lua_State) -> u64 {
    // SAFETY: as the caller promised.
    unsafe { *(*l.cast::<RawState>()).top.sub(1) }
}

/// Pushes a boolean.
#[inline(always)]
pub unsafe fn push_boolean(l: *mut lua_State, on: bool) {
    // SAFETY: as the caller promised.
    unsafe {
        let state = l.cast::<RawState>();
        *(*state).top = if on { TRUE } else { FALSE };
        (*state).top = (*state).top.add(1);
    }
}

/// The next step of the collector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CollectorPhase {
    /// Mark one object.
    Mark,
    /// Mark the contents of a large table with this many slots, in one step.
    MarkLarge(usize),
    /// End the marking, in one step: every object that was written to after it was marked is marked
    /// again.
    EndMarking,
    /// Sweep the strings of one hash.
    SweepStrings,
    /// Begin a cycle, sweep [`SWEPT`] objects, or finalise one.
    Other,
}

/// Number of objects that one step sweeps.
pub const SWEPT: u64 = 40;

/// Returns the next step of the collector.
///
/// # Safety
/// `l` is a live state.
pub unsafe fn next_step(l: *mut lua_State) -> CollectorPhase {
    // SAFETY: as the caller promised; the list of gray objects holds living objects.
    unsafe {
        let global = &*(*l.cast::<RawState>()).global;
        match (global.phase, global.gray.as_ref()) {
            (PROPAGATE, None) | (ATOMIC, _) => CollectorPhase::EndMarking,
            (PROPAGATE, Some(table)) if table.kind == TABLE => {
                match table.array_size as usize + table.hash_mask as usize {
                    places if places >= LARGE => CollectorPhase::MarkLarge(places),
                    _ => CollectorPhase::Mark,
                }
            }
            (PROPAGATE, Some(_)) => CollectorPhase::Mark,
            (SWEEP_STRINGS, _) => CollectorPhase::SweepStrings,
            _ => CollectorPhase::Other,
        }
    }
}

/// Schedules all objects that were written to after they were marked to be marked again in single
/// steps. The end of the marking would do this in one step, so less work is left for it. Must be
/// called when [`CollectorPhase::EndMarking`] is next.
///
/// # Safety
/// `l` is a live state, in which nothing runs.
pub unsafe fn re_mark_written(l: *mut lua_State) {
    // SAFETY: as the caller promised. LuaJIT's `atomic` moves the list in the same way; its objects
    // are gray, and stay in one list.
    unsafe {
        let global = (*l.cast::<RawState>()).global.cast_mut();
        if (*global).phase == PROPAGATE && (*global).gray.is_null() {
            (*global).gray = std::mem::replace(&mut (*global).gray_again, std::ptr::null());
        }
    }
}

/// Number of slots from which a table takes noticeably long to mark: about 0.1 ms.
const LARGE: usize = 16 << 10;

/// Returns true if a fresh state has the layout that this file expects.
///
/// # Safety
/// `l` is a live state in which nothing runs.
pub unsafe fn layout_matches(l: *mut lua_State) -> bool {
    unsafe extern "C-unwind" fn compare(l: *mut lua_State) -> c_int {
        // SAFETY: called below, with these arguments.
        unsafe {
            let text = string(l, 4).map(|text| &*text);
            let mut right = argument_count(l) == 4 && lua_gettop(l) == 4;
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
    // SAFETY: as the caller promised. The distance of two addresses is checked before either is
    // followed, and the number of bytes that Lua holds is checked before the list of gray objects.
    unsafe {
        let state = &*l.cast::<RawState>();
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

    /// Returns the numbers of these strings, created in this order in a separate state.
    #[cfg(target_os = "linux")]
    fn numbers(texts: &[String]) -> Vec<u32> {
        string_id_address();
        // SAFETY: the state is used here only; each string is popped before the next one is pushed.
        unsafe {
            let l = luaL_newstate();
            let number = |text: &String| {
                lua_pushlstring(l, text.as_ptr().cast(), text.len());
                let number = string_id_on_top(l);
                lua_settop(l, 0);
                number
            };
            let numbers = texts.iter().map(number).collect();
            lua_close(l);
            numbers
        }
    }

    #[test]
    fn luajit_hashes_long_strings_in_full_without_a_seed() {
        // Otherwise strings that differ only where the short hash does not look share one chain,
        // and creating hundreds of them in each frame takes milliseconds.
        let modes: [u8; 3] = mlua::Lua::new()
            .load("local s = jit.security return { s('strhash'), s('strid'), s('prng') }")
            .eval()
            .unwrap();
        assert_eq!(modes, [1, 0, 0], "LUAJIT_SECURITY_* in .cargo/config.toml");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn equal_strings_have_equal_ids_whenever_created() {
        let texts: Vec<String> = (0..1000).map(|length| "ab/c".repeat(length % 50 + 1)).collect();
        let texts = texts.iter().enumerate().map(|(i, text)| format!("{text}{i}"));
        // Strings with the same short hash, which get another one when their chain grows.
        let alike = (1000..2000).map(|i| format!("The caravan of {i} camels left the town"));
        let texts: Vec<String> = texts.chain(alike).collect();
        let backwards: Vec<String> = texts.iter().rev().cloned().collect();
        let (numbers, mut others) = (numbers(&texts), numbers(&backwards));
        others.reverse();
        assert_eq!(numbers, others);
        // The bits that tables use are as good as random: 2000 random numbers leave one slot in
        // seven of 1024 free.
        let mut taken = [false; 1024];
        numbers.iter().for_each(|number| taken[*number as usize % 1024] = true);
        let taken = taken.iter().filter(|taken| **taken).count();
        assert!((830..930).contains(&taken), "{taken} places of 1024 were taken by 2000 strings");
    }
}
