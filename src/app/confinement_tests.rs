//! How well a process is confined, as lines of the log and as warnings; what each command can
//! reach, row by row of the table in docs/security.md. That each command is confined is tested from
//! outside (tests/confinement/commands.rs).

use super::*;
use crate::app::play_access::plan;
use crate::app::{Choice, HEADLESS_STEP, LetIn, Measures, Options, Pace, Screenshot, Show};
use crate::system::sound::Destination;
use std::collections::BTreeSet;

fn all_there() -> State {
    State {
        begun: true,
        quiet: false,
        files: Some(Ok(Limited { version: 7, threads_outside: 0 })),
        programs: Some(Ok(())),
        broker: None,
    }
}

#[test]
fn the_log_says_how_the_process_is_confined_and_a_warning_says_what_is_missing() {
    let check = |state: State, wanted: &[(&str, bool)]| {
        let lines = state.lines();
        let found: Vec<_> = lines.iter().map(|line| (&*line.text, line.is_fault)).collect();
        assert_eq!(found, wanted);
        let each: Vec<_> = lines.into_iter().map(Some).collect();
        let faults = wanted.iter().filter(|(_, is_fault)| *is_fault);
        let remedy = "(--unconfined, or ENGINE_UNCONFINED=1, runs without it)";
        let warnings: Vec<_> = faults.map(|(text, _)| format!("{text} {remedy}")).collect();
        assert_eq!(state.warnings(&each), warnings);
        // A worker's parent has said it.
        let quiet = State { quiet: true, ..state };
        assert_eq!(quiet.warnings(&each), Vec::<String>::new());
    };
    let files = "confinement: files are limited (Landlock 7)";
    let programs = "confinement: no programs are started";
    check(all_there(), &[(files, false), (programs, false)]);
    let threads = Limited { version: 6, threads_outside: 2 };
    check(
        State { files: Some(Ok(threads)), ..all_there() },
        &[
            (
                "confinement: files are limited (Landlock 6), but not for 2 threads that \
                 libraries had started before",
                true,
            ),
            (programs, false),
        ],
    );
    check(
        State {
            files: Some(Err("the kernel has Landlock switched off".to_string())),
            programs: Some(Err("the kernel has no filter".to_string())),
            ..all_there()
        },
        &[
            ("confinement: files are not limited: the kernel has Landlock switched off", true),
            ("confinement: programs are not forbidden: the kernel has no filter", true),
        ],
    );
    let mut plan = Plan::default();
    plan.add_window();
    plan.add_outputs([&PathBuf::from("a.png")]);
    plan.duties.appends = Some("spec".into());
    let lost = plan.broker_work();
    let broker = NoBroker { reason: "no memory".to_string(), lost, outputs: true };
    check(
        State { broker: Some(broker), ..all_there() },
        &[
            (files, false),
            (programs, false),
            (
                "confinement: there is no broker (no memory): no address is opened in the \
                 browser, no file that the command line names is replaced, no names are added to \
                 the file of 'log-success', no dropped file is read",
                true,
            ),
        ],
    );
    // Nothing is known yet.
    check(State { files: None, programs: None, ..all_there() }, &[]);
}

#[test]
fn a_run_whose_files_nobody_could_write_is_refused_before_it_begins() {
    let check = |outputs: bool, limited: bool| {
        let broker = NoBroker { reason: "no memory".to_string(), lost: Vec::new(), outputs };
        let mut state = State { broker: Some(broker), ..all_there() };
        if !limited {
            state.files = Some(Err("no Landlock".to_string()));
        }
        state.check_outputs().map_err(|error| error.message)
    };
    let message = check(true, true).unwrap_err();
    assert!(message.starts_with("the files that the command line names cannot be written, "));
    assert!(message.contains("no memory (--unconfined writes them"), "{message}");
    assert_eq!((check(false, true), check(true, false)), (Ok(()), Ok(())));
    assert!(all_there().check_outputs().is_ok());
    let mut plan = Plan::default();
    plan.add_outputs(&None);
    plan.add_possible_output("last_picture.png".into());
    assert!(!plan.named_outputs);
    plan.add_outputs([&PathBuf::from("a.png")]);
    assert!(plan.named_outputs);
}

/// A scratch folder with a game, and the folder of its saves.
struct Scratch {
    folder: PathBuf,
    id: String,
}

impl Scratch {
    fn new(name: &str) -> Scratch {
        let id = format!("engine-{}-plan-{name}", std::process::id());
        let folder = std::env::temp_dir().join(&id);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("game")).unwrap();
        std::fs::write(folder.join("game/settings.sjson"), format!("id = \"{id}\"")).unwrap();
        std::fs::write(folder.join("game/main.lua"), "").unwrap();
        Scratch { folder, id }
    }

    fn game(&self) -> Game {
        Game::Folder(self.folder.join("game"))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// What a run of the game writes: without a home folder there are no saves.
    fn writes(&self) -> &'static str {
        match platform::save_folder(&self.id) {
            Ok(_) => "writes game/.engine SAVES",
            Err(_) => "writes game/.engine",
        }
    }

    /// All that a plan has, in words: paths are those below the scratch folder.
    fn words(&self, plan: &Plan) -> String {
        let saves = platform::save_folder(&self.id).ok();
        let Plan { reach, duties, window, .. } = plan;
        let mut words = Vec::new();
        let mut add = |kind: &str, paths: &[PathBuf]| {
            let shown = paths.iter().map(|path| match path {
                path if saves.as_ref() == Some(path) => "SAVES".to_string(),
                path => path.strip_prefix(&self.folder).unwrap_or(path).display().to_string(),
            });
            let shown: Vec<_> = shown.collect();
            if !shown.is_empty() {
                words.push(format!("{kind} {}", shown.join(" ")));
            }
        };
        add("reads", &reach.read);
        add("writes", &reach.write);
        add("files", &reach.files);
        assert!(reach.programs.iter().all(|path| path.ends_with(FRAME_PROGRAM) && *window));
        add("replaces", &duties.outputs);
        add("appends", duties.appends.as_slice());
        for (holds, word) in [
            (reach.devices, "devices"),
            (reach.driver_cache.as_ref() == Some(&self.id), "own shaders"),
            (reach.abstract_sockets, "sockets"),
            (duties.open_address.is_some(), "addresses"),
            (duties.drops, "drops"),
        ] {
            words.extend(holds.then(|| word.to_string()));
        }
        words.join("; ")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
        // Empty, for nothing was played.
        let _ = platform::save_folder(&self.id).map(std::fs::remove_dir);
    }
}

