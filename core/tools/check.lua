-- What `engine check` plays in place of a game: spawns every unit, every model and every level of
-- the game, each in a world of its own for one frame, and says what went wrong. The game's main.lua
-- does not run.

local queue, next_one = {}, 1
local problems, told = {}, {}
local closing -- what was checked last, whose world is still there

-- Runs a step of one resource's check; whether it went well. What a thing fails with is told once,
-- though it comes in another step again.
local function try(thing, doing, fn, ...)
  local ok, words = pcall(fn, ...)
  if not ok then
    -- Where this file called what is of no use to anyone.
    words = tostring(words):gsub("^core/tools/check%.lua:%d+: ", "")
    words = words:gsub("^World%.[%a_]+: ", ""):gsub("^Application%.[%a_]+: ", "")
    local name = thing.name .. "." .. thing.kind .. ": "
    if not told[name .. words] then
      told[name .. words] = true
      local problem = name .. doing .. ": " .. words
      problems[#problems + 1] = problem
      print(problem)
    end
  end
  return ok, words
end

-- A level that cannot be spawned tells of its first unit that cannot: this tells of the others.
local function check_units_of(level, world, words)
  local fine, count = pcall(LevelResource.num_units, level.name)
  local seen = {}
  for i = 1, fine and count or 0 do
    local unit = "unit '" .. LevelResource.unit_name(level.name, i) .. "'"
    local name = LevelResource.unit_resource(level.name, i)
    if not seen[name] and not words:find(unit, 1, true) then
      try(level, "spawning its " .. unit, World.spawn_unit, world, name)
    end
    seen[name] = true
  end
end

local function check(thing)
  local world = Application.new_world()
  local spawn = thing.kind == "level" and World.spawn_level or World.spawn_unit
  local ok, spawned = try(thing, "spawning it", spawn, world, thing.name)
  if not ok and thing.kind == "level" then check_units_of(thing, world, tostring(spawned)) end
  if ok then
    ok = try(thing, "its first frame", World.update, world, 1 / 60)
  end
  if ok then
    try(thing, "showing it", Application.render_world, world)
    if thing.kind == "level" then try(thing, "ending it", World.destroy_level, world, spawned) end
    if thing.kind ~= "level" and Unit.alive(spawned) then
      try(thing, "ending it", World.destroy_unit, world, spawned)
    end
  end
  closing = { thing = thing, world = world, tries = 0 }
end

-- How often the end of a world is tried: a unit of it can fail to end in each frame.
local TRIES = 100

-- Ends the last world, in the frame after its own: a unit whose component failed has ended by then.
-- Whether there is none left.
local function close()
  if not closing then return true end
  closing.tries = closing.tries + 1
  local ok = not World.alive(closing.world)
    or try(closing.thing, "ending its world", Application.release_world, closing.world)
  if ok or closing.tries == TRIES then closing = nil end
  return closing == nil
end

function init()
  local units = {}
  for _, kind in ipairs({ "unit", "model", "level" }) do
    for _, name in ipairs(Application.resource_names(kind) or {}) do
      -- A unit file of the same name stands in the place of the unit that a model is.
      if kind == "unit" then units[name] = true end
      if kind ~= "model" or not units[name] then
        queue[#queue + 1] = { kind = kind, name = name }
      end
    end
  end
end

-- One resource in each frame, so that what the engine does with it at the frame's end is seen too.
function update()
  if not close() then return end
  local thing = queue[next_one]
  if thing then
    next_one = next_one + 1
    check(thing)
    return
  end
  local counts = { unit = 0, model = 0, level = 0 }
  for _, it in ipairs(queue) do counts[it.kind] = counts[it.kind] + 1 end
  local function many(count, word) return count .. " " .. word .. (count == 1 and "" or "s") end
  print(("%s, %s and %s checked, %s"):format(many(counts.unit, "unit"), many(counts.model, "model"),
    many(counts.level, "level"), many(#problems, "problem")))
  Application.quit(#problems > 0 and 1 or 0)
end
