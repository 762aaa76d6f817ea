-- Suite of Application: the process, frames, worlds, user settings, shared data. Starting and
-- ending a game as a process is tested from outside (tests/hot_reload.rs).

-- Returns the message of the error that a function raises, without its location.
local function words_of(fn, ...)
  local ok, raised = pcall(fn, ...)
  assert.is_false(ok)
  return (raised:gsub("^[%w_%.]+:%d+: ", ""))
end

describe("Application", function()
  it("tells how and where it runs", function()
    assert.equals("test", Application.build())
    assert.is_truthy(("linux windows macos"):find(Application.platform(), 1, true))
    assert.matches("^%d+%.%d+%.%d+", Application.build_identifier())
    assert.is_true(Application.process_id() > 0)
    assert.equals(0, select("#", Application.argv()))
  end)

  it("refuses arguments where it takes none", function()
    assert.equals("Application.platform: takes 0 arguments, got 1",
      words_of(Application.platform, 1))
  end)

  it("opens addresses of the web alone, and none in a run that must repeat", function()
    assert.same({ nil, "nothing is opened in a run that must be repeatable" },
      { Application.open_url_in_browser("https://example.org/shop?item=1") })
    assert.equals("Application.open_url_in_browser: argument #1 'url' must begin with http://, "
      .. "https:// or mailto: and continue after that, got 'file:///etc/passwd'",
      words_of(Application.open_url_in_browser, "file:///etc/passwd"))
    assert.equals("Application.open_url_in_browser: argument #1 'url' has ' ', which no address "
      .. "can have: write it as % and two digits for each byte",
      words_of(Application.open_url_in_browser, "https://a b"))
  end)

  it("tells how many pixels are drawn", function()
    assert.same({ Window.pixel_size() }, { Application.back_buffer_size() })
  end)

  it("gives the settings with their defaults", function()
    local settings = Application.settings()
    assert.equals("main", settings.boot_script)
    assert.equals(true, settings.lua.jit)
  end)

  it("counts frames and the time of the game", function()
    local frame, time = Application.frame_index(), Application.time_since_launch()
    test.frames(3)
    assert.equals(frame + 3, Application.frame_index())
    assert.is_true(math.abs(Application.time_since_launch() - time - 3 / 60) < 1e-12)
    assert.equals(1 / 60, Application.delta_time())
  end)

  it("plays no more frames once it has quit", function()
    Application.quit(3)
    assert.equals(0, test.frames(2))
  end)

  it("takes an exit code of 0 to 255", function()
    assert.equals("Application.quit: argument #1 'code' must be 0 to 255, got 256",
      words_of(Application.quit, 256))
    assert.equals("Application.quit: argument #1 'code' must be 0 to 255, got -1",
      words_of(Application.quit, -1))
    assert.equals("Application.quit: argument #1 'code' must be integer or nil, got string \"1\"",
      words_of(Application.quit, "1"))
  end)
end)

