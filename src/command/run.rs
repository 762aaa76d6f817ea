//! `engine run`: plays a game.

use super::confinement_flag::ConfinementFlag;
use super::editor_definitions;
use super::picture_flags;
use super::thread_flags::ThreadFlags;
use super::variant_flags::VariantFlags;
use engine_app::{
    self as app, AdapterChoice, FilmRequest, FrameCaptureRequest, FramePacing, Game, HEADLESS_STEP,
    ProfileOutputs, RemoteAccess, RestartOnSave, RunOptions, ScreenshotRequest, VariantChoice,
    WithoutDisplay,
};
use engine_app::{DisplayPolicy, QualityLevel, exit};
use engine_foundation::counters::ExportFormat;
use engine_foundation::{DEVELOPMENT, log};
use engine_platform as platform;
use engine_render::load_only_software_drivers;
use engine_sound::AudioDestination;
use engine_time_step::SYSTEM_SECONDS_MAX;
use std::path::PathBuf;

/// Number of frames that are played without a display if no number is set.
const FRAMES_WITHOUT_DISPLAY: u64 = 300;

/// Play a game
#[derive(clap::Args)]
pub struct Args {
    /// The game's folder, or a bundle
    #[cfg_attr(feature = "development", arg(value_name = "FOLDER|BUNDLE", default_value = "."))]
    #[cfg_attr(
        not(feature = "development"),
        arg(value_name = "BUNDLE", help = "The game's bundle")
    )]
    game: PathBuf,
    /// Play without a window, as fast as possible, until stopped
    #[arg(long)]
    headless: bool,
    /// Stop after this many frames
    #[arg(long, value_name = "N", value_parser = whole_number, allow_negative_numbers = true)]
    frames: Option<u64>,
    /// Time step of every frame, in seconds [default: 1/60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    fixed_step: Option<f64>,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole_number,
          allow_negative_numbers = true)]
    seed: u64,
    /// Pace headless frames by the clock, 60 per second
    #[arg(long, conflicts_with = "fixed_step")]
    #[cfg_attr(feature = "desktop", arg(requires = "headless"))]
    realtime: bool,
    /// Start this module instead of the settings' boot script, such as game.start or game/start.lua
    #[arg(long, value_name = "MODULE", value_parser = module)]
    boot: Option<String>,
    /// Do not reload files that change while the game is played
    #[arg(long, hide = !DEVELOPMENT)]
    no_watch: bool,
    /// Restart the game when a file is saved
    #[arg(long, value_name = "FILES", value_enum, hide = !DEVELOPMENT,
          conflicts_with_all = ["no_watch", "record", "replay"])]
    restart_on_save: Option<SavedFiles>,
    /// Graphics adapter
    #[arg(long, value_name = "KIND", value_enum)]
    renderer: Option<Adapter>,
    /// How much is drawn, instead of the setting render.quality
    #[arg(long, value_name = "LEVEL", value_enum)]
    quality: Option<Quality>,
    /// Write a screenshot of a frame to a PNG or JPEG file: FILE@FRAME, or FILE for the last frame
    #[arg(long, value_name = "FILE[@FRAME]", value_parser = picture_flags::screenshot)]
    screenshot: Option<ScreenshotRequest>,
    /// Write eight frames at even distances to a PNG or JPEG file, as a film strip
    #[arg(long, value_name = "FILE@FIRST-LAST", value_parser = picture_flags::film)]
    film: Option<FilmRequest>,
    /// Write a picture of each image of a frame, and a list of its passes, to a folder: DIR@FRAME,
    /// or DIR for the last frame
    #[arg(long, value_name = "DIR[@FRAME]", value_parser = picture_flags::captured_frame)]
    capture_frame: Option<FrameCaptureRequest>,
    /// Sound output
    #[arg(long, value_name = "OUTPUT", value_enum, default_value = "auto")]
    audio: Audio,
    /// Write the sound of the run to a WAV file, synchronized with the game's time
    #[arg(long, value_name = "FILE", value_parser = wav_file, conflicts_with = "audio")]
    audio_out: Option<PathBuf>,
    #[command(flatten)]
    threads: ThreadFlags,
    #[command(flatten)]
    variants: VariantFlags,
    /// Record the run to a file, for --replay
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Replay a recording and compare every frame with it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["frames", "fixed_step", "seed", "boot"])]
    replay: Option<PathBuf>,
    /// Let tools connect to the game, even if it has no window (engine console, the page)
    #[arg(long, conflicts_with = "no_tools", hide = !DEVELOPMENT)]
    tools: bool,
    /// Do not let tools connect to the game
    #[arg(long, hide = !DEVELOPMENT)]
    no_tools: bool,
    /// Let tools connect, and wait for a debugger before any script is loaded (engine dap)
    #[arg(long, conflicts_with_all = ["no_tools", "record", "replay"], hide = !DEVELOPMENT)]
    debug: bool,
    /// End when standard input is closed: when the program that has started the game ends
    #[arg(long)]
    end_with_input: bool,
    /// Do not print how many frames were played, at the end of a run without a window;
    /// ENGINE_QUIET=1 in the environment does the same
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    profile: ProfileArgs,
    #[command(flatten)]
    confine: ConfinementFlag,
    /// Arguments for the game (Application.argv)
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// Flags for profiles and statistics of a run.
#[derive(clap::Args)]
struct ProfileArgs {
    /// Print a profile of the frames at the end
    #[arg(long)]
    profile_report: bool,
    /// Exclude the first N frames from the profile's averages and extremes
    #[arg(long, value_name = "N", default_value_t = 0, requires = "profile_report",
          value_parser = whole_number, allow_negative_numbers = true)]
    profile_skip: u64,
    /// Write the last 600 frames as a trace for Perfetto (Chrome's JSON)
    #[arg(long, visible_alias = "trace", value_name = "FILE")]
    profile_trace: Option<PathBuf>,
    /// Write the last 600 frames as a flame graph (SVG)
    #[arg(long, value_name = "FILE")]
    profile_flame: Option<PathBuf>,
    /// Write the last 600 frames as folded stacks, for flame graph tools
    #[arg(long, value_name = "FILE")]
    profile_folded: Option<PathBuf>,
    /// Sample the scripts a thousand times per second, and print the samples at the end: by script,
    /// function and line
    #[arg(long)]
    profile_scripts: bool,
    /// Write the sampled stacks, as folded stacks
    #[arg(long, value_name = "FILE")]
    profile_script_stacks: Option<PathBuf>,
    /// Write all counters of every frame to FILE.csv or FILE.json
    #[arg(long, value_name = "FILE", value_parser = statistics)]
    stats_export: Option<(PathBuf, ExportFormat)>,
}

