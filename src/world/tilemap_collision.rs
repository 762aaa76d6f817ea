//! Bodies of tile maps: static actors whose shapes are the outlines of colliding tiles. A map has
//! one actor for solid tiles, and one for one-way tiles. Each shape of an actor is a part of the
//! map, and is replaced when a tile there changes. The outlines are computed in
//! src/system/tilemaps/collision.

use super::component_table::ComponentHost;
use super::physics::{
    ActorDesc, ActorId, FieldError, FieldReader, PhysicsWorldId, ShapeDesc, ShapeForm,
};
use super::sprite::{SpritePlacement, SpritePlane};
use super::tilemap::{TilemapInstance, TilemapInstances};
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, Quat, Vec3, error};
use engine_physics::{BodyDesc, ColliderShape, MotionType};
use engine_tilemaps::{
    Chain, CollisionKind, CollisionRules, CollisionTable, OUTLINE_EDGES_MAX, OutlinePart, Outlines,
    Segment, outline_chains,
};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of names in each list of the settings.
const NAMES_MAX: usize = 256;
/// Depth of the bodies across the plane of the map, in metres: of maps in the plane of x and y, and
/// of upright ones. In two-dimensional worlds, bodies must not leave a map across its plane.
const FLAT_DEPTH: f32 = 16.0;
const UPRIGHT_DEPTH: f32 = 1.0;
/// Part of the depth by which the corners of chains that touch in a point differ. It keeps their
/// faces apart, whose common edges would otherwise not be smooth.
const CORNER_DIFFERENCE: f32 = 1e-3;
/// Location that messages about handles of replaced actors show.
const LOCATION: &str = "a change of the tiles of its map";

const FIELDS: [&str; 8] =
    ["depth", "filter", "friction", "layers", "material", "one_way", "restitution", "solid"];

/// Settings of the collision of a tile map.
#[derive(Clone, PartialEq, Debug)]
pub struct CollisionSettings {
    rules: CollisionRules,
    /// Depth in metres; `None` depends on the plane of the map.
    depth: Option<f32>,
    filter: String,
    material: Option<String>,
    friction: Option<f32>,
    restitution: Option<f32>,
}

/// Checks the field `collision` of a tile map.
pub(super) fn check_collision(tree: &SjsonTree, _: bool) -> Result<(), FieldError> {
    CollisionSettings::read(tree).map(|_| ())
}

impl CollisionSettings {
    /// Reads the settings: `true`, a block, or `false` for none.
    ///
    /// # Errors
    /// Returns an error if a field is unknown or invalid.
    pub fn read(tree: &SjsonTree) -> Result<Option<CollisionSettings>, FieldError> {
        let empty = SjsonTree::Object(Vec::new());
        let tree = match tree {
            SjsonTree::Bool(false) => return Ok(None),
            SjsonTree::Bool(true) => &empty,
            SjsonTree::Object(_) => tree,
            _ => {
                let must = "'collision' must be true, false, or a block: collision = { solid = \
                            [\"wall\"] }";
                return Err(FieldError::new(must.to_string()));
            }
        };
        let fields = FieldReader::of(tree, "'collision'", &FIELDS)?;
        let names = |key: &str| {
            let must = format!("a list of at most {NAMES_MAX} names (NAMES_MAX)");
            let names = fields.texts(key, &must)?;
            match names.as_ref().is_some_and(|names| names.len() > NAMES_MAX) {
                true => Err(fields.invalid(key, &must)),
                false => Ok(names.map(|names| names.into_iter().map(String::from).collect())),
            }
        };
        let default = CollisionRules::default();
        let rules = CollisionRules {
            solid: names("solid")?.unwrap_or(default.solid),
            one_way: names("one_way")?.unwrap_or(default.one_way),
            layers: names("layers")?.unwrap_or(default.layers),
        };
        let filter = fields.text("filter", "the name of a collision filter")?;
        let material = fields.text("material", "the name of a physics material")?;
        Ok(Some(CollisionSettings {
            rules,
            depth: fields.positive("depth")?,
            filter: filter.unwrap_or("default").to_string(),
            material: material.map(String::from),
            friction: fields.number("friction", 0.0, 1e3, "a number from 0 on")?,
            restitution: fields.number("restitution", 0.0, 1.0, "a number from 0 to 1")?,
        }))
    }

