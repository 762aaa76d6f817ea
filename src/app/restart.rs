//! Restart of a game in the running process: opens it again, with a new VM, new worlds and assets.
//! Only what belongs to the process and its player survives. The main loop decides when.

use super::{App, GameLaunch};
use engine_foundation::Error;
use engine_input::button_names::MOUSE_CURSOR;
use engine_input::{EventKind, InputEvent, MOUSE};
use engine_sound::AudioDestination;

impl App {
    /// Opens the same game again, for its restart. The new app takes over the window, the sound
    /// device, the connection of tools and saves that are kept in memory. Drop this one before the
    /// new one starts: that completes its saves.
    ///
    /// # Errors
    /// Returns an error if the game cannot be opened. This app is unchanged then.
    pub fn reopen(&mut self, launch: &GameLaunch) -> Result<App, Error> {
        // A second destination would open the device twice, or empty the file.
        let sound = AudioDestination::Null;
        let mut app = App::open(GameLaunch { sound, ..launch.clone() })?;
        app.inherit_tools(self);
        let (new, old) = (app.vm.engine(), self.vm.engine());
        let opening = new.devices.window.opening.clone();
        std::mem::swap(&mut new.devices.window, &mut old.devices.window);
        new.devices.window.begin_game(&opening);
        new.devices.sounds.take_output(&mut old.devices.sounds);
        if new.game.save_folder.is_none() {
            std::mem::swap(&mut new.game.saves, &mut old.game.saves);
            new.game.user_settings = old.game.user_settings.take();
        }
        // The desktop reports the mouse again only when it moves.
        let value = old.devices.input.device(MOUSE).axis(MOUSE_CURSOR);
        let kind = EventKind::Axis { axis: MOUSE_CURSOR as u8, value };
        new.devices.input.begin_frame(vec![InputEvent { device: MOUSE, age: 0.0, kind }]);
        Ok(app)
    }

    /// Returns the key that restarts the game.
    pub(super) fn restart_key(&self) -> Option<u16> {
        self.restart_key
    }
}
