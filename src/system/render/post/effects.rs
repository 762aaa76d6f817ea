//! The choice of a view's post effects, and their uniform. Creates no resources on an adapter.

use super::super::scene::SceneUniform;
use super::super::{Antialiasing, RenderQuality};
use super::color_math::{FilmicCurve, FilmicParameters, NEUTRAL_KELVINS, Segment, white_balance};
use bytemuck::{Pod, Zeroable};
use engine_frame_packet::shading_environment::{LensValues, ShadingEnvironment, ToneValues};

/// Index of the tone mapper that only cuts light that is too bright, in the values of environments
/// and in tone_mappers.wgsl.
const MAPPER_NONE: u8 = 5;
const MAPPER_FILMIC: u8 = 4;

/// The post effects of a view.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Effects {
    pub auto_exposure: bool,
    pub bloom: bool,
    pub light_grading: bool,
    pub color_grading: bool,
    pub color_table: bool,
    pub vignette: bool,
    pub mapper: u8,
    pub antialiasing: bool,
    /// True if edges are straightened (SMAA).
    pub straightening: bool,
    pub aberration: bool,
    pub sharpening: bool,
    pub grain: bool,
    /// True if the image has another size than the view, and if it is smaller.
    pub scaled: bool,
    pub enlarged: bool,
}

impl Effects {
    /// Returns the effects of an environment. `sky_maps` is false if the sky of the scene clips
    /// bright light, which replaces the tone mapper.
    pub fn new(
        environment: &ShadingEnvironment,
        quality: &RenderQuality,
        sky_maps: bool,
    ) -> Effects {
        let ShadingEnvironment { post, tone, lens, .. } = environment;
        let is_balanced = tone.white_temperature == NEUTRAL_KELVINS && tone.white_tint == 0.0;
        let is_plain = tone.contrast == 1.0 && tone.saturation == 1.0;
        let is_neutral = tone.color_lift == [0.0; 3]
            && tone.color_gamma == [1.0; 3]
            && tone.color_gain == [1.0; 3];
        Effects {
            auto_exposure: has_state(environment),
            bloom: post.bloom_intensity > 0.0,
            light_grading: !(is_balanced && is_plain),
            color_grading: !is_neutral,
            color_table: false,
            vignette: lens.vignette_intensity > 0.0,
            mapper: if sky_maps { tone.tone_mapper.round() as u8 } else { MAPPER_NONE },
            antialiasing: quality.antialiasing == Antialiasing::Fxaa,
            straightening: quality.antialiasing == Antialiasing::Smaa,
            aberration: lens.chromatic_aberration > 0.0,
            sharpening: lens.sharpening > 0.0,
            grain: lens.grain_intensity > 0.0,
            scaled: quality.valid_scale() != 1.0,
            enlarged: quality.valid_scale() < 1.0,
        }
    }

    /// Returns true if the view is shown without post effects.
    pub fn is_off(&self, sky_maps: bool) -> bool {
        let mapper = if sky_maps { 0 } else { MAPPER_NONE };
        *self == Effects { mapper, ..Effects::default() }
    }

    /// Returns true if an effect needs the finished image.
    pub fn needs_image(&self) -> bool {
        self.smooths() || self.aberration || self.sharpening || self.scaled
    }

    fn smooths(&self) -> bool {
        self.antialiasing || self.straightening
    }

    /// Returns true if the image is smoothed before other effects on it.
    pub fn smooths_apart(&self) -> bool {
        let has_others = self.aberration || self.sharpening || self.scaled;
        self.straightening || self.antialiasing && has_others
    }

    /// Returns the effects that change the shader of tone mapping.
    pub fn of_grading(&self) -> Effects {
        Effects {
            bloom: self.bloom,
            light_grading: self.light_grading,
            color_grading: self.color_grading,
            color_table: self.color_table,
            vignette: self.vignette,
            mapper: self.mapper,
            grain: self.grain && !self.needs_image(),
            ..Effects::default()
        }
    }

