-- Many functions: n distinct functions (argument), each with a short loop over a shared table and
-- a branch, called once a frame. Each function is hot enough to be compiled, as in a big game.

local n = tonumber((Application.argv()))

local values = {}
for i = 1, 100 do
  values[i] = (i * 7919) % 31
end

local functions = {}
for first = 1, n, 100 do
  local lines = { "return {" }
  for i = first, math.min(first + 99, n) do
    lines[#lines + 1] = string.format([[
      function(values, state)
        local sum = state
        for k = 1, 100 do
          sum = sum + values[k] * %d
          if sum > %d then sum = sum - %d end
        end
        return sum
      end,]], i % 13 + 1, 1000 + i, 900 + i)
  end
  lines[#lines + 1] = "}"
  for _, made in ipairs(assert(load(table.concat(lines, "\n"), "=many_functions"))()) do
    functions[#functions + 1] = made
  end
end
assert(#functions == n)

local states = {}
for i = 1, n do
  states[i] = i
end

function render()
  for i = 1, n do
    states[i] = functions[i](values, states[i])
  end
end

-- Outside of the sandbox the JIT compiler can be observed: the exit code is the number of times
-- that it discarded all compiled code.
if jit then
  local flushes = 0
  jit.attach(function(what)
    if what == "flush" then
      flushes = flushes + 1
    end
  end, "trace")

  function shutdown()
    Application.quit(math.min(flushes, 255))
  end
end
