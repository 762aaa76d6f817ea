-- Test selection by the options of a run: patterns, names and tags.
local core = ...

local find = string.find

local kit = core.test.kit
local suite = kit.suite
kit.own(core.debug.getinfo(1, "S").source)

local function any_found(name, patterns)
  for i = 1, #patterns do
    if find(name, patterns[i]) then
      return true
    end
  end
  return false
end

local function has_tag(name, tags, wanted)
  for i = 1, #wanted do
    local tag = wanted[i]
    if find(tag, "[^%w_%-]") then
      if find(name, "#" .. tag, 1, true) then
        return true
      end
    else
      for k = 1, #tags do
        if tags[k] == tag then
          return true
        end
      end
    end
  end
  return false
end

local function is_excluded(options, name)
  for i = 1, #options.exclude_names do
    if options.exclude_names[i] == name then
      return true
    end
  end
  return any_found(name, options.filter_out)
    or has_tag(name, suite.tags(name), options.exclude_tags)
end

local function is_selected(options, name, tags)
  if #options.filter > 0 and not any_found(name, options.filter) then
    return false
  elseif #options.tags > 0 and not has_tag(name, tags, options.tags) then
    return false
  end
  for i = 1, #options.names do
    if options.names[i] == name then
      return true
    end
  end
  return #options.names == 0
end

kit.is_excluded, kit.is_selected = is_excluded, is_selected
