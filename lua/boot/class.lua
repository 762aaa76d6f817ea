-- Classes: `class`, inheritance and `is_a`. Hot reload is in lua/reload: it replaces functions in
-- place.
local core = ...

local type, next, rawget, rawset, rawequal = type, next, rawget, rawset, rawequal
local setmetatable, getmetatable, tostring, select = setmetatable, getmetatable, tostring, select
local sub = string.sub
local getinfo = core.debug.getinfo
local raise, bad_argument = core.raise, core.bad_argument

local FRAMES_MAX = 60 -- stack levels searched for the statement that called `class`

---@module class
---Creates classes, as games of this engine family write them: `Enemy = class()`. `Enemy.new(...)`,
---`Enemy:new(...)` and `Enemy(...)` create an object and call `init(self, ...)`. To inherit, write
---`Orc = class(nil, Enemy)`, `Orc = class(Orc, Enemy)` or `Orc = Enemy:extend()`. The first
---argument of `class` is never the base class: it is the class itself, which is kept when its file
---runs again, so that existing objects get the new methods. Methods are looked up from class to
---class, so a method added to a base later is found at once. Metamethods (`__add`, `__tostring`,
---...) are inherited too, except `__index`. Inside `Orc.init`, call the base by its name,
---`Orc.super.init(self, ...)`. With `self.super`, a third class that inherits from `Orc` would call
---the same class endlessly.
---@example
---   local Enemy = class()
---   function Enemy:init(health) self.health = health end
---   local Orc = class(nil, Enemy)
---   function Orc:init() Orc.super.init(self, 20) end
---   local orc = Orc.new()
---   assert(orc.health == 20 and orc:is_a(Enemy))

---@class class
---@overload fun(existing?: table, super?: table): table
local class = core.module("class")

-- Record of each class: super, subclasses, name, and the statement that created it. The keys are
-- weak: a class that the game drops is collected.
local records = setmetatable({}, { __mode = "k" })
local base_methods = {}
local OWN_SOURCE = getinfo(1, "S").source

local function construct(klass, ...)
  local object = setmetatable({}, klass)
  local init = klass.init
  if init then init(object, ...) end
  return object
end

-- Returns the name of the global variable that holds a class. If there are several names, it
-- returns the smallest, so that the result is the same in every run.
local function global_name(klass)
  local found
  for key, value in next, core.globals do
    if type(key) == "string" and rawequal(value, klass) and (not found or key < found) then
      found = key
    end
  end
  return found
end

local function describe_class(klass)
  local record = records[klass]
  record.name = record.name or global_name(klass)
  return "class " .. (record.name or "made at " .. record.created_at)
end

-- Default `__tostring` of classes. It looks up a base class's `__tostring` when it is called.
local function object_to_string(object)
  local klass = getmetatable(object)
  local ancestor = klass
  while ancestor do
    local method = rawget(ancestor, "__tostring")
    if method and method ~= object_to_string then return method(object) end
    ancestor = records[ancestor].super
  end
  return "object of " .. describe_class(klass)
end

local function is_metamethod(key)
  return type(key) == "string" and sub(key, 1, 2) == "__" and key ~= "__index"
end

-- Copies a metamethod into a class and its subclasses. Lua reads metamethods with a raw get, so
-- each class holds copies of its base's metamethods.
local function inherit(klass, key, value)
  local record = records[klass]
  local current = rawget(klass, key)
  if current ~= nil and current ~= record.inherited[key] then return end
  rawset(klass, key, value)
  record.inherited[key] = value
  for i = 1, record.subclass_count do
    local subclass = record.subclasses[i]
    if subclass then inherit(subclass, key, value) end
  end
end

local function on_new_key(klass, key, value)
  rawset(klass, key, value)
  if value == nil or not is_metamethod(key) then return end
  local record = records[klass]
  for i = 1, record.subclass_count do
    local subclass = record.subclasses[i]
    if subclass then inherit(subclass, key, value) end
  end
end

local function link(klass, super)
  local record = records[klass]
  local before = record.super
  record.super = super
  rawset(klass, "super", super)
  getmetatable(klass).__index = super or base_methods
  for key, value in next, record.inherited do
    if rawget(klass, key) == value then rawset(klass, key, nil) end
  end
  record.inherited = {}
  if super then
    local of_super = records[super]
    if before ~= super then
      of_super.subclass_count = of_super.subclass_count + 1
      of_super.subclasses[of_super.subclass_count] = klass
    end
    for key, value in next, super do
      if is_metamethod(key) and value ~= object_to_string then inherit(klass, key, value) end
    end
  end
  if before and before ~= super then
    local subclasses = records[before].subclasses
    for i = 1, records[before].subclass_count do
      if subclasses[i] == klass then subclasses[i] = nil end
    end
  end
  if rawget(klass, "__tostring") == nil then rawset(klass, "__tostring", object_to_string) end
end

-- Returns the game's current statement: its function, file and line.
local function calling_statement()
  for level = 3, FRAMES_MAX do
    local frame = getinfo(level, "Slf")
    if not frame then break end
    if frame.what ~= "C" and frame.source ~= OWN_SOURCE then return frame end
  end
  return { source = "?", short_src = "?", currentline = 0 }
