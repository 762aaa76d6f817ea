//! Functions of `Agent` that return its settings, each beside the one that sets it or the option of
//! `Agent.create`.

use super::agent::{AGENT_ARG, of};
use super::following::{GROUP_ARG, group};
use crate::api_row::{ModuleRows, func, more};
use crate::argument::Integer;
use crate::return_value::WholeNumber;
use engine_foundation::Error;
use engine_navigation::AgentId;
use engine_runtime::Engine;

pub static AGENT: ModuleRows = more(
    "Agent",
    &[
        func("radius", radius, &[AGENT_ARG], "Returns its radius in metres.").pure(),
        func("speed", speed, &[AGENT_ARG], "Returns its highest speed, in metres per second.")
            .pure(),
        func(
            "acceleration",
            acceleration,
            &[AGENT_ARG],
            "Returns its acceleration, in metres per second, per second.",
        )
        .pure(),
        func("priority", priority, &[AGENT_ARG], "Returns its priority, 0 to 255.").pure(),
        func("group", agent_group, &[AGENT_ARG], "Returns its group, 0 to 31.").pure(),
        func(
            "is_group_ignored",
            is_group_ignored,
            &[AGENT_ARG, GROUP_ARG],
            "Returns true if it does not avoid the agents of a group.",
        )
        .pure(),
        func(
            "avoids",
            avoids,
            &[AGENT_ARG],
            "Returns true if it avoids others; false if it was created with `avoidance = 0`.",
        )
        .pure(),
    ],
);

fn radius(engine: &mut Engine, agent: AgentId) -> f64 {
    of(engine, agent).settings.radius.into()
}

fn speed(engine: &mut Engine, agent: AgentId) -> f64 {
    of(engine, agent).settings.speed.into()
}

fn acceleration(engine: &mut Engine, agent: AgentId) -> f64 {
    of(engine, agent).settings.acceleration.into()
}

fn priority(engine: &mut Engine, agent: AgentId) -> WholeNumber {
    WholeNumber(of(engine, agent).settings.priority.into())
}

fn agent_group(engine: &mut Engine, agent: AgentId) -> WholeNumber {
    WholeNumber(of(engine, agent).settings.group.into())
}

fn is_group_ignored(engine: &mut Engine, agent: AgentId, number: Integer) -> Result<bool, Error> {
    let bit = 1 << group(number.0, "argument #2 'group'")?;
    Ok(of(engine, agent).settings.ignored_groups & bit != 0)
}

fn avoids(engine: &mut Engine, agent: AgentId) -> bool {
    of(engine, agent).settings.avoids
}
