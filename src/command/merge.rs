//! `engine merge`: the three-way merge of SJSON and JSON files, as a command and as git's driver.
//! The merge itself is in src/content/merge/, the setup of git in src/command/git.rs.

use super::{git, merge_page};
use engine_app::exit;
use engine_content::merge::{MergeOptions, MergeSide, Merged, Override, OverrideKind, SIDE_LABELS};
use engine_content::paths::left_out_message;
use engine_foundation::file_access::{self, AccessError, readers};
use engine_foundation::json;
use engine_foundation::output_file;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::terminal;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};

/// Merge two versions of an SJSON or JSON file by structure, or set up git to do so
///
/// Both sides' changes are kept, by key and by id. If both changed the same value, the right side
/// wins, and the report says so. A file with a syntax error is merged by lines. The exit code is 1
/// if conflict markers are left, which occurs only in merges by lines.
#[derive(clap::Args)]
pub struct Args {
    /// The common ancestor, the own version and the other version
    #[arg(value_names = ["BASE", "LEFT", "RIGHT"], num_args = 0..=3)]
    files: Vec<PathBuf>,
    /// Write the result to a file; otherwise it is printed
    #[arg(long, value_name = "FILE", conflicts_with = "in_place")]
    out: Option<PathBuf>,
    /// Write the result over LEFT, as git's merge drivers do
    #[arg(long)]
    in_place: bool,
    /// The path of the merged file, for messages; its ending says whether it is JSON
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Name of the left side in the markers of conflicts, such as a branch
    #[arg(long, value_name = "NAME", default_value = SIDE_LABELS[0])]
    left_name: String,
    /// Name of the right side in the markers of conflicts
    #[arg(long, value_name = "NAME", default_value = SIDE_LABELS[1])]
    right_name: String,
    /// The side that wins if both changed the same value
    #[arg(long, value_enum, default_value_t = Strategy::Right)]
    strategy: Strategy,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    output: ReportFormat,
    /// Set up git in a folder: the merge driver, differences by path, and attributes
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, default_missing_value = ".")]
    install: Option<PathBuf>,
    /// Repeat a merge of git, and compare the result with the commit: for CI. A folder means its
    /// newest commit
    #[arg(long, value_name = "COMMIT|FOLDER", num_args = 0..=1, default_missing_value = "HEAD")]
    verify: Option<String>,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Strategy {
    Right,
    Left,
    /// Ask on a page in the browser, which shows both sides of all values
    Ask,
    /// Ask on the terminal, for one value after the other
    Terminal,
}

/// Form of a report.
#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
pub enum ReportFormat {
    Text,
    Json,
}

/// Maximum number of lines of each part of a report for people.
const REPORTED_MAX: usize = 20;

pub fn main(args: Args) -> i32 {
    let done = match (&args.install, &args.verify, &args.files[..]) {
        (Some(folder), None, []) => git::install(folder).map(|text| {
            terminal::print(&text);
            exit::SUCCESS
        }),
        (None, Some(commit), []) => git::verify(commit),
        (None, None, [base, left, right]) => merge_files(&args, [base, left, right]),
        _ => {
            engine_foundation::error_line!(
                "error: give three files, BASE LEFT RIGHT, or --install, or --verify"
            );
            return exit::USAGE;
        }
    };
    done.unwrap_or_else(|message| {
        engine_foundation::error_line!("error: {message}");
        exit::FAILED
    })
}

