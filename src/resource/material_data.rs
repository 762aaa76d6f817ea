//! The compiled forms of shaders and materials, which the data compiler (src/system/render/shader)
//! writes and the runtime materials (src/system/materials) read. The kind of shaders
//! (src/system/render/shader) checks a shader's source, because it knows the engine's part of the
//! source.

use crate::surface_source::SurfaceSource;
use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::error;

/// A validated shader in compiled form.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ShaderData {
    /// Source of the whole module in WGSL, including the engine's part; for a shader of meshes the
    /// game's part alone, because the engine has one part for each pass.
    pub source: String,
    /// Functions of a shader for meshes; `None` for a shader for pictures.
    pub surface: Option<SurfaceFunctions>,
    /// Variables of the uniform block, in order.
    pub variables: Vec<ShaderVariable>,
    /// Size of the uniform block in bytes.
    pub variable_bytes: u32,
    /// Names of the textures, by slot.
    pub textures: Vec<String>,
}

/// The functions that a shader for meshes declares.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct SurfaceFunctions {
    /// It computes the surface of each pixel.
    pub surface: bool,
    /// It moves vertices.
    pub vertex_offset: bool,
    /// It changes the lit color of each pixel.
    pub final_color: bool,
    /// It names lobes besides the standard ones, or transmission.
    pub lobes: bool,
    pub transmission: bool,
}

impl SurfaceFunctions {
    fn to_byte(self) -> u8 {
        u8::from(self.surface)
            | u8::from(self.vertex_offset) << 1
            | u8::from(self.final_color) << 2
            | u8::from(self.lobes) << 3
            | u8::from(self.transmission) << 4
    }

    fn from_byte(byte: u8) -> Result<Option<SurfaceFunctions>, Error> {
        let found = SurfaceFunctions {
            surface: byte & 1 != 0,
            vertex_offset: byte & 2 != 0,
            final_color: byte & 4 != 0,
            lobes: byte & 8 != 0,
            transmission: byte & 16 != 0,
        };
        match byte {
            0 => Ok(None),
            1..=31 => Ok(Some(found)),
            _ => Err(error!("it is damaged: there are no functions {byte}")),
        }
    }
}

/// A variable in a shader's uniform block.
#[derive(Clone, PartialEq, Debug)]
pub struct ShaderVariable {
    pub name: String,
    pub kind: ShaderVariableType,
    /// Offset in bytes from the start of the block.
    pub offset: u32,
}

/// Type of a shader variable. The columns of a matrix follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShaderVariableType {
    Scalar,
    Integer,
    Unsigned,
    Vector2,
    Vector3,
    Vector4,
    Matrix4x4,
}

impl ShaderVariableType {
    /// All types, each with its WGSL type, its name in messages and its number of components.
    const ALL: [(ShaderVariableType, &'static str, &'static str, usize); 7] = [
        (ShaderVariableType::Scalar, "f32", "a number", 1),
        (ShaderVariableType::Integer, "i32", "a whole number", 1),
        (ShaderVariableType::Unsigned, "u32", "a whole number", 1),
        (ShaderVariableType::Vector2, "vec2f", "2 numbers", 2),
        (ShaderVariableType::Vector3, "vec3f", "3 numbers", 3),
        (ShaderVariableType::Vector4, "vec4f", "4 numbers", 4),
        (ShaderVariableType::Matrix4x4, "mat4x4f", "16 numbers", 16),
    ];

    fn row(self) -> &'static (ShaderVariableType, &'static str, &'static str, usize) {
        Self::ALL.iter().find(|row| row.0 == self).expect("every kind has a row")
    }

    /// Returns the type in WGSL.
    pub fn wgsl(self) -> &'static str {
        self.row().1
    }

    /// Returns the name of the type in messages.
    pub fn name(self) -> &'static str {
        self.row().2
    }

    /// Returns the number of components.
    pub fn numbers(self) -> usize {
        self.row().3
    }

    /// Writes the components of this variable into a uniform block.
    pub fn write(self, block: &mut [u8], offset: u32, numbers: &[f32]) {
        for (index, number) in numbers[..self.numbers()].iter().enumerate() {
            let at = offset as usize + index * 4;
            let bytes = match self {
                ShaderVariableType::Integer => (*number as i32).to_le_bytes(),
                ShaderVariableType::Unsigned => (*number as u32).to_le_bytes(),
                _ => number.to_le_bytes(),
            };
            block[at..at + 4].copy_from_slice(&bytes);
        }
    }
}

