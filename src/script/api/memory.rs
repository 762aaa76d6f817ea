//! `Memory`, its part in Rust: what the engine's owners hold. What scripts hold is walked by the
//! prelude (lua/memory.lua).

use super::profiler::{Tables, table};
use crate::engine::Engine;
use crate::foundation::memory::{self, Held, Snapshot, limit};
use crate::script::row::{Module, func, module};
use crate::script::value::Value;

pub static MEMORY: Module = module(
    "Memory",
    "Whose memory it is. The engine counts every block that it allocates under an owner, in \
     development and in tests; what scripts hold is found by a walk over everything that they can \
     reach. Take a snapshot, play, and ask what changed.",
    r#"local before = Memory.snapshot()
kept = {}
for i = 1, 100 do
  kept[i] = { i }
end
local changes = Memory.changes(before)
assert(changes[1].name == "kept" and changes[1].objects == 101)"#,
    &[func(
        "tree",
        tree,
        &[],
        "The engine's owners, each before its parts: `path`, `name`, `parents` (in how many others \
         it lies), `bytes` and `blocks` with those of its parts. Empty in a release, which does \
         not count.",
    )
    .pure(),
    func(
        "engine_usage",
        engine_usage,
        &[],
        "Bytes that the engine holds for the game, beside those of scripts, and the most that it \
         may (`limits.engine_memory_mib`). In a release, too.",
    )
    .pure()],
);

pub static CORE: Module = module(
    "core",
    "Memory for the prelude.",
    "assert(core == nil)",
    &[func("memory_owners", memory_owners, &[], "What owners hold: name, bytes, blocks.").pure()],
);

fn owners() -> Snapshot {
    if memory::is_counting() { memory::snapshot() } else { Snapshot::new() }
}

fn engine_usage(_: &mut Engine) -> (f64, f64) {
    let limit = limit::limit().map_or(f64::INFINITY, |limit| limit as f64);
    (limit::held() as f64, limit)
}

fn tree(_: &mut Engine) -> Tables {
    let rows = memory::tree(&owners()).into_iter().map(|row| {
        table([
            ("path", Value::Text(row.path)),
            ("name", Value::Text(row.name)),
            ("parents", Value::Number(row.parents as f64)),
            ("bytes", Value::Number(row.held.bytes as f64)),
            ("blocks", Value::Number(row.held.blocks as f64)),
        ])
    });
    Tables(rows.collect())
}

fn memory_owners(_: &mut Engine) -> Value {
    let each = owners().into_iter().map(|(name, Held { bytes, blocks, .. })| {
        let (bytes, blocks) = (Value::Number(bytes as f64), Value::Number(blocks as f64));
        Value::List(vec![Value::Text(name), bytes, blocks])
    });
    Value::List(each.collect())
}
