//! Heap walk for hot reload: finds the holders of old functions and the objects that existed
//! before, and replaces references that new objects hold. lua/reload/ decides which object replaces
//! which. Nothing here raises: allocation is lenient, and no metamethod runs.

mod marks;
pub mod raw_objects;
mod walk;

use super::context::ScriptContext;
use marks::{CANDIDATE, MAPPED, TARGET};
pub use marks::{MarkTable, VISITED};
use mlua::ffi::*;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use walk::{HeapWalk, LEVEL, LOCAL_MIDDLE, ReferenceKind, rekey};

/// Name and function, for the core table.
pub const NATIVES: &[(&CStr, lua_CFunction)] =
    &[(c"heap_scan", heap_scan), (c"heap_apply", heap_apply), (c"heap_fix", heap_fix)];

unsafe extern "C-unwind" {
    pub fn lua_upvalueid(l: *mut lua_State, function: c_int, n: c_int) -> *mut c_void;
    fn lua_upvaluejoin(l: *mut lua_State, into: c_int, n: c_int, from: c_int, m: c_int);
}

/// Calls `each` with every item of the list at `at` on top of the stack.
///
/// # Safety
/// There is a list of objects at `at`.
pub unsafe fn each_item(l: *mut lua_State, at: c_int, mut each: impl FnMut(lua_Integer)) {
    // SAFETY: the prelude passes a list.
    unsafe {
        for i in 1..=lua_objlen(l, at) as lua_Integer {
            lua_rawgeti(l, at, i);
            each(i);
            lua_settop(l, -2);
        }
    }
}

/// `heap_scan(hidden, old, new, sources)`: walks every live object except those in the list
/// `hidden`. Returns the list of references to functions of the list `old` (each as holder, kind,
/// key or number, function), the set of visited objects of the list `new`, and the number of
/// visited functions of the chunks `sources` that are not in `old`, by location. Keeps its marks
/// for `heap_fix`.
unsafe extern "C-unwind" fn heap_scan(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes four lists.
    unsafe {
        let cx = ScriptContext::of(l);
        cx.memory.begin_lenient();
        lua_checkstack(l, 40);
        let mut marks = MarkTable::new();
        each_item(l, 1, |_| _ = marks.mark(lua_topointer(l, -1), VISITED));
        each_item(l, 2, |_| _ = marks.mark(lua_topointer(l, -1), TARGET));
        each_item(l, 3, |_| _ = marks.mark(lua_topointer(l, -1), CANDIDATE));
        let mut sources = Vec::new();
        each_item(l, 4, |_| sources.push(lua_tolstring(l, -1, std::ptr::null_mut())));
        lua_createtable(l, 0, 0); // 5: hits
        lua_createtable(l, 0, 0); // 6: tables with weak keys
        lua_pushlstring(l, c"__mode".as_ptr(), 6); // 7
        let mut walk = HeapWalk {
            l,
            marks: &mut marks,
            work: Vec::with_capacity(1 << 12),
            weaknesses: HashMap::new(),
            visited: 0,
            weak: 6,
            weak_count: 0,
            mode: 7,
            hits: 5,
            hit_count: 0,
            values: 0,
            exchange: HashMap::new(),
            joins: HashMap::new(),
            cells: 0,
            sources,
            kept: HashMap::new(),
        };
        lua_pushvalue(l, LUA_REGISTRYINDEX);
        walk.visit();
        lua_pushvalue(l, LUA_GLOBALSINDEX);
        walk.visit();
        lua_pushthread(l);
        walk.visit();
        if cx.main != l {
            lua_pushthread(cx.main);
            lua_xmove(cx.main, l, 1);
            walk.visit();
        }
        lua_settop(l, 7);
        walk.run();
        let kept = std::mem::take(&mut walk.kept);
        lua_settop(l, 5);
        lua_createtable(l, 0, 0); // 6: visited objects of `new`
        each_item(l, 3, |_| {
            if marks.flags(lua_topointer(l, -1)) & VISITED != 0 {
                lua_pushvalue(l, -1);
                lua_pushboolean(l, 1);
                lua_rawset(l, 6);
            }
        });
        lua_createtable(l, 0, 0); // 7: counts by location
        for ((source, line), count) in kept {
            let name = CStr::from_ptr(source as *const c_char).to_string_lossy();
            let location = format!("{}:{line}", name.trim_start_matches('@'));
            lua_pushlstring(l, location.as_ptr().cast(), location.len());
            lua_pushnumber(l, count.into());
            lua_rawset(l, 7);
        }
        cx.marks = Some(marks);
        cx.memory.end_lenient();
        3
    }
}

/// `heap_apply(hits, exchange)`: stores the new function in every hit that still holds the old one.
/// Returns the number of replacements. It must be called from the function that called `heap_scan`,
/// so that stack levels are the same.
unsafe extern "C-unwind" fn heap_apply(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes the list of hits, and a table of functions by functions.
    unsafe {
        let cx = ScriptContext::of(l);
        cx.memory.begin_lenient();
        lua_checkstack(l, 20);
        lua_settop(l, 2);
        let mut count = 0;
        for i in (1..=lua_objlen(l, 1) as lua_Integer).step_by(4) {
            lua_settop(l, 2);
            for offset in 0..4 {
                lua_rawgeti(l, 1, i + offset); // 3: holder, 4: kind, 5: key, 6: old
            }
            lua_pushvalue(l, 6);
            lua_rawget(l, 2); // 7: new
            if lua_type(l, 7) != LUA_TNIL && exchange_hit(l) {
                count += 1;
            }
        }
        lua_pushnumber(l, count.into());
        cx.memory.end_lenient();
        1
    }
}

