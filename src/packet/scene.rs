//! Scenes in a packet: what a world shows in three dimensions. Knows no units, no files and no
//! graphics interface.
//!
//! A scene's draws, lights and sky stay in the renderer until they are changed or ended, so a scene
//! in which nothing changes need not be in the packet at all: naming it in a view is enough. Only
//! particles are sent anew in every frame.

use super::material::Blend;
use super::mesh::{MeshSlot, SurfaceSlot};
use super::texture::TextureSlot;
use crate::foundation::{Mat4, Vec3};
use bytemuck::{Pod, Zeroable};

/// The most lights of one scene.
pub const LIGHTS_MAX: usize = 1024;
/// The most lights beside suns that shine in one view: those whose reach is nearest to the camera.
pub const VIEW_LIGHTS_MAX: usize = 64;
/// The most suns of one scene.
pub const SUNS_MAX: usize = 4;
/// The most spot lights that cast shadows in one view, chosen likewise.
pub const SPOT_SHADOWS_MAX: usize = 4;
/// The most particles of one scene.
pub const PARTICLES_MAX: usize = 1 << 20;

/// For how many changes a frame that was cleared keeps room.
const CHANGES_KEPT: usize = 4096;

/// A draw's number within its scene: below `mesh::SLOTS_MAX`, used again after its end. Small
/// numbers cost least: the renderer keeps an array up to the largest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct DrawSlot(pub u32);

/// From a mesh's space into the world's: the upper three rows of a matrix, the place in the last
/// column.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct Pose(pub [[f32; 4]; 3]);

impl Pose {
    pub const IDENTITY: Pose =
        Pose([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);

    /// A place, nothing turned or scaled.
    pub const fn at(place: Vec3) -> Pose {
        Pose([[1.0, 0.0, 0.0, place.x], [0.0, 1.0, 0.0, place.y], [0.0, 0.0, 1.0, place.z]])
    }

    /// The upper rows of a matrix whose last row is 0, 0, 0, 1.
    #[inline(always)]
    pub fn of(matrix: &Mat4) -> Pose {
        let [x, y, z, w] = matrix.to_cols_array_2d();
        Pose([[x[0], y[0], z[0], w[0]], [x[1], y[1], z[1], w[1]], [x[2], y[2], z[2], w[2]]])
    }
}

/// How a draw is treated; bits of [`Put::flags`].
pub mod flag {
    /// It is seen. Without it, it only casts its shadow.
    pub const VISIBLE: u32 = 1;
    /// It casts shadows.
    pub const CASTS_SHADOW: u32 = 2;
    /// Its uvs run the other way: from the right of [`Put::part`](super::Put::part), from below.
    pub const FLIP_X: u32 = 4;
    pub const FLIP_Y: u32 = 8;
}

/// A mesh that is drawn from now on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Put {
    pub slot: DrawSlot,
    pub mesh: MeshSlot,
    /// Its surfaces in [`SceneFrame::surfaces`], for the places that the mesh's parts name: the
    /// first and how many. A part whose place is beyond them has [`SurfaceSlot::DEFAULT`].
    pub surfaces: (u32, u32),
    pub pose: Pose,
    /// Bits of [`flag`].
    pub flags: u32,
    /// In which groups it is: it is drawn in views that share one ([`super::View::layers`]).
    pub layers: u32,
    /// Multiplied with the surface's colour: red, green, blue (sRGB) and alpha.
    pub tint: [u8; 4],
    /// From which distance of the camera on, and up to which, it is drawn, in metres: levels of
    /// detail are draws whose ranges meet. It casts shadows in that range alone, too.
    pub range: [f32; 2],
    /// The part of its textures that uvs from 0 to 1 are laid over: left, top, width and height, in
    /// parts of 65,535.
    pub part: [u16; 4],
    /// Of what is seen through, what has a higher order is drawn over what has a lower one, however
    /// far it is; without one, it has the order 0. Of what has one, all within a millimetre is
    /// equally far away, so that things on one plane become few draw calls.
    pub order: Option<i32>,
}

/// Whether what has a range of distances ([`Put::range`]) is shown by a camera that is so far away:
/// the square of the metres; none: a camera without perspective, where nothing gets smaller with
/// distance, and the finest is shown.
pub fn is_in_range([near, far]: [f32; 2], distance_squared: Option<f32>) -> bool {
    match distance_squared {
        None => near <= 0.0,
        Some(distance) => distance >= near * near && distance < far * far,
    }
}

impl Put {
    /// Seen from everywhere, in every group, with a shadow.
    pub const DEFAULT: Put = Put {
        slot: DrawSlot(0),
        mesh: MeshSlot(0),
        surfaces: (0, 0),
        pose: Pose::IDENTITY,
        flags: flag::VISIBLE | flag::CASTS_SHADOW,
        layers: u32::MAX,
        tint: [255; 4],
        range: [0.0, f32::INFINITY],
        part: Put::WHOLE,
        order: None,
    };

    /// All of a texture.
    pub const WHOLE: [u16; 4] = [0, 0, u16::MAX, u16::MAX];
}

/// What is new about one draw.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum DrawChange {
    /// Makes or replaces a draw.
    Put(Put),
    /// The draw is gone.
    End(DrawSlot),
    /// All draws are gone.
    Reset,
}

/// Where a light is and how far it shines.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LightKind {
    /// From infinitely far away. A white matte surface that faces it sends its colour back.
    Sun {
        /// Which way the light goes, of length 1.
        direction: Vec3,
        /// Of a scene's suns the first does that wants to.
        casts_shadows: bool,
    },
    /// In all directions. A white matte surface that faces it, one metre away, sends its colour
    /// back; at other distances by the inverse square, and nothing from `range` on.
    Omni { position: Vec3, range: f32 },
    /// Like an omni light within a cone.
    Spot {
        position: Vec3,
        /// Which way it shines, of length 1.
        direction: Vec3,
        range: f32,
        /// From the direction to where it begins to fade, and to where it ends: radians, at most
        /// half of pi.
        inner: f32,
        outer: f32,
        casts_shadows: bool,
    },
}

