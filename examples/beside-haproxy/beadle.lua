-- Asks Beadle whether a request passes, and answers it if not.

local address = "http://127.0.0.1:9091/"

-- Fields about the connection to the client, and secrets, stay here.
local omitted = {
  ["connection"] = true, ["content-length"] = true, ["transfer-encoding"] = true,
  ["upgrade"] = true, ["expect"] = true, ["te"] = true, ["cookie"] = true,
  ["authorization"] = true,
}

-- The most lines of fields. HAProxy's client ends the process if a request has about 100.
local most = 80

-- The lines of a field, which HAProxy counts from 0.
local function lines(values)
  local found = {}
  for at = 0, #values do
    if values[at] then found[#found + 1] = values[at] end
  end
  return found
end

local function ask(txn)
  local fields, count = {}, 0
  for name, values in pairs(txn.http:req_get_headers()) do
    if not omitted[name] then
      fields[name] = lines(values)
      count = count + #fields[name]
    end
  end
  if count > most then
    return txn:done(txn:reply{ status = 431, body = "Too many request header fields.\n" })
  end
  fields["x-forwarded-method"] = { txn.f:method() }
  fields["x-forwarded-uri"] = { txn.f:pathq() }
  local reply = core.httpclient():get{ url = address, headers = fields, timeout = 5000 }
  if reply.status == 200 then
    for name, variable in pairs({ ["robots-tag"] = "txn.robots_tag",
                                  ["x-robots-tag"] = "txn.x_robots_tag" }) do
      local values = reply.headers[name]
      if values then txn:set_var(variable, table.concat(lines(values), ", ")) end
    end
  elseif reply.status and reply.status >= 300 and reply.status < 500 then
    local answer = txn:reply{ status = reply.status, body = reply.body }
    for name, values in pairs(reply.headers) do
      if not omitted[name] and name ~= "date" then
        for _, value in ipairs(lines(values)) do answer:add_header(name, value) end
      end
    end
    txn:done(answer)
  end
  -- Anything else is no answer of Beadle: the request passes.
end

core.register_action("beadle", { "http-req" }, ask)
