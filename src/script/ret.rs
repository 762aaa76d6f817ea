//! What engine functions can return: one `Ret` per Rust type.

use super::cx::Cx;
use super::layout;
use super::types::{Floats, Shape, Type};
use super::value::{Value, push_value};
use crate::foundation::{Color, Error, Kind, Mat4, Quat, Vec2, Vec3, Vec4};
use crate::resource::bundle::Bytes;
use crate::resource::package::PackageId;
use crate::system::gui::GuiId;
use crate::system::materials::MaterialId;
use crate::system::particles::EffectId;
use crate::system::sound::{SoundWorldId, VoiceId};
use crate::system::tilemaps::TilemapId;
use crate::system::window::WindowId;
use crate::system::workers::WorkerId;
use crate::world::WorldId;
use crate::world::broadphase::BroadphaseId;
use crate::world::camera::{CameraId, ViewportId};
use crate::world::level::LevelId;
use crate::world::light::LightId;
use crate::world::lines::LineObjectId;
use crate::world::mesh::MeshId;
use crate::world::physics::{ActorId, JointId, MoverId, PhysicsWorldId, SnapshotId};
use crate::world::sprite::SpriteId;
use crate::world::unit::UnitId;
use mlua::ffi::*;
use std::ffi::c_int;

/// A Rust type that an engine function can return.
pub trait Ret {
    const TYPES: &'static [Type];
    /// Pushes the results: their number, or the words of an error. A vector is pushed as its
    /// numbers; a generated wrapper makes the value of them.
    ///
    /// # Safety
    /// `l` is the state of the running call. Allocation cannot fail during an engine call.
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String>;
}

/// A result that compiled Lua can take unboxed.
pub trait FastRet: Ret {
    type C: Copy + Default;
    /// The C value; `None` where the function failed, and the checked form will say why.
    fn into_c(self, cx: &mut Cx) -> Option<Self::C>;
}

impl Ret for () {
    const TYPES: &'static [Type] = &[];
    #[inline]
    unsafe fn push(self, _: *mut lua_State, _: &mut Cx) -> Result<c_int, String> {
        Ok(0)
    }
}

impl FastRet for () {
    type C = ();
    fn into_c(self, _: &mut Cx) -> Option<()> {
        Some(())
    }
}

impl Ret for bool {
    const TYPES: &'static [Type] = &[Type::new("boolean", Shape::Boolean)];
    #[inline]
    unsafe fn push(self, l: *mut lua_State, _: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { layout::push_boolean(l, self) };
        Ok(1)
    }
}

impl FastRet for bool {
    type C = bool;
    fn into_c(self, _: &mut Cx) -> Option<bool> {
        Some(self)
    }
}

impl Ret for f64 {
    const TYPES: &'static [Type] = &[Type::new("number", Shape::Number)];
    #[inline]
    unsafe fn push(self, l: *mut lua_State, _: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { layout::push_number(l, self) };
        Ok(1)
    }
}

impl FastRet for f64 {
    type C = f64;
    fn into_c(self, _: &mut Cx) -> Option<f64> {
        Some(self)
    }
}

impl Ret for u64 {
    const TYPES: &'static [Type] = &[Type::new("integer", Shape::Number)];
    #[inline]
    unsafe fn push(self, l: *mut lua_State, _: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { layout::push_number(l, self as f64) };
        Ok(1)
    }
}

impl FastRet for u64 {
    type C = f64;
    fn into_c(self, _: &mut Cx) -> Option<f64> {
        Some(self as f64)
    }
}

impl Ret for String {
    const TYPES: &'static [Type] = &[Type::new("string", Shape::Text)];
    unsafe fn push(self, l: *mut lua_State, _: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { lua_pushlstring(l, self.as_ptr() as *const _, self.len()) };
        Ok(1)
    }
}

macro_rules! handle {
    ($id:ident, $kind:expr) => {
        impl Ret for $id {
            const TYPES: &'static [Type] = &[Type::new($kind.name(), Shape::Handle($kind))];
            #[inline]
            unsafe fn push(self, l: *mut lua_State, _: &mut Cx) -> Result<c_int, String> {
                // SAFETY: as the caller promised.
                unsafe { layout::push_number(l, self.0.to_number()) };
                Ok(1)
            }
        }

        impl FastRet for $id {
            type C = f64;
            fn into_c(self, _: &mut Cx) -> Option<f64> {
                Some(self.0.to_number())
            }
        }
    };
}

