//! The row of the component `agent`: its fields, and the table of the agents of units. An agent is
//! created when its world has a navigation mesh with ground at the unit; the engine then drives the
//! unit (src/engine/unit_agents.rs). Agents themselves are in the system of navigation.

use super::WorldId;
use super::component::{ComponentField, FieldDefault, FieldKind};
use super::component_fields::{ComponentFields, number, text};
use super::component_table::{Component, ComponentHost, ComponentView, InspectSection};
use super::navigation_file::NAMED_AREAS_MAX;
use super::physics::FieldError;
use super::unit::UnitId;
use super::unit_resource::ComponentSource;
use super::unit_template::{TemplateBuilder, UnitTemplate};
use engine_foundation::hash::StateHash;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Error, Handle, Vec3, error};
use engine_navigation::agents::{AgentSettings, GROUPS_MAX};
use engine_navigation::platforms::MeshPose;
use engine_navigation::volumes::{AREA_COST_MAX, AREA_COST_MIN};
use std::collections::{BTreeMap, BTreeSet};

/// Values of the field `drive`.
const DRIVES: [&str; 3] = ["unit", "mover", "none"];

/// Highest speed in metres per second.
const SPEED_MAX: f32 = 1000.0;
/// Smallest and largest acceleration in metres per second, per second.
const ACCELERATION_MIN: f32 = 0.01;
const ACCELERATION_MAX: f32 = 1e6;
/// Smallest and largest radius in metres.
const RADIUS_MIN: f32 = 0.01;
const RADIUS_MAX: f32 = 100.0;

/// Fastest turn in degrees per second.
const TURN_MAX: f32 = 36_000.0;

/// The component `agent`.
pub static AGENT: Component = Component {
    name: "agent",
    doc: "Walks on the navigation mesh of its world, and moves its unit.",
    fields: &[
        ComponentField {
            name: "class",
            kind: FieldKind::Text,
            default: FieldDefault::Described("the first"),
            doc: "the class of characters in the navigation of the level ({default})",
        },
        ComponentField {
            name: "speed",
            kind: FieldKind::Number,
            default: FieldDefault::Number(AgentSettings::DEFAULT.speed),
            doc: "highest speed, in metres per second ({default})",
        },
        ComponentField {
            name: "acceleration",
            kind: FieldKind::Number,
            default: FieldDefault::Number(AgentSettings::DEFAULT.acceleration),
            doc: "metres per second, per second ({default})",
        },
        ComponentField {
            name: "radius",
            kind: FieldKind::Number,
            default: FieldDefault::Described("as the navigation mesh"),
            doc: "distance that it keeps from others, in metres ({default})",
        },
        ComponentField {
            name: "priority",
            kind: FieldKind::Number,
            default: FieldDefault::Number(0.0),
            doc: "0 to 255; others make way for those of higher priority ({default})",
        },
        ComponentField {
            name: "group",
            kind: FieldKind::Number,
            default: FieldDefault::Number(0.0),
            doc: "0 to 31; agents of the same group above 0 walk close together ({default})",
        },
        ComponentField {
            name: "avoids",
            kind: FieldKind::Boolean,
            default: FieldDefault::Boolean(true),
            doc: "false if it goes straight, and others avoid it ({default})",
        },
        ComponentField {
            name: "costs",
            kind: FieldKind::Checked(check_costs),
            default: FieldDefault::Described("those of the class"),
            doc: "costs of areas of the level's navigation by name, for this unit ({default})",
        },
        ComponentField {
            name: "drive",
            kind: FieldKind::Choice(&DRIVES),
            default: FieldDefault::Text(DRIVES[0]),
            doc: "what it moves: the unit, the unit's mover, or nothing ({default})",
        },
        ComponentField {
            name: "turn",
            kind: FieldKind::Number,
            default: FieldDefault::Number(360.0),
            doc: "how fast the unit turns to where it walks, in degrees per second; 0 leaves its \
                  rotation as it is ({default})",
        },
    ],
    in_node_order: true,
    read,
    spawn,
    end,
    moved: None,
    // A hidden unit still walks.
    hide: None,
    // Agents are hashed by their own system.
    state: Some(write_state),
    inspect: Some((InspectSection::Physics, inspect)),
    // It refers to no resource. Meshes that are baked again keep their agents.
    reload: None,
};

/// Object that an agent moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AgentDrive {
    Unit,
    Mover,
    Nothing,
}