/// A light.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Light {
    pub kind: LightKind,
    /// Linear red, green and blue, times its intensity.
    pub color: [f32; 3],
    /// How far its shadows are kept off what casts them; 1 is usual.
    pub shadow_bias: f32,
}

/// What is around everything. Colours are linear light, as a white matte surface sends it back.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sky {
    pub top: [f32; 3],
    pub horizon: [f32; 3],
    pub ground: [f32; 3],
    /// Light is multiplied with it before it is shown.
    pub exposure: f32,
    /// Whether what is brighter than can be shown is compressed, with what is nearly so; else it is
    /// cut off, and all else is shown as it is.
    pub tone_mapping: bool,
    /// Whether the sky is seen behind all; else the view's own background is.
    pub shown: bool,
    /// How much of the light is lost in the air, for each metre: 0 is clear air.
    pub fog_density: f32,
    /// What the fog itself sends.
    pub fog_color: [f32; 3],
}

impl Sky {
    /// A dim gray from all sides, not seen itself: what has no light of its own can be seen.
    pub const DEFAULT: Sky = Sky {
        top: [0.25, 0.27, 0.3],
        horizon: [0.2, 0.2, 0.2],
        ground: [0.12, 0.11, 0.1],
        exposure: 1.0,
        tone_mapping: true,
        shown: false,
        fog_density: 0.0,
        fog_color: [0.5, 0.5, 0.5],
    };
}

/// A square that faces the camera. 64 bytes.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub struct Particle {
    /// Its middle, in the world.
    pub position: [f32; 3],
    /// Against the clock as seen by the camera, in radians; not where it is stretched.
    pub rotation: f32,
    /// Half its width and height, in metres.
    pub size: [f32; 2],
    /// Red, green, blue (sRGB) and alpha, not multiplied in.
    pub color: [u8; 4],
    /// Times its colour: light beyond white.
    pub glow: f32,
    /// Left, top, right and bottom in the texture.
    pub uv: [f32; 4],
    /// Which way it is drawn out, in the world, by how many metres to either side; 0, 0, 0: not at
    /// all. Its height then lies along this direction.
    pub stretch: [f32; 3],
    pub reserved: u32,
}

/// Particles that are drawn alike: a range of [`SceneFrame::particles`], drawn after all that is
/// opaque. Batches are sorted by their center, the farthest first, among all that is seen through;
/// the particles of a batch are drawn in the order in which they stand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ParticleBatch {
    pub first: u32,
    pub count: u32,
    /// [`TextureSlot::SHARED`]: a soft round spot of the engine's own.
    pub texture: TextureSlot,
    pub blend: Blend,
    /// Over how many metres a particle fades before what is behind it; 0: a hard edge.
    pub softness: f32,
    /// What it is sorted by.
    pub center: Vec3,
    /// How far its particles reach around the center, to be left out where they are not seen.
    pub radius: f32,
    /// In which groups it is, as for a draw.
    pub layers: u32,
}

/// One scene in one frame.
#[derive(Clone, Debug, Default)]
pub struct SceneFrame {
    /// The scene's number, never used again.
    pub scene: u64,
    /// Changes of draws, in order.
    pub changes: Vec<DrawChange>,
    /// What the changes refer to.
    pub surfaces: Vec<SurfaceSlot>,
    /// Draws that have another pose, after the changes; as many as there are poses.
    pub moved: Vec<DrawSlot>,
    pub poses: Vec<Pose>,
    /// Whether `lights` holds all lights of the scene from now on; else they stay as they were.
    pub lights_changed: bool,
    pub lights: Vec<Light>,
    /// The sky from now on; `None` leaves it as it was, [`Sky::DEFAULT`] at first.
    pub sky: Option<Sky>,
    /// What is shown in this frame alone.
    pub particle_batches: Vec<ParticleBatch>,
    pub particles: Vec<Particle>,
}

impl SceneFrame {
    /// Empties the frame and keeps its room; that of very many changes, which come once, is given
    /// back.
    pub fn clear(&mut self) {
        self.scene = 0;
        self.changes.clear();
        self.changes.shrink_to(CHANGES_KEPT);
        self.surfaces.clear();
        self.surfaces.shrink_to(CHANGES_KEPT);
        self.moved.clear();
        self.poses.clear();
        self.lights_changed = false;
        self.lights.clear();
        self.sky = None;
        self.particle_batches.clear();
        self.particles.clear();
    }

    /// Whether it says nothing, and need not be sent.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.moved.is_empty()
            && !self.lights_changed
            && self.sky.is_none()
            && self.particle_batches.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pose_is_a_matrix_without_its_last_row_and_a_particle_has_64_bytes() {
        let place = Vec3::new(1.0, 2.0, 3.0);
        assert_eq!(Pose::of(&Mat4::from_translation(place)), Pose::at(place));
        assert_eq!(Pose::of(&Mat4::IDENTITY), Pose::IDENTITY);
        assert_eq!((size_of::<Pose>(), size_of::<Particle>()), (48, 64));
    }

    #[test]
    fn a_frame_that_was_cleared_says_nothing() {
        let mut frame = SceneFrame { sky: Some(Sky::DEFAULT), ..SceneFrame::default() };
        assert!(!frame.is_empty());
        frame.clear();
        assert!(frame.is_empty());
    }
}
