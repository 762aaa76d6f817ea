//! Tests of sound from outside: compiled files, mixed voices, failing devices, the command line.
//! The API is tested in tests/lua/sound_test.lua.

#[path = "sound/cases.rs"]
mod cases;
#[path = "sound/device.rs"]
mod device;
#[path = "sound/game.rs"]
mod game;
#[path = "sound/mixing.rs"]
mod mixing;
#[path = "sound/picture.rs"]
mod picture;
#[path = "sound/reloading.rs"]
mod reloading;
