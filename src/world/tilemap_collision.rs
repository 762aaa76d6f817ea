//! Bodies of tile maps: static actors whose shapes are the outlines of colliding tiles. A map has
//! one actor for solid tiles, and one for one-way tiles. Each shape of an actor belongs to a part
//! of the map, and is replaced when a tile there changes. The outlines are computed in
//! src/system/tilemaps/collision.

use super::component_table::ComponentHost;
use super::physics::{
    ActorDesc, ActorId, FieldError, FieldReader, PhysicsTables, PhysicsWorldId, ShapeDesc,
    ShapeForm,
};
use super::sprite::{SpritePlacement, SpritePlane};
use super::tilemap::{TilemapInstance, TilemapInstances};
use super::tilemap_component::TilemapComponent;
use super::unit::{UnitId, Units};
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, Quat, Vec3, error, log};
use engine_physics::{BodyDesc, ColliderShape, MotionType};
use engine_resource::store::ResourceStore;
use engine_tilemaps::{
    Chain, CollisionKind, CollisionRules, CollisionTable, OUTLINE_EDGES_MAX, OutlinePart, Outlines,
    Segment, Tilemap, outline_chains,
};
use std::collections::HashMap;
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

    /// Returns the depth of the bodies across the plane of the map, in metres.
    pub(super) fn depth(&self, placement: &SpritePlacement) -> f32 {
        self.depth.unwrap_or(match placement.plane {
            SpritePlane::Flat => FLAT_DEPTH,
            SpritePlane::Upright | SpritePlane::OfWorld => UPRIGHT_DEPTH,
        })
    }

    /// Returns the shapes of outlines. One-way platforms are shapes of their own, because a
    /// character passes a shape as a whole.
    fn shapes(
        &self,
        kind: CollisionKind,
        edges: &[Segment],
        placement: &SpritePlacement,
    ) -> Vec<ColliderShape> {
        let depth = self.depth(placement);
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

impl TilemapCollision {
    /// Returns true if the body of the solid tiles exists.
    pub(super) fn is_solid_now(&self, physics: &PhysicsTables) -> bool {
        let actor = self.bodies[CollisionKind::Solid as usize].actor;
        actor.is_some_and(|actor| physics.actors.get(actor.0).is_some())
    }

    pub(super) fn rules_of_tiles(&self) -> (&CollisionSettings, &CollisionTable) {
        (&self.settings, &self.table)
    }
}

/// Kinds of the bodies of a map.
const KINDS: [CollisionKind; 2] = [CollisionKind::Solid, CollisionKind::OneWay];

/// One of the bodies of a map.
#[derive(Default)]
struct TileBody {
    /// `None` if the map has no such tiles, or a world without physics.
    actor: Option<ActorId>,
    /// Parts of the map that have shapes.
    parts: Vec<BodyPart>,
    /// Number of the actor's shapes.
    shapes: usize,
}

/// The shapes of a body that are made from a part of the map.
struct BodyPart {
    part: OutlinePart,
    edges: usize,
    /// Indices of the shapes in the actor.
    shapes: Vec<usize>,
}

/// Returns the edges of a kind.
fn edges_of(outlines: &Outlines, kind: CollisionKind) -> &[Segment] {
    match kind {
        CollisionKind::Solid => &outlines.solid,
        CollisionKind::OneWay => &outlines.one_way,
    }
}

/// Gives a map the collision of these settings, in place of the one that it has.
///
/// # Errors
/// Returns an error if the filter or the material does not exist, or if the outlines have too many
/// edges. The map keeps its collision then.
pub(super) fn set(
    host: &mut ComponentHost,
    map: &mut TilemapInstance,
    settings: &Arc<CollisionSettings>,
) -> Result<(), Error> {
    let table = CollisionTable::new(host.tilemaps.of(map.map).file(), settings.rules.clone());
    let bodies = create_bodies(host, map, (settings, &table), &KINDS)?;
    let collision = TilemapCollision { settings: settings.clone(), table, bodies };
    let old = map.collision.replace(Box::new(collision));
    let tilemap = host.tilemaps.of_mut(map.map);
    tilemap.has_body = true;
    if let Some(message) = settings.rules.unknown_names_message(tilemap.file(), &tilemap.name) {
        let unit = &host.units.of(map.unit).resource.name;
        log::data_warning(&format!("unit \"{unit}\", component '{}'", map.name), &message);
    }
    tilemap.take_edited_parts();
    if let Some(mut old) = old {
        KINDS.into_iter().for_each(|kind| end_body(host, &mut old.bodies[kind as usize]));
    }
    for kind in KINDS {
        let bodies = map.collision.as_ref().map(|collision| &collision.bodies);
        if let Some(actor) = bodies.and_then(|bodies| bodies[kind as usize].actor) {
            list_actor(host, map, kind, actor);
        }
    }
    Ok(())
}

/// Creates the bodies of a map whose unit is placed in the memory of a compiler, as [`set`] does in
/// a world that is not two-dimensional.
///
/// # Errors
/// Returns the errors of [`set`].
pub(super) fn create_static_bodies(
    (physics, simulation): (&mut PhysicsTables, PhysicsWorldId),
    (units, store): (&mut Units, &mut ResourceStore),
    unit: UnitId,
    (part, tilemap): (&TilemapComponent, &Tilemap),
) -> Result<(), Error> {
    let Some(settings) = &part.collision else { return Ok(()) };
    let table = CollisionTable::new(tilemap.file(), settings.rules.clone());
    let placement = part.placement.in_world(false);
    let mut shapes: [Vec<ColliderShape>; 2] = Default::default();
    let mut edge_count = 0;
    for part in tilemap.outline_parts(&table) {
        let outlines = tilemap.outlines(&table, part)?;
        edge_count += outlines.len();
        check_edges(edge_count, &tilemap.name)?;
        for kind in KINDS {
            let edges = edges_of(&outlines, kind);
            if !edges.is_empty() {
                shapes[kind as usize].extend(settings.shapes(kind, edges, &placement));
            }
        }
    }
    let node = units.of(unit).resource.node_names[usize::from(part.node)].clone();
    for (kind, shapes) in KINDS.into_iter().zip(shapes) {
        if !shapes.is_empty() {
            let spec = settings.actor(part.name.clone(), &node, kind, shapes);
            let actor = physics.create_unlisted(unit, units, (simulation, &mut *store), &spec)?;
            physics.list_actor(unit, actor, None);
        }
    }
    Ok(())
}

/// Replaces the collision of a map, or removes it.
///
/// # Errors
/// Returns the errors of [`set`].
pub fn replace(
    host: &mut ComponentHost,
    map: &mut TilemapInstance,
    settings: Option<Arc<CollisionSettings>>,
) -> Result<(), Error> {
    if let Some(settings) = settings {
        return set(host, map, &settings);
    }
    if let Some(mut known) = map.collision.take() {
        KINDS.into_iter().for_each(|kind| end_body(host, &mut known.bodies[kind as usize]));
    }
    host.tilemaps.of_mut(map.map).has_body = false;
    Ok(())
}

/// Rebuilds the collision of a map after its file changed.
///
/// # Errors
/// Returns the errors of [`set`].
pub(super) fn renew(host: &mut ComponentHost, map: &mut TilemapInstance) -> Result<(), Error> {
    let Some(collision) = &map.collision else { return Ok(()) };
    let settings = collision.settings.clone();
    set(host, map, &settings)
}

/// Returns the physics of the world of a map; `None` in a world without physics.
fn physics_of(host: &ComponentHost, map: &TilemapInstance) -> Option<PhysicsWorldId> {
    host.physics.of_world(host.units.of(map.unit).world)
}

/// Creates the bodies of a map for some kinds. Their actors have no indices in the unit yet.
fn create_bodies(
    host: &mut ComponentHost,
    map: &TilemapInstance,
    (settings, table): (&CollisionSettings, &CollisionTable),
    kinds: &[CollisionKind],
) -> Result<[TileBody; 2], Error> {
    let mut bodies: [TileBody; 2] = Default::default();
    if physics_of(host, map).is_none() {
        return Ok(bodies);
    }
    let tilemap = host.tilemaps.of(map.map);
    let mut shapes: [Vec<ColliderShape>; 2] = Default::default();
    let mut edge_count = 0;
    for part in tilemap.outline_parts(table) {
        let outlines = tilemap.outlines(table, part)?;
        edge_count += outlines.len();
        check_edges(edge_count, &tilemap.name)?;
        for kind in kinds {
            let (edges, shapes) = (edges_of(&outlines, *kind), &mut shapes[*kind as usize]);
            if edges.is_empty() {
                continue;
            }
            let first = shapes.len();
            shapes.extend(settings.shapes(*kind, edges, &map.placement));
            let indices = (first..shapes.len()).collect();
            let of_part = BodyPart { part, edges: edges.len(), shapes: indices };
            bodies[*kind as usize].parts.push(of_part);
        }
    }
    let is_new = |kind: &CollisionKind| {
        map.body_indices[*kind as usize].is_none() && !shapes[*kind as usize].is_empty()
    };
    host.physics.check_indices(map.unit, KINDS.iter().filter(|kind| is_new(kind)).count())?;
    for (kind, shapes) in KINDS.into_iter().zip(shapes) {
        bodies[kind as usize].shapes = shapes.len();
        match create_actor(host, map, settings, (kind, shapes)) {
            Ok(actor) => bodies[kind as usize].actor = actor,
            Err(error) => {
                bodies.iter_mut().for_each(|body| end_body(host, body));
                return Err(error);
            }
        }
    }
    Ok(bodies)
}

/// Creates the actor of a body, without an index in the unit; none without shapes.
fn create_actor(
    host: &mut ComponentHost,
    map: &TilemapInstance,
    settings: &CollisionSettings,
    (kind, shapes): (CollisionKind, Vec<ColliderShape>),
) -> Result<Option<ActorId>, Error> {
    let Some(physics) = physics_of(host, map).filter(|_| !shapes.is_empty()) else {
        return Ok(None);
    };
    let resource = host.units.of(map.unit).resource.clone();
    let node = &resource.node_names[usize::from(map.node)];
    let name = match kind {
        CollisionKind::Solid => map.name.clone(),
        CollisionKind::OneWay => format!("{} one-way", map.name),
    };
    let spec = settings.actor(name, node, kind, shapes);
    let physics = (physics, &mut *host.store);
    host.physics.create_unlisted(map.unit, host.units, physics, &spec).map(Some)
}

/// Gives a new actor the index of its body in the unit.
fn list_actor(
    host: &mut ComponentHost,
    map: &mut TilemapInstance,
    kind: CollisionKind,
    actor: ActorId,
) {
    let index = &mut map.body_indices[kind as usize];
    *index = Some(host.physics.list_actor(map.unit, actor, *index));
}

/// Destroys the actor of a body, unless the game did.
fn end_body(host: &mut ComponentHost, body: &mut TileBody) {
    if let Some(actor) = std::mem::take(body).actor {
        host.physics.end_actor(actor, host.frame, LOCATION);
    }
}

fn check_edges(count: usize, map: &str) -> Result<(), Error> {
    match count > OUTLINE_EDGES_MAX {
        true => Err(error!(
            "the collision of the tile map '{map}' has more than {OUTLINE_EDGES_MAX} edges \
             (OUTLINE_EDGES_MAX): make fewer tiles solid, or split the map"
        )),
        false => Ok(()),
    }
}

impl TilemapCollision {
    fn edge_count(&self) -> usize {
        self.bodies.iter().flat_map(|body| &body.parts).map(|part| part.edges).sum()
    }
}

/// Applies the edits of a map's tiles to its actors. Only the shapes of edited parts change. An
/// actor that the game destroyed stays so.
///
/// # Errors
/// Returns the errors of [`set`].
pub fn apply_edits(host: &mut ComponentHost, map: &mut TilemapInstance) -> Result<(), Error> {
    let Some(mut collision) = map.collision.take() else { return Ok(()) };
    let applied = apply_to_bodies(host, map, &mut collision);
    map.collision = Some(collision);
    applied
}

fn apply_to_bodies(
    host: &mut ComponentHost,
    map: &mut TilemapInstance,
    collision: &mut TilemapCollision,
) -> Result<(), Error> {
    let edited = host.tilemaps.of_mut(map.map).take_edited_parts();
    if edited.is_empty() {
        return Ok(());
    }
    for kind in KINDS {
        rebuild_restored(host, map, collision, kind)?;
    }
    for part in edited {
        let tilemap = host.tilemaps.of(map.map);
        let outlines = tilemap.outlines(&collision.table, part)?;
        for kind in KINDS {
            let (edges, settings) = (edges_of(&outlines, kind), collision.settings.clone());
            let body = &mut collision.bodies[kind as usize];
            if !body.is_destroyed(host) {
                let shapes = settings.shapes(kind, edges, &map.placement);
                body.set_part(host, map, &settings, (kind, part, edges.len()), shapes)?;
            }
        }
        let tilemap = host.tilemaps.of(map.map);
        check_edges(collision.edge_count(), &tilemap.name)?;
    }
    Ok(())
}

/// Builds a body again, if a restored snapshot gave it another number of shapes.
fn rebuild_restored(
    host: &mut ComponentHost,
    map: &mut TilemapInstance,
    collision: &mut TilemapCollision,
    kind: CollisionKind,
) -> Result<(), Error> {
    let body = &collision.bodies[kind as usize];
    let Some(actor) = body.actor.filter(|_| !body.is_destroyed(host)) else { return Ok(()) };
    if host.physics.num_shapes(actor) == body.shapes {
        return Ok(());
    }
    let described = (&*collision.settings, &collision.table);
    let mut bodies = create_bodies(host, map, described, &[kind])?;
    let new = std::mem::take(&mut bodies[kind as usize]);
    let actor = new.actor;
    end_body(host, &mut std::mem::replace(&mut collision.bodies[kind as usize], new));
    if let Some(actor) = actor {
        list_actor(host, map, kind, actor);
    }
    Ok(())
}

impl TileBody {
    /// Returns true if the game destroyed the actor.
    fn is_destroyed(&self, host: &ComponentHost) -> bool {
        self.actor.is_some_and(|actor| host.physics.actors.get(actor.0).is_none())
    }

    /// Replaces the shapes that are made from a part of the map.
    fn set_part(
        &mut self,
        host: &mut ComponentHost,
        map: &mut TilemapInstance,
        settings: &CollisionSettings,
        (kind, part, edges): (CollisionKind, OutlinePart, usize),
        shapes: Vec<ColliderShape>,
    ) -> Result<(), Error> {
        let known = self.parts.iter().position(|known| known.part == part);
        if known.is_none() && shapes.is_empty() {
            return Ok(());
        }
        let Some(actor) = self.actor else {
            let count = shapes.len();
            let has_index = map.body_indices[kind as usize].is_some();
            host.physics.check_indices(map.unit, usize::from(!has_index))?;
            if let Some(actor) = create_actor(host, map, settings, (kind, shapes))? {
                list_actor(host, map, kind, actor);
                let part = BodyPart { part, edges, shapes: (0..count).collect() };
                *self = TileBody { actor: Some(actor), parts: vec![part], shapes: count };
            }
            return Ok(());
        };
        let at = known.unwrap_or_else(|| {
            self.parts.push(BodyPart { part, edges, shapes: Vec::new() });
            self.parts.len() - 1
        });
        self.parts[at].edges = edges;
        if shapes.is_empty() && self.parts.len() == 1 {
            end_body(host, self);
            return Ok(());
        }
        for (i, shape) in shapes.iter().enumerate() {
            match self.parts[at].shapes.get(i) {
                Some(index) => host.physics.set_shape(host.units, actor, *index, shape)?,
                None => {
                    host.physics.add_shape(host.units, actor, shape)?;
                    self.parts[at].shapes.push(self.shapes);
                    self.shapes += 1;
                }
            }
        }
        while self.parts[at].shapes.len() > shapes.len() {
            self.remove_last_shape(host, actor, at);
        }
        if shapes.is_empty() {
            self.parts.remove(at);
        }
        Ok(())
    }

    /// Removes the last shape of the part at `at`. The last shape of the actor gets its index.
    fn remove_last_shape(&mut self, host: &mut ComponentHost, actor: ActorId, at: usize) {
        let Some(index) = self.parts[at].shapes.pop() else { return };
        host.physics.remove_shape(actor, index);
        self.shapes -= 1;
        let last = self.shapes;
        let indices = self.parts.iter_mut().flat_map(|part| &mut part.shapes);
        indices.filter(|it| **it == last).for_each(|it| *it = index);
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
