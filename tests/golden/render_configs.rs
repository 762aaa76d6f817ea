//! Golden scenes with render configs: generators in light and on the target, several viewports,
//! and configs that the adapter refuses.

use super::screen_space::views_only;
use super::{compare, draw, forward, options, renderer};
use engine::foundation::{Error, error};
use engine::frame_packet::render_config::{GeneratorRun, RenderConfigFrame, ViewportSlot};
use engine::frame_packet::texture::{TextureChange, TextureSlot};
use engine::frame_packet::{CaptureRequest, FramePacket, ViewTarget};
use engine::resource::render_config_data::RenderConfigData;
use engine::resource::resource_kind::{CompileContext, SourceForm};
use engine::resource::resource_name::ResourceName;
use engine::system::render::render_config::{RENDER_CONFIG, built_in, read};
use engine::system::render::{
    RenderQuality, RenderedImage, Renderer, RendererEvent, RendererOptions, SurfaceTarget,
};
use std::sync::Arc;

const TEXTURE: &str = "@group(2) @binding(1) var image: texture_2d<f32>;
@group(2) @binding(2) var image_sampler: sampler;
";

/// The shaders of the configs, each after [`TEXTURE`].
const SHADERS: &[(&str, &str)] = &[
    (
        "bright.pass",
        "fn paint(in: Pass) -> vec4f {
    let color = textureSample(image, image_sampler, in.uv).rgb * frame.exposure;
    return vec4f(max(color - 0.7, vec3f(0.0)), 1.0);
}",
    ),
    (
        "blur.pass",
        "struct Variables { direction: vec2f }
@group(2) @binding(0) var<uniform> variables: Variables;
fn paint(in: Pass) -> vec4f {
    var sum = vec4f(0.0);
    var weights = 0.0;
    for (var i = -6; i <= 6; i++) {
        let weight = exp(-f32(i * i) / 18.0);
        let at = in.uv + variables.direction * f32(i) / frame.target_size;
        sum += textureSampleLevel(image, image_sampler, at, 0.0) * weight;
        weights += weight;
    }
    return sum / weights;
}",
    ),
    (
        "add.pass",
        "struct Variables { strength: f32 }
@group(2) @binding(0) var<uniform> variables: Variables;
fn paint(in: Pass) -> vec4f {
    let color = textureSample(image, image_sampler, in.uv).rgb;
    return vec4f(color * variables.strength / frame.exposure, 0.0);
}",
    ),
    (
        "lines.pass",
        "fn paint(in: Pass) -> vec4f {
    let color = textureSample(image, image_sampler, in.uv);
    return vec4f(color.rgb * select(1.0, 0.4, fract(in.pixel.y / 4.0) < 0.5), color.a);
}",
    ),
    (
        "copy.pass",
        "fn paint(in: Pass) -> vec4f {
    return textureSample(image, image_sampler, in.uv);
}",
    ),
    (
        "fog.pass",
        "fn paint(in: Pass) -> vec4f {
    let depth = textureSample(image, image_sampler, in.uv).r;
    let fog = 1.0 - exp(-view_distance(in.uv, depth) * 0.12);
    let height = world_position(in.uv, depth).z;
    return vec4f(0.5, 0.6, 0.7, 1.0) * fog * saturate(1.0 - height);
}",
    ),
    (
        "ramp.pass",
        "fn paint(in: Pass) -> vec4f {
    let before = textureSample(image, image_sampler, in.uv);
    return vec4f(in.uv.x, in.uv.y, 1.0, 1.0) + before * 0.0;
}",
    ),
    (
        "broken.pass",
        "fn paint(in: Pass) -> vec4f {
    let zero = textureSample(image, image_sampler, in.uv).r * 0.0;
    return vec4f(zero / zero, 1.0 / zero, -1.0 / zero, 0.0);
}",
    ),
];

