-- Numbers of buffers: mutable objects whose contents are in memory that no game code can reach. Hot
-- reload pairs the buffers of two loads of a file by the order of their creation, and by the text
-- that says how they were created.
local core = ...

local setmetatable, type = setmetatable, type

local numbers, shapes = setmetatable({}, { __mode = "k" }), setmetatable({}, { __mode = "k" })

-- Number of buffers created so far.
local count = 0

-- Returns the number of a new buffer.
function core.next_buffer_number()
  count = count + 1
  return count
end

-- Gives a new buffer its number. Hot reload keeps its contents as a whole, if the changed file
-- creates a buffer of the same shape.
function core.number_buffer(buffer, shape)
  numbers[buffer], shapes[buffer] = core.next_buffer_number(), shape
end

-- Returns the number of buffers created so far. Hot reload compares it with
-- `core.buffer_number`, which returns a buffer's creation number.
function core.buffer_count()
  return count
end

function core.buffer_number(value)
  if type(value) ~= "cdata" then return nil end
  return numbers[value] or core.float32_array_number(value)
end

-- Returns the shape that a buffer had when it was created, or nil if hot reload compares its
-- elements.
function core.buffer_shape(buffer)
  return shapes[buffer]
end
