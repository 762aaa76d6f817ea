//! Names of buttons and axes: one table for each device class. Indices count from 0 and are
//! positions in the table. Knows no window and no driver.

use engine_foundation::suggest;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Class of an input device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeviceClass {
    Keyboard,
    Mouse,
    Pad,
    Touch,
}

impl DeviceClass {
    pub const ALL: [DeviceClass; 4] =
        [DeviceClass::Keyboard, DeviceClass::Mouse, DeviceClass::Pad, DeviceClass::Touch];

    /// Returns the name of the class in scripts.
    pub const fn name(self) -> &'static str {
        match self {
            DeviceClass::Keyboard => "keyboard",
            DeviceClass::Mouse => "mouse",
            DeviceClass::Pad => "pad",
            DeviceClass::Touch => "touch",
        }
    }

    /// Returns the names of the buttons, in the order of their indices.
    pub const fn buttons(self) -> &'static [InputName] {
        match self {
            DeviceClass::Keyboard => KEYS,
            DeviceClass::Mouse => MOUSE_BUTTONS,
            DeviceClass::Pad => PAD_BUTTONS,
            DeviceClass::Touch => TOUCH_BUTTONS,
        }
    }

    /// Returns the names of the axes.
    pub const fn axes(self) -> &'static [InputName] {
        match self {
            DeviceClass::Keyboard => &[],
            DeviceClass::Mouse => MOUSE_AXES,
            DeviceClass::Pad => PAD_AXES,
            DeviceClass::Touch => TOUCH_AXES,
        }
    }

    /// Returns the names of the motors.
    pub const fn motors(self) -> &'static [InputName] {
        match self {
            DeviceClass::Pad => PAD_MOTORS,
            DeviceClass::Keyboard | DeviceClass::Mouse | DeviceClass::Touch => &[],
        }
    }

    /// Returns the index of the button with this name.
    pub fn button(self, name: &str) -> Option<usize> {
        index(self as usize, self.buttons(), name)
    }

    /// Returns the index of the axis with this name.
    pub fn axis(self, name: &str) -> Option<usize> {
        index(DeviceClass::ALL.len() + self as usize, self.axes(), name)
    }

    /// Returns the index of the motor with this name.
    pub fn motor(self, name: &str) -> Option<usize> {
        self.motors().iter().position(|motor| motor.accepted_names().any(|word| word == name))
    }
}

/// Names of one button, axis or motor.
#[derive(Debug, PartialEq)]
pub struct InputName {
    pub name: &'static str,
    /// Alternative names. Every name with spaces is also accepted with underscores.
    pub aliases: &'static [&'static str],
    /// Code of a key's position in the web standard ("UI Events KeyboardEvent code Values", W3C),
    /// which windows report. Empty for other buttons.
    pub code: &'static str,
}

impl InputName {
    /// Returns all accepted names.
    pub fn accepted_names(&self) -> impl Iterator<Item = String> {
        let all = std::iter::once(self.name).chain(self.aliases.iter().copied());
        all.flat_map(|word| {
            let plain = word.contains(' ').then(|| word.replace(' ', "_"));
            std::iter::once(word.to_string()).chain(plain)
        })
    }
}

fn index(table: usize, names: &'static [InputName], wanted: &str) -> Option<usize> {
    static TABLES: [OnceLock<HashMap<String, usize>>; 8] = [const { OnceLock::new() }; 8];
    let indices = TABLES[table].get_or_init(|| {
        engine_foundation::owner!("engine");
        let each = names.iter().enumerate();
        each.flat_map(|(at, name)| name.accepted_names().map(move |word| (word, at))).collect()
    });
    indices.get(wanted).copied()
}

