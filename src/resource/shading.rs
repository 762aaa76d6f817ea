//! The compiled forms of shaders and materials: what the data compiler (src/system/render/shader)
//! writes and the materials of a running game (src/system/materials) read. The source of a shader
//! is checked by its kind (src/system/render/shader), which knows the engine's part of it.

use crate::error;
use crate::foundation::Error;
use crate::foundation::blob::{Reader, Writer};
use crate::resource::surface::SurfaceFile;

/// A checked shader.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ShaderData {
    /// The whole module in WGSL, the engine's part included.
    pub source: String,
    /// Its block of variables, in order.
    pub variables: Vec<Variable>,
    /// Bytes of that block.
    pub variable_bytes: u32,
    /// Names of its textures, by place.
    pub textures: Vec<String>,
}

/// A variable in a shader's block.
#[derive(Clone, PartialEq, Debug)]
pub struct Variable {
    pub name: String,
    pub kind: VariableKind,
    /// In bytes from the block's start.
    pub offset: u32,
}

/// What a variable is. A matrix's columns lie one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VariableKind {
    Scalar,
    Integer,
    Unsigned,
    Vector2,
    Vector3,
    Vector4,
    Matrix4x4,
}

impl VariableKind {
    /// Every kind, with its type in WGSL, what people call it, and how many numbers it has.
    const ALL: [(VariableKind, &'static str, &'static str, usize); 7] = [
        (VariableKind::Scalar, "f32", "a number", 1),
        (VariableKind::Integer, "i32", "a whole number", 1),
        (VariableKind::Unsigned, "u32", "a whole number", 1),
        (VariableKind::Vector2, "vec2f", "2 numbers", 2),
        (VariableKind::Vector3, "vec3f", "3 numbers", 3),
        (VariableKind::Vector4, "vec4f", "4 numbers", 4),
        (VariableKind::Matrix4x4, "mat4x4f", "16 numbers", 16),
    ];

    fn row(self) -> &'static (VariableKind, &'static str, &'static str, usize) {
        Self::ALL.iter().find(|row| row.0 == self).expect("every kind has a row")
    }

    /// The type in WGSL.
    pub fn wgsl(self) -> &'static str {
        self.row().1
    }

    /// What people call it.
    pub fn words(self) -> &'static str {
        self.row().2
    }

    /// How many numbers it has.
    pub fn numbers(self) -> usize {
        self.row().3
    }

    /// Writes numbers into a block of variables; as many as it has.
    pub fn put(self, block: &mut [u8], offset: u32, numbers: &[f32]) {
        for (index, number) in numbers[..self.numbers()].iter().enumerate() {
            let at = offset as usize + index * 4;
            let bytes = match self {
                VariableKind::Integer => (*number as i32).to_le_bytes(),
                VariableKind::Unsigned => (*number as u32).to_le_bytes(),
                _ => number.to_le_bytes(),
            };
            block[at..at + 4].copy_from_slice(&bytes);
        }
    }
}

/// How colours meet what is behind them, by the words of material files.
pub const BLENDS: [&str; 4] = ["alpha", "add", "multiply", "replace"];
/// Filters and wraps of samplers, likewise.
pub const FILTERS: [&str; 2] = ["linear", "nearest"];
pub const WRAPS: [&str; 3] = ["clamp", "repeat", "mirror"];

/// The most textures and variables of a material's file: no shader has as many, and each is looked
/// up among the shader's own.
pub const MATERIAL_TEXTURES_MAX: usize = 64;
pub const MATERIAL_VARIABLES_MAX: usize = 4096;

/// A material as its file says it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MaterialData {
    /// The name of its shader; the engine's own without one.
    pub shader: Option<String>,
    /// The name of the texture that bitmaps with this material show.
    pub texture: Option<String>,
    /// The index in [`BLENDS`].
    pub blend: u8,
    pub textures: Vec<TextureData>,
    /// Names with their numbers.
    pub variables: Vec<(String, Vec<f32>)>,
    /// How meshes take light, for a material that is for them.
    pub surface: Option<SurfaceFile>,
}

/// A texture in one of a shader's places.
#[derive(Clone, PartialEq, Debug)]
pub struct TextureData {
    /// The name in the shader.
    pub name: String,
    /// The texture resource.
    pub texture: String,
    /// Indices in [`FILTERS`] and [`WRAPS`]; none: as the texture has it.
    pub filter: Option<u8>,
    pub wrap: Option<u8>,
}

fn put_option(writer: &mut Writer, text: Option<&String>) {
    writer.u8(u8::from(text.is_some()));
    if let Some(text) = text {
        writer.text(text);
    }
}

fn get_option(reader: &mut Reader) -> Result<Option<String>, Error> {
    match reader.flag()? {
        false => Ok(None),
        true => Ok(Some(reader.text()?.to_string())),
    }
}

/// The byte of a choice that may be left open.
const OPEN: u8 = 255;

fn get_choice(reader: &mut Reader, most: usize) -> Result<Option<u8>, Error> {
    match reader.u8()? {
        OPEN => Ok(None),
        index if usize::from(index) < most => Ok(Some(index)),
        index => Err(error!("it is damaged: there is no choice {index}")),
    }
}

impl ShaderData {
    pub fn write(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.text(&self.source);
        writer.u32(self.variable_bytes);
        writer.list(&self.variables, |writer, variable| {
            writer.text(&variable.name);
            writer.text(variable.kind.wgsl());
            writer.u32(variable.offset);
        });
        writer.list(&self.textures, |writer, name| writer.text(name));
        writer.finish()
    }

