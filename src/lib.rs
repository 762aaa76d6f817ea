//! The engine: a Lua-first game runtime. A game is a folder of Lua and resources; this library is
//! everything that the one executable is made of. ARCHITECTURE.md shows the way around.

pub mod app;
pub mod cli;
pub mod engine;
pub mod foundation;
pub mod packet;
pub mod resource;
pub mod script;
pub mod system;
pub mod tool;
pub mod world;
