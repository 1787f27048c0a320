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
        /// No packet has a source and a destination of different families.
        TwoFamilies {} is Conflict, "two-families", "it can take nothing: src and dst are of different families";
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

base::problems! {
    /// What is surprising about queue disciplines and conditioners that can be built: warnings.
    pub enum QueueAdvice {
        /// Short packets that count for nothing.
        Vanishing { overhead: i64, bytes: u32 } is OutOfRange, "vanishing", "with overhead={overhead} packets of up to {bytes} B of IP count for 1 byte: give a 'minimum'";
        /// A limit or a bucket that the longest packet does not fit in.
        OnePacket { field: String, bytes: u64, longest: String } is OutOfRange, "one-packet", "{field}={bytes} is less than the longest packet ({longest}): longer ones than that are dropped";
        /// The same of a class that sends it all the same.
        OneBurst { field: &'static str, bytes: u64, longest: String } is OutOfRange, "one-burst", "{field}={bytes} is less than the longest packet ({longest}): it is sent all the same, and waits for longer afterwards";
        /// The same of a meter.
        OneMetered { field: &'static str, bytes: u64, longest: String } is OutOfRange, "one-metered", "{field}={bytes} is less than the longest packet ({longest}): longer ones than that never find room";
        /// The same of a turn.
        SmallQuantum { quantum: u64, longest: String } is OutOfRange, "small-quantum", "quantum={quantum} is less than the longest packet ({longest}): one takes several turns";
        /// A turn that costs more than it is worth.
        TinyQuantum { quantum: u64 } is OutOfRange, "tiny-quantum", "quantum={quantum}: below 256 a turn costs more than it is worth (RFC 8290, 5.2.4)";
        /// Thresholds close together.
        CloseThresholds { min: u64, max: u64 } is OutOfRange, "close-thresholds", "max={max} is less than twice min={min}: the average may jump from below one to above the other (Floyd and Jacobson 1993, section 4)";
        /// Thresholds far apart.
        FarThresholds { min: u64, max: u64, times: String } is OutOfRange, "far-thresholds", "max={max} is {times} times min={min}: two to three times are usual";
        /// A burst that is not let through.
        BurstBeyond { burst: u32, avpkt: u32, limit: u64 } is OutOfRange, "burst-beyond", "a burst of {burst} packets of {avpkt} B does not fit in limit={limit}";
        /// A field that means nothing without another.
        HarddropAlone {} is Conflict, "harddrop-alone", "harddrop has no meaning without ecn";
        /// Virtual queues that can't be told apart by their averages.
        SharedAverage {} is Conflict, "shared-average", "RIO with two queues of the same priority: all share one average, as in Linux";
        /// A mark that nobody puts on packets.
        Unmarked { mark: u32, place: &'static str } is Conflict, "unmarked", "it can match nothing: no conditioner puts mark {mark} on packets{place}";
        /// A filter or a rule that earlier ones hide.
        Hidden { by: String, verb: &'static str } is Conflict, "hidden", "it can match nothing: {by} {verb} all that it would";
        /// Classes to which no filter leads.
        Unreached { names: String } is Conflict, "unreached", "no packet gets to {names}: no filter leads there";
        /// Packets without a class.
        LeftOver { kinds: String, fate: String, noun: &'static str } is Conflict, "left-over", "no filter takes {kinds}, and there is no default: {fate}: say in 'default' which {noun} takes them";
        /// A rate that is never reached.
        NeverReached { field: &'static str, rate: String, most: String, whose: String } is Conflict, "never-reached", "{field}={rate} is more than the {most} of {whose}: it holds nothing back";
        /// Another bandwidth than the port's.
        OtherBandwidth { own: String, port: String } is Conflict, "other-bandwidth", "bandwidth={own} is not the {port} of the port: idle times, and so rates, come out wrong";
        /// A ceiling above that of the class around.
        CeilAbove { own: String, above: String } is Conflict, "ceil-above", "its ceiling of {own} is above that of its parent, {above}, which it can't exceed";
        /// A ceiling of a class that never borrows.
        CeilAlone { own: String, rate: String } is Conflict, "ceil-alone", "ceil={own} means nothing: without a parent it never borrows, and has {rate}";
        /// Rates that add up to more than there is.
        TooMuch { rates: String, sum: String, more: String, rate: String, whose: String } is Conflict, "too-much", "the {rates} {sum}, {more} more than the {rate} of {whose}";
        /// Colours without a meter.
        NoMeter {} is Conflict, "no-meter", "without a meter all packets are green: 'yellow' and 'red' mean nothing";
        /// A colour that a token bucket does not give.
        NoYellow {} is Conflict, "no-yellow", "a token bucket knows no yellow: 'yellow' means nothing";
    }
}