    /// Returns the effects that change the shader of the last effects on the image.
    pub fn of_finishing(&self) -> Effects {
        let antialiasing = self.antialiasing && !self.smooths_apart();
        let Effects { aberration, sharpening, grain, enlarged, .. } = *self;
        Effects { antialiasing, aberration, sharpening, grain, enlarged, ..Effects::default() }
    }
}

/// The uniform `post` of post_uniforms.wgsl.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct PostUniform {
    pub display: [f32; 4],
    pub metering: [f32; 4],
    pub adaptation: [f32; 4],
    pub bloom: [f32; 4],
    pub balance: [[f32; 4]; 3],
    pub lift: [f32; 4],
    pub inverse_gamma: [f32; 4],
    pub gain: [f32; 4],
    pub filmic: [[f32; 4]; 3],
    pub filmic_powers: [f32; 4],
    pub shape: [f32; 4],
    pub lens: [f32; 4],
    pub seed: [u32; 4],
}

/// Properties of a view that its uniform depends on, apart from its environment.
pub struct ViewState {
    pub effects: Effects,
    pub size: (u32, u32),
    /// True if the target needs encoded colors.
    pub encodes: bool,
    /// Seconds of game time, and those since the previous frame; `None` in the first frame.
    pub seconds: f64,
    pub step: Option<f32>,
    /// Side length of the color table.
    pub table_side: u32,
}

fn with([x, y, z]: [f32; 3], last: f32) -> [f32; 4] {
    [x, y, z, last]
}

impl PostUniform {
    pub fn new(
        environment: &ShadingEnvironment,
        scene: &SceneUniform,
        view: &ViewState,
    ) -> PostUniform {
        let ShadingEnvironment { post, tone, lens, .. } = environment;
        let flag = |on: bool| f32::from(u8::from(on));
        let shows = !view.effects.needs_image();
        // The part of a difference that is left after some time is a power of that after a second.
        let share = |speed: f32| 1.0 - (-speed * view.step.unwrap_or(0.0)).exp();
        let (low, high) = (post.auto_exposure_min, post.auto_exposure_max);
        let (width, height) = view.size;
        let mut uniform = PostUniform {
            display: [scene.top[3], flag(view.encodes && shows), flag(view.encodes), 0.0],
            metering: [
                post.auto_exposure_key.log2(),
                low.min(high),
                high.max(low),
                flag(view.step.is_none()),
            ],
            adaptation: [
                share(post.auto_exposure_speed_up),
                share(post.auto_exposure_speed_down),
                post.auto_exposure_low,
                post.auto_exposure_high,
            ],
            bloom: [post.bloom_intensity, post.bloom_scatter, post.bloom_threshold, 0.0],
            ..PostUniform::zeroed()
        };
        uniform.seed[0] = (view.seconds as f32).to_bits();
        uniform.shape[3] = width as f32 / height.max(1) as f32;
        uniform.grade(tone, view);
        uniform.lens(lens);
        uniform
    }

    fn grade(&mut self, tone: &ToneValues, view: &ViewState) {
        let columns = white_balance(tone.white_temperature, tone.white_tint).to_cols_array_2d();
        let last = [tone.contrast, tone.saturation, tone.tone_white];
        for (column, (to, last)) in columns.into_iter().zip(self.balance.iter_mut().zip(last)) {
            *to = with(column, last);
        }
        self.lift = with(tone.color_lift, tone.color_table_strength);
        self.inverse_gamma =
            with(tone.color_gamma.map(|gamma| 1.0 / gamma), view.table_side.max(1) as f32);
        self.gain = with(tone.color_gain, 0.0);
        if view.effects.mapper == MAPPER_FILMIC {
            let curve = FilmicCurve::new(&FilmicParameters {
                toe_strength: tone.filmic_toe_strength,
                toe_length: tone.filmic_toe_length,
                shoulder_strength: tone.filmic_shoulder_strength,
                shoulder_length: tone.filmic_shoulder_length,
                shoulder_angle: tone.filmic_shoulder_angle,
            });
            let segments = [curve.toe, curve.line, curve.shoulder];
            self.filmic = segments
                .map(|Segment { start, offset, scale, log_a, .. }| [start, offset, scale, log_a]);
            let [toe, line, shoulder] = segments.map(|segment| segment.b);
            self.filmic_powers = [toe, line, shoulder, curve.white];
            (self.shape[0], self.shape[1]) = (curve.line_begin, curve.line_end);
        }
    }

