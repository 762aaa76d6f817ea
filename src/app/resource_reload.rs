//! Compilation and hot reload of a game's resources: they are compiled when the game is opened, and
//! again by the watcher when a file changes while the game is played.

use super::App;
use super::progress::ProgressLine;
use super::resource_kinds::KINDS;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::hash::IdString64;
use engine_foundation::{DEVELOPMENT, Error, log, panic};
use engine_platform as platform;
use engine_resource::compile::{self, CompileResult, CompileTarget};
use engine_resource::glob::Glob;
use engine_resource::index::ResourceIndex;
use engine_resource::reload_steps::{ChangedResources, ReloadStep};
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::store::{DataSource, ResourceStore};
use engine_resource::watcher::ProjectWatcher;
use engine_runtime::{BuildMode, Engine, RestartOnSave};
use engine_script::resource::LUA;
use engine_script::{ErrorReport, ScriptValue, syntax_check};
use engine_sound::AudioDestination;
use engine_textures::SHOWN_AS_PLACEHOLDER;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the engine's own folder inside a game's folder.
pub use engine_foundation::own_folder::NAME as FOLDER;

/// Returns the name of the data that is compiled for this platform from the variants of a platform.
pub fn data_name(source_platform: &str) -> String {
    match source_platform == platform::NAME {
        true => source_platform.to_string(),
        false => format!("{}-of-{source_platform}", platform::NAME),
    }
}

/// Returns the folder of a game's compiled data for development. `name` is that of the data: a
/// platform, or what [`data_name`] returns. It is inside the game's folder, or
/// in the user's cache if the game's folder is read-only. The folder exists and is writable.
pub fn data_of(root: &Path, name: &str) -> Result<PathBuf, Error> {
    work_folder(root, "data", name)
}

/// Returns the folder of a game's data compiled for a release, which differs from the development
/// data. It is inside the game's folder or in the user's cache, as that of [`data_of`].
pub fn release_data_of(root: &Path, name: &str) -> Result<PathBuf, Error> {
    work_folder(root, "release", name)
}

/// Logs the folder of the data if it is not inside the game's folder.
pub fn report_data_folder(root: &Path, data: &Path) {
    if !data.starts_with(root.join(FOLDER)) {
        let shown = data.display();
        log::info(&format!("the game's folder is not written to: its data is in {shown}"));
    }
}

/// Returns the folder of a purpose inside of the engine's own folder, or inside of the game's
/// folder in the user's cache.
fn work_folder(root: &Path, purpose: &str, name: &str) -> Result<PathBuf, Error> {
    let own = root.join(FOLDER).join(purpose).join(name);
    compile::refuse_links(root, &own)?;
    let Err(reason) = make_writable(&own) else { return Ok(own) };
    let real = fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
    let game = IdString64::new(&real.to_string_lossy()).to_string();
    let cache = platform::cache_folder().map(|cache| cache.join("engine").join(game));
    let cache = cache.map(|cache| cache.join(purpose).join(name));
    match cache.filter(|cache| make_writable(cache).is_ok()) {
        Some(cache) => Ok(cache),
        None => Err(engine_foundation::error!(
            "nothing can be written into {} ({reason}), or into the user's cache folder",
            own.display()
        )),
    }
}

/// Creates a folder if it is missing, and checks that files can be created in it.
pub fn make_writable(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let probe = folder.join(format!(".{}", std::process::id()));
    match File::create_new(&probe) {
        // A leftover of an earlier process with the same id.
        Err(reason) if reason.kind() == io::ErrorKind::AlreadyExists => {}
        created => _ = created?,
    }
    fs::remove_file(probe)
}

/// Compiles changed files of a game's folder, of the variants of a platform, and opens the result.
/// All compile errors are reported. If nothing can be compiled, scripts are read from their
/// sources, and requests for other resources return the reason.
/// Files that `exclude` matches are left out.
pub fn open(root: &Path, source_platform: &str, exclude: &[Glob]) -> ResourceStore {
    if !DEVELOPMENT {
        return ResourceStore::without("this executable only plays bundles".to_string());
    }
    let name = data_name(source_platform);
    let opened = data_of(root, &name).and_then(|data| {
        report_data_folder(root, &data);
        Ok((compile_into(root, &data, source_platform, exclude)?, data))
    });
    match opened {
        Ok((compiled, data)) => {
            for problem in &compiled.problems {
                log::error(problem);
            }
            warn_of_stale_data(&compiled.index);
            ResourceStore::new(compiled.index, DataSource::Folder(data, KINDS))
        }
        Err(error) => {
            let message = format!("resources could not be compiled: {}", error.message);
            log::warning(&message);
            ResourceStore::without(message)
        }
    }
}

