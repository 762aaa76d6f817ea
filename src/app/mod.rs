//! The application: opens a game, plays its frames and ends it. The order of the steps of a frame
//! is defined only here. The layers below implement each step.

pub mod check;
pub mod confinement;
pub mod content;
pub mod content_script;
pub mod crash_report;
mod debugger_wait;
pub mod difference;
mod display;
mod dynamic_scale;
pub mod flow;
mod frame_capture_files;
pub mod frame_input;
mod frame_stats;
mod game;
mod input_translation;
mod launcher;
mod live_settings;
mod main_loop;
pub mod navigation;
pub mod output_files;
mod picture_scaling;
mod profile_output;
pub mod progress;
pub mod recording;
mod redraw_throttle;
mod remote;
mod render_options;
mod replay_session;
pub mod resource_kinds;
pub mod resource_reload;
mod restart;
mod run_permissions;
mod run_pictures;
mod save_folder;
mod secondary_windows;
pub mod state_machine;
pub mod testing;

use engine_flow::Flow;
use engine_foundation::doing;
use engine_foundation::scope;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::tasks::TaskPool;
use engine_foundation::{Error, memory, profile};
use engine_resource::glob::Glob;
use engine_resource::project::{Project, ScriptError};
use engine_resource::settings::Settings;
use engine_resource::store::ResourceStore;
use engine_resource::watcher::ProjectWatcher;
pub use engine_runtime::RestartOnSave;
use engine_runtime::{BuildMode, Engine, EngineConfig, Frame};
use engine_script::{CallOutcome, ErrorReport, ScriptValue, Vm, VmConfig, callbacks, modules};
use engine_sound::{AudioDestination, SoundSystem};
use engine_time_step::PolicyArgument;
use engine_window::{
    DesignResolution, Fullscreen, Scaling, Vsync, Window, WindowChange, WindowId, title_of,
};

pub use display::{
    AdapterChoice, DisplayPolicy, FILM_FRAMES, FilmRequest, FrameCaptureRequest, ScreenshotRequest,
};
use frame_input::FrameInput;
use frame_stats::FrameStart;
pub use game::{Game, VariantChoice};
pub use main_loop::{FramePacing, HEADLESS_STEP, RemoteAccess, RunOptions, WithoutDisplay, play};
pub use profile_output::ProfileOutputs;
use remote::RemoteTools;
pub use render_options::QualityLevel;
pub use save_folder::save_folder_of;
use save_folder::{game_id, save_folder};

/// Exit codes of the process.
pub mod exit {
    pub const SUCCESS: i32 = 0;
    /// The game, a test or a check failed.
    pub const FAILED: i32 = 1;
    pub const USAGE: i32 = 2;
    /// There was nothing to do: no tests were found.
    pub const NO_TESTS: i32 = 3;
    /// The engine itself failed.
    pub const ENGINE: i32 = 4;
    /// The only failures are screenshots that have no reference image to compare with.
    pub const SNAPSHOT: i32 = 5;
}

/// Options with which a game is opened.
#[derive(Clone, Debug)]
pub struct GameLaunch {
    pub game: Game,
    pub build: BuildMode,
    pub arguments: Vec<String>,
    pub seed: u64,
    pub deterministic: bool,
    /// The boot script, if it is not the one that the settings name.
    pub boot: Option<String>,
    /// Keep saves and user settings in memory only.
    pub in_memory_saves: bool,
    pub sandbox: bool,
    pub coverage: bool,
    /// Count how often each line of a script runs.
    pub lines: bool,
    /// The compiled resources, if they are compiled already. If `None`, opening the game compiles
    /// them.
    pub store: Option<ResourceStore>,
    /// Hot-reload files that change in the folder while the game is played.
    pub watch: bool,
    /// Number of threads that work on a frame. If `None`, one for each core.
    pub threads: Option<usize>,
    /// Destination of the game's sound.
    pub sound: AudioDestination,
    /// The saved files that restart the game.
    pub restart_on_save: RestartOnSave,
    pub variants: VariantChoice,
}

