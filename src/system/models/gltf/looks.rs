//! The lobes of materials with extensions: clear coat, sheen, anisotropy, index of refraction,
//! specular strength and transmission (docs/models.md has the table). Reads factors, no textures.

use super::fields::ExtensionFields;
use crate::data::SurfaceData;
use engine_foundation::Error;
use engine_resource::surface_lobes::{LOBE_NUMBERS, SurfaceLobes};
use gltf::json::Value;
use gltf::json::material::Material;

/// Reflection of a surface that is no metal, seen from the front, with an index of refraction of
/// 1.5.
pub const REFLECTION: f32 = 0.04;

/// Returns the fields of a material's extension.
pub fn extension<'a>(material: &'a Material, name: &'a str) -> Option<ExtensionFields<'a>> {
    let value: &Value = material.extensions.as_ref()?.others.get(name)?;
    Some(ExtensionFields::of(name, value))
}

/// Reads the lobes of a material. Textures that cannot be taken into account are reported in
/// `warnings`.
///
/// # Errors
/// Returns an error if an extension has a field of a wrong type.
pub fn read_lobes(
    material: &Material,
    surface: &mut SurfaceData,
    warnings: &mut Vec<String>,
) -> Result<(), Error> {
    if surface.unlit {
        return Ok(());
    }
    let mut lobes = SurfaceLobes::NONE;
    if let Some(fields) = extension(material, "KHR_materials_ior") {
        lobes.ior = fields.number("ior", 1.5)?;
    }
    if let Some(fields) = extension(material, "KHR_materials_specular") {
        lobes.specular = fields.number("specularFactor", 1.0)?;
        let color = fields.numbers("specularColorFactor", [1.0; 3])?;
        lobes.specular_color = color.map(|part| part.clamp(0.0, COLOR_MAX));
    }
    if let Some(fields) = extension(material, "KHR_materials_clearcoat") {
        lobes.clear_coat = fields.number("clearcoatFactor", 0.0)?;
        lobes.clear_coat_roughness = fields.number("clearcoatRoughnessFactor", 0.0)?;
    }
    if let Some(fields) = extension(material, "KHR_materials_sheen") {
        let color = fields.numbers("sheenColorFactor", [0.0; 3])?;
        lobes.sheen_color = color.map(|part| part.clamp(0.0, 1.0));
        lobes.sheen_roughness = fields.number("sheenRoughnessFactor", 0.0)?;
    }
    if let Some(fields) = extension(material, "KHR_materials_anisotropy") {
        lobes.anisotropy = fields.number("anisotropyStrength", 0.0)?;
        lobes.anisotropy_rotation = fields.number("anisotropyRotation", 0.0)?;
    }
    if let Some(reason) = transmission(material, surface, &mut lobes)? {
        warnings.push(format!("the transmission of material '{}' {reason}", surface.name));
    }
    for (_, (least, most), field) in LOBE_NUMBERS {
        let number = field(&mut lobes);
        *number = number.clamp(least, most);
    }
    surface.lobes = lobes;
    Ok(())
}

/// Maximum part of a specular color. The reflection that it leads to is at most 1.
const COLOR_MAX: f32 = 100.0;

/// Reads the transmission. The color of a volume at its thickness tints the surface. Returns the
/// reason if the transmission is not shown.
fn transmission(
    material: &Material,
    surface: &mut SurfaceData,
    lobes: &mut SurfaceLobes,
) -> Result<Option<String>, Error> {
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
    lobes.transmission = factor;
    if let Some(volume) = extension(material, "KHR_materials_volume") {
        let color = volume.numbers("attenuationColor", [1.0; 3])?;
        lobes.thickness = volume.number("thicknessFactor", 0.0)?.max(0.0);
        // Without a distance, the volume keeps no light.
        let distance = volume.number("attenuationDistance", f32::INFINITY)?.max(1e-6);
        let depth = (lobes.thickness / distance).min(64.0);
        let passed = color.map(|part| part.clamp(0.0, 1.0).powf(depth));
        for (base, passed) in surface.base_color.iter_mut().zip(passed) {
            *base *= passed;
        }
    }
    Ok(None)
}
