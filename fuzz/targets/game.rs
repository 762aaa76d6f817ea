//! Fuzz targets that play their cases in a running game, without a window and with the null
//! renderer: compiled data that a game uses, calls of API functions, reloads of a script. The
//! game's scripts are in fuzz/game/, its resources are those of tests/lua.

use super::{CASES_MAX, Target, data, root, scratch, split};
use engine::app::frame_input::FrameInput;
use engine::app::resource_kinds::KINDS;
use engine::app::{App, Game, GameLaunch, HEADLESS_STEP};
use engine::engine::Engine;
use engine::foundation::blob::BlobReader;
use engine::foundation::hash::murmur64a;
use engine::frame_packet::FramePacket;
use engine::platform;
use engine::resource::compile::{self, data_folder};
use engine::resource::index::ResourceIndex;
use engine::resource::resource_name::ResourceName;
use engine::resource::store::{DataSource, ResourceStore};
use engine::script::ErrorReport;
use engine::system::render::{
    AdapterChoice, RenderQuality, Renderer, RendererOptions, SurfaceTarget, Vsync,
};
use engine::system::sound::device::{DeviceSetup, SampleSink};
use engine::system::sound::mixer::MixerData;
use engine::system::sound::{AudioDestination, SoundSystem};
use std::cell::{OnceCell, RefCell};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// The resource of each kind. The cases of `use.KIND` replace its data.
const USED: &[(&str, &str)] = &[
    ("config", "data/level"),
    ("font", "fonts/arabic"),
    ("level", "levels/yard"),
    ("lua", "modules/plain"),
    ("material", "pictures/wave"),
    ("mixer", "main"),
    ("model", "models/chest"),
    ("navigation", "levels/navigation/grounds"),
    ("navigation_mesh", "levels/navigation/inline"),
    ("package", "data/set"),
    ("particles", "particles/torch"),
    ("physics_properties", "global"),
    ("shader", "pictures/wave"),
    ("shading_environment", "environments/noon"),
    ("sheet", "pictures/hero"),
    ("sound", "sounds/streamed"),
    ("strings", "data/menu"),
    ("texture", "pictures/noise"),
    ("tilemap", "maps/cave"),
    ("unit", "units/barrel"),
];

pub fn targets() -> Vec<Target> {
    let mut all = Vec::new();
    for (kind, name) in USED {
        let played = RefCell::new(FuzzGame::new(kind, name));
        let run = move |bytes: &[u8]| played.borrow_mut().play(&CompiledGame::shared(), &[bytes]);
        all.push(Target::new(format!("use.{kind}"), data::bytes_max(kind), run).sharing_game());
    }
    let streams =
        RefCell::new(FuzzGame { streams: true, ..FuzzGame::new("sound", "sounds/streamed") });
    let run = move |bytes: &[u8]| streams.borrow_mut().play(&CompiledGame::shared(), &[bytes]);
    all.push(Target::new("sound.stream", data::bytes_max("sound"), run).sharing_game());
    for (script, name, bytes_max) in [("calls", "api.calls", 1 << 10), ("json", "text.json", 4096)]
    {
        let played = RefCell::new(FuzzGame::of_bytes(script));
        let run = move |bytes: &[u8]| played.borrow_mut().play(&CompiledGame::shared(), &[bytes]);
        let target = Target::new(name, bytes_max, run).sharing_game();
        all.push(if script == "json" { target.fast() } else { target });
    }
    let reloads = RefCell::new(FuzzGame::of_reloads());
    let run = move |bytes: &[u8]| {
        let (first, second) = split(bytes);
        let second = second.unwrap_or_default();
        reloads.borrow_mut().play(&CompiledGame::shared(), &[first, second]);
    };
    all.push(Target::new("reload.script", 4 << 10, run).sharing_game());
    all.push(Target::new("file.user_settings", 1 << 10, play_with_user_settings).slow());
    let devices = RefCell::new(None);
    let run = move |bytes: &[u8]| play_input(&mut devices.borrow_mut(), bytes);
    all.push(Target::new("file.recorded_input", 2 << 10, run).sharing_game());
    all
}

