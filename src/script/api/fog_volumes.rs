//! Fog volumes of a world for scripts, `World.set_fog_volumes`, whose options the prelude reads
//! (lua/world/fog_volumes.lua).

use crate::value::ScriptValue;
use engine_foundation::{Error, Mat4, Quat, Vec3};
use engine_frame_packet::fog_volume::{FOG_VOLUMES_MAX, FogShape, FogVolumeFrame};
use engine_frame_packet::scene::DrawTransform;
use engine_runtime::Engine;
use engine_world::WorldId;

/// Number of numbers of a fog volume in the prelude's list.
const FOG_VOLUME_NUMBERS: usize = 19;

/// Replaces the fog volumes of a world: nineteen numbers of each (position, rotation, size, shape,
/// density, color, emission, distance).
pub fn set_fog_volumes(
    engine: &mut Engine,
    world: WorldId,
    numbers: ScriptValue,
) -> Result<(), Error> {
    let items = match numbers {
        ScriptValue::List(items) => items,
        _ => Vec::new(),
    };
    let count = items.len() / FOG_VOLUME_NUMBERS;
    if count > FOG_VOLUMES_MAX {
        return Err(engine_foundation::error!(
            "{count} fog volumes, and {FOG_VOLUMES_MAX} are the most of a world (FOG_VOLUMES_MAX)"
        ));
    }
    let volume = |numbers: &[ScriptValue]| {
        let at = |at: usize| match numbers[at] {
            ScriptValue::Number(number) => number as f32,
            _ => 0.0,
        };
        let vector = |first: usize| Vec3::new(at(first), at(first + 1), at(first + 2));
        let rotation = Quat::from_xyzw(at(3), at(4), at(5), at(6)).normalize();
        let pose = Mat4::from_scale_rotation_translation(vector(7) / 2.0, rotation, vector(0));
        FogVolumeFrame {
            pose: DrawTransform::of(&pose),
            shape: if at(10) == 0.0 { FogShape::Box } else { FogShape::Sphere },
            density: at(11),
            color: vector(12).to_array(),
            emission: vector(15).to_array(),
            blend_distance: at(18),
        }
    };
    let volumes = items.chunks_exact(FOG_VOLUME_NUMBERS).map(volume).collect();
    engine.worlds.set_fog_volumes(world, volumes);
    Ok(())
}
