-- Reads the case's bytes as JSON. What is read can be written, and reads back as the same text.

return {
  update = function()
    local value, problem = Json.try_decode(Application.data("binary", "data/bytes"))
    if problem then return end
    local text = Json.encode(value)
    local again = Json.encode(Json.decode(text))
    if again ~= text then error("finding: " .. text .. " came back as " .. again) end
    Json.encode(value, { indent = 2 })
  end,
}
