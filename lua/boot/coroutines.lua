-- Coroutines, and the native stack that nested coroutines share. LuaJIT limits the Lua stack of
-- each coroutine, but not the native stack. The engine therefore resumes coroutines itself
-- (raise.c), and refuses if too little native stack is left. The engine's own Lua uses the same
-- functions, because a game's function also runs in a coroutine of `Timer.run` or of the test
-- library.
local core = ...

local type, coroutine = type, coroutine
local create, resume = coroutine.create, coroutine.resume
local note_death, make_wrapped = core.note_death, core.make_wrapped
local bad_argument, raise = core.bad_argument, core.raise

local function make_refusal(name)
  return function(thread)
    if type(thread) ~= "thread" then
      bad_argument(name, 1, "thread", "thread", thread)
    end
    raise(name .. ": coroutines resume each other too deep: does one resume itself through others?")
  end
end

local refuse_wrapped = make_refusal("coroutine.wrap")

local function wrap(fn)
  if type(fn) ~= "function" then
    bad_argument("coroutine.wrap", 1, "fn", "function", fn)
  end
  return make_wrapped(resume, note_death, refuse_wrapped, create(fn))
end

-- Replaces both the games' library and the library that the later prelude files use.
core.coroutine.resume = core.make_resume(resume, note_death, make_refusal("coroutine.resume"))
core.coroutine.wrap = wrap
coroutine.resume, coroutine.wrap = core.coroutine.resume, wrap

-- Resumes coroutines that the engine starts, with the same check of the native stack. Its error
-- names `Timer.run`, which starts them.
core.resume_timer = core.make_resume(resume, note_death, function()
  raise("Timer.run: coroutines start each other too deep: does one start itself without waiting?")
end)
