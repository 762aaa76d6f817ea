//! `engine script`: runs a Lua file over all resources of a game, shows the changes of their data,
//! and applies them as one change. A worker process runs the Lua: it is confined, and cannot write
//! sources. This process checks and applies its results.

use super::confinement_flag::ConfinementFlag;
use super::content_change::complete_interrupted;
use super::diff::print_change;
use super::merge::ReportFormat;
use engine_app::confinement::{self, ConfinementPlan};
use engine_app::content_script::{self, ScriptedChange};
use engine_app::{Game, content, exit};
use engine_content::changes::{self, ChangeSet, FileChange, content_hash};
use engine_content::diff::{self, Differences};
use engine_content::paths::left_out_message;
use engine_foundation::atomic_file;
use engine_foundation::file_access::{self, readers};
use engine_foundation::json;
use engine_foundation::own_folder;
use engine_foundation::sjson::{self, SjsonTree};
use engine_foundation::terminal;
use engine_foundation::{Error, error};
use engine_platform as platform;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Change the data of many resources with a Lua script
///
/// The script returns a function, which gets each resource as a table: path, kind, name, files,
/// data, and width and height of a picture. It changes `resource.data`. The changes are made
/// completely or not at all, and `engine undo` takes them back.
#[derive(clap::Args)]
pub struct Args {
    /// The script
    script: PathBuf,
    /// The game's folder
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Show the changes, and change nothing
    #[arg(long)]
    preview: bool,
    /// CPU time of the script for each resource, in seconds
    #[arg(long, value_name = "NUMBER", default_value_t = content_script::RESOURCE_SECONDS,
        value_parser = seconds)]
    seconds: f64,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    output: ReportFormat,
    /// Run the script in this process, and write the new texts to a file
    #[arg(long, value_name = "FILE", hide = true)]
    worker: Option<PathBuf>,
    #[command(flatten)]
    confine: ConfinementFlag,
}

/// Maximum time of a script for one resource, in seconds.
const SECONDS_MAX: f64 = 86_400.0;

fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let number = number.filter(|number| (0.001..=SECONDS_MAX).contains(number));
    number.ok_or_else(|| format!("give a number from 0.001 to {SECONDS_MAX}"))
}

pub fn main(args: Args) -> i32 {
    let done = match &args.worker {
        Some(file) => work(&args, file),
        None => run(&args),
    };
    done.unwrap_or_else(|error| {
        engine_foundation::error_line!("error: {error}");
        exit::FAILED
    })
}

fn run(args: &Args) -> Result<i32, Error> {
    let shown = args.script.display().to_string();
    complete_interrupted(&args.folder, args.preview)?;
    content::check_folder(&args.folder)?;
    let Some(changed) = results_of_worker(args)? else { return Ok(exit::FAILED) };
    match args.output {
        ReportFormat::Text => changed.iter().try_for_each(print)?,
        ReportFormat::Json => {
            let rows = changed.iter().map(row).collect::<Result<_, Error>>()?;
            let tree = json::object([
                ("version", SjsonTree::Number(1.0)),
                ("applied", SjsonTree::Bool(!args.preview)),
                ("files", SjsonTree::Array(rows)),
            ]);
            terminal::print(&format!("{}\n", json::write_indented(&tree)));
        }
    }
    let count = changed.len();
    if !args.preview && count > 0 {
        changes::apply(&args.folder, &change_set(&shown, changed))?;
    }
    if args.output == ReportFormat::Text {
        let files = if count == 1 { "file" } else { "files" };
        let folder = args.folder.display();
        match (count, args.preview) {
            (0, true) => engine_foundation::print_line!("no file would change"),
            (0, false) => engine_foundation::print_line!("no file changed"),
            (_, true) => engine_foundation::print_line!("{count} {files} would change"),
            (_, false) => engine_foundation::print_line!(
                "{count} {files} changed: `engine undo {folder}` takes it back"
            ),
        }
    }
    Ok(exit::SUCCESS)
}

/// Runs the script in a worker process, and reads the new texts. Returns `None` if the worker has
/// failed, and reported why.
fn results_of_worker(args: &Args) -> Result<Option<Vec<ScriptedChange>>, Error> {
    let own = own_folder::create(&args.folder)
        .map_err(|reason| error!("{}: {reason}", args.folder.join(own_folder::NAME).display()))?;
    let results = own.join(format!("script-{}.json", std::process::id()));
    let engine = std::env::current_exe().map_err(|reason| error!("the engine: {reason}"))?;
    let mut worker = Command::new(engine);
    worker.arg("script").arg(&args.script).arg(&args.folder).arg("--worker").arg(&results);
    worker.arg("--seconds").arg(args.seconds.to_string());
    if !args.confine.is_enabled() {
        worker.arg("--unconfined");
    }
    // The output of the script would be between the JSON.
    let output = if args.output == ReportFormat::Json { Stdio::null() } else { Stdio::inherit() };
    let status = worker.stdin(Stdio::null()).stdout(output).status();
    let text = file_access::read_named(&results, &readers::SOURCE);
    // A worker that failed has not written it.
    let _ = atomic_file::disk::remove(&results);
    if !status.map_err(|reason| error!("the engine cannot be started: {reason}"))?.success() {
        return Ok(None);
    }
    let text = text.map_err(|refusal| error!("the results of the script: {refusal}"))?;
    let tree = sjson::parse_bytes(&text).map_err(|problem| error!("{problem}"))?.to_tree();
    let SjsonTree::Array(rows) = tree else { return Err(error!("the results are damaged")) };
    rows.iter().map(|row| read_change(&args.folder, row)).collect::<Result<_, _>>().map(Some)
}

