//! The resource kind `level`: placed units, nested levels, volumes, splines and object sets.
//! Compiled data is the validated text as a tree; the resource is built from it when a level is
//! first spawned. Level instances and the spawning of their units are in level.rs.

use super::level::LEVELS_MAX;
use super::navigation_file::{self, LevelNavigation};
use super::scene_graph::UNITS_MAX;
use super::shading::{self, ShadingVolume};
use super::spline::{SPLINE_POINTS_MAX, Spline};
use super::unit_compiler::{are_numbers, check_flow, compile_flow, invalid_value, must_be};
use super::unit_resource::pose;
use super::volume::Volume;
use engine_foundation::sjson::{self, SjsonTree, SjsonValue};
use engine_foundation::{Error, Quat, Vec3, suggest};
use engine_resource::data_resources::{read_document, read_tree, write_tree};
use engine_resource::panic_report::contain;
use engine_resource::reload_steps::ReloadStep;
use engine_resource::resource_kind::{CompileContext, ResourceKind, SourceForm, kind_names};
use engine_resource::resource_name::ResourceName;
use engine_resource::store::ResourceStore;
use std::collections::{HashMap, HashSet};

/// The resource kind of levels.
pub static LEVEL: ResourceKind = ResourceKind {
    name: kind_names::LEVEL,
    doc: "Placed units, with volumes, splines and nested levels",
    extensions: &[("level", SourceForm::Own)],
    version: 5,
    framed: false,
    reload: &[ReloadStep::Levels],
    compile: engine_resource::resource_kind::compiler(compile),
    validate: |bytes| {
        let document = read_document(bytes)?;
        check(document.root(), &mut Vec::new()).map_err(|(_, message)| Error::new(message))
    },
};

/// Maximum number of object sets of a level, and of set names in any list.
pub const OBJECT_SETS_MAX: usize = 256;
/// Maximum number of volumes of a level. Volumes are found by name.
pub const VOLUMES_MAX: usize = 16_384;
/// Maximum number of splines of a level. Splines are found by name.
pub const SPLINES_MAX: usize = 16_384;

const KEYS: [&str; 8] =
    ["units", "levels", "volumes", "splines", "object_sets", "navigation", "data", "flow"];
const UNIT_KEYS: [&str; 5] = ["unit", "position", "rotation", "scale", "data"];
const LEVEL_KEYS: [&str; 5] = ["level", "position", "rotation", "scale", "object_sets"];
const SPLINE_KEYS: [&str; 2] = ["points", "closed"];

/// Transform of an object in a level. A field of `None` keeps the object's own value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LevelPose {
    pub position: Vec3,
    pub rotation: Option<Quat>,
    pub scale: Option<Vec3>,
}

impl LevelPose {
    fn of(fields: &SjsonTree) -> LevelPose {
        let pose = pose(fields);
        LevelPose {
            position: pose.position,
            rotation: fields.get("rotation").map(|_| pose.rotation),
            scale: fields.get("scale").map(|_| pose.scale),
        }
    }
}

/// A unit of a level.
#[derive(Clone, PartialEq, Debug)]
pub struct LevelUnit {
    pub name: String,
    /// Name of the unit's resource.
    pub unit: String,
    pub pose: LevelPose,
    /// Data that overrides the data of the resource.
    pub data: SjsonTree,
    /// Object sets that contain the unit, as sorted indices in the level's list of sets.
    pub sets: Vec<usize>,
}

impl LevelUnit {
    /// Returns true if the unit is in a set.
    pub fn is_in(&self, set: usize) -> bool {
        self.sets.binary_search(&set).is_ok()
    }
}

/// Selection of a level's object sets: a flag for each set, or `None` for all sets.
pub type SelectedSets = Option<Vec<bool>>;

/// A level nested in a level.
#[derive(Clone, PartialEq, Debug)]
pub struct NestedLevel {
    pub name: String,
    /// Name of the nested level's resource.
    pub level: String,
    pub pose: LevelPose,
    /// Object sets to spawn; `None` for all sets.
    pub object_sets: Option<Vec<String>>,
}

