//! Functions of `Agent` about other agents and about physics: leaders, groups, and the position of
//! the character that an agent moves.

use super::agent::{of, of_mut, pose_of};
use super::volumes::position;
use crate::argument::Integer;
use crate::value::ScriptValue;
use engine_foundation::{Error, Handle, Vec2, Vec3, error};
use engine_navigation::agents::{AgentState, GROUPS_MAX};
use engine_navigation::{AgentId, NavigationMeshId};
use engine_runtime::Engine;
use engine_world::physics::MoverId;
use engine_world::unit::UnitId;

pub(super) const GROUP_ARG: (&str, &str) = ("group", "0 to 31; agents without a group are in 0");

/// Largest distance from a leader, in metres.
const OFFSET_MAX: f32 = 1000.0;

pub(super) fn group(number: i64, argument: &str) -> Result<u8, Error> {
    let most = GROUPS_MAX - 1;
    if !(0..=i64::from(most)).contains(&number) {
        return Err(error!("{argument} must be 0 to {most}, got {number}"));
    }
    Ok(number as u8)
}

pub(super) fn follow(
    engine: &mut Engine,
    agent: AgentId,
    leader: AgentId,
    offset: Option<Vec3>,
) -> Result<bool, Error> {
    let offset = offset.unwrap_or(Vec3::new(0.0, -2.0, 0.0)).truncate();
    if offset.abs().max_element() > OFFSET_MAX {
        return Err(error!(
            "argument #3 'offset' must be at most {OFFSET_MAX} metres to each side, got {offset}"
        ));
    }
    start(engine, agent, leader, (offset, "#2 'leader'"))
}

/// Lets an agent follow the leader of a formation.
pub(super) fn agent_form(
    engine: &mut Engine,
    leader: AgentId,
    follower: AgentId,
    offset: Vec3,
) -> Result<bool, Error> {
    let offset = offset.truncate();
    if offset.abs().max_element() > OFFSET_MAX {
        return Err(error!(
            "argument #2 'followers': some would be more than {OFFSET_MAX} metres from the leader: \
             reduce their number, or 'spacing'"
        ));
    }
    start(engine, follower, leader, (offset, "#2 'followers'"))
}

/// Lets an agent follow another one. `argument` is the one that messages name.
fn start(
    engine: &mut Engine,
    agent: AgentId,
    leader: AgentId,
    (offset, argument): (Vec2, &str),
) -> Result<bool, Error> {
    if agent == leader {
        return Err(error!("argument {argument}: an agent cannot follow itself"));
    }
    if of(engine, agent).mesh != of(engine, leader).mesh {
        return Err(error!(
            "argument {argument}: it is on another navigation mesh: create both on the same one"
        ));
    }
    if engine.worlds.navigation.agents.is_led_by(leader.0, agent.0) {
        return Err(error!(
            "argument {argument}: the leader follows the agent already, or one that does: call \
             Agent.cancel for the leader first"
        ));
    }
    let is_lost = |engine: &Engine, agent| of(engine, agent).state == AgentState::Lost;
    if is_lost(engine, agent) || is_lost(engine, leader) {
        return Ok(false);
    }
    engine.worlds.navigation.agents.follow(agent.0, leader.0, offset);
    Ok(true)
}

/// Checks the arguments of a function of the prelude that moves a unit.
pub(super) fn check_unit(_: &mut Engine, _: AgentId, _: UnitId) {}

/// Checks the arguments of a function of the prelude that moves a mover.
pub(super) fn check_mover(_: &mut Engine, _: AgentId, _: MoverId) {}

/// Has an agent give up the manual link on which it waits.
pub(super) fn give_up_link(engine: &mut Engine, agent: AgentId) {
    engine.worlds.navigation.agents.give_up_link(agent.0);
}

/// Returns true if the agent stands at the start of a manual link, until a script moves it.
pub(super) fn waits_on_link(engine: &mut Engine, agent: AgentId) -> bool {
    of(engine, agent).waits_on_link()
}

pub(super) fn leader(engine: &mut Engine, agent: AgentId) -> Option<AgentId> {
    let leader = of(engine, agent).leader();
    let agents = &engine.worlds.navigation.agents;
    leader.filter(|leader| agents.slots.get(*leader).is_some()).map(AgentId)
}

pub(super) fn forward(engine: &mut Engine, agent: AgentId) -> Vec3 {
    pose_of(engine, agent).turn(of(engine, agent).forward.extend(0.0))
}

pub(super) fn still_seconds(engine: &mut Engine, agent: AgentId) -> f64 {
    of(engine, agent).still_seconds.into()
}

pub(super) fn set_group(engine: &mut Engine, agent: AgentId, number: Integer) -> Result<(), Error> {
    of_mut(engine, agent).settings.group = group(number.0, "argument #2 'group'")?;
    Ok(())
}

pub(super) fn set_group_ignored(
    engine: &mut Engine,
    agent: AgentId,
    number: Integer,
    is_ignored: bool,
) -> Result<(), Error> {
    let bit = 1 << group(number.0, "argument #2 'group'")?;
    let known = &mut of_mut(engine, agent).settings.ignored_groups;
    *known = if is_ignored { *known | bit } else { *known & !bit };
    Ok(())
}

pub(super) fn update_position(
    engine: &mut Engine,
    agent: AgentId,
    position: Vec3,
) -> Result<Option<f64>, Error> {
    let position = self::position(position, "#2 'position'")?;
    let position = pose_of(engine, agent).to_local(position);
    let mesh = of(engine, agent).mesh;
    let navigation = &mut engine.worlds.navigation;
    let mesh = navigation.meshes.get_mut(mesh).ok_or_else(|| {
        error!("argument #1 'agent': its navigation mesh was destroyed: destroy the agent, too")
    })?;
    let agents = &mut navigation.agents;
    let own = agents.slots.get(agent.0).and_then(|agent| agent.own_costs.clone());
    let apart = mesh.with_costs(own.as_ref(), |mesh| agents.correct(agent.0, mesh, position));
    Ok(apart.map(f64::from))
}

/// Returns the agents of a mesh that have entered a link in its last update.
pub(super) fn linking_agents(engine: &mut Engine, mesh: NavigationMeshId) -> ScriptValue {
    let entered = engine.worlds.navigation.agents.entered(mesh.0);
    ScriptValue::List(entered.map(|agent: Handle| ScriptValue::Number(agent.to_number())).collect())
}
