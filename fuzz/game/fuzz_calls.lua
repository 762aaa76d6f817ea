-- Calls functions of the engine. The bytes of the case choose the functions and the values. Values
-- mostly fit their types, and results of functions are arguments of later calls.

local byte, floor, random_text = string.byte, math.floor, string.rep

-- Functions that would end the case, or do something outside of the process.
local LEFT_OUT = {
  ["Application.quit"] = true,
  ["Application.open_url_in_browser"] = true,
}

local NUMBERS = {
  0, 1, 2, 3, -1, 0.5, 10, 100, 1e-9, -0.1, 255, 256, 65535, 65536, 1e6, 2 ^ 31, 2 ^ 32, -2 ^ 31,
  2 ^ 53, 1e15, 1e38, 1e39, -1e300, 1 / 0, -1 / 0, 0 / 0, 4, 5, 7, 16, 33, 1000,
}

local TEXTS = {
  "", "a", "x", "root", "pictures/hero", "pictures/noise", "pictures/wave", "pictures/hero/2",
  "particles/puff", "particles/torch", "levels/yard", "maps/cave", "maps/world", "models/chest",
  "units/barrel", "units/hero", "units/chest", "units/physics/crate", "units/physics/door",
  "core/units/cube", "core/units/empty", "core/fonts/default", "sounds/tone", "sounds/engine",
  "data/menu", "data/level", "data/set", "music", "ground", "run", "hinge", "ball", "closest",
  "all", "dynamic", "static", "kinematic", "box", "sphere", "immediate", "retained", "unit",
  "texture", "Wood", "Lid", "Lamp", "Eye", "speed", "volume", "fixed", "debt_payback", "a\0b",
  "\255\254", "\27[31m", "%", "%s%d", "..", "/", random_text("x", 5000), random_text("\n", 300),
}

local signatures = {}