describe("Application.hash", function()
  it("takes plain data, as much of it as there is", function()
    Application.hash()
    Application.hash(nil, true, 1.5, "hero", { 1, 2 }, { x = 1, deep = { y = 2 } })
  end)

  it("refuses what has no content to compare", function()
    assert.matches("^Application.hash: argument #1 .values.: must be plain data .*got function",
      words_of(Application.hash, print))
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

  it("refuses what is no policy, with the name that was meant", function()
    assert.matches("^Application.set_time_step_policy: .*'smothing'.*'smoothing'",
      words_of(Application.set_time_step_policy, "smothing", 11))
    assert.equals("Application.set_time_step_policy: argument #2 must be a name or a number",
      words_of(Application.set_time_step_policy, "fixed", true))
  end)
end)

describe("Application's worlds", function()
  it("are made and released", function()
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

  it("are stale after their release, and say so", function()
    local world = Application.new_world()
    Application.release_world(world)
    assert.matches("^Application.release_world: argument #1 'world': world was destroyed in frame "
      .. "%d+ at application_test%.lua:%d+",
      words_of(Application.release_world, world))
    assert.matches("^Application.release_world: argument #1 'world' must be World, got nothing",
      words_of(Application.release_world))
  end)

  it("have a main one, made when first asked for and moved on by the engine", function()
    local world = Application.main_world()
    assert.equals(world, Application.main_world())
    local time = World.time(world)
    test.frames(6)
    assert.is_true(math.abs(World.time(world) - time - 0.1) < 1e-9)
  end)
end)

describe("Application's user settings", function()
  it("are read by nested names, with nil for what is not there", function()
    Application.set_user_setting("sound", "volume", 0.5)
    assert.equals(0.5, Application.user_setting("sound", "volume"))
    assert.same({ volume = 0.5 }, Application.user_setting("sound"))
    assert.is_nil(Application.user_setting("sound", "volume", "loud"))
    Application.set_user_setting("sound", "volume", nil)
    assert.is_nil(Application.user_setting("sound", "volume"))
  end)

  it("tell their listeners before the next update", function()
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

  it("are the defaults where the player set nothing, in a table too", function()
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

  it("are copies in both directions", function()
    local keys = { jump = "space" }
    Application.set_user_setting("keys", keys)
    keys.jump = "x"
    assert.equals("space", Application.user_setting("keys", "jump"))
    Application.user_setting("keys").jump = "y"
    assert.equals("space", Application.user_setting("keys", "jump"))
    Application.user_setting("suite").volume = 1
    assert.equals(0.25, Application.user_setting("suite", "volume"))
    local told = 0
    for _ = 1, 2 do
      Application.on_user_setting_changed("keys", function(_, value)
        told = told + (value.jump == "up" and 1 or 0)
        value.jump = "down"
      end)
    end
    Application.set_user_setting("keys", { jump = "up" })
    test.frames(1)
    assert.equals(2, told)
    assert.equals("up", Application.user_setting("keys", "jump"))
  end)

  it("tell listeners inside of a table that is set as a whole", function()
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

  it("are saved, in memory alone while testing", function()
    assert.is_true(Application.save_user_settings())
    assert.is_nil(Application.user_settings_load_error())
  end)

  it("refuse names and values that cannot be saved", function()
    assert.equals("Application.user_setting: give at least one name",
      words_of(Application.user_setting))
    assert.equals("Application.user_setting: argument #2 'name' must be string, got number 1",
      words_of(Application.user_setting, "a", 1))
    assert.equals("Application.set_user_setting: a number must be finite, got number inf",
      words_of(Application.set_user_setting, "a", math.huge))
    assert.equals("Application.set_user_setting: a setting is a boolean, number, string or table, "
      .. "got function", words_of(Application.set_user_setting, "a", print))
    assert.equals("Application.on_user_setting_changed: argument #2 'fn' must be function, got nil",
      words_of(Application.on_user_setting_changed, "a"))
    assert.equals("Application.save_user_settings: takes no arguments",
      words_of(Application.save_user_settings, 1))
    assert.equals("Application.user_settings_load_error: takes no arguments",
      words_of(Application.user_settings_load_error, 1))
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
      words_of(Application.set_data, "score", "best", 11))
    assert.equals("Application.get_data: argument #1 'key' must be string or number, got boolean "
      .. "true", words_of(Application.get_data, true))
    assert.equals("Application.has_data: give at least one key", words_of(Application.has_data))
  end)
end)

describe("Application.screenshot", function()
  it("says that nothing is drawn where nothing is", function()
    local file, words = Application.screenshot("here")
    assert.is_nil(file)
    assert.matches("^nothing is drawn in this run", words)
    assert.is_nil(Application.screenshot())
  end)

  it("refuses names that are no plain ones", function()
    assert.equals("Application.screenshot: '../here' cannot be a screenshot's name: use letters, "
      .. "digits, '_' and '-', at most 64", words_of(Application.screenshot, "../here"))
    assert.equals("Application.screenshot: argument #1 'name' must be string or nil, got "
      .. "number 1", words_of(Application.screenshot, 1))
  end)
end)

describe("Application.resource_names", function()
  it("lists what there is of a type", function()
    local levels = Application.resource_names("level")
    assert.same({ "levels/circle", "levels/far", "levels/far_inside", "levels/frail",
      "levels/holey", "levels/packed", "levels/shed", "levels/yard" }, levels)
    assert.same({}, Application.resource_names("no_such_type"))
    assert.equals("Application.resource_names: argument #1 'type' must be string, got nothing",
      words_of(Application.resource_names))
  end)
end)
