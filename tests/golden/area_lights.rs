//! Golden pictures and measured pixels of rectangles and discs that shine, beside integrals that
//! the test computes itself.

use super::area_light_fit;
use super::forward::{SceneBuilder, view};
use super::local_lights::{DARK, linear};
use super::meshes::{CUBE, PLANE, SPHERE};
use super::soft_shadows::from_above;
use super::{check, draw, renderer};
use engine::foundation::{Mat4, Vec3};
use engine::frame_packet::mesh::SurfaceFrame;
use engine::frame_packet::scene::{LightFrame, LightKind, SkyFrame};
use engine::frame_packet::{FramePacket, View, ViewTarget};
use engine::system::render::{RenderedImage, Renderer};
use std::f32::consts::PI;

/// A light that shines, and its size in metres.
#[derive(Clone, Copy)]
struct Panel {
    position: Vec3,
    direction: Vec3,
    width: f32,
    height: f32,
    is_ellipse: bool,
    color: f32,
}

const CEILING: Panel = Panel {
    position: Vec3::new(2.0, 0.0, 1.5),
    direction: Vec3::NEG_Z,
    width: 2.0,
    height: 1.0,
    is_ellipse: false,
    color: 1.0,
};

impl Panel {
    /// Returns directions of length 1 to its right and upper sides.
    fn axes(&self) -> [Vec3; 2] {
        let axis = if self.direction.x.abs() > 0.9 { Vec3::Y } else { Vec3::X };
        let right = (axis - self.direction * axis.dot(self.direction)).normalize();
        [right, right.cross(self.direction).normalize()]
    }

    fn area(&self) -> f32 {
        self.width * self.height * if self.is_ellipse { PI * 0.25 } else { 1.0 }
    }

    fn frame(&self) -> LightFrame {
        let kind = LightKind::Area {
            position: self.position,
            direction: self.direction,
            right: self.axes()[0] * (0.5 * self.width),
            half_height: 0.5 * self.height,
            is_ellipse: self.is_ellipse,
            range: f32::INFINITY,
            casts_shadows: false,
        };
        LightFrame { kind, color: [self.color; 3], ..LightFrame::DEFAULT }
    }

    /// Returns an integral over the directions from a point, of a function of the direction that
    /// contains the cosine of the surface, times the light. 200 by 200 parts of the light.
    fn gathered(&self, point: Vec3, reflected: impl Fn(Vec3) -> f32) -> f32 {
        let ([right, up], parts) = (self.axes(), 200);
        let at = |i: usize| (i as f32 + 0.5) / parts as f32 - 0.5;
        let mut sum = 0.0f64;
        for (x, y) in (0..parts * parts).map(|i| (at(i % parts), at(i / parts))) {
            if self.is_ellipse && x.hypot(y) > 0.5 {
                continue;
            }
            let way = self.position + right * (x * self.width) + up * (y * self.height) - point;
            let (square, towards) = (way.length_squared(), way.normalize());
            let facing = (-towards).dot(self.direction).max(0.0);
            sum += f64::from(reflected(towards) * facing / square);
        }
        let part = self.width * self.height / (parts * parts) as f32;
        sum as f32 * part * self.color / self.area()
    }
}

/// Returns the ground, of one surface.
fn ground(surface: SurfaceFrame, lights: &[LightFrame], view: View) -> FramePacket {
    let mut builder = SceneBuilder::new();
    builder.sky(DARK);
    let surface = builder.surface(surface);
    builder.add_at(PLANE, surface, Vec3::ZERO, Vec3::new(60.0, 60.0, 1.0));
    lights.iter().for_each(|light| builder.light(*light));
    builder.build(vec![view])
}

/// A surface that mirrors nothing.
fn matte() -> SurfaceFrame {
    let mut surface = SurfaceFrame { base_color: [0.8, 0.8, 0.8, 1.0], ..SurfaceFrame::DEFAULT };
    surface.lobes.specular = 0.0;
    surface
}

/// Returns the light of pixels whose points on the ground are given, as seen from above.
fn light_at(picture: &RenderedImage, points: &[Vec3]) -> Vec<f32> {
    let pixel = |at: &Vec3| (((at.x + 3.0) * 32.0) as u32, ((2.8125 - at.y) * 32.0) as u32);
    points.iter().map(|at| linear(picture, pixel(at)).x).collect()
}

