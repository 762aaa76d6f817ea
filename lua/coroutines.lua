-- Coroutines, and the native stack that those inside each other share. LuaJIT bounds the Lua stack
-- of each coroutine and not the native one, so the engine resumes coroutines itself (raise.c),
-- which refuses where too little of it is left. The engine's own Lua uses the same functions: a
-- game's function runs in a coroutine of `Timer.run` and of the test library, too.
local core = ...

local type, coroutine = type, coroutine
local create, resume = coroutine.create, coroutine.resume
local note_death, make_wrapped = core.note_death, core.make_wrapped
local bad_argument, raise = core.bad_argument, core.raise

local function refuser(name)
  return function(thread)
    if type(thread) ~= "thread" then
      bad_argument(name, 1, "thread", "thread", thread)
    end
    raise(name .. ": coroutines resume each other too deep: does one resume itself through others?")
  end
end

local refuse_wrapped = refuser("coroutine.wrap")

local function wrap(fn)
  if type(fn) ~= "function" then
    bad_argument("coroutine.wrap", 1, "fn", "function", fn)
  end
  return make_wrapped(resume, note_death, refuse_wrapped, create(fn))
end

-- Both in the games' library and in the one that the files after this one see.
core.coroutine.resume = core.make_resume(resume, note_death, refuser("coroutine.resume"))
core.coroutine.wrap = wrap
coroutine.resume, coroutine.wrap = core.coroutine.resume, wrap

-- The same for the coroutines that the engine starts, in the words of the function that starts
-- them.
core.resume_timer = core.make_resume(resume, note_death, function()
  raise("Timer.run: coroutines start each other too deep: does one start itself without waiting?")
end)
