-- The user settings: the values that the player chose, on top of the defaults in settings.sjson.
local core = ...

local type, select, next, tonumber = type, select, next, tonumber
local format, concat, gmatch, sub = string.format, core.table.concat, string.gmatch, string.sub
local bad_argument, raise = core.bad_argument, core.raise
local no_reload = core.no_reload

local Application = core.module("Application")

local SETTING_VALUES_MAX = 65536 -- in one user setting

-- User settings are loaded on first use and written only by `save_user_settings`. Tables are copied
-- when they are passed in or returned, so a game that modifies such a table changes no setting.
local chosen, problem
local defaults
local set_aside = false -- true if the next save keeps a file that could not be read
local listeners = {} -- callbacks in order of registration: { name, fn }
local changes = {} -- settings set since the last frame: { path, value }

-- Whole numbers from 1 can be keys, as names can. A name that is written like such a number is that
-- number, because a file keeps them alike: the numbers 1, 2, 3 … as a list, and others as names:
-- { "7" = … }. Every key from a game or a file goes through `key_of`.

local INTEGER_MAX = 2 ^ 53 -- beyond it, numbers are not exact

-- Returns the number that a name stands for, or the name.
local function key_of(name)
  local number = type(name) == "string" and tonumber(name)
  if number and number >= 1 and number < INTEGER_MAX and format("%.0f", number) == name then
    return number
  end
  return name
end

-- Returns the name of a key, with all digits of a number.
local function name_of(key)
  return type(key) == "number" and format("%.0f", key) or key
end

-- Returns the names of a path, with dots between them.
local function dotted(path)
  local names = {}
  for i = 1, #path do names[i] = name_of(path[i]) end
  return concat(names, ".")
end

-- Returns a copy of a value that was read from a file, with numbers for names that stand for them.
local function from_file(value)
  if type(value) ~= "table" then return value end
  local result = {}
  for key, item in next, value do result[key_of(key)] = from_file(item) end
  return result
end

-- Returns a copy of a value for a file.
local function to_file(value)
  if type(value) ~= "table" then return value end
  local length, is_list, result = #value, true, {}
  for key in next, value do
    is_list = is_list and type(key) == "number" and key <= length
  end
  for key, item in next, value do
    result[is_list and key or name_of(key)] = to_file(item)
  end
  return result
end

local function load_settings()
  if chosen == nil then
    chosen, problem = core.load_user_settings()
    chosen = type(chosen) == "table" and from_file(chosen) or {}
    defaults = from_file(Application.settings().user_settings)
    if problem then
      set_aside = true
      core.log("warning", format("the saved user settings are not used: %s (the next save keeps "
        .. "that file as user_settings.broken.sjson)", problem))
    end
  end
end

-- Returns the keys of a path in the arguments of a call.
local function path_of(name, count, ...)
  if count < 1 then
    raise(name .. ": give at least one name")
  end
  local path = {}
  for i = 1, count do
    local key = select(i, ...)
    local is_index = type(key) == "number" and key >= 1 and key % 1 == 0 and key < INTEGER_MAX
    if type(key) ~= "string" and not is_index then
      bad_argument(name, i, "name", "a name, or a whole number from 1", key)
    elseif key == "" then
      raise(format("%s: argument #%d 'name' must not be empty", name, i))
    end
    path[i] = key_of(key)
  end
  return path
end

-- Returns the value at a path.
local function value_at(tree, path)
  for i = 1, #path do
    if type(tree) ~= "table" then return nil end
    tree = tree[path[i]]
  end
  return tree
end

local function copy(value)
  if type(value) ~= "table" then
    return value
  end
  local result = {}
  for key, item in next, value do
    result[key] = copy(item)
  end
  return result
end

-- Returns true if a table is keyed by names and is not a list. An empty table counts as either. A
-- table with names and numbers counts as keyed by names.
local function is_named(value)
  if type(value) ~= "table" then return false end
  if value[1] == nil then return true end
  for key in next, value do
    if type(key) == "string" then return true end
  end
  return false
end

-- Returns a copy of the chosen value, filled with the defaults where the value has no entry. Lists
-- are not merged: a chosen list replaces the default list.
local function merged(value, default)
  if value == nil then
    return copy(default)
  elseif not (is_named(value) and is_named(default)) then
    return copy(value)
  end
  local result = {}
  for key, item in next, default do
    result[key] = merged(value[key], item)
  end
  for key, item in next, value do
    if result[key] == nil then
      result[key] = copy(item)
    end
  end
  return result
end

---Returns the value that the player set, or the default from settings.sjson (`user_settings`), or
---nil. A table is returned as a copy, in which names that the player did not set have their
---defaults.
---@param ... string|integer the setting's name, or the path of names and indices that leads to it
---@return any value a boolean, number, string or table
function Application.user_setting(...)
  local path = path_of("Application.user_setting", select("#", ...), ...)
  load_settings()
  return merged(value_at(chosen, path), value_at(defaults, path))
end

