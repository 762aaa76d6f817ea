-- Calls that exceed the limits of functions that draw views: render targets, environments; and of
-- platforms, costs of links and flow fields of navigation.
local fixtures = require("fixtures")

local M = {}

-- Creates 65 textures or another number of objects, and raises the error of the first refused one.
local function fill(create, destroy, count)
  local all = {}
  local passed, message = pcall(function()
    for i = 1, count or 65 do all[i] = create("walk" .. i) end
  end)
  for _, texture in ipairs(all) do destroy(texture) end
  if not passed then error(message, 0) end
end

M["Application.create_viewport"] = function()
  fill(function(name) return Application.create_viewport(name, 8, 8) end,
    Application.destroy_viewport)
end

M["Renderer.create_resource"] = function()
  fill(function(name) return Renderer.create_resource("render_target", name, 8, 8) end,
    Renderer.destroy_resource)
end

M["Application.render_world"] = function()
  for _ = 1, 257 do Application.render_world(Application.main_world()) end
end

M["World.create_shading_environment"] = function()
  local world = Application.main_world()
  fill(function() return World.create_shading_environment(world) end,
    function(environment) World.destroy_shading_environment(world, environment) end, 1025)
end

M["ShadingEnvironment.blend"] = function()
  local world, many = Application.main_world(), {}
  for i = 1, 33 do many[2 * i - 1], many[2 * i] = "environments/noon", 1 end
  local environment = World.create_shading_environment(world)
  local passed, message = pcall(ShadingEnvironment.blend, environment, many)
  World.destroy_shading_environment(world, environment)
  if not passed then error(message, 0) end
end

M["NavigationMesh.add_stop"] = function()
  local platform = fixtures.platform()
  local passed, message = pcall(function()
    for i = 1, 17 do
      NavigationMesh.add_stop(platform, "walk" .. i, Vector3(19, 10, 0), Vector3(-1, 0, 0.5))
    end
  end)
  NavigationMesh.destroy(platform)
  if not passed then error(message, 0) end
end

M["NavigationMesh.create_platform"] = function()
  fill(fixtures.new_platform, NavigationMesh.destroy)
end

M["NavigationGrid.set_targets"] = function()
  local grid, many = NavigationGrid.create(1, 1), {}
  for i = 1, 65537 * 2 do many[i] = 1 end
  local _, targets = pcall(NavigationGrid.set_targets, grid, "many", many)
  local _, fields = pcall(function()
    for i = 1, 65 do NavigationGrid.set_targets(grid, "walk" .. i, { 1, 1 }) end
  end)
  NavigationGrid.destroy(grid)
  error(tostring(targets) .. "; " .. tostring(fields), 0)
end

M["NavigationMesh.set_targets"] = function()
  local mesh, many = fixtures.get("NavigationMesh"), {}
  for i = 1, 1025 * 3 do many[i] = 0 end
  local _, targets = pcall(NavigationMesh.set_targets, mesh, "many", many)
  local _, fields = pcall(function()
    for i = 1, 65 do NavigationMesh.set_targets(mesh, "walk" .. i, { 10, 10, 0 }) end
  end)
  for i = 1, 65 do NavigationMesh.set_targets(mesh, "walk" .. i, {}) end
  error(tostring(targets) .. "; " .. tostring(fields), 0)
end

M["Agent.set_link_cost"] = function()
  local agents = {}
  local function create()
    agents[#agents + 1] = Agent.create(fixtures.get("NavigationMesh"), Vector3(10, 10, 0))
    return agents[#agents]
  end
  local agent = create()
  local _, names = pcall(function()
    for i = 1, 65 do Agent.set_link_cost(agent, "walk" .. i, 1) end
  end)
  local _, sets = pcall(function()
    for i = 1, 17 do Agent.set_link_cost(create(), "walk", i) end
  end)
  for _, known in ipairs(agents) do Agent.destroy(known) end
  error(tostring(names) .. "; " .. tostring(sets), 0)
end

-- Creates 65 fields that lead away.
local function flee(of, kind, targets)
  of.set_targets(kind, "threats", targets)
  local passed, message = pcall(function()
    for i = 1, 65 do of.set_flee(kind, "walk" .. i, "threats") end
  end)
  for i = 1, 65 do of.set_targets(kind, "walk" .. i, {}) end
  if not passed then error(message, 0) end
end

M["NavigationMesh.set_flee"] = function()
  flee(NavigationMesh, fixtures.get("NavigationMesh"), { 10, 10, 0 })
end

M["NavigationGrid.set_flee"] = function()
  flee(NavigationGrid, fixtures.get("NavigationGrid"), { 1, 1 })
end

return M