/// Number of resources with old data that a message names.
const STALE_SHOWN: usize = 5;

/// Reports once that older data is used for files that cannot be compiled, because errors of the
/// game that follow can come from it.
fn warn_of_stale_data(index: &ResourceIndex) {
    let failed = index.failed.iter().map(|(name, _)| name);
    let old: Vec<_> = failed.filter(|name| !index.variants(name).is_empty()).collect();
    if old.is_empty() {
        return;
    }
    let shown = old.iter().take(STALE_SHOWN);
    let mut names: Vec<String> = shown.map(|name| name.to_string()).collect();
    if old.len() > STALE_SHOWN {
        names.push(format!("{} more", old.len() - STALE_SHOWN));
    }
    log::warning(&format!(
        "old data is used for {}: it was compiled before the errors above, and errors that follow \
         can come from it",
        names.join(", ")
    ));
}

fn compile_into(
    root: &Path,
    data: &Path,
    source_platform: &str,
    exclude: &[Glob],
) -> Result<CompileResult, Error> {
    let target = CompileTarget {
        root,
        data: data.to_path_buf(),
        kinds: KINDS,
        source_platform,
        release: false,
        exclude,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    // The first compilation of a large game takes long.
    let progress = ProgressLine::new("compiling");
    let compiled = compile::compile(&target, &|done, all| progress.show(done, all));
    progress.clear();
    compiled
}

/// Compiles the files of a game's folder that changed since the last compilation.
pub fn recompile(root: &Path, source_platform: &str) -> Result<CompileResult, Error> {
    compile_into(root, &data_of(root, &data_name(source_platform))?, source_platform, &[])
}

/// Opens resources that another process has just compiled.
pub fn open_compiled(root: &Path, source_platform: &str) -> ResourceStore {
    match data_of(root, &data_name(source_platform)) {
        Ok(data) => ResourceStore::new(compile::read_index(&data), DataSource::Folder(data, KINDS)),
        Err(error) => ResourceStore::without(error.message),
    }
}

/// Returns the files that failed to compile in the index `before` and compile in `now`. Scripts are
/// not included, because their reload is reported separately.
fn repaired_files(before: &ResourceIndex, now: &ResourceIndex) -> Vec<String> {
    let of_others = before.failed.iter().map(|(name, _)| name).filter(|name| name.kind != LUA.name);
    let again = of_others.filter(|name| now.failure(name).is_none());
    again.filter_map(|name| Some(now.variants(name).first()?.files[0].path.clone())).collect()
}

/// Returns the files that failed to compile with one of these messages, and have older data. The
/// reload of scripts is reported separately.
fn kept_files(index: &ResourceIndex, problems: &HashSet<&String>) -> Vec<String> {
    let failed = index.failed.iter().filter(|(name, message)| {
        name.kind != LUA.name && problems.contains(message) && !index.variants(name).is_empty()
    });
    failed.map(|(name, _)| index.variants(name)[0].files[0].path.clone()).collect()
}

/// Returns the pattern of the file to which the sound of a run is written, if it is in the game's
/// folder. It is not a resource of this run, because it is incomplete until the run ends.
pub fn sound_output(root: &Path, sound: &AudioDestination) -> Vec<Glob> {
    let AudioDestination::File(file) = sound else { return Vec::new() };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let inside = || {
        let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        let root = fs::canonicalize(root).ok()?;
        let path = folder.strip_prefix(root).ok()?.join(file.file_name()?);
        let path = path.to_str()?.replace('\\', "/");
        // A pattern would match other files as well.
        Glob::new(&path).ok().filter(|_| !path.contains(['*', '?']))
    };
    inside().into_iter().collect()
}

/// Watches a game's folder, except the files that `exclude` matches. If that is impossible, warns,
/// and the game runs without hot reload.
pub fn watch(root: &Path, source_platform: &str, exclude: Vec<Glob>) -> Option<ProjectWatcher> {
    if !DEVELOPMENT {
        return None;
    }
    let data = data_of(root, &data_name(source_platform)).map_err(|error| error.message);
    match data.and_then(|data| {
        ProjectWatcher::start(root, &data, source_platform, KINDS, syntax_check::problem, exclude)
    }) {
        Ok(watch) => Some(watch),
        Err(reason) => {
            log::warning(&format!("saved files will not be noticed: {reason}"));
            None
        }
    }
}

/// A system's function that reloads changed resources.
type ReloadFn = fn(&mut Engine, &ChangedResources);

/// The systems that reload changed resources, in this order. Scripts are reloaded after them.
const RELOADS: [(&str, ReloadFn); 12] = [
    ("sounds", |engine, changed| engine.devices.sounds.reload(&mut engine.assets.store, changed)),
    ("fonts", |engine, changed| engine.assets.text.reload(&mut engine.assets.store, changed)),
    ("pictures, materials and models", Engine::reload_textures_and_materials),
    ("the render config", |engine, changed| {
        engine.drawing.reload_render_config(&mut engine.assets, changed);
    }),
    ("particles", |engine, changed| engine.worlds.reload_particles(&mut engine.assets, changed)),
    ("units", |engine, changed| {
        if changed.any(ReloadStep::UnitResources) {
            engine.worlds.units.resources.clear();
        }
    }),
    ("components of units", Engine::reload_components),
    ("grids of tile maps", |engine, _| engine.renew_tilemap_grids()),
    ("levels", |engine, changed| {
        if changed.any(ReloadStep::Levels) {
            engine.worlds.levels.resources.clear();
        }
    }),
    ("shading environments", Engine::reload_shading),
    ("navigation meshes", Engine::reload_navigation),
    ("graphs", Engine::reload_flow),
];

impl App {
    /// Adds the packages loaded since the last frame to the store. A deterministic run waits for
    /// all packages that began to load before this frame. A failed package ends a released game. In
    /// development the game continues, because its data can be fixed while it is played.
    pub fn take_packages(&mut self) -> Result<(), Box<ErrorReport>> {
        let engine = self.vm.engine();
        let problems =
            engine.assets.packages.take_loaded(&mut engine.assets.store, engine.game.deterministic);
        if engine.game.build != BuildMode::Development
            && let Some(first) = problems.first()
        {
            let contexts = first.contexts.clone();
            let messages: Vec<_> = problems.iter().map(|problem| &problem.message[..]).collect();
            let message = messages.join("\n");
            return Err(Box::new(ErrorReport { contexts, message, ..ErrorReport::default() }));
        }
        for problem in problems {
            log::error(&problem.to_string());
        }
        Ok(())
    }

    /// Returns true if files changed since the last call of this function or the last swap. The
    /// changes are discarded.
    pub fn has_pending_changes(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.changes().count() > 0)
    }

    /// Swaps in resources compiled since the last frame, and variants selected by new preferences.
    /// Returns true if anything was swapped.
    pub fn swap_resources(&mut self) -> Result<bool, Box<ErrorReport>> {
        let compiled: Vec<CompileResult> =
            self.watch.as_ref().map_or_else(Vec::new, |watch| watch.changes().collect());
        if compiled.is_empty() && !self.vm.engine().assets.store.has_pending_preferences() {
            return Ok(false);
        }
        self.swap_and_report(compiled)
    }

    /// Waits at most `limit` for the next frame. Resources compiled during the wait are swapped in
    /// at once, so that the next frame need not spend time on them.
    pub fn wait_for_files(&mut self, limit: Duration) -> Result<(), Box<ErrorReport>> {
        let Some(watch) = &self.watch else {
            std::thread::sleep(limit);
            return Ok(());
        };
        match watch.wait(limit) {
            Some(compiled) => self.swap_and_report(vec![compiled]).map(|_| ()),
            None => Ok(()),
        }
    }

    fn swap_and_report(&mut self, compiled: Vec<CompileResult>) -> Result<bool, Box<ErrorReport>> {
        let errors = log::error_count();
        let swapped = self.swap(compiled);
        let new_errors = log::errors_since(errors);
        self.new_problems = Some(new_errors.clone());
        if swapped.is_err() {
            self.problems_before_error.clone_from(&new_errors);
        }
        let is_refused = !new_errors.is_empty() || self.awaits_fix;
        self.show_refused(new_errors);
        let engine = self.vm.engine();
        if engine.game.restart_on_save == RestartOnSave::Any
            && !is_refused
            && swapped.as_ref().is_ok_and(|swapped| *swapped)
        {
            log::info("a file was saved: the game restarts");
            engine.frame.restart = true;
        }
        swapped
    }

    /// Returns the other errors of the reload that ended with the current error.
    pub(super) fn take_problems_before_error(&mut self) -> Vec<String> {
        std::mem::take(&mut self.problems_before_error)
    }

    /// Returns the errors of the newest reload, or `None` if there was none since the last call.
    pub(super) fn take_new_problems(&mut self) -> Option<Vec<String>> {
        self.new_problems.take()
    }

    /// Returns true if a message about a saved file is still true.
    pub(super) fn is_refused(&self, message: &String) -> bool {
        let reported = self.watch.as_ref().map(|watch| &watch.reported_problems);
        self.refusals.contains(message) || reported.is_some_and(|all| all.contains(message))
    }

    /// Shows refused files in the game's window until they are fixed: files that cannot be
    /// compiled, and new errors such as those of scripts.
    fn show_refused(&mut self, new_errors: Vec<String>) {
        let reported =
            self.watch.as_ref().map_or_else(Vec::new, |watch| watch.reported_problems.clone());
        let others = new_errors.iter().filter(|message| !reported.contains(message));
        let others: Vec<String> = others.cloned().collect();
        if !others.is_empty() || !self.awaits_fix {
            self.refusals = others;
        }
        // A deleted picture has no previous version any more: a checkerboard is shown.
        let is_deletion = |message: &String| message.contains(SHOWN_AS_PLACEHOLDER);
        let keeps_previous = !reported.is_empty() || !self.refusals.iter().all(is_deletion);
        let refused: Vec<String> = self.refusals.iter().cloned().chain(reported).collect();
        self.shown_refusals =
            newest_first(new_errors, std::mem::take(&mut self.shown_refusals), &refused);
        match self.shown_refusals.is_empty() {
            true => self.vm.engine().drawing.hide_refusals(),
            false => {
                self.vm.engine().drawing.show_refusals(&self.shown_refusals, keeps_previous);
            }
        }
    }

    /// Reports the problems of a compilation that were not reported before.
    fn report_new_problems(&mut self, compiled: &CompileResult) {
        let Some(watch) = &mut self.watch else { return };
        let reported: HashSet<&String> = watch.reported_problems.iter().collect();
        let is_new = |problem: &&String| !reported.contains(problem);
        let new: HashSet<&String> = compiled.problems.iter().filter(is_new).collect();
        for problem in compiled.problems.iter().filter(is_new) {
            log::error(problem);
        }
        for path in kept_files(&compiled.index, &new) {
            log::info(&format!("{path}: the previous version stays in use until it is fixed"));
        }
        watch.reported_problems.clone_from(&compiled.problems);
    }

    fn swap(&mut self, compiled: Vec<CompileResult>) -> Result<bool, Box<ErrorReport>> {
        let tuned = compiled.iter().any(|compiled| compiled.settings) && self.reload_settings();
        let mut changed = self.vm.engine().assets.store.apply_preferences();
        for compiled in compiled {
            self.report_new_problems(&compiled);
            let repaired = repaired_files(self.vm.engine().assets.store.index(), &compiled.index);
            repaired.iter().for_each(|path| log::info(&format!("{path} is fixed")));
            let names = compiled.changed.iter().chain(&compiled.removed);
            let mut names: Vec<ResourceName> = names.cloned().collect();
            compiled.index.add_old_names(&mut names);
            let store = &mut self.vm.engine().assets.store;
            store.replace(compiled.index, &names);
            changed.extend(names);
        }
        if changed.is_empty() {
            return Ok(tuned);
        }
        changed.sort_compact();
        changed.dedup();
        self.reload(&changed).map(|()| true)
    }

    /// Reloads the systems' resources and the scripts among `changed`, and reports the changes to
    /// the game.
    pub fn reload(&mut self, changed: &[ResourceName]) -> Result<(), Box<ErrorReport>> {
        let engine = self.vm.engine();
        let resources = ChangedResources::new(changed, KINDS);
        let errors = log::error_count();
        for (system, reload) in RELOADS {
            // A panic affects only this system's reload, and the game continues.
            if let Err(error) = panic::contain(|| reload(engine, &resources)) {
                log::error(&format!("{system} may be unchanged: {error}"));
            }
        }
        let [respawned, levels] = report_existing_objects(engine, &resources, errors);
        let (files, removed) = read_scripts(engine, &resources)?;
        let names = changed.iter().map(|name| ScriptValue::Text(name.to_string())).collect();
        let arguments = [files, names, removed, respawned, levels].map(ScriptValue::List);
        let waits = self.vm.call_core("swap", &arguments, self.update_seconds)?;
        self.awaits_fix = waits == ScriptValue::Boolean(true);
        Ok(())
    }
}

