//! Numbers that are handles of another kind than a function wants: what they are, and the way from
//! there to what is wanted. Words of errors alone.

use super::arg::living;
use crate::engine::Engine;
use crate::foundation::{Handle, Kind};
use crate::world::physics::ActorId;
use crate::world::unit::UnitId;

/// From a kind to another: the call that gives it.
const WAYS: &[(Kind, Kind, &str)] = &[
    (Kind::Unit, Kind::Actor, "Unit.actor(unit, 1)"),
    (Kind::Unit, Kind::Camera, "Unit.camera(unit, 1)"),
    (Kind::Unit, Kind::Level, "Unit.level(unit)"),
    (Kind::Unit, Kind::Light, "Unit.light(unit, 1)"),
    (Kind::Unit, Kind::Mesh, "Unit.mesh(unit, 1)"),
    (Kind::Unit, Kind::Mover, "Unit.mover(unit)"),
    (Kind::Unit, Kind::PhysicsWorld, "World.physics_world(Unit.world(unit))"),
    (Kind::Unit, Kind::Sprite, "Unit.sprite(unit, 1)"),
    (Kind::Unit, Kind::Tilemap, "Unit.tilemap(unit, 1)"),
    (Kind::Unit, Kind::World, "Unit.world(unit)"),
    (Kind::World, Kind::PhysicsWorld, "World.physics_world(world)"),
    (Kind::World, Kind::SoundWorld, "World.sound_world(world)"),
    (Kind::Actor, Kind::Unit, "Actor.unit(actor)"),
    (Kind::Light, Kind::Unit, "Light.unit(light)"),
    (Kind::Mesh, Kind::Unit, "Mesh.unit(mesh)"),
    (Kind::Mover, Kind::Actor, "Mover.actor(mover)"),
    (Kind::Mover, Kind::Unit, "Mover.unit(mover)"),
    (Kind::Sprite, Kind::Unit, "Sprite.unit(sprite)"),
    (Kind::Tilemap, Kind::Unit, "Tilemap.unit(tilemap)"),
    (Kind::Level, Kind::World, "Level.world(level)"),
];

/// The call of every way, for the test that all of them are there.
#[cfg(test)]
pub fn ways() -> impl Iterator<Item = &'static str> {
    WAYS.iter().map(|(_, _, call)| *call)
}

/// The words for a number that is the living handle of another kind than `wanted`.
#[cold]
pub fn words(engine: &Engine, wanted: Kind, number: f64) -> Option<String> {
    let handle = Handle::from_number(number)?;
    let kind = living(engine, handle).filter(|kind| *kind != wanted)?;
    let name = match kind {
        Kind::Unit => engine.units.of(UnitId(handle)).resource.name.clone(),
        Kind::Actor => engine.physics.actor(ActorId(handle)).name.to_string(),
        _ => String::new(),
    };
    let name = if name.is_empty() { name } else { format!(" (\"{name}\")") };
    let way = WAYS.iter().find(|(from, to, _)| *from == kind && *to == wanted);
    let way = way.map(|(_, _, call)| format!(": write {call}")).unwrap_or_default();
    let (a, b) = (article(wanted.name()), article(kind.name()));
    Some(format!("must be {a} {}, got {b} {}{name}{way}", wanted.name(), kind.name()))
}

/// The article before a name of ours: units and users begin with another sound.
pub fn article(name: &str) -> &'static str {
    if name.starts_with(['A', 'E', 'I', 'O', 'a', 'e', 'i', 'o']) { "an" } else { "a" }
}
