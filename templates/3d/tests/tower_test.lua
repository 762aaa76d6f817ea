-- The tower, played by a script. `engine test .` runs it.

describe("the tower", function()
  setup(function()
    test.boot()
  end)

  it("stands by itself", function()
    test.seconds(1)
    assert.equals(0, fallen())
  end)

  it("falls when a ball hits it", function()
    throw(Vector3(0, -8, 3), Vector3(0, 1, 0))
    test.seconds(3)
    assert.is_true(fallen() > 0)
  end)
end)