/// Returns all messages of `refused`, each once: those among the new errors first, then those in
/// the order in which they were shown before.
fn newest_first(new: Vec<String>, shown: Vec<String>, refused: &[String]) -> Vec<String> {
    let mut ordered: Vec<String> = Vec::new();
    for message in new.into_iter().chain(shown).chain(refused.iter().cloned()) {
        if refused.contains(&message) && !ordered.contains(&message) {
            ordered.push(message);
        }
    }
    ordered
}

/// Logs which units, levels and tile maps use the changed resources, for developers. `errors` is
/// the number of errors before the reload. Returns the names of the units that the prelude
/// respawns, and of the levels that it updates.
fn report_existing_objects(
    engine: &mut Engine,
    changed: &ChangedResources,
    errors: u64,
) -> [Vec<ScriptValue>; 2] {
    if engine.game.build != BuildMode::Development {
        return Default::default();
    }
    let respawns = engine.game.settings.boolean("reload.respawn");
    if respawns {
        engine.renew_script_tilemaps(changed);
    }
    for note in engine.reload_notes(changed, respawns) {
        log::info(&note);
    }
    if log::error_count() == errors {
        engine.animation_notes(changed).iter().for_each(|note| log::info(note));
    }
    let units = changed.of(ReloadStep::UnitResources);
    let units = units.filter(|name| name.kind == kind_names::UNIT && engine.assets.store.has(name));
    let levels = changed.of(ReloadStep::Levels).filter(|name| engine.assets.store.has(name));
    let text = |name: &ResourceName| ScriptValue::Text(name.name.clone());
    [units.filter(|_| respawns).map(text).collect(), levels.map(text).collect()]
}

