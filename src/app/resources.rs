//! A game's resources on their way into the engine: compiled when the game is opened, and again, by
//! the watcher, whenever a file changes while it is played.

use super::App;
use super::kinds::KINDS;
use crate::engine::Build;
use crate::foundation::{Error, log};
use crate::resource::compile::{self, Compiled, Target, data_folder};
use crate::resource::name::ResourceName;
use crate::resource::store::{Data, Store};
use crate::resource::watch::Watch;
use crate::script::{Report, Value};
use crate::system::platform;
use crate::world::physics::PHYSICS_PROPERTIES;
use std::path::Path;

/// Compiles what changed in a game's folder and opens it. What cannot be compiled is told, all of
/// it; where nothing can be written, scripts are read as they are and the rest is missing.
pub fn open(root: &Path) -> Store {
    let data = data_folder(root, platform::NAME);
    if let Err(reason) = std::fs::create_dir_all(&data) {
        log::warning(&format!("resources cannot be compiled into {}: {reason}", data.display()));
        return Store::default();
    }
    let target = Target {
        root,
        data: data.clone(),
        kinds: KINDS,
        source_platform: platform::NAME,
        release: false,
        exclude: &[],
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    match compile::compile(&target, &|_, _| {}) {
        Ok(compiled) => {
            tell_problems(&compiled);
            Store::new(compiled.index, Data::Folder(data))
        }
        Err(error) => {
            log::warning(&format!("resources could not be compiled: {}", error.message));
            Store::default()
        }
    }
}

/// Compiles what changed in a game's folder since the last time.
pub fn compile_again(root: &Path) -> Result<Compiled, Error> {
    let target = Target {
        root,
        data: data_folder(root, platform::NAME),
        kinds: KINDS,
        source_platform: platform::NAME,
        release: false,
        exclude: &[],
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    compile::compile(&target, &|_, _| {})
}

/// Opens what was compiled just before, by another process.
pub fn opened(root: &Path) -> Store {
    let data = data_folder(root, platform::NAME);
    Store::new(compile::read_index(&data), Data::Folder(data))
}

fn tell_problems(compiled: &Compiled) {
    for problem in &compiled.problems {
        log::error(problem);
    }
}

/// Watches a game's folder; where that cannot be, says so and plays on without.
pub fn watch(root: &Path) -> Option<Watch> {
    match Watch::start(root, platform::NAME, KINDS) {
        Ok(watch) => Some(watch),
        Err(reason) => {
            log::warning(&format!("saved files will not be noticed: {reason}"));
            None
        }
    }
}

impl App {
    /// Takes in the packages that were loaded since the last frame; in deterministic runs, all that
    /// were begun before it. What cannot be loaded ends a released game; one in development goes
    /// on, for its data can be mended while it is played.
    pub fn take_packages(&mut self) -> Result<(), Box<Report>> {
        let engine = self.vm.engine();
        let problems = engine.packages.take_loaded(&mut engine.store, engine.deterministic);
        if engine.build != Build::Development
            && let Some(first) = problems.first()
        {
            let contexts = first.contexts.clone();
            let words: Vec<_> = problems.iter().map(|problem| &problem.message[..]).collect();
            let message = words.join("\n");
            return Err(Box::new(Report { contexts, message, ..Report::default() }));
        }
        for problem in problems {
            log::error(&problem.to_string());
        }
        Ok(())
    }

    /// Whether files changed since this, or a swap, was last asked for; what they are is forgotten.
    pub fn has_news(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.changes().count() > 0)
    }

    /// Swaps in what was compiled since the last frame, and what new preferences choose: whether
    /// that was anything.
    pub fn swap_resources(&mut self) -> Result<bool, Box<Report>> {
        let compiled: Vec<Compiled> =
            self.watch.as_ref().map_or_else(Vec::new, |watch| watch.changes().collect());
        if compiled.is_empty() && !self.vm.engine().store.will_prefer() {
            return Ok(false);
        }
        let errors = log::error_count();
        let swapped = self.swap(compiled)?;
        // What is refused is told where it is looked at, until it is mended.
        let refused = log::errors_since(errors);
        if !refused.is_empty() {
            self.vm.engine().show_refusals(refused);
        } else if !self.waits {
            self.vm.engine().hide_refusals();
        }
        Ok(swapped)
    }

    fn swap(&mut self, compiled: Vec<Compiled>) -> Result<bool, Box<Report>> {
        let tuned = compiled.iter().any(|compiled| compiled.settings) && self.take_settings();
        let store = &mut self.vm.engine().store;
        let mut changed = store.apply_preferences();
        for compiled in compiled {
            tell_problems(&compiled);
            let names: Vec<_> = compiled.changed.iter().chain(&compiled.removed).cloned().collect();
            store.replace(compiled.index, &names);
            changed.extend(names);
        }
        if changed.is_empty() {
            return Ok(tuned);
        }
        changed.sort();
        changed.dedup();
        self.reload(&changed).map(|()| true)
    }

    /// Has the scripts among `changed` reloaded, and the game told of everything that is new.
    pub(super) fn reload(&mut self, changed: &[ResourceName]) -> Result<(), Box<Report>> {
        let mut files = Vec::new();
        let engine = self.vm.engine();
        engine.sounds.reload(&mut engine.store, changed);
        engine.text.reload(&mut engine.store, changed);
        engine.reload_pictures(changed);
        engine.reload_particles(changed);
        if changed.iter().any(|name| name.kind == "model") {
            engine.physics.solids.clear();
        }
        if changed.iter().any(|name| name.kind == PHYSICS_PROPERTIES.name) {
            engine.reload_physics_properties();
        }
        if changed.iter().any(|name| name.kind == "unit") {
            engine.units.resources.clear();
        }
        engine.tilemaps.reload(changed);
        if changed.iter().any(|name| name.kind == "level") {
            engine.levels.resources.clear();
        }
        let (release, store) = (engine.build == Build::Release, &mut engine.store);
        for name in changed.iter().filter(|name| name.kind == "lua") {
            let Some(path) = store.path(name) else { continue };
            let chunk = store.handed_out(name).cloned().unwrap_or(path);
            match store.read(name) {
                Ok(bytes) => files.push(Value::Table(vec![
                    ("chunk".to_string(), Value::Text(chunk)),
                    ("text".to_string(), Value::Text(String::from_utf8_lossy(&bytes).into_owned())),
                ])),
                Err(error) if release => {
                    return Err(Box::new(Report::of_words(error.to_string())));
                }
                Err(error) => log::error(&error.to_string()),
            }
        }
        let names = changed.iter().map(|name| Value::Text(name.to_string())).collect();
        let arguments = [Value::List(files), Value::List(names)];
        let waits = self.vm.call_core("swap", &arguments, self.update_seconds)?;
        self.waits = waits == Value::Boolean(true);
        Ok(())
    }
}
