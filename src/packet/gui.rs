//! Guis in a packet: what is drawn as instances of one quadrilateral, sorted into batches. Knows no
//! fonts and no shapes by name beyond the paints that the shader tells apart.
//!
//! Two modes (the dual-mode GUI of the Bitsquid engine): objects of a retained Gui are sent once,
//! by their number, and stay until they are sent anew or ended; what an immediate Gui draws is sent
//! each frame and shown in that frame alone.

use super::material::MaterialSlot;
use super::texture::TextureSlot;
use crate::foundation::Mat4;
use bytemuck::{Pod, Zeroable};

/// What makes two objects fit into one draw call. Draw calls equal distinct keys.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BatchKey {
    /// Layers are drawn in ascending order.
    pub layer: i32,
    pub material: MaterialSlot,
    /// A texture of its own; [`TextureSlot::SHARED`] where the instances use the shared atlases.
    pub texture: TextureSlot,
    /// What is cut off outside: left, bottom, right and top in logical pixels of the Gui.
    pub clip: Option<[i32; 4]>,
}

/// How an instance is filled: the lowest four bits of [`Instance::paint`].
pub mod paint {
    /// From the shared atlas of small textures; `uv` within the atlas's layer. `extra`: how far
    /// inside of `uv` its edges are shown from there on; 0: nothing is cut off.
    pub const ATLAS: u32 = 0;
    /// From the batch's own texture; `uv` may go beyond 0 to 1 where its sampler repeats. `extra`
    /// as in the atlas.
    pub const TEXTURE: u32 = 1;
    /// A distance field from the shared atlas of glyphs. `extra`: how far the edge is moved out,
    /// and over how much more it is softened, both in texels of the atlas.
    pub const GLYPH: u32 = 2;
    /// A rectangle, round corners and outline included. `uv`: half its width, half its height, the
    /// corners' radius and the outline's width (0: filled), in logical pixels. `extra.x`: how far
    /// the instance reaches beyond the rectangle on each side, for smooth edges.
    pub const BOX: u32 = 3;
    /// An ellipse. `uv`: half its width and height, unused, the outline's width (0: filled).
    /// `extra.x` as for a box.
    pub const ELLIPSE: u32 = 4;
    /// A part of a circle's ring. `uv`: the radius of the ring's middle, half the ring's width, the
    /// angle in the middle of the part and half the part's angle, in logical pixels and radians
    /// against the clock from the right. `extra.x` as for a box.
    pub const ARC: u32 = 5;
    /// Filled all over, with hard edges: upright rectangles, the insides of polygons.
    pub const SOLID: u32 = 6;
    /// A distance field in the alpha of the batch's own texture: a font with pages. The layer's
    /// bits hold the field's spread in eighths of a texel. `extra` as for a glyph.
    pub const TEXTURE_FIELD: u32 = 7;
    /// A triangle with smooth edges, in a quadrilateral around it, of parallel sides. Where a
    /// place is in the triangle is said by how near it is to the second corner and to the third
    /// (1 on the corner, 0 on the side that it is not on): `uv` has both for the quadrilateral's
    /// bottom left and then for its bottom right, `extra` for its top left.
    pub const TRIANGLE: u32 = 8;
    /// The smooth edge of a polygon: `extra.x` of the colour at the bottom, nothing at the top.
    pub const FRINGE: u32 = 9;
}

/// One quadrilateral. 64 bytes: a line of the processor's cache.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Default, Pod, Zeroable)]
pub struct Instance {
    /// x and y of the corners in logical pixels (metres in a world's Gui): bottom left, bottom
    /// right, top right, top left of what is drawn, before any rotation. A triangle's last two
    /// corners are the same, where its edges are hard.
    pub corners: [f32; 8],
    /// Left, bottom, right and top in the texture, whose v goes down the picture: the bottom of a
    /// whole picture is 1. Other paints use it as they say.
    pub uv: [f32; 4],
    /// Red, green, blue, alpha; sRGB, alpha not multiplied in.
    pub color: [u8; 4],
    /// See [`Instance::paint`].
    pub paint: u32,
    /// As the paint says.
    pub extra: [f32; 2],
}

impl Instance {
    /// Bit 4: the nearest texel is taken instead of a mixture.
    pub const NEAREST: u32 = 1 << 4;
    /// The most layers that `paint` has bits for.
    pub const LAYERS_MAX: u32 = 1 << 11;
    /// The most transforms that `paint` has bits for.
    pub const TRANSFORMS_MAX: u32 = 1 << 16;

    /// The word `paint`: bits 0 to 3 a constant of [`paint`], bit 4 [`Instance::NEAREST`], bits 5
    /// to 15 the atlas's layer, bits 16 to 31 which of the Gui's transforms.
    pub const fn paint(paint: u32, layer: u32, transform: u32) -> u32 {
        debug_assert!(paint < 16 && layer < Self::LAYERS_MAX && transform < Self::TRANSFORMS_MAX);
        paint | layer << 5 | transform << 16
    }
}

