//! The application: a game booted, its frames, its end. The order of a frame is here and nowhere
//! else; what each part does is in the layers below.

pub mod confinement;
pub mod crash;
mod desk;
pub mod earlier;
mod figures;
mod game;
pub mod given;
pub mod kinds;
mod measures;
pub mod output_files;
mod play;
mod play_access;
pub mod progress;
pub mod record;
mod redraws;
pub mod resources;
mod save_folder;
mod screen;
mod tape;
pub mod testing;
mod tools;
mod tuning;
mod windows;

use crate::engine::{Build, Engine, Start};
use crate::foundation::sjson::Tree;
use crate::foundation::tasks::Pool;
use crate::foundation::{Error, memory, profile};
use crate::resource::project::{NoScript, Project};
use crate::resource::settings::Settings;
use crate::resource::store::Store;
use crate::resource::watch::Watch;
use crate::script::{Config, Report, Value, Vm, modules};
use crate::system::sound::{Destination, Sounds};
use crate::system::time_step::PolicyWord;
use crate::system::window::{Change, Fullscreen, Vsync, Window, WindowId, title_of};
use crate::{doing, scope};

use figures::Begun;
pub use game::Game;
use given::Given;
pub use measures::Measures;
pub use play::{HEADLESS_STEP, LetIn, Options, Pace, play};
pub use save_folder::save_folder_of;
use save_folder::{game_id, save_folder};
pub use screen::{Choice, Screenshot, Show};
use tools::Tools;

/// What the process says to its caller.
pub mod exit {
    pub const SUCCESS: i32 = 0;
    /// The game, a test or a check failed.
    pub const FAILED: i32 = 1;
    pub const USAGE: i32 = 2;
    /// There was nothing to do: no tests were found.
    pub const NOTHING: i32 = 3;
    /// The engine itself failed.
    pub const ENGINE: i32 = 4;
    /// Nothing failed but screenshots that have nothing to be compared with.
    pub const SNAPSHOT: i32 = 5;
}

/// How a game is opened.
#[derive(Clone, Debug)]
pub struct Opening {
    pub game: Game,
    pub build: Build,
    pub arguments: Vec<String>,
    pub seed: u64,
    pub deterministic: bool,
    /// The boot script, where it is not the one of the settings.
    pub boot: Option<String>,
    /// Keep saves and user settings in memory alone.
    pub forget: bool,
    pub sandbox: bool,
    pub coverage: bool,
    /// Count how often each line of a script runs.
    pub lines: bool,
    /// The compiled resources, where they are compiled already; they are compiled now otherwise.
    pub store: Option<Store>,
    /// Take what changes in the folder while the game is played.
    pub watch: bool,
    /// How many threads work on a frame; as many as there are cores if none.
    pub threads: Option<usize>,
    /// Where its sound goes.
    pub sound: Destination,
}

/// The stretches of a game's code that are called from here.
const STRETCHES: [&str; 6] = ["boot", "init", "update", "render", "on_activate", "shutdown"];

/// A game that is running.
pub struct App {
    vm: Vm,
    watch: Option<Watch>,
    boot: String,
    /// Whether a script was saved that could not be taken, and waits for a mended one.
    waits: bool,
    /// What was said when something that was saved was not taken, beside problems of resources.
    refused: Vec<String>,
    /// What the next frame gets from outside.
    given: Given,
    init_seconds: f64,
    update_seconds: f64,
    /// What had been done when the frame began.
    begun: Begun,
    /// Who looks into it from outside.
    tools: Option<Tools>,
}

impl App {
    /// Opens a game and boots a VM for it; nothing of the game has run yet.
    pub fn open(opening: Opening) -> Result<App, Error> {
        let (project, settings) = (opening.game.project()?, opening.game.settings()?);
        let boot = opening.boot.unwrap_or_else(|| settings.text("boot_script").to_string());
        let save_folder = match opening.forget {
            true => None,
            false => save_folder(&game_id(&settings, &project)?),
        };
        let config = Config {
            memory_limit: (settings.number("limits.lua_memory_mib") as usize) << 20,
            jit: settings.boolean("lua.jit"),
            deterministic: opening.deterministic,
            sandbox: opening.sandbox,
            tests: opening.build == Build::Test,
            coverage: opening.coverage,
            lines: opening.lines,
            ..Config::DEFAULT
        };
        let init_seconds = settings.number("limits.init_seconds");
        let update_seconds = settings.number("limits.update_seconds");
        let store = opening.store.unwrap_or_else(|| opening.game.store());
        let watch = match &opening.game {
            Game::Folder(folder) if opening.watch => resources::watch(folder),
            _ => None,
        };
        let window = window_opening(&settings, &project)?;
        let mut engine = Engine::new(Start {
            project,
            settings,
            store,
            build: opening.build,
            arguments: opening.arguments,
            seed: opening.seed,
            deterministic: opening.deterministic,
            save_folder,
        });
        engine.window = Window::new(&window);
        engine.tasks = Pool::new(opening.threads);
        let checked = opening.build != Build::Release;
        let Engine { settings, store, .. } = &mut engine;
        let (seed, sound) = (opening.seed, &opening.sound);
        engine.sounds = Sounds::new(settings, store, seed, checked, sound)?;
        apply_settings(&mut engine)?;
        figures::begin(opening.build);
        limit_engine_memory(&engine.settings);
        let vm = Vm::new(engine, config).map_err(|report| Error::new(report.to_string()))?;
        let given = Given::default();
        let begun = Begun::default();
        Ok(App {
            vm,
            watch,
            boot,
            waits: false,
            refused: Vec::new(),
            given,
            init_seconds,
            update_seconds,
            begun,
            tools: None,
        })
    }

