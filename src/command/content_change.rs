//! `engine mv`, `cp`, `replace`, `rm` and `undo`: operations on resources. Each shows its plan,
//! asks about what is not certain, and is applied as one change.

use super::git;
use super::merge::ReportFormat;
use engine_app::{content, exit};
use engine_content::changes::{self, ChangeSet};
use engine_content::operations::{
    OperationPlan, PlannedReference, TableChange, Users, check_found_by_name, check_known,
    plan_copy, plan_fixup, plan_move, plan_remove, plan_replace,
};
use engine_content::references::ContentGraph;
use engine_foundation::Error;
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::terminal;
use engine_resource::redirects;
use engine_resource::resource_name::ResourceName;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};

/// Flags of all operations.
#[derive(clap::Args)]
pub struct ChangeFlags {
    /// Show the plan, and change nothing
    #[arg(long)]
    preview: bool,
    /// Follow references that are only likely: texts that equal the name. Without this flag,
    /// the terminal asks
    #[arg(long, value_enum)]
    likely: Option<Answer>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    output: ReportFormat,
}

impl ChangeFlags {
    pub(super) fn new(preview: bool, likely: Option<Answer>, output: ReportFormat) -> ChangeFlags {
        ChangeFlags { preview, likely, output }
    }
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
pub enum Answer {
    Yes,
    No,
}

/// Move or rename a resource or a folder: all its files move, and all references follow
///
/// The change is made completely or not at all, and `engine undo` takes it back. In a work tree of
/// git the moves are staged.
#[derive(clap::Args)]
pub struct MoveArgs {
    /// The game's folder
    folder: PathBuf,
    /// A resource, a file or a folder
    from: String,
    /// The new name; a folder, or a name that ends in /, contains it afterwards
    to: String,
    /// Write no old names into redirects.sjson, by which saves find renamed resources
    #[arg(long)]
    no_redirect: bool,
    /// Move it although a file cannot be searched for names
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    flags: ChangeFlags,
}

/// Copy a resource or a folder, and choose which of its users use the copy
#[derive(clap::Args)]
pub struct CopyArgs {
    /// The game's folder
    folder: PathBuf,
    /// A resource, a file or a folder
    from: String,
    /// The name of the copy
    to: String,
    /// The users that use the copy: none, all, or a list of resources, files and folders
    #[arg(long, value_name = "none|all|NAMES", value_delimiter = ',', default_value = "none")]
    users: Vec<String>,
    #[command(flatten)]
    flags: ChangeFlags,
}

/// Replace a resource by another where it is used; the old one may be missing
#[derive(clap::Args)]
pub struct ReplaceArgs {
    /// The game's folder
    folder: PathBuf,
    /// The resource that is used now
    old: String,
    /// The resource that is used afterwards
    new: String,
    /// The users that change: all, or a list of resources, files and folders
    #[arg(long, value_name = "all|NAMES", value_delimiter = ',', default_value = "all")]
    users: Vec<String>,
    /// Replace it although a file cannot be searched for names
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    flags: ChangeFlags,
}

/// Remove a resource or a folder, unless something uses it
#[derive(clap::Args)]
pub struct RemoveArgs {
    /// The game's folder
    folder: PathBuf,
    /// A resource, a file or a folder
    name: String,
    /// Remove it although it is used
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    flags: ChangeFlags,
}

/// Take back the last mv, cp, replace, rm, script or deps --fixup
#[derive(clap::Args)]
pub struct UndoArgs {
    /// The game's folder
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Show what would be taken back, or forgotten
    #[arg(long)]
    preview: bool,
    /// Keep all files as they are, and forget the last change, so that the one before it can be
    /// taken back
    #[arg(long)]
    forget: bool,
}

fn users_of(users: &[String]) -> Users<'_> {
    match users {
        [all] if all == "all" => Users::All,
        [none] if none == "none" => Users::None,
        listed => Users::Listed(listed),
    }
}