/// An agent as declared in a unit's resource.
#[derive(Clone, PartialEq, Debug)]
pub struct AgentComponent {
    pub name: String,
    /// Class of characters; `None` for the first one of the mesh's level.
    pub class: Option<String>,
    /// The radius is that of the mesh if `has_radius` is false.
    pub settings: AgentSettings,
    pub has_radius: bool,
    /// Costs of areas by name, which it has instead of those of its class.
    pub costs: Vec<(String, f32)>,
    pub drive: AgentDrive,
    /// Radians per second.
    pub turn: f32,
}

/// Agent of a unit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct UnitAgent {
    pub unit: UnitId,
    /// The agent, once there is a mesh with ground at the unit. Scripts can destroy it.
    pub agent: Option<Handle>,
    /// Position at which the agent put the unit last. If the unit is elsewhere, the game moved it.
    pub placed: Vec3,
    /// Mesh on which the agent was then, with its pose: that of a platform, or of the ground.
    pub platform: Option<(Handle, MeshPose)>,
    /// Upward speed of a mover, in metres per second.
    pub rise: f32,
    /// True if the agent had been created, so that no other one replaces it.
    pub was_created: bool,
    /// True if a warning has said why it has no agent.
    pub was_reported: bool,
    /// How often no ground was found at the unit.
    pub attempts: u8,
    /// True until its first update, in which the unit can be elsewhere than where it was spawned.
    pub is_new: bool,
}

/// Agents of units, by row.
#[derive(Default)]
pub struct UnitAgents {
    pub of: BTreeMap<u32, UnitAgent>,
    /// Rows by the slot of the agent. The agent of a row can be another one by now.
    rows: BTreeMap<usize, u32>,
    /// Names of unit files of which a warning has said that there is no ground at their units.
    pub reported: BTreeSet<String>,
}

impl UnitAgents {
    /// Returns the agent of a unit.
    pub fn of_unit(&self, row: u32) -> Option<&UnitAgent> {
        self.of.get(&row)
    }

    /// Notes the agent that a unit has got; `None` if there was no room for it.
    pub fn set_agent(&mut self, row: u32, agent: Option<Handle>) {
        let Some(entry) = self.of.get_mut(&row) else { return };
        (entry.was_created, entry.agent) = (true, agent);
        if let Some(agent) = agent {
            self.rows.insert(agent.index(), row);
        }
    }

    /// Returns the row of the unit whose agent this is.
    pub fn row_of(&self, agent: Handle) -> Option<u32> {
        let row = *self.rows.get(&agent.index())?;
        (self.of.get(&row)?.agent == Some(agent)).then_some(row)
    }
}

fn check_costs(value: &SjsonTree, _: bool) -> Result<(), FieldError> {
    let SjsonTree::Object(entries) = value else {
        let message = "'costs' must be a block: costs = { water = 5 }";
        return Err(FieldError::new(message.to_string()));
    };
    if entries.len() > NAMED_AREAS_MAX {
        return Err(FieldError::new(format!(
            "{} areas are more than a level has (NAMED_AREAS_MAX is {NAMED_AREAS_MAX})",
            entries.len()
        )));
    }
    for (name, value) in entries {
        let is_cost = match value {
            SjsonTree::Number(cost) => {
                *cost == 0.0 || (AREA_COST_MIN..=AREA_COST_MAX).contains(&(*cost as f32))
            }
            _ => false,
        };
        if !is_cost {
            let message = format!(
                "the cost of the area '{name}' must be 0, which closes it, or {AREA_COST_MIN} to \
                 {AREA_COST_MAX}"
            );
            return Err(FieldError::new(message).in_block(name));
        }
    }
    Ok(())
}

fn costs(fields: &SjsonTree) -> Vec<(String, f32)> {
    let Some(SjsonTree::Object(entries)) = fields.get("costs") else { return Vec::new() };
    let cost = |(name, value): &(String, SjsonTree)| match value {
        SjsonTree::Number(cost) => Some((name.clone(), *cost as f32)),
        _ => None,
    };
    entries.iter().filter_map(cost).collect()
}

