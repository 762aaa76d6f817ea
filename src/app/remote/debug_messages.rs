//! The rows of the table of messages with which a tool debugs scripts.

use super::message_table::{FieldType, HANDLE, MessageField, MessageRow, optional, required};
use super::{debugger, worker_debugger};

/// The most breakpoints of a file in a message.
const BREAKPOINTS_MAX: usize = 1000;
/// The largest line.
const LINE_MAX: u64 = 1 << 31;

const FILE: MessageField = required("file", FieldType::Text, "in the game's folder: units/orc.lua");
const TEXT_VERSION: MessageField =
    optional("version", HANDLE, "of a frame in debug_stack, whose text is an earlier one");
const LINE: FieldType = FieldType::Integer(0, LINE_MAX);
const FRAME: MessageField = optional(
    "frame",
    FieldType::Integer(0, LINE_MAX),
    "number of a function of the stack, 0 is the innermost [0]",
);
const REFERENCE: MessageField = required("reference", HANDLE, "of a scope or a table");
const FIRST: MessageField =
    optional("first", FieldType::Integer(0, LINE_MAX), "number of the first one [0]");
const CONDITIONS: MessageField =
    optional("conditions", FieldType::Texts, "Lua for each one, or an empty text");
const HITS: MessageField = optional(
    "hits",
    FieldType::Texts,
    "the hits that stop, for each one: 5, >= 5, % 5, or an empty text",
);
const COROUTINE: MessageField =
    optional("coroutine", FieldType::Integer(1, 1001), "as in debug_coroutines [1]");
const MAX: MessageField = optional("max", FieldType::Integer(0, 1000), "at most this many [1000]");

