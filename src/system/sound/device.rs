//! Where mixed samples go: into memory, or to a device that may be missing, get lost and come back.
//! The mixer runs here; nobody ever waits for it.

use crate::foundation::memory::Owner;
use crate::foundation::{Error, fault, log};
use kira::backend::{Backend, Renderer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Frames a second.
pub const SAMPLE_RATE: u32 = 48_000;
/// Frames that a live device is given at once.
pub const BATCH_FRAMES: usize = 256;
/// How long after a failure a device is opened again.
const RETRY_SECONDS: f64 = 1.0;

/// Something that takes interleaved stereo samples and waits until it has room for them.
pub trait Sink {
    fn write(&mut self, samples: &[f32]) -> Result<(), String>;
}

/// Opens the device that is there now.
pub type Open = Box<dyn FnMut() -> Result<Box<dyn Sink>, String> + Send>;

/// How a live device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Health {
    /// It is being opened for the first time.
    Opening = 0,
    Playing = 1,
    /// It is not there; it is tried again.
    Missing = 2,
}

/// What the audio thread and the game's thread share.
pub struct Shared {
    /// Frames mixed so far, at the start of the batch that is being mixed.
    pub mixed: Arc<AtomicU64>,
    health: AtomicU32,
    quit: AtomicBool,
    /// The nanoseconds that mixing took, in all.
    pub busy_nanoseconds: AtomicU64,
    /// Why the device is missing. Written before `health` says so, and never on the way of samples.
    reason: std::sync::Mutex<String>,
}

impl Shared {
    fn new() -> Arc<Shared> {
        Arc::new(Shared {
            mixed: Arc::new(AtomicU64::new(0)),
            health: AtomicU32::new(Health::Opening as u32),
            quit: AtomicBool::new(false),
            busy_nanoseconds: AtomicU64::new(0),
            reason: std::sync::Mutex::new(String::new()),
        })
    }

    pub fn health(&self) -> Health {
        match self.health.load(Ordering::Acquire) {
            0 => Health::Opening,
            1 => Health::Playing,
            _ => Health::Missing,
        }
    }

    fn set_health(&self, health: Health) {
        self.health.store(health as u32, Ordering::Release);
    }

    /// Why the device is missing.
    pub fn reason(&self) -> String {
        self.reason.lock().map_or_else(|_| String::new(), |reason| reason.clone())
    }
}

/// What a device is made of.
pub enum Setup {
    /// Samples are pulled by whoever wants them.
    Offline,
    /// A thread hands them to a device.
    Live(Open),
}

/// The mixer's end.
pub struct Device {
    pub shared: Arc<Shared>,
    setup: Option<Setup>,
    renderer: Option<Renderer>,
    failures: Failures,
    thread: Option<JoinHandle<()>>,
}

impl Backend for Device {
    type Settings = Option<Setup>;
    type Error = String;

    fn setup(settings: Option<Setup>, _: usize) -> Result<(Device, u32), String> {
        let shared = Shared::new();
        let failures = Failures::default();
        Ok((
            Device { shared, setup: settings, renderer: None, failures, thread: None },
            SAMPLE_RATE,
        ))
    }

    fn start(&mut self, renderer: Renderer) -> Result<(), String> {
        match self.setup.take() {
            None | Some(Setup::Offline) => self.renderer = Some(renderer),
            Some(Setup::Live(open)) => {
                let shared = self.shared.clone();
                let run = move || {
                    Owner::of_thread("sound");
                    Feeder { open, renderer, shared }.run();
                };
                let spawned = fault::spawn("sound", run).map_err(|reason| reason.to_string())?;
                self.thread = Some(spawned);
            }
        }
        Ok(())
    }
}

impl Device {
    /// Mixes interleaved stereo samples; only offline.
    pub fn pull(&mut self, samples: &mut [f32]) {
        let renderer = self.renderer.as_mut().expect("only an offline device is pulled");
        for batch in samples.chunks_mut(BATCH_FRAMES * 2) {
            self.failures.mix(renderer, &self.shared, batch);
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.shared.quit.store(true, Ordering::Relaxed);
        // The thread ends after its batch. It is not waited for: a driver may hang.
        self.thread.take();
    }
}

fn mix(renderer: &mut Renderer, shared: &Shared, batch: &mut [f32]) {
    renderer.on_start_processing();
    renderer.process(batch, 2);
    shared.mixed.fetch_add(batch.len() as u64 / 2, Ordering::Relaxed);
}

/// The mixer may panic this often; then it stays silent.
const FAILURES_MAX: u32 = 8;

/// How often the mixer panicked. A panic costs one batch of samples.
#[derive(Default)]
struct Failures(u32);

impl Failures {
    fn mix(&mut self, renderer: &mut Renderer, shared: &Shared, batch: &mut [f32]) {
        self.run(batch, |batch| mix(renderer, shared, batch));
    }

    fn run(&mut self, batch: &mut [f32], mix: impl FnOnce(&mut [f32])) {
        if self.0 >= FAILURES_MAX {
            return batch.fill(0.0);
        }
        let Err(error) = fault::contain(|| mix(batch)) else { return };
        batch.fill(0.0);
        self.0 += 1;
        self.tell(&error);
    }

