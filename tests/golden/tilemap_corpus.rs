//! Comparison of tile maps with the editors' own pictures. The editors' sample maps are not part of
//! the project; a folder with them is named by an environment variable:
//!
//! - `ENGINE_TILED_EXAMPLES`: the folder `examples` of Tiled. Its program `tmxrasterizer` draws the
//!   reference.
//! - `ENGINE_LDTK_SAMPLES`: the folder `app/extraFiles/samples` of LDtk. The reference is each tile
//!   of the files, drawn by `Gui.bitmap_uv` in the order of the file.
//! - `ENGINE_TILEMAP_PICTURES`: a folder for pictures of both, side by side.

use super::games::RenderedGame;
use super::tiled_reference;
use engine::foundation::sjson::{self, SjsonTree};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of the corpora that games read.
const ENDINGS: [&str; 10] =
    ["png", "aseprite", "tmx", "tmj", "tsx", "tsj", "tx", "tj", "ldtk", "ldtkl"];
/// Maximum difference of a color that is blended: the editors blend encoded colors.
const BLENDED_MAX: u8 = 64;
/// Inverse of the maximum part of pixels that differ by more, at the edges of pictures that are
/// rotated or between pixels, of which each program draws others.
const EDGES: usize = 500;

/// Returns the files of a folder with known endings, by path in it.
fn files_of(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap_or_else(|fault| panic!("{next:?}: {fault}")) {
            let path = entry.expect("an entry").path();
            let ending = path.extension().map_or(String::new(), |it| it.to_string_lossy().into());
            if path.is_dir() {
                folders.push(path);
            } else if ENDINGS.contains(&&ending[..]) {
                let name = path.strip_prefix(folder).expect("inside").to_string_lossy();
                let bytes = fs::read(&path).expect("it can be read");
                files.push((name.replace('\\', "/"), bytes));
            }
        }
    }
    files.sort();
    files
}

/// A picture of red, green, blue and alpha.
#[derive(Clone)]
pub struct Picture {
    width: u32,
    height: u32,
    rgba: Vec<u8>,
}

impl Picture {
    pub fn read(path: &Path) -> Picture {
        let bytes = fs::read(path).unwrap_or_else(|fault| panic!("{path:?}: {fault}"));
        let image = image::load_from_memory(&bytes).expect("a PNG").to_rgba8();
        Picture { width: image.width(), height: image.height(), rgba: image.into_raw() }
    }

    fn pixel(&self, x: u32, y: u32) -> [u8; 4] {
        let at = (y as usize * self.width as usize + x as usize) * 4;
        self.rgba[at..at + 4].try_into().expect("four bytes")
    }

    /// Returns a part: left, top, width and height.
    pub fn part(&self, [left, top, width, height]: [u32; 4]) -> Picture {
        let pixels = (top..top + height).flat_map(|y| (left..left + width).map(move |x| (x, y)));
        let rgba = pixels.flat_map(|(x, y)| self.pixel(x, y)).collect();
        Picture { width, height, rgba }
    }

    pub fn write(&self, path: &Path) {
        let kind = image::ExtendedColorType::Rgba8;
        image::save_buffer(path, &self.rgba, self.width, self.height, kind)
            .unwrap_or_else(|fault| panic!("{path:?}: {fault}"));
    }

    /// Writes this picture beside another of the same size.
    fn write_with(&self, other: &Picture, name: &str) {
        let Ok(folder) = std::env::var("ENGINE_TILEMAP_PICTURES") else { return };
        let mut rgba = Vec::new();
        for y in 0..self.height {
            for picture in [self, other] {
                (0..self.width).for_each(|x| rgba.extend(picture.pixel(x, y)));
            }
        }
        let both = Picture { width: self.width * 2, height: self.height, rgba };
        both.write(&PathBuf::from(folder).join(format!("{}.png", name.replace('/', "-"))));
    }
}

/// Color behind the maps.
const BEHIND: [u8; 3] = [70, 70, 70];

