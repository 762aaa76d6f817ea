//! Return types of engine functions: one `ReturnValue` implementation for each Rust type.

use super::context::ScriptContext;
use super::graph_values::{SlotWriter, push};
use super::luajit_layout;
use super::types::{ApiType, ValueShape, VectorType};
use super::value::{ScriptValue, push_value};
use engine_flow::Slot;
use engine_foundation::{Color, Error, HandleKind, Mat4, Quat, Vec2, Vec3, Vec4};
use engine_gui::GuiId;
use engine_materials::MaterialId;
use engine_navigation::{AgentId, NavigationGridId, NavigationMeshId};
use engine_particles::EffectId;
use engine_resource::bundle::SharedBytes;
use engine_resource::package::PackageId;
use engine_runtime::handle_table;
use engine_sound::{SoundWorldId, VoiceId};
use engine_tilemaps::TilemapId;
use engine_window::WindowId;
use engine_workers::WorkerId;
use engine_world::WorldId;
use engine_world::broadphase::BroadphaseId;
use engine_world::camera::{CameraId, ViewportId};
use engine_world::debug_lines::LineObjectId;
use engine_world::decal::DecalId;
use engine_world::level::LevelId;
use engine_world::light::LightId;
use engine_world::light_occluder::LightOccluderId;
use engine_world::mesh::MeshId;
use engine_world::physics::{ActorId, JointId, MoverId, PhysicsWorldId, SnapshotId};
use engine_world::shading::ShadingEnvironmentId;
use engine_world::sprite::SpriteId;
use engine_world::unit::UnitId;
use mlua::ffi::*;
use std::ffi::c_int;

/// A Rust type that an engine function can return.
pub trait ReturnValue: Sized {
    const TYPES: &'static [ApiType];
    /// Writes the results as outputs of a node; `None` if graphs have no values of these types.
    const INTO_SLOTS: Option<SlotWriter<Self>> = None;
    /// Pushes the results and returns their number, or an error message. A vector is pushed as its
    /// numbers; a generated wrapper builds the value from them.
    ///
    /// # Safety
    /// `l` is the state of the running call. Allocation cannot fail during an engine call.
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String>;
}

/// A result that compiled Lua can receive unboxed.
pub trait UnboxedReturn: ReturnValue {
    type C: Copy + Default;
    /// Converts the result into a C value. Returns `None` if the function failed; the checked form
    /// then reports the reason.
    fn into_c(self, cx: &mut ScriptContext) -> Option<Self::C>;
}

impl ReturnValue for () {
    const TYPES: &'static [ApiType] = &[];
    const INTO_SLOTS: Option<SlotWriter<()>> = Some(|(), _| Ok(()));
    #[inline]
    unsafe fn push(self, _: *mut lua_State, _: &mut ScriptContext) -> Result<c_int, String> {
        Ok(0)
    }
}

impl UnboxedReturn for () {
    type C = ();
    fn into_c(self, _: &mut ScriptContext) -> Option<()> {
        Some(())
    }
}

impl ReturnValue for bool {
    const TYPES: &'static [ApiType] = &[ApiType::new("boolean", ValueShape::Boolean)];
    const INTO_SLOTS: Option<SlotWriter<bool>> =
        Some(|value, results| results.push(Slot::boolean(value)));
    #[inline]
    unsafe fn push(self, l: *mut lua_State, _: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { luajit_layout::push_boolean(l, self) };
        Ok(1)
    }
}

impl UnboxedReturn for bool {
    type C = bool;
    fn into_c(self, _: &mut ScriptContext) -> Option<bool> {
        Some(self)
    }
}

impl ReturnValue for f64 {
    const TYPES: &'static [ApiType] = &[ApiType::new("number", ValueShape::Number)];
    const INTO_SLOTS: Option<SlotWriter<f64>> = Some(|value, results| results.push_number(value));
    #[inline]
    unsafe fn push(self, l: *mut lua_State, _: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { luajit_layout::push_number(l, self) };
        Ok(1)
    }
}

impl UnboxedReturn for f64 {
    type C = f64;
    fn into_c(self, _: &mut ScriptContext) -> Option<f64> {
        Some(self)
    }
}

