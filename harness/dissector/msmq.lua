-- The part of the dissector that reads packets by means of the tables above: `layouts`, `message_classes`,
-- `expert_items`, `operations`. It uses no bit library and no `//`, because it must run in Lua 5.2 (Wireshark 3.6 to 4.2)
-- and in Lua 5.4 (Wireshark 4.4).

local msmq = Proto("msmq", "Microsoft Message Queuing (MSMQ)")

local BASE_SIZE, SESSION_SIZE, PING_SIZE = 16, 16, 24
local SIGNATURE, PING_SIGNATURE, VERSION = 0x524F494C, 0x5548, 0x10
local SESSION_ACK_SIZES = { [0x14] = true, [0x24] = true }
local MAX_ELEMENTS = 4096 -- shown elements of one list; further elements are only counted
local INTERNAL = { [1] = "SessionHeader", [2] = "EstablishConnectionHeader", [3] = "ConnectionParametersHeader" }
local INTERNAL_NAMES = { [1] = "SessionAck", [2] = "EstablishConnection", [3] = "ConnectionParameters" }

-- ---------------------------------------------------------------- fields and expert items

local proto_fields, expert_fields = {}, {}
local header_fields = {} -- layout name -> ProtoField of the whole header: the filter "msmq.user"
local fields_of = {} -- layout name -> field name -> ProtoField; bits as "Flags.PR"

