//! The desktop's own window: opened, listened to, told the game's wishes. The only place that
//! speaks to the windowing library; what it tells is in told.rs.

use super::told::{Change, Monitor, Told, Touched};
use super::{CursorMode, CursorShape, Fullscreen, Opening, Picture, Wish};
use std::sync::Arc;
use std::time::{Duration, Instant};
use winit::application::ApplicationHandler;
use winit::dpi::{LogicalPosition, LogicalSize, PhysicalPosition};
use winit::event::{
    DeviceEvent, DeviceId, ElementState, Ime, KeyEvent, MouseButton, MouseScrollDelta, Touch,
    TouchPhase, WindowEvent,
};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, ModifiersState, PhysicalKey};
use winit::monitor::MonitorHandle;
use winit::platform::modifier_supplement::KeyEventExtModifierSupplement;
use winit::platform::pump_events::EventLoopExtPumpEvents;
use winit::window::{
    Cursor, CursorGrabMode, CursorIcon, CustomCursor, Fullscreen as Screen, Icon,
    Window as DesktopWindow, WindowAttributes, WindowId,
};

/// Pixels that a touchpad moves for one notch of a wheel.
const PIXELS_PER_NOTCH: f64 = 100.0;

/// How often a minimized window is asked whether it still is.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Why there is no window: the desktop's words.
#[derive(Clone, Debug, PartialEq)]
pub struct NoDesktop(pub String);

/// The connection to the desktop, and the window on it.
pub struct Desktop {
    /// Holds the window, which ends before the connection.
    listener: Listener,
    events: EventLoop<()>,
}

impl Desktop {
    /// Opens a window. On the main thread, and once in a process.
    pub fn open(opening: &Opening) -> Result<Desktop, NoDesktop> {
        let events = EventLoop::new().map_err(|reason| NoDesktop(first_line(&reason)))?;
        events.set_control_flow(ControlFlow::Poll);
        let mut desktop = Desktop { listener: Listener::new(opening.clone()), events };
        // The window is made when the desktop says that it is ready for one: at once, mostly.
        for _ in 0..100 {
            let wait = Some(Duration::from_millis(10));
            let _ = desktop.events.pump_app_events(wait, &mut desktop.listener);
            if let Some(problem) = desktop.listener.problem.take() {
                return Err(NoDesktop(problem));
            }
            if desktop.listener.window.is_some() {
                return Ok(desktop);
            }
        }
        Err(NoDesktop("the desktop opened no window within a second".to_string()))
    }

    /// The window, for the renderer.
    pub fn window(&self) -> Arc<DesktopWindow> {
        self.listener.window.clone().expect("it was opened")
    }

    /// What was told since the last time, in its order. Waits for something for at most so long.
    pub fn poll(&mut self, wait: Duration) -> Vec<Told> {
        let _ = self.events.pump_app_events(Some(wait), &mut self.listener);
        self.listener.look_if_minimized();
        std::mem::take(&mut self.listener.told)
    }

    /// Whether something spoiled the window since the last time, so that it must be drawn again.
    pub fn take_exposed(&mut self) -> bool {
        std::mem::take(&mut self.listener.exposed)
    }

