//! Recording of the newest frame for tests: as text, from the copy that Guis keep on request, and
//! as packets that can be drawn later. Games with a window do not use it. The output of worlds is
//! in recorded_world_draws.rs.

use super::{Assets, Devices, Drawing, Engine, Frame};
use engine_foundation::Handle;
use engine_frame_packet::{FramePacket, View, ViewTarget};
use engine_gui::{DrawnObject, GuiId};
use std::fmt::Write;

/// Retention of frames that no renderer takes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum FrameRetention {
    #[default]
    Nothing,
    /// Keeps views and the content of Guis.
    Text,
    /// Keeps the packets as well, until they are taken.
    Packets,
}

impl Drawing {
    /// Sets the minimum retention of all frames from now on. A higher retention stays.
    pub fn keep_frames(&mut self, kept: FrameRetention) {
        if kept > self.builder.kept {
            self.builder.kept = kept;
            self.builder.first_kept = 0;
        }
        if kept >= FrameRetention::Text {
            self.guis.enable_recording();
        }
    }

    /// Returns the retention, and the first frame that it applies to; 0 if no frame was played
    /// since then.
    pub fn retained_frames(&self) -> (FrameRetention, u64) {
        (self.builder.kept, self.builder.first_kept)
    }

    /// Retains a frame without a renderer, according to the settings. A retained packet is moved
    /// out.
    pub(super) fn retain_frame(&mut self, frame: &Frame, packet: &mut FramePacket) {
        if self.builder.kept == FrameRetention::Nothing {
            return;
        }
        if self.builder.first_kept == 0 {
            self.builder.first_kept = frame.index;
        }
        self.builder.last_views.clone_from(&packet.views);
        if self.builder.kept == FrameRetention::Packets {
            self.builder.packets.push(std::mem::take(packet));
        }
    }

    /// Returns the packets retained since the last call.
    pub fn take_packets(&mut self) -> Vec<FramePacket> {
        std::mem::take(&mut self.builder.packets)
    }
}

impl Engine {
    /// Returns a text description of the newest frame, with a line for each view, for the objects
    /// of its world, and for each object of a Gui in drawing order.
    pub fn draw_list_text(&mut self) -> String {
        let (width, height) = self.devices.window.pixels;
        let mut text = format!("screen {width} x {height}\n");
        for (at, view) in self.drawing.builder.last_views.clone().into_iter().enumerate() {
            text += &self.devices.describe_view(&self.assets, &view);
            text += &self.describe_world_draws(at);
            for gui in &view.guis {
                let Some(handle) = Handle::from_number(*gui as f64) else { continue };
                if self.drawing.guis.slots().get(handle).is_none() {
                    continue;
                }
                for object in self.drawing.guis.inspect(GuiId(handle)) {
                    write_drawn_object(&mut text, &object);
                }
            }
        }
        text
    }
}

impl Devices {
    fn describe_view(&self, assets: &Assets, view: &View) -> String {
        let mut text = match view.target {
            ViewTarget::Screen => "view".to_string(),
            ViewTarget::Window(number) => {
                let handle = Handle::from_number(number as f64);
                let window = handle.and_then(|handle| self.windows.slots().get(handle));
                let title = window.map_or("", |window| &window.title);
                format!("view in the window \"{title}\"")
            }
            ViewTarget::Texture(slot) => {
                let name = assets.target_name(slot);
                format!("into the texture \"{}\"", name.unwrap_or_default())
            }
        };
        if view.rectangle != [0.0, 0.0, 1.0, 1.0] {
            let [left, bottom, width, height] = view.rectangle.map(short);
            text += &format!(", part {left} {bottom} {width} {height}");
        }
        if let Some(clear) = view.clear {
            text += &format!(", ground {}", color(clear.map(|part| (part * 255.0).round() as u8)));
        }
        if view.scene.is_some() {
            let [x, y, z] = view.camera.position.to_array().map(short);
            // The third row of the view matrix is the camera's backward direction.
            let back = view.camera.view.row(2);
            let [to_x, to_y, to_z] = [-back.x, -back.y, -back.z].map(short);
            text += &format!(", camera at {x} {y} {z} looking {to_x} {to_y} {to_z}");
        }
        text + "\n"
    }
}

fn write_drawn_object(output: &mut String, object: &DrawnObject) {
    let [left, bottom, right, top] = object.bounds.map(short);
    let name = if object.name.is_empty() { String::new() } else { format!(" {:?}", object.name) };
    let text = object.text.as_ref().map_or(String::new(), |text| format!(" {text:?}"));
    let (primitive, layer, color) = (object.primitive, object.layer, color(object.color));
    writeln!(
        output,
        "  {primitive}{name}{text}, layer {layer}, from {left} {bottom} to {right} {top}, {color}"
    )
    .expect("a text can be written to");
}

/// Formats a number with two decimals at most.
pub(super) fn short(value: f32) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_string() } else { text.to_string() }
}

/// Formats a color as `#rrggbbaa`.
pub(super) fn color([red, green, blue, alpha]: [u8; 4]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}{alpha:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_is_one_line_with_rounded_numbers() {
        let object = DrawnObject {
            primitive: "bitmap",
            object: 0,
            layer: -2,
            name: "ship".to_string(),
            text: None,
            bounds: [-0.001, 2.5, 10.0, 1.0 / 3.0],
            color: [255, 0, 16, 128],
        };
        let mut output = String::new();
        write_drawn_object(&mut output, &object);
        let text = Some("a \"b\"".to_string());
        let object = DrawnObject { primitive: "text", name: String::new(), text, ..object };
        write_drawn_object(&mut output, &object);
        let rest = "layer -2, from 0 2.5 to 10 0.33, #ff001080\n";
        assert_eq!(output, format!("  bitmap \"ship\", {rest}  text \"a \\\"b\\\"\", {rest}"));
    }
}
