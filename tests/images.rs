//! Tests of images of scripts in runs that draw: textures made of pixels reach the screen, frames
//! become images, and files are written to the folder of saves.

use crate::game_folder::GameFolder;
use std::fs;
use std::io::Write;

/// A game that draws an image, reads the frame back, and saves both.
const MAIN: &str = r#"
local colors = { Color(255, 0, 0), Color(0, 255, 0), Color(0, 0, 255), Color(255, 255, 0) }
local image, capture, frame = Image.new(2, 2), nil, 0

function init()
  Image.map(image, function(x, y) return colors[1 + x + 2 * y] end)
  Image.to_texture(image, "made/quarters", { filter = "nearest" })
  print("saved", (Image.save(image, "quarters")))
end

local function same(a, b)
  return math.abs(a.r - b.r) < 3 and math.abs(a.g - b.g) < 3 and math.abs(a.b - b.b) < 3
end

local function compare(shot)
  local width, height = Image.size(shot)
  for i, at in ipairs({ { 0.25, 0.25 }, { 0.75, 0.25 }, { 0.25, 0.75 }, { 0.75, 0.75 } }) do
    local x, y = math.floor(at[1] * width), math.floor(at[2] * height)
    local got = Image.pixel(shot, x, y)
    print("quarter", i, same(got, colors[i]) and "is right" or tostring(got))
  end
  Image.save(shot, "frame")
end

function update(dt)
  frame = frame + 1
  if frame == 3 then capture = assert(Image.capture()) end
  if capture then
    local shot, message = Image.captured(capture)
    assert(not message, message)
    if shot then
      compare(shot)
      capture = nil
      print("again", pcall(Image.captured, 1))
      Application.quit()
    end
  end
end

function render()
  local width, height = Gui.resolution()
  Gui.bitmap(Application.main_gui(), "made/quarters", Vector3(0, 0, 1), Vector2(width, height))
  Application.render_world(Application.main_world())
end
"#;

#[test]
fn image_is_drawn_read_back_and_saved() {
    let scratch = GameFolder::new("images", "drawn");
    scratch.write("game/main.lua", MAIN);
    let run = ["run", "game", "--headless", "--renderer", "software", "--frames", "600"];
    let (code, out, err) = scratch.engine(&run);
    if err.contains("no adapter") || err.contains("no software adapter") {
        let message = format!("SKIPPED: {err}");
        let required = std::env::var("ENGINE_TEST_REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!required, "{message}");
        return writeln!(std::io::stderr(), "{message}").expect("stderr can be written to");
    }
    assert_eq!(code, 0, "{out}{err}");
    for i in 1..=4 {
        assert!(out.contains(&format!("quarter\t{i}\tis right")), "{out}{err}");
    }
    assert!(out.contains("or its image was returned already"), "{out}");
    let path = out.lines().find_map(|line| line.strip_prefix("saved\t")).expect("it says where");
    assert!(path.ends_with("images/quarters.png"), "{path}");
    for name in ["quarters.png", "frame.png"] {
        let file = std::path::Path::new(path).with_file_name(name);
        let png = fs::read(&file).unwrap_or_else(|fault| panic!("{}: {fault}", file.display()));
        assert!(png.starts_with(b"\x89PNG"), "{name}");
    }
}
