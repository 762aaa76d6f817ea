-- Graphs and tables of counters, drawn over the game: the console commands `graph` and `perfhud`.
-- Commands select counters by name. The overlay is drawn in every frame, below only the console.
local core = ...

local tonumber, ipairs, pcall, format = tonumber, ipairs, pcall, string.format
local floor, huge, max, min = math.floor, math.huge, math.max, math.min
local concat, remove, lower, sub = table.concat, table.remove, string.lower, string.sub
local gsub, find_text, select, unpack = string.gsub, string.find, select, unpack
local V2, V3, C = core.ctypes.Vector2, core.ctypes.Vector3, core.ctypes.Color

local Gui, Stats = core.module("Gui"), core.module("Stats")
local from_hex = core.module("Color").from_hex

local GRAPHS_MAX, SERIES_MAX = 16, 8
local FRAMES = 240 -- frames shown in a graph
local NAMES_FRAMES = 30 -- interval at which a table looks for new counters
local ROWS_MAX = 40
local WIDTH, HEIGHT, MARGIN, SIZE, LINE = 360, 100, 10, 13, 16 -- logical pixels
local GROUND, EDGE = C(205, 14, 16, 22), C(255, 70, 76, 90)
local TEXT_COLOR, FAINT_COLOR = C(255, 225, 228, 232), C(255, 150, 156, 166)

local COLORS = {
  blue = C(255, 90, 170, 255), orange = C(255, 255, 170, 60), green = C(255, 110, 220, 120),
  red = C(255, 255, 100, 95), violet = C(255, 190, 140, 255), yellow = C(255, 240, 225, 90),
  cyan = C(255, 90, 225, 225), white = C(255, 235, 235, 235),
}
local ORDER = { "blue", "orange", "green", "red", "violet", "yellow", "cyan", "white" }

-- Graphs in order of creation: name, shown, low and high (nil: fitted to the values), and the
-- series. A table has prefixes of counter names; its series stay empty.
local graphs = {}
local frame = 0

local function find(name)
  for i, graph in ipairs(graphs) do
    if graph.name == name then return graph, i end
  end
end

local function find_series(graph, stat)
  for i, series in ipairs(graph.series) do
    if series.stat == stat then return series, i end
  end
end

