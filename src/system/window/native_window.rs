//! Native window: translates its desktop events and executes the game's commands.

use super::event::{PointerPhase, WindowChange, WindowEvent};
use super::key_codes;
use super::{CursorMode, CursorShape, Fullscreen, IconImage, WindowCommand, WindowOptions};
use engine_foundation::{log, panic};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use winit::dpi::{LogicalPosition, LogicalSize, PhysicalPosition};
use winit::event::{
    ElementState, Force, Ime, KeyEvent, MouseButton, MouseScrollDelta, Touch, TouchPhase,
    WindowEvent as WinitEvent,
};
use winit::event_loop::ActiveEventLoop;
use winit::keyboard::{Key, ModifiersState, PhysicalKey};
use winit::monitor::{MonitorHandle, VideoModeHandle};
use winit::platform::modifier_supplement::KeyEventExtModifierSupplement;
use winit::window::{
    Cursor, CursorGrabMode, CursorIcon, CustomCursor, Fullscreen as Screen, Icon,
    Window as DesktopWindow, WindowAttributes,
};

/// Number of touchpad pixels per notch of a mouse wheel.
const PIXELS_PER_NOTCH: f64 = 100.0;

/// Interval at which a minimized window is checked.
const MINIMIZED_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Interval at which grabbing the cursor is retried after the desktop refused it.
const GRAB_RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// One native window.
pub struct NativeWindow {
    /// Number of the window in the game; `None` for the main window.
    pub number: Option<u64>,
    pub window: Arc<DesktopWindow>,
    pub focused: bool,
    pub inside: bool,
    pub mode: CursorMode,
    pub modifiers: ModifiersState,
    cursor_shown: bool,
    /// Time at which the desktop refused to grab the cursor; the request is retried.
    refused: Option<Instant>,
    /// Time at which the window was minimized, or last checked since then.
    minimized: Option<Instant>,
    /// Cursor image that waits to be shown, with its hotspot.
    cursor_image: Option<(IconImage, u32, u32)>,
}

/// Returns the first line of an error message, because some messages print whole structures after
/// it. Removes a leading location in the library's source, which is not useful here.
pub fn first_line(reason: &dyn std::fmt::Display) -> String {
    let message = reason.to_string();
    let line = message.lines().next().unwrap_or_default();
    let after_location = line.split_once(".rs:").and_then(|(_, rest)| rest.split_once(": "));
    after_location.map_or(line, |(_, rest)| rest).to_string()
}

/// Returns the display modes of a monitor. The windowing library panics on Windows if a driver
/// reports a mode without a refresh rate, as wine does without a desktop; the modes of that monitor
/// are then unknown, which is logged once.
pub fn video_modes(monitor: &MonitorHandle) -> Vec<VideoModeHandle> {
    modes_or_none(|| monitor.video_modes().collect())
}

fn modes_or_none<T>(list: impl FnOnce() -> Vec<T>) -> Vec<T> {
    static IS_REPORTED: AtomicBool = AtomicBool::new(false);
    panic::contain(list).unwrap_or_else(|error| {
        if !IS_REPORTED.swap(true, Ordering::Relaxed) {
            log::warning(&format!(
                "the display modes of a monitor are unknown, so fullscreen has the desktop's \
                 resolution there: {}",
                error.message
            ));
        }
        Vec::new()
    })
}

