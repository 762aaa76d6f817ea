//! The engine: every system and world as a field. The only thing that scripts' functions see.

mod captures;
mod debug;
mod materials;
mod models;
mod notice;
mod overlay;
mod particles;
mod physics;
mod picture;
mod scene;
mod seen;
mod seen_world;
mod sprites;
mod state;
mod targets;
mod tilemaps;
mod unit_maps;
mod update;

use crate::foundation::random::Random;
use crate::foundation::tasks::Pool;
use crate::foundation::{Error, Handle, Kind, Slots, Vec3};
use crate::packet::{Packet, WindowFrame};
use crate::resource::package::Packages;
use crate::resource::project::Project;
use crate::resource::save::Saves;
use crate::resource::settings::Settings;
use crate::resource::store::Store;
use crate::system::gui::Guis;
use crate::system::input::Input;
use crate::system::materials::Materials;
use crate::system::models::Models;
use crate::system::particles::Particles;
use crate::system::platform;
use crate::system::sound::Sounds;
use crate::system::text::Texts;
use crate::system::textures::Textures;
use crate::system::tilemaps::Tilemaps;
use crate::system::time_step::TimeStepPolicy;
use crate::system::tools::outbox::Outbox;
use crate::system::window::{Change, Opening, Others, Window};
use crate::system::workers::Workers;
use crate::world::broadphase::{BROADPHASES_MAX, Broadphase};
use crate::world::camera::{CAMERAS_MAX, Camera, VIEWPORTS_MAX, Viewport};
use crate::world::level::Levels;
use crate::world::lines::Lines;
use crate::world::physics::PhysicsTables;
use crate::world::unit::{UnitId, Units};
use crate::world::{WORLDS_MAX, World, WorldFlags, WorldId};
pub use captures::CAPTURES_MAX;
use captures::Captures;
pub use picture::{Picture, VIEWS_MAX};
pub use scene::Scenes;
pub use seen::Kept;
pub use seen_world::WorldDraw;
pub use state::{HASHED, Hashed, ObjectState, SYSTEMS, State};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};
pub use tilemaps::TilemapLook;
pub use update::Steps;

/// How the engine runs a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Build {
    /// A folder is played: everything is checked and told.
    Development,
    /// `engine test` runs its suites.
    Test,
    /// A bundle is played: nothing of the development tools can open.
    Release,
}

impl Build {
    /// The word by which scripts know it.
    pub const fn name(self) -> &'static str {
        match self {
            Build::Development => "development",
            Build::Test => "test",
            Build::Release => "release",
        }
    }
}

/// The time of the game's frames.
#[derive(Clone, Debug, Default)]
pub struct FrameTime {
    /// The number of the running frame; the first is 1. 0 during `init`.
    pub index: u64,
    /// Seconds that the running frame moves the game on by.
    pub delta: f64,
    /// Seconds of game time since the launch: the sum of all steps.
    pub total: f64,
}

/// What a game set for Lua's collector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collection {
    /// Milliseconds for the collector at the end of a frame.
    pub milliseconds: f64,
    /// Above this many MiB it works harder; 0: twice what is alive, plus 64.
    pub ceiling_mib: f64,
}

impl Collection {
    pub const DEFAULT: Collection = Collection { milliseconds: 1.0, ceiling_mib: 0.0 };
}

/// The file of a game's user settings, in its save folder.
pub const USER_SETTINGS: &str = "user_settings.sjson";

/// The folder of the game's saves in its save folder.
const SAVES: &str = "saves";

/// 2000-01-01, where the clock of a deterministic run begins.
const DETERMINISTIC_EPOCH: f64 = 946_684_800.0;

/// What an engine is made of.
pub struct Start {
    pub project: Project,
    pub settings: Settings,
    pub store: Store,
    pub build: Build,
    /// The arguments after `--`.
    pub arguments: Vec<String>,
    pub seed: u64,
    /// Fixed steps, virtual clocks: the same run every time.
    pub deterministic: bool,
    /// Where saves, user settings and reports go; `None` keeps them in memory alone.
    pub save_folder: Option<PathBuf>,
}

