-- Four languages: every text exists, keeps its values, and fits into windows of any shape.
local Texts = require "texts"
local Ui = require "ui"
local Screen = require "tests.screen"
local Scores = require "rules.scores"

local SIZES = { { 1280, 720 }, { 640, 360 }, { 2560, 1080 }, { 800, 1200 } }

local function use(code)
  Application.set_property_preference_order(code)
  test.frames(1)
end

-- The names in braces, in alphabetical order.
local function values(text)
  local names = {}
  for name in text:gmatch("{(%w+)}") do names[#names + 1] = name end
  table.sort(names)
  return table.concat(names, " ")
end

local function check_fits(where)
  local texts = Screen.texts()
  assert.is_true(#texts > 0)
  for i, text in ipairs(texts) do
    local label = where .. ": " .. text.text
    assert.is_true(text.left >= 0 and text.right <= Ui.width, label)
    assert.is_true(text.bottom >= 0 and text.top <= Ui.height, label)
    for k = i + 1, #texts do
      local other = texts[k]
      local apart = text.right <= other.left or other.right <= text.left
        or text.top <= other.bottom + 4 or other.top <= text.bottom + 4
      assert.is_true(apart, label .. " lies over " .. other.text)
    end
  end
end

describe("every language", function()
  after_each(function() use("en") end)

  it("has the texts of English, with the same values", function()
    use("en")
    local english = Application.data("strings", "texts/game")
    for _, language in ipairs(Texts.LANGUAGES) do
      use(language.code)
      local texts = Application.data("strings", "texts/game")
      for key, text in pairs(english) do
        assert.is_string(texts[key], language.code .. " has no " .. key)
        assert.equals(values(text), values(texts[key]), language.code .. ": " .. key)
      end
      for key in pairs(texts) do assert.is_string(english[key], "only there: " .. key) end
    end
  end)

  it("uses only letters of the font", function()
    for _, language in ipairs(Texts.LANGUAGES) do
      use(language.code)
      for key, text in pairs(Application.data("strings", "texts/game")) do
        assert.is_true(Gui.has_all_glyphs(Application.main_gui(), text), key)
      end
      assert.is_true(Gui.has_all_glyphs(Application.main_gui(), language.name))
    end
  end)

  it("fits on every screen, in windows of every shape", function()
    test.boot()
    test.frames(2)
    for i = 1, 5 do Scores.add(99999 * i, 10 + i) end
    Gui.inspect(Ui.gui())
    for _, language in ipairs(Texts.LANGUAGES) do
      for _, size in ipairs(SIZES) do
        local where = ("%s %dx%d"):format(language.code, size[1], size[2])
        test.input({ resize = size })
        test.frames(3)
        check_fits(where .. " title")
        Screen.tap("enter")
        check_fits(where .. " play")
        Screen.tap("escape")
        check_fits(where .. " pause")
        Screen.tap("escape")
      end
      Screen.tap("down")
      Screen.tap("right")
      Screen.tap("up")
    end
  end)

  it("fits on the end screen", function()
    local Over = require "screens.over"
    for _, language in ipairs(Texts.LANGUAGES) do
      use(language.code)
      for _, size in ipairs(SIZES) do
        test.input({ resize = size })
        test.frames(1)
        Over.enter({ score = 123456, depth = 12 })
        Scores.problem = "no room"
        test.seconds(2)
        Gui.reset(Ui.gui())
        Ui.begin()
        Over.draw()
        check_fits(language.code .. " over")
      end
    end
  end)
end)
