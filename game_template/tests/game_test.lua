-- The game, played by a script: simulated input, and the texts on the screen.
local function is_shown(text)
  for _, object in ipairs(Gui.inspect(Application.main_gui())) do
    if object.text and object.text:find(text, 1, true) then return true end
  end
  return false
end

describe("the game", function()
  it("begins when a key is pressed, and ends when a ball is lost", function()
    test.boot()
    test.frames(2)
    is_shown("")
    test.frames(1)
    assert.is_true(is_shown("Keep the balls in the air"))
    test.input({ press = "space" })
    test.frames(2)
    assert.is_false(is_shown("Keep the balls in the air"))
    test.input({ press = "left" }) -- into the corner, where no ball falls
    test.seconds(5)
    assert.is_true(is_shown("Keep the balls in the air"))
  end)
end)
