//! Pictures of what two versions of a unit, a level or a material look like in the game. A run of
//! the engine without a window draws each of them (core/tools/resource_viewer.lua), in a copy of
//! the resource and of all that it uses. The run is confined as any game is.

use engine_app::content;
use engine_app::difference::{self, PictureDifference};
use engine_app::resource_kinds::KINDS;
use engine_content::references::{self, ContentGraph, ScriptArguments, Target};
use engine_foundation::file_access::{self, readers};
use engine_foundation::sjson;
use engine_platform as platform;
use engine_resource::redirects;
use engine_resource::resource_kind::{SourceForm, kind_names};
use engine_resource::resource_name::{ResourceName, SourceName, is_inside};
use engine_resource::settings;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

mod scratch;

use scratch::ScratchFolder;

/// Maximum number of files that are copied for a picture, and their size in bytes.
const FILES_MAX: usize = 10_000;
const BYTES_MAX: u64 = 1 << 30;
/// A run that takes longer is ended.
const DURATION_MAX: Duration = Duration::from_secs(120);
/// Frames that are played before the picture, so that everything is loaded.
const FRAMES: &str = "3";
/// Maximum size of the messages of a run that are read, and of the one that is shown, in bytes.
const MESSAGES_BYTES_MAX: u64 = 64 << 10;
const MESSAGE_BYTES_MAX: usize = 2_000;
/// Folder of the copy.
const COPY: &str = "game";
/// Folder of the saves that the copy writes.
const SAVES: &str = "saves";
const VIEWER: &str = "core/tools/resource_viewer";
/// Text before the numbers of the box that the viewer shows.
const VIEW_MARK: &str = "resource_viewer: box ";
const VIEW_NUMBERS: usize = 6;
/// Beginnings of the lines of a script's error: of its message, and of its location.
const SCRIPT_ERROR: &str = "Error: ";
const SCRIPT_LOCATION: &str = "In ";
/// Files that show that a folder is a game.
const GAME_FILES: [&str; 2] = [settings::FILE, "main.lua"];
/// Reason for a missing picture of a drawing that was stopped.
const ENDED: &str = "the command was ended";

/// Returns the game around a file, and the file's path in it. The file may have been deleted.
pub fn game_of(file: &Path) -> Option<(PathBuf, String)> {
    let full = match fs::canonicalize(file) {
        Ok(full) => full,
        // Its folder may have been deleted, too.
        Err(_) => file.ancestors().skip(1).find_map(|folder| {
            let known = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            Some(fs::canonicalize(known).ok()?.join(file.strip_prefix(folder).ok()?))
        })?,
    };
    let is_game = |folder: &&Path| GAME_FILES.iter().any(|name| file_access::is_file(folder, name));
    let game = full.ancestors().skip(1).find(is_game)?;
    let path = full.strip_prefix(game).ok()?.to_str()?.replace('\\', "/");
    Some((game.to_path_buf(), path))
}

/// Returns the name of a file that can be drawn.
fn drawn_name(path: &str) -> Option<SourceName> {
    let kinds = [kind_names::UNIT, kind_names::LEVEL, kind_names::MATERIAL];
    let name = SourceName::of(path, &KINDS).and_then(Result::ok)?;
    (name.form == SourceForm::Own && kinds.contains(&&*name.resource.kind)).then_some(name)
}

/// Says why a file of no game has no pictures, if it would have some in a game.
pub fn without_game(file: &Path) -> PictureDifference {
    let name = file.file_name().and_then(|name| name.to_str());
    let mut found = PictureDifference::default();
    if name.and_then(drawn_name).is_some() {
        found.notes.push(format!(
            "no pictures: '{}' is in no game: give --game and --path",
            file.display()
        ));
    }
    found
}

