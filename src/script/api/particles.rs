//! The functions of `World` and `Gui` that play particle effects. The rows of `World` are in
//! world/mod.rs; the functions on which the prelude's lua/gui/particles.lua is built are here.

use crate::api_row::{ModuleRows, func, module};
use crate::argument::{HandleNumber, Integer, TextArgument};
use crate::context;
use crate::value::ScriptValue;
use engine_foundation::{Error, Handle, HandleKind, Mat4, Quat, Vec3};
use engine_gui::GuiId;
use engine_particles::pose::EffectTransform;
use engine_particles::{EffectId, EffectStage, NodeLink, OrphanPolicy};
use engine_runtime::Engine;
use engine_world::WorldId;
use engine_world::unit::UnitId;

/// Native functions in the prelude's table `core`, on which lua/gui/particles.lua is built. They
/// have the names of the public functions, which error messages show.
pub static GUI_CORE: ModuleRows = module(
    "Gui",
    "Particles, for the prelude.",
    "assert(core == nil)",
    &[
        func(
            "create_particles",
            create_in_gui,
            &[
                ("gui", ""),
                ("name", ""),
                ("x", ""),
                ("y", ""),
                ("layer", ""),
                ("angle", ""),
                ("scale", ""),
            ],
            "Starts an effect in a Gui.",
        ),
        func(
            "move_particles",
            move_in_gui,
            &[("gui", ""), ("id", ""), ("x", ""), ("y", ""), ("angle", ""), ("scale", "")],
            "Moves an effect in a Gui.",
        ),
    ],
);

/// Builds an effect's transform from the arguments of a script.
fn pose(
    position: Option<Vec3>,
    rotation: Option<Quat>,
    scale: Option<Vec3>,
) -> Result<EffectTransform, Error> {
    let rotation = rotation.unwrap_or(Quat::IDENTITY);
    if (rotation.length_squared() - 1.0).abs() > 1e-3 {
        return Err(engine_foundation::error!(
            "argument 'rotation' must have length 1, this one has {}: use Quaternion.normalize",
            rotation.length()
        ));
    }
    let scale = scale.map_or(1.0, |scale| scale.element_sum() / 3.0);
    if scale <= 0.0 {
        return Err(engine_foundation::error!(
            "argument 'scale' must be above 0, its mean is {scale}"
        ));
    }
    Ok(EffectTransform { position: position.unwrap_or(Vec3::ZERO), rotation, scale })
}

pub fn create(
    engine: &mut Engine,
    world: WorldId,
    name: TextArgument,
    position: Option<Vec3>,
    rotation: Option<Quat>,
    scale: Option<Vec3>,
    group: ScriptValue,
) -> Result<EffectId, Error> {
    if group != ScriptValue::Nil {
        return Err(engine_foundation::error!(
            "argument #6 'group' must be nil, because effects have no groups: keep the effects of \
             a group in a list, and call World.destroy_particles for each of them"
        ));
    }
    let pose = pose(position, rotation, scale)?;
    engine
        .worlds
        .create_particles(
            &mut engine.assets,
            &engine.devices,
            world,
            EffectStage::World,
            name.as_str(),
            pose,
        )
        .map_err(|error| engine_foundation::error!("argument #2 'name': {}", error.message))
}

/// Returns an error if an effect is in another world.
fn in_world(engine: &mut Engine, world: WorldId, id: EffectId) -> Result<(), Error> {
    match engine.worlds.particles.effect(id).world == world.0 {
        true => Ok(()),
        false => Err(engine_foundation::error!("argument #2 'id': the effect is in another world")),
    }
}

/// Returns an effect of this world; `None` if it has ended.
fn find_live(
    engine: &mut Engine,
    world: WorldId,
    id: HandleNumber,
) -> Result<Option<EffectId>, Error> {
    let handle = Handle::from_number(id.0);
    let handle =
        handle.filter(|handle| HandleKind::of(*handle) == Some(HandleKind::ParticleEffect));
    let Some(handle) = handle else {
        let message = "argument #2 'id' must be what create_particles returned, got the number";
        return Err(engine_foundation::error!("{message} {}", id.0));
    };
    if engine.worlds.particles.slots().get(handle).is_none() {
        return Ok(None);
    }
    in_world(engine, world, EffectId(handle)).map(|()| Some(EffectId(handle)))
}

/// Returns an error if an effect plays in another world, or in a Gui.
fn on_stage(engine: &mut Engine, world: WorldId, id: EffectId) -> Result<(), Error> {
    in_world(engine, world, id)?;
    match engine.worlds.particles.effect(id).stage {
        EffectStage::World => Ok(()),
        EffectStage::Gui { .. } => Err(engine_foundation::error!(
            "argument #2 'id': the effect plays in a Gui: use Gui.move_particles"
        )),
    }
}

pub fn move_to(
    engine: &mut Engine,
    world: WorldId,
    id: EffectId,
    position: Vec3,
    rotation: Option<Quat>,
    scale: Option<Vec3>,
) -> Result<(), Error> {
    on_stage(engine, world, id)?;
    let pose = pose(Some(position), rotation, scale)?;
    let effect = engine.worlds.particles.effect(id);
    effect.link = None;
    effect.pose = pose;
    Ok(())
}

