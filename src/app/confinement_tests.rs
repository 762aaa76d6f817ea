//! Tests of the confinement's status, as lines of the log and as warnings, and of the access of
//! each command, row by row as in the table of docs/security.md. tests/confinement/commands.rs
//! tests from outside that each command is confined.

use super::*;
use crate::run_permissions::{check_outputs as check_run_outputs, plan};
use crate::{
    AdapterChoice, DisplayPolicy, FilmRequest, FrameCaptureRequest, ProfileOutputs, RemoteAccess,
    RunOptions, ScreenshotRequest,
};
use engine_sound::AudioDestination;
use std::collections::BTreeSet;

fn full_confinement() -> ConfinementStatus {
    ConfinementStatus {
        begun: true,
        quiet: false,
        files: Some(Ok(ConfinementLevel { version: 7, threads_outside: 0 })),
        programs: Some(Ok(())),
        broker: None,
    }
}

#[test]
fn log_reports_confinement_and_warns_of_missing_parts() {
    let check = |state: ConfinementStatus, wanted: &[(&str, bool)]| {
        let lines = state.lines();
        let found: Vec<_> = lines.iter().map(|line| (&*line.text, line.is_fault)).collect();
        assert_eq!(found, wanted);
        let each: Vec<_> = lines.into_iter().map(Some).collect();
        let faults = wanted.iter().filter(|(_, is_fault)| *is_fault);
        let remedy = "(--unconfined, or ENGINE_UNCONFINED=1, runs without it)";
        let warnings: Vec<_> = faults.map(|(text, _)| format!("{text} {remedy}")).collect();
        assert_eq!(state.warnings(&each), warnings);
        // A worker's parent process has printed the warning.
        let quiet = ConfinementStatus { quiet: true, ..state };
        assert_eq!(quiet.warnings(&each), Vec::<String>::new());
    };
    let files = "confinement: files are limited (Landlock 7)";
    let programs = "confinement: no programs are started";
    check(full_confinement(), &[(files, false), (programs, false)]);
    let threads = ConfinementLevel { version: 6, threads_outside: 2 };
    check(
        ConfinementStatus { files: Some(Ok(threads)), ..full_confinement() },
        &[
            (
                "confinement: files are limited (Landlock 6), but not for 2 other threads, \
                 which run already",
                true,
            ),
            (programs, false),
        ],
    );
    check(
        ConfinementStatus {
            files: Some(Err("the kernel has Landlock switched off".to_string())),
            programs: Some(Err("the kernel has no filter".to_string())),
            ..full_confinement()
        },
        &[
            ("confinement: files are not limited: the kernel has Landlock switched off", true),
            ("confinement: programs are not forbidden: the kernel has no filter", true),
        ],
    );
    let mut plan = ConfinementPlan::default();
    plan.add_window();
    plan.add_outputs([&PathBuf::from("a.png")]);
    plan.duties.appends = Some("spec".into());
    let lost = plan.broker_work();
    let broker = NoBroker { reason: "no memory".to_string(), lost, outputs: true };
    check(
        ConfinementStatus { broker: Some(broker), ..full_confinement() },
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
    // The status is not known yet.
    check(ConfinementStatus { files: None, programs: None, ..full_confinement() }, &[]);
}

#[test]
fn a_run_with_unwritable_outputs_is_refused_at_start() {
    let check = |outputs: bool, limited: bool| {
        let broker = NoBroker { reason: "no memory".to_string(), lost: Vec::new(), outputs };
        let mut state = ConfinementStatus { broker: Some(broker), ..full_confinement() };
        if !limited {
            state.files = Some(Err("no Landlock".to_string()));
        }
        state.check_outputs().map_err(|error| error.message)
    };
    let message = check(true, true).unwrap_err();
    assert!(message.starts_with("the files that the command line names cannot be written, "));
    assert!(message.contains("no memory (--unconfined writes them"), "{message}");
    assert_eq!((check(false, true), check(true, false)), (Ok(()), Ok(())));
    assert!(full_confinement().check_outputs().is_ok());
    let mut plan = ConfinementPlan::default();
    plan.add_outputs(&None);
    plan.add_possible_output("last_picture.png".into());
    assert!(!plan.named_outputs);
    plan.add_outputs([&PathBuf::from("a.png")]);
    assert!(plan.named_outputs);
}

/// A scratch folder with a game, and the game's save folder.
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

    /// Returns the expected write access of a run. Without a home folder there are no saves.
    fn writes(&self) -> &'static str {
        match platform::save_folder(&self.id) {
            Ok(_) => "writes game/.engine SAVES",
            Err(_) => "writes game/.engine",
        }
    }

    /// Returns a plan as text. Paths are relative to the scratch folder.
    fn describe(&self, plan: &ConfinementPlan) -> String {
        let saves = platform::save_folder(&self.id).ok();
        let ConfinementPlan { file_access, duties, window, .. } = plan;
        let mut parts = Vec::new();
        let mut add = |kind: &str, paths: &[PathBuf]| {
            let shown = paths.iter().map(|path| match path {
                path if saves.as_ref() == Some(path) => "SAVES".to_string(),
                path => path.strip_prefix(&self.folder).unwrap_or(path).display().to_string(),
            });
            let shown: Vec<_> = shown.collect();
            if !shown.is_empty() {
                parts.push(format!("{kind} {}", shown.join(" ")));
            }
        };
        add("reads", &file_access.read);
        add("writes", &file_access.write);
        add("files", &file_access.files);
        assert!(file_access.programs.iter().all(|path| path.ends_with(FRAME_PROGRAM) && *window));
        add("replaces", &duties.outputs);
        add("appends", duties.appends.as_slice());
        for (holds, word) in [
            (file_access.devices, "devices"),
            (file_access.driver_cache.as_ref() == Some(&self.id), "own shaders"),
            (file_access.abstract_sockets, "sockets"),
            (duties.open_address.is_some(), "addresses"),
            (duties.drops, "drops"),
        ] {
            parts.extend(holds.then(|| word.to_string()));
        }
        parts.join("; ")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
        // The folder is empty, because no game was played.
        let _ = platform::save_folder(&self.id).map(std::fs::remove_dir);
    }
}

