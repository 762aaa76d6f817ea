//! Tests of the plan: the draws of a scene, and the number of draw calls.

mod area_lights;
mod lamp_shadows;
mod pre_skinning;

use super::*;
use crate::render_config::built_in;
use bytemuck::Zeroable;
use engine_foundation::{Mat4, Vec3, projections, views};
use engine_frame_packet::deformation::{MeshMorph, MeshSkin};
use engine_frame_packet::material::{BlendMode, MaterialSlot};
use engine_frame_packet::mesh::{
    MeshBounds, MeshChange, MeshFrame, MeshPart, MeshSlot, MeshVertex, SurfaceAlphaMode,
    SurfaceChange, SurfaceFrame, SurfaceShader, SurfaceSlot,
};
use engine_frame_packet::outline::OutlineStyle;
use engine_frame_packet::render_config::{RenderConfigFrame, ViewportSlot};
use engine_frame_packet::scene::{
    DrawChange, DrawMesh, DrawSlot, DrawTransform, LightFrame, LightKind, ParticleBatch,
    ParticleQuad, SceneFrame, flag,
};
use engine_frame_packet::shading_environment::{EnvironmentTextures, ShadingEnvironment};
use engine_frame_packet::texture::TextureSlot;
use engine_frame_packet::{CameraFrame, View, ViewTarget};
use engine_resource::material_data::SurfaceFunctions;
use engine_resource::surface_lobes::SurfaceLobes;
use std::sync::Arc;

/// Returns two triangles of a metre, in one or two parts.
fn mesh(slot: u32, parts: u32) -> MeshChange {
    let vertices = vec![MeshVertex::default(); 4];
    let part = |surface| MeshPart { first: 3 * surface, count: 3, surface };
    let mesh = MeshFrame {
        name: format!("mesh {slot}"),
        bounds: MeshBounds { min: -Vec3::ONE, max: Vec3::ONE, center: Vec3::ZERO, radius: 0.5 },
        vertices,
        indices: vec![0, 1, 2, 0, 2, 3],
        parts: (0..parts).map(part).collect(),
        skin: None,
        morph: None,
    };
    MeshChange::Set { slot: MeshSlot(slot), mesh: Arc::new(mesh) }
}

fn surface(slot: u32, surface: SurfaceFrame) -> SurfaceChange {
    SurfaceChange::Set { slot: SurfaceSlot(slot), surface }
}

fn draw_change(slot: u32, mesh: u32, at: Vec3) -> DrawChange {
    let draw = DrawMesh {
        slot: DrawSlot(slot),
        mesh: MeshSlot(mesh),
        pose: DrawTransform::at(at),
        ..DrawMesh::DEFAULT
    };
    DrawChange::Set(draw)
}

/// Returns a camera at the origin that looks along y.
fn view() -> View {
    View {
        target: ViewTarget::Screen,
        rectangle: [0.0, 0.0, 1.0, 1.0],
        clear: None,
        camera: CameraFrame {
            view: views::look_to_mat4(Vec3::ZERO, Vec3::Y, Vec3::Z),
            projection: projections::perspective(1.0, 1.0, 0.1, 100.0),
            position: Vec3::ZERO,
            near: 0.1,
            far: 100.0,
        },
        scene: Some(1),
        layers: 1,
        sky: None,
        environment: ShadingEnvironment::DEFAULT,
        environment_textures: EnvironmentTextures::default(),
        viewport: None,
        guis: Vec::new(),
    }
}

fn packet(frame: SceneFrame) -> FramePacket {
    let scenes = vec![SceneFrame { scene: 1, ..frame }];
    FramePacket { scenes, views: vec![view()], ..FramePacket::default() }
}

#[track_caller]
fn apply(scenes: &mut RetainedScenes, packet: &FramePacket) -> Vec<SceneDraw> {
    let mut events = Vec::new();
    scenes.apply(packet, &mut events);
    assert!(events.is_empty(), "{events:?}");
    scenes.plan(packet, &RenderQuality::DEFAULT, &mut Vec::new());
    scenes.draws()
}