/// Draws two versions of a file. Returns no pictures for files that cannot be drawn; the notes say
/// why a picture is missing. The drawing ends when the flag is set.
pub fn draw(
    game: &Path,
    path: &str,
    versions: [Option<&[u8]>; 2],
    is_stopped: &AtomicBool,
) -> PictureDifference {
    let Some(name) = drawn_name(path).filter(|_| is_inside(path)) else {
        return PictureDifference::default();
    };
    let mut notes = Vec::new();
    let graph = match content::graph(game) {
        Ok(graph) => graph,
        Err(error) => {
            notes.push(format!("no pictures: {error}"));
            return PictureDifference { notes, ..PictureDifference::default() };
        }
    };
    let prepared = versions.map(|bytes| Some(prepare(&graph, path, &name, bytes?, is_stopped)));
    let mut drawn: [Option<Result<DrawnVersion, String>>; 2] = [None, None];
    for (index, prepared) in prepared.iter().enumerate() {
        // The second version is drawn with the view of the first one, or a wider one.
        let view = match &drawn[0] {
            Some(Ok(DrawnVersion { view, .. })) => view.clone(),
            _ => None,
        };
        drawn[index] =
            prepared.as_ref().map(|it| it.as_ref().map_err(Clone::clone)?.draw(view, is_stopped));
    }
    if let ([Some(Ok(old)), Some(Ok(new))], Some(Ok(first))) = (&drawn, &prepared[0])
        && old.view != new.view
    {
        drawn[0] = Some(first.draw(new.view.clone(), is_stopped));
    }
    let drawn = drawn.map(|drawn| {
        let picture = drawn?.map(|drawn| drawn.png);
        picture.map_err(|message| notes.push(format!("no picture: {message}"))).ok()
    });
    let pictures = drawn.each_ref().map(Option::as_deref);
    let mut found = difference::compare("picture.png", pictures).pictures;
    found.notes.extend(notes);
    found
}

/// A copy of a version and of all that it uses, which can be drawn.
struct PreparedVersion<'n> {
    scratch: ScratchFolder,
    kind: &'n str,
    name: &'n str,
}

/// The picture of a version.
struct DrawnVersion {
    png: Vec<u8>,
    /// Centre and half of the size of the box that the picture shows, as the viewer prints them.
    view: Option<Vec<String>>,
}

/// Copies a version and all that it uses.
fn prepare<'n>(
    graph: &ContentGraph,
    path: &str,
    name: &'n SourceName,
    bytes: &[u8],
    is_stopped: &AtomicBool,
) -> Result<PreparedVersion<'n>, String> {
    let arguments = ScriptArguments::default();
    let named = references::parse(path, Some(name), bytes, KINDS, &arguments)?;
    let named: BTreeSet<Target> =
        named.iter().flat_map(|reference| targets_of(graph, &reference.name)).collect();
    let always = [
        Target::File(settings::FILE.to_string()),
        // The versions may use old names.
        Target::File(redirects::FILE.to_string()),
        Target::Resource(ResourceName::new(kind_names::PHYSICS_PROPERTIES, "global")),
        Target::Resource(ResourceName::new(kind_names::MIXER, "main")),
    ];
    let scratch = ScratchFolder::new()?;
    let mut files: BTreeSet<usize> = BTreeSet::new();
    for target in graph.reachable(named.iter().chain(&always)) {
        files.extend(graph.files_of(target));
    }
    copy_files(graph, &files, scratch.path(), is_stopped)?;
    write(scratch.path(), path, bytes)?;
    let kind = viewer_kind(&name.resource, bytes);
    Ok(PreparedVersion { scratch, kind, name: &name.resource.name })
}

/// Returns all targets that a name may mean: too many do no harm.
fn targets_of(graph: &ContentGraph, name: &str) -> BTreeSet<Target> {
    let name = name.split('#').next().unwrap_or(name);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let module = name.replace('.', "/");
    let component = format!("components/{name}");
    let mut names = vec![name, stem, &module, &component];
    // A part of a sheet or of a model: sheets/hero/run_01.
    names.extend(name.match_indices('/').map(|(at, _)| &name[..at]));
    let mut found: BTreeSet<Target> = graph.target_of(name).into_iter().collect();
    for name in names {
        for resource in KINDS.0.iter().map(|kind| ResourceName::new(kind.name, name)) {
            // An old name means the resource that has it no more.
            let renamed = graph.redirects().ok().and_then(|table| table.end_of(&resource));
            let resources = [Some(&resource), renamed].into_iter().flatten();
            let targets = resources.map(|resource| Target::Resource(resource.clone()));
            found.extend(targets.filter(|target| graph.contains(target)));
        }
    }
    found
}

/// Returns the kind for the viewer: materials without a surface are painted.
fn viewer_kind<'n>(resource: &'n ResourceName, bytes: &[u8]) -> &'n str {
    let has_surface = || {
        let document = sjson::parse_bytes(bytes);
        document.is_ok_and(|document| document.to_tree().get("surface").is_some())
    };
    match resource.kind == kind_names::MATERIAL && !has_surface() {
        true => "painted",
        false => &resource.kind,
    }
}

fn is_ended(is_stopped: &AtomicBool) -> bool {
    is_stopped.load(Ordering::SeqCst) || platform::end_requested().is_some()
}

