//! The Lua module `Agent`: characters that walk on a navigation mesh, around each other.

use super::mesh::{coordinates, ground, of as mesh_of};
use super::{following, links};
use super::{read_numbers, volumes, whole};
use crate::api_row::{ModuleRows, NodeFlag, func, hot, module};
use crate::argument::{Integer, MaybeHandle};
use crate::context;
use crate::return_value::WholeNumber;
use crate::value::ScriptValue;
use engine_foundation::{Error, Handle, Vec3, error};
use engine_navigation::agents::{AGENTS_MAX, Agent, AgentSettings, AgentState};
use engine_navigation::bake::NULL_AREA;
use engine_navigation::mesh::{NavigationMesh, NearestPolygon};
use engine_navigation::platforms::MeshPose;
use engine_navigation::queries::SNAP_DISTANCE;
use engine_navigation::{AgentId, NavigationMeshId};
use engine_runtime::Engine;
use engine_runtime::navigation::Navigation;

pub(super) const AGENT_ARG: (&str, &str) = ("agent", "an agent");

pub static AGENT: ModuleRows = module(
    "Agent",
    "Characters that walk on a navigation mesh to their destinations, around each other, and never \
     through its edges. `NavigationMesh.update` moves them; your game shows them where they are, \
     or moves a `Mover` with their velocity.",
    r#"local points = { 0, 0, 0, 20, 0, 0, 20, 20, 0, 0, 20, 0 }
local mesh = NavigationMesh.create_from_triangles(points, { 1, 2, 3, 1, 3, 4 })
local agent = Agent.create(mesh, Vector3(3, 3, 0), { speed = 5 })
assert(Agent.set_destination(agent, Vector3(16, 16, 0)))
for _ = 1, 300 do NavigationMesh.update(mesh, 1 / 60) end
assert(Agent.state(agent) == "arrived")
NavigationMesh.destroy(mesh)
Agent.destroy(agent)"#,
    &[
        func(
            "create",
            create,
            &[
                ("mesh", "a navigation mesh"),
                (
                    "position",
                    "a point of the world on its ground, or at most 2 metres away; on a platform, \
                     too",
                ),
                (
                    "options",
                    "a table with `radius` and `speed`, in metres and metres per second, \
                     `acceleration`, `priority` (0 to 255), `group` (0 to 31) and `avoidance` (1, \
                     or 0: it goes straight, and others avoid it)",
                ),
            ],
            "Creates an agent. The radius is that of the mesh by default, the speed 3.5.",
        ),
        func(
            "destroy",
            destroy,
            &[AGENT_ARG],
            "Destroys an agent. Its handle is stale afterwards.",
        )
        .when_full(),
        hot(
            "alive",
            alive,
            &[("agent", "a number that may be an agent's handle; nil and false are none")],
            "Returns true if the handle refers to an existing agent. Never raises for a stale \
             handle.",
        )
        .pure(),
        func(
            "set_destination",
            set_destination,
            &[AGENT_ARG, ("position", "a point on the ground, or at most 2 metres away")],
            "Sends an agent to a point. Its path is searched in one of the next updates; until \
             then, an agent under way goes on. Call it again whenever the point moves. Returns \
             false, and changes nothing, if there is no ground at the point or the agent is lost. \
             Raises an error if its mesh was destroyed.",
        ),
        func(
            "follow",
            following::follow,
            &[
                AGENT_ARG,
                ("leader", "another agent of the same mesh"),
                (
                    "offset",
                    "where to walk next to the leader: x to its right, y ahead of it; 2 metres \
                     behind it by default",
                ),
            ],
            "Lets an agent follow another one, until it is sent to a point or cancelled, or the \
             leader is destroyed. It walks at the offset where ground is there, and nearer to the \
             leader between walls. Returns false, and changes nothing, if one of them is lost.",
        ),
        func(
            "leader",
            following::leader,
            &[AGENT_ARG],
            "Returns the agent that it follows; nil if it follows none.",
        )
        .pure(),
        func(
            "cancel",
            cancel,
            &[AGENT_ARG],
            "Stops an agent, which has no destination any more. One that waits on a link that is \
             `manual` leaves it, at its start.",
        ),
        hot(
            "position",
            position,
            &[AGENT_ARG],
            "Returns its position on the ground, in the world.",
        )
        .pure(),
        hot("velocity", velocity, &[AGENT_ARG], "Returns its velocity, in metres per second.")
            .pure(),
        hot(
            "desired_velocity",
            desired_velocity,
            &[AGENT_ARG],
            "Returns the velocity that it would have without others, in metres per second.",
        )
        .pure(),
        hot(
            "forward",
            following::forward,
            &[AGENT_ARG],
            "Returns the direction in which it looks: that in which it walked last, with length 1.",
        )
        .pure(),
        func(
            "remaining_distance",
            remaining_distance,
            &[AGENT_ARG],
            "Returns the length of the rest of its path in metres; 0 without a path.",
        )
        .pure(),
        func(
            "state",
            state,
            &[AGENT_ARG],
            "Returns \"idle\", \"waiting\" (for its path), \"moving\", \"linking\" (on a link), \
             \"arrived\" (also while it tries to come nearer), \"partial\" (at the end of a path \
             that does not reach the destination), \"blocked\" (something that the mesh does not \
             know holds it back, or agents in its way do not make way; it tries again after some \
             seconds), \"boarding\" (it goes to a stop, waits for a platform, or gets on), \
             \"riding\" (on a platform), \"leaving\" (it gets off) or \"lost\" (its mesh was \
             destroyed, or has no ground near it any more).",
        )
        .pure(),
        func(
            "platform",
            platform,
            &[AGENT_ARG],
            "Returns the navigation mesh of the platform on which it is; nil if it is on none.",
        )
        .pure(),
        func(
            "destination",
            destination,
            &[AGENT_ARG],
            "Returns the point that it was sent to; nil if there is none. An obstacle can be on it \
             by now: then the state is \"partial\" when the agent is as near as it can get, and it \
             goes on to the point once there is ground again.",
        )
        .pure(),
        func(
            "set_position",
            set_position,
            &[AGENT_ARG, ("position", "a point on the ground, or at most 2 metres away")],
            "Moves an agent at once, with the mover of its unit if it drives one. It goes on to \
             its destination from there. An agent that is \"lost\" because there was no ground \
             near it is \"idle\" there. Returns false, and changes nothing, if there is no ground \
             at the point.",
        ),
        func(
            "update_position",
            following::update_position,
            &[AGENT_ARG, ("position", "where the character is")],
            "Corrects the position of an agent whose character is moved by physics. It keeps its \
             path. Returns the distance between the character and the ground on which the agent is \
             now; nil, and the agent stays where it was, if there is no ground within 2 metres.",
        ),
        func(
            "set_group",
            following::set_group,
            &[AGENT_ARG, following::GROUP_ARG],
            "Sets the group of an agent. Agents of the same group above 0 walk close together.",
        ),
        func(
            "set_group_ignored",
            following::set_group_ignored,
            &[
                AGENT_ARG,
                following::GROUP_ARG,
                ("ignored", "true: the agent does not avoid agents of the group"),
            ],
            "Sets that an agent does not avoid the agents of a group, or that it does. Agents of \
             the group still avoid the agent, unless they ignore its group, too.",
        ),
        func(
            "set_speed",
            set_speed,
            &[AGENT_ARG, ("speed", "metres per second, 0 to 1000")],
            "Sets its highest speed.",
        ),
        func(
            "set_priority",
            set_priority,
            &[AGENT_ARG, ("priority", "0 to 255")],
            "Sets its priority. Agents make way for others of higher priority.",
        ),
        func(
            "set_area_cost",
            set_area_cost,
            &[
                AGENT_ARG,
                volumes::AREA_ARG,
                (
                    "cost",
                    "0.01 to 1000; 0 closes the area for it, nil takes the cost of the mesh again",
                ),
            ],
            "Sets what a metre of an area costs one agent, in place of \
             `NavigationMesh.set_area_cost`. Its path is searched again. The agents of a mesh have \
             at most 16 different sets of costs.",
        ),
        func(
            "area_cost",
            area_cost,
            &[AGENT_ARG, volumes::AREA_ARG],
            "Returns what a metre of an area costs an agent: its own cost, or that of the mesh; 0 \
             if the area is closed for it.",
        )
        .pure(),
        func(
            "set_link_cost",
            links::set_link_cost,
            &[
                AGENT_ARG,
                ("name", "the name of links"),
                (
                    "cost",
                    "0 to 1,000,000 metres of ordinary ground; false if it does not use them, nil \
                     takes the cost of each link again",
                ),
            ],
            "Sets what the links with a name cost one agent, on each mesh on which it walks. Its \
             path is searched again. An agent has costs for at most 64 names, and the agents of a \
             mesh have at most 16 different sets of costs.",
        ),
        func(
            "link_cost",
            links::link_cost,
            &[AGENT_ARG, ("name", "the name of links")],
            "Returns what the links with a name cost an agent; false if it does not use them, nil \
             if each link costs it what it costs others.",
        )
        .pure(),
        func(
            "link",
            link,
            &[AGENT_ARG],
            "Returns the number and the name of the link that it is on; nil if it is on none. The \
             name is nil if the link has none, or was removed.",
        )
        .returns(&["link number of the link", "name its name"])
        .pure()
        .node(NodeFlag::Query),
        func(
            "finish_link",
            finish_link,
            &[AGENT_ARG],
            "Puts an agent at the end of the link that it is on. It goes on from there. Call it \
             when a door is open or an animation has ended, for links that are `manual`.",
        ),
        func(
            "stuck_seconds",
            stuck_seconds,
            &[AGENT_ARG],
            "Returns for how long neither it nor the line in which it waits has made progress. \
             Agents that are stuck get a new path.",
        )
        .pure(),
        func(
            "still_seconds",
            following::still_seconds,
            &[AGENT_ARG],
            "Returns for how long it has made no progress of its own, for example in a line in \
             front of a door.",
        )
        .pure(),
        func(
            "draw_avoidance",
            draw_avoidance,
            &[AGENT_ARG],
            "Shows the velocities that an agent may have as lines for one frame: within the grey \
             circle of its highest speed, those on the side of each line to which no tick points. \
             A metre is a metre a second. Lines of walls are red, those of others pink. Returns \
             the number of lines that do not fit in. Shows nothing in a release.",
        )
        .node(NodeFlag::Hidden),
    ],
);

