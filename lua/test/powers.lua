-- What a test can do to its game from outside: expect errors in the log, give a script another
-- text, have the disk fail, close the window. Time is in engine.lua.
local core = ...

local type, error, rawget = type, error, rawget

local kit = core.test.kit
local engine_test, request = kit.engine_test, kit.request
kit.own(core.debug.getinfo(1, "S").source)

-- Fails or skips the test that asked, where the driver says so.
local function settle(answer)
  if not answer then
    return
  elseif answer.kind == "unknown" then
    kit.raise_pending(answer.words)
  end
  kit.fail(answer.words)
end
kit.settle = settle

local TEXT_BYTES_MAX = 16 * 1024 * 1024 -- of a script's new text

local function check(name, index, argument, value)
  if type(value) ~= "string" then
    error("test." .. name .. ": argument #" .. index .. " '" .. argument .. "' must be string, got "
      .. core.describe(value), 3)
  end
end

---Expects one error in the engine's log, which would fail the test otherwise. The test fails where
---no such error comes before its end.
---@param pattern string a Lua pattern that the error's text fits
function engine_test.expect_error(pattern)
  kit.expect_error(pattern)
end

-- The texts that test.reload gave, by the path of the script.
local texts = {}
-- What the last reload in this VM came to.
local result

---Gives a script another text, as if it were saved while the game runs: its functions are replaced
---and state is kept. No file is written, and only this engine sees it.
---@param file string the script's path from the game's folder
---@param text string its new text
---@return boolean|nil reloaded true, or nil where the new text cannot be taken
---@return string|nil problem why: then everything is as it was
function engine_test.reload(file, text)
  check("reload", 1, "file", file)
  check("reload", 2, "text", text)
  if #text > TEXT_BYTES_MAX then
    error("test.reload: the text has more than " .. TEXT_BYTES_MAX .. " bytes", 2)
  end
  result = nil
  request("reload", { reload = true, file = file, text = text })
  if result.ok then
    return true
  end
  return nil, (result.place ~= "" and result.place .. ": " or "") .. result.message
end

-- Whether it is of a file.
local FAULTS = { ["disk full"] = false, ["missing file"] = true, ["device lost"] = false }

---Has something of the outside fail until the test ends: "disk full" (saves and user settings
---cannot be written) or "missing file" (a file of the game's folder is as if it were not there;
---what was loaded before stays). "device lost": the graphics adapter fails once, as where its
---driver crashes, and must come back with everything that was on it.
---@param kind string which fault
---@param file? string of "missing file": its path from the game's folder
function engine_test.fault(kind, file)
  check("fault", 1, "kind", kind)
  local of_file = FAULTS[kind]
  if of_file == nil then
    local near = core.suggest(kind, core.names(FAULTS))
    error("test.fault: there is no fault '" .. kind .. "'"
      .. (near and ", did you mean '" .. near .. "'?" or "")
      .. " (there are 'device lost', 'disk full' and 'missing file')", 2)
  elseif of_file then
    check("fault", 2, "file", file)
  elseif file ~= nil then
    error("test.fault: '" .. kind .. "' takes no file, got " .. core.describe(file), 2)
  end
  settle(request("fault", { fault = kind, file = file }))
  core.forget_texts()
end

---Ends every fault that this test began.
function engine_test.mend()
  request("mend", { fault = "none" })
  core.forget_texts()
end

---Does something in the player's place; the next frame that is played gets it, through the queue
---that devices go through. An event is a table with one of `press`, `release`, `tap` (a key, or
---"mouse:left", "pad1:a"; `value` from 0 to 1), `axis` and `motion` ("mouse:cursor", "pad1:left",
---with `x` and `y`), `text`, `compose`, `touch` (a finger's number, with `phase`, `x`, `y`,
---`pressure`), `connect` and `disconnect` ("pad2"), `focus` (true or false), `resize` ({ width,
---height }), `drop` (a path), `close` (true: the player closes a window), `cursor` ({ x, y }, over
---a window beside the main one). The last five take a `window` that Window.open gave.
---@param events table one event, or a list of them in their order
function engine_test.input(events)
  if type(events) ~= "table" then
    error("test.input: argument #1 'events' must be table, got " .. core.describe(events), 2)
  end
  request("input", { input = true, events = events })
end

---Asks the game to end, as the player does who closes its window: `on_close` may refuse.
---@return boolean ends whether the game ends; it plays no more frames in this test then
function engine_test.close()
  return request("close", { close = true })
end

-- What the driver calls ---------------------------------------------------------------------------

-- Modules that are loaded later have their new text, too.
local read_script = core.read_script
function core.read_script(name)
  local script = read_script(name)
  if script.text then
    kit.keep_frames(script.text)
    kit.choose_test_word_of_module(script.text)
  end
  if script.chunk and texts[script.chunk] then
    script.text = texts[script.chunk]
  end
  return script
end

-- Whether there is such a script: loaded, or to be found by the name that its path has.
local function is_known(file)
  if core.source(file) then
    return true
  end
  local name = file:match("^(.*)/init%.lua$") or file:match("^(.*)%.lua$")
  local script = name and read_script((name:gsub("/", ".")))
  return script and script.chunk == file
end

---Reloads a script for the test that asked; words where there is no such script.
function core.test_reload(file, text)
  if not is_known(file) then
    return "test.reload: there is no script '" .. file .. "' in the game's folder"
  end
  core.forget_texts()
  local before = texts[file]
  texts[file] = text
  local globals = core.globals
  result = core.reload_files({ { chunk = file, text = text } })
  if not result.ok then
    texts[file] = before
  elseif type(rawget(globals, "on_reload")) == "function" then
    globals.on_reload({ file })
  end
end

---The request of these that an event of the runner makes, in the driver's words.
function kit.power_of(wanted)
  if wanted.reload then
    return { kind = "request", request = "reload", file = wanted.file, text = wanted.text }
  elseif wanted.fault then
    return { kind = "request", request = "fault", fault = wanted.fault, file = wanted.file }
  elseif wanted.screenshot then
    return { kind = "request", request = "screenshot", name = wanted.screenshot,
      picture = wanted.picture, tolerance = wanted.tolerance }
  elseif wanted.input then
    return { kind = "request", request = "input", events = wanted.events }
  elseif wanted.close then
    return { kind = "request", request = "close" }
  end
end
