//! The sink of mixed samples: memory, or a device that may be missing, get lost and return. The
//! mixer runs here; no other thread waits for it.

use engine_foundation::memory::OwnerScope;
use engine_foundation::{Error, log, panic};
use kira::backend::{Backend, Renderer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Sample frames per second.
pub const SAMPLE_RATE: u32 = 48_000;
/// Sample frames that a live device receives at once.
pub const BATCH_FRAMES: usize = 256;
/// Time after a failure until a device is opened again, in seconds.
const RETRY_SECONDS: f64 = 1.0;

/// A sink of interleaved stereo samples, which blocks until it has room for them.
pub trait SampleSink {
    fn write(&mut self, samples: &[f32]) -> Result<(), String>;
}

/// A function that opens the device that is available now.
pub type OpenDevice = Box<dyn FnMut() -> Result<Box<dyn SampleSink>, String> + Send>;

/// The state of a live device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum DeviceHealth {
    /// The device is being opened for the first time.
    Opening = 0,
    Playing = 1,
    /// The device is missing; opening it is tried again.
    Missing = 2,
}

/// State that the audio thread and the game's thread share.
pub struct DeviceShared {
    /// Frames mixed so far, at the start of the batch that is being mixed.
    pub mixed: Arc<AtomicU64>,
    health: AtomicU32,
    quit: AtomicBool,
    /// True if a live device gets silence, and nothing is mixed.
    is_held: AtomicBool,
    /// Total time of mixing, in nanoseconds.
    pub busy_nanoseconds: AtomicU64,
    /// Reason why the device is missing. It is written before `health` changes, and never while
    /// samples are mixed.
    reason: std::sync::Mutex<String>,
}

impl DeviceShared {
    fn new() -> Arc<DeviceShared> {
        Arc::new(DeviceShared {
            mixed: Arc::new(AtomicU64::new(0)),
            health: AtomicU32::new(DeviceHealth::Opening as u32),
            quit: AtomicBool::new(false),
            is_held: AtomicBool::new(false),
            busy_nanoseconds: AtomicU64::new(0),
            reason: std::sync::Mutex::new(String::new()),
        })
    }

    pub fn health(&self) -> DeviceHealth {
        match self.health.load(Ordering::Acquire) {
            0 => DeviceHealth::Opening,
            1 => DeviceHealth::Playing,
            _ => DeviceHealth::Missing,
        }
    }

    fn set_health(&self, health: DeviceHealth) {
        self.health.store(health as u32, Ordering::Release);
    }

    /// Holds what a live device plays, or lets it continue.
    pub fn hold(&self, is_held: bool) {
        self.is_held.store(is_held, Ordering::Relaxed);
    }

    /// Returns true while what a live device plays is held.
    pub fn is_held(&self) -> bool {
        self.is_held.load(Ordering::Relaxed)
    }

    /// Returns the reason why the device is missing.
    pub fn reason(&self) -> String {
        self.reason.lock().map_or_else(|_| String::new(), |reason| reason.clone())
    }
}

/// The setup of a device.
pub enum DeviceSetup {
    /// Samples are pulled by the caller.
    Offline,
    /// A thread sends the samples to a device.
    Live(OpenDevice),
}

/// The mixer's backend.
pub struct SoundDevice {
    pub shared: Arc<DeviceShared>,
    setup: Option<DeviceSetup>,
    renderer: Option<Renderer>,
    failures: MixerPanics,
    thread: Option<JoinHandle<()>>,
}

impl Backend for SoundDevice {
    type Settings = Option<DeviceSetup>;
    type Error = String;

    fn setup(settings: Option<DeviceSetup>, _: usize) -> Result<(SoundDevice, u32), String> {
        let shared = DeviceShared::new();
        let failures = MixerPanics::default();
        Ok((
            SoundDevice { shared, setup: settings, renderer: None, failures, thread: None },
            SAMPLE_RATE,
        ))
    }

