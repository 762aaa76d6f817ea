//! The link between a stopped script and the main loop: the connection of tools, the display, and
//! the messages and input that arrive meanwhile.

use super::stopped_game::StoppedGame;
use super::worker_debugger::DebuggedWorkers;
use crate::display::Display;
use crate::frame_input::FrameInput;
use engine_foundation::sjson::SjsonTree;
use engine_remote::{ClientEvent, ClientEventKind, RemoteServer};
use engine_runtime::Engine;
use engine_window::WindowChange;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of messages that wait for the script to continue. More are refused.
const DEFERRED_MAX: usize = 1024;

/// Time between two polls of the window while a script waits for a stopped worker.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The connection of tools and the display, as a stopped script and the main loop share them.
pub struct PauseLink {
    pub server: RemoteServer,
    /// The game's folder.
    pub folder: PathBuf,
    /// Events that arrived while a script was stopped, and were not for the debugger.
    deferred: RefCell<VecDeque<ClientEvent>>,
    /// The display, while a callback runs that the debugger may stop.
    display: RefCell<Option<Display>>,
    /// Input that arrived while a script was stopped.
    input: RefCell<FrameInput>,
    /// True if a script was stopped since the last question.
    pub was_stopped: Cell<bool>,
    /// The number of clients.
    pub clients: Cell<usize>,
    /// Set by a stop, for the time after the callback has ended.
    pub replay: Cell<FrameReplay>,
    /// True after the tool has asked for the end of its session, or a restart, until that comes.
    pub leaves: Cell<bool>,
    /// True while the main loop plays a frame, which can be played again.
    pub plays_frame: Cell<bool>,
    /// The workers, while a tool debugs the game.
    pub workers: Arc<DebuggedWorkers>,
    /// The stop of a worker that is shown while a script of the game waits for it, with its event.
    worker_stop: RefCell<Option<(SjsonTree, StoppedGame)>>,
}

/// If a frame is played again after the debugger has stopped it.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub enum FrameReplay {
    #[default]
    Never,
    /// If a file was saved, because an error has stopped the frame.
    AfterFix,
    /// The tool asks for it.
    Asked,
}

impl PauseLink {
    pub fn new(server: RemoteServer, folder: PathBuf) -> Rc<PauseLink> {
        let workers = Arc::<DebuggedWorkers>::default();
        let filter = workers.clone();
        server.set_filter(Box::new(move |event| filter.filter(event)));
        Rc::new(PauseLink {
            server,
            folder,
            deferred: RefCell::default(),
            display: RefCell::default(),
            input: RefCell::default(),
            was_stopped: Cell::new(false),
            clients: Cell::new(0),
            replay: Cell::default(),
            leaves: Cell::new(false),
            plays_frame: Cell::new(false),
            workers,
            worker_stop: RefCell::default(),
        })
    }

    /// Returns if the stops of the last frame ask for another try.
    pub fn take_replay(&self) -> FrameReplay {
        self.replay.take()
    }

    /// Returns the next event of a client, if there is one.
    pub fn take(&self) -> Option<ClientEvent> {
        self.deferred.borrow_mut().pop_front().or_else(|| self.server.take())
    }

    /// Lends the display to scripts that the debugger stops.
    pub fn lend(&self, display: Display) {
        *self.display.borrow_mut() = Some(display);
    }

    /// Returns the lent display.
    pub fn take_display(&self) -> Option<Display> {
        self.display.borrow_mut().take()
    }

    /// Returns the input that arrived while scripts were stopped since the last call, and true if
    /// any script was.
    pub fn take_input(&self) -> (FrameInput, bool) {
        (std::mem::take(&mut *self.input.borrow_mut()), self.was_stopped.take())
    }

    /// Keeps an event for the time after the stop. Returns it if too many are waiting.
    pub fn defer(&self, event: ClientEvent) -> Option<ClientEvent> {
        let mut deferred = self.deferred.borrow_mut();
        if deferred.len() >= DEFERRED_MAX && matches!(event.kind, ClientEventKind::Message(..)) {
            return Some(event);
        }
        deferred.push_back(event);
        None
    }

    /// Shows the stop of a worker for which a script of the game waits, in the middle of a frame,
    /// or notes its end. If the player closes the window, the worker continues.
    pub fn show_worker_stop(&self, engine: &mut Engine) {
        let mut shown = self.worker_stop.borrow_mut();
        let Some(event) = self.workers.stop() else {
            if let Some((_, mut stopped)) = shown.take() {
                stopped.end(engine);
            }
            return;
        };
        self.was_stopped.set(true);
        let (_, stopped) = match shown.take_if(|(known, _)| *known == event) {
            Some(known) => shown.insert(known),
            None => {
                let mut stopped = StoppedGame::default();
                stopped.note(&event);
                shown.insert((event, stopped))
            }
        };
        stopped.begin(engine);
        if self.poll_window(engine, stopped) {
            self.workers.detach();
        }
        std::thread::sleep(POLL_INTERVAL);
    }

    /// Polls the window, so that the desktop does not take it for hung, and shows the stopped game
    /// in it. Returns true if the player wants to close it.
    pub fn poll_window(&self, engine: &mut Engine, stopped: &mut StoppedGame) -> bool {
        let mut display = self.display.borrow_mut();
        let Some(display) = &mut *display else { return false };
        let arrived = display.poll(engine).during_pause(None);
        stopped.show(display, engine, &arrived.changes);
        display.handle_events(engine);
        let closes =
            |change: &WindowChange| matches!(change, WindowChange::Close | WindowChange::Removed);
        let is_closed = arrived.changes.iter().any(closes);
        self.input.borrow_mut().append_limited(arrived);
        is_closed
    }
}
