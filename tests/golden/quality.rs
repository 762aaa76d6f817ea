//! Changes of the quality while a renderer runs: the picture is that of a new renderer.

use super::debug_views::scene;
use super::screen_space::{largest_difference, renderer_with, views_only};
use super::{QUALITY, draw, renderer};
use engine::frame_packet::ViewTarget;
use engine::system::render::{Antialiasing, EffectLevel, RenderQuality, RenderedImage};

const SIZE: (u32, u32) = (160, 90);

/// Returns the picture after several frames, so that all shadow maps are drawn.
fn settled(renderer: &mut engine::system::render::Renderer) -> RenderedImage {
    let frames = (0..3).map(|_| views_only(scene())).collect();
    draw(renderer, frames, ViewTarget::Screen)
}

#[test]
fn a_changed_quality_looks_like_a_new_renderer() {
    if renderer(false).is_none() {
        return;
    }
    let qualities = [
        RenderQuality { scale: 0.5, ..QUALITY },
        RenderQuality { shadow_texels: 256, ..QUALITY },
        RenderQuality { shadow_texels: 0, ..QUALITY },
        RenderQuality { spot_texels: 64, shadow_atlas_texels: 128, ..QUALITY },
        RenderQuality { sky_texels: 64, sky_steps: 1, cascades: 1, ..QUALITY },
        RenderQuality { antialiasing: Antialiasing::Fxaa, ..QUALITY },
        RenderQuality { samples: 1, effects: EffectLevel::None, ..QUALITY },
    ];
    let mut changed = renderer_with(QUALITY, SIZE).expect("there is an adapter");
    draw(&mut changed, vec![scene()], ViewTarget::Screen);
    for quality in qualities.into_iter().chain([QUALITY]) {
        let mut new = renderer_with(quality, SIZE).expect("there is an adapter");
        draw(&mut new, vec![scene()], ViewTarget::Screen);
        changed.set_quality(quality);
        let difference = largest_difference(&settled(&mut changed), &settled(&mut new));
        assert!(difference <= 1, "{quality:?}: {difference}");
    }
}