impl ReturnValue for u64 {
    const TYPES: &'static [ApiType] = &[ApiType::new("integer", ValueShape::Number)];
    const INTO_SLOTS: Option<SlotWriter<u64>> =
        Some(|value, results| results.push_number(value as f64));
    #[inline]
    unsafe fn push(self, l: *mut lua_State, _: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { luajit_layout::push_number(l, self as f64) };
        Ok(1)
    }
}

impl UnboxedReturn for u64 {
    type C = f64;
    fn into_c(self, _: &mut ScriptContext) -> Option<f64> {
        Some(self as f64)
    }
}

/// A whole number that may be negative.
pub struct WholeNumber(pub f64);

impl ReturnValue for WholeNumber {
    const TYPES: &'static [ApiType] = <u64 as ReturnValue>::TYPES;
    const INTO_SLOTS: Option<SlotWriter<WholeNumber>> =
        Some(|value, results| results.push_number(value.0));
    #[inline]
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { self.0.push(l, cx) }
    }
}

impl UnboxedReturn for WholeNumber {
    type C = f64;
    fn into_c(self, _: &mut ScriptContext) -> Option<f64> {
        Some(self.0)
    }
}

impl ReturnValue for String {
    const TYPES: &'static [ApiType] = &[ApiType::new("string", ValueShape::Text)];
    const INTO_SLOTS: Option<SlotWriter<String>> = Some(|text, results| results.push_text(&text));
    unsafe fn push(self, l: *mut lua_State, _: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { lua_pushlstring(l, self.as_ptr() as *const _, self.len()) };
        Ok(1)
    }
}

macro_rules! handle {
    ($id:ident, $kind:expr) => {
        impl ReturnValue for $id {
            const TYPES: &'static [ApiType] =
                &[ApiType::new($kind.name(), ValueShape::Handle($kind))];
            const INTO_SLOTS: Option<SlotWriter<$id>> =
                Some(|id, results| results.push(Slot::handle(id.0)));
            #[inline]
            unsafe fn push(
                self,
                l: *mut lua_State,
                _: &mut ScriptContext,
            ) -> Result<c_int, String> {
                // SAFETY: as the caller promised.
                unsafe { luajit_layout::push_number(l, self.0.to_number()) };
                Ok(1)
            }
        }

        impl UnboxedReturn for $id {
            type C = f64;
            fn into_c(self, _: &mut ScriptContext) -> Option<f64> {
                Some(self.0.to_number())
            }
        }
    };
}

/// Implements all handles of the table.
macro_rules! handles {
    ($($id:ident, $kind:ident, $engine:ident => $slots:expr;)*) => {
        $(handle!($id, HandleKind::$kind);)*
    };
}

handle_table!(handles);
handle!(VoiceId, HandleKind::Voice);

/// Implements `ReturnValue` for a value type of scripts. It returns the floats, from which the
/// wrapper in ffi_wrappers.rs builds the value.
macro_rules! floats {
    ($t:ty, $kind:ident, $floats:expr, $into_slots:expr) => {
        impl ReturnValue for $t {
            const TYPES: &'static [ApiType] =
                &[ApiType::new(VectorType::$kind.name(), ValueShape::Value(VectorType::$kind))];
            const INTO_SLOTS: Option<SlotWriter<$t>> = $into_slots;
            #[inline]
            unsafe fn push(
                self,
                l: *mut lua_State,
                _: &mut ScriptContext,
            ) -> Result<c_int, String> {
                for number in $floats(self) {
                    // SAFETY: as the caller promised; there is room for 20.
                    unsafe { luajit_layout::push_number(l, number.into()) };
                }
                Ok(VectorType::$kind.count() as c_int)
            }
        }

        impl UnboxedReturn for $t {
            type C = ();
            #[inline(always)]
            fn into_c(self, cx: &mut ScriptContext) -> Option<()> {
                cx.scratch[..VectorType::$kind.count()].copy_from_slice(&$floats(self));
                Some(())
            }
        }
    };
}

floats!(Vec2, Vector2, |v: Vec2| v.to_array(), None);
floats!(
    Vec3,
    Vector3,
    |v: Vec3| v.to_array(),
    Some(|value, results| results.push(Slot::vector(value)))
);
floats!(Vec4, Vector4, |v: Vec4| v.to_array(), None);
floats!(
    Quat,
    Quaternion,
    |q: Quat| q.to_array(),
    Some(|value, results| results.push(Slot::rotation(value)))
);
floats!(Mat4, Matrix4x4, |m: Mat4| m.to_cols_array(), None);
floats!(
    Color,
    Color,
    |c: Color| [c.alpha, c.red, c.green, c.blue],
    Some(|c, results| results.push(Slot::color([c.red, c.green, c.blue, c.alpha])))
);

