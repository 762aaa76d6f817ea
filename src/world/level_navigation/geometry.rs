//! The static triangles of a level: of one that was spawned, and of one whose units are placed in
//! memory while it is compiled. Both are collected in the order of the level's units and their
//! actors, so that the same level has the same triangles.

use super::{LevelPart, file_of};
use crate::WorldId;
use crate::level::{LevelTransform, Levels};
use crate::physics::{ActorId, PhysicsProperties, PhysicsTables};
use crate::tilemap_collision;
use crate::tilemap_component::TilemapComponent;
use crate::tilemap_solids::{self, SolidPieces};
use crate::unit::{UnitId, Units};
use crate::unit_resource::{UnitReader, UnitResource};
use engine_foundation::{Error, HandleKind, Slots, Vec3, error};
use engine_models::{Model, Models};
use engine_navigation::bake::{BakeSource, SOURCE_TRIANGLES_MAX};
use engine_physics::{MotionType, SimulationSettings};
use engine_resource::store::ResourceStore;
use engine_tilemaps::{CollisionTable, TilemapId, Tilemaps};
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Triangles of static bodies while they are collected.
#[derive(Default)]
struct Collected {
    points: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    solids: Vec<u32>,
}

impl Collected {
    fn add(&mut self, corners: [Vec3; 3], solid: u32) -> ControlFlow<()> {
        if self.triangles.len() >= SOURCE_TRIANGLES_MAX {
            return ControlFlow::Break(());
        }
        let first = self.points.len() as u32;
        self.points.extend_from_slice(&corners);
        self.triangles.push([first, first + 1, first + 2]);
        self.solids.push(solid);
        ControlFlow::Continue(())
    }