/// Resource of levels. Lists are in the order of the file.
#[derive(Clone, PartialEq, Debug)]
pub struct LevelResource {
    /// Name of the resource.
    pub name: String,
    pub units: Vec<LevelUnit>,
    /// Indices of units by name.
    pub unit_indices: HashMap<String, u32>,
    pub nested: Vec<NestedLevel>,
    pub volumes: Vec<(String, Volume)>,
    /// The volumes with a shading environment.
    pub shading: Vec<ShadingVolume>,
    pub splines: Vec<(String, Spline)>,
    pub object_sets: Vec<String>,
    /// Indices of object sets by name.
    pub set_indices: HashMap<String, usize>,
    pub data: SjsonTree,
    /// The graph, or the name of one.
    pub flow: Option<SjsonTree>,
    /// How its navigation meshes are baked; `None` if it has none.
    pub navigation: Option<LevelNavigation>,
}

fn block<'a>(tree: &'a SjsonTree, key: &str) -> &'a [(String, SjsonTree)] {
    match tree.get(key) {
        Some(SjsonTree::Object(fields)) => fields,
        _ => &[],
    }
}

fn text(fields: &SjsonTree, key: &str) -> String {
    match fields.get(key) {
        Some(SjsonTree::String(text)) => text.clone(),
        _ => String::new(),
    }
}

fn texts(tree: &SjsonTree) -> Vec<String> {
    let SjsonTree::Array(items) = tree else { return Vec::new() };
    let strings = items.iter().filter_map(|item| match item {
        SjsonTree::String(text) => Some(text.clone()),
        _ => None,
    });
    strings.collect()
}

impl LevelResource {
    /// Reads the resource of a level.
    ///
    /// # Errors
    /// Returns an error if the resource is missing or broken.
    pub fn read(store: &mut ResourceStore, name: &str) -> Result<LevelResource, Error> {
        let resource = ResourceName::new(kind_names::LEVEL, name);
        let bytes = store.read(&resource)?;
        contain(&resource, || Ok(LevelResource::of(name, &read_tree(&bytes)?)))
    }

    /// Builds the resource from a tree that the compiler has validated.
    pub(super) fn of(name: &str, tree: &SjsonTree) -> LevelResource {
        let sets = block(tree, "object_sets");
        let mut sets_of: HashMap<String, Vec<usize>> = HashMap::new();
        for (set, (_, units)) in sets.iter().enumerate() {
            for unit in texts(units) {
                let known = sets_of.entry(unit).or_default();
                if known.last() != Some(&set) {
                    known.push(set);
                }
            }
        }
        let unit = |(name, fields): &(String, SjsonTree)| LevelUnit {
            name: name.clone(),
            unit: text(fields, "unit"),
            pose: LevelPose::of(fields),
            data: fields.get("data").cloned().unwrap_or(SjsonTree::Object(Vec::new())),
            sets: sets_of.get(name).cloned().unwrap_or_default(),
        };
        let nested = |(name, fields): &(String, SjsonTree)| NestedLevel {
            name: name.clone(),
            level: text(fields, "level"),
            pose: LevelPose::of(fields),
            object_sets: fields.get("object_sets").map(texts),
        };
        let units: Vec<_> = block(tree, "units").iter().map(unit).collect();
        LevelResource {
            name: name.to_string(),
            unit_indices: LevelResource::indices_by_name(&units),
            units,
            nested: block(tree, "levels").iter().map(nested).collect(),
            volumes: block(tree, "volumes")
                .iter()
                .map(|(name, fields)| (name.clone(), Volume::of(fields)))
                .collect(),
            shading: (0..)
                .zip(block(tree, "volumes"))
                .filter_map(|(volume, (_, fields))| ShadingVolume::of(volume, fields))
                .collect(),
            splines: block(tree, "splines")
                .iter()
                .map(|(name, fields)| (name.clone(), Spline::of(fields)))
                .collect(),
            object_sets: sets.iter().map(|(name, _)| name.clone()).collect(),
            set_indices: sets.iter().zip(0..).map(|((name, _), at)| (name.clone(), at)).collect(),
            data: tree.get("data").cloned().unwrap_or(SjsonTree::Object(Vec::new())),
            flow: tree.get("flow").cloned(),
            navigation: tree.get("navigation").map(LevelNavigation::of),
        }
    }

    /// Returns the indices of units by name.
    pub(super) fn indices_by_name(units: &[LevelUnit]) -> HashMap<String, u32> {
        units.iter().zip(0..).map(|(unit, index)| (unit.name.clone(), index)).collect()
    }

