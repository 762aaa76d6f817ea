-- What `engine check` plays in place of a game: spawns every unit, every model and every level of
-- the game, each in a world of its own for one frame, and says what went wrong. The game's main.lua
-- does not run.

local queue, next_one = {}, 1
local problems = {}

-- Runs a step of one resource's check; whether it went well.
local function try(thing, doing, fn, ...)
  local ok, words = pcall(fn, ...)
  if not ok then
    -- Where this file called what is of no use to anyone.
    words = tostring(words):gsub("^core/tools/check%.lua:%d+: ", "")
    words = words:gsub("^World%.spawn_%a+: ", "")
    problems[#problems + 1] = thing.name .. "." .. thing.kind .. ": " .. doing .. ": " .. words
    print(problems[#problems])
  end
  return ok, words
end

local function check(thing)
  local world = Application.new_world()
  local spawn = thing.kind == "level" and World.spawn_level or World.spawn_unit
  local ok, spawned = try(thing, "spawning it", spawn, world, thing.name)
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
  try(thing, "ending its world", Application.release_world, world)
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
  local thing = queue[next_one]
  if thing then
    next_one = next_one + 1
    check(thing)
    return
  end
  local counts = { unit = 0, model = 0, level = 0 }
  for _, it in ipairs(queue) do counts[it.kind] = counts[it.kind] + 1 end
  local words = "%d units, %d models and %d levels checked, %d problems"
  print(words:format(counts.unit, counts.model, counts.level, #problems))
  Application.quit(#problems > 0 and 1 or 0)
end
