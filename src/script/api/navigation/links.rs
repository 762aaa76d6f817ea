//! Functions of `NavigationMesh` about links between points that no ground joins.

use super::mesh::of;
use super::value_text;
use super::volumes::{of_mut, position};
use crate::argument::{Integer, TextArgument};
use crate::return_value::WholeNumber;
use crate::value::ScriptValue;
use engine_foundation::{Error, Vec3, error, suggest};
use engine_navigation::jump_links::JumpRules;
use engine_navigation::jumps::{JumpSettings, LINK_NAME_MAX, LINKS_MAX};
use engine_navigation::{AgentId, NavigationMeshId};
use engine_runtime::Engine;

pub(super) const LINK_ARG: (&str, &str) = ("link", "the number of a link of this mesh");

const NAMES: [&str; 4] = ["name", "cost", "one_way", "manual"];
/// Highest cost of a link, in metres.
const COST_MAX: f64 = 1e6;

fn read_options(options: Option<ScriptValue>, link: &mut JumpSettings) -> Result<(), Error> {
    let fields = match options {
        None | Some(ScriptValue::Nil) => return Ok(()),
        Some(ScriptValue::Table(fields)) => fields,
        _ => {
            return Err(error!("argument 'options' must be a table, such as {{ one_way = true }}"));
        }
    };
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("name", ScriptValue::Text(text)) if text.len() <= LINK_NAME_MAX => link.name = text,
            ("name", _) => {
                return Err(error!(
                    "option 'name' must be a string of at most {LINK_NAME_MAX} bytes \
                     (LINK_NAME_MAX)"
                ));
            }
            ("cost", ScriptValue::Number(cost)) if (0.0..=COST_MAX).contains(&cost) => {
                link.cost = cost as f32;
            }
            ("cost", value) => {
                let got = value_text(&value);
                return Err(error!("option 'cost' must be a number, 0 to {COST_MAX}, got {got}"));
            }
            ("one_way", ScriptValue::Boolean(is_one_way)) => link.is_two_way = !is_one_way,
            ("manual", ScriptValue::Boolean(is_manual)) => link.is_manual = is_manual,
            ("one_way" | "manual", _) => {
                return Err(error!("option '{name}' must be true or false"));
            }
            _ => {
                let hint = suggest::hint(&name, NAMES);
                return Err(error!("unknown option '{name}'{hint}"));
            }
        }
    }
    Ok(())
}

pub(super) fn add_link(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    from: Vec3,
    to: Vec3,
    options: Option<ScriptValue>,
) -> Result<WholeNumber, Error> {
    let (from, to) = (position(from, "#2 'from'")?, position(to, "#3 'to'")?);
    let cost = from.distance(to);
    let name = String::new();
    let mut link = JumpSettings { name, from, to, cost, is_two_way: true, is_manual: false };
    read_options(options, &mut link)?;
    let number = of_mut(engine, mesh).add_link(link);
    number
        .map(|number| WholeNumber(f64::from(number)))
        .ok_or_else(|| error!("the mesh has {LINKS_MAX} links (LINKS_MAX): remove one first"))
}

fn read_rules(options: Option<ScriptValue>) -> Result<JumpRules, Error> {
    let mut rules = JumpRules::DEFAULT;
    let fields = match options {
        None | Some(ScriptValue::Nil) => return Ok(rules),
        Some(ScriptValue::Table(fields)) => fields,
        _ => return Err(error!("argument 'options' must be a table, such as {{ distance = 3 }}")),
    };
    // The rest is as for other links.
    let mut link = JumpSettings {
        name: String::new(),
        from: Vec3::ZERO,
        to: Vec3::ZERO,
        cost: f32::NAN,
        is_two_way: true,
        is_manual: false,
    };
    for (name, value) in fields {
        if let Ok((low, high, length)) = rules.length(&name) {
            match value {
                ScriptValue::Number(number)
                    if (f64::from(low)..=f64::from(high)).contains(&number) =>
                {
                    *length = number as f32;
                }
                value => {
                    let got = value_text(&value);
                    return Err(error!(
                        "option '{name}' must be {low} to {high} metres, got {got}"
                    ));
                }
            }
        } else if matches!(name.as_str(), "name" | "cost" | "manual") {
            read_options(Some(ScriptValue::Table(vec![(name, value)])), &mut link)?;
        } else {
            let known = JumpRules::LENGTHS.into_iter().chain(["name", "cost", "manual"]);
            let hint = suggest::hint(&name, known);
            return Err(error!("unknown option '{name}'{hint}"));
        }
    }
    rules.cost = (!link.cost.is_nan()).then_some(link.cost);
    (rules.name, rules.is_manual) = (link.name, link.is_manual);
    Ok(rules)
}

