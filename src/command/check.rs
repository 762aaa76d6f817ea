//! `engine check`: spawns every unit, model and level of a game for a frame, and reports all errors
//! at once. It plays the script core/tools/check.lua.

use super::confinement_flag::ConfinementFlag;
use super::editor_definitions;
use engine_app::confinement::{self, ConfinementPlan};
use engine_app::{self as app, Game, RunOptions, exit};
use engine_foundation::file_access::{self, readers};
use engine_foundation::log;
use engine_resource::folder_scan;
use engine_resource::project::Project;
use engine_script::syntax_check;
use std::path::{Path, PathBuf};

/// Script that is played instead of the game's own.
const SCRIPT: &str = "tools.check";

/// Spawn every unit, model and level of a game for one frame, and report all errors
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    #[command(flatten)]
    confine: ConfinementFlag,
}

pub fn main(args: Args) -> i32 {
    let lacks = Project::open(&args.folder).map(|project| project.missing_boot_message("main"));
    match lacks {
        Ok(None) => {}
        Ok(Some(message)) => {
            log::error(&message);
            return exit::FAILED;
        }
        Err(error) => {
            log::error(&error.to_string());
            return exit::FAILED;
        }
    }
    editor_definitions::refresh(&args.folder);
    let game = Game::Folder(args.folder.clone());
    let confined = args.confine.is_enabled();
    if confined {
        ConfinementPlan::to_check(&game).begin();
        confinement::forbid_programs(false);
    }
    check_scripts(&args.folder);
    let code = app::play(RunOptions {
        boot: Some(SCRIPT.to_string()),
        confined,
        ..RunOptions::headless(game)
    });
    // Covers sources that do not compile, and errors logged by the engine's systems.
    match log::error_count() {
        0 => code,
        error_count => {
            let errors = if error_count == 1 {
                "1 error".to_string()
            } else {
                format!("{error_count} errors")
            };
            engine_foundation::print_line!(
                "{errors} in addition, such as sources that do not compile: above"
            );
            if code == exit::SUCCESS { exit::FAILED } else { code }
        }
    }
}

/// Reports syntax errors in all scripts. Otherwise each error would appear only when its script is
/// required.
fn check_scripts(folder: &Path) {
    // A folder that cannot be read is reported when it is played.
    let found = folder_scan::files(folder).unwrap_or_default();
    for file in found.files.iter().filter(|file| file.path.ends_with(".lua")) {
        match file_access::read(folder, &file.path, &readers::SCRIPT) {
            // The compiler reports these files.
            Ok(bytes) if bytes.starts_with(b"\x1bL") => {}
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                if let Some(message) = syntax_check::problem(&file.path, &text) {
                    // An error found before the text is parsed has no location.
                    let placed = message.starts_with(&file.path);
                    let message =
                        if placed { message } else { format!("{}: {message}", file.path) };
                    log::error(&message);
                }
            }
            // The compiler reports these files, too.
            Err(_) => {}
        }
    }
}
