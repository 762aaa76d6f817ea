-- Boots the prelude in PUC Lua 5.1 and runs one test suite, for the study of the Web. Arguments:
-- the root of the tree, the file with the names of native functions, the file with the names of
-- the prelude's files, and the suite's path. Instead of the path: "boot" for the boot alone,
-- "speed" for the workloads, "syntax" for the scripts that 5.1 cannot read, whose paths are then in
-- the file of names. Writes one line for each result: kind, name, reason.
local root, natives_path, files_path, suite = unpack(arg)
local format, sub, gsub = string.format, string.sub, string.gsub
local match, find = string.match, string.find
local io, clock, collectgarbage = io, os.clock, collectgarbage
local started = clock()

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read("*a")
  file:close()
  return text
end

local function line(...)
  local parts = { ... }
  for i = 1, #parts do parts[i] = sub(gsub(tostring(parts[i]), "[\t\n]+", " "), 1, 300) end
  io.stdout:write(table.concat(parts, "\t"), "\n")
end

if suite == "speed" then
  package.path = root .. "/benches/lua/?.lua;" .. root .. "/benches/peers/script/?.lua"
  dofile(root .. "/packaging/web/speed.lua")
  return
elseif suite == "syntax" then
  for path in read(files_path):gmatch("[^\n]+") do
    local text = gsub(read(root .. "/" .. path), "^#[^\n]*", "")
    local chunk, problem = loadstring(text, "@" .. path)
    if not chunk then line("syntax", problem) end
  end
  return
end

-- LuaJIT's functions that 5.1 lacks, or has in another form ---------------------------------------

local loadstring_51, setfenv_51 = loadstring, setfenv
local function load_text(text, name, _, env)
  local chunk, problem = loadstring_51(text, name)
  if chunk and env then setfenv_51(chunk, env) end
  return chunk, problem
end
load = load_text

function table.move(from, first, last, to, target)
  target = target or from
  if to <= first or to > last or target ~= from then
    for i = 0, last - first do target[to + i] = from[first + i] end
  else
    for i = last - first, 0, -1 do target[to + i] = from[first + i] end
  end
  return target
end

local rep, log = string.rep, math.log
function string.rep(text, count, separator)
  if not separator or separator == "" or count < 2 then return rep(text, count) end
  return rep(text .. separator, count - 1) .. text
end
function math.log(x, base) return base and log(x) / log(base) or log(x) end
function coroutine.isyieldable() return coroutine.running() ~= nil end

jit = { version = "none", os = "Other", arch = "wasm32", off = function() end, on = function() end,
  opt = { start = function() end }, status = function() return false end, flush = function() end }
package.preload["table.new"] = function() return function() return {} end end
package.preload["table.clear"] = function()
  return function(t) for key in next, t do t[key] = nil end end
end
for _, name in pairs({ "jit.util", "jit.profile", "string.buffer" }) do
  package.preload[name] = function()
    return setmetatable({}, {
      __index = function(_, key) error("[LuaJIT] " .. name .. "." .. key, 0) end,
    })
  end
end

local ffi = require("ffi")
setmetatable(ffi, { __index = function(_, name) error("[LuaJIT] ffi." .. name, 0) end })

-- Native functions --------------------------------------------------------------------------------

-- Every native function exists, and raises an error with its name.
local core = {}
for module, name in read(natives_path):gmatch("(%S+) (%S+)\n") do
  local home = core
  if module ~= "core" then
    home = rawget(_G, module) or {}
    rawset(_G, module, home)
  end
  home[name] = function() error("[native] " .. module .. "." .. name, 0) end
end

local errors = {}
local function nothing() end
local function itself(value) return value end
local function no() return false end

