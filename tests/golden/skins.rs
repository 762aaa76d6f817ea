//! Golden scenes of meshes that change their shape: palettes of joints and morph targets, with
//! their shadows; and tests of poses that are kept, replaced, shared by a draw call, or invalid.

use super::forward::{SceneBuilder, sun, view};
use super::meshes::{self, SPHERE};
use super::scenes::{SMOOTH, chessboard};
use super::world_materials::{DISC, material};
use super::worlds::{WAVES, shader};
use super::{draw, renderer};
use engine::foundation::{Mat4, Vec3};
use engine::frame_packet::deformation::{MeshMorph, MeshSkin};
use engine::frame_packet::material::BlendMode;
use engine::frame_packet::mesh::{
    MeshChange, MeshFrame, MeshSlot, MeshVertex, SurfaceAlphaMode, SurfaceFrame, SurfaceSlot,
};
use engine::frame_packet::scene::{DrawChange, DrawMesh, DrawSlot, DrawTransform, SceneFrame};
use engine::frame_packet::texture::{TextureChange, TextureSlot};
use engine::frame_packet::{FramePacket, ViewTarget};
use engine::system::render::RendererEvent;
use std::f32::consts::TAU;
use std::sync::Arc;

/// A pillar of two metres with a joint at half its height.
pub const PILLAR: MeshSlot = MeshSlot(20);
/// A sphere with a morph target that pulls its upper half up, and one that makes it wide.
pub const BLOB: MeshSlot = MeshSlot(21);
/// The pillar with a morph target that makes its middle thick.
const BULGE: MeshSlot = MeshSlot(22);

const AROUND: u32 = 24;
const ALONG: u32 = 24;
const HEIGHT: f32 = 2.0;

/// Returns an upright cylinder from 0 to [`HEIGHT`] with a radius of 0.22 metres, without a bottom.
fn cylinder() -> (Vec<MeshVertex>, Vec<u32>) {
    let (mut vertices, mut indices) = (Vec::new(), Vec::new());
    let mut add = |position: Vec3, normal: Vec3, tangent: Vec3, uv: [f32; 2]| {
        vertices.push(MeshVertex {
            position: position.to_array(),
            normal: MeshVertex::packed(normal, 0.0),
            tangent: MeshVertex::packed(tangent, 1.0),
            uv,
            color: [255; 4],
        });
    };
    for row in 0..=ALONG {
        for step in 0..=AROUND {
            let part = step as f32 / AROUND as f32;
            let (s, c) = (part * TAU).sin_cos();
            let (out, height) = (Vec3::new(c, s, 0.0), row as f32 / ALONG as f32);
            let uv = [part * 2.0, 1.0 - height];
            add(out * 0.22 + Vec3::Z * height * HEIGHT, out, Vec3::new(-s, c, 0.0), uv);
        }
    }
    let top = (ALONG + 1) * (AROUND + 1);
    add(Vec3::Z * HEIGHT, Vec3::Z, Vec3::X, [0.5, 0.5]);
    for step in 0..=AROUND {
        let (s, c) = (step as f32 / AROUND as f32 * TAU).sin_cos();
        add(
            Vec3::new(c * 0.22, s * 0.22, HEIGHT),
            Vec3::Z,
            Vec3::X,
            [c * 0.5 + 0.5, s * 0.5 + 0.5],
        );
    }
    for step in 0..AROUND {
        for row in 0..ALONG {
            let (a, b) = (row * (AROUND + 1) + step, (row + 1) * (AROUND + 1) + step);
            indices.extend([a, a + 1, b, b, a + 1, b + 1]);
        }
        indices.extend([top, top + 1 + step, top + 2 + step]);
    }
    (vertices, indices)
}

pub fn pillar() -> MeshFrame {
    let (vertices, indices) = cylinder();
    let weights = |vertex: &MeshVertex| {
        let upper = ((vertex.position[2] - 0.7) / 0.6).clamp(0.0, 1.0);
        let upper = upper * upper * (3.0 - 2.0 * upper);
        // Importers meet any sum of weights.
        [2.0 * upper, 2.0 - 2.0 * upper, 0.0, 0.0]
    };
    let weights: Vec<[f32; 4]> = vertices.iter().map(weights).collect();
    let joints = vec![[1, 0, 0, 0]; vertices.len()];
    let skin = MeshSkin::new(&vertices, &joints, &weights);
    let mesh = MeshFrame::of_one_part("pillar".to_string(), vertices, indices);
    MeshFrame { skin: Some(Arc::new(skin)), ..mesh }
}

