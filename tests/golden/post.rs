//! Tests of post effects: a golden picture of each effect, and the numbers that they keep.

use super::forward::{SceneBuilder, sun, view};
use super::meshes::{CUBE, PLANE, SPHERE};
use super::scenes::{KEY, solid};
use super::{QUALITY, compare, draw, renderer};
use engine::foundation::{Mat4, Vec3};
use engine::frame_packet::gui::{GuiFrame, GuiSpace, QuadBatch};
use engine::frame_packet::material::BlendMode;
use engine::frame_packet::mesh::{SurfaceFrame, SurfaceSlot};
use engine::frame_packet::scene::{ParticleBatch, ParticleQuad, SkyFrame, SkyVisibility};
use engine::frame_packet::shading_environment::ShadingEnvironment;
use engine::frame_packet::texture::{
    SamplerSettings, TexelFormat, TextureChange, TextureSlot, TextureTexels, WrapMode,
};
use engine::frame_packet::{CaptureRequest, FramePacket, View, ViewTarget};
use engine::system::render::{Antialiasing, RenderQuality, RenderedImage, Renderer, RendererEvent};

/// Returns an environment with some values changed.
fn with(values: &[(&str, f32)]) -> ShadingEnvironment {
    let mut environment = ShadingEnvironment::DEFAULT;
    for (name, value) in values {
        let (first, row) = ShadingEnvironment::find(name).expect("a value");
        environment.floats_mut()[first..][..row.kind.components()].fill(*value);
    }
    environment.sanitize();
    environment
}

/// Returns the index of a tone mapper.
fn mapper(name: &str) -> f32 {
    use engine::frame_packet::shading_environment::ValueKind;
    let (_, row) = ShadingEnvironment::find("tone_mapper").expect("a value");
    let ValueKind::Choice(names) = row.kind else { panic!("no choice") };
    names.iter().position(|other| *other == name).expect("a tone mapper") as f32
}

fn glowing(builder: &mut SceneBuilder, emissive: [f32; 3]) -> SurfaceSlot {
    builder.surface(SurfaceFrame {
        base_color: [0.0, 0.0, 0.0, 1.0],
        emissive,
        ..SurfaceFrame::DEFAULT
    })
}

/// Returns lamps of several colors and brightnesses among boxes in the evening.
fn lamps(views: Vec<View>) -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.sky(SkyFrame {
        top: [0.02, 0.03, 0.08],
        horizon: [0.12, 0.09, 0.1],
        ground: [0.02, 0.02, 0.02],
        shown: SkyVisibility::Shown,
        ..SkyFrame::DEFAULT
    });
    builder.ground();
    builder.light(sun(Vec3::new(0.6, 0.7, -0.5), 0.5));
    let wall = builder.matte([0.5, 0.42, 0.35]);
    let red = builder.matte([0.7, 0.12, 0.1]);
    let green = builder.matte([0.15, 0.55, 0.2]);
    builder.add_at(CUBE, wall, Vec3::new(-1.6, 1.2, 0.8), Vec3::new(0.5, 0.3, 0.8));
    builder.add_at(CUBE, red, Vec3::new(1.7, 0.9, 0.6), Vec3::new(0.3, 0.3, 0.6));
    builder.add_at(SPHERE, green, Vec3::new(0.8, -0.5, 0.3), Vec3::splat(0.3));
    for (x, emissive) in [(-0.9, [6.0, 3.0, 0.9]), (0.1, [12.0; 3]), (1.0, [0.6, 2.0, 9.0])] {
        let lamp = glowing(&mut builder, emissive);
        builder.add_at(SPHERE, lamp, Vec3::new(x, 0.4, 1.0), Vec3::splat(0.14));
    }
    builder.build(views)
}

fn evening(environment: ShadingEnvironment) -> View {
    View { environment, ..view(Vec3::new(0.2, -5.0, 1.9), Vec3::new(0.1, 0.3, 0.65)) }
}

/// Draws the lamps with an environment.
fn picture_with(environment: ShadingEnvironment, quality: RenderQuality) -> Option<RenderedImage> {
    let mut renderer = renderer(false)?;
    renderer.set_quality(quality);
    Some(draw(&mut renderer, vec![lamps(vec![evening(environment)])], ViewTarget::Screen))
}

