//! Spawns resources of a game for a frame, in a run of the script core/tools/check.lua, without a
//! window, and returns the problems.

use super::agents::unknown_classes;
use super::field_lines::field_line;
use super::finding::{CheckFinding, CheckRule};
use super::platforms::CheckedPlatform;
use super::variants::SpawnRun;
use crate::frame_input::FrameInput;
use crate::{App, Game, GameLaunch, HEADLESS_STEP, VariantChoice};
use engine_foundation::error::messages;
use engine_foundation::{log, panic};
use engine_platform as platform;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_resource::variant::VariantPreferences;
use engine_runtime::Engine;
use engine_script::{ErrorReport, ScriptValue};
use std::collections::{BTreeSet, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The script that is played in place of the game's own.
const SCRIPT: &str = "tools.check";
/// Lua that returns the results of the script.
const RESULTS: &str = "Application.get_data('engine', 'check')";
/// Time that reading the results can take, in seconds.
const RESULT_SECONDS: f64 = 10.0;

/// Numbers of resources that were spawned.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpawnCounts {
    pub units: usize,
    pub models: usize,
    pub levels: usize,
}

/// A problem that the script found.
#[derive(Debug, PartialEq)]
struct Problem {
    resource: ResourceName,
    doing: String,
    message: String,
}

/// Spawns the resources of a run. Returns the findings, and the numbers of resources. Problems in
/// `reported` are left out, and new ones are added to it.
pub fn spawn(
    root: &Path,
    platform: &CheckedPlatform,
    run: &SpawnRun,
    reported: &mut HashSet<String>,
) -> (Vec<CheckFinding>, SpawnCounts) {
    let properties = run.preferred.properties().map(str::to_string).collect();
    let preferences = VariantPreferences::new(properties).expect("the compiler accepts the names");
    let store = platform.store.clone();
    // One argument, because a script can have only some thousand.
    let list = |all: &Vec<ResourceName>| {
        all.iter().map(ResourceName::to_string).collect::<Vec<_>>().join("\n")
    };
    let arguments = run.resources.iter().map(list).collect();
    let launch = GameLaunch {
        arguments,
        boot: Some(SCRIPT.to_string()),
        store: Some(store),
        variants: VariantChoice { source_platform: Some(platform.name.to_string()), preferences },
        ..GameLaunch::headless(Game::Folder(root.to_path_buf()))
    };
    log::forget_warnings();
    let logged_before = log::error_count();
    log::capture_errors();
    log::capture_data_warnings();
    // A panic of the engine is a finding, and the check goes on.
    let played = catch_unwind(AssertUnwindSafe(|| play(launch)));
    let mut logged = log::release_errors();
    let warnings = log::release_data_warnings();
    let dropped = (log::error_count() - logged_before).saturating_sub(logged.len() as u64);
    if dropped > 0 {
        logged.push(format!("{dropped} more errors were logged"));
    }
    let Played { results, failure, classes } = played
        .unwrap_or_else(|_| Played { failure: Some(panic::take_panic()), ..Played::default() });
    // A unit in a level has been reported there.
    let is_reported = |at: &str| {
        let start = format!("{at}: the unit gets no agent");
        warnings.iter().any(|text| text.starts_with(&start))
    };
    let classes = classes.into_iter().filter(|(at, _)| !is_reported(at));
    let classes: Vec<String> = classes.map(|(at, text)| format!("{at}: {text}")).collect();
    let (problems, counts) = match &results {
        Some(results) => read_results(results),
        None => {
            if failure.is_none() {
                logged.push("the units and levels could not be checked".to_string());
            }
            Default::default()
        }
    };
    let new = problems.iter().filter(|problem| reported.insert(format!("{problem:?}")));
    let mut findings: Vec<CheckFinding> =
        new.flat_map(|problem| spawn_findings((root, platform), run, problem)).collect();
    let is_caused = |text: &String| {
        let ends = |finding: &CheckFinding| finding.text.ends_with(&format!(": {text}"));
        findings.iter().any(ends)
    };
    let logged = logged.iter().flat_map(|text| messages(text)).map(str::to_string);
    let errors = logged.filter(|text| !is_caused(text)).chain(failure);
    let errors: Vec<String> = errors.collect();
    let new = errors.into_iter().filter(|text| reported.insert(text.clone()));
    findings.extend(new.map(|text| {
        let finding = CheckFinding::error(CheckRule::Log, text);
        CheckFinding { variant: run.preferred.to_string(), ..platform.locate(finding) }
    }));
    let new = warnings.into_iter().chain(classes).filter(|text| reported.insert(text.clone()));
    findings.extend(new.map(|text| platform.locate(CheckFinding::warning(CheckRule::Spawn, text))));
    (findings, counts)
}

/// Outcome of a run: the results of the script, the error that ended it, and the locations and
/// messages about classes of characters.
#[derive(Default)]
struct Played {
    results: Option<ScriptValue>,
    failure: Option<String>,
    classes: Vec<(String, String)>,
}