local function split_types(text)
  local list, depth, start = {}, 0, 1
  for i = 1, #text + 1 do
    local c = text:sub(i, i)
    if c == "(" or c == "<" or c == "{" then depth = depth + 1 end
    if c == ")" or c == ">" or c == "}" then depth = depth - 1 end
    if (c == "," and depth == 0) or c == "" then
      local part = text:sub(start, i - 1):match("^%s*(.-)%s*$")
      if part ~= "" then list[#list + 1] = part end
      start = i + 1
    end
  end
  return list
end

local function alternatives(text)
  local list = {}
  for one in text:gsub("[%(%)]", ""):gmatch("[^|]+") do list[#list + 1] = one end
  return list
end

local function read_signatures()
  for line in Application.data("text", "fuzz_signatures"):gmatch("[^\n]+") do
    local name, inside, returns = line:match("^([%w_%.]+)%((.*)%):?%s*(.-)$")
    local fn = _G
    for part in (name or ""):gmatch("[^%.]+") do fn = type(fn) == "table" and fn[part] or nil end
    if type(fn) == "function" and not LEFT_OUT[name] then
      local parameters = {}
      for i, parameter in ipairs(split_types(inside)) do
        local types = parameter:match(":%s*(.*)$") or "any"
        parameters[i] = { types = alternatives(types), optional = parameter:find("%?:") ~= nil,
          rest = parameter:sub(1, 3) == "..." }
      end
      local results = {}
      for i, types in ipairs(split_types(returns)) do results[i] = alternatives(types)[1] end
      signatures[#signatures + 1] = { fn = fn, name = name, parameters = parameters,
        results = results }
    end
  end
  assert(#signatures >= 1500, "of the reference's signatures, " .. #signatures .. " were read")
end

-- The case: its bytes, and the results of calls so far, by type.
local bytes, at, kept

local function next_byte()
  at = at + 1
  return byte(bytes, at) or 0
end

local function keep(kind, value)
  if value == nil then return end
  local list = kept[kind]
  if not list then
    list = { next = 0 }
    kept[kind] = list
  end
  list[list.next + 1] = value
  list.next = (list.next + 1) % 24
end

local function number()
  local b = next_byte()
  if b < 160 then return NUMBERS[b % #NUMBERS + 1] end
  if b < 208 then return (next_byte() - 128) / 4 end
  return (next_byte() * 256 + next_byte()) * 2 ^ (next_byte() % 40 - 20)
end

local value

local MAKE = {
  number = number,
  integer = function() return floor(next_byte() / 4) end,
  string = function() return TEXTS[next_byte() % #TEXTS + 1] end,
  boolean = function() return next_byte() % 2 == 0 end,
  Vector2 = function() return Vector2(number(), number()) end,
  Vector3 = function() return Vector3(number(), number(), number()) end,
  Vector4 = function() return Vector4(number(), number(), number(), number()) end,
  Color = function() return Color(next_byte(), next_byte(), next_byte(), next_byte()) end,
  Quaternion = function() return Quaternion(Vector3(number(), number(), number()), number()) end,
  Matrix4x4 = function()
    local position = Vector3(number(), number(), number())
    if next_byte() % 2 == 0 then return Matrix4x4.from_translation(position) end
    local rotation = Quaternion(Vector3(1, 1, 0), number())
    local scale = Vector3(number(), number(), number())
    return Matrix4x4.from_quaternion_position_scale(rotation, position, scale)
  end,
  ["function"] = function() return function() return 1 end end,
  ["nil"] = function() return nil end,
  table = function()
    local made = {}
    for _ = 1, next_byte() % 4 do
      made[TEXTS[next_byte() % #TEXTS + 1]] = value("any")
      made[#made + 1] = value("any")
    end
    return made
  end,
}
local MADE = { "number", "string", "boolean", "Vector2", "Vector3", "Color", "table", "integer",
  "Quaternion", "Matrix4x4", "nil", "function", "Vector4" }

local KEPT = {}

function value(kind)
  local b = next_byte()
  -- A value of any other type, now and then.
  if b >= 244 then kind = MADE[b % #MADE + 1] elseif b >= 236 then kind = KEPT[b % #KEPT + 1] end
  local item = kind:match("^(.*)%[%]$")
  if item then
    local list = {}
    for i = 1, next_byte() % 6 do list[i] = value(item) end
    return list
  end
  local list = kept[kind]
  if list and #list > 0 then return list[b % #list + 1] end
  local make = MAKE[kind] or MAKE[MADE[b % #MADE + 1]]
  return make()
end

local function call(signature)
  local arguments, count = {}, 0
  for _, parameter in ipairs(signature.parameters) do
    local times = parameter.rest and next_byte() % 4 or 1
    if parameter.optional and next_byte() % 3 == 0 then times = 0 end
    for _ = 1, times do
      count = count + 1
      arguments[count] = value(parameter.types[next_byte() % #parameter.types + 1])
    end
  end
  local results = { pcall(signature.fn, unpack(arguments, 1, count)) }
  if not results[1] then return end
  for i, kind in ipairs(signature.results) do
    local result = results[i + 1]
    local item = kind:match("^(.*)%[%]$")
    if item and type(result) == "table" then
      for k = 1, math.min(#result, 4) do keep(item, result[k]) end
    elseif not MAKE[kind] and kind ~= "any" then
      keep(kind, result)
    end
  end
end

local function begin()
  begin_case()
  kept = {}
  local world = new_world()
  keep("World", world)
  keep("Gui", Application.main_gui())
  keep("Gui", World.create_screen_gui(world))
  keep("Unit", World.spawn_unit(world, "units/hero"))
  keep("Unit", World.spawn_unit(world, "units/physics/crate"))
  keep("Unit", World.spawn_unit(world, "models/chest"))
  keep("Camera", Application.main_camera())
  keep("PhysicsWorld", World.physics_world(world))
  keep("SoundWorld", World.sound_world(world))
  keep("Actor", Unit.actor(kept.Unit[2], 1))
  keep("Mesh", Unit.mesh(kept.Unit[3], 1))
  keep("Material", Material.new("pictures/wave"))
  keep("ParticleEffect", World.create_particles(world, "particles/torch"))
  keep("Tilemap", Tilemap.new("maps/cave"))
  keep("LineObject", World.create_line_object(world))
  for kind in pairs(kept) do KEPT[#KEPT + 1] = kind end
  table.sort(KEPT)
end

return {
  update = function()
    if #signatures == 0 then read_signatures() end
    bytes, at, KEPT = Application.data("binary", "data/bytes"), 0, {}
    begin()
    local calls = 0
    while at < #bytes and calls < 400 do
      calls = calls + 1
      local chosen = (next_byte() * 256 + next_byte()) % #signatures + 1
      call(signatures[chosen])
    end
    for _, world in ipairs(Application.worlds()) do pcall(World.update, world, 1 / 60) end
  end,
}
