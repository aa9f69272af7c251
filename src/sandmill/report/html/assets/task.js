// The page of one task, from the row of the list and from its detail, which is parsed when the page opens.
report.on("task", (task, page) => {
  const { el } = report, detail = report.read("detail-" + task.id) || {};
  page.append(el("p", {}, el("a", { href: "#", onclick: (event) => { event.preventDefault(); report.back(); } }, "All tasks")),
    el("h2", { tabindex: -1 }, task.title || task.id), el("p", {}, el("code", {}, task.id)));
  const facts = el("p", { class: "facts" });
  for (const facet of report.facets) {
    if (task[facet.column] !== null && task[facet.column] !== undefined) {
      facts.append(el("span", {}, facet.title, el("b", {}, report.number(task[facet.column]))));
    }
  }
  page.append(facts);
  if (!detail.sample) {
    page.append(el("p", { class: "faint" }, "This page keeps prompt, rows and media of a sample of the tasks; this one is not among them. Pull it to see them."));
  }
  for (const panel of report.panels) {
    const body = el("div", { id: "panel-" + panel.id });
    if (panel.fill(task, body, detail) !== false) page.append(el("section", {}, el("h3", {}, panel.title), body));
  }
});

// A table whose cells know their column, so that a narrow page can show each row as a list.
report.table = (columns, rows, options = {}) => {
  const { el } = report;
  const isNumber = columns.map((_, place) => rows.some((row) => typeof row[place] === "number")
    && rows.every((row) => typeof row[place] === "number" || row[place] === ""));
  const label = (place) => [columns[place]].flat().map((part) => part.textContent || part).join("");
  return el("div", { class: "wide" }, el("table", { class: options.class },
    el("thead", {}, el("tr", {}, columns.map((name, place) => el("th", { class: isNumber[place] ? "number" : null }, name)))),
    el("tbody", {}, rows.map((row, number) => el("tr", { class: options.rowClass && options.rowClass(number) }, row.map((cell, place) =>
      el("td", { class: typeof cell === "number" ? "number" : null, "data-label": label(place) }, typeof cell === "number" ? report.number(cell) : cell)))))));
};

report.taskPanel("prompt", "Prompt", (task, body, detail) => {
  if (!detail.sample) return false;
  body.append(report.markdown(detail.sample.prompt));
  return true;
});

// One item: a picture, a sound that plays, or a text.
report.item = (item) => {
  const { el } = report;
  return el("figure", {},
    item.uri.startsWith("data:image/") ? el("img", { src: item.uri, alt: item.path, width: 200 }) : null,
    item.uri.startsWith("data:audio/") ? el("audio", { controls: true, src: item.uri, preload: "metadata" }) : null,
    item.text ? el("pre", { class: "text" }, item.text) : null,
    el("figcaption", { class: "faint" }, item.path), item.note ? el("p", { class: "faint" }, item.note) : null);
};

report.taskPanel("media", "Items", (task, body, detail) => {
  if (!detail.sample || !detail.sample.media.length) return false;
  body.append(report.el("div", { class: "media" }, detail.sample.media.map(report.item)));
  return true;
});

report.taskPanel("rows", "First rows", (task, body, detail) => {
  if (!detail.sample || !detail.sample.tables.length) return false;
  const { el } = report, MOST = Math.floor(report.width(1150) / 130);
  for (const { path, columns, rows } of detail.sample.tables) {
    // A table that is too wide for the page stands on its side, with a line for each column.
    const aside = columns.length > MOST, few = rows.slice(0, Math.max(2, Math.min(3, MOST - 1)));
    body.append(el("p", {}, el("code", {}, path)), el("div", { class: aside ? "aside" : "cells" }, aside
      ? el("table", {}, columns.map((name, place) => el("tr", {}, el("th", {}, name), few.map((row) => el("td", {}, row[place])))))
      : report.table(columns, rows, { class: "kept" })));
  }
  return true;
});

report.query = (text) => report.el("details", { class: "sql" }, report.el("summary", {}, "SQL behind this figure"),
  report.el("pre", { tabindex: 0 }, report.el("code", {}, text)));

