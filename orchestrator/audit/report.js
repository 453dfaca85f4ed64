"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const make = (tag, cls, text) => { const e = document.createElement(tag); if (cls) e.className = cls; if (text !== undefined) e.textContent = text; return e; };
  const { agents, tools, strings, calls, kinds } = data;
  const [T, TOOK, AGENT, TOOL, KIND, TEXT, REASON, RULE, SEQ, ID, TURN] = data.columns.map((_, i) => i);
  const total = calls[T].length, ROW = 30, LANE = 30, AXIS = 26;
  let GUTTER = 196;
  const state = { hits: [], selected: -1, from: 0, to: data.length || 1, chart: data.cost ? "cost" : "tokens" };
  const number = new Intl.NumberFormat("en");
  const clock = (ms) => new Date(data.began + ms).toISOString().slice(11, 23);
  const lasted = (ms) => ms < 0 ? "" : ms < 1000 ? `${Math.round(ms)} ms` : ms < 60000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60000)} m ${Math.round(ms / 1000) % 60} s`;
  const compact = (n) => n >= 1e6 ? `${(n / 1e6).toFixed(2)} M` : n >= 1e4 ? `${(n / 1e3).toFixed(1)} k` : number.format(n);
  const money = (usd) => usd === null ? "unknown" : usd < 1 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const tone = (tool) => `--t${tool % 8}`;

  // ---- the head ----
  function head() {
    $("title").textContent = data.session || "audit log";
    document.title = `decurion audit ${data.session}`;
    $("about").textContent = [new Date(data.began).toISOString().replace("T", " ").slice(0, 19) + " UTC", data.model, data.cwd, data.status || (data.started ? "not ended" : "recorded by decurion hook: calls alone")].filter(Boolean).join("  ·  ");
    for (const text of data.prompts) $("asked").append(make("p", "", text));
    const proof = $("proof"), ok = data.proof.ok;
    proof.classList.toggle("bad", !ok);
    proof.querySelector(".seal").textContent = ok ? "✓" : "!";
    proof.querySelector("b").textContent = data.proof.title;
    proof.querySelector(".sub").textContent = data.proof.text;
    if (data.proof.problems.length) {
      $("damage").hidden = false;
      for (const text of data.proof.problems) $("damage").querySelector(".problems").append(make("p", "mono", text));
    }
    const failed = calls[KIND].reduce((n, k) => n + (kinds[k] === "failed"), 0);
    const figures = [["Agents", agents.length], ["Calls that ran", data.ran], ["Refused", data.refused, data.refused > 0], ["Failed", failed], ...(data.started ? [["Tokens", compact(data.tokens)], ["Cost", money(data.cost)]] : []), ["Duration", lasted(data.length)]];
    for (const [name, value, alarm] of figures) {
      const card = make("div", `card fig${alarm ? " alarm" : ""}`);
      card.append(make("span", "", name), make("b", "", typeof value === "number" ? number.format(value) : value));
      $("figures").append(card);
    }
    $("foot").textContent = `${number.format(data.records)} records · rules ${data.policies.map((p) => p.slice(0, 12)).join(", ") || "none"} · enforcement ${data.enforcement || "none"} · newest hash ${data.proof.hash}`;
    tools.forEach((tool, i) => { if (i < 8) { const item = make("span"); const dot = make("i"); dot.style.background = `var(${tone(i)})`; item.append(dot, tool); $("legend").append(item); } });
    for (const [name, colour] of [["failed", "--warn"], ["refused", "--bad"]]) { const item = make("span"), dot = make("i"); dot.style.background = `var(${colour})`; item.append(dot, name); $("legend").append(item); }
  }

  // ---- filters ----
  function options(select, all, names) {
    select.append(new Option(all, ""));
    names.forEach((name, i) => select.append(new Option(name, String(i))));
  }
  function filter() {
    const text = $("text").value.toLowerCase(), agent = $("agent").value, tool = $("tool").value, kind = $("decision").value;
    const wanted = text ? strings.map((s) => s.toLowerCase().includes(text)) : null;
    const hits = [];
    for (let i = 0; i < total; i++) {
      if (agent !== "" && calls[AGENT][i] !== +agent) continue;
      if (tool !== "" && calls[TOOL][i] !== +tool) continue;
      if (kind !== "" && calls[KIND][i] !== +kind) continue;
      if (wanted && !wanted[calls[TEXT][i]] && !wanted[calls[REASON][i]] && !wanted[calls[RULE][i]]) continue;
      hits.push(i);
    }
    state.hits = hits;
    $("count").textContent = hits.length === total ? `${number.format(total)} calls` : `${number.format(hits.length)} of ${number.format(total)} calls`;
    $("list").scrollTop = 0;
    list(); lanes();
  }
  function reset() { for (const id of ["text", "agent", "tool", "decision"]) $(id).value = ""; filter(); }

  // ---- the list: only what is seen stands in the document ----
  let spacer;
  function list() {
    const box = $("list");
    if (!spacer) { spacer = make("div"); box.append(spacer); }
    spacer.style.height = `${state.hits.length * ROW}px`;
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 4);
    const last = Math.min(state.hits.length, first + Math.ceil(box.clientHeight / ROW) + 8);
    for (const old of [...box.children]) if (old !== spacer) old.remove();
    if (!state.hits.length) box.append(make("div", "empty", total ? "No call fits these filters." : "No call was made in this session."));
    for (let place = first; place < last; place++) box.append(row(place));
  }
  function row(place) {
    const i = state.hits[place], e = make("div", "row"), kind = kinds[calls[KIND][i]];
    e.style.top = `${place * ROW}px`;
    e.setAttribute("role", "option");
    e.setAttribute("aria-selected", String(i === state.selected));
    const text = strings[calls[TEXT][i]] || strings[calls[REASON][i]];
    e.append(make("span", "when", clock(calls[T][i])), make("span", "who", agents[calls[AGENT][i]].id), make("span", "tool", tools[calls[TOOL][i]]), make("span", `tag ${kind}`, kind), make("span", "mono", text), make("span", "took", lasted(calls[TOOK][i])));
    e.addEventListener("click", () => select(i));
    return e;
  }
  function select(i) {
    state.selected = i;
    const place = state.hits.indexOf(i), box = $("list");
    if (place >= 0) {
      if (place * ROW < box.scrollTop) box.scrollTop = place * ROW;
      if ((place + 1) * ROW > box.scrollTop + box.clientHeight) box.scrollTop = (place + 1) * ROW - box.clientHeight;
    }
    list(); lanes(); detail();
  }
  function step(by) {
    if (!state.hits.length) return;
    const place = state.hits.indexOf(state.selected);
    select(state.hits[Math.min(state.hits.length - 1, Math.max(0, place < 0 ? 0 : place + by))]);
  }
  function detail() {
    const box = $("detail"), i = state.selected;
    box.replaceChildren();
    if (i < 0) { box.append(make("div", "sub", "Choose a call in the list or the timeline.")); return; }
    const facts = make("dl"), agent = agents[calls[AGENT][i]], kind = kinds[calls[KIND][i]];
    const pairs = [["Time", clock(calls[T][i])], ["Agent", agent.type && agent.type !== agent.id ? `${agent.id} (${agent.type})` : agent.id], ["Tool", tools[calls[TOOL][i]]], ["Turn", String(calls[TURN][i])], ["Rule", strings[calls[RULE][i]]], ["Reason", strings[calls[REASON][i]]], ["Took", lasted(calls[TOOK][i])], ["Record", `#${calls[SEQ][i]}`], ["Call", strings[calls[ID][i]]]];
    const tag = make("dd"); tag.append(make("span", `tag ${kind}`, kind));
    facts.append(make("dt", "", "Outcome"), tag);
    for (const [name, value] of pairs) if (value) facts.append(make("dt", "", name), make("dd", "", value));
    box.append(facts);
    if (strings[calls[TEXT][i]]) box.append(make("pre", "mono", strings[calls[TEXT][i]]));
  }

  // ---- the timeline: one canvas as large as what is seen ----
  const canvas = document.querySelector("#lanes canvas");
  function lanes() {
    const box = $("lanes"), width = box.clientWidth;
    GUTTER = width < 640 ? 128 : 196;
    const high = agents.length * LANE + AXIS;
    const seen = Math.min(high, 420), ratio = devicePixelRatio || 1;
    canvas.width = width * ratio; canvas.height = seen * ratio; canvas.style.height = `${seen}px`;
    if (!box.lastElementChild.classList.contains("pad")) box.append(make("div", "pad"));
    box.lastElementChild.style.height = `${high - seen}px`;
    const g = canvas.getContext("2d"), top = box.scrollTop, span = state.to - state.from;
    g.scale(ratio, ratio);
    const x = (ms) => GUTTER + (ms - state.from) / span * (width - GUTTER - 14);
    const colours = tools.map((_, i) => css(tone(i))), bad = css("--bad"), warn = css("--warn"), idle = css("--idle"), ink = css("--ink"), faint = css("--faint"), line = css("--line");
    axis(g, width, seen, x, span, faint, line);
    g.save(); g.beginPath(); g.rect(0, AXIS, width, seen); g.clip();
    const y = (agent) => AXIS + agent * LANE - top;
    agents.forEach((agent, n) => {
      if (y(n) < -LANE || y(n) > seen) return;
      g.fillStyle = ink; g.font = "12.5px system-ui, 'DejaVu Sans', sans-serif"; g.textBaseline = "middle";
      const left = 12 + agent.depth * 12, room = GUTTER - 18 - left, id = cut(g, agent.id, room), taken = g.measureText(id).width + 7;
      g.fillText(id, left, y(n) + LANE / 2);
      if (agent.type === agent.id || room - taken < 24) return;
      g.fillStyle = faint; g.font = "11.5px system-ui, 'DejaVu Sans', sans-serif";
      g.fillText(cut(g, agent.type, room - taken), left + taken, y(n) + LANE / 2);
    });
    g.beginPath(); g.rect(GUTTER, AXIS, width - GUTTER - 8, seen); g.clip();
    agents.forEach((agent, n) => {
      if (y(n) < -LANE || y(n) > seen) return;
      g.fillStyle = idle; g.globalAlpha = 0.55; round(g, x(agent.began), y(n) + 7, Math.max(3, x(agent.ended) - x(agent.began)), LANE - 14); g.globalAlpha = 1;
    });
    const refused = [];
    for (const i of state.hits) {
      const n = calls[AGENT][i], at = calls[T][i], took = Math.max(0, calls[TOOK][i]);
      if (at + took < state.from || at > state.to || y(n) < -LANE || y(n) > seen) continue;
      const kind = kinds[calls[KIND][i]];
      if (kind === "refused" || kind === "malformed") { refused.push(i); continue; }
      g.fillStyle = kind === "failed" ? warn : colours[calls[TOOL][i]];
      g.fillRect(x(at), y(n) + 9, Math.max(1.5, x(at + took) - x(at) - 0.5), LANE - 18);
    }
    for (const i of refused) mark(g, x(calls[T][i]), y(calls[AGENT][i]) + LANE / 2, bad);
    if (state.selected >= 0) {
      const i = state.selected;
      g.strokeStyle = ink; g.lineWidth = 1.5;
      g.strokeRect(x(calls[T][i]) - 2.5, y(calls[AGENT][i]) + 5, Math.max(5, x(calls[T][i] + Math.max(0, calls[TOOK][i])) - x(calls[T][i]) + 5), LANE - 10);
    }
    g.restore();
  }
  function axis(g, width, seen, x, span, faint, line) {
    const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5, 864e5];
    const step = steps.find((s) => span / s <= Math.max(2, (width - GUTTER) / 110)) || 864e5;
    g.fillStyle = faint; g.strokeStyle = line; g.font = "11.5px system-ui, 'DejaVu Sans', sans-serif"; g.textBaseline = "middle";
    for (let ms = Math.ceil(state.from / step) * step; ms <= state.to; ms += step) {
      g.beginPath(); g.moveTo(x(ms), AXIS - 4); g.lineTo(x(ms), seen); g.stroke();
      const s = Math.floor(ms / 1000), two = (n) => String(n).padStart(2, "0");
      g.fillText(step < 1000 ? (ms < 1000 ? `${ms} ms` : `${ms / 1000} s`) : s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`, x(ms) + 4, AXIS / 2);
    }
  }
  function round(g, x, y, w, h) { g.beginPath(); g.roundRect(x, y, w, h, 4); g.fill(); }
  function mark(g, x, y, colour) { g.fillStyle = colour; g.beginPath(); g.moveTo(x, y - 8); g.lineTo(x + 5, y); g.lineTo(x, y + 8); g.lineTo(x - 5, y); g.fill(); }
  function cut(g, text, width) { if (g.measureText(text).width <= width) return text; while (text.length > 1 && g.measureText(`${text}…`).width > width) text = text.slice(0, -1); return `${text}…`; }
  function zoom(by, middle = (state.from + state.to) / 2) {
    const span = Math.min(data.length || 1, Math.max(5, (state.to - state.from) * by)), share = (middle - state.from) / (state.to - state.from);
    pan(middle - share * span, span);
  }
  function pan(from, span = state.to - state.from) {
    state.from = Math.max(0, Math.min((data.length || 1) - span, from)); state.to = state.from + span; lanes();
  }
  function timeAt(event) { const box = canvas.getBoundingClientRect(); return state.from + (event.clientX - box.left - GUTTER) / (box.width - GUTTER - 14) * (state.to - state.from); }
  function callAt(event) {
    const box = canvas.getBoundingClientRect(), agent = Math.floor((event.clientY - box.top - AXIS + $("lanes").scrollTop) / LANE), at = timeAt(event);
    const slack = (state.to - state.from) / box.width * 6;
    let best = -1, near = slack;
    for (const i of state.hits) {
      if (calls[AGENT][i] !== agent) continue;
      const off = at < calls[T][i] ? calls[T][i] - at : Math.max(0, at - calls[T][i] - Math.max(0, calls[TOOK][i]));
      if (off <= near) { near = off; best = i; }
    }
    return best;
  }
  let drag = null;
  canvas.addEventListener("pointerdown", (e) => { drag = { x: e.clientX, from: state.from, moved: false }; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointermove", (e) => {
    if (drag) {
      const by = (e.clientX - drag.x) / (canvas.clientWidth - GUTTER) * (state.to - state.from);
      if (Math.abs(e.clientX - drag.x) > 3) drag.moved = true;
      if (drag.moved) pan(drag.from - by);
      return;
    }
    const i = callAt(e), tip = $("tip");
    tip.style.display = i < 0 ? "none" : "block";
    if (i < 0) return;
    tip.textContent = `${agents[calls[AGENT][i]].id} · ${tools[calls[TOOL][i]]} · ${kinds[calls[KIND][i]]} · ${strings[calls[TEXT][i]].slice(0, 160)}`;
    tip.style.left = `${Math.min(e.clientX + 14, innerWidth - 480)}px`; tip.style.top = `${e.clientY + 16}px`;
  });
  canvas.addEventListener("pointerup", (e) => { const click = drag && !drag.moved; drag = null; if (click) { const i = callAt(e); if (i >= 0) select(i); } });
  canvas.addEventListener("pointerleave", () => { $("tip").style.display = "none"; });
  canvas.addEventListener("wheel", (e) => { if (e.ctrlKey || e.metaKey) { e.preventDefault(); zoom(e.deltaY > 0 ? 1.25 : 0.8, timeAt(e)); } }, { passive: false });

  // ---- cost and tokens ----
  const CLASSES = [["input", "--t0"], ["output", "--t2"], ["cache written", "--t3"], ["cache read", "--t7"]];
  function chart() {
    const cost = state.chart === "cost";
    $("charttitle").textContent = cost ? "Cost per agent" : "Tokens per agent";
    $("bycost").setAttribute("aria-pressed", String(cost)); $("bytokens").setAttribute("aria-pressed", String(!cost));
    $("chartlegend").replaceChildren();
    if (!cost) for (const [name, colour] of CLASSES) { const item = make("span"), dot = make("i"); dot.style.background = `var(${colour})`; item.append(dot, name); $("chartlegend").append(item); }
    const value = (a) => cost ? a.cost || 0 : a.tokens.reduce((x, y) => x + y, 0);
    const most = Math.max(1e-9, ...agents.map(value)), box = $("chart");
    box.replaceChildren();
    for (const [n, agent] of [...agents.entries()].sort((a, b) => value(b[1]) - value(a[1])).slice(0, 400)) {
      const e = make("button", "agent"), track = make("span", "track");
      e.title = `${agent.id}: ${money(agent.cost)}, ${number.format(agent.tokens.reduce((x, y) => x + y, 0))} tokens, ${agent.status || "not ended"}${agent.title ? `\n${agent.title}` : ""}`;
      const parts = cost ? [[value(agent), "--accent"]] : agent.tokens.map((t, i) => [t, CLASSES[i][1]]);
      for (const [amount, colour] of parts) { const i = make("i"); i.style.width = `${amount / most * 100}%`; i.style.background = `var(${colour})`; track.append(i); }
      e.append(make("span", "", agent.id), track, make("span", "", cost ? money(agent.cost) : compact(value(agent))));
      e.addEventListener("click", () => { $("agent").value = $("agent").value === String(n) ? "" : String(n); filter(); });
      box.append(e);
    }
  }

  // ---- refused calls ----
  function refusals() {
    const groups = new Map(), wanted = new Set(["refused", "malformed"].map((k) => kinds.indexOf(k)));
    for (let i = 0; i < total; i++) {
      if (!wanted.has(calls[KIND][i])) continue;
      const name = strings[calls[RULE][i]] || kinds[calls[KIND][i]];
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(i);
    }
    $("refusals").hidden = !groups.size;
    for (const [name, found] of [...groups].sort((a, b) => b[1].length - a[1].length)) {
      const e = make("div", "rule"), middle = make("div"), show = make("button", "", `${number.format(found.length)} ${found.length === 1 ? "call" : "calls"}`);
      middle.append(make("p", "", strings[calls[REASON][found[0]]]));
      for (const text of [...new Set(found.map((i) => strings[calls[TEXT][i]]))].slice(0, 3)) if (text) middle.append(make("code", "", text));
      show.addEventListener("click", () => { reset(); $("decision").value = String(calls[KIND][found[0]]); $("text").value = strings[calls[RULE][found[0]]]; filter(); select(found[0]); $("list").scrollIntoView({ block: "center" }); });
      e.append(make("b", "", name), middle, show);
      $("refusals").querySelector(".rules").append(e);
    }
  }

  // ---- keys and theme ----
  function theme(dark) { document.documentElement.classList.toggle("dark", dark); lanes(); }
  const keys = {
    "/": () => $("text").focus(), j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
    r: () => { const k = String(kinds.indexOf("refused")); $("decision").value = $("decision").value === k ? "" : k; filter(); },
    d: () => theme(!document.documentElement.classList.contains("dark")), "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1.6),
    0: () => { state.from = 0; state.to = data.length || 1; lanes(); }, h: () => pan(state.from - (state.to - state.from) / 5), l: () => pan(state.from + (state.to - state.from) / 5),
    "?": () => $("keys").showModal(), Escape: () => { document.activeElement.blur(); reset(); },
  };
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || $("keys").open) return;
    if (/^(INPUT|SELECT)$/.test(e.target.tagName) && e.key !== "Escape") return;
    if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
  });

  head();
  options($("agent"), "All agents", agents.map((a) => a.id));
  options($("tool"), "All tools", tools);
  options($("decision"), "All outcomes", kinds);
  for (const id of ["agent", "tool", "decision"]) $(id).addEventListener("change", filter);
  let waiting;
  $("text").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 80); });
  $("reset").addEventListener("click", reset);
  $("theme").addEventListener("click", keys.d);
  $("help").addEventListener("click", keys["?"]);
  $("bycost").addEventListener("click", () => { state.chart = "cost"; chart(); });
  $("bytokens").addEventListener("click", () => { state.chart = "tokens"; chart(); });
  $("list").addEventListener("scroll", list);
  $("lanes").addEventListener("scroll", lanes);
  addEventListener("resize", () => { list(); lanes(); });
  const prefers = matchMedia("(prefers-color-scheme: dark)");
  prefers.addEventListener("change", (e) => theme(e.matches));
  if (agents.length * LANE + AXIS > 420) $("more").textContent = `${agents.length} agents, scroll for more`;
  $("costs").hidden = !data.started;
  filter(); chart(); refusals(); detail(); theme(prefers.matches);
})();
