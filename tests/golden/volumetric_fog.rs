//! Golden images and numeric tests of volumetric fog and of lit particles: light shafts, cones of
//! lamps, fog volumes, and that fog obeys the laws of light.

use super::forward::{SceneBuilder, look_camera, sun, view};
use super::meshes::{CUBE, SPHERE};
use super::screen_space::{
    EVEN_SKY, ONE_SAMPLE, flat_camera, largest_difference, light_at, mean_difference, picture,
    renderer_with, views_only,
};
use super::{HEIGHT, QUALITY, WIDTH, draw};
use engine::foundation::{Mat4, Vec3};
use engine::frame_packet::fog_volume::{FOG_VOLUMES_MAX, FogShape, FogVolumeFrame};
use engine::frame_packet::material::BlendMode;
use engine::frame_packet::mesh::{SurfaceAlphaMode, SurfaceFrame};
use engine::frame_packet::scene::{
    DrawTransform, LightFrame, LightKind, ParticleBatch, ParticleQuad, SkyFrame, SkyVisibility,
};
use engine::frame_packet::shading_environment::FogValues;
use engine::frame_packet::texture::TextureSlot;
use engine::frame_packet::{CaptureRequest, FramePacket, ViewTarget};
use engine::system::render::{RenderQuality, RenderedImage, RendererEvent};

/// A grid that the software adapter fills quickly.
const FOG_QUALITY: RenderQuality = RenderQuality { fog_columns: 64, ..QUALITY };
const OFF: FogValues = FogValues::DEFAULT;
const THIN: FogValues =
    FogValues { volumetric_fog_density: 0.06, volumetric_fog_distance: 24.0, ..OFF };
/// A sky without light.
const NIGHT: SkyFrame = SkyFrame {
    top: [0.0; 3],
    horizon: [0.0; 3],
    ground: [0.0; 3],
    shown: SkyVisibility::Hidden,
    tone_mapping: false,
    ..SkyFrame::DEFAULT
};

fn with(mut packet: FramePacket, fog: FogValues) -> FramePacket {
    for view in &mut packet.views {
        view.environment.fog = fog;
    }
    packet
}

/// Returns a colonnade in front of a low sun.
fn colonnade() -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.ground();
    builder.light(sun(Vec3::new(0.25, -1.0, -0.45), 2.0));
    let stone = builder.matte([0.5, 0.47, 0.42]);
    for i in 0..7 {
        let x = i as f32 * 1.5 - 4.5;
        builder.add_at(CUBE, stone, Vec3::new(x, 6.0, 2.0), Vec3::new(0.35, 0.35, 2.0));
    }
    builder.add_at(CUBE, stone, Vec3::new(0.0, 6.0, 4.2), Vec3::new(6.0, 0.5, 0.3));
    let red = builder.matte([0.6, 0.15, 0.1]);
    builder.add_at(SPHERE, red, Vec3::new(-0.8, 1.5, 0.5), Vec3::splat(0.5));
    builder.build(vec![view(Vec3::new(1.2, -6.0, 1.5), Vec3::new(-0.3, 4.0, 1.6))])
}

fn puff(position: [f32; 3], size: f32, alpha: u8) -> ParticleQuad {
    ParticleQuad {
        position,
        rotation: 0.0,
        size: [size, size],
        color: [255, 255, 255, alpha],
        glow: 1.0,
        uv: [0.0, 0.0, 1.0, 1.0],
        stretch: [0.0; 3],
        reserved: 0,
    }
}

fn batch(count: u32, lit: f32) -> ParticleBatch {
    ParticleBatch {
        first: 0,
        count,
        texture: TextureSlot::SHARED,
        blend: BlendMode::Alpha,
        softness: 0.0,
        lit,
        distortion: 0.0,
        center: Vec3::ZERO,
        radius: 20.0,
        layers: u32::MAX,
        order: 0,
    }
}

