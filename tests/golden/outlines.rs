//! Golden picture and measured pixels of outlines.

use super::forward::{SceneBuilder, sun, view};
use super::meshes::{CUBE, SPHERE};
use super::screen_space::{largest_difference, picture, renderer_with, views_only};
use super::{HEIGHT, QUALITY, WIDTH, compare, draw, renderer};
use engine::foundation::{Mat4, Vec3};
use engine::frame_packet::mesh::{SurfaceAlphaMode, SurfaceFrame};
use engine::frame_packet::outline::OutlineStyle;
use engine::frame_packet::scene::{DrawChange, DrawMesh, SceneFrame};
use engine::frame_packet::shading_environment::ShadingEnvironment;
use engine::frame_packet::{FramePacket, View, ViewTarget};
use engine::system::render::{RenderQuality, RenderedImage};

const GOLD: OutlineStyle = OutlineStyle { color: [255, 190, 0, 255], width: 3.0, through: false };

/// Sets the outline of a draw by its number.
fn outline(packet: &mut FramePacket, draw: usize, style: OutlineStyle) {
    match &mut packet.scenes[0].changes[draw] {
        DrawChange::Set(draw) => draw.outline = Some(style),
        other => panic!("{other:?}"),
    }
}

fn main_view() -> View {
    view(Vec3::new(0.0, -6.0, 2.6), Vec3::new(0.0, 0.4, 0.6))
}

/// Returns a wall in front of a box and of a ball, a pane of glass, and a box of its own.
fn scene() -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.ground();
    builder.light(sun(Vec3::new(0.5, 0.6, -0.8), 1.0));
    let (sand, blue) = (builder.matte([0.5, 0.45, 0.35]), builder.matte([0.2, 0.3, 0.6]));
    let glass = builder.surface(SurfaceFrame {
        base_color: [0.5, 0.8, 0.6, 0.4],
        alpha: SurfaceAlphaMode::Blend,
        double_sided: true,
        ..SurfaceFrame::DEFAULT
    });
    builder.add_at(CUBE, sand, Vec3::new(0.0, -0.4, 0.5), Vec3::new(1.0, 0.1, 0.5));
    builder.add_at(CUBE, blue, Vec3::new(-0.9, 1.0, 0.6), Vec3::splat(0.6));
    builder.add_at(SPHERE, blue, Vec3::new(0.8, 1.0, 0.7), Vec3::splat(0.7));
    builder.add_at(CUBE, sand, Vec3::new(2.4, 0.4, 0.5), Vec3::splat(0.5));
    builder.add_at(CUBE, glass, Vec3::new(-2.4, 0.4, 0.6), Vec3::new(0.5, 0.05, 0.6));
    let mut packet = builder.build(vec![main_view()]);
    // The first draw is the ground, and the second one the wall.
    outline(&mut packet, 2, GOLD);
    outline(&mut packet, 3, OutlineStyle { color: [80, 220, 255, 255], width: 2.0, through: true });
    outline(&mut packet, 4, OutlineStyle { color: [255, 60, 40, 160], width: 6.0, through: false });
    outline(&mut packet, 5, GOLD);
    packet
}

fn without_outlines(mut packet: FramePacket) -> FramePacket {
    for change in &mut packet.scenes[0].changes {
        if let DrawChange::Set(draw) = change {
            draw.outline = None;
        }
    }
    packet
}

#[test]
fn outlines_surround_shapes_through_walls_or_not() {
    let Some(on) = picture(scene(), QUALITY) else { return };
    compare("outlines", &on);
    let off = picture(without_outlines(scene()), QUALITY).expect("there is an adapter");
    compare("outlines_off", &off);
}

/// Returns a white box in front of a black background, with an outline.
fn lone_box(style: OutlineStyle) -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.sky(super::local_lights::DARK);
    let white = builder.surface(SurfaceFrame { unlit: true, ..SurfaceFrame::DEFAULT });
    // Upright, and of a size of a quarter of the height of the view.
    let pose = Mat4::from_translation(Vec3::new(0.0, 1.0, 0.0));
    builder.add_draw(CUBE, white, pose);
    let mut packet = builder.build(vec![view(Vec3::new(0.0, -10.0, 0.0), Vec3::ZERO)]);
    outline(&mut packet, 0, style);
    packet
}

fn pixel(image: &RenderedImage, x: u32, y: u32) -> [u8; 4] {
    let at = ((y * image.width + x) * 4) as usize;
    image.rgba[at..at + 4].try_into().expect("it is inside")
}

/// Returns the number of red pixels in the middle row, to the left of the box.
fn red_pixels(image: &RenderedImage) -> usize {
    let row = image.height / 2;
    let is_red = |x: &u32| pixel(image, *x, row)[0] > 200 && pixel(image, *x, row)[1] < 40;
    (0..image.width / 2).filter(is_red).count()
}

#[test]
fn outlines_have_their_width_and_color() {
    for width in [1.0, 3.0, 8.0, 32.0] {
        let style = OutlineStyle { color: [255, 0, 0, 255], width, through: false };
        for samples in [1, 4] {
            let quality = RenderQuality { samples, ..QUALITY };
            let Some(image) = picture(lone_box(style), quality) else { return };
            let found = red_pixels(&image);
            assert!(found.abs_diff(width as usize) <= 1, "{width}: {found} pixels");
            // The box itself stays white.
            assert_eq!(pixel(&image, WIDTH / 2, HEIGHT / 2), [255; 4]);
        }
    }
}

