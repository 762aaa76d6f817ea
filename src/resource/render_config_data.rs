//! The compiled form of a render config: the frame as data. The data compiler
//! (src/system/render/render_config) writes it, packets carry it, and the renderer executes it.
//! Knows no graphics API.

use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter, within};
use engine_foundation::error;

/// Name of the engine's own setting for debug views, which no render config declares.
pub const DEBUG_VIEW_SETTING: &str = "debug_view";

/// Maximum numbers of the parts of a config.
pub const SETTINGS_MAX: usize = 256;
pub const TARGETS_MAX: usize = 32;
pub const GENERATORS_MAX: usize = 64;
pub const VIEWPORTS_MAX: usize = 16;
/// Maximum number of steps of a viewport.
pub const STEPS_MAX: usize = 128;
/// Maximum number of textures that a generator samples.
pub const INPUTS_MAX: usize = 8;
/// Range of a target's scale: its side length divided by that of the view.
pub const SCALE_MIN: f32 = 1.0 / 64.0;
pub const SCALE_MAX: f32 = 2.0;
/// Maximum side length of a target with a fixed size, in texels.
pub const TARGET_SIDE_MAX: u32 = 16_384;
/// Maximum number of bytes of all targets with a fixed size.
pub const FIXED_BYTES_MAX: u64 = 512 << 20;
/// Maximum number of bytes of all targets with a scale, for each pixel of the view.
pub const PIXEL_BYTES_MAX: f32 = 256.0;
/// Maximum length of a name in bytes.
pub const NAME_BYTES_MAX: usize = 128;
/// Maximum absolute value of a setting.
pub const SETTING_MAX: f32 = 1.0e9;
/// Maximum size of a generator's block of variables, in bytes.
pub const VARIABLE_BYTES_MAX: usize = 16_384;

/// Format of the texels of a render target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TargetFormat {
    R8,
    Rg8,
    Rgba8,
    Rgba8Srgb,
    R16f,
    Rg16f,
    Rgba16f,
    R32f,
}

impl TargetFormat {
    pub const ALL: [TargetFormat; 8] = [
        TargetFormat::R8,
        TargetFormat::Rg8,
        TargetFormat::Rgba8,
        TargetFormat::Rgba8Srgb,
        TargetFormat::R16f,
        TargetFormat::Rg16f,
        TargetFormat::Rgba16f,
        TargetFormat::R32f,
    ];

    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            TargetFormat::R8 => "r8",
            TargetFormat::Rg8 => "rg8",
            TargetFormat::Rgba8 => "rgba8",
            TargetFormat::Rgba8Srgb => "rgba8_srgb",
            TargetFormat::R16f => "r16f",
            TargetFormat::Rg16f => "rg16f",
            TargetFormat::Rgba16f => "rgba16f",
            TargetFormat::R32f => "r32f",
        }
    }

    /// Returns the bytes of a texel.
    pub fn bytes(self) -> u32 {
        match self {
            TargetFormat::R8 => 1,
            TargetFormat::Rg8 | TargetFormat::R16f => 2,
            TargetFormat::Rgba8
            | TargetFormat::Rgba8Srgb
            | TargetFormat::Rg16f
            | TargetFormat::R32f => 4,
            TargetFormat::Rgba16f => 8,
        }
    }

    /// Returns true if texels can be blended, and filtered when they are sampled.
    pub fn is_filterable(self) -> bool {
        self != TargetFormat::R32f
    }
}

/// Size of a render target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TargetSize {
    /// A multiple of the view's size.
    Scale(f32),
    /// A width and a height in texels.
    Fixed(u32, u32),
}

impl TargetSize {
    /// Returns the size in texels for a view.
    pub fn texels(self, (width, height): (u32, u32)) -> (u32, u32) {
        let scaled = |side: u32, scale: f32| ((side as f32 * scale).round() as u32).max(1);
        match self {
            TargetSize::Scale(scale) => (scaled(width, scale), scaled(height, scale)),
            TargetSize::Fixed(width, height) => (width, height),
        }
    }
}

/// A named number or switch that generators depend on.
#[derive(Clone, PartialEq, Debug)]
pub struct ConfigSetting {
    pub name: String,
    /// True for a switch, whose values are 0 and 1.
    pub is_switch: bool,
    pub default: f32,
    pub min: f32,
    pub max: f32,
}

