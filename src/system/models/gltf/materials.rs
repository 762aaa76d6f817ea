//! Materials and images of a glTF file, as surfaces.

use super::accessor::{GltfSource, missing};
use super::buffers;
use crate::data::{ModelData, SurfaceData, SurfaceImage};
use crate::unique_names::UniqueNames;
use crate::{ImageUse, ModelImage};
use engine_foundation::error;
use engine_foundation::{Error, Vec2};
use engine_frame_packet::mesh::SurfaceAlphaMode;
use engine_frame_packet::texture::{SamplerSettings, WrapMode};
use engine_resource::resource_kind::CompileContext;
use gltf::json::extensions::texture::TextureTransform;
use gltf::json::material::{AlphaMode, Material};
use gltf::json::texture::{MagFilter, WrappingMode};
use gltf::json::validation::Checked;
use std::collections::HashMap;

/// Texture coordinate set and transform (KHR_texture_transform) of a material's textures. The
/// transform is applied to the vertices when meshes are built, so all textures of a material share
/// it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct UvTransform {
    pub set: u32,
    offset: Vec2,
    rotation: f32,
    scale: Vec2,
}

impl UvTransform {
    const NONE: UvTransform =
        UvTransform { set: 0, offset: Vec2::ZERO, rotation: 0.0, scale: Vec2::ONE };

    fn of(set: u32, transform: Option<&TextureTransform>) -> UvTransform {
        let Some(transform) = transform else { return UvTransform { set, ..UvTransform::NONE } };
        UvTransform {
            set: transform.tex_coord.unwrap_or(set),
            offset: Vec2::from_array(transform.offset.0),
            rotation: transform.rotation.0,
            scale: Vec2::from_array(transform.scale.0),
        }
    }

    pub fn apply(self, uv: Vec2) -> Vec2 {
        let (uv, (sin, cos)) = (uv * self.scale, self.rotation.sin_cos());
        Vec2::new(cos * uv.x + sin * uv.y, cos * uv.y - sin * uv.x) + self.offset
    }
}

/// Properties of the materials that the mesh importer needs.
pub struct GltfMaterials {
    transforms: Vec<UvTransform>,
}

impl GltfMaterials {
    pub fn transform(&self, material: Option<usize>) -> UvTransform {
        material.map_or(UvTransform::NONE, |index| self.transforms[index])
    }
}

/// Function that builds a texture's data from an image.
pub type BuildTexture<'a> = &'a mut dyn FnMut(&ModelImage) -> Result<Vec<u8>, Error>;

/// Reader of a file's images, with the textures built so far.
pub struct ImageReader<'a, 'b> {
    pub source: &'a GltfSource<'a>,
    pub compiling: &'a mut CompileContext<'b>,
    pub build: BuildTexture<'a>,
    /// Concatenated data of all textures.
    pub bulk: Vec<u8>,
    known: HashMap<(usize, ImageUse), u32>,
}

/// Texture reference of a material.
struct TextureInfo<'a> {
    index: usize,
    set: u32,
    transform: Option<&'a TextureTransform>,
}

