//! The row of the component `tilemap`: its fields, and what the engine does with it. The table of
//! tile maps is in tilemap.rs.

use super::WorldId;
use super::component::{ComponentField, FieldDefault, FieldKind};
use super::component_fields::{ComponentFields, GROUP, RANGE, VISIBLE, group, text};
use super::component_table::{Component, ComponentHost, ComponentView, InspectSection};
use super::instance_table::flag;
use super::render_scenes::WorldRenderScene;
use super::sprite::SpritePlacement;
use super::sprite_component::{
    LAYER, LIT, MATERIAL, PIXELS, PLANE, SetResource, TINT, inspect_hidden, inspect_material,
    placement,
};
use super::tilemap::{TilemapInstance, TilemapPiece, TilemapWalls, WallPart};
use super::tilemap_collision::{self, CollisionSettings, check_collision};
use super::unit::UnitId;
use super::unit_resource::ComponentSource;
use super::unit_template::{ResourceReference, TemplateBuilder, UnitTemplate};
use engine_foundation::error;
use engine_foundation::hash::StateHash;
use engine_foundation::{Error, log};
use engine_models::Models;
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_resource::resource_kind::kind_names;
use engine_tilemaps::{CollisionTable, chunks};
use std::sync::Arc;

/// The component `tilemap`.
pub static TILEMAP: Component = Component {
    name: "tilemap",
    doc: "Shows a map of Tiled or LDtk, with its bottom left corner at its node.",
    fields: &[
        ComponentField {
            name: "map",
            kind: FieldKind::Resource(kind_names::TILEMAP),
            default: FieldDefault::None,
            doc: "the map",
        },
        ComponentField {
            name: "level",
            kind: FieldKind::Text,
            default: FieldDefault::Described("the first"),
            doc: "the LDtk level to show ({default})",
        },
        ComponentField {
            name: "collision",
            kind: FieldKind::Checked(check_collision),
            default: FieldDefault::Described("none"),
            doc: "true for a body made from the solid tiles, or a block of settings ({default})",
        },
        ComponentField {
            name: "occludes_light",
            kind: FieldKind::Boolean,
            default: FieldDefault::Boolean(false),
            doc: "true if its solid tiles cast shadows of lights ({default})",
        },
        PIXELS,
        TINT,
        LAYER,
        PLANE,
        LIT,
        MATERIAL,
        RANGE,
        VISIBLE,
        GROUP,
    ],
    in_node_order: true,
    read,
    spawn,
    end,
    moved: Some(|scenes, rows| scenes.maps.note_moved(rows)),
    hide: Some(|scenes, row, group, reason, hidden| {
        scenes.maps.hide(row, group, reason, hidden);
    }),
    state: Some(write_state),
    inspect: Some((InspectSection::Rendering2d, inspect)),
    reload: Some(reload),
};

/// A tile map as declared in a unit's resource.
#[derive(Clone, PartialEq, Debug)]
pub struct TilemapComponent {
    pub name: String,
    pub node: u16,
    /// Name of the tile map resource.
    pub map: String,
    pub level: Option<String>,
    pub placement: SpritePlacement,
    pub visible: bool,
    pub group: u8,
    pub collision: Option<Arc<CollisionSettings>>,
    pub occludes_light: bool,
}

/// Reads a component `tilemap`.
fn read(part: &ComponentSource, node: u16, builder: &mut TemplateBuilder) -> Result<(), Error> {
    let (fields, entry) = (ComponentFields::new(&TILEMAP, part), builder.template.maps.len());
    let Some(map) = text(fields.tree, "map") else {
        return Err(error!("it names no map: map = \"maps/cave\""));
    };
    let (map, level) = (map.to_string(), text(fields.tree, "level").map(str::to_string));
    let reference = ResourceReference::Tilemap { map: map.clone(), level: level.clone() };
    // The map is created at each spawn; here it is only checked that it exists.
    builder.refer(entry, reference, |_, _, _| {});
    let set_material: SetResource = |template, entry, resolved| {
        template.maps[entry].placement.material = Some(resolved.material());
    };
    let placement = placement(fields, builder, (entry, set_material))?;
    let group = group(fields, &mut builder.template)?;
    let collision = fields.tree.get("collision").map(CollisionSettings::read).transpose()?;
    builder.template.maps.push(TilemapComponent {
        name: part.name.clone(),
        node,
        map,
        level,
        placement,
        visible: fields.boolean("visible"),
        group,
        collision: collision.flatten().map(Arc::new),
        occludes_light: fields.boolean("occludes_light"),
    });
    Ok(())
}

fn spawn(
    host: &mut ComponentHost,
    world: WorldId,
    unit: UnitId,
    template: &UnitTemplate,
) -> Result<(), Error> {
    for part in &template.maps {
        let id = host.tilemaps.add(host.store, &part.map, part.level.as_deref())?;
        host.tilemaps.of_mut(id).owner = Some(unit.0);
        let mut map = TilemapInstance {
            unit,
            node: part.node,
            map: id,
            name: part.name.clone(),
            collision: None,
            body_indices: [None; 2],
            placement: part.placement.in_world(host.is_flat(world)),
            flags: flag::NEW | if part.visible { 0 } else { flag::HIDDEN },
            group: part.group,
            sets: Vec::new(),
            pieces: Vec::new(),
            walls: None,
        };
        let filled = fill(host, world, &mut map).and_then(|()| match &part.collision {
            Some(settings) => tilemap_collision::set(host, &mut map, settings),
            None => Ok(()),
        });
        let filled = filled.and_then(|()| match part.occludes_light {
            true => {
                let rules = part.collision.as_ref().map(|settings| settings.rules().clone());
                let tilemap = host.tilemaps.of(map.map);
                let table = CollisionTable::new(tilemap.file(), rules.unwrap_or_default());
                add_walls(host, world, &mut map, table)
            }
            false => Ok(()),
        });
        // The map may be incomplete; it ends with the unit.
        host.scenes.maps.of.entry(unit.row()).or_default().push(map);
        filled?;
    }
    Ok(())
}