pub fn link(
    engine: &mut Engine,
    world: WorldId,
    id: EffectId,
    unit: UnitId,
    node: Option<Integer>,
    pose: Option<Mat4>,
    orphaned: Option<TextArgument>,
) -> Result<(), Error> {
    on_stage(engine, world, id)?;
    if engine.worlds.units.of(unit).world != world {
        return Err(engine_foundation::error!("argument #3 'unit': the unit is in another world"));
    }
    let (node, count) =
        (node.map_or(1, |node| node.0), engine.worlds.units.scene.count(unit.row()));
    if node < 1 || node > count as i64 {
        return Err(engine_foundation::error!(
            "argument #4 'node' must be 1 to {count}, got {node}"
        ));
    }
    let orphaned = match &orphaned {
        None => OrphanPolicy::Destroy,
        Some(word) => {
            let all = OrphanPolicy::ALL;
            let found = all.iter().find(|(known, _)| *known == word.as_str());
            let hint = engine_foundation::suggest::hint(word.as_str(), all.map(|(word, _)| word));
            found.map(|(_, orphaned)| *orphaned).ok_or_else(|| {
                engine_foundation::error!(
                    "argument #6 'orphaned' must be \"destroy\", \"stop\" or \"unlink\", got \
                     \"{}\"{hint}",
                    word.as_str()
                )
            })?
        }
    };
    let pose = pose.map_or(EffectTransform::IDENTITY, |pose| EffectTransform::of(&pose));
    let node = node as u32 - 1;
    let at = EffectTransform::of(&engine.worlds.units.scene.world(unit.row(), node as usize));
    let effect = engine.worlds.particles.effect(id);
    effect.link = Some(NodeLink { unit: unit.0, node, pose, orphaned });
    effect.jump_to(pose.in_parent_space(&at));
    Ok(())
}

pub fn stop_spawning(engine: &mut Engine, world: WorldId, id: HandleNumber) -> Result<(), Error> {
    if let Some(id) = find_live(engine, world, id)? {
        engine.worlds.particles.stop(id);
    }
    Ok(())
}

pub fn destroy(engine: &mut Engine, world: WorldId, id: HandleNumber) -> Result<(), Error> {
    if let Some(id) = find_live(engine, world, id)? {
        let frame = engine.frame.index;
        engine.worlds.particles.destroy(id, frame, &context::script_location());
    }
    Ok(())
}

pub fn are_playing(engine: &mut Engine, world: WorldId, id: HandleNumber) -> Result<bool, Error> {
    find_live(engine, world, id).map(|id| id.is_some())
}

pub fn number(engine: &mut Engine, world: WorldId, id: Option<HandleNumber>) -> Result<u64, Error> {
    let Some(id) = id else { return Ok(engine.worlds.particles.count_in(world.0) as u64) };
    let id = find_live(engine, world, id)?;
    Ok(id.map_or(0, |id| engine.worlds.particles.count(id)) as u64)
}

pub fn find_variable(
    engine: &mut Engine,
    _: WorldId,
    name: TextArgument,
    variable: TextArgument,
) -> Result<u64, Error> {
    let resource = engine
        .worlds
        .find_particles(&mut engine.assets, name.as_str())
        .map_err(|error| engine_foundation::error!("argument #2 'name': {}", error.message))?;
    let found = engine.worlds.particles.variable(resource, variable.as_str());
    found
        .map(|index| index as u64)
        .map_err(|message| engine_foundation::error!("argument #3 'variable': {message}"))
}

pub fn set_variable(
    engine: &mut Engine,
    world: WorldId,
    id: EffectId,
    variable: Integer,
    value: Vec3,
) -> Result<(), Error> {
    in_world(engine, world, id)?;
    let effect = engine.worlds.particles.effect(id);
    let (index, count) = (variable.0, effect.variables.len());
    if index < 1 || index > count as i64 {
        return Err(engine_foundation::error!(
            "argument #3 'variable' must be 1 to {count}, as World.find_particles_variable \
             returned it, got {index}"
        ));
    }
    effect.variables[index as usize - 1] = value.to_array();
    Ok(())
}

fn flat_pose(x: f64, y: f64, angle: f64, scale: f64) -> Result<EffectTransform, Error> {
    if scale <= 0.0 {
        return Err(engine_foundation::error!("argument 'scale' must be above 0, got {scale}"));
    }
    let position = Vec3::new(x as f32, y as f32, 0.0);
    let rotation = Quat::from_rotation_z(angle as f32);
    Ok(EffectTransform { position, rotation, scale: scale as f32 })
}

#[allow(clippy::too_many_arguments)] // As the prelude passes them.
fn create_in_gui(
    engine: &mut Engine,
    gui: GuiId,
    name: TextArgument,
    x: f64,
    y: f64,
    layer: f64,
    angle: f64,
    scale: f64,
) -> Result<EffectId, Error> {
    let pose = flat_pose(x, y, angle, scale)?;
    let Some(world) = engine.drawing.guis.gui(gui).desc.world else {
        return Err(engine_foundation::error!(
            "argument #1 'gui': the Gui is in no world, and only a world moves effects"
        ));
    };
    let stage = EffectStage::Gui { gui: gui.0, layer: layer.floor() as i32 };
    engine
        .worlds
        .create_particles(
            &mut engine.assets,
            &engine.devices,
            WorldId(world),
            stage,
            name.as_str(),
            pose,
        )
        .map_err(|error| engine_foundation::error!("argument #2 'name': {}", error.message))
}

fn move_in_gui(
    engine: &mut Engine,
    gui: GuiId,
    id: EffectId,
    x: f64,
    y: f64,
    angle: f64,
    scale: f64,
) -> Result<(), Error> {
    let pose = flat_pose(x, y, angle, scale)?;
    let effect = engine.worlds.particles.effect(id);
    match effect.stage {
        EffectStage::Gui { gui: of, .. } if of == gui.0 => effect.pose = pose,
        _ => {
            return Err(engine_foundation::error!(
                "argument #2 'id': the effect plays somewhere else"
            ));
        }
    }
    Ok(())
}