pub fn main_move(args: MoveArgs) -> i32 {
    let MoveArgs { folder, from, to, no_redirect, force, flags } = args;
    let plan = |graph: &ContentGraph| {
        content::check_own(graph, &from)?;
        let mut plan = plan_move(graph, &from, &to)?;
        if no_redirect {
            plan.redirects.clear();
        }
        if !force {
            check_known(graph, &plan)?;
        }
        check_found_by_name(graph, &plan, &content::boot_script(graph)?)?;
        Ok(plan)
    };
    operate(&folder, &flags, plan)
}

pub fn main_copy(args: CopyArgs) -> i32 {
    let CopyArgs { folder, from, to, users, flags } = args;
    operate(&folder, &flags, |graph| {
        content::check_own(graph, &from)?;
        plan_copy(graph, &from, &to, users_of(&users))
    })
}

pub fn main_replace(args: ReplaceArgs) -> i32 {
    let ReplaceArgs { folder, old, new, users, force, flags } = args;
    operate(&folder, &flags, |graph| {
        content::check_replacement(graph, &new)?;
        let plan = plan_replace(graph, &old, &new, users_of(&users))?;
        if !force {
            check_known(graph, &plan)?;
        }
        Ok(plan)
    })
}

pub fn main_remove(args: RemoveArgs) -> i32 {
    let RemoveArgs { folder, name, force, flags } = args;
    let plan = |graph: &ContentGraph| {
        content::check_own(graph, &name)?;
        let mut plan = plan_remove(graph, &name)?;
        let is_refused = !force && (!plan.references.is_empty() || !plan.likely.is_empty());
        if is_refused && flags.preview {
            let times = match plan.references.len() + plan.likely.len() {
                1 => "once".to_string(),
                count => format!("{count} times"),
            };
            plan.notes.push(format!(
                "'{name}' is used {times}: without --force, nothing will be removed"
            ));
        } else if is_refused {
            let lines: Vec<String> = plan.references.iter().chain(&plan.likely).map(line).collect();
            return Err(engine_foundation::error!(
                "'{name}' is used:\n{}\nNothing was removed: change the users, or use --force",
                lines.join("\n")
            ));
        }
        if !force {
            check_known(graph, &plan)?;
            check_found_by_name(graph, &plan, &content::boot_script(graph)?)?;
        }
        Ok(plan)
    };
    operate(&folder, &flags, plan)
}

/// `engine deps --fixup`: rewrites old names, and removes them from the table of redirects.
pub fn main_fixup(folder: &Path, flags: &ChangeFlags) -> i32 {
    operate(folder, flags, plan_fixup)
}

pub fn main_undo(args: UndoArgs) -> i32 {
    let checked = check_changed(&args.folder);
    let done = match args.forget {
        _ if checked.is_err() => checked,
        true => forget(&args.folder, args.preview),
        false => undo(&args.folder, args.preview),
    };
    match done {
        Ok(()) => exit::SUCCESS,
        Err(error) => {
            engine_foundation::error_line!("error: {error}");
            exit::FAILED
        }
    }
}

/// Checks that a folder has a game, or changes of one, whose script may have been removed by them.
fn check_changed(folder: &Path) -> Result<(), Error> {
    let has_changes = changes::undoable(folder).is_ok_and(|title| title.is_some())
        || changes::forgettable(folder).is_ok_and(|title| title.is_some());
    if has_changes { Ok(()) } else { content::check_folder(folder) }
}

/// Forgets the last change without taking it back.
fn forget(folder: &Path, is_preview: bool) -> Result<(), Error> {
    complete_interrupted(folder, is_preview)?;
    let title = match is_preview {
        true => changes::forgettable(folder)?,
        false => changes::forget(folder)?,
    };
    match title {
        Some(title) if is_preview => engine_foundation::print_line!("{title}"),
        Some(title) => engine_foundation::print_line!("forgotten: {title}"),
        None => engine_foundation::print_line!("there is nothing to forget"),
    }
    Ok(())
}