/// Native functions on which the prelude's functions are built. They are in its table `core`.
pub static CORE: ModuleRows = module(
    "Agent",
    "Lists of points, formations, and the arguments of functions that are built on others, for the \
     prelude.",
    "assert(core == nil)",
    &[
        func("agent_path", agent_path, &[("agent", "")], "Returns the coordinates of its path.")
            .public_name("Agent.path")
            .pure(),
        func(
            "agent_form",
            following::agent_form,
            &[("leader", ""), ("followers", ""), ("offset", "")],
            "Lets one agent of a formation follow its leader.",
        )
        .public_name("Agent.form"),
        func(
            "agent_move_unit",
            following::check_unit,
            &[("agent", ""), ("unit", "")],
            "Checks the arguments.",
        )
        .public_name("Agent.move_unit")
        .pure(),
        func(
            "agent_move_mover",
            following::check_mover,
            &[("agent", ""), ("mover", "")],
            "Checks the arguments.",
        )
        .public_name("Agent.move_mover")
        .pure(),
        func(
            "agent_use_root_motion",
            following::check_unit,
            &[("agent", ""), ("unit", "")],
            "Checks the arguments.",
        )
        .public_name("Agent.use_root_motion")
        .pure(),
        func(
            "agent_waits_on_link",
            following::waits_on_link,
            &[("agent", "")],
            "Returns true if it waits on a manual link.",
        )
        .public_name("NavigationMesh.handle_links")
        .pure(),
        func(
            "agent_give_up_link",
            following::give_up_link,
            &[("agent", "")],
            "Takes it off a manual link, which it does not use for some time.",
        )
        .public_name("NavigationMesh.handle_links"),
    ],
);

