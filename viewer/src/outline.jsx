// The modules, their operations and parameters as a tree; only rows in sight are in the page.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { gradient } from "./colours.js";
import { LEAF } from "./trace.js";

const ROW = 24;

export function Outline({ trace, open, cursor, selected, onSelect, onToggle }) {
  const box = useRef();
  const [top, setTop] = useState(0);
  const [high, setHigh] = useState(600);
  const rows = useMemo(() => {
    const found = [];
    const walk = (g, level) => {
      for (const child of trace.children[g]) {
        found.push({ ...child, level });
        if (child.kind === "group" && open.has(child.id)) walk(child.id, level + 1);
      }
    };
    walk(0, 1);
    return found;
  }, [trace, open]);
  const at = selected ? rows.findIndex((r) => r.kind === selected.kind && r.id === selected.id) : -1;

  useEffect(() => {
    const observer = new ResizeObserver(() => setHigh(box.current.clientHeight));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const element = box.current;
    if (at < 0) return;
    if (at * ROW < element.scrollTop) element.scrollTop = Math.max(0, at * ROW - ROW);
    else if ((at + 1) * ROW > element.scrollTop + element.clientHeight)
      element.scrollTop = (at + 2) * ROW - element.clientHeight;
  }, [at, rows]);

  const key = (event) => {
    const row = rows[at];
    const go = (i) => rows.length && onSelect(rows[Math.min(rows.length - 1, Math.max(0, i))]);
    const isOpen = row?.kind === "group" && open.has(row.id);
    switch (event.key) {
      case "ArrowDown":
        go(at + 1);
        break;
      case "ArrowUp":
        go(at < 0 ? 0 : at - 1);
        break;
      case "Home":
        go(0);
        break;
      case "End":
        go(rows.length - 1);
        break;
      case "ArrowRight":
        if (row?.kind === "group") isOpen ? go(at + 1) : onToggle(row.id);
        break;
      case "ArrowLeft":
        if (isOpen) onToggle(row.id);
        else if (row?.level > 1) onSelect({ kind: "group", id: trace.groupOf(row) });
        break;
      case "Enter":
        if (row?.kind === "group") onToggle(row.id);
        break;
      default:
        return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  const from = Math.max(0, Math.floor(top / ROW) - 8);
  const to = Math.min(rows.length, Math.ceil((top + high) / ROW) + 8);
  return (
    <div
      ref={box}
      class="outline"
      role="tree"
      tabIndex={0}
      aria-label="Outline: modules, operations and parameters"
      aria-activedescendant={at >= from && at < to ? `row-${rows[at].kind}-${rows[at].id}` : undefined}
      onKeyDown={key}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div style={{ height: `${rows.length * ROW}px` }} role="presentation">
        {rows.slice(from, to).map((row, i) => (
          <Row {...{ trace, row, cursor, onSelect, onToggle }} y={(from + i) * ROW} chosen={from + i === at} open={open} />
        ))}
      </div>
    </div>
  );
}

function Row({ trace, row, y, chosen, open, cursor, onSelect, onToggle }) {
  const group = row.kind === "group";
  const isOpen = group && open.has(row.id);
  const state = group ? trace.groupState(row.id, cursor) : trace.lastRun(row.id, cursor);
  const arrived = group ? state.done > 0 : state;
  const hooks = group ? isOpen ? trace.ownHooks(row.id) : trace.groupHooks[row.id] : trace.vertexHooks[row.id];
  const sort = group ? "group" : trace.vertices[row.id][0] === LEAF ? "leaf" : "op";
  return (
    <div
      id={`row-${row.kind}-${row.id}`}
      class={`row ${sort}${chosen ? " chosen" : ""}`}
      style={{ top: `${y}px`, paddingLeft: `${row.level * 14 - 4}px` }}
      role="treeitem"
      aria-level={row.level}
      aria-selected={chosen}
      aria-expanded={group ? isOpen : undefined}
      onClick={() => onSelect({ kind: row.kind, id: row.id })}
      onDblClick={() => group && onToggle(row.id)}
    >
      <span
        class={`twist${group ? (isOpen ? " open" : "") : " none"}`}
        aria-hidden="true"
        onClick={(event) => {
          if (!group) return;
          event.stopPropagation();
          onToggle(row.id);
        }}
      />
      <span class="name">{group ? trace.groupName(row.id) : trace.vertexName(row.id)}</span>
      {hooks.length > 0 && <span class="dot hook" title={`${hooks.length} hook(s)`} />}
      <span class={`norm${state?.odd ? " bad" : ""}`}>{arrived ? gradient(state) : ""}</span>
    </div>
  );
}
