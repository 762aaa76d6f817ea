//! The callbacks: functions of a game that the engine calls. One table has their names, their
//! documentation, and the seeds of string ids before each call.

use super::api_row::NodeFlag;
use super::docgen::model::{FunctionDoc, FunctionSource, ParamDoc, ReturnDoc};

/// A function of a game that the engine calls.
pub struct Callback {
    pub name: &'static str,
    /// Name, type and description.
    pub params: &'static [(&'static str, &'static str, &'static str)],
    pub returns: &'static [(&'static str, &'static str)],
    pub doc: &'static str,
    /// Position in the seeds of string ids, or `None` if the ids are not reseeded before the call.
    string_seed: Option<u32>,
}

/// Position in the seeds of the boot script, which runs before all callbacks.
const BOOT_SEED: u32 = 0;

/// Distance between the seeds of two frames.
const SEEDS_PER_FRAME: u32 = 6;

/// Callbacks in the order in which they are called.
pub const CALLBACKS: &[Callback] = &[
    Callback {
        name: "init",
        params: &[],
        returns: &[],
        doc: "Called once, after the boot script ran and before the first frame: create the \
              initial state of the game here.",
        string_seed: Some(1),
    },
    Callback {
        name: "on_reload",
        params: &[("names", "string[]", "names of what changed, such as `actors/hero.lua`")],
        returns: &[],
        doc: "Called after changed files of the game were reloaded while it runs, before `update`: \
              recreate what the game made of them. `init` is not called again.",
        // Scripts are reloaded only in runs that are not reproducible.
        string_seed: None,
    },
    Callback {
        name: "update",
        params: &[("dt", "number", "seconds by which this frame advances the game")],
        returns: &[],
        doc: "Called once in each frame, before `render`: advances the game. If a game does not \
              define it, the engine updates the main world itself.",
        string_seed: Some(2),
    },
    Callback {
        name: "render",
        params: &[],
        returns: &[],
        doc: "Called once in each frame, after `update`: draws the frame.",
        string_seed: Some(3),
    },
    Callback {
        name: "on_animation_event",
        params: &[
            ("unit", "Unit", "the unit that sent the event"),
            ("event", "string", "the name of the event"),
            ("layer", "integer", "the layer of its state machine, from 1"),
        ],
        returns: &[],
        doc: "Called at the end of `World.update` for each event that units sent in it: events of \
              the states of their state machines, and of animations that these play. A function \
              of the same name in a component is called first, with the events of the component's \
              units.",
        // It is called in `update`.
        string_seed: None,
    },
    Callback {
        name: "on_flow_event",
        params: &[
            ("object", "Unit|Level", "the unit or the level of the graph"),
            ("name", "string", "the name of the event"),
            ("value", "any", "the value that the graph sends with it, or nil"),
        ],
        returns: &[],
        doc: "Called when a node of type `event.raise` runs in the graph of a unit or a level. An \
              error ends the chain of the node, and is logged.",
        // It is called in `update`.
        string_seed: None,
    },
    Callback {
        name: "on_activate",
        params: &[("active", "boolean", "true if a window of the game now has the focus")],
        returns: &[],
        doc: "Called before `update` when the game gains or loses the focus.",
        string_seed: Some(4),
    },
    Callback {
        name: "on_close",
        params: &[(
            "window",
            "Window|nil",
            "a window from `Window.open`, or nil for the main window",
        )],
        returns: &[("boolean|nil", "false keeps the window open; nil or true closes it")],
        doc: "Called when the player closes a window, or the game calls `Window.close` for its \
              main window. Closing the main window ends the game. After another window is closed, \
              its handle stays valid, and nothing is visible any more.",
        // The seed of the next frame's boot script: only the first frame has one.
        string_seed: Some(6),
    },
    Callback {
        name: "shutdown",
        params: &[],
        returns: &[],
        doc: "Called once at the end, also when the process is asked to end (Ctrl+C): save here. \
              Not called after an error that ended the game.",
        string_seed: Some(5),
    },
];

impl Callback {
    pub fn doc(&self) -> FunctionDoc {
        let param = |(name, kind, doc): &(&str, &str, &str)| ParamDoc {
            name: name.to_string(),
            kind: kind.to_string(),
            optional: false,
            doc: doc.to_string(),
        };
        let result = |(kind, doc): &(&str, &str)| ReturnDoc {
            name: String::new(),
            kind: kind.to_string(),
            rest: false,
            doc: doc.to_string(),
        };
        FunctionDoc {
            module: String::new(),
            name: self.name.to_string(),
            doc: self.doc.to_string(),
            params: self.params.iter().map(param).collect(),
            returns: self.returns.iter().map(result).collect(),
            hot: false,
            node: NodeFlag::Hidden,
            source: FunctionSource::Declared,
            declared: Vec::new(),
        }
    }
}

/// Returns the number from which string ids are seeded before the boot script or a callback, in a
/// frame; `None` if they are not reseeded before that callback. The numbers are part of recordings
/// on platforms whose strings are not numbered by their text (string_ids.c).
pub fn string_seed(callback: Option<&str>, frame: u32) -> Option<u32> {
    let position = match callback {
        None => Some(BOOT_SEED),
        Some(name) => {
            let row = CALLBACKS.iter().find(|row| row.name == name);
            row.expect("every callback is in the table").string_seed
        }
    };
    position.map(|at| 1 + frame.wrapping_mul(SEEDS_PER_FRAME).wrapping_add(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn string_seeds_are_those_of_existing_recordings() {
        let in_frame = |frame| {
            ["init", "update", "render", "on_activate", "shutdown"]
                .map(|name| string_seed(Some(name), frame).unwrap())
        };
        assert_eq!(string_seed(None, 0), Some(1));
        assert_eq!(in_frame(0), [2, 3, 4, 5, 6]);
        assert_eq!(in_frame(10), [62, 63, 64, 65, 66]);
        assert_eq!(string_seed(Some("on_reload"), 10), None);
    }

    #[test]
    fn no_two_calls_share_a_string_seed() {
        let mut used = HashSet::from([string_seed(None, 0).unwrap()]);
        for frame in 0..4 {
            for row in CALLBACKS {
                let seed = string_seed(Some(row.name), frame);
                assert!(seed.is_none_or(|seed| used.insert(seed)), "{}, {frame}", row.name);
            }
        }
    }
}