/// Applies one hit, with the stack as laid out by `heap_apply`. Returns true if the hit still held
/// the old function.
unsafe fn exchange_hit(l: *mut lua_State) -> bool {
    // SAFETY: as for `heap_apply`; every write is to a slot that was read before.
    unsafe {
        let n = lua_tonumber(l, 5) as i64;
        let holds = |i: c_int| lua_rawequal(l, i, 6) != 0;
        match lua_tonumber(l, 4) as i32 {
            kind if kind == ReferenceKind::Value as i32 => {
                lua_pushvalue(l, 5);
                lua_rawget(l, 3);
                if holds(-1) {
                    lua_pushvalue(l, 5);
                    lua_pushvalue(l, 7);
                    lua_rawset(l, 3);
                    return true;
                }
            }
            kind if kind == ReferenceKind::Key as i32 => {
                lua_pushvalue(l, 6);
                lua_rawget(l, 3);
                if lua_type(l, -1) != LUA_TNIL {
                    lua_settop(l, 7);
                    lua_pushvalue(l, 6);
                    rekey(l, 3, |l| {
                        lua_settop(l, -2);
                        lua_pushvalue(l, 7);
                    });
                    return true;
                }
            }
            kind if kind == ReferenceKind::Upvalue as i32 => {
                if !lua_getupvalue(l, 3, n as c_int).is_null() && holds(-1) {
                    lua_pushvalue(l, 7);
                    lua_setupvalue(l, 3, n as c_int);
                    return true;
                }
            }
            kind if kind == ReferenceKind::Local as i32 => return replace_local(l, n),
            _ => {
                let thread = lua_tothread(l, 3);
                lua_pushvalue(thread, n as c_int);
                lua_xmove(thread, l, 1);
                if holds(-1) {
                    lua_pushvalue(l, 7);
                    lua_xmove(l, thread, 1);
                    lua_replace(thread, n as c_int);
                    return true;
                }
            }
        }
        false
    }
}

unsafe fn replace_local(l: *mut lua_State, local: i64) -> bool {
    let mut ar = MaybeUninit::<lua_Debug>::zeroed();
    let level = (local / LEVEL) as c_int;
    let n = (local % LEVEL - LOCAL_MIDDLE) as c_int;
    // SAFETY: as for `heap_apply`: the frame is the one that the scan saw.
    unsafe {
        let thread = lua_tothread(l, 3);
        if lua_getstack(thread, level, ar.as_mut_ptr()) == 0
            || lua_getlocal(thread, ar.as_ptr(), n).is_null()
        {
            return false;
        }
        lua_xmove(thread, l, 1);
        if lua_rawequal(l, -1, 6) == 0 {
            return false;
        }
        lua_pushvalue(l, 7);
        lua_xmove(l, thread, 1);
        lua_setlocal(thread, ar.as_ptr(), n);
        true
    }
}

/// `heap_fix(roots, exchange, cells)`: walks the objects that can be reached from the list `roots`
/// and that `heap_scan` did not visit. Replaces every reference to a key of `exchange` by its
/// value, and joins upvalues: `cells` is a list of triples of an upvalue's identity, a function,
/// and the number of its upvalue to join with.
unsafe extern "C-unwind" fn heap_fix(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a list, a table and a list, after a scan.
    unsafe {
        let cx = ScriptContext::of(l);
        let Some(mut marks) = cx.marks.take() else { return 0 };
        cx.memory.begin_lenient();
        lua_checkstack(l, 40);
        lua_settop(l, 3);
        lua_createtable(l, 0, 0); // 4: replacements
        let mut exchange = HashMap::new();
        lua_pushnil(l);
        while lua_next(l, 2) != 0 {
            let index = exchange.len() as lua_Integer + 1;
            let old = lua_topointer(l, -2);
            marks.mark(old, MAPPED);
            exchange.insert(old as usize, index);
            lua_rawseti(l, 4, index);
        }
        let mut joins = HashMap::new();
        for i in (1..=lua_objlen(l, 3) as lua_Integer).step_by(3) {
            lua_rawgeti(l, 3, i);
            joins.insert(lua_touserdata(l, -1) as usize, i);
            lua_settop(l, -2);
        }
        let mut walk = HeapWalk {
            l,
            marks: &mut marks,
            work: Vec::new(),
            weaknesses: HashMap::new(),
            visited: 0,
            weak: 0,
            weak_count: 0,
            mode: 0,
            hits: 0,
            hit_count: 0,
            values: 4,
            exchange,
            joins,
            cells: 3,
            sources: Vec::new(),
            kept: HashMap::new(),
        };
        each_item(l, 1, |_| _ = walk.visit());
        walk.run();
        cx.memory.end_lenient();
        0
    }
}
