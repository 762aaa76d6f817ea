//! The functions of `Window` for devices: the cursor and its picture, the clipboard, the input
//! method, dropped files.

use crate::api::window::{choice, of};
use crate::argument::{Integer, TextArgument};
use crate::context::ScriptContext;
use crate::return_value::{ExpectedResult, ReturnValue};
use crate::types::{ApiType, ValueShape};
use engine_foundation::{Error, Vec2, Vec3};
use engine_input::MOUSE;
use engine_input::button_names::MOUSE_CURSOR;
use engine_resource::resource_kind::kind_names;
use engine_resource::resource_name::ResourceName;
use engine_runtime::Engine;
use engine_textures as textures;
use engine_window::{
    CLIPBOARD_BYTES_MAX, CursorMode, CursorShape, IMAGE_SIDE_MAX, IconImage, WindowCommand,
    WindowId, clipboard_error, read_as_if_dropped, read_dropped,
};
use mlua::ffi::{lua_State, lua_pushlstring};
use std::ffi::c_int;

pub fn cursor(engine: &mut Engine, window: Option<WindowId>) -> Vec3 {
    match window {
        Some(window) => engine.devices.windows.of(window).cursor.extend(0.0),
        None => engine.devices.input.device(MOUSE).axis(MOUSE_CURSOR),
    }
}

pub fn show_cursor(engine: &mut Engine, window: Option<WindowId>) -> bool {
    of(engine, window).cursor_shown
}

pub fn set_show_cursor(engine: &mut Engine, show: bool, window: Option<WindowId>) {
    of(engine, window).push_command(WindowCommand::ShowCursor(show));
}

pub fn clip_cursor(engine: &mut Engine, window: Option<WindowId>) -> bool {
    of(engine, window).cursor_mode == CursorMode::Clip
}

pub fn set_clip_cursor(engine: &mut Engine, clip: bool, window: Option<WindowId>) {
    let mode = if clip { CursorMode::Clip } else { CursorMode::Free };
    of(engine, window).push_command(WindowCommand::CursorMode(mode));
}

pub fn cursor_mode(engine: &mut Engine, window: Option<WindowId>) -> String {
    of(engine, window).cursor_mode.name().to_string()
}

pub fn set_cursor_mode(
    engine: &mut Engine,
    mode: TextArgument,
    window: Option<WindowId>,
) -> Result<(), Error> {
    let mode = choice(mode.as_str(), "argument #1 'mode'", CursorMode::NAMES, CursorMode::of)?;
    of(engine, window).push_command(WindowCommand::CursorMode(mode));
    Ok(())
}

pub fn set_cursor_position(engine: &mut Engine, x: f64, y: f64, window: Option<WindowId>) {
    let window = of(engine, window);
    let position = window.units_to_logical(Vec2::new(x as f32, y as f32));
    window.push_command(WindowCommand::MoveCursor(position.x, position.y));
}

pub fn set_cursor(
    engine: &mut Engine,
    shape: TextArgument,
    window: Option<WindowId>,
) -> Result<(), Error> {
    let shape = choice(shape.as_str(), "argument #1 'shape'", CursorShape::NAMES, CursorShape::of)?;
    of(engine, window).push_command(WindowCommand::CursorShape(shape));
    Ok(())
}

fn picture(engine: &mut Engine, name: &str) -> Result<IconImage, Error> {
    let bytes = engine.assets.store.read(&ResourceName::new(kind_names::TEXTURE, name))?;
    let (width, height, rgba) = textures::picture(&bytes)?;
    if width.max(height) > IMAGE_SIDE_MAX {
        return Err(engine_foundation::error!(
            "argument #1 'texture': '{name}' has {width} × {height} pixels, and may have \
             {IMAGE_SIDE_MAX} a side"
        ));
    }
    Ok(IconImage { width, height, rgba: rgba.into() })
}

