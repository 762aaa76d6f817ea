//! What a packet becomes: a list of passes, each a run of draws onto one target. Pure arithmetic on
//! matrices and rectangles; makes nothing on an adapter.

use super::batches::{Draw, DrawList, Guis};
use crate::foundation::{Mat4, Vec3, Vec4};
use crate::packet::gui::Space;
use crate::packet::{Packet, Target, View};
use bytemuck::{Pod, Zeroable};

/// The uniform `frame` of gui.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable, PartialEq, Debug, Default)]
pub struct FrameUniform {
    pub to_clip: [[f32; 4]; 4],
    pub target_size: [f32; 2],
    pub scale: f32,
    pub seconds: f32,
    pub first_transform: u32,
    pub atlas_stretch: f32,
    pub glyphs_stretch: f32,
    pub spare: u32,
}

/// A rectangle of pixels: left, top, width, height.
pub type Rectangle = [u32; 4];

/// One draw in its place.
#[derive(Clone, Debug)]
pub struct Item {
    pub draw: Draw,
    /// Which of [`Plan::uniforms`].
    pub uniform: u32,
    pub scissor: Rectangle,
}

/// A part of a target filled with one colour.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    /// sRGB and alpha, from 0 to 1.
    pub color: [f32; 4],
    pub rectangle: Rectangle,
    /// Which of [`Plan::uniforms`]: one that leaves clip space as it is.
    pub uniform: u32,
}

/// Draws onto one target.
#[derive(Clone, Debug)]
pub struct Pass {
    pub target: Target,
    /// With a depth buffer, emptied first.
    pub world: bool,
    /// Fills the whole target, as linear colour with alpha multiplied in.
    pub clear: Option<[f32; 4]>,
    /// Fills a part of it first.
    pub fill: Option<Fill>,
    /// Shows a scene then: which of the scenes' planned views, and where.
    pub scene: Option<(usize, Rectangle)>,
    pub viewport: Rectangle,
    pub items: std::ops::Range<usize>,
}

/// Everything that a packet draws.
#[derive(Default)]
pub struct Plan {
    pub passes: Vec<Pass>,
    pub items: Vec<Item>,
    pub uniforms: Vec<FrameUniform>,
    spare: Vec<Draw>,
}

/// What a plan is made for.
pub struct Sizes<'a> {
    /// Pixels of a target; `None`: it cannot be drawn to now.
    pub target: &'a dyn Fn(Target) -> Option<(u32, u32)>,
    /// Where the transforms of a Gui begin.
    pub transforms: &'a dyn Fn(u64) -> u32,
    /// Which of the scenes' planned views a view of the packet is, if any.
    pub scene: &'a dyn Fn(usize) -> Option<usize>,
    /// How many times the rows of each atlas a whole layer has.
    pub atlas_stretch: f32,
    pub glyphs_stretch: f32,
}

