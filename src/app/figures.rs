//! What a frame came to, in numbers: the counters of the systems that are there, and the end of a
//! frame for whoever measures. Knows no flags of the command line; those are in measures.rs.

use super::App;
use crate::counter;
use crate::engine::{Build, Engine};
use crate::foundation::{counters, profile};
use crate::script::Work;
use crate::system::platform::ThreadClock;
use crate::system::render::Statistics;

/// A game begins: nothing was counted yet. A release is measured only where it was asked for.
pub fn begin(build: Build) {
    if build != Build::Release {
        profile::set_enabled(true);
    }
    profile::forget();
    counters::forget();
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
        let cpu_seconds = ThreadClock::of_this_thread().seconds();
        self.begun = Begun { work: self.vm.work(), cpu_seconds };
    }

    /// Ends a frame for those who measure: the counters have their last amounts, scopes become
    /// rows, and both begin anew. After everything that belongs to the frame.
    pub fn end_frame(&mut self) {
        let (work, held) = (self.vm.work(), self.vm.memory().0);
        count_work(work, self.begun.work, held);
        let seconds = ThreadClock::of_this_thread().seconds() - self.begun.cpu_seconds;
        counter!("frame/cpu_milliseconds") += seconds * 1e3;
        let engine = self.vm.engine();
        count_things(engine);
        profile::end_frame(engine.frame.index);
        counters::push();
    }
}

/// What the scripts did in the frame.
fn count_work(now: Work, before: Work, held: usize) {
    counter!("scripts/held_bytes") += held;
    counter!("scripts/allocated_bytes") += now.allocated_bytes - before.allocated_bytes;
    counter!("scripts/allocations") += now.allocations - before.allocations;
    counter!("scripts/engine_calls") += now.engine_calls - before.engine_calls;
}

/// What is there.
fn count_things(engine: &Engine) {
    counter!("frame/step_milliseconds") += engine.frame.delta * 1e3;
    counter!("worlds/worlds") += engine.worlds.len();
    counter!("worlds/units") += engine.units.slots.len();
    counter!("worlds/cameras") += engine.cameras.len();
    counter!("gui/guis") += engine.guis.slots().len();
    counter!("sound/voices") += engine.sounds.voices.active.len();
    counter!("workers/workers") += engine.workers.slots().len();
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
    for (pass, milliseconds) in &figures.gpu_passes {
        let number = counters::scope_counter(&format!("renderer/gpu_milliseconds/{pass}"));
        counters::add(number, f64::from(*milliseconds));
    }
}
