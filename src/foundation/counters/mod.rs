//! Statistics: counters with names like paths, each a number that is added up during a frame and is
//! zero when the next one begins. After Niklas Gray's "Simple Statistics" (The Machinery, 2020).
//!
//! A place in the code counts with [`counter!`](crate::counter), from any thread:
//!
//! ```text
//! counter!("renderer/draw_calls") += 1;
//! ```
//!
//! Every thread adds to an array of its own, without locks; a counter's place in it never moves.
//! At the frame's end [`push`] sums them up. Only counters that are watched keep a history.
//! Counters are never deleted. Knows no clocks and no scripts.

mod block;
mod board;
mod export;
mod registry;

use block::Block;
use board::Board;
use std::ops::{AddAssign, Deref, DerefMut};
use std::sync::Mutex;

pub use board::{ALARMS_MAX, Alarmed, HISTORY_FRAMES, WATCHED_MAX};
pub use export::{EXPORT_VALUES_MAX, Form};
pub use registry::{COUNTERS_MAX, NAME_BYTES_MAX, Site, counter, find, name_of, names};

/// Adds to a counter of this thread: `counter!("gui/objects") += 1;`
#[macro_export]
macro_rules! counter {
    ($name:literal) => {
        *$crate::foundation::counters::Place::of({
            static SITE: $crate::foundation::counters::Site =
                $crate::foundation::counters::Site::new($name);
            &SITE
        })
    };
}

/// Where a counter stands in this thread's array. Made by [`counter!`](crate::counter).
pub struct Place(Sum);

/// What can be added to.
pub struct Sum {
    block: &'static Block,
    number: u32,
}

impl Place {
    #[inline(always)]
    pub fn of(site: &Site) -> Place {
        Place(Sum { block: block::own(), number: site.number() })
    }
}

impl Deref for Place {
    type Target = Sum;
    fn deref(&self) -> &Sum {
        &self.0
    }
}

impl DerefMut for Place {
    fn deref_mut(&mut self) -> &mut Sum {
        &mut self.0
    }
}

macro_rules! adds {
    ($($t:ty)*) => {
        $(impl AddAssign<$t> for Sum {
            #[inline(always)]
            fn add_assign(&mut self, amount: $t) {
                self.block.add(self.number, amount as f64);
            }
        })*
    };
}

adds!(f64 i32 u32 i64 u64 usize);

/// Adds to a counter by its number, as [`counter`] gave it.
#[inline]
pub fn add(number: u32, amount: f64) {
    block::own().add(number, amount);
}

/// The address of a counter's number in this thread's array: for whoever adds to it by itself, on
/// this thread alone. It holds for as long as the process lives.
pub fn address(number: u32) -> *mut f64 {
    block::own().address(number)
}

/// The number of a scope's counter; 0, the one that nobody reads, where there is no room.
pub fn scope_counter(path: &str) -> u32 {
    let mut end = path.len().min(NAME_BYTES_MAX);
    while !path.is_char_boundary(end) {
        end -= 1;
    }
    let clean: String = path[..end].chars().filter(|letter| !letter.is_control()).collect();
    let clean: Vec<_> = clean.split('/').filter(|part| !part.trim().is_empty()).collect();
    counter(&clean.join("/")).unwrap_or(0)
}

static BOARD: Mutex<Option<Board>> = Mutex::new(None);

fn with<R>(f: impl FnOnce(&mut Board) -> R) -> R {
    crate::owner!("statistics");
    let mut board = BOARD.lock().unwrap_or_else(|poison| poison.into_inner());
    f(board.get_or_insert_with(Board::new))
}

/// Ends a frame: what all threads added is the newest value of each counter, and this thread's
/// begin at zero again. To be called by the thread that plays the frames.
pub fn push() {
    let (own, count) = (block::own(), registry::count());
    with(|board| board.push(own, &block::others(own), count));
}

/// What a counter came to in the last frame.
pub fn newest(number: u32) -> f64 {
    with(|board| board.newest(number))
}

/// Every counter with what it came to in the last frame, in the order of their making.
pub fn all() -> Vec<(&'static str, f64)> {
    let names = names();
    with(|board| {
        let values = (1..).map(|number| board.newest(number));
        names.into_iter().zip(values).collect()
    })
}

/// How many frames were pushed.
pub fn frames() -> u64 {
    with(|board| board.frame)
}

/// Keeps the history of a counter from now on: its last [`HISTORY_FRAMES`] values.
///
/// # Errors
/// Where [`WATCHED_MAX`] others are watched.
pub fn watch(number: u32) -> Result<(), crate::foundation::Error> {
    with(|board| board.watch(number))
}

/// Ends one [`watch`]; the history goes with the last one.
pub fn unwatch(number: u32) {
    with(|board| board.unwatch(number));
}

/// The values of a watched counter, oldest first, the last `count` of them at most.
pub fn history(number: u32, count: usize) -> Option<Vec<f64>> {
    with(|board| board.history(number, count))
}

/// Has a counter's rise above a limit told by [`take_alarms`].
///
/// # Errors
/// Where [`ALARMS_MAX`] alarms are set.
pub fn set_alarm(number: u32, limit: f64) -> Result<(), crate::foundation::Error> {
    with(|board| board.set_alarm(number, limit))
}

/// Whether there was an alarm.
pub fn remove_alarm(number: u32) -> bool {
    with(|board| board.remove_alarm(number))
}

/// What rose above its limit since the last time.
pub fn take_alarms() -> Vec<Alarmed> {
    with(|board| std::mem::take(&mut board.alarmed))
}

/// Keeps what every counter comes to in every frame from now on, for [`exported`].
pub fn begin_export() {
    with(|board| board.export = Some(export::Export::default()));
}

/// All that was kept since [`begin_export`], as a table of frames and counters. The second is how
/// many frames found no room, at the end.
pub fn exported(form: Form) -> (String, u64) {
    with(|board| board.export.as_ref().map_or_else(Default::default, |export| export.write(form)))
}

/// Forgets values, histories, watches and alarms: another game begins in this process. Counters
/// keep their numbers.
pub fn forget() {
    let own = block::own();
    own.clear();
    with(|board| {
        let export = board.export.take();
        *board = Board::new();
        board.push(own, &block::others(own), registry::count());
        board.export = export;
        board.frame = 0;
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_added_to_from_rust_and_pushed() {
        let _alone = crate::foundation::profile::exclusive();
        forget();
        let number = counter("tests/added").unwrap();
        for _ in 0..3 {
            counter!("tests/added") += 1;
        }
        counter!("tests/added") += 0.5;
        std::thread::spawn(|| counter!("tests/added") += 10usize).join().unwrap();
        push();
        assert_eq!((newest(number), name_of(number)), (13.5, "tests/added"));
        push();
        assert_eq!(newest(number), 0.0);
        // SAFETY: this thread's own number, which nobody else uses meanwhile.
        unsafe { *address(number) += 4.0 };
        push();
        assert_eq!(newest(number), 4.0);
        assert!(all().contains(&("tests/added", 4.0)));
    }

    #[test]
    fn a_scope_has_a_counter_whatever_it_is_called() {
        let number = scope_counter("scopes//odd\n/ /name/");
        assert_eq!(name_of(number), "scopes/odd/name");
        assert_eq!(name_of(scope_counter(&"ä".repeat(100))).len(), NAME_BYTES_MAX);
    }
}
