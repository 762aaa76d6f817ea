//! The value types that the prelude defines with the FFI: how native code identifies and reads
//! them.

use super::luajit_layout;
use super::types::VectorType;
use mlua::ffi::*;
use std::ffi::c_int;

/// A value type of scripts, such as `Vector3`.
pub struct ValueType {
    pub name: &'static str,
    /// Number of 32-bit floats that a value begins with; 0 for types that are not displayed by
    /// their floats.
    pub floats: usize,
}

/// All value types. A type's index here is its index in [`ValueTypeIds`].
pub const VALUE_TYPES: [ValueType; 12] = [
    ValueType { name: "Vector2", floats: 2 },
    ValueType { name: "Vector3", floats: 3 },
    ValueType { name: "Vector4", floats: 4 },
    ValueType { name: "Quaternion", floats: 4 },
    ValueType { name: "Matrix4x4", floats: 16 },
    ValueType { name: "Color", floats: 4 },
    ValueType { name: "IdString32", floats: 0 },
    ValueType { name: "IdString64", floats: 0 },
    ValueType { name: "Float32Array", floats: 0 },
    ValueType { name: "Image", floats: 0 },
    ValueType { name: "SoundBuffer", floats: 0 },
    // A reference to a counter; lua/debug/stats.lua registers the type.
    ValueType { name: "Counter", floats: 0 },
];

/// LuaJIT's numbers of the value types, registered by the prelude at boot; 0 until then.
#[derive(Default)]
pub struct ValueTypeIds {
    numbers: [u16; VALUE_TYPES.len()],
}

/// LuaJIT's type tag of FFI values, which its public header does not name.
const LUA_TCDATA: c_int = 10;

impl ValueTypeIds {
    /// Registers LuaJIT's number of a type. Returns false if no such type exists.
    pub fn note(&mut self, name: &str, number: u16) -> bool {
        let known = VALUE_TYPES.iter().position(|known| known.name == name);
        known.is_some_and(|i| {
            self.numbers[i] = number;
            true
        })
    }

    /// Returns the floats of the value at `i`, if it has the type `kind`.
    ///
    /// # Safety
    /// `l` is a live state and `i` a position in it; the pointer is valid as long as the value.
    #[inline]
    pub unsafe fn read(&self, l: *mut lua_State, i: c_int, kind: VectorType) -> Option<*const f32> {
        // SAFETY: as the caller promised.
        unsafe {
            let is_one = self.number(l, i)? == self.numbers[kind as usize];
            is_one.then(|| lua_topointer(l, i) as *const f32)
        }
    }

    /// Returns the floats of an argument of the running call, read in place.
    ///
    /// # Safety
    /// As for `read`; `i` counts from 1.
    #[inline]
    pub unsafe fn take(&self, l: *mut lua_State, i: c_int, kind: VectorType) -> Option<*const f32> {
        // SAFETY: as the caller promised.
        let (number, content) = unsafe { luajit_layout::cdata(l, i) }?;
        (number == self.numbers[kind as usize]).then_some(content as *const f32)
    }

    /// Returns the type number of the FFI value at `i`.
    ///
    /// # Safety
    /// `l` is a live state and `i` a position in it.
    #[inline]
    unsafe fn number(&self, l: *mut lua_State, i: c_int) -> Option<u16> {
        // SAFETY: LuaJIT's `GCcdata` is a 16-byte header that ends in the type's number (u16) and
        // four bytes of padding, then the payload, to which lua_topointer leads. The version is
        // pinned by Cargo.lock, and `vm.rs` checks a known value at every boot.
        unsafe {
            if lua_type(l, i) != LUA_TCDATA {
                return None;
            }
            Some((lua_topointer(l, i) as *const u16).byte_sub(6).read())
        }
    }

    /// Returns the value type of the value at `i`, if it has one.
    ///
    /// # Safety
    /// As for [`ValueTypeIds::read`].
    pub unsafe fn value_type(&self, l: *mut lua_State, i: c_int) -> Option<&'static ValueType> {
        // SAFETY: as the caller promised.
        let number = unsafe { self.number(l, i) }?;
        let at = self.numbers.iter().position(|known| *known == number)?;
        Some(&VALUE_TYPES[at])
    }

    /// Returns the type name of the value at `i`, if it has a value type.
    ///
    /// # Safety
    /// As for [`ValueTypeIds::read`].
    pub unsafe fn name(&self, l: *mut lua_State, i: c_int) -> Option<&'static str> {
        // SAFETY: as the caller promised.
        unsafe { self.value_type(l, i) }.map(|known| known.name)
    }

    /// Returns the floats of the value at `i`, if its type is displayed by its floats.
    ///
    /// # Safety
    /// As for [`ValueTypeIds::read`]: the floats must not be used after the value is gone.
    pub unsafe fn floats<'a>(
        &self,
        l: *mut lua_State,
        i: c_int,
    ) -> Option<(&'static str, &'a [f32])> {
        // SAFETY: a value of that type begins with that many floats.
        unsafe {
            let known = self.value_type(l, i).filter(|known| known.floats > 0)?;
            let start = lua_topointer(l, i) as *const f32;
            Some((known.name, std::slice::from_raw_parts(start, known.floats)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctype_ids_match_their_declarations() {
        for (i, kind) in VectorType::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, i);
            assert_eq!((VALUE_TYPES[i].name, VALUE_TYPES[i].floats), (kind.name(), kind.count()));
        }
    }
}