report.taskPanel("ladder", "Scores on one axis", (task, body, detail) => {
  const { el, svg } = report, facts = detail.private;
  if (!facts) return false;
  const WIDE = report.width(720), LEFT = 66, RIGHT = 126, STEP = 26, marks = facts.marks, HIGH = marks.length * STEP + 30;
  const all = marks.flatMap((mark) => [mark.value, mark.low, mark.high]).filter((value) => typeof value === "number");
  let low = Math.min(...all), high = Math.max(...all);
  if (low === high) { low -= 1; high += 1; }
  const at = (value) => {
    const share = (value - low) / (high - low);
    return LEFT + (facts.is_lower_better ? 1 - share : share) * (WIDE - LEFT - RIGHT);
  };
  const drawing = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", width: WIDE,
    "aria-label": marks.map((mark) => `${mark.name} ${report.number(mark.value)}`).join(", ") });
  marks.forEach((mark, place) => {
    const y = place * STEP + 18;
    drawing.append(svg("line", { class: "rule", x1: LEFT, x2: WIDE - RIGHT, y1: y, y2: y }));
    if (mark.low !== null) drawing.append(svg("line", { class: "span", x1: at(mark.low), x2: at(mark.high), y1: y, y2: y }));
    drawing.append(svg("circle", { class: "dot", cx: at(mark.value), cy: y, r: 4.5 }),
      svg("text", { x: LEFT - 12, y: y + 4, "text-anchor": "end" }, mark.name),
      svg("text", { x: WIDE - RIGHT + 14, y: y + 4 }, `${report.number(mark.value)} (${Math.round(mark.gap * 100)} %)`));
  });
  const y = marks.length * STEP + 14;
  drawing.append(svg("line", { class: "axis", x1: LEFT, x2: WIDE - RIGHT, y1: y - 8, y2: y - 8 }),
    svg("text", { class: "faint", x: LEFT, y: y + 10 }, report.number(facts.is_lower_better ? high : low)),
    svg("text", { class: "faint", x: WIDE - RIGHT, y: y + 10, "text-anchor": "end" }, report.number(facts.is_lower_better ? low : high)));
  body.append(el("div", { class: "wide" }, drawing), el("p", { class: "faint" },
    `${facts.metric}, ${facts.is_lower_better ? "lower" : "higher"} is better, better to the right; in brackets the share of the gap from trivial to oracle. Bands: 90 % intervals of thresholds, and the ends of the ceiling. Best possible score, the ceiling: ${facts.best_score}.`));
  const [value, from, to] = facts.difficulty;
  body.append(el("p", {}, `Difficulty ${report.number(value)} (${report.number(from)} to ${report.number(to)}), ${facts.band}; asked for ${facts.wanted}. Rule: ${facts.motifs.join(", ")}. Reference: ${facts.reference || "-"}.`));
  body.append(report.query(`SELECT json_extract(record, '$.calibration.thresholds') AS thresholds,
       json_extract(record, '$.calibration.trivial') AS trivial, json_extract(record, '$.calibration.informed') AS informed,
       json_extract(record, '$.calibration.ceiling') AS ceiling, json_extract(record, '$.calibration.steadiness') AS intervals
FROM read_parquet('private/tasks-*.parquet')
WHERE task_id = '${task.id}'`));
  return true;
});

report.taskPanel("board", "Leaderboard", (task, body, detail) => {
  if (!detail.private) return false;
  const rows = detail.private.board;
  body.append(report.el("p", { class: "faint" }, "Best first. A row above a threshold reaches that medal. The last column is the share of the gap from the trivial solver to the oracle, the same scale for all tasks. Readers use what the texts state; all other solvers see the data alone."),
    report.table(["entry", "what it is", "final", "feedback", "gap"],
      rows.map(([name, what, final, feedback, gap]) => [name, what, final, feedback, `${Math.round(gap * 100)}\u00a0%`]),
      { class: "board kept", rowClass: (number) => (rows[number][1] === "threshold" ? "threshold" : rows[number][1].startsWith("script") ? "script" : null) }));
  return true;
});

report.taskPanel("truths", "Verified facts", (task, body, detail) => {
  if (!detail.private) return false;
  const { el } = report, facts = Object.entries(detail.private.truths), held = facts.filter(([, holds]) => holds).length;
  body.append(el("p", {}, `${held} of ${facts.length} hold: `, facts.map(([name, holds], place) =>
    [place ? ", " : "", el("span", { class: holds ? "good" : "bad" }, holds ? name : `${name} does not`)]).flat(), "."));
  return true;
});

report.taskPanel("rollouts", "Rollouts", (task, body, detail) => {
  if (!detail.rollouts) return false;
  const { el } = report, block = ([title, text], inner = []) => el("details", { class: "rollout" }, el("summary", {}, title),
    el("pre", { class: /^(message|step) /.test(title) ? "prose said" : "prose", tabindex: 0 }, text), inner);
  for (const [[title, facts], ...rest] of detail.rollouts) {
    body.append(block([title.replace(`${task.id}, `, ""), facts], rest.map((one) => block(one))));
  }
  return true;
});

report.taskPanel("traits", "Traits of the seed", (task, body, detail) => {
  if (!detail.private || !detail.private.traits.length) return false;
  body.append(report.table(["trait", "tier", "seed", "task", "kept"], detail.private.traits.map(([words, tier, seed, own, kept]) =>
    [words, tier, seed, own, report.el("span", { class: kept === "yes" ? "good" : "bad" }, kept)])));
  body.append(report.query(`SELECT json_extract(record, '$.lineage.fidelity') FROM read_parquet('private/tasks-*.parquet')
WHERE task_id = '${task.id}'`));
  return true;
});

report.taskPanel("commands", "Commands", (task, body) => {
  const { el } = report, isPrivate = report.edition === "private";
  const commands = [`sandmill pull ${report.release} --to tasks --task ${task.id}${isPrivate ? "" : " --public-only"}`];
  if (isPrivate) commands.push(`sandmill grade tasks/${task.id} submission.csv`);
  for (const command of commands) {
    const button = el("button", { class: "plain", type: "button" }, "Copy");
    button.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(command); button.textContent = "Copied"; }
      catch { getSelection().selectAllChildren(button.previousSibling); button.textContent = "Selected"; }
    });
    body.append(el("div", { class: "copy" }, el("pre", { tabindex: 0 }, el("code", {}, command)), button));
  }
  return true;
});
