//! `Window`: the game's windows, and as what they stand on the desktop. Sizes and places are
//! logical pixels where nothing else is said. Opening and closing is in window_open.rs, and what
//! has to do with devices in window_devices.rs.

use super::{window_devices as devices, window_open as windows};
use crate::engine::Engine;
use crate::foundation::{Error, suggest};
use crate::script::arg::{Integer, Text};
use crate::script::ret::Many;
use crate::script::row::{Module, func, hot, module};
use crate::script::value::Value;
use crate::system::window::{
    Fullscreen, SIDE_MAX, SIDE_MIN, Vsync, Window, WindowId, Wish, title_fault,
};

/// The last argument of most rows.
pub const WINDOW_ARG: (&str, &str) = ("window", "one that `open` gave; the main one if left out");

pub static WINDOW: Module = module(
    "Window",
    "The game's windows: its main one, which is there without being opened, and up to 8 beside it. \
     Without a display there are none, and everything here still answers: what is set is so, and \
     the size is that of the settings.",
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
                "`title` (the main window's if left out); `width` and `height` in logical pixels \
                 (640 and 480); `x` and `y`, its upper left corner in pixels of the desktop (where \
                 that puts it); `visible` and `resizable` (true); `fullscreen` (\"off\")",
            )],
            "Opens a window beside the main one, which `Application.render_world` shows worlds in: \
             its handle, which is there at once. The desktop opens it after this frame.",
        ),
        hot(
            "alive",
            windows::alive,
            &[("window", "a number that may be a window's handle")],
            "Whether the handle leads to a window that is there, as long as `close` was not called \
             for it. Never raises for a stale handle.",
        )
        .pure(),
        func(
            "is_open",
            is_open,
            &[WINDOW_ARG],
            "Whether a display shows the window: not yet in the frame that opens it, and no more \
             once the player has closed it.",
        )
        .pure(),
        func(
            "resolution",
            resolution,
            &[WINDOW_ARG],
            "Width and height in logical pixels: the units of Guis and of the cursor.",
        )
        .pure(),
        func("pixel_size", pixel_size, &[WINDOW_ARG], "Width and height in pixels of the screen.")
            .pure(),
        func(
            "get_dpi_scale",
            get_dpi_scale,
            &[WINDOW_ARG],
            "Pixels of the screen for each logical pixel: 1, or more where the display is fine.",
        )
        .pure(),
        func(
            "rect",
            rect,
            &[WINDOW_ARG],
            "Left and top of the window in pixels of the desktop, then its width and height in \
             logical pixels.",
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
            "Places the window, where the desktop lets it.",
        ),
        func(
            "set_resolution",
            set_resolution,
            &[("width", "in logical pixels"), ("height", "in logical pixels"), WINDOW_ARG],
            "Wishes a size; the desktop may give another. `resolution` tells when it has.",
        ),
        func("title", title, &[WINDOW_ARG], "The words in its bar.").pure(),
        func(
            "set_title",
            set_title,
            &[("title", "the words in its bar"), WINDOW_ARG],
            "Sets them.",
        ),
        func(
            "fullscreen",
            fullscreen,
            &[WINDOW_ARG],
            "How it stands on the screen: \"off\", \"borderless\" or \"exclusive\".",
        )
        .pure(),
        func(
            "set_fullscreen",
            set_fullscreen,
            &[("mode", "\"off\", \"borderless\" or \"exclusive\""), WINDOW_ARG],
            "Sets how it stands on the screen: \"borderless\" fills the monitor, \"exclusive\" \
             takes it with its finest mode, where the system has such a thing.",
        ),
        func(
            "vsync",
            vsync,
            &[],
            "When a picture is shown: \"on\", \"off\", \"adaptive\" or \"mailbox\".",
        )
        .pure(),
        func(
            "set_vsync",
            set_vsync,
            &[("mode", "\"on\", \"off\", \"adaptive\" or \"mailbox\"")],
            "Sets when a picture is shown: \"on\" at the monitor's pace; \"off\" at once, torn \
             where it comes in between; \"adaptive\" as on, but at once when it is late; \
             \"mailbox\" the newest at the monitor's pace. What the driver lacks is the next best.",
        ),
        func(
            "is_resizable",
            is_resizable,
            &[WINDOW_ARG],
            "Whether the player can change its size.",
        )
        .pure(),
        func(
            "set_resizable",
            set_resizable,
            &[("resizable", "whether the player can change its size"), WINDOW_ARG],
            "Sets that.",
        ),
        func("minimize", minimize, &[WINDOW_ARG], "Makes it an icon."),
        func("maximize", maximize, &[WINDOW_ARG], "Makes it as large as the desktop lets it be."),
        func("restore", restore, &[WINDOW_ARG], "Neither minimized nor maximized any more."),
        func("is_minimized", is_minimized, &[WINDOW_ARG], "Whether it is an icon.").pure(),
        func("is_maximized", is_maximized, &[WINDOW_ARG], "Whether it was maximized.").pure(),
        func("has_focus", has_focus, &[WINDOW_ARG], "Whether keys go to it.").pure(),
        func("set_focus", set_focus, &[WINDOW_ARG], "Asks the desktop for the focus."),
        func("is_visible", is_visible, &[WINDOW_ARG], "Whether the game wants it to be seen.")
            .pure(),
        func(
            "set_visible",
            set_visible,
            &[("visible", "whether it is to be seen"), WINDOW_ARG],
            "Shows or hides it.",
        ),
        func("mouse_focus", mouse_focus, &[WINDOW_ARG], "Whether the mouse is over it.").pure(),
        func(
            "is_closing",
            is_closing,
            &[WINDOW_ARG],
            "Whether the player has asked in this frame to close it. `on_close` decides, which is \
             given a window beside the main one.",
        )
        .pure(),
        func(
            "close",
            windows::close,
            &[WINDOW_ARG],
            "Ends a window beside the main one: its handle is stale from then on. Of the main \
             window: ends the game as the player does who closes it.",
        )
        .when_full(),
        func(
            "show_cursor",
            devices::show_cursor,
            &[WINDOW_ARG],
            "Whether the cursor is seen over the window.",
        )
        .pure(),
        func(
            "set_show_cursor",
            devices::set_show_cursor,
            &[("show", "whether it is seen"), WINDOW_ARG],
            "Shows or hides the cursor over the window.",
        ),
        func(
            "clip_cursor",
            devices::clip_cursor,
            &[WINDOW_ARG],
            "Whether the cursor is kept in the window.",
        )
        .pure(),
        func(
            "set_clip_cursor",
            devices::set_clip_cursor,
            &[("clip", "whether it is kept in"), WINDOW_ARG],
            "The same as set_cursor_mode(\"clip\"), or \"free\".",
        ),
        func("cursor_mode", devices::cursor_mode, &[WINDOW_ARG], "\"free\", \"clip\" or \"lock\".")
            .pure(),
        func(
            "set_cursor_mode",
            devices::set_cursor_mode,
            &[("mode", "\"free\", \"clip\" or \"lock\""), WINDOW_ARG],
            "Where the cursor can go: anywhere; not out of the window; nowhere, and it is not \
             seen, so that only Mouse.axis(\"mouse\") tells how the mouse is moved.",
        ),
        func(
            "set_cursor_position",
            devices::set_cursor_position,
            &[("x", "from the left edge"), ("y", "from the lower edge"), WINDOW_ARG],
            "Puts the cursor somewhere in the window.",
        ),
        func(
            "cursor",
            devices::cursor,
            &[WINDOW_ARG],
            "Where the mouse was last over the window, in its logical pixels from the lower left \
             corner. Of the main window it is Mouse.axis(\"cursor\"), which does not move while \
             the mouse is over another one.",
        )
        .pure(),
        func(
            "set_cursor",
            devices::set_cursor,
            &[("shape", "\"arrow\", \"hand\", \"crosshair\", \"text\", \"wait\" …"), WINDOW_ARG],
            "Sets the cursor over the window to one of the desktop's own.",
        ),
        func(
            "set_cursor_picture",
            devices::set_cursor_picture,
            &[
                ("texture", "a texture's name, at most 256 pixels a side"),
                ("x", "of its tip, in pixels from the left; 0 if left out"),
                ("y", "of its tip, in pixels from the top; 0 if left out"),
                WINDOW_ARG,
            ],
            "Sets the cursor over the window to a picture. It is shown in pixels of the screen.",
        ),
        func(
            "set_icon",
            devices::set_icon,
            &[("texture", "a texture's name, at most 256 pixels a side"), WINDOW_ARG],
            "Sets the window's icon, where the desktop has such a thing.",
        ),
        func(
            "clipboard",
            devices::clipboard,
            &[],
            "The text in the clipboard, \"\" where there is none; nil and why where it cannot be \
             read, or where the program that has it does not answer within half a second.",
        )
        .pure(),
        func(
            "set_clipboard",
            devices::set_clipboard,
            &[("text", "at most 16 MiB")],
            "Puts a text into the clipboard.",
        ),
        func(
            "set_ime_enabled",
            devices::set_ime_enabled,
            &[("enabled", "on while the player writes into a field"), WINDOW_ARG],
            "Whether the desktop's input method composes text (Keyboard.composition), as Chinese, \
             Japanese and Korean need.",
        ),
        func(
            "set_ime_area",
            devices::set_ime_area,
            &[
                ("left", "of the text that is written"),
                ("bottom", "of it"),
                ("width", "of it"),
                ("height", "of it"),
                WINDOW_ARG,
            ],
            "Says where the text is that is being written, so that the input method shows its \
             candidates beside it.",
        ),
        func(
            "set_keystroke_enabled",
            devices::set_keystroke_enabled,
            &[("enabled", "whether Keyboard.keystrokes tells anything; true at the start")],
            "Whether what is typed is collected.",
        ),
        func(
            "dropped_files",
            devices::dropped_files,
            &[WINDOW_ARG],
            "The files that the player dropped on the window in this frame, as paths.",
        )
        .pure(),
        func(
            "read_dropped_file",
            devices::read_dropped_file,
            &[("path", "one that `dropped_files` gave")],
            "The bytes of a file that the player dropped on the window, or nil and why not: of \
             plain files with at most 256 MiB.",
        )
        .pure(),
        func(
            "latency",
            latency,
            &[],
            "How long it takes from input to the picture that shows it, as far as the engine can \
             see: frames, then seconds, both averages of recent pictures; 0 before any.",
        )
        .pure(),
        func(
            "monitors",
            monitors,
            &[],
            "The monitors: a list of tables with `name`, `x`, `y`, `width`, `height` (in pixels of \
             the desktop), `scale` and `refresh` (pictures a second, 0 where that is not known).",
        )
        .pure(),
    ],
);