pub(super) fn add_jump_links(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    options: Option<ScriptValue>,
) -> Result<ScriptValue, Error> {
    let rules = read_rules(options)?;
    let found = engine.find_jumps(mesh, &rules)?;
    let of = of_mut(engine, mesh);
    let (count, known) = (found.len(), of.num_links());
    if known + count > LINKS_MAX {
        return Err(error!(
            "{count} links were found, and the mesh has {known} of at most {LINKS_MAX} \
             (LINKS_MAX): increase 'spacing', or reduce 'distance'"
        ));
    }
    let numbers = found.into_iter().filter_map(|link| of.add_link(link));
    Ok(ScriptValue::List(numbers.map(|number| ScriptValue::Number(number.into())).collect()))
}

fn unknown(number: Integer) -> Error {
    error!("argument #2 'link': the mesh has no link {}", number.0)
}

pub(super) fn remove_link(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    number: Integer,
) -> Result<(), Error> {
    let mesh = of_mut(engine, mesh);
    let is_known = u32::try_from(number.0).is_ok_and(|number| mesh.remove_link(number));
    if is_known { Ok(()) } else { Err(unknown(number)) }
}

pub(super) fn is_link_usable(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    number: Integer,
) -> Result<bool, Error> {
    let mesh = of(engine, mesh);
    let known = u32::try_from(number.0).ok().filter(|number| mesh.link_of(*number).is_some());
    Ok(mesh.is_link_usable(known.ok_or_else(|| unknown(number))?))
}

pub(super) fn set_link_cost(
    engine: &mut Engine,
    agent: AgentId,
    name: TextArgument,
    cost: Option<ScriptValue>,
) -> Result<(), Error> {
    let name = link_name(&name)?;
    let cost = match cost {
        None | Some(ScriptValue::Nil) => None,
        Some(ScriptValue::Boolean(false)) => Some(f32::INFINITY),
        Some(ScriptValue::Number(cost)) if (0.0..=COST_MAX).contains(&cost) => Some(cost as f32),
        Some(value) => {
            let got = value_text(&value);
            return Err(error!(
                "argument #3 'cost' must be a number, 0 to {COST_MAX}, or false, got {got}"
            ));
        }
    };
    engine.worlds.navigation.agents.set_link_cost(agent.0, name, cost)
}

pub(super) fn link_cost(
    engine: &mut Engine,
    agent: AgentId,
    name: TextArgument,
) -> Result<ScriptValue, Error> {
    let name = link_name(&name)?;
    let known = engine.worlds.navigation.agents.slots.get(agent.0);
    let own = known.and_then(|agent| agent.own_costs.as_ref());
    Ok(match own.and_then(|own| own.link_cost(name)) {
        None => ScriptValue::Nil,
        Some(f32::INFINITY) => ScriptValue::Boolean(false),
        Some(cost) => ScriptValue::Number(cost.into()),
    })
}

/// Checks the name of links.
fn link_name(name: &TextArgument) -> Result<&str, Error> {
    let name = name.as_str();
    if name.is_empty() || name.len() > LINK_NAME_MAX {
        return Err(error!(
            "argument #2 'name' must be the name of links, 1 to {LINK_NAME_MAX} bytes \
             (LINK_NAME_MAX), got {}",
            name.len()
        ));
    }
    Ok(name)
}
