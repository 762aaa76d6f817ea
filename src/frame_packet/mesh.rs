//! Meshes and surfaces in a packet: triangles, and their response to light. Knows no files, no
//! transforms and no graphics API.

use super::deformation::{MeshMorph, MeshSkin};
use super::material::MaterialSlot;
use super::texture::{SamplerSettings, TextureSlot};
use bytemuck::{Pod, Zeroable};
use engine_foundation::Vec3;
use engine_resource::material_data::SurfaceFunctions;
use engine_resource::surface_lobes::SurfaceLobes;
use std::sync::Arc;

/// Maximum number of vertices of one mesh.
pub const VERTICES_MAX: usize = 1 << 24;
/// Maximum number of indices of one mesh.
pub const INDICES_MAX: usize = 1 << 26;
/// Maximum number of parts of one mesh.
pub const PARTS_MAX: usize = 256;
/// Maximum number of slots for each of meshes, surfaces and the draws of a scene.
pub const SLOTS_MAX: u32 = 1 << 20;

/// A mesh's slot in the renderer's table: below [`SLOTS_MAX`], reused after the mesh is removed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct MeshSlot(pub u32);

/// A surface's slot in the renderer's table: below [`SLOTS_MAX`], reused after the surface is
/// removed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct SurfaceSlot(pub u32);

impl SurfaceSlot {
    /// The engine's default surface: matte, white, opaque. Empty slots also look like this.
    pub const DEFAULT: SurfaceSlot = SurfaceSlot(0);
    /// The first slot for other surfaces.
    pub const FIRST_FREE: u32 = 1;
}

/// A change to the renderer's table of meshes. Changes are applied in order.
#[derive(Clone, Debug)]
pub enum MeshChange {
    /// Creates or replaces a mesh. Existing draws of the slot show the new mesh.
    Set { slot: MeshSlot, mesh: Arc<MeshFrame> },
    /// Removes a mesh. Existing draws of the slot show nothing.
    End { slot: MeshSlot },
}

/// A change to the renderer's table of surfaces. Changes are applied in order.
#[expect(clippy::large_enum_variant, reason = "nearly all changes set a surface")]
#[derive(Clone, Debug)]
pub enum SurfaceChange {
    /// Creates or replaces a surface.
    Set { slot: SurfaceSlot, surface: SurfaceFrame },
    /// Removes a surface.
    End { slot: SurfaceSlot },
}

/// A vertex of a mesh. 32 bytes.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Default, Pod, Zeroable)]
pub struct MeshVertex {
    /// Position in meters; x points to the right, y ahead, z up.
    pub position: [f32; 3],
    /// Surface normal of length 1; -127 to 127 represents -1 to 1; the last component is 0.
    pub normal: [i8; 4],
    /// Tangent along the texture's u, of length 1. The last component is the sign of v: 127 or
    /// -127.
    pub tangent: [i8; 4],
    /// Texture coordinates; 0, 0 is the top left.
    pub uv: [f32; 2],
    /// Vertex color: red, green, blue (sRGB) and alpha. It is multiplied with the surface's color.
    pub color: [u8; 4],
}

impl MeshVertex {
    /// Packs three numbers from -1 to 1 and a fourth, in the format of [`MeshVertex::normal`] and
    /// [`MeshVertex::tangent`].
    pub fn packed(direction: Vec3, fourth: f32) -> [i8; 4] {
        let quantize = |part: f32| (part.clamp(-1.0, 1.0) * 127.0).round() as i8;
        [quantize(direction.x), quantize(direction.y), quantize(direction.z), quantize(fourth)]
    }

    /// Returns vertices as bytes, for files in this machine's byte order (little-endian).
    pub fn to_bytes(vertices: &[MeshVertex]) -> &[u8] {
        bytemuck::cast_slice(vertices)
    }

    /// Converts bytes of any alignment to vertices. Returns `None` if the bytes end with a partial
    /// vertex.
    pub fn from_bytes(bytes: &[u8]) -> Option<Vec<MeshVertex>> {
        let whole = bytes.len().is_multiple_of(size_of::<MeshVertex>());
        whole.then(|| bytemuck::pod_collect_to_vec(bytes))
    }
}

/// The triangles of one surface: a range of the mesh's indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeshPart {
    /// Position of the first index.
    pub first: u32,
    /// Number of indices, a multiple of three.
    pub count: u32,
    /// Index of the part's surface among the draw's surfaces, from 0.
    pub surface: u32,
}

/// The bounding box and bounding sphere of a mesh's vertices, in the mesh's space.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeshBounds {
    /// Minimum of the bounding box.
    pub min: Vec3,
    pub max: Vec3,
    /// Center of the bounding sphere.
    pub center: Vec3,
    pub radius: f32,
}

impl MeshBounds {
    /// Computes the bounds of vertices. Without vertices, the bounds are a point at the origin.
    pub fn of(vertices: &[MeshVertex]) -> MeshBounds {
        let points = || vertices.iter().map(|vertex| Vec3::from_array(vertex.position));
        let Some(first) = points().next() else {
            return MeshBounds {
                min: Vec3::ZERO,
                max: Vec3::ZERO,
                center: Vec3::ZERO,
                radius: 0.0,
            };
        };
        let (min, max) =
            points().fold((first, first), |(min, max), point| (min.min(point), max.max(point)));
        let center = (min + max) * 0.5;
        let radius = points().map(|point| point.distance_squared(center)).fold(0.0, f32::max);
        MeshBounds { min, max, center, radius: radius.sqrt() }
    }
}

