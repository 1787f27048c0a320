"""Formats of the naive peer: frames, packets, RSVP messages and their objects.

Nothing here shares code with the router under test, on purpose.
"""

from .errors import CodecError
from .icmp import Icmp, IcmpExtensions
from .intserv import Adspec, Flowspec, SenderTspec, Traffic
from .ip import ROUTER_ALERT, Ipv4, Udp, internet_checksum
from .link import Arp, Ethernet, LabelEntry, decode_stack, encode_stack
from .objects import (
    ErrorSpec,
    FilterSpec,
    Obj,
    ResvConfirm,
    RsvpHop,
    Scope,
    SenderTemplate,
    Session,
    Style,
    TimeValues,
    Unknown,
)
from .reliable import (
    Challenge,
    Integrity,
    MessageId,
    MessageIdAck,
    MessageIdList,
    MessageIdNack,
)
from .rsvp import FlowDescriptor, Message, Type, flow_descriptors, sign, verify_digest
from .te import (
    AsHop,
    ExplicitRoute,
    HelloAck,
    HelloRequest,
    Ipv4Hop,
    Ipv6Hop,
    Label,
    LabelHop,
    LabelRequest,
    OtherHop,
    RecordRoute,
    SessionAttribute,
    SessionAttributeRa,
    UnnumberedHop,
)

__all__ = [
    "ROUTER_ALERT",
    "Adspec",
    "Arp",
    "AsHop",
    "Challenge",
    "CodecError",
    "ErrorSpec",
    "Ethernet",
    "ExplicitRoute",
    "FilterSpec",
    "FlowDescriptor",
    "Flowspec",
    "HelloAck",
    "HelloRequest",
    "Icmp",
    "IcmpExtensions",
    "Integrity",
    "Ipv4",
    "Ipv4Hop",
    "Ipv6Hop",
    "Label",
    "LabelEntry",
    "LabelHop",
    "LabelRequest",
    "Message",
    "MessageId",
    "MessageIdAck",
    "MessageIdList",
    "MessageIdNack",
    "Obj",
    "OtherHop",
    "RecordRoute",
    "ResvConfirm",
    "RsvpHop",
    "Scope",
    "SenderTemplate",
    "SenderTspec",
    "Session",
    "SessionAttribute",
    "SessionAttributeRa",
    "Style",
    "TimeValues",
    "Traffic",
    "Type",
    "Udp",
    "Unknown",
    "UnnumberedHop",
    "decode_stack",
    "encode_stack",
    "flow_descriptors",
    "internet_checksum",
    "sign",
    "verify_digest",
]
