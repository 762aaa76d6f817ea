//! Fields of extensions that the parser keeps as JSON values: numbers, indices, colors, textures.

use super::accessor::missing;
use engine_foundation::Error;
use engine_foundation::error;
use gltf::json::Value;
use gltf::json::extensions::texture::TextureTransform;

/// Name of the extension with the transform of a texture.
pub const TEXTURE_TRANSFORM: &str = "KHR_texture_transform";

/// An extension of an item, by its name for messages.
#[derive(Clone, Copy)]
pub struct ExtensionFields<'a> {
    name: &'a str,
    value: &'a Value,
}

/// Texture reference of a material.
#[derive(Clone)]
pub struct TextureInfo {
    pub index: usize,
    pub set: u32,
    pub transform: Option<TextureTransform>,
}

impl<'a> ExtensionFields<'a> {
    pub fn of(name: &'a str, value: &'a Value) -> ExtensionFields<'a> {
        ExtensionFields { name, value }
    }

    /// Returns a whole number; `None` if the field is absent.
    pub fn whole(self, key: &str) -> Result<Option<u64>, Error> {
        let Some(value) = self.value.get(key) else { return Ok(None) };
        whole(value).map(Some).ok_or_else(|| self.must(key, "a whole number from 0 on"))
    }

    /// Returns a whole number that must be present.
    pub fn required(self, key: &str) -> Result<u64, Error> {
        self.whole(key)?.ok_or_else(|| error!("{} has no '{key}': export it again", self.name))
    }

    /// Returns a finite number; `otherwise` if the field is absent.
    pub fn number(self, key: &str, otherwise: f32) -> Result<f32, Error> {
        let Some(value) = self.value.get(key) else { return Ok(otherwise) };
        number(value).ok_or_else(|| self.must(key, "a number"))
    }

    /// Returns a list of finite numbers; `otherwise` if the field is absent.
    pub fn numbers<const N: usize>(
        self,
        key: &str,
        otherwise: [f32; N],
    ) -> Result<[f32; N], Error> {
        let Some(value) = self.value.get(key) else { return Ok(otherwise) };
        let items = value.as_array().map_or(&[][..], Vec::as_slice);
        let numbers: Vec<f32> = items.iter().filter_map(number).collect();
        match (items.len(), <[f32; N]>::try_from(numbers)) {
            (count, Ok(numbers)) if count == N => Ok(numbers),
            _ => Err(self.must(key, &format!("{N} numbers"))),
        }
    }

    /// Returns a string; `otherwise` if the field is absent.
    pub fn text(self, key: &str, otherwise: &'a str) -> Result<&'a str, Error> {
        match self.value.get(key) {
            None => Ok(otherwise),
            Some(value) => value.as_str().ok_or_else(|| self.must(key, "text")),
        }
    }

    /// Returns the indices in an object: names of attributes, and the index of each.
    pub fn indices(self, key: &str) -> Result<Vec<(&'a str, u64)>, Error> {
        let Some(Value::Object(entries)) = self.value.get(key) else {
            return Err(self.must(key, "an object"));
        };
        let of = |(name, value): (&'a String, &Value)| {
            let index = whole(value).ok_or_else(|| self.must(name, "an index"))?;
            Ok((&name[..], index))
        };
        entries.iter().map(of).collect()
    }

    /// Returns a texture reference; `None` if the field is absent.
    pub fn texture(self, key: &str) -> Result<Option<TextureInfo>, Error> {
        let Some(value) = self.value.get(key) else { return Ok(None) };
        let info = ExtensionFields::of(key, value);
        let number = |number: u64| u32::try_from(number).map_err(|_| missing("texture", !0));
        let index = number(info.required("index")?)? as usize;
        let set = number(info.whole("texCoord")?.unwrap_or(0))?;
        let transform = value.get("extensions").and_then(|all| all.get(TEXTURE_TRANSFORM));
        Ok(Some(TextureInfo { index, set, transform: transform.map(transform_of).transpose()? }))
    }

    fn must(self, key: &str, expected: &str) -> Error {
        error!("'{key}' of {} must be {expected}: export it again", self.name)
    }
}

/// Reads a texture transform that the parser keeps as a value.
pub fn transform_of(value: &Value) -> Result<TextureTransform, Error> {
    let fields = ExtensionFields::of(TEXTURE_TRANSFORM, value);
    if !value.is_object() {
        return Err(error!("{TEXTURE_TRANSFORM} must be an object: export it again"));
    }
    let set = fields.whole("texCoord")?.map(u32::try_from).transpose();
    let mut transform = TextureTransform::default();
    transform.offset.0 = fields.numbers("offset", [0.0; 2])?;
    transform.scale.0 = fields.numbers("scale", [1.0; 2])?;
    transform.rotation.0 = fields.number("rotation", 0.0)?;
    transform.tex_coord =
        set.map_err(|_| fields.must("texCoord", &format!("at most {}", u32::MAX)))?;
    Ok(transform)
}

/// Returns a whole number that a value holds exactly, also if it is written as `1.0`.
fn whole(value: &Value) -> Option<u64> {
    let float = || value.as_f64().filter(|float| float.fract() == 0.0 && *float >= 0.0);
    value.as_u64().or_else(|| float().filter(|float| *float < 1e15).map(|float| float as u64))
}

fn number(value: &Value) -> Option<f32> {
    value.as_f64().map(|number| number as f32).filter(|number| number.is_finite())
}
