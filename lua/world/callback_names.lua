-- The check of the names of script components' functions, which finds typing errors.
local core = ...

local type, ipairs, format = type, ipairs, string.format
local byte, sub, reverse, min = string.byte, string.sub, string.reverse, math.min

-- Component functions that the engine calls.
local CALLBACKS = { "spawned", "unspawned", "update", "inspect", "on_animation_event" }

-- Returns true if a text differs from a name by one typing error: an extra, missing or wrong
-- letter, or two letters swapped.
local function is_typo(text, name)
  local first, last = 1, 0
  while byte(text, first) == byte(name, first) and first <= #text do first = first + 1 end
  while last <= min(#text, #name) - first and byte(text, #text - last) == byte(name, #name - last)
  do
    last = last + 1
  end
  local a, b = sub(text, first, #text - last), sub(name, first, #name - last)
  return text ~= name and (#a <= 1 and #b <= 1 or #a == 2 and a == reverse(b))
end

-- Reports functions of a script component whose name is almost a name in `CALLBACKS`: the engine
-- would never call such a function, and no error would appear. Each name is reported once. In
-- `engine check`, the report is an error.
function core.check_callback_names(kind)
  local module, reported = kind.module, kind.reported or {}
  kind.reported = reported
  for _, callback in ipairs(core.names(module)) do
    for _, name in ipairs(CALLBACKS) do
      if is_typo(callback, name) and module[name] == nil and type(module[callback]) == "function"
        and not reported[callback] then
        reported[callback] = true
        core.log(core.booted == "tools.check" and "error" or "warning", format("components/%s.lua: "
          .. "the function '%s' is never called by the engine: did you mean '%s'?", kind.name,
          callback, name))
      end
    end
  end
end