    /// Returns the rules that decide which tiles collide.
    pub fn rules(&self) -> &CollisionRules {
        &self.rules
    }

    /// Returns the shapes of outlines. One-way platforms are shapes of their own, because a
    /// character passes a shape as a whole.
    fn shapes(
        &self,
        kind: CollisionKind,
        edges: &[Segment],
        placement: &SpritePlacement,
    ) -> Vec<ColliderShape> {
        let depth = self.depth.unwrap_or(match placement.plane {
            SpritePlane::Flat => FLAT_DEPTH,
            SpritePlane::Upright | SpritePlane::OfWorld => UPRIGHT_DEPTH,
        });
        let chains = outline_chains(edges);
        let count = match kind {
            CollisionKind::Solid => chains.len().max(1),
            CollisionKind::OneWay => 1,
        };
        chains.chunks(count).map(|chains| surface(chains, placement, depth)).collect()
    }

    /// Returns an actor with these shapes.
    fn actor(
        &self,
        name: String,
        node: &str,
        kind: CollisionKind,
        shapes: Vec<ColliderShape>,
    ) -> ActorDesc {
        let shape = |shape: ColliderShape| ShapeDesc {
            form: ShapeForm::Collider(shape),
            position: Vec3::ZERO,
            rotation: Quat::IDENTITY,
        };
        ActorDesc {
            name,
            node: Some(node.to_string()),
            trigger: false,
            shapes: shapes.into_iter().map(shape).collect(),
            body: BodyDesc {
                motion: MotionType::Static,
                one_way: kind == CollisionKind::OneWay,
                ..BodyDesc::DEFAULT
            },
            filter: self.filter.clone(),
            material: self.material.clone(),
            friction: self.friction,
            restitution: self.restitution,
            density: None,
        }
    }
}

/// Collision of a tile map of a unit.
pub struct TilemapCollision {
    settings: Arc<CollisionSettings>,
    table: CollisionTable,
    /// Bodies in the order of [`KINDS`].
    bodies: [TileBody; 2],
}

/// Kinds of the bodies of a map.
const KINDS: [CollisionKind; 2] = [CollisionKind::Solid, CollisionKind::OneWay];

/// One of the bodies of a map.
#[derive(Default)]
struct TileBody {
    actor: Option<ActorId>,
    /// Parts of the map that it has, in the order of the actor's shapes.
    parts: Vec<BodyPart>,
    /// Index of the actor in its unit, from 0.
    index: Option<usize>,
}

/// The shapes of a body that are made from a part of the map.
struct BodyPart {
    part: OutlinePart,
    edges: usize,
    /// Indices of the shapes in the actor.
    shapes: Range<usize>,
}

/// Returns the edges of a kind.
fn edges_of(outlines: &Outlines, kind: CollisionKind) -> &[Segment] {
    match kind {
        CollisionKind::Solid => &outlines.solid,
        CollisionKind::OneWay => &outlines.one_way,
    }
}

/// Gives a map the collision of these settings, or takes it away. The map must not have one.
///
/// # Errors
/// Returns an error if the filter or the material does not exist, or if the outlines have too many
/// edges.
pub(super) fn begin(
    host: &mut ComponentHost,
    map: &mut TilemapInstance,
    settings: &Arc<CollisionSettings>,
) -> Result<(), Error> {
    let tilemap = host.tilemaps.of_mut(map.map);
    tilemap.has_body = true;
    map.collision = Some(Box::new(TilemapCollision {
        settings: settings.clone(),
        table: CollisionTable::new(tilemap.file(), settings.rules.clone()),
        bodies: Default::default(),
    }));
    build(host, map, &KINDS)
}