local function missing(name)
  local names = {}
  for i, graph in ipairs(graphs) do
    names[i] = graph.name
  end
  if name == nil then return "a graph's name is missing" end
  return format("there is no graph '%s'%s", name,
    #names > 0 and " (there are: " .. concat(names, ", ") .. ")" or ": graph make makes one")
end

local function color_of(color_name)
  local color = COLORS[lower(color_name)]
  if color then return color end
  local is_hex, hex = pcall(from_hex, color_name)
  if is_hex and sub(color_name, 1, 1) == "#" then return hex end
  return nil, format("there is no colour '%s' (%s, or one such as #ff8000)", color_name,
    concat(ORDER, ", "))
end

-- Returns the first colour that no series of a graph uses.
local function free_color(graph)
  for _, color_name in ipairs(ORDER) do
    local taken = false
    for _, series in ipairs(graph.series) do
      taken = taken or series.color == COLORS[color_name]
    end
    if not taken then return color_name end
  end
  return ORDER[1]
end

local function make(name)
  if name == nil then return "a graph's name is missing" end
  if find(name) then return format("the graph '%s' already exists", name) end
  if #graphs >= GRAPHS_MAX then
    return format("there are %d graphs (GRAPHS_MAX): remove another first", GRAPHS_MAX)
  end
  graphs[#graphs + 1] = { name = name, shown = true, series = {} }
end

local function add(name, stat, color_name)
  local graph = find(name)
  if not graph or graph.prefixes then return missing(name) end
  if stat == nil then return "a counter's name is missing" end
  if find_series(graph, stat) then return format("'%s' is in it already", stat) end
  if #graph.series >= SERIES_MAX then
    return format("it has %d counters (SERIES_MAX): make another graph", SERIES_MAX)
  end
  local color, problem = color_of(color_name or free_color(graph))
  if not color then return problem end
  local number
  number, problem = core.stat_number(stat)
  if not number then return problem end
  Stats.watch(stat)
  graph.series[#graph.series + 1] = { stat = stat, color = color }
end

local function add_vector3(name, stat)
  if stat == nil then return "a counter's name is missing" end
  for _, axis in ipairs({ "x", "y", "z" }) do
    local problem = add(name, stat .. "/" .. axis)
    if problem then return problem end
  end
end

local function range(name, low, high)
  local graph = find(name)
  if not graph or graph.prefixes then return missing(name) end
  if low == nil then
    graph.low, graph.high = nil, nil
    return
  end
  low, high = tonumber(low), tonumber(high)
  if not low or not high or not (low < high) then
    return "two numbers are needed, the smaller first; without numbers it fits the values"
  end
  graph.low, graph.high = low, high
end

local function recolor(name, stat, color_name)
  local graph = find(name)
  if not graph or graph.prefixes then return missing(name) end
  local series = stat and find_series(graph, stat)
  if not series then return format("the graph has no counter '%s'", stat or "") end
  if color_name == nil then return "a colour is missing: " .. concat(ORDER, ", ") end
  local color, problem = color_of(color_name)
  if not color then return problem end
  series.color = color
end

local function set_shown(shown)
  return function(name)
    local graph = find(name)
    if not graph then return missing(name) end
    graph.shown = shown
  end
end

local function remove_from(name, stat)
  local graph, at = find(name)
  if not graph then return missing(name) end
  if stat == nil then
    for _, series in ipairs(graph.series) do
      Stats.unwatch(series.stat)
    end
    remove(graphs, at)
    return
  end
  local _, index = find_series(graph, stat)
  if not index then return format("the graph has no counter '%s'", stat) end
  Stats.unwatch(stat)
  remove(graph.series, index)
end

local function make_table(name, ...)
  if name == nil then return "the beginning of counters' names is missing" end
  local problem = make(name)
  if problem then return problem end
  graphs[#graphs].prefixes = select("#", ...) > 0 and { ... } or { name }
  graphs[#graphs].counted = {}
end

local subcommands = {
  make = make, add = add, add_vector3 = add_vector3, range = range, color = recolor,
  show = set_shown(true), hide = set_shown(false), remove = remove_from,
  table = function(prefix) return make_table(prefix) end,
}

local USAGE = "graph make|add|add_vector3|range|color|show|hide|remove <graph> [counter …]; "
  .. "graph table <prefix>"

core.command("graph", USAGE, "Draws counters over the game.", function(subcommand, ...)
  local fn = subcommands[subcommand]
  if not fn then
    return "which of " .. concat(core.names(subcommands), ", ") .. "?"
  end
  return fn(...)
end)

-- Prefixes of the counters in each part of `perfhud`. Parts that exist in other engines of this
-- family have the same name there.
local PERFHUD = {
  allocations = { "allocations/" }, animation = { "animation/" },
  artist = { "renderer/" }, frame = { "frame/" },
  backend = { "renderer/cpu_milliseconds/", "renderer/gpu_milliseconds/", "renderer/encode",
    "renderer/latency" },
  culling = { "renderer/world_draw", "renderer/shadow_", "renderer/meshes", "renderer/particles" },
  gui = { "gui/" }, io = { "resources/" }, lua = { "scripts/" }, memory = { "memory/" },
  navigation = { "navigation/" },
  network = { "network/", "tools/" }, network_messages = { "network/messages" },
  network_peers = { "network/peers" }, network_ping = { "network/ping" },
  physics = { "physics/" }, scopes = { "scopes/" }, sound = { "sound/" },
  texture_streaming = { "textures/", "resources/read" }, tools = { "tools/" },
  worlds = { "worlds/" },
}
-- Names of parts in other engines.
local PART_ALIASES = { extended_memory = "memory", wwise = "sound" }

core.command("perfhud", "perfhud <part>",
  "Shows the counters of a part of the engine as a table, or hides them again.", function(part)
    part = PART_ALIASES[part] or part
    local prefixes = PERFHUD[part]
    if not prefixes then
      local near = part and core.suggest(part, core.names(PERFHUD))
      return "which of " .. concat(core.names(PERFHUD), ", ") .. "?"
        .. (near and " Did you mean '" .. near .. "'?" or "")
    end
    local name = "perfhud " .. part
    if find(name) then return remove_from(name) end
    if sub(part, 1, 8) == "network_" and #Stats.names(prefixes[1]) == 0 then
      return format("nothing is counted under %s: the engine has no "
        .. "networking, and shows what a game counts there itself", prefixes[1])
    end
    return make_table(name, unpack(prefixes))
  end)

local function shown_number(value)
  if value ~= value then return "nan" end
  if value == floor(value) and value < 1e15 and value > -1e15 then return format("%d", value) end
  return format("%.3f", value)
end

-- Formats a value, with its unit if the counter's name implies one.
local function shown_value(name, value)
  if (find_text(name, "^memory/") or find_text(name, "_bytes$")) and value >= 10000 then
    if value < 10000 * 1024 then return format("%.1f KiB", value / 1024) end
    return format("%.1f MiB", value / 1048576)
  end
  return shown_number(value)
end

local PLAIN = { markup = false }

local function write(gui, text, x, y, color)
  Gui.text(gui, text, nil, SIZE, nil, V3(x, y, 2), color, PLAIN)
end

local function write_right(gui, text, x, y, color)
  local _, _, caret = Gui.text_extents(gui, text, nil, SIZE, PLAIN)
  write(gui, text, x - caret.x, y, color)
end

-- Returns the range of a graph: its fixed range, or the smallest and largest values shown.
local function bounds(graph, histories)
  if graph.low then return graph.low, graph.high end
  local low, high = 0, -huge
  for _, values in ipairs(histories) do
    for i = 1, #values do
      low, high = min(low, values[i]), max(high, values[i])
    end
  end
  if high <= low then high = low + 1 end
  return low, high
end

local function draw_curve(gui, values, color, x, y, low, high)
  local points, count = {}, #values
  for i = 1, count do
    local share = max(0, min(1, (values[i] - low) / (high - low)))
    points[i] = V2(x + (FRAMES - count + i - 1) / (FRAMES - 1) * WIDTH, y + share * HEIGHT)
  end
  if count > 1 then
    Gui.polyline(gui, points, 1.5, 1, color)
  end
end

-- Finds the counters of a table. Counters that have been zero since the table appeared are left
-- out.
local function find_names(graph)
  graph.names = {}
  for _, prefix in ipairs(graph.prefixes) do
    for _, name in ipairs(Stats.names(prefix)) do
      if graph.counted[name] or Stats.value(name) ~= 0 then
        graph.counted[name] = true
        graph.names[#graph.names + 1] = name
      end
    end
  end
end

-- Returns the height of a graph or table. A table looks for new counters every `NAMES_FRAMES`
-- frames.
local function height_of(graph)
  if not graph.prefixes then return HEIGHT + LINE * (#graph.series + 1) + 2 * MARGIN end
  if not graph.names or frame % NAMES_FRAMES == 0 then
    find_names(graph)
  end
  return LINE * (min(#graph.names, ROWS_MAX) + 1) + 2 * MARGIN
end

-- Draws a graph below `top`. Returns the top of the remaining space, as `draw_table` does.
local function draw_graph(gui, graph, x, top)
  local tall = height_of(graph)
  local bottom = top - tall
  Gui.rect(gui, V3(x - MARGIN, bottom, 0), V2(WIDTH + 2 * MARGIN, tall), GROUND)
  local y = top - MARGIN - SIZE
  local histories = {}
  for i, series in ipairs(graph.series) do
    histories[i] = Stats.history(series.stat, FRAMES)
  end
  local low, high = bounds(graph, histories)
  write(gui, graph.name, x, y, TEXT_COLOR)
  write_right(gui, shown_number(low) .. " … " .. shown_number(high), x + WIDTH, y, FAINT_COLOR)
  local base = y - MARGIN / 2 - HEIGHT
  Gui.rect(gui, V3(x, base, 1), V2(WIDTH, 1), EDGE)
  for i, series in ipairs(graph.series) do
    draw_curve(gui, histories[i], series.color, x, base, low, high)
    y = base - LINE * i
    write(gui, series.stat, x, y, series.color)
    local values = histories[i]
    write_right(gui, shown_value(series.stat, values[#values] or 0), x + WIDTH, y, TEXT_COLOR)
  end
  return bottom - MARGIN
end

-- Returns a counter's name without the prefix that all names of the table share.
local function shown_name(graph, name)
  local prefixes = graph.prefixes
  return #prefixes == 1 and sub(name, #prefixes[1] + 1) or gsub(name, "^[^/]*/", "", 1)
end

local function draw_table(gui, graph, x, top)
  local names = graph.names
  local count = max(0, min(#names, ROWS_MAX, floor((top - 3 * MARGIN) / LINE) - 1))
  local tall = LINE * (count + 1) + 2 * MARGIN
  Gui.rect(gui, V3(x - MARGIN, top - tall, 0), V2(WIDTH + 2 * MARGIN, tall), GROUND)
  local y = top - MARGIN - SIZE
  local more = #names > count and format(" (%d of %d)", count, #names) or ""
  write(gui, graph.name .. more, x, y, FAINT_COLOR)
  for i = 1, count do
    y = y - LINE
    write(gui, shown_name(graph, names[i]), x, y, TEXT_COLOR)
    write_right(gui, shown_value(names[i], Stats.value(names[i])), x + WIDTH, y, TEXT_COLOR)
  end
  return top - tall - MARGIN
end

-- Draws all shown graphs and tables from the upper right corner downwards, in as many columns as
-- needed.
core.on("frame_render", "graphs", function()
  frame = frame + 1
  local gui, width, height, x, top
  for _, graph in ipairs(graphs) do
    if graph.shown then
      if not gui then
        gui = core.console_gui()
        width, height = Gui.resolution(gui)
        x, top = width - WIDTH - 2 * MARGIN, height - MARGIN
      end
      if height_of(graph) > top and top < height - MARGIN then
        x, top = x - WIDTH - 3 * MARGIN, height - MARGIN
      end
      top = (graph.prefixes and draw_table or draw_graph)(gui, graph, x, top)
    end
  end
end)