    /// Does what the game wants; the words say what the desktop refused.
    pub fn perform(&mut self, wish: Wish) -> Result<(), String> {
        let told = &mut self.listener.told;
        let Some(window) = &self.listener.window else { return Ok(()) };
        match wish {
            Wish::Title(title) => window.set_title(&title),
            Wish::Size(width, height) => {
                // Where the answer is at hand, no event follows.
                let size = window.request_inner_size(LogicalSize::new(width, height));
                if let Some(size) = size {
                    let (width, height) = (size.width, size.height);
                    told.push(Told::Change(Change::Resized { width, height }));
                }
            }
            Wish::Position(x, y) => window.set_outer_position(PhysicalPosition::new(x, y)),
            Wish::Fullscreen(fullscreen) => window.set_fullscreen(screen(window, fullscreen)),
            Wish::Resizable(resizable) => window.set_resizable(resizable),
            Wish::Minimize => {
                window.set_minimized(true);
                self.listener.minimized = Some(Instant::now());
            }
            Wish::Maximize => window.set_maximized(true),
            Wish::Restore => {
                window.set_minimized(false);
                window.set_maximized(false);
            }
            Wish::Focus => window.focus_window(),
            Wish::ShowCursor(shown) => {
                self.listener.cursor_shown = shown;
                self.listener.show_cursor();
            }
            Wish::CursorMode(mode) => return self.listener.set_cursor_mode(mode),
            Wish::CursorShape(shape) => window.set_cursor(icon_of(shape)),
            Wish::CursorPicture(picture, x, y) => self.listener.picture = Some((picture, x, y)),
            Wish::MoveCursor(x, y) => {
                let height = f64::from(window.inner_size().height) / window.scale_factor();
                let place = LogicalPosition::new(f64::from(x), height - f64::from(y));
                window.set_cursor_position(place).map_err(|reason| first_line(&reason))?;
            }
            Wish::Ime(on) => window.set_ime_allowed(on),
            Wish::ImeArea([left, bottom, width, height]) => {
                let top = window.inner_size().height as f32 / window.scale_factor() as f32;
                let place = LogicalPosition::new(left, top - bottom - height);
                window.set_ime_cursor_area(place, LogicalSize::new(width, height));
            }
            Wish::Icon(Picture { width, height, rgba }) => {
                let icon = Icon::from_rgba(rgba.to_vec(), width, height);
                window.set_window_icon(Some(icon.map_err(|reason| first_line(&reason))?));
            }
        }
        Ok(())
    }
}

/// The first line of an error's words: some show whole structures after it. Some have a line of the
/// library's own source before them, which says nothing here.
fn first_line(reason: &dyn std::fmt::Display) -> String {
    let words = reason.to_string();
    let line = words.lines().next().unwrap_or_default();
    let after_place = line.split_once(".rs:").and_then(|(_, rest)| rest.split_once(": "));
    after_place.map_or(line, |(_, rest)| rest).to_string()
}

/// The desktop's word for a way to stand on the screen.
fn screen(window: &DesktopWindow, fullscreen: Fullscreen) -> Option<Screen> {
    let monitor = window.current_monitor();
    match fullscreen {
        Fullscreen::Off => None,
        Fullscreen::Borderless => Some(Screen::Borderless(monitor)),
        Fullscreen::Exclusive => {
            let modes = monitor.iter().flat_map(MonitorHandle::video_modes);
            let best = modes.max_by_key(|mode| {
                let size = mode.size();
                (size.width * size.height, mode.bit_depth(), mode.refresh_rate_millihertz())
            });
            Some(best.map_or(Screen::Borderless(monitor), Screen::Exclusive))
        }
    }
}

fn icon_of(shape: CursorShape) -> CursorIcon {
    match shape {
        CursorShape::Arrow => CursorIcon::Default,
        CursorShape::Hand => CursorIcon::Pointer,
        CursorShape::Crosshair => CursorIcon::Crosshair,
        CursorShape::Text => CursorIcon::Text,
        CursorShape::Wait => CursorIcon::Wait,
        CursorShape::Progress => CursorIcon::Progress,
        CursorShape::Help => CursorIcon::Help,
        CursorShape::Move => CursorIcon::Move,
        CursorShape::Grab => CursorIcon::Grab,
        CursorShape::Grabbing => CursorIcon::Grabbing,
        CursorShape::NotAllowed => CursorIcon::NotAllowed,
        CursorShape::ResizeHorizontal => CursorIcon::EwResize,
        CursorShape::ResizeVertical => CursorIcon::NsResize,
        CursorShape::ResizeDiagonalDown => CursorIcon::NwseResize,
        CursorShape::ResizeDiagonalUp => CursorIcon::NeswResize,
        CursorShape::ZoomIn => CursorIcon::ZoomIn,
        CursorShape::ZoomOut => CursorIcon::ZoomOut,
    }
}

