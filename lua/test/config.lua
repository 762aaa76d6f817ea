-- Reads the settings of a library's `.busted` file, and selects the files that match its patterns.
-- It reads no files and runs no tests: the native driver does both with these results.
local core = ...

local type, tostring, tonumber, next, pcall = type, tostring, tonumber, next, pcall
local find, gmatch, format, match, sort =
  string.find, string.gmatch, string.format, string.match, table.sort
local native_load = load

core.test.kit.own(core.debug.getinfo(1, "S").source)

-- Supported keys and the types of their values. A `list` can also be a single string. A
-- `comma_list` can also be a single string with commas.
local KEYS = {
  ROOT = "list", pattern = "list", ["exclude-pattern"] = "list", lpath = "text", helper = "text",
  tags = "comma_list", ["exclude-tags"] = "comma_list", filter = "list", ["filter-out"] = "list",
  name = "list", shuffle = "flag", ["shuffle-files"] = "flag", ["shuffle-tests"] = "flag",
  sort = "flag", ["sort-files"] = "flag", ["sort-tests"] = "flag", seed = "number",
  ["keep-going"] = "flag", ["repeat"] = "count", recursive = "flag", list = "flag",
  Xhelper = "comma_list", ["exclude-names-file"] = "text", coverage = "flag", output = "form",
  e = "list", ["log-success"] = "text",
}

-- Unsupported keys, and the advice for each.
local WITHOUT_USE = {
  cpath = "'cpath' is ignored: the engine loads no C modules (`lfs` exists with "
    .. "--no-sandbox)",
  directory = "'directory' is ignored: give that folder to engine test instead of this one",
}

-- Keys that only control busted's output, loading and start, and change no test's result.
local WITHOUT_MEANING = {}
for _, key in next, { "verbose", "quiet", "Xoutput", "lang", "enable-sound", "suppress-pending",
  "defer-print", "coverage-config-file", "auto-insulate", "loaders", "lua", "ignore-lua",
  "version" } do
  WITHOUT_MEANING[key] = true
end

local REPEAT_MAX = 10000 -- as Options::REPEAT_MAX

-- busted's output formats and their equivalents here; "" is the default.
local FORMS = {
  TAP = "tap", junit = "junit", json = "json", gtest = "spec", plainTerminal = "", utfTerminal = "",
  sound = "",
}

local OUTPUT_MESSAGE = "'output' must be an output format (TAP, gtest, json, junit, plainTerminal, "
  .. "utfTerminal), got %s: the default is used"

local KIND_NAMES = { comma_list = "list", count = "number from 1 to " .. REPEAT_MAX }

local function texts_of(value, commas)
  local texts = {}
  for _, item in next, type(value) == "table" and value or { value } do
    if type(item) ~= "string" then
      return nil
    elseif commas then
      for item_text in gmatch(item, "[^,%s]+") do
        texts[#texts + 1] = item_text
      end
    else
      texts[#texts + 1] = item
    end
  end
  return texts
end

-- Converts a value to the type of its key. Returns nil if it does not fit.
local function read(kind, value)
  if kind == "list" or kind == "comma_list" then
    return texts_of(value, kind == "comma_list")
  elseif kind == "text" then
    return type(value) == "string" and value or nil
  elseif kind == "number" then
    return type(value) == "number" and value or tonumber(value)
  elseif kind == "count" then
    local count = tonumber(value)
    return count and count >= 1 and count <= REPEAT_MAX and count or nil
  elseif kind == "form" then
    return FORMS[value]
  elseif type(value) == "boolean" then
    return value
  end
end

-- Adds one profile's keys to the settings. Returns a message if a value cannot be used.
local function add(profile, settings, warnings)
  local keys = {}
  for key in next, profile do
    keys[#keys + 1] = tostring(key)
  end
  sort(keys)
  for _, key in next, keys do
    local value, kind = profile[key], KEYS[key]
    if kind then
      local found = read(kind, value)
      if found == nil and kind == "form" then
        -- Either a module of the library itself, for busted, or a typing error.
        warnings[#warnings + 1] = format(OUTPUT_MESSAGE, core.describe(value))
      elseif found == nil then
        return format("'%s' must be a %s, got %s", key, KIND_NAMES[kind] or kind,
          core.describe(value))
      end
      settings[key] = found
    elseif WITHOUT_USE[key] then
      warnings[#warnings + 1] = WITHOUT_USE[key]
    elseif not WITHOUT_MEANING[key] then
      local near = core.suggest(key, core.names(KEYS))
      warnings[#warnings + 1] = format("'%s' is not among the keys that are used here%s", key,
        near and ", did you mean '" .. near .. "'?" or "")
    end
  end
end

local function profiles_of(text)
  local chunk, problem = native_load(text, "@.busted", "t")
  if not chunk then
    return nil, problem
  end
  local ok, profiles = pcall(chunk)
  if not ok then
    local more = core.options.sandbox and ": engine test --no-sandbox has the whole library" or ""
    return nil, tostring(profiles) .. more
  elseif type(profiles) ~= "table" then
    return nil, "it must return a table of profiles, got " .. core.describe(profiles)
  end
  return profiles
end

---Reads the text of a `.busted` file: the profile `_all`, overridden by `task`, or by `default` if
---`task` is nil. Returns a table with `settings` and `warnings`, or a message.
function core.test_config(text, task)
  local profiles, problem = profiles_of(text)
  if not profiles then
    return problem
  end
  local chosen = profiles[task or "default"]
  if task and type(chosen) ~= "table" then
    local near = core.suggest(task, core.names(profiles))
    local hint = near and ", did you mean '" .. near .. "'?" or ""
    return format("there is no task '%s'%s", task, hint)
  end
  local settings, warnings = {}, {}
  for _, profile in next, { profiles._all or {}, chosen or {} } do
    if type(profile) ~= "table" then
      return "a profile must be a table, got " .. core.describe(profile)
    end
    local message = add(profile, settings, warnings)
    if message then
      return message
    end
  end
  return { settings = settings, warnings = warnings }
end

---Returns the paths whose file name matches one of the patterns and none of `excludes`. Returns
---nil and a message if a pattern is malformed.
function core.test_chosen(paths, patterns, excludes)
  local function fits(name, list)
    for _, pattern in next, list do
      local ok, found = pcall(find, name, pattern)
      if not ok then
        return nil, format("the pattern '%s' is malformed: %s", pattern, found)
      elseif pattern ~= "" and found then
        return true
      end
    end
    return false
  end
  local chosen = {}
  for _, path in next, paths do
    local name = match(path, "[^/]*$")
    local wanted, problem = fits(name, patterns)
    local unwanted, other = fits(name, excludes)
    if problem or other then
      return problem or other
    elseif wanted and not unwanted then
      chosen[#chosen + 1] = path
    end
  end
  return chosen
end
