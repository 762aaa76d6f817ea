//! `Window`: the game's window. Sizes and places are logical pixels where nothing else is said.

use crate::engine::Engine;
use crate::foundation::{Error, suggest};
use crate::resource::name::ResourceName;
use crate::script::arg::{Integer, Text};
use crate::script::cx::Cx;
use crate::script::ret::{Expected, Many, Ret};
use crate::script::row::{Module, func, module};
use crate::script::types::{Shape, Type};
use crate::script::value::Value;
use crate::system::textures;
use crate::system::window::{
    CLIPBOARD_BYTES_MAX, CursorMode, CursorShape, Fullscreen, PICTURE_SIDE_MAX, Picture, SIDE_MAX,
    SIDE_MIN, Vsync, Wish, read_dropped,
};
use mlua::ffi::{lua_State, lua_pushlstring};
use std::ffi::c_int;

pub static WINDOW: Module = module(
    "Window",
    "The game's window. Without a display there is none, and everything here still answers: what \
     is set is so, and the size is that of the settings.",
    r#"Window.set_title("Yard")
local width, height = Window.resolution()
assert(width > 0 and height > 0)"#,
    &[
        func("is_open", is_open, &[], "Whether a display shows the window.").pure(),
        func(
            "resolution",
            resolution,
            &[],
            "Width and height in logical pixels: the units of Guis and of the cursor.",
        )
        .pure(),
        func("pixel_size", pixel_size, &[], "Width and height in pixels of the screen.").pure(),
        func(
            "get_dpi_scale",
            get_dpi_scale,
            &[],
            "Pixels of the screen for each logical pixel: 1, or more where the display is fine.",
        )
        .pure(),
        func(
            "rect",
            rect,
            &[],
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
            ],
            "Places the window, where the desktop lets it.",
        ),
        func(
            "set_resolution",
            set_resolution,
            &[("width", "in logical pixels"), ("height", "in logical pixels")],
            "Wishes a size; the desktop may give another. `resolution` tells when it has.",
        ),
        func("title", title, &[], "The words in its bar.").pure(),
        func("set_title", set_title, &[("title", "the words in its bar")], "Sets them."),
        func(
            "fullscreen",
            fullscreen,
            &[],
            "How it stands on the screen: \"off\", \"borderless\" or \"exclusive\".",
        )
        .pure(),
        func(
            "set_fullscreen",
            set_fullscreen,
            &[("mode", "\"off\", \"borderless\" or \"exclusive\"")],
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
        func("is_resizable", is_resizable, &[], "Whether the player can change its size.").pure(),
        func(
            "set_resizable",
            set_resizable,
            &[("resizable", "whether the player can change its size")],
            "Sets that.",
        ),
        func("minimize", minimize, &[], "Makes it an icon."),
        func("maximize", maximize, &[], "Makes it as large as the desktop lets it be."),
        func("restore", restore, &[], "Neither minimized nor maximized any more."),
        func("is_minimized", is_minimized, &[], "Whether it is an icon.").pure(),
        func("is_maximized", is_maximized, &[], "Whether it was maximized.").pure(),
        func("has_focus", has_focus, &[], "Whether keys go to it.").pure(),
        func("set_focus", set_focus, &[], "Asks the desktop for the focus."),
        func("mouse_focus", mouse_focus, &[], "Whether the mouse is over it.").pure(),
        func(
            "is_closing",
            is_closing,
            &[],
            "Whether the player has asked in this frame to close it. `on_close` decides.",
        )
        .pure(),
        func("close", close, &[], "Ends the game as the player does who closes the window."),
        func("show_cursor", show_cursor, &[], "Whether the cursor is seen over the window.").pure(),
        func(
            "set_show_cursor",
            set_show_cursor,
            &[("show", "whether it is seen")],
            "Shows or hides the cursor over the window.",
        ),
        func("clip_cursor", clip_cursor, &[], "Whether the cursor is kept in the window.").pure(),
        func(
            "set_clip_cursor",
            set_clip_cursor,
            &[("clip", "whether it is kept in")],
            "The same as set_cursor_mode(\"clip\"), or \"free\".",
        ),
        func("cursor_mode", cursor_mode, &[], "\"free\", \"clip\" or \"lock\".").pure(),
        func(
            "set_cursor_mode",
            set_cursor_mode,
            &[("mode", "\"free\", \"clip\" or \"lock\"")],
            "Where the cursor can go: anywhere; not out of the window; nowhere, and it is not \
             seen, so that only Mouse.axis(\"mouse\") tells how the mouse is moved.",
        ),
        func(
            "set_cursor_position",
            set_cursor_position,
            &[("x", "from the left edge"), ("y", "from the lower edge")],
            "Puts the cursor somewhere in the window.",
        ),
        func(
            "set_cursor",
            set_cursor,
            &[("shape", "\"arrow\", \"hand\", \"crosshair\", \"text\", \"wait\" …")],
            "Sets the cursor over the window to one of the desktop's own.",
        ),
        func(
            "set_cursor_picture",
            set_cursor_picture,
            &[
                ("texture", "a texture's name, at most 256 pixels a side"),
                ("x", "of its tip, in pixels from the left; 0 if left out"),
                ("y", "of its tip, in pixels from the top; 0 if left out"),
            ],
            "Sets the cursor over the window to a picture. It is shown in pixels of the screen.",
        ),
        func(
            "set_icon",
            set_icon,
            &[("texture", "a texture's name, at most 256 pixels a side")],
            "Sets the window's icon, where the desktop has such a thing.",
        ),
        func("clipboard", clipboard, &[], "The text in the clipboard, \"\" where there is none.")
            .pure(),
        func(
            "set_clipboard",
            set_clipboard,
            &[("text", "at most 16 MiB")],
            "Puts a text into the clipboard.",
        ),
        func(
            "set_ime_enabled",
            set_ime_enabled,
            &[("enabled", "on while the player writes into a field")],
            "Whether the desktop's input method composes text (Keyboard.composition), as Chinese, \
             Japanese and Korean need.",
        ),
        func(
            "set_ime_area",
            set_ime_area,
            &[
                ("left", "of the text that is written"),
                ("bottom", "of it"),
                ("width", "of it"),
                ("height", "of it"),
            ],
            "Says where the text is that is being written, so that the input method shows its \
             candidates beside it.",
        ),
        func(
            "set_keystroke_enabled",
            set_keystroke_enabled,
            &[("enabled", "whether Keyboard.keystrokes tells anything; true at the start")],
            "Whether what is typed is collected.",
        ),
        func(
            "dropped_files",
            dropped_files,
            &[],
            "The files that the player dropped on the window in this frame, as paths.",
        )
        .pure(),
        func(
            "read_dropped_file",
            read_dropped_file,
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
fn choice<T>(
    word: &str,
    argument: &str,
    known: &[&str],
    of: impl Fn(&str) -> Option<T>,
) -> Result<T, Error> {
    of(word).ok_or_else(|| {
        let hint = suggest::hint(word, known.iter().copied());
        crate::error!(
            "argument #1 '{argument}': there is no '{word}'{hint} (there are {})",
            known.join(", ")
        )
    })
}

fn is_open(engine: &mut Engine) -> bool {
    engine.window.is_open
}

fn resolution(engine: &mut Engine) -> (f64, f64) {
    let size = engine.window.logical();
    (f64::from(size.x), f64::from(size.y))
}

fn pixel_size(engine: &mut Engine) -> (f64, f64) {
    let (width, height) = engine.window.pixels;
    (f64::from(width), f64::from(height))
}

fn get_dpi_scale(engine: &mut Engine) -> f64 {
    engine.window.scale
}

fn rect(engine: &mut Engine) -> Many {
    let (position, size) = (engine.window.position, engine.window.logical());
    let all = [f64::from(position.0), f64::from(position.1), size.x.into(), size.y.into()];
    Many(all.map(Value::Number).to_vec())
}

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
) -> Result<(), Error> {
    let place = |number: Integer, index: usize, name: &str| {
        let found = i32::try_from(number.0).ok().filter(|place| place.abs() <= 1 << 20);
        found.ok_or_else(|| {
            crate::error!("argument #{index} '{name}' is outside of any desktop: {}", number.0)
        })
    };
    let (left, top) = (place(left, 1, "left")?, place(top, 2, "top")?);
    let (width, height) = (side(width, 3, "width")?, side(height, 4, "height")?);
    engine.window.wish(Wish::Position(left, top));
    engine.window.wish(Wish::Size(width, height));
    Ok(())
}

fn set_resolution(engine: &mut Engine, width: Integer, height: Integer) -> Result<(), Error> {
    let (width, height) = (side(width, 1, "width")?, side(height, 2, "height")?);
    engine.window.wish(Wish::Size(width, height));
    Ok(())
}

fn title(engine: &mut Engine) -> String {
    engine.window.title.clone()
}

fn set_title(engine: &mut Engine, title: Text) -> Result<(), Error> {
    if title.as_str().contains('\0') {
        return Err(crate::error!("argument #1 'title' has a zero byte, which no title can have"));
    }
    engine.window.wish(Wish::Title(title.as_str().to_string()));
    Ok(())
}

fn fullscreen(engine: &mut Engine) -> String {
    engine.window.fullscreen.word().to_string()
}

fn set_fullscreen(engine: &mut Engine, mode: Text) -> Result<(), Error> {
    let mode = choice(mode.as_str(), "mode", Fullscreen::WORDS, Fullscreen::of)?;
    engine.window.wish(Wish::Fullscreen(mode));
    Ok(())
}

fn vsync(engine: &mut Engine) -> String {
    engine.window.vsync.word().to_string()
}

fn set_vsync(engine: &mut Engine, mode: Text) -> Result<(), Error> {
    engine.window.vsync = choice(mode.as_str(), "mode", Vsync::WORDS, Vsync::of)?;
    Ok(())
}

fn is_resizable(engine: &mut Engine) -> bool {
    engine.window.resizable
}

fn set_resizable(engine: &mut Engine, resizable: bool) {
    engine.window.wish(Wish::Resizable(resizable));
}

fn minimize(engine: &mut Engine) {
    engine.window.wish(Wish::Minimize);
}

fn maximize(engine: &mut Engine) {
    engine.window.wish(Wish::Maximize);
}

fn restore(engine: &mut Engine) {
    engine.window.wish(Wish::Restore);
}

fn is_minimized(engine: &mut Engine) -> bool {
    engine.window.minimized
}

fn is_maximized(engine: &mut Engine) -> bool {
    engine.window.maximized
}

fn has_focus(engine: &mut Engine) -> bool {
    engine.window.focused
}

fn set_focus(engine: &mut Engine) {
    engine.window.wish(Wish::Focus);
}

fn mouse_focus(engine: &mut Engine) -> bool {
    engine.window.mouse_inside
}

fn is_closing(engine: &mut Engine) -> bool {
    engine.window.closing
}

fn close(engine: &mut Engine) {
    engine.window.asked_to_close = true;
}

fn show_cursor(engine: &mut Engine) -> bool {
    engine.window.cursor_shown
}

fn set_show_cursor(engine: &mut Engine, show: bool) {
    engine.window.wish(Wish::ShowCursor(show));
}

fn clip_cursor(engine: &mut Engine) -> bool {
    engine.window.cursor_mode == CursorMode::Clip
}

fn set_clip_cursor(engine: &mut Engine, clip: bool) {
    let mode = if clip { CursorMode::Clip } else { CursorMode::Free };
    engine.window.wish(Wish::CursorMode(mode));
}

fn cursor_mode(engine: &mut Engine) -> String {
    engine.window.cursor_mode.word().to_string()
}

fn set_cursor_mode(engine: &mut Engine, mode: Text) -> Result<(), Error> {
    let mode = choice(mode.as_str(), "mode", CursorMode::WORDS, CursorMode::of)?;
    engine.window.wish(Wish::CursorMode(mode));
    Ok(())
}

fn set_cursor_position(engine: &mut Engine, x: f64, y: f64) {
    engine.window.wish(Wish::MoveCursor(x as f32, y as f32));
}

fn set_cursor(engine: &mut Engine, shape: Text) -> Result<(), Error> {
    let shape = choice(shape.as_str(), "shape", CursorShape::WORDS, CursorShape::of)?;
    engine.window.wish(Wish::CursorShape(shape));
    Ok(())
}

fn picture(engine: &mut Engine, name: &str) -> Result<Picture, Error> {
    let bytes = engine.store.read(&ResourceName::new("texture", name))?;
    let (width, height, rgba) = textures::picture(&bytes)?;
    if width.max(height) > PICTURE_SIDE_MAX {
        return Err(crate::error!(
            "argument #1 'texture': '{name}' has {width} × {height} pixels, and may have \
             {PICTURE_SIDE_MAX} a side"
        ));
    }
    Ok(Picture { width, height, rgba: rgba.into() })
}

fn set_cursor_picture(
    engine: &mut Engine,
    texture: Text,
    x: Option<Integer>,
    y: Option<Integer>,
) -> Result<(), Error> {
    let picture = picture(engine, texture.as_str())?;
    let inside = |number: Option<Integer>, side: u32, index: usize, name: &str| {
        let number = number.map_or(0, |number| number.0);
        let found = u32::try_from(number).ok().filter(|place| *place < side);
        found.ok_or_else(|| {
            crate::error!("argument #{index} '{name}' must be 0 to {}, got {number}", side - 1)
        })
    };
    let (x, y) = (inside(x, picture.width, 2, "x")?, inside(y, picture.height, 3, "y")?);
    engine.window.wish(Wish::CursorPicture(picture, x, y));
    Ok(())
}

fn set_icon(engine: &mut Engine, texture: Text) -> Result<(), Error> {
    let picture = picture(engine, texture.as_str())?;
    engine.window.wish(Wish::Icon(picture));
    Ok(())
}

fn clipboard(engine: &mut Engine) -> Expected<String> {
    Expected(engine.window.clipboard.text())
}

fn set_clipboard(engine: &mut Engine, text: Text) -> Result<Expected<bool>, Error> {
    let text = text.as_str();
    if text.len() > CLIPBOARD_BYTES_MAX {
        let most = CLIPBOARD_BYTES_MAX >> 20;
        return Err(crate::error!("argument #1 'text' must have at most {most} MiB"));
    }
    Ok(Expected(engine.window.clipboard.set_text(text).map(|()| true)))
}

fn set_ime_enabled(engine: &mut Engine, enabled: bool) {
    engine.window.wish(Wish::Ime(enabled));
}

fn set_ime_area(engine: &mut Engine, left: f64, bottom: f64, width: f64, height: f64) {
    let area = [left, bottom, width, height].map(|number| number as f32);
    engine.window.wish(Wish::ImeArea(area));
}

fn set_keystroke_enabled(engine: &mut Engine, enabled: bool) {
    engine.window.keystrokes = enabled;
}

fn dropped_files(engine: &mut Engine) -> Vec<String> {
    let window = &engine.window;
    let new = window.dropped[window.dropped_before..].iter();
    new.map(|path| path.to_string_lossy().into_owned()).collect()
}

/// Bytes, as a string.
struct Blob(Vec<u8>);

impl Ret for Blob {
    const TYPES: &'static [Type] = &[Type::new("string", Shape::Boxed)];
    unsafe fn push(self, l: *mut lua_State, _: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { lua_pushlstring(l, self.0.as_ptr().cast(), self.0.len()) };
        Ok(1)
    }
}

fn read_dropped_file(engine: &mut Engine, path: Text) -> Result<Expected<Blob>, Error> {
    let wanted = path.as_str();
    let known = engine.window.dropped.iter().find(|path| path.to_string_lossy() == wanted);
    let Some(path) = known else {
        return Err(crate::error!(
            "argument #1 'path': the player dropped no file '{wanted}' on the window"
        ));
    };
    Ok(Expected(read_dropped(path).map(Blob)))
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
