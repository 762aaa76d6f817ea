//! The resource kind `navigation`: how the navigation meshes of a level are baked, for which
//! characters, and what is changed by hand: areas, volumes, blockers, links, platforms and seed
//! points. A level names such a file, or contains its content. The meshes are baked when the level
//! is compiled, or when it has been spawned (src/world/level_navigation/).

mod jumps;
mod names;
mod platforms;

pub use jumps::JumpEdit;
pub use platforms::PlatformEdit;

use super::unit_compiler::{are_numbers, invalid_value};
use super::volume::{self, Volume};
use engine_foundation::sjson::{self, SjsonTree, SjsonValue};
use engine_foundation::{Error, Vec3, suggest};
use engine_navigation::bake::BakeSettings;
use engine_navigation::dispersion::DISPERSION_MAX;
use engine_navigation::islands::SEEDS_MAX;
use engine_navigation::jumps::{LINK_NAME_MAX, LINKS_MAX};
use engine_navigation::volumes::{AREA_COST_MAX, AREA_COST_MIN, VOLUMES_MAX};
use engine_resource::data_resources::{read_document, read_tree, write_tree};
use engine_resource::panic_report::contain;
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{
    CompileContext, ResourceKind, SourceForm, compiler, kind_names,
};
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;

/// The resource kind of navigation files.
pub static NAVIGATION: ResourceKind = ResourceKind {
    name: kind_names::NAVIGATION,
    doc: "How the navigation meshes of a level are baked, and what is changed by hand",
    extensions: &[("navigation", SourceForm::Own)],
    version: 1,
    framed: false,
    reload: &[ReloadStep::Navigation],
    compile: compiler(compile),
    validate: |bytes| {
        let document = read_document(bytes)?;
        check(document.root()).map_err(|(_, message)| Error::new(message))
    },
};

/// Maximum number of classes of characters, each with a mesh of its own.
pub const AGENT_CLASSES_MAX: usize = 8;
/// Maximum number of areas with names.
pub const NAMED_AREAS_MAX: usize = 62;
/// Number of the first area with a name; 1 is the area of other ground.
pub const FIRST_NAMED_AREA: u8 = 2;
/// Name of the class of characters of a file that names none.
pub const DEFAULT_CLASS: &str = "default";
/// Highest cost of a link, in metres.
const LINK_COST_MAX: f32 = 1e6;

const KEYS: [&str; 9] =
    ["agents", "areas", "volumes", "blockers", "links", "jumps", "platforms", "seeds", "source"];
const LINK_KEYS: [&str; 8] =
    ["from", "to", "spline", "name", "cost", "one_way", "manual", "agents"];
const SOURCES: [&str; 2] = ["level", "world"];

/// Class of characters, for which a mesh is baked.
#[derive(Clone, PartialEq, Debug)]
pub struct AgentClass {
    pub name: String,
    pub settings: BakeSettings,
    /// Costs of areas for this class.
    pub costs: Vec<(String, f32)>,
    /// Metres by which each agent that waits makes a way longer for searches.
    pub dispersion: f32,
}

/// Shape of a volume.
#[derive(Clone, PartialEq, Debug)]
pub enum EditShape {
    Own(Volume),
    /// Name of a volume of the level.
    OfLevel(String),
}

/// Volume that gives ground an area, or blocks it.
#[derive(Clone, PartialEq, Debug)]
pub struct VolumeEdit {
    pub name: String,
    pub shape: EditShape,
    /// Name of the area; `None` for a blocker.
    pub area: Option<String>,
    /// Classes of characters for which it applies; all if empty.
    pub classes: Vec<String>,
}

/// Ends of a link.
#[derive(Clone, PartialEq, Debug)]
pub enum LinkEnds {
    Own(Vec3, Vec3),
    /// The first and the last point of a spline of the level.
    OfSpline(String),
}

/// Way between two points that no ground joins.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkEdit {
    /// Name in the file.
    pub name: String,
    /// Name for scripts.
    pub link_name: String,
    pub ends: LinkEnds,
    /// Cost in metres; `None` for the distance of the ends.
    pub cost: Option<f32>,
    pub is_two_way: bool,
    pub is_manual: bool,
    /// Classes of characters for which it applies; all if empty.
    pub classes: Vec<String>,
}

/// Content of a navigation file. Lists are in the order of the file.
#[derive(Clone, PartialEq, Debug)]
pub struct NavigationFile {
    pub classes: Vec<AgentClass>,
    /// Areas with the cost of a metre.
    pub areas: Vec<(String, f32)>,
    pub volumes: Vec<VolumeEdit>,
    pub links: Vec<LinkEdit>,
    pub jumps: Vec<JumpEdit>,
    pub platforms: Vec<PlatformEdit>,
    pub seeds: Vec<Vec3>,
    /// True if all static actors of the world are baked, and not only those of the level.
    pub is_of_world: bool,
}