fn volume(shape: FogShape, at: Vec3, half: Vec3, density: f32) -> FogVolumeFrame {
    let pose = Mat4::from_translation(at) * Mat4::from_scale(half);
    FogVolumeFrame {
        pose: DrawTransform::of(&pose),
        shape,
        density,
        color: [1.0; 3],
        emission: [0.0; 3],
        blend_distance: 0.4,
    }
}

/// Returns a dark yard with a spot and a lamp that cast shadows, a pane of glass, smoke, a ball of
/// fog and a bank of glowing fog.
fn yard() -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.sky(SkyFrame { top: [0.004, 0.005, 0.01], ..NIGHT });
    builder.ground();
    let stone = builder.matte([0.5, 0.5, 0.5]);
    builder.add_at(CUBE, stone, Vec3::new(0.3, 1.0, 1.5), Vec3::new(0.25, 0.25, 0.25));
    builder.add_at(CUBE, stone, Vec3::new(-2.6, 0.4, 0.5), Vec3::new(0.12, 0.12, 0.5));
    let position = Vec3::new(0.6, 1.2, 4.2);
    let kind = LightKind::Spot {
        position,
        direction: Vec3::new(-0.08, -0.06, -1.0).normalize(),
        range: 8.0,
        inner: 0.3,
        outer: 0.42,
        casts_shadows: true,
    };
    builder.light(LightFrame { kind, color: [26.0, 24.0, 18.0], ..LightFrame::DEFAULT });
    let position = Vec3::new(-2.4, 1.6, 0.9);
    let kind = LightKind::Omni { position, range: 6.0, casts_shadows: true };
    builder.light(LightFrame { kind, color: [0.8, 1.6, 3.0], ..LightFrame::DEFAULT });
    let glass = builder.surface(SurfaceFrame {
        base_color: [0.9, 0.3, 0.2, 0.5],
        alpha: SurfaceAlphaMode::Blend,
        ..SurfaceFrame::DEFAULT
    });
    builder.add_at(CUBE, glass, Vec3::new(2.2, 0.0, 0.8), Vec3::new(0.5, 0.03, 0.8));
    let at = Vec3::new(2.4, 3.0, 0.9);
    let glowing = FogVolumeFrame {
        emission: [0.05, 0.3, 0.1],
        ..volume(FogShape::Box, at, Vec3::new(1.4, 0.8, 0.5), 0.5)
    };
    let ball = volume(FogShape::Sphere, Vec3::new(-1.0, 2.2, 0.8), Vec3::splat(0.9), 1.2);
    builder.frame.fog_volumes_changed = true;
    builder.frame.fog_volumes = vec![glowing, ball];
    builder.frame.particles =
        vec![puff([0.2, 0.4, 0.4], 0.5, 150), puff([0.8, 0.2, 0.6], 0.5, 150)];
    builder.frame.particle_batches = vec![batch(2, 1.0)];
    builder.build(vec![view(Vec3::new(0.2, -5.0, 2.0), Vec3::new(0.0, 1.0, 1.2))])
}

fn golden(name: &str, packet: FramePacket) {
    if let Some(found) = picture(packet, FOG_QUALITY) {
        super::compare(name, &found);
    }
}

#[test]
fn the_sun_draws_shafts_between_columns() {
    golden("fog_off", with(colonnade(), OFF));
    golden("fog_shafts", with(colonnade(), THIN));
}

#[test]
fn lamps_shine_on_fog_and_fog_volumes() {
    golden("fog_lamps", with(yard(), THIN));
}

#[test]
fn low_fog_lies_on_the_ground() {
    let fog = FogValues {
        volumetric_fog_density: 0.5,
        volumetric_fog_height_falloff: 2.0,
        volumetric_fog_color: [0.9, 0.95, 1.0],
        ..THIN
    };
    golden("fog_height", with(colonnade(), fog));
}

/// Returns a wall of a brightness at a distance.
fn wall(metres: f32, brightness: f32) -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.sky(NIGHT);
    let glow = builder.surface(unlit(brightness, SurfaceAlphaMode::Opaque));
    let half = Vec3::new(30.0, 0.5, 30.0);
    builder.add_at(CUBE, glow, Vec3::new(0.0, metres + 0.5, 0.0), half);
    builder.build(vec![view(Vec3::ZERO, Vec3::Y)])
}

