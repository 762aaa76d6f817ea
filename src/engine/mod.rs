//! The engine: all systems and worlds of a running game in one struct of a few groups. Script
//! functions receive only this struct; the code that combines systems takes the groups it needs.

mod animation_events;
mod assets;
pub mod built_in_resources;
mod debug_draw;
mod devices;
mod drawing;
mod error_overlay;
mod flow;
mod flow_locations;
mod fog_volumes;
mod frame;
mod frame_builder;
mod frame_description;
mod game;
mod handles;
mod images;
pub mod level_navigation;
mod light_occluders;
mod materials;
mod models;
pub mod navigation;
pub mod navigation_platforms;
mod particles;
mod paused_picture;
mod physics;
mod recorded_world_draws;
mod reflection_probes;
mod reload_notes;
mod reload_overlay;
mod render_configs;
mod render_decals;
mod render_scene;
mod render_targets;
mod respawn;
mod screenshots;
mod shading;
mod skeleton_draw;
mod snapshots;
mod sprite_draws;
mod sprite_skeleton_draws;
mod state_hash;
#[cfg(test)]
mod tests;
mod tilemap_bodies;
mod tilemap_draws;
mod tilemap_grids;
mod tilemap_walls;
mod tilemaps;
mod unit_agents;
mod units;
mod world_update;
mod worlds;

pub use assets::Assets;
pub use devices::Devices;
pub use drawing::Drawing;
use engine_foundation::tasks::TaskPool;
use engine_frame_packet::{FramePacket, PicturePlacement, WindowFrame};
use engine_input::{Input, InputCapture};
use engine_platform as platform;
use engine_remote::outbox::RemoteOutbox;
use engine_resource::project::Project;
use engine_resource::save::Saves;
use engine_resource::settings::Settings;
use engine_resource::store::ResourceStore;
use engine_sound::SoundSystem;
use engine_window::{PictureMapping, SecondaryWindows, Window, WindowOptions};
use engine_workers::Workers;
use engine_world::WorldId;
pub use engine_world::render_scenes::RenderScenes;
pub use error_overlay::{ALSO_STOPPED, ErrorScroll, PlayerErrorText};
pub use flow::{FlowGraphs, FlowNatives, OwnedGraph, PLAIN_INPUTS_MAX};
pub use frame::Frame;
pub use frame_builder::{FrameBuilder, VIEWS_MAX};
pub use frame_description::FrameRetention;
pub use game::{OpenedGame, RestartOnSave};
use level_navigation::LevelMeshes;
pub use paused_picture::{PausedPicture, WindowSize};
pub use recorded_world_draws::WorldDraw;
pub use render_configs::RenderConfigs;
pub use render_targets::TextureGuiDesc;
pub use screenshots::CAPTURES_MAX;
pub use state_hash::{FrameState, GameHashes, HashedSystem, ObjectState};
use std::path::PathBuf;
pub use tilemap_draws::MapPlane;
pub use tilemaps::TilemapDrawOptions;
pub use world_update::UpdateSteps;
pub use worlds::Worlds;

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

/// The engine: all systems and worlds of a running game, grouped by what is used together.
/// Functions take only the groups that they work on, so that the caller can keep the other groups
/// borrowed.
pub struct Engine {
    pub game: OpenedGame,
    pub frame: Frame,
    pub devices: Devices,
    pub worlds: Worlds,
    pub assets: Assets,
    pub drawing: Drawing,
}

impl Engine {
    pub fn new(start: EngineConfig) -> Engine {
        let saves = start.save_folder.as_ref().map(|folder| folder.join(SAVES));
        let nearest = start.settings.boolean("textures.nearest");
        Engine {
            frame: Frame::new(start.seed),
            devices: Devices {
                input: Input::default(),
                console: InputCapture::default(),
                window: Window::new(&WindowOptions::default()),
                windows: SecondaryWindows::default(),
                tasks: TaskPool::new(None),
                workers: Workers::new(start.deterministic, || platform::end_requested().is_some()),
                worker_stop_view: None,
                sounds: SoundSystem::silent(start.seed, start.build != BuildMode::Release),
                outbox: RemoteOutbox::default(),
            },
            worlds: Worlds::new(start.seed),
            assets: Assets::new(start.store, nearest),
            drawing: Drawing::default(),
            game: OpenedGame {
                saves: Saves::new(saves, start.settings.text("version")),
                project: start.project,
                settings: start.settings,
                build: start.build,
                arguments: start.arguments,
                deterministic: start.deterministic,
                save_folder: start.save_folder,
                user_settings: None,
                restart_on_save: RestartOnSave::Never,
                source_platform: platform::NAME.to_string(),
            },
        }
    }

    /// Writes the output of the last frame into an empty packet.
    pub fn take_packet(&mut self, mut packet: FramePacket) -> FramePacket {
        let Window { pixels, scale, .. } = self.devices.window;
        self.describe_windows(&mut packet, WindowSize { pixels, scale });
        self.fill_packet(&mut packet);
        packet
    }

    /// Sets the time, the windows and the location of the game's picture in a main window of this
    /// size.
    fn describe_windows(&self, packet: &mut FramePacket, size: WindowSize) {
        packet.frame = self.frame.index;
        packet.seconds = self.frame.total;
        packet.scale = size.scale as f32;
        let design = self.devices.window.design;
        packet.picture = design.map(|_| {
            let mapping = PictureMapping::new(design, size.pixels, size.scale);
            PicturePlacement {
                scale: mapping.scale.to_array(),
                offset: mapping.offset.to_array(),
                size: (mapping.size * mapping.scale).to_array(),
            }
        });
        packet.bar_color = self.devices.window.bar_color;
        let open = self.devices.windows.iter().filter(|(_, window)| !window.shut);
        packet.windows.extend(
            open.map(|(id, window)| WindowFrame {
                number: id.number(),
                scale: window.scale as f32,
            }),
        );
    }

    /// Destroys a world. `location` is the script line that messages about stale handles show.
    pub fn release_world(&mut self, world: WorldId, location: &str) {
        let units: Vec<_> = self.worlds.units.in_world(world).collect();
        for unit in units {
            self.end_unit(unit, location);
        }
        self.worlds.end_scene(world);
        self.worlds.shading.release_world(world, self.frame.index, location);
        self.worlds.animations.events.forget_world(world);
        self.worlds.flow.get_mut().release_world(world.0);
        self.worlds.physics.release_world(world, self.frame.index, location);
        let is_alive = |level: &LevelMeshes| level.world != world;
        self.worlds.navigation.release_levels(is_alive, self.frame.index, location);
        self.worlds.levels.release_world(world, self.frame.index, location);
        if self.worlds.main == Some(world) {
            self.worlds.main = None;
        }
        self.drawing.guis.release_world(world.0, self.frame.index, location);
        self.worlds.particles.destroy_matching(
            |it| it.world == world.0,
            self.frame.index,
            location,
        );
        self.devices.sounds.release_world(world.0, self.frame.index, location);
        if let Some(camera) = self.worlds.world(world).camera {
            self.worlds.cameras.remove(camera.0, "", self.frame.index, location);
        }
        self.worlds.slots.remove(world.0, "", self.frame.index, location);
    }
}
