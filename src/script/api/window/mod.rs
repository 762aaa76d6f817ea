//! The Lua module `Window`: the game's windows and their state on the desktop. Sizes and positions
//! are logical pixels unless stated otherwise; those inside the picture are its units. Opening and
//! closing is in window/open.rs, functions for devices are in window/cursor_and_clipboard.rs, and
//! the design resolution is in window/design.rs.

pub(super) mod cursor_and_clipboard;
pub(super) mod design;
pub(super) mod open;

use crate::api::window::cursor_and_clipboard as devices;
use crate::api::window::open as windows;
use crate::api_row::{ModuleRows, func, hot, module};
use crate::argument::{Integer, TextArgument};
use crate::return_value::{ManyResults, WholeNumber};
use crate::value::ScriptValue;
use engine_foundation::{Error, suggest};
use engine_runtime::Engine;
use engine_window::{
    Fullscreen, SIDE_MAX, SIDE_MIN, Vsync, Window, WindowCommand, WindowId, title_error,
};

/// The last argument of most rows.
pub const WINDOW_ARG: (&str, &str) =
    ("window", "a window from `open`; the main window if left out");

pub static WINDOW: ModuleRows = module(
    "Window",
    "The game's windows: the main window, which always exists, and up to 8 others. Without a \
     display, no windows are shown, and all functions still work: settings take effect, and the \
     size is the one in the settings.",
    r#"Window.set_title("Yard")
local width, height = Window.resolution()
assert(width > 0 and height > 0)
local map = Window.open { title = "Map", width = 400, height = 300 }
assert(Window.title(map) == "Map")
Window.close(map)"#,
    &[
        func(
            "open",
            windows::open,
            &[(
                "options",
                "`title` (by default that of the main window); `width` and `height` in logical \
                 pixels (640 and 480); `x` and `y`, the upper left corner in pixels of the desktop \
                 (by default chosen by the desktop); `visible` and `resizable` (true); \
                 `fullscreen` (\"off\")",
            )],
            "Opens another window, in which `Application.render_world` can show worlds. Returns \
             its handle, which is valid at once. The desktop opens the window after this frame.",
        ),
        hot(
            "alive",
            windows::alive,
            &[("window", "a number that may be a window's handle; nil and false are none")],
            "Returns true if the handle refers to an existing window, that is, `close` was not \
             called for it. Never raises for a stale handle.",
        )
        .pure(),
        func(
            "is_open",
            is_open,
            &[WINDOW_ARG],
            "Returns true if a display shows the window. This is false in the frame that opens it, \
             and after the player has closed it.",
        )
        .pure(),
        func(
            "resolution",
            resolution,
            &[WINDOW_ARG],
            "Returns the width and height of its picture in the units of Guis and of the cursor: \
             logical pixels, or those of the design resolution.",
        )
        .returns(&["width in its units", "height in its units"])
        .pure(),
        func(
            "pixel_size",
            pixel_size,
            &[WINDOW_ARG],
            "Returns its width and height in pixels of the screen.",
        )
        .returns(&["width in pixels", "height in pixels"])
        .pure(),
        func(
            "get_dpi_scale",
            get_dpi_scale,
            &[WINDOW_ARG],
            "Returns the number of screen pixels for each logical pixel: 1, or more on a \
             high-density display.",
        )
        .pure(),
        func(
            "rect",
            rect,
            &[WINDOW_ARG],
            "Returns the left and top of the window in pixels of the desktop, then its width and \
             height in logical pixels.",
        )
        .pure(),
        func(
            "set_rect",
            set_rect,
            &[
                ("left", "in pixels of the desktop"),
                ("top", "in pixels of the desktop"),
                ("width", "in logical pixels"),
                ("height", "in logical pixels"),
                WINDOW_ARG,
            ],
            "Sets the position and size of the window, if the desktop allows it.",
        ),
        func(
            "set_resolution",
            set_resolution,
            &[("width", "in logical pixels"), ("height", "in logical pixels"), WINDOW_ARG],
            "Requests a size; the desktop may choose another one. `resolution` returns the size \
             once it has changed.",
        ),
        func("title", title, &[WINDOW_ARG], "Returns the text in its title bar.").pure(),
        func(
            "set_title",
            set_title,
            &[("title", "the text in its title bar"), WINDOW_ARG],
            "Sets the text in its title bar.",
        ),
        func(
            "fullscreen",
            fullscreen,
            &[WINDOW_ARG],
            "Returns the fullscreen mode: \"off\", \"borderless\" or \"exclusive\".",
        )
        .pure(),
        func(
            "set_fullscreen",
            set_fullscreen,
            &[("mode", "\"off\", \"borderless\" or \"exclusive\""), WINDOW_ARG],
            "Sets the fullscreen mode: \"borderless\" fills the monitor, \"exclusive\" takes it \
             over in its finest mode, on systems that support this.",
        ),
        func(
            "vsync",
            vsync,
            &[],
            "Returns the vsync mode: \"on\", \"off\", \"adaptive\" or \"mailbox\".",
        )
        .pure(),
        func(
            "set_vsync",
            set_vsync,
            &[("mode", "\"on\", \"off\", \"adaptive\" or \"mailbox\"")],
            "Sets when a picture is shown. \"on\": at the monitor's pace; \"off\": at once, which \
             can cause tearing; \"adaptive\": like \"on\", but at once if a picture is late; \
             \"mailbox\": the newest picture, at the monitor's pace. If the driver lacks a mode, \
             the closest one is used.",
        ),
        func(
            "is_resizable",
            is_resizable,
            &[WINDOW_ARG],
            "Returns true if the player can resize the window.",
        )
        .pure(),
        func(
            "set_resizable",
            set_resizable,
            &[("resizable", "true if the player can resize the window"), WINDOW_ARG],
            "Sets whether the player can resize the window.",
        ),
        func("minimize", minimize, &[WINDOW_ARG], "Minimizes it to an icon."),
        func("maximize", maximize, &[WINDOW_ARG], "Maximizes it, as far as the desktop allows."),
        func("restore", restore, &[WINDOW_ARG], "Restores it if it is minimized or maximized."),
        func("is_minimized", is_minimized, &[WINDOW_ARG], "Returns true if it is minimized.")
            .pure(),
        func("is_maximized", is_maximized, &[WINDOW_ARG], "Returns true if it is maximized.")
            .pure(),
        func("has_focus", has_focus, &[WINDOW_ARG], "Returns true if it receives key presses.")
            .pure(),
        func("set_focus", set_focus, &[WINDOW_ARG], "Asks the desktop for the focus."),
        func(
            "is_visible",
            is_visible,
            &[WINDOW_ARG],
            "Returns true if the game has not hidden it.",
        )
        .pure(),
        func(
            "set_visible",
            set_visible,
            &[("visible", "true to show it"), WINDOW_ARG],
            "Shows or hides the window.",
        ),
        func("mouse_focus", mouse_focus, &[WINDOW_ARG], "Returns true if the mouse is over it.")
            .pure(),
        func(
            "is_closing",
            is_closing,
            &[WINDOW_ARG],
            "Returns true if the player has requested to close the window in this frame. \
             `on_close` decides; it receives the window unless it is the main one.",
        )
        .pure(),
        func(
            "close",
            windows::close,
            &[WINDOW_ARG],
            "Closes the window. Its handle is stale afterwards. Closing the main window ends the \
             game, as if the player had closed it.",
        )
        .when_full(),
        func(
            "show_cursor",
            devices::show_cursor,
            &[WINDOW_ARG],
            "Returns true if the cursor is visible over the window.",
        )
        .pure(),
        func(
            "set_show_cursor",
            devices::set_show_cursor,
            &[("show", "true to show it"), WINDOW_ARG],
            "Shows or hides the cursor over the window.",
        ),
        func(
            "clip_cursor",
            devices::clip_cursor,
            &[WINDOW_ARG],
            "Returns true if the cursor is confined to the window.",
        )
        .pure(),
        func(
            "set_clip_cursor",
            devices::set_clip_cursor,
            &[("clip", "true to confine it"), WINDOW_ARG],
            "Calls set_cursor_mode(\"clip\") if true, or set_cursor_mode(\"free\") if false.",
        ),
        func(
            "cursor_mode",
            devices::cursor_mode,
            &[WINDOW_ARG],
            "Returns the cursor mode: \"free\", \"clip\" or \"lock\".",
        )
        .pure(),
        func(
            "set_cursor_mode",
            devices::set_cursor_mode,
            &[("mode", "\"free\", \"clip\" or \"lock\""), WINDOW_ARG],
            "Sets where the cursor can go. \"free\": anywhere; \"clip\": only inside the window; \
             \"lock\": nowhere, and it is hidden. While it is locked, only Mouse.axis(\"mouse\") \
             returns how the mouse moves.",
        ),
        func(
            "set_cursor_position",
            devices::set_cursor_position,
            &[
                ("x", "logical pixels from the left edge"),
                ("y", "logical pixels from the lower edge"),
                WINDOW_ARG,
            ],
            "Moves the cursor to a position in the window.",
        ),
        func(
            "cursor",
            devices::cursor,
            &[WINDOW_ARG],
            "Returns the last position of the mouse over the window, in its logical pixels from \
             the lower left corner. For the main window, this is Mouse.axis(\"cursor\"), which \
             does not change while the mouse is over another window.",
        )
        .pure(),
        func(
            "set_cursor",
            devices::set_cursor,
            &[("shape", "\"arrow\", \"hand\", \"crosshair\", \"text\", \"wait\" …"), WINDOW_ARG],
            "Sets the cursor over the window to one of the desktop's cursors.",
        ),
        func(
            "set_cursor_picture",
            devices::set_cursor_picture,
            &[
                ("texture", "the name of a texture, at most 256 pixels a side"),
                ("x", "the tip of the cursor, in pixels from the left; 0 if left out"),
                ("y", "the tip of the cursor, in pixels from the top; 0 if left out"),
                WINDOW_ARG,
            ],
            "Sets the cursor over the window to a picture, shown in pixels of the screen.",
        ),
        func(
            "set_icon",
            devices::set_icon,
            &[("texture", "the name of a texture, at most 256 pixels a side"), WINDOW_ARG],
            "Sets the window's icon, if the desktop supports icons.",
        ),
        func(
            "clipboard",
            devices::clipboard,
            &[],
            "Returns the text in the clipboard, \"\" if there is none. Returns nil and the reason \
             if it cannot be read, or if the program that owns it does not answer within half a \
             second.",
        )
        .returns(&["text or nil", "reason why there is none"])
        .pure(),
        func(
            "set_clipboard",
            devices::set_clipboard,
            &[("text", "the text, at most 16 MiB")],
            "Puts a text into the clipboard.",
        )
        .returns(&["ok true, or nil on failure", "reason why it failed"]),
        func(
            "set_ime_enabled",
            devices::set_ime_enabled,
            &[("enabled", "true while the player writes into a text field"), WINDOW_ARG],
            "Sets whether the desktop's input method composes text (Keyboard.composition), as \
             Chinese, Japanese and Korean need.",
        ),
        func(
            "set_ime_area",
            devices::set_ime_area,
            &[
                ("left", "left edge of the text that is being written, in logical pixels"),
                ("bottom", "lower edge, in logical pixels"),
                ("width", "in logical pixels"),
                ("height", "in logical pixels"),
                WINDOW_ARG,
            ],
            "Sets the area of the text that is being written. The input method shows its \
             candidates next to it.",
        ),
        func(
            "set_keystroke_enabled",
            devices::set_keystroke_enabled,
            &[("enabled", "true if Keyboard.keystrokes returns what is typed; true at the start")],
            "Sets whether typed text is collected.",
        ),
        func(
            "dropped_files",
            devices::dropped_files,
            &[WINDOW_ARG],
            "Returns the paths of the files that the player dropped on the window in this frame.",
        )
        .pure(),
        func(
            "read_dropped_file",
            devices::read_dropped_file,
            &[("path", "a path from `dropped_files`")],
            "Returns the bytes of a file that the player dropped on the window, or nil and the \
             reason. It must be a regular file of at most 256 MiB.",
        )
        .returns(&["bytes of the file, or nil", "reason why there are none"])
        .pure(),
        func(
            "latency",
            latency,
            &[],
            "Returns the time from input to the picture that shows its effect, as far as the \
             engine can measure it: in frames, then in seconds. Both are averages over recent \
             pictures; 0 before the first one.",
        )
        .returns(&["frames average", "seconds average"])
        .pure(),
        func(
            "monitors",
            monitors,
            &[],
            "Returns the monitors: a list of tables with `name`, `x`, `y`, `width`, `height` (in \
             pixels of the desktop), `scale` and `refresh` (pictures a second, 0 if unknown).",
        )
        .pure(),
    ],
);