const GLOW: &str = r#"
settings = { strength = { default = 0.8 min = 0 max = 8 } lines = true }
resources = {
    half = { format = "rgba16f" scale = 0.5 }
    other_half = { format = "rgba16f" scale = 0.5 }
}
generators = {
    bright = { shader = "bright" inputs = { image = "light" } output = "half" when = "strength" }
    blur_x = {
        shader = "blur" inputs = { image = "half" } output = "other_half" when = "strength"
        variables = { direction = [1 0] }
    }
    blur_y = {
        shader = "blur" inputs = { image = "other_half" } output = "half" when = "strength"
        variables = { direction = [0 1] }
    }
    add = {
        shader = "add" inputs = { image = "half" } output = "light" blend = "add" when = "strength"
        variables = { strength = "strength" }
    }
    lines = { shader = "lines" inputs = { image = "target" } output = "target" when = "lines" }
}
viewports = {
    default = {
        extends = "core"
        insert_at = {
            "before tone mapping" = ["bright" "blur_x" "blur_y" "add"]
            "after tone mapping" = ["lines"]
        }
    }
    lines_alone = { extends = "core/render/mini" append = ["lines"] }
}
"#;

/// Compiles a config.
fn compile(text: &str) -> RenderConfigData {
    let read_file = |path: &str| -> Result<Vec<u8>, Error> {
        let found = SHADERS.iter().find(|(name, _)| *name == path);
        let (_, source) = found.ok_or_else(|| error!("{path}: there is no such file"))?;
        Ok(format!("{TEXTURE}{source}\n").into_bytes())
    };
    let name = ResourceName::new("render_config", "frame");
    let (path, bytes) = ("frame.render_config".to_string(), text.as_bytes().to_vec());
    let mut context = CompileContext::new(name, path, SourceForm::Own, bytes, false, &read_file);
    let bytes = (RENDER_CONFIG.compile)(&mut context).unwrap_or_else(|error| panic!("{error}"));
    read(&bytes).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a generator that draws onto light or onto the target, in a viewport of its own.
fn one_generator(fields: &str, point: &str) -> RenderConfigData {
    compile(&format!(
        "generators = {{ it = {{ {fields} }} }}
viewports = {{ default = {{ extends = \"core\" insert_at = {{ \"{point}\" = [\"it\"] }} }} }}"
    ))
}

/// Draws all views of a packet by the first viewport of a config.
fn with(mut packet: FramePacket, data: &Arc<RenderConfigData>, settings: &[f32]) -> FramePacket {
    packet.render_configs.push(RenderConfigFrame {
        name: "frame".to_string(),
        data: Arc::clone(data),
        settings: settings.to_vec(),
    });
    for view in &mut packet.views {
        view.viewport = Some(ViewportSlot { config: 0, viewport: 0 });
    }
    packet
}

fn picture(renderer: &mut Renderer, packet: FramePacket) -> RenderedImage {
    draw(renderer, vec![packet], ViewTarget::Screen)
}

/// Returns the greatest difference of two images' bytes.
fn greatest_difference(a: &RenderedImage, b: &RenderedImage) -> u8 {
    a.rgba.iter().zip(&b.rgba).map(|(a, b)| a.abs_diff(*b)).max().expect("they have pixels")
}

#[test]
fn glow_in_light_and_scan_lines_on_the_target() {
    let Some(mut renderer) = renderer(false) else { return };
    let data = Arc::new(compile(GLOW));
    let shown = picture(&mut renderer, with(forward::spheres(), &data, &[]));
    compare("render_config_glow", &shown);
    let statistics = renderer.statistics();
    // Both halves, and the copies of the light and of the target.
    assert_eq!(statistics.generator_textures, 4);
    let pixels = 320 * 180;
    assert_eq!(statistics.generator_bytes, pixels * (2 + 2 + 8 + 4));
    let lines = picture(&mut renderer, with(forward::spheres(), &data, &[0.0, 1.0]));
    assert!(greatest_difference(&shown, &lines) > 20);
}

#[test]
fn generators_that_are_off_change_nothing_and_have_no_textures() {
    let Some(mut renderer) = renderer(false) else { return };
    let plain = picture(&mut renderer, forward::spheres());
    let calls = renderer.statistics().draw_calls;
    let data = Arc::new(compile(GLOW));
    let off = picture(&mut renderer, with(forward::spheres(), &data, &[0.0, 0.0]));
    assert!(plain == off);
    let statistics = renderer.statistics();
    assert_eq!((statistics.generator_textures, statistics.draw_calls), (0, calls));
    let full = Arc::new(built_in("core").expect("it is embedded"));
    assert!(plain == picture(&mut renderer, with(forward::spheres(), &full, &[])));
    // A value that is not a number is the default, and infinity is the maximum.
    let odd = picture(&mut renderer, with(forward::spheres(), &data, &[f32::NAN, f32::NAN]));
    assert!(odd == picture(&mut renderer, with(forward::spheres(), &data, &[])));
    let most = picture(&mut renderer, with(forward::spheres(), &data, &[f32::INFINITY]));
    assert!(most == picture(&mut renderer, with(forward::spheres(), &data, &[8.0])));
}

#[test]
fn views_are_drawn_by_viewports_of_several_configs() {
    let Some(mut renderer) = renderer(false) else { return };
    let data = Arc::new(compile(GLOW));
    let fog =
        "shader = \"fog\" inputs = { image = \"depth\" } output = \"light\" blend = \"alpha\"";
    let mut packet = with(forward::shadows(), &data, &[]);
    let fog = Arc::new(one_generator(fog, "before background"));
    let (name, settings) = ("fog".to_string(), Vec::new());
    packet.render_configs.push(RenderConfigFrame { name, data: fog, settings });
    let whole = packet.views[0].clone();
    let viewports = [Some((0, 0)), Some((0, 1)), Some((1, 0)), None];
    packet.views = viewports
        .into_iter()
        .enumerate()
        .map(|(i, slot)| {
            let (column, row) = ((i % 2) as f32, (i / 2) as f32);
            let mut view = whole.clone();
            view.rectangle = [column * 0.5, 0.5 - row * 0.5, 0.5, 0.5];
            view.viewport = slot.map(|(config, viewport)| ViewportSlot { config, viewport });
            view
        })
        .collect();
    let shown = picture(&mut renderer, packet);
    compare("render_config_views", &shown);
}

#[test]
fn copies_of_the_target_change_nothing_and_guis_stay_hidden() {
    let Some(mut renderer) = renderer(false) else { return };
    let plain = picture(&mut renderer, forward::gui_and_particles());
    let copy = "shader = \"copy\" inputs = { image = \"target\" } output = \"target\"";
    for point in ["after tone mapping", "before tone mapping", "after guis"] {
        let data = Arc::new(one_generator(copy, point));
        let copied = picture(&mut renderer, with(forward::gui_and_particles(), &data, &[]));
        assert!(greatest_difference(&plain, &copied) <= 1, "{point}");
    }
    // With one sample per pixel, a copy of the light is the light.
    let copy = "shader = \"copy\" inputs = { image = \"light\" } output = \"light\"";
    let quality = RenderQuality { samples: 1, ..options(false).quality };
    renderer.set_quality(quality);
    for scene in [forward::transparency, forward::gui_and_particles] {
        let plain = picture(&mut renderer, scene());
        for point in ["after opaque objects", "before background", "before tone mapping"] {
            let data = Arc::new(one_generator(copy, point));
            let copied = picture(&mut renderer, with(scene(), &data, &[]));
            assert!(greatest_difference(&plain, &copied) <= 1, "{point}");
        }
    }
}

#[test]
fn light_after_screen_space_effects_is_read_and_drawn() {
    use super::screen_space::{EVERYTHING, LENS, SHUTTER, TEMPORAL, with as with_effects};
    let Some(mut renderer) = renderer(false) else { return };
    let copy = "shader = \"copy\" inputs = { image = \"light\" } output = \"light\"";
    let copy = Arc::new(one_generator(copy, "before tone mapping"));
    let add = "shader = \"copy\" inputs = { image = \"light\" } output = \"light\" blend = \"add\"";
    let add = Arc::new(one_generator(add, "before tone mapping"));
    for effects in [TEMPORAL, LENS, SHUTTER, EVERYTHING] {
        let plain = || with_effects(views_only(forward::spheres()), effects);
        let mut play = |data: Option<&Arc<RenderConfigData>>, frames: usize| {
            // Another number of views: the history begins again.
            renderer.submit(FramePacket { views: Vec::new(), ..views_only(forward::spheres()) });
            let packet = || data.map_or_else(plain, |data| with(plain(), data, &[]));
            let packets = std::iter::once(with_effects(forward::spheres(), effects));
            draw(
                &mut renderer,
                packets.chain((1..frames).map(|_| packet())).collect(),
                ViewTarget::Screen,
            )
        };
        let shown = play(None, 4);
        let copied = play(Some(&copy), 4);
        assert!(greatest_difference(&shown, &copied) <= 1, "{effects:?}");
        // Light that generators add is shown, and is not added again in the next frame.
        let (bright, later) = (play(Some(&add), 4), play(Some(&add), 12));
        assert!(greatest_difference(&shown, &bright) > 20, "{effects:?}");
        assert!(greatest_difference(&bright, &later) <= 16, "{effects:?}");
    }
}

#[test]
fn numbers_that_are_not_finite_do_not_leave_a_generator() {
    let Some(mut renderer) = renderer(false) else { return };
    let plain = picture(&mut renderer, forward::spheres());
    let broken =
        "shader = \"broken\" inputs = { image = \"light\" } output = \"light\" blend = \"add\"";
    let config = format!(
        "resources = {{ copy = {{ format = \"rgba16f\" }} }}
generators = {{
    broken = {{ {broken} }}
    copy = {{ shader = \"copy\" inputs = {{ image = \"light\" }} output = \"copy\" }}
    back = {{ shader = \"copy\" inputs = {{ image = \"copy\" }} output = \"light\" }}
}}
viewports = {{ default = {{ extends = \"core\"
    insert_at = {{ \"before background\" = [\"broken\" \"copy\" \"back\"] }} }} }}"
    );
    let data = Arc::new(compile(&config));
    let shown = picture(&mut renderer, with(forward::spheres(), &data, &[]));
    // NaN in red adds nothing; infinity in green is the brightest light, and nothing is black.
    let red =
        |image: &RenderedImage| image.rgba.iter().step_by(4).map(|r| u32::from(*r)).sum::<u32>();
    assert!(red(&shown) >= red(&plain), "{} {}", red(&shown), red(&plain));
    assert!(shown.rgba.iter().skip(1).step_by(4).all(|green| *green > 200));
}

#[test]
fn a_refused_config_is_reported_once_and_the_old_one_stays() {
    let Some(mut renderer) = renderer(false) else { return };
    let data = Arc::new(compile(GLOW));
    let before = picture(&mut renderer, with(forward::spheres(), &data, &[0.5]));
    let mut wrong = compile(GLOW);
    // The settings have other indices, and the viewport too.
    wrong.settings.reverse();
    wrong.viewports.reverse();
    wrong.generators[0].source = "this is no shader".to_string();
    let wrong = Arc::new(wrong);
    let changed = || {
        let mut packet = with(forward::spheres(), &wrong, &[1.0, 0.5]);
        packet.views[0].viewport = Some(ViewportSlot { config: 0, viewport: 1 });
        packet
    };
    renderer.submit(changed());
    let events = renderer.events();
    let [RendererEvent::RenderConfigFailed { name, message }] = &events[..] else {
        panic!("{events:?}");
    };
    assert!(name == "frame" && message.starts_with("bright.pass: "), "{message}");
    assert!(before == picture(&mut renderer, changed()));
    // After a first refusal, views are drawn by the engine's own frame.
    let Some(mut other) = super::renderer(false) else { return };
    let plain = picture(&mut other, forward::spheres());
    other.submit(changed());
    assert_eq!(other.events().len(), 1);
    assert!(plain == picture(&mut other, changed()));
}

#[test]
fn targets_beyond_the_adapter_are_refused() {
    let Some(mut renderer) = renderer(false) else { return };
    let mut data = compile(GLOW);
    data.targets[0].size = engine::resource::render_config_data::TargetSize::Fixed(1 << 30, 4);
    renderer.submit(with(forward::spheres(), &Arc::new(data), &[]));
    let events = renderer.events();
    let [RendererEvent::RenderConfigFailed { message, .. }] = &events[..] else {
        panic!("{events:?}");
    };
    assert!(message.contains("'half' is 1073741824 x 4 texels"), "{message}");
}

#[test]
fn a_lost_device_gets_its_generators_back() {
    let Some(mut renderer) = renderer(false) else { return };
    let data = Arc::new(compile(GLOW));
    let packet = || with(forward::spheres(), &data, &[]);
    let before = picture(&mut renderer, packet());
    renderer.lose_device();
    renderer.submit(FramePacket { meshes: Vec::new(), ..packet() });
    let events = renderer.events();
    assert!(matches!(events[..], [RendererEvent::DeviceRecovered { .. }]), "{events:?}");
    assert!(before == picture(&mut renderer, packet()));
}

#[test]
fn a_generator_draws_onto_a_texture_once() {
    let Some(mut renderer) = renderer(false) else { return };
    let ramp = "shader = \"ramp\" inputs = { image = \"target\" } output = \"target\"";
    let data = Arc::new(compile(&format!(
        "generators = {{ ramp = {{ {ramp} }} copy = {{ {copy} }} }}
viewports = {{ default = {{ extends = \"core\"
    insert_at = {{ \"before background\" = [\"copy\"] }} }} }}",
        copy = "shader = \"copy\" inputs = { image = \"light\" } output = \"light\""
    )));
    let onto = TextureSlot(40);
    let run = |generator| {
        let mut packet = with(FramePacket::default(), &data, &[]);
        packet.generator_runs.push(GeneratorRun { config: 0, generator, onto });
        packet
    };
    let mut first = run(0);
    let sampling = super::scenes::SMOOTH;
    first.textures.push(TextureChange::Target { slot: onto, width: 4, height: 2, sampling });
    let drawn = draw(&mut renderer, vec![first], ViewTarget::Texture(onto));
    let pixel = |x: usize, y: usize| &drawn.rgba[(y * 4 + x) * 4..][..4];
    assert_eq!((pixel(0, 0)[2], pixel(0, 0)[3]), (255, 255));
    assert!(pixel(3, 0)[0] > pixel(0, 0)[0] && pixel(0, 1)[1] > pixel(0, 0)[1]);
    // It stays, and a generator that needs a world cannot draw onto a texture.
    for packet in [FramePacket::default(), run(1), run(9)] {
        assert!(drawn == draw(&mut renderer, vec![packet], ViewTarget::Texture(onto)));
    }
}

#[test]
fn a_captured_frame_has_the_targets_of_generators() {
    let Some(mut renderer) = renderer(false) else { return };
    let packet = with(forward::spheres(), &Arc::new(compile(GLOW)), &[]);
    let captures = vec![CaptureRequest { number: 1, of: ViewTarget::Screen }];
    renderer.submit(FramePacket { captures_frame: true, captures, ..packet });
    renderer.finish();
    let found = renderer.events().into_iter().find_map(|event| match event {
        RendererEvent::FrameCaptured(frame) => Some(frame),
        _ => None,
    });
    let frame = found.expect("the frame is captured");
    let named = |start: &'static str| {
        frame.images.iter().filter(move |image| image.name.starts_with(start))
    };
    assert!(named("generator ").all(|image| image.picture.is_ok()));
    // Both targets have half the size of the view.
    let sizes = named("generator target ").map(|image| (image.width, image.height));
    assert_eq!(sizes.collect::<Vec<_>>(), [(160, 90); 2]);
    assert!(frame.passes.iter().any(|pass| pass.name == "generator blur_x"));
}

#[test]
fn a_thousand_switches_leave_nothing_behind() {
    let small = SurfaceTarget::Offscreen { width: 32, height: 18 };
    let Ok(mut renderer) = Renderer::start(RendererOptions { output: small, ..options(false) })
    else {
        return;
    };
    let copy = "shader = \"copy\" inputs = { image = \"target\" } output = \"target\"";
    let configs = [0; 8].map(|_| Arc::new(one_generator(copy, "after guis")));
    let packet = || super::scenes::boxes();
    let mut counts = Vec::new();
    for i in 0..1000 {
        let side = 16 + (i % 50) as u32;
        renderer.resize(side, side);
        let data = &configs[i % configs.len()];
        let packet = if i % 3 == 0 { packet() } else { with(packet(), data, &[]) };
        let captured = picture(&mut renderer, packet);
        assert_eq!(captured.width, side);
        counts.push(renderer.statistics().generator_textures);
    }
    // A texture is kept for four frames.
    assert!(counts.iter().all(|count| *count <= 4), "{counts:?}");
    let last = renderer.statistics();
    for _ in 0..8 {
        picture(&mut renderer, packet());
    }
    let statistics = renderer.statistics();
    assert_eq!((statistics.generator_textures, statistics.generator_bytes), (0, 0), "{last:?}");
    assert!(configs.iter().all(|config| Arc::strong_count(config) == 1));
}
