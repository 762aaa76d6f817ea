//! The heap walk itself: visits tables, functions, coroutines and userdata, once each. Its fields
//! determine what it records and replaces; its callers are in mod.rs.

use super::super::luajit_layout;
use super::marks::{MAPPED, MarkTable, TARGET, VISITED};
use super::{lua_upvalueid, lua_upvaluejoin};
use mlua::ffi::*;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;

/// Prefix of the chunks whose frames are left out, because they hold the objects that are being
/// replaced.
const RELOAD_CHUNK_PREFIX: &[u8] = b"=[engine] reload/";

/// The location of a reference in its holder, as in the prelude's list of hits.
#[derive(Clone, Copy)]
pub enum ReferenceKind {
    Value = 1,
    Key = 2,
    Upvalue = 3,
    Local = 4,
    Slot = 5,
}

/// The weak references among a table's entries, which do not keep their objects alive.
#[derive(Clone, Copy, PartialEq)]
pub enum WeakMode {
    Nothing,
    /// A value is alive if its key is.
    Keys,
    Values,
    Both,
}

/// Factor that combines a frame's level and a local's number in one number.
pub const LEVEL: i64 = 1024;
pub const LOCAL_MIDDLE: i64 = 512;

/// Maximum number of upvalues of a function; Lua's own limit is 255.
const UPVALUES_MAX: c_int = 255;
/// Maximum number of stack levels of a coroutine that are walked.
const LEVELS_MAX: c_int = 10_000;

/// A heap walk in progress. Its tables are on the Lua stack of the call.
pub struct HeapWalk<'a> {
    pub l: *mut lua_State,
    pub marks: &'a mut MarkTable,
    /// The slots of the objects that remain to be walked. Nothing is collected meanwhile: only the
    /// engine runs the collector, between frames, and the memory limit does not apply during a
    /// walk.
    pub work: Vec<u64>,
    /// Weak modes set by the visited metatables, by metatable address.
    pub weaknesses: HashMap<usize, WeakMode>,
    /// Number of visited objects.
    pub visited: i64,
    /// Stack position of the list of tables with weak keys, and its length: their values are alive
    /// only if the keys are. 0 if weak tables are treated like others.
    pub weak: c_int,
    pub weak_count: lua_Integer,
    /// Stack position of the string `__mode`.
    pub mode: c_int,
    /// Stack position of the list of hits, and its length; 0 if references are replaced at once.
    pub hits: c_int,
    pub hit_count: lua_Integer,
    /// Stack position of the list of replacements, and the index in it for each replaced object.
    pub values: c_int,
    pub exchange: HashMap<usize, lua_Integer>,
    /// Index in the list of cells at `cells` to join with, by the identity of an upvalue.
    pub joins: HashMap<usize, lua_Integer>,
    pub cells: c_int,
    /// The chunks (addresses of their names) whose functions are counted, and the counts by line.
    pub sources: Vec<*const c_char>,
    pub kept: HashMap<(usize, c_int), u32>,
}

fn is_object(kind: c_int) -> bool {
    matches!(kind, LUA_TTABLE | LUA_TFUNCTION | LUA_TUSERDATA | LUA_TTHREAD)
}