pub fn set_cursor_picture(
    engine: &mut Engine,
    texture: TextArgument,
    x: Option<Integer>,
    y: Option<Integer>,
    window: Option<WindowId>,
) -> Result<(), Error> {
    let picture = picture(engine, texture.as_str())?;
    let inside = |number: Option<Integer>, side: u32, index: usize, name: &str| {
        let number = number.map_or(0, |number| number.0);
        let found = u32::try_from(number).ok().filter(|coordinate| *coordinate < side);
        found.ok_or_else(|| {
            engine_foundation::error!(
                "argument #{index} '{name}' must be 0 to {}, got {number}",
                side - 1
            )
        })
    };
    let (x, y) = (inside(x, picture.width, 2, "x")?, inside(y, picture.height, 3, "y")?);
    of(engine, window).push_command(WindowCommand::CursorImage(picture, x, y));
    Ok(())
}

pub fn set_icon(
    engine: &mut Engine,
    texture: TextArgument,
    window: Option<WindowId>,
) -> Result<(), Error> {
    let picture = picture(engine, texture.as_str())?;
    of(engine, window).push_command(WindowCommand::Icon(picture));
    Ok(())
}

pub fn clipboard(engine: &mut Engine) -> ExpectedResult<String> {
    ExpectedResult(engine.devices.window.clipboard.text())
}

pub fn set_clipboard(
    engine: &mut Engine,
    text: TextArgument,
) -> Result<ExpectedResult<bool>, Error> {
    let text = text.as_str();
    if text.len() > CLIPBOARD_BYTES_MAX {
        let most = CLIPBOARD_BYTES_MAX >> 20;
        return Err(engine_foundation::error!("argument #1 'text' must have at most {most} MiB"));
    }
    if let Some(problem) = clipboard_error(text) {
        return Err(engine_foundation::error!("argument #1 'text' {problem}"));
    }
    Ok(ExpectedResult(engine.devices.window.clipboard.set_text(text).map(|()| true)))
}

pub fn set_ime_enabled(engine: &mut Engine, enabled: bool, window: Option<WindowId>) {
    of(engine, window).push_command(WindowCommand::Ime(enabled));
}

pub fn set_ime_area(
    engine: &mut Engine,
    left: f64,
    bottom: f64,
    width: f64,
    height: f64,
    window: Option<WindowId>,
) {
    let window = of(engine, window);
    let low = window.units_to_logical(Vec2::new(left as f32, bottom as f32));
    let high = Vec2::new((left + width) as f32, (bottom + height) as f32);
    let size = window.units_to_logical(high) - low;
    window.push_command(WindowCommand::ImeArea([low.x, low.y, size.x, size.y]));
}

pub fn set_keystroke_enabled(engine: &mut Engine, enabled: bool) {
    engine.devices.window.keystrokes = enabled;
}

pub fn dropped_files(engine: &mut Engine, window: Option<WindowId>) -> Vec<String> {
    let window = of(engine, window);
    let new = window.dropped[window.dropped_before..].iter();
    new.map(|path| path.to_string_lossy().into_owned()).collect()
}

/// Bytes, as a string.
pub struct ByteString(Vec<u8>);

impl ReturnValue for ByteString {
    const TYPES: &'static [ApiType] = &[ApiType::new("string", ValueShape::Boxed)];
    unsafe fn push(self, l: *mut lua_State, _: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { lua_pushlstring(l, self.0.as_ptr().cast(), self.0.len()) };
        Ok(1)
    }
}

pub fn read_dropped_file(
    engine: &mut Engine,
    path: TextArgument,
) -> Result<ExpectedResult<ByteString>, Error> {
    let wanted = path.as_str();
    let others = engine.devices.windows.iter().map(|(_, window)| window);
    let mut files = others.chain([&engine.devices.window]).flat_map(|window| &window.dropped);
    let known = files.find(|path| path.to_string_lossy() == wanted);
    let Some(path) = known else {
        return Err(engine_foundation::error!(
            "argument #1 'path': the player dropped no file '{wanted}' on the window"
        ));
    };
    let bytes = match engine.devices.windows.is_player_file(wanted) {
        true => read_dropped(path),
        false => read_as_if_dropped(path, engine.game.project.folder()),
    };
    Ok(ExpectedResult(bytes.map(ByteString)))
}