/// sRGB to linear light.
fn linear(value: f32) -> f32 {
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

fn premultiplied([r, g, b, a]: [f32; 4]) -> [f32; 4] {
    [linear(r) * a, linear(g) * a, linear(b) * a, a]
}

/// The pixels that fractions of a target are: left, bottom, width and height.
fn pixels([left, bottom, width, height]: [f32; 4], (w, h): (u32, u32)) -> Rectangle {
    let along = |at: f32, side: u32| (at.clamp(0.0, 1.0) * side as f32).round() as u32;
    let (x, right) = (along(left, w), along(left + width, w));
    let (top, end) = (along(1.0 - bottom - height, h), along(1.0 - bottom, h));
    [x, top, right.saturating_sub(x), end.saturating_sub(top)]
}

fn intersection(a: Rectangle, b: Rectangle) -> Rectangle {
    let (left, top) = (a[0].max(b[0]), a[1].max(b[1]));
    let right = (a[0] + a[2]).min(b[0] + b[2]);
    let bottom = (a[1] + a[3]).min(b[1] + b[3]);
    // Nothing in common: an empty rectangle, still within both.
    let (left, top) = (left.min(right), top.min(bottom));
    [left, top, right - left, bottom - top]
}

/// The pixels that a rectangle of a Gui's plane covers; of a turned one, those of its bounds.
/// Corners are rounded to whole pixels, so that neighbours neither overlap nor leave a gap.
fn clip_pixels(clip: [i32; 4], to_clip: &Mat4, viewport: Rectangle) -> Rectangle {
    let [left, bottom, right, top] = clip.map(|at| at as f32);
    let (mut low, mut high) = ([f32::MAX; 2], [f32::MIN; 2]);
    for (x, y) in [(left, bottom), (right, bottom), (right, top), (left, top)] {
        let at = *to_clip * Vec4::new(x, y, 0.0, 1.0);
        if at.w <= 1e-6 {
            // Partly behind the camera: its bounds have no end.
            return viewport;
        }
        let pixel = [
            viewport[0] as f32 + (at.x / at.w * 0.5 + 0.5) * viewport[2] as f32,
            viewport[1] as f32 + (0.5 - at.y / at.w * 0.5) * viewport[3] as f32,
        ];
        for axis in 0..2 {
            low[axis] = low[axis].min(pixel[axis]);
            high[axis] = high[axis].max(pixel[axis]);
        }
    }
    let whole = |at: f32| (at + 0.001).round().max(0.0) as u32;
    let (x, y) = (whole(low[0]), whole(low[1]));
    let size = [whole(high[0]).saturating_sub(x), whole(high[1]).saturating_sub(y)];
    intersection([x, y, size[0], size[1]], viewport)
}

/// From a Gui's plane to clip space.
fn to_clip(view: &View, space: Space, pose: Mat4, (width, height): (u32, u32), scale: f32) -> Mat4 {
    match space {
        Space::World => view.camera.projection * view.camera.view * pose,
        Space::Screen => {
            let (w, h) = (width as f32 / scale, height as f32 / scale);
            let scaled = Mat4::from_scale(Vec3::new(2.0 / w, 2.0 / h, 0.0));
            // Depth is of no use here, and must not cut anything off.
            Mat4::from_translation(Vec3::new(-1.0, -1.0, 0.5)) * scaled * pose
        }
    }
}

impl Plan {
    /// Plans a packet that `guis` has taken over.
    pub fn make(&mut self, packet: &Packet, guis: &Guis, list: &DrawList, sizes: &Sizes) {
        self.passes.clear();
        self.items.clear();
        self.uniforms.clear();
        for (index, view) in packet.views.iter().enumerate() {
            let Some(scale) = packet.scale_of(view.target) else { continue };
            let Some(size) = (sizes.target)(view.target) else { continue };
            let rectangle = pixels(view.rectangle, size);
            let whole = [0, 0, size.0, size.1];
            let mut base = FrameUniform {
                to_clip: Mat4::IDENTITY.to_cols_array_2d(),
                target_size: [size.0 as f32, size.1 as f32],
                scale,
                seconds: packet.seconds as f32,
                atlas_stretch: sizes.atlas_stretch,
                glyphs_stretch: sizes.glyphs_stretch,
                ..FrameUniform::default()
            };
            let (mut clear, mut fill) = (None, None);
            if let Some(color) = view.clear {
                if rectangle == whole {
                    clear = Some(premultiplied(color));
                } else if rectangle[2] > 0 && rectangle[3] > 0 {
                    fill = Some(Fill { color, rectangle, uniform: self.uniforms.len() as u32 });
                    self.uniforms.push(base);
                }
            }
            let is_window = !matches!(view.target, Target::Texture(_));
            if is_window && packet.views[..index].iter().all(|it| it.target != view.target) {
                // What a window showed before is not there any more.
                clear = clear.or(Some([0.0, 0.0, 0.0, 1.0]));
            }
            let is_world =
                |gui: &u64| guis.guis.get(gui).is_some_and(|gui| gui.space == Space::World);
            let has_world = view.guis.iter().any(is_world);
            let visible = rectangle[2] > 0 && rectangle[3] > 0;
            let mut scene = (sizes.scene)(index).filter(|_| visible);
            for world in [true, false] {
                if world && !has_world {
                    continue;
                }
                let viewport = if world { rectangle } else { whole };
                let first = self.items.len();
                if viewport[2] > 0 && viewport[3] > 0 {
                    for gui in view.guis.iter().filter(|gui| is_world(gui) == world) {
                        base.first_transform = (sizes.transforms)(*gui);
                        self.add_gui(view, guis, list, *gui, viewport, base);
                    }
                }
                let items = first..self.items.len();
                let (clear, fill) = (clear.take(), fill.take());
                let scene = scene.take().map(|scene| (scene, rectangle));
                let shows = clear.is_some() || fill.is_some() || scene.is_some();
                if shows || !items.is_empty() {
                    let target = view.target;
                    self.passes.push(Pass { target, world, clear, fill, scene, viewport, items });
                }
            }
        }
    }

    fn add_gui(
        &mut self,
        view: &View,
        guis: &Guis,
        list: &DrawList,
        number: u64,
        viewport: Rectangle,
        mut uniform: FrameUniform,
    ) {
        let Some(gui) = guis.guis.get(&number) else { return };
        let matrix = to_clip(view, gui.space, gui.pose, (viewport[2], viewport[3]), uniform.scale);
        uniform.to_clip = matrix.to_cols_array_2d();
        let index = self.uniforms.len() as u32;
        for draw in guis.draws(number, list, &mut self.spare) {
            let scissor = match draw.key.clip {
                Some(clip) => clip_pixels(clip, &matrix, viewport),
                None => viewport,
            };
            if scissor[2] > 0 && scissor[3] > 0 {
                self.items.push(Item { draw: *draw, uniform: index, scissor });
            }
        }
        self.uniforms.push(uniform);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_of_a_target_become_pixels_from_the_top() {
        let check = |fractions, wanted: Rectangle| {
            assert_eq!(pixels(fractions, (200, 100)), wanted, "{fractions:?}");
        };
        check([0.0, 0.0, 1.0, 1.0], [0, 0, 200, 100]);
        check([0.0, 0.0, 0.5, 0.25], [0, 75, 100, 25]);
        check([0.5, 0.5, 0.5, 0.5], [100, 0, 100, 50]);
        check([0.9, 0.0, 5.0, 1.0], [180, 0, 20, 100]);
        check([2.0, 0.0, 1.0, 1.0], [200, 0, 0, 100]);
    }

    #[test]
    fn a_clip_rectangle_follows_the_gui_and_ends_at_the_target() {
        let view = View {
            target: Target::Screen,
            rectangle: [0.0, 0.0, 1.0, 1.0],
            clear: None,
            camera: crate::packet::CameraFrame {
                view: Mat4::IDENTITY,
                projection: Mat4::IDENTITY,
                position: Vec3::ZERO,
                near: 0.1,
                far: 1.0,
            },
            scene: None,
            layers: u32::MAX,
            guis: Vec::new(),
        };
        let check = |clip, pose: Vec3, scale: f32, wanted: Rectangle| {
            let pose = Mat4::from_translation(pose);
            let matrix = to_clip(&view, Space::Screen, pose, (200, 100), scale);
            assert_eq!(clip_pixels(clip, &matrix, [0, 0, 200, 100]), wanted);
        };
        check([10, 20, 60, 50], Vec3::ZERO, 1.0, [10, 50, 50, 30]);
        check([10, 20, 60, 50], Vec3::new(5.0, 10.0, 0.0), 1.0, [15, 40, 50, 30]);
        check([10, 10, 20, 20], Vec3::ZERO, 2.0, [20, 60, 20, 20]);
        check([-50, -50, 20, 20], Vec3::ZERO, 1.0, [0, 80, 20, 20]);
        check([300, 0, 400, 20], Vec3::ZERO, 1.0, [200, 80, 0, 20]);
    }

    #[test]
    fn clear_colours_become_linear_light() {
        assert_eq!(premultiplied([0.0, 1.0, 1.0, 0.5]), [0.0, 0.5, 0.5, 0.5]);
        let half = premultiplied([0.5, 0.5, 0.5, 1.0])[0];
        assert!((half - 0.214).abs() < 0.001, "{half}");
    }
}