/// Returns the offset of each vertex, which depends on its position.
fn target(vertices: &[MeshVertex], offset: impl Fn(Vec3) -> Vec3) -> Vec<[f32; 3]> {
    let of = |vertex: &MeshVertex| offset(Vec3::from_array(vertex.position)).to_array();
    vertices.iter().map(of).collect()
}

fn bulge() -> MeshFrame {
    let mut mesh = pillar();
    let thick = target(&mesh.vertices, |at| {
        let near = (1.0 - (at.z - 1.0).abs() / 0.5).max(0.0);
        Vec3::new(at.x, at.y, 0.0) * near * near * 2.0
    });
    let morph = MeshMorph::new(&mesh.vertices, &mesh.indices, &[thick]).expect("one target");
    mesh.morph = Some(Arc::new(morph));
    mesh
}

pub fn blob() -> MeshFrame {
    let mut mesh = meshes::sphere(24);
    let high = target(&mesh.vertices, |at| Vec3::Z * (at.z.max(0.0) * at.z.max(0.0) * 1.2));
    let wide = target(&mesh.vertices, |at| Vec3::X * at.x * 0.8);
    let targets = [high, wide];
    let morph = MeshMorph::new(&mesh.vertices, &mesh.indices, &targets).expect("two targets");
    mesh.morph = Some(Arc::new(morph));
    mesh
}

/// Returns the palette of a pillar that is bent to the right by an angle in radians.
pub fn bent(angle: f32) -> [DrawTransform; 2] {
    let middle = Vec3::Z;
    let upper = Mat4::from_translation(middle)
        * Mat4::from_rotation_y(angle)
        * Mat4::from_translation(-middle);
    [DrawTransform::IDENTITY, DrawTransform::of(&upper)]
}

/// Adds a pose of a draw, with its bounds.
pub fn pose(frame: &mut SceneFrame, slot: DrawSlot, mesh: &MeshFrame, palette: &[DrawTransform]) {
    let skin = mesh.skin.as_ref().expect("it has joints");
    frame.add_palette(slot, skin, palette.len(), |all| {
        all.iter_mut().zip(palette).for_each(|(to, from)| *to = from.0);
    });
}

pub fn builder() -> SceneBuilder {
    let mut builder = SceneBuilder::new();
    for (slot, mesh) in [(PILLAR, pillar()), (BLOB, blob()), (BULGE, bulge())] {
        builder.packet.meshes.push(MeshChange::Set { slot, mesh: Arc::new(mesh) });
    }
    builder.ground();
    builder.light(sun(Vec3::new(0.45, 0.75, -0.9), 1.3));
    builder
}

/// Adds a draw that stands on the ground and returns its slot.
pub fn stand(builder: &mut SceneBuilder, mesh: MeshSlot, surface: SurfaceSlot, x: f32) -> DrawSlot {
    let pose = Mat4::from_translation(Vec3::new(x, 0.0, 0.0));
    builder.add_draw(mesh, surface, pose)
}

/// Returns pillars: in the bind pose, three that are bent (one of them backwards), one that is also
/// thick, one with a game's shader and one with a mask.
pub fn bent_pillars() -> FramePacket {
    let mut builder = builder();
    builder.packet.seconds = 1.0;
    let texels = chessboard(16, 1, SMOOTH);
    builder.packet.textures = vec![TextureChange::Set { slot: TextureSlot(1), texels }];
    let (waves, disc) = (shader("waves", WAVES, 1, 32), shader("disc", DISC, 0, 0));
    builder.packet.materials = vec![
        material(9, Some(&waves), BlendMode::Alpha),
        material(12, Some(&disc), BlendMode::Alpha),
    ];
    let painted = |slot, alpha| SurfaceFrame {
        base_color_texture: Some((TextureSlot(1), SMOOTH)),
        alpha,
        double_sided: true,
        custom_material: Some(engine::frame_packet::material::MaterialSlot(slot)),
        ..SurfaceFrame::DEFAULT
    };
    let red = builder.matte([0.7, 0.2, 0.15]);
    let waves = builder.surface(painted(9, SurfaceAlphaMode::Blend));
    let disc = builder.surface(painted(12, SurfaceAlphaMode::Mask(0.5)));
    let pillar = pillar();
    stand(&mut builder, PILLAR, red, -2.9);
    let angles = [(PILLAR, red, 1.0), (PILLAR, red, -0.6), (BULGE, red, 0.5)];
    let custom = [(PILLAR, waves, 0.9), (PILLAR, disc, 0.7)];
    for (at, (mesh, surface, angle)) in angles.into_iter().chain(custom).enumerate() {
        let x = [-2.2, -0.35, 0.75, 1.8, 2.9][at];
        let slot = stand(&mut builder, mesh, surface, x);
        pose(&mut builder.frame, slot, &pillar, &bent(angle));
        if mesh == BULGE {
            builder.frame.add_morph(slot, &[1.0]);
        }
    }
    builder.build(vec![view(Vec3::new(0.3, -6.6, 3.2), Vec3::new(0.2, 0.3, 0.7))])
}

