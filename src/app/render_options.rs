//! Options of the renderer, by the game's settings and its window.

use engine_render::{self as render, Antialiasing, RenderQuality};
use engine_resource::settings::Settings;
use engine_window::Vsync;

/// Maximum shadow map size, in texels, if the processor renders for a window.
const SHADOW_TEXELS_OF_PROCESSOR: u32 = 512;
/// Maximum size of the map of a sky's light, in texels, in the same case.
const SKY_TEXELS_OF_PROCESSOR: u32 = 128;
/// Maximum number of shadow maps of lamps that are drawn in a frame, if the processor renders for
/// a window.
const SHADOW_TILES_OF_PROCESSOR: u32 = 6;

/// Returns the render quality from the settings. `processor` is true if the processor renders for a
/// window.
pub fn quality_of(settings: &Settings, processor: bool) -> RenderQuality {
    let texels = settings.number("render.shadow_texels") as u32;
    let wanted = RenderQuality {
        samples: if settings.boolean("render.smooth_edges") { 4 } else { 1 },
        shadow_texels: texels,
        spot_texels: texels / 2,
        shadow_atlas_texels: settings.number("render.shadow_atlas_texels") as u32,
        shadow_tiles_per_frame: settings.number("render.shadow_tiles_per_frame") as u32,
        shadow_distance: settings.number("render.shadow_distance") as f32,
        cascades: settings.number("render.shadow_maps") as u32,
        antialiasing: match settings.text("render.antialiasing") {
            "fxaa" => Antialiasing::Fxaa,
            _ => Antialiasing::None,
        },
        sky_texels: settings.number("render.sky_texels") as u32,
        sky_steps: settings.number("render.sky_steps") as u32,
        scale: settings.number("render.scale") as f32,
    };
    if !(processor && settings.boolean("render.less_on_processor")) {
        return wanted;
    }
    let fewer = texels.min(SHADOW_TEXELS_OF_PROCESSOR);
    // The distance shrinks like the map. At the full distance, a texel of the only map would be as
    // large as a person, and small objects would have no shadow.
    let part = fewer as f32 / texels.max(1) as f32;
    RenderQuality {
        samples: 1,
        shadow_texels: fewer,
        spot_texels: fewer / 2,
        shadow_atlas_texels: wanted.shadow_atlas_texels.min(2 * fewer),
        shadow_tiles_per_frame: wanted.shadow_tiles_per_frame.min(SHADOW_TILES_OF_PROCESSOR),
        shadow_distance: if fewer > 0 {
            wanted.shadow_distance * part
        } else {
            wanted.shadow_distance
        },
        cascades: 1,
        antialiasing: wanted.antialiasing,
        sky_texels: wanted.sky_texels.min(SKY_TEXELS_OF_PROCESSOR),
        sky_steps: 1,
        scale: wanted.scale,
    }
}

/// Returns the end of the note that the processor renders for a window: how the quality is reduced.
pub fn reduction_note(settings: &Settings) -> String {
    let (full, less) = (quality_of(settings, false), quality_of(settings, true));
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
        "; worlds have rough edges{shadows}, so that frames are fast \
         (render.less_on_processor in settings.sjson)"
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

    #[test]
    fn shadows_of_the_processor_keep_the_size_of_their_texels() {
        let settings = Settings::defaults();
        let (full, less) = (quality_of(&settings, false), quality_of(&settings, true));
        let texel = |quality: RenderQuality| quality.shadow_distance / quality.shadow_texels as f32;
        assert_eq!(texel(full), texel(less));
        assert_eq!((full.shadow_distance, less.shadow_distance), (100.0, 25.0));
        let note = reduction_note(&settings);
        assert!(note.contains("shadows end 25 m from the camera instead of 100 m"), "{note}");
    }
}
