-- Sounds of contacts. Physics reports who hit whom and how hard; sounds/impact.sound decides how
-- that sounds, so a sound designer can change it while the game runs.
local Impacts = {}

local QUIET = 6 -- kilograms times metres a second: less is the settling of standing barrels
local DUSTY = 70

-- The material of a barrel is in its unit file, that of each part of the hall in the model. Crates
-- may have been broken by the hit that is reported.
local function material(unit, actor)
  if not Unit.alive(unit) then return "wood" end
  return Unit.get_data(unit, "material")
    or Unit.get_data(unit, Actor.debug_name(actor), "physics", "material")
    or "stone"
end

---Plays sounds for the contacts that began in the last step of the world.
---@param world World
function Impacts.update(world)
  for _, hit in ipairs(PhysicsWorld.contacts(World.physics_world(world))) do
    if hit.impulse > QUIET then
      Sound.trigger(world, "sounds/impact", { position = hit.position, parameters = {
        force = hit.impulse,
        material = material(hit.unit, hit.actor),
        against = material(hit.other_unit, hit.other_actor),
      } })
    end
    if hit.impulse > DUSTY then World.create_particles(world, "fx/dust", hit.position) end
  end
end

return Impacts
