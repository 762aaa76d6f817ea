//! Worlds and the objects in them: units with their components, levels, physics, particles and
//! cameras. The Guis of worlds are in the drawing group; the voices of sounds are with the devices.

use super::navigation::Navigation;
use super::{FlowGraphs, RenderScenes};
use engine_foundation::deterministic_math::tan_f64;
use engine_foundation::{Error, Handle, HandleKind, Mat4, Slots, Vec3, error};
use engine_particles::Particles;
use engine_sound::SoundSystem;
use engine_world::agent_component::UnitAgents;
use engine_world::animation::{Animations, Lens, Viewer};
use engine_world::broadphase::{BROADPHASES_MAX, Broadphase};
use engine_world::camera::{
    CAMERAS_MAX, Camera, CameraId, CameraNode, OrthographicView, Projection,
};
use engine_world::debug_lines::DebugLines;
use engine_world::level::Levels;
use engine_world::physics::PhysicsTables;
use engine_world::shading::ShadingEnvironments;
use engine_world::sound_component::UnitVoices;
use engine_world::unit::{UnitId, Units};
use engine_world::{WORLDS_MAX, World, WorldFlags, WorldId};

/// Minimum volume spanned by a node's normalized axes. Below it the axes count as degenerate.
const FLAT: f32 = 1e-4;

/// All worlds, and the objects that live in them.
pub struct Worlds {
    pub slots: Slots<World>,
    /// The default world, created on the first request.
    pub main: Option<WorldId>,
    pub units: Units,
    pub physics: PhysicsTables,
    pub levels: Levels,
    pub broadphases: Slots<Broadphase>,
    /// Navigation meshes, grids and agents.
    pub navigation: Navigation,
    /// Render scenes of the worlds.
    pub scenes: RenderScenes,
    /// Particle effects in worlds and in Guis.
    pub particles: Particles,
    /// Voices of units' components.
    pub voices: UnitVoices,
    /// Characters: units with the component `animation`.
    pub animations: Animations,
    /// Agents of units' components.
    pub agents: UnitAgents,
    /// Graphs of units and levels.
    pub flow: FlowGraphs,
    /// Values of sky, fog and post effects that views show.
    pub shading: ShadingEnvironments,
    pub cameras: Slots<Camera>,
    main_camera: Option<CameraId>,
    /// Memory for the cameras that show a world.
    pub(super) viewers: Vec<Viewer>,
    /// Debug lines and debug texts.
    pub lines: DebugLines,
}

impl Worlds {
    /// Returns the state without any world. `seed` is the seed of particles.
    pub(super) fn new(seed: u64) -> Worlds {
        Worlds {
            slots: Slots::new(HandleKind::World, WORLDS_MAX),
            main: None,
            units: Units::default(),
            physics: PhysicsTables::default(),
            levels: Levels::default(),
            broadphases: Slots::new(HandleKind::Broadphase, BROADPHASES_MAX),
            navigation: Navigation::default(),
            scenes: RenderScenes::default(),
            particles: Particles::new(seed),
            voices: UnitVoices::default(),
            animations: Animations::default(),
            agents: UnitAgents::default(),
            flow: FlowGraphs::default(),
            shading: ShadingEnvironments::default(),
            cameras: Slots::new(HandleKind::Camera, CAMERAS_MAX),
            main_camera: None,
            viewers: Vec::new(),
            lines: DebugLines::default(),
        }
    }

    /// Creates a camera.
    pub fn new_camera(&mut self) -> Result<CameraId, Error> {
        let added = self.cameras.add(Camera::DEFAULT).map(CameraId);
        added.ok_or_else(|| {
            error!("{CAMERAS_MAX} cameras already exist (CAMERAS_MAX): destroy one first")
        })
    }

    /// Returns a live camera.
    pub fn camera(&mut self, camera: CameraId) -> &mut Camera {
        self.follow(camera);
        self.cameras.get_mut(camera.0).expect("the handle was checked where it came in")
    }

    /// Returns the default camera. It is created on the first request.
    pub fn main_camera(&mut self) -> Result<CameraId, Error> {
        if let Some(camera) = self.main_camera
            && self.cameras.get(camera.0).is_some()
        {
            return Ok(camera);
        }
        let camera = self.new_camera()?;
        self.main_camera = Some(camera);
        Ok(camera)
    }

    /// Returns the camera that shows a world if no camera is named: the own camera of a
    /// two-dimensional world, and the default camera for other worlds.
    pub fn camera_of_world(&mut self, world: WorldId) -> Result<CameraId, Error> {
        let World { flags, camera, .. } = self.world(world);
        let (is_flat, known) = (flags.flat, *camera);
        if !is_flat {
            return self.main_camera();
        }
        if let Some(camera) = known.filter(|camera| self.cameras.get(camera.0).is_some()) {
            return Ok(camera);
        }
        let camera = self.new_camera()?;
        *self.camera(camera) = Camera::FLAT;
        self.world(world).camera = Some(camera);
        Ok(camera)
    }

    /// Moves a camera that is attached to a unit to its node. Does nothing if it was destroyed.
    pub(super) fn follow(&mut self, camera: CameraId) {
        let Some(CameraNode { unit, node, local }) =
            self.cameras.get(camera.0).and_then(|c| c.owner)
        else {
            return;
        };
        let pose = self.units.scene.world(unit.row(), usize::from(node)) * local;
        let found = self.cameras.get_mut(camera.0).expect("it was just there");
        // A node's scale does not apply to cameras. If the node's scale is zero or flat, its
        // rotation is undefined, and the camera keeps its previous rotation.
        let axes = [pose.x_axis, pose.y_axis, pose.z_axis].map(|axis| axis.normalize_or_zero());
        let [x, y, z] = axes.map(|axis| axis.truncate());
        let [x, y, z] = match x.cross(y).dot(z).abs() > FLAT {
            true => axes,
            false => [found.pose.x_axis, found.pose.y_axis, found.pose.z_axis],
        };
        found.pose = Mat4::from_cols(x, y, z, pose.w_axis);
    }

