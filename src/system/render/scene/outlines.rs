//! The plan of the outlines of a view: the visible draws that have one, in draw calls of their own,
//! and the different outlines. Draws nothing. Scenes without outlines cost nothing.

use super::draw_plan::{InstancedDraw, items};
use super::draw_resources::{NONE, SURFACE_INDEX_BITS};
use super::retained_scene::RetainedScene;
use engine_foundation::{Mat4, Vec3};
use engine_frame_packet::outline::{OUTLINE_STYLES_MAX, OUTLINE_WIDTH_MAX, OutlineStyle};
use std::ops::Range;

/// The bit of an instance whose outline is shown through what hides it. The bits below it, from
/// [`SURFACE_INDEX_BITS`] on, are the number of the outline, from 1. The same as in
/// forward/outline_shapes.wgsl.
const THROUGH_BIT: u32 = 1 << 31;
const _: () = assert!(OUTLINE_STYLES_MAX < 1 << (31 - SURFACE_INDEX_BITS));

/// The outlines of a view.
#[derive(Clone, PartialEq, Debug)]
pub struct OutlinePlan {
    /// Range in [`super::DrawPlans::groups`].
    pub groups: Range<usize>,
    /// The different outlines, whose numbers count from 1.
    pub styles: Vec<OutlineStyle>,
    /// The part of the view that the shapes can cover: left, top, right and bottom, from 0 to 1.
    pub rectangle: [f32; 4],
    /// Number of draws without an outline, because there are too many different ones.
    pub dropped: u32,
}

/// Plans the outlines of the visible draws of a view; `None`: there are none. Appends their
/// instances and draw calls.
pub fn plan(
    scene: &RetainedScene,
    visible: &[u32],
    to_clip: &Mat4,
    instances: &mut Vec<[u32; 2]>,
    groups: &mut Vec<InstancedDraw>,
) -> Option<OutlinePlan> {
    if scene.outlines.is_empty() {
        return None;
    }
    let mut styles: Vec<OutlineStyle> = Vec::new();
    let mut found: Vec<(u32, [u32; 2])> = Vec::new();
    let (mut rectangle, mut dropped) = ([1.0f32, 1.0, 0.0, 0.0], 0);
    for (slot, style) in visible_outlines(scene, visible) {
        let known = styles.iter().position(|other| *other == style);
        let number = known.unwrap_or(styles.len());
        if number >= OUTLINE_STYLES_MAX {
            dropped += 1;
            continue;
        }
        if known.is_none() {
            styles.push(style);
        }
        let through = if style.through { THROUGH_BIT } else { 0 };
        let word = (number as u32 + 1) << SURFACE_INDEX_BITS | through;
        let index_bits = (1 << SURFACE_INDEX_BITS) - 1;
        // A mesh without triangles has a part without a batch.
        for item in items(scene, slot).filter(|item| item.batch != NONE) {
            found.push((item.batch, [slot, item.surface & index_bits | word]));
        }
        let (center, radius) = scene.spheres.get(slot as usize);
        rectangle = united(rectangle, covered(to_clip, center, radius));
    }
    if found.is_empty() {
        return None;
    }
    found.sort_unstable();
    let begin = groups.len();
    for same in found.chunk_by(|a, b| a.0 == b.0) {
        let (batch, first, count) = (same[0].0, instances.len() as u32, same.len() as u32);
        instances.extend(same.iter().map(|(_, instance)| *instance));
        groups.push(InstancedDraw { batch, first, count });
    }
    Some(OutlinePlan { groups: begin..groups.len(), styles, rectangle, dropped })
}

/// Returns the outlines of visible draws, in ascending order of the draws, as `visible` is. Few
/// draws have an outline, so each of them is looked for among the visible ones.
fn visible_outlines(scene: &RetainedScene, visible: &[u32]) -> Vec<(u32, OutlineStyle)> {
    let shown = scene.outlines.iter().filter(|(_, style)| style.width > 0.0);
    let mut found: Vec<(u32, OutlineStyle)> = shown
        .filter(|(slot, _)| visible.binary_search(slot).is_ok())
        .map(|(slot, style)| (*slot, *style))
        .collect();
    found.sort_unstable_by_key(|(slot, _)| *slot);
    found
}

/// Returns the smallest rectangle around two others.
fn united(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
    [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])]
}

/// Returns a rectangle of the view around a sphere: the whole view if a part of it is behind the
/// camera.
fn covered(to_clip: &Mat4, center: Vec3, radius: f32) -> [f32; 4] {
    let mut rectangle = [1.0f32, 1.0, 0.0, 0.0];
    for corner in 0..8 {
        let sign = |bit: u32| if corner >> bit & 1 == 0 { -radius } else { radius };
        let at = center + Vec3::new(sign(0), sign(1), sign(2));
        let clip = *to_clip * at.extend(1.0);
        if clip.w <= 1e-3 || !clip.is_finite() {
            return [0.0, 0.0, 1.0, 1.0];
        }
        let (x, y) = (clip.x / clip.w * 0.5 + 0.5, 0.5 - clip.y / clip.w * 0.5);
        rectangle = united(rectangle, [x, y, x, y].map(|part| part.clamp(0.0, 1.0)));
    }
    rectangle
}

/// Returns the width of an outline in pixels of a view with a scale.
pub fn pixel_width(style: &OutlineStyle, scale: f32) -> f32 {
    (style.width.min(OUTLINE_WIDTH_MAX) * scale.max(1.0)).min(2.0 * OUTLINE_WIDTH_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::projections::perspective;
    use engine_foundation::views::look_to_mat4;

    fn to_clip() -> Mat4 {
        perspective(1.0, 1.6, 0.1, 300.0) * look_to_mat4(Vec3::ZERO, Vec3::Y, Vec3::Z)
    }

    #[test]
    fn a_sphere_covers_a_rectangle_around_it() {
        let [left, top, right, bottom] = covered(&to_clip(), Vec3::new(0.0, 10.0, 0.0), 1.0);
        assert!((left + right - 1.0).abs() < 1e-5 && (top + bottom - 1.0).abs() < 1e-5);
        assert!(right - left > 0.1 && right - left < 0.3, "{left} {right}");
        let whole = [0.0, 0.0, 1.0, 1.0];
        assert_eq!(covered(&to_clip(), Vec3::ZERO, 1.0), whole);
        assert_eq!(covered(&to_clip(), Vec3::splat(f32::MAX), f32::MAX), whole);
    }

    #[test]
    fn the_shaders_know_the_bits_and_the_number_of_styles() {
        let shapes = include_str!("../forward/outline_shapes.wgsl");
        assert!(shapes.contains(&format!("const THROUGH_BIT: u32 = {THROUGH_BIT:#x}u;")));
        let rings = include_str!("../forward/outlines.wgsl");
        assert!(rings.contains(&format!("const STYLES_MAX: u32 = {OUTLINE_STYLES_MAX}u;")));
    }

    #[test]
    fn widths_follow_the_scale_and_have_a_limit() {
        let style = |width| OutlineStyle { color: [255; 4], width, through: false };
        assert_eq!(pixel_width(&style(3.0), 1.0), 3.0);
        assert_eq!(pixel_width(&style(3.0), 2.0), 6.0);
        assert_eq!(pixel_width(&style(f32::INFINITY), 9.0), 64.0);
        assert_eq!(pixel_width(&style(3.0), f32::NAN), 3.0);
    }
}
