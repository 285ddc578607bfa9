-- A script for wrk that sends the requests of a file in turn, again and again. At the end it prints the counts as one
-- line of JSON. Each line of the file has the method, the path, the header of a condition and the body, separated by tabs.
-- Arguments:
-- - the file
-- - the number of requests to skip at the start
-- - the prefix of the Idempotency-Keys; without it, requests have no key

local lines = {}
local requests = {}
local sent = 0
local skipped = 0
local keyed = nil

-- Sorts the headers by name. The order of a Lua table varies from run to run, and another order of headers would give
-- the header objects in Node another shape.
local function format(line, key)
  local method, path, condition, body = line:match("^(%S+)\t(%S+)\t([^\t]*)\t(.*)$")
  local headers = {}
  for name, value in pairs(wrk.headers) do headers[#headers + 1] = name .. ": " .. value end
  if key then headers[#headers + 1] = "Idempotency-Key: " .. key end
  if condition ~= "" then headers[#headers + 1] = condition end
  if body ~= "" then
    headers[#headers + 1] = "Content-Type: application/json"
    headers[#headers + 1] = "Content-Length: " .. #body
  end
  table.sort(headers)
  return method .. " " .. path .. " HTTP/1.1\r\n" .. table.concat(headers, "\r\n") .. "\r\n\r\n" .. body
end

function init(arguments)
  for line in io.lines(arguments[1]) do lines[#lines + 1] = line end
  skipped = tonumber(arguments[2])
  keyed = arguments[3]
end

function request()
  local place = (skipped + sent) % #lines + 1
  sent = sent + 1
  if keyed then return format(lines[place], keyed .. sent) end
  local text = requests[place]
  if not text then
    text = format(lines[place])
    requests[place] = text
  end
  return text
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"microseconds":%d,"p99":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(99),
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
