// Draws the path that the reader has chosen, and the one before it, on the map of a picker. A span is: when it was,
// nodes, labels by link, the way in words, and the numbers of the links and nodes that were down.
for (const picker of document.querySelectorAll(".picker")) {
  const data = JSON.parse(picker.querySelector("script").textContent);
  const [what, when] = [picker.querySelector(".what"), picker.querySelector(".when")];
  const layer = picker.querySelector("g.chosen");
  const said = picker.querySelector("figcaption");
  const made = (name, values, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(values)) { element.setAttribute(key, value); }
    if (text) { element.textContent = text; }
    layer.append(element);
    return element;
  };
  const option = (select, text) => select.append(new Option(text, select.length));
  const line = (nodes, values) => {
    const points = nodes.map((node) => data.at[node]).filter((at) => at).map((at) => at.join(","));
    if (points.length > 1) { made("polyline", { points: points.join(" "), fill: "none", "stroke-linejoin": "round", ...values }); }
  };
  const words = (span) => `${span[0]}: ${span[3]}`;
  const draw = () => {
    const path = data.paths[what.selectedIndex];
    const now = path.spans[when.selectedIndex];
    const before = path.spans.slice(0, when.selectedIndex).reverse().find((span) => span[1].length > 1);
    layer.replaceChildren();
    if (before) { line(before[1], { stroke: "var(--shade-2)", "stroke-width": 4, "stroke-dasharray": "9 6", opacity: .8 }); }
    line(now[1], { stroke: "var(--shade-1)", "stroke-width": 6, opacity: .85 });
    for (const place of now[4]) {
      const ends = data.away[place].map((node) => data.at[node]);
      const [x, y] = [0, 1].map((axis) => ends.reduce((sum, at) => sum + at[axis], 0) / ends.length);
      made("path", { d: `M${x - 10} ${y - 10}l20 20m0-20l-20 20`, stroke: "var(--alarm)", "stroke-width": 3.5 });
    }
    now[2].forEach((label, hop) => {
      const [a, b] = [data.at[now[1][hop]], data.at[now[1][hop + 1]]];
      if (label && a && b) {
        made("text", { x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2 - 8, "text-anchor": "middle", "font-size": 14, fill: "var(--shade-1)", stroke: "var(--page)", "stroke-width": 4, "paint-order": "stroke" }, label);
      }
    });
    const first = data.at[now[1][0]];
    if (first) { made("circle", { cx: first[0], cy: first[1], r: 13, fill: "none", stroke: "var(--shade-1)", "stroke-width": 3 }); }
    said.textContent = `Solid: ${path.name} ${words(now)}.` + (before ? `\nDashed, before: ${words(before)}.` : "") +
      (now[4].length ? `\nDown then: ${now[4].map((place) => data.names[place]).join(", ")}.` : "");
  };
  const choose = () => {
    const path = data.paths[what.selectedIndex];
    when.replaceChildren();
    for (const span of path.spans) { option(when, words(span)); }
    when.selectedIndex = path.first;
    draw();
  };
  for (const path of data.paths) { option(what, path.name); }
  what.addEventListener("change", choose);
  when.addEventListener("change", draw);
  picker.querySelector(".choices").style.display = "flex";
  choose();
}
