//! Cases that are played in a running game, without a window and with the null renderer: compiled
//! data that a game uses, calls of the engine's functions, reloads of a script. The game's scripts
//! are in fuzz/game/, its resources are those of tests/lua.

use super::{Target, data, root, scratch, split};
use engine::app::given::Given;
use engine::app::kinds::KINDS;
use engine::app::{App, Game, HEADLESS_STEP, Opening};
use engine::engine::Build;
use engine::foundation::blob::Reader;
use engine::foundation::hash::murmur64a;
use engine::packet::Packet;
use engine::resource::compile::{self, data_folder};
use engine::resource::index::Index;
use engine::resource::name::ResourceName;
use engine::resource::store::{Data, Store};
use engine::system::platform;
use engine::system::render::{Choice, Options, Output, Quality, Renderer, Vsync};
use engine::system::sound::Destination;
use std::cell::{OnceCell, RefCell};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The resource of each kind whose data the cases of `use.KIND` are.
const USED: &[(&str, &str)] = &[
    ("config", "data/level"),
    ("font", "fonts/arabic"),
    ("level", "levels/yard"),
    ("lua", "modules/plain"),
    ("material", "pictures/wave"),
    ("mixer", "main"),
    ("model", "models/chest"),
    ("package", "data/set"),
    ("particles", "particles/torch"),
    ("physics_properties", "global"),
    ("shader", "pictures/wave"),
    ("sheet", "pictures/hero"),
    ("sound", "sounds/engine"),
    ("strings", "data/menu"),
    ("texture", "pictures/noise"),
    ("tilemap", "maps/cave"),
    ("unit", "units/barrel"),
];

/// Cases that one game plays before the next one is opened.
const CASES_MAX: usize = 200;

pub fn targets() -> Vec<Target> {
    let mut all = Vec::new();
    for (kind, name) in USED {
        let played = RefCell::new(Played::new(kind, name));
        let run = move |bytes: &[u8]| played.borrow_mut().play(&Stage::shared(), &[bytes]);
        all.push(Target::new(format!("use.{kind}"), data::bytes_max(kind), run).slow());
    }
    let calls = RefCell::new(Played::of_calls());
    let run = move |bytes: &[u8]| calls.borrow_mut().play(&Stage::shared(), &[bytes]);
    all.push(Target::new("api.calls", 1 << 10, run).slow());
    let reloads = RefCell::new(Played::of_reloads());
    let run = move |bytes: &[u8]| {
        let (first, second) = split(bytes);
        let second = second.unwrap_or_default();
        reloads.borrow_mut().play(&Stage::shared(), &[first, second]);
    };
    all.push(Target::new("reload.script", 4 << 10, run).slow());
    all.push(Target::new("file.user_settings", 1 << 10, play_with_user_settings).slow());
    let devices = RefCell::new(None);
    let run = move |bytes: &[u8]| play_input(&mut devices.borrow_mut(), bytes);
    all.push(Target::new("file.recorded_input", 2 << 10, run).slow());
    all
}

fn standing() -> Vec<String> {
    vec!["stand".to_string(), String::new()]
}

fn play_with_user_settings(bytes: &[u8]) {
    let (mut app, _) = open(&Stage::shared(), &standing(), Some(bytes));
    let _ = app.frame(HEADLESS_STEP);
}

/// Plays what a recording says that devices and the window did: a list of frames.
fn play_input(app: &mut Option<(App, Renderer)>, bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    let Ok(frames) = reader.list(Given::read) else { return };
    let (mut app_now, renderer) =
        app.take().unwrap_or_else(|| open(&Stage::shared(), &standing(), None));
    for given in frames.into_iter().take(8) {
        app_now.give(given);
        if app_now.frame(HEADLESS_STEP).is_err() {
            return;
        }
        app_now.end_frame();
    }
    if app_now.quit().is_none() {
        *app = Some((app_now, renderer));
    }
}

/// The game's folder, compiled.
pub struct Stage {
    pub folder: PathBuf,
    pub index: Index,
    pub data: PathBuf,
}

impl Stage {
    /// The stage of this thread's targets, which is made when it is first asked for.
    pub fn shared() -> Rc<Stage> {
        thread_local! {
            static SHARED: OnceCell<Rc<Stage>> = const { OnceCell::new() };
        }
        SHARED.with(|shared| shared.get_or_init(|| Rc::new(Stage::make())).clone())
    }

    /// Copies the game's files and compiles them.
    fn make() -> Stage {
        let folder = scratch("game");
        copy(&root().join("tests/lua"), &folder);
        copy(&root().join("fuzz/game"), &folder);
        copy(&root().join("tests/golden/game/fonts"), &folder.join("fonts"));
        fs::write(folder.join("fuzz_held.lua"), "return {}").expect("a file can be written");
        fs::write(folder.join("main.mixer"), MIXER).expect("a file can be written");
        let signatures = folder.join("fuzz_signatures.txt");
        fs::write(signatures, signatures_of_the_reference()).expect("a file can be written");
        let data = data_folder(&folder, platform::NAME);
        let target = compile::Target {
            root: &folder,
            data: data.clone(),
            kinds: KINDS,
            source_platform: platform::NAME,
            release: false,
            exclude: &[],
            threads: 2,
        };
        let compiled = compile::compile(&target, &|_, _| ()).expect("the game is compiled");
        Stage { folder, index: compiled.index, data }
    }

