//! Tests of a lost display: the X server ends while a game is played in its window.

use super::{Display, GameProcess, scratch};
use crate::game_folder::GameFolder;

const GAME: &str = r#"
local frames, lasting = 0, 0
function update()
  frames = frames + 1
  if frames == 5 then
    Window.set_clipboard("mine")
    print("plays")
  end
  Window.set_title("Yard " .. frames)
end
function shutdown()
  Save.write_async("later", { frames = frames })
  print("saved", Save.write("now", { frames = frames }))
end
"#;

impl Display {
    /// Kills the X server, as if it had crashed.
    fn kill_server(&mut self) {
        self.server.kill().expect("it is ours");
        self.server.wait().expect("it is ours");
    }
}

#[track_caller]
fn check_clean_exit(
    name: &str,
    main: &str,
    arguments: &[&str],
    expected: &[&str],
) -> Option<GameFolder> {
    let mut display = Display::start()?;
    let folder = scratch(name);
    let mut game = GameProcess::start(&display, &folder, main, arguments);
    game.wait_for_line("plays");
    display.kill_server();
    let code = game.wait_for_exit();
    let output = game.output.join("\n");
    assert_eq!(code, Some(1), "{output}");
    for line in expected {
        assert!(
            game.output.iter().any(|output| output.starts_with(line)),
            "{line} is not in:\n{output}"
        );
    }
    let message = "error: the display is gone: its server ended, or closed the connection; the \
                   game was ended as if its window had been closed";
    assert_eq!(game.output.iter().filter(|line| *line == message).count(), 1, "{output}");
    assert!(!output.contains("the engine failed"), "{output}");
    Some(folder)
}

#[test]
fn lost_display_ends_game_after_shutdown_callback() {
    let without = &["--renderer", "null"];
    let Some(folder) = check_clean_exit("lost", GAME, without, &["saved\ttrue"]) else { return };
    let saves = std::fs::read_dir(folder.join("saves/game/saves")).expect("the game has saved");
    let names = saves.map(|entry| entry.expect("it can be read").file_name());
    let names: Vec<_> = names.filter_map(|name| name.into_string().ok()).collect();
    for slot in ["now.", "later."] {
        assert!(names.iter().any(|name| name.starts_with(slot)), "{slot}: {names:?}");
    }
}

#[test]
fn lost_display_ends_a_rendering_game() {
    check_clean_exit("lost_drawn", GAME, &[], &["saved\ttrue"]);
    check_clean_exit("lost_drawn_alone", GAME, &["--single-threaded"], &["saved\ttrue"]);
}

#[test]
fn lost_display_ends_a_game_in_error_state() {
    let failing = "function update() print(\"plays\") error(\"boom\") end";
    check_clean_exit("lost_broken", failing, &["--renderer", "null"], &["Error: boom"]);
}