impl ProfileArgs {
    fn into_outputs(self) -> ProfileOutputs {
        ProfileOutputs {
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

fn statistics(file: &str) -> Result<(PathBuf, ExportFormat), String> {
    let form = ExportFormat::of(file).ok_or("the file's name must end in .csv or .json")?;
    Ok((PathBuf::from(file), form))
}

/// The saved files that restart the game.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum SavedFiles {
    /// A script that changes the function init; others are reloaded as usual
    Init,
    /// Any file of the game
    Any,
}

/// Graphics adapter of a run.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Adapter {
    /// A graphics card if there is one, otherwise the software adapter
    Auto,
    /// Only a graphics card
    Gpu,
    /// The software adapter
    Software,
    /// None: nothing is drawn
    Null,
}

/// How much is drawn.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Quality {
    /// No screen-space effects, rough edges, few shadows
    Low,
    /// Fewer shadows and effects
    Medium,
    /// All that the settings say
    High,
    /// Finer shadows and skies
    Ultra,
}

/// False for executables for servers, which have no windows.
const IS_SHOWN: bool = cfg!(feature = "desktop");

/// Sound output of a run.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Audio {
    /// The system's device if the game is played in a window, otherwise none
    Auto,
    /// The system's device
    Device,
    /// None: nothing is mixed, and the game behaves the same
    Null,
}

/// Returns the destination of a run's sound.
fn destination(args: &Args, plays_live: bool) -> AudioDestination {
    match (&args.audio_out, args.audio) {
        (Some(file), _) => AudioDestination::File(file.clone()),
        (None, Audio::Device) => AudioDestination::Device(String::new()),
        (None, Audio::Auto) if plays_live => AudioDestination::Device(String::new()),
        (None, _) => AudioDestination::Null,
    }
}

/// Parses a number without a sign.
pub fn whole_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("must be a whole number from 0 to {}", u64::MAX))
}

/// Parses the name of a file for the sound of a run.
fn wav_file(text: &str) -> Result<PathBuf, String> {
    let file = PathBuf::from(text);
    match file.extension() {
        Some(ending) if ending.eq_ignore_ascii_case("wav") => Ok(file),
        _ => Err(format!(
            "the sound is written as WAV, and the file's name must end in .wav: write {}",
            file.with_extension("wav").display()
        )),
    }
}

/// Converts a path or a module name to a module name.
fn module(text: &str) -> Result<String, String> {
    Ok(text.strip_suffix(".lua").unwrap_or(text).replace('/', "."))
}

/// Parses a step. It must not be longer than a frame of a game that is paced by the clock.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= SYSTEM_SECONDS_MAX => Ok(seconds),
        _ => Err(format!("must be a number of seconds, above 0 and at most {SYSTEM_SECONDS_MAX}")),
    }
}

/// Sets what holds for the whole process.
fn prepare_process(args: &Args) {
    if let Some(Adapter::Software) = args.renderer {
        load_only_software_drivers();
    }
}

