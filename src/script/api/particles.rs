//! The functions of `World` and `Gui` that play effects of particles. Their rows in `World` are in
//! world.rs; those that the prelude's lua/particles.lua stands on are here.

use crate::engine::Engine;
use crate::foundation::{Error, Handle, Kind, Mat4, Quat, Vec3};
use crate::script::arg::{AnyNumber, Integer, Text};
use crate::script::cx;
use crate::script::row::{Module, func, module};
use crate::system::gui::GuiId;
use crate::system::particles::pose::Pose;
use crate::system::particles::{EffectId, Link, Orphaned, Stage};
use crate::world::WorldId;
use crate::world::unit::UnitId;

/// What lua/particles.lua stands on, in its table `core`; the functions carry the names by which
/// games know them for the words of errors.
pub static GUI_CORE: Module = module(
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

/// A pose of the arguments that scripts gave.
fn pose(
    position: Option<Vec3>,
    rotation: Option<Quat>,
    scale: Option<Vec3>,
) -> Result<Pose, Error> {
    let rotation = rotation.unwrap_or(Quat::IDENTITY);
    if (rotation.length_squared() - 1.0).abs() > 1e-3 {
        return Err(crate::error!(
            "argument 'rotation' must have length 1, this one has {}: use Quaternion.normalize",
            rotation.length()
        ));
    }
    let scale = scale.map_or(1.0, |scale| scale.element_sum() / 3.0);
    if scale <= 0.0 {
        return Err(crate::error!("argument 'scale' must be above 0, its mean is {scale}"));
    }
    Ok(Pose { position: position.unwrap_or(Vec3::ZERO), rotation, scale })
}

pub fn create(
    engine: &mut Engine,
    world: WorldId,
    name: Text,
    position: Option<Vec3>,
    rotation: Option<Quat>,
    scale: Option<Vec3>,
) -> Result<EffectId, Error> {
    let pose = pose(position, rotation, scale)?;
    engine
        .create_particles(world, Stage::World, name.as_str(), pose)
        .map_err(|fault| crate::error!("argument #2 'name': {}", fault.message))
}

/// Refuses an effect of another world.
fn in_world(engine: &mut Engine, world: WorldId, id: EffectId) -> Result<(), Error> {
    match engine.particles.effect(id).world == world.0 {
        true => Ok(()),
        false => Err(crate::error!("argument #2 'id': the effect is in another world")),
    }
}

/// An effect that may have ended: none then.
fn may_live(engine: &mut Engine, world: WorldId, id: AnyNumber) -> Result<Option<EffectId>, Error> {
    let handle = Handle::from_number(id.0);
    let handle = handle.filter(|handle| Kind::of(*handle) == Some(Kind::ParticleEffect));
    let Some(handle) = handle else {
        let words = "argument #2 'id' must be what create_particles returned, got the number";
        return Err(crate::error!("{words} {}", id.0));
    };
    if engine.particles.slots().get(handle).is_none() {
        return Ok(None);
    }
    in_world(engine, world, EffectId(handle)).map(|()| Some(EffectId(handle)))
}

/// Refuses an effect that is not in the world itself.
fn on_stage(engine: &mut Engine, world: WorldId, id: EffectId) -> Result<(), Error> {
    in_world(engine, world, id)?;
    match engine.particles.effect(id).stage {
        Stage::World => Ok(()),
        Stage::Gui { .. } => Err(crate::error!(
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
    let effect = engine.particles.effect(id);
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
    orphaned: Option<Text>,
) -> Result<(), Error> {
    on_stage(engine, world, id)?;
    if engine.units.of(unit).world != world {
        return Err(crate::error!("argument #3 'unit': the unit is in another world"));
    }
    let (node, count) = (node.map_or(1, |node| node.0), engine.units.scene.count(unit.row()));
    if node < 1 || node > count as i64 {
        return Err(crate::error!("argument #4 'node' must be 1 to {count}, got {node}"));
    }
    let orphaned = match &orphaned {
        None => Orphaned::Destroy,
        Some(word) => {
            let all = Orphaned::ALL;
            let found = all.iter().find(|(known, _)| *known == word.as_str());
            let hint = crate::foundation::suggest::hint(word.as_str(), all.map(|(word, _)| word));
            found.map(|(_, orphaned)| *orphaned).ok_or_else(|| {
                crate::error!(
                    "argument #6 'orphaned' must be \"destroy\", \"stop\" or \"unlink\", got \
                     \"{}\"{hint}",
                    word.as_str()
                )
            })?
        }
    };
    let pose = pose.map_or(Pose::IDENTITY, |pose| Pose::of(&pose));
    let node = node as u32 - 1;
    let at = Pose::of(&engine.units.scene.world(unit.row(), node as usize));
    let effect = engine.particles.effect(id);
    effect.link = Some(Link { unit: unit.0, node, pose, orphaned });
    effect.jump_to(pose.within(&at));
    Ok(())
}

pub fn stop_spawning(engine: &mut Engine, world: WorldId, id: AnyNumber) -> Result<(), Error> {
    if let Some(id) = may_live(engine, world, id)? {
        engine.particles.stop(id);
    }
    Ok(())
}

pub fn destroy(engine: &mut Engine, world: WorldId, id: AnyNumber) -> Result<(), Error> {
    if let Some(id) = may_live(engine, world, id)? {
        let frame = engine.frame.index;
        engine.particles.destroy(id, frame, &cx::place());
    }
    Ok(())
}

pub fn are_playing(engine: &mut Engine, world: WorldId, id: AnyNumber) -> Result<bool, Error> {
    may_live(engine, world, id).map(|id| id.is_some())
}

pub fn number(engine: &mut Engine, world: WorldId, id: Option<AnyNumber>) -> Result<f64, Error> {
    let Some(id) = id else { return Ok(engine.particles.count_in(world.0) as f64) };
    let id = may_live(engine, world, id)?;
    Ok(id.map_or(0, |id| engine.particles.count(id)) as f64)
}

pub fn find_variable(
    engine: &mut Engine,
    _: WorldId,
    name: Text,
    variable: Text,
) -> Result<f64, Error> {
    let resource = engine
        .find_particles(name.as_str())
        .map_err(|fault| crate::error!("argument #2 'name': {}", fault.message))?;
    let found = engine.particles.variable(resource, variable.as_str());
    found
        .map(|place| place as f64)
        .map_err(|words| crate::error!("argument #3 'variable': {words}"))
}

pub fn set_variable(
    engine: &mut Engine,
    world: WorldId,
    id: EffectId,
    variable: Integer,
    value: Vec3,
) -> Result<(), Error> {
    in_world(engine, world, id)?;
    let effect = engine.particles.effect(id);
    let (place, count) = (variable.0, effect.variables.len());
    if place < 1 || place > count as i64 {
        return Err(crate::error!(
            "argument #3 'variable' must be 1 to {count}, as World.find_particles_variable \
             returned it, got {place}"
        ));
    }
    effect.variables[place as usize - 1] = value.to_array();
    Ok(())
}

fn flat_pose(x: f64, y: f64, angle: f64, scale: f64) -> Result<Pose, Error> {
    if scale <= 0.0 {
        return Err(crate::error!("argument 'scale' must be above 0, got {scale}"));
    }
    let position = Vec3::new(x as f32, y as f32, 0.0);
    let rotation = Quat::from_rotation_z(angle as f32);
    Ok(Pose { position, rotation, scale: scale as f32 })
}

#[allow(clippy::too_many_arguments)] // As the prelude passes them.
fn create_in_gui(
    engine: &mut Engine,
    gui: GuiId,
    name: Text,
    x: f64,
    y: f64,
    layer: f64,
    angle: f64,
    scale: f64,
) -> Result<EffectId, Error> {
    let pose = flat_pose(x, y, angle, scale)?;
    let Some(world) = engine.guis.gui(gui).making.world else {
        return Err(crate::error!(
            "argument #1 'gui': the Gui is in no world, which would move it"
        ));
    };
    let stage = Stage::Gui { gui: gui.0, layer: layer.floor() as i32 };
    engine
        .create_particles(WorldId(world), stage, name.as_str(), pose)
        .map_err(|fault| crate::error!("argument #2 'name': {}", fault.message))
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
    let effect = engine.particles.effect(id);
    match effect.stage {
        Stage::Gui { gui: of, .. } if of == gui.0 => effect.pose = pose,
        _ => return Err(crate::error!("argument #2 'id': the effect plays somewhere else")),
    }
    Ok(())
}
