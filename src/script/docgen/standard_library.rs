//! Documentation of the part of Lua's own library that games have, with its differences.

/// One of Lua's own libraries, as games have it. The library with an empty name holds the global
/// functions.
pub struct StandardLibrary {
    pub name: &'static str,
    /// Every name in it.
    pub names: &'static [&'static str],
    /// Differences from Lua's own functions, by name.
    pub differs: &'static [(&'static str, &'static str)],
}

/// Lua 5.1's library with LuaJIT's additions, as far as games have it.
pub const LIBRARIES: &[StandardLibrary] = &[
    StandardLibrary {
        name: "",
        names: &[
            "_G",
            "_VERSION",
            "assert",
            "collectgarbage",
            "error",
            "getfenv",
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
            "setfenv",
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
                 and returns what it returned. `require \"a/b\"` is the same module.",
            ),
            ("getfenv", "Returns `_G` for functions of the engine and of Lua."),
            ("setfenv", "Changes only functions of the game. Level 0 is refused."),
            ("load", "Takes text only, no compiled chunks."),
            ("loadstring", "Takes text only, no compiled chunks."),
            (
                "pairs",
                "Returns keys that are strings, numbers or booleans in the same order in every \
                 run. Ids and other objects are in the order of their addresses. \
                 `Script.sorted_pairs` sorts numbers, strings and ids.",
            ),
            (
                "next",
                "Finds nothing in Lua's own libraries (`math`, `string`); `pairs` iterates over \
                 them.",
            ),
            (
                "tostring",
                "The address in the text for a table, function or coroutine differs from run to \
                 run: do not use it for anything that a replay must repeat.",
            ),
            (
                "collectgarbage",
                "Takes \"count\", \"collect\" and \"step\". The engine sets the pace: see \
                 `Script.configure_garbage_collection`. The result of \"count\" can differ from \
                 run to run, and so can the time at which a weak table loses an unreferenced \
                 object.",
            ),
        ],
    },
    StandardLibrary {
        name: "string",
        names: &[
            "byte", "char", "find", "format", "gmatch", "gsub", "len", "lower", "match", "rep",
            "reverse", "sub", "upper",
        ],
        differs: &[
            ("find", "Raises an error if a pattern takes more than 100,000,000 steps."),
            (
                "format",
                "`%p`, and `%s` of a table or function, result in addresses, which differ from run \
                 to run.",
            ),
            ("gmatch", "Has the same limit as `string.find`."),
            ("gsub", "Has the same limit as `string.find`."),
            ("match", "Has the same limit as `string.find`."),
            ("rep", "Raises an error for a result above 64 MiB."),
        ],
    },
    StandardLibrary {
        name: "table",
        names: &[
            "concat", "foreach", "foreachi", "getn", "insert", "maxn", "move", "remove", "sort",
        ],
        differs: &[
            ("concat", "Raises an error for a result above 64 MiB."),
            (
                "insert",
                "Raises an error for positions above 2^31 - 1, and for shifting more than \
                 67,108,864 items.",
            ),
            ("move", "Raises an error for moving more than 67,108,864 items."),
        ],
    },
    StandardLibrary {
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
    StandardLibrary {
        name: "coroutine",
        names: &["create", "isyieldable", "resume", "running", "status", "wrap", "yield"],
        differs: &[],
    },
    StandardLibrary {
        name: "bit",
        names: &[
            "arshift", "band", "bnot", "bor", "bswap", "bxor", "lshift", "rol", "ror", "rshift",
            "tobit", "tohex",
        ],
        differs: &[],
    },
    StandardLibrary {
        name: "os",
        names: &["clock", "date", "difftime", "getenv", "time"],
        differs: &[
            ("getenv", "Always returns nil: a game does not see the environment of its process."),
            ("clock", "If every frame has the same step (headless, tests): the game's time."),
            ("date", "If every frame has the same step: the game's time, in UTC."),
            (
                "time",
                "If every frame has the same step: the game's time, from the year 2000; the fields \
                 of a date are then in UTC.",
            ),
        ],
    },
    StandardLibrary {
        name: "debug",
        names: &["getinfo", "traceback"],
        differs: &[(
            "getinfo",
            "Takes the options \"S\", \"l\", \"n\" and \"u\". The fields `func` and `activelines` \
             are left out, and functions of the engine look like functions written in C.",
        )],
    },
    StandardLibrary {
        name: "jit",
        names: &["arch", "os", "status", "version", "version_num"],
        differs: &[("status", "Returns only whether the compiler is on.")],
    },
    StandardLibrary {
        name: "package",
        names: &["config", "loaded", "loaders", "path", "preload", "searchers"],
        differs: &[
            ("path", "Read only: `require` searches the game's folder alone."),
            (
                "searchers",
                "The functions that `require` asks for a module, in order: the first two look in \
                 `package.preload` and in the game's folder. A game can add its own, as in Lua \
                 5.2: it gets the module's name and returns a function that loads the module and \
                 the path of its file, or a text that says why not. When the file changes, the \
                 module is loaded again.",
            ),
            ("loaders", "The same table as `package.searchers`, under the name of Lua 5.1."),
        ],
    },
];

/// Globals of Lua that games do not have, and their replacements.
pub const ABSENT: &[(&str, &str)] = &[
    ("io", "files of the game are resources, and what it keeps is written with Save"),
    ("os.execute", "a game cannot start programs"),
    ("os.exit", "use Application.quit"),
    ("os.remove", "a game changes only its saves: use Save.delete"),
    ("os.rename", "a game changes only its saves: use Save.read and Save.write"),
    ("os.tmpname", "a game writes only its saves: use Save.write"),
    ("ffi", "native code is out of reach; vectors are values without it"),
    ("dofile", "use require"),
    ("loadfile", "use require"),
    ("module", "return a table from the file"),
    ("newproxy", "use a table with a metatable"),
    ("gcinfo", "use collectgarbage(\"count\") or Script.memory"),
    ("string.dump", "only text can be loaded"),
];

/// Hint for users who name a function of another engine.
pub const NO_LOVE: &str = "this is not LÖVE: 'Coming from LÖVE' in the manual lists the \
                           replacements (engine docs --open)";

/// Returns the reason why `require` does not find a library that exists elsewhere in Lua.
pub fn absence(name: &str) -> Option<String> {
    let absent = ABSENT.iter().find(|(absent, _)| *absent == name);
    let reason = absent.map(|(_, reason)| reason.to_string());
    let is_library = LIBRARIES.iter().any(|known| known.name == name && !name.is_empty());
    reason
        .or_else(|| is_library.then(|| format!("'{name}' is a global, and there without require")))
}

/// Returns the documentation of a name of Lua's own library, if games have it.
pub fn documentation_of(path: &str) -> Option<String> {
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
        Some((_, difference)) => format!("Lua's own. {difference}"),
        None => "Lua's own, as in Lua 5.1 and LuaJIT.".to_string(),
    })
}

/// Returns every name of Lua's own library that games have.
pub fn names() -> impl Iterator<Item = String> {
    let path = |library: &str, name: &&str| match library.is_empty() {
        true => name.to_string(),
        false => format!("{library}.{name}"),
    };
    LIBRARIES
        .iter()
        .flat_map(move |library| library.names.iter().map(move |name| path(library.name, name)))
}
