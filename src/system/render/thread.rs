//! The render thread: packets and commands go in, empty packets, events and figures come out.
//! Packets are taken up in order, every one; one may wait. Draws nothing itself.
//!
//! A process that is asked to end does not wait for pictures that nobody asked to keep, for a
//! processor can draw at one of them for seconds: the thread is left behind then, see
//! [`is_left_behind`].

use super::painter::{Command, Painter};
use super::{Event, Statistics};
use crate::foundation::memory::Owner;
use crate::foundation::{Error, fault};
use crate::packet::Packet;
use crate::system::platform;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Empty packets that are kept for reuse.
const PACKETS_KEPT: usize = 3;

/// How long is slept between two looks at whether the process is asked to end.
const LOOK: Duration = Duration::from_millis(20);

static LEFT_BEHIND: AtomicBool = AtomicBool::new(false);

/// Whether a thread still draws of which nobody waits for the end: its process must end without
/// taking down what it draws with.
pub fn is_left_behind() -> bool {
    LEFT_BEHIND.load(Ordering::Relaxed)
}

#[derive(Default)]
struct State {
    waiting: Option<Packet>,
    empty: Vec<Packet>,
    commands: Vec<Command>,
    events: Vec<Event>,
    statistics: Statistics,
    submitted: u64,
    taken: u64,
    done: u64,
    /// The last one that somebody wants a picture of.
    wanted: u64,
    closing: bool,
    /// The thread is gone: nobody takes packets up.
    dead: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    fn wait<'a>(
        &'a self,
        state: MutexGuard<'a, State>,
        until: impl Fn(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        let waits = |state: &mut State| !until(state) && !state.dead;
        self.changed.wait_while(state, waits).unwrap_or_else(|poison| poison.into_inner())
    }

    /// The same, given up where the process is asked to end and `may` says so.
    fn wait_a_while<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        until: impl Fn(&State) -> bool,
        may: impl Fn(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        while !until(&state) && !state.dead {
            if platform::asked_to_end().is_some() && may(&state) {
                return state;
            }
            let waited = self.changed.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(|poison| poison.into_inner()).0;
        }
        state
    }
}

/// The thread, seen from outside.
pub struct Thread {
    shared: Arc<Shared>,
    handle: Option<std::thread::JoinHandle<()>>,
    /// A packet counts as handed over when it is taken up: somebody sees it, and the next one shall
    /// be made of newer input.
    paced: bool,
}

impl Thread {
    pub fn start(painter: Painter, paced: bool) -> std::io::Result<Thread> {
        let shared: Arc<Shared> = Arc::default();
        let theirs = Arc::clone(&shared);
        let run = move || {
            Owner::of_thread("renderer");
            let mut painter = painter;
            run(&theirs, &mut painter);
        };
        let handle = fault::spawn("render", run)?;
        Ok(Thread { shared, handle: Some(handle), paced })
    }

    pub fn submit(&self, mut packet: Packet) -> Packet {
        let kept = !packet.captures.is_empty();
        let free = |state: &State| state.waiting.is_none();
        let mut state = self.shared.wait_a_while(self.shared.lock(), free, |_| !kept);
        if state.dead || state.waiting.is_some() {
            packet.clear();
            return packet;
        }
        state.waiting = Some(packet);
        state.submitted += 1;
        let number = state.submitted;
        state.wanted = if kept { number } else { state.wanted };
        self.shared.changed.notify_all();
        if self.paced {
            state = self.shared.wait_a_while(state, |state| state.taken >= number, |_| true);
        }
        state.empty.pop().unwrap_or_default()
    }

    pub fn command(&self, command: Command) {
        let mut state = self.shared.lock();
        // Whoever waits for an answer learns that there is none where the command is dropped.
        if !state.dead {
            state.commands.push(command);
        }
        drop(state);
        self.shared.changed.notify_all();
    }

    pub fn events(&self) -> Vec<Event> {
        std::mem::take(&mut self.shared.lock().events)
    }

    pub fn statistics(&self) -> Statistics {
        self.shared.lock().statistics.clone()
    }

    pub fn finish(&self) {
        let done = |state: &State| state.done >= state.submitted;
        let may = |state: &State| state.done >= state.wanted;
        drop(self.shared.wait_a_while(self.shared.lock(), done, may));
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // What was handed over is drawn: packets are never dropped.
        self.finish();
        let mut state = self.shared.lock();
        let idle = state.dead || state.done >= state.submitted;
        state.closing = true;
        drop(state);
        self.shared.changed.notify_all();
        if !idle {
            LEFT_BEHIND.store(true, Ordering::Relaxed);
            return;
        }
        if let Some(handle) = self.handle.take() {
            // Its panic was caught and told.
            let _ = handle.join();
        }
    }
}

