//! A game's resources on their way into the engine: compiled when the game is opened, and again, by
//! the watcher, whenever a file changes while it is played.

use super::App;
use super::kinds::KINDS;
use super::progress::Progress;
use crate::engine::{Build, Engine};
use crate::foundation::hash::IdString64;
use crate::foundation::{Error, fault, log};
use crate::resource::compile::{self, Compiled, Target, data_folder};
use crate::resource::index::Index;
use crate::resource::name::ResourceName;
use crate::resource::store::{Data, Store};
use crate::resource::watch::Watch;
use crate::script::{Report, Value};
use crate::system::platform;
use crate::world::physics::PHYSICS_PROPERTIES;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The engine's own folder in a game's folder.
pub const FOLDER: &str = ".engine";

/// The folder of a game's compiled data for development: its own, or, where nothing can be written
/// there, one that the user's cache has for it. It is there, and can be written.
pub fn data_of(root: &Path, platform: &str) -> Result<PathBuf, Error> {
    let own = data_folder(root, platform);
    compile::refuse_links(root, &own)?;
    let Err(reason) = make_writable(&own) else { return Ok(own) };
    let real = fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
    let name = IdString64::new(&real.to_string_lossy()).to_string();
    let cache = platform::cache_folder().map(|cache| cache.join("engine").join(name));
    let cache = cache.map(|cache| cache.join("data").join(platform));
    match cache.filter(|cache| make_writable(cache).is_ok()) {
        Some(cache) => Ok(cache),
        None => Err(crate::error!(
            "nothing can be written into {} ({reason}), nor into a folder for caches of the user's",
            own.display()
        )),
    }
}

/// Makes a folder, if need be, and finds whether files can be made in it.
fn make_writable(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let probe = folder.join(format!(".{}", std::process::id()));
    match File::create_new(&probe) {
        // What an earlier process of this number left.
        Err(reason) if reason.kind() == io::ErrorKind::AlreadyExists => {}
        made => _ = made?,
    }
    fs::remove_file(probe)
}

/// Compiles what changed in a game's folder and opens it. What cannot be compiled is told, all of
/// it; where nothing can be compiled, scripts are read as they are, and whoever asks for something
/// else hears why.
pub fn open(root: &Path) -> Store {
    let opened = data_of(root, platform::NAME).and_then(|data| {
        if data != data_folder(root, platform::NAME) {
            let shown = data.display();
            log::info(&format!("the game's folder is not written to: its data is in {shown}"));
        }
        Ok((compile_into(root, &data)?, data))
    });
    match opened {
        Ok((compiled, data)) => {
            for problem in &compiled.problems {
                log::error(problem);
            }
            tell_what_is_old(&compiled.index);
            Store::new(compiled.index, Data::Folder(data, KINDS))
        }
        Err(error) => {
            let words = format!("resources could not be compiled: {}", error.message);
            log::warning(&words);
            Store::without(words)
        }
    }
}

/// Says of which files that cannot be compiled older data is used.
fn tell_what_is_old(index: &Index) {
    let failed = index.failed.iter().map(|(name, _)| name);
    let old: Vec<_> = failed.filter(|name| !index.variants(name).is_empty()).collect();
    let Some(first) = old.first() else { return };
    let others = match old.len() - 1 {
        0 => String::new(),
        count => format!(", and of {count} more,"),
    };
    log::warning(&format!(
        "of {first}{others} what was compiled before is used until it is mended"
    ));
}

