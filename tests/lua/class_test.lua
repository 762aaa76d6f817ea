-- Suite of classes. Its globals (CamelCase) are created here and removed at the end.

describe("class", function()
  it("creates objects by new with a dot, new with a colon, and a call", function()
    local Enemy = class()
    function Enemy:init(health, name) self.health, self.name = health, name end
    for _, enemy in ipairs({ Enemy.new(3, "orc"), Enemy:new(3, "orc"), Enemy(3, "orc") }) do
      assert.equals(3, enemy.health)
      assert.equals("orc", enemy.name)
      assert.equals(Enemy, getmetatable(enemy))
    end
  end)

  it("passes exactly the arguments of the call", function()
    local Counter = class()
    function Counter:init(...) self.count = select("#", ...) end
    assert.equals(0, Counter.new().count)
    assert.equals(0, Counter:new().count)
    assert.equals(2, Counter.new(nil, nil).count)
    assert.equals(3, Counter:new(1, nil, nil).count)
    assert.equals(1, Counter(nil).count)
  end)

  it("creates objects of a class without init", function()
    local Plain = class()
    assert.same({}, Plain.new(1, 2))
  end)

  it("inherits methods and init from the second argument", function()
    local Enemy = class()
    function Enemy:init(health) self.health = health end
    function Enemy:hit(damage) self.health = self.health - damage end
    local Orc = class(nil, Enemy)
    local orc = Orc.new(10)
    orc:hit(4)
    assert.equals(6, orc.health)
    assert.equals(Enemy, Orc.super)
    assert.is_nil(Enemy.super)
  end)

  it("calls the base through super, over three classes", function()
    local calls = {}
    local A = class()
    function A:init() calls[#calls + 1] = "A" end
    local B = class(nil, A)
    function B:init() B.super.init(self) calls[#calls + 1] = "B" end
    local C = B:extend()
    function C:init() C.super.init(self) calls[#calls + 1] = "C" end
    C.new()
    assert.same({ "A", "B", "C" }, calls)
  end)

  it("finds a method that is added to the base later", function()
    local Base = class()
    local Derived = class.extend(Base)
    local object = Derived.new()
    function Base:late() return "late" end
    assert.equals("late", object:late())
    function Derived:late() return "own" end
    assert.equals("own", object:late())
  end)

  it("keeps the class when its statement runs again", function()
    local function load_file()
      Sheep = class(Sheep)
      function Sheep:sound() return "baa" end
      Ram = class(Ram, Sheep)
      return Sheep, Ram
    end
    local first, first_ram = load_file()
    local sheep, ram = first.new(), first_ram.new()
    first.sound = nil
    local second, second_ram = load_file()
    assert.equals(first, second)
    assert.equals(first_ram, second_ram)
    assert.equals("baa", sheep:sound())
    assert.equals("baa", ram:sound())
    Sheep, Ram = nil, nil
  end)

  it("changes the base if its statement runs again with another base", function()
    local Walker, Flyer = class(), class()
    function Walker:move() return "walks" end
    function Flyer:move() return "flies" end
    Walker.__unm = function() return "down" end
    local kept
    local function run(super) kept = class(kept, super) end
    run(Walker)
    local animal = kept.new()
    assert.equals("walks", animal:move())
    assert.equals("down", -animal)
    run(Flyer)
    assert.equals("flies", animal:move())
    assert.equals(Flyer, kept.super)
    assert.is_nil(rawget(kept, "__unm"))
    assert.is_false(animal:is_a(Walker))
  end)

  it("inherits metamethods, even ones that are added later", function()
    local Money = class()
    function Money:init(amount) self.amount = amount end
    function Money.__add(a, b) return a.amount + b.amount end
    local Euro = class(nil, Money)
    local Cent = class(nil, Euro)
    function Money.__eq(a, b) return a.amount == b.amount end
    function Money.__lt(a, b) return a.amount < b.amount end
    assert.equals(7, Cent.new(3) + Money.new(4))
    assert.is_true(Cent.new(3) == Euro.new(3))
    assert.is_true(Cent.new(3) < Money.new(4))
  end)

  it("prefers an own metamethod to an inherited one", function()
    local A = class()
    function A.__unm() return "A" end
    local B = class(nil, A)
    function B.__unm() return "B" end
    local C = class(nil, B)
    assert.equals("A", -A.new())
    assert.equals("B", -B.new())
    assert.equals("B", -C.new())
  end)

  it("tests if a value is an object of a class", function()
    local A = class()
    local B = class(nil, A)
    local C = class()
    assert.is_true(B.new():is_a(A))
    assert.is_true(B.new():is_a(B))
    assert.is_false(A.new():is_a(B))
    assert.is_false(class.is_a(B.new(), C))
    assert.is_true(class.is_a(B, A))
    assert.is_false(class.is_a(A, B))
    for _, value in ipairs({ 1, "text", true, {} }) do assert.is_false(class.is_a(value, A)) end
    assert.is_false(class.is_a(nil, A))
  end)

  it("returns the class of an object", function()
    local A = class()
    assert.equals(A, class.of(A.new()))
    assert.is_nil(class.of({}))
    assert.is_nil(class.of(A))
    assert.is_nil(class.of("text"))
    assert.is_nil(class.of(nil))
  end)

  it("prints names and locations, never addresses", function()
    _G.Goblin = class()
    assert.equals("class Goblin", tostring(Goblin))
    assert.equals("object of class Goblin", tostring(Goblin.new()))
    assert.equals("Goblin", class.name(Goblin))
    _G.Goblin = nil
    local Hidden = class()
    assert.is_nil(class.name(Hidden))
    assert.matches("^class made at .*class_test%.lua:%d+$", tostring(Hidden))
    class.set_name(Hidden, "Hidden")
    assert.equals("object of class Hidden", tostring(Hidden.new()))
  end)

  it("prints objects by a __tostring that the class or a base gets later", function()
    local A = class()
    local B = class(nil, A)
    local object = B.new()
    function A.__tostring() return "an A" end
    assert.equals("an A", tostring(object))
    function B.__tostring() return "a B" end
    assert.equals("a B", tostring(object))
    assert.equals("an A", tostring(A.new()))
  end)

  it("refuses the base class as the first argument", function()
    assert.error_matches(function()
      _G.Troll = class()
      _G.CaveTroll = class(Troll)
    end, "class: argument #1 'existing' is the class made at .*class_test%.lua:"
      .. "%d+, and is only kept when that statement runs again; to inherit from it, write "
      .. "class%(nil, Troll%) or Troll:extend%(%)")
    assert.is_nil(CaveTroll)
    _G.Troll = nil
  end)

  it("keeps a class when its file runs again, and refuses the same in another file", function()
    local function run(text, name) assert(loadstring(text, "@" .. name))() end
    run("Kobold = class(Kobold)", "kobold.lua")
    local kobold = Kobold.new()
    run("\n\nKobold = class(Kobold)\nfunction Kobold:dig() return 2 end", "kobold.lua")
    assert.equals(2, kobold:dig())
    assert.error_matches(function() run("Miner = class(Kobold)", "miner.lua") end,
      "class: argument #1 'existing' is the class made at kobold.lua:3")
    Kobold = nil
  end)

  it("refuses a super that is nil, and names the remedy", function()
    assert.error_matches(function() class(nil, MissingBase) end,
      "class: argument #2 'super' is nil: require the file that makes it first, or leave it out")
  end)

  it("refuses values that are no classes", function()
    assert.error_matches(function() class("Orc") end,
      "class: argument #1 'existing' must be a class, got string")
    assert.error_matches(function() class({}) end,
      "class: argument #1 'existing' is a table that class%(%) did not make")
    assert.error_matches(function() class(nil, 3) end,
      "class: argument #2 'super' must be a class, got number 3")
    assert.error_matches(function() class.extend(nil) end,
      "class.extend: argument #1 'base' must be a class, got nil")
    assert.error_matches(function() class.is_a({}, "Orc") end,
      "class.is_a: argument #2 'klass' must be a class, got string")
    assert.error_matches(function() class.name({}) end,
      "class.name: argument #1 'klass' is a table that class%(%) did not make")
    assert.error_matches(function() class.set_name(class(), 3) end,
      "class.set_name: argument #2 'name' must be string, got number 3")
    assert.error_matches(function() class().new():extend() end,
      "class.extend: argument #1 'base' is a table that class%(%) did not make")
  end)

  it("refuses cyclic inheritance", function()
    local A, B
    local function run(super) A = class(A, super) end
    local Base = class()
    run(Base)
    B = class(nil, A)
    class.set_name(A, "A")
    class.set_name(B, "B")
    assert.error_matches(function() run(B) end,
      "class: class B cannot be the super of class A: it is that class or inherits from it")
    assert.error_matches(function() run(A) end,
      "class: class A cannot be the super of class A: it is that class or inherits from it")
    assert.equals(Base, A.super)
  end)
end)
