//! `engine check`: spawns every unit, model and level of a game for a frame, and tells everything
//! that is wrong at once. What it plays is core/tools/check.lua.

use super::confine::Confine;
use super::definitions;
use crate::app::confinement::{self, Plan};
use crate::app::{self, Game, HEADLESS_STEP, LetIn, Measures, Options, Pace, Show, exit};
use crate::foundation::file_access::{self, readers};
use crate::foundation::log;
use crate::resource::project::Project;
use crate::resource::scan;
use crate::script::syntax;
use crate::system::sound::Destination;
use std::path::{Path, PathBuf};

/// The script that is played in place of the game's own.
const SCRIPT: &str = "tools.check";

/// Spawn every unit, model and level of a game for a frame, and report everything that is wrong
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    #[command(flatten)]
    confine: Confine,
}

pub fn main(args: Args) -> i32 {
    let lacks = Project::open(&args.folder).map(|project| project.lacks_boot("main"));
    match lacks {
        Ok(None) => {}
        Ok(Some(words)) => {
            log::error(&words);
            return exit::FAILED;
        }
        Err(error) => {
            log::error(&error.to_string());
            return exit::FAILED;
        }
    }
    definitions::refresh(&args.folder);
    let game = Game::Folder(args.folder.clone());
    let confined = args.confine.is_wanted();
    if confined {
        Plan::to_check(&game).begin();
        confinement::forbid_programs(false);
    }
    check_scripts(&args.folder);
    let code = app::play(Options {
        game,
        pace: Pace::Fixed(HEADLESS_STEP),
        frames: None,
        seed: 0,
        boot: Some(SCRIPT.to_string()),
        arguments: Vec::new(),
        watch: false,
        threads: None,
        record: None,
        replay: None,
        sound: Destination::Null,
        show: Show::NOTHING,
        tools: LetIn::Never,
        measures: Measures::default(),
        frames_without_display: None,
        confined,
    });
    // Sources that do not compile, and whatever the engine's systems had to say.
    match log::error_count() {
        0 => code,
        told => {
            let errors = if told == 1 { "1 error".to_string() } else { format!("{told} errors") };
            crate::print_line!(
                "{errors} besides, of sources that do not compile and the like: above"
            );
            if code == exit::SUCCESS { exit::FAILED } else { code }
        }
    }
}

/// Tells what is wrong with scripts that nothing may require: they would be told one by one, when
/// somebody does.
fn check_scripts(folder: &Path) {
    // A folder that cannot be read is told when it is played.
    let found = scan::files(folder).unwrap_or_default();
    for file in found.files.iter().filter(|file| file.path.ends_with(".lua")) {
        match file_access::read(folder, &file.path, &readers::SCRIPT) {
            // The compiler tells of those.
            Ok(bytes) if bytes.starts_with(b"\x1bL") => {}
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                if let Some(words) = syntax::problem(&file.path, &text) {
                    // What is refused before it is read has no place.
                    let placed = words.starts_with(&file.path);
                    let words = if placed { words } else { format!("{}: {words}", file.path) };
                    log::error(&words);
                }
            }
            // The compiler tells of those, too.
            Err(_) => {}
        }
    }
}
