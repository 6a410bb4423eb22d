// Makes the nodes of a Graphviz chart clickable: the chart itself has no selection.

export default function (component) {
  const { parentElement, setTriggerValue } = component;
  const kept = memory(parentElement.querySelector('#listener'));
  const data = received(component, kept);
  const options = listeners(kept);
  const nodes = (target) => target.closest?.(`.st-key-${CSS.escape(data.target)} g.node`);
  const pick = (node) => {
    const name = node.querySelector('title')?.textContent;
    if (name) setTriggerValue('picked', name);
  };
  document.addEventListener('click', (event) => {
    const node = nodes(event.target);
    if (node) pick(node);
  }, options);
  document.addEventListener('keydown', (event) => {
    const node = event.key === 'Enter' && nodes(event.target);
    if (node) pick(node);
  }, options);
  // Nodes can be reached with Tab too; they appear some time after this script.
  const prepare = () => {
    for (const node of document.querySelectorAll(`.st-key-${CSS.escape(data.target)} g.node`)) {
      if (node.hasAttribute('tabindex')) continue;
      node.setAttribute('tabindex', '0');
      node.setAttribute('role', 'button');
      node.style.cursor = 'pointer';
    }
  };
  kept.changes?.disconnect();
  kept.changes = new MutationObserver(prepare);
  const chart = document.querySelector(`.st-key-${CSS.escape(data.target)}`);
  if (chart) kept.changes.observe(chart, { childList: true, subtree: true });
  prepare();
  return whenGone(kept, options, () => kept.changes.disconnect());
}
