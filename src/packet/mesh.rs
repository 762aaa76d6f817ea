//! Meshes and surfaces in a packet: triangles, and how they take light. Knows no files, no poses
//! and no graphics interface.

use super::material::MaterialSlot;
use super::texture::{Sampling, TextureSlot};
use crate::foundation::Vec3;
use bytemuck::{Pod, Zeroable};
use std::sync::Arc;

/// The most vertices of one mesh.
pub const VERTICES_MAX: usize = 1 << 24;
/// The most indices of one mesh.
pub const INDICES_MAX: usize = 1 << 26;
/// The most parts of one mesh.
pub const PARTS_MAX: usize = 256;
/// The most slots of meshes, of surfaces and of a scene's draws.
pub const SLOTS_MAX: u32 = 1 << 20;

/// A mesh's place in the renderer's table: below [`SLOTS_MAX`], used again after its end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct MeshSlot(pub u32);

/// A surface's place in the renderer's table: below [`SLOTS_MAX`], used again after its end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct SurfaceSlot(pub u32);

impl SurfaceSlot {
    /// The engine's own: matte, white, opaque. What names a slot that nothing was put in looks so.
    pub const DEFAULT: SurfaceSlot = SurfaceSlot(0);
    /// The first that others are given.
    pub const FIRST_FREE: u32 = 1;
}

/// One thing to do, in order.
#[derive(Clone, Debug)]
pub enum MeshChange {
    /// Makes or replaces a mesh; what draws it draws the new one.
    Put { slot: MeshSlot, mesh: Arc<Mesh> },
    /// Ends a mesh. What still draws it draws nothing.
    End { slot: MeshSlot },
}

/// One thing to do, in order.
#[derive(Clone, Debug)]
pub enum SurfaceChange {
    /// Makes or replaces a surface.
    Put { slot: SurfaceSlot, surface: Surface },
    /// Ends a surface.
    End { slot: SurfaceSlot },
}

/// A corner of triangles. 32 bytes.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Default, Pod, Zeroable)]
pub struct Vertex {
    /// Metres; x to the right, y ahead, z up.
    pub position: [f32; 3],
    /// Away from the surface, of length 1; -127 to 127 is -1 to 1; the last is 0.
    pub normal: [i8; 4],
    /// Along the texture's u, of length 1; the last is the side of v: 127 or -127.
    pub tangent: [i8; 4],
    /// In the texture; 0, 0 is its left top.
    pub uv: [f32; 2],
    /// Multiplied with the surface's: red, green, blue (sRGB) and alpha.
    pub color: [u8; 4],
}

impl Vertex {
    /// Three numbers from -1 to 1 and a fourth, as [`Vertex::normal`] and [`Vertex::tangent`] have
    /// them.
    pub fn packed(direction: Vec3, fourth: f32) -> [i8; 4] {
        let part = |part: f32| (part.clamp(-1.0, 1.0) * 127.0).round() as i8;
        [part(direction.x), part(direction.y), part(direction.z), part(fourth)]
    }

    /// Vertices as bytes, for files of this machine's kind (little-endian).
    pub fn to_bytes(vertices: &[Vertex]) -> &[u8] {
        bytemuck::cast_slice(vertices)
    }

    /// Vertices of bytes, wherever these lie; `None` where there is a part of one left.
    pub fn of_bytes(bytes: &[u8]) -> Option<Vec<Vertex>> {
        let whole = bytes.len().is_multiple_of(size_of::<Vertex>());
        whole.then(|| bytemuck::pod_collect_to_vec(bytes))
    }
}

/// Triangles of one surface: a range of the mesh's indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// The first index.
    pub first: u32,
    /// How many indices, a multiple of three.
    pub count: u32,
    /// Which of a draw's surfaces it has, from 0.
    pub place: u32,
}

/// What a mesh's vertices lie in, in its own space.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// The box.
    pub min: Vec3,
    pub max: Vec3,
    /// The sphere.
    pub center: Vec3,
    pub radius: f32,
}