#[test]
fn a_run_can_access_the_game_its_saves_and_command_line_files() {
    let scratch = Scratch::new("run");
    let base = format!("reads game; {}", scratch.writes());
    let plain = RunOptions::headless(scratch.game());
    assert_eq!(scratch.describe(&plan(&plain)), format!("{base}; devices; own shaders"));
    let always_remote =
        RunOptions { tools: RemoteAccess::Always, ..RunOptions::headless(scratch.game()) };
    assert_eq!(
        scratch.describe(&plan(&always_remote)),
        format!("{base}; devices; own shaders; sockets")
    );
    let named = RunOptions {
        record: Some(scratch.file("a.recording")),
        sound: AudioDestination::File(scratch.file("a.wav")),
        display: DisplayPolicy {
            screenshot: Some(ScreenshotRequest { file: scratch.file("a.png"), frame: None }),
            film: Some(FilmRequest { file: scratch.file("film.png"), first: 1, last: 8 }),
            ..DisplayPolicy::NONE
        },
        profile_outputs: ProfileOutputs {
            trace: Some(scratch.file("a.json")),
            ..ProfileOutputs::default()
        },
        ..RunOptions::headless(scratch.game())
    };
    let files = "files a.wav; replaces a.png film.png a.recording a.json";
    assert_eq!(scratch.describe(&plan(&named)), format!("{base}; {files}; devices; own shaders"));
    assert!(plan(&named).named_outputs);
    // A recording contains its own saves.
    let replay =
        RunOptions { replay: Some(scratch.file("b")), ..RunOptions::headless(scratch.game()) };
    let wanted = "reads game b; writes game/.engine; devices; own shaders";
    assert_eq!(scratch.describe(&plan(&replay)), wanted);
    let show =
        DisplayPolicy { window: true, renderer: Some(AdapterChoice::Null), ..DisplayPolicy::NONE };
    let window = RunOptions { display: show, ..RunOptions::headless(scratch.game()) };
    let duties = "replaces last_picture.png; devices; own shaders; sockets; addresses; drops";
    assert_eq!(scratch.describe(&plan(&window)), format!("{base}; {duties}"));
    assert!(plan(&window).window && !plan(&window).named_outputs);
}