/// Plays the script to its end.
fn play(launch: GameLaunch) -> Played {
    let mut app = match App::open(launch) {
        Ok(app) => app,
        Err(error) => {
            return Played { failure: Some(error.to_string()), ..Played::default() };
        }
    };
    app.vm().engine().worlds.flow.is_checked = true;
    if app.has_graphs() {
        app.ready_flow();
    }
    app.begin(FrameInput::default());
    let mut played = app.start();
    while played.is_ok() && app.quit().is_none() && platform::end_requested().is_none() {
        played = app.frame(HEADLESS_STEP);
        app.end_frame();
    }
    let failure = played.err().map(|report| describe(&report));
    app.check_graphs();
    check_unused_machines(&mut app);
    let classes = unknown_classes(app.vm().engine());
    let arguments = [ScriptValue::Text(RESULTS.to_string()), ScriptValue::Boolean(true)];
    let results = app.vm().call_core("tool_eval", &arguments, RESULT_SECONDS);
    let results = results.ok().and_then(|results| field(&results, "data").cloned());
    Played { results, failure, classes }
}

/// Logs the errors of state machines that no unit has used: scripts can give them to units.
fn check_unused_machines(app: &mut App) {
    let Engine { worlds, assets, .. } = app.vm().engine();
    let index = assets.store.index();
    let resources = index.entries.iter().map(|entry| &entry.resource);
    let machines = resources.filter(|resource| resource.kind == kind_names::STATE_MACHINE);
    let names: BTreeSet<String> = machines.map(|resource| resource.name.clone()).collect();
    for name in names {
        if let Err(error) = worlds.check_unused_machine(assets, &name) {
            log::error(&error.message);
        }
    }
}

/// Returns the first line of a report, with its location.
pub fn describe(report: &ErrorReport) -> String {
    match &report.location {
        Some(at) if !report.message.starts_with(&at.file) => {
            format!("{}:{}: {}", at.file, at.line, report.message)
        }
        _ => report.message.clone(),
    }
}

fn field<'a>(table: &'a ScriptValue, name: &str) -> Option<&'a ScriptValue> {
    let ScriptValue::Table(fields) = table else { return None };
    fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

fn text(table: &ScriptValue, name: &str) -> Option<String> {
    match field(table, name) {
        Some(ScriptValue::Text(text)) => Some(text.clone()),
        _ => None,
    }
}

fn read_results(results: &ScriptValue) -> (Vec<Problem>, SpawnCounts) {
    let count = |name: &str| match field(results, name) {
        Some(ScriptValue::Number(number)) => *number as usize,
        _ => 0,
    };
    let counts =
        SpawnCounts { units: count("unit"), models: count("model"), levels: count("level") };
    let problem = |value: &ScriptValue| {
        let resource = ResourceName::parse(&text(value, "resource")?)?;
        Some(Problem { resource, doing: text(value, "doing")?, message: text(value, "message")? })
    };
    let problems = match field(results, "problems") {
        Some(ScriptValue::List(problems)) => problems.iter().filter_map(problem).collect(),
        _ => Vec::new(),
    };
    (problems, counts)
}

/// Returns the finding of a problem, and those of the other errors of the file that caused it.
fn spawn_findings(
    (root, platform): (&Path, &CheckedPlatform),
    run: &SpawnRun,
    problem: &Problem,
) -> Vec<CheckFinding> {
    let mut lines = problem.message.lines();
    let first = lines.next().unwrap_or_default();
    let other = |line: &str| CheckFinding {
        variant: run.preferred.to_string(),
        ..platform.locate(CheckFinding::error(CheckRule::Spawn, line.to_string()))
    };
    let others: Vec<CheckFinding> = lines.map(other).collect();
    if others.iter().any(|finding| finding.file.is_none()) {
        return vec![spawn_finding((root, platform), run, problem, &problem.message)];
    }
    [vec![spawn_finding((root, platform), run, problem, first)], others].concat()
}

fn spawn_finding(
    (root, platform): (&Path, &CheckedPlatform),
    run: &SpawnRun,
    problem: &Problem,
    message: &str,
) -> CheckFinding {
    let Problem { resource, doing, .. } = problem;
    let with = match run.preferred.is_base() {
        true => String::new(),
        false => {
            let names: Vec<&str> = run.preferred.properties().collect();
            format!(" with the variants [{}]", names.join(", "))
        }
    };
    let on = if platform.is_native() { String::new() } else { format!(" on {}", platform.name) };
    let entries = platform.store.index().variants(resource);
    let mut usable = entries.iter().filter(|entry| entry.properties.is_subset_of(&run.preferred));
    let file = usable.next_back().map(|entry| entry.files[0].path.clone());
    let of_unit = file.as_ref().filter(|file| **file == resource.to_string());
    let line = of_unit.and_then(|file| field_line(root, file, message));
    let at = line.map_or(String::new(), |line| format!(":{line}"));
    let finding = CheckFinding {
        rule: CheckRule::Spawn,
        is_warning: false,
        file,
        line,
        text: format!("{resource}{at}: {doing}{with}{on}: {message}"),
        platform: None,
        variant: run.preferred.to_string(),
    };
    platform.locate(finding)
}
