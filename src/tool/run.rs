//! `engine run`: plays a game.

use super::confine::Confine;
use super::definitions;
use super::threads::Threads;
use crate::app::{self, Choice, Game, HEADLESS_STEP, LetIn, Measures, Options, Pace, Screenshot};
use crate::app::{Show, exit};
use crate::foundation::counters::Form;
use crate::system::render::load_software_drivers_alone;
use crate::system::sound::Destination;
use crate::system::time_step::SYSTEM_SECONDS_MAX;
use std::path::PathBuf;

/// Frames that are played where there is no display and no number was given.
const FRAMES_WITHOUT_DISPLAY: u64 = 300;

/// Play a game
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder, or a bundle
    #[arg(value_name = "FOLDER|BUNDLE", default_value = ".")]
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
    /// Start this module in place of the settings' boot script, as game.start or game/start.lua
    #[arg(long, value_name = "MODULE", value_parser = module)]
    boot: Option<String>,
    /// Do not take what changes in the folder while the game is played
    #[arg(long)]
    no_watch: bool,
    /// What pictures are drawn on
    #[arg(long, value_name = "KIND", value_enum)]
    renderer: Option<Adapter>,
    /// Write the picture of a frame to a PNG file: FILE, or FILE@FRAME; else of the last frame
    #[arg(long, value_name = "FILE[@FRAME]", value_parser = screenshot)]
    screenshot: Option<Screenshot>,
    /// Where sound goes
    #[arg(long, value_name = "WHERE", value_enum, default_value = "auto")]
    audio: Audio,
    /// Write what the run sounds like to a WAV file, in step with the game
    #[arg(long, value_name = "FILE", conflicts_with = "audio")]
    audio_out: Option<PathBuf>,
    #[command(flatten)]
    threads: Threads,
    /// Write the run to a file that --replay plays again
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Play a recording again and compare every frame with it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["frames", "fixed_step", "seed", "boot"])]
    replay: Option<PathBuf>,
    /// Let tools look into the game, also where it has no window (engine console, the page)
    #[arg(long, conflicts_with = "no_tools")]
    tools: bool,
    /// Let no tools look into the game
    #[arg(long)]
    no_tools: bool,
    #[command(flatten)]
    measures: MeasuresArgs,
    #[command(flatten)]
    confine: Confine,
    /// Arguments for the game (Application.argv)
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// What a run is measured for.
#[derive(clap::Args)]
struct MeasuresArgs {
    /// Print at the end where the frames' time went
    #[arg(long)]
    profile_report: bool,
    /// Leave the first N frames out of the report's averages and extremes
    #[arg(long, value_name = "N", default_value_t = 0, requires = "profile_report")]
    profile_skip: u64,
    /// Write the last 600 frames as a trace for Perfetto (Chrome's JSON)
    #[arg(long, visible_alias = "trace", value_name = "FILE")]
    profile_trace: Option<PathBuf>,
    /// Write them as a flame graph (SVG)
    #[arg(long, value_name = "FILE")]
    profile_flame: Option<PathBuf>,
    /// Write them as folded stacks, for flame graph tools
    #[arg(long, value_name = "FILE")]
    profile_folded: Option<PathBuf>,
    /// Ask the scripts a thousand times a second where they are, and print it at the end: by
    /// script, function and line
    #[arg(long)]
    profile_scripts: bool,
    /// Write the stacks that were met, as folded stacks
    #[arg(long, value_name = "FILE")]
    profile_script_stacks: Option<PathBuf>,
    /// Write every counter of every frame: FILE.csv or FILE.json
    #[arg(long, value_name = "FILE", value_parser = statistics)]
    stats_export: Option<(PathBuf, Form)>,
}

impl MeasuresArgs {
    fn measures(self) -> Measures {
        Measures {
            report: self.profile_report,
            skip: self.profile_skip,
            trace: self.profile_trace,
            flame: self.profile_flame,
            folded: self.profile_folded,
            scripts: self.profile_scripts,
            script_stacks: self.profile_script_stacks,
            statistics: self.stats_export,
        }
    }
}

fn statistics(file: &str) -> Result<(PathBuf, Form), String> {
    let form = Form::of(file).ok_or("the file's name must end in .csv or .json")?;
    Ok((PathBuf::from(file), form))
}

/// What pictures are drawn on.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Adapter {
    /// A graphics card, or else the software adapter
    Auto,
    /// A graphics card or nothing
    Gpu,
    /// The software adapter
    Software,
    /// Nothing: no picture is drawn
    Null,
}