    /// Returns the index of a unit.
    pub fn unit_index(&self, name: &str) -> Option<usize> {
        self.unit_indices.get(name).map(|index| *index as usize)
    }

    /// Returns the selection of the object sets with these names.
    ///
    /// # Errors
    /// Returns an error if a set does not exist.
    pub fn select_sets(&self, names: Option<&[String]>) -> Result<SelectedSets, Error> {
        let Some(names) = names else { return Ok(None) };
        let mut wanted = vec![false; self.object_sets.len()];
        for name in names {
            wanted[self.object_set(name)?] = true;
        }
        Ok(Some(wanted))
    }

    /// Returns true if a unit is spawned for this selection of object sets. A unit in no set is
    /// always spawned.
    pub fn is_selected(&self, unit: usize, wanted: &SelectedSets) -> bool {
        let (sets, Some(wanted)) = (&self.units[unit].sets, wanted) else { return true };
        sets.is_empty() || sets.iter().any(|set| wanted[*set])
    }

    /// Returns the index of an object set.
    ///
    /// # Errors
    /// Returns an error with a similar name if the set does not exist.
    pub fn object_set(&self, name: &str) -> Result<usize, Error> {
        self.set_indices.get(name).copied().ok_or_else(|| {
            let hint = suggest::hint(name, self.object_sets.iter().map(String::as_str));
            engine_foundation::error!("level \"{}\" has no object set '{name}'{hint}", self.name)
        })
    }
}

/// Blocks of a level with a limit, each with its limit and the name of the limit.
const LIMITS: [(&str, usize, &str); 5] = [
    ("units", UNITS_MAX, "UNITS_MAX"),
    ("levels", LEVELS_MAX, "LEVELS_MAX"),
    ("volumes", VOLUMES_MAX, "VOLUMES_MAX"),
    ("splines", SPLINES_MAX, "SPLINES_MAX"),
    ("object_sets", OBJECT_SETS_MAX, "OBJECT_SETS_MAX"),
];

fn too_many(problem: &str, max: usize, limit: &str) -> String {
    format!("{problem}, and {max} are the most ({limit}): split it into several levels")
}

/// An error with the offending value.
type LevelError<'a> = (SjsonValue<'a>, String);

fn compile(compiling: &mut CompileContext) -> Result<Vec<u8>, Error> {
    let document = sjson::parse_bytes(&compiling.bytes)
        .map_err(|error| Error::new(error.in_file(&compiling.path)))?;
    let mut named = Vec::new();
    let checked = check(document.root(), &mut named);
    if let Err((value, message)) = checked {
        return Err(engine_foundation::error!("{}:{}: {message}", compiling.path, value.line()));
    }
    let tree = document.to_tree();
    drop(document);
    let own = || (kind_names::NAVIGATION_MESH, compiling.name.name.clone());
    named.extend(tree.get("navigation").map(|_| own()));
    for (kind, name) in named {
        compiling.refer(kind, &name);
    }
    Ok(write_tree(&compile_flow(compiling, tree)))
}

fn check<'a>(
    root: SjsonValue<'a>,
    named: &mut Vec<(&'static str, String)>,
) -> Result<(), LevelError<'a>> {
    for entry in root.entries().into_iter().flatten() {
        let (key, value) = (entry.key, entry.value);
        if !KEYS.contains(&key) {
            let hint = suggest::hint(key, KEYS);
            return Err((value, format!("unknown key '{key}'{hint}")));
        }
        if key == "flow" {
            check_flow(value, false)?;
            continue;
        }
        if key == "navigation" {
            navigation_file::check_block(root, value, named)?;
            continue;
        }
        let Some(entries) = value.entries() else {
            return Err((value, format!("'{key}' must be a block: {key} = {{ … }}")));
        };
        if let Some((_, max, limit)) = LIMITS.iter().find(|(limited, ..)| *limited == key)
            && entries.len() > *max
        {
            let message = too_many(&format!("'{key}' has {} entries", entries.len()), *max, limit);
            return Err((value, message));
        }
        for entry in entries.filter(|_| key != "data" && key != "object_sets") {
            let (name, block) = (entry.key, entry.value);
            if block.entries().is_none() {
                return Err((block, format!("'{name}' must be a block: {name} = {{ … }}")));
            }
            match key {
                "units" => check_placed(name, block, "unit", &UNIT_KEYS, named)?,
                "levels" => check_placed(name, block, "level", &LEVEL_KEYS, named)?,
                "volumes" => shading::check_volume(name, block, named)?,
                _ => check_spline(name, block)?,
            }
        }
    }
    check_sets(root)
}

