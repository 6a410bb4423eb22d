// A line over a Plotly chart at the event the reader stands at; a click on the chart goes there.
// Uses two private fields of Plotly (`_fullLayout.xaxis`, `_fullLayout._size`): where they are
// missing there is no line, and nothing else breaks.

export default function (component) {
  const { parentElement } = component;
  const root = parentElement.querySelector('#cursor');
  const kept = memory(root);
  const data = received(component, kept);
  const options = listeners(kept);
  if (kept.scope !== data.scope || kept.nonce !== data.nonce) {
    kept.scope = data.scope;
    kept.nonce = data.nonce;
    kept.heard = false;
  }
  // Until the first step is heard here, the server knows better: a step may have been taken before.
  if (!kept.heard) kept.seq = data.seq;
  kept.target = data.target;
  kept.last = data.last;
  kept.color = getComputedStyle(root).color;
  onCursor(options, kept.scope, (at) => {
    kept.heard = true;
    kept.seq = at.seq;
    place(kept);
  });
  document.addEventListener('click', (event) => {
    const layout = chart(kept)?._fullLayout;
    if (!layout?.xaxis || !chart(kept).contains(event.target)) return;
    const box = chart(kept).getBoundingClientRect();
    const pixels = event.clientX - box.left - layout._size.l;
    const height = event.clientY - box.top - layout._size.t;
    if (pixels < 0 || pixels > layout._size.w || height < 0 || height > layout._size.h) return;
    const seq = Math.max(1, Math.min(kept.last, Math.round(layout.xaxis.p2l(pixels))));
    announce({ scope: kept.scope, seq, handoff: null, from: 'chart' });
  }, options);
  watch(kept);
  return whenGone(kept, options, () => {
    kept.changes.disconnect();
    leave(kept);
  });
}

function chart(kept) {
  return document.querySelector(`.st-key-${CSS.escape(kept.target)} .js-plotly-plot`);
}

// The chart arrives after its script, however late that is, and is made anew when the page wants it.
function watch(kept) {
  kept.changes ??= new MutationObserver(() => meet(kept));
  kept.changes.observe(document.body, { childList: true, subtree: true });
  meet(kept);
}

function meet(kept) {
  const graph = chart(kept);
  if (!graph?._fullLayout?.xaxis) return;
  if (graph !== kept.graph) {
    leave(kept);
    kept.graph = graph;
    kept.drawn = () => place(kept);
    kept.resized = new ResizeObserver(() => requestAnimationFrame(kept.drawn));
    kept.resized.observe(graph);
    graph.on?.('plotly_afterplot', kept.drawn);
  }
  place(kept);
}

function leave(kept) {
  kept.resized?.disconnect();
  kept.graph?.removeListener?.('plotly_afterplot', kept.drawn);
  kept.graph = null;
}

function place(kept) {
  const graph = chart(kept);
  const layout = graph?._fullLayout;
  if (!layout?.xaxis || !layout._size) return;
  let line = graph.querySelector(':scope > .handoff-cursor');
  if (!kept.seq) {
    line?.remove();
    return;
  }
  if (!line) {
    line = make('div', 'handoff-cursor');
    line.setAttribute('aria-hidden', 'true');
    line.style.cssText = 'position:absolute;left:0;width:2px;pointer-events:none;z-index:5;will-change:transform';
    graph.style.position = 'relative';
    graph.append(line);
  }
  const { l, t, h } = layout._size;
  // Only the transform changes from step to step: the chart under it is not laid out again.
  const fixed = `${kept.color} ${t} ${h}`;
  if (line.__fixed !== fixed) {
    line.__fixed = fixed;
    line.style.background = kept.color;
    line.style.top = `${t}px`;
    line.style.height = `${h}px`;
  }
  line.style.transform = `translateX(${l + layout.xaxis.l2p(kept.seq) - 1}px)`;
}
