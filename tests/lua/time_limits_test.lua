-- Suite of timers and tweens at very large times, where adding a short time changes nothing and
-- repeated events must still terminate.

describe("at very large times", function()
  it("each timer and each chain of timers is called a few times in a frame", function()
    local ticks, links, waits = 0, 0, 0
    Timer.every(0.001, function() ticks = ticks + 1 end)
    local function link()
      links = links + 1
      Timer.after(0.001, link)
    end
    link()
    Timer.run(function()
      while true do
        wait(0.001)
        waits = waits + 1
      end
    end)
    for frame = 1, 6 do
      Timer.advance(frame < 3 and 1e15 or 1.7e308)
      assert.is_true(ticks <= 100 * frame, ticks)
      assert.is_true(links <= 101 * frame + 1, links)
      assert.is_true(waits <= 101 * frame + 1, waits)
    end
    assert.is_true(ticks >= 100 and links >= 100 and waits >= 100)
    assert.equals(3, Timer.count())
  end)

  it("finite tweens end, and endless ones have valid numbers", function()
    local done, target = 0, { x = 0, y = 0 }
    Tween.to(target, 1, { x = 5 }, "linear", function() done = done + 1 end)
    Tween.to(target, 1, { y = 5 }, { times = math.huge, yoyo = true })
    for _ = 1, 4 do Tween.advance(1.7e308) end
    assert.same({ 1, 5 }, { done, target.x })
    assert.is_true(target.y >= 0 and target.y <= 5)
  end)
end)
