//! The render thread. It receives packets and commands, and returns empty packets, events and
//! statistics. It processes every packet in order; one packet may wait. Draws nothing itself.
//!
//! A process that is asked to end does not wait for frames that no capture needs, because a
//! software adapter can take seconds for one frame. The thread is then left behind, see
//! [`has_abandoned_thread`]. The same happens if the adapter does not finish a frame.

use super::device::hang_message;
use super::frame_renderer::{FrameRenderer, RenderCommand};
use super::{FrameStatistics, RendererEvent};
use engine_foundation::memory::OwnerScope;
use engine_foundation::{Error, panic};
use engine_frame_packet::FramePacket;
use engine_platform as platform;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Empty packets that are kept for reuse.
const SPARE_PACKETS_MAX: usize = 3;

/// Sleep time between two checks whether the process is asked to end, or a frame takes too long.
const END_CHECK_INTERVAL: Duration = Duration::from_millis(20);

static THREAD_ABANDONED: AtomicBool = AtomicBool::new(false);

/// Returns true if a render thread still draws that the process did not wait for. The process must
/// then end without destroying the resources of that thread.
pub fn has_abandoned_thread() -> bool {
    THREAD_ABANDONED.load(Ordering::Relaxed)
}

/// Makes the process end without destroying the resources of a renderer that it does not wait for.
pub(super) fn abandon() {
    THREAD_ABANDONED.store(true, Ordering::Relaxed);
}

#[derive(Default)]
struct ThreadState {
    waiting: Option<FramePacket>,
    empty: Vec<FramePacket>,
    commands: Vec<RenderCommand>,
    events: Vec<RendererEvent>,
    statistics: FrameStatistics,
    submitted: u64,
    taken: u64,
    done: u64,
    /// Number of the last packet with a capture.
    last_capture: u64,
    closing: bool,
    /// The thread has ended: packets are not processed any more.
    dead: bool,
    /// Number of the frame that is drawn now, and when that began.
    current: Option<(u64, Instant)>,
    /// The thread did not finish a frame in time, and nobody waits for it any more.
    hung: bool,
}

#[derive(Default)]
struct RenderShared {
    state: Mutex<ThreadState>,
    changed: Condvar,
    /// Maximum time of a frame, if it is limited.
    limit: Option<Duration>,
}

impl RenderShared {
    fn lock(&self) -> MutexGuard<'_, ThreadState> {
        self.state.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    fn wait<'a>(
        &'a self,
        state: MutexGuard<'a, ThreadState>,
        until: impl Fn(&ThreadState) -> bool,
    ) -> MutexGuard<'a, ThreadState> {
        let waits = |state: &mut ThreadState| !until(state) && !state.dead;
        self.changed.wait_while(state, waits).unwrap_or_else(|poison| poison.into_inner())
    }

    /// Gives the thread up if it has drawn a frame for too long. Returns true if so.
    fn give_up_if_hung(&self, state: &mut ThreadState) -> bool {
        let Some(limit) = self.limit else { return false };
        let Some((frame, _)) = state.current.filter(|(_, begun)| begun.elapsed() >= limit) else {
            return false;
        };
        (state.dead, state.hung) = (true, true);
        state.commands.clear();
        state.events.push(RendererEvent::Failed { message: hang_message(frame, limit) });
        self.changed.notify_all();
        true
    }

    /// Waits like `wait`, but gives up if a frame takes too long, or if the process is asked to
    /// end and `may_give_up` returns true.
    fn wait_unless_ending<'a>(
        &'a self,
        mut state: MutexGuard<'a, ThreadState>,
        until: impl Fn(&ThreadState) -> bool,
        may_give_up: impl Fn(&ThreadState) -> bool,
    ) -> MutexGuard<'a, ThreadState> {
        while !until(&state) && !state.dead {
            let is_ending = platform::end_requested().is_some() && may_give_up(&state);
            if is_ending || self.give_up_if_hung(&mut state) {
                return state;
            }
            let waited = self.changed.wait_timeout(state, END_CHECK_INTERVAL);
            state = waited.unwrap_or_else(|poison| poison.into_inner()).0;
        }
        state
    }
}

/// The game's side of the render thread.
pub struct RenderThread {
    shared: Arc<RenderShared>,
    handle: Option<std::thread::JoinHandle<()>>,
    /// If true, `submit` waits until the thread takes the packet: the frame is visible, so the next
    /// one should use newer input.
    paced: bool,
}

impl RenderThread {
    /// Starts the thread. `limit` is the maximum time of a frame.
    pub fn start(
        renderer: FrameRenderer,
        paced: bool,
        limit: Option<Duration>,
    ) -> std::io::Result<RenderThread> {
        let shared = Arc::new(RenderShared { limit, ..RenderShared::default() });
        let thread_shared = Arc::clone(&shared);
        let run = move || {
            OwnerScope::of_thread("renderer");
            let mut renderer = renderer;
            run(&thread_shared, &mut renderer);
        };
        let handle = panic::spawn("render", run)?;
        Ok(RenderThread { shared, handle: Some(handle), paced })
    }

