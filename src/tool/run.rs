//! `engine run`: plays a game.

use super::definitions;
use crate::app::{self, Options, Pace};
use std::path::PathBuf;

/// Frames that are played where there is no display and no number was given.
const FRAMES_WITHOUT_DISPLAY: u64 = 300;

/// Play a game
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder
    folder: PathBuf,
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
    if !args.headless && frames.is_none() {
        eprintln!(
            "engine: this version has no window yet: playing {FRAMES_WITHOUT_DISPLAY} frames \
             without one (--headless plays until stopped)"
        );
        frames = Some(FRAMES_WITHOUT_DISPLAY);
    }
    let pace = match args.realtime {
        true => Pace::RealTime,
        false => Pace::Fixed(args.fixed_step.unwrap_or(1.0 / 60.0)),
    };
    definitions::refresh(&args.folder);
    app::play(Options {
        folder: args.folder,
        pace,
        frames,
        seed: args.seed,
        boot: args.boot,
        arguments: args.arguments,
        watch: !args.no_watch,
    })
}
