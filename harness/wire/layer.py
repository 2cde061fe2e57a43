"""Define the base classes of the scapy layers, which are strict where scapy is lenient.

Scapy silently turns bytes that it cannot dissect into a ``Raw`` layer. These layers raise WireError instead,
independent of scapy's configuration: a header that a flag announces must be present, and no bytes may remain.
``bytes()`` never returns the received bytes from scapy's cache, but always rebuilds the bytes from the fields.

A layer has only weak references to the layers below it. In scapy, a layer and its payload refer to each other, and
so do a structure and its layer. Packets of 4 MB would therefore stay in memory until the garbage collector runs,
because it is triggered by the number of objects, not by their size.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from scapy.base_classes import Packet_metaclass
from scapy.config import conf
from scapy.packet import NoPayload, Packet

from harness.wire.runs import list_parts_of_layer
from harness.wire.wire_error import WireError
from harness.wire.words import list_words

# Scapy sends no packets here, so it need not read the routes of this machine when it is imported.
conf.route_autoload = conf.route6_autoload = False


_set_attribute_directly = object.__setattr__  # scapy's method would first search for a field of this name
_UNSET_PACKET_ATTRIBUTES: Mapping[str, Any] = {
    "time": 0.0,
    "sent_time": None,
    "explicit": 0,
    "raw_packet_cache": None,
    "raw_packet_cache_fields": None,
    "overloaded_fields": MappingProxyType({}),
    "post_transforms": (),
    "wirelen": None,
    "direction": None,
    "sniffed_on": None,
    "comments": None,
    "process_information": None,
    "stop_dissection_after": None,
}
"""The attributes of scapy's packets that most layers never set, with their default values."""
_NO_PAYLOAD = NoPayload()


class LayerType(Packet_metaclass):
    """The metaclass of layers. When a layer class is called, a layer is created without scapy's search for a more
    specific class.
    """

    def __call__(self, *args: Any, **fields: Any) -> Any:
        return type.__call__(self, *args, **fields)


class LayerBelow:
    """A weak reference from a layer to the layer that contains it. The reference becomes None when that layer no
    longer exists.
    """

    def __set_name__(self, owner: type[Layer], name: str) -> None:
        self.name = f"_{name}"

    def __get__(self, layer: Layer | None, owner: type[Layer]) -> Any:
        if layer is None:
            return self
        below = getattr(layer, self.name)
        return None if below is None else below()

    def __set__(self, layer: Layer, below: Packet | None) -> None:
        object.__setattr__(layer, self.name, None if below is None else weakref.ref(below))


