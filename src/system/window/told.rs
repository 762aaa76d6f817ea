//! What the desktop tells of a window and of the devices that it hands on, as plain data, and the
//! form of the first in recordings.

use crate::error;
use crate::foundation::Error;
use crate::foundation::blob::{Reader, Writer};

/// The most pixels that a window of a recording is wide or high: more than any desktop has.
const SIDE_MAX: u32 = 1 << 16;
/// The largest scale of a window of a recording.
const SCALE_MAX: f64 = 1000.0;

/// A monitor.
#[derive(Clone, PartialEq, Debug)]
pub struct Monitor {
    pub name: String,
    /// Of its upper left corner, in pixels of the desktop.
    pub position: (i32, i32),
    pub pixels: (u32, u32),
    pub scale: f64,
    /// Pictures a second; 0 where that is not known.
    pub refresh: f64,
}

/// A way in which a monitor can show pictures.
#[derive(Clone, PartialEq, Debug)]
pub struct DisplayMode {
    /// Which monitor, from 1.
    pub monitor: u32,
    pub pixels: (u32, u32),
    /// Pictures a second.
    pub refresh: f64,
    /// Bits of a pixel's colour.
    pub bits: u16,
}

/// Something about the window itself changed.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// The desktop shows it.
    Opened,
    /// In pixels of the screen.
    Resized {
        width: u32,
        height: u32,
    },
    /// Pixels of the screen for each logical pixel.
    Scale(f64),
    /// The upper left corner, in pixels of the desktop.
    Moved {
        x: i32,
        y: i32,
    },
    Focus(bool),
    /// Whether other windows are over all of it.
    Hidden(bool),
    Minimized(bool),
    Maximized(bool),
    MouseInside(bool),
    /// The player asks to close it.
    Close,
    /// The desktop has taken it away, and nobody is asked.
    Gone,
    /// A file was dropped on it.
    Dropped(String),
    Monitors(Vec<Monitor>),
    Modes(Vec<DisplayMode>),
    /// Where the mouse is over a window beside the main one; over that, devices tell it.
    Cursor {
        x: f32,
        y: f32,
    },
    /// It is of the window with that handle, not of the main one.
    Of(u64, Box<Change>),
}

/// What a finger or the like did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Touched {
    Began,
    Moved,
    Ended,
    /// The system took the touch away.
    Cancelled,
}

/// One thing that the desktop told. Places are logical pixels from the lower left corner; what
/// moves up is positive.
#[derive(Clone, PartialEq, Debug)]
pub enum Told {
    Change(Change),
    Key {
        /// The key's place, as the standard of web pages calls it.
        code: String,
        pressed: bool,
        repeat: bool,
        /// What it is called on this keyboard.
        label: Option<String>,
        /// What it types.
        text: Option<String>,
    },
    /// From 0: left, right, middle, back, forward, others.
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
    /// In notches of a wheel.
    Wheel {
        x: f32,
        y: f32,
    },
    Touch {
        finger: u64,
        what: Touched,
        x: f32,
        y: f32,
        pressure: f32,
    },
    /// A text is being composed: where in it the cursor is, in bytes.
    Compose {
        text: String,
        cursor: Option<(u32, u32)>,
    },
    /// A composed text is done.
    Composed(String),
}

impl Change {
    /// What it says of the window that this handle names, or of the main one; `None` where it is
    /// of another.
    pub fn of(&self, window: Option<u64>) -> Option<&Change> {
        match (self, window) {
            (Change::Of(number, change), Some(wanted)) => (*number == wanted).then_some(change),
            (Change::Of(..), None) => None,
            (_, Some(_)) => None,
            (change, None) => Some(change),
        }
    }

    /// The path of a file that was dropped on a window.
    pub fn dropped_file(&self) -> Option<&str> {
        match self {
            Change::Of(_, change) => change.dropped_file(),
            Change::Dropped(path) => Some(path),
            _ => None,
        }
    }