#[track_caller]
fn check(name: &str, values: &[(&str, f32)]) {
    if let Some(picture) = picture_with(with(values), QUALITY) {
        compare(name, &picture);
    }
}

const FXAA: RenderQuality =
    RenderQuality { samples: 1, antialiasing: Antialiasing::Fxaa, ..QUALITY };

#[test]
fn bloom_surrounds_bright_lamps() {
    check("post_bloom", &[("bloom_intensity", 0.25)]);
}

#[test]
fn bloom_with_a_threshold_leaves_dim_light_alone() {
    check("post_bloom_threshold", &[("bloom_intensity", 0.6), ("bloom_threshold", 1.5)]);
}

#[test]
fn vignette_grain_and_color_fringes() {
    let lens =
        [("vignette_intensity", 0.8), ("chromatic_aberration", 0.6), ("grain_intensity", 0.5)];
    check("post_lens", &lens);
}

#[test]
fn fine_details_are_sharpened() {
    check("post_sharpening", &[("sharpening", 1.0)]);
}

#[test]
fn edges_are_smoothed_without_multisampling() {
    if let Some(picture) = picture_with(ShadingEnvironment::DEFAULT, FXAA) {
        compare("post_fxaa", &picture);
    }
}

#[test]
fn edges_are_straightened_by_smaa() {
    let quality = RenderQuality { samples: 1, antialiasing: Antialiasing::Smaa, ..QUALITY };
    let Some(picture) = picture_with(ShadingEnvironment::DEFAULT, quality) else { return };
    compare("post_smaa", &picture);
}

#[test]
fn a_picture_without_edges_is_unchanged_by_smaa() {
    let quality = RenderQuality { samples: 1, ..QUALITY };
    let smaa = RenderQuality { antialiasing: Antialiasing::Smaa, ..quality };
    let flat = |quality| {
        let mut packet = super::forward::SceneBuilder::new();
        let gray = packet.matte([0.4, 0.3, 0.2]);
        packet.add_at(super::meshes::PLANE, gray, Vec3::ZERO, Vec3::new(60.0, 60.0, 1.0));
        let below = super::forward::view(Vec3::new(0.0, -0.1, 5.0), Vec3::ZERO);
        super::screen_space::picture(packet.build(vec![below]), quality)
    };
    let Some(plain) = flat(quality) else { return };
    let smoothed = flat(smaa).expect("it works");
    assert_eq!(super::screen_space::largest_difference(&plain, &smoothed), 0);
}

#[test]
fn worlds_are_drawn_at_half_and_at_twice_the_size() {
    let at = |scale| picture_with(ShadingEnvironment::DEFAULT, RenderQuality { scale, ..QUALITY });
    let Some(plain) = at(1.0) else { return };
    let (half, twice) = (at(0.5).expect("it works"), at(2.0).expect("it works"));
    compare("post_half_scale", &half);
    for (picture, allowed) in [(&half, 20.0), (&twice, 6.0)] {
        assert_eq!((picture.width, picture.height), (plain.width, plain.height));
        assert!((mean(picture) - mean(&plain)).abs() < 0.7);
        let (left, top, worst) = super::difference(picture, &plain);
        assert!(worst < allowed, "{left} {top}: {worst}");
    }
    assert!(half != plain && twice != plain);
    assert!(at(f32::NAN).expect("it works") == plain);
    assert!(at(f32::INFINITY).expect("it works") == twice);
}

#[test]
fn exposure_is_compensated_by_hand() {
    check("post_exposure", &[("exposure_compensation", 1.5)]);
}

/// Returns views with environments of their own in a grid of three columns and two rows.
fn grid(environments: [ShadingEnvironment; 6]) -> FramePacket {
    let cells = environments.into_iter().enumerate().map(|(i, environment)| {
        let (column, row) = ((i % 3) as f32, (i / 3) as f32);
        let rectangle = [column / 3.0, 0.5 - row * 0.5, 1.0 / 3.0, 0.5];
        View { rectangle, ..evening(environment) }
    });
    lamps(cells.collect())
}

