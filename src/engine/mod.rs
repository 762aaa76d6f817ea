//! The engine: all systems and worlds as fields of one struct. Script functions receive only this
//! struct.

mod debug_draw;
mod draw_recording;
mod draw_recording_world;
mod error_overlay;
mod frame_builder;
mod handles;
mod materials;
mod models;
mod particles;
mod physics;
mod reload_overlay;
mod render_scene;
mod render_targets;
mod screenshots;
mod sprite_templates;
mod state_hash;
mod tilemap_draws;
mod tilemaps;
mod units;
mod world_update;

pub use draw_recording::FrameRetention;
pub use draw_recording_world::WorldDraw;
use engine_foundation::random::Random;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, Handle, HandleKind, Slots, Vec3};
use engine_frame_packet::{FramePacket, WindowFrame};
use engine_gui::Guis;
use engine_input::Input;
use engine_materials::Materials;
use engine_models::Models;
use engine_particles::Particles;
use engine_platform as platform;
use engine_remote::outbox::RemoteOutbox;
use engine_resource::package::Packages;
use engine_resource::project::Project;
use engine_resource::save::Saves;
use engine_resource::settings::Settings;
use engine_resource::store::ResourceStore;
use engine_sound::SoundSystem;
use engine_text::TextSystem;
use engine_textures::Textures;
use engine_tilemaps::Tilemaps;
use engine_time_step::TimeStepPolicy;
use engine_window::{SecondaryWindows, Window, WindowChange, WindowOptions};
use engine_workers::Workers;
use engine_world::broadphase::{BROADPHASES_MAX, Broadphase};
use engine_world::camera::{CAMERAS_MAX, Camera, VIEWPORTS_MAX, Viewport};
use engine_world::debug_lines::DebugLines;
use engine_world::level::Levels;
use engine_world::physics::PhysicsTables;
pub use engine_world::render_scenes::RenderScenes;
use engine_world::unit::{UnitId, Units};
use engine_world::{WORLDS_MAX, World, WorldFlags, WorldId};
pub use frame_builder::{FrameBuilder, VIEWS_MAX};
pub use screenshots::CAPTURES_MAX;
use screenshots::ScreenshotCaptures;
pub use state_hash::{FrameState, GameHashes, HASHED, ObjectState, SYSTEMS};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};
pub use tilemaps::TilemapDrawOptions;
pub use world_update::UpdateSteps;

/// Mode in which the engine runs a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuildMode {
    /// Runs a game's folder, with all checks and diagnostics.
    Development,
    /// Runs the test suites of a game, for `engine test`.
    Test,
    /// Runs a bundle; development tools cannot be opened.
    Release,
}

impl BuildMode {
    /// Returns the name of the mode in scripts.
    pub const fn name(self) -> &'static str {
        match self {
            BuildMode::Development => "development",
            BuildMode::Test => "test",
            BuildMode::Release => "release",
        }
    }
}

/// Timing of the game's frames.
#[derive(Clone, Debug, Default)]
pub struct FrameTime {
    /// Number of the current frame; the first is 1. 0 during `init`.
    pub index: u64,
    /// Seconds by which the current frame advances the game.
    pub delta: f64,
    /// Seconds of game time since the launch: the sum of all steps.
    pub total: f64,
}

/// Settings of Lua's garbage collector, as set by the game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CollectorSettings {
    /// Time budget of the collector at the end of a frame, in milliseconds.
    pub milliseconds: f64,
    /// Heap size in MiB above which the collector works harder. 0 means twice the live memory plus
    /// 64.
    pub ceiling_mib: f64,
}

impl CollectorSettings {
    pub const DEFAULT: CollectorSettings =
        CollectorSettings { milliseconds: 1.0, ceiling_mib: 0.0 };
}

/// Name of the file with a game's user settings, in its save folder.
pub const USER_SETTINGS: &str = "user_settings.sjson";

/// Name of the folder with the game's saves, in its save folder.
const SAVES: &str = "saves";

/// 2000-01-01, the start of the clock in a deterministic run.
const DETERMINISTIC_EPOCH: f64 = 946_684_800.0;

/// Configuration of a new engine.
pub struct EngineConfig {
    pub project: Project,
    pub settings: Settings,
    pub store: ResourceStore,
    pub build: BuildMode,
    /// The arguments after `--`.
    pub arguments: Vec<String>,
    pub seed: u64,
    /// True for fixed steps and virtual clocks, so that every run is equal.
    pub deterministic: bool,
    /// Folder of saves, user settings and reports; `None` keeps them in memory only.
    pub save_folder: Option<PathBuf>,
}

/// The engine, with all its systems.
pub struct Engine {
    pub project: Project,
    pub settings: Settings,
    pub store: ResourceStore,
    pub packages: Packages,
    pub build: BuildMode,
    pub arguments: Vec<String>,
    pub deterministic: bool,
    pub save_folder: Option<PathBuf>,
    pub saves: Saves,
    /// Content of the file of user settings, if there is no save folder.
    pub user_settings: Option<Vec<u8>>,
    pub frame: FrameTime,
    pub time_step: TimeStepPolicy,
    pub random: Random,
    pub input: Input,
    pub window: Window,
    /// All windows except the main one.
    pub windows: SecondaryWindows,
    /// Thread pool for the tasks of a frame.
    pub tasks: TaskPool,
    /// Workers for long jobs of the game, in parallel with its frames.
    pub workers: Workers,
    pub collection: CollectorSettings,
    pub worlds: Slots<World>,
    pub units: Units,
    pub physics: PhysicsTables,
    pub levels: Levels,
    pub broadphases: Slots<Broadphase>,
    pub textures: Textures,
    pub materials: Materials,
    pub models: Models,
    /// Render scenes of the worlds.
    pub scenes: RenderScenes,
    pub text: TextSystem,
    pub guis: Guis,
    pub tilemaps: Tilemaps,
    pub particles: Particles,
    pub sounds: SoundSystem,
    pub cameras: Slots<Camera>,
    pub viewports: Slots<Viewport>,
    pub picture: FrameBuilder,
    /// Requested screenshots and frame captures.
    pub captures: ScreenshotCaptures,
    /// Messages of the game for connected tools.
    pub outbox: RemoteOutbox,
    /// Debug lines and debug texts.
    pub lines: DebugLines,
    /// The default world, created on the first request.
    pub main_world: Option<WorldId>,
    /// Hashes that the game computed in this frame.
    pub game_hash: GameHashes,
    /// Exit code, set when the game requests to quit.
    pub quit: Option<i32>,
}

