//! Options of the renderer, by the game's settings and its window.

use engine_render::{self as render, RenderQuality};
use engine_resource::settings::Settings;
use engine_window::Vsync;

/// Maximum shadow map size, in texels, if the processor renders for a window.
const SHADOW_TEXELS_OF_PROCESSOR: u32 = 512;

/// Returns the render quality from the settings. `processor` is true if the processor renders for a
/// window.
pub fn quality_of(settings: &Settings, processor: bool) -> RenderQuality {
    let texels = settings.number("render.shadow_texels") as u32;
    let wanted = RenderQuality {
        samples: if settings.boolean("render.smooth_edges") { 4 } else { 1 },
        shadow_texels: texels,
        spot_texels: texels / 2,
        shadow_distance: settings.number("render.shadow_distance") as f32,
        cascades: settings.number("render.shadow_maps") as u32,
    };
    if !(processor && settings.boolean("render.less_on_processor")) {
        return wanted;
    }
    let texels = texels.min(SHADOW_TEXELS_OF_PROCESSOR);
    RenderQuality {
        samples: 1,
        shadow_texels: texels,
        spot_texels: texels / 2,
        cascades: 1,
        ..wanted
    }
}

pub fn vsync_of(vsync: Vsync) -> render::Vsync {
    match vsync {
        Vsync::On => render::Vsync::On,
        Vsync::Off => render::Vsync::Off,
        Vsync::Adaptive => render::Vsync::Adaptive,
        Vsync::Mailbox => render::Vsync::Fast,
    }
}
