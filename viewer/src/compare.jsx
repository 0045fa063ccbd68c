// Two steps, or two recordings, side by side: what differs first, facts, and the norms of all events in order.
import { useEffect, useMemo, useState } from "preact/hooks";
import { digits } from "./colours.js";
import { Pair } from "./pairs.js";

const SHOWN = 12; // rows of a table of facts at first
const MOST = 500; // and at all; so many more events at a time
const AROUND = 2; // events alike that stay in sight before and after one that differs
const FOLDED = 4; // events alike that are folded, at least

export function Compare({ trace, dialog, onMove }) {
  const { compared } = trace;
  const [chosen, choose] = useState(compared.chosen);
  const [opened, setOpened] = useState(false); // nothing is compared before somebody asks
  useEffect(() => {
    const found = new MutationObserver(() => setOpened(dialog.current.open));
    found.observe(dialog.current, { attributeFilter: ["open"] });
    if (compared.opened) dialog.current.showModal();
    return () => found.disconnect();
  }, []);
  const [a, b] = chosen;
  const pair = useMemo(() => opened && new Pair(compared, a, b), [opened, a, b]);
  const show = (event) => (dialog.current.close(), onMove(event));
  const two = compared.sides.length > 1;
  const name = (n, k) => (n === null ? "all" : `step ${n + 1}`) + (two ? ` of ${"ab"[k]}` : "");
  return (
    <dialog ref={dialog} class="compare" aria-labelledby="compared" onClick={(e) => e.target === dialog.current && dialog.current.close()}>
      <h2 id="compared">Compare {name(a, 0)} with {name(b, 1)}</h2>
      {compared.sides.map(({ title }, n) => <p class="dim">{two ? `${"ab"[n]}: ` : ""}{title}</p>)}
      {chosen.map((n, k) => (
        <Choice label={"ab"[k]} side={compared.sides[k] ?? compared.sides[0]} whole={two || chosen.includes(null)} value={n}
          onChoose={(step) => choose((now) => now.map((was, i) => (i === k ? step : was)))} />
      ))}
      {compared.notes.map((note) => <p class="dim">{note}</p>)}
      {pair && <Found key={`${a} ${b}`} compared={compared} pair={pair} two={two} onShow={show} />}
      <form method="dialog"><button>Close</button></form>
    </dialog>
  );
}

const Choice = ({ label, side, whole, value, onChoose }) => (
  <label class="choice">
    <span>{label}</span>
    <select value={value ?? ""} onChange={(event) => onChoose(event.target.value === "" ? null : Number(event.target.value))}>
      {whole && <option value="">all</option>}
      {side.steps.map(([title], n) => <option value={n}>{title}</option>)}
    </select>
  </label>
);

function Found({ compared, pair, two, onShow }) {
  const marked = pair.facts.filter((r) => r.marked).length;
  return (
    <>
      <p aria-live="polite" data-testid="first">{pair.sentence(told)}</p>
      {pair.facts.length > 0 && <p data-testid="differ">{marked ? `${marked} of ${pair.facts.length} rows differ` : "no row differs"}</p>}
      {Object.entries(compared.kinds).map(([kind, says]) => (
        <Facts kind={kind} says={says} rows={pair.facts.filter((r) => r.kind === kind)} />
      ))}
      <Events pair={pair} two={two} onShow={onShow} />
    </>
  );
}

const Mark = ({ row }) => row.marked && <span class="mark" role="img" aria-label="differs">≠ </span>;

const Heads = ({ names }) => names.map((name) => <th scope="col" class="number">{name}</th>);

function Facts({ kind, says, rows }) {
  const [all, setAll] = useState(false);
  if (!rows.length) return null;
  const marked = rows.filter((r) => r.marked).length;
  return (
    <section data-testid="facts">
      <table class="values">
        <caption>{kind} <span class="dim">({says}){marked > 0 && `: ${marked} of ${rows.length} differ`}</span></caption>
        <thead><tr><th scope="col">name</th><Heads names={["a", "b", "b / a"]} /></tr></thead>
        <tbody>
          {rows.slice(0, all ? MOST : SHOWN).map((r) => (
            <tr class={r.marked ? "marked" : ""}>
              <th scope="row"><Mark row={r} />{r.name}</th>
              <td class="number">{told(r.a)}</td>
              <td class="number">{told(r.b)}</td>
              <td class="number dim">{r.a && r.b !== undefined ? told(r.b / r.a) : ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {!all && rows.length > SHOWN && <button class="go" onClick={() => setAll(true)}>{rows.length - SHOWN} more</button>}
      {all && rows.length > MOST && <p class="dim">and {rows.length - MOST} more: rec.compare says all</p>}
    </section>
  );
}

function Events({ pair, two, onShow }) {
  const [open, setOpen] = useState(new Set()); // folds, by their first event
  const [shown, setShown] = useState(MOST);
  const { events } = pair;
  if (!events.length) return <p class="dim">no operation, node or gradient was recorded of these</p>;
  const marked = events.filter((r) => r.marked).length;
  const rows = folded(events, open);
  return (
    <section data-testid="events">
      <table class="values">
        <caption>events <span class="dim">(norms, in order): {marked ? `${marked} of ${events.length} differ` : "none differs"}</span></caption>
        <thead><tr><th scope="col">event</th><th scope="col">line</th><Heads names={["a", "b", "apart"]} /></tr></thead>
        <tbody>
          {rows.slice(0, shown).map((r) => r.count ? (
            <tr class="fold"><td colspan="5"><button class="go" onClick={() => setOpen(new Set([...open, r.at]))}>{r.count} alike</button></td></tr>
          ) : <Event row={r} two={two} onShow={onShow} />)}
        </tbody>
      </table>
      {rows.length > shown && <button class="go" onClick={() => setShown(shown + MOST)}>{Math.min(MOST, rows.length - shown)} more of {rows.length - shown}</button>}
    </section>
  );
}

function Event({ row, two, onShow }) {
  const [x, y] = row.events;
  const event = x < 0 && !two ? y : x; // the page has the events of a alone
  return (
    <tr class={row.marked ? "marked" : ""}>
      <th scope="row"><Mark row={row} />{event >= 0 ? <button class="go" onClick={() => onShow(event)}>{row.text}</button> : row.text} <span class="dim">{row.kind}</span></th>
      <td class="dim">{row.where}</td>
      <td class="number">{told(row.a)}</td>
      <td class="number">{told(row.b)}</td>
      <td class="number dim">{told(row.apart)}</td>
    </tr>
  );
}

// The rows, with long stretches that are alike as one: {at, count}.
function folded(rows, open) {
  const found = [];
  let from = 0;
  for (let i = 0; i <= rows.length; i++) {
    if (i < rows.length && !rows[i].marked) continue;
    const [first, end] = [from ? from + AROUND : 0, i < rows.length ? i - AROUND : i];
    if (end - first >= FOLDED && !open.has(first)) {
      found.push(...rows.slice(from, first), { at: first, count: end - first }, ...rows.slice(end, i));
    } else found.push(...rows.slice(from, i));
    if (i < rows.length) found.push(rows[i]);
    from = i + 1;
  }
  return found;
}

const told = (x) => (x === undefined || x === null ? "none" : Number.isNaN(x) ? "NaN" : x === Infinity ? "\u221e" : digits(x));
