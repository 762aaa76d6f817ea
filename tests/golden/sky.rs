//! Physical skies, skies of textures with the light that surfaces get from them, and fog: golden
//! images, and physics of light on captured pixels.

use super::forward::{SceneBuilder, look_camera, spheres, sun, view};
use super::meshes::{CUBE, PLANE, SPHERE};
use super::{HEIGHT, QUALITY, WIDTH, check, draw, renderer};
use engine::foundation::{Mat4, Vec3, projections};
use engine::frame_packet::mesh::SurfaceFrame;
use engine::frame_packet::reflection_probe::ProbeFrame;
use engine::frame_packet::scene::{DrawTransform, SceneFrame, SkyFrame, SkyVisibility};
use engine::frame_packet::shading_environment::{
    EnvironmentTextures, SKY_PHYSICAL, SKY_TEXTURE, ShadingEnvironment, SkyValues,
};
use engine::frame_packet::texture::{
    SamplerSettings, TexelFormat, TextureChange, TextureSlot, TextureTexels, WrapMode,
};
use engine::frame_packet::{FramePacket, View, ViewTarget};
use engine::system::render::{RenderQuality, RenderedImage, Renderer};

const PICTURE: TextureSlot = TextureSlot(40);

fn environment(change: impl FnOnce(&mut SkyValues)) -> ShadingEnvironment {
    let mut environment = ShadingEnvironment::DEFAULT;
    change(&mut environment.sky);
    environment
}

fn physical(hours: f32) -> ShadingEnvironment {
    environment(|sky| {
        sky.sky_mode = SKY_PHYSICAL;
        sky.sun_from_time = 1.0;
        sky.time_of_day = hours;
    })
}

/// Returns a wide country with blocks up to some kilometres away, and spheres in front.
fn country(environment: ShadingEnvironment, towards: Vec3) -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.light(sun(Vec3::new(0.5, 0.6, -0.8), 1.25));
    let grass = builder.matte([0.16, 0.18, 0.1]);
    builder.add_at(PLANE, grass, Vec3::ZERO, Vec3::new(20000.0, 20000.0, 1.0));
    let stone = builder.matte([0.35, 0.32, 0.3]);
    let side = towards.cross(Vec3::Z).normalize();
    for (far, across, height) in
        [(60.0, -20.0, 8.0), (300.0, 70.0, 45.0), (1200.0, -250.0, 200.0), (5000.0, 900.0, 600.0)]
    {
        let at = towards * far + side * across + Vec3::Z * height * 0.5;
        builder.add_at(CUBE, stone, at, Vec3::new(height * 0.7, height * 0.7, height * 0.5));
    }
    for (i, (metallic, roughness)) in [(1.0, 0.05), (1.0, 0.4), (0.0, 0.9)].into_iter().enumerate()
    {
        let base_color = [0.9, 0.9, 0.9, 1.0];
        let surface = SurfaceFrame { base_color, metallic, roughness, ..SurfaceFrame::DEFAULT };
        let surface = builder.surface(surface);
        let at = towards * 6.0 + side * (i as f32 * 1.7 - 1.7) + Vec3::Z * 0.7;
        builder.add_at(SPHERE, surface, at, Vec3::splat(0.7));
    }
    let eye = Vec3::new(0.0, 0.0, 1.8);
    let mut camera = look_camera(eye, eye + towards * 6.0 + Vec3::Z * 0.4, 320.0 / 180.0);
    camera.projection = projections::perspective(0.9, 320.0 / 180.0, 0.2, 30000.0);
    camera.far = 30000.0;
    builder.build(vec![View { camera, environment, ..view(Vec3::ZERO, Vec3::Y) }])
}

#[test]
fn physical_sky_at_noon() {
    check("sky_noon", vec![country(physical(11.0), Vec3::new(0.3, -1.0, 0.0).normalize())]);
}

#[test]
fn physical_sky_at_sunset() {
    let sunset = Vec3::new(-1.0, -0.12, 0.0).normalize();
    check("sky_sunset", vec![country(physical(17.8), sunset)]);
}

