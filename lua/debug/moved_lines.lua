-- Where the lines of a text are in a later version of it. Lines before the first change and after
-- the last one are known; a line in between is where its text is, or as far from the first change.
local core = ...

core.jit.off(true, true)

local min, gmatch, match = math.min, string.gmatch, string.match

local SEARCHED_MAX = 1000 -- lines before and after a changed one that are compared with it
local NEIGHBOURS_MAX = 10 -- lines before and after two equal lines that are compared

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

-- Returns how many lines before and after one of the old text and one of the new text are the same.
local function agreement(old, line, new, at)
  local before, after = 0, 0
  while before < NEIGHBOURS_MAX and line - before > 1
    and old[line - before - 1] == new[at - before - 1] do
    before = before + 1
  end
  while after < NEIGHBOURS_MAX and line + after < #old
    and old[line + after + 1] == new[at + after + 1] do
    after = after + 1
  end
  return before + after
end

-- Returns the line from `first` to `last` of the new text that has the text of an old line: of
-- several, the one with the most neighbours of the old one, then the nearest. Returns nil if there
-- is none near, or if the text has no words.
local function same_line(old, line, new, first, last)
  local text = old[line]
  if not match(text, "%w") then return nil end
  local best, most = nil, -1
  for by = 0, SEARCHED_MAX do
    for at = line - by, line + by, by > 0 and 2 * by or 1 do
      if at >= first and at <= last and new[at] == text then
        local same = agreement(old, line, new, at)
        if same > most then best, most = at, same end
      end
    end
    if most == 2 * NEIGHBOURS_MAX then break end
  end
  return best
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
      moved[line] = same_line(old, line, new, head + 1, last) or inside > head and inside
        or head + 1
    end
    return moved[line]
  end
end
