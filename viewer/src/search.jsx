// Find by name: modules, operations, parameters, nodes, hooks, lines of source.
import { useMemo, useState } from "preact/hooks";
import { LEAF, OP } from "./trace.js";

const SHOWN = 40;

export function Search({ trace, input, onSelect }) {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const [shown, setShown] = useState(false);
  const index = useMemo(() => entries(trace), [trace]);
  const found = useMemo(() => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    const hits = [];
    for (const entry of index) {
      if (words.every((w) => entry.find.includes(w))) {
        hits.push([entry.name.toLowerCase().startsWith(words[0]) ? 0 : 1, hits.length, entry]);
        if (hits.length > 5000) break;
      }
    }
    return hits.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((h) => h[2]);
  }, [index, query]);
  const list = found.slice(0, SHOWN);
  const choose = (entry) => {
    if (!entry) return;
    setShown(false);
    onSelect(entry.target);
  };
  const key = (event) => {
    if (event.key === "ArrowDown") setAt(Math.min(list.length - 1, at + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else if (event.key === "Enter") {
      choose(list[at]);
      if (list[at]) event.currentTarget.blur();         // the keys of the page are at work again
    }
    else if (event.key === "Escape") {
      setShown(false);
      event.currentTarget.blur();
    } else return event.stopPropagation();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="search">
      <input
        ref={input}
        type="search"
        placeholder="Search  /"
        value={query}
        role="combobox"
        aria-label="Search modules, operations, parameters, hooks and source lines"
        aria-expanded={shown && list.length > 0}
        aria-controls="found"
        aria-activedescendant={shown && list.length ? `found-${at}` : undefined}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setAt(0);
          setShown(true);
        }}
        onFocus={() => setShown(true)}
        onBlur={() => setShown(false)}
        onKeyDown={key}
      />
      {shown && query.trim() && (
        <div class="found" id="found" role="listbox" aria-label="Found">
          {list.map((entry, i) => (
            <div
              id={`found-${i}`}
              role="option"
              aria-selected={i === at}
              class={i === at ? "chosen" : ""}
              onPointerDown={(event) => {
                event.preventDefault();
                choose(entry);
              }}
            >
              <span class="sort">{entry.sort}</span>
              <span class="name">{entry.name}</span>
              <span class="more">{entry.more}</span>
            </div>
          ))}
          <div class="count">
            {found.length === 0 ? "nothing found" : found.length > SHOWN ? `${SHOWN} of ${found.length}` : ""}
          </div>
        </div>
      )}
    </div>
  );
}

function entries(trace) {
  const found = [];
  const add = (sort, name, more, target) => {
    if (target) found.push({ sort, name, more, target, find: `${name} ${more} ${sort}`.toLowerCase() });
  };
  trace.groups.forEach(([m, call], g) => {
    if (trace.isFold(g)) add(trace.isEdit(g) ? "edit" : "loop", trace.groupName(g), "", { kind: "group", id: g });
    else if (g) add("module", trace.moduleName(m), `${trace.modules[m].type}${call > 1 ? ` call ${call}` : ""}`, { kind: "group", id: g });
  });
  trace.vertices.forEach(([kind, number, group], v) => {
    const place = trace.placeName(group);
    if (kind === LEAF) {
      const known = trace.names[number];
      add(known?.role ?? "input", known?.name ?? trace.vertexName(v), "", { kind: "vertex", id: v });
    } else if (kind === OP) {
      const site = trace.get(number, "site");
      add("op", trace.vertexName(v), [place, trace.where(site), trace.sites[site]?.[3]].filter(Boolean).join("  "), { kind: "vertex", id: v });
    }
  });
  trace.nodes.forEach(([name], n) => add("node", name, "", { kind: "vertex", id: trace.ofNode[n] }));
  trace.hooks.forEach((hook, h) => add("hook", hook.name, `${hook.kind} on ${hook.on}`, { kind: "hook", id: h }));
  return found;
}
