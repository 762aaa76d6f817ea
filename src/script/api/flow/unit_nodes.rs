//! Nodes for units and levels that run in Rust: what artists need most, with inputs that fit a
//! graph. Nodes that spawn and destroy units, or that keep data of scripts, need Lua
//! (lua_nodes.rs).

use crate::api::{actor, level, light, mesh, particles, sound, unit};
use crate::api_row::{FunctionRow, NodeFlag, func};
use crate::argument::{Integer, NameOrIndex, TextArgument};
use crate::value::ScriptValue;
use engine_flow::{NodeKind, NodeOrigin, NodeType, Op, pin_list};
use engine_foundation::{Color, Error, Quat, Vec3, error};
use engine_particles::EffectId;
use engine_runtime::Engine;
use engine_world::unit::UnitId;

/// A node type with its function.
pub(super) struct NativeNode {
    /// The name, the function and the documentation. Its flag says if it is a query.
    pub row: FunctionRow,
    title: &'static str,
    inputs: &'static str,
    outputs: &'static str,
}

const UNIT: (&str, &str) = ("unit", "");
const NODE: (&str, &str) = ("node", "name of a node of the unit; empty: its root");
const MESH: (&str, &str) = ("mesh", "name of a mesh of the unit");

const fn node(
    row: FunctionRow,
    title: &'static str,
    inputs: &'static str,
    outputs: &'static str,
) -> NativeNode {
    NativeNode { row, title, inputs, outputs }
}

pub(super) static NODES: &[NativeNode] = &[
    node(
        func(
            "unit.position",
            position,
            &[UNIT, NODE],
            "The position of a unit, or of one of its nodes, in the world.",
        )
        .pure(),
        "Position",
        "unit: unit = owner, node: text = \"\"",
        "position: vector",
    ),
    node(
        func(
            "unit.rotation",
            rotation,
            &[UNIT, NODE],
            "The rotation of a unit, or of one of its nodes, in the world.",
        )
        .pure(),
        "Rotation",
        "unit: unit = owner, node: text = \"\"",
        "rotation: rotation",
    ),
    node(
        func(
            "unit.set_position",
            set_position,
            &[UNIT, ("position", "in metres, from the parent node"), NODE],
            "Sets the local position of a unit, or of one of its nodes.",
        ),
        "Set position",
        "unit: unit = owner, position: vector, node: text = \"\"",
        "",
    ),
    node(
        func(
            "unit.set_rotation",
            set_rotation,
            &[UNIT, ("rotation", "from the parent node"), NODE],
            "Sets the local rotation of a unit, or of one of its nodes.",
        ),
        "Set rotation",
        "unit: unit = owner, rotation: rotation, node: text = \"\"",
        "",
    ),
    node(
        func(
            "unit.effect",
            effect,
            &[("effect", "name of a particle effect"), UNIT, NODE],
            "Plays a particle effect at a node of a unit.",
        ),
        "Play effect",
        "effect: resource particles, unit: unit = owner, node: text = \"\"",
        "effect: handle",
    ),
    node(
        func(
            "unit.sound",
            play_sound,
            &[("sound", "name of a sound"), UNIT],
            "Plays a sound at the position of a unit.",
        ),
        "Play sound",
        "sound: resource sound, unit: unit = owner",
        "voice: handle",
    ),
    node(
        func(
            "unit.set_light",
            set_light,
            &[
                UNIT,
                ("light", "name of a light of the unit"),
                ("on", "false switches it off"),
                ("intensity", "as Light.set_intensity; without a value, it stays"),
            ],
            "Switches a light of a unit on or off, and sets its intensity.",
        ),
        "Switch light",
        "unit: unit = owner, light: text, on: boolean = true, intensity: number = nil",
        "",
    ),
    node(
        func(
            "unit.set_visible",
            set_visible,
            &[UNIT, ("visible", "false hides it")],
            "Shows or hides a unit.",
        ),
        "Show or hide unit",
        "unit: unit = owner, visible: boolean = true",
        "",
    ),
    node(
        func(
            "unit.set_mesh_visible",
            set_mesh_visible,
            &[UNIT, MESH, ("visible", "false hides it")],
            "Shows or hides a mesh of a unit.",
        ),
        "Show or hide mesh",
        "unit: unit = owner, mesh: text, visible: boolean = true",
        "",
    ),
    node(
        func(
            "unit.push",
            push,
            &[
                UNIT,
                ("impulse", "in kilogram metres per second, in the directions of the world"),
                ("actor", "name of an actor of the unit; empty: its first one"),
            ],
            "Gives an actor of a unit an impulse.",
        ),
        "Push",
        "unit: unit = owner, impulse: vector, actor: text = \"\"",
        "",
    ),
    node(
        func(
            "unit.set_tint",
            set_tint,
            &[UNIT, MESH, ("color", "four numbers from 0 to 255; white is no change")],
            "Multiplies the colors of a mesh of a unit with a color.",
        ),
        "Set tint",
        "unit: unit = owner, mesh: text, color: color",
        "",
    ),
    node(
        func(
            "unit.set_animation_variable",
            set_animation_variable,
            &[
                UNIT,
                ("variable", "name of a variable of its state machine"),
                ("value", "its new value"),
            ],
            "Sets a variable of the state machine of a unit.",
        ),
        "Set animation variable",
        "unit: unit = owner, variable: text, value: number",
        "",
    ),
    node(
        func(
            "unit.animation_event",
            animation_event,
            &[UNIT, ("event", "name of an event of its state machine")],
            "Sends an event to the state machine of a unit.",
        ),
        "Send animation event",
        "unit: unit = owner, event: text",
        "",
    ),
    node(
        func(
            "level.unit",
            level::unit,
            &[("level", ""), ("name", "of the unit in the file of the level")],
            "The unit with a name in the file of a level, or nothing.",
        )
        .pure(),
        "Unit of level",
        "level: level = owner, name: text",
        "unit: unit",
    ),
];

