-- A game without anything; what runs is trivial tests, 1 or 1,000, which benches/peers.rs writes
-- beside it.
function update() end