/// Replaces the collision of a map, or removes it.
///
/// # Errors
/// Returns the errors of [`begin`].
pub fn replace(
    host: &mut ComponentHost,
    map: &mut TilemapInstance,
    settings: Option<Arc<CollisionSettings>>,
) -> Result<(), Error> {
    if let Some(mut known) = map.collision.take() {
        known.end(host, &KINDS);
    }
    host.tilemaps.of_mut(map.map).has_body = false;
    match settings {
        Some(settings) => begin(host, map, &settings),
        None => Ok(()),
    }
}

/// Rebuilds the collision of a map after its file changed.
///
/// # Errors
/// Returns the errors of [`begin`].
pub(super) fn renew(host: &mut ComponentHost, map: &mut TilemapInstance) -> Result<(), Error> {
    let Some(collision) = &mut map.collision else { return Ok(()) };
    let tilemap = host.tilemaps.of(map.map);
    collision.table = CollisionTable::new(tilemap.file(), collision.settings.rules.clone());
    build(host, map, &KINDS)
}

/// Returns the physics of the world of a map; `None` in a world without physics.
fn physics_of(host: &ComponentHost, map: &TilemapInstance) -> Option<PhysicsWorldId> {
    host.physics.of_world(host.units.of(map.unit).world)
}

/// Builds the actors of a map for some kinds, in place of older ones.
fn build(
    host: &mut ComponentHost,
    map: &mut TilemapInstance,
    kinds: &[CollisionKind],
) -> Result<(), Error> {
    let (physics, unit) = (physics_of(host, map), map.unit);
    let (Some(physics), Some(collision)) = (physics, &mut map.collision) else { return Ok(()) };
    collision.end(host, kinds);
    let tilemap = host.tilemaps.of_mut(map.map);
    tilemap.take_edited_parts();
    let mut shapes: [Vec<ColliderShape>; 2] = Default::default();
    for part in tilemap.outline_parts(&collision.table) {
        let outlines = tilemap.outlines(&collision.table, part)?;
        for kind in kinds {
            let (edges, shapes) = (edges_of(&outlines, *kind), &mut shapes[*kind as usize]);
            if edges.is_empty() {
                continue;
            }
            let parts = &mut collision.bodies[*kind as usize].parts;
            parts.push(BodyPart { part, edges: edges.len(), shapes: 0..0 });
            let last = parts.len() - 1;
            collision.check_edges(&tilemap.name)?;
            let first = shapes.len();
            shapes.extend(collision.settings.shapes(*kind, edges, &map.placement));
            collision.bodies[*kind as usize].parts[last].shapes = first..shapes.len();
        }
    }
    let resource = host.units.of(unit).resource.clone();
    let node = &resource.node_names[usize::from(map.node)];
    for (kind, shapes) in KINDS.into_iter().zip(shapes) {
        if shapes.is_empty() {
            continue;
        }
        let name = match kind {
            CollisionKind::Solid => map.name.clone(),
            CollisionKind::OneWay => format!("{} one-way", map.name),
        };
        let spec = collision.settings.actor(name, node, kind, shapes);
        let (physics, body) = ((physics, &mut *host.store), &mut collision.bodies[kind as usize]);
        let added = host.physics.create_at(unit, host.units, physics, body.index, &spec)?;
        (body.actor, body.index) = (Some(added.0), Some(added.1));
    }
    Ok(())
}

impl TilemapCollision {
    /// Destroys the actors of some kinds, unless the game did.
    fn end(&mut self, host: &mut ComponentHost, kinds: &[CollisionKind]) {
        for kind in kinds {
            let body = &mut self.bodies[*kind as usize];
            body.parts.clear();
            if let Some(actor) = body.actor.take() {
                host.physics.end_actor(actor, host.frame, LOCATION);
            }
        }
    }

