//! Start of a run: opens the display and the game by the run's options.

use super::{FramePacing, HEADLESS_STEP, RemoteAccess, RunOptions, WithoutDisplay};
use crate::display::{Display, DisplayPolicy};
use crate::{App, Game, GameLaunch, ProfileOutputs, VariantChoice, window_options};
use engine_foundation::Error;
use engine_runtime::RestartOnSave;
use engine_sound::AudioDestination;

impl RunOptions {
    /// Returns the options of a run without a display, sound, tools and hot reload, at a fixed
    /// frame rate, in confinement.
    pub fn headless(game: Game) -> RunOptions {
        RunOptions {
            game,
            pacing: FramePacing::Fixed(HEADLESS_STEP),
            frames: None,
            seed: 0,
            boot: None,
            arguments: Vec::new(),
            watch: false,
            threads: None,
            record: None,
            replay: None,
            sound: AudioDestination::Null,
            display: DisplayPolicy::NONE,
            profile_outputs: ProfileOutputs::default(),
            tools: RemoteAccess::Never,
            waits_for_debugger: false,
            ends_with_input: false,
            without_display: WithoutDisplay::Refuse,
            confined: true,
            restart_on_save: RestartOnSave::Never,
            variants: VariantChoice::default(),
            summary: false,
        }
    }
}

/// Opens the window, or the display of a run without one.
pub(super) fn open_display(options: &mut RunOptions) -> Result<Display, Error> {
    // Errors in the folder are reported before a window opens.
    let (project, settings) =
        (options.game.project()?, options.game.settings(options.variants.platform())?);
    let window = window_options(&settings, &project)?;
    let (mut display, problem) = Display::open(options.display.clone(), &window)?;
    let Some(problem) = problem else { return Ok(display) };
    let WithoutDisplay::Play(frames) = options.without_display else {
        return Err(engine_foundation::error!(
            "the game needs a window, and there is no display ({})",
            problem.0
        ));
    };
    options.pacing = match options.pacing {
        FramePacing::Fixed(seconds) => FramePacing::Fixed(seconds),
        FramePacing::RealTime => FramePacing::Fixed(HEADLESS_STEP),
    };
    if matches!(options.sound, AudioDestination::Device(_)) {
        // Frames that run faster than real time have no audible sound.
        options.sound = AudioDestination::Null;
    }
    let frames = *options.frames.get_or_insert(frames);
    engine_foundation::error_line!(
        "engine: there is no display ({}): playing {frames} frames without a window (--headless \
         plays until stopped)",
        problem.0
    );
    display.save_last_frame()?;
    Ok(display)
}

pub(super) fn game_launch(options: &RunOptions) -> GameLaunch {
    GameLaunch {
        game: options.game.clone(),
        build: options.game.build(),
        arguments: options.arguments.clone(),
        seed: options.seed,
        deterministic: matches!(options.pacing, FramePacing::Fixed(_))
            || options.record.is_some()
            || options.replay.is_some(),
        boot: options.boot.clone(),
        // A replay must not read or overwrite the player's saves.
        in_memory_saves: options.replay.is_some(),
        sandbox: true,
        coverage: false,
        lines: false,
        store: None,
        watch: options.watch,
        threads: options.threads,
        sound: options.sound.clone(),
        restart_on_save: options.restart_on_save,
        variants: options.variants.clone(),
    }
}

pub(super) fn open_app(launch: &GameLaunch, display: &mut Display) -> Result<App, Error> {
    let mut app = App::open(launch.clone())?;
    display.connect_engine(app.vm().engine());
    Ok(app)
}
