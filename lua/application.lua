-- `Application`, its part in Lua: the game's user settings, and data that any file can reach.
local core = ...

local type, select, next = type, select, next
local format, concat, gmatch, sub = string.format, core.table.concat, string.gmatch, string.sub
local bad_argument, raise = core.bad_argument, core.raise
local no_reload = core.no_reload

local Application = core.module("Application")

local SETTING_VALUES_MAX = 65536 -- of one user setting

-- User settings: what the player chose, above the defaults of settings.sjson. Read when first asked
-- for, written only by save_user_settings. Tables are copied on their way in and out, so that what
-- a game does to one changes no setting.
local chosen, problem
local defaults
local set_aside = false -- whether the next save keeps a file that could not be read
local listeners = {} -- in order: { name, fn }
local changes = {} -- what was set since the last frame: { path, value }

local function load_settings()
  if chosen == nil then
    chosen, problem = core.load_user_settings()
    if type(chosen) ~= "table" then
      chosen = {}
    end
    defaults = Application.settings().user_settings
    if problem then
      set_aside = true
      core.log("warning", format("the saved user settings are not used: %s (the next save keeps "
        .. "that file as user_settings.broken.sjson)", problem))
    end
  end
end

local function check_keys(name, count, ...)
  if count < 1 then
    raise(name .. ": give at least one name")
  end
  for i = 1, count do
    local key = select(i, ...)
    if type(key) ~= "string" then
      bad_argument(name, i, "name", "string", key)
    elseif key == "" then
      raise(format("%s: argument #%d 'name' must not be empty", name, i))
    end
  end
end

local function look(tree, count, ...)
  for i = 1, count do
    if type(tree) ~= "table" then
      return nil
    end
    tree = tree[(select(i, ...))]
  end
  return tree
end

local function copy(value)
  if type(value) ~= "table" then
    return value
  end
  local made = {}
  for key, item in next, value do
    made[key] = copy(item)
  end
  return made
end

-- Whether a table has names as keys and is no list. An empty one may be either.
local function is_named(value)
  return type(value) == "table" and value[1] == nil
end

-- A copy of what was chosen, with the defaults where it says nothing. A list stands as a whole.
local function merged(value, default)
  if value == nil then
    return copy(default)
  elseif not (is_named(value) and is_named(default)) then
    return copy(value)
  end
  local made = {}
  for key, item in next, default do
    made[key] = merged(value[key], item)
  end
  for key, item in next, value do
    if made[key] == nil then
      made[key] = copy(item)
    end
  end
  return made
end

---What the player set, or the default of settings.sjson (`user_settings`), or nil. A table is a
---copy, in which names that the player did not set have their defaults.
---@param ... string the setting's name, or the names that lead to it
---@return any value a boolean, number, string or table
function Application.user_setting(...)
  local count = select("#", ...)
  check_keys("Application.user_setting", count, ...)
  load_settings()
  return merged(look(chosen, count, ...), look(defaults, count, ...))
end

-- A copy of a value, which must be plain.
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
    local made = {}
    for key, item in next, value do
      if type(key) ~= "string" and type(key) ~= "number" then
        raise("Application.set_user_setting: keys must be names or 1, 2, 3 …, got "
          .. core.describe(key))
      end
      made[key] = plain_copy(item, depth + 1, read)
    end
    return made
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

-- Puts a value into what was chosen. Nil makes no table on its way: there is nothing to hold.
local function put(value, count, ...)
  local tree = chosen
  for i = 1, count - 1 do
    local key = select(i, ...)
    if type(tree[key]) ~= "table" then
      if value == nil then
        return
      end
      tree[key] = {}
    end
    tree = tree[key]
  end
  tree[(select(count, ...))] = value
end

---Sets a user setting; nil brings back the default. Listeners hear of it before the next `update`.
---A table is copied: what is done to it later changes no setting.
---@param ... any the names that lead to it, then the value
function Application.set_user_setting(...)
  no_reload("Application.set_user_setting")
  local count = select("#", ...) - 1
  check_keys("Application.set_user_setting", count, ...)
  local value = plain_copy(select(count + 1, ...), 1, { count = 0 })
  load_settings()
  put(value, count, ...)
  changes[#changes + 1] = {
    path = concat({ ... }, ".", 1, count),
    value = merged(look(chosen, count, ...), look(defaults, count, ...)),
  }
