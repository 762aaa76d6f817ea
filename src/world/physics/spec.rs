//! What a unit's component `physics` says: actors, movers and joints as data. How they come to be
//! is in the files beside this one.

use super::fields::{Fault, Fields, named};
use crate::foundation::sjson::Tree;
use crate::foundation::{Quat, Vec3};
use crate::system::physics::{Body, JointKind, Locks, Motion, Shape};
use crate::world::component::{Component, Field, FieldKind};
use std::f32::consts::FRAC_PI_2;

/// The most actors of one unit.
pub const UNIT_ACTORS_MAX: usize = 1024;

/// The component of unit files.
pub static PHYSICS: Component = Component {
    name: "physics",
    words: "Actors that fall and collide, a mover that walks, joints between actors.",
    fields: &[
        Field {
            name: "actors",
            kind: FieldKind::Checked(check_actors),
            words: "bodies by name, each with a type and a shape",
        },
        Field {
            name: "movers",
            kind: FieldKind::Checked(check_movers),
            words: "walking shapes by name, of which the first is there at first",
        },
        Field {
            name: "joints",
            kind: FieldKind::Checked(check_joints),
            words: "what holds two of the actors together, by name",
        },
    ],
};

/// How an actor is to be, but for where.
#[derive(Clone, PartialEq, Debug)]
pub struct ActorSpec {
    pub name: String,
    /// The component's node if none.
    pub node: Option<String>,
    pub trigger: bool,
    pub shapes: Vec<ShapeSpec>,
    /// Motion, damping, locks and the like; its parts are empty.
    pub body: Body,
    pub filter: String,
    pub material: Option<String>,
    pub friction: Option<f32>,
    pub restitution: Option<f32>,
    pub density: Option<f32>,
}

/// A shape, or the name of the mesh that it is made of.
#[derive(Clone, PartialEq, Debug)]
pub struct ShapeSpec {
    pub form: Form,
    pub position: Vec3,
    pub rotation: Quat,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Form {
    Given(Shape),
    /// A mesh of the unit's model, and whether its hull is meant.
    Model {
        mesh: String,
        hull: bool,
    },
}

/// How a mover is to be.
#[derive(Clone, PartialEq, Debug)]
pub struct MoverSpec {
    pub name: String,
    pub node: Option<String>,
    /// Metres.
    pub radius: f32,
    pub height: f32,
    pub step_height: f32,
    pub snap: f32,
    /// Radians.
    pub slope_max: f32,
    /// Kilograms.
    pub mass: f32,
    pub filter: String,
}

/// How a joint is to be; places are relative to the node.
#[derive(Clone, PartialEq, Debug)]
pub struct JointSpec {
    pub name: String,
    pub kind: JointKind,
    /// The second may be the world.
    pub actors: (String, Option<String>),
    pub node: Option<String>,
    pub position: Vec3,
    /// Where it holds the second actor, if elsewhere.
    pub other: Option<Vec3>,
    pub axis: Vec3,
    pub limits: Option<[f32; 2]>,
    pub length: Option<f32>,
    pub stiffness: f32,
    pub damping: f32,
    pub break_force: Option<f32>,
    pub break_torque: Option<f32>,
    pub collides: bool,
}

/// Everything physical of a unit.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct UnitPhysics {
    pub actors: Vec<ActorSpec>,
    pub movers: Vec<MoverSpec>,
    pub joints: Vec<JointSpec>,
}

