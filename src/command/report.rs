//! `engine report`: prints a crash report, or the newest one of a game.

use engine_app::{self as app, exit};
use engine_foundation::file_access::{self, readers};
use engine_foundation::terminal;
use engine_resource::bundle;
use std::path::{Path, PathBuf};

/// Print a crash report: a file, or the newest report of a game
#[derive(clap::Args)]
pub struct Args {
    /// A report's file, or a game's folder
    #[arg(value_name = "FILE|FOLDER", default_value = ".")]
    path: PathBuf,
    /// Print the newest log of the game instead of a report
    #[arg(long)]
    log: bool,
}

/// First line of every report.
const HEAD: &str = "Crash report";

pub fn main(args: Args) -> i32 {
    match text(&args) {
        Ok(text) => {
            terminal::print(&text);
            exit::SUCCESS
        }
        Err(message) => {
            engine_foundation::error_line!("error: {message}");
            exit::FAILED
        }
    }
}

fn text(args: &Args) -> Result<String, String> {
    let file = match args.path.is_dir() {
        true => newest(&args.path, args.log)?,
        false if bundle::looks_like_bundle(&args.path) => {
            return Err(format!(
                "{} is a bundle: give the game's folder that it was made of",
                args.path.display()
            ));
        }
        false => args.path.clone(),
    };
    let read = file_access::read_named(&file, &readers::REPORT);
    let bytes = read.map_err(|reason| format!("{} cannot be read: {reason}", file.display()))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if !args.log && !text.starts_with(HEAD) {
        return Err(format!("{} is not a crash report: they begin with '{HEAD}'", file.display()));
    }
    Ok(match args.path.is_dir() {
        true => format!("{}\n\n{text}", file.display()),
        false => text,
    })
}

/// Returns the newest crash report, or the newest log, of a game.
fn newest(game: &Path, log: bool) -> Result<PathBuf, String> {
    let saves = app::save_folder_of(game).map_err(|error| error.to_string())?;
    if log {
        let file = saves.join("logs").join(engine_foundation::log_file::NEWEST);
        if !file.exists() {
            return Err(format!(
                "there is no log in {}: they are kept for runs that are paced by the clock (a \
                 window, or --realtime), unless log.files is 0 in the settings",
                saves.display()
            ));
        }
        return Ok(file);
    }
    let entries = std::fs::read_dir(&saves).into_iter().flatten().flatten();
    let reports = entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        name.starts_with("crash-") && name.ends_with(".txt")
    });
    let changed = |path: &PathBuf| path.metadata().and_then(|data| data.modified()).ok();
    reports.max_by_key(changed).ok_or_else(|| {
        format!(
            "there is no crash report in {}: they are written when a game that is shipped (a \
             bundle) stops with an error",
            saves.display()
        )
    })
}
