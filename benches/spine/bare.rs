//! A bare LuaJIT state to compare with: standard libraries, the counted global allocator, the JIT
//! limits of the engine, and nothing else.

use mlua::ffi::*;
use std::alloc::{Layout, alloc, dealloc, realloc};
use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;

const ALIGN: usize = 16;

/// A state in which a workload is loaded.
pub struct Bare {
    l: *mut lua_State,
    used: Box<usize>,
    times: u32,
}

unsafe extern "C" fn allocate(
    user: *mut c_void,
    old: *mut c_void,
    old_size: usize,
    size: usize,
) -> *mut c_void {
    // SAFETY: `user` is the counter, which outlives the state. Blocks and sizes come from this
    // allocator.
    unsafe {
        let used = &mut *(user as *mut usize);
        let old_size = if old.is_null() { 0 } else { old_size };
        *used = *used + size - old_size;
        let layout = |size| Layout::from_size_align_unchecked(size, ALIGN);
        match (old_size, size) {
            (0, 0) => null_mut(),
            (0, _) => alloc(layout(size)).cast(),
            (_, 0) => {
                dealloc(old.cast(), layout(old_size));
                null_mut()
            }
            _ => realloc(old.cast(), layout(old_size), size).cast(),
        }
    }
}

impl Bare {
    /// Loads a file of benches/lua/work, of which a sample runs `times` frames. `seed` is for
    /// randomize_hot_counters.lua.
    pub fn open(name: &str, times: u32, seed: usize, jit: bool) -> Bare {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/lua");
        let mut used = Box::new(0usize);
        // SAFETY: the state is new and our own; every call is checked, and pushed values are
        // popped.
        unsafe {
            let l = lua_newstate(allocate, std::ptr::from_mut(&mut *used).cast());
            assert!(!l.is_null(), "there is no memory for a Lua state");
            luaL_openlibs(l);
            lua_gc(l, LUA_GCSTOP, 0);
            let setup = match jit {
                true => "jit.opt.start('maxtrace=16000', 'maxmcode=65536')",
                false => "jit.off()",
            };
            run(l, "setup", setup, 0);
            let text = |file: &str| {
                let text = std::fs::read_to_string(format!("{folder}/{file}.lua"));
                text.expect("the workload is there")
            };
            run(l, "randomize_hot_counters", &text("randomize_hot_counters"), 1);
            lua_pushnumber(l, seed as f64);
            check(l, "randomize_hot_counters", lua_pcall(l, 1, 0, 0));
            for (file, global) in [(format!("work/{name}"), c"frame"), ("repeated".into(), c"run")]
            {
                run(l, &file, &text(&file), 1);
                lua_setfield(l, LUA_GLOBALSINDEX, global.as_ptr());
            }
            Bare { l, used, times }
        }
    }

    /// Runs the frames of one sample and returns the sum of their results.
    pub fn sample(&mut self) -> f64 {
        let l = self.l;
        // SAFETY: as in `open`.
        unsafe {
            lua_getfield(l, LUA_GLOBALSINDEX, c"run".as_ptr());
            lua_getfield(l, LUA_GLOBALSINDEX, c"frame".as_ptr());
            lua_pushnumber(l, f64::from(self.times));
            check(l, "frame", lua_pcall(l, 2, 1, 0));
            let sum = lua_tonumber(l, -1);
            lua_settop(l, 0);
            sum
        }
    }

    /// Collects all garbage. The collector is stopped again afterwards.
    pub fn collect_all(&mut self) {
        // SAFETY: nothing runs in the state.
        unsafe {
            lua_gc(self.l, LUA_GCCOLLECT, 0);
            lua_gc(self.l, LUA_GCSTOP, 0);
        }
    }

    /// Returns the number of bytes that the state holds.
    pub fn used(&self) -> usize {
        *self.used
    }
}

/// Runs a chunk that leaves `results` values on the stack.
unsafe fn run(l: *mut lua_State, name: &str, text: &str, results: i32) {
    let chunk = CString::new(format!("={name}")).expect("names have no zero bytes");
    // SAFETY: a live state with room on its stack.
    unsafe {
        check(l, name, luaL_loadbuffer(l, text.as_ptr().cast(), text.len(), chunk.as_ptr()));
        check(l, name, lua_pcall(l, 0, results, 0));
    }
}

unsafe fn check(l: *mut lua_State, action: &str, status: i32) {
    if status != LUA_OK {
        // SAFETY: the error's value is on the stack.
        let message = unsafe {
            let message = lua_tostring(l, -1);
            if message.is_null() { c"no words" } else { CStr::from_ptr(message) }
        };
        panic!("{action}: {}", message.to_string_lossy());
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // SAFETY: the counter is dropped after the state.
        unsafe { lua_close(self.l) }
    }
}
