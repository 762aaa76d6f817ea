-- `Gui`: two-dimensional drawing. This file creates Guis, and finds the textures and materials that
-- drawing functions name. Drawing functions are native: their rows are in
-- src/script/api/gui/rows.rs, and rows.lua is generated from them.
local core = ...

local raise, bad_argument = core.raise, core.bad_argument
local type, select, format = type, select, string.format
local istype, no_reload, describe = core.ffi.istype, core.no_reload, core.describe
local M = core.ctypes.Matrix4x4
local find_source = core.gui_source

local World, Material, Utf8 = core.module("World"), core.module("Material"), core.module("Utf8")

-- Values and helpers that the Gui files share; the generated functions in rows.lua use them.
local shared = {}
core.drawing = shared

-- Source numbers by name or material. A source is a texture or material to draw with. Each is
-- looked up once.
local sources = {}
shared.sources = sources

-- Raises if a name is not valid UTF-8.
local function check_name(name, index, argument, value)
  if type(value) == "string" and not Utf8.valid(value) then
    raise(format("%s: argument #%d '%s' is not valid UTF-8", name, index, argument))
  end
end
shared.check_name = check_name

-- Looks up the source number of a name or material at its first use; raises if there is none.
-- LuaJIT does not record the creation of a closure. If a loop meets a new name, its trace is
-- aborted and recorded again later, without this path, which each name takes only once. This
-- function is not part of `source_of` because LuaJIT also does not record the return from a
-- function that has closures.
local function look_up_source(name, index, argument, material)
  local function find()
    check_name(name, index, argument, material)
    local source, message = find_source(material)
    if not source then
      raise(format("%s: argument #%d '%s': %s", name, index, argument, message))
    end
    sources[material] = source
    return source
  end
  return find()
end

-- Returns the source number of a name or material; raises if there is none.
local function source_of(name, index, argument, material)
  local known = sources[material]
  if known ~= nil then return known end
  return look_up_source(name, index, argument, material)
end
shared.source_of = source_of

---Destroys a material. Objects that still use it are drawn as if they had no material.
---@param material Material a material created by `Material.new`
function Material.destroy(material)
  no_reload("Material.destroy")
  if type(material) ~= "number" then
    bad_argument("Material.destroy", 1, "material", "Material", material)
  end
  core.destroy(material)
  sources[material] = nil
end

---@module Gui
---@node hidden
---Two-dimensional drawing: on the screen, in logical pixels from the left bottom, or on a plane in
---a world. A Gui is immediate or retained. An immediate Gui shows each drawn object for one frame.
---A retained Gui returns a number for each object and shows the object until it is destroyed; an
---update replaces all properties of the object. The z of a position is the layer: higher layers are
---drawn over lower ones. Within a layer, objects with the same material, texture and clip are drawn
---as one batch, and batches are drawn in the order of their first objects. Colours multiply the
---drawn pixels.
---@example
---   local world = Application.new_world()
---   local gui = World.create_screen_gui(world, "immediate")
---   Gui.rect(gui, Vector3(10, 10, 1), Vector2(100, 20), Color(255, 128, 0))
---   local hud = World.create_screen_gui(world)
---   local bar = Gui.rect(hud, Vector3(10, 40, 1), Vector2(100, 20))
---   Gui.update_rect(hud, bar, Vector3(10, 40, 1), Vector2(60, 20), Color.red())
---   Gui.destroy_rect(hud, bar)
---   Gui.push(gui)
---   Gui.translate(gui, Vector2(100, 100))
---   Gui.rotate(gui, math.pi / 4)
---   Gui.rect(gui, Vector3(-10, -10, 1), Vector2(20, 20), Color.red())
---   Gui.pop(gui)
---   World.destroy_gui(world, gui)

-- Creating and destroying -------------------------------------------------------------------------

local OPTIONS, TEXTURE_OPTIONS = { "immediate", "retained", "material" }, { "keep", "nearest" }
for i = 1, #OPTIONS do TEXTURE_OPTIONS[#TEXTURE_OPTIONS + 1] = OPTIONS[i] end

-- Raises for an option that a function does not know.
local function unknown_option(name, index, option, has_texture)
  local known = has_texture and TEXTURE_OPTIONS or OPTIONS
  local near = type(option) == "string" and core.suggest(option, known)
  local more = has_texture and "\"keep\", \"nearest\", " or ""
  raise(format("%s: argument #%d must be %s\"immediate\", \"retained\" or \"material\" and a "
    .. "name, got %s%s", name, index, more, describe(option),
    near and ", did you mean '" .. near .. "'?" or ""))
