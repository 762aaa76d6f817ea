-- A module that fails as long as modules_test.lua says so.
if modules_test_fails then
  error("not yet")
end
return "fine"