#[test]
fn physical_sky_at_night() {
    let mut night = physical(23.0);
    night.sky.moon_phase = 0.35;
    night.sky.sun_declination = 20.0;
    night.sky.moon_intensity = 0.15;
    night.sky.moon_size = 3.0;
    night.sky.stars_intensity = 2.0;
    check("sky_night", vec![country(night, Vec3::new(-0.75, -1.0, 0.0).normalize())]);
}

/// Returns a texture of a sky whose light is that of a function of the direction.
fn sky_picture(width: u32, height: u32, light: impl Fn(Vec3) -> [f32; 3]) -> TextureChange {
    let mut bytes = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let down = (y as f32 + 0.5) / height as f32 * std::f32::consts::PI;
            let around = ((x as f32 + 0.5) / width as f32 - 0.5) * std::f32::consts::TAU;
            let flat = down.sin();
            let direction = Vec3::new(around.sin() * flat, around.cos() * flat, down.cos());
            let [red, green, blue] = light(direction);
            bytes.extend([red, green, blue, 1.0].iter().flat_map(|it| half(*it).to_le_bytes()));
        }
    }
    let axes = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };
    let texels = TextureTexels {
        width,
        height,
        levels: 1,
        format: TexelFormat::Rgba16Float,
        sampling: axes,
        bytes: bytes.into(),
        start: 0,
    };
    TextureChange::Set { slot: PICTURE, texels }
}

/// Converts to a 16-bit float without rounding.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    if value.is_nan() {
        return 0x7e00;
    }
    if value.abs() > 65504.0 {
        return sign | 0x7c00;
    }
    match (bits >> 23 & 0xff) as i32 - 112 {
        exponent if exponent <= 0 => sign,
        exponent => sign | (exponent as u16) << 10 | (bits >> 13 & 0x3ff) as u16,
    }
}

fn texture_environment() -> ShadingEnvironment {
    environment(|sky| sky.sky_mode = SKY_TEXTURE)
}

fn with_picture(view: View) -> View {
    View {
        environment_textures: EnvironmentTextures {
            sky: Some(PICTURE),
            ..EnvironmentTextures::default()
        },
        ..view
    }
}

/// Returns a white sphere, of a metallic part and a roughness, in the middle of the picture. The
/// camera looks along a direction. There is only the light of the sky's texture.
fn sphere_in_sky(
    (metallic, roughness): (f32, f32),
    picture: TextureChange,
    along: Vec3,
) -> FramePacket {
    let mut builder = SceneBuilder::new();
    let base_color = [1.0; 4];
    let surface = SurfaceFrame { base_color, metallic, roughness, ..SurfaceFrame::DEFAULT };
    builder.sky(SkyFrame { tone_mapping: false, shown: SkyVisibility::Shown, ..SkyFrame::DEFAULT });
    builder.packet.textures.push(picture);
    let surface = builder.surface(surface);
    builder.add_at(SPHERE, surface, Vec3::ZERO, Vec3::splat(1.0));
    let environment = texture_environment();
    let main_view = View { environment, ..view(along * -20.0 + Vec3::X * 1e-3, Vec3::ZERO) };
    builder.build(vec![with_picture(main_view)])
}

