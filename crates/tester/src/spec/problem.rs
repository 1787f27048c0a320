//! What can be wrong with flows. The words of all of it stand here.

base::problems! {
    /// Problems of flows.
    pub enum FlowProblem {
        /// A flow that begins or ends where no instrument of ours is.
        NobodyMeasures { node: String } is Conflict, "nobody-measures", "'{node}' is external: nothing is measured there";
        /// An LSP by a name that no LSP has.
        UnknownLsp { name: String, hint: String } is UnknownName, "unknown-lsp", "'{name}', no LSP has that name{hint}";
        /// A station whose link says no addresses.
        StationAddresses { station: String } is Conflict, "station-addresses", "'{station}' is a station: addresses are needed, of both ends in their order, such as addresses: [10.1.0.2/24, 10.1.0.1/24]";
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
