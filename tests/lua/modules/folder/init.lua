-- A folder as a module.
return "a folder"
