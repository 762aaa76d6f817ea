//! Linux input devices (evdev) and their event records.

/// One event of an input device, with the kernel's codes (linux/input.h).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RawInput {
    /// Age of the event in seconds.
    pub age: f64,
    pub kind: u16,
    pub code: u16,
    pub value: i32,
}

/// The range of one absolute axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AxisRange {
    pub min: i32,
    pub max: i32,
    pub value: i32,
}

/// A Linux input device (evdev), open for non-blocking reads.
#[cfg(target_os = "linux")]
pub struct InputNode {
    file: std::fs::File,
    /// True if the device is open for writing, so it can rumble.
    writable: bool,
}

#[cfg(target_os = "linux")]
impl InputNode {
    /// Opens a device by its path, also for writing if that is allowed.
    pub fn open(path: &std::path::Path) -> std::io::Result<InputNode> {
        use std::os::unix::fs::OpenOptionsExt;
        let open = |writable: bool| {
            let mut options = std::fs::OpenOptions::new();
            options.read(true).write(writable).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC);
            options.open(path).map(|file| InputNode { file, writable })
        };
        let node = open(true).or_else(|_| open(false))?;
        let mut clock = libc::CLOCK_MONOTONIC;
        // A device that does not support this clock uses another one. Then only the age of events
        // is wrong.
        let _ = node.control(1, 0xa0, (&raw mut clock).cast(), size_of::<libc::c_int>());
        Ok(node)
    }

    /// Performs an evdev control call: `direction` 1 writes to the device, 2 reads from it.
    fn control(
        &self,
        direction: u64,
        number: u64,
        data: *mut libc::c_void,
        size: usize,
    ) -> std::io::Result<i32> {
        use std::os::fd::AsRawFd;
        let request = direction << 30 | (size as u64) << 16 | u64::from(b'E') << 8 | number;
        // SAFETY: the kernel reads or writes `size` bytes at `data`, which the callers in this
        // block own. The device is open.
        let result = unsafe { libc::ioctl(self.file.as_raw_fd(), request as _, data) };
        match result {
            result if result < 0 => Err(std::io::Error::last_os_error()),
            result => Ok(result),
        }
    }

    /// Returns the name that the manufacturer gave the device.
    pub fn name(&self) -> String {
        let mut bytes = [0u8; 256];
        let length = self.control(2, 0x06, bytes.as_mut_ptr().cast(), bytes.len()).unwrap_or(0);
        let bytes = &bytes[..(length as usize).min(bytes.len())];
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).trim().to_string()
    }

    /// Returns bus, vendor, product and version.
    pub fn id(&self) -> [u16; 4] {
        let mut id = [0u16; 4];
        // A device without an id keeps the zeros, which no mapping has.
        let _ = self.control(2, 0x02, id.as_mut_ptr().cast(), size_of_val(&id));
        id
    }

    /// Returns the device's codes of one event type: 1 keys, 3 absolute axes, 0x15 effects.
    pub fn codes(&self, kind: u16) -> Vec<u16> {
        let mut bits = [0u8; 96];
        let number = 0x20 + u64::from(kind);
        let length = self.control(2, number, bits.as_mut_ptr().cast(), bits.len()).unwrap_or(0);
        let all = 0..(length as usize * 8).min(bits.len() * 8);
        all.filter(|at| bits[at / 8] & 1 << (at % 8) != 0).map(|at| at as u16).collect()
    }

    /// Returns the range of an absolute axis.
    pub fn range(&self, axis: u16) -> std::io::Result<AxisRange> {
        // The fields are value, minimum, maximum, fuzz, flat, resolution.
        let mut info = [0i32; 6];
        let number = 0x40 + u64::from(axis);
        self.control(2, number, info.as_mut_ptr().cast(), size_of_val(&info))?;
        Ok(AxisRange { value: info[0], min: info[1], max: info[2] })
    }

    /// Returns the keys that are currently pressed.
    pub fn keys_down(&self) -> Vec<u16> {
        let mut bits = [0u8; 96];
        let length = self.control(2, 0x18, bits.as_mut_ptr().cast(), bits.len()).unwrap_or(0);
        let all = 0..(length as usize * 8).min(bits.len() * 8);
        all.filter(|at| bits[at / 8] & 1 << (at % 8) != 0).map(|at| at as u16).collect()
    }

    /// Reads the events since the last call. An error means that the device is disconnected.
    pub fn read(&self, inputs: &mut Vec<RawInput>) -> std::io::Result<()> {
        use std::io::Read;
        const SIZE: usize = size_of::<libc::input_event>();
        let mut bytes = [0u8; SIZE * 64];
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call fills the record.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
        let now = now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9;
        loop {
            let length = match (&self.file).read(&mut bytes) {
                Ok(0) => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => length,
                Err(reason) if reason.kind() == std::io::ErrorKind::WouldBlock => return Ok(()),
                Err(reason) if reason.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(reason) => return Err(reason),
            };
            for record in bytes[..length].chunks_exact(SIZE) {
                // SAFETY: the record is plain numbers, for which any bytes are valid.
                let event: libc::input_event =
                    unsafe { std::ptr::read_unaligned(record.as_ptr().cast()) };
                let at = event.time.tv_sec as f64 + event.time.tv_usec as f64 * 1e-6;
                let age = (now - at).clamp(0.0, 1.0);
                let (kind, code, value) = (event.type_, event.code, event.value);
                inputs.push(RawInput { age, kind, code, value });
            }
        }
    }

    /// Starts the rumble motors: strong and weak motor from 0 to 1. `effect` is the number of the
    /// effect to change, or -1 for a new one. Returns the number of the effect.
    pub fn rumble(&self, effect: i16, motors: [f32; 2], seconds: f32) -> std::io::Result<i16> {
        if !self.writable {
            return Err(std::io::ErrorKind::PermissionDenied.into());
        }
        let full = |motor: f32| (motor.clamp(0.0, 1.0) * 65535.0) as u16;
        // SAFETY: the record is plain numbers, for which zeros are valid.
        let mut record: libc::ff_effect = unsafe { std::mem::zeroed() };
        record.type_ = 0x50;
        record.id = effect;
        record.replay.length = (seconds.clamp(0.0, 60.0) * 1000.0) as u16;
        // The union depends on the kind of effect. For rumble it holds strong, then weak.
        let strengths = [full(motors[0]), full(motors[1])];
        // SAFETY: the union is larger than two 16-bit numbers, and begins with them.
        unsafe { (&raw mut record.u).cast::<[u16; 2]>().write_unaligned(strengths) };
        self.control(1, 0x80, (&raw mut record).cast(), size_of::<libc::ff_effect>())?;
        self.play(record.id, seconds > 0.0 && motors != [0.0; 2])?;
        Ok(record.id)
    }

    fn play(&self, effect: i16, on: bool) -> std::io::Result<()> {
        use std::io::Write;
        // SAFETY: the record is plain numbers, for which zeros are valid.
        let mut event: libc::input_event = unsafe { std::mem::zeroed() };
        (event.type_, event.code, event.value) = (0x15, effect as u16, i32::from(on));
        let size = size_of::<libc::input_event>();
        // SAFETY: the record lives as long as its bytes are read, and has no padding.
        let bytes = unsafe { std::slice::from_raw_parts((&raw const event).cast::<u8>(), size) };
        (&self.file).write_all(bytes)
    }
}
