import { render } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Compare } from "./compare.jsx";
import { Details } from "./details.jsx";
import { Graph } from "./graph.jsx";
import { Outline } from "./outline.jsx";
import { Search } from "./search.jsx";
import { Timeline } from "./timeline.jsx";
import { readPage, upTo } from "./trace.js";

const PACE = 220; // ms per step while playing
const ROOM = 60; // things in the first picture
const KEYS = [
  ["← →", "one event back or on"],
  ["Shift ← →", "to the previous or next time a hook fires"],
  ["Home End", "to the first or last event"],
  ["b", "to where the backward pass begins"],
  ["space", "play and pause"],
  ["/", "search"],
  ["e c", "open or close all modules"],
  ["+ − f", "zoom and fit the graph"],
  ["↑ ↓ ← → Enter", "move, open and close in the outline"],
  ["d", "compare two steps, or two recordings"],
  ["t", "light or dark"],
  ["Esc", "clear the selection"],
  ["?", "this list"],
];

// Open: the way down to the first group that has something to show.
function firstOpen(trace) {
  const open = new Set();
  const groups = (g) => trace.children[g].filter((c) => c.kind === "group" && !trace.isFold(c.id));
  let level = groups(0);
  if (level.length > 8) return open;
  for (let depth = 0; depth < 4 && level.length; depth++) {
    if (depth > 0 && level.length > 1) break;
    const size = level.reduce((n, { id }) => n + trace.children[id].length, 0);
    if (size > ROOM) break;
    level.forEach(({ id }) => open.add(id));
    level = level.flatMap(({ id }) => groups(id));
  }
  return open;
}