/// Converts one of a set of words; the error message lists them.
pub fn choice<T>(
    word: &str,
    argument: &str,
    known: &[&str],
    of: impl Fn(&str) -> Option<T>,
) -> Result<T, Error> {
    of(word).ok_or_else(|| {
        let hint = suggest::hint(word, known.iter().copied());
        engine_foundation::error!(
            "{argument}: there is no '{word}'{hint} (there are {})",
            known.join(", ")
        )
    })
}

/// Returns the window that a call names, or the main window.
pub fn of(engine: &mut Engine, window: Option<WindowId>) -> &mut Window {
    match window {
        Some(window) => engine.devices.windows.of(window),
        None => &mut engine.devices.window,
    }
}

fn is_open(engine: &mut Engine, window: Option<WindowId>) -> bool {
    of(engine, window).is_open
}

fn resolution(engine: &mut Engine, window: Option<WindowId>) -> (f64, f64) {
    let size = of(engine, window).picture_size();
    (f64::from(size.x), f64::from(size.y))
}

fn pixel_size(engine: &mut Engine, window: Option<WindowId>) -> (WholeNumber, WholeNumber) {
    let (width, height) = of(engine, window).pixels;
    (WholeNumber(width.into()), WholeNumber(height.into()))
}

fn get_dpi_scale(engine: &mut Engine, window: Option<WindowId>) -> f64 {
    of(engine, window).scale
}

