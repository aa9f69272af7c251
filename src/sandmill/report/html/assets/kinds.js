// A card for each kind of task, most tasks first: a picture, a sound, rows or a text of its first task.
report.section("kinds", (element) => {
  const { el } = report, groups = new Map();
  for (const task of report.tasks) {
    if (!groups.has(task.kind)) groups.set(task.kind, []);
    groups.get(task.kind).push(task);
  }
  const preview = (sample) => {
    const item = sample.media.find((one) => one.uri), table = sample.tables[0];
    if (item) return report.item(item);
    if (!table) return sample.media.length ? report.item({ ...sample.media[0], text: sample.media[0].text.slice(0, 300) }) : null;
    return el("table", { class: "small" }, [table.columns, ...table.rows.slice(0, 3)].map((row, place) =>
      el("tr", {}, row.slice(0, 3).map((cell) => el(place ? "td" : "th", {}, el("span", {}, cell))))));
  };
  for (const [kind, tasks] of [...groups].sort((one, other) => other[1].length - one[1].length || (one[0] < other[0] ? -1 : 1))) {
    const example = tasks[0], { sample } = report.read("detail-" + example.id) || {};
    const named = (name) => [...new Set(tasks.map((task) => task[name]))].slice(0, 4).join(", ");
    const show = () => {
      report.clear();
      report.choose("kind", kind);
      document.getElementById("section-tasks").scrollIntoView();
    };
    element.querySelector(".drawn-kinds").append(el("article", { class: "panel card" }, el("h3", {}, kind.replaceAll("_", " ")),
      el("p", { class: "faint" }, `target ${named("target")}; metric ${named("metric")}`), sample ? preview(sample) : null,
      el("p", {}, "Example: ", el("a", { href: report.link(example.id) }, example.title || example.id)),
      el("button", { class: "plain", type: "button", onclick: show }, tasks.length === 1 ? "Show in the list" : `Show all ${tasks.length} in the list`)));
  }
});
