//! Sound output on Windows (WASAPI) and macOS (CoreAudio) by the library cpal. The system asks for
//! samples on a thread of its own, which takes them from a ring that the audio thread fills.

use super::device::{OpenDevice, SAMPLE_RATE, SampleSink};
use super::device_names::{NAME_BYTES_MAX, check_listed};
use super::resampler::Resampler;
use super::sample_ring::SampleRing;
use cpal::traits::{DeviceTrait, HostTrait, StreamTrait};
use cpal::{BufferSize, Device, ErrorKind, Stream, StreamConfig};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Sample frames that are buffered between both threads: 40 ms.
const RING_FRAMES: usize = SAMPLE_RATE as usize / 25;
/// Time after which a device that takes no samples counts as lost.
const STALL: Duration = Duration::from_secs(2);

/// Returns a function that opens a device by its name. The available devices are listed at each
/// call, because they can come and go.
pub fn opener(device: String) -> OpenDevice {
    Box::new(move || match device.as_str() {
        "null" => Ok(Box::new(NullDevice { played_until: Instant::now() })),
        name => SystemDevice::open(name).map(|device| Box::new(device) as Box<dyn SampleSink>),
    })
}

/// A device that plays nothing, in the time that playing would take.
struct NullDevice {
    played_until: Instant,
}

impl SampleSink for NullDevice {
    fn write(&mut self, samples: &[f32]) -> Result<(), String> {
        let seconds = samples.len() as f64 / 2.0 / f64::from(SAMPLE_RATE);
        let now = Instant::now();
        self.played_until = self.played_until.max(now) + Duration::from_secs_f64(seconds);
        std::thread::sleep(self.played_until - now);
        Ok(())
    }
}

/// An open device.
struct SystemDevice {
    ring: Arc<SampleRing>,
    /// Converts the mixer's rate, if the device cannot use it.
    resampler: Option<Resampler>,
    converted: Vec<f32>,
    /// The message of the error that ended the stream.
    fault: Arc<Mutex<Option<String>>>,
    /// Dropping it ends the stream.
    _stream: Stream,
}

impl SystemDevice {
    fn open(name: &str) -> Result<SystemDevice, String> {
        let device = find(name)?;
        let message =
            |reason: cpal::Error| format!("the device '{name}' cannot be opened: {reason}");
        let own = device.default_output_config().map(|config| config.sample_rate());
        match SystemDevice::start(&device, SAMPLE_RATE) {
            // Some devices play one rate only, and their system does not convert.
            Err(_) if own.as_ref().is_ok_and(|rate| *rate != SAMPLE_RATE && *rate > 0) => {
                SystemDevice::start(&device, own.map_err(message)?)
            }
            started => started,
        }
        .map_err(message)
    }

    fn start(device: &Device, sample_rate: u32) -> Result<SystemDevice, cpal::Error> {
        let ring = Arc::new(SampleRing::new(RING_FRAMES * 2));
        let fault: Arc<Mutex<Option<String>>> = Arc::default();
        let config = StreamConfig { channels: 2, sample_rate, buffer_size: BufferSize::Default };
        let (source, reported) = (ring.clone(), fault.clone());
        let stream = device.build_output_stream::<f32, _, _>(
            config,
            move |samples, _| source.read(samples),
            move |error| report(&reported, &error),
            Some(STALL),
        )?;
        stream.play()?;
        let resampler = (sample_rate != SAMPLE_RATE).then(|| Resampler::new(sample_rate));
        Ok(SystemDevice { ring, resampler, converted: Vec::new(), fault, _stream: stream })
    }
}

/// Keeps the message of an error that ends the stream.
fn report(fault: &Mutex<Option<String>>, error: &cpal::Error) {
    match error.kind() {
        // The stream continues.
        ErrorKind::Xrun | ErrorKind::RealtimeDenied | ErrorKind::DeviceChanged => {}
        _ => {
            if let Ok(mut fault) = fault.lock() {
                fault.get_or_insert_with(|| error.to_string());
            }
        }
    }
}

/// Returns the device with a name, as the system lists it.
fn find(name: &str) -> Result<Device, String> {
    if name.len() > NAME_BYTES_MAX {
        return Err(format!(
            "sound.device is longer than {NAME_BYTES_MAX} bytes (NAME_BYTES_MAX): write \"default\""
        ));
    }
    let host = cpal::default_host();
    if name == "default" {
        return host.default_output_device().ok_or_else(|| "the system has none".to_string());
    }
    let devices = host.output_devices().map_err(|reason| reason.to_string())?;
    let named = |device: Device| Some((device.description().ok()?.name().to_string(), device));
    let mut devices: Vec<(String, Device)> = devices.filter_map(named).collect();
    let names: Vec<String> = devices.iter().map(|(name, _)| name.clone()).collect();
    check_listed(name, &names)?;
    match devices.iter().position(|(known, _)| known == name) {
        Some(at) => Ok(devices.swap_remove(at).1),
        None => Err(format!("the device '{name}' has just been disconnected")),
    }
}

impl SampleSink for SystemDevice {
    fn write(&mut self, samples: &[f32]) -> Result<(), String> {
        let mut left = samples;
        if let Some(resampler) = &mut self.resampler {
            self.converted.clear();
            resampler.convert(samples, &mut self.converted);
            left = &self.converted;
        }
        let mut last_progress = Instant::now();
        while !left.is_empty() {
            if let Some(reason) = self.fault.lock().ok().and_then(|mut fault| fault.take()) {
                return Err(format!("the device was lost: {reason}"));
            }
            match self.ring.write(left) {
                0 if last_progress.elapsed() > STALL => {
                    return Err("the device takes no samples".to_string());
                }
                0 => std::thread::sleep(Duration::from_millis(1)),
                count => (left, last_progress) = (&left[count..], Instant::now()),
            }
        }
        Ok(())
    }
}