/// Returns points in the middle of pixels.
fn points() -> Vec<Vec3> {
    let middle = |number: f32| (number * 32.0).floor() / 32.0 + 1.0 / 64.0;
    let all = (0..40).map(|i| (i % 8, i / 8));
    all.map(|(x, y)| Vec3::new(middle(x as f32 * 0.7 - 0.6), middle(y as f32 - 2.0), 0.0)).collect()
}

/// Returns the mean of found divided by wanted light, for some strengths, and the largest error of
/// a point.
fn compare_matte(renderer: &mut Renderer, panel: Panel) -> (f32, f32) {
    let points = points();
    let wanted: Vec<f32> = points
        .iter()
        .map(|point| 0.8 * panel.gathered(*point, |towards| towards.z.max(0.0)))
        .collect();
    let most = wanted.iter().copied().fold(0.0, f32::max);
    let (mut sums, mut count) = (vec![0.0; points.len()], 0.0f32);
    for i in 0..8 {
        // Different strengths, so that the errors of bytes cancel out.
        let factor = (0.7 + 0.03 * i as f32) / most;
        let light = LightFrame { color: [factor * panel.color; 3], ..panel.frame() };
        let packet = ground(matte(), &[light], from_above());
        let picture = draw(renderer, vec![packet], ViewTarget::Screen);
        for (sum, found) in sums.iter_mut().zip(light_at(&picture, &points)) {
            *sum += found / factor;
        }
        count += 1.0;
    }
    let parts: Vec<f32> = sums
        .iter()
        .zip(&wanted)
        .filter(|(_, wanted)| **wanted > 0.15 * most)
        .map(|(sum, wanted)| sum / count / wanted)
        .collect();
    assert!(parts.len() > 5, "{wanted:?}");
    let mean = parts.iter().sum::<f32>() / parts.len() as f32;
    (mean, parts.iter().map(|part| (part - 1.0).abs()).fold(0.0, f32::max))
}

#[test]
fn irradiance_of_rectangles_and_discs_is_known() {
    let Some(mut renderer) = renderer(false) else { return };
    // On the axis of a rectangle: Lambert's factor of four quarters.
    let (a, b) = (1.0f32 / 1.5, 0.5f32 / 1.5);
    let quarter = |a: f32, b: f32| a / a.hypot(1.0) * (b / a.hypot(1.0)).atan();
    let known = 4.0 * (quarter(a, b) + quarter(b, a)) / (2.0 * PI) * PI / CEILING.area();
    let sum = CEILING.gathered(Vec3::new(2.0, 0.0, 0.0), |towards| towards.z.max(0.0));
    assert!((known - sum).abs() < 0.001 * known, "{known} {sum}");
    let tilted = Panel {
        position: Vec3::new(4.5, 0.0, 0.6),
        direction: Vec3::new(-1.0, 0.0, 0.0),
        ..CEILING
    };
    let disc = Panel { is_ellipse: true, ..CEILING };
    let round = Panel { height: 2.0, ..disc };
    // Half of it is below the ground.
    let sunk = Panel { position: Vec3::new(4.5, 0.0, 0.0), height: 2.0, ..tilted };
    for panel in [CEILING, tilted, sunk, disc, round] {
        let (mean, worst) = compare_matte(&mut renderer, panel);
        assert!((mean - 1.0).abs() < 0.005 && worst < 0.01, "{mean}, at worst {worst}");
    }
}

#[test]
fn a_small_rectangle_shines_like_a_lamp_to_one_side() {
    let Some(mut renderer) = renderer(false) else { return };
    let small = Panel { width: 0.01, height: 0.01, color: 2.0, ..CEILING };
    let picture = draw(
        &mut renderer,
        vec![ground(matte(), &[small.frame()], from_above())],
        ViewTarget::Screen,
    );
    let found = light_at(&picture, &[Vec3::new(2.0, 0.0, 0.0), Vec3::new(3.5, 0.0, 0.0)]);
    let wanted = [0.8 * 2.0 / 2.25, 0.8 * 2.0 / 4.5 * 0.5];
    for (found, wanted) in found.into_iter().zip(wanted) {
        assert!((found - wanted).abs() < 0.03 * wanted, "{found} instead of {wanted}");
    }
    // Behind it, there is no light.
    let away = Panel { direction: Vec3::Z, width: 3.0, ..CEILING };
    let packet = ground(matte(), &[away.frame()], from_above());
    let picture = draw(&mut renderer, vec![packet], ViewTarget::Screen);
    assert!(picture.rgba.chunks(4).all(|pixel| pixel[0] == 0));
}