fn instances(draws: &[SceneDraw], kind: SceneDrawKind) -> u32 {
    draws.iter().filter(|it| it.kind == kind).map(|it| it.instances).sum()
}

#[test]
fn visible_draws_of_one_mesh_are_one_call() {
    let mut scenes = RetainedScenes::default();
    let ahead = |i: u32| Vec3::new(i as f32 * 0.1, 10.0, 0.0);
    let mut changes: Vec<DrawChange> = (0..20).map(|i| draw_change(i, i % 2, ahead(i))).collect();
    changes.push(draw_change(30, 0, Vec3::new(0.0, -10.0, 0.0)));
    changes.push(draw_change(31, 7, ahead(0)));
    let mut first = packet(SceneFrame { changes, ..SceneFrame::default() });
    first.meshes = vec![mesh(0, 1), mesh(1, 2)];
    let draws = apply(&mut scenes, &first);
    let calls: Vec<_> = draws.iter().map(|it| (it.mesh, it.part, it.instances)).collect();
    assert_eq!(calls, [(0, 0, 10), (1, 0, 10), (1, 1, 10)]);
    // An unchanged world need not be sent again, and a mesh that arrives later is drawn then.
    let mut later = packet(SceneFrame::default());
    later.scenes.clear();
    later.meshes = vec![mesh(7, 1)];
    assert_eq!(apply(&mut scenes, &later).len(), 4);
    assert_eq!(scenes.statistics().draws, 22);
    later.meshes = vec![MeshChange::End { slot: MeshSlot(1) }];
    let draws = apply(&mut scenes, &later);
    assert_eq!(draws.iter().map(|it| it.mesh).collect::<Vec<_>>(), [0, 7]);
    later.meshes.clear();
    later.ended_scenes = vec![1];
    assert!(apply(&mut scenes, &later).is_empty());
    assert_eq!(scenes.statistics().draws, 0);
    assert!(scenes.library.order().is_empty(), "an ended scene gives its batches back");
}

#[test]
fn a_mesh_without_triangles_has_no_outline() {
    let mut scenes = RetainedScenes::default();
    let outline = Some(OutlineStyle { color: [255; 4], width: 3.0, through: false });
    let changes = [0, 1].map(|slot| match draw_change(slot, slot, Vec3::new(0.0, 10.0, 0.0)) {
        DrawChange::Set(draw) => DrawChange::Set(DrawMesh { outline, ..draw }),
        other => other,
    });
    let mut first = packet(SceneFrame { changes: changes.to_vec(), ..SceneFrame::default() });
    first.meshes = vec![mesh(0, 1), mesh(1, 0)];
    apply(&mut scenes, &first);
    let plan = scenes.plans.views[0].outlines.as_ref().expect("the other mesh has one");
    let groups = &scenes.plans.groups[plan.groups.clone()];
    assert_eq!(groups.iter().map(|group| group.count).collect::<Vec<_>>(), [1]);
}

#[test]
fn draws_respect_visibility_groups_and_ranges() {
    let mut scenes = RetainedScenes::default();
    let there = Vec3::new(0.0, 10.0, 0.0);
    let mut group = DrawMesh {
        slot: DrawSlot(1),
        layers: 2,
        pose: DrawTransform::at(there),
        ..DrawMesh::DEFAULT
    };
    let mut near = DrawMesh { slot: DrawSlot(2), range: [0.0, 9.0], ..group };
    let mut far = DrawMesh { slot: DrawSlot(3), range: [9.0, 50.0], ..group };
    (near.layers, far.layers, group.flags) = (1, 1, flag::VISIBLE);
    let changes = vec![draw_change(0, 0, there)].into_iter();
    let changes = changes.chain([group, near, far].map(DrawChange::Set)).collect();
    let mut first = packet(SceneFrame { changes, ..SceneFrame::default() });
    first.meshes = vec![mesh(0, 1)];
    assert_eq!(apply(&mut scenes, &first)[0].instances, 2);
    // Lights that share none of a draw's layers leave it out.
    let without = |layers: u32| !layers << SURFACE_INDEX_BITS;
    assert_eq!(scenes.plans.instances, [[0, 0], [3, without(1)]]);
    let mut second = packet(SceneFrame {
        moved: vec![DrawSlot(0), DrawSlot(99)],
        poses: vec![DrawTransform::at(-there), DrawTransform::IDENTITY],
        ..SceneFrame::default()
    });
    second.views[0].layers = 3;
    assert_eq!(apply(&mut scenes, &second)[0].instances, 2);
    assert_eq!(scenes.plans.instances, [[1, without(2)], [3, without(1)]]);
    let changes = vec![DrawChange::End(DrawSlot(3)), DrawChange::End(DrawSlot(3))];
    apply(&mut scenes, &packet(SceneFrame { changes, ..SceneFrame::default() }));
    assert_eq!(scenes.statistics().draws, 3);
    let changes = vec![DrawChange::Reset];
    assert!(
        apply(&mut scenes, &packet(SceneFrame { changes, ..SceneFrame::default() })).is_empty()
    );
    assert_eq!(scenes.statistics().draws, 0);
}