/// Every system of the engine.
pub struct Engine {
    pub project: Project,
    pub settings: Settings,
    pub store: Store,
    pub packages: Packages,
    pub build: Build,
    pub arguments: Vec<String>,
    pub deterministic: bool,
    pub save_folder: Option<PathBuf>,
    pub saves: Saves,
    /// What is in the file of user settings, where there is no save folder.
    pub user_settings: Option<Vec<u8>>,
    pub frame: FrameTime,
    pub time_step: TimeStepPolicy,
    pub random: Random,
    pub input: Input,
    pub window: Window,
    /// The windows beside the main one.
    pub windows: Others,
    /// The threads that work on a frame.
    pub tasks: Pool,
    /// Long jobs of the game's beside its frames.
    pub workers: Workers,
    pub collection: Collection,
    pub worlds: Slots<World>,
    pub units: Units,
    pub physics: PhysicsTables,
    pub levels: Levels,
    pub broadphases: Slots<Broadphase>,
    pub textures: Textures,
    pub materials: Materials,
    pub models: Models,
    /// What worlds show of their units.
    pub scenes: Scenes,
    pub text: Texts,
    pub guis: Guis,
    pub tilemaps: Tilemaps,
    pub particles: Particles,
    pub sounds: Sounds,
    pub cameras: Slots<Camera>,
    pub viewports: Slots<Viewport>,
    pub picture: Picture,
    /// Pictures of frames that somebody asked for.
    pub captures: Captures,
    /// What the game has for tools.
    pub outbox: Outbox,
    /// Lines and words for whoever makes the game.
    pub lines: Lines,
    /// The world that is there without being asked for, once it was asked for.
    pub main_world: Option<WorldId>,
    /// What the game had hashed in this frame.
    pub game_hash: Hashed,
    /// The exit code, once the game has asked to end.
    pub quit: Option<i32>,
}

impl Engine {
    pub fn new(start: Start) -> Engine {
        let saves = start.save_folder.as_ref().map(|folder| folder.join(SAVES));
        let nearest = start.settings.boolean("textures.nearest");
        Engine {
            saves: Saves::new(saves, start.settings.text("version")),
            project: start.project,
            settings: start.settings,
            store: start.store,
            packages: Packages::default(),
            build: start.build,
            arguments: start.arguments,
            deterministic: start.deterministic,
            save_folder: start.save_folder,
            user_settings: None,
            frame: FrameTime::default(),
            time_step: TimeStepPolicy::default(),
            random: Random::seed(start.seed),
            input: Input::default(),
            window: Window::new(&Opening::default()),
            windows: Others::default(),
            tasks: Pool::new(None),
            workers: Workers::new(start.deterministic, || platform::asked_to_end().is_some()),
            collection: Collection::DEFAULT,
            worlds: Slots::new(Kind::World, WORLDS_MAX),
            units: Units::default(),
            physics: PhysicsTables::default(),
            levels: Levels::default(),
            broadphases: Slots::new(Kind::Broadphase, BROADPHASES_MAX),
            textures: Textures::new(nearest),
            materials: Materials::default(),
            models: Models::default(),
            scenes: Scenes::default(),
            text: Texts::new(),
            guis: Guis::default(),
            tilemaps: Tilemaps::default(),
            particles: Particles::new(start.seed),
            sounds: Sounds::silent(start.seed, start.build != Build::Release),
            cameras: Slots::new(Kind::Camera, CAMERAS_MAX),
            viewports: Slots::new(Kind::Viewport, VIEWPORTS_MAX),
            picture: Picture::default(),
            captures: Captures::default(),
            outbox: Outbox::default(),
            lines: Lines::default(),
            main_world: None,
            game_hash: Hashed::default(),
            quit: None,
        }
    }

    /// Seconds since 1970: the wall's, or the game's own where runs must be equal.
    pub fn clock(&self) -> f64 {
        if self.deterministic {
            return DETERMINISTIC_EPOCH + self.frame.total;
        }
        // A clock that stands before 1970 is as good as 1970.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
    }

    /// A frame of the windows begins, with what the desktop told since the last one.
    pub fn begin_windows(&mut self, changes: &[Change]) {
        self.window.begin_frame(changes);
        self.windows.begin_frame(changes);
    }

    /// Whether one of the game's windows has the focus.
    pub fn has_focus(&self) -> bool {
        self.window.focused || self.windows.iter().any(|(_, window)| window.focused)
    }

    /// As if a file of the game's folder were not there, until [`Engine::end_pretending`].
    pub fn pretend_missing(&mut self, file: String) {
        self.store.hide(file.clone());
        self.project.hide(file);
    }

    /// Whether a test has something fail that works.
    pub fn pretends(&self) -> bool {
        self.saves.is_pretending() || self.project.hides()
    }

    /// Everything is as it really is again.
    pub fn end_pretending(&mut self) {
        self.saves.pretend_full(false);
        self.store.show_all();
        self.project.show_all();
    }

    /// What the frame that was just played shows, written into an empty packet.
    pub fn take_packet(&mut self, mut packet: Packet) -> Packet {
        packet.frame = self.frame.index;
        packet.seconds = self.frame.total;
        packet.scale = self.window.scale as f32;
        let open = self.windows.iter().filter(|(_, window)| !window.shut);
        packet.windows.extend(
            open.map(|(id, window)| WindowFrame {
                number: id.number(),
                scale: window.scale as f32,
            }),
        );
        self.fill_packet(&mut packet);
        packet
    }