/// Where sound goes.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Audio {
    /// To the system's device where the game is played in a window, otherwise nowhere
    Auto,
    /// To the system's device
    Device,
    /// Nowhere: nothing is mixed, and the game notices no difference
    Null,
}

/// Where the sound of a run goes.
fn destination(args: &Args, plays_live: bool) -> Destination {
    match (&args.audio_out, args.audio) {
        (Some(file), _) => Destination::File(file.clone()),
        (None, Audio::Device) => Destination::Device(String::new()),
        (None, Audio::Auto) if plays_live => Destination::Device(String::new()),
        (None, _) => Destination::Null,
    }
}

fn screenshot(text: &str) -> Result<Screenshot, String> {
    let (file, frame) = match text.rsplit_once('@') {
        Some((file, frame)) if frame.bytes().all(|digit| digit.is_ascii_digit()) => {
            match frame.parse() {
                Ok(frame) if frame > 0 => (file, Some(frame)),
                _ => return Err("the frame after @ must be a number from 1".to_string()),
            }
        }
        _ => (text, None),
    };
    match file.is_empty() {
        true => Err("a file's name must stand before the @".to_string()),
        false => Ok(Screenshot { file: PathBuf::from(file), frame }),
    }
}

/// The module of a path or a module's name.
fn module(text: &str) -> Result<String, String> {
    Ok(text.strip_suffix(".lua").unwrap_or(text).replace('/', "."))
}

/// A step, which is no longer than a frame of a game that is paced by the clock.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= SYSTEM_SECONDS_MAX => Ok(seconds),
        _ => Err(format!("must be a number of seconds, above 0 and at most {SYSTEM_SECONDS_MAX}")),
    }
}

pub fn main(args: Args) -> i32 {
    // A replay is compared, not looked at.
    let window = !args.headless && args.replay.is_none();
    let pace = match args.fixed_step {
        Some(seconds) => Pace::Fixed(seconds),
        None if args.realtime || window => Pace::RealTime,
        None => Pace::Fixed(HEADLESS_STEP),
    };
    let game = match Game::at(&args.game) {
        Ok(game) => game,
        Err(error) => {
            crate::error_line!("error: {error}");
            return exit::FAILED;
        }
    };
    if let Game::Folder(folder) = &game {
        definitions::refresh(folder);
    }
    if let Some(Adapter::Software) = args.renderer {
        load_software_drivers_alone();
    }
    let sound = destination(&args, window);
    let tools = match (args.tools, args.no_tools) {
        (true, _) => LetIn::Always,
        (false, true) => LetIn::Never,
        (false, false) => LetIn::WithWindow,
    };
    app::play(Options {
        game,
        pace,
        frames: args.frames,
        seed: args.seed,
        boot: args.boot,
        arguments: args.arguments,
        watch: !args.no_watch && args.record.is_none() && args.replay.is_none(),
        threads: args.threads.number(),
        record: args.record,
        replay: args.replay,
        sound,
        show: Show {
            window,
            renderer: args.renderer.map(|adapter| match adapter {
                Adapter::Auto => Choice::Auto,
                Adapter::Gpu => Choice::Gpu,
                Adapter::Software => Choice::Software,
                Adapter::Null => Choice::Null,
            }),
            threaded: args.threads.number() != Some(1),
            screenshot: args.screenshot,
        },
        tools,
        measures: args.measures.measures(),
        frames_without_display: Some(FRAMES_WITHOUT_DISPLAY),
        confined: args.confine.is_wanted(),
    })
}

/// Plays the game that was appended to this executable, if one was: its exit code. All of the
/// process's arguments are the game's.
pub fn appended() -> Option<i32> {
    let game = match Game::of_executable()? {
        Ok(game) => game,
        Err(error) => {
            crate::error_line!("error: {error}");
            return Some(exit::FAILED);
        }
    };
    let mut arguments = Vec::new();
    for argument in std::env::args_os().skip(1) {
        match argument.into_string() {
            Ok(argument) => arguments.push(argument),
            Err(argument) => {
                crate::error_line!("error: the argument {argument:?} is not UTF-8");
                return Some(exit::USAGE);
            }
        }
    }
    Some(app::play(Options {
        game,
        pace: Pace::RealTime,
        frames: None,
        seed: 0,
        boot: None,
        arguments,
        watch: false,
        threads: None,
        record: None,
        replay: None,
        sound: Destination::Device(String::new()),
        show: Show { window: true, ..Show::NOTHING },
        tools: LetIn::Never,
        measures: Measures::default(),
        frames_without_display: Some(FRAMES_WITHOUT_DISPLAY),
        confined: app::confinement::is_wanted(false),
    }))
}