/// The navigation of a level: the name of a file, or its content.
#[derive(Clone, PartialEq, Debug)]
pub enum LevelNavigation {
    File(String),
    Inline(Box<NavigationFile>),
}

impl LevelNavigation {
    /// Reads the block of a level that the compiler has validated.
    pub(super) fn of(tree: &SjsonTree) -> LevelNavigation {
        match tree {
            SjsonTree::String(name) => LevelNavigation::File(name.clone()),
            tree => LevelNavigation::Inline(Box::new(NavigationFile::of(tree))),
        }
    }
}

fn block<'a>(tree: &'a SjsonTree, key: &str) -> &'a [(String, SjsonTree)] {
    match tree.get(key) {
        Some(SjsonTree::Object(fields)) => fields,
        _ => &[],
    }
}

fn number(value: Option<&SjsonTree>) -> Option<f32> {
    match value {
        Some(SjsonTree::Number(number)) => Some(*number as f32),
        _ => None,
    }
}

fn text(fields: &SjsonTree, key: &str) -> Option<String> {
    match fields.get(key) {
        Some(SjsonTree::String(text)) => Some(text.clone()),
        _ => None,
    }
}

fn is_true(fields: &SjsonTree, key: &str) -> bool {
    matches!(fields.get(key), Some(SjsonTree::Bool(true)))
}

fn point(value: Option<&SjsonTree>) -> Vec3 {
    let Some(SjsonTree::Array(parts)) = value else { return Vec3::ZERO };
    let part = |at: usize| number(parts.get(at)).unwrap_or(0.0);
    Vec3::new(part(0), part(1), part(2))
}

fn texts(fields: &SjsonTree, key: &str) -> Vec<String> {
    let Some(SjsonTree::Array(items)) = fields.get(key) else { return Vec::new() };
    let text = |item: &SjsonTree| match item {
        SjsonTree::String(text) => Some(text.clone()),
        _ => None,
    };
    items.iter().filter_map(text).collect()
}

impl NavigationFile {
    /// Reads a navigation file.
    ///
    /// # Errors
    /// Returns an error if the resource is missing or broken.
    pub fn read(store: &mut ResourceStore, name: &str) -> Result<NavigationFile, Error> {
        let resource = ResourceName::new(kind_names::NAVIGATION, name);
        let bytes = store.read(&resource)?;
        contain(&resource, || NavigationFile::read_data(&bytes))
    }

    /// Reads the compiled data of a navigation file.
    ///
    /// # Errors
    /// Returns an error if the data is broken.
    pub fn read_data(bytes: &[u8]) -> Result<NavigationFile, Error> {
        Ok(NavigationFile::of(&read_tree(bytes)?))
    }

    /// Builds the content from a tree that the compiler has validated.
    pub(super) fn of(tree: &SjsonTree) -> NavigationFile {
        let mut classes: Vec<AgentClass> = block(tree, "agents").iter().map(agent_class).collect();
        if classes.is_empty() {
            classes.push(AgentClass {
                name: DEFAULT_CLASS.to_string(),
                settings: BakeSettings::DEFAULT,
                costs: Vec::new(),
                dispersion: 0.0,
            });
        }
        let areas = block(tree, "areas").iter();
        let edits = ["volumes", "blockers"].map(|key| block(tree, key).iter().map(volume_edit));
        let seeds = match tree.get("seeds") {
            Some(SjsonTree::Array(items)) => items.iter().map(|item| point(Some(item))).collect(),
            _ => Vec::new(),
        };
        NavigationFile {
            classes,
            areas: areas
                .map(|(name, fields)| (name.clone(), number(fields.get("cost")).unwrap_or(1.0)))
                .collect(),
            volumes: edits.into_iter().flatten().collect(),
            links: block(tree, "links").iter().map(link_edit).collect(),
            jumps: block(tree, "jumps").iter().map(jumps::jump_edit).collect(),
            platforms: block(tree, "platforms").iter().map(platforms::platform_edit).collect(),
            seeds,
            is_of_world: text(tree, "source").is_some_and(|source| source == SOURCES[1]),
        }
    }
}

