// The page of one task, from the row of the list and from its detail, which is parsed when the page opens.
report.on("task", (task, page) => {
  const { el } = report, detail = report.read("detail-" + task.id) || {};
  page.append(el("p", {}, el("a", { href: "#", onclick: (event) => { event.preventDefault(); report.back(); } }, "All tasks")),
    el("h2", { tabindex: -1 }, task.title || task.id), el("p", {}, el("code", {}, task.id)));
  const facts = el("p", { class: "facts" });
  for (const facet of report.facets) {
    if (task[facet.column] !== null && task[facet.column] !== undefined) {
      facts.append(el("span", {}, facet.title.toLowerCase() + " ", el("b", {}, report.number(task[facet.column]))), " ");
    }
  }
  page.append(facts);
  if (!Object.keys(detail).length) {
    page.append(el("p", { class: "faint" }, "Rows, media and figures of this task are not in this page, which keeps those of a sample of the tasks."));
  }
  for (const panel of report.panels) {
    const body = el("div", { id: "panel-" + panel.id });
    if (panel.fill(task, body, detail) !== false) page.append(el("section", {}, el("h3", {}, panel.title), body));
  }
});