/// Returns the arguments of a game that shows a few objects.
pub fn scene_arguments() -> Vec<String> {
    vec!["scene".to_string(), String::new()]
}

fn play_with_user_settings(bytes: &[u8]) {
    let opening = opening(&CompiledGame::shared(), &scene_arguments());
    let begin = |engine: &mut Engine| engine.game.user_settings = Some(bytes.to_vec());
    let (mut app, _) = open_as(opening, begin).unwrap_or_else(|message| panic!("{message}"));
    can_continue(app.frame(HEADLESS_STEP));
}

/// Returns true if a game can continue. An error of the game ends it; a bug of the engine is a
/// finding.
pub fn can_continue<T>(played: Result<T, Box<ErrorReport>>) -> bool {
    if let Err(report) = &played {
        assert!(!report.engine_fault, "{report}");
        // A finding of the fuzzer's own scripts.
        assert!(!report.message.contains("finding: "), "{report}");
    }
    played.is_ok()
}

#[test]
#[should_panic(expected = "a fault of the engine's")]
fn game_ending_with_engine_fault_is_a_finding() {
    assert!(!can_continue::<()>(Err(Box::new(ErrorReport::from_message("the script failed")))));
    let report =
        ErrorReport { engine_fault: true, ..ErrorReport::from_message("a fault of the engine's") };
    can_continue::<()>(Err(Box::new(report)));
}

/// Plays the recorded input of devices and the window: a list of frames.
fn play_input(app: &mut Option<(App, Renderer)>, bytes: &[u8]) {
    let mut reader = BlobReader::new(bytes);
    let Ok(frames) = reader.list(FrameInput::read) else { return };
    let (mut app_now, renderer) =
        app.take().unwrap_or_else(|| open(&CompiledGame::shared(), &scene_arguments()));
    for input in frames.into_iter().take(8) {
        app_now.add_input(input);
        if !can_continue(app_now.frame(HEADLESS_STEP)) {
            return;
        }
        app_now.end_frame();
    }
    if app_now.quit().is_none() {
        *app = Some((app_now, renderer));
    }
}

/// The game's folder with compiled data.
pub struct CompiledGame {
    pub folder: PathBuf,
    pub index: ResourceIndex,
    pub data: PathBuf,
}

impl CompiledGame {
    /// Returns the stage of this thread's targets, created on first use.
    pub fn shared() -> Rc<CompiledGame> {
        thread_local! {
            static SHARED: OnceCell<Rc<CompiledGame>> = const { OnceCell::new() };
        }
        SHARED.with(|shared| shared.get_or_init(|| Rc::new(CompiledGame::compile_game())).clone())
    }

    /// Copies the game's files and compiles them.
    fn compile_game() -> CompiledGame {
        let folder = scratch("game");
        copy(&root().join("tests/lua"), &folder);
        copy(&root().join("fuzz/game"), &folder);
        copy(&root().join("tests/golden/game/fonts"), &folder.join("fonts"));
        fs::write(folder.join("fuzz_held.lua"), "return {}").expect("a file can be written");
        fs::write(folder.join("main.mixer"), MIXER).expect("a file can be written");
        let streamed = folder.join("sounds/streamed");
        let recording = streamed.with_extension("wav");
        fs::copy(folder.join("sounds/tone.wav"), recording).expect("a file can be copied");
        fs::write(streamed.with_extension("sound"), STREAMED).expect("a file can be written");
        let signatures = folder.join("fuzz_signatures.txt");
        fs::write(signatures, signatures_of_the_reference()).expect("a file can be written");
        let data = data_folder(&folder, platform::NAME);
        let target = compile::CompileTarget {
            root: &folder,
            data: data.clone(),
            kinds: KINDS,
            source_platform: platform::NAME,
            release: false,
            exclude: &[],
            threads: 2,
        };
        let compiled = compile::compile(&target, &|_, _| ()).expect("the game is compiled");
        CompiledGame { folder, index: compiled.index, data }
    }

