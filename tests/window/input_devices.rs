//! Tests of keyboard, mouse and clipboard in a real window: commands that are not text, a captured
//! cursor, programs that do not answer, many files at once.

use super::{Display, GameProcess, X11Client, encode, scratch};

const GAME: &str = r#"
function on_activate(active) print("active", active) end
function update()
  for _, key in ipairs(Keyboard.keystrokes()) do print("typed", key) end
  if Keyboard.pressed("l") then
    Window.set_cursor_mode("lock")
    print("locked")
  end
  if Mouse.any_pressed() then print("clicked", Mouse.button_name(Mouse.any_pressed())) end
  if Keyboard.pressed("v") then print("pasted", Window.clipboard()) end
  local files = Window.dropped_files()
  if #files > 0 then print("dropped", #files, Window.read_dropped_file(files[1])) end
end
"#;

fn play(display: &Display, name: &str) -> GameProcess {
    let folder = scratch(name);
    let mut game = GameProcess::start(display, &folder, GAME, &["--renderer", "null"]);
    game.focus(display);
    game.folder = Some(folder);
    game
}

#[track_caller]
fn end(mut game: GameProcess) -> String {
    game.interrupt();
    assert_eq!(game.wait_for_exit(), Some(0), "{}", game.output.join("\n"));
    game.output.join("\n")
}

#[test]
fn alt_and_ctrl_combinations_type_no_text() {
    let Some(display) = Display::start() else { return };
    let mut game = play(&display, "commands");
    display.tool(&["key", "--delay", "50", "alt+f", "ctrl+a", "g"]);
    game.wait_for_line("typed\tg");
    let output = end(game);
    assert!(!output.contains("typed\tf") && !output.contains("typed\ta"), "{output}");
}

#[test]
fn all_mouse_buttons_are_received() {
    let Some(display) = Display::start() else { return };
    let mut game = play(&display, "buttons");
    display.tool(&["mousemove", "--window", &game.window, "50", "50"]);
    let names = [("1", "left"), ("2", "middle"), ("3", "right"), ("8", "extra 1")];
    for (button, name) in names.into_iter().chain([("10", "extra 3")]) {
        display.tool(&["click", button]);
        assert_eq!(game.wait_for_line("clicked"), format!("clicked\t{name}"));
    }
    end(game);
}

#[test]
fn captured_cursor_is_released_without_focus() {
    let Some(display) = Display::start() else { return };
    let mut game = play(&display, "held");
    let moved = || {
        display.tool(&["mousemove", "1200", "700"]);
        display.tool(&["getmouselocation"]).starts_with("x:1200 y:700 ")
    };
    // The cursor is captured and released when the frame that requested it is shown.
    let becomes = |is_free: bool| {
        let began = std::time::Instant::now();
        while moved() != is_free {
            assert!(began.elapsed().as_secs() < 60, "it never becomes free: {is_free}");
        }
    };
    display.tool(&["key", "l"]);
    game.wait_for_line("locked");
    becomes(false);
    let roots = display.tool(&["search", "--maxdepth", "0", ".*"]);
    display.tool(&["windowfocus", roots.lines().next().expect("there is the root")]);
    game.wait_for_line("active\tfalse");
    becomes(true);
    display.tool(&["windowfocus", &game.window]);
    game.wait_for_line("active\ttrue");
    becomes(false);
    end(game);
}

#[test]
fn unresponsive_clipboard_owner_does_not_block_the_game() {
    let Some(display) = Display::start() else { return };
    let mut game = play(&display, "mute");
    let other = X11Client::on(&display);
    other.take_clipboard();
    let mute = "pasted\tnil\tthe clipboard cannot be used: the program that owns its content does \
                not answer";
    display.tool(&["key", "v"]);
    assert_eq!(game.wait_for_line("pasted"), mute);
    display.tool(&["key", "v"]);
    assert_eq!(game.wait_for_line("pasted"), mute);
    end(game);
}

#[test]
fn hundreds_of_files_can_be_dropped_at_once() {
    let Some(display) = Display::start() else { return };
    let mut game = play(&display, "many");
    let folder = scratch("many files");
    let shown: String = folder.to_str().expect("it is UTF-8").bytes().map(encode).collect();
    let mut list = format!("file://{shown}\r\n");
    for at in 0..600 {
        std::fs::write(folder.join(format!("{at}.txt")), "x").expect("it can be written");
        list += &format!("file://{shown}/{at}.txt\r\n");
    }
    let window = game.window.parse().expect("a window has a number");
    X11Client::on(&display).drop_on(window, &list);
    let folder = folder.display();
    let expected = format!("dropped\t601\tnil\t'{folder}' is a folder: only files are read");
    assert_eq!(game.wait_for_line("dropped"), expected);
    end(game);
}