    /// The index in which one resource has other data.
    fn with(&self, resource: &ResourceName, bytes: &[u8]) -> Index {
        fs::write(self.data.join("case"), bytes).expect("a file can be written");
        let mut index = self.index.clone();
        let entry = index.entries.iter_mut().find(|entry| entry.resource == *resource);
        let entry = entry.unwrap_or_else(|| panic!("the game has no {resource}"));
        entry.data = "case".to_string();
        entry.data_content = murmur64a(bytes, 0);
        index
    }

    /// The index of a few of the resources, one of each kind.
    pub fn small_index(&self) -> Index {
        let mut index = self.index.clone();
        let mut seen = std::collections::BTreeSet::new();
        index.entries.retain(|entry| seen.insert(entry.resource.kind.clone()));
        index.broken.truncate(1);
        index.failed.truncate(1);
        index
    }

    /// Data of every resource of a kind.
    pub fn all_of(&self, kind: &str) -> Vec<Vec<u8>> {
        let of_kind = self.index.entries.iter().filter(|entry| entry.resource.kind == kind);
        of_kind.filter_map(|entry| fs::read(self.data.join(&entry.data)).ok()).collect()
    }
}

const MIXER: &str = "buses = { music = { volume_db = -3 } effects = { parent = \"music\" } }\n";

/// Copies a folder, without the suites in it.
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

/// The line of every function in the reference: `Module.name(argument: type): type`.
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
            // A signature is the first line of its block; examples are others.
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
struct Played {
    arguments: Vec<String>,
    resource: ResourceName,
    app: Option<(App, Renderer)>,
    packet: Packet,
    cases: usize,
}

impl Played {
    fn new(kind: &str, name: &str) -> Played {
        let arguments = vec!["data".to_string(), format!("{kind}:{name}")];
        let resource = ResourceName::new(kind, name);
        Played { arguments, resource, app: None, packet: Packet::default(), cases: 0 }
    }

    fn of_calls() -> Played {
        let arguments = vec!["calls".to_string(), String::new()];
        Played { arguments, ..Played::new("binary", "data/bytes") }
    }

    fn of_reloads() -> Played {
        let arguments = vec!["reload".to_string(), String::new()];
        Played { arguments, ..Played::new("lua", "fuzz_held") }
    }

    /// Swaps the versions of the case's data in, one after the other, and plays frames with each.
    fn play(&mut self, stage: &Stage, versions: &[&[u8]]) {
        if self.cases >= CASES_MAX {
            self.app = None;
            self.cases = 0;
        }
        self.cases += 1;
        let mut app = self.app.take().unwrap_or_else(|| open(stage, &self.arguments, None));
        for version in versions {
            let index = stage.with(&self.resource, version);
            let changed = [self.resource.clone()];
            app.0.vm().engine().store.replace(index, &changed);
            // An error that ends the game is an answer, too; the next case has another one.
            if app.0.reload(&changed).is_err() {
                return;
            }
            for _ in 0..2 {
                if app.0.frame(HEADLESS_STEP).is_err() {
                    return;
                }
                let engine = app.0.vm().engine();
                self.packet = engine.take_packet(std::mem::take(&mut self.packet));
                self.packet = app.1.submit(std::mem::take(&mut self.packet));
                app.0.end_frame();
            }
        }
        self.app = Some(app);
    }
}

/// Opens the game; `user_settings` are what the player set before.
pub fn open(stage: &Stage, arguments: &[String], user_settings: Option<&[u8]>) -> (App, Renderer) {
    let store = Store::new(
        stage.index.clone(),
        Data::Folder(stage.data.clone(), engine::app::kinds::KINDS),
    );
    let opening = Opening {
        game: Game::Folder(stage.folder.clone()),
        build: Build::Development,
        arguments: arguments.to_vec(),
        seed: 1,
        deterministic: true,
        boot: None,
        forget: true,
        sandbox: true,
        coverage: false,
        lines: false,
        store: Some(store),
        watch: false,
        threads: Some(1),
        sound: Destination::Null,
    };
    let renderer = Renderer::start(Options {
        choice: Choice::Null,
        output: Output::Offscreen { width: 320, height: 200 },
        threaded: false,
        vsync: Vsync::Off,
        timing: false,
        quality: Quality::DEFAULT,
        clock: || 0.0,
    });
    let renderer = renderer.expect("nothing is needed to draw nothing");
    let mut app = App::open(opening).expect("the game opens");
    let engine = app.vm().engine();
    engine.picture.is_shown = true;
    engine.user_settings = user_settings.map(<[u8]>::to_vec);
    app.begin(Given::default());
    app.start().unwrap_or_else(|report| panic!("the game starts: {report}"));
    (app, renderer)
}
