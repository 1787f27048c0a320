//! What can be wrong with a tree of queues or a conditioner, and with filters and rules. The words of all of it stand
//! here.

base::problems! {
    /// Problems of queue disciplines and conditioners.
    pub enum QueueProblem {
        /// A tbf that does not say how much may wait.
        NoLimit {} is WrongType, "no-limit", "how much may wait is said by one of limit, latency and queue: none is given";
        /// A tbf that says it twice.
        Limits { given: String } is Conflict, "limits", "how much may wait is said by one of limit, latency and queue: {given} are given";
        /// A peak rate that the rate itself never exceeds.
        PeakTooLow { peak: String, rate: String } is OutOfRange, "peak-too-low", "{peak} has to be above rate={rate}";
        /// One half of the second bucket.
        PeakHalf {} is WrongType, "peak-half", "peakrate and mtu go together: the second bucket's rate and size";
        /// The size of a second bucket of a meter without its rate.
        MtuAlone {} is WrongType, "mtu-alone", "it is the size of the peak rate's bucket: peakrate is missing";
        /// A ceiling below the rate.
        CeilTooLow { ceil: String, rate: String } is OutOfRange, "ceil-too-low", "{ceil} has to be at least rate={rate}";
        /// CoDel that always drops.
        TargetTooLong {} is OutOfRange, "target-too-long", "target has to be below interval (RFC 8289, 4.3: 5 to 10 % of it)";
        /// Nothing where something has to be.
        NoneThere {} is WrongType, "none-there", "there is none: at least one is needed";
        /// More classes or queues than a discipline has.
        TooMany { count: usize, what: &'static str, discipline: &'static str, most: usize } is OutOfRange, "too-many", "{count} {what}: {discipline} has at most {most}";
        /// A class called as the queue that htb itself has.
        Direct {} is Conflict, "direct", "without a default, the queue of packets without a class is called so";
        /// A class or a queue that is not there.
        Unknown { noun: &'static str, name: String, hint: String } is UnknownName, "unknown-class", "there is no {noun} '{name}'{hint}";
        /// Classes in themselves.
        Cycle { ring: String } is Conflict, "cycle", "the classes are a cycle: {ring}";
        /// Classes in more others than Linux allows.
        TooDeep { depth: usize, most: usize } is OutOfRange, "too-deep", "it is in {depth} others: at most {most} are allowed";
        /// A queue of a class that has others in it.
        InnerQueue { child: String } is Conflict, "inner-queue", "it has a queue, and '{child}' is in it: packets wait in leaves only";
        /// Packets that are sent to a class that has others in it.
        InnerClass { name: String, leaves: String } is Conflict, "inner-class", "class '{name}' has others in it: packets wait in leaves ({leaves})";
        /// A filter that takes nothing, since others take it all.
        Shadowed { by: String, verb: &'static str } is Conflict, "shadowed", "it can take nothing: {by} before it {verb} all of its packets";
        /// A packet without a label has none of its fields.
        NoLabel { field: &'static str } is Conflict, "no-label", "it can take nothing: a packet without a label has no {field}";
        /// A label that is in no packet (RFC 3032, 2.1).
        ImplicitNull {} is OutOfRange, "implicit-null", "it can take nothing: label 3, implicit null, is in no packet";
        /// Ports of a protocol that has none.
        NoPorts { protocol: String } is Conflict, "no-ports", "it can take nothing: protocol {protocol} has no ports (tcp and udp have)";
        /// Ports mean nothing unless the protocol is known.
        PortsWithoutProtocol {} is Conflict, "ports-without-protocol", "ports need a protocol that has some, such as tcp";
        /// A neighbour where the number of a port is needed.
        Unresolved { name: String } is UnknownName, "unresolved-input", "'{name}': a name of a neighbour means something in a network only";
        /// A name of a conditioner where the conditioner itself is needed.
        NamedConditioner { name: String } is UnknownName, "named-conditioner", "'{name}': a name stands for a conditioner in a file of a network only";
        /// A probability that is none.
        Probability { value: f64 } is OutOfRange, "probability", "{value}: it has to be above 0 and at most 1";
        /// A red without a limit.
        RedLimit {} is WrongType, "red-limit", "limit is missing: bytes that may wait, such as 120 kB";
        /// A gred without a limit.
        GredLimit {} is WrongType, "gred-limit", "limit is missing: bytes that may wait in all virtual queues together, such as 120 kB";
        /// Thresholds out of order.
        MinMax { min: u64, max: u64 } is OutOfRange, "min-max", "thresholds out of order: min={min} has to be below max={max}";
        /// Thresholds out of order.
        MaxLimit { max: u64, limit: u64 } is OutOfRange, "max-limit", "thresholds out of order: max={max} has to be at most limit={limit}";
        /// A threshold that any packet passes.
        MinPacket { min: u64, avpkt: u64 } is OutOfRange, "min-packet", "min={min} is less than one packet: it has to be at least avpkt={avpkt}";
        /// The average would have passed min before the burst is over: there is no weight for it.
        BurstShort { burst: u64, avpkt: u64, min: u64, least: u64, best: u64 } is OutOfRange, "burst-short", "{burst} packets of {avpkt} bytes are less than min={min}: at least {least} packets are needed, best are {best}";
        /// A burst that no average follows slowly enough.
        BurstLong { burst: u64, min: u64 } is OutOfRange, "burst-long", "{burst} packets are too many for min={min}: no average is slow enough";
        /// A virtual queue whose PHBs are not known.
        NoPhb {} is WrongType, "no-phb", "phb is missing: which PHBs it takes (or name the queue after one)";
        /// Two virtual queues with the same PHB.
        PhbTaken { phb: String, other: String } is Conflict, "phb-taken", "{phb} belongs to '{other}' already";
        /// A cbq that can't compute idle times.
        NoBandwidth {} is WrongType, "no-bandwidth", "bandwidth is missing: the port sends in no time";
        /// A marker that marks nothing green or yellow (RFC 2697, 2).
        NoBursts {} is OutOfRange, "no-bursts", "cbs and ebs are both 0: one of them has to be above zero";
        /// A peak information rate below the committed one (RFC 2698, 2).
        PirTooLow { pir: String, cir: String } is OutOfRange, "pir-too-low", "{pir} has to be at least cir={cir}";
        /// A text that is no action.
        NoAction { value: String } is WrongType, "no-action", "{value} is no action: pass, drop, 'remark PHB' such as 'remark AF12' (or 'remark AF12 as TC 3', 'remark AF12 below labels'), or 'mark NUMBER'";
        /// TC bits that three bits do not hold.
        ActionTc { value: String } is OutOfRange, "action-tc", "{value}: the TC bits of a label are 0 to 7";
        /// The word for TC in former versions.
        RenamedExp { value: String, new: String } is UnknownName, "renamed-exp", "{value}: the EXP bits are called TC now: '{new}'";
        /// Two rules of one name.
        RuleTwice { name: String } is Conflict, "rule-twice", "another rule is called '{name}'";
    }
}
