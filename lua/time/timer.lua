-- Timers and waiting coroutines: delayed calls and their order. Values that change over time are in
-- tween.lua; the engine's frame drives both.
local core = ...

local type, select, unpack = type, select, unpack
local ipairs, setmetatable = ipairs, setmetatable
local floor, huge, max, min = math.floor, math.huge, math.max, math.min
local create, running = coroutine.create, coroutine.running
local status, yield = coroutine.status, coroutine.yield
local raise, bad_argument, location = core.raise, core.bad_argument, core.location
local no_reload = core.no_reload
local with_context = core.with_context

local TIMERS_MAX = 100000 -- timers and waiting coroutines at one time
local CATCH_UP_MAX = 100 -- calls of one `every`, or of one chain of timers, in one frame
local INTERVAL_SECONDS_MIN = 0.001 -- shorter intervals are considered mistakes
-- Sixty steps of 1/60 s add up to slightly less than 1 s; timers that are due within this tolerance
-- are called now.
local TOLERANCE_SECONDS = 1e-6
local TIME_SECONDS_MAX = 2 ^ 53 -- end of time: beyond it, single seconds are lost

---@module Timer
---@node hidden
---Calls functions later, and lets coroutines `wait`. Timers use the game's time: it follows the
---time step that `update` gets, so slow motion slows timers and a paused game pauses them. In each
---frame, before `update`, everything that is due is called, in the order of its due time; calls
---with the same due time are in the order of creation. Calls that wait for frames come first. A
---callback can create and cancel timers. Inside a callback, the current time is the moment at
---which it was due, so `wait(1)` in a loop and `Timer.every(1, f)` keep their rhythm and do not
---drift. After a long frame they are called several times, but one `every`, or one chain of timers
---that start each other, at most 100 times in a frame; further calls are dropped. A timer of 0
---seconds is due in the next frame. At most 100000 timers can wait at one time. An error in a
---callback is an ordinary error. Its timer is removed, or called again if it is an `every` timer,
---and the other timers are called in the next frame.
---@example
---   local log = {}
---   Timer.after(2, function(name) log[#log + 1] = name end, "after")
---   Timer.run(function()
---     wait(1)
---     log[#log + 1] = "waited"
---   end)
---   Timer.advance(2) -- the engine does this each frame
---   assert(log[1] == "waited" and log[2] == "after")

---@class Timer
local Timer = core.module("Timer")

-- Binary heaps of timers, earliest first: one is ordered by seconds, the other by frames.
local by_time, by_frame = { size = 0 }, { size = 0 }
local pending = {} -- timers in the heaps, by id
local pending_count, last_id = 0, 0
-- One timer per coroutine, reused for all its waits. Weak, so that a finished coroutine is
-- collected.
local thread_timers = setmetatable({}, { __mode = "k" })
local threads_by_id = setmetatable({}, { __mode = "v" })

local frame, now, now_lost = 0, 0, 0 -- `now_lost` is the rounding error of `now` (Kahan sum)
local moment = 0 -- due time of the running callback, else `now`
local chain = 0 -- number of timers of this frame that led to the running callback

local function before(a, b)
  if a.due ~= b.due then return a.due < b.due end
  return a.id < b.id
end

local function sift_up(heap, index)
  local timer = heap[index]
  while index > 1 do
    local parent = floor(index / 2)
    if not before(timer, heap[parent]) then break end
    heap[index] = heap[parent]
    heap[index].index = index
    index = parent
  end
  heap[index] = timer
  timer.index = index
end

local function sift_down(heap, index)
  local timer, size = heap[index], heap.size
  while 2 * index <= size do
    local child = 2 * index
    if child < size and before(heap[child + 1], heap[child]) then child = child + 1 end
    if not before(heap[child], timer) then break end
    heap[index] = heap[child]
    heap[index].index = index
    index = child
  end
  heap[index] = timer
  timer.index = index
end

local function remove(timer)
  local heap, index = timer.heap, timer.index
  local size = heap.size
  local last = heap[size]
  heap[size] = nil
  heap.size = size - 1
  timer.heap = nil
  pending[timer.id] = nil
  pending_count = pending_count - 1
  if last ~= timer then
    heap[index] = last
    last.index = index
    sift_up(heap, index)
    sift_down(heap, last.index)
  end
end

local function insert(heap, timer, due)
  if pending_count >= TIMERS_MAX then
    raise("Timer: " .. TIMERS_MAX .. " timers are waiting and no more are allowed;"
      .. " is one made in every frame?")
  end
  timer.due, timer.heap = due, heap
  timer.chain, timer.chain_frame = chain + 1, frame
  heap.size = heap.size + 1
  heap[heap.size] = timer
  pending[timer.id] = timer
  pending_count = pending_count + 1
  sift_up(heap, heap.size)
end

-- Returns a time after now, even at very large times: there, adding a short time changes nothing,
-- and a timer that is due again at once would be called forever.
local function later(seconds)
  return now + max(seconds, 4 * TOLERANCE_SECONDS, now * 2 ^ -50)
end

local function schedule(timer, seconds)
  if seconds <= TOLERANCE_SECONDS then return insert(by_frame, timer, frame + 1) end
  local due = moment + seconds
  if due <= now + TOLERANCE_SECONDS and chain >= CATCH_UP_MAX then due = later(seconds) end
  insert(by_time, timer, due)
end

local function new_id()
  last_id = last_id + 1
  return last_id
end

-- A file that runs after this one sets `core.resume_reporting`.
local function step_thread(timer, ...)
  with_context("When running coroutine started at:", timer.created_at, core.resume_reporting,
    timer.thread, ...)
end

local function call_timer(timer)
  local created_at, call, count = timer.created_at, timer.call, timer.count
  if count == 0 then return with_context("When running timer made at:", created_at, call) end
  with_context("When running timer made at:", created_at, call, unpack(timer.arguments, 1, count))
end

-- Reschedules a repeating timer. The next due time is computed from the first one, so that rounding
-- errors do not accumulate.
local function schedule_next(timer)
  if timer.burst_frame ~= frame then timer.burst_frame, timer.burst = frame, 0 end
  timer.burst = timer.burst + 1
  local turn = timer.turn + 1
  if timer.burst >= CATCH_UP_MAX then
    turn = max(turn, floor((now + TOLERANCE_SECONDS - timer.base) / timer.interval) + 1)
  end
  timer.turn = turn
  timer.due = timer.base + turn * timer.interval
  if timer.burst >= CATCH_UP_MAX then timer.due = max(timer.due, later(0)) end
  sift_down(by_time, timer.index)
end

local function fire(timer, at)
  moment = at
  chain = timer.chain_frame == frame and timer.chain or 0
  if timer.interval and timer.left ~= 1 then
    if timer.left then timer.left = timer.left - 1 end
    schedule_next(timer)
  else
    remove(timer)
  end
  if timer.thread then
    timer.woken = true
    step_thread(timer)
  else
    call_timer(timer)
  end
end

-- Advances time and calls timers that are due. An error interrupts this loop: the state is
-- consistent before each call, and timers that are still due remain.
local function advance(seconds)
  frame = frame + 1
  local step = seconds - now_lost
  local sum = min(now + step, TIME_SECONDS_MAX)
  now_lost = sum < TIME_SECONDS_MAX and (sum - now) - step or 0
  now, moment, chain = sum, sum, 0
  while by_frame.size > 0 and by_frame[1].due <= frame do fire(by_frame[1], now) end
  while by_time.size > 0 and by_time[1].due <= now + TOLERANCE_SECONDS do
    fire(by_time[1], min(by_time[1].due, now))
  end
  moment, chain = now, 0
end

local function is_seconds(value, smallest)
  -- NaN fails both comparisons.
  return type(value) == "number" and value >= smallest and value < huge
end

local function check_seconds(name, index, value)
  if not is_seconds(value, 0) then
    bad_argument(name, index, "seconds", "a number of seconds, 0 or above", value)
  end
end

local function check_function(name, index, value)
  if type(value) ~= "function" then bad_argument(name, index, "call", "a function", value) end
end

local function check_id(name, value)
  if type(value) ~= "number" then
    bad_argument(name, 1, "id", "a number that Timer.after, every or run returned", value)
  end
end

---Calls a function once after a delay; after 0 seconds, in the next frame.
---@param seconds number delay from now, 0 or more
---@param call function function to call
---@param ... any arguments for the function
---@return integer the id for `Timer.cancel` and `Timer.remaining`; ids are never reused
function Timer.after(seconds, call, ...)
  no_reload("Timer.after")
  check_seconds("Timer.after", 1, seconds)
  check_function("Timer.after", 2, call)
  local count = select("#", ...)
  local timer = { id = new_id(), call = call, count = count, created_at = location() }
  if count > 0 then timer.arguments = { ... } end
  schedule(timer, seconds)
  return timer.id
end

---Calls a function repeatedly at a fixed interval. The calls do not drift. After a frame longer
---than the interval, the function is called several times, at most 100 times in one frame.
---@param seconds number the interval, at least 0.001
---@param call function function to call, without arguments
---@param count? integer number of calls, a whole number above 0; without it, until cancelled
---@return integer the id for `Timer.cancel` and `Timer.remaining`
function Timer.every(seconds, call, count)
  no_reload("Timer.every")
  if not is_seconds(seconds, INTERVAL_SECONDS_MIN) then
    bad_argument("Timer.every", 1, "seconds",
      "a number of seconds, " .. INTERVAL_SECONDS_MIN .. " or above", seconds)
  end
  check_function("Timer.every", 2, call)
  if count ~= nil and not (is_seconds(count, 1) and count == floor(count)) then
    bad_argument("Timer.every", 3, "count", "a whole number above 0", count)
  end
  local timer = { id = new_id(), call = call, count = 0, created_at = location() }
  timer.interval, timer.left = seconds, count
  timer.base, timer.turn = moment, 1
  insert(by_time, timer, moment + seconds)
  return timer.id
end

---Starts a function as a coroutine, in which `wait` and `wait_frames` work. It runs immediately
---until its first wait. An error in it is reported with the coroutine's own stack. If the
---coroutine calls `coroutine.yield`, the game must resume it.
---@param call function the function to run
---@param ... any arguments for the function
---@return integer the id for `Timer.cancel`, which ends the coroutine at its wait
function Timer.run(call, ...)
  no_reload("Timer.run")
  check_function("Timer.run", 1, call)
  local thread = create(call)
  local timer = { id = new_id(), thread = thread, created_at = location() }
  thread_timers[thread] = timer
  threads_by_id[timer.id] = timer
  step_thread(timer, ...)
  return timer.id
end

---Cancels a timer, or a coroutine started by `Timer.run`. A coroutine that is cancelled while it
---runs ends at its next wait.
---@param id integer id returned by `Timer.after`, `Timer.every` or `Timer.run`
---@return boolean false if it was already over
function Timer.cancel(id)
  no_reload("Timer.cancel")
  check_id("Timer.cancel", id)
  local timer = pending[id]
  if timer then
    remove(timer)
    timer.cancelled = true
    return true
  end
  timer = threads_by_id[id]
  if not timer or timer.cancelled then return false end
  local state = status(timer.thread)
  if state ~= "running" and state ~= "normal" then return false end
  timer.cancelled = true
  return true
end

---Cancels every timer and every waiting coroutine. A coroutine that calls this function continues.
function Timer.cancel_all()
  no_reload("Timer.cancel_all")
  for _, heap in ipairs({ by_time, by_frame }) do
    while heap.size > 0 do
      local timer = heap[heap.size]
      remove(timer)
      timer.cancelled = true
    end
  end
end

---Returns the remaining time of a timer in seconds; 0 for one that waits for frames.
---@param id integer id returned by `Timer.after`, `Timer.every` or `Timer.run`
---@return number? seconds, nil if nothing waits under this id
function Timer.remaining(id)
  check_id("Timer.remaining", id)
  local timer = pending[id]
  if not timer then return nil end
  if timer.heap == by_frame then return 0 end
  return max(timer.due - moment, 0)
end

---Returns the number of waiting timers and coroutines.
---@return integer from 0 to 100000
function Timer.count()
  return pending_count
end

---Advances the time of all timers and calls those that are due. The engine does this in each
---frame; call it yourself in tests, or to skip ahead.
---@param seconds number time step, 0 or more; it counts as one frame
function Timer.advance(seconds)
  no_reload("Timer.advance")
  check_seconds("Timer.advance", 1, seconds)
  advance(seconds)
end

local function waiting_timer(name)
  local thread = running()
  if not thread then
    raise(name .. ": works only inside a coroutine; start one with Timer.run(function() ... end)")
  end
  local timer = thread_timers[thread]
  if not timer then
    timer = { id = new_id(), thread = thread, created_at = location() }
    thread_timers[thread] = timer
    threads_by_id[timer.id] = timer
  end
  return timer
end

local function wait_for(name, timer)
  timer.woken = false
  yield()
  if timer.woken then return end
  if timer.heap then remove(timer) end
  raise(name .. ": coroutine.resume was called on a coroutine that "
    .. (timer.cancelled and "was cancelled" or "waits; the timer resumes it when its time comes"))
end

---Suspends the calling coroutine for some time; other code continues. `wait(0)` waits for the next
---frame.
---@param seconds number delay, 0 or more
function wait(seconds)
  no_reload("wait")
  check_seconds("wait", 1, seconds)
  local timer = waiting_timer("wait")
  if not timer.cancelled then schedule(timer, seconds) end
  wait_for("wait", timer)
end

---Suspends the calling coroutine for a number of frames.
---@param frames? integer number of frames, a whole number from 1; 1 by default
function wait_frames(frames)
  no_reload("wait_frames")
  frames = frames == nil and 1 or frames
  if not (is_seconds(frames, 1) and frames == floor(frames)) then
    bad_argument("wait_frames", 1, "frames", "a whole number above 0", frames)
  end
  local timer = waiting_timer("wait_frames")
  if not timer.cancelled then insert(by_frame, timer, frame + frames) end
  wait_for("wait_frames", timer)
end

-- The engine calls this once per frame, before the game's update, with the game's time step.
core.on("frame_update", "timers", advance)