#[test]
fn transparent_draws_and_particles_are_sorted_back_to_front() {
    let mut scenes = RetainedScenes::default();
    let pane = |slot: u32, mesh: u32, y: f32| {
        let DrawChange::Set(draw) = draw_change(slot, mesh, Vec3::new(0.0, y, 0.0)) else {
            unreachable!()
        };
        DrawChange::Set(DrawMesh { surfaces: (0, 1), ..draw })
    };
    let batch = ParticleBatch {
        first: 0,
        count: 3,
        texture: TextureSlot::SHARED,
        blend: BlendMode::Alpha,
        softness: 0.0,
        lit: 0.0,
        distortion: 0.0,
        center: Vec3::new(0.0, 6.0, 0.0),
        radius: 1.0,
        layers: 1,
        order: 0,
    };
    let hidden = ParticleBatch { center: Vec3::new(0.0, -6.0, 0.0), ..batch };
    let frame = SceneFrame {
        changes: vec![pane(0, 0, 4.0), pane(1, 0, 8.0), pane(2, 0, 9.0), pane(3, 1, 7.0)],
        surfaces: vec![SurfaceSlot(1)],
        particle_batches: vec![batch, hidden],
        particles: vec![ParticleQuad::zeroed(); 3],
        ..SceneFrame::default()
    };
    let mut first = packet(frame);
    first.meshes = vec![mesh(0, 1), mesh(1, 1)];
    first.surfaces =
        vec![surface(1, SurfaceFrame { alpha: SurfaceAlphaMode::Blend, ..SurfaceFrame::DEFAULT })];
    let draws = apply(&mut scenes, &first);
    let kinds: Vec<_> = draws.iter().map(|it| (it.kind, it.mesh, it.instances)).collect();
    assert_eq!(
        kinds,
        [
            (SceneDrawKind::Blended, 0, 2),
            (SceneDrawKind::Blended, 1, 1),
            (SceneDrawKind::Particles, 0, 3),
            (SceneDrawKind::Blended, 0, 1),
        ]
    );
    assert_eq!(scenes.plans.instances.iter().map(|it| it[0]).collect::<Vec<_>>(), [2, 1, 3, 0]);
    let frame = SceneFrame {
        particle_batches: vec![ParticleBatch { order: 1, ..batch }],
        particles: vec![ParticleQuad::zeroed(); 3],
        ..SceneFrame::default()
    };
    let draws = apply(&mut scenes, &packet(frame));
    assert_eq!(draws.last().map(|it| it.kind), Some(SceneDrawKind::Particles), "a higher order");
    // Particles last one frame; panes stay.
    assert_eq!(apply(&mut scenes, &packet(SceneFrame::default())).len(), 3);
}