impl GameLaunch {
    /// Returns the options of a reproducible run in this process that leaves nothing behind: no
    /// sound, no hot reload, and saves in memory.
    pub fn headless(game: Game) -> GameLaunch {
        GameLaunch {
            game,
            build: BuildMode::Development,
            arguments: Vec::new(),
            seed: 0,
            deterministic: true,
            boot: None,
            in_memory_saves: true,
            sandbox: true,
            coverage: false,
            lines: false,
            store: None,
            watch: false,
            threads: None,
            sound: AudioDestination::Null,
            restart_on_save: RestartOnSave::Never,
            variants: VariantChoice::default(),
        }
    }
}

/// A game that is running.
pub struct App {
    vm: Vm,
    watch: Option<ProjectWatcher>,
    boot: String,
    /// True if a saved script could not be reloaded, and a fixed one is awaited.
    awaits_fix: bool,
    /// Messages about saved files that were not reloaded, except problems of resources.
    refusals: Vec<String>,
    /// Messages about saved files over the game, the newest first.
    shown_refusals: Vec<String>,
    /// Errors of the newest reload, for the error state.
    new_problems: Option<Vec<String>>,
    /// The other errors of a reload that an error ended, for the error state that follows.
    problems_before_error: Vec<String>,
    /// The input of the next frame.
    frame_input: FrameInput,
    init_seconds: f64,
    update_seconds: f64,
    /// Counters as they were at the start of the frame.
    frame_start: FrameStart,
    /// The connection of remote tools that inspect the game.
    tools: Option<RemoteTools>,
    /// Key that restarts the game, as a button of the keyboard.
    restart_key: Option<u16>,
}

impl App {
    /// Opens a game and boots a VM for it. No code of the game has run yet when this returns.
    pub fn open(launch: GameLaunch) -> Result<App, Error> {
        let platform = launch.variants.platform();
        let (project, settings) = (launch.game.project()?, launch.game.settings(platform)?);
        let boot = launch.boot.unwrap_or_else(|| settings.text("boot_script").to_string());
        let save_folder = match launch.in_memory_saves {
            true => None,
            false => save_folder(&game_id(&settings, &project)?),
        };
        let config = VmConfig {
            deterministic: launch.deterministic,
            sandbox: launch.sandbox,
            tests: launch.build == BuildMode::Test,
            coverage: launch.coverage,
            lines: launch.lines,
            ..vm_limits(&settings)
        };
        let init_seconds = settings.number("limits.init_seconds");
        let update_seconds = settings.number("limits.update_seconds");
        let outputs = sound_outputs(&launch.game, &launch.sound);
        let mut store = launch.store.unwrap_or_else(|| launch.game.store(platform, &outputs));
        store.prefer(launch.variants.preferences.clone());
        store.apply_preferences();
        let watch = match &launch.game {
            Game::Folder(folder) if launch.watch => {
                resource_reload::watch(folder, platform, outputs)
            }
            _ => None,
        };
        let window = window_options(&settings, &project)?;
        let mut engine = Engine::new(EngineConfig {
            project,
            settings,
            store,
            build: launch.build,
            arguments: launch.arguments,
            seed: launch.seed,
            deterministic: launch.deterministic,
            save_folder,
        });
        engine.devices.window = Window::new(&window);
        engine.devices.console = input_translation::console_capture(&engine.game)?;
        engine.game.restart_on_save = launch.restart_on_save;
        engine.game.source_platform = platform.to_string();
        let restart_key = input_translation::restart_key(&engine.game)?;
        engine.devices.tasks = TaskPool::new(launch.threads);
        let checked = launch.build != BuildMode::Release;
        let (settings, store) = (&mut engine.game.settings, &mut engine.assets.store);
        let (seed, sound) = (launch.seed, &launch.sound);
        engine.devices.sounds = SoundSystem::new(settings, store, seed, checked, sound)?;
        apply_settings(&mut engine)?;
        frame_stats::begin(launch.build);
        limit_engine_memory(&engine.game.settings);
        let vm = Vm::new(engine, config).map_err(|report| Error::new(report.to_string()))?;
        let frame_input = FrameInput::default();
        let frame_start = FrameStart::default();
        Ok(App {
            vm,
            watch,
            boot,
            awaits_fix: false,
            refusals: Vec::new(),
            shown_refusals: Vec::new(),
            new_problems: None,
            problems_before_error: Vec::new(),
            frame_input,
            init_seconds,
            update_seconds,
            frame_start,
            tools: None,
            restart_key,
        })
    }

