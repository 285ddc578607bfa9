-- Sends the requests of a file in turn, from a random one on, one a line: method, path and body with tabs between.
-- With a second argument each request has an Idempotency-Key of its own, which begins with it.
-- At the end it prints what was counted as one line of JSON.

local requests = {}
local lines = {}
local sent = 0
local start = 0
local keyed = nil

-- The headers are in the order of their names. In that of a Lua table, which is another in each run, Node would make objects of
-- another shape of them, and V8 compile anew what reads these.
local function format(method, path, body, key)
  local headers = {}
  for name, value in pairs(wrk.headers) do headers[#headers + 1] = name .. ": " .. value end
  if key then headers[#headers + 1] = "Idempotency-Key: " .. key end
  if body ~= "" then
    headers[#headers + 1] = "Content-Type: application/json"
    headers[#headers + 1] = "Content-Length: " .. #body
  end
  table.sort(headers)
  return method .. " " .. path .. " HTTP/1.1\r\n" .. table.concat(headers, "\r\n") .. "\r\n\r\n" .. body
end

function init(arguments)
  keyed = arguments[2]
  for line in io.lines(arguments[1]) do
    local method, path, body = line:match("^(%S+)\t(%S+)\t(.*)$")
    lines[#lines + 1] = { method, path, body }
    requests[#requests + 1] = format(method, path, body)
  end
  math.randomseed(os.time())
  start = math.random(#requests) - 1
end

function request()
  sent = sent + 1
  local place = (start + sent - 1) % #requests + 1
  if not keyed then return requests[place] end
  local method, path, body = unpack(lines[place])
  return format(method, path, body, keyed .. sent)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
