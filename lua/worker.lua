-- Workers, from inside: what a module that runs in one can use, and how it is run. What the game
-- calls is native.
local core = ...

local type, tostring, pairs = type, tostring, pairs
local rawset, setmetatable = rawset, setmetatable
local format, raise, describe = string.format, core.raise, core.describe
local globals = core.globals

local Worker = core.module("Worker")

-- Modules that a worker has whole: values and data alone.
local whole = {}
for name in ([[
  Color Float32Array IdString32 IdString64 Json Math Matrix4x4 Matrix4x4Box Quaternion QuaternionBox
  Utf8 Vector2 Vector2Box Vector3 Vector3Box Vector4 Vector4Box class
]]):gmatch("%S+") do
  whole[name] = true
end

-- What it has of others: reading what the game was given, and speaking with the game.
local some = {
  Application = [[
    argv build build_identifier can_get data delta_time frame_index platform process_id
    property_preference_order settings time_since_launch
  ]],
  Profiler = "start stop",
  Script = "callstack context index_offset memory sorted_pairs type_name warn",
  Worker = "parent receive send set_progress wait",
}

local function refuse(name)
  raise(format("%s cannot be used in a worker, which has values and data alone: send what it takes "
    .. "to the game (Worker.send(Worker.parent(), …)), and call it there", name))
end

local function closed(name)
  return setmetatable({}, {
    __index = function(_, key)
      refuse(name .. "." .. tostring(key))
    end,
    __newindex = function(_, key)
      refuse(name .. "." .. tostring(key))
    end,
    __call = function()
      refuse(name)
    end,
    __metatable = "module",
  })
end

local function opened_in_part(name, module, list)
  local part = closed(name)
  for key in list:gmatch("%S+") do
    rawset(part, key, module[key])
  end
  return part
end

-- Takes everything away that a worker cannot have. Runs last, when all of the API is known.
function core.close_off()
  -- A worker goes on with the code that it began with.
  core.reloader.recording = false
  for name, value in pairs(core.api) do
    if not whole[name] then
      local put
      if type(value) == "function" then
        put = function()
          refuse(name)
        end
      elseif some[name] then
        put = opened_in_part(name, value, some[name])
      else
        put = closed(name)
      end
      rawset(globals, name, put)
    end
  end
end

-- Runs a worker's module, which must return the function that does the work. Gives words where the
-- worker failed without an error of the module's own.
function core.run_worker(name)
  local work = core.require(name)
  if type(work) ~= "function" then
    return format("the module '%s' of a worker must return a function, which gets the worker's "
      .. "data, got %s", name, describe(work))
  end
  local result = work(Worker.receive(Worker.parent()))
  local problem = core.finish_worker(result)
  return problem and format("what the worker's function returned %s", problem)
end
