//! `engine script`: runs a Lua file over all resources of a game, shows the changes of their data,
//! and applies them as one change.

use super::confinement_flag::ConfinementFlag;
use super::diff::print_change;
use super::merge::ReportFormat;
use engine_app::confinement::{self, ConfinementPlan};
use engine_app::content_script::{self, ScriptedChange};
use engine_app::{Game, content, exit};
use engine_content::changes::{self, ChangeSet, FileChange, content_hash};
use engine_content::diff;
use engine_foundation::file_access::{self, readers};
use engine_foundation::json;
use engine_foundation::sjson::{self, SjsonTree};
use engine_foundation::terminal;
use engine_foundation::{Error, error};
use engine_platform as platform;
use std::path::PathBuf;

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
    /// Form of the output
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    output: ReportFormat,
    #[command(flatten)]
    confine: ConfinementFlag,
}

pub fn main(args: Args) -> i32 {
    run(&args).unwrap_or_else(|error| {
        engine_foundation::error_line!("error: {error}");
        exit::FAILED
    })
}

fn run(args: &Args) -> Result<i32, Error> {
    let shown = args.script.display().to_string();
    let script = file_access::read_named(&args.script, &readers::SCRIPT)
        .map_err(|refusal| error!("'{shown}' cannot be read: {refusal}"))?;
    let script =
        String::from_utf8(script).map_err(|_| error!("'{shown}' is not UTF-8: it is no script"))?;
    if let Some(title) = changes::recover(&args.folder)? {
        engine_foundation::error_line!("completed the interrupted '{title}'");
    }
    if args.confine.is_enabled() {
        let game = Game::Folder(args.folder.clone());
        let plan = ConfinementPlan::of_game(&game, platform::NAME);
        plan.with_folder(Some(&args.folder)).begin();
        confinement::forbid_programs(false);
    }
    let graph = content::graph(&args.folder)?;
    for problem in &graph.problems {
        engine_foundation::error_line!("warning: {problem}");
    }
    platform::install_signal_handlers();
    let changed = content_script::run(&graph, &shown, &script)?;
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
        match args.preview || count == 0 {
            true => engine_foundation::print_line!("{count} {files} would change"),
            false => engine_foundation::print_line!(
                "{count} {files} changed: `engine undo {folder}` takes it back"
            ),
        }
    }
    Ok(exit::SUCCESS)
}

fn change_set(script: &str, changed: Vec<ScriptedChange>) -> ChangeSet {
    let mut set = ChangeSet { title: format!("script {script}"), ..ChangeSet::default() };
    for ScriptedChange { path, old, text } in changed {
        let bytes = text.into_bytes();
        match old {
            Some(old) => {
                set.expected.push((path.clone(), content_hash(&old)));
                set.changes.push(FileChange::Write { path, bytes });
            }
            None => set.changes.push(FileChange::Create { path, bytes }),
        }
    }
    set
}

fn differences(change: &ScriptedChange) -> Result<Vec<diff::Change>, Error> {
    let parse = |bytes: &[u8]| {
        sjson::parse_bytes(bytes).map_err(|problem| Error::new(problem.in_file(&change.path)))
    };
    let old = parse(change.old.as_deref().unwrap_or_default())?;
    Ok(diff::diff(&old, &parse(change.text.as_bytes())?))
}

fn print(change: &ScriptedChange) -> Result<(), Error> {
    let is_new = if change.old.is_none() { " (new)" } else { "" };
    engine_foundation::print_line!("{}{is_new}", change.path);
    differences(change)?.iter().for_each(print_change);
    Ok(())
}

fn row(change: &ScriptedChange) -> Result<SjsonTree, Error> {
    let rows = differences(change)?.iter().map(diff::change_tree).collect();
    Ok(json::object([
        ("path", json::text(&change.path)),
        ("new", SjsonTree::Bool(change.old.is_none())),
        ("changes", SjsonTree::Array(rows)),
    ]))
}
