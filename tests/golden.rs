//! Golden image tests: packets built by the tests, and played games, rendered by the software
//! adapter and compared with reviewed images in tests/golden. `ENGINE_GOLDEN_UPDATE=1` writes new
//! images.

mod area_light_fit;
mod area_lights;
mod atlases;
mod debug_views;
mod decals;
mod flat_lights;
mod forward;
mod forward_failures;
mod games;
mod gui_drawing;
mod lamp_shadows;
mod local_lights;
mod meshes;
mod outlines;
mod post;
mod pre_skinning;
mod quality;
mod render_configs;
mod render_to_texture;
mod renderer_failures;
mod reused_slots;
mod scaling;
mod scenes;
mod screen_focus;
mod screen_space;
mod skeletons;
mod skins;
mod sky;
mod soft_shadows;
mod sprite_normals;
mod surface_functions;
mod texture_changes;
mod texture_files;
mod tile_order;
mod tiled_reference;
mod tilemap_corpus;
mod tiles;
mod volumetric_fog;
mod world_materials;
mod worlds;

use engine::frame_packet::{CaptureRequest, FramePacket, ViewTarget};
use engine::system::render::{
    AdapterChoice, RenderQuality, RenderedImage, Renderer, RendererEvent, RendererOptions,
    SurfaceTarget, Vsync,
};
use image::ImageEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Side length of the blocks in which images are compared, in pixels.
const BLOCK: u32 = 8;
/// Maximum average difference of a block's bytes. Drivers round differently and may decide an
/// edge's pixel either way, which changes a few pixels of a block by a little. Something that is
/// missing, moved by a pixel or of another color changes a row of a block at least: 8 of 64 pixels,
/// and so by more than this wherever it is visible.
const DIFFERENCE_MAX: f64 = 6.0;

/// Render quality with smaller shadow maps than in games, because the software adapter fills them
/// slowly.
const QUALITY: RenderQuality = RenderQuality {
    shadow_texels: 1024,
    spot_texels: 512,
    shadow_distance: 40.0,
    ..RenderQuality::DEFAULT
};

const WIDTH: u32 = 320;
const HEIGHT: u32 = 180;

fn skip(missing: &str, install: &str) {
    let message = format!("SKIPPED: {missing} (to install it: {install})");
    let required = std::env::var("ENGINE_TEST_REQUIRE_ALL").is_ok_and(|value| value == "1");
    assert!(!required, "{message}");
    writeln!(std::io::stderr(), "{message}").expect("stderr can be written to");
}

fn options(threaded: bool) -> RendererOptions {
    RendererOptions {
        choice: AdapterChoice::Software,
        output: SurfaceTarget::Offscreen { width: WIDTH, height: HEIGHT },
        threaded,
        vsync: Vsync::Off,
        timing: false,
        quality: QUALITY,
        clock: || 0.0,
    }
}

/// Starts a renderer without a display. If that is impossible, reports it on the terminal.
fn renderer(threaded: bool) -> Option<Renderer> {
    match Renderer::start(options(threaded)) {
        Ok(renderer) => Some(renderer),
        Err(error) => {
            skip(&format!("no pictures can be drawn: {error}"), "apt install mesa-vulkan-drivers");
            None
        }
    }
}

/// Submits packets, the last one with a capture, and returns the image. Any other event fails the
/// test.
fn draw(renderer: &mut Renderer, packets: Vec<FramePacket>, of: ViewTarget) -> RenderedImage {
    let last = packets.len() - 1;
    for (i, mut packet) in packets.into_iter().enumerate() {
        if i == last {
            packet.captures.push(CaptureRequest { number: 7, of });
        }
        renderer.submit(packet);
    }
    renderer.finish();
    let mut events = renderer.events();
    match events.pop() {
        Some(RendererEvent::Captured { number: 7, picture, .. }) if events.is_empty() => picture,
        last => panic!("{events:#?} {last:#?}"),
    }
}

fn golden_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.png"))
}

fn write(path: &Path, picture: &RenderedImage) {
    let file = std::fs::File::create(path).expect("it can be written");
    // Small files are preferred to fast encoding, because they are written once and kept.
    let (pressed, filter) = (CompressionType::Best, FilterType::Adaptive);
    let encoder = PngEncoder::new_with_quality(file, pressed, filter);
    let (width, height) = (picture.width, picture.height);
    let color = image::ExtendedColorType::Rgba8;
    encoder.write_image(&picture.rgba, width, height, color).expect("it can be written");
}