    /// Returns an index in which one resource has other data.
    fn with(&self, resource: &ResourceName, bytes: &[u8]) -> ResourceIndex {
        fs::write(self.data.join("case"), bytes).expect("a file can be written");
        let mut index = self.index.clone();
        let entry = index.entries.iter_mut().find(|entry| entry.resource == *resource);
        let entry = entry.unwrap_or_else(|| panic!("the game has no {resource}"));
        entry.data = "case".to_string();
        entry.data_content = murmur64a(bytes, 0);
        index
    }

    /// Returns an index with a few of the resources, one of each kind.
    pub fn small_index(&self) -> ResourceIndex {
        let mut index = self.index.clone();
        let mut visited = std::collections::BTreeSet::new();
        index.entries.retain(|entry| visited.insert(entry.resource.kind.clone()));
        index.broken.truncate(1);
        index.failed.truncate(1);
        index
    }

    /// Returns the data of every resource of a kind.
    pub fn all_of(&self, kind: &str) -> Vec<Vec<u8>> {
        let of_kind = self.index.entries.iter().filter(|entry| entry.resource.kind == kind);
        of_kind.filter_map(|entry| fs::read(self.data.join(&entry.data)).ok()).collect()
    }
}

const MIXER: &str = "buses = { music = { volume_db = -3 } effects = { parent = \"music\" } }\n";

const STREAMED: &str = "stream = true\nloop = true\n";

/// Copies a folder without its test suites.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("a folder can be read").flatten() {
        let name = entry.file_name();
        let is_suite = name.to_string_lossy().ends_with("_test.lua");
        match entry.path() {
            path if path.is_dir() => copy(&path, &to.join(name)),
            path if !is_suite => {
                fs::copy(path, to.join(name)).expect("a file can be copied");
            }
            _ => {}
        }
    }
}

/// Returns the line of every function in the reference: `Module.name(argument: type): type`.
fn signatures_of_the_reference() -> String {
    let mut lines = String::new();
    let folder = root().join("docs/reference");
    let mut pages: Vec<_> =
        fs::read_dir(folder).expect("the reference is there").flatten().collect();
    pages.sort_by_key(|page| page.file_name());
    for page in pages {
        let module = page.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(page.path()).expect("a page can be read");
        let own = |line: &&str| line.starts_with(&format!("{module}.")) && line.contains('(');
        let mut last = "";
        for line in text.lines() {
            // A signature is the first line of its block. All other blocks are examples.
            if own(&line) && last == "```lua" && !line.contains('=') {
                lines += line;
                lines.push('\n');
            }
            last = line;
        }
    }
    lines
}

/// A game that plays one case after the other.
struct FuzzGame {
    arguments: Vec<String>,
    resource: ResourceName,
    /// True if its sound goes to a device, as streams require.
    streams: bool,
    app: Option<(App, Renderer)>,
    packet: FramePacket,
    cases: usize,
}

impl FuzzGame {
    fn new(kind: &str, name: &str) -> FuzzGame {
        let arguments = vec!["data".to_string(), format!("{kind}:{name}")];
        let resource = ResourceName::new(kind, name);
        let packet = FramePacket::default();
        FuzzGame { arguments, resource, streams: false, app: None, packet, cases: 0 }
    }

    /// Creates a game with a script that reads the case's bytes.
    fn of_bytes(script: &str) -> FuzzGame {
        let arguments = vec![script.to_string(), String::new()];
        FuzzGame { arguments, ..FuzzGame::new("binary", "data/bytes") }
    }

    fn of_reloads() -> FuzzGame {
        let arguments = vec!["reload".to_string(), String::new()];
        FuzzGame { arguments, ..FuzzGame::new("lua", "fuzz_held") }
    }

    fn open(&self, compiled_game: &CompiledGame) -> (App, Renderer) {
        let mut opening = opening(compiled_game, &self.arguments);
        if !self.streams && ["sound", "mixer"].contains(&&*self.resource.kind) {
            // Audible sound is mixed, and therefore decoded.
            opening.sound = AudioDestination::File(scratch("heard").join("heard.wav"));
        }
        let opened = open_as(opening, |engine| {
            if self.streams {
                let setup = DeviceSetup::Live(Box::new(|| Ok(Box::new(FastSink))));
                engine.devices.sounds =
                    SoundSystem::with(MixerData::standard(), 1, true, 64, Some(setup));
            }
        });
        opened.unwrap_or_else(|message| panic!("{message}"))
    }

