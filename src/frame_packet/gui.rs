//! Guis in a packet: their shapes as instances of one quadrilateral, sorted into batches. Knows no
//! fonts. Knows shapes only as the paints that the shader distinguishes.
//!
//! A Gui has one of two modes (the dual-mode GUI of the Bitsquid engine). Objects of a retained Gui
//! are sent once, by number, and stay until they are sent again or ended. Objects of an immediate
//! Gui are sent in each frame and shown only in that frame.

use super::material::{BlendMode, MaterialSlot};
use super::texture::TextureSlot;
use bytemuck::{Pod, Zeroable};
use engine_foundation::Mat4;

/// The key of a batch: instances with equal keys share one draw call. The number of draw calls is
/// the number of distinct keys.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GuiBatchKey {
    /// Layer of the batch. Layers are drawn in ascending order.
    pub layer: i32,
    pub material: MaterialSlot,
    /// The batch's own texture; [`TextureSlot::SHARED`] if the instances use the shared atlases.
    pub texture: TextureSlot,
    /// Clipping rectangle: left, bottom, right and top in logical pixels of the Gui.
    pub clip: Option<[i32; 4]>,
    /// Blend mode; `None` for that of the material.
    pub blend: Option<BlendMode>,
    pub mask: MaskUse,
}

impl GuiBatchKey {
    /// The engine's default material and the shared atlases, on layer 0.
    pub const PLAIN: GuiBatchKey = GuiBatchKey {
        layer: 0,
        material: MaterialSlot::BUILT_IN,
        texture: TextureSlot::SHARED,
        clip: None,
        blend: None,
        mask: MaskUse { within: 0, shape_of: 0 },
    };
}

/// The masks of a batch: numbers of [`GuiFrame::masks`], from 1; 0 for none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct MaskUse {
    /// The mask that the batch is drawn through.
    pub within: u16,
    /// The mask whose shape the batch is. Such a batch is not visible itself.
    pub shape_of: u16,
}

/// A mask: the coverage of the batches that are its shape. What is drawn through it is multiplied
/// by that coverage.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MaskFrame {
    /// The mask around it, whose coverage multiplies its own; 0 for none. It has a lower number.
    pub parent: u16,
    /// True if the coverage is inverted.
    pub outside: bool,
    /// Bounds of its shape in the Gui's units: left, bottom, right and top; `None` if unknown.
    pub bounds: Option<[f32; 4]>,
}

/// The fill methods of an instance: the lowest four bits of [`QuadInstance::paint`].
pub mod paint {
    /// A picture from the shared atlas of small textures. `uv` lies within the atlas's layer.
    /// `extra` is the distance inside of the edges of `uv` to which samples are clamped; 0 does not
    /// clamp, and [`QuadInstance::HALF_TEXEL`](super::QuadInstance::HALF_TEXEL) clamps by half a
    /// texel of the texture.
    pub const ATLAS: u32 = 0;
    /// The batch's own texture. `uv` may exceed 0 to 1 if its sampler repeats. `extra` is as for
    /// the atlas.
    pub const TEXTURE: u32 = 1;
    /// A distance field from the shared glyph atlas. `extra` is the distance by which the edge is
    /// moved outwards, and the additional width over which it is softened, both in texels of the
    /// atlas.
    pub const GLYPH: u32 = 2;
    /// A rectangle, optionally with round corners and outline. `uv` is half its width, half its
    /// height, the radius of the corners and the width of the outline (0: filled), in logical
    /// pixels. `extra.x` is the distance by which the instance exceeds the rectangle on each side,
    /// for smooth edges.
    pub const BOX: u32 = 3;
    /// An ellipse. `uv` is half its width, half its height, an unused number, and the width of the
    /// outline (0: filled). `extra.x` is as for a box.
    pub const ELLIPSE: u32 = 4;
    /// An arc of a ring. `uv` is the radius at the middle of the ring, half the ring's width, the
    /// angle at the middle of the arc, and half the arc's angle. Units are logical pixels and
    /// radians, counterclockwise from the right. `extra.x` is as for a box.
    pub const ARC: u32 = 5;
    /// A solid fill with hard edges, for upright rectangles and the insides of polygons.
    pub const SOLID: u32 = 6;
    /// A distance field in the alpha channel of the batch's own texture: a font with pages. The
    /// layer's bits hold the spread of the field in eighths of a texel. `extra` is as for a glyph.
    pub const TEXTURE_FIELD: u32 = 7;
    /// A triangle with smooth edges, inside a parallelogram around it. Its position is expressed by
    /// the barycentric coordinates of the second and the third corner: 1 on the corner, 0 on the
    /// opposite side. `uv` holds both for the parallelogram's bottom left and then for its bottom
    /// right; `extra` holds both for its top left.
    pub const TRIANGLE: u32 = 8;
    /// The smooth edge of a polygon: `extra.x` times the color at the bottom, transparent at the
    /// top.
    pub const FRINGE: u32 = 9;
}

