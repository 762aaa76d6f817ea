//! The block `surface` of a material file, and its compiled form: the response of meshes to light,
//! by the metallic-roughness model of glTF 2.0. Loads no textures.

use super::material_data::{FILTERS, WRAPS};
use super::surface_lobes::{LOBE_NUMBERS, SurfaceLobes};
use crate::resource_kind::CompileContext;
use engine_foundation::blob::{BlobReader, BlobWriter, NumberRange, within};
use engine_foundation::color_source::ColorKey;
use engine_foundation::error;
use engine_foundation::sjson::{self, ObjectEntry, SjsonValue};
use engine_foundation::suggest::hint;
use engine_foundation::{Color, Error};

/// Alpha modes, by their names in material files.
pub const ALPHAS: [&str; 3] = ["opaque", "mask", "blend"];
/// Texture keys of a surface, in the order of [`SurfaceSource::textures`].
pub const TEXTURES: [&str; 5] = [
    "base_color_texture",
    "metal_rough_texture",
    "normal_texture",
    "occlusion_texture",
    "emissive_texture",
];
/// True for the textures that hold numeric data instead of colors.
pub const IS_DATA: [bool; 5] = [false, true, true, true, false];

const KEYS: [&str; 34] = [
    "base_color",
    "linear_base_color",
    "metallic",
    "roughness",
    "emissive",
    "linear_emissive",
    "normal_scale",
    "occlusion_strength",
    "alpha",
    "alpha_cutoff",
    "double_sided",
    "unlit",
    "filter",
    "wrap",
    "base_color_texture",
    "metal_rough_texture",
    "normal_texture",
    "occlusion_texture",
    "emissive_texture",
    "emissive_strength",
    "offset_max",
    "clear_coat",
    "clear_coat_roughness",
    "sheen_color",
    "linear_sheen_color",
    "sheen_roughness",
    "anisotropy",
    "anisotropy_rotation",
    "ior",
    "specular",
    "specular_color",
    "linear_specular_color",
    "transmission",
    "thickness",
];

/// The color keys of a surface.
pub const COLORS: [ColorKey; 4] = [
    ColorKey { key: "base_color", linear_key: "linear_base_color", has_alpha: true },
    ColorKey { key: "emissive", linear_key: "linear_emissive", has_alpha: false },
    ColorKey { key: "sheen_color", linear_key: "linear_sheen_color", has_alpha: false },
    ColorKey { key: "specular_color", linear_key: "linear_specular_color", has_alpha: false },
];