end

local function remember_statement(record, frame)
  record.created_at = frame.short_src .. ":" .. frame.currentline
  record.source, record.line, record.what = frame.source, frame.currentline, frame.what
  record.maker = setmetatable({ func = frame.func }, { __mode = "v" })
end

local function make(super, frame)
  local klass = {}
  local record = { subclasses = setmetatable({}, { __mode = "v" }), subclass_count = 0 }
  record.inherited = {}
  remember_statement(record, frame)
  records[klass] = record
  klass.__index = klass
  -- A method call passes the class as the first argument; otherwise it is inserted.
  klass.new = function(...)
    if rawequal((...), klass) then return construct(...) end
    return construct(klass, ...)
  end
  setmetatable(klass, {
    __call = construct,
    __tostring = describe_class,
    __newindex = on_new_key,
  })
  link(klass, super)
  return klass
end

local function check_class(name, index, argument, value)
  if records[value] then return end
  if type(value) == "table" then
    raise(name .. ": argument #" .. index .. " '" .. argument .. "' is a table that class() did not"
      .. " make; make it with class() first")
  end
  bad_argument(name, index, argument, "a class", value)
end

-- Raises if `existing` was created by a different statement. Otherwise `Orc = class(Enemy)` would
-- silently create two names for one class. A file that was edited and runs again has another
-- function and other lines, but both statements are in the file's main chunk.
local function check_kept(klass, frame)
  local record = records[klass]
  local other_file = frame.source ~= record.source or frame.what ~= record.what
  local other_statement = frame.func == record.maker.func and frame.currentline ~= record.line
  if other_file or other_statement then
    local name = record.name or global_name(klass) or "Base"
    raise("class: argument #1 'existing' is the class made at " .. record.created_at
      .. ", and is only kept when that statement runs again; to inherit from it, write class(nil, "
      .. name .. ") or " .. name .. ":extend()")
  end
end

local function keep(existing, super, frame)
  check_kept(existing, frame)
  if super and class.is_a(super, existing) then
    raise("class: " .. tostring(super) .. " cannot be the super of " .. tostring(existing)
      .. ": it is that class or inherits from it")
  end
  remember_statement(records[existing], frame)
  link(existing, super)
  return existing
end

local function call_class(_, ...)
  local existing, super = ...
  if existing ~= nil then check_class("class", 1, "existing", existing) end
  if super ~= nil then
    check_class("class", 2, "super", super)
  elseif select("#", ...) > 1 then
    raise("class: argument #2 'super' is nil: require the file that makes it first, or leave it"
      .. " out")
  end
  local frame = calling_statement()
  if existing ~= nil then return keep(existing, super, frame) end
  return make(super, frame)
end

---Creates a class that inherits from `base`; also written `Base:extend()`.
---@param base table the class to inherit from
---@return table the new class
function class.extend(base)
  check_class("class.extend", 1, "base", base)
  return make(base, calling_statement())
end

---Returns true if a value is an object of a class or of a class that inherits from it; also written
---`object:is_a(Enemy)`. If the value is a class, returns true if it is that class or inherits from
---it.
---@param value any an object or a class; any other value returns false
---@param klass table the class
---@return boolean true if it is
function class.is_a(value, klass)
  if not records[klass] then check_class("class.is_a", 2, "klass", klass) end
  local ancestor = value
  if type(value) ~= "table" or not records[value] then ancestor = getmetatable(value) end
  while ancestor do
    if rawequal(ancestor, klass) then return true end
    local record = records[ancestor]
    ancestor = record and record.super
  end
  return false
end

---Returns the class of an object, or nil for a value that is no object of a class.
---@param value any the object
---@return table? its class
function class.of(value)
  local klass = getmetatable(value)
  return records[klass] and klass or nil
end

---Returns the name that messages use for a class: the name set by `class.set_name`, or the name of
---the global variable that holds the class, or nil.
---@param klass table the class
---@return string? the name
function class.name(klass)
  check_class("class.name", 1, "klass", klass)
  local record = records[klass]
  record.name = record.name or global_name(klass)
  return record.name
end

---Names a class in messages and in `tostring`. This is needed only if no global variable holds the
---class.
---@param klass table the class
---@param name string the name
function class.set_name(klass, name)
  check_class("class.set_name", 1, "klass", klass)
  if type(name) ~= "string" then bad_argument("class.set_name", 2, "name", "string", name) end
  records[klass].name = name
end

function core.is_class(value)
  return records[value] ~= nil
end

-- Updates a class after a reload. `created` is the class that the changed file created. The class
-- that it is exchanged for (`created` itself if it is new) inherits from the base in the changed
-- file, and the changed statement may create it again.
function core.class_reloaded(created, exchange)
  local record = records[created]
  if not record then return end
  local kept = exchange[created] or created
  local super = record.super and (exchange[record.super] or record.super)
  local entry = records[kept]
  if not entry then return end
  entry.source, entry.line, entry.what = record.source, record.line, record.what
  entry.maker = record.maker
  entry.created_at = record.created_at
  if entry.super ~= super then link(kept, super) end
end

base_methods.extend = class.extend
base_methods.is_a = class.is_a

setmetatable(class, { __call = call_class, __metatable = "module" })
