---@meta
-- Definitions of the test functions, for editors. `engine test` provides these functions in files
-- named *_test.lua and *_spec.lua. Nothing here runs; the implementation is in the other files of
-- the engine's lua/test.

---Groups tests under a name. Groups can be nested.
---@param name string name of the tested subject
---@param body fun() function that calls `it` for each test
function describe(name, body) end

---Alias of `describe`.
---@param name string name of the tested subject
---@param body fun() function that calls `it` for each test
function context(name, body) end

---Groups tests and reverts their changes to globals and loaded modules at the end of the group.
---@param name string name of the tested subject
---@param body fun() function that calls `it` for each test
function insulate(name, body) end

---Groups tests and keeps their changes to globals and loaded modules for the groups that follow.
---@param name string name of the tested subject
---@param body fun() function that calls `it` for each test
function expose(name, body) end

---Defines a test. The test passes if its body raises no error.
---@param name string the tested behavior, as a sentence
---@param body fun() the test
function it(name, body) end

---Alias of `it`.
---@param name string the tested behavior, as a sentence
---@param body fun() the test
function spec(name, body) end

---Defines a test that is listed but does not run. Inside a test, ends that test as pending.
---@param name string the expected behavior
---@param body? fun() the test, which is not run
function pending(name, body) end

---Registers a function that runs before each test of the group.
---@param body fun() function to run
function before_each(body) end

---Registers a function that runs after each test of the group, even if the test failed.
---@param body fun() function to run
function after_each(body) end

---Registers a function that runs once, before the first test of the group.
---@param body fun() function to run
function setup(body) end

---Registers a function that runs once, after the last test of the group.
---@param body fun() function to run
function teardown(body) end

---Registers a function that runs once, before the first test of the group that actually runs.
---@param body fun() function to run
function lazy_setup(body) end

---Registers a function that runs once, after the last test of the group, if any test actually ran.
---@param body fun() function to run
function lazy_teardown(body) end

---Alias of `setup`.
---@param body fun() function to run
function strict_setup(body) end

---Alias of `teardown`.
---@param body fun() function to run
function strict_teardown(body) end

---Runs the tests of this group in a random order.
---@param seed? integer seed of the random order
function randomize(seed) end

---Inside a test, registers a function that runs at its end, even if the test failed.
---@param body fun() function to run
function finally(body) end

---@class test
---@overload fun(name: string, body: fun())
test = {}

---Runs frames: time passes, timers and tweens run, and `update` and `render` are called if the game
---defines them. An error in a frame is raised here.
---@param count? integer number of frames, 1 by default
---@return integer # number of frames that ran
function test.frames(count) end

---Runs as many frames as needed to advance the game's time by some seconds.
---@param seconds number seconds of the game's time, 0 or more
---@return integer # number of frames that ran
function test.seconds(seconds) end

---Runs frames until a function returns a true value. The test fails if the limit is reached.
---@param predicate fun(): any called before each frame
---@param limit? integer maximum number of frames, 600 by default
---@return integer # number of frames that ran
function test.until_(predicate, limit) end

---Starts the game like `engine run`: its boot script, then `init`. Can be called once per file.
function test.boot() end

---Expects one error in the engine's log, which would otherwise make the test fail. The test fails
---if no such error is logged before its end.
---@param pattern string a Lua pattern that matches the error's text
function test.expect_error(pattern) end

---Replaces the text of a script, as if it were saved while the game runs: its functions are
---replaced and its state is kept. No file is written, and only this test file uses the text.
---@param file string the script's path from the game's folder
---@param text string its new text
---@return boolean|nil # true, or nil if the new text cannot be loaded
---@return string|nil # the reason; in this case nothing has changed
function test.reload(file, text) end

---Injects a fault until the test ends: "disk full" (saves and user settings cannot be written) or
---"missing file" (a file of the game's folder appears to be missing; resources that are already
---loaded stay). "device lost": the graphics adapter fails once, as after a driver crash, and all
---its contents must be restored.
---@param kind string name of the fault
---@param file? string for "missing file": its path from the game's folder
function test.fault(kind, file) end

---Ends every fault that this test injected.
function test.clear_fault() end

