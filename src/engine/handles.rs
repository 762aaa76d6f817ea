//! The table of handles that functions for scripts take and return, and the slots of the engine
//! that their objects are in. Scripts' arguments and results are generated from the same table.

use super::{Engine, Worlds};
use engine_foundation::handle::StaleHandle;
use engine_foundation::{Handle, HandleKind};

/// Passes the table of handles to a macro. A row consists of the type of the handle, its kind, and
/// the slots of an engine. The types are looked up where the table is used. Voices and objects of
/// Guis are not in the table, because they have no slots of their own, or are read differently.
#[macro_export]
macro_rules! handle_table {
    ($table:ident) => {
        $table! {
            WorldId, World, engine => &engine.worlds.slots;
            GuiId, Gui, engine => engine.drawing.guis.slots();
            MaterialId, Material, engine => engine.assets.materials.slots();
            CameraId, Camera, engine => &engine.worlds.cameras;
            LineObjectId, LineObject, engine => &engine.worlds.lines.objects;
            MeshId, Mesh, engine => &engine.worlds.scenes.meshes.slots;
            LightId, Light, engine => &engine.worlds.scenes.lights.slots;
            LightOccluderId, LightOccluder, engine => &engine.worlds.scenes.occluders.table.slots;
            DecalId, Decal, engine => &engine.worlds.scenes.decals.slots;
            SpriteId, Sprite, engine => &engine.worlds.scenes.sprites.table.slots;
            ShadingEnvironmentId, ShadingEnvironment, engine => &engine.worlds.shading.slots;
            ViewportId, Viewport, engine => &engine.drawing.viewports;
            WindowId, Window, engine => engine.devices.windows.slots();
            UnitId, Unit, engine => &engine.worlds.units.slots;
            EffectId, ParticleEffect, engine => engine.worlds.particles.slots();
            LevelId, Level, engine => &engine.worlds.levels.slots;
            TilemapId, Tilemap, engine => &engine.assets.tilemaps.slots;
            BroadphaseId, Broadphase, engine => &engine.worlds.broadphases;
            NavigationMeshId, NavigationMesh, engine => &engine.worlds.navigation.meshes;
            NavigationGridId, NavigationGrid, engine => &engine.worlds.navigation.grids;
            AgentId, Agent, engine => &engine.worlds.navigation.agents.slots;
            ActorId, Actor, engine => &engine.worlds.physics.actors;
            MoverId, Mover, engine => &engine.worlds.physics.movers;
            JointId, Joint, engine => &engine.worlds.physics.joints;
            PhysicsWorldId, PhysicsWorld, engine => &engine.worlds.physics.worlds;
            SnapshotId, PhysicsSnapshot, engine => &engine.worlds.physics.snapshots;
            PackageId, ResourcePackage, engine => engine.assets.packages.slots();
            SoundWorldId, SoundWorld, engine => &engine.devices.sounds.voices.worlds;
            WorkerId, Worker, engine => engine.devices.workers.slots();
        }
    };
}

macro_rules! living {
    ($($id:ident, $kind:ident, $engine:ident => $slots:expr;)*) => {
        impl Engine {
            /// Returns the kind of object that a live handle refers to.
            pub fn live_kind(&self, handle: Handle) -> Option<HandleKind> {
                let kind = HandleKind::of(handle)?;
                let living = match kind {
                    $(HandleKind::$kind => {
                        let $engine = self;
                        $slots.get(handle).is_some()
                    })*
                    HandleKind::GuiObject => self.drawing.guis.has_object(handle),
                    HandleKind::Voice => self.devices.sounds.voices.slots.get(handle).is_some(),
                };
                living.then_some(kind)
            }

            /// Returns the reason why a handle refers to no living object. Call it only after
            /// [`Engine::live_kind`] returned `None`.
            pub fn stale_handle(&self, handle: Handle) -> Option<(HandleKind, StaleHandle)> {
                let kind = HandleKind::of(handle)?;
                let reason = match kind {
                    $(HandleKind::$kind => {
                        let $engine = self;
                        $slots.stale(handle)
                    })*
                    HandleKind::GuiObject | HandleKind::Voice => return None,
                };
                Some((kind, reason))
            }
        }
    };
}

handle_table!(living);

impl Engine {
    /// Returns true if a handle refers to an object, living or not.
    pub fn is_object(&self, handle: Handle) -> bool {
        self.live_kind(handle).is_some()
            || match self.stale_handle(handle) {
                Some((_, reason)) => !matches!(reason, StaleHandle::Never),
                // Voices and objects of Guis end by themselves.
                None => HandleKind::of(handle).is_some(),
            }
    }

    /// Returns the name of the object that a live handle refers to: that of its resource, or of a
    /// body. Objects without a name have none.
    pub fn object_name(&self, handle: Handle) -> Option<&str> {
        let Worlds { units, levels, physics, particles, .. } = &self.worlds;
        let name = match HandleKind::of(handle)? {
            HandleKind::Unit => &*units.slots.get(handle)?.resource.name,
            HandleKind::Level => &levels.slots.get(handle)?.resource.name,
            HandleKind::Actor => &physics.actors.get(handle)?.name,
            HandleKind::Tilemap => &self.assets.tilemaps.slots.get(handle)?.name,
            HandleKind::Material => &self.assets.materials.slots().get(handle)?.name,
            HandleKind::ParticleEffect => {
                let resource = particles.slots().get(handle)?.resource;
                &particles.resources().get(resource)?.name
            }
            _ => return None,
        };
        (!name.is_empty()).then_some(name)
    }

    /// Returns the unit of a drawn component that a live handle refers to.
    pub fn unit_of_component(&self, handle: Handle) -> Option<Handle> {
        let Worlds { units, scenes, .. } = &self.worlds;
        let row = match HandleKind::of(handle)? {
            HandleKind::Mesh => scenes.meshes.slots.get(handle)?.unit,
            HandleKind::Light => scenes.lights.slots.get(handle)?.unit,
            HandleKind::LightOccluder => scenes.occluders.table.slots.get(handle)?.unit,
            HandleKind::Decal => scenes.decals.slots.get(handle)?.unit,
            HandleKind::Sprite => scenes.sprites.table.slots.get(handle)?.unit,
            _ => return None,
        };
        units.slots.handle_at(row as usize)
    }
}
