//! Images of a glTF file: which image a texture shows, its sampling, and the data of its texture.

use super::accessor::{GltfSource, missing};
use super::buffers;
use super::fields::{ExtensionFields, TextureInfo};
use super::specular_glossiness::{self, SpecularGlossiness};
use crate::data::{ModelData, SurfaceImage};
use crate::{ImageUse, ModelImage};
use engine_foundation::Error;
use engine_foundation::error;
use engine_frame_packet::texture::{AxisWrap, SamplerSettings, WrapMode};
use engine_resource::image::Image;
use engine_resource::resource_kind::CompileContext;
use gltf::json::texture::{MagFilter, Texture, WrappingMode};
use gltf::json::validation::Checked;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Function that builds a texture's data from an image.
pub type BuildTexture<'a> = &'a mut dyn FnMut(&ModelImage) -> Result<Vec<u8>, Error>;

/// Maximum number of texels that are converted from specular color and glossiness for one file.
pub const CONVERTED_TEXELS_MAX: u64 = 1 << 26;

/// Maximum size in bytes of the data of all textures of one model.
pub const TEXTURE_BYTES_MAX: usize = 1 << 30;

/// Maximum number of textures that a warning lists.
const LISTED_MAX: usize = 16;

/// Extensions whose pictures can be decoded, in the order in which they are preferred.
const READ: [&str; 2] = ["EXT_texture_webp", "MSFT_texture_dds"];

/// Refuses another texture of `more` bytes for a model whose textures have `built` bytes.
fn check_texture_bytes(built: usize, more: usize) -> Result<(), Error> {
    match built.saturating_add(more) <= TEXTURE_BYTES_MAX {
        true => Ok(()),
        false => Err(error!(
            "the model's textures together have more than {TEXTURE_BYTES_MAX} bytes \
             (TEXTURE_BYTES_MAX): make them smaller, or split the model"
        )),
    }
}

/// Numbers of two converted textures: base color, and metalness with roughness.
type ConvertedPair = (u32, u32);
/// Images and factors of a conversion.
type ConversionKey = ([Option<usize>; 2], [u32; 8], ImageUse);

/// Reader of a file's images, with the textures built so far.
pub struct ImageReader<'a, 'b> {
    pub source: &'a GltfSource,
    pub compiling: &'a mut CompileContext<'b>,
    pub build: BuildTexture<'a>,
    /// Concatenated data of all textures.
    pub bulk: Vec<u8>,
    known: HashMap<(usize, ImageUse), u32>,
    converted: HashMap<ConversionKey, ConvertedPair>,
    /// Images of conversions, by index. Their texels count in `texels_left`.
    decoded: HashMap<usize, Rc<Image>>,
    texels_left: u64,
    /// Textures without an image that materials use.
    without_picture: BTreeSet<usize>,
}

impl<'a, 'b> ImageReader<'a, 'b> {
    pub fn new(
        source: &'a GltfSource,
        compiling: &'a mut CompileContext<'b>,
        build: BuildTexture<'a>,
    ) -> ImageReader<'a, 'b> {
        ImageReader {
            source,
            compiling,
            build,
            bulk: Vec::new(),
            known: HashMap::new(),
            converted: HashMap::new(),
            decoded: HashMap::new(),
            texels_left: CONVERTED_TEXELS_MAX,
            without_picture: BTreeSet::new(),
        }
    }

    /// Returns the data of all textures, and releases the rest.
    pub fn into_bulk(self) -> Vec<u8> {
        self.bulk
    }

    /// Returns the warning about textures without an image that materials use.
    pub fn missing_picture_message(&self) -> Option<String> {
        let numbers: Vec<String> = self.without_picture.iter().map(usize::to_string).collect();
        let (listed, more) = numbers.split_at(numbers.len().min(LISTED_MAX));
        let subject = match (listed, more.len()) {
            ([], _) => return None,
            ([number], _) => format!("texture {number} has"),
            (_, 0) => format!("textures {} have", listed.join(", ")),
            (_, more) => format!("textures {} and {more} more have", listed.join(", ")),
        };
        Some(format!("{subject} no picture: materials are shown without it"))
    }