/// Returns `", did you mean 'x'?"` for an unknown name, or an empty string. Suggests a similar
/// name, or the name that corresponds to another library's name.
pub fn hint(word: &str, names: &[InputName]) -> String {
    let find_name =
        |wanted: &str| names.iter().find(|name| name.accepted_names().any(|word| word == wanted));
    let folded = normalize(word);
    let is_meant = |name: &&InputName| {
        name.accepted_names().any(|word| normalize(&word) == folded)
            || normalize(name.code) == folded
    };
    let foreign = || FOREIGN.iter().filter(|(theirs, _)| *theirs == folded);
    let numpad = || {
        let rest = FOREIGN_NUMPAD.iter().find_map(|prefix| folded.strip_prefix(prefix))?;
        find_name(&format!("numpad {rest}"))
    };
    let prefixed = || {
        let rest = FOREIGN_PREFIXES.iter().find_map(|prefix| folded.strip_prefix(prefix))?;
        names.iter().find(|name| name.accepted_names().any(|word| normalize(&word) == rest))
    };
    let intended = names.iter().find(is_meant);
    let intended = intended.or_else(|| foreign().find_map(|(_, ours)| find_name(ours)));
    match intended.or_else(numpad).or_else(prefixed).filter(|_| !folded.is_empty()) {
        Some(name) => format!(", did you mean '{}'?", name.name),
        // A single character is equally similar to all others.
        None if folded.chars().count() < 2 => String::new(),
        None => {
            let all: Vec<String> = names.iter().flat_map(InputName::accepted_names).collect();
            suggest::hint(word, all.iter().map(String::as_str))
        }
    }
}

/// Normalizes a name: lower case, without spaces, underscores and hyphens between words.
fn normalize(word: &str) -> String {
    let mut rest = word.chars().peekable();
    let mut folded = String::new();
    while let Some(letter) = rest.next() {
        let parts = letter == '-' && rest.peek().is_some_and(|next| next.is_alphabetic());
        if !(letter == ' ' || letter == '_' || parts) {
            folded.extend(letter.to_lowercase());
        }
    }
    folded
}

/// Normalized names in other libraries, and the corresponding names here. The first one that the
/// device has is used.
const FOREIGN: &[(&str, &str)] = &[
    ("+", "equals"),
    ("back", "backspace"),
    ("backtick", "grave"),
    ("bksp", "backspace"),
    ("capital", "caps lock"),
    ("create", "back"),
    ("ctl", "ctrl"),
    ("dash", "minus"),
    ("dot", "period"),
    ("down", "d down"),
    ("fullstop", "period"),
    ("hyphen", "minus"),
    ("l", "left shoulder"),
    ("lcontrol", "left ctrl"),
    ("left", "d left"),
    ("leftbumper", "left shoulder"),
    ("leftbutton", "left"),
    ("leftmeta", "left super"),
    ("leftwin", "left super"),
    ("lmb", "left"),
    ("lmeta", "left super"),
    ("ls", "left thumb"),
    ("lwin", "left super"),
    ("menu", "start"),
    ("meta", "super"),
    ("middlebutton", "middle"),
    ("mmb", "middle"),
    ("mouse4", "extra 1"),
    ("mouse5", "extra 2"),
    ("next", "page down"),
    ("plus", "equals"),
    ("prior", "page up"),
    ("prtsc", "print screen"),
    ("r", "right shoulder"),
    ("rcontrol", "right ctrl"),
    ("right", "d right"),
    ("rightbumper", "right shoulder"),
    ("rightbutton", "right"),
    ("rightmeta", "right super"),
    ("rightwin", "right super"),
    ("rmb", "right"),
    ("rmeta", "right super"),
    ("rs", "right thumb"),
    ("rwin", "right super"),
    ("snapshot", "print screen"),
    ("up", "d up"),
    ("win", "super"),
    ("zl", "left trigger"),
    ("zr", "right trigger"),
];

/// Prefixes in other libraries: of numeric keypad keys, and of all names.
const FOREIGN_NUMPAD: [&str; 3] = ["keypad", "num", "kp"];
const FOREIGN_PREFIXES: [&str; 8] =
    ["sdlscancode", "sdlk", "glfwkey", "scancode", "key", "vk", "dik", "button"];

/// Returns the key at the position with this code in the web standard.
pub fn key_of_code(code: &str) -> Option<usize> {
    static CODES: OnceLock<HashMap<&str, usize>> = OnceLock::new();
    let codes = CODES.get_or_init(|| {
        engine_foundation::owner!("engine");
        let keys = KEYS.iter().enumerate().filter(|(_, key)| !key.code.is_empty());
        keys.map(|(at, key)| (key.code, at)).collect()
    });
    codes.get(code).copied()
}