/// Sets the textures and pieces of a map.
fn fill(host: &mut ComponentHost, world: WorldId, map: &mut TilemapInstance) -> Result<(), Error> {
    let tilemap = host.tilemaps.of(map.map);
    let found = tilemap.sets().iter().map(|set| host.textures.find(host.store, &set.texture));
    map.sets = found.collect::<Result<_, Error>>()?;
    let all = chunks(tilemap);
    let scene = host.scenes.of(world);
    scene.check_room(all.len())?;
    map.pieces.extend(all.into_iter().map(|chunk| TilemapPiece::new(chunk, scene.take_slot())));
    let lit = map.placement.lit;
    host.scenes.new_textures.extend(map.sets.iter().map(|set| (*set, lit)));
    Ok(())
}

/// Gives a map walls that cast shadows of lights.
fn add_walls(
    host: &mut ComponentHost,
    world: WorldId,
    map: &mut TilemapInstance,
    table: CollisionTable,
) -> Result<(), Error> {
    let tilemap = host.tilemaps.of_mut(map.map);
    tilemap.has_walls = true;
    let parts = tilemap.outline_parts(&table);
    let scene = host.scenes.of(world);
    scene.check_room(parts.len())?;
    let part =
        |part| WallPart { part, draw: scene.take_slot(), mesh: None, stale: true, sent: false };
    let parts = parts.into_iter().map(part).collect();
    map.walls = Some(Box::new(TilemapWalls { table, parts }));
    Ok(())
}

/// Ends the pieces and the walls of a map.
fn empty(scene: &mut WorldRenderScene, models: &mut Models, map: &mut TilemapInstance) {
    for part in map.walls.iter_mut().flat_map(|walls| walls.parts.drain(..)) {
        scene.end(part.draw);
        if let Some(mesh) = part.mesh {
            models.remove_game_mesh(mesh);
        }
    }
    for piece in map.pieces.drain(..) {
        scene.end(piece.draw);
        if let Some(mesh) = piece.mesh {
            models.remove_game_mesh(mesh);
        }
    }
}

fn end(host: &mut ComponentHost, world: WorldId, unit: UnitId, location: &str) {
    for mut map in host.scenes.maps.of.remove(&unit.row()).unwrap_or_default() {
        empty(host.scenes.of(world), host.models, &mut map);
        host.tilemaps.remove(map.map, host.frame, location);
    }
}

fn write_state(view: &ComponentView, row: u32, hash: &mut StateHash) {
    for map in view.scenes.maps.of_unit(row) {
        hash.write_u64(view.tilemaps.of(map.map).state());
    }
}

fn inspect(view: &ComponentView, unit: UnitId, lines: &mut Vec<String>) {
    for (at, map) in view.scenes.maps.of_unit(unit.row()).iter().enumerate() {
        let tilemap = view.tilemaps.of(map.map);
        lines.push(format!(
            "tilemap {} {:?} at node {}, {} x {} cells, layer {}{}{}",
            at + 1,
            tilemap.name,
            map.node + 1,
            tilemap.map().grid.columns,
            tilemap.map().grid.rows,
            map.placement.layer,
            inspect_material(view, &map.placement),
            inspect_hidden(map.flags),
        ));
    }
}

/// Builds changed maps again. If a map is invalid, the error is reported and the previous version
/// stays.
fn reload(host: &mut ComponentHost, changed: &ChangedResources) {
    host.tilemaps.reload(changed);
    let mut maps = std::mem::take(&mut host.scenes.maps);
    for map in maps.iter_mut() {
        if !changed.has(ReloadStep::Tilemaps, &host.tilemaps.of(map.map).name) {
            continue;
        }
        if let Err(error) = host.tilemaps.renew(host.store, map.map) {
            log::error(&format!("{}: the map stays as it was", error.message));
            continue;
        }
        let world = host.units.of(map.unit).world;
        empty(host.scenes.of(world), host.models, map);
        let filled = fill(host, world, map);
        let filled = filled.and_then(|()| tilemap_collision::renew(host, map));
        // The old walls stay if the new ones cannot be made, so that the next reload makes them.
        let rules = map.walls.as_ref().map(|walls| walls.table.rules().clone());
        let filled = filled.and_then(|()| match rules {
            Some(rules) => {
                let table = CollisionTable::new(host.tilemaps.of(map.map).file(), rules);
                add_walls(host, world, map, table)
            }
            None => Ok(()),
        });
        if let Err(error) = filled {
            log::error(&error.message);
        }
        map.flags |= flag::NEW;
    }
    host.scenes.maps = maps;
}
