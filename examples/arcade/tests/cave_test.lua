-- The rules of caves. Each test has two pictures: before, and after some steps. The signs are those
-- of art/caves.art: # rock, . earth, o boulder, * gem, b bat, @ hero, E door.
local Cave = require "rules.cave"

local KINDS = { ["#"] = "rock", ["."] = "earth", o = "boulder", ["*"] = "gem", b = "bat",
  ["@"] = "hero", E = "door" }
local SIGNS = {}
for sign, kind in pairs(KINDS) do SIGNS[kind] = sign end

local STEPS = { right = { 1, 0 }, left = { -1, 0 }, up = { 0, 1 }, down = { 0, -1 },
  wait = { 0, 0 } }

local function cave_of(rows, needed)
  local cave = Cave.new(#rows[1], #rows, needed or 99)
  for i, row in ipairs(rows) do
    for x = 1, #row do
      local kind = KINDS[row:sub(x, x)]
      if kind then Cave.put(cave, kind, x, #rows - i + 1) end
    end
  end
  return cave
end

local function picture(cave)
  local rows = {}
  for y = cave.rows, 1, -1 do
    local row = {}
    for x = 1, cave.columns do
      local entity = Cave.at(cave, x, y)
      row[x] = entity and SIGNS[entity.kind] or " "
    end
    rows[#rows + 1] = table.concat(row)
  end
  return rows
end

-- Plays moves such as "right right wait". Returns the cave, and the kinds of all events.
local function play(rows, steps, needed)
  local cave, happened = cave_of(rows, needed), {}
  for name in steps:gmatch("%a+") do
    Cave.step(cave, STEPS[name][1], STEPS[name][2])
    for _, event in ipairs(cave.events) do happened[#happened + 1] = event.kind end
  end
  return cave, table.concat(happened, " ")
end

local function check(before, steps, after, happened)
  local cave, kinds = play(before, steps)
  assert.same(after, picture(cave))
  if happened then assert.equals(happened, kinds) end
  return cave
end

describe("the hero", function()
  it("digs earth and takes gems", function()
    check({ "@.* " }, "right right right", { "   @" }, "dig gem")
  end)

  it("does not walk through rock, or up into a boulder", function()
    check({ "#@#" }, "left right", { "#@#" }, "")
    check({ "o", "@", "#" }, "up", { "o", "@", "#" }, "")
  end)

  it("pushes a boulder after two steps, if there is room", function()
    check({ "@o ", "###" }, "right", { "@o ", "###" }, "")
    check({ "@o ", "###" }, "right right", { " @o", "###" }, "push")
    check({ "@oo", "###" }, "right right right", { "@oo", "###" }, "")
  end)

  it("leaves through the door if there are enough gems", function()
    local cave = play({ "@*E" }, "right right", 2)
    assert.is_nil(cave.ended)
    cave = play({ "@*E" }, "right right", 1)
    assert.equals("won", cave.ended)
  end)

  it("gets one event when the door opens", function()
    local _, happened = play({ "@***E" }, "right right right", 2)
    assert.equals("gem gem open gem", happened)
  end)
end)

describe("a boulder", function()
  it("falls, and its landing reports the height", function()
    local cave = check({ "o@", " #", " #", "##" }, "wait wait wait", { " @", " #", "o#", "##" },
      "thud")
    assert.equals(2, cave.events[1].falls)
  end)

  it("rests on the hero's head, and kills if it falls on it", function()
    check({ "o", "@", " " }, "wait wait", { "o", "@", " " }, "")
    local cave = check({ "#o#", "#@#", "# #", "###" }, "down wait", { "# #", "#o#", "# #", "###" },
      "die")
    assert.equals("died", cave.ended)
  end)

  it("does not reach a hero who keeps running", function()
    local cave = play({ "#o##", "#@##", "# ##", "#  #", "####" }, "down down right")
    assert.is_nil(cave.ended)
  end)

  it("rolls off round objects, first to the left", function()
    check({ " o @", " o  ", "####" }, "wait wait", { "   @", "oo  ", "####" }, "")
    check({ "#o @", "#o  ", "####" }, "wait wait", { "#  @", "#oo ", "####" }, "")
  end)

  it("turns a bat into a gem", function()
    local cave = cave_of({ "#o#@", "#b##", "####" })
    Cave.at(cave, 2, 3).falls = 1
    Cave.step(cave, 0, 0)
    assert.same({ "#o#@", "#*##", "####" }, picture(cave))
    assert.equals("crush", cave.events[1].kind)
  end)
end)

describe("a gem", function()
  it("falls like a boulder, and can be taken", function()
    check({ "*@", " #", "##" }, "wait left down", { "  ", "@#", "##" }, "thud gem")
  end)
end)

describe("a bat", function()
  it("follows the wall on its left", function()
    local cave = cave_of({ "#####", "#b  #", "# # #", "#   #", "#####", "@####" })
    local ways = {}
    for i = 1, 8 do
      Cave.step(cave, 0, 0)
      for _, entity in pairs(cave.cells) do
        if entity.kind == "bat" then ways[i] = entity.x .. "," .. entity.y end
      end
    end
    assert.same({ "3,5", "4,5", "4,4", "4,3", "3,3", "2,3", "2,4", "2,5" }, ways)
  end)

  it("kills the hero on contact", function()
    assert.equals("died", play({ "b @", "###" }, "wait wait").ended)
    assert.equals("died", play({ "@b", "##" }, "right").ended)
  end)
end)

describe("a cave", function()
  it("ends once", function()
    local cave = play({ "@", "#" }, "wait")
    Cave.kill_hero(cave)
    Cave.kill_hero(cave)
    assert.equals(1, #cave.events)
    assert.same({ " ", "#" }, picture(cave))
  end)
end)