/// What draws the packets of a thread.
trait Draws {
    /// Gets hold of the window's next picture.
    fn acquire(&mut self);
    fn command(&mut self, command: Command);
    fn packet(&mut self, packet: &Packet);
    /// Goes on after a panic inside of one of these, of which this is the error.
    fn survive(&mut self, packet: Option<&Packet>, error: &Error);
    fn take_events(&mut self) -> Vec<Event>;
    fn statistics(&self) -> &Statistics;
}

impl Draws for Painter {
    fn acquire(&mut self) {
        Painter::acquire(self);
    }

    fn command(&mut self, command: Command) {
        Painter::command(self, command);
    }

    fn packet(&mut self, packet: &Packet) {
        Painter::packet(self, packet);
    }

    fn survive(&mut self, packet: Option<&Packet>, error: &Error) {
        Painter::survive(self, packet, error);
    }

    fn take_events(&mut self) -> Vec<Event> {
        Painter::take_events(self)
    }

    fn statistics(&self) -> &Statistics {
        Painter::statistics(self)
    }
}

/// The thread from its start to its end.
fn run(shared: &Shared, painter: &mut impl Draws) {
    let outcome = fault::contain(|| work(shared, painter));
    let mut state = shared.lock();
    state.dead = true;
    state.commands.clear();
    if let Err(error) = outcome
        && !state.closing
    {
        let words = format!("the render thread ended: {}", error.message);
        state.events.push(Event::Failed { words });
    }
    shared.changed.notify_all();
}

/// Does one thing with what draws. A panic in it is survived, as far as that goes.
fn contained<D: Draws>(painter: &mut D, packet: Option<&Packet>, work: impl FnOnce(&mut D)) {
    if let Err(error) = fault::contain(|| work(painter)) {
        painter.survive(packet, &error);
    }
}

/// What the thread does until it is closed.
fn work(shared: &Shared, painter: &mut impl Draws) {
    loop {
        contained(painter, None, Draws::acquire);
        let something =
            |state: &State| state.waiting.is_some() || !state.commands.is_empty() || state.closing;
        let mut state = shared.wait(shared.lock(), something);
        if state.closing {
            return;
        }
        let commands = std::mem::take(&mut state.commands);
        let packet = state.waiting.take();
        state.taken += u64::from(packet.is_some());
        state.events.append(&mut painter.take_events());
        drop(state);
        shared.changed.notify_all();
        for command in commands {
            contained(painter, None, |painter| painter.command(command));
        }
        let Some(mut packet) = packet else { continue };
        contained(painter, Some(&packet), |painter| {
            crate::scope!("draw");
            painter.packet(&packet);
        });
        packet.clear();
        let mut state = shared.lock();
        state.done += 1;
        state.events.append(&mut painter.take_events());
        state.statistics.clone_from(painter.statistics());
        if state.empty.len() < PACKETS_KEPT {
            state.empty.push(packet);
        }
        drop(state);
        shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Panics at the packets of these numbers, and at a command.
    #[derive(Default)]
    struct Clumsy {
        panics: Vec<u64>,
        packets: u64,
        survived: Vec<String>,
        events: Vec<Event>,
        statistics: Statistics,
    }

    impl Draws for Clumsy {
        fn acquire(&mut self) {}

        fn command(&mut self, _: Command) {
            panic!("no such window");
        }

        fn packet(&mut self, _: &Packet) {
            self.packets += 1;
            assert!(!self.panics.contains(&self.packets), "packet {} fell", self.packets);
        }

        fn survive(&mut self, packet: Option<&Packet>, error: &Error) {
            self.survived.push(format!("{} {}", packet.is_some(), error.message));
            self.events.push(Event::Fault { words: error.message.clone() });
        }

        fn take_events(&mut self) -> Vec<Event> {
            std::mem::take(&mut self.events)
        }

        fn statistics(&self) -> &Statistics {
            &self.statistics
        }
    }

    #[test]
    fn a_panic_while_drawing_costs_one_packet() {
        let shared: Arc<Shared> = Arc::default();
        let theirs = Arc::clone(&shared);
        let drawing = std::thread::spawn(move || {
            let mut clumsy = Clumsy { panics: vec![2], ..Clumsy::default() };
            run(&theirs, &mut clumsy);
            clumsy
        });
        let thread = Thread { shared, handle: None, paced: false };
        thread.submit(Packet::default());
        thread.submit(Packet::default());
        thread.finish();
        thread.command(Command::LoseDevice);
        thread.submit(Packet::default());
        thread.finish();
        assert_eq!(thread.events().len(), 2, "both panics are told");
        drop(thread);
        let clumsy = drawing.join().unwrap();
        assert_eq!(clumsy.packets, 3);
        assert!(clumsy.survived[0].starts_with("true ") && clumsy.survived[0].contains("2 fell"));
        assert!(clumsy.survived[1].starts_with("false "), "{:?}", clumsy.survived);
    }
}
