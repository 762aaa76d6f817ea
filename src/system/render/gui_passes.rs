//! The pass list of a packet's Guis: each pass is a sequence of draws onto one target. Pure
//! arithmetic on matrices and rectangles; creates no resources on an adapter.

use super::gui_batches::{DrawList, GuiBatchTable, GuiDraw};
use bytemuck::{Pod, Zeroable};
use engine_foundation::{Mat4, Vec3, Vec4};
use engine_frame_packet::gui::{GuiSpace, MaskFrame};
use engine_frame_packet::{FramePacket, View, ViewTarget};

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
    /// Offset from a target's pixel to the mask's, and the mask's size: [`NO_MASK`] without one.
    pub mask: [f32; 4],
}

/// The mask of a uniform that reads only white, from an image of one texel.
const NO_MASK: [f32; 4] = [0.0, 0.0, f32::MAX, f32::MAX];

/// A rectangle of pixels: left, top, width, height.
pub type PixelRectangle = [u32; 4];

/// One draw call in a pass.
#[derive(Clone, Debug)]
pub struct PassItem {
    pub draw: GuiDraw,
    /// Index into [`GuiPassList::uniforms`].
    pub uniform: u32,
    pub scissor: PixelRectangle,
    /// Index of the mask that it is drawn through, in [`GuiPassList::masks`].
    pub mask: Option<u32>,
}

/// A pass that draws the coverage of a mask onto an image of its own.
#[derive(Clone, Debug)]
pub struct MaskPass {
    /// The pixels of the target that it covers. Everything outside is hidden.
    pub rectangle: PixelRectangle,
    /// True if the coverage of its shape is removed from a filled image.
    pub outside: bool,
    /// Index of the mask that multiplies it.
    pub parent: Option<u32>,
    /// Uniform for filling the whole image.
    pub fill_uniform: u32,
    /// The draws of its shape, in [`GuiPassList::mask_items`].
    pub items: std::ops::Range<usize>,
}

/// A part of a target that is filled with one color.
#[derive(Clone, Copy, Debug)]
pub struct FillRectangle {
    /// sRGB and alpha, from 0 to 1.
    pub color: [f32; 4],
    pub rectangle: PixelRectangle,
    /// Index into [`GuiPassList::uniforms`]: a uniform with the identity as its matrix.
    pub uniform: u32,
}

/// A pass: draws onto one target.
#[derive(Clone, Debug)]
pub struct GuiPass {
    pub target: ViewTarget,
    /// True if the pass has a depth buffer, which is cleared first.
    pub world: bool,
    /// Clear color of the whole target, as linear color with premultiplied alpha.
    pub clear: Option<[f32; 4]>,
    /// A part that is filled first.
    pub fill: Option<FillRectangle>,
    /// The scene that is shown next: the index of the scenes' planned view, and its rectangle.
    pub scene: Option<(usize, PixelRectangle)>,
    /// Index of the packet's view. The passes of a view follow each other.
    pub view: usize,
    /// True for the first and for the last pass of the view.
    pub is_first: bool,
    pub is_last: bool,
    /// The part of the target that shows the view's world, and the index of the scenes' planned
    /// view for all passes of the view.
    pub rectangle: PixelRectangle,
    pub view_scene: Option<usize>,
    /// Pixels per logical pixel, and seconds of game time.
    pub scale: f32,
    pub seconds: f32,
    pub viewport: PixelRectangle,
    pub items: std::ops::Range<usize>,
    /// The masks of the items, in [`GuiPassList::masks`]. A mask follows its parent.
    pub masks: std::ops::Range<usize>,
}

/// All passes of a packet.
#[derive(Default)]
pub struct GuiPassList {
    pub passes: Vec<GuiPass>,
    pub items: Vec<PassItem>,
    pub masks: Vec<MaskPass>,
    pub mask_items: Vec<PassItem>,
    pub uniforms: Vec<FrameUniform>,
    spare: Vec<GuiDraw>,
}