impl Engine {
    pub fn new(start: EngineConfig) -> Engine {
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
            window: Window::new(&WindowOptions::default()),
            windows: SecondaryWindows::default(),
            tasks: TaskPool::new(None),
            workers: Workers::new(start.deterministic, || platform::asked_to_end().is_some()),
            collection: CollectorSettings::DEFAULT,
            worlds: Slots::new(HandleKind::World, WORLDS_MAX),
            units: Units::default(),
            physics: PhysicsTables::default(),
            levels: Levels::default(),
            broadphases: Slots::new(HandleKind::Broadphase, BROADPHASES_MAX),
            textures: Textures::new(nearest),
            materials: Materials::default(),
            models: Models::default(),
            scenes: RenderScenes::default(),
            text: TextSystem::new(),
            guis: Guis::default(),
            tilemaps: Tilemaps::default(),
            particles: Particles::new(start.seed),
            sounds: SoundSystem::silent(start.seed, start.build != BuildMode::Release),
            cameras: Slots::new(HandleKind::Camera, CAMERAS_MAX),
            viewports: Slots::new(HandleKind::Viewport, VIEWPORTS_MAX),
            picture: FrameBuilder::default(),
            captures: ScreenshotCaptures::default(),
            outbox: RemoteOutbox::default(),
            lines: DebugLines::default(),
            main_world: None,
            game_hash: GameHashes::default(),
            quit: None,
        }
    }

    /// Returns seconds since 1970, from the system clock, or from the game's own clock in a
    /// deterministic run.
    pub fn clock(&self) -> f64 {
        if self.deterministic {
            return DETERMINISTIC_EPOCH + self.frame.total;
        }
        // A clock before 1970 counts as 1970.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
    }

    /// Starts a frame of the windows, with the window changes since the last frame.
    pub fn begin_windows(&mut self, changes: &[WindowChange]) {
        self.window.begin_frame(changes);
        self.windows.begin_frame(changes);
    }

    /// Returns true if one of the game's windows has the focus.
    pub fn has_focus(&self) -> bool {
        self.window.focused || self.windows.iter().any(|(_, window)| window.focused)
    }

    /// Treats a file of the game's folder as missing, until [`Engine::end_pretending`].
    pub fn pretend_missing(&mut self, file: String) {
        self.store.hide(file.clone());
        self.project.hide(file);
    }

    /// Returns true if a test simulates a failure.
    pub fn pretends(&self) -> bool {
        self.saves.is_pretending() || self.project.hides()
    }

    /// Ends all simulated failures.
    pub fn end_pretending(&mut self) {
        self.saves.pretend_full(false);
        self.store.show_all();
        self.project.show_all();
    }

    /// Writes the output of the last frame into an empty packet.
    pub fn take_packet(&mut self, mut packet: FramePacket) -> FramePacket {
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

    /// Creates an empty world.
    pub fn new_world(&mut self, flags: WorldFlags) -> Result<WorldId, Error> {
        let added = self.worlds.add(World { flags, ..World::default() }).map(WorldId);
        added.ok_or_else(|| {
            engine_foundation::error!(
                "{WORLDS_MAX} worlds already exist (WORLDS_MAX): release one first"
            )
        })
    }

    /// Returns the position of a unit's node to which a voice is linked.
    pub fn sound_owner_position(&mut self, (unit, node): (Handle, u32)) -> Option<Vec3> {
        let node = node as usize;
        let row = UnitId(self.units.slots.get(unit).map(|_| unit)?).row();
        (node < self.units.scene.count(row)).then(|| self.units.scene.world_position(row, node))
    }

    /// Updates the positions of voices linked to units. Voices of destroyed units keep their
    /// position.
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

    /// Destroys a world. `location` is the script line that messages about stale handles show.
    pub fn release_world(&mut self, world: WorldId, location: &str) {
        let units: Vec<_> = self.units.in_world(world).collect();
        for unit in units {
            self.end_unit(unit, location);
        }
        self.end_scene(world);
        self.physics.release_world(world, self.frame.index, location);
        self.levels.release_world(world, self.frame.index, location);
        if self.main_world == Some(world) {
            self.main_world = None;
        }
        self.guis.release_world(world.0, self.frame.index, location);
        self.particles.destroy_matching(|it| it.world == world.0, self.frame.index, location);
        self.sounds.release_world(world.0, self.frame.index, location);
        self.worlds.remove(world.0, "", self.frame.index, location);
    }

    /// Returns a live world. Handles are checked at the interface, so the world exists.
    #[inline(always)]
    pub fn world(&mut self, world: WorldId) -> &mut World {
        self.worlds.get_mut(world.0).expect("the handle was checked where it came in")
    }
}
