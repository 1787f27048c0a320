"""A failover in fifteen lines, as a notebook in the percent format."""

# %% [markdown]
# # A failover in fifteen lines
#
# Four routers in a square, one LSP with a fallback, and a link that is cut. This file is a notebook in the
# percent format: an editor that knows it (VS Code, Spyder, Jupyter with jupytext) runs it cell by cell,
# and plain Python runs it from top to bottom.

# %%
import twinplane as tp

net = tp.Network(seed=7)
a, b, c, d = (net.router(name) for name in "abcd")
for x, y in [(a, b), (b, c), (c, d), (a, d)]:
    net.link(x, y, rate="1 Gbit/s", delay="50 us", reservable="900 Mbit/s")

# %% [markdown]
# An LSP from `a` to `c` over `b`, with 200 Mbit/s reserved on every link. When that route fails,
# `fallback` is tried. The flow sends frames of 512 bytes over it, with exponential gaps, marked for
# expedited forwarding.

# %%
lsp = a.lsp("gold", to=c, route=[b, c], bandwidth="200 Mbit/s", fallback=[d, c])
flow = net.flow(a, c, over=lsp, rate="150 Mbit/s", size=512, arrivals="poisson", dscp="EF")

# %% [markdown]
# Nothing has happened yet: the network is lowered to a description and built when it first runs. After a
# second of virtual time the link from `b` to `c` is cut; two seconds later we look.

# %%
tap = net.capture(a, b)
net.run(until="1 s")
net.fail(b, c)
net.run(until="3 s")

# %% [markdown]
# Every table is a [Polars](https://pola.rs) data frame. The history says when the LSP went up and down,
# and why: `b` tells `a` by a ResvTear, and `a` signals the fallback. What was on its way over the cut
# link, and what `a` sent until it knew, is lost; a packet takes 100 us of propagation and its
# serialisation over either route.

# %%
print(lsp.history)
print(flow.stats())

# %% [markdown]
# After the cut there is nothing left at `b`, and `d` swaps the label.

# %%
print(b.ilm())
print(d.ilm())
assert b.ilm().height == 0
assert d.ilm().height == 1

# %% [markdown]
# The capture opens in Wireshark; the page shows both planes over time.

# %%
tap.save("ab.pcapng")
tp.report(net, "failover.html")

# %% [markdown]
# The same seed gives the same run, to the byte and the picosecond: the digest covers every frame on every
# link.

# %%
print(net.digest())
