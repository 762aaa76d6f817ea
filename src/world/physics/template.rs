//! Templates of units' physics: descriptions of actors, movers and joints as data. Other files of
//! this folder create the objects.

mod joint;

pub use joint::JointDesc;

use super::field_reader::{FieldError, FieldReader, named};
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Quat, Vec2, Vec3};
use engine_physics::{AxisLocks, BodyDesc, ColliderShape, MotionType};
use std::f32::consts::FRAC_PI_2;

/// Maximum number of actors of one unit.
pub const UNIT_ACTORS_MAX: usize = 1024;

/// Description of an actor without its transform.
#[derive(Clone, PartialEq, Debug)]
pub struct ActorDesc {
    pub name: String,
    /// Name of the node; `None` for the component's node.
    pub node: Option<String>,
    pub trigger: bool,
    pub shapes: Vec<ShapeDesc>,
    /// Motion, damping, locks and other body properties; its list of parts is empty.
    pub body: BodyDesc,
    pub filter: String,
    pub material: Option<String>,
    pub friction: Option<f32>,
    pub restitution: Option<f32>,
    pub density: Option<f32>,
}

/// A collision shape with its transform in the actor.
#[derive(Clone, PartialEq, Debug)]
pub struct ShapeDesc {
    pub form: ShapeForm,
    pub position: Vec3,
    pub rotation: Quat,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ShapeForm {
    Collider(ColliderShape),
    /// A mesh of the unit's model, or its convex hull.
    Model {
        mesh: String,
        hull: bool,
    },
}

/// Description of a mover.
#[derive(Clone, PartialEq, Debug)]
pub struct MoverDesc {
    pub name: String,
    pub node: Option<String>,
    /// Radius in metres; the following lengths are in metres, too.
    pub radius: f32,
    pub height: f32,
    pub step_height: f32,
    pub snap: f32,
    /// Maximum slope in radians.
    pub slope_max: f32,
    /// Mass in kilograms.
    pub mass: f32,
    pub filter: String,
}

/// All physics descriptions of a unit.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PhysicsTemplate {
    pub actors: Vec<ActorDesc>,
    pub movers: Vec<MoverDesc>,
    pub joints: Vec<JointDesc>,
}

const ACTOR_FIELDS: [&str; 26] = [
    "angular_damping",
    "ccd",
    "closed",
    "contacts",
    "density",
    "filter",
    "friction",
    "gravity",
    "height",
    "linear_damping",
    "locked_rotation",
    "locked_translation",
    "mass",
    "material",
    "mesh",
    "node",
    "one_way",
    "points",
    "position",
    "radius",
    "restitution",
    "rotation",
    "shape",
    "shapes",
    "size",
    "triangles",
];
const SHAPE_FIELDS: [&str; 10] = [
    "closed",
    "height",
    "mesh",
    "points",
    "position",
    "radius",
    "rotation",
    "shape",
    "size",
    "triangles",
];
const MOVER_FIELDS: [&str; 8] =
    ["filter", "height", "mass", "max_slope", "node", "radius", "snap", "step_height"];
const TYPES: [&str; 4] = ["static", "dynamic", "kinematic", "trigger"];
const SHAPES: [&str; 9] =
    ["box", "sphere", "capsule", "cylinder", "convex", "mesh", "plane", "polygon", "chain"];
const EXAMPLE: &str = "body = { type = \"dynamic\", shape = \"box\", size = [1, 1, 1] }";

pub(super) fn check_actors(tree: &SjsonTree, whole: bool) -> Result<(), FieldError> {
    each(tree, "actors", EXAMPLE, |name, tree| ActorDesc::read(name, tree, whole)).map(|_| ())
}

pub(super) fn check_movers(tree: &SjsonTree, _: bool) -> Result<(), FieldError> {
    each(tree, "movers", "feet = { radius = 0.4, height = 1.8 }", MoverDesc::read).map(|_| ())
}

pub(super) fn check_joints(tree: &SjsonTree, whole: bool) -> Result<(), FieldError> {
    let example = "hinge = { type = \"hinge\", actors = [\"door\", \"frame\"] }";
    each(tree, "joints", example, |name, tree| JointDesc::read(name, tree, whole)).map(|_| ())
}

