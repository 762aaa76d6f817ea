//! `engine run`: plays a game.

use super::definitions;
use crate::app::{self, Game, HEADLESS_STEP, Options, Pace, exit};
use std::path::PathBuf;

/// Frames that are played where there is no display and no number was given.
const FRAMES_WITHOUT_DISPLAY: u64 = 300;

/// Play a game
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder, or a bundle
    #[arg(value_name = "FOLDER|BUNDLE")]
    game: PathBuf,
    /// Play without a window, as fast as it goes, until stopped
    #[arg(long)]
    headless: bool,
    /// Stop after this many frames
    #[arg(long, value_name = "N")]
    frames: Option<u64>,
    /// The step of every frame, in seconds [default: 1/60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    fixed_step: Option<f64>,
    /// Where random numbers begin
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Pace headless frames by the clock, 60 a second
    #[arg(long, requires = "headless", conflicts_with = "fixed_step")]
    realtime: bool,
    /// Start this module in place of the settings' boot script
    #[arg(long, value_name = "MODULE")]
    boot: Option<String>,
    /// Do not take what changes in the folder while the game is played
    #[arg(long)]
    no_watch: bool,
    /// Write the run to a file that --replay plays again
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Play a recording again and compare every frame with it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["frames", "fixed_step", "seed", "boot"])]
    replay: Option<PathBuf>,
    /// Arguments for the game (Application.argv)
    #[arg(last = true)]
    arguments: Vec<String>,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 10.0 => Ok(seconds),
        _ => Err("must be a number of seconds, above 0 and at most 10".to_string()),
    }
}

pub fn main(args: Args) -> i32 {
    let mut frames = args.frames;
    if !args.headless && frames.is_none() && args.replay.is_none() {
        frames = Some(without_display(" (--headless plays until stopped)"));
    }
    let pace = match args.realtime {
        true => Pace::RealTime,
        false => Pace::Fixed(args.fixed_step.unwrap_or(HEADLESS_STEP)),
    };
    let game = match Game::at(&args.game) {
        Ok(game) => game,
        Err(error) => {
            eprintln!("error: {error}");
            return exit::FAILED;
        }
    };
    if let Game::Folder(folder) = &game {
        definitions::refresh(folder);
    }
    app::play(Options {
        game,
        pace,
        frames,
        seed: args.seed,
        boot: args.boot,
        arguments: args.arguments,
        watch: !args.no_watch && args.record.is_none() && args.replay.is_none(),
        record: args.record,
        replay: args.replay,
    })
}

/// Says that there is no window: how many frames are played without one.
fn without_display(more: &str) -> u64 {
    eprintln!(
        "engine: this version has no window yet: playing {FRAMES_WITHOUT_DISPLAY} frames without \
         one{more}"
    );
    FRAMES_WITHOUT_DISPLAY
}

/// Plays the game that was appended to this executable, if one was: its exit code. All of the
/// process's arguments are the game's.
pub fn appended() -> Option<i32> {
    let game = match Game::of_executable()? {
        Ok(game) => game,
        Err(error) => {
            eprintln!("error: {error}");
            return Some(exit::FAILED);
        }
    };
    let mut arguments = Vec::new();
    for argument in std::env::args_os().skip(1) {
        match argument.into_string() {
            Ok(argument) => arguments.push(argument),
            Err(argument) => {
                eprintln!("error: the argument {argument:?} is not UTF-8");
                return Some(exit::USAGE);
            }
        }
    }
    Some(app::play(Options {
        game,
        pace: Pace::Fixed(HEADLESS_STEP),
        frames: Some(without_display("")),
        seed: 0,
        boot: None,
        arguments,
        watch: false,
        record: None,
        replay: None,
    }))
}