/// Inputs of a pass list.
pub struct PassInputs<'a> {
    /// Returns the size of a target in pixels; `None`: it cannot be drawn to now.
    pub target: &'a dyn Fn(ViewTarget) -> Option<(u32, u32)>,
    /// Returns the index of a Gui's first transform.
    pub transforms: &'a dyn Fn(u64) -> u32,
    /// Returns the index of the scenes' planned view for a view of the packet, if there is one.
    pub scene: &'a dyn Fn(usize) -> Option<usize>,
    /// Ratio of the rows of a whole layer to the rows of each atlas.
    pub atlas_stretch: f32,
    pub glyphs_stretch: f32,
}

/// Converts sRGB to linear light.
fn linear(value: f32) -> f32 {
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

fn premultiplied([r, g, b, a]: [f32; 4]) -> [f32; 4] {
    [linear(r) * a, linear(g) * a, linear(b) * a, a]
}

/// Converts fractions of a target (left, bottom, width and height) to pixels.
fn pixels([left, bottom, width, height]: [f32; 4], (w, h): (u32, u32)) -> PixelRectangle {
    let along = |at: f32, side: u32| (at.clamp(0.0, 1.0) * side as f32).round() as u32;
    let (x, right) = (along(left, w), along(left + width, w));
    let (top, end) = (along(1.0 - bottom - height, h), along(1.0 - bottom, h));
    [x, top, right.saturating_sub(x), end.saturating_sub(top)]
}

fn intersection(a: PixelRectangle, b: PixelRectangle) -> PixelRectangle {
    let (left, top) = (a[0].max(b[0]), a[1].max(b[1]));
    let right = (a[0] + a[2]).min(b[0] + b[2]);
    let bottom = (a[1] + a[3]).min(b[1] + b[3]);
    // If there is no overlap: an empty rectangle, within both.
    let (left, top) = (left.min(right), top.min(bottom));
    [left, top, right - left, bottom - top]
}

/// Returns the pixels that a rectangle of a Gui's plane covers; for a rotated one, those of its
/// bounds. Corners are rounded to whole pixels, so that neighbours neither overlap nor leave a gap.
fn clip_pixels(clip: [i32; 4], to_clip: &Mat4, viewport: PixelRectangle) -> PixelRectangle {
    let whole = |at: f32| (at + 0.001).round().max(0.0) as u32;
    match pixel_bounds(clip.map(|at| at as f32), to_clip, viewport) {
        Some([low, high]) => within(low.map(whole), high.map(whole), viewport),
        None => viewport,
    }
}

/// Returns all pixels that a rectangle of a Gui's plane touches.
fn touched_pixels(bounds: [f32; 4], to_clip: &Mat4, viewport: PixelRectangle) -> PixelRectangle {
    match pixel_bounds(bounds, to_clip, viewport) {
        Some([low, high]) => {
            let low = low.map(|at| at.floor().max(0.0) as u32);
            within(low, high.map(|at| at.ceil().max(0.0) as u32), viewport)
        }
        None => viewport,
    }
}

fn within(low: [u32; 2], high: [u32; 2], viewport: PixelRectangle) -> PixelRectangle {
    let size = [high[0].saturating_sub(low[0]), high[1].saturating_sub(low[1])];
    intersection([low[0], low[1], size[0], size[1]], viewport)
}

/// Returns the lowest and highest corner of a rectangle of a Gui's plane, in pixels; `None` if it
/// is partly behind the camera, so that its bounds are infinite.
fn pixel_bounds(
    [left, bottom, right, top]: [f32; 4],
    to_clip: &Mat4,
    viewport: PixelRectangle,
) -> Option<[[f32; 2]; 2]> {
    let (mut low, mut high) = ([f32::MAX; 2], [f32::MIN; 2]);
    for (x, y) in [(left, bottom), (right, bottom), (right, top), (left, top)] {
        let at = *to_clip * Vec4::new(x, y, 0.0, 1.0);
        if at.w <= 1e-6 {
            return None;
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
    Some([low, high])
}

/// Returns the matrix from a Gui's plane to the clip space of a part of its target.
fn to_part(to_clip: Mat4, part: PixelRectangle, viewport: PixelRectangle) -> Mat4 {
    let [x, y, width, height] = part.map(|side| side as f32);
    let [left, top, whole_width, whole_height] = viewport.map(|side| side as f32);
    let scale = [whole_width / width.max(1.0), whole_height / height.max(1.0)];
    // The middle of the part, in the clip space of the whole.
    let middle = [
        ((x + width / 2.0 - left) / whole_width) * 2.0 - 1.0,
        1.0 - ((y + height / 2.0 - top) / whole_height) * 2.0,
    ];
    Mat4::from_scale(Vec3::new(scale[0], scale[1], 1.0))
        * Mat4::from_translation(Vec3::new(-middle[0], -middle[1], 0.0))
        * to_clip
}

/// The place of a view's Guis on its target.
#[derive(Clone, Copy)]
struct GuiPlacement {
    /// The target, or the rectangle of the view for Guis in the world.
    viewport: PixelRectangle,
    /// The part of the target that the Guis may cover.
    bounds: PixelRectangle,
    /// Pixels per unit, horizontally and vertically.
    scale: [f32; 2],
    /// The origin, in pixels from the bottom left of the target.
    offset: [f32; 2],
}

/// The place of a view and of its Guis on the target.
#[derive(Clone, Copy)]
struct ViewPlacements {
    /// The whole target.
    whole: PixelRectangle,
    /// The part of it that shows the view's world.
    rectangle: PixelRectangle,
    of_screen: GuiPlacement,
    of_overlays: GuiPlacement,
}

impl ViewPlacements {
    fn new(packet: &FramePacket, view: &View, size: (u32, u32), scale: f32) -> ViewPlacements {
        let whole = [0, 0, size.0, size.1];
        let on_target =
            GuiPlacement { viewport: whole, bounds: whole, scale: [scale; 2], offset: [0.0; 2] };
        let of_overlays = GuiPlacement { scale: [packet.scale.max(1e-3); 2], ..on_target };
        let picture = packet.picture.filter(|_| view.target == ViewTarget::Screen);
        let Some(picture) = picture else {
            let rectangle = pixels(view.rectangle, size);
            return ViewPlacements { whole, rectangle, of_screen: on_target, of_overlays };
        };
        let sides = [size.0 as f32, size.1 as f32];
        let part = |part| pixels(picture.on_screen(part, sides), size);
        let of_screen = GuiPlacement {
            bounds: part([0.0, 0.0, 1.0, 1.0]),
            scale: picture.scale,
            offset: picture.offset,
            ..on_target
        };
        ViewPlacements { whole, rectangle: part(view.rectangle), of_screen, of_overlays }
    }
}

/// A view with everything that its passes need.
struct ViewPasses<'a> {
    view: &'a View,
    placements: ViewPlacements,
    base: FrameUniform,
    clear: Option<[f32; 4]>,
    fill: Option<FillRectangle>,
    /// Index of the scenes' planned view.
    scene: Option<usize>,
    /// Index of the packet's view.
    index: usize,
}

/// Returns the matrix from a Gui's plane to clip space.
fn to_clip(view: &View, space: GuiSpace, pose: Mat4, placement: &GuiPlacement) -> Mat4 {
    match space {
        GuiSpace::World => view.camera.projection * view.camera.view * pose,
        GuiSpace::Screen | GuiSpace::Overlay => {
            let [_, _, width, height] = placement.viewport.map(|side| side as f32);
            let ([x, y], [left, bottom]) = (placement.scale, placement.offset);
            let (w, h) = (width / x, height / y);
            let scaled = Mat4::from_scale(Vec3::new(2.0 / w, 2.0 / h, 0.0));
            // Depth is unused here, and must not clip anything.
            let corner = Vec3::new(2.0 * left / width - 1.0, 2.0 * bottom / height - 1.0, 0.5);
            Mat4::from_translation(corner) * scaled * pose
        }
    }
}

impl GuiPassList {
    /// Plans a packet that `guis` has applied.
    pub fn plan(
        &mut self,
        packet: &FramePacket,
        guis: &GuiBatchTable,
        list: &DrawList,
        sizes: &PassInputs,
    ) {
        self.passes.clear();
        self.items.clear();
        self.masks.clear();
        self.mask_items.clear();
        self.uniforms.clear();
        for (index, view) in packet.views.iter().enumerate() {
            let Some(scale) = packet.scale_of(view.target) else { continue };
            let Some(size) = (sizes.target)(view.target) else { continue };
            let placements = ViewPlacements::new(packet, view, size, scale);
            let ViewPlacements { whole, rectangle, .. } = placements;
            let base = FrameUniform {
                to_clip: Mat4::IDENTITY.to_cols_array_2d(),
                target_size: [size.0 as f32, size.1 as f32],
                scale,
                seconds: packet.seconds as f32,
                atlas_stretch: sizes.atlas_stretch,
                glyphs_stretch: sizes.glyphs_stretch,
                mask: NO_MASK,
                ..FrameUniform::default()
            };
            let (mut clear, mut fill) = (None, None);
            if let Some(color) = view.clear {
                if rectangle == whole {
                    clear = Some(premultiplied(color));
                } else if rectangle[2] > 0 && rectangle[3] > 0 {
                    fill = Some(FillRectangle {
                        color,
                        rectangle,
                        uniform: self.uniforms.len() as u32,
                    });
                    self.uniforms.push(base);
                }
            }
            let is_window = !matches!(view.target, ViewTarget::Texture(_));
            if is_window && packet.views[..index].iter().all(|it| it.target != view.target) {
                // The previous content of a window is not kept.
                let [red, green, blue] = match view.target {
                    ViewTarget::Screen => packet.bar_color,
                    _ => [0.0; 3],
                };
                clear = clear.or(Some(premultiplied([red, green, blue, 1.0])));
            }
            let visible = rectangle[2] > 0 && rectangle[3] > 0;
            let scene = (sizes.scene)(index).filter(|_| visible);
            let of_view = ViewPasses { view, placements, base, clear, fill, scene, index };
            self.add_passes(of_view, guis, list, sizes);
        }
    }

    /// Adds the passes of one view: that of its world, if Guis are in the world, and that of the
    /// screen.
    fn add_passes(
        &mut self,
        of_view: ViewPasses,
        guis: &GuiBatchTable,
        list: &DrawList,
        sizes: &PassInputs,
    ) {
        let ViewPasses { view, placements, mut base, mut clear, mut fill, mut scene, index } =
            of_view;
        let (first_pass, view_scene) = (self.passes.len(), scene);
        let ViewPlacements { whole, rectangle, of_screen, of_overlays } = placements;
        let is_world =
            |gui: &u64| guis.guis.get(gui).is_some_and(|gui| gui.space == GuiSpace::World);
        let has_world = view.guis.iter().any(is_world);
        for world in [true, false] {
            if world && !has_world {
                continue;
            }
            let viewport = if world { rectangle } else { whole };
            let (first, first_mask) = (self.items.len(), self.masks.len());
            if viewport[2] > 0 && viewport[3] > 0 {
                for gui in view.guis.iter().filter(|gui| is_world(gui) == world) {
                    base.first_transform = (sizes.transforms)(*gui);
                    let placement = match guis.guis.get(gui).map(|gui| gui.space) {
                        Some(GuiSpace::Overlay) => of_overlays,
                        Some(GuiSpace::World) => {
                            GuiPlacement { viewport, bounds: viewport, ..of_screen }
                        }
                        _ => of_screen,
                    };
                    self.add_gui(view, guis, list, *gui, &placement, base);
                }
            }
            let (items, masks) = (first..self.items.len(), first_mask..self.masks.len());
            let (clear, fill) = (clear.take(), fill.take());
            let scene = scene.take().map(|scene| (scene, rectangle));
            let is_drawn = clear.is_some() || fill.is_some() || scene.is_some();
            if is_drawn || !items.is_empty() {
                let target = view.target;
                self.passes.push(GuiPass {
                    target,
                    world,
                    clear,
                    fill,
                    scene,
                    view: index,
                    is_first: self.passes.len() == first_pass,
                    is_last: false,
                    rectangle,
                    view_scene,
                    scale: base.scale,
                    seconds: base.seconds,
                    viewport,
                    items,
                    masks,
                });
            }
        }
        if let Some(last) = self.passes[first_pass..].last_mut() {
            last.is_last = true;
        }
    }

    fn add_gui(
        &mut self,
        view: &View,
        guis: &GuiBatchTable,
        list: &DrawList,
        number: u64,
        placement: &GuiPlacement,
        mut uniform: FrameUniform,
    ) {
        let Some(gui) = guis.guis.get(&number) else { return };
        let matrix = to_clip(view, gui.space, gui.pose, placement);
        uniform.to_clip = matrix.to_cols_array_2d();
        uniform.scale = (placement.scale[0] * placement.scale[1]).sqrt();
        let index = self.uniforms.len() as u32;
        self.uniforms.push(uniform);
        let mut spare = std::mem::take(&mut self.spare);
        let draws = guis.draws(number, list, &mut spare);
        let first_mask = self.masks.len();
        let in_gui = GuiInTarget { matrix, placement, uniform, first_mask };
        for (i, mask) in gui.masks.iter().enumerate() {
            self.add_mask(&in_gui, (i as u16 + 1, *mask), draws);
        }
        // The uniforms of draws through each mask.
        let first_uniform = self.uniforms.len() as u32;
        for mask in &self.masks[first_mask..] {
            let mask = mask_in(mask.rectangle, [0, 0]);
            self.uniforms.push(FrameUniform { mask, ..uniform });
        }
        for draw in draws.iter().filter(|draw| draw.key.mask.shape_of == 0) {
            let mask = in_gui.mask(draw.key.mask.within);
            let area = mask.map_or(placement.bounds, |mask| self.masks[mask as usize].rectangle);
            let scissor = in_gui.scissor(draw, area);
            if scissor[2] > 0 && scissor[3] > 0 {
                let uniform = mask.map_or(index, |mask| first_uniform + mask - first_mask as u32);
                self.items.push(PassItem { draw: *draw, uniform, scissor, mask });
            }
        }
        self.spare = spare;
    }

    /// Adds the pass of a Gui's mask with a number.
    fn add_mask(
        &mut self,
        in_gui: &GuiInTarget,
        (number, mask): (u16, MaskFrame),
        draws: &[GuiDraw],
    ) {
        let GuiInTarget { matrix, placement, uniform, .. } = *in_gui;
        let parent = in_gui.mask(mask.parent);
        let around = parent.map(|parent| self.masks[parent as usize].rectangle);
        let area = around.unwrap_or(placement.bounds);
        let rectangle = match mask.bounds.filter(|_| !mask.outside) {
            Some(bounds) => intersection(touched_pixels(bounds, &matrix, placement.viewport), area),
            None => area,
        };
        let [x, y, ..] = rectangle;
        let of_parent = around.map_or(NO_MASK, |around| mask_in(around, [x, y]));
        let fill_uniform = self.uniforms.len() as u32;
        let to_clip = Mat4::IDENTITY.to_cols_array_2d();
        self.uniforms.push(FrameUniform { to_clip, mask: of_parent, ..uniform });
        let to_clip = to_part(matrix, rectangle, placement.viewport).to_cols_array_2d();
        // A removed shape is not multiplied by the parent, which the filled image has already.
        let own = if mask.outside { NO_MASK } else { of_parent };
        self.uniforms.push(FrameUniform { to_clip, mask: own, ..uniform });
        let first = self.mask_items.len();
        for draw in draws.iter().filter(|draw| draw.key.mask.shape_of == number) {
            let [left, top, width, height] = in_gui.scissor(draw, rectangle);
            if width > 0 && height > 0 {
                let scissor = [left - x, top - y, width, height];
                let (uniform, mask) = (fill_uniform + 1, parent.filter(|_| !mask.outside));
                self.mask_items.push(PassItem { draw: *draw, uniform, scissor, mask });
            }
        }
        let items = first..self.mask_items.len();
        let outside = mask.outside;
        self.masks.push(MaskPass { rectangle, outside, parent, fill_uniform, items });
    }
}

/// A Gui on the target of a pass.
struct GuiInTarget<'a> {
    matrix: Mat4,
    placement: &'a GuiPlacement,
    uniform: FrameUniform,
    /// Index of the pass of its first mask.
    first_mask: usize,
}

impl GuiInTarget<'_> {
    /// Returns the index of the pass of a mask, by its number.
    fn mask(&self, number: u16) -> Option<u32> {
        (number > 0).then(|| self.first_mask as u32 + u32::from(number) - 1)
    }

    /// Returns the pixels of an area to which a draw is clipped.
    fn scissor(&self, draw: &GuiDraw, area: PixelRectangle) -> PixelRectangle {
        match draw.key.clip {
            Some(clip) => {
                intersection(clip_pixels(clip, &self.matrix, self.placement.viewport), area)
            }
            None => area,
        }
    }
}