/// Returns the linear light of a pixel's channel.
fn light_at(picture: &RenderedImage, x: u32, y: u32, channel: usize) -> f32 {
    let byte = picture.rgba[((y * picture.width + x) * 4) as usize + channel];
    let value = f32::from(byte) / 255.0;
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

fn start(quality: RenderQuality) -> Option<Renderer> {
    let mut started = renderer(false)?;
    started.set_quality(quality);
    Some(started)
}

#[test]
fn a_white_furnace_keeps_all_light() {
    let Some(mut renderer) = renderer(false) else { return };
    for metallic in [0.0, 1.0] {
        for roughness in [0.0, 0.3, 0.6, 1.0] {
            let picture = sky_picture(8, 4, |_| [0.5; 3]);
            let packet = sphere_in_sky((metallic, roughness), picture, Vec3::Y);
            let found = draw(&mut renderer, vec![packet], ViewTarget::Screen);
            // The background has the same light: the sphere is not visible.
            for y in (0..HEIGHT).step_by(3) {
                for x in (0..WIDTH).step_by(3) {
                    let light = light_at(&found, x, y, 1);
                    let context = format!("{metallic} {roughness} at {x}, {y}: {light}");
                    assert!((light - 0.5).abs() < 0.5 * 0.01, "{context}");
                }
            }
        }
    }
}

#[test]
fn a_matte_sphere_has_the_irradiance_of_a_gradient() {
    let Some(mut renderer) = renderer(false) else { return };
    // The irradiance of a + b * cosine is a + 2 / 3 * b * cosine, times pi.
    let (a, b) = (0.45, 0.4);
    for (along, height) in [(Vec3::NEG_Z, 1.0), (Vec3::Y, 0.0), (Vec3::Z, -1.0)] {
        let picture = sky_picture(128, 64, |direction| [a + b * direction.z; 3]);
        let packet = sphere_in_sky((0.0, 1.0), picture, along);
        let found = draw(&mut renderer, vec![packet], ViewTarget::Screen);
        // The middle of the sphere is between four pixels.
        let pixels = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let lights = pixels.map(|(x, y)| light_at(&found, WIDTH / 2 - x, HEIGHT / 2 - y, 1));
        let light = lights.iter().sum::<f32>() / 4.0;
        let wanted = a + 2.0 / 3.0 * b * height;
        assert!((light - wanted).abs() < wanted * 0.02, "{along}: {light} {wanted}");
    }
}

#[test]
fn a_mirror_shows_the_sky_where_it_is() {
    let Some(mut renderer) = renderer(false) else { return };
    // The north is red, the south green, and the east blue.
    let colors = |at: Vec3| [at.y.max(0.0), (-at.y).max(0.0), at.x.max(0.0)];
    let packet = sphere_in_sky((1.0, 0.0), sky_picture(256, 128, colors), Vec3::Y);
    let found = draw(&mut renderer, vec![packet], ViewTarget::Screen);
    let middle: Vec<f32> =
        (0..3).map(|channel| light_at(&found, WIDTH / 2, HEIGHT / 2, channel)).collect();
    assert!(middle[0] < 0.03 && middle[1] > 0.95 && middle[2] < 0.1, "{middle:?}");
    // At the right edge of the picture, the background is north, a little east.
    let edge: Vec<f32> =
        (0..3).map(|channel| light_at(&found, WIDTH - 4, HEIGHT / 2, channel)).collect();
    assert!(edge[0] > 0.75 && edge[1] < 0.03 && edge[2] > 0.2, "{edge:?}");
    // Turned by a quarter counterclockwise, the east is where the north was.
    let mut turned = sphere_in_sky((1.0, 0.0), sky_picture(256, 128, colors), Vec3::Y);
    turned.views[0].environment.sky.sky_rotation = 90.0;
    let found = draw(&mut renderer, vec![turned], ViewTarget::Screen);
    let edge: Vec<f32> = (0..3).map(|channel| light_at(&found, WIDTH / 2, 4, channel)).collect();
    assert!(edge[2] > 0.75 && edge[0] < 0.1, "{edge:?}");
}

#[test]
fn filtering_keeps_the_energy_of_a_small_bright_spot() {
    let Some(mut renderer) = renderer(false) else { return };
    // A spot of 0.1 sr and light 10 to all sides of the mean gives the mean of 10 * 0.1 / (4 pi).
    let towards = Vec3::new(0.3, -0.5, 0.4).normalize();
    let solid = 0.1f32;
    let limit = 1.0 - solid / std::f32::consts::TAU;
    let spot = |at: Vec3| [if at.dot(towards) > limit { 10.0 } else { 0.0 }; 3];
    // A matte surface that faces it gets light * solid angle / pi.
    let packet = sphere_in_sky((0.0, 1.0), sky_picture(512, 256, spot), -towards);
    let found = draw(&mut renderer, vec![packet], ViewTarget::Screen);
    let light = light_at(&found, WIDTH / 2, HEIGHT / 2, 1);
    // Three bands of harmonics keep 17 / 16 of a point's light in its direction.
    let wanted = 10.0 * solid / std::f32::consts::PI * 17.0 / 16.0;
    assert!((light - wanted).abs() < wanted * 0.06, "{light} {wanted}");
}

#[test]
fn texels_that_are_not_finite_are_dark_and_do_not_spread() {
    let Some(mut renderer) = renderer(false) else { return };
    let broken = |at: Vec3| match at {
        at if at.z > 0.95 => [f32::NAN; 3],
        at if at.z > 0.9 => [f32::INFINITY; 3],
        at if at.z < -0.9 => [f32::NEG_INFINITY; 3],
        _ => [0.5; 3],
    };
    for (metallic, roughness) in [(1.0, 0.0), (1.0, 0.7), (0.0, 1.0)] {
        let picture = sky_picture(64, 32, broken);
        let packet = sphere_in_sky((metallic, roughness), picture, Vec3::Y);
        let found = draw(&mut renderer, vec![packet], ViewTarget::Screen);
        for (x, y) in [(WIDTH / 2, HEIGHT / 2), (WIDTH / 2 + 10, HEIGHT / 2 + 5), (10, 90)] {
            let light = light_at(&found, x, y, 1);
            assert!(light > 0.3 && light < 0.52, "{metallic} {roughness}: {light}");
        }
    }
}

#[test]
fn a_sky_without_texture_is_the_gradient() {
    let Some(mut renderer) = renderer(false) else { return };
    let before = draw(&mut renderer, vec![spheres()], ViewTarget::Screen);
    let mut packet = spheres();
    packet.views[0].environment = texture_environment();
    assert!(before == draw(&mut renderer, vec![packet], ViewTarget::Screen));
    let mut packet = spheres();
    packet.views[0].environment = physical(12.0);
    assert!(before != draw(&mut renderer, vec![packet], ViewTarget::Screen));
    assert!(before == draw(&mut renderer, vec![spheres()], ViewTarget::Screen));
}

/// Returns the views of two environments, left and right.
fn two_views(left: ShadingEnvironment, right: ShadingEnvironment) -> FramePacket {
    let mut packet = country(left, Vec3::Y);
    let mut second = packet.views[0].clone();
    packet.views[0].rectangle = [0.0, 0.0, 0.5, 1.0];
    second.rectangle = [0.5, 0.0, 0.5, 1.0];
    (second.environment, second.clear) = (right, None);
    packet.views.push(second);
    packet
}

#[test]
fn views_with_different_skies_do_not_disturb_each_other() {
    let Some(mut renderer) = renderer(false) else { return };
    let (noon, evening) = (physical(12.0), physical(17.9));
    let both = draw(&mut renderer, vec![two_views(noon, evening)], ViewTarget::Screen);
    for (alike, left) in [(noon, true), (evening, false)] {
        let Some(mut other) = start(QUALITY) else { return };
        let found = draw(&mut other, vec![two_views(alike, alike)], ViewTarget::Screen);
        for y in 0..HEIGHT {
            for x in 0..WIDTH / 2 - 1 {
                let x = if left { x } else { WIDTH / 2 + 1 + x };
                let at = ((y * WIDTH + x) * 4) as usize;
                assert_eq!(both.rgba[at..at + 4], found.rgba[at..at + 4], "{x}, {y}");
            }
        }
    }
}

#[test]
fn every_time_and_latitude_is_drawn_without_black_pixels() {
    let Some(mut renderer) = renderer(false) else { return };
    let times = [(0.0, 0.0), (24.0, 90.0), (6.0, -90.0), (18.02, 45.0), (f32::NAN, f32::INFINITY)];
    for (hours, latitude) in times {
        let mut sky = physical(hours);
        sky.sky.latitude = latitude;
        sky.sky.haze = if hours > 20.0 { 50.0 } else { 0.0 };
        sky.sky.night_color = [0.01; 3];
        let packet = country(sky, Vec3::Y);
        let found = draw(&mut renderer, vec![packet], ViewTarget::Screen);
        let dark = found.rgba.chunks_exact(4).filter(|texel| texel[2] < 4).count();
        assert_eq!(dark, 0, "{hours} {latitude}: {dark} black pixels");
    }
}

#[test]
fn a_changed_time_is_updated_over_some_frames() {
    let Some(mut other) = renderer(false) else { return };
    let evening = draw(&mut other, vec![country(physical(17.5), Vec3::Y)], ViewTarget::Screen);
    let Some(mut renderer) = start(RenderQuality { sky_steps: 2, ..QUALITY }) else { return };
    draw(&mut renderer, vec![country(physical(12.0), Vec3::Y)], ViewTarget::Screen);
    let next = |renderer: &mut Renderer| {
        draw(renderer, vec![country(physical(17.5), Vec3::Y)], ViewTarget::Screen)
    };
    let first = next(&mut renderer);
    assert!(first != evening);
    // An update of 256 texels on a side has nine steps, and each frame draws two.
    let last = (0..4).map(|_| next(&mut renderer)).last().expect("there are some");
    assert!(last == evening);
}

#[test]
fn a_lost_device_has_its_skies_again() {
    let Some(mut renderer) = renderer(false) else { return };
    let packet = || country(physical(9.0), Vec3::Y);
    let before = draw(&mut renderer, vec![packet()], ViewTarget::Screen);
    renderer.lose_device();
    renderer.submit(FramePacket { scale: 1.0, ..FramePacket::default() });
    renderer.events();
    let views = FramePacket { views: packet().views, scale: 1.0, ..FramePacket::default() };
    assert!(before == draw(&mut renderer, vec![views], ViewTarget::Screen));
}

#[test]
fn switching_skies_does_not_grow() {
    let Some(mut renderer) = renderer(false) else { return };
    let views = |environment: ShadingEnvironment| {
        let mut packet = country(environment, Vec3::Y);
        packet.views.iter_mut().for_each(|view| view.target = ViewTarget::Screen);
        FramePacket { views: packet.views, scale: 1.0, ..FramePacket::default() }
    };
    let first = country(physical(12.0), Vec3::Y);
    let before = draw(&mut renderer, vec![first], ViewTarget::Screen);
    for i in 0..40 {
        let environment = if i % 2 == 0 { ShadingEnvironment::DEFAULT } else { physical(12.0) };
        let found = draw(&mut renderer, vec![views(environment)], ViewTarget::Screen);
        assert_eq!(found == before, i % 2 == 1, "{i}");
    }
}

#[test]
fn one_sample_and_an_orthographic_camera_show_the_sky() {
    let Some(mut renderer) = start(RenderQuality { samples: 1, sky_texels: 64, ..QUALITY }) else {
        return;
    };
    let mut packet = country(physical(12.0), Vec3::Y);
    let found = draw(&mut renderer, vec![packet], ViewTarget::Screen);
    assert!(light_at(&found, 5, 5, 2) > 1.5 * light_at(&found, 5, 5, 0));
    packet = country(physical(12.0), Vec3::Y);
    packet.views[0].camera.projection =
        projections::orthographic(-8.0, 8.0, -4.5, 4.5, 0.1, 20000.0);
    let found = draw(&mut renderer, vec![packet], ViewTarget::Screen);
    let corners = [(5, 5), (WIDTH - 5, 5)].map(|(x, y)| light_at(&found, x, y, 2));
    assert_eq!(corners[0], corners[1]);
}

/// Returns pillars in a row in fog.
fn foggy(change: impl FnOnce(&mut SkyValues)) -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.ground();
    builder.light(sun(Vec3::new(0.2, -1.0, -0.3), 1.25));
    let stone = builder.matte([0.5, 0.3, 0.2]);
    for i in 0..8 {
        let at = Vec3::new((i % 2) as f32 * 5.0 - 2.5, i as f32 * 6.0, 3.0);
        builder.add_draw(
            CUBE,
            stone,
            Mat4::from_translation(at) * Mat4::from_scale(Vec3::new(0.6, 0.6, 3.0)),
        );
    }
    let environment = environment(change);
    let mut main_view = view(Vec3::new(0.0, -8.0, 3.0), Vec3::new(0.0, 10.0, 3.2));
    main_view.environment = environment;
    builder.build(vec![main_view])
}