/// Number of pixels of two pictures that differ, and that differ by more than blending explains.
/// Partly transparent pixels of `reference` are put on the color behind the maps.
fn differences(ours: &Picture, reference: &mut Picture) -> [usize; 2] {
    let mut counts = [0; 2];
    for (ours, pixel) in ours.rgba.chunks_exact(4).zip(reference.rgba.chunks_exact_mut(4)) {
        let alpha = u32::from(pixel[3]);
        for (part, behind) in pixel.iter_mut().zip(BEHIND) {
            *part =
                ((u32::from(*part) * alpha + u32::from(behind) * (255 - alpha) + 127) / 255) as u8;
        }
        pixel[3] = 255;
        let difference = (0..3).map(|part| ours[part].abs_diff(pixel[part])).max().expect("three");
        counts[0] += usize::from(difference > 1);
        counts[1] += usize::from(difference > BLENDED_MAX);
    }
    counts
}

/// Side of the window in pixels.
const SIDE: u32 = 2600;

const MAIN: &str = "
local shown = Application.data('config', 'shown')
local gui, index = Application.main_gui(), 0
local function show(entry)
  local top = 2600
  if entry.tiles then
    for z, layer in ipairs(entry.tiles) do
      for _, tile in ipairs(layer) do
        local texture, alpha, x, y, width, height, left, above, right, below = unpack(tile)
        Gui.bitmap_uv(gui, texture, Vector2(left, above), Vector2(right, below),
          Vector3(x, top - y - height, z), Vector2(width, height),
          Color(alpha, 255, 255, 255))
      end
    end
    return
  end
  local map = Tilemap.new(entry.map, entry.level)
  for _, object in ipairs(Tilemap.objects(map)) do
    if object.tile > 0 then Tilemap.set_layer_visible(map, object.layer, true) end
  end
  Tilemap.draw(map, gui, Vector3(0, top - entry.height, 0))
  Tilemap.destroy(map)
end
function render()
  index = index + 1
  Gui.rect(gui, Vector3(0, 0, -100), Vector2(2600, 2600), Color(70, 70, 70))
  if shown[index] then show(shown[index]) end
  Application.render_world(Application.main_world())
end
";

/// Opens a game that shows one entry of a list in each frame.
fn game(name: &str, files: &[(String, Vec<u8>)], shown: &str) -> Option<RenderedGame> {
    let settings =
        format!("window = {{ width = {SIDE}, height = {SIDE} }} textures = {{ nearest = true }}");
    let mut all = vec![
        ("settings.sjson", settings.into_bytes()),
        ("main.lua", MAIN.as_bytes().to_vec()),
        ("shown.json", shown.as_bytes().to_vec()),
    ];
    all.extend(files.iter().map(|(path, bytes)| (&path[..], bytes.clone())));
    RenderedGame::game(name, &all)
}

fn frame(game: &mut RenderedGame, width: u32, height: u32) -> Picture {
    let shown = game.frame();
    let all = Picture { width: shown.width, height: shown.height, rgba: shown.rgba };
    all.part([0, 0, width, height])
}

/// Returns the folder that an environment variable names. Without it, the comparison was not
/// requested, and a line says so.
fn corpus(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    if folder.is_none() {
        eprintln!("not compared with the editors' sample maps: {variable} names no folder");
    }
    folder
}

