//! Events of windows and of their devices as plain data, and the form of window changes in
//! recordings.

use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::error;

/// Maximum width and height of a recorded window in pixels, more than any desktop has.
const SIDE_MAX: u32 = 1 << 16;
/// Maximum scale of a recorded window.
const SCALE_MAX: f64 = 1000.0;

/// Monitor of the desktop.
#[derive(Clone, PartialEq, Debug)]
pub struct Monitor {
    pub name: String,
    /// Position of the top left corner, in pixels of the desktop.
    pub position: (i32, i32),
    pub pixels: (u32, u32),
    pub scale: f64,
    /// Refresh rate in Hz; 0 if unknown.
    pub refresh: f64,
}

/// Display mode of a monitor.
#[derive(Clone, PartialEq, Debug)]
pub struct DisplayMode {
    /// Number of the monitor, from 1.
    pub monitor: u32,
    pub pixels: (u32, u32),
    /// Refresh rate in Hz.
    pub refresh: f64,
    /// Color depth in bits per pixel.
    pub bits: u16,
}

/// Change of a window's state.
#[derive(Clone, PartialEq, Debug)]
pub enum WindowChange {
    /// The desktop shows the window.
    Opened,
    /// New size in screen pixels.
    Resized {
        width: u32,
        height: u32,
    },
    /// Number of screen pixels per logical pixel.
    Scale(f64),
    /// Position of the top left corner, in pixels of the desktop.
    Moved {
        x: i32,
        y: i32,
    },
    Focus(bool),
    /// True if other windows cover the whole window.
    Hidden(bool),
    Minimized(bool),
    Maximized(bool),
    MouseInside(bool),
    /// The player asks to close the window.
    Close,
    /// The desktop has removed the window without a request to close it.
    Removed,
    /// A file was dropped on the window.
    Dropped(String),
    Monitors(Vec<Monitor>),
    Modes(Vec<DisplayMode>),
    /// Position of the mouse over a window other than the main one; over the main window, the mouse
    /// device reports the position.
    Cursor {
        x: f32,
        y: f32,
    },
    /// A connected tool asks to restart the game. Like a request to close, it is an input of the
    /// run, so that recordings contain it.
    Restart,
    /// Change of the secondary window with this handle.
    Of(u64, Box<WindowChange>),
}

/// Phase of a touch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PointerPhase {
    Began,
    Moved,
    Ended,
    /// The system canceled the touch.
    Cancelled,
}

/// Event reported by the desktop. Positions are in logical pixels from the bottom left corner;
/// upward motion is positive.
#[derive(Clone, PartialEq, Debug)]
pub enum WindowEvent {
    Change(WindowChange),
    Key {
        /// Code of the key's position in the web standard (KeyboardEvent code); `None` for keys
        /// that only type text.
        code: Option<&'static str>,
        pressed: bool,
        repeat: bool,
        /// Label of the key on this keyboard.
        label: Option<String>,
        /// Text that the key types.
        text: Option<String>,
    },
    /// Button index from 0: left, right, middle, back, forward, others.
    MouseButton {
        button: u16,
        pressed: bool,
    },
    Cursor {
        x: f32,
        y: f32,
    },
    MouseMotion {
        x: f32,
        y: f32,
    },
    /// Motion in notches of a wheel.
    Wheel {
        x: f32,
        y: f32,
    },
    Touch {
        finger: u64,
        phase: PointerPhase,
        x: f32,
        y: f32,
        pressure: f32,
    },
    /// A text is being composed, with the cursor's range in bytes.
    Compose {
        text: String,
        cursor: Option<(u32, u32)>,
    },
    /// A composed text was committed.
    Composed(String),
}

impl WindowChange {
    /// Returns the change if it belongs to the window with this handle (`None`: the main window).
    pub fn of(&self, window: Option<u64>) -> Option<&WindowChange> {
        match (self, window) {
            (WindowChange::Of(number, change), Some(wanted)) => {
                (*number == wanted).then_some(change)
            }
            (WindowChange::Of(..), None) => None,
            (_, Some(_)) => None,
            (change, None) => Some(change),
        }
    }

