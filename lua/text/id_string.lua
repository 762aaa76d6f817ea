-- `IdString32` and `IdString64`: hashed names as values. The hash functions are native. The engine
-- hashes resource names internally, without these types.
local core = ...

local ffi, bad_argument, warn, describe = core.ffi, core.bad_argument, core.warn, core.describe
local hash32, hash64, values = core.hash32, core.hash64, core.values
local select, setmetatable = select, setmetatable
local tonumber, tostring, type = tonumber, tostring, type
local find, format, lower, sub = string.find, string.format, string.lower, string.sub
local istype, tohex = ffi.istype, bit.tohex

-- Limit of texts kept for `to_string`, for each of the two types.
local TEXTS_MAX = 65536

-- Games that run from a bundle keep no names.
local keeps_texts = core.module("Application").build() ~= "release"

local function weak_values()
  return setmetatable({}, { __mode = "v" })
end

local id_kinds = {}

-- Creates an id type. As long as an id is referenced, there is one value for each hash, so that ids
-- can be table keys. `by_text` avoids hashing a name again.
local function make_kind(name, digits, ctype, to_hex, from_hex)
  local kind = { name = name, digits = digits, ctype = ctype, to_hex = to_hex }
  local by_hex, by_text, texts, text_count = weak_values(), weak_values(), {}, 0

  function kind.intern(hex)
    local id = by_hex[hex]
    if id == nil then
      id = ctype(from_hex(hex))
      by_hex[hex] = id
    end
    return id
  end

  local function keep(hex, text)
    local known = texts[hex]
    if known == nil then
      if text_count < TEXTS_MAX then
        texts[hex] = text
        text_count = text_count + 1
      end
    elseif known ~= text then
      warn(format("%s: %q and %q have the same hash, %s: rename one of them", name, known, text,
        hex))
    end
  end

  function kind.of_text(text, hash)
    local id = by_text[text]
    if id == nil then
      local hex = hash(text)
      id = kind.intern(hex)
      by_text[text] = id
      if keeps_texts then
        keep(hex, text)
      end
    end
    return id
  end

  function kind.text_of(id)
    return texts[to_hex(id)]
  end

  local meta = {}
  values.common_operators(meta, name, "use " .. name .. ".to_hex(id)")
  meta.__tostring = function(id) return "#ID[" .. to_hex(id) .. "]" end
  -- Runs for any two operands: nil and numbers must compare as different, not raise.
  meta.__eq = function(a, b)
    return istype(ctype, a) and istype(ctype, b) and a._value == b._value
  end
  meta.__index = function(_, key)
    values.no_field(name, "id", core.module(name), "none", key)
  end
  meta.__newindex = function()
    core.raise(name .. "s are values: make another with " .. name .. "(text)")
  end
  ffi.metatype(ctype, meta)
  core.ctypes[name] = ctype
  id_kinds[#id_kinds + 1] = kind
  return kind
end

-- Returns the name of an id's type, and its hexadecimal digits, whose order is the same in every
-- run. Returns nothing for any other value.
function core.id_digits(value)
  for i = 1, #id_kinds do
    local kind = id_kinds[i]
    if istype(kind.ctype, value) then
      return kind.name, kind.to_hex(value)
    end
  end
end

-- Returns the id for a call such as IdString32("root_point").
local function construct(kind, hash, ...)
  local text = ...
  if type(text) ~= "string" then
    bad_argument(kind.name, 1, "text", "string", text)
  elseif select("#", ...) > 1 then
    core.raise(format("%s: takes 1 argument, got %d", kind.name, select("#", ...)))
  end
  return kind.of_text(text, hash)
end

local function check(kind, name, index, argument, id)
  if not istype(kind.ctype, id) then
    local text = type(id) == "string"
    core.raise(format("%s.%s: argument #%d '%s' must be %s, got %s%s", kind.name, name, index,
      argument, kind.name, describe(id), text and ": make it with " .. kind.name .. "(text)" or ""))
  end
end

local function check_hex(kind, hex)
  local right = type(hex) == "string" and #hex == kind.digits and not find(hex, "%X")
  if not right then
    bad_argument(kind.name .. ".from_hex", 1, "hex", kind.digits .. " hexadecimal digits", hex)
  end
  return kind.intern(lower(hex))
end

---@module IdString32
---@node hidden
---A name as its 32-bit hash, for the ids inside data: nodes, parameters, events. Two ids are equal
---if their names are equal. An id can be stored anywhere and can be a table key. `pairs` visits
---such keys in a different order in each run; `Script.sorted_pairs` has a fixed order. The hash is
---MurmurHash2 with seed 0, the same on every platform and in every version.
---@example
---   local id = IdString32("root_point")
---   assert(id == IdString32("root_point") and id ~= IdString32("camera"))
---   assert(tostring(id) == "#ID[5e43bd96]" and IdString32.to_hex(id) == "5e43bd96")
---   local seen = { [id] = true }
---   assert(seen[IdString32("root_point")])

---@class IdString32
---@overload fun(text: string): IdString32
local IdString32 = core.module("IdString32")

local kind32 = make_kind("IdString32", 8, ffi.typeof("struct { const uint32_t _value; }"),
  function(id) return format("%08x", id._value) end,
  function(hex) return tonumber(hex, 16) end)

local function hex_of_32(text)
  return format("%08x", hash32(text))
end

values.callable(IdString32, function(_, ...) return construct(kind32, hex_of_32, ...) end)

---Returns true if two ids are equal; `a == b` is the same.
---@param a IdString32 an id
---@param b IdString32 another
---@return boolean true if their hashes are equal
function IdString32.equal(a, b)
  check(kind32, "equal", 1, "a", a)
  check(kind32, "equal", 2, "b", b)
  return a._value == b._value
end

---Returns the id with a hash, as returned by `IdString32.to_hex`.
---@param hex string 8 hexadecimal digits
---@return IdString32 the id
function IdString32.from_hex(hex)
  return check_hex(kind32, hex)
end

---Returns the hash as text.
---@param id IdString32 the id
---@return string 8 hexadecimal digits in lower case
function IdString32.to_hex(id)
  check(kind32, "to_hex", 1, "id", id)
  return kind32.to_hex(id)
end

---Returns the name that an id was created from, if this run of the game created it from a name. A
---shipped game keeps no names and always gets nil: use it only for messages to developers. At most
---65536 names are kept.
---@param id IdString32 the id
---@return string|nil the name, or nil if it is not known
function IdString32.to_string(id)
  check(kind32, "to_string", 1, "id", id)
  return kind32.text_of(id)
end

---@module IdString64
---@node hidden
---A name as its 64-bit hash, for resources and their types. Two ids are equal if their names are
---equal. An id can be stored anywhere and can be a table key. `pairs` visits such keys in a
---different order in each run; `Script.sorted_pairs` has a fixed order. The hash is MurmurHash64A
---with seed 0, the same on every platform and in every version.
---@example
---   local id = IdString64("content/levels/city/taxi.unit")
---   assert(id == IdString64.from_hex("9d01c901e9e2827f"))
---   assert(IdString64.to_string(id) == "content/levels/city/taxi.unit")

---@class IdString64
---@overload fun(text: string): IdString64
local IdString64 = core.module("IdString64")

local kind64 = make_kind("IdString64", 16, ffi.typeof("struct { const uint64_t _value; }"),
  function(id) return tohex(id._value) end,
  function(hex)
    local high, low = tonumber(sub(hex, 1, 8), 16), tonumber(sub(hex, 9), 16)
    return 0x100000000ULL * high + low
  end)

local function hex_of_64(text)
  return format("%08x%08x", hash64(text))
end

values.callable(IdString64, function(_, ...) return construct(kind64, hex_of_64, ...) end)

---Returns true if two ids are equal; `a == b` is the same.
---@param a IdString64 an id
---@param b IdString64 another
---@return boolean true if their hashes are equal
function IdString64.equal(a, b)
  check(kind64, "equal", 1, "a", a)
  check(kind64, "equal", 2, "b", b)
  return a._value == b._value
end

---Returns the id with a hash, as returned by `IdString64.to_hex`.
---@param hex string 16 hexadecimal digits
---@return IdString64 the id
function IdString64.from_hex(hex)
  return check_hex(kind64, hex)
end

---Returns the hash as text.
---@param id IdString64 the id
---@return string 16 hexadecimal digits in lower case
function IdString64.to_hex(id)
  check(kind64, "to_hex", 1, "id", id)
  return kind64.to_hex(id)
end

---Returns the name that an id was created from, if this run of the game created it from a name. A
---shipped game keeps no names and always gets nil: use it only for messages to developers. At most
---65536 names are kept.
---@param id IdString64 the id
---@return string|nil the name, or nil if it is not known
function IdString64.to_string(id)
  check(kind64, "to_string", 1, "id", id)
  return kind64.text_of(id)
end
