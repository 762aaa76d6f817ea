//! Recorded output of worlds in the newest frame, for tests: the draw calls of their meshes,
//! sprites, tile maps and particles with the names of the drawn objects, and the lines for text
//! descriptions. The output of Guis is in frame_description.rs.

use super::frame_description::{color, short};
use super::sprite_draws::SpriteOrTilemap;
use super::{Assets, Engine, Worlds};
use engine_foundation::{Handle, Vec3};
use engine_frame_packet::mesh::SurfaceSlot;
use engine_frame_packet::scene::DrawSlot;
use engine_render::{RecordedObject, RecordedSceneDraw, SceneDrawKind};
use std::collections::{BTreeMap, HashMap};

/// A draw call of a world.
#[derive(Clone, PartialEq, Debug)]
pub struct WorldDraw {
    /// Handle of the world.
    pub world: Handle,
    /// Render pass: see [`pass`].
    pub pass: &'static str,
    /// Type of the drawn objects: "mesh", "sprite", "tilemap" or "particles".
    pub kind: &'static str,
    /// Common name of all drawn objects; `None` if the names differ or are missing.
    pub name: Option<String>,
    /// Part of the mesh, from 1.
    pub part: u32,
    /// Common resource of all drawn units; `None` if the resources differ or no unit is drawn.
    pub unit: Option<String>,
    /// Common material of all drawn objects; `None` if the materials differ or are missing.
    pub material: Option<String>,
    /// Number of instances or particles.
    pub count: u32,
}

/// Equal draws, which a description combines into one line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct SimilarDraws {
    object: NamedDraw,
    materials: Vec<String>,
    tint: [u8; 4],
}

/// Names of a drawn object.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct NamedDraw {
    /// Resource of the unit; empty for an object without a unit.
    unit: String,
    kind: &'static str,
    name: String,
}

/// Names of the drawn objects of a world, by draw slot.
type WorldDraws = HashMap<DrawSlot, NamedDraw>;

/// Returns the name of a render pass: shadow maps, opaque objects, blended objects, particles.
fn pass(kind: SceneDrawKind) -> &'static str {
    match kind {
        SceneDrawKind::SunShadow(_) => "sun shadow",
        SceneDrawKind::SpotShadow => "spot shadow",
        SceneDrawKind::OmniShadow(_) => "omni shadow",
        SceneDrawKind::Solid => "solid",
        SceneDrawKind::Blended => "blended",
        SceneDrawKind::Particles => "particles",
    }
}

/// Returns the common value of all items, or `None` if they differ.
fn common<'a>(mut all: impl Iterator<Item = Option<&'a String>>) -> Option<String> {
    let first = all.next()??;
    all.all(|one| one == Some(first)).then(|| first.clone())
}

impl Engine {
    /// Returns the draw calls of worlds in the newest frame, in order.
    pub fn world_draws(&self) -> Vec<WorldDraw> {
        let surfaces = self.assets.surface_names();
        let mut known = BTreeMap::new();
        let draw = |recorded: RecordedSceneDraw| {
            let world = Handle::from_number(recorded.scene as f64)?;
            let objects = known
                .entry(recorded.scene)
                .or_insert_with(|| self.worlds.objects(&self.assets, world));
            let is_cloud = recorded.draw.kind == SceneDrawKind::Particles;
            let of = |one: &RecordedObject| objects.get(&one.slot).filter(|_| !is_cloud);
            let first = recorded.objects.first().and_then(of);
            let names = recorded.objects.iter().map(|one| of(one).map(|object| &object.name));
            let units = recorded.objects.iter().map(|one| of(one).map(|object| &object.unit));
            let materials = recorded.objects.iter().map(|one| surfaces.get(&one.surface));
            let own = Some(recorded.mesh.clone()).filter(|name| !name.is_empty());
            Some(WorldDraw {
                world,
                pass: pass(recorded.draw.kind),
                kind: if is_cloud { "particles" } else { first.map_or("mesh", |it| it.kind) },
                name: if first.is_some() { common(names) } else { own },
                part: recorded.draw.part + 1,
                unit: common(units),
                material: common(materials).filter(|_| !is_cloud),
                count: recorded.draw.instances,
            })
        };
        self.drawing.recorded_scene_draws().into_iter().filter_map(draw).collect()
    }

    /// Returns the description lines for the world in a view: equal objects combined, by the names
    /// of their units; then particles.
    pub(super) fn describe_world_draws(&self, view: usize) -> String {
        let surfaces = self.assets.surface_names();
        let (mut known, mut shown, mut clouds) = (None, BTreeMap::new(), Vec::new());
        for recorded in self
            .drawing
            .recorded_scene_draws()
            .into_iter()
            .filter(|recorded| recorded.draw.view == view)
        {
            let Some(world) = Handle::from_number(recorded.scene as f64) else { continue };
            let known = known.get_or_insert_with(|| self.worlds.objects(&self.assets, world));
            match recorded.draw.kind {
                SceneDrawKind::SunShadow(_)
                | SceneDrawKind::SpotShadow
                | SceneDrawKind::OmniShadow(_) => {}
                SceneDrawKind::Particles => {
                    let positions: Vec<Vec3> =
                        recorded.objects.iter().map(|one| one.position).collect();
                    let count = recorded.draw.instances;
                    clouds.push(format!(
                        "  particles, {count} of them, {}\n",
                        describe_bounds(&positions)
                    ));
                }
                SceneDrawKind::Solid | SceneDrawKind::Blended => {
                    for one in recorded.objects {
                        let object = known.get(&one.slot).cloned().unwrap_or_else(|| NamedDraw {
                            unit: String::new(),
                            kind: "mesh",
                            name: recorded.mesh.clone(),
                        });
                        // A mesh with several parts counts as one object.
                        let (_, _, materials) =
                            shown.entry(one.slot.0).or_insert((object, one, Vec::new()));
                        materials.push(surfaces.get(&one.surface).cloned().unwrap_or_default());
                    }
                }
            }
        }
        let mut alike: BTreeMap<SimilarDraws, Vec<Vec3>> = BTreeMap::new();
        for (object, one, mut materials) in shown.into_values() {
            materials.sort();
            let key = SimilarDraws { object, materials, tint: one.tint };
            alike.entry(key).or_default().push(one.position);
        }
        clouds.sort();
        alike.iter().map(|(alike, positions)| alike.describe(positions)).chain(clouds).collect()
    }
}