pub(super) fn of(engine: &Engine, agent: AgentId) -> &Agent {
    let found = engine.worlds.navigation.agents.slots.get(agent.0);
    found.expect("the handle was checked where it came in")
}

pub(super) fn of_mut(engine: &mut Engine, agent: AgentId) -> &mut Agent {
    let found = engine.worlds.navigation.agents.slots.get_mut(agent.0);
    found.expect("the handle was checked where it came in")
}

/// Returns the mesh of an agent.
pub(super) fn mesh(engine: &Engine, agent: AgentId) -> Result<&NavigationMesh, Error> {
    let mesh = engine.worlds.navigation.meshes.get(of(engine, agent).mesh);
    mesh.ok_or_else(|| {
        error!("argument #1 'agent': its navigation mesh was destroyed: destroy the agent, too")
    })
}

fn in_range(name: &str, number: f64, low: f64, high: f64) -> Result<f32, Error> {
    if !(low..=high).contains(&number) {
        return Err(error!("{name} must be {low} to {high}, got {number}"));
    }
    Ok(number as f32)
}

fn settings(options: Option<ScriptValue>, radius: f32) -> Result<AgentSettings, Error> {
    const NAMES: [&str; 6] = ["radius", "speed", "acceleration", "priority", "group", "avoidance"];
    let (mut radius, mut priority, mut group, mut avoidance) = (radius, 0.0, 0.0, 1.0);
    let AgentSettings { mut speed, mut acceleration, .. } = AgentSettings::DEFAULT;
    read_numbers(options, &NAMES, |name, number| {
        *match name {
            "radius" => &mut radius,
            "speed" => &mut speed,
            "acceleration" => &mut acceleration,
            "priority" => &mut priority,
            "group" => &mut group,
            _ => &mut avoidance,
        } = number;
        true
    })?;
    whole("option 'priority'", priority)?;
    whole("option 'group'", group)?;
    let avoidance = in_range("option 'avoidance'", avoidance.into(), 0.0, 1.0)?;
    whole("option 'avoidance'", avoidance)?;
    Ok(AgentSettings {
        radius: in_range("option 'radius'", radius.into(), 0.01, 100.0)?,
        speed: in_range("option 'speed'", speed.into(), 0.0, 1000.0)?,
        acceleration: in_range("option 'acceleration'", acceleration.into(), 0.01, 1e6)?,
        priority: in_range("option 'priority'", priority.into(), 0.0, 255.0)? as u8,
        avoids: avoidance > 0.0,
        group: following::group(group as i64, "option 'group'")?,
        ignored_groups: 0,
    })
}

