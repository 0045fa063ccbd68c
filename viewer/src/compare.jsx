// Two steps side by side: what differs most comes first in each table, and is marked.
import { useEffect, useState } from "preact/hooks";
import { digits } from "./colours.js";

const SHOWN = 12; // rows of a table at first
const MOST = 500; // and at all

export function Compare({ trace, dialog }) {
  const count = trace.compared.titles.length;
  const [[a, b], choose] = useState([Math.max(0, count - 2), Math.max(0, count - 1)]);
  const [opened, setOpened] = useState(false); // nothing is compared before somebody asks
  useEffect(() => {
    const found = new MutationObserver(() => setOpened(dialog.current.open));
    found.observe(dialog.current, { attributeFilter: ["open"] });
    return () => found.disconnect();
  }, []);
  const rows = opened ? trace.compare(a, b) : [];
  const marked = rows.filter((r) => r.marked).length;
  return (
    <dialog ref={dialog} class="compare" aria-label="Compare two steps" onClick={(e) => e.target === dialog.current && dialog.current.close()}>
      <h2>Compare two steps</h2>
      <Choice trace={trace} label="step a" value={a} onChoose={(n) => choose((was) => [n, was[1]])} />
      <Choice trace={trace} label="step b" value={b} onChoose={(n) => choose((was) => [was[0], n])} />
      <p aria-live="polite" data-testid="differ">{marked ? `${marked} of ${rows.length} rows differ` : "no row differs"}</p>
      {Object.entries(trace.compared.kinds).map(([kind, says]) => (
        <Facts key={`${kind} ${a} ${b}`} kind={kind} says={says} rows={rows.filter((r) => r.kind === kind)} />
      ))}
      <form method="dialog"><button>Close</button></form>
    </dialog>
  );
}

const Choice = ({ trace, label, value, onChoose }) => (
  <label class="choice">
    <span>{label}</span>
    <select value={value} onChange={(event) => onChoose(Number(event.target.value))}>
      {trace.compared.titles.map((title, n) => <option value={n}>{title}</option>)}
    </select>
  </label>
);

function Facts({ kind, says, rows }) {
  const [all, setAll] = useState(false);
  if (!rows.length) return null;
  const marked = rows.filter((r) => r.marked).length;
  return (
    <section>
      <table class="values">
        <caption>{kind} <span class="dim">({says}){marked > 0 && `: ${marked} of ${rows.length} differ`}</span></caption>
        <thead><tr><th scope="col">name</th>{["a", "b", "b / a"].map((name) => <th scope="col" class="number">{name}</th>)}</tr></thead>
        <tbody>
          {rows.slice(0, all ? MOST : SHOWN).map((r) => (
            <tr class={r.marked ? "marked" : ""}>
              <th scope="row">{r.marked && <span class="mark" role="img" aria-label="differs">≠ </span>}{r.name}</th>
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

const told = (x) => (x === undefined ? "none" : Number.isNaN(x) ? "NaN" : digits(x));
