//! Materials of a glTF file, as surfaces. looks.rs has the nearest look of extensions that the
//! renderer does not support.

use super::fields::{TEXTURE_TRANSFORM, TextureInfo, transform_of};
use super::images::ImageReader;
use super::looks::{self, extension};
use super::specular_glossiness::{SpecularGlossiness, convert};
use crate::ImageUse;
use crate::data::{ModelData, SurfaceData, SurfaceImage};
use crate::unique_names::UniqueNames;
use engine_foundation::error;
use engine_foundation::{Error, Vec2};
use engine_frame_packet::mesh::SurfaceAlphaMode;
use engine_resource::surface_lobes::SurfaceLobes;
use gltf::json::extensions::texture::TextureTransform;
use gltf::json::material::{AlphaMode, Material};
use gltf::json::validation::Checked;
use gltf::json::{Value, texture};

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

/// Reads all materials and their images.
pub fn read(pictures: &mut ImageReader, model: &mut ModelData) -> Result<GltfMaterials, Error> {
    let root = &pictures.source.root;
    let mut names = UniqueNames::default();
    let mut transforms = Vec::new();
    for (index, material) in root.materials.iter().enumerate() {
        let name = names.add(material.name.as_deref(), "material", index);
        let (surface, transform) = read_material(pictures, model, material, &name)
            .map_err(|fault| error!("material '{name}': {}", fault.message))?;
        model.surfaces.push(surface);
        transforms.push(transform);
    }
    model.warnings.extend(pictures.missing_picture_message());
    Ok(GltfMaterials { transforms })
}

/// Textures of a material, in the order of [`SurfaceData::pictures`].
type MaterialTextures = [Option<TextureInfo>; 5];

fn textures(material: &Material) -> Result<MaterialTextures, Error> {
    let metal = &material.pbr_metallic_roughness;
    let with = |index: usize, set, transform: Option<&Value>| -> Result<TextureInfo, Error> {
        Ok(TextureInfo { index, set, transform: transform.map(transform_of).transpose()? })
    };
    let normal = material.normal_texture.as_ref().map(|texture| {
        let others = texture.extensions.as_ref().map(|all| &all.others);
        let transform = others.and_then(|others| others.get(TEXTURE_TRANSFORM));
        with(texture.index.value(), texture.tex_coord, transform)
    });
    let occlusion = material.occlusion_texture.as_ref().map(|texture| {
        let others = texture.extensions.as_ref().map(|all| &all.others);
        let transform = others.and_then(|others| others.get(TEXTURE_TRANSFORM));
        with(texture.index.value(), texture.tex_coord, transform)
    });
    Ok([
        textured(&metal.base_color_texture),
        textured(&metal.metallic_roughness_texture),
        normal.transpose()?,
        occlusion.transpose()?,
        textured(&material.emissive_texture),
    ])
}

fn textured(info: &Option<texture::Info>) -> Option<TextureInfo> {
    let info = info.as_ref()?;
    let transform = info.extensions.as_ref().and_then(|all| all.texture_transform.clone());
    Some(TextureInfo { index: info.index.value(), set: info.tex_coord, transform })
}

fn alpha_mode(material: &Material) -> Result<SurfaceAlphaMode, Error> {
    Ok(match material.alpha_mode {
        Checked::Valid(AlphaMode::Opaque) => SurfaceAlphaMode::Opaque,
        Checked::Valid(AlphaMode::Mask) => {
            match material.alpha_cutoff.map_or(0.5, |cutoff| cutoff.0) {
                // Every alpha reaches the limit.
                cutoff if cutoff <= 0.0 => SurfaceAlphaMode::Opaque,
                cutoff => SurfaceAlphaMode::Mask(cutoff),
            }
        }
        Checked::Valid(AlphaMode::Blend) => SurfaceAlphaMode::Blend,
        Checked::Invalid => return Err(error!("it has an alpha mode that glTF does not know")),
    })
}

/// Returns the surface of a material without its textures.
fn plain(material: &Material, name: &str) -> Result<SurfaceData, Error> {
    let metal = &material.pbr_metallic_roughness;
    let extensions = material.extensions.as_ref();
    let strength = extensions.and_then(|all| all.emissive_strength.as_ref());
    let strength = strength.map_or(1.0, |strength| strength.emissive_strength.0);
    Ok(SurfaceData {
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
        alpha: alpha_mode(material)?,
        double_sided: material.double_sided,
        unlit: extensions.is_some_and(|all| all.unlit.is_some()),
        lobes: SurfaceLobes::NONE,
        pictures: [None; 5],
    })
}