handle!(WorldId, Kind::World);
handle!(VoiceId, Kind::Voice);
handle!(SoundWorldId, Kind::SoundWorld);
handle!(GuiId, Kind::Gui);
handle!(MaterialId, Kind::Material);
handle!(CameraId, Kind::Camera);
handle!(MeshId, Kind::Mesh);
handle!(LightId, Kind::Light);
handle!(SpriteId, Kind::Sprite);
handle!(ViewportId, Kind::Viewport);
handle!(WindowId, Kind::Window);
handle!(LineObjectId, Kind::LineObject);
handle!(UnitId, Kind::Unit);
handle!(ActorId, Kind::Actor);
handle!(MoverId, Kind::Mover);
handle!(JointId, Kind::Joint);
handle!(PhysicsWorldId, Kind::PhysicsWorld);
handle!(SnapshotId, Kind::PhysicsSnapshot);
handle!(EffectId, Kind::ParticleEffect);
handle!(LevelId, Kind::Level);
handle!(TilemapId, Kind::Tilemap);
handle!(BroadphaseId, Kind::Broadphase);
handle!(PackageId, Kind::ResourcePackage);
handle!(WorkerId, Kind::Worker);

/// A value type of scripts: its floats, of which the wrapper in twin.rs makes it.
macro_rules! floats {
    ($t:ty, $kind:ident, $floats:expr) => {
        impl Ret for $t {
            const TYPES: &'static [Type] =
                &[Type::new(Floats::$kind.name(), Shape::Value(Floats::$kind))];
            #[inline]
            unsafe fn push(self, l: *mut lua_State, _: &mut Cx) -> Result<c_int, String> {
                for number in $floats(self) {
                    // SAFETY: as the caller promised; there is room for 20.
                    unsafe { layout::push_number(l, number.into()) };
                }
                Ok(Floats::$kind.count() as c_int)
            }
        }

        impl FastRet for $t {
            type C = ();
            #[inline(always)]
            fn into_c(self, cx: &mut Cx) -> Option<()> {
                cx.scratch[..Floats::$kind.count()].copy_from_slice(&$floats(self));
                Some(())
            }
        }
    };
}

floats!(Vec2, Vector2, |v: Vec2| v.to_array());
floats!(Vec3, Vector3, |v: Vec3| v.to_array());
floats!(Vec4, Vector4, |v: Vec4| v.to_array());
floats!(Quat, Quaternion, |q: Quat| q.to_array());
floats!(Mat4, Matrix4x4, |m: Mat4| m.to_cols_array());
floats!(Color, Color, |c: Color| [c.alpha, c.red, c.green, c.blue]);

impl Ret for Value {
    const TYPES: &'static [Type] = &[Type::new("any", Shape::Boxed)];
    unsafe fn push(self, l: *mut lua_State, _: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { push_value(l, &self) }.map(|()| 1)
    }
}

/// A list of worlds, an array in Lua.
impl Ret for Vec<WorldId> {
    const TYPES: &'static [Type] = &[Type::new("World[]", Shape::Boxed)];
    unsafe fn push(self, l: *mut lua_State, _: &mut Cx) -> Result<c_int, String> {
        let numbers = self.iter().map(|id| Value::Number(id.0.to_number())).collect();
        // SAFETY: as the caller promised.
        unsafe { push_value(l, &Value::List(numbers)) }.map(|()| 1)
    }
}

/// A list of strings, an array in Lua.
impl Ret for Vec<String> {
    const TYPES: &'static [Type] = &[Type::new("string[]", Shape::Boxed)];
    unsafe fn push(self, l: *mut lua_State, _: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { push_value(l, &Value::List(self.into_iter().map(Value::Text).collect())) }
            .map(|()| 1)
    }
}

/// The content of a resource: bytes as a string, or plain data.
pub enum Data {
    Bytes(Bytes),
    Value(Value),
}

