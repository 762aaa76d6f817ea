-- What goes beyond the limits of functions where no extreme argument of the walk does, so that each
-- limit is met once.
local fixtures = require("fixtures")

local M = {}

-- So many usual calls in a row.
M.times = {
  ["Application.create_camera"] = 1025, ["Application.new_world"] = 65,
  ["Application.resource_package"] = 4097, ["Gui.push"] = 65, ["Gui.push_clip"] = 65,
  ["Material.new"] = 4097, ["PhysicsWorld.snapshot"] = 65, ["Timer.after"] = 100001,
  ["Timer.every"] = 100001, ["Tween.to"] = 100001, wait = 100001, wait_frames = 100001,
  ["Window.open"] = 9, ["World.create_line_object"] = 1025,
}

-- What ends the results of such calls, where the world that they are in does not.
M.enders = {
  ["Application.create_camera"] = Application.destroy_camera,
  ["Application.resource_package"] = Application.release_resource_package,
  ["Material.new"] = Material.destroy, ["Window.open"] = Window.close,
  ["World.create_line_object"] = function(object)
    World.destroy_line_object(fixtures.get("World"), object)
  end,
}

local function distinct(count, make)
  return function()
    for i = 1, count do make("walk" .. i, i) end
  end
end

-- So many things, which are ended again.
local function filled(count, make, ender)
  return function()
    local made = {}
    local fine, problem = pcall(function()
      for i = 1, count do made[i] = make(i) end
    end)
    for i = 1, #made do ender(made[i]) end
    if not fine then error(problem, 0) end
  end
end

local function end_gui(gui) World.destroy_gui(fixtures.get("World"), gui) end

-- 96 MiB, where data may have 64.
local third
local function giant()
  third = third or ("x"):rep(2 ^ 25)
  return { third, third, third }
end
local function long() return ("x"):rep(2 ^ 22 + 1) end
local function categories(count)
  local names = {}
  for i = 1, count do names[i] = "walk" .. i end
  return names
end

-- Functions that do it.
M.calls = {
  ["Application.console_send"] = function()
    Application.console_send({ type = "walk", text = long() })
  end,
  ["Application.create_viewport"] = filled(65, function(i)
    return Application.create_viewport("walk" .. i, 8, 8)
  end, Application.destroy_viewport),
  ["Broadphase.new"] = filled(257, function() return Broadphase.new(1) end, Broadphase.destroy),
  ["Tilemap.new"] = filled(1025, function() return Tilemap.new("maps/cave") end, Tilemap.destroy),
  ["World.create_screen_gui"] = filled(1025, function()
    return World.create_screen_gui(fixtures.get("World"))
  end, end_gui),
  ["World.create_world_gui"] = filled(1025, function()
    return World.create_world_gui(fixtures.get("World"), Matrix4x4(), 1, 1)
  end, end_gui),
  ["Application.hash"] = function() Application.hash(giant()) end,
  ["Application.open_url_in_browser"] = function()
    Application.open_url_in_browser("https://a.b/" .. long())
  end,
  ["Application.set_property_preference_order"] = function()
    Application.set_property_preference_order(unpack(categories(100)))
  end,
  ["Broadphase.query"] = distinct(33, function(name, i)
    Broadphase.add(fixtures.get("Broadphase"), i, Vector3(0, 0, 0), 1, name)
  end),
  ["Sound.start_clock"] = distinct(17, function(name) Sound.start_clock(name, 120) end),
  ["Stats.watch"] = distinct(1025, function(name)
    Stats.counter(name)
    Stats.watch(name)
  end),
  ["Unit.create_actor"] = distinct(1025, function(name)
    Unit.create_actor(fixtures.get("Unit"), name, { shape = "sphere", radius = 1, type = "static" })
  end),
  ["Input.rebind"] = function() Input.rebind("jump", categories(40)) end,
  ["Input.set_actions"] = function()
    local actions = {}
    for i = 1, 1001 do actions["walk" .. i] = { "space" } end
    Input.set_actions(actions)
  end,
  ["Save.write"] = function() Save.write("walk", giant()) end,
  ["Save.write_async"] = function() Save.write_async("walk", giant()) end,
  ["Window.set_clipboard"] = function() Window.set_clipboard(("x"):rep(2 ^ 24 + 1)) end,
  ["Worker.send"] = function() Worker.send(fixtures.get("Worker"), giant()) end,
  ["World.create_texture_gui"] = distinct(1025, function(name)
    World.create_texture_gui(fixtures.get("World"), name, 1, 1)
  end),
  load = function() assert(load(("x"):rep(2 ^ 24 + 1))) end,
  loadstring = function() assert(loadstring(("x"):rep(2 ^ 24 + 1))) end,
}
for _, name in ipairs({ "query_box", "query_frustum", "query_ray" }) do
  M.calls["Broadphase." .. name] = M.calls["Broadphase.query"]
