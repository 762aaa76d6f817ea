//! The argument type of functions that take a position or a pose.

use super::{Argument, ArgumentError};
use crate::context::ScriptContext;
use crate::types::{ApiType, ValueShape};
use engine_foundation::{Mat4, Vec3};
use mlua::ffi::lua_State;
use std::ffi::c_int;

/// A position or a pose.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PointOrPose {
    Point(Vec3),
    Pose(Mat4),
}

impl Argument for PointOrPose {
    const TYPE: ApiType = ApiType::new("Vector3|Matrix4x4", ValueShape::Boxed);
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<PointOrPose, ArgumentError> {
        // SAFETY: as the caller promised.
        unsafe {
            match Vec3::read(l, i, cx) {
                Err(ArgumentError::Type) => Mat4::read(l, i, cx).map(PointOrPose::Pose),
                point => point.map(PointOrPose::Point),
            }
        }
    }
}