impl ReturnValue for ScriptValue {
    const TYPES: &'static [ApiType] = &[ApiType::new("any", ValueShape::Boxed)];
    unsafe fn push(self, l: *mut lua_State, _: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { push_value(l, &self) }.map(|()| 1)
    }
}

/// A list of worlds, an array in Lua.
impl ReturnValue for Vec<WorldId> {
    const TYPES: &'static [ApiType] = &[ApiType::new("World[]", ValueShape::Boxed)];
    unsafe fn push(self, l: *mut lua_State, _: &mut ScriptContext) -> Result<c_int, String> {
        let numbers = self.iter().map(|id| ScriptValue::Number(id.0.to_number())).collect();
        // SAFETY: as the caller promised.
        unsafe { push_value(l, &ScriptValue::List(numbers)) }.map(|()| 1)
    }
}

/// A list of strings, an array in Lua.
impl ReturnValue for Vec<String> {
    const TYPES: &'static [ApiType] = &[ApiType::new("string[]", ValueShape::Boxed)];
    unsafe fn push(self, l: *mut lua_State, _: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe {
            push_value(l, &ScriptValue::List(self.into_iter().map(ScriptValue::Text).collect()))
        }
        .map(|()| 1)
    }
}

/// The content of a resource: bytes as a string, or plain data.
pub enum ResourceContent {
    Bytes(SharedBytes),
    Value(ScriptValue),
}

impl ReturnValue for ResourceContent {
    const TYPES: &'static [ApiType] = &[ApiType::new("string|table", ValueShape::Boxed)];
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe {
            match self {
                ResourceContent::Bytes(bytes) => {
                    lua_pushlstring(l, bytes.as_ptr().cast(), bytes.len())
                }
                ResourceContent::Value(value) => return value.push(l, cx),
            };
        }
        Ok(1)
    }
}

/// A result that can fail unexpectedly: the error is raised.
impl<R: ReturnValue> ReturnValue for Result<R, Error> {
    const TYPES: &'static [ApiType] = R::TYPES;
    const INTO_SLOTS: Option<SlotWriter<Result<R, Error>>> = match R::INTO_SLOTS {
        Some(_) => Some(|result, results| match result {
            Ok(result) => push(result, results),
            Err(error) => Err(error.message),
        }),
        None => None,
    };
    #[inline]
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        match self {
            // SAFETY: as the caller promised.
            Ok(result) => unsafe { result.push(l, cx) },
            Err(error) => Err(cx.keep_contexts(error)),
        }
    }
}

impl<R: UnboxedReturn> UnboxedReturn for Result<R, Error> {
    type C = R::C;
    fn into_c(self, cx: &mut ScriptContext) -> Option<R::C> {
        self.ok()?.into_c(cx)
    }
}

/// A result whose absence is expected (a saved game, the network): scripts get nil and a message.
pub struct ExpectedResult<R>(pub Result<R, String>);

impl<R: ReturnValue> ReturnValue for ExpectedResult<R> {
    const TYPES: &'static [ApiType] = {
        assert!(R::TYPES.len() == 1, "an expected error stands in for one result");
        &[R::TYPES[0].or_nil(), ApiType::new("string", ValueShape::Text).or_nil()]
    };
    const INTO_SLOTS: Option<SlotWriter<ExpectedResult<R>>> = match R::INTO_SLOTS {
        Some(_) => Some(|result, results| match result.0 {
            Ok(result) => {
                push(result, results)?;
                results.push(Slot::NIL)
            }
            Err(message) => {
                results.push(Slot::NIL)?;
                results.push_text(&message)
            }
        }),
        None => None,
    };
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe {
            match self.0 {
                Ok(result) => result.push(l, cx),
                Err(message) => {
                    lua_pushnil(l);
                    message.push(l, cx).map(|count| count + 1)
                }
            }
        }
    }
}

