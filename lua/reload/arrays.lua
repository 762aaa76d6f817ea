-- Arrays of floats in hot reload: what a load put into those that it made, and what becomes of that
-- where the game wrote into them meanwhile. An array stays the array that it was, as a table does.
local core = ...

-- Compiled code would keep what a reload had in hand alive, and never pays here.
core.jit.off(true, true)

local type, next, rawget, rawset, rawequal = type, next, rawget, rawset, rawequal
local getupvalue, setupvalue = core.debug.getupvalue, core.debug.setupvalue
local data = core.float32_array_data
local Float32Array = core.module("Float32Array")
local reload = core.reloader
local same = reload.same

-- Pairs an array that a file makes with the one that it made before; one that was there before the
-- trial stands for itself.
function reload.pair_arrays(plan, o, n, a, b)
  local number = core.float32_array_number(b)
  if not number or number <= n.arrays_before or n.arrays[b] == nil or o.arrays[a] == nil
    or plan.exchange[b] or plan.taken[a]
  then
    return
  end
  plan.exchange[b], plan.taken[a] = a, b
  plan.arrays[#plan.arrays + 1] = { n = n, a = a, b = b, old = o.arrays[a], new = n.arrays[b] }
end

-- How long an array will be: as the file makes it now, where the game changed neither its length
-- nor what would be gone.
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

-- What of the arrays the files changed and the game did not, as `sets` of the plan.
function reload.decide_arrays(plan)
  for i = 1, #plan.arrays do
    local at = plan.arrays[i]
    local array, old, new = at.a, at.old, at.new
    if old and new then
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

-- Carries out one of them.
function reload.change_array(array, size, elements)
  if size ~= #array then
    Float32Array.resize(array, size)
  end
  for i, value in next, elements do
    array[i] = value
  end
end

-- Puts old arrays in place of the new ones in what a load made. (The walk over the heap passes them
-- by.)
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

-- Has the new records know the arrays that stay.
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
