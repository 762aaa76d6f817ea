-- A module that is a folder.
return "a folder"
