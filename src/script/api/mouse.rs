//! `Mouse`: the device.

use super::device::device_rows;
use crate::script::row::{Module, module};
use crate::system::input::MOUSE;

pub static MOUSE_MODULE: Module = module(
    "Mouse",
    "The mouse. Its axes: \"cursor\", its place in the main window in logical pixels from the \
     lower left corner (`Window.cursor` has that in another); \"mouse\", how far it was moved in \
     this frame (also where the cursor cannot go on); \"wheel\", how many notches the wheel was \
     turned, y away from the player.",
    r#"local cursor = Mouse.axis("cursor")
assert(cursor.x == 0)
if Mouse.pressed("left") then print(cursor) end"#,
    device_rows!({ MOUSE.0 },),
);
