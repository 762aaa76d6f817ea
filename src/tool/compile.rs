//! `engine compile`: compiles a game's resources into a folder.

use super::definitions;
use crate::app::exit;
use crate::app::kinds::KINDS;
use crate::resource::compile::{self, Compiled, Target};
use crate::resource::project::Project;
use crate::resource::variant::PLATFORMS;
use crate::system::platform;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Compile a game's resources
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder
    folder: PathBuf,
    /// Where the compiled data goes
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// The platform that the data is for [default: this one]
    #[arg(long, value_parser = platform_name)]
    platform: Option<String>,
    /// The platform whose variants are taken [default: the same]
    #[arg(long, value_parser = platform_name)]
    source_platform: Option<String>,
}

/// One of the known platforms, or a suggestion.
pub fn platform_name(text: &str) -> Result<String, String> {
    if PLATFORMS.contains(&text) {
        return Ok(text.to_string());
    }
    let hint = crate::foundation::suggest::hint(text, PLATFORMS.iter().copied());
    Err(format!("there is no platform '{text}'{hint} (known: {})", PLATFORMS.join(", ")))
}

pub fn main(args: Args) -> i32 {
    if let Err(error) = Project::open(&args.folder) {
        eprintln!("error: {error}");
        return exit::FAILED;
    }
    definitions::refresh(&args.folder);
    let platform = args.platform.unwrap_or_else(|| platform::NAME.to_string());
    let source_platform = args.source_platform.unwrap_or_else(|| platform.clone());
    let target = Target {
        root: &args.folder,
        data: args.out.join(&platform),
        kinds: KINDS,
        source_platform: &source_platform,
        release: false,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let progress = Progress::new();
    let compiled = compile::compile(&target, &|done, all| progress.show(done, all));
    progress.clear();
    match compiled {
        Ok(compiled) => tell(&compiled, &platform),
        Err(error) => {
            eprintln!("error: {error}");
            exit::FAILED
        }
    }
}

fn tell(compiled: &Compiled, platform: &str) -> i32 {
    for problem in &compiled.problems {
        eprintln!("error: {problem}");
    }
    let (all, new) = (compiled.index.entries.len(), compiled.changed.len());
    println!("{all} resources for {platform}: {new} new, {} removed", compiled.removed.len());
    match compiled.problems.len() {
        0 => exit::SUCCESS,
        count => {
            eprintln!("{count} could not be compiled; what was compiled before stays");
            exit::FAILED
        }
    }
}

/// A line with counts, on a terminal, once it takes longer than a second.
struct Progress {
    began: Instant,
    shown: Mutex<Instant>,
    terminal: bool,
}

impl Progress {
    fn new() -> Progress {
        let terminal = std::io::stderr().is_terminal();
        Progress { began: Instant::now(), shown: Mutex::new(Instant::now()), terminal }
    }

    fn show(&self, done: usize, all: usize) {
        if !self.terminal || self.began.elapsed() < Duration::from_secs(1) {
            return;
        }
        let Ok(mut shown) = self.shown.try_lock() else { return };
        if shown.elapsed() >= Duration::from_millis(100) {
            *shown = Instant::now();
            eprint!("\rcompiling {done} of {all} ");
            // What a terminal does not take is not worth ending a compile for.
            let _ = std::io::stderr().flush();
        }
    }

    fn clear(&self) {
        if self.terminal && self.began.elapsed() >= Duration::from_secs(1) {
            eprint!("\r\x1b[K");
        }
    }
}