    /// Returns the bytes of an image and the file extension of its format.
    fn bytes(&mut self, index: usize) -> Result<(Vec<u8>, String), Error> {
        let image = self.source.root.images.get(index).ok_or_else(|| missing("image", index))?;
        let (bytes, name) = match (&image.uri, image.buffer_view) {
            (_, Some(view)) => (self.source.view(view)?.to_vec(), String::new()),
            (Some(uri), None) => (buffers::fetch(uri, self.compiling)?, uri.clone()),
            (None, None) => return Err(error!("it has neither a uri nor a buffer view")),
        };
        let ending = match &bytes[..] {
            [0x89, b'P', b'N', b'G', ..] => "png".to_string(),
            [0xff, 0xd8, ..] => "jpg".to_string(),
            [b'R', b'I', b'F', b'F', ..] => "webp".to_string(),
            [0xab, b'K', b'T', b'X', ..] => "ktx2".to_string(),
            [b'D', b'D', b'S', b' ', ..] => "dds".to_string(),
            _ => name.rsplit_once('.').map_or(String::new(), |(_, end)| end.to_lowercase()),
        };
        Ok((bytes, ending))
    }

    /// Returns the image and the sampling of a texture; `None` if the texture has no image.
    pub fn texture(&mut self, index: usize) -> Result<Option<(usize, SamplerSettings)>, Error> {
        let root = &self.source.root;
        let texture = root.textures.get(index).ok_or_else(|| missing("texture", index))?;
        let Some(image) = image_of(texture, index)? else {
            self.without_picture.insert(index);
            return Ok(None);
        };
        let sampler = match texture.sampler.map(|sampler| sampler.value()) {
            None => None,
            Some(index) => Some(root.samplers.get(index).ok_or_else(|| missing("sampler", index))?),
        };
        let axis = |wrap| match wrap {
            Some(Checked::Valid(WrappingMode::ClampToEdge)) => AxisWrap::Clamp,
            Some(Checked::Valid(WrappingMode::MirroredRepeat)) => AxisWrap::Mirror,
            _ => AxisWrap::Repeat,
        };
        let sampling = SamplerSettings {
            nearest: sampler
                .is_some_and(|one| one.mag_filter == Some(Checked::Valid(MagFilter::Nearest))),
            wrap: WrapMode::of_axes([
                axis(sampler.map(|one| one.wrap_s)),
                axis(sampler.map(|one| one.wrap_t)),
            ]),
        };
        Ok(Some((image, sampling)))
    }

    /// Adds a texture to the model for one use of it.
    pub fn add(
        &mut self,
        model: &mut ModelData,
        info: &TextureInfo,
        usage: ImageUse,
    ) -> Result<SurfaceImage, Error> {
        let Some((image, sampling)) = self.texture(info.index)? else { return Ok(None) };
        let number = match self.known.get(&(image, usage)) {
            Some(known) => *known,
            None => {
                let read = self.bytes(image);
                let built = read.and_then(|(bytes, ending)| {
                    self.push(model, &ModelImage { bytes, ending, usage })
                });
                let number = built.map_err(|fault| of_image(image, &fault))?;
                self.known.insert((image, usage), number);
                number
            }
        };
        Ok(Some((number, sampling)))
    }

    /// Builds a texture and returns its number in the model.
    fn push(&mut self, model: &mut ModelData, image: &ModelImage) -> Result<u32, Error> {
        let data = (self.build)(image)?;
        let start = self.bulk.len();
        check_texture_bytes(start, data.len())?;
        self.bulk.extend(data);
        model.pictures.push(start..self.bulk.len());
        Ok(model.pictures.len() as u32 - 1)
    }

    /// Decodes an image that is converted, once for all materials that use it.
    fn decode(&mut self, image: usize) -> Result<Rc<Image>, Error> {
        if let Some(known) = self.decoded.get(&image) {
            return Ok(known.clone());
        }
        let read = self.bytes(image);
        let decoded =
            read.and_then(|(bytes, ending)| specular_glossiness::picture(&bytes, &ending));
        let decoded = Rc::new(decoded.map_err(|fault| of_image(image, &fault))?);
        self.decoded.insert(image, decoded.clone());
        Ok(decoded)
    }

