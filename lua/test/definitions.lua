---@meta
-- The words of test suites, for editors; `engine test` knows them in files named *_test.lua and
-- *_spec.lua. Nothing here runs; what the words do is in the other files of the engine's lua/test.

---Groups tests under a name. Groups can stand in groups.
---@param name string what is tested
---@param body fun() calls `it` for each test
function describe(name, body) end

---The same as `describe`.
---@param name string what is tested
---@param body fun() calls `it` for each test
function context(name, body) end

---A group whose changes to globals and loaded modules are undone at its end.
---@param name string what is tested
---@param body fun() calls `it` for each test
function insulate(name, body) end

---A group whose changes to globals and loaded modules stay for the groups that follow.
---@param name string what is tested
---@param body fun() calls `it` for each test
function expose(name, body) end

---A test: it passes where its body raises no error.
---@param name string what holds, as a sentence
---@param body fun() the test
function it(name, body) end

---The same as `it`.
---@param name string what holds, as a sentence
---@param body fun() the test
function spec(name, body) end

---A test that is listed and not run; inside a test it ends that test as not finished.
---@param name string what will hold
---@param body? fun() the test, for later
function pending(name, body) end

---Runs before each test of the group.
---@param body fun() what to do
function before_each(body) end

---Runs after each test of the group, also where the test failed.
---@param body fun() what to do
function after_each(body) end

---Runs once, before the first test of the group.
---@param body fun() what to do
function setup(body) end

---Runs once, after the last test of the group.
---@param body fun() what to do
function teardown(body) end

---Runs once, before the first test of the group that is really run.
---@param body fun() what to do
function lazy_setup(body) end

---Runs once, after the last test of the group, where one was really run.
---@param body fun() what to do
function lazy_teardown(body) end

---The same as `setup`.
---@param body fun() what to do
function strict_setup(body) end

---The same as `teardown`.
---@param body fun() what to do
function strict_teardown(body) end

---Runs the tests of this group in a random order.
---@param seed? integer where the order begins
function randomize(seed) end

---Inside a test: runs at its end, also where it failed.
---@param body fun() what to do
function finally(body) end

---@class test
---@overload fun(name: string, body: fun())
test = {}

---Plays frames: time passes, timers and tweens run, `update` and `render` are called where the game
---has them. An error in a frame is raised here.
---@param count? integer how many frames, 1 if left out
---@return integer # frames that were played
function test.frames(count) end

---Plays as many frames as the game's time needs to move on by some seconds.
---@param seconds number seconds of the game's time, 0 or more
---@return integer # frames that were played
function test.seconds(seconds) end

---Plays frames until a function returns something true. The test fails where that never happens.
---@param predicate fun(): any asked before each frame
---@param limit? integer frames that it may take, 600 if left out
---@return integer # frames that were played
function test.until_(predicate, limit) end

---Starts the game as `engine run` does: its boot script, then `init`. Once in each file.
function test.boot() end

---Expects one error in the engine's log, which would fail the test otherwise. The test fails where
---no such error comes before its end.
---@param pattern string a Lua pattern that the error's text fits
function test.expect_error(pattern) end

---Gives a script another text, as if it were saved while the game runs: its functions are replaced
---and state is kept. No file is written, and only this file of tests sees it.
---@param file string the script's path from the game's folder
---@param text string its new text
---@return boolean|nil # true, or nil where the new text cannot be taken
---@return string|nil # why: then everything is as it was
function test.reload(file, text) end

---Has something of the outside fail until the test ends: "disk full" (saves and user settings
---cannot be written) or "missing file" (a file of the game's folder is as if it were not there;
---what was loaded before stays).
---@param kind string which fault
---@param file? string of "missing file": its path from the game's folder
function test.fault(kind, file) end

---Ends every fault that this test began.
function test.mend() end

---Does something in the player's place; the next frame that is played gets it, through the queue
---that devices go through. An event is a table with one of `press`, `release`, `tap` (a key, or
---"mouse:left", "pad1:a"; `value` from 0 to 1), `axis` and `motion` ("mouse:cursor", "pad1:left",
---with `x` and `y`), `text`, `compose`, `touch` (a finger's number, with `phase`, `x`, `y`,
---`pressure`), `connect` and `disconnect` ("pad2"), `focus` (true or false), `resize` ({ width,
---height }), `drop` (a path), `close` (true: the player closes a window), `cursor` ({ x, y }, over
---a window beside the main one). The last five take a `window` that Window.open gave.
---@param events table one event, or a list of them in their order
function test.input(events) end

---Asks the game to end, as the player does who closes its window: `on_close` may refuse.
---@return boolean # whether the game ends; it plays no more frames in this test then
function test.close() end

---Checks a value, and in suites much more: `assert.equals(3, #list)`. Words can be joined by dots
---or underscores: `assert.is_not_nil`, `assert.is_not.equal`.
---@class luassert
---@field is luassert
---@field are luassert
---@field has luassert
---@field is_not luassert the opposite
---@field are_not luassert the opposite
---@field has_no luassert the opposite
---@field [string] any
---@overload fun(value: any, message?: any, ...: any): any
assert = {}

