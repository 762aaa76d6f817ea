-- What the game must do. `engine test .` runs it.

describe("the game", function()
  it("plays ten frames", function()
    test.boot()
    test.frames(10)
    assert.equals(10, Application.frame_index())
  end)
end)