/// Returns the mask of a uniform for draws onto an image whose left top is at a pixel of the
/// target.
fn mask_in([left, top, width, height]: PixelRectangle, [x, y]: [u32; 2]) -> [f32; 4] {
    [x as f32 - left as f32, y as f32 - top as f32, width as f32, height as f32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn viewport_fractions_become_pixels_from_the_top() {
        let check = |fractions, wanted: PixelRectangle| {
            assert_eq!(pixels(fractions, (200, 100)), wanted, "{fractions:?}");
        };
        check([0.0, 0.0, 1.0, 1.0], [0, 0, 200, 100]);
        check([0.0, 0.0, 0.5, 0.25], [0, 75, 100, 25]);
        check([0.5, 0.5, 0.5, 0.5], [100, 0, 100, 50]);
        check([0.9, 0.0, 5.0, 1.0], [180, 0, 20, 100]);
        check([2.0, 0.0, 1.0, 1.0], [200, 0, 0, 100]);
    }

    #[test]
    fn a_clip_rectangle_follows_the_gui_within_the_target() {
        let view = View {
            target: ViewTarget::Screen,
            rectangle: [0.0, 0.0, 1.0, 1.0],
            clear: None,
            camera: engine_frame_packet::CameraFrame {
                view: Mat4::IDENTITY,
                projection: Mat4::IDENTITY,
                position: Vec3::ZERO,
                near: 0.1,
                far: 1.0,
            },
            scene: None,
            layers: u32::MAX,
            sky: None,
            environment: engine_frame_packet::shading_environment::ShadingEnvironment::DEFAULT,
            environment_textures: Default::default(),
            viewport: None,
            guis: Vec::new(),
        };
        let check = |clip, pose: Vec3, scale: f32, wanted: PixelRectangle| {
            let pose = Mat4::from_translation(pose);
            let viewport = [0, 0, 200, 100];
            let placement =
                GuiPlacement { viewport, bounds: viewport, scale: [scale; 2], offset: [0.0; 2] };
            let matrix = to_clip(&view, GuiSpace::Screen, pose, &placement);
            assert_eq!(clip_pixels(clip, &matrix, viewport), wanted);
        };
        check([10, 20, 60, 50], Vec3::ZERO, 1.0, [10, 50, 50, 30]);
        check([10, 20, 60, 50], Vec3::new(5.0, 10.0, 0.0), 1.0, [15, 40, 50, 30]);
        check([10, 10, 20, 20], Vec3::ZERO, 2.0, [20, 60, 20, 20]);
        check([-50, -50, 20, 20], Vec3::ZERO, 1.0, [0, 80, 20, 20]);
        check([300, 0, 400, 20], Vec3::ZERO, 1.0, [200, 80, 0, 20]);
    }

    #[test]
    fn clear_colours_are_converted_to_linear() {
        assert_eq!(premultiplied([0.0, 1.0, 1.0, 0.5]), [0.0, 0.5, 0.5, 0.5]);
        let half = premultiplied([0.5, 0.5, 0.5, 1.0])[0];
        assert!((half - 0.214).abs() < 0.001, "{half}");
    }
}
