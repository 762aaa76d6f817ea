//! Hints in error messages for numbers that are handles of another kind than a function expects:
//! the kind of the handle, and the call that returns the expected kind.

use super::argument::live_kind;
use engine_foundation::{Handle, HandleKind};
use engine_runtime::Engine;
use engine_world::physics::ActorId;
use engine_world::unit::UnitId;

/// Conversions from one handle kind to another: the call that returns the other handle.
const CONVERSIONS: &[(HandleKind, HandleKind, &str)] = &[
    (HandleKind::Unit, HandleKind::Actor, "Unit.actor(unit, 1)"),
    (HandleKind::Unit, HandleKind::Camera, "Unit.camera(unit, 1)"),
    (HandleKind::Unit, HandleKind::Decal, "Unit.decal(unit, 1)"),
    (HandleKind::Unit, HandleKind::Level, "Unit.level(unit)"),
    (HandleKind::Unit, HandleKind::Light, "Unit.light(unit, 1)"),
    (HandleKind::Unit, HandleKind::LightOccluder, "Unit.light_occluder(unit, 1)"),
    (HandleKind::Unit, HandleKind::Mesh, "Unit.mesh(unit, 1)"),
    (HandleKind::Unit, HandleKind::Mover, "Unit.mover(unit)"),
    (HandleKind::Unit, HandleKind::PhysicsWorld, "World.physics_world(Unit.world(unit))"),
    (HandleKind::Unit, HandleKind::Sprite, "Unit.sprite(unit, 1)"),
    (HandleKind::Unit, HandleKind::Tilemap, "Unit.tilemap(unit, 1)"),
    (HandleKind::Unit, HandleKind::World, "Unit.world(unit)"),
    (HandleKind::World, HandleKind::PhysicsWorld, "World.physics_world(world)"),
    (HandleKind::World, HandleKind::SoundWorld, "World.sound_world(world)"),
    (HandleKind::Actor, HandleKind::Unit, "Actor.unit(actor)"),
    (HandleKind::Decal, HandleKind::Unit, "Decal.unit(decal)"),
    (HandleKind::Light, HandleKind::Unit, "Light.unit(light)"),
    (HandleKind::LightOccluder, HandleKind::Unit, "LightOccluder.unit(light_occluder)"),
    (HandleKind::Mesh, HandleKind::Unit, "Mesh.unit(mesh)"),
    (HandleKind::Mover, HandleKind::Actor, "Mover.actor(mover)"),
    (HandleKind::Mover, HandleKind::Unit, "Mover.unit(mover)"),
    (HandleKind::Sprite, HandleKind::Unit, "Sprite.unit(sprite)"),
    (HandleKind::Tilemap, HandleKind::Unit, "Tilemap.unit(tilemap)"),
    (HandleKind::Level, HandleKind::World, "Level.world(level)"),
];

/// Returns the calls of all conversions, for the test that checks that they exist.
#[cfg(test)]
pub fn conversions() -> impl Iterator<Item = &'static str> {
    CONVERSIONS.iter().map(|(_, _, call)| *call)
}

/// Returns the error message for a number that is a living handle of another kind than `wanted`.
#[cold]
pub fn message(engine: &Engine, wanted: HandleKind, number: f64) -> Option<String> {
    let handle = Handle::from_number(number)?;
    let kind = live_kind(engine, handle).filter(|kind| *kind != wanted)?;
    let name = match kind {
        HandleKind::Unit => engine.worlds.units.of(UnitId(handle)).resource.name.clone(),
        HandleKind::Actor => engine.worlds.physics.actor(ActorId(handle)).name.to_string(),
        _ => String::new(),
    };
    let name = if name.is_empty() { name } else { format!(" (\"{name}\")") };
    let conversion = CONVERSIONS.iter().find(|(from, to, _)| *from == kind && *to == wanted);
    let conversion = conversion.map(|(_, _, call)| format!(": write {call}")).unwrap_or_default();
    let (a, b) = (article(wanted.name()), article(kind.name()));
    Some(format!("must be {a} {}, got {b} {}{name}{conversion}", wanted.name(), kind.name()))
}

/// Returns the indefinite article for a type name. "U" is not treated as a vowel because of "unit"
/// and "user".
pub fn article(name: &str) -> &'static str {
    if name.starts_with(['A', 'E', 'I', 'O', 'a', 'e', 'i', 'o']) { "an" } else { "a" }
}
