//! Skeletons of characters as debug lines over the views of their world.

use super::{BuildMode, OpenedGame, Worlds};
use engine_foundation::{Error, log};
use engine_world::WorldId;
use engine_world::debug_lines::LINES_MAX;

impl Worlds {
    /// Draws the skeletons of the characters of a world for which that is on.
    pub(super) fn draw_skeletons(
        &mut self,
        game: &OpenedGame,
        world: WorldId,
    ) -> Result<(), Error> {
        if self.animations.skeletons.is_empty() || game.build == BuildMode::Release {
            return Ok(());
        }
        // The game's own lines take precedence, and a debug view must not stop the game.
        let room = self.lines.remaining().min(LINES_MAX / 2);
        let (lines, left_out) = self.animations.skeleton_lines(world, &mut self.units, room);
        if left_out > 0 {
            let message = format!("{left_out} lines of skeletons are not shown: {room} fit in");
            log::warn("skeletons", &message);
        }
        self.lines.show(Some(world.0), &lines, -1.0).map_err(Error::new)
    }
}
