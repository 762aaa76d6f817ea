-- A module that returns the name under which it was required.
return { name = ... }