fn unlit(brightness: f32, alpha: SurfaceAlphaMode) -> SurfaceFrame {
    let [r, g, b] = [brightness; 3];
    let base_color = [r, g, b, 1.0];
    SurfaceFrame { base_color, alpha, unlit: true, ..SurfaceFrame::DEFAULT }
}

fn middle(image: &RenderedImage) -> f64 {
    light_at(image, WIDTH / 2, HEIGHT / 2)
}

#[test]
fn fog_absorbs_light_by_the_law_of_beer() {
    let black = FogValues { volumetric_fog_color: [0.0; 3], ..THIN };
    for (density, metres) in [(0.05, 4.0), (0.1, 9.0), (0.3, 5.0), (1.0, 1.5)] {
        let fog = FogValues { volumetric_fog_density: density, ..black };
        let Some(image) = picture(with(wall(metres, 0.9), fog), FOG_QUALITY) else { return };
        let wanted = 0.9 * f64::from((-density * metres).exp());
        let found = middle(&image);
        assert!((found / wanted - 1.0).abs() < 0.03, "{density}, {metres} m: {found}, {wanted}");
    }
}

#[test]
fn white_fog_keeps_all_light() {
    // A furnace: everything around is as bright, so fog changes nothing.
    for density in [0.02, 0.3, 5.0] {
        let mut packet = wall(6.0, 0.6);
        packet.scenes[0].sky = Some(SkyFrame { tone_mapping: false, ..EVEN_SKY });
        let fog = FogValues { volumetric_fog_density: density, ..THIN };
        let Some(image) = picture(with(packet, fog), FOG_QUALITY) else { return };
        let found = middle(&image);
        assert!((found / 0.6 - 1.0).abs() < 0.01, "{density}: {found}");
    }
}

#[test]
fn fog_is_as_dark_as_its_shadow() {
    // Under a roof, sunlight does not reach the fog, and it scatters none.
    let scene = |has_roof: bool| {
        let mut builder = SceneBuilder::new();
        builder.sky(NIGHT);
        builder.light(sun(Vec3::NEG_Z, 1.0));
        let black = builder.matte([0.0; 3]);
        let height = if has_roof { 3.0 } else { -30.0 };
        builder.add_at(CUBE, black, Vec3::new(0.0, 0.0, height), Vec3::new(40.0, 40.0, 0.1));
        with(builder.build(vec![view(Vec3::ZERO, Vec3::Y)]), THIN)
    };
    let Some(open) = picture(scene(false), FOG_QUALITY) else { return };
    let Some(dark) = picture(scene(true), FOG_QUALITY) else { return };
    assert!(middle(&open) > 0.05 && middle(&dark) < 0.02, "{} {}", middle(&open), middle(&dark));
}

#[test]
fn transparent_surfaces_and_particles_are_fogged_alike() {
    let fog = FogValues { volumetric_fog_density: 0.1, ..THIN };
    let drawn = |kind: usize| {
        let mut builder = SceneBuilder::new();
        builder.sky(SkyFrame { top: [0.3; 3], ..NIGHT });
        builder.light(sun(Vec3::new(0.3, 0.5, -1.0), 0.5));
        let at = Vec3::new(0.0, 8.05, 0.0);
        let alpha_mode = match kind {
            0 => SurfaceAlphaMode::Opaque,
            _ => SurfaceAlphaMode::Blend,
        };
        if kind < 2 {
            let surface = builder.surface(unlit(0.8, alpha_mode));
            builder.add_at(CUBE, surface, at, Vec3::new(3.0, 0.05, 3.0));
        } else {
            let quad = ParticleQuad { glow: 0.8, ..puff([0.0, 8.0, 0.0], 3.0, 255) };
            builder.frame.particles = vec![quad];
            builder.frame.particle_batches = vec![batch(1, 0.0)];
        }
        let packet = with(builder.build(vec![view(Vec3::ZERO, Vec3::Y)]), fog);
        picture(packet, FOG_QUALITY).map(|image| middle(&image))
    };
    let Some(solid) = drawn(0) else { return };
    let clear = 0.8;
    assert!(solid < 0.9 * clear, "{solid}");
    for kind in [1, 2] {
        let found = drawn(kind).expect("the first picture was drawn");
        assert!((found - solid).abs() < 0.01, "{kind}: {found}, {solid}");
    }
}