/// One quadrilateral. 64 bytes: one cache line. An instance with the bit [`QuadInstance::MESH`] is
/// a triangle with a color at each corner:
///
/// | Field | Content |
/// |---|---|
/// | `corners` | three corners, and the bytes of the second and third corner's colors |
/// | `uv`, `extra` | texture coordinates of the three corners |
/// | `color` | color of the first corner |
///
/// An instance of the paints `BOX`, `ELLIPSE` and `ARC` with a number above 0 in its layer's bits
/// has a gradient from `color` to the color in the bytes of `extra.y`: see [`gradient`].
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Default, Pod, Zeroable)]
pub struct QuadInstance {
    /// x and y of the corners in logical pixels (meters in a world's Gui): bottom left, bottom
    /// right, top right, top left of the shape, before any rotation. In a triangle with hard edges,
    /// the last two corners are equal.
    pub corners: [f32; 8],
    /// Left, bottom, right and top in the texture. v points down the picture: the bottom of a whole
    /// picture is 1. Other paints define their own use.
    pub uv: [f32; 4],
    /// Red, green, blue and alpha; sRGB with straight alpha.
    pub color: [u8; 4],
    /// Packed paint, layer and transform, see [`QuadInstance::paint`].
    pub paint: u32,
    /// Two numbers whose meaning depends on the paint.
    pub extra: [f32; 2],
}

impl QuadInstance {
    /// Bit 4: the texture is sampled with the nearest texel instead of linear filtering.
    pub const NEAREST: u32 = 1 << 4;
    /// `extra` of a part of an image that filtering must not blend with the texels around it.
    pub const HALF_TEXEL: [f32; 2] = [-1.0; 2];
    /// Bit 15: the instance is a triangle with a color at each corner. Only for the paints `ATLAS`,
    /// `TEXTURE` and `SOLID`.
    pub const MESH: u32 = 1 << 15;
    /// Maximum number of layers for which `paint` has bits.
    pub const LAYERS_MAX: u32 = 1 << 10;
    /// Maximum number of transforms for which `paint` has bits.
    pub const TRANSFORMS_MAX: u32 = 1 << 16;

    /// Packs the field `paint`: bits 0 to 3 are a constant of [`paint`], bit 4 is
    /// [`QuadInstance::NEAREST`], bits 5 to 14 are the atlas's layer, bit 15 is
    /// [`QuadInstance::MESH`], bits 16 to 31 are the number of one of the Gui's transforms.
    pub const fn paint(paint: u32, layer: u32, transform: u32) -> u32 {
        debug_assert!(paint < 16 && layer < Self::LAYERS_MAX && transform < Self::TRANSFORMS_MAX);
        paint | layer << 5 | transform << 16
    }

    /// Returns true if the instance is a triangle with a color at each corner.
    #[inline(always)]
    pub const fn is_mesh(&self) -> bool {
        self.paint & QuadInstance::MESH != 0
    }

    /// Builds a triangle with a color at each corner. `paint` is that of its source.
    pub fn mesh(
        corners: [[f32; 2]; 3],
        uv: [[f32; 2]; 3],
        colors: [[u8; 4]; 3],
        paint: u32,
    ) -> Self {
        let [[ax, ay], [bx, by], [cx, cy]] = corners;
        let [second, third] = [colors[1], colors[2]].map(f32::from_le_bytes);
        QuadInstance {
            corners: [ax, ay, bx, by, cx, cy, second, third],
            uv: [uv[0][0], uv[0][1], uv[1][0], uv[1][1]],
            color: colors[0],
            paint: paint | QuadInstance::MESH,
            extra: uv[2],
        }
    }

    /// Returns a box, ellipse or arc with a gradient from its color to another.
    pub fn with_gradient(self, to: [u8; 4], direction: GradientDirection) -> Self {
        let paint = self.paint | direction.layer() << 5;
        QuadInstance { paint, extra: [self.extra[0], f32::from_le_bytes(to)], ..self }
    }
}

