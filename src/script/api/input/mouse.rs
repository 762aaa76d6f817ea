//! The Lua module `Mouse`: the mouse device.

use crate::api::input::device::device_rows;
use crate::api_row::{ModuleRows, module};
use engine_input::MOUSE;

pub static MOUSE_MODULE: ModuleRows = module(
    "Mouse",
    "The mouse. Its axis \"cursor\" is its position in the main window, in logical pixels from the \
     lower left corner; `Window.cursor` returns the position in another window. \"mouse\" is its \
     movement in this frame, even where the cursor cannot move any further. \"wheel\" is the \
     number of notches that the wheel was turned, with y away from the player.",
    r#"local cursor = Mouse.axis("cursor")
assert(cursor.x == 0)
if Mouse.pressed("left") then print(cursor) end"#,
    device_rows!({ MOUSE.0 },),
);
