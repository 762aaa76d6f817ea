//! Scenes in a packet: the three-dimensional contents of a world. Knows no units, no files and no
//! graphics API.
//!
//! A scene's draws, lights and sky stay in the renderer until they are changed or ended. So a scene
//! without changes need not be in the packet: a view that names it is sufficient. Only particles
//! are sent again in every frame.

use super::decal::DecalFrame;
use super::deformation::MeshSkin;
use super::fog_volume::FogVolumeFrame;
pub use super::light::{
    AREA_SIDE_MAX, AREA_SIDE_MIN, FLAT_HEIGHT_MAX, LIGHT_LAYERS_ALL, LightFrame, LightKind,
    LightTexture, SOURCE_SIZE_MAX,
};
use super::material::BlendMode;
use super::mesh::{MeshSlot, SurfaceSlot};
use super::outline::OutlineStyle;
use super::palettes::Palettes;
use super::reflection_probe::ProbeFrame;
use super::texture::TextureSlot;
use bytemuck::{Pod, Zeroable};
use engine_foundation::{Mat4, Vec3};

/// Maximum number of lights in one scene.
pub const LIGHTS_MAX: usize = 1 << 16;
/// Maximum number of lights in one view, besides suns. Those whose range is nearest to the camera
/// are chosen.
pub const VIEW_LIGHTS_MAX: usize = 4096;
/// Maximum number of entries in the clusters of one view. An entry is one light in one of the 3,456
/// parts of the view that its range reaches. Lights whose entries do not fit do not shine.
pub const LIGHT_ENTRIES_MAX: usize = 1 << 19;
/// Maximum number of entries in the clusters of all views of a frame.
pub const FRAME_LIGHT_ENTRIES_MAX: usize = 1 << 22;
/// Maximum range of a light in meters. Lights with a longer or infinite range end there.
pub const LIGHT_RANGE_MAX: f32 = 1e6;
/// Maximum number of suns in one scene.
pub const SUNS_MAX: usize = 4;
/// Maximum number of omni and spot lights that cast shadows in one frame, chosen in the same
/// manner.
pub const SHADOWED_LIGHTS_MAX: usize = 256;
/// Maximum number of matrices of all palettes that one scene keeps: 48 MiB. Draws beyond it are
/// shown in their bind pose. While poses change, the renderer also holds the matrices of the newest
/// packet, and frames in turn have memory for as many.
pub const PALETTE_MATRICES_MAX: usize = 1 << 20;
/// Maximum number of particles in one scene.
pub const PARTICLES_MAX: usize = 1 << 20;

/// Maximum number of changes for which a cleared frame keeps memory.
const CHANGES_KEPT: usize = 4096;

/// A draw's number within its scene: below `mesh::SLOTS_MAX`, reused after the draw is removed.
/// Small numbers are cheapest, because the renderer keeps an array up to the largest number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct DrawSlot(pub u32);

/// The transform from a mesh's space to world space: the upper three rows of a matrix, with the
/// translation in the last column.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct DrawTransform(pub [[f32; 4]; 3]);

impl DrawTransform {
    pub const IDENTITY: DrawTransform =
        DrawTransform([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);

    /// Creates a pure translation.
    pub const fn at(position: Vec3) -> DrawTransform {
        DrawTransform([
            [1.0, 0.0, 0.0, position.x],
            [0.0, 1.0, 0.0, position.y],
            [0.0, 0.0, 1.0, position.z],
        ])
    }

    /// Creates a transform from the upper rows of a matrix whose last row is 0, 0, 0, 1.
    #[inline(always)]
    pub fn of(matrix: &Mat4) -> DrawTransform {
        let [x, y, z, w] = matrix.to_cols_array_2d();
        DrawTransform([
            [x[0], y[0], z[0], w[0]],
            [x[1], y[1], z[1], w[1]],
            [x[2], y[2], z[2], w[2]],
        ])
    }

    /// Returns the transformed point.
    #[inline(always)]
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        let along =
            |row: &[f32; 4]| row[0] * point.x + row[1] * point.y + row[2] * point.z + row[3];
        let DrawTransform([x, y, z]) = self;
        Vec3::new(along(x), along(y), along(z))
    }

    /// Returns the largest factor by which an axis is scaled.
    #[inline(always)]
    pub fn scale_max(&self) -> f32 {
        let DrawTransform([x, y, z]) = self;
        let square = |i: usize| x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
        square(0).max(square(1)).max(square(2)).sqrt()
    }
}

