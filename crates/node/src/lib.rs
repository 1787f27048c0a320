//! Devices: control and forwarding planes composed into routers, hosts and switches.