#[test]
fn every_tone_mapper_in_a_view_of_its_own() {
    let Some(mut renderer) = renderer(false) else { return };
    let names = ["neutral", "reinhard", "agx", "aces", "filmic", "none"];
    let packet = grid(
        names.map(|name| with(&[("tone_mapper", mapper(name)), ("exposure_compensation", 1.5)])),
    );
    compare("post_tone_mappers", &draw(&mut renderer, vec![packet], ViewTarget::Screen));
}

#[test]
fn every_kind_of_grading_in_a_view_of_its_own() {
    let Some(mut renderer) = renderer(false) else { return };
    let packet = grid([
        with(&[("white_temperature", 9500.0)]),
        with(&[("white_temperature", 4000.0), ("white_tint", 0.5)]),
        with(&[("contrast", 1.5)]),
        with(&[("saturation", 0.2)]),
        with(&[("color_lift", 0.1), ("color_gain", 0.9)]),
        with(&[("color_gamma", 1.6), ("saturation", 1.5)]),
    ]);
    compare("post_grading", &draw(&mut renderer, vec![packet], ViewTarget::Screen));
}

fn linear(byte: u8) -> f64 {
    let value = f64::from(byte) / 255.0;
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

/// Returns the sum of an image's light.
fn sum_of_light(picture: &RenderedImage) -> f64 {
    let pixels = picture.rgba.chunks_exact(4);
    pixels.map(|pixel| pixel[..3].iter().map(|byte| linear(*byte)).sum::<f64>()).sum()
}

/// Returns a bright disk in the middle of darkness. Its light is cut where it is too bright, and
/// the exposure is so low that this does not happen.
fn disk(emissive: [f32; 3], environment: ShadingEnvironment) -> FramePacket {
    let mut builder = SceneBuilder::new();
    let (top, horizon, ground) = ([0.0; 3], [0.0; 3], [0.0; 3]);
    let (exposure, tone_mapping) = (0.2, false);
    let dark = SkyFrame { top, horizon, ground, exposure, tone_mapping, ..SkyFrame::DEFAULT };
    builder.sky(dark);
    let lamp = glowing(&mut builder, emissive);
    builder.add_at(SPHERE, lamp, Vec3::ZERO, Vec3::splat(0.6));
    let clear = Some([0.0, 0.0, 0.0, 1.0]);
    let from = view(Vec3::new(0.0, -5.0, 0.0), Vec3::ZERO);
    builder.build(vec![View { environment, clear, ..from }])
}

#[test]
fn bloom_keeps_the_sum_of_light() {
    let Some(mut renderer) = renderer(false) else { return };
    let mut sum = |values: &[(&str, f32)]| {
        let packet = disk([3.0, 2.0, 1.0], with(values));
        sum_of_light(&draw(&mut renderer, vec![packet], ViewTarget::Screen))
    };
    let without = sum(&[]);
    for scatter in [0.0, 0.4, 0.7] {
        let bloomed = sum(&[("bloom_intensity", 0.4), ("bloom_scatter", scatter)]);
        let ratio = bloomed / without;
        assert!((0.985..1.015).contains(&ratio), "scatter {scatter}: {ratio}");
    }
    let above = sum(&[("bloom_intensity", 0.4), ("bloom_threshold", 0.3)]) / without;
    assert!((0.98..1.015).contains(&above), "{above}");
}

#[test]
fn effects_without_strength_change_no_byte() {
    let Some(plain) = picture_with(ShadingEnvironment::DEFAULT, QUALITY) else { return };
    for values in [
        &[("bloom_scatter", 0.2), ("bloom_threshold", 1.0)][..],
        &[("vignette_radius", 0.3), ("grain_size", 4.0)],
        &[("auto_exposure_key", 0.5), ("tone_white", 9.0)],
    ] {
        let picture = picture_with(with(values), QUALITY).expect("there is an adapter");
        assert!(picture == plain, "{values:?}");
    }
}

/// Returns a color table with a side of 16 texels, whose colors are changed by a function.
fn table(change: impl Fn([u8; 3]) -> [u8; 3]) -> TextureTexels {
    let mut bytes = Vec::new();
    for green in 0..16 {
        for at in 0..256 {
            let color = [at % 16, green, at / 16].map(|level: u32| (level * 17) as u8);
            bytes.extend(change(color));
            bytes.push(255);
        }
    }
    let sampling = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };
    let (width, height, levels, format) = (256, 16, 1, TexelFormat::Rgba8);
    TextureTexels { width, height, levels, format, sampling, bytes: bytes.into(), start: 0 }
}