/// Flags of a draw: the bits of [`DrawMesh::flags`].
pub mod flag {
    /// The draw is visible. Without this flag, it only casts its shadow.
    pub const VISIBLE: u32 = 1;
    /// The draw casts shadows.
    pub const CASTS_SHADOW: u32 = 2;
    /// The texture coordinates are mirrored within [`DrawMesh::part`](super::DrawMesh::part):
    /// horizontally here, vertically for `FLIP_Y`.
    pub const FLIP_X: u32 = 4;
    pub const FLIP_Y: u32 = 8;
}

/// An instance of a mesh, drawn from now on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DrawMesh {
    pub slot: DrawSlot,
    pub mesh: MeshSlot,
    /// Range of the draw's surfaces in [`SceneFrame::surfaces`]: the first and the count. The
    /// mesh's parts refer to them by index. A part whose index exceeds the count has
    /// [`SurfaceSlot::DEFAULT`].
    pub surfaces: (u32, u32),
    pub pose: DrawTransform,
    /// Bit set of [`flag`].
    pub flags: u32,
    /// Bit set of the draw's groups: it is drawn in views that share one ([`super::View::layers`]).
    /// The first eight are also its light layers: lights that share none of them
    /// ([`LightFrame::layers`]) do not light it.
    pub layers: u32,
    /// Color that is multiplied with the surface's color: red, green, blue (sRGB) and alpha.
    pub tint: [u8; 4],
    /// Minimum and maximum distance from the camera at which the draw is shown, in meters. Levels
    /// of detail are draws with adjacent ranges. The draw casts shadows only in that range, too.
    pub range: [f32; 2],
    /// The part of the draw's textures that uvs from 0 to 1 cover: left, top, width and height, in
    /// units of 1/65,535.
    pub part: [u16; 4],
    /// Sorting order of transparent draws: a higher order is drawn over a lower one, regardless of
    /// distance. `None` has the order 0. Among draws with an order, distances within a millimeter
    /// count as equal, so that draws on one plane need few draw calls.
    pub order: Option<i32>,
    /// Order among draws whose order and distance are equal; a higher number is drawn later. The
    /// parts of a draw's mesh are then drawn one after the other.
    pub sequence: u32,
    /// Draw whose distance is used for sorting in place of that of this draw, if it has an order
    /// and the other one exists: the parts of a character stay together.
    pub sorted_with: Option<DrawSlot>,
    /// Line around its shape.
    pub outline: Option<OutlineStyle>,
}

/// Returns true if a draw with a distance range ([`DrawMesh::range`]) is shown at a distance from
/// the camera. `distance_squared` is in square meters. `None` means a camera without perspective:
/// nothing gets smaller with distance, so the finest level is shown.
pub fn is_in_range([near, far]: [f32; 2], distance_squared: Option<f32>) -> bool {
    match distance_squared {
        None => near <= 0.0,
        Some(distance) => distance >= near * near && distance < far * far,
    }
}

impl DrawMesh {
    /// A draw that is visible at any distance and in every group, with a shadow.
    pub const DEFAULT: DrawMesh = DrawMesh {
        slot: DrawSlot(0),
        mesh: MeshSlot(0),
        surfaces: (0, 0),
        pose: DrawTransform::IDENTITY,
        flags: flag::VISIBLE | flag::CASTS_SHADOW,
        layers: u32::MAX,
        tint: [255; 4],
        range: [0.0, f32::INFINITY],
        part: DrawMesh::WHOLE_TEXTURE,
        order: None,
        sequence: 0,
        sorted_with: None,
        outline: None,
    };

    /// The part that covers a whole texture.
    pub const WHOLE_TEXTURE: [u16; 4] = [0, 0, u16::MAX, u16::MAX];
}

/// A change to the draws of a scene.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum DrawChange {
    /// Creates or replaces a draw.
    Set(DrawMesh),
    /// Removes a draw.
    End(DrawSlot),
    /// Removes all draws.
    Reset,
}

/// A new pose of a draw whose mesh has a skin. The draw keeps it until the next update, or until
/// it gets another mesh. A pose whose numbers are not all finite is the bind pose.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SkinUpdate {
    pub slot: DrawSlot,
    /// Range of the draw's palette in [`SceneFrame::palettes`]: a matrix for each joint of the
    /// mesh. Joints that it lacks stay in the bind pose, and further matrices are ignored; a count
    /// of 0 is the bind pose.
    pub first: u32,
    pub count: u32,
    /// Sphere around all vertices in this pose, in the draw's space in meters, without morph
    /// targets ([`MeshSkin::bounds`]).
    pub center: Vec3,
    pub radius: f32,
    /// True if all numbers of the palette are known to be finite. Otherwise the renderer tests
    /// them.
    pub is_finite: bool,
}

