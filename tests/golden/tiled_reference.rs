//! References of Tiled's maps, drawn by its program `tmxrasterizer`. The maps are changed for it:
//! shapes are left out, and objects of templates and parts of images are written in the form that
//! version 1.8 knows.

use super::tilemap_corpus::Picture;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Draws a map of a folder with these files.
pub fn draw(files: &[(String, Vec<u8>)], map: &str) -> Picture {
    let folder = std::env::temp_dir().join(format!("engine-tiled-{}", std::process::id()));
    if !folder.exists() {
        write_files(files, &folder);
    }
    let picture = folder.join("exported.png");
    let mut command = Command::new("tmxrasterizer");
    command.arg("--no-smoothing").arg(folder.join(format!("{map}.tmx"))).arg(&picture);
    let output = command.env("QT_QPA_PLATFORM", "offscreen").output();
    let output = output.expect("tmxrasterizer is installed: apt install tiled");
    assert!(output.status.success(), "{map}: {output:?}");
    Picture::read(&picture)
}

/// Removes the folder of the changed maps.
pub fn finish() {
    let _ = fs::remove_dir_all(
        std::env::temp_dir().join(format!("engine-tiled-{}", std::process::id())),
    );
}

fn write_files(files: &[(String, Vec<u8>)], folder: &Path) {
    for (path, bytes) in files {
        let to = folder.join(path);
        fs::create_dir_all(to.parent().expect("a folder")).expect("it can be made");
        fs::write(&to, bytes).expect("it can be written");
    }
    for (path, bytes) in files {
        let (to, text) = (folder.join(path), String::from_utf8_lossy(bytes));
        let changed = match path.rsplit_once('.').expect("an ending").1 {
            "tmx" => with_plain_objects(&text, &to),
            "tsx" => with_whole_images(&text, &to),
            _ => continue,
        };
        fs::write(&to, changed).expect("it can be written");
    }
}

fn attributes(tag: &str) -> Vec<(&str, &str)> {
    let (mut all, mut rest) = (Vec::new(), tag);
    while let Some((before, after)) = rest.split_once("=\"") {
        let (value, next) = after.split_once('"').expect("a value ends");
        all.push((before.rsplit(char::is_whitespace).next().expect("a name"), value));
        rest = next;
    }
    all
}

fn value<'a>(attributes: &[(&'a str, &'a str)], name: &str) -> Option<&'a str> {
    attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// Replaces each element with a tag by what `of` returns for its start tag and content.
fn replaced(text: &str, tag: &str, of: impl Fn(&str, &str) -> String) -> String {
    let (open, close) = (format!("<{tag} "), format!("</{tag}>"));
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(&open) {
        out += &rest[..at];
        let end = at + rest[at..].find('>').expect("a tag ends") + 1;
        let start = &rest[at..end];
        let (content, after) = match start.ends_with("/>") {
            true => ("", end),
            false => {
                let length = rest[end..].find(&close).expect("an element ends");
                (&rest[end..end + length], end + length + close.len())
            }
        };
        out += &of(start, content);
        rest = &rest[after..];
    }
    out + rest
}

/// Returns a map without shapes, and with the values of templates in its objects.
fn with_plain_objects(text: &str, path: &Path) -> String {
    replaced(text, "object", |start, _| {
        let own = attributes(start);
        let template = value(&own, "template").map(|name| {
            fs::read_to_string(path.parent().expect("a folder").join(name)).expect("a template")
        });
        let template = template.unwrap_or_default();
        let defaults = template.find("<object ").map_or(Vec::new(), |at| {
            let end = template[at..].find('>').expect("a tag ends");
            attributes(&template[at..at + end])
        });
        let others = defaults.into_iter().filter(|(name, _)| value(&own, name).is_none());
        let all: Vec<_> = own.iter().copied().chain(others).collect();
        if value(&all, "gid").is_none() {
            return String::new();
        }
        let written = all.iter().filter(|(name, _)| *name != "template");
        let written: Vec<_> = written.map(|(name, value)| format!("{name}=\"{value}\"")).collect();
        format!("<object {}/>", written.join(" "))
    })
}

/// Returns a tile set whose parts of images are images of their own, which it writes.
fn with_whole_images(text: &str, path: &Path) -> String {
    replaced(text, "tile", |start, content| {
        let own = attributes(start);
        let Some(image_at) = content.find("<image ").filter(|_| value(&own, "x").is_some()) else {
            let close = if start.ends_with("/>") { "" } else { "</tile>" };
            return format!("{start}{content}{close}");
        };
        let image = attributes(&content[image_at..]);
        let folder = PathBuf::from(path.parent().expect("a folder"));
        let source = Picture::read(&folder.join(value(&image, "source").expect("a source")));
        let [x, y, width, height] = ["x", "y", "width", "height"]
            .map(|name| value(&own, name).and_then(|value| value.parse().ok()).expect("a number"));
        let name = format!("part{}.png", value(&own, "id").expect("an id"));
        source.part([x, y, width, height]).write(&folder.join(&name));
        format!(
            "<tile id=\"{}\"><image source=\"{name}\" width=\"{width}\" \
             height=\"{height}\"/></tile>",
            value(&own, "id").expect("an id")
        )
    })
}
