-- A module that fails as long as a global of modules_test.lua is set.
if modules_test_fails then
  error("not yet")
end
return "fine"
