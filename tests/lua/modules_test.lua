-- Suite of require: locations of modules, their results, and messages for missing modules. The
-- modules are in modules/.

local function error_of(fn, ...)
  local ok, raised = pcall(fn, ...)
  assert.is_false(ok)
  return (raised:gsub("^[%w_/%.]+:%d+: ", ""))
end

describe("require", function()
  it("finds a file, then a folder's init.lua, and runs it once", function()
    local plain = require("modules.plain")
    assert.equals("modules.plain", plain.name)
    assert.equals(plain, require("modules.plain"))
    assert.equals("a folder", require("modules.folder"))
    assert.equals(package.loaded["modules.plain"], plain)
  end)

  it("returns true for a module that returns nothing", function()
    assert.equals(true, require("modules.silent"))
    assert.equals(true, require("modules.silent"))
  end)

  it("searches package.preload first", function()
    package.preload["modules.made"] = function(name) return { made = name } end
    assert.same({ made = "modules.made" }, require("modules.made"))
  end)

  it("takes slashes for dots, and loads a module once", function()
    assert.equals(require("modules.plain"), require("modules/plain"))
    assert.is_nil(package.loaded["modules/plain"])
    assert.equals("a folder", require("modules/folder"))
    assert.matches("there is no module 'modules/plian', did you mean 'modules.plain'",
      error_of(require, "modules/plian"))
  end)

  it("asks the functions of package.searchers", function()
    local asked = {}
    local function search(name)
      asked[#asked + 1] = name
      if name == "modules.made_up" then
        return load("return { ... }", "@modules/made_up.fnl"), "modules/made_up.fnl"
      end
      return "no " .. name
    end
    table.insert(package.searchers, search)
    assert.same({ "modules.made_up", "modules/made_up.fnl" }, require("modules/made_up"))
    assert.same({ "modules.made_up" }, asked)
    assert.matches("core/modules/none/init%.lua%); no modules.none$",
      error_of(require, "modules.none"))
    table.remove(package.searchers)
    local loader, file = package.searchers[2]("modules.plain")
    assert.equals("modules/plain.lua", file)
    assert.equals("modules.plain", loader("modules.plain").name)
    assert.matches("there is no module 'modules.none'", package.searchers[2]("modules.none"))
    assert.matches("there is no package.preload%['x'%]", package.searchers[1]("x"))
  end)

  it("reports where it searched, and suggests a name", function()
    assert.matches("^require: there is no module 'modules.plian', did you mean 'modules.plain'%? "
      .. "%(looked for modules/plian.lua, modules/plian/init.lua",
      error_of(require, "modules.plian"))
  end)

  it("refuses names outside of the game", function()
    assert.matches("must be written with dots", error_of(require, "a\\b"))
    for _, name in ipairs({ "../secret", "a..b", "a//b", "/etc/passwd", "a/../b", "" }) do
      assert.matches("^require: the module's name '", error_of(require, name), name)
    end
    assert.equals("require: argument #1 'name' must be string, got nil", error_of(require))
  end)

  it("reports a cycle with every step", function()
    assert.matches("modules need each other in a circle: "
      .. "modules.circle_a %-> modules.circle_b %-> modules.circle_a",
      error_of(require, "modules.circle_a"))
  end)

  it("passes on a syntax error with its file and line, each time", function()
    for _ = 1, 2 do
      local ok, raised = pcall(require, "modules.broken")
      assert.is_false(ok)
      assert.matches("^modules/broken%.lua:3: ", raised)
    end
  end)

  it("runs a module that failed again", function()
    _G.modules_test_fails = true
    assert.matches("not yet", error_of(require, "modules.second_try"))
    _G.modules_test_fails = nil
    assert.equals("fine", require("modules.second_try"))
  end)

  it("finds the engine's own modules, and those of the suite language", function()
    assert.equals(assert, require("luassert"))
    assert.is_truthy(require("busted"))
  end)
end)