    /// Returns the VM, which owns the engine.
    pub fn vm(&mut self) -> &mut Vm {
        &mut self.vm
    }

    /// Sets the state of devices and the window before the game starts. Nothing in it counts as a
    /// change.
    pub fn begin(&mut self, frame_input: FrameInput) {
        let engine = self.vm.engine();
        engine.devices.begin_windows(&frame_input.changes);
        engine.devices.input.begin_frame(frame_input.events);
    }

    /// Runs the boot script, then the game's `init`.
    pub fn start(&mut self) -> Result<(), Box<ErrorReport>> {
        let engine = self.vm.engine();
        let found = modules::find(engine, &self.boot);
        if matches!(found, Err(ScriptError::Missing { .. }))
            && let Some(message) = engine.game.project.missing_boot_message(&self.boot)
        {
            return Err(Box::new(ErrorReport::from_message(message)));
        }
        {
            self.reseed_string_ids(None);
            doing!("When loading:", &self.boot);
            let boot = ScriptValue::Text(self.boot.clone());
            self.vm.call_core("boot", &[boot], self.init_seconds)?;
        }
        self.call("init", &[], self.init_seconds)?;
        self.vm.collect_start();
        Ok(())
    }

    /// Adds input for the next frame.
    pub fn add_input(&mut self, frame_input: FrameInput) {
        self.frame_input.append(frame_input);
    }

    /// Plays one frame, which took `measured` seconds: input, packages and new resources, requests
    /// of remote tools, the clock, `update`, `render`, the collector. [`App::end_frame`] ends the
    /// frame.
    pub fn frame(&mut self, measured: f64) -> Result<(), Box<ErrorReport>> {
        profile::begin_frame();
        self.start_frame_stats();
        self.vm.engine().devices.input.advance(measured);
        let played = self.play_frame(measured);
        if played.is_err() {
            self.end_frame();
        }
        played
    }

    fn play_frame(&mut self, measured: f64) -> Result<(), Box<ErrorReport>> {
        self.apply_external_changes()?;
        let engine = self.vm.engine();
        let delta = engine.frame.time_step.step(measured);
        engine.frame.index += 1;
        engine.frame.delta = delta;
        engine.frame.total += delta;
        engine.devices.input.advance_motors(delta, measured);
        engine.devices.workers.begin_frame(engine.frame.index);
        self.record_step(measured);
        {
            scope!("update");
            self.call("update", &[ScriptValue::Number(delta)], self.update_seconds)?;
        }
        {
            scope!("render");
            self.call("render", &[], self.update_seconds)?;
        }
        {
            scope!("unseen");
            self.vm.engine().finish_unseen_frame();
        }
        self.step_sound(measured);
        scope!("collector");
        self.vm.collect();
        Ok(())
    }

    /// Lets the game draw its current frame once more. Buttons no longer count as just pressed, and
    /// no time passes.
    pub fn redraw(&mut self) -> Result<(), Box<ErrorReport>> {
        self.vm.engine().devices.input.begin_frame(Vec::new());
        self.call("render", &[], self.update_seconds)?;
        self.vm.engine().finish_unseen_frame();
        Ok(())
    }

    fn apply_external_changes(&mut self) -> Result<(), Box<ErrorReport>> {
        {
            scope!("input");
            self.apply_input()?;
        }
        {
            scope!("resources");
            self.take_packages()?;
            self.swap_resources()?;
        }
        scope!("tools");
        self.answer_tools(true);
        Ok(())
    }

    /// Steps the sound. Audible sound follows the real clock, even if the game scales or stops its
    /// own time. A deterministic run uses its own steps.
    fn step_sound(&mut self, measured: f64) {
        scope!("sound");
        let engine = self.vm.engine();
        engine.worlds.move_linked_voices(&mut engine.devices.sounds);
        // After a pause of the game, at most one second of sound is stepped at once.
        let seconds =
            if engine.game.deterministic { engine.frame.delta } else { measured.min(1.0) };
        engine.devices.sounds.step(seconds.max(0.0), engine.frame.index);
    }