    /// Swaps in the versions of the case's data one after the other, and plays frames with each.
    fn play(&mut self, compiled_game: &CompiledGame, versions: &[&[u8]]) {
        if self.cases >= CASES_MAX {
            self.app = None;
            self.cases = 0;
        }
        self.cases += 1;
        let mut app = self.app.take().unwrap_or_else(|| self.open(compiled_game));
        for version in versions {
            let version = data::forged(&self.resource.kind, version);
            // A library's panic makes the resource unusable, as in the engine.
            let valid = data::validate(&self.resource.kind, &version);
            if valid.is_err_and(|error| error.is_engine_fault) {
                break;
            }
            let index = compiled_game.with(&self.resource, &version);
            let changed = [self.resource.clone()];
            app.0.vm().engine().assets.store.replace(index, &changed);
            // An error that ends the game is a valid result. The next case opens another game.
            if !can_continue(app.0.reload(&changed)) {
                return;
            }
            for _ in 0..if self.streams { 6 } else { 2 } {
                if !can_continue(app.0.frame(HEADLESS_STEP)) {
                    return;
                }
                let engine = app.0.vm().engine();
                self.packet = engine.take_packet(std::mem::take(&mut self.packet));
                self.packet = app.1.submit(std::mem::take(&mut self.packet));
                app.0.end_frame();
                if self.streams {
                    // Decoding continues on another thread.
                    std::thread::sleep(STREAM_PAUSE);
                }
            }
        }
        self.app = Some(app);
    }
}

/// Pause per frame in which streams are decoded and samples are played.
const STREAM_PAUSE: Duration = Duration::from_millis(4);

/// An audio sink that is faster than real devices.
struct FastSink;

impl SampleSink for FastSink {
    fn write(&mut self, _: &[f32]) -> Result<(), String> {
        std::thread::sleep(STREAM_PAUSE / 4);
        Ok(())
    }
}

/// Returns the launch options of the game, with arguments that select its script.
pub fn opening(compiled_game: &CompiledGame, arguments: &[String]) -> GameLaunch {
    let data = DataSource::Folder(compiled_game.data.clone(), engine::app::resource_kinds::KINDS);
    GameLaunch {
        arguments: arguments.to_vec(),
        seed: 1,
        store: Some(ResourceStore::new(compiled_game.index.clone(), data)),
        threads: Some(1),
        ..GameLaunch::headless(Game::Folder(compiled_game.folder.clone()))
    }
}

/// Opens the game.
pub fn open(compiled_game: &CompiledGame, arguments: &[String]) -> (App, Renderer) {
    open_as(opening(compiled_game, arguments), |_| {}).unwrap_or_else(|message| panic!("{message}"))
}

/// Opens the game; `begin` changes the engine before the game starts. Returns a message if the game
/// does not start.
pub fn open_as(
    opening: GameLaunch,
    begin: impl FnOnce(&mut Engine),
) -> Result<(App, Renderer), String> {
    let mut app = App::open(opening).map_err(|error| error.to_string())?;
    let engine = app.vm().engine();
    engine.drawing.builder.is_shown = true;
    begin(engine);
    app.begin(FrameInput::default());
    let started = app.start();
    let message = started.as_ref().err().map(|report| format!("the game starts: {report}"));
    can_continue(started);
    message.map_or(Ok(()), Err)?;
    Ok((app, renderer()))
}

/// Starts a renderer that draws nothing.
pub fn renderer() -> Renderer {
    let renderer = Renderer::start(RendererOptions {
        choice: AdapterChoice::Null,
        output: SurfaceTarget::Offscreen { width: 320, height: 200 },
        threaded: false,
        vsync: Vsync::Off,
        timing: false,
        quality: RenderQuality::DEFAULT,
        clock: || 0.0,
    });
    renderer.expect("nothing is needed to draw nothing")
}
