// Markdown as the prompts of tasks use it: headings, paragraphs, lists, tables, blocks and spans of code, bold. All text
// stays text; anything else, such as HTML and links, is shown as it is written.
report.markdown = (text) => {
  const { el } = report, lines = text.split("\n"), blocks = [];
  const inline = (part) => part.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((piece) => {
    if (piece.length > 2 && piece.startsWith("`") && piece.endsWith("`")) return el("code", {}, piece.slice(1, -1));
    return piece.length > 4 && piece.startsWith("**") && piece.endsWith("**") ? el("strong", {}, inline(piece.slice(2, -2))) : piece;
  });
  const ITEM = /^\s*(?:[-*+]|(\d+)[.)])\s+/, START = /^(#{1,6} |```|\||\s*([-*+]|\d+[.)])\s)/;
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => inline(cell.trim().replaceAll("\\|", "|")));
  let place = 0;
  const take = (test) => {
    const taken = [];
    while (place < lines.length && test(lines[place])) taken.push(lines[place++]);
    return taken;
  };
  while (place < lines.length) {
    const line = lines[place], heading = /^(#{1,6}) (.*)/.exec(line);
    if (heading) {
      blocks.push(el(heading[1].length === 1 ? "h4" : "h5", {}, inline(heading[2])));
      place++;
    } else if (line.startsWith("```")) {
      place++;
      blocks.push(el("pre", { tabindex: 0 }, el("code", {}, take((one) => !one.startsWith("```")).join("\n"))));
      place++;
    } else if (line.startsWith("|")) {
      const [head, ...rows] = take((one) => one.startsWith("|"));
      blocks.push(report.table(cells(head), rows.filter((row) => !/^[|\s:-]+$/.test(row)).map(cells)));
    } else if (ITEM.test(line)) {
      const items = [], isNumbered = ITEM.exec(line)[1] !== undefined;
      for (const one of take((next) => ITEM.test(next) || /^\s+\S/.test(next))) {
        if (ITEM.test(one)) items.push(one.replace(ITEM, "")); else items[items.length - 1] += " " + one.trim();
      }
      blocks.push(el(isNumbered ? "ol" : "ul", {}, items.map((one) => el("li", {}, inline(one)))));
    } else if (!line.trim()) {
      place++;
    } else {
      const part = [lines[place++], ...take((one) => one.trim() && !START.test(one))];
      blocks.push(el("p", {}, part.map((one) => [...inline(one.trim()), one.endsWith("  ") ? el("br") : " "]).flat()));
    }
  }
  return el("div", { class: "panel prose" }, blocks);
};
