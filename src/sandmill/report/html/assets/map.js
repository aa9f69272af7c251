// The map of tasks. Tasks that match the filter have the accent colour.
report.nearest = () => (report.mapData = report.mapData || report.read("data-map"));

report.section("map", (element, unused) => {
  const { svg } = report, data = report.nearest(), MOST = 3000, WIDE = 900, HIGH = 480, EDGE = 14;
  const step = Math.max(1, Math.ceil(report.tasks.length / MOST)), chosen = report.tasks.filter((task) => task.number % step === 0);
  const scale = (values, size) => {
    let low = Infinity, high = -Infinity;
    for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
    return (value) => (high > low ? EDGE + (value - low) / (high - low) * (size - 2 * EDGE) : size / 2);
  };
  const x = scale(data.x, WIDE), y = scale(data.y, HIGH), points = new Map();
  const drawing = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, width: "100%", role: "img", class: "panel",
    "aria-label": "Map of tasks; the list above holds the same tasks" });
  for (const task of chosen) {
    const point = svg("circle", { cx: x(data.x[task.number]).toFixed(1), cy: y(data.y[task.number]).toFixed(1), r: chosen.length > 500 ? 3 : 5 },
      svg("title", {}, `${task.title || task.id} (${task.metric})`));
    point.addEventListener("click", () => { location.hash = report.link(task.id); });
    points.set(task.id, point);
    drawing.append(point);
  }
  document.getElementById("map").append(drawing);
  if (step > 1) document.getElementById("mapped").textContent = `Every ${step}th task is drawn: ${chosen.length} of ${report.tasks.length}.`;
  const paint = (found) => {
    const ids = new Set(found.map((task) => task.id));
    for (const [id, point] of points) point.setAttribute("class", ids.has(id) ? "point chosen" : "point");
  };
  report.on("filter", paint);
  paint(report.selected());
});

report.taskPanel("near", "Nearest tasks", (task, body) => {
  const { el } = report, data = report.nearest();
  if (!data || !data.nearest[task.number].length) return false;
  body.append(el("ul", { class: "near" }, data.nearest[task.number].map((number) => {
    const other = report.tasks[number];
    return el("li", {}, el("a", { href: report.link(other.id) }, other.title || other.id), " ",
      el("span", { class: "faint" }, `${other.modality}, ${other.target}, ${other.metric}`));
  })));
  return true;
});