impl ConfigSetting {
    /// Returns the value of the range that is nearest to `value`; NaN becomes the default.
    pub fn limited(&self, value: f32) -> f32 {
        if value.is_nan() { self.default } else { value.clamp(self.min, self.max) }
    }
}

/// A render target that exists while a view is drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct ConfigTarget {
    pub name: String,
    pub format: TargetFormat,
    pub size: TargetSize,
}

/// An image that generators read or draw onto.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FrameImage {
    /// The light of the view's world before tone mapping.
    Light,
    /// The depth of the view's world, from 0 (near) to 1 (far).
    Depth,
    /// The view's part of the screen, window or texture that it is drawn onto.
    Target,
    /// One of the config's targets, by its index.
    Own(u32),
}

/// The names of the engine's images in files.
pub const ENGINE_IMAGES: [(&str, FrameImage); 3] =
    [("light", FrameImage::Light), ("depth", FrameImage::Depth), ("target", FrameImage::Target)];

/// A texture of a generator's shader.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GeneratorInput {
    pub image: FrameImage,
    /// True if the nearest texel is sampled instead of interpolating between texels.
    pub nearest: bool,
}

/// A variable of a generator's shader that has the value of a setting.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SettingVariable {
    /// Index of the setting.
    pub setting: u32,
    /// Position in the block of variables, in bytes.
    pub offset: u32,
    /// True if the variable is an integer.
    pub is_integer: bool,
}

/// A pass that runs a shader for every pixel of its output.
#[derive(Clone, PartialEq, Debug)]
pub struct Generator {
    pub name: String,
    /// File of the shader, for messages, and the complete module in WGSL.
    pub shader: String,
    pub source: String,
    /// Textures of the shader, in the order of their bindings.
    pub inputs: Vec<GeneratorInput>,
    pub output: FrameImage,
    /// Index in [`BLENDS`](super::material_data::BLENDS).
    pub blend: u8,
    /// Index of a setting. The pass runs while the setting is not 0.
    pub condition: Option<u32>,
    /// The block of variables with its constant values.
    pub variables: Vec<u8>,
    pub settings: Vec<SettingVariable>,
}

/// A step of a viewport.
#[derive(Clone, PartialEq, Debug)]
pub enum FrameStep {
    /// A pass of the engine, by its name.
    Pass(String),
    /// A generator, by its index.
    Generator(u32),
}

/// An order of steps that draws a view.
#[derive(Clone, PartialEq, Debug)]
pub struct ConfigViewport {
    pub name: String,
    pub steps: Vec<FrameStep>,
}

impl ConfigViewport {
    /// Returns true if a pass of the engine is one of the steps.
    pub fn has_pass(&self, name: &str) -> bool {
        self.steps.iter().any(|step| matches!(step, FrameStep::Pass(pass) if pass == name))
    }
}

/// A compiled render config.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RenderConfigData {
    pub settings: Vec<ConfigSetting>,
    pub targets: Vec<ConfigTarget>,
    pub generators: Vec<Generator>,
    pub viewports: Vec<ConfigViewport>,
}

const NAME: (usize, &str) = (NAME_BYTES_MAX, "NAME_BYTES_MAX");

fn read_name(reader: &mut BlobReader) -> Result<String, Error> {
    let name = reader.text()?;
    match name.is_empty() || name.len() > NAME.0 {
        true => Err(error!("it is damaged: a name is empty or too long ({})", NAME.1)),
        false => Ok(name.to_string()),
    }
}

/// Reads an index that must be less than `count`.
fn read_index(reader: &mut BlobReader, count: usize) -> Result<u32, Error> {
    match reader.u32()? {
        index if (index as usize) < count => Ok(index),
        index => Err(error!("it is damaged: {index} is not the index of one of its {count} parts")),
    }
}

const OWN: u8 = ENGINE_IMAGES.len() as u8;

fn write_image(writer: &mut BlobWriter, image: FrameImage) {
    match image {
        FrameImage::Own(index) => {
            writer.u8(OWN);
            writer.u32(index);
        }
        image => {
            let found = ENGINE_IMAGES.iter().position(|(_, known)| *known == image);
            writer.u8(found.expect("every image of the engine has a name") as u8);
        }
    }
}

fn read_image(reader: &mut BlobReader, targets: usize) -> Result<FrameImage, Error> {
    match reader.u8()? {
        OWN => read_index(reader, targets).map(FrameImage::Own),
        index => match ENGINE_IMAGES.get(usize::from(index)) {
            Some((_, image)) => Ok(*image),
            None => Err(error!("it is damaged: there is no image {index}")),
        },
    }
}

