-- `require "lfs"` for suites without the sandbox: an implementation of LuaFileSystem according to
-- its manual, because the engine loads no C modules. `lock` and `unlock` are missing, because they
-- need the files of C's own library. Disk access is native (core.disk_about and similar functions).
local core = ...

local type, error, tostring, next, setmetatable = type, error, tostring, next, setmetatable
local format, time = string.format, os.time
local remove_file = os.remove

core.test.kit.own(core.debug.getinfo(1, "S").source)

local LOCK = "lockfile.lfs" -- the file that locks a folder

local lfs = {
  _VERSION = "LuaFileSystem 1.8.0",
  _DESCRIPTION = "LuaFileSystem's functions, implemented for engine test",
}

-- Checks a string argument, with the messages of Lua's own library. Numbers are accepted as
-- strings.
local function text(name, index, value)
  if type(value) == "number" then
    return tostring(value)
  elseif type(value) ~= "string" then
    error(format("bad argument #%d to '%s' (string expected, got %s)", index, name,
      value == nil and "no value" or type(value)), 3)
  end
  return value
end

local function number(name, index, value, default)
  if value == nil then
    return default
  elseif type(value) ~= "number" then
    error(format("bad argument #%d to '%s' (number expected, got %s)", index, name, type(value)), 3)
  end
  return value
end

-- Returns all attributes, or the single one named by `wanted`, or all of them in the table
-- `wanted`.
local function read_attributes(path, wanted, follow)
  local attributes, message, code = core.disk_about(path, follow)
  if not attributes then
    return nil, format("cannot obtain information from file '%s': %s", path, message), code
  elseif not follow and attributes.mode == "link" then
    attributes.target = core.disk_target(path)
  end
  if type(wanted) == "string" then
    local fact = attributes[wanted]
    if fact == nil and (follow or wanted ~= "target") then
      error("invalid attribute name '" .. wanted .. "'", 2) -- 2: a tail call replaced the caller
    end
    return fact
  elseif type(wanted) == "table" then
    for key, fact in next, attributes do
      wanted[key] = fact
    end
    return wanted
  end
  return attributes
end

function lfs.attributes(path, wanted)
  return read_attributes(text("attributes", 1, path), wanted, true)
end

function lfs.symlinkattributes(path, wanted)
  return read_attributes(text("symlinkattributes", 1, path), wanted, false)
end

local Folder = {}
Folder.__index = Folder

function Folder:next()
  if not self.names then
    error("closed directory", 2)
  end
  self.at = self.at + 1
  local name = self.names[self.at]
  if name == nil then
    self.names = nil
  end
  return name
end

function Folder:close()
  self.names = nil
end

function lfs.dir(path)
  path = text("dir", 1, path)
  local found, message = core.disk_names(path)
  if not found then
    error(format("cannot open %s: %s", path, message), 2)
  end
  local names = { ".", ".." }
  for i = 1, #found do
    names[i + 2] = found[i]
  end
  return Folder.next, setmetatable({ names = names, at = 0 }, Folder)
end

function lfs.mkdir(path)
  return core.disk_make(text("mkdir", 1, path))
end

function lfs.rmdir(path)
  return core.disk_remove(text("rmdir", 1, path))
end

function lfs.currentdir()
  return core.disk_here()
end

function lfs.chdir(path)
  path = text("chdir", 1, path)
  local done, message = core.disk_enter(path)
  if not done then
    return nil, format("Unable to change working directory to '%s'\n%s\n", path, message)
  end
  return done
end

function lfs.touch(path, access, modification)
  path = text("touch", 1, path)
  access = number("touch", 2, access, time())
  modification = number("touch", 3, modification, access)
  return core.disk_touch(path, access, modification)
end

function lfs.link(old, new, symbolic)
  return core.disk_link(text("link", 1, old), text("link", 2, new), symbolic and true or false)
end

-- Sets nothing, because binary and text modes are the same where lines end in one byte.
function lfs.setmode(_, mode)
  if mode ~= "binary" and mode ~= "text" then
    error(format("bad argument #2 to 'setmode' (invalid option '%s')", tostring(mode)), 2)
  end
  return true, "binary"
end

local Lock = {}
Lock.__index = Lock

function Lock:free()
  if self.path then
    remove_file(self.path)
    self.path = nil
  end
end

-- Creates a lock as a dangling link, because creating a link fails atomically if the link already
-- exists.
function lfs.lock_dir(path, stale_seconds)
  local file = text("lock_dir", 1, path) .. "/" .. LOCK
  stale_seconds = number("lock_dir", 2, stale_seconds)
  local done, message = core.disk_link("lock", file, true)
  if not done and stale_seconds then
    local about = core.disk_about(file, false)
    if about and time() - about.modification > stale_seconds then
      remove_file(file)
      done, message = core.disk_link("lock", file, true)
    end
  end
  if not done then
    return nil, message
  end
  return setmetatable({ path = file }, Lock)
end

core.stand_ins.lfs = lfs