    fn tell(&self, error: &Error) {
        match self.0 {
            1 => log::error(&format!("the mixer left out a moment of sound: {error}")),
            FAILURES_MAX => log::error(&format!("the mixer fails, and is silent now: {error}")),
            _ => {}
        }
    }
}

/// The audio thread.
struct Feeder {
    open: Open,
    renderer: Renderer,
    shared: Arc<Shared>,
}

/// The device that it feeds.
#[derive(Default)]
struct Fed {
    sink: Option<Box<dyn Sink>>,
    /// When it was tried last.
    tried: Option<Instant>,
    failures: Failures,
    /// The message of the last fault of a device, which was told.
    fault: String,
}

impl Feeder {
    fn run(mut self) {
        let mut fed = Fed::default();
        while !self.shared.quit.load(Ordering::Relaxed) {
            if let Err(error) = fault::contain(|| self.step(&mut fed)) {
                self.lose(&mut fed, &error);
            }
        }
        // The device's end may have a fault of its own.
        let _ = fault::contain(|| drop(fed.sink));
    }

    /// Mixes a batch and hands it over.
    fn step(&mut self, fed: &mut Fed) {
        let is_due = |tried: &Instant| tried.elapsed().as_secs_f64() >= RETRY_SECONDS;
        if fed.sink.is_none() && fed.tried.as_ref().is_none_or(is_due) {
            fed.tried = Some(Instant::now());
            fed.sink = self.try_open();
            fed.tried = Some(Instant::now());
        }
        let mut batch = [0.0; BATCH_FRAMES * 2];
        let began = Instant::now();
        fed.failures.mix(&mut self.renderer, &self.shared, &mut batch);
        let busy = began.elapsed();
        self.shared.busy_nanoseconds.fetch_add(busy.as_nanos() as u64, Ordering::Relaxed);
        let Some(open) = &mut fed.sink else {
            // Time passes without a device too: what plays goes on and comes to its end.
            let batch_seconds = BATCH_FRAMES as f64 / f64::from(SAMPLE_RATE);
            return std::thread::sleep(Duration::from_secs_f64(batch_seconds).saturating_sub(busy));
        };
        if let Err(reason) = open.write(&batch) {
            fed.sink = None;
            fed.tried = Some(Instant::now());
            self.tell_missing(reason);
        }
    }

    /// Takes a fault at the device as its loss: it is opened again like one that is not there.
    fn lose(&self, fed: &mut Fed, error: &Error) {
        fed.tried = Some(Instant::now());
        self.tell_missing(error.message.clone());
        let sink = fed.sink.take();
        // Its end may have a fault as well, which is told by the same words.
        let _ = fault::contain(|| drop(sink));
        if fed.fault != error.message {
            log::error(&format!("the sound device is lost: {error}"));
            fed.fault.clone_from(&error.message);
        }
    }

    fn try_open(&mut self) -> Option<Box<dyn Sink>> {
        match (self.open)() {
            Ok(sink) => {
                self.shared.set_health(Health::Playing);
                Some(sink)
            }
            Err(reason) => {
                self.tell_missing(reason);
                None
            }
        }
    }

    fn tell_missing(&self, reason: String) {
        if let Ok(mut kept) = self.shared.reason.lock() {
            *kept = reason;
        }
        self.shared.set_health(Health::Missing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kira::{AudioManager, AudioManagerSettings};
    use std::sync::OnceLock;

    #[test]
    fn a_mixer_that_panics_is_silent_for_a_batch_and_at_last_for_good() {
        let mut failures = Failures::default();
        let mut calls = 0;
        for turn in 0..20 {
            let mut batch = [1.0; 4];
            failures.run(&mut batch, |batch| {
                calls += 1;
                batch.fill(0.5);
                assert!(turn % 2 == 0, "an odd turn");
            });
            let heard = turn % 2 == 0 && turn < 2 * FAILURES_MAX;
            assert_eq!(batch, [if heard { 0.5 } else { 0.0 }; 4], "turn {turn}");
        }
        assert_eq!(calls, 2 * FAILURES_MAX);
    }

    /// A device that falls at its first batch, and again at its end.
    struct Falling;

    impl Sink for Falling {
        fn write(&mut self, _: &[f32]) -> Result<(), String> {
            panic!("the driver fell")
        }
    }

    impl Drop for Falling {
        fn drop(&mut self) {
            panic!("the driver fell at its end");
        }
    }

    /// One that counts its batches.
    struct Counting(Arc<AtomicU64>);

    impl Sink for Counting {
        fn write(&mut self, _: &[f32]) -> Result<(), String> {
            self.0.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        }
    }

    #[test]
    fn a_device_that_panics_is_lost_and_opened_again_while_time_passes() {
        let batches = Arc::new(AtomicU64::new(0));
        let known: Arc<OnceLock<Arc<Shared>>> = Arc::default();
        let (counted, shared) = (batches.clone(), known.clone());
        let (mut opened, mut mixed) = (0, 0);
        let open: Open = Box::new(move || {
            opened += 1;
            if opened > 1 {
                let shared = shared.wait();
                assert_eq!(shared.health(), Health::Missing);
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
            backend_settings: Some(Setup::Live(open)),
            ..AudioManagerSettings::<Device>::default()
        };
        let mut manager = AudioManager::<Device>::new(settings).unwrap();
        let shared = known.get_or_init(|| manager.backend_mut().shared.clone());
        let began = Instant::now();
        while batches.load(Ordering::Relaxed) == 0 {
            assert!(began.elapsed().as_secs() < 60, "it does not play again");
            std::thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(shared.health(), Health::Playing);
        let said = log::errors_since(errors);
        let ours = said.iter().filter(|words| words.starts_with("the sound device is lost: "));
        assert_eq!(ours.count(), 2, "{said:?}");
    }
}