/// New weights of a draw whose mesh has morph targets. The draw keeps them until the next update,
/// or until it gets another mesh.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MorphUpdate {
    pub slot: DrawSlot,
    /// Range of the weights in [`SceneFrame::morph_weights`]: one for each target. Missing weights
    /// and weights that are not finite are 0, and further weights are ignored.
    pub first: u32,
    pub count: u32,
}

/// The views in which a sky is drawn in the background. Other views show their own background.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SkyVisibility {
    Hidden,
    /// Only views of cameras with perspective: an orthographic view shows one color of the sky.
    Perspective,
    Shown,
}

/// The sky, ambient light and fog of a scene. Colors are linear light, as a white matte surface
/// reflects it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SkyFrame {
    pub top: [f32; 3],
    pub horizon: [f32; 3],
    pub ground: [f32; 3],
    /// Factor that is applied to all light before it is displayed.
    pub exposure: f32,
    /// True if tone mapping compresses light that is too bright to display, and light that is
    /// nearly as bright. Otherwise brighter light is clipped, and all other light is displayed
    /// unchanged.
    pub tone_mapping: bool,
    pub shown: SkyVisibility,
    /// Share of the light that is absorbed by the air per meter: 0 is clear air.
    pub fog_density: f32,
    /// Light that the fog itself emits.
    pub fog_color: [f32; 3],
}

impl SkyFrame {
    /// The default: a dim gray ambient light from all sides, with the sky hidden, so that objects
    /// are visible without lights.
    pub const DEFAULT: SkyFrame = SkyFrame {
        top: [0.25, 0.27, 0.3],
        horizon: [0.2, 0.2, 0.2],
        ground: [0.12, 0.11, 0.1],
        exposure: 1.0,
        tone_mapping: true,
        shown: SkyVisibility::Hidden,
        fog_density: 0.0,
        fog_color: [0.5, 0.5, 0.5],
    };
}

/// One particle: a square that faces the camera. 64 bytes.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct ParticleQuad {
    /// Center in world space.
    pub position: [f32; 3],
    /// Rotation in radians, counterclockwise as seen by the camera. Unused if the particle is
    /// stretched.
    pub rotation: f32,
    /// Half the width and half the height, in meters.
    pub size: [f32; 2],
    /// Red, green, blue (sRGB) and straight alpha.
    pub color: [u8; 4],
    /// Factor for the color: values above 1 give light brighter than white.
    pub glow: f32,
    /// Left, top, right and bottom in the texture.
    pub uv: [f32; 4],
    /// Stretch vector in world space, in meters to either side; 0, 0, 0 for none. The particle's
    /// height then lies along this direction.
    pub stretch: [f32; 3],
    pub reserved: u32,
}

/// Particles with common parameters: a range of [`SceneFrame::particles`], drawn after all opaque
/// draws. Batches are sorted by order, then by their centers, the farthest first, together with all
/// transparent draws. The particles of a batch are drawn in array order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ParticleBatch {
    pub first: u32,
    pub count: u32,
    /// Texture of the particles; [`TextureSlot::SHARED`] is the engine's soft round spot.
    pub texture: TextureSlot,
    pub blend: BlendMode,
    /// Distance in meters over which a particle fades in front of geometry; 0 gives a hard edge.
    pub softness: f32,
    /// The part of the particles' light that comes from suns, lamps and the sky, from 0 (they shine
    /// by themselves) to 1.
    pub lit: f32,
    /// Distance in meters by which particles displace what is behind them, as their texture says
    /// with red and green. If it is not 0, they show only this.
    pub distortion: f32,
    /// Center of the batch, for sorting.
    pub center: Vec3,
    /// Radius of the batch's particles around the center, for culling.
    pub radius: f32,
    /// Bit set of the batch's groups, as for a draw.
    pub layers: u32,
    /// Sorting order among transparent draws, as [`DrawMesh::order`]. With 0, particles and draws
    /// without an order are sorted by their exact distance.
    pub order: i32,
}

