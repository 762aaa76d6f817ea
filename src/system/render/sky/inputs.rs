//! The inputs of a view's sky and fog, computed from its environment: the uniform of a sky's maps,
//! which is also the key of the maps, and the fields of the view uniform. Pure arithmetic.

use super::super::scene::SceneUniform;
use bytemuck::{Pod, Zeroable};
use engine_foundation::Vec3;
use engine_frame_packet::View;
use engine_frame_packet::shading_environment::celestial::{
    MIE_EXTINCTION, RAYLEIGH_SCATTERING, celestial, moon_share,
};
use engine_frame_packet::shading_environment::{
    SKY_PHYSICAL, SKY_TEXTURE, ShadingEnvironment, SkyValues,
};
use engine_frame_packet::texture::TextureSlot;

/// Brightness of the moon's disc, compared to its light on a white surface.
const MOON_DISC: f32 = 40.0;

/// The uniform `sky_inputs` of the sky's shaders (sky_inputs.wgsl).
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct SkyUniform {
    pub sun: [f32; 4],
    pub moon: [f32; 4],
    pub sun_light: [f32; 4],
    pub moon_light: [f32; 4],
    pub night: [f32; 4],
    pub ground: [f32; 4],
    pub numbers: [f32; 4],
    pub stars: [[f32; 4]; 3],
}

/// The source of a sky's light.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SkySource {
    /// The physical atmosphere.
    Physical,
    Texture(TextureSlot),
}

/// The sky of a view; none for the three colors of its scene.
pub fn source_of(view: &View) -> Option<SkySource> {
    match view.environment.sky.sky_mode {
        mode if mode == SKY_PHYSICAL => Some(SkySource::Physical),
        mode if mode == SKY_TEXTURE => view.environment_textures.sky.map(SkySource::Texture),
        _ => None,
    }
}

/// Returns the values of an environment within their ranges.
fn limited(environment: &ShadingEnvironment) -> ShadingEnvironment {
    let mut limited = *environment;
    limited.sanitize();
    limited
}

/// Returns the uniform of the sky that is drawn behind a view.
pub fn background(environment: &ShadingEnvironment, source: SkySource) -> SkyUniform {
    let environment = &limited(environment);
    let sky = &environment.sky;
    let (sine, cosine) = sky.sky_rotation.to_radians().sin_cos();
    let intensity = sky.sky_intensity;
    if source != SkySource::Physical {
        let numbers = [0.0, intensity, cosine, sine];
        return SkyUniform { numbers, ..SkyUniform::zeroed() };
    }
    let bodies = celestial(environment);
    let radius = |degrees: f32| degrees.to_radians() * 0.5;
    let [red, green, blue] = sky.night_color;
    let share = moon_share(sky.moon_phase);
    let daylight = ((bodies.sun.z + 0.1) / 0.2).clamp(0.0, 1.0);
    let disc = sky.moon_intensity * MOON_DISC * (1.0 - 0.9 * daylight);
    let stars = sky.stars_intensity * ((-0.02 - bodies.sun.z) / 0.18).clamp(0.0, 1.0);
    let to_stars = bodies.to_stars.transpose();
    let row = |axis: Vec3| axis.extend(0.0).to_array();
    SkyUniform {
        sun: bodies.sun.extend(radius(sky.sun_size)).to_array(),
        moon: bodies.moon.extend(radius(sky.moon_size)).to_array(),
        sun_light: [sky.sun_intensity, sky.sun_intensity, sky.sun_intensity, 0.0],
        moon_light: Vec3::splat(sky.moon_intensity * share).extend(disc).to_array(),
        night: [red, green, blue, stars],
        ground: Vec3::from(sky.sky_ground_color).extend(sky.haze).to_array(),
        numbers: [sky.sky_altitude / 1000.0, intensity, cosine, sine],
        stars: [row(to_stars.x_axis), row(to_stars.y_axis), row(to_stars.z_axis)],
    }
}

/// Returns the part of a background that changes the light of its sky. Discs and stars are left
/// out, because the light of the discs is that of the scene's sun.
pub fn light_key(background: &SkyUniform) -> SkyUniform {
    let mut key = *background;
    (key.sun[3], key.moon[3], key.moon_light[3], key.night[3]) = (0.0, 0.0, 0.0, 0.0);
    key.stars = [[0.0; 4]; 3];
    key
}

/// The maps of a view's sky.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SkyLayer {
    pub layer: u32,
    pub is_physical: bool,
}

/// Fills the sky and the fog of a view's uniform. `layer`: the maps of its sky, if it has any.
/// `size`: the side length of maps in texels, and the number of levels for roughness.
pub fn fill_uniform(
    uniform: &mut SceneUniform,
    environment: &ShadingEnvironment,
    layer: Option<SkyLayer>,
    [side, levels]: [f32; 2],
) {
    let sky = &limited(environment).sky;
    uniform.sky_light = [-1.0, side, levels, sky.ambient_intensity];
    uniform.air = [0.0; 4];
    if let Some(SkyLayer { layer, is_physical }) = layer {
        uniform.sky_light[0] = layer as f32;
        if is_physical && sky.aerial_perspective > 0.0 {
            let scale = sky.aerial_perspective / 1000.0;
            let haze = MIE_EXTINCTION * sky.haze;
            let [red, green, blue] = RAYLEIGH_SCATTERING.map(|part| (part + haze) * scale);
            uniform.air = [red, green, blue, 1.0];
        }
    }
    add_fog(&mut uniform.fog, sky);
    let [red, green, blue] = sky.fog_sun_color;
    let has_glow = red > 0.0 || green > 0.0 || blue > 0.0;
    let is_shaped = sky.fog_height_falloff > 0.0 || sky.fog_start > 0.0 || has_glow;
    let shaped = if is_shaped { 1.0 } else { 0.0 };
    uniform.fog_shape = [sky.fog_height, sky.fog_height_falloff, sky.fog_start, shaped];
    uniform.fog_glow = [red, green, blue, sky.fog_sun_exponent];
    let [x, y, z, _] = uniform.suns[0].towards;
    uniform.fog_towards = [x, y, z, 0.0];
}