    fn start(&mut self, renderer: Renderer) -> Result<(), String> {
        match self.setup.take() {
            None | Some(DeviceSetup::Offline) => self.renderer = Some(renderer),
            Some(DeviceSetup::Live(open)) => {
                let shared = self.shared.clone();
                let run = move || {
                    OwnerScope::of_thread("sound");
                    AudioThread { open, renderer, shared }.run();
                };
                let spawned = panic::spawn("sound", run).map_err(|reason| reason.to_string())?;
                self.thread = Some(spawned);
            }
        }
        Ok(())
    }
}

impl SoundDevice {
    /// Mixes interleaved stereo samples; only offline.
    pub fn pull(&mut self, samples: &mut [f32]) {
        let renderer = self.renderer.as_mut().expect("only an offline device is pulled");
        for batch in samples.chunks_mut(BATCH_FRAMES * 2) {
            self.failures.mix(renderer, &self.shared, batch);
        }
    }
}

impl Drop for SoundDevice {
    fn drop(&mut self) {
        self.shared.quit.store(true, Ordering::Relaxed);
        // The thread ends after its batch. Nothing waits for it, because a driver may hang.
        self.thread.take();
    }
}

fn mix(renderer: &mut Renderer, shared: &DeviceShared, batch: &mut [f32]) {
    renderer.on_start_processing();
    renderer.process(batch, 2);
    shared.mixed.fetch_add(batch.len() as u64 / 2, Ordering::Relaxed);
}

/// After this many panics the mixer stays silent.
const FAILURES_MAX: u32 = 8;

/// Number of panics of the mixer. A panic costs one batch of samples.
#[derive(Default)]
struct MixerPanics(u32);

impl MixerPanics {
    fn mix(&mut self, renderer: &mut Renderer, shared: &DeviceShared, batch: &mut [f32]) {
        self.run(batch, |batch| mix(renderer, shared, batch));
    }

    fn run(&mut self, batch: &mut [f32], mix: impl FnOnce(&mut [f32])) {
        if self.0 >= FAILURES_MAX {
            return batch.fill(0.0);
        }
        let Err(error) = panic::contain(|| mix(batch)) else { return };
        batch.fill(0.0);
        self.0 += 1;
        self.report(&error);
    }

    fn report(&self, error: &Error) {
        match self.0 {
            1 => log::error(&format!("the mixer left out a moment of sound: {error}")),
            FAILURES_MAX => log::error(&format!("the mixer fails, and is silent now: {error}")),
            _ => {}
        }
    }
}

/// The audio thread.
struct AudioThread {
    open: OpenDevice,
    renderer: Renderer,
    shared: Arc<DeviceShared>,
}

/// The device that the audio thread feeds.
#[derive(Default)]
struct DeviceState {
    sink: Option<Box<dyn SampleSink>>,
    /// Time of the last attempt to open it.
    tried: Option<Instant>,
    failures: MixerPanics,
    /// True if the last batch was silence, because the sound is held.
    was_held: bool,
    /// Message of the device's last panic, which was logged.
    fault: String,
}

/// Mixes a batch, or leaves it silent while the sound is held. The batches at both ends of that
/// are faded, so that nothing clicks.
fn mix_or_hold(
    was_held: &mut bool,
    is_held: bool,
    batch: &mut [f32],
    mix: impl FnOnce(&mut [f32]),
) {
    let before = std::mem::replace(was_held, is_held);
    if before && is_held {
        return batch.fill(0.0);
    }
    mix(batch);
    if before != is_held {
        let frames = batch.len() / 2;
        for (i, frame) in batch.chunks_mut(2).enumerate() {
            let part = i as f32 / frames as f32;
            let gain = if is_held { 1.0 - part } else { part };
            frame.iter_mut().for_each(|sample| *sample *= gain);
        }
    }
}

impl AudioThread {
    fn run(mut self) {
        let mut state = DeviceState::default();
        while !self.shared.quit.load(Ordering::Relaxed) {
            if let Err(error) = panic::contain(|| self.step(&mut state)) {
                self.handle_panic(&mut state, &error);
            }
        }
        // Closing the device may panic as well.
        let _ = panic::contain(|| drop(state.sink));
    }

