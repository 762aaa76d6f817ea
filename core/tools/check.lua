-- The script that `engine check` runs instead of a game. It spawns units, models and levels of the
-- game, each in a separate world for one frame: those in the lines of its argument, such as
-- `units/rat.unit`, or all. The game's main.lua does not run. The results are in
-- `Application.get_data("engine", "check")`.

local queue, next_one = {}, 1
local problems, reported = {}, {}
local closing -- the resource that was checked last, whose world still exists

-- Runs a step of one resource's check. Returns true if it succeeded. A problem of a resource is
-- reported once, even if several steps fail with it.
local function run_step(resource, doing, fn, ...)
  local ok, message = pcall(fn, ...)
  if not ok then
    -- The positions in this file do not help the reader.
    message = tostring(message):gsub("^core/tools/check%.lua:%d+: ", "")
    message = message:gsub("^World%.[%a_]+: ", ""):gsub("^Application%.[%a_]+: ", "")
    local name = resource.name .. "." .. resource.kind .. ": "
    if not reported[name .. message] then
      reported[name .. message] = true
      problems[#problems + 1] = {
        resource = resource.name .. "." .. resource.kind, doing = doing, message = message,
      }
    end
  end
  return ok, message
end

-- The error of a level names the first unit that cannot be spawned. This reports the others.
local function check_units_of(level, world, message)
  local ok, count = pcall(LevelResource.num_units, level.name)
  local visited = {}
  for i = 1, ok and count or 0 do
    local unit = "unit '" .. LevelResource.unit_name(level.name, i) .. "'"
    local name = LevelResource.unit_resource(level.name, i)
    if not visited[name] and not message:find(unit, 1, true) then
      run_step(level, "spawning its " .. unit, World.spawn_unit, world, name)
    end
    visited[name] = true
  end
end

local function check(resource)
  local world = Application.new_world()
  local spawn = resource.kind == "level" and World.spawn_level or World.spawn_unit
  local ok, spawned = run_step(resource, "spawning it", spawn, world, resource.name)
  if not ok and resource.kind == "level" then check_units_of(resource, world, tostring(spawned)) end
  if ok then
    ok = run_step(resource, "its first frame", World.update, world, 1 / 60)
  end
  if ok then
    run_step(resource, "showing it", Application.render_world, world)
    if resource.kind == "level" then
      run_step(resource, "ending it", World.destroy_level, world, spawned)
    end
    if resource.kind ~= "level" and Unit.alive(spawned) then
      run_step(resource, "ending it", World.destroy_unit, world, spawned)
    end
  end
  closing = { resource = resource, world = world, tries = 0 }
end

-- Maximum number of attempts to release a world: a unit in it can fail to end in each frame.
local TRIES = 100

-- Releases the last world in the next frame: by then, a unit whose component failed has ended.
-- Returns true if no world is left.
local function close()
  if not closing then return true end
  closing.tries = closing.tries + 1
  local ok = not World.alive(closing.world)
    or run_step(closing.resource, "ending its world", Application.release_world, closing.world)
  if ok or closing.tries == TRIES then closing = nil end
  return closing == nil
end

local function store_results()
  local results = { problems = problems, unit = 0, model = 0, level = 0 }
  for _, it in ipairs(queue) do results[it.kind] = results[it.kind] + 1 end
  Application.set_data("engine", "check", results)
end

local function add_selected(list)
  for line in list:gmatch("[^\n]+") do
    local name, kind = line:match("^(.*)%.(%a+)$")
    if Application.can_get(kind, name) then
      queue[#queue + 1] = { kind = kind, name = name }
    end
  end
end

local function add_all()
  local units = {}
  for _, kind in ipairs({ "unit", "model", "level" }) do
    for _, name in ipairs(Application.resource_names(kind) or {}) do
      -- A unit file replaces the unit that is made from the model of the same name.
      if kind == "unit" then units[name] = true end
      if kind ~= "model" or not units[name] then
        queue[#queue + 1] = { kind = kind, name = name }
      end
    end
  end
end

function init()
  local list = Application.argv()
  if list then add_selected(list) else add_all() end
  store_results()
end

-- Checks one resource per frame, so that errors at the end of the frame are found too.
function update()
  if not close() then return end
  local resource = queue[next_one]
  if resource then
    next_one = next_one + 1
    check(resource)
    return
  end
  Application.quit()
end