#[test]
fn ordered_draws_follow_their_order_and_merge_equal_depths() {
    let mut scenes = RetainedScenes::default();
    let flat = |slot: u32, mesh: u32, y: f32, order: i32| {
        let at = Vec3::new(slot as f32 * 0.2, y, 0.0);
        let DrawChange::Set(draw) = draw_change(slot, mesh, at) else { unreachable!() };
        let part = [slot as u16, 0, 1, 1];
        let flags = flag::VISIBLE | if slot == 3 { flag::FLIP_Y } else { flag::FLIP_X };
        let order = Some(order);
        DrawChange::Set(DrawMesh { surfaces: (0, 1), part, flags, order, ..draw })
    };
    let changes = vec![
        flat(0, 0, 2.0, -1),
        flat(1, 0, 9.0, 7),
        flat(2, 1, 9.00001, 7),
        flat(3, 0, 8.99999, 7),
        flat(4, 1, 3.0, 7),
    ];
    let surfaces = vec![SurfaceSlot(1)];
    let mut first = packet(SceneFrame { changes, surfaces, ..SceneFrame::default() });
    first.meshes = vec![mesh(0, 1), mesh(1, 1)];
    first.surfaces =
        vec![surface(1, SurfaceFrame { alpha: SurfaceAlphaMode::Blend, ..SurfaceFrame::DEFAULT })];
    let draws = apply(&mut scenes, &first);
    let calls: Vec<_> = draws.iter().map(|it| (it.mesh, it.instances)).collect();
    assert_eq!(calls, [(0, 3), (1, 2)], "the first is on a lower layer, and drawn with the next");
    assert_eq!(scenes.plans.instances.iter().map(|it| it[0]).collect::<Vec<_>>(), [0, 1, 3, 2, 4]);
    let data = &scenes.scenes[&1].data;
    assert_eq!((data[2].part, data[2].flags, data[3].flags), ([2, 0, 1, 1], 1, 2));
    // A draw that ends removes its order.
    let changes = vec![DrawChange::End(DrawSlot(0)), draw_change(0, 0, Vec3::new(0.0, 2.0, 0.0))];
    apply(&mut scenes, &packet(SceneFrame { changes, ..SceneFrame::default() }));
    assert_eq!(scenes.scenes[&1].orders.get(&0), None);
}

#[test]
fn draws_outside_the_view_cast_shadows() {
    let mut scenes = RetainedScenes::default();
    let direction = Vec3::new(0.0, 1.0, -1.0).normalize();
    let sun = LightKind::Sun { direction, casts_shadows: true };
    let spot = LightKind::Spot {
        position: Vec3::new(0.0, 10.0, 5.0),
        direction: Vec3::NEG_Z,
        range: 20.0,
        inner: 0.3,
        outer: 0.5,
        casts_shadows: true,
    };
    let DrawChange::Set(quiet) = draw_change(2, 0, Vec3::new(0.0, 10.0, 0.0)) else {
        unreachable!()
    };
    let frame = SceneFrame {
        changes: vec![
            draw_change(0, 0, Vec3::new(0.0, 10.0, 0.0)),
            // High behind the camera, where the sun is.
            draw_change(1, 0, Vec3::new(0.0, -20.0, 30.0)),
            DrawChange::Set(DrawMesh { flags: flag::VISIBLE, ..quiet }),
        ],
        lights_changed: true,
        lights: [sun, spot].map(|kind| LightFrame { kind, ..LightFrame::DEFAULT }).to_vec(),
        ..SceneFrame::default()
    };
    let mut first = packet(frame);
    first.meshes = vec![mesh(0, 1)];
    let draws = apply(&mut scenes, &first);
    assert_eq!(instances(&draws, SceneDrawKind::Solid), 2);
    assert_eq!(instances(&draws, SceneDrawKind::SpotShadow), 1);
    let sun: u32 = (0..3).map(|i| instances(&draws, SceneDrawKind::SunShadow(i))).sum();
    assert!(sun >= 2, "{draws:?}");
    let statistics = scenes.statistics();
    assert_eq!((statistics.shadow_maps, statistics.lights, statistics.visible), (4, 1, 2));
    let none = RenderQuality { shadow_texels: 0, spot_texels: 0, ..RenderQuality::DEFAULT };
    scenes.plan(&first, &none, &mut Vec::new());
    assert_eq!(scenes.statistics().shadow_maps, 0);
}

