//! Sheet slicing: reads the frame rectangles of a `.sheet` file, which is an exporter's JSON,
//! refers to one, or describes a grid; and extracts the frames from the picture.

use super::resource::{self, ImportSettings};
use super::sheet_resource::{FRAME_MILLISECONDS, FRAMES_MAX, PlayDirection, SheetTag};
use engine_foundation::Error;
use engine_foundation::error;
use engine_foundation::sjson::{self, Document, SjsonValue};
use engine_foundation::suggest::hint;
use engine_resource::image::{DecodedImage, Image, PixelFormat, SIDE_MAX};
use engine_resource::resource_kind::CompileContext;

/// Source that a `.sheet` file refers to.
pub enum SheetSlices {
    /// Path of an Aseprite file.
    Aseprite(String),
    /// Rectangles of a picture.
    Picture { path: String, rectangles: Vec<FrameRectangle>, tags: Vec<SheetTag> },
}

/// A frame in its sheet's picture, in texels from the top left.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FrameRectangle {
    pub name: String,
    pub milliseconds: f64,
    pub x: u32,
    pub y: u32,
    /// Width of the displayed frame. If `turned` is true, the sheet contains the frame rotated
    /// clockwise by a quarter turn.
    pub width: u32,
    pub height: u32,
    pub turned: bool,
    /// Position in the frame before empty borders were trimmed. `full_width` and `full_height` are
    /// the size of that frame.
    pub left: u32,
    pub top: u32,
    pub full_width: u32,
    pub full_height: u32,
}

const KEYS: [&str; 8] =
    ["source", "image", "frame", "margin", "spacing", "duration", "tags", "frames"];

/// Reads a `.sheet` file. Returns its source and the import settings of its frames.
pub fn read(
    compiling: &mut CompileContext,
    document: &Document,
) -> Result<(SheetSlices, ImportSettings), Error> {
    let mut import = ImportSettings::DEFAULT;
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
        resource::set(&mut import, &entry).map_err(|message| {
            let message = match message.starts_with("unknown") {
                true => format!("unknown setting '{key}'{}", hint(key, KEYS)),
                false => message,
            };
            compiling.error_at(entry.line(), &message)
        })?;
    }
    if let Some(source) = root.get("source") {
        let path = source.as_str().ok_or_else(|| {
            compiling.error_at(source.line(), "'source' must be the path of a file, in quotes")
        })?;
        if path.ends_with(".aseprite") || path.ends_with(".ase") {
            return Ok((SheetSlices::Aseprite(path.to_string()), import));
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

/// Reader of a frame's values, with error messages for missing and wrong ones.
struct SliceFields<'a> {
    path: &'a str,
    name: String,
}

impl SliceFields<'_> {
    fn fault(&self, value: SjsonValue, message: &str) -> Error {
        let SliceFields { path, name } = self;
        error!("{path}:{}: frame '{name}': {message}", value.line())
    }

    fn integer(&self, value: SjsonValue, key: &str) -> Result<u32, Error> {
        let found = value.get(key).and_then(SjsonValue::as_f64);
        let whole = found.filter(|n| n.fract() == 0.0 && (0.0..=f64::from(SIDE_MAX)).contains(n));
        whole.map(|number| number as u32).ok_or_else(|| {
            self.fault(value, &format!("'{key}' must be a whole number from 0 to {SIDE_MAX}"))
        })
    }
}

/// Reads the JSON of TexturePacker or Aseprite.
fn exported(path: &str, document: &Document) -> Result<SheetSlices, Error> {
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
                .and_then(SjsonValue::as_str)
                .ok_or_else(|| error!("{path}:{}: a frame has no 'filename'", item.line()))?;
            rectangles.push(rectangle(path, name, item)?);
        }
    } else {
        return Err(error!("{path}:{}: 'frames' must be an object or a list", frames.line()));
    }
    let tags = tags(path, root.get("meta").and_then(|meta| meta.get("frameTags")))?;
    Ok(SheetSlices::Picture { path: sibling_path(path, image), rectangles, tags })
}

/// Resolves a path relative to the folder of another file.
fn sibling_path(path: &str, image: &str) -> String {
    let image = image.replace('\\', "/");
    match path.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{image}"),
        None => image,
    }
}