    pub fn write(&self, writer: &mut Writer) {
        let pair = |writer: &mut Writer, kind: u8, a: u32, b: u32| {
            writer.u8(kind);
            writer.u32(a);
            writer.u32(b);
        };
        let flag = |writer: &mut Writer, kind: u8, on: bool| {
            writer.u8(kind);
            writer.u8(u8::from(on));
        };
        match self {
            Change::Opened => writer.u8(0),
            Change::Resized { width, height } => pair(writer, 1, *width, *height),
            Change::Scale(scale) => {
                writer.u8(2);
                writer.f64(*scale);
            }
            Change::Moved { x, y } => pair(writer, 3, *x as u32, *y as u32),
            Change::Focus(on) => flag(writer, 4, *on),
            Change::Hidden(on) => flag(writer, 5, *on),
            Change::Minimized(on) => flag(writer, 6, *on),
            Change::Maximized(on) => flag(writer, 7, *on),
            Change::MouseInside(on) => flag(writer, 8, *on),
            Change::Close => writer.u8(9),
            Change::Dropped(path) => {
                writer.u8(10);
                writer.text(path);
            }
            Change::Gone => writer.u8(12),
            Change::Monitors(monitors) => {
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
            Change::Modes(modes) => {
                writer.u8(13);
                writer.list(modes, |writer, mode| {
                    let (width, height) = mode.pixels;
                    for number in [mode.monitor, width, height, u32::from(mode.bits)] {
                        writer.u32(number);
                    }
                    writer.f64(mode.refresh);
                });
            }
            Change::Cursor { x, y } => pair(writer, 14, x.to_bits(), y.to_bits()),
            Change::Of(window, change) => {
                writer.u8(15);
                writer.u64(*window);
                change.write(writer);
            }
        }
    }

    /// Reads one of a recording.
    ///
    /// # Errors
    /// It is damaged, or no desktop has such a window.
    pub fn read(reader: &mut Reader) -> Result<Change, Error> {
        let kind = reader.u8()?;
        if kind != 15 {
            return Change::read_main(kind, reader);
        }
        let (window, kind) = (reader.u64()?, reader.u8()?);
        Ok(Change::Of(window, Box::new(Change::read_main(kind, reader)?)))
    }

    /// Reads one of the main window, or what is said of another.
    fn read_main(kind: u8, reader: &mut Reader) -> Result<Change, Error> {
        let none = || error!("it is damaged: the window had a size that is none");
        let finite = |number: f64| if number.is_finite() { Ok(number) } else { Err(none()) };
        let side = |side: u32| if side <= SIDE_MAX { Ok(side) } else { Err(none()) };
        let scale = |scale: f64| if scale <= SCALE_MAX { Ok(scale) } else { Err(none()) };
        Ok(match kind {
            0 => Change::Opened,
            1 => Change::Resized { width: side(reader.u32()?)?, height: side(reader.u32()?)? },
            2 => Change::Scale(scale(finite(reader.f64()?)?)?.max(0.1)),
            3 => Change::Moved { x: reader.u32()? as i32, y: reader.u32()? as i32 },
            4 => Change::Focus(reader.flag()?),
            5 => Change::Hidden(reader.flag()?),
            6 => Change::Minimized(reader.flag()?),
            7 => Change::Maximized(reader.flag()?),
            8 => Change::MouseInside(reader.flag()?),
            9 => Change::Close,
            10 => Change::Dropped(reader.text()?.to_string()),
            11 => Change::Monitors(reader.list(|reader| {
                Ok(Monitor {
                    name: reader.text()?.to_string(),
                    position: (reader.u32()? as i32, reader.u32()? as i32),
                    pixels: (side(reader.u32()?)?, side(reader.u32()?)?),
                    scale: scale(finite(reader.f64()?)?)?,
                    refresh: finite(reader.f64()?)?,
                })
            })?),
            12 => Change::Gone,
            13 => Change::Modes(reader.list(|reader| {
                let monitor = reader.u32()?;
                let pixels = (side(reader.u32()?)?, side(reader.u32()?)?);
                let bits = u16::try_from(reader.u32()?).unwrap_or(u16::MAX);
                Ok(DisplayMode { monitor, pixels, bits, refresh: finite(reader.f64()?)? })
            })?),
            14 => {
                let mut side =
                    || finite(f32::from_bits(reader.u32()?).into()).map(|side| side as f32);
                Change::Cursor { x: side()?, y: side()? }
            }
            _ => return Err(error!("it is damaged: the window did something unknown")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_read_as_it_was_written() {
        let monitor = Monitor {
            name: "Left".into(),
            position: (-1920, 0),
            pixels: (1920, 1080),
            scale: 1.5,
            refresh: 59.94,
        };
        let mode = DisplayMode { monitor: 1, pixels: (800, 600), refresh: 60.0, bits: 24 };
        let all = [
            Change::Opened,
            Change::Resized { width: 3, height: 4 },
            Change::Scale(1.25),
            Change::Moved { x: -5, y: 6 },
            Change::Focus(true),
            Change::Hidden(false),
            Change::Minimized(true),
            Change::Maximized(true),
            Change::MouseInside(true),
            Change::Close,
            Change::Gone,
            Change::Dropped("a/ö.png".into()),
            Change::Monitors(vec![monitor]),
            Change::Modes(vec![mode]),
            Change::Of(7, Box::new(Change::Cursor { x: -1.5, y: 20.0 })),
        ];
        for change in all {
            let mut writer = Writer::default();
            change.write(&mut writer);
            let bytes = writer.finish();
            assert_eq!(Change::read(&mut Reader::new(&bytes)).unwrap(), change);
            for length in 0..bytes.len() {
                assert!(Change::read(&mut Reader::new(&bytes[..length])).is_err());
            }
        }
        assert!(Change::read(&mut Reader::new(&[99])).is_err());
        for change in [
            Change::Resized { width: 1 << 31, height: 4 },
            Change::Scale(f64::INFINITY),
            Change::Scale(1e300),
            Change::Cursor { x: f32::NAN, y: 0.0 },
        ] {
            let mut writer = Writer::default();
            change.write(&mut writer);
            let words = Change::read(&mut Reader::new(&writer.finish())).unwrap_err().message;
            assert_eq!(words, "it is damaged: the window had a size that is none");
        }
        // One window is of no other, however deep a damaged file says so.
        let deep: Vec<u8> = [15, 7, 0, 0, 0, 0, 0, 0, 0].repeat(1000);
        assert!(Change::read(&mut Reader::new(&deep)).is_err());
    }
}