fn undo(folder: &Path, is_preview: bool) -> Result<(), Error> {
    if is_preview {
        complete_interrupted(folder, true)?;
        match changes::undoable(folder)? {
            Some(title) => engine_foundation::print_line!("{title}"),
            None => engine_foundation::print_line!("there is nothing to undo"),
        }
        return Ok(());
    }
    match changes::undo(folder)? {
        Some(undone) => {
            // The files have moved already; the index of git has the same contents as before.
            match git_entries(folder, &undone.moves) {
                Ok(entries) => stage_moves(folder, &entries),
                Err(error) => engine_foundation::error_line!(
                    "warning: the moves are not staged in git: {error}"
                ),
            }
            engine_foundation::print_line!("undone: {}", undone.title);
        }
        None => engine_foundation::print_line!("there is nothing to undo"),
    }
    Ok(())
}

/// Completes a change that was interrupted. A preview only reports that this will be done.
pub(super) fn complete_interrupted(folder: &Path, is_preview: bool) -> Result<(), Error> {
    if is_preview {
        if let Some(title) = changes::interrupted(folder)? {
            engine_foundation::error_line!(
                "note: the interrupted '{title}' will be completed first; this preview is of the \
                 files as they are now"
            );
        }
    } else if let Some(title) = changes::recover(folder)? {
        engine_foundation::error_line!("completed the interrupted '{title}'");
    }
    Ok(())
}

/// Makes a plan, shows it, and applies it.
fn operate(
    folder: &Path,
    flags: &ChangeFlags,
    plan: impl FnOnce(&ContentGraph) -> Result<OperationPlan, Error>,
) -> i32 {
    match run(folder, flags, plan) {
        Ok(code) => code,
        Err(error) => {
            if flags.output == ReportFormat::Json {
                let tree = json::object([
                    ("version", SjsonTree::Number(1.0)),
                    ("applied", SjsonTree::Bool(false)),
                    ("error", json::text(error.to_string())),
                ]);
                terminal::print(&format!("{}\n", json::write_indented(&tree)));
            }
            engine_foundation::error_line!("error: {error}");
            exit::FAILED
        }
    }
}

fn run(
    folder: &Path,
    flags: &ChangeFlags,
    plan: impl FnOnce(&ContentGraph) -> Result<OperationPlan, Error>,
) -> Result<i32, Error> {
    complete_interrupted(folder, flags.preview)?;
    content::check_folder(folder)?;
    let graph = content::graph(folder)?;
    let planned = plan(&graph);
    // The error of the plan can be such a problem.
    let is_error = |text: &str| planned.as_ref().is_err_and(|error| error.to_string() == text);
    for problem in graph.problems.iter().filter(|problem| !is_error(problem)) {
        engine_foundation::error_line!("warning: {problem}");
    }
    for note in graph.search_notes() {
        engine_foundation::error_line!("note: {note}");
    }
    let mut plan = planned?;
    let is_removal = !plan.removed.is_empty();
    if flags.likely == Some(Answer::No) && !is_removal {
        plan.likely.iter_mut().for_each(|reference| reference.new.clear());
    }
    if flags.output == ReportFormat::Text {
        print_plan(&plan);
    }
    if !flags.preview {
        let with_likely = match flags.likely {
            Some(answer) => answer == Answer::Yes,
            None if plan.likely.is_empty() || is_removal => false,
            None => ask(&mut plan)?,
        };
        let set = plan.changes(&graph, with_likely)?;
        if set.changes.is_empty() {
            return Ok(print_unchanged(&plan, flags));
        }
        let staged = git_entries(folder, &plan.moves)?;
        changes::apply(folder, &set)?;
        stage_moves(folder, &staged);
        if flags.output == ReportFormat::Text {
            print_done(folder, &set);
        }
    }
    if flags.output == ReportFormat::Json {
        let tree = plan_json(&plan, !flags.preview);
        terminal::print(&format!("{}\n", json::write_indented(&tree)));
    }
    Ok(exit::SUCCESS)
}