impl Bounds {
    /// Around vertices; a point at the origin without any.
    pub fn of(vertices: &[Vertex]) -> Bounds {
        let points = || vertices.iter().map(|vertex| Vec3::from_array(vertex.position));
        let Some(first) = points().next() else {
            return Bounds { min: Vec3::ZERO, max: Vec3::ZERO, center: Vec3::ZERO, radius: 0.0 };
        };
        let (min, max) =
            points().fold((first, first), |(min, max), point| (min.min(point), max.max(point)));
        let center = (min + max) * 0.5;
        let radius = points().map(|point| point.distance_squared(center)).fold(0.0, f32::max);
        Bounds { min, max, center, radius: radius.sqrt() }
    }
}

/// A mesh as data: triangles, their corners against the clock as seen from the front.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// The resource's name, for messages.
    pub name: String,
    pub vertices: Vec<Vertex>,
    /// Three for each triangle; all below the number of vertices.
    pub indices: Vec<u32>,
    pub parts: Vec<Part>,
    pub bounds: Bounds,
}

/// What is done with a surface's alpha.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Alpha {
    /// Nothing: all of it is there.
    #[default]
    Opaque,
    /// What has less alpha than this is not there.
    Mask(f32),
    /// Seen through: drawn after all that is opaque, the farthest first.
    Blend,
}

/// A texture of a surface, and how it is sampled. Its slot must be its own, not the shared atlas.
pub type SurfaceTexture = Option<(TextureSlot, Sampling)>;

/// How light is taken and given: the metallic-roughness model of glTF 2.0. Colours are linear.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// The resource's name, for messages.
    pub name: String,
    /// Red, green, blue and alpha.
    pub base_color: [f32; 4],
    /// 0 to 1.
    pub metallic: f32,
    /// 0 to 1.
    pub roughness: f32,
    /// Light that it gives by itself; may be above 1.
    pub emissive: [f32; 3],
    /// How much of the normal texture's slopes is taken: 1 is all.
    pub normal_scale: f32,
    /// How much of the occlusion texture is taken, from 0 to 1.
    pub occlusion_strength: f32,
    /// sRGB colour and alpha, times `base_color`.
    pub base_color_texture: SurfaceTexture,
    /// Plain numbers: green times `roughness`, blue times `metallic`.
    pub metal_rough_texture: SurfaceTexture,
    /// Plain numbers: the normal in tangent space, green upwards.
    pub normal_texture: SurfaceTexture,
    /// Plain numbers: red is how much of the sky's light arrives.
    pub occlusion_texture: SurfaceTexture,
    /// sRGB, times `emissive`.
    pub emissive_texture: SurfaceTexture,
    pub alpha: Alpha,
    /// Seen from behind, too.
    pub double_sided: bool,
    /// Shown in its base colour whatever the light.
    pub unlit: bool,
    /// Painted by a material of pictures, which is given the base colour texture and the draw's
    /// tint, in place of taking light. It is seen through, or masked, and both its sides are seen.
    pub painter: Option<MaterialSlot>,
}

impl Surface {
    /// Matte, white, opaque.
    pub const DEFAULT: Surface = Surface {
        name: String::new(),
        base_color: [1.0; 4],
        metallic: 0.0,
        roughness: 1.0,
        emissive: [0.0; 3],
        normal_scale: 1.0,
        occlusion_strength: 1.0,
        base_color_texture: None,
        metal_rough_texture: None,
        normal_texture: None,
        occlusion_texture: None,
        emissive_texture: None,
        alpha: Alpha::Opaque,
        double_sided: false,
        unlit: false,
        painter: None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vertex_has_32_bytes_and_directions_are_packed_into_four() {
        assert_eq!(size_of::<Vertex>(), 32);
        assert_eq!(Vertex::packed(Vec3::new(1.0, -1.0, 0.0), 3.0), [127, -127, 0, 127]);
    }

    #[test]
    fn bounds_hold_all_vertices() {
        let vertex = |x: f32, y: f32, z: f32| Vertex { position: [x, y, z], ..Vertex::default() };
        let bounds = Bounds::of(&[vertex(1.0, 0.0, 0.0), vertex(3.0, 4.0, 0.0)]);
        assert_eq!((bounds.min, bounds.max), (Vec3::X, Vec3::new(3.0, 4.0, 0.0)));
        assert_eq!(bounds.center, Vec3::new(2.0, 2.0, 0.0));
        assert!((bounds.radius - 5.0f32.sqrt()).abs() < 1e-6);
        assert_eq!(Bounds::of(&[]).radius, 0.0);
    }
}
