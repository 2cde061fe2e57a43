-- The part of Wireshark's Lua interface that the dissector uses, so that plain Lua 5.2 or 5.4 can run it.
-- usage: lua wireshark_stub.lua msmq.lua < one packet a line, hexadecimal digits; prints each field: filter <tab> value

local printed
local Range = {}
Range.__index = Range
Range.__call = function(self, at, size)
  at = at or 0
  size = size or (self.size - at)
  assert(at >= 0 and size >= 0 and at + size <= self.size, "out of bounds")
  return setmetatable({ data = self.data, from = self.from + at, size = size }, Range)
end
function Range:len() return self.size end
function Range:tvb() return self end
function Range:byte(at) return string.byte(self.data, self.from + at + 1) end
function Range:le_uint()
  local whole = 0
  for at = self.size - 1, 0, -1 do whole = whole * 256 + self:byte(at) end
  return whole
end
function Range:uint()
  local whole = 0
  for at = 0, self.size - 1 do whole = whole * 256 + self:byte(at) end
  return whole
end
function Range:le_ustring() return "text:" .. self:bytes():tohex() end
function Range:bytes()
  local range = self
  return {
    tohex = function()
      local text = ""
      for at = 0, range.size - 1 do text = text .. string.format("%02x", range:byte(at)) end
      return text
    end,
  }
end

local function field_maker(kind)
  return function(filter, _, _, _, mask) return { kind = kind, filter = filter, mask = mask } end
end
ProtoField = setmetatable({}, { __index = function(_, kind) return field_maker(kind) end })
ProtoExpert = { new = function(name) return { filter = name } end }
base = { DEC = 1, HEX = 2, HEX_DEC = 3, NONE = 4 }
frametype = { REQUEST = 1, RESPONSE = 2, ACK = 3 }
expert = { group = { MALFORMED = 1, PROTOCOL = 2 }, severity = { ERROR = 1, WARN = 2 } }

local Item = {}
Item.__index = Item
local function show(field, range, value)
  if value == nil and field.kind and string.find(field.kind, "^uint") then
    value = range:le_uint()
    if field.mask then
      local mask, shift = field.mask, 1
      while mask % 2 == 0 do mask, shift = math.floor(mask / 2), shift * 2 end
      value = math.floor(value / shift) % (mask + 1)
    end
  elseif value == nil and range then
    value = range:bytes():tohex()
  end
  printed[#printed + 1] = field.filter .. "\t" .. tostring(value)
end
function Item:add(field, range, value)
  if type(field) == "table" and field.kind and field.kind ~= "framenum" then
    show(field, type(range) == "table" and range or nil, type(range) ~= "table" and range or value)
  end
  return setmetatable({}, Item)
end
Item.add_le = Item.add
function Item:add_proto_expert_info(field, text) printed[#printed + 1] = field.filter .. "\t" .. tostring(text) end
function Item:set_len() end
function Item:set_text() end
function Item:append_text() end
function Item:set_generated() return self end

local protos = {}
function Proto(name) -- luacheck: ignore
  protos[name] = { register_heuristic = function() end }
  return protos[name]
end
DissectorTable = { get = function() return { add = function() end } end }
Field = { new = function() return function() return nil end end }
function register_postdissector() end -- luacheck: ignore
local dissect
function dissect_tcp_pdus(_, _, _, _, dissector) dissect = dissector end -- luacheck: ignore

assert(loadfile(arg[1]))()
local column = { clear_fence = function() end, append = function() end }
local pinfo = { port_type = 2, number = 1, src = "a", dst = "b", src_port = 1, dst_port = 2, visited = false, cols = { info = column } }
local empty = setmetatable({ data = "", from = 0, size = 0 }, Range)
protos.msmq.dissector(empty, pinfo, setmetatable({}, Item))
for line in io.lines() do
  local data = string.gsub(line, "%x%x", function(pair) return string.char(tonumber(pair, 16)) end)
  printed = {}
  pinfo.cols.info = column
  dissect(setmetatable({ data = data, from = 0, size = #data }, Range), pinfo, setmetatable({}, Item))
  for _, one in ipairs(printed) do print(one) end
  print("end")
end