    /// Applies the frame's input to devices and windows. Reports a changed focus to the game, and
    /// asks the game about windows that the player wants to close.
    fn apply_input(&mut self) -> Result<(), Box<ErrorReport>> {
        let frame_input = std::mem::take(&mut self.frame_input);
        let engine = self.vm.engine();
        engine.frame.restart |= frame_input.requests_restart();
        let FrameInput { events, changes } = frame_input;
        let focused = engine.devices.windows.take_lost_focus() | engine.devices.has_focus();
        engine.devices.begin_windows(&changes);
        let events = engine.devices.console.split(events, &engine.devices.input);
        engine.devices.input.begin_frame(events);
        let (now, closing) = (engine.devices.has_focus(), engine.devices.windows.closing());
        let window = &mut engine.devices.window;
        let wants_close = std::mem::take(&mut window.asked_to_close) || window.closing;
        let is_removed = changes.contains(&WindowChange::Removed);
        if now != focused {
            self.call("on_activate", &[ScriptValue::Boolean(now)], self.update_seconds)?;
        }
        for window in closing {
            self.window_close_requested(window)?;
        }
        if is_removed {
            // The main window no longer exists, so the game cannot keep it open.
            self.vm.engine().frame.quit.get_or_insert(exit::SUCCESS);
        } else if wants_close {
            self.close_requested()?;
        }
        Ok(())
    }

    /// Handles the player's request to end the game. Returns true if the game's `on_close` agrees.
    pub fn close_requested(&mut self) -> Result<bool, Box<ErrorReport>> {
        let answer = self.call("on_close", &[], self.update_seconds)?;
        let ends = answer == ScriptValue::Boolean(true);
        if ends {
            self.vm.engine().frame.quit.get_or_insert(exit::SUCCESS);
        }
        Ok(ends)
    }

    /// Handles the player's request to close a secondary window. The window closes if the game's
    /// `on_close` agrees. Its handle remains valid.
    fn window_close_requested(&mut self, window: WindowId) -> Result<(), Box<ErrorReport>> {
        let known = self.vm.engine().devices.windows.slots().get(window.0);
        if known.is_none_or(|window| window.shut) {
            // The game closed this window while it was asked about another one.
            return Ok(());
        }
        let number = ScriptValue::Number(window.0.to_number());
        let answer = self.call("on_close", &[number], self.update_seconds)?;
        if answer == ScriptValue::Boolean(true) {
            self.vm.engine().devices.windows.shut(window);
        }
        Ok(())
    }

    /// Calls the game's `shutdown`.
    pub fn shutdown(&mut self) -> Result<(), Box<ErrorReport>> {
        self.call("shutdown", &[], self.update_seconds).map(|_| ())
    }

    fn call(&mut self, name: &str, arguments: &[ScriptValue], seconds: f64) -> CallOutcome {
        doing!("When calling:", name);
        self.reseed_string_ids(Some(name));
        let mut outcome = self.vm.call_core(name, arguments, seconds);
        // Only an error that cannot be caught leaves the call of a node unfinished.
        if let Err(report) = &mut outcome {
            report.contexts.extend(self.vm.engine().calling_node_context());
        }
        outcome
    }

    /// Reseeds string ids before a callback of the game, or before its boot script. Earlier code
    /// that is not the game's then does not affect the order of the game's tables.
    fn reseed_string_ids(&mut self, callback: Option<&str>) {
        let frame = self.vm.engine().frame.index as u32;
        if let Some(seed) = callbacks::string_seed(callback, frame) {
            self.vm.reseed_string_ids(seed);
        }
    }

    /// Returns the exit code, if the game has asked to end.
    pub fn quit(&mut self) -> Option<i32> {
        self.vm.engine().frame.quit
    }
}