/// Returns spheres with the weights 0, 0.5 and 1 of a morph target, and with two targets.
pub fn morph_targets() -> FramePacket {
    let mut builder = builder();
    let blue = builder.matte([0.15, 0.3, 0.7]);
    for (at, weights) in [&[][..], &[0.5], &[1.0], &[0.7, 1.0]].into_iter().enumerate() {
        let shift = Vec3::new(at as f32 * 1.5 - 2.3, 0.0, 0.5);
        let pose = Mat4::from_translation(shift) * Mat4::from_scale(Vec3::splat(0.5));
        let slot = builder.add_draw(BLOB, blue, pose);
        builder.frame.add_morph(slot, weights);
    }
    builder.build(vec![view(Vec3::new(0.0, -6.0, 2.6), Vec3::new(0.0, 0.2, 0.5))])
}

/// Returns a packet's views without its changes.
fn views_only(packet: FramePacket) -> FramePacket {
    FramePacket { views: packet.views, scale: 1.0, seconds: packet.seconds, ..Default::default() }
}

#[test]
fn bent_pillars_with_their_shadows() {
    super::check("skins", vec![bent_pillars()]);
}

#[test]
fn spheres_with_morph_targets() {
    super::check("morph_targets", vec![morph_targets()]);
}

#[test]
fn poses_survive_additions_and_a_lost_device() {
    let Some(mut renderer) = renderer(false) else { return };
    for scene in [bent_pillars, morph_targets] {
        let before = draw(&mut renderer, vec![scene()], ViewTarget::Screen);
        // Behind the camera: as many poses and morph targets that all buffers grow.
        let mut more = views_only(scene());
        let mut frame = SceneFrame { scene: 1, ..SceneFrame::default() };
        let (pillar, behind) = (pillar(), DrawTransform::at(Vec3::new(0.0, -60.0, 0.0)));
        for slot in (100..900).map(DrawSlot) {
            let draw = DrawMesh { slot, mesh: PILLAR, pose: behind, ..DrawMesh::DEFAULT };
            frame.changes.push(DrawChange::Set(draw));
            pose(&mut frame, slot, &pillar, &bent(0.3));
        }
        more.scenes.push(frame);
        let blob = Arc::new(blob());
        let set = |slot| MeshChange::Set { slot: MeshSlot(slot), mesh: Arc::clone(&blob) };
        more.meshes = (30..40).map(set).collect();
        assert!(before == draw(&mut renderer, vec![more], ViewTarget::Screen));
        assert!(before == draw(&mut renderer, vec![views_only(scene())], ViewTarget::Screen));
        assert!(renderer.statistics().scene.skinned_draws > 800);
        renderer.lose_device();
        renderer.submit(views_only(scene()));
        let events = renderer.events();
        assert!(matches!(events[..], [RendererEvent::DeviceRecovered { .. }]), "{events:?}");
        assert!(before == draw(&mut renderer, vec![views_only(scene())], ViewTarget::Screen));
        renderer.submit(FramePacket { ended_scenes: vec![1], ..FramePacket::default() });
        assert_eq!(renderer.statistics().scene.skinned_draws, 0);
    }
}

/// Returns two pillars in one view, with these palettes.
fn two_pillars(palettes: [&[DrawTransform]; 2]) -> FramePacket {
    let mut builder = builder();
    let red = builder.matte([0.7, 0.2, 0.15]);
    for (palette, x) in palettes.into_iter().zip([-1.0, 1.0]) {
        let slot = stand(&mut builder, PILLAR, red, x);
        let bounds = pillar().skin.expect("it has joints").bounds(palette);
        builder.frame.add_skin(slot, palette.len(), bounds).copy_from_slice(palette);
    }
    builder.build(vec![view(Vec3::new(0.0, -6.0, 3.0), Vec3::new(0.0, 0.2, 0.7))])
}

