//! Tests that meshes which are skinned once, before all passes, look as if each pass skins them.

use super::forward::view;
use super::screen_space::{EVERYTHING, largest_difference, renderer_with, views_only, with};
use super::skins::{BLOB, PILLAR, bent, bent_pillars, blob, builder, morph_targets, pillar};
use super::skins::{pose, stand};
use super::surface_functions::{BOTH, WAVES, material, with_functions};
use super::{HEIGHT, QUALITY, WIDTH, draw};
use engine::foundation::Vec3;
use engine::frame_packet::deformation::MeshSkin;
use engine::frame_packet::mesh::{MeshChange, MeshSlot, MeshVertex, SurfaceSlot};
use engine::frame_packet::outline::OutlineStyle;
use engine::frame_packet::scene::{
    DrawChange, DrawMesh, DrawSlot, DrawTransform, LightFrame, LightKind, SceneFrame,
};
use engine::frame_packet::{FramePacket, ViewTarget};
use engine::system::render::{RenderQuality, RenderedImage, Renderer};
use std::sync::Arc;

const IN_PASSES: RenderQuality = RenderQuality { pre_skinning_passes: Some(0), ..QUALITY };
const ONCE: RenderQuality = RenderQuality { pre_skinning_passes: Some(1), ..QUALITY };

fn pre_skinned(renderer: &Renderer) -> u32 {
    renderer.statistics().scene.pre_skinned_draws
}

/// Draws packets in both ways. The last picture must be the same, and `count` draws of its frame
/// must be pre-skinned.
#[track_caller]
fn check(packets: impl Fn() -> Vec<FramePacket>, count: u32) {
    let draw_with = |quality| {
        let mut renderer = renderer_with(quality, (WIDTH, HEIGHT))?;
        let image = draw(&mut renderer, packets(), ViewTarget::Screen);
        Some((image, pre_skinned(&renderer)))
    };
    let Some((in_passes, none)) = draw_with(IN_PASSES) else { return };
    let (once, found) = draw_with(ONCE).expect("there is an adapter");
    assert_eq!((none, found), (0, count));
    assert_eq!(largest_difference(&in_passes, &once), 0);
}

#[test]
fn pre_skinned_pillars_with_custom_shaders_look_the_same() {
    check(|| vec![bent_pillars()], 5);
}

#[test]
fn pre_skinned_morph_targets_look_the_same() {
    check(|| vec![morph_targets()], 3);
}

/// Returns two pillars whose vertices a material moves, and which cut holes into it.
fn waving_pillars() -> FramePacket {
    let mut builder = builder();
    builder.packet.seconds = 0.7;
    builder.packet.materials = vec![material(9, (WAVES, BOTH), 0, &[])];
    let waves = builder.surface(with_functions(9, BOTH));
    for (x, angle) in [(-1.0, 0.6), (1.0, -0.9)] {
        let slot = stand(&mut builder, PILLAR, waves, x);
        pose(&mut builder.frame, slot, &pillar(), &bent(angle));
    }
    let slot = stand(&mut builder, BLOB, waves, 2.6);
    builder.frame.add_morph(slot, &[0.6, 0.4]);
    builder.build(vec![view(Vec3::new(0.0, -6.0, 3.0), Vec3::new(0.0, 0.2, 0.7))])
}

#[test]
fn pre_skinned_meshes_with_vertex_offsets_look_the_same() {
    check(|| vec![waving_pillars()], 3);
}

/// Returns pillars with outlines in two views with all screen-space effects, in the light of a sun
/// and of a lamp with shadows.
fn all_passes() -> FramePacket {
    let mut packet = bent_pillars();
    let style = OutlineStyle { color: [255, 190, 0, 255], width: 3.0, through: false };
    for change in &mut packet.scenes[0].changes {
        if let DrawChange::Set(draw) = change {
            draw.outline = Some(style);
        }
    }
    let position = Vec3::new(0.0, -1.5, 2.5);
    let kind = LightKind::Omni { position, range: 8.0, casts_shadows: true };
    let lamp = LightFrame { kind, color: [4.0, 3.0, 2.0], ..LightFrame::DEFAULT };
    packet.scenes[0].lights.push(lamp);
    let mut right = packet.views[0].clone();
    packet.views[0].rectangle = [0.0, 0.0, 0.5, 1.0];
    right.rectangle = [0.5, 0.0, 0.5, 1.0];
    right.clear = None;
    packet.views.push(right);
    with(packet, EVERYTHING)
}

#[test]
fn all_passes_read_the_same_pre_skinned_vertices() {
    // The pillars move, so that they have motion vectors.
    let frames = || {
        let mut all = vec![all_passes()];
        for step in 0..4 {
            let mut next = views_only(all_passes());
            let mut frame = SceneFrame { scene: 1, ..SceneFrame::default() };
            for slot in 2..4 {
                pose(&mut frame, DrawSlot(slot), &pillar(), &bent(0.2 + step as f32 * 0.1));
            }
            next.scenes.push(frame);
            all.push(next);
        }
        all
    };
    check(frames, 5);
}

