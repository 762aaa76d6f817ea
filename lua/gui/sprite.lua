-- Sprites: time-based selection of the displayed frame of a sheet's animation. `Gui` draws them,
-- and the data compiler builds the sheets. Sprites that are components of units are handles and
-- native (src/script/api/sprite/mod.rs).
local core = ...

local type, rawget, tostring = type, rawget, tostring
local huge, floor = math.huge, math.floor
local format = string.format
local raise, bad_argument, suggest = core.raise, core.bad_argument, core.suggest
local sheet_data = core.sheet_data
local unit_play, unit_speed = core.sprite_play, core.sprite_set_speed
local unit_frame, unit_finished = core.sprite_frame, core.sprite_finished

---@module Sprite
---Animations from sheets (`.sheet`, `.aseprite`). A sprite is a table of plain data that selects
---the displayed frame; it can be saved, copied and compared. It does not draw: pass the name of
---its frame to `Gui.bitmap`. The same time steps always result in the same frames.
---
---Sprites that are components of units are handles: `Unit.sprite` finds them, `World.update` plays
---them, and the world draws them.
---@example
---   if Application.can_get("sheet", "sheets/hero") then
---     local hero = Sprite.new("sheets/hero", "run")
---     Sprite.update(hero, 0.5)
---     print(Sprite.frame(hero)) -- for Gui.bitmap(gui, Sprite.frame(hero), …)
---   end

---@class Sprite
local Sprite = core.module("Sprite")

-- Cache of sheets and the sequences of their tags. Sheets that are compiled again are read again.
local sheets = {}

core.on("resources_changed", "sprites", function()
  sheets = {}
end)

local ALL = {} -- the key of the sequence without a tag