/// The direction of a gradient in a shape.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum GradientDirection {
    /// From the middle to the edge.
    Radial,
    /// Along an angle in radians, counterclockwise from the right, from edge to edge.
    Linear(f32),
}

impl GradientDirection {
    /// Number of directions of linear gradients that an instance can store.
    pub const STEPS: u32 = QuadInstance::LAYERS_MAX - 2;

    /// Returns the angle of a linear gradient, and 0 for a radial one.
    pub fn angle(self) -> f32 {
        match self {
            GradientDirection::Radial => 0.0,
            GradientDirection::Linear(angle) => angle,
        }
    }

    /// Returns the number in the layer's bits of an instance: 1 for a radial gradient, and more for
    /// a linear one.
    fn layer(self) -> u32 {
        match self {
            GradientDirection::Radial => 1,
            GradientDirection::Linear(angle) => {
                let turns = angle / std::f32::consts::TAU;
                2 + ((turns - turns.floor()) * Self::STEPS as f32).round() as u32 % Self::STEPS
            }
        }
    }
}

/// Instances with one key, in drawing order.
#[derive(Clone, PartialEq, Debug)]
pub struct QuadBatch {
    pub key: GuiBatchKey,
    pub instances: Vec<QuadInstance>,
}

/// A change to the objects of a retained Gui.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ObjectChange {
    /// Creates or replaces the object with this number, from instances of [`GuiFrame::instances`].
    /// A new number is drawn last in its batch. An object that keeps its key keeps its position.
    /// `source` identifies the object's picture for [`ObjectChange::Move`]; 0 if it never moves.
    Set { object: u64, key: GuiBatchKey, source: u32, first: u32, count: u32 },
    /// Removes the object.
    End { object: u64 },
    /// Removes all objects.
    Reset,
    /// Moves sources to other positions in their textures: those of [`GuiFrame::moved`]. Objects
    /// that use them are updated, and keep their positions in the drawing order.
    Move { first: u32, count: u32 },
}

/// The location of a source, which all instances drawn with the source share.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SourceTransform {
    pub material: MaterialSlot,
    pub texture: TextureSlot,
    /// [`QuadInstance::paint`] without a transform.
    pub paint: u32,
    /// Left, bottom, right and top of the whole source in its texture.
    pub uv: [f32; 4],
}

/// A source whose location has changed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MovedSource {
    pub source: u32,
    pub from: SourceTransform,
    pub to: SourceTransform,
    /// True if the source's number may be reused from now on.
    pub ended: bool,
}

impl MovedSource {
    /// Returns an instance that was drawn with the source, converted to the source's new location.
    pub fn move_instance(&self, instance: &QuadInstance) -> QuadInstance {
        let (from, to) = (&self.from, &self.to);
        let mut moved = *instance;
        if from.uv != to.uv {
            let shared = to.paint & 15 == paint::ATLAS;
            // The third corner of a triangle has its texture coordinates in `extra`.
            let more = if instance.is_mesh() { &mut moved.extra[..] } else { &mut [] };
            for (i, at) in moved.uv.iter_mut().chain(more).enumerate() {
                let (low, high) = (i % 2, i % 2 + 2);
                let share = (*at - from.uv[low]) / (from.uv[high] - from.uv[low]);
                // Outside of its part of an atlas are other pictures.
                let share = if shared { share.clamp(0.0, 1.0) } else { share };
                *at = to.uv[low] + (to.uv[high] - to.uv[low]) * share;
            }
        }
        if from.paint != to.paint {
            const KEPT: u32 = !0xffff | QuadInstance::MESH;
            moved.paint = instance.paint & KEPT | to.paint & !KEPT;
        }
        moved
    }
}

/// The coordinate space of a Gui.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum GuiSpace {
    /// The target: logical pixels with the origin at the bottom left and y up. The view's rectangle
    /// has no effect, because it applies only to the world. In a render target, a logical pixel is
    /// a texel.
    #[default]
    Screen,
    /// The world, on the x-y plane of the Gui's transform.
    World,
    /// The screen in logical pixels, whatever the picture's place and scale: for the engine's own
    /// overlays.
    Overlay,
}

