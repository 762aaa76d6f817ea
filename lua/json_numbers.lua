-- Numbers of JSON that `tonumber` does not read. The rest of JSON is in json.lua.
local core = ...

local tonumber = tonumber
local byte, sub, concat = string.byte, string.sub, table.concat
local huge, min = math.huge, math.min

-- More digits than these change a double only by being there.
local DIGITS_MAX = 800
-- Exponents beyond this lead to infinity or to 0, whatever stands before them.
local EXPONENT_MAX = 1e9
-- Powers of ten of the first digit, above and below which there is no double but infinity and 0.
local SCALE_MAX, SCALE_MIN = 310, -345

-- The value of a number of JSON's grammar that `tonumber` gives up on, for it has a million digits,
-- or its exponent is beyond a million.
function core.read_long_number(text)
  local digits, count, rest = {}, 0, false -- the significant ones; whether others follow
  local scale, behind_point = 0, false -- the power of ten of the first digit
  local i, b = 1, byte(text, 1)
  local negative = b == 45
  if negative then i, b = 2, byte(text, 2) end
  while b and b ~= 101 and b ~= 69 do
    if b == 46 then
      behind_point = true
    else
      if count > 0 then
        if not behind_point then scale = scale + 1 end
      elseif behind_point then
        scale = scale - 1
      end
      if count == DIGITS_MAX then
        rest = rest or b ~= 48
      elseif count > 0 or b ~= 48 then
        count = count + 1
        digits[count] = sub(text, i, i)
      end
    end
    i = i + 1
    b = byte(text, i)
  end
  if count == 0 then return negative and -0 or 0 end
  if b then
    local exponent, sign = 0, 1
    for at = i + 1, #text do
      b = byte(text, at)
      if b == 45 then sign = -1 end
      if b >= 48 then exponent = min(exponent * 10 + (b - 48), EXPONENT_MAX) end
    end
    scale = scale + sign * exponent
  end
  local value = huge
  if scale < SCALE_MIN then
    value = 0
  elseif scale <= SCALE_MAX then
    value = tonumber(digits[1] .. "." .. concat(digits, "", 2, count) .. (rest and "1" or "")
      .. "e" .. scale)
  end
  return negative and -value or value
end