impl NativeNode {
    /// Returns the node type.
    pub fn node_type(&self) -> NodeType {
        object_type(&ObjectNode {
            name: self.row.name,
            title: self.title,
            doc: self.row.doc,
            is_query: self.row.node == NodeFlag::Query,
            inputs: self.inputs,
            outputs: self.outputs,
            params: self.row.params,
        })
    }
}

/// A node for units or levels: the parts of its type.
pub(super) struct ObjectNode {
    pub name: &'static str,
    pub title: &'static str,
    pub doc: &'static str,
    pub is_query: bool,
    /// Without the event `in` of actions.
    pub inputs: &'static str,
    /// Without the event `out` of actions.
    pub outputs: &'static str,
    /// Descriptions of inputs.
    pub params: &'static [(&'static str, &'static str)],
}

/// Returns the type of a node for units or levels.
pub(super) fn object_type(node: &ObjectNode) -> NodeType {
    let (inputs, outputs) = match node.is_query {
        true => (node.inputs.to_string(), node.outputs.to_string()),
        false => (format!("in: event, {}", node.inputs), format!("out: event, {}", node.outputs)),
    };
    let mut inputs = pin_list(&inputs);
    for pin in &mut inputs {
        if let Some((_, doc)) = node.params.iter().find(|(name, _)| *name == pin.name) {
            pin.doc = doc.to_string();
        }
    }
    let category = if node.name.starts_with("level") { "Level" } else { "Unit" };
    NodeType {
        name: node.name.to_string(),
        title: node.title.to_string(),
        category: category.to_string(),
        doc: node.doc.to_string(),
        kind: if node.is_query { NodeKind::Query } else { NodeKind::Action },
        origin: NodeOrigin::Function,
        op: Op::Call,
        inputs,
        outputs: pin_list(outputs.trim_end_matches(", ")),
        settings: Vec::new(),
        latent: false,
        dynamic: false,
    }
}

/// Returns the index of a node of a unit, from 1; the root without a name.
fn node_of(
    engine: &mut Engine,
    unit: UnitId,
    name: Option<TextArgument>,
) -> Result<unit::NodeArgument, Error> {
    match name {
        Some(name) if !name.as_str().is_empty() => {
            Ok(Some(Integer(unit::node(engine, unit, name)? as i64)))
        }
        _ => Ok(None),
    }
}

fn position(engine: &mut Engine, unit: UnitId, node: Option<TextArgument>) -> Result<Vec3, Error> {
    let node = node_of(engine, unit, node)?;
    unit::world_position(engine, unit, node)
}

