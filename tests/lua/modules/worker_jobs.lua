-- A module that runs in workers: one function for each job of worker_test.lua.
local jobs = {}

function jobs.echo(data)
  return data.value
end

function jobs.count(data)
  local sum = 0
  for i = 1, data.n do
    sum = sum + i
  end
  return sum
end

function jobs.talk()
  local parent = Worker.parent()
  for i = 1, 3 do
    Worker.send(parent, { i, Vector3(i, 0, 0) })
    Worker.set_progress(i / 4)
  end
  local heard = {}
  while true do
    local message = Worker.wait(parent)
    if message == "enough" then
      return heard
    end
    heard[#heard + 1] = message
  end
end

function jobs.poll()
  local parent, polls = Worker.parent(), 0
  while true do
    local message = Worker.receive(parent)
    if message then
      return { polls = polls, message = message }
    end
    polls = polls + 1
  end
end

function jobs.fail(data)
  local function dig(depth)
    if depth == 0 then
      error("no ground under " .. data.name)
    end
    dig(depth - 1)
  end
  dig(1)
end

function jobs.forever()
  while true do end
end

function jobs.swallow()
  while true do
    pcall(jobs.forever)
  end
end

function jobs.eat()
  local all = {}
  while true do
    all[#all + 1] = { #all }
  end
end

function jobs.litter(data)
  local last
  for i = 1, data.n do
    last = { tostring(i), { i } }
  end
  return last[1]
end

function jobs.run(data)
  return load(data.text, "=given.lua")()
end

function jobs.send(data)
  Worker.send(Worker.parent(), load(data.text, "=given.lua")())
end

function jobs.flood()
  while true do
    Worker.send(Worker.parent(), true)
  end
end

function jobs.random()
  return { Math.random(), math.random(10), os.time(), os.clock() }
end

return function(data)
  return jobs[data.job](data)
end
