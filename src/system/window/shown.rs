//! One of the game's windows as the desktop shows it: what it tells of itself and of the devices
//! over it, and the game's wishes of it.

use super::told::{Change, Told, Touched};
use super::{CursorMode, CursorShape, Fullscreen, Opening, Picture, Wish};
use std::sync::Arc;
use std::time::{Duration, Instant};
use winit::dpi::{LogicalPosition, LogicalSize, PhysicalPosition};
use winit::event::{
    ElementState, Force, Ime, KeyEvent, MouseButton, MouseScrollDelta, Touch, TouchPhase,
    WindowEvent,
};
use winit::event_loop::ActiveEventLoop;
use winit::keyboard::{Key, ModifiersState, PhysicalKey};
use winit::monitor::MonitorHandle;
use winit::platform::modifier_supplement::KeyEventExtModifierSupplement;
use winit::window::{
    Cursor, CursorGrabMode, CursorIcon, CustomCursor, Fullscreen as Screen, Icon,
    Window as DesktopWindow, WindowAttributes,
};

/// Pixels that a touchpad moves for one notch of a wheel.
const PIXELS_PER_NOTCH: f64 = 100.0;

/// How often a minimized window is asked whether it still is.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// How often a cursor is to be held again that the desktop did not let go of yet.
const HOLD_AGAIN: Duration = Duration::from_millis(100);

/// A window of the desktop's.
pub struct Shown {
    /// By which the game knows it; the main one has none.
    pub number: Option<u64>,
    pub window: Arc<DesktopWindow>,
    pub focused: bool,
    pub inside: bool,
    pub mode: CursorMode,
    pub modifiers: ModifiersState,
    cursor_shown: bool,
    /// When the desktop refused to hold the cursor as the mode says; it is asked again.
    refused: Option<Instant>,
    /// When it was minimized, or last looked at since then.
    minimized: Option<Instant>,
    /// A cursor's picture that waits to be shown, with the place of its tip.
    picture: Option<(Picture, u32, u32)>,
}

