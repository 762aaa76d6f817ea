-- Parser of JSON numbers that `tonumber` does not read. The rest of JSON is in json.lua.
local core = ...

local tonumber = tonumber
local byte, sub, concat = string.byte, string.sub, table.concat
local huge, min = math.huge, math.min

-- Limit of significant digits. More digits change a double only by being non-zero.
local DIGITS_MAX = 800
-- Limit of exponents. Larger exponents lead to infinity or 0, whatever the digits are.
local EXPONENT_MAX = 1e9
-- Range of the first digit's power of ten. Outside this range, the double is infinity or 0.
local SCALE_MAX, SCALE_MIN = 310, -345

-- Returns the value of a valid JSON number that `tonumber` rejects because it has a million digits,
-- or because its exponent is beyond a million.
function core.read_long_number(text)
  local digits, count, rest = {}, 0, false -- the significant digits; true if others follow
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