#[test]
fn mirroring_changes_the_class_and_a_new_surface_the_batch() {
    let mut scenes = RetainedScenes::default();
    let there = Vec3::new(0.0, 10.0, 0.0);
    let mut first =
        packet(SceneFrame { changes: vec![draw_change(0, 0, there)], ..SceneFrame::default() });
    first.meshes = vec![mesh(0, 1)];
    apply(&mut scenes, &first);
    let mirror = Mat4::from_translation(there) * Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0));
    let (moved, poses) = (vec![DrawSlot(0)], vec![DrawTransform::of(&mirror)]);
    apply(&mut scenes, &packet(SceneFrame { moved, poses, ..SceneFrame::default() }));
    let batch = scenes.plans.groups.last().expect("it is seen").batch;
    assert!(scenes.library.batch(batch).class.has(PipelineClass::MIRRORED));
    let mut other = packet(SceneFrame::default());
    other.surfaces =
        vec![surface(0, SurfaceFrame { alpha: SurfaceAlphaMode::Blend, ..SurfaceFrame::DEFAULT })];
    assert_eq!(apply(&mut scenes, &other)[0].kind, SceneDrawKind::Blended);
}

#[test]
fn a_view_with_too_many_lights_warns_once() {
    let check = |kind: LightKind, count: usize, wanted: &str| {
        let light = LightFrame { kind, ..LightFrame::DEFAULT };
        let frame =
            SceneFrame { lights_changed: true, lights: vec![light; count], ..Default::default() };
        let (packet, mut events, mut scenes) =
            (packet(frame), Vec::new(), RetainedScenes::default());
        for _ in 0..2 {
            scenes.apply(&packet, &mut events);
            scenes.plan(&packet, &RenderQuality::DEFAULT, &mut events);
        }
        let messages: Vec<&str> = events
            .iter()
            .map(|event| match event {
                RendererEvent::Crowded { message } => message.as_str(),
                other => panic!("{other:?}"),
            })
            .collect();
        let all: Vec<&str> = Some(wanted).filter(|it| !it.is_empty()).into_iter().collect();
        assert_eq!(messages, all);
    };
    let position = Vec3::new(0.0, 5.0, 0.0);
    let lamp = LightKind::Omni { position, range: 1.0, casts_shadows: false };
    check(lamp, 4096, "");
    let message = "4097 lamps and spots reach into a view, and the 4096 nearest of them shine \
                 (VIEW_LIGHTS_MAX): give lights a shorter falloff_end, or switch some off";
    check(lamp, 4097, message);
    let message = "160 lamps and spots reach into a view, and 9 of them do not shine, because \
                 their ranges fill too much of it (LIGHT_ENTRIES_MAX is 524288): give lights a \
                 shorter falloff_end, or switch some off";
    let (range, casts_shadows) = (f32::INFINITY, false);
    check(LightKind::Omni { position, range, casts_shadows }, 160, message);
    let (direction, inner, outer) = (Vec3::Y, 0.2, 0.4);
    let casts_shadows = true;
    let spot = LightKind::Spot { position, direction, range: 1.0, inner, outer, casts_shadows };
    check(spot, 256, "");
    let message = "1 lamps and spots cast no shadows, because more than 256 of them should \
                 (SHADOWED_LIGHTS_MAX), or because their shadow maps do not fit into \
                 render.shadow_atlas_texels: disable casts_shadows on others";
    check(spot, 257, message);
}

