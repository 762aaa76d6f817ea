-- Coverage measurement. For `--api-coverage`, counts the calls of the engine's functions that are
-- written in Lua; functions written in Rust are counted by the dispatcher and by their fast
-- versions. For `--coverage`, finds the executable lines of a script, which native code counts.
local core = ...

local type, next = type, next
local sort, gsub = table.sort, string.gsub
local load_chunk, native_require = core.load_chunk, require
local getinfo = core.debug.getinfo

local counts = {} -- by full name: { parameters, calls, returned }

-- Wraps a function with a counter. Calls that have not returned are counted as errors. Nothing is
-- caught, so stacks and yields do not change.
local function counted(fn, count)
  local function returned(...)
    count.returned = count.returned + 1
    return ...
  end
  return function(...)
    count.calls = count.calls + 1
    return returned(fn(...))
  end
end

local function is_prelude(fn)
  local source = getinfo(fn, "S").source
  return source:sub(1, 10) == "=[engine] " and source ~= "=[engine] twins"
end

---Starts counting. Called once, when the API is complete.
function core.count_calls()
  for module_name, module in next, core.api do
    if type(module) == "table" then
      for _, name in next, core.names(module) do
        local fn = module[name]
        if type(fn) == "function" and is_prelude(fn) then
          local about = getinfo(fn, "u")
          local parameters = about.nparams + (about.isvararg and 1 or 0)
          local count = { parameters = parameters, calls = 0, returned = 0 }
          counts[module_name .. "." .. name] = count
          module[name] = counted(fn, count)
        end
      end
    end
  end
end

---Returns a list of { name, parameters, calls, errors }.
function core.calls_counted()
  local list = {}
  for _, name in next, core.names(counts) do
    local count = counts[name]
    list[#list + 1] = {
      name = name,
      parameters = count.parameters,
      calls = count.calls,
      errors = count.calls - count.returned,
    }
  end
  return list
end

-- Adds the lines of a function and its nested functions, from the compiler's own tables.
local function add_lines(lines, fn, util)
  local about = util.funcinfo(fn)
  for pc = 1, about.bytecodes - 1 do
    local line = util.funcinfo(fn, pc).currentline
    if line and line > 0 then
      lines[line] = true
    end
  end
  local index = -1
  local constant = util.funck(fn, index)
  while constant ~= nil do
    if type(constant) == "proto" then
      add_lines(lines, constant, util)
    end
    index = index - 1
    constant = util.funck(fn, index)
  end
end

---Returns the executable lines of a script, in order; an empty list if its text does not compile.
---Pass the file's `text` for scripts loaded by Lua's own `require`, because their text is not
---recorded.
function core.active_lines(path, text)
  text = core.source(path) or text
  local chunk = text and load_chunk((gsub(text, "^#[^\n]*", "")), "@" .. path)
  local lines, list = {}, {}
  if chunk then
    add_lines(lines, chunk, native_require("jit.util"))
  end
  for line in next, lines do
    list[#list + 1] = line
  end
  sort(list)
  return list
end
