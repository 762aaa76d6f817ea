-- Draws a cave: ground, entities between their last cell and the next, and the light. All lengths
-- are texels. The whole Gui is moved and scaled, so that nothing else depends on the camera.
local Cave = require "rules.cave"
local Terrain = require "terrain"

local View = {}

local CELL, HALF = Terrain.CELL, Terrain.CELL / 2
local SIZE = Vector2(CELL, CELL)
local SHOWN_X, SHOWN_Y = 400, 225 -- minimum number of texels on the screen
local LAMP_MOST, LAMP_LEAST = 150, 44 -- radius of its light, by the remaining oil
local ENTITIES, HERO, DUST, DARK, GLOW, TEXT = 3, 4, 5, 6, 7, 8 -- layers; 0 to 2 are the map's
local CYAN, RED, WARM = Color(110, 90, 220, 255), Color(150, 255, 60, 40), Color(90, 255, 170, 80)
local GEM_PHASES = 4 -- number of sprites that take turns, so that gems glint at different times

View.DUST, View.GLOW, View.TEXT = DUST, GLOW, TEXT

local gui ---@type Gui
local dark ---@type Material

function View.init(world)
  gui = World.create_screen_gui(world, "immediate")
  dark = Gui.material(gui, "materials/dark")
end

function View.gui()
  return gui
end

---Begins to show a cave, in the dark. `iris`, 0 to 1, opens the light, and `oil` sets how far it
---then shines. `above` is the part of the night above the cave that is on the screen.
function View.new(terrain)
  local view = { terrain = terrain, hero = Sprite.new("sheets/hero", "stand"), gems = {},
    bat = Sprite.new("sheets/bat", "fly"), door = Sprite.new("sheets/door", "shut"),
    options = { color = terrain.color }, time = 0, share = 0, shake = 0, iris = 0, oil = 1,
    above = 0 }
  for i = 1, GEM_PHASES do
    view.gems[i] = Sprite.new("sheets/gem", "glint")
    Sprite.update(view.gems[i], i * 0.37)
  end
  view.eye_x, view.eye_y = View.position(view, terrain.cave.hero)
  view.light_x, view.light_y = view.eye_x, view.eye_y
  return view
end

---Returns the current middle of an entity.
function View.position(view, entity)
  return Terrain.middle(Math.lerp(entity.from_x, entity.x, view.share),
    Math.lerp(entity.from_y, entity.y, view.share))
end

---Moves the pictures. `share` is the part of the time to the next step that has passed, 0 to 1.
function View.update(view, dt, share)
  local cave = view.terrain.cave
  view.time, view.share, view.shake = view.time + dt, share, math.max(0, view.shake - dt * 12)
  local hero = cave.hero
  local walks = hero.x ~= hero.from_x or hero.y ~= hero.from_y or (hero.pushes or 0) > 0
  Sprite.play(view.hero, walks and "walk" or "stand")
  Sprite.play(view.door, Cave.is_open(cave) and "open" or "shut")
  for _, sprite in ipairs(view.gems) do Sprite.update(sprite, dt) end
  Sprite.update(view.hero, dt)
  Sprite.update(view.bat, dt)
  Sprite.update(view.door, dt)
  view.light_x, view.light_y = View.position(view, hero)
  View.follow(view, view.light_x, view.light_y, dt)
end

---Moves the camera towards a point: the further away it is, the faster.
function View.follow(view, x, y, dt)
  local near = 1 - math.exp(-5 * dt)
  view.eye_x, view.eye_y = Math.lerp(view.eye_x, x, near), Math.lerp(view.eye_y, y, near)
end

-- Returns the middle of the picture on one axis, so that little beyond the cave is visible.
local function held(eye, shown, length, beyond)
  if shown >= length + beyond then return (length + beyond) / 2 end
  return Math.clamp(eye, shown / 2, length + beyond - shown / 2)
end