/// A numeric property of a surface: its key, its range and the accessor of its field.
type SurfaceNumber = (&'static str, NumberRange, fn(&mut SurfaceSource) -> &mut f32);

/// The numeric properties of a surface, in the order of the compiled form.
const NUMBERS: [SurfaceNumber; 7] = [
    ("metallic", (0.0, 1.0), |surface| &mut surface.metallic),
    ("roughness", (0.0, 1.0), |surface| &mut surface.roughness),
    ("emissive_strength", (0.0, 1e6), |surface| &mut surface.emissive_strength),
    ("normal_scale", (-16.0, 16.0), |surface| &mut surface.normal_scale),
    ("occlusion_strength", (0.0, 1.0), |surface| &mut surface.occlusion_strength),
    ("alpha_cutoff", (0.0, 1.0), |surface| &mut surface.alpha_cutoff),
    ("offset_max", (0.0, 1000.0), |surface| &mut surface.offset_max),
];

/// A surface as declared in its file. Colors are linear, with straight (not premultiplied) alpha.
#[derive(Clone, PartialEq, Debug)]
pub struct SurfaceSource {
    pub base_color: [f32; 4],
    pub metallic: f32,
    pub roughness: f32,
    pub emissive: [f32; 3],
    pub emissive_strength: f32,
    pub normal_scale: f32,
    pub occlusion_strength: f32,
    /// Index in [`ALPHAS`].
    pub alpha: u8,
    pub alpha_cutoff: f32,
    /// Maximum distance in metres by which a shader moves vertices.
    pub offset_max: f32,
    pub double_sided: bool,
    pub unlit: bool,
    pub lobes: SurfaceLobes,
    /// Names of the textures.
    pub textures: [Option<String>; 5],
    /// Indices in `FILTERS` and `WRAPS`. Without a filter, the texture's own setting applies. The
    /// default wrap mode is repeat.
    pub filter: Option<u8>,
    pub wrap: u8,
}

impl SurfaceSource {
    /// The surface of an empty block.
    pub const DEFAULT: SurfaceSource = SurfaceSource {
        base_color: [1.0; 4],
        metallic: 0.0,
        roughness: 1.0,
        emissive: [0.0; 3],
        emissive_strength: 1.0,
        normal_scale: 1.0,
        occlusion_strength: 1.0,
        alpha: 0,
        alpha_cutoff: 0.5,
        offset_max: 1.0,
        double_sided: false,
        unlit: false,
        lobes: SurfaceLobes::NONE,
        textures: [None, None, None, None, None],
        filter: None,
        wrap: 1,
    };

    /// Parses the block. The error has the line number.
    pub fn parse(block: SjsonValue) -> Result<SurfaceSource, (usize, String)> {
        let mut surface = SurfaceSource::DEFAULT;
        let type_message = || {
            let message = "'surface' must be a block: surface = { base_color = \"#c04020\" }";
            (block.line(), message.to_string())
        };
        for entry in block.entries().ok_or_else(type_message)? {
            surface.set(&entry).map_err(|message| (entry.line(), message))?;
        }
        for ColorKey { key, linear_key, .. } in COLORS {
            if let (Some(_), Some(light)) = (block.get(key), block.get(linear_key)) {
                let message = format!("'{key}' and '{linear_key}' are the same colour: keep one");
                return Err((light.line(), message));
            }
        }
        Ok(surface)
    }

    fn set(&mut self, entry: &ObjectEntry) -> Result<(), String> {
        let (key, value) = (entry.key, entry.value);
        let type_message = |expected: &str| {
            format!("'{key}' of a surface must be {expected}, got {}", value.kind())
        };
        let number = |(least, most): NumberRange| match value.as_f64() {
            Some(number) if number >= least.into() && number <= most.into() => Ok(number as f32),
            Some(number) => Err(format!("'{key}' must be from {least} to {most}, got {number}")),
            None => Err(type_message("a number")),
        };
        let boolean = || value.as_bool().ok_or_else(|| type_message("true or false"));
        let choice = |choices: &[&str]| {
            let word = value.as_str().ok_or_else(|| type_message("a word in quotes"))?;
            let found = choices.iter().position(|known| *known == word);
            found.map(|index| index as u8).ok_or_else(|| {
                let all = choices.join("\", \"");
                format!("'{key}' must be one of \"{all}\", got \"{word}\"")
            })
        };
        if let Some(index) = TEXTURES.iter().position(|known| *known == key) {
            let name = value.as_str().ok_or_else(|| type_message("the name of a texture"))?;
            self.textures[index] = Some(name.to_string());
            return Ok(());
        }
        if let Some((_, range, field)) = NUMBERS.iter().find(|known| known.0 == key) {
            *field(self) = number(*range)?;
            return Ok(());
        }
        if let Some((field, range)) = self.lobes.number_mut(key) {
            *field = number(range)?;
            return Ok(());
        }
        if let Some(index) = COLORS.iter().position(|color| color.key == key) {
            let color = COLORS[index].read(&value.to_tree());
            let color = color.map_err(|message| format!("'{key}' of a surface {message}"))?;
            // The alpha is separate from the light.
            let [r, g, b, _] = Color { alpha: 255.0, ..color }.to_light();
            self.set_light(index, [r, g, b, color.alpha / 255.0]);
            return Ok(());
        }
        if let Some(index) = COLORS.iter().position(|color| color.linear_key == key) {
            let light = COLORS[index].read_light(&value.to_tree());
            let light = light.map_err(|message| format!("'{key}' of a surface {message}"))?;
            self.set_light(index, light);
            return Ok(());
        }
        match key {
            "alpha" => self.alpha = choice(&ALPHAS)?,
            "double_sided" => self.double_sided = boolean()?,
            "unlit" => self.unlit = boolean()?,
            "filter" => self.filter = Some(choice(&FILTERS)?),
            "wrap" => self.wrap = choice(&WRAPS)?,
            _ => return Err(format!("a surface has no '{key}'{}", hint(key, KEYS))),
        }
        Ok(())
    }

    /// Sets one of the [`COLORS`].
    fn set_light(&mut self, index: usize, light: [f32; 4]) {
        match index {
            0 => self.base_color = light,
            1 => self.emissive = [light[0], light[1], light[2]],
            2 => self.lobes.sheen_color = [light[0], light[1], light[2]],
            _ => self.lobes.specular_color = [light[0], light[1], light[2]],
        }
    }

    /// Refuses textures that were imported as colors if numeric data is required, because half of
    /// their slopes would be lost. A missing texture is reported when the material is loaded.
    pub fn check_textures(&self, context: &mut CompileContext) -> Result<(), String> {
        for (index, texture) in self.textures.iter().enumerate() {
            let Some(texture) = texture.as_ref().filter(|_| IS_DATA[index]) else { continue };
            let key = TEXTURES[index];
            let settings = format!("{texture}.texture");
            if let Some(bytes) = context.read_optional(&settings) {
                let document = sjson::parse_bytes(&bytes);
                let is_data = document.as_ref().ok().and_then(|one| one.root().get("data"));
                if is_data.and_then(SjsonValue::as_bool) != Some(true) {
                    return Err(format!(
                        "'{key}' takes numbers, and {settings} imports the picture as colours: \
                         write data = true there"
                    ));
                }
                continue;
            }
            let plain = ["png", "jpg", "jpeg", "tga", "bmp", "qoi", "webp"];
            let file_exists = |ending: &&str| context.exists(&format!("{texture}.{ending}"));
            if plain.iter().any(file_exists) {
                return Err(format!(
                    "'{key}' takes numbers, and the picture '{texture}' is imported as colours: \
                     write data = true in a file {settings}"
                ));
            }
        }
        Ok(())
    }

    pub fn write(&self, writer: &mut BlobWriter) {
        self.base_color.iter().chain(&self.emissive).for_each(|part| writer.u32(part.to_bits()));
        let mut numbers = self.clone();
        NUMBERS.iter().for_each(|(_, _, field)| writer.u32(field(&mut numbers).to_bits()));
        let mut lobes = self.lobes;
        LOBE_NUMBERS.iter().for_each(|(_, _, field)| writer.u32(field(&mut lobes).to_bits()));
        let colors = lobes.sheen_color.iter().chain(&lobes.specular_color);
        colors.for_each(|part| writer.u32(part.to_bits()));
        for byte in [
            self.alpha,
            u8::from(self.double_sided),
            u8::from(self.unlit),
            self.filter.unwrap_or(u8::MAX),
            self.wrap,
        ] {
            writer.u8(byte);
        }
        for texture in &self.textures {
            writer.text(texture.as_deref().unwrap_or_default());
        }
    }

    /// Reads the compiled form.
    ///
    /// # Errors
    /// Returns an error if the data is damaged, or has a number that its file could not have.
    pub fn read(reader: &mut BlobReader) -> Result<SurfaceSource, Error> {
        let mut surface = SurfaceSource::DEFAULT;
        for part in surface.base_color.iter_mut().chain(&mut surface.emissive) {
            *part = reader.finite()?;
        }
        for (key, range, field) in NUMBERS {
            let number = reader.finite()?;
            within(key, number, range)?;
            *field(&mut surface) = number;
        }
        for (key, range, field) in LOBE_NUMBERS {
            let number = reader.finite()?;
            within(key, number, range)?;
            *field(&mut surface.lobes) = number;
        }
        let lobes = &mut surface.lobes;
        for part in lobes.sheen_color.iter_mut().chain(&mut lobes.specular_color) {
            *part = reader.finite()?;
        }
        let choice = |index: u8, most: usize| match usize::from(index) < most {
            true => Ok(index),
            false => Err(error!("it is damaged: there is no choice {index}")),
        };
        surface.alpha = choice(reader.u8()?, ALPHAS.len())?;
        (surface.double_sided, surface.unlit) = (reader.flag()?, reader.flag()?);
        surface.filter = match reader.u8()? {
            u8::MAX => None,
            index => Some(choice(index, FILTERS.len())?),
        };
        surface.wrap = choice(reader.u8()?, WRAPS.len())?;
        for texture in &mut surface.textures {
            let name = reader.text()?;
            *texture = (!name.is_empty()).then(|| name.to_string());
        }
        Ok(surface)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::sjson::parse;

    fn parsed(text: &str) -> Result<SurfaceSource, String> {
        let document = parse(text).unwrap();
        let block = document.root().get("surface").unwrap();
        SurfaceSource::parse(block).map_err(|(line, message)| format!("{line}: {message}"))
    }

    #[test]
    fn written_data_reads_back_equal() {
        let surface = parsed(
            "surface = { base_color = \"#ff000080\" metallic = 1 roughness = 0.25 \
             linear_emissive = [1, 2, 3] clear_coat = 0.5 linear_sheen_color = [1, 0, 0.5]\n \
             normal_texture = \"a/b\" alpha = \"mask\" \
             double_sided = true wrap = \"clamp\" }",
        )
        .unwrap();
        assert_eq!(surface.base_color, [1.0, 0.0, 0.0, 128.0 / 255.0]);
        assert_eq!((surface.alpha, surface.wrap), (1, 0));
        let mut writer = BlobWriter::default();
        surface.write(&mut writer);
        let bytes = writer.finish();
        assert_eq!(SurfaceSource::read(&mut BlobReader::new(&bytes)).unwrap(), surface);
        for length in 0..bytes.len() {
            assert!(
                SurfaceSource::read(&mut BlobReader::new(&bytes[..length])).is_err(),
                "{length}"
            );
        }
    }

    #[test]
    fn invalid_numbers_in_compiled_data_are_refused() {
        let surface = SurfaceSource::DEFAULT;
        for (key, (least, most), field) in NUMBERS {
            for wrong in [least - 0.1, most * 1.1 + 0.1, f32::NAN, f32::INFINITY] {
                let mut wronged = surface.clone();
                *field(&mut wronged) = wrong;
                let mut writer = BlobWriter::default();
                wronged.write(&mut writer);
                let read = SurfaceSource::read(&mut BlobReader::new(&writer.finish()));
                assert!(read.is_err(), "{key} {wrong}");
            }
        }
    }

    #[test]
    fn invalid_sources_are_refused_with_location_and_reason() {
        let check = |text: &str, message: &str| {
            assert_eq!(parsed(&format!("surface = {text}")).unwrap_err(), message);
        };
        check("3", "1: 'surface' must be a block: surface = { base_color = \"#c04020\" }");
        check("{\n metalic = 1 }", "2: a surface has no 'metalic', did you mean 'metallic'?");
        check("{ metallic = 2 }", "1: 'metallic' must be from 0 to 1, got 2");
        check(
            "{ alpha = \"glass\" }",
            "1: 'alpha' must be one of \"opaque\", \"mask\", \
             \"blend\", got \"glass\"",
        );
        check(
            "{ base_color = \"red\" }",
            "1: 'base_color' of a surface must be a colour such as \"#ff8000\", \"#ff800080\", \
             [255, 128, 0] or [255, 128, 0, 128], got \"red\"",
        );
        let numbers = "1: 'base_color' of a surface must have parts from 0 to 255, got ";
        check("{ base_color = [1e300, 0, 0] }", &format!("{numbers}1{}", "0".repeat(300)));
        check(
            "{ base_color = [1, 0.5, 0.2] }",
            "1: 'base_color' of a surface has parts from 0 to 255, and these go to 1: write [255, \
             188, 124], or linear_base_color = [1, 0.5, 0.2] for linear light",
        );
        check(
            "{ emissive = \"#ff8000\"\n linear_emissive = [1, 0, 0] }",
            "2: 'emissive' and 'linear_emissive' are the same colour: keep one",
        );
        check(
            "{ linear_emissive = [1, 0] }",
            "1: 'linear_emissive' of a surface must be three numbers of linear light such as [1, \
             0.5, 0.2]",
        );
        check(
            "{ normal_texture = 1 }",
            "1: 'normal_texture' of a surface must be the name of a texture, got number",
        );
    }
}
