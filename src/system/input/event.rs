//! What devices say: plain events, and their form in recordings. Nothing in it knows who tells
//! them.

use crate::error;
use crate::foundation::blob::{Reader, Writer};
use crate::foundation::{Error, Vec3};

/// The place of a device among all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub struct DeviceId(pub u8);

/// Where a finger is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Began,
    Moved,
    Ended,
    /// The system took the touch away: the player has done nothing.
    Cancelled,
}

/// One thing that happened to a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub device: DeviceId,
    /// Seconds before the frame that it happened.
    pub age: f64,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A button has this value now: 0 up, 1 wholly down. `repeat`: it was held, and nothing new
    /// happened.
    Button { button: u16, value: f32, repeat: bool },
    /// An axis stands here now.
    Axis { axis: u8, value: Vec3 },
    /// It was moved by this much.
    Motion { axis: u8, by: Vec3 },
    /// What a key is called on this very keyboard.
    Label { button: u16, text: String },
    /// Text was typed.
    Text(String),
    /// A text is being composed, and not typed yet: where in it the cursor is, in bytes. Empty:
    /// composing has ended.
    Compose { text: String, cursor: Option<(u32, u32)> },
    /// A finger.
    Touch { finger: u64, phase: Phase, at: Vec3, pressure: f32 },
    /// The device is there from now on, under this name.
    Connected { name: String, motors: u8 },
    /// It is gone.
    Disconnected,
    /// What is down counts as released: nobody will tell.
    Reset,
}

fn vector(writer: &mut Writer, v: Vec3) {
    for number in v.to_array() {
        writer.u32(number.to_bits());
    }
}

fn read_f32(reader: &mut Reader) -> Result<f32, Error> {
    let number = f32::from_bits(reader.u32()?);
    match number.is_finite() {
        true => Ok(number),
        false => Err(error!("it is damaged: a device said a number that is none")),
    }
}

fn read_vector(reader: &mut Reader) -> Result<Vec3, Error> {
    Ok(Vec3::new(read_f32(reader)?, read_f32(reader)?, read_f32(reader)?))
}

impl Event {
    pub fn write(&self, writer: &mut Writer) {
        writer.u8(self.device.0);
        writer.f64(self.age);
        match &self.what {
            What::Button { button, value, repeat } => {
                writer.u8(0);
                writer.u32(u32::from(*button));
                writer.u32(value.to_bits());
                writer.u8(u8::from(*repeat));
            }
            What::Axis { axis, value } => {
                writer.u8(1);
                writer.u8(*axis);
                vector(writer, *value);
            }
            What::Motion { axis, by } => {
                writer.u8(2);
                writer.u8(*axis);
                vector(writer, *by);
            }
            What::Label { button, text } => {
                writer.u8(3);
                writer.u32(u32::from(*button));
                writer.text(text);
            }
            What::Text(text) => {
                writer.u8(4);
                writer.text(text);
            }
            What::Compose { text, cursor } => {
                writer.u8(5);
                writer.text(text);
                writer.u8(u8::from(cursor.is_some()));
                let (first, last) = cursor.unwrap_or_default();
                writer.u32(first);
                writer.u32(last);
            }
            What::Touch { finger, phase, at, pressure } => {
                writer.u8(6);
                writer.u64(*finger);
                writer.u8(*phase as u8);
                vector(writer, *at);
                writer.u32(pressure.to_bits());
            }
            What::Connected { name, motors } => {
                writer.u8(7);
                writer.text(name);
                writer.u8(*motors);
            }
            What::Disconnected => writer.u8(8),
            What::Reset => writer.u8(9),
        }
    }

    pub fn read(reader: &mut Reader) -> Result<Event, Error> {
        let device = DeviceId(reader.u8()?);
        let age = reader.f64()?;
        let damaged = || error!("it is damaged: a device said something unknown");
        if device.0 as usize >= super::DEVICES || !age.is_finite() {
            return Err(damaged());
        }
        let button = |number: u32| u16::try_from(number).map_err(|_| damaged());
        let what = match reader.u8()? {
            0 => What::Button {
                button: button(reader.u32()?)?,
                value: read_f32(reader)?,
                repeat: reader.flag()?,
            },
            1 => What::Axis { axis: reader.u8()?, value: read_vector(reader)? },
            2 => What::Motion { axis: reader.u8()?, by: read_vector(reader)? },
            3 => What::Label { button: button(reader.u32()?)?, text: reader.text()?.to_string() },
            4 => What::Text(reader.text()?.to_string()),
            5 => {
                let text = reader.text()?.to_string();
                let there = reader.flag()?;
                let (first, last) = (reader.u32()?, reader.u32()?);
                let is_in = |at: u32| text.is_char_boundary(at as usize);
                if there && !(first <= last && is_in(first) && is_in(last)) {
                    return Err(damaged());
                }
                What::Compose { text, cursor: there.then_some((first, last)) }
            }
            6 => What::Touch {
                finger: reader.u64()?,
                phase: match reader.u8()? {
                    0 => Phase::Began,
                    1 => Phase::Moved,
                    2 => Phase::Ended,
                    3 => Phase::Cancelled,
                    _ => return Err(damaged()),
                },
                at: read_vector(reader)?,
                pressure: read_f32(reader)?,
            },
            7 => What::Connected { name: reader.text()?.to_string(), motors: reader.u8()? },
            8 => What::Disconnected,
            9 => What::Reset,
            _ => return Err(damaged()),
        };
        Ok(Event { device, age, what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_read_as_it_was_written() {
        let v = Vec3::new(1.0, -2.5, 0.0);
        let all = [
            What::Button { button: 300, value: 0.5, repeat: true },
            What::Axis { axis: 1, value: v },
            What::Motion { axis: 2, by: v },
            What::Label { button: 3, text: "Ö".into() },
            What::Text("ß".into()),
            What::Compose { text: "か".into(), cursor: Some((0, 3)) },
            What::Compose { text: String::new(), cursor: None },
            What::Touch { finger: 1 << 40, phase: Phase::Ended, at: v, pressure: 0.25 },
            What::Touch { finger: 2, phase: Phase::Cancelled, at: v, pressure: 0.25 },
            What::Connected { name: "Pad".into(), motors: 2 },
            What::Disconnected,
            What::Reset,
        ];
        for what in all {
            let event = Event { device: DeviceId(3), age: 0.004, what };
            let mut writer = Writer::default();
            event.write(&mut writer);
            let bytes = writer.finish();
            assert_eq!(Event::read(&mut Reader::new(&bytes)).unwrap(), event);
            for length in 0..bytes.len() {
                assert!(Event::read(&mut Reader::new(&bytes[..length])).is_err());
            }
        }
        let unknown = [0, 0, 0, 0, 0, 0, 0, 0, 0, 77];
        assert!(Event::read(&mut Reader::new(&unknown)).is_err());
    }
}
