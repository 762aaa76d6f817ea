//! The terminal on Windows: its console.

use std::fs::File;
use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle};
use std::time::{Duration, Instant};
use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE, WAIT_OBJECT_0};
use windows_sys::Win32::System::Console::{
    CONSOLE_MODE, CONSOLE_SCREEN_BUFFER_INFO, ENABLE_ECHO_INPUT, ENABLE_LINE_INPUT,
    ENABLE_PROCESSED_INPUT, ENABLE_VIRTUAL_TERMINAL_INPUT, ENABLE_VIRTUAL_TERMINAL_PROCESSING,
    GetConsoleMode, GetConsoleScreenBufferInfo, GetNumberOfConsoleInputEvents, GetStdHandle,
    INPUT_RECORD, KEY_EVENT, ReadConsoleInputW, STD_ERROR_HANDLE, STD_HANDLE, STD_INPUT_HANDLE,
    STD_OUTPUT_HANDLE, SetConsoleMode, SetStdHandle,
};
use windows_sys::Win32::System::Threading::WaitForSingleObject;

/// Maximum number of console events that are read at once.
const EVENTS_MAX: usize = 256;
/// Key code of a character that is entered by its number, which arrives as the key is released.
const KEY_ALT: u16 = 0x12;

pub fn redirect_output() -> io::Result<File> {
    let original = io::stdout().as_handle().try_clone_to_owned()?;
    // SAFETY: the handle of standard error is open as long as the process lives. A program without
    // a console has none of the descriptors of C, and nothing in C writes to them then.
    unsafe {
        redirect(STD_OUTPUT_HANDLE, GetStdHandle(STD_ERROR_HANDLE))?;
        libc::dup2(2, 1);
        // The C library may have set the handle of its own copy.
        redirect(STD_OUTPUT_HANDLE, GetStdHandle(STD_ERROR_HANDLE))?;
    }
    Ok(original.into())
}

pub fn redirect_input() -> io::Result<File> {
    let original = io::stdin().as_handle().try_clone_to_owned()?;
    let nothing = File::open("NUL")?;
    // SAFETY: the handle stays open, because `into_raw_handle` gives it up. The name is a C string.
    unsafe {
        let descriptor = libc::open(c"NUL".as_ptr(), libc::O_RDONLY);
        if descriptor >= 0 {
            libc::dup2(descriptor, 0);
            libc::close(descriptor);
        }
        redirect(STD_INPUT_HANDLE, std::os::windows::io::IntoRawHandle::into_raw_handle(nothing))?;
    }
    Ok(original.into())
}

/// Replaces a standard handle, which all code of Rust uses at its next call.
unsafe fn redirect(which: STD_HANDLE, handle: HANDLE) -> io::Result<()> {
    // SAFETY: as for the caller.
    match unsafe { SetStdHandle(which, handle) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

pub fn enable_colors() {
    for which in [STD_OUTPUT_HANDLE, STD_ERROR_HANDLE] {
        // SAFETY: the handle is a standard one. The calls fail for files and pipes.
        unsafe {
            let handle = GetStdHandle(which);
            if let Some(mode) = mode_of(handle) {
                SetConsoleMode(handle, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
            }
        }
    }
}

/// Returns the mode of a console; `None` for files, pipes and missing handles.
unsafe fn mode_of(handle: HANDLE) -> Option<CONSOLE_MODE> {
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return None;
    }
    let mut mode = 0;
    // SAFETY: the handle is a standard one, and the call fills the number.
    let done = unsafe { GetConsoleMode(handle, &mut mode) };
    (done != 0).then_some(mode)
}

/// The terminal of standard input in raw mode: each key is reported immediately and not echoed.
/// Dropping this value restores the previous mode.
pub struct RawTerminal {
    original: CONSOLE_MODE,
}

impl RawTerminal {
    /// Switches the terminal to raw mode. Returns `None` if standard input is not a terminal, or if
    /// it is too old to report keys as terminals of other systems do.
    pub fn open() -> Option<RawTerminal> {
        // SAFETY: the handle is a standard one, which is open as long as the process lives.
        unsafe {
            let handle = GetStdHandle(STD_INPUT_HANDLE);
            let original = mode_of(handle)?;
            let line = ENABLE_LINE_INPUT | ENABLE_ECHO_INPUT | ENABLE_PROCESSED_INPUT;
            let raw = original & !line | ENABLE_VIRTUAL_TERMINAL_INPUT;
            (SetConsoleMode(handle, raw) != 0).then_some(RawTerminal { original })
        }
    }

    /// Reads the input typed within a time limit. Returns an empty list if nothing was typed, and
    /// `None` if the input has ended.
    pub fn read(&self, timeout: Duration) -> Option<Vec<u8>> {
        let (start, stdin) = (Instant::now(), io::stdin());
        let handle = stdin.as_handle().as_raw_handle();
        let mut units = Vec::new();
        loop {
            let left = timeout.saturating_sub(start.elapsed()).as_millis().min(60_000) as u32;
            // SAFETY: the handle is open.
            if unsafe { WaitForSingleObject(handle, left) } != WAIT_OBJECT_0 {
                return Some(Vec::new());
            }
            // SAFETY: as above.
            unsafe { read_keys(handle, &mut units)? };
            // Events of the mouse and the window wake the wait, too. Half of a character is
            // followed by the other half.
            let is_half = units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit));
            if !units.is_empty() && !is_half {
                return Some(String::from_utf16_lossy(&units).into_bytes());
            }
        }
    }

    /// Returns the number of columns, or 80 if it is unknown.
    pub fn columns(&self) -> usize {
        // SAFETY: the record is plain numbers. The call fills it, or fails and leaves zeros.
        let (left, right) = unsafe {
            let mut info: CONSOLE_SCREEN_BUFFER_INFO = std::mem::zeroed();
            GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &mut info);
            (info.srWindow.Left, info.srWindow.Right)
        };
        match usize::try_from(i32::from(right) - i32::from(left) + 1) {
            Ok(columns) if columns > 1 => columns,
            _ => 80,
        }
    }
}

/// Appends the characters of the keys that were pressed. Returns `None` if the console is closed.
unsafe fn read_keys(handle: HANDLE, units: &mut Vec<u16>) -> Option<()> {
    // SAFETY: the records are plain numbers, and as many as the call may fill. The members of the
    // unions are those that the type of the event names.
    unsafe {
        let mut waiting = 0;
        if GetNumberOfConsoleInputEvents(handle, &mut waiting) == 0 {
            return None;
        }
        let mut records: [INPUT_RECORD; EVENTS_MAX] = std::mem::zeroed();
        if waiting == 0 {
            // Another reader was faster. A read would block.
            return Some(());
        }
        let wanted = waiting.min(EVENTS_MAX as u32);
        let mut count = 0;
        if ReadConsoleInputW(handle, records.as_mut_ptr(), wanted, &mut count) == 0 {
            return None;
        }
        for record in &records[..(count as usize).min(EVENTS_MAX)] {
            if u32::from(record.EventType) != KEY_EVENT {
                continue;
            }
            let key = record.Event.KeyEvent;
            let (unit, is_down) = (key.uChar.UnicodeChar, key.bKeyDown != 0);
            if unit != 0 && (is_down || key.wVirtualKeyCode == KEY_ALT) {
                let times = usize::from(key.wRepeatCount.clamp(1, EVENTS_MAX as u16));
                units.extend(std::iter::repeat_n(unit, times));
            }
        }
        Some(())
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // SAFETY: the mode is the one that the console returned.
        unsafe { SetConsoleMode(GetStdHandle(STD_INPUT_HANDLE), self.original) };
    }
}