fn merge_files(args: &Args, files: [&PathBuf; 3]) -> Result<i32, String> {
    let texts = [read(files[0])?, read(files[1])?, read(files[2])?];
    let path = args.path.clone().unwrap_or_else(|| files[1].display().to_string());
    let names = [
        label(&args.left_name, SIDE_LABELS[0], "%X"),
        label(&args.right_name, SIDE_LABELS[1], "%Y"),
    ];
    let file = MergedFile { path: &path, labels: names.each_ref().map(String::as_str) };
    let merged = match args.strategy {
        Strategy::Right => merge_texts(texts, file, &|_| MergeSide::Right),
        Strategy::Left => merge_texts(texts, file, &|_| MergeSide::Left),
        Strategy::Ask => ask_on_page(texts, file)?,
        Strategy::Terminal => ask_on_terminal(texts, file)?,
    };
    let out = if args.in_place { Some(files[1]) } else { args.out.as_ref() };
    match out {
        Some(out) => output_file::write(out, merged.text.as_bytes())
            .map_err(|reason| format!("'{}' cannot be written: {reason}", out.display()))?,
        None if args.output == ReportFormat::Text => terminal::print(&merged.text),
        None => {}
    }
    match args.output {
        ReportFormat::Text => engine_foundation::terminal::print_error(&report(&path, &merged)),
        ReportFormat::Json => {
            let json = report_json(&path, &merged, out.is_none());
            terminal::print(&format!("{}\n", json::write_indented(&json)));
        }
    }
    Ok(if merged.conflicts > 0 { exit::FAILED } else { exit::SUCCESS })
}

fn read(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let bytes =
        file_access::read_named(path, &readers::SOURCE_TEXT).map_err(|refusal| match refusal {
            AccessError::Folder => format!("'{shown}' is a folder: give three versions of a file"),
            refusal => format!("'{shown}' cannot be read: {refusal}"),
        })?;
    String::from_utf8(bytes).map_err(|_| {
        format!("'{}' is not UTF-8: it is no text, and cannot be merged", path.display())
    })
}

/// A file that is merged.
#[derive(Clone, Copy)]
pub struct MergedFile<'a> {
    pub path: &'a str,
    /// Names of the left and the right side in the markers of conflicts.
    pub labels: [&'a str; 2],
}

/// Maximum number of characters of the name of a side.
const LABEL_CHARACTERS_MAX: usize = 100;

/// Returns the name of a side for a marker, which is one line. Before version 2.44, git passes its
/// placeholder as it is.
fn label(name: &str, default: &str, placeholder: &str) -> String {
    let plain = name.chars().filter(|c| !c.is_control()).take(LABEL_CHARACTERS_MAX);
    let plain: String = plain.collect();
    match plain.trim() {
        "" => default.to_string(),
        text if text == placeholder => default.to_string(),
        text => text.to_string(),
    }
}

/// Merges three texts of a file.
pub fn merge_texts(
    texts: [String; 3],
    file: MergedFile,
    winner: &dyn Fn(&str) -> MergeSide,
) -> Merged {
    let MergedFile { path, labels } = file;
    let is_json = [".json", ".tmj", ".tsj", ".ldtk"].iter().any(|ending| path.ends_with(ending));
    engine_content::merge::merge_texts(texts, MergeOptions { winner, is_json, labels })
}

/// Merges, and asks for each value that both sides changed.
fn ask_on_terminal(texts: [String; 3], file: MergedFile) -> Result<Merged, String> {
    let path = file.path;
    if !std::io::stdin().is_terminal() {
        return Err(
            "--strategy terminal asks on a terminal, and there is none: choose ask, right or left"
                .to_string(),
        );
    }
    let first = merge_texts(texts.clone(), file, &|_| MergeSide::Right);
    check_room(&first)?;
    let mut chosen = merge_page::Choices::new();
    for change in &first.overrides {
        loop {
            terminal::print(&format!("{path}: {}\nkeep left or right? [l/r] ", describe(change)));
            let mut line = String::new();
            let length = std::io::stdin().lock().read_line(&mut line);
            let side = match (length, line.trim()) {
                (Ok(0) | Err(_), _) => return Err("the input has ended: nothing is written".into()),
                (_, "l" | "left") => MergeSide::Left,
                (_, "r" | "right") => MergeSide::Right,
                _ => continue,
            };
            chosen.insert(change.path.clone(), side);
            break;
        }
    }
    Ok(merge_with(texts, file, &chosen))
}

/// Merges, and shows the values that both sides changed on a page.
fn ask_on_page(texts: [String; 3], file: MergedFile) -> Result<Merged, String> {
    let first = merge_texts(texts.clone(), file, &|_| MergeSide::Right);
    check_room(&first)?;
    if first.overrides.is_empty() {
        return Ok(first);
    }
    let chosen = merge_page::choose(file.path, &first.overrides)?;
    Ok(merge_with(texts, file, &chosen))
}