fn read(path: &Path) -> RenderedImage {
    let image = image::open(path).unwrap_or_else(|error| {
        panic!("{}: {error}. ENGINE_GOLDEN_UPDATE=1 makes it; then look at it", path.display())
    });
    let image = image.into_rgba8();
    RenderedImage { width: image.width(), height: image.height(), rgba: image.into_raw() }
}

/// Returns the block where two images differ most: left, top, and the mean difference of its bytes.
fn difference(a: &RenderedImage, b: &RenderedImage) -> (u32, u32, f64) {
    assert_eq!((a.width, a.height), (b.width, b.height), "the sizes differ");
    let mut worst = (0, 0, 0.0);
    for top in (0..a.height).step_by(BLOCK as usize) {
        for left in (0..a.width).step_by(BLOCK as usize) {
            let (mut sum, mut count) = (0u64, 0u64);
            for y in top..(top + BLOCK).min(a.height) {
                for x in left..(left + BLOCK).min(a.width) {
                    let at = ((y * a.width + x) * 4) as usize;
                    for channel in at..at + 4 {
                        sum += u64::from(a.rgba[channel].abs_diff(b.rgba[channel]));
                        count += 1;
                    }
                }
            }
            let mean = sum as f64 / count as f64;
            if mean > worst.2 {
                worst = (left, top, mean);
            }
        }
    }
    worst
}

fn compare(name: &str, picture: &RenderedImage) {
    let path = golden_path(name);
    if std::env::var("ENGINE_GOLDEN_UPDATE").is_ok_and(|value| value == "1") {
        write(&path, picture);
        return;
    }
    let (left, top, mean) = difference(&read(&path), picture);
    if mean > DIFFERENCE_MAX {
        let now = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
        write(&now, picture);
        panic!(
            "{name}: the pixels around {left}, {top} (from the top left) differ by {mean:.1} on \
             average, {DIFFERENCE_MAX} are allowed. Compare {} with {}. If the new one is right: \
             ENGINE_GOLDEN_UPDATE=1",
            path.display(),
            now.display()
        );
    }
}

#[track_caller]
fn check(name: &str, packets: Vec<FramePacket>) {
    let Some(mut renderer) = renderer(false) else { return };
    let picture = draw(&mut renderer, packets, ViewTarget::Screen);
    compare(name, &picture);
}

#[test]
fn rectangles_with_smooth_edges_corners_and_outlines() {
    check("boxes", vec![scenes::boxes()]);
}

#[test]
fn circles_ellipses_and_ring_segments() {
    check("round_shapes", vec![scenes::round_shapes()]);
}

#[test]
fn every_blend_mode_over_light_and_dark() {
    check("blends", vec![scenes::blends()]);
}

#[test]
fn atlas_and_separate_textures() {
    check("textures", vec![scenes::textures()]);
}

#[test]
fn distance_fields_at_several_sizes_with_outline_and_glow() {
    check("glyphs", vec![scenes::glyphs()]);
}

#[test]
fn layers_clips_and_moved_guis() {
    check("clips_and_layers", scenes::clips_and_layers());
}

#[test]
fn world_drawn_by_two_cameras() {
    check("worlds", vec![worlds::worlds()]);
}

#[test]
fn gui_drawn_into_a_texture() {
    check("render_target", vec![worlds::render_target()]);
}

#[test]
fn retained_objects_over_several_frames() {
    check("retained", worlds::retained_frames());
}

#[test]
fn custom_shader_with_texture_and_variables() {
    check("custom_shader", vec![worlds::custom_shader()]);
}

#[test]
fn plastic_and_gold_spheres_from_rough_to_smooth() {
    check("forward_spheres", vec![forward::spheres()]);
}

#[test]
fn sunlight_shadows() {
    check("forward_shadows", vec![forward::shadows()]);
}

#[test]
fn point_lights_and_shadowed_spot_light() {
    check("forward_lights", vec![forward::lights()]);
}

#[test]
fn translucent_panes_are_sorted() {
    check("forward_transparency", vec![forward::transparency()]);
}

#[test]
fn masked_normal_mapped_emissive_and_mirrored_meshes() {
    check("forward_surfaces", vec![forward::surfaces()]);
}

#[test]
fn world_with_custom_material_shaders() {
    check("forward_custom_shaders", vec![world_materials::custom_shaders()]);
}

#[test]
fn perspective_orthographic_and_texture_cameras() {
    check("forward_cameras", vec![forward::cameras()]);
}

#[test]
fn world_gui_and_particles_among_meshes_in_fog() {
    check("forward_gui_and_particles", vec![forward::gui_and_particles()]);
}