    fn lens(&mut self, lens: &LensValues) {
        self.gain[3] = lens.vignette_intensity;
        self.shape[2] = 1.0 / lens.vignette_radius;
        let LensValues { chromatic_aberration, sharpening, grain_intensity, grain_size, .. } =
            *lens;
        self.lens = [chromatic_aberration, sharpening, grain_intensity, grain_size.max(1.0)];
    }
}

/// Returns true if a view with an environment keeps a state from frame to frame.
pub fn has_state(environment: &ShadingEnvironment) -> bool {
    environment.post.exposure_mode >= 0.5
}

/// Returns the exposure of a scene's sky with the environment's compensation, which changes nothing
/// if it is 0.
pub fn compensated(sky_exposure: f32, environment: &ShadingEnvironment) -> f32 {
    const EXPOSURE_MAX: f32 = 1e9;
    match environment.post.exposure_compensation {
        0.0 => sky_exposure,
        stops => (sky_exposure * stops.exp2()).clamp(0.0, EXPOSURE_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(name: &str, value: f32) -> Effects {
        let mut environment = ShadingEnvironment::DEFAULT;
        let (first, _) = ShadingEnvironment::find(name).expect("a value");
        environment.floats_mut()[first] = value;
        Effects::new(&environment, &RenderQuality::DEFAULT, true)
    }

    #[test]
    fn the_default_environment_has_no_effects() {
        let effects =
            |maps| Effects::new(&ShadingEnvironment::DEFAULT, &RenderQuality::DEFAULT, maps);
        assert!(effects(true).is_off(true) && effects(false).is_off(false));
        assert!(changed("exposure_compensation", 2.0).is_off(true));
        assert!(!changed("tone_mapper", 5.0).is_off(true));
    }

    #[test]
    fn every_strength_switches_its_effect() {
        for (name, value) in [
            ("exposure_mode", 1.0),
            ("bloom_intensity", 0.1),
            ("white_temperature", 5000.0),
            ("white_tint", 0.5),
            ("contrast", 1.2),
            ("saturation", 0.5),
            ("color_lift", 0.1),
            ("color_gamma", 1.1),
            ("color_gain", 1.1),
            ("vignette_intensity", 0.3),
            ("chromatic_aberration", 0.3),
            ("sharpening", 0.3),
            ("grain_intensity", 0.3),
        ] {
            assert!(!changed(name, value).is_off(true), "{name}");
        }
    }

    #[test]
    fn straightened_edges_are_smoothed_before_all_other_effects() {
        let effects = |antialiasing| {
            let quality = RenderQuality { antialiasing, ..RenderQuality::DEFAULT };
            Effects::new(&ShadingEnvironment::DEFAULT, &quality, true)
        };
        let smaa = effects(Antialiasing::Smaa);
        assert!(smaa.needs_image() && smaa.smooths_apart() && !smaa.is_off(true));
        assert_eq!(smaa.of_finishing(), Effects::default());
        let fxaa = effects(Antialiasing::Fxaa);
        assert!(fxaa.needs_image() && !fxaa.smooths_apart());
    }

    #[test]
    fn the_uniform_has_the_layout_of_the_shader() {
        assert_eq!(size_of::<PostUniform>(), 17 * 16);
    }

    #[test]
    fn exposure_compensation_counts_in_stops() {
        let mut environment = ShadingEnvironment::DEFAULT;
        assert_eq!(compensated(0.3, &environment), 0.3);
        environment.post.exposure_compensation = 2.0;
        assert_eq!(compensated(0.5, &environment), 2.0);
        environment.post.exposure_compensation = 16.0;
        assert_eq!(compensated(f32::MAX, &environment), 1e9);
    }
}