/// Hears what the desktop tells, and keeps it until it is asked for.
struct Listener {
    opening: Opening,
    window: Option<Arc<DesktopWindow>>,
    problem: Option<String>,
    told: Vec<Told>,
    focused: bool,
    /// When it was minimized, or last looked at since then.
    minimized: Option<Instant>,
    exposed: bool,
    inside: bool,
    cursor_shown: bool,
    mode: CursorMode,
    modifiers: ModifiersState,
    /// A cursor's picture that waits to be shown, with the place of its tip.
    picture: Option<(Picture, u32, u32)>,
}

impl Listener {
    fn new(opening: Opening) -> Listener {
        Listener {
            opening,
            window: None,
            problem: None,
            told: Vec::new(),
            focused: false,
            minimized: None,
            exposed: false,
            inside: false,
            cursor_shown: true,
            mode: CursorMode::Free,
            modifiers: ModifiersState::empty(),
            picture: None,
        }
    }

    fn change(&mut self, change: Change) {
        self.told.push(Told::Change(change));
    }

    fn open(&mut self, active: &ActiveEventLoop) {
        let Opening { title, width, height, resizable, .. } = &self.opening;
        let attributes = WindowAttributes::default()
            .with_title(title.clone())
            .with_resizable(*resizable)
            .with_inner_size(LogicalSize::new(*width, *height));
        let chosen = self.opening.monitor.checked_sub(1);
        let chosen = chosen.and_then(|at| active.available_monitors().nth(at));
        let attributes = match &chosen {
            Some(monitor) => attributes.with_position(monitor.position()),
            None => attributes,
        };
        match active.create_window(attributes) {
            Ok(window) => {
                let monitors = window.available_monitors().map(|one| monitor(&one)).collect();
                let (size, scale) = (window.inner_size(), window.scale_factor());
                if self.opening.fullscreen != Fullscreen::Off {
                    window.set_fullscreen(screen(&window, self.opening.fullscreen));
                }
                self.window = Some(Arc::new(window));
                self.change(Change::Opened);
                self.change(Change::Focus(false));
                self.change(Change::Scale(scale));
                self.change(Change::Resized { width: size.width, height: size.height });
                self.change(Change::Monitors(monitors));
            }
            Err(reason) => self.problem = Some(first_line(&reason)),
        }
    }

    /// A place in logical pixels from the lower left corner.
    fn place(&self, at: PhysicalPosition<f64>) -> (f32, f32) {
        let Some(window) = &self.window else { return (0.0, 0.0) };
        let scale = window.scale_factor();
        let height = f64::from(window.inner_size().height);
        ((at.x / scale) as f32, ((height - at.y) / scale) as f32)
    }

    fn show_cursor(&self) {
        if let Some(window) = &self.window {
            window.set_cursor_visible(self.cursor_shown && self.mode != CursorMode::Lock);
        }
    }

    fn set_cursor_mode(&mut self, mode: CursorMode) -> Result<(), String> {
        let Some(window) = &self.window else { return Ok(()) };
        self.mode = mode;
        // Not every desktop can do both: the other one is nearly as good.
        let ways = match mode {
            CursorMode::Free => [CursorGrabMode::None, CursorGrabMode::None],
            CursorMode::Clip => [CursorGrabMode::Confined, CursorGrabMode::Locked],
            CursorMode::Lock => [CursorGrabMode::Locked, CursorGrabMode::Confined],
        };
        let first = window.set_cursor_grab(ways[0]);
        let done = first.or_else(|_| window.set_cursor_grab(ways[1]));
        self.show_cursor();
        done.map_err(|reason| format!("the cursor cannot be held: {}", first_line(&reason)))
    }

