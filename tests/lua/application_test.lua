-- Suite of Application: the process, frames, worlds, user settings, shared data. Starting and
-- ending a game as a process is tested from outside (tests/hot_reload.rs).

-- Returns the message of the error that a function raises, without its location.
local function error_of(fn, ...)
  local ok, raised = pcall(fn, ...)
  assert.is_false(ok)
  return (raised:gsub("^[%w_%.]+:%d+: ", ""))
end

describe("Application", function()
  it("returns the platform, the build and the arguments", function()
    assert.equals("test", Application.build())
    assert.is_truthy(("linux windows macos"):find(Application.platform(), 1, true))
    assert.matches("^%d+%.%d+%.%d+", Application.build_identifier())
    assert.is_true(Application.process_id() > 0)
    assert.equals(0, select("#", Application.argv()))
  end)

  it("refuses arguments to functions without parameters", function()
    assert.equals("Application.platform: takes 0 arguments, got 1",
      error_of(Application.platform, 1))
  end)

  it("opens only web addresses, and none in a deterministic run", function()
    assert.same({ nil, "nothing is opened in a run that must be repeatable" },
      { Application.open_url_in_browser("https://example.org/shop?item=1") })
    assert.equals("Application.open_url_in_browser: argument #1 'url' must begin with http://, "
      .. "https:// or mailto: and continue after that, got 'file:///etc/passwd'",
      error_of(Application.open_url_in_browser, "file:///etc/passwd"))
    assert.equals("Application.open_url_in_browser: argument #1 'url' has ' ', which no address "
      .. "can have: write it as % and two digits for each byte",
      error_of(Application.open_url_in_browser, "https://a b"))
  end)

  it("returns the resolution", function()
    assert.same({ Window.pixel_size() }, { Application.back_buffer_size() })
  end)

  it("returns the settings with their defaults", function()
    local settings = Application.settings()
    assert.equals("main", settings.boot_script)
    assert.equals(true, settings.lua.jit)
  end)

  it("counts frames and the game's time", function()
    local frame, time = Application.frame_index(), Application.time_since_launch()
    test.frames(3)
    assert.equals(frame + 3, Application.frame_index())
    assert.is_true(math.abs(Application.time_since_launch() - time - 3 / 60) < 1e-12)
    assert.equals(1 / 60, Application.delta_time())
  end)

  it("runs no frames after quit", function()
    Application.quit(3)
    assert.equals(0, test.frames(2))
  end)

  it("runs no frames after a restart was requested", function()
    Application.restart()
    assert.equals(0, test.frames(2))
    assert.matches("^Application.restart: ", error_of(Application.restart, 1))
  end)

  it("accepts an exit code from 0 to 255", function()
    assert.equals("Application.quit: argument #1 'code' must be 0 to 255, got 256",
      error_of(Application.quit, 256))
    assert.equals("Application.quit: argument #1 'code' must be 0 to 255, got -1",
      error_of(Application.quit, -1))
    assert.equals("Application.quit: argument #1 'code' must be integer or nil, got string \"1\"",
      error_of(Application.quit, "1"))
  end)
end)

describe("Application.hash", function()
  it("hashes plain data of any size", function()
    Application.hash()
    Application.hash(nil, true, 1.5, "hero", { 1, 2 }, { x = 1, deep = { y = 2 } })
  end)

  it("refuses values without comparable content", function()
    assert.matches("^Application.hash: argument #1 .values.: must be plain data .*got function",
      error_of(Application.hash, print))
  end)
end)

describe("Application's time step", function()
  after_each(function()
    Application.set_time_step_policy("no_smoothing", "external_multiplier", 1)
  end)

  it("is changed by policies, several in one call", function()
    Application.set_time_step_policy("no_smoothing", "external_multiplier", 2)
    test.frames(2)
    assert.equals(2 / 60, Application.delta_time())
  end)

  it("refuses unknown policies and suggests a name", function()
    assert.matches("^Application.set_time_step_policy: .*'smothing'.*'smoothing'",
      error_of(Application.set_time_step_policy, "smothing", 11))
    assert.equals("Application.set_time_step_policy: argument #2 must be a name or a number",
      error_of(Application.set_time_step_policy, "fixed", true))
  end)
end)

