-- The texts that functions may have their code from, while a tool debugs the game: the current text
-- of each script, and earlier ones, which running functions keep. Also the lines to which a stopped
-- function can jump (src/script/debugger/jump.rs).
local core = ...

core.jit.off(true, true)

local next, pcall, sub = next, pcall, string.sub
local getinfo = core.debug.getinfo
local reload, breakpoints, calls = core.reloader, core.breakpoints, core.inserted_calls

local TEXTS_MAX = 8 -- earlier texts of one script that are kept
local COMPILED_MAX = 64 -- texts that are kept compiled
local MARK = 'if ("")["\\27goto"]() then end '

local versions = {}
core.text_versions = versions

-- The current text of each script, and the earlier ones: `{ text, id }`, the oldest first. Both are
-- nil while no tool debugs the game.
local current, earlier
-- The earlier texts, by the number by which a tool asks for them, less `first_id`.
local by_id, first_id = {}, 0
-- Main functions without inserted calls, by chunk and text.
local compiled, count = {}, 0
reload.debugged_texts = compiled

-- Returns the main function of a text, or nil.
local function main_of(chunk, text)
  local key = chunk .. "\n" .. text
  if not compiled[key] then
    if count >= COMPILED_MAX then
      count = 0
      for known in next, compiled do compiled[known] = nil end
    end
    local ok, main = pcall(reload.compile_text, { chunk = chunk, text = text })
    if not ok then return nil end
    compiled[key], count = main, count + 1
  end
  return compiled[key]
end

-- Returns the main function from whose text a function has its code, and the calls in that text;
-- nil if it is another text.
local function version_in(fn, chunk, text)
  local group = breakpoints.versions(chunk, text)
  for i = group and #group or 0, 1, -1 do
    if core.debug_is_version(fn, group[i]) then return group[i], group.inserted[group[i]] or {} end
  end
  local main = main_of(chunk, text)
  if main and core.debug_is_version(fn, main) then return main, {} end
end

-- Returns the text that a function of a script is from, its main function, the calls in it, and the
-- number of an earlier text; nil if the text is not known.
local function version_of(fn, chunk)
  local text = core.source(chunk)
  local main, inserted
  if text then
    main, inserted = version_in(fn, chunk, text)
    if main then return text, main, inserted end
  end
  local list = earlier and earlier[chunk]
  for i = list and #list or 0, 1, -1 do
    main, inserted = version_in(fn, chunk, list[i].text)
    if main then return list[i].text, main, inserted, list[i].id end
  end
end

-- Returns the number of the earlier text that a function is from, or nil.
function versions.earlier_id(fn, chunk)
  if not (earlier and earlier[chunk]) then return nil end
  local _, _, _, id = version_of(fn, chunk)
  return id
end

-- Returns an earlier text by its number, or nil. Numbers of texts that another script keeps, a
-- worker's or the game's, are in another range.
function versions.text(id)
  return by_id[id - first_id]
end

-- Returns the earlier texts as a list of `{ file, version }`.
function versions.list()
  local list = {}
  for chunk, texts in next, earlier or {} do
    for i = 1, #texts do list[#list + 1] = { file = chunk, version = texts[i].id } end
  end
  return list
end

-- Returns where a stopped function can jump to: `{ line, position }`; or nil and a message.
-- `wanted` has the file, the number of an earlier text of it, and the line, after which the target
-- may be. `by_call` is true if an inserted call has stopped it.
function versions.target(fn, from, wanted, by_call)
  local chunk = sub(getinfo(fn, "S").source, 2)
  if wanted.file ~= chunk then
    return nil, "a jump must stay in its function, which is in " .. chunk
  end
  local text, main, inserted, id = version_of(fn, chunk)
  if not text then return nil, "the text of this function is not known any more" end
  if wanted.version ~= id then
    return nil, "the stopped function has another text of " .. chunk .. ", from before a reload or "
      .. "after it"
  end
  local starts = core.statement_starts(text)
  local at = starts and breakpoints.first_start(starts, wanted.line)
  if not at then return nil, "there is no statement on this line or after it" end
  local byte, all = starts[at + 1], {}
  for i = 1, #inserted do
    if #all == i - 1 and inserted[i].byte >= byte then all[i] = { byte = byte, call = MARK } end
    all[#all + 1] = inserted[i]
  end
  if #all == #inserted then all[#all + 1] = { byte = byte, call = MARK } end
  if starts[at] == from then return nil, "the script is stopped at this line" end
  local marked = main_of(chunk, calls.assemble(text, all))
  local position = marked and core.debug_jump_position(fn, from, main, marked, by_call)
  if not position then
    return nil, "a jump must stay in its function, and cannot lead into a loop, to a statement "
      .. "without code of its own, or out of a function that calls itself"
  end
  return { line = starts[at], position = position }
end

-- Notes the text of a script that is compiled. The tool learns of a new script.
function versions.note(chunk, text)
  if current and not current[chunk] then
    current[chunk] = text
    core.debug_send("debug_source_loaded", { file = chunk })
  end
end

-- Keeps the texts that a reload has replaced.
core.on("scripts_reloaded", "text_versions", function()
  if not current then return end
  local changed = {}
  for chunk in next, reload.records do
    local text, before = core.source(chunk), current[chunk]
    if before and text ~= before then
      local list = earlier[chunk] or {}
      earlier[chunk] = list
      by_id[#by_id + 1] = before
      list[#list + 1] = { text = before, id = first_id + #by_id }
      if #list > TEXTS_MAX then by_id[core.table.remove(list, 1).id - first_id] = false end
      changed[#changed + 1] = chunk
    end
    current[chunk] = text
  end
  if #changed > 0 then core.debug_send("debug_sources_changed", { files = changed }) end
end)

-- `first` is the number before those of this script's texts.
function versions.begin(first)
  current, earlier, by_id, first_id = {}, {}, {}, first
  for chunk in next, reload.records do current[chunk] = core.source(chunk) end
end

function versions.finish()
  current, earlier, by_id, count = nil, nil, {}, 0
  for known in next, compiled do compiled[known] = nil end
end
