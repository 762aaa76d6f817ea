-- Reads a save that contains the bytes of the case. A worker gets them as a message, and sends the
-- decoded value back. With the argument `write` it saves values of every kind instead.

local worker, saved

local VALUES = {
  true, 0.1, 7, "text", { 1, 2, { 3 } }, { a = { b = { c = 1 } }, [2.5] = false, [true] = "x" },
  { Vector2(1, 2), Vector3(1, 2, 3), Vector4(1, 2, 3, 4), Color(1, 2, 3, 4) },
  { Quaternion.identity(), Matrix4x4.identity(), IdString32("a"), IdString64("b") },
  { box = Vector3Box(Vector3(1, 2, 3)), list = { QuaternionBox(), Matrix4x4Box() }, text = "a\0b" },
}

local function write()
  for i, value in ipairs(VALUES) do
    assert(Save.write("value " .. i, value))
  end
end

local function read()
  worker = worker or Worker.start("fuzz_worker")
  local value, problem = Save.read("case", { newer = true })
  if value == nil and problem == nil then error("finding: neither a value nor a problem") end
  -- It may contain values that are not data any more, such as a number that is now a handle.
  if value ~= nil then pcall(Save.write, "again", value) end
  for _ = 1, 4 do
    local ok, message = pcall(Worker.receive, worker)
    if not (ok and message ~= nil) then break end
  end
  if Worker.status(worker) ~= "running" then
    pcall(Worker.result, worker)
    worker = nil
  end
end

return {
  update = function(_, argument)
    if argument == "write" then
      if not saved then write() end
      saved = true
    else
      read()
    end
  end,
}