/// Keys that combine a pair: down while one of the two keys is down.
pub const PAIRS: [(&str, [&str; 2]); 4] = [
    ("shift", ["left shift", "right shift"]),
    ("ctrl", ["left ctrl", "right ctrl"]),
    ("alt", ["left alt", "right alt"]),
    ("super", ["left super", "right super"]),
];

const fn key(
    name: &'static str,
    code: &'static str,
    aliases: &'static [&'static str],
) -> InputName {
    InputName { name, aliases, code }
}

const fn input_name(name: &'static str, aliases: &'static [&'static str]) -> InputName {
    InputName { name, aliases, code: "" }
}

/// Keys by their position on a keyboard, named after the US layout.
pub const KEYS: &[InputName] = &[
    key("a", "KeyA", &[]),
    key("b", "KeyB", &[]),
    key("c", "KeyC", &[]),
    key("d", "KeyD", &[]),
    key("e", "KeyE", &[]),
    key("f", "KeyF", &[]),
    key("g", "KeyG", &[]),
    key("h", "KeyH", &[]),
    key("i", "KeyI", &[]),
    key("j", "KeyJ", &[]),
    key("k", "KeyK", &[]),
    key("l", "KeyL", &[]),
    key("m", "KeyM", &[]),
    key("n", "KeyN", &[]),
    key("o", "KeyO", &[]),
    key("p", "KeyP", &[]),
    key("q", "KeyQ", &[]),
    key("r", "KeyR", &[]),
    key("s", "KeyS", &[]),
    key("t", "KeyT", &[]),
    key("u", "KeyU", &[]),
    key("v", "KeyV", &[]),
    key("w", "KeyW", &[]),
    key("x", "KeyX", &[]),
    key("y", "KeyY", &[]),
    key("z", "KeyZ", &[]),
    key("0", "Digit0", &[]),
    key("1", "Digit1", &[]),
    key("2", "Digit2", &[]),
    key("3", "Digit3", &[]),
    key("4", "Digit4", &[]),
    key("5", "Digit5", &[]),
    key("6", "Digit6", &[]),
    key("7", "Digit7", &[]),
    key("8", "Digit8", &[]),
    key("9", "Digit9", &[]),
    key("space", "Space", &["spacebar", "space bar"]),
    key("enter", "Enter", &["return"]),
    key("escape", "Escape", &["esc"]),
    key("tab", "Tab", &[]),
    key("backspace", "Backspace", &[]),
    key("left", "ArrowLeft", &["left arrow"]),
    key("right", "ArrowRight", &["right arrow"]),
    key("up", "ArrowUp", &["up arrow"]),
    key("down", "ArrowDown", &["down arrow"]),
    input_name("shift", &[]),
    key("left shift", "ShiftLeft", &["lshift"]),
    key("right shift", "ShiftRight", &["rshift"]),
    input_name("ctrl", &["control"]),
    key("left ctrl", "ControlLeft", &["lctrl", "left control"]),
    key("right ctrl", "ControlRight", &["rctrl", "right control"]),
    input_name("alt", &["option"]),
    key("left alt", "AltLeft", &["lalt", "left option"]),
    key("right alt", "AltRight", &["ralt", "alt gr", "right option"]),
    input_name("super", &["windows", "command", "cmd", "gui"]),
    key("left super", "SuperLeft", &["lgui", "left windows", "left command", "left cmd"]),
    key("right super", "SuperRight", &["rgui", "right windows", "right command", "right cmd"]),
    key("insert", "Insert", &["ins"]),
    key("delete", "Delete", &["del"]),
    key("home", "Home", &[]),
    key("end", "End", &[]),
    key("page up", "PageUp", &["pageup", "pgup"]),
    key("page down", "PageDown", &["pagedown", "pgdown", "pgdn"]),
    key("caps lock", "CapsLock", &["capslock"]),
    key("num lock", "NumLock", &["numlock"]),
    key("scroll lock", "ScrollLock", &["scrolllock"]),
    key("print screen", "PrintScreen", &["printscreen", "print"]),
    key("pause", "Pause", &["break"]),
    key("menu", "ContextMenu", &["application", "context menu"]),
    key("minus", "Minus", &["-"]),
    key("equals", "Equal", &["=", "equal"]),
    key("left bracket", "BracketLeft", &["["]),
    key("right bracket", "BracketRight", &["]"]),
    key("backslash", "Backslash", &["\\"]),
    key("semicolon", "Semicolon", &[";"]),
    key("apostrophe", "Quote", &["'", "quote"]),
    key("grave", "Backquote", &["`", "backquote", "tilde"]),
    key("comma", "Comma", &[","]),
    key("period", "Period", &["."]),
    key("slash", "Slash", &["/"]),
    key("iso backslash", "IntlBackslash", &["oem 102", "<"]),
    key("ro", "IntlRo", &[]),
    key("yen", "IntlYen", &[]),
    key("convert", "Convert", &[]),
    key("non convert", "NonConvert", &[]),
    key("kana", "KanaMode", &[]),
    key("f1", "F1", &[]),
    key("f2", "F2", &[]),
    key("f3", "F3", &[]),
    key("f4", "F4", &[]),
    key("f5", "F5", &[]),
    key("f6", "F6", &[]),
    key("f7", "F7", &[]),
    key("f8", "F8", &[]),
    key("f9", "F9", &[]),
    key("f10", "F10", &[]),
    key("f11", "F11", &[]),
    key("f12", "F12", &[]),
    key("f13", "F13", &[]),
    key("f14", "F14", &[]),
    key("f15", "F15", &[]),
    key("f16", "F16", &[]),
    key("f17", "F17", &[]),
    key("f18", "F18", &[]),
    key("f19", "F19", &[]),
    key("f20", "F20", &[]),
    key("f21", "F21", &[]),
    key("f22", "F22", &[]),
    key("f23", "F23", &[]),
    key("f24", "F24", &[]),
    key("numpad 0", "Numpad0", &["numpad0", "kp0"]),
    key("numpad 1", "Numpad1", &["numpad1", "kp1"]),
    key("numpad 2", "Numpad2", &["numpad2", "kp2"]),
    key("numpad 3", "Numpad3", &["numpad3", "kp3"]),
    key("numpad 4", "Numpad4", &["numpad4", "kp4"]),
    key("numpad 5", "Numpad5", &["numpad5", "kp5"]),
    key("numpad 6", "Numpad6", &["numpad6", "kp6"]),
    key("numpad 7", "Numpad7", &["numpad7", "kp7"]),
    key("numpad 8", "Numpad8", &["numpad8", "kp8"]),
    key("numpad 9", "Numpad9", &["numpad9", "kp9"]),
    key("numpad plus", "NumpadAdd", &["numpad +", "kp+"]),
    key("numpad minus", "NumpadSubtract", &["numpad -", "kp-"]),
    key("numpad multiply", "NumpadMultiply", &["numpad *", "kp*"]),
    key("numpad divide", "NumpadDivide", &["numpad /", "kp/"]),
    key("numpad enter", "NumpadEnter", &["kpenter"]),
    key("numpad period", "NumpadDecimal", &["numpad .", "kp."]),
    key("numpad equals", "NumpadEqual", &["numpad =", "kp="]),
    key("numpad comma", "NumpadComma", &["numpad ,", "kp,"]),
    key("volume up", "AudioVolumeUp", &[]),
    key("volume down", "AudioVolumeDown", &[]),
    key("volume mute", "AudioVolumeMute", &["mute"]),
    key("play pause", "MediaPlayPause", &[]),
    key("next track", "MediaTrackNext", &[]),
    key("previous track", "MediaTrackPrevious", &[]),
    key("stop", "MediaStop", &[]),
    key("browser back", "BrowserBack", &[]),
    key("browser forward", "BrowserForward", &[]),
];

pub const MOUSE_BUTTONS: &[InputName] = &[
    input_name("left", &[]),
    input_name("right", &[]),
    input_name("middle", &["wheel"]),
    input_name("extra 1", &["back", "x1"]),
    input_name("extra 2", &["forward", "x2"]),
    input_name("extra 3", &["x3"]),
    input_name("extra 4", &["x4"]),
    input_name("extra 5", &["x5"]),
];

/// Indices in [`MOUSE_AXES`].
pub const MOUSE_CURSOR: usize = 0;
pub const MOUSE_MOTION: usize = 1;
pub const MOUSE_WHEEL: usize = 2;

pub const MOUSE_AXES: &[InputName] = &[
    input_name("cursor", &["position"]),
    input_name("mouse", &["motion"]),
    input_name("wheel", &["scroll"]),
];

/// Indices in [`PAD_BUTTONS`] that drivers need.
pub mod pad {
    pub const A: u16 = 0;
    pub const B: u16 = 1;
    pub const X: u16 = 2;
    pub const Y: u16 = 3;
    pub const D_UP: u16 = 4;
    pub const D_DOWN: u16 = 5;
    pub const D_LEFT: u16 = 6;
    pub const D_RIGHT: u16 = 7;
    pub const LEFT_SHOULDER: u16 = 8;
    pub const RIGHT_SHOULDER: u16 = 9;
    pub const LEFT_TRIGGER: u16 = 10;
    pub const RIGHT_TRIGGER: u16 = 11;
    pub const LEFT_THUMB: u16 = 12;
    pub const RIGHT_THUMB: u16 = 13;
    pub const BACK: u16 = 14;
    pub const START: u16 = 15;
    pub const GUIDE: u16 = 16;
    pub const MISC: u16 = 17;
    pub const PADDLE_1: u16 = 18;
    pub const TOUCHPAD: u16 = 22;
    /// Indices of the axes.
    pub const LEFT: u8 = 0;
    pub const RIGHT: u8 = 1;
}

/// Gamepad buttons by position: "a" is the lowest of the four on the right, regardless of its
/// label.
pub const PAD_BUTTONS: &[InputName] = &[
    input_name("a", &["cross", "south"]),
    input_name("b", &["circle", "east"]),
    input_name("x", &["square", "west"]),
    input_name("y", &["triangle", "north"]),
    input_name("d up", &["dpad up", "dpup"]),
    input_name("d down", &["dpad down", "dpdown"]),
    input_name("d left", &["dpad left", "dpleft"]),
    input_name("d right", &["dpad right", "dpright"]),
    input_name("left shoulder", &["lb", "l1", "leftshoulder"]),
    input_name("right shoulder", &["rb", "r1", "rightshoulder"]),
    input_name("left trigger", &["lt", "l2", "lefttrigger"]),
    input_name("right trigger", &["rt", "r2", "righttrigger"]),
    input_name("left thumb", &["l3", "left stick", "leftstick"]),
    input_name("right thumb", &["r3", "right stick", "rightstick"]),
    input_name("back", &["select", "view", "share", "minus"]),
    input_name("start", &["options", "plus"]),
    input_name("guide", &["home", "ps"]),
    input_name("misc", &["misc1", "capture"]),
    input_name("paddle 1", &["paddle1"]),
    input_name("paddle 2", &["paddle2"]),
    input_name("paddle 3", &["paddle3"]),
    input_name("paddle 4", &["paddle4"]),
    input_name("touchpad", &[]),
];

pub const PAD_AXES: &[InputName] = &[
    input_name("left", &["left stick", "leftstick"]),
    input_name("right", &["right stick", "rightstick"]),
];

/// Motors by strength; in most gamepads the strong one is on the left.
pub const PAD_MOTORS: &[InputName] =
    &[input_name("strong", &["left"]), input_name("weak", &["right"])];

pub const TOUCH_BUTTONS: &[InputName] = &[input_name("touch", &["primary"])];

pub const TOUCH_AXES: &[InputName] =
    &[input_name("cursor", &["position"]), input_name("delta", &["motion"])];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_button_name_is_unique_and_found() {
        for class in DeviceClass::ALL {
            for names in [class.buttons(), class.axes()] {
                let mut visited = HashMap::new();
                for (at, name) in names.iter().enumerate() {
                    for word in name.accepted_names() {
                        assert!(visited.insert(word.clone(), at).is_none(), "{word} of {class:?}");
                    }
                }
            }
            for (at, name) in class.buttons().iter().enumerate() {
                assert!(
                    name.accepted_names().all(|word| class.button(&word) == Some(at)),
                    "{name:?}"
                );
            }
            for (at, name) in class.axes().iter().enumerate() {
                assert!(
                    name.accepted_names().all(|word| class.axis(&word) == Some(at)),
                    "{name:?}"
                );
            }
        }
        assert_eq!(
            DeviceClass::Keyboard.button("left_shift"),
            DeviceClass::Keyboard.button("lshift")
        );
        assert_eq!(DeviceClass::Keyboard.button("spce"), None);
    }

    #[test]
    fn names_of_other_libraries_are_accepted_or_suggest_ours() {
        let keys = [
            ("KeyW", "w"),
            ("ArrowLeft", "left"),
            ("LeftShift", "left shift"),
            ("left-shift", "left shift"),
            ("ESCAPE", "escape"),
            ("SDLK_SPACE", "space"),
            ("KEY_F5", "f5"),
            ("VK_RETURN", "enter"),
            ("lcontrol", "left ctrl"),
            ("LWin", "left super"),
            ("keypad 4", "numpad 4"),
            ("num 4", "numpad 4"),
            ("Num_Enter", "numpad enter"),
            ("prior", "page up"),
            ("PageUp", "page up"),
            ("bksp", "backspace"),
            ("dot", "period"),
            ("Digit1", "1"),
            ("spcae", "space"),
        ];
        for (theirs, ours) in keys {
            assert_eq!(DeviceClass::Keyboard.button(theirs), None, "{theirs}");
            assert_eq!(hint(theirs, KEYS), format!(", did you mean '{ours}'?"), "{theirs}");
        }
        let of_pads = [("A", "a"), ("up", "d up"), ("L1", "left shoulder"), ("ZL", "left trigger")];
        for (theirs, ours) in of_pads {
            assert_eq!(hint(theirs, PAD_BUTTONS), format!(", did you mean '{ours}'?"), "{theirs}");
        }
        assert_eq!(hint("+", KEYS), ", did you mean 'equals'?");
        assert_eq!(hint("", KEYS) + &hint("ß", KEYS), "");
        assert_eq!(hint("lmb", MOUSE_BUTTONS), ", did you mean 'left'?");
        for theirs in ["", " ", "-", "_", "no such thing", "numpad", "key", "spiral"] {
            assert_eq!(hint(theirs, PAD_AXES), "", "{theirs}");
            assert_eq!(hint(theirs, &[]), "", "{theirs}");
        }
        for known in ["spacebar", "return", "esc", "lshift", "control", "ctrl", "lctrl", "cmd"] {
            assert!(DeviceClass::Keyboard.button(known).is_some(), "{known}");
        }
        for (theirs, ours) in FOREIGN {
            assert_eq!(normalize(theirs), *theirs);
            let all = DeviceClass::ALL.iter().filter(|class| class.button(ours).is_some());
            assert!(all.count() > 0, "{ours}");
        }
    }

    #[test]
    fn driver_indices_match_the_tables() {
        let named = |at: u16| PAD_BUTTONS[at as usize].name;
        assert_eq!([named(pad::Y), named(pad::D_RIGHT)], ["y", "d right"]);
        assert_eq!([named(pad::RIGHT_TRIGGER), named(pad::GUIDE)], ["right trigger", "guide"]);
        assert_eq!([named(pad::PADDLE_1), named(pad::TOUCHPAD)], ["paddle 1", "touchpad"]);
        assert_eq!(MOUSE_AXES[MOUSE_WHEEL].name, "wheel");
        assert_eq!(key_of_code("KeyZ"), DeviceClass::Keyboard.button("z"));
        assert!(
            PAIRS
                .iter()
                .flat_map(|(pair, of)| [*pair, of[0], of[1]])
                .all(|name| { DeviceClass::Keyboard.button(name).is_some() })
        );
    }
}