-- Moves the Gui so that the right part of the cave is on the screen.
local function aim(view)
  local width, height = Gui.resolution()
  -- Whole pixels, so that all texels have the same size.
  local zoom = math.max(1, math.floor(math.min(width / SHOWN_X, height / SHOWN_Y)))
  local cave = view.terrain.cave
  local shown_x, shown_y = width / zoom, height / zoom
  local x = held(view.eye_x, shown_x, cave.columns * CELL, 0)
  local y = held(view.eye_y, shown_y, cave.rows * CELL, view.above)
  local sway = view.shake * math.sin(view.time * 70)
  local left, bottom = Math.round(width / 2 - x * zoom + sway), Math.round(height / 2 - y * zoom)
  Gui.move(gui, Matrix4x4.from_quaternion_position_scale(Quaternion.identity(),
    Vector3(left, 0, bottom), Vector3(zoom, 1, zoom)))
  return -left / zoom, -bottom / zoom, shown_x, shown_y
end

local function glow(x, y, size, color)
  Gui.bitmap(gui, "materials/glow", Vector3(x - size / 2, y - size / 2, GLOW), Vector2(size, size),
    color)
end

local draw = {}

function draw.boulder(_, entity, x, y, share)
  Gui.push(gui)
  Gui.translate(gui, Vector2(x, y))
  Gui.rotate(gui, (entity.from_x - entity.x) * share * math.pi / 2)
  Gui.bitmap(gui, "pictures/boulder", Vector3(-HALF, -HALF, ENTITIES), SIZE)
  Gui.pop(gui)
end

function draw.gem(view, entity, x, y)
  local phase = (entity.x * 7 + entity.y * 3) % GEM_PHASES + 1
  Gui.bitmap(gui, Sprite.frame(view.gems[phase]), Vector3(x - HALF, y - HALF, ENTITIES), SIZE)
  glow(x, y, 26 + 5 * math.sin(view.time * 3 + phase * 1.6), CYAN)
end

function draw.bat(view, _, x, y)
  Gui.bitmap(gui, Sprite.frame(view.bat), Vector3(x - HALF, y - HALF, ENTITIES), SIZE)
  glow(x, y, 18, RED)
end

function draw.door(view, _, x, y)
  Gui.bitmap(gui, Sprite.frame(view.door), Vector3(x - HALF, y - HALF, ENTITIES), SIZE)
  local width = Gui.texture_size(gui, "pictures/exit")
  Gui.bitmap(gui, "pictures/exit", Vector3(math.floor(x - width / 2), y + HALF, ENTITIES))
  if view.door.tag == "open" then glow(x, y, 70 + 8 * math.sin(view.time * 4), WARM) end
end

function draw.hero(view, entity, x, y)
  local mirrored = entity.face_x < 0 and 1 or 0
  Gui.bitmap_uv(gui, Sprite.frame(view.hero), Vector2(mirrored, 0), Vector2(1 - mirrored, 1),
    Vector3(x - HALF, y - HALF, HERO), SIZE)
end

function View.draw(view)
  local left, bottom, width, height = aim(view)
  local terrain = view.terrain
  local cave = terrain.cave
  Tilemap.draw(terrain.map, gui, nil, view.options)
  for i = 1, cave.columns * cave.rows do
    local entity = cave.cells[i]
    local paint = entity and draw[entity.kind]
    if paint then
      local x, y = View.position(view, entity)
      if x > left - CELL and x < left + width + CELL and y > bottom - CELL
        and y < bottom + height + CELL then
        paint(view, entity, x, y, view.share)
      end
    end
  end
  local flicker = 1 + 0.03 * Math.noise(view.time * 5)
  local lamp = Math.lerp(LAMP_LEAST, LAMP_MOST, math.sqrt(view.oil)) * flicker
  Material.set_vector2(dark, "lamp", Vector2(view.light_x, view.light_y))
  Material.set_scalar(dark, "radius", lamp * view.iris)
  Gui.bitmap(gui, dark, Vector3(left, bottom, DARK), Vector2(width, height))
  glow(view.light_x, view.light_y + 3, 90 * view.iris, Color.with_alpha(WARM, 60))
end

return View
