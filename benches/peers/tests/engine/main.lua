-- An empty game. 1 or 1,000 trivial tests run, which benches/peers.rs writes next to this file.
function update() end
