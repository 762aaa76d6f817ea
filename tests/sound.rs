//! Tests of sound from outside: compiled files, mixed voices, failing devices, the command line.
//! The API is tested in tests/lua/sound_test.lua.

mod cases;
mod device;
mod game;
mod mixing;
mod picture;
mod reloading;