fn copy_files(
    graph: &ContentGraph,
    files: &BTreeSet<usize>,
    scratch: &Path,
    is_stopped: &AtomicBool,
) -> Result<(), String> {
    if files.len() > FILES_MAX {
        return Err(format!("it uses {} files, and {FILES_MAX} are copied at most", files.len()));
    }
    let bytes: u64 = files.iter().map(|file| graph.files[*file].state.size).sum();
    if bytes > BYTES_MAX {
        let most = BYTES_MAX >> 20;
        return Err(format!("it uses {} MiB, and {most} MiB are copied at most", bytes >> 20));
    }
    for file in files {
        if is_ended(is_stopped) {
            return Err(ENDED.to_string());
        }
        let path = &graph.files[*file].path;
        let content = file_access::read(&graph.root, path, &readers::SOURCE)
            .map_err(|refusal| refusal.message(path))?;
        write(scratch, path, &content)?;
    }
    Ok(())
}

fn write(scratch: &Path, path: &str, bytes: &[u8]) -> Result<(), String> {
    file_access::write(scratch, &format!("{COPY}/{path}"), bytes)
        .map_err(|reason| format!("{path} cannot be copied: {reason}"))
}

impl PreparedVersion<'_> {
    /// Plays the viewer in the copy. `view` is the box that the other version has shown.
    fn draw(
        &self,
        view: Option<Vec<String>>,
        is_stopped: &AtomicBool,
    ) -> Result<DrawnVersion, String> {
        if is_ended(is_stopped) {
            return Err(ENDED.to_string());
        }
        let picture = self.scratch.path().join("picture.png");
        let engine = std::env::current_exe().map_err(|reason| reason.to_string())?;
        let child = Command::new(engine)
            .arg("run")
            .arg(self.scratch.path().join(COPY))
            .args(["--headless", "--renderer", "auto", "--frames", FRAMES, "--boot", VIEWER])
            .args(["--no-watch", "--no-tools", "--audio", "null", "--quiet", "--screenshot"])
            .arg(&picture)
            .args(["--", self.kind, self.name])
            .args(view.unwrap_or_default())
            // The copy has the settings of the game, but must not change the saves of the player.
            .env("ENGINE_SAVE_DIR", self.scratch.path().join(SAVES))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|reason| format!("the engine cannot be run: {reason}"))?;
        let (succeeded, [output, errors]) = finish(RunningViewer(child), is_stopped)?;
        match file_access::read_named(&picture, &readers::GOLDEN) {
            Ok(png) if succeeded => Ok(DrawnVersion { png, view: printed_view(&output) }),
            _ => Err(failure(&errors)),
        }
    }
}

/// A run of the viewer, which is ended on drop: no run outlives the command.
struct RunningViewer(Child);

