//! What can be wrong with flows and demands. The words of all of it stand here.

base::problems! {
    /// Problems of flows.
    pub enum FlowProblem {
        /// A flow that begins or ends where no instrument of ours is.
        NobodyMeasures { node: String } is Conflict, "nobody-measures", "'{node}' is external: nothing is measured there";
        /// An LSP by a name that no LSP has.
        UnknownLsp { name: String, hint: String } is UnknownName, "unknown-lsp", "'{name}', no LSP has that name{hint}";
        /// A station whose link says no addresses.
        StationAddresses { station: String } is Conflict, "station-addresses", "'{station}' is a station: addresses are needed, of both ends in their order, such as addresses: [10.1.0.2/24, 10.1.0.1/24]";
        /// A flow of the other IP than its group.
        GroupOfOtherFamily { group: String } is Conflict, "group-of-other-family", "{group} is a group of the other family: leave it out";
        /// A pace at which nothing would ever be done.
        NoPace { rate: f64 } is OutOfRange, "no-pace", "{rate}: it is not above zero";
        /// An end of a flow without the link that it names.
        NoLinkTo { node: String, other: String } is UnknownName, "no-link-to", "there is no link between '{node}' and '{other}'";
        /// Two nodes with several links between them.
        WhichLink { node: String, other: String, count: usize } is Conflict, "which-link", "there are {count} links between '{node}' and '{other}': name one by an interface, as in '{node}:e0'";
        /// A capture that is still to be read.
        CaptureNotRead {} is Failed, "capture-not-read", "captures are read before a network is built";
        /// A flow that ends before it begins.
        StopsBeforeStart { stop: String, start: String } is Conflict, "stops-before-start", "{stop} is not after its start ({start})";
        /// A host profile that nobody has looked up.
        UnknownHostProfile { profile: String } is UnknownName, "unknown-host-profile", "'{profile}': the core knows no host profile by name: what it says is needed";
        /// Something said of programs that do something else.
        OtherApplication { key: &'static str, other: &'static str } is Conflict, "other-application", "'{key}' goes with application={other}";
        /// A frame that Ethernet does not have.
        NoFrame { bytes: u64 } is OutOfRange, "no-frame", "{bytes}: an Ethernet frame has 64 to 65553 bytes";
        /// A least above the greatest.
        Crossed { min: u64, max: u64 } is Conflict, "crossed", "min={min} is above max={max}";
        /// A mean outside its bounds.
        MeanOutside { mean: u64, min: u64, max: u64 } is Conflict, "mean-outside", "mean={mean} is not between min={min} and max={max}: most frames would be as long as a bound";
        /// Lists that belong together and differ in length.
        Unequal { first: usize, what: String, second: usize, other: String } is Conflict, "unequal", "{first} {what} and {second} {other}: as many of both";
        /// A list of nothing.
        None {} is OutOfRange, "none", "there are none";
        /// Weights that choose nothing.
        NoWeight {} is OutOfRange, "no-weight", "none is negative, and one at least is above zero";
        /// A Pareto distribution without a mean.
        NoMean { shape: f64 } is OutOfRange, "no-mean", "{shape}: above 1, or there is no mean";
        /// A trace that takes no time and begins again.
        Endless {} is Conflict, "endless", "with gaps of zero only it would never end";
        /// A bound of a capture, and no capture.
        LimitWithoutCapture {} is Conflict, "limit-without-capture", "it is for a capture: pcap is missing";
        /// A capture, and what it would give.
        CaptureAndGaps {} is Conflict, "capture-and-gaps", "pcap gives gaps and sizes: either it or them";
    }
}