---Simulates player input. The next frame that runs receives it through the queue of the real
---devices. An event is a table with one of `press`, `release`, `tap` (a key, or "mouse:left",
---"pad1:a"; `value` from 0 to 1), `axis` and `motion` ("mouse:cursor", "pad1:left", with `x` and
---`y`), `text`, `compose`, `touch` (a finger's number, with `phase`, `x`, `y`, `pressure`),
---`connect` and `disconnect` ("pad2"), `focus` (true or false), `resize` ({ width, height }),
---`drop` (a path), `close` (true: the player closes a window), `cursor` ({ x, y }, over a
---secondary window). The last five accept a `window` returned by Window.open.
---@param events table one event, or an ordered list of events
function test.input(events) end

---Compares the last frame that ran with an approved reference. Fails if they differ. The reference
---is next to the suite: for `hud_test.lua` in `hud_test.golden`, as a list of draw calls or, with
---`picture = true`, as an image rendered by the software adapter. The option `--update-golden` of
---`engine test` writes it. Images are compared in blocks of 8 x 8 pixels, whose bytes may differ
---by `tolerance` on average (6). A machine without such an adapter skips the test.
---@param name string the file's name: letters, digits, `_` and `-`
---@param options? table `picture`: true or false; `tolerance`: from 0 to 255
function test.screenshot(name, options) end

---Requests that the game ends, as when the player closes its window. `on_close` may refuse.
---@return boolean # true if the game ends; no more frames run in this test then
function test.close() end

---Raises an error unless a value is true. In suites also a table of assertions, such as
---`assert.equals(3, #list)`. Their keywords can be joined by dots or underscores:
---`assert.is_not_nil`, `assert.is_not.equal`.
---@class luassert
---@field is luassert
---@field are luassert
---@field has luassert
---@field is_not luassert negates the assertion
---@field are_not luassert negates the assertion
---@field has_no luassert negates the assertion
---@field [string] any
---@overload fun(value: any, message?: any, ...: any): any
assert = {}

---Checks that two values are the same: equal numbers, strings and vectors, or the same table.
---@param expected any the expected value
---@param actual any the actual value
---@param message? any message for a failure
function assert.equals(expected, actual, message) end

---Checks that two values are not the same.
---@param unexpected any the value that must not occur
---@param actual any the actual value
---@param message? any message for a failure
function assert.not_equals(unexpected, actual, message) end

---Checks that two values have the same contents, including nested tables.
---@param expected any the expected value
---@param actual any the actual value
---@param message? any message for a failure
function assert.same(expected, actual, message) end

---Checks that two values have different contents.
---@param unexpected any the value that must not occur
---@param actual any the actual value
---@param message? any message for a failure
function assert.not_same(unexpected, actual, message) end

---Checks that two numbers differ by no more than a tolerance.
---@param expected number the expected number
---@param actual number the actual number
---@param tolerance number the largest difference allowed
---@param message? any message for a failure
function assert.near(expected, actual, tolerance, message) end

---Checks that a function, or the worst of some frames, does not exceed a budget: `engine_calls`,
---`allocations`, `allocated_bytes`, `cpu_milliseconds`; for frames also `scopes` (by name, `calls`
---and `milliseconds`), `counters` (by name), and `frames`, the number of frames to run. `warm` is a
---number of calls or frames before the measurement; of a function with `warm`, five calls are
---measured and the smallest figures count, because LuaJIT allocates when it compiles.
---@param budget table the limits
---@param work? function function to measure; frames are run if omitted
function assert.within_budget(budget, work) end

---Checks that a string matches a Lua pattern.
---@param pattern string the pattern
---@param actual string the string
function assert.matches(pattern, actual) end

---Checks that a value is true.
---@param value any the actual value
---@param message? any message for a failure
function assert.is_true(value, message) end

---Checks that a value is false.
---@param value any the actual value
---@param message? any message for a failure
function assert.is_false(value, message) end

---Checks that a value is nil.
---@param value any the actual value
---@param message? any message for a failure
function assert.is_nil(value, message) end

---Checks that a value is not nil.
---@param value any the actual value
---@param message? any message for a failure
function assert.is_not_nil(value, message) end

---Checks that a value is not nil and not false.
---@param value any the actual value
---@param message? any message for a failure
function assert.is_truthy(value, message) end

---Checks that a value is nil or false.
---@param value any the actual value
---@param message? any message for a failure
function assert.is_falsy(value, message) end

---Checks that a value is a number. Similar assertions exist for other types: `assert.is_boolean`.
---@param value any the actual value
---@param message? any message for a failure
function assert.is_number(value, message) end

---Checks that a value is a string.
---@param value any the actual value
---@param message? any message for a failure
function assert.is_string(value, message) end

---Checks that a value is a table.
---@param value any the actual value
---@param message? any message for a failure
function assert.is_table(value, message) end

---Checks that a value is a function.
---@param value any the actual value
---@param message? any message for a failure
function assert.is_function(value, message) end

---Checks that a function raises an error.
---@param body function called without arguments
---@param expected? any the expected error; any error if omitted
function assert.has_error(body, expected) end

---Checks that a function raises no error.
---@param body function called without arguments
function assert.has_no_error(body) end

---Checks that a function raises an error whose text matches a Lua pattern.
---@param body function called without arguments
---@param pattern string the pattern
function assert.error_matches(body, pattern) end

---Starts an assertion about a spy: `assert.spy(s).was_called(2)`.
---@param spy spy the spy
---@return luassert # the assertion
function assert.spy(spy) end

---A function that records its calls: `.calls`, `assert.spy(s).was_called_with(…)`.
---@class spy
---@field calls table[]
---@field [string] any
---@overload fun(...: any): any
spy = {}

---Creates a spy around a function, or around a function that does nothing.
---@param body? function the function
---@return spy # the spy
function spy.new(body) end

---Replaces `target[key]` with a spy, which still calls the function.
---@param target table table that contains the function
---@param key any key of the function
---@return spy # the spy
function spy.on(target, key) end

---Replaces `target[key]` with a function that returns the passed values.
---@param target table table that contains the function
---@param key any key of the function
---@param ... any the values to return
---@return spy # the spy
function stub(target, key, ...) end

---Replaces every function in a table with a spy or a stub.
---@param target table table that contains the functions
---@param as_stub? boolean true creates stubs
---@return table # the same table
function mock(target, as_stub) end

---Placeholders for values in an expected call: `match.is_number()`, `match._` for any.
---@type table<string, any>
match = {}

---Returns the draw calls of the last frame that ran. Those of worlds come first, as tables with
---`world`, `pass` ("solid", "blended", "particles", "sun shadow", "spot shadow", "omni shadow";
---those of spots and omni lights only if they are drawn again), `what` ("mesh", "sprite",
---"tilemap", "particles"), `name`, `part`, `unit`, `material` (names, nil if the drawn
---objects differ) and `count` (number of instances). Those of Guis follow, as tables with `gui`,
---`layer`, `count` (quadrilaterals), `material` and `texture` (numbers of the renderer) and `name`
---(of a texture that is not in the shared atlas).
---@return table[] # one table for each
function test.draws() end

---Returns the number of draw calls in the last frame that ran.
---@return integer # number of draw calls
function test.draw_calls() end