    pub fn submit(&self, mut packet: FramePacket) -> FramePacket {
        let has_captures = !packet.captures.is_empty();
        let free = |state: &ThreadState| state.waiting.is_none();
        let mut state = self.shared.wait_unless_ending(self.shared.lock(), free, |_| !has_captures);
        if state.dead || state.waiting.is_some() {
            packet.clear();
            return packet;
        }
        state.waiting = Some(packet);
        state.submitted += 1;
        let number = state.submitted;
        state.last_capture = if has_captures { number } else { state.last_capture };
        self.shared.changed.notify_all();
        if self.paced {
            state = self.shared.wait_unless_ending(state, |state| state.taken >= number, |_| true);
        }
        state.empty.pop().unwrap_or_default()
    }

    pub fn command(&self, command: RenderCommand) {
        let mut state = self.shared.lock();
        // If a command is dropped, the receiver of its answer gets an error.
        if !state.dead {
            state.commands.push(command);
        }
        drop(state);
        self.shared.changed.notify_all();
    }

    pub fn events(&self) -> Vec<RendererEvent> {
        std::mem::take(&mut self.shared.lock().events)
    }

    pub fn statistics(&self) -> FrameStatistics {
        self.shared.lock().statistics.clone()
    }

    pub fn finish(&self) {
        let done = |state: &ThreadState| state.done >= state.submitted;
        let may_give_up = |state: &ThreadState| state.done >= state.last_capture;
        drop(self.shared.wait_unless_ending(self.shared.lock(), done, may_give_up));
    }
}

impl Drop for RenderThread {
    fn drop(&mut self) {
        // Submitted packets are drawn: packets are never dropped.
        self.finish();
        let mut state = self.shared.lock();
        let idle = !state.hung && (state.dead || state.done >= state.submitted);
        state.closing = true;
        drop(state);
        self.shared.changed.notify_all();
        if !idle {
            abandon();
            return;
        }
        if let Some(handle) = self.handle.take() {
            // A panic of the thread was caught and reported.
            let _ = handle.join();
        }
    }
}

/// The receiver of a thread's packets, which draws them.
trait PacketSink {
    /// Acquires the window's next frame.
    fn acquire(&mut self);
    fn command(&mut self, command: RenderCommand);
    fn packet(&mut self, packet: &FramePacket);
    /// Recovers from a panic inside of one of these functions, of which this is the error.
    fn recover_from_panic(&mut self, packet: Option<&FramePacket>, error: &Error);
    fn take_events(&mut self) -> Vec<RendererEvent>;
    fn statistics(&self) -> &FrameStatistics;
}

impl PacketSink for FrameRenderer {
    fn acquire(&mut self) {
        FrameRenderer::acquire(self);
    }

    fn command(&mut self, command: RenderCommand) {
        FrameRenderer::command(self, command);
    }

    fn packet(&mut self, packet: &FramePacket) {
        FrameRenderer::packet(self, packet);
    }

    fn recover_from_panic(&mut self, packet: Option<&FramePacket>, error: &Error) {
        FrameRenderer::recover_from_panic(self, packet, error);
    }

    fn take_events(&mut self) -> Vec<RendererEvent> {
        FrameRenderer::take_events(self)
    }

    fn statistics(&self) -> &FrameStatistics {
        FrameRenderer::statistics(self)
    }
}

/// Runs the thread from its start to its end.
fn run(shared: &RenderShared, sink: &mut impl PacketSink) {
    let outcome = panic::contain(|| work(shared, sink));
    let mut state = shared.lock();
    state.dead = true;
    state.commands.clear();
    if let Err(error) = outcome
        && !state.closing
        && !state.hung
    {
        let message = format!("the render thread ended: {}", error.message);
        state.events.push(RendererEvent::Failed { message });
    }
    shared.changed.notify_all();
}

/// Runs one operation of the sink, and recovers from a panic in it, if possible.
fn contained<D: PacketSink>(sink: &mut D, packet: Option<&FramePacket>, work: impl FnOnce(&mut D)) {
    if let Err(error) = panic::contain(|| work(sink)) {
        sink.recover_from_panic(packet, &error);
    }
}