    /// Converts a diffuse image, and an image of specular color and glossiness. Returns the numbers
    /// of the textures of base color and of metalness with roughness.
    pub fn add_converted(
        &mut self,
        model: &mut ModelData,
        factors: SpecularGlossiness,
        images: [Option<usize>; 2],
        usage: ImageUse,
    ) -> Result<ConvertedPair, Error> {
        let SpecularGlossiness { diffuse: [r, g, b, a], specular: [x, y, z], glossiness } = factors;
        let key = (images, [r, g, b, a, x, y, z, glossiness].map(f32::to_bits), usage);
        if let Some(known) = self.converted.get(&key) {
            return Ok(*known);
        }
        let diffuse = images[0].map(|image| self.decode(image)).transpose()?;
        let specular = images[1].map(|image| self.decode(image)).transpose()?;
        let (diffuse, specular) = (diffuse.as_deref(), specular.as_deref());
        let [width, height] = specular_glossiness::converted_size([diffuse, specular]);
        let texels = u64::from(width) * u64::from(height);
        self.texels_left = self.texels_left.checked_sub(texels).ok_or_else(|| {
            error!(
                "more than {CONVERTED_TEXELS_MAX} texels would be converted from \
                 KHR_materials_pbrSpecularGlossiness (CONVERTED_TEXELS_MAX): export the model with \
                 metallic and roughness values"
            )
        })?;
        let textures = specular_glossiness::convert_textures(factors, diffuse, specular);
        let ending = "png".to_string();
        let base = ModelImage { bytes: textures.base_color, ending: ending.clone(), usage };
        let other = ModelImage { bytes: textures.metal_rough, ending, usage: ImageUse::Data };
        let pair = (self.push(model, &base)?, self.push(model, &other)?);
        self.converted.insert(key, pair);
        Ok(pair)
    }
}

fn of_image(image: usize, fault: &Error) -> Error {
    error!("image {image}: {}", fault.message)
}

/// Returns the image that a texture shows; `None` if it has none at all.
fn image_of(texture: &Texture, number: usize) -> Result<Option<usize>, Error> {
    /// The parser's marker for a texture without an image of its own.
    const NO_SOURCE: usize = u32::MAX as usize;
    let others = texture.extensions.as_ref().map(|all| &all.others);
    for name in READ {
        if let Some(value) = others.and_then(|others| others.get(name)) {
            let source = ExtensionFields::of(name, value).required("source")?;
            return Ok(Some(usize::try_from(source).unwrap_or(usize::MAX)));
        }
    }
    let source = texture.source.value();
    if source != NO_SOURCE {
        return Ok(Some(source));
    }
    let has_source = |value: &gltf::json::Value| value.get("source").is_some();
    let unread = others.and_then(|others| others.iter().find(|(_, value)| has_source(value)));
    match unread {
        None => Ok(None),
        Some((name, _)) if name == "KHR_texture_basisu" => Err(error!(
            "texture {number} is stored in Basis Universal alone ({name}), which cannot be read: \
             export the model with PNG, JPEG or WebP textures"
        )),
        Some((name, _)) => Err(error!(
            "texture {number} has a picture only in the format of the extension {name}, which \
             cannot be read: export the model with PNG, JPEG or WebP textures"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textures_of_a_model_have_a_total_size() {
        assert!(check_texture_bytes(0, TEXTURE_BYTES_MAX).is_ok());
        assert!(check_texture_bytes(TEXTURE_BYTES_MAX - 1, 1).is_ok());
        let refused = check_texture_bytes(TEXTURE_BYTES_MAX - 1, 2).unwrap_err().to_string();
        assert!(refused.contains("(TEXTURE_BYTES_MAX): make them smaller"), "{refused}");
        assert!(check_texture_bytes(1, usize::MAX).is_err());
    }
}