#[test]
fn tiled_examples_look_as_their_exported_pictures() {
    let Some(folder) = corpus("ENGINE_TILED_EXAMPLES") else { return };
    let mut files = files_of(&folder);
    // The exporter does not move layers by parallax.
    for (path, bytes) in files.iter_mut().filter(|(path, _)| path.ends_with(".tmx")) {
        let text = std::str::from_utf8(bytes).unwrap_or_else(|fault| panic!("{path}: {fault}"));
        *bytes = text.replace("parallaxx=", "unusedx=").replace("parallaxy=", "unusedy=").into();
    }
    let maps: Vec<&str> = files.iter().filter_map(|(path, _)| path.strip_suffix(".tmx")).collect();
    assert!(
        !maps.is_empty(),
        "{folder:?} has no .tmx: set ENGINE_TILED_EXAMPLES to Tiled's examples"
    );
    let references: Vec<Picture> =
        maps.iter().map(|map| tiled_reference::draw(&files, map)).collect();
    tiled_reference::finish();
    let mut shown = String::from("[");
    for (map, reference) in maps.iter().zip(&references) {
        let _ = write!(shown, "{{\"map\":\"{map}\",\"height\":{}}},", reference.height);
    }
    let shown = shown.trim_end_matches(',').to_string() + "]";
    let Some(mut game) = game("tiled_examples", &files, &shown) else { return };
    let mut failed = Vec::new();
    for (map, mut reference) in maps.into_iter().zip(references) {
        let ours = frame(&mut game, reference.width, reference.height);
        let [all, large] = differences(&ours, &mut reference);
        let pixels = ours.width * ours.height;
        println!("{map}: {all} of {pixels} pixels differ, {large} by more than {BLENDED_MAX}");
        ours.write_with(&reference, &format!("tiled-{map}"));
        if large > pixels as usize / EDGES {
            failed.push(map);
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

fn number(tree: &SjsonTree, key: &str) -> f64 {
    match tree.get(key) {
        Some(SjsonTree::Number(number)) => *number,
        _ => 0.0,
    }
}

fn text<'a>(tree: &'a SjsonTree, key: &str) -> &'a str {
    match tree.get(key) {
        Some(SjsonTree::String(text)) => text,
        _ => "",
    }
}

fn list<'a>(tree: &'a SjsonTree, key: &str) -> &'a [SjsonTree] {
    match tree.get(key) {
        Some(SjsonTree::Array(items)) => items,
        _ => &[],
    }
}

/// Returns the drawing commands for the tiles of a level, layer by layer from the lowest.
fn commands(files: &[(String, Vec<u8>)], project: &SjsonTree, level: &SjsonTree) -> String {
    let sets = project.get("defs").map_or(&[][..], |defs| list(defs, "tilesets"));
    let mut out = String::from("[") + &background(files, level).unwrap_or_default();
    for layer in list(level, "layerInstances").iter().rev() {
        if !matches!(layer.get("visible"), Some(SjsonTree::Bool(true))) {
            continue;
        }
        let uid = number(layer, "__tilesetDefUid");
        let Some(set) = sets.iter().find(|set| number(set, "uid") == uid) else { continue };
        let path = text(set, "relPath");
        let (name, ending) = path.rsplit_once('.').unwrap_or((path, ""));
        let texture = if ending == "aseprite" { format!("{name}/1") } else { name.to_string() };
        let (side, size) =
            (number(set, "tileGridSize"), ["pxWid", "pxHei"].map(|k| number(set, k)));
        let offset = ["__pxTotalOffsetX", "__pxTotalOffsetY"].map(|key| number(layer, key));
        out += "[";
        for tile in list(layer, "autoLayerTiles").iter().chain(list(layer, "gridTiles")) {
            let pair = |key: &str| match list(tile, key) {
                [SjsonTree::Number(x), SjsonTree::Number(y)] => [*x, *y],
                other => panic!("{key}: {other:?}"),
            };
            let (at, from, flips) = (pair("px"), pair("src"), number(tile, "f") as u32);
            let alpha = (number(tile, "a") * number(layer, "__opacity") * 255.0).round();
            let [x, y] = [0, 1].map(|axis| at[axis] + offset[axis]);
            let [mut left, mut top] = [0, 1].map(|axis| from[axis] / size[axis]);
            let [mut right, mut below] = [0, 1].map(|axis| (from[axis] + side) / size[axis]);
            if flips & 1 != 0 {
                std::mem::swap(&mut left, &mut right);
            }
            if flips & 2 != 0 {
                std::mem::swap(&mut top, &mut below);
            }
            let _ = write!(
                out,
                "[\"{texture}\",{alpha},{x},{y},{side},{side},{left},{top},{right},{below}],"
            );
        }
        out = out.trim_end_matches(',').to_string() + "],";
    }
    out.trim_end_matches(',').to_string() + "]"
}

