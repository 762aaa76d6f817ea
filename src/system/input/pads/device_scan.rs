//! Gamepads on Linux: device nodes in one folder, which is scanned again when it changes.

use super::MappingDatabase;
use super::database::digits_of;
use super::mapping::{self, BTN_GAMEPAD, BTN_JOYSTICK, DeviceCodes};
use super::translator::{EV_ABS, EV_KEY, EV_SYN, PadTranslator, SYN_DROPPED};
use crate::{DeviceId, EventKind, InputEvent, PAD, PADS_MAX, RumbleCommand};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::log;
use engine_platform::{InputNode, RawInput};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

const FOLDER: &str = "/dev/input";
/// Interval at which the folder is checked.
const SCAN_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum number of attempts to open a device. Its permissions are set shortly after the node
/// appears.
const TRIES: u32 = 10;
/// Event type of force feedback, and its rumble effect.
const EV_FF: u16 = 0x15;
const FF_RUMBLE: u16 = 0x50;

struct DeviceNode {
    path: PathBuf,
    node: InputNode,
    translator: PadTranslator,
    rumbles: bool,
    effect: i16,
}

pub struct DeviceNodes {
    database: MappingDatabase,
    pads: Vec<DeviceNode>,
    /// Devices that are not gamepads or cannot be read, and the number of attempts to open them.
    ignored: HashMap<PathBuf, u32>,
    last_scan: Option<Instant>,
    changed: Option<SystemTime>,
    raw_inputs: Vec<RawInput>,
}

impl DeviceNodes {
    pub fn new(database: MappingDatabase) -> DeviceNodes {
        DeviceNodes {
            database,
            pads: Vec::new(),
            ignored: HashMap::new(),
            last_scan: None,
            changed: None,
            raw_inputs: Vec::new(),
        }
    }

    pub fn poll(&mut self, events: &mut Vec<InputEvent>) {
        if self.last_scan.is_none_or(|last_scan| last_scan.elapsed() >= SCAN_INTERVAL) {
            self.last_scan = Some(Instant::now());
            self.scan(events);
        }
        let (raw_inputs, count) = (&mut self.raw_inputs, self.pads.len());
        self.pads.retain_mut(|pad| {
            raw_inputs.clear();
            let is_connected = pad.node.read(raw_inputs).is_ok();
            for one in raw_inputs.iter() {
                if (one.kind, one.code) == (EV_SYN, SYN_DROPPED) {
                    pad.read_all_state(events);
                } else {
                    pad.translator.take(*one, events);
                }
            }
            if !is_connected {
                let device = pad.translator.device;
                events.push(InputEvent { device, age: 0.0, kind: EventKind::Disconnected });
            }
            is_connected
        });
        if self.pads.len() < count {
            // The device may have reappeared under the same name since the last scan, for example
            // after the computer slept.
            self.changed = None;
        }
    }

    /// Scans for new devices.
    fn scan(&mut self, events: &mut Vec<InputEvent>) {
        let changed = std::fs::metadata(FOLDER).and_then(|about| about.modified()).ok();
        let waiting = self.ignored.values().any(|tries| *tries < TRIES);
        if changed.is_none() || changed == self.changed && !waiting {
            return;
        }
        self.changed = changed;
        let Ok(entries) = std::fs::read_dir(FOLDER) else { return };
        let is_event = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("event"))
        };
        let mut paths: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_event).collect();
        paths.sort_compact_by_key(|path| (path.as_os_str().len(), path.clone()));
        self.ignored.retain(|path, _| paths.contains(path));
        for path in paths {
            let tries = self.ignored.get(&path).copied().unwrap_or(0);
            if tries >= TRIES || self.pads.iter().any(|pad| pad.path == path) {
                continue;
            }
            match InputNode::open(&path) {
                Ok(node) => {
                    if !self.add(&path, node, events) {
                        self.ignored.insert(path, TRIES);
                    }
                }
                Err(_) => {
                    self.ignored.insert(path, tries + 1);
                }
            }
        }
    }

    /// Adds a device if it is a gamepad and a number is free for it.
    fn add(&mut self, path: &Path, node: InputNode, events: &mut Vec<InputEvent>) -> bool {
        let keys = node.codes(EV_KEY);
        let axes = node.codes(EV_ABS).into_iter();
        let axes = axes.filter_map(|code| Some((code, node.range(code).ok()?))).collect();
        let codes = DeviceCodes { keys, axes };
        let id = node.id();
        let rules = match mapping::rules_of(&self.database, id, &codes) {
            Some(rules) => rules,
            None if codes.keys.contains(&BTN_GAMEPAD) => {
                mapping::standard(&codes, is_swapped(path, id))
            }
            None => {
                // Devices with other codes are not gamepads.
                if codes.keys.contains(&BTN_JOYSTICK) {
                    let (name, digits) = (node.name(), digits_of(id));
                    let message = format!(
                        "{name} is not used: the mapping of its buttons is unknown. Add a line for \
                         {digits} to the game's gamecontrollerdb.txt"
                    );
                    log::warning(&message);
                }
                return false;
            }
        };
        let taken = |device: DeviceId| self.pads.iter().any(|pad| pad.translator.device == device);
        let numbers = (0..PADS_MAX as u8).map(|at| DeviceId(PAD.0 + at));
        let Some(device) = numbers.into_iter().find(|device| !taken(*device)) else {
            log::warning(&format!("more than {PADS_MAX} pads: {} is left out", node.name()));
            return false;
        };
        let rumbles = node.codes(EV_FF).contains(&FF_RUMBLE);
        let motors = if rumbles { 2 } else { 0 };
        let name = node.name();
        events.push(InputEvent { device, age: 0.0, kind: EventKind::Connected { name, motors } });
        let translator = PadTranslator::new(device, codes, rules);
        let mut pad =
            DeviceNode { path: path.to_path_buf(), node, translator, rumbles, effect: -1 };
        pad.read_all_state(events);
        self.pads.push(pad);
        true
    }

    pub fn rumble(&mut self, wanted: RumbleCommand) {
        let found = self.pads.iter_mut().find(|pad| pad.translator.device == wanted.device);
        let Some(pad) = found.filter(|pad| pad.rumbles) else { return };
        match pad.node.rumble(pad.effect, wanted.motors, wanted.seconds) {
            Ok(effect) => pad.effect = effect,
            Err(reason) => {
                pad.rumbles = false;
                log::warning(&format!("{} cannot rumble: {reason}", pad.node.name()));
            }
        }
    }
}

impl DeviceNode {
    /// Reads the complete current state, at the start and after dropped events.
    fn read_all_state(&mut self, events: &mut Vec<InputEvent>) {
        let down = self.node.keys_down();
        let input = |kind, code, value| RawInput { age: 0.0, kind, code, value };
        for code in self.node.codes(EV_KEY) {
            let value = i32::from(down.contains(&code));
            self.translator.take(input(EV_KEY, code, value), events);
        }
        for code in self.node.codes(EV_ABS) {
            if let Ok(range) = self.node.range(code) {
                self.translator.take(input(EV_ABS, code, range.value), events);
            }
        }
    }
}

/// Returns true if the driver of a gamepad swaps its left and upper button: the driver for the pads
/// of one console, and all pads of its manufacturer.
fn is_swapped(path: &Path, id: [u16; 4]) -> bool {
    const MAKER: u16 = 0x045e;
    let name = path.file_name().unwrap_or_default();
    let driver = Path::new("/sys/class/input").join(name).join("device/device/driver");
    let driver = std::fs::read_link(driver).ok();
    let driver = driver.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
    id[1] == MAKER || driver == Some("xpad")
}