-- Returns the sequence of one cycle: the frames and the times at which they end, in seconds.
local function sequence_of(sheet, from, to, direction, repeats)
  local names, ends, time = {}, {}, 0
  local function add(index)
    local frame = sheet.frames[index]
    time = time + frame.seconds
    names[#names + 1], ends[#ends + 1] = frame.name, time
  end
  local function run(first, last, step)
    for index = first, last, step do add(index) end
  end
  if direction == "forward" then
    run(from, to, 1)
  elseif direction == "reverse" then
    run(to, from, -1)
  elseif direction == "pingpong" then
    run(from, to, 1)
    run(to - 1, from + 1, -1)
  else
    run(to, from, -1)
    run(from + 1, to - 1, 1)
  end
  local back = direction == "pingpong" or direction == "pingpong_reverse"
  return {
    names = names,
    ends = ends,
    seconds = time,
    turns = repeats == 0 and huge or repeats,
    -- Frame that is displayed after the last cycle.
    rest = back and names[1] or names[#names],
  }
end

local function sheet_of(fn, name)
  if type(name) ~= "string" then
    bad_argument(fn, 1, "sheet", "string", name)
  end
  local sheet = sheets[name]
  if not sheet then
    local data, problem = sheet_data(name)
    if not data then
      raise(format("%s: argument #1 'sheet': %s", fn, problem))
    end
    sheet = { frames = data.frames, tags = data.tags, sequences = {} }
    sheets[name] = sheet
  end
  return sheet
end

local function tag_names(sheet)
  local names = {}
  for i = 1, #sheet.tags do names[i] = sheet.tags[i].name end
  return names
end

local function sequence(fn, name, tag)
  local sheet = sheet_of(fn, name)
  local known = sheet.sequences[tag or ALL]
  if known then return known end
  if tag == nil then
    known = sequence_of(sheet, 1, #sheet.frames, "forward", 0)
  else
    if type(tag) ~= "string" then
      bad_argument(fn, 2, "tag", "string or nil", tag)
    end
    for i = 1, #sheet.tags do
      local each = sheet.tags[i]
      if each.name == tag then
        known = sequence_of(sheet, each.from, each.to, each.direction, each.repeats)
        break
      end
    end
    if not known then
      local near = suggest(tag, tag_names(sheet))
      raise(format("%s: argument #2 'tag': the sheet '%s' has no tag '%s'%s", fn, name, tag,
        near and format(", did you mean '%s'?", near) or ""))
    end
  end
  sheet.sequences[tag or ALL] = known
  return known
end

local function check(fn, sprite)
  if type(sprite) ~= "table" or type(rawget(sprite, "sheet")) ~= "string"
    or type(rawget(sprite, "time")) ~= "number" or type(rawget(sprite, "speed")) ~= "number" then
    bad_argument(fn, 1, "sprite", "Sprite", sprite)
  end
  return sprite
end

local function check_number(fn, index, name, value, least)
  if type(value) ~= "number" then
    bad_argument(fn, index, name, "number", value)
  elseif not (value >= least and value < huge) then
    raise(format("%s: argument #%d '%s' must be a number of at least %g, got %s", fn, index, name,
      least, tostring(value)))
  end
end

---Creates a sprite that plays a tag of a sheet from its beginning.
---@param sheet string the sheet's name: `sheets/hero` is sheets/hero.sheet or sheets/hero.aseprite
---@param tag? string the name of a tag; without one, all frames in a loop
---@return table sprite with the fields sheet, tag, time (seconds) and speed
function Sprite.new(sheet, tag)
  sequence("Sprite.new", sheet, tag)
  return { sheet = sheet, tag = tag, time = 0, speed = 1 }
end

---Advances a sprite by a time step.
---@param sprite table a sprite from Sprite.new; World.update advances sprites of units
---@param delta number seconds, zero or more
function Sprite.update(sprite, delta)
  if type(sprite) == "number" then
    raise("Sprite.update: argument #1 'sprite' belongs to a unit: World.update advances it")
  end
  check("Sprite.update", sprite)
  check_number("Sprite.update", 2, "delta", delta, 0)
  sprite.time = sprite.time + delta * sprite.speed
end

---Plays another tag. If the same tag is already playing, it continues, unless it has finished.
---@param sprite Sprite|table a sprite of a unit or from Sprite.new
---@param tag? string the name of a tag; without one, all frames in a loop
function Sprite.play(sprite, tag)
  if type(sprite) == "number" then return unit_play(sprite, tag) end
  check("Sprite.play", sprite)
  local wanted = sequence("Sprite.play", sprite.sheet, tag)
  if tag ~= sprite.tag or sprite.time >= wanted.seconds * wanted.turns then
    sprite.tag, sprite.time = tag, 0
  end
end

---Sets the playback speed.
---@param sprite Sprite|table a sprite of a unit or from Sprite.new
---@param speed number 1 is the original speed, 2 twice as fast, 0 is paused
function Sprite.set_speed(sprite, speed)
  if type(sprite) ~= "number" then check("Sprite.set_speed", sprite) end
  check_number("Sprite.set_speed", 2, "speed", speed, 0)
  if type(sprite) == "number" then return unit_speed(sprite, speed) end
  sprite.speed = speed
end

-- Returns the index of the displayed frame in its sequence, from 1, or nil after all cycles.
local function index_of(playing, time)
  if time >= playing.seconds * playing.turns then return nil end
  local ends = playing.ends
  local at = time % playing.seconds
  local low, high = 1, #ends
  while low < high do
    local middle = floor((low + high) / 2)
    if at < ends[middle] then high = middle else low = middle + 1 end
  end
  return low
end

---Returns the displayed frame, as the name of a texture.
---@param sprite Sprite|table a sprite of a unit or from Sprite.new
---@return string the name, for `Gui.bitmap` and similar functions
---@node query
function Sprite.frame(sprite)
  if type(sprite) == "number" then return unit_frame(sprite) end
  check("Sprite.frame", sprite)
  local playing = sequence("Sprite.frame", sprite.sheet, sprite.tag)
  local index = index_of(playing, sprite.time)
  return index and playing.names[index] or playing.rest
end

---Returns true if a tag with a limited number of cycles has finished. The last frame stays
---visible.
---@param sprite Sprite|table a sprite of a unit or from Sprite.new
---@return boolean true if the animation has ended
---@node query
function Sprite.finished(sprite)
  if type(sprite) == "number" then return unit_finished(sprite) end
  check("Sprite.finished", sprite)
  local playing = sequence("Sprite.finished", sprite.sheet, sprite.tag)
  return sprite.time >= playing.seconds * playing.turns
end

---Returns the names of a sheet's tags, in the order of its file.
---@param sheet string the sheet's name
---@return string[] the names
---@node query
function Sprite.tags(sheet)
  return tag_names(sheet_of("Sprite.tags", sheet))
end

---Returns the names of the frames in one cycle of a tag, in order.
---@param sheet string the sheet's name
---@param tag? string the name of a tag; all frames of the sheet if omitted
---@return string[] the names of textures
---@node query
function Sprite.frames(sheet, tag)
  local names = {}
  local playing = sequence("Sprite.frames", sheet, tag)
  for i = 1, #playing.names do names[i] = playing.names[i] end
  return names
end

---Returns the duration of one cycle of a tag, at speed 1.
---@param sheet string the sheet's name
---@param tag? string the name of a tag; all frames of the sheet if omitted
---@return number seconds
---@node query
function Sprite.seconds(sheet, tag)
  return sequence("Sprite.seconds", sheet, tag).seconds
end