#[test]
fn custom_materials_are_separate_calls_among_transparent_draws() {
    let painted = |slot: u32, alpha| SurfaceFrame {
        alpha,
        double_sided: true,
        custom_material: Some(MaterialSlot(slot)),
        ..SurfaceFrame::DEFAULT
    };
    let mut frame = SceneFrame::default();
    // Two of one material, one of another, one masked, each farther than the one before.
    for (slot, surface) in [1, 1, 2, 3].into_iter().enumerate() {
        let at = Vec3::new(0.0, 5.0 + slot as f32, 0.0);
        let DrawChange::Set(draw) = draw_change(slot as u32, 0, at) else {
            unreachable!("it puts")
        };
        frame.surfaces.push(SurfaceSlot(surface));
        frame.changes.push(DrawChange::Set(DrawMesh { surfaces: (slot as u32, 1), ..draw }));
    }
    let mut packet = packet(frame);
    packet.meshes = vec![mesh(0, 1)];
    packet.surfaces = vec![
        surface(1, painted(8, SurfaceAlphaMode::Blend)),
        surface(2, painted(9, SurfaceAlphaMode::Opaque)),
        surface(3, painted(9, SurfaceAlphaMode::Mask(0.5))),
    ];
    let draws = apply(&mut RetainedScenes::default(), &packet);
    let kinds: Vec<_> = draws.iter().map(|draw| (draw.kind, draw.instances)).collect();
    use SceneDrawKind::{Blended, Solid};
    assert_eq!(kinds, [(Solid, 1), (Blended, 1), (Blended, 2)]);
}

#[test]
fn distances_in_a_plane_through_the_camera_are_equal() {
    let bits = |ahead: f32| draw_plan::rounded_distance(ahead).to_bits();
    assert_eq!(bits(-1e-6), bits(1e-6));
    assert_eq!(bits(2.0001), bits(2.0));
    assert_ne!(bits(2.001), bits(2.0));
}

/// Returns a mesh of one triangle around the origin, with joints and one morph target that moves it
/// one metre to the right.
fn skinned(slot: u32, joints: u16) -> MeshChange {
    let MeshChange::Set { slot, mesh } = mesh(slot, 1) else { unreachable!("it creates one") };
    let mut mesh = MeshFrame::clone(&mesh);
    let count = mesh.vertices.len();
    let joints = vec![[0, joints - 1, 0, 0]; count];
    let skin = MeshSkin::new(&mesh.vertices, &joints, &vec![[0.5, 0.5, 0.0, 0.0]; count]);
    let targets = [vec![[1.0, 0.0, 0.0]; count]];
    let morph = MeshMorph::new(&mesh.vertices, &mesh.indices, &targets).expect("one target");
    (mesh.skin, mesh.morph) = (Some(Arc::new(skin)), Some(Arc::new(morph)));
    MeshChange::Set { slot, mesh: Arc::new(mesh) }
}

/// Returns a frame with a pose of a draw that moves all of it, with a radius of half a metre.
fn posed(slot: u32, at: Vec3) -> SceneFrame {
    let mut frame = SceneFrame::default();
    frame.add_skin(DrawSlot(slot), 2, (at, 0.5)).fill(DrawTransform::at(at));
    frame
}

#[test]
fn a_draw_is_visible_where_its_palette_moves_it() {
    let mut scenes = RetainedScenes::default();
    let (ahead, behind) = (Vec3::new(0.0, 10.0, 0.0), Vec3::new(0.0, -10.0, 0.0));
    let changes = vec![draw_change(0, 0, ahead), draw_change(1, 0, behind)];
    let sun = LightKind::Sun { direction: Vec3::NEG_Z, casts_shadows: true };
    let lights = vec![LightFrame { kind: sun, ..LightFrame::DEFAULT }];
    let frame = SceneFrame { changes, lights, lights_changed: true, ..SceneFrame::default() };
    let mut first = packet(frame);
    first.meshes = vec![skinned(0, 2)];
    apply(&mut scenes, &first);
    let shown = |scenes: &mut RetainedScenes, frame: SceneFrame| {
        let draws = apply(scenes, &packet(frame));
        let count = |is_solid: bool| -> Vec<u32> {
            let fits = |draw: &&SceneDraw| (draw.kind == SceneDrawKind::Solid) == is_solid;
            draws.iter().filter(fits).map(|draw| draw.instances).collect()
        };
        let last = scenes.plans.instances.last().map(|instance| instance[0]);
        (count(true), last, count(false).into_iter().max())
    };
    // The shadow maps cover both, and the view the first one.
    assert_eq!(shown(&mut scenes, SceneFrame::default()), (vec![1], Some(0), Some(2)));
    // The palette moves the first one far away, and the other one into the view.
    let away = Vec3::new(5000.0, 0.0, 0.0);
    assert_eq!(shown(&mut scenes, posed(0, away)), (vec![], Some(1), Some(1)));
    assert_eq!(shown(&mut scenes, posed(1, ahead * 2.0)), (vec![1], Some(1), Some(1)));
    // A pose stays while its draw moves, and both are one draw call.
    let (moved, poses) = (vec![DrawSlot(0)], vec![DrawTransform::at(ahead - away)]);
    let frame = SceneFrame { moved, poses, ..SceneFrame::default() };
    assert_eq!(shown(&mut scenes, frame).0, [2]);
    assert_eq!(scenes.statistics().skinned_draws, 2);
    let mut frame = SceneFrame::default();
    frame.add_skin(DrawSlot(1), 0, (Vec3::ZERO, 0.0));
    assert_eq!(shown(&mut scenes, frame).0, [1], "without a palette it has its bind pose");
}