    /// Returns the path of a file that was dropped on a window.
    pub fn dropped_file(&self) -> Option<&str> {
        match self {
            WindowChange::Of(_, change) => change.dropped_file(),
            WindowChange::Dropped(path) => Some(path),
            _ => None,
        }
    }

    pub fn write(&self, writer: &mut BlobWriter) {
        let pair = |writer: &mut BlobWriter, kind: u8, a: u32, b: u32| {
            writer.u8(kind);
            writer.u32(a);
            writer.u32(b);
        };
        let flag = |writer: &mut BlobWriter, kind: u8, on: bool| {
            writer.u8(kind);
            writer.u8(u8::from(on));
        };
        match self {
            WindowChange::Opened => writer.u8(0),
            WindowChange::Resized { width, height } => pair(writer, 1, *width, *height),
            WindowChange::Scale(scale) => {
                writer.u8(2);
                writer.f64(*scale);
            }
            WindowChange::Moved { x, y } => pair(writer, 3, *x as u32, *y as u32),
            WindowChange::Focus(on) => flag(writer, 4, *on),
            WindowChange::Hidden(on) => flag(writer, 5, *on),
            WindowChange::Minimized(on) => flag(writer, 6, *on),
            WindowChange::Maximized(on) => flag(writer, 7, *on),
            WindowChange::MouseInside(on) => flag(writer, 8, *on),
            WindowChange::Close => writer.u8(9),
            WindowChange::Dropped(path) => {
                writer.u8(10);
                writer.text(path);
            }
            WindowChange::Removed => writer.u8(12),
            WindowChange::Monitors(monitors) => {
                writer.u8(11);
                writer.list(monitors, |writer, monitor| {
                    writer.text(&monitor.name);
                    let ((x, y), (width, height)) = (monitor.position, monitor.pixels);
                    for number in [x as u32, y as u32, width, height] {
                        writer.u32(number);
                    }
                    writer.f64(monitor.scale);
                    writer.f64(monitor.refresh);
                });
            }
            WindowChange::Modes(modes) => {
                writer.u8(13);
                writer.list(modes, |writer, mode| {
                    let (width, height) = mode.pixels;
                    for number in [mode.monitor, width, height, u32::from(mode.bits)] {
                        writer.u32(number);
                    }
                    writer.f64(mode.refresh);
                });
            }
            WindowChange::Cursor { x, y } => pair(writer, 14, x.to_bits(), y.to_bits()),
            WindowChange::Restart => writer.u8(16),
            WindowChange::Of(window, change) => {
                writer.u8(15);
                writer.u64(*window);
                change.write(writer);
            }
        }
    }

    /// Reads a change from a recording.
    ///
    /// # Errors
    /// Returns an error if the recording is damaged, or no desktop can have such a window.
    pub fn read(reader: &mut BlobReader) -> Result<WindowChange, Error> {
        let kind = reader.u8()?;
        if kind != 15 {
            return WindowChange::read_main(kind, reader);
        }
        let (window, kind) = (reader.u64()?, reader.u8()?);
        Ok(WindowChange::Of(window, Box::new(WindowChange::read_main(kind, reader)?)))
    }

