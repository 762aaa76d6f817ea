//! The nearest look of materials with extensions that the renderer does not have: base color,
//! roughness, metalness and alpha that come closest (docs/models.md has the table).

use super::fields::ExtensionFields;
use crate::data::SurfaceData;
use engine_foundation::Error;
use engine_frame_packet::mesh::SurfaceAlphaMode;
use gltf::json::Value;
use gltf::json::material::Material;

/// Reflection of a surface seen from the front that the renderer gives every non-metal.
pub const REFLECTION: f32 = 0.04;
/// Part of the light behind a transparent surface that passes at full transmission.
const TRANSMITTED: f32 = 0.85;
/// Part of a sheen's color that the base color takes on.
const SHEEN: f32 = 0.25;

/// Returns the fields of a material's extension.
pub fn extension<'a>(material: &'a Material, name: &'a str) -> Option<ExtensionFields<'a>> {
    let value: &Value = material.extensions.as_ref()?.others.get(name)?;
    Some(ExtensionFields::of(name, value))
}

/// Changes a surface to the nearest look of its material's extensions. Textures that cannot be
/// taken into account are reported in `warnings`.
///
/// # Errors
/// Returns an error if an extension has a field of a wrong type.
pub fn approximate(
    material: &Material,
    surface: &mut SurfaceData,
    warnings: &mut Vec<String>,
) -> Result<(), Error> {
    if surface.unlit {
        return Ok(());
    }
    reflection(material, surface)?;
    clearcoat(material, surface)?;
    sheen(material, surface)?;
    anisotropy(material, surface)?;
    if let Some(reason) = transmission(material, surface)? {
        warnings.push(format!("the transmission of material '{}' {reason}", surface.name));
    }
    Ok(())
}

/// Index of refraction and strength of the reflection. A weaker reflection than the renderer's
/// becomes a rougher surface. A stronger one, as of diamond, stays as it is.
fn reflection(material: &Material, surface: &mut SurfaceData) -> Result<(), Error> {
    let mut reflection = REFLECTION;
    if let Some(fields) = extension(material, "KHR_materials_ior") {
        let ior = fields.number("ior", 1.5)?.max(0.0);
        let part = (ior - 1.0) / (ior + 1.0);
        reflection = part * part;
    }
    if let Some(fields) = extension(material, "KHR_materials_specular") {
        let color = fields.numbers("specularColorFactor", [1.0; 3])?;
        let color = color.iter().fold(0.0f32, |most, part| most.max(*part));
        reflection *= fields.number("specularFactor", 1.0)?.clamp(0.0, 1.0) * color;
    }
    // Metals have their own reflection.
    let weaker = (1.0 - reflection / REFLECTION).clamp(0.0, 1.0) * (1.0 - surface.metallic);
    surface.roughness += (1.0 - surface.roughness) * weaker;
    Ok(())
}

/// A clear coat lies over the surface: its reflection is as sharp as that of the coat.
fn clearcoat(material: &Material, surface: &mut SurfaceData) -> Result<(), Error> {
    let Some(fields) = extension(material, "KHR_materials_clearcoat") else { return Ok(()) };
    let factor = fields.number("clearcoatFactor", 0.0)?.clamp(0.0, 1.0);
    let coat = fields.number("clearcoatRoughnessFactor", 0.0)?.clamp(0.0, 1.0);
    let coated = coat.min(surface.roughness);
    // Half of it, because the surface below shows through.
    surface.roughness += (coated - surface.roughness) * factor * 0.5;
    Ok(())
}

/// The sheen of cloth: a rough surface that is brighter by a part of the sheen's color.
fn sheen(material: &Material, surface: &mut SurfaceData) -> Result<(), Error> {
    let Some(fields) = extension(material, "KHR_materials_sheen") else { return Ok(()) };
    let color = fields.numbers("sheenColorFactor", [0.0; 3])?.map(|part| part.clamp(0.0, 1.0));
    let roughness = fields.number("sheenRoughnessFactor", 0.0)?.clamp(0.0, 1.0);
    let strength = color.iter().fold(0.0f32, |most, part| most.max(*part));
    for (base, sheen) in surface.base_color.iter_mut().zip(color) {
        *base += (1.0 - base.clamp(0.0, 1.0)) * sheen * SHEEN;
    }
    let rougher = surface.roughness.max(roughness);
    surface.roughness += (rougher - surface.roughness) * strength;
    Ok(())
}

/// Brushed surfaces: the roughness whose highlight has the same size in all directions.
fn anisotropy(material: &Material, surface: &mut SurfaceData) -> Result<(), Error> {
    let Some(fields) = extension(material, "KHR_materials_anisotropy") else { return Ok(()) };
    let strength = fields.number("anisotropyStrength", 0.0)?.clamp(0.0, 1.0);
    let across = surface.roughness * surface.roughness;
    let along = across + (1.0 - across) * strength * strength;
    surface.roughness = (along * across).sqrt().sqrt().clamp(0.0, 1.0);
    Ok(())
}

/// Glass: the surface is blended with its background. The color of a volume tints it. Returns the
/// reason if the transmission is not shown.
fn transmission(material: &Material, surface: &mut SurfaceData) -> Result<Option<String>, Error> {
    let Some(fields) = extension(material, "KHR_materials_transmission") else { return Ok(None) };
    let factor = fields.number("transmissionFactor", 0.0)?.clamp(0.0, 1.0);
    let texture = fields.texture("transmissionTexture")?;
    if factor == 0.0 {
        return Ok(None);
    }
    if let Some(texture) = texture {
        return Ok(Some(format!(
            "has a texture (texture {}), which is not supported: the surface is opaque",
            texture.index
        )));
    }
    // The alpha of a mask is compared with its cutoff: transparency would cut the surface out.
    if let SurfaceAlphaMode::Mask(_) = surface.alpha {
        return Ok(Some(
            "is not supported together with its alphaMode MASK: the parts above the cutoff are \
             opaque"
                .to_string(),
        ));
    }
    let mut opacity = 1.0 - TRANSMITTED * factor;
    if let Some(volume) = extension(material, "KHR_materials_volume") {
        let color = volume.numbers("attenuationColor", [1.0; 3])?;
        let thickness = volume.number("thicknessFactor", 0.0)?.max(0.0);
        // Without a distance, the volume keeps no light.
        let distance = volume.number("attenuationDistance", f32::INFINITY)?.max(1e-6);
        let depth = (thickness / distance).min(64.0);
        let passed = color.map(|part| part.clamp(0.0, 1.0).powf(depth));
        for (base, passed) in surface.base_color.iter_mut().zip(passed) {
            *base *= passed;
        }
        // Light that the volume keeps makes it less transparent.
        let kept = 1.0 - passed.iter().sum::<f32>() / 3.0;
        opacity += (1.0 - opacity) * kept * 0.5;
    }
    surface.base_color[3] *= opacity;
    if surface.alpha == SurfaceAlphaMode::Opaque {
        // An opaque material ignores its own alpha.
        surface.base_color[3] = opacity;
        surface.alpha = SurfaceAlphaMode::Blend;
    }
    Ok(None)
}