#[test]
fn fog_lies_on_the_ground_and_glows_towards_the_sun() {
    let fog = foggy(|sky| {
        sky.fog_density = 0.12;
        sky.fog_color = [0.45, 0.5, 0.56];
        sky.fog_height = 0.5;
        sky.fog_height_falloff = 0.7;
        sky.fog_start = 2.0;
        sky.fog_sun_color = [0.7, 0.45, 0.2];
        sky.fog_sun_exponent = 12.0;
    });
    check("sky_fog", vec![fog]);
}

#[test]
fn fog_of_a_tiny_falloff_is_uniform_fog() {
    let Some(mut renderer) = renderer(false) else { return };
    let uniform = foggy(|sky| sky.fog_density = 0.02);
    let uniform = draw(&mut renderer, vec![uniform], ViewTarget::Screen);
    let shaped = foggy(|sky| {
        sky.fog_density = 0.02;
        sky.fog_height_falloff = 1e-6;
    });
    let shaped = draw(&mut renderer, vec![shaped], ViewTarget::Screen);
    // Below the horizon: the sky itself is behind endless fog then.
    for y in HEIGHT / 2 + 10..HEIGHT {
        for x in 0..WIDTH {
            let at = ((y * WIDTH + x) * 4) as usize;
            let (one, other) = (uniform.rgba[at], shaped.rgba[at]);
            assert!(one.abs_diff(other) <= 1, "{x}, {y}: {one} {other}");
        }
    }
    let late = foggy(|sky| {
        sky.fog_density = 0.02;
        sky.fog_start = 1000.0;
    });
    let late = draw(&mut renderer, vec![late], ViewTarget::Screen);
    let clear = draw(&mut renderer, vec![foggy(|_| {})], ViewTarget::Screen);
    let at = (((HEIGHT - 5) * WIDTH + 100) * 4) as usize;
    assert_eq!(late.rgba[at..at + 3], clear.rgba[at..at + 3]);
}