/// Instances of one key, in the order in which they are drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct Batch {
    pub key: BatchKey,
    pub instances: Vec<Instance>,
}

/// What is new about one object of a retained Gui.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Change {
    /// The object with this number is now those instances of [`GuiFrame::instances`]; a new number
    /// comes last in its batch, and one that keeps its key keeps its place. `source` is what it is
    /// drawn with, for [`Change::Move`]; 0: what never moves.
    Put { object: u64, key: BatchKey, source: u32, first: u32, count: u32 },
    /// The object is gone.
    End { object: u64 },
    /// All objects are gone.
    Reset,
    /// Sources are not where they were: those of [`GuiFrame::moved`]. What was put with them before
    /// follows them, and keeps its place among the others.
    Move { first: u32, count: u32 },
}

/// Where a source is: what instances that are drawn with it share.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stand {
    pub material: MaterialSlot,
    pub texture: TextureSlot,
    /// [`Instance::paint`] without a transform.
    pub paint: u32,
    /// Left, bottom, right and top of all of it in its texture.
    pub uv: [f32; 4],
}

/// A source that was moved.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Moved {
    pub source: u32,
    pub from: Stand,
    pub to: Stand,
    /// Its number can stand for another one from now on.
    pub ended: bool,
}

impl Moved {
    /// What an instance that was drawn with the source is now.
    pub fn follow(&self, instance: &Instance) -> Instance {
        let (from, to) = (&self.from, &self.to);
        let mut moved = *instance;
        if from.uv != to.uv {
            let shared = to.paint & 15 == paint::ATLAS;
            for (i, at) in moved.uv.iter_mut().enumerate() {
                let (low, high) = (i % 2, i % 2 + 2);
                let share = (*at - from.uv[low]) / (from.uv[high] - from.uv[low]);
                // Beyond its part of an atlas there is another's.
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

/// Where a Gui is.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Space {
    /// On the target: logical pixels, the origin at the bottom left, y up. The view's rectangle
    /// does not matter: it is the world's. In a render target a logical pixel is a texel.
    #[default]
    Screen,
    /// In the world, on the plane that its transform puts x and y on.
    World,
}

/// One Gui in one frame.
#[derive(Clone, Debug, Default)]
pub struct GuiFrame {
    /// The Gui's number, never used again.
    pub gui: u64,
    pub space: Space,
    /// Moves the whole Gui.
    pub pose: Mat4,
    /// For instances with a transform of their own (`_3d` forms); instances whose transform is 0
    /// have none, transform n is here at n - 1. Those of retained objects are sent again whenever
    /// any of them changed; an empty list leaves those that were sent before.
    pub transforms: Vec<Mat4>,
    /// What is shown in this frame alone. Batches draw by layer, and within one in the order of
    /// their first object; those of retained objects before these.
    pub batches: Vec<Batch>,
    /// Changes of retained objects, in order.
    pub changes: Vec<Change>,
    /// What the changes refer to.
    pub instances: Vec<Instance>,
    pub moved: Vec<Moved>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_is_one_cache_line_and_its_paint_holds_all_that_it_should() {
        assert_eq!(size_of::<Instance>(), 64);
        let word = Instance::paint(paint::TEXTURE_FIELD, 2047, 65535) | Instance::NEAREST;
        assert_eq!((word & 15, word >> 5 & 2047, word >> 16), (7, 2047, 65535));
        assert_eq!(word & Instance::NEAREST, 16);
    }

    #[test]
    fn what_is_drawn_with_a_source_follows_it_with_its_part_and_its_transform() {
        let stand = |texture, paint, uv| Stand {
            material: MaterialSlot::BUILT_IN,
            texture: TextureSlot(texture),
            paint,
            uv,
        };
        let own = stand(7, Instance::paint(paint::TEXTURE, 0, 0), [0.0, 1.0, 1.0, 0.0]);
        let near = Instance::paint(paint::ATLAS, 3, 0) | Instance::NEAREST;
        let shared = stand(0, near, [0.5, 0.25, 0.75, 0.125]);
        let mut moved = Moved { source: 1, from: own, to: shared, ended: false };
        let paint = Instance::paint(paint::TEXTURE, 0, 9);
        let part = Instance { uv: [0.0, 0.5, 0.5, 0.0], paint, ..Instance::default() };
        let found = moved.follow(&part);
        assert_eq!(found.uv, [0.5, 0.1875, 0.625, 0.125]);
        assert_eq!(found.paint, near | 9 << 16);
        let beyond = Instance { uv: [-1.0, 2.0, 2.0, -1.0], ..part };
        assert_eq!(moved.follow(&beyond).uv, shared.uv, "a neighbour is never shown");
        std::mem::swap(&mut moved.from, &mut moved.to);
        assert_eq!(moved.follow(&found), part);
    }
}
