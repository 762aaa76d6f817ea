//! Sound output of executables for servers, which open no device.

use super::device::OpenDevice;

/// Returns a function that returns the reason at each call. `--audio null` is the default without a
/// window, so this is called only if the command line names a device.
pub fn opener(_: String) -> OpenDevice {
    Box::new(|| {
        Err("this executable of the engine is for servers and opens no sound device".to_string())
    })
}