/// An optional result: nil if it is missing.
impl<R: ReturnValue> ReturnValue for Option<R> {
    const TYPES: &'static [ApiType] = {
        assert!(R::TYPES.len() == 1, "nil stands in for one result");
        &[R::TYPES[0].or_nil()]
    };
    const INTO_SLOTS: Option<SlotWriter<Option<R>>> = match R::INTO_SLOTS {
        Some(_) => Some(|result, results| match result {
            Some(result) => push(result, results),
            None => results.push(Slot::NIL),
        }),
        None => None,
    };
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
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

/// Returns the writer of two results; `None` if graphs have no values of one of them.
const fn both<A: ReturnValue, B: ReturnValue>() -> Option<SlotWriter<(A, B)>> {
    match (A::INTO_SLOTS, B::INTO_SLOTS) {
        (Some(_), Some(_)) => Some(|(a, b), results| {
            push(a, results)?;
            push(b, results)
        }),
        _ => None,
    }
}

/// Pushes the last one of several optional results: nothing if it is missing.
///
/// # Safety
/// As for `ReturnValue::push`.
unsafe fn push_last<R: ReturnValue>(
    result: Option<R>,
    l: *mut lua_State,
    cx: &mut ScriptContext,
) -> Result<c_int, String> {
    // SAFETY: as the caller promised.
    result.map_or(Ok(0), |it| unsafe { it.push(l, cx) })
}

/// Two optional results: `Option::unzip` makes them of an optional pair.
impl<A: ReturnValue, B: ReturnValue> ReturnValue for (Option<A>, Option<B>) {
    const TYPES: &'static [ApiType] = {
        assert!(A::TYPES.len() == 1 && B::TYPES.len() == 1, "nil stands in for one result");
        &[A::TYPES[0].or_nil(), B::TYPES[0].or_nil()]
    };
    const INTO_SLOTS: Option<SlotWriter<Self>> = both::<Option<A>, Option<B>>();
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { Ok(push_before(self.0, l, cx)? + push_last(self.1, l, cx)?) }
    }
}

/// Pushes an optional result that others follow: a missing vector is as many nils as it has
/// numbers, so that the wrapper finds the results after it.
///
/// # Safety
/// As for `ReturnValue::push`.
unsafe fn push_before<R: ReturnValue>(
    result: Option<R>,
    l: *mut lua_State,
    cx: &mut ScriptContext,
) -> Result<c_int, String> {
    match (result, R::TYPES[0].shape) {
        (None, ValueShape::Value(kind)) => {
            for _ in 0..kind.count() {
                // SAFETY: as the caller promised; there is room for 20.
                unsafe { lua_pushnil(l) };
            }
            Ok(kind.count() as c_int)
        }
        // SAFETY: as the caller promised.
        (result, _) => unsafe { result.push(l, cx) },
    }
}

/// Three optional results. The last one is left out if it is nil.
impl<A, B, C> ReturnValue for (Option<A>, Option<B>, Option<C>)
where
    A: ReturnValue,
    B: ReturnValue,
    C: ReturnValue,
{
    const TYPES: &'static [ApiType] = {
        let is_one = A::TYPES.len() == 1 && B::TYPES.len() == 1 && C::TYPES.len() == 1;
        assert!(is_one, "nil stands in for one result");
        &[A::TYPES[0].or_nil(), B::TYPES[0].or_nil(), C::TYPES[0].or_nil()]
    };
    const INTO_SLOTS: Option<SlotWriter<Self>> = match (A::INTO_SLOTS, B::INTO_SLOTS, C::INTO_SLOTS)
    {
        (Some(_), Some(_), Some(_)) => Some(|(a, b, c), results| {
            push(a, results)?;
            push(b, results)?;
            push(c, results)
        }),
        _ => None,
    };
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe {
            let count = push_before(self.0, l, cx)? + push_before(self.1, l, cx)?;
            Ok(count + push_last(self.2, l, cx)?)
        }
    }
}

/// Two numbers.
impl ReturnValue for (f64, f64) {
    const TYPES: &'static [ApiType] = &[ApiType::new("number", ValueShape::Number); 2];
    const INTO_SLOTS: Option<SlotWriter<Self>> = both::<f64, f64>();
    #[inline]
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { Ok(self.0.push(l, cx)? + self.1.push(l, cx)?) }
    }
}

