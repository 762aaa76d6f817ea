//! Tests of the shadows of lamps: casters whose vertices move, and views without the pass.

use super::*;

/// Returns a packet with a caster 10 metres ahead, lit by a spot above it.
fn lit_from_above(flags: SurfaceFunctions) -> FramePacket {
    let spot = LightKind::Spot {
        position: Vec3::new(0.0, 10.0, 5.0),
        direction: Vec3::NEG_Z,
        range: 20.0,
        inner: 0.3,
        outer: 0.5,
        casts_shadows: true,
    };
    let at = Vec3::new(0.0, 10.0, 0.0);
    let DrawChange::Set(draw) = draw_change(0, 0, at) else { unreachable!("it puts") };
    let frame = SceneFrame {
        surfaces: vec![SurfaceSlot(1)],
        changes: vec![DrawChange::Set(DrawMesh { surfaces: (0, 1), ..draw })],
        lights_changed: true,
        lights: vec![LightFrame { kind: spot, ..LightFrame::DEFAULT }],
        ..SceneFrame::default()
    };
    let mut packet = packet(frame);
    packet.meshes = vec![mesh(0, 1)];
    let shader = SurfaceShader { material: MaterialSlot(1), functions: flags, offset_max: 0.1 };
    packet.surfaces =
        vec![surface(1, SurfaceFrame { shader: Some(shader), ..SurfaceFrame::DEFAULT })];
    packet
}

#[test]
fn shadows_of_moving_vertices_are_drawn_in_each_frame() {
    for vertex_offset in [false, true] {
        let mut scenes = RetainedScenes::default();
        let functions = SurfaceFunctions { vertex_offset, ..SurfaceFunctions::default() };
        let first = apply(&mut scenes, &lit_from_above(functions));
        assert_eq!(instances(&first, SceneDrawKind::SpotShadow), 1);
        let later = apply(&mut scenes, &packet(SceneFrame::default()));
        let drawn = instances(&later, SceneDrawKind::SpotShadow);
        assert_eq!(drawn, u32::from(vertex_offset));
    }
}

#[test]
fn a_view_without_the_pass_of_shadows_has_none_of_lamps() {
    let mut scenes = RetainedScenes::default();
    let mut small = lit_from_above(SurfaceFunctions::default());
    let data = Arc::new(built_in("core/render/mini").expect("it is embedded"));
    let (name, settings) = ("small".to_string(), Vec::new());
    small.render_configs = vec![RenderConfigFrame { name, data, settings }];
    let full = small.views[0].clone();
    small.views[0].viewport = Some(ViewportSlot { config: 0, viewport: 0 });
    let draws = apply(&mut scenes, &small);
    assert_eq!(instances(&draws, SceneDrawKind::SpotShadow), 0);
    let mut both = packet(SceneFrame::default());
    both.render_configs = small.render_configs.clone();
    both.views = vec![small.views[0].clone(), full];
    let draws = apply(&mut scenes, &both);
    assert_eq!(instances(&draws, SceneDrawKind::SpotShadow), 1);
    let shown: Vec<bool> =
        scenes.plans.lights.lights.iter().map(|light| light.shadow >= 0.0).collect();
    assert_eq!(shown, [false, true]);
}
