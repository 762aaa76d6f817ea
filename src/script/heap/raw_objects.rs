//! Fast path of the heap walk: tables and functions are read directly in LuaJIT's memory, in a
//! fraction of the time that Lua's C interface takes. Objects that need more than a visit (weak
//! references, searched functions, replacements) are left to walk.rs.

use super::super::luajit_layout::{self, NIL, POINTER, RawNode, RawTable, STRING_TEXT};
use super::marks::{MAPPED, TARGET, VISITED};
use super::walk::{HeapWalk, WeakMode};
use mlua::ffi::*;
use std::ffi::{c_char, c_void};

/// The upper 17 bits of slots that hold objects which a walk enters.
const THREAD: u64 = !6 & 0x1_ffff;
const FUNCTION: u64 = !8 & 0x1_ffff;
const TABLE: u64 = !11 & 0x1_ffff;
const USERDATA: u64 = !12 & 0x1_ffff;
/// Byte offset of the content in a userdata object. The content's address identifies the userdata.
const USERDATA_CONTENT: usize = 48;
/// Byte offsets of the code and the chunk name in a Lua function's prototype.
const PROTOTYPE_CODE: usize = 104;
const PROTOTYPE_CHUNK: usize = 64;
/// The value that distinguishes a Lua function from a native one.
const OF_LUA: u8 = 0;

/// The first fields of LuaJIT's `GCfunc`. Upvalues follow: for a Lua function, the addresses of
/// their cells; for a native function, its address and then the slots.
#[repr(C)]
struct RawFunction {
    header: [u8; 10],
    kind: u8,
    upvalues: u8,
    environment: *const RawTable,
    gray: *const c_void,
    code: *const u8,
    cells: [*const RawUpvalue; 0],
}

/// LuaJIT's `GCupval`.
#[repr(C)]
struct RawUpvalue {
    header: [u64; 2],
    own: [u64; 2],
    value: *const u64,
}

const _: () = {
    assert!(std::mem::offset_of!(RawFunction, environment) == 16);
    assert!(std::mem::offset_of!(RawFunction, cells) == 40);
    assert!(std::mem::offset_of!(RawUpvalue, value) == 32);
};

/// Returns the object in a slot, as `lua_topointer` does, if a walk enters it.
#[inline(always)]
fn object(slot: u64) -> Option<*const c_void> {
    let address = (slot & POINTER) as usize;
    let address = match slot >> 47 {
        TABLE | FUNCTION | THREAD => address,
        USERDATA => address + USERDATA_CONTENT,
        _ => return None,
    };
    Some(std::ptr::with_exposed_provenance(address))
}

#[inline(always)]
fn slot_of(tag: u64, object: *const RawTable) -> u64 {
    tag << 47 | object.expose_provenance() as u64
}

/// Returns the array part and the hash part of a table.
///
/// # Safety
/// The table is alive, and nothing is set in it meanwhile.
unsafe fn entries<'a>(table: *const RawTable) -> (&'a [u64], &'a [RawNode]) {
    // SAFETY: as the caller promised; an empty table has one node that all of them share.
    unsafe {
        let array = match (*table).array_size as usize {
            0 => &[],
            size => std::slice::from_raw_parts((*table).array, size),
        };
        (array, std::slice::from_raw_parts((*table).nodes, (*table).hash_mask as usize + 1))
    }
}

impl HeapWalk<'_> {
    /// Visits the references of a table or function. Returns true if nothing else has to be done
    /// with the object.
    ///
    /// # Safety
    /// The slot holds an object that is alive.
    #[inline]
    pub(super) unsafe fn is_plain(&mut self, slot: u64) -> bool {
        let object = std::ptr::with_exposed_provenance::<RawTable>((slot & POINTER) as usize);
        // SAFETY: as the caller promised.
        unsafe {
            match slot >> 47 {
                TABLE => self.is_plain_table(object),
                FUNCTION => self.is_plain_function(slot, object.cast()),
                _ => false,
            }
        }
    }

    /// Visits the object in a slot. Returns true if it is neither searched for nor to be replaced.
    #[inline(always)]
    fn visit_slot(&mut self, slot: u64) -> bool {
        let Some(object) = object(slot) else { return true };
        let flags = self.marks.mark(object, VISITED);
        if flags & VISITED == 0 {
            self.visited += 1;
            self.work.push(slot);
        }
        flags & MAPPED == 0 && (flags & TARGET == 0 || self.hits == 0)
    }

    unsafe fn is_plain_table(&mut self, table: *const RawTable) -> bool {
        // SAFETY: the table is alive, and only marks are set.
        unsafe {
            let metatable = (*table).metatable;
            let mut plain = true;
            if !metatable.is_null() {
                plain = self.visit_slot(slot_of(TABLE, metatable));
                if self.weak != 0 && self.weakness_by(table, metatable) != WeakMode::Nothing {
                    return false;
                }
            }
            let (array, nodes) = entries(table);
            for slot in array {
                plain &= self.visit_slot(*slot);
            }
            for node in nodes.iter().filter(|node| node.value != NIL) {
                plain &= self.visit_slot(node.value);
                plain &= self.visit_slot(node.key);
            }
            plain
        }
    }

    /// Returns the weak mode that a metatable sets for the entries of `table`, its owner.
    unsafe fn weakness_by(
        &mut self,
        table: *const RawTable,
        metatable: *const RawTable,
    ) -> WeakMode {
        if let Some(known) = self.weaknesses.get(&metatable.addr()) {
            return *known;
        }
        // SAFETY: both are alive; the table is pushed and popped again.
        unsafe {
            luajit_layout::push_slot(self.l, slot_of(TABLE, table));
            let at = lua_gettop(self.l);
            let weak = self.weakness(at);
            lua_settop(self.l, at - 1);
            self.weaknesses.insert(metatable.addr(), weak);
            weak
        }
    }

    unsafe fn is_plain_function(&mut self, slot: u64, function: *const RawFunction) -> bool {
        // SAFETY: the function is alive and has the number of upvalues that it states.
        unsafe {
            let mut plain = self.visit_slot(slot_of(TABLE, (*function).environment));
            let cells = (&raw const (*function).cells).cast::<*const RawUpvalue>();
            let count = (*function).upvalues as usize;
            if (*function).kind != OF_LUA {
                for slot in std::slice::from_raw_parts(cells.add(1).cast::<u64>(), count) {
                    plain &= self.visit_slot(*slot);
                }
                return plain;
            }
            for cell in std::slice::from_raw_parts(cells, count) {
                if !self.joins.is_empty() && self.joins.contains_key(&cell.addr()) {
                    return false;
                }
                plain &= self.visit_slot(*(**cell).value);
            }
            if plain && self.sources.contains(&source(function)) {
                luajit_layout::push_slot(self.l, slot);
                let at = lua_gettop(self.l);
                self.count(at);
                lua_settop(self.l, at - 1);
            }
            plain
        }
    }
}