/// The changes and contents of one Gui in one frame.
#[derive(Clone, Debug, Default)]
pub struct GuiFrame {
    /// Number of the Gui, never reused.
    pub gui: u64,
    pub space: GuiSpace,
    /// Transform of the whole Gui.
    pub pose: Mat4,
    /// Transforms of individual instances (`_3d` forms). An instance with transform 0 has none;
    /// transform n is here at index n - 1. If any transform of retained objects changes, all of
    /// them are sent again. An empty list leaves the previous ones unchanged.
    pub transforms: Vec<Mat4>,
    /// Objects that are shown only in this frame. Batches are drawn by layer. Within a layer, they
    /// are drawn in the order of their first object, after those of retained objects.
    pub batches: Vec<QuadBatch>,
    /// The masks of `batches`.
    pub masks: Vec<MaskFrame>,
    /// Changes to retained objects, in order.
    pub changes: Vec<ObjectChange>,
    /// Instances that the changes refer to.
    pub instances: Vec<QuadInstance>,
    pub moved: Vec<MovedSource>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_is_one_cache_line() {
        assert_eq!(size_of::<QuadInstance>(), 64);
        let word = QuadInstance::paint(paint::TEXTURE_FIELD, 1023, 65535) | QuadInstance::NEAREST;
        assert_eq!((word & 15, word >> 5 & 1023, word >> 16), (7, 1023, 65535));
        assert_eq!((word & QuadInstance::NEAREST, word & QuadInstance::MESH), (16, 0));
    }

    #[test]
    fn the_angle_of_a_gradient_is_rounded_to_a_step() {
        let check = |angle: f32, step: u32| {
            assert_eq!(GradientDirection::Linear(angle).layer(), 2 + step, "{angle}");
        };
        check(0.0, 0);
        check(std::f32::consts::PI, GradientDirection::STEPS / 2);
        check(-std::f32::consts::PI, GradientDirection::STEPS / 2);
        check(std::f32::consts::TAU, 0);
        check(-1e-9, 0);
        assert_eq!(GradientDirection::Radial.layer(), 1);
    }

    #[test]
    fn a_triangle_of_a_mesh_follows_its_source() {
        let at = |uv, paint| SourceTransform {
            material: MaterialSlot::BUILT_IN,
            texture: TextureSlot::SHARED,
            paint,
            uv,
        };
        let from = at([0.0, 1.0, 1.0, 0.0], QuadInstance::paint(paint::TEXTURE, 0, 0));
        let to = at([0.5, 0.25, 0.75, 0.0], QuadInstance::paint(paint::ATLAS, 3, 0));
        let moved = MovedSource { source: 1, from, to, ended: false };
        let corners = [[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]];
        let uv = [[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]];
        let colors = [[1, 2, 3, 4], [255; 4], [0, 0, 0, 1]];
        let drawn = QuadInstance::mesh(corners, uv, colors, from.paint);
        let found = moved.move_instance(&drawn);
        assert_eq!((found.uv, found.extra), ([0.5, 0.25, 0.75, 0.25], [0.5, 0.0]));
        assert_eq!(found.paint, to.paint | QuadInstance::MESH);
        assert_eq!(found.corners.map(f32::to_bits), drawn.corners.map(f32::to_bits));
    }

    #[test]
    fn draws_follow_their_source_with_its_region_and_transform() {
        let stand = |texture, paint, uv| SourceTransform {
            material: MaterialSlot::BUILT_IN,
            texture: TextureSlot(texture),
            paint,
            uv,
        };
        let own = stand(7, QuadInstance::paint(paint::TEXTURE, 0, 0), [0.0, 1.0, 1.0, 0.0]);
        let near = QuadInstance::paint(paint::ATLAS, 3, 0) | QuadInstance::NEAREST;
        let shared = stand(0, near, [0.5, 0.25, 0.75, 0.125]);
        let mut moved = MovedSource { source: 1, from: own, to: shared, ended: false };
        let paint = QuadInstance::paint(paint::TEXTURE, 0, 9);
        let part = QuadInstance { uv: [0.0, 0.5, 0.5, 0.0], paint, ..QuadInstance::default() };
        let found = moved.move_instance(&part);
        assert_eq!(found.uv, [0.5, 0.1875, 0.625, 0.125]);
        assert_eq!(found.paint, near | 9 << 16);
        let beyond = QuadInstance { uv: [-1.0, 2.0, 2.0, -1.0], ..part };
        assert_eq!(moved.move_instance(&beyond).uv, shared.uv, "a neighbour is never shown");
        std::mem::swap(&mut moved.from, &mut moved.to);
        assert_eq!(moved.move_instance(&found), part);
    }
}