/// Returns the lamps, graded by a color table.
fn tabled(texels: TextureTexels) -> FramePacket {
    let slot = TextureSlot(9);
    let mut packet = lamps(vec![evening(ShadingEnvironment::DEFAULT)]);
    packet.textures.push(TextureChange::Set { slot, texels });
    packet.views[0].environment_textures.color_table = Some(slot);
    packet
}

#[test]
fn a_color_table_that_changes_nothing_changes_no_byte() {
    let Some(mut renderer) = renderer(false) else { return };
    for samples in [4, 1] {
        renderer.set_quality(RenderQuality { samples, ..QUALITY });
        let plain = lamps(vec![evening(ShadingEnvironment::DEFAULT)]);
        let plain = draw(&mut renderer, vec![plain], ViewTarget::Screen);
        let same = draw(&mut renderer, vec![tabled(table(|color| color))], ViewTarget::Screen);
        assert!(plain == same, "{samples}");
        assert!(renderer.statistics().post_bytes >= 16 * 16 * 16 * 8);
    }
}

#[test]
fn a_color_table_grades_the_colors_of_a_view() {
    let Some(mut renderer) = renderer(false) else { return };
    // Shadows become teal, and highlights orange.
    let packet = tabled(table(|[r, g, b]| {
        let mean = (u32::from(r) + u32::from(g) + u32::from(b)) / 3;
        let add = |value: u8, more: u32| (u32::from(value) + more).min(255) as u8;
        [add(r, mean / 5), g, add(b, (255 - mean) / 6)]
    }));
    let picture = draw(&mut renderer, vec![packet], ViewTarget::Screen);
    compare("post_color_table", &picture);
    // A view keeps its table until the texture changes, or ends.
    let mut packet = tabled(table(|[r, g, b]| [b, g, r]));
    let texels = std::mem::take(&mut packet.textures);
    assert!(picture == draw(&mut renderer, vec![packet], ViewTarget::Screen));
    let mut packet = tabled(table(|[r, g, b]| [b, g, r]));
    packet.textures = texels;
    assert!(picture != draw(&mut renderer, vec![packet], ViewTarget::Screen));
}

#[test]
fn a_color_table_of_a_wrong_size_is_reported_once() {
    let Some(mut renderer) = renderer(false) else { return };
    let texels = TextureTexels { width: 128, height: 32, ..table(|color| color) };
    for frame in 0..3 {
        let mut packet = tabled(texels.clone());
        if frame > 0 {
            packet.textures.clear();
        }
        packet.views[0].target = ViewTarget::Screen;
        packet.captures.push(CaptureRequest { number: 1, of: ViewTarget::Screen });
        renderer.submit(packet);
    }
    renderer.finish();
    let is_refused = |event: &&RendererEvent| {
        matches!(event, RendererEvent::TextureRefused { slot: TextureSlot(9), message }
            if message.contains("128 × 32 texels"))
    };
    let events = renderer.events();
    assert_eq!(events.iter().filter(is_refused).count(), 1, "{:?}", events.len());
}

/// Returns the mean brightness of an image, from 0 to 255.
fn mean(picture: &RenderedImage) -> f64 {
    let bytes = picture.rgba.chunks_exact(4).flat_map(|pixel| &pixel[..3]);
    bytes.map(|byte| f64::from(*byte)).sum::<f64>() / f64::from(picture.width * picture.height * 3)
}