fn options(game: Game) -> Options {
    Options {
        game,
        pace: Pace::Fixed(HEADLESS_STEP),
        frames: None,
        seed: 0,
        boot: None,
        arguments: Vec::new(),
        watch: false,
        threads: None,
        record: None,
        replay: None,
        sound: Destination::Null,
        show: Show::NOTHING,
        tools: LetIn::Never,
        measures: Measures::default(),
        frames_without_display: None,
        confined: true,
    }
}

#[test]
fn a_run_reaches_the_game_its_saves_and_the_files_of_the_command_line() {
    let scratch = Scratch::new("run");
    let base = format!("reads game; {}", scratch.writes());
    let plain = options(scratch.game());
    assert_eq!(scratch.words(&plan(&plain)), format!("{base}; devices; own shaders"));
    let lent = Options { tools: LetIn::Always, ..options(scratch.game()) };
    assert_eq!(scratch.words(&plan(&lent)), format!("{base}; devices; own shaders; sockets"));
    let named = Options {
        record: Some(scratch.file("a.recording")),
        sound: Destination::File(scratch.file("a.wav")),
        show: Show {
            screenshot: Some(Screenshot { file: scratch.file("a.png"), frame: None }),
            ..Show::NOTHING
        },
        measures: Measures { trace: Some(scratch.file("a.json")), ..Measures::default() },
        ..options(scratch.game())
    };
    let files = "files a.wav; replaces a.png a.recording a.json";
    assert_eq!(scratch.words(&plan(&named)), format!("{base}; {files}; devices; own shaders"));
    assert!(plan(&named).named_outputs);
    // A recording has saves of its own.
    let replay = Options { replay: Some(scratch.file("b")), ..options(scratch.game()) };
    let wanted = "reads game b; writes game/.engine; devices; own shaders";
    assert_eq!(scratch.words(&plan(&replay)), wanted);
    let show = Show { window: true, renderer: Some(Choice::Null), ..Show::NOTHING };
    let window = Options { show, ..options(scratch.game()) };
    let duties = "replaces last_picture.png; devices; own shaders; sockets; addresses; drops";
    assert_eq!(scratch.words(&plan(&window)), format!("{base}; {duties}"));
    assert!(plan(&window).window && !plan(&window).named_outputs);
}

#[test]
fn commands_that_read_a_game_or_compile_it_reach_its_folder_and_their_outputs() {
    let scratch = Scratch::new("compile");
    let (game, folder) = (scratch.game(), scratch.file("game"));
    let check = |plan: &Plan, wanted: &str| assert_eq!(scratch.words(plan), wanted);
    // Nothing is made by reading a folder.
    check(&Plan::of_folder(&folder), "reads game");
    check(&Plan::to_check(&game), &format!("reads game; {}", scratch.writes()));
    check(&Plan::of_game(&game), "reads game; writes game/.engine");
    check(&Plan::of_folder(&folder), "reads game; writes game/.engine");
    check(&Plan::of_game(&Game::Folder(scratch.file("missing"))), "");
    let out = scratch.file("data");
    check(&Plan::to_compile(&folder, &out), "reads game; writes game/.engine data");
    let file = scratch.file("a.bundle");
    let bundle = Plan::to_bundle(&folder, &file);
    check(&bundle, "reads game; writes game/.engine; replaces a.bundle");
    assert!(bundle.named_outputs);
    let font = Plan::to_convert(&scratch.file("in/a.fnt"), &scratch.file("out/b.fnt"));
    check(&font, "reads in; writes out");
    check(&Plan::to_convert(Path::new("a.fnt"), Path::new("b.fnt")), "reads .; writes .");
    // A link in the place of the engine's own folder is not followed.
    #[cfg(unix)]
    {
        std::fs::remove_dir_all(folder.join(".engine")).unwrap();
        std::os::unix::fs::symlink(&scratch.folder, folder.join(".engine")).unwrap();
        check(&Plan::of_folder(&folder), "reads game");
        check(&Plan::of_game(&game), "reads game");
    }
}

#[test]
fn the_rows_of_the_manual_are_those_that_are_tested() {
    let document = include_str!("../../docs/security.md");
    let section = document.split("### What each command can reach").nth(1).expect("it is there");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `engine "));
    let rows: BTreeSet<&str> = rows.map(|row| row.split(" |").next().unwrap_or(row)).collect();
    let tested = [
        "run`, a bundle, an executable with a bundle",
        "test`",
        "check`, `engine explain`",
        "compile`",
        "font`",
        "console`",
        // Not confined.
        "test --no-sandbox`",
        "new`, `docs`, `report`",
    ];
    assert_eq!(rows, BTreeSet::from(tested));
}