    /// Lists the cameras that show a world. Before it is shown for the first time, that is the
    /// camera that shows it if none is named, if it exists.
    pub(super) fn list_viewers(&mut self, world: WorldId, viewers: &mut Vec<Viewer>) {
        viewers.clear();
        for index in 0..self.world(world).viewing.cameras().len() {
            let camera = self.world(world).viewing.cameras()[index];
            if self.cameras.get(camera.0).is_some() {
                viewers.push(viewer(self.camera(camera)));
            }
        }
        if viewers.is_empty() {
            let World { flags, camera, .. } = self.world(world);
            let camera = if flags.flat { *camera } else { self.main_camera };
            if let Some(camera) = camera.filter(|camera| self.cameras.get(camera.0).is_some()) {
                viewers.push(viewer(self.camera(camera)));
            }
        }
    }

    /// Returns the default world. It is created on the first request.
    pub fn main_world(&mut self) -> Result<WorldId, Error> {
        if let Some(world) = self.main {
            return Ok(world);
        }
        let world = self.new_world(Default::default())?;
        self.main = Some(world);
        Ok(world)
    }

    /// Creates an empty world.
    pub fn new_world(&mut self, flags: WorldFlags) -> Result<WorldId, Error> {
        let added = self.slots.add(World { flags, ..World::default() }).map(WorldId);
        added.ok_or_else(|| {
            error!("{WORLDS_MAX} worlds already exist (WORLDS_MAX): release one first")
        })
    }

    /// Returns a live world. Handles are checked at the interface, so the world exists.
    #[inline(always)]
    pub fn world(&mut self, world: WorldId) -> &mut World {
        self.slots.get_mut(world.0).expect("the handle was checked where it came in")
    }

    /// Returns the position of a unit's node to which a voice is linked.
    pub fn sound_owner_position(&mut self, (unit, node): (Handle, u32)) -> Option<Vec3> {
        let node = node as usize;
        let row = UnitId(self.units.slots.get(unit).map(|_| unit)?).row();
        (node < self.units.scene.count(row)).then(|| self.units.scene.world_position(row, node))
    }

    /// Updates the positions of voices linked to units. Voices of destroyed units keep their
    /// position.
    pub fn move_linked_voices(&mut self, sounds: &mut SoundSystem) {
        for at in 0..sounds.voices.active.len() {
            let index = sounds.voices.active[at] as usize;
            let Some(voice) = &sounds.voices.voices[index] else { continue };
            let Some(owner) = voice.owner else { continue };
            let position = self.sound_owner_position(owner);
            let voice = sounds.voices.voices[index].as_mut().expect("it was there");
            match position {
                Some(_) => voice.position = position,
                None => voice.owner = None,
            }
        }
    }
}

/// Height in pixels of the picture of cameras that show a number of pixels per metre.
const PICTURE_HEIGHT: f32 = 1080.0;

/// Returns the position and the lens of a camera, for levels of detail.
fn viewer(camera: &Camera) -> Viewer {
    let lens = match (camera.projection, camera.frustum, camera.orthographic) {
        (Projection::Perspective, Some([_, _, bottom, top]), _) => {
            Lens::Perspective((top - bottom).abs() / (2.0 * camera.near))
        }
        // Levels of detail are part of the state that is equal on every machine.
        (Projection::Perspective, None, _) => {
            Lens::Perspective(tan_f64(f64::from(camera.vertical_fov) / 2.0) as f32)
        }
        (_, _, OrthographicView::Edges([_, _, bottom, top])) => {
            Lens::Orthographic((top - bottom).abs() / 2.0)
        }
        (_, _, OrthographicView::Height(height)) => Lens::Orthographic(height / 2.0),
        (_, _, OrthographicView::Scale(units)) => {
            Lens::Orthographic(PICTURE_HEIGHT / (2.0 * units))
        }
    };
    Viewer { position: camera.pose.w_axis.truncate(), lens }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lenses_are_those_of_the_projections() {
        let lens = |camera: Camera| viewer(&camera).lens;
        let perspective = Camera { vertical_fov: 1.3, ..Camera::DEFAULT };
        // The tangent of the mathematical library that is equal on every machine.
        let half = tan_f64(f64::from(1.3_f32) / 2.0) as f32;
        assert_eq!(lens(perspective), Lens::Perspective(half));
        assert!((half - 0.76).abs() < 1e-3);
        let frustum = Some([-0.25, 0.25, -0.125, 0.375]);
        let frustum = Camera { frustum, near: 0.5, ..perspective };
        assert_eq!(lens(frustum), Lens::Perspective(0.5));
        let orthographic = |orthographic: OrthographicView| Camera {
            projection: Projection::Orthographic,
            orthographic,
            ..Camera::DEFAULT
        };
        for (view, half) in [
            (OrthographicView::Edges([-9.0, 9.0, -1.0, 4.0]), 2.5),
            (OrthographicView::Height(8.0), 4.0),
            (OrthographicView::Scale(108.0), 5.0),
        ] {
            assert_eq!(lens(orthographic(view)), Lens::Orthographic(half));
        }
    }
}
