//! The rows of `Window` that have to do with devices: the cursor and its picture, the clipboard,
//! the input method, files that are dropped.

use super::window::{choice, of};
use crate::engine::Engine;
use crate::foundation::{Error, Vec3};
use crate::resource::name::ResourceName;
use crate::script::arg::{Integer, Text};
use crate::script::cx::Cx;
use crate::script::ret::{Expected, Ret};
use crate::script::types::{Shape, Type};
use crate::system::input::MOUSE;
use crate::system::input::names::MOUSE_CURSOR;
use crate::system::textures;
use crate::system::window::{
    CLIPBOARD_BYTES_MAX, CursorMode, CursorShape, PICTURE_SIDE_MAX, Picture, WindowId, Wish,
    clipboard_fault, read_as_if_dropped, read_dropped,
};
use mlua::ffi::{lua_State, lua_pushlstring};
use std::ffi::c_int;

pub fn cursor(engine: &mut Engine, window: Option<WindowId>) -> Vec3 {
    match window {
        Some(window) => engine.windows.of(window).cursor.extend(0.0),
        None => engine.input.device(MOUSE).axis(MOUSE_CURSOR),
    }
}

pub fn show_cursor(engine: &mut Engine, window: Option<WindowId>) -> bool {
    of(engine, window).cursor_shown
}

pub fn set_show_cursor(engine: &mut Engine, show: bool, window: Option<WindowId>) {
    of(engine, window).wish(Wish::ShowCursor(show));
}

pub fn clip_cursor(engine: &mut Engine, window: Option<WindowId>) -> bool {
    of(engine, window).cursor_mode == CursorMode::Clip
}

pub fn set_clip_cursor(engine: &mut Engine, clip: bool, window: Option<WindowId>) {
    let mode = if clip { CursorMode::Clip } else { CursorMode::Free };
    of(engine, window).wish(Wish::CursorMode(mode));
}

pub fn cursor_mode(engine: &mut Engine, window: Option<WindowId>) -> String {
    of(engine, window).cursor_mode.word().to_string()
}

pub fn set_cursor_mode(
    engine: &mut Engine,
    mode: Text,
    window: Option<WindowId>,
) -> Result<(), Error> {
    let mode = choice(mode.as_str(), "argument #1 'mode'", CursorMode::WORDS, CursorMode::of)?;
    of(engine, window).wish(Wish::CursorMode(mode));
    Ok(())
}

pub fn set_cursor_position(engine: &mut Engine, x: f64, y: f64, window: Option<WindowId>) {
    of(engine, window).wish(Wish::MoveCursor(x as f32, y as f32));
}

pub fn set_cursor(engine: &mut Engine, shape: Text, window: Option<WindowId>) -> Result<(), Error> {
    let shape = choice(shape.as_str(), "argument #1 'shape'", CursorShape::WORDS, CursorShape::of)?;
    of(engine, window).wish(Wish::CursorShape(shape));
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

pub fn set_cursor_picture(
    engine: &mut Engine,
    texture: Text,
    x: Option<Integer>,
    y: Option<Integer>,
    window: Option<WindowId>,
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
    of(engine, window).wish(Wish::CursorPicture(picture, x, y));
    Ok(())
}

pub fn set_icon(engine: &mut Engine, texture: Text, window: Option<WindowId>) -> Result<(), Error> {
    let picture = picture(engine, texture.as_str())?;
    of(engine, window).wish(Wish::Icon(picture));
    Ok(())
}

pub fn clipboard(engine: &mut Engine) -> Expected<String> {
    Expected(engine.window.clipboard.text())
}

pub fn set_clipboard(engine: &mut Engine, text: Text) -> Result<Expected<bool>, Error> {
    let text = text.as_str();
    if text.len() > CLIPBOARD_BYTES_MAX {
        let most = CLIPBOARD_BYTES_MAX >> 20;
        return Err(crate::error!("argument #1 'text' must have at most {most} MiB"));
    }
    if let Some(fault) = clipboard_fault(text) {
        return Err(crate::error!("argument #1 'text' {fault}"));
    }
    Ok(Expected(engine.window.clipboard.set_text(text).map(|()| true)))
}

pub fn set_ime_enabled(engine: &mut Engine, enabled: bool, window: Option<WindowId>) {
    of(engine, window).wish(Wish::Ime(enabled));
}

pub fn set_ime_area(
    engine: &mut Engine,
    left: f64,
    bottom: f64,
    width: f64,
    height: f64,
    window: Option<WindowId>,
) {
    let area = [left, bottom, width, height].map(|number| number as f32);
    of(engine, window).wish(Wish::ImeArea(area));
}

pub fn set_keystroke_enabled(engine: &mut Engine, enabled: bool) {
    engine.window.keystrokes = enabled;
}

pub fn dropped_files(engine: &mut Engine, window: Option<WindowId>) -> Vec<String> {
    let window = of(engine, window);
    let new = window.dropped[window.dropped_before..].iter();
    new.map(|path| path.to_string_lossy().into_owned()).collect()
}

/// Bytes, as a string.
pub struct Blob(Vec<u8>);

impl Ret for Blob {
    const TYPES: &'static [Type] = &[Type::new("string", Shape::Boxed)];
    unsafe fn push(self, l: *mut lua_State, _: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { lua_pushlstring(l, self.0.as_ptr().cast(), self.0.len()) };
        Ok(1)
    }
}

pub fn read_dropped_file(engine: &mut Engine, path: Text) -> Result<Expected<Blob>, Error> {
    let wanted = path.as_str();
    let others = engine.windows.iter().map(|(_, window)| window);
    let mut files = others.chain([&engine.window]).flat_map(|window| &window.dropped);
    let known = files.find(|path| path.to_string_lossy() == wanted);
    let Some(path) = known else {
        return Err(crate::error!(
            "argument #1 'path': the player dropped no file '{wanted}' on the window"
        ));
    };
    let bytes = match engine.windows.is_player_file(wanted) {
        true => read_dropped(path),
        false => read_as_if_dropped(path, engine.project.folder()),
    };
    Ok(Expected(bytes.map(Blob)))
}