impl Assets {
    /// Returns the names of materials by surface.
    fn surface_names(&self) -> HashMap<SurfaceSlot, String> {
        let all = || self.materials.slots().iter().map(|(_, material)| material);
        let meshes = all().filter_map(|it| Some((it.surface()?, it.name.clone())));
        let sprites = self.sprites.surfaces_with_material().filter_map(|(surface, slot)| {
            let material = all().find(|it| it.surface().is_none() && it.slot == slot)?;
            Some((surface, material.name.clone()))
        });
        meshes.chain(sprites).collect()
    }
}

impl Worlds {
    fn objects(&self, assets: &Assets, world: Handle) -> WorldDraws {
        let of = |row: u32, kind: &'static str, name: &str| {
            let unit = self.units.slots.at(row as usize).filter(|unit| unit.world.0 == world)?;
            Some(NamedDraw { unit: unit.resource.name.clone(), kind, name: name.to_string() })
        };
        let mut objects = WorldDraws::new();
        for (_, mesh) in self.scenes.meshes.slots.iter() {
            let object = of(mesh.unit, "mesh", &assets.models.entry(mesh.mesh).name);
            objects.extend(object.map(|object| (mesh.draw, object)));
        }
        self.flat_owners(|draw, row, flat| {
            let object = match flat {
                SpriteOrTilemap::Sprite(picture) => {
                    of(row, "sprite", assets.textures.name(picture))
                }
                SpriteOrTilemap::Map(map) => of(row, "tilemap", &assets.tilemaps.of(map).name),
            };
            objects.extend(object.map(|object| (draw, object)));
        });
        objects
    }
}

impl SimilarDraws {
    fn describe(&self, positions: &[Vec3]) -> String {
        let NamedDraw { unit, kind, name } = &self.object;
        let mut description = format!("  {kind} {name:?}");
        if !unit.is_empty() {
            description += &format!(" of {unit:?}");
        }
        let named: Vec<String> = self.materials.iter().map(|name| format!("{name:?}")).collect();
        if self.materials.iter().any(|name| !name.is_empty()) {
            description += &format!(", material {}", named.join(" "));
        }
        if positions.len() > 1 {
            description += &format!(", {} of them", positions.len());
        }
        format!("{description}, {}, {}\n", describe_bounds(positions), color(self.tint))
    }
}

/// Describes positions: a single one, or the bounding box of several.
fn describe_bounds(positions: &[Vec3]) -> String {
    let numbers = |position: Vec3| position.to_array().map(short).join(" ");
    let min = positions.iter().copied().reduce(Vec3::min).unwrap_or_default();
    let max = positions.iter().copied().reduce(Vec3::max).unwrap_or_default();
    match positions.len() {
        1 => format!("at {}", numbers(min)),
        _ => format!("from {} to {}", numbers(min), numbers(max)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_draws_are_one_line_with_their_bounding_box() {
        let (unit, name) = ("units/barrel".to_string(), "models/barrel/lid".to_string());
        let one = SimilarDraws {
            object: NamedDraw { unit, kind: "mesh", name },
            materials: vec!["wood".to_string()],
            tint: [255, 0, 16, 255],
        };
        let start = "  mesh \"models/barrel/lid\" of \"units/barrel\", material \"wood\"";
        let description = one.describe(&[Vec3::new(1.0, -0.001, 2.126)]);
        assert_eq!(description, format!("{start}, at 1 0 2.13, #ff0010ff\n"));
        let description = one.describe(&[Vec3::new(1.0, 5.0, 2.0), Vec3::new(0.5, 7.0, 2.0)]);
        assert_eq!(description, format!("{start}, 2 of them, from 0.5 5 2 to 1 7 2, #ff0010ff\n"));
        let object = NamedDraw { unit: String::new(), ..one.object };
        let bare = SimilarDraws { object, materials: vec![String::new()], tint: one.tint };
        let description = bare.describe(&[Vec3::ZERO]);
        assert_eq!(description, "  mesh \"models/barrel/lid\", at 0 0 0, #ff0010ff\n");
    }

    #[test]
    fn a_name_is_written_only_if_all_draws_share_it() {
        let (a, b) = ("a".to_string(), "b".to_string());
        assert_eq!(common([Some(&a), Some(&a)].into_iter()), Some(a.clone()));
        assert_eq!(common([Some(&a), Some(&b)].into_iter()), None);
        assert_eq!(common([Some(&a), None].into_iter()), None);
        assert_eq!(common([None, Some(&a)].into_iter()), None);
        assert_eq!(common(std::iter::empty()), None);
    }
}