fn read_material(
    pictures: &mut ImageReader,
    model: &mut ModelData,
    material: &Material,
    name: &str,
) -> Result<(SurfaceData, UvTransform), Error> {
    let mut surface = plain(material, name)?;
    let mut textures = textures(material)?;
    let color = ImageUse::Color { opaque: surface.alpha == SurfaceAlphaMode::Opaque };
    let converted = match surface.unlit {
        true => None,
        false => specular_glossiness(pictures, model, material, (&mut surface, &mut textures))?,
    };
    looks::read_lobes(material, &mut surface, &mut model.warnings)?;
    let opaque = ImageUse::Color { opaque: true };
    let uses = [color, ImageUse::Data, ImageUse::Data, ImageUse::Data, opaque];
    let mut transform = None;
    let mut same = true;
    let mut found = [None; 5];
    for (slot, (info, usage)) in textures.iter().zip(uses).enumerate() {
        let Some(info) = info else { continue };
        found[slot] = match &converted {
            Some(converted) if slot < 2 => converted[slot],
            _ => pictures.add(model, info, usage)?,
        };
        let own = UvTransform::of(info.set, info.transform.as_ref());
        same &= *transform.get_or_insert(own) == own;
    }
    if !same {
        model.warnings.push(format!(
            "the textures of material '{name}' are placed differently (texture coordinates or \
             {TEXTURE_TRANSFORM}): all are placed like the first one"
        ));
    }
    surface.pictures = found;
    let numbers = surface.base_color.iter().chain(&surface.emissive);
    let finite = numbers.chain([&surface.normal_scale]).all(|number| number.is_finite());
    match finite {
        true => Ok((surface, transform.unwrap_or(UvTransform::NONE))),
        false => Err(error!("it has a number that is not finite")),
    }
}

/// Replaces the base color, metalness and roughness of a surface by those of its specular color and
/// glossiness. Returns the converted textures, if there are any; otherwise the textures in the list
/// apply.
fn specular_glossiness(
    pictures: &mut ImageReader,
    model: &mut ModelData,
    material: &Material,
    (surface, textures): (&mut SurfaceData, &mut MaterialTextures),
) -> Result<Option<[SurfaceImage; 2]>, Error> {
    let name = "KHR_materials_pbrSpecularGlossiness";
    let Some(fields) = extension(material, name) else { return Ok(None) };
    let unit = |part: f32| part.clamp(0.0, 1.0);
    let factors = SpecularGlossiness {
        diffuse: fields.numbers("diffuseFactor", [1.0; 4])?.map(unit),
        specular: fields.numbers("specularFactor", [1.0; 3])?.map(unit),
        glossiness: unit(fields.number("glossinessFactor", 1.0)?),
    };
    let whole = convert(factors);
    let (diffuse, specular) =
        (fields.texture("diffuseTexture")?, fields.texture("specularGlossinessTexture")?);
    surface.base_color = whole.base_color;
    (surface.metallic, surface.roughness) = (whole.metallic, whole.roughness);
    let mut image = |info: &Option<TextureInfo>| match info {
        Some(info) => pictures.texture(info.index),
        None => Ok(None),
    };
    let found = [image(&diffuse)?, image(&specular)?];
    // Without metal, the diffuse picture is the base color.
    if found == [None; 2] || (found[1].is_none() && whole.metallic == 0.0) {
        (textures[0], textures[1]) = (diffuse, None);
        return Ok(None);
    }
    let color = ImageUse::Color { opaque: surface.alpha == SurfaceAlphaMode::Opaque };
    let images = found.map(|found| found.map(|(image, _)| image));
    let (base, metal_rough) = pictures.add_converted(model, factors, images, color)?;
    // The factors are part of the texels.
    surface.base_color = [1.0; 4];
    (surface.metallic, surface.roughness) = (1.0, 1.0);
    // Both are placed like the first picture. If the other one is placed differently, the caller
    // reports it.
    let diffuse = diffuse.filter(|_| found[0].is_some());
    let specular = specular.filter(|_| found[1].is_some());
    textures[0] = diffuse.clone().or_else(|| specular.clone());
    textures[1] = specular.or(diffuse);
    let sampling = found[0].or(found[1]).map(|(_, sampling)| sampling);
    Ok(sampling.map(|sampling| [Some((base, sampling)), Some((metal_rough, sampling))]))
}
