// Draws a nested list of elements that Python made. Strings become text nodes, never markup.

const TAGS = new Set(['div', 'span', 'p', 'b', 'ul', 'ol', 'li', 'dl', 'dt', 'dd', 'pre', 'h2', 'h3',
  'h4', 'button', 'details', 'summary', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'hr', 'section', 'ins', 'del']);
const ATTRIBUTES = /^(class|title|role|dir|tabindex|scope|open|aria-[a-z]+|data-[a-z-]+)$/;

export default function (component) {
  const { parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector('#panel');
  const kept = memory(root);
  const data = received(component, kept);
  const options = listeners(kept);
  root.style.setProperty('--panel-height', data.height ?? 'auto');
  const dark = isDark(root);
  const written = JSON.stringify([data.nodes, dark]);
  if (kept.written !== written) {
    kept.written = written;
    const other = kept.subject !== data.subject;
    kept.subject = data.subject;
    const top = root.scrollTop;
    root.replaceChildren(...data.nodes.map((node) => build(node, data.palette, dark)));
    root.scrollTop = other ? 0 : top;
  }
  root.addEventListener('click', (event) => {
    const button = event.target.closest('[data-action]');
    if (button) setTriggerValue('action', button.dataset.action);
  }, options);
  return whenGone(kept, options);
}

function build(node, palette, dark) {
  if (typeof node === 'string') return document.createTextNode(node);
  const [tag, attributes, ...children] = node;
  if (tag === 'status') return outcome(children[0], palette, dark);
  const element = document.createElement(TAGS.has(tag) ? tag : 'span');
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'outcome') element.style.setProperty('--c', colorOf(value, palette, dark));
    else if (name === 'style-share') element.style.width = `${Number(value) * 100}%`;
    else if (name === 'style-from') element.style.left = `${Number(value) * 100}%`;
    else if (name === 'style-color') element.style.background = /^#[0-9A-F]{6}$/i.test(value) ? value : '';
    else if (ATTRIBUTES.test(name)) element.setAttribute(name, value);
  }
  element.append(...children.map((child) => build(child, palette, dark)));
  return element;
}

const colorOf = (word, palette, dark) => (palette[word] ?? palette.unknown)[dark ? 2 : 1];

function outcome(word, palette, dark) {
  const [glyph, , , meaning] = palette[word] ?? palette.unknown;
  const element = make('span', 'status');
  element.style.setProperty('--c', colorOf(word, palette, dark));
  element.title = meaning;
  element.append(make('span', 'glyph', glyph), make('span', '', word));
  return element;
}