/// All messages of the debugger.
pub static MESSAGES: &[MessageRow] = &[
    MessageRow {
        name: "debug_attach",
        doc: "Begins to debug the scripts, until the client leaves.",
        fields: &[],
        answer: "nothing",
        run: debugger::attach,
    },
    MessageRow {
        name: "debug_ready",
        doc: "Starts a game that was run with --debug, after its breakpoints are set.",
        fields: &[],
        answer: "nothing",
        run: debugger::ready,
    },
    MessageRow {
        name: "debug_detach",
        doc: "Removes all breakpoints, and lets a stopped script continue.",
        fields: &[],
        answer: "nothing",
        run: debugger::detach,
    },
    MessageRow {
        name: "debug_breakpoints",
        doc: "Sets all breakpoints of a script, in place of those before.",
        fields: &[
            FILE,
            required("lines", FieldType::Numbers(BREAKPOINTS_MAX), "lines, from 1"),
            CONDITIONS,
            HITS,
            optional(
                "logs",
                FieldType::Texts,
                "for each line, a text to log in place of a stop, with Lua in {}; or an empty text",
            ),
        ],
        answer: "breakpoints (id, line, verified, message)",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_functions",
        doc: "Sets all breakpoints of functions, in place of those before. A function of the game \
              is named as it is declared (add, M.clamp, Orc:hit) or by its last part; one of the \
              engine as it is called (Unit.set_data).",
        fields: &[required("names", FieldType::Texts, "names of functions"), CONDITIONS, HITS],
        answer: "breakpoints (id, line, verified, message)",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_data",
        doc: "Stops scripts after values have changed, in place of those before.",
        fields: &[required("data", FieldType::Texts, "as in debug_data_info"), CONDITIONS, HITS],
        answer: "breakpoints (id, verified, message)",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_data_info",
        doc: "Returns by what name debug_data knows a value: data of units, which is compared \
              after Unit.set_data, or a field of a table, a global or an upvalue, which is \
              compared at each line, so that all scripts are slow.",
        fields: &[REFERENCE, required("name", FieldType::Text, "as in debug_variables")],
        answer: "data, text, exact",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_locations",
        doc: "Lists the lines of a script on which a breakpoint can be.",
        fields: &[
            FILE,
            required("line", LINE, "the first line"),
            optional("last", LINE, "the last line [line]"),
        ],
        answer: "lines",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_errors",
        doc: "Sets which errors stop their script, before the stack is unwound.",
        fields: &[
            required("on", FieldType::Boolean, "true for errors that the game does not catch"),
            optional("caught", FieldType::Boolean, "true for errors that pcall catches [false]"),
            optional("warnings", FieldType::Boolean, "true for warnings of the engine [false]"),
            optional("text", FieldType::Text, "text that the message of an error must have"),
            optional("caught_text", FieldType::Text, "the same, for errors that pcall catches"),
            optional("warning_text", FieldType::Text, "the same, for warnings"),
        ],
        answer: "nothing",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_source",
        doc: "Returns the text of a script as it was loaded, or of a file of the engine: \
              [engine] frame.",
        fields: &[FILE, TEXT_VERSION],
        answer: "text",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_sources",
        doc: "Lists the scripts that are loaded, the engine's own, and texts before reloads.",
        fields: &[],
        answer: "files, engine_files, earlier (file, version)",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_pause",
        doc: "Stops the scripts at their next line.",
        fields: &[],
        answer: "nothing",
        run: debugger::pause,
    },
    MessageRow {
        name: "debug_workers",
        doc: "Lists the workers. Those that have functions on their stacks can be stopped.",
        fields: &[],
        answer: "workers (worker, name)",
        run: worker_debugger::list,
    },
    MessageRow {
        name: "debug_pause_worker",
        doc: "Stops a worker at its next line. While it is stopped, the other requests are about \
              its script.",
        fields: &[required("worker", LINE, "its number in debug_workers")],
        answer: "nothing",
        run: worker_debugger::pause,
    },
    MessageRow {
        name: "debug_continue",
        doc: "Lets a stopped script continue.",
        fields: &[],
        answer: "nothing",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_step",
        doc: "Lets a stopped script continue to another line: mode in, over or out.",
        fields: &[required("mode", FieldType::Text, "in, over or out of functions")],
        answer: "nothing",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_jump_targets",
        doc: "Returns the line to which the innermost function of a stopped script can jump: the \
              wanted one, or the next with a statement.",
        fields: &[FILE, TEXT_VERSION, required("line", LINE, "the wanted line")],
        answer: "lines, which is empty if it cannot jump there",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_jump",
        doc: "Lets the innermost function of a stopped script continue at another of its lines, \
              without what is in between, and stops it there. Variables whose declaration is \
              skipped are nil.",
        fields: &[FILE, TEXT_VERSION, required("line", LINE, "as in debug_jump_targets")],
        answer: "line",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_restart_frame",
        doc: "Ends the callback in which a script is stopped, and plays the frame again from its \
              start. What the script has changed in this frame stays changed.",
        fields: &[],
        answer: "nothing",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_coroutines",
        doc: "Lists the coroutines of a stopped game: the stopped one, and all that wait.",
        fields: &[],
        answer: "coroutines (coroutine, name), workers (worker, name)",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_stack",
        doc: "Returns functions of the stack of a stopped script, the innermost first. A stopped \
              coroutine leads to the main program.",
        fields: &[FIRST, MAX, COROUTINE],
        answer: "frames (frame, name, file and line, version of an earlier text, engine), count",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_scopes",
        doc: "Returns the scopes of a function of the stack.",
        fields: &[FRAME],
        answer: "scopes (name, reference)",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_variables",
        doc: "Returns the variables of a scope, or the fields of a table. References are valid \
              until the script continues.",
        fields: &[
            REFERENCE,
            FIRST,
            MAX,
            optional(
                "filter",
                FieldType::Text,
                "indexed for the items of a list, named for all others [both]",
            ),
        ],
        answer: "variables (name, value, kind, reference, which is 0 for anything but tables; of \
                 a list with more than 100 items also indexed, their number, and named, about \
                 that of its other fields), follow: how many follow at least",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_set",
        doc: "Gives a variable, or a field that exists, the value of a line of Lua.",
        fields: &[
            REFERENCE,
            FRAME,
            required("name", FieldType::Text, "as in debug_variables"),
            required("text", FieldType::Text, "Lua"),
        ],
        answer: "name, value, kind, reference",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_set_expression",
        doc: "Gives what Lua names the value of a line of Lua.",
        fields: &[
            required("expression", FieldType::Text, "a name, or a field: orc.hp"),
            required("text", FieldType::Text, "Lua"),
            FRAME,
        ],
        answer: "value, kind, reference",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_complete",
        doc: "Completes the name at the end of a text, with the variables of a function.",
        fields: &[required("text", FieldType::Text, "Lua before the cursor"), FRAME],
        answer: "start, words",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_evaluate",
        doc: "Runs Lua that sees the variables of a function of the stack.",
        fields: &[
            required("text", FieldType::Text, "Lua"),
            FRAME,
            optional("seconds", FieldType::Number(0.01, 60.0), "time limit [0.5]"),
            optional("command", FieldType::Boolean, "true if it can be a console command [false]"),
            optional("whole", FieldType::Boolean, "true for all fields of a table [false]"),
            optional(
                "raw",
                FieldType::Boolean,
                "true for a name with fields, which calls no function of the game [false]",
            ),
        ],
        answer: "value, kind, reference",
        run: debugger::request,
    },
    MessageRow {
        name: "debug_error",
        doc: "Returns the error at which the script is stopped.",
        fields: &[],
        answer: "message, report, kind (uncaught, caught or warning)",
        run: debugger::request,
    },
];