/// Returns a gray room whose light has a strength, at a time.
fn room(strength: f32, seconds: f64, values: &[(&str, f32)]) -> FramePacket {
    let mut builder = SceneBuilder::new();
    let light = [strength; 3];
    builder.sky(SkyFrame {
        top: light,
        horizon: light,
        ground: light,
        shown: SkyVisibility::Shown,
        ..SkyFrame::DEFAULT
    });
    let gray = builder.matte([0.4; 3]);
    builder.add_at(PLANE, gray, Vec3::ZERO, Vec3::new(60.0, 60.0, 1.0));
    builder.add_at(CUBE, gray, Vec3::new(0.0, 0.3, 0.5), Vec3::splat(0.5));
    let automatic = [&[("exposure_mode", 1.0)], values].concat();
    FramePacket { seconds, ..builder.build(vec![evening(with(&automatic))]) }
}

/// Returns a packet of the same room with its light changed, and nothing else.
fn relit(strength: f32, seconds: f64) -> FramePacket {
    let mut packet = room(strength, seconds, &[]);
    packet.meshes.clear();
    packet.surfaces.clear();
    packet.scenes[0].changes.clear();
    packet.scenes[0].surfaces.clear();
    packet
}

#[test]
fn automatic_exposure_begins_adapted_and_follows_the_light() {
    let Some(mut renderer) = renderer(false) else { return };
    let mut bright = |packets| mean(&draw(&mut renderer, packets, ViewTarget::Screen));
    let first = bright(vec![room(0.5, 0.0, &[])]);
    // 16 times as bright: at first too bright, later as before. Frames are drawn if captured.
    let shocked = bright(vec![relit(8.0, 0.01)]);
    let adapted = (1..12).map(|i| bright(vec![relit(8.0, f64::from(i) * 0.5)])).last();
    let adapted = adapted.expect("there are frames");
    assert!(shocked > first + 50.0, "{first} {shocked}");
    assert!((adapted - first).abs() < 3.0, "{first} {adapted}");
    // In a pause the time stands still, and the exposure with it.
    let paused = bright(vec![relit(0.02, 5.5)]);
    assert!(paused < first * 0.3, "{first} {paused}");
    let dark = (1..12).map(|i| bright(vec![relit(0.02, 5.5 + f64::from(i))])).last();
    let in_the_dark = dark.expect("there are frames");
    assert!((in_the_dark - first).abs() < 3.0, "{first} {in_the_dark}");
}

#[test]
fn automatic_exposure_stays_within_its_limits() {
    let Some(mut renderer) = renderer(false) else { return };
    let limits = [("auto_exposure_min", -1.0), ("auto_exposure_max", 1.0)];
    let automatic = draw(&mut renderer, vec![room(0.001, 0.0, &limits)], ViewTarget::Screen);
    let by_hand = [("exposure_mode", 0.0), ("exposure_compensation", 1.0)];
    let manual = draw(&mut renderer, vec![room(0.001, 1.0, &by_hand)], ViewTarget::Screen);
    assert!((mean(&automatic) - mean(&manual)).abs() < 0.5);
}

/// Returns the lamps with a Gui in their world, half of which is behind a box.
fn with_sign(environment: ShadingEnvironment) -> FramePacket {
    let mut packet = lamps(vec![evening(environment)]);
    let sign = solid(0.0, 0.0, [1.4, 0.5], [90, 230, 120, 255]);
    let pose = Mat4::from_translation(Vec3::new(-2.6, 1.6, 0.9)) * Mat4::from_rotation_x(1.5);
    let batches = vec![QuadBatch { key: KEY, instances: vec![sign] }];
    packet.guis.push(GuiFrame {
        gui: 3,
        space: GuiSpace::World,
        pose,
        batches,
        ..Default::default()
    });
    packet.views[0].guis = vec![3];
    packet
}

