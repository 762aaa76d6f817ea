//! Heap snapshot: reverts the effects that the dry run of a changed file had on the rest of the
//! game. It copies every table and upvalue that the game's code can reach, and compares the copy
//! with the later state. Threads and FFI values are not restored. Nothing here raises, and no
//! metamethod runs.

use super::context::ScriptContext;
use super::heap::{MarkTable, VISITED, each_item, lua_upvalueid};
use mlua::ffi::*;
use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// Name and function, for the core table.
pub const NATIVES: &[(&CStr, lua_CFunction)] =
    &[(c"heap_save", heap_save), (c"heap_restore", heap_restore)];

/// Prefix of the chunk names of the engine's own Lua. Values held by its functions do not belong to
/// the game.
const ENGINE_SOURCE: &[u8] = b"=[engine]";
/// Maximum number of upvalues of a function; Lua's own limit is 255.
const UPVALUES_MAX: c_int = 255;

/// Approximate size of Lua's memory in games divided by the number of items in its log.
const BYTES_PER_ITEM: usize = 12;

/// The types of records in the log, and of changes.
const FIELD: f64 = 1.0;
const UPVALUE: f64 = 3.0;
const META: f64 = 6.0;

struct ChangeLog {
    l: *mut lua_State,
    marks: MarkTable,
    /// Stack positions of two lists, and their lengths.
    work: c_int,
    waiting: lua_Integer,
    log: c_int,
    length: lua_Integer,
}

impl ChangeLog {
    /// Adds the value on top of the stack to the log, and pops it.
    unsafe fn add(&mut self) {
        // SAFETY: the log is a table; nil would leave a hole in it.
        unsafe {
            if lua_type(self.l, -1) == LUA_TNIL {
                lua_settop(self.l, -2);
                lua_pushlightuserdata(self.l, null_mut());
            }
            self.length += 1;
            lua_rawseti(self.l, self.log, self.length);
        }
    }

    unsafe fn add_number(&mut self, number: f64) {
        // SAFETY: as for `add`.
        unsafe { lua_pushnumber(self.l, number) };
        // SAFETY: as above.
        unsafe { self.add() }
    }

    /// Queues the value on top of the stack to be walked, if it is a table or a function.
    unsafe fn visit(&mut self) {
        // SAFETY: a value is on top; the work list is a table.
        unsafe {
            if !matches!(lua_type(self.l, -1), LUA_TTABLE | LUA_TFUNCTION) {
                return;
            }
            if self.marks.mark(lua_topointer(self.l, -1), VISITED) & VISITED == 0 {
                self.waiting += 1;
                lua_pushvalue(self.l, -1);
                lua_rawseti(self.l, self.work, self.waiting);
            }
        }
    }

    /// Logs a table: the table itself, its metatable, the number of its entries, and the entries.
    unsafe fn table(&mut self, at: c_int) {
        let l = self.l;
        // SAFETY: lua_next receives only keys that it returned.
        unsafe {
            self.add_number(FIELD);
            lua_pushvalue(l, at);
            self.add();
            if lua_getmetatable(l, at) == 0 {
                lua_pushnil(l);
            }
            self.visit();
            self.add();
            self.length += 1;
            let (slot, mut count) = (self.length, 0);
            // Placeholder that is filled below; the slot must not stay empty meanwhile.
            lua_pushnumber(l, 0.0);
            lua_rawseti(l, self.log, slot);
            lua_pushnil(l);
            while lua_next(l, at) != 0 {
                count += 1;
                self.visit();
                lua_pushvalue(l, -2);
                self.visit();
                self.add();
                self.add();
            }
            lua_pushnumber(l, count.into());
            lua_rawseti(l, self.log, slot);
        }
    }

    /// Logs a function: each upvalue that no other function in the log has.
    unsafe fn function(&mut self, at: c_int) {
        let l = self.l;
        // SAFETY: lua_getinfo pops the copy; upvalues are read until there are no more.
        unsafe {
            let mut ar = MaybeUninit::<lua_Debug>::zeroed();
            lua_pushvalue(l, at);
            lua_getinfo(l, c">S".as_ptr(), ar.as_mut_ptr());
            let source = CStr::from_ptr(ar.assume_init_ref().source).to_bytes();
            if lua_iscfunction(l, at) != 0 || source.starts_with(ENGINE_SOURCE) {
                return;
            }
            for n in 1..=UPVALUES_MAX {
                if lua_getupvalue(l, at, n).is_null() {
                    break;
                }
                if self.marks.mark(lua_upvalueid(l, at, n), VISITED) & VISITED != 0 {
                    lua_settop(l, -2);
                    continue;
                }
                self.add_number(UPVALUE);
                lua_pushvalue(l, at);
                self.add();
                self.add_number(n.into());
                self.visit();
                self.add();
            }
        }
    }
}

