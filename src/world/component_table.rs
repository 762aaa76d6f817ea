//! The table of the engine's components: one row for each, with everything that the engine does
//! with it. The rows are in the files of the components. A row's functions change the parts of the
//! engine that they receive in a [`ComponentHost`].

use super::agent_component::{AGENT, UnitAgents};
use super::animation::{ANIMATION, Animations};
use super::camera::Camera;
use super::camera_component::CAMERA;
use super::component::ComponentField;
use super::decal_component::DECAL;
use super::light_component::LIGHT;
use super::light_occluder_component::LIGHT_OCCLUDER;
use super::mesh_component::MESH;
use super::particles_component::PARTICLES;
use super::physics::{PHYSICS, PhysicsTables};
use super::render_scenes::RenderScenes;
use super::sound_component::{SOUND, UnitVoices};
use super::sprite_component::SPRITE;
use super::sprite_skeleton_component::SKELETON;
use super::tilemap_component::TILEMAP;
use super::unit::{UnitId, Units};
use super::unit_resource::ComponentSource;
use super::unit_template::{TemplateBuilder, UnitTemplate};
use super::{World, WorldId};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::hash::StateHash;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, Slots, doing};
use engine_materials::Materials;
use engine_models::Models;
use engine_navigation::agents::Agents;
use engine_particles::Particles;
use engine_resource::reload_steps::ChangedResources;
use engine_resource::store::ResourceStore;
use engine_sound::SoundSystem;
use engine_textures::Textures;
use engine_tilemaps::Tilemaps;

/// All components of the engine. The components of a unit are spawned in this order, and ended in
/// reverse. The order decides which draw slots they get, so it is visible in recordings.
pub static COMPONENTS: Components = Components(&[
    &PHYSICS,
    &MESH,
    &SPRITE,
    &TILEMAP,
    &LIGHT,
    &CAMERA,
    &PARTICLES,
    &SOUND,
    &SKELETON,
    &ANIMATION,
    &AGENT,
    &DECAL,
    &LIGHT_OCCLUDER,
]);

/// One component of the engine. A column that does not apply to the component is `None`.
pub struct Component {
    pub name: &'static str,
    pub doc: &'static str,
    /// Fields in addition to `component` and `node`, which every component has.
    pub fields: &'static [ComponentField],
    /// True if a unit's components of this type are read in the order of their nodes, so that the
    /// first one is the outermost; otherwise they are read in the order of their names.
    pub in_node_order: bool,
    pub read: ReadComponent,
    pub spawn: SpawnComponents,
    pub end: EndComponents,
    pub moved: Option<NoteMoved>,
    pub hide: Option<HideComponents>,
    pub state: Option<WriteState>,
    /// The component's lines in `Unit.inspect`, and their section there.
    pub inspect: Option<(InspectSection, InspectComponents)>,
    pub reload: Option<ReloadComponents>,
}

/// Reads one component of a unit resource into the template, and lists its references. The number
/// is the index of its node. The compiler has checked the types of the fields.
pub type ReadComponent = fn(&ComponentSource, u16, &mut TemplateBuilder) -> Result<(), Error>;
/// Copies the components of the template for a new unit. After an error, `end` removes those that
/// were already created.
pub type SpawnComponents =
    fn(&mut ComponentHost, WorldId, UnitId, &UnitTemplate) -> Result<(), Error>;
/// Destroys the components of a unit, if it has any. The text is the script line that messages
/// about stale handles show.
pub type EndComponents = fn(&mut ComponentHost, WorldId, UnitId, &str);
/// Records that the units in these rows moved.
pub type NoteMoved = fn(&mut RenderScenes, &[u32]);
/// Sets or clears a reason why the components of the unit in a row are hidden (bits of
/// [`flag`](super::instance_table::flag)), for one visibility group or for all.
pub type HideComponents = fn(&mut RenderScenes, u32, Option<u8>, u8, bool);
/// Writes the state of the components of the unit in a row that must be equal in every run, as part
/// of the unit's hash.
pub type WriteState = fn(&ComponentView, u32, &mut StateHash);
/// Appends a line of text for each component of a unit, for people and tools.
pub type InspectComponents = fn(&ComponentView, UnitId, &mut Vec<String>);
/// Applies changed resources to existing components (hot reload).
pub type ReloadComponents = fn(&mut ComponentHost, &ChangedResources);

