-- Short effects: shots, bursts, the light of a beetle that fell. As with the crowd, each field is
-- an array, and the last effect takes the place of one that ends.
local Effects = {}

Effects.MOST = 600 -- more would not be noticed

-- The duration of each kind, in seconds.
Effects.SECONDS = { bolt = 0.14, chill = 0.55, shell = 0.55, burst = 0.45, fall = 0.4, harm = 0.6 }

---@class Effects
---@field count integer
---@field kind string[]
---@field x number[]
---@field y number[]
---@field to_x number[] the target of a bolt or a shell; for others, a size
---@field to_y number[]
---@field age number[] from 0 to 1

---@return Effects
function Effects.new()
  return { count = 0, kind = {}, x = {}, y = {}, to_x = {}, to_y = {}, age = {} }
end

function Effects.add(effects, kind, x, y, to_x, to_y)
  if effects.count == Effects.MOST then return end
  local i = effects.count + 1
  effects.count, effects.kind[i], effects.x[i], effects.y[i] = i, kind, x, y
  effects.to_x[i], effects.to_y[i], effects.age[i] = to_x or 0, to_y or 0, 0
end

---@param effects Effects
---@param dt number
function Effects.update(effects, dt)
  local kind, x, y, to_x, to_y, age = effects.kind, effects.x, effects.y, effects.to_x,
    effects.to_y, effects.age
  for i = effects.count, 1, -1 do
    age[i] = age[i] + dt / Effects.SECONDS[kind[i]]
    if age[i] >= 1 then
      local last = effects.count
      kind[i], x[i], y[i], to_x[i], to_y[i], age[i] =
        kind[last], x[last], y[last], to_x[last], to_y[last], age[last]
      effects.count = last - 1
    end
  end
end

return Effects