local function add_field(field)
  proto_fields[#proto_fields + 1] = field
  return field
end

local NUMBERS = { [1] = ProtoField.uint8, [2] = ProtoField.uint16, [4] = ProtoField.uint32, [8] = ProtoField.uint64 }

local function declare(layout)
  local known = {}
  fields_of[layout.name] = known
  header_fields[layout.name] = add_field(ProtoField.none("msmq." .. layout.filter, layout.name))
  for _, field in ipairs(layout.fields) do
    local filter = "msmq." .. layout.filter .. "." .. string.lower(field.name)
    if field.kind == "number" then
      local names = field.name == "MessageClass" and message_classes or nil
      local base_of = (field.hexadecimal and base.HEX_DEC) or base.DEC
      if field.size == 8 then base_of, names = base.DEC, nil end
      known[field.name] = add_field(NUMBERS[field.size](filter, field.name, base_of, names))
    elseif field.kind == "word" then
      known[field.name] = add_field(NUMBERS[field.size](filter, field.name, base.HEX))
      for _, bits in ipairs(field.bits) do
        local mask = (2 ^ bits.width - 1) * 2 ^ bits.shift
        local name = filter .. "." .. string.lower(bits.name)
        known[field.name .. "." .. bits.name] =
          add_field(NUMBERS[field.size](name, bits.name, base.DEC, nil, math.floor(mask)))
      end
    elseif field.kind == "guid" then
      known[field.name] = add_field(ProtoField.guid(filter, field.name))
    elseif field.kind == "text" or field.kind == "queue" then
      known[field.name] = add_field(ProtoField.string(filter, field.name))
    elseif field.kind == "structure" or field.kind == "list" then
      known[field.name] = add_field(ProtoField.none(filter, field.name))
    else
      known[field.name] = add_field(ProtoField.bytes(filter, field.name))
    end
  end
end

local layout_of = {}
for _, layout in ipairs(layouts) do
  layout_of[layout.name] = layout
  declare(layout)
end

local kind_field = add_field(ProtoField.string("msmq.kind", "Packet"))
local request_in = add_field(ProtoField.framenum("msmq.request_in", "Request in", base.NONE, frametype.REQUEST))
local response_in = add_field(ProtoField.framenum("msmq.response_in", "Response in", base.NONE, frametype.RESPONSE))
local acknowledges =
  add_field(ProtoField.framenum("msmq.acknowledges", "Acknowledges the message in", base.NONE, frametype.ACK))
local acknowledged_in =
  add_field(ProtoField.framenum("msmq.acknowledged_in", "Acknowledged in", base.NONE, frametype.ACK))

local malformed = ProtoExpert.new("msmq.malformed", "Malformed packet", expert.group.MALFORMED, expert.severity.ERROR)
local no_packet =
  ProtoExpert.new("msmq.no_packet", "No packet begins here", expert.group.MALFORMED, expert.severity.ERROR)
expert_fields[#expert_fields + 1] = malformed
expert_fields[#expert_fields + 1] = no_packet
for _, item in ipairs(expert_items) do
  local name = "msmq.rule." .. string.lower(string.gsub(item.rule, "[.-]", "_"))
  item.field = ProtoExpert.new(name, item.rule .. ": " .. item.says, expert.group.PROTOCOL, expert.severity.WARN)
  expert_fields[#expert_fields + 1] = item.field
end

-- ---------------------------------------------------------------- reading by layout

-- The error that is raised while a packet is read; it contains the text of the expert item.
local Malformed = {}
local function fail(text)
  error(setmetatable({ text = text }, Malformed), 0)
end

local function evaluate(expression, values)
  if type(expression) ~= "table" then return expression end
  local value = values[expression.field] or 0
  if expression.equals then return (value == expression.equals) and 1 or 0 end
  return value * expression.factor
end

local function guid_text(range)
  local function hex(first, last, step)
    local text = ""
    for at = first, last, step do text = text .. string.format("%02x", range(at, 1):uint()) end
    return text
  end
  return hex(3, 0, -1) .. "-" .. hex(5, 4, -1) .. "-" .. hex(7, 6, -1) .. "-" .. hex(8, 9, 1) .. "-" .. hex(10, 15, 1)
end

-- A reader is called with the packet's bytes, an offset, and the end of the readable bytes; it returns the offset after
-- the field.
local read_layer

local function take(context, layout, field, size)
  if size > context.last - context.at then
    fail(string.format("%s.%s has %d bytes, but only %d are left", layout.name, field.name, size, context.last - context.at))
  end
  local range = context.tvb(context.at, size)
  context.at = context.at + size
  return range
end

local function terminated_size(context, layout, field)
  for at = context.at, context.last - 2, 2 do
    if context.tvb(at, 2):uint() == 0 then return at + 2 - context.at end
  end
  fail(layout.name .. "." .. field.name .. " has no terminator in the remaining bytes")
end

local function text_of(range)
  local size = range:len()
  if size >= 2 and range(size - 2, 2):uint() == 0 then size = size - 2 end
  return size == 0 and "" or range(0, size):le_ustring()
end

-- Return the text of a queue's name, given the values of the name's structure.
local function queue_text(name, values, owner)
  if values.DirectFormatName then return "DIRECT=" .. values.DirectFormatName end
  if values.PublicQueueIdentifier then return "PUBLIC=" .. values.PublicQueueIdentifier end
  if values.DistributionListIdentifier then return "DL=" .. values.DistributionListIdentifier end
  if values.PrivateQueueIdentifier then
    local machine = values.SourceQueueManager or owner
    return string.format("PRIVATE=%s\\%x", machine or "?", values.PrivateQueueIdentifier)
  end
  return name
end

local readers = {}

-- A tree that ignores all items that are added to it.
local NO_TREE = setmetatable({}, { __index = function() return function(tree) return tree end end })

function readers.number(context, layout, field, tree, values)
  local range = take(context, layout, field, field.size)
  if field.size == 8 then
    values[field.name] = range:le_uint64():tonumber()
  else
    values[field.name] = range:le_uint()
  end
  tree:add_le(fields_of[layout.name][field.name], range)
end

function readers.word(context, layout, field, tree, values)
  local range = take(context, layout, field, field.size)
  local whole = range:le_uint()
  values[field.name] = whole
  local branch = tree:add_le(fields_of[layout.name][field.name], range)
  for _, bits in ipairs(field.bits) do
    values[bits.name] = math.floor(whole / 2 ^ bits.shift) % math.floor(2 ^ bits.width)
    branch:add_le(fields_of[layout.name][field.name .. "." .. bits.name], range)
  end
end

function readers.guid(context, layout, field, tree, values)
  if field.present and evaluate(field.present, values) == 0 then return end
  local range = take(context, layout, field, 16)
  values[field.name] = guid_text(range)
  tree:add_le(fields_of[layout.name][field.name], range)
end

function readers.bytes(context, layout, field, tree, values)
  local size = field.size == "rest" and context.last - context.at or evaluate(field.size, values)
  local range = take(context, layout, field, size)
  if size == 0 then return end
  values[field.name] = range
  tree:add(fields_of[layout.name][field.name], range)
end

function readers.text(context, layout, field, tree, values)
  local size = field.size and evaluate(field.size, values) or terminated_size(context, layout, field)
  if size % 2 == 1 then fail(layout.name .. "." .. field.name .. ": not whole characters") end
  local range = take(context, layout, field, size)
  values[field.name] = text_of(range)
  if size > 0 then tree:add(fields_of[layout.name][field.name], range, values[field.name]) end
end

function readers.padding(context, layout, field, tree, values)
  local boundary = field.boundary or field.boundaries[values[field.selector]] or 1
  if field.optional and context.last - context.at <= context.after then return end
  local size = (-(context.at - context.start)) % boundary
  local range = take(context, layout, field, size)
  if size > 0 then tree:add(fields_of[layout.name][field.name], range) end
end

local function read_structure(context, layout, field, tree, values, name)
  local from = context.at
  if from >= context.last then fail(layout.name .. "." .. field.name .. ": a " .. name .. " is announced but missing") end
  local branch = tree:add(fields_of[layout.name][field.name], context.tvb(from, context.last - from))
  local found = read_layer(context, layout_of[name], branch)
  branch:set_len(context.at - from)
  values[field.name] = found
  return branch, found
end

function readers.structure(context, layout, field, tree, values)
  read_structure(context, layout, field, tree, values, field.layout)
end

function readers.queue(context, layout, field, tree, values)
  local selected = values[field.selector]
  local name = field.layouts[selected]
  if name == nil then
    fail(string.format("%s.%s: %d has no layout for %s", layout.name, field.selector, selected, field.name))
  end
  if name == "" then return end
  local from = context.at
  if from >= context.last then fail(layout.name .. "." .. field.name .. ": a " .. name .. " is announced but missing") end
  -- The value of a field cannot change once it is in the tree, so the structure is first read without a tree.
  local done, found = pcall(read_layer, context, layout_of[name], NO_TREE)
  local text = done and queue_text(name, found, values.QueueManagerAddress) or ""
  context.at = from
  local branch = tree:add(fields_of[layout.name][field.name], context.tvb(from, context.last - from), text)
  read_layer(context, layout_of[name], branch)
  branch:set_len(context.at - from)
  values[field.name] = text
end

function readers.list(context, layout, field, tree, values)
  local count = values[field.count]
  local from = context.at
  local branch = tree:add(fields_of[layout.name][field.name], context.tvb(from, context.last - from))
  branch:append_text(": " .. count)
  for number = 1, count do
    if context.at >= context.last then
      fail(string.format("%s.%s: %d elements announced, only %d present", layout.name, field.count, count, number - 1))
    end
    if number > MAX_ELEMENTS then fail(layout.name .. "." .. field.name .. ": more elements than can be shown") end
    local at = context.at
    local element = branch:add(context.tvb(at, context.last - at), field.layout)
    local found = read_layer(context, layout_of[field.layout], element)
    element:set_len(context.at - at)
    element:set_text(found.FormatName or field.layout)
  end
  branch:set_len(context.at - from)
end

function read_layer(context, layout, tree)
  local values = {}
  for _, field in ipairs(layout.fields) do
    readers[field.kind](context, layout, field, tree, values)
  end
  return values
end

-- ---------------------------------------------------------------- packets

-- Add a header of the packet as a separate branch. The values of the header are in `headers`, by the layout's filter name.
local function read_header(context, name, tree, headers)
  local layout = layout_of[name]
  if context.at >= context.last and name ~= "UnknownInternal" then fail(name .. ": announced, but the packet ends") end
  context.start = context.at
  local branch = tree:add(header_fields[name], context.tvb(context.at, context.last - context.at))
  local values = read_layer(context, layout, branch)
  branch:set_len(context.at - context.start)
  headers[layout.filter] = values
  headers.names[#headers.names + 1] = name
  return values, branch
end

local function read_body(name, range, tree, headers)
  local layout = layout_of[name]
  local inner = { tvb = range:tvb(), at = 0, start = 0, last = range:len(), after = 0 }
  local branch = tree:add(header_fields[name], range)
  local done, found = pcall(read_layer, inner, layout, branch)
  if done then headers[layout.filter] = found end
end

local function read_parts_of_message(headers, tree)
  local properties, security = headers.properties, headers.security
  local body = properties and properties.MessageBody
  if body and body:len() == 36 then
    if properties.MessageClass == 0x00FF then
      read_body("OrderAckBody", body, tree, headers)
    elseif string.find(tostring(headers.user.DestinationQueue), "order_queue$", 1, true) then
      read_body("FinalAckBody", body, tree, headers)
    end
  end
  if security and security.ProviderInfo then read_body("ProviderInfo", security.ProviderInfo, tree, headers) end
  if security and security.EncryptionKey and security.EncryptionKey:len() == 268 then
    read_body("SimpleBlob", security.EncryptionKey, tree, headers)
  end
end

local function read_message(context, tree, headers)
  local base = headers.base
  local user = read_header(context, "UserHeader", tree, headers)
  if user.MP == 0 then fail("UserHeader.MP: 0, a message without MessagePropertiesHeader") end
  local order = {
    { "TransactionHeader", user.TH },
    { "SecurityHeader", user.SH },
    { "MessagePropertiesHeader", user.MP },
    { "DebugHeader", base.DH },
    { "SoapHeader", user.HH },
    { "MultiQueueFormatHeader", user.MQ },
    { "SessionHeader", base.SH },
  }
  for _, one in ipairs(order) do
    if one[2] == 1 then read_header(context, one[1], tree, headers) end
  end
  read_parts_of_message(headers, tree)
end

local function read_internal(context, tree, headers)
  local internal = read_header(context, "InternalHeader", tree, headers)
  read_header(context, INTERNAL[internal.PT] or "UnknownInternal", tree, headers)
end

-- Return the size of the packet that begins with these 16 bytes, or nil and the reason why no packet begins with them.
local function size_of_packet(tvb)
  if tvb(0, 1):uint() ~= VERSION then return nil, "BaseHeader.VersionNumber is not 0x10" end
  if tvb(4, 4):le_uint() ~= SIGNATURE then return nil, "BaseHeader.Signature is not 4C 49 4F 52" end
  local size = tvb(8, 4):le_uint()
  if size < BASE_SIZE or size > 0x400000 then return nil, "BaseHeader.PacketSize is not from 16 to 0x400000" end
  local flags = tvb(2, 2):le_uint()
  local internal, session = math.floor(flags / 8) % 2 == 1, math.floor(flags / 16) % 2 == 1
  if not session then return size end
  if not internal then return size + SESSION_SIZE end
  if SESSION_ACK_SIZES[size] then return 0x24 end
  return nil, "BaseHeader.PacketSize is not the size of a SessionAck, although IN and SH are set"
end

-- ---------------------------------------------------------------- links between packets

local conversations, links, pings = {}, {}, {}
local messages_by_id = {} -- "guid:number" -> key of the packet that carried the message
local tcp_stream = Field.new("tcp.stream")

function msmq.init()
  conversations, links, pings, messages_by_id = {}, {}, {}, {}
end

local function sender(pinfo)
  return tostring(pinfo.src) .. ":" .. pinfo.src_port
end

local function receiver(pinfo)
  return tostring(pinfo.dst) .. ":" .. pinfo.dst_port
end

local function links_of(key)
  links[key] = links[key] or {}
  return links[key]
end

local function key_of(pinfo, tvb)
  local size = tvb:len()
  local first = tvb(0, math.min(size, 96)):bytes():tohex()
  local last = tvb(math.max(0, size - 16)):bytes():tohex()
  return pinfo.number .. ":" .. size .. ":" .. first .. last
end

local function side_of(conversation, name)
  conversation[name] = conversation[name] or { messages = {}, recoverable = {}, acknowledged = 0, opening = {} }
  return conversation[name]
end

-- Link a SessionHeader to the messages that it acknowledges: those of the other side up to AckSequenceNumber.
local function link_session_header(session, other, key)
  local last = session.AckSequenceNumber
  local cycle = other.acknowledged - other.acknowledged % 0x10000
  if last < other.acknowledged % 0x10000 then cycle = cycle + 0x10000 end
  last = cycle + last
  if last > #other.messages then return end
  for number = other.acknowledged + 1, last do
    local message = other.messages[number]
    links_of(message.key).acknowledged_in = links_of(message.key).acknowledged_in or tonumber(string.match(key, "^%d+"))
    links_of(key).acknowledges = message.number
  end
  other.acknowledged = last
end

local function link_opening(pinfo, kind, own, other, key)
  local request = other.opening[kind]
  if request then
    links_of(key).request_in = request.number
    links_of(request.key).response_in = pinfo.number
  elseif not own.opening[kind] then
    own.opening[kind] = { number = pinfo.number, key = key }
  end
end

local function link_message(pinfo, headers, own, key)
  own.messages[#own.messages + 1] = { number = pinfo.number, key = key }
  local user, properties = headers.user, headers.properties
  local class = properties.MessageClass
  local id = user.SourceQueueManager .. ":" .. user.MessageID
  if class == 0 then messages_by_id[id] = messages_by_id[id] or { number = pinfo.number, key = key } end
  if class > 1 and properties.CorrelationID then
    local correlation = guid_text(properties.CorrelationID(0, 16)) .. ":" .. properties.CorrelationID(16, 4):le_uint()
    local message = messages_by_id[correlation]
    if message then
      links_of(key).acknowledges = message.number
      links_of(message.key).answered_in = links_of(message.key).answered_in or pinfo.number
    end
  end
end

local function link_packet(pinfo, headers, kind, key)
  local stream = tcp_stream()
  if stream == nil then return end
  local number = tostring(stream.value)
  conversations[number] = conversations[number] or {}
  local own = side_of(conversations[number], sender(pinfo))
  local other = side_of(conversations[number], receiver(pinfo))
  if kind == "EstablishConnection" or kind == "ConnectionParameters" then link_opening(pinfo, kind, own, other, key) end
  if headers.session then link_session_header(headers.session, other, key) end
  if headers.user then link_message(pinfo, headers, own, key) end
end

local function add_links(tree, key)
  local found = links[key] or {}
  local rows = {
    { request_in, found.request_in },
    { response_in, found.response_in },
    { acknowledges, found.acknowledges },
    { acknowledged_in, found.acknowledged_in },
    { acknowledged_in, found.answered_in },
  }
  for _, row in ipairs(rows) do
    if row[2] then tree:add(row[1], row[2]):set_generated() end
  end
end

-- ---------------------------------------------------------------- displayed texts

local function kind_of(headers)
  if headers.user then return "UserMessage" end
  return INTERNAL_NAMES[headers.internal.PT] or "unknown internal"
end

local function info_of(headers, kind)
  if kind == "UserMessage" then
    local properties = headers.properties
    local class = message_classes[properties.MessageClass] or string.format("class 0x%04X", properties.MessageClass)
    local text = string.format("%s %s\\%d", class, headers.user.SourceQueueManager, headers.user.MessageID)
    if properties.Label and properties.Label ~= "" then text = text .. ' "' .. properties.Label .. '"' end
    return text .. " to " .. tostring(headers.user.DestinationQueue or "several queues")
  end
  if kind == "SessionAck" then return kind .. " up to " .. headers.session.AckSequenceNumber end
  if kind == "EstablishConnection" then
    local refused = headers.internal.CS == 1 and ", refused" or ""
    return kind .. " from " .. headers.establish.ClientGuid .. " to " .. headers.establish.ServerGuid .. refused
  end
  if kind == "ConnectionParameters" then return kind .. " window " .. headers.parameters.WindowSize end
  return kind .. " PT " .. headers.internal.PT
end

local function add_expert_items(headers, tree)
  for _, item in ipairs(expert_items) do
    local whole = true
    for _, name in ipairs(item.layers) do whole = whole and headers[name] ~= nil end
    if whole and not item.keeps(headers) then tree:add_proto_expert_info(item.field) end
  end
end

local function say_malformed(problem, tree)
  if getmetatable(problem) ~= Malformed then error(problem, 0) end
  tree:add_proto_expert_info(malformed, problem.text)
  return problem.text
end

local function dissect_packet(tvb, pinfo, tree)
  pinfo.cols.protocol = "MSMQ"
  local branch = tree:add(msmq, tvb())
  local size, why = size_of_packet(tvb)
  if size == nil then
    branch:add_proto_expert_info(no_packet, why)
    return tvb:len()
  end
  local context = { tvb = tvb, at = 0, start = 0, last = tvb:len(), after = 0 }
  local headers = { names = {} }
  local done, problem = pcall(function()
    local base = read_header(context, "BaseHeader", branch, headers)
    context.after = base.SH == 1 and SESSION_SIZE or 0
    if base.IN == 1 then read_internal(context, branch, headers) else read_message(context, branch, headers) end
    if context.at < context.last then
      fail(string.format("%d bytes are left over after %s", context.last - context.at, headers.names[#headers.names]))
    end
  end)
  if not done then
    pinfo.cols.info:append(" [malformed: " .. say_malformed(problem, branch) .. "]")
    return tvb:len()
  end
  local kind = kind_of(headers)
  branch:add(kind_field, kind):set_generated()
  local key = key_of(pinfo, tvb)
  if not pinfo.visited then link_packet(pinfo, headers, kind, key) end
  add_links(branch, key)
  add_expert_items(headers, branch)
  local info = info_of(headers, kind)
  branch:append_text(", " .. info)
  pinfo.cols.info:append(" " .. info .. ";")
  return tvb:len()
end

local function get_size(tvb, pinfo, offset)
  return size_of_packet(tvb(offset, BASE_SIZE):tvb()) or (tvb:len() - offset)
end

local function begin_columns(pinfo)
  pinfo.cols.protocol = "MSMQ"
  pinfo.cols.info:clear_fence()
  pinfo.cols.info = ""
end

local function dissect_ping(tvb, pinfo, tree)
  if tvb:len() ~= PING_SIZE or tvb(2, 2):le_uint() ~= PING_SIGNATURE then return 0 end
  pinfo.cols.protocol = "MSMQ"
  local branch = tree:add(msmq, tvb())
  local context = { tvb = tvb, at = 0, start = 0, last = tvb:len(), after = 0 }
  local headers = { names = {} }
  local ping = read_header(context, "PingPacket", branch, headers)
  local key = key_of(pinfo, tvb)
  local mine, theirs = sender(pinfo) .. ">" .. receiver(pinfo), receiver(pinfo) .. ">" .. sender(pinfo)
  if not pinfo.visited then
    local request = pings[theirs .. ping.Cookie]
    if request then
      links_of(key).request_in = request.number
      links_of(request.key).response_in = pinfo.number
    else
      pings[mine .. ping.Cookie] = { number = pinfo.number, key = key }
    end
  end
  local answers = (links[key] or {}).request_in
  branch:add(kind_field, "Ping"):set_generated()
  add_links(branch, key)
  local refused = answers and ping.RF == 1 and ", a session would be refused" or ""
  pinfo.cols.info = (answers and "Ping response " or "Ping request ") .. ping.Cookie .. " from " .. ping.QMGuid .. refused
  return tvb:len()
end

local function dissect_stream(tvb, pinfo, tree)
  begin_columns(pinfo)
  dissect_tcp_pdus(tvb, tree, BASE_SIZE, get_size, dissect_packet)
  return tvb:len()
end

function msmq.dissector(tvb, pinfo, tree)
  if pinfo.port_type == 3 then return dissect_ping(tvb, pinfo, tree) end -- PT_UDP
  return dissect_stream(tvb, pinfo, tree)
end

local function is_msmq_tcp(tvb, pinfo, tree)
  if tvb:len() < BASE_SIZE or tvb(0, 1):uint() ~= VERSION or tvb(4, 4):le_uint() ~= SIGNATURE then return false end
  pinfo.conversation = msmq
  dissect_stream(tvb, pinfo, tree) -- not msmq.dissector: a call through Wireshark would forbid reassembly
  return true
end

local function is_msmq_udp(tvb, pinfo, tree)
  if tvb:len() ~= PING_SIZE or tvb(2, 2):le_uint() ~= PING_SIGNATURE then return false end
  return dissect_ping(tvb, pinfo, tree) > 0
end

msmq.fields = proto_fields
msmq.experts = expert_fields
DissectorTable.get("tcp.port"):add(1801, msmq)
DissectorTable.get("udp.port"):add(3527, msmq)
msmq:register_heuristic("tcp", is_msmq_tcp)
msmq:register_heuristic("udp", is_msmq_udp)

-- ---------------------------------------------------------------- RPC: names on top of Wireshark's DCE/RPC

local rpc = Proto("msmq_rpc", "MSMQ over RPC")
local rpc_interface = ProtoField.string("msmq.rpc.interface", "Interface")
local rpc_operation = ProtoField.string("msmq.rpc.operation", "Operation")
local rpc_status = ProtoField.uint32("msmq.rpc.status", "Status", base.HEX)
local rpc_cut = ProtoField.string("msmq.rpc.cut", "Not read")
local stub_fields = { rpc_interface, rpc_operation, rpc_status, rpc_cut }
local stub_field = {} -- path of a parameter -> ProtoField

local STUB_KINDS = {
  guid = ProtoField.guid, text = ProtoField.string, bytes = ProtoField.bytes, octets = ProtoField.bytes,
}

local function declare_parameter(row)
  if row.kind == "struct" then
    for _, field in ipairs(row.fields) do declare_parameter(field) end
    return
  elseif row.kind == "pointer" then
    return declare_parameter(row.target)
  elseif row.kind == "union" then
    for _, arm in pairs(row.arms) do declare_parameter(arm) end
  end
  if stub_field[row.path] == nil then
    local make = STUB_KINDS[row.kind] or NUMBERS[row.sizes[#row.sizes]]
    local name = string.match(row.path, "[^.]+$")
    stub_field[row.path] = make("msmq.rpc." .. string.lower(row.path), name)
    stub_fields[#stub_fields + 1] = stub_field[row.path]
  end
end

for _, interface in pairs(operations) do
  for _, stub in pairs(interface.stubs) do
    for _, rows in pairs(stub) do
      for _, row in ipairs(rows) do declare_parameter(row) end
    end
  end
end
rpc.fields = stub_fields

local rpc_type, rpc_opnum = Field.new("dcerpc.pkt_type"), Field.new("dcerpc.opnum")
local rpc_context, rpc_uuid = Field.new("dcerpc.cn_ctx_id"), Field.new("dcerpc.cn_bind_to_uuid")
local rpc_call, rpc_stub = Field.new("dcerpc.cn_call_id"), Field.new("dcerpc.stub_data")
local rpc_flags, rpc_order = Field.new("dcerpc.cn_flags"), Field.new("dcerpc.drep.byteorder")
local rpc_accepted = Field.new("dcerpc.cn_ack_trans_id")
local rpc_reassembled = Field.new("dcerpc.reassembled.length")
local REQUEST, RESPONSE, BIND, BIND_ACK, ALTER, ALTER_ACK = 0, 2, 11, 12, 14, 15
local NDR = "8a885d04-1ceb-11c9-9fe8-08002b104860"
local NDR64 = 2 -- the second of two sizes or alignments
local SYNTAXES = { [NDR] = 1, ["71710533-beba-4937-8319-b5dbef9ccc36"] = NDR64 }
local LITTLE = 1
local FIRST, LAST = 1, 2 -- PFC_FIRST_FRAG, PFC_LAST_FRAG
local contexts, calls, proposed, syntaxes = {}, {}, {}, {}

function rpc.init()
  contexts, calls, proposed, syntaxes = {}, {}, {}, {}
end

-- ---------------------------------------------------------------- RPC: arguments in NDR (C706 14), NDR64 (MS-RPCE 2.2.5)

local WORD_SIZES = { 4, 8 } -- of pointers and of the counts of arrays

local function align(stub, size)
  stub.at = stub.at + (-stub.at) % size
end

local function take(stub, size)
  if stub.at + size > stub.range:len() then error("the stub is too short", 0) end
  stub.at = stub.at + size
  return stub.range(stub.at - size, size)
end

local function take_number(stub, sizes)
  local size = sizes[stub.syntax]
  align(stub, size)
  return take(stub, size)
end

local function take_word(stub)
  local range = take_number(stub, WORD_SIZES)
  return range:len() == 8 and range:le_uint64():tonumber() or range:le_uint()
end

local function take_array(stub, width)
  take_word(stub)
  take_word(stub)
  return take(stub, take_word(stub) * width)
end

local parameter_readers = {}

-- deferred: the embedded pointers of the enclosing structure; their targets follow the structure.
local function read_parameter(stub, row, tree, deferred)
  parameter_readers[row.kind](stub, row, tree, deferred)
end

function parameter_readers.number(stub, row, tree)
  tree:add_le(stub_field[row.path], take_number(stub, row.sizes))
end

function parameter_readers.guid(stub, row, tree)
  align(stub, row.aligns[stub.syntax])
  tree:add_le(stub_field[row.path], take(stub, row.size))
end

function parameter_readers.bytes(stub, row, tree)
  align(stub, row.aligns[stub.syntax])
  tree:add(stub_field[row.path], take(stub, row.size))
end

function parameter_readers.octets(stub, row, tree)
  tree:add(stub_field[row.path], take_array(stub, 1))
end

function parameter_readers.text(stub, row, tree)
  local range = take_array(stub, 2)
  tree:add(stub_field[row.path], range, range:le_ustring())
end

function parameter_readers.pointer(stub, row, tree, deferred)
  if take_word(stub) == 0 then return end
  if row.embedded and deferred then
    deferred[#deferred + 1] = row.target
  else
    read_parameter(stub, row.target, tree)
  end
end

function parameter_readers.struct(stub, row, tree, deferred)
  local own = deferred or {}
  align(stub, row.aligns[stub.syntax])
  for _, field in ipairs(row.fields) do read_parameter(stub, field, tree, own) end
  if stub.syntax == NDR64 then align(stub, row.aligns[stub.syntax]) end
  if deferred then return end
  for _, target in ipairs(own) do read_parameter(stub, target, tree) end
end

function parameter_readers.union(stub, row, tree, deferred)
  align(stub, row.aligns[stub.syntax])
  local range = take_number(stub, row.sizes)
  tree:add_le(stub_field[row.path], range)
  local arm = row.arms[range:le_uint()]
  if arm then read_parameter(stub, arm, tree, deferred) end
end

local function read_stub(range, syntax, rows, tree)
  local stub = { range = range, at = 0, syntax = syntax }
  for _, row in ipairs(rows) do
    local done, why = pcall(read_parameter, stub, row, tree)
    if not done then
      tree:add(rpc_cut, row.path .. ": " .. why):set_generated()
      return
    end
  end
end

-- Return the whole stub of a call, which Wireshark reassembles at the last fragment; nil at other fragments, and
-- where a fragment is missing.
local function whole_stub()
  local stubs, flags, lengths = { rpc_stub() }, { rpc_flags() }, { rpc_reassembled() }
  if #stubs == 0 or #flags == 0 then return nil end
  local place, range = flags[#flags].value % 4, stubs[#stubs].range
  if place == FIRST + LAST then return range end
  if place == LAST and #lengths > 0 and lengths[#lengths].value == range:len() then return range end
  return nil
end

local function learn_contexts(stream)
  local uuids, ids = { rpc_uuid() }, { rpc_context() }
  for number, uuid in ipairs(uuids) do
    local id = ids[number] and ids[number].value or number - 1
    contexts[stream .. ":" .. id] = guid_text(uuid.range) -- Lua has no value of FT_GUID
    proposed[stream .. ":" .. number] = id
  end
end

-- The results of a bind are in the order of the proposed contexts.
local function learn_syntaxes(stream)
  for number, syntax in ipairs({ rpc_accepted() }) do
    local id = proposed[stream .. ":" .. number]
    if id then syntaxes[stream .. ":" .. id] = guid_text(syntax.range) end
  end
end

-- A postdissector. It names only the last PDU of each kind in a frame, because Wireshark's fields do not show to which
-- PDU a value belongs.
function rpc.dissector(tvb, pinfo, tree)
  local kind, stream = { rpc_type() }, tcp_stream()
  if #kind == 0 or stream == nil then return end
  local name = tostring(stream.value)
  local ptype = kind[#kind].value
  if ptype == BIND or ptype == ALTER then learn_contexts(name) end
  if ptype == BIND_ACK or ptype == ALTER_ACK then learn_syntaxes(name) end
  local id, call, operation = { rpc_context() }, { rpc_call() }, nil
  if #id == 0 or #call == 0 then return end
  local interface = operations[contexts[name .. ":" .. id[#id].value] or ""]
  if interface == nil then return end
  local call_key = name .. ":" .. call[#call].value
  if ptype == REQUEST then
    local opnum = { rpc_opnum() }
    if #opnum == 0 then return end
    operation = interface.names[opnum[#opnum].value] or ("opnum " .. opnum[#opnum].value)
    calls[call_key] = operation
  elseif ptype == RESPONSE then
    operation = calls[call_key]
  end
  local branch = tree:add(rpc, "MSMQ over RPC: " .. interface.name)
  branch:add(rpc_interface, interface.name):set_generated()
  if operation == nil then return end
  branch:add(rpc_operation, operation):set_generated()
  local text = interface.name .. " " .. operation .. (ptype == REQUEST and " request" or " response")
  local stub = whole_stub()
  if ptype == RESPONSE and stub and interface.returns[operation] and stub:len() >= 4 then
    local last = stub(stub:len() - 4, 4)
    branch:add_le(rpc_status, last)
    text = text .. string.format(" 0x%08X", last:le_uint())
  end
  local described, order = interface.stubs[operation], { rpc_order() }
  local syntax = SYNTAXES[syntaxes[name .. ":" .. id[#id].value] or NDR]
  if described and stub and syntax and #order > 0 and order[#order].value == LITTLE then
    read_stub(stub, syntax, ptype == REQUEST and described.request or described.response, branch)
  end
  pinfo.cols.protocol = "MSMQ-RPC"
  pinfo.cols.info:append(" [" .. text .. "]")
end

register_postdissector(rpc)