describe("Application's worlds", function()
  it("are created and released", function()
    local count = select("#", Application.worlds())
    local world = Application.new_world()
    assert.is_true(World.alive(world))
    local found = false
    for _, other in ipairs(Application.worlds()) do
      found = found or other == world
    end
    assert.is_true(found)
    Application.release_world(world)
    assert.is_false(World.alive(world))
    assert.equals(count, select("#", Application.worlds()))
  end)

  it("raise an error about a stale handle after their release", function()
    local world = Application.new_world()
    Application.release_world(world)
    assert.matches("^Application.release_world: argument #1 'world': world was destroyed in frame "
      .. "%d+ at application_test%.lua:%d+",
      error_of(Application.release_world, world))
    assert.matches("^Application.release_world: argument #1 'world' must be World, got nothing",
      error_of(Application.release_world))
  end)

  it("include a main world, which is created on first use and updated by the engine", function()
    local world = Application.main_world()
    assert.equals(world, Application.main_world())
    local time = World.time(world)
    test.frames(6)
    assert.is_true(math.abs(World.time(world) - time - 0.1) < 1e-9)
  end)
end)

describe("Application's user settings", function()
  it("are read by nested names; missing ones are nil", function()
    Application.set_user_setting("sound", "volume", 0.5)
    assert.equals(0.5, Application.user_setting("sound", "volume"))
    assert.same({ volume = 0.5 }, Application.user_setting("sound"))
    assert.is_nil(Application.user_setting("sound", "volume", "loud"))
    Application.set_user_setting("sound", "volume", nil)
    assert.is_nil(Application.user_setting("sound", "volume"))
  end)

  it("notify their callbacks before the next update", function()
    local heard = {}
    Application.on_user_setting_changed("video", function(name, value)
      heard[#heard + 1] = name .. "=" .. tostring(value)
    end)
    Application.set_user_setting("video", "width", 640)
    Application.set_user_setting("videos", true)
    assert.same({}, heard)
    test.frames(1)
    assert.same({ "video.width=640" }, heard)
    test.frames(1)
    assert.equals(1, #heard)
  end)

  it("return the default of each value that the player did not set, in tables too", function()
    assert.equals(0.25, Application.user_setting("suite", "volume"))
    Application.set_user_setting("suite", "loud", false)
    assert.same({ volume = 0.25, loud = false }, Application.user_setting("suite"))
    Application.set_user_setting("suite", { mute = true })
    assert.same({ volume = 0.25, mute = true }, Application.user_setting("suite"))
    Application.set_user_setting("suite", "levels", { 5, 6 })
    Application.set_user_setting("suite", "levels", { 7 })
    assert.same({ 7 }, Application.user_setting("suite", "levels"))
    Application.set_user_setting("suite", "volume", "low", nil)
    assert.equals(0.25, Application.user_setting("suite", "volume"))
    Application.set_user_setting("suite", nil)
    assert.same({ volume = 0.25 }, Application.user_setting("suite"))
  end)

  it("are copied when set and when read", function()
    local keys = { jump = "space" }
    Application.set_user_setting("keys", keys)
    keys.jump = "x"
    assert.equals("space", Application.user_setting("keys", "jump"))
    Application.user_setting("keys").jump = "y"
    assert.equals("space", Application.user_setting("keys", "jump"))
    Application.user_setting("suite").volume = 1
    assert.equals(0.25, Application.user_setting("suite", "volume"))
    local notified = 0
    for _ = 1, 2 do
      Application.on_user_setting_changed("keys", function(_, value)
        notified = notified + (value.jump == "up" and 1 or 0)
        value.jump = "down"
      end)
    end
    Application.set_user_setting("keys", { jump = "up" })
    test.frames(1)
    assert.equals(2, notified)
    assert.equals("up", Application.user_setting("keys", "jump"))
  end)

  it("notify callbacks of nested settings if a whole table is set", function()
    local heard = {}
    Application.on_user_setting_changed("suite.volume", function(name, value)
      heard[#heard + 1] = name .. "=" .. tostring(value)
    end)
    for _, value in ipairs({ { volume = 1 }, { loud = true }, false }) do
      Application.set_user_setting("suite", value or nil)
      test.frames(1)
    end
    assert.same({ "suite.volume=1", "suite.volume=0.25", "suite.volume=0.25" }, heard)
    Application.set_user_setting("suite", "volumes", 3)
    Application.set_user_setting("suites", 3)
    test.frames(1)
    assert.equals(3, #heard)
  end)

  it("take a name that is written like a whole number for that number", function()
    Application.set_user_setting("slots", "7", "name", "Ada")
    assert.equals("Ada", Application.user_setting("slots", 7, "name"))
    assert.equals("Ada", Application.user_setting("slots", "7", "name"))
    Application.set_user_setting("slots", { ["3"] = "c", ["03"] = "d", ["1e3"] = "e" })
    assert.same({ [3] = "c", ["03"] = "d", ["1e3"] = "e" }, Application.user_setting("slots"))
    local heard
    Application.on_user_setting_changed("slots", function(name) heard = name end)
    local large = 123456789012345
    Application.set_user_setting("slots", large, 1)
    test.frames(1)
    assert.equals("slots.123456789012345", heard)
    assert.equals(1, Application.user_setting("slots", "123456789012345"))
    assert.equals("Application.set_user_setting: a table has the key 7 twice, as a number and as a "
      .. "name, which are the same setting: remove one",
      error_of(Application.set_user_setting, "slots", { [7] = 1, ["7"] = 2 }))
    Application.set_user_setting("slots", nil)
  end)

  it("are saved, only in memory during tests", function()
    assert.is_true(Application.save_user_settings())
    assert.is_nil(Application.user_settings_load_error())
  end)

  it("refuse names and values that cannot be saved", function()
    assert.equals("Application.user_setting: give at least one name",
      error_of(Application.user_setting))
    assert.equals("Application.user_setting: argument #2 'name' must be a name, or a whole number "
      .. "from 1, got boolean true", error_of(Application.user_setting, "a", true))
    assert.equals("Application.set_user_setting: a number must be finite, got number inf",
      error_of(Application.set_user_setting, "a", math.huge))
    assert.equals("Application.set_user_setting: a setting is a boolean, number, string or table, "
      .. "got function", error_of(Application.set_user_setting, "a", print))
    assert.equals("Application.on_user_setting_changed: argument #2 'fn' must be function, got nil",
      error_of(Application.on_user_setting_changed, "a"))
    assert.equals("Application.save_user_settings: takes 0 arguments, got 1",
      error_of(Application.save_user_settings, 1))
    assert.equals("Application.user_settings_load_error: takes 0 arguments, got 1",
      error_of(Application.user_settings_load_error, 1))
  end)
end)

describe("Application's data", function()
  it("is shared under one or more keys", function()
    Application.set_data("level", 3, "name", "cave")
    assert.equals("cave", Application.get_data("level", 3, "name"))
    assert.is_true(Application.has_data("level", 3))
    assert.is_false(Application.has_data("level", 4))
    Application.set_data("level", nil)
    assert.is_nil(Application.get_data("level"))
  end)

  it("refuses keys that lead through a value, and keys of other types", function()
    Application.set_data("score", 10)
    assert.equals("Application.set_data: there is a value at key #1, so nothing can be inside",
      error_of(Application.set_data, "score", "best", 11))
    assert.equals("Application.get_data: argument #1 'key' must be string or number, got boolean "
      .. "true", error_of(Application.get_data, true))
    assert.equals("Application.has_data: give at least one key", error_of(Application.has_data))
  end)
end)

describe("Application.screenshot", function()
  it("fails if nothing is drawn", function()
    local file, message = Application.screenshot("here")
    assert.is_nil(file)
    assert.matches("^nothing is drawn in this run", message)
    assert.is_nil(Application.screenshot())
  end)

  it("refuses names with other characters", function()
    assert.equals("Application.screenshot: '../here' cannot be a screenshot's name: use letters, "
      .. "digits, '_' and '-', at most 64", error_of(Application.screenshot, "../here"))
    assert.equals("Application.screenshot: argument #1 'name' must be string or nil, got "
      .. "number 1", error_of(Application.screenshot, 1))
  end)
end)

describe("Application.resource_names", function()
  it("lists the resources of a type", function()
    local levels = Application.resource_names("level")
    assert.same({ "levels/circle", "levels/far", "levels/far_inside", "levels/flow",
      "levels/flow_end", "levels/frail", "levels/holey", "levels/navigation/empty",
      "levels/navigation/grounds", "levels/navigation/inline", "levels/navigation/leaps",
      "levels/navigation/lift", "levels/navigation/of_world", "levels/navigation/outer",
      "levels/navigation/plain", "levels/navigation/pond", "levels/packed", "levels/shed",
      "levels/yard" }, levels)
    assert.same({}, Application.resource_names("no_such_type"))
    assert.equals("Application.resource_names: argument #1 'type' must be string, got nothing",
      error_of(Application.resource_names))
  end)
end)
