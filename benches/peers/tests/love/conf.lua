-- LÖVE without a window, for tests.
function love.conf(t)
  t.version = "11.4"
  local unused = {
    "audio", "graphics", "joystick", "keyboard", "mouse", "physics", "sound", "system", "touch",
    "video", "window",
  }
  for _, module in ipairs(unused) do t.modules[module] = false end
end