/// Reads a component `agent`.
fn read(part: &ComponentSource, node: u16, builder: &mut TemplateBuilder) -> Result<(), Error> {
    let fields = ComponentFields::new(&AGENT, part);
    if builder.template.agent.is_some() {
        return Err(error!("a unit has one component 'agent', and this is another one"));
    }
    if node != 0 {
        return Err(error!("it moves the whole unit: leave out 'node'"));
    }
    let in_range =
        |key: &str, number: f32, low: f32, high: f32| match (low..=high).contains(&number) {
            true => Ok(number),
            false => Err(error!("'{key}' must be {low} to {high}, got {number}")),
        };
    let priority = in_range("priority", fields.number("priority"), 0.0, 255.0)?;
    if priority.fract() != 0.0 {
        return Err(error!("'priority' must be a whole number, got {priority}"));
    }
    let group = in_range("group", fields.number("group"), 0.0, f32::from(GROUPS_MAX - 1))?;
    if group.fract() != 0.0 {
        return Err(error!("'group' must be a whole number, got {group}"));
    }
    let radius = number(fields.tree, "radius");
    let mut settings = AgentSettings::DEFAULT;
    settings.radius =
        in_range("radius", radius.unwrap_or(settings.radius), RADIUS_MIN, RADIUS_MAX)?;
    settings.speed = in_range("speed", fields.number("speed"), 0.0, SPEED_MAX)?;
    let acceleration = fields.number("acceleration");
    settings.acceleration =
        in_range("acceleration", acceleration, ACCELERATION_MIN, ACCELERATION_MAX)?;
    (settings.priority, settings.group) = (priority as u8, group as u8);
    settings.avoids = fields.boolean("avoids");
    let turn = in_range("turn", fields.number("turn"), 0.0, TURN_MAX)?;
    builder.template.agent = Some(AgentComponent {
        name: part.name.clone(),
        class: text(fields.tree, "class").map(str::to_string),
        settings,
        has_radius: radius.is_some(),
        costs: costs(fields.tree),
        drive: match fields.text("drive") {
            "mover" => AgentDrive::Mover,
            "none" => AgentDrive::Nothing,
            _ => AgentDrive::Unit,
        },
        turn: turn.to_radians(),
    });
    Ok(())
}

fn spawn(
    host: &mut ComponentHost,
    _: WorldId,
    unit: UnitId,
    template: &UnitTemplate,
) -> Result<(), Error> {
    let Some(component) = &template.agent else { return Ok(()) };
    let has_mover = template.physics.as_ref().is_some_and(|physics| !physics.movers.is_empty());
    if component.drive == AgentDrive::Mover && !has_mover {
        return Err(error!(
            "component '{}': drive = \"mover\" needs a mover in the unit's component 'physics'",
            component.name
        ));
    }
    let placed = host.units.scene.local_position(unit.row(), 0);
    let entry = UnitAgent {
        unit,
        agent: None,
        placed,
        platform: None,
        rise: 0.0,
        was_created: false,
        was_reported: false,
        attempts: 0,
        is_new: false,
    };
    host.agents.of.insert(unit.row(), entry);
    Ok(())
}

fn end(host: &mut ComponentHost, _: WorldId, unit: UnitId, location: &str) {
    let Some(entry) = host.agents.of.remove(&unit.row()) else { return };
    let slots = &mut host.walkers.slots;
    if let Some(agent) = entry.agent.filter(|agent| slots.get(*agent).is_some()) {
        slots.remove(agent, "", host.frame, location);
    }
}

fn write_state(view: &ComponentView, row: u32, hash: &mut StateHash) {
    let Some(entry) = view.agents.of_unit(row) else { return };
    hash.write_u64(entry.agent.map_or(0, |agent| agent.index() as u64 + 1));
    let flags = u64::from(entry.is_new) | u64::from(entry.was_created) << 1;
    hash.write_u64(u64::from(entry.rise.to_bits()) << 2 | flags);
    let placed = entry.placed.to_array();
    placed.into_iter().for_each(|number| hash.write_u64(u64::from(number.to_bits())));
}

fn inspect(view: &ComponentView, unit: UnitId, lines: &mut Vec<String>) {
    let Some(entry) = view.agents.of_unit(unit.row()) else { return };
    let agent = entry.agent.and_then(|agent| view.walkers.slots.get(agent));
    lines.push(match agent {
        None if entry.was_created => "agent, destroyed by the game".to_string(),
        None => "agent, waits for a navigation mesh with ground at the unit".to_string(),
        Some(agent) => {
            let sent = agent.last_wanted_point().map(|to| format!(", to {to}"));
            format!(
                "agent {}, radius {}, speed {}{}",
                agent.state_name(),
                agent.settings.radius,
                agent.settings.speed,
                sent.unwrap_or_default()
            )
        }
    });
}