#[test]
fn guis_in_the_world_are_hidden_by_meshes_with_every_effect() {
    let Some(mut renderer) = renderer(false) else { return };
    let mut green = |values: &[(&str, f32)], quality| {
        renderer.set_quality(quality);
        let picture = draw(&mut renderer, vec![with_sign(with(values))], ViewTarget::Screen);
        let is_green = |pixel: &&[u8]| pixel[0] < 120 && pixel[1] > 200 && pixel[2] < 150;
        picture.rgba.chunks_exact(4).filter(is_green).count()
    };
    let plain = green(&[], QUALITY);
    assert!(plain > 100, "{plain}");
    let bloom = [("bloom_intensity", 0.3)];
    let lens = [("sharpening", 0.5), ("chromatic_aberration", 0.5)];
    assert_eq!(green(&bloom, QUALITY), plain);
    assert_eq!(green(&lens, QUALITY), plain);
    let rough = green(&[], RenderQuality { antialiasing: Antialiasing::None, ..FXAA });
    assert_eq!(green(&[], FXAA), rough);
    let scaled = green(&bloom, RenderQuality { scale: 0.5, ..QUALITY });
    assert!(scaled.abs_diff(plain) < plain / 5, "{scaled} {plain}");
}

#[test]
fn lost_device_is_recovered_with_its_effects() {
    let Some(mut renderer) = renderer(false) else { return };
    let every = [
        ("exposure_mode", 1.0),
        ("bloom_intensity", 0.3),
        ("sharpening", 0.5),
        ("tone_mapper", mapper("agx")),
    ];
    let scene = || lamps(vec![evening(with(&every))]);
    let before = draw(&mut renderer, vec![scene()], ViewTarget::Screen);
    renderer.lose_device();
    renderer.submit(FramePacket { views: scene().views, scale: 1.0, ..FramePacket::default() });
    let events = renderer.events();
    assert!(matches!(events[..], [RendererEvent::DeviceRecovered { .. }]), "{}", events.len());
    assert!(before == draw(&mut renderer, vec![scene()], ViewTarget::Screen));
}

/// Adds a particle with a brightness, which is added to the light behind it.
fn add_spark(packet: &mut FramePacket, glow: f32) {
    let frame = &mut packet.scenes[0];
    frame.particles.push(ParticleQuad {
        position: [0.0, -1.0, 0.7],
        rotation: 0.0,
        size: [0.05, 0.05],
        color: [255; 4],
        glow,
        uv: [0.0, 0.0, 1.0, 1.0],
        stretch: [0.0; 3],
        reserved: 0,
    });
    frame.particle_batches.push(ParticleBatch {
        first: 0,
        count: 1,
        texture: TextureSlot::SHARED,
        blend: BlendMode::Add,
        softness: 0.0,
        lit: 0.0,
        distortion: 0.0,
        center: Vec3::new(0.0, -1.0, 0.7),
        radius: 1.0,
        layers: u32::MAX,
        order: 0,
    });
}

#[test]
fn light_that_is_no_number_does_not_spread() {
    let Some(mut renderer) = renderer(false) else { return };
    let values = [("bloom_intensity", 0.05), ("bloom_scatter", 0.3)];
    let clean = draw(&mut renderer, vec![room(0.5, 0.0, &values)], ViewTarget::Screen);
    for glow in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
        let mut packet = room(0.5, 1.0, &values);
        add_spark(&mut packet, glow);
        let hit = draw(&mut renderer, vec![packet], ViewTarget::Screen);
        if glow.is_nan() {
            let corner = |picture: &RenderedImage| picture.rgba[..320].to_vec();
            let pairs = corner(&hit).into_iter().zip(corner(&clean));
            let worst = pairs.map(|(a, b)| a.abs_diff(b)).max().expect("pixels");
            assert!(worst <= 8, "{worst}");
        }
        let mut recovered = hit;
        for i in 1..8 {
            let packet = room(0.5, 1.0 + f64::from(i), &values);
            recovered = draw(&mut renderer, vec![packet], ViewTarget::Screen);
        }
        assert!((mean(&recovered) - mean(&clean)).abs() < 1.5, "{glow}: {}", mean(&recovered));
    }
}

