//! The lobes that a surface may have besides the standard ones, as the extensions of glTF 2.0
//! define them: their fields in the block `surface` of a material file. Loads no textures.

use engine_foundation::blob::NumberRange;

/// The lobes of a surface. Colors are linear.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SurfaceLobes {
    /// Strength of a clear coat, and its roughness.
    pub clear_coat: f32,
    pub clear_coat_roughness: f32,
    /// Color of the light that fibres scatter at the rim; black: none.
    pub sheen_color: [f32; 3],
    pub sheen_roughness: f32,
    /// Strength of brushed lines, and their angle to the tangent in radians.
    pub anisotropy: f32,
    pub anisotropy_rotation: f32,
    /// Index of refraction.
    pub ior: f32,
    /// Strength and color of the reflection of what is not metal.
    pub specular: f32,
    pub specular_color: [f32; 3],
    /// Part of the light from behind that comes through.
    pub transmission: f32,
    /// Distance in metres over which that light is refracted.
    pub thickness: f32,
}

impl Default for SurfaceLobes {
    fn default() -> SurfaceLobes {
        SurfaceLobes::NONE
    }
}

/// A number of the lobes: its key, its range, and the accessor of its field.
pub type LobeNumber = (&'static str, NumberRange, fn(&mut SurfaceLobes) -> &mut f32);

/// The numbers of the lobes, in the order of the compiled form.
pub const LOBE_NUMBERS: [LobeNumber; 9] = [
    ("clear_coat", (0.0, 1.0), |lobes| &mut lobes.clear_coat),
    ("clear_coat_roughness", (0.0, 1.0), |lobes| &mut lobes.clear_coat_roughness),
    ("sheen_roughness", (0.0, 1.0), |lobes| &mut lobes.sheen_roughness),
    ("anisotropy", (0.0, 1.0), |lobes| &mut lobes.anisotropy),
    ("anisotropy_rotation", (-1000.0, 1000.0), |lobes| &mut lobes.anisotropy_rotation),
    ("ior", (1.0, 5.0), |lobes| &mut lobes.ior),
    ("specular", (0.0, 1.0), |lobes| &mut lobes.specular),
    ("transmission", (0.0, 1.0), |lobes| &mut lobes.transmission),
    ("thickness", (0.0, 1000.0), |lobes| &mut lobes.thickness),
];

impl SurfaceLobes {
    /// The surface of the standard model alone.
    pub const NONE: SurfaceLobes = SurfaceLobes {
        clear_coat: 0.0,
        clear_coat_roughness: 0.0,
        sheen_color: [0.0; 3],
        sheen_roughness: 0.5,
        anisotropy: 0.0,
        anisotropy_rotation: 0.0,
        ior: 1.5,
        specular: 1.0,
        specular_color: [1.0; 3],
        transmission: 0.0,
        thickness: 0.0,
    };

    /// Returns true if the surface needs more than the standard model.
    pub fn are_used(&self) -> bool {
        let plain = SurfaceLobes {
            clear_coat_roughness: self.clear_coat_roughness,
            sheen_roughness: self.sheen_roughness,
            anisotropy_rotation: self.anisotropy_rotation,
            thickness: self.thickness,
            ..SurfaceLobes::NONE
        };
        *self != plain
    }

    /// Returns the field of a number by its key.
    pub fn number_mut(&mut self, key: &str) -> Option<(&mut f32, NumberRange)> {
        let (_, range, field) = LOBE_NUMBERS.iter().find(|known| known.0 == key)?;
        Some((field(self), *range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lobe_is_used_if_its_strength_is() {
        let mut lobes = SurfaceLobes::NONE;
        for key in ["clear_coat_roughness", "sheen_roughness", "thickness"] {
            *lobes.number_mut(key).unwrap().0 = 0.9;
            assert!(!lobes.are_used(), "{key}");
        }
        for key in ["clear_coat", "anisotropy", "ior", "specular", "transmission"] {
            let mut lobes = SurfaceLobes::NONE;
            *lobes.number_mut(key).unwrap().0 = 0.9;
            assert!(lobes.are_used(), "{key}");
        }
        assert!(SurfaceLobes { sheen_color: [0.1, 0.0, 0.0], ..lobes }.are_used());
        assert!(lobes.number_mut("shine").is_none());
    }
}
