//! What a frame came to, in numbers: the counters of the systems that are there, and the end of a
//! frame for whoever measures. Knows no flags of the command line; those are in measures.rs.

use super::App;
use crate::engine::{Build, Engine};
use crate::foundation::memory::{self, OWNERS_MAX};
use crate::foundation::{counters, profile};
use crate::script::Work;
use crate::system::platform::ThreadClock;
use crate::system::render::Statistics;
use crate::{counter, scope};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A game begins: nothing was counted yet. A release is measured only where it was asked for.
pub fn begin(build: Build) {
    if build != Build::Release {
        profile::set_enabled(true);
    } else {
        memory::set_counting(false);
    }
    profile::forget();
    counters::forget();
    // What was allocated before is not the first frame's.
    memory::each(|owner, _, _, made| {
        OWNERS[usize::from(owner)].made.store(made, Ordering::Relaxed)
    });
}

/// What had been done when a frame began.
#[derive(Clone, Copy, Default)]
pub struct Begun {
    work: Work,
    cpu_seconds: f64,
}

impl App {
    /// A frame begins.
    pub(super) fn begin_figures(&mut self) {
        scope!("statistics");
        let cpu_seconds = ThreadClock::of_this_thread().seconds();
        self.begun = Begun { work: self.vm.work(), cpu_seconds };
    }

    /// Ends a frame for those who measure: the counters have their last amounts, scopes become
    /// rows, and both begin anew. After everything that belongs to the frame.
    pub fn end_frame(&mut self) {
        self.count();
        profile::end_frame(self.vm.engine().frame.index);
        counters::push();
    }

    fn count(&mut self) {
        scope!("statistics");
        let (work, held) = (self.vm.work(), self.vm.memory().0);
        count_work(work, self.begun.work, held);
        let seconds = ThreadClock::of_this_thread().seconds() - self.begun.cpu_seconds;
        counter!("frame/cpu_milliseconds") += seconds * 1e3;
        let engine = self.vm.engine();
        count_things(engine);
        count_memory();
    }
}

/// What the scripts did in the frame.
fn count_work(now: Work, before: Work, held: usize) {
    counter!("scripts/held_bytes") += held;
    counter!("engine/held_bytes") += memory::limit::held();
    counter!("scripts/allocated_bytes") += now.allocated_bytes - before.allocated_bytes;
    counter!("scripts/allocations") += now.allocations - before.allocations;
    counter!("scripts/engine_calls") += now.engine_calls - before.engine_calls;
}

/// What is there.
fn count_things(engine: &mut Engine) {
    counter!("frame/step_milliseconds") += engine.frame.delta * 1e3;
    counter!("worlds/worlds") += engine.worlds.len();
    counter!("worlds/units") += engine.units.slots.len();
    counter!("worlds/cameras") += engine.cameras.len();
    counter!("physics/actors") += engine.physics.actors.len();
    counter!("physics/awake") += engine.physics.awake();
    counter!("physics/latency_milliseconds") += engine.physics_latency() * 1e3;
    counter!("gui/guis") += engine.guis.slots().len();
    counter!("sound/voices") += engine.sounds.voices.active.len();
    counter!("resources/kept") += engine.store.kept();
    counter!("workers/workers") += engine.workers.slots().len();
    let (textures, handed) = engine.textures.count();
    counter!("textures/loaded") += textures.textures;
    counter!("textures/own") += textures.slots;
    counter!("textures/atlas_layers") += textures.atlas_layers;
    counter!("textures/held_bytes") += textures.bytes;
    counter!("textures/handed") += handed.textures;
    counter!("textures/handed_bytes") += handed.bytes;
}

/// The counters of one owner of memory, 0 before there are any, and the blocks that it had
/// allocated when they were added to last.
struct Counted {
    bytes: AtomicU32,
    allocations: AtomicU32,
    made: AtomicU64,
}

/// By the owners' numbers.
static OWNERS: [Counted; OWNERS_MAX] = [const {
    Counted { bytes: AtomicU32::new(0), allocations: AtomicU32::new(0), made: AtomicU64::new(0) }
}; OWNERS_MAX];

/// What the owners of memory hold, and how often they allocated in the frame.
fn count_memory() {
    if !memory::is_counting() {
        return;
    }
    memory::each(|owner, name, bytes, made| {
        let known = &OWNERS[usize::from(owner)];
        if known.bytes.load(Ordering::Relaxed) == 0 {
            let counter = |of: &str| counters::scope_counter(&format!("{of}/{name}"));
            known.bytes.store(counter("memory"), Ordering::Relaxed);
            known.allocations.store(counter("allocations"), Ordering::Relaxed);
        }
        counters::add(known.bytes.load(Ordering::Relaxed), bytes as f64);
        let new = made - known.made.swap(made, Ordering::Relaxed);
        counters::add(known.allocations.load(Ordering::Relaxed), new as f64);
    });
}

/// What the renderer did for the newest picture that it has finished.
pub fn count_pictures(figures: &Statistics) {
    counter!("renderer/draw_calls") += figures.draw_calls;
    counter!("renderer/instances") += figures.instances;
    counter!("renderer/copied_bytes") += figures.copied_bytes;
    counter!("renderer/textures") += figures.textures;
    counter!("renderer/materials") += figures.materials;
    counter!("renderer/encode_milliseconds") += f64::from(figures.encode_ms);
    counter!("renderer/latency_milliseconds") += f64::from(figures.latency_seconds) * 1e3;
    counter!("renderer/latency_frames") += f64::from(figures.latency_frames);
    counter!("renderer/world_draws") += figures.scene.draws;
    counter!("renderer/world_draws_seen") += figures.scene.seen;
    counter!("renderer/world_draw_calls") += figures.scene.draw_calls;
    counter!("renderer/shadow_draw_calls") += figures.scene.shadow_draw_calls;
    counter!("renderer/meshes") += figures.scene.meshes;
    counter!("renderer/particles") += figures.scene.particles;
    for (part, milliseconds) in &figures.cpu_passes {
        let number = counters::scope_counter(&format!("renderer/cpu_milliseconds/{part}"));
        counters::add(number, f64::from(*milliseconds));
    }
    for (pass, milliseconds) in &figures.gpu_passes {
        let number = counters::scope_counter(&format!("renderer/gpu_milliseconds/{pass}"));
        counters::add(number, f64::from(*milliseconds));
    }
}