    fn check_edges(&self, map: &str) -> Result<(), Error> {
        let parts = self.bodies.iter().flat_map(|body| &body.parts);
        match parts.map(|part| part.edges).sum::<usize>() > OUTLINE_EDGES_MAX {
            true => Err(error!(
                "the collision of the tile map '{map}' has more than {OUTLINE_EDGES_MAX} edges \
                 (OUTLINE_EDGES_MAX): make fewer tiles solid, or split the map"
            )),
            false => Ok(()),
        }
    }
}

/// Applies the edits of a map's tiles to its actors. An actor that the game destroyed stays so.
///
/// # Errors
/// Returns the errors of [`begin`].
pub fn apply_edits(host: &mut ComponentHost, map: &mut TilemapInstance) -> Result<(), Error> {
    let Some(collision) = &mut map.collision else { return Ok(()) };
    let tilemap = host.tilemaps.of_mut(map.map);
    let edited = tilemap.take_edited_parts();
    let mut outdated = Vec::new();
    for part in edited {
        let outlines = tilemap.outlines(&collision.table, part)?;
        for kind in KINDS {
            let edges = edges_of(&outlines, kind);
            let body = &mut collision.bodies[kind as usize];
            let is_destroyed = |actor: ActorId| host.physics.actors.get(actor.0).is_none();
            if outdated.contains(&kind) || body.actor.is_some_and(is_destroyed) {
                continue;
            }
            let known = body.parts.iter_mut().find(|known| known.part == part);
            let shapes = collision.settings.shapes(kind, edges, &map.placement);
            let count = known.as_ref().map_or(0, |known| known.shapes.len());
            if shapes.len() != count {
                outdated.push(kind);
                continue;
            }
            let (Some(known), Some(actor)) = (known, body.actor) else { continue };
            known.edges = edges.len();
            for (index, shape) in known.shapes.clone().zip(&shapes) {
                host.physics.set_shape(host.units, actor, index, shape)?;
            }
        }
        collision.check_edges(&tilemap.name)?;
    }
    match outdated.is_empty() {
        true => Ok(()),
        false => build(host, map, &outdated),
    }
}

impl TilemapInstances {
    /// Marks all shapes of the maps of a world as outdated, after a snapshot of its physics was
    /// restored: the tiles are not part of the snapshot.
    pub fn note_restored_bodies(
        &self,
        tilemaps: &mut engine_tilemaps::Tilemaps,
        mut is_of_world: impl FnMut(&TilemapInstance) -> bool,
    ) {
        for map in self.iter().filter(|map| is_of_world(map)) {
            let Some(collision) = &map.collision else { continue };
            let parts = collision.bodies.iter().flat_map(|body| &body.parts);
            let parts = parts.map(|part| part.part);
            tilemaps.of_mut(map.map).mark_edited_parts(parts);
        }
    }
}

/// Returns the outer faces of chains.
fn surface(chains: &[Chain], placement: &SpritePlacement, depth: f32) -> ColliderShape {
    let to_node = placement.plane_to_node();
    let metres = 1.0 / f64::from(placement.pixels_per_metre);
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    let mut uses: HashMap<[u64; 2], u16> = HashMap::new();
    for chain in chains {
        let (first, count) = (points.len() as u32, chain.points.len() as u32);
        for point in &chain.points {
            let uses = uses.entry(point.map(f64::to_bits)).or_default();
            let half = depth * 0.5 * (1.0 - CORNER_DIFFERENCE * f32::from(*uses));
            *uses = uses.saturating_add(1);
            let [x, y] = point.map(|at| (at * metres) as f32);
            for side in [-half, half] {
                points.push(to_node.transform_point3(Vec3::new(x, side, y)));
            }
        }
        let edges = if chain.is_closed { count } else { count - 1 };
        for at in 0..edges {
            // The solid side is on the left, and the faces point to the right.
            let [from, to] = [at, (at + 1) % count].map(|at| first + at * 2);
            triangles.push([from, to + 1, to]);
            triangles.push([from, from + 1, to + 1]);
        }
    }
    ColliderShape::Surface { points, triangles }
}