/// Returns a tall black box and a small one in front of its left side, on black.
fn two_boxes(tall: OutlineStyle, small: OutlineStyle) -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.sky(super::local_lights::DARK);
    let black = builder.surface(SurfaceFrame {
        base_color: [0.0, 0.0, 0.0, 1.0],
        unlit: true,
        ..SurfaceFrame::DEFAULT
    });
    builder.add_at(CUBE, black, Vec3::new(1.0, 1.0, 0.0), Vec3::new(1.0, 1.0, 1.5));
    builder.add_at(CUBE, black, Vec3::new(-0.22, 1.0, 0.0), Vec3::new(0.1, 1.0, 0.1));
    let mut packet = builder.build(vec![view(Vec3::new(0.0, -10.0, 0.0), Vec3::ZERO)]);
    outline(&mut packet, 0, tall);
    outline(&mut packet, 1, small);
    packet
}

#[test]
fn a_wide_outline_reaches_past_a_narrow_one() {
    let tall = OutlineStyle { color: [0, 0, 255, 255], width: 16.0, through: false };
    let small = OutlineStyle { color: [255, 0, 0, 255], width: 2.0, through: false };
    let Some(image) = picture(two_boxes(tall, small), QUALITY) else { return };
    let count =
        |channel: usize, y: u32| (0..WIDTH).filter(|x| pixel(&image, *x, y)[channel] > 200).count();
    // Far from the small box, the wide outline is at both sides of the tall one.
    let free = count(2, HEIGHT / 2 - 20);
    assert!(free.abs_diff(32) <= 3, "{free}");
    // Beside the small box, it is only hidden by the box itself.
    let hidden = (0..WIDTH)
        .filter(|x| pixel(&image, *x, HEIGHT / 2 - 20)[2] > 200)
        .filter(|x| pixel(&image, *x, HEIGHT / 2)[2] <= 200)
        .count();
    assert!((3..12).contains(&hidden), "{hidden} pixels are hidden");
    // Where both reach a pixel, that which reaches further shows.
    assert!(count(0, HEIGHT / 2) <= 4, "{}", count(0, HEIGHT / 2));
}

#[test]
fn outlines_are_not_scaled_graded_or_shifted_by_other_effects() {
    let style = OutlineStyle { color: [255, 0, 0, 255], width: 6.0, through: false };
    let quality = RenderQuality { scale: 0.5, ..QUALITY };
    let mut packet = lone_box(style);
    let values = packet.views[0].environment;
    packet.views[0].environment = ShadingEnvironment {
        screen_space: engine::frame_packet::shading_environment::ScreenSpaceValues {
            temporal_anti_aliasing: 1.0,
            ..values.screen_space
        },
        ..values
    };
    packet.views[0].environment.tone.saturation = 0.0;
    let Some(image) = picture(packet, quality) else { return };
    let found = red_pixels(&image);
    assert!((4..=8).contains(&found), "{found} pixels");
}

#[test]
fn outlines_that_end_leave_no_trace_and_no_images() {
    let Some(mut renderer) = renderer_with(QUALITY, (WIDTH, HEIGHT)) else { return };
    let plain = draw(&mut renderer, vec![without_outlines(scene())], ViewTarget::Screen);
    let all = scene().scenes[0].changes.clone();
    let change = |with: bool| {
        let mut packet = views_only(scene());
        let set = |change: &DrawChange| match change {
            DrawChange::Set(draw) => {
                let outline = draw.outline.filter(|_| with);
                DrawChange::Set(DrawMesh { outline, ..*draw })
            }
            other => *other,
        };
        packet.scenes.push(SceneFrame {
            scene: 1,
            changes: all.iter().map(set).collect(),
            surfaces: scene().scenes[0].surfaces.clone(),
            ..SceneFrame::default()
        });
        packet
    };
    for _ in 0..3 {
        let on = draw(&mut renderer, vec![change(true)], ViewTarget::Screen);
        assert!(largest_difference(&plain, &on) > 40);
        let off = draw(&mut renderer, vec![change(false)], ViewTarget::Screen);
        assert_eq!(largest_difference(&plain, &off), 0);
    }
}

#[test]
fn two_views_have_outlines_in_their_own_rectangles() {
    let Some(mut renderer) = renderer(false) else { return };
    let mut packet = scene();
    let [mut left, mut right] = [main_view(), main_view()];
    left.rectangle = [0.0, 0.0, 0.5, 1.0];
    right.rectangle = [0.5, 0.0, 0.5, 1.0];
    packet.views = vec![left, right];
    let image = draw(&mut renderer, vec![packet], ViewTarget::Screen);
    let half = WIDTH as usize / 2 * 4;
    for row in image.rgba.chunks_exact(WIDTH as usize * 4) {
        let differ = row[..half].iter().zip(&row[half..]).filter(|(a, b)| a.abs_diff(**b) > 2);
        assert_eq!(differ.count(), 0);
    }
}