#[test]
fn fog_absorbs_by_its_density_and_distance() {
    let Some(mut renderer) = renderer(false) else { return };
    // A black wall, 10 m ahead of the camera, in white fog that ends 2 m below the camera.
    let wall = |height: f32, density: f32| {
        let mut builder = SceneBuilder::new();
        let hidden = SkyVisibility::Hidden;
        builder.sky(SkyFrame { tone_mapping: false, shown: hidden, ..SkyFrame::DEFAULT });
        let base_color = [0.0, 0.0, 0.0, 1.0];
        let black = SurfaceFrame { base_color, unlit: true, ..SurfaceFrame::DEFAULT };
        let black = builder.surface(black);
        builder.add_at(CUBE, black, Vec3::new(0.0, 11.0, 0.0), Vec3::new(50.0, 1.0, 50.0));
        let mut main_view = view(Vec3::ZERO, Vec3::Y);
        main_view.environment = environment(|sky| {
            sky.fog_density = density;
            sky.fog_color = [1.0; 3];
            sky.fog_height = height;
            sky.fog_height_falloff = 0.5;
        });
        builder.build(vec![main_view])
    };
    for (height, density, depth) in
        [(5.0, 0.05, 0.5f32), (-2.0, 0.05, 0.5 * (-1.0f32).exp()), (-20.0, 1.0, 0.0)]
    {
        let found = draw(&mut renderer, vec![wall(height, density)], ViewTarget::Screen);
        let light = light_at(&found, WIDTH / 2, HEIGHT / 2, 1);
        let wanted = 1.0 - (-depth).exp();
        assert!((light - wanted).abs() < 0.006, "{height}: {light} {wanted}");
    }
}