/// Reports that an operation has nothing to change, so that nothing can be undone.
fn print_unchanged(plan: &OperationPlan, flags: &ChangeFlags) -> i32 {
    match flags.output {
        ReportFormat::Text => engine_foundation::print_line!("nothing changes"),
        ReportFormat::Json => {
            let tree = plan_json(plan, false);
            terminal::print(&format!("{}\n", json::write_indented(&tree)));
        }
    }
    exit::SUCCESS
}

fn line(reference: &PlannedReference) -> String {
    let PlannedReference { location, certainty, old, new, .. } = reference;
    let change = if new.is_empty() { String::new() } else { format!(" -> '{new}'") };
    let certainty = match certainty {
        engine_content::references::Certainty::Certain => String::new(),
        other => format!(" ({})", other.name()),
    };
    format!("  {location}: '{old}'{change}{certainty}")
}

fn print_plan(plan: &OperationPlan) {
    for (from, to) in &plan.moves {
        engine_foundation::print_line!("move {from} -> {to}");
    }
    for (from, to) in &plan.copies {
        engine_foundation::print_line!("copy {from} -> {to}");
    }
    for path in &plan.removed {
        engine_foundation::print_line!("remove {path}");
    }
    if !plan.removed.is_empty() && !plan.references.is_empty() {
        engine_foundation::print_line!("names that are missing then:");
    }
    for reference in plan.references.iter().chain(&plan.likely) {
        engine_foundation::print_line!("{}", line(reference));
    }
    let names = plan.redirects.len();
    let names = if names == 1 { "1 old name".into() } else { format!("{names} old names") };
    match plan.table {
        _ if plan.redirects.is_empty() => {}
        TableChange::None => {}
        TableChange::Add => engine_foundation::print_line!("add {names} to {}", redirects::FILE),
        TableChange::Remove => {
            engine_foundation::print_line!("remove {names} from {}", redirects::FILE);
        }
    }
    for note in &plan.notes {
        engine_foundation::print_line!("note: {note}");
    }
}

fn print_done(folder: &Path, set: &ChangeSet) {
    let count = set.changes.len();
    let files = if count == 1 { "file" } else { "files" };
    let folder = folder.display();
    engine_foundation::print_line!("{count} {files} changed: `engine undo {folder}` takes it back");
}

/// Asks whether likely references follow, all or each. Leaves those in the plan that do.
fn ask(plan: &mut OperationPlan) -> Result<bool, Error> {
    let references = match plan.likely.len() {
        1 => "1 reference is".to_string(),
        count => format!("{count} references are"),
    };
    if !std::io::stdin().is_terminal() {
        return Err(engine_foundation::error!(
            "{references} only likely: say --likely yes or --likely no. Nothing was changed"
        ));
    }
    let question = format!("{references} only likely: change them, too? [y]es, [n]o, [e]ach: ");
    match answer(&question, "yne")? {
        'y' => Ok(true),
        'n' => Ok(false),
        _ => {
            let mut likely = Vec::new();
            for reference in std::mem::take(&mut plan.likely) {
                if answer(&format!("{}? [y/n] ", line(&reference)), "yn")? == 'y' {
                    likely.push(reference);
                }
            }
            plan.likely = likely;
            Ok(true)
        }
    }
}

/// Asks until an answer begins with one of some letters.
fn answer(question: &str, letters: &str) -> Result<char, Error> {
    loop {
        // The standard output may be JSON.
        terminal::print_error(question);
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => {
                return Err(engine_foundation::error!("the input has ended: nothing was changed"));
            }
            Ok(_) => {}
        }
        let letter = line.trim().chars().next().map(|letter| letter.to_ascii_lowercase());
        if let Some(letter) = letter.filter(|letter| letters.contains(*letter)) {
            return Ok(letter);
        }
    }
}

/// An entry of git's index that moves: its mode, its object, and both paths.
type GitEntry = (String, String, String);

