-- A worker that reports when it has started, and sends every message back.
return function()
  local parent = Worker.parent()
  Worker.send(parent, "ready")
  while true do
    Worker.send(parent, Worker.wait(parent))
  end
end