    /// What a handle names, where it is there.
    pub fn living(&self, handle: Handle) -> Option<Kind> {
        let kind = Kind::of(handle)?;
        let living = match kind {
            Kind::World => self.worlds.get(handle).is_some(),
            Kind::Gui => self.guis.slots().get(handle).is_some(),
            Kind::GuiObject => self.guis.has_object(handle),
            Kind::Material => self.materials.slots().get(handle).is_some(),
            Kind::Camera => self.cameras.get(handle).is_some(),
            Kind::Viewport => self.viewports.get(handle).is_some(),
            Kind::Window => self.windows.slots().get(handle).is_some(),
            Kind::ParticleEffect => self.particles.slots().get(handle).is_some(),
            Kind::LineObject => self.lines.objects.get(handle).is_some(),
            Kind::Unit => self.units.slots.get(handle).is_some(),
            Kind::Actor => self.physics.actors.get(handle).is_some(),
            Kind::Mover => self.physics.movers.get(handle).is_some(),
            Kind::Joint => self.physics.joints.get(handle).is_some(),
            Kind::PhysicsWorld => self.physics.worlds.get(handle).is_some(),
            Kind::PhysicsSnapshot => self.physics.snapshots.get(handle).is_some(),
            Kind::Mesh => self.scenes.meshes.slots.get(handle).is_some(),
            Kind::Light => self.scenes.lights.slots.get(handle).is_some(),
            Kind::Sprite => self.scenes.sprites.slots.get(handle).is_some(),
            Kind::Level => self.levels.slots.get(handle).is_some(),
            Kind::Tilemap => self.tilemaps.slots.get(handle).is_some(),
            Kind::Broadphase => self.broadphases.get(handle).is_some(),
            Kind::ResourcePackage => self.packages.slots().get(handle).is_some(),
            Kind::Worker => self.workers.slots().get(handle).is_some(),
            Kind::Voice => self.sounds.voices.slots.get(handle).is_some(),
            Kind::SoundWorld => self.sounds.voices.worlds.get(handle).is_some(),
        };
        living.then_some(kind)
    }

    /// Makes an empty world.
    pub fn new_world(&mut self, flags: WorldFlags) -> Result<WorldId, Error> {
        let added = self.worlds.add(World { flags, ..World::default() }).map(WorldId);
        added.ok_or_else(|| {
            crate::error!("{WORLDS_MAX} worlds are there already (WORLDS_MAX): release one first")
        })
    }

    /// Where a unit's node is, that a voice is linked to.
    pub fn sound_owner_position(&mut self, (unit, node): (Handle, u32)) -> Option<Vec3> {
        let node = node as usize;
        let row = UnitId(self.units.slots.get(unit).map(|_| unit)?).row();
        (node < self.units.scene.count(row)).then(|| self.units.scene.world_position(row, node))
    }

    /// Moves the voices that are linked to units along. Those of units that are gone stay.
    pub fn move_linked_voices(&mut self) {
        for at in 0..self.sounds.voices.active.len() {
            let index = self.sounds.voices.active[at] as usize;
            let Some(voice) = &self.sounds.voices.voices[index] else { continue };
            let Some(owner) = voice.owner else { continue };
            let position = self.sound_owner_position(owner);
            let voice = self.sounds.voices.voices[index].as_mut().expect("it was there");
            match position {
                Some(_) => voice.position = position,
                None => voice.owner = None,
            }
        }
    }

    /// Ends a world; `place` is the script's line, for the words of its stale handles.
    pub fn release_world(&mut self, world: WorldId, place: &str) {
        let units: Vec<_> = self.units.in_world(world).collect();
        for unit in units {
            self.end_unit(unit, place);
        }
        self.end_scene(world);
        self.physics.release_world(world, self.frame.index, place);
        self.levels.release_world(world, self.frame.index, place);
        if self.main_world == Some(world) {
            self.main_world = None;
        }
        self.guis.release_world(world.0, self.frame.index, place);
        self.particles.destroy_where(|it| it.world == world.0, self.frame.index, place);
        self.sounds.release_world(world.0, self.frame.index, place);
        self.worlds.remove(world.0, "", self.frame.index, place);
    }

    /// A living world. Handles are checked where they come in, so it is there.
    #[inline(always)]
    pub fn world(&mut self, world: WorldId) -> &mut World {
        self.worlds.get_mut(world.0).expect("the handle was checked where it came in")
    }
}