fn each<T>(
    tree: &SjsonTree,
    key: &str,
    example: &str,
    read: impl Fn(&str, &SjsonTree) -> Result<T, FieldError>,
) -> Result<Vec<T>, FieldError> {
    let entries = named(tree, key, example)?;
    if entries.len() > UNIT_ACTORS_MAX {
        return Err(FieldError::new(format!(
            "'{key}' has {} entries, and a unit can have {UNIT_ACTORS_MAX} (UNIT_ACTORS_MAX)",
            entries.len()
        )));
    }
    entries.iter().map(|(name, tree)| read(name, tree).map_err(|f| f.in_block(name))).collect()
}

impl PhysicsTemplate {
    /// Adds the descriptions in a component; `node` is the component's own node.
    ///
    /// # Errors
    /// Returns an error if the compiler would have refused the fields.
    pub fn add(&mut self, fields: &SjsonTree) -> Result<(), FieldError> {
        let node = match fields.get("node") {
            Some(SjsonTree::String(node)) => Some(node.clone()),
            _ => None,
        };
        if let Some(tree) = fields.get("actors") {
            let mut actors =
                each(tree, "actors", EXAMPLE, |name, tree| ActorDesc::read(name, tree, true))?;
            for actor in &mut actors {
                actor.node = actor.node.take().or_else(|| node.clone());
            }
            self.actors.extend(actors);
        }
        if let Some(tree) = fields.get("movers") {
            let mut movers = each(tree, "movers", "", MoverDesc::read)?;
            for mover in &mut movers {
                mover.node = mover.node.take().or_else(|| node.clone());
            }
            self.movers.extend(movers);
        }
        if let Some(tree) = fields.get("joints") {
            let mut joints =
                each(tree, "joints", "", |name, tree| JointDesc::read(name, tree, true))?;
            for joint in &mut joints {
                joint.node = joint.node.take().or_else(|| node.clone());
            }
            self.joints.extend(joints);
        }
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.actors.is_empty() && self.movers.is_empty() && self.joints.is_empty()
    }
}

fn to_owned_text(text: Option<&str>) -> Option<String> {
    text.map(str::to_string)
}

impl ActorDesc {
    /// Reads the description of an actor. `whole` is true if nothing is inherited; otherwise
    /// required fields may be missing.
    ///
    /// # Errors
    /// Returns an error if a field is unknown or invalid.
    pub fn read(name: &str, tree: &SjsonTree, whole: bool) -> Result<ActorDesc, FieldError> {
        let subject = format!("actor '{name}'");
        let known: Vec<_> = ACTOR_FIELDS.into_iter().chain(["type"]).collect();
        let fields = FieldReader::of(tree, &subject, &known)?;
        let kind = match fields.choice("type", &TYPES)? {
            Some(kind) => kind,
            None if !whole => 0,
            None => {
                let types = TYPES.join(", ");
                return Err(FieldError::new(format!(
                    "{subject} has no 'type': it must be one of {types}"
                )));
            }
        };
        let motion =
            [MotionType::Static, MotionType::Dynamic, MotionType::Kinematic, MotionType::Kinematic]
                [kind];
        let axes = |key| -> Result<[bool; 3], FieldError> {
            let must = "a list of axes, such as [\"x\", \"y\"]";
            let mut locked = [false; 3];
            for axis in fields.texts(key, must)?.unwrap_or_default() {
                let at = ["x", "y", "z"].iter().position(|known| *known == axis);
                locked[at.ok_or_else(|| fields.invalid(key, must))?] = true;
            }
            Ok(locked)
        };
        let damping = |key| fields.number(key, 0.0, 1e6, "a number from 0 on");
        let body = BodyDesc {
            motion,
            trigger: kind == 3,
            mass: fields.positive("mass")?,
            linear_damping: damping("linear_damping")?.unwrap_or(BodyDesc::DEFAULT.linear_damping),
            angular_damping: damping("angular_damping")?
                .unwrap_or(BodyDesc::DEFAULT.angular_damping),
            gravity: fields.number("gravity", -1e3, 1e3, "a number")?.unwrap_or(1.0),
            continuous: fields.boolean("ccd")?.unwrap_or(false),
            locks: AxisLocks {
                translation: axes("locked_translation")?,
                rotation: axes("locked_rotation")?,
            },
            reports_contacts: fields.boolean("contacts")?.unwrap_or(true),
            one_way: fields.boolean("one_way")?.unwrap_or(false),
            ..BodyDesc::DEFAULT
        };
        let shapes = shapes(&fields, tree, (&subject, name), whole)?;
        if motion == MotionType::Dynamic && shapes.iter().any(|shape| !shape.form.has_volume()) {
            return Err(
                fields.invalid("shape", "one with a volume for a dynamic actor: convex, or box")
            );
        }
        let zero_to = |key, most, must| fields.number(key, 0.0, most, must);
        Ok(ActorDesc {
            name: name.to_string(),
            node: to_owned_text(fields.text("node", "the name of a node")?),
            trigger: kind == 3,
            shapes,
            body,
            filter: fields
                .text("filter", "the name of a collision filter")?
                .unwrap_or("default")
                .to_string(),
            material: to_owned_text(fields.text("material", "the name of a physics material")?),
            friction: zero_to("friction", 1e3, "a number from 0 on")?,
            restitution: zero_to("restitution", 1.0, "a number from 0 to 1")?,
            density: fields.positive("density")?,
        })
    }
}