---The two are the same value: equal numbers, texts and vectors, or one table.
---@param expected any what is due
---@param actual any what is there
---@param message? string said where it fails
function assert.equals(expected, actual, message) end

---The two are not the same value.
---@param unexpected any what must not be
---@param actual any what is there
---@param message? string said where it fails
function assert.not_equals(unexpected, actual, message) end

---The two hold the same, tables inside tables too.
---@param expected any what is due
---@param actual any what is there
---@param message? string said where it fails
function assert.same(expected, actual, message) end

---The two do not hold the same.
---@param unexpected any what must not be
---@param actual any what is there
---@param message? string said where it fails
function assert.not_same(unexpected, actual, message) end

---Two numbers differ by no more than a tolerance.
---@param expected number what is due
---@param actual number what is there
---@param tolerance number the largest difference allowed
---@param message? string said where it fails
function assert.near(expected, actual, tolerance, message) end

---A function, or the worst of some frames, costs no more than a budget: `engine_calls`,
---`allocations`, `allocated_bytes`, `cpu_milliseconds`; of frames also `scopes` (by name, `calls`
---and `milliseconds`) and `counters` (by name), and `frames`, how many are played.
---@param budget table the limits; `warm`: calls or frames before that do not count
---@param work? function what is measured; frames are played if left out
function assert.within_budget(budget, work) end

---A text fits a Lua pattern.
---@param pattern string the pattern
---@param actual string the text
function assert.matches(pattern, actual) end

---The value is true.
---@param value any what is there
---@param message? string said where it fails
function assert.is_true(value, message) end

---The value is false.
---@param value any what is there
---@param message? string said where it fails
function assert.is_false(value, message) end

---The value is nil.
---@param value any what is there
---@param message? string said where it fails
function assert.is_nil(value, message) end

---The value is not nil.
---@param value any what is there
---@param message? string said where it fails
function assert.is_not_nil(value, message) end

---The value is neither nil nor false.
---@param value any what is there
---@param message? string said where it fails
function assert.is_truthy(value, message) end

---The value is nil or false.
---@param value any what is there
---@param message? string said where it fails
function assert.is_falsy(value, message) end

---The value is a number. Other types alike: `assert.is_boolean`.
---@param value any what is there
---@param message? string said where it fails
function assert.is_number(value, message) end

---The value is a string.
---@param value any what is there
---@param message? string said where it fails
function assert.is_string(value, message) end

---The value is a table.
---@param value any what is there
---@param message? string said where it fails
function assert.is_table(value, message) end

---The value is a function.
---@param value any what is there
---@param message? string said where it fails
function assert.is_function(value, message) end

---A function raises an error.
---@param body function called without arguments
---@param expected? any the error it must be; any error if left out
function assert.has_error(body, expected) end

---A function raises no error.
---@param body function called without arguments
function assert.has_no_error(body) end

---A function raises an error whose text fits a Lua pattern.
---@param body function called without arguments
---@param pattern string the pattern
function assert.error_matches(body, pattern) end

---Begins an assertion about a spy: `assert.spy(s).was_called(2)`.
---@param spy spy the spy
---@return luassert # the assertion
function assert.spy(spy) end

---A function that notes its calls: `.calls`, `assert.spy(s).was_called_with(…)`.
---@class spy
---@field calls table[]
---@field [string] any
---@overload fun(...: any): any
spy = {}

---A spy around a function; without one, around a function that does nothing.
---@param body? function the function
---@return spy # the spy
function spy.new(body) end

---Puts a spy in the place of `target[key]`; the function is still called.
---@param target table holds the function
---@param key any where
---@return spy # the spy
function spy.on(target, key) end

---Puts a function that returns the given values in the place of `target[key]`.
---@param target table holds the function
---@param key any where
---@param ... any what it returns
---@return spy # the spy
function stub(target, key, ...) end

---Makes every function in a table a spy, or a stub.
---@param target table holds the functions
---@param as_stub? boolean true makes stubs
---@return table # the same table
function mock(target, as_stub) end

---Stands for a value in an expected call: `match.is_number()`, `match._` for any.
---@type table<string, any>
match = {}

---The draw calls of the last frame that was played: first those of worlds, tables with `world`,
---`pass` ("solid", "blended", "particles", "sun shadow", "spot shadow"), `what` ("mesh", "sprite",
---"tilemap", "particles"), `name`, `part`, `unit`, `material` (names, nil where its things differ)
---and `count` (how many times); then those of Guis, tables with `gui`, `layer`, `count`
---(quadrilaterals), `material` and `texture` (numbers of the renderer's) and `name` (of a texture
---that is not in the shared atlas).
---@return table[] # one table for each
function test.draws() end

---How many draw calls the last frame that was played made.
---@return integer # draw calls
function test.draw_calls() end
