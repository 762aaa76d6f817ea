//! `engine diff`: the differences between two versions of an SJSON or JSON file, by path.

use super::merge::ReportFormat;
use engine_app::exit;
use engine_app::flow::difference_svg;
use engine_content::diff::{self, Change, ChangeKind};
use engine_foundation::file_access::{self, readers};
use engine_foundation::output_file;
use engine_foundation::sjson::{self, Document, SjsonTree};
use engine_foundation::terminal::{self, StyledText};
use engine_resource::resource_kind::kind_names;
use std::path::{Path, PathBuf};

/// Show the differences between two versions of an SJSON or JSON file, by path
#[derive(clap::Args)]
pub struct Args {
    /// The old and the new version; one file with --textconv
    #[arg(value_names = ["OLD", "NEW"], num_args = 1..=2, required = true)]
    files: Vec<PathBuf>,
    /// Write a page with two columns
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Draw the two versions of a graph of Flow as a picture (SVG)
    #[arg(long, value_name = "FILE", conflicts_with = "html")]
    svg: Option<PathBuf>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    output: ReportFormat,
    /// Print a line with path and value for each value of one file: git compares these lines
    #[arg(long)]
    textconv: bool,
    /// Exit with 1 if the versions differ
    #[arg(long)]
    exit_code: bool,
}

pub fn main(args: Args) -> i32 {
    let done = match (&args.files[..], args.textconv) {
        ([file], true) => textconv(file),
        ([old, new], false) => compare(&args, old, new),
        _ => {
            engine_foundation::error_line!("error: give two files, OLD NEW, or one and --textconv");
            return exit::USAGE;
        }
    };
    done.unwrap_or_else(|message| {
        engine_foundation::error_line!("error: {message}");
        exit::FAILED
    })
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    // Git names a version that does not exist so.
    if path == Path::new("/dev/null") {
        return Ok(Vec::new());
    }
    file_access::read_named(path, &readers::SOURCE_TEXT)
        .map_err(|refusal| format!("'{}' cannot be read: {refusal}", path.display()))
}

fn parse(path: &Path) -> Result<Document, String> {
    sjson::parse_bytes(&read(path)?).map_err(|error| error.in_file(&path.display().to_string()))
}

fn textconv(path: &Path) -> Result<i32, String> {
    let bytes = read(path)?;
    // A text with an error is compared as it is.
    match sjson::parse_bytes(&bytes) {
        Ok(document) => terminal::print(&diff::to_lines(&document)),
        Err(_) => terminal::print(&String::from_utf8_lossy(&bytes)),
    }
    Ok(exit::SUCCESS)
}

fn compare(args: &Args, old: &Path, new: &Path) -> Result<i32, String> {
    let changes = diff::diff(&parse(old)?, &parse(new)?);
    if let Some(page) = &args.html {
        let names = [old.display().to_string(), new.display().to_string()];
        let text = diff::to_html([&names[0], &names[1]], &changes);
        output_file::write(page, text.as_bytes())
            .map_err(|reason| format!("'{}' cannot be written: {reason}", page.display()))?;
    } else if let Some(picture) = &args.svg {
        let text = difference_svg(&graph_of(old)?, &graph_of(new)?);
        output_file::write(picture, text.as_bytes())
            .map_err(|reason| format!("'{}' cannot be written: {reason}", picture.display()))?;
    } else if args.output == ReportFormat::Json {
        terminal::print(&format!("{}\n", diff::to_json(&changes)));
    } else {
        changes.iter().for_each(print_change);
    }
    Ok(match args.exit_code && !changes.is_empty() {
        true => exit::FAILED,
        false => exit::SUCCESS,
    })
}

/// Returns the graph in a file: its block `flow`, or the whole file; empty if it has none.
fn graph_of(path: &Path) -> Result<SjsonTree, String> {
    let tree = parse(path)?.to_tree();
    match tree.get("flow") {
        Some(SjsonTree::String(shared)) => Err(format!(
            "'{}' uses the graph '{shared}': compare the versions of that file",
            path.display()
        )),
        Some(graph) => Ok(graph.clone()),
        // The keys of a unit or a level without a graph are no graph.
        None if ["events", "variables", "positions"].iter().any(|key| tree.get(key).is_some()) => {
            Ok(tree)
        }
        None if path.extension().is_some_and(|ending| ending == kind_names::FLOW) => Ok(tree),
        None => Ok(SjsonTree::Object(Vec::new())),
    }
}

/// Prints a change: the path, then the old and the new text.
pub fn print_change(change: &Change) {
    let path = if change.path.is_empty() { "the file" } else { &change.path };
    let order = if change.kind == ChangeKind::Order { ": another order" } else { "" };
    let head = format!("{path}{order}\n");
    let color = |code: &'static str, text: &str| match terminal::is_terminal() {
        true => StyledText::colored(code, text),
        false => StyledText::plain(text),
    };
    terminal::print_styled(&color("1", &head));
    for (sign, code, text) in [("-", "31", &change.old), ("+", "32", &change.new)] {
        for line in text.lines() {
            let line = color(code, &format!("  {sign} {line}"));
            terminal::print_styled(&line.then(&StyledText::plain("\n")));
        }
    }
}
