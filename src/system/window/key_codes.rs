//! The keys whose positions have a name in the web standard "UI Events KeyboardEvent code Values"
//! (W3C). The super keys have winit's names, `SuperLeft` and `SuperRight`.

#[cfg(feature = "desktop")]
use winit::keyboard::KeyCode;

macro_rules! key_codes {
    ($($code:ident),* $(,)?) => {
        const NAMES: &[&str] = &[$(stringify!($code)),*];
        #[cfg(feature = "desktop")]
        const KEY_CODES: &[KeyCode] = &[$(KeyCode::$code),*];
    };
}

#[rustfmt::skip]
key_codes! {
    KeyA, KeyB, KeyC, KeyD, KeyE, KeyF, KeyG, KeyH, KeyI, KeyJ, KeyK, KeyL, KeyM, KeyN, KeyO,
    KeyP, KeyQ, KeyR, KeyS, KeyT, KeyU, KeyV, KeyW, KeyX, KeyY, KeyZ, Digit0, Digit1, Digit2,
    Digit3, Digit4, Digit5, Digit6, Digit7, Digit8, Digit9, Space, Enter, Escape, Tab, Backspace,
    ArrowLeft, ArrowRight, ArrowUp, ArrowDown, ShiftLeft, ShiftRight, ControlLeft, ControlRight,
    AltLeft, AltRight, SuperLeft, SuperRight, Insert, Delete, Home, End, PageUp, PageDown,
    CapsLock, NumLock, ScrollLock, PrintScreen, Pause, ContextMenu, Minus, Equal, BracketLeft,
    BracketRight, Backslash, Semicolon, Quote, Backquote, Comma, Period, Slash, IntlBackslash,
    IntlRo, IntlYen, Convert, NonConvert, KanaMode, F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11,
    F12, F13, F14, F15, F16, F17, F18, F19, F20, F21, F22, F23, F24, Numpad0, Numpad1, Numpad2,
    Numpad3, Numpad4, Numpad5, Numpad6, Numpad7, Numpad8, Numpad9, NumpadAdd, NumpadSubtract,
    NumpadMultiply, NumpadDivide, NumpadEnter, NumpadDecimal, NumpadEqual, NumpadComma,
    AudioVolumeUp, AudioVolumeDown, AudioVolumeMute, MediaPlayPause, MediaTrackNext,
    MediaTrackPrevious, MediaStop, BrowserBack, BrowserForward,
}

/// Returns the name of a key's position; `None` for keys that games cannot query.
#[cfg(feature = "desktop")]
pub fn name_of(code: KeyCode) -> Option<&'static str> {
    KEY_CODES.iter().position(|known| *known == code).map(|at| NAMES[at])
}

/// Returns all names, each once.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().copied()
}