    /// Adds solid pieces, whose numbers follow those of the solids so far.
    fn add_pieces(&mut self, pieces: &SolidPieces) -> ControlFlow<()> {
        let last = self.solids.iter().copied().max().unwrap_or(0);
        for (number, piece) in (last + 1..).zip(pieces) {
            for face in piece {
                self.add(*face, number)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn source(self, is_whole: bool) -> Result<BakeSource, Error> {
        if !is_whole {
            return Err(error!(
                "the static actors have more than {SOURCE_TRIANGLES_MAX} triangles \
                 (SOURCE_TRIANGLES_MAX): give them simpler shapes, or bake parts of the level \
                 with NavigationMesh.create_from_triangles"
            ));
        }
        let mut source = BakeSource::new(self.points, self.triangles).map_err(Error::new)?;
        source.set_solids(self.solids);
        Ok(source)
    }
}

impl PhysicsTables {
    /// Returns the triangles of the static actors of a world, and the insides of its solid tiles.
    /// There may be none.
    ///
    /// # Errors
    /// Returns an error if there are too many, or if one is too far from the origin.
    pub fn triangles_of_world(
        &self,
        world: WorldId,
        tiles: &SolidPieces,
    ) -> Result<BakeSource, Error> {
        let mut collected = Collected::default();
        let mut is_whole = true;
        if let Some(physics) = self.of_world(world) {
            let simulation = &self.world(physics).simulation;
            is_whole = simulation
                .static_triangles(|corners, solid| collected.add(corners, solid))
                .is_continue();
        }
        is_whole = is_whole && collected.add_pieces(tiles).is_continue();
        collected.source(is_whole)
    }

    /// Returns the triangles of the static actors of units, in the order of the units and of their
    /// actors, and the insides of their solid tiles. There may be none.
    ///
    /// # Errors
    /// Returns an error if there are too many, or if one is too far from the origin.
    pub fn triangles_of_units(
        &self,
        units: impl Iterator<Item = UnitId>,
        tiles: &SolidPieces,
    ) -> Result<BakeSource, Error> {
        let (mut collected, mut solids) = (Collected::default(), 0);
        for actor in units.flat_map(|unit| self.actors_of(unit)) {
            let (simulation, body) = self.body(actor);
            let each = |corners, solid| collected.add(corners, solid);
            if simulation.triangles_of(body, &mut solids, each).is_break() {
                return collected.source(false);
            }
        }
        let is_whole = collected.add_pieces(tiles).is_continue();
        collected.source(is_whole)
    }
}

impl PhysicsTables {
    /// Returns the triangles of the actors of a unit, in the space of the unit without its scale:
    /// of all that others stand on, whether they move or not. There may be none.
    ///
    /// # Errors
    /// Returns an error if there are too many, or if one is too far from the unit.
    pub fn platform_triangles(&self, unit: UnitId, units: &mut Units) -> Result<BakeSource, Error> {
        let (mut collected, mut solids) = (Collected::default(), 0);
        let scene = &mut units.scene;
        let root = (scene.world_position(unit.row(), 0), scene.world_rotation(unit.row(), 0));
        for actor in self.actors_of(unit) {
            let node = self.actor(actor).node as usize;
            let position = scene.world_position(unit.row(), node) - root.0;
            let (position, rotation) = (
                root.1.conjugate() * position,
                root.1.conjugate() * scene.world_rotation(unit.row(), node),
            );
            let (simulation, body) = self.body(actor);
            let each = |corners: [Vec3; 3], solid| {
                collected.add(corners.map(|corner| rotation * corner + position), solid)
            };
            if simulation.own_triangles_of(body, &mut solids, each).is_break() {
                return collected.source(false);
            }
        }
        collected.source(true)
    }

    /// Returns true if a unit has actors, and all of them are static.
    pub fn has_only_static_actors(&self, unit: UnitId) -> bool {
        let is_static = |actor: ActorId| {
            let (simulation, body) = self.body(actor);
            simulation.motion(body) == MotionType::Static
        };
        self.actors_of(unit).next().is_some() && self.actors_of(unit).all(is_static)
    }
}

/// A level whose units are placed in memory.
pub struct LevelGeometry {
    /// The level and those inside of it that have navigation.
    pub parts: Vec<LevelPart>,
    /// The triangles of its static actors, or the reason why they cannot be baked: there are too
    /// many, or one is too far from the origin.
    pub source: Result<BakeSource, Error>,
}

/// Tables in which the units of a level are placed.
struct Placement {
    units: Units,
    physics: PhysicsTables,
    models: HashMap<String, Model>,
    tilemaps: Tilemaps,
}

impl Placement {
    fn unit(&mut self, store: &mut ResourceStore, name: &str) -> Result<Arc<UnitResource>, Error> {
        if let Some(known) = self.units.resources.get(name) {
            return Ok(known.clone());
        }
        let reader = UnitReader::open(store, name)?;
        let model = match reader.model().map(str::to_string) {
            Some(model) => Some(self.model(store, &model)?),
            None => None,
        };
        let resource = Arc::new(reader.finish(model)?.without_references()?);
        self.units.resources.insert(name.to_string(), resource.clone());
        Ok(resource)
    }

    /// Adds the insides of the solid tiles of a map of a unit.
    fn add_tiles(
        &mut self,
        unit: UnitId,
        map: &TilemapComponent,
        tilemap: TilemapId,
        pieces: &mut SolidPieces,
    ) {
        let Some(settings) = &map.collision else { return };
        let tilemap = self.tilemaps.of(tilemap);
        let table = CollisionTable::new(tilemap.file(), settings.rules().clone());
        let placement = map.placement.in_world(false);
        let world = self.units.scene.world(unit.row(), usize::from(map.node));
        let of = (&**settings, &table);
        tilemap_solids::add_pieces(of, (tilemap, &placement), world, pieces);
    }

    /// Returns a model without entries for the renderer, which units need for their nodes.
    fn model(&mut self, store: &mut ResourceStore, name: &str) -> Result<&Model, Error> {
        if !self.models.contains_key(name) {
            let data = Models::data(store, name)?;
            let (meshes, materials) = (Vec::new(), Vec::new());
            let model = Model { name: name.to_string(), data, meshes, materials };
            self.models.insert(name.to_string(), model);
        }
        Ok(&self.models[name])
    }
}

/// Places the units of a level in memory, as if it was spawned at the origin of a world. Returns
/// `None` if its static actors are only known when it is spawned: if it bakes all actors of its
/// world.
///
/// # Errors
/// Returns an error if the level could not be spawned.
pub fn level_geometry(
    store: &mut ResourceStore,
    name: &str,
) -> Result<Option<LevelGeometry>, Error> {
    let mut worlds = Slots::new(HandleKind::World, 1);
    let world = WorldId(worlds.add(()).expect("there is room for one"));
    let (mut levels, physics) = (Levels::default(), PhysicsTables::default());
    let (units, models, tilemaps) = (Units::default(), HashMap::new(), Tilemaps::default());
    let mut placement = Placement { units, physics, models, tilemaps };
    placement.physics.properties = Some(Arc::new(PhysicsProperties::of_game(store)?));
    let simulation = placement.physics.make_world(world, SimulationSettings::DEFAULT);
    let top = levels.add(store, world, name, LevelTransform::ORIGIN, None)?;
    let mut tiles = BTreeMap::new();
    while let Some((level, index)) = levels.next_waiting(top) {
        let (of, transform) = (levels.of(level).resource.clone(), levels.of(level).transform);
        let placed = &of.units[index as usize];
        let resource = placement.unit(store, &placed.unit)?;
        let pose = transform.pose(&placed.pose, &resource.poses[0]);
        let unit = placement.units.spawn(world, &resource, &pose)?;
        levels.spawned(level, index, unit);
        if let Some(spec) = resource.template.physics.as_ref().filter(|spec| !spec.is_empty()) {
            placement.physics.spawn((unit, simulation), &mut placement.units, spec, store)?;
        }
        for map in resource.template.maps.iter().filter(|map| map.collision.is_some()) {
            let tilemap = placement.tilemaps.add(store, &map.map, map.level.as_deref())?;
            let Placement { units, physics, tilemaps, .. } = &mut placement;
            let of = (map, tilemaps.of(tilemap));
            tilemap_collision::create_static_bodies(
                (physics, simulation),
                (units, &mut *store),
                unit,
                of,
            )?;
            placement.add_tiles(unit, map, tilemap, tiles.entry(unit.row()).or_default());
            let tilemaps = &mut placement.tilemaps;
            tilemaps.remove(tilemap, 0, "");
        }
    }
    let mut parts = Vec::new();
    for level in levels.with_nested(top) {
        let of = levels.of(level);
        let (resource, transform) = (of.resource.clone(), of.transform);
        if let Some(file) = file_of(store, resource.navigation.as_ref())? {
            parts.push(LevelPart { resource, transform, file });
        }
    }
    if parts.first().is_none_or(|part| part.file.is_of_world) {
        return Ok(None);
    }
    let of_units = levels.units(top).filter_map(|unit| tiles.remove(&unit.row()));
    let tiles = of_units.flatten().collect();
    let source = placement.physics.triangles_of_units(levels.units(top), &tiles);
    Ok(Some(LevelGeometry { parts, source }))
}
