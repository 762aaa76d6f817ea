//! The files and devices that a run needs. Output files are checked before the run begins, and the
//! confinement plan lists everything.

use super::confinement::{self, ConfinementPlan};
use super::display::LAST_FRAME_FILE;
use super::main_loop::{RemoteAccess, RunOptions, WithoutDisplay};
use engine_foundation::error;
use engine_foundation::{Error, output_file};
use engine_sound::AudioDestination;
use std::path::PathBuf;

/// Checks that the output files can be written, before anything is played.
///
/// # Errors
/// Returns the first file that cannot be written, with the reason.
pub fn check_outputs(options: &RunOptions) -> Result<(), Error> {
    if let Some(wanted) = &options.display.capture_frame {
        confinement::make_output_folder(&wanted.folder)?;
    }
    let sound = match &options.sound {
        AudioDestination::File(file) => Some(file),
        _ => None,
    };
    let files = [options.record.as_ref(), sound].into_iter().flatten();
    let files = files.chain(options.display.picture_files());
    for file in files.chain(options.profile_outputs.outputs()) {
        output_file::check(file)
            .map_err(|reason| error!("{} cannot be written: {reason}", file.display()))?;
    }
    Ok(())
}

/// Returns the access to the operating system that a run needs. Devices stay accessible, because
/// lost devices are opened again and pads can be plugged in at any time.
pub fn plan(options: &RunOptions) -> ConfinementPlan {
    let mut plan = ConfinementPlan::of_game(&options.game, options.variants.platform());
    plan.add_devices(&options.game);
    match &options.replay {
        // A recording contains its own saves.
        Some(recording) => plan.file_access.read.push(recording.clone()),
        None => plan.add_saves(&options.game),
    }
    if let AudioDestination::File(file) = &options.sound {
        plan.add_file(file);
    }
    let show = &options.display;
    plan.add_outputs(show.picture_files());
    if let Some(wanted) = &show.capture_frame {
        plan.add_output_folder(&wanted.folder);
    }
    plan.add_outputs(&options.record);
    plan.add_outputs(options.profile_outputs.outputs());
    // A tool can provide its own window for the game.
    plan.file_access.abstract_sockets = matches!(options.tools, RemoteAccess::Always);
    if !matches!(options.tools, RemoteAccess::Never) {
        plan.add_sources(&options.game);
    }
    if show.window {
        plan.add_window();
        // The game was started by a player, who reads no terminal.
        plan.duties.message = matches!(options.without_display, WithoutDisplay::Refuse);
        if !show.wants_pictures() {
            plan.add_possible_output(PathBuf::from(LAST_FRAME_FILE));
        }
    }
    plan
}
