//! Where the frames are in a sheet's picture: read from a `.sheet`, which is an exporter's JSON
//! itself, or names it, or describes a grid; and cutting them out.

use super::compile::{self, Import};
use super::sheet::{Direction, FRAME_MILLISECONDS, FRAMES_MAX, Tag};
use crate::error;
use crate::foundation::Error;
use crate::foundation::sjson::{self, Document, Value};
use crate::foundation::suggest::hint;
use crate::resource::image::{Decoded, Image, Pixels, SIDE_MAX};
use crate::resource::kind::Compiling;

/// What a `.sheet` leads to.
pub enum Cut {
    /// A file of Aseprite's own.
    Aseprite(String),
    /// Rectangles of a picture.
    Picture { path: String, rectangles: Vec<Rectangle>, tags: Vec<Tag> },
}

/// A frame in its sheet's picture, in texels from the left top.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Rectangle {
    pub name: String,
    pub milliseconds: f64,
    pub x: u32,
    pub y: u32,
    /// As the frame is seen; where it is `turned`, the sheet has it by a quarter turn clockwise.
    pub width: u32,
    pub height: u32,
    pub turned: bool,
    /// Where it belongs in the frame as it was before empty borders were trimmed, and that size.
    pub left: u32,
    pub top: u32,
    pub full_width: u32,
    pub full_height: u32,
}

const KEYS: [&str; 8] =
    ["source", "image", "frame", "margin", "spacing", "duration", "tags", "frames"];

/// Reads a `.sheet`: what it leads to, and how its frames become textures.
pub fn read(compiling: &mut Compiling, document: &Document) -> Result<(Cut, Import), Error> {
    let mut import = Import::DEFAULT;
    let root = document.root();
    if root.get("frames").is_some() {
        let cut = exported(&compiling.path, document)?;
        return Ok((cut, import));
    }
    for entry in root.entries().into_iter().flatten() {
        let key = entry.key;
        if KEYS.contains(&key) {
            continue;
        }
        compile::set(&mut import, &entry).map_err(|words| {
            let words = match words.starts_with("unknown") {
                true => format!("unknown setting '{key}'{}", hint(key, KEYS)),
                false => words,
            };
            compiling.fault(entry.line(), &words)
        })?;
    }
    if let Some(source) = root.get("source") {
        let path = source.as_str().ok_or_else(|| {
            compiling.fault(source.line(), "'source' must be the path of a file, in quotes")
        })?;
        if path.ends_with(".aseprite") || path.ends_with(".ase") {
            return Ok((Cut::Aseprite(path.to_string()), import));
        }
        let path = path.to_string();
        let bytes = compiling.read(&path)?;
        let inner = sjson::parse_bytes(&bytes).map_err(|fault| Error::new(fault.in_file(&path)))?;
        return Ok((exported(&path, &inner)?, import));
    }
    if root.get("image").is_some() {
        return Ok((grid(compiling, root)?, import));
    }
    Err(error!(
        "{}: a sheet needs 'frames' (as TexturePacker and Aseprite export them), or 'source' (the \
         path of such a file), or 'image' and 'frame' (a grid)",
        compiling.path
    ))
}

/// Reads values with the words for what is missing or wrong.
struct Fields<'a> {
    path: &'a str,
    name: String,
}

impl Fields<'_> {
    fn fault(&self, value: Value, words: &str) -> Error {
        let Fields { path, name } = self;
        error!("{path}:{}: frame '{name}': {words}", value.line())
    }

    fn whole(&self, value: Value, key: &str) -> Result<u32, Error> {
        let found = value.get(key).and_then(Value::as_f64);
        let whole = found.filter(|n| n.fract() == 0.0 && (0.0..=f64::from(SIDE_MAX)).contains(n));
        whole.map(|number| number as u32).ok_or_else(|| {
            self.fault(value, &format!("'{key}' must be a whole number from 0 to {SIDE_MAX}"))
        })
    }
}

/// The JSON of TexturePacker or Aseprite.
fn exported(path: &str, document: &Document) -> Result<Cut, Error> {
    let root = document.root();
    let image = root.get("meta").and_then(|meta| meta.get("image")?.as_str());
    let image = image.ok_or_else(|| {
        error!("{path}: it does not say which picture the frames are of: 'image' in 'meta'")
    })?;
    let frames = root
        .get("frames")
        .ok_or_else(|| error!("{path}: it has no 'frames': export it as JSON (hash or array)"))?;
    let mut rectangles = Vec::new();
    if let Some(entries) = frames.entries() {
        for entry in entries.take(FRAMES_MAX + 1) {
            rectangles.push(rectangle(path, entry.key, entry.value)?);
        }
    } else if let Some(items) = frames.items() {
        for item in items.take(FRAMES_MAX + 1) {
            let name = item
                .get("filename")
                .and_then(Value::as_str)
                .ok_or_else(|| error!("{path}:{}: a frame has no 'filename'", item.line()))?;
            rectangles.push(rectangle(path, name, item)?);
        }
    } else {
        return Err(error!("{path}:{}: 'frames' must be an object or a list", frames.line()));
    }
    let tags = tags(path, root.get("meta").and_then(|meta| meta.get("frameTags")))?;
    Ok(Cut::Picture { path: beside(path, image), rectangles, tags })
}