/// Returns the entries of git's index of the files that move. Empty outside of a work tree.
///
/// # Errors
/// Returns an error if a file has a merge conflict: its new entry would have one side alone.
fn git_entries(folder: &Path, moves: &[(String, String)]) -> Result<Vec<GitEntry>, Error> {
    if moves.is_empty() || git::work_tree(folder).is_none() {
        return Ok(Vec::new());
    }
    // The paths are relative to the folder, as git prints them there.
    let Ok(listed) = git::run(folder, &["ls-files", "-s", "-z"]) else { return Ok(Vec::new()) };
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let of_path: std::collections::HashMap<&str, &str> =
        listed.split('\0').filter_map(|row| row.split_once('\t')).map(|(a, b)| (b, a)).collect();
    let mut entries = Vec::new();
    for (from, to) in moves {
        let Some(row) = of_path.get(&from[..]) else { continue };
        let fields: Vec<&str> = row.split(' ').collect();
        match fields[..] {
            [mode, object, "0"] => {
                entries.push((format!("{mode} {object}"), from.clone(), to.clone()));
            }
            // The stages 1 to 3 are the sides of a conflict.
            _ => {
                return Err(engine_foundation::error!(
                    "{from}: it has a merge conflict in git: resolve that first, and `git add` it"
                ));
            }
        }
    }
    Ok(entries)
}

/// Stages moves as renames: the content that was staged before stays the same.
fn stage_moves(folder: &Path, entries: &[GitEntry]) {
    if entries.is_empty() {
        return;
    }
    let staged = git::run(folder, &["rev-parse", "--show-prefix"]).and_then(|prefix| {
        let prefix = String::from_utf8_lossy(&prefix).trim_end_matches('\n').to_string();
        let mut input = Vec::new();
        for (mode_and_object, from, to) in entries {
            let zeros = "0".repeat(mode_and_object.split(' ').nth(1).map_or(40, str::len));
            input.extend_from_slice(format!("0 {zeros}\t{prefix}{from}\0").as_bytes());
            input.extend_from_slice(format!("{mode_and_object}\t{prefix}{to}\0").as_bytes());
        }
        git::run_with(folder, &["update-index", "-z", "--index-info"], Some(&input))
    });
    if let Err(message) = staged {
        engine_foundation::error_line!("warning: the moves are not staged in git: {message}");
    }
}

fn plan_json(plan: &OperationPlan, is_applied: bool) -> SjsonTree {
    let text = |text: &str| SjsonTree::String(text.to_string());
    let pairs = |pairs: &[(String, String)]| {
        let pair = |(from, to): &(String, String)| {
            SjsonTree::Object(vec![("from".into(), text(from)), ("to".into(), text(to))])
        };
        SjsonTree::Array(pairs.iter().map(pair).collect())
    };
    let references = |list: &[PlannedReference]| {
        let row = |it: &PlannedReference| {
            SjsonTree::Object(vec![
                ("location".into(), text(&it.location)),
                ("certainty".into(), text(it.certainty.name())),
                ("old".into(), text(&it.old)),
                ("new".into(), text(&it.new)),
            ])
        };
        SjsonTree::Array(list.iter().map(row).collect())
    };
    let name = |(old, new): &(ResourceName, ResourceName)| (old.to_string(), new.to_string());
    let names: Vec<(String, String)> = plan.redirects.iter().map(name).collect();
    let texts = |list: &[String]| SjsonTree::Array(list.iter().map(|it| text(it)).collect());
    SjsonTree::Object(vec![
        ("version".into(), SjsonTree::Number(1.0)),
        ("title".into(), text(&plan.title)),
        ("applied".into(), SjsonTree::Bool(is_applied)),
        ("moves".into(), pairs(&plan.moves)),
        ("copies".into(), pairs(&plan.copies)),
        ("removed".into(), texts(&plan.removed)),
        ("redirects".into(), pairs(&names)),
        ("references".into(), references(&plan.references)),
        ("likely".into(), references(&plan.likely)),
        ("notes".into(), texts(&plan.notes)),
    ])
}