impl ConfigSetting {
    fn write(&self, writer: &mut BlobWriter) {
        writer.text(&self.name);
        writer.u8(u8::from(self.is_switch));
        for number in [self.default, self.min, self.max] {
            writer.u32(number.to_bits());
        }
    }

    fn read(reader: &mut BlobReader) -> Result<ConfigSetting, Error> {
        let (name, is_switch) = (read_name(reader)?, reader.flag()?);
        let (default, min, max) = (reader.finite()?, reader.finite()?, reader.finite()?);
        within("max", max, (min, SETTING_MAX))?;
        within("min", min, (-SETTING_MAX, max))?;
        within("default", default, (min, max))?;
        Ok(ConfigSetting { name, is_switch, default, min, max })
    }
}

impl ConfigTarget {
    fn write(&self, writer: &mut BlobWriter) {
        writer.text(&self.name);
        let format = TargetFormat::ALL.iter().position(|format| *format == self.format);
        writer.u8(format.expect("every format is listed") as u8);
        match self.size {
            TargetSize::Scale(scale) => {
                writer.u8(0);
                writer.u32(scale.to_bits());
            }
            TargetSize::Fixed(width, height) => {
                writer.u8(1);
                writer.u32(width);
                writer.u32(height);
            }
        }
    }

    fn read(reader: &mut BlobReader) -> Result<ConfigTarget, Error> {
        let (name, format) = (read_name(reader)?, reader.choice(&TargetFormat::ALL)?);
        let size = match reader.flag()? {
            false => {
                let scale = reader.finite()?;
                within("scale", scale, (SCALE_MIN, SCALE_MAX))?;
                TargetSize::Scale(scale)
            }
            true => {
                let (width, height) = (reader.u32()?, reader.u32()?);
                for side in [width, height] {
                    within("size", side as f32, (1.0, TARGET_SIDE_MAX as f32))?;
                }
                TargetSize::Fixed(width, height)
            }
        };
        Ok(ConfigTarget { name, format, size })
    }
}

impl Generator {
    fn write(&self, writer: &mut BlobWriter) {
        for text in [&self.name, &self.shader, &self.source] {
            writer.text(text);
        }
        writer.list(&self.inputs, |writer, input| {
            write_image(writer, input.image);
            writer.u8(u8::from(input.nearest));
        });
        write_image(writer, self.output);
        writer.u8(self.blend);
        writer.u8(u8::from(self.condition.is_some()));
        if let Some(setting) = self.condition {
            writer.u32(setting);
        }
        writer.bytes(&self.variables);
        writer.list(&self.settings, |writer, variable| {
            writer.u32(variable.setting);
            writer.u32(variable.offset);
            writer.u8(u8::from(variable.is_integer));
        });
    }

    fn read(reader: &mut BlobReader, settings: usize, targets: usize) -> Result<Generator, Error> {
        let name = read_name(reader)?;
        let (shader, source) = (reader.text()?.to_string(), reader.text()?.to_string());
        let inputs = reader.list_at_most((INPUTS_MAX, "INPUTS_MAX"), |reader| {
            Ok(GeneratorInput { image: read_image(reader, targets)?, nearest: reader.flag()? })
        })?;
        let output = read_image(reader, targets)?;
        let blend = reader.u8()?;
        if usize::from(blend) >= super::material_data::BLENDS.len() {
            return Err(error!("it is damaged: there is no blend {blend}"));
        }
        let condition = match reader.flag()? {
            true => Some(read_index(reader, settings)?),
            false => None,
        };
        let variables = reader.bytes()?.to_vec();
        if variables.len() > VARIABLE_BYTES_MAX || !variables.len().is_multiple_of(16) {
            return Err(error!("it is damaged: a block of variables has a wrong size"));
        }
        let limit = (SETTINGS_MAX, "SETTINGS_MAX");
        let bound = reader.list_at_most(limit, |reader| {
            let (setting, offset) = (read_index(reader, settings)?, reader.u32()?);
            if offset as usize + 4 > variables.len() {
                return Err(error!("it is damaged: a variable lies outside of its block"));
            }
            Ok(SettingVariable { setting, offset, is_integer: reader.flag()? })
        })?;
        let reads_output = inputs.iter().any(|input| input.image == output);
        let is_own = matches!(output, FrameImage::Own(_));
        if output == FrameImage::Depth || reads_output && is_own {
            return Err(error!("it is damaged: '{name}' cannot draw onto its output"));
        }
        let settings = bound;
        Ok(Generator {
            name,
            shader,
            source,
            inputs,
            output,
            blend,
            condition,
            variables,
            settings,
        })
    }
}

