-- A worker that opens scopes, for profiler_test.lua.
return function(data)
  local done = 0
  for _ = 1, data.count do
    Profiler.start("work of a worker")
    done = done + 1
    Profiler.stop("work of a worker")
  end
  return done
end
