-- What no worker can run: it returns a table.
return { run = 1 }
