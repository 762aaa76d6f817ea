-- `Localizer`: texts in the player's language, from resources of type `strings`.
local core = ...

local type, tostring, setmetatable, rawget, next = type, tostring, setmetatable, rawget, next
local pcall = core.pcall
local concat, tonumber = table.concat, tonumber
-- The bounded versions (lua/boot/strings.lua, lua/boot/tables.lua), because there may be many texts
-- and keys.
local gsub, sort = core.string.gsub, core.table.sort
local bad_argument, raise, suggest = core.bad_argument, core.raise, core.suggest
local has_native_stack = core.has_native_stack
local Application = core.module("Application")

---@class Localizer
---@overload fun(name: string): Localizer

---@module Localizer
---@node hidden
---Texts in the player's language. A resource of type `strings` has one text for each key, or one
---text for each language: `play = { en = "Play", sv = "Spela" }`. Languages are the properties
---that `Application.set_property_preference_order` prefers, so one call selects both files
---(`menu.sv.strings`) and texts. If a text exists in none of the preferred languages, "en" is
---used, or any other language, and a warning is logged.
---@example
---   assert(Localizer.fill("{n} of {all}", { n = 2, all = 3 }) == "2 of 3")
local Localizer = core.module("Localizer")

local names = setmetatable({}, { __mode = "k" }) -- the resource of each localizer
local chosen = setmetatable({}, { __mode = "k" }) -- the language set for each localizer

-- Texts of each resource, cached on first use. They are read again after the resource is swapped.
local read = {}

local function texts_of(name)
  local texts = read[name]
  if not texts then
    texts = Application.data("strings", name)
    read[name] = texts
  end
  return texts
end

function core.forget_texts()
  for name in next, read do
    read[name] = nil
  end
end

core.on("resources_changed", "localizers", core.forget_texts)

local meta = {
  __index = function(_, key)
    if type(key) == "string" and type(Localizer[key]) == "function" then
      raise("a Localizer has no methods: write Localizer." .. key .. "(localizer, …)")
    end
    raise("a Localizer has no field '" .. tostring(key) .. "': write Localizer.lookup(localizer, "
      .. core.describe(key):gsub("^string ", "") .. ")")
  end,
  __newindex = function()
    raise("a Localizer has no fields: its texts are in its resource")
  end,
  __tostring = function(self)
    return "Localizer(" .. names[self] .. ")"
  end,
  __metatable = "protected",
}

setmetatable(Localizer, {
  __call = function(_, name)
    if type(name) ~= "string" then
      bad_argument("Localizer", 1, "name", "string", name)
    elseif not Application.can_get("strings", name) then
      local _, problem = pcall(Application.data, "strings", name)
      raise((gsub(problem, "^.-Application%.data: ", "Localizer: ")))
    end
    local self = setmetatable({}, meta)
    names[self] = name
    return self
  end,
  __metatable = "module",
})

local function check(fn, value)
  local name = type(value) == "table" and rawget(names, value)
  if not name then
    bad_argument(fn, 1, "localizer", "Localizer", value)
  end
  return name
end

local function sorted_keys(set)
  local keys = {}
  for key in next, set do
    keys[#keys + 1] = key
  end
  sort(keys)
  return keys
end

-- Returns the text of a key in the best language available. If that language is a fallback, also
-- returns its name.
local function best(self, texts)
  local own = chosen[self]
  if own and texts[own] then
    return texts[own]
  end
  local order = Application.property_preference_order()
  for i = 1, #order do
    if texts[order[i]] then
      return texts[order[i]]
    end
  end
  local language = texts.en and "en" or sorted_keys(texts)[1]
  local wanted = own or order[1]
  return texts[language], wanted and wanted ~= language and language
end

---Returns the text of a key. A missing key is shown in angle brackets and warned about once.
---@param localizer Localizer a localizer created by `Localizer(name)`
---@param key string the key
---@param values? table values that replace each `{name}` in the text
---@return string text the text in the player's language
function Localizer.lookup(localizer, key, values)
  local name = check("Localizer.lookup", localizer)
  if type(key) ~= "string" then
    bad_argument("Localizer.lookup", 2, "key", "string", key)
  end
  local entries = texts_of(name)
  local entry = entries[key]
  if entry == nil then
    local near = suggest(key, sorted_keys(entries))
    core.warn("strings '" .. name .. "' has no key '" .. key .. "'"
      .. (near and ", did you mean '" .. near .. "'?" or ""))
    return "<" .. key .. ">"
  end
  local text, makeshift = entry, nil
  if type(entry) == "table" then
    text, makeshift = best(localizer, entry)
    if makeshift then
      core.warn("key '" .. key .. "' of strings '" .. name .. "' has only these languages: "
        .. concat(sorted_keys(entry), ", "))
    end
  end
  return values == nil and text or Localizer.fill(text, values)
end

---Sets the language of one localizer, which overrides the preference order. Nil removes the
---override.
---@param localizer Localizer a localizer created by `Localizer(name)`
---@param language? string a language as spelled in the file
function Localizer.set_language(localizer, language)
  check("Localizer.set_language", localizer)
  if language ~= nil and type(language) ~= "string" then
    bad_argument("Localizer.set_language", 2, "language", "string or nil", language)
  end
  chosen[localizer] = language
end

---Replaces every `{name}` in a text with its value. A name without a value is kept unchanged.
---@param text string the text
---@param values table names and values
---@return string text the text with its values
function Localizer.fill(text, values)
  if type(text) ~= "string" then
    bad_argument("Localizer.fill", 1, "text", "string", text)
  elseif type(values) ~= "table" then
    bad_argument("Localizer.fill", 2, "values", "table", values)
  end
  if not has_native_stack() then
    raise("Localizer.fill: a value calls Localizer.fill again, too deep: without an end?")
  end
  return (gsub(text, "{([%w_]+)}", function(name)
    local value = values[name]
    if value == nil then
      value = values[tonumber(name)]
    end
    return value ~= nil and tostring(value) or nil
  end))
end