core.note_ctype = function() return true end
core.note_source, core.note_loaded, core.stop_collector = nothing, nothing, nothing
core.is_interruption, core.has_captured_errors = no, function() return #errors > 0 end
core.has_native_stack = function() return true end
core.memory_used = function() return collectgarbage("count") * 1024, 0 end
core.load_chunk = function(text, name, env) return load_text(text, name, "t", env) end
core.keep_contexts = itself
core.contexts = function() return {} end
core.contexts_of = nothing
core.nearest, core.absent, core.warn, core.handle_kind, core.described_handle =
  nothing, nothing, nothing, nothing, nothing
core.clock = os.time
core.keep_frames = nothing
local function no_text() return "" end
core.hint, core.syntax_hint, core.remedy = no_text, no_text, no_text
core.log = function(level, text) if level == "error" then errors[#errors + 1] = text end end
core.take_errors = function()
  local taken = errors
  errors = {}
  return taken
end
core.match_limit = function() return math.huge end
core.match = function(subject, pattern, init)
  local found = { pcall(find, subject, pattern, init) }
  if not found[1] then return false, found[2] end
  return unpack(found, 2, table.maxn(found))
end
core.find_plain = function(text, needle, init) return (find(text, needle, init, true)) end
core.make_resume = function(resume) return resume end
core.make_wrapped = function(resume, note, _, thread)
  return function(...)
    local function results(ok, ...)
      if ok then return ... end
      note(thread, (...))
      error((...), 0)
    end
    return results(resume(thread, ...))
  end
end
local function is_engine(source) return sub(source, 1, 9) == "=[engine]" end
core.location = function()
  for level = 2, 60 do
    local info = debug.getinfo(level, "Sl")
    if not info then return "" end
    if info.currentline > 0 and not is_engine(info.source) then
      return sub(info.source, 2) .. ":" .. info.currentline
    end
  end
  return ""
end
core.read_script = function(name)
  local path = gsub(name, "%.", "/") .. ".lua"
  for _, folder in ipairs({ "/tests/lua/", "/core/", "/" }) do
    local text = read(root .. folder .. path)
    if text then return { chunk = path, text = text } end
  end
  return { missing = "there is no module '" .. name .. "'" }
end
core.load_script, core.scripts_can_change = nothing, no
core.count_calls = nothing

-- Boot --------------------------------------------------------------------------------------------

local options = { sandbox = true, jit = false, coverage = false, deterministic = true,
  worker = false, tests = true }
local booted, failed = 0, 0
local announced = suite == "boot"
for name in read(files_path):gmatch("%S+") do
  local text = read(root .. "/lua/" .. name .. ".lua")
  local chunk, problem = loadstring_51(text, "=[engine] " .. name)
  local ok = false
  if name == "boot/sandbox" then
    -- The events of files that did not boot have no handlers.
    local seal = core.seal_events
    core.seal_events = function() pcall(seal) end
  end
  if chunk then ok, problem = pcall(chunk, core, options) end
  if ok then
    booted = booted + 1
  else
    failed = failed + 1
    if announced then line("boot", "lua/" .. name .. ".lua", problem) end
  end
end
if announced then
  line("booted", booted, failed, format("%.1f", (clock() - started) * 1000))
  return
end

-- The suite ---------------------------------------------------------------------------------------

-- The engine opens the folder of the suites, so its messages have paths below it.
local path = match(suite, "([^/]*)$")
local ok, problem = pcall(function()
  core.test_load(path, read(root .. "/" .. suite))
  core.test_begin({ filter = {}, filter_out = {} })
end)
if not ok then return line("crash", path, problem) end
local answer
while true do
  local ok, event = pcall(core.test_step, answer)
  answer = nil
  if not ok then return line("crash", path, event) end
  if event == nil then break end
  if event == "passed" then
    line("passed")
  elseif event.kind == "test" then
    line(event.status == "success" and "passed" or event.status, event.name,
      tostring(event.message) .. " " .. tostring(event.difference or ""))
  elseif event.kind == "request" then
    answer = "[native] test." .. tostring(event.request)
  elseif event.kind == "done" then
    break
  else
    line("outside", event.name or "", event.message)
  end
end
