//! The files and devices that a run needs: outputs are checked before it begins, and all of it is
//! named to the confinement.

use super::confinement::Plan;
use super::play::{LetIn, Options};
use super::screen::LAST_PICTURE;
use crate::error;
use crate::foundation::{Error, output_file};
use crate::system::sound::Destination;
use std::path::PathBuf;

/// Refuses files that cannot be written before anything is played for them.
///
/// # Errors
/// The first of them, with what is in its way.
pub fn check_outputs(options: &Options) -> Result<(), Error> {
    let screenshot = options.show.screenshot.as_ref().map(|wanted| &wanted.file);
    let sound = match &options.sound {
        Destination::File(file) => Some(file),
        _ => None,
    };
    let files = [options.record.as_ref(), screenshot, sound].into_iter().flatten();
    for file in files.chain(options.measures.outputs()) {
        output_file::check(file)
            .map_err(|reason| error!("{} cannot be written: {reason}", file.display()))?;
    }
    Ok(())
}

/// The access to the system that a run needs. Devices are opened again when they were lost, and
/// pads come and go: they stay in reach.
pub fn plan(options: &Options) -> Plan {
    let mut plan = Plan::of_game(&options.game);
    plan.add_devices(&options.game);
    match &options.replay {
        // It has its own saves along.
        Some(recording) => plan.reach.read.push(recording.clone()),
        None => plan.add_saves(&options.game),
    }
    if let Destination::File(file) = &options.sound {
        plan.add_file(file);
    }
    let show = &options.show;
    plan.add_outputs(show.screenshot.as_ref().map(|wanted| &wanted.file));
    plan.add_outputs(&options.record);
    plan.add_outputs(options.measures.outputs());
    // A tool can have the game shown in a window of its own.
    plan.reach.abstract_sockets = matches!(options.tools, LetIn::Always);
    if show.window {
        plan.add_window();
        if show.screenshot.is_none() {
            plan.add_possible_output(PathBuf::from(LAST_PICTURE));
        }
    }
    plan
}
