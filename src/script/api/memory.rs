//! The Rust part of the Lua module `Memory`: memory held by the engine's owners. The memory of
//! scripts is measured by the prelude (lua/debug/memory.lua).

use crate::api::profiler::{TableList, table};
use crate::api_row::{ModuleRows, func, hidden, module};
use crate::value::ScriptValue;
use engine_foundation::memory::{self, MemorySnapshot, OwnerUsage, limit};
use engine_runtime::Engine;

pub static MEMORY: ModuleRows = module(
    "Memory",
    "Memory use by owner. The engine counts every block that it allocates under an owner, in \
     development and in tests. The memory of scripts is found by a walk over everything that they \
     can reach. Take a snapshot, play, and query the changes.",
    r#"local before = Memory.snapshot()
kept = {}
for i = 1, 100 do
  kept[i] = { i }
end
local changes = Memory.changes(before)
assert(changes[1].name == "kept" and changes[1].objects == 101)"#,
    &hidden([
        func(
            "tree",
            tree,
            &[],
            "Returns the engine's owners, each before its parts: `path`, `name`, `parents` (the \
             number of owners that contain it), `bytes` and `blocks` including those of its parts. \
             The list is empty in a release, which does not count.",
        )
        .pure(),
        func(
            "engine_usage",
            engine_usage,
            &[],
            "Returns the bytes that the engine holds for the game, without those of scripts, and \
             the maximum (`limits.engine_memory_mib`). Also works in a release.",
        )
        .returns(&["used bytes in use now", "limit the maximum, in bytes"])
        .pure(),
    ]),
);

pub static CORE: ModuleRows = module(
    "core",
    "Native memory functions, for the prelude.",
    "assert(core == nil)",
    &[func(
        "memory_owners",
        memory_owners,
        &[],
        "Returns the memory of owners: name, bytes, blocks.",
    )
    .pure()],
);

fn owners() -> MemorySnapshot {
    if memory::is_counting() { memory::snapshot() } else { MemorySnapshot::new() }
}

fn engine_usage(_: &mut Engine) -> (f64, f64) {
    let limit = limit::limit().map_or(f64::INFINITY, |limit| limit as f64);
    (limit::total() as f64, limit)
}

fn tree(_: &mut Engine) -> TableList {
    let rows = memory::tree(&owners()).into_iter().map(|row| {
        table([
            ("path", ScriptValue::Text(row.path)),
            ("name", ScriptValue::Text(row.name)),
            ("parents", ScriptValue::Number(row.parents as f64)),
            ("bytes", ScriptValue::Number(row.held.bytes as f64)),
            ("blocks", ScriptValue::Number(row.held.blocks as f64)),
        ])
    });
    TableList(rows.collect())
}

fn memory_owners(_: &mut Engine) -> ScriptValue {
    let each = owners().into_iter().map(|(name, OwnerUsage { bytes, blocks, .. })| {
        let (bytes, blocks) =
            (ScriptValue::Number(bytes as f64), ScriptValue::Number(blocks as f64));
        ScriptValue::List(vec![ScriptValue::Text(name), bytes, blocks])
    });
    ScriptValue::List(each.collect())
}