#[test]
fn fog_ends_where_its_distance_ends() {
    let black = FogValues { volumetric_fog_color: [0.0; 3], ..THIN };
    let near = FogValues { volumetric_fog_distance: 10.0, volumetric_fog_density: 0.1, ..black };
    let Some(image) = picture(with(wall(30.0, 0.9), near), FOG_QUALITY) else { return };
    let (found, wanted) = (middle(&image), 0.9 * f64::exp(-1.0));
    assert!((found / wanted - 1.0).abs() < 0.03, "{found}, {wanted}");
}

#[test]
fn volumes_have_fog_only_inside() {
    let through = |x: f32| {
        let mut packet = wall(12.0, 0.9);
        // From 4 to 9 metres: where slices begin.
        let at = Vec3::new(x, 6.5, 0.0);
        let black = FogVolumeFrame {
            color: [0.0; 3],
            blend_distance: 0.0,
            ..volume(FogShape::Box, at, Vec3::new(2.0, 2.5, 2.0), 0.4)
        };
        packet.scenes[0].fog_volumes_changed = true;
        packet.scenes[0].fog_volumes = vec![black];
        let fog = FogValues { volumetric_fog_distance: 16.0, ..OFF };
        picture(with(packet, fog), FOG_QUALITY).map(|image| middle(&image))
    };
    let Some(inside) = through(0.0) else { return };
    let wanted = 0.9 * f64::exp(-0.4 * 5.0);
    assert!((inside / wanted - 1.0).abs() < 0.05, "{inside}, {wanted}");
    let past = through(6.0).expect("the first picture was drawn");
    assert!((past - 0.9).abs() < 0.01, "{past}");
}

#[test]
fn wrong_numbers_do_not_spread() {
    let numbers = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30];
    for number in numbers {
        let mut fog = THIN;
        fill(&mut fog, number);
        fog.volumetric_fog_density = 0.1;
        let mut packet = with(yard(), fog);
        let broken = FogVolumeFrame {
            density: number,
            emission: [number; 3],
            ..volume(FogShape::Box, Vec3::splat(number), Vec3::ONE, 1.0)
        };
        packet.scenes[0].fog_volumes = vec![broken; FOG_VOLUMES_MAX];
        let Some(mut renderer) = renderer_with(FOG_QUALITY, (WIDTH, HEIGHT)) else { return };
        draw(&mut renderer, vec![packet], ViewTarget::Screen);
        // The history forgets them in the next frames.
        let later: Vec<_> = (0..3).map(|_| views_only(with(yard(), THIN))).collect();
        let found = draw(&mut renderer, later, ViewTarget::Screen);
        let dark = found.rgba.chunks(4).filter(|pixel| pixel[..3] == [0, 0, 0]).count();
        assert!(dark < found.rgba.len() / 8, "{number}: {dark} black pixels");
    }
}

fn fill(fog: &mut FogValues, number: f32) {
    *fog = FogValues {
        volumetric_fog_density: number,
        volumetric_fog_color: [number; 3],
        volumetric_fog_emission: [number; 3],
        volumetric_fog_height: number,
        volumetric_fog_height_falloff: number,
        volumetric_fog_anisotropy: number,
        volumetric_fog_distance: number,
        volumetric_fog_lights: number,
        volumetric_fog_sky: number,
        volumetric_fog_smoothing: number,
    };
}