impl HeapWalk<'_> {
    /// Visits the object on top of the stack, and queues it for the walk. Returns its flags, from
    /// which the caller decides if the object must be replaced or recorded. Leaves the object on
    /// the stack.
    #[inline]
    pub unsafe fn visit(&mut self) -> usize {
        // SAFETY: an object is on top.
        unsafe {
            let flags = self.marks.mark(lua_topointer(self.l, -1), VISITED);
            if flags & VISITED == 0 {
                self.visited += 1;
                self.work.push(luajit_layout::top(self.l));
            }
            flags
        }
    }

    /// Replaces the object on top of the stack by its replacement.
    unsafe fn exchange(&mut self) {
        // SAFETY: an object with a replacement is on top; the list of replacements is a table.
        unsafe {
            let index = self.exchange[&(lua_topointer(self.l, -1) as usize)];
            lua_settop(self.l, -2);
            lua_rawgeti(self.l, self.values, index);
            self.visit();
        }
    }

    /// Records that `holder` holds the function on top of the stack.
    unsafe fn record_hit(&mut self, holder: c_int, hold: ReferenceKind, key: lua_Integer) {
        // SAFETY: positions are positive, and room was made.
        unsafe {
            let l = self.l;
            lua_pushvalue(l, holder);
            lua_rawseti(l, self.hits, self.hit_count + 1);
            lua_pushnumber(l, f64::from(hold as i32));
            lua_rawseti(l, self.hits, self.hit_count + 2);
            if let ReferenceKind::Value = hold {
                lua_pushvalue(l, -2);
            } else {
                lua_pushnumber(l, key as f64);
            }
            lua_rawseti(l, self.hits, self.hit_count + 3);
            lua_pushvalue(l, -1);
            lua_rawseti(l, self.hits, self.hit_count + 4);
            self.hit_count += 4;
        }
    }

    /// Walks until no object is left, then walks the values that tables with weak keys hold for
    /// live keys.
    pub unsafe fn run(&mut self) {
        // SAFETY: the lists hold objects only.
        unsafe {
            self.walk();
            let mut before = -1;
            while before != self.visited {
                before = self.visited;
                for i in 1..=self.weak_count {
                    lua_rawgeti(self.l, self.weak, i);
                    let top = lua_gettop(self.l);
                    self.entries(top, WeakMode::Keys);
                    lua_settop(self.l, top - 1);
                }
                self.walk();
            }
        }
    }

    unsafe fn walk(&mut self) {
        // SAFETY: the list holds objects that are alive.
        unsafe {
            while let Some(slot) = self.work.pop() {
                if self.is_plain(slot) {
                    continue;
                }
                luajit_layout::push_slot(self.l, slot);
                let top = lua_gettop(self.l);
                match lua_type(self.l, top) {
                    LUA_TTABLE => self.table(top),
                    LUA_TFUNCTION => self.function(top),
                    LUA_TTHREAD => self.thread(top),
                    _ => {
                        self.metatable(top);
                        self.environment(top);
                    }
                }
                lua_settop(self.l, top - 1);
            }
        }
    }

    /// Visits a metatable. Returns true if there is one.
    unsafe fn metatable(&mut self, at: c_int) -> bool {
        // SAFETY: a table or userdata is at `at`.
        unsafe {
            if lua_getmetatable(self.l, at) == 0 {
                return false;
            }
            if self.visit() & MAPPED != 0 {
                self.exchange();
                lua_setmetatable(self.l, at);
            } else {
                lua_settop(self.l, -2);
            }
            true
        }
    }

    unsafe fn environment(&mut self, at: c_int) {
        // SAFETY: a function, thread or userdata is at `at`.
        unsafe {
            lua_getfenv(self.l, at);
            if lua_type(self.l, -1) == LUA_TTABLE && self.visit() & MAPPED != 0 {
                self.exchange();
                lua_setfenv(self.l, at);
                return;
            }
            lua_settop(self.l, -2);
        }
    }

    unsafe fn table(&mut self, at: c_int) {
        // SAFETY: as for `entries`.
        unsafe {
            let weak = match self.metatable(at) {
                true if self.weak != 0 => self.weakness(at),
                _ => WeakMode::Nothing,
            };
            if weak == WeakMode::Keys {
                self.weak_count += 1;
                lua_pushvalue(self.l, at);
                lua_rawseti(self.l, self.weak, self.weak_count);
            }
            if self.entries(at, weak) {
                self.keys(at);
            }
        }
    }

    /// Returns the weak mode that a table's metatable sets for its entries.
    pub(super) unsafe fn weakness(&mut self, at: c_int) -> WeakMode {
        let l = self.l;
        // SAFETY: there is a metatable, which is read raw; a string is not converted.
        unsafe {
            lua_getmetatable(l, at);
            lua_pushvalue(l, self.mode);
            lua_rawget(l, -2);
            let mut weak = WeakMode::Nothing;
            if lua_type(l, -1) == LUA_TSTRING {
                let mode = CStr::from_ptr(lua_tolstring(l, -1, std::ptr::null_mut())).to_bytes();
                weak = match (mode.contains(&b'k'), mode.contains(&b'v')) {
                    (false, false) => WeakMode::Nothing,
                    (true, false) => WeakMode::Keys,
                    (false, true) => WeakMode::Values,
                    (true, true) => WeakMode::Both,
                };
            }
            lua_settop(l, -3);
            weak
        }
    }

    /// Walks a table's entries. Returns true if one of its keys is to be replaced.
    unsafe fn entries(&mut self, at: c_int, weak: WeakMode) -> bool {
        let l = self.l;
        let mut keys = false;
        // SAFETY: lua_next receives only keys that it returned; fields that exist may be set
        // meanwhile.
        unsafe {
            lua_pushnil(l);
            while lua_next(l, at) != 0 {
                let value_kept = match weak {
                    WeakMode::Nothing => true,
                    WeakMode::Keys => self.is_alive(-2),
                    WeakMode::Values | WeakMode::Both => false,
                };
                if is_object(lua_type(l, -1)) {
                    let flags = self.visit_held(value_kept);
                    if flags & MAPPED != 0 {
                        self.exchange();
                        lua_pushvalue(l, -2);
                        lua_pushvalue(l, -2);
                        lua_rawset(l, at);
                    } else if flags & TARGET != 0 && self.hits != 0 {
                        self.record_hit(at, ReferenceKind::Value, 0);
                    }
                }
                lua_settop(l, -2);
                if is_object(lua_type(l, -1)) {
                    let flags =
                        self.visit_held(matches!(weak, WeakMode::Nothing | WeakMode::Values));
                    keys |= flags & MAPPED != 0;
                    if flags & TARGET != 0 && self.hits != 0 {
                        self.record_hit(at, ReferenceKind::Key, 0);
                    }
                }
            }
        }
        keys
    }

    /// Visits the object on top of the stack. If it is held weakly, only reads its flags.
    unsafe fn visit_held(&mut self, kept: bool) -> usize {
        // SAFETY: an object is on top.
        unsafe {
            match kept {
                true => self.visit(),
                false => self.marks.flags(lua_topointer(self.l, -1)),
            }
        }
    }

    /// Returns true if the walk has visited the value at `i`. A value that is not an object is
    /// always alive.
    unsafe fn is_alive(&mut self, i: c_int) -> bool {
        // SAFETY: a value is at `i`.
        unsafe {
            let object = is_object(lua_type(self.l, i));
            !object || self.marks.flags(lua_topointer(self.l, i)) & VISITED != 0
        }
    }

    /// Replaces the keys of a table.
    unsafe fn keys(&mut self, at: c_int) {
        let l = self.l;
        // SAFETY: as for `table`; keys are replaced after the walk over them.
        unsafe {
            lua_createtable(l, 0, 0);
            let list = lua_gettop(l);
            let mut count = 0;
            lua_pushnil(l);
            while lua_next(l, at) != 0 {
                lua_settop(l, -2);
                if is_object(lua_type(l, -1))
                    && self.marks.flags(lua_topointer(l, -1)) & MAPPED != 0
                {
                    count += 1;
                    lua_pushvalue(l, -1);
                    lua_rawseti(l, list, count);
                }
            }
            for i in 1..=count {
                lua_rawgeti(l, list, i);
                rekey(l, at, |_| self.exchange());
                lua_settop(l, list);
            }
            lua_settop(l, list - 1);
        }
    }

    unsafe fn function(&mut self, at: c_int) {
        let l = self.l;
        // SAFETY: a function is at `at`, and upvalues are read until there are no more.
        unsafe {
            self.environment(at);
            let native = lua_iscfunction(l, at) != 0;
            for n in 1..=UPVALUES_MAX {
                if lua_getupvalue(l, at, n).is_null() {
                    break;
                }
                if !native && self.join(at, n) {
                    lua_settop(l, -2);
                    lua_getupvalue(l, at, n);
                }
                if is_object(lua_type(l, -1)) {
                    let flags = self.visit();
                    if flags & MAPPED != 0 {
                        self.exchange();
                        lua_setupvalue(l, at, n);
                        continue;
                    }
                    if flags & TARGET != 0 && self.hits != 0 {
                        self.record_hit(at, ReferenceKind::Upvalue, n as lua_Integer);
                    }
                }
                lua_settop(l, -2);
            }
            if !native && !self.sources.is_empty() {
                self.count(at);
            }
        }
    }

    /// Joins an upvalue with its new cell, if it has one. Returns true if it was joined.
    /// `lua_upvalueid` does not check bounds: beyond a function's last upvalue it reads the object
    /// that follows in memory, and the join would overwrite that object. So this must be called
    /// only for upvalues that exist.
    unsafe fn join(&mut self, at: c_int, n: c_int) -> bool {
        if self.joins.is_empty() {
            return false;
        }
        let l = self.l;
        // SAFETY: a Lua function is at `at` and has upvalue `n`; the cells are triples of identity,
        // function, number of the upvalue.
        unsafe {
            let id = lua_upvalueid(l, at, n) as usize;
            let Some(index) = self.joins.get(&id).copied() else { return false };
            lua_rawgeti(l, self.cells, index + 1);
            lua_rawgeti(l, self.cells, index + 2);
            let m = lua_tonumber(l, -1) as c_int;
            let from = lua_gettop(l) - 1;
            lua_upvaluejoin(l, at, n, from, m);
            lua_settop(l, from - 1);
            true
        }
    }

    /// Counts a function of a changed chunk that has no replacement.
    pub(super) unsafe fn count(&mut self, at: c_int) {
        // SAFETY: lua_getinfo pops the function and fills the record.
        unsafe {
            if self.marks.flags(lua_topointer(self.l, at)) & TARGET != 0 {
                return;
            }
            let mut ar = MaybeUninit::<lua_Debug>::zeroed();
            lua_pushvalue(self.l, at);
            lua_getinfo(self.l, c">S".as_ptr(), ar.as_mut_ptr());
            let ar = ar.assume_init_ref();
            if self.sources.contains(&ar.source) {
                *self.kept.entry((ar.source as usize, ar.linedefined)).or_default() += 1;
            }
        }
    }

    unsafe fn thread(&mut self, at: c_int) {
        let l = self.l;
        // SAFETY: a thread is at `at`. Values are moved to this stack from the thread's own, on
        // which `lua_getlocal` and `lua_pushvalue` make room.
        unsafe {
            self.environment(at);
            let thread = lua_tothread(l, at);
            let first = if thread == l { first_game_level(l) } else { 0 };
            if thread != l && lua_status(thread) == LUA_OK {
                let mut ar = MaybeUninit::<lua_Debug>::zeroed();
                if lua_getstack(thread, 0, ar.as_mut_ptr()) == 0 {
                    // A coroutine that has not started has a function and its arguments; one that
                    // has ended has nothing.
                    return self.slots(at, thread);
                }
            }
            for level in first..LEVELS_MAX {
                let mut ar = MaybeUninit::<lua_Debug>::zeroed();
                if lua_getstack(thread, level, ar.as_mut_ptr()) == 0 {
                    break;
                }
                lua_getinfo(thread, c"f".as_ptr(), ar.as_mut_ptr());
                lua_xmove(thread, l, 1);
                self.visit();
                lua_settop(l, -2);
                for n in (1..=UPVALUES_MAX).take_while(|n| self.local(at, ar.as_ptr(), level, *n)) {
                    debug_assert!(n <= UPVALUES_MAX);
                }
                for n in (1..=UPVALUES_MAX).take_while(|n| self.local(at, ar.as_ptr(), level, -*n))
                {
                    debug_assert!(n <= UPVALUES_MAX);
                }
            }
        }
    }

    /// Visits one local of a frame or, if `n` is negative, an extra argument. Returns true if it
    /// exists.
    unsafe fn local(&mut self, at: c_int, ar: *const lua_Debug, level: c_int, n: c_int) -> bool {
        let l = self.l;
        // SAFETY: as for `thread`.
        unsafe {
            let thread = lua_tothread(l, at);
            if lua_getlocal(thread, ar, n).is_null() {
                return false;
            }
            if thread != l {
                lua_xmove(thread, l, 1);
            }
            if is_object(lua_type(l, -1)) {
                let flags = self.visit();
                if flags & MAPPED != 0 {
                    self.exchange();
                    lua_xmove(l, thread, 1);
                    lua_setlocal(thread, ar, n);
                    return true;
                }
                if flags & TARGET != 0 && self.hits != 0 {
                    let local = i64::from(level) * LEVEL + i64::from(n) + LOCAL_MIDDLE;
                    self.record_hit(at, ReferenceKind::Local, local as lua_Integer);
                }
            }
            lua_settop(l, -2);
            true
        }
    }

    /// Visits the values on the stack of a coroutine that was not started.
    unsafe fn slots(&mut self, at: c_int, thread: *mut lua_State) {
        let l = self.l;
        // SAFETY: as for `thread`.
        unsafe {
            for n in 1..=lua_gettop(thread) {
                if !is_object(lua_type(thread, n)) {
                    continue;
                }
                lua_pushvalue(thread, n);
                lua_xmove(thread, l, 1);
                let flags = self.visit();
                if flags & MAPPED != 0 {
                    self.exchange();
                    lua_xmove(l, thread, 1);
                    lua_replace(thread, n);
                    continue;
                }
                if flags & TARGET != 0 && self.hits != 0 {
                    self.record_hit(at, ReferenceKind::Slot, n as lua_Integer);
                }
                lua_settop(l, -2);
            }
        }
    }
}

