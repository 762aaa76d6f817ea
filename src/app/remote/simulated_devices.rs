//! Simulated input from remote tools: events that devices report in the next frame. They pass
//! through the same queue as all input, so recordings contain them.

use super::message_table::{number, text};
use super::{IncomingCall, Refusal};
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_foundation::{Vec3, suggest};
use engine_input::button_names::{DeviceClass, InputName, hint, key_of_code};
use engine_input::{DeviceId, EventKind, InputEvent, KEYBOARD, MOUSE, PADS_MAX, TOUCH, pad};

/// Maximum number of simulated events that wait for a frame.
const EVENTS_MAX: usize = 1024;

/// Simulates an event of a device.
pub fn input(call: &mut IncomingCall) -> Result<Option<SjsonTree>, Refusal> {
    let (device, class) = device(text(call.fields, "device").unwrap_or_default())?;
    let kind = event_kind(class, call.fields)?;
    if call.state.events.len() >= EVENTS_MAX {
        return Err(Refusal::of(format!("{EVENTS_MAX} events wait for the next frame already")));
    }
    call.state.events.push(InputEvent { device, age: 0.0, kind });
    Ok(Some(json::object([])))
}

fn device(name: &str) -> Result<(DeviceId, DeviceClass), String> {
    let pads = (1..=PADS_MAX).map(|number| format!("pad{number}"));
    match name {
        "keyboard" => return Ok((KEYBOARD, DeviceClass::Keyboard)),
        "mouse" => return Ok((MOUSE, DeviceClass::Mouse)),
        "touch" => return Ok((TOUCH, DeviceClass::Touch)),
        _ => {}
    }
    if let Some(number) = pads.clone().position(|known| known == name)
        && let Some(device) = pad(number + 1)
    {
        return Ok((device, DeviceClass::Pad));
    }
    let fixed = ["keyboard", "mouse", "touch"].map(String::from);
    let names: Vec<String> = fixed.into_iter().chain(pads).collect();
    let hint = suggest::hint(name, names.iter().map(String::as_str));
    Err(format!("there is no device '{name}'{hint}"))
}

fn event_kind(class: DeviceClass, fields: &SjsonTree) -> Result<EventKind, String> {
    let unknown = |noun: &str, name: &str, all: &[InputName]| {
        format!("the {} has no {noun} '{name}'{}", class.name(), hint(name, all))
    };
    match (text(fields, "button"), text(fields, "axis"), text(fields, "text")) {
        (Some(name), None, None) => {
            let by_code = || key_of_code(name).filter(|_| class == DeviceClass::Keyboard);
            let button = class.button(name).or_else(by_code);
            let button = button.ok_or_else(|| unknown("button", name, class.buttons()))?;
            let value = number(fields, "value").unwrap_or(1.0) as f32;
            Ok(EventKind::Button { button: button as u16, value, repeat: false })
        }
        (None, Some(name), None) => {
            let axis = class.axis(name).ok_or_else(|| unknown("axis", name, class.axes()))? as u8;
            match (vector(fields, "to"), vector(fields, "by")) {
                (Some(value), None) => Ok(EventKind::Axis { axis, value }),
                (None, Some(by)) => Ok(EventKind::Motion { axis, by }),
                _ => Err("an axis needs either 'to' or 'by'".to_string()),
            }
        }
        (None, None, Some(typed)) if class == DeviceClass::Keyboard => {
            Ok(EventKind::Text(typed.to_string()))
        }
        (None, None, Some(_)) => Err("only the keyboard types text".to_string()),
        _ => Err("give one of 'button', 'axis' and 'text'".to_string()),
    }
}

fn vector(fields: &SjsonTree, name: &str) -> Option<Vec3> {
    let Some(SjsonTree::Array(items)) = fields.get(name) else { return None };
    let mut parts = [0.0f32; 3];
    for (part, item) in parts.iter_mut().zip(items) {
        if let SjsonTree::Number(number) = item {
            // A number outside the range of a float would become infinite.
            *part = number.clamp(-1e9, 1e9) as f32;
        }
    }
    Some(Vec3::from_array(parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(DeviceId, EventKind), String> {
        let fields = json::read(text).unwrap();
        let (device, class) = device(super::text(&fields, "device").unwrap_or_default())?;
        Ok((device, event_kind(class, &fields)?))
    }

    #[test]
    fn simulated_input_names_buttons_and_axes() {
        let space = DeviceClass::Keyboard.button("space").unwrap() as u16;
        let wanted = EventKind::Button { button: space, value: 1.0, repeat: false };
        let read_one = read("{\"device\": \"keyboard\", \"button\": \"space\"}");
        assert_eq!(read_one, Ok((KEYBOARD, wanted.clone())));
        let read_one = read("{\"device\": \"keyboard\", \"button\": \"Space\"}");
        assert_eq!(read_one, Ok((KEYBOARD, wanted)));
        let wanted = EventKind::Axis { axis: 0, value: Vec3::new(3.0, 4.0, 0.0) };
        let read_one = read("{\"device\": \"mouse\", \"axis\": \"cursor\", \"to\": [3, 4]}");
        assert_eq!(read_one, Ok((MOUSE, wanted)));
        let wanted = EventKind::Motion { axis: 2, by: Vec3::new(0.0, -1.0, 0.0) };
        let read_one = read("{\"device\": \"mouse\", \"axis\": \"wheel\", \"by\": [0, -1]}");
        assert_eq!(read_one, Ok((MOUSE, wanted)));
        assert_eq!(read("{\"device\": \"pad2\", \"button\": \"a\"}").unwrap().0, pad(2).unwrap());
        let text = read("{\"device\": \"keyboard\", \"text\": \"ö\"}").unwrap().1;
        assert_eq!(text, EventKind::Text("ö".to_string()));
    }

    #[test]
    fn unknown_names_are_reported_with_a_suggestion() {
        let check = |text: &str, wanted: &str| assert_eq!(read(text).unwrap_err(), wanted);
        check("{\"device\": \"mous\"}", "there is no device 'mous', did you mean 'mouse'?");
        check(
            "{\"device\": \"pad9\", \"button\": \"a\"}",
            "there is no device 'pad9', did you \
            mean 'pad1'?",
        );
        check(
            "{\"device\": \"keyboard\", \"button\": \"spase\"}",
            "the keyboard has no button 'spase', did you mean 'space'?",
        );
        check("{\"device\": \"mouse\", \"axis\": \"wheel\"}", "an axis needs either 'to' or 'by'");
        check("{\"device\": \"mouse\", \"text\": \"x\"}", "only the keyboard types text");
        check("{\"device\": \"mouse\"}", "give one of 'button', 'axis' and 'text'");
    }
}