    /// Mixes a batch and writes it to the device.
    fn step(&mut self, state: &mut DeviceState) {
        let is_due = |tried: &Instant| tried.elapsed().as_secs_f64() >= RETRY_SECONDS;
        if state.sink.is_none() && state.tried.as_ref().is_none_or(is_due) {
            state.tried = Some(Instant::now());
            state.sink = self.try_open();
            state.tried = Some(Instant::now());
        }
        let mut batch = [0.0; BATCH_FRAMES * 2];
        let began = Instant::now();
        let is_held = self.shared.is_held();
        let DeviceState { was_held, failures, .. } = state;
        mix_or_hold(was_held, is_held, &mut batch, |batch| {
            failures.mix(&mut self.renderer, &self.shared, batch);
        });
        let busy = began.elapsed();
        self.shared.busy_nanoseconds.fetch_add(busy.as_nanos() as u64, Ordering::Relaxed);
        let Some(open) = &mut state.sink else {
            // Time passes without a device too: sounds continue and end.
            let batch_seconds = BATCH_FRAMES as f64 / f64::from(SAMPLE_RATE);
            return std::thread::sleep(Duration::from_secs_f64(batch_seconds).saturating_sub(busy));
        };
        if let Err(reason) = open.write(&batch) {
            state.sink = None;
            state.tried = Some(Instant::now());
            self.report_missing_device(reason);
        }
    }

    /// Treats a panic of the device as its loss: it is opened again like a missing one.
    fn handle_panic(&self, state: &mut DeviceState, error: &Error) {
        state.tried = Some(Instant::now());
        self.report_missing_device(error.message.clone());
        let sink = state.sink.take();
        // Closing it may panic as well; the log contains only the first message.
        let _ = panic::contain(|| drop(sink));
        if state.fault != error.message {
            log::error(&format!("the sound device is lost: {error}"));
            state.fault.clone_from(&error.message);
        }
    }

    fn try_open(&mut self) -> Option<Box<dyn SampleSink>> {
        match (self.open)() {
            Ok(sink) => {
                self.shared.set_health(DeviceHealth::Playing);
                Some(sink)
            }
            Err(reason) => {
                self.report_missing_device(reason);
                None
            }
        }
    }

    fn report_missing_device(&self, reason: String) {
        if let Ok(mut stored) = self.shared.reason.lock() {
            *stored = reason;
        }
        self.shared.set_health(DeviceHealth::Missing);
    }
}

#[cfg(test)]
mod tests {
    use super::super::SoundSystem;
    use super::super::mixer::MixerData;
    use super::super::mixer_output::MixerOutput;
    use super::*;
    use kira::{AudioManager, AudioManagerSettings};
    use std::sync::OnceLock;

    #[test]
    fn a_panicking_mixer_is_silenced() {
        let mut failures = MixerPanics::default();
        let mut calls = 0;
        for turn in 0..20 {
            let mut batch = [1.0; 4];
            failures.run(&mut batch, |batch| {
                calls += 1;
                batch.fill(0.5);
                assert!(turn % 2 == 0, "an odd turn");
            });
            let is_audible = turn % 2 == 0 && turn < 2 * FAILURES_MAX;
            assert_eq!(batch, [if is_audible { 0.5 } else { 0.0 }; 4], "turn {turn}");
        }
        assert_eq!(calls, 2 * FAILURES_MAX);
    }

    #[test]
    fn held_sound_fades_out_rests_and_fades_in() {
        let (mut was_held, mut mixed) = (false, 0);
        let mut play = |is_held: bool| {
            let mut batch = [1.0; 8];
            mix_or_hold(&mut was_held, is_held, &mut batch, |batch| {
                mixed += 1;
                batch.fill(0.5);
            });
            (batch, mixed)
        };
        assert_eq!(play(false), ([0.5; 8], 1));
        assert_eq!(play(true), ([0.5, 0.5, 0.375, 0.375, 0.25, 0.25, 0.125, 0.125], 2));
        assert_eq!(play(true), ([0.0; 8], 2));
        assert_eq!(play(true), ([0.0; 8], 2));
        assert_eq!(play(false), ([0.0, 0.0, 0.125, 0.125, 0.25, 0.25, 0.375, 0.375], 3));
        assert_eq!(play(false), ([0.5; 8], 4));
    }

