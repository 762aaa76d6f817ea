//! Tests of a window that a tool provides, on a virtual display (Xvfb): the game is drawn in it,
//! takes its size, and plays on when it is closed.

use super::browser::{has_adapter, skip};
use super::{GameProcess, WAIT_MAX, ask, ask_refused, check_running, eval, number};
use engine::foundation::sjson::SjsonTree;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    ConfigureWindowAux, ConnectionExt, CreateWindowAux, ImageFormat, WindowClass,
};
use x11rb::rust_connection::RustConnection;

/// The display, and a tool's window on it.
struct Display {
    server: Child,
    name: String,
    tool: RustConnection,
    window: u32,
}

impl Display {
    /// Starts a display. Returns `None` if Xvfb is not installed.
    fn start() -> Option<Display> {
        let server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut server) = server else {
            skip("there is no Xvfb, so no window was lent", "xvfb");
            return None;
        };
        let mut line = String::new();
        let stdout = server.stdout.as_mut().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("it tells its number");
        let name = format!(":{}", line.trim());
        let (tool, screen) = RustConnection::connect(Some(&name)).expect("it lets us in");
        let root = tool.setup().roots[screen].root;
        let window = tool.generate_id().expect("there are numbers left");
        let (class, look) = (WindowClass::INPUT_OUTPUT, CreateWindowAux::new());
        tool.create_window(0, window, root, 0, 0, 200, 120, 0, class, 0, &look)
            .expect("it can be asked")
            .check()
            .expect("it is made");
        tool.map_window(window).expect("it can be asked").check().expect("it is shown");
        Some(Display { server, name, tool, window })
    }

    /// Returns a texel of the window: red, green, blue.
    fn texel(&self, x: i16, y: i16) -> [u8; 3] {
        let format = ImageFormat::Z_PIXMAP;
        let asked = self.tool.get_image(format, self.window, x, y, 1, 1, u32::MAX);
        let image = asked.expect("it can be asked").reply().expect("there is a window");
        [image.data[2], image.data[1], image.data[0]]
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // No data of the server is needed any more.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

const GAME: &str = "color = Color(255, 120, 0)\n\
    function render()\n  \
    Gui.rect(Application.main_gui(), Vector3(0, 0, 0), Vector2(4000, 4000), color)\n  \
    Application.render_world(Application.main_world())\nend\n";

/// Waits until a condition holds.
fn wait_until(condition: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + WAIT_MAX;
    while !holds() {
        assert!(Instant::now() < end, "{condition}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn game_draws_into_a_tools_window() {
    let Some(display) = Display::start() else { return };
    if !has_adapter() {
        return skip("there is no graphics adapter", "mesa-vulkan-drivers");
    }
    let environment = [("DISPLAY", display.name.as_str())];
    let arguments = ["--renderer", "software"];
    let create_game =
        GameProcess::start_in("lent", &[("main.lua", GAME)], &arguments, &environment);
    let mut client = create_game.connect();
    let number_of = |window: u32| vec![("window", SjsonTree::Number(f64::from(window)))];
    let message = ask_refused(&mut client, "attach_window", number_of(3));
    assert_eq!(message, "there is no window 3 on this display");
    assert_eq!(ask_refused(&mut client, "detach_window", vec![]), "no tool has provided a window");
    let size = ask(&mut client, "attach_window", number_of(display.window));
    assert_eq!((number(&size, "width"), number(&size, "height")), (200.0, 120.0));
    wait_until("nothing is seen", || display.texel(100, 60) == [255, 120, 0]);
    wait_until("the size is not taken", || eval(&mut client, "Window.resolution()") == "200, 120");
    let wider = ConfigureWindowAux::new().width(300).height(150);
    display.tool.configure_window(display.window, &wider).expect("it can be asked");
    display.tool.flush().expect("it is sent");
    wait_until("the size is not taken", || eval(&mut client, "Window.resolution()") == "300, 150");
    wait_until("not all of it is drawn", || display.texel(290, 140) == [255, 120, 0]);
    // The effects of tools on a paused game are visible, too.
    ask(&mut client, "pause", vec![]);
    eval(&mut client, "color = Color(0, 0, 255)");
    wait_until("it is not drawn again", || display.texel(100, 60) == [0, 0, 255]);
    ask(&mut client, "resume", vec![]);
    // Taken back, and lent again.
    ask(&mut client, "detach_window", vec![]);
    eval(&mut client, "color = Color(0, 255, 0)");
    check_running(&mut client);
    assert_eq!(display.texel(100, 60), [0, 0, 255]);
    ask(&mut client, "attach_window", number_of(display.window));
    wait_until("nothing is seen", || display.texel(100, 60) == [0, 255, 0]);
    // Closed while it is drawn to.
    display.tool.destroy_window(display.window).expect("it can be asked");
    display.tool.flush().expect("it is sent");
    check_running(&mut client);
    wait_until("it is not left", || {
        ask_refused(&mut client, "detach_window", vec![]) == "no tool has provided a window"
    });
    check_running(&mut client);
    ask(&mut client, "screenshot", vec![]);
}

#[test]
fn attaching_a_window_needs_renderer_and_display() {
    let create_game = GameProcess::start("undrawn", GAME);
    let window = || vec![("window", SjsonTree::Number(7.0))];
    let message = ask_refused(&mut create_game.connect(), "attach_window", window());
    assert_eq!(
        message,
        "nothing is drawn in this run: run the game with --headless --realtime --tools --renderer \
         auto"
    );
    drop(create_game);
    let files = [("main.lua", GAME)];
    let create_game =
        GameProcess::start_in("undisplayed", &files, &["--renderer", "null"], &[("DISPLAY", "")]);
    let message = ask_refused(&mut create_game.connect(), "attach_window", window());
    assert!(
        message.starts_with("a tool's window is found by X11, and there is no display ("),
        "{message}"
    );
}
