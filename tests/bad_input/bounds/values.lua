-- Values that functions are called with: for each type an ordinary one and extreme ones. Each has a
-- label and a function that creates it, because a call may change or end its argument. Values that
-- take long to read are marked `costly`: a function receives them once or twice.
local M = { kinds = {} }

local huge = math.huge
local KIB = 1024

local function plain(label, value)
  return { label = label, make = function() return value end }
end

local function made(label, make, costly)
  return { label = label, make = make, costly = costly == true and label or costly }
end

M.plain, M.made = plain, made
M.SHARED = "2^40 values by sharing"

-- Numbers at and around the limits of number types: 16, 31, 32 and 53 bits, floats, doubles.
M.numbers = {
  plain("0", 0), plain("-1", -1), plain("0.5", 0.5), plain("65536", 65536),
  plain("2^31", 2 ^ 31), plain("2^31 - 1", 2 ^ 31 - 1), plain("-2^31", -2 ^ 31),
  plain("2^31 + 1", 2 ^ 31 + 1), plain("-2^31 - 1", -2 ^ 31 - 1), plain("2^32", 2 ^ 32),
  plain("2^53", 2 ^ 53), plain("1e9", 1e9), plain("3e38", 3e38), plain("1e300", 1e300),
  plain("-1e300", -1e300), plain("1e-300", 1e-300), plain("math.huge", huge),
  plain("-math.huge", -huge), plain("0/0", 0 / 0),
}

-- Numbers for pairs of extremes.
M.pairs = {
  plain("-1e300", -1e300), plain("-2^31", -2 ^ 31), plain("2^31", 2 ^ 31), plain("2^53", 2 ^ 53),
  plain("1e300", 1e300), plain("0/0", 0 / 0),
}

local brackets = ("a(b[%{\"\\\n\195\169}])c"):rep(4 * KIB)
M.strings = {
  plain('""', ""), plain('"\\0\\255"', "\0\255"), plain('"../x"', "../x"),
  plain('("a"):rep(65536)', ("a"):rep(64 * KIB)), plain("64 KiB of brackets", brackets),
  plain('("\\255"):rep(65536)', ("\255"):rep(64 * KIB)),
  plain('("9"):rep(65536)', ("9"):rep(64 * KIB)), plain('"1e2147483648"', "1e2147483648"),
}

local function deep()
  local table = {}
  for _ = 1, 10000 do table = { table } end
  return table
end

local function cyclic()
  local table = {}
  table[1], table.self = table, table
  return table
end

local function wide()
  local table = {}
  for i = 1, 20000 do table[i] = i end
  return table
end

local function named()
  local table = {}
  for i = 1, 5000 do table["k" .. i] = i end
  return table
end

-- Doubles at each level: 2^40 values for a reader that does not count them.
local function shared()
  local table = { 1 }
  for _ = 1, 40 do table = { table, table } end
  return table
end

local function with_metamethods()
  local one = function() return 1 end
  return setmetatable({}, { __index = one, __len = function() return 2 ^ 31 end, __call = one,
    __tostring = function() return "x" end })
end

M.tables = {
  made("{}", function() return {} end),
  made("{ 1, 2, 3 }", function() return { 1, 2, 3 } end),
  made("{ 1e300, math.huge, 0/0 }", function() return { 1e300, huge, 0 / 0 } end),
  made("{ [2^31] = 1, [2^53] = 2 }", function() return { [2 ^ 31] = 1, [2 ^ 53] = 2 } end),
  made("{ [1e300] = 1, [-math.huge] = 2 }", function() return { [1e300] = 1, [-huge] = 2 } end),
  made("a table in itself", cyclic), made("a table with metamethods", with_metamethods),
  made("a table 10000 deep", deep, true), made("20000 numbers", wide, true),
  made("5000 names", named, true), made(M.SHARED, shared, true),
}

-- Arguments for functions whose work grows with their arguments. Each function gets them once.
local text = ("a"):rep(4 * KIB * KIB)
M.long_text = plain('("a"):rep(2^22)', text)

M.long_table = made("2^20 numbers", function()
  local table = {}
  for i = 1, 2 ^ 20 do table[i] = i end
  return table
end)

function M.repeated(value)
  return made("2^20 times " .. value.label, function()
    local items, item = {}, value.make()
    for i = 1, 2 ^ 20 do items[i] = item end
    return items
  end)
end

M.functions = {
  made("function() end", function() return function() end end),
  made("function() return 2^31 end", function() return function() return 2 ^ 31 end end),
}

M.booleans = { plain("true", true), plain("false", false) }

-- Values that are invalid for most arguments.
M.others = {
  plain("nil", nil), plain("true", true), M.tables[1], M.tables[6], M.functions[1],
  plain("0/0", 0 / 0), plain('"x"', "x"), plain("2^31", 2 ^ 31),
  made("a coroutine", function() return coroutine.create(print) end),
  plain("Vector3(0, 0, 0)", Vector3(0, 0, 0)), plain("Json.null", Json.null),
}

-- Vectors and similar types, with the same number in all parts.
local function of_parts(name, count, of)
  local list = {}
  for _, part in ipairs({ 1, 0, -1, 1e-38, 3e38, -3e38, 1e9, huge, 0 / 0 }) do
    local numbers = {}
    for i = 1, count do numbers[i] = part end
    list[#list + 1] = made(("%s of %g"):format(name, part), function()
      return of(unpack(numbers, 1, count))
    end)
  end
  M.kinds[name] = list
end

of_parts("Vector2", 2, Vector2)
of_parts("Vector3", 3, Vector3)
of_parts("Vector4", 4, Vector4)
of_parts("Color", 4, Color)
of_parts("Quaternion", 4, Quaternion.from_elements)
of_parts("Matrix4x4", 16, Matrix4x4.from_elements)
table.insert(M.kinds.Quaternion, 1, made("Quaternion()", function() return Quaternion() end))
table.insert(M.kinds.Matrix4x4, 1, made("Matrix4x4()", function() return Matrix4x4() end))

local boxes = { "Vector2Box", "Vector3Box", "Vector4Box", "QuaternionBox", "Matrix4x4Box" }
for _, name in ipairs(boxes) do
  M.kinds[name] = { made(name .. "()", function() return _G[name]() end) }
end
M.kinds.IdString32 = { made('IdString32("a")', function() return IdString32("a") end) }
M.kinds.IdString64 = { made('IdString64("a")', function() return IdString64("a") end) }
M.kinds.Float32Array = {
  made("Float32Array(3)", function() return Float32Array(3) end),
  made("Float32Array()", function() return Float32Array() end),
  made("Float32Array(100000)", function() return Float32Array(100000) end, true),
}
M.kinds.Image = {
  made("Image.new(3, 2)", function() return Image.new(3, 2) end),
  made("Image.new(300, 300)", function() return Image.new(300, 300) end, true),
}
M.kinds.SoundBuffer = {
  made("SoundBuffer.new(1, 8000, 9)", function() return SoundBuffer.new(1, 8000, 9) end),
  made("SoundBuffer.new(2, 8000, 9000)", function()
    return SoundBuffer.new(2, 8000, 9000, "int16")
  end, true),
}
M.kinds.class = {
  made("class()", function() return class() end),
  made("class() of class()", function() return class(nil, class()) end),
}
M.kinds.thread = {
  made("a coroutine", function() return coroutine.create(function(...) return ... end) end),
  made("a coroutine that ended", function()
    local thread = coroutine.create(function() end)
    coroutine.resume(thread)
    return thread
  end),
}

return M
