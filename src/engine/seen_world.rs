//! What worlds showed in the newest frame, for tests: the draw calls of their meshes, sprites, maps
//! and particles with the names of what they draw, and the lines of it in lists. What Guis show is
//! in seen.rs.

use super::Engine;
use super::seen::{color, short};
use super::sprites::FlatThing;
use crate::foundation::{Handle, Vec3};
use crate::packet::mesh::SurfaceSlot;
use crate::packet::scene::DrawSlot;
use crate::system::render::{SceneDrawKind, SceneSeen, SceneThing};
use std::collections::{BTreeMap, HashMap};

/// A draw call of a world.
#[derive(Clone, PartialEq, Debug)]
pub struct WorldDraw {
    /// The world's handle.
    pub world: Handle,
    /// Into what it goes: see [`pass`].
    pub pass: &'static str,
    /// What it draws: "mesh", "sprite", "tilemap" or "particles".
    pub what: &'static str,
    /// The name of all of them; none where they differ or have none.
    pub name: Option<String>,
    /// Which part of the mesh, from 1.
    pub part: u32,
    /// What all units that it draws were made of; none where they differ or it draws none.
    pub unit: Option<String>,
    /// The material of all of them, likewise.
    pub material: Option<String>,
    /// How many times it is drawn, or how many particles.
    pub count: u32,
}

/// Things that are alike, which a list tells in one line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Alike {
    thing: Thing,
    materials: Vec<String>,
    tint: [u8; 4],
}

/// What a draw is, by names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Thing {
    /// The unit's resource; empty for what is of no unit.
    unit: String,
    what: &'static str,
    name: String,
}

/// What the draws of a world are.
type Things = HashMap<DrawSlot, Thing>;

/// Shadow maps, what is not seen through, what is, particles.
fn pass(kind: SceneDrawKind) -> &'static str {
    match kind {
        SceneDrawKind::SunShadow(_) => "sun shadow",
        SceneDrawKind::SpotShadow(_) => "spot shadow",
        SceneDrawKind::Solid => "solid",
        SceneDrawKind::Blended => "blended",
        SceneDrawKind::Particles => "particles",
    }
}

/// The one that all are.
fn common<'a>(mut all: impl Iterator<Item = Option<&'a String>>) -> Option<String> {
    let first = all.next()??;
    all.all(|one| one == Some(first)).then(|| first.clone())
}

impl Engine {
    /// The draw calls of worlds in the newest frame, in order.
    pub fn world_draws(&self) -> Vec<WorldDraw> {
        let surfaces = self.surface_names();
        let mut known = BTreeMap::new();
        let draw = |seen: SceneSeen| {
            let world = Handle::from_number(seen.scene as f64)?;
            let things = known.entry(seen.scene).or_insert_with(|| self.things(world));
            let is_cloud = seen.draw.kind == SceneDrawKind::Particles;
            let of = |one: &SceneThing| things.get(&one.slot).filter(|_| !is_cloud);
            let first = seen.things.first().and_then(of);
            let names = seen.things.iter().map(|one| of(one).map(|thing| &thing.name));
            let units = seen.things.iter().map(|one| of(one).map(|thing| &thing.unit));
            let materials = seen.things.iter().map(|one| surfaces.get(&one.surface));
            let own = Some(seen.mesh.clone()).filter(|name| !name.is_empty());
            Some(WorldDraw {
                world,
                pass: pass(seen.draw.kind),
                what: if is_cloud { "particles" } else { first.map_or("mesh", |it| it.what) },
                name: if first.is_some() { common(names) } else { own },
                part: seen.draw.part + 1,
                unit: common(units),
                material: common(materials).filter(|_| !is_cloud),
                count: seen.draw.instances,
            })
        };
        self.scene_seen().into_iter().filter_map(draw).collect()
    }

    /// The lines of a list for what a view shows of its world: things that are alike, by the names
    /// of their units; then particles.
    pub(super) fn world_words(&self, view: usize) -> String {
        let surfaces = self.surface_names();
        let (mut known, mut shown, mut clouds) = (None, BTreeMap::new(), Vec::new());
        for seen in self.scene_seen().into_iter().filter(|seen| seen.draw.view == view) {
            let Some(world) = Handle::from_number(seen.scene as f64) else { continue };
            let known = known.get_or_insert_with(|| self.things(world));
            match seen.draw.kind {
                SceneDrawKind::SunShadow(_) | SceneDrawKind::SpotShadow(_) => {}
                SceneDrawKind::Particles => {
                    let places: Vec<Vec3> = seen.things.iter().map(|one| one.place).collect();
                    let count = seen.draw.instances;
                    clouds.push(format!("  particles, {count} of them, {}\n", around(&places)));
                }
                SceneDrawKind::Solid | SceneDrawKind::Blended => {
                    for one in seen.things {
                        let thing = known.get(&one.slot).cloned().unwrap_or_else(|| Thing {
                            unit: String::new(),
                            what: "mesh",
                            name: seen.mesh.clone(),
                        });
                        // A mesh of several parts is one thing.
                        let (_, _, materials) =
                            shown.entry(one.slot.0).or_insert((thing, one, Vec::new()));
                        materials.push(surfaces.get(&one.surface).cloned().unwrap_or_default());
                    }
                }
            }
        }
        let mut alike: BTreeMap<Alike, Vec<Vec3>> = BTreeMap::new();
        for (thing, one, mut materials) in shown.into_values() {
            materials.sort();
            let key = Alike { thing, materials, tint: one.tint };
            alike.entry(key).or_default().push(one.place);
        }
        clouds.sort();
        alike.iter().map(|(alike, places)| alike.words(places)).chain(clouds).collect()
    }