const ACTOR_FIELDS: [&str; 24] = [
    "angular_damping",
    "ccd",
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
const SHAPE_FIELDS: [&str; 9] =
    ["height", "mesh", "points", "position", "radius", "rotation", "shape", "size", "triangles"];
const MOVER_FIELDS: [&str; 8] =
    ["filter", "height", "mass", "max_slope", "node", "radius", "snap", "step_height"];
const JOINT_FIELDS: [&str; 13] = [
    "actors",
    "axis",
    "break_force",
    "break_torque",
    "collides",
    "damping",
    "length",
    "limits",
    "node",
    "other_position",
    "position",
    "stiffness",
    "type",
];
const TYPES: [&str; 4] = ["static", "dynamic", "kinematic", "trigger"];
const SHAPES: [&str; 7] = ["box", "sphere", "capsule", "cylinder", "convex", "mesh", "plane"];
const EXAMPLE: &str = "body = { type = \"dynamic\", shape = \"box\", size = [1, 1, 1] }";

fn check_actors(tree: &Tree, whole: bool) -> Result<(), Fault> {
    each(tree, "actors", EXAMPLE, |name, tree| ActorSpec::read(name, tree, whole)).map(|_| ())
}

fn check_movers(tree: &Tree, _: bool) -> Result<(), Fault> {
    each(tree, "movers", "feet = { radius = 0.4, height = 1.8 }", MoverSpec::read).map(|_| ())
}

fn check_joints(tree: &Tree, whole: bool) -> Result<(), Fault> {
    let example = "hinge = { type = \"hinge\", actors = [\"door\", \"frame\"] }";
    each(tree, "joints", example, |name, tree| JointSpec::read(name, tree, whole)).map(|_| ())
}

fn each<T>(
    tree: &Tree,
    key: &str,
    example: &str,
    read: impl Fn(&str, &Tree) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let entries = named(tree, key, example)?;
    if entries.len() > UNIT_ACTORS_MAX {
        return Err(Fault::new(format!(
            "'{key}' has {} entries, and a unit can have {UNIT_ACTORS_MAX} (UNIT_ACTORS_MAX)",
            entries.len()
        )));
    }
    entries.iter().map(|(name, tree)| read(name, tree).map_err(|f| f.under(name))).collect()
}

impl UnitPhysics {
    /// Adds what a component says; `node` is the component's own.
    ///
    /// # Errors
    /// What the compiler would have refused.
    pub fn add(&mut self, fields: &Tree) -> Result<(), Fault> {
        let node = match fields.get("node") {
            Some(Tree::String(node)) => Some(node.clone()),
            _ => None,
        };
        if let Some(tree) = fields.get("actors") {
            let mut actors =
                each(tree, "actors", EXAMPLE, |name, tree| ActorSpec::read(name, tree, true))?;
            for actor in &mut actors {
                actor.node = actor.node.take().or_else(|| node.clone());
            }
            self.actors.extend(actors);
        }
        if let Some(tree) = fields.get("movers") {
            let mut movers = each(tree, "movers", "", MoverSpec::read)?;
            for mover in &mut movers {
                mover.node = mover.node.take().or_else(|| node.clone());
            }
            self.movers.extend(movers);
        }
        if let Some(tree) = fields.get("joints") {
            let mut joints =
                each(tree, "joints", "", |name, tree| JointSpec::read(name, tree, true))?;
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

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_string)
}

impl ActorSpec {
    /// # Errors
    /// A field that is unknown or wrong.
    /// Unless it is the `whole`, what must be there may be inherited.
    pub fn read(name: &str, tree: &Tree, whole: bool) -> Result<ActorSpec, Fault> {
        let what = format!("actor '{name}'");
        let known: Vec<_> = ACTOR_FIELDS.into_iter().chain(["type"]).collect();
        let fields = Fields::of(tree, &what, &known)?;
        let kind = match fields.choice("type", &TYPES)? {
            Some(kind) => kind,
            None if !whole => 0,
            None => {
                let types = TYPES.join(", ");
                return Err(Fault::new(format!("{what} has no 'type': it must be one of {types}")));
            }
        };
        let motion = [Motion::Static, Motion::Dynamic, Motion::Kinematic, Motion::Kinematic][kind];
        let axes = |key| -> Result<[bool; 3], Fault> {
            let must = "a list of axes, such as [\"x\", \"y\"]";
            let mut locked = [false; 3];
            for axis in fields.words(key, must)?.unwrap_or_default() {
                let at = ["x", "y", "z"].iter().position(|known| *known == axis);
                locked[at.ok_or_else(|| fields.must(key, must))?] = true;
            }
            Ok(locked)
        };
        let damping = |key| fields.number(key, 0.0, 1e6, "a number from 0 on");
        let body = Body {
            motion,
            trigger: kind == 3,
            mass: fields.positive("mass")?,
            linear_damping: damping("linear_damping")?.unwrap_or(Body::DEFAULT.linear_damping),
            angular_damping: damping("angular_damping")?.unwrap_or(Body::DEFAULT.angular_damping),
            gravity: fields.number("gravity", -1e3, 1e3, "a number")?.unwrap_or(1.0),
            continuous: fields.boolean("ccd")?.unwrap_or(false),
            locks: Locks {
                translation: axes("locked_translation")?,
                rotation: axes("locked_rotation")?,
            },
            tells: fields.boolean("contacts")?.unwrap_or(true),
            ..Body::DEFAULT
        };
        let shapes = shapes(&fields, tree, (&what, name), whole)?;
        if motion == Motion::Dynamic && shapes.iter().any(|shape| !shape.form.has_volume()) {
            return Err(
                fields.must("shape", "one with a volume for a dynamic actor: convex, or box")
            );
        }
        let zero_to = |key, most, must| fields.number(key, 0.0, most, must);
        Ok(ActorSpec {
            name: name.to_string(),
            node: owned(fields.text("node", "the name of a node")?),
            trigger: kind == 3,
            shapes,
            body,
            filter: fields
                .text("filter", "the name of a collision filter")?
                .unwrap_or("default")
                .to_string(),
            material: owned(fields.text("material", "the name of a physics material")?),
            friction: zero_to("friction", 1e3, "a number from 0 on")?,
            restitution: zero_to("restitution", 1.0, "a number from 0 to 1")?,
            density: fields.positive("density")?,
        })
    }
}

impl Form {
    fn has_volume(&self) -> bool {
        !matches!(
            self,
            Form::Given(Shape::Mesh { .. } | Shape::Plane { .. }) | Form::Model { hull: false, .. }
        )
    }
}

/// The one shape of an actor, or its list of them.
fn shapes(
    fields: &Fields,
    tree: &Tree,
    (what, name): (&str, &str),
    whole: bool,
) -> Result<Vec<ShapeSpec>, Fault> {
    let Some(list) = fields.get("shapes") else {
        // Where the shape is inherited, its numbers are checked with it.
        if !whole && !fields.has("shape") {
            return Ok(Vec::new());
        }
        return Ok(vec![ShapeSpec::read(fields, what)?]);
    };
    if let Some(key) = SHAPE_FIELDS.iter().find(|key| tree.get(key).is_some()) {
        let words = format!("'{key}' of {what} belongs into one of its 'shapes'");
        return Err(Fault::new(words).under(key));
    }
    let Tree::Array(items) = list else {
        return Err(fields.must("shapes", "a list of blocks, each with a shape"));
    };
    if items.is_empty() {
        return Err(fields.must("shapes", "a list of at least one shape"));
    }
    let one = |(at, item): (usize, &Tree)| {
        let what = format!("shape {} of actor '{name}'", at + 1);
        let read = Fields::of(item, &what, &SHAPE_FIELDS);
        let read = read.and_then(|fields| ShapeSpec::read(&fields, &what));
        read.map_err(|fault| fault.under(&at.to_string()).under("shapes"))
    };
    items.iter().enumerate().map(one).collect()
}

impl ShapeSpec {
    fn read(fields: &Fields, what: &str) -> Result<ShapeSpec, Fault> {
        let Some(kind) = fields.choice("shape", &SHAPES)? else {
            let words = format!("{what} has no 'shape': it must be one of {}", SHAPES.join(", "));
            return Err(Fault::new(words));
        };
        let kind = SHAPES[kind];
        let uses: &[&str] = match kind {
            "box" => &["size"],
            "sphere" => &["radius"],
            "capsule" | "cylinder" => &["radius", "height"],
            "convex" => &["points", "mesh"],
            "mesh" => &["points", "triangles", "mesh"],
            _ => &[],
        };
        for key in ["size", "radius", "height", "points", "triangles", "mesh"] {
            if fields.has(key) && !uses.contains(&key) {
                let words = format!("'{key}' of {what} means nothing for the shape {kind}");
                return Err(Fault::new(words).under(key));
            }
        }
        let missing =
            |key: &str| Fault::new(format!("{what} has no '{key}', which a {kind} needs"));
        let radius = || fields.positive("radius")?.ok_or_else(|| missing("radius"));
        let form = match kind {
            "box" => {
                let must = "the lengths of its edges in metres, [x, y, z], each above 0";
                let size = fields.vector("size", must)?.ok_or_else(|| missing("size"))?;
                if size.min_element() <= 0.0 {
                    return Err(fields.must("size", must));
                }
                Form::Given(Shape::Box { half: size * 0.5 })
            }
            "sphere" => Form::Given(Shape::Sphere { radius: radius()? }),
            "capsule" | "cylinder" => {
                let (radius, height) = (radius()?, fields.positive("height")?);
                upright(kind, radius, height.ok_or_else(|| missing("height"))?)
                    .ok_or_else(|| fields.must("height", "more than twice the radius"))?
            }
            "plane" => Form::Given(Shape::Plane { normal: Vec3::Z }),
            _ => formed(fields, kind == "convex", what)?,
        };
        Ok(ShapeSpec {
            form,
            position: fields.vector("position", "[x, y, z] in metres")?.unwrap_or(Vec3::ZERO),
            rotation: fields.rotation("rotation")?.unwrap_or(Quat::IDENTITY),
        })
    }
}

/// A capsule or a cylinder of that whole height; a capsule must be higher than its ends are.
fn upright(kind: &str, radius: f32, height: f32) -> Option<Form> {
    let shape = match kind {
        "cylinder" => Shape::Cylinder { half_height: height * 0.5, radius },
        _ if height > radius * 2.0 => Shape::Capsule { half_height: height * 0.5 - radius, radius },
        _ => return None,
    };
    Some(Form::Given(shape))
}

/// A hull or a mesh: of points, or of the unit's model.
fn formed(fields: &Fields, hull: bool, what: &str) -> Result<Form, Fault> {
    let must = "the name of a model or of one of its meshes, as models/chest/lid";
    if let Some(mesh) = fields.text("mesh", must)? {
        if fields.has("points") {
            let words = format!("{what} has both 'mesh' and 'points': say one of them");
            return Err(Fault::new(words).under("mesh"));
        }
        return Ok(Form::Model { mesh: mesh.to_string(), hull });
    }
    let points = fields.points("points", "a list of points, [[x, y, z], …]")?.ok_or_else(|| {
        Fault::new(format!("{what} has neither 'points' nor a 'mesh' to be made of"))
    })?;
    let shape = match hull {
        true => Shape::Hull { points },
        false => {
            let must = "a list of triangles, each of three places in 'points' from 1 on";
            let rows = fields.rows::<3>("triangles", must)?;
            let rows = rows.ok_or_else(|| fields.must("triangles", must))?;
            let mut triangles = Vec::new();
            for row in rows {
                if row.iter().any(|at| *at < 1.0 || at.fract() != 0.0) {
                    return Err(fields.must("triangles", must));
                }
                if let Some(at) = row.iter().find(|at| **at > points.len() as f32) {
                    let count = points.len();
                    let words = format!("'triangles' of {what} names point {at} of {count}");
                    return Err(Fault::new(words).under("triangles"));
                }
                triangles.push(row.map(|at| at as u32 - 1));
            }
            Shape::Mesh { points, triangles }
        }
    };
    shape.check().map_err(|error| Fault::new(format!("{what}: {}", error.message)))?;
    Ok(Form::Given(shape))
}

impl MoverSpec {
    /// # Errors
    /// A field that is unknown or wrong.
    pub fn read(name: &str, tree: &Tree) -> Result<MoverSpec, Fault> {
        let what = format!("mover '{name}'");
        let fields = Fields::of(tree, &what, &MOVER_FIELDS)?;
        let radius = fields.positive("radius")?.unwrap_or(0.4);
        let height = fields.positive("height")?.unwrap_or(1.8);
        if height <= radius * 2.0 {
            return Err(fields.must("height", "more than twice the radius"));
        }
        let metres = |key| fields.number(key, 0.0, f64::from(height), "0 to its height, in metres");
        let slope = fields.number("max_slope", 0.0, 89.0, "0 to 89 degrees")?.unwrap_or(45.0);
        Ok(MoverSpec {
            name: name.to_string(),
            node: owned(fields.text("node", "the name of a node")?),
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

    /// Its shape, around its middle.
    pub fn shape(&self) -> Shape {
        Shape::Capsule { half_height: self.height * 0.5 - self.radius, radius: self.radius }
    }
}

impl JointSpec {
    /// # Errors
    /// A field that is unknown or wrong.
    /// Unless it is the `whole`, what must be there may be inherited.
    pub fn read(name: &str, tree: &Tree, whole: bool) -> Result<JointSpec, Fault> {
        let what = format!("joint '{name}'");
        let fields = Fields::of(tree, &what, &JOINT_FIELDS)?;
        let kind = match fields.choice("type", &JointKind::NAMES)? {
            Some(kind) => JointKind::LIST[kind],
            None if !whole => JointKind::Fixed,
            None => {
                let names = JointKind::NAMES.join(", ");
                return Err(Fault::new(format!("{what} has no 'type': it must be one of {names}")));
            }
        };
        let must = "the names of two actors, or of one that is held by the world";
        let actors = match &fields.words("actors", must)?.unwrap_or_default()[..] {
            [one] => (one.to_string(), None),
            [one, two] if one != two => (one.to_string(), Some(two.to_string())),
            [] if !whole && !fields.has("actors") => (String::new(), None),
            _ => return Err(fields.must("actors", must)),
        };
        let must = "two numbers, the lesser first: degrees of a hinge, metres of a slider";
        let limits = fields.numbers::<2>("limits", must)?;
        if limits.is_some_and(|[least, most]| least > most) {
            return Err(fields.must("limits", must));
        }
        let at = |key| fields.vector(key, "[x, y, z] in metres");
        let axis = fields.vector("axis", "a direction, [x, y, z]")?.unwrap_or(Vec3::Z);
        if axis.length_squared() < 1e-8 {
            return Err(fields.must("axis", "a direction, [x, y, z], and not 0"));
        }
        let number = |key| fields.number(key, 0.0, 1e12, "a number from 0 on");
        Ok(JointSpec {
            name: name.to_string(),
            kind,
            actors,
            node: owned(fields.text("node", "the name of a node")?),
            position: at("position")?.unwrap_or(Vec3::ZERO),
            other: at("other_position")?,
            axis,
            limits: match kind {
                JointKind::Hinge => limits.map(|limits| limits.map(f32::to_radians)),
                _ => limits,
            },
            length: number("length")?,
            stiffness: number("stiffness")?.unwrap_or(1000.0),
            damping: number("damping")?.unwrap_or(10.0),
            break_force: fields.positive("break_force")?,
            break_torque: fields.positive("break_torque")?,
            collides: fields.boolean("collides")?.unwrap_or(false),
        })
    }
}

/// The actor that a model's node says it is, by its extra value `physics`: the fields of an actor,
/// or only its type. Without a shape it is the node's mesh: the hull of it where it moves. The
/// shapes `convex` and `mesh` without points are of that mesh, too.
pub fn of_extras(extra: &Tree, node: &str, mesh: Option<String>) -> Tree {
    let text = |text: &str| Tree::String(text.to_string());
    let mut fields = match extra {
        Tree::Object(fields) => fields.clone(),
        Tree::String(_) => vec![("type".to_string(), extra.clone())],
        // What is neither is wrong, and the unit says so when it is spawned.
        other => return Tree::Object(vec![(node.to_string(), other.clone())]),
    };
    let has = |key: &str| fields.iter().any(|(known, _)| known == key);
    let formed =
        |key: &str, value: &Tree| key == "shape" && [text("convex"), text("mesh")].contains(value);
    let of_node = fields.iter().any(|(key, value)| formed(key, value));
    if let Some(mesh) = mesh.as_ref().filter(|_| of_node && !has("points") && !has("mesh")) {
        fields.push(("mesh".to_string(), text(mesh)));
    } else if let Some(mesh) = mesh.filter(|_| !has("shape") && !has("shapes")) {
        let still = fields.iter().any(|(key, value)| key == "type" && *value == text("static"));
        fields.push(("shape".to_string(), text(if still { "mesh" } else { "convex" })));
        fields.push(("mesh".to_string(), text(&mesh)));
    }
    Tree::Object(vec![(node.to_string(), Tree::Object(fields))])
}

/// The steepest slope that a mover may be set to climb.
pub const SLOPE_MAX: f32 = FRAC_PI_2 - 0.01;

#[cfg(test)]
mod tests;