fn check_placed<'a>(
    name: &str,
    block: SjsonValue<'a>,
    kind: &'static str,
    keys: &[&str],
    named: &mut Vec<(&'static str, String)>,
) -> Result<(), LevelError<'a>> {
    match block.get(kind).map(|value| (value, value.as_str())) {
        Some((_, Some(resource))) => named.push((kind, resource.to_string())),
        Some((value, None)) => {
            return Err((value, format!("'{kind}' of '{name}' must be the name of a {kind}")));
        }
        None => {
            let message =
                format!("'{name}' must say which {kind} it is: {kind} = \"{kind}s/name\"");
            return Err((block, message));
        }
    }
    for field in block.entries().into_iter().flatten() {
        let (key, value) = (field.key, field.value);
        let is_level = kind == "level";
        let must = match key {
            "scale" if is_level && value.as_f32().is_none_or(|scale| scale <= 0.0) => {
                "one number above 0"
            }
            "data" if value.entries().is_none() => "a block: data = { material = \"wood\" }",
            "data" if keys.contains(&key) => match null_in(value) {
                None => continue,
                Some((null, value)) => {
                    let message = format!(
                        "'{null}' in the data of '{name}' is null, which removes nothing in a \
                         level: give it another value, or place a unit that inherits from this one \
                         and removes it"
                    );
                    return Err((value, message));
                }
            },
            "object_sets" if !are_texts(value) => "a list of names",
            "object_sets" if value.items().is_some_and(|sets| sets.len() > OBJECT_SETS_MAX) => {
                let subject = format!("'object_sets' of '{name}' has too many names");
                return Err((value, too_many(&subject, OBJECT_SETS_MAX, "OBJECT_SETS_MAX")));
            }
            key if !keys.contains(&key) => {
                let hint = suggest::hint(key, keys.iter().copied());
                return Err((value, format!("'{name}' has the unknown field '{key}'{hint}")));
            }
            key => match must_be(key, value) {
                Some(must) => must,
                None => continue,
            },
        };
        return Err((value, invalid_value(&format!("'{key}' of '{name}'"), must, value)));
    }
    Ok(())
}

/// Returns the first `null` in nested blocks, with its key.
fn null_in<'a>(value: SjsonValue<'a>) -> Option<(&'a str, SjsonValue<'a>)> {
    value.entries()?.find_map(|entry| match entry.value.kind() {
        sjson::ValueKind::Null => Some((entry.key, entry.value)),
        _ => null_in(entry.value),
    })
}

/// Returns true if a value is a list of texts.
fn are_texts(value: SjsonValue) -> bool {
    value.items().is_some_and(|mut items| items.all(|item| item.as_str().is_some()))
}

fn check_spline<'a>(name: &str, block: SjsonValue<'a>) -> Result<(), LevelError<'a>> {
    for field in block.entries().into_iter().flatten() {
        if !SPLINE_KEYS.contains(&field.key) {
            let hint = suggest::hint(field.key, SPLINE_KEYS);
            let message = format!("spline '{name}' has the unknown field '{}'{hint}", field.key);
            return Err((field.value, message));
        }
    }
    let subject = format!("'points' of spline '{name}'");
    let message = |points| {
        invalid_value(&subject, "a list of two or more points: [[0, 0, 0], [1, 0, 0]]", points)
    };
    let points = block.get("points").ok_or_else(|| (block, message(block)))?;
    let count = points.items().map_or(0, |items| items.len());
    if count > SPLINE_POINTS_MAX {
        let message = too_many(
            &format!("{subject} has {count} points"),
            SPLINE_POINTS_MAX,
            "SPLINE_POINTS_MAX",
        );
        return Err((points, message));
    }
    let enough = count >= 2;
    if !enough || !points.items().into_iter().flatten().all(|point| are_numbers(point, &[3])) {
        return Err((points, message(points)));
    }
    if !Spline::of(&block.to_tree()).length().is_finite() {
        let message = format!("{subject} are too far from each other: their distance is no number");
        return Err((points, message));
    }
    match block.get("closed") {
        Some(closed) if closed.as_bool().is_none() => {
            Err((closed, format!("'closed' of spline '{name}' must be true or false")))
        }
        _ => Ok(()),
    }
}