fn tree(bytes: &[u8]) -> SjsonTree {
    sjson::parse_bytes(bytes).unwrap_or_else(|fault| panic!("{fault:?}")).to_tree()
}

/// Returns the drawing command for the background picture of a level, as a layer.
fn background(files: &[(String, Vec<u8>)], level: &SjsonTree) -> Option<String> {
    let (path, position) = (text(level, "bgRelPath"), level.get("__bgPos")?);
    let (_, bytes) = files.iter().find(|(known, _)| known == path)?;
    let image = image::load_from_memory(bytes).expect("a picture");
    let numbers = |key: &str| {
        let number = |item: &SjsonTree| match item {
            SjsonTree::Number(number) => *number,
            other => panic!("{key}: {other:?}"),
        };
        list(position, key).iter().map(number).collect::<Vec<_>>()
    };
    let (at, scale, crop) = (numbers("topLeftPx"), numbers("scale"), numbers("cropRect"));
    let size = [f64::from(image.width()), f64::from(image.height())];
    Some(format!(
        "[[\"{}\",255,{},{},{},{},{},{},{},{}]],",
        path.rsplit_once('.')?.0,
        at[0],
        at[1],
        crop[2] * scale[0],
        crop[3] * scale[1],
        crop[0] / size[0],
        crop[1] / size[1],
        (crop[0] + crop[2]) / size[0],
        (crop[1] + crop[3]) / size[1]
    ))
}

#[test]
fn ldtk_samples_look_as_their_tiles_drawn_one_by_one() {
    let Some(folder) = corpus("ENGINE_LDTK_SAMPLES") else { return };
    let files = files_of(&folder);
    let (mut shown, mut levels) = (String::from("["), Vec::new());
    for (path, bytes) in &files {
        let Some(map) = path.strip_suffix(".ldtk") else { continue };
        let project = tree(bytes);
        let worlds = list(&project, "worlds").iter().flat_map(|world| list(world, "levels"));
        for level in list(&project, "levels").iter().chain(worlds) {
            let external = files.iter().find(|(path, _)| path == text(level, "externalRelPath"));
            let level = external.map_or(level.clone(), |(_, bytes)| tree(bytes));
            let (name, height) = (text(&level, "identifier").to_string(), number(&level, "pxHei"));
            let _ = write!(
                shown,
                "{{\"map\":\"{map}\",\"level\":\"{name}\",\"height\":{height}}},\
                 {{\"tiles\":{}}},",
                commands(&files, &project, &level)
            );
            let has_background = !text(&level, "bgRelPath").is_empty();
            let size = [number(&level, "pxWid") as u32, height as u32];
            levels.push((map, name, size, has_background));
        }
    }
    assert!(
        !levels.is_empty(),
        "{folder:?} has no .ldtk: set ENGINE_LDTK_SAMPLES to LDtk's samples"
    );
    let shown = shown.trim_end_matches(',').to_string() + "]";
    let Some(mut game) = game("ldtk_samples", &files, &shown) else { return };
    let mut failed = Vec::new();
    for (map, name, [width, height], has_background) in levels {
        let ours = frame(&mut game, width, height);
        let mut reference = frame(&mut game, width, height);
        let [all, _] = differences(&ours, &mut reference);
        let pixels = width * height;
        println!("{map}, {name}: {all} of {pixels} pixels differ");
        ours.write_with(&reference, &format!("ldtk-{map}-{name}"));
        // A background is scaled, and each way rounds in its own way.
        let most = if has_background { pixels as usize / 50 } else { 0 };
        if all > most {
            failed.push(format!("{map} {name}"));
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}