#[test]
fn morph_weights_and_scaled_palettes_enlarge_a_draw() {
    let mut scenes = RetainedScenes::default();
    let changes = vec![draw_change(0, 0, Vec3::new(0.0, 10.0, 0.0))];
    let mut first = packet(SceneFrame { changes, ..SceneFrame::default() });
    first.meshes = vec![skinned(0, 2)];
    apply(&mut scenes, &first);
    let radius = |scenes: &mut RetainedScenes, frame: SceneFrame| {
        apply(scenes, &packet(frame));
        scenes.scenes[&1].spheres.get(0).1
    };
    let morphed = |weight: f32| {
        let mut frame = SceneFrame::default();
        frame.add_morph(DrawSlot(0), &[weight]);
        frame
    };
    assert_eq!(radius(&mut scenes, SceneFrame::default()), 0.5);
    assert_eq!(radius(&mut scenes, morphed(-2.0)), 2.5);
    let mut frame = SceneFrame::default();
    let matrix = DrawTransform::of(&Mat4::from_scale(Vec3::new(1.0, 3.0, 1.0)));
    frame.add_skin(DrawSlot(0), 2, (Vec3::ZERO, 1.5)).fill(matrix);
    assert_eq!(radius(&mut scenes, frame), 1.5 + 3.0 * 2.0);
    assert_eq!(radius(&mut scenes, morphed(1.0)), 1.5 + 3.0);
    assert_eq!(radius(&mut scenes, morphed(f32::NAN)), 1.5);
}

#[test]
fn a_pose_lasts_as_long_as_the_mesh_of_its_draw() {
    let mut scenes = RetainedScenes::default();
    let ahead = Vec3::new(0.0, 10.0, 0.0);
    let set =
        |mesh| SceneFrame { changes: vec![draw_change(0, mesh, ahead)], ..Default::default() };
    let location = |scenes: &RetainedScenes| scenes.scenes[&1].data[0].flags >> 2;
    let mut first = packet(set(0));
    first.meshes = vec![skinned(0, 2), skinned(1, 2), mesh(2, 1)];
    apply(&mut scenes, &first);
    let pose = |scenes: &mut RetainedScenes| {
        apply(scenes, &packet(posed(0, Vec3::X)));
        assert_eq!(location(scenes), 1);
    };
    pose(&mut scenes);
    apply(&mut scenes, &packet(set(0)));
    assert_eq!(location(&scenes), 1, "the same mesh");
    apply(&mut scenes, &packet(set(1)));
    assert_eq!(location(&scenes), 0, "another mesh");
    pose(&mut scenes);
    // The mesh is loaded again: with as many joints, then with more.
    let mut reloaded = packet(SceneFrame::default());
    reloaded.meshes = vec![skinned(1, 2)];
    apply(&mut scenes, &reloaded);
    assert_eq!(location(&scenes), 1);
    reloaded.meshes = vec![skinned(1, 3)];
    apply(&mut scenes, &reloaded);
    assert_eq!(location(&scenes), 0);
    pose(&mut scenes);
    let changes = vec![DrawChange::End(DrawSlot(0)), draw_change(0, 1, ahead)];
    apply(&mut scenes, &packet(SceneFrame { changes, ..SceneFrame::default() }));
    assert_eq!(location(&scenes), 0, "another draw in its slot");
    // A mesh without joints takes neither.
    apply(&mut scenes, &packet(set(2)));
    let mut frame = posed(0, Vec3::X);
    frame.add_morph(DrawSlot(0), &[1.0]);
    apply(&mut scenes, &packet(frame));
    assert_eq!((location(&scenes), scenes.statistics().skinned_draws), (0, 0));
}

