// Two recordings side by side: what differs first, then the norms of all events, in order.
import { useEffect, useState } from "preact/hooks";
import { digits } from "./colours.js";

const SHOWN = 40; // rows at first
const MOST = 2000; // and at all

export function Beside({ trace, dialog, onMove }) {
  const { titles, first, notes, rows } = trace.beside;
  const [all, setAll] = useState(false); // also what does not differ
  const [more, setMore] = useState(false);
  useEffect(() => dialog.current.showModal(), []);
  const chosen = all ? rows : rows.filter((row) => row[6]);
  const marked = rows.filter((row) => row[6]).length;
  const show = (event) => (dialog.current.close(), onMove(event));
  return (
    <dialog ref={dialog} class="compare" aria-label="Compare two recordings" onClick={(e) => e.target === dialog.current && dialog.current.close()}>
      <h2>Compare two recordings</h2>
      {titles.map((title, n) => <p class="dim">{"ab"[n]}: {title}</p>)}
      <p data-testid="first">{first}</p>
      <p aria-live="polite" data-testid="differ">{marked ? `${marked} of ${rows.length} rows differ` : "no row differs"}</p>
      {notes.map((note) => <p class="dim">{note}</p>)}
      <label class="choice"><input type="checkbox" checked={all} onChange={() => setAll(!all)} /> <span>also rows that do not differ</span></label>
      <table class="values">
        <thead><tr><th scope="col">event</th><th scope="col">line</th>{["a", "b", "apart"].map((name) => <th scope="col" class="number">{name}</th>)}</tr></thead>
        <tbody>
          {chosen.slice(0, more ? MOST : SHOWN).map(([kind, text, where, a, b, apart, differs, event]) => (
            <tr class={differs ? "marked" : ""}>
              <th scope="row">
                {differs && <span class="mark" role="img" aria-label="differs">≠ </span>}
                {event >= 0 ? <button class="go" onClick={() => show(event)}>{text}</button> : text} <span class="dim">{kind}</span>
              </th>
              <td class="dim">{where}</td>
              <td class="number">{told(a)}</td>
              <td class="number">{told(b)}</td>
              <td class="number dim">{apart === "inf" ? "\u221e" : digits(Number(apart))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {!more && chosen.length > SHOWN && <button class="go" onClick={() => setMore(true)}>{chosen.length - SHOWN} more</button>}
      {more && chosen.length > MOST && <p class="dim">and {chosen.length - MOST} more: microscope.compare says all</p>}
      <form method="dialog"><button>Close</button></form>
    </dialog>
  );
}

const told = (x) => (x === null ? "none" : digits(Number(x)));
