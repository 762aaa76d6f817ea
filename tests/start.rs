//! Starting a game in this process.

use engine::app::{App, GameLaunch};

/// Opens and starts a game, which must not fail.
#[track_caller]
pub fn start(launch: GameLaunch) -> App {
    let mut app = App::open(launch).unwrap_or_else(|error| panic!("{error}"));
    app.start().unwrap_or_else(|report| panic!("{report}"));
    app
}
