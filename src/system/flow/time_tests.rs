//! Tests of timers and delays: how often they run, how they stop, and that none is left over.

use super::tests::{Game, compiled, native};
use super::*;

/// A graph with a timer that adds to a variable.
fn ticking(seconds: &str) -> String {
    format!(
        "variables = {{ ticks = {{ type = \"number\" }} }}\n\
         nodes = {{ t = {{ type = \"event.timer\" inputs = {{ seconds = {seconds} }} }} \
         go = {{ type = \"event.custom\" name = \"go\" }} \
         stop = {{ type = \"event.custom\" name = \"stop\" }} \
         d = {{ type = \"flow.delay\" inputs = {{ seconds = 100 }} }} \
         s = {{ type = \"flow.stop\" }} \
         l = {{ type = \"test.log\" inputs = {{ value = \"late\" }} }} \
         a = {{ type = \"variable.add\" variable = \"ticks\" }} }}\n\
         events = {{ \"t.out > a.in\" = true \"go.out > d.in\" = true \"d.out > l.in\" = true \
         \"stop.out > s.in\" = true }}"
    )
}

fn ticks(game: &Game) -> f64 {
    game.flow.variable(game.id, "ticks").unwrap().as_number()
}

#[test]
fn timers_do_not_drift_with_the_frame_rate() {
    for (rate, updates) in [(60.0, 63), (24.0, 26), (7.0, 8)] {
        let mut game = Game::new(&ticking("0.1"));
        (0..updates).for_each(|_| game.update(1.0 / rate));
        let seconds = f64::from(updates) / rate;
        assert_eq!(ticks(&game), (seconds / 0.1).floor(), "{rate}");
    }
}

#[test]
fn a_timer_runs_a_limited_number_of_times_in_one_update() {
    let mut game = Game::new(&ticking("0.1"));
    game.update(0.55);
    assert_eq!(ticks(&game), 5.0);
    game.update(100.0);
    assert_eq!(ticks(&game), 6.0, "those that were missed are left out");
    game.update(0.35);
    assert_eq!(ticks(&game), 9.0);
    let mut game = Game::new(&ticking("0"));
    (0..5).for_each(|_| game.update(0.1));
    assert_eq!(ticks(&game), 5.0);
}

#[test]
fn a_stop_ends_delays_and_leaves_timers() {
    let mut game = Game::new(&ticking("1"));
    game.event("go");
    game.update(0.5);
    game.event("stop");
    game.update(0.5);
    game.update(120.0);
    assert_eq!((game.taken().as_str(), ticks(&game)), ("", 2.0));
    game.event("go");
    game.update(100.0);
    assert_eq!(game.taken(), "late");
}

#[test]
fn cancelled_timers_and_those_of_ended_graphs_are_swept() {
    let mut game = Game::new(&ticking("1"));
    for _ in 0..20_000 {
        game.event("go");
        game.event("stop");
    }
    assert!(game.flow.timer_count() < 3000, "{}", game.flow.timer_count());
    for _ in 0..20_000 {
        let id = game.spawn();
        game.flow.raise(id, EventKind::Custom, "go", &[], 0);
        game.event("none");
        game.flow.destroy(id);
    }
    assert!(game.flow.timer_count() < 3000, "{}", game.flow.timer_count());
    game.update(1.0);
    assert_eq!(ticks(&game), 1.0);
}

#[test]
fn a_reload_starts_new_timers_and_keeps_events_that_wait() {
    let before =
        ticking("1").replace("t = { type = \"event.timer\" inputs = { seconds = 1 } } ", "");
    let before = before.replace("\"t.out > a.in\" = true ", "\"go.out > a.in\" = true ");
    let mut game = Game::new(&before);
    game.flow.raise(game.id, EventKind::Custom, "go", &[], 0);
    let after =
        ticking("1").replace("\"go.out > d.in\"", "\"go.out > a.in\" = true \"go.out > d.in\"");
    let program = compiled(&after, &[]).unwrap();
    assert!(game.flow.replace_program(game.program, program, &native).is_empty());
    game.run();
    assert_eq!(ticks(&game), 1.0, "the event was kept");
    game.update(1.0);
    assert_eq!(ticks(&game), 2.0, "the timer has started");
    // The same program again: the timer goes on, and does not start a second time.
    let program = compiled(&after, &[]).unwrap();
    game.flow.replace_program(game.program, program, &native);
    game.update(1.0);
    assert_eq!(ticks(&game), 3.0);
}
