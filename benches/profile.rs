//! Benchmarks of profiling: the cost of scopes from Rust and from Lua, counters, the end of a
//! frame, and allocations under memory owners.
//!
//!     cargo bench -- profile
//!
//! Times are CPU time of the measuring thread, the median of several rounds.

use crate::run::Run;
use crate::spine::game::Game;
use crate::table::{Group, Row, median, row};
use engine::foundation::memory::{CountingAllocator, UncountedAllocator};
use engine::foundation::{counters, profile};
use engine::platform::ThreadClock;
use engine::{counter, owner, scope};
use std::alloc::{GlobalAlloc, Layout};
use std::hint::black_box;

const ROUNDS: usize = 15;
/// Scopes between two ends of a frame. A thread can have more.
const SCOPES: usize = 10_000;

pub fn run(run: &mut Run) {
    run.part("scopes", scopes);
    run.part("counters", counting);
    run.part("memory", memory);
}

/// Returns the nanoseconds of one of `count` operations that `f` performs, the median of
/// [`ROUNDS`].
fn time_each(count: usize, mut f: impl FnMut()) -> f64 {
    let clock = ThreadClock::of_this_thread();
    let mut round = || {
        let before = clock.seconds();
        f();
        (clock.seconds() - before) / count as f64 * 1e9
    };
    median((0..ROUNDS).map(|_| round()).collect())
}

/// Opens and closes scopes in Rust and ends the frame each time. Returns the cost of a scope, and
/// its share of the frame's end.
fn rust_scopes() -> [f64; 2] {
    let (mut open, mut end) = (Vec::new(), Vec::new());
    let clock = ThreadClock::of_this_thread();
    for frame in 0..ROUNDS {
        profile::begin_frame();
        let before = clock.seconds();
        for _ in 0..SCOPES {
            scope!("bench");
        }
        let between = clock.seconds();
        profile::end_frame(frame as u64);
        open.push((between - before) / SCOPES as f64 * 1e9);
        end.push((clock.seconds() - between) / SCOPES as f64 * 1e9);
    }
    [median(open), median(end)]
}

/// Measures scopes from Lua: a case of benches/lua/profile.lua.
fn lua_case(case: &str) -> f64 {
    let count = SCOPES.to_string();
    let mut game = Game::open("profile", &[case, &count], true);
    game.call("init");
    let clock = ThreadClock::of_this_thread();
    let mut round = |frame: usize| {
        profile::begin_frame();
        let before = clock.seconds();
        game.call("render");
        let nanoseconds = (clock.seconds() - before) / SCOPES as f64 * 1e9;
        profile::end_frame(frame as u64);
        nanoseconds
    };
    median((0..ROUNDS).map(&mut round).collect())
}

fn scopes() -> Group {
    profile::set_enabled(false);
    let off = time_each(SCOPES, || {
        for _ in 0..SCOPES {
            scope!("bench off");
        }
    });
    let lua_off = lua_case("scopes");
    profile::set_enabled(true);
    let [open, end] = rust_scopes();
    let empty = lua_case("nothing");
    let rows: Vec<Row> = vec![
        row("a closed scope in Rust", open, "ns", Some(40.0)),
        row("its share of the frame's end", end, "ns", None),
        row("a closed scope in Rust while nothing is measured", off, "ns", None),
        row("a closed scope in Lua", lua_case("scopes") - empty, "ns", Some(60.0)),
        row("the same, stopped by its name", lua_case("named") - empty, "ns", Some(60.0)),
        row("a closed scope in Lua while nothing is measured", lua_off - empty, "ns", Some(1.0)),
    ];
    Group {
        name: "scopes",
        title: "the cost of measuring a section of code",
        workload: "10,000 scopes of one name in a loop, each opened and closed, inside of a frame. \
                   The cost of the empty Lua loop is subtracted.",
        rows,
    }
}

fn counting() -> Group {
    for number in 0..10_000 {
        counters::counter(&format!("bench/{number}")).expect("there is room");
    }
    let push = || time_each(1, counters::push) / 1e3;
    let unwatched = push();
    for number in 0..100 {
        let counter = counters::find(&format!("bench/{number}")).expect("it was made");
        counters::watch(counter).expect("there is room");
    }
    let add = time_each(SCOPES, || {
        for _ in 0..SCOPES {
            counter!("bench/added") += 1;
        }
    });
    profile::set_enabled(true);
    let lua = lua_case("counter") - lua_case("nothing");
    Group {
        name: "counters",
        title: "the cost of counting",
        workload: "10,000 counters, none of which is watched, then 100 of them; adding to one \
                   counter 10,000 times.",
        rows: vec![
            row("the end of a frame, none watched", unwatched, "us", Some(20.0)),
            row("the end of a frame, 100 watched", push(), "us", None),
            row("adding in Rust", add, "ns", None),
            row("adding in Lua", lua, "ns", None),
        ],
    }
}

/// Returns the nanoseconds to allocate and free a block of 64 bytes.
fn blocks(allocator: &impl GlobalAlloc) -> f64 {
    owner!("bench");
    let layout = Layout::from_size_align(64, 8).expect("it is one");
    time_each(SCOPES, || {
        for _ in 0..SCOPES {
            // SAFETY: the layout has a nonzero size, and the block is freed with the same layout.
            unsafe {
                let block = black_box(allocator.alloc(layout));
                allocator.dealloc(block, layout);
            }
        }
    })
}

fn memory() -> Group {
    let (plain, counted) = (blocks(&UncountedAllocator), blocks(&CountingAllocator));
    Group {
        name: "memory",
        title: "the cost of tracking the owners of memory",
        workload: "10,000 blocks of 64 bytes, each allocated and freed.",
        rows: vec![
            row("mimalloc alone", plain, "ns", None),
            row("under an owner", counted, "ns", None),
        ],
    }
}
