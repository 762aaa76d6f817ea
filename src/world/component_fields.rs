//! Reading of components' fields: values by type, and the fields that several components have. The
//! compiler has checked the types of the fields.

use super::component::{ComponentField, FieldDefault, FieldKind};
use super::component_table::Component;
use super::instance_table::{GROUPS_MAX, NO_GROUP};
use super::unit_resource::ComponentSource;
use super::unit_template::UnitTemplate;
use engine_foundation::color_source::ColorKey;
use engine_foundation::error;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Color, Error};
use engine_frame_packet::scene::LIGHT_LAYERS_ALL;

// Fields of every drawn component.
pub(super) const RANGE: ComponentField = ComponentField {
    name: "range",
    kind: FieldKind::Numbers(2),
    default: FieldDefault::Numbers(&[0.0, f32::INFINITY]),
    doc: "minimum and maximum distance from the camera at which it is shown, in metres",
};
pub(super) const VISIBLE: ComponentField = ComponentField {
    name: "visible",
    kind: FieldKind::Boolean,
    default: FieldDefault::Boolean(true),
    doc: "true if it is visible ({default})",
};
pub(super) const GROUP: ComponentField = ComponentField {
    name: "group",
    kind: FieldKind::Text,
    default: FieldDefault::None,
    doc: "the visibility group of the component, for Unit.set_visibility",
};
pub(super) const LIGHT_LAYERS: ComponentField = ComponentField {
    name: "light_layers",
    kind: FieldKind::Number,
    default: FieldDefault::Number(LIGHT_LAYERS_ALL as f32),
    doc: "light layers: a sum of 1, 2, 4 and so on up to 128; lights light meshes that share one",
};

/// The fields of one component in a unit file, with the defaults of the component's row.
#[derive(Clone, Copy)]
pub(super) struct ComponentFields<'a> {
    row: &'static Component,
    pub tree: &'a SjsonTree,
}

impl<'a> ComponentFields<'a> {
    pub fn new(row: &'static Component, part: &'a ComponentSource) -> ComponentFields<'a> {
        ComponentFields { row, tree: &part.fields }
    }

    /// Returns a number, or its default. Panics if the row has no default of that type for the
    /// field, like the functions below.
    pub fn number(&self, key: &str) -> f32 {
        number(self.tree, key).unwrap_or_else(|| match self.default(key) {
            FieldDefault::Number(number) => number,
            _ => self.refuse(key),
        })
    }

    pub fn boolean(&self, key: &str) -> bool {
        boolean(self.tree, key).unwrap_or_else(|| match self.default(key) {
            FieldDefault::Boolean(boolean) => boolean,
            _ => self.refuse(key),
        })
    }

    pub fn text(&self, key: &str) -> &'a str {
        text(self.tree, key).unwrap_or_else(|| match self.default(key) {
            FieldDefault::Text(text) => text,
            _ => self.refuse(key),
        })
    }

    pub fn numbers<const N: usize>(&self, key: &str) -> [f32; N] {
        numbers(self.tree, key).unwrap_or_else(|| match self.default(key) {
            FieldDefault::Numbers(numbers) => numbers.try_into().expect("the row says how many"),
            _ => self.refuse(key),
        })
    }

    /// Returns a color, or its default.
    ///
    /// # Errors
    /// Returns an error if the value is no color.
    pub fn color(&self, color: ColorKey) -> Result<Color, Error> {
        let key = color.key;
        match (self.tree.get(key), self.default(key)) {
            (Some(value), _) => color.read(value).map_err(|message| error!("'{key}' {message}")),
            (None, FieldDefault::Text(text)) => {
                Ok(Color::from_hex(text).expect("the default is a color"))
            }
            _ => self.refuse(key),
        }
    }

    fn default(&self, key: &str) -> FieldDefault {
        let field = self.row.fields.iter().find(|field| field.name == key);
        field.map_or(FieldDefault::None, |field| field.default)
    }

    fn refuse(&self, key: &str) -> ! {
        panic!("the field '{key}' of the component '{}' has no default of that type", self.row.name)
    }
}

pub(super) fn text<'a>(fields: &'a SjsonTree, key: &str) -> Option<&'a str> {
    match fields.get(key) {
        Some(SjsonTree::String(text)) => Some(text),
        _ => None,
    }
}

pub(super) fn number(fields: &SjsonTree, key: &str) -> Option<f32> {
    match fields.get(key) {
        Some(SjsonTree::Number(number)) => Some(*number as f32),
        _ => None,
    }
}

pub(super) fn boolean(fields: &SjsonTree, key: &str) -> Option<bool> {
    match fields.get(key) {
        Some(SjsonTree::Bool(boolean)) => Some(*boolean),
        _ => None,
    }
}

pub(super) fn numbers<const N: usize>(fields: &SjsonTree, key: &str) -> Option<[f32; N]> {
    let Some(SjsonTree::Array(items)) = fields.get(key) else { return None };
    let mut out = [0.0; N];
    for (slot, item) in out.iter_mut().zip(items) {
        let SjsonTree::Number(number) = item else { return None };
        *slot = *number as f32;
    }
    (items.len() == N).then_some(out)
}

/// Returns the number of a component's visibility group in its unit.
pub(super) fn group(fields: ComponentFields, template: &mut UnitTemplate) -> Result<u8, Error> {
    let Some(group) = text(fields.tree, "group") else { return Ok(NO_GROUP) };
    let known = template.groups.iter().position(|known| known == group);
    if known.is_none() && template.groups.len() == GROUPS_MAX {
        return Err(error!(
            "a unit can have {GROUPS_MAX} visibility groups (GROUPS_MAX): use fewer"
        ));
    }
    let index = known.unwrap_or_else(|| {
        template.groups.push(group.to_string());
        template.groups.len() - 1
    });
    Ok(index as u8)
}

/// Returns the bit set of a component's light layers.
pub(super) fn light_layers(fields: ComponentFields) -> Result<u8, Error> {
    let layers = fields.number("light_layers");
    match layers.fract() == 0.0 && (0.0..=f32::from(LIGHT_LAYERS_ALL)).contains(&layers) {
        true => Ok(layers as u8),
        false => Err(error!(
            "'light_layers' must be a whole number from 0 to {LIGHT_LAYERS_ALL}, got {layers}"
        )),
    }
}

/// Returns the minimum and maximum distance from the camera at which a component is shown.
pub(super) fn range(fields: ComponentFields) -> Result<[f32; 2], Error> {
    let range: [f32; 2] = fields.numbers("range");
    match range[0] >= 0.0 && range[1] > range[0] {
        true => Ok(range),
        false => Err(error!(
            "'range' must rise from 0 or more, got [{}, {}]: it is shown between two distances",
            range[0], range[1]
        )),
    }
}