/// The changes and contents of one scene in one frame.
#[derive(Clone, Debug, Default)]
pub struct SceneFrame {
    /// Number of the scene, never reused.
    pub scene: u64,
    /// Changes to draws, in order.
    pub changes: Vec<DrawChange>,
    /// Surfaces that the changes refer to.
    pub surfaces: Vec<SurfaceSlot>,
    /// Draws with a new transform, applied after the changes; one for each element of `poses`.
    pub moved: Vec<DrawSlot>,
    pub poses: Vec<DrawTransform>,
    /// Draws with a new palette, applied after the changes.
    pub skins: Vec<SkinUpdate>,
    /// Matrices of the palettes, from the mesh's space in its bind pose to the draw's space.
    pub palettes: Palettes,
    /// Draws with new weights of morph targets, applied after the changes.
    pub morphs: Vec<MorphUpdate>,
    pub morph_weights: Vec<f32>,
    /// True if `lights` replaces all lights of the scene. Otherwise they stay unchanged.
    pub lights_changed: bool,
    pub lights: Vec<LightFrame>,
    /// True if `decals` replaces all decals of the scene. Otherwise they stay unchanged.
    pub decals_changed: bool,
    pub decals: Vec<DecalFrame>,
    /// True if `probes` replaces all reflection probes of the scene. Otherwise they stay unchanged.
    pub probes_changed: bool,
    pub probes: Vec<ProbeFrame>,
    /// True if `fog_volumes` replaces all fog volumes of the scene. Otherwise they stay unchanged.
    pub fog_volumes_changed: bool,
    pub fog_volumes: Vec<FogVolumeFrame>,
    /// The new sky. `None` leaves it unchanged; the initial sky is [`SkyFrame::DEFAULT`].
    pub sky: Option<SkyFrame>,
    /// Particle batches that are shown only in this frame.
    pub particle_batches: Vec<ParticleBatch>,
    pub particles: Vec<ParticleQuad>,
}

impl SceneFrame {
    /// Clears the frame and keeps its allocated memory. The memory of an unusually large number of
    /// changes is freed.
    pub fn clear(&mut self) {
        self.scene = 0;
        self.changes.clear();
        self.changes.shrink_to(CHANGES_KEPT);
        self.surfaces.clear();
        self.surfaces.shrink_to(CHANGES_KEPT);
        self.moved.clear();
        self.poses.clear();
        self.skins.clear();
        self.palettes.clear();
        self.morphs.clear();
        self.morph_weights.clear();
        self.lights_changed = false;
        self.lights.clear();
        self.decals_changed = false;
        self.decals.clear();
        self.probes_changed = false;
        self.probes.clear();
        self.fog_volumes_changed = false;
        self.fog_volumes.clear();
        self.sky = None;
        self.particle_batches.clear();
        self.particles.clear();
    }

    /// Adds a pose of a draw, with the sphere around its vertices (see [`SkinUpdate`]). Returns the
    /// new palette, which has `count` matrices, the identity at first.
    pub fn add_skin(
        &mut self,
        slot: DrawSlot,
        count: usize,
        (center, radius): (Vec3, f32),
    ) -> &mut [DrawTransform] {
        let (count, is_finite) = (count as u32, false);
        let update = SkinUpdate { slot, first: 0, count, center, radius, is_finite };
        let palette = self.reserve_palette(update);
        palette.fill(DrawTransform::IDENTITY);
        palette
    }

    /// Adds a pose of a draw, with its palette after the others. The palette has any numbers: all
    /// of them must be written.
    fn reserve_palette(&mut self, update: SkinUpdate) -> &mut [DrawTransform] {
        let (first, palette) = self.palettes.reserve(update.count as usize);
        self.skins.push(SkinUpdate { first: first as u32, ..update });
        palette
    }

    /// Adds a pose of a draw with a skin. `write` has matrices for `count` joints, gets the rows of
    /// those that the skin has, and must write all of them: they have any numbers. The others are
    /// the identity. The bounds follow from them.
    pub fn add_palette(
        &mut self,
        slot: DrawSlot,
        skin: &MeshSkin,
        count: usize,
        write: impl FnOnce(&mut [[[f32; 4]; 3]]),
    ) {
        let joints = skin.joint_count() as u32;
        let (center, radius, is_finite) = (Vec3::ZERO, 0.0, false);
        let update = SkinUpdate { slot, first: 0, count: joints, center, radius, is_finite };
        let palette = self.reserve_palette(update);
        let (written, lacking) = palette.split_at_mut(count.min(joints as usize));
        write(bytemuck::cast_slice_mut(written));
        lacking.fill(DrawTransform::IDENTITY);
        let ((center, radius), is_finite) = skin.bounds_and_test(palette);
        let update = self.skins.last_mut().expect("it was added");
        (update.center, update.radius, update.is_finite) = (center, radius, is_finite);
    }

    /// Adds weights of a draw's morph targets.
    pub fn add_morph(&mut self, slot: DrawSlot, weights: &[f32]) {
        let (first, count) = (self.morph_weights.len() as u32, weights.len() as u32);
        self.morph_weights.extend_from_slice(weights);
        self.morphs.push(MorphUpdate { slot, first, count });
    }

