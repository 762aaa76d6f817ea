//! Tests of sound from outside: compiled files, mixed voices, failing devices, the command line.
//! The API is tested in tests/lua/sound_test.lua.

mod bad_input;
mod device;
mod game;
mod level_chart;
mod loops;
mod mixing;
mod output;
mod reload;