/// The first line of an error's words: some show whole structures after it. Some have a line of the
/// library's own source before them, which says nothing here.
pub fn first_line(reason: &dyn std::fmt::Display) -> String {
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

/// What an event types, without what only controls.
fn typed(event: &KeyEvent) -> Option<String> {
    let text: String = event.text.as_ref()?.chars().filter(|c| !c.is_control()).collect();
    (!text.is_empty()).then_some(text)
}

/// What is told of a window that was just opened. That it has not the focus is news of the main one
/// alone: another has not had it, and takes it from nobody.
fn first_changes(number: Option<u64>, scale: f64, (width, height): (u32, u32)) -> Vec<Change> {
    let focus = number.is_none().then_some(Change::Focus(false));
    let rest = [Change::Scale(scale), Change::Resized { width, height }];
    [Change::Opened].into_iter().chain(focus).chain(rest).collect()
}

impl Shown {
    /// Opens one, and tells what it is; the words say why the desktop refuses.
    pub fn open(
        active: &ActiveEventLoop,
        number: Option<u64>,
        opening: &Opening,
        told: &mut Vec<Told>,
    ) -> Result<Shown, String> {
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
            window.set_fullscreen(screen(&window, opening.fullscreen));
        }
        let shown = Shown {
            number,
            window: Arc::new(window),
            focused: false,
            inside: false,
            mode: CursorMode::Free,
            modifiers: ModifiersState::empty(),
            cursor_shown: true,
            refused: None,
            minimized: None,
            picture: None,
        };
        for change in first_changes(number, scale, (size.width, size.height)) {
            shown.change(told, change);
        }
        Ok(shown)
    }

    fn change(&self, told: &mut Vec<Told>, change: Change) {
        told.push(Told::Change(match self.number {
            Some(number) => Change::Of(number, Box::new(change)),
            None => change,
        }));
    }

    /// Does what the game wants; the words say what the desktop refused.
    pub fn perform(&mut self, wish: Wish, told: &mut Vec<Told>) -> Result<(), String> {
        let window = &self.window;
        match wish {
            Wish::Title(title) => window.set_title(&title),
            Wish::Size(width, height) => self.resize(width, height, told),
            Wish::Position(x, y) => window.set_outer_position(PhysicalPosition::new(x, y)),
            Wish::Fullscreen(fullscreen) => window.set_fullscreen(screen(window, fullscreen)),
            Wish::Resizable(resizable) => window.set_resizable(resizable),
            Wish::Visible(visible) => window.set_visible(visible),
            Wish::Minimize => {
                window.set_minimized(true);
                self.minimized = Some(Instant::now());
            }
            Wish::Maximize => window.set_maximized(true),
            Wish::Restore => {
                window.set_minimized(false);
                window.set_maximized(false);
            }
            Wish::Focus => window.focus_window(),
            Wish::ShowCursor(shown) => {
                self.cursor_shown = shown;
                self.show_cursor();
            }
            Wish::CursorMode(mode) => return self.set_cursor_mode(mode),
            Wish::CursorShape(shape) => window.set_cursor(icon_of(shape)),
            Wish::CursorPicture(picture, x, y) => self.picture = Some((picture, x, y)),
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

    /// Gives it a size; one that has its monitor for itself, the finest mode of that size.
    fn resize(&self, width: u32, height: u32, told: &mut Vec<Told>) {
        let (window, scale) = (&self.window, self.window.scale_factor());
        if matches!(window.fullscreen(), Some(Screen::Exclusive(_))) {
            let size = LogicalSize::new(width, height).to_physical::<u32>(scale);
            let modes = window.current_monitor().into_iter().flat_map(|it| it.video_modes());
            let best = modes
                .filter(|mode| mode.size() == size)
                .max_by_key(|mode| (mode.bit_depth(), mode.refresh_rate_millihertz()));
            if let Some(mode) = best {
                return window.set_fullscreen(Some(Screen::Exclusive(mode)));
            }
        }
        // Where the answer is at hand, no event follows.
        let size = window.request_inner_size(LogicalSize::new(width, height));
        if let Some(size) = size {
            let (width, height) = (size.width, size.height);
            self.change(told, Change::Resized { width, height });
        }
    }

    /// A place in logical pixels from the lower left corner.
    fn place(&self, at: PhysicalPosition<f64>) -> (f32, f32) {
        let scale = self.window.scale_factor();
        let height = f64::from(self.window.inner_size().height);
        ((at.x / scale) as f32, ((height - at.y) / scale) as f32)
    }

    /// Without the focus the player is elsewhere, and sees where the cursor is.
    fn show_cursor(&self) {
        let locked = self.mode == CursorMode::Lock && self.focused;
        self.window.set_cursor_visible(self.cursor_shown && !locked);
    }

    fn set_cursor_mode(&mut self, mode: CursorMode) -> Result<(), String> {
        self.mode = mode;
        self.hold_cursor()
    }

    /// Has the desktop hold the cursor as the mode says, or let go of it while the window has not
    /// the focus: not every desktop does that by itself.
    fn hold_cursor(&mut self) -> Result<(), String> {
        // Not every desktop can do both: the other one is nearly as good.
        let ways = match self.mode {
            CursorMode::Clip if self.focused => [CursorGrabMode::Confined, CursorGrabMode::Locked],
            CursorMode::Lock if self.focused => [CursorGrabMode::Locked, CursorGrabMode::Confined],
            _ => [CursorGrabMode::None, CursorGrabMode::None],
        };
        let first = self.window.set_cursor_grab(ways[0]);
        let done = first.or_else(|_| self.window.set_cursor_grab(ways[1]));
        self.refused = done.is_err().then(Instant::now);
        self.show_cursor();
        done.map_err(|reason| format!("the cursor cannot be held: {}", first_line(&reason)))
    }

    /// A desktop that holds the mouse itself, while the player chooses a window, gives it back a
    /// little after the focus.
    pub fn hold_again(&mut self) {
        if self.focused && self.refused.is_some_and(|when| when.elapsed() >= HOLD_AGAIN) {
            let _ = self.hold_cursor();
        }
    }

    /// Shows a cursor's picture that waits: only where the desktop is listened to is what makes a
    /// cursor of one.
    pub fn show_picture(&mut self, active: &ActiveEventLoop) {
        let Some((picture, x, y)) = self.picture.take() else { return };
        let side = |side: u32| u16::try_from(side).unwrap_or(u16::MAX);
        let (width, height) = (side(picture.width), side(picture.height));
        let made = CustomCursor::from_rgba(picture.rgba.to_vec(), width, height, side(x), side(y));
        match made {
            Ok(source) => {
                let cursor = active.create_custom_cursor(source);
                self.window.set_cursor(Cursor::Custom(cursor));
            }
            Err(reason) => crate::foundation::log::error(&format!(
                "the cursor's picture cannot be used: {}",
                first_line(&reason)
            )),
        }
    }

    /// Hears what the desktop tells of it.
    pub fn hear(&mut self, event: WindowEvent, told: &mut Vec<Told>) {
        match event {
            WindowEvent::Resized(size) => {
                self.change(told, Change::Resized { width: size.width, height: size.height });
            }
            WindowEvent::Moved(at) => self.change(told, Change::Moved { x: at.x, y: at.y }),
            WindowEvent::CloseRequested => self.change(told, Change::Close),
            WindowEvent::Destroyed => self.change(told, Change::Gone),
            WindowEvent::DroppedFile(path) => {
                self.change(told, Change::Dropped(path.to_string_lossy().into_owned()));
            }
            WindowEvent::Focused(focused) => self.focus(focused, told),
            WindowEvent::Occluded(hidden) => self.change(told, Change::Hidden(hidden)),
            WindowEvent::KeyboardInput { event, is_synthetic, .. } => {
                self.key(&event, is_synthetic, told);
            }
            WindowEvent::Ime(ime) => compose(ime, told),
            WindowEvent::CursorMoved { position, .. } => {
                let (x, y) = self.place(position);
                match self.number {
                    None => told.push(Told::Cursor { x, y }),
                    Some(_) => self.change(told, Change::Cursor { x, y }),
                }
            }
            WindowEvent::CursorEntered { .. } => {
                self.inside = true;
                self.change(told, Change::MouseInside(true));
            }
            WindowEvent::CursorLeft { .. } => {
                self.inside = false;
                self.change(told, Change::MouseInside(false));
            }
            WindowEvent::MouseWheel { delta, .. } => wheel(delta, told),
            WindowEvent::MouseInput { state, button, .. } => {
                let button = match button {
                    MouseButton::Left => 0,
                    MouseButton::Right => 1,
                    MouseButton::Middle => 2,
                    MouseButton::Back => 3,
                    MouseButton::Forward => 4,
                    MouseButton::Other(number) => other_button(number),
                };
                let pressed = state == ElementState::Pressed;
                told.push(Told::MouseButton { button, pressed });
            }
            // The touch panel is the main window: fingers on another have no place there.
            WindowEvent::Touch(touch) if self.number.is_none() => self.touch(&touch, told),
            _ => {}
        }
    }

    pub fn scaled(&mut self, scale: f64, told: &mut Vec<Told>) {
        self.change(told, Change::Scale(scale));
        let size = self.window.inner_size();
        self.change(told, Change::Resized { width: size.width, height: size.height });
    }

    fn key(&mut self, event: &KeyEvent, synthetic: bool, told: &mut Vec<Told>) {
        let PhysicalKey::Code(code) = event.physical_key else {
            // A key that the desktop cannot place may still type something.
            if let (Some(text), ElementState::Pressed) = (typed(event), event.state) {
                told.push(Told::Composed(text));
            }
            return;
        };
        let pressed = event.state == ElementState::Pressed;
        // What was down before the window had the focus is not pressed in it.
        if synthetic && pressed {
            return;
        }
        let mut commands = ModifiersState::CONTROL | ModifiersState::SUPER;
        // Elsewhere the right one types, and does not count as Alt then.
        if !cfg!(target_os = "macos") {
            commands |= ModifiersState::ALT;
        }
        let types = pressed && !self.modifiers.intersects(commands);
        let label = match event.key_without_modifiers() {
            Key::Character(text) => Some(text.to_string()),
            _ => None,
        };
        told.push(Told::Key {
            code: format!("{code:?}"),
            pressed,
            repeat: event.repeat,
            label,
            text: types.then(|| typed(event)).flatten(),
        });
    }

    fn focus(&mut self, focused: bool, told: &mut Vec<Told>) {
        // Desktops say of windows that they open that they have no focus, which nobody lost.
        if std::mem::replace(&mut self.focused, focused) != focused {
            self.change(told, Change::Focus(focused));
        }
        let (minimized, maximized) = (self.window.is_minimized(), self.window.is_maximized());
        // Where that is not told, it has the focus and so is not.
        if let Some(minimized) = minimized.or(focused.then_some(false)) {
            self.minimized = minimized.then(Instant::now);
            self.change(told, Change::Minimized(minimized));
        }
        self.change(told, Change::Maximized(maximized));
        if self.mode != CursorMode::Free {
            // What is refused now is asked for again.
            let _ = self.hold_cursor();
        }
    }

    /// No desktop tells when a minimized window is seen again, and it may not get the focus with
    /// it: it is looked at once a second. A desktop that is slow has done by then what it was told.
    pub fn look_if_minimized(&mut self, told: &mut Vec<Told>) {
        if self.minimized.is_none_or(|looked| looked.elapsed() < LOOK_AGAIN) {
            return;
        }
        if self.window.is_minimized() == Some(false) {
            self.minimized = None;
            self.change(told, Change::Minimized(false));
        } else {
            self.minimized = Some(Instant::now());
        }
    }

    fn touch(&mut self, touch: &Touch, told: &mut Vec<Told>) {
        let (x, y) = self.place(touch.location);
        told.push(Told::Touch {
            finger: touch.id,
            what: match touch.phase {
                TouchPhase::Started => Touched::Began,
                TouchPhase::Moved => Touched::Moved,
                TouchPhase::Ended => Touched::Ended,
                TouchPhase::Cancelled => Touched::Cancelled,
            },
            x,
            y,
            pressure: touch.force.map_or(1.0, pressure),
        });
    }
}

/// The place of a button that has no name everywhere, by the desktop's number of it: X11 has them
/// from 10 on, Wayland by the kernel's code, macOS from 5 on.
fn other_button(number: u16) -> u16 {
    const KERNEL_FIRST: u16 = 0x117;
    let first = match number {
        KERNEL_FIRST.. => KERNEL_FIRST,
        10.. if !cfg!(target_os = "macos") => 10,
        _ => 5,
    };
    number.saturating_sub(first) + 5
}

/// How hard a finger presses, 0 to 1; 1 where a driver says nothing that makes sense.
fn pressure(force: Force) -> f32 {
    let force = force.normalized() as f32;
    if force.is_finite() { force.clamp(0.0, 1.0) } else { 1.0 }
}

fn compose(ime: Ime, told: &mut Vec<Told>) {
    match ime {
        Ime::Preedit(text, cursor) => {
            let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let cursor = cursor.map(|(first, last)| (byte(first), byte(last)));
            told.push(Told::Compose { text, cursor });
        }
        Ime::Commit(text) => told.push(Told::Composed(text)),
        Ime::Disabled => told.push(Told::Compose { text: String::new(), cursor: None }),
        Ime::Enabled => {}
    }
}

fn wheel(delta: MouseScrollDelta, told: &mut Vec<Told>) {
    let (x, y) = match delta {
        MouseScrollDelta::LineDelta(x, y) => (x, y),
        MouseScrollDelta::PixelDelta(by) => {
            ((by.x / PIXELS_PER_NOTCH) as f32, (by.y / PIXELS_PER_NOTCH) as f32)
        }
    };
    told.push(Told::Wheel { x, y });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buttons_without_a_name_follow_those_with_one() {
        assert_eq!([0x117, 0x118, 5].map(other_button), [5, 6, 5]);
        if !cfg!(target_os = "macos") {
            assert_eq!([10, 12].map(other_button), [5, 7]);
        }
        assert_eq!([0, u16::MAX].map(other_button), [5, u16::MAX - 0x117 + 5]);
    }

    #[test]
    fn a_window_beside_the_main_one_says_nothing_of_the_focus_when_it_is_opened() {
        let lost = Change::Focus(false);
        assert!(first_changes(None, 1.0, (3, 2)).contains(&lost));
        let told = first_changes(Some(7), 2.0, (3, 2));
        let size = Change::Resized { width: 3, height: 2 };
        assert_eq!(told, [Change::Opened, Change::Scale(2.0), size]);
    }

    #[test]
    fn a_driver_that_says_nonsense_of_a_fingers_force_is_not_believed() {
        let force = |force: f64, most: f64| {
            let (max_possible_force, altitude_angle) = (most, None);
            pressure(Force::Calibrated { force, max_possible_force, altitude_angle })
        };
        assert_eq!([force(1.0, 2.0), force(0.0, 0.0), force(3.0, 2.0)], [0.5, 1.0, 1.0]);
    }
}
