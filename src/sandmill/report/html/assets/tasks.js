// The list of tasks with its facets. Only the rows in sight are in the page.
report.section("tasks", (element, data) => {
  const { el, svg } = report, HEIGHT = document.body.clientWidth < 700 ? 52 : 40, SHOWN = ["kind", "metric", "split", "band", "rows_train", "tokens"];
  const names = data.columns.map((column) => column.name);
  report.columns = names;
  report.facets = data.facets;
  report.release = data.release;
  report.edition = data.edition;
  const rows = [];
  for (let number = 0; number < data.count; number++) {
    const task = { number };
    for (const column of data.columns) {
      task[column.name] = column.values[number];
    }
    task.id = task.task_id;
    rows.push(task);
    report.byId.set(task.id, task);
  }
  report.tasks = rows;

  // Facets
  const box = document.getElementById("facets"), painters = [];
  const many = (number) => report.number(number) + (number === 1 ? " task" : " tasks");
  const categories = (facet) => {
    const holder = el("div", { class: "values" }), most = Math.max(...facet.values.map((row) => row[1]));
    const buttons = facet.values.map(([value, total]) => {
      const key = String(value), number = el("span", { class: "number" });
      const whole = svg("rect", { class: "track", width: (100 * total / most) + "%", height: "100%" });
      const part = svg("rect", { class: "some", height: "100%" });
      const button = el("button", { class: "value", type: "button", title: key, onclick: () => report.choose(facet.id, key) },
        svg("svg", { "aria-hidden": "true", preserveAspectRatio: "none" }, whole, part),
        el("span", { class: "text" }, key), number);
      holder.append(button);
      return { key, number, part, button, most };
    });
    return { holder, buttons };
  };
  const histogram = (facet) => {
    const lows = facet.values.map((row) => row[0]), low = Math.min(...lows), high = Math.max(...lows);
    const totals = new Map(facet.values.map(([value, total]) => [report.bin(facet, value), total]));
    const most = Math.max(...totals.values()), count = Math.min(200, Math.round((high - low) / facet.step) + 1);
    const columns = el("div", { class: "columns" }), buttons = [];
    for (let place = 0; place < count; place++) {
      const start = Number((low + place * facet.step).toFixed(9)), key = report.bin(facet, start), total = totals.get(key) || 0;
      const share = total / most;
      const whole = svg("rect", { class: "track", width: "100%", height: (100 * share) + "%", y: (100 - 100 * share) + "%" });
      const part = svg("rect", { class: "bar", width: "100%" });
      const button = el("button", { type: "button", disabled: !total, onclick: () => report.choose(facet.id, key) },
        svg("svg", { "aria-hidden": "true" }, whole, part));
      columns.append(button);
      const end = report.number(Number((start + facet.step).toFixed(9)));
      buttons.push({ key, part, button, most, upright: true, name: `${report.number(start)} to below ${end}` });
    }
    const end = Number((high + facet.step).toFixed(9));
    return { holder: el("div", {}, columns, el("div", { class: "ends" },
      el("span", {}, report.number(low)), count > 1 ? el("span", {}, report.number(end)) : null)), buttons };
  };
  for (const facet of data.facets) {
    const made = facet.number ? histogram(facet) : categories(facet);
    box.append(el("div", { class: "facet", role: "group", "aria-label": facet.title }, el("h3", {}, facet.title), made.holder));
    painters.push(() => {
      const counts = report.counts(facet.id);
      for (const one of made.buttons) {
        const count = counts.get(one.key) || 0, share = 100 * count / one.most;
        one.button.setAttribute("aria-pressed", String(report.isChosen(facet.id, one.key)));
        if (one.upright) {
          one.part.setAttribute("height", share + "%");
          one.part.setAttribute("y", (100 - share) + "%");
          one.button.setAttribute("aria-label", `${facet.title} ${one.name}: ${many(count)}`);
          one.button.title = `${one.name}: ${many(count)}`;
        } else {
          one.part.setAttribute("width", share + "%");
          one.number.textContent = report.number(count);
        }
      }
    });
  }

  // The list
  const list = document.getElementById("list"), space = el("div", { class: "space", role: "presentation" });
  list.append(space);
  const shown = SHOWN.filter((name) => names.includes(name)).slice(0, 4);
  document.getElementById("heads").append(el("span", {}, "id"), el("span", {}, "title"),
    ...shown.map((name) => el("span", {}, name.replace("_", " "))));
  let current = [];
  const line = (place) => {
    const task = current[place];
    return el("a", {
      class: "row", href: report.link(task.id), style: `top:${place * HEIGHT}px`, role: "listitem",
      "data-place": place, "aria-posinset": place + 1, "aria-setsize": current.length,
    }, el("code", {}, task.id), el("span", {}, task.title || ""),
    ...shown.map((name) => el("span", {}, report.number(task[name]))));
  };
  let from = -1, to = -1;
  const paint = (force) => {
    const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - 8);
    const last = Math.min(current.length, Math.ceil((list.scrollTop + list.clientHeight) / HEIGHT) + 8);
    if (!force && first === from && last === to) return;
    [from, to] = [first, last];
    const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.place : undefined;
    const lines = [];
    for (let place = first; place < last; place++) lines.push(line(place));
    space.replaceChildren(...lines);
    if (focused !== undefined) {
      const again = space.querySelector(`[data-place="${focused}"]`);
      if (again) again.focus({ preventScroll: true });
    }
  };
  list.addEventListener("scroll", () => paint(false), { passive: true });
  window.addEventListener("resize", () => paint(true));
  list.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    if (!(event.key in steps) || !current.length) return;
    event.preventDefault();
    const held = document.activeElement.dataset.place;
    const next = held === undefined ? 0 : Number(held) + steps[event.key];
    const place = Math.max(0, Math.min(current.length - 1, next));
    if (place * HEIGHT < list.scrollTop) list.scrollTop = place * HEIGHT;
    if ((place + 1) * HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = (place + 1) * HEIGHT - list.clientHeight;
    paint(true);
    space.querySelector(`[data-place="${place}"]`).focus({ preventScroll: true });
  });

  if (document.body.clientWidth < 700) document.getElementById("filters").removeAttribute("open");
  const input = document.getElementById("search"), matching = document.getElementById("matching");
  let waiting = 0;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => report.search(input.value), 80);
  });
  document.getElementById("clear").addEventListener("click", () => {
    clearTimeout(waiting);
    input.value = "";
    report.clear();
  });
  report.on("filter", (found) => {
    current = found;
    if (input.value !== report.searched() && document.activeElement !== input) input.value = report.searched();
    matching.textContent = `${report.number(found.length)} of ${many(rows.length)}`;
    space.style.height = current.length * HEIGHT + "px";
    list.scrollTop = 0;
    for (const painter of painters) painter();
    paint(true);
  });
});