end

-- Reads the options of `create_screen_gui` and similar functions; `has_texture`: those of a Gui
-- that draws into a texture, too. Returns true for an immediate Gui, for a texture that keeps its
-- content, and for one that is drawn with its nearest texels.
local function read_options(name, has_texture, first, ...)
  local immediate, keeps, nearest = false, false, false
  local count, i = select("#", ...), 1
  while i <= count do
    local option = (select(i, ...))
    local at = first + i - 1
    if option == "immediate" then
      immediate = true
    elseif option == "retained" then
      immediate = false
    elseif has_texture and option == "keep" then
      keeps = true
    elseif has_texture and option == "nearest" then
      nearest = true
    elseif option == "material" then
      local material = select(i + 1, ...)
      if type(material) ~= "string" then
        bad_argument(name, at + 1, "material", "string", material)
      end
      source_of(name, at + 1, "material", material)
      i = i + 1
    else
      unknown_option(name, at, option, has_texture)
    end
    i = i + 1
  end
  if keeps and not immediate then
    raise(name .. ": \"keep\" needs \"immediate\": a retained Gui draws all its objects in each "
      .. "frame")
  end
  return immediate, keeps, nearest
end

---Creates a Gui on the screen, which every view of the world shows.
---@param world World the world that owns it; the Gui is destroyed with the world
---@param ... any "immediate" shows objects for one frame; "material", NAME looks up a material now
---@return Gui gui the new Gui
function World.create_screen_gui(world, ...)
  no_reload("World.create_screen_gui")
  if type(world) ~= "number" then
    bad_argument("World.create_screen_gui", 1, "world", "World", world)
  end
  return core.create_screen_gui(world, (read_options("World.create_screen_gui", false, 2, ...)))
end

---Creates a Gui on a plane in the world.
---@param world World the world that owns it; the Gui is destroyed with the world
---@param pose Matrix4x4 its left bottom; the Gui's right is the pose's x axis, its up the z axis
---@param width number in metres
---@param height number in metres
---@param ... any as for `World.create_screen_gui`
---@return Gui gui the new Gui
function World.create_world_gui(world, pose, width, height, ...)
  local name = "World.create_world_gui"
  no_reload(name)
  if type(world) ~= "number" then bad_argument(name, 1, "world", "World", world) end
  if not istype(M, pose) then bad_argument(name, 2, "pose", "Matrix4x4", pose) end
  if type(width) ~= "number" then bad_argument(name, 3, "width", "number", width) end
  if type(height) ~= "number" then bad_argument(name, 4, "height", "number", height) end
  local immediate = read_options(name, false, 5, ...)
  return core.create_world_gui(world, pose, width, height, immediate)
end

---Creates a Gui that is drawn into a texture, in every frame before anything else. From then on,
---the texture can be used by its name, as if it were a file. The texture is empty at the start of
---each frame, unless "keep" is passed: an immediate Gui then draws over what earlier frames have
---drawn, and `Gui.clear` empties it.
---@param world World the world that owns it; the Gui is destroyed with the world
---@param texture string the texture's name, which must be unique
---@param width integer in texels
---@param height integer in texels
---@param ... any as for `World.create_screen_gui`; "keep", "nearest": drawn with its nearest texels
---@return Gui gui the new Gui
function World.create_texture_gui(world, texture, width, height, ...)
  local name = "World.create_texture_gui"
  no_reload(name)
  if type(world) ~= "number" then bad_argument(name, 1, "world", "World", world) end
  if type(texture) ~= "string" then bad_argument(name, 2, "texture", "string", texture) end
  if type(width) ~= "number" then bad_argument(name, 3, "width", "integer", width) end
  if type(height) ~= "number" then bad_argument(name, 4, "height", "integer", height) end
  return core.create_texture_gui(world, texture, width, height, read_options(name, true, 5, ...))
end

---Destroys a Gui with all its objects.
---@param world World the world that owns it
---@param gui Gui the Gui to destroy
---@node hidden
function World.destroy_gui(world, gui)
  no_reload("World.destroy_gui")
  if type(world) ~= "number" then bad_argument("World.destroy_gui", 1, "world", "World", world) end
  if type(gui) ~= "number" then bad_argument("World.destroy_gui", 2, "gui", "Gui", gui) end
  core.destroy_gui(world, gui)
end
