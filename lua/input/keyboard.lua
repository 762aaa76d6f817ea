-- The Lua part of `Keyboard`: the list of what was typed, and the names of the keys in it. The
-- device itself is native (src/script/api/input/keyboard.rs).
local core = ...

local type = type
local bad_argument = core.bad_argument

---@class Keyboard
---@field BACKSPACE string "backspace", in `Keyboard.keystrokes`
---@field DELETE string "delete", in `Keyboard.keystrokes`
---@field ENTER string "enter", in `Keyboard.keystrokes`
---@field TAB string "tab", in `Keyboard.keystrokes`
---@field ESCAPE string "escape", in `Keyboard.keystrokes`
---@field INSERT string "insert", in `Keyboard.keystrokes`
---@field LEFT string "left", in `Keyboard.keystrokes`
---@field RIGHT string "right", in `Keyboard.keystrokes`
---@field UP string "up", in `Keyboard.keystrokes`
---@field DOWN string "down", in `Keyboard.keystrokes`
---@field HOME string "home", in `Keyboard.keystrokes`
---@field END string "end", in `Keyboard.keystrokes`
---@field PAGE_UP string "page up", in `Keyboard.keystrokes`
---@field PAGE_DOWN string "page down", in `Keyboard.keystrokes`
---@field F1 string "f1", in `Keyboard.keystrokes`
---@field F2 string "f2", in `Keyboard.keystrokes`
---@field F3 string "f3", in `Keyboard.keystrokes`
---@field F4 string "f4", in `Keyboard.keystrokes`
---@field F5 string "f5", in `Keyboard.keystrokes`
---@field F6 string "f6", in `Keyboard.keystrokes`
---@field F7 string "f7", in `Keyboard.keystrokes`
---@field F8 string "f8", in `Keyboard.keystrokes`
---@field F9 string "f9", in `Keyboard.keystrokes`
---@field F10 string "f10", in `Keyboard.keystrokes`
---@field F11 string "f11", in `Keyboard.keystrokes`
---@field F12 string "f12", in `Keyboard.keystrokes`
local Keyboard = core.module("Keyboard")

Keyboard.BACKSPACE = "backspace"
Keyboard.DELETE = "delete"
Keyboard.ENTER = "enter"
Keyboard.TAB = "tab"
Keyboard.ESCAPE = "escape"
Keyboard.INSERT = "insert"
Keyboard.LEFT = "left"
Keyboard.RIGHT = "right"
Keyboard.UP = "up"
Keyboard.DOWN = "down"
Keyboard.HOME = "home"
Keyboard.END = "end"
Keyboard.PAGE_UP = "page up"
Keyboard.PAGE_DOWN = "page down"
Keyboard.F1 = "f1"
Keyboard.F2 = "f2"
Keyboard.F3 = "f3"
Keyboard.F4 = "f4"
Keyboard.F5 = "f5"
Keyboard.F6 = "f6"
Keyboard.F7 = "f7"
Keyboard.F8 = "f8"
Keyboard.F9 = "f9"
Keyboard.F10 = "f10"
Keyboard.F11 = "f11"
Keyboard.F12 = "f12"

---Returns what was typed since the last frame, in order: each character as a string, and keys that
---edit text by their names ("backspace", "left", "enter": `Keyboard.BACKSPACE` and the other
---constants). Held keys repeat.
---@param into? string[] table to fill; a new one by default
---@return string[] strokes characters and names of keys
---@node query
function Keyboard.keystrokes(into)
  local strokes = core.keystrokes()
  if into == nil then return strokes end
  if type(into) ~= "table" then
    bad_argument("Keyboard.keystrokes", 1, "into", "table or nil", into)
  end
  for i = 1, #strokes do into[i] = strokes[i] end
  for i = #into, #strokes + 1, -1 do into[i] = nil end
  return into
end