impl ShapeForm {
    fn has_volume(&self) -> bool {
        !matches!(
            self,
            ShapeForm::Collider(
                ColliderShape::Mesh { .. }
                    | ColliderShape::Surface { .. }
                    | ColliderShape::Plane { .. }
                    | ColliderShape::Chain { .. }
            ) | ShapeForm::Model { hull: false, .. }
        )
    }
}

/// Reads the single shape of an actor, or its list of shapes.
fn shapes(
    fields: &FieldReader,
    tree: &SjsonTree,
    (subject, name): (&str, &str),
    whole: bool,
) -> Result<Vec<ShapeDesc>, FieldError> {
    let Some(list) = fields.get("shapes") else {
        // If the shape is inherited, its numbers are checked after merging.
        if !whole && !fields.has("shape") {
            return Ok(Vec::new());
        }
        return Ok(vec![ShapeDesc::read(fields, subject)?]);
    };
    if let Some(key) = SHAPE_FIELDS.iter().find(|key| tree.get(key).is_some()) {
        let message = format!("'{key}' of {subject} belongs in one of its 'shapes'");
        return Err(FieldError::new(message).in_block(key));
    }
    let SjsonTree::Array(items) = list else {
        return Err(fields.invalid("shapes", "a list of blocks, each with a shape"));
    };
    if items.is_empty() {
        return Err(fields.invalid("shapes", "a list of at least one shape"));
    }
    let one = |(at, item): (usize, &SjsonTree)| {
        let subject = format!("shape {} of actor '{name}'", at + 1);
        let read = FieldReader::of(item, &subject, &SHAPE_FIELDS);
        let read = read.and_then(|fields| ShapeDesc::read(&fields, &subject));
        read.map_err(|error| error.in_block(&at.to_string()).in_block("shapes"))
    };
    items.iter().enumerate().map(one).collect()
}