impl RenderConfigData {
    /// Returns the index of the setting with a name.
    pub fn setting(&self, name: &str) -> Option<usize> {
        self.settings.iter().position(|setting| setting.name == name)
    }

    /// Returns the index of the viewport with a name.
    pub fn viewport(&self, name: &str) -> Option<usize> {
        self.viewports.iter().position(|viewport| viewport.name == name)
    }

    /// Returns the default values of all settings.
    pub fn defaults(&self) -> Vec<f32> {
        self.settings.iter().map(|setting| setting.default).collect()
    }

    /// Returns the name of an image in files.
    pub fn image_name(&self, image: FrameImage) -> &str {
        match image {
            FrameImage::Own(index) => &self.targets[index as usize].name,
            image => {
                let found = ENGINE_IMAGES.iter().find(|(_, known)| *known == image);
                found.map_or("", |(name, _)| name)
            }
        }
    }

    pub fn write(&self) -> Vec<u8> {
        let mut writer = BlobWriter::default();
        writer.list(&self.settings, |writer, setting| setting.write(writer));
        writer.list(&self.targets, |writer, target| target.write(writer));
        writer.list(&self.generators, |writer, generator| generator.write(writer));
        writer.list(&self.viewports, |writer, viewport| {
            writer.text(&viewport.name);
            writer.list(&viewport.steps, |writer, step| match step {
                FrameStep::Pass(name) => {
                    writer.u8(0);
                    writer.text(name);
                }
                FrameStep::Generator(index) => {
                    writer.u8(1);
                    writer.u32(*index);
                }
            });
        });
        writer.finish()
    }

    pub fn read(bytes: &[u8]) -> Result<RenderConfigData, Error> {
        let mut reader = BlobReader::new(bytes);
        let settings = reader.list_at_most((SETTINGS_MAX, "SETTINGS_MAX"), ConfigSetting::read)?;
        let targets = reader.list_at_most((TARGETS_MAX, "TARGETS_MAX"), ConfigTarget::read)?;
        let counts = (settings.len(), targets.len());
        let limit = (GENERATORS_MAX, "GENERATORS_MAX");
        let generators =
            reader.list_at_most(limit, |reader| Generator::read(reader, counts.0, counts.1))?;
        let viewports = reader.list_at_most((VIEWPORTS_MAX, "VIEWPORTS_MAX"), |reader| {
            let name = read_name(reader)?;
            let steps = reader.list_at_most((STEPS_MAX, "STEPS_MAX"), |reader| {
                Ok(match reader.flag()? {
                    false => FrameStep::Pass(read_name(reader)?),
                    true => FrameStep::Generator(read_index(reader, generators.len())?),
                })
            })?;
            Ok(ConfigViewport { name, steps })
        })?;
        reader.end()?;
        if viewports.is_empty() {
            return Err(error!("it is damaged: it has no viewport"));
        }
        check_sizes(&targets).map_err(|message| error!("it is damaged: {message}"))?;
        Ok(RenderConfigData { settings, targets, generators, viewports })
    }
}

/// Checks the memory that all targets take together.
///
/// # Errors
/// Returns a message that names the limit.
pub fn check_sizes(targets: &[ConfigTarget]) -> Result<(), String> {
    let (mut fixed, mut per_pixel) = (0u64, 0.0f32);
    for target in targets {
        let bytes = target.format.bytes();
        match target.size {
            TargetSize::Scale(scale) => per_pixel += scale * scale * bytes as f32,
            TargetSize::Fixed(width, height) => {
                fixed += u64::from(width) * u64::from(height) * u64::from(bytes);
            }
        }
        let name = &target.name;
        if fixed > FIXED_BYTES_MAX {
            return Err(format!(
                "with '{name}', targets with a fixed size take more than {} MiB (FIXED_BYTES_MAX)",
                FIXED_BYTES_MAX >> 20
            ));
        }
        if per_pixel > PIXEL_BYTES_MAX {
            return Err(format!(
                "with '{name}', targets take more than {PIXEL_BYTES_MAX} bytes for each pixel of \
                 the view (PIXEL_BYTES_MAX)"
            ));
        }
    }
    Ok(())
}
