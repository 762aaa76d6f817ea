-- A worker that says when it is there, and sends back what it hears.
return function()
  local parent = Worker.parent()
  Worker.send(parent, "ready")
  while true do
    Worker.send(parent, Worker.wait(parent))
  end
end
