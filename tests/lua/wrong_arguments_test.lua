-- Suite of functions with one argument or none: a wrong one is refused by name.

local REFUSED = {
  { "BlendShape.names", BlendShape.names, "x" },
  { "Camera.orthographic_scale", Camera.orthographic_scale, "x" },
  { "Camera.orthographic_size", Camera.orthographic_size, "x" },
  { "Image.bytes", Image.bytes, "x" },
  { "Image.capture", Image.capture, "x" },
  { "Image.copy", Image.copy, "x" },
  { "Image.size", Image.size, "x" },
  { "Keyboard.held", Keyboard.held, {} },
  { "Mouse.held", Mouse.held, {} },
  { "TouchPanel.held", TouchPanel.held, {} },
  { "SoundBuffer.channels", SoundBuffer.channels, "x" },
  { "SoundBuffer.frames", SoundBuffer.frames, "x" },
  { "SoundBuffer.sample_rate", SoundBuffer.sample_rate, "x" },
  { "Unit.animation_names", Unit.animation_names, "x" },
  { "Unit.agent", Unit.agent, "x" },
  { "Unit.has_animation_blender", Unit.has_animation_blender, "x" },
  { "Unit.has_animation_state_machine", Unit.has_animation_state_machine, "x" },
  { "Unit.is_ragdoll", Unit.is_ragdoll, "x" },
  { "Unit.ragdoll_bones", Unit.ragdoll_bones, "x" },
  { "Unit.ragdoll_side", Unit.ragdoll_side, "x" },
  { "Unit.has_skeleton", Unit.has_skeleton, "x" },
  { "Unit.skeleton_layer", Unit.skeleton_layer, "x" },
  { "Unit.skeleton_skin", Unit.skeleton_skin, "x" },
  { "Unit.skeleton_skins", Unit.skeleton_skins, "x" },
  { "Unit.skeleton_slots", Unit.skeleton_slots, "x" },
  { "Unit.skeleton_tint", Unit.skeleton_tint, "x" },
  { "World.animation_events", World.animation_events, "x" },
  { "World.main_camera", World.main_camera, "x" },
  { "Application.flow_callback_return_event", Application.flow_callback_return_event, "x" },
  { "Flow.has_graph", Flow.has_graph, "x" },
  { "Flow.inspect", Flow.inspect, "x" },
  { "Level.flow_variable", Level.flow_variable, "x" },
  { "Level.set_flow_variable", Level.set_flow_variable, "x" },
  { "Level.trigger_event", Level.trigger_event, "x" },
  { "Unit.flow_event", Unit.flow_event, "x" },
  { "Unit.flow_variable", Unit.flow_variable, "x" },
  { "Unit.has_flow_event", Unit.has_flow_event, "x" },
  { "Unit.set_flow_variable", Unit.set_flow_variable, "x" },
}
for i = 1, 8 do
  local name = "Pad" .. i
  REFUSED[#REFUSED + 1] = { name .. ".held", _G[name].held, {} }
end

describe("a wrong argument", function()
  it("is refused by the function's name", function()
    for _, case in ipairs(REFUSED) do
      local name, call, argument = case[1], case[2], case[3]
      local ok, message = pcall(call, argument)
      assert.is_false(ok, name)
      assert.is_true(tostring(message):find(name, 1, true) ~= nil, tostring(message))
    end
  end)

  it("is refused after the last one that a function takes", function()
    local ok, message = pcall(Script.describe, 1, 2)
    assert.is_false(ok)
    assert.is_true(message:find("Script.describe: takes 1 argument, got 2", 1, true) ~= nil,
      message)
  end)
end)