pub fn main(args: Args) -> i32 {
    // A replay is compared and not shown.
    let window = IS_SHOWN && !args.headless && args.replay.is_none();
    let pacing = match args.fixed_step {
        Some(seconds) => FramePacing::Fixed(seconds),
        None if args.realtime || window => FramePacing::RealTime,
        None => FramePacing::Fixed(HEADLESS_STEP),
    };
    let found = Game::at(&args.game)
        .and_then(|game| args.variants.choice_for(&game).map(|variants| (game, variants)));
    let (game, variants) = match found {
        Ok(found) => found,
        Err(error) => {
            engine_foundation::error_line!("error: {error}");
            return exit::FAILED;
        }
    };
    if DEVELOPMENT && let Game::Folder(folder) = &game {
        editor_definitions::refresh(folder);
    }
    prepare_process(&args);
    let sound = destination(&args, window);
    let tools = match (args.tools || args.debug, args.no_tools) {
        (true, _) => RemoteAccess::Always,
        (false, true) => RemoteAccess::Never,
        (false, false) => RemoteAccess::WithWindow,
    };
    app::play(RunOptions {
        game,
        pacing,
        frames: args.frames,
        seed: args.seed,
        boot: args.boot,
        arguments: args.arguments,
        watch: !args.no_watch && args.record.is_none() && args.replay.is_none(),
        threads: args.threads.number(),
        record: args.record,
        replay: args.replay,
        sound,
        display: DisplayPolicy {
            window,
            renderer: args.renderer.map(|adapter| match adapter {
                Adapter::Auto => AdapterChoice::Auto,
                Adapter::Gpu => AdapterChoice::Gpu,
                Adapter::Software => AdapterChoice::Software,
                Adapter::Null => AdapterChoice::Null,
            }),
            quality: args.quality.map(|level| match level {
                Quality::Low => QualityLevel::Low,
                Quality::Medium => QualityLevel::Medium,
                Quality::High => QualityLevel::High,
                Quality::Ultra => QualityLevel::Ultra,
            }),
            threaded: args.threads.number() != Some(1),
            screenshot: args.screenshot,
            film: args.film,
            capture_frame: args.capture_frame,
        },
        tools,
        waits_for_debugger: args.debug,
        ends_with_input: args.end_with_input,
        profile_outputs: args.profile.into_outputs(),
        without_display: WithoutDisplay::Play(FRAMES_WITHOUT_DISPLAY),
        confined: args.confine.is_enabled(),
        restart_on_save: match args.restart_on_save {
            None => RestartOnSave::Never,
            Some(SavedFiles::Init) => RestartOnSave::Init,
            Some(SavedFiles::Any) => RestartOnSave::Any,
        },
        variants,
        summary: !args.quiet && std::env::var_os("ENGINE_QUIET").is_none_or(|value| value != "1"),
    })
}

/// Plays the game that is appended to this executable, if there is one, and returns its exit code.
/// All arguments of the process are passed to the game.
pub fn appended() -> Option<i32> {
    let game = match Game::from_executable()? {
        Ok(game) => game,
        Err(error) => {
            engine_foundation::error_line!("error: {error}");
            if IS_SHOWN {
                platform::show_to_player(&error.to_string());
            }
            return Some(exit::FAILED);
        }
    };
    let mut arguments = Vec::new();
    for argument in std::env::args_os().skip(1) {
        match argument.into_string() {
            Ok(argument) => arguments.push(argument),
            Err(argument) => {
                engine_foundation::error_line!("error: the argument {argument:?} is not UTF-8");
                return Some(exit::USAGE);
            }
        }
    }
    let errors = log::error_count();
    let address =
        game.settings(platform::NAME).map(|it| app::crash_report::address(&it).to_string());
    let code = app::play(RunOptions {
        game,
        pacing: FramePacing::RealTime,
        frames: None,
        seed: 0,
        boot: None,
        arguments,
        watch: false,
        threads: None,
        record: None,
        replay: None,
        sound: match IS_SHOWN {
            true => AudioDestination::Device(String::new()),
            false => AudioDestination::Null,
        },
        display: DisplayPolicy { window: IS_SHOWN, ..DisplayPolicy::NONE },
        tools: RemoteAccess::Never,
        waits_for_debugger: false,
        ends_with_input: false,
        profile_outputs: ProfileOutputs::default(),
        // A player has no use for frames that nobody sees.
        without_display: WithoutDisplay::Refuse,
        confined: app::confinement::is_enabled(false),
        restart_on_save: RestartOnSave::Never,
        variants: VariantChoice::default(),
        summary: false,
    });
    if IS_SHOWN && code != exit::SUCCESS && !app::crash_report::was_shown() {
        // The second one has the file of the report.
        let mut lines: Vec<String> = log::errors_since(errors).into_iter().take(2).collect();
        if !lines.is_empty() {
            lines.extend(address.ok().filter(|address| !address.is_empty()));
            platform::show_to_player(&lines.join("\n\n"));
        }
    }
    Some(code)
}