class Layer(Packet, metaclass=LayerType):
    """A header of a packet. ``start`` is the offset from which its padding is aligned; it is 0 except in lists."""

    __slots__ = ("_parent", "_underlayer", "start")

    may_be_empty = False
    underlayer = LayerBelow()
    parent = LayerBelow()

    def __init__(
        self,
        _pkt: bytes = b"",
        *,
        start: int = 0,
        _internal: int = 0,
        _underlayer: Packet | None = None,
        _parent: Packet | None = None,
        **fields: Any,
    ) -> None:
        """Set the attributes that scapy's constructor sets, but without searching through each field of the layer."""
        kind = type(self)
        if kind not in Packet.class_default_fields:
            self.prepare_cached_fields(self.fields_desc)
        own: dict[str, Any] = {}
        _set_attribute_directly(self, "fields", own)
        _set_attribute_directly(self, "default_fields", Packet.class_default_fields[kind])
        _set_attribute_directly(self, "fieldtype", Packet.class_fieldtype[kind])
        _set_attribute_directly(self, "packetfields", Packet.class_packetfields[kind])
        _set_attribute_directly(self, "overload_fields", self._overload_fields)
        _set_attribute_directly(self, "name", kind.__name__)
        _set_attribute_directly(self, "payload", _NO_PAYLOAD)
        _set_attribute_directly(self, "original", _pkt)
        _set_attribute_directly(self, "start", start)
        _set_attribute_directly(self, "_underlayer", None if _underlayer is None else weakref.ref(_underlayer))
        _set_attribute_directly(self, "_parent", None if _parent is None else weakref.ref(_parent))
        if _pkt:
            self.dissect(_pkt)
        else:
            for name in Packet.class_default_fields_ref[kind]:
                own[name] = self.default_fields[name].copy()
        words = []
        for name, value in fields.items():
            if name in self.fieldtype:
                own[name] = self.fieldtype[name].any2i(self, value)
            elif name in list_words(kind):
                words.append(name)
            else:
                raise AttributeError(name)
        for name in words:
            setattr(self, name, fields[name])

    def __iter__(self) -> Iterator[Packet]:
        """Yield the layer itself. No field of a layer has several values, so building a packet needs no copies."""
        yield self

    def getfieldval(self, attr: str) -> Any:
        if attr in self.fields:
            return self.fields[attr]
        return self.default_fields[attr] if attr in self.default_fields else self.payload.getfieldval(attr)

    def __getattr__(self, attr: str) -> Any:
        """Return the stored value of a field of this layer or of a later layer. For an attribute of scapy's packets
        that is not set, return its default value.
        """
        if attr in self.fields:
            return self.fields[attr]
        if attr in self.default_fields:
            return self.default_fields[attr]
        return _UNSET_PACKET_ATTRIBUTES[attr] if attr in _UNSET_PACKET_ATTRIBUTES else self.payload.__getattr__(attr)

    def copy_with_payload(self, payload: Packet | None = None, **fields: Any) -> Packet:
        clone = super().copy_with_payload(payload, **fields)
        clone.start = self.start
        return clone

    def next_layer(self) -> type[Layer] | None:
        """Return the class of the header that must follow this header, or None at the end of the packet."""
        return self.after(type(self))

    def after(self, layer: type[Layer]) -> type[Layer] | None:
        """Return the class of the header that must follow ``layer``, which is this header or a later header."""
        return self.underlayer.after(layer) if isinstance(self.underlayer, Layer) else None

    def carries(self, header: type[Layer]) -> bool:
        """Return whether this header, or a later header of its packet, is of the class ``header``. Structures in
        fields do not count.
        """
        layer: Packet = self
        while not isinstance(layer, header):
            if layer is _NO_PAYLOAD:
                return False
            layer = layer.payload
        return True

    def is_rest_of_packet_empty(self, rest: bytes) -> bool:
        """Return whether ``rest`` is empty or contains only the SessionHeader, which PacketSize of a message
        excludes.
        """
        below = self.parent or self.underlayer
        return below.is_rest_of_packet_empty(rest) if isinstance(below, Layer) else not rest

    def dissect(self, s: bytes) -> None:
        self.do_dissect_payload(self.post_dissect(self.do_dissect(s)))

    def do_dissect(self, s: bytes) -> bytes:
        for part in list_parts_of_layer(type(self)):
            s = part.read(self, s)
        return s

    def do_build(self) -> bytes:
        return bytes(self.post_build(self.self_build(), self.payload.do_build()))

    def self_build(self) -> bytes:
        built = b""
        for part in list_parts_of_layer(type(self)):
            built = part.build(self, built)
        return built

    def do_dissect_payload(self, s: bytes) -> None:
        following = self.next_layer()
        if following is None:
            if s:
                raise WireError(f"{len(s)} bytes are left over after {type(self).__name__}")
        elif s:
            self.add_payload(following(s, _internal=1, _underlayer=self))
        elif not following.may_be_empty:
            raise WireError(f"{following.__name__} is announced, but the packet ends after {type(self).__name__}")


class Structure(Layer):
    """A structure in a header.

    If the structure is a field of a header, the bytes after the structure are stored in ``rest``. If the structure
    is dissected alone, no bytes may follow it.
    """

    __slots__ = ("rest",)

    def dissect(self, s: bytes) -> None:
        self.rest = self.post_dissect(self.do_dissect(s))
        if self.rest and self.parent is None:
            raise WireError(f"{len(self.rest)} bytes are left over after {type(self).__name__}")
