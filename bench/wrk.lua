-- Sends the requests of a file in turn, one a line: method, path and body with tabs between.
-- At the end it prints what was counted as one line of JSON.

local requests = {}
local sent = 0

local function format(method, path, body)
  local headers = {}
  for name, value in pairs(wrk.headers) do headers[name] = value end
  if body ~= "" then headers["Content-Type"] = "application/json" end
  return wrk.format(method, path, headers, body ~= "" and body or nil)
end

function init(arguments)
  for line in io.lines(arguments[1]) do
    requests[#requests + 1] = format(line:match("^(%S+)\t(%S+)\t(.*)$"))
  end
end

function request()
  sent = sent % #requests + 1
  return requests[sent]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