end

---Writes the user settings to the game's save folder, so that a crash at any moment leaves the old
---or the new ones whole. A file that could not be read is kept as user_settings.broken.sjson.
---@return boolean|nil saved true, or nil where the disk refused
---@return string|nil problem why
function Application.save_user_settings(...)
  no_reload("Application.save_user_settings")
  if select("#", ...) > 0 then
    raise("Application.save_user_settings: takes no arguments")
  end
  load_settings()
  local saved, why = core.save_user_settings(chosen, set_aside)
  set_aside = set_aside and not saved
  return saved, why
end

---Why the saved user settings could not be read at the start, or nil. The defaults hold then.
---@return string|nil problem what is wrong with the file
function Application.user_settings_load_error(...)
  if select("#", ...) > 0 then
    raise("Application.user_settings_load_error: takes no arguments")
  end
  load_settings()
  return problem
end

---Calls a function before the next `update` whenever a user setting changes.
---@param name string a setting ("sound.volume" hears that "sound" is set, too), or how names begin
---@param fn fun(name: string, value: any) gets the setting's whole name and what holds now
function Application.on_user_setting_changed(name, fn)
  no_reload("Application.on_user_setting_changed")
  if type(name) ~= "string" then
    bad_argument("Application.on_user_setting_changed", 1, "name", "string", name)
  elseif type(fn) ~= "function" then
    bad_argument("Application.on_user_setting_changed", 2, "fn", "function", fn)
  end
  listeners[#listeners + 1] = { name = name, fn = fn }
end

-- Whether the names of `path` begin with all of those of `name`.
local function begins(path, name)
  return path == name or sub(path, 1, #name + 1) == name .. "."
end

local function tell(listener, path, value)
  core.with_context("When telling of a changed user setting:", path, listener.fn, path, copy(value))
end

-- Tells the listeners what changed; the frame calls it.
function core.tell_changes()
  if #changes == 0 then
    return
  end
  local told = changes
  changes = {}
  for i = 1, #told do
    local change = told[i]
    for k = 1, #listeners do
      local listener = listeners[k]
      if begins(change.path, listener.name) then
        tell(listener, change.path, change.value)
      elseif begins(listener.name, change.path) then
        -- What it listens to is inside of what was set.
        local value = change.value
        for key in gmatch(sub(listener.name, #change.path + 2), "[^.]+") do
          value = look(value, 1, key)
        end
        tell(listener, listener.name, value)
      end
    end
  end
end

-- Data by nested keys, for code that has no better place to share a value.
local data = {}

local function check_data_keys(name, count, ...)
  if count < 1 then
    raise(name .. ": give at least one key")
  end
  for i = 1, count do
    local key = select(i, ...)
    if type(key) ~= "string" and type(key) ~= "number" then
      bad_argument(name, i, "key", "string or number", key)
    end
  end
end

---Keeps a value under one or more keys, for any file to read.
---@param ... any the keys, then the value; nil removes it
function Application.set_data(...)
  no_reload("Application.set_data")
  local count = select("#", ...) - 1
  check_data_keys("Application.set_data", count, ...)
  local tree = data
  for i = 1, count - 1 do
    local key = select(i, ...)
    if tree[key] == nil then
      tree[key] = {}
    elseif type(tree[key]) ~= "table" then
      raise(format("Application.set_data: there is a value at key #%d, so nothing can be inside",
        i))
    end
    tree = tree[key]
  end
  tree[(select(count, ...))] = (select(count + 1, ...))
end

---The value under the keys, or nil.
---@param ... string|number the keys
---@return any value what was set
function Application.get_data(...)
  local count = select("#", ...)
  check_data_keys("Application.get_data", count, ...)
  return look(data, count, ...)
end

---Whether there is a value under the keys.
---@param ... string|number the keys
---@return boolean there true where get_data gives something
function Application.has_data(...)
  local count = select("#", ...)
  check_data_keys("Application.has_data", count, ...)
  return look(data, count, ...) ~= nil
end
