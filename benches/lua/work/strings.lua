-- c1: text: formats 1,000 lines, parses them with match and gsub, and joins them.

local NAMES = { "barrel", "crate", "door", "lamp", "player" }

return function()
  local lines, sum = {}, 0
  for i = 1, 1000 do
    local name = NAMES[i % #NAMES + 1]
    local line = string.format("unit %s_%d at %.2f, %.2f", name, i % 50, i * 0.25, i * 0.5)
    local word, number = line:match("^unit (%a+)_(%d+)")
    sum = sum + #word + tonumber(number)
    lines[i] = line:gsub("%d+", "#", 2):upper():sub(1, 20)
  end
  local text = table.concat(lines, "\n")
  local _, count = text:gsub("BARREL", "box")
  return sum + #text + count + (text:find("PLAYER", 1, true) or 0)
end
