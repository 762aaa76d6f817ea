//! Functions of `NavigationMesh` about platforms: meshes of units that move, and their stops.

use super::mesh::{MESH_ARG, check_own};
use super::volumes::position;
use crate::api_row::{ModuleRows, func, hot, more};
use crate::argument::TextArgument;
use crate::return_value::WholeNumber;
use crate::value::ScriptValue;
use engine_foundation::{Error, Vec3, error, suggest};
use engine_navigation::NavigationMeshId;
use engine_navigation::jumps::LINK_NAME_MAX;
use engine_navigation::platforms::{PLATFORM_CAPACITY_MAX, Platform, StopCounts, StopSettings};
use engine_runtime::Engine;
use engine_runtime::navigation::Navigation;
use engine_runtime::navigation_platforms::PlatformOptions;
use engine_world::unit::UnitId;

const PLATFORM_ARG: (&str, &str) =
    ("platform", "the navigation mesh of a platform, from `create_platform`");
const STOP_ARG: (&str, &str) = ("stop", "the name of a stop of the platform");

pub static NAVIGATION_MESH: ModuleRows = more(
    "NavigationMesh",
    &[
        func(
            "create_platform",
            create_platform,
            &[
                ("mesh", "the navigation mesh of the ground, or of another platform"),
                ("unit", "the unit that moves: its actors are what characters stand on"),
                (
                    "options",
                    "a table with `capacity`, the number of agents that it carries (as many as it \
                     has room for), and `cost`, that of a ride in metres of ground (10)",
                ),
            ],
            "Bakes a mesh of a unit's actors that moves with the unit, such as a lift or a ferry, \
             and carries its agents. It has the settings of the mesh of its ground, with which it \
             is updated. Agents get on and off at its stops. It ends with its unit.",
        ),
        func(
            "add_stop",
            add_stop,
            &[
                PLATFORM_ARG,
                ("name", "a name of the stop, which no other stop of the platform has"),
                ("ashore", "the point on the ground at which agents get on and off"),
                ("aboard", "the same on the platform, in the space of its unit"),
                (
                    "distance",
                    "how far both may be apart, as seen from above, while the stop is open, in \
                     metres; 2 by default",
                ),
            ],
            "Adds a stop to a platform: it is open while its points are near each other, at most a \
             step and two cell heights higher or lower. Paths lead from each stop to the others.",
        ),
        func(
            "set_stop_open",
            set_stop_open,
            &[PLATFORM_ARG, STOP_ARG, ("open", "true or false; nil if the distance decides again")],
            "Opens or closes a stop, wherever the platform is.",
        ),
        func(
            "set_platform_usable",
            set_platform_usable,
            &[PLATFORM_ARG, ("usable", "false if no path leads over it")],
            "Takes a platform out of paths, for example while a lift is out of order, or has paths \
             lead over it again. Agents that wait for it take other ways. Those on it get off at \
             the first stop that is open.",
        ),
        func(
            "is_platform_usable",
            is_platform_usable,
            &[PLATFORM_ARG],
            "Returns true if paths lead over a platform.",
        )
        .pure(),
        func(
            "is_stop_open",
            is_stop_open,
            &[PLATFORM_ARG, STOP_ARG],
            "Returns true if agents could get on and off in the last update.",
        )
        .pure(),
        func(
            "stop_counts",
            stop_counts,
            &[PLATFORM_ARG, STOP_ARG],
            "Returns how many agents wait at a stop, how many on the platform want to get off \
             there, and how many are between both.",
        )
        .returns(&[
            "waiting number of those who wait",
            "leaving number of those who want to get off",
            "crossing number of those between the ground and the platform",
        ])
        .pure(),
        func(
            "num_aboard",
            num_aboard,
            &[PLATFORM_ARG],
            "Returns the number of agents on a platform, with those who are getting on.",
        )
        .pure(),
        hot(
            "to_world",
            to_world,
            &[MESH_ARG, ("point", "a point in the space of the mesh")],
            "Returns where a point of a mesh is in the world. It is the same point unless the mesh \
             is that of a platform.",
        )
        .pure(),
        hot(
            "to_local",
            to_local,
            &[MESH_ARG, ("point", "a point in the world")],
            "Returns a point of the world in the space of a mesh, in which all functions of \
             `NavigationMesh` have their points.",
        )
        .pure(),
    ],
);

/// Distance within which a stop is open, in metres.
const STOP_DISTANCE: f64 = 2.0;
const STOP_DISTANCE_MAX: f64 = 100.0;
/// Highest cost of a ride, in metres.
const COST_MAX: f32 = 1e6;

fn options(options: Option<ScriptValue>) -> Result<PlatformOptions, Error> {
    let mut found = PlatformOptions::DEFAULT;
    let mut capacity = None;
    super::read_numbers(options, &["capacity", "cost"], |name, number| {
        match name {
            "capacity" => capacity = Some(number),
            _ => found.cost = number,
        }
        true
    })?;
    if !(0.0..=COST_MAX).contains(&found.cost) {
        return Err(error!("option 'cost' must be 0 to {COST_MAX}, got {}", found.cost));
    }
    if let Some(capacity) = capacity {
        let most = PLATFORM_CAPACITY_MAX;
        if !(1.0..=most as f32).contains(&capacity) || capacity.fract() != 0.0 {
            return Err(error!(
                "option 'capacity' must be a whole number, 1 to {most} (PLATFORM_CAPACITY_MAX), \
                 got {capacity}"
            ));
        }
        found.capacity = Some(capacity as usize);
    }
    Ok(found)
}

pub(super) fn create_platform(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    unit: UnitId,
    option_table: Option<ScriptValue>,
) -> Result<NavigationMeshId, Error> {
    let options = options(option_table)?;
    engine.create_platform(mesh, unit, options)
}