    /// Reads a change of the main window, or the inner change of another window.
    fn read_main(kind: u8, reader: &mut BlobReader) -> Result<WindowChange, Error> {
        let none = || error!("it is damaged: the window had an invalid size");
        let finite = |number: f64| if number.is_finite() { Ok(number) } else { Err(none()) };
        let side = |side: u32| if side <= SIDE_MAX { Ok(side) } else { Err(none()) };
        let scale = |scale: f64| if scale <= SCALE_MAX { Ok(scale) } else { Err(none()) };
        Ok(match kind {
            0 => WindowChange::Opened,
            1 => {
                WindowChange::Resized { width: side(reader.u32()?)?, height: side(reader.u32()?)? }
            }
            2 => WindowChange::Scale(scale(finite(reader.f64()?)?)?.max(0.1)),
            3 => WindowChange::Moved { x: reader.u32()? as i32, y: reader.u32()? as i32 },
            4 => WindowChange::Focus(reader.flag()?),
            5 => WindowChange::Hidden(reader.flag()?),
            6 => WindowChange::Minimized(reader.flag()?),
            7 => WindowChange::Maximized(reader.flag()?),
            8 => WindowChange::MouseInside(reader.flag()?),
            9 => WindowChange::Close,
            10 => WindowChange::Dropped(reader.text()?.to_string()),
            11 => WindowChange::Monitors(reader.list(|reader| {
                Ok(Monitor {
                    name: reader.text()?.to_string(),
                    position: (reader.u32()? as i32, reader.u32()? as i32),
                    pixels: (side(reader.u32()?)?, side(reader.u32()?)?),
                    scale: scale(finite(reader.f64()?)?)?,
                    refresh: finite(reader.f64()?)?,
                })
            })?),
            12 => WindowChange::Removed,
            13 => WindowChange::Modes(reader.list(|reader| {
                let monitor = reader.u32()?;
                let pixels = (side(reader.u32()?)?, side(reader.u32()?)?);
                let bits = u16::try_from(reader.u32()?).unwrap_or(u16::MAX);
                Ok(DisplayMode { monitor, pixels, bits, refresh: finite(reader.f64()?)? })
            })?),
            14 => {
                let mut side =
                    || finite(f32::from_bits(reader.u32()?).into()).map(|side| side as f32);
                WindowChange::Cursor { x: side()?, y: side()? }
            }
            16 => WindowChange::Restart,
            _ => return Err(error!("it is damaged: an unknown change of the window")),
        })
    }
}

/// Desktop's reason why the window could not be opened.
#[derive(Clone, Debug, PartialEq)]
pub struct DesktopError(pub String);

/// Status of a foreign window since the last check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ForeignWindowStatus {
    /// The window is unchanged.
    Same,
    /// The window has a new size, in pixels.
    Resized(u32, u32),
    /// The window was closed, or its display is gone.
    Closed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_survives_a_round_trip() {
        let monitor = Monitor {
            name: "Left".into(),
            position: (-1920, 0),
            pixels: (1920, 1080),
            scale: 1.5,
            refresh: 59.94,
        };
        let mode = DisplayMode { monitor: 1, pixels: (800, 600), refresh: 60.0, bits: 24 };
        let all = [
            WindowChange::Opened,
            WindowChange::Resized { width: 3, height: 4 },
            WindowChange::Scale(1.25),
            WindowChange::Moved { x: -5, y: 6 },
            WindowChange::Focus(true),
            WindowChange::Hidden(false),
            WindowChange::Minimized(true),
            WindowChange::Maximized(true),
            WindowChange::MouseInside(true),
            WindowChange::Close,
            WindowChange::Removed,
            WindowChange::Restart,
            WindowChange::Dropped("a/ö.png".into()),
            WindowChange::Monitors(vec![monitor]),
            WindowChange::Modes(vec![mode]),
            WindowChange::Of(7, Box::new(WindowChange::Cursor { x: -1.5, y: 20.0 })),
        ];
        for change in all {
            let mut writer = BlobWriter::default();
            change.write(&mut writer);
            let bytes = writer.finish();
            assert_eq!(WindowChange::read(&mut BlobReader::new(&bytes)).unwrap(), change);
            for length in 0..bytes.len() {
                assert!(WindowChange::read(&mut BlobReader::new(&bytes[..length])).is_err());
            }
        }
        assert!(WindowChange::read(&mut BlobReader::new(&[99])).is_err());
        for change in [
            WindowChange::Resized { width: 1 << 31, height: 4 },
            WindowChange::Scale(f64::INFINITY),
            WindowChange::Scale(1e300),
            WindowChange::Cursor { x: f32::NAN, y: 0.0 },
        ] {
            let mut writer = BlobWriter::default();
            change.write(&mut writer);
            let message =
                WindowChange::read(&mut BlobReader::new(&writer.finish())).unwrap_err().message;
            assert_eq!(message, "it is damaged: the window had an invalid size");
        }
        // A change of a secondary window contains no further `Of`, even in a damaged, deeply nested
        // file.
        let deep: Vec<u8> = [15, 7, 0, 0, 0, 0, 0, 0, 0].repeat(1000);
        assert!(WindowChange::read(&mut BlobReader::new(&deep)).is_err());
    }
}