fn compile_into(root: &Path, data: &Path) -> Result<Compiled, Error> {
    let target = Target {
        root,
        data: data.to_path_buf(),
        kinds: KINDS,
        source_platform: platform::NAME,
        release: false,
        exclude: &[],
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    // The first time that a large game is opened takes a while.
    let progress = Progress::new("compiling");
    let compiled = compile::compile(&target, &|done, all| progress.show(done, all));
    progress.clear();
    compiled
}

/// Compiles what changed in a game's folder since the last time.
pub fn compile_again(root: &Path) -> Result<Compiled, Error> {
    compile_into(root, &data_of(root, platform::NAME)?)
}

/// Opens what was compiled just before, by another process.
pub fn opened(root: &Path) -> Store {
    match data_of(root, platform::NAME) {
        Ok(data) => Store::new(compile::read_index(&data), Data::Folder(data, KINDS)),
        Err(error) => Store::without(error.message),
    }
}

/// The files that could not be compiled when an index was made, and could for a newer one. Scripts
/// are not among them: of those, a reload tells.
fn mended(before: &Index, now: &Index) -> Vec<String> {
    let of_others = before.failed.iter().map(|(name, _)| name).filter(|name| name.kind != "lua");
    let again = of_others.filter(|name| now.failure(name).is_none());
    again.filter_map(|name| Some(now.variants(name).first()?.files[0].path.clone())).collect()
}

/// Watches a game's folder; where that cannot be, says so and plays on without.
pub fn watch(root: &Path) -> Option<Watch> {
    let data = data_of(root, platform::NAME).map_err(|error| error.message);
    match data.and_then(|data| Watch::start(root, &data, platform::NAME, KINDS)) {
        Ok(watch) => Some(watch),
        Err(reason) => {
            log::warning(&format!("saved files will not be noticed: {reason}"));
            None
        }
    }
}

/// A system's reloading of what changed.
type Reload = fn(&mut Engine, &[ResourceName]);

/// What is reloaded when resources change, in this order; scripts come after it.
const RELOADS: [(&str, Reload); 8] = [
    ("sounds", |engine, changed| engine.sounds.reload(&mut engine.store, changed)),
    ("fonts", |engine, changed| engine.text.reload(&mut engine.store, changed)),
    ("pictures, materials and models", Engine::reload_pictures),
    ("particles", Engine::reload_particles),
    ("physics", |engine, changed| {
        if changed.iter().any(|name| name.kind == "model") {
            engine.physics.solids.clear();
        }
        if changed.iter().any(|name| name.kind == PHYSICS_PROPERTIES.name) {
            engine.reload_physics_properties();
        }
    }),
    ("units", |engine, changed| {
        if changed.iter().any(|name| name.kind == "unit") {
            engine.units.resources.clear();
        }
    }),
    ("sprites and tile maps", |engine, changed| {
        engine.tilemaps.reload(changed);
        engine.reload_flat(changed);
    }),
    ("levels", |engine, changed| {
        if changed.iter().any(|name| name.kind == "level") {
            engine.levels.resources.clear();
        }
    }),
];

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
        self.swap_and_tell(compiled)
    }

    /// Waits for the next frame at most this long. What is compiled meanwhile is swapped in at
    /// once, so that the frame begins with it and need not wait for that.
    pub fn wait_for_files(&mut self, limit: Duration) -> Result<(), Box<Report>> {
        let Some(watch) = &self.watch else {
            std::thread::sleep(limit);
            return Ok(());
        };
        match watch.wait(limit) {
            Some(compiled) => self.swap_and_tell(vec![compiled]).map(|_| ()),
            None => Ok(()),
        }
    }

    fn swap_and_tell(&mut self, compiled: Vec<Compiled>) -> Result<bool, Box<Report>> {
        let errors = log::error_count();
        let swapped = self.swap(compiled)?;
        self.show_refused(log::errors_since(errors));
        Ok(swapped)
    }

    /// What is refused is told where it is looked at, until it is mended: files that cannot be
    /// compiled, new or not, and what else was said now, such as of scripts.
    fn show_refused(&mut self, said: Vec<String>) {
        let mut told = self.watch.as_ref().map_or_else(Vec::new, |watch| watch.told.clone());
        let others: Vec<String> = said.into_iter().filter(|words| !told.contains(words)).collect();
        if !others.is_empty() || !self.waits {
            self.refused = others;
        }
        told.extend(self.refused.iter().cloned());
        match told.is_empty() {
            true => self.vm.engine().hide_refusals(),
            false => self.vm.engine().show_refusals(told),
        }
    }

    /// Tells those problems of a compile that are not told yet.
    fn tell_new_problems(&mut self, compiled: &Compiled) {
        let Some(watch) = &mut self.watch else { return };
        let told: HashSet<&String> = watch.told.iter().collect();
        for problem in compiled.problems.iter().filter(|problem| !told.contains(problem)) {
            log::error(problem);
        }
        watch.told.clone_from(&compiled.problems);
    }

    fn swap(&mut self, compiled: Vec<Compiled>) -> Result<bool, Box<Report>> {
        let tuned = compiled.iter().any(|compiled| compiled.settings) && self.take_settings();
        let mut changed = self.vm.engine().store.apply_preferences();
        for compiled in compiled {
            self.tell_new_problems(&compiled);
            let mended = mended(self.vm.engine().store.index(), &compiled.index);
            mended.iter().for_each(|path| log::info(&format!("{path} is mended")));
            let names: Vec<_> = compiled.changed.iter().chain(&compiled.removed).cloned().collect();
            let store = &mut self.vm.engine().store;
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
    pub fn reload(&mut self, changed: &[ResourceName]) -> Result<(), Box<Report>> {
        let (mut files, mut gone) = (Vec::new(), Vec::new());
        let engine = self.vm.engine();
        for (what, reload) in RELOADS {
            // A fault costs what is reloaded there, and the game goes on.
            if let Err(error) = fault::contain(|| reload(engine, changed)) {
                log::error(&format!("{what} may be as before: {error}"));
            }
        }
        let (release, store) = (engine.build == Build::Release, &mut engine.store);
        for name in changed.iter().filter(|name| name.kind == "lua") {
            let path = store.path(name);
            let is_gone = path.is_none();
            let path = path.unwrap_or_else(|| name.to_string());
            let chunk = store.handed_out(name).cloned().unwrap_or(path);
            if is_gone {
                gone.push(Value::Text(chunk));
                continue;
            }
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
        let arguments = [Value::List(files), Value::List(names), Value::List(gone)];
        let waits = self.vm.call_core("swap", &arguments, self.update_seconds)?;
        self.waits = waits == Value::Boolean(true);
        Ok(())
    }
}