fn rect(engine: &mut Engine, window: Option<WindowId>) -> ManyResults {
    let window = of(engine, window);
    let (position, size) = (window.position, window.logical());
    let all = [f64::from(position.0), f64::from(position.1), size.x.into(), size.y.into()];
    ManyResults(all.map(ScriptValue::Number).to_vec())
}

/// Maximum window coordinate in pixels. No desktop is that large.
pub const POSITION_MAX: i64 = 1 << 20;

pub fn side(number: Integer, index: usize, name: &str) -> Result<u32, Error> {
    let found = u32::try_from(number.0).ok().filter(|side| (SIDE_MIN..=SIDE_MAX).contains(side));
    found.ok_or_else(|| {
        let got = number.0;
        engine_foundation::error!(
            "argument #{index} '{name}' must be {SIDE_MIN} to {SIDE_MAX}, got {got}"
        )
    })
}

fn set_rect(
    engine: &mut Engine,
    left: Integer,
    top: Integer,
    width: Integer,
    height: Integer,
    window: Option<WindowId>,
) -> Result<(), Error> {
    let to_coordinate = |number: Integer, index: usize, name: &str| {
        let found =
            Some(number.0).filter(|coordinate| (-POSITION_MAX..=POSITION_MAX).contains(coordinate));
        found.map(|coordinate| coordinate as i32).ok_or_else(|| {
            engine_foundation::error!(
                "argument #{index} '{name}' is outside of any desktop: {}",
                number.0
            )
        })
    };
    let (left, top) = (to_coordinate(left, 1, "left")?, to_coordinate(top, 2, "top")?);
    let (width, height) = (side(width, 3, "width")?, side(height, 4, "height")?);
    let window = of(engine, window);
    window.push_command(WindowCommand::Position(left, top));
    window.push_command(WindowCommand::Size(width, height));
    Ok(())
}