/// Adds an environment's fog to that of a scene: the colors are mixed by the densities.
fn add_fog(fog: &mut [f32; 4], sky: &SkyValues) {
    if sky.fog_density <= 0.0 {
        return;
    }
    let density = fog[3].max(0.0) + sky.fog_density;
    let part = sky.fog_density / density;
    for (channel, color) in sky.fog_color.iter().enumerate() {
        fog[channel] += (color - fog[channel]) * part;
    }
    fog[3] = density;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform_of(sky: &SkyValues, layer: Option<SkyLayer>) -> SceneUniform {
        let mut uniform = SceneUniform::zeroed();
        uniform.fog = [0.1, 0.2, 0.3, 0.01];
        uniform.suns[0].towards = [0.0, 0.6, 0.8, 1.0];
        let environment = ShadingEnvironment { sky: *sky, ..ShadingEnvironment::DEFAULT };
        fill_uniform(&mut uniform, &environment, layer, [256.0, 6.0]);
        uniform
    }

    #[test]
    fn the_default_environment_changes_no_fog_and_no_light() {
        let uniform = uniform_of(&SkyValues::DEFAULT, None);
        assert_eq!(uniform.fog, [0.1, 0.2, 0.3, 0.01]);
        assert_eq!(uniform.sky_light, [-1.0, 256.0, 6.0, 1.0]);
        assert_eq!((uniform.air[3], uniform.fog_shape[3]), (0.0, 0.0));
    }

    #[test]
    fn densities_of_fog_add_up_and_their_colors_are_mixed() {
        let mut sky = SkyValues { fog_density: 0.03, ..SkyValues::DEFAULT };
        sky.fog_color = [0.5, 0.2, 0.7];
        let fog = uniform_of(&sky, None).fog;
        for (found, wanted) in fog.iter().zip([0.4, 0.2, 0.6, 0.04]) {
            assert!((found - wanted).abs() < 1e-6, "{fog:?}");
        }
    }

    #[test]
    fn each_shape_of_fog_enables_it() {
        let base = SkyValues::DEFAULT;
        for sky in [
            SkyValues { fog_height_falloff: 0.1, ..base },
            SkyValues { fog_start: 5.0, ..base },
            SkyValues { fog_sun_color: [0.0, 0.1, 0.0], ..base },
        ] {
            let uniform = uniform_of(&sky, None);
            assert_eq!(uniform.fog_shape[3], 1.0);
            assert_eq!(uniform.fog_towards, [0.0, 0.6, 0.8, 0.0]);
        }
    }

    #[test]
    fn only_physical_skies_have_air() {
        let layer = SkyLayer { layer: 3, is_physical: true };
        let uniform = uniform_of(&SkyValues::DEFAULT, Some(layer));
        assert_eq!(uniform.sky_light, [3.0, 256.0, 6.0, 1.0]);
        assert!(uniform.air[2] > uniform.air[0] && uniform.air[3] == 1.0, "{:?}", uniform.air);
        let texture = SkyLayer { is_physical: false, ..layer };
        assert_eq!(uniform_of(&SkyValues::DEFAULT, Some(texture)).air, [0.0; 4]);
    }

    #[test]
    fn every_time_and_every_latitude_gives_finite_inputs() {
        let mut environment = ShadingEnvironment::DEFAULT;
        for hours in [0.0, 0.001, 5.9, 6.0, 12.0, 18.0, 23.999, 24.0] {
            for latitude in [-90.0, -89.99, 0.0, 45.0, 90.0] {
                environment.sky.time_of_day = hours;
                environment.sky.latitude = latitude;
                let all = [background(&environment, SkySource::Physical)];
                let floats: &[f32] = bytemuck::cast_slice(&all);
                assert!(floats.iter().all(|float| float.is_finite()), "{hours} {latitude}");
            }
        }
    }

    #[test]
    fn values_that_are_not_numbers_are_those_of_the_default() {
        let mut broken = ShadingEnvironment::DEFAULT;
        broken.floats_mut().fill(f32::NAN);
        let wanted = background(&ShadingEnvironment::DEFAULT, SkySource::Physical);
        assert_eq!(background(&broken, SkySource::Physical), wanted);
        let sky = SkyValues { fog_density: f32::NAN, fog_start: f32::NAN, ..SkyValues::DEFAULT };
        assert_eq!(uniform_of(&sky, None), uniform_of(&SkyValues::DEFAULT, None));
        let mut large = ShadingEnvironment::DEFAULT;
        large.floats_mut().fill(f32::INFINITY);
        let all = [background(&large, SkySource::Physical)];
        let floats: &[f32] = bytemuck::cast_slice(&all);
        assert!(floats.iter().all(|float| float.is_finite()), "{all:?}");
    }

    #[test]
    fn stars_and_discs_do_not_renew_the_light_of_a_sky() {
        let mut environment = ShadingEnvironment::DEFAULT;
        let key = |environment: &ShadingEnvironment| {
            light_key(&background(environment, SkySource::Physical))
        };
        let before = key(&environment);
        environment.sky.stars_intensity = 3.0;
        environment.sky.sun_size = 2.0;
        assert_eq!(before, key(&environment));
        environment.sky.time_of_day = 12.1;
        assert!(before != key(&environment));
    }
}