/// Blend modes, by their names in material files and scripts. They say how colors combine with the
/// background.
pub const BLENDS: [&str; 5] = ["alpha", "add", "multiply", "replace", "premultiplied"];
/// Filters and wrap modes of samplers, by their names in material files.
pub const FILTERS: [&str; 2] = ["linear", "nearest"];
pub const WRAPS: [&str; 3] = ["clamp", "repeat", "mirror"];

/// Maximum numbers of textures and variables in a material file. No shader has more, and each one
/// is looked up among the shader's own.
pub const MATERIAL_TEXTURES_MAX: usize = 64;
pub const MATERIAL_VARIABLES_MAX: usize = 4096;

/// A material as declared in its file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MaterialData {
    /// Name of the material's shader; `None` for the engine's default shader.
    pub shader: Option<String>,
    /// Name of the texture that bitmaps with this material show.
    pub texture: Option<String>,
    /// Index in [`BLENDS`].
    pub blend: u8,
    pub textures: Vec<TextureBinding>,
    /// Names of variables with their values.
    pub variables: Vec<(String, Vec<f32>)>,
    /// Response of meshes to light, for a material that is used on meshes. Its shader, if it has
    /// one, declares surface functions.
    pub surface: Option<SurfaceSource>,
}

/// A texture bound to one of a shader's texture slots.
#[derive(Clone, PartialEq, Debug)]
pub struct TextureBinding {
    /// Name of the texture slot in the shader.
    pub name: String,
    /// Name of the texture resource.
    pub texture: String,
    /// Indices in [`FILTERS`] and [`WRAPS`]; `None` uses the texture's own setting.
    pub filter: Option<u8>,
    pub wrap: Option<u8>,
}

fn write_option(writer: &mut BlobWriter, text: Option<&String>) {
    writer.u8(u8::from(text.is_some()));
    if let Some(text) = text {
        writer.text(text);
    }
}

fn read_option(reader: &mut BlobReader) -> Result<Option<String>, Error> {
    match reader.flag()? {
        false => Ok(None),
        true => Ok(Some(reader.text()?.to_string())),
    }
}

/// Byte that encodes an unset optional choice.
const UNSET: u8 = 255;

fn read_choice(reader: &mut BlobReader, count: usize) -> Result<Option<u8>, Error> {
    match reader.u8()? {
        UNSET => Ok(None),
        index if usize::from(index) < count => Ok(Some(index)),
        index => Err(error!("it is damaged: there is no choice {index}")),
    }
}

impl ShaderData {
    pub fn write(&self) -> Vec<u8> {
        let mut writer = BlobWriter::default();
        writer.text(&self.source);
        writer.u8(self.surface.map_or(0, SurfaceFunctions::to_byte));
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
        let mut reader = BlobReader::new(bytes);
        let source = reader.text()?.to_string();
        let surface = SurfaceFunctions::from_byte(reader.u8()?)?;
        let variable_bytes = reader.u32()?;
        let variables = reader.list(|reader| {
            let (name, wgsl) = (reader.text()?.to_string(), reader.text()?);
            let row = ShaderVariableType::ALL.iter().find(|row| row.1 == wgsl);
            let row = row.ok_or_else(|| error!("it is damaged: there is no type '{wgsl}'"))?;
            let offset = reader.u32()?;
            if u64::from(offset) + row.3 as u64 * 4 > u64::from(variable_bytes) {
                return Err(error!("it is damaged: '{name}' lies outside of its block"));
            }
            Ok(ShaderVariable { name, kind: row.0, offset })
        })?;
        let textures = reader.list(|reader| reader.text().map(str::to_string))?;
        reader.end()?;
        Ok(ShaderData { source, surface, variables, variable_bytes, textures })
    }
}