    fn key(&mut self, event: &KeyEvent, synthetic: bool) {
        let PhysicalKey::Code(code) = event.physical_key else {
            // A key that the desktop cannot place may still type something.
            if let (Some(text), ElementState::Pressed) = (typed(event), event.state) {
                self.told.push(Told::Composed(text));
            }
            return;
        };
        let pressed = event.state == ElementState::Pressed;
        // What was down before the window had the focus is not pressed in it.
        if synthetic && pressed {
            return;
        }
        let commands = ModifiersState::CONTROL | ModifiersState::SUPER;
        let types = pressed && !self.modifiers.intersects(commands);
        let label = match event.key_without_modifiers() {
            Key::Character(text) => Some(text.to_string()),
            _ => None,
        };
        self.told.push(Told::Key {
            code: format!("{code:?}"),
            pressed,
            repeat: event.repeat,
            label,
            text: types.then(|| typed(event)).flatten(),
        });
    }

    fn focus(&mut self, focused: bool) {
        self.focused = focused;
        self.change(Change::Focus(focused));
        let Some(window) = &self.window else { return };
        let (minimized, maximized) = (window.is_minimized(), window.is_maximized());
        // Where that is not told, it has the focus and so is not.
        if let Some(minimized) = minimized.or(focused.then_some(false)) {
            self.minimized = minimized.then(Instant::now);
            self.change(Change::Minimized(minimized));
        }
        self.change(Change::Maximized(maximized));
        if focused && self.mode != CursorMode::Free {
            // Many desktops let go of the cursor with the focus. One that refuses now did before,
            // and said so.
            let _ = self.set_cursor_mode(self.mode);
        }
    }

    /// No desktop tells when a minimized window is seen again, and it may not get the focus with
    /// it: it is looked at once a second. A desktop that is slow has done by then what it was told.
    fn look_if_minimized(&mut self) {
        if self.minimized.is_none_or(|looked| looked.elapsed() < LOOK_AGAIN) {
            return;
        }
        let window = self.window.as_ref();
        if window.is_some_and(|window| window.is_minimized() == Some(false)) {
            self.minimized = None;
            self.change(Change::Minimized(false));
        } else {
            self.minimized = Some(Instant::now());
        }
    }

    fn touch(&mut self, touch: &Touch) {
        let (x, y) = self.place(touch.location);
        self.told.push(Told::Touch {
            finger: touch.id,
            what: match touch.phase {
                TouchPhase::Started => Touched::Began,
                TouchPhase::Moved => Touched::Moved,
                TouchPhase::Ended => Touched::Ended,
                TouchPhase::Cancelled => Touched::Cancelled,
            },
            x,
            y,
            pressure: touch.force.map_or(1.0, |force| force.normalized() as f32),
        });
    }

    fn compose(&mut self, ime: Ime) {
        match ime {
            Ime::Preedit(text, cursor) => {
                let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
                let cursor = cursor.map(|(first, last)| (byte(first), byte(last)));
                self.told.push(Told::Compose { text, cursor });
            }
            Ime::Commit(text) => self.told.push(Told::Composed(text)),
            Ime::Disabled => {
                self.told.push(Told::Compose { text: String::new(), cursor: None });
            }
            Ime::Enabled => {}
        }
    }

    fn wheel(&mut self, delta: MouseScrollDelta) {
        let (x, y) = match delta {
            MouseScrollDelta::LineDelta(x, y) => (x, y),
            MouseScrollDelta::PixelDelta(by) => {
                ((by.x / PIXELS_PER_NOTCH) as f32, (by.y / PIXELS_PER_NOTCH) as f32)
            }
        };
        self.told.push(Told::Wheel { x, y });
    }

    fn scaled(&mut self, scale: f64) {
        self.change(Change::Scale(scale));
        let Some(window) = &self.window else { return };
        let size = window.inner_size();
        let monitors = window.available_monitors().map(|one| monitor(&one)).collect();
        self.change(Change::Resized { width: size.width, height: size.height });
        self.change(Change::Monitors(monitors));
    }
}