/// Returns a frame's name without the extension of its source file.
fn bare(name: &str) -> String {
    let (base, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let known = ["png", "jpg", "jpeg", "tga", "bmp", "webp", "gif", "psd", "aseprite", "ase"];
    let bare = if known.contains(&&ending.to_ascii_lowercase()[..]) { base } else { name };
    bare.replace('\\', "/")
}

fn rectangle(path: &str, name: &str, value: SjsonValue) -> Result<FrameRectangle, Error> {
    let fields = SliceFields { path, name: name.to_string() };
    let frame =
        value.get("frame").ok_or_else(|| fields.fault(value, "it has no 'frame': x, y, w, h"))?;
    let (x, y) = (fields.integer(frame, "x")?, fields.integer(frame, "y")?);
    let (width, height) = (fields.integer(frame, "w")?, fields.integer(frame, "h")?);
    let mut out = FrameRectangle {
        name: bare(name),
        milliseconds: FRAME_MILLISECONDS,
        x,
        y,
        width,
        height,
        turned: value.get("rotated").and_then(SjsonValue::as_bool).unwrap_or(false),
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
    if let (Some(offset), Some(size)) = (value.get("spriteSourceSize"), value.get("sourceSize")) {
        (out.left, out.top) = (fields.integer(offset, "x")?, fields.integer(offset, "y")?);
        (out.full_width, out.full_height) =
            (fields.integer(size, "w")?, fields.integer(size, "h")?);
    }
    let fits = out.left + width <= out.full_width && out.top + height <= out.full_height;
    if !fits || out.full_width == 0 || out.full_height == 0 {
        let message = "'frame' does not fit into 'sourceSize' at 'spriteSourceSize'";
        return Err(fields.fault(value, message));
    }
    Ok(out)
}

/// Reads the tags of a file, whose frames are counted from 0.
fn tags(path: &str, list: Option<SjsonValue>) -> Result<Vec<SheetTag>, Error> {
    let Some(list) = list else { return Ok(Vec::new()) };
    let must = || error!("{path}:{}: tags must be a list of {{ name, from, to }}", list.line());
    let mut out = Vec::new();
    for item in list.items().ok_or_else(must)? {
        let name = item.get("name").and_then(SjsonValue::as_str).ok_or_else(must)?.to_string();
        let number = |key| {
            let found = item.get(key).and_then(SjsonValue::as_f64);
            found.filter(|n| n.fract() == 0.0 && (0.0..1e6).contains(n)).map(|n| n as u32)
        };
        let (from, to) = (number("from").ok_or_else(must)?, number("to").ok_or_else(must)?);
        let word = item.get("direction").and_then(SjsonValue::as_str).unwrap_or("forward");
        let direction = PlayDirection::parse(word).ok_or_else(|| {
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
        out.push(SheetTag { name, from, to, direction, repeat });
    }
    Ok(out)
}

/// Returns the frame durations of a grid: one number for all frames, or one for each. Returns the
/// value as the error if it is neither.
fn durations(root: SjsonValue) -> Result<Vec<f64>, SjsonValue> {
    let Some(value) = root.get("duration") else { return Ok(vec![FRAME_MILLISECONDS]) };
    let one = |value: SjsonValue| value.as_f64().filter(|n| (0.0..=1e6).contains(n));
    let all: Option<Vec<f64>> = match value.items() {
        Some(each) => each.map(one).collect(),
        None => one(value).map(|one| vec![one]),
    };
    all.filter(|all| !all.is_empty()).ok_or(value)
}

/// Reads a grid of frames of one size, named by their numbers from 1.
fn grid(compiling: &mut CompileContext, root: SjsonValue) -> Result<SheetSlices, Error> {
    let path = compiling.path.clone();
    let wrong = |value: SjsonValue, message: &str| error!("{path}:{}: {message}", value.line());
    let image = root.get("image").expect("the caller checked");
    let name = image
        .as_str()
        .ok_or_else(|| wrong(image, "'image' must be a picture's path, in quotes"))?;
    let size = root.get("frame").and_then(|size| {
        let numbers: Option<Vec<f64>> = size.items()?.map(SjsonValue::as_f64).collect();
        let fits = |n: &f64| n.fract() == 0.0 && (1.0..=f64::from(SIDE_MAX)).contains(n);
        match numbers?[..] {
            [w, h] if fits(&w) && fits(&h) => Some((w as u32, h as u32)),
            _ => None,
        }
    });
    let (width, height) = size.ok_or_else(|| {
        wrong(image, "a grid needs the size of a frame in texels: frame = [width, height]")
    })?;
    let number = |key: &str, default: f64, most: f64| {
        let Some(value) = root.get(key) else { return Ok(default) };
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
    let picture = resource::decode(name, &bytes)?;
    let DecodedImage::Image(picture) = picture else {
        return Err(error!("{name}: a sheet's picture must have 8 bits a channel: save it as PNG"));
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
            rectangles.push(FrameRectangle {
                name,
                milliseconds,
                x,
                y,
                width,
                height,
                full_width,
                full_height,
                ..FrameRectangle::default()
            });
        }
    }
    if let Some(value) = root.get("duration")
        && value.items().is_some()
        && durations.len() != rectangles.len()
    {
        let (duration_count, frame_count) = (durations.len(), rectangles.len());
        let message =
            format!("'duration' has {duration_count} numbers, and the sheet {frame_count} frames");
        return Err(wrong(value, &format!("{message}: give one for each, or one number for all")));
    }
    let tags = tags_from_one(&path, root.get("tags"))?;
    Ok(SheetSlices::Picture { path: name.to_string(), rectangles, tags })
}

/// Reads the tags of a grid, whose frames are counted from 1, as their names are.
fn tags_from_one(path: &str, value: Option<SjsonValue>) -> Result<Vec<SheetTag>, Error> {
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

/// Extracts a frame, and undoes its trimming and rotation.
pub fn frame(sheet: &Image, r: &FrameRectangle) -> Result<Image, String> {
    let (across, down) = if r.turned { (r.height, r.width) } else { (r.width, r.height) };
    if r.x + across > sheet.width || r.y + down > sheet.height {
        return Err(format!(
            "frame '{}' reaches beyond its picture, which is {} x {}: export both again",
            r.name, sheet.width, sheet.height
        ));
    }
    let PixelFormat::Bytes(texels) = &sheet.pixels else {
        return Err("a sheet's picture must have 8 bits a channel".to_string());
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
    Ok(Image { width: r.full_width, height: r.full_height, pixels: PixelFormat::Bytes(out) })
}
