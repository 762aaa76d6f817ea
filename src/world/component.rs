//! Fields of components in unit files: their types, and the validation of a list of components. A
//! game's own components are Lua modules, `components/NAME.lua`, with the same capabilities.

pub use super::component_table::{COMPONENTS, Component};
use super::physics::FieldError;
use super::unit_compiler::invalid_value;
use engine_foundation::color_source::ColorKey;
use engine_foundation::sjson::{SjsonTree, SjsonValue, ValueKind};
use engine_foundation::suggest;
use engine_resource::resource_kind::kind_names;

/// Type of a component's field.
#[derive(Clone, Copy, Debug)]
pub enum FieldKind {
    Number,
    Boolean,
    Text,
    /// One of these strings.
    Choice(&'static [&'static str]),
    /// A list of this many numbers.
    Numbers(usize),
    /// A color, in the forms of all files.
    Color(ColorKey),
    /// The same color in linear light.
    Light(ColorKey),
    /// The name of a resource of this type.
    Resource(&'static str),
    /// Any value that this function accepts. The flag is true if all parts must be present; a file
    /// that inherits does not contain the inherited parts.
    Checked(fn(&SjsonTree, bool) -> Result<(), FieldError>),
}

/// Value of a field that a unit file leaves out.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FieldDefault {
    /// The field has no value.
    None,
    Number(f32),
    Boolean(bool),
    Text(&'static str),
    Numbers(&'static [f32]),
    /// The value is computed where the field is read. This is its description.
    Described(&'static str),
}

impl std::fmt::Display for FieldDefault {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            FieldDefault::None => Ok(()),
            FieldDefault::Number(number) => write!(out, "{number}"),
            FieldDefault::Boolean(boolean) => write!(out, "{boolean}"),
            FieldDefault::Text(text) | FieldDefault::Described(text) => out.write_str(text),
            FieldDefault::Numbers(numbers) => write!(out, "{numbers:?}"),
        }
    }
}

/// One field of a component, as written in unit files.
pub struct ComponentField {
    pub name: &'static str,
    pub kind: FieldKind,
    pub default: FieldDefault,
    /// Description for messages. `{default}` stands for the default.
    pub doc: &'static str,
}

impl ComponentField {
    /// Returns the description with the default.
    pub fn description(&self) -> String {
        self.doc.replace("{default}", &self.default.to_string())
    }
}

/// Fields that every component has.
pub const COMMON_FIELDS: [&str; 2] = ["component", "node"];

/// Maximum number of components of a unit. The number exceeds what the nodes of a model can
/// produce.
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

/// Returns the engine's component with that name.
pub fn engine_component(name: &str) -> Option<&'static Component> {
    COMPONENTS.by_name(name)
}

/// Returns the resource name of the module of a game's own component.
pub fn module(name: &str) -> String {
    format!("components/{name}")
}

/// Kind of a reference to a resource of any kind, if there is one of that name.
const ANY_KIND: &str = "";

/// Validates a list of components. The error is the offending value with its message. `whole` is
/// true if nothing is inherited, so `null` has nothing to remove. The resources that the list
/// refers to are added to `named`, as types and names.
pub fn check<'a>(
    components: &SjsonValue<'a>,
    whole: bool,
    named: &mut Vec<(String, String)>,
) -> Result<(), (SjsonValue<'a>, String)> {
    let must = "'components' must be a block: components = { health = { max = 100 } }";
    let parts = components.entries().ok_or_else(|| (*components, must.to_string()))?;
    check_count(parts.len()).map_err(|message| (*components, message))?;
    for part in parts {
        let (name, value) = (part.key, part.value);
        if value.kind() == ValueKind::Null && !whole {
            continue;
        }
        let message = format!("component '{name}' must be a block: {name} = {{}}");
        let fields = value.entries().ok_or((value, message))?;
        let component = match value.get("component") {
            None => name,
            Some(component) => component.as_str().ok_or_else(|| {
                (component, format!("'component' of '{name}' must be the name of a component"))
            })?,
        };
        let taken_away = |value: SjsonValue| value.kind() == ValueKind::Null && !whole;
        if let Some(node) = value.get("node").filter(|node| !taken_away(*node))
            && node.as_str().is_none()
        {
            return Err((node, format!("'node' of '{name}' must be the name of a node")));
        }
        let Some(known) = engine_component(component) else {
            // The block can change a component of the model or of the inherited unit. Its type is
            // then known only there, and the spawn of the unit reports a missing component.
            let is_override = !whole && value.get("component").is_none();
            let kind = if is_override { ANY_KIND } else { kind_names::LUA };
            named.push((kind.to_string(), module(component)));
            if is_override {
                let texts = fields.filter_map(|field| field.value.as_str());
                named.extend(texts.map(|text| (ANY_KIND.to_string(), text.to_string())));
            }
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
    value: SjsonValue<'a>,
    named: &mut Vec<(String, String)>,
) -> Result<(), (SjsonValue<'a>, String)> {
    let Some(field) = component.fields.iter().find(|field| field.name == key) else {
        let names = component.fields.iter().map(|field| field.name).chain(COMMON_FIELDS);
        let hint = suggest::hint(key, names);
        let component = component.name;
        let article = if component.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        let message =
            format!("'{part}' has the unknown field '{key}' for {article} {component}{hint}");
        return Err((value, message));
    };
    let numbers = |count: usize| {
        value.items().is_some_and(|items| items.len() == count)
            && value.items().into_iter().flatten().all(|item| item.as_f32().is_some())
    };
    let must = match field.kind {
        FieldKind::Number if value.as_f32().is_none() => "a number".to_string(),
        FieldKind::Boolean if value.as_bool().is_none() => "true or false".to_string(),
        FieldKind::Text if value.as_str().is_none() => "text in quotes".to_string(),
        FieldKind::Choice(choices)
            if value.as_str().is_none_or(|word| !choices.contains(&word)) =>
        {
            let word = value.as_str().map_or(String::new(), |word| format!(", got '{word}'"));
            format!("one of {}{word}", choices.join(", "))
        }
        FieldKind::Numbers(count) if !numbers(count) => format!("a list of {count} numbers"),
        FieldKind::Checked(check) => {
            return check(&value.to_tree(), whole)
                .map_err(|error| (error.locate(value), format!("'{part}': {}", error.message)));
        }
        FieldKind::Color(color) => return color_field(part, value, color),
        FieldKind::Light(color) => {
            let light = color.read_light(&value.to_tree()).map(drop);
            return light.map_err(|message| (value, format!("'{key}' of '{part}' {message}")));
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
    let (subject, must) =
        (format!("'{key}' of '{part}'"), format!("{must}: {}", field.description()));
    Err((value, invalid_value(&subject, &must, value)))
}

fn color_field<'a>(
    part: &str,
    value: SjsonValue<'a>,
    color: ColorKey,
) -> Result<(), (SjsonValue<'a>, String)> {
    let read = color.read(&value.to_tree()).map(drop);
    read.map_err(|message| (value, format!("'{}' of '{part}' {message}", color.key)))
}