    /// The names of materials by their surfaces.
    fn surface_names(&self) -> HashMap<SurfaceSlot, String> {
        let all = || self.materials.slots().iter().map(|(_, material)| material);
        let meshes = all().filter_map(|it| Some((it.surface()?, it.name.clone())));
        let painted = self.scenes.pictures.painted().filter_map(|(surface, slot)| {
            let material = all().find(|it| it.surface().is_none() && it.slot == slot)?;
            Some((surface, material.name.clone()))
        });
        meshes.chain(painted).collect()
    }

    fn things(&self, world: Handle) -> Things {
        let of = |row: u32, what: &'static str, name: &str| {
            let unit = self.units.slots.at(row as usize).filter(|unit| unit.world.0 == world)?;
            Some(Thing { unit: unit.resource.name.clone(), what, name: name.to_string() })
        };
        let mut things = Things::new();
        for (_, mesh) in self.scenes.meshes.slots.iter() {
            let thing = of(mesh.unit, "mesh", &self.models.entry(mesh.mesh).name);
            things.extend(thing.map(|thing| (mesh.draw, thing)));
        }
        self.scenes.flat_owners(|draw, row, flat| {
            let thing = match flat {
                FlatThing::Sprite(picture) => of(row, "sprite", self.picture_name(picture)),
                FlatThing::Map(map) => of(row, "tilemap", &self.tilemaps.of(map).name),
            };
            things.extend(thing.map(|thing| (draw, thing)));
        });
        things
    }
}

impl Alike {
    fn words(&self, places: &[Vec3]) -> String {
        let Thing { unit, what, name } = &self.thing;
        let mut words = format!("  {what} {name:?}");
        if !unit.is_empty() {
            words += &format!(" of {unit:?}");
        }
        let named: Vec<String> = self.materials.iter().map(|name| format!("{name:?}")).collect();
        if self.materials.iter().any(|name| !name.is_empty()) {
            words += &format!(", material {}", named.join(" "));
        }
        if places.len() > 1 {
            words += &format!(", {} of them", places.len());
        }
        format!("{words}, {}, {}\n", around(places), color(self.tint))
    }
}

/// Where places are: the one, or the box of all.
fn around(places: &[Vec3]) -> String {
    let words = |place: Vec3| place.to_array().map(short).join(" ");
    let min = places.iter().copied().reduce(Vec3::min).unwrap_or_default();
    let max = places.iter().copied().reduce(Vec3::max).unwrap_or_default();
    match places.len() {
        1 => format!("at {}", words(min)),
        _ => format!("from {} to {}", words(min), words(max)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_that_are_alike_are_one_line_with_the_box_of_their_places() {
        let (unit, name) = ("units/barrel".to_string(), "models/barrel/lid".to_string());
        let one = Alike {
            thing: Thing { unit, what: "mesh", name },
            materials: vec!["wood".to_string()],
            tint: [255, 0, 16, 255],
        };
        let start = "  mesh \"models/barrel/lid\" of \"units/barrel\", material \"wood\"";
        let words = one.words(&[Vec3::new(1.0, -0.001, 2.126)]);
        assert_eq!(words, format!("{start}, at 1 0 2.13, #ff0010ff\n"));
        let words = one.words(&[Vec3::new(1.0, 5.0, 2.0), Vec3::new(0.5, 7.0, 2.0)]);
        assert_eq!(words, format!("{start}, 2 of them, from 0.5 5 2 to 1 7 2, #ff0010ff\n"));
        let thing = Thing { unit: String::new(), ..one.thing };
        let bare = Alike { thing, materials: vec![String::new()], tint: one.tint };
        let words = bare.words(&[Vec3::ZERO]);
        assert_eq!(words, "  mesh \"models/barrel/lid\", at 0 0 0, #ff0010ff\n");
    }

    #[test]
    fn a_name_is_told_only_where_all_have_it() {
        let (a, b) = ("a".to_string(), "b".to_string());
        assert_eq!(common([Some(&a), Some(&a)].into_iter()), Some(a.clone()));
        assert_eq!(common([Some(&a), Some(&b)].into_iter()), None);
        assert_eq!(common([Some(&a), None].into_iter()), None);
        assert_eq!(common([None, Some(&a)].into_iter()), None);
        assert_eq!(common(std::iter::empty()), None);
    }
}
