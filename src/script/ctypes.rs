//! The value types that the prelude makes with the FFI, as native code tells them apart and reads
//! them.

use super::layout;
use super::types::Floats;
use mlua::ffi::*;
use std::ffi::c_int;

/// A value type.
pub struct ValueType {
    pub name: &'static str,
    /// How many floats of 32 bits a value begins with; none in those that are not shown by their
    /// floats.
    pub floats: usize,
}

/// Every value type: a type's place here is its number in [`Ctypes`].
pub const VALUE_TYPES: [ValueType; 10] = [
    ValueType { name: "Vector2", floats: 2 },
    ValueType { name: "Vector3", floats: 3 },
    ValueType { name: "Vector4", floats: 4 },
    ValueType { name: "Quaternion", floats: 4 },
    ValueType { name: "Matrix4x4", floats: 16 },
    ValueType { name: "Color", floats: 4 },
    ValueType { name: "IdString32", floats: 0 },
    ValueType { name: "IdString64", floats: 0 },
    ValueType { name: "Float32Array", floats: 0 },
    // A reference into the counters; lua/stats.lua notes it.
    ValueType { name: "Counter", floats: 0 },
];

/// LuaJIT's numbers of the value types, noted by the prelude at boot; 0 until then.
#[derive(Default)]
pub struct Ctypes {
    numbers: [u16; VALUE_TYPES.len()],
}

/// LuaJIT's type tag of FFI values, which its public header does not name.
const LUA_TCDATA: c_int = 10;

impl Ctypes {
    /// Notes the number of a type; whether there is such a type.
    pub fn note(&mut self, name: &str, number: u16) -> bool {
        let known = VALUE_TYPES.iter().position(|known| known.name == name);
        known.is_some_and(|i| {
            self.numbers[i] = number;
            true
        })
    }

    /// The floats of the value of that type at `i`, if one is there.
    ///
    /// # Safety
    /// `l` is a live state and `i` a position in it; the pointer holds as long as the value does.
    #[inline]
    pub unsafe fn read(&self, l: *mut lua_State, i: c_int, kind: Floats) -> Option<*const f32> {
        // SAFETY: as the caller promised.
        unsafe {
            let is_one = self.number(l, i)? == self.numbers[kind as usize];
            is_one.then(|| lua_topointer(l, i) as *const f32)
        }
    }

    /// The same of an argument of the running call, in place.
    ///
    /// # Safety
    /// As for `read`; `i` counts from 1.
    #[inline]
    pub unsafe fn take(&self, l: *mut lua_State, i: c_int, kind: Floats) -> Option<*const f32> {
        // SAFETY: as the caller promised.
        let (number, content) = unsafe { layout::cdata(l, i) }?;
        (number == self.numbers[kind as usize]).then_some(content as *const f32)
    }

    /// The type number of the FFI value at `i`.
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

    /// The type of the value at `i`, where it is one of ours.
    ///
    /// # Safety
    /// As for [`Ctypes::read`].
    pub unsafe fn value_type(&self, l: *mut lua_State, i: c_int) -> Option<&'static ValueType> {
        // SAFETY: as the caller promised.
        let number = unsafe { self.number(l, i) }?;
        let at = self.numbers.iter().position(|known| *known == number)?;
        Some(&VALUE_TYPES[at])
    }

    /// Its name.
    ///
    /// # Safety
    /// As for [`Ctypes::read`].
    pub unsafe fn name(&self, l: *mut lua_State, i: c_int) -> Option<&'static str> {
        // SAFETY: as the caller promised.
        unsafe { self.value_type(l, i) }.map(|known| known.name)
    }

    /// The floats of the value at `i`, where it is of a type that is shown by them.
    ///
    /// # Safety
    /// As for [`Ctypes::read`]: the floats must not be used longer than the value is there.
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
    fn types_stand_where_they_are_read_from() {
        for (i, kind) in Floats::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, i);
            assert_eq!((VALUE_TYPES[i].name, VALUE_TYPES[i].floats), (kind.name(), kind.count()));
        }
    }
}
