//! Options of the renderer, by the game's settings and its window.

use engine_render::{self as render, Antialiasing, EffectLevel, RenderQuality, ShadowFilter};
use engine_resource::settings::Settings;
use engine_window::Vsync;

/// How much is drawn of the settings and of the effects of shading environments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QualityLevel {
    Low,
    Medium,
    /// All that the settings say.
    High,
    Ultra,
}

impl QualityLevel {
    /// Returns the level of the settings. `processor`: a software adapter draws in a window.
    pub fn new(settings: &Settings, processor: bool) -> QualityLevel {
        match settings.text("render.quality") {
            "low" => QualityLevel::Low,
            "medium" => QualityLevel::Medium,
            "ultra" => QualityLevel::Ultra,
            "auto" if processor => QualityLevel::Low,
            _ => QualityLevel::High,
        }
    }
}

/// Returns the render quality of a level, from the settings.
pub fn quality_of(settings: &Settings, level: QualityLevel) -> RenderQuality {
    let wanted = wanted_quality(settings);
    match level {
        QualityLevel::Low => {
            RenderQuality { samples: 1, effects: EffectLevel::None, ..LOW_MAX.limit(wanted) }
        }
        QualityLevel::Medium => {
            RenderQuality { effects: EffectLevel::Reduced, ..MEDIUM_MAX.limit(wanted) }
        }
        QualityLevel::High => wanted,
        QualityLevel::Ultra => RenderQuality {
            shadow_texels: (2 * wanted.shadow_texels).min(SHADOW_TEXELS_MAX),
            spot_texels: (2 * wanted.spot_texels).min(SHADOW_TEXELS_MAX / 2),
            shadow_atlas_texels: (2 * wanted.shadow_atlas_texels).min(2 * SHADOW_TEXELS_MAX),
            shadow_tiles_per_frame: 2 * wanted.shadow_tiles_per_frame,
            cascades: 4,
            sky_texels: (2 * wanted.sky_texels).min(SKY_TEXELS_MAX),
            sky_steps: 2 * wanted.sky_steps,
            effects: EffectLevel::Finest,
            fog_columns: (wanted.fog_columns * 3 / 2).min(FOG_COLUMNS_MAX),
            ..wanted
        },
    }
}

/// Largest shadow map of a sun, and largest map of a sky's light, in texels, as the settings allow.
const SHADOW_TEXELS_MAX: u32 = 8192;
const SKY_TEXELS_MAX: u32 = 1024;
/// The most columns of a grid of froxel fog.
const FOG_COLUMNS_MAX: u32 = 256;

/// Limits of a level.
struct LevelLimits {
    /// Side length in texels of a sun's shadow maps.
    shadow_texels: u32,
    shadow_tiles_per_frame: u32,
    cascades: u32,
    sky_texels: u32,
    sky_steps: u32,
    fog_columns: u32,
}

const LOW_MAX: LevelLimits = LevelLimits {
    shadow_texels: 512,
    shadow_tiles_per_frame: 6,
    cascades: 1,
    sky_texels: 128,
    sky_steps: 1,
    fog_columns: 32,
};
const MEDIUM_MAX: LevelLimits = LevelLimits {
    shadow_texels: 1024,
    shadow_tiles_per_frame: 24,
    cascades: 2,
    sky_texels: 256,
    sky_steps: 2,
    fog_columns: 80,
};

impl LevelLimits {
    fn limit(&self, wanted: RenderQuality) -> RenderQuality {
        let texels = wanted.shadow_texels.min(self.shadow_texels);
        // The distance shrinks like the map. At the full distance, a texel could be as large as a
        // person, and small objects would have no shadow.
        let part = match wanted.shadow_texels {
            0 => 1.0,
            full => texels as f32 / full as f32,
        };
        RenderQuality {
            shadow_texels: texels,
            spot_texels: texels / 2,
            shadow_atlas_texels: wanted.shadow_atlas_texels.min(2 * texels),
            shadow_tiles_per_frame: wanted.shadow_tiles_per_frame.min(self.shadow_tiles_per_frame),
            shadow_distance: wanted.shadow_distance * part,
            cascades: wanted.cascades.min(self.cascades),
            shadow_filter: ShadowFilter::Pcf,
            sky_texels: wanted.sky_texels.min(self.sky_texels),
            sky_steps: wanted.sky_steps.min(self.sky_steps),
            fog_columns: wanted.fog_columns.min(self.fog_columns),
            ..wanted
        }
    }
}

