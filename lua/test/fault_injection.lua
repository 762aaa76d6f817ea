-- Fault injection and external control of the game under test: expected errors in the log, script
-- reloads, disk failures, player input, closing the window. Time is in test_api.lua.
local core = ...

local type, error, rawget = type, error, rawget

local kit = core.test.kit
local engine_test, request = kit.engine_test, kit.request
kit.own(core.debug.getinfo(1, "S").source)

-- Fails or skips the requesting test if the driver's answer says so.
local function settle(answer)
  if not answer then
    return
  elseif answer.kind == "unknown" then
    kit.raise_pending(answer.message)
  end
  kit.fail(answer.message)
end
kit.settle = settle

local TEXT_BYTES_MAX = 16 * 1024 * 1024 -- bytes of a script's new text

local function check(name, index, argument, value)
  if type(value) ~= "string" then
    error("test." .. name .. ": argument #" .. index .. " '" .. argument .. "' must be string, got "
      .. core.describe(value), 3)
  end
end

---Expects one error in the engine's log, which would otherwise make the test fail. The test fails
---if no such error is logged before its end.
---@param pattern string a Lua pattern that matches the error's text
function engine_test.expect_error(pattern)
  kit.expect_error(pattern)
end

-- Texts passed to test.reload, by the path of the script.
local texts = {}
-- Result of the last reload in this VM.
local result

---Replaces the text of a script, as if it were saved while the game runs: its functions are
---replaced and its state is kept. No file is written, and only this engine uses the text.
---@param file string the script's path from the game's folder
---@param text string its new text
---@return boolean|nil reloaded true, or nil if the new text cannot be loaded
---@return string|nil problem the reason; in this case nothing has changed
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
  return nil, (result.location ~= "" and result.location .. ": " or "") .. result.message
end

-- Kinds of faults; true if the fault concerns a file.
local FAULTS = { ["disk full"] = false, ["missing file"] = true, ["device lost"] = false }

---Injects a fault until the test ends: "disk full" (saves and user settings cannot be written) or
---"missing file" (a file of the game's folder appears to be missing; resources that are already
---loaded stay). "device lost": the graphics adapter fails once, as after a driver crash, and all
---its contents must be restored.
---@param kind string name of the fault
---@param file? string for "missing file": its path from the game's folder
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

---Ends every fault that this test injected.
function engine_test.clear_fault()
  request("clear_fault", { fault = "none" })
  core.forget_texts()
end

---Simulates player input. The next frame that runs receives it through the queue of the real
---devices. An event is a table with one of `press`, `release`, `tap` (a key, or "mouse:left",
---"pad1:a"; `value` from 0 to 1), `axis` and `motion` ("mouse:cursor", "pad1:left", with `x` and
---`y`), `text`, `compose`, `touch` (a finger's number, with `phase`, `x`, `y`, `pressure`),
---`connect` and `disconnect` ("pad2"), `focus` (true or false), `resize` ({ width, height }),
---`drop` (a path), `close` (true: the player closes a window), `cursor` ({ x, y }, over a
---secondary window). The last five accept a `window` returned by Window.open.
---@param events table one event, or an ordered list of events
function engine_test.input(events, ...)
  if select("#", ...) > 0 then
    error("test.input: it takes one table: put the events into a list, { { … }, { … } }", 2)
  end
  if type(events) ~= "table" then
    error("test.input: argument #1 'events' must be table, got " .. core.describe(events), 2)
  end
  request("input", { input = true, events = events })
end

---Requests that the game ends, as when the player closes its window. `on_close` may refuse.
---@return boolean ends true if the game ends; no more frames run in this test then
function engine_test.close()
  return request("close", { close = true })
end

-- Functions called by the driver ------------------------------------------------------------------

-- Modules that are loaded later also use their new text.
core.on("module_read", "suites", function(script)
  if script.text then
    kit.keep_frames(script.text)
    kit.choose_test_meaning_of_module(script.text)
  end
  if script.chunk and texts[script.chunk] then
    script.text = texts[script.chunk]
  end
end)

-- Returns true if a script exists: it is loaded, or can be found by the name that corresponds to
-- its path.
local function is_known(file)
  if core.source(file) then
    return true
  end
  local name = file:match("^(.*)/init%.lua$") or file:match("^(.*)%.lua$")
  local script = name and core.read_script((name:gsub("/", ".")))
  return script and script.chunk == file
end

---Reloads a script for the requesting test. Returns a message if the script does not exist.
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

---Converts a request of the test to the driver's form, if it is a request of this file.
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
