-- Sends every message back. A message that cannot be read ends it.

return function()
  local game = Worker.parent()
  while true do
    local message = Worker.wait(game)
    if message == nil then return end
    Worker.send(game, message)
  end
end
