//! The pads of Linux: devices in one folder, looked through again when it changes.

use super::mapping::{self, BTN_GAMEPAD, BTN_JOYSTICK, Codes, Database};
use super::{EV_ABS, EV_KEY, EV_SYN, SYN_DROPPED, Translator};
use crate::foundation::log;
use crate::system::input::{DeviceId, Event, PAD, PADS_MAX, Rumble, What};
use crate::system::platform::{InputNode, RawInput};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

const FOLDER: &str = "/dev/input";
/// How often the folder is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// How often a device is tried that cannot be opened: who may read it is settled a little after it
/// is there.
const TRIES: u32 = 10;
/// The effect that is a rumble, and the kind of effects.
const EV_FF: u16 = 0x15;
const FF_RUMBLE: u16 = 0x50;

struct Node {
    path: PathBuf,
    node: InputNode,
    translator: Translator,
    rumbles: bool,
    effect: i16,
}

pub struct Nodes {
    database: Database,
    pads: Vec<Node>,
    /// Devices that are no pads, or cannot be read, and how often they were tried.
    others: HashMap<PathBuf, u32>,
    looked: Option<Instant>,
    changed: Option<SystemTime>,
    said: Vec<RawInput>,
}

impl Nodes {
    pub fn new(database: Database) -> Nodes {
        Nodes {
            database,
            pads: Vec::new(),
            others: HashMap::new(),
            looked: None,
            changed: None,
            said: Vec::new(),
        }
    }

    pub fn poll(&mut self, events: &mut Vec<Event>) {
        if self.looked.is_none_or(|looked| looked.elapsed() >= LOOK_AGAIN) {
            self.looked = Some(Instant::now());
            self.look(events);
        }
        let (said, count) = (&mut self.said, self.pads.len());
        self.pads.retain_mut(|pad| {
            said.clear();
            let there = pad.node.read(said).is_ok();
            for one in said.iter() {
                if (one.kind, one.code) == (EV_SYN, SYN_DROPPED) {
                    pad.ask_all(events);
                } else {
                    pad.translator.take(*one, events);
                }
            }
            if !there {
                let device = pad.translator.device;
                events.push(Event { device, age: 0.0, what: What::Disconnected });
            }
            there
        });
        if self.pads.len() < count {
            // It may be there again under the same name since the folder was looked at, as after a
            // computer's sleep.
            self.changed = None;
        }
    }

    /// Looks for devices that were not there before.
    fn look(&mut self, events: &mut Vec<Event>) {
        let changed = std::fs::metadata(FOLDER).and_then(|about| about.modified()).ok();
        let waiting = self.others.values().any(|tries| *tries < TRIES);
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
        paths.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
        self.others.retain(|path, _| paths.contains(path));
        for path in paths {
            let tried = self.others.get(&path).copied().unwrap_or(0);
            if tried >= TRIES || self.pads.iter().any(|pad| pad.path == path) {
                continue;
            }
            match InputNode::open(&path) {
                Ok(node) => {
                    if !self.add(&path, node, events) {
                        self.others.insert(path, TRIES);
                    }
                }
                Err(_) => {
                    self.others.insert(path, tried + 1);
                }
            }
        }
    }

    /// Takes in a device, if it is a pad and there is a number left for it.
    fn add(&mut self, path: &Path, node: InputNode, events: &mut Vec<Event>) -> bool {
        let keys = node.codes(EV_KEY);
        let axes = node.codes(EV_ABS).into_iter();
        let axes = axes.filter_map(|code| Some((code, node.range(code).ok()?))).collect();
        let codes = Codes { keys, axes };
        let id = node.id();
        let rules = match self.database.rules(id, &codes) {
            Some(rules) => rules,
            None if codes.keys.contains(&BTN_GAMEPAD) => {
                mapping::standard(&codes, is_swapped(path, id))
            }
            None => {
                // Other devices are no pads at all.
                if codes.keys.contains(&BTN_JOYSTICK) {
                    let (name, digits) = (node.name(), mapping::digits_of(id));
                    let words = format!(
                        "{name} is not used: nothing says which of its buttons is which. A line \
                         for {digits} in the game's gamecontrollerdb.txt does"
                    );
                    log::warning(&words);
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
        events.push(Event { device, age: 0.0, what: What::Connected { name, motors } });
        let translator = Translator::new(device, codes, rules);
        let mut pad = Node { path: path.to_path_buf(), node, translator, rumbles, effect: -1 };
        pad.ask_all(events);
        self.pads.push(pad);
        true
    }

    pub fn rumble(&mut self, wanted: Rumble) {
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

impl Node {
    /// Asks for everything as it is now: at the start, and where something was missed.
    fn ask_all(&mut self, events: &mut Vec<Event>) {
        let down = self.node.keys_down();
        let said = |kind, code, value| RawInput { age: 0.0, kind, code, value };
        for code in self.node.codes(EV_KEY) {
            let value = i32::from(down.contains(&code));
            self.translator.take(said(EV_KEY, code, value), events);
        }
        for code in self.node.codes(EV_ABS) {
            if let Ok(range) = self.node.range(code) {
                self.translator.take(said(EV_ABS, code, range.value), events);
            }
        }
    }
}

/// Whether the driver of a pad tells its left and its upper button the other way round: the one for
/// the pads of one console, and all of its maker's.
fn is_swapped(path: &Path, id: [u16; 4]) -> bool {
    const MAKER: u16 = 0x045e;
    let name = path.file_name().unwrap_or_default();
    let driver = Path::new("/sys/class/input").join(name).join("device/device/driver");
    let driver = std::fs::read_link(driver).ok();
    let driver = driver.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
    id[1] == MAKER || driver == Some("xpad")
}