/// One of a set of words; the words of the error list them.
pub fn choice<T>(
    word: &str,
    argument: &str,
    known: &[&str],
    of: impl Fn(&str) -> Option<T>,
) -> Result<T, Error> {
    of(word).ok_or_else(|| {
        let hint = suggest::hint(word, known.iter().copied());
        crate::error!("{argument}: there is no '{word}'{hint} (there are {})", known.join(", "))
    })
}

/// The window that a call names, or the main one.
pub fn of(engine: &mut Engine, window: Option<WindowId>) -> &mut Window {
    match window {
        Some(window) => engine.windows.of(window),
        None => &mut engine.window,
    }
}

fn is_open(engine: &mut Engine, window: Option<WindowId>) -> bool {
    of(engine, window).is_open
}

fn resolution(engine: &mut Engine, window: Option<WindowId>) -> (f64, f64) {
    let size = of(engine, window).logical();
    (f64::from(size.x), f64::from(size.y))
}

fn pixel_size(engine: &mut Engine, window: Option<WindowId>) -> (f64, f64) {
    let (width, height) = of(engine, window).pixels;
    (f64::from(width), f64::from(height))
}

fn get_dpi_scale(engine: &mut Engine, window: Option<WindowId>) -> f64 {
    of(engine, window).scale
}

