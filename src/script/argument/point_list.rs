//! The argument type of functions that take many points: a list of vectors, or of their numbers.

use super::{Argument, ArgumentError, finite};
use crate::context::ScriptContext;
use crate::describe_value::describe;
use crate::types::{ApiType, ValueShape};
use crate::value::BYTES_MAX;
use engine_foundation::Vec3;
use mlua::ffi::*;
use std::ffi::c_int;

/// Maximum number of items of a list.
const ITEMS_MAX: usize = BYTES_MAX / size_of::<Vec3>();

/// Points: { Vector3, … }, or { x1, y1, z1, … }.
pub struct PointList(pub Vec<Vec3>);

impl Argument for PointList {
    const TYPE: ApiType = ApiType::new("Vector3[]|number[]", ValueShape::Boxed);
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<PointList, ArgumentError> {
        let wrong = ArgumentError::Message;
        // SAFETY: as the caller promised; items are read without metamethods, and the stack is as
        // high as before when this returns.
        unsafe {
            if lua_type(l, i) != LUA_TTABLE || lua_checkstack(l, 4) == 0 {
                let got = describe(l, i, cx);
                return Err(wrong(format!("must be a list of numbers or of Vector3, got {got}")));
            }
            let (count, top) = (lua_objlen(l, i), lua_gettop(l));
            if count > ITEMS_MAX {
                return Err(wrong(format!("must have at most {ITEMS_MAX} items, got {count}")));
            }
            let (mut points, mut numbers) = (Vec::new(), Vec::new());
            for index in 1..=count {
                lua_rawgeti(l, i, index as lua_Integer);
                let item = match lua_type(l, -1) {
                    LUA_TNUMBER => finite(lua_tonumber(l, -1)).map(|number| {
                        numbers.push(number as f32);
                    }),
                    _ => match Vec3::read(l, top + 1, cx) {
                        Err(ArgumentError::Type) => Err(wrong(format!(
                            "must be a list of numbers or of Vector3, got {} as item {index}",
                            describe(l, top + 1, cx)
                        ))),
                        point => point.map(|point| points.push(point)),
                    },
                };
                lua_settop(l, top);
                item?;
            }
            lua_pushnil(l);
            while lua_next(l, i) != 0 {
                let is_item = lua_type(l, -2) == LUA_TNUMBER && {
                    let key = lua_tonumber(l, -2);
                    key.fract() == 0.0 && key >= 1.0 && key <= count as f64
                };
                if !is_item {
                    let key = describe(l, -2, cx);
                    lua_settop(l, top);
                    return Err(wrong(format!("must be a list without other keys, got {key}")));
                }
                lua_settop(l, -2);
            }
            PointList::of(points, &numbers).map_err(wrong)
        }
    }
}

impl PointList {
    fn of(points: Vec<Vec3>, numbers: &[f32]) -> Result<PointList, String> {
        if points.is_empty() && numbers.len().is_multiple_of(3) {
            let point = |at: &[f32]| Vec3::new(at[0], at[1], at[2]);
            return Ok(PointList(numbers.chunks_exact(3).map(point).collect()));
        }
        match numbers.len() {
            0 => Ok(PointList(points)),
            count if points.is_empty() => {
                Err(format!("must have three numbers for each point, got {count} numbers"))
            }
            _ => Err("must be a list of numbers or of Vector3, not both".to_string()),
        }
    }
}