/// Converts a fullscreen mode to that of the windowing library.
fn native_fullscreen(window: &DesktopWindow, fullscreen: Fullscreen) -> Option<Screen> {
    let monitor = window.current_monitor();
    match fullscreen {
        Fullscreen::Off => None,
        Fullscreen::Borderless => Some(Screen::Borderless(monitor)),
        Fullscreen::Exclusive => {
            let modes = monitor.iter().flat_map(video_modes);
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

/// Returns the text that an event types, without control characters.
fn typed(event: &KeyEvent) -> Option<String> {
    let text: String = event.text.as_ref()?.chars().filter(|c| !c.is_control()).collect();
    (!text.is_empty()).then_some(text)
}

/// Returns the initial changes of a window that was just opened. Only the main window reports that
/// it has no focus: a secondary window never had the focus, so opening it takes the focus from no
/// other window.
fn first_changes(
    number: Option<u64>,
    scale: f64,
    (width, height): (u32, u32),
) -> Vec<WindowChange> {
    let focus = number.is_none().then_some(WindowChange::Focus(false));
    let rest = [WindowChange::Scale(scale), WindowChange::Resized { width, height }];
    [WindowChange::Opened].into_iter().chain(focus).chain(rest).collect()
}

impl NativeWindow {
    /// Opens a window and reports its state. Returns the desktop's reason if it refuses.
    pub fn open(
        active: &ActiveEventLoop,
        number: Option<u64>,
        opening: &WindowOptions,
        events: &mut Vec<WindowEvent>,
    ) -> Result<NativeWindow, String> {
        let attributes = WindowAttributes::default()
            .with_title(opening.title.clone())
            .with_resizable(opening.resizable)
            .with_visible(opening.visible)
            .with_inner_size(LogicalSize::new(opening.width, opening.height));
        let chosen = opening.monitor.checked_sub(1);
        let chosen = chosen.and_then(|at| active.available_monitors().nth(at));
        let position = opening.position.map(|(x, y)| PhysicalPosition::new(x, y));
        let attributes = match position.or(chosen.map(|monitor| monitor.position())) {
            Some(position) => attributes.with_position(position),
            None => attributes,
        };
        let window = active.create_window(attributes).map_err(|reason| first_line(&reason))?;
        let (size, scale) = (window.inner_size(), window.scale_factor());
        if opening.fullscreen != Fullscreen::Off {
            window.set_fullscreen(native_fullscreen(&window, opening.fullscreen));
        }
        let opened = NativeWindow {
            number,
            window: Arc::new(window),
            focused: false,
            inside: false,
            mode: CursorMode::Free,
            modifiers: ModifiersState::empty(),
            cursor_shown: true,
            refused: None,
            minimized: None,
            cursor_image: None,
        };
        for change in first_changes(number, scale, (size.width, size.height)) {
            opened.change(events, change);
        }
        Ok(opened)
    }

    fn change(&self, events: &mut Vec<WindowEvent>, change: WindowChange) {
        events.push(WindowEvent::Change(match self.number {
            Some(number) => WindowChange::Of(number, Box::new(change)),
            None => change,
        }));
    }

    /// Executes a command. Returns the desktop's reason if it refuses.
    pub fn perform(
        &mut self,
        command: WindowCommand,
        events: &mut Vec<WindowEvent>,
    ) -> Result<(), String> {
        let window = &self.window;
        match command {
            WindowCommand::Title(title) => window.set_title(&title),
            WindowCommand::Size(width, height) => self.resize(width, height, events),
            WindowCommand::Position(x, y) => window.set_outer_position(PhysicalPosition::new(x, y)),
            WindowCommand::Fullscreen(fullscreen) => {
                window.set_fullscreen(native_fullscreen(window, fullscreen))
            }
            WindowCommand::Resizable(resizable) => window.set_resizable(resizable),
            WindowCommand::Visible(visible) => window.set_visible(visible),
            WindowCommand::Minimize => {
                window.set_minimized(true);
                self.minimized = Some(Instant::now());
            }
            WindowCommand::Maximize => window.set_maximized(true),
            WindowCommand::Restore => {
                window.set_minimized(false);
                window.set_maximized(false);
            }
            WindowCommand::Focus => window.focus_window(),
            WindowCommand::ShowCursor(shown) => {
                self.cursor_shown = shown;
                self.show_cursor();
            }
            WindowCommand::CursorMode(mode) => return self.set_cursor_mode(mode),
            WindowCommand::CursorShape(shape) => window.set_cursor(icon_of(shape)),
            WindowCommand::CursorImage(cursor_image, x, y) => {
                self.cursor_image = Some((cursor_image, x, y))
            }
            WindowCommand::MoveCursor(x, y) => {
                let height = f64::from(window.inner_size().height) / window.scale_factor();
                let position = LogicalPosition::new(f64::from(x), height - f64::from(y));
                window.set_cursor_position(position).map_err(|reason| first_line(&reason))?;
            }
            WindowCommand::Ime(on) => window.set_ime_allowed(on),
            WindowCommand::ImeArea([left, bottom, width, height]) => {
                let top = window.inner_size().height as f32 / window.scale_factor() as f32;
                let position = LogicalPosition::new(left, top - bottom - height);
                window.set_ime_cursor_area(position, LogicalSize::new(width, height));
            }
            WindowCommand::Icon(IconImage { width, height, rgba }) => {
                let icon = Icon::from_rgba(rgba.to_vec(), width, height);
                window.set_window_icon(Some(icon.map_err(|reason| first_line(&reason))?));
            }
        }
        Ok(())
    }

    /// Resizes the window. In exclusive fullscreen, selects the best display mode with this size.
    fn resize(&self, width: u32, height: u32, events: &mut Vec<WindowEvent>) {
        let (window, scale) = (&self.window, self.window.scale_factor());
        if matches!(window.fullscreen(), Some(Screen::Exclusive(_))) {
            let size = LogicalSize::new(width, height).to_physical::<u32>(scale);
            let modes = window.current_monitor().into_iter().flat_map(|it| video_modes(&it));
            let best = modes
                .filter(|mode| mode.size() == size)
                .max_by_key(|mode| (mode.bit_depth(), mode.refresh_rate_millihertz()));
            if let Some(mode) = best {
                return window.set_fullscreen(Some(Screen::Exclusive(mode)));
            }
        }
        // If the new size is returned immediately, no event follows.
        let size = window.request_inner_size(LogicalSize::new(width, height));
        if let Some(size) = size {
            let (width, height) = (size.width, size.height);
            self.change(events, WindowChange::Resized { width, height });
        }
    }

    /// Converts a position to logical pixels from the bottom left corner.
    fn to_logical(&self, at: PhysicalPosition<f64>) -> (f32, f32) {
        let scale = self.window.scale_factor();
        let height = f64::from(self.window.inner_size().height);
        ((at.x / scale) as f32, ((height - at.y) / scale) as f32)
    }

    /// Shows or hides the cursor. A locked cursor is visible while the window is not focused,
    /// because the player is using another window.
    fn show_cursor(&self) {
        let locked = self.mode == CursorMode::Lock && self.focused;
        self.window.set_cursor_visible(self.cursor_shown && !locked);
    }

    fn set_cursor_mode(&mut self, mode: CursorMode) -> Result<(), String> {
        self.mode = mode;
        self.lock_cursor()
    }

    /// Grabs the cursor as the mode requires, or releases it while the window is not focused: not
    /// every desktop releases it by itself.
    fn lock_cursor(&mut self) -> Result<(), String> {
        // Not every desktop supports both grab modes; the other one is a close substitute.
        let grab_modes = match self.mode {
            CursorMode::Clip if self.focused => [CursorGrabMode::Confined, CursorGrabMode::Locked],
            CursorMode::Lock if self.focused => [CursorGrabMode::Locked, CursorGrabMode::Confined],
            _ => [CursorGrabMode::None, CursorGrabMode::None],
        };
        let first = self.window.set_cursor_grab(grab_modes[0]);
        let result = first.or_else(|_| self.window.set_cursor_grab(grab_modes[1]));
        self.refused = result.is_err().then(Instant::now);
        self.show_cursor();
        result.map_err(|reason| format!("the cursor cannot be held: {}", first_line(&reason)))
    }

    /// Retries to grab the cursor. While the player switches windows, a desktop may hold the mouse
    /// itself and release it shortly after the focus changes.
    pub fn retry_cursor_grab(&mut self) {
        if self.focused && self.refused.is_some_and(|when| when.elapsed() >= GRAB_RETRY_INTERVAL) {
            let _ = self.lock_cursor();
        }
    }

    /// Sets a pending cursor image. A custom cursor can be created only inside the event loop.
    pub fn show_cursor_image(&mut self, active: &ActiveEventLoop) {
        let Some((cursor_image, x, y)) = self.cursor_image.take() else { return };
        let side = |side: u32| u16::try_from(side).unwrap_or(u16::MAX);
        let (width, height) = (side(cursor_image.width), side(cursor_image.height));
        let cursor_source =
            CustomCursor::from_rgba(cursor_image.rgba.to_vec(), width, height, side(x), side(y));
        match cursor_source {
            Ok(source) => {
                let cursor = active.create_custom_cursor(source);
                self.window.set_cursor(Cursor::Custom(cursor));
            }
            Err(reason) => engine_foundation::log::error(&format!(
                "the cursor's picture cannot be used: {}",
                first_line(&reason)
            )),
        }
    }

    /// Translates a desktop event of the window.
    pub fn handle_event(&mut self, event: WinitEvent, events: &mut Vec<WindowEvent>) {
        match event {
            WinitEvent::Resized(size) => {
                self.change(
                    events,
                    WindowChange::Resized { width: size.width, height: size.height },
                );
            }
            WinitEvent::Moved(at) => self.change(events, WindowChange::Moved { x: at.x, y: at.y }),
            WinitEvent::CloseRequested => self.change(events, WindowChange::Close),
            WinitEvent::Destroyed => self.change(events, WindowChange::Removed),
            WinitEvent::DroppedFile(path) => {
                self.change(events, WindowChange::Dropped(path.to_string_lossy().into_owned()));
            }
            WinitEvent::Focused(focused) => self.focus(focused, events),
            WinitEvent::Occluded(hidden) => self.change(events, WindowChange::Hidden(hidden)),
            WinitEvent::KeyboardInput { event, is_synthetic, .. } => {
                self.key(&event, is_synthetic, events);
            }
            WinitEvent::Ime(ime) => compose(ime, events),
            WinitEvent::CursorMoved { position, .. } => {
                let (x, y) = self.to_logical(position);
                match self.number {
                    None => events.push(WindowEvent::Cursor { x, y }),
                    Some(_) => self.change(events, WindowChange::Cursor { x, y }),
                }
            }
            WinitEvent::CursorEntered { .. } => {
                self.inside = true;
                self.change(events, WindowChange::MouseInside(true));
            }
            WinitEvent::CursorLeft { .. } => {
                self.inside = false;
                self.change(events, WindowChange::MouseInside(false));
            }
            WinitEvent::MouseWheel { delta, .. } => wheel(delta, events),
            WinitEvent::MouseInput { state, button, .. } => {
                let button = match button {
                    MouseButton::Left => 0,
                    MouseButton::Right => 1,
                    MouseButton::Middle => 2,
                    MouseButton::Back => 3,
                    MouseButton::Forward => 4,
                    MouseButton::Other(number) => other_button(number),
                };
                let pressed = state == ElementState::Pressed;
                events.push(WindowEvent::MouseButton { button, pressed });
            }
            // The touch panel belongs to the main window: touches on other windows have no position
            // on it.
            WinitEvent::Touch(touch) if self.number.is_none() => self.touch(&touch, events),
            _ => {}
        }
    }

    pub fn handle_scale_change(&mut self, scale: f64, events: &mut Vec<WindowEvent>) {
        self.change(events, WindowChange::Scale(scale));
        let size = self.window.inner_size();
        self.change(events, WindowChange::Resized { width: size.width, height: size.height });
    }

    fn key(&mut self, event: &KeyEvent, synthetic: bool, events: &mut Vec<WindowEvent>) {
        let PhysicalKey::Code(code) = event.physical_key else {
            // A key with an unknown position may still type text.
            if let (Some(text), ElementState::Pressed) = (typed(event), event.state) {
                events.push(WindowEvent::Composed(text));
            }
            return;
        };
        let pressed = event.state == ElementState::Pressed;
        // Keys that were held before the window was focused do not count as pressed.
        if synthetic && pressed {
            return;
        }
        let mut commands = ModifiersState::CONTROL | ModifiersState::SUPER;
        // On other systems the right Alt key types characters and then does not count as Alt.
        if !cfg!(target_os = "macos") {
            commands |= ModifiersState::ALT;
        }
        let types = pressed && !self.modifiers.intersects(commands);
        let label = match event.key_without_modifiers() {
            Key::Character(text) => Some(text.to_string()),
            _ => None,
        };
        events.push(WindowEvent::Key {
            code: key_codes::name_of(code),
            pressed,
            repeat: event.repeat,
            label,
            text: types.then(|| typed(event)).flatten(),
        });
    }

    fn focus(&mut self, focused: bool, events: &mut Vec<WindowEvent>) {
        // Desktops report newly opened windows as unfocused, although no focus was lost.
        if std::mem::replace(&mut self.focused, focused) != focused {
            self.change(events, WindowChange::Focus(focused));
        }
        let (minimized, maximized) = (self.window.is_minimized(), self.window.is_maximized());
        // If the state is unknown, a focused window is not minimized.
        if let Some(minimized) = minimized.or(focused.then_some(false)) {
            self.minimized = minimized.then(Instant::now);
            self.change(events, WindowChange::Minimized(minimized));
        }
        self.change(events, WindowChange::Maximized(maximized));
        if self.mode != CursorMode::Free {
            // A refused grab is retried later.
            let _ = self.lock_cursor();
        }
    }

    /// Checks once a second if a minimized window is visible again. No desktop reports this, and
    /// the window may not get the focus with it. The interval gives a slow desktop time to minimize
    /// it first.
    pub fn poll_minimized(&mut self, events: &mut Vec<WindowEvent>) {
        if self.minimized.is_none_or(|looked| looked.elapsed() < MINIMIZED_CHECK_INTERVAL) {
            return;
        }
        if self.window.is_minimized() == Some(false) {
            self.minimized = None;
            self.change(events, WindowChange::Minimized(false));
        } else {
            self.minimized = Some(Instant::now());
        }
    }

    fn touch(&mut self, touch: &Touch, events: &mut Vec<WindowEvent>) {
        let (x, y) = self.to_logical(touch.location);
        events.push(WindowEvent::Touch {
            finger: touch.id,
            phase: match touch.phase {
                TouchPhase::Started => PointerPhase::Began,
                TouchPhase::Moved => PointerPhase::Moved,
                TouchPhase::Ended => PointerPhase::Ended,
                TouchPhase::Cancelled => PointerPhase::Cancelled,
            },
            x,
            y,
            pressure: touch.force.map_or(1.0, pressure),
        });
    }
}

/// Returns the index of a button without a common name, from the desktop's number: X11 numbers
/// these buttons from 10, Wayland by the kernel's code, macOS from 5.
fn other_button(number: u16) -> u16 {
    const KERNEL_FIRST: u16 = 0x117;
    let first = match number {
        KERNEL_FIRST.. => KERNEL_FIRST,
        10.. if !cfg!(target_os = "macos") => 10,
        _ => 5,
    };
    number.saturating_sub(first) + 5
}

/// Returns the pressure of a finger, 0 to 1; 1 if the driver reports an invalid value.
fn pressure(force: Force) -> f32 {
    let force = force.normalized() as f32;
    if force.is_finite() { force.clamp(0.0, 1.0) } else { 1.0 }
}

fn compose(ime: Ime, events: &mut Vec<WindowEvent>) {
    match ime {
        Ime::Preedit(text, cursor) => {
            let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let cursor = cursor.map(|(first, last)| (byte(first), byte(last)));
            events.push(WindowEvent::Compose { text, cursor });
        }
        Ime::Commit(text) => events.push(WindowEvent::Composed(text)),
        Ime::Disabled => events.push(WindowEvent::Compose { text: String::new(), cursor: None }),
        Ime::Enabled => {}
    }
}

fn wheel(delta: MouseScrollDelta, events: &mut Vec<WindowEvent>) {
    let (x, y) = match delta {
        MouseScrollDelta::LineDelta(x, y) => (x, y),
        MouseScrollDelta::PixelDelta(by) => {
            ((by.x / PIXELS_PER_NOTCH) as f32, (by.y / PIXELS_PER_NOTCH) as f32)
        }
    };
    events.push(WindowEvent::Wheel { x, y });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_of_a_failing_driver_are_unknown() {
        assert_eq!(modes_or_none(|| vec![1, 2]), [1, 2]);
        let failing = || -> Vec<u32> { panic!("a mode has no refresh rate") };
        assert_eq!(modes_or_none(failing), [0; 0]);
    }

    #[test]
    fn unnamed_buttons_are_numbered_after_named_ones() {
        assert_eq!([0x117, 0x118, 5].map(other_button), [5, 6, 5]);
        if !cfg!(target_os = "macos") {
            assert_eq!([10, 12].map(other_button), [5, 7]);
        }
        assert_eq!([0, u16::MAX].map(other_button), [5, u16::MAX - 0x117 + 5]);
    }

    #[test]
    fn a_secondary_window_sends_no_focus_event_when_it_opens() {
        let lost = WindowChange::Focus(false);
        assert!(first_changes(None, 1.0, (3, 2)).contains(&lost));
        let events = first_changes(Some(7), 2.0, (3, 2));
        let size = WindowChange::Resized { width: 3, height: 2 };
        assert_eq!(events, [WindowChange::Opened, WindowChange::Scale(2.0), size]);
    }

    #[test]
    fn invalid_touch_pressure_is_ignored() {
        let force = |force: f64, most: f64| {
            let (max_possible_force, altitude_angle) = (most, None);
            pressure(Force::Calibrated { force, max_possible_force, altitude_angle })
        };
        assert_eq!([force(1.0, 2.0), force(0.0, 0.0), force(3.0, 2.0)], [0.5, 1.0, 1.0]);
    }
}