/// A path that is told from where another file is.
fn beside(path: &str, image: &str) -> String {
    let image = image.replace('\\', "/");
    match path.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{image}"),
        None => image,
    }
}

/// A frame's name without the ending of the file that it was made of.
fn bare(name: &str) -> String {
    let (base, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let known = ["png", "jpg", "jpeg", "tga", "bmp", "webp", "gif", "psd", "aseprite", "ase"];
    let bare = if known.contains(&&ending.to_ascii_lowercase()[..]) { base } else { name };
    bare.replace('\\', "/")
}

fn rectangle(path: &str, name: &str, value: Value) -> Result<Rectangle, Error> {
    let fields = Fields { path, name: name.to_string() };
    let frame =
        value.get("frame").ok_or_else(|| fields.fault(value, "it has no 'frame': x, y, w, h"))?;
    let (x, y) = (fields.whole(frame, "x")?, fields.whole(frame, "y")?);
    let (width, height) = (fields.whole(frame, "w")?, fields.whole(frame, "h")?);
    let mut out = Rectangle {
        name: bare(name),
        milliseconds: FRAME_MILLISECONDS,
        x,
        y,
        width,
        height,
        turned: value.get("rotated").and_then(Value::as_bool).unwrap_or(false),
        left: 0,
        top: 0,
        full_width: width,
        full_height: height,
    };
    if let Some(duration) = value.get("duration") {
        out.milliseconds = duration
            .as_f64()
            .ok_or_else(|| fields.fault(duration, "'duration' must be milliseconds"))?;
    }
    if let (Some(place), Some(size)) = (value.get("spriteSourceSize"), value.get("sourceSize")) {
        (out.left, out.top) = (fields.whole(place, "x")?, fields.whole(place, "y")?);
        (out.full_width, out.full_height) = (fields.whole(size, "w")?, fields.whole(size, "h")?);
    }
    let fits = out.left + width <= out.full_width && out.top + height <= out.full_height;
    if !fits || out.full_width == 0 || out.full_height == 0 {
        let words = "'frame' does not fit into 'sourceSize' at 'spriteSourceSize'";
        return Err(fields.fault(value, words));
    }
    Ok(out)
}

/// The tags of a file, whose frames count from 0.
fn tags(path: &str, list: Option<Value>) -> Result<Vec<Tag>, Error> {
    let Some(list) = list else { return Ok(Vec::new()) };
    let must = || error!("{path}:{}: tags must be a list of {{ name, from, to }}", list.line());
    let mut out = Vec::new();
    for item in list.items().ok_or_else(must)? {
        let name = item.get("name").and_then(Value::as_str).ok_or_else(must)?.to_string();
        let number = |key| {
            let found = item.get(key).and_then(Value::as_f64);
            found.filter(|n| n.fract() == 0.0 && (0.0..1e6).contains(n)).map(|n| n as u32)
        };
        let (from, to) = (number("from").ok_or_else(must)?, number("to").ok_or_else(must)?);
        let word = item.get("direction").and_then(Value::as_str).unwrap_or("forward");
        let direction = Direction::parse(word).ok_or_else(|| {
            error!(
                "{path}:{}: tag '{name}': the direction must be \"forward\", \"reverse\", \
                 \"pingpong\" or \"pingpong_reverse\", got \"{word}\"",
                item.line()
            )
        })?;
        // Aseprite writes the count as text.
        let repeat = item.get("repeat").map_or(Some(0), |value| {
            let text = value.as_str().and_then(|text| text.parse().ok());
            text.or_else(|| number("repeat"))
        });
        let repeat = repeat.ok_or_else(|| {
            error!("{path}:{}: tag '{name}': 'repeat' must be a whole number", item.line())
        })?;
        out.push(Tag { name, from, to, direction, repeat });
    }
    Ok(out)
}

/// How long a grid's frames are shown: one number for all, or one for each. What is neither comes
/// back.
fn durations(root: Value) -> Result<Vec<f64>, Value> {
    let Some(value) = root.get("duration") else { return Ok(vec![FRAME_MILLISECONDS]) };
    let one = |value: Value| value.as_f64().filter(|n| (0.0..=1e6).contains(n));
    let all: Option<Vec<f64>> = match value.items() {
        Some(each) => each.map(one).collect(),
        None => one(value).map(|one| vec![one]),
    };
    all.filter(|all| !all.is_empty()).ok_or(value)
}

/// A grid of frames of one size, named by their numbers from 1.
fn grid(compiling: &mut Compiling, root: Value) -> Result<Cut, Error> {
    let path = compiling.path.clone();
    let wrong = |value: Value, words: &str| error!("{path}:{}: {words}", value.line());
    let image = root.get("image").expect("the caller looked");
    let name = image
        .as_str()
        .ok_or_else(|| wrong(image, "'image' must be a picture's path, in quotes"))?;
    let size = root.get("frame").and_then(|size| {
        let numbers: Option<Vec<f64>> = size.items()?.map(Value::as_f64).collect();
        let fits = |n: &f64| n.fract() == 0.0 && (1.0..=f64::from(SIDE_MAX)).contains(n);
        match numbers?[..] {
            [w, h] if fits(&w) && fits(&h) => Some((w as u32, h as u32)),
            _ => None,
        }
    });
    let (width, height) = size.ok_or_else(|| {
        wrong(image, "a grid needs the size of a frame in texels: frame = [width, height]")
    })?;
    let number = |key: &str, usual: f64, most: f64| {
        let Some(value) = root.get(key) else { return Ok(usual) };
        let found = value.as_f64().filter(|n| (0.0..=most).contains(n));
        found.ok_or_else(|| wrong(value, &format!("'{key}' must be a number from 0 to {most}")))
    };
    let most = f64::from(SIDE_MAX);
    let (margin, spacing) = (number("margin", 0.0, most)?, number("spacing", 0.0, most)?);
    let durations = durations(root).map_err(|value| {
        wrong(
            value,
            "'duration' must be milliseconds from 0 to 1000000, or a list with those of each frame",
        )
    })?;
    let bytes = compiling.read(name)?;
    let picture = compile::decode(name, &bytes)?;
    let Decoded::Image(picture) = picture else {
        return Err(error!("{name}: a sheet's picture must have 8 bits a part: save it as PNG"));
    };
    let (margin, spacing) = (margin as u32, spacing as u32);
    let starts = |side: u32, frame: u32| {
        (margin..).step_by((frame + spacing) as usize).take_while(move |at| at + frame <= side)
    };
    let mut rectangles = Vec::new();
    for y in starts(picture.height, height) {
        for x in starts(picture.width, width).take(FRAMES_MAX + 1 - rectangles.len()) {
            let name = (rectangles.len() + 1).to_string();
            let (full_width, full_height) = (width, height);
            let milliseconds = durations[rectangles.len().min(durations.len() - 1)];
            rectangles.push(Rectangle {
                name,
                milliseconds,
                x,
                y,
                width,
                height,
                full_width,
                full_height,
                ..Rectangle::default()
            });
        }
    }
    if let Some(value) = root.get("duration")
        && value.items().is_some()
        && durations.len() != rectangles.len()
    {
        let (given, there) = (durations.len(), rectangles.len());
        let words = format!("'duration' has {given} numbers, and the sheet {there} frames");
        return Err(wrong(value, &format!("{words}: give one for each, or one number for all")));
    }
    let tags = tags_from_one(&path, root.get("tags"))?;
    Ok(Cut::Picture { path: name.to_string(), rectangles, tags })
}

/// The tags of a grid, whose frames are named from 1, and so are they there.
fn tags_from_one(path: &str, value: Option<Value>) -> Result<Vec<Tag>, Error> {
    let mut tags = tags(path, value)?;
    for tag in &mut tags {
        let low = tag.from.min(tag.to);
        if low == 0 {
            return Err(error!("{path}: tag '{}': the frames of a grid count from 1", tag.name));
        }
        (tag.from, tag.to) = (tag.from - 1, tag.to - 1);
    }
    Ok(tags)
}

/// A frame, as it was before it was trimmed and turned.
pub fn frame(sheet: &Image, r: &Rectangle) -> Result<Image, String> {
    let (across, down) = if r.turned { (r.height, r.width) } else { (r.width, r.height) };
    if r.x + across > sheet.width || r.y + down > sheet.height {
        return Err(format!(
            "frame '{}' reaches beyond its picture, which is {} x {}: export both again",
            r.name, sheet.width, sheet.height
        ));
    }
    let Pixels::Bytes(texels) = &sheet.pixels else {
        return Err("a sheet's picture must have 8 bits a part".to_string());
    };
    let (full_width, full_height) = (r.full_width as usize, r.full_height as usize);
    let mut out = vec![0; full_width * full_height * 4];
    for y in 0..r.height {
        for x in 0..r.width {
            let (from_x, from_y) =
                if r.turned { (r.x + r.height - 1 - y, r.y + x) } else { (r.x + x, r.y + y) };
            let from = (from_y as usize * sheet.width as usize + from_x as usize) * 4;
            let to = ((r.top + y) as usize * full_width + (r.left + x) as usize) * 4;
            out[to..to + 4].copy_from_slice(&texels[from..from + 4]);
        }
    }
    Ok(Image { width: r.full_width, height: r.full_height, pixels: Pixels::Bytes(out) })
}
