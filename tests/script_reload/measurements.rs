//! Measurements of hot reload. They are meaningful in a release build:
//! `cargo test --release --test all script_reload::measurements -- --nocapture`

use super::harness::Game;
use std::time::Instant;

/// Returns the CPU time of this thread in milliseconds, or real time if the system does not report
/// it.
fn milliseconds(start: Instant) -> f64 {
    let cpu_nanoseconds = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let cpu_nanoseconds =
        cpu_nanoseconds.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    cpu_nanoseconds
        .map_or_else(|| start.elapsed().as_secs_f64() * 1e3, |nanoseconds| nanoseconds / 1e6)
}

/// Reloads `m` 50 times with other numbers. Returns the mean of the better half and the maximum, in
/// milliseconds. Garbage is collected in between, as by the frames of a game.
fn measure_reload(game: &mut Game, text: &str) -> (f64, f64) {
    let start = Instant::now();
    let mut times = Vec::new();
    for i in 0..50 {
        let new = text.replace("return 1", &format!("return {i}"));
        let began = milliseconds(start);
        game.reload(&[("m.lua", &new)]);
        times.push(milliseconds(start) - began);
        game.app().vm().collect_all();
    }
    times.sort_by(f64::total_cmp);
    (times[..25].iter().sum::<f64>() / 25.0, times[49])
}

const M: &str = "local M = {} function M.f() return 1 end return M";
const CALLING: &str =
    "local o = require 'other' local M = { o.f() } function M.f() return 1 end return M";

fn game_of(objects: u32, other: &str, text: &str) -> Game {
    let mut game = Game::start(&[("m.lua", text), ("other.lua", other)]);
    let step = format!(
        "require 'm' BIG = {{}} for i = 1, {objects} / 2 do \
         BIG[i] = {{ x = i, y = 'name', next = {{ i, i }} }} end collectgarbage()"
    );
    game.step(&step).unwrap_or_else(|report| panic!("{report}"));
    game
}

#[test]
fn heap_walk_of_400000_objects() {
    if cfg!(debug_assertions) {
        eprintln!(
            "SKIPPED: measurements (to have them: cargo test --release --test all \
             script_reload::measurements)"
        );
        return;
    }
    let other = "return { f = function() return 1 end }";
    for (objects, text, limit) in [(400_000, M, 60.0), (50_000, M, 10.0), (50_000, CALLING, 30.0)] {
        let mut game = game_of(objects, other, text);
        let (mean, worst) = measure_reload(&mut game, text);
        println!("{objects} objects: a reload takes {mean:.1} ms, at worst {worst:.1}");
        assert!(mean <= limit, "{mean} ms");
    }
}