/// A boolean, and a result that goes with one of its values.
impl<B: ReturnValue> ReturnValue for (bool, Option<B>) {
    const TYPES: &'static [ApiType] = {
        assert!(B::TYPES.len() == 1, "nil stands in for one result");
        &[bool::TYPES[0], B::TYPES[0].or_nil()]
    };
    const INTO_SLOTS: Option<SlotWriter<Self>> = both::<bool, Option<B>>();
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { Ok(self.0.push(l, cx)? + self.1.push(l, cx)?) }
    }
}

/// Two whole numbers, such as the width and height of a picture.
impl ReturnValue for (WholeNumber, WholeNumber) {
    const TYPES: &'static [ApiType] = &[WholeNumber::TYPES[0]; 2];
    const INTO_SLOTS: Option<SlotWriter<Self>> = both::<WholeNumber, WholeNumber>();
    #[inline]
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { Ok(self.0.push(l, cx)? + self.1.push(l, cx)?) }
    }
}

/// Three whole numbers, such as the agents at a stop.
impl ReturnValue for (WholeNumber, WholeNumber, WholeNumber) {
    const TYPES: &'static [ApiType] = &[WholeNumber::TYPES[0]; 3];
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { Ok(self.0.push(l, cx)? + self.1.push(l, cx)? + self.2.push(l, cx)?) }
    }
}

/// A vector and a number.
impl ReturnValue for (Vec3, f64) {
    const TYPES: &'static [ApiType] = &[Vec3::TYPES[0], f64::TYPES[0]];
    const INTO_SLOTS: Option<SlotWriter<Self>> = both::<Vec3, f64>();
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { Ok(self.0.push(l, cx)? + self.1.push(l, cx)?) }
    }
}

/// The next seed of random numbers, and a point.
impl ReturnValue for (f64, Vec3) {
    const TYPES: &'static [ApiType] = &[f64::TYPES[0], Vec3::TYPES[0]];
    const INTO_SLOTS: Option<SlotWriter<Self>> = both::<f64, Vec3>();
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { Ok(self.0.push(l, cx)? + self.1.push(l, cx)?) }
    }
}

/// Two vectors.
impl ReturnValue for (Vec3, Vec3) {
    const TYPES: &'static [ApiType] = &[Vec3::TYPES[0]; 2];
    const INTO_SLOTS: Option<SlotWriter<Self>> = both::<Vec3, Vec3>();
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { Ok(self.0.push(l, cx)? + self.1.push(l, cx)?) }
    }
}

/// A translation and a rotation.
impl ReturnValue for (Vec3, Quat) {
    const TYPES: &'static [ApiType] = &[Vec3::TYPES[0], Quat::TYPES[0]];
    const INTO_SLOTS: Option<SlotWriter<Self>> = both::<Vec3, Quat>();
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { Ok(self.0.push(l, cx)? + self.1.push(l, cx)?) }
    }
}

/// A translation, a rotation and a scale.
impl ReturnValue for (Vec3, Quat, Vec3) {
    const TYPES: &'static [ApiType] = &[Vec3::TYPES[0], Quat::TYPES[0], Vec3::TYPES[0]];
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised; there is room for 20 numbers, and 10 are pushed.
        unsafe { Ok(self.0.push(l, cx)? + self.1.push(l, cx)? + self.2.push(l, cx)?) }
    }
}

/// A box: its pose and half extents.
impl ReturnValue for (Mat4, Vec3) {
    const TYPES: &'static [ApiType] = &[Mat4::TYPES[0], Vec3::TYPES[0]];
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised; there is room for 20 numbers, and 19 are pushed.
        unsafe { Ok(self.0.push(l, cx)? + self.1.push(l, cx)?) }
    }
}

/// Any number of results.
pub struct ManyResults(pub Vec<ScriptValue>);

impl ReturnValue for ManyResults {
    const TYPES: &'static [ApiType] =
        &[ApiType { rest: true, ..ApiType::new("any", ValueShape::Boxed) }];
    unsafe fn push(self, l: *mut lua_State, _: &mut ScriptContext) -> Result<c_int, String> {
        for value in &self.0 {
            // SAFETY: as the caller promised.
            unsafe { push_value(l, value)? };
        }
        Ok(self.0.len() as c_int)
    }
}