/// Returns the address of the name of a Lua function's chunk, as `lua_getinfo` does.
unsafe fn source(function: *const RawFunction) -> *const c_char {
    // SAFETY: a Lua function's code follows its prototype, which names its chunk.
    unsafe {
        let prototype = (*function).code.sub(PROTOTYPE_CODE);
        let name = prototype.add(PROTOTYPE_CHUNK).cast::<*const u8>().read();
        name.add(STRING_TEXT).cast()
    }
}

/// Returns true if a state's objects have the layout that this file expects.
///
/// # Safety
/// `l` is a live state in which nothing runs, with its libraries.
pub unsafe fn layout_matches(l: *mut lua_State) -> bool {
    const PROBE: &[u8] = b"local t, p = setmetatable({ print }, { __index = io.stdout }), {}
        t[p] = coroutine.create(print)
        return t, p, function() return t, p end";
    // SAFETY: as the caller promised: the chunk leaves a table, another, and a function of both.
    unsafe {
        let top = lua_gettop(l);
        let loaded = luaL_loadbuffer(l, PROBE.as_ptr().cast(), PROBE.len(), c"=probe".as_ptr());
        if loaded != LUA_OK || lua_pcall(l, 0, 3, 0) != LUA_OK {
            return false;
        }
        let same = |slot: u64| {
            let known = object(slot) == Some(lua_topointer(l, -1));
            lua_settop(l, -2);
            known
        };
        let table: *const RawTable =
            std::ptr::with_exposed_provenance(lua_topointer(l, top + 1).expose_provenance());
        lua_pushvalue(l, top + 1);
        let mut right = same(slot_of(TABLE, table));
        let (array, nodes) = entries(table);
        lua_rawgeti(l, top + 1, 1);
        right &= array.get(1).is_some_and(|slot| same(*slot));
        let node = nodes.iter().find(|node| node.value != NIL);
        lua_pushvalue(l, top + 2);
        right &= node.is_some_and(|node| same(node.key));
        lua_pushvalue(l, top + 2);
        lua_rawget(l, top + 1);
        right &= node.is_some_and(|node| same(node.value));
        lua_getmetatable(l, top + 1);
        right &= same(slot_of(TABLE, (*table).metatable));
        lua_getmetatable(l, top + 1);
        lua_getfield(l, -1, c"__index".as_ptr());
        let node = entries((*table).metatable).1.iter().find(|node| node.value != NIL);
        right &= node.is_some_and(|node| same(node.value));
        let function = lua_topointer(l, top + 3).cast::<RawFunction>();
        lua_getfenv(l, top + 3);
        right &= same(slot_of(TABLE, (*function).environment));
        right &= (*function).kind == OF_LUA && (*function).upvalues == 2;
        for n in 0..2 {
            let cell = (&raw const (*function).cells).cast::<*const RawUpvalue>().add(n);
            right &= (*cell).cast() == super::lua_upvalueid(l, top + 3, n as i32 + 1).cast_const();
            lua_pushvalue(l, top + 1 + n as i32);
            right &= same(*(**cell).value);
        }
        let mut ar = std::mem::zeroed::<lua_Debug>();
        lua_pushvalue(l, top + 3);
        lua_getinfo(l, c">S".as_ptr(), &mut ar);
        right &= source(function) == ar.source;
        lua_settop(l, top);
        right
    }
}
