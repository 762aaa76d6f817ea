-- A module that workers cannot run: it returns a table.
return { run = 1 }