impl Drop for RunningViewer {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for a run. Returns whether it succeeded, its output and its error messages.
fn finish(
    mut viewer: RunningViewer,
    is_stopped: &AtomicBool,
) -> Result<(bool, [String; 2]), String> {
    let child = &mut viewer.0;
    let output = child.stdout.take().map(|pipe| std::thread::spawn(move || read_messages(pipe)));
    let errors = child.stderr.take().map(|pipe| std::thread::spawn(move || read_messages(pipe)));
    let end = Instant::now() + DURATION_MAX;
    let status = loop {
        match child.try_wait().map_err(|reason| reason.to_string())? {
            Some(status) => break status,
            None if is_ended(is_stopped) => return Err(ENDED.to_string()),
            None if Instant::now() > end => {
                return Err(format!("the run took more than {} s", DURATION_MAX.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let texts = [output, errors]
        .map(|reading| reading.and_then(|reading| reading.join().ok()).unwrap_or_default());
    Ok((status.success(), texts))
}

/// Returns the numbers of the box in the output of the viewer. Scripts of the game may print, too.
fn printed_view(output: &str) -> Option<Vec<String>> {
    let line = output.lines().rev().find_map(|line| line.split_once(VIEW_MARK))?.1;
    let is_number = |text: &&str| text.parse::<f64>().is_ok_and(f64::is_finite);
    let numbers: Vec<String> =
        line.split_whitespace().filter(is_number).map(str::to_string).collect();
    (numbers.len() == VIEW_NUMBERS).then_some(numbers)
}

/// Reads the messages of a run to their end, and returns the first ones.
fn read_messages(mut pipe: impl Read) -> String {
    let mut bytes = Vec::new();
    // Messages that cannot be read are missing in the note.
    let _ = (&mut pipe).take(MESSAGES_BYTES_MAX).read_to_end(&mut bytes);
    let _ = io::copy(&mut pipe, &mut io::sink());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the first error in the messages of a run: that of a script with its location, because
/// the line before it says only that the game has stopped.
fn failure(messages: &str) -> String {
    let lines = || messages.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_error = |line: &&str| line.to_ascii_lowercase().starts_with("error");
    let mut report = lines().skip_while(|line| !line.starts_with(SCRIPT_ERROR));
    let script = report.next().and_then(|line| line.strip_prefix(SCRIPT_ERROR));
    let location = report.find_map(|line| line.strip_prefix(SCRIPT_LOCATION));
    let line = match (script, location) {
        (Some(message), Some(location)) => format!("{location}: {message}"),
        (Some(message), None) => message.to_string(),
        (None, _) => {
            let line = lines().find(is_error).or_else(|| lines().next_back());
            line.unwrap_or("the run failed").to_string()
        }
    };
    line[..line.floor_char_boundary(MESSAGE_BYTES_MAX)].to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_units_levels_and_materials_of_a_game_are_drawn() {
        let draw = |game: &Path, path: &str, versions: [Option<&[u8]>; 2]| {
            super::draw(game, path, versions, &AtomicBool::new(false))
        };
        for path in ["a.lua", "a.png", "../a.unit", "a.flow", "a.glb"] {
            let found = draw(Path::new("/nowhere"), path, [Some(b""), Some(b"")]);
            assert!(found.versions.iter().all(Option::is_none) && found.notes.is_empty(), "{path}");
        }
        let found = draw(Path::new("/nowhere"), "a.unit", [Some(b""), None]);
        assert!(found.notes[0].starts_with("no pictures: "), "{:?}", found.notes);
    }

    #[test]
    fn a_file_of_no_game_has_a_note_instead_of_pictures() {
        let notes = without_game(Path::new("/nowhere/a.unit")).notes;
        assert!(notes[0].starts_with("no pictures: '/nowhere/a.unit' is in no game"), "{notes:?}");
        assert!(without_game(Path::new("/nowhere/a.lua")).notes.is_empty());
    }

    #[test]
    fn a_deleted_file_belongs_to_the_game_around_its_folder() {
        let game = std::env::temp_dir().join(format!("engine-{}-deleted", std::process::id()));
        fs::create_dir_all(game.join("units")).unwrap();
        fs::write(game.join("main.lua"), "").unwrap();
        for path in ["units/gone.unit", "gone/too/gone.unit"] {
            let found = game_of(&game.join(path)).unwrap();
            assert_eq!(found, (fs::canonicalize(&game).unwrap(), path.to_string()));
        }
        assert_eq!(game_of(&std::env::temp_dir().join("gone/gone.unit")), None);
        fs::remove_dir_all(&game).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_run_ends_when_its_drawing_is_stopped() {
        let child = Command::new("sleep").arg("600").spawn().unwrap();
        let start = Instant::now();
        let ended = finish(RunningViewer(child), &AtomicBool::new(true)).unwrap_err();
        assert_eq!(ended, ENDED);
        assert!(start.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn only_six_numbers_are_a_view() {
        let view = printed_view("a\nresource_viewer: box 1 2 3 4 5 6.5\n").unwrap();
        assert_eq!(view, ["1", "2", "3", "4", "5", "6.5"]);
        for output in ["", "resource_viewer: box 1 2", "resource_viewer: box 1 2 3 4 5 --boot"] {
            assert_eq!(printed_view(output), None, "{output}");
        }
    }

    #[test]
    fn the_reason_is_the_error_of_the_script() {
        let report = "error: the game stopped before its first frame\nWhen calling: init\n\
                      Error: no luck\n    In components/a.lua:1\n        1 | error()\nengine: x\n";
        assert_eq!(failure(report), "components/a.lua:1: no luck");
        assert_eq!(failure("Error: no luck\n"), "no luck");
        assert_eq!(failure("engine: x\nerror: no adapter\nmore\n"), "error: no adapter");
        assert_eq!([failure("a\nlast\n"), failure("")], ["last", "the run failed"]);
        assert_eq!(failure(&"é".repeat(MESSAGE_BYTES_MAX)).len(), MESSAGE_BYTES_MAX);
    }

    #[test]
    fn materials_without_a_surface_are_painted() {
        let material = ResourceName::new(kind_names::MATERIAL, "a");
        assert_eq!(viewer_kind(&material, b"texture = \"a\""), "painted");
        assert_eq!(viewer_kind(&material, b"surface = {}"), "material");
        assert_eq!(viewer_kind(&ResourceName::new(kind_names::UNIT, "a"), b""), "unit");
    }
}