    pub fn read(bytes: &[u8]) -> Result<ShaderData, Error> {
        let mut reader = Reader::new(bytes);
        let source = reader.text()?.to_string();
        let variable_bytes = reader.u32()?;
        let variables = reader.list(|reader| {
            let (name, wgsl) = (reader.text()?.to_string(), reader.text()?);
            let row = VariableKind::ALL.iter().find(|row| row.1 == wgsl);
            let row = row.ok_or_else(|| error!("it is damaged: there is no type '{wgsl}'"))?;
            let offset = reader.u32()?;
            if u64::from(offset) + row.3 as u64 * 4 > u64::from(variable_bytes) {
                return Err(error!("it is damaged: '{name}' lies outside of its block"));
            }
            Ok(Variable { name, kind: row.0, offset })
        })?;
        let textures = reader.list(|reader| reader.text().map(str::to_string))?;
        reader.end()?;
        Ok(ShaderData { source, variables, variable_bytes, textures })
    }
}

impl MaterialData {
    pub fn write(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        put_option(&mut writer, self.shader.as_ref());
        put_option(&mut writer, self.texture.as_ref());
        writer.u8(self.blend);
        writer.list(&self.textures, |writer, texture| {
            writer.text(&texture.name);
            writer.text(&texture.texture);
            writer.u8(texture.filter.unwrap_or(OPEN));
            writer.u8(texture.wrap.unwrap_or(OPEN));
        });
        writer.list(&self.variables, |writer, (name, numbers)| {
            writer.text(name);
            writer.list(numbers, |writer, number| writer.u32(number.to_bits()));
        });
        writer.u8(u8::from(self.surface.is_some()));
        if let Some(surface) = &self.surface {
            surface.write(&mut writer);
        }
        writer.finish()
    }

    pub fn read(bytes: &[u8]) -> Result<MaterialData, Error> {
        let mut reader = Reader::new(bytes);
        let (shader, texture) = (get_option(&mut reader)?, get_option(&mut reader)?);
        let blend = get_choice(&mut reader, BLENDS.len())?;
        let blend = blend.ok_or_else(|| error!("it is damaged: it has no blend"))?;
        let limit = (MATERIAL_TEXTURES_MAX, "MATERIAL_TEXTURES_MAX");
        let textures = reader.list_at_most(limit, |reader| {
            Ok(TextureData {
                name: reader.text()?.to_string(),
                texture: reader.text()?.to_string(),
                filter: get_choice(reader, FILTERS.len())?,
                wrap: get_choice(reader, WRAPS.len())?,
            })
        })?;
        let limit = (MATERIAL_VARIABLES_MAX, "MATERIAL_VARIABLES_MAX");
        let variables = reader.list_at_most(limit, |reader| {
            let name = reader.text()?.to_string();
            Ok((name, reader.list(Reader::finite)?))
        })?;
        let surface = match reader.flag()? {
            false => None,
            true => Some(SurfaceFile::read(&mut reader)?),
        };
        reader.end()?;
        let data = MaterialData { shader, texture, blend, textures, variables, surface };
        // What is for meshes has nothing that is for pictures.
        let alone = MaterialData { surface: data.surface.clone(), ..MaterialData::default() };
        match data.surface.is_some() && data != alone {
            true => Err(error!("it is damaged: it is both for meshes and for pictures")),
            false => Ok(data),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shaders_and_materials_are_read_as_they_were_written() {
        let variable = |name: &str, kind, offset| Variable { name: name.to_string(), kind, offset };
        let shader = ShaderData {
            source: "fn paint() {}".to_string(),
            variables: vec![
                variable("speed", VariableKind::Scalar, 0),
                variable("tint", VariableKind::Vector4, 16),
            ],
            variable_bytes: 32,
            textures: vec!["noise".to_string()],
        };
        let bytes = shader.write();
        assert_eq!(ShaderData::read(&bytes).unwrap(), shader);
        let material = MaterialData {
            shader: Some("shaders/wave".to_string()),
            texture: None,
            blend: 1,
            textures: vec![TextureData {
                name: "noise".to_string(),
                texture: "textures/noise".to_string(),
                filter: Some(1),
                wrap: None,
            }],
            variables: vec![("speed".to_string(), vec![2.0])],
            surface: None,
        };
        let more = material.write();
        assert_eq!(MaterialData::read(&more).unwrap(), material);
        let surface = Some(SurfaceFile::DEFAULT);
        let of_mesh = MaterialData { surface: surface.clone(), ..MaterialData::default() };
        assert_eq!(MaterialData::read(&of_mesh.write()).unwrap(), of_mesh);
        let variables = vec![("speed".to_string(), Vec::new()); MATERIAL_VARIABLES_MAX + 1];
        let many = MaterialData { variables, ..MaterialData::default() };
        let words = MaterialData::read(&many.write()).unwrap_err().message;
        assert!(words.ends_with("4096 are the most (MATERIAL_VARIABLES_MAX)"), "{words}");
        let both = MaterialData { surface, ..material };
        let words = MaterialData::read(&both.write()).unwrap_err().message;
        assert_eq!(words, "it is damaged: it is both for meshes and for pictures");
        for length in 0..bytes.len() {
            assert!(ShaderData::read(&bytes[..length]).is_err(), "{length}");
        }
        for length in 0..more.len() {
            assert!(MaterialData::read(&more[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn numbers_go_to_their_place_in_the_block() {
        let mut block = [0; 16];
        VariableKind::Integer.put(&mut block, 4, &[-3.0]);
        VariableKind::Vector2.put(&mut block, 8, &[1.0, 2.0]);
        assert_eq!(block[4..8], (-3i32).to_le_bytes());
        assert_eq!(block[12..], 2.0f32.to_le_bytes());
        assert_eq!(block[..4], [0; 4]);
    }
}
