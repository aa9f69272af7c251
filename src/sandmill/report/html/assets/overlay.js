(() => {
  let known = null;
  report.taskPanel("overlay", "Rollouts", (task, body) => {
    known = known || report.read("data-overlay").tasks;
    const rows = Object.hasOwn(known, task.task_id) ? known[task.task_id] : null;
    if (!rows) return false;
    const cell = (value) => report.el("td", typeof value === "number" ? { class: "number" } : {}, report.number(value));
    const names = ["set", "rollouts", "solved", "mean reward", "kind", "rewards differ"];
    body.append(report.el("table", {},
      report.el("thead", {}, report.el("tr", {}, names.map((name) => report.el("th", {}, name)))),
      report.el("tbody", {}, rows.map((row) => report.el("tr", {}, [
        row.label, row.rollouts, row.solved, row.mean_reward, row.kind, row.without_variance ? "no" : "yes",
      ].map(cell))))));
    return true;
  });
})();