fn set_resolution(
    engine: &mut Engine,
    width: Integer,
    height: Integer,
    window: Option<WindowId>,
) -> Result<(), Error> {
    let (width, height) = (side(width, 1, "width")?, side(height, 2, "height")?);
    of(engine, window).push_command(WindowCommand::Size(width, height));
    Ok(())
}

fn title(engine: &mut Engine, window: Option<WindowId>) -> String {
    of(engine, window).title.clone()
}

pub fn check_title(argument: &str, title: &str) -> Result<(), Error> {
    title_error(title)
        .map_or(Ok(()), |problem| Err(engine_foundation::error!("{argument} {problem}")))
}

fn set_title(
    engine: &mut Engine,
    title: TextArgument,
    window: Option<WindowId>,
) -> Result<(), Error> {
    check_title("argument #1 'title'", title.as_str())?;
    of(engine, window).push_command(WindowCommand::Title(title.as_str().to_string()));
    Ok(())
}

fn fullscreen(engine: &mut Engine, window: Option<WindowId>) -> String {
    of(engine, window).fullscreen.name().to_string()
}

fn set_fullscreen(
    engine: &mut Engine,
    mode: TextArgument,
    window: Option<WindowId>,
) -> Result<(), Error> {
    let mode = choice(mode.as_str(), "argument #1 'mode'", Fullscreen::NAMES, Fullscreen::of)?;
    of(engine, window).push_command(WindowCommand::Fullscreen(mode));
    Ok(())
}