/// Processes commands and packets until the thread is closed.
fn work(shared: &RenderShared, sink: &mut impl PacketSink) {
    loop {
        contained(sink, None, PacketSink::acquire);
        let has_work = |state: &ThreadState| {
            state.waiting.is_some() || !state.commands.is_empty() || state.closing
        };
        // A thread that was given up ends here.
        let mut state = shared.wait(shared.lock(), has_work);
        if state.closing || state.hung {
            return;
        }
        let commands = std::mem::take(&mut state.commands);
        let packet = state.waiting.take();
        state.taken += u64::from(packet.is_some());
        state.current = packet.as_ref().map(|packet| (packet.frame, Instant::now()));
        state.events.append(&mut sink.take_events());
        drop(state);
        shared.changed.notify_all();
        for command in commands {
            contained(sink, None, |sink| sink.command(command));
        }
        let Some(mut packet) = packet else { continue };
        contained(sink, Some(&packet), |sink| {
            engine_foundation::scope!("draw");
            sink.packet(&packet);
        });
        packet.clear();
        let mut state = shared.lock();
        state.done += 1;
        state.current = None;
        state.events.append(&mut sink.take_events());
        state.statistics.clone_from(sink.statistics());
        if state.empty.len() < SPARE_PACKETS_MAX {
            state.empty.push(packet);
        }
        drop(state);
        shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sink that panics at the packets of these numbers, and at a command.
    #[derive(Default)]
    struct Clumsy {
        panics: Vec<u64>,
        packets: u64,
        survived: Vec<String>,
        events: Vec<RendererEvent>,
        statistics: FrameStatistics,
    }

    impl PacketSink for Clumsy {
        fn acquire(&mut self) {}

        fn command(&mut self, _: RenderCommand) {
            panic!("no such window");
        }

        fn packet(&mut self, _: &FramePacket) {
            self.packets += 1;
            assert!(!self.panics.contains(&self.packets), "packet {} fell", self.packets);
        }

        fn recover_from_panic(&mut self, packet: Option<&FramePacket>, error: &Error) {
            self.survived.push(format!("{} {}", packet.is_some(), error.message));
            self.events.push(RendererEvent::Fault { message: error.message.clone() });
        }

        fn take_events(&mut self) -> Vec<RendererEvent> {
            std::mem::take(&mut self.events)
        }

        fn statistics(&self) -> &FrameStatistics {
            &self.statistics
        }
    }

    #[test]
    fn a_panic_while_drawing_drops_one_packet() {
        let shared: Arc<RenderShared> = Arc::default();
        let thread_shared = Arc::clone(&shared);
        let drawing = std::thread::spawn(move || {
            let mut clumsy = Clumsy { panics: vec![2], ..Clumsy::default() };
            run(&thread_shared, &mut clumsy);
            clumsy
        });
        let thread = RenderThread { shared, handle: None, paced: false };
        thread.submit(FramePacket::default());
        thread.submit(FramePacket::default());
        thread.finish();
        thread.command(RenderCommand::LoseDevice);
        thread.submit(FramePacket::default());
        thread.finish();
        assert_eq!(thread.events().len(), 2, "both panics are reported");
        drop(thread);
        let clumsy = drawing.join().unwrap();
        assert_eq!(clumsy.packets, 3);
        assert!(clumsy.survived[0].starts_with("true ") && clumsy.survived[0].contains("2 fell"));
        assert!(clumsy.survived[1].starts_with("false "), "{:?}", clumsy.survived);
    }

    /// A sink whose first packet does not end before the sender is dropped.
    struct Endless(std::sync::mpsc::Receiver<()>, FrameStatistics);

    impl PacketSink for Endless {
        fn acquire(&mut self) {}

        fn command(&mut self, _: RenderCommand) {}

        fn packet(&mut self, _: &FramePacket) {
            // The sender is dropped, not used.
            let _ = self.0.recv();
        }

        fn recover_from_panic(&mut self, _: Option<&FramePacket>, _: &Error) {}

        fn take_events(&mut self) -> Vec<RendererEvent> {
            Vec::new()
        }

        fn statistics(&self) -> &FrameStatistics {
            &self.1
        }
    }

    #[test]
    fn a_frame_without_end_is_reported_and_not_waited_for() {
        let limit = Some(Duration::from_millis(50));
        let shared = Arc::new(RenderShared { limit, ..RenderShared::default() });
        let thread_shared = Arc::clone(&shared);
        let (end, wait) = std::sync::mpsc::channel();
        let drawing = std::thread::spawn(move || {
            run(&thread_shared, &mut Endless(wait, FrameStatistics::default()));
        });
        let thread = RenderThread { shared, handle: None, paced: false };
        thread.submit(FramePacket { frame: 60, ..FramePacket::default() });
        thread.finish();
        let events = thread.events();
        let [RendererEvent::Failed { message }] = &events[..] else {
            panic!("the hang is reported once");
        };
        assert!(message.starts_with("the adapter has not finished frame 60 in 0 s"), "{message}");
        // Nothing waits for the thread any more.
        thread.submit(FramePacket::default());
        thread.finish();
        assert_eq!(thread.events(), []);
        drop(end);
        drawing.join().unwrap();
        drop(thread);
        assert!(has_abandoned_thread());
    }
}
