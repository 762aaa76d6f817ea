-- A module that tells the name it was asked for by.
return { name = ... }