/// A mesh as data. The vertices of a triangle are counterclockwise as seen from the front.
#[derive(Clone, Debug)]
pub struct MeshFrame {
    /// Name of the resource, for messages.
    pub name: String,
    pub vertices: Vec<MeshVertex>,
    /// Three indices for each triangle; all are below the number of vertices.
    pub indices: Vec<u32>,
    pub parts: Vec<MeshPart>,
    /// Bounds without joints and morph targets: those of the bind pose.
    pub bounds: MeshBounds,
    /// Joints that move the vertices. A draw has the bind pose until it has a palette
    /// ([`super::scene::SkinUpdate`]).
    pub skin: Option<Arc<MeshSkin>>,
    /// Morph targets. A draw has the weight 0 for all of them until it has others
    /// ([`super::scene::MorphUpdate`]).
    pub morph: Option<Arc<MeshMorph>>,
}

impl MeshFrame {
    /// Creates a mesh of one part, without joints and morph targets.
    pub fn of_one_part(name: String, vertices: Vec<MeshVertex>, indices: Vec<u32>) -> MeshFrame {
        let bounds = MeshBounds::of(&vertices);
        let parts = vec![MeshPart { first: 0, count: indices.len() as u32, surface: 0 }];
        MeshFrame { name, vertices, indices, parts, bounds, skin: None, morph: None }
    }
}

/// The use of a surface's alpha.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum SurfaceAlphaMode {
    /// Alpha is ignored: the surface is fully opaque.
    #[default]
    Opaque,
    /// Texels with less alpha than this are not drawn.
    Mask(f32),
    /// Transparent: drawn after all opaque surfaces, the farthest first.
    Blend,
}

/// A texture of a surface with its sampler settings. It must have its own slot, not the shared
/// atlas.
pub type SurfaceTexture = Option<(TextureSlot, SamplerSettings)>;

/// A game's surface functions, which a surface is drawn with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SurfaceShader {
    /// The material that has the shader, its variables and its textures.
    pub material: MaterialSlot,
    pub functions: SurfaceFunctions,
    /// Maximum length of a vertex's offset, in metres. The bounds of draws grow by it.
    pub offset_max: f32,
}

/// A surface: the metallic-roughness material model of glTF 2.0. Colors are linear.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceFrame {
    /// Name of the resource, for messages.
    pub name: String,
    /// Base color: red, green, blue and alpha.
    pub base_color: [f32; 4],
    /// Metalness, 0 to 1.
    pub metallic: f32,
    /// Roughness, 0 to 1.
    pub roughness: f32,
    /// Emitted light; components may exceed 1.
    pub emissive: [f32; 3],
    /// Strength of the normal texture: 1 is full strength.
    pub normal_scale: f32,
    /// Strength of the occlusion texture, from 0 to 1.
    pub occlusion_strength: f32,
    /// Texture with sRGB color and alpha, multiplied with `base_color`.
    pub base_color_texture: SurfaceTexture,
    /// Texture with linear numbers: green times `roughness`, blue times `metallic`.
    pub metal_rough_texture: SurfaceTexture,
    /// Texture with linear numbers: the normal in tangent space, green points up.
    pub normal_texture: SurfaceTexture,
    /// Texture with linear numbers: red is the share of the sky's light that arrives.
    pub occlusion_texture: SurfaceTexture,
    /// Texture with sRGB color, multiplied with `emissive`.
    pub emissive_texture: SurfaceTexture,
    pub alpha: SurfaceAlphaMode,
    /// True if back faces are drawn, too.
    pub double_sided: bool,
    /// True if the base color is shown regardless of light.
    pub unlit: bool,
    /// A material for pictures that replaces lighting. Its shader receives the base color texture
    /// and the draw's tint. Such a surface is drawn transparent or masked, and both of its sides
    /// are visible.
    pub custom_material: Option<MaterialSlot>,
    /// Lobes besides the standard ones.
    pub lobes: SurfaceLobes,
    /// Surface functions that change what the other fields describe.
    pub shader: Option<SurfaceShader>,
    /// True if only back faces, as seen from the light, cast shadows: what lies within a closed
    /// mesh is not in its shadow.
    pub back_shadow: bool,
}

impl SurfaceFrame {
    /// The default surface: matte, white, opaque.
    pub const DEFAULT: SurfaceFrame = SurfaceFrame {
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
        alpha: SurfaceAlphaMode::Opaque,
        double_sided: false,
        unlit: false,
        custom_material: None,
        lobes: SurfaceLobes::NONE,
        shader: None,
        back_shadow: false,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vertex_has_32_bytes_and_directions_are_packed_into_four() {
        assert_eq!(size_of::<MeshVertex>(), 32);
        assert_eq!(MeshVertex::packed(Vec3::new(1.0, -1.0, 0.0), 3.0), [127, -127, 0, 127]);
    }

    #[test]
    fn bounds_contain_all_vertices() {
        let vertex =
            |x: f32, y: f32, z: f32| MeshVertex { position: [x, y, z], ..MeshVertex::default() };
        let bounds = MeshBounds::of(&[vertex(1.0, 0.0, 0.0), vertex(3.0, 4.0, 0.0)]);
        assert_eq!((bounds.min, bounds.max), (Vec3::X, Vec3::new(3.0, 4.0, 0.0)));
        assert_eq!(bounds.center, Vec3::new(2.0, 2.0, 0.0));
        assert!((bounds.radius - 5.0f32.sqrt()).abs() < 1e-6);
        assert_eq!(MeshBounds::of(&[]).radius, 0.0);
    }
}