/// Refuses to ask if not all questions are known.
fn check_room(merged: &Merged) -> Result<(), String> {
    match merged.left_out {
        0 => Ok(()),
        count => Err(format!(
            "both sides changed too much to ask, choose --strategy right or left: {}",
            left_out_message(count)
        )),
    }
}

fn merge_with(texts: [String; 3], file: MergedFile, chosen: &merge_page::Choices) -> Merged {
    let winner = |path: &str| chosen.get(path).copied().unwrap_or(MergeSide::Right);
    merge_texts(texts, file, &winner)
}

fn describe(change: &Override) -> String {
    let path = if change.path.is_empty() { "the file" } else { &change.path };
    let or_none = |text: &str| if text.is_empty() { "nothing".into() } else { text.to_string() };
    let (left, right) = (or_none(&change.left), or_none(&change.right));
    match change.kind {
        OverrideKind::Order => format!("{path}: both sides changed the order"),
        OverrideKind::Value => format!("{path}: left has {left}, right has {right}"),
        OverrideKind::Comment => format!("{path}: both sides changed a comment"),
        OverrideKind::Removal if change.left.is_empty() => {
            format!("{path}: left removed what right changed: {right}")
        }
        OverrideKind::Removal => format!("{path}: right removed what left changed: {left}"),
        OverrideKind::Move => format!("{path}: both sides moved or added this object: {right}"),
    }
}

/// Returns the report for people: a line for each overridden change.
pub fn report(path: &str, merged: &Merged) -> String {
    let mut out = String::new();
    for change in merged.overrides.iter().take(REPORTED_MAX) {
        let side = if change.winner == MergeSide::Left { "left" } else { "right" };
        out += &format!("{path}: {}: {side} wins\n", describe(change));
    }
    let more = |count: usize| match count.saturating_sub(REPORTED_MAX) {
        0 => String::new(),
        more => format!("{path}: and {more} more, which --output json lists\n"),
    };
    out += &more(merged.overrides.len());
    if let Some(reason) = &merged.by_lines {
        let conflicts = match merged.conflicts {
            0 => String::new(),
            1 => ", with 1 conflict".to_string(),
            count => format!(", with {count} conflicts"),
        };
        out += &format!("{path}: merged by lines{conflicts}, because {reason}\n");
    }
    for list in merged.without_ids.iter().take(REPORTED_MAX) {
        let list = if list.is_empty() { "the list" } else { list };
        out += &format!(
            "{path}: {list}: both sides changed a list of objects without ids, which were compared \
             by content: give each an id\n"
        );
    }
    out += &more(merged.without_ids.len());
    if merged.left_out > 0 {
        out += &format!("{path}: {}\n", left_out_message(merged.left_out));
    }
    out
}

fn report_json(path: &str, merged: &Merged, has_text: bool) -> SjsonTree {
    let text = |text: &str| SjsonTree::String(text.to_string());
    let side = |side: MergeSide| text(if side == MergeSide::Left { "left" } else { "right" });
    let row = |change: &Override| {
        SjsonTree::Object(vec![
            ("path".to_string(), text(&change.path)),
            ("kind".to_string(), text(change.kind.name())),
            ("winner".to_string(), side(change.winner)),
            ("left".to_string(), text(&change.left)),
            ("right".to_string(), text(&change.right)),
        ])
    };
    let by_lines = merged.by_lines.as_deref().map_or(SjsonTree::Null, text);
    let without_ids = merged.without_ids.iter().map(|path| text(path)).collect();
    let mut entries = vec![
        ("version".to_string(), SjsonTree::Number(1.0)),
        ("file".to_string(), text(path)),
        ("overrides".to_string(), SjsonTree::Array(merged.overrides.iter().map(row).collect())),
        ("by_lines".to_string(), by_lines),
        ("conflicts".to_string(), SjsonTree::Number(merged.conflicts as f64)),
        ("without_ids".to_string(), SjsonTree::Array(without_ids)),
        ("left_out".to_string(), json::count(merged.left_out)),
    ];
    if has_text {
        entries.push(("text".to_string(), text(&merged.text)));
    }
    SjsonTree::Object(entries)
}
