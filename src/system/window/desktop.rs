//! Connection to the desktop and its native windows: opens windows, collects their events, and
//! executes the game's commands. native_window.rs has a single window. These two files alone use
//! the windowing library; event.rs has their events.

use super::display_loss;
use super::event::{DesktopError, DisplayMode, Monitor, WindowChange, WindowEvent};
use super::native_window::{NativeWindow, first_line, video_modes};
use super::{CursorMode, WindowCommand, WindowOptions};
use engine_foundation::compact_sort::CompactSort;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;
use winit::application::ApplicationHandler;
use winit::event::{DeviceEvent, DeviceId, WindowEvent as WinitEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::monitor::MonitorHandle;
use winit::platform::pump_events::{EventLoopExtPumpEvents, PumpStatus};
use winit::window::{Window as DesktopWindow, WindowId};

/// Maximum number of display modes that are reported for all monitors together.
const MODES_MAX: usize = 1024;

/// Connection to the desktop with its windows. The main window has no number.
pub struct Desktop {
    /// Listener that owns the windows, which must be dropped before the connection.
    listener: EventListener,
    events: EventLoop<()>,
    /// True if the display is lost; no further requests are sent to it.
    lost: bool,
}

impl Desktop {
    /// Opens the main window. Call it on the main thread, once per process.
    pub fn open(opening: &WindowOptions) -> Result<Desktop, DesktopError> {
        let events = EventLoop::new().map_err(|reason| DesktopError(first_line(&reason)))?;
        events.set_control_flow(ControlFlow::Poll);
        let listener =
            EventListener { waiting: vec![(None, opening.clone())], ..EventListener::default() };
        display_loss::watch(&events);
        let mut desktop = Desktop { listener, events, lost: false };
        // The window is created when the desktop is ready for it, usually at once.
        for _ in 0..100 {
            let wait = Some(Duration::from_millis(10));
            let _ = desktop.events.pump_app_events(wait, &mut desktop.listener);
            if let Some(problem) = desktop.listener.problem.take() {
                return Err(DesktopError(problem));
            }
            if !desktop.listener.windows.is_empty() {
                return Ok(desktop);
            }
        }
        Err(DesktopError("the desktop opened no window within a second".to_string()))
    }

    /// Returns the main window for the renderer.
    pub fn window(&self) -> Arc<DesktopWindow> {
        Arc::clone(&self.listener.windows[0].window)
    }

    /// Returns a secondary window if it is open.
    pub fn secondary(&self, number: u64) -> Option<Arc<DesktopWindow>> {
        let mut windows = self.listener.windows.iter();
        let found = windows.find(|window| window.number == Some(number));
        found.map(|found| Arc::clone(&found.window))
    }

    /// Requests a secondary window with this number. It opens during the next poll.
    pub fn open_secondary(&mut self, number: u64, opening: WindowOptions) {
        self.listener.waiting.push((Some(number), opening));
    }

    /// Closes a secondary window; its further events are ignored. The renderer must have released
    /// it.
    pub fn close_secondary(&mut self, number: u64) {
        if self.lost {
            return;
        }
        let EventListener { windows, waiting, pending_events, .. } = &mut self.listener;
        waiting.retain(|(waiting, _)| *waiting != Some(number));
        windows.retain(|window| {
            if window.number == Some(number) && window.focused {
                // No desktop reports the lost focus of a closed window, and keys would stay down.
                pending_events.push(WindowEvent::Change(WindowChange::Of(
                    number,
                    Box::new(WindowChange::Focus(false)),
                )));
            }
            window.number != Some(number)
        });
    }

    /// Returns the events since the last call, in their order. Waits at most `wait` for an event.
    pub fn poll(&mut self, wait: Duration) -> Vec<WindowEvent> {
        let status = self.with_display(|desktop| {
            let status = desktop.events.pump_app_events(Some(wait), &mut desktop.listener);
            let EventListener { windows, pending_events, .. } = &mut desktop.listener;
            for window in windows {
                window.poll_minimized(pending_events);
                window.retry_cursor_grab();
            }
            status
        });
        // The game never ends the event loop, so the connection was lost.
        if matches!(status, Some(PumpStatus::Exit(_))) {
            self.handle_display_loss();
        }
        std::mem::take(&mut self.listener.pending_events)
    }

    /// Returns true if the display is lost.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    fn handle_display_loss(&mut self) {
        if !std::mem::replace(&mut self.lost, true) {
            self.listener.pending_events.push(WindowEvent::Change(WindowChange::Removed));
        }
    }

    /// Runs a request to the display, unless the display is lost. If it is lost during the request,
    /// the windowing library panics or returns nothing.
    fn with_display<R>(&mut self, ask: impl FnOnce(&mut Desktop) -> R) -> Option<R> {
        if self.lost {
            return None;
        }
        let answer = catch_unwind(AssertUnwindSafe(|| ask(self)));
        if answer.is_err() && !display_loss::is_lost() {
            // Only polling the event loop detects that the connection is lost.
            let status = catch_unwind(AssertUnwindSafe(|| {
                self.events.pump_app_events(Some(Duration::ZERO), &mut self.listener)
            }));
            if matches!(status, Ok(PumpStatus::Exit(_))) {
                self.handle_display_loss();
            }
        }
        if display_loss::is_lost() {
            self.handle_display_loss();
        }
        match answer {
            Ok(answer) => Some(answer),
            Err(_) if self.lost => None,
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Returns true if a window was damaged since the last call and must be redrawn.
    pub fn take_exposed(&mut self) -> bool {
        std::mem::take(&mut self.listener.exposed)
    }

    /// Executes a command for a window. Returns the desktop's reason if it refuses.
    pub fn perform(&mut self, number: Option<u64>, command: WindowCommand) -> Result<(), String> {
        let result = self.with_display(|desktop| {
            let EventListener { windows, pending_events, .. } = &mut desktop.listener;
            match windows.iter_mut().find(|window| window.number == number) {
                Some(window) => window.perform(command, pending_events),
                None => Ok(()),
            }
        });
        result.unwrap_or(Ok(()))
    }
}

/// Event handler that collects desktop events until they are polled.
#[derive(Default)]
struct EventListener {
    /// Open windows, the main one first.
    windows: Vec<NativeWindow>,
    /// Windows that wait to be opened.
    waiting: Vec<(Option<u64>, WindowOptions)>,
    /// Reason why the main window could not be opened.
    problem: Option<String>,
    pending_events: Vec<WindowEvent>,
    exposed: bool,
}

impl EventListener {
    /// Opens the waiting windows. Windows can be created only inside the event loop.
    fn open(&mut self, active: &ActiveEventLoop) {
        for (number, opening) in std::mem::take(&mut self.waiting) {
            match NativeWindow::open(active, number, &opening, &mut self.pending_events) {
                Ok(window) => {
                    if number.is_none() {
                        send_monitors(&window, &mut self.pending_events);
                    }
                    self.windows.push(window);
                }
                Err(reason) => match number {
                    None => self.problem = Some(reason),
                    Some(number) => {
                        let title = &opening.title;
                        engine_foundation::log::error(&format!(
                            "the desktop opened no window \"{title}\": {reason}"
                        ));
                        self.pending_events.push(WindowEvent::Change(WindowChange::Of(
                            number,
                            Box::new(WindowChange::Removed),
                        )));
                    }
                },
            }
        }
    }
}

/// Reports the monitors and their display modes.
fn send_monitors(main: &NativeWindow, events: &mut Vec<WindowEvent>) {
    let handles: Vec<MonitorHandle> = main.window.available_monitors().collect();
    let modes = handles.iter().enumerate().flat_map(|(at, handle)| modes(at as u32 + 1, handle));
    let modes = modes.take(MODES_MAX).collect();
    events.push(WindowEvent::Change(WindowChange::Monitors(handles.iter().map(monitor).collect())));
    events.push(WindowEvent::Change(WindowChange::Modes(modes)));
}

fn monitor(handle: &MonitorHandle) -> Monitor {
    let (position, size) = (handle.position(), handle.size());
    Monitor {
        name: handle.name().unwrap_or_default(),
        position: (position.x, position.y),
        pixels: (size.width, size.height),
        scale: handle.scale_factor(),
        refresh: handle.refresh_rate_millihertz().map_or(0.0, |rate| f64::from(rate) / 1000.0),
    }
}

/// Returns the display modes of a monitor, smallest first, without duplicates.
fn modes(number: u32, handle: &MonitorHandle) -> Vec<DisplayMode> {
    let modes = video_modes(handle).into_iter().map(|mode| DisplayMode {
        monitor: number,
        pixels: (mode.size().width, mode.size().height),
        refresh: f64::from(mode.refresh_rate_millihertz()) / 1000.0,
        bits: mode.bit_depth(),
    });
    let mut modes: Vec<DisplayMode> = modes.collect();
    modes.sort_compact_by(|a, b| {
        let order = (a.pixels, a.bits).cmp(&(b.pixels, b.bits));
        order.then(a.refresh.total_cmp(&b.refresh))
    });
    modes.dedup();
    modes
}

impl ApplicationHandler for EventListener {
    fn resumed(&mut self, active: &ActiveEventLoop) {
        if self.windows.is_empty() && self.problem.is_none() {
            self.open(active);
        }
    }

    fn window_event(&mut self, _: &ActiveEventLoop, id: WindowId, event: WinitEvent) {
        let Some(at) = self.windows.iter().position(|window| window.window.id() == id) else {
            // An event of a window that the game has closed.
            return;
        };
        match event {
            WinitEvent::ModifiersChanged(modifiers) => {
                // A key may be pressed over one window and released over another.
                self.windows.iter_mut().for_each(|window| window.modifiers = modifiers.state());
            }
            WinitEvent::RedrawRequested => self.exposed = true,
            WinitEvent::ScaleFactorChanged { scale_factor, .. } => {
                self.windows[at].handle_scale_change(scale_factor, &mut self.pending_events);
                if at == 0 {
                    send_monitors(&self.windows[0], &mut self.pending_events);
                }
            }
            event => self.windows[at].handle_event(event, &mut self.pending_events),
        }
    }

    fn device_event(&mut self, _: &ActiveEventLoop, _: DeviceId, event: DeviceEvent) {
        let receives_motion = |window: &NativeWindow| {
            window.focused && (window.inside || window.mode == CursorMode::Lock)
        };
        if let DeviceEvent::MouseMotion { delta: (x, y) } = event
            && self.windows.iter().any(receives_motion)
        {
            self.pending_events.push(WindowEvent::MouseMotion { x: x as f32, y: -y as f32 });
        }
    }

    fn about_to_wait(&mut self, active: &ActiveEventLoop) {
        if !self.windows.is_empty() {
            self.open(active);
        }
        self.windows.iter_mut().for_each(|window| window.show_cursor_image(active));
    }
}