impl MaterialData {
    pub fn write(&self) -> Vec<u8> {
        let mut writer = BlobWriter::default();
        write_option(&mut writer, self.shader.as_ref());
        write_option(&mut writer, self.texture.as_ref());
        writer.u8(self.blend);
        writer.list(&self.textures, |writer, texture| {
            writer.text(&texture.name);
            writer.text(&texture.texture);
            writer.u8(texture.filter.unwrap_or(UNSET));
            writer.u8(texture.wrap.unwrap_or(UNSET));
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
        let mut reader = BlobReader::new(bytes);
        let (shader, texture) = (read_option(&mut reader)?, read_option(&mut reader)?);
        let blend = read_choice(&mut reader, BLENDS.len())?;
        let blend = blend.ok_or_else(|| error!("it is damaged: it has no blend"))?;
        let limit = (MATERIAL_TEXTURES_MAX, "MATERIAL_TEXTURES_MAX");
        let textures = reader.list_at_most(limit, |reader| {
            Ok(TextureBinding {
                name: reader.text()?.to_string(),
                texture: reader.text()?.to_string(),
                filter: read_choice(reader, FILTERS.len())?,
                wrap: read_choice(reader, WRAPS.len())?,
            })
        })?;
        let limit = (MATERIAL_VARIABLES_MAX, "MATERIAL_VARIABLES_MAX");
        let variables = reader.list_at_most(limit, |reader| {
            let name = reader.text()?.to_string();
            Ok((name, reader.list(BlobReader::finite)?))
        })?;
        let surface = match reader.flag()? {
            false => None,
            true => Some(SurfaceSource::read(&mut reader)?),
        };
        reader.end()?;
        let data = MaterialData { shader, texture, blend, textures, variables, surface };
        // A material for meshes has no properties of pictures.
        let of_picture = data.texture.is_some() || data.blend != 0;
        match data.surface.is_some() && of_picture {
            true => Err(error!("it is damaged: it is both for meshes and for pictures")),
            false => Ok(data),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shaders_and_materials_survive_a_round_trip() {
        let variable =
            |name: &str, kind, offset| ShaderVariable { name: name.to_string(), kind, offset };
        let shader = ShaderData {
            source: "fn surface() {}".to_string(),
            surface: Some(SurfaceFunctions { vertex_offset: true, ..SurfaceFunctions::default() }),
            variables: vec![
                variable("speed", ShaderVariableType::Scalar, 0),
                variable("tint", ShaderVariableType::Vector4, 16),
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
            textures: vec![TextureBinding {
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
        let surface = Some(SurfaceSource::DEFAULT);
        let of_mesh = MaterialData { surface: surface.clone(), ..MaterialData::default() };
        assert_eq!(MaterialData::read(&of_mesh.write()).unwrap(), of_mesh);
        let variables = vec![("speed".to_string(), Vec::new()); MATERIAL_VARIABLES_MAX + 1];
        let many = MaterialData { variables, ..MaterialData::default() };
        let message = MaterialData::read(&many.write()).unwrap_err().message;
        assert!(message.ends_with("4096 are the most (MATERIAL_VARIABLES_MAX)"), "{message}");
        let both = MaterialData { surface, ..material };
        let message = MaterialData::read(&both.write()).unwrap_err().message;
        assert_eq!(message, "it is damaged: it is both for meshes and for pictures");
        for length in 0..bytes.len() {
            assert!(ShaderData::read(&bytes[..length]).is_err(), "{length}");
        }
        for length in 0..more.len() {
            assert!(MaterialData::read(&more[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn numbers_are_written_at_their_offset_in_the_block() {
        let mut block = [0; 16];
        ShaderVariableType::Integer.write(&mut block, 4, &[-3.0]);
        ShaderVariableType::Vector2.write(&mut block, 8, &[1.0, 2.0]);
        assert_eq!(block[4..8], (-3i32).to_le_bytes());
        assert_eq!(block[12..], 2.0f32.to_le_bytes());
        assert_eq!(block[..4], [0; 4]);
    }
}