end
for _, name in ipairs({ "text_extents", "has_all_glyphs", "word_wrap", "text", "text_3d" }) do
  M.calls["Gui." .. name] = function()
    local gui = fixtures.get("Gui")
    if name == "text" then
      Gui.text(gui, long(), nil, 16, nil, Vector3(0, 0, 0))
    elseif name == "text_3d" then
      Gui.text_3d(gui, long(), nil, 16, nil, Matrix4x4(), Vector3(0, 0, 0), 1)
    elseif name == "word_wrap" then
      Gui.word_wrap(gui, long(), nil, 16, 100)
    else
      Gui[name](gui, long(), nil, 16)
    end
  end
end

-- Words of the errors that do not say the limit's name.
M.words = {
  ACTIONS_MAX = "at most 1000 actions", ADDRESS_BYTES_MAX = "is the most",
  BINDINGS_MAX = "at most 32 bindings", BYTES_MAX = "64 MiB",
  CLIPBOARD_BYTES_MAX = "at most 16 MiB", DEPTH_MAX = "more than 512 arrays",
  ITEMS_MAX = "67,108,864", LOAD_BYTES_MAX = "more than 16777216 bytes",
  SENT_BYTES_MAX = "are the most: send it", SIZE_MAX = "the limit is 67108864",
  STRING_BYTES_MAX = "a string may have", TIMERS_MAX = "timers are waiting",
  TWEENS_MAX = "tweens are moving",
}

-- Limits that this walk does not go beyond: what does is left out or cut without an error; or what
-- was made stays for the run; or they are so high that it would take long; or they need several
-- calls of different functions.
M.untried = {
  ALARMS_MAX = true, ARGUMENTS_MAX = true, BUDGET_STEPS_MAX = true, CAPTURES_MAX = true,
  COUNTERS_MAX = true, EFFECTS_MAX = true, ENTRIES_MAX = true, HISTORY_FRAMES_MAX = true,
  HITS_MAX = true, INSTANCES_MAX = true, JOINTS_MAX = true, LINES_MAX = true,
  PARAMETERS_MAX = true, PICTURE_SIDE_MAX = true, POINTS_MAX = true, SCOPES_MAX = true,
  STEPS_MAX = true, TEXTURES_MAX = true, TRIES_MAX = true, UNITS_MAX = true, VERTICES_MAX = true,
  VIEWS_MAX = true, VOICES_MAX = true, WORDS_MAX = true, WORKERS_MAX = true,
  ["Application.set_resource_property_preference_order"] = true,
  ["Float32Array.interleave"] = true, ["Float32Array.push"] = true, ["Gui.material"] = true,
  ["Gui.has_all_glyphs"] = true, ["Gui.update_text"] = true, ["Gui.update_text_3d"] = true,
  ["Json.decode"] = true, ["Json.encode"] = true, ["Json.try_decode"] = true,
  ["string.rep"] = true, ["table.concat"] = true,
}

return M
