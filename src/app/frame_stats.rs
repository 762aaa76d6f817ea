//! Statistics of a frame: updates the counters of all systems, and ends the frame for the profiler.
//! Flags of the command line are handled in profile_output.rs, not here.

use super::App;
use engine_foundation::counter;
use engine_foundation::memory::{self, OWNERS_MAX};
use engine_foundation::profile::GpuSpan;
use engine_foundation::scope;
use engine_foundation::{counters, profile};
use engine_platform::ThreadClock;
use engine_render::FrameStatistics;
use engine_runtime::{BuildMode, Engine};
use engine_script::ScriptWork;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Starts the counters and the profiler of a game. A release is measured only if this was asked
/// for.
pub fn begin(build: BuildMode) {
    if build != BuildMode::Release {
        profile::set_enabled(true);
    } else {
        memory::set_counting(false);
    }
    profile::clear_all();
    counters::clear_all();
    // Earlier allocations do not belong to the first frame.
    memory::each(|owner, _, _, allocations| {
        OWNERS[usize::from(owner)].last_allocations.store(allocations, Ordering::Relaxed)
    });
}

/// Counters as they were at the start of a frame.
#[derive(Clone, Copy, Default)]
pub struct FrameStart {
    work: ScriptWork,
    cpu_seconds: f64,
}

impl App {
    /// Saves the counters at the start of a frame.
    pub(super) fn start_frame_stats(&mut self) {
        scope!("statistics");
        let cpu_seconds = ThreadClock::of_this_thread().seconds();
        self.frame_start = FrameStart { work: self.vm.work(), cpu_seconds };
    }

    /// Ends a frame for counters and profiler: stores the counters' values and the scopes as rows,
    /// and resets both. Must be called after all work of the frame.
    pub fn end_frame(&mut self) {
        self.count();
        profile::end_frame(self.vm.engine().frame.index);
        counters::push();
    }

    fn count(&mut self) {
        scope!("statistics");
        let (work, held) = (self.vm.work(), self.vm.memory().0);
        count_work(work, self.frame_start.work, held);
        let seconds = ThreadClock::of_this_thread().seconds() - self.frame_start.cpu_seconds;
        counter!("frame/cpu_milliseconds") += seconds * 1e3;
        let engine = self.vm.engine();
        count_objects(engine);
        count_memory();
    }
}

/// Counts the work of the scripts in the frame.
fn count_work(now: ScriptWork, before: ScriptWork, held: usize) {
    counter!("scripts/held_bytes") += held;
    counter!("engine/held_bytes") += memory::limit::total();
    counter!("scripts/allocated_bytes") += now.allocated_bytes - before.allocated_bytes;
    counter!("scripts/allocations") += now.allocations - before.allocations;
    counter!("scripts/engine_calls") += now.engine_calls - before.engine_calls;
}

/// Counts the existing objects of each system.
fn count_objects(engine: &mut Engine) {
    counter!("frame/step_milliseconds") += engine.frame.delta * 1e3;
    counter!("worlds/worlds") += engine.worlds.slots.len();
    counter!("worlds/units") += engine.worlds.units.slots.len();
    let worst_wait = std::mem::take(&mut engine.worlds.navigation.worst_wait);
    counter!("navigation/worst_wait") += worst_wait;
    counter!("worlds/cameras") += engine.worlds.cameras.len();
    counter!("worlds/light_occluders") += engine.worlds.scenes.occluders.table.slots.len();
    counter!("physics/actors") += engine.worlds.physics.actors.len();
    counter!("physics/awake") += engine.worlds.physics.awake();
    counter!("physics/latency_milliseconds") += engine.worlds.physics_latency() * 1e3;
    engine.worlds.animations.count_frame();
    counter!("gui/guis") += engine.drawing.guis.slots().len();
    counter!("sound/voices") += engine.devices.sounds.voices.active.len();
    counter!("resources/kept") += engine.assets.store.cached_count();
    counter!("workers/workers") += engine.devices.workers.slots().len();
    let (textures, uploaded) = engine.assets.textures.count();
    counter!("textures/loaded") += textures.textures;
    counter!("textures/separate") += textures.slots;
    counter!("textures/atlas_layers") += textures.atlas_layers;
    counter!("textures/held_bytes") += textures.bytes;
    counter!("textures/uploaded") += uploaded.textures;
    counter!("textures/uploaded_bytes") += uploaded.bytes;
}

