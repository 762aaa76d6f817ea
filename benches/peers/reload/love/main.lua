-- 500 modules that are reloaded when they are saved, as games do it in LÖVE: every SECONDS (0: in
-- each frame) the modification times of all files are checked, and changed modules are loaded
-- again. When a new version of a module has run, its number is printed.
local filesystem = love.filesystem

local FILES = 500
local seconds
local modules, changed, waited, newest = {}, {}, 0, 0
local looks = {} -- time of each check of all files, in milliseconds

local function path_of(i) return string.format("mods/m%d.lua", i) end

local function reload(i)
  local chunk = filesystem.load(path_of(i))
  local done, module = pcall(chunk)
  if not done then return end
  modules[i] = module
  if module.tell() > newest then
    newest = module.tell()
    table.sort(looks)
    print("look " .. (looks[math.floor(#looks / 2) + 1] or 0))
    print("ran " .. newest)
    io.flush()
  end
end

function love.load(arguments)
  seconds = tonumber(arguments[1])
  for i = 1, FILES do
    modules[i] = filesystem.load(path_of(i))()
    changed[i] = filesystem.getInfo(path_of(i)).modtime
  end
  print("ran 0")
  io.flush()
end

function love.update(dt)
  waited = waited + dt
  if waited < seconds then return end
  waited = 0
  local began, new = love.timer.getTime(), {}
  for i = 1, FILES do
    local modified = filesystem.getInfo(path_of(i)).modtime
    if modified ~= changed[i] then
      changed[i] = modified
      new[#new + 1] = i
    end
  end
  looks[#looks + 1] = (love.timer.getTime() - began) * 1e3
  for _, i in ipairs(new) do reload(i) end
end

function love.draw() love.graphics.print(newest, 10, 10) end