    /// The VM and, in it, the engine.
    pub fn vm(&mut self) -> &mut Vm {
        &mut self.vm
    }

    /// What devices and the window say before the game starts; nothing in it is news.
    pub fn begin(&mut self, given: Given) {
        let engine = self.vm.engine();
        engine.begin_windows(&given.changes);
        engine.input.begin_frame(given.events);
    }

    /// Runs the boot script, then the game's `init`.
    pub fn start(&mut self) -> Result<(), Box<Report>> {
        let engine = self.vm.engine();
        let found = modules::find(engine, &self.boot);
        if matches!(found, Err(NoScript::Missing { .. }))
            && let Some(words) = engine.project.lacks_boot(&self.boot)
        {
            return Err(Box::new(Report::of_words(words)));
        }
        {
            self.number_strings("boot");
            doing!("When loading:", &self.boot);
            let boot = Value::Text(self.boot.clone());
            self.vm.call_core("boot", &[boot], self.init_seconds)?;
        }
        self.call("init", &[], self.init_seconds)?;
        self.vm.collect_start();
        Ok(())
    }

    /// Has the next frame get something from outside.
    pub fn give(&mut self, given: Given) {
        self.given.append(given);
    }

    /// Plays one frame, which took `measured` seconds: input, packages and new resources, what
    /// tools ask, the clock, `update`, `render`, the collector. [`App::end_frame`] ends it.
    pub fn frame(&mut self, measured: f64) -> Result<(), Box<Report>> {
        profile::begin_frame();
        self.begin_figures();
        self.vm.engine().input.pass(measured);
        let played = self.play_frame(measured);
        if played.is_err() {
            self.end_frame();
        }
        played
    }