/// Replaces the key of a table entry. The old key is on top of the stack, and `exchange` replaces
/// it by the new one.
///
/// # Safety
/// A key of the table is on top of the stack, and `table` is its position from the bottom.
pub unsafe fn rekey(l: *mut lua_State, table: c_int, exchange: impl FnOnce(*mut lua_State)) {
    // SAFETY: a key of the table is on top; positions are positive.
    unsafe {
        let key = lua_gettop(l);
        lua_pushvalue(l, key);
        lua_rawget(l, table);
        lua_pushvalue(l, key);
        lua_pushnil(l);
        lua_rawset(l, table);
        lua_pushvalue(l, key);
        exchange(l);
        lua_pushvalue(l, -1);
        lua_rawget(l, table);
        if lua_type(l, -1) == LUA_TNIL {
            lua_settop(l, -2);
            lua_pushvalue(l, key + 1);
            lua_rawset(l, table);
        }
        lua_settop(l, key);
    }
}

/// Returns the first level of this stack that does not belong to the reload itself.
unsafe fn first_game_level(l: *mut lua_State) -> c_int {
    let mut first = 0;
    for level in 0..LEVELS_MAX {
        let mut ar = MaybeUninit::<lua_Debug>::zeroed();
        // SAFETY: the record is filled before it is read.
        unsafe {
            if lua_getstack(l, level, ar.as_mut_ptr()) == 0 {
                break;
            }
            lua_getinfo(l, c"S".as_ptr(), ar.as_mut_ptr());
            let source = CStr::from_ptr(ar.assume_init_ref().source);
            if source.to_bytes().starts_with(RELOAD_CHUNK_PREFIX) {
                first = level + 1;
            }
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::RELOAD_CHUNK_PREFIX;
    use crate::prelude;

    /// The files whose frames may be left out. Another file in the folder would hide references of
    /// the game.
    const RELOAD_FILES: [&str; 6] = [
        "reload/record",
        "reload/arrays",
        "reload/plan",
        "reload/dry_run_globals",
        "reload/commit",
        "reload/saved_files",
    ];

    #[test]
    fn the_heap_walk_skips_the_frames_of_hot_reload() {
        let chunk = |name: &str| format!("=[engine] {name}").into_bytes();
        let own = |name: &&str| chunk(name).starts_with(RELOAD_CHUNK_PREFIX);
        let found: Vec<&str> = prelude::FILES.iter().map(|file| file.name).filter(own).collect();
        assert_eq!(found, RELOAD_FILES);
    }
}
