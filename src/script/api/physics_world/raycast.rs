//! The fast raycast of the prelude (lua/world/physics/queries.lua): a C function that compiled Lua
//! calls with plain numbers, so that no vectors are created for it. Types are checked in Lua,
//! everything else here. An error returns -1, and the row `raycast` then reports it.

use crate::api::physics_world::queries::{cast, query_of};
use crate::api_row::FastEntry;
use crate::context::ScriptContext;
use engine_foundation::panic::take_panic;
use engine_foundation::{Handle, Vec3};
use engine_world::physics::PhysicsWorldId;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// C type and address.
pub const RAY: (&str, FastEntry) = (
    "double (*)(void *, double, float, float, float, float, float, float, double, uint32_t, \
     uint32_t, float *)",
    FastEntry(physics_ray as *const std::ffi::c_void),
);

/// Casts a ray. Returns the number of the first actor that it hits, 0 for none, or -1 if the call
/// is invalid. `out` has room for seven floats: the position, the normal, the distance.
#[allow(clippy::too_many_arguments, reason = "compiled Lua passes plain numbers")]
unsafe extern "C-unwind" fn physics_ray(
    cx: *mut ScriptContext,
    physics: f64,
    x: f32,
    y: f32,
    z: f32,
    way_x: f32,
    way_y: f32,
    way_z: f32,
    length: f64,
    filter: u32,
    kinds: u32,
    out: *mut f32,
) -> f64 {
    // SAFETY: compiled Lua passes the context that it received at boot; the engine lives as long as
    // the VM, and is not borrowed while Lua runs.
    let (cx, engine) = unsafe { (&mut *cx, &mut *(*cx).engine) };
    let (from, way) = (Vec3::new(x, y, z), Vec3::new(way_x, way_y, way_z));
    let call = || {
        let physics = Handle::from_number(physics).map(PhysicsWorldId)?;
        let tables = &engine.worlds.physics;
        tables.worlds.get(physics.0)?;
        let query = query_of(tables, filter, kinds)?;
        cast(tables, physics, from, way, length, &query).ok()
    };
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Some(Some(hit))) => {
            let [x, y, z] = hit.position.to_array();
            let [a, b, c] = hit.normal.to_array();
            // SAFETY: the prelude passes room for seven.
            unsafe { *(out as *mut [f32; 7]) = [x, y, z, a, b, c, hit.distance] };
            hit.owner as u64 as f64
        }
        Ok(Some(None)) => 0.0,
        Ok(None) => -1.0,
        Err(_) => {
            cx.panic = Some(take_panic());
            -1.0
        }
    }
}
