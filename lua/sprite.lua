-- Sprites: which frame of a sheet's animation is shown, by time alone. Drawing is `Gui`'s; sheets
-- are made by the data compiler. Those of units are native (src/script/api/sprite.rs): handles.
local core = ...

local type, rawget, tostring = type, rawget, tostring
local huge, floor = math.huge, math.floor
local format = string.format
local raise, bad_argument, suggest = core.raise, core.bad_argument, core.suggest
local sheet_data = core.sheet_data
local unit_play, unit_speed = core.sprite_play, core.sprite_set_speed
local unit_frame, unit_finished = core.sprite_frame, core.sprite_finished

---@module Sprite
---Animations from sheets (`.sheet`, `.aseprite`). A sprite is a table of plain data that tells
---which frame is shown; it can be saved, copied and compared. It draws nothing: give the name of
---its frame to `Gui.bitmap`. The same steps of time always give the same frames.
---
---Sprites that are components of units are handles: `Unit.sprite` finds them, `World.update` plays
---them, and the world shows them.
---@example
---   if Application.can_get("sheet", "sheets/hero") then
---     local hero = Sprite.new("sheets/hero", "run")
---     Sprite.update(hero, 0.5)
---     print(Sprite.frame(hero)) -- for Gui.bitmap(gui, Sprite.frame(hero), …)
---   end

---@class Sprite
local Sprite = core.module("Sprite")

-- Sheets and the sequences of their tags, read once; sheets that are made anew are read again.
local sheets = {}

function core.forget_sheets()
  sheets = {}
end

local ALL = {} -- the key of the sequence without a tag

-- The frames of one turn with the times at which they end, in seconds.
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
    -- What is shown when the last turn is over.
    rest = back and names[1] or names[#names],
  }
end

local function sheet_of(fn, name)
  if type(name) ~= "string" then
    bad_argument(fn, 1, "sheet", "string", name)
  end
  local sheet = sheets[name]
  if not sheet then
    local data, words = sheet_data(name)
    if not data then
      raise(format("%s: argument #1 'sheet': %s", fn, words))
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

---Makes a sprite that plays a tag of a sheet from its beginning.
---@param sheet string the sheet's name: `sheets/hero` is sheets/hero.sheet or sheets/hero.aseprite
---@param tag? string the name of a tag; all frames, over and over, without one
---@return table sprite with the fields sheet, tag, time (seconds) and speed
function Sprite.new(sheet, tag)
  sequence("Sprite.new", sheet, tag)
  return { sheet = sheet, tag = tag, time = 0, speed = 1 }
end

---Moves a sprite on in time.
---@param sprite table what Sprite.new gave; those of units are moved on by World.update
---@param delta number seconds, zero or more
function Sprite.update(sprite, delta)
  if type(sprite) == "number" then
    raise("Sprite.update: argument #1 'sprite' is that of a unit, which World.update moves on")
  end
  check("Sprite.update", sprite)
  check_number("Sprite.update", 2, "delta", delta, 0)
  sprite.time = sprite.time + delta * sprite.speed
end

---Plays another tag. The one that is playing goes on, unless it is over.
---@param sprite Sprite|table a sprite of a unit, or what Sprite.new gave
---@param tag? string the name of a tag; all frames, over and over, without one
function Sprite.play(sprite, tag)
  if type(sprite) == "number" then return unit_play(sprite, tag) end
  check("Sprite.play", sprite)
  local wanted = sequence("Sprite.play", sprite.sheet, tag)
  if tag ~= sprite.tag or sprite.time >= wanted.seconds * wanted.turns then
    sprite.tag, sprite.time = tag, 0
  end
end

---Plays faster or slower.
---@param sprite Sprite|table a sprite of a unit, or what Sprite.new gave
---@param speed number 1 as the artist wanted, 2 twice as fast, 0 to stand still
function Sprite.set_speed(sprite, speed)
  if type(sprite) ~= "number" then check("Sprite.set_speed", sprite) end
  check_number("Sprite.set_speed", 2, "speed", speed, 0)
  if type(sprite) == "number" then return unit_speed(sprite, speed) end
  sprite.speed = speed
end

-- The number of the frame that is shown in its sequence, from 1; none once all turns are over.
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

---The frame that is shown now, as the name of a texture.
---@param sprite Sprite|table a sprite of a unit, or what Sprite.new gave
---@return string the name, for `Gui.bitmap` and its like
function Sprite.frame(sprite)
  if type(sprite) == "number" then return unit_frame(sprite) end
  check("Sprite.frame", sprite)
  local playing = sequence("Sprite.frame", sprite.sheet, sprite.tag)
  local index = index_of(playing, sprite.time)
  return index and playing.names[index] or playing.rest
end

---Whether a tag that is played a number of times is over. The last frame stays.
---@param sprite Sprite|table a sprite of a unit, or what Sprite.new gave
---@return boolean whether nothing moves any more
function Sprite.finished(sprite)
  if type(sprite) == "number" then return unit_finished(sprite) end
  check("Sprite.finished", sprite)
  local playing = sequence("Sprite.finished", sprite.sheet, sprite.tag)
  return sprite.time >= playing.seconds * playing.turns
end

---The names of a sheet's tags, in the order of its file.
---@param sheet string the sheet's name
---@return string[] the names
function Sprite.tags(sheet)
  return tag_names(sheet_of("Sprite.tags", sheet))
end

---The names of the frames that one turn of a tag shows, in order.
---@param sheet string the sheet's name
---@param tag? string the name of a tag; all frames of the sheet without one
---@return string[] the names of textures
function Sprite.frames(sheet, tag)
  local names = {}
  local playing = sequence("Sprite.frames", sheet, tag)
  for i = 1, #playing.names do names[i] = playing.names[i] end
  return names
end

---How long one turn of a tag takes, at speed 1.
---@param sheet string the sheet's name
---@param tag? string the name of a tag; all frames of the sheet without one
---@return number seconds
function Sprite.seconds(sheet, tag)
  return sequence("Sprite.seconds", sheet, tag).seconds
end
