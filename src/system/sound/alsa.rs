//! Sound output on Linux through libasound. The library is loaded when it is needed, so that the
//! engine builds and starts without it. The device name may come from a game, and the library would
//! interpret it: device_names.rs defines which names reach it.

use super::device::{OpenDevice, SAMPLE_RATE, SampleSink};
use super::device_names::{check_listed, check_shape};
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_long, c_uint, c_ulong, c_void};

/// Microseconds of sound that are buffered in the device.
const LATENCY_MICROSECONDS: u32 = 40_000;

/// Returns a function that opens a device by its ALSA name. The available devices are listed at
/// each call, because they can come and go.
pub fn opener(device: String) -> OpenDevice {
    Box::new(move || PcmDevice::open(&device).map(|pcm| Box::new(pcm) as Box<dyn SampleSink>))
}

type PcmOpen = unsafe extern "C" fn(*mut *mut c_void, *const c_char, c_int, c_int) -> c_int;
type SetParams =
    unsafe extern "C" fn(*mut c_void, c_int, c_int, c_uint, c_uint, c_int, c_uint) -> c_int;
type Write = unsafe extern "C" fn(*mut c_void, *const c_void, c_ulong) -> c_long;
type Recover = unsafe extern "C" fn(*mut c_void, c_int, c_int) -> c_int;
type Close = unsafe extern "C" fn(*mut c_void) -> c_int;
type ErrorTextFunction = unsafe extern "C" fn(c_int) -> *const c_char;
type SetErrorHandler = unsafe extern "C" fn(*const c_void) -> c_int;
type Hints = unsafe extern "C" fn(c_int, *const c_char, *mut *mut *mut c_void) -> c_int;
type Hint = unsafe extern "C" fn(*const c_void, *const c_char) -> *mut c_char;
type FreeHints = unsafe extern "C" fn(*mut *mut c_void) -> c_int;
type Free = unsafe extern "C" fn(*mut c_void);

const PLAYBACK: c_int = 0;
const FLOAT_LITTLE_ENDIAN: c_int = 14;
const INTERLEAVED: c_int = 3;
/// Card number that selects every card.
const ALL_CARDS: c_int = -1;

/// An open device.
pub struct PcmDevice {
    pcm: *mut c_void,
    write: Write,
    recover: Recover,
    close: Close,
    error_text: ErrorTextFunction,
    /// Keeps the functions above alive.
    _library: Library,
}

/// Replaces libasound's messages on stderr. It is called with more arguments than it declares,
/// which C leaves to the caller.
extern "C" fn quiet() {}

impl PcmDevice {
    pub fn open(device: &str) -> Result<PcmDevice, String> {
        check_shape(device)?;
        // SAFETY: loading libasound runs only its own initialization.
        let library = unsafe { Library::new("libasound.so.2") }
            .map_err(|_| "libasound.so.2 is not installed (package libasound2)".to_string())?;
        // SAFETY: names and types are those of alsa/pcm.h and alsa/error.h.
        unsafe {
            let lacks = |reason: libloading::Error| format!("libasound.so.2 lacks {reason}");
            let set_handler: SetErrorHandler =
                *library.get(b"snd_lib_error_set_handler\0").map_err(lacks)?;
            let open: PcmOpen = *library.get(b"snd_pcm_open\0").map_err(lacks)?;
            let set_params: SetParams = *library.get(b"snd_pcm_set_params\0").map_err(lacks)?;
            let write: Write = *library.get(b"snd_pcm_writei\0").map_err(lacks)?;
            let recover: Recover = *library.get(b"snd_pcm_recover\0").map_err(lacks)?;
            let close: Close = *library.get(b"snd_pcm_close\0").map_err(lacks)?;
            let error_text: ErrorTextFunction = *library.get(b"snd_strerror\0").map_err(lacks)?;
            set_handler(quiet as *const c_void);
            check_listed(device, &listed(&library).map_err(lacks)?)?;
            let name = CString::new(device).map_err(|_| "its name has a zero byte".to_string())?;
            let mut pcm = std::ptr::null_mut();
            let code = open(&mut pcm, name.as_ptr(), PLAYBACK, 0);
            if code < 0 {
                return Err(format!("no device '{device}': {}", text(error_text, code)));
            }
            let pcm = PcmDevice { pcm, write, recover, close, error_text, _library: library };
            let code = set_params(
                pcm.pcm,
                FLOAT_LITTLE_ENDIAN,
                INTERLEAVED,
                2,
                SAMPLE_RATE,
                1,
                LATENCY_MICROSECONDS,
            );
            match code < 0 {
                true => Err(format!("the device '{device}' refuses: {}", text(error_text, code))),
                false => Ok(pcm),
            }
        }
    }
}

/// Returns the names of the output devices, as the library lists them.
///
/// # Safety
/// The library must be libasound.
unsafe fn listed(library: &Library) -> Result<Vec<String>, libloading::Error> {
    let mut names = Vec::new();
    // SAFETY: names and types are those of alsa/control.h; `free` is that of the C library
    // which libasound allocates with. A list ends with a null, and each text is freed once.
    unsafe {
        let hints: Hints = *library.get(b"snd_device_name_hint\0")?;
        let hint: Hint = *library.get(b"snd_device_name_get_hint\0")?;
        let free_hints: FreeHints = *library.get(b"snd_device_name_free_hint\0")?;
        let free: Free = *library.get(b"free\0")?;
        let text = |device: *const c_void, key: &CStr| {
            let text = hint(device, key.as_ptr());
            if text.is_null() {
                return None;
            }
            let copy = CStr::from_ptr(text).to_str().ok().map(str::to_string);
            free(text.cast());
            copy
        };
        let mut list = std::ptr::null_mut();
        if hints(ALL_CARDS, c"pcm".as_ptr(), &mut list) < 0 || list.is_null() {
            return Ok(names);
        }
        let mut at = list;
        while !(*at).is_null() {
            // A device without a direction has both.
            let plays = text(*at, c"IOID").is_none_or(|direction| direction == "Output");
            names.extend(text(*at, c"NAME").filter(|_| plays));
            at = at.add(1);
        }
        free_hints(list);
    }
    Ok(names)
}

fn text(error_text: ErrorTextFunction, code: c_int) -> String {
    // SAFETY: the function returns a text that lives as long as the library.
    unsafe { CStr::from_ptr(error_text(code)) }.to_string_lossy().into_owned()
}

impl SampleSink for PcmDevice {
    fn write(&mut self, samples: &[f32]) -> Result<(), String> {
        let mut left = samples;
        while !left.is_empty() {
            // SAFETY: the pointer leads to as many frames of two floats as the length says.
            let written =
                unsafe { (self.write)(self.pcm, left.as_ptr().cast(), left.len() as c_ulong / 2) };
            if written < 0 {
                // SAFETY: the device is open. The call recovers from underruns and suspends.
                let code = unsafe { (self.recover)(self.pcm, written as c_int, 1) };
                if code < 0 {
                    return Err(format!("the device was lost: {}", text(self.error_text, code)));
                }
            } else {
                left = &left[written as usize * 2..];
            }
        }
        Ok(())
    }
}

impl Drop for PcmDevice {
    fn drop(&mut self) {
        // SAFETY: the device was opened, and is closed once.
        unsafe { (self.close)(self.pcm) };
    }
}