#[test]
fn transparent_draws_are_sorted_by_the_center_of_their_pose() {
    let mut scenes = RetainedScenes::default();
    let pane = |slot: u32, y: f32| {
        let DrawChange::Set(draw) = draw_change(slot, 0, Vec3::new(0.0, y, 0.0)) else {
            unreachable!("it sets one")
        };
        DrawChange::Set(DrawMesh { surfaces: (0, 1), ..draw })
    };
    let (changes, surfaces) = (vec![pane(0, 5.0), pane(1, 8.0)], vec![SurfaceSlot(1)]);
    let mut first = packet(SceneFrame { changes, surfaces, ..SceneFrame::default() });
    first.meshes = vec![skinned(0, 2)];
    first.surfaces =
        vec![surface(1, SurfaceFrame { alpha: SurfaceAlphaMode::Blend, ..SurfaceFrame::DEFAULT })];
    let order = |scenes: &RetainedScenes| -> Vec<u32> {
        scenes.plans.instances.iter().map(|instance| instance[0]).collect()
    };
    apply(&mut scenes, &first);
    assert_eq!(order(&scenes), [1, 0]);
    apply(&mut scenes, &packet(posed(0, Vec3::new(0.0, 20.0, 0.0))));
    assert_eq!(order(&scenes), [0, 1]);
}

#[test]
fn moved_vertices_and_glass_change_bounds_and_order() {
    let functions = SurfaceFunctions { vertex_offset: true, ..SurfaceFunctions::default() };
    let shader = SurfaceShader { material: MaterialSlot(8), functions, offset_max: 4.0 };
    let moved = |offset_max| SurfaceFrame {
        shader: Some(SurfaceShader { offset_max, ..shader }),
        ..SurfaceFrame::DEFAULT
    };
    let lobes = SurfaceLobes { transmission: 0.5, ..SurfaceLobes::NONE };
    let glass = SurfaceFrame { lobes, ..SurfaceFrame::DEFAULT };
    let mut frame = SceneFrame::default();
    // All three are behind the camera by two metres, except for the glass.
    for (slot, y) in [-2.0, -2.0, 5.0].into_iter().enumerate() {
        let change = draw_change(slot as u32, 0, Vec3::new(0.0, y, 0.0));
        let DrawChange::Set(draw) = change else { unreachable!("it puts") };
        frame.surfaces.push(SurfaceSlot(slot as u32 + 1));
        frame.changes.push(DrawChange::Set(DrawMesh { surfaces: (slot as u32, 1), ..draw }));
    }
    let mut packet = packet(frame);
    packet.meshes = vec![mesh(0, 1)];
    packet.surfaces =
        vec![surface(1, moved(4.0)), surface(2, moved(f32::INFINITY)), surface(3, glass)];
    let mut scenes = RetainedScenes::default();
    let draws = apply(&mut scenes, &packet);
    let kinds: Vec<_> = draws.iter().map(|draw| (draw.kind, draw.instances)).collect();
    assert_eq!(kinds, [(SceneDrawKind::Solid, 1), (SceneDrawKind::Blended, 1)]);
    assert!(scenes.plans.views[0].transmission);
    assert_eq!(scenes.library.function_batches().count(), 8, "light and shadow, with joints too");
    packet.meshes.clear();
    packet.scenes.clear();
    packet.surfaces = vec![surface(1, moved(1.0)), SurfaceChange::End { slot: SurfaceSlot(3) }];
    let draws = apply(&mut scenes, &packet);
    assert_eq!(instances(&draws, SceneDrawKind::Solid), 1, "the one without glass");
    assert!(!scenes.plans.views[0].transmission);
}