/// `heap_save(hidden, roots)`: returns a log of every table and upvalue that can be reached from
/// the list `roots`, except for those in the list `hidden`.
unsafe extern "C-unwind" fn heap_save(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes two lists.
    unsafe {
        let cx = ScriptContext::of(l);
        cx.memory.begin_lenient();
        lua_checkstack(l, 40);
        lua_settop(l, 2);
        let mut marks = MarkTable::new();
        each_item(l, 1, |_| _ = marks.mark(lua_topointer(l, -1), VISITED));
        lua_createtable(l, 1 << 12, 0); // 3: work
        // The expected length, because growing the table costs as much as filling it.
        let length = (cx.memory.used() / BYTES_PER_ITEM).clamp(1 << 12, 1 << 24);
        lua_createtable(l, length as c_int, 0); // 4: log
        let mut log = ChangeLog { l, marks, work: 3, waiting: 0, log: 4, length: 0 };
        each_item(l, 2, |_| log.visit());
        while log.waiting > 0 {
            lua_rawgeti(l, 3, log.waiting);
            log.waiting -= 1;
            match lua_type(l, 5) {
                LUA_TTABLE => log.table(5),
                _ => log.function(5),
            }
            lua_settop(l, 4);
        }
        cx.memory.end_lenient();
        1
    }
}

/// Pushes item `i` of the log at 1; null represents nil.
unsafe fn item(l: *mut lua_State, i: lua_Integer) {
    // SAFETY: the log is a table at 1.
    unsafe {
        lua_rawgeti(l, 1, i);
        if lua_type(l, -1) == LUA_TLIGHTUSERDATA && lua_touserdata(l, -1).is_null() {
            lua_settop(l, -2);
            lua_pushnil(l);
        }
    }
}

/// Adds a change to the list at 2, whose length is `count`: holder, kind, key, value. The holder is
/// at 3, the key below the top and the value on top; both are popped. If there is no value,
/// `nothing` is stored, which is the list itself.
unsafe fn add_change(l: *mut lua_State, count: &mut lua_Integer, kind: f64) {
    // SAFETY: as described above.
    unsafe {
        if lua_type(l, -1) == LUA_TNIL {
            lua_settop(l, -2);
            lua_pushvalue(l, 2);
        }
        lua_rawseti(l, 2, *count + 4);
        lua_rawseti(l, 2, *count + 3);
        lua_pushnumber(l, kind);
        lua_rawseti(l, 2, *count + 2);
        lua_pushvalue(l, 3);
        lua_rawseti(l, 2, *count + 1);
        *count += 4;
    }
}

/// `heap_restore(log)`: restores everything that differs from the log. Returns the list of the
/// reverted changes, four items each: holder, kind (1 field, 3 upvalue, 6 metatable), key or
/// number, and the value before the revert (the list itself represents nil).
unsafe extern "C-unwind" fn heap_restore(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes the result of `heap_save`.
    unsafe {
        let cx = ScriptContext::of(l);
        cx.memory.begin_lenient();
        lua_checkstack(l, 40);
        lua_settop(l, 1);
        lua_createtable(l, 0, 0); // 2: changes
        let (mut i, length, mut changes) = (1, lua_objlen(l, 1) as lua_Integer, 0);
        while i < length {
            lua_rawgeti(l, 1, i);
            let kind = lua_tonumber(l, -1);
            lua_settop(l, 2);
            lua_rawgeti(l, 1, i + 1); // 3: holder
            i = match kind == UPVALUE {
                true => restore_upvalue(l, i + 2, &mut changes),
                false => restore_table(l, i + 2, &mut changes),
            };
            lua_settop(l, 2);
        }
        cx.memory.end_lenient();
        1
    }
}

unsafe fn restore_upvalue(
    l: *mut lua_State,
    i: lua_Integer,
    changes: &mut lua_Integer,
) -> lua_Integer {
    // SAFETY: the function is at 3, and has the upvalue.
    unsafe {
        lua_rawgeti(l, 1, i);
        let n = lua_tonumber(l, -1) as c_int; // 4
        item(l, i + 1); // 5: the logged value
        lua_getupvalue(l, 3, n); // 6: the current value
        if lua_rawequal(l, 5, 6) == 0 {
            lua_pushvalue(l, 4);
            lua_pushvalue(l, 6);
            add_change(l, changes, UPVALUE);
            lua_pushvalue(l, 5);
            lua_setupvalue(l, 3, n);
        }
        i + 2
    }
}

