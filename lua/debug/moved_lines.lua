-- Where the lines of a text are in a later version of it. Lines before the first change and after
-- the last one are known; a line in between is where its text is, or as far from the first change.
local core = ...

core.jit.off(true, true)

local min, gmatch, match = math.min, string.gmatch, string.match

local SEARCHED_MAX = 1000 -- lines before and after a changed one that are compared with it

-- Returns the lines of a text.
local function lines_of(text)
  local lines = {}
  for line in gmatch(text, "([^\n]*)\n?") do lines[#lines + 1] = line end
  return lines
end

-- Returns how many lines at the beginning and at the end of two texts are the same.
local function common(old, new)
  local most, head, tail = min(#old, #new), 0, 0
  while head < most and old[head + 1] == new[head + 1] do head = head + 1 end
  most = most - head
  while tail < most and old[#old - tail] == new[#new - tail] do tail = tail + 1 end
  return head, tail
end

-- Returns the line from `first` to `last` that has this text, the nearest of several; nil if there
-- is none near, or if the text has no words.
local function same_line(text, new, first, last, near)
  if not match(text, "%w") then return nil end
  for by = 0, SEARCHED_MAX do
    local above, below = near - by, near + by
    if above >= first and above <= last and new[above] == text then return above end
    if below >= first and below <= last and new[below] == text then return below end
  end
end

-- Returns a function that returns the line of a new text for one of an old text.
function core.moved_lines(old_text, new_text)
  local old, new = lines_of(old_text), lines_of(new_text)
  local head, tail = common(old, new)
  local moved = {}
  return function(line)
    if line <= head or line > #old or line % 1 ~= 0 then return line end
    if line > #old - tail then return line + #new - #old end
    if not moved[line] then
      local last = #new - tail
      local inside = min(line, last)
      moved[line] = same_line(old[line], new, head + 1, last, line) or inside > head and inside
        or head + 1
    end
    return moved[line]
  end
end