#[test]
fn only_draws_of_enough_passes_are_pre_skinned() {
    // Three shadow maps of the sun, of which at least one shows the pillars, and the view.
    for (passes, is_some) in [(0, false), (1, true), (2, true), (5, false), (u32::MAX, false)] {
        let quality = RenderQuality { pre_skinning_passes: Some(passes), ..QUALITY };
        let Some(mut renderer) = renderer_with(quality, (WIDTH, HEIGHT)) else { return };
        draw(&mut renderer, vec![bent_pillars()], ViewTarget::Screen);
        assert_eq!(pre_skinned(&renderer) > 0, is_some, "{passes}");
    }
    let no_shadows = RenderQuality { shadow_texels: 0, pre_skinning_passes: Some(2), ..QUALITY };
    let mut renderer = renderer_with(no_shadows, (WIDTH, HEIGHT)).expect("there is an adapter");
    draw(&mut renderer, vec![bent_pillars()], ViewTarget::Screen);
    assert_eq!(pre_skinned(&renderer), 0);
    // A frame that draws nothing skins nothing.
    renderer.set_quality(ONCE);
    draw(&mut renderer, vec![views_only(bent_pillars())], ViewTarget::Screen);
    assert_eq!(pre_skinned(&renderer), 5);
    renderer.submit(FramePacket::default());
    assert_eq!(pre_skinned(&renderer), 0);
}

#[test]
fn pre_skinned_draws_follow_all_changes() {
    let (pillar, blob) = (pillar(), blob());
    let changed = |edit: &dyn Fn(&mut SceneFrame)| {
        let mut packet = views_only(bent_pillars());
        let mut frame = SceneFrame { scene: 1, ..SceneFrame::default() };
        edit(&mut frame);
        packet.scenes.push(frame);
        packet
    };
    let set = |mesh, x: f32| DrawMesh {
        slot: DrawSlot(3),
        mesh,
        pose: DrawTransform::at(Vec3::new(x, 0.0, 0.0)),
        ..DrawMesh::DEFAULT
    };
    let steps: [&dyn Fn(&mut SceneFrame); 8] = [
        &|frame| pose(frame, DrawSlot(2), &pillar, &bent(-1.2)),
        &|frame| frame.changes.push(DrawChange::End(DrawSlot(2))),
        &|frame| frame.changes.push(DrawChange::Set(set(BLOB, 1.0))),
        &|frame| frame.add_morph(DrawSlot(3), &[1.0, 0.5]),
        &|frame| frame.add_morph(DrawSlot(3), &[0.0, 0.0]),
        &|frame| frame.changes.push(DrawChange::Set(set(PILLAR, -1.0))),
        &|frame| pose(frame, DrawSlot(3), &pillar, &bent(0.8)),
        &|_| {},
    ];
    assert!(blob.morph.is_some());
    let both = [IN_PASSES, ONCE].map(|quality| renderer_with(quality, (WIDTH, HEIGHT)));
    let [Some(mut in_passes), Some(mut once)] = both else { return };
    in_passes.submit(bent_pillars());
    once.submit(bent_pillars());
    let mut last: Option<RenderedImage> = None;
    for (number, step) in steps.into_iter().enumerate() {
        let [wanted, found] = [&mut in_passes, &mut once]
            .map(|renderer| draw(renderer, vec![changed(step)], ViewTarget::Screen));
        assert_eq!(largest_difference(&wanted, &found), 0, "{number}");
        let is_new = last.replace(wanted).is_none_or(|last| last != found);
        assert_eq!(is_new, number < 7, "{number}");
    }
    assert_eq!(pre_skinned(&once), 4, "one has ended");
    once.lose_device();
    once.submit(views_only(bent_pillars()));
    once.events();
    let found = draw(&mut once, vec![changed(&|_| {})], ViewTarget::Screen);
    assert!(last.expect("it was drawn") == found);
}

#[test]
fn draws_beyond_the_memory_limit_are_skinned_in_their_passes() {
    let mut large = pillar();
    // Without triangles.
    let vertices = MeshVertex::default();
    let count = 800_000 - large.vertices.len();
    let skin = large.skin.take().expect("it has joints");
    large.vertices.extend(std::iter::repeat_n(vertices, count));
    let own = |at: usize| {
        let at = at.min(skin.joints.len() - 1);
        (skin.joints[at], skin.weights[at].map(|weight| f32::from(weight) / 65535.0))
    };
    let (joints, weights): (Vec<_>, Vec<_>) = (0..large.vertices.len()).map(own).unzip();
    large.skin = Some(Arc::new(MeshSkin::new(&large.vertices, &joints, &weights)));
    let large = Arc::new(large);
    let scene = || {
        let mut builder = builder();
        let (slot, mesh) = (MeshSlot(25), Arc::clone(&large));
        builder.packet.meshes.push(MeshChange::Set { slot, mesh });
        for (x, angle) in [(-1.0, 0.6), (1.0, -0.9)] {
            let slot = stand(&mut builder, MeshSlot(25), SurfaceSlot::DEFAULT, x);
            pose(&mut builder.frame, slot, &large, &bent(angle));
        }
        builder.build(vec![view(Vec3::new(0.0, -6.0, 3.0), Vec3::new(0.0, 0.2, 0.7))])
    };
    // 800,000 vertices take 38 MB, and PRE_SKINNED_BYTES_MAX is 67 MB.
    check(|| vec![scene()], 1);
}
