-- Helpers for tests: the texts on the screen, and keys that are pressed and released.
local Ui = require "ui"
-- The test functions are globals only in test files. This is how a module gets them.
local test = require("busted").test

local Screen = {}

---Returns every text on the screen, with its position in units of ui.lua.
function Screen.texts()
  local texts = {}
  for _, object in ipairs(Gui.inspect(Ui.gui())) do
    if object.text then texts[#texts + 1] = object end
  end
  return texts
end

function Screen.contains(text)
  for _, object in ipairs(Screen.texts()) do
    if object.text:find(text, 1, true) then return true end
  end
  return false
end

---Taps a key, or a button of a pad such as "pad1:a".
function Screen.tap(button)
  test.input({ tap = button })
  test.frames(2)
end

---Holds a key for some frames, then waits a few frames until the step that it began is done.
function Screen.hold(button, frames)
  test.input({ press = button })
  test.frames(frames)
  test.input({ release = button })
  test.frames(1)
end

return Screen
