//! What is neither in a row nor in the prelude's comments: the functions of a game's that the
//! engine calls, and which part of Lua's own library games have, with what differs there.

use super::model::{FunctionDoc, ParamDoc, ReturnDoc, Source};

/// A function that is declared here and nowhere else.
pub struct Declared {
    pub name: &'static str,
    /// Name, type and words.
    pub params: &'static [(&'static str, &'static str, &'static str)],
    pub returns: &'static [(&'static str, &'static str)],
    pub doc: &'static str,
}

/// In the order in which they are called.
pub const CALLBACKS: &[Declared] = &[
    Declared {
        name: "init",
        params: &[],
        returns: &[],
        doc: "Called once, after the boot script ran and before the first frame: make what the \
              game starts with.",
    },
    Declared {
        name: "on_reload",
        params: &[("names", "string[]", "what is new, such as `actors/hero.lua`")],
        returns: &[],
        doc: "Called after files of the game were changed and loaded again while it runs, before \
              `update`: renews what the game made of them. `init` is not run again.",
    },
    Declared {
        name: "update",
        params: &[("dt", "number", "seconds that this frame moves the game on by")],
        returns: &[],
        doc: "Called once in each frame, before `render`: moves the game on. Where a game has \
              none, the engine updates the main world itself.",
    },
    Declared {
        name: "render",
        params: &[],
        returns: &[],
        doc: "Called once in each frame, after `update`: says what is to be shown.",
    },
    Declared {
        name: "on_activate",
        params: &[("active", "boolean", "whether a window of the game has the focus now")],
        returns: &[],
        doc: "Called before `update` when the game gets or loses the focus.",
    },
    Declared {
        name: "on_close",
        params: &[("window", "Window|nil", "the one of `Window.open`, or none for the main one")],
        returns: &[("boolean|nil", "false keeps the window open; nothing, or true, closes it")],
        doc: "Called when the player closes a window, or the game calls `Window.close` for its \
              main one. The game ends with that; of another one the handle stays, and nothing is \
              seen any more.",
    },
    Declared {
        name: "shutdown",
        params: &[],
        returns: &[],
        doc: "Called once at the end, also when the process is asked to end (Ctrl+C): save here. \
              Not called after an error that ended the game.",
    },
];

impl Declared {
    pub fn doc(&self) -> FunctionDoc {
        let param = |(name, kind, doc): &(&str, &str, &str)| ParamDoc {
            name: name.to_string(),
            kind: kind.to_string(),
            optional: false,
            doc: doc.to_string(),
        };
        let result = |(kind, doc): &(&str, &str)| ReturnDoc {
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
            source: Source::Declared,
            declared: Vec::new(),
        }
    }
}

/// One library of Lua's own, as games have it. The one without a name are the global functions.
pub struct Library {
    pub name: &'static str,
    /// Every name in it.
    pub names: &'static [&'static str],
    /// What is different here, by name.
    pub differs: &'static [(&'static str, &'static str)],
}