/// Returns what microfacets reflect of light from one direction, times pi and the cosine.
fn mirrored(square: f32, towards: Vec3, back: Vec3) -> f32 {
    if towards.z <= 0.0 {
        return 0.0;
    }
    let half = (towards + back).normalize();
    let d = half.z * half.z * (square - 1.0) + 1.0;
    let smith = |a: f32, b: f32| a * (b * b * (1.0 - square) + square).sqrt();
    let visible = 0.5 / (smith(towards.z, back.z) + smith(back.z, towards.z));
    square / (d * d) * visible * towards.z
}

/// Returns the largest error of a metal ground with a roughness that mirrors a rectangle, as a part
/// of the brightest point.
fn mirror_error(renderer: &mut Renderer, roughness: f32, view: &View) -> f32 {
    let panel = Panel {
        position: Vec3::new(0.0, 4.0, 1.2),
        direction: Vec3::NEG_Y,
        width: 2.0,
        height: 1.6,
        is_ellipse: false,
        color: 1.0,
    };
    let from_clip = (view.camera.projection * view.camera.view).inverse();
    let mut samples = Vec::new();
    for (x, y) in (0..120).map(|i| ((i % 10) * 26 + 40, (i / 10) * 14 + 12)) {
        let (flat, upright) = ((x as f32 + 0.5) / 160.0 - 1.0, 1.0 - (y as f32 + 0.5) / 90.0);
        let [near, far] =
            [0.0, 1.0].map(|depth| from_clip.project_point3(Vec3::new(flat, upright, depth)));
        let ray = (far - near).normalize();
        let point = near - ray * (near.z / ray.z);
        if ray.z < -0.05 && (-5.0..3.5).contains(&point.y) {
            let square = roughness.powi(4);
            samples.push(((x, y), panel.gathered(point, |to| mirrored(square, to, -ray))));
        }
    }
    assert!(samples.len() > 30, "{}", samples.len());
    let most = samples.iter().map(|(_, wanted)| *wanted).fold(0.0, f32::max);
    let factor = 0.8 / most;
    let surface =
        SurfaceFrame { base_color: [1.0; 4], metallic: 1.0, roughness, ..SurfaceFrame::DEFAULT };
    let light = LightFrame { color: [factor; 3], ..panel.frame() };
    let packet = ground(surface, &[light], view.clone());
    let picture = draw(renderer, vec![packet], ViewTarget::Screen);
    let error = |((x, y), wanted): &((u32, u32), f32)| {
        (linear(&picture, (*x, *y)).x - wanted * factor).abs() / 0.8
    };
    samples.iter().map(error).fold(0.0, f32::max)
}

#[test]
fn mirrored_rectangles_are_close_to_the_integral() {
    let Some(mut renderer) = renderer(false) else { return };
    // docs/lights.md says how far they are off, from above and at a low angle.
    let above = view(Vec3::new(0.0, -4.0, 6.0), Vec3::new(0.0, 0.5, 0.0));
    let low = view(Vec3::new(0.0, -6.0, 2.0), Vec3::new(0.0, 1.0, 0.3));
    for (view, most) in [(above, 0.04), (low, 0.14)] {
        let errors =
            [0.2, 0.3, 0.5, 0.8].map(|roughness| mirror_error(&mut renderer, roughness, &view));
        assert!(errors.iter().all(|error| *error < most), "{errors:?}");
    }
}

