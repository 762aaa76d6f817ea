//! `engine diff`: the differences between two versions of a file: by path for SJSON and JSON, by
//! lines for other texts, and as pictures. The comparison itself is in src/app/difference/.

mod drawing;
mod for_tools;
mod page;

use super::merge::ReportFormat;
use engine_app::difference::{self, FileDifference};
use engine_app::exit;
use engine_app::flow::difference_svg;
use engine_content::diff::{self, Change, ChangeKind};
use engine_foundation::file_access::{self, readers};
use engine_foundation::output_file;
use engine_foundation::sjson::{self, SjsonTree};
use engine_foundation::terminal::{self, StyledText};
use engine_platform as platform;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Show the differences between two versions of a file: by path for SJSON and JSON, as pictures for
/// textures, by lines for other texts
#[derive(clap::Args)]
pub struct Args {
    /// The old and the new version; one file with --textconv
    #[arg(value_names = ["OLD", "NEW"], num_args = 1..=2, required_unless_present = "serve")]
    files: Vec<PathBuf>,
    /// Draw units, levels and materials for the page of the game that runs in a folder, until the
    /// game ends
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, default_missing_value = ".",
          conflicts_with_all = ["files", "html", "page", "svg", "textconv", "game", "path",
          "output", "exit_code"])]
    serve: Option<PathBuf>,
    /// Write a page with two columns, and with pictures of textures, graphs, units, levels and
    /// materials before and after
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Show the page of --html in the browser, where it can be drawn again
    #[arg(long, conflicts_with_all = ["html", "svg", "textconv"])]
    page: bool,
    /// The game of the versions, if they are not in its folder: units, levels and materials are
    /// drawn in it
    #[arg(long, value_name = "FOLDER", requires = "path")]
    game: Option<PathBuf>,
    /// The path of the versions in --game; without --game, a file of a game of which they are
    /// versions
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Draw the two versions of a graph of Flow as a picture (SVG)
    #[arg(long, value_name = "FILE", conflicts_with = "html")]
    svg: Option<PathBuf>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = ReportFormat::Text,
          conflicts_with_all = ["html", "page", "svg", "textconv"])]
    output: ReportFormat,
    /// Print a line with path and value for each value of one file: git compares these lines
    #[arg(long, conflicts_with_all = ["html", "svg", "game", "path", "exit_code"])]
    textconv: bool,
    /// Exit with 1 if the versions differ
    #[arg(long)]
    exit_code: bool,
}

