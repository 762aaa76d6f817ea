//! Flag that disables the confinement of the process, for the commands that read or run games.

use engine_app::confinement;

/// Flag that turns off the confinement of the process.
#[derive(clap::Args, Default)]
pub struct ConfinementFlag {
    /// Run without the system's confinement to the game's files (Linux); ENGINE_UNCONFINED=1 in the
    /// environment does the same
    #[arg(long)]
    unconfined: bool,
}

impl ConfinementFlag {
    pub fn is_enabled(&self) -> bool {
        confinement::is_enabled(self.unconfined)
    }
}