impl Ret for Data {
    const TYPES: &'static [Type] = &[Type::new("string|table", Shape::Boxed)];
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe {
            match self {
                Data::Bytes(bytes) => lua_pushlstring(l, bytes.as_ptr().cast(), bytes.len()),
                Data::Value(value) => return value.push(l, cx),
            };
        }
        Ok(1)
    }
}

/// An unexpected error is raised.
impl<R: Ret> Ret for Result<R, Error> {
    const TYPES: &'static [Type] = R::TYPES;
    #[inline]
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        match self {
            // SAFETY: as the caller promised.
            Ok(result) => unsafe { result.push(l, cx) },
            Err(error) => Err(cx.keep_contexts(error)),
        }
    }
}

impl<R: FastRet> FastRet for Result<R, Error> {
    type C = R::C;
    fn into_c(self, cx: &mut Cx) -> Option<R::C> {
        self.ok()?.into_c(cx)
    }
}

/// A result whose absence is expected (a save game, the network): scripts get nil and the words.
pub struct Expected<R>(pub Result<R, String>);

impl<R: Ret> Ret for Expected<R> {
    const TYPES: &'static [Type] = {
        assert!(R::TYPES.len() == 1, "an expected error stands in for one result");
        &[R::TYPES[0].or_nil(), Type::new("string", Shape::Text).or_nil()]
    };
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe {
            match self.0 {
                Ok(result) => result.push(l, cx),
                Err(words) => {
                    lua_pushnil(l);
                    words.push(l, cx).map(|count| count + 1)
                }
            }
        }
    }
}

/// A result that need not be there: nil.
impl<R: Ret> Ret for Option<R> {
    const TYPES: &'static [Type] = {
        assert!(R::TYPES.len() == 1, "nil stands in for one result");
        &[R::TYPES[0].or_nil()]
    };
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe {
            match self {
                Some(result) => result.push(l, cx),
                None => {
                    lua_pushnil(l);
                    Ok(1)
                }
            }
        }
    }
}

/// Two results.
impl Ret for (f64, f64) {
    const TYPES: &'static [Type] = &[Type::new("number", Shape::Number); 2];
    #[inline]
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { Ok(self.0.push(l, cx)? + self.1.push(l, cx)?) }
    }
}

/// A vector and a number.
impl Ret for (Vec3, f64) {
    const TYPES: &'static [Type] = &[Vec3::TYPES[0], f64::TYPES[0]];
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { Ok(self.0.push(l, cx)? + self.1.push(l, cx)?) }
    }
}

/// The next seed of random numbers, and a point.
impl Ret for (f64, Vec3) {
    const TYPES: &'static [Type] = &[f64::TYPES[0], Vec3::TYPES[0]];
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { Ok(self.0.push(l, cx)? + self.1.push(l, cx)?) }
    }
}

/// Two vectors.
impl Ret for (Vec3, Vec3) {
    const TYPES: &'static [Type] = &[Vec3::TYPES[0]; 2];
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { Ok(self.0.push(l, cx)? + self.1.push(l, cx)?) }
    }
}

/// A way and a turn.
impl Ret for (Vec3, Quat) {
    const TYPES: &'static [Type] = &[Vec3::TYPES[0], Quat::TYPES[0]];
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { Ok(self.0.push(l, cx)? + self.1.push(l, cx)?) }
    }
}

/// A box: a pose and half of its sizes.
impl Ret for (Mat4, Vec3) {
    const TYPES: &'static [Type] = &[Mat4::TYPES[0], Vec3::TYPES[0]];
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised; 19 numbers find room among 20.
        unsafe { Ok(self.0.push(l, cx)? + self.1.push(l, cx)?) }
    }
}

/// Any number of results.
pub struct Many(pub Vec<Value>);

impl Ret for Many {
    const TYPES: &'static [Type] = &[Type { rest: true, ..Type::new("any", Shape::Boxed) }];
    unsafe fn push(self, l: *mut lua_State, _: &mut Cx) -> Result<c_int, String> {
        for value in &self.0 {
            // SAFETY: as the caller promised.
            unsafe { push_value(l, value)? };
        }
        Ok(self.0.len() as c_int)
    }
}