impl ShapeDesc {
    fn read(fields: &FieldReader, subject: &str) -> Result<ShapeDesc, FieldError> {
        let Some(kind) = fields.choice("shape", &SHAPES)? else {
            let message =
                format!("{subject} has no 'shape': it must be one of {}", SHAPES.join(", "));
            return Err(FieldError::new(message));
        };
        let kind = SHAPES[kind];
        let uses: &[&str] = match kind {
            "box" => &["size"],
            "sphere" => &["radius"],
            "capsule" | "cylinder" => &["radius", "height"],
            "convex" => &["points", "mesh"],
            "mesh" => &["points", "triangles", "mesh"],
            "polygon" => &["points"],
            "chain" => &["points", "closed"],
            _ => &[],
        };
        for key in ["size", "radius", "height", "points", "triangles", "mesh", "closed"] {
            if fields.has(key) && !uses.contains(&key) {
                let message = format!("'{key}' of {subject} means nothing for the shape {kind}");
                return Err(FieldError::new(message).in_block(key));
            }
        }
        let missing =
            |key: &str| FieldError::new(format!("{subject} has no '{key}', which a {kind} needs"));
        let radius = || fields.positive("radius")?.ok_or_else(|| missing("radius"));
        let form = match kind {
            "box" => {
                let must = "the lengths of its edges in metres, [x, y, z], or [x, y] for a box \
                            that is a metre deep, each above 0";
                let size = match fields.numbers::<2>("size", must) {
                    Ok(Some([x, y])) => Vec3::new(x, y, 1.0),
                    _ => fields.vector("size", must)?.ok_or_else(|| missing("size"))?,
                };
                if size.min_element() <= 0.0 {
                    return Err(fields.invalid("size", must));
                }
                ShapeForm::Collider(ColliderShape::Box { half: size * 0.5 })
            }
            "sphere" => ShapeForm::Collider(ColliderShape::Sphere { radius: radius()? }),
            "capsule" | "cylinder" => {
                let (radius, height) = (radius()?, fields.positive("height")?);
                upright(kind, radius, height.ok_or_else(|| missing("height"))?)
                    .ok_or_else(|| fields.invalid("height", "more than twice the radius"))?
            }
            "polygon" | "chain" => read_flat_shape(fields, kind == "chain", subject)?,
            "plane" => ShapeForm::Collider(ColliderShape::Plane { normal: None }),
            _ => read_hull_or_mesh(fields, kind == "convex", subject)?,
        };
        Ok(ShapeDesc {
            form,
            position: fields.vector("position", "[x, y, z] in metres")?.unwrap_or(Vec3::ZERO),
            rotation: fields.rotation("rotation")?.unwrap_or(Quat::IDENTITY),
        })
    }
}

/// Returns a capsule or a cylinder with this total height. A capsule must be higher than its two
/// ends.
fn upright(kind: &str, radius: f32, height: f32) -> Option<ShapeForm> {
    let shape = match kind {
        "cylinder" => ColliderShape::Cylinder { half_height: height * 0.5, radius },
        _ if height > radius * 2.0 => {
            ColliderShape::Capsule { half_height: height * 0.5 - radius, radius }
        }
        _ => return None,
    };
    Some(ShapeForm::Collider(shape))
}

/// Reads a hull or a mesh, from points or from the unit's model.
fn read_hull_or_mesh(
    fields: &FieldReader,
    hull: bool,
    subject: &str,
) -> Result<ShapeForm, FieldError> {
    let must = "the name of a model or of one of its meshes, as models/chest/lid";
    if let Some(mesh) = fields.text("mesh", must)? {
        if fields.has("points") {
            let message = format!("{subject} has both 'mesh' and 'points': give one of them");
            return Err(FieldError::new(message).in_block("mesh"));
        }
        return Ok(ShapeForm::Model { mesh: mesh.to_string(), hull });
    }
    let points = fields.points("points", "a list of points, [[x, y, z], …]")?.ok_or_else(|| {
        FieldError::new(format!("{subject} has neither 'points' nor a 'mesh' to be made from"))
    })?;
    let shape = match hull {
        true => ColliderShape::Hull { points },
        false => {
            let must = "a list of triangles, each of three indices into 'points', from 1 on";
            let rows = fields.rows::<3>("triangles", must)?;
            let rows = rows.ok_or_else(|| fields.invalid("triangles", must))?;
            let mut triangles = Vec::new();
            for row in rows {
                if row.iter().any(|at| *at < 1.0 || at.fract() != 0.0) {
                    return Err(fields.invalid("triangles", must));
                }
                if let Some(at) = row.iter().find(|at| **at > points.len() as f32) {
                    let count = points.len();
                    let message = format!("'triangles' of {subject} names point {at} of {count}");
                    return Err(FieldError::new(message).in_block("triangles"));
                }
                triangles.push(row.map(|at| at as u32 - 1));
            }
            ColliderShape::Mesh { points, triangles }
        }
    };
    shape.check().map_err(|error| FieldError::new(format!("{subject}: {}", error.message)))?;
    Ok(ShapeForm::Collider(shape))
}

