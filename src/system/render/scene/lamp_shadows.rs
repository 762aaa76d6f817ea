//! The plan of the shadow maps of omni and spot lights: the lights of all views share an atlas
//! (shadow_atlas.rs), and each map is drawn again only if something has changed in it.

use super::caster_changes::CasterChanges;
use super::culling::planes;
use super::draw_plan::{DrawPlans, ShadowMap, quality_of};
use super::draw_resources::DrawResources;
use super::lights::{ViewLights, is_perspective};
use super::retained_scene::{RetainedScene, state};
use super::shadow_atlas::{AtlasLimits, ShadowAtlas};
use crate::RenderQuality;
use engine_foundation::Vec3;
use engine_frame_packet::FramePacket;
use engine_frame_packet::scene::{SHADOWED_LIGHTS_MAX, is_in_range};
use std::collections::BTreeMap;

/// Returns a message if some of a frame's lights have no shadows because there are too many.
fn shadow_limit_message(dropped: usize) -> Option<String> {
    (dropped > 0).then(|| {
        format!(
            "{dropped} lamps and spots cast no shadows, because more than {SHADOWED_LIGHTS_MAX} of \
             them should (SHADOWED_LIGHTS_MAX), or because their shadow maps do not fit into \
             render.shadow_atlas_texels: disable casts_shadows on others"
        )
    })
}

/// A view with lamps and spots that cast shadows, which chooses the levels of detail of all views
/// that share its shadow maps.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ShadowViewer {
    eye: Vec3,
    is_perspective: bool,
}

impl ShadowViewer {
    /// Returns true if it shows a draw with a range of distances.
    fn shows(&self, scene: &RetainedScene, slot: usize) -> bool {
        let distance = scene.spheres.center(slot).distance_squared(self.eye);
        is_in_range(scene.ranges[slot], self.is_perspective.then_some(distance))
    }
}

impl DrawPlans {
    /// Plans the shadow maps of omni and spot lights, for all views together. `views` are the index
    /// of each view with a scene, and the number of the scene.
    pub(super) fn lamp_shadows(
        &mut self,
        library: &mut DrawResources,
        scenes: &BTreeMap<u64, RetainedScene>,
        packet: &FramePacket,
        quality: &RenderQuality,
        (views, chosen): (&[(usize, u64)], &mut [ViewLights]),
    ) {
        let key_of = |(index, number): (usize, u64)| (number, packet.views[index].layers);
        let mut requests = std::mem::take(&mut self.requests);
        requests.clear();
        let has_shadows = |(index, _): &(usize, u64)| {
            quality_of(packet, &packet.views[*index], quality).spot_texels > 0
        };
        for (chosen, view) in chosen.iter().zip(views).filter(|(_, view)| has_shadows(view)) {
            chosen.request_shadows(key_of(*view), quality.spot_texels, &mut requests);
        }
        let mut atlas = std::mem::take(&mut self.atlas);
        atlas.retain(|key| scenes.get(&key.scene).is_some_and(|scene| scene.lights.has_shadows));
        for (number, scene) in scenes.iter().filter(|(_, scene)| !scene.caster_changes.is_empty()) {
            atlas.mark_stale(*number, None, scene.caster_changes.spheres());
        }
        if !atlas.is_empty() || !requests.is_empty() {
            let viewers = views.iter().filter(|view| has_shadows(view));
            self.follow_viewers(&mut atlas, scenes, packet, viewers);
        }
        let atlas_side = match self.atlas_side_max {
            0 => quality.shadow_atlas_texels,
            most => quality.shadow_atlas_texels.min(most),
        };
        let (tile_side, tiles_drawn) = (quality.spot_texels, quality.shadow_tiles_per_frame);
        atlas.plan(AtlasLimits { atlas_side, tile_side, tiles_drawn }, &mut requests);
        self.light_limit_message = shadow_limit_message(atlas.dropped);
        for draw in &atlas.draws {
            let key = (draw.key.scene, draw.key.layers);
            let is_of_key = |view: &&(usize, u64)| key_of(**view) == key && has_shadows(view);
            let Some(view) = views.iter().find(is_of_key) else { continue };
            let map = match draw.is_omni {
                true => ShadowMap::Omni(draw.rectangle, draw.face as u32),
                false => ShadowMap::Spot(draw.rectangle),
            };
            let view = (view.0, view.1, &packet.views[view.0]);
            let around = planes(&draw.to_clip);
            self.shadow(library, &scenes[&key.0], view, map, &draw.to_clip, &around);
        }
        self.atlas_draws = 0..self.shadows.len();
        for (chosen, view) in chosen.iter_mut().zip(views) {
            let shown = Some(&atlas).filter(|_| has_shadows(view));
            let filter = quality.shadow_filter;
            chosen.set_shadows(key_of(*view), shown, filter, &mut self.lights.tiles);
        }
        (self.atlas, self.requests) = (atlas, requests);
    }

    /// Marks the shadow maps in which the levels of detail change, because the view that chooses
    /// them has moved. It is the first view of a scene with the same groups.
    fn follow_viewers<'a>(
        &mut self,
        atlas: &mut ShadowAtlas,
        scenes: &BTreeMap<u64, RetainedScene>,
        packet: &FramePacket,
        views: impl Iterator<Item = &'a (usize, u64)>,
    ) {
        let known = std::mem::take(&mut self.viewers);
        for (index, number) in views {
            let (view, scene) = (&packet.views[*index], &scenes[number]);
            let key = (*number, view.layers);
            if self.viewers.contains_key(&key) {
                continue;
            }
            let (eye, is_perspective) = (view.camera.position, is_perspective(&view.camera));
            let viewer = ShadowViewer { eye, is_perspective };
            self.viewers.insert(key, viewer);
            if scene.ranges.is_empty() || known.get(&key) == Some(&viewer) {
                continue;
            }
            let mut changes = CasterChanges::default();
            for slot in 0..scene.ranges.len() {
                let ranged = state::RANGED | state::CASTS_SHADOW;
                let is_ranged = scene.states[slot] & ranged == ranged;
                let changes_level =
                    |known: &ShadowViewer| known.shows(scene, slot) != viewer.shows(scene, slot);
                if is_ranged && known.get(&key).is_none_or(changes_level) {
                    changes.add(scene.spheres.get(slot));
                }
            }
            if !changes.is_empty() {
                atlas.mark_stale(*number, Some(view.layers), changes.spheres());
            }
        }
    }
}
