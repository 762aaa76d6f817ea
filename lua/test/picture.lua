-- Rendering checks for tests: the draw calls of a frame, as the renderer would submit them, and
-- screenshots, which are compared with files next to the suite. The text form of Guis is
-- `Gui.inspect`.
local core = ...

local type, error, next, find = type, error, next, string.find

local kit = core.test.kit
local engine_test, request = kit.engine_test, kit.request
kit.own(core.debug.getinfo(1, "S").source)

---Returns the draw calls of the last frame that ran. Those of worlds come first, as tables with
---`world`, `pass` ("solid", "blended", "particles", "sun shadow", "spot shadow", "omni shadow";
---those of spots and omni lights only if they are drawn again), `what` ("mesh", "sprite",
---"tilemap", "particles"), `name`, `part`, `unit`, `material` (names, nil if the drawn
---objects differ) and `count` (number of instances). Those of Guis follow, as tables with `gui`,
---`layer`, `count` (quadrilaterals), `material` and `texture` (numbers of the renderer) and `name`
---(of a texture that is not in the shared atlas).
---@return table[] draws one table for each
function engine_test.draws()
  return core.draws()
end

---Returns the number of draw calls in the last frame that ran.
---@return integer count draw calls
function engine_test.draw_calls()
  return #core.draws()
end

local OPTIONS = { picture = "boolean", tolerance = "number" }
local TOLERANCE_MAX = 255

local function check_options(options)
  if type(options) ~= "table" then
    error("test.screenshot: argument #2 'options' must be table, got " .. core.describe(options), 3)
  end
  for key, value in next, options do
    local kind = OPTIONS[key]
    if not kind then
      local near = type(key) == "string" and core.suggest(key, core.names(OPTIONS))
      error("test.screenshot: argument #2 'options' has the unknown option "
        .. core.describe(key) .. (near and ", did you mean '" .. near .. "'?" or ""), 3)
    elseif type(value) ~= kind then
      error("test.screenshot: '" .. key .. "' must be " .. kind .. ", got "
        .. core.describe(value), 3)
    end
  end
  local tolerance = options.tolerance
  if tolerance and not (tolerance >= 0 and tolerance <= TOLERANCE_MAX) then
    error("test.screenshot: 'tolerance' must be from 0 to " .. TOLERANCE_MAX .. ", got "
      .. core.describe(tolerance), 3)
  end
end

---Compares the last frame that ran with an approved reference. Fails if they differ. The reference
---is next to the suite: for `hud_test.lua` in `hud_test.golden`, as a list of draw calls or, with
---`picture = true`, as an image rendered by the software adapter. The option `--update-golden` of
---`engine test` writes it. Images are compared in blocks of 8 x 8 pixels, whose bytes may differ
---by `tolerance` on average (6). A machine without such an adapter skips the test.
---@param name string the file's name: letters, digits, `_` and `-`
---@param options? table `picture`: true or false; `tolerance`: from 0 to 255
function engine_test.screenshot(name, options)
  if type(name) ~= "string" or not find(name, "^[%w_%-]+$") then
    error("test.screenshot: argument #1 'name' must be of letters, digits, '_' and '-', got "
      .. core.describe(name), 2)
  end
  options = options == nil and {} or options
  check_options(options)
  kit.settle(request("screenshot", { screenshot = name, picture = options.picture,
    tolerance = options.tolerance }))
end
