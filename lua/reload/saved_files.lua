-- Saved files of scripts: which of them a reload takes, which wait for the fix of a broken one, and
-- what the log says. The reload itself is in commit.lua.
local core = ...

-- Compiled code would keep objects of the reload alive, and this code runs too rarely to benefit.
core.jit.off(true, true)

local next, sort, concat, min, match = next, table.sort, table.concat, math.min, string.match
local Application = core.module("Application")
-- A game can replace functions of the module.
local can_get, data = Application.can_get, Application.data
local records = core.reloader.records

-- Files that could not be reloaded, by chunk. Files saved together with a broken file wait until
-- the broken file is fixed, because a change is applied completely or not at all.
local waiting = {}

-- Returns the files of modules that a searcher of the game found, among changed resources: each
-- with its text; and the chunks of those that were deleted while they waited. `names` has names of
-- resources; the file scripts/enemy.fnl is scripts/enemy.text.
function core.changed_searched_files(names)
  local files, deleted, changed = {}, {}, {}
  for i = 1, #names do
    changed[names[i]] = true
  end
  for chunk, list in next, records do
    local path = list[1].searched and match(chunk, "^(.+)%.[^./]+$")
    if path and changed[path .. ".text"] then
      if can_get("text", path) then
        files[#files + 1] = { chunk = chunk, text = data("text", path) }
      elseif waiting[chunk] then
        deleted[#deleted + 1] = chunk
      end
    end
  end
  sort(files, function(a, b)
    return a.chunk < b.chunk
  end)
  return files, deleted
end

-- Log messages ------------------------------------------------------------------------------------

local NAMES_MAX = 3 -- files and locations named in one line

-- Joins names with commas: the first ones, and the number of remaining ones.
local function join_names(names)
  local text = concat(names, ", ", 1, min(#names, NAMES_MAX))
  return #names > NAMES_MAX and text .. " and " .. #names - NAMES_MAX .. " more" or text
end

-- Describes closures that keep their old body, because the person who edited the body expects a
-- change.
local function describe_kept(kept)
  local total, locations = 0, {}
  for i = 1, #kept do
    total = total + kept[i].count
    locations[i] = kept[i].location
  end
  if total == 0 then
    return ""
  elseif total == 1 then
    return "; 1 function of " .. locations[1] .. " keeps its old body until it is made again"
  end
  return "; " .. total .. " functions of " .. join_names(locations)
    .. " keep their old bodies until they are made again"
end

local function log_result(result)
  if #result.changed > 0 then
    local count, details = result.functions, ""
    if count > 0 then
      details = ": " .. count .. " function" .. (count == 1 and "" or "s")
    end
    core.log("info", "reloaded " .. join_names(result.changed) .. details
      .. describe_kept(result.kept_closures))
  end
  for i = 1, #result.emptied do
    core.log("warning", result.emptied[i] .. " returns and defines nothing now: what it made "
      .. "before stays as it was, until the file makes something again")
  end
end

-- Drops waiting files that were deleted, because nobody will fix them. Returns true if one of them
-- was waiting.
function core.drop_deleted(deleted)
  local waited = false
  for i = 1, #deleted do
    waited = waited or waiting[deleted[i]] ~= nil
    waiting[deleted[i]] = nil
  end
  return waited
end

-- Reloads saved files together with the waiting ones. The result is logged.
function core.reload(files)
  for i = 1, #files do
    waiting[files[i].chunk] = files[i].text
  end
  local list, chunks = {}, core.names(waiting)
  for i = 1, #chunks do
    list[i] = { chunk = chunks[i], text = waiting[chunks[i]] }
  end
  if #list == 0 then
    return { ok = true }
  end
  local result = core.reload_files(list)
  if result.ok then
    waiting = {}
    log_result(result)
  else
    core.log("error", "The saved code cannot be loaded, so the previous code stays in use:\n"
      .. result.report)
  end
  return result
end