/// Returns a probe with a box of half sizes around a position.
fn probe(at: Vec3, half: Vec3, blend_distance: f32) -> ProbeFrame {
    ProbeFrame {
        pose: DrawTransform::of(&(Mat4::from_translation(at) * Mat4::from_scale(half))),
        position: at,
        blend_distance,
        priority: 0,
        intensity: 1.0,
        texture: PICTURE,
    }
}

/// Returns a small horizontal square of a surface, in front of a camera in the south, with a probe
/// and without light from the sky.
fn square_in_probe(
    (metallic, roughness): (f32, f32),
    at: Vec3,
    picture: TextureChange,
    probe: ProbeFrame,
) -> FramePacket {
    let mut builder = SceneBuilder::new();
    let dark = SkyFrame { top: [0.0; 3], horizon: [0.0; 3], ground: [0.0; 3], ..SkyFrame::DEFAULT };
    builder.sky(SkyFrame { tone_mapping: false, shown: SkyVisibility::Hidden, ..dark });
    builder.packet.textures.push(picture);
    builder.frame.probes_changed = true;
    builder.frame.probes.push(probe);
    let base_color = [1.0; 4];
    let surface = SurfaceFrame { base_color, metallic, roughness, ..SurfaceFrame::DEFAULT };
    let surface = builder.surface(surface);
    builder.add_at(PLANE, surface, at, Vec3::splat(0.2));
    builder.build(vec![view(at + Vec3::new(0.0, -4.0, 2.0), at)])
}

