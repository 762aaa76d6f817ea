//! Guis in a packet: their shapes as instances of one quadrilateral, sorted into batches. Knows no
//! fonts. Knows shapes only as the paints that the shader distinguishes.
//!
//! A Gui has one of two modes (the dual-mode GUI of the Bitsquid engine). Objects of a retained Gui
//! are sent once, by number, and stay until they are sent again or ended. Objects of an immediate
//! Gui are sent in each frame and shown only in that frame.

use super::material::MaterialSlot;
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
}

/// The fill methods of an instance: the lowest four bits of [`QuadInstance::paint`].
pub mod paint {
    /// A picture from the shared atlas of small textures. `uv` lies within the atlas's layer.
    /// `extra` is the distance inside of the edges of `uv` to which samples are clamped; 0 does not
    /// clamp.
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

/// One quadrilateral. 64 bytes: one cache line.
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
    /// Maximum number of layers for which `paint` has bits.
    pub const LAYERS_MAX: u32 = 1 << 11;
    /// Maximum number of transforms for which `paint` has bits.
    pub const TRANSFORMS_MAX: u32 = 1 << 16;

    /// Packs the field `paint`: bits 0 to 3 are a constant of [`paint`], bit 4 is
    /// [`QuadInstance::NEAREST`], bits 5 to 15 are the atlas's layer, bits 16 to 31 are the number
    /// of one of the Gui's transforms.
    pub const fn paint(paint: u32, layer: u32, transform: u32) -> u32 {
        debug_assert!(paint < 16 && layer < Self::LAYERS_MAX && transform < Self::TRANSFORMS_MAX);
        paint | layer << 5 | transform << 16
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
            for (i, at) in moved.uv.iter_mut().enumerate() {
                let (low, high) = (i % 2, i % 2 + 2);
                let share = (*at - from.uv[low]) / (from.uv[high] - from.uv[low]);
                // Outside of its part of an atlas are other pictures.
                let share = if shared { share.clamp(0.0, 1.0) } else { share };
                *at = to.uv[low] + (to.uv[high] - to.uv[low]) * share;
            }
        }
        if from.paint != to.paint {
            moved.paint = instance.paint & !0xffff | to.paint & 0xffff;
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
        let word = QuadInstance::paint(paint::TEXTURE_FIELD, 2047, 65535) | QuadInstance::NEAREST;
        assert_eq!((word & 15, word >> 5 & 2047, word >> 16), (7, 2047, 65535));
        assert_eq!(word & QuadInstance::NEAREST, 16);
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
