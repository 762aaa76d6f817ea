//! The desktop: the connection to it and the game's windows there, opened, listened to, told the
//! game's wishes. What one window does is in shown.rs; these two alone speak to the windowing
//! library, and what they tell is in told.rs.

use super::lost;
use super::shown::{Shown, first_line};
use super::told::{Change, DisplayMode, Monitor, Told};
use super::{CursorMode, Opening, Wish};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;
use winit::application::ApplicationHandler;
use winit::event::{DeviceEvent, DeviceId, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::monitor::MonitorHandle;
use winit::platform::pump_events::{EventLoopExtPumpEvents, PumpStatus};
use winit::window::{Window as DesktopWindow, WindowId};

/// The most ways to show pictures that are told of all monitors together.
const MODES_MAX: usize = 1024;

/// Why there is no window: the desktop's words.
#[derive(Clone, Debug, PartialEq)]
pub struct NoDesktop(pub String);

/// The connection to the desktop, and the windows on it. The main one has no number.
pub struct Desktop {
    /// Holds the windows, which end before the connection.
    listener: Listener,
    events: EventLoop<()>,
    /// The display is gone: nothing is asked of it any more.
    lost: bool,
}

impl Desktop {
    /// Opens a window. On the main thread, and once in a process.
    pub fn open(opening: &Opening) -> Result<Desktop, NoDesktop> {
        let events = EventLoop::new().map_err(|reason| NoDesktop(first_line(&reason)))?;
        events.set_control_flow(ControlFlow::Poll);
        let listener = Listener { waiting: vec![(None, opening.clone())], ..Listener::default() };
        lost::watch(&events);
        let mut desktop = Desktop { listener, events, lost: false };
        // The window is made when the desktop says that it is ready for one: at once, mostly.
        for _ in 0..100 {
            let wait = Some(Duration::from_millis(10));
            let _ = desktop.events.pump_app_events(wait, &mut desktop.listener);
            if let Some(problem) = desktop.listener.problem.take() {
                return Err(NoDesktop(problem));
            }
            if !desktop.listener.windows.is_empty() {
                return Ok(desktop);
            }
        }
        Err(NoDesktop("the desktop opened no window within a second".to_string()))
    }

    /// The main window, for the renderer.
    pub fn window(&self) -> Arc<DesktopWindow> {
        Arc::clone(&self.listener.windows[0].window)
    }

    /// Another one, once it is there.
    pub fn other(&self, number: u64) -> Option<Arc<DesktopWindow>> {
        let mut windows = self.listener.windows.iter();
        let found = windows.find(|window| window.number == Some(number));
        found.map(|found| Arc::clone(&found.window))
    }

    /// Opens one more window, which is told by that number: when the desktop is listened to next.
    pub fn open_other(&mut self, number: u64, opening: Opening) {
        self.listener.waiting.push((Some(number), opening));
    }

    /// Closes it; what it tells is of no interest any more. The renderer must have let go of it.
    pub fn close_other(&mut self, number: u64) {
        if self.lost {
            return;
        }
        let Listener { windows, waiting, told, .. } = &mut self.listener;
        waiting.retain(|(waiting, _)| *waiting != Some(number));
        windows.retain(|window| {
            if window.number == Some(number) && window.focused {
                // No desktop tells that of one that is gone, and keys would stay down.
                told.push(Told::Change(Change::Of(number, Box::new(Change::Focus(false)))));
            }
            window.number != Some(number)
        });
    }

    /// What was told since the last time, in its order. Waits for something for at most so long.
    pub fn poll(&mut self, wait: Duration) -> Vec<Told> {
        let status = self.ask(|desktop| {
            let status = desktop.events.pump_app_events(Some(wait), &mut desktop.listener);
            let Listener { windows, told, .. } = &mut desktop.listener;
            for window in windows {
                window.look_if_minimized(told);
                window.hold_again();
            }
            status
        });
        // Nobody here ends the loop: the connection did.
        if matches!(status, Some(PumpStatus::Exit(_))) {
            self.lose();
        }
        std::mem::take(&mut self.listener.told)
    }

    /// Whether the display is gone.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    fn lose(&mut self) {
        if !std::mem::replace(&mut self.lost, true) {
            self.listener.told.push(Told::Change(Change::Gone));
        }
    }

    /// Asks something of the display, unless it is gone. Where it goes meanwhile, the windowing
    /// library panics or says nothing.
    fn ask<R>(&mut self, ask: impl FnOnce(&mut Desktop) -> R) -> Option<R> {
        if self.lost {
            return None;
        }
        let answer = catch_unwind(AssertUnwindSafe(|| ask(self)));
        if answer.is_err() && !lost::is_lost() {
            // Only listening finds out that the connection is gone.
            let status = catch_unwind(AssertUnwindSafe(|| {
                self.events.pump_app_events(Some(Duration::ZERO), &mut self.listener)
            }));
            if matches!(status, Ok(PumpStatus::Exit(_))) {
                self.lose();
            }
        }
        if lost::is_lost() {
            self.lose();
        }
        match answer {
            Ok(answer) => Some(answer),
            Err(_) if self.lost => None,
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Whether something spoiled a window since the last time, so that it must be drawn again.
    pub fn take_exposed(&mut self) -> bool {
        std::mem::take(&mut self.listener.exposed)
    }

    /// Does what the game wants of a window; the words say what the desktop refused.
    pub fn perform(&mut self, number: Option<u64>, wish: Wish) -> Result<(), String> {
        let done = self.ask(|desktop| {
            let Listener { windows, told, .. } = &mut desktop.listener;
            match windows.iter_mut().find(|window| window.number == number) {
                Some(window) => window.perform(wish, told),
                None => Ok(()),
            }
        });
        done.unwrap_or(Ok(()))
    }
}

/// Hears what the desktop tells, and keeps it until it is asked for.
#[derive(Default)]
struct Listener {
    /// The main one first.
    windows: Vec<Shown>,
    /// Those that are to be opened.
    waiting: Vec<(Option<u64>, Opening)>,
    /// Why the main one could not be opened.
    problem: Option<String>,
    told: Vec<Told>,
    exposed: bool,
}

impl Listener {
    /// Opens those that wait: only here can windows be made.
    fn open(&mut self, active: &ActiveEventLoop) {
        for (number, opening) in std::mem::take(&mut self.waiting) {
            match Shown::open(active, number, &opening, &mut self.told) {
                Ok(window) => {
                    if number.is_none() {
                        tell_monitors(&window, &mut self.told);
                    }
                    self.windows.push(window);
                }
                Err(reason) => match number {
                    None => self.problem = Some(reason),
                    Some(number) => {
                        let title = &opening.title;
                        crate::foundation::log::error(&format!(
                            "the desktop opened no window \"{title}\": {reason}"
                        ));
                        self.told.push(Told::Change(Change::Of(number, Box::new(Change::Gone))));
                    }
                },
            }
        }
    }
}

/// Tells which monitors there are, and what they can.
fn tell_monitors(main: &Shown, told: &mut Vec<Told>) {
    let handles: Vec<MonitorHandle> = main.window.available_monitors().collect();
    let modes = handles.iter().enumerate().flat_map(|(at, handle)| modes(at as u32 + 1, handle));
    let modes = modes.take(MODES_MAX).collect();
    told.push(Told::Change(Change::Monitors(handles.iter().map(monitor).collect())));
    told.push(Told::Change(Change::Modes(modes)));
}

fn monitor(handle: &MonitorHandle) -> Monitor {
    let (place, size) = (handle.position(), handle.size());
    Monitor {
        name: handle.name().unwrap_or_default(),
        position: (place.x, place.y),
        pixels: (size.width, size.height),
        scale: handle.scale_factor(),
        refresh: handle.refresh_rate_millihertz().map_or(0.0, |rate| f64::from(rate) / 1000.0),
    }
}

/// The modes of a monitor: the smallest first, each once.
fn modes(number: u32, handle: &MonitorHandle) -> Vec<DisplayMode> {
    let modes = handle.video_modes().map(|mode| DisplayMode {
        monitor: number,
        pixels: (mode.size().width, mode.size().height),
        refresh: f64::from(mode.refresh_rate_millihertz()) / 1000.0,
        bits: mode.bit_depth(),
    });
    let mut modes: Vec<DisplayMode> = modes.collect();
    modes.sort_by(|a, b| {
        let order = (a.pixels, a.bits).cmp(&(b.pixels, b.bits));
        order.then(a.refresh.total_cmp(&b.refresh))
    });
    modes.dedup();
    modes
}

impl ApplicationHandler for Listener {
    fn resumed(&mut self, active: &ActiveEventLoop) {
        if self.windows.is_empty() && self.problem.is_none() {
            self.open(active);
        }
    }

    fn window_event(&mut self, _: &ActiveEventLoop, id: WindowId, event: WindowEvent) {
        let Some(at) = self.windows.iter().position(|window| window.window.id() == id) else {
            // Of one that the game has closed.
            return;
        };
        match event {
            WindowEvent::ModifiersChanged(modifiers) => {
                // A key may go down over one window, and up over another.
                self.windows.iter_mut().for_each(|window| window.modifiers = modifiers.state());
            }
            WindowEvent::RedrawRequested => self.exposed = true,
            WindowEvent::ScaleFactorChanged { scale_factor, .. } => {
                self.windows[at].scaled(scale_factor, &mut self.told);
                if at == 0 {
                    tell_monitors(&self.windows[0], &mut self.told);
                }
            }
            event => self.windows[at].hear(event, &mut self.told),
        }
    }

    fn device_event(&mut self, _: &ActiveEventLoop, _: DeviceId, event: DeviceEvent) {
        let hears =
            |window: &Shown| window.focused && (window.inside || window.mode == CursorMode::Lock);
        if let DeviceEvent::MouseMotion { delta: (x, y) } = event
            && self.windows.iter().any(hears)
        {
            self.told.push(Told::MouseMotion { x: x as f32, y: -y as f32 });
        }
    }

    fn about_to_wait(&mut self, active: &ActiveEventLoop) {
        if !self.windows.is_empty() {
            self.open(active);
        }
        self.windows.iter_mut().for_each(|window| window.show_picture(active));
    }
}