fn create(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    position: Vec3,
    options: Option<ScriptValue>,
) -> Result<AgentId, Error> {
    let of = mesh_of(engine, mesh);
    let settings = settings(options, of.settings().radius.max(0.01))?;
    let position = volumes::position(position, "#2 'position'")?;
    let all = &engine.worlds.navigation.agents;
    let local = all.pose(mesh.0).to_local(position);
    let at = match all.platform(mesh.0).is_some() && of.snap(local).is_none() {
        true => {
            return Err(error!(
                "argument #2 'position': no ground of the platform is within {SNAP_DISTANCE} \
                 metres of {position}, a point of the world: NavigationMesh.to_world makes one of \
                 a point of the platform"
            ));
        }
        false => ground(of, local, "#2 'position'")?,
    };
    let added = engine.worlds.navigation.agents.add(mesh.0, at, settings);
    added
        .map(AgentId)
        .ok_or_else(|| error!("{AGENTS_MAX} agents already exist (AGENTS_MAX): destroy one first"))
}

fn destroy(engine: &mut Engine, agent: AgentId) {
    let frame = engine.frame.index;
    let slots = &mut engine.worlds.navigation.agents.slots;
    slots.remove(agent.0, "", frame, &context::script_location());
}

fn alive(engine: &mut Engine, agent: MaybeHandle) -> bool {
    agent.handle().is_some_and(|handle| engine.worlds.navigation.agents.slots.get(handle).is_some())
}

fn set_destination(engine: &mut Engine, agent: AgentId, position: Vec3) -> Result<bool, Error> {
    let Some((mesh, destination)) = ground_of(engine, agent, position)? else { return Ok(false) };
    if of(engine, agent).state == AgentState::Lost {
        return Ok(false);
    }
    engine.worlds.navigation.agents.set_target(agent.0, mesh, destination);
    Ok(true)
}

/// Returns the ground at a position: on the mesh of an agent, on that below it, or on the platforms
/// there.
fn ground_of(
    engine: &Engine,
    agent: AgentId,
    position: Vec3,
) -> Result<Option<(Handle, NearestPolygon)>, Error> {
    mesh(engine, agent)?;
    let position = volumes::position(position, "#2 'position'")?;
    let Navigation { agents, meshes, .. } = &engine.worlds.navigation;
    let root = agents.root(of(engine, agent).mesh);
    Ok(agents.ground_at(meshes, root, position, |mesh, local| mesh.snap(local)))
}

fn cancel(engine: &mut Engine, agent: AgentId) {
    engine.worlds.navigation.agents.cancel(agent.0);
}

/// Returns the pose of the mesh on which an agent is.
pub(super) fn pose_of(engine: &Engine, agent: AgentId) -> MeshPose {
    engine.worlds.navigation.agents.pose(of(engine, agent).mesh)
}

fn position(engine: &mut Engine, agent: AgentId) -> Vec3 {
    pose_of(engine, agent).to_world(of(engine, agent).at.position)
}