#[test]
fn fog_at_rest_stays_as_it_is() {
    let Some(mut renderer) = renderer_with(FOG_QUALITY, (WIDTH, HEIGHT)) else { return };
    let first = draw(&mut renderer, vec![with(colonnade(), THIN)], ViewTarget::Screen);
    let frames = || (0..16).map(|_| views_only(with(colonnade(), THIN))).collect::<Vec<_>>();
    let last = draw(&mut renderer, frames(), ViewTarget::Screen);
    // The points of the froxels move within their slices, so light is averaged.
    let mean = mean_difference(&first, &last);
    assert!(mean < 3.0, "{mean}");
    let later = draw(&mut renderer, frames(), ViewTarget::Screen);
    assert!(largest_difference(&last, &later) <= 6, "{}", largest_difference(&last, &later));
}

#[test]
fn fog_works_with_each_camera_and_number_of_samples() {
    let Some(four) = picture(with(colonnade(), THIN), FOG_QUALITY) else { return };
    let one = RenderQuality { fog_columns: 64, ..ONE_SAMPLE };
    let one = picture(with(colonnade(), THIN), one).expect("the first picture was drawn");
    assert!(mean_difference(&four, &one) < 1.5, "{}", mean_difference(&four, &one));
    let [fogged, clear] = [THIN, OFF].map(|fog| {
        let mut packet = with(colonnade(), fog);
        packet.views[0].camera = flat_camera();
        picture(packet, FOG_QUALITY).expect("the first picture was drawn")
    });
    assert!(mean_difference(&fogged, &clear) > 3.0);
}

#[test]
fn views_have_their_own_fog() {
    let aspect = 160.0 / 180.0;
    let camera = look_camera(Vec3::new(1.2, -6.0, 1.5), Vec3::new(-0.3, 4.0, 1.6), aspect);
    let drawn = |left_fog: FogValues| {
        let mut packet = with(colonnade(), OFF);
        let mut left = packet.views[0].clone();
        (left.rectangle, left.camera) = ([0.0, 0.0, 0.5, 1.0], camera);
        let mut right = left.clone();
        (right.rectangle, right.clear) = ([0.5, 0.0, 0.5, 1.0], None);
        left.environment.fog = left_fog;
        packet.views = vec![left, right];
        picture(packet, FOG_QUALITY)
    };
    let Some(both) = drawn(THIN) else { return };
    // The clear view is the same to the byte as without the other one.
    let clear = drawn(OFF).expect("the first picture was drawn");
    let differs = |x: u32| {
        let at = ((90 * WIDTH + x) * 4) as usize;
        both.rgba[at..at + 4] != clear.rgba[at..at + 4]
    };
    assert!((10..150).filter(|x| differs(*x)).count() > 100);
    assert_eq!((162..320).filter(|x| differs(*x)).count(), 0);
}

#[test]
fn fog_is_switched_a_thousand_times_without_growth() {
    let quality = RenderQuality { fog_columns: 16, ..ONE_SAMPLE };
    let Some(mut renderer) = renderer_with(quality, (48, 32)) else { return };
    renderer.submit(colonnade());
    for i in 0..1000 {
        let mut packet = views_only(with(colonnade(), if i % 2 == 0 { OFF } else { THIN }));
        // Nothing is drawn without a window or a capture.
        packet.captures.push(CaptureRequest { number: 1, of: ViewTarget::Screen });
        renderer.submit(packet);
        let images = renderer.statistics().screen_images;
        assert_eq!(images, if i % 2 == 0 { 0 } else { 3 }, "{i}");
    }
    let captured = |event: &RendererEvent| matches!(event, RendererEvent::Captured { .. });
    assert!(renderer.events().iter().all(captured));
}

#[test]
fn a_quality_without_columns_has_no_fog() {
    let none = RenderQuality { fog_columns: 0, ..QUALITY };
    let Some(without) = picture(with(colonnade(), THIN), none) else { return };
    let off = picture(with(colonnade(), OFF), QUALITY).expect("the first picture was drawn");
    assert_eq!(largest_difference(&without, &off), 0);
}