/// Returns the platform of a mesh.
fn platform(engine: &Engine, mesh: NavigationMeshId) -> Result<&Platform, Error> {
    engine.worlds.navigation.agents.platform(mesh.0).ok_or_else(|| {
        error!(
            "argument #1 'platform': it is a mesh that does not move: create a platform with \
             NavigationMesh.create_platform"
        )
    })
}

/// Returns the index of a stop.
fn stop_of(engine: &Engine, mesh: NavigationMeshId, name: &TextArgument) -> Result<usize, Error> {
    let platform = platform(engine, mesh)?;
    platform.stop(name.as_str()).ok_or_else(|| {
        let names = platform.stops.iter().map(|stop| stop.settings.name.as_str());
        let hint = suggest::hint(name.as_str(), names);
        error!("argument #2 'stop': the platform has no stop '{}'{hint}", name.as_str())
    })
}

pub(super) fn add_stop(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    name: TextArgument,
    ashore: Vec3,
    aboard: Vec3,
    distance: Option<f64>,
) -> Result<(), Error> {
    platform(engine, mesh)?;
    check_file(engine, mesh)?;
    let (ashore, aboard) = (position(ashore, "#3 'ashore'")?, position(aboard, "#4 'aboard'")?);
    let distance = distance.unwrap_or(STOP_DISTANCE);
    if !(0.0..=STOP_DISTANCE_MAX).contains(&distance) {
        return Err(error!(
            "argument #5 'distance' must be 0 to {STOP_DISTANCE_MAX} metres, got {distance}"
        ));
    }
    let name = name.as_str().to_string();
    if name.is_empty() || name.len() > LINK_NAME_MAX {
        return Err(error!(
            "argument #2 'name' must have 1 to {LINK_NAME_MAX} bytes (LINK_NAME_MAX)"
        ));
    }
    let distance = distance as f32;
    engine.add_platform_stop(mesh, StopSettings { name, ashore, aboard, distance })
}

/// Refuses platforms of files.
fn check_file(engine: &Engine, mesh: NavigationMeshId) -> Result<(), Error> {
    match engine.worlds.navigation.is_platform_of_level(mesh) {
        true => Err(error!(
            "argument #1 'platform': it is in the navigation file of a level: change it there"
        )),
        false => Ok(()),
    }
}

pub(super) fn set_stop_open(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    name: TextArgument,
    is_open: Option<bool>,
) -> Result<(), Error> {
    let stop = stop_of(engine, mesh, &name)?;
    let platform = engine.worlds.navigation.agents.platform_mut(mesh.0);
    platform.expect("it was checked").stops[stop].held = is_open;
    Ok(())
}

fn set_platform_usable(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    is_usable: bool,
) -> Result<(), Error> {
    platform(engine, mesh)?;
    let Navigation { meshes, agents, .. } = &mut engine.worlds.navigation;
    agents.set_platform_usable(meshes, mesh.0, is_usable);
    Ok(())
}

fn is_platform_usable(engine: &mut Engine, mesh: NavigationMeshId) -> Result<bool, Error> {
    Ok(platform(engine, mesh)?.is_usable)
}

pub(super) fn is_stop_open(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    name: TextArgument,
) -> Result<bool, Error> {
    let stop = stop_of(engine, mesh, &name)?;
    Ok(platform(engine, mesh)?.stops[stop].is_open)
}

pub(super) fn stop_counts(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    name: TextArgument,
) -> Result<(WholeNumber, WholeNumber, WholeNumber), Error> {
    let stop = stop_of(engine, mesh, &name)?;
    let counts = engine.worlds.navigation.agents.stop_counts(mesh.0, stop as u8);
    let StopCounts { waiting, leaving, crossing } = counts;
    let number = |count: usize| WholeNumber(count as f64);
    Ok((number(waiting), number(leaving), number(crossing)))
}

pub(super) fn num_aboard(
    engine: &mut Engine,
    mesh: NavigationMeshId,
) -> Result<WholeNumber, Error> {
    platform(engine, mesh)?;
    Ok(WholeNumber(engine.worlds.navigation.agents.num_aboard(mesh.0) as f64))
}

pub(super) fn to_world(engine: &mut Engine, mesh: NavigationMeshId, point: Vec3) -> Vec3 {
    engine.worlds.navigation.agents.pose(mesh.0).to_world(point)
}

pub(super) fn to_local(engine: &mut Engine, mesh: NavigationMeshId, point: Vec3) -> Vec3 {
    engine.worlds.navigation.agents.pose(mesh.0).to_local(point)
}

/// Refuses meshes that another one updates: those of levels and platforms.
pub(super) fn check_updated(engine: &Engine, mesh: NavigationMeshId) -> Result<(), Error> {
    if engine.worlds.navigation.agents.platform(mesh.0).is_some() {
        return Err(error!(
            "argument #1 'mesh': it is that of a platform, which is updated with the mesh of its \
             ground"
        ));
    }
    check_own(engine, mesh, "whose world updates it: call World.update(world, dt)")
}

/// Ends the platforms on a mesh that is destroyed, or the mesh itself if it is one. Returns false
/// if the mesh still exists.
pub(super) fn destroy_platforms(
    engine: &mut Engine,
    mesh: NavigationMeshId,
    location: &str,
) -> Result<bool, Error> {
    check_file(engine, mesh)?;
    let frame = engine.frame.index;
    let navigation = &mut engine.worlds.navigation;
    if navigation.agents.platform(mesh.0).is_some() {
        navigation.end_platform(mesh, frame, location);
        return Ok(true);
    }
    navigation.end_platforms_on(mesh, frame, location);
    Ok(false)
}