fn rotation(engine: &mut Engine, unit: UnitId, node: Option<TextArgument>) -> Result<Quat, Error> {
    let node = node_of(engine, unit, node)?;
    unit::world_rotation(engine, unit, node)
}

fn set_position(
    engine: &mut Engine,
    unit: UnitId,
    position: Vec3,
    node: Option<TextArgument>,
) -> Result<(), Error> {
    let node = node_of(engine, unit, node)?;
    unit::set_local_position(engine, unit, node, position)
}

fn set_rotation(
    engine: &mut Engine,
    unit: UnitId,
    rotation: Quat,
    node: Option<TextArgument>,
) -> Result<(), Error> {
    let node = node_of(engine, unit, node)?;
    unit::set_local_rotation(engine, unit, node, rotation)
}

fn effect(
    engine: &mut Engine,
    effect: TextArgument,
    unit: UnitId,
    node: Option<TextArgument>,
) -> Result<EffectId, Error> {
    let node = node_of(engine, unit, node)?;
    let position = unit::world_position(engine, unit, node)?;
    let rotation = unit::world_rotation(engine, unit, node)?;
    let world = engine.worlds.units.of(unit).world;
    let (position, rotation) = (Some(position), Some(rotation));
    particles::create(engine, world, effect, position, rotation, None, ScriptValue::Nil)
}

fn play_sound(
    engine: &mut Engine,
    name: TextArgument,
    unit: UnitId,
) -> Result<sound::arguments::StartedVoice, Error> {
    let world = sound::arguments::SoundWorldArgument::World(engine.worlds.units.of(unit).world);
    let options = sound::arguments::TriggerOptions { unit: Some(unit), ..Default::default() };
    sound::trigger(engine, world, name, Some(options))
}

fn set_light(
    engine: &mut Engine,
    unit: UnitId,
    name: TextArgument,
    on: bool,
    intensity: Option<f64>,
) -> Result<(), Error> {
    let light = unit::meshes::unit_light(engine, unit, NameOrIndex::Name(name))?;
    if let Some(intensity) = intensity {
        light::set_intensity(engine, light, intensity)?;
    }
    light::set_enabled(engine, light, on);
    Ok(())
}

fn set_visible(engine: &mut Engine, unit: UnitId, visible: bool) {
    unit::meshes::set_unit_visibility(engine, unit, visible, None);
}

fn set_mesh_visible(
    engine: &mut Engine,
    unit: UnitId,
    name: TextArgument,
    visible: bool,
) -> Result<(), Error> {
    let mesh = unit::meshes::unit_mesh(engine, unit, NameOrIndex::Name(name))?;
    mesh::set_visibility(engine, mesh, visible);
    Ok(())
}

fn push(
    engine: &mut Engine,
    unit: UnitId,
    impulse: Vec3,
    name: Option<TextArgument>,
) -> Result<(), Error> {
    let name = name.as_ref().map_or("", |name| name.as_str());
    let index = match name {
        "" => 0,
        name => engine.worlds.physics.find_actor(unit, name).ok_or_else(|| {
            let hint = engine.worlds.physics.name_hint(unit, name);
            error!("argument #3 'actor': the unit has no actor '{name}'{hint}")
        })?,
    };
    let actor =
        engine.worlds.physics.unit_actor(unit, index).ok_or_else(|| {
            error!("argument #3 'actor': the unit has no actor, or it was destroyed")
        })?;
    actor::forces::add_impulse(engine, actor, impulse)
}

fn set_tint(
    engine: &mut Engine,
    unit: UnitId,
    name: TextArgument,
    color: Color,
) -> Result<(), Error> {
    let mesh = unit::meshes::unit_mesh(engine, unit, NameOrIndex::Name(name))?;
    mesh::set_tint(engine, mesh, color);
    Ok(())
}

fn set_animation_variable(
    engine: &mut Engine,
    unit: UnitId,
    variable: TextArgument,
    value: f64,
) -> Result<(), Error> {
    unit::state_machine::animation_set_variable(engine, unit, NameOrIndex::Name(variable), value)
}

fn animation_event(engine: &mut Engine, unit: UnitId, event: TextArgument) -> Result<(), Error> {
    unit::state_machine::animation_event(engine, unit, NameOrIndex::Name(event)).map(|_| ())
}