/// What an event types, without what only controls.
fn typed(event: &KeyEvent) -> Option<String> {
    let text: String = event.text.as_ref()?.chars().filter(|c| !c.is_control()).collect();
    (!text.is_empty()).then_some(text)
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

impl ApplicationHandler for Listener {
    fn resumed(&mut self, active: &ActiveEventLoop) {
        if self.window.is_none() && self.problem.is_none() {
            self.open(active);
        }
    }

    fn window_event(&mut self, _: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        match event {
            WindowEvent::Resized(size) => {
                self.change(Change::Resized { width: size.width, height: size.height });
            }
            WindowEvent::Moved(at) => self.change(Change::Moved { x: at.x, y: at.y }),
            WindowEvent::CloseRequested => self.change(Change::Close),
            WindowEvent::Destroyed => self.change(Change::Gone),
            WindowEvent::DroppedFile(path) => {
                self.change(Change::Dropped(path.to_string_lossy().into_owned()));
            }
            WindowEvent::Focused(focused) => self.focus(focused),
            WindowEvent::Occluded(hidden) => self.change(Change::Hidden(hidden)),
            WindowEvent::ScaleFactorChanged { scale_factor, .. } => self.scaled(scale_factor),
            WindowEvent::ModifiersChanged(modifiers) => self.modifiers = modifiers.state(),
            WindowEvent::KeyboardInput { event, is_synthetic, .. } => {
                self.key(&event, is_synthetic);
            }
            WindowEvent::Ime(ime) => self.compose(ime),
            WindowEvent::CursorMoved { position, .. } => {
                let (x, y) = self.place(position);
                self.told.push(Told::Cursor { x, y });
            }
            WindowEvent::CursorEntered { .. } => {
                self.inside = true;
                self.change(Change::MouseInside(true));
            }
            WindowEvent::CursorLeft { .. } => {
                self.inside = false;
                self.change(Change::MouseInside(false));
            }
            WindowEvent::MouseWheel { delta, .. } => self.wheel(delta),
            WindowEvent::MouseInput { state, button, .. } => {
                let button = match button {
                    MouseButton::Left => 0,
                    MouseButton::Right => 1,
                    MouseButton::Middle => 2,
                    MouseButton::Back => 3,
                    MouseButton::Forward => 4,
                    MouseButton::Other(number) => number.saturating_add(5),
                };
                let pressed = state == ElementState::Pressed;
                self.told.push(Told::MouseButton { button, pressed });
            }
            WindowEvent::Touch(touch) => self.touch(&touch),
            WindowEvent::RedrawRequested => self.exposed = true,
            _ => {}
        }
    }

    fn device_event(&mut self, _: &ActiveEventLoop, _: DeviceId, event: DeviceEvent) {
        if let DeviceEvent::MouseMotion { delta: (x, y) } = event
            && self.focused
            && (self.inside || self.mode == CursorMode::Lock)
        {
            self.told.push(Told::MouseMotion { x: x as f32, y: -y as f32 });
        }
    }

    fn about_to_wait(&mut self, active: &ActiveEventLoop) {
        // Only here is what makes a cursor of a picture.
        let Some((picture, x, y)) = self.picture.take() else { return };
        let Some(window) = &self.window else { return };
        let side = |side: u32| u16::try_from(side).unwrap_or(u16::MAX);
        let (width, height) = (side(picture.width), side(picture.height));
        let made = CustomCursor::from_rgba(picture.rgba.to_vec(), width, height, side(x), side(y));
        match made {
            Ok(source) => window.set_cursor(Cursor::Custom(active.create_custom_cursor(source))),
            Err(reason) => crate::foundation::log::error(&format!(
                "the cursor's picture cannot be used: {}",
                first_line(&reason)
            )),
        }
    }
}