/// Reads a shape of two-dimensional worlds.
fn read_flat_shape(
    fields: &FieldReader,
    chain: bool,
    subject: &str,
) -> Result<ShapeForm, FieldError> {
    let must = "a list of points, [[x, y], …]";
    let rows = fields.rows::<2>("points", must)?;
    let rows = rows.ok_or_else(|| FieldError::new(format!("{subject} has no 'points': {must}")))?;
    let points = rows.into_iter().map(Vec2::from_array).collect();
    let shape = match chain {
        true => {
            let closed = fields.boolean("closed")?.unwrap_or(false);
            ColliderShape::Chain { points, closed }
        }
        false => ColliderShape::Polygon { points },
    };
    shape.check().map_err(|error| FieldError::new(format!("{subject}: {}", error.message)))?;
    Ok(ShapeForm::Collider(shape))
}

impl MoverDesc {
    /// Reads the description of a mover.
    ///
    /// # Errors
    /// Returns an error if a field is unknown or invalid.
    pub fn read(name: &str, tree: &SjsonTree) -> Result<MoverDesc, FieldError> {
        let subject = format!("mover '{name}'");
        let fields = FieldReader::of(tree, &subject, &MOVER_FIELDS)?;
        let radius = fields.positive("radius")?.unwrap_or(0.4);
        let height = fields.positive("height")?.unwrap_or(1.8);
        if height <= radius * 2.0 {
            return Err(fields.invalid("height", "more than twice the radius"));
        }
        let metres = |key| fields.number(key, 0.0, f64::from(height), "0 to its height, in metres");
        let slope = fields.number("max_slope", 0.0, 89.0, "0 to 89 degrees")?.unwrap_or(45.0);
        Ok(MoverDesc {
            name: name.to_string(),
            node: to_owned_text(fields.text("node", "the name of a node")?),
            radius,
            height,
            step_height: metres("step_height")?.unwrap_or(0.3),
            snap: metres("snap")?.unwrap_or(0.2),
            slope_max: slope.to_radians(),
            mass: fields
                .number("mass", 0.0, 1e6, "a number from 0 on, in kilograms")?
                .unwrap_or(70.0),
            filter: fields
                .text("filter", "the name of a collision filter")?
                .unwrap_or("default")
                .to_string(),
        })
    }

    /// Returns the shape around its center.
    pub fn shape(&self) -> ColliderShape {
        ColliderShape::Capsule { half_height: self.height * 0.5 - self.radius, radius: self.radius }
    }
}

/// Returns the actor declared by the extra value `physics` of a model's node: an object with the
/// fields of an actor, or only its type. Without a shape, the actor has the node's mesh, or its
/// convex hull unless the actor is static. The shapes `convex` and `mesh` without points use that
/// mesh as well.
pub fn from_extras(extra: &SjsonTree, node: &str, mesh: Option<String>) -> SjsonTree {
    let text = |text: &str| SjsonTree::String(text.to_string());
    let mut fields = match extra {
        SjsonTree::Object(fields) => fields.clone(),
        SjsonTree::String(_) => vec![("type".to_string(), extra.clone())],
        // Any other value is an error, which is reported when the unit is spawned.
        other => return SjsonTree::Object(vec![(node.to_string(), other.clone())]),
    };
    let has = |key: &str| fields.iter().any(|(known, _)| known == key);
    let formed = |key: &str, value: &SjsonTree| {
        key == "shape" && [text("convex"), text("mesh")].contains(value)
    };
    let of_node = fields.iter().any(|(key, value)| formed(key, value));
    if let Some(mesh) = mesh.as_ref().filter(|_| of_node && !has("points") && !has("mesh")) {
        fields.push(("mesh".to_string(), text(mesh)));
    } else if let Some(mesh) = mesh.filter(|_| !has("shape") && !has("shapes")) {
        let still = fields.iter().any(|(key, value)| key == "type" && *value == text("static"));
        fields.push(("shape".to_string(), text(if still { "mesh" } else { "convex" })));
        fields.push(("mesh".to_string(), text(&mesh)));
    }
    SjsonTree::Object(vec![(node.to_string(), SjsonTree::Object(fields))])
}

/// Maximum slope that can be set for a mover, in radians.
pub const SLOPE_MAX: f32 = FRAC_PI_2 - 0.01;

#[cfg(test)]
mod tests;
