// Draws the histories of a run: panels over one axis of time. Their data, made by uplot.py, are in the page.
(() => {
  "use strict";
  const root = document.getElementById("timeline");
  const data = JSON.parse(document.getElementById("timeline-data").textContent);
  const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
  const BAND = .16, COLOURS = 7, HEIGHT = 190, PRINT_WIDTH = 690, MOST_ROWS = 16, LEAST_ZOOM = 1e-6;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  const night = () => dark.matches && !printing;
  const ink = () => night()
    ? { text: "#e6ebf4", soft: "#9fb0c9", line: "#26324a",
        shade: "rgba(148,163,184,.14)", drop: "#ff8a7a", mark: "#f5c451" }
    : { text: "#0f172a", soft: "#526077", line: "#e2e8f0",
        shade: "rgba(100,116,139,.13)", drop: "#b42318", mark: "#9a6700" };
  const faded = (colour, share) => colour + Math.round(255 * share).toString(16).padStart(2, "0");
  const number = (value) => value == null ? "–" : value === 0 ? "0"
    : Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3 ? value.toExponential(2)
    : String(+value.toPrecision(4));

  const shownFlows = new Set(data.quantiles ? [] : data.flows.map((_, n) => n));
  const colourOf = (one) => one.colours[night() ? 1 : 0];
  const flowColour = (n) => colourOf(data.flows[n]);
  const flowDash = (n) => DASHES[Math.floor(n / COLOURS) % DASHES.length];
  const plots = [];
  let span = [0, data.span_s];

  const element = (kind, attributes = {}, text = "") => {
    const made = Object.assign(document.createElement(kind), attributes);
    if (text) made.textContent = text;
    return made;
  };

  // One uPlot series for each of the panel's, and two for the ends of each band around it.
  const describe = (panel) => {
    const series = [{ label: "time" }], bands = [], values = [panel.t], owners = [];
    const add = (one, y, look) => {
      const show = visible(panel, one);
      series.push({ show, spanGaps: false, points: { show: false }, scale: "y", ...look });
      values.push(y);
      owners.push(one);
    };
    for (const one of panel.series) {
      const colour = () => colourOf(one), dash = one.flow == null ? [] : flowDash(one.flow);
      add(one, one.y, one.bound
        ? { stroke: () => faded(colour(), .55), width: 1, dash: [2, 4] }
        : { stroke: colour, width: 1.3, dash });
      for (const band of one.bands) {
        for (const y of [band.low, band.high]) add(one, y, { stroke: "transparent", width: 0 });
        bands.push({ series: [series.length - 1, series.length - 2], fill: () => faded(colour(), BAND) });
      }
    }
    return { series, bands, values, owners };
  };
  // The quantiles of many flows are shown until a reader chooses flows.
  const ofFlows = (panel) => panel.series.some((one) => one.flow != null);
  const visible = (panel, one) => one.flow == null
    ? !ofFlows(panel) || shownFlows.size === 0
    : shownFlows.has(one.flow);

  const shade = (plot, panel) => {
    if (!panel.marked) return;
    const [from, to] = panel.marked.map((t) =>
      plot.valToPos(Math.min(Math.max(t, span[0]), span[1]), "x", true));
    if (to <= from) return;
    plot.ctx.save();
    plot.ctx.fillStyle = ink().shade;
    plot.ctx.fillRect(from, plot.bbox.top, to - from, plot.bbox.height);
    plot.ctx.restore();
  };
  const annotate = (plot, panel) => {
    const { ctx, bbox } = plot, ratio = devicePixelRatio, bottom = bbox.top + bbox.height;
    ctx.save();
    ctx.beginPath(); ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height); ctx.clip();
    for (const tick of panel.ticks) {
      if (tick.flow != null && !shownFlows.has(tick.flow)) continue;
      const timeout = tick.label === "timeout", tall = timeout ? bbox.height : 7 * ratio;
      ctx.strokeStyle = tick.label === "drop" ? ink().drop : tick.label === "mark" ? ink().mark
        : tick.flow == null ? ink().soft : faded(flowColour(tick.flow), timeout ? .35 : .9);
      ctx.lineWidth = ratio;
      ctx.setLineDash([]);
      const from = tick.label === "mark" || tick.label === "recovered" ? bottom - 8 * ratio : bottom;
      ctx.beginPath();
      for (const time of tick.t) {
        if (time < span[0] || time > span[1]) continue;
        const x = plot.valToPos(time, "x", true);
        ctx.moveTo(x, from); ctx.lineTo(x, from - tall);
      }
      ctx.stroke();
    }
    for (const level of panel.levels) if (level <= plot.scales.y.max) {
      const y = plot.valToPos(level, "y", true);
      ctx.strokeStyle = ink().soft; ctx.setLineDash([5 * ratio, 4 * ratio]);
      ctx.beginPath(); ctx.moveTo(bbox.left, y); ctx.lineTo(bbox.left + bbox.width, y); ctx.stroke();
    }
    ctx.restore();
  };

  const extent = (panel) => (plot, least, greatest) => {
    if (least == null || greatest == null) return [0, 1];
    const room = (greatest - least || Math.abs(greatest) || 1) * .06;
    return panel.from_zero ? [Math.min(0, least), greatest + room] : [least - room, greatest + room];
  };
  const axis = (extra) => ({
    stroke: () => ink().soft, grid: { stroke: () => ink().line, width: 1 },
    ticks: { stroke: () => ink().line, width: 1 },
    font: "12px ui-sans-serif, system-ui, sans-serif", ...extra });

  const make = (panel, host, last) => {
    const { series, bands, values, owners } = describe(panel);
    const plot = new uPlot({
      width: host.clientWidth || 900, height: HEIGHT + (last ? 18 : 0), series, bands,
      legend: { show: false }, padding: [8, 14, 0, 0],
      scales: { x: { time: false, range: () => span }, y: { range: extent(panel) } },
      axes: [axis({
        label: last ? "time, s" : undefined, labelSize: 18,
        labelFont: "12px ui-sans-serif, system-ui, sans-serif",
      }), axis({ size: 66, values: (_, ticks) => ticks.map(number) })],
      cursor: {
        y: false, drag: { x: true, y: false, setScale: false }, points: { show: false },
        sync: { key: "longfat", scales: ["x", null] },
      },
      hooks: {
        drawClear: [(own) => shade(own, panel)], draw: [(own) => annotate(own, panel)],
        setSelect: [(own) => {
          if (own.select.width < 4) return;
          const ends = [own.select.left, own.select.left + own.select.width].map((x) => own.posToVal(x, "x"));
          own.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          show(ends);
        }],
        setCursor: [(own) => own === pointed && tell(own)],
      },
    }, values, host);
    const over = plot.over;
    over.addEventListener("mouseenter", () => { pointed = plot; });
    over.addEventListener("mouseleave", () => { pointed = null; readout.hidden = true; });
    over.addEventListener("dblclick", () => show([0, data.span_s]));
    over.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      const at = plot.posToVal(event.clientX - over.getBoundingClientRect().left, "x"),
        turn = event.deltaY || event.deltaX;
      if (event.shiftKey) return move(turn / 600);
      const factor = Math.exp(turn / 400);
      show([at - (at - span[0]) * factor, at + (span[1] - at) * factor]);
    }, { passive: false });
    over.addEventListener("mousedown", (event) => {
      if (!event.shiftKey) return;
      event.stopImmediatePropagation();
      const start = event.clientX, from = [...span], width = over.clientWidth;
      const drag = (moved) => {
        const by = (start - moved.clientX) / width * (from[1] - from[0]);
        show([from[0] + by, from[1] + by], true);
      };
      addEventListener("mousemove", drag);
      addEventListener("mouseup", () => removeEventListener("mousemove", drag), { once: true });
    }, { capture: true });
    return { plot, owners };
  };

  // All panels show the same span; y follows what is visible.
  const show = (ends, keep = false) => {
    let [from, to] = ends;
    const most = data.span_s, wide = Math.min(Math.max(to - from, LEAST_ZOOM * most), most);
    if (keep || wide === most) { from = Math.min(Math.max(from, 0), most - wide); to = from + wide; }
    else { from = Math.max(from, 0); to = Math.min(to, most); }
    span = [from, to];
    for (const { plot } of plots) plot.batch(() => plot.setScale("x", { min: from, max: to }));
    where.textContent = from <= 0 && to >= most ? "" : `${number(from)} s to ${number(to)} s`;
    reset.hidden = from <= 0 && to >= most;
  };
  const move = (share) => {
    const by = share * (span[1] - span[0]);
    show([span[0] + by, span[1] + by], true);
  };

  // The values of every panel at the pointer's time
  let pointed = null;
  const readout = element("div", { className: "readout", hidden: true });
  const nearest = (times, at) => {
    let low = 0, high = times.length - 1;
    if (high < 0) return -1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= at) low = middle; else high = middle;
    }
    return at - times[low] <= times[high] - at ? low : high;
  };
  const tell = (plot) => {
    const left = plot.cursor.left;
    if (left == null || left < 0) { readout.hidden = true; return; }
    const at = plot.posToVal(left, "x");
    const withFlows = data.panels.filter(ofFlows),
      without = data.panels.filter((panel) => !ofFlows(panel));
    const value = (panel, y) => y ? number(y[nearest(panel.t, at)]) : "–";
    const table = element("table"), head = element("tr");
    head.append(element("th", {}, `${number(at)} s`),
      ...withFlows.map((panel) => element("th", {}, panel.label)));
    table.append(head);
    const rows = [];
    if (data.quantiles && shownFlows.size === 0) {
      const summary = (panel) => panel.series.find((one) => one.flow == null),
        some = withFlows.map(summary).find(Boolean);
      if (some) rows.push([some.label, colourOf(some), (panel) => value(panel, summary(panel)?.y)]);
      some?.bands.forEach((band, i) => rows.push([band.label, colourOf(some), (panel) => {
        const own = summary(panel)?.bands[i];
        return `${value(panel, own?.low)} – ${value(panel, own?.high)}`;
      }]));
    } else for (const n of [...shownFlows].sort((a, b) => a - b))
      rows.push([data.flows[n].name, flowColour(n), (panel) =>
        value(panel, panel.series.find((one) => one.flow === n && !one.bound)?.y)]);
    for (const [name, colour, shown] of rows.slice(0, MOST_ROWS)) {
      const row = element("tr"), cell = element("td");
      cell.append(Object.assign(element("i"), { style: `background:${colour}` }), name);
      row.append(cell, ...withFlows.map((panel) => element("td", {}, shown(panel))));
      table.append(row);
    }
    if (rows.length > MOST_ROWS)
      table.append(element("tr", { innerHTML: `<td colspan="9">and ${rows.length - MOST_ROWS} more</td>` }));
    readout.replaceChildren(table);
    for (const panel of without)
      readout.append(element("div", {}, `${panel.title}: ${value(panel, panel.series[0].y)} ${panel.unit}`));
    readout.hidden = false;
    const box = plot.over.getBoundingClientRect();  // at the edge that is far from the pointer
    readout.style.top = `${Math.max(8, Math.min(innerHeight - readout.offsetHeight - 8, box.top + 10))}px`;
    readout.style.left = `${left > box.width / 2 ? box.left + 4 : box.right - readout.offsetWidth - 4}px`;
  };

  // One picker for all panels
  const picker = element("div", { className: "picker" });
  const chips = data.flows.map((flow, n) => {
    const chip = element("button", {
      type: "button", title: `${flow.name}: ${flow.algorithm}; double click shows it alone`
    });
    chip.append(element("i"), `${flow.name} `, element("small", {}, flow.algorithm));
    chip.addEventListener("click", () => {
      shownFlows.has(n) ? shownFlows.delete(n) : shownFlows.add(n);
      refresh();
    });
    chip.addEventListener("dblclick", () => { shownFlows.clear(); shownFlows.add(n); refresh(); });
    return chip;
  });
  const action = (text, act) => {
    const made = element("button", { type: "button", className: "action" }, text);
    made.addEventListener("click", act);
    return made;
  };
  const refresh = () => {
    chips.forEach((chip, n) => {
      chip.setAttribute("aria-pressed", shownFlows.has(n));
      chip.firstChild.style.background = flowColour(n);
    });
    for (const { plot, panel, owners } of plots) plot.batch(() => owners.forEach((one, i) => {
      const show = visible(panel, one);
      if (plot.series[i + 1].show !== show) plot.setSeries(i + 1, { show });
    }));
    for (const { plot } of plots) plot.redraw(true, true);
  };
  const where = element("span", { className: "soft where" }),
    reset = action("whole run", () => show([0, data.span_s]));
  reset.hidden = true;
  const hidden = data.flows.length <= 16;
  const find = element("input", { type: "search", placeholder: "find a flow", hidden });
  find.setAttribute("aria-label", "find a flow");
  find.addEventListener("input", () => chips.forEach((chip) => {
    chip.hidden = !chip.textContent.toLowerCase().includes(find.value.trim().toLowerCase());
  }));
  if (data.flows.length > 1) {
    const names = element("div", { className: "names" });
    names.append(...chips);
    picker.append(find, action("all", () => { data.flows.forEach((_, n) => shownFlows.add(n)); refresh(); }),
      action(data.quantiles ? "quantiles" : "none", () => { shownFlows.clear(); refresh(); }), names);
  }
  picker.append(reset, where);
  root.append(picker);

  data.panels.forEach((panel, position) => {
    const section = element("section", { className: "panel", id: `panel-${panel.key}` });
    const title = element("h3", {}, panel.title);
    if (panel.unit && !panel.title.endsWith(panel.unit)) title.append(element("small", {}, ` ${panel.unit}`));
    const legend = [];
    if (panel.series.some((one) => one.bound)) legend.push("dotted: ssthresh");
    const labels = [...new Set(panel.ticks.map((tick) => tick.label))];
    if (labels.length) legend.push(`ticks: ${labels.map((label) => label.replaceAll("_", " ")).join(", ")}`);
    title.append(element("span", { className: "soft" }, legend.join(" · ")));
    const host = element("div", { className: "host", tabIndex: 0 });
    host.setAttribute("role", "img");
    host.setAttribute("aria-label", `${panel.title} over time`);
    section.append(title, host);
    root.append(section);
    plots.push({ panel, host, last: position === data.panels.length - 1 });
  });
  root.append(readout);
  for (const entry of plots) Object.assign(entry, make(entry.panel, entry.host, entry.last));
  refresh();
  root.dataset.drawn = performance.now().toFixed(0);

  root.addEventListener("keydown", (event) => {
    const keys = {
      ArrowLeft: () => move(-.1), ArrowRight: () => move(.1),
      "0": () => show([0, data.span_s]), Escape: () => show([0, data.span_s]),
      "+": () => show([span[0] + .1 * (span[1] - span[0]), span[1] - .1 * (span[1] - span[0])]),
      "-": () => show([span[0] - .125 * (span[1] - span[0]), span[1] + .125 * (span[1] - span[0])]),
    };
    if (event.target.tagName === "INPUT" || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  const fit = (width) => {
    for (const { plot, host, last } of plots)
      plot.setSize({ width: width || host.clientWidth, height: HEIGHT + (last ? 18 : 0) });
  };
  let pending = 0;
  new ResizeObserver(() => {
    cancelAnimationFrame(pending);
    pending = requestAnimationFrame(() => printing || fit());
  }).observe(root);
  dark.addEventListener("change", refresh);
  addEventListener("beforeprint", () => { printing = true; fit(PRINT_WIDTH); refresh(); });
  addEventListener("afterprint", () => { printing = false; fit(); refresh(); });
})();
