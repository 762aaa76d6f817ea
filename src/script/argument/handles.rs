//! Handles as arguments: one type for each kind of handle, a number that may be any handle, and the
//! error messages for handles that no longer lead to an object.

use super::{Argument, ArgumentError, UnboxedArgument, number};
use crate::context::ScriptContext;
use crate::describe_value;
use crate::graph_values::SlotReader;
use crate::handle_hints;
use crate::luajit_layout;
use crate::types::{ApiType, ValueShape};
use engine_flow::{Slot, Tag};
use engine_foundation::handle::{OLD_REASONS_MAX, StaleHandle};
use engine_foundation::{Handle, HandleKind};
use engine_gui::GuiId;
use engine_materials::MaterialId;
use engine_navigation::{AgentId, NavigationGridId, NavigationMeshId};
use engine_particles::EffectId;
use engine_resource::package::PackageId;
use engine_runtime::{Engine, handle_table};
use engine_sound::SoundWorldId;
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

/// Returns the error message for a handle that no longer leads to an object.
pub fn stale_message(kind: HandleKind, stale: StaleHandle, number: f64) -> ArgumentError {
    let name = kind.name();
    ArgumentError::Message(match stale {
        StaleHandle::Never => {
            let a = handle_hints::article(name);
            format!(
                "must be {a} {name}, and the number {} never was one",
                describe_value::number(number)
            )
        }
        StaleHandle::LongAgo => {
            format!("this {name} was destroyed long ago, before the last {OLD_REASONS_MAX} others")
        }
        StaleHandle::Destroyed { name, frame, location } => {
            let name = if name.is_empty() { String::new() } else { format!(" \"{name}\"") };
            let location =
                if location.is_empty() { String::new() } else { format!(" at {location}") };
            format!("{}{name} was destroyed in frame {frame}{location}", kind.noun())
        }
    })
}

/// Returns the error message for a number that is not a living Gui, as found by a fast form.
pub fn gui_message(engine: &Engine, number: f64) -> String {
    let slots = engine.drawing.guis.slots();
    let stale = Handle::from_number(number).map(|handle| slots.stale(handle));
    stale_handle_message(engine, HandleKind::Gui, stale, number)
}

/// Returns the error message for a number that is not a living material, as found by a fast form.
pub fn material_message(engine: &Engine, number: f64) -> String {
    let slots = engine.assets.materials.slots();
    let stale = Handle::from_number(number).map(|handle| slots.stale(handle));
    stale_handle_message(engine, HandleKind::Material, stale, number)
}

fn stale_handle_message(
    engine: &Engine,
    kind: HandleKind,
    stale: Option<StaleHandle>,
    number: f64,
) -> String {
    match stale_message(kind, stale.unwrap_or(StaleHandle::Never), number) {
        ArgumentError::Message(message) => {
            handle_hints::message(engine, kind, number).unwrap_or(message)
        }
        ArgumentError::Type | ArgumentError::RestArgument(..) => {
            unreachable!("a stale handle has words")
        }
    }
}

/// Returns the engine of a context, while arguments are read.
#[inline(always)]
fn living_engine(cx: &ScriptContext) -> &Engine {
    // SAFETY: the engine lives as long as the VM, and is not borrowed while arguments are read.
    unsafe { &*cx.engine }
}

/// Returns the number of an object or a number.
fn handle_number(slot: Slot) -> Option<f64> {
    match slot.tag {
        Tag::Number => Some(slot.as_number()),
        _ => slot.as_handle().map(Handle::to_number),
    }
}

/// Handles of one kind, checked against the engine's slots.
trait CheckedHandle: Sized {
    /// Returns the handle of a number if its object is alive.
    fn alive(handle: Option<Handle>, engine: &Engine) -> Option<Self>;

    /// Returns the error for a number that is not the handle of a living object.
    fn conversion_error(number: f64, engine: &Engine) -> ArgumentError;
}

