-- Tests of the game. `engine test .` runs them.

describe("the game", function()
  it("runs ten frames", function()
    test.boot()
    test.frames(10)
    assert.equals(10, Application.frame_index())
  end)
end)
