"use strict";
// The shell of a report: the address, the filter, and what sections and panels register. Text reaches the page only as
// text nodes.
const report = (() => {
  const sections = [], panels = [], listeners = { filter: [], task: [] };
  const filter = { search: "", values: new Map() };
  const app = { tasks: [], byId: new Map(), columns: [], facets: [], release: "" };
  let matching = null;

  const make = (namespace) => (name, attributes, ...children) => {
    const node = namespace ? document.createElementNS(namespace, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value === true ? "" : value);
    }
    for (const child of children.flat()) {
      if (child !== null && child !== undefined) node.append(child);
    }
    return node;
  };
  app.el = make(null);
  app.svg = make("http://www.w3.org/2000/svg");

  app.number = (value) => {
    if (value === null || value === undefined) return "-";
    if (typeof value !== "number") return String(value);
    if (Number.isInteger(value)) return value.toLocaleString("en");
    return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(5)));
  };

  // Width for a drawing whose texts keep their size: that of the page, and at most this.
  app.width = (most) => Math.max(300, Math.min(most, document.body.clientWidth - 26));

  app.read = (id) => {
    const block = document.getElementById(id);
    return block && block.type === "application/json" ? JSON.parse(block.textContent) : null;
  };

  app.section = (id, run) => sections.push({ id, run, done: false });
  app.taskPanel = (id, title, fill) => panels.push({ id, title, fill });
  app.on = (event, call) => listeners[event].push(call);
  app.panels = panels;

  // The address: #[task or section]?facet=value&facet=value&q=text
  const parse = () => {
    const text = location.hash.slice(1), cut = text.indexOf("?");
    let place = cut < 0 ? text : text.slice(0, cut);
    try { place = decodeURIComponent(place); } catch { place = ""; }
    return { place, query: new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1)) };
  };
  const write = (place) => {
    const query = new URLSearchParams();
    for (const [name, values] of filter.values) for (const value of values) query.append(name, value);
    if (filter.search) query.set("q", filter.search);
    const text = query.toString();
    return "#" + encodeURIComponent(place) + (text ? "?" + text : "");
  };
  app.link = (taskId) => write(taskId);

  app.bin = (facet, value) => {
    if (value === null || value === undefined) return null;
    if (!facet.number) return String(value);
    const low = Math.floor(Number((value / facet.step).toFixed(9))) * facet.step;
    return String(Number(low.toFixed(9)));
  };

  const texts = (task) => {
    if (task.text === undefined) {
      const parts = app.columns.map((name) => task[name]).filter((value) => typeof value === "string");
      Object.defineProperty(task, "text", { value: parts.join(" ").toLowerCase(), enumerable: false });
    }
    return task.text;
  };
  const binsOf = (task) => {
    if (task.bins === undefined) {
      const bins = app.facets.map((facet) => app.bin(facet, task[facet.column]));
      Object.defineProperty(task, "bins", { value: bins, enumerable: false });
    }
    return task.bins;
  };
  // One pass over the tasks: those that match, and for each facet what a click on each of its values would give, which
  // leaves the facet's own choice out.
  const tally = () => {
    const words = filter.search.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = app.facets.map((facet) => filter.values.get(facet.id) || null);
    const counts = app.facets.map(() => new Map()), selected = [];
    const add = (place, key) => counts[place].set(key, (counts[place].get(key) || 0) + 1);
    for (const task of app.tasks) {
      if (words.length && !words.every((word) => texts(task).includes(word))) continue;
      const bins = binsOf(task);
      let failed = -1, fails = 0;
      for (let place = 0; place < chosen.length && fails < 2; place++) {
        if (chosen[place] && !chosen[place].has(bins[place])) { failed = place; fails += 1; }
      }
      if (fails === 1) add(failed, bins[failed]);
      if (fails === 0) { selected.push(task); bins.forEach((key, place) => add(place, key)); }
    }
    return { selected, counts: new Map(app.facets.map((facet, place) => [facet.id, counts[place]])) };
  };
  const found = () => matching || (matching = tally());
  app.selected = () => found().selected;
  app.counts = (facetId) => found().counts.get(facetId);
  app.isChosen = (facetId, value) => filter.values.has(facetId) && filter.values.get(facetId).has(value);

  const announce = () => {
    matching = null;
    for (const call of listeners.filter) call(app.selected());
  };
  app.choose = (facetId, value) => {
    const values = filter.values.get(facetId) || new Set();
    if (values.has(value)) values.delete(value); else values.add(value);
    if (values.size) filter.values.set(facetId, values); else filter.values.delete(facetId);
    history.replaceState(null, "", write(parse().place));
    announce();
  };
  app.search = (text) => {
    filter.search = text;
    history.replaceState(null, "", write(parse().place));
    announce();
  };
  app.clear = () => {
    filter.values.clear();
    filter.search = "";
    history.replaceState(null, "", write(parse().place));
    announce();
  };
  app.searched = () => filter.search;

  const takeFilter = (query) => {
    const known = new Set(app.facets.map((facet) => facet.id));
    const found = new Map();
    for (const [name, value] of query) {
      if (known.has(name)) found.set(name, (found.get(name) || new Set()).add(value));
    }
    const said = (values) => JSON.stringify([...values].map(([name, set]) => [name, [...set]]));
    const search = query.get("q") || "";
    if (said(found) === said(filter.values) && search === filter.search) return;
    filter.values = found;
    filter.search = search;
    announce();
  };

  const run = (section) => {
    if (section.done) return;
    section.done = true;
    const element = document.getElementById("section-" + section.id);
    if (element) section.run(element, app.read("data-" + section.id));
  };

  let place = null, scrolled = 0;
  const go = () => {
    const asked = parse();
    takeFilter(asked.query);
    if (asked.place === place) return;
    const task = app.byId.get(asked.place), main = document.getElementById("release"), page = document.getElementById("task");
    const was = place !== null && app.byId.has(place);
    if (task && !was) scrolled = window.scrollY;
    place = asked.place;
    main.hidden = Boolean(task);
    document.body.classList.toggle("on-task", Boolean(task));
    page.hidden = !task;
    page.replaceChildren();
    if (task) {
      for (const call of listeners.task) call(task, page);
      window.scrollTo(0, 0);
      const title = page.querySelector("h2");
      if (title) title.focus({ preventScroll: true });
      return;
    }
    announce();
    const section = sections.find((one) => "section-" + one.id === place);
    if (section) run(section);
    const target = place && document.getElementById(place);
    if (target) {
      target.scrollIntoView();
      const title = target.querySelector("h2");
      if (title) title.focus({ preventScroll: true });
    } else if (was) window.scrollTo(0, scrolled);
  };
  app.back = () => { location.hash = write(""); };

  app.start = () => {
    const lazy = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const section = entry.isIntersecting && sections.find((one) => "section-" + one.id === entry.target.id);
        if (section) { lazy.unobserve(entry.target); run(section); }
      }
    }, { rootMargin: "600px" });
    // The list of tasks is read first: addresses of tasks and filters need it.
    const first = sections.find((one) => one.id === "tasks");
    if (first) run(first);
    for (const section of sections) {
      const element = document.getElementById("section-" + section.id);
      if (element) lazy.observe(element);
    }
    for (const link of document.querySelectorAll("nav a, a.skip")) {
      const name = link.getAttribute("href").slice(1);
      link.addEventListener("click", (event) => {
        event.preventDefault();
        place = null;
        location.hash = write(name);
        go();
      });
    }
    window.addEventListener("hashchange", go);
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const typing = event.target.matches && event.target.matches("input, textarea");
      if (event.key === "/" && !typing) {
        const box = document.getElementById("search");
        if (box && !document.getElementById("release").hidden) { event.preventDefault(); box.focus(); }
      }
      if (event.key === "Escape" && app.byId.has(place)) app.back();
    });
    go();
    document.documentElement.dataset.ready = "yes";
  };
  return app;
})();
