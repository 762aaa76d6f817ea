-- The environment inside workers: the modules available to a worker's module, and its execution.
-- The functions that the game calls are native.
local core = ...

local type, tostring, pairs = type, tostring, pairs
local rawset, setmetatable = rawset, setmetatable
local format, raise, describe = string.format, core.raise, core.describe
local globals = core.globals

local Worker = core.module("Worker")

-- Modules that are fully available in a worker, because they contain only values and data.
local FULL = {}
for name in ([[
  Color Float32Array IdString32 IdString64 Json Math Matrix4x4 Matrix4x4Box Quaternion QuaternionBox
  Utf8 Vector2 Vector2Box Vector3 Vector3Box Vector4 Vector4Box class
]]):gmatch("%S+") do
  FULL[name] = true
end

-- Functions of other modules that are available in a worker: they read the game's settings and
-- data, and exchange messages with the game.
local PARTIAL = {
  Application = [[
    argv build build_identifier can_get data delta_time frame_index platform process_id
    property_preference_order settings time_since_launch
  ]],
  Profiler = "start stop",
  Script = "callstack context index_offset memory sorted_pairs type_name warn",
  Worker = "parent receive send set_progress wait",
}

local function refuse(name)
  raise(format("%s cannot be used in a worker, which has only values and data: send what it needs "
    .. "to the game (Worker.send(Worker.parent(), …)), and call it there", name))
end

local function make_closed_module(name)
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

local function make_partial_module(name, module, list)
  local part = make_closed_module(name)
  for key in list:gmatch("%S+") do
    rawset(part, key, module[key])
  end
  return part
end

-- Removes everything that is not available in a worker. Runs last, when the whole API is loaded.
function core.close_off()
  -- A worker keeps the code that it started with.
  core.reloader.recording, core.reloader.is_worker = false, true
  for name, value in pairs(core.api) do
    if not FULL[name] then
      local replacement
      if type(value) == "function" then
        replacement = function()
          refuse(name)
        end
      elseif PARTIAL[name] then
        replacement = make_partial_module(name, value, PARTIAL[name])
      else
        replacement = make_closed_module(name)
      end
      rawset(globals, name, replacement)
    end
  end
end

-- Runs a worker's module, which must return the function to execute. Returns a message if the
-- worker failed without an error of the module itself.
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