/// Draws a packet with all changes, and then its views until its probes are complete.
fn settled(renderer: &mut Renderer, packet: impl Fn() -> FramePacket) -> RenderedImage {
    draw(renderer, vec![packet()], ViewTarget::Screen);
    let mut last = None;
    for _ in 0..4 {
        let views = FramePacket { views: packet().views, scale: 1.0, ..FramePacket::default() };
        last = Some(draw(renderer, vec![views], ViewTarget::Screen));
    }
    last.expect("it was drawn")
}

fn middle(picture: &RenderedImage) -> [f32; 3] {
    [0, 1, 2].map(|channel| light_at(picture, WIDTH / 2, HEIGHT / 2, channel))
}

#[test]
fn mirrors_in_a_box_show_its_walls_where_they_are() {
    let Some(mut renderer) = renderer(false) else { return };
    // The mirror shows the north wall at a height of 1.5 m, 17 degrees above the middle of the box;
    // the mirrored direction itself is 27 degrees above it.
    let limit = 22f32.to_radians().sin();
    let bands = |at: Vec3| if at.z > limit { [0.0, 0.8, 0.0] } else { [0.8, 0.0, 0.0] };
    let at = Vec3::new(0.0, 0.0, -1.0);
    let packet = |half: f32| {
        let room = probe(Vec3::ZERO, Vec3::splat(half), 0.1);
        square_in_probe((1.0, 0.0), at, sky_picture(256, 128, bands), room)
    };
    let [red, green, _] = middle(&settled(&mut renderer, || packet(5.0)));
    assert!(red > 0.75 && green < 0.05, "{red} {green}");
    // In a box that is far away, the direction decides.
    let [red, green, _] = middle(&settled(&mut renderer, || packet(5000.0)));
    assert!(red < 0.05 && green > 0.75, "{red} {green}");
}

#[test]
fn probes_fade_in_from_the_sides_of_their_boxes() {
    let Some(mut renderer) = renderer(false) else { return };
    for (x, wanted) in [(0.0, 0.6), (4.5, 0.3), (4.75, 0.15), (5.5, 0.0)] {
        let packet = || {
            let room = probe(Vec3::ZERO, Vec3::splat(5.0), 1.0);
            let picture = sky_picture(8, 4, |_| [0.6; 3]);
            square_in_probe((0.0, 1.0), Vec3::X * x, picture, room)
        };
        let [_, found, _] = middle(&settled(&mut renderer, packet));
        assert!((found - wanted).abs() < 0.012, "{x}: {found} {wanted}");
    }
}

#[test]
fn a_hundred_probes_and_broken_ones_are_drawn_within_the_budget() {
    let Some(mut renderer) = renderer(false) else { return };
    let packet = || {
        let room = probe(Vec3::ZERO, Vec3::splat(5.0), 1.0);
        let picture = sky_picture(8, 4, |_| [0.6; 3]);
        let mut packet = square_in_probe((0.0, 1.0), Vec3::ZERO, picture, room);
        let scene = &mut packet.scenes[0];
        for i in 0..100 {
            let far = Vec3::new(20.0 + i as f32, 0.0, 0.0);
            let texture = TextureSlot(100 + i);
            scene.probes.push(ProbeFrame { texture, ..probe(far, Vec3::ONE, 0.0) });
        }
        let broken = probe(Vec3::splat(f32::NAN), Vec3::ZERO, f32::INFINITY);
        scene.probes.push(broken);
        packet
    };
    let [_, found, _] = middle(&settled(&mut renderer, packet));
    assert!((found - 0.6).abs() < 0.012, "{found}");
    let end = FramePacket {
        scenes: vec![SceneFrame { scene: 1, probes_changed: true, ..SceneFrame::default() }],
        views: packet().views,
        scale: 1.0,
        ..FramePacket::default()
    };
    assert_eq!(middle(&draw(&mut renderer, vec![end], ViewTarget::Screen)), [0.0; 3]);
}