-- Returns a deep copy of a value. Raises if it contains anything but plain data.
local function plain_copy(value, depth, read)
  local kind = type(value)
  read.count = read.count + 1
  if read.count > SETTING_VALUES_MAX then
    raise("Application.set_user_setting: there are more than " .. SETTING_VALUES_MAX
      .. " values (SETTING_VALUES_MAX; a table that is reached twice counts twice): keep large "
      .. "data in a save")
  elseif kind == "table" then
    if depth > 16 then
      raise("Application.set_user_setting: tables are nested more than 16 deep")
    end
    local result = {}
    for key, item in next, value do
      if type(key) ~= "string" and type(key) ~= "number" then
        raise("Application.set_user_setting: keys must be names or 1, 2, 3 …, got "
          .. core.describe(key))
      elseif type(key) == "number" and not (key >= 1 and key % 1 == 0 and key < INTEGER_MAX)
      then
        raise("Application.set_user_setting: a number that is a key must be whole and from 1, got "
          .. core.describe(key))
      end
      local kept = key_of(key)
      if result[kept] ~= nil then
        raise("Application.set_user_setting: a table has the key " .. name_of(kept) .. " twice, as "
          .. "a number and as a name, which are the same setting: remove one")
      end
      result[kept] = plain_copy(item, depth + 1, read)
    end
    return result
  elseif kind == "number" then
    if value ~= value or value == 1 / 0 or value == -1 / 0 then
      raise("Application.set_user_setting: a number must be finite, got " .. core.describe(value))
    end
  elseif kind ~= "nil" and kind ~= "boolean" and kind ~= "string" then
    raise("Application.set_user_setting: a setting is a boolean, number, string or table, got "
      .. core.describe(value))
  end
  return value
end

-- Stores a value in the chosen settings. A nil value creates no tables on the path to it.
local function store(value, path)
  local tree = chosen
  for i = 1, #path - 1 do
    local key = path[i]
    if type(tree[key]) ~= "table" then
      if value == nil then
        return
      end
      tree[key] = {}
    end
    tree = tree[key]
  end
  tree[path[#path]] = value
end

---Sets a user setting; nil restores the default. Callbacks run before the next `update`. A table is
---copied: later changes to the table change no setting. A name that is written like a whole number,
---such as "7", is that number.
---@param ... any the path of names and indices, then the value
function Application.set_user_setting(...)
  no_reload("Application.set_user_setting")
  local count = select("#", ...) - 1
  local path = path_of("Application.set_user_setting", count, ...)
  local value = plain_copy(select(count + 1, ...), 1, { count = 0 })
  load_settings()
  store(value, path)
  changes[#changes + 1] = {
    path = dotted(path), value = merged(value_at(chosen, path), value_at(defaults, path)),
  }
end

---Writes the user settings to the game's save folder. The write is atomic: after a crash, the file
---holds either the old or the new settings in full. A file that could not be read is kept as
---user_settings.broken.sjson.
---@return boolean|nil saved true, or nil if the file could not be written
---@return string|nil problem the reason
function Application.save_user_settings()
  no_reload("Application.save_user_settings")
  load_settings()
  local saved, why = core.save_user_settings(to_file(chosen), set_aside)
  set_aside = set_aside and not saved
  return saved, why
end

---Returns the reason why the saved user settings could not be read at startup, or nil. If the file
---could not be read, the defaults are used.
---@return string|nil problem the error in the file
---@node query
function Application.user_settings_load_error()
  load_settings()
  return problem
end

---Registers a callback that runs before the next `update` whenever a user setting changes.
---@param name string a setting or a parent path; "sound.volume" also reacts to a change of "sound"
---@param fn fun(name: string, value: any) receives the setting's full name and its current value
function Application.on_user_setting_changed(name, fn)
  no_reload("Application.on_user_setting_changed")
  if type(name) ~= "string" then
    bad_argument("Application.on_user_setting_changed", 1, "name", "string", name)
  elseif type(fn) ~= "function" then
    bad_argument("Application.on_user_setting_changed", 2, "fn", "function", fn)
  end
  listeners[#listeners + 1] = { name = name, fn = fn }
end

-- Returns true if the names in `path` begin with all names in `name`.
local function begins(path, name)
  return path == name or sub(path, 1, #name + 1) == name .. "."
end

local function notify(listener, path, value)
  core.with_context("When reporting a changed user setting:", path, listener.fn, path, copy(value))
end

-- Runs the callbacks of the changed settings.
core.on("frame_update", "user_settings", function()
  if #changes == 0 then
    return
  end
  local changed = changes
  changes = {}
  for i = 1, #changed do
    local change = changed[i]
    for k = 1, #listeners do
      local listener = listeners[k]
      if begins(change.path, listener.name) then
        notify(listener, change.path, change.value)
      elseif begins(listener.name, change.path) then
        -- The callback's setting is nested inside the setting that changed.
        local value = change.value
        for key in gmatch(sub(listener.name, #change.path + 2), "[^.]+") do
          value = value_at(value, { key_of(key) })
        end
        notify(listener, listener.name, value)
      end
    end
  end
end)