/// Implements the handles of one kind: their type, and the engine's slots behind them.
macro_rules! handle {
    ($id:ident, $kind:ident, $engine:ident => $slots:expr) => {
        impl CheckedHandle for $id {
            #[inline(always)]
            fn alive(handle: Option<Handle>, $engine: &Engine) -> Option<$id> {
                let handle = handle?;
                $slots.get(handle).is_some().then_some($id(handle))
            }

            #[cold]
            fn conversion_error(number: f64, $engine: &Engine) -> ArgumentError {
                let stale = Handle::from_number(number).map(|handle| $slots.stale(handle));
                ArgumentError::Message(stale_handle_message(
                    $engine,
                    HandleKind::$kind,
                    stale,
                    number,
                ))
            }
        }

        impl Argument for $id {
            const TYPE: ApiType =
                ApiType::new(HandleKind::$kind.name(), ValueShape::Handle(HandleKind::$kind));
            const OF_SLOT: Option<SlotReader<$id>> = Some(|slot: Slot, engine, _| {
                let handle = slot.as_handle();
                $id::alive(handle, engine).ok_or_else(|| match handle {
                    Some(handle) => $id::conversion_error(handle.to_number(), engine),
                    None => ArgumentError::Type,
                })
            });
            of_number!(|number, cx: &ScriptContext| {
                let engine = living_engine(cx);
                $id::alive(Handle::from_number(number), engine)
                    .ok_or_else(|| $id::conversion_error(number, engine))
            });
        }

        impl UnboxedArgument for $id {
            type C = f64;
            #[inline(always)]
            unsafe fn from_c(c: f64, _: u32, cx: &ScriptContext) -> Option<$id> {
                $id::alive(Handle::from_number(c), living_engine(cx))
            }
        }
    };
}

/// Implements all handles of the table.
macro_rules! handles {
    ($($id:ident, $kind:ident, $engine:ident => $slots:expr;)*) => {
        $(handle!($id, $kind, $engine => $slots);)*

        /// Kinds of the handles that arguments can be.
        const KINDS: &[HandleKind] = &[$(HandleKind::$kind),*];
    };
}

handle_table!(handles);

/// Returns the kind of a handle that an argument can be, if its object is alive.
#[cold]
pub fn live_kind(engine: &Engine, handle: Handle) -> Option<HandleKind> {
    engine.live_kind(handle).filter(|kind| KINDS.contains(kind))
}

/// A number that may be any kind of handle, living or not. Used by queries such as `alive`.
#[derive(Clone, Copy)]
pub struct HandleNumber(pub f64);

impl Argument for HandleNumber {
    const TYPE: ApiType = ApiType::new("number", ValueShape::Number);
    const OF_SLOT: Option<SlotReader<HandleNumber>> =
        Some(|slot, _, _| handle_number(slot).map(HandleNumber).ok_or(ArgumentError::Type));
    of_number!(|number, _| Ok(HandleNumber(number)));
}

impl UnboxedArgument for HandleNumber {
    type C = f64;
    unsafe fn from_c(c: f64, _: u32, _: &ScriptContext) -> Option<HandleNumber> {
        Some(HandleNumber(c))
    }
}

/// A number that may be any kind of handle, living or not, or no object at all: nil or false. Taken
/// by `alive`, because games ask it about variables that may be empty.
#[derive(Clone, Copy)]
pub struct MaybeHandle(Option<f64>);

impl MaybeHandle {
    /// Returns the handle, if the number can be one.
    #[inline(always)]
    pub fn handle(self) -> Option<Handle> {
        self.0.and_then(Handle::from_number)
    }
}

impl Argument for MaybeHandle {
    const TYPE: ApiType = ApiType::new("number|false", ValueShape::Number).or_nil();
    const OF_SLOT: Option<SlotReader<MaybeHandle>> = Some(|slot, _, _| match slot.tag {
        Tag::Nil => Ok(MaybeHandle(None)),
        Tag::Boolean if !slot.as_boolean() => Ok(MaybeHandle(None)),
        _ => handle_number(slot).map(|number| MaybeHandle(Some(number))).ok_or(ArgumentError::Type),
    });
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        _: &ScriptContext,
    ) -> Result<MaybeHandle, ArgumentError> {
        // SAFETY: as the caller promised; the calls do not raise.
        unsafe {
            match lua_type(l, i) {
                LUA_TNONE | LUA_TNIL => Ok(MaybeHandle(None)),
                LUA_TBOOLEAN if lua_toboolean(l, i) == 0 => Ok(MaybeHandle(None)),
                _ => number(l, i).map(|number| MaybeHandle(Some(number))),
            }
        }
    }

    #[inline(always)]
    unsafe fn take(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<MaybeHandle, ArgumentError> {
        // SAFETY: as the caller promised.
        match unsafe { luajit_layout::double(l, i) } {
            Some(number) => Ok(MaybeHandle(Some(number))),
            // SAFETY: as the caller promised.
            None => unsafe { Self::read(l, i, cx) },
        }
    }
}

impl UnboxedArgument for MaybeHandle {
    type C = f64;
    #[inline(always)]
    unsafe fn from_c(c: f64, extra: u32, _: &ScriptContext) -> Option<MaybeHandle> {
        Some(MaybeHandle((extra != 0).then_some(c)))
    }
}