#[test]
fn switching_effects_a_thousand_times_leaves_nothing() {
    let Some(mut renderer) = renderer(false) else { return };
    let on = with(&[("bloom_intensity", 0.2), ("sharpening", 0.5), ("vignette_intensity", 0.5)]);
    let slot = TextureSlot(7);
    let sampling = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };
    let mut first = room(0.5, 0.0, &[]);
    first.textures.push(TextureChange::Target { slot, width: 64, height: 64, sampling });
    let onto = ViewTarget::Texture(slot);
    first.views[0].target = onto;
    let bytes = |renderer: &mut Renderer, environment, side: f32| {
        let rectangle = [0.0, 0.0, side, side];
        let view = View { rectangle, target: onto, environment, ..evening(on) };
        let (views, scale) = (vec![view], 1.0);
        renderer.submit(FramePacket { scale, views, ..FramePacket::default() });
        renderer.statistics().post_bytes
    };
    renderer.submit(first);
    assert!(bytes(&mut renderer, on, 1.0) > 0);
    let automatic = ShadingEnvironment { post: with(&[("exposure_mode", 1.0)]).post, ..on };
    let mut halves = [0, 0];
    for i in 0..1000 {
        let environment = [on, automatic, ShadingEnvironment::DEFAULT][i % 3];
        let now = bytes(&mut renderer, environment, [1.0, 0.5, 0.25, 0.75, 0.4][i / 7 % 5]);
        halves[i / 500] = halves[i / 500].max(now);
    }
    assert_eq!(halves[0], halves[1]);
    for _ in 0..200 {
        bytes(&mut renderer, ShadingEnvironment::DEFAULT, 1.0);
    }
    assert_eq!(bytes(&mut renderer, ShadingEnvironment::DEFAULT, 1.0), 0);
    renderer.finish();
    assert!(renderer.events().is_empty());
}

#[test]
fn views_without_a_size_or_with_one_pixel_are_drawn() {
    let Some(mut renderer) = renderer(false) else { return };
    let on = with(&[
        ("exposure_mode", 1.0),
        ("bloom_intensity", 0.2),
        ("sharpening", 0.5),
        ("chromatic_aberration", 0.5),
        ("grain_intensity", 0.5),
    ]);
    let sizes = [[0.0, 0.0], [0.003, 0.0], [0.003, 0.006], [1.0, 0.006], [0.003, 1.0]];
    let views =
        sizes.map(|[width, height]| View { rectangle: [0.2, 0.2, width, height], ..evening(on) });
    for scale in [1.0, 0.25, 2.0] {
        renderer.set_quality(RenderQuality { scale, ..FXAA });
        draw(&mut renderer, vec![lamps(views.to_vec())], ViewTarget::Screen);
    }
}

#[test]
fn transparent_backgrounds_stay_transparent() {
    let Some(mut renderer) = renderer(false) else { return };
    let slot = TextureSlot(7);
    let sampling = SamplerSettings { nearest: false, wrap: WrapMode::Clamp };
    let mut onto = |values: &[(&str, f32)], quality| {
        renderer.set_quality(quality);
        let mut packet = disk([0.5; 3], with(values));
        packet.textures.push(TextureChange::Target { slot, width: 96, height: 96, sampling });
        packet.views[0].target = ViewTarget::Texture(slot);
        packet.views[0].clear = Some([0.0; 4]);
        draw(&mut renderer, vec![packet], ViewTarget::Texture(slot))
    };
    let alpha = |picture: &RenderedImage| -> Vec<u8> {
        picture.rgba.chunks_exact(4).map(|pixel| pixel[3]).collect()
    };
    let plain = onto(&[], QUALITY);
    assert_eq!((alpha(&plain)[0], alpha(&plain)[48 * 96 + 48]), (0, 255));
    let graded = [
        ("color_lift", 0.3),
        ("saturation", 0.3),
        ("vignette_intensity", 0.5),
        ("grain_intensity", 1.0),
    ];
    assert!(alpha(&onto(&graded, QUALITY)) == alpha(&plain));
    let sharpened = onto(&[("color_lift", 0.3), ("sharpening", 0.8)], QUALITY);
    assert_eq!((alpha(&sharpened)[0], alpha(&sharpened)[48 * 96 + 48]), (0, 255));
    let smoothed = onto(&[("color_lift", 0.3)], FXAA);
    assert_eq!(smoothed.rgba[..4], [0; 4]);
}
