//! `engine diff --serve`: draws the versions of units, levels and materials that the page of a
//! running game shows. The game is confined and starts no programs; this command is started by a
//! person, and draws as `engine diff --page` does.

use super::drawing;
use engine_app::difference::PictureDifference;
use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use engine_platform as platform;
use engine_remote::client::{ClientMessage, RemoteClient};
use engine_remote::endpoint_file::EndpointFile;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Time in which the game must take the offer.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Time between two looks for a signal.
const POLL: Duration = Duration::from_millis(200);
/// Maximum size of a picture in a message: the game takes messages of 1 MiB.
const PICTURE_BYTES_MAX: usize = 960 << 10;

/// Draws for the game that runs in a folder, until it ends.
///
/// # Errors
/// Returns a message if no game runs there, or if another command draws for it.
pub fn serve(folder: &Path) -> Result<(), String> {
    let session = EndpointFile::read(folder).map_err(|error| error.message)?;
    let mut client = RemoteClient::connect(&session).map_err(|error| error.message)?;
    let offered = client.request("draw_offer", Vec::new(), TIMEOUT, |_| ());
    offered.map_err(|answer| match answer.get("message") {
        Some(SjsonTree::String(message)) => message.clone(),
        _ => "the game refuses this".to_string(),
    })?;
    // From here on, a signal ends the drawing, which removes its copies.
    platform::install_signal_handlers();
    engine_foundation::print_line!(
        "engine: the page of the game in {} has pictures now, until this command ends (Ctrl+C)",
        folder.display()
    );
    while platform::end_requested().is_none() {
        match client.receive(POLL) {
            ClientMessage::Message(message) => {
                if message.get("type") == Some(&json::text("draw")) {
                    answer(&mut client, folder, &message)?;
                }
            }
            ClientMessage::Ended(_) => return Ok(()),
            ClientMessage::Bytes(_) | ClientMessage::Nothing => {}
        }
    }
    Ok(())
}

/// Draws the versions of a message, and sends the parts of the answer.
fn answer(client: &mut RemoteClient, game: &Path, message: &SjsonTree) -> Result<(), String> {
    let bytes = |name: &str| match message.get(name) {
        Some(SjsonTree::String(text)) => json::bytes_of_base64(text),
        _ => None,
    };
    let (old, new) = (bytes("old"), bytes("new"));
    let path = match message.get("path") {
        Some(SjsonTree::String(path)) => path.as_str(),
        _ => "",
    };
    let versions = [old.as_deref(), new.as_deref()];
    let drawn = drawing::draw(game, path, versions, &AtomicBool::new(false));
    let number = message.get("number").cloned().unwrap_or(SjsonTree::Null);
    for (part, fields) in parts(drawn) {
        let mut all = vec![("number", number.clone()), ("part", json::text(part))];
        all.extend(fields);
        client.send("drawn", all).map_err(|error| error.message)?;
    }
    Ok(())
}

/// Returns the parts of an answer: the pictures, and the notes about those that are missing.
fn parts(drawn: PictureDifference) -> Vec<(&'static str, Vec<(&'static str, SjsonTree)>)> {
    let number = |number: u64| SjsonTree::Number(number as f64);
    let mut parts = Vec::new();
    let mut notes = drawn.notes;
    let mut add = |part: &'static str, png: &[u8], fields: [(&'static str, SjsonTree); 2]| {
        let png = json::base64(png);
        if png.len() > PICTURE_BYTES_MAX {
            notes.push(format!("the picture '{part}' is too large to be sent"));
            return;
        }
        parts.push((part, fields.into_iter().chain([("png", json::text(png))]).collect()));
    };
    for (part, version) in ["old", "new"].into_iter().zip(&drawn.versions) {
        if let Some(it) = version {
            let size = [("width", u64::from(it.width)), ("height", u64::from(it.height))];
            add(part, &it.png, size.map(|(name, value)| (name, number(value))));
        }
    }
    if let Some(it) = &drawn.texels {
        let values = [("count", it.count), ("largest", u64::from(it.largest))];
        add("texels", &it.png, values.map(|(name, value)| (name, number(value))));
    }
    if parts.is_empty() && notes.is_empty() {
        notes.push("only units, levels and materials of a game are drawn".to_string());
    }
    // A note of several lines would count as several.
    let notes: Vec<String> = notes.iter().map(|note| note.replace(['\n', '\r'], " ")).collect();
    parts.push(("end", vec![("notes", json::text(notes.join("\n")))]));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_app::difference::ShownPicture;

    #[test]
    fn an_answer_has_a_part_for_each_picture_and_an_end() {
        let (width, height) = (4, 3);
        let picture = |bytes: usize| Some(ShownPicture { width, height, png: vec![7; bytes] });
        let versions = [picture(10), picture(PICTURE_BYTES_MAX)];
        let notes = vec!["a\nb".to_string()];
        let found = parts(PictureDifference { versions, texels: None, notes });
        let names: Vec<&str> = found.iter().map(|(part, _)| *part).collect();
        assert_eq!(names, ["old", "end"]);
        assert_eq!(found[0].1[0], ("width", SjsonTree::Number(4.0)));
        let notes = json::text("a b\nthe picture 'new' is too large to be sent");
        assert_eq!(found[1].1, [("notes", notes)]);
        let none = parts(PictureDifference::default());
        assert_eq!(none.len(), 1);
    }
}
