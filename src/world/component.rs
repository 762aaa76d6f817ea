//! The table of the components that the engine has: names, fields, what they stand behind in the
//! order of update. A game's own components are Lua modules, `components/NAME.lua`, and have the
//! same rights. What a component does is in its own file.

use super::mesh_part::{LIGHT, MESH};
use super::physics::{Fault, PHYSICS};
use super::sprite_part::{SPRITE, TILEMAP};
use super::unit_check::wrong;
use crate::foundation::sjson::{Kind, Tree, Value};
use crate::foundation::suggest;

/// What a field can be.
#[derive(Clone, Copy, Debug)]
pub enum FieldKind {
    Number,
    Boolean,
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// So many numbers.
    Numbers(usize),
    /// The name of a resource of this type.
    Resource(&'static str),
    /// What this function makes nothing of is wrong; the flag says whether all must be there, for
    /// what a file inherits is not in it.
    Checked(fn(&Tree, bool) -> Result<(), Fault>),
}

/// One field of a component, as unit files write it.
pub struct Field {
    pub name: &'static str,
    pub kind: FieldKind,
    pub words: &'static str,
}

/// One of the engine's components.
pub struct Component {
    pub name: &'static str,
    pub words: &'static str,
    /// Beside `component` and `node`, which each has.
    pub fields: &'static [Field],
}

/// Fields that every component has.
pub const COMMON_FIELDS: [&str; 2] = ["component", "node"];

/// Every component of the engine's.
pub static COMPONENTS: &[&Component] = &[&CAMERA, &LIGHT, &MESH, &PHYSICS, &SPRITE, &TILEMAP];

/// What a world is looked at with.
pub static CAMERA: Component = Component {
    name: "camera",
    words: "Looks along the y axis of its node, z up.",
    fields: &[
        Field {
            name: "projection",
            kind: FieldKind::Choice(&["perspective", "orthographic"]),
            words: "how depth is shown",
        },
        Field {
            name: "vertical_fov",
            kind: FieldKind::Number,
            words: "degrees from the lower to the upper edge (60)",
        },
        Field {
            name: "height",
            kind: FieldKind::Number,
            words: "metres from edge to edge, if orthographic",
        },
        Field { name: "near", kind: FieldKind::Number, words: "metres to what is nearest (0.1)" },
        Field { name: "far", kind: FieldKind::Number, words: "metres to what is farthest (1000)" },
    ],
};

/// The most components of a unit: as many as the nodes of a model can make, and more.
pub const UNIT_COMPONENTS_MAX: usize = 16_384;

/// Refuses more components than a unit can have.
pub fn check_count(count: usize) -> Result<(), String> {
    match count > UNIT_COMPONENTS_MAX {
        true => Err(format!(
            "{count} components are more than a unit can have (UNIT_COMPONENTS_MAX is \
             {UNIT_COMPONENTS_MAX})"
        )),
        false => Ok(()),
    }
}

/// The engine's component of that name.
pub fn known(name: &str) -> Option<&'static Component> {
    COMPONENTS.iter().copied().find(|component| component.name == name)
}

/// Where a game's own component is: the name of its module as a resource.
pub fn module(name: &str) -> String {
    format!("components/{name}")
}

/// What is wrong with a list of components, and where; `whole`: nothing is inherited, and so there
/// is nothing that `null` could take away. What it names goes into `named`, as types and names.
pub fn check<'a>(
    components: &Value<'a>,
    whole: bool,
    named: &mut Vec<(String, String)>,
) -> Result<(), (Value<'a>, String)> {
    let must = "'components' must be a block: components = { health = { max = 100 } }";
    let parts = components.entries().ok_or_else(|| (*components, must.to_string()))?;
    check_count(parts.len()).map_err(|words| (*components, words))?;
    for part in parts {
        let (name, value) = (part.key, part.value);
        if value.kind() == Kind::Null && !whole {
            continue;
        }
        let words = format!("component '{name}' must be a block: {name} = {{}}");
        let fields = value.entries().ok_or((value, words))?;
        let component = match value.get("component") {
            None => name,
            Some(component) => component.as_str().ok_or_else(|| {
                (component, format!("'component' of '{name}' must be the name of a component"))
            })?,
        };
        let taken_away = |value: Value| value.kind() == Kind::Null && !whole;
        if let Some(node) = value.get("node").filter(|node| !taken_away(*node))
            && node.as_str().is_none()
        {
            return Err((node, format!("'node' of '{name}' must be the name of a node")));
        }
        let Some(known) = known(component) else {
            named.push(("lua".to_string(), module(component)));
            continue;
        };
        let fields = fields.filter(|field| !taken_away(field.value));
        for field in fields.filter(|field| !COMMON_FIELDS.contains(&field.key)) {
            check_field(known, (name, whole), field.key, field.value, named)?;
        }
    }
    Ok(())
}

fn check_field<'a>(
    component: &Component,
    (part, whole): (&str, bool),
    key: &str,
    value: Value<'a>,
    named: &mut Vec<(String, String)>,
) -> Result<(), (Value<'a>, String)> {
    let Some(field) = component.fields.iter().find(|field| field.name == key) else {
        let names = component.fields.iter().map(|field| field.name).chain(COMMON_FIELDS);
        let hint = suggest::hint(key, names);
        let component = component.name;
        let words = format!("'{part}' has the unknown field '{key}' for a {component}{hint}");
        return Err((value, words));
    };
    let numbers = |count: usize| {
        value.items().is_some_and(|items| items.len() == count)
            && value.items().into_iter().flatten().all(|item| item.as_f32().is_some())
    };
    let must = match field.kind {
        FieldKind::Number if value.as_f32().is_none() => "a number".to_string(),
        FieldKind::Boolean if value.as_bool().is_none() => "true or false".to_string(),
        FieldKind::Text if value.as_str().is_none() => "text in quotes".to_string(),
        FieldKind::Choice(words) if value.as_str().is_none_or(|word| !words.contains(&word)) => {
            format!("one of {}", words.join(", "))
        }
        FieldKind::Numbers(count) if !numbers(count) => format!("a list of {count} numbers"),
        FieldKind::Checked(check) => {
            return check(&value.to_tree(), whole)
                .map_err(|fault| (fault.locate(value), format!("'{part}': {}", fault.words)));
        }
        FieldKind::Resource(kind) => match value.as_str() {
            None => format!("the name of a {kind}"),
            Some(name) => {
                named.push((kind.to_string(), name.to_string()));
                return Ok(());
            }
        },
        _ => return Ok(()),
    };
    let (what, must) = (format!("'{key}' of '{part}'"), format!("{must}: {}", field.words));
    Err((value, wrong(&what, &must, value)))
}
