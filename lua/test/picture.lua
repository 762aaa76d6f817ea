-- What a test can see of the picture: the draw calls of a frame, as the renderer would make them.
-- What Guis show in words is `Gui.inspect`.
local core = ...

local kit = core.test.kit
local engine_test = kit.engine_test
kit.own(core.debug.getinfo(1, "S").source)

---The draw calls of the last frame that was played, in their order: tables with `gui`, `layer`,
---`count` (quadrilaterals), `material` and `texture` (numbers of the renderer's).
---@return table[] draws one table for each
function engine_test.draws()
  return core.draws()
end

---How many draw calls the last frame that was played made.
---@return integer count draw calls
function engine_test.draw_calls()
  return #core.draws()
end
