//! The Lua module `Level`: the navigation meshes of levels.

use crate::api_row::{ModuleRows, func, more};
use crate::argument::TextArgument;
use crate::return_value::WholeNumber;
use crate::value::ScriptValue;
use engine_foundation::{Error, error, suggest};
use engine_navigation::NavigationMeshId;
use engine_runtime::Engine;
use engine_runtime::level_navigation::{EditReport, LevelMeshes};
use engine_world::level::LevelId;

const LEVEL_ARG: (&str, &str) = ("level", "a level, or one nested in it");
const CLASS_ARG: (&str, &str) =
    ("class", "a class of characters in the level's navigation; the first one if left out");

pub static LEVEL: ModuleRows = more(
    "Level",
    &[
        func(
            "navigation_mesh",
            navigation_mesh,
            &[LEVEL_ARG, CLASS_ARG],
            "Returns the navigation mesh of a level; nil and the reason if it has none: no block \
             `navigation` in its file, a bake that failed, or units that are still being spawned. \
             `World.update` updates the mesh, and it ends with the level.",
        )
        .returns(&["mesh its mesh", "reason why there is none"])
        .pure(),
        func(
            "navigation_platform",
            navigation_platform,
            &[LEVEL_ARG, ("name", "the name of a platform in the level's navigation"), CLASS_ARG],
            "Returns the navigation mesh of a platform; nil if it does not exist: \
             `Level.navigation_edits` says why.",
        )
        .pure(),
        func(
            "navigation_area",
            navigation_area,
            &[LEVEL_ARG, ("name", "the name of an area in the level's navigation")],
            "Returns the number of an area, for example for `NavigationMesh.set_area_cost`.",
        )
        .pure(),
        func(
            "navigation_edits",
            navigation_edits,
            &[LEVEL_ARG, CLASS_ARG],
            "Returns what the volumes, blockers, links, platforms and seeds of the level's \
             navigation did when the mesh was baked: a list of tables with `kind`, `name`, \
             `level`, `message`, `has_effect`, and the `number` of the volume or link in the mesh.",
        )
        .pure(),
    ],
);

/// Native functions on which the prelude's functions are built. They are in its table `core`.
pub static CORE: ModuleRows = more(
    "Level",
    &[
        func(
            "bake_level",
            bake_level,
            &[("level", "")],
            "Bakes the navigation meshes of a level that has been spawned, and creates agents.",
        )
        .public_name("World.spawn_level"),
        func(
            "bake_level_later",
            bake_level_later,
            &[("level", "")],
            "Bakes the navigation meshes of a level again when its actors have been moved.",
        ),
    ],
);

fn bake_level(engine: &mut Engine, level: LevelId) {
    engine.bake_level(level);
    let world = engine.worlds.levels.of(level).world;
    engine.worlds.create_unit_agents(world, engine.frame.index);
}

fn bake_level_later(engine: &mut Engine, level: LevelId) {
    engine.bake_level_later(level);
}

/// Returns the meshes of a level, or the reason why it has none.
fn meshes_of(engine: &Engine, level: LevelId) -> Result<&LevelMeshes, String> {
    let levels = &engine.worlds.levels;
    let found = engine.worlds.navigation.of_level(levels, level);
    if let Some(found) = found {
        return match (&found.failure, found.meshes.is_empty()) {
            (Some(failure), true) => Err(failure.clone()),
            _ => Ok(found),
        };
    }
    let of = levels.of(level);
    let name = &of.resource.name;
    Err(match of.resource.navigation.is_some() {
        true => format!("the level \"{name}\" is still being spawned"),
        false => format!("the file of the level \"{name}\" has no block 'navigation'"),
    })
}

/// Returns the index of a class of characters.
fn class_of(meshes: &LevelMeshes, class: Option<&TextArgument>) -> Result<usize, Error> {
    let Some(class) = class else { return Ok(0) };
    let names = || meshes.meshes.iter().map(|mesh| mesh.class.as_str());
    let found = names().position(|name| name == class.as_str());
    found.ok_or_else(|| {
        let hint = suggest::hint(class.as_str(), names());
        error!(
            "argument #2 'class': the level's navigation has no agents '{}'{hint}",
            class.as_str()
        )
    })
}

fn navigation_mesh(
    engine: &mut Engine,
    level: LevelId,
    class: Option<TextArgument>,
) -> Result<(Option<NavigationMeshId>, Option<String>), Error> {
    let meshes = match meshes_of(engine, level) {
        Ok(meshes) => meshes,
        Err(reason) => return Ok((None, Some(reason))),
    };
    let class = class_of(meshes, class.as_ref())?;
    Ok((Some(meshes.meshes[class].mesh), None))
}

fn navigation_platform(
    engine: &mut Engine,
    level: LevelId,
    name: TextArgument,
    class: Option<TextArgument>,
) -> Result<Option<NavigationMeshId>, Error> {
    let meshes = meshes_of(engine, level).map_err(Error::new)?;
    let class = &meshes.meshes[class_of(meshes, class.as_ref())?];
    let known = || class.edits.iter().filter(|edit| edit.kind == "platform");
    if !known().any(|edit| edit.name == name.as_str()) {
        let hint = suggest::hint(name.as_str(), known().map(|edit| edit.name.as_str()));
        return Err(error!(
            "argument #2 'name': the level's navigation has no platform '{}'{hint}",
            name.as_str()
        ));
    }
    let navigation = &engine.worlds.navigation;
    Ok(navigation.platform_of_level(meshes.level, &class.class, name.as_str()))
}

fn navigation_area(
    engine: &mut Engine,
    level: LevelId,
    name: TextArgument,
) -> Result<WholeNumber, Error> {
    let meshes = meshes_of(engine, level).map_err(Error::new)?;
    let found = meshes.area(name.as_str());
    found.map(|number| WholeNumber(number.into())).ok_or_else(|| {
        let hint = suggest::hint(name.as_str(), meshes.areas.iter().map(String::as_str));
        error!("argument #2 'name': the level's navigation has no area '{}'{hint}", name.as_str())
    })
}

fn navigation_edits(
    engine: &mut Engine,
    level: LevelId,
    class: Option<TextArgument>,
) -> Result<ScriptValue, Error> {
    let meshes = meshes_of(engine, level).map_err(Error::new)?;
    let class = class_of(meshes, class.as_ref())?;
    Ok(ScriptValue::List(meshes.meshes[class].edits.iter().map(edit).collect()))
}

fn edit(report: &EditReport) -> ScriptValue {
    let text = |text: &str| ScriptValue::Text(text.to_string());
    let mut fields = vec![
        ("kind", text(report.kind)),
        ("name", text(&report.name)),
        ("level", text(&report.level)),
        ("message", text(&report.message)),
        ("has_effect", ScriptValue::Boolean(report.has_effect)),
    ];
    if let Some(number) = report.number {
        fields.push(("number", ScriptValue::Number(number.into())));
    }
    ScriptValue::Table(fields.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}
