//! What the newest frame showed, for tests: in words, from the copy that Guis keep where somebody
//! asked for it; and as packets, for whoever draws them. Games with a window need none of it. What
//! worlds show is in seen_world.rs.

use super::Engine;
use crate::foundation::Handle;
use crate::packet::{Packet, Target, View};
use crate::system::gui::{GuiId, Seen};
use std::fmt::Write;

/// How much is kept of frames that nobody shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Kept {
    #[default]
    Nothing,
    /// Views, and what Guis show.
    Words,
    /// The packets, too, until somebody takes them.
    Packets,
}

impl Engine {
    /// Keeps this much of every frame from now on, or more where more is kept already.
    pub fn keep_frames(&mut self, kept: Kept) {
        if kept > self.picture.kept {
            self.picture.kept = kept;
            self.picture.first_kept = 0;
        }
        if kept >= Kept::Words {
            self.guis.keep_shadow();
        }
    }

    /// How much is kept, and since which frame; 0: none was played since it was asked for.
    pub fn kept_frames(&self) -> (Kept, u64) {
        (self.picture.kept, self.picture.first_kept)
    }

    /// Keeps what is wanted of a frame that nobody shows; a packet that is kept is gone.
    pub(super) fn keep_frame(&mut self, packet: &mut Packet) {
        if self.picture.kept == Kept::Nothing {
            return;
        }
        if self.picture.first_kept == 0 {
            self.picture.first_kept = self.frame.index;
        }
        self.picture.last_views.clone_from(&packet.views);
        if self.picture.kept == Kept::Packets {
            self.picture.packets.push(std::mem::take(packet));
        }
    }

    /// The packets that were kept since the last time.
    pub fn take_packets(&mut self) -> Vec<Packet> {
        std::mem::take(&mut self.picture.packets)
    }

    /// What the newest frame showed, a line for each view, for the things of its world, and for
    /// each object of a Gui in the order of drawing.
    pub fn seen_words(&mut self) -> String {
        let (width, height) = self.window.pixels;
        let mut words = format!("screen {width} x {height}\n");
        for (at, view) in self.picture.last_views.clone().into_iter().enumerate() {
            words += &self.view_words(&view);
            words += &self.world_words(at);
            for gui in &view.guis {
                let Some(handle) = Handle::from_number(*gui as f64) else { continue };
                if self.guis.slots().get(handle).is_none() {
                    continue;
                }
                for seen in self.guis.inspect(GuiId(handle)) {
                    write_seen(&mut words, &seen);
                }
            }
        }
        words
    }

    fn view_words(&self, view: &View) -> String {
        let mut words = match view.target {
            Target::Screen => "view".to_string(),
            Target::Window(number) => {
                let handle = Handle::from_number(number as f64);
                let window = handle.and_then(|handle| self.windows.slots().get(handle));
                let title = window.map_or("", |window| &window.title);
                format!("view in the window \"{title}\"")
            }
            Target::Texture(slot) => {
                let name = self.target_name(slot);
                format!("into the texture \"{}\"", name.unwrap_or_default())
            }
        };
        if view.rectangle != [0.0, 0.0, 1.0, 1.0] {
            let [left, bottom, width, height] = view.rectangle.map(short);
            words += &format!(", part {left} {bottom} {width} {height}");
        }
        if let Some(clear) = view.clear {
            words += &format!(", ground {}", color(clear.map(|part| (part * 255.0).round() as u8)));
        }
        if view.scene.is_some() {
            let [x, y, z] = view.camera.position.to_array().map(short);
            // The third row of the view is where the camera's back is.
            let back = view.camera.view.row(2);
            let [to_x, to_y, to_z] = [-back.x, -back.y, -back.z].map(short);
            words += &format!(", camera at {x} {y} {z} looking {to_x} {to_y} {to_z}");
        }
        words + "\n"
    }
}

fn write_seen(words: &mut String, seen: &Seen) {
    let [left, bottom, right, top] = seen.bounds.map(short);
    let name = if seen.name.is_empty() { String::new() } else { format!(" {:?}", seen.name) };
    let text = seen.text.as_ref().map_or(String::new(), |text| format!(" {text:?}"));
    let (what, layer, color) = (seen.what, seen.layer, color(seen.color));
    writeln!(
        words,
        "  {what}{name}{text}, layer {layer}, from {left} {bottom} to {right} {top}, {color}"
    )
    .expect("a text can be written to");
}

/// A number with two decimals at most.
pub(super) fn short(value: f32) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_string() } else { text.to_string() }
}

/// A colour as `#rrggbbaa`.
pub(super) fn color([red, green, blue, alpha]: [u8; 4]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}{alpha:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_told_in_a_line_with_short_numbers() {
        let seen = Seen {
            what: "bitmap",
            object: 0,
            layer: -2,
            name: "ship".to_string(),
            text: None,
            bounds: [-0.001, 2.5, 10.0, 1.0 / 3.0],
            color: [255, 0, 16, 128],
        };
        let mut words = String::new();
        write_seen(&mut words, &seen);
        let text = Some("a \"b\"".to_string());
        let seen = Seen { what: "text", name: String::new(), text, ..seen };
        write_seen(&mut words, &seen);
        let rest = "layer -2, from 0 2.5 to 10 0.33, #ff001080\n";
        assert_eq!(words, format!("  bitmap \"ship\", {rest}  text \"a \\\"b\\\"\", {rest}"));
    }
}
