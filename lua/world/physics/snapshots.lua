-- Snapshots of the physics of a world, with what navigation keeps in the prelude. The rest is
-- native (src/engine/snapshots.rs).
local core = ...

local next = next

local PhysicsWorld = core.module("PhysicsWorld")

local physics_snapshot, physics_restore = core.physics_snapshot, core.physics_restore
local kept_requests, restore_requests = core.kept_requests, core.restore_requests

-- What waits for paths, by snapshot, of those that were not dropped.
local requests = {}

---Stores the whole state of the physics in memory, for `restore`, with that of the animation of the
---world's units, and of its navigation meshes and agents.
---@param physics_world PhysicsWorld the physics of a world
---@return PhysicsSnapshot snapshot the state
function PhysicsWorld.snapshot(physics_world)
  local snapshot, meshes = physics_snapshot(physics_world)
  for known in next, requests do
    if not core.has_snapshot(known) then requests[known] = nil end
  end
  requests[snapshot] = kept_requests(meshes)
  return snapshot
end

---Restores a state. The steps that follow repeat those that followed the snapshot, to the last bit,
---if nothing that is not part of a snapshot has changed, such as links, and cameras that levels of
---detail depend on. Actors, units and agents that were destroyed since then stay destroyed, and
---those that were created since then do not change. Functions of `NavigationMesh.find_path_async`
---that waited are called again; those of later requests are not.
---@param physics_world PhysicsWorld the physics of a world
---@param snapshot PhysicsSnapshot result of `snapshot`
function PhysicsWorld.restore(physics_world, snapshot)
  restore_requests(requests[snapshot], physics_restore(physics_world, snapshot))
end