/// Returns the render quality that the settings say.
fn wanted_quality(settings: &Settings) -> RenderQuality {
    let texels = settings.number("render.shadow_texels") as u32;
    RenderQuality {
        samples: if settings.boolean("render.smooth_edges") { 4 } else { 1 },
        shadow_texels: texels,
        spot_texels: texels / 2,
        shadow_atlas_texels: settings.number("render.shadow_atlas_texels") as u32,
        shadow_tiles_per_frame: settings.number("render.shadow_tiles_per_frame") as u32,
        shadow_distance: settings.number("render.shadow_distance") as f32,
        cascades: settings.number("render.shadow_maps") as u32,
        antialiasing: match settings.text("render.antialiasing") {
            "fxaa" => Antialiasing::Fxaa,
            "smaa" => Antialiasing::Smaa,
            _ => Antialiasing::None,
        },
        shadow_filter: match settings.text("render.shadow_filter") {
            "pcf" => ShadowFilter::Pcf,
            _ => ShadowFilter::Pcss,
        },
        sky_texels: settings.number("render.sky_texels") as u32,
        sky_steps: settings.number("render.sky_steps") as u32,
        scale: settings.number("render.scale") as f32,
        effects: EffectLevel::All,
        fog_columns: settings.number("render.fog_columns") as u32,
        ..RenderQuality::DEFAULT
    }
}

/// Returns the end of the note that a software adapter draws in a window: how the quality is
/// reduced.
pub fn reduction_note(settings: &Settings) -> String {
    let [full, less] =
        [false, true].map(|processor| quality_of(settings, QualityLevel::new(settings, processor)));
    if full == less {
        return String::new();
    }
    let shadows = match less.shadow_distance < full.shadow_distance {
        true => format!(
            ", and shadows end {} m from the camera instead of {} m",
            less.shadow_distance, full.shadow_distance
        ),
        false => String::new(),
    };
    format!(
        "; worlds have rough edges and no screen-space effects{shadows}, so that frames are fast \
         (render.quality in settings.sjson)"
    )
}

pub fn vsync_of(vsync: Vsync) -> render::Vsync {
    match vsync {
        Vsync::On => render::Vsync::On,
        Vsync::Off => render::Vsync::Off,
        Vsync::Adaptive => render::Vsync::Adaptive,
        Vsync::Mailbox => render::Vsync::Fast,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(quality: &str, processor: bool) -> QualityLevel {
        let text = format!("render = {{ quality = \"{quality}\" }}");
        let settings = Settings::parse(text.into_bytes(), "linux").expect("they are valid");
        QualityLevel::new(&settings, processor)
    }

    #[test]
    fn shadows_of_low_quality_keep_the_size_of_their_texels() {
        let settings = Settings::defaults();
        let [low, medium, full, ultra] =
            [QualityLevel::Low, QualityLevel::Medium, QualityLevel::High, QualityLevel::Ultra]
                .map(|level| quality_of(&settings, level));
        let texel = |quality: RenderQuality| quality.shadow_distance / quality.shadow_texels as f32;
        assert_eq!(
            [texel(low), texel(medium), texel(ultra)],
            [1.0, 1.0, 0.5].map(|f| f * texel(full))
        );
        assert_eq!((full.shadow_distance, low.shadow_distance), (100.0, 25.0));
        assert_eq!(full, RenderQuality::DEFAULT);
        let filters = [low, medium, full, ultra].map(|quality| quality.shadow_filter);
        let (hard, soft) = (ShadowFilter::Pcf, ShadowFilter::Pcss);
        assert_eq!(filters, [hard, hard, soft, soft]);
        let note = reduction_note(&settings);
        assert!(note.contains("shadows end 25 m from the camera instead of 100 m"), "{note}");
    }

    #[test]
    fn only_automatic_quality_depends_on_the_adapter() {
        for (name, expected) in [
            ("low", QualityLevel::Low),
            ("medium", QualityLevel::Medium),
            ("high", QualityLevel::High),
            ("ultra", QualityLevel::Ultra),
        ] {
            assert_eq!([level(name, false), level(name, true)], [expected; 2]);
        }
        let automatic = [level("auto", false), level("auto", true)];
        assert_eq!(automatic, [QualityLevel::High, QualityLevel::Low]);
    }

    #[test]
    fn levels_stay_in_the_ranges_of_the_settings() {
        let text =
            "render = { shadow_texels = 8192 shadow_atlas_texels = 16384 sky_texels = 1024 }";
        let most = Settings::parse(text.into(), "linux").expect("they are valid");
        let ultra = quality_of(&most, QualityLevel::Ultra);
        let sides = [ultra.shadow_texels, ultra.shadow_atlas_texels, ultra.sky_texels];
        assert_eq!(sides, [8192, 16384, 1024]);
        let none = Settings::parse("render = { shadow_texels = 0 }".into(), "linux");
        let none = none.expect("they are valid");
        for level in [QualityLevel::Low, QualityLevel::Medium, QualityLevel::Ultra] {
            let quality = quality_of(&none, level);
            assert_eq!((quality.shadow_texels, quality.shadow_distance), (0, 100.0));
        }
    }
}