/// Lua 5.1's library with LuaJIT's additions, as far as games have it.
pub const LIBRARIES: &[Library] = &[
    Library {
        name: "",
        names: &[
            "_G",
            "_VERSION",
            "assert",
            "collectgarbage",
            "error",
            "getmetatable",
            "ipairs",
            "load",
            "loadstring",
            "next",
            "pairs",
            "pcall",
            "print",
            "rawequal",
            "rawget",
            "rawset",
            "require",
            "select",
            "setmetatable",
            "tonumber",
            "tostring",
            "type",
            "unpack",
            "xpcall",
        ],
        differs: &[
            ("print", "Writes a line to the engine's log, which goes to the standard output."),
            (
                "require",
                "`require \"a.b\"` runs a/b.lua, or else a/b/init.lua, of the game's folder, once, \
                 and returns what it returned.",
            ),
            ("load", "Takes text only, no compiled chunks."),
            ("loadstring", "Takes text only, no compiled chunks."),
            (
                "pairs",
                "Gives the same order in every run for keys that are strings, numbers and \
                 booleans; ids and other objects are walked as their addresses have it. \
                 `Script.sorted_pairs` sorts numbers, strings and ids.",
            ),
            (
                "next",
                "Finds nothing in Lua's own libraries (`math`, `string`); `pairs` walks them.",
            ),
            (
                "tostring",
                "The address in the words for a table, function or coroutine differs from run to \
                 run: keep it out of what a replay must repeat.",
            ),
            (
                "collectgarbage",
                "Takes \"count\", \"collect\" and \"step\". The pace is the engine's: see \
                 `Script.configure_garbage_collection`. What \"count\" gives, and when a weak \
                 table loses what nothing else holds, can differ from run to run.",
            ),
        ],
    },
    Library {
        name: "string",
        names: &[
            "byte", "char", "find", "format", "gmatch", "gsub", "len", "lower", "match", "rep",
            "reverse", "sub", "upper",
        ],
        differs: &[
            ("find", "Stops with an error where a pattern takes more than 100,000,000 steps."),
            (
                "format",
                "`%p`, and `%s` of a table or function, give addresses, which differ from run to \
                 run.",
            ),
            ("gmatch", "Stops as `string.find` does."),
            ("gsub", "Stops as `string.find` does."),
            ("match", "Stops as `string.find` does."),
            ("rep", "Refuses to make more than 64 MiB in one call."),
        ],
    },
    Library {
        name: "table",
        names: &[
            "concat", "foreach", "foreachi", "getn", "insert", "maxn", "move", "remove", "sort",
        ],
        differs: &[
            ("concat", "Refuses to make more than 64 MiB in one call."),
            (
                "insert",
                "Refuses positions above 2^31 - 1, and to shift more than 67,108,864 items.",
            ),
            ("move", "Refuses to move more than 67,108,864 items."),
        ],
    },
    Library {
        name: "math",
        names: &[
            "abs",
            "acos",
            "asin",
            "atan",
            "atan2",
            "ceil",
            "cos",
            "cosh",
            "deg",
            "exp",
            "floor",
            "fmod",
            "frexp",
            "huge",
            "ldexp",
            "log",
            "log10",
            "max",
            "min",
            "modf",
            "pi",
            "pow",
            "rad",
            "random",
            "randomseed",
            "sin",
            "sinh",
            "sqrt",
            "tan",
            "tanh",
        ],
        differs: &[
            ("random", "The same numbers as `Math.random`, which a replay repeats."),
            ("randomseed", "The same as `Math.set_seed`."),
        ],
    },
    Library {
        name: "coroutine",
        names: &["create", "isyieldable", "resume", "running", "status", "wrap", "yield"],
        differs: &[],
    },
    Library {
        name: "bit",
        names: &[
            "arshift", "band", "bnot", "bor", "bswap", "bxor", "lshift", "rol", "ror", "rshift",
            "tobit", "tohex",
        ],
        differs: &[],
    },
    Library {
        name: "os",
        names: &["clock", "date", "difftime", "time"],
        differs: &[
            ("clock", "Where every frame has the same step (headless, tests): the game's time."),
            ("date", "Where every frame has the same step: the game's time, in UTC."),
            (
                "time",
                "Where every frame has the same step: the game's time, from the year 2000; the \
                 fields of a date are in UTC then.",
            ),
        ],
    },
    Library { name: "debug", names: &["traceback"], differs: &[] },
    Library {
        name: "package",
        names: &["config", "loaded", "path", "preload"],
        differs: &[("path", "For reading: `require` looks in the game's folder only.")],
    },
];

/// Globals of Lua's that games do not have, and what to use instead.
pub const ABSENT: &[(&str, &str)] = &[
    ("io", "files of the game are resources, and what it keeps is written with Save"),
    (
        "os.execute",
        "a game starts no programs, nor do os.exit, getenv, remove, rename, tmpname work",
    ),
    ("ffi", "native code is out of reach; vectors are values without it"),
    ("jit", "the engine sets up the compiler"),
    ("dofile", "use require"),
    ("loadfile", "use require"),
    ("getfenv", "pass an environment to load"),
    ("setfenv", "pass an environment to load"),
    ("module", "return a table from the file"),
    ("newproxy", "use a table with a metatable"),
    ("gcinfo", "use collectgarbage(\"count\") or Script.memory"),
    ("string.dump", "only text can be loaded"),
];

/// What is said to whoever names a function of another engine's.
pub const NO_LOVE: &str = "this is not LÖVE: 'Coming from LÖVE' in the manual has what stands in \
                           its place (engine docs --open)";

/// Why `require` does not find a library that Lua has elsewhere.
pub fn absence(name: &str) -> Option<String> {
    let absent = ABSENT.iter().find(|(absent, _)| *absent == name);
    let words = absent.map(|(_, words)| words.to_string());
    let is_library = LIBRARIES.iter().any(|known| known.name == name && !name.is_empty());
    words.or_else(|| is_library.then(|| format!("'{name}' is a global, and there without require")))
}

/// What is known of a name of Lua's own, if games have it.
pub fn about(path: &str) -> Option<String> {
    let (library, name) = path.split_once('.').unwrap_or(("", path));
    if let Some(library) = LIBRARIES.iter().find(|known| known.name == path && name == path) {
        let all = library.names.iter().map(|name| format!("{path}.{name}")).collect::<Vec<_>>();
        return Some(format!("Lua's own library, with {}.", all.join(", ")));
    }
    let library = LIBRARIES.iter().find(|known| known.name == library)?;
    if !library.names.contains(&name) {
        return None;
    }
    let differs = library.differs.iter().find(|(known, _)| *known == name);
    Some(match differs {
        Some((_, words)) => format!("Lua's own. {words}"),
        None => "Lua's own, as in Lua 5.1 and LuaJIT.".to_string(),
    })
}

/// Every name of Lua's own that games have.
pub fn names() -> impl Iterator<Item = String> {
    let path = |library: &str, name: &&str| match library.is_empty() {
        true => name.to_string(),
        false => format!("{library}.{name}"),
    };
    LIBRARIES
        .iter()
        .flat_map(move |library| library.names.iter().map(move |name| path(library.name, name)))
}
