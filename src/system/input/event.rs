//! Input events as plain data, and their form in recordings. Independent of the source of the
//! events.

use engine_foundation::blob::{BlobReader, BlobWriter};
use engine_foundation::error;
use engine_foundation::{Error, Vec3};

/// Index of a device among all devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub struct DeviceId(pub u8);

/// Phase of a touch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TouchPhase {
    Began,
    Moved,
    Ended,
    /// The system canceled the touch, without an action of the player.
    Cancelled,
}

/// One event of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct InputEvent {
    pub device: DeviceId,
    /// Age of the event at the start of the frame, in seconds.
    pub age: f64,
    pub kind: EventKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// The value of a button: 0 is up, 1 fully down. `repeat` marks an automatic repeat of a held
    /// button.
    Button { button: u16, value: f32, repeat: bool },
    /// The absolute value of an axis.
    Axis { axis: u8, value: Vec3 },
    /// A relative motion of an axis.
    Motion { axis: u8, by: Vec3 },
    /// The label of a key on this specific keyboard.
    Label { button: u16, text: String },
    /// Text was typed.
    Text(String),
    /// A text is being composed and not typed yet, with the cursor's range in bytes. An empty text
    /// ends the composition.
    Compose { text: String, cursor: Option<(u32, u32)> },
    /// A finger touched, moved or left the panel.
    Touch { finger: u64, phase: TouchPhase, at: Vec3, pressure: f32 },
    /// The device was connected under this name.
    Connected { name: String, motors: u8 },
    /// The device was disconnected.
    Disconnected,
    /// All buttons count as released, because their releases will not be reported.
    Reset,
}

fn vector(writer: &mut BlobWriter, v: Vec3) {
    for number in v.to_array() {
        writer.u32(number.to_bits());
    }
}

fn read_f32(reader: &mut BlobReader) -> Result<f32, Error> {
    let number = f32::from_bits(reader.u32()?);
    match number.is_finite() {
        true => Ok(number),
        false => Err(error!("it is damaged: a device reported an invalid number")),
    }
}

fn read_vector(reader: &mut BlobReader) -> Result<Vec3, Error> {
    Ok(Vec3::new(read_f32(reader)?, read_f32(reader)?, read_f32(reader)?))
}

impl InputEvent {
    pub fn write(&self, writer: &mut BlobWriter) {
        writer.u8(self.device.0);
        writer.f64(self.age);
        match &self.kind {
            EventKind::Button { button, value, repeat } => {
                writer.u8(0);
                writer.u32(u32::from(*button));
                writer.u32(value.to_bits());
                writer.u8(u8::from(*repeat));
            }
            EventKind::Axis { axis, value } => {
                writer.u8(1);
                writer.u8(*axis);
                vector(writer, *value);
            }
            EventKind::Motion { axis, by } => {
                writer.u8(2);
                writer.u8(*axis);
                vector(writer, *by);
            }
            EventKind::Label { button, text } => {
                writer.u8(3);
                writer.u32(u32::from(*button));
                writer.text(text);
            }
            EventKind::Text(text) => {
                writer.u8(4);
                writer.text(text);
            }
            EventKind::Compose { text, cursor } => {
                writer.u8(5);
                writer.text(text);
                writer.u8(u8::from(cursor.is_some()));
                let (first, last) = cursor.unwrap_or_default();
                writer.u32(first);
                writer.u32(last);
            }
            EventKind::Touch { finger, phase, at, pressure } => {
                writer.u8(6);
                writer.u64(*finger);
                writer.u8(*phase as u8);
                vector(writer, *at);
                writer.u32(pressure.to_bits());
            }
            EventKind::Connected { name, motors } => {
                writer.u8(7);
                writer.text(name);
                writer.u8(*motors);
            }
            EventKind::Disconnected => writer.u8(8),
            EventKind::Reset => writer.u8(9),
        }
    }

    pub fn read(reader: &mut BlobReader) -> Result<InputEvent, Error> {
        let device = DeviceId(reader.u8()?);
        let age = reader.f64()?;
        let damaged = || error!("it is damaged: a device reported something unknown");
        if device.0 as usize >= super::DEVICES || !age.is_finite() {
            return Err(damaged());
        }
        let button = |number: u32| u16::try_from(number).map_err(|_| damaged());
        let kind = match reader.u8()? {
            0 => EventKind::Button {
                button: button(reader.u32()?)?,
                value: read_f32(reader)?,
                repeat: reader.flag()?,
            },
            1 => EventKind::Axis { axis: reader.u8()?, value: read_vector(reader)? },
            2 => EventKind::Motion { axis: reader.u8()?, by: read_vector(reader)? },
            3 => EventKind::Label {
                button: button(reader.u32()?)?,
                text: reader.text()?.to_string(),
            },
            4 => EventKind::Text(reader.text()?.to_string()),
            5 => {
                let text = reader.text()?.to_string();
                let there = reader.flag()?;
                let (first, last) = (reader.u32()?, reader.u32()?);
                let is_in = |at: u32| text.is_char_boundary(at as usize);
                if there && !(first <= last && is_in(first) && is_in(last)) {
                    return Err(damaged());
                }
                EventKind::Compose { text, cursor: there.then_some((first, last)) }
            }
            6 => EventKind::Touch {
                finger: reader.u64()?,
                phase: match reader.u8()? {
                    0 => TouchPhase::Began,
                    1 => TouchPhase::Moved,
                    2 => TouchPhase::Ended,
                    3 => TouchPhase::Cancelled,
                    _ => return Err(damaged()),
                },
                at: read_vector(reader)?,
                pressure: read_f32(reader)?,
            },
            7 => EventKind::Connected { name: reader.text()?.to_string(), motors: reader.u8()? },
            8 => EventKind::Disconnected,
            9 => EventKind::Reset,
            _ => return Err(damaged()),
        };
        Ok(InputEvent { device, age, kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_survives_a_round_trip() {
        let v = Vec3::new(1.0, -2.5, 0.0);
        let all = [
            EventKind::Button { button: 300, value: 0.5, repeat: true },
            EventKind::Axis { axis: 1, value: v },
            EventKind::Motion { axis: 2, by: v },
            EventKind::Label { button: 3, text: "Ö".into() },
            EventKind::Text("ß".into()),
            EventKind::Compose { text: "か".into(), cursor: Some((0, 3)) },
            EventKind::Compose { text: String::new(), cursor: None },
            EventKind::Touch { finger: 1 << 40, phase: TouchPhase::Ended, at: v, pressure: 0.25 },
            EventKind::Touch { finger: 2, phase: TouchPhase::Cancelled, at: v, pressure: 0.25 },
            EventKind::Connected { name: "Pad".into(), motors: 2 },
            EventKind::Disconnected,
            EventKind::Reset,
        ];
        for kind in all {
            let event = InputEvent { device: DeviceId(3), age: 0.004, kind };
            let mut writer = BlobWriter::default();
            event.write(&mut writer);
            let bytes = writer.finish();
            assert_eq!(InputEvent::read(&mut BlobReader::new(&bytes)).unwrap(), event);
            for length in 0..bytes.len() {
                assert!(InputEvent::read(&mut BlobReader::new(&bytes[..length])).is_err());
            }
        }
        let unknown = [0, 0, 0, 0, 0, 0, 0, 0, 0, 77];
        assert!(InputEvent::read(&mut BlobReader::new(&unknown)).is_err());
    }
}
