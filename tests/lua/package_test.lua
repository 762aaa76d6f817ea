-- Suite of packages: requesting one, loading it, waiting for it, unloading it. The files' format is
-- tested next to the compiler, their memory use next to the store.

local function error_of(fn, ...)
  local ok, raised = pcall(fn, ...)
  assert.is_false(ok)
  return (raised:gsub("^[%w_%.]+:%d+: ", ""))
end

describe("a package", function()
  local package

  before_each(function()
    package = Application.resource_package("data/set")
  end)

  after_each(function()
    Application.release_resource_package(package)
  end)

  it("is loaded at the beginning of the next frame", function()
    ResourcePackage.load(package)
    assert.is_false(ResourcePackage.has_loaded(package))
    test.frames(1)
    assert.is_true(ResourcePackage.has_loaded(package))
    assert.equals("base", Application.data("text", "data/note"))
    assert.equals("\0\1\255", Application.data("binary", "data/bytes"))
  end)

  it("can be waited for", function()
    ResourcePackage.load(package)
    ResourcePackage.flush(package)
    assert.is_true(ResourcePackage.has_loaded(package))
    ResourcePackage.flush(package)
  end)

  it("can be loaded again once it was unloaded", function()
    ResourcePackage.load(package)
    ResourcePackage.unload(package)
    assert.equals("ResourcePackage.has_loaded: package 'data/set' is not loaded: begin with "
      .. "ResourcePackage.load", error_of(ResourcePackage.has_loaded, package))
    ResourcePackage.load(package)
    test.frames(1)
    ResourcePackage.unload(package)
    assert.equals("base", Application.data("text", "data/note"))
    ResourcePackage.load(package)
    ResourcePackage.flush(package)
    assert.is_true(ResourcePackage.has_loaded(package))
  end)

  it("follows a change of preferences while it is loading", function()
    Application.set_property_preference_order("fr")
    ResourcePackage.load(package)
    test.frames(1)
    assert.is_true(ResourcePackage.has_loaded(package))
    assert.equals("français", Application.data("text", "data/note"))
    Application.set_property_preference_order()
    test.frames(1)
    assert.equals("base", Application.data("text", "data/note"))
  end)

  it("is loaded once for each handle", function()
    local again = Application.resource_package("data/set")
    assert.is_true(again ~= package)
    ResourcePackage.load(package)
    ResourcePackage.load(again)
    test.frames(1)
    Application.release_resource_package(again)
    assert.is_true(ResourcePackage.has_loaded(package))
  end)

  it("must be loaded, only once, before it is queried, waited for or unloaded", function()
    local begin = ": package 'data/set' is not loaded: begin with ResourcePackage.load"
    for _, name in ipairs({ "has_loaded", "flush", "unload" }) do
      assert.equals("ResourcePackage." .. name .. begin, error_of(ResourcePackage[name], package))
    end
    ResourcePackage.load(package)
    assert.equals("ResourcePackage.load: package 'data/set' is being loaded already",
      error_of(ResourcePackage.load, package))
    ResourcePackage.flush(package)
    assert.equals("ResourcePackage.load: package 'data/set' is loaded already",
      error_of(ResourcePackage.load, package))
  end)
end)

describe("Application.resource_package", function()
  it("suggests a name", function()
    assert.equals("Application.resource_package: there is no package 'data/sets', did you mean "
      .. "'data/set'?", error_of(Application.resource_package, "data/sets"))
    assert.equals("Application.resource_package: argument #1 'name' must be string, got nil",
      error_of(Application.resource_package, nil))
  end)

  it("returns a package with missing resources, which cannot be loaded", function()
    local lacking = Application.resource_package("data/lacking")
    assert.equals("ResourcePackage.load: data/lacking.package: there is no text 'data/nowhere', "
      .. "did you mean 'data/note'?", error_of(ResourcePackage.load, lacking))
    Application.release_resource_package(lacking)
  end)
end)

describe("a package's handle", function()
  it("is stale once the package was released", function()
    local package = Application.resource_package("data/set")
    ResourcePackage.load(package)
    Application.release_resource_package(package)
    for _, name in ipairs({ "load", "has_loaded", "flush", "unload" }) do
      assert.matches("^ResourcePackage." .. name .. ": argument #1 'package': package "
        .. "\"data/set\" was destroyed in frame %d+ at package_test.lua:%d+",
        error_of(ResourcePackage[name], package))
    end
    assert.matches("^Application.release_resource_package: argument #1 'package': package",
      error_of(Application.release_resource_package, package))
  end)

  it("refuses other numbers and handles", function()
    assert.equals("ResourcePackage.load: argument #1 'package': must be a ResourcePackage, and "
      .. "the number 7 never was one", error_of(ResourcePackage.load, 7))
    local world = Application.new_world()
    assert.matches("must be a ResourcePackage", error_of(ResourcePackage.load, world))
    Application.release_world(world)
  end)
end)