/// Returns a room with a window, a round lamp, a ball and pillars on a smooth floor.
fn room() -> FramePacket {
    let mut builder = SceneBuilder::new();
    let dim = [0.02, 0.022, 0.03];
    builder.sky(SkyFrame { top: dim, horizon: dim, ground: dim, tone_mapping: true, ..DARK });
    let floor = builder.surface(SurfaceFrame {
        base_color: [0.35, 0.33, 0.3, 1.0],
        roughness: 0.25,
        ..SurfaceFrame::DEFAULT
    });
    let wall = builder.matte([0.6, 0.6, 0.6]);
    let metal = builder.surface(SurfaceFrame {
        base_color: [0.9, 0.75, 0.5, 1.0],
        metallic: 1.0,
        roughness: 0.3,
        ..SurfaceFrame::DEFAULT
    });
    builder.add_at(PLANE, floor, Vec3::ZERO, Vec3::new(30.0, 30.0, 1.0));
    builder.add_at(CUBE, wall, Vec3::new(0.0, 3.2, 1.5), Vec3::new(6.0, 0.1, 1.5));
    builder.add_at(SPHERE, metal, Vec3::new(0.9, 0.3, 0.55), Vec3::splat(0.55));
    builder.add_at(CUBE, wall, Vec3::new(-0.5, 0.6, 0.7), Vec3::new(0.12, 0.12, 0.7));
    let glow = |color: [f32; 3]| SurfaceFrame {
        base_color: [0.0, 0.0, 0.0, 1.0],
        emissive: color,
        ..SurfaceFrame::DEFAULT
    };
    let window = Panel {
        position: Vec3::new(-1.8, 3.05, 1.1),
        direction: Vec3::NEG_Y,
        width: 1.4,
        height: 1.6,
        is_ellipse: false,
        color: 1.0,
    };
    let lamp = Panel {
        position: Vec3::new(2.3, 2.0, 1.9),
        direction: Vec3::new(-0.3, -0.5, -0.8).normalize(),
        width: 1.0,
        height: 1.0,
        is_ellipse: true,
        color: 1.0,
    };
    for (panel, color) in [(window, [1.6, 2.4, 3.6]), (lamp, [3.2, 1.9, 0.9])] {
        let mut light = LightFrame { color, source_size: 0.6, ..panel.frame() };
        if let LightKind::Area { casts_shadows, range, .. } = &mut light.kind {
            (*casts_shadows, *range) = (true, 20.0);
        }
        builder.light(light);
        // As bright as the light itself.
        let surface = builder.surface(glow(color.map(|part| part * PI / panel.area())));
        let [right, up] = panel.axes();
        let half = [0.5 * panel.width, 0.5 * panel.height];
        // A side of a box, behind the light; a disc is a flat ball.
        let pose = Mat4::from_cols(
            (right * half[0]).extend(0.0),
            (panel.direction * 0.01).extend(0.0),
            (up * half[1]).extend(0.0),
            (panel.position - panel.direction * 0.02).extend(1.0),
        );
        builder.add_draw(if panel.is_ellipse { SPHERE } else { CUBE }, surface, pose);
    }
    builder.build(vec![view(Vec3::new(0.2, -5.6, 2.2), Vec3::new(0.1, 1.0, 0.8))])
}

#[test]
fn rectangles_and_discs_that_shine() {
    check("area_lights", vec![room()]);
}

/// The table, as it is in the renderer.
const TABLE: &str = include_str!("../../src/system/render/scene/area_light_table.rs");

/// The shader that reads it.
const SHADER: &str = include_str!("../../src/system/render/forward/area_lights.wgsl");

/// Returns the number of a half float.
fn from_half(bits: u32) -> f64 {
    let (exponent, fraction) = (bits >> 10 & 31, f64::from(bits & 0x3ff));
    let value = match exponent {
        0 => fraction / f64::from(1 << 24),
        _ => (1.0 + fraction / 1024.0) * f64::from(exponent as i32 - 15).exp2(),
    };
    if bits & 0x8000 != 0 { -value } else { value }
}

#[test]
fn the_table_is_that_of_its_fit() {
    if std::env::var("ENGINE_GOLDEN_UPDATE").is_ok_and(|value| value == "1") {
        let path = "src/system/render/scene/area_light_table.rs";
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        std::fs::write(path, area_light_fit::source()).expect("it can be written");
        return;
    }
    let table: Vec<u32> = TABLE
        .split("0x")
        .skip(1)
        .map(|word| u32::from_str_radix(&word[..8], 16).expect("it is a hexadecimal number"))
        .collect();
    let side = area_light_fit::SIDE;
    assert_eq!(table.len(), side * side * 3);
    let line = format!("const AREA_TABLE_SIDE: u32 = {side}u;");
    assert!(SHADER.contains(&line), "{line}");
    for (row, column) in [(0, 0), (3, 20), (12, 7), (20, 31), (31, 15)] {
        let entry = area_light_fit::entry(row, column);
        let known = &table[(row * side + column) * 3..][..3];
        for (i, wanted) in entry.into_iter().enumerate() {
            let found = from_half(known[i / 2] >> (16 * (i % 2)) & 0xffff);
            let off = (found - wanted).abs();
            assert!(off < 2e-3 * wanted.abs() + 1e-6, "{row}, {column}: {found} for {wanted}");
        }
    }
}