    /// A device that panics at its first batch, and again when it is dropped.
    struct Falling;

    impl SampleSink for Falling {
        fn write(&mut self, _: &[f32]) -> Result<(), String> {
            panic!("the driver fell")
        }
    }

    impl Drop for Falling {
        fn drop(&mut self) {
            panic!("the driver fell at its end");
        }
    }

    /// A device that counts its batches.
    struct Counting(Arc<AtomicU64>);

    impl SampleSink for Counting {
        fn write(&mut self, _: &[f32]) -> Result<(), String> {
            self.0.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        }
    }

    #[test]
    fn nothing_is_mixed_while_sound_is_held() {
        let batches = Arc::new(AtomicU64::new(0));
        let counted = batches.clone();
        let open: OpenDevice = Box::new(move || Ok(Box::new(Counting(counted.clone()))));
        let setup = Some(DeviceSetup::Live(open));
        let sounds = SoundSystem::with(MixerData::standard(), 1, true, 8, setup);
        let wait_for = |is_so: &dyn Fn() -> bool| {
            let began = Instant::now();
            while !is_so() {
                assert!(began.elapsed().as_secs() < 60, "it waits too long");
                std::thread::sleep(Duration::from_millis(2));
            }
        };
        let mixed = || sounds.output.as_ref().map_or(0, MixerOutput::mixed);
        // The batch in which the sound fades out is still mixed, and one may have begun before.
        let wait_for_batches = |count: u64| {
            let before = batches.load(Ordering::Relaxed);
            wait_for(&|| batches.load(Ordering::Relaxed) >= before + count);
        };
        for _ in 0..2 {
            let before = mixed();
            wait_for(&|| mixed() > before);
            sounds.hold(true);
            assert!(sounds.is_held());
            wait_for_batches(3);
            let before = mixed();
            wait_for_batches(5);
            assert_eq!(mixed(), before);
            sounds.hold(false);
            assert!(!sounds.is_held());
        }
    }

    #[test]
    fn a_panicking_device_is_lost_and_reopened() {
        let batches = Arc::new(AtomicU64::new(0));
        let known: Arc<OnceLock<Arc<DeviceShared>>> = Arc::default();
        let (counted, shared) = (batches.clone(), known.clone());
        let (mut opened, mut mixed) = (0, 0);
        let open: OpenDevice = Box::new(move || {
            opened += 1;
            if opened > 1 {
                let shared = shared.wait();
                assert_eq!(shared.health(), DeviceHealth::Missing);
                assert!(shared.reason().contains("the driver fell"), "{}", shared.reason());
                let before = std::mem::replace(&mut mixed, shared.mixed.load(Ordering::Relaxed));
                assert!(mixed > before, "time passes");
            }
            match opened {
                1 => Ok(Box::new(Falling)),
                2 => panic!("the driver fell at its beginning"),
                _ => Ok(Box::new(Counting(counted.clone()))),
            }
        });
        let errors = log::error_count();
        let settings = AudioManagerSettings {
            backend_settings: Some(DeviceSetup::Live(open)),
            ..AudioManagerSettings::<SoundDevice>::default()
        };
        let mut manager = AudioManager::<SoundDevice>::new(settings).unwrap();
        let shared = known.get_or_init(|| manager.backend_mut().shared.clone());
        let began = Instant::now();
        while batches.load(Ordering::Relaxed) == 0 {
            assert!(began.elapsed().as_secs() < 60, "it does not play again");
            std::thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(shared.health(), DeviceHealth::Playing);
        let errors = log::errors_since(errors);
        let ours =
            errors.iter().filter(|message| message.starts_with("the sound device is lost: "));
        assert_eq!(ours.count(), 2, "{errors:?}");
    }
}
