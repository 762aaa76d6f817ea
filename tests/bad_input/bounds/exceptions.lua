-- How the walk knows an error of a limit that does not contain the limit's name, and what the walk
-- does not reach.
local M = {}

-- Texts of the errors that do not contain the limit's name, by limit or by function.
M.words = {
  ACTIONS_MAX = "at most 1000 actions", ADDRESS_BYTES_MAX = "is the most",
  BINDINGS_MAX = "at most 32 bindings", BUDGET_STEPS_MAX = "more than 100,000,000 steps",
  BYTES_MAX = "64 MiB", CLIPBOARD_BYTES_MAX = "at most 16 MiB",
  DEPTH_MAX = "more than 512 arrays", HISTORY_FRAMES_MAX = "from 1 to 256",
  ITEMS_MAX = "67,108,864", LOAD_BYTES_MAX = "more than 16777216 bytes",
  SENT_BYTES_MAX = "are the most: send it", SIZE_MAX = "the limit is 67108864",
  STRING_BYTES_MAX = "a string may have", TIMERS_MAX = "timers are waiting",
  TWEENS_MAX = "tweens are moving", IMAGE_SIDE_MAX = "may have 256 a side",
  ["Gui.polygon"] = "to 4096 points", ["Gui.polyline"] = "to 4096 points",
  ["Gui.polygon_uv"] = "to 4096 points", ["Gui.update_polygon"] = "to 4096 points",
  ["Gui.update_polygon_uv"] = "to 4096 points", ["Gui.update_polyline"] = "to 4096 points",
}

-- Limits that this walk does not exceed, and functions that do not reach their limit.
M.untried = {
  -- Limits typed lines only: arguments that a script passes to the function itself are not counted.
  ARGUMENTS_MAX = true,
  -- Nothing is drawn in the walk, and this is reported before captures are counted.
  CAPTURES_MAX = true,
  -- This many vertices take more than 2 GiB, and limits.engine_memory_mib refuses them first.
  VERTICES_MAX = true,
  -- The walk's game has no render config, and so no generators.
  ["Renderer.run_resource_generator"] = true,
  -- Devices without motors play no rumble effects, and the walk has no device with motors.
  ["Keyboard.rumble_effect"] = true, ["Mouse.rumble_effect"] = true,
  ["Pad1.rumble_effect"] = true, ["TouchPanel.rumble_effect"] = true,
  -- The function has no limit on the text's length, and looks up each letter: 4 MiB take a fifth of
  -- a second.
  ["Gui.has_all_glyphs"] = true,
  -- The map of the walk is small, and none of its objects names a unit.
  OUTLINE_EDGES_MAX = true, ["Tilemap.spawn_units"] = true,
  -- The event ends with an error in the log, and the call returns (src/system/flow/tests.rs).
  NODES_PER_EVENT_MAX = true,
  -- The camera exists before the walk creates as many cameras as possible.
  ["World.main_camera"] = true,
}

return M