function App({ trace }) {
  const [open, setOpen] = useState(() => firstOpen(trace));
  const [cursor, setCursor] = useState(() => trace.firstMoment());
  const [selected, setSelected] = useState(null);
  const [focus, setFocus] = useState(null);
  const [fitting, setFitting] = useState(0); // how often the graph was asked to fit its pane
  const [playing, setPlaying] = useState(false);
  const [theme, setTheme] = useState({ name: "" }); // an object, so that a change of the system's is one of ours
  const search = useRef();
  const help = useRef();
  const comparison = useRef();

  const now = useRef(cursor); // keys may come faster than pictures
  const step = upTo(trace.steps, cursor) - 1;
  const move = (i) => {
    now.current = i;
    setCursor(i);
    const subject = trace.subject(i);
    if (subject) setFocus({ ...subject });
  };
  const go = (by) => {
    const to = Math.min(trace.steps.length - 1, Math.max(0, upTo(trace.steps, now.current) - 1 + by));
    if (trace.steps.length) move(trace.steps[to]);
  };
  const toHook = (by) => {
    const fired = trace.steps.filter((i) => trace.events[i][0] === "hook");
    const found = by > 0 ? fired.find((i) => i > now.current) : fired.reverse().find((i) => i < now.current);
    if (found !== undefined) move(found);
  };
  const toPass = () => {
    const w = trace.windowOf(cursor);
    if (trace.windows.length) move(trace.windows[Math.max(0, w)]);
  };
  const select = (what) => {
    setSelected(what);
    if (!what || what.kind === "hook") return;
    const next = new Set(open);
    for (let g = trace.groupOf(what); g > 0; g = trace.groups[g][2]) next.add(g);
    if (next.size !== open.size) setOpen(next);
    setFocus({ ...what });
  };
  const toggle = (g) => {
    const next = new Set(open);
    if (!next.delete(g)) next.add(g);
    setOpen(next);
  };
  const all = () => setOpen(new Set([...trace.groups.keys()].filter((g) => !trace.isEdit(g))));
  const none = () => {
    setOpen(new Set());
    setFocus(null);
    setFitting((n) => n + 1);
  };
  const play = () => {
    if (!playing && step === trace.steps.length - 1) move(trace.windows[0] ?? trace.steps[0]);
    setPlaying(!playing && trace.steps.length > 0);
  };
  const shade = () => {
    const dark = theme.name ? theme.name === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    setTheme({ name: dark ? "light" : "dark" });
  };

  useEffect(() => {
    if (!playing) return;
    if (step >= trace.steps.length - 1) return setPlaying(false);
    const timer = setTimeout(() => go(1), PACE);
    return () => clearTimeout(timer);
  }, [playing, cursor]);
  useEffect(() => {
    const media = matchMedia("(prefers-color-scheme: dark)");
    const changed = () => setTheme((was) => ({ ...was }));
    media.addEventListener("change", changed);
    return () => media.removeEventListener("change", changed);
  }, []);
  useEffect(() => {
    const key = (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || help.current.open || comparison.current.open) return;
      const onButton = event.target.closest?.("button");
      const act = {
        ArrowRight: () => (event.shiftKey ? toHook(1) : go(1)),
        ArrowLeft: () => (event.shiftKey ? toHook(-1) : go(-1)),
        Home: () => go(-trace.steps.length),
        End: () => go(trace.steps.length),
        " ": () => !onButton && play(),
        "/": () => (search.current.focus(), search.current.select()),
        "?": () => help.current.showModal(),
        Escape: () => setSelected(null),
        b: toPass,
        e: all,
        c: none,
        d: () => comparable && comparison.current.showModal(),
        t: shade,
      }[event.key];
      if (!act || (event.key === " " && onButton)) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  });

  const comparable = trace.compared.opened || trace.compared.sides[0].steps.length > 1;
  const common = { trace, open, cursor, selected, theme, onSelect: select, onToggle: toggle, onMove: move };
  return (
    <>
      <header>
        <h1>{trace.title}</h1>
        <Search trace={trace} input={search} onSelect={select} />
        <div class="player" role="toolbar" aria-label="Step through the recording">
          <button onClick={() => go(-trace.steps.length)} aria-label="First event">|◀</button>
          <button class="big" onClick={() => go(-1)} aria-label="Step back">‹</button>
          <button onClick={play} aria-label={playing ? "Pause" : "Play"} aria-pressed={playing}>{playing ? "❚❚" : "▶"}</button>
          <button class="big" onClick={() => go(1)} aria-label="Step forward">›</button>
          <button onClick={() => go(trace.steps.length)} aria-label="Last event">▶|</button>
          <span class="count" data-testid="step">{trace.steps.length ? `${step + 1} of ${trace.steps.length}` : "no events"}</span>
        </div>
        <div class="tools">
          <button onClick={all}>Open all</button>
          <button onClick={none}>Close all</button>
          {comparable && <button onClick={() => comparison.current.showModal()}>Compare</button>}
          <button onClick={shade} aria-label="Light or dark">◐</button>
          <button onClick={() => help.current.showModal()} aria-label="Keys">?</button>
        </div>
      </header>
      <nav aria-label="Outline"><Outline {...common} /></nav>
      <main><Graph {...common} focus={focus} fitting={fitting} /></main>
      <aside aria-label="Details"><Details {...common} /></aside>
      <footer><Timeline {...common} /></footer>
      <dialog ref={help} aria-label="Keys" onClick={(event) => event.target === help.current && help.current.close()}>
        <h2>Keys</h2>
        <dl>{KEYS.map(([keys, text]) => <div><dt>{keys}</dt><dd>{text}</dd></div>)}</dl>
        <form method="dialog"><button>Close</button></form>
      </dialog>
      <Compare trace={trace} dialog={comparison} onMove={move} />
    </>
  );
}

const root = document.getElementById("app");
let trace;
try {
  trace = readPage();
} catch (error) {
  root.textContent = `This page's recording cannot be read: ${error.message}`;
  throw error;
}
root.textContent = "";
render(<App trace={trace} />, root);
document.documentElement.dataset.ready = "true";