#[test]
fn characters_with_different_poses_share_a_draw_call() {
    let Some(mut renderer) = renderer(false) else { return };
    renderer.submit(two_pillars([&bent(0.5), &bent(-0.9)]));
    let scene = renderer.statistics().scene;
    // The ground, and both pillars.
    assert_eq!((scene.draw_calls, scene.visible, scene.skinned_draws), (2, 3, 2));
    assert_eq!(scene.palette_bytes, 2 * (1 + 2 * 3) * 16);
    renderer.submit(views_only(two_pillars([&[], &[]])));
    assert_eq!(renderer.statistics().scene.palette_bytes, 0);
}

#[test]
fn invalid_palettes_are_drawn_in_the_bind_pose() {
    let Some(mut renderer) = renderer(false) else { return };
    let rest = draw(&mut renderer, vec![two_pillars([&[], &[]])], ViewTarget::Screen);
    let end = || FramePacket { ended_scenes: vec![1], ..FramePacket::default() };
    // A palette of one matrix leaves the upper joint where it is; further matrices are ignored.
    let many = [[DrawTransform::IDENTITY; 2], bent(1.0)].concat();
    for palette in [&bent(1.0)[..1], &many[..]] {
        renderer.submit(end());
        let packet = two_pillars([palette, &[]]);
        assert!(rest == draw(&mut renderer, vec![packet], ViewTarget::Screen));
    }
    let mut broken = bent(1.0);
    broken[1].0[1][3] = f32::NAN;
    renderer.submit(two_pillars([&bent(0.4), &broken]));
    renderer.submit(two_pillars([&broken, &[]]));
    let events = renderer.events();
    let [RendererEvent::PoseRefused { message }] = &events[..] else { panic!("{events:?}") };
    assert!(message.contains("a pose of 'pillar' has numbers that are not finite"), "{message}");
    let packet = views_only(two_pillars([&[], &[]]));
    assert!(rest == draw(&mut renderer, vec![packet], ViewTarget::Screen));
    // Updates of draws and ranges that do not exist, and of meshes without joints.
    let mut packet = views_only(two_pillars([&[], &[]]));
    let mut frame = SceneFrame { scene: 1, ..SceneFrame::default() };
    pose(&mut frame, DrawSlot(77), &pillar(), &bent(0.5));
    pose(&mut frame, DrawSlot(u32::MAX), &pillar(), &bent(0.5));
    pose(&mut frame, DrawSlot(0), &pillar(), &bent(0.5));
    frame.add_morph(DrawSlot(1), &[1.0]);
    frame.skins.push(engine::frame_packet::scene::SkinUpdate {
        slot: DrawSlot(1),
        first: u32::MAX,
        count: u32::MAX,
        center: Vec3::ZERO,
        radius: 1.0,
        is_finite: false,
    });
    packet.scenes.push(frame);
    assert!(rest == draw(&mut renderer, vec![packet], ViewTarget::Screen));
}

#[test]
fn a_new_mesh_in_a_slot_ends_the_pose() {
    let Some(mut renderer) = renderer(false) else { return };
    let rest = draw(&mut renderer, vec![two_pillars([&[], &[]])], ViewTarget::Screen);
    let bent = draw(&mut renderer, vec![two_pillars([&bent(0.5), &bent(0.5)])], ViewTarget::Screen);
    assert!(rest != bent);
    // The same draw again keeps its pose: only its color, say, has changed.
    let mut again = two_pillars([&[], &[]]);
    again.scenes[0].skins.clear();
    assert!(bent == draw(&mut renderer, vec![again], ViewTarget::Screen));
    let mut other = two_pillars([&[], &[]]);
    other.scenes[0].skins.clear();
    let change = |change: &mut DrawChange| {
        if let DrawChange::Set(draw) = change
            && draw.mesh == PILLAR
        {
            draw.mesh = SPHERE;
        }
    };
    other.scenes[0].changes.iter_mut().for_each(change);
    renderer.submit(other);
    assert_eq!(renderer.statistics().scene.skinned_draws, 0);
    let mut back = two_pillars([&[], &[]]);
    back.scenes[0].skins.clear();
    assert!(rest == draw(&mut renderer, vec![back], ViewTarget::Screen));
}
