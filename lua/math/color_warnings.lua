-- Warnings of colours whose parts are written from 0 to 1, as in other engines. A colour may be
-- dark on purpose, for example while it fades, so only a call that is written with such numbers
-- gets a warning, once for each line. In a release no source is known, and nothing is warned
-- about.
local core = ...

local tonumber, format, floor, min = tonumber, string.format, math.floor, math.min
local gmatch, match, sub, concat = string.gmatch, string.match, string.sub, table.concat

-- Number of suspicious colours that are looked at: a game may create them in every frame.
local CHECKS_MAX = 200

local checks = 0
local visited = {} -- locations that were looked at

-- Returns the text of the line of a location such as main.lua:12.
local function line_at(location)
  local file, number = match(location, "^(.*):(%d+)$")
  local line = 0
  number = tonumber(number)
  for text in gmatch(file and core.source(file) or "", "([^\n]*)\n?") do
    line = line + 1
    if line == number then return text end
  end
  return ""
end

-- Returns the numbers of a call such as (1, 0.5, 0), or nil if one of its arguments is no number.
local function numbers_of(call)
  local numbers = {}
  for argument in gmatch(sub(call, 2, -2), "[^,]+") do
    local number = tonumber(argument)
    if not number then return nil end
    numbers[#numbers + 1] = number
  end
  return numbers
end

local function parts_to_255(numbers)
  local parts = {}
  for i = 1, #numbers do parts[i] = floor(min(numbers[i], 1) * 255 + 0.5) end
  return concat(parts, ", ")
end

-- Returns what is wrong with a call that is written with these numbers, or nil.
local function message_of(numbers)
  local count = #numbers
  local all_small = true
  for i = 1, count do all_small = all_small and numbers[i] >= 0 and numbers[i] <= 1 end
  local written = "Color(" .. concat(numbers, ", ") .. ")"
  if all_small and count == 3 then
    return format("%s is nearly black: parts of colours go from 0 to 255, write Color(%s)", written,
      parts_to_255(numbers))
  elseif all_small then
    return format("%s is nearly invisible: parts of colours go from 0 to 255, and of four parts "
      .. "the first is the alpha", written)
  elseif count == 4 and numbers[1] > 0 and numbers[1] <= 1 then
    return format("%s is nearly invisible: the first of four parts is the alpha, from 0 to 255",
      written)
  elseif count == 4 and numbers[4] > 0 and numbers[4] < 1 then
    return format("%s: of four parts the first is the alpha, from 0 to 255: write "
      .. "Color.rgba(%s, %d)", written, concat(numbers, ", ", 1, 3), floor(numbers[4] * 255 + 0.5))
  end
end

-- Looks at the line that created a colour with these parts. `s` is nil for three of them.
function core.check_small_color(p, q, r, s)
  if checks == CHECKS_MAX then return end
  checks = checks + 1
  local location = core.location()
  if location == "" or visited[location] then return end
  visited[location] = true
  for call in gmatch(line_at(location), "Color%s*(%b())") do
    local numbers = numbers_of(call)
    local is_it = numbers and numbers[1] == p and numbers[2] == q and numbers[3] == r
      and numbers[4] == s
    local message = is_it and message_of(numbers)
    if message then
      core.warn_of_color(message)
      return
    end
  end
end
