//! Tests that count the allocations of a thread, or let single allocations fail.

mod allocator;
mod animation;
mod particles;
mod save;
mod sound_thread;