fn velocity(engine: &mut Engine, agent: AgentId) -> Vec3 {
    pose_of(engine, agent).turn(of(engine, agent).velocity.extend(0.0))
}

fn desired_velocity(engine: &mut Engine, agent: AgentId) -> Vec3 {
    pose_of(engine, agent).turn(of(engine, agent).desired.extend(0.0))
}

fn platform(engine: &mut Engine, agent: AgentId) -> Option<NavigationMeshId> {
    let mesh = of(engine, agent).mesh;
    engine.worlds.navigation.agents.platform(mesh).map(|of| NavigationMeshId(of.mesh))
}

fn remaining_distance(engine: &mut Engine, agent: AgentId) -> Result<f64, Error> {
    let mesh = mesh(engine, agent)?;
    Ok(of(engine, agent).remaining_distance(mesh).into())
}

fn state(engine: &mut Engine, agent: AgentId) -> String {
    of(engine, agent).state_name().to_string()
}

fn destination(engine: &mut Engine, agent: AgentId) -> Option<Vec3> {
    let of = of(engine, agent);
    let target = of.target.map(|target| (target.mesh, target.position));
    let own = of.last_wanted_point().map(|wanted| (of.mesh, wanted));
    let (mesh, position) = target.or(own)?;
    Some(engine.worlds.navigation.agents.pose(mesh).to_world(position))
}

fn set_position(engine: &mut Engine, agent: AgentId, position: Vec3) -> Result<bool, Error> {
    let Some(ground) = ground_of(engine, agent, position)? else { return Ok(false) };
    engine.teleport_agent(agent, ground)?;
    Ok(true)
}

fn set_speed(engine: &mut Engine, agent: AgentId, speed: f64) -> Result<(), Error> {
    of_mut(engine, agent).settings.speed = in_range("argument #2 'speed'", speed, 0.0, 1000.0)?;
    Ok(())
}

fn set_priority(engine: &mut Engine, agent: AgentId, priority: Integer) -> Result<(), Error> {
    let priority = in_range("argument #2 'priority'", priority.0 as f64, 0.0, 255.0)?;
    of_mut(engine, agent).settings.priority = priority as u8;
    Ok(())
}

fn set_area_cost(
    engine: &mut Engine,
    agent: AgentId,
    number: Integer,
    cost: Option<f64>,
) -> Result<(), Error> {
    let area = volumes::area(number, NULL_AREA + 1)?;
    let cost = cost.map(volumes::cost).transpose()?;
    engine.worlds.navigation.agents.set_area_cost(agent.0, area, cost)
}

fn area_cost(engine: &mut Engine, agent: AgentId, number: Integer) -> Result<f64, Error> {
    let area = volumes::area(number, NULL_AREA + 1)?;
    Ok(of(engine, agent).area_cost(mesh(engine, agent)?, area).into())
}

fn draw_avoidance(engine: &mut Engine, agent: AgentId) -> Result<u64, Error> {
    Ok(engine.show_avoidance(agent)? as u64)
}

fn stuck_seconds(engine: &mut Engine, agent: AgentId) -> f64 {
    of(engine, agent).stuck_seconds.into()
}

fn link(engine: &mut Engine, agent: AgentId) -> (Option<WholeNumber>, Option<String>) {
    let of = of(engine, agent);
    let Some(number) = of.link() else { return (None, None) };
    let mesh = engine.worlds.navigation.meshes.get(of.mesh);
    let name = mesh.and_then(|mesh| mesh.link_of(number)).map(|link| link.name.clone());
    (Some(WholeNumber(f64::from(number))), name.filter(|name| !name.is_empty()))
}

fn finish_link(engine: &mut Engine, agent: AgentId) -> Result<(), Error> {
    if !engine.finish_link(agent)? {
        return Err(error!(
            "argument #1 'agent': it is on no link: call this while Agent.state is \"linking\""
        ));
    }
    Ok(())
}

fn agent_path(engine: &mut Engine, agent: AgentId) -> ScriptValue {
    let mut corners = Vec::new();
    let of = of(engine, agent);
    if of.state != AgentState::Lost
        && let Some(mesh) = engine.worlds.navigation.meshes.get(of.mesh)
    {
        of.corners(mesh, &mut corners);
    }
    let pose = pose_of(engine, agent);
    corners.iter_mut().for_each(|corner| *corner = pose.to_world(*corner));
    coordinates(&corners)
}
