//! Tests of rectangles and ellipses that shine in the plan of a frame.

use super::super::clusters::ClusterBuilder;
use super::super::culling::planes;
use super::super::lights::{FrameLights, SceneUniform, ViewLights};
use super::super::scene_lights::SceneLights;
use bytemuck::Zeroable;
use engine_foundation::projections::perspective;
use engine_foundation::{Mat4, Vec3};
use engine_frame_packet::CameraFrame;
use engine_frame_packet::scene::{LightFrame, LightKind};

#[test]
fn only_frames_with_area_lights_have_their_table() {
    let projection = perspective(1.0, 1.0, 0.1, 100.0);
    let camera = CameraFrame {
        view: Mat4::IDENTITY,
        projection,
        position: Vec3::ZERO,
        near: 0.1,
        far: 100.0,
    };
    let grid_length = |lights: &[LightFrame]| {
        let (mut scene, mut chosen) = (SceneLights::default(), ViewLights::default());
        scene.set(lights);
        chosen.choose(1, &scene, &camera, &planes(&camera.projection));
        let (mut frame, mut uniform) = (FrameLights::default(), SceneUniform::zeroed());
        frame.add(&mut ClusterBuilder::default(), &camera, &mut chosen, &mut uniform);
        frame.grid.len()
    };
    let position = Vec3::new(0.0, 0.0, -3.0);
    let lamp = LightKind::Omni { position, range: 1.0, casts_shadows: false };
    let area = LightKind::Area {
        position,
        direction: Vec3::Z,
        right: Vec3::X,
        half_height: 1.0,
        is_ellipse: false,
        range: 1.0,
        casts_shadows: false,
    };
    let [lamp, area] = [lamp, area].map(|kind| LightFrame { kind, ..LightFrame::DEFAULT });
    assert!(grid_length(&[lamp]) < 3456 + 2000);
    assert!((6144 + 3456..6144 + 6000).contains(&grid_length(&[area])));
    assert!(grid_length(&[area; 9]) < 6144 + 3456 + 9 * 600);
}