unsafe fn restore_table(
    l: *mut lua_State,
    i: lua_Integer,
    changes: &mut lua_Integer,
) -> lua_Integer {
    // SAFETY: the table is at 3; the keys are those that it had, so neither nil nor nan.
    unsafe {
        item(l, i); // 4: its metatable
        if lua_getmetatable(l, 3) == 0 {
            lua_pushnil(l); // 5
        }
        if lua_rawequal(l, 4, 5) == 0 {
            lua_pushboolean(l, 0);
            lua_pushvalue(l, 5);
            add_change(l, changes, META);
            lua_pushvalue(l, 4);
            lua_setmetatable(l, 3);
        }
        lua_settop(l, 3);
        lua_rawgeti(l, 1, i + 1);
        let count = lua_tonumber(l, -1) as lua_Integer;
        lua_settop(l, 3);
        if !is_untouched(l, i + 2, count) {
            restore_entries(l, i + 2, count, changes);
        }
        i + 2 + count * 2
    }
}

/// Returns true if the table at 3 has exactly the entries of the log, in the same order. This is
/// the case for a table that was not written to.
unsafe fn is_untouched(l: *mut lua_State, i: lua_Integer, count: lua_Integer) -> bool {
    // SAFETY: as for `restore_table`.
    unsafe {
        let mut at = i;
        lua_pushnil(l);
        while lua_next(l, 3) != 0 {
            if at >= i + count * 2 {
                lua_settop(l, 3);
                return false;
            }
            lua_rawgeti(l, 1, at);
            lua_rawgeti(l, 1, at + 1);
            if lua_rawequal(l, 4, 6) == 0 || lua_rawequal(l, 5, 7) == 0 {
                lua_settop(l, 3);
                return false;
            }
            lua_settop(l, 4);
            at += 2;
        }
        at == i + count * 2
    }
}

unsafe fn restore_entries(
    l: *mut lua_State,
    i: lua_Integer,
    count: lua_Integer,
    changes: &mut lua_Integer,
) {
    // SAFETY: as for `restore_table`.
    unsafe {
        // An entry's key precedes its value.
        for entry in 0..count {
            lua_rawgeti(l, 1, i + entry * 2); // 4: key
            lua_rawgeti(l, 1, i + entry * 2 + 1); // 5: the logged value
            lua_pushvalue(l, 4);
            lua_rawget(l, 3); // 6: the current value
            if lua_rawequal(l, 5, 6) == 0 {
                lua_pushvalue(l, 4);
                lua_pushvalue(l, 6);
                add_change(l, changes, FIELD);
                lua_pushvalue(l, 4);
                lua_pushvalue(l, 5);
                lua_rawset(l, 3);
            }
            lua_settop(l, 3);
        }
        let mut now = 0;
        lua_pushnil(l);
        while lua_next(l, 3) != 0 {
            now += 1;
            lua_settop(l, -2);
        }
        if now > count {
            remove_others(l, i, count, changes);
        }
    }
}

/// Removes the entries of the table at 3 that are not in the log.
unsafe fn remove_others(
    l: *mut lua_State,
    i: lua_Integer,
    count: lua_Integer,
    changes: &mut lua_Integer,
) {
    // SAFETY: as for `restore_table`; setting a field to nil while walking is allowed.
    unsafe {
        lua_createtable(l, 0, 0); // 4: the keys that the table had
        for entry in 0..count {
            lua_rawgeti(l, 1, i + entry * 2);
            lua_pushboolean(l, 1);
            lua_rawset(l, 4);
        }
        lua_pushnil(l);
        while lua_next(l, 3) != 0 {
            lua_pushvalue(l, 5);
            lua_rawget(l, 4);
            let known = lua_type(l, -1) != LUA_TNIL;
            lua_settop(l, 6);
            if !known {
                lua_pushvalue(l, 5);
                lua_pushvalue(l, 6);
                add_change(l, changes, FIELD);
                lua_pushvalue(l, 5);
                lua_pushnil(l);
                lua_rawset(l, 3);
            }
            lua_settop(l, 5);
        }
    }
}