    /// Returns true if the frame has no changes and no contents, and need not be sent.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.moved.is_empty()
            && self.skins.is_empty()
            && self.morphs.is_empty()
            && !self.lights_changed
            && !self.decals_changed
            && !self.probes_changed
            && !self.fog_volumes_changed
            && self.sky.is_none()
            && self.particle_batches.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::mesh::MeshVertex;
    use super::*;

    #[test]
    fn a_pose_has_three_rows_and_a_particle_has_64_bytes() {
        let position = Vec3::new(1.0, 2.0, 3.0);
        assert_eq!(
            DrawTransform::of(&Mat4::from_translation(position)),
            DrawTransform::at(position)
        );
        assert_eq!(DrawTransform::of(&Mat4::IDENTITY), DrawTransform::IDENTITY);
        assert_eq!((size_of::<DrawTransform>(), size_of::<ParticleQuad>()), (48, 64));
    }

    #[test]
    fn a_transform_moves_points_and_knows_its_largest_scale() {
        let matrix = Mat4::from_translation(Vec3::new(1.0, 2.0, 3.0))
            * Mat4::from_rotation_z(1.0)
            * Mat4::from_scale(Vec3::new(0.5, 3.0, 1.0));
        let transform = DrawTransform::of(&matrix);
        let point = Vec3::new(-4.0, 5.0, 6.0);
        let distance = transform.transform_point(point).distance(matrix.transform_point3(point));
        assert!(distance < 1e-5, "{distance}");
        assert!((transform.scale_max() - 3.0).abs() < 1e-5);
    }

    #[test]
    fn poses_and_weights_are_ranges_of_the_frame() {
        let mut frame = SceneFrame::default();
        frame.add_skin(DrawSlot(1), 2, (Vec3::X, 2.0))[1] = DrawTransform::at(Vec3::Y);
        frame.add_skin(DrawSlot(4), 1, (Vec3::ZERO, 1.0));
        frame.add_morph(DrawSlot(4), &[0.5, 1.0]);
        frame.add_morph(DrawSlot(1), &[0.25]);
        assert_eq!(frame.palettes.matrices()[1], DrawTransform::at(Vec3::Y));
        assert_eq!(frame.palettes.matrices()[2], DrawTransform::IDENTITY);
        let skins: Vec<_> = frame.skins.iter().map(|it| (it.slot.0, it.first, it.count)).collect();
        assert_eq!(skins, [(1, 0, 2), (4, 2, 1)]);
        let morphs: Vec<_> =
            frame.morphs.iter().map(|it| (it.slot.0, it.first, it.count)).collect();
        assert_eq!(morphs, [(4, 0, 2), (1, 2, 1)]);
        let vertices = [MeshVertex::default()];
        let skin = MeshSkin::new(&vertices, &[[1, 0, 0, 0]], &[[1.0, 0.0, 0.0, 0.0]]);
        let poses = [DrawTransform::IDENTITY, DrawTransform::at(Vec3::Z)].map(|it| it.0);
        frame.add_palette(DrawSlot(7), &skin, 5, |palette| palette.copy_from_slice(&poses));
        let SkinUpdate { first, count, center, radius, is_finite, .. } = frame.skins[2];
        assert_eq!((first, count, center, radius, is_finite), (3, 2, Vec3::Z, 0.0, true));
        assert_eq!(frame.palettes.matrices()[4], DrawTransform::at(Vec3::Z));
        // A palette in used memory that lacks a joint.
        frame.clear();
        frame.add_palette(DrawSlot(7), &skin, 2, |palette| palette.fill(poses[1]));
        frame.clear();
        frame.add_palette(DrawSlot(7), &skin, 1, |palette| palette.copy_from_slice(&poses[..1]));
        assert_eq!(frame.palettes.matrices(), [DrawTransform::IDENTITY; 2]);
        assert_eq!(frame.skins[0].first, 0);
    }

    #[test]
    fn a_cleared_frame_is_empty() {
        let mut frame = SceneFrame { sky: Some(SkyFrame::DEFAULT), ..SceneFrame::default() };
        assert!(!frame.is_empty());
        frame.clear();
        assert!(frame.is_empty());
        frame.add_skin(DrawSlot(0), 1, (Vec3::ZERO, 1.0));
        assert!(!frame.is_empty());
        frame.clear();
        frame.add_morph(DrawSlot(0), &[1.0]);
        assert!(!frame.is_empty());
        frame.clear();
        assert!(
            frame.is_empty()
                && frame.palettes.matrices().is_empty()
                && frame.morph_weights.is_empty()
        );
    }
}
