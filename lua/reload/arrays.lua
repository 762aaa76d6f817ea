-- Float arrays and other buffers in hot reload. Compares the contents that a load wrote into its
-- arrays with changes that the game made since. An array keeps its identity, as a table does. Other
-- buffers keep identity and contents while their file creates them with the same shape.
local core = ...

-- Compiled code would keep objects of the reload alive, and this code runs too rarely to benefit.
core.jit.off(true, true)

local type, next, rawget, rawset, rawequal = type, next, rawget, rawset, rawequal
local getupvalue, setupvalue = core.debug.getupvalue, core.debug.setupvalue
local data = core.float32_array_data
local Float32Array = core.module("Float32Array")
local reload = core.reloader
local same = reload.same

-- Pairs an array that a file creates with the array of the previous load. Arrays that existed
-- before the dry run are not paired.
function reload.pair_arrays(plan, o, n, a, b)
  local number = core.buffer_number(b)
  if not number or number <= n.arrays_before or n.arrays[b] == nil or o.arrays[a] == nil
    or core.buffer_shape(a) ~= core.buffer_shape(b) or plan.exchange[b] or plan.taken[a]
  then
    return
  end
  plan.exchange[b], plan.taken[a] = a, b
  plan.arrays[#plan.arrays + 1] = { n = n, a = a, b = b, old = o.arrays[a], new = n.arrays[b] }
end

-- Returns the new length of an array: the length in the changed file, unless the game changed the
-- length or the elements that would be removed.
local function new_size(array, old, new)
  local floats, size = data(array)
  if size ~= #old then
    return size
  end
  for i = #new + 1, size do
    if not same(floats[i - 1], old[i]) then
      return size
    end
  end
  return #new
end

-- Adds the elements that the files changed and the game did not, as `sets` of the plan.
function reload.decide_arrays(plan)
  for i = 1, #plan.arrays do
    local at = plan.arrays[i]
    local array, old, new = at.a, at.old, at.new
    if type(old) == "table" and type(new) == "table" then
      local floats, size = data(array)
      local wanted, elements = new_size(array, old, new), {}
      for k = 1, #new < wanted and #new or wanted do
        if not same(old[k], new[k]) and (k > size or k > #old or same(floats[k - 1], old[k])) then
          elements[k] = new[k]
        end
      end
      if wanted ~= size or next(elements) then
        plan.updated = plan.updated + 1
        plan.sets[#plan.sets + 1] = { kind = "array", holder = array, key = wanted,
          value = elements }
      end
    end
  end
end

-- Applies one of these changes.
function reload.change_array(array, size, elements)
  if size ~= #array then
    Float32Array.resize(array, size)
  end
  for i, value in next, elements do
    array[i] = value
  end
end

-- Replaces new arrays with old ones in the objects that a load created. (The walk over the heap
-- does not visit arrays.)
local function exchange_arrays(record, exchange)
  for i = 1, #record.cells do
    local cell = record.cells[i]
    local other = type(cell.value) == "cdata" and exchange[cell.value]
    if other then
      local _, value = getupvalue(cell.fn, cell.index)
      if rawequal(value, cell.value) then
        setupvalue(cell.fn, cell.index, other)
      end
      cell.value = other
    end
  end
  local function exchange_in(table, live)
    for key, value in next, table do
      local other = type(value) == "cdata" and exchange[value]
      if other then
        table[key] = other
        if live and rawequal(rawget(live, key), value) then
          rawset(live, key, other)
        end
      end
    end
  end
  exchange_in(record.globals)
  for table, snapshot in next, record.tables do
    exchange_in(snapshot.fields, table)
  end
end

-- Registers the kept arrays in the new records.
function reload.keep_arrays(plan, records)
  if #plan.arrays == 0 then
    return
  end
  for i = 1, #plan.arrays do
    local at = plan.arrays[i]
    at.n.arrays[at.a], at.n.arrays[at.b] = at.new, nil
  end
  for i = 1, #records do
    exchange_arrays(records[i], plan.exchange)
  end
end
