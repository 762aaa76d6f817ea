-- Line editor: applies keystrokes and characters to a line, which is stored as the text before its
-- cursor and the text after it. Used by the console and by the fields of `DebugUi`; it does not
-- depend on a window.
local core = ...

local sub, byte = string.sub, string.byte

-- Returns the number of bytes of a text's last character. `first_bytes` does so for the first one.
local function last_bytes(text)
  for bytes = 1, #text do
    local first = byte(text, #text - bytes + 1)
    if first < 128 or first >= 192 then return bytes end
  end
  return 0
end

local function first_bytes(text)
  for bytes = 1, #text do
    local following = byte(text, bytes + 1)
    if not following or following < 128 or following >= 192 then return bytes end
  end
  return 0
end

local edits = {
  backspace = function(before, after)
    return sub(before, 1, #before - last_bytes(before)), after
  end,
  delete = function(before, after)
    return before, sub(after, first_bytes(after) + 1)
  end,
  left = function(before, after)
    local bytes = last_bytes(before)
    return sub(before, 1, #before - bytes), sub(before, #before - bytes + 1) .. after
  end,
  right = function(before, after)
    local bytes = first_bytes(after)
    return before .. sub(after, 1, bytes), sub(after, bytes + 1)
  end,
  home = function(before, after) return "", before .. after end,
  ["end"] = function(before, after) return before .. after, "" end,
}

-- Applies a keystroke (`Keyboard.keystrokes`) to a line of at most `most` bytes. Returns the text
-- before the cursor and the text after it. Other keystrokes leave the line unchanged.
function core.type_into(before, after, stroke, most)
  local edit = edits[stroke]
  if edit then return edit(before, after) end
  -- A single character. Names of keys are longer, and consist of ASCII letters.
  local character = #stroke == 1 and byte(stroke) >= 32 or byte(stroke) >= 192
  if character and #before + #after + #stroke <= most then return before .. stroke, after end
  return before, after
end

-- Returns the longest common prefix of all strings.
function core.common_prefix(strings)
  local common = strings[1] or ""
  for i = 2, #strings do
    while sub(strings[i], 1, #common) ~= common do
      common = sub(common, 1, #common - last_bytes(common))
    end
  end
  return common
end
