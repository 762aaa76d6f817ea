-- A puppet of cut-out pictures walks, jumps, strikes and changes its clothes. Its skeleton is
-- units/puppet_body.skeleton, and units/puppet.state_machine chooses its animations.
local Puppet = require "puppet"

local SKY = Color(150, 190, 214)

local world, camera
puppet = nil ---@type PuppetState

function init()
  world = Application.new_world("2d")
  camera = World.main_camera(world)
  Camera.set_orthographic_size(camera, 5.4)
  Camera.set_local_position(camera, Vector3(0, 1.9, 0))
  World.set_sky(world, {
    top = SKY, horizon = SKY, ground = SKY, shown = true, tone_mapping = false,
  })
  World.spawn_unit(world, "units/ground", Vector3(0, 0, 0))
  for i = -2, 2 do
    World.spawn_unit(world, "units/torch", Vector3(i * 2.2, -0.05, 0))
  end
  puppet = Puppet.new(world, Vector3(-2, 0, 0))
  Input.set_actions({
    left = { "left", "a" }, right = { "right", "d" }, jump = { "up", "space", "w" },
    strike = { "x", "mouse:left" }, clothes = { "c" }, weapon = { "v" },
  })
end

function update(dt)
  local walk = (Input.down("right") and 1 or 0) - (Input.down("left") and 1 or 0)
  Puppet.walk(puppet, walk)
  if Input.pressed("jump") then Puppet.jump(puppet) end
  if Input.pressed("strike") then Puppet.strike(puppet) end
  if Input.pressed("clothes") then Puppet.change_clothes(puppet) end
  if Input.pressed("weapon") then Puppet.change_weapon(puppet) end
  Puppet.look_at(puppet, Camera.screen_to_world(camera, Mouse.axis("cursor")))
  Puppet.update(puppet, dt)
  World.update(world, dt)
  Application.hash(puppet.x, puppet.y, puppet.steps, puppet.hits)
end

function render()
  Application.render_world(world)
end