fn rect(engine: &mut Engine, window: Option<WindowId>) -> Many {
    let window = of(engine, window);
    let (position, size) = (window.position, window.logical());
    let all = [f64::from(position.0), f64::from(position.1), size.x.into(), size.y.into()];
    Many(all.map(Value::Number).to_vec())
}

/// No desktop reaches as far, in pixels.
pub const PLACE_MAX: i64 = 1 << 20;

fn side(number: Integer, index: usize, name: &str) -> Result<u32, Error> {
    let found = u32::try_from(number.0).ok().filter(|side| (SIDE_MIN..=SIDE_MAX).contains(side));
    found.ok_or_else(|| {
        let got = number.0;
        crate::error!("argument #{index} '{name}' must be {SIDE_MIN} to {SIDE_MAX}, got {got}")
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
    let place = |number: Integer, index: usize, name: &str| {
        let found = Some(number.0).filter(|place| (-PLACE_MAX..=PLACE_MAX).contains(place));
        found.map(|place| place as i32).ok_or_else(|| {
            crate::error!("argument #{index} '{name}' is outside of any desktop: {}", number.0)
        })
    };
    let (left, top) = (place(left, 1, "left")?, place(top, 2, "top")?);
    let (width, height) = (side(width, 3, "width")?, side(height, 4, "height")?);
    let window = of(engine, window);
    window.wish(Wish::Position(left, top));
    window.wish(Wish::Size(width, height));
    Ok(())
}

fn set_resolution(
    engine: &mut Engine,
    width: Integer,
    height: Integer,
    window: Option<WindowId>,
) -> Result<(), Error> {
    let (width, height) = (side(width, 1, "width")?, side(height, 2, "height")?);
    of(engine, window).wish(Wish::Size(width, height));
    Ok(())
}

fn title(engine: &mut Engine, window: Option<WindowId>) -> String {
    of(engine, window).title.clone()
}

pub fn check_title(argument: &str, title: &str) -> Result<(), Error> {
    title_fault(title).map_or(Ok(()), |fault| Err(crate::error!("{argument} {fault}")))
}

fn set_title(engine: &mut Engine, title: Text, window: Option<WindowId>) -> Result<(), Error> {
    check_title("argument #1 'title'", title.as_str())?;
    of(engine, window).wish(Wish::Title(title.as_str().to_string()));
    Ok(())
}

fn fullscreen(engine: &mut Engine, window: Option<WindowId>) -> String {
    of(engine, window).fullscreen.word().to_string()
}

fn set_fullscreen(engine: &mut Engine, mode: Text, window: Option<WindowId>) -> Result<(), Error> {
    let mode = choice(mode.as_str(), "argument #1 'mode'", Fullscreen::WORDS, Fullscreen::of)?;
    of(engine, window).wish(Wish::Fullscreen(mode));
    Ok(())
}

fn vsync(engine: &mut Engine) -> String {
    engine.window.vsync.word().to_string()
}

fn set_vsync(engine: &mut Engine, mode: Text) -> Result<(), Error> {
    engine.window.vsync = choice(mode.as_str(), "argument #1 'mode'", Vsync::WORDS, Vsync::of)?;
    Ok(())
}

fn is_resizable(engine: &mut Engine, window: Option<WindowId>) -> bool {
    of(engine, window).resizable
}

fn set_resizable(engine: &mut Engine, resizable: bool, window: Option<WindowId>) {
    of(engine, window).wish(Wish::Resizable(resizable));
}

fn minimize(engine: &mut Engine, window: Option<WindowId>) {
    of(engine, window).wish(Wish::Minimize);
}

fn maximize(engine: &mut Engine, window: Option<WindowId>) {
    of(engine, window).wish(Wish::Maximize);
}

fn restore(engine: &mut Engine, window: Option<WindowId>) {
    of(engine, window).wish(Wish::Restore);
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
    if !engine.window.is_listening() {
        // Nobody takes it from the others.
        engine.window.focused = false;
        engine.windows.lose_focus();
    }
    of(engine, window).wish(Wish::Focus);
}

fn is_visible(engine: &mut Engine, window: Option<WindowId>) -> bool {
    of(engine, window).visible
}

fn set_visible(engine: &mut Engine, visible: bool, window: Option<WindowId>) {
    of(engine, window).wish(Wish::Visible(visible));
}

fn mouse_focus(engine: &mut Engine, window: Option<WindowId>) -> bool {
    of(engine, window).mouse_inside
}

fn is_closing(engine: &mut Engine, window: Option<WindowId>) -> bool {
    of(engine, window).closing
}

fn latency(engine: &mut Engine) -> (f64, f64) {
    let (frames, seconds) = engine.window.latency;
    (f64::from(frames), f64::from(seconds))
}

fn monitors(engine: &mut Engine) -> Value {
    let entry = |key: &str, number: f64| (key.to_string(), Value::Number(number));
    let monitors = engine.window.monitors.iter().map(|monitor| {
        Value::Table(vec![
            entry("height", monitor.pixels.1.into()),
            ("name".to_string(), Value::Text(monitor.name.clone())),
            entry("refresh", monitor.refresh),
            entry("scale", monitor.scale),
            entry("width", monitor.pixels.0.into()),
            entry("x", monitor.position.0.into()),
            entry("y", monitor.position.1.into()),
        ])
    });
    Value::List(monitors.collect())
}