/// Parts of the engine that components can change.
pub struct ComponentHost<'a> {
    pub worlds: &'a Slots<World>,
    pub units: &'a mut Units,
    pub physics: &'a mut PhysicsTables,
    pub scenes: &'a mut RenderScenes,
    pub cameras: &'a mut Slots<Camera>,
    pub particles: &'a mut Particles,
    pub voices: &'a mut UnitVoices,
    pub animations: &'a mut Animations,
    pub agents: &'a mut UnitAgents,
    /// The agents themselves.
    pub walkers: &'a mut Agents,
    pub sounds: &'a mut SoundSystem,
    pub models: &'a mut Models,
    pub textures: &'a mut Textures,
    pub tilemaps: &'a mut Tilemaps,
    pub store: &'a mut ResourceStore,
    pub tasks: &'a TaskPool,
    /// Number of the current frame, which messages about stale handles show.
    pub frame: u64,
}

impl ComponentHost<'_> {
    /// Returns true if bodies and images of a world lie in the plane of x and y.
    pub fn is_flat(&self, world: WorldId) -> bool {
        self.worlds.get(world.0).is_some_and(|world| world.flags.flat)
    }
}

/// Parts of the engine that the state and the text of components are read from. The poses of nodes
/// and cameras are up to date where text is written.
pub struct ComponentView<'a> {
    pub physics: &'a PhysicsTables,
    pub scenes: &'a RenderScenes,
    pub cameras: &'a Slots<Camera>,
    pub particles: &'a Particles,
    pub voices: &'a UnitVoices,
    pub animations: &'a Animations,
    pub agents: &'a UnitAgents,
    pub walkers: &'a Agents,
    pub sounds: &'a SoundSystem,
    pub models: &'a Models,
    pub materials: &'a Materials,
    pub textures: &'a Textures,
    pub tilemaps: &'a Tilemaps,
}

/// Sections of `Unit.inspect`, in their order. Within a section, the order of the table applies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum InspectSection {
    Rendering3d,
    Rendering2d,
    Physics,
    Effects,
    Animation,
}

/// A table of components.
pub struct Components(pub &'static [&'static Component]);

impl Components {
    /// Returns the component with that name.
    pub fn by_name(&self, name: &str) -> Option<&'static Component> {
        self.0.iter().copied().find(|component| component.name == name)
    }

    /// Spawns the components of a new unit.
    ///
    /// # Errors
    /// Returns the error of the first component that cannot be created. The components before it
    /// exist until [`Components::end`] is called.
    pub fn spawn(
        &self,
        host: &mut ComponentHost,
        (world, unit): (WorldId, UnitId),
        template: &UnitTemplate,
    ) -> Result<(), Error> {
        for component in self.0 {
            doing!("When spawning component:", component.name);
            (component.spawn)(host, world, unit, template)?;
        }
        Ok(())
    }

    /// Ends the components of a unit. `location` is the script line that messages about stale
    /// handles show.
    pub fn end(&self, host: &mut ComponentHost, unit: UnitId, location: &str) {
        let world = host.units.of(unit).world;
        for component in self.0.iter().rev() {
            (component.end)(host, world, unit, location);
        }
    }

    /// Records that the units in these rows moved.
    pub fn note_moved(&self, scenes: &mut RenderScenes, rows: &[u32]) {
        for moved in self.0.iter().filter_map(|component| component.moved) {
            moved(scenes, rows);
        }
    }

    /// Sets or clears a reason why the components of a unit are hidden, for one group or for all.
    pub fn hide(
        &self,
        scenes: &mut RenderScenes,
        row: u32,
        group: Option<u8>,
        (reason, hidden): (u8, bool),
    ) {
        for hide in self.0.iter().filter_map(|component| component.hide) {
            hide(scenes, row, group, reason, hidden);
        }
    }

    /// Writes the state of a unit's components that must be equal in every run.
    pub fn write_state(&self, view: &ComponentView, row: u32, hash: &mut StateHash) {
        for state in self.0.iter().filter_map(|component| component.state) {
            state(view, row, hash);
        }
    }

    /// Returns the description of a unit's components, as lines of text.
    pub fn inspect(&self, view: &ComponentView, unit: UnitId) -> Vec<String> {
        let mut columns: Vec<_> = self.0.iter().filter_map(|component| component.inspect).collect();
        columns.sort_compact_by_key(|(section, _)| *section);
        let mut lines = Vec::new();
        for (_, inspect) in columns {
            inspect(view, unit, &mut lines);
        }
        lines
    }

    /// Applies changed resources to existing components (hot reload).
    pub fn reload(&self, host: &mut ComponentHost, changed: &ChangedResources) {
        for reload in self.0.iter().filter_map(|component| component.reload) {
            reload(host, changed);
        }
    }
}

#[cfg(test)]
mod tests;