#[test]
fn a_captured_frame_is_written_to_a_new_folder_alone() {
    let scratch = Scratch::new("capture");
    let captures = |folder: &str| RunOptions {
        display: DisplayPolicy {
            capture_frame: Some(FrameCaptureRequest { folder: scratch.file(folder), frame: None }),
            ..DisplayPolicy::NONE
        },
        ..RunOptions::headless(scratch.game())
    };
    // The game's folder, one above it, one in it, and a file.
    std::fs::create_dir_all(scratch.file("game/empty")).unwrap();
    for wrong in ["game", ".", "game/empty", "game/main.lua"] {
        let error = check_run_outputs(&captures(wrong)).expect_err(wrong);
        assert!(error.message.contains("exists already: name a new folder"), "{}", error.message);
    }
    let good = captures("frames/first");
    check_run_outputs(&good).unwrap();
    assert!(scratch.file("frames/first").is_dir());
    let base = format!("reads game; {} frames/first", scratch.writes());
    assert_eq!(scratch.describe(&plan(&good)), format!("{base}; devices; own shaders"));
    assert!(check_run_outputs(&good).is_err(), "a second run would mix the files of two frames");
}

#[test]
fn commands_can_access_the_game_folder_and_their_outputs() {
    let scratch = Scratch::new("compile");
    let (game, folder) = (scratch.game(), scratch.file("game"));
    let check = |plan: &ConfinementPlan, wanted: &str| assert_eq!(scratch.describe(plan), wanted);
    // Reading a folder creates no files in it.
    check(&ConfinementPlan::of_folder(&folder), "reads game");
    check(&ConfinementPlan::to_check(&game, &[]), &format!("reads game; {}", scratch.writes()));
    check(&ConfinementPlan::of_game(&game, platform::NAME), "reads game; writes game/.engine");
    check(&ConfinementPlan::of_folder(&folder), "reads game; writes game/.engine");
    check(&ConfinementPlan::of_game(&Game::Folder(scratch.file("missing")), platform::NAME), "");
    let out = scratch.file("data");
    check(&ConfinementPlan::to_compile(&folder, &out), "reads game; writes game/.engine data");
    let file = scratch.file("a.bundle");
    let data = scratch.file("cache");
    let bundle = ConfinementPlan::to_bundle(&folder, &data, &[], &file);
    check(&bundle, "reads game; writes game/.engine cache; replaces a.bundle");
    assert!(bundle.named_outputs);
    let font = ConfinementPlan::to_convert(&scratch.file("in/a.fnt"), &scratch.file("out/b.fnt"));
    check(&font, "reads in; writes out");
    check(
        &ConfinementPlan::to_convert(Path::new("a.fnt"), Path::new("b.fnt")),
        "reads .; writes .",
    );
    // A link in place of the engine's own folder is not followed.
    #[cfg(unix)]
    {
        std::fs::remove_dir_all(folder.join(".engine")).unwrap();
        std::os::unix::fs::symlink(&scratch.folder, folder.join(".engine")).unwrap();
        check(&ConfinementPlan::of_folder(&folder), "reads game");
        check(&ConfinementPlan::of_game(&game, platform::NAME), "reads game");
    }
}

#[test]
fn the_manual_lists_the_tested_permissions() {
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
        // Commands that are not confined.
        "test --no-sandbox`",
        "dap`",
        "merge`, `engine diff`",
        "new`, `docs`, `report`",
    ];
    assert_eq!(rows, BTreeSet::from(tested));
}
