// The map of tasks: two numbers of each task, and a colour and shape for each kind. Tasks that the filter leaves out fade.
report.section("map", (element) => {
  const { el, svg } = report, MOST = 3000, WIDE = report.width(1150), HIGH = 380, LEFT = 58, EDGE = 16, LOW = HIGH - 44;
  const [across, acrossWords, up, upWords] = report.edition === "private"
    ? ["difficulty", "difficulty", "reading_gain", "reading gain, 0 without stated facts"]
    : ["tokens", "tokens of the prompt", "rows_train", "training rows"];
  const COLOURS = ["#3b78c2", "#e0791b", "#2f9e5b", "#d1495b", "#8a5fc7", "#9a6b3f", "#c8559d", "#7d8590"];
  const SHAPES = ["M-5 0A5 5 0 1 0 5 0A5 5 0 1 0-5 0Z", "M-5-5H5V5H-5Z", "M0-6L6 5H-6Z", "M0-7L6 0L0 7L-6 0Z"];
  const kinds = [...new Set(report.tasks.map((task) => task.kind))].sort();
  const step = Math.max(1, Math.ceil(report.tasks.length / MOST)), drawn = report.tasks.filter((_, number) => number % step === 0);
  const mark = (kind, attributes) => {
    const number = kinds.indexOf(kind);
    return svg("path", { d: SHAPES[Math.floor(number / COLOURS.length) % SHAPES.length], fill: COLOURS[number % COLOURS.length], ...attributes });
  };
  const scale = (name, from, to) => {
    const values = drawn.map((task) => task[name] || 0), low = values.reduce((a, b) => Math.min(a, b)), high = values.reduce((a, b) => Math.max(a, b));
    return { low, high, at: (value) => (high > low ? from + (value - low) / (high - low) * (to - from) : (from + to) / 2) };
  };
  if (!drawn.length) return;
  const tick = (value) => report.number(Number(value.toPrecision(3)));
  const x = scale(across, LEFT + EDGE, WIDE - EDGE), y = scale(up, LOW - EDGE, EDGE), points = new Map();
  const drawing = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, width: WIDE, role: "img",
    "aria-label": `${acrossWords} and ${upWords} of tasks; the list holds the same tasks` },
  svg("line", { class: "axis", x1: LEFT, x2: WIDE, y1: LOW, y2: LOW }), svg("line", { class: "axis", x1: LEFT, x2: LEFT, y1: 0, y2: LOW }),
  svg("text", { class: "faint", x: LEFT + EDGE, y: LOW + 18 }, tick(x.low)),
  svg("text", { class: "faint", x: WIDE - EDGE, y: LOW + 18, "text-anchor": "end" }, tick(x.high)),
  svg("text", { class: "faint", x: (LEFT + WIDE) / 2, y: LOW + 36, "text-anchor": "middle" }, acrossWords),
  svg("text", { class: "faint", x: LEFT - 6, y: LOW - EDGE + 4, "text-anchor": "end" }, tick(y.low)),
  svg("text", { class: "faint", x: LEFT - 6, y: EDGE + 4, "text-anchor": "end" }, tick(y.high)),
  svg("text", { class: "faint", transform: `translate(14 ${LOW / 2}) rotate(-90)`, "text-anchor": "middle" }, upWords));
  for (const task of drawn) {
    const point = mark(task.kind, { class: "point", transform: `translate(${x.at(task[across] || 0).toFixed(1)} ${y.at(task[up] || 0).toFixed(1)})`,
      onclick: () => { location.hash = report.link(task.id); } });
    point.append(svg("title", {}, `${task.title || task.id} (${task.kind}, ${task.metric})`));
    points.set(task.id, point);
    drawing.append(point);
  }
  const buttons = kinds.map((kind) => el("button", { class: "plain", type: "button", onclick: () => report.choose("kind", kind) },
    svg("svg", { width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" }, mark(kind)), kind.replaceAll("_", " ")));
  element.append(el("div", { class: "panel" }, drawing), el("div", { class: "legend" }, buttons), el("p", { class: "faint" },
    "A point is a task and opens its page; a kind of the legend filters the list and the map."
    + (step > 1 ? ` Drawn are ${report.number(drawn.length)} of ${report.number(report.tasks.length)} tasks.` : "")));
  const paint = (found) => {
    const ids = new Set(found.map((task) => task.id));
    for (const [id, point] of points) point.classList.toggle("left-out", !ids.has(id));
    buttons.forEach((button, place) => button.setAttribute("aria-pressed", String(report.isChosen("kind", kinds[place]))));
  };
  report.on("filter", paint);
  paint(report.selected());
});