pub fn main(args: Args) -> i32 {
    let done = match (&args.files[..], args.textconv) {
        _ if args.serve.is_some() => {
            let folder = args.serve.as_deref().unwrap_or(Path::new("."));
            for_tools::serve(folder).map(|()| exit::SUCCESS)
        }
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

/// Reads a version. Git names one that does not exist `/dev/null`.
fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    if path == Path::new("/dev/null") {
        return Ok(None);
    }
    file_access::read_named(path, &readers::SOURCE_TEXT)
        .map(Some)
        .map_err(|refusal| format!("'{}' cannot be read: {refusal}", path.display()))
}

fn textconv(path: &Path) -> Result<i32, String> {
    let bytes = read(path)?.unwrap_or_default();
    // A text with an error, or with too long paths, is compared as it is.
    match sjson::parse_bytes(&bytes).ok().and_then(|document| diff::to_lines(&document)) {
        Some(lines) => terminal::print(&lines),
        None => terminal::print(&String::from_utf8_lossy(&bytes)),
    }
    Ok(exit::SUCCESS)
}

/// The two versions that a person compares, and the game in which they are drawn.
#[derive(Clone)]
struct ComparedFiles {
    old: PathBuf,
    new: PathBuf,
    /// The game's folder, and the path in it, if the person has given them.
    game: Option<PathBuf>,
    path: Option<String>,
}

impl ComparedFiles {
    /// Returns the page with both versions as they are now, and the number of changes. The drawing
    /// ends when the flag is set.
    fn page(&self, is_stopped: &AtomicBool) -> Result<(String, usize), String> {
        let versions = [read(&self.old)?, read(&self.new)?];
        let path = if versions[1].is_some() { &self.new } else { &self.old };
        let bytes = versions.each_ref().map(Option::as_deref);
        let found = difference::compare(&path.display().to_string(), bytes);
        // From here on, a signal ends the drawing, which removes its copies.
        platform::install_signal_handlers();
        let location = match (&self.game, &self.path) {
            (Some(game), Some(path)) => Some((game.clone(), path.clone())),
            (None, Some(path)) => drawing::game_of(Path::new(path)),
            _ => drawing::game_of(path),
        };
        let drawn = match location {
            Some((game, path)) => drawing::draw(&game, &path, bytes, is_stopped),
            None => {
                let file = self.path.as_ref().map(Path::new);
                drawing::without_game(file.unwrap_or(path))
            }
        };
        if is_stopped.load(Ordering::SeqCst) || platform::end_requested().is_some() {
            return Err("stopped: nothing was written".to_string());
        }
        let names = [&self.old, &self.new].map(|path| path.display().to_string());
        let html = difference::to_html([&names[0], &names[1]], &found, &drawn);
        Ok((html, found.changes.len()))
    }
}

fn compare(args: &Args, old: &Path, new: &Path) -> Result<i32, String> {
    let is_different = match args.html.is_some() || args.page {
        true => show_page(args, old, new)?,
        false => show_changes(args, old, new)?,
    };
    Ok(match args.exit_code && is_different {
        true => exit::FAILED,
        false => exit::SUCCESS,
    })
}

/// Writes the page, or shows it in the browser. Returns true if the versions differ.
fn show_page(args: &Args, old: &Path, new: &Path) -> Result<bool, String> {
    let (game, path) = (args.game.clone(), args.path.clone());
    let files = ComparedFiles { old: old.to_path_buf(), new: new.to_path_buf(), game, path };
    let (html, changes) = files.page(&AtomicBool::new(false))?;
    match &args.html {
        Some(file) => write(file, &html, changes)?,
        None => {
            let make = move |is_stopped: &AtomicBool| files.page(is_stopped).map(|(html, _)| html);
            page::show(html, Box::new(make))?;
        }
    }
    Ok(changes > 0)
}

/// Prints the changes, or draws the graphs. Returns true if the versions differ.
fn show_changes(args: &Args, old: &Path, new: &Path) -> Result<bool, String> {
    if args.path.is_some() {
        return Err("--path needs --html or --page: there the versions are drawn".to_string());
    }
    let versions = [read(old)?, read(new)?];
    let path = if versions[1].is_some() { new } else { old };
    let bytes = versions.each_ref().map(Option::as_deref);
    let found = difference::compare(&path.display().to_string(), bytes);
    if let Some(picture) = &args.svg {
        let [old, new] = [(old, bytes[0]), (new, bytes[1])];
        let drawn = difference_svg(&graph_of(old)?, &graph_of(new)?);
        write(picture, &drawn, found.changes.len())?;
    } else {
        print(args.output, &found);
    }
    Ok(!found.changes.is_empty())
}

/// Writes a page or a picture, and says so.
fn write(path: &Path, text: &str, changes: usize) -> Result<(), String> {
    output_file::write(path, text.as_bytes())
        .map_err(|reason| format!("'{}' cannot be written: {reason}", path.display()))?;
    let changes = match changes {
        0 => "no changes".to_string(),
        1 => "1 change".to_string(),
        count => format!("{count} changes"),
    };
    engine_foundation::print_line!("{}: written, with {changes}", path.display());
    Ok(())
}

fn print(format: ReportFormat, found: &FileDifference) {
    for note in &found.notes {
        engine_foundation::error_line!("note: {note}");
    }
    match format {
        ReportFormat::Json => terminal::print(&format!("{}\n", diff::to_json(&found.changes))),
        ReportFormat::Text => found.changes.iter().for_each(print_change),
    }
}

/// Returns the graph in a version of a file.
fn graph_of((path, bytes): (&Path, Option<&[u8]>)) -> Result<SjsonTree, String> {
    let path = path.display().to_string();
    let document =
        sjson::parse_bytes(bytes.unwrap_or_default()).map_err(|error| error.in_file(&path))?;
    difference::graph_of(&path, &document.to_tree())
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
