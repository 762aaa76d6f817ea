//! A named item of a resource: its name, or its index from 1. Compiled Lua passes indices unboxed.

use super::{Argument, ArgumentError, Integer, TextArgument, UnboxedArgument};
use crate::context::ScriptContext;
use crate::graph_values::{SlotReader, of_slot};
use crate::types::{ApiType, ValueShape};
use engine_flow::Tag;
use mlua::ffi::*;
use std::ffi::c_int;

/// The name of an item, or its index from 1.
#[derive(Clone, Copy)]
pub enum NameOrIndex {
    Name(TextArgument),
    Index(i64),
}

impl NameOrIndex {
    /// Returns the position of an item, from 0: an index within `count`, or the first of `names`
    /// that is equal. `None` if there is no such item.
    pub fn position<'a>(
        &self,
        mut names: impl Iterator<Item = &'a str>,
        count: usize,
    ) -> Option<usize> {
        match self {
            NameOrIndex::Name(name) => names.position(|known| known == name.as_str()),
            NameOrIndex::Index(index) => {
                usize::try_from(*index).ok()?.checked_sub(1).filter(|at| *at < count)
            }
        }
    }
}

impl Argument for NameOrIndex {
    const TYPE: ApiType = ApiType::new("string|integer", ValueShape::Number);
    const OF_SLOT: Option<SlotReader<NameOrIndex>> = Some(|slot, engine, heap| match slot.tag {
        Tag::Text => of_slot(slot, engine, heap).map(NameOrIndex::Name),
        _ => of_slot(slot, engine, heap).map(|index: Integer| NameOrIndex::Index(index.0)),
    });
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<NameOrIndex, ArgumentError> {
        // SAFETY: as the caller promised; strings are not converted.
        unsafe {
            match lua_type(l, i) {
                LUA_TSTRING => TextArgument::take(l, i, cx).map(NameOrIndex::Name),
                _ => Integer::take(l, i, cx).map(|index| NameOrIndex::Index(index.0)),
            }
        }
    }
}

impl UnboxedArgument for NameOrIndex {
    type C = f64;
    #[inline]
    unsafe fn from_c(c: f64, _: u32, _: &ScriptContext) -> Option<NameOrIndex> {
        Integer::of(c).map(|index| NameOrIndex::Index(index.0))
    }
}