fn agent_class((name, fields): &(String, SjsonTree)) -> AgentClass {
    let mut settings = BakeSettings::DEFAULT;
    if let SjsonTree::Object(entries) = fields {
        for (key, value) in entries {
            if let Some(number) = number(Some(value)) {
                settings.set(key, number);
            }
        }
    }
    let costs = block(fields, "costs").iter();
    let cost = |(area, cost): &(String, SjsonTree)| Some((area.clone(), number(Some(cost))?));
    let dispersion = number(fields.get("dispersion")).unwrap_or(0.0);
    AgentClass { name: name.clone(), settings, costs: costs.filter_map(cost).collect(), dispersion }
}

fn volume_edit((name, fields): &(String, SjsonTree)) -> VolumeEdit {
    let shape = match text(fields, "volume") {
        Some(volume) => EditShape::OfLevel(volume),
        None => EditShape::Own(Volume::of(fields)),
    };
    let (area, classes) = (text(fields, "area"), texts(fields, "agents"));
    VolumeEdit { name: name.clone(), shape, area, classes }
}

fn link_edit((name, fields): &(String, SjsonTree)) -> LinkEdit {
    let ends = match text(fields, "spline") {
        Some(spline) => LinkEnds::OfSpline(spline),
        None => LinkEnds::Own(point(fields.get("from")), point(fields.get("to"))),
    };
    LinkEdit {
        name: name.clone(),
        link_name: text(fields, "name").unwrap_or_else(|| name.clone()),
        ends,
        cost: number(fields.get("cost")),
        is_two_way: !is_true(fields, "one_way"),
        is_manual: is_true(fields, "manual"),
        classes: texts(fields, "agents"),
    }
}

fn compile(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    let document = sjson::parse_bytes(&compiling.bytes)
        .map_err(|error| Error::new(error.in_file(&compiling.path)))?;
    if let Err((value, message)) = check(document.root()) {
        return Err(engine_foundation::error!("{}:{}: {message}", compiling.path, value.line()));
    }
    Ok(write_tree(&document.to_tree()))
}

/// An error with the offending value.
type NavigationError<'a> = (SjsonValue<'a>, String);

/// Checks the block `navigation` of a level: the name of a file, or its content.
pub(super) fn check_block<'a>(
    level: SjsonValue<'a>,
    value: SjsonValue<'a>,
    named: &mut Vec<(&'static str, String)>,
) -> Result<(), NavigationError<'a>> {
    match value.as_str() {
        Some(name) => named.push((kind_names::NAVIGATION, name.to_string())),
        None if value.entries().is_some() => {
            check(value)?;
            names::check(level)?;
        }
        None => {
            let message = "'navigation' must be the name of a navigation file, or a block: \
                           navigation = { agents = { walker = { radius = 0.4 } } }";
            return Err((value, message.to_string()));
        }
    }
    Ok(())
}

/// Checks the content of a navigation file, or the block of a level.
fn check(root: SjsonValue<'_>) -> Result<(), NavigationError<'_>> {
    let limits = [
        ("agents", AGENT_CLASSES_MAX, "AGENT_CLASSES_MAX"),
        ("areas", NAMED_AREAS_MAX, "NAMED_AREAS_MAX"),
        ("volumes", VOLUMES_MAX / 2, "VOLUMES_MAX / 2"),
        ("blockers", VOLUMES_MAX / 2, "VOLUMES_MAX / 2"),
        ("links", LINKS_MAX, "LINKS_MAX"),
        ("jumps", jumps::JUMP_RULES_MAX, "JUMP_RULES_MAX"),
        ("platforms", platforms::PLATFORMS_MAX, "PLATFORMS_MAX"),
    ];
    // Before names are compared with those of another block.
    for (key, most, limit) in limits {
        let Some(block) = root.get(key) else { continue };
        let count = block.entries().map_or(0, |entries| entries.len());
        if count > most {
            let message = format!("'{key}' has {count} entries, and {most} are the most ({limit})");
            return Err((block, message));
        }
    }
    for entry in root.entries().into_iter().flatten() {
        let (key, value) = (entry.key, entry.value);
        match key {
            "seeds" => check_seeds(value)?,
            "source" if value.as_str().is_none_or(|source| !SOURCES.contains(&source)) => {
                return Err((value, format!("'source' must be {}", SOURCES.join(" or "))));
            }
            "source" => {}
            key if !KEYS.contains(&key) => {
                let hint = suggest::hint(key, KEYS);
                return Err((value, format!("unknown key '{key}'{hint}")));
            }
            key => {
                let Some(entries) = value.entries() else {
                    return Err((value, format!("'{key}' must be a block: {key} = {{ … }}")));
                };
                for entry in entries {
                    check_entry(root, key, entry.key, entry.value)?;
                }
            }
        }
    }
    Ok(())
}

fn check_entry<'a>(
    root: SjsonValue<'a>,
    key: &str,
    name: &str,
    fields: SjsonValue<'a>,
) -> Result<(), NavigationError<'a>> {
    if fields.entries().is_none() {
        return Err((fields, format!("'{name}' must be a block: {name} = {{ … }}")));
    }
    match key {
        "agents" => check_class(root, name, fields),
        "areas" => check_area(name, fields),
        "links" => check_link(root, name, fields),
        "jumps" => jumps::check(root, name, fields),
        "platforms" => platforms::check(root, name, fields),
        _ => check_volume(root, key == "volumes", name, fields),
    }
}

