//! Tests of a window that a tool lends, on a virtual display (Xvfb): the game is drawn in it, takes
//! its size, and plays on when it is closed.

use super::browser::{has_adapter, skip};
use super::{PATIENCE, Playing, ask, eval, number, plays, refused};
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
fn wait_until(condition: &str, mut so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !so() {
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
    let game = Playing::start_in("lent", &[("main.lua", GAME)], &arguments, &environment);
    let mut caller = game.connect();
    let number_of = |window: u32| vec![("window", SjsonTree::Number(f64::from(window)))];
    let message = refused(&mut caller, "attach_window", number_of(3));
    assert_eq!(message, "there is no window 3 on this display");
    assert_eq!(refused(&mut caller, "detach_window", vec![]), "no tool has lent its window");
    let size = ask(&mut caller, "attach_window", number_of(display.window));
    assert_eq!((number(&size, "width"), number(&size, "height")), (200.0, 120.0));
    wait_until("nothing is seen", || display.texel(100, 60) == [255, 120, 0]);
    wait_until("the size is not taken", || eval(&mut caller, "Window.resolution()") == "200, 120");
    let wider = ConfigureWindowAux::new().width(300).height(150);
    display.tool.configure_window(display.window, &wider).expect("it can be asked");
    display.tool.flush().expect("it is sent");
    wait_until("the size is not taken", || eval(&mut caller, "Window.resolution()") == "300, 150");
    wait_until("not all of it is drawn", || display.texel(290, 140) == [255, 120, 0]);
    // The effects of tools on a paused game are visible, too.
    ask(&mut caller, "pause", vec![]);
    eval(&mut caller, "color = Color(0, 0, 255)");
    wait_until("it is not drawn again", || display.texel(100, 60) == [0, 0, 255]);
    ask(&mut caller, "resume", vec![]);
    // Taken back, and lent again.
    ask(&mut caller, "detach_window", vec![]);
    eval(&mut caller, "color = Color(0, 255, 0)");
    plays(&mut caller);
    assert_eq!(display.texel(100, 60), [0, 0, 255]);
    ask(&mut caller, "attach_window", number_of(display.window));
    wait_until("nothing is seen", || display.texel(100, 60) == [0, 255, 0]);
    // Closed while it is drawn to.
    display.tool.destroy_window(display.window).expect("it can be asked");
    display.tool.flush().expect("it is sent");
    plays(&mut caller);
    wait_until("it is not left", || {
        refused(&mut caller, "detach_window", vec![]) == "no tool has lent its window"
    });
    plays(&mut caller);
    ask(&mut caller, "screenshot", vec![]);
}

#[test]
fn attaching_a_window_needs_renderer_and_display() {
    let game = Playing::start("undrawn", GAME);
    let window = || vec![("window", SjsonTree::Number(7.0))];
    let message = refused(&mut game.connect(), "attach_window", window());
    assert_eq!(
        message,
        "nothing is drawn in this run: run the game with --headless --realtime --tools --renderer \
         auto"
    );
    drop(game);
    let files = [("main.lua", GAME)];
    let game =
        Playing::start_in("undisplayed", &files, &["--renderer", "null"], &[("DISPLAY", "")]);
    let message = refused(&mut game.connect(), "attach_window", window());
    assert!(
        message.starts_with("a tool's window is found by X11, and there is no display ("),
        "{message}"
    );
}