/// Checks that object sets contain only units of the level.
fn check_sets(root: SjsonValue) -> Result<(), LevelError> {
    let Some(sets) = root.get("object_sets") else { return Ok(()) };
    let units = root.get("units");
    let names = || units.and_then(|units| units.entries()).into_iter().flatten();
    let known: HashSet<&str> = names().map(|unit| unit.key).collect();
    for set in sets.entries().into_iter().flatten() {
        let message = || format!("object set '{}' must be a list of the level's units", set.key);
        for item in set.value.items().ok_or_else(|| (set.value, message()))? {
            let name = item.as_str().ok_or_else(|| (item, message()))?;
            if !known.contains(name) {
                let hint = suggest::hint(name, names().map(|unit| unit.key));
                let message = format!(
                    "object set '{}' names '{name}', which is not a unit of this level{hint}",
                    set.key
                );
                return Err((item, message));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::volume::VOLUME_POINTS_MAX;
    use super::*;

    fn compiled(text: &str) -> Result<(LevelResource, Vec<String>), String> {
        let read = |_: &str| Err(engine_foundation::error!("no other file"));
        let (name, bytes) = (ResourceName::new("level", "x"), text.as_bytes().to_vec());
        let mut compiling =
            CompileContext::new(name, "x.level".to_string(), SourceForm::Own, bytes, false, &read);
        let data = compile(&mut compiling).map_err(|error| error.message)?;
        let tree = read_tree(&data).map_err(|error| error.message)?;
        let named = compiling.references.iter().map(ToString::to_string).collect();
        Ok((LevelResource::of("x", &tree), named))
    }

    #[test]
    fn a_level_lists_its_references() {
        let (level, named) = compiled(
            "units = { a = { unit = \"units/a\" position = [1, 2, 3] } \
             b = { unit = \"units/b\" scale = 2 } }\n\
             levels = { shed = { level = \"levels/shed\" object_sets = [\"day\"] } }\n\
             volumes = { pit = { shape = \"box\" size = [1, 2, 3] } }\n\
             splines = { way = { points = [[0, 0, 0], [1, 0, 0]] } }\n\
             object_sets = { night = [\"b\"] }",
        )
        .unwrap();
        assert_eq!(named, ["units/a.unit", "units/b.unit", "levels/shed.level"]);
        assert_eq!(level.units[0].pose.position, Vec3::new(1.0, 2.0, 3.0));
        assert_eq!(level.units[0].pose.rotation, None);
        assert_eq!(level.units[1].pose.scale, Some(Vec3::splat(2.0)));
        assert_eq!(level.nested[0].object_sets, Some(vec!["day".to_string()]));
        let none = level.select_sets(Some(&[])).unwrap();
        assert!(level.is_selected(0, &none) && !level.is_selected(1, &none));
        let night = level.select_sets(Some(&["night".to_string()])).unwrap();
        assert!(level.is_selected(1, &night) && level.is_selected(1, &None));
        assert!(level.units[1].is_in(0) && !level.units[0].is_in(0));
        let message = level.object_set("nihgt").unwrap_err().message;
        assert_eq!(message, "level \"x\" has no object set 'nihgt', did you mean 'night'?");
    }

    #[test]
    fn overlong_lists_are_refused_in_sources_and_compiled_data() {
        let check = |text: &str, message: &str| {
            assert_eq!(compiled(text).unwrap_err(), format!("x.level:1: {message}"));
            let data = write_tree(&sjson::parse(text).unwrap().to_tree());
            assert_eq!((LEVEL.validate)(&data).unwrap_err().message, message);
        };
        let many = |count: usize, item: &dyn Fn(usize) -> String| {
            (0..count).map(item).collect::<Vec<_>>().join(" ")
        };
        let sets = |count: usize| many(count, &|at| format!("s{at} = []"));
        assert!(compiled(&format!("object_sets = {{ {} }}", sets(OBJECT_SETS_MAX))).is_ok());
        check(
            &format!("object_sets = {{ {} }}", sets(OBJECT_SETS_MAX + 1)),
            "'object_sets' has 257 entries, and 256 are the most (OBJECT_SETS_MAX): split it into \
             several levels",
        );
        let names = many(OBJECT_SETS_MAX + 1, &|_| "\"last\"".to_string());
        check(
            &format!("levels = {{ a = {{ level = \"l\" object_sets = [{names}] }} }}"),
            "'object_sets' of 'a' has too many names, and 256 are the most (OBJECT_SETS_MAX): \
             split it into several levels",
        );
        let levels = many(LEVELS_MAX + 1, &|at| format!("l{at} = {{ level = \"l\" }}"));
        check(
            &format!("levels = {{ {levels} }}"),
            "'levels' has 4097 entries, and 4096 are the most (LEVELS_MAX): split it into several \
             levels",
        );
        let points = many(SPLINE_POINTS_MAX + 1, &|at| format!("[{at} 0 0]"));
        check(
            &format!("splines = {{ way = {{ points = [{points}] }} }}"),
            "'points' of spline 'way' has 65537 points, and 65536 are the most \
             (SPLINE_POINTS_MAX): split it into several levels",
        );
        let points = many(VOLUME_POINTS_MAX + 1, &|at| format!("[{at} {}]", at * at));
        check(
            &format!("volumes = {{ v = {{ shape = \"prism\" height = 1 points = [{points}] }} }}"),
            "'points' of volume 'v' must be at most 1024 pairs of numbers (VOLUME_POINTS_MAX)",
        );
    }

    #[test]
    fn invalid_sources_are_refused_with_location_and_reason() {
        let check = |text: &str, message: &str| assert_eq!(compiled(text).unwrap_err(), message);
        check("unit = {}", "x.level:1: unknown key 'unit', did you mean 'units'?");
        check("units = 3", "x.level:1: 'units' must be a block: units = { … }");
        check("units = { a = 3 }", "x.level:1: 'a' must be a block: a = { … }");
        check(
            "units = { a = {} }",
            "x.level:1: 'a' must say which unit it is: unit = \"units/name\"",
        );
        check(
            "units = { a = { unit = \"u\"\n positon = [0, 0, 0] } }",
            "x.level:2: 'a' has the unknown field 'positon', did you mean 'position'?",
        );
        check(
            "units = { a = { unit = \"u\" position = [1e300, 0, 0] } }",
            "x.level:1: 'position' of 'a' has 1e300: numbers are at most 3.4028235e38 here",
        );
        check(
            "units = { a = { unit = \"u\" rotation = [0, 0, 0, 0] } }",
            "x.level:1: 'rotation' of 'a' must be three angles in degrees, or the four numbers of \
             a quaternion, not all of them 0",
        );
        check(
            "volumes = { v = { shape = \"box\" size = [1e300, 1, 1] } }",
            "x.level:1: 'size' of volume 'v' has 1e300: numbers are at most 3.4028235e38 here",
        );
        check(
            "units = { a = { unit = \"u\" data = { b = { \n c = null } } } }",
            "x.level:2: 'c' in the data of 'a' is null, which removes nothing in a level: give it \
             another value, or place a unit that inherits from this one and removes it",
        );
        check(
            "levels = { a = { level = \"l\" object_sets = [\"night\", 1] } }",
            "x.level:1: 'object_sets' of 'a' must be a list of names",
        );
        check(
            "levels = { a = { level = \"l\" scale = -1 } }",
            "x.level:1: 'scale' of 'a' must be one number above 0",
        );
        check(
            "splines = { way = { points = [[0, 0, 0]] } }",
            "x.level:1: 'points' of spline 'way' must be a list of two or more points: \
             [[0, 0, 0], [1, 0, 0]]",
        );
        check(
            "splines = { way = { points = [[3e38, 0, 0], [-3e38, 0, 0]] } }",
            "x.level:1: 'points' of spline 'way' are too far from each other: their distance is no \
             number",
        );
        check(
            "units = { barrel = { unit = \"u\" } }\nobject_sets = { s = [\"barel\"] }",
            "x.level:2: object set 's' names 'barel', which is not a unit of this level, did you \
             mean 'barrel'?",
        );
    }
}