/// Reads a change of the worker, with the file as it is now. The path is checked when the change is
/// applied.
fn read_change(folder: &Path, row: &SjsonTree) -> Result<ScriptedChange, Error> {
    let text = |key: &str| match row.get(key) {
        Some(SjsonTree::String(text)) => Some(text.clone()),
        _ => None,
    };
    let (Some(path), Some(new)) = (text("path"), text("text")) else {
        return Err(error!("the results of the script are damaged"));
    };
    let old = match text("hash") {
        None => None,
        Some(hash) => {
            let old = file_access::read(folder, &path, &readers::SOURCE_TEXT)
                .map_err(|refusal| Error::new(refusal.message(&path)))?;
            if hash_text(&old) != hash {
                return Err(error!("{path}: the file has changed since it was read: try again"));
            }
            Some(old)
        }
    };
    Ok(ScriptedChange { path, old, text: new })
}

fn hash_text(bytes: &[u8]) -> String {
    format!("{:016x}", content_hash(bytes))
}

/// The worker: runs the script, and writes the new texts to a file.
fn work(args: &Args, results: &Path) -> Result<i32, Error> {
    let shown = args.script.display().to_string();
    let script = file_access::read_named(&args.script, &readers::SCRIPT)
        .map_err(|refusal| error!("'{shown}' cannot be read: {refusal}"))?;
    let script =
        String::from_utf8(script).map_err(|_| error!("'{shown}' is not UTF-8: it is no script"))?;
    if args.confine.is_enabled() {
        let game = Game::Folder(args.folder.clone());
        let plan = ConfinementPlan::of_game(&game, platform::NAME);
        plan.with_folder(results.parent()).begin();
        confinement::forbid_programs(false);
    }
    let graph = content::graph(&args.folder)?;
    for problem in &graph.problems {
        engine_foundation::error_line!("warning: {problem}");
    }
    platform::install_signal_handlers();
    let changed = content_script::run(&graph, &shown, &script, args.seconds)?;
    let rows = changed.into_iter().map(|ScriptedChange { path, old, text }| {
        let hash = old.map_or(SjsonTree::Null, |old| json::text(hash_text(&old)));
        json::object([("path", json::text(path)), ("hash", hash), ("text", json::text(text))])
    });
    let text = json::write(&SjsonTree::Array(rows.collect()));
    atomic_file::write_whole(results, text.as_bytes())
        .map_err(|reason| error!("{}: {reason}", results.display()))?;
    Ok(exit::SUCCESS)
}

fn change_set(script: &str, changed: Vec<ScriptedChange>) -> ChangeSet {
    let mut set = ChangeSet { title: format!("script {script}"), ..ChangeSet::default() };
    for ScriptedChange { path, old, text } in changed {
        let bytes = text.into_bytes();
        match old {
            Some(old) => {
                set.expected_hashes.push((path.clone(), content_hash(&old)));
                set.changes.push(FileChange::Write { path, bytes });
            }
            None => set.changes.push(FileChange::Create { path, bytes }),
        }
    }
    set
}

fn differences(change: &ScriptedChange) -> Result<Differences, Error> {
    let parse = |bytes: &[u8]| {
        sjson::parse_bytes(bytes).map_err(|problem| Error::new(problem.in_file(&change.path)))
    };
    let old = parse(change.old.as_deref().unwrap_or_default())?;
    Ok(diff::diff(&old, &parse(change.text.as_bytes())?))
}

fn print(change: &ScriptedChange) -> Result<(), Error> {
    let is_new = if change.old.is_none() { " (new)" } else { "" };
    engine_foundation::print_line!("{}{is_new}", change.path);
    let found = differences(change)?;
    found.changes.iter().for_each(print_change);
    if found.left_out > 0 {
        engine_foundation::print_line!("{}", left_out_message(found.left_out));
    }
    Ok(())
}

fn row(change: &ScriptedChange) -> Result<SjsonTree, Error> {
    let found = differences(change)?;
    let rows = found.changes.iter().map(diff::change_tree).collect();
    Ok(json::object([
        ("path", json::text(&change.path)),
        ("new", SjsonTree::Bool(change.old.is_none())),
        ("changes", SjsonTree::Array(rows)),
        ("left_out", json::count(found.left_out)),
    ]))
}