#[test]
fn lit_particles_take_the_light_of_the_scene() {
    let drawn = |lit: f32, direction: Vec3, has_roof: bool| {
        let mut builder = SceneBuilder::new();
        builder.sky(NIGHT);
        builder.light(sun(direction, 1.0));
        if has_roof {
            let black = builder.matte([0.0; 3]);
            let half = Vec3::new(9.0, 0.1, 9.0);
            builder.add_at(CUBE, black, Vec3::new(0.0, -6.0, 0.0), half);
        }
        builder.frame.particles = vec![puff([0.0, 6.0, 0.0], 1.5, 255)];
        builder.frame.particle_batches = vec![batch(1, lit)];
        let packet = builder.build(vec![view(Vec3::ZERO, Vec3::Y)]);
        picture(packet, QUALITY).map(|image| middle(&image))
    };
    let Some(plain) = drawn(0.0, Vec3::Y, false) else { return };
    let [ahead, behind, shaded, half] = [
        (1.0, Vec3::Y, false),
        (1.0, Vec3::NEG_Y, false),
        (1.0, Vec3::Y, true),
        (0.5, Vec3::Y, false),
    ]
    .map(|(lit, from, roof)| drawn(lit, from, roof).expect("the first picture was drawn"));
    assert!((plain - 1.0).abs() < 0.02, "{plain}");
    // The light wraps around: 1.5 / 2.25 of that on a white surface (the sun is a little green).
    assert!((ahead - 0.95 * 0.667).abs() < 0.03, "{ahead}");
    assert!(behind < 0.05 && shaded < 0.05, "{behind} {shaded}");
    assert!((half - (ahead + 1.0) / 2.0).abs() < 0.03, "{half}");
}

/// Returns a scene with two lenses, one of which enlarges, in front of columns and behind a ball.
fn lenses() -> FramePacket {
    let mut packet = colonnade();
    let frame = &mut packet.scenes[0];
    let lens = |x: f32| puff([x, 0.0, 1.6], 1.1, 255);
    frame.particles = vec![lens(-1.2), lens(1.6)];
    let of = |first, distortion| ParticleBatch { first, distortion, ..batch(1, 0.0) };
    frame.particle_batches = vec![of(0, -0.9), of(1, 0.9)];
    packet
}

#[test]
fn particles_displace_the_picture_behind_them() {
    golden("particle_distortion", lenses());
}

#[test]
fn displaced_light_of_an_even_wall_is_the_same() {
    let Some(plain) = picture(wall(9.0, 0.5), QUALITY) else { return };
    let mut packet = wall(9.0, 0.5);
    let frame = &mut packet.scenes[0];
    frame.particles = vec![puff([0.0, 5.0, 0.0], 1.0, 200)];
    frame.particle_batches = vec![ParticleBatch { distortion: 0.7, ..batch(1, 0.0) }];
    let lens = picture(packet, QUALITY).expect("the first picture was drawn");
    assert!(largest_difference(&plain, &lens) <= 1, "{}", largest_difference(&plain, &lens));
}

#[test]
fn surfaces_in_front_of_particles_are_not_displaced() {
    // A black slab covers the left half of a lens that would move it to the right.
    let mut builder = SceneBuilder::new();
    builder.sky(NIGHT);
    let white = builder.surface(unlit(0.5, SurfaceAlphaMode::Opaque));
    builder.add_at(CUBE, white, Vec3::new(0.0, 12.0, 0.0), Vec3::new(30.0, 0.5, 30.0));
    let black = builder.surface(unlit(0.0, SurfaceAlphaMode::Opaque));
    builder.add_at(CUBE, black, Vec3::new(-0.55, 4.0, 0.0), Vec3::new(0.5, 0.1, 3.0));
    builder.frame.particles = vec![puff([0.0, 6.0, 0.0], 2.0, 255)];
    builder.frame.particle_batches = vec![ParticleBatch { distortion: -4.0, ..batch(1, 0.0) }];
    let packet = builder.build(vec![view(Vec3::ZERO, Vec3::Y)]);
    let Some(image) = picture(packet, ONE_SAMPLE) else { return };
    for x in 165..200 {
        let found = light_at(&image, x, HEIGHT / 2);
        assert!((found - 0.5).abs() < 0.02, "{x}: {found}");
    }
}