/// Returns the options of the window that the settings ask for.
fn window_options(
    settings: &Settings,
    project: &Project,
) -> Result<engine_window::WindowOptions, Error> {
    let names = [settings.text("window.title"), settings.text("name")];
    let folder = project.folder_name();
    let title = names.into_iter().find(|text| !text.is_empty()).unwrap_or(&folder);
    let word = |key: &str| settings.text(key);
    let known = "a test holds that the settings' words are the window's";
    Ok(engine_window::WindowOptions {
        title: title_of(title),
        width: settings.number("window.width") as u32,
        height: settings.number("window.height") as u32,
        fullscreen: Fullscreen::of(word("window.fullscreen")).expect(known),
        vsync: Vsync::of(word("window.vsync")).expect(known),
        resizable: settings.boolean("window.resizable"),
        monitor: settings.number("window.monitor") as usize,
        design: settings.size("window.design").map(|(width, height)| DesignResolution {
            width,
            height,
            scaling: Scaling::of(word("window.scaling")).expect(known),
        }),
        bar_color: settings.color("window.bar_color"),
        ..engine_window::WindowOptions::default()
    })
}

fn apply_settings(engine: &mut Engine) -> Result<(), Error> {
    let (settings, frame) = (&engine.game.settings, &mut engine.frame);
    apply_collection(settings, frame);
    apply_flow_limits(settings, engine.worlds.flow.get_mut());
    apply_priorities(settings, &mut engine.devices.tasks)?;
    apply_time_step(settings, frame)
}

/// Sets the limits of events as the settings say.
fn apply_flow_limits(settings: &Settings, flow: &mut Flow) {
    flow.nodes_max = settings.number("limits.flow_nodes") as u32;
    flow.chained_events_max = settings.number("limits.flow_events") as u32;
}

/// Returns the limits and the compiler of the VM as the settings say.
fn vm_limits(settings: &Settings) -> VmConfig {
    VmConfig {
        memory_limit: (settings.number("limits.lua_memory_mib") as usize) << 20,
        jit: settings.boolean("lua.jit"),
        ..VmConfig::DEFAULT
    }
}

/// Returns a pattern of the file to which the run writes its sound, if it is in the game's folder.
fn sound_outputs(game: &Game, sound: &AudioDestination) -> Vec<Glob> {
    match game {
        Game::Folder(folder) => resource_reload::sound_output(folder, sound),
        Game::Bundle(_) => Vec::new(),
    }
}

/// Sets the memory limit. It applies to the whole process, because one game is played at a time.
fn limit_engine_memory(settings: &Settings) {
    // Without the counting allocator there is no number to compare with the limit.
    if memory::is_installed() {
        let mib = settings.number("limits.engine_memory_mib");
        memory::limit::set_limit(Some((mib as usize) << 20));
    }
}

fn apply_collection(settings: &Settings, frame: &mut Frame) {
    frame.collection.milliseconds = settings.number("collector.milliseconds");
    frame.collection.ceiling_mib = settings.number("collector.ceiling_mib");
}

fn apply_priorities(settings: &Settings, tasks: &mut TaskPool) -> Result<(), Error> {
    for system in engine_world::UPDATE_SYSTEMS {
        let priority = settings.number(&format!("tasks.priorities.{system}"));
        if priority.fract() != 0.0 {
            let message = "must be a whole number, got";
            return Err(engine_foundation::error!(
                "settings.sjson: 'tasks.priorities.{system}' {message} {priority}"
            ));
        }
        tasks.set_priority(system, priority as u8);
    }
    Ok(())
}

fn apply_time_step(settings: &Settings, frame: &mut Frame) -> Result<(), Error> {
    let to_error =
        |message: &str| engine_foundation::error!("settings.sjson: 'time_step': {message}");
    let mut arguments = Vec::new();
    for item in settings.list("time_step") {
        arguments.push(match item {
            SjsonTree::String(name) => PolicyArgument::Name(name),
            SjsonTree::Number(number) => PolicyArgument::Number(*number),
            _ => return Err(to_error("it can contain only names and numbers")),
        });
    }
    frame.time_step.set(&arguments).map_err(|message| to_error(&message))
}

#[cfg(test)]
mod tests {
    use engine_resource::settings::SETTINGS;
    use engine_world::UPDATE_SYSTEMS;

    #[test]
    fn priority_settings_match_the_systems_that_run_as_tasks() {
        let keys = SETTINGS.iter().filter_map(|it| it.key.strip_prefix("tasks.priorities."));
        assert_eq!(keys.collect::<Vec<_>>(), UPDATE_SYSTEMS, "add a row, or take one away");
    }
}