base::problems! {
    /// Problems of events: what is done to a network while it runs.
    pub enum EventProblem {
        /// A share beyond the whole.
        Share { value: String } is OutOfRange, "share", "{value}: a share is 0 to 1, or 0 % to 100 %";
        /// A link that is not there.
        NoLink { node: String, other: String, hint: String } is UnknownName, "no-link", "there is no link between '{node}' and '{other}'{hint}";
        /// Several links between two nodes.
        WhichLink { node: String, other: String, count: usize, example: String } is Conflict, "which-link-fails", "there are {count} links between '{node}' and '{other}': name one by an interface, as in '{example}'";
        /// A sender that is at neither end.
        NotAtLink { node: String, a: String, b: String } is Conflict, "sender-elsewhere", "'{node}' is not an end of the link between '{a}' and '{b}'";
        /// An event without an action.
        NoAction { known: String } is WrongType, "event-without-action", "it says not what happens (one of {known})";
        /// An event with several.
        TwoActions { first: String, second: String } is Conflict, "two-actions", "one action in each event: '{first}' and '{second}' are two";
        /// An event without a time.
        NoTime {} is WrongType, "event-without-time", "it says not when: 'at', 'every' or 'random' is needed";
        /// An event with two times.
        TwoTimes { first: &'static str, second: &'static str } is Conflict, "two-times", "'{first}' and '{second}' are two ways to say when: one of them";
        /// Bounds of what happens once.
        OfOnce { key: &'static str } is Conflict, "of-once", "'{key}' goes with 'every' and 'random': what happens 'at' a time happens once";
        /// A schedule that ends before it begins.
        EndsFirst { until: String, from: String } is Conflict, "ends-first", "{until} is before its beginning ({from})";
        /// Healing that ends.
        HealFor {} is Conflict, "heal-for", "healing does not end by itself";
        /// A link that goes down for no time.
        FlapOfLink {} is WrongType, "flap-of-link", "'for' is missing: how long the link is down, as in for: 100 ms";
        /// LSPs by a name that no LSP has.
        NoLsp { name: String, hint: String } is UnknownName, "no-such-lsp", "'{name}', no LSP has that name{hint}";
        /// A flow by a name that no flow has.
        NoFlow { name: String, hint: String } is UnknownName, "no-such-flow", "'{name}', no flow has that name{hint}";
        /// Something that has not failed.
        NothingToHeal { what: String } is Conflict, "nothing-to-heal", "nothing happens to {what} before that could be healed";
        /// A flow that begins later by itself.
        StartsLater { flow: String, start: String } is Conflict, "starts-later", "'{flow}' has a start of its own at {start}, before which this does nothing: leave out one of them";
        /// A list that is not in order.
        GoesBack { at: String, before: String } is Conflict, "goes-back", "{at} is before {before}, the time of the event above: events stand in the order of time";
        /// A time that has passed.
        Passed { at: String, now: String } is OutOfRange, "passed", "{at} has passed: it is {now}";
        /// An event behind the end of the run.
        AfterTheRun { time: String, end: String } is OutOfRange, "after-the-run", "{time} is after the end of the run at {end} (--duration)";
        /// An event that ends behind the end of the run.
        EndsAfterTheRun { time: String, end: String } is OutOfRange, "ends-after-the-run", "it ends at {time}, after the end of the run at {end} (--duration)";
        /// Somebody else's device.
        NotOurs { node: String, called: String } is Conflict, "not-ours", "'{node}' is {called}: it can't be made to fail or restart";
    }
}

base::problems! {
    /// Problems of demands.
    pub enum DemandProblem {
        /// A matrix that is still to be read.
        NotRead {} is Failed, "demands-not-read", "files of demands are read before a network is built";
        /// Neither a matrix nor a model of one.
        Nothing {} is WrongType, "no-demands", "there are none: 'file', 'matrix' or 'gravity' says how much goes from where to where";
        /// A factor of nothing.
        Scale { scale: f64 } is OutOfRange, "demand-scale", "{scale}: it is not above zero";
        /// A part that is none.
        Share { share: f64 } is OutOfRange, "demand-share", "{share}: a share is 0 to 1";
        /// Parts of more than the whole.
        Shares { sum: f64 } is Conflict, "demand-shares", "the shares add up to {sum}: they are 1 together, or less where a class has none";
        /// A trace for many demands.
        Trace {} is Conflict, "demand-trace", "a trace is of one flow: constant, poisson or on-off";
        /// A weight that is none.
        Weight { weight: f64 } is OutOfRange, "demand-weight", "{weight}: a weight is zero or more";
        /// Weights that leave no pair of nodes.
        NoPair {} is Conflict, "no-demand-pair", "two nodes at least have a weight above zero";
        /// A demand from a node to itself.
        ToItself { node: String } is Conflict, "demand-to-itself", "it begins and ends at '{node}'";
        /// A class by a name that none has.
        UnknownClass { class: String, hint: String } is UnknownName, "unknown-demand-class", "'{class}', no class has that name{hint}";
        /// Two rates for one pair of nodes and class.
        GivenTwice { from: String, to: String, first: usize } is Conflict, "demand-twice", "demand {from}->{to} is given twice, first as number {first}";
        /// More than any link takes.
        AboveLinks { from: String, to: String, rate: String, fastest: String } is OutOfRange, "demand-above-links", "demand {from}->{to} of {rate}: the fastest link has {fastest}";
    }
}