impl<'a, 'b> ImageReader<'a, 'b> {
    pub fn new(
        source: &'a GltfSource<'a>,
        compiling: &'a mut CompileContext<'b>,
        build: BuildTexture<'a>,
    ) -> ImageReader<'a, 'b> {
        ImageReader { source, compiling, build, bulk: Vec::new(), known: HashMap::new() }
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

    fn add(
        &mut self,
        model: &mut ModelData,
        info: &TextureInfo,
        usage: ImageUse,
    ) -> Result<SurfaceImage, Error> {
        let root = self.source.root;
        let texture =
            root.textures.get(info.index).ok_or_else(|| missing("texture", info.index))?;
        let image = texture.source.value();
        // The crate's marker for a texture without an image.
        if image == u32::MAX as usize {
            return Err(error!(
                "texture {} has no picture, or only one in a format of an extension \
                 (EXT_texture_webp, KHR_texture_basisu): export it with PNG or JPEG",
                info.index
            ));
        }
        let sampler = match texture.sampler.map(|sampler| sampler.value()) {
            None => None,
            Some(index) => Some(root.samplers.get(index).ok_or_else(|| missing("sampler", index))?),
        };
        let sampling = SamplerSettings {
            nearest: sampler
                .is_some_and(|one| one.mag_filter == Some(Checked::Valid(MagFilter::Nearest))),
            // The engine has one wrap mode for both directions.
            wrap: match sampler.map(|one| one.wrap_s) {
                Some(Checked::Valid(WrappingMode::ClampToEdge)) => WrapMode::Clamp,
                Some(Checked::Valid(WrappingMode::MirroredRepeat)) => WrapMode::Mirror,
                _ => WrapMode::Repeat,
            },
        };
        let number = match self.known.get(&(image, usage)) {
            Some(known) => *known,
            None => {
                let data = self
                    .bytes(image)
                    .and_then(|(bytes, ending)| (self.build)(&ModelImage { bytes, ending, usage }));
                let data = data.map_err(|fault| error!("image {image}: {}", fault.message))?;
                let start = self.bulk.len();
                self.bulk.extend(data);
                model.pictures.push(start..self.bulk.len());
                let number = model.pictures.len() as u32 - 1;
                self.known.insert((image, usage), number);
                number
            }
        };
        Ok(Some((number, sampling)))
    }
}

/// Reads all materials and their images.
pub fn read(pictures: &mut ImageReader, model: &mut ModelData) -> Result<GltfMaterials, Error> {
    let root = pictures.source.root;
    let mut names = UniqueNames::default();
    let mut transforms = Vec::new();
    for (index, material) in root.materials.iter().enumerate() {
        let name = names.add(material.name.as_deref(), "material", index);
        let (surface, transform) = one(pictures, model, material, &name)
            .map_err(|fault| error!("material '{name}': {}", fault.message))?;
        model.surfaces.push(surface);
        transforms.push(transform);
    }
    Ok(GltfMaterials { transforms })
}

/// Returns the textures of a material, in the order of [`SurfaceData::pictures`].
fn infos(material: &Material) -> [Option<TextureInfo<'_>>; 5] {
    let metal = &material.pbr_metallic_roughness;
    [
        textured(&metal.base_color_texture),
        textured(&metal.metallic_roughness_texture),
        material.normal_texture.as_ref().map(|texture| TextureInfo {
            index: texture.index.value(),
            set: texture.tex_coord,
            transform: None,
        }),
        material.occlusion_texture.as_ref().map(|texture| TextureInfo {
            index: texture.index.value(),
            set: texture.tex_coord,
            transform: None,
        }),
        textured(&material.emissive_texture),
    ]
}

fn textured(info: &Option<gltf::json::texture::Info>) -> Option<TextureInfo<'_>> {
    let info = info.as_ref()?;
    let transform = info.extensions.as_ref().and_then(|all| all.texture_transform.as_ref());
    Some(TextureInfo { index: info.index.value(), set: info.tex_coord, transform })
}

fn one(
    pictures: &mut ImageReader,
    model: &mut ModelData,
    material: &Material,
    name: &str,
) -> Result<(SurfaceData, UvTransform), Error> {
    let metal = &material.pbr_metallic_roughness;
    let alpha = match material.alpha_mode {
        Checked::Valid(AlphaMode::Opaque) => SurfaceAlphaMode::Opaque,
        Checked::Valid(AlphaMode::Mask) => {
            SurfaceAlphaMode::Mask(material.alpha_cutoff.map_or(0.5, |cutoff| cutoff.0))
        }
        Checked::Valid(AlphaMode::Blend) => SurfaceAlphaMode::Blend,
        Checked::Invalid => return Err(error!("it has an alpha mode that glTF does not know")),
    };
    let uses = [
        ImageUse::Color { opaque: alpha == SurfaceAlphaMode::Opaque },
        ImageUse::Data,
        ImageUse::Data,
        ImageUse::Data,
        ImageUse::Color { opaque: true },
    ];
    let infos = infos(material);
    let mut found = [None; 5];
    let mut transform = None;
    for ((slot, info), usage) in found.iter_mut().zip(&infos).zip(uses) {
        let Some(info) = info else { continue };
        *slot = pictures.add(model, info, usage)?;
        let own = UvTransform::of(info.set, info.transform);
        if *transform.get_or_insert(own) != own {
            model.warnings.push(format!(
                "the textures of material '{name}' are placed differently (texture coordinates or \
                 KHR_texture_transform): all are placed like the first one"
            ));
        }
    }
    let extensions = material.extensions.as_ref();
    let strength = extensions.and_then(|all| all.emissive_strength.as_ref());
    let strength = strength.map_or(1.0, |strength| strength.emissive_strength.0);
    let surface = SurfaceData {
        name: name.to_string(),
        base_color: metal.base_color_factor.0,
        metallic: metal.metallic_factor.0.clamp(0.0, 1.0),
        roughness: metal.roughness_factor.0.clamp(0.0, 1.0),
        emissive: material.emissive_factor.0.map(|part| part * strength),
        normal_scale: material.normal_texture.as_ref().map_or(1.0, |texture| texture.scale),
        occlusion_strength: material
            .occlusion_texture
            .as_ref()
            .map_or(1.0, |texture| texture.strength.0.clamp(0.0, 1.0)),
        alpha,
        double_sided: material.double_sided,
        unlit: extensions.is_some_and(|all| all.unlit.is_some()),
        pictures: found,
    };
    let numbers = surface.base_color.iter().chain(&surface.emissive);
    let finite = numbers.chain([&surface.normal_scale]).all(|number| number.is_finite());
    match finite {
        true => Ok((surface, transform.unwrap_or(UvTransform::NONE))),
        false => Err(error!("it has a number that is not finite")),
    }
}
