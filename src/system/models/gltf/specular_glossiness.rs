//! Conversion of materials with specular color and glossiness (KHR_materials_pbrSpecularGlossiness)
//! into metalness and roughness, after the conversion that accompanies the extension. Textures are
//! converted texel by texel.

use super::looks::REFLECTION;
use crate::geometry::to_srgb;
use engine_foundation::Error;
use engine_foundation::error;
use engine_resource::image::{DecodedImage, Image, PixelFormat, decode, encode_png};

const EPSILON: f32 = 1e-6;
/// Steps of the table that converts linear light.
const SRGB_STEPS: usize = 1 << 14;

/// Diffuse color with alpha, specular color and glossiness, in linear light.
#[derive(Clone, Copy, Debug)]
pub struct SpecularGlossiness {
    pub diffuse: [f32; 4],
    pub specular: [f32; 3],
    pub glossiness: f32,
}

/// The same surface as base color with alpha, metalness and roughness.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MetallicRoughness {
    pub base_color: [f32; 4],
    pub metallic: f32,
    pub roughness: f32,
}

/// Converted textures, as PNG: the base color, and roughness (green) with metalness (blue).
pub struct ConvertedTextures {
    pub base_color: Vec<u8>,
    pub metal_rough: Vec<u8>,
}

fn brightness([r, g, b]: [f32; 3]) -> f32 {
    (0.299 * r * r + 0.587 * g * g + 0.114 * b * b).sqrt()
}

/// Returns the metalness with which a surface of base color and metalness has both brightnesses.
fn metalness(diffuse: f32, specular: f32, kept: f32) -> f32 {
    if specular < REFLECTION {
        return 0.0;
    }
    let b = diffuse * kept / (1.0 - REFLECTION) + specular - 2.0 * REFLECTION;
    let c = REFLECTION - specular;
    let root = (b * b - 4.0 * REFLECTION * c).max(0.0).sqrt();
    ((root - b) / (2.0 * REFLECTION)).clamp(0.0, 1.0)
}

/// Converts one surface.
pub fn convert(surface: SpecularGlossiness) -> MetallicRoughness {
    let SpecularGlossiness { diffuse: [r, g, b, alpha], specular, glossiness } = surface;
    let diffuse = [r, g, b];
    let kept = 1.0 - specular.iter().fold(0.0f32, |most, part| most.max(*part));
    let metallic = metalness(brightness(diffuse), brightness(specular), kept);
    let of_diffuse = kept / (1.0 - REFLECTION) / (1.0 - metallic).max(EPSILON);
    let weight = metallic * metallic;
    let base = |part: usize| {
        let from_diffuse = diffuse[part] * of_diffuse;
        let from_specular =
            (specular[part] - REFLECTION * (1.0 - metallic)) / metallic.max(EPSILON);
        (from_diffuse + (from_specular - from_diffuse) * weight).clamp(0.0, 1.0)
    };
    let base_color = [base(0), base(1), base(2), alpha];
    MetallicRoughness { base_color, metallic, roughness: (1.0 - glossiness).clamp(0.0, 1.0) }
}

/// Decodes a picture that is converted.
pub fn picture(bytes: &[u8], ending: &str) -> Result<Image, Error> {
    match decode(bytes, ending)? {
        DecodedImage::Image(image) if matches!(image.pixels, PixelFormat::Bytes(_)) => Ok(image),
        _ => Err(error!(
            "a material with KHR_materials_pbrSpecularGlossiness needs pictures of 8 bits per \
             channel: export them as PNG"
        )),
    }
}

/// Returns the width and the height of converted textures: the larger ones of both images, or 1.
pub fn converted_size(images: [Option<&Image>; 2]) -> [u32; 2] {
    let sides: [fn(&Image) -> u32; 2] = [|image| image.width, |image| image.height];
    sides.map(|side| images.into_iter().flatten().map(side).max().unwrap_or(1))
}

/// Converts the textures of a surface, whose factors multiply them. The result has the larger size
/// of both.
pub fn convert_textures(
    factors: SpecularGlossiness,
    diffuse: Option<&Image>,
    specular: Option<&Image>,
) -> ConvertedTextures {
    let [width, height] = converted_size([diffuse, specular]);
    let linear: Vec<f32> = (0..=255).map(|byte| to_linear(byte as f32 / 255.0)).collect();
    // The curve of sRGB is costly. Steps of this size change a byte by one at most.
    let srgb: Vec<u8> = (0..=SRGB_STEPS).map(|at| to_srgb(at as f32 / SRGB_STEPS as f32)).collect();
    let curved = |part: f32| srgb[(part.clamp(0.0, 1.0) * SRGB_STEPS as f32 + 0.5) as usize];
    let (mut base_color, mut metal_rough) = (Vec::new(), Vec::new());
    for y in 0..height {
        for x in 0..width {
            let texel = |image: Option<&Image>| {
                image.map_or([255; 4], |image| texel(image, (x, y), (width, height)))
            };
            let (color, shine) = (texel(diffuse), texel(specular));
            let part = |byte: u8| linear[usize::from(byte)];
            let alpha = f32::from(color[3]) / 255.0;
            let [r, g, b, a] = factors.diffuse;
            let converted = convert(SpecularGlossiness {
                diffuse: [r * part(color[0]), g * part(color[1]), b * part(color[2]), a * alpha],
                specular: [0, 1, 2].map(|i| factors.specular[i] * part(shine[i])),
                glossiness: factors.glossiness * f32::from(shine[3]) / 255.0,
            });
            let [r, g, b, alpha] = converted.base_color;
            base_color.extend([r, g, b].map(curved));
            base_color.push(to_byte(alpha));
            let (roughness, metallic) = (to_byte(converted.roughness), to_byte(converted.metallic));
            metal_rough.extend([0, roughness, metallic, 255]);
        }
    }
    ConvertedTextures {
        base_color: encode_png(width, height, &base_color),
        metal_rough: encode_png(width, height, &metal_rough),
    }
}

/// Returns the nearest texel of a picture at a place in a larger one.
fn texel(image: &Image, (x, y): (u32, u32), (width, height): (u32, u32)) -> [u8; 4] {
    let PixelFormat::Bytes(bytes) = &image.pixels else { return [255; 4] };
    let scaled = |at: u32, from: u32, to: u32| u64::from(at) * u64::from(from) / u64::from(to);
    let (x, y) = (scaled(x, image.width, width), scaled(y, image.height, height));
    let start = (y * u64::from(image.width) + x) as usize * 4;
    [bytes[start], bytes[start + 1], bytes[start + 2], bytes[start + 3]]
}

fn to_byte(part: f32) -> u8 {
    (part.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}

fn to_linear(part: f32) -> f32 {
    if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
}