/// Returns the changed scripts, and the chunk names of the deleted ones.
fn read_scripts(
    engine: &mut Engine,
    changed: &ChangedResources,
) -> Result<(Vec<ScriptValue>, Vec<ScriptValue>), Box<ErrorReport>> {
    let (mut files, mut removed) = (Vec::new(), Vec::new());
    let (release, store) = (engine.game.build == BuildMode::Release, &mut engine.assets.store);
    for name in changed.of(ReloadStep::Scripts) {
        let path = store.path(name);
        let is_removed = path.is_none();
        let path = path.unwrap_or_else(|| name.to_string());
        let chunk = store.script_path(name).cloned().unwrap_or(path);
        if is_removed {
            removed.push(ScriptValue::Text(chunk));
            continue;
        }
        match store.read(name) {
            Ok(bytes) => files.push(ScriptValue::Table(vec![
                ("chunk".to_string(), ScriptValue::Text(chunk)),
                (
                    "text".to_string(),
                    ScriptValue::Text(String::from_utf8_lossy(&bytes).into_owned()),
                ),
            ])),
            Err(error) if release => {
                return Err(Box::new(ErrorReport::from_message(error.to_string())));
            }
            Err(error) => log::error(&error.to_string()),
        }
    }
    Ok((files, removed))
}

#[cfg(test)]
mod tests {
    use super::newest_first;

    #[test]
    fn the_newest_message_about_a_saved_file_is_first() {
        let list = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        let check = |new: &str, shown: &str, refused: &str, wanted: &str| {
            assert_eq!(newest_first(list(new), list(shown), &list(refused)), list(wanted));
        };
        check("c", "a b", "a b c", "c a b");
        check("", "c a b", "a b c", "c a b");
        check("gone", "c a b", "b c", "c b");
        check("a", "", "a a x", "a x");
    }
}