/// Checks that a value names an entry of a block of the file.
fn check_named<'a>(
    root: SjsonValue<'a>,
    key: &str,
    (value, subject): (SjsonValue<'a>, &str),
) -> Result<(), NavigationError<'a>> {
    let known = root.get(key).and_then(|block| block.entries()).into_iter().flatten();
    let names: Vec<&str> = known.map(|entry| entry.key).collect();
    let Some(name) = value.as_str() else {
        return Err((value, format!("{subject} must be a name in '{key}'")));
    };
    if !names.contains(&name) {
        let hint = suggest::hint(name, names);
        return Err((value, format!("{subject} names '{name}', which is not in '{key}'{hint}")));
    }
    Ok(())
}

fn check_classes<'a>(
    root: SjsonValue<'a>,
    name: &str,
    value: SjsonValue<'a>,
) -> Result<(), NavigationError<'a>> {
    let subject = format!("'agents' of '{name}'");
    let Some(items) = value.items().filter(|items| items.len() <= AGENT_CLASSES_MAX) else {
        let must = format!("a list of at most {AGENT_CLASSES_MAX} names (AGENT_CLASSES_MAX)");
        return Err((value, invalid_value(&subject, &must, value)));
    };
    for item in items {
        check_named(root, "agents", (item, &subject))?;
    }
    Ok(())
}

fn is_cost(value: SjsonValue) -> bool {
    let number = value.as_f32();
    number.is_some_and(|cost| cost == 0.0 || (AREA_COST_MIN..=AREA_COST_MAX).contains(&cost))
}

fn cost_message(subject: &str, value: SjsonValue) -> String {
    let must = format!("0, or {AREA_COST_MIN} to {AREA_COST_MAX}");
    invalid_value(subject, &must, value)
}

fn check_class<'a>(
    root: SjsonValue<'a>,
    name: &str,
    fields: SjsonValue<'a>,
) -> Result<(), NavigationError<'a>> {
    let mut settings = BakeSettings::DEFAULT;
    for field in fields.entries().into_iter().flatten() {
        let (key, value) = (field.key, field.value);
        if key == "costs" {
            let Some(costs) = value.entries() else {
                let message =
                    format!("'costs' of '{name}' must be a block: costs = {{ water = 4 }}");
                return Err((value, message));
            };
            if costs.len() > NAMED_AREAS_MAX {
                let message = format!(
                    "'costs' of '{name}' has more than {NAMED_AREAS_MAX} entries \
                             (NAMED_AREAS_MAX)"
                );
                return Err((value, message));
            }
            for cost in costs {
                let areas = root.get("areas").and_then(|block| block.entries());
                let names: Vec<&str> = areas.into_iter().flatten().map(|area| area.key).collect();
                if !names.contains(&cost.key) {
                    let hint = suggest::hint(cost.key, names);
                    let area = cost.key;
                    let message = format!(
                        "'costs' of '{name}' names '{area}', which is not in 'areas'{hint}"
                    );
                    return Err((cost.value, message));
                }
                if !is_cost(cost.value) {
                    let subject = format!("'{}' of '{name}'", cost.key);
                    return Err((cost.value, cost_message(&subject, cost.value)));
                }
            }
            continue;
        }
        let Some(number) = value.as_f32() else {
            return Err((value, invalid_value(&format!("'{key}' of '{name}'"), "a number", value)));
        };
        if key == "dispersion" {
            if !(0.0..=DISPERSION_MAX).contains(&number) {
                let must = format!("0 to {DISPERSION_MAX}");
                return Err((value, invalid_value(&format!("'{key}' of '{name}'"), &must, value)));
            }
            continue;
        }
        if !settings.set(key, number) {
            if key == "tile_cells" {
                let subject = format!("'tile_cells' of '{name}'");
                return Err((value, invalid_value(&subject, "a whole number", value)));
            }
            let hint =
                suggest::hint(key, BakeSettings::NAMES.into_iter().chain(["costs", "dispersion"]));
            return Err((value, format!("'{name}' has the unknown field '{key}'{hint}")));
        }
    }
    settings.check().map_err(|message| (fields, format!("agent '{name}': {message}")))
}