    fn play_frame(&mut self, measured: f64) -> Result<(), Box<Report>> {
        self.begin_with_what_is_new()?;
        let engine = self.vm.engine();
        let delta = engine.time_step.step(measured);
        engine.frame.index += 1;
        engine.frame.delta = delta;
        engine.frame.total += delta;
        engine.input.advance_motors(delta, measured);
        engine.workers.begin_frame(engine.frame.index);
        self.note_step(measured);
        {
            scope!("update");
            self.call("update", &[Value::Number(delta)], self.update_seconds)?;
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

    /// Has the game draw the frame that it stands in once more. Nothing is pressed any more in it,
    /// and no time passes.
    pub fn draw_again(&mut self) -> Result<(), Box<Report>> {
        self.vm.engine().input.begin_frame(Vec::new());
        self.call("render", &[], self.update_seconds)?;
        self.vm.engine().finish_unseen_frame();
        Ok(())
    }

    fn begin_with_what_is_new(&mut self) -> Result<(), Box<Report>> {
        {
            scope!("input");
            self.take_given()?;
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

    /// Sound goes on. What is heard keeps to the clock, whatever the game makes of a frame's time;
    /// a run that must repeat keeps to its own steps.
    fn step_sound(&mut self, measured: f64) {
        scope!("sound");
        let engine = self.vm.engine();
        engine.move_linked_voices();
        // A game that stood still is not followed by as much sound at once.
        let seconds = if engine.deterministic { engine.frame.delta } else { measured.min(1.0) };
        engine.sounds.step(seconds.max(0.0), engine.frame.index);
    }

    /// The devices and the windows are as they are now; the game hears of the focus, and which
    /// windows are to be closed.
    fn take_given(&mut self) -> Result<(), Box<Report>> {
        let Given { events, changes } = std::mem::take(&mut self.given);
        let engine = self.vm.engine();
        let focused = engine.windows.take_lost_focus() | engine.has_focus();
        engine.begin_windows(&changes);
        engine.input.begin_frame(events);
        let (now, closing) = (engine.has_focus(), engine.windows.closing());
        let window = &mut engine.window;
        let asked = std::mem::take(&mut window.asked_to_close) || window.closing;
        let gone = changes.contains(&Change::Gone);
        if now != focused {
            self.call("on_activate", &[Value::Boolean(now)], self.update_seconds)?;
        }
        for window in closing {
            self.window_close_requested(window)?;
        }
        if gone {
            // There is nothing left that could stay open.
            self.vm.engine().quit.get_or_insert(exit::SUCCESS);
        } else if asked {
            self.close_requested()?;
        }
        Ok(())
    }

    /// The player asks the game to end: whether it does, by its `on_close`.
    pub fn close_requested(&mut self) -> Result<bool, Box<Report>> {
        doing!("When calling:", "on_close");
        let answer = self.vm.call_core("on_close", &[], self.update_seconds)?;
        let ends = answer == Value::Boolean(true);
        if ends {
            self.vm.engine().quit.get_or_insert(exit::SUCCESS);
        }
        Ok(ends)
    }

    /// The player asks to close a window beside the main one: whether that is so, by the game's
    /// `on_close`. Its handle stays.
    fn window_close_requested(&mut self, window: WindowId) -> Result<(), Box<Report>> {
        let known = self.vm.engine().windows.slots().get(window.0);
        if known.is_none_or(|window| window.shut) {
            // The game closed it when it was asked for another.
            return Ok(());
        }
        doing!("When calling:", "on_close");
        let number = Value::Number(window.0.to_number());
        let answer = self.vm.call_core("on_close", &[number], self.update_seconds)?;
        if answer == Value::Boolean(true) {
            self.vm.engine().windows.shut(window);
        }
        Ok(())
    }

    /// Calls the game's `shutdown`.
    pub fn shutdown(&mut self) -> Result<(), Box<Report>> {
        self.call("shutdown", &[], self.update_seconds)
    }

    fn call(&mut self, name: &str, arguments: &[Value], seconds: f64) -> Result<(), Box<Report>> {
        doing!("When calling:", name);
        self.number_strings(name);
        self.vm.call_core(name, arguments, seconds).map(|_| ())
    }

    /// Begins a stretch of the game's code: what was before it, and not the game's, has no part in
    /// the order of its tables.
    fn number_strings(&mut self, name: &str) {
        let frame = self.vm.engine().frame.index as u32;
        let place = STRETCHES.iter().position(|known| *known == name);
        let place = place.expect("every callback is in the list") as u32;
        self.vm.number_strings(1 + frame.wrapping_mul(STRETCHES.len() as u32).wrapping_add(place));
    }

    /// The exit code, once the game has asked to end.
    pub fn quit(&mut self) -> Option<i32> {
        self.vm.engine().quit
    }
}

/// The window that the settings ask for.
fn window_opening(
    settings: &Settings,
    project: &Project,
) -> Result<crate::system::window::Opening, Error> {
    let names = [settings.text("window.title"), settings.text("name")];
    let folder = project.folder_name();
    let title = names.into_iter().find(|text| !text.is_empty()).unwrap_or(&folder);
    let word = |key: &str| settings.text(key);
    let known = "a test holds that the settings' words are the window's";
    Ok(crate::system::window::Opening {
        title: title_of(title),
        width: settings.number("window.width") as u32,
        height: settings.number("window.height") as u32,
        fullscreen: Fullscreen::of(word("window.fullscreen")).expect(known),
        vsync: Vsync::of(word("window.vsync")).expect(known),
        resizable: settings.boolean("window.resizable"),
        monitor: settings.number("window.monitor") as usize,
        ..crate::system::window::Opening::default()
    })
}

fn apply_settings(engine: &mut Engine) -> Result<(), Error> {
    apply_collection(engine);
    apply_priorities(engine)?;
    apply_time_step(engine)
}

/// The limit is that of the process: one game is played at a time.
fn limit_engine_memory(settings: &Settings) {
    // Without the allocator that counts there is nothing to compare with it.
    if memory::is_installed() {
        let mib = settings.number("limits.engine_memory_mib");
        memory::limit::set_limit(Some((mib as usize) << 20));
    }
}

fn apply_collection(engine: &mut Engine) {
    engine.collection.milliseconds = engine.settings.number("collector.milliseconds");
    engine.collection.ceiling_mib = engine.settings.number("collector.ceiling_mib");
}

fn apply_priorities(engine: &mut Engine) -> Result<(), Error> {
    for system in crate::world::SYSTEMS {
        let priority = engine.settings.number(&format!("tasks.priorities.{system}"));
        if priority.fract() != 0.0 {
            let words = "must be a whole number, got";
            return Err(crate::error!(
                "settings.sjson: 'tasks.priorities.{system}' {words} {priority}"
            ));
        }
        engine.tasks.set_priority(system, priority as u8);
    }
    Ok(())
}

fn apply_time_step(engine: &mut Engine) -> Result<(), Error> {
    let fault = |words: &str| crate::error!("settings.sjson: 'time_step': {words}");
    let mut words = Vec::new();
    for item in engine.settings.list("time_step") {
        words.push(match item {
            Tree::String(name) => PolicyWord::Name(name),
            Tree::Number(number) => PolicyWord::Number(*number),
            _ => return Err(fault("only names and numbers can stand in it")),
        });
    }
    engine.time_step.set(&words).map_err(|words| fault(&words))
}

#[cfg(test)]
mod tests {
    use crate::resource::settings::SETTINGS;
    use crate::world::SYSTEMS;

    #[test]
    fn every_system_that_runs_as_a_task_has_a_setting_for_its_priority_and_nothing_else_has() {
        let keys = SETTINGS.iter().filter_map(|it| it.key.strip_prefix("tasks.priorities."));
        assert_eq!(keys.collect::<Vec<_>>(), SYSTEMS, "add a row, or take one away");
    }
}
