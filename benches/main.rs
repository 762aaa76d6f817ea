//! All benchmarks: `cargo bench -- spine` runs one subject, `cargo bench -- spine calls vectors`
//! some parts of it, and `cargo bench -- all` every subject. `cargo bench` alone lists them.
//!
//! The profile is `bench`, which is the players' `dist`; `--profile release` builds faster. A
//! missed target is printed as a miss. The exit code reports only whether everything could be
//! measured.

mod allocator;
mod animation;
mod child_process;
mod debugger;
mod flow;
mod gui;
mod lights;
mod navigation;
mod particles;
#[cfg(unix)]
mod peers;
mod physics;
mod profile;
#[cfg(unix)]
mod recast;
mod reload;
mod remote;
mod render3d;
mod run;
mod scene;
mod skins;
mod sound;
mod spine;
mod table;
mod tasks;
mod text;

use run::Run;

/// One subject: its name on the command line, its description, and the function that measures it.
type Subject = (&'static str, &'static str, fn(&mut Run));

/// All subjects. The ones that measure a child's peak memory are first, because it is never
/// reported below that of its parent, which grows.
const SUBJECTS: &[Subject] = &[
    #[cfg(unix)]
    ("peers", "the same games in this engine and in LÖVE", peers::run),
    ("spine", "calls from Lua, vectors, scripts, garbage, startup", spine::run),
    ("reload", "hot reload, and a game of 2,000 files", reload::run),
    ("gui", "drawing from Lua", gui::run),
    ("text", "layout of text", text::run),
    ("scene", "worlds of many units", scene::run),
    ("render3d", "many meshes on the render thread", render3d::run),
    ("lights", "lights by cluster, and their shadow maps", lights::run),
    ("animation", "clips, state machines, events, sizes", animation::run),
    ("skins", "1,000 skinned characters on both threads", skins::run),
    ("flow", "graphs of visual scripting", flow::run),
    ("navigation", "grids, flow fields, crowds, bakes", navigation::run),
    #[cfg(unix)]
    ("recast", "navigation in this engine, and in Recast and Detour", recast::run),
    ("physics", "piles, raycasts, movers", physics::run),
    ("particles", "particle effects", particles::run),
    ("sound", "parameters, triggers, mixing, latency", sound::run),
    ("tasks", "the task manager and workers", tasks::run),
    ("profile", "scopes, counters, memory owners", profile::run),
    ("remote", "a game with and without a remote client", remote::run),
    ("debugger", "a game with a debugger: running, stopped", debugger::run),
];

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|word| word != "--bench");
    let Some(name) = arguments.next() else {
        println!("cargo bench -- SUBJECT [PART ...] [--json FILE]; the subjects:");
        println!("    {:<10} every subject", "all");
        for (name, about, _) in SUBJECTS {
            println!("    {name:<10} {about}");
        }
        return;
    };
    #[cfg(unix)]
    if name == peers::bare::ARGUMENT {
        return peers::bare::main(arguments.next().as_deref() != Some(peers::bare::CLEARS));
    }
    let selected: Vec<&Subject> =
        SUBJECTS.iter().filter(|(subject, ..)| name == "all" || name == *subject).collect();
    if selected.is_empty() {
        let names: Vec<_> = SUBJECTS.iter().map(|(name, ..)| *name).collect();
        panic!("'{name}' is not a subject: all, {}", names.join(", "));
    }
    let mut run = Run::new(arguments);
    selected.iter().for_each(|(_, _, measure)| measure(&mut run));
    run.end();
}