fn vsync(engine: &mut Engine) -> String {
    engine.devices.window.vsync.name().to_string()
}

fn set_vsync(engine: &mut Engine, mode: TextArgument) -> Result<(), Error> {
    engine.devices.window.vsync =
        choice(mode.as_str(), "argument #1 'mode'", Vsync::NAMES, Vsync::of)?;
    Ok(())
}

fn is_resizable(engine: &mut Engine, window: Option<WindowId>) -> bool {
    of(engine, window).resizable
}

fn set_resizable(engine: &mut Engine, resizable: bool, window: Option<WindowId>) {
    of(engine, window).push_command(WindowCommand::Resizable(resizable));
}

fn minimize(engine: &mut Engine, window: Option<WindowId>) {
    of(engine, window).push_command(WindowCommand::Minimize);
}

fn maximize(engine: &mut Engine, window: Option<WindowId>) {
    of(engine, window).push_command(WindowCommand::Maximize);
}

fn restore(engine: &mut Engine, window: Option<WindowId>) {
    of(engine, window).push_command(WindowCommand::Restore);
}

fn is_minimized(engine: &mut Engine, window: Option<WindowId>) -> bool {
    of(engine, window).minimized
}

fn is_maximized(engine: &mut Engine, window: Option<WindowId>) -> bool {
    of(engine, window).maximized
}

fn has_focus(engine: &mut Engine, window: Option<WindowId>) -> bool {
    of(engine, window).focused
}

fn set_focus(engine: &mut Engine, window: Option<WindowId>) {
    if of(engine, window).shut {
        return;
    }
    if !engine.devices.window.is_listening() {
        // Without a desktop nothing takes the focus from the other windows, so they lose it here.
        engine.devices.window.focused = false;
        engine.devices.windows.lose_focus();
    }
    of(engine, window).push_command(WindowCommand::Focus);
}

fn is_visible(engine: &mut Engine, window: Option<WindowId>) -> bool {
    of(engine, window).visible
}

fn set_visible(engine: &mut Engine, visible: bool, window: Option<WindowId>) {
    of(engine, window).push_command(WindowCommand::Visible(visible));
}

fn mouse_focus(engine: &mut Engine, window: Option<WindowId>) -> bool {
    of(engine, window).mouse_inside
}

fn is_closing(engine: &mut Engine, window: Option<WindowId>) -> bool {
    of(engine, window).closing
}

fn latency(engine: &mut Engine) -> (f64, f64) {
    let (frames, seconds) = engine.devices.window.latency;
    (f64::from(frames), f64::from(seconds))
}

fn monitors(engine: &mut Engine) -> ScriptValue {
    let entry = |key: &str, number: f64| (key.to_string(), ScriptValue::Number(number));
    let monitors = engine.devices.window.monitors.iter().map(|monitor| {
        ScriptValue::Table(vec![
            entry("height", monitor.pixels.1.into()),
            ("name".to_string(), ScriptValue::Text(monitor.name.clone())),
            entry("refresh", monitor.refresh),
            entry("scale", monitor.scale),
            entry("width", monitor.pixels.0.into()),
            entry("x", monitor.position.0.into()),
            entry("y", monitor.position.1.into()),
        ])
    });
    ScriptValue::List(monitors.collect())
}