/// Ids of the counters of one memory owner (0 until they are registered), and its number of
/// allocations at the last update.
struct OwnerCounters {
    bytes: AtomicU32,
    allocations: AtomicU32,
    last_allocations: AtomicU64,
}

/// Counters by the number of the memory owner.
static OWNERS: [OwnerCounters; OWNERS_MAX] = [const {
    OwnerCounters {
        bytes: AtomicU32::new(0),
        allocations: AtomicU32::new(0),
        last_allocations: AtomicU64::new(0),
    }
}; OWNERS_MAX];

/// Counts the memory that each owner holds, and its allocations in the frame.
fn count_memory() {
    if !memory::is_counting() {
        return;
    }
    memory::each(|owner, name, bytes, allocations| {
        let known = &OWNERS[usize::from(owner)];
        if known.bytes.load(Ordering::Relaxed) == 0 {
            let counter = |of: &str| counters::scope_counter(&format!("{of}/{name}"));
            known.bytes.store(counter("memory"), Ordering::Relaxed);
            known.allocations.store(counter("allocations"), Ordering::Relaxed);
        }
        counters::add(known.bytes.load(Ordering::Relaxed), bytes as f64);
        let new = allocations - known.last_allocations.swap(allocations, Ordering::Relaxed);
        counters::add(known.allocations.load(Ordering::Relaxed), new as f64);
    });
}

/// Counts the renderer's work for the newest finished frame.
pub fn count_frame_statistics(statistics: &FrameStatistics) {
    counter!("renderer/draw_calls") += statistics.draw_calls;
    counter!("renderer/instances") += statistics.instances;
    counter!("renderer/copied_bytes") += statistics.copied_bytes;
    counter!("renderer/textures") += statistics.textures;
    counter!("renderer/materials") += statistics.materials;
    counter!("renderer/encode_milliseconds") += f64::from(statistics.encode_ms);
    counter!("renderer/latency_milliseconds") += f64::from(statistics.latency_seconds) * 1e3;
    counter!("renderer/latency_frames") += f64::from(statistics.latency_frames);
    counter!("renderer/world_draws") += statistics.scene.draws;
    counter!("renderer/world_draws_visible") += statistics.scene.visible;
    counter!("renderer/world_draw_calls") += statistics.scene.draw_calls;
    counter!("renderer/shadow_draw_calls") += statistics.scene.shadow_draw_calls;
    counter!("renderer/skinned_draws") += statistics.scene.skinned_draws;
    counter!("renderer/pre_skinned_draws") += statistics.scene.pre_skinned_draws;
    counter!("renderer/palette_bytes") += statistics.scene.palette_bytes;
    counter!("renderer/generator_textures") += statistics.generator_textures;
    counter!("renderer/generator_bytes") += statistics.generator_bytes;
    counter!("renderer/meshes") += statistics.scene.meshes;
    counter!("renderer/particles") += statistics.scene.particles;
    for (part, milliseconds) in &statistics.cpu_passes {
        let number = counters::scope_counter(&format!("renderer/cpu_milliseconds/{part}"));
        counters::add(number, f64::from(*milliseconds));
    }
    for pass in &statistics.gpu_passes {
        let number = counters::scope_counter(&format!("renderer/gpu_milliseconds/{}", pass.name));
        counters::add(number, f64::from(pass.milliseconds));
    }
    let passes = statistics.gpu_passes.iter().map(|pass| GpuSpan {
        name: pass.name.clone(),
        began: f64::from(pass.began) * 1e-3,
        seconds: f64::from(pass.milliseconds) * 1e-3,
    });
    profile::set_gpu_passes(statistics.gpu_frame, passes);
}
