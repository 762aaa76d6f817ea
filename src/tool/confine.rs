//! The flag by which a user switches the confinement off, for the commands that read or run games.

use crate::app::confinement;

/// Whether the system confines the process.
#[derive(clap::Args, Default)]
pub struct Confine {
    /// Do not have the system confine the engine to the game's files (Linux);
    /// ENGINE_UNCONFINED=1 in the environment does the same
    #[arg(long)]
    unconfined: bool,
}

impl Confine {
    pub fn is_wanted(&self) -> bool {
        confinement::is_wanted(self.unconfined)
    }
}
