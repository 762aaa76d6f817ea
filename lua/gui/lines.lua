-- `Gui` lines: options of lines. The functions that draw them are native: their rows are in
-- src/script/api/gui/rows.rs.
local core = ...

local ffi, raise = core.ffi, core.raise
local type, next, format, abs = type, next, string.format, math.abs
local shared = core.drawing

local FLOAT_MAX = 3.4028234663852886e38 -- the largest float of 32 bits

-- Style of a line in the layout that native code reads (StrokeFloats in
-- src/script/api/gui/arguments.rs).
local DASHES_AT, DASHES_MAX = 5, 16
local stroke = ffi.new("float[?]", DASHES_AT + DASHES_MAX)
local JOINS = { round = 0, miter = 1, bevel = 2 }
local CAPS = { butt = 0, round = 1, square = 2 }

local function is_length(value)
  return type(value) == "number" and value >= 0 and value < 1e9
end

-- Writes the lengths of dashes and gaps.
local function put_dashes(lengths)
  local sum = 0
  for i = 1, #lengths do
    if not is_length(lengths[i]) then return false end
    stroke[DASHES_AT + i - 1] = lengths[i]
    sum = sum + lengths[i]
  end
  stroke[4] = #lengths
  return sum > 0
end

-- Options of a line, by name. Each function writes its option, or returns a description of the
-- valid values.
local options_known = {
  join = function(value)
    if not JOINS[value] then return '"round", "miter" or "bevel"' end
    stroke[0] = JOINS[value]
  end,
  cap = function(value)
    if not CAPS[value] then return '"butt", "round" or "square"' end
    stroke[1] = CAPS[value]
  end,
  miter_limit = function(value)
    if not is_length(value) or value < 1 then return "a number, 1 or more" end
    stroke[2] = value
  end,
  dash_offset = function(value)
    -- NaN fails the comparison, too.
    if type(value) ~= "number" or not (abs(value) <= FLOAT_MAX) then
      return "a finite number of at most 3.4e38"
    end
    stroke[3] = value
  end,
  dash = function(value)
    local lengths = type(value) == "table" and value or { value }
    if #lengths < 1 or #lengths > DASHES_MAX or not put_dashes(lengths) then
      return "a length above 0, or a list of up to " .. DASHES_MAX .. " lengths of dashes and gaps"
    end
  end,
}

-- Fills the style from the options. Returns it for native code, or nil without options.
function shared.stroke_of(name, index, argument, options)
  if options == nil then return nil end
  core.check_options(name, index, argument, options, options_known)
  stroke[0], stroke[1], stroke[2], stroke[3], stroke[4] = 0, -1, 4, 0, 0
  for key, value in next, options do
    local wanted = options_known[key](value)
    if wanted then
      raise(format("%s: argument #%d '%s': '%s' must be %s, got %s", name, index, argument, key,
        wanted, core.describe(value)))
    end
  end
  return stroke
end
