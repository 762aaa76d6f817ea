-- The window of the LÖVE side of benches/peers.rs, the same for every workload.
function love.conf(t)
  t.identity = "peers"
  t.version = "11.4"
  t.window.width, t.window.height = 800, 600
  t.window.vsync = 0
  t.audio.mic = false
end
