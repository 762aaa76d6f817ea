-- The coroutines in which a coroutine runs, for the debugger: each has resumed the next one.
local core = ...

core.jit.off(true, true)

local type, status = type, coroutine.status
local getinfo, getlocal, getupvalue = core.debug.getinfo, core.debug.getlocal, core.debug.getupvalue

local SLOTS_MAX = 10 -- values and upvalues of a function that are searched for a coroutine

-- Returns the coroutine that another one has resumed: its innermost function is that of
-- `coroutine.resume`, whose first value it is, or one of `coroutine.wrap`, which has it among its
-- upvalues (src/script/raise.c).
local function resumed_by(thread)
  local info = getinfo(thread, 0, "f")
  for n = 1, info and SLOTS_MAX or 0 do
    local name, value = getupvalue(info.func, n)
    if name == nil then break end
    if type(value) == "thread" then return value end
  end
  for n = 1, info and SLOTS_MAX or 0 do
    local name, value = getlocal(thread, 0, n)
    if name == nil then break end
    if type(value) == "thread" then return value end
  end
end

-- Returns the coroutines in which the running coroutine runs, the innermost first, without the main
-- one.
function core.coroutine_chain(thread)
  local resumer, all = {}, core.debug_coroutines(true)
  for i = 1, #all do
    local inner = status(all[i]) == "normal" and resumed_by(all[i])
    if inner then resumer[inner] = all[i] end
  end
  local chain, at = {}, resumer[thread]
  while at and #chain < #all do
    chain[#chain + 1], at = at, resumer[at]
  end
  return chain
end
