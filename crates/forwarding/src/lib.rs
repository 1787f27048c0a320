//! Tables and queues of the forwarding plane.