fn check_area<'a>(name: &str, fields: SjsonValue<'a>) -> Result<(), NavigationError<'a>> {
    for field in fields.entries().into_iter().flatten() {
        if field.key != "cost" {
            let hint = suggest::hint(field.key, ["cost"]);
            let message = format!("area '{name}' has the unknown field '{}'{hint}", field.key);
            return Err((field.value, message));
        }
        if !is_cost(field.value) {
            let subject = format!("'cost' of area '{name}'");
            return Err((field.value, cost_message(&subject, field.value)));
        }
    }
    Ok(())
}

fn check_volume<'a>(
    root: SjsonValue<'a>,
    has_area: bool,
    name: &str,
    fields: SjsonValue<'a>,
) -> Result<(), NavigationError<'a>> {
    let others: &[&str] = if has_area { &["area", "agents"] } else { &["agents"] };
    if has_area {
        let Some(area) = fields.get("area") else {
            let message = format!(
                "volume '{name}' must say which area its ground has: area = \"water\"; for an \
                 obstacle, move it to 'blockers'"
            );
            return Err((fields, message));
        };
        check_named(root, "areas", (area, &format!("'area' of volume '{name}'")))?;
    }
    if let Some(classes) = fields.get("agents") {
        check_classes(root, name, classes)?;
    }
    let Some(volume) = fields.get("volume") else { return volume::check(name, fields, others) };
    if volume.as_str().is_none() {
        let message = format!("'volume' of '{name}' must be the name of a volume of the level");
        return Err((volume, message));
    }
    for field in fields.entries().into_iter().flatten() {
        if field.key != "volume" && !others.contains(&field.key) {
            let message = format!(
                "'{name}' has '{}' and 'volume': with 'volume', its shape is that of the level's \
                 volume",
                field.key
            );
            return Err((field.value, message));
        }
    }
    Ok(())
}

fn check_link<'a>(
    root: SjsonValue<'a>,
    name: &str,
    fields: SjsonValue<'a>,
) -> Result<(), NavigationError<'a>> {
    let has_spline = fields.get("spline").is_some();
    for key in ["from", "to"] {
        if fields.get(key).is_some() == has_spline {
            let message = format!(
                "link '{name}' needs 'from' and 'to', two points, or 'spline', a spline of the \
                 level, and not both"
            );
            return Err((fields, message));
        }
    }
    for field in fields.entries().into_iter().flatten() {
        let (key, value) = (field.key, field.value);
        let must = match key {
            "from" | "to" if !are_numbers(value, &[3]) => "three numbers, in metres".to_string(),
            "spline" if value.as_str().is_none() => "the name of a spline".to_string(),
            "name" if value.as_str().is_none_or(|text| text.len() > LINK_NAME_MAX) => {
                format!("text of at most {LINK_NAME_MAX} bytes (LINK_NAME_MAX)")
            }
            "cost" if !value.as_f32().is_some_and(|cost| (0.0..=LINK_COST_MAX).contains(&cost)) => {
                format!("a number, 0 to {LINK_COST_MAX}")
            }
            "one_way" | "manual" if value.as_bool().is_none() => "true or false".to_string(),
            "agents" => {
                check_classes(root, name, value)?;
                continue;
            }
            key if LINK_KEYS.contains(&key) => continue,
            key => {
                let hint = suggest::hint(key, LINK_KEYS);
                return Err((value, format!("link '{name}' has the unknown field '{key}'{hint}")));
            }
        };
        return Err((value, invalid_value(&format!("'{key}' of link '{name}'"), &must, value)));
    }
    if fields.get("name").is_none() && name.len() > LINK_NAME_MAX {
        let message = format!(
            "the link '{name}' has a name of more than {LINK_NAME_MAX} bytes (LINK_NAME_MAX)"
        );
        return Err((fields, message));
    }
    Ok(())
}

fn check_seeds(value: SjsonValue<'_>) -> Result<(), NavigationError<'_>> {
    let Some(items) = value.items().filter(|items| items.len() <= SEEDS_MAX) else {
        let message = format!(
            "'seeds' must be a list of at most {SEEDS_MAX} points (SEEDS_MAX): [[0, 0, 0]]"
        );
        return Err((value, message));
    };
    for item in items {
        if !are_numbers(item, &[3]) {
            return Err((item, invalid_value("a point in 'seeds'", "three numbers", item)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
